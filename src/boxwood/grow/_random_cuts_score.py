"""What many trees of one leaf a cluster cost, from one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Floats, Ints
from boxwood.loops.random_cuts_score import add_moves
from boxwood.reference import Task
from boxwood.reference._centers import objective_code
from boxwood.tree import ThresholdTree

__all__ = ["cost_changes"]


def cost_changes(task: Task, trees: Sequence[ThresholdTree], *, objective: str = "sqeuclidean") -> Floats:
    """Return for each tree its cost minus that of the reference, both with the centres of the reference, shape (T,).

    A row in the middle of its cluster takes one comparison for each side of an axis, whatever the number of trees; one
    that a tree moves to another leaf takes the way there besides. So T trees take one pass over the data and the
    time of their mistakes. The result does not depend on the number of threads.

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
    starts, bounds, owners = _bounds(trees, k, rows.shape[1])
    sizes = np.array([tree.n_nodes for tree in trees])
    feature, upper, second, cluster = (
        np.concatenate([getattr(tree, name) for tree in trees]) for name in ("feature", "upper", "second", "cluster")
    )
    cuts = starts, bounds, owners, np.cumsum(sizes) - sizes, feature, upper, second, cluster
    centers = np.ascontiguousarray(reference.centers)
    unweighted = np.empty(0)

    def work(start: int, stop: int) -> Floats:
        seen, change = np.full(len(trees), -1), np.zeros(len(trees))
        block_weights = unweighted if weights is None else weights[start:stop]
        block = rows[start:stop], reference.labels[start:stop], block_weights
        add_moves(*block, *cuts, centers, code, seen, change)
        return change

    return np.asarray(np.sum(map_blocks(work, len(rows), n_jobs=task.n_jobs), axis=0))


def _bounds(trees: Sequence[ThresholdTree], k: int, d: int) -> tuple[Ints, Floats, Ints]:
    """Return the cuts on the way to each cluster's leaf by cluster, axis and side, the innermost first."""
    places, bounds, owners = [np.empty(0, np.int64)], [np.empty(0)], [np.empty(0, np.int64)]
    for number, tree in enumerate(trees):
        node, cluster = tree.leaf_nodes, tree.leaf_clusters
        while (alive := tree.parent[node] >= 0).any():
            child, cluster = node[alive], cluster[alive]
            node = tree.parent[child]
            below = child != node + 1  # the leaf lies above the cut, which bounds it from below
            places.append(2 * (cluster * d + tree.feature[node]) + below)
            bounds.append(tree.upper[node])
            owners.append(np.full(len(node), number))
    place, bound, owner = np.concatenate(places), np.concatenate(bounds), np.concatenate(owners)
    order = np.lexsort((owner, np.where(place % 2 == 1, -bound, bound), place))
    starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=2 * k * d))])
    return starts.astype(np.int64), bound[order], owner[order]
