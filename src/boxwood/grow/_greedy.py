"""Ex-Greedy: the tree that at each node separates the centres at the lowest cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Bools, Floats, Indices
from boxwood.grow._costs import Problem, make_problem, whole_costs
from boxwood.grow._grown import Grown, Split, grow_by_cuts
from boxwood.loops.greedy import best_separation
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, between

__all__ = ["Node", "greedy", "grow_greedy", "separate"]


def greedy(
    X: ArrayLike,
    reference: Reference,
    *,
    duplicates: str = "error",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of Ex-Greedy: k leaves with one centre in each, and the cheapest cut at every node.

    The cost of a cut is the sum, over the node's rows, of the squared distance to the nearest centre on the row's side
    of the cut. Each node gets the cut of lowest cost among all features and all thresholds that separate two of the
    node's centres. In practice the tree is often cheaper than that of IMM if clusters overlap.

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
    each level of the tree, and memory for 3 n k numbers. A threshold is the midpoint between two neighbouring values of
    the node's rows and centres. Ties go to the lowest feature, then to the lowest threshold.

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
    task = Task.of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs)
    return grow_greedy(task, duplicates=duplicates).tree


def grow_greedy(task: Task, *, duplicates: str = "error") -> Grown:
    """Return what `greedy` grows for a task."""
    return Grown(separate(task, duplicates, _best_cut), "greedy")


class Node(NamedTuple):
    """The rows of a node, the clusters whose centres lie in it, and the sides of the cuts above it."""

    rows: Indices
    clusters: Indices
    tested: Bools  # (d, 2): whether the node is left, or right, of a cut of this feature above it


def separate(
    task: Task, duplicates: str, best_cut: Callable[[Problem, Floats, Node], tuple[int, float]]
) -> ThresholdTree:
    """Return a tree with one leaf for each centre; `best_cut` chooses each cut from costs, centres and a node."""
    reference = task.reference.with_distinct_centers(duplicates)
    problem = make_problem(task, "cost")

    def step(node: Node) -> int | Split[Node]:
        if len(node.clusters) == 1:
            return int(node.clusters[0])
        feature, threshold = best_cut(problem, reference.centers, node)
        left = reference.centers[node.clusters, feature] <= threshold
        rows_left = task.rows.is_first(node.rows, feature, -np.inf, threshold)
        on_left, on_right = node.tested.copy(), node.tested.copy()
        on_left[feature, 0] = on_right[feature, 1] = True
        first = Node(node.rows[rows_left], node.clusters[left], on_left)
        return Split(feature, threshold, first, Node(node.rows[~rows_left], node.clusters[~left], on_right))

    clusters = np.unique(reference.first_of_equal_centers())
    untested = np.zeros((task.rows.n_columns, 2), dtype=np.bool_)
    return grow_by_cuts(Node(np.flatnonzero(task.kept), clusters, untested), step)


def _best_cut(problem: Problem, centers: Floats, node: Node) -> tuple[int, float]:
    rows, clusters, _ = node
    costs = np.ascontiguousarray(whole_costs(problem, rows)[0][:, clusters])

    def best_of(feature: int) -> tuple[int, int, float, float]:
        values = problem.rows.column(feature, rows)
        order = np.argsort(values)
        by_center = np.argsort(centers[clusters, feature], kind="stable")
        ends = centers[clusters[by_center], feature]
        cost, low, high = best_separation(values[order], order, costs, ends, by_center)
        return cost, feature, low, high

    _, feature, low, high = min(map_tasks(best_of, range(problem.rows.n_columns), n_jobs=problem.jobs_for(rows)))
    return feature, float(between(low, high))
