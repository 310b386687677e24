"""Ex-Greedy and ExShallow by passes over rows that come in batches: the same trees as from rows in memory.

All nodes of a level are cut together.

Passing from the low to the high values of a column, the cost of a cut changes where it passes rows and centres; see
`loops.greedy`. A pass adds up by bin what rows add and what they take away. The cost at the ends of a bin is then
known, and no cut inside of it costs less than that at its begin without what its rows take away. Bins that may hold a
better cut are looked into: by finer bins, or value by value once they hold few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import WholeWeights
from boxwood.grow.shared.costs import scale_for
from boxwood.grow.shared.passes import (
    BINS,
    BYTES,
    FEWEST,
    BlockCosts,
    GrowingTree,
    GuidingRows,
    Parts,
    Paths,
    RowsInNodes,
    Scales,
    Stretch,
    StretchBins,
    parts_of,
    parts_of_values,
    taken,
)
from boxwood.loops.bins import add_changes_to_slots, find_in_slots
from boxwood.loops.greedy import add_changes, best_scores, keep_nearest, summed_costs, write_least_depths
from boxwood.passes import Block
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, between

__all__ = ["separated"]


def separated(task: Task, duplicates: str, penalty: float = 0.0) -> ThresholdTree:
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


VALUES = 1 << 19  # gathered one by one, at most
ROWS, COST, WEIGHT, LARGEST, CENTERS = range(5)  # what lies before a place of a column, and what a cut there costs
SLACK = 1e-12  # more than the relative error of a foretold depth


@dataclass(eq=False)
class CenterNode:
    """A node and the clusters whose centres lie in it."""

    node: int  # of the growing tree
    clusters: Indices
    tested: Bools  # (d, 2): whether the node is left, or right, of a cut of this feature above it
    count: int = -1  # of its rows; -1 before it is known
    scale: float = 0.0  # of whole costs; 0 before it is known


class _Best(NamedTuple):
    """The best cut so far; the better of two is the smaller tuple, ties included."""

    score: float
    cost: int
    column: int
    threshold: float


class _Stretch(NamedTuple):
    """A stretch of a column whose inner cuts may be the best. No centre lies between its ends."""

    column: int
    low: float
    high: float
    n_rows: int
    before: Ints  # (5,)
    rank: tuple[float, int, int, float]  # what no inner cut is better than, to be compared with `_Best`


class GreedySearch:
    """The search for the cuts of lowest score of nodes of a growing tree; see `grow.shallow` for the score."""

    def __init__(self, task: Task, tree: GrowingTree, costs: BlockCosts, penalty: float) -> None:
        self.batches, self.tree, self.costs, self.penalty = task.batches, tree, costs, penalty
        self.weights = task.whole_weights
        self.n_repeated = task.overview.total_weight() if costs.is_repeated else 0.0
        self.sample: GuidingRows | None = None

    def find(self, nodes: Sequence[CenterNode]) -> list[tuple[CenterNode, CenterNode]]:
        """Cut the nodes in the growing tree and return the two sides of each."""
        self._measure([node for node in nodes if node.scale == 0 or node.count < 0])
        size = 8 * (AMOUNTS + 3) * self.batches.n_columns
        step, sides = max(BYTES // (size * FEWEST), 1), []
        for start in range(0, len(nodes), step):
            some = nodes[start : start + step]
            sides += _Nodes(self, some, min(BINS, max(BYTES // (size * len(some)), FEWEST))).find()
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
    """The search for the best cuts of some nodes, all of which are looked at in every pass."""

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
        open_now = self._begin()
        while any(open_now):
            gathers = sum(each.n_rows for stretches in open_now for each in stretches) <= VALUES
            n_bins = max(min(self.n_bins, BYTES // (8 * (AMOUNTS + 3) * sum(map(len, open_now)))), 2)
            n_bins = 1 if gathers else n_bins
            stretches = [
                Stretch(i, s.column, s.low, s.high, self.samples.edges(i, s.column, s.low, s.high, n_bins))
                for i, some in enumerate(open_now)
                for s in some
            ]
            parts, _ = self._looked(stretches, gathers, is_first=False)
            following = iter(parts)
            open_now = [
                self._inside(i, [self._parted(i, s.column, s.before, next(following)) for s in some])
                for i, some in enumerate(open_now)
            ]
        return [self._sides(i) for i in range(len(self.nodes))]

    def _begin(self) -> list[list[_Stretch]]:
        """Look at all values of the columns that part centres, and return what is to be looked into."""
        parting = [np.flatnonzero(each.ends[:, 0] < each.ends[:, -1]).tolist() for each in self.centers]
        n_values = sum(node.count * len(columns) for node, columns in zip(self.nodes, parting, strict=True))
        gathers = n_values <= VALUES
        stretches = [
            Stretch(i, j, -np.inf, np.inf, np.empty(0) if gathers else self._first_edges(i, j))
            for i, columns in enumerate(parting)
            for j in columns
        ]
        parts, whole = self._looked(stretches, gathers, is_first=True)
        self.cost, following, open_now = whole.cost.tolist(), iter(parts), []
        for i, columns in enumerate(parting):
            before, found = np.array([0, self.cost[i], 0, 0, 0]), []
            for j in columns:
                of_rows = next(following)
                if j == columns[0]:
                    self.total.append(of_rows.sums[:, 2:].sum(axis=0))
                found.append(
                    self._parted(i, j, before, *_with_centers(of_rows, self.centers[i].ends[j], whole.at[i][j]))
                )
            open_now.append(self._inside(i, found))
        return open_now

    def _first_edges(self, i: int, column: int) -> Floats:
        """Return edges between the first and the last centre, among them those around each centre."""
        ends = self.centers[i].ends[column]
        inner = self.samples.edges(i, column, float(ends[0]), float(ends[-1]), self.n_bins)
        return np.unique(np.concatenate([inner, ends, np.nextafter(ends, -np.inf)]))

    def _inside(self, i: int, found: list[list[_Stretch]]) -> list[_Stretch]:
        return [each for inner in found for each in inner if each.rank < self.best[i]]

    def _parted(
        self,
        i: int,
        column: int,
        before: Ints,
        parts: Parts,
        changes: Ints | None = None,
        n_centers: Ints | None = None,
    ) -> list[_Stretch]:
        """Take the best of the cuts between parts of a column, and return the parts whose inner cuts may be better.

        `changes` are those at centres, and `n_centers` the numbers of centres, by part; None where no centre lies.
        """
        none, k = np.zeros(len(parts.counts), dtype=np.int64), len(self.nodes[i].clusters)
        added, taken_away, weight, largest = parts.sums.T
        change = added - taken_away + (none if changes is None else changes)
        steps = parts.counts, change, weight, largest, none if n_centers is None else n_centers
        ends = before + np.cumsum(np.column_stack(steps), axis=0)
        begins = np.concatenate([before[None], ends[:-1]])
        parts_centers = (ends[:, CENTERS] > 0) & (ends[:, CENTERS] < k)
        self._take(i, column, parts, ends, np.flatnonzero(parts_centers[:-1]))
        inner = np.flatnonzero(parts_centers & (parts.low < parts.high))
        least = begins[inner, COST] - taken_away[inner]
        scores = self._least_scores(i, column, least, begins[inner], ends[inner])
        return [
            _Stretch(
                column,
                float(parts.low[b]),
                float(parts.high[b]),
                int(parts.counts[b]),
                begins[b],
                (score, cost, column, float(parts.low[b])),
            )
            for b, score, cost in zip(inner.tolist(), scores.tolist(), least.tolist(), strict=True)
            if (score, cost, column, float(parts.low[b])) < self.best[i]
        ]

    def _take(self, i: int, column: int, parts: Parts, ends: Ints, places: Indices) -> None:
        """Take the cut behind one of some parts, if it is better than the best so far."""
        if not len(places):
            return
        node, scores, best = self.nodes[i], np.full(1, np.inf), np.full((1, 4), -1, dtype=np.int64)
        costs, weights, n_left = (ends[None, places, which].copy() for which in (COST, WEIGHT, CENTERS))
        cuts = costs, weights, places[None], n_left, np.array([len(places)])
        weight, base = int(self.total[i][0]), float(max(self.cost[i], 1))
        of_node = len(node.clusters), weight, node.tested, base, np.array([self.search.penalty])
        best_scores(cuts, column, *of_node, scores, best)
        at = int(best[0, 2])
        threshold = float(between(parts.high[at], parts.low[at + 1]))
        found = _Best(float(scores[0]), int(best[0, 0]), column, threshold)
        if found < self.best[i] or self.best[i].column < 0:
            self.best[i], self.left[i] = found, (int(ends[at, ROWS]), int(ends[at, LARGEST]))

    def _least_scores(self, i: int, column: int, costs: Ints, begins: Ints, ends: Ints) -> Floats:
        """Return what no cut inside some parts of a column scores less than, given the least that it costs."""
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

    def _looked(self, stretches: list[Stretch], gathers: bool, *, is_first: bool) -> tuple[list[Parts], Looked]:
        columns = list(range(self.search.batches.n_columns))
        look = StretchBins.at(stretches, columns, len(self.nodes))
        make = partial(Looked, self.changes, self.paths, look, gathers, is_first)
        looked: Looked = self.search.batches.fold(make)
        return looked.parts(), looked


def _with_centers(parts: Parts, ends: Floats, changes: Ints) -> tuple[Parts, Ints, Ints]:
    """Return the parts of a column with one for each value of a centre, and the changes and numbers of centres there.

    IN: ends (k,): values of centres, ascending; changes (k,).
    """
    values, first, n_centers = np.unique(ends + 0.0, return_index=True, return_counts=True)
    at = np.searchsorted(parts.low, values)
    is_missing = at == len(parts.low)
    is_missing[~is_missing] = parts.low[at[~is_missing]] != values[~is_missing]
    none, missing = np.zeros(int(is_missing.sum()), dtype=np.int64), at[is_missing]
    merged = Parts(
        np.insert(parts.counts, missing, none),
        np.insert(parts.low, missing, values[is_missing]),
        np.insert(parts.high, missing, values[is_missing]),
        np.insert(parts.sums, missing, none[:, None], axis=0),
    )
    places = np.searchsorted(merged.low, values)
    all_changes, numbers = np.zeros((2, len(merged.low)), dtype=np.int64)
    all_changes[places], numbers[places] = np.add.reduceat(changes, first), n_centers
    return merged, all_changes, numbers


LISTED = 32  # centres in the list of a row
AMOUNTS = 4  # what a row adds, what it takes away, its weight, and the largest of its costs


class NodeCenters(NamedTuple):
    """The centres of a node, as `loops.greedy` takes them."""

    clusters: Indices
    centers: Floats  # (d, k)
    ends: Floats  # (d, k): their values, ascending
    by_value: Ints  # (d, k): the centre at each of these places
    position: Ints  # (d, n_clusters): the place of each cluster

    @classmethod
    def of(cls, clusters: Indices, all_centers: Floats) -> NodeCenters:
        centers = np.ascontiguousarray(all_centers[clusters].T)
        by_value = np.argsort(centers, axis=1, kind="stable")
        position = np.zeros((len(centers), len(all_centers)), dtype=np.int64)
        np.put_along_axis(position, clusters[by_value], np.arange(len(clusters))[None], axis=1)
        return cls(clusters, centers, np.take_along_axis(centers, by_value, axis=1), by_value, position)


@dataclass(frozen=True, eq=False)
class Changes:
    """By how much the costs of cuts of some nodes change, where they pass rows and centres."""

    costs: BlockCosts
    centers: list[NodeCenters]
    scales: Floats
    weights: WholeWeights | None

    def of(self, part: RowsInNodes) -> tuple[Ints, Ints, list[Ints], Ints]:
        """Return changes at rows (d, n), weights and largest costs (n, 2), changes at centres, and costs of nodes."""
        n, d = part.values.shape
        share, times = self.costs.shares(part)
        at_rows, fixed = np.zeros((d, n), dtype=np.int64), np.empty((n, 2), dtype=np.int64)
        largest = self.costs.distances(part.values).max(axis=1)
        fixed[:, 0] = 1 if part.weights is None or self.weights is None else self.weights.of(part.weights)
        fixed[:, 1] = np.rint(largest * share * self.scales[part.nodes]).astype(np.int64) * times
        at_centers, costs = (
            [np.zeros(each.ends.shape, dtype=np.int64) for each in self.centers],
            np.zeros(len(self.centers), dtype=np.int64),
        )
        n_listed = min(LISTED, len(self.costs.centers))
        near, distances = np.full((n, n_listed), -1, dtype=np.int32), np.empty((n, n_listed))
        order = np.argsort(part.nodes, kind="stable")
        ends = np.searchsorted(part.nodes[order], np.arange(len(self.centers) + 1)).tolist()
        for i, each in enumerate(self.centers):
            rows = order[ends[i] : ends[i + 1]]
            if not len(rows):
                continue
            inside = np.zeros(len(self.costs.centers), dtype=np.bool_)
            inside[each.clusters] = True
            of_node, scale = (each.centers, each.clusters, inside, self.costs.unit, 1), float(self.scales[i])
            keep_nearest(part.values, rows, *of_node, near, distances)
            costs[i] = summed_costs(rows, distances, share, times, scale)
            of_rows, of_centers = (near, distances, share, times, scale), (each.ends, each.by_value, each.position)
            add_changes(
                part.values, rows, 0, *of_rows, each.centers, self.costs.unit, *of_centers, at_rows, at_centers[i]
            )
        return at_rows, fixed, at_centers, costs


class Looked:
    """A summary of the rows in each slot of a look, or of each value there; and of whole nodes, if it is the first."""

    def __init__(self, changes: Changes, paths: Paths, look: StretchBins, gathers: bool, is_first: bool) -> None:
        self.changes, self.paths, self.look, self.gathers, self.is_first = changes, paths, look, gathers, is_first
        n_slots = 0 if gathers else look.n_slots
        self.counts, self.sums = np.zeros(n_slots, dtype=np.int64), np.zeros((n_slots, AMOUNTS), dtype=np.int64)
        self.low, self.high = np.full(n_slots, np.inf), np.full(n_slots, -np.inf)
        self.found: list[tuple[Floats, Indices, Ints]] = []
        self.at = [np.zeros(each.ends.shape, dtype=np.int64) for each in changes.centers]
        self.cost = np.zeros(len(changes.centers), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        bins = self.look.starts, self.look.edges, self.look.slots
        for part in parts_of(block, self.paths, self.changes.costs):
            if self.gathers:
                self._gather(part, bins)
                continue
            at_rows, fixed, at_centers, costs = self.changes.of(part)
            self._add_whole(at_centers, costs)
            out = self.counts, self.low, self.high, self.sums
            add_changes_to_slots(part.values, part.nodes, *bins, at_rows, fixed, *out)

    def _gather(self, part: RowsInNodes, bins: tuple[Ints, Floats, Ints]) -> None:
        rows, columns, slots = np.empty((3, part.values.size), dtype=np.int64)
        n_found = find_in_slots(part.values, part.nodes, *bins, rows, columns, slots)
        rows, columns, slots = rows[:n_found], columns[:n_found], slots[:n_found].copy()
        some, at = np.unique(rows, return_inverse=True)
        if self.is_first:  # costs and changes at centres are those of all rows
            some, at = np.arange(len(part.nodes)), rows
        at_rows, fixed, at_centers, costs = self.changes.of(taken(part, some))
        self._add_whole(at_centers, costs)
        change = at_rows[columns, at.reshape(-1)]
        amounts = np.column_stack([np.maximum(change, 0), np.maximum(-change, 0), fixed[at.reshape(-1)]])
        self.found.append((part.values[rows, columns], slots, amounts))

    def _add_whole(self, at_centers: list[Ints], costs: Ints) -> None:
        self.cost += costs
        for mine, more in zip(self.at, at_centers, strict=True):
            mine += more

    def merge(self, other: Looked) -> None:
        """Add another summary."""
        self.counts += other.counts
        self.sums += other.sums
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.found += other.found
        self._add_whole(other.at, other.cost)

    def parts(self) -> list[Parts]:
        """Return what lies in each stretch."""
        if not self.gathers:
            return self.look.parts(self.counts, self.low, self.high, self.sums)
        none = np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, AMOUNTS), dtype=np.int64)
        values, slots, amounts = (np.concatenate(each) for each in zip(none, *self.found, strict=True))
        return parts_of_values(self.look.n_slots, values, slots, amounts)
