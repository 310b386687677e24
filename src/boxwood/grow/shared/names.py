"""The clusters that name leaves, and the leaf of each row of a task, remembered."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import Rows, as_whole_weights, refuse_unknown
from boxwood.grow.shared.costs import OBJECTIVES, Problem, make_problem, refuse_misfit, whole_costs
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.reference import Task
from boxwood.reference.centers import Centers, find_centers
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = [
    "assigned",
    "assignment",
    "centers_reached",
    "clusters_reached",
    "honest",
    "leaves_reached",
    "matched",
    "means_reached",
    "named",
    "weight_in",
    "with_centers_reached",
    "without_empty_leaves",
    "without_leaves",
]

DIGITS = 40  # binary digits of weights by which assignments are made, as they are made in floats


def named(tree: ThresholdTree, task: Task, objective: str = "mistakes") -> ThresholdTree:
    """Return the tree with honest names and without empty leaves.

    See `honest` and `without_empty_leaves`. A leaf that holds rows of its cluster keeps it. So a cluster whose only
    leaf held none of its rows is without a leaf.
    """
    leaf = leaves_reached(tree, task)
    rows = np.bincount(leaf[task.kept], minlength=tree.n_leaves)
    return without_leaves(_honest(tree, task, objective, leaf), rows == 0)


def honest(tree: ThresholdTree, task: Task, objective: str = "mistakes") -> ThresholdTree:
    """Return the tree with a cluster of which it holds rows for each leaf that has rows, but none of its own cluster.

    For the objective "mistakes" it is the cluster of most of the leaf's weight, so fewer rows are in a leaf of another
    cluster. For "cost" it is the cheapest one for the leaf's rows, among those of which it holds rows; the cost may
    rise, as others may be cheaper still. Of equal clusters the first is taken. Rows that are left out do not count.
    """
    return _honest(tree, task, objective, leaves_reached(tree, task))


def _honest(tree: ThresholdTree, task: Task, objective: str, leaf: Indices) -> ThresholdTree:
    """Return what `honest` does, by the leaf of each row."""
    refuse_unknown("objective", objective, OBJECTIVES)
    held = _held(leaf, task, tree.n_leaves)
    clusters = tree.leaf_clusters.copy()
    refuse_misfit(tree, task)
    wrong = held.any(axis=1) & (held[np.arange(len(clusters)), clusters] == 0)
    if not wrong.any():
        return tree
    if objective == "mistakes":
        clusters[wrong] = held[wrong].argmax(axis=1)
    else:
        problem = make_problem(task, objective)
        for i in np.flatnonzero(wrong).tolist():
            rows = np.flatnonzero((leaf == i) & task.kept)
            clusters[i] = _cheapest(problem, rows, held[i] > 0)
    return tree.relabeled(clusters)


def without_empty_leaves(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree without leaves that no row reaches, but for rows that are left out.

    The sibling of such a leaf takes the place of the cut above, so every other row keeps its leaf.
    """
    rows = np.bincount(leaves_reached(tree, task)[task.kept], minlength=tree.n_leaves)
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
    return honest(tree.relabeled(assignment(weight_in(tree, task), objective)), task, objective)


def assigned(tree: ThresholdTree, task: Task) -> Ints:
    """Return a cluster for each leaf of a tree whose leaves have their own means, shape (n_leaves,).

    Up to as many leaves as clusters have different clusters, by the assignment for the objective "cost". More leaves
    have the commonest cluster of their rows, the first of equals.
    """
    held = weight_in(tree, task)
    return held.argmax(axis=1) if tree.n_leaves > task.reference.n_clusters else assignment(held, "cost")


def assignment(held: Ints, objective: str) -> Ints:
    """Return different clusters for leaves, shape (n_leaves,), which must not be more than the clusters.

    `held` is the weight of each cluster in each leaf. For "mistakes" most weight is in the leaf of its cluster, and of
    equal assignments that is taken in which most leaves hold rows of their cluster. For "cost" it is the other way
    round: where every leaf holds rows of its cluster, no honest names are cheaper, as every leaf keeps its own mean.
    """
    from scipy.optimize import linear_sum_assignment

    weight = held >> max(int(held.sum()).bit_length() - DIGITS, 0)
    most = (held > 0) * (weight.sum() + 1) + weight if objective == "cost" else weight * (len(held) + 1) + (held > 0)
    return np.asarray(linear_sum_assignment(most, maximize=True)[1])


def weight_in(tree: ThresholdTree, task: Task) -> Ints:
    """Return the weight of each cluster in each leaf, whole numbers of shape (n_leaves, k)."""
    return _held(leaves_reached(tree, task), task, tree.n_leaves)


def _held(leaf: Indices, task: Task, n_leaves: int) -> Ints:
    """Return `weight_in` by the leaf of each row."""
    kept, weights, k = task.kept, task.rows.weights, task.reference.n_clusters
    place = leaf[kept] * k + task.reference.labels[kept]
    if weights is None:
        return np.bincount(place, minlength=n_leaves * k).reshape(n_leaves, k)
    held = np.zeros(n_leaves * k, dtype=np.int64)
    np.add.at(held, place, as_whole_weights(np.where(kept, weights, 0.0))[kept])
    return held.reshape(n_leaves, k)


def _cheapest(problem: Problem, rows: Indices, allowed: Bools) -> int:
    """Return the cheapest cluster for some rows among those that are allowed."""
    total = whole_costs(problem, rows)[0].sum(axis=0)
    return int(np.where(allowed, total, np.iinfo(np.int64).max).argmin())


REMEMBERED = 1 << 20  # leaves that are remembered for one table, of all its rows and of several trees; or of one tree
MEANS = 8  # trees whose means are remembered for one task

_known: WeakKeyDictionary[Rows, dict[tuple[bytes, ...], Ints]] = WeakKeyDictionary()


def leaves_reached(tree: ThresholdTree, task: Task) -> Indices:
    """Return what `tree.apply(task.rows)` does, shape (n,), as an array that cannot be written.

    Trees that differ in nothing but their clusters share it. Values of rows must not change as long as `Rows` live.
    """
    n_rows, cuts = task.n_rows, _cuts(tree)
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
