"""The cut of a node that leaves least impurity by gini, found in bins of the columns; for long tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks, n_threads
from boxwood._types import Array, Bools, Floats, Ints
from boxwood.grow._impurity_labels import Labels, gini
from boxwood.loops import impurity_bins as loops
from boxwood.reference import Task
from boxwood.reference._ascending import ascending
from boxwood.reference._bins import N_BINS, LooseBins
from boxwood.tree import between

__all__ = ["GiniInBins"]

_SUMS = 1 << 17  # numbers that are filled at a time, so that they stay in the processor's cache
_AT_ONCE = 1 << 26  # values in one call of a loop, which takes a fraction of a second
_ONE_THREAD = 1 << 17  # values up to which threads cost more than they save


class _Cut(NamedTuple):
    """A cut, in the order in which cuts with equal impurity are taken."""

    column: int
    bin: int  # the bin of the first value after the cut
    number: int  # of that value among the rows of the bins that were walked; 0 for the first value of a bin
    threshold: float


class GiniInBins:
    """The rows of a task in bins of each column, where the best cut of a node is found; see `_impurity.CutRows`.

    The rows of a node are their numbers, in ascending order.
    """

    def __init__(self, task: Task, labels: Labels) -> None:
        self.X, self.budget, self.labels, self.n_jobs = task.rows.values, task.budget, labels, task.n_jobs
        bins = task.bins
        assert isinstance(bins, LooseBins)  # the task is long
        self.codes, self.single = bins.codes, bins.single
        self.root: NDArray[np.integer] = np.flatnonzero(task.kept)
        if len(self.X) <= np.iinfo(np.int32).max:
            self.root = self.root.astype(np.int32)

    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a node with such weights of clusters."""
        return gini(counts)

    def threshold(self, cut: _Cut) -> float:
        """Return the threshold of a cut."""
        return cut.threshold

    def split(self, part: Array, cut: _Cut) -> tuple[Array, Array]:
        """Return both sides of a node's cut."""
        left, right = np.empty_like(part), np.empty_like(part)
        n_left = loops.part_rows(self.X, part, cut.column, cut.threshold, left, right)
        return left[:n_left].copy(), right[: len(part) - n_left].copy()

    def counts(self, part: Array, feature: int = 0) -> Ints:
        """Return the weight by cluster of the rows of a node."""
        return self.labels.counts(part)

    def best(self, part: Array, counts: Ints) -> tuple[float, _Cut] | None:
        """Return what the best cut of a node gains, and the cut; None without one."""
        jobs = self.n_jobs if len(part) * self.X.shape[1] > _ONE_THREAD else None
        looks = map_tasks(lambda columns: self._look(part, columns), self._columns(part, jobs), n_jobs=jobs)
        score, column, after = min((look.end for look in looks), key=lambda end: (end[0], end[1]))
        near = [each for look in looks for each in look.near(score, self.single, self.budget.forbidden)]
        walked = map_tasks(lambda each: self._walk(part, *each, score), near, n_jobs=jobs)
        found = [each for each in walked if each is not None]
        if after >= 0:
            found.append((score, _Cut(column, after, 0, self._threshold(part, column, after))))
        if not found:
            return None
        score, cut = min(found)
        return gini(counts) - score, cut

    def _columns(self, part: Array, jobs: int | None) -> list[range]:
        """Return ranges of columns that are looked at together."""
        d = self.X.shape[1]
        size = min(_SUMS // ((N_BINS + 1) * (self.labels.n_clusters + 1)), _AT_ONCE // len(part))
        size = max(1, min(size, -(-d // n_threads(jobs))))
        return [range(first, min(first + size, d)) for first in range(0, d, size)]

    def _look(self, part: Array, columns: range) -> _Look:
        """Add up the bins of some columns."""
        sums = np.zeros((len(columns), N_BINS + 1, self.labels.n_clusters + 1), dtype=np.int64)
        ends = np.empty(sums.shape[:2])
        loops.add_clusters(part, self.codes, columns.start, self.labels.labels, self.labels.weights, sums)
        barred = np.zeros(len(columns), dtype=np.bool_)
        barred[[j - columns.start for j in self.budget.forbidden if j in columns]] = True
        least = self.budget.min_samples_leaf
        score, column, after = loops.look_at_ends(sums, self.labels.weights.size > 0, least, barred, ends)
        return _Look(columns, sums, ends, (score, column + columns.start, after))

    def _walk(self, part: Array, column: int, sums: Ints, near: Bools, limit: float) -> tuple[float, _Cut] | None:
        """Return the best cut inside the bins of a column that are near, if it has no more impurity than a limit."""
        rows = np.empty_like(part)
        rows = rows[: loops.find_rows(part, self.codes, column, near, rows)]
        values: Floats = self.X[rows, column].astype(np.float64)
        order = ascending(values)
        rows, values = rows[order], values[order]
        here = self.codes, column, self.labels.labels, self.labels.weights, sums
        score, place, i = loops.best_in_bins(rows, values, *here, self.budget.min_samples_leaf, limit)
        return (score, _Cut(column, place, i, float(between(values[i - 1], values[i])))) if place >= 0 else None

    def _threshold(self, part: Array, column: int, after: int) -> float:
        """Return the threshold of a cut before the values of a bin."""
        return float(between(*loops.values_beside(self.X, part, self.codes, column, after)))


class _Look(NamedTuple):
    """Bins of some columns, summed up; see `loops.look_at_ends`."""

    columns: range
    sums: Ints
    ends: Floats
    end: tuple[float, int, int]

    def near(self, limit: float, single: Bools, forbidden: tuple[int, ...]) -> list[tuple[int, Ints, Bools]]:
        """Return columns with bins in which a cut may have as little impurity, their sums, and these bins.

        There is no cut in a bin of a single value.
        """
        near = np.zeros((len(self.columns), N_BINS), dtype=np.bool_)
        loops.mark_near(self.sums, self.ends, limit, near)
        near &= ~single[self.columns.start : self.columns.stop]
        marked = np.flatnonzero(near.any(axis=1)).tolist()
        return [(self.columns[i], self.sums[i], near[i]) for i in marked if self.columns[i] not in forbidden]
