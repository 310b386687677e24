"""ExShallow: Ex-Greedy with a penalty for tests that make rules longer."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Ints
from boxwood._validation import as_whole_weights, finite_number
from boxwood.grow._greedy import NONE, Node, separate
from boxwood.grow._greedy_cuts import NodeCuts
from boxwood.grow._grown import Grown
from boxwood.loops.shallow import best_score
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, between

__all__ = ["grow_shallow", "shallow"]


def shallow(
    X: ArrayLike,
    reference: Reference,
    *,
    depth_penalty: float = 0.03,
    duplicates: str = "error",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of ExShallow: k leaves with one centre in each, grown by cost and by the number of tests.

    The score of a cut adds two terms. The first is its cost in Ex-Greedy (see `greedy`), divided by the cost of the
    node's rows at their nearest centres. The second is `depth_penalty` times the mean number of tests that rows of this
    node will need. Each node gets the cut of lowest score among all features and all thresholds that separate two of
    its centres. Rules are shorter than those of `greedy`; with many clusters the tree is often cheaper too.

    Parameters
    ----------
    X, reference, duplicates, sample_weight, n_jobs
        As for `imm`.
    depth_penalty : float, default=0.03
        Price of a test, as a fraction of the cost of the node's rows; at least 0. The value 0 gives the tree of
        `greedy`.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each distinct centre, and each centre lies in its own leaf.

    Raises
    ------
    DataError
        If centres are equal, or `X`, the reference and the weights do not fit together.
    ValueError
        If `depth_penalty` is negative or not finite.

    Notes
    -----
    The number of tests is predicted: every later cut is assumed to divide rows and centres in the same proportions as
    this one. A test is not counted on a side that an earlier test of the same feature bounds already, because two such
    tests merge into one condition. The paper's code rounds the rows of each predicted node to whole rows. Here they
    stay fractions, so that weights are allowed.

    The price has no bound that depends on k alone. Takes the time and memory of `greedy`, and time k for the predicted
    depth of each cut whose cost does not rule it out: usually few, and (n + k) d for each node at worst. A threshold is
    the midpoint between two neighbouring values of the node's rows and centres. Ties go to the lowest feature, then to
    the lowest threshold.

    References
    ----------
    E. Laber, L. Murtinho, F. Oliveira, "Shallow decision trees for explainable k-means clustering", Pattern Recognition
    137 (2023), doi:10.1016/j.patcog.2022.109239.

    Examples
    --------
    >>> from boxwood import Reference
    >>> X = [[0.0, 5.0], [1.0, 6.0], [0.0, 9.0], [8.0, 5.0], [9.0, 7.0]]
    >>> shallow(X, Reference.of(X, [0, 0, 1, 2, 2])).to_dict()["threshold"]
    4.5
    """
    task = Task.of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs)
    return grow_shallow(task, depth_penalty=depth_penalty, duplicates=duplicates).tree


def grow_shallow(task: Task, *, depth_penalty: float = 0.03, duplicates: str = "error") -> Grown:
    """Return what `shallow` grows for a task."""
    if finite_number("depth_penalty", depth_penalty) < 0:
        raise ValueError(f"depth_penalty must be a number of at least 0, got {depth_penalty}")
    weights = None if task.rows.weights is None else np.where(task.kept, task.rows.weights, 0.0)
    whole = as_whole_weights(weights)

    def best_cut(cuts: NodeCuts, node: Node) -> tuple[int, float]:
        return _best_cut(cuts, node, whole, float(depth_penalty))

    return Grown(separate(task, duplicates, best_cut), "shallow")


def _best_cut(cuts: NodeCuts, node: Node, weights: Ints, penalty: float) -> tuple[int, float]:
    problem, k = cuts.nearest.problem, len(node.clusters)
    base = max(cuts.cost, 1)
    weight = weights[node.rows] if weights.size else np.ones(len(node.rows), dtype=np.int64)
    total, jobs = int(weight.sum()), problem.jobs_for(node.rows)

    def best_of(feature: int) -> tuple[float, int, int, float, float]:
        of_column = cuts.of(feature)
        left = np.concatenate([[0], np.cumsum(weight[of_column.order])])[of_column.rows_left]
        shares = left / total if total > 0 else np.full(len(left), 0.5)
        score, i = best_score(of_column.cost, shares, of_column.centers_left, k, node.tested[feature], base, penalty)
        if i < 0:  # all centres have the same value
            return score, NONE, feature, 0.0, 0.0
        return score, int(of_column.cost[i]), feature, of_column.low[i], of_column.high[i]

    _, _, feature, low, high = min(map_tasks(best_of, range(problem.rows.n_columns), n_jobs=jobs))
    return feature, float(between(low, high))
