"""Leaves and cuts exchanged for better ones: `refill_leaves`, `swap_leaves`, `preferring` some columns, "
"`within` a budget."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.grow.leaves.expand import expand_tree
from boxwood.grow.leaves.prune import sums_by_node
from boxwood.grow.refinement._recut import is_past
from boxwood.grow.refinement.refine import refine_tree, refined_with_centers
from boxwood.grow.shared.costs import CutProblem, integer_costs, integer_costs_of, make_problem
from boxwood.grow.shared.names import (
    clusters_reached,
    leaves_reached,
    name_leaves,
    with_centers_reached,
    without_leaves,
)
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder, between
from boxwood.tree.merge import merge_leaves

TURNS = 5  # largest number of times that freed leaves are used elsewhere


def refill_leaves(
    tree: ThresholdTree,
    task: Task,
    max_leaf_nodes: int,
    loss: str,
    *,
    turns: int = TURNS,
    tol: float = 0.0,
    deadline: float | None = None,
) -> ThresholdTree:
    """Return the tree without useless cuts, and with the freed leaves used where they lower the loss most.

    In each turn cuts that separate nothing are left out (`merge_leaves`), leaves are split until there are
    `max_leaf_nodes` (`expand_tree`), and cuts are improved (`refined_with_centers` for the loss "cost", with `tol`,
    and `refine_tree` for "mistakes"). It ends when no leaf is free, when no split lowers the loss, after `turns`
    turns, or at the deadline on the clock of `time.monotonic`.

    Always holds: names are honest, and no leaf is empty (see `name_leaves`); no cut separates nothing; there are at
    most `max_leaf_nodes` leaves, if the tree had no more; the loss is not higher than that of `name_leaves(tree,
    task, ...)`. It is the weight of the rows outside of their cluster, or the cost with the best centres of the
    tree's clusters.
    """
    tree = merge_leaves(name_leaves(tree, task, loss))
    for _ in range(turns):
        if tree.n_leaves >= max_leaf_nodes or is_past(deadline):
            break
        more = _expand_tree(tree, task, max_leaf_nodes, loss)
        if more == tree:
            break
        if loss == "cost":
            more = refined_with_centers(more, task, tol=tol, deadline=deadline)
        else:
            more = refine_tree(more, task, loss, deadline=deadline)
        tree = merge_leaves(name_leaves(more, task, loss))
    return tree


def _expand_tree(tree: ThresholdTree, task: Task, max_leaf_nodes: int, loss: str) -> ThresholdTree:
    """Return the tree with more leaves that lower the loss, or the same tree."""
    own = with_own_centers(tree, task, loss)
    more = name_leaves(expand_tree(tree, own, max_leaf_nodes, loss=loss), own, loss)
    return more if _sum_losses(more, own, loss) < _sum_losses(tree, own, loss) else tree


def loss_of(tree: ThresholdTree, task: Task, loss: str) -> float:
    """Return the weight of the rows outside of their cluster, or the cost with the best centres of the tree's clusters.

    All trees of a task have the same unit.
    """
    return _sum_losses(tree, with_own_centers(tree, task, loss), loss)


def with_own_centers(tree: ThresholdTree, task: Task, loss: str) -> Task:
    """Return the task with the best centres of the tree's clusters, for the loss "cost"."""
    return with_centers_reached(tree, task) if loss == "cost" else task


def _sum_losses(tree: ThresholdTree, task: Task, loss: str) -> float:
    problem, rows = make_problem(task, loss), np.flatnonzero(task.kept)
    costs = problem.cost_under(rows, clusters_reached(tree, task)[rows])
    return float((costs * problem.share[rows] * problem.times[rows]).sum())


SINGLES = 4  # leaves that are swapped one by one; 1 would gain nearly as much in half the time
_LOWER = 1e-9  # least share by which a loss must fall, so that rounding decides nothing


def swap_leaves(
    tree: ThresholdTree,
    task: Task,
    max_leaf_nodes: int,
    loss: str,
    *,
    singles: int = SINGLES,
    deadline: float | None = None,
) -> ThresholdTree:
    """Return a tree with a lower loss and as many leaves, if swaps of leaves find one.

    The worth of a leaf is the loss that its rows would add on the other side of the cut above it. The quarter of
    the leaves with the least worth is removed, and the rest is expanded and refined (`refill_leaves`). The new tree
    replaces the old one if its loss is lower and no cluster has lost its last leaf; otherwise half as many leaves
    are removed, down to one, and then single leaves in the order of their worth, `singles` in all. It ends at the
    deadline, on the clock of `time.monotonic`.

    Always holds: all that `refill_leaves` promises; in particular the loss is not higher than that of
    `name_leaves(tree, task, loss)`.
    """
    best = refill_leaves(tree, task, max_leaf_nodes, loss, deadline=deadline)
    least, places = loss_of(best, task, loss), _places(best.n_leaves, singles)
    while places and not is_past(deadline):
        start, stop = places[0]
        dropped = np.zeros(best.n_leaves, dtype=np.bool_)
        dropped[np.argsort(_worths(best, task, loss), kind="stable")[start:stop]] = True
        other = refill_leaves(without_leaves(best, dropped), task, max_leaf_nodes, loss, deadline=deadline)
        other_loss = loss_of(other, task, loss)
        if other_loss < least * (1 - _LOWER) and np.isin(best.leaf_clusters, other.leaf_clusters).all():
            best, least = other, other_loss
        else:
            places = places[1:]
    return best


def _places(n_leaves: int, n_singles: int) -> list[tuple[int, int]]:
    """Return which leaves are removed in turn, as ranges of the leaves sorted by worth."""
    sizes = [n_leaves // 4 >> i for i in range(n_leaves.bit_length()) if n_leaves // 4 >> i > 0] or [1]
    singles = [(i, i + 1) for i in range(1, n_singles)]
    return [(start, stop) for start, stop in [(0, size) for size in sizes] + singles if stop < n_leaves]


def _worths(tree: ThresholdTree, task: Task, loss: str) -> Floats:
    """Return the worth of each leaf, shape (n_leaves,): the loss its rows add on the other side of the cut above."""
    task = with_own_centers(tree, task, loss)
    problem, rows = make_problem(task, loss), np.flatnonzero(task.kept)
    leaf = leaves_reached(tree, task)[rows]
    order = np.argsort(leaf, kind="stable")
    rows, ends = rows[order], np.searchsorted(leaf[order], np.arange(tree.n_leaves + 1))
    of_leaves, clusters = [slice(*each) for each in pairwise(ends.tolist())], np.empty(len(rows), dtype=np.intp)
    for node, of_leaf in zip(tree.leaf_nodes.tolist(), of_leaves, strict=True):
        above = int(tree.parent[node])
        sibling = above + 1 if node != above + 1 else int(tree.second[above])
        if tree.feature[sibling] < 0:
            clusters[of_leaf] = tree.cluster[sibling]
        else:
            clusters[of_leaf] = subtree(tree, sibling).predict(task.rows.values[rows[of_leaf]], n_jobs=1)
    more = problem.cost_under(rows, clusters) - problem.cost_under(rows, tree.leaf_clusters[leaf[order]])
    more = more * problem.share[rows] * problem.times[rows]
    return np.array([more[of_leaf].sum() for of_leaf in of_leaves])


NEARLY = 0.01  # largest share by which the loss may rise so that cuts test preferred columns


class _Exchange(NamedTuple):
    """A cut that may replace the cut of a node; the smaller is better."""

    change: int  # of the rows' whole costs
    feature: int
    threshold: float
    swaps: bool  # whether the subtrees of the two sides are swapped


def preferring(tree: ThresholdTree, task: Task, loss: str) -> ThresholdTree:
    """Return the tree with cuts replaced by cuts on preferred columns, if the loss rises by at most 1%.

    Cuts on other columns are visited from the root down, in pre-order. With the subtrees of both sides fixed, the
    cheapest threshold for the rows of the node is found in each preferred column, with the sides as they are or
    swapped. The cheapest of these cuts that keeps the budget, and with which the loss is at most 1% above that of the
    original tree, replaces the cut. The loss is the weight of the rows outside of their cluster, or the cost with the
    best centres of the tree's clusters; see `loss_of`.

    Always holds: the loss is at most 1.01 times that of `tree`; the shape is the same, up to swapped sides. Two-sided
    cuts stay. Ties go to the lowest feature, then to the lowest threshold. Takes time n log n for each cut and each
    preferred column.
    """
    preferred = [j for j in task.budget.preferred if j not in task.budget.forbidden]
    if not preferred:
        return tree
    most = loss_of(tree, task, loss) * (1 + NEARLY)
    node = 0
    while node < tree.n_nodes:
        is_cut = tree.feature[node] >= 0 and np.isneginf(tree.lower[node])
        if is_cut and int(tree.feature[node]) not in preferred:
            for exchange in _exchanges(tree, node, task, make_problem(task, loss), preferred):
                other = _exchange_leaves(tree, node, exchange)
                if keeps(other, task) and loss_of(other, task, loss) <= most:
                    tree = other
                    break
        node += 1
    return tree


def _exchanges(tree: ThresholdTree, node: int, task: Task, problem: CutProblem, columns: list[int]) -> list[_Exchange]:
    """Return the best cut of a node in each of some columns, the cheapest first."""
    rows = np.flatnonzero(_reaches(tree, node, task) & task.kept)
    sides = [
        subtree(tree, child).predict(task.rows.values[rows], n_jobs=task.n_jobs)
        for child in (node + 1, int(tree.second[node]))
    ]
    first, second = integer_costs_of(problem, rows, sides)
    exchanges = (_best(j, task, rows, first - second) for j in columns)
    return sorted(exchange for exchange in exchanges if exchange is not None)


def _best(feature: int, task: Task, rows: Indices, difference: Ints) -> _Exchange | None:
    values = task.rows.column(feature, rows)
    order = np.argsort(values, kind="stable")
    values, sums = values[order], np.cumsum(difference[order])
    places = np.flatnonzero(values[1:] != values[:-1])  # the last row on the first side of each cut
    if not len(places):
        return None
    changes = sums[places], sums[-1] - sums[places]  # with the sides as they are; with the sides swapped
    swaps = bool(changes[1].min() < changes[0].min())
    best = int(places[changes[swaps].argmin()])
    threshold = float(between(*values[best : best + 2].tolist()))
    return _Exchange(int(changes[swaps].min()), feature, threshold, swaps)


def _exchange_leaves(tree: ThresholdTree, node: int, exchange: _Exchange) -> ThresholdTree:
    builder, waiting = TreeBuilder(), [(0, 0)]
    while waiting:
        old, made = waiting.pop()
        if tree.feature[old] < 0:
            builder.label(made, int(tree.cluster[old]))
            continue
        cut = int(tree.feature[old]), float(tree.upper[old]), float(tree.lower[old])
        children = old + 1, int(tree.second[old])
        if old == node:
            cut = exchange.feature, exchange.threshold, -np.inf
            children = children[::-1] if exchange.swaps else children
        first, second = builder.split(made, *cut)
        waiting += ((children[1], second), (children[0], first))
    return builder.build()


def subtree(tree: ThresholdTree, node: int) -> ThresholdTree:
    """Return the tree below a node."""
    open_ends = np.where(tree.feature[node:] < 0, -1, 1).cumsum()
    end = node + int(np.argmax(open_ends < 0)) + 1
    second = tree.second[node:end]
    arrays = tree.feature[node:end], tree.lower[node:end], tree.upper[node:end]
    return ThresholdTree(*arrays, np.where(second < 0, -1, second - node), tree.cluster[node:end])


def _reaches(tree: ThresholdTree, node: int, task: Task) -> Bools:
    """Return whether each row reaches a node."""
    below = np.arange(len(subtree(tree, node).feature)) + node
    inside = np.isin(tree.leaf_nodes, below)
    reached: Bools = inside[tree.apply(task.rows, n_jobs=task.n_jobs)]
    return reached


def within(tree: ThresholdTree, task: Task, loss: str) -> ThresholdTree:
    """Return the tree cut back to the budget of the task: its largest depth and fewest rows of a leaf.

    First each cut at the largest depth becomes a leaf of the cheapest cluster for its rows. Then the leaf with the
    fewest kept rows is removed while it has too few, the first of equals; its sibling replaces the cut above. If
    anything has changed, names are honest and no leaf is empty.

    Always holds: `keeps(result, task)`, if the task has at least `min_samples_leaf` kept rows. A tree that keeps the
    budget is returned as it is.
    """
    if keeps(tree, task):
        return tree
    if task.budget.max_depth is not None:
        tree = _cut_off(tree, task, task.budget.max_depth, loss)
    while (rows := _rows_of_leaves(tree, task)).min() < task.budget.min_samples_leaf and tree.n_leaves > 1:
        tree = without_leaves(tree, np.arange(tree.n_leaves) == rows.argmin())
    return name_leaves(tree, task, loss)


def keeps(tree: ThresholdTree, task: Task) -> bool:
    """Return whether a tree keeps the largest depth and the fewest rows of a leaf that the budget of a task sets."""
    budget = task.budget
    if budget.max_depth is not None and tree.depth > budget.max_depth:
        return False
    return budget.min_samples_leaf == 1 or int(_rows_of_leaves(tree, task).min()) >= budget.min_samples_leaf


def _cut_off(tree: ThresholdTree, task: Task, max_depth: int, loss: str) -> ThresholdTree:
    if tree.depth <= max_depth:
        return tree
    problem = make_problem(task, loss)
    rows = np.flatnonzero(problem.kept)
    costs, _ = integer_costs(problem, rows)
    clusters = sums_by_node(tree, costs, leaves_reached(tree, task)[rows]).argmin(axis=1)
    builder, waiting = TreeBuilder(), [(0, 0)]
    while waiting:
        node, made = waiting.pop()
        if tree.feature[node] < 0:
            builder.label(made, int(tree.cluster[node]))
        elif tree.node_depth[node] == max_depth:
            builder.label(made, int(clusters[node]))
        else:
            first, second = builder.split(made, *tree.test(node))
            waiting += ((int(tree.second[node]), second), (node + 1, first))
    return builder.build()


def _rows_of_leaves(tree: ThresholdTree, task: Task) -> Indices:
    """Return the number of kept rows in each leaf, shape (n_leaves,)."""
    return np.bincount(leaves_reached(tree, task)[task.kept], minlength=tree.n_leaves)
