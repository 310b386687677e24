"""The costs of many trees with one leaf for each cluster, from one pass over the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._threads import fold_blocks
from boxwood._types import Array, Floats, Indices, Ints, Weights
from boxwood.grow._costs import unit_of
from boxwood.loops.random_cuts_score import SQEUCLIDEAN, LeafBounds, Trees, add_costs_and_moves
from boxwood.passes import TableTask
from boxwood.passes._means import grid_of
from boxwood.reference import Task
from boxwood.reference._centers import objective_code
from boxwood.reference._sums import Grid, rounded
from boxwood.tree import ThresholdTree

__all__ = ["Scored", "scored"]


class Scored(NamedTuple):
    """The cost of a clustering, and by how much each of some trees costs more, all at the clustering's centres."""

    cost: float
    changes: Floats  # (T,)


def scored(
    task: Task | TableTask, centers: Floats, trees: Sequence[ThresholdTree], *, objective: str = "sqeuclidean"
) -> Scored:
    """Return the cost of a task's clusters and of trees that explain them.

    A row in the middle of its cluster takes one comparison for each side of an axis, whatever the number of trees. Only
    for a tree that moves the row to another leaf is the row sent down the tree. So T trees take one pass over the rows,
    plus time for their mistakes. The result depends neither on the order of the rows nor on threads and batches.

    Parameters
    ----------
    task : Task or TableTask
        Rows, labels and weights.
    centers : array of shape (k, d)
        Centre of each cluster.
    trees : sequence of ThresholdTree
        Trees of threshold cuts with one leaf for each cluster.
    objective : {"l1", "l2", "sqeuclidean"}, default="sqeuclidean"
        Distance of a row to a centre.
    """
    centers, code = np.ascontiguousarray(centers), objective_code(objective)
    if isinstance(task, TableTask):
        unit = unit_of(*task.ranges, centers) / 2
        scale = _Scale.of(unit, code, centers.shape[1], grid_of(task.batches, task.overview))
        return task.batches.fold(partial(_Scores, trees, centers, scale)).scored()
    weights = task.rows.weights
    unit = unit_of(*task.value_range, centers) / 2
    scale = _Scale.of(unit, code, centers.shape[1], Grid.of(task.kept, weights))

    def work(scores: _Scores, start: int, stop: int) -> None:
        block_weights = None if weights is None else weights[start:stop]
        scores.update((task.rows.values[start:stop], task.reference.labels[start:stop], block_weights))

    first, *others = fold_blocks(work, len(task.rows), partial(_Scores, trees, centers, scale), n_jobs=task.n_jobs)
    for other in others:
        first.merge(other)
    return first.scored()


class _Scale(NamedTuple):
    """Powers of two that bring whatever is added up to at most 1."""

    unit: float  # of differences of values
    objective: int
    distance_exponent: int
    grid: Grid

    @classmethod
    def of(cls, unit: float, objective: int, n_columns: int, grid: Grid) -> _Scale:
        return cls(unit, objective, n_columns.bit_length(), grid)

    @property
    def factor(self) -> float:
        """The factor of weights times distances."""
        return math.ldexp(self.grid.scale, -self.distance_exponent)

    def back(self, sums: Floats) -> Floats:
        """Return sums as they are without any factor."""
        of_unit = -(math.frexp(self.unit)[1] - 1) * (2 if self.objective == SQEUCLIDEAN else 1)
        with np.errstate(over="ignore"):
            return np.ldexp(sums, self.distance_exponent + self.grid.weight_exponent + of_unit)


class _Scores:
    """Sums of distances, and of what trees add to them: a summary of blocks."""

    def __init__(self, trees: Sequence[ThresholdTree], centers: Floats, scale: _Scale) -> None:
        self.centers, self.scale, self.units = centers, scale, scale.grid.units()
        self.bounds = LeafBounds(*_bounds(trees, *centers.shape))
        sizes = np.array([tree.n_nodes for tree in trees])
        nodes = (np.concatenate([getattr(tree, name) for tree in trees]) for name in Trees._fields[1:])
        self.trees = Trees(np.cumsum(sizes) - sizes, *nodes)
        self.cost, self.change = np.zeros((1, len(self.units))), np.zeros((len(trees), len(self.units)))

    def update(self, block: tuple[Array, Indices, Weights]) -> None:
        """Add a block of rows."""
        X, labels, weights = block
        weights = np.empty(0) if weights is None else weights
        unit, objective, factor = self.scale.unit, self.scale.objective, self.scale.factor
        known = self.bounds, self.trees, self.centers, unit, objective, self.units
        add_costs_and_moves(X, labels, weights, factor, *known, self.cost, self.change)

    def merge(self, other: _Scores) -> None:
        """Add other sums for the same trees."""
        self.cost += other.cost
        self.change += other.change

    def scored(self) -> Scored:
        """Return the sums."""
        return Scored(float(self.scale.back(rounded(self.cost))[0]), self.scale.back(rounded(self.change)))


def _bounds(trees: Sequence[ThresholdTree], k: int, d: int) -> tuple[Ints, Floats, Ints]:
    """Return the cuts on the path to each cluster's leaf, grouped by cluster, axis and side, the innermost first.

    Group g is bounds `starts[g]` to `starts[g + 1]`; the last array holds the number of the tree of each bound.
    """
    groups, bounds, tree_numbers = [np.empty(0, np.int64)], [np.empty(0)], [np.empty(0, np.int64)]
    for number, tree in enumerate(trees):
        node, cluster = tree.leaf_nodes, tree.leaf_clusters
        while (has_parent := tree.parent[node] >= 0).any():
            child, cluster = node[has_parent], cluster[has_parent]
            node = tree.parent[child]
            below = child != node + 1  # the leaf lies above the cut, which bounds it from below
            groups.append(2 * (cluster * d + tree.feature[node]) + below)
            bounds.append(tree.upper[node])
            tree_numbers.append(np.full(len(node), number))
    group, bound, tree_number = np.concatenate(groups), np.concatenate(bounds), np.concatenate(tree_numbers)
    order = np.lexsort((tree_number, np.where(group % 2 == 1, -bound, bound), group))
    starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=2 * k * d))])
    return starts.astype(np.int64), bound[order], tree_number[order]
