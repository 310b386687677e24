"""The best cuts of several leaves at once, by passes over the rows.

As a threshold rises, the cost of the left side under its cheapest cluster never falls, and the cost of the right side
never rises. So a lower bound on the cuts inside a bin is the left cost at its lower end plus the right cost at its
upper end. A pass sums costs by bin, which gives the cost of the cuts between bins. Only bins that may hold a better cut
are refined: by finer bins, or value by value once they hold few rows.

An interval that begins in one bin and ends in another contains all bins between, and none before or behind. A lower
bound on its cost is the cost of these rows alone, those inside and those outside each under their cheapest cluster.
Only bins in which a better interval may begin or end are refined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Ints
from boxwood.batches import Batches, Block
from boxwood.grow.leaves._cuts import LeafCut, Pair, best_interval_of
from boxwood.grow.shared.batches import (
    BINS,
    BYTES,
    FEWEST,
    BlockCosts,
    CandidateBin,
    FilledBins,
    GrowingTree,
    GuidingRows,
    Paths,
    RowsInNodes,
    Scales,
    SlotSums,
    Stretch,
    StretchBins,
    bins_into,
    chunks_of,
    narrow_candidates,
    rows_taken,
)
from boxwood.loops.bins import add_by_label, add_to_slots, mark_open
from boxwood.loops.expand import cheapest_threshold
from boxwood.reference import Task
from boxwood.tree import between

TWO_SIDED_BINS = 128  # most bins of a column at a node for intervals, as all pairs of them are compared


class LeafCutSearch:
    """The search for the best cuts of leaves of a growing tree."""

    batches: Batches
    tree: GrowingTree
    costs: BlockCosts
    two_sided: bool

    def __init__(self, task: Task, tree: GrowingTree, costs: BlockCosts, two_sided: bool) -> None:
        self.batches, self.tree, self.costs, self.two_sided = task.batches, tree, costs, two_sided
        self.least_rows: int = task.budget.min_samples_leaf
        self.columns: tuple[int, ...] = task.budget.allowed(task.n_columns)
        overview = task.overview
        self.ranges: tuple[Floats, Floats] = task.ranges
        repeated = self.costs.is_repeated
        # rows, with repetitions
        self.n_repeated: float = overview.total_weight() if repeated else float(overview.n_kept)
        self.sample: GuidingRows | None = None

    def find(self, leaves: Sequence[Leaf]) -> None:
        """Find the best cuts of the first leaves: as many as fit into memory, at least one."""
        self.measure(leaves)
        for leaf in leaves:
            leaf.is_searched = leaf.count < 2
        size = 8 * (self.costs.n_amounts + 3) * len(self.columns)
        searched = [leaf for leaf in leaves if not leaf.is_searched][: max(BYTES // (size * FEWEST), 1)]
        if not searched:
            return
        assert self.sample is not None
        n_bins = min(TWO_SIDED_BINS if self.two_sided else BINS, max(BYTES // (size * len(searched)), FEWEST))
        paths = self.tree.paths_to([leaf.node for leaf in searched])
        looks = LeafPasses(self.batches, self.costs, paths, searched, self.sample, self.ranges, n_bins)
        find = find_intervals if self.two_sided else partial(find_thresholds, least_rows=self.least_rows)
        find(looks, self.columns)
        for leaf in searched:
            leaf.is_searched = True

    def measure(self, leaves: Sequence[Leaf]) -> None:
        """Find the number of rows and the scale of each leaf, where they are not known yet."""
        leaves = [leaf for leaf in leaves if leaf.scale == 0 or leaf.count < 0]
        if leaves:
            self.measure_at(leaves, self.tree.paths_to([leaf.node for leaf in leaves]))

    def measure_at(self, leaves: Sequence[Leaf], paths: Paths) -> None:
        """Find the number of rows and the scale of each leaf, by the paths that lead to them."""
        sampled = GuidingRows.size(self.batches.n_columns) if self.sample is None else 0
        scales = self.batches.fold(partial(Scales, self.costs, paths, len(leaves), sampled))
        self.sample = self.sample or GuidingRows(scales.sample)
        for leaf, count, scale in zip(leaves, scales.counts.tolist(), scales.scales(), strict=True):
            leaf.count, leaf.scale = count, scale

    def open_sides(self, leaf: Leaf) -> None:
        """Split a leaf, unless it is split already, and give both sides their number of rows and scale."""
        if leaf.sides:
            return
        self.split(leaf)
        count, left = leaf.left
        sides = (count, left), (leaf.count - count, leaf.total - left)
        for side, (n_rows, sums) in zip(leaf.sides, sides, strict=True):
            rounded = self.n_repeated if self.costs.is_repeated else n_rows
            side.count, side.scale = n_rows, self.costs.scale_of_sums(sums, leaf.scale, rounded)

    def split(self, leaf: Leaf) -> None:
        """Make the cut of a leaf in the growing tree."""
        assert leaf.cut is not None
        nodes = self.tree.split(leaf.node, leaf.cut.feature, leaf.cut.upper, leaf.cut.lower)
        leaf.sides = [Leaf(node, leaf.depth + 1) for node in nodes]


class _Best(NamedTuple):
    """The best cut so far. Of two cuts the smaller tuple is the better one, which also breaks ties."""

    cost: int
    column: int
    threshold: float
    first: int
    second: int


def find_thresholds(looks: LeafPasses, columns: Sequence[int], *, least_rows: int) -> None:
    """Find the best threshold of each leaf with at least `least_rows` rows on both sides, if it gains anything."""
    _Thresholds(looks, columns, least_rows).find()


class _Thresholds:
    """The search for the best thresholds of some leaves."""

    def __init__(self, looks: LeafPasses, columns: Sequence[int], least_rows: int) -> None:
        self.looks, self.leaves, self.costs = looks, looks.leaves, looks.costs
        self.columns, self.least_rows = columns, least_rows
        self.best: list[_Best] = []

    def find(self) -> None:
        """Find the cuts."""
        candidates, none = [], np.zeros(self.costs.n_amounts, dtype=np.int64)
        for i, (leaf, bins) in enumerate(zip(self.leaves, self.looks.first(self.columns), strict=True)):
            self.best.append(_Best(int(self.costs.under(leaf.total).min()), -1, -math.inf, -1, -1))
            whole = [CandidateBin(j, -np.inf, np.inf, leaf.count, (0, none), ()) for j in self.columns]
            candidates.append(self._inside(i, list(zip(whole, bins, strict=True))))
        narrow_candidates(candidates, self.looks.into, self._inside)
        for leaf, best in zip(self.leaves, self.best, strict=True):
            if best.column >= 0:
                leaf.gain = (int(self.costs.under(leaf.total).min()) - best.cost) / leaf.scale
                leaf.cut = LeafCut(best.cost, False, best.column, -math.inf, best.threshold, best.first, best.second)

    def _inside(self, i: int, looked_into: list[tuple[CandidateBin, FilledBins]]) -> list[CandidateBin]:
        """Take the best cut between bins of a leaf, and return the bins that may hold a better one."""
        inner = [
            found for whole, bins in looked_into if len(bins.counts) for found in self._bins_inside(i, whole, bins)
        ]
        return [candidate for candidate in inner if candidate.rank < self.best[i][:3]]

    def _bins_inside(self, i: int, whole: CandidateBin, bins: FilledBins) -> list[CandidateBin]:
        leaf, best, least = self.leaves[i], self.best[i], self.least_rows
        n_before_all, before_all = whole.before
        left = before_all + np.cumsum(bins.sums, axis=0)
        n_left = n_before_all + np.cumsum(bins.counts)
        before = np.concatenate([before_all[None], left[:-1]])
        n_before = n_left - bins.counts
        on_right = self.costs.under(leaf.total - left).min(axis=1)
        at_ends = self.costs.under(left[:-1]).min(axis=1) + on_right[:-1]
        allowed = (n_left[:-1] >= least) & (leaf.count - n_left[:-1] >= least)
        if allowed.any():
            at = int(np.where(allowed, at_ends, np.iinfo(np.int64).max).argmin())
            threshold = float(between(bins.high[at], bins.low[at + 1]))
            cut = int(at_ends[at]), whole.column, threshold
            if cut < best[:3]:
                first, second = (int(self.costs.under(side).argmin()) for side in (left[at], leaf.total - left[at]))
                self.best[i] = best = _Best(*cut, first, second)
                leaf.left = int(n_left[at]), left[at]
        bounds = self.costs.under(before).min(axis=1) + on_right
        is_candidate = (bins.low < bins.high) & (bounds <= best.cost)
        is_candidate &= (n_left - 1 >= least) & (leaf.count - n_before - 1 >= least)
        low, high = bins.low.tolist(), bins.high.tolist()
        return [
            CandidateBin(
                whole.column,
                low[b],
                high[b],
                int(bins.counts[b]),
                (int(n_before[b]), before[b]),
                (int(bounds[b]), whole.column, low[b]),
            )
            for b in np.flatnonzero(is_candidate).tolist()
        ]


FINER = 4096  # most new bins of a pass for intervals, as time grows with the square of the bins of a column


@dataclass(eq=False)
class _Column:
    """A column of a leaf: its bins, and which of them are to be refined.

    A bin that cannot hold a better cut than the best so far never will, so only new bins may open.
    """

    column: int
    bins: FilledBins
    open_now: Bools
    may_open: Bools


def find_intervals(looks: LeafPasses, columns: Sequence[int]) -> None:
    """Find the best cut of each leaf, one-sided or two-sided, if it gains anything."""
    searches = [_Intervals(looks, i, columns, bins) for i, bins in enumerate(looks.first(columns))]
    while wanted := [stretch for search in searches for stretch in search.wanted()]:
        n_values = sum(n_rows for _, n_rows in wanted)
        following = iter(looks.into([stretch for stretch, _ in wanted], n_values, FINER))
        for search in searches:
            search.refine(following)
    for search in searches:
        search.finish()


class _Intervals:
    """The search for the best cut of one leaf."""

    def __init__(self, looks: LeafPasses, i: int, columns: Sequence[int], bins: Sequence[FilledBins]) -> None:
        self.i, self.leaf, self.costs = i, looks.leaves[i], looks.costs
        self.single = int(self.costs.under(self.leaf.total).min())
        self.best = LeafCut(self.single, False, -1, -math.inf, -math.inf, -1, -1)
        self.columns = [
            _Column(j, own, np.zeros(len(own.counts), dtype=np.bool_), own.low < own.high)
            for j, own in zip(columns, bins, strict=True)
        ]
        self._open()

    def wanted(self) -> Iterator[tuple[tuple[int, int, float, float], int]]:
        """Yield the open bins as stretches (leaf, column, low, high), each with its number of rows."""
        for column in self.columns:
            for b in np.flatnonzero(column.open_now).tolist():
                low, high = float(column.bins.low[b]), float(column.bins.high[b])
                yield (self.i, column.column, low, high), int(column.bins.counts[b])

    def refine(self, following: Iterator[FilledBins]) -> None:
        """Replace the open bins by the finer ones of the last pass."""
        for column in self.columns:
            if not column.open_now.any():
                continue
            places = np.flatnonzero(column.open_now).tolist()
            finer, starts = [next(following) for _ in places], [0, *(place + 1 for place in places)]
            ends = zip(starts, [*places, None], strict=True)
            pieces = [FilledBins._make(piece[slice(*span)] for piece in column.bins) for span in ends]
            merged = [pieces[0], *(bins for pair in zip(finer, pieces[1:], strict=True) for bins in pair)]
            is_new = np.concatenate([np.full(len(piece.counts), i % 2 == 1) for i, piece in enumerate(merged)])
            column.bins = FilledBins._make(np.concatenate(arrays) for arrays in zip(*merged, strict=True))
            column.may_open = is_new & (column.bins.low < column.bins.high)
            column.open_now = np.zeros(len(is_new), dtype=np.bool_)
        self._open()

    def finish(self) -> None:
        """Store the best cut in the leaf."""
        if self.best.feature >= 0:
            self.leaf.gain, self.leaf.cut = (self.single - self.best.cost) / self.leaf.scale, self.best

    def _open(self) -> None:
        """Take the best cut between bins, and mark the bins that may hold a better one."""
        total = self.costs.under(self.leaf.total)
        for column in self.columns:
            self._take(column, np.ascontiguousarray(self.costs.under(column.bins.sums)), total)
        for column in self.columns:
            column.open_now[:] = False
            if column.may_open.any():
                self._mark(column, np.ascontiguousarray(self.costs.under(column.bins.sums)), total)

    def _mark(self, column: _Column, under: Ints, total: Ints) -> None:
        """Mark the bins of a column that may hold a better cut; of equal cuts the one that begins first is better."""
        bins, j, best = column.bins, column.column, self.best
        before = [-math.inf, *bins.high[:-1].tolist()]
        two_sided = np.array([(True, j, low) < best[1:4] for low in before], dtype=np.bool_)
        one_sided = np.array([(False, j, -math.inf, low) < best[1:5] for low in bins.low.tolist()], dtype=np.bool_)
        mark_open(under, total, best.cost, ~column.may_open, one_sided, two_sided, column.open_now)

    def _take(self, column: _Column, under: Ints, total: Ints) -> None:
        """Take the best cut between bins of a column, if it is better than the best so far."""
        bins, ranks = column.bins, np.arange(len(column.bins.counts))
        if len(ranks) < 2:
            return
        cost, last, first, second = cheapest_threshold(bins.low, ranks, under, total)
        upper = float(between(bins.high[last], bins.low[last + 1]))
        self._take_if_better(
            LeafCut(int(cost), False, column.column, -math.inf, upper, int(first), int(second)), bins, 0, last
        )
        if len(ranks) > 2:
            cost, start, end, first, second = best_interval_of(bins.low, ranks, under, total)
            lower = -float(between(-bins.low[start], -bins.high[start - 1]))  # it is closed: above the value before
            upper = float(between(bins.high[end], bins.low[end + 1]))
            self._take_if_better(
                LeafCut(int(cost), True, column.column, lower, upper, int(first), int(second)), bins, start, end
            )

    def _take_if_better(self, cut: LeafCut, bins: FilledBins, start: int, end: int) -> None:
        """Take the cut with the bins from `start` to `end` inside, if it is better than the best so far."""
        if cut < self.best:
            self.best = cut
            inside = slice(start, end + 1)
            self.leaf.left = int(bins.counts[inside].sum()), bins.sums[inside].sum(axis=0)


VALUES = 200_000  # most values that are gathered one by one, where a row has few amounts


@dataclass(eq=False)
class Leaf:
    """A leaf, and the facts found about it so far."""

    node: int  # of the growing tree
    depth: int
    count: int = -1  # of its rows; -1 before it is known
    scale: float = 0.0  # of whole costs; 0 before it is known
    is_searched: bool = False
    gain: float = 0.0
    cut: LeafCut | None = None  # the best cut; None if no cut gains anything
    total: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # sums of the amounts
    left: tuple[int, Ints] = (0, np.empty(0, dtype=np.int64))  # rows and sums on the left of the cut
    sides: list[Leaf] = field(default_factory=list)  # empty until the growing tree has made the cut
    pairs: list[Pair] | None = None  # of cuts at once; None before they are searched
    least: int = 0  # cost of its rows if each is in a leaf of its cheapest cluster, known with the pairs
    is_too_large: bool = False  # has too many rows to search for pairs of cuts
    seconds: list[LeafCut | None] | None = None  # cuts of the sides, where two or three cuts are made at once


class LeafPasses:
    """Passes over the rows of some leaves; each pass sums or gathers values of all of them.

    `ends` are the least and the greatest value of each column; `n_bins` is the largest number of bins of a column.
    """

    def __init__(
        self,
        batches: Batches,
        costs: BlockCosts,
        paths: Paths,
        leaves: Sequence[Leaf],
        sample: GuidingRows,
        ends: tuple[Floats, Floats],
        n_bins: int,
    ) -> None:
        self.batches, self.costs, self.paths, self.leaves = batches, costs, paths, leaves
        self.ends, self.n_bins = ends, n_bins
        self.scales = np.array([leaf.scale for leaf in leaves], dtype=np.float64)
        self.samples = sample.at(paths)
        self.most_values = min(VALUES, max(BYTES // (8 * (costs.n_amounts + 2)), 1))

    def first(self, columns: Sequence[int]) -> list[list[FilledBins]]:
        """Return the filled bins of some columns of each leaf, and store the sums of each leaf."""
        gathers = sum(leaf.count * len(columns) for leaf in self.leaves) <= self.most_values
        stretches = [
            Stretch(i, j, -np.inf, np.inf, np.empty(0) if gathers else self._first_edges(i, j))
            for i in range(len(self.leaves))
            for j in columns
        ]
        bins = self._bins_of(stretches, gathers)
        by_leaf = [bins[i * len(columns) : (i + 1) * len(columns)] for i in range(len(self.leaves))]
        for leaf, own in zip(self.leaves, by_leaf, strict=True):
            leaf.total = own[0].sums.sum(axis=0)
        return by_leaf

    def into(
        self, wanted: Sequence[tuple[int, int, float, float]], n_values: int, most: int = BYTES
    ) -> list[FilledBins]:
        """Return the filled bins of some stretches: leaf, column, and the values of both ends.

        IN: n_values: values in all stretches. If they are too many to be gathered, see `bins_into` for `most`.
        """
        gathers = n_values <= self.most_values
        stretches = bins_into(
            wanted, self.samples, gathers=gathers, n_bins=self.n_bins, n_amounts=self.costs.n_amounts, most=most
        )
        return self._bins_of(stretches, gathers)

    def _first_edges(self, i: int, column: int) -> Floats:
        low, high = (float(end[column]) for end in self.ends)
        return self.samples.edges(i, column, low, high, self.n_bins)

    def _bins_of(self, stretches: list[Stretch], gathers: bool) -> list[FilledBins]:
        wanted = {*self.paths.columns, *(stretch.column for stretch in stretches)}
        columns = sorted(wanted) if self.costs.by_label else list(range(self.batches.n_columns))
        bins, paths = StretchBins.at(stretches, columns, len(self.leaves)), self.paths.among(columns)
        return self.batches.fold(partial(_SlotCosts, self.costs, paths, self.scales, bins, gathers), columns).filled()


class _SlotCosts(SlotSums):
    """The costs of the rows in each slot, under each cluster."""

    def __init__(self, costs: BlockCosts, paths: Paths, scales: Floats, bins: StretchBins, gathers: bool) -> None:
        super().__init__(bins, gathers, costs.n_amounts)
        self.costs, self.paths, self.scales = costs, paths, scales

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for chunk in chunks_of(block, self.paths, self.costs):
            if self.gathers:
                self._gather(chunk)
            elif self.costs.by_label:
                mass = self.costs.mass(chunk, self.scales)
                add_by_label(chunk.values, chunk.nodes, chunk.labels, mass, *self.slots, *self.out)
            else:
                add_to_slots(chunk.values, chunk.nodes, *self.slots, self.costs.amounts(chunk, self.scales), *self.out)

    def _gather(self, chunk: RowsInNodes) -> None:
        rows, columns, slots = self.values_in(chunk)
        if len(rows):
            of_chunk, at = np.unique(rows, return_inverse=True)
            amounts = self.costs.amounts(rows_taken(chunk, of_chunk), self.scales)[at.reshape(-1)]
            self.gathered.append((chunk.values[rows, columns], slots, amounts))
