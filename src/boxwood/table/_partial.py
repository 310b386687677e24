"""`PartialSum`: what a worker of Spark or Dask adds up of its part of a table, as bytes that travel."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from boxwood._imports import require
from boxwood.batches.source import Reading, Source


class Part(NamedTuple):
    """The summary of a part of the table, the number of its rows, and of the parts that were added up."""

    summary: Any
    n_rows: int
    n_parts: int = 1


class Refused(NamedTuple):
    """An error of the table itself, which no second try would help; it travels in place of a summary."""

    error: Exception


class PartialSum:
    """A function for workers: it makes a summary, and adds record batches and other summaries to it.

    What it returns is pickled: a `Part`, or `Refused`. It can be pickled itself.

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
        summary, n_rows = pickle.loads(self.made)(), 0
        try:
            for batch in batches:
                summary.update(batch, None)
                n_rows += batch.num_rows
        except (ValueError, TypeError) as error:  # a DataError is a ValueError
            return self._pickle_error(error)
        return self._pickler.dumps(Part(summary, n_rows))  # type: ignore[no-any-return]

    def merged(self, partials: Iterable[bytes]) -> bytes:
        """Return the sum of at least one summary, in their order; the first error of the table stands for all."""
        return self._pickler.dumps(self._merge_partials(partials))  # type: ignore[no-any-return]

    def result(self, partials: Iterable[bytes]) -> Part:
        """Return the sum of summaries, or an empty one if there are none; raise the first error of the table."""
        total = self._merge_partials(partials)
        if isinstance(total, Refused):
            raise total.error
        return Part(pickle.loads(self.made)(), 0, 0) if total is None else total

    @staticmethod
    def _merge_partials(partials: Iterable[bytes]) -> Part | Refused | None:
        total: Part | None = None
        for partial in partials:
            one = pickle.loads(partial)
            if isinstance(one, Refused):
                return one
            if total is None:
                total = one
            else:
                total.summary.merge(one.summary)
                total = Part(total.summary, total.n_rows + one.n_rows, total.n_parts + one.n_parts)
        return total

    def _pickle_error(self, error: Exception) -> bytes:
        """Return the error in a pickle; one that cannot be unpickled stays an error of the worker."""
        try:
            pickled: bytes = self._pickler.dumps(Refused(error))
            pickle.loads(pickled)
        except Exception:
            raise error from None
        return pickled


def announce_pass(source: Source, columns: Sequence[str], part: Part) -> Any:
    """Return the summary of a whole pass, which is noted in the source's readings and told to its `tick`."""
    if source.tick is not None:
        source.tick(1.0 if source.n_rows else 0.0, part.n_rows)  # before the pass is among those that are over
    source.readings.append(Reading(tuple(columns), part.n_rows, None))
    return part.summary
