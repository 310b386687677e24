"""Ex-Greedy: the tree that at each node separates the centres at the lowest cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Bools, Indices, Ints
from boxwood._validation import as_whole_weights
from boxwood.grow._costs import make_problem
from boxwood.grow._greedy_cuts import Nearest, NodeCuts
from boxwood.grow._grown import Grown, Split, grow_by_cuts
from boxwood.grow._ties import EqualCuts, TieBreak
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, between

__all__ = ["NONE", "Node", "greedy", "grow_greedy", "separate"]

NONE = int(np.iinfo(np.int64).max)  # the cost of a cut where there is none, above all others


def greedy(
    X: ArrayLike,
    reference: Reference,
    *,
    duplicates: str = "error",
    tie_break: str = "first",
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of Ex-Greedy: k leaves with one centre in each, and the cheapest cut at every node.

    The cost of a cut is the sum, over the node's rows, of the squared distance to the nearest centre on the row's side
    of the cut. Each node gets the cut of lowest cost among all features and all thresholds that separate two of the
    node's centres. In practice the tree is often cheaper than that of IMM if clusters overlap.

    Parameters
    ----------
    X, reference, duplicates, sample_weight, random_state, n_jobs
        As for `imm`.
    tie_break : {"first", "margin", "balanced", "random"}, default="first"
        Choice among cuts of equally low cost. "first" takes the lowest feature, then the lowest threshold. "margin"
        takes the cut whose threshold lies farthest from the nearest row or centre of the node, as a fraction of the
        range of the node's centres in that column. "balanced" takes the cut with the most equal weights of rows on its
        two sides. "random" takes each with equal probability. Ties that remain go to the first.

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
    The price is O(n) in the worst case: there is no bound that depends on k alone. A threshold is the midpoint between
    two neighbouring values of the node's rows and centres.

    Takes time n k d once, and usually n d log n for each level of the tree: a row counts only at the cuts between it
    and its nearest centre, and lists of the 32 nearest centres of each row say what it costs there. The worst case,
    in which the lists say nothing and every cut takes one centre away, is k levels of time n d² k. Memory: 12 bytes for
    each row and listed centre, and about 80 bytes for each row in each column that is searched at a time. Any
    `tie_break` but "first" takes twice the time.

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
    task = Task.of(X, reference, sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs)
    return grow_greedy(task, duplicates=duplicates, tie_break=tie_break).tree


def grow_greedy(task: Task, *, duplicates: str = "error", tie_break: str = "first") -> Grown:
    """Return what `greedy` grows for a task."""
    ties = TieBreak(tie_break, task.random_state)
    weights = np.ones(len(task.rows)) if task.rows.weights is None else task.rows.weights
    whole = as_whole_weights(np.where(task.kept, weights, 0.0))

    def best_cut(cuts: NodeCuts, node: Node) -> tuple[int, float]:
        return _best_cut(cuts, ties, whole)

    return Grown(separate(task, duplicates, best_cut), "greedy")


class Node(NamedTuple):
    """The rows of a node, the clusters whose centres lie in it, and the sides of the cuts above it."""

    rows: Indices
    clusters: Indices
    tested: Bools  # (d, 2): whether the node is left, or right, of a cut of this feature above it


def separate(task: Task, duplicates: str, best_cut: Callable[[NodeCuts, Node], tuple[int, float]]) -> ThresholdTree:
    """Return a tree with one leaf for each centre; `best_cut` chooses each cut among those of a node."""
    reference = task.reference.with_distinct_centers(duplicates)
    all_rows = np.flatnonzero(task.kept)
    nearest = Nearest(task, make_problem(task, "cost"), all_rows)

    def step(node: Node) -> int | Split[Node]:
        if len(node.clusters) == 1:
            return int(node.clusters[0])
        feature, threshold = best_cut(nearest.cuts_at(node.rows, node.clusters), node)
        left = reference.centers[node.clusters, feature] <= threshold
        rows_left = task.rows.is_first(node.rows, feature, -np.inf, threshold)
        on_left, on_right = node.tested.copy(), node.tested.copy()
        on_left[feature, 0] = on_right[feature, 1] = True
        first = Node(node.rows[rows_left], node.clusters[left], on_left)
        return Split(feature, threshold, first, Node(node.rows[~rows_left], node.clusters[~left], on_right))

    clusters = np.unique(reference.first_of_equal_centers())
    untested = np.zeros((task.rows.n_columns, 2), dtype=np.bool_)
    return grow_by_cuts(Node(all_rows, clusters, untested), step)


def _best_cut(cuts: NodeCuts, ties: TieBreak, weights: Ints) -> tuple[int, float]:
    problem, rows = cuts.nearest.problem, cuts.rows
    jobs = problem.jobs_for(rows)

    def best_of(feature: int) -> tuple[int, int, float, float]:
        of_column = cuts.of(feature)
        if len(of_column.cost) == 0:  # all centres have the same value
            return NONE, feature, 0.0, 0.0
        i = int(of_column.cost.argmin())
        return int(of_column.cost[i]), feature, of_column.low[i], of_column.high[i]

    found = map_tasks(best_of, range(problem.rows.n_columns), n_jobs=jobs)
    least, feature, low, high = min(found)
    if ties.is_first:
        return feature, float(between(low, high))

    def equal_in(feature: int) -> EqualCuts:
        of_column = cuts.of(feature)
        equal = of_column.cost == least
        at_centers = cuts.nearest.centers[cuts.clusters, feature]
        ordered = rows[of_column.order]
        by_value = problem.rows.column(feature, ordered), weights[ordered]
        return EqualCuts.of_column(feature, None, of_column.low[equal], of_column.high[equal], at_centers, by_value)

    equal_cuts = EqualCuts.joined(map_tasks(equal_in, [entry[1] for entry in found if entry[0] == least], n_jobs=jobs))
    i = ties.chosen(equal_cuts)
    return int(equal_cuts.feature[i]), float(equal_cuts.threshold[i])
