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

ROUNDS = 10  # of centres and cuts taking turns


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
    """Return the tree with cuts chosen anew, one at a time, for as long as that lowers the cost.

    With everything below a cut held fixed, a row costs one thing if it is sent to the first side and another if it is
    sent to the second; the best threshold for that is found exactly. Cuts are visited from the bottom up, until a sweep
    over all of them changes nothing. Use it to polish a tree of any other algorithm.

    Parameters
    ----------
    tree : ThresholdTree
        Where to begin. Two-sided cuts are left as they are.
    X, reference, objective, sample_weight, n_jobs
        As for `expand`.
    max_sweeps : int, default=10
        Most sweeps over the cuts.

    Returns
    -------
    ThresholdTree
        Always holds: it has the shape and leaves of `tree`; the sum of the rows' costs is not higher; a leaf that rows
        reached is still reached by some. A leaf changes its cluster only where that cluster has another leaf.

    Raises
    ------
    DataError
        If rows, labels, centres, weights and tree do not fit together, or every row is left out.

    Notes
    -----
    Each sweep takes time n d log n for each level of the tree, and memory for n numbers for each level. Costs are added
    exactly, as in `expand`, so the result depends on neither the order of rows nor threads. Among equally good cuts the
    lowest column wins, then the lowest threshold; a cut that is as good as the best is kept.

    References
    ----------
    M. Á. Carreira-Perpiñán, P. Tavallali, "Alternating optimization of decision trees, with application to learning
    sparse oblique trees", NeurIPS 2018. Here a row's loss is its cost under the cluster of its leaf.

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
    """Return the tree with cuts chosen anew; see `refine`."""
    problem = make_problem(task, objective)
    refuse_misfit(tree, problem)
    draft = _Draft(tree.feature.copy(), tree.upper.copy(), tree.cluster.copy(), tree)
    for _ in range(max_sweeps):
        if not _sweep(draft, problem):
            break
    return draft.build()


def refined_with_centers(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree with cuts of lower cost around the best centres of its own clusters.

    Centres and cuts take turns, as centres and labels do in k-means: the cost falls with either.
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
    """Return the tree with its leaves handed out to the clusters, one to each, by most rows in the right leaf."""
    from scipy.optimize import linear_sum_assignment

    weights = np.ones(len(task.rows)) if task.rows.weights is None else task.rows.weights
    kept, k = task.reference.kept, task.reference.n_clusters
    together = np.zeros((tree.n_leaves, k))
    np.add.at(together, (tree.apply(task.rows)[kept], task.reference.labels[kept]), weights[kept])
    return tree.relabeled(linear_sum_assignment(together, maximize=True)[1])


class _Draft(NamedTuple):
    """A tree whose cuts and clusters may change, but not its shape."""

    feature: Ints
    upper: Floats
    cluster: Ints
    shape: ThresholdTree

    def build(self) -> ThresholdTree:
        return ThresholdTree(self.feature, self.shape.lower, self.upper, self.shape.second, self.cluster)

    def leaves_below(self, X: NDArray[np.floating], node: int) -> Ints:
        """Return the node of the leaf that each row reaches from `node` on; a subtree is a run of nodes."""
        feature, lower, upper = self.feature[node:], self.shape.lower[node:], self.upper[node:]
        nodes, leaves = np.arange(node, self.shape.n_nodes), np.empty(len(X), dtype=np.int64)
        descend(X, feature, lower, upper, self.shape.second[node:] - node, nodes, leaves)
        return leaves


def _sweep(draft: _Draft, problem: Problem) -> bool:
    """Visit every node once, children before parents; return whether anything changed.

    A node's rows depend on the cuts above it only, and these change after it.
    """
    reached = [(node, rows[problem.kept[rows]]) for node, rows, _ in rows_at_nodes(draft.build(), problem.rows.values)]
    changed = False
    for node, rows in reversed(reached):
        if len(rows) == 0:
            continue
        if draft.feature[node] < 0:
            changed |= _relabel(draft, problem, node, rows)
        elif math.isinf(draft.shape.lower[node]):
            changed |= _recut(draft, problem, node, rows)
    return changed


def _relabel(draft: _Draft, problem: Problem, node: int, rows: Indices) -> bool:
    now = draft.cluster[node]
    if np.count_nonzero(draft.cluster == now) == 1:  # the only leaf of its cluster
        return False
    total = whole_costs(problem, rows)[0].sum(axis=0)
    best = int(total.argmin())
    if total[best] >= total[now]:
        return False
    draft.cluster[node] = best
    return True


def _recut(draft: _Draft, problem: Problem, node: int, rows: Indices) -> bool:
    X = problem.rows.values[rows]
    sides = [draft.leaves_below(X, child) for child in (node + 1, int(draft.shape.second[node]))]
    first, second = whole_costs_of(problem, rows, [draft.cluster[leaves] for leaves in sides])
    difference = first - second
    is_first = X[:, draft.feature[node]] <= draft.upper[node]
    now = int(difference[is_first].sum())
    if not (difference[is_first] > 0).any() and not (difference[~is_first] < 0).any():
        return False  # every row lies on its cheaper side

    def best_of(feature: int) -> tuple[int, int, np.float64]:
        values = X[:, feature].astype(np.float64)
        order = np.argsort(values)
        ordered = values[order]
        best, place = best_prefix(ordered, order, difference)
        return best, feature, between(*ordered[place : place + 2]) if place >= 0 else np.float64(math.nan)

    best, feature, threshold = min(map_tasks(best_of, range(X.shape[1]), n_jobs=problem.jobs_for(rows)))
    if best >= now or not _keeps_leaves(sides, is_first, X[:, feature] <= threshold):
        return False
    draft.feature[node], draft.upper[node] = feature, threshold
    return True


def _keeps_leaves(sides: list[Ints], is_first: Bools, will: Bools) -> bool:
    """Return whether leaves below that rows reach now are reached by some row after the change."""
    now, then = (np.unique(np.where(first, *sides)) for first in (is_first, will))
    return bool(np.isin(now, then).all())
