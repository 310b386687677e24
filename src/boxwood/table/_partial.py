"""`PartialSum`: what a worker of Spark or Dask adds up of its part of a table, as bytes that travel."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from boxwood._extras import require

__all__ = ["PartialSum", "Refused"]


class Refused(NamedTuple):
    """An error of the table itself, which no second try would help; it travels in place of a summary."""

    error: Exception


class PartialSum:
    """A function for workers: it makes a summary, and adds record batches and other summaries to it.

    What it returns is pickled: a summary, or `Refused`. It can be pickled itself.

    Parameters
    ----------
    make : function
        Returns an empty summary of record batches.
    extra : {"spark", "dask"}
        The extra of boxwood that has cloudpickle, which pickles functions and classes of a session, too.
    """

    def __init__(self, make: Callable[[], Any], extra: str) -> None:
        self.extra = extra
        self.made = self._pickler.dumps(make)

    @property
    def _pickler(self) -> Any:
        return require("cloudpickle", self.extra, "A table on several machines")

    def of_batches(self, batches: Iterable[Any]) -> bytes:
        """Return the summary of record batches."""
        summary = pickle.loads(self.made)()
        try:
            for batch in batches:
                summary.update(batch, None)
        except (ValueError, TypeError) as error:  # a DataError is a ValueError
            return self._refused(error)
        return self._pickler.dumps(summary)  # type: ignore[no-any-return]

    def merged(self, partials: Iterable[bytes]) -> bytes:
        """Return the sum of at least one summary, in their order; the first error of the table stands for all."""
        return self._pickler.dumps(self._merged(partials))  # type: ignore[no-any-return]

    def result(self, partials: Iterable[bytes]) -> Any:
        """Return the sum of summaries, or an empty one if there are none; raise the first error of the table."""
        total = self._merged(partials)
        if isinstance(total, Refused):
            raise total.error
        return pickle.loads(self.made)() if total is None else total

    @staticmethod
    def _merged(partials: Iterable[bytes]) -> Any:
        total = None
        for partial in partials:
            one = pickle.loads(partial)
            if isinstance(one, Refused):
                return one
            if total is None:
                total = one
            else:
                total.merge(one)
        return total

    def _refused(self, error: Exception) -> bytes:
        """Return the error in a pickle; one that cannot be unpickled stays an error of the worker."""
        try:
            pickled: bytes = self._pickler.dumps(Refused(error))
            pickle.loads(pickled)
        except Exception:
            raise error from None
        return pickled
