"""The clusters of leaves, chosen by the rows of a task; and the leaf of each row, cached."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import Rows, as_integer_weights, refuse_unknown
from boxwood.grow.shared.costs import LOSSES, CutProblem, integer_costs, make_problem, refuse_misfit
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.metrics.agreements import best_matching
from boxwood.reference import Task
from boxwood.reference.centers import Centers, find_centers
from boxwood.tree import ThresholdTree, TreeBuilder

DIGITS = 40  # binary digits of weights in an assignment, as it is computed in floats


def name_leaves(tree: ThresholdTree, task: Task, loss: str = "mistakes") -> ThresholdTree:
    """Return the tree with honest names and without empty leaves.

    See `with_honest_names` and `without_leaves`. A leaf that holds rows of its cluster keeps its name. A cluster
    whose only leaf holds none of its rows loses that leaf.
    """
    leaf = leaves_reached(tree, task)
    rows = np.bincount(leaf[task.kept], minlength=tree.n_leaves)
    return without_leaves(_with_honest_names(tree, task, loss, leaf), rows == 0)


def with_honest_names(tree: ThresholdTree, task: Task, loss: str = "mistakes") -> ThresholdTree:
    """Return the tree with leaves renamed so that each leaf with rows has a cluster of which it holds rows.

    Only leaves with rows, but none of their own cluster, get another name. For the loss "mistakes" it is the
    cluster with most of the leaf's weight, so fewer rows are in a leaf of another cluster. For "cost" it is the
    cheapest of the clusters of which the leaf holds rows; the cost may rise, as another cluster may be cheaper still.
    Ties go to the first cluster. Rows that are left out do not count.
    """
    return _with_honest_names(tree, task, loss, leaves_reached(tree, task))


def _with_honest_names(tree: ThresholdTree, task: Task, loss: str, leaf: Indices) -> ThresholdTree:
    """Return the same as `with_honest_names`, given the leaf of each row."""
    refuse_unknown("objective", loss, LOSSES)
    weight = _weight_in(leaf, task, tree.n_leaves)
    clusters = tree.leaf_clusters.copy()
    refuse_misfit(tree, task)
    is_dishonest = weight.any(axis=1) & (weight[np.arange(len(clusters)), clusters] == 0)
    if not is_dishonest.any():
        return tree
    if loss == "mistakes":
        clusters[is_dishonest] = weight[is_dishonest].argmax(axis=1)
    else:
        problem = make_problem(task, loss)
        for i in np.flatnonzero(is_dishonest).tolist():
            rows = np.flatnonzero((leaf == i) & task.kept)
            clusters[i] = _cheapest(problem, rows, weight[i] > 0)
    return tree.relabeled(clusters)


def without_leaves(tree: ThresholdTree, dropped: Bools) -> ThresholdTree:
    """Return the tree without some of its leaves, at least one of which must stay.

    If nothing is left of one side of a cut, the other side replaces the cut.
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
            first, second = builder.split(new, *tree.test(node))
            stack += ((node + 1, first), (int(tree.second[node]), second))
    return builder.build()


def match_leaves(tree: ThresholdTree, task: Task, loss: str = "mistakes") -> ThresholdTree:
    """Return the tree with a different cluster for each leaf, chosen so that most rows are in their cluster's leaf.

    A leaf that holds no row of its assigned cluster gets an honest name instead; see `with_honest_names`. The tree must
    not have more leaves than there are clusters.
    """
    return with_honest_names(tree.relabeled(assignment(weight_in_leaves(tree, task), loss)), task, loss)


def assign_clusters(tree: ThresholdTree, task: Task) -> Ints:
    """Return a cluster for each leaf of a tree whose leaves have their own means, shape (n_leaves,).

    If there are no more leaves than clusters, the clusters are different: the assignment for the loss "cost".
    Otherwise each leaf has the commonest cluster of its rows, the first of equals.
    """
    weight = weight_in_leaves(tree, task)
    return weight.argmax(axis=1) if tree.n_leaves > task.reference.n_clusters else assignment(weight, "cost")


def assignment(held: Ints, loss: str) -> Ints:
    """Return a different cluster for each leaf, shape (n_leaves,); there must not be more leaves than clusters.

    `held` is the weight of each cluster in each leaf. For "mistakes" the weight in leaves of its own cluster is
    maximized first, then the number of leaves with rows of their cluster. For "cost" that number comes first: if every
    leaf has rows of its cluster, no honest names are cheaper, as every leaf keeps its own mean.
    """
    weight = held >> max(int(held.sum()).bit_length() - DIGITS, 0)
    most = (held > 0) * (weight.sum() + 1) + weight if loss == "cost" else weight * (len(held) + 1) + (held > 0)
    return best_matching(most)[1]


def weight_in_leaves(tree: ThresholdTree, task: Task) -> Ints:
    """Return the weight of each cluster in each leaf, whole numbers of shape (n_leaves, k)."""
    return _weight_in(leaves_reached(tree, task), task, tree.n_leaves)


def _weight_in(leaf: Indices, task: Task, n_leaves: int) -> Ints:
    """Return the same as `weight_in_leaves`, given the leaf of each row."""
    kept, weights, k = task.kept, task.rows.weights, task.reference.n_clusters
    place = leaf[kept] * k + task.reference.labels[kept]
    if weights is None:
        return np.bincount(place, minlength=n_leaves * k).reshape(n_leaves, k)
    weight = np.zeros(n_leaves * k, dtype=np.int64)
    np.add.at(weight, place, as_integer_weights(np.where(kept, weights, 0.0))[kept])
    return weight.reshape(n_leaves, k)


def _cheapest(problem: CutProblem, rows: Indices, allowed: Bools) -> int:
    """Return the cheapest of the allowed clusters for some rows."""
    total = integer_costs(problem, rows)[0].sum(axis=0)
    return int(np.where(allowed, total, np.iinfo(np.int64).max).argmin())


REMEMBERED = 1 << 20  # leaves of rows that are cached for one table, of several trees; at least those of one tree
MEANS = 8  # trees whose means are cached for one task

_known: WeakKeyDictionary[Rows, dict[tuple[bytes, ...], Ints]] = WeakKeyDictionary()


def leaves_reached(tree: ThresholdTree, task: Task) -> Indices:
    """Return `tree.apply(task.rows)`, shape (n,), as a read-only array, cached for the rows.

    Trees that differ only in the clusters of leaves share it. The values of `task.rows` must not change.
    """
    n_rows, cuts = task.n_rows, _cuts(tree)
    known = _known.setdefault(task.rows, {})
    leaf = known.get(cuts)
    if leaf is None:
        leaf = tree.apply(task.rows, n_jobs=task.n_jobs)
        leaf.flags.writeable = False
        oldest = list(known)[: max(len(known) + 1 - max(REMEMBERED // n_rows, 1), 0)]
        for key in oldest:
            known.pop(key, None)
        known[cuts] = leaf
    return leaf


def clusters_reached(tree: ThresholdTree, task: Task) -> Indices:
    """Return `tree.predict(task.rows)`, shape (n,), by `leaves_reached`."""
    return tree.leaf_clusters[leaves_reached(tree, task)]


def means_reached(tree: ThresholdTree, task: Task, labels: Indices | None = None) -> Centers:
    """Return the means of the kept rows by the cluster of their leaf, as by `find_centers`; NaN without rows.

    IN: labels (n,): the cluster of each row's leaf, -1 for rows that are not kept; None computes them.
    """
    k, known = task.reference.n_clusters, task.means_of_trees
    key = (k, tree.cluster.tobytes(), *_cuts(tree))
    means = known.get(key)
    if means is None:
        if labels is None:
            labels = np.where(task.kept, clusters_reached(tree, task), -1)
        rows = task.rows
        means = find_centers(rows.values, labels, k, SQEUCLIDEAN, rows.weights, n_jobs=task.n_jobs)
        for oldest in list(known)[: max(len(known) + 1 - MEANS, 0)]:
            known.pop(oldest, None)
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
