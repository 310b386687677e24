"""Ex-Greedy: the tree that at each node separates the centres at the lowest cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Floats, Indices
from boxwood.grow._costs import Problem, make_problem, whole_costs
from boxwood.loops.greedy import best_separation
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree, TreeBuilder, between

__all__ = ["greedy"]


def greedy(
    X: ArrayLike,
    reference: Reference,
    *,
    duplicates: str = "error",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return a tree with k leaves, one centre in each, grown by the cost of rows at the nearest centre on their side.

    At each node the cut is chosen, among all columns and all thresholds that separate two of the node's centres, for
    which the squared distances of the node's rows to the nearest centre on their own side of the cut add up to least.
    In practice often cheaper than IMM where clusters overlap.

    Parameters
    ----------
    X, reference, duplicates, sample_weight, n_jobs
        As for `imm`.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each distinct centre, and each centre lies in its own leaf.

    Raises
    ------
    DataError
        If centres are equal, or `X`, the reference and the weights do not fit together.

    Notes
    -----
    The price is O(n) in the worst case: there is no bound that depends on k alone. Takes time n d (log n + k) for
    each level of the tree, and memory for 3 n k numbers. A threshold is the midpoint between the two neighbouring
    values among the node's rows and centres. Ties go to the lowest column, then the lowest threshold.

    References
    ----------
    E. Laber, L. Murtinho, "On the price of explainability for some clustering problems", ICML 2021, section 5.

    Examples
    --------
    >>> from boxwood import Reference
    >>> X = [[0.0, 5.0], [1.0, 6.0], [0.0, 9.0], [8.0, 5.0], [9.0, 7.0]]
    >>> greedy(X, Reference.of(X, [0, 0, 1, 2, 2])).to_dict()["threshold"]
    4.5
    """
    problem = make_problem(X, reference, "cost", sample_weight, n_jobs)
    reference = reference.with_distinct_centers(duplicates)
    centers = reference.centers
    builder = TreeBuilder()
    waiting = [(0, np.flatnonzero(problem.kept), np.unique(reference.first_of_equal_centers()))]
    while waiting:
        node, rows, clusters = waiting.pop()
        if len(clusters) == 1:
            builder.label(node, int(clusters[0]))
            continue
        feature, threshold = _best_cut(problem, centers, rows, clusters)
        left, right = builder.split(node, feature, threshold)
        rows_left, clusters_left = problem.X[rows, feature] <= threshold, centers[clusters, feature] <= threshold
        waiting.append((right, rows[~rows_left], clusters[~clusters_left]))
        waiting.append((left, rows[rows_left], clusters[clusters_left]))
    return builder.build()


def _best_cut(problem: Problem, centers: Floats, rows: Indices, clusters: Indices) -> tuple[int, np.float64]:
    costs = np.ascontiguousarray(whole_costs(problem, rows)[0][:, clusters])

    def best_of(feature: int) -> tuple[int, int, float, float]:
        values = problem.X[rows, feature].astype(np.float64)
        order = np.argsort(values)
        by_center = np.argsort(centers[clusters, feature], kind="stable")
        ends = centers[clusters[by_center], feature]
        cost, low, high = best_separation(values[order], order, costs, ends, by_center)
        return cost, feature, low, high

    _, feature, low, high = min(map_tasks(best_of, range(problem.X.shape[1]), n_jobs=problem.jobs_for(rows)))
    return feature, between(low, high)
