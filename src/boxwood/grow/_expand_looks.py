"""Leaves of a growing tree whose columns are looked at in bins or value by value, for the cuts of an expansion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood.grow._block_costs import BlockCosts, parts_of, taken
from boxwood.grow._expand_cuts import Cut
from boxwood.grow._levels import Paths
from boxwood.grow._look_ahead import Pair
from boxwood.grow._looks import BYTES, Look, Parts, Sample, Stretch, parts_of_values
from boxwood.loops.in_bins import add_by_label, add_to_slots, find_in_slots
from boxwood.passes import Batches, Block

__all__ = ["Leaf", "Looks"]

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
        sample: Sample,
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

    def _look(self, stretches: list[Stretch]) -> tuple[Look, Paths]:
        wanted = {*self.paths.columns, *(each.column for each in stretches)}
        columns = sorted(wanted) if self.costs.by_label else list(range(self.batches.n_columns))
        return Look.at(stretches, columns, len(self.leaves)), self.paths.among(columns)

    def _added_up(self, stretches: list[Stretch]) -> list[Parts]:
        look, paths = self._look(stretches)
        sums = self.batches.fold(partial(_Sums, self.costs, paths, self.scales, look), look.columns)
        return look.parts(sums.counts, sums.low, sums.high, sums.sums)

    def _gathered(self, stretches: list[Stretch]) -> list[Parts]:
        look, paths = self._look(stretches)
        found = self.batches.fold(partial(_Values, self.costs, paths, self.scales, look), look.columns)
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
