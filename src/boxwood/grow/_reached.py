"""The leaf of each row of a task, and the means of rows by leaf, remembered, as one tree is asked for them often."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import Rows
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.reference import Task
from boxwood.reference._centers import Centers, find_centers
from boxwood.tree import ThresholdTree

__all__ = ["centers_reached", "clusters_reached", "leaves_reached", "means_reached", "with_centers_reached"]

REMEMBERED = 1 << 20  # leaves that are remembered for one table, of all its rows and of several trees; or of one tree
MEANS = 8  # trees whose means are remembered for one task

_known: WeakKeyDictionary[Rows, dict[tuple[bytes, ...], Ints]] = WeakKeyDictionary()


def leaves_reached(tree: ThresholdTree, task: Task) -> Indices:
    """Return what `tree.apply(task.rows)` does, shape (n,), as an array that cannot be written.

    Trees that differ in nothing but their clusters share it. Values of rows must not change as long as `Rows` live.
    """
    n_rows, cuts = len(task.rows), _cuts(tree)
    known = _known.setdefault(task.rows, {})
    leaf = known.get(cuts)
    if leaf is None:
        leaf = tree.apply(task.rows, n_jobs=task.n_jobs)
        leaf.flags.writeable = False
        oldest = list(known)[: max(len(known) + 1 - max(REMEMBERED // n_rows, 1), 0)]
        for each in oldest:
            known.pop(each, None)
        known[cuts] = leaf
    return leaf


def clusters_reached(tree: ThresholdTree, task: Task) -> Indices:
    """Return what `tree.predict(task.rows)` does, shape (n,)."""
    return tree.leaf_clusters[leaves_reached(tree, task)]


def means_reached(tree: ThresholdTree, task: Task, labels: Indices | None = None) -> Centers:
    """Return the means of the kept rows by the cluster of their leaf, as `find_centers` does; NaN without rows.

    IN: labels (n,): the cluster of each row's leaf, -1 for rows that are not kept; None if they are not at hand.
    """
    k, known = task.reference.n_clusters, task.means_of_trees
    key = (k, tree.cluster.tobytes(), *_cuts(tree))
    means = known.get(key)
    if means is None:
        if labels is None:
            labels = np.where(task.kept, clusters_reached(tree, task), -1)
        rows = task.rows
        means = find_centers(rows.values, labels, k, SQEUCLIDEAN, rows.weights, n_jobs=task.n_jobs)
        for each in list(known)[: max(len(known) + 1 - MEANS, 0)]:
            known.pop(each, None)
        known[key] = means
    return means


def centers_reached(tree: ThresholdTree, task: Task, labels: Indices | None = None) -> Floats:
    """Return `means_reached`, shape (k, d), with the centre of the reference for a cluster without rows."""
    means = means_reached(tree, task, labels)
    return np.where(np.isnan(means.base), task.reference.centers, means.base + means.offset)


def with_centers_reached(tree: ThresholdTree, task: Task) -> Task:
    """Return the task with `centers_reached` as centres."""
    return task.with_reference(task.reference.with_centers(centers_reached(tree, task)))


def _cuts(tree: ThresholdTree) -> tuple[bytes, ...]:
    return tuple(each.tobytes() for each in (tree.feature, tree.lower, tree.upper, tree.second))
