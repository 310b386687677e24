"""ExKMC and Expand: leaves of a tree split one after another, the cut with the largest gain first."""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._messages import warn_caller
from boxwood._types import Bools, Indices
from boxwood._validation import list_words, real_number, refuse_unknown, show_value
from boxwood.batches import Source
from boxwood.errors import DataError, StoppedEarlyWarning
from boxwood.grow._methods import METHODS
from boxwood.grow.drawn import task_for_growth
from boxwood.grow.grown import Grown
from boxwood.grow.leaves._cuts import (
    IN_VAIN,
    LeafCut,
    Pair,
    Thresholds,
    best_cut,
    best_instead,
    best_pairs,
    cuts_of_pair,
    is_little,
)
from boxwood.grow.shared.costs import (
    CutProblem,
    PartitionedOrder,
    PlacesOfNode,
    integer_costs,
    make_problem,
    refuse_misfit,
)
from boxwood.kernels import Kernel, as_kernel
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, TreeBuilder

CUTS = ("threshold", "interval")


def expand(
    tree: ThresholdTree | None,
    X: ArrayLike | Source,
    reference: Reference,
    *,
    max_leaf_nodes: int,
    objective: str = "cost",
    cuts: str = "threshold",
    kernel: Kernel | str | None = None,
    look_ahead: bool = False,
    tol: float = 0.0,
    sample_weight: ArrayLike | str | None = None,
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
    X : array-like of shape (n, d), or Source
        Rows, float32 or float64 in any memory layout, finite; or a table that is read in batches, as often as needed.
    reference : Reference
        Clustering to be explained: a label for each row of `X`, and centres with d columns. Rows with label -1 are left
        out. For a table in batches, the clusters of that table.
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
    look_ahead : bool, default=False
        Whether two or three cuts are made at once: a cut of a leaf, and a cut of one of its sides or of both. This is
        done where no single cut of any leaf gains more than `tol`; then the leaf and cuts with the largest gain for
        each leaf that they add are taken, if there is room for these leaves. It is also done at the leaf that comes
        next, where its best cut saves less than 0.3 of what any cuts of the leaf could save (0.4 with intervals), and
        cuts made at once save more than 1.25 times as much for each leaf; no more once two such leaves in succession
        were searched in vain. False is the rule of the papers.
    tol : float, default=0.0
        A cut is made only if it saves more than `tol` times the cost of the tree to begin with, or of its mistakes.
        Cuts that are made at once must save this much for each leaf that they add.
    sample_weight : array-like of shape (n,) or str, default=None
        Weight of each row, not negative; rows of weight 0 are left out. Whole weights (with a sum below 2³¹) give the
        tree of repeated rows. For a table in batches, the column that holds the weights.
    n_jobs : int, default=-1
        Number of threads; -1 uses all processors. The tree does not depend on it.

    Returns
    -------
    ThresholdTree
        Always holds: the sum of the rows' costs is not above that of the tree to begin with, over the rows that are
        drawn if the table is long and read in batches. Without `look_ahead` it
        does not grow with `max_leaf_nodes`, as the leaves of the smaller tree are only split further. The ends of a cut
        are midpoints between values of the rows at the node; the lower end is closed, so it lies above the value before
        it.

    Warns
    -----
    StoppedEarlyWarning
        If no cut of any leaf lowers the cost, so that the tree has fewer leaves. This can happen to leaves with rows of
        several clusters: two clusters laid out as in XOR need two cuts, and the first one alone saves nothing. With
        `look_ahead` such cuts are found, as far as they are among those looked at.

    Raises
    ------
    ValueError
        If `max_leaf_nodes` is below the number of leaves of `tree`, `tol` is negative, or a parameter has a value that
        is not listed.
    DataError
        If rows, labels, centres, weights and tree do not fit together; if every row is left out; if rows are outside of
        the kernel's domain; or if the kernel is precomputed, because a precomputed kernel has no columns to cut. If a
        table in batches is to be cut with a kernel, which needs all rows in memory.

    Notes
    -----
    Time: n d log n once, and at most n d k for each level of the tree; only n d by "mistakes", but n d (log n + k²)
    with intervals. Memory: n k numbers at the root, fewer at the nodes below, and 8 bytes for each row and column. A
    kernel adds time n² (d + k), once, and memory for about 3 n (d + k) numbers; equal rows of a cluster count as one
    row here.

    Looking ahead takes time d² k n for the leaves that no single cut helps much, and d² k b² for each of them, or
    d² k² b³ with intervals. It tries 31 thresholds in each column (b = 32), or 15 with intervals (b = 16), which divide
    the rows of the leaf into bins of about equal weight; with fewer than 256 different values, 15 may do. So it finds
    the best cuts if no column has more than b different values in the leaf. Otherwise the cuts are moved to better
    places between the rows, as long as that gains.
    If there are more than 32 columns, only those whose own best cuts cost least are searched.

    A table in batches gives the tree of its rows in memory if it has at most 2²³ values. Of a longer one rows of so
    many values are drawn, by what they hold, heavy ones and those of rare clusters with more chance; leaves are split
    by these.

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

    Two clusters in opposite corners: no single cut gains, but three together do.

    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> xor = Reference.of(X, [0, 0, 1, 1])
    >>> expand(None, X, xor, max_leaf_nodes=4, objective="mistakes", look_ahead=True).predict(X)
    array([0, 0, 1, 1])
    """
    task = Task.of(X, reference, sample_weight=sample_weight, max_leaf_nodes=max_leaf_nodes, n_jobs=n_jobs)
    resolved = None if kernel is None else as_kernel(kernel)
    options: dict[str, Any] = {"loss": objective, "look_ahead": look_ahead, "tol": tol}
    if task.in_batches:
        if kernel is not None:
            raise DataError("a kernel needs all rows in memory; for rows in batches use kernel=None")
        task, _ = task_for_growth(task)
    grown = expand_tree(tree, task, max_leaf_nodes, cuts=cuts, kernel=resolved, instead=True, **options)
    warn_of_early_stop(grown.n_leaves, max_leaf_nodes, early_stop(grown, max_leaf_nodes, **options))
    return grown


def early_stop(tree: ThresholdTree, max_leaf_nodes: int, *, loss: str, look_ahead: bool, tol: float) -> str:
    """Return why a tree has fewer leaves than `max_leaf_nodes`, in words for users."""
    what = "the cost" if loss == "cost" else "the number of mistakes"
    by = f" by more than {tol:g} of its first value for each leaf" if tol else ""
    if look_ahead and max_leaf_nodes - tree.n_leaves > 1:
        return f"no further cut, alone or with a second one, lowers {what}{by}"
    return f"no single further cut lowers {what}{by}"


def warn_of_early_stop(n_leaves: int, max_leaf_nodes: int, reason: str) -> None:
    """Warn, on behalf of the caller, if a tree has fewer leaves than requested."""
    if n_leaves < max_leaf_nodes:
        warn_caller(f"stopped at {n_leaves} of {max_leaf_nodes} leaves: {reason}", StoppedEarlyWarning)


def grow_exkmc(
    task: Task, *, base: str | None = None, cuts: str = "threshold", look_ahead: bool = True, tol: float = 0.0
) -> Grown:
    """Return a tree expanded by cost, from the tree of IMM or from the root, to the leaves requested, or 2 k."""
    return _grow_expanded(task, "exkmc", base, loss="cost", cuts=cuts, look_ahead=look_ahead, tol=tol)


def grow_expand(
    task: Task, *, base: str | None = None, cuts: str = "threshold", look_ahead: bool = True, tol: float = 0.0
) -> Grown:
    """Return a tree expanded by mistakes, from the tree of IMM or from the root, to the leaves requested, or 2 k."""
    return _grow_expanded(task, "expand", base, loss="mistakes", cuts=cuts, look_ahead=look_ahead, tol=tol)


def _grow_expanded(task: Task, name: str, base: str | None, **options: Any) -> Grown:
    base, notes = begin_tree(task, base, options["loss"])
    begin = METHODS["imm"].grow(task).tree if base == "imm" else None
    few, on_drawn = task_for_growth(task) if task.in_batches else (task, ())
    grown = grown_from(begin, few, name if base == "imm" else f"{name}-root", **options)
    return grown._replace(notes=(*notes, *on_drawn, *grown.notes))


def begin_tree(task: Task, base: str | None, loss: str) -> tuple[str, tuple[str, ...]]:
    """Return the tree to begin with, "imm" or "root", and a note if it is the root because centres are equal.

    With loss "cost" IMM refuses such clusters instead: they cost the same, so only one of them would get leaves.
    """
    base = base_of(task, base, "imm")
    if base == "root" or loss == "cost" or not (alike := task.reference.equal_pair):
        return base, ()
    return "root", (f"grown from the root, as clusters have equal centres ({alike}), which IMM cannot separate",)


def base_of(task: Task, base: str | None, complete: str) -> str:
    """Return the tree to begin with: by default `complete`, with a leaf for each cluster, if there is room for it.

    It is "root" if the budget limits the shape, which a complete tree may break, or forbids all columns in which two
    centres differ.
    """
    if task.budget.limits_shape:
        limits = list_words([name for name in ("max_depth", "min_samples_leaf") if name in task.budget.given])
        if base == complete:
            raise ValueError(f"base {base!r} begins with a tree that need not keep {limits}; use base 'root'")
        base = "root"
    if base is None:
        has_room = task.leaves(times=2) >= task.reference.n_clusters
        return complete if has_room and not (task.budget.forbidden and task.equal_without_forbidden) else "root"
    refuse_unknown("base", base, (complete, "root"))
    return base


def grown_from(
    tree: ThresholdTree | None, task: Task, name: str, *, cuts: str, kernel: Kernel | None = None, **options: Any
) -> Grown:
    """Return a tree expanded to the number of leaves that the task requests, by default twice the clusters."""
    leaves = task.leaves(times=2)
    grown = expand_tree(tree, task, leaves, cuts=cuts, kernel=kernel, instead=True, **options)
    attributes, reason = {} if kernel is None else {"kernel": kernel}, early_stop(grown, leaves, **options)
    return Grown(grown, name, kernel=kernel, attributes=attributes, early_stop=reason)


def expand_tree(
    tree: ThresholdTree | None,
    task: Task,
    max_leaf_nodes: int,
    *,
    loss: str,
    cuts: str = "threshold",
    kernel: Kernel | None = None,
    look_ahead: bool = True,
    instead: bool = False,
    tol: float = 0.0,
) -> ThresholdTree:
    """Return a tree with leaves split; None begins with a single leaf of the cheapest cluster.

    Splits keep the budget of the task. With `look_ahead`, pairs of cuts are tried where no single cut gains, and with
    `instead` also in place of cuts that save little, which takes ten times as long as single cuts: too long for "auto",
    which improves its trees in other ways. No pairs are tried if the budget limits the shape. If the tree stops early,
    the caller warns: this function may run in a thread, and threads share warning filters.
    """
    check_expansion(task, cuts=cuts, look_ahead=look_ahead, tol=tol)
    problem = make_problem(task, loss, kernel)
    if tree is None:
        tree = single_leaf(problem)
    refuse_misfit(tree, task)
    refuse_too_small(max_leaf_nodes, tree)
    labels = task.reference.labels if loss == "mistakes" else None
    thresholds = Thresholds(problem, PartitionedOrder(task), labels) if cuts == "threshold" else None
    growth = Growth(
        tree, problem, thresholds, least_gain(tree, problem, real_number("tol", tol)), task.budget.max_depth
    )
    look_ahead = look_ahead and not task.budget.limits_shape
    return growth.grow(max_leaf_nodes, look_ahead=look_ahead, instead=look_ahead and instead)


def check_expansion(task: Task, *, cuts: str, look_ahead: bool, tol: float) -> None:
    """Raise a ValueError if an option of an expansion has an invalid value."""
    refuse_unknown("cuts", cuts, CUTS)
    if not isinstance(look_ahead, (bool, np.bool_)):
        raise ValueError(f"look_ahead must be True or False; got {show_value(look_ahead)}")
    if not isinstance(tol, Real) or not 0 <= tol < math.inf:
        raise ValueError(
            f"tol must be a number of at least 0, a share of the cost to begin with; got {show_value(tol)}"
        )
    if cuts == "interval" and task.budget.min_samples_leaf > 1:
        raise ValueError("min_samples_leaf is kept by cuts='threshold' alone; intervals need method 'auto' or no limit")


def refuse_too_small(max_leaf_nodes: int, tree: ThresholdTree) -> None:
    """Raise a ValueError if a tree to begin with has more than `max_leaf_nodes` leaves."""
    if max_leaf_nodes < tree.n_leaves:
        raise ValueError(
            f"max_leaf_nodes must be at least {tree.n_leaves}, the leaves to begin with; got {max_leaf_nodes}"
        )


def single_leaf(problem: CutProblem) -> ThresholdTree:
    """Return the tree with one leaf, labelled by the cheapest cluster for all rows."""
    costs, _ = integer_costs(problem, np.flatnonzero(problem.kept))
    builder = TreeBuilder()
    builder.label(0, int(costs.sum(axis=0).argmin()))
    return builder.build()


def least_gain(tree: ThresholdTree, problem: CutProblem, tol: float) -> float:
    """Return the gain that a leaf must exceed: `tol` times the cost of the tree to begin with."""
    if tol == 0:
        return 0.0
    rows = np.flatnonzero(problem.kept)
    costs, scale = integer_costs(problem, rows)
    cost = int(costs[np.arange(len(rows)), tree.predict(problem.rows)[rows]].sum())
    return tol * (cost / scale)


class _Leaf(NamedTuple):
    """A leaf, its rows, and their places in the order of the columns.

    `unmoved` is not empty while the rows of the parent are not yet moved to the places of its sides; siblings share it.
    """

    node: int
    rows: Indices
    places: PlacesOfNode
    unmoved: list[PlacesOfNode]
    depth: int


class Growth:
    """A tree whose leaves are split one after another.

    A leaf goes into the heap if its best cut gains enough, and else among the stuck leaves. With `thresholds=None` cuts
    may be intervals. No leaf at the depth `max_depth` is split.
    """

    problem: CutProblem
    thresholds: Thresholds | None
    least: float
    max_depth: int | None
    builder: TreeBuilder

    def __init__(
        self,
        tree: ThresholdTree,
        problem: CutProblem,
        thresholds: Thresholds | None,
        least: float,
        max_depth: int | None = None,
    ) -> None:
        self.problem, self.thresholds, self.least, self.max_depth = problem, thresholds, least, max_depth
        self.two_sided: bool = thresholds is None
        self.builder, node_of = TreeBuilder.from_tree(tree)
        self.begin: list[_Leaf] = self._leaves_of(tree, node_of)
        self.heap: list[tuple[float, int, _Leaf, LeafCut]] = []
        self.stuck: dict[int, _Leaf] = {}
        self.pairs: dict[int, list[Pair]] = {}  # of stuck leaves that were searched for pairs
        self.most: dict[int, float] = {}  # that cuts of a leaf save at most
        self.in_vain = 0  # leaves in succession that were searched for pairs in place of a cut and got none

    def grow(self, max_leaf_nodes: int, *, look_ahead: bool, instead: bool) -> ThresholdTree:
        """Return the tree with at most `max_leaf_nodes` leaves."""
        new = self.begin
        while (room := max_leaf_nodes - self.builder.n_leaves) > 0:  # leaves of the last split are not searched
            for leaf in new:
                self._consider(leaf)
            if self.heap:
                minus_gain, _, leaf, cut = heapq.heappop(self.heap)
                pair = self._pair_instead(leaf, -minus_gain, room) if instead else None
                new = self._split(leaf, cut) if pair is None else self._split_twice(leaf, pair)
            elif look_ahead and (best := self._best_pair(room)) is not None:
                new = self._split_twice(self.stuck.pop(best[0]), best[1])
            else:
                break
        return self.builder.build()

    def _leaves_of(self, tree: ThresholdTree, node_of: list[int]) -> list[_Leaf]:
        rows = np.flatnonzero(self.problem.kept)
        reached = tree.apply(self.problem.rows.values, n_jobs=self.problem.n_jobs)
        if self.thresholds is None:
            ends = np.cumsum(np.bincount(reached[rows], minlength=tree.n_leaves)).tolist()
            places = [PlacesOfNode(start, stop) for start, stop in pairwise([0, *ends])]
        else:
            places = self.thresholds.order.partition_by_leaf(reached, tree.n_leaves)
        rows = rows[np.argsort(reached[rows], kind="stable")]
        return [
            _Leaf(node_of[node], rows[span.start : span.stop], span, [], int(tree.node_depth[node]))
            for node, span in zip(tree.leaf_nodes.tolist(), places, strict=True)
        ]

    def _sides(self, places: PlacesOfNode, rows: Indices, inside: Bools) -> tuple[PlacesOfNode, PlacesOfNode]:
        """Return the places of the rows inside and outside of a cut, to which they are not yet moved."""
        if self.thresholds is not None:
            self.thresholds.order.is_left[rows] = inside
        middle = places.start + int(inside.sum())
        return PlacesOfNode(places.start, middle), PlacesOfNode(middle, places.stop)

    def _move_rows(self, unmoved: list[PlacesOfNode]) -> None:
        while unmoved:
            places = unmoved.pop()
            if self.thresholds is not None:
                self.thresholds.order.finish_split(places)

    def _consider(self, leaf: _Leaf) -> None:
        self._move_rows(leaf.unmoved)
        if self.max_depth is not None and leaf.depth >= self.max_depth:
            return
        if self.thresholds is None:
            gain, cut = best_cut(self.problem, leaf.rows, self.two_sided)
        else:
            gain, cut = self.thresholds.best_cut(leaf.rows, leaf.places)
        if cut is not None and gain > self.least:
            heapq.heappush(self.heap, (-gain, leaf.node, leaf, cut))
        else:
            self.stuck[leaf.node] = leaf

    def _split(self, leaf: _Leaf, cut: LeafCut) -> list[_Leaf]:
        """Split a leaf and return its two sides."""
        self._move_rows(leaf.unmoved)
        first, second = self.builder.split(leaf.node, cut.feature, cut.upper, cut.lower)
        self.builder.label(first, cut.first)
        self.builder.label(second, cut.second)
        inside = self.problem.rows.is_first(leaf.rows, cut.feature, cut.lower, cut.upper)
        places, unmoved = self._sides(leaf.places, leaf.rows, inside), [leaf.places]
        sides = zip((first, second), (leaf.rows[inside], leaf.rows[~inside]), places, strict=True)
        return [_Leaf(*side, unmoved, leaf.depth + 1) for side in sides]

    def _pair_instead(self, leaf: _Leaf, gain: float, room: int) -> Pair | None:
        """Return the best pair of cuts of a leaf whose best cut saves little, if the pair saves far more."""
        if room < 2 or self.in_vain == IN_VAIN or not is_little(gain, self._most(leaf), self.two_sided):
            return None
        pair = best_instead(best_pairs(self.problem, leaf.rows, self.two_sided), gain, room)
        self.in_vain = self.in_vain + 1 if pair is None else 0
        return pair

    def _best_pair(self, room: int) -> tuple[int, Pair] | None:
        """Return the stuck leaf and the pair of cuts that gain most for each leaf that they add.

        A leaf is not searched for pairs if these can save no more than a pair that is known, or add too many leaves.
        """
        if room < 2:
            return None
        best: tuple[float, int, Pair] | None = None
        for minus_most, node in sorted((-self._most(leaf) / 2, node) for node, leaf in self.stuck.items()):
            if -minus_most <= self.least or (best is not None and minus_most > best[0]):
                break
            if node not in self.pairs:
                self.pairs[node] = best_pairs(self.problem, self.stuck[node].rows, self.two_sided)
            for pair in self.pairs[node]:
                if pair.n_leaves <= room and pair.gain > self.least:
                    best = min(best or (0.0, node, pair), (-pair.gain, node, pair))
        return None if best is None else best[1:]

    def _most(self, leaf: _Leaf) -> float:
        """Return the cost that any cuts of a leaf save at most."""
        if leaf.node not in self.most:
            costs, scale = integer_costs(self.problem, leaf.rows)
            self.most[leaf.node] = (int(costs.sum(axis=0).min()) - int(costs.min(axis=1).sum())) / scale
        return self.most[leaf.node]

    def _split_twice(self, leaf: _Leaf, pair: Pair) -> list[_Leaf]:
        first, *seconds = cuts_of_pair(self.problem, leaf.rows, pair, self.two_sided)
        leaves = []
        for side, cut in zip(self._split(leaf, first), seconds, strict=True):
            leaves += [side] if cut is None else self._split(side, cut)
        return leaves
