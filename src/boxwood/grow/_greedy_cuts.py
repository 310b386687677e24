"""The cuts of a node that part its centres, with their costs; `greedy` and `shallow` choose among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Floats, Indices, Ints
from boxwood.grow._costs import Problem, distance_unit, largest_costs, scale_of
from boxwood.loops.greedy import add_changes, costs_of_cuts, keep_nearest, summed_costs
from boxwood.reference import Task

__all__ = ["Cuts", "Nearest", "NodeCuts"]

LISTED = 32  # centres in the list of a row; more make lists longer to keep, fewer make them end too early


class Cuts(NamedTuple):
    """The cuts of one column that part centres, ascending. All arrays but the last are of shape (m,).

    A threshold lies in the gap between two neighbouring values, of rows or of centres.
    """

    low: Floats
    high: Floats
    cost: Ints
    rows_left: Ints
    centers_left: Ints
    order: Indices  # (n,): the node's rows by their values


class Nearest:
    """For each row of a problem a list of the nearest centres of the node that the row is in.

    A row is in one node at a time, because the rows of a node are divided among its children. So the lists of a node
    are made from those of its parent, in place.
    """

    def __init__(self, task: Task, problem: Problem, rows: Indices) -> None:
        self.problem, self.centers = problem, task.reference.centers
        self.unit = distance_unit(task)
        self.largest = np.zeros(len(task.rows))
        self.largest[rows] = largest_costs(problem, rows)
        self.share, self.times = (np.ascontiguousarray(each) for each in (problem.share, problem.times))
        shape = len(task.rows), min(LISTED, len(self.centers))
        self.near, self.distances = np.full(shape, -1, dtype=np.int32), np.empty(shape)

    def cuts_at(self, rows: Indices, clusters: Indices) -> NodeCuts:
        """Return the cuts of a node; those of its parent can no longer be asked for."""
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
        return NodeCuts(self, rows, clusters)


class NodeCuts:
    """The cuts of a node. `cost` is what its rows cost without a cut, a whole number."""

    def __init__(self, nearest: Nearest, rows: Indices, clusters: Indices) -> None:
        self.nearest, self.rows, self.clusters = nearest, rows, clusters
        self.scale = scale_of(nearest.largest[rows])
        self.cost = int(summed_costs(rows, nearest.distances, nearest.share, nearest.times, self.scale))

    def of(self, feature: int) -> Cuts:
        """Return the cuts of a column."""
        lists, rows = self.nearest, self.rows
        by_center = np.argsort(lists.centers[self.clusters, feature], kind="stable")
        centers = np.ascontiguousarray(lists.centers[self.clusters[by_center]].T)
        position = np.zeros(len(lists.centers), dtype=np.int64)
        position[self.clusters[by_center]] = np.arange(len(by_center))
        at_rows, at_centers = np.empty(len(rows), dtype=np.int64), np.zeros(len(by_center), dtype=np.int64)
        of_rows = lists.near, lists.distances, lists.share, lists.times, self.scale
        of_centers = centers, position, lists.unit
        add_changes(lists.problem.rows.values, rows, feature, *of_rows, *of_centers, at_rows, at_centers)
        values = lists.problem.rows.column(feature, rows)
        order = np.argsort(values)
        found = costs_of_cuts(values[order], order, centers[feature], at_rows, at_centers, self.cost)
        low, high, cost, rows_left, centers_left = found
        return Cuts(low, high, cost, rows_left, centers_left, order)
