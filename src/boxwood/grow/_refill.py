"""Leaves that separate nothing are used elsewhere: merging, expanding and refining in turn."""

from __future__ import annotations

import numpy as np

from boxwood.grow._costs import make_problem
from boxwood.grow._expand import expanded
from boxwood.grow._names import named
from boxwood.grow._reached import clusters_reached, with_centers_reached
from boxwood.grow._recut import is_past
from boxwood.grow._refine import refined, refined_with_centers
from boxwood.reference import Task
from boxwood.tree import ThresholdTree
from boxwood.tree._merge import merged

__all__ = ["TURNS", "loss_of", "refilled", "with_own_centers"]

TURNS = 5  # at most so often are freed leaves used elsewhere


def refilled(
    tree: ThresholdTree,
    task: Task,
    max_leaf_nodes: int,
    objective: str,
    *,
    turns: int = TURNS,
    tol: float = 0.0,
    deadline: float | None = None,
) -> ThresholdTree:
    """Return the tree without useless cuts, and with the leaves that are free then used where they lower the loss most.

    In each turn cuts that separate nothing are left out (`merged`), leaves are split until there are `max_leaf_nodes`
    (`expanded`), and cuts are improved (`refined_with_centers` for the objective "cost", with `tol`, and `refined` for
    "mistakes"). It ends when no leaf is free, when no split lowers the loss, after so many turns, or at the deadline on
    the clock of `time.monotonic`.

    Always holds: names are honest, and no leaf is empty (see `named`); no cut separates nothing; there are at most
    `max_leaf_nodes` leaves, if the tree had no more; the loss is not higher than that of `named(tree, task, ...)`. It
    is the weight of the rows outside of their cluster, or the cost with the best centres of the tree's clusters.
    """
    tree = merged(named(tree, task, objective))
    for _ in range(turns):
        if tree.n_leaves >= max_leaf_nodes or is_past(deadline):
            break
        more = _expanded(tree, task, max_leaf_nodes, objective)
        if more == tree:
            break
        if objective == "cost":
            more = refined_with_centers(more, task, tol=tol, deadline=deadline)
        else:
            more = refined(more, task, objective, deadline=deadline)
        tree = merged(named(more, task, objective))
    return tree


def _expanded(tree: ThresholdTree, task: Task, max_leaf_nodes: int, objective: str) -> ThresholdTree:
    """Return the tree with more leaves that lower the loss, or the same tree."""
    own = with_own_centers(tree, task, objective)
    more = named(expanded(tree, own, max_leaf_nodes, objective=objective), own, objective)
    return more if _summed(more, own, objective) < _summed(tree, own, objective) else tree


def loss_of(tree: ThresholdTree, task: Task, objective: str) -> float:
    """Return the weight of the rows outside of their cluster, or the cost with the best centres of the tree's clusters.

    The unit is that of the task, and of all its trees.
    """
    return _summed(tree, with_own_centers(tree, task, objective), objective)


def with_own_centers(tree: ThresholdTree, task: Task, objective: str) -> Task:
    """Return the task with the best centres of the tree's clusters, for the objective "cost"."""
    return with_centers_reached(tree, task) if objective == "cost" else task


def _summed(tree: ThresholdTree, task: Task, objective: str) -> float:
    problem, rows = make_problem(task, objective), np.flatnonzero(task.kept)
    costs = problem.cost_under(rows, clusters_reached(tree, task)[rows])
    return float((costs * problem.share[rows] * problem.times[rows]).sum())
