"""The cheapest prunings of a tree: some of its cuts undone, for every number of leaves at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Indices, Ints
from boxwood.grow.shared.costs import integer_costs, make_problem, refuse_misfit
from boxwood.loops.walk import cheapest_prunings
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder

_AT_ONCE = 1 << 20  # numbers in an array for several prunings


def prune_tree(tree: ThresholdTree, task: Task, max_leaf_nodes: int, loss: str) -> ThresholdTree:
    """Return the cheapest pruning of a tree with at most `max_leaf_nodes` leaves; of equals the one with fewest leaves.

    Grown to more leaves than wanted and pruned back, a tree is often cheaper than one that stops in time: a cut that
    gains nothing by itself may be kept for those below it, and the leaves go where they gain most.

    Parameters
    ----------
    tree : ThresholdTree
        Tree to prune. The labels of its leaves do not matter.
    task : Task
        Rows and reference.
    max_leaf_nodes : int
        Largest number of leaves, at least 1.
    loss : {"cost", "mistakes"}
        Cost of a row in a leaf, as in `expand`: the squared distance to the centre of the leaf's cluster, or 1 if that
        is not its own cluster.

    Returns
    -------
    ThresholdTree
        Always holds: no tree with at most `max_leaf_nodes` leaves that results from `tree` by undoing cuts costs less,
        with any labels. Each leaf carries its cheapest cluster, the lowest of equals; several may carry the same.

    Notes
    -----
    Costs are whole numbers as in `expand`, so sums are exact. Among equally cheap prunings with equally few leaves,
    the first side of a cut gets as few leaves as possible, from the root down.

    Takes time n k d, memory n k, and time L² for a tree with L leaves.
    """
    shares = shares_of(tree, task, loss)
    return shares.with_leaves(shares.fewest(max_leaf_nodes))


class Shares(NamedTuple):
    """A tree with the costs of all its cheapest prunings, and the cheapest cluster of each node.

    A node has an entry for each number of leaves 1, 2, … that its subtree may keep: the lowest cost, and the number of
    these leaves on its first side, 0 for a leaf. The entries of node i begin at `starts[i]` in `costs` and `on_first`.
    """

    tree: ThresholdTree
    clusters: Indices
    below: Indices  # number of leaves below each node
    starts: Indices
    costs: Ints
    on_first: Indices

    @property
    def n_leaves(self) -> int:
        """Number of leaves of the whole tree."""
        return int(self.below[0])

    def fewest(self, max_leaf_nodes: int) -> int:
        """Return the fewest leaves with which a pruning is as cheap as with at most `max_leaf_nodes`."""
        costs = self.costs[: min(max_leaf_nodes, self.n_leaves)]  # they never rise
        return int(np.argmax(costs == costs[-1])) + 1

    def sizes(self) -> list[int]:
        """Return the numbers of leaves, from 2 on, with which the cheapest pruning costs less than with fewer."""
        costs = self.costs[: self.n_leaves]
        sizes: list[int] = (np.flatnonzero(costs[1:] < costs[:-1]) + 2).tolist()
        return sizes

    def clusters_with(self, sizes: Sequence[int]) -> Indices:
        """Return the cluster of each leaf of the whole tree in the cheapest pruning of each size.

        A size is an exact number of leaves. Shape (n_sizes, n_leaves).
        """
        at_once = max(_AT_ONCE // self.tree.n_nodes, 1)
        groups = [sizes[start : start + at_once] for start in range(0, len(sizes), at_once)]
        return np.concatenate([np.empty((0, self.n_leaves), dtype=np.int64), *map(self._clusters_with, groups)])

    def _clusters_with(self, sizes: Sequence[int]) -> Indices:
        tree = self.tree
        leaves = np.zeros((len(sizes), tree.n_nodes), dtype=np.int64)  # of each node; 0 below a leaf of the pruning
        named = np.empty_like(leaves)
        leaves[:, 0] = sizes
        for nodes in _levels(tree):
            n_leaves = leaves[:, nodes]
            named[:, nodes] = np.where(n_leaves > 0, self.clusters[nodes], named[:, tree.parent[nodes]])
            cuts = tree.feature[nodes] >= 0
            nodes, n_leaves = nodes[cuts], n_leaves[:, cuts]
            first = np.where(n_leaves > 0, self.on_first[self.starts[nodes] + np.maximum(n_leaves, 1) - 1], 0)
            leaves[:, nodes + 1], leaves[:, tree.second[nodes]] = first, np.where(first > 0, n_leaves - first, 0)
        return named[:, tree.leaf_nodes]

    def ends_with(self, n_leaves: int) -> list[int]:
        """Return the nodes that are the leaves of the cheapest pruning with exactly `n_leaves` leaves."""
        ends, waiting = [], [(0, n_leaves)]
        while waiting:
            node, leaves = waiting.pop()
            a = int(self.on_first[self.starts[node] + leaves - 1])
            if a == 0:
                ends.append(node)
            else:
                waiting += ((int(self.tree.second[node]), leaves - a), (node + 1, a))
        return ends

    def with_leaves(self, n_leaves: int) -> ThresholdTree:
        """Return the cheapest pruning with exactly `n_leaves` leaves."""
        tree, builder, waiting = self.tree, TreeBuilder(), [(0, 0, n_leaves)]
        while waiting:
            node, made, leaves = waiting.pop()
            a = int(self.on_first[self.starts[node] + leaves - 1])
            if a == 0:
                builder.label(made, int(self.clusters[node]))
                continue
            first, second = builder.split(made, *tree.test(node))
            waiting += ((int(tree.second[node]), second, leaves - a), (node + 1, first, a))
        return builder.build()


def shares_of(tree: ThresholdTree, task: Task, loss: str, *, leaf: Indices | None = None) -> Shares:
    """Return the shares of a tree; one that tests other columns than the task's needs the leaf of each row, `leaf`."""
    problem = make_problem(task, loss)
    rows = np.flatnonzero(problem.kept)
    costs, _ = integer_costs(problem, rows)
    if leaf is None:
        refuse_misfit(tree, task)
        leaves = tree.apply(task.rows.take(rows), n_jobs=task.n_jobs)
    else:
        leaves = leaf[rows]
    return _of_nodes(tree, sums_by_node(tree, costs, leaves))


def _of_nodes(tree: ThresholdTree, sums: Ints) -> Shares:
    below = np.ones(tree.n_nodes, dtype=np.int64)
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():  # in pre-order, children come after their parent
        below[node] = below[node + 1] + below[tree.second[node]]
    starts = np.cumsum(below) - below
    costs, on_first = np.empty(below.sum(), dtype=np.int64), np.empty(below.sum(), dtype=np.int64)
    cheapest_prunings(tree.second, below, starts, sums.min(axis=1), costs, on_first)
    return Shares(tree, sums.argmin(axis=1), below, starts, costs, on_first)


def _levels(tree: ThresholdTree) -> list[Indices]:
    """Return the nodes of each depth."""
    order = np.argsort(tree.node_depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(tree.node_depth))[:-1])


def sums_by_node(tree: ThresholdTree, costs: Ints, leaves: Indices) -> Ints:
    """Return the cost of the rows at each node under each cluster, shape (n_nodes, k)."""
    sums = np.zeros((tree.n_nodes, costs.shape[1]), dtype=np.int64)
    order = np.argsort(leaves.astype(np.min_scalar_type(tree.n_leaves)), kind="stable")  # numpy sorts short ones fast
    present, starts = np.unique(leaves[order], return_index=True)
    sums[tree.leaf_nodes[present]] = np.add.reduceat(costs[order], starts, axis=0)
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        sums[node] = sums[node + 1] + sums[tree.second[node]]
    return sums
