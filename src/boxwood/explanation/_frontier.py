"""The frontier: leaves against price and agreement, from the prunings of one larger tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from boxwood.explanation._evidence import Evidence
from boxwood.explanation._holdout import held_out, how_of, loss_of_parts, losses_on, parts_held_out, rest_of
from boxwood.explanation._losses import Distance, Loss, summed
from boxwood.explanation._progress import Progress, silent
from boxwood.explanation._records import Frontier, FrontierRow, HeldOut
from boxwood.explanation._search import ROWS, ROWS_PER_LEAF
from boxwood.grow import METHODS
from boxwood.grow._expand import expanded
from boxwood.grow._impurity import grown_by
from boxwood.grow._prune import Shares, shares_of
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood._types import Indices
    from boxwood.explanation._explanation import Explanation

__all__ = ["frontier_of"]

PER_CLUSTER = 4  # leaves of the larger tree for each cluster, at least
PER_LEAF = 2  # and for each leaf of the explanation's tree
_STEPS = "trees of the frontier"


def frontier_of(ex: Explanation, folds: int, progress: Progress = silent) -> Frontier:
    """Return the frontier; `Explanation.frontier` states how it is made."""
    evidence, distance = ex._rows(), Distance(ex.objective, ex._rows().kernel)
    task, way = evidence.task, _way_of(ex, evidence)
    largest = replace(task, max_leaf_nodes=max(PER_CLUSTER * ex.n_clusters, PER_LEAF * ex.n_leaves))
    grown_on = way.rows_of(largest)
    shares = way.shares(grown_on, evidence)
    losses = losses_on(shares.tree, evidence, distance)
    progress(_STEPS, 1, 1 + folds)
    sizes = [m for m in range(2, shares.tree.n_leaves + 1) if shares.fewest(m) == m]
    by_size = [losses.of(shares.clusters_with(m)) for m in sizes]
    outside: list[Loss | None] = [None] * len(sizes)
    of_this = None
    if folds:
        outside = list(_on_folds(evidence, largest, way, sizes, folds, distance, progress))
        of_this = _of_this(ex, evidence, folds, distance, progress)
    rows = [
        FrontierRow(m, loss.price, loss.agreement, *_held_out_of(held), False)
        for m, loss, held in zip(sizes, by_size, outside, strict=True)
    ]
    rows.append(FrontierRow(ex.n_leaves, ex.price, ex.agreement, *_held_out_of(of_this), True))
    rows.sort(key=lambda row: (row.leaves, row.is_this))
    return Frontier(tuple(rows), folds, way.name, way.objective, len(grown_on.rows))


def _held_out_of(outside: Loss | HeldOut | None) -> tuple[float | None, float | None]:
    """Return price and agreement on the rows held out, if any were."""
    return (None, None) if outside is None else (outside.price, outside.agreement)


def _of_this(ex: Explanation, evidence: Evidence, folds: int, distance: Distance, progress: Progress) -> HeldOut | None:
    """Return what `explain` measured with as many folds, or measure it now; None for a tree that was there already."""
    if ex.held_out is not None and ex.held_out.how == how_of(folds):
        return ex.held_out
    return None if evidence.grow is None else held_out(evidence, folds, distance, progress)


def _on_folds(
    evidence: Evidence,
    largest: Task,
    way: _Way,
    sizes: list[int],
    folds: int,
    distance: Distance,
    progress: Progress,
) -> list[Loss]:
    """Return for each size the loss on the rows of all folds, each by the pruning of the tree grown on the others."""

    def loss(task: Task, held: Indices) -> list[Loss]:
        shares = way.shares(way.rows_of(task), rest_of(evidence, task, held))
        losses, most = losses_on(shares.tree, evidence.of_rows(held), distance), shares.tree.n_leaves
        return [losses.of(shares.clusters_with(shares.fewest(min(m, most)))) for m in sizes]

    def tell(step: str, done: int, total: int) -> None:
        progress(_STEPS, 1 + done, 1 + total)

    by_fold = loss_of_parts(largest, parts_held_out(largest, folds), loss, tell)
    return [summed([of_fold[i] for of_fold in by_fold]) for i in range(len(sizes))]


# ------------------------------------------------------------------------------------------ how the tree is grown


class _Way(NamedTuple):
    """How the larger tree is grown, and what its prunings have the least of."""

    name: str
    grow: Callable[[Task], ThresholdTree]
    objective: str
    sampled: bool  # whether a long table is sampled, as "auto" does

    def rows_of(self, task: Task) -> Task:
        """Return the task on the rows that the tree is grown on."""
        return task.sampled(max(ROWS, ROWS_PER_LEAF * task.leaves())) if self.sampled else task

    def shares(self, task: Task, evidence: Evidence) -> Shares:
        """Return the tree for a task, and all its cheapest prunings.

        Where thresholds are rounded, it is rounded before it is pruned, on the table's columns and by all rows.
        """
        tree = self.grow(task)
        if evidence.budget.round_thresholds is None:
            return shares_of(tree, task, self.objective, None)
        tree = evidence.on_table(tree)
        leaf = tree.apply(evidence.coordinates.table, n_jobs=task.n_jobs)
        return shares_of(tree, evidence.task, self.objective, None, leaf=leaf)


def _way_of(ex: Explanation, evidence: Evidence) -> _Way:
    if ex.search is not None and ex.search.objective != "agreement" and not ex.search.reason:
        return _Way("regression-centers", lambda task: grown_by(task, "centers", task.leaves()), "cost", True)
    if ex.search is not None or evidence.grow is None:
        return _Way("cart-entropy", lambda task: grown_by(task, "entropy", task.leaves()), "mistakes", True)
    name = next(name for name in sorted(METHODS, key=len, reverse=True) if ex.method.startswith(name))
    has_centers = evidence.kernel is None and evidence.coordinates.measured is None  # in the columns of the task
    by_cost = has_centers and ex.objective == "sqeuclidean" and not METHODS[name].by_mistakes
    objective = "cost" if by_cost else "mistakes"
    if METHODS[name].one_leaf_each:
        how = "exkmc" if by_cost else "expand"
        return _Way(f"{name}-{how}", lambda task: _expanded(evidence, task, objective), objective, False)
    return _Way(name, lambda task: _grown(evidence, task), objective, False)


def _grown(evidence: Evidence, task: Task) -> ThresholdTree:
    assert evidence.grow is not None
    return evidence.grow(task).tree


def _expanded(evidence: Evidence, task: Task, objective: str) -> ThresholdTree:
    """Return the tree with one leaf for each cluster, expanded to the leaves of the task."""
    start = _grown(evidence, replace(task, max_leaf_nodes=None))
    if start.n_leaves >= task.leaves():
        return start
    cuts = "threshold" if evidence.kernel is None else "interval"
    return expanded(start, task, task.leaves(), objective=objective, cuts=cuts)
