"""The best cuts of several leaves at once, by passes over the rows.

The cheapest cluster of the rows on the left of a cut costs more and more as they grow in number, and that of the rows
on the right less and less. So no cut inside a bin of values costs less than the former at the bin's begin and the
latter at its end. A pass adds up costs by bin, which gives the cost of the cuts between bins; only bins that may hold
a better cut remain. These are looked into: by finer bins, or value by value once they hold few rows.

An interval that begins in one part of a column and ends in another has all parts between them inside, and all parts
before and behind them outside. No such interval costs less than these rows do under the cheapest cluster for those
inside and the cheapest one for those outside. Only parts are looked into in which a better cut may begin or end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.grow.leaves._cuts import LeafCut, Pair, best_interval_of
from boxwood.grow.shared.passes import (
    BINS,
    BYTES,
    FEWEST,
    BlockCosts,
    GrowingTree,
    GuidingRows,
    Parts,
    Paths,
    Scales,
    Stretch,
    StretchBins,
    parts_of,
    parts_of_values,
    taken,
)
from boxwood.loops.bins import add_by_label, add_to_slots, find_in_slots, mark_open
from boxwood.loops.expand import best_threshold
from boxwood.passes import Batches, Block
from boxwood.reference import Task
from boxwood.tree import between

__all__ = ["Leaf", "LeafCutSearch"]

TWO_SIDED_BINS = 128  # of a column at a node, at most, as all pairs of them are looked at


class LeafCutSearch:
    """The search for the best cuts of leaves of a growing tree."""

    def __init__(self, task: Task, tree: GrowingTree, costs: BlockCosts, two_sided: bool) -> None:
        self.batches, self.tree, self.costs, self.two_sided = task.batches, tree, costs, two_sided
        self.least_rows = task.budget.min_samples_leaf
        self.columns = task.budget.allowed(task.n_columns)
        overview = task.overview
        self.ranges = task.ranges
        repeated = self.costs.is_repeated
        self.n_repeated = overview.total_weight() if repeated else float(overview.n_kept)  # rows, with repetitions
        self.sample: GuidingRows | None = None

    def find(self, leaves: Sequence[Leaf]) -> None:
        """Find the best cuts of leaves; those for which there is no room now stay as they are, but not the first."""
        self.measure(leaves)
        for leaf in leaves:
            leaf.is_searched = leaf.count < 2
        size = 8 * (self.costs.n_amounts + 3) * len(self.columns)
        several = [leaf for leaf in leaves if not leaf.is_searched][: max(BYTES // (size * FEWEST), 1)]
        if not several:
            return
        assert self.sample is not None
        n_bins = min(TWO_SIDED_BINS if self.two_sided else BINS, max(BYTES // (size * len(several)), FEWEST))
        paths = self.tree.paths_to([leaf.node for leaf in several])
        looks = Looks(self.batches, self.costs, paths, several, self.sample, self.ranges, n_bins)
        find = find_intervals if self.two_sided else partial(find_thresholds, least_rows=self.least_rows)
        find(looks, self.columns)
        for leaf in several:
            leaf.is_searched = True

    def measure(self, leaves: Sequence[Leaf]) -> None:
        """Find the number of rows and the scale of each leaf that are not known yet."""
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

    def part(self, leaf: Leaf) -> None:
        """Make the cut of a leaf, if that is not done, so that its sides can be searched."""
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
    """The best cut so far; the better of two is the smaller tuple, ties included."""

    cost: int
    column: int
    threshold: float
    first: int
    second: int


class _Stretch(NamedTuple):
    """A stretch of a column whose inner cuts may be the best; its rows, and those before it."""

    column: int
    low: float
    high: float
    n_rows: int
    n_before: int
    before: Ints
    bound: int  # no inner cut costs less

    @property
    def rank(self) -> tuple[int, int, float]:
        """What no inner cut is better than, to be compared with `_Best`."""
        return self.bound, self.column, self.low


def find_thresholds(looks: Looks, columns: Sequence[int], *, least_rows: int) -> None:
    """Find the best threshold of each leaf that leaves so many rows on both sides, if it gains anything."""
    _Thresholds(looks, columns, least_rows).find()


class _Thresholds:
    """The search for the best thresholds of some leaves."""

    def __init__(self, looks: Looks, columns: Sequence[int], least_rows: int) -> None:
        self.looks, self.leaves, self.costs = looks, looks.leaves, looks.costs
        self.columns, self.least_rows = columns, least_rows
        self.best: list[_Best] = []

    def find(self) -> None:
        """Find the cuts."""
        open_now, none = [], np.zeros(self.costs.n_amounts, dtype=np.int64)
        for i, (leaf, found) in enumerate(zip(self.leaves, self.looks.first(self.columns), strict=True)):
            self.best.append(_Best(int(self.costs.under(leaf.total).min()), -1, -math.inf, -1, -1))
            whole = [_Stretch(j, -np.inf, np.inf, leaf.count, 0, none, 0) for j in self.columns]
            open_now.append(self._inside(i, list(zip(whole, found, strict=True))))
        while any(open_now):
            wanted = [(i, each.column, each.low, each.high) for i, some in enumerate(open_now) for each in some]
            n_values = sum(each.n_rows for some in open_now for each in some)
            parts = iter(self.looks.into(wanted, n_values, most_bins=BYTES))
            open_now = [self._inside(i, [(each, next(parts)) for each in some]) for i, some in enumerate(open_now)]
        for leaf, best in zip(self.leaves, self.best, strict=True):
            if best.column >= 0:
                leaf.gain = (int(self.costs.under(leaf.total).min()) - best.cost) / leaf.scale
                leaf.cut = LeafCut(best.cost, False, best.column, -math.inf, best.threshold, best.first, best.second)

    def _inside(self, i: int, found: list[tuple[_Stretch, Parts]]) -> list[_Stretch]:
        """Take the best of the cuts between parts of stretches of a leaf, and return the parts to look into."""
        inner = []
        for stretch, parts in found:
            if len(parts.counts):
                inner += self._parted(i, stretch, parts)
        return [each for each in inner if each.rank < self.best[i][:3]]

    def _parted(self, i: int, stretch: _Stretch, parts: Parts) -> list[_Stretch]:
        leaf, best, least = self.leaves[i], self.best[i], self.least_rows
        left = stretch.before + np.cumsum(parts.sums, axis=0)
        n_left = stretch.n_before + np.cumsum(parts.counts)
        before = np.concatenate([stretch.before[None], left[:-1]])
        n_before = n_left - parts.counts
        on_right = self.costs.under(leaf.total - left).min(axis=1)
        at_ends = self.costs.under(left[:-1]).min(axis=1) + on_right[:-1]
        allowed = (n_left[:-1] >= least) & (leaf.count - n_left[:-1] >= least)
        if allowed.any():
            at = int(np.where(allowed, at_ends, np.iinfo(np.int64).max).argmin())
            threshold = float(between(parts.high[at], parts.low[at + 1]))
            here = int(at_ends[at]), stretch.column, threshold
            if here < best[:3]:
                first, second = (int(self.costs.under(side).argmin()) for side in (left[at], leaf.total - left[at]))
                self.best[i] = best = _Best(*here, first, second)
                leaf.left = int(n_left[at]), left[at]
        bounds = self.costs.under(before).min(axis=1) + on_right
        open_now = (parts.low < parts.high) & (bounds <= best.cost)
        open_now &= (n_left - 1 >= least) & (leaf.count - n_before - 1 >= least)
        return [
            _Stretch(
                stretch.column,
                float(parts.low[b]),
                float(parts.high[b]),
                int(parts.counts[b]),
                int(n_before[b]),
                before[b],
                int(bounds[b]),
            )
            for b in np.flatnonzero(open_now).tolist()
        ]


FINER = 4096  # bins of all columns that are looked into, as the time for a column grows with the square of its own


@dataclass(eq=False)
class _Column:
    """A column of a leaf: all its parts, and which of them are to be looked into.

    Parts that hold no better cut than one that is known never will, so only some parts may come to be looked into.
    """

    column: int
    parts: Parts
    open_now: Bools
    may_open: Bools


def find_intervals(looks: Looks, columns: Sequence[int]) -> None:
    """Find the best cut of each leaf, if it gains anything."""
    found = [_Intervals(looks, i, columns, parts) for i, parts in enumerate(looks.first(columns))]
    while wanted := [stretch for each in found for stretch in each.wanted()]:
        n_values = sum(n_rows for _, n_rows in wanted)
        following = iter(looks.into([stretch for stretch, _ in wanted], n_values, most_bins=FINER))
        for each in found:
            each.refine(following)
    for each in found:
        each.finish()


class _Intervals:
    """The search for the best cut of one leaf."""

    def __init__(self, looks: Looks, i: int, columns: Sequence[int], parts: Sequence[Parts]) -> None:
        self.i, self.leaf, self.costs = i, looks.leaves[i], looks.costs
        self.single = int(self.costs.under(self.leaf.total).min())
        self.best = LeafCut(self.single, False, -1, -math.inf, -math.inf, -1, -1)
        self.columns = [
            _Column(j, own, np.zeros(len(own.counts), dtype=np.bool_), own.low < own.high)
            for j, own in zip(columns, parts, strict=True)
        ]
        self._open()

    def wanted(self) -> Iterator[tuple[tuple[int, int, float, float], int]]:
        """Yield the stretches that are to be looked into, and their numbers of rows."""
        for each in self.columns:
            for b in np.flatnonzero(each.open_now).tolist():
                low, high = float(each.parts.low[b]), float(each.parts.high[b])
                yield (self.i, each.column, low, high), int(each.parts.counts[b])

    def refine(self, following: Iterator[Parts]) -> None:
        """Take finer parts for those that were looked into."""
        for each in self.columns:
            if not each.open_now.any():
                continue
            places = np.flatnonzero(each.open_now).tolist()
            finer, kept = [next(following) for _ in places], [0, *(place + 1 for place in places)]
            ends = zip(kept, [*places, None], strict=True)
            pieces = [Parts._make(one[slice(*both)] for one in each.parts) for both in ends]
            in_order = [pieces[0], *(part for pair in zip(finer, pieces[1:], strict=True) for part in pair)]
            is_new = np.concatenate([np.full(len(one.counts), i % 2 == 1) for i, one in enumerate(in_order)])
            each.parts = Parts._make(np.concatenate(some) for some in zip(*in_order, strict=True))
            each.may_open = is_new & (each.parts.low < each.parts.high)
            each.open_now = np.zeros(len(is_new), dtype=np.bool_)
        self._open()

    def finish(self) -> None:
        """Note the best cut."""
        if self.best.feature >= 0:
            self.leaf.gain, self.leaf.cut = (self.single - self.best.cost) / self.leaf.scale, self.best

    def _open(self) -> None:
        """Take the best of the cuts between parts, and note the parts that may hold a better one."""
        total = self.costs.under(self.leaf.total)
        for each in self.columns:
            self._take(each, np.ascontiguousarray(self.costs.under(each.parts.sums)), total)
        for each in self.columns:
            each.open_now[:] = False
            if each.may_open.any():
                self._mark(each, np.ascontiguousarray(self.costs.under(each.parts.sums)), total)

    def _mark(self, column: _Column, under: Ints, total: Ints) -> None:
        """Mark the parts of a column that may hold a better cut. Where costs are equal, one that begins earlier is."""
        parts, j, best = column.parts, column.column, self.best
        before = [-math.inf, *parts.high[:-1].tolist()]
        two_sided = np.array([(True, j, low) < best[1:4] for low in before], dtype=np.bool_)
        one_sided = np.array([(False, j, -math.inf, low) < best[1:5] for low in parts.low.tolist()], dtype=np.bool_)
        mark_open(under, total, best.cost, ~column.may_open, one_sided, two_sided, column.open_now)

    def _take(self, column: _Column, under: Ints, total: Ints) -> None:
        """Take the best cut between parts of a column, if it is better than the best so far."""
        parts, ranks = column.parts, np.arange(len(column.parts.counts))
        if len(ranks) < 2:
            return
        cost, last, first, second = best_threshold(parts.low, ranks, under, total)
        upper = float(between(parts.high[last], parts.low[last + 1]))
        self._keep(LeafCut(int(cost), False, column.column, -math.inf, upper, int(first), int(second)), parts, 0, last)
        if len(ranks) > 2:
            cost, start, end, first, second = best_interval_of(parts.low, ranks, under, total)
            lower = -float(between(-parts.low[start], -parts.high[start - 1]))  # it is closed: above the value before
            upper = float(between(parts.high[end], parts.low[end + 1]))
            self._keep(
                LeafCut(int(cost), True, column.column, lower, upper, int(first), int(second)), parts, start, end
            )

    def _keep(self, cut: LeafCut, parts: Parts, start: int, end: int) -> None:
        """Keep a cut that takes the parts from `start` to `end` if it is the best."""
        if cut < self.best:
            self.best = cut
            inside = slice(start, end + 1)
            self.leaf.left = int(parts.counts[inside].sum()), parts.sums[inside].sum(axis=0)


VALUES = 200_000  # gathered one by one, at most, where a row has few amounts


@dataclass(eq=False)
class Leaf:
    """A leaf and what is known of it, more and more."""

    node: int  # of the growing tree
    depth: int
    count: int = -1  # of its rows; -1 before it is known
    scale: float = 0.0  # of whole costs; 0 before it is known
    is_searched: bool = False
    gain: float = 0.0
    cut: LeafCut | None = None  # the best one that gains anything
    total: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # sums of the amounts
    left: tuple[int, Ints] = (0, np.empty(0, dtype=np.int64))  # rows and sums on the left of the cut
    sides: list[Leaf] = field(default_factory=list)  # where the growing tree has made the cut
    pairs: list[Pair] | None = None  # of cuts at once; None before they are looked for
    is_too_large: bool = False  # to look for pairs of cuts
    seconds: list[LeafCut | None] | None = None  # cuts of the sides, where two or three cuts are made at once


class Looks:
    """Some leaves, all of which are looked at in every pass.

    `ends` are the least and the greatest value of each column, and `n_bins` is the most of bins of a column.
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

    def first(self, columns: Sequence[int]) -> list[list[Parts]]:
        """Return what lies in some columns of each leaf, and note the sums of each leaf."""
        gathers = sum(leaf.count * len(columns) for leaf in self.leaves) <= self.most_values
        stretches = [
            Stretch(i, j, -np.inf, np.inf, np.empty(0) if gathers else self._first_edges(i, j))
            for i in range(len(self.leaves))
            for j in columns
        ]
        parts = self._gathered(stretches) if gathers else self._added_up(stretches)
        by_leaf = [parts[i * len(columns) : (i + 1) * len(columns)] for i in range(len(self.leaves))]
        for leaf, own in zip(self.leaves, by_leaf, strict=True):
            leaf.total = own[0].sums.sum(axis=0)
        return by_leaf

    def into(self, wanted: Sequence[tuple[int, int, float, float]], n_values: int, most_bins: int) -> list[Parts]:
        """Return what lies in some stretches with so many values: leaf, column, and the values of both ends.

        Stretches with too many values have at most so many bins, all together; but two each.
        """
        gathers, size = n_values <= self.most_values, 8 * (self.costs.n_amounts + 3)
        n_bins = 1 if gathers else max(min(self.n_bins, min(BYTES // size, most_bins) // len(wanted)), 2)
        stretches = [Stretch(*each, self.samples.edges(*each, n_bins)) for each in wanted]
        return self._gathered(stretches) if gathers else self._added_up(stretches)

    def _first_edges(self, i: int, column: int) -> Floats:
        low, high = (float(end[column]) for end in self.ends)
        return self.samples.edges(i, column, low, high, self.n_bins)

    def _look(self, stretches: list[Stretch]) -> tuple[StretchBins, Paths]:
        wanted = {*self.paths.columns, *(each.column for each in stretches)}
        columns = sorted(wanted) if self.costs.by_label else list(range(self.batches.n_columns))
        return StretchBins.at(stretches, columns, len(self.leaves)), self.paths.among(columns)

    def _added_up(self, stretches: list[Stretch]) -> list[Parts]:
        look, paths = self._look(stretches)
        sums = self.batches.fold(partial(_SlotSums, self.costs, paths, self.scales, look), look.columns)
        return look.parts(sums.counts, sums.low, sums.high, sums.sums)

    def _gathered(self, stretches: list[Stretch]) -> list[Parts]:
        look, paths = self._look(stretches)
        found = self.batches.fold(partial(_Values, self.costs, paths, self.scales, look), look.columns)
        return parts_of_values(look.n_slots, *found.joined())


class _SlotSums:
    """A summary of the rows in each slot of a look."""

    def __init__(self, costs: BlockCosts, paths: Paths, scales: Floats, look: StretchBins) -> None:
        self.costs, self.paths, self.scales, self.look = costs, paths, scales, look
        self.counts = np.zeros(look.n_slots, dtype=np.int64)
        self.low, self.high = np.full(look.n_slots, np.inf), np.full(look.n_slots, -np.inf)
        self.sums = np.zeros((look.n_slots, costs.n_amounts), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        bins, out = (self.look.starts, self.look.edges, self.look.slots), (self.counts, self.low, self.high, self.sums)
        for part in parts_of(block, self.paths, self.costs):
            if self.costs.by_label:
                mass = self.costs.mass(part, self.scales)
                add_by_label(part.values, part.nodes, part.labels, mass, *bins, *out)
            else:
                add_to_slots(part.values, part.nodes, *bins, self.costs.amounts(part, self.scales), *out)

    def merge(self, other: _SlotSums) -> None:
        """Add another summary."""
        self.counts += other.counts
        self.sums += other.sums
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)


class _Values:
    """A summary that holds each value in a slot of a look."""

    def __init__(self, costs: BlockCosts, paths: Paths, scales: Floats, look: StretchBins) -> None:
        self.costs, self.paths, self.scales, self.look = costs, paths, scales, look
        self.found: list[tuple[Floats, Indices, Ints]] = []

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for part in parts_of(block, self.paths, self.costs):
            rows, columns, slots = np.empty((3, part.values.size), dtype=np.int64)
            bins = self.look.starts, self.look.edges, self.look.slots
            n_found = find_in_slots(part.values, part.nodes, *bins, rows, columns, slots)
            if n_found:
                some, at = np.unique(rows[:n_found], return_inverse=True)
                amounts = self.costs.amounts(taken(part, some), self.scales)[at.reshape(-1)]
                values = part.values[rows[:n_found], columns[:n_found]]
                self.found.append((values, slots[:n_found].copy(), amounts))

    def merge(self, other: _Values) -> None:
        """Add another summary."""
        self.found += other.found

    def joined(self) -> tuple[Floats, Indices, Ints]:
        """Return values, slots and amounts."""
        none = np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, self.costs.n_amounts), dtype=np.int64)
        values, slots, amounts = (np.concatenate(each) for each in zip(none, *self.found, strict=True))
        return values, slots, amounts
