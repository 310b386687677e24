"""Trees that keep a budget: leaves that lie too deep or hold too few rows are taken away."""

from __future__ import annotations

import numpy as np

from boxwood._types import Indices
from boxwood.grow._costs import make_problem, whole_costs
from boxwood.grow._names import named, without_leaves
from boxwood.grow._prune import sums_by_node
from boxwood.grow._reached import leaves_reached
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["keeps", "within"]


def within(tree: ThresholdTree, task: Task, objective: str) -> ThresholdTree:
    """Return the tree without what breaks the depth or the fewest rows of a leaf that the task's budget allows.

    First each cut at the largest depth becomes a leaf, of the cluster that costs its rows least. Then the leaf with
    the fewest kept rows is taken away while it has too few, the first of equals; the other side of the cut above takes
    the place of that cut. Names are honest, and no leaf is empty, where anything has changed.

    Always holds: `keeps(result, task)`, if the task has at least `min_samples_leaf` kept rows. A tree that keeps the
    budget is returned as it is.
    """
    if keeps(tree, task):
        return tree
    if task.budget.max_depth is not None:
        tree = _cut_off(tree, task, task.budget.max_depth, objective)
    while (rows := _rows_of_leaves(tree, task)).min() < task.budget.min_samples_leaf and tree.n_leaves > 1:
        tree = without_leaves(tree, np.arange(tree.n_leaves) == rows.argmin())
    return named(tree, task, objective)


def keeps(tree: ThresholdTree, task: Task) -> bool:
    """Return whether a tree is no deeper, and no leaf has fewer rows, than the budget of a task allows."""
    budget = task.budget
    if budget.max_depth is not None and tree.depth > budget.max_depth:
        return False
    return budget.min_samples_leaf == 1 or int(_rows_of_leaves(tree, task).min()) >= budget.min_samples_leaf


def _cut_off(tree: ThresholdTree, task: Task, max_depth: int, objective: str) -> ThresholdTree:
    if tree.depth <= max_depth:
        return tree
    problem = make_problem(task, objective)
    rows = np.flatnonzero(problem.kept)
    costs, _ = whole_costs(problem, rows)
    clusters = sums_by_node(tree, costs, leaves_reached(tree, task)[rows]).argmin(axis=1)
    builder, waiting = TreeBuilder(), [(0, 0)]
    while waiting:
        node, made = waiting.pop()
        if tree.feature[node] < 0:
            builder.label(made, int(tree.cluster[node]))
        elif tree.node_depth[node] == max_depth:
            builder.label(made, int(clusters[node]))
        else:
            first, second = builder.split(
                made, int(tree.feature[node]), float(tree.upper[node]), float(tree.lower[node])
            )
            waiting += ((int(tree.second[node]), second), (node + 1, first))
    return builder.build()


def _rows_of_leaves(tree: ThresholdTree, task: Task) -> Indices:
    """Return the number of kept rows in each leaf, shape (n_leaves,)."""
    return np.bincount(leaves_reached(tree, task)[task.kept], minlength=tree.n_leaves)
