"""The cut of a node that makes the fewest mistakes, from counts in bins and the values in few of them.

The bounds are those of `_imm_search`. Here the rows that were counted may not be quite those of the node: counts may be
older than the last cuts above it, or made for cuts that were guessed. How many rows of each cluster are elsewhere, and
how many were not counted, is known. So such counts bound the mistakes of a cut from below and from above.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.grow._imm_passes_counts import Columns, Grid, Wish
from boxwood.grow._imm_search import NO_CUT, midpoints_of
from boxwood.loops import imm_events as events
from boxwood.loops import imm_passes as loops
from boxwood.tree import between

__all__ = ["Best", "Guess", "Search"]


class Best(NamedTuple):
    """The best cut of a node."""

    feature: int
    threshold: float
    left: Ints  # weight of each cluster on the left
    n_left: int  # number of rows there, strays too
    up_to: Callable[[float], tuple[Ints, int] | None]  # the same for another threshold, where it is known


class Guess(NamedTuple):
    """A cut that the best one is near to."""

    feature: int
    threshold: float
    left: Ints  # about the weight of each cluster on the left


class Search:
    """The search at one node with c clusters.

    Parameters
    ----------
    centers : array of shape (c, d)
        Centres of the node's clusters.
    alive : array of shape (c,)
        Weight of the rows of each cluster in the node.
    grids : list of Grid
        Counts of its rows.
    midpoints : bool
        Whether cuts are midpoints between neighbouring centres.
    """

    def __init__(self, centers: Floats, alive: Ints, grids: list[Grid], midpoints: bool) -> None:
        self.centers, self.alive = centers, alive
        self.marks = midpoints_of(centers) if midpoints else None
        self.views = [_View(grid, centers, alive, self.marks) for grid in grids]
        self.fewest = fewest = min(int(view.most.min()) for view in self.views)
        reaching = [view.columns.number[(view.most == fewest).any(axis=1)] for view in self.views]
        first_column = min(int(numbers.min()) for numbers in reaching if len(numbers))
        for view in self.views:
            view.close(fewest, first_column)

    @property
    def is_done(self) -> bool:
        """Whether nothing more of the rows needs to be seen."""
        return not any(view.pending.any() or (view.open.any() and not view.grid.is_own) for view in self.views)

    @property
    def n_values(self) -> int:
        """At most so many values lie in the bins that must be looked into."""
        return sum(int(view.grid.n_rows[view.pending].sum()) for view in self.views)

    @property
    def is_exact(self) -> bool:
        """Whether all counts that matter are those of the node itself."""
        return all(view.grid.is_own or not view.open.any() for view in self.views)

    @property
    def n_pending_columns(self) -> int:
        """Number of columns of the grids that have bins which must be looked into."""
        return sum(int(view.pending.any(axis=1).sum()) for view in self.views)

    @property
    def open_columns(self) -> Indices:
        """The columns that can hold the best cut."""
        return np.unique(np.concatenate([view.columns.number[view.open.any(axis=1)] for view in self.views]))

    def best(self) -> Best:
        """Return the best cut: fewest mistakes, then lowest column, then lowest value."""
        found = [(*view.best(s), i, s) for i, view in enumerate(self.views) for s in view.open_columns()]
        _, feature, value, i, s = min(found)
        view = self.views[i]
        reached = view.up_to(s, value)
        assert reached is not None  # the values of open bins are known
        threshold = value
        if self.marks is None:
            centers = self.centers[:, feature]
            threshold = float(between(value, min(centers[centers > value].min(), view.smallest_above(s, value))))
        return Best(feature, threshold, *reached, partial(view.up_to, s))

    def guess(self) -> Guess | None:
        """Return a cut that parts the centres as the best one will, near to it; None where that is not certain yet."""
        spots = [(view, s) for view in self.views for s in view.open_columns()]
        if len({int(view.columns.number[s]) for view, s in spots}) > 1:
            return None
        view, s = max(spots, key=lambda spot: spot[0].most[spot[1]].min() == self.fewest)
        guess = view.guess(s, self.fewest)
        is_left = self.centers[:, guess.feature] <= guess.threshold
        return guess if all(spot.parts_as(t, is_left) for spot, t in spots) else None

    # ---------------------------------------------------------------------------------------------- further looks

    def wishes_for_values(self) -> list[tuple[Grid, Wish]]:
        """Return for each grid with open bins a wish for their values, in the same bins."""
        wishes = []
        for view in self.views:
            which = np.flatnonzero(view.open.any(axis=1))
            if len(which):
                grid, pending = view.grid, view.pending[which]
                wish = Wish(view.columns.taken(which), grid.n_bins, pending, grid.shut[which], grid.is_part)
                wishes.append((grid, wish))
        return wishes

    def closer_parts(self, n_bins: int) -> list[tuple[Grid, Columns]]:
        """Return for each grid closer bins around those that must be looked into, and mark these as shut.

        Bins become closer at least by a factor of 4, so that nothing is looked at for ever.
        """
        parts = []
        for view in self.views:
            which = np.flatnonzero(view.pending.any(axis=1))
            if len(which):
                low, high = np.array([view.shut_part(s, n_bins // 4) for s in which.tolist()]).T
                parts.append((view.grid, Columns.between(view.columns.number[which], low, high, n_bins)))
        return parts


class _View:
    """A grid as a node sees it.

    Attributes
    ----------
    centers : array of shape (s, c)
        Centres of the node in the columns of the grid.
    codes : array of shape (s, c)
        Their bins.
    least : array of shape (s, n_bins)
        No cut in a bin makes fewer mistakes.
    most : array of shape (s, n_bins)
        Some cut in a bin, or right behind it, makes no more.
    open : array of shape (s, n_bins)
        Whether a bin can hold the best cut.
    """

    def __init__(self, grid: Grid, centers: Floats, alive: Ints, marks: list[Floats] | None) -> None:
        self.grid, self.columns, self.alive = grid, grid.columns, alive
        self.centers = np.ascontiguousarray(centers[:, grid.columns.number].T)
        self.codes = self.columns.codes(self.centers, grid.n_bins)
        self.marks = None if marks is None else [marks[j] for j in self.columns.number]
        self.is_constant = (grid.least >= grid.most) & (not grid.come.any())  # of one value, or empty
        whole = self.is_constant & (marks is None)
        np.put_along_axis(whole, self.codes, False, axis=1)
        least, self.behind, inside = np.empty((3, *grid.n_rows.shape), dtype=np.int64)
        loops.cut_bounds(grid.counts, grid.total, grid.come, alive, self.codes, whole, least, self.behind, inside)
        bins = np.arange(grid.n_bins)
        first, last = self.codes.min(axis=1)[:, None], self.codes.max(axis=1)[:, None]
        self.within = (np.maximum(first, 1) <= bins) & (bins <= np.minimum(last, grid.n_bins - 2))
        if marks is None:
            self.most = np.where(self.within & (bins < last), self.behind, NO_CUT)
        else:
            self.within &= self._has_mark()
            self.most = np.where(self.within, inside, NO_CUT)
        self.least = least
        self.open = self.pending = np.zeros(0, dtype=np.bool_)

    def close(self, fewest: int, first_column: int) -> None:
        """Open the bins that can hold the best cut, where some cut makes at most `fewest` mistakes.

        Of equal cuts the first is the best: `first_column` is the first column with such a cut.
        """
        reaches = self.most == fewest
        bins = np.arange(self.grid.n_bins)
        first = np.where(reaches.any(axis=1), reaches.argmax(axis=1), self.grid.n_bins)[:, None]
        not_later = (self.columns.number <= first_column)[:, None] & (bins <= first)
        candidates = self.within & ~self.grid.shut
        self.open = candidates & ((self.least < fewest) | ((self.least == fewest) & not_later))
        self.pending = self.open & ~self.is_constant & ~self.grid.known

    def open_columns(self) -> list[int]:
        """Return the indices of the columns of the grid with bins that can hold the best cut."""
        return np.flatnonzero(self.open.any(axis=1)).tolist()

    def best(self, s: int) -> tuple[int, int, float]:
        """Return mistakes, column and value of the best cut in the open bins of a column."""
        values, mistakes = self._tried(s)
        if not len(values):  # the bins hold no cut between the outermost centres
            return NO_CUT, int(self.columns.number[s]), np.inf
        first = int(mistakes.argmin())
        return int(mistakes[first]), int(self.columns.number[s]), float(values[first])

    def up_to(self, s: int, value: float) -> tuple[Ints, int] | None:
        """Return weight of each cluster and number of rows up to a value; None if the values there are not known."""
        grid, code = self.grid, int(self._codes_of(s, np.array([value]))[0])
        is_whole = grid.most[s, code] <= value
        left: Ints = grid.counts[s, :, : code + is_whole].sum(axis=1)
        n_left = int(grid.n_rows[s, : code + is_whole].sum())
        if is_whole or grid.least[s, code] > value:
            return left, n_left
        if not grid.known[s, code]:
            return None
        found = self._found(s)
        inside = (found.codes == code) & (found.values <= value)
        own = inside & (found.ranks >= 0)
        np.add.at(left, found.ranks[own], found.weights[own])
        return left, n_left + int(inside.sum())

    def guess(self, s: int, fewest: int) -> Guess:
        """Return a cut of a column with at most so many mistakes, or else one in its open bins."""
        reaches = self.open[s] & (self.most[s] == fewest)
        code = int(np.flatnonzero(reaches if reaches.any() else self.open[s])[0])
        if self.marks is None:
            threshold = max(self.grid.most[s, : code + 1].max(), self.centers[s, self.codes[s] <= code].max())
        else:
            threshold = self.marks[s][self._codes_of(s, self.marks[s]) == code][0]
        left = np.minimum(self.grid.counts[s, :, : code + 1].sum(axis=1), self.alive)
        return Guess(int(self.columns.number[s]), float(threshold), left)

    def parts_as(self, s: int, is_left: Bools) -> bool:
        """Return whether all cuts in the open bins of a column part the centres in one way."""
        opened, centers = np.flatnonzero(self.open[s]), self.centers[s]
        always = (self.codes[s] < opened[0]) | (centers == centers.min())
        perhaps = (self.codes[s] <= opened[-1]) & (centers < centers.max())
        return bool((always == is_left).all() and (perhaps == is_left).all())

    def smallest_above(self, s: int, value: float) -> float:
        """Return the smallest value of the node's rows above a value, which lies in an open bin; or infinity."""
        found = self._found(s).values
        least = self.grid.least[s]
        return float(min(found[found > value].min(initial=np.inf), least[least > value].min(initial=np.inf)))

    def shut_part(self, s: int, n_bins: int) -> tuple[float, float]:
        """Shut bins that must be looked into, from the first of them on, and return values around what they hold."""
        codes = np.flatnonzero(self.pending[s])
        codes = codes[codes < codes[0] + n_bins]
        self.grid.shut[s, codes] = True
        points = [self.centers[s], *([] if self.marks is None else [self.marks[s]])]
        inside = np.concatenate([point[np.isin(self._codes_of(s, point), codes)] for point in points])
        low, high = (
            np.append(inside, self.grid.least[s, codes]).min(),
            np.append(inside, self.grid.most[s, codes]).max(),
        )
        low = max(float(low), float(self.centers[s].min()))
        return low, min(float(np.nextafter(high, np.inf)), float(self.centers[s].max()))

    # ---------------------------------------------------------------------------------------------------- sweep

    def _tried(self, s: int) -> tuple[Floats, Ints]:
        """Return the values of a column behind which a cut in the open bins can lie, and the mistakes of each."""
        happening = self._events(s)
        order = np.argsort(happening.values, kind="stable")  # at equal values rows come first and marks last
        counts = self.grid.counts[s]
        left = np.ascontiguousarray((np.cumsum(counts, axis=1) - counts).T)
        start = np.concatenate([[0], self.behind[s, :-1]])
        is_left = self.codes[s] < np.arange(len(start))[:, None]
        before = events.ClusterCounts(start, left, self.alive, is_left)
        ends = self.centers[s].min(), self.centers[s].max()
        tried: tuple[Floats, Ints] = events.sweep(happening, order, before, *ends, self.marks is not None)
        return tried

    def _events(self, s: int) -> events.Events:
        """Return rows, centres and marks in the open bins of a column, in this order."""
        rows = self._rows(s, self.open[s])
        centers = np.flatnonzero(self.open[s, self.codes[s]])
        marks = np.empty(0) if self.marks is None else self.marks[s]
        mark_codes = self._codes_of(s, marks)
        marks, mark_codes = marks[self.open[s, mark_codes]], mark_codes[self.open[s, mark_codes]]
        none = np.zeros(len(centers) + len(marks), dtype=np.int64)
        kinds = np.array([events.ROW, events.CENTER, events.MARK], dtype=np.int8)
        return events.Events(
            np.concatenate([rows.values, self.centers[s, centers], marks]),
            np.repeat(kinds, [len(rows.values), len(centers), len(marks)]),
            np.concatenate([rows.clusters, centers, none[: len(marks)]]),
            np.concatenate([rows.weights, none]),
            np.concatenate([rows.codes, self.codes[s, centers], mark_codes]),
        )

    def _rows(self, s: int, wanted: Bools) -> events.Events:
        """Return the values of rows in some bins; a bin of one value has it once for each cluster."""
        found = self._found(s)
        kept = wanted[found.codes] & (found.ranks >= 0)
        counts = self.grid.counts[s] * (wanted & self.is_constant[s] & ~self.grid.known[s])
        clusters, codes = np.nonzero(counts)
        parts = (
            (found.values[kept], found.ranks[kept], found.weights[kept], found.codes[kept]),
            (self.grid.least[s, codes], clusters, counts[clusters, codes], codes),
        )
        values, ranks, weights, codes = map(np.concatenate, zip(*parts, strict=True))
        return events.Events(values, np.zeros(len(values), dtype=np.int8), ranks, weights, codes)

    def _found(self, s: int) -> loops.Found:
        span = slice(self.grid.starts[s], self.grid.starts[s + 1])
        return loops.Found._make(part[span] for part in self.grid.found)

    def _codes_of(self, s: int, points: Floats) -> Ints:
        codes: Ints = self.columns.taken(np.array([s])).codes(points[None], self.grid.n_bins)[0]
        return codes

    def _has_mark(self) -> Bools:
        assert self.marks is not None
        has = np.zeros(self.grid.n_rows.shape, dtype=np.bool_)
        for s, marks in enumerate(self.marks):
            has[s, self._codes_of(s, marks)] = True
        return has
