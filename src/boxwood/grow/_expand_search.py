"""The best threshold of several leaves at once, by passes over the rows.

The cheapest cluster of the rows on the left of a cut costs more and more as they grow in number, and that of the rows
on the right less and less. So no cut inside a bin of values costs less than the former at the bin's begin and the
latter at its end. A pass adds up costs by bin, which gives the cost of the cuts between bins; only bins that may hold
a better cut remain. These are looked into: by finer bins, or value by value once they hold few rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood.grow._block_costs import BlockCosts, Scales, parts_of, taken
from boxwood.grow._expand_cuts import Cut
from boxwood.grow._levels import GrowingTree, Paths
from boxwood.grow._look_ahead import Pair
from boxwood.grow._looks import BINS, BYTES, FEWEST, Look, Parts, Sample, Stretch, parts_of_values
from boxwood.loops.in_bins import add_by_label, add_to_slots, find_in_slots
from boxwood.passes import Block, TableTask
from boxwood.tree import between

__all__ = ["Leaf", "Search"]

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
    cut: Cut | None = None  # the best one that gains anything
    total: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # sums of the amounts
    left: tuple[int, Ints] = (0, np.empty(0, dtype=np.int64))  # rows and sums on the left of the cut
    sides: list[Leaf] = field(default_factory=list)  # where the growing tree has made the cut
    pairs: list[Pair] | None = None  # of cuts at once; None before they are looked for
    is_too_large: bool = False  # to look for pairs of cuts
    seconds: list[Cut | None] | None = None  # cuts of the sides, where two or three cuts are made at once


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


class Search:
    """The search for the best cuts of leaves of a growing tree."""

    def __init__(self, task: TableTask, tree: GrowingTree, costs: BlockCosts) -> None:
        self.batches, self.tree, self.costs = task.batches, tree, costs
        self.least_rows = task.budget.min_samples_leaf
        self.columns = task.budget.allowed(task.batches.n_columns)
        overview = task.overview
        self.ranges = task.ranges
        repeated = self.costs.is_repeated
        self.n_repeated = overview.total_weight() if repeated else float(overview.n_kept)  # rows, with repetitions
        self.sample: Sample | None = None

    def find(self, leaves: Sequence[Leaf]) -> None:
        """Find the best cuts of leaves; those for which there is no room now stay as they are, but not the first."""
        self.measure(leaves)
        for leaf in leaves:
            leaf.is_searched = leaf.count < 2
        size = 8 * (self.costs.n_amounts + 3) * len(self.columns)
        several = [leaf for leaf in leaves if not leaf.is_searched][: max(BYTES // (size * FEWEST), 1)]
        if several:
            _Nodes(self, several, min(BINS, max(BYTES // (size * len(several)), FEWEST))).find()

    def measure(self, leaves: Sequence[Leaf]) -> None:
        """Find the number of rows and the scale of each leaf that are not known yet."""
        leaves = [leaf for leaf in leaves if leaf.scale == 0 or leaf.count < 0]
        if leaves:
            self.measure_at(leaves, self.tree.paths_to([leaf.node for leaf in leaves]))

    def measure_at(self, leaves: Sequence[Leaf], paths: Paths) -> None:
        """Find the number of rows and the scale of each leaf, by the paths that lead to them."""
        sampled = Sample.size(self.batches.n_columns) if self.sample is None else 0
        scales = self.batches.fold(partial(Scales, self.costs, paths, len(leaves), sampled))
        self.sample = self.sample or Sample(scales.sample)
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


class _Nodes:
    """The search for the best cuts of some leaves, all of which are looked at in every pass."""

    def __init__(self, search: Search, leaves: list[Leaf], n_bins: int) -> None:
        assert search.sample is not None
        self.search, self.leaves, self.n_bins = search, leaves, n_bins
        self.costs = search.costs
        self.scales = np.array([leaf.scale for leaf in leaves], dtype=np.float64)
        self.paths = search.tree.paths_to([leaf.node for leaf in leaves])
        self.best: list[_Best] = []
        self.samples = search.sample.at(self.paths)
        self.most_values = min(VALUES, max(BYTES // (8 * (self.costs.n_amounts + 2)), 1))

    def find(self) -> None:
        """Find the cuts."""
        open_now = self._begin()
        while any(open_now):
            n_values = sum(each.n_rows for stretches in open_now for each in stretches)
            gathers, n_open = n_values <= self.most_values, sum(map(len, open_now))
            size = 8 * (self.costs.n_amounts + 3)
            n_bins = 1 if gathers else max(min(self.n_bins, BYTES // (size * n_open)), 2)
            stretches = [
                Stretch(
                    i, each.column, each.low, each.high, self.samples.edges(i, each.column, each.low, each.high, n_bins)
                )
                for i, some in enumerate(open_now)
                for each in some
            ]
            parts = iter(self._gathered(stretches) if gathers else self._added_up(stretches))
            open_now = [self._inside(i, [(each, next(parts)) for each in some]) for i, some in enumerate(open_now)]
        for leaf, best in zip(self.leaves, self.best, strict=True):
            leaf.is_searched = True
            if best.column >= 0:
                single = int(self.costs.under(leaf.total).min())
                leaf.gain = (single - best.cost) / leaf.scale
                leaf.cut = Cut(best.cost, False, best.column, -math.inf, best.threshold, best.first, best.second)

    def _begin(self) -> list[list[_Stretch]]:
        """Look at all values of all columns that may be cut, and return what is to be looked into."""
        columns, none = self.search.columns, np.zeros(self.costs.n_amounts, dtype=np.int64)
        n_values = sum(leaf.count * len(columns) for leaf in self.leaves)
        gathers = n_values <= self.most_values
        stretches = [
            Stretch(i, j, -np.inf, np.inf, np.empty(0) if gathers else self._first_edges(i, j))
            for i in range(len(self.leaves))
            for j in columns
        ]
        parts = self._gathered(stretches) if gathers else self._added_up(stretches)
        open_now = []
        for i, leaf in enumerate(self.leaves):
            found = parts[i * len(columns) : (i + 1) * len(columns)]
            leaf.total = found[0].sums.sum(axis=0)
            self.best.append(_Best(int(self.costs.under(leaf.total).min()), -1, -math.inf, -1, -1))
            count = leaf.count
            whole = [_Stretch(j, -np.inf, np.inf, count, 0, none, 0) for j in columns]
            open_now.append(self._inside(i, list(zip(whole, found, strict=True))))
        return open_now

    def _first_edges(self, i: int, column: int) -> Floats:
        low, high = (float(end[column]) for end in self.search.ranges)
        return self.samples.edges(i, column, low, high, self.n_bins)

    def _inside(self, i: int, found: list[tuple[_Stretch, Parts]]) -> list[_Stretch]:
        """Take the best of the cuts between parts of stretches of a leaf, and return the parts to look into."""
        inner = []
        for stretch, parts in found:
            if len(parts.counts):
                inner += self._parted(i, stretch, parts)
        return [each for each in inner if each.rank < self.best[i][:3]]

    def _parted(self, i: int, stretch: _Stretch, parts: Parts) -> list[_Stretch]:
        leaf, best, least = self.leaves[i], self.best[i], self.search.least_rows
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

    def _look(self, stretches: list[Stretch]) -> tuple[Look, Paths]:
        wanted = {*self.paths.columns, *(each.column for each in stretches)}
        columns = sorted(wanted) if self.costs.by_label else list(range(self.search.batches.n_columns))
        return Look.at(stretches, columns, len(self.leaves)), self.paths.among(columns)

    def _added_up(self, stretches: list[Stretch]) -> list[Parts]:
        look, paths = self._look(stretches)
        sums = self.search.batches.fold(partial(_Sums, self.costs, paths, self.scales, look), look.columns)
        return look.parts(sums.counts, sums.low, sums.high, sums.sums)

    def _gathered(self, stretches: list[Stretch]) -> list[Parts]:
        look, paths = self._look(stretches)
        found = self.search.batches.fold(partial(_Values, self.costs, paths, self.scales, look), look.columns)
        return parts_of_values(look.n_slots, *found.joined())


class _Sums:
    """A summary of the rows in each slot of a look."""

    def __init__(self, costs: BlockCosts, paths: Paths, scales: Floats, look: Look) -> None:
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

    def merge(self, other: _Sums) -> None:
        """Add another summary."""
        self.counts += other.counts
        self.sums += other.sums
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)


class _Values:
    """A summary that holds each value in a slot of a look."""

    def __init__(self, costs: BlockCosts, paths: Paths, scales: Floats, look: Look) -> None:
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
