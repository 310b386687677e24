"""Refinement: a tree with the same leaves and better cuts, one cut at a time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._threads import map_tasks
from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.grow._costs import Problem, make_problem, refuse_misfit, whole_costs, whole_costs_of
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.loops.expand import best_prefix
from boxwood.loops.walk import descend
from boxwood.reference import Reference, Task
from boxwood.reference._centers import find_centers, without_weightless
from boxwood.tree import ThresholdTree, between, rows_at_nodes

__all__ = ["matched", "means_of", "refine", "refined", "refined_with_centers"]

ROUNDS = 10  # in which centres and cuts are improved in turn


def refine(
    tree: ThresholdTree,
    X: ArrayLike,
    reference: Reference,
    *,
    objective: str = "cost",
    max_sweeps: int = 10,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree with its cuts improved one at a time, until no change of a single cut lowers the cost.

    If everything below a cut is fixed, each row has two possible costs: one if it goes to the first side, another if it
    goes to the second. The best feature and threshold for these costs are found exactly. Cuts are visited from the
    bottom up, until a sweep over all cuts changes nothing or `max_sweeps` is reached. Use it to improve a tree of any
    other algorithm.

    Parameters
    ----------
    tree : ThresholdTree
        Tree to begin with. Two-sided cuts are not changed.
    X, reference, objective, sample_weight, n_jobs
        As for `expand`.
    max_sweeps : int, default=10
        Largest number of sweeps over the cuts.

    Returns
    -------
    ThresholdTree
        Always holds: it has the same shape and leaves as `tree`; the sum of the rows' costs is not higher; a leaf that
        had rows still has rows. A leaf changes its cluster only if another leaf has that cluster too.

    Raises
    ------
    DataError
        If rows, labels, centres, weights and tree do not fit together, or every row is left out.

    Notes
    -----
    Each sweep takes time n d log n for each level of the tree, and memory for 2 n numbers for each level. Cuts that
    cannot change after the sweep before, for their rows and all below them are the same, are passed over. Costs are
    added exactly, as in `expand`, so the result depends neither on the order of rows nor on threads. Ties go to the cut
    that is there already, then to the lowest feature, then to the lowest threshold.

    References
    ----------
    M. Á. Carreira-Perpiñán, P. Tavallali, "Alternating optimization of decision trees, with application to learning
    sparse oblique trees", NeurIPS 2018. Here the loss of a row is its cost under the cluster of its leaf.

    Examples
    --------
    >>> from boxwood import Reference, ThresholdTree
    >>> X = [[0.0, 3.0], [1.0, 4.0], [2.0, 1.0], [3.0, 2.0]]
    >>> cut = {"feature": 0, "threshold": 0.5, "left": {"cluster": 0}, "right": {"cluster": 1}}
    >>> tree = ThresholdTree.from_dict(cut)
    >>> refine(tree, X, Reference.of(X, [0, 0, 1, 1])).to_dict()["threshold"]
    1.5
    """
    if max_sweeps < 1:
        raise ValueError(f"max_sweeps must be at least 1, got {max_sweeps}")
    task = Task.of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs)
    return refined(tree, task, objective, max_sweeps=max_sweeps)


def refined(tree: ThresholdTree, task: Task, objective: str, *, max_sweeps: int = 10) -> ThresholdTree:
    """Return the tree with its cuts improved; see `refine`."""
    problem = make_problem(task, objective)
    refuse_misfit(tree, problem)
    draft = _Draft(tree.feature.copy(), tree.upper.copy(), tree.cluster.copy(), tree)
    before: list[Indices] = []
    for _ in range(max_sweeps):
        changed, before = _sweep(draft, problem, before)
        if not changed:
            break
    return draft.build()


def refined_with_centers(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree with cuts improved for the best centres of the tree's own clusters.

    Centres and cuts are improved in turn, as k-means does with centres and labels; each step lowers the cost.
    """
    reference = task.reference
    for _ in range(ROUNDS):
        predicted = np.where(reference.kept, tree.predict(task.rows), -1)
        centers = means_of(task, predicted)
        centers = np.where(np.isnan(centers), reference.centers, centers)
        better = refined(tree, task.with_reference(reference.with_centers(centers)), "cost")
        if better == tree:
            break
        tree = better
    return tree


def means_of(task: Task, labels: Indices) -> Floats:
    """Return the mean of the task's rows of each label, shape (k, d); NaN for clusters without weight."""
    weights = task.rows.weights
    labels = without_weightless(labels, weights)
    means = find_centers(task.rows.values, labels, task.reference.n_clusters, SQEUCLIDEAN, weights)
    return means.base + means.offset


def matched(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree with one leaf for each cluster, assigned so that most rows are in their cluster's leaf."""
    from scipy.optimize import linear_sum_assignment

    weights = np.ones(len(task.rows)) if task.rows.weights is None else task.rows.weights
    kept, k = task.reference.kept, task.reference.n_clusters
    weight_in = np.zeros((tree.n_leaves, k))  # of each cluster in each leaf
    np.add.at(weight_in, (tree.apply(task.rows)[kept], task.reference.labels[kept]), weights[kept])
    return tree.relabeled(linear_sum_assignment(weight_in, maximize=True)[1])


class _Draft(NamedTuple):
    """A tree of fixed shape, whose cuts and clusters may change."""

    feature: Ints
    upper: Floats
    cluster: Ints
    shape: ThresholdTree

    def build(self) -> ThresholdTree:
        return ThresholdTree(self.feature, self.shape.lower, self.upper, self.shape.second, self.cluster)

    def leaves_below(self, X: NDArray[np.floating], node: int) -> Ints:
        """Return the leaf, as a node, that each row reaches from `node`; a subtree is a run of nodes."""
        feature, lower, upper = self.feature[node:], self.shape.lower[node:], self.upper[node:]
        nodes, leaves = np.arange(node, self.shape.n_nodes), np.empty(len(X), dtype=np.int64)
        descend(X, feature, lower, upper, self.shape.second[node:] - node, nodes, leaves)
        return leaves


def _sweep(draft: _Draft, problem: Problem, before: list[Indices]) -> tuple[bool, list[Indices]]:
    """Visit every node once, children before parents; return whether anything changed, and the rows of each node.

    A node's rows depend only on the cuts above it, and these change later in the sweep. A cut is at its best after the
    sweep before, in which it had the rows `before`; the first sweep has none. So it is passed over if it has the same
    rows again and nothing below it has changed.
    """
    shape = draft.shape
    reached = [rows[problem.kept[rows]] for _, rows, _ in rows_at_nodes(draft.build(), problem.rows.values)]
    changed = np.zeros(shape.n_nodes, dtype=np.bool_)  # whether a node or one below it has changed in this sweep
    for node in range(shape.n_nodes - 1, -1, -1):
        rows = reached[node]
        if draft.feature[node] < 0:
            changed[node] = len(rows) > 0 and _relabel(draft, problem, node, rows)
            continue
        below = changed[node + 1] or changed[shape.second[node]]
        may_change = len(rows) > 0 and math.isinf(shape.lower[node])
        if may_change and (below or not before or not np.array_equal(before[node], rows)):
            changed[node] = _recut(draft, problem, node, rows)
        changed[node] |= below
    return bool(changed[0]), reached


def _relabel(draft: _Draft, problem: Problem, node: int, rows: Indices) -> bool:
    cluster = draft.cluster[node]
    if np.count_nonzero(draft.cluster == cluster) == 1:  # the only leaf of its cluster
        return False
    total = whole_costs(problem, rows)[0].sum(axis=0)
    best = int(total.argmin())
    if total[best] >= total[cluster]:
        return False
    draft.cluster[node] = best
    return True


def _recut(draft: _Draft, problem: Problem, node: int, rows: Indices) -> bool:
    X = problem.rows.values[rows]
    sides = [draft.leaves_below(X, child) for child in (node + 1, int(draft.shape.second[node]))]
    first, second = whole_costs_of(problem, rows, [draft.cluster[leaves] for leaves in sides])
    difference = first - second
    is_first = X[:, draft.feature[node]] <= draft.upper[node]
    current = int(difference[is_first].sum())
    if not (difference[is_first] > 0).any() and not (difference[~is_first] < 0).any():
        return False  # every row lies on its cheaper side

    def best_of(feature: int) -> tuple[int, int, list[float]]:
        values = X[:, feature].astype(np.float64)
        order = np.argsort(values)
        ordered = values[order]
        best, last = best_prefix(ordered, order, difference)
        return best, feature, ordered[last : last + 2].tolist()

    best, feature, gap = min(map_tasks(best_of, range(X.shape[1]), n_jobs=problem.jobs_for(rows)))
    if best >= current:
        return False
    threshold = between(*gap)
    if not _keeps_leaves(sides, is_first, X[:, feature] <= threshold):
        return False
    draft.feature[node], draft.upper[node] = feature, threshold
    return True


def _keeps_leaves(sides: list[Ints], is_first: Bools, will_be_first: Bools) -> bool:
    """Return whether every leaf that has rows before a change has rows after it."""
    before, after = (np.unique(np.where(first, *sides)) for first in (is_first, will_be_first))
    return bool(np.isin(before, after).all())
