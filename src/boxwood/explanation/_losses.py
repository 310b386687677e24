"""What the prunings of one tree lose on some rows, all of them from sums over the leaves of that tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import Rows
from boxwood.kernels import Kernel
from boxwood.metrics._cost import summed_distances
from boxwood.metrics._kernel_cost import KernelSpace
from boxwood.metrics._price import ratio
from boxwood.reference import Task
from boxwood.reference._centers import objective_code
from boxwood.reference._moments import moments_of
from boxwood.tree import ThresholdTree

__all__ = ["Distance", "LeafLosses", "Loss", "Losses", "cost_by_means", "summed"]


class Distance(NamedTuple):
    """What costs add up: "sqeuclidean", "l1" or "l2", or squared distances in the feature space of a kernel."""

    objective: str
    kernel: Kernel | None = None


class Loss(NamedTuple):
    """Sums over some rows: cost of the tree's groups and of the clusters, weight of the agreeing rows and of all."""

    cost: float
    reference_cost: float
    own: float
    weight: float

    @property
    def price(self) -> float:
        """Price of explainability on these rows."""
        return ratio(self.cost, self.reference_cost)

    @property
    def agreement(self) -> float:
        """Share of these rows whose rule names their cluster."""
        return min(self.own / self.weight, 1.0)  # rounding can put a sum of weights above the whole


def summed(losses: list[Loss]) -> Loss:
    """Return the loss on the rows of all parts."""
    return Loss(*(float(sum(parts)) for parts in zip(*losses, strict=True)))


class LeafLosses:
    """Makes the loss of a tree from the cluster that each of its leaves is named by.

    Parameters
    ----------
    held : array of shape (n_leaves, k)
        Weight of the rows of each cluster in each leaf.
    cost : function
        Returns a cost from the clusters of the leaves.
    reference_cost : float
        Cost of the clusters.
    """

    def __init__(self, held: Floats, cost: Callable[[Indices], float], reference_cost: float) -> None:
        self.held, self.n_leaves, self.weight = held, len(held), float(held.sum())
        self._cost, self.reference_cost = cost, reference_cost

    def of(self, clusters: Indices) -> Loss:
        """Return the loss if leaf i is named by the cluster `clusters[i]`."""
        lost = self.held.copy()
        lost[np.arange(self.n_leaves), clusters] = 0.0  # so that nothing lost is nothing, whatever sums are rounded to
        return Loss(self._cost(clusters), self.reference_cost, self.weight - float(lost.sum()), self.weight)


class Losses(LeafLosses):
    """The losses of a tree on rows in memory.

    The rows are read once. Squared distances and those of a kernel follow from sums over pairs of leaves; for other
    distances each naming takes a pass.

    Parameters
    ----------
    tree : ThresholdTree
        The tree, on the columns of the task. What its leaves are named does not matter.
    task : Task
        Rows and their clusters.
    measured : Rows
        The same rows, in the columns in which costs are measured.
    distance : Distance
        What costs add up.
    """

    def __init__(self, tree: ThresholdTree, task: Task, measured: Rows, distance: Distance) -> None:
        labels, k = task.reference.labels, task.reference.n_clusters
        self.leaf = np.where(task.kept, tree.apply(task.rows, n_jobs=task.n_jobs), -1)
        self.task, self.measured, self.n_leaves = task, measured, tree.n_leaves
        weights = task.rows.weights
        held = np.bincount(
            self.leaf[task.kept] * k + labels[task.kept],
            None if weights is None else weights[task.kept],
            minlength=tree.n_leaves * k,
        )
        by_leaf: Floats = held.reshape(tree.n_leaves, k).astype(np.float64)
        super().__init__(by_leaf, *self._costs(distance, np.where(task.kept, labels, -1)))

    def _costs(self, distance: Distance, labels: Indices) -> tuple[Callable[[Indices], float], float]:
        """Return the function from the clusters of the leaves to a cost, and the cost of the clusters."""
        if distance.kernel is not None:
            space = KernelSpace(self.measured, distance.kernel, n_jobs=self.task.n_jobs)
            return self._in_space(space), space.cost(labels, self.task.reference.n_clusters)
        code = objective_code(distance.objective)

        def direct(groups: Indices) -> float:
            return summed_distances(self.measured.values, groups, code, None, self.measured.weights)

        of_clusters = direct(labels)
        if distance.objective == "sqeuclidean":
            return self._of_means(), of_clusters
        return lambda clusters: direct(np.where(self.leaf >= 0, clusters[self.leaf], -1)), of_clusters

    def _of_means(self) -> Callable[[Indices], float]:
        """Return the cost by means: within the leaves, and of the leaves' means around those of their clusters."""
        moments = moments_of(self.measured, self.leaf, self.n_leaves, self.task.n_jobs)
        weights, within = moments.weights, float(moments.squares.sum())
        present = weights > 0
        shift = moments.origins[np.argmax(present)]
        means = np.where(present[:, None], (moments.origins - shift) + moments.offsets, 0.0)
        return cost_by_means(weights, means, within, self.task.reference.n_clusters)

    def _in_space(self, space: KernelSpace) -> Callable[[Indices], float]:
        """Return the cost in a feature space, from the kernel's sums over each pair of leaves."""
        rows = np.flatnonzero(self.leaf >= 0)
        weights = np.ones(len(rows)) if space.weights is None else space.weights[rows]
        parts = _indicator(self.leaf[rows], self.n_leaves) * weights[:, None]
        pairs = parts.T @ space.gram.product(parts, rows=rows, columns=rows, n_jobs=self.task.n_jobs)
        squares, of_leaves = float((weights * space.diagonal[rows]).sum()), parts.sum(axis=0)

        def cost(clusters: Indices) -> float:
            groups = _indicator(clusters, self.task.reference.n_clusters)
            total = groups.T @ of_leaves
            inner = np.einsum("ac,ab,bc->c", groups, pairs, groups)
            return max(squares - float((inner / np.where(total > 0, total, 1.0)).sum()), 0.0)

        return cost


def cost_by_means(weights: Floats, means: Floats, within: float, k: int) -> Callable[[Indices], float]:
    """Return the function from the clusters of leaves to a cost, by weights and means of the leaves' rows.

    IN: means (n_leaves, d), 0 for a leaf without rows; within: squared distances of all rows to their leaf's mean.
    """

    def cost(clusters: Indices) -> float:
        groups = _indicator(clusters, k)
        total = groups.T @ weights
        centers = (groups.T @ (weights[:, None] * means)) / np.where(total > 0, total, 1.0)[:, None]
        return within + float((weights[:, None] * np.square(means - centers[clusters])).sum())

    return cost


def _indicator(group: Indices, n_groups: int) -> Floats:
    """Return 1 where a row or a leaf is in a group, else 0, shape (len(group), n_groups)."""
    indicator = np.zeros((len(group), n_groups))
    indicator[np.arange(len(group)), group] = 1.0
    return indicator
