"""The cut of a node that makes the fewest mistakes, found by sorting few rows.

Let `after[j, b]` be the number of mistakes of a cut of column j right behind bin b; the counts give it exactly. A cut
within bin b makes at least `bound[j, b]` mistakes: the rows behind the bin of clusters whose centre lies before it, and
the rows before the bin of clusters whose centre lies behind it. A bin can hold the best cut only if its bound is at
most the smallest number of mistakes so far. Only rows in such bins are sorted::

    mistakes  \\_         _/      bins    | 0 | 1 | 2 | 3 | 4 |
                \\_.___._/        bound   | 9 | 4 | 2 | 1 | 5 |
                                 after   | 8 | 5 | 3 | 6 | 9 |     bins 2 and 3 can hold a cut with 3 mistakes or fewer
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.grow._imm_counts import Bins, Counts
from boxwood.loops import imm as loops
from boxwood.loops.imm_events import ClusterCounts, Column, Events, sweep
from boxwood.tree import between

__all__ = ["NO_CUT", "Cut", "Search", "midpoints_of"]

NO_CUT = np.iinfo(np.int64).max  # more mistakes than any cut makes


class Cut(NamedTuple):
    """A cut right behind a value; of two cuts the better one is the smaller."""

    mistakes: int
    feature: int
    value: float


class Search:
    """The search at one node, which holds the centres of `clusters`; the counts are those at this moment."""

    def __init__(self, counts: Counts, centers: Floats, clusters: Indices, bins: Bins, midpoints: bool) -> None:
        self.counts, self.clusters, self.bins, self.midpoints = counts, clusters, bins, midpoints
        self.centers = centers[clusters]
        self.low, self.high = self.centers.min(axis=0), self.centers.max(axis=0)
        self.center_bins = bins.codes(self.centers)  # (d, centres)
        self.marks = midpoints_of(self.centers) if midpoints else None
        self.total = counts.total[clusters]
        self.after, self.bound = self._bounds()
        self.start = np.zeros_like(self.after)  # the mistakes of a cut before each bin
        self.start[:, 1:] = self.after[:, :-1]
        self.open = self._open_at_marks() if midpoints else self._open()

    def run(self) -> Cut:
        """Return the best cut: fewest mistakes, then lowest column, then lowest value."""
        best: Cut | None = None
        lowest = np.where(self.open, self.bound, NO_CUT).min(axis=1)
        for j in np.argsort(lowest, kind="stable").tolist():
            if best is not None and (lowest[j], j) > (best.mistakes, best.feature):
                break
            wanted = self.open[j] if best is None else self.open[j] & (self.bound[j] <= best.mistakes)
            if wanted.any():
                cut = self._best_in_bins(j, wanted)
                best = cut if best is None else min(best, cut)
        assert best is not None  # the node's centres differ, so some cut separates them
        return best

    def equal(self, best: Cut) -> Iterator[tuple[int, Floats]]:
        """Yield each column with cuts as good as the best one, and the values behind which they lie, ascending."""
        opened = self.open if self.midpoints else self._within()
        for j in range(best.feature, len(opened)):
            wanted = opened[j] & (self.bound[j] <= best.mistakes)
            if wanted.any():
                values, mistakes = self._tried(j, wanted)
                if (mistakes == best.mistakes).any():
                    yield j, values[mistakes == best.mistakes]

    def wants_closer_bins(self) -> bool:
        """Return whether finer bins pay: many rows would be sorted, and the centres are close together."""
        closer = self.high / 2 - self.low / 2 < 0.25 * (self.bins.high / 2 - self.bins.low / 2)
        if not (closer & self.open.any(axis=1)).any():
            return False
        to_sort = self.counts.weight_in(self.clusters, self.open)
        return 10 * to_sort > len(self.low) * int(self.counts.total[self.clusters].sum())

    # --------------------------------------------------------------------------------------------------- bounds

    def _bounds(self) -> tuple[Ints, Ints]:
        shape = len(self.low), self.bins.n_bins
        after, bound = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        loops.cut_bounds(self.counts.counts, self.counts.total, self.clusters, self.center_bins, after, bound)
        has_center = np.zeros(shape, dtype=np.bool_)
        np.put_along_axis(has_center, self.center_bins.astype(np.intp), True, axis=1)
        whole = self.bins.constant & ~has_center  # a bin of one value holds no cut except at a mark
        return after, np.where(whole & (not self.midpoints), after, np.minimum(bound, after))

    def _open(self) -> Bools:
        """Return the bins that can hold the best cut, by the bounds and by the rule for ties, shape (d, n_bins)."""
        within, codes, last = self._within(), np.arange(self.bins.n_bins), self.center_bins.max(axis=1)[:, None]
        behind = np.where(within & (codes < last), self.after, NO_CUT)
        fewest_at = int(np.argmin(behind))  # the first cut behind a bin with the fewest mistakes, by column, then bin
        fewest = behind.flat[fewest_at]
        not_later = np.arange(behind.size).reshape(behind.shape) <= fewest_at
        opened: Bools = within & ((self.bound < fewest) | ((self.bound == fewest) & not_later))
        return opened

    def _within(self) -> Bools:
        """Return the bins that can hold a cut between two centres, shape (d, n_bins)."""
        codes = np.arange(self.bins.n_bins)
        first, last = self.center_bins.min(axis=1)[:, None], self.center_bins.max(axis=1)[:, None]
        within: Bools = (first <= codes) & (codes <= last) & (self.low < self.high)[:, None]
        within[self.high == self.bins.high, -1] = False  # no value of this bin lies below the last centre
        return within

    def _open_at_marks(self) -> Bools:
        assert self.marks is not None
        opened = np.zeros(self.bound.shape, dtype=np.bool_)
        for j, marks in enumerate(self.marks):
            opened[j, self.bins.codes_of(j, marks)] = True
        return opened

    # ---------------------------------------------------------------------------------------------------- sweep

    def _best_in_bins(self, j: int, wanted: Bools) -> Cut:
        """Return the best cut in the wanted bins of one column: sort the values in them, and sweep."""
        values, mistakes = self._tried(j, wanted)
        if not len(values):  # the wanted bins hold no valid cut
            return Cut(NO_CUT, j, np.inf)
        first = int(mistakes.argmin())
        return Cut(int(mistakes[first]), j, float(values[first]))

    def _tried(self, j: int, wanted: Bools) -> tuple[Floats, Ints]:
        """Return the values of one column behind which a cut in the wanted bins can lie, and the mistakes of each.

        Bins whose rows all have one value, as in columns with few values, are noted, so that they are not sorted again.
        """
        counts, marks = self.counts, np.empty(0) if self.marks is None else self.marks[j]
        centers = self.centers[:, j], self.center_bins[j]
        column = Column(j, self.clusters, *centers, marks, self.bins.codes_of(j, marks), wanted)
        *events, left, is_left = counts.events(column, self.bins.constant[j])
        order = np.argsort(events[0], kind="stable")  # at equal values rows come first and marks last
        before = ClusterCounts(self.start[j], left, self.total, is_left)
        tried: tuple[Floats, Ints] = sweep(
            Events._make(events), order, before, self.low[j], self.high[j], self.midpoints
        )
        return tried


def midpoints_of(centers: Floats) -> list[Floats]:
    """Return the midpoints between neighbouring centres in each column."""
    ordered = np.sort(centers, axis=0)
    middle = between(ordered[:-1], ordered[1:])
    return [middle[ordered[:-1, j] < ordered[1:, j], j] for j in range(centers.shape[1])]
