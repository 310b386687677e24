"""Ex-Greedy and ExShallow by passes over batches of rows: the same trees as from rows in memory.

All nodes of a level are cut together.

As a threshold rises, the cost of its cut changes where it passes rows and centres; see `loops.greedy`. A pass sums the
increases and the decreases by bin. This gives the cost at the ends of each bin; a lower bound inside a bin is the cost
at its lower end less all its decreases. Bins that may hold a better cut are refined: by finer bins, or value by value
once they hold few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import WholeWeights
from boxwood.batches import Block
from boxwood.grow.centers.greedy import NodeCenters
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
from boxwood.grow.shared.costs import scale_for
from boxwood.loops.bins import add_changes_to_slots
from boxwood.loops.greedy import add_changes, best_scores, keep_nearest, summed_costs, write_least_depths
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, between


def separate_centers(task: Task, duplicates: str, penalty: float = 0.0) -> ThresholdTree:
    """Return the tree with one leaf for each centre whose cuts have the lowest scores, by passes."""
    hidden = task.budget.forbidden
    costs, tree = BlockCosts.of(task, "cost", hidden), GrowingTree()
    clusters = np.unique(task.reference.with_centers(costs.centers).distinct_clusters(duplicates))
    untested = np.zeros((task.n_columns, 2), dtype=np.bool_)
    search, waiting = GreedySearch(task, tree, costs, penalty), [CenterNode(0, clusters, untested)]
    while waiting:
        for node in waiting:
            if len(node.clusters) == 1:
                tree.label(node.node, int(node.clusters[0]))
        sides = search.find([node for node in waiting if len(node.clusters) > 1])
        waiting = [side for pair in sides for side in pair]
    return tree.build()


VALUES = 1 << 19  # most values that are gathered one by one
ROWS, COST, WEIGHT, LARGEST, CENTERS = range(5)  # at a place of a column: cost of the cut there, and sums left of it
SLACK = 1e-12  # upper bound on the relative error of a foretold depth


@dataclass(eq=False)
class CenterNode:
    """A node and the clusters whose centres lie in it."""

    node: int  # of the growing tree
    clusters: Indices
    tested: Bools  # (d, 2): whether the node is left, or right, of a cut of this feature above it
    count: int = -1  # of its rows; -1 while unknown
    scale: float = 0.0  # of whole costs; 0 while unknown


class _Best(NamedTuple):
    """The best cut so far. Of two cuts the smaller tuple is the better one, which also breaks ties."""

    score: float
    cost: int
    column: int
    threshold: float


class GreedySearch:
    """The search for the cut of lowest score at nodes of a growing tree; see `grow.shallow` for the score."""

    batches: Any
    tree: GrowingTree
    costs: BlockCosts
    penalty: float

    def __init__(self, task: Task, tree: GrowingTree, costs: BlockCosts, penalty: float) -> None:
        self.batches, self.tree, self.costs, self.penalty = task.batches, tree, costs, penalty
        self.weights: WholeWeights | None = task.whole_weights
        self.n_repeated: float = task.overview.total_weight() if costs.is_repeated else 0.0
        self.sample: GuidingRows | None = None

    def find(self, nodes: Sequence[CenterNode]) -> list[tuple[CenterNode, CenterNode]]:
        """Cut the nodes in the growing tree and return the two sides of each."""
        self._measure([node for node in nodes if node.scale == 0 or node.count < 0])
        size = 8 * (AMOUNTS + 3) * self.batches.n_columns
        step, sides = max(BYTES // (size * FEWEST), 1), []
        for start in range(0, len(nodes), step):
            group = nodes[start : start + step]
            sides += _Nodes(self, group, min(BINS, max(BYTES // (size * len(group)), FEWEST))).find()
        return sides

    def _measure(self, nodes: Sequence[CenterNode]) -> None:
        if not nodes:
            return
        paths = self.tree.paths_to([node.node for node in nodes])
        sampled = GuidingRows.size(self.batches.n_columns) if self.sample is None else 0
        scales = self.batches.fold(partial(Scales, self.costs, paths, len(nodes), sampled))
        self.sample = self.sample or GuidingRows(scales.sample)
        for node, count, scale in zip(nodes, scales.counts.tolist(), scales.scales(), strict=True):
            node.count, node.scale = count, scale


class _Nodes:
    """The search for the best cuts of some nodes, which share every pass."""

    def __init__(self, search: GreedySearch, nodes: Sequence[CenterNode], n_bins: int) -> None:
        assert search.sample is not None
        self.search, self.nodes, self.n_bins, self.costs = search, nodes, n_bins, search.costs
        self.paths = search.tree.paths_to([node.node for node in nodes])
        self.samples = search.sample.at(self.paths)
        self.centers = [NodeCenters.of(node.clusters, self.costs.centers) for node in nodes]
        scales = np.array([node.scale for node in nodes], dtype=np.float64)
        self.changes = Changes(self.costs, self.centers, scales, search.weights)
        self.best: list[_Best] = [_Best(np.inf, 0, -1, np.inf)] * len(nodes)
        self.left: list[tuple[int, int]] = [(0, 0)] * len(nodes)  # rows and largest costs on the left of the best cut
        self.cost: list[int] = []  # of the rows without a cut
        self.total: list[Ints] = []  # weight and largest costs of all rows

    def find(self) -> list[tuple[CenterNode, CenterNode]]:
        """Find the cuts, make them, and return the sides."""
        narrow_candidates(self._begin(), self._look, self._inside)
        return [self._sides(i) for i in range(len(self.nodes))]

    def _look(self, wanted: list[tuple[int, int, float, float]], n_values: int) -> list[FilledBins]:
        """Return the bins of some stretches: node, column, and the values of both ends."""
        gathers = n_values <= VALUES
        stretches = bins_into(wanted, self.samples, gathers=gathers, n_bins=self.n_bins, n_amounts=AMOUNTS)
        return self._sums_of(stretches, gathers, is_first=False).filled()

    def _begin(self) -> list[list[CandidateBin]]:
        """Make the first pass, over all columns in which centres differ, and return the candidates of each node."""
        separating = [np.flatnonzero(centers.ends[:, 0] < centers.ends[:, -1]).tolist() for centers in self.centers]
        n_values = sum(node.count * len(columns) for node, columns in zip(self.nodes, separating, strict=True))
        gathers = n_values <= VALUES
        stretches = [
            Stretch(i, j, -np.inf, np.inf, np.empty(0) if gathers else self._first_edges(i, j))
            for i, columns in enumerate(separating)
            for j in columns
        ]
        whole = self._sums_of(stretches, gathers, is_first=True)
        self.cost, following, candidates = whole.cost.tolist(), iter(whole.filled()), []
        for i, columns in enumerate(separating):
            before, of_columns = np.array([0, self.cost[i], 0, 0, 0]), []
            for j in columns:
                filled = next(following)
                if j == columns[0]:
                    self.total.append(filled.sums[:, 2:].sum(axis=0))
                of_columns += self._bins_inside(
                    i, j, before, *_with_centers(filled, self.centers[i].ends[j], whole.at[i][j])
                )
            candidates.append(self._still_better(i, of_columns))
        return candidates

    def _first_edges(self, i: int, column: int) -> Floats:
        """Return edges between the first and the last centre, with an edge at and just below each centre."""
        ends = self.centers[i].ends[column]
        inner = self.samples.edges(i, column, float(ends[0]), float(ends[-1]), self.n_bins)
        return np.unique(np.concatenate([inner, ends, np.nextafter(ends, -np.inf)]))

    def _inside(self, i: int, looked_into: list[tuple[CandidateBin, FilledBins]]) -> list[CandidateBin]:
        """Take the best cut between bins of a node, and return the bins that may hold a better one."""
        found = [self._bins_inside(i, whole.column, whole.before, bins) for whole, bins in looked_into]
        return self._still_better(i, [candidate for candidates in found for candidate in candidates])

    def _still_better(self, i: int, candidates: list[CandidateBin]) -> list[CandidateBin]:
        return [candidate for candidate in candidates if candidate.rank < self.best[i]]

    def _bins_inside(
        self,
        i: int,
        column: int,
        before: Ints,
        bins: FilledBins,
        changes: Ints | None = None,
        n_centers: Ints | None = None,
    ) -> list[CandidateBin]:
        """Take the best cut between bins of a column, and return the bins that may hold a better one.

        `changes` are the changes of cost at centres, and `n_centers` the numbers of centres, by bin; None if there are
        no centres in the bins.
        """
        none, k = np.zeros(len(bins.counts), dtype=np.int64), len(self.nodes[i].clusters)
        added, removed, weight, largest = bins.sums.T
        change = added - removed + (none if changes is None else changes)
        steps = bins.counts, change, weight, largest, none if n_centers is None else n_centers
        ends = before + np.cumsum(np.column_stack(steps), axis=0)
        begins = np.concatenate([before[None], ends[:-1]])
        separates = (ends[:, CENTERS] > 0) & (ends[:, CENTERS] < k)
        self._take_if_better(i, column, bins, ends, np.flatnonzero(separates[:-1]))
        inner = np.flatnonzero(separates & (bins.low < bins.high))
        lowest_costs = begins[inner, COST] - removed[inner]
        scores = self._least_scores(i, column, lowest_costs, begins[inner], ends[inner])
        return [
            CandidateBin(
                column,
                float(bins.low[b]),
                float(bins.high[b]),
                int(bins.counts[b]),
                begins[b],
                (score, cost, column, float(bins.low[b])),
            )
            for b, score, cost in zip(inner.tolist(), scores.tolist(), lowest_costs.tolist(), strict=True)
            if (score, cost, column, float(bins.low[b])) < self.best[i]
        ]

    def _take_if_better(self, i: int, column: int, bins: FilledBins, ends: Ints, places: Indices) -> None:
        """Take the best of the cuts behind some bins, `places`, if it is better than the best so far."""
        if not len(places):
            return
        node, scores, best = self.nodes[i], np.full(1, np.inf), np.full((1, 4), -1, dtype=np.int64)
        costs, weights, n_left = (ends[None, places, which].copy() for which in (COST, WEIGHT, CENTERS))
        cuts = costs, weights, places[None], n_left, np.array([len(places)])
        weight, base = int(self.total[i][0]), float(max(self.cost[i], 1))
        of_node = len(node.clusters), weight, node.tested, base, np.array([self.search.penalty])
        best_scores(cuts, column, *of_node, scores, best)
        at = int(best[0, 2])
        threshold = float(between(bins.high[at], bins.low[at + 1]))
        cut = _Best(float(scores[0]), int(best[0, 0]), column, threshold)
        if cut < self.best[i] or self.best[i].column < 0:
            self.best[i], self.left[i] = cut, (int(ends[at, ROWS]), int(ends[at, LARGEST]))

    def _least_scores(self, i: int, column: int, costs: Ints, begins: Ints, ends: Ints) -> Floats:
        """Return a lower bound on the scores of cuts inside some bins, given lower bounds on their costs."""
        scores, penalty = costs / float(max(self.cost[i], 1)), self.search.penalty
        if penalty == 0:
            return np.asarray(scores)
        total, tested = max(int(self.total[i][0]), 1), self.nodes[i].tested[column]
        low, high = begins[:, WEIGHT] / total, ends[:, WEIGHT] / total
        depths = np.empty(len(costs))
        write_least_depths(low, high, ends[:, CENTERS].copy(), len(self.nodes[i].clusters), depths)
        merged = (high if tested[0] else 0.0) + (1 - low if tested[1] else 0.0)
        scores = scores + penalty * (depths - merged)
        return np.asarray(scores - SLACK * (np.abs(scores) + penalty))

    def _sides(self, i: int) -> tuple[CenterNode, CenterNode]:
        """Make the best cut of a node and return its sides."""
        node, best = self.nodes[i], self.best[i]
        first, second = self.search.tree.split(node.node, best.column, best.threshold)
        is_left = self.costs.centers[node.clusters, best.column] <= best.threshold
        on_left, on_right = node.tested.copy(), node.tested.copy()
        on_left[best.column, 0] = on_right[best.column, 1] = True
        n_left, largest = self.left[i]
        sums = np.array([[largest], [int(self.total[i][1]) - largest]])
        n_rows = n_left, node.count - n_left
        scales = [
            self.costs.scale_of_sums(own, node.scale, self.search.n_repeated or n) if n else scale_for(0.0)
            for own, n in zip(sums, n_rows, strict=True)
        ]
        return (
            CenterNode(first, node.clusters[is_left], on_left, n_rows[0], scales[0]),
            CenterNode(second, node.clusters[~is_left], on_right, n_rows[1], scales[1]),
        )

    def _sums_of(self, stretches: list[Stretch], gathers: bool, *, is_first: bool) -> SlotChanges:
        bins = StretchBins.at(stretches, list(range(self.search.batches.n_columns)), len(self.nodes))
        sums: SlotChanges = self.search.batches.fold(
            partial(SlotChanges, self.changes, self.paths, bins, gathers, is_first)
        )
        return sums


def _with_centers(bins: FilledBins, ends: Floats, changes: Ints) -> tuple[FilledBins, Ints, Ints]:
    """Return the bins of a column with an added bin for each value of a centre, and changes and numbers of centres.

    IN: ends (k,): values of centres, ascending; changes (k,).
    """
    values, first, n_centers = np.unique(ends + 0.0, return_index=True, return_counts=True)
    at = np.searchsorted(bins.low, values)
    is_missing = at == len(bins.low)
    is_missing[~is_missing] = bins.low[at[~is_missing]] != values[~is_missing]
    none, missing = np.zeros(int(is_missing.sum()), dtype=np.int64), at[is_missing]
    merged = FilledBins(
        np.insert(bins.counts, missing, none),
        np.insert(bins.low, missing, values[is_missing]),
        np.insert(bins.high, missing, values[is_missing]),
        np.insert(bins.sums, missing, none[:, None], axis=0),
    )
    places = np.searchsorted(merged.low, values)
    all_changes, numbers = np.zeros((2, len(merged.low)), dtype=np.int64)
    all_changes[places], numbers[places] = np.add.reduceat(changes, first), n_centers
    return merged, all_changes, numbers


LISTED = 32  # centres in the list of a row
AMOUNTS = 4  # of a row: increase and decrease of the cost, weight, and largest cost


@dataclass(frozen=True, eq=False)
class Changes:
    """The changes of the costs of cuts of some nodes, at each row and centre that a cut passes."""

    costs: BlockCosts
    centers: list[NodeCenters]
    scales: Floats
    weights: WholeWeights | None

    def of(self, chunk: RowsInNodes) -> tuple[Ints, Ints, list[Ints], Ints]:
        """Return changes at rows (d, n), weights and largest costs (n, 2), changes at centres, and costs of nodes."""
        n, d = chunk.values.shape
        share, times = self.costs.shares(chunk)
        at_rows, fixed = np.zeros((d, n), dtype=np.int64), np.empty((n, 2), dtype=np.int64)
        largest = self.costs.distances(chunk.values).max(axis=1)
        fixed[:, 0] = 1 if chunk.weights is None or self.weights is None else self.weights.of(chunk.weights)
        fixed[:, 1] = np.rint(largest * share * self.scales[chunk.nodes]).astype(np.int64) * times
        at_centers, costs = (
            [np.zeros(node.ends.shape, dtype=np.int64) for node in self.centers],
            np.zeros(len(self.centers), dtype=np.int64),
        )
        n_listed = min(LISTED, len(self.costs.centers))
        near, distances = np.full((n, n_listed), -1, dtype=np.int32), np.empty((n, n_listed))
        order = np.argsort(chunk.nodes, kind="stable")
        ends = np.searchsorted(chunk.nodes[order], np.arange(len(self.centers) + 1)).tolist()
        for i, node in enumerate(self.centers):
            rows = order[ends[i] : ends[i + 1]]
            if not len(rows):
                continue
            inside = np.zeros(len(self.costs.centers), dtype=np.bool_)
            inside[node.clusters] = True
            of_node, scale = (
                (node.centers, node.clusters, inside, self.costs.unit, 1),
                float(self.scales[i]),
            )
            keep_nearest(chunk.values, rows, *of_node, near, distances)
            costs[i] = summed_costs(rows, distances, share, times, scale)
            of_rows, of_centers = (
                (near, distances, share, times, scale),
                (node.ends, node.by_value, node.position),
            )
            add_changes(
                chunk.values,
                rows,
                0,
                *of_rows,
                node.centers,
                self.costs.unit,
                *of_centers,
                at_rows,
                at_centers[i],
            )
        return at_rows, fixed, at_centers, costs


class SlotChanges(SlotSums):
    """The changes in each slot; the first pass also sums whole nodes."""

    at: list[Array]
    changes: Changes
    paths: Paths
    is_first: bool
    cost: Array

    def __init__(self, changes: Changes, paths: Paths, bins: StretchBins, gathers: bool, is_first: bool) -> None:
        super().__init__(bins, gathers, AMOUNTS)
        self.changes, self.paths, self.is_first = changes, paths, is_first
        self.at = [np.zeros(each.ends.shape, dtype=np.int64) for each in changes.centers]
        self.cost = np.zeros(len(changes.centers), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for chunk in chunks_of(block, self.paths, self.changes.costs):
            if self.gathers:
                self._gather(chunk)
                continue
            at_rows, fixed, at_centers, costs = self.changes.of(chunk)
            self._add_whole(at_centers, costs)
            add_changes_to_slots(chunk.values, chunk.nodes, *self.slots, at_rows, fixed, *self.out)

    def _gather(self, chunk: RowsInNodes) -> None:
        rows, columns, slots = self.values_in(chunk)
        of_chunk, at = np.unique(rows, return_inverse=True)
        if self.is_first:  # costs and changes at centres need all rows
            of_chunk, at = np.arange(len(chunk.nodes)), rows
        at_rows, fixed, at_centers, costs = self.changes.of(rows_taken(chunk, of_chunk))
        self._add_whole(at_centers, costs)
        change = at_rows[columns, at.reshape(-1)]
        amounts = np.column_stack([np.maximum(change, 0), np.maximum(-change, 0), fixed[at.reshape(-1)]])
        self.gathered.append((chunk.values[rows, columns], slots, amounts))

    def _add_whole(self, at_centers: list[Ints], costs: Ints) -> None:
        self.cost += costs
        for mine, more in zip(self.at, at_centers, strict=True):
            mine += more

    def merge(self, other: Self) -> None:
        """Add another summary."""
        super().merge(other)
        self._add_whole(other.at, other.cost)
