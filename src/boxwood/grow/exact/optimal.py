"""Optimal trees, whole or in small subtrees: the cheapest with so many leaves, or a tree and a bound; its names."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Bools, Floats, Ints
from boxwood._validation import as_time_limit, refuse_no_sum, refuse_unknown, whole_number
from boxwood.errors import DataError
from boxwood.grow.exact._search import DEEPEST, BestOnBox, Kept, LoopCosts, Search, leaf_rows, n_leaves
from boxwood.grow.exact.agreement import agreeing_of
from boxwood.grow.refinement.exchange import subtree
from boxwood.grow.refinement.refine import means_of_labels, refine_tree, refined_with_centers
from boxwood.grow.shared.names import assign_clusters, assignment, weight_in_leaves, with_centers_reached
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.metrics.costs import as_centers, summed_distances
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree, TreeBuilder, rows_at_nodes

WINDOW = 3  # leaves of the subtrees that are solved to improve the tree with which a search begins
CERTAIN = 1e-9  # A bound that may be too high by less than this share of the cost is told as it is.
FINER = 5  # searches in turn, in which costs are rounded less, as trees that cost more are left out


class Optimal(NamedTuple):
    """A tree, its cost, a bound on the cost of all trees with as many leaves, and the gap between the two.

    Attributes
    ----------
    tree : ThresholdTree
        The cheapest tree that was found.
    cost : float
        Its cost, in squared units of the columns, or its weight of mistakes.
    bound : float
        A number that no tree costs less than, by more than a billionth; of mistakes, or by more than 1e-15 of the
        weight of all rows. It equals `cost` where the tree is proved to be optimal.
    gap : float
        `1 - bound / cost`, or 0 where the cost is 0; from 0 to 1, and 0 where the tree is proved to be optimal.
    """

    tree: ThresholdTree
    cost: float
    bound: float
    gap: float


def optimal(
    X: ArrayLike,
    reference: Reference,
    *,
    max_leaf_nodes: int | None = None,
    centers: ArrayLike | None = None,
    objective: str = "cost",
    max_depth: int | None = None,
    min_samples_leaf: int | None = None,
    forbidden: Collection[int] = (),
    max_columns: int | None = None,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> Optimal:
    """Return the best tree with at most so many leaves; or, out of time, a good one and a bound on the best.

    Other methods choose one cut after another. This one looks at all trees, and leaves out only those that cannot be
    cheaper than the best one found. Use it where leaves are few, or to learn how far the tree of another method is from
    the best.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout.
    reference : Reference
        Clustering to be explained. Rows with the label -1, and rows of weight 0, are left out.
    max_leaf_nodes : int, default=None
        Largest number of leaves. None is as many as `max_depth` allows.
    centers : array-like of shape (k, d), default=None
        Centre of each cluster. Each leaf then takes the cluster whose centre is the cheapest for its rows, so leaves
        may share a cluster. None gives each leaf its own mean.
    objective : {"cost", "agreement"}, default="cost"
        "cost" is the sum of the squared distances of rows to the centre of their leaf. "agreement" finds the tree whose
        labels agree with most rows: the cost is the weight of the rows outside the commonest cluster of their leaf. It
        has no use for centres. "mistakes" is another name for it.
    max_depth : int, default=None
        Most cuts on a way from the root to a leaf. This and the next three are limits for "agreement" alone.
    min_samples_leaf : int, default=None
        Fewest rows of a leaf, whatever they weigh above 0; None is 1.
    forbidden : collection of int, default=()
        Numbers of columns that no cut tests.
    max_columns : int, default=None
        Most different columns that the cuts test.
    time_limit : float, default=None
        Seconds after which the search stops. The clock is read between steps, which take seconds in a table of many
        million values. None searches until the tree is proved to be optimal, which may take for ever.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; whole weights are repeated rows. None weighs all rows 1.
    n_jobs : int or None, default=-1
        Number of threads; -1 takes every processor. The result depends on them only if time runs out.

    Returns
    -------
    Optimal
        `tree`, `cost`, `bound` and `gap`. Always holds: no tree with at most `max_leaf_nodes` leaves costs less than
        `bound`, up to a billionth of it; of mistakes, or up to 1e-15 of the weight of all rows, which is more where
        weights differ by factors of 1e15. If the search ended, `bound` equals `cost` and `gap` is 0, but for tables
        that need more digits than there are; see "Rounding". With one or two leaves and no time limit it ends after
        one look at each cut. `gap` is `1 - bound / cost`, and 0 where the cost is 0.

    Raises
    ------
    DataError
        If rows, labels, centres and weights do not fit together, every row is left out, or the cost exceeds the largest
        float.
    TypeError, ValueError
        If a parameter is of a wrong kind or out of its range, neither leaves nor a depth are limited, `centers` are
        given for "agreement", or limits of "agreement" for "cost".

    Notes
    -----
    **Clusters of leaves.** With given centres a leaf has its cheapest cluster, and for "agreement" its commonest one;
    the first of equals. If each leaf has its own mean, up to k leaves, k the number of clusters, are named by clusters
    so that no two leaves share a name and most leaves hold rows of their cluster. Of such namings one is taken in which
    most weight is in the leaf of its cluster. A leaf without any such row remains only where each naming has one. With
    more than k leaves each has its commonest cluster. The cost still is that of a mean for each leaf: it is at most
    what the clusters cost that pool the leaves of a name (`metrics.cost`), and its bound is one for them, too. In all
    cases a cluster may have no leaf.

    **Other clusters.** A leaf with its own mean need not look like a cluster of the reference. With few leaves the
    cheapest tree often finds other clusters, so compare labels before it is used as an explanation.

    **The search.** For one column, and one share of the leaves between the sides of a cut, the first side's least cost
    only rises with the place of the cut, and the second side's only falls. So a run of places costs at least the first
    side at its lower end and the second side at its upper end. Runs are halved, the one of lowest bound first, until no
    bound is below the cost of the best tree. The best cut of a box of m rows takes time m d (d + 2), or m d k for given
    centres; results of boxes are remembered. Tables of some hundred to some thousand rows took up to
    1500 boxes for three leaves, in 0.01 to 1 seconds, and up to 70000 for four. More leaves take far longer, and from
    25 on only a good tree is sought. Memory: about 60 bytes for each value of X, and 28 more for each value of a box
    and each leaf below it.

    **Agreement.** Of trees with as few mistakes the one with the fewest leaves is returned, and of these the first by
    the columns and thresholds of its cuts in pre-order. Both sides of a cut are solved by one sweep over each column,
    in time m d. A sweep bounds the cuts near it as well: a row that changes sides changes mistakes by its weight. The
    optimum is found for a depth of at most 3 and for up to 4 leaves: at depth 2 in a tenth of a second for 20 000 rows
    and 8 columns; at depth 3 in 0.1 seconds for 1400 rows and 4 columns, and in 4 seconds for 570 rows and 30 columns.
    Deeper trees take far longer, so give `time_limit`. With `max_columns`, up to 200 sets of columns are all tried; of
    more, columns are added one at a time, and the bound is that of all columns. Memory: about 60 bytes for each value
    of X, and 16 more for each number of leaves that a side may have.

    **Rounding.** Costs are added as whole numbers, so that neither the order of rows nor threads matter; ties of costs
    go to the tree that the search finds first. The bound is lowered by what rounding can change, if that is more than a
    billionth of the cost. Then, as where a column holds the number 999999999 among small ones, the search begins anew:
    wide gaps, which no leaf of a cheap tree has rows on both sides of, are made narrower, so that whole numbers have
    digits enough. What is left is mostly nothing; it is much, and `gap` up to 1, where weights differ by factors of a
    million millions. A stopped search with own means also knows that the cost is at least the variance outside the
    first `max_leaf_nodes - 1` principal components (Ding, He).

    References
    ----------
    R. Mazumder, X. Meng, H. Wang, "Quant-BnB: a scalable branch-and-bound method for optimal decision trees with
    continuous features", ICML 2022: bounds for intervals of thresholds. G. Aglin, S. Nijssen, P. Schaus, "Learning
    optimal decision trees using caching branch-and-bound search", AAAI 2020: memory of parts of a table. E. Briţa, J.
    van der Linden, E. Demirović, "Optimal classification trees for continuous feature data using dynamic programming
    with branch-and-bound", AAAI 2025: both sides of a cut by one sweep, and bounds of cuts nearby. C. Ding, X. He,
    "K-means clustering via principal component analysis", ICML 2004.

    Examples
    --------
    >>> from boxwood import Reference
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 9.0], [1.0, 9.0], [9.0, 4.0], [9.0, 5.0]]
    >>> reference = Reference.of(X, [0, 0, 1, 1, 2, 2])
    >>> found = optimal(X, reference, max_leaf_nodes=3)
    >>> found.cost, found.gap
    (1.5, 0.0)
    >>> found.tree.predict(X)
    array([0, 0, 1, 1, 2, 2])
    >>> optimal(X, reference, max_depth=1, objective="agreement").cost
    2.0
    """
    refuse_unknown("objective", objective, ("cost", "agreement", "mistakes"))
    limits: dict[str, Any] = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf, "max_columns": max_columns}
    if objective != "cost":
        if centers is not None:
            raise ValueError(
                f"objective {objective!r} has no use for centers; leave them out, or take objective 'cost'"
            )
        budget = replace(Budget.of(**limits), forbidden=_columns(forbidden))
        return _agreeing(X, reference, max_leaf_nodes, budget, time_limit, sample_weight, n_jobs)
    if given := [name for name, limit in (limits | {"forbidden": forbidden or None}).items() if limit is not None]:
        raise ValueError(f"{given[0]} is a limit for objective 'agreement' alone; 'cost' takes max_leaf_nodes")
    leaves = whole_number("max_leaf_nodes", max_leaf_nodes, 1)
    deadline = _deadline(time_limit)
    task = Task.of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs)
    refuse_no_sum(task.rows.weights)
    if centers is not None:
        task = task.with_reference(_with_centers(reference, centers))
    return optimal_of(task, leaves, own_means=centers is None, deadline=deadline)


def _agreeing(
    X: ArrayLike,
    reference: Reference,
    max_leaf_nodes: int | None,
    budget: Budget,
    time_limit: float | None,
    sample_weight: ArrayLike | None,
    n_jobs: int | None,
) -> Optimal:
    """Return the tree that agrees with most rows."""
    if max_leaf_nodes is None and budget.max_depth is None:
        raise ValueError("how large may the tree be? give max_leaf_nodes or max_depth")
    leaves = None if max_leaf_nodes is None else whole_number("max_leaf_nodes", max_leaf_nodes, 1)
    deadline = _deadline(time_limit)
    task = Task.of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs, budget=budget)
    refuse_no_sum(task.rows.weights)
    if task.budget.forbidden and not 0 <= task.budget.forbidden[-1] < task.rows.n_columns:
        raise DataError(f"forbidden column {task.budget.forbidden[-1]}, but X has {task.rows.n_columns} columns")
    depth = task.n_kept if budget.max_depth is None else budget.max_depth
    tree, mistakes, bound = agreeing_of(task, leaves or 1 << min(depth, 30), deadline=deadline)
    return Optimal(tree, mistakes, bound, 1 - bound / mistakes if mistakes > 0 else 0.0)


def _columns(forbidden: Collection[int]) -> tuple[int, ...]:
    """Return the numbers of columns, ascending."""
    return tuple(sorted({whole_number("forbidden", j, 0) for j in forbidden}))


def optimal_of(
    task: Task,
    leaves: int,
    *,
    own_means: bool = True,
    incumbent: ThresholdTree | None = None,
    max_boxes: float | None = None,
    deadline: float | None = None,
) -> Optimal:
    """Return what `optimal` does for a task: with the reference's centres, or a mean for each leaf.

    The search begins with `incumbent`, if that is a tree of one-sided cuts with at most so many leaves, or with a tree
    that it grows. It ends after `max_boxes` boxes, each counted as its share of the rows, or at the time `deadline` of
    `time.monotonic`.
    """
    kept, found = Kept(task), list[Optimal]()
    leaves = min(leaves, len(kept.rows))
    for _ in range(FINER):
        most = min((each.cost for each in found), default=math.inf)
        costs = LoopCosts.of_means(task, kept, most) if own_means else LoopCosts.of_clusters(task, kept, "cost", most)
        found.append(_optimal(kept, costs, leaves, own_means, incumbent, max_boxes, deadline))
        best = min(found, key=lambda each: each.cost)
        if 2 * costs.doubt <= CERTAIN * best.cost or not 0 < best.cost < most / 2:
            break
        incumbent = best.tree
    bound = max(each.bound for each in found)
    bound = best.cost if bound >= best.cost * (1 - CERTAIN) else bound
    return best._replace(bound=bound, gap=1 - bound / best.cost if best.cost > 0 else 0.0)


def _optimal(
    kept: Kept,
    costs: LoopCosts,
    leaves: int,
    own_means: bool,
    incumbent: ThresholdTree | None,
    max_boxes: float | None,
    deadline: float | None,
) -> Optimal:
    """Return what is found by some costs, which are rounded: the bound is lowered by that; the gap is not told."""
    task, found = kept.task, _search_boxes(kept, costs, leaves, incumbent, max_boxes, deadline)
    tree = kept.tree(found.cuts)
    tree = tree.relabeled(assign_clusters(tree, task) if own_means else _cheapest(tree, kept, costs))
    rows = task.rows
    reached = np.where(task.kept, tree.apply(rows) if own_means else tree.predict(rows), -1)
    centers = None if own_means else task.reference.centers
    cost = summed_distances(rows.values, reached, SQEUCLIDEAN, centers, rows.weights)
    least = max(found.bound, costs.bound_of_means(leaves) if own_means and not found.is_exact else 0)
    return Optimal(tree, cost, max(costs.in_units(least - costs.slack), 0.0), 0.0)


def _search_boxes(
    kept: Kept,
    costs: LoopCosts,
    leaves: int,
    incumbent: ThresholdTree | None,
    max_boxes: float | None,
    deadline: float | None,
) -> BestOnBox:
    """Return the result of a search; the tree to begin with may take half of the boxes and of the time."""
    search, rows = Search(costs.sums, n_jobs=kept.task.n_jobs), np.arange(len(kept.rows))
    search.max_boxes = None if max_boxes is None else max_boxes / 2
    search.deadline = None if deadline is None else (time.monotonic() + deadline) / 2
    given = None
    if incumbent is not None and np.isneginf(incumbent.lower).all():
        given = search.price_cuts(rows, kept.cuts(incumbent, rows))
    known = search.grown(kept.order, leaves) if given is None or n_leaves(given.cuts) > leaves else given
    known = _improve_tree(known, kept, costs, search)
    search.max_boxes, search.deadline = max_boxes, deadline
    is_within_reach = max_boxes is None or ends_within(max_boxes, leaves, kept.task.n_columns)
    return search.solve(kept.order, leaves, known=known) if leaves <= DEEPEST and is_within_reach else known


# Boxes for each column in which a search for so many leaves may end, and in which it does; for two leaves it is one.
ENDS = {3: (6, 60), 4: (200, 1000)}
NARROW = 8  # columns up to which a search that does not end costs little, and finds better trees now and then


def ends_within(max_boxes: float, leaves: int, n_columns: int, *, surely: bool = False) -> bool:
    """Return whether a search for the cheapest tree may end within so many boxes, or does so `surely`.

    That depends on leaves and columns; the number of rows matters little. Clusters that are far apart take
    fewest boxes. With 5 leaves and more none ends within the limits of "auto".
    """
    return leaves <= 2 or max_boxes >= ENDS.get(leaves, (math.inf, math.inf))[surely] * n_columns


def _improve_tree(known: BestOnBox, kept: Kept, costs: LoopCosts, search: Search) -> BestOnBox:
    """Return a tree whose cuts are moved one at a time, and whose small subtrees are solved, in turn while it gains."""
    if n_leaves(known.cuts) <= WINDOW:
        return known
    rows, of_clusters = np.arange(len(kept.rows)), costs.sums.table.shape[1] > 0
    for _ in range(ROUNDS):
        tree = kept.tree(known.cuts)
        if of_clusters:
            tree = refine_tree(tree.relabeled(_cheapest(tree, kept, costs)), kept.task, "cost")
        else:
            tree = tree.relabeled(np.arange(tree.n_leaves))
            tree = refined_with_centers(tree, _of_leaves(tree, kept.task))
        tree = with_cheapest_subtrees(tree, kept, search)
        better = search.price_cuts(rows, kept.cuts(tree, rows))
        if better.cost >= known.cost or search.is_over:
            return min(better, known, key=lambda each: each.cost)
        known = better
    return known


def _of_leaves(tree: ThresholdTree, task: Task) -> Task:
    """Return the task with a cluster for each leaf of a tree that has the numbers of its leaves as clusters."""
    labels, none = np.where(task.kept, tree.apply(task.rows), -1), np.zeros((tree.n_leaves, task.n_columns))
    of_leaves = task.with_reference(Reference(labels, none))
    return of_leaves.with_reference(Reference(labels, means_of_labels(of_leaves, labels)))


def _cheapest(tree: ThresholdTree, kept: Kept, costs: LoopCosts) -> Ints:
    """Return the cheapest cluster of each leaf, the first of equals."""
    sums = np.zeros((tree.n_leaves, costs.sums.table.shape[1]), dtype=np.int64)
    np.add.at(sums, tree.apply(kept.task.rows)[kept.rows], costs.sums.table)
    return np.asarray(sums.argmin(axis=1))


def _deadline(time_limit: float | None) -> float | None:
    """Return the time of `time.monotonic` at which a search ends."""
    seconds = as_time_limit(time_limit)
    return None if seconds is None else time.monotonic() + seconds


def _with_centers(reference: Reference, centers: ArrayLike) -> Reference:
    """Return the reference with other centres; refuse another shape than that of its own."""
    points = as_centers(centers, reference.centers.shape[1])
    if len(points) != reference.n_clusters:
        raise DataError(f"centers has {len(points)} rows, but the reference has {reference.n_clusters} clusters")
    if not np.isfinite(points).all():
        raise DataError("centers must be finite; a cluster without rows may have the centre of another")
    return reference.with_centers(points)


ROUNDS = 10  # in which centres and subtrees are improved in turn
BOXES = 100  # tables whose rows a call may look at; ten times as many gain hardly more


def resolve_subtrees(
    tree: ThresholdTree,
    task: Task,
    *,
    own_means: bool,
    loss: str = "cost",
    max_boxes: float = BOXES,
    deadline: float | None = None,
) -> ThresholdTree:
    """Return the tree with each subtree of at most three leaves (`WINDOW`) replaced by the cheapest of its size.

    With `own_means` each leaf has its own mean. Leaves, which must not be more than the clusters, are then named anew;
    see `assign_clusters`. Otherwise leaves take the cheapest cluster: by mistakes, or under the means of the tree's own
    clusters, which are taken anew until nothing changes. A cluster that has a leaf keeps one.

    The result never costs more than `tree`, by its loss and with its kind of means. Subtrees with two-sided cuts
    stay. The search ends after `max_boxes` boxes in all, each counted as its share of the table's rows, or at the time
    `deadline` of `time.monotonic`. A subtree that is not solved by then has the best cuts that were found.
    """
    kept, spent = Kept(task), 0.0
    if own_means:
        search = Search(LoopCosts.of_means(task, kept).sums, max_boxes=max_boxes, deadline=deadline, n_jobs=task.n_jobs)
        better = with_cheapest_subtrees(tree, kept, search)
        return tree if better == tree else better.relabeled(assign_clusters(better, task))
    for _ in range(ROUNDS):
        current = task if loss == "mistakes" else with_centers_reached(tree, task)
        sums = LoopCosts.of_clusters(current, kept, loss).sums
        search = Search(sums, max_boxes=max_boxes - spent, deadline=deadline, n_jobs=task.n_jobs)
        better = with_cheapest_subtrees(tree, kept, search)
        spent += search.n_boxes
        if better == tree:
            break
        tree = better
    return tree


def with_cheapest_subtrees(tree: ThresholdTree, kept: Kept, search: Search) -> ThresholdTree:
    """Return the tree with its largest subtrees of at most `WINDOW` leaves solved, under the costs of a search.

    If a search stops early, the subtrees inside of such a subtree are solved in its place. Where each leaf has its own
    mean, new leaves have the clusters of those that they replace.
    """
    windows = _Windows(tree, kept, search)
    builder, waiting = TreeBuilder(), [(0, 0, True)]  # node of the tree, node of the builder, whether it may change
    while waiting:
        node, new, may_change = waiting.pop()
        if tree.feature[node] < 0:
            builder.label(new, int(tree.cluster[node]))
            continue
        if may_change and windows.n_leaves(node) <= WINDOW and windows.is_one_sided(node):
            found, clusters = windows.solved(node)
            if clusters is not None:
                kept.graft(builder, new, found.cuts, windows.reached[node], clusters)
                continue
            may_change = not found.is_exact
        first, second = builder.split(new, *tree.test(node))
        waiting += ((int(tree.second[node]), second, may_change), (node + 1, first, may_change))
    return builder.build()


class _Windows:
    """The subtrees of a tree, by their top nodes, and the rows that reach them."""

    def __init__(self, tree: ThresholdTree, kept: Kept, search: Search) -> None:
        self.tree, self.kept, self.search = tree, kept, search
        numbers = (kept.position[rows] for _, rows, _ in rows_at_nodes(tree, kept.task.rows.values))
        self.reached = [rows[rows >= 0] for rows in numbers]
        self.end = np.arange(1, tree.n_nodes + 1)  # the first node behind each subtree
        for node in np.flatnonzero(tree.feature >= 0)[::-1]:
            self.end[node] = self.end[tree.second[node]]
        k = max(kept.task.reference.n_clusters, int(tree.leaf_clusters.max()) + 1)
        self.leaves_of = np.bincount(tree.leaf_clusters, minlength=k)  # number of leaves of each cluster

    def n_leaves(self, node: int) -> int:
        """Return the number of leaves of a subtree."""
        return (int(self.end[node]) - node + 1) // 2

    def is_one_sided(self, node: int) -> bool:
        """Return whether all cuts of a subtree are one-sided."""
        return bool(np.isneginf(self.tree.lower[node : self.end[node]]).all())

    def solved(self, node: int) -> tuple[BestOnBox, list[int] | None]:
        """Return the cheapest subtree of the same size, as far as the search comes, and the clusters of its leaves.

        There are no clusters if the subtree is not cheaper than that of the tree, or if a cluster would lose its leaf.
        """
        below, rows = subtree(self.tree, node), self.reached[node]
        if len(rows) == 0:
            return BestOnBox(0, 0, None), None
        known = self.search.price_cuts(rows, self.kept.cuts(below, rows))
        inside = np.zeros(len(self.kept.rows), dtype=np.bool_)
        inside[rows] = True
        box, boxes = self.search.part(self.kept.order, inside), self.search.boxes_left * len(inside) / len(rows)
        found, n_columns = known, self.kept.task.n_columns
        may_end = ends_within(boxes, below.n_leaves, n_columns)
        if not may_end:
            found = min(known, self.search.grown(box, below.n_leaves), key=lambda each: each.cost)
        if may_end or n_columns <= NARROW:
            found = self.search.solve(box, below.n_leaves, known=found)
        table = self.search.sums.table
        if table.shape[1] == 0:
            is_better = found.cost < known.cost and n_leaves(found.cuts) == below.n_leaves
            return found, below.leaf_clusters.tolist() if is_better else None
        of_rows = below.predict(self.kept.task.rows.values[self.kept.rows[rows]])
        if found.cost >= table[rows, of_rows].sum():
            return found, None
        clusters = [int(table[part].sum(axis=0).argmin()) for part in leaf_rows(self.kept.codes, rows, found.cuts)]
        gained, lost = (np.bincount(each, minlength=len(self.leaves_of)) for each in (clusters, below.leaf_clusters))
        leaves_of = self.leaves_of + gained - lost
        if (leaves_of[self.leaves_of > 0] == 0).any():
            return found, None
        self.leaves_of = leaves_of
        return found, clusters


NAMINGS = 5_000  # up to so many are all tried
_LOWER = 1e-9  # by this share a cost must fall, so that rounding decides nothing


def with_cheapest_names(tree: ThresholdTree, task: Task) -> ThresholdTree:
    """Return the tree with honest names under which it costs least, each cluster with the mean of its own leaves.

    The tree has honest names and no empty leaf; see `named`. If all leaves can hold rows of different clusters, they
    get these: no pooling is cheaper than a mean for each leaf, and of such names those are taken by which most weight
    is in the leaf of its cluster. Otherwise all honest names are tried, if there are few; of many, leaves change their
    name one at a time while that lowers the cost. A tree whose cost does not fall keeps its names.
    """
    held = weight_in_leaves(tree, task)
    if tree.n_leaves <= task.reference.n_clusters:
        clusters = assignment(held, "cost")
        if held[np.arange(tree.n_leaves), clusters].all():
            return tree if len(np.unique(tree.leaf_clusters)) == tree.n_leaves else tree.relabeled(clusters)
    pooled = _Pooled.of(tree, task)
    n_namings = math.prod((held > 0).sum(axis=1).tolist())
    found = pooled.least_of_all(held > 0) if n_namings <= NAMINGS else pooled.descend(held > 0, tree.leaf_clusters)
    return tree.relabeled(found) if pooled.cost(found) < pooled.cost(tree.leaf_clusters) * (1 - _LOWER) else tree


class _Pooled:
    """The cost of leaves that share names, from exact sums of their rows."""

    def __init__(self, sums: Floats, factor: float) -> None:
        self.factor = factor
        self.sums = sums  # (n_leaves, 2 + d): weight, square and values, as of `LoopCosts.of_means`
        self.of_leaves = cache(self._of_leaves)

    @classmethod
    def of(cls, tree: ThresholdTree, task: Task) -> _Pooled:
        kept = Kept(task)
        of_rows = LoopCosts.of_means(task, kept).sums
        sums = np.zeros((tree.n_leaves, of_rows.moments.shape[1]))
        np.add.at(sums, tree.apply(task.rows, n_jobs=task.n_jobs)[kept.rows], of_rows.moments)
        return cls(sums, of_rows.factor)

    def cost(self, clusters: Ints) -> float:
        """Return the cost under some names of the leaves."""
        leaves: dict[int, tuple[int, ...]] = {}
        for leaf, cluster in enumerate(clusters.tolist()):
            leaves[cluster] = (*leaves.get(cluster, ()), leaf)
        return math.fsum(map(self.of_leaves, leaves.values()))

    def least_of_all(self, held: Bools) -> Ints:
        """Return the cheapest of all names, the first of equals."""
        options = [np.flatnonzero(each).tolist() for each in held]
        return min(map(np.array, itertools.product(*options)), key=self.cost)

    def descend(self, held: Bools, clusters: Ints) -> Ints:
        """Return names that no change of a single one makes cheaper."""
        members: dict[int, set[int]] = {}
        for leaf, cluster in enumerate(clusters.tolist()):
            members.setdefault(cluster, set()).add(leaf)

        def change(leaf: int, cluster: int) -> float:
            """Return by how much the cost of a cluster rises if a leaf joins it, or leaves it if it is inside."""
            now = members.get(cluster, set())
            return self.of_leaves(tuple(sorted(now ^ {leaf}))) - self.of_leaves(tuple(sorted(now)))

        clusters, least, falls = clusters.copy(), self.cost(clusters) * _LOWER, True
        while falls:
            falls = False
            for leaf, cluster in np.argwhere(held).tolist():
                own = int(clusters[leaf])
                if cluster != own and change(leaf, own) + change(leaf, cluster) < -least:
                    members[own].remove(leaf)
                    members.setdefault(cluster, set()).add(leaf)
                    clusters[leaf], falls = cluster, True
        return clusters

    def _of_leaves(self, leaves: tuple[int, ...]) -> float:
        if not leaves:
            return 0.0
        sums = self.sums[list(leaves)].sum(axis=0)
        squares = 0.0
        for value in sums[2:].tolist():
            squares += value * value
        return max(float(sums[1] - self.factor * (squares / sums[0])), 0.0)
