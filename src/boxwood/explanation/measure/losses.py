"""What the prunings of one tree lose on some rows, all of them from sums over the leaves of that tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows
from boxwood.explanation.measure.evidence import Evidence, held_in
from boxwood.explanation.measure.limited import on_table_columns
from boxwood.kernels import Kernel
from boxwood.metrics.costs import ratio, summed_distances
from boxwood.metrics.kernel_costs import KernelSpace
from boxwood.metrics.mixed_costs import CostOfGroups, cost_of_groups
from boxwood.reference import Task
from boxwood.reference.centers import objective_code
from boxwood.reference.moments import moments_of
from boxwood.tree import ThresholdTree

_AT_ONCE = 1 << 20  # leaves of several namings in an array
CostOfNamings: TypeAlias = Callable[[Indices], Sequence[float]]
"""Makes the cost of each of several namings of the leaves, shape (n_namings, n_leaves)."""


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


def add_losses(losses: list[Loss]) -> Loss:
    """Return the loss on the rows of all parts."""
    return Loss(*(float(sum(parts)) for parts in zip(*losses, strict=True)))


class LeafLosses:
    """Makes the loss of a tree from the cluster that each of its leaves is named by.

    Parameters
    ----------
    held : array of shape (n_leaves, k)
        Weight of the rows of each cluster in each leaf.
    cost : function
        Returns the cost of each of several namings from the clusters of the leaves, shape (n_namings, n_leaves).
    reference_cost : float
        Cost of the clusters.
    """

    held: Floats
    n_leaves: int
    weight: float
    reference_cost: float

    def __init__(self, held: Floats, cost: CostOfNamings, reference_cost: float) -> None:
        self.held, self.n_leaves, self.weight = held, len(held), float(held.sum())
        # weight of the rows of all other clusters, added up so that nothing lost is nothing, whatever is rounded
        before, behind = np.cumsum(held, axis=1), np.cumsum(held[:, ::-1], axis=1)[:, ::-1]
        self._lost = np.zeros_like(held)
        self._lost[:, 1:] += before[:, :-1]
        self._lost[:, :-1] += behind[:, 1:]
        self._cost, self.reference_cost = cost, reference_cost

    def of(self, clusters: Indices) -> Loss:
        """Return the loss if leaf i is named by the cluster `clusters[i]`."""
        return self.of_each(clusters[None])[0]

    def of_each(self, namings: Indices) -> list[Loss]:
        """Return the loss of each naming; IN: namings (n_namings, n_leaves)."""
        owns = [own for part in _parts(namings) for own in self._own(part)]
        costs = self._cost(namings)
        return [Loss(cost, self.reference_cost, own, self.weight) for cost, own in zip(costs, owns, strict=True)]

    def _own(self, namings: Indices) -> list[float]:
        """Return the weight of the agreeing rows of each naming."""
        agreeing: list[float] = (self.weight - self._lost[np.arange(self.n_leaves), namings].sum(axis=1)).tolist()
        return agreeing


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
    leaf : array of shape (n,), default=None
        Leaf of each row, if it is known.
    reference_cost : float, default=None
        Cost of the clusters, if it is known.
    cost_of : function, default=None
        Cost of groups of the rows, see `cost_of_groups`; None measures distances in `measured`.
    """

    task: Task
    measured: Rows
    n_leaves: int

    def __init__(
        self,
        tree: ThresholdTree,
        task: Task,
        measured: Rows,
        distance: Distance,
        *,
        leaf: Indices | None = None,
        reference_cost: float | None = None,
        cost_of: CostOfGroups | None = None,
    ) -> None:
        labels = task.reference.labels
        leaf = tree.apply(task.rows, n_jobs=task.n_jobs) if leaf is None else leaf
        self.leaf: Array = np.where(task.kept, leaf, -1)
        self.task, self.measured, self.n_leaves = task, measured, tree.n_leaves
        self.cost_of = cost_of
        by_leaf = held_in(task, leaf, tree.n_leaves)[0].astype(np.float64)
        super().__init__(by_leaf, *self._costs(distance, np.where(task.kept, labels, -1), reference_cost))

    def _costs(self, distance: Distance, labels: Indices, of_clusters: float | None) -> tuple[CostOfNamings, float]:
        """Return the function from namings to costs, and the cost of the clusters."""
        if distance.kernel is not None:
            space = KernelSpace(self.measured, distance.kernel, n_jobs=self.task.n_jobs)
            if of_clusters is None:
                of_clusters = space.cost(labels, self.task.reference.n_clusters)
            return one_by_one(self._in_space(space)), of_clusters
        code = objective_code(distance.objective)

        def in_columns(groups: Indices) -> float:
            return summed_distances(self.measured.values, groups, code, None, self.measured.weights)

        direct = in_columns if self.cost_of is None else self.cost_of
        of_clusters = direct(labels) if of_clusters is None else of_clusters
        if distance.objective == "sqeuclidean" and self.cost_of is None:
            return self._of_means(), of_clusters
        return one_by_one(lambda clusters: direct(np.where(self.leaf >= 0, clusters[self.leaf], -1))), of_clusters

    def _of_means(self) -> CostOfNamings:
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


def losses_on(tree: ThresholdTree, evidence: Evidence, distance: Distance, **known: Any) -> Losses:
    """Return the losses of a tree on the task's columns, or if thresholds are rounded, of one on the table's.

    IN: known: what `Losses` need not find again.
    """
    task, here = evidence.task, evidence.coordinates
    measured = task.rows if here.measured is None else here.measured
    is_on_table = evidence.budget.moves_thresholds
    return Losses(
        tree,
        on_table_columns(task, here) if is_on_table else task,
        measured,
        distance,
        **known,
        cost_of=None if here.scales is None else cost_of_groups(here, task.n_jobs),
    )


def cost_by_means(weights: Floats, means: Floats, within: float, k: int) -> CostOfNamings:
    """Return the function from namings of the leaves to costs, by weights and means of the leaves' rows.

    IN: means (n_leaves, d), 0 for a leaf without rows; within: squared distances of all rows to their leaf's mean.
    """

    def of_part(namings: Indices) -> list[float]:
        groups = namings + k * np.arange(len(namings))[:, None]
        total = _summed_by(groups, weights, k * len(namings))
        between = np.zeros(len(namings))
        for column in means.T:
            centers = _summed_by(groups, weights * column, len(total)) / np.where(total > 0, total, 1.0)
            between += (weights * np.square(column - centers[groups])).sum(axis=1)
        costs: list[float] = (within + between).tolist()
        return costs

    return lambda namings: [cost for part in _parts(namings) for cost in of_part(part)]


def _summed_by(groups: Indices, numbers: Floats, n_groups: int) -> Floats:
    """Return the sum of numbers of the leaves by group; IN: groups (n_namings, n_leaves); numbers (n_leaves,)."""
    weights = np.broadcast_to(numbers, groups.shape).ravel()
    return np.bincount(groups.ravel(), weights, n_groups).astype(np.float64, copy=False)


def one_by_one(cost: Callable[[Indices], float]) -> CostOfNamings:
    """Return the costs of many namings, from a function that gives that of one."""
    return lambda namings: [cost(clusters) for clusters in namings]


def _parts(namings: Indices) -> list[Indices]:
    """Return the namings in parts that are small arrays."""
    at_once = max(_AT_ONCE // max(namings.shape[1], 1), 1)
    return [namings[start : start + at_once] for start in range(0, len(namings), at_once)]


def _indicator(group: Indices, n_groups: int) -> Floats:
    """Return 1 where a row or a leaf is in a group, else 0, shape (len(group), n_groups)."""
    indicator = np.zeros((len(group), n_groups))
    indicator[np.arange(len(group)), group] = 1.0
    return indicator
