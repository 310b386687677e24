"""The cuts of a node that part its centres, with their costs; `greedy` and `shallow` choose among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import as_whole_weights
from boxwood.grow._costs import Problem, distance_unit, largest_costs, scale_of
from boxwood.grow._order import PartedOrder, Places
from boxwood.loops.greedy import add_changes, keep_nearest, summed_costs
from boxwood.loops.greedy_costs import costs_of_cuts
from boxwood.loops.shallow import best_scores
from boxwood.reference import Task
from boxwood.tree import between

__all__ = ["ColumnCuts", "Cut", "Nearest", "Node", "NodeCuts", "Path"]

LISTED = 32  # centres in the list of a row; more make lists longer to keep, fewer make them end too early
DEAR = 16  # columns from which on lists are twice as long, as distances beyond their ends take long
LARGEST = 1 << 23  # numbers in all lists, up to which they may be twice as long
COLUMNS = 16  # columns for which the list of a row is read at once, while it is at hand
VALUES = 1 << 21  # changes at rows in memory for each thread, unless one column has more rows
SCORED = 1 << 15  # costs of cuts that are scored at once, while they are at hand


Path: TypeAlias = tuple[tuple[int, float, bool], ...]
"""The cuts above a node, from the root down: feature, threshold, and whether the node is on the left."""


class Node(NamedTuple):
    """The rows of a node, the clusters whose centres lie in it, and the cuts above it."""

    path: Path
    rows: Indices
    places: Places
    clusters: Indices
    tested: Bools  # (d, 2): whether the node is left, or right, of a cut of this feature above it


class Cut(NamedTuple):
    """A cut of a node, and the place behind the last row on its left."""

    feature: int
    threshold: float
    place: int


class ColumnCuts(NamedTuple):
    """The cuts of one column that part centres, ascending. All arrays are of shape (m,).

    A threshold lies in the gap between two neighbouring values, of rows or of centres.
    """

    low: Floats
    high: Floats
    cost: Ints
    rows_left: Ints
    centers_left: Ints


class _Cuts(NamedTuple):
    """The cuts of t columns: see `loops.greedy_costs.costs_of_cuts`. Arrays are of shape (t, m), but for the last."""

    costs: Ints
    weight_left: Ints
    places: Ints
    centers_left: Ints
    sizes: Ints  # (t,): cuts of each column

    @classmethod
    def with_room(cls, n_columns: int, n_cuts: int) -> _Cuts:
        costs, weight_left, places, centers_left = np.empty((4, n_columns, n_cuts), dtype=np.int64)
        return cls(costs, weight_left, places, centers_left, np.empty(n_columns, dtype=np.int64))

    def of_first(self, n_columns: int) -> _Cuts:
        """Return the same room for fewer columns."""
        return _Cuts._make(each[:n_columns] for each in self)


class Nearest:
    """For each row of a problem a list of the nearest centres of the node that the row is in.

    A row is in one node at a time, because the rows of a node are divided among its children. So the lists of a node
    are made from those of its parent, in place, and the order of the columns is parted in place. If several trees are
    grown, both are kept as they are at the root, unless they are large.
    """

    def __init__(self, task: Task, problem: Problem, rows: Indices, *, several: bool = False) -> None:
        self.task, self.problem, self.centers = task, problem, task.reference.centers
        self.unit = distance_unit(task)
        self.largest = np.zeros(len(task.rows))
        self.largest[rows] = largest_costs(problem, rows)
        self.share, self.times = (np.ascontiguousarray(each) for each in (problem.share, problem.times))
        weights = task.rows.weights
        self.weights = as_whole_weights(None if weights is None else np.where(task.kept, weights, 0.0))
        n, d = task.rows.values.shape
        listed = 2 * LISTED if d >= DEAR and 2 * LISTED * n <= LARGEST else LISTED
        shape = n, min(listed, len(self.centers))
        self.near, self.distances = np.full(shape, -1, dtype=np.int32), np.empty(shape)
        self.order = PartedOrder(self.task)
        self.keeps_root = several and max(self.near.size, self.order.entries.size) <= LARGEST
        self.at_root: tuple[Array, ...] | None = None

    def restart(self) -> None:
        """Put all rows back into the root."""
        if self.at_root is None:
            self.near[:] = -1
            self.order = PartedOrder(self.task)
        else:
            self.near[:], self.distances[:], self.order.entries[:] = self.at_root

    def cuts_at(self, node: Node) -> NodeCuts:
        """Return the cuts of a node; those of its parent can no longer be asked for."""
        rows, clusters = node.rows, node.clusters
        centers = np.ascontiguousarray(self.centers[clusters].T)
        inside = np.zeros(len(self.centers), dtype=np.bool_)
        inside[clusters] = True
        least = min(len(clusters), max(self.near.shape[1] // 4, 1))

        def keep(start: int, stop: int) -> None:
            part = rows[start:stop]
            keep_nearest(
                self.problem.rows.values, part, centers, clusters, inside, self.unit, least, self.near, self.distances
            )

        map_blocks(keep, len(rows), n_jobs=self.problem.jobs_for(rows))
        if self.keeps_root and self.at_root is None and not node.path:
            self.at_root = self.near.copy(), self.distances.copy(), self.order.entries.copy()
        return NodeCuts(self, node, centers)


class NodeCuts:
    """The cuts of a node. `cost` is what its rows cost without a cut, a whole number."""

    def __init__(self, nearest: Nearest, node: Node, centers: Floats) -> None:
        self.nearest, self.node, self.centers = nearest, node, centers
        rows, clusters = node.rows, node.clusters
        self.scale = scale_of(nearest.largest[rows])
        self.cost = int(summed_costs(rows, nearest.distances, nearest.share, nearest.times, self.scale))
        self.by_value = np.argsort(centers, axis=1, kind="stable")
        self.ends = np.take_along_axis(centers, self.by_value, axis=1)
        self.position = np.zeros((len(centers), len(nearest.centers)), dtype=np.int64)
        np.put_along_axis(self.position, clusters[self.by_value], np.arange(len(clusters))[None], axis=1)

    def best(self, penalties: Sequence[float]) -> list[Cut]:
        """Return for each depth penalty the cut of lowest score; 0 takes the cut of lowest cost.

        Ties go to the lowest cost, then to the lowest feature, then to the lowest threshold.
        """
        nearest, node, k = self.nearest, self.node, len(self.node.clusters)
        weight = len(node.rows) if not nearest.weights.size else int(nearest.weights[node.rows].sum())
        weighing = np.array(penalties, dtype=np.float64)
        total = k, weight, node.tested, float(max(self.cost, 1)), weighing

        def best_of(first: int, last: int) -> tuple[Floats, Ints]:
            scores, best = np.full(len(weighing), np.inf), np.full((len(weighing), 4), -1, dtype=np.int64)
            (at_rows, at_centers), step = self._changes(first, last), max(1, SCORED // max(len(node.rows), 1))
            cuts = _Cuts.with_room(min(step, last - first), len(node.rows) + k)
            for start in range(first, last, step):
                stop = min(start + step, last)
                some, columns = cuts.of_first(stop - start), slice(start - first, stop - first)
                self._write_costs(start, stop, at_rows[columns], at_centers[columns], some)
                best_scores(some, start, *total, scores, best)
            return scores, best

        at_once = max(1, min(COLUMNS, VALUES // len(nearest.near)))
        found = nearest.order.by_columns(best_of, node.places, steps=16, most=at_once)
        chosen = []
        for p in range(len(weighing)):
            each = [(scores[p], *best[p].tolist()) for scores, best in found if best[p, 1] >= 0]
            _, _, feature, place, n_left = min(each)
            chosen.append(Cut(feature, self._threshold(feature, place, n_left), place))
        return chosen

    def of(self, feature: int) -> ColumnCuts:
        """Return the cuts of a column."""
        cuts = _Cuts.with_room(1, len(self.node.rows) + len(self.node.clusters))
        at_rows, at_centers = self._changes(feature, feature + 1)
        self._write_costs(feature, feature + 1, at_rows, at_centers, cuts)
        costs, _, places, centers_left = (each[0, : cuts.sizes[0]] for each in cuts[:4])
        low, high = self._gap(feature, places, centers_left)
        return ColumnCuts(low, high, costs, places - self.node.places.start, centers_left)

    def _changes(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return by how much costs change at rows (t, n), written for those of the node only, and at centres (t, k)."""
        lists, columns = self.nearest, slice(first, last)
        at_rows = np.empty((last - first, len(lists.near)), dtype=np.int64)
        at_centers = np.zeros((last - first, len(self.node.clusters)), dtype=np.int64)
        of_rows = lists.near, lists.distances, lists.share, lists.times, self.scale
        of_centers = self.centers, lists.unit, self.ends[columns], self.by_value[columns], self.position[columns]
        add_changes(lists.problem.rows.values, self.node.rows, first, *of_rows, *of_centers, at_rows, at_centers)
        return at_rows, at_centers

    def _write_costs(self, first: int, last: int, at_rows: Ints, at_centers: Ints, cuts: _Cuts) -> None:
        lists, node = self.nearest, (first, *self.node.places, self.nearest.weights, self.ends[first:last])
        values, entries = lists.problem.rows.values, lists.order.entries
        costs_of_cuts(values, entries, *node, at_rows, at_centers, self.cost, cuts)

    def _threshold(self, feature: int, place: int, n_left: int) -> float:
        """Return the threshold of the cut before a place, with so many centres on its left: the middle of its gap."""
        order, (start, stop) = self.nearest.order, self.node.places
        low, high = self.ends[feature, n_left - 1 : n_left + 1].tolist()
        if place > start:
            low = max(low, order.value(feature, place - 1))
        if place < stop:
            high = min(high, order.value(feature, place))
        return float(between(low, high))

    def _gap(self, feature: int, places: Ints, centers_left: Ints) -> tuple[Floats, Floats]:
        """Return the neighbouring values, of rows or centres, on both sides of cuts before some places."""
        order, (start, stop), ends = self.nearest.order, self.node.places, self.ends[feature]
        before, behind = order.values(feature, places - 1), order.values(feature, places)
        low = np.where(places > start, np.maximum(before, ends[centers_left - 1]), ends[centers_left - 1])
        high = np.where(places < stop, np.minimum(behind, ends[centers_left]), ends[centers_left])
        return low, high
