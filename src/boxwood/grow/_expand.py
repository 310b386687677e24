"""ExKMC and Expand: more leaves for a tree, the most useful cut first."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Floats, Indices, Ints
from boxwood._validation import refuse_unknown
from boxwood._warnings import warn_caller
from boxwood.errors import StoppedEarlyWarning
from boxwood.grow._costs import Problem, make_problem, refuse_misfit, whole_costs
from boxwood.grow._grown import Grown
from boxwood.grow._imm import grow_imm
from boxwood.kernels import Kernel, as_kernel
from boxwood.loops.expand import best_interval, best_threshold
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, TreeBuilder, between, rows_at_nodes

__all__ = ["expand", "expanded", "grow_exkmc", "grow_expand"]

CUTS = ("threshold", "interval")
_SHORT = 100_000_000  # steps of a loop that take a fraction of a second


def expand(
    tree: ThresholdTree | None,
    X: ArrayLike,
    reference: Reference,
    *,
    max_leaf_nodes: int,
    objective: str = "cost",
    cuts: str = "threshold",
    kernel: Kernel | str | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree with leaves split until there are `max_leaf_nodes`; the leaf with the largest gain comes first.

    Each leaf carries one of the reference's clusters, and several leaves may carry the same one. The gain of a leaf is
    the cost that its best split saves: the cost under the best single cluster, less the cost under the best cut with
    the best cluster on either side.

    Use it to buy accuracy with leaves, after `imm` or from the root. From the root there is no bound on the price: the
    tree can be arbitrarily worse than the tree of `imm` with the same number of leaves.

    Parameters
    ----------
    tree : ThresholdTree or None
        Tree to begin with; leaves that are not split keep their cluster. None begins with a single leaf, which gets its
        cheapest cluster.
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout, finite.
    reference : Reference
        Clustering to be explained: a label for each row of `X`, and centres with d columns. Rows with label -1 are left
        out.
    max_leaf_nodes : int
        Number of leaves to stop at; at least the number of leaves of `tree`.
    objective : {"cost", "mistakes"}, default="cost"
        Cost of a row in a leaf. "cost" (ExKMC) is the squared distance of the row to the centre of the leaf's cluster.
        "mistakes" (Expand) is 1 if the leaf's cluster is not the row's label and 0 otherwise, with or without a kernel.
    cuts : {"threshold", "interval"}, default="threshold"
        Whether a cut is `x <= b`, or may also be `a <= x <= b`.
    kernel : Kernel or str, default=None
        Kernel, or a name that `kernels.as_kernel` knows. Distances are measured in its feature space (Kernel ExKMC).
        Centres are then the kernel means of the clusters, weighted by `sample_weight`, not the reference's centres. A
        bandwidth that is not set is found from all rows. None takes Euclidean distances in the columns of `X`.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row, not negative; rows of weight 0 are left out. Whole weights (with a sum below 2³¹) give the
        tree of repeated rows.
    n_jobs : int, default=-1
        Number of threads; -1 uses all processors. The tree does not depend on it.

    Returns
    -------
    ThresholdTree
        Always holds: with more `max_leaf_nodes` the sum of the rows' costs does not grow, and the leaves of the smaller
        tree are only split further. The ends of a cut are midpoints between values of the rows at the node; the lower
        end is closed, so it lies above the value before it.

    Warns
    -----
    StoppedEarlyWarning
        If no cut of any leaf lowers the cost, so that the tree has fewer leaves. This can happen to leaves with rows of
        several clusters: two clusters laid out as in XOR need two cuts, and the first one alone saves nothing.

    Raises
    ------
    ValueError
        If `max_leaf_nodes` is below the number of leaves of `tree`, or a parameter has a value that is not listed.
    DataError
        If rows, labels, centres, weights and tree do not fit together; if every row is left out; if rows are outside of
        the kernel's domain; or if the kernel is precomputed, because a precomputed kernel has no columns to cut.

    Notes
    -----
    Time: n d (log n + k) for each level of the tree, and n d (log n + k²) with intervals. Memory: n k numbers at the
    root, fewer at the nodes below. A kernel adds time n² (d + k), once, and memory for about 3 n (d + k) numbers; equal
    rows of a cluster count as one row here.

    A kernel that is not positive definite may have negative squared distances. The tree is chosen by
    the sums of these numbers. A cluster without rows has no kernel mean, and gets no leaf.

    Costs are rounded to whole multiples of about 2⁻⁶¹ of the node's total, and then added without error. So ties are
    true ties, and the tree depends neither on threads nor on the order of rows. (The rules that find a kernel's
    bandwidth do depend on the order of rows.) Among leaves of equal gain, the leaf that was made first is split. Within
    a leaf a threshold wins over an interval, then the lowest feature, the lowest ends, and the lowest pair of clusters.

    References
    ----------
    N. Frost, M. Moshkovitz, C. Rashtchian, "ExKMC: Expanding Explainable k-Means Clustering", 2020, arXiv:2006.02399.
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining Kernel Clustering via Decision Trees", ICLR 2024,
    arXiv:2402.09881, Algorithms 2 and 3 and section 5 (intervals). The printed algorithms split the node of smallest
    cost. The text beside them splits the node of largest gain, as this function does.

    Examples
    --------
    >>> from boxwood import Reference
    >>> X = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]]
    >>> reference = Reference.of(X, ["calm", "calm", "busy", "busy", "calm", "calm"])
    >>> tree = expand(None, X, reference, max_leaf_nodes=2, objective="mistakes", cuts="interval")
    >>> tree.to_dict()
    {'feature': 0, 'interval': [2.5, 6.5], 'inside': {'leaf': 0, 'cluster': 0}, 'outside': {'leaf': 1, 'cluster': 1}}

    From a tree, whose cuts stay:

    >>> cut = {"feature": 0, "threshold": 2.5, "left": {"cluster": 1}, "right": {"cluster": 0}}
    >>> tree = ThresholdTree.from_dict(cut)
    >>> tree.predict(X), expand(tree, X, reference, max_leaf_nodes=3, objective="mistakes").predict(X)
    (array([1, 1, 0, 0, 0, 0]), array([1, 1, 0, 0, 1, 1]))

    "calm" has rows on both sides of "busy", so both have the same mean. A kernel still separates them:

    >>> expand(None, X, reference, max_leaf_nodes=2, kernel="gaussian", cuts="interval").predict(X)
    array([1, 1, 0, 0, 1, 1])
    """
    task = Task.of(X, reference, sample_weight=sample_weight, max_leaf_nodes=max_leaf_nodes, n_jobs=n_jobs)
    resolved = None if kernel is None else as_kernel(kernel)
    grown = expanded(tree, task, max_leaf_nodes, objective=objective, cuts=cuts, kernel=resolved)
    warn_of_early_stop(grown, max_leaf_nodes, objective)
    return grown


def warn_of_early_stop(tree: ThresholdTree, max_leaf_nodes: int, objective: str) -> None:
    """Warn, on behalf of the caller, if a tree has fewer leaves than were asked for."""
    if tree.n_leaves < max_leaf_nodes:
        what = "the cost" if objective == "cost" else "the number of mistakes"
        message = f"stopped at {tree.n_leaves} of {max_leaf_nodes} leaves: no further cut lowers {what}"
        warn_caller(message, StoppedEarlyWarning)


def grow_exkmc(task: Task, *, base: str | None = None, cuts: str = "threshold") -> Grown:
    """Return a tree expanded by cost from that of IMM, or from the root, to twice the clusters or as asked."""
    return _grow_expanded(task, "exkmc", "cost", base, cuts)


def grow_expand(task: Task, *, base: str | None = None, cuts: str = "threshold") -> Grown:
    """Return a tree expanded by mistakes from that of IMM, or from the root, to twice the clusters or as asked."""
    return _grow_expanded(task, "expand", "mistakes", base, cuts)


def _grow_expanded(task: Task, name: str, objective: str, base: str | None, cuts: str) -> Grown:
    """Return the expanded tree; without a base, the tree of IMM is expanded if it has few enough leaves."""
    leaves = task.leaves(times=2)
    if base is None:
        base = "imm" if leaves >= task.reference.n_clusters else "root"
    refuse_unknown("base", base, ("imm", "root"))
    begin = grow_imm(task).tree if base == "imm" else None
    tree = expanded(begin, task, leaves, objective=objective, cuts=cuts)
    return Grown(tree, name if base == "imm" else f"{name}-root")


def expanded(
    tree: ThresholdTree | None,
    task: Task,
    max_leaf_nodes: int,
    *,
    objective: str,
    cuts: str = "threshold",
    kernel: Kernel | None = None,
) -> ThresholdTree:
    """Return a tree with leaves split; None begins with a single leaf of the cheapest cluster.

    If the tree stops early, the caller warns: this function may run in a thread, and threads share warning filters.
    """
    refuse_unknown("cuts", cuts, CUTS)
    problem = make_problem(task, objective, kernel)
    if tree is None:
        tree = _single_leaf(problem)
    refuse_misfit(tree, problem)
    if max_leaf_nodes < tree.n_leaves:
        raise ValueError(
            f"max_leaf_nodes must be at least {tree.n_leaves}, the leaves to begin with; got {max_leaf_nodes}"
        )
    return _split_leaves(tree, problem, max_leaf_nodes, two_sided=cuts == "interval")


def _single_leaf(problem: Problem) -> ThresholdTree:
    costs, _ = whole_costs(problem, np.flatnonzero(problem.kept))
    builder = TreeBuilder()
    builder.label(0, int(costs.sum(axis=0).argmin()))
    return builder.build()


def _split_leaves(tree: ThresholdTree, problem: Problem, max_leaf_nodes: int, *, two_sided: bool) -> ThresholdTree:
    builder, node_of = TreeBuilder.from_tree(tree)
    heap: list[tuple[float, int, Indices, _Split]] = []

    def consider(node: int, rows: Indices) -> None:
        gain, split = _best_split(problem, rows, two_sided)
        if split is not None:
            heapq.heappush(heap, (-gain, node, rows, split))

    if builder.n_leaves < max_leaf_nodes:
        for node, rows, inside in rows_at_nodes(tree, problem.rows.values):
            if inside is None:
                consider(node_of[node], rows[problem.kept[rows]])
    while heap and builder.n_leaves < max_leaf_nodes:
        _, node, rows, split = heapq.heappop(heap)
        first, second = builder.split(node, split.feature, split.upper, split.lower)
        builder.label(first, split.first)
        builder.label(second, split.second)
        if builder.n_leaves < max_leaf_nodes:  # leaves beyond the last split are not looked at
            inside = problem.rows.is_first(rows, split.feature, split.lower, split.upper)
            consider(first, rows[inside])
            consider(second, rows[~inside])
    return builder.build()


# ---------------------------------------------------------------------------------------------- the best cut of a node


class _Split(NamedTuple):
    """A cut of a node and the clusters of its two sides; the better of two is the smaller tuple, ties included."""

    cost: int
    is_interval: bool
    feature: int
    lower: float
    upper: float
    first: int
    second: int


def _best_split(problem: Problem, rows: Indices, two_sided: bool) -> tuple[float, _Split | None]:
    """Return the cost that the best cut of the rows saves, and the cut; None if no cut saves anything."""
    if len(rows) < 2:
        return 0.0, None
    costs, scale = whole_costs(problem, rows)
    total = costs.sum(axis=0)
    single = int(total.min())  # cost under the best single cluster
    if single == int(costs.min(axis=1).sum()):  # one cluster is the cheapest for every row
        return 0.0, None

    def splits_of(feature: int) -> list[_Split]:
        values = problem.rows.column(feature, rows)
        order = np.argsort(values)  # the order of equal values does not matter to sums of whole numbers
        return list(_splits(feature, values[order], order, costs, total, two_sided))

    columns = range(problem.rows.n_columns)
    by_column = map_tasks(splits_of, columns, n_jobs=problem.jobs_for(rows))
    best = min((split for splits in by_column for split in splits), default=None)
    if best is None or best.cost >= single:
        return 0.0, None
    return (single - best.cost) / scale, best


def _splits(
    feature: int,
    ordered: Floats,
    order: Indices,
    costs: Ints,
    total: Ints,
    two_sided: bool,
) -> Iterator[_Split]:
    """Yield the best threshold of one column, and its best interval if `two_sided`; nothing if there is no cut."""
    cost, last, first, second = best_threshold(ordered, order, costs, total)
    if last >= 0:
        upper = between(*ordered[last : last + 2].tolist())
        yield _Split(cost, False, feature, -math.inf, upper, first, second)
    if two_sided:
        cost, start, end, first, second = _best_interval(ordered, order, costs, total)
        if start >= 0:
            before, begin = ordered[start - 1 : start + 1].tolist()
            lower = -between(-begin, -before)  # the end is closed, so it lies above the value before it
            yield _Split(cost, True, feature, lower, between(*ordered[end : end + 2].tolist()), first, second)


def _best_interval(ordered: Floats, order: Indices, costs: Ints, total: Ints) -> tuple[int, int, int, int, int]:
    """Return the best interval; the search is cut into short calls, so that an interrupt is heard between two."""
    n, k = costs.shape
    step = max(1, _SHORT // (n * k))
    arrays = ordered, order, costs, total
    intervals: list[tuple[int, int, int, int, int]] = [
        best_interval(*arrays, start, min(start + step, k)) for start in range(0, k, step)
    ]
    return min(intervals)
