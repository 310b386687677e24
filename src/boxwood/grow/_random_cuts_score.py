"""The costs of many trees with one leaf for each cluster, from one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Floats, Ints
from boxwood.loops.random_cuts_score import LeafBounds, Trees, add_moves
from boxwood.reference import Task
from boxwood.reference._centers import objective_code
from boxwood.tree import ThresholdTree

__all__ = ["cost_changes"]


def cost_changes(task: Task, trees: Sequence[ThresholdTree], *, objective: str = "sqeuclidean") -> Floats:
    """Return for each tree its cost minus that of the reference, both with the centres of the reference, shape (T,).

    A row in the middle of its cluster takes one comparison for each side of an axis, whatever the number of trees. Only
    for a tree that moves the row to another leaf is the row sent down the tree. So T trees take one pass over the rows,
    plus time for their mistakes. The result does not depend on the number of threads.

    Parameters
    ----------
    task : Task
        Rows, labels and centres.
    trees : sequence of ThresholdTree
        Trees of threshold cuts with one leaf for each cluster of the reference.
    objective : {"l1", "l2", "sqeuclidean"}, default="sqeuclidean"
        Distance of a row to a centre.
    """
    reference, rows, weights = task.reference, task.rows.values, task.rows.weights
    k = reference.n_clusters
    code = objective_code(objective)
    bounds = LeafBounds(*_bounds(trees, k, rows.shape[1]))
    sizes = np.array([tree.n_nodes for tree in trees])
    nodes = (np.concatenate([getattr(tree, name) for tree in trees]) for name in Trees._fields[1:])
    joined = Trees(np.cumsum(sizes) - sizes, *nodes)
    centers = np.ascontiguousarray(reference.centers)
    unweighted = np.empty(0)

    def work(start: int, stop: int) -> Floats:
        last_row, change = np.full(len(trees), -1), np.zeros(len(trees))
        block_weights = unweighted if weights is None else weights[start:stop]
        block = rows[start:stop], reference.labels[start:stop], block_weights
        add_moves(*block, bounds, joined, centers, code, last_row, change)
        return change

    return np.asarray(np.sum(map_blocks(work, len(rows), n_jobs=task.n_jobs), axis=0))


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
