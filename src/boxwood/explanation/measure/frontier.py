"""The frontier: leaves against price and agreement, from the prunings of one larger tree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._progress import Progress, as_progress, silent
from boxwood._validation import show_value
from boxwood.errors import DataError
from boxwood.explanation.change.trees import NodeChanges
from boxwood.explanation.choose import settings
from boxwood.explanation.measure.batch_statistics import BatchStatistics
from boxwood.explanation.measure.evidence import Evidence
from boxwood.explanation.measure.held_out import (
    MOST_FOLDS,
    held_out,
    how_of,
    loss_of_parts,
    parts_held_out,
    rest_of,
    with_rows_in_memory,
)
from boxwood.explanation.measure.losses import (
    Distance,
    LeafLosses,
    Loss,
    add_losses,
    cost_by_means,
    losses_on,
    one_by_one,
)
from boxwood.explanation.measure.measure import measure
from boxwood.explanation.records import Frontier, FrontierRow, HeldOut
from boxwood.grow import METHODS
from boxwood.grow.drawn import task_for_growth
from boxwood.grow.grown import Grown
from boxwood.grow.leaves.expand import expand_tree
from boxwood.grow.leaves.impurity import grow_by_impurity
from boxwood.grow.leaves.prune import Shares, shares_of
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood._types import Indices
    from boxwood.explanation.measured_tree import MeasuredTree

PER_CLUSTER = 4  # leaves of the larger tree for each cluster, at least
PER_LEAF = 2  # and for each leaf of the explanation's tree
_SAME = 1e-12  # of two shares of rows
_STEPS = "trees of the frontier"


def frontier_of(ex: MeasuredTree, folds: int = 0, verbose: Any = 0) -> Frontier:
    """Return the frontier, which the explanation keeps; `Explanation.frontier` states how it is made."""
    progress = as_progress(verbose)
    folds, kept = _checked_folds(folds), ex._kept.get("frontier")
    if kept is None or folds not in (0, kept.folds):
        ex._refuse_no_rows(f"frontier({folds or ''})")
        kept = ex._kept["frontier"] = _measure_frontier(ex, folds, progress)
    return kept


def _checked_folds(folds: Any) -> int:
    """Return a number of folds: 0, or from 2 on.

    Raises
    ------
    TypeError, ValueError
        If it is none.
    """
    if isinstance(folds, bool) or not isinstance(folds, Integral):
        raise TypeError(f"folds must be a whole number, got {show_value(folds)}")
    number = int(folds)
    if number != 0 and not 2 <= number <= MOST_FOLDS:
        raise ValueError(f"folds must be 0 or from 2 to {MOST_FOLDS}; got {show_value(folds)}")
    return number


def _measure_frontier(ex: MeasuredTree, folds: int, progress: Progress) -> Frontier:
    evidence = ex._known()
    if evidence.facts is not None:
        return _of_batches(ex, evidence, evidence.facts, folds)
    if evidence.whole is not None:  # so that all trees are measured on the same rows
        here = measure(evidence.task, Grown(ex.tree, ex.method), evidence.coordinates, leaf=evidence.leaf)
        ex = replace(ex, price=here.price, agreement=here.agreement, reference_cost=here.reference_cost)
    distance, way = Distance(ex.details.objective, evidence.kernel), way_of(ex, evidence)
    largest = evidence.task.with_leaves(largest_of(ex))
    progress(_STEPS, 0, 1 + folds)
    shares, leaf, grown_on = way.prunings(largest, evidence)
    losses = losses_on(shares.tree, evidence, distance, leaf=leaf, reference_cost=ex.reference_cost)
    if not folds:
        progress(_STEPS, 1, 1)
    held = held_out_by_size(ex, evidence, largest, way, shares.sizes(), folds, distance, progress)
    return frontier_on(ex, shares, losses, held, folds, way, len(grown_on.rows))


def frontier_on(
    ex: MeasuredTree, shares: Shares, losses: LeafLosses, held: HeldOutBySize, folds: int, way: Way, n_grown: int
) -> Frontier:
    """Return the frontier of an explanation from the prunings of a larger tree, what they lose, and that held out."""
    sizes = shares.sizes()
    inside = losses.of_each(shares.clusters_with(sizes))
    rows = [
        FrontierRow(m, loss.price, loss.agreement, *_held_out_of(outside), False)
        for m, loss, outside in zip(sizes, inside, held.of_sizes, strict=True)
    ]
    rows.append(FrontierRow(ex.n_leaves, ex.price, ex.agreement, *_held_out_of(held.of_this), True))
    rows.sort(key=lambda row: (row.leaves, row.is_this))
    by_agreement = ex.search_report is not None and ex.search_report.by_agreement
    return Frontier(tuple(rows), folds, way.name, way.objective, n_grown, ex._claim_on("agreement"), by_agreement)


class Pruned(NamedTuple):
    """The larger tree of a frontier on the columns of the table, each node with its cluster, and its prunings."""

    tree: ThresholdTree
    clusters: Indices
    ends: dict[int, list[int]]  # nodes that are leaves, by the number of leaves
    leaf: Indices  # of each row in the larger tree
    prices: dict[int, float]  # by the number of leaves; none where they were not asked for

    @classmethod
    def nowhere(cls, tree: ThresholdTree, leaf: Indices, prices: dict[int, float]) -> Pruned:
        """Return a tree that is pruned nowhere; IN: leaf (n,): of each row."""
        clusters = np.zeros(tree.n_nodes, dtype=np.int64)
        clusters[tree.leaf_nodes] = tree.leaf_clusters
        return cls(tree, clusters, {tree.n_leaves: tree.leaf_nodes.tolist()}, leaf, prices)


def trees_of_frontier(ex: MeasuredTree, sizes: Sequence[int], *, priced: bool) -> Pruned:
    """Return the trees of the frontier with some numbers of leaves, without those that the table's columns lack."""
    evidence = ex._rows("trees of a frontier")
    return _prune_to(ex, evidence, evidence.task, sizes, priced=priced)


def tree_without(ex: MeasuredTree, column: int) -> Pruned | None:
    """Return the best pruning, with no more leaves, of a larger tree that may not test a column of the table.

    None where each tree that the method begins with tests it, or no other column may be tested.
    """
    evidence = ex._rows("a tree without a column")
    budget = replace(evidence.budget, forbidden=tuple(sorted({*evidence.budget.forbidden, column})))
    try:
        task = evidence.task.within(evidence.coordinates.budget_of_growth(budget))
    except DataError:  # the clusters are made of no other column
        return None
    found = _prune_to(ex, evidence, task, None, priced=False)
    [(size, ends)] = found.ends.items()
    named = {node: int(found.clusters[node]) for node in ends}
    tree = NodeChanges(leaves=named).on(found.tree, ex.n_clusters)  # without what is below
    if column in tree.features or size == 1:
        return None
    leaf = np.searchsorted(ends, found.tree.leaf_nodes[found.leaf], side="right") - 1
    return Pruned.nowhere(tree, leaf, {})


class BySize(NamedTuple):
    """A frontier for whoever goes from tree to tree, and those of its trees that are the explanation's own, pruned.

    Always holds: it has one tree of each size at most, none agrees less than one with fewer leaves, and the tree of the
    explanation is one of them.
    """

    frontier: Frontier
    own: Pruned | None


def best_by_size(ex: MeasuredTree, frontier: Frontier, *, priced: bool) -> BySize:
    """Return the better tree of each size: that of a frontier, or the explanation's own with some cuts undone."""
    evidence = ex._in_memory
    if evidence is None or evidence.whole is not None:
        return BySize(without_worse(frontier), None)
    shares = shares_of(ex.tree, evidence.task, "mistakes", leaf=evidence.leaf)
    sizes = [m for m in shares.sizes() if m < ex.n_leaves]
    own = _prune_at(ex, evidence, shares, evidence.leaf, sizes, priced=priced)
    right = evidence.held[np.arange(ex.n_leaves), shares.clusters_with(sizes)].sum(axis=1) / evidence.held.sum()
    rows = [
        FrontierRow(m, own.prices.get(m, math.nan), min(share, 1.0), None, None, False)
        for m, share in zip(sizes, right.tolist(), strict=True)
    ]
    best = without_worse(replace(frontier, rows=(*frontier, *rows)))
    taken = set(map(id, best))
    kept = {row.leaves: own.ends[row.leaves] for row in rows if id(row) in taken}
    return BySize(best, own._replace(ends=kept) if kept else None)


def _prune_to(ex: MeasuredTree, evidence: Evidence, task: Task, sizes: Sequence[int] | None, *, priced: bool) -> Pruned:
    """Return prunings of a larger tree; IN: sizes: None for the best one with no more leaves than there are."""
    way, jobs = way_of(ex, evidence), evidence.task.n_jobs
    largest = largest_of(ex) if sizes else PER_LEAF * ex.n_leaves
    tree = evidence.on_table(way.grown(task.with_leaves(largest))[0])
    leaf = tree.apply(evidence.coordinates.table, n_jobs=jobs)
    shares = shares_of(tree, evidence.task, way.objective, leaf=leaf)
    sizes = [shares.fewest(ex.n_leaves)] if sizes is None else [m for m in sizes if m <= shares.n_leaves]
    return _prune_at(ex, evidence, shares, leaf, sizes, priced=priced)


def _prune_at(
    ex: MeasuredTree, evidence: Evidence, shares: Shares, leaf: Indices, sizes: Sequence[int], *, priced: bool
) -> Pruned:
    """Return the cheapest prunings of some sizes; IN: leaf (n,): of each row in the whole tree."""
    tree, prices = shares.tree.relabeled(shares.clusters[shares.tree.leaf_nodes]), dict[int, float]()
    if priced:
        distance, known = (
            Distance(ex.details.objective, evidence.kernel),
            {"leaf": leaf, "reference_cost": ex.reference_cost},
        )
        losses = losses_on(tree, evidence, distance, **known).of_each(shares.clusters_with(sizes))
        prices = {m: loss.price for m, loss in zip(sizes, losses, strict=True)}
    return Pruned(tree, shares.clusters, {m: shares.ends_with(m) for m in sizes}, leaf, prices)


def without_worse(frontier: Frontier) -> Frontier:
    """Return a frontier without trees beside which a smaller one, or one of as many leaves, agrees as much or more.

    The tree of the explanation stays, so smaller ones that agree more are left out, too: whoever goes from tree to
    tree never finds that more leaves agree less.

    Examples
    --------
    >>> rows = [(3, 0.8, False), (4, 0.8, False), (4, 0.9, True), (5, 0.85, False), (6, 0.95, False)]
    >>> rows = [FrontierRow(n, 1.0, agreement, None, None, this) for n, agreement, this in rows]
    >>> [(row.leaves, row.agreement) for row in without_worse(Frontier(tuple(rows), 0, "cart", "mistakes", 9))]
    [(3, 0.8), (4, 0.9), (6, 0.95)]
    """
    this, kept, most = frontier.this, list[FrontierRow](), 0.0
    for row in sorted(frontier, key=lambda row: (row.leaves, not row.is_this, -row.agreement)):
        rises = row.agreement > most + _SAME
        if row.is_this or (rises and (row.leaves > this.leaves or row.agreement <= this.agreement)):
            kept.append(row)
            most = max(most, row.agreement)
    return replace(frontier, rows=tuple(kept))


def largest_of(ex: MeasuredTree) -> int:
    """Return the number of leaves of the larger tree."""
    return max(PER_CLUSTER * ex.n_clusters, PER_LEAF * ex.n_leaves)


# --------------------------------------------------------------------------------------------- on rows held out
class HeldOutBySize(NamedTuple):
    """What is lost on rows held out, by the prunings of each size and by the explanation's tree; None if unknown."""

    of_sizes: Sequence[Loss | None]
    of_this: HeldOut | None


def held_out_by_size(
    ex: MeasuredTree,
    evidence: Evidence,
    largest: Task,
    way: Way,
    sizes: list[int],
    folds: int,
    distance: Distance,
    progress: Progress = silent,
) -> HeldOutBySize:
    """Return what is lost on the rows of all folds; nothing is known without folds."""
    if not folds:
        return HeldOutBySize([None] * len(sizes), None)
    of_sizes = _on_folds(evidence, largest, way, sizes, folds, distance, progress)
    return HeldOutBySize(of_sizes, _of_this(ex, evidence, folds, distance, progress))


def _held_out_of(outside: Loss | HeldOut | None) -> tuple[float | None, float | None]:
    """Return price and agreement on the rows held out, if any were."""
    return (None, None) if outside is None else (outside.price, outside.agreement)


def _of_this(
    ex: MeasuredTree, evidence: Evidence, folds: int, distance: Distance, progress: Progress
) -> HeldOut | None:
    """Return what `explain` measured with as many folds, or measure it now; None for a tree that was there already."""
    if ex.held_out is not None and ex.held_out.how == how_of(folds):
        return ex.held_out
    return None if evidence.grow is None else held_out(evidence, folds, distance, progress)


def _on_folds(
    evidence: Evidence, largest: Task, way: Way, sizes: list[int], folds: int, distance: Distance, progress: Progress
) -> list[Loss]:
    """Return for each size the loss on the rows of all folds, each by the pruning of the tree grown on the others."""

    def loss(task: Task, held: Indices) -> list[Loss]:
        shares = way.prunings(task, rest_of(evidence, task, held)).shares
        losses = losses_on(shares.tree, evidence.of_rows(held), distance)
        return losses.of_each(shares.clusters_with([shares.fewest(m) for m in sizes]))

    def tell(step: str, done: int, total: int) -> None:
        progress(_STEPS, 1 + done, 1 + total)

    by_fold = loss_of_parts(largest, parts_held_out(largest, folds), loss, tell)
    return [add_losses([of_fold[i] for of_fold in by_fold]) for i in range(len(sizes))]


# ------------------------------------------------------------------------------------------ how the tree is grown
class Prunings(NamedTuple):
    """All cheapest prunings of the larger tree.

    Beside them is the leaf of each row, or None where only a sample of the rows went down the tree, and the task with
    the rows on which it was grown and pruned.
    """

    shares: Shares
    leaf: Indices | None
    grown_on: Task


class Way(NamedTuple):
    """How the larger tree is grown, and what its prunings have the least of."""

    name: str  # in the words of `Explanation.method`
    grow: Callable[[Task, ThresholdTree | None], ThresholdTree]  # by a task, from the tree to begin with
    objective: str
    sampled: bool  # whether a long table is sampled, as "auto" does
    start: Callable[[Task], ThresholdTree] | None = None  # grows the tree to begin with, on all rows

    def grown(self, task: Task) -> tuple[ThresholdTree, Task]:
        """Return the larger tree for a task, and the task with the rows on which it was grown in the end."""
        start = None if self.start is None else self.start(task)
        rows = task.sampled(max(settings.ROWS, settings.ROWS_PER_LEAF * task.leaves())) if self.sampled else task
        return self.grow(rows, start), rows

    def prunings(self, task: Task, evidence: Evidence) -> Prunings:
        """Return the prunings of the larger tree for a task.

        Where thresholds are rounded, it is rounded before it is pruned, on the table's columns and by all rows.
        """
        tree, grown_on = self.grown(task)
        if evidence.budget.moves_thresholds:
            tree = evidence.on_table(tree)
            leaf = tree.apply(evidence.coordinates.table, n_jobs=task.n_jobs)
            return Prunings(shares_of(tree, evidence.task, self.objective, leaf=leaf), leaf, grown_on)
        leaf = tree.apply(grown_on.rows, n_jobs=task.n_jobs)
        shares = shares_of(tree, grown_on, self.objective, leaf=leaf)
        return Prunings(shares, leaf if grown_on is task else None, grown_on)


def way_of(ex: MeasuredTree, evidence: Evidence) -> Way:
    """Return how the larger tree is grown."""
    if ex.search_report is not None and not ex.search_report.by_agreement:
        return Way("regression-centers", _by_impurity("centers"), "cost", True)
    if ex.search_report is not None or evidence.grow is None:
        return Way("cart-entropy", _by_impurity("entropy"), "mistakes", True)
    name = next(name for name in sorted(METHODS, key=len, reverse=True) if ex.method.startswith(name))
    has_centers = evidence.kernel is None and evidence.coordinates.measured is None  # in the columns of the task
    by_cost = has_centers and ex.details.objective == "sqeuclidean" and not METHODS[name].by_mistakes
    objective = "cost" if by_cost else "mistakes"
    if METHODS[name].one_leaf_each:
        cuts = "threshold" if evidence.kernel is None else "interval"
        grow = _expansion(objective, cuts)
        return Way(expanded_name(name, objective), grow, objective, True, lambda task: _begin_tree(evidence, task))
    return Way(name, lambda task, _: _grow_tree(evidence, task), objective, False)


def expanded_name(name: str, objective: str) -> str:
    """Return the name of the tree of a method that is expanded by an objective."""
    return f"{name}-{'exkmc' if objective == 'cost' else 'expand'}"


def _by_impurity(impurity: str) -> Callable[[Task, ThresholdTree | None], ThresholdTree]:
    return lambda task, _: grow_by_impurity(task, impurity, task.leaves())


def _expansion(objective: str, cuts: str) -> Callable[[Task, ThresholdTree | None], ThresholdTree]:
    """Return what expands a tree to the leaves of a task."""

    def grow(task: Task, start: ThresholdTree | None) -> ThresholdTree:
        if start is not None and start.n_leaves >= task.leaves():
            return start
        return expand_tree(start, task, task.leaves(), loss=objective, cuts=cuts)

    return grow


def _begin_tree(evidence: Evidence, task: Task) -> ThresholdTree:
    """Return the tree with one leaf for each cluster; that of all rows is there already."""
    is_all = task.store is evidence.task.store
    return _grow_tree(evidence, evidence.task if is_all else task.with_leaves(None))


def _grow_tree(evidence: Evidence, task: Task) -> ThresholdTree:
    assert evidence.grow is not None
    return evidence.grow(task).tree


def _of_batches(ex: MeasuredTree, evidence: Evidence, facts: BatchStatistics, folds: int) -> Frontier:
    """Return the frontier of a table in batches.

    A method by its name grows the larger tree on the rows on which it grows a tree, and they prune it. Otherwise, with
    folds, and where thresholds are rounded, a sample does. Price and agreement are those of all rows, held out those of
    the sample.
    """
    is_rounded, task = evidence.budget.moves_thresholds, evidence.task
    if not folds and not is_rounded and ex.search_report is None and evidence.grow is not None:
        way, (few, on_drawn) = way_of(ex, evidence), task_for_growth(task.with_leaves(largest_of(ex)))
        tree = way.grow(few, None if way.start is None else way.start(task))
        shares = shares_of(tree, few, way.objective)
        nothing = HeldOutBySize([None] * len(shares.sizes()), None)
        losses = _losses(BatchStatistics(task, objective=ex.details.objective), tree)
        return frontier_on(ex, shares, losses, nothing, 0, way, len(few.rows) if on_drawn else ex.n_rows)
    sampled, is_all = with_rows_in_memory(ex)
    rows = sampled._rows()
    of_sample, to_grow = way_of(sampled, rows), rows.task.with_leaves(largest_of(ex))
    shares, _, grown_on = of_sample.prunings(to_grow, rows)
    held = held_out_by_size(sampled, rows, to_grow, of_sample, shares.sizes(), folds, Distance(ex.details.objective))
    n_grown = ex.n_rows if is_all and grown_on is to_grow else len(grown_on.rows)
    on_table = facts.task if is_rounded else task  # a tree with rounded thresholds tests the table's columns
    measured = BatchStatistics(on_table, facts.scale if is_rounded else None, ex.details.objective)
    return frontier_on(ex, shares, _losses(measured, shares.tree), held, folds, of_sample, n_grown)


def _losses(facts: BatchStatistics, tree: ThresholdTree) -> LeafLosses:
    """Return what the prunings of a tree lose on all rows, from two passes, or three.

    Medians of groups take some more passes for each pruning.
    """
    [sums] = facts.of_trees([tree])
    held = sums.held.astype(np.float64)
    if facts.objective != "sqeuclidean":
        by_medians = one_by_one(lambda clusters: facts.cost_of_groups(tree.relabeled(clusters)))
        return LeafLosses(held, by_medians, facts.cost_of_clusters)
    means, inside = sums.means(), facts.cost_inside_leaves(sums)
    present = means.weights > 0
    shift = means.mean[np.argmax(present)]
    away = np.where(present[:, None], (means.mean - shift) + means.rest, 0.0)
    cost = cost_by_means(means.weights, away if facts.scale is None else away / facts.scale, inside, facts.k)
    return LeafLosses(held, cost, facts.cost_of_clusters)
