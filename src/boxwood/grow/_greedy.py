"""Ex-Greedy: the tree that at each node separates the centres at the lowest cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Ints
from boxwood._validation import as_whole_weights
from boxwood.grow._costs import make_problem
from boxwood.grow._greedy_cuts import Cut, Nearest, Node, NodeCuts
from boxwood.grow._grown import Grown, Split, grow_by_cuts
from boxwood.grow._methods import METHODS
from boxwood.grow._ties import EqualCuts, TieBreak
from boxwood.passes import Source, TableReference, task_of
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

__all__ = ["greedy", "grow_greedy", "lists_of", "separate"]

NONE = int(np.iinfo(np.int64).max)  # the cost of a cut where there is none, above all others


def greedy(
    X: ArrayLike | Source,
    reference: Reference | TableReference,
    *,
    duplicates: str = "error",
    tie_break: str = "first",
    sample_weight: ArrayLike | str | None = None,
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
        two sides. "random" takes each with equal probability. Ties that remain go to the first. For a table in batches
        there is "first" alone.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each distinct centre, and each centre lies in its own leaf.

    Raises
    ------
    DataError
        If centres are equal, or `X`, the reference and the weights do not fit together; or if another `tie_break` than
        "first" is asked for of a table in batches.

    Notes
    -----
    A table in batches takes two passes, and two or three for each level of the tree.

    The price is O(n) in the worst case: there is no bound that depends on k alone. A threshold is the midpoint between
    two neighbouring values of the node's rows and centres.

    Takes time n k d and n d log n once, and usually n d for each level of the tree: a row counts only at the cuts
    between it and its nearest centre, and lists of the 32 nearest centres of each row (64 in wide tables that are not
    large) say what it costs there. The worst case, in which the lists say nothing and every cut takes one centre away,
    is k levels of time n d² k. Memory: 12 bytes for each row and listed centre, 8 for each row and column, and about 40
    for each row in each column that is searched at a time. Any `tie_break` but "first" takes twice the time.

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
    task = task_of(X, reference, sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs)
    return METHODS["greedy"].grow(task, duplicates=duplicates, tie_break=tie_break).tree


def grow_greedy(task: Task, *, duplicates: str = "error", tie_break: str = "first") -> Grown:
    """Return what `greedy` grows for a task."""
    ties = TieBreak(tie_break, task.random_state)
    weights = np.ones(len(task.rows)) if task.rows.weights is None else task.rows.weights
    whole = as_whole_weights(np.where(task.kept, weights, 0.0))

    def best_cut(cuts_at: Callable[[Node], NodeCuts], node: Node) -> Cut:
        cuts = cuts_at(node)
        return cuts.best([0.0])[0] if ties.is_first else _chosen_cut(cuts, ties, whole)

    return Grown(separate(task, duplicates, best_cut), "greedy")


def separate(
    task: Task,
    duplicates: str,
    best_cut: Callable[[Callable[[Node], NodeCuts], Node], Cut],
    nearest: Nearest | None = None,
) -> ThresholdTree:
    """Return a tree with one leaf for each centre; `best_cut` chooses each cut among those of a node.

    It asks for the cuts of the node if it needs them. Lists that were used before are given back for the next tree.
    """
    reference = task.reference.with_distinct_centers(duplicates)
    if nearest is None:
        nearest = lists_of(task)
    order = nearest.order

    def step(node: Node) -> int | Split[Node]:
        if len(node.clusters) == 1:
            return int(node.clusters[0])
        feature, threshold, place = best_cut(nearest.cuts_at, node)
        left = reference.centers[node.clusters, feature] <= threshold
        places = order.begin_split(node.places, feature, place)
        if len(node.clusters) > 2:
            order.finish_split(node.places)
        rows_left = order.is_left[node.rows]
        on_left, on_right = node.tested.copy(), node.tested.copy()
        on_left[feature, 0] = on_right[feature, 1] = True
        paths = [(*node.path, (feature, threshold, is_left)) for is_left in (True, False)]
        first = Node(paths[0], node.rows[rows_left], places[0], node.clusters[left], on_left)
        second = Node(paths[1], node.rows[~rows_left], places[1], node.clusters[~left], on_right)
        return Split(feature, threshold, first, second)

    clusters = np.unique(reference.first_of_equal_centers())
    untested = np.zeros((task.rows.n_columns, 2), dtype=np.bool_)
    return grow_by_cuts(Node((), np.flatnonzero(task.kept), order.root, clusters, untested), step)


def lists_of(task: Task, *, several: bool = False) -> Nearest:
    """Return the lists of nearest centres that `separate` needs, for one tree or for several, one after another."""
    return Nearest(task, make_problem(task, "cost"), np.flatnonzero(task.kept), several=several)


def _chosen_cut(cuts: NodeCuts, ties: TieBreak, weights: Ints) -> Cut:
    """Return the cut that a rule chooses among those of lowest cost."""
    problem, order, node = cuts.nearest.problem, cuts.nearest.order, cuts.node
    jobs = problem.jobs_for(node.rows)

    def least_in(feature: int) -> int:
        return int(cuts.of(feature).cost.min(initial=NONE))  # there is no cut if all centres have the same value

    costs = map_tasks(least_in, range(problem.rows.n_columns), n_jobs=jobs)
    least = min(costs)

    def equal_in(feature: int) -> EqualCuts:
        of_column = cuts.of(feature)
        equal = of_column.cost == least
        ordered = order.rows_of(node.places, feature)
        by_value = problem.rows.column(feature, ordered), weights[ordered]
        return EqualCuts.of_column(
            feature, None, of_column.low[equal], of_column.high[equal], cuts.centers[feature], by_value
        )

    features = [feature for feature, cost in enumerate(costs) if cost == least]
    equal_cuts = EqualCuts.joined(map_tasks(equal_in, features, n_jobs=jobs))
    i = ties.chosen(equal_cuts)
    feature, threshold = int(equal_cuts.feature[i]), float(equal_cuts.threshold[i])
    n_left = int(problem.rows.is_first(node.rows, feature, -np.inf, threshold).sum())
    return Cut(feature, threshold, node.places.start + n_left)
