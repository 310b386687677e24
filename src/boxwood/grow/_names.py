"""Names of leaves: a leaf with rows is named by a cluster of which it holds rows."""

from __future__ import annotations

import numpy as np

from boxwood._types import Bools, Indices, Ints
from boxwood._validation import as_whole_weights, refuse_unknown
from boxwood.grow._costs import OBJECTIVES, Problem, make_problem, refuse_misfit, whole_costs
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["honest", "matched", "named", "without_empty_leaves", "without_leaves"]


def named(tree: ThresholdTree, task: Task, objective: str = "mistakes") -> ThresholdTree:
    """Return the tree with honest names and without empty leaves.

    See `honest` and `without_empty_leaves`. A leaf that holds rows of its cluster keeps it. So a cluster whose only
    leaf held none of its rows is without a leaf.
    """
    return without_empty_leaves(honest(tree, task, objective), task)


def honest(tree: ThresholdTree, task: Task, objective: str = "mistakes") -> ThresholdTree:
    """Return the tree with a cluster of which it holds rows for each leaf that has rows, but none of its own cluster.

    For the objective "mistakes" it is the cluster of most of the leaf's weight, so fewer rows are in a leaf of another
    cluster. For "cost" it is the cheapest one for the leaf's rows, among those of which it holds rows; the cost may
    rise, as others may be cheaper still. Of equal clusters the first is taken. Rows that are left out do not count.
    """
    refuse_unknown("objective", objective, OBJECTIVES)
    leaf = tree.apply(task.rows, n_jobs=task.n_jobs)
    held = _held(leaf, task, tree.n_leaves)
    clusters = tree.leaf_clusters.copy()
    refuse_misfit(tree, problem := make_problem(task, objective))
    wrong = held.any(axis=1) & (held[np.arange(len(clusters)), clusters] == 0)
    if not wrong.any():
        return tree
    if objective == "mistakes":
        clusters[wrong] = held[wrong].argmax(axis=1)
    else:
        for i in np.flatnonzero(wrong).tolist():
            rows = np.flatnonzero((leaf == i) & task.kept)
            clusters[i] = _cheapest(problem, rows, held[i] > 0)
    return tree.relabeled(clusters)


def without_empty_leaves(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree without leaves that no row reaches, but for rows that are left out.

    The sibling of such a leaf takes the place of the cut above, so every other row keeps its leaf.
    """
    rows = np.bincount(tree.apply(task.rows, n_jobs=task.n_jobs)[task.kept], minlength=tree.n_leaves)
    return without_leaves(tree, rows == 0)


def without_leaves(tree: ThresholdTree, dropped: Bools) -> ThresholdTree:
    """Return the tree without some of its leaves, at least one of which must stay.

    The other side of a cut takes its place if nothing is left of one side.
    """
    if not dropped.any():
        return tree
    stays = np.zeros(tree.n_nodes, dtype=np.bool_)
    stays[tree.leaf_nodes] = ~dropped
    for node in range(tree.n_nodes - 1, 0, -1):
        stays[tree.parent[node]] |= stays[node]
    builder, stack = TreeBuilder(), [(0, 0)]
    while stack:
        node, new = stack.pop()
        while tree.feature[node] >= 0 and not (stays[node + 1] and stays[tree.second[node]]):
            node = node + 1 if stays[node + 1] else int(tree.second[node])
        if tree.feature[node] < 0:
            builder.label(new, int(tree.cluster[node]))
        else:
            cut = int(tree.feature[node]), float(tree.upper[node]), float(tree.lower[node])
            first, second = builder.split(new, *cut)
            stack += ((node + 1, first), (int(tree.second[node]), second))
    return builder.build()


def matched(tree: ThresholdTree, task: Task, objective: str = "mistakes") -> ThresholdTree:
    """Return the tree with its leaves assigned to different clusters, so that most rows are in their cluster's leaf.

    A leaf that holds no row of the cluster left for it gets an honest name instead; see `honest`. The tree must have
    at most as many leaves as there are clusters.
    """
    from scipy.optimize import linear_sum_assignment

    held = _held(tree.apply(task.rows, n_jobs=task.n_jobs), task, tree.n_leaves)
    return honest(tree.relabeled(linear_sum_assignment(held, maximize=True)[1]), task, objective)


def _held(leaf: Indices, task: Task, n_leaves: int) -> Ints:
    """Return the weight of each cluster in each leaf, whole numbers of shape (n_leaves, k)."""
    kept, weights = task.kept, as_whole_weights(task.rows.weights)
    held = np.zeros((n_leaves, task.reference.n_clusters), dtype=np.int64)
    np.add.at(held, (leaf[kept], task.reference.labels[kept]), weights[kept] if len(weights) else 1)
    return held


def _cheapest(problem: Problem, rows: Indices, allowed: Bools) -> int:
    """Return the cheapest cluster for some rows among those that are allowed."""
    total = whole_costs(problem, rows)[0].sum(axis=0)
    return int(np.where(allowed, total, np.iinfo(np.int64).max).argmin())
