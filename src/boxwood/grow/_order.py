"""The rows of a task in the order of each column, parted node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np

from boxwood._threads import map_tasks
from boxwood._types import Floats, Indices, Ints
from boxwood.loops.order import mark_ties, part, part_by_leaf, set_sides
from boxwood.reference import Task
from boxwood.tree import between

__all__ = ["PartedOrder", "Places"]

T = TypeVar("T")
ONE_THREAD = 1 << 17  # entries up to which threads cost more than they save
AT_ONCE = 1 << 22  # entries in one call of a loop, which takes a fraction of a second


class Places(NamedTuple):
    """The places of a node: in every column of the order, from `start` to `stop - 1`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


class PartedOrder:
    """The kept rows of a task, of which each node of a tree holds the same places in every column.

    A cut is named by its column and a place: rows before it go left. `split` makes it, and may be called again only for
    the places of its sides. `entries` are those of `loops.order`.
    """

    def __init__(self, task: Task) -> None:
        self.rows, self.n_jobs, self.budget = task.rows, task.n_jobs, task.budget
        order = task.order
        small = 2 * len(self.rows) <= np.iinfo(np.int32).max
        self.entries = np.empty(order.shape, dtype=np.int32 if small else np.int64)
        self.is_left = np.zeros(len(self.rows), dtype=np.bool_)

        def mark(feature: int) -> None:
            may_cut = feature not in self.budget.forbidden  # in a column of equal values there is no cut
            values = np.ascontiguousarray(self.rows.values[:, feature]) if may_cut else np.zeros(len(self.rows))
            mark_ties(values, order[feature], self.entries[feature])

        map_tasks(mark, range(len(order)), n_jobs=self.jobs_for(self.root))

    @property
    def root(self) -> Places:
        """The places of all rows."""
        return Places(0, len(self.entries[0]))

    def jobs_for(self, node: Places) -> int | None:
        """Return the number of threads for work on a node; one thread is faster for few entries."""
        return self.n_jobs if len(node) * len(self.entries) > ONE_THREAD else None

    def by_columns(
        self, work: Callable[[int, int], T], node: Places, *, steps: int = 1, most: int | None = None
    ) -> list[T]:
        """Return `work(first, last)` for ranges of columns that together are all; a call takes a fraction of a second.

        `steps` is about how much longer than a mere walk along a column the work takes; `most` limits the ranges.
        """
        d, jobs = len(self.entries), self.jobs_for(node)
        most = min(most or d, d if jobs is None else (d + 7) // 8)
        most = max(1, min(AT_ONCE // (steps * max(len(node), 1)), most))
        return map_tasks(lambda first: work(first, min(first + most, d)), range(0, d, most), n_jobs=jobs)

    @contextmanager
    def least_on_sides(self, node: Places) -> Iterator[None]:
        """Keep cuts of a node from leaving fewer rows on a side than the budget allows.

        So many rows at both ends of each column count as ties while this lasts.
        """
        least = self.budget.min_samples_leaf
        if least == 1:
            yield
            return
        first = self.entries[:, node.start : min(node.start + least, node.stop)]
        last = self.entries[:, max(node.stop - least + 1, node.start) : node.stop]
        before = first.copy(), last.copy()
        first |= 1
        last |= 1
        try:
            yield
        finally:
            first[:], last[:] = before

    def rows_of(self, node: Places, feature: int = 0) -> Indices:
        """Return the rows of a node, in the order of a column."""
        return (self.entries[feature, node.start : node.stop] >> 1).astype(np.intp)

    def threshold(self, feature: int, place: int) -> float:
        """Return the midpoint of the values beside a place."""
        return float(between(self.value(feature, place - 1), self.value(feature, place)))

    def begin_split(self, node: Places, feature: int, place: int) -> tuple[Places, Places]:
        """Note which rows of a node go left, and return the places of both sides; `finish_split` moves the rows there.

        In the column of the cut they are there already.
        """
        set_sides(self.entries[feature], node.start, place, node.stop, self.is_left)
        return Places(node.start, place), Places(place, node.stop)

    def finish_split(self, node: Places) -> None:
        """Move the rows of a node to the places of their sides, in every column."""

        def move(first: int, last: int) -> None:
            part(self.entries, first, last, node.start, node.stop, self.is_left)

        self.by_columns(move, node)

    def part_by_leaf(self, leaves: Ints, n_leaves: int) -> list[Places]:
        """Move all rows, which are at the root, to the places of the leaves of a tree; return these places.

        `leaves` is the leaf of each row of the task, shape (n_rows,). Takes one walk along each column, however deep
        the tree is.
        """
        sizes = np.bincount(leaves[self.rows_of(self.root)], minlength=n_leaves)
        ends = np.cumsum(sizes)
        starts = ends - sizes

        def move(first: int, last: int) -> None:
            part_by_leaf(self.entries, first, last, leaves, starts)

        self.by_columns(move, self.root, steps=2)
        return [Places(*span) for span in zip(starts.tolist(), ends.tolist(), strict=True)]

    def value(self, feature: int, place: int) -> float:
        """Return the value of a column at a place."""
        return float(self.rows.values[self.entries[feature, place] >> 1, feature])

    def values(self, feature: int, places: Indices) -> Floats:
        """Return the values of a column at some places; those beyond the ends of the column stand for the ends."""
        column = self.entries[feature]
        return self.rows.column(feature, column[np.clip(places, 0, len(column) - 1)] >> 1)
