"""The cheapest prunings of a tree: some of its cuts undone, for every number of leaves at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Indices, Ints
from boxwood.grow._costs import make_problem, refuse_misfit, whole_costs
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["Shares", "pruned", "prunings", "shares_of", "shares_of_sums", "sums_by_node"]


def pruned(
    tree: ThresholdTree, task: Task, max_leaf_nodes: int, objective: str, centers: Array | None = None
) -> ThresholdTree:
    """Return the cheapest pruning of a tree with at most so many leaves, the one with fewest leaves of equals.

    Grown to more leaves than wanted and pruned back, a tree is often cheaper than one that stops in time: a cut that
    gains nothing by itself may be kept for those below it, and the leaves go where they gain most.

    Parameters
    ----------
    tree : ThresholdTree
        Tree to prune. What its leaves are labelled does not matter.
    task : Task
        Rows and reference.
    max_leaf_nodes : int
        Largest number of leaves, at least 1.
    objective : {"cost", "mistakes"}
        Cost of a row in a leaf, as in `expand`: the squared distance to the centre of the leaf's cluster, or 1 if that
        is not its own cluster.
    centers : array of shape (k, d), default=None
        Centres of the clusters in place of the reference's.

    Returns
    -------
    ThresholdTree
        Always holds: no tree with so many leaves that is made of `tree` by undoing cuts, whatever its labels, costs
        less. Each leaf carries its cheapest cluster, the lowest of equals; several may carry the same.

    Notes
    -----
    Costs are whole numbers as in `expand`, so sums are exact. Among equally cheap prunings with equally few leaves,
    the first side of a cut gets as few leaves as possible, from the root down.

    Takes time n k d, memory n k, and time L² for a tree with L leaves.
    """
    shares = shares_of(tree, task, objective, centers)
    return shares.with_leaves(shares.fewest(max_leaf_nodes))


def prunings(
    tree: ThresholdTree, task: Task, objective: str, centers: Array | None = None, *, max_leaf_nodes: int | None = None
) -> list[ThresholdTree]:
    """Return the cheapest prunings with at most 1, 2, 3, … leaves, up to the first that no other pruning undercuts.

    Entry m - 1 is `pruned(tree, task, m, objective, centers)`; the one before it has as few leaves or costs more. All
    together take the time of one, but for making the trees. With `max_leaf_nodes` the list has no more than so many.
    """
    shares = shares_of(tree, task, objective, centers)
    most = min(shares.fewest(tree.n_leaves), max_leaf_nodes or tree.n_leaves)
    return [shares.with_leaves(shares.fewest(m)) for m in range(1, most + 1)]


class _Share(NamedTuple):
    """What a subtree costs with exactly 1, 2, … leaves, and how many of them are on its first side; 0 for a leaf."""

    costs: Ints
    on_first: Indices


class Shares(NamedTuple):
    """A tree, and for each of its nodes a share and its cheapest cluster: all its cheapest prunings in one."""

    tree: ThresholdTree
    of_nodes: list[_Share]
    clusters: Indices

    def fewest(self, max_leaf_nodes: int) -> int:
        """Return the fewest leaves of a pruning that is as cheap as the cheapest with so many."""
        costs = self.of_nodes[0].costs[:max_leaf_nodes]  # they never rise
        return int(np.argmax(costs == costs[-1])) + 1

    def clusters_with(self, n_leaves: int) -> Indices:
        """Return the cluster of each leaf of the whole tree in the cheapest pruning with exactly so many leaves."""
        tree, waiting = self.tree, [(0, n_leaves)]
        named = self.clusters[tree.leaf_nodes]
        leaves_before: Indices = np.cumsum(tree.feature < 0) - (tree.feature < 0)
        while waiting:
            node, leaves = waiting.pop()
            a = int(self.of_nodes[node].on_first[leaves - 1])
            if a == 0:
                below = len(self.of_nodes[node].costs)  # leaves below a node come one after another
                named[leaves_before[node] : leaves_before[node] + below] = self.clusters[node]
            else:
                waiting += ((int(tree.second[node]), leaves - a), (node + 1, a))
        return named

    def with_leaves(self, n_leaves: int) -> ThresholdTree:
        """Return the cheapest pruning with exactly so many leaves."""
        tree, builder, waiting = self.tree, TreeBuilder(), [(0, 0, n_leaves)]
        while waiting:
            node, made, leaves = waiting.pop()
            a = int(self.of_nodes[node].on_first[leaves - 1])
            if a == 0:
                builder.label(made, int(self.clusters[node]))
                continue
            cut = int(tree.feature[node]), float(tree.upper[node]), float(tree.lower[node])
            first, second = builder.split(made, *cut)
            waiting += ((int(tree.second[node]), second, leaves - a), (node + 1, first, a))
        return builder.build()


def shares_of(
    tree: ThresholdTree, task: Task, objective: str, centers: Array | None, *, leaf: Indices | None = None
) -> Shares:
    """Return the shares of a tree on the columns of a task, or of one on others, if the leaf of each row is given."""
    if centers is not None:
        task = task.with_reference(Reference(task.reference.labels, centers, task.reference.names))
    problem = make_problem(task, objective)
    rows = np.flatnonzero(problem.kept)
    costs, _ = whole_costs(problem, rows)
    if leaf is None:
        refuse_misfit(tree, task)
        leaves = tree.apply(task.rows.take(rows), n_jobs=task.n_jobs)
    else:
        leaves = leaf[rows]
    return _of_nodes(tree, sums_by_node(tree, costs, leaves))


def shares_of_sums(tree: ThresholdTree, sums: Ints) -> Shares:
    """Return the shares of a tree from the cost of the rows in each leaf under each cluster, shape (n_leaves, k)."""
    return _of_nodes(tree, sums_by_node(tree, sums, np.arange(tree.n_leaves)))


def _of_nodes(tree: ThresholdTree, sums: Ints) -> Shares:
    return Shares(tree, _shares(tree, sums.min(axis=1)), sums.argmin(axis=1))


def sums_by_node(tree: ThresholdTree, costs: Ints, leaves: Indices) -> Ints:
    """Return the cost of the rows at each node under each cluster, shape (n_nodes, k)."""
    sums = np.zeros((tree.n_nodes, costs.shape[1]), dtype=np.int64)
    order = np.argsort(leaves, kind="stable")
    present, starts = np.unique(leaves[order], return_index=True)
    sums[np.flatnonzero(tree.feature < 0)[present]] = np.add.reduceat(costs[order], starts, axis=0)
    for node in range(tree.n_nodes - 1, -1, -1):  # in pre-order, children come after their parent
        if tree.feature[node] >= 0:
            sums[node] = sums[node + 1] + sums[tree.second[node]]
    return sums


def _shares(tree: ThresholdTree, alone: Ints) -> list[_Share]:
    """Return for each node what it costs with any number of leaves; `alone` is what it costs as a leaf."""
    shares = [_Share(alone[node : node + 1], np.zeros(1, dtype=np.intp)) for node in range(tree.n_nodes)]
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.feature[node] >= 0:
            first, second = shares[node + 1].costs, shares[tree.second[node]].costs
            shares[node] = _joined(int(alone[node]), first, second)
    return shares


def _joined(alone: int, first: Ints, second: Ints) -> _Share:
    """Return the share of a cut from those of its sides; takes as many steps as the smaller of them has leaves."""
    n = len(first) + len(second)
    costs, on_first = np.full(n, np.iinfo(np.int64).max), np.zeros(n, dtype=np.intp)
    costs[0] = alone
    if len(first) <= len(second):
        pairs = ((a, cost + second, np.full(len(second), a)) for a, cost in enumerate(first, start=1))
    else:  # from many leaves on the second side to few, so that few on the first come first here too
        counted = np.arange(1, len(first) + 1)
        pairs = ((b, first + second[b - 1], counted) for b in range(len(second), 0, -1))
    for least, sums, a in pairs:
        below = slice(least, least + len(sums))
        better = sums < costs[below]
        costs[below][better], on_first[below][better] = sums[better], a[better]
    return _Share(costs, on_first)
