"""Preferred columns: cuts on other columns are exchanged where that costs nearly nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Indices, Ints
from boxwood.grow._costs import Problem, make_problem, whole_costs_of
from boxwood.grow._refill import loss_of
from boxwood.grow._within import keeps
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder, between

__all__ = ["NEARLY", "preferring"]

NEARLY = 0.01  # share of its loss by which a tree may lose more, so that cuts test preferred columns


class _Exchange(NamedTuple):
    """Another cut of a node; the smaller is better."""

    change: int  # of the rows' whole costs
    feature: int
    threshold: float
    swaps: bool  # whether the sides change places


def preferring(tree: ThresholdTree, task: Task, objective: str) -> ThresholdTree:
    """Return the tree with cuts exchanged for cuts on preferred columns, while it loses at most 1% more.

    Cuts on other columns are visited from the root down, in pre-order. For each, everything below it stays as it is,
    and in each preferred column the threshold is looked for at which the rows of the node cost least, with both sides
    in their places or exchanged. The cheapest of these cuts that keeps the budget, and with which the tree loses at
    most 1% more than the tree to begin with, takes the place of the cut. The loss is the weight of the rows outside of
    their cluster, or the cost with the best centres of the tree's clusters; see `loss_of`.

    Always holds: the loss is at most 1.01 times that of `tree`; the shape is the same, up to exchanged sides. Two-sided
    cuts stay. Ties go to the lowest feature, then to the lowest threshold. Takes time n log n for each cut and each
    preferred column.
    """
    wanted = [j for j in task.budget.preferred if j not in task.budget.forbidden]
    if not wanted:
        return tree
    most = loss_of(tree, task, objective) * (1 + NEARLY)
    node = 0
    while node < tree.n_nodes:
        is_cut = tree.feature[node] >= 0 and np.isneginf(tree.lower[node])
        if is_cut and int(tree.feature[node]) not in wanted:
            for exchange in _exchanges(tree, node, task, make_problem(task, objective), wanted):
                other = _exchanged(tree, node, exchange)
                if keeps(other, task) and loss_of(other, task, objective) <= most:
                    tree = other
                    break
        node += 1
    return tree


def _exchanges(tree: ThresholdTree, node: int, task: Task, problem: Problem, columns: list[int]) -> list[_Exchange]:
    """Return the best cut of a node in each of some columns, the cheapest first."""
    rows = np.flatnonzero(_reaches(tree, node, task) & task.kept)
    sides = [
        subtree(tree, child).predict(task.rows.values[rows], n_jobs=task.n_jobs)
        for child in (node + 1, int(tree.second[node]))
    ]
    first, second = whole_costs_of(problem, rows, sides)
    found = (_best(j, task, rows, first - second) for j in columns)
    return sorted(each for each in found if each is not None)


def _best(feature: int, task: Task, rows: Indices, difference: Ints) -> _Exchange | None:
    values = task.rows.column(feature, rows)
    order = np.argsort(values, kind="stable")
    values, sums = values[order], np.cumsum(difference[order])
    places = np.flatnonzero(values[1:] != values[:-1])  # the last row on the first side of each cut
    if not len(places):
        return None
    changes = sums[places], sums[-1] - sums[places]  # of rows on their first side; with the sides exchanged
    swaps = bool(changes[1].min() < changes[0].min())
    best = int(places[changes[swaps].argmin()])
    threshold = float(between(*values[best : best + 2].tolist()))
    return _Exchange(int(changes[swaps].min()), feature, threshold, swaps)


def _exchanged(tree: ThresholdTree, node: int, exchange: _Exchange) -> ThresholdTree:
    builder, waiting = TreeBuilder(), [(0, 0)]
    while waiting:
        here, made = waiting.pop()
        if tree.feature[here] < 0:
            builder.label(made, int(tree.cluster[here]))
            continue
        cut = int(tree.feature[here]), float(tree.upper[here]), float(tree.lower[here])
        children = here + 1, int(tree.second[here])
        if here == node:
            cut = exchange.feature, exchange.threshold, -np.inf
            children = children[::-1] if exchange.swaps else children
        first, second = builder.split(made, *cut)
        waiting += ((children[1], second), (children[0], first))
    return builder.build()


def subtree(tree: ThresholdTree, node: int) -> ThresholdTree:
    """Return the tree below a node."""
    end, waiting = node, 1
    while waiting:
        waiting += 1 if tree.feature[end] >= 0 else -1
        end += 1
    second = tree.second[node:end]
    arrays = tree.feature[node:end], tree.lower[node:end], tree.upper[node:end]
    return ThresholdTree(*arrays, np.where(second < 0, -1, second - node), tree.cluster[node:end])


def _reaches(tree: ThresholdTree, node: int, task: Task) -> Bools:
    """Return whether each row reaches a node."""
    below = np.arange(len(subtree(tree, node).feature)) + node
    inside = np.isin(tree.leaf_nodes, below)
    reached: Bools = inside[tree.apply(task.rows, n_jobs=task.n_jobs)]
    return reached
