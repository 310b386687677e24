"""Refinement: a tree with the same leaves and better cuts, one cut at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood.grow.refinement._recut import RefinementState, is_past
from boxwood.grow.shared.costs import make_problem, refuse_misfit, unit_of, with_centers
from boxwood.grow.shared.names import centers_reached, with_honest_names
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.reference import Reference, Task
from boxwood.reference.centers import find_centers, without_weightless
from boxwood.tree import ThresholdTree


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

    First, leaves get honest names: a leaf with rows, but none of its own cluster, takes the cheapest cluster among
    those of which it holds rows. Then each step lowers the cost and keeps names honest. With everything below a cut
    fixed, each row has two possible costs, one on each side of the cut. The best feature and threshold for these costs
    are found exactly. Cuts are visited from the bottom up, until a sweep over all of them changes nothing or
    `max_sweeps` is reached. Use it to improve a tree of any other algorithm.

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
        Always holds: it has the same shape as `tree`; a leaf that had rows still has rows; a leaf with rows is named by
        a cluster of which it holds rows; the sum of the rows' costs is not higher than that of `tree` with honest
        names. A leaf changes an honest name only if another leaf has the same one. Rows that are left out do not count.

    Raises
    ------
    DataError
        If rows, labels, centres, weights and tree do not fit together, or every row is left out.

    Notes
    -----
    Rows are sorted once in each column, in time n d log n; of more than 32,768 rows only those near a better cut. Then
    a sweep takes time n d for each level of the tree at most. Memory is n / 2 numbers for each level, and 2.5 n more
    for each of the first levels (at most 256 MB, or those of one level). Cuts are skipped if their rows and subtrees
    have not changed since the last sweep; columns are skipped if sums over 64 bins show that they have no better cut.
    Costs are added exactly, as in `expand`, so the result depends neither on the order of rows nor on threads. Ties go
    to the present cut, then to the lowest feature, then to the lowest threshold. A best cut that would leave a leaf
    without rows, or without rows of its cluster, is not made.

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
    return refine_tree(tree, task, objective, max_sweeps=max_sweeps)


def refine_tree(
    tree: ThresholdTree, task: Task, loss: str, *, max_sweeps: int = 10, deadline: float | None = None
) -> ThresholdTree:
    """Return the tree with its cuts improved; see `refine`.

    At the deadline, on the clock of `time.monotonic`, the tree so far is returned.
    """
    problem = make_problem(task, loss)
    refuse_misfit(tree, task)
    draft = RefinementState(with_honest_names(tree, task, loss), task, problem)
    draft.sweep_often(max_sweeps, deadline)
    return draft.build()


def refined_with_centers(
    tree: ThresholdTree,
    task: Task,
    *,
    max_rounds: int = 10,
    max_sweeps: int = 10,
    tol: float = 0.0,
    deadline: float | None = None,
) -> ThresholdTree:
    """Return the tree with cuts improved for the best centres of the tree's own clusters.

    Centres and cuts are improved in turn, like centres and labels in k-means; each step lowers the cost. Rounds end if
    new centres lower it by a share of less than `tol`, as new cuts would then gain as little. See `refine_tree` for the
    deadline.
    """
    reference, limits = task.reference, task.ranges
    problem = make_problem(task, "cost")
    refuse_misfit(tree, task)
    tree = with_honest_names(tree, task, "cost")
    draft, old, old_unit = None, reference.centers, 0.0
    centers = centers_reached(tree, task)
    for _ in range(max_rounds):
        unit = unit_of(*limits, centers)
        problem = with_centers(problem, centers, unit)
        if draft is None:
            draft = RefinementState(tree, task, problem)
            before = draft.arrays()
        else:
            draft.set_costs(problem, (centers != old).any(axis=1) | (unit != old_unit))
        old, old_unit = centers, unit
        draft.sweep_often(max_sweeps, deadline)
        now = draft.arrays()
        if all(map(np.array_equal, now, before)) or is_past(deadline):
            break
        before, centers = now, centers_reached(draft.build(), task, draft.clusters_of_rows())
        if draft.gain_of(centers) < tol:
            break
    return tree if draft is None else draft.build()


def means_of_labels(task: Task, labels: Indices) -> Floats:
    """Return the mean of the task's rows of each label, shape (k, d); NaN for clusters without weight."""
    weights = task.rows.weights
    labels = without_weightless(labels, weights)
    means = find_centers(task.rows.values, labels, task.reference.n_clusters, SQEUCLIDEAN, weights)
    return means.base + means.offset
