"""`Source`: a table that is read in batches; `Summary`: what a pass over it adds up.

A pass makes some empty summaries, gives every batch of rows to one of them, and merges them into one. Which summary
gets which batch depends on threads and machines, and so does the order of merging. So a summary that decides anything
holds whole numbers, least and greatest values, or sums that are exact in any order.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol, Self, TypeVar

from boxwood._threads import map_tasks, n_threads

__all__ = ["RecordSummary", "Source", "Summary", "fold_batches"]

B = TypeVar("B", contravariant=True)


class Summary(Protocol[B]):
    """What a pass adds up. It can be pickled, so that it can travel between machines."""

    def update(self, batch: B, /) -> None:
        """Add a batch of rows."""

    def merge(self, other: Self, /) -> None:
        """Add what another summary of the same kind has added up."""


class RecordSummary(Protocol):
    """A summary of batches as a source yields them: Arrow's record batches.

    `start` is the number of the batch's first row in the table, or None where the source has no order of rows.
    """

    def update(self, batch: Any, start: int | None, /) -> None:
        """Add a record batch."""

    def merge(self, other: Self, /) -> None:
        """Add what another summary of the same kind has added up."""


S = TypeVar("S", bound=RecordSummary)


class Source(ABC):
    """A table that can be read in batches as often as wanted.

    Attributes
    ----------
    name : str
        Name of the table in messages.
    names : tuple of str
        Name of each column, all different, in the order of the table.
    kinds : tuple of str
        Kind of each column: "number", "boolean", "text", "date" or "other".
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    is_local: ClassVar[bool] = True
    """Whether batches are read in this process, so that summaries may write to its files."""

    @abstractmethod
    def run(self, make: Callable[[], S], columns: Sequence[str]) -> S:
        """Return one summary of all batches, each with these columns in this order.

        `make` returns an empty summary; it can be pickled with cloudpickle. At least one summary is made.
        """


def fold_batches(batches: Iterable[tuple[Any, int | None]], make: Callable[[], S], *, n_jobs: int | None = -1) -> S:
    """Return one summary of all pairs of a batch and its start, added up by `n_jobs` threads.

    Batches are taken one at a time, so no more of them are in memory than there are threads.
    """
    waiting, lock, failed = iter(batches), threading.Lock(), threading.Event()

    def work(_: int) -> S:
        summary = make()
        try:
            while not failed.is_set():
                with lock:
                    taken = next(waiting, None)
                if taken is None:
                    break
                summary.update(*taken)
        except BaseException:
            failed.set()  # the other threads stop at their next batch
            raise
        return summary

    first, *others = map_tasks(work, range(n_threads(n_jobs)), n_jobs=n_jobs)
    for other in others:
        first.merge(other)
    return first
