"""Swaps: the leaves that are worth least are taken away, and as many are grown where they are worth most."""

from __future__ import annotations

import numpy as np

from boxwood._types import Floats
from boxwood.grow._costs import make_problem
from boxwood.grow._names import without_leaves
from boxwood.grow._prefer import subtree
from boxwood.grow._reached import leaves_reached
from boxwood.grow._recut import is_past
from boxwood.grow._refill import loss_of, refilled, with_own_centers
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["SINGLES", "swapped"]

SINGLES = 4  # leaves that are tried alone; one gains nearly as much in half the time
_LOWER = 1e-9  # by this share a loss must fall, so that rounding decides nothing


def swapped(
    tree: ThresholdTree,
    task: Task,
    max_leaf_nodes: int,
    objective: str,
    *,
    singles: int = SINGLES,
    deadline: float | None = None,
) -> ThresholdTree:
    """Return a tree that loses less with as many leaves, if swaps of leaves find one.

    A leaf is worth what its rows would lose on the other side of the cut above it. The quarter of the leaves that are
    worth least is taken away, and the rest is expanded and refined (`refilled`). A tree that loses less, and in which
    no cluster has lost its last leaf, takes the place of the tree; otherwise half as many leaves are tried, down to
    one, and then each of the next few alone, `singles` with the first. It ends at the deadline, on the clock of
    `time.monotonic`.

    Always holds: all that `refilled` promises; in particular the loss is not higher than that of
    `named(tree, task, objective)`.
    """
    best = refilled(tree, task, max_leaf_nodes, objective, deadline=deadline)
    loss, places = loss_of(best, task, objective), _places(best.n_leaves, singles)
    while places and not is_past(deadline):
        start, stop = places[0]
        dropped = np.zeros(best.n_leaves, dtype=np.bool_)
        dropped[np.argsort(_worths(best, task, objective), kind="stable")[start:stop]] = True
        other = refilled(without_leaves(best, dropped), task, max_leaf_nodes, objective, deadline=deadline)
        other_loss = loss_of(other, task, objective)
        if other_loss < loss * (1 - _LOWER) and np.isin(best.leaf_clusters, other.leaf_clusters).all():
            best, loss = other, other_loss
        else:
            places = places[1:]
    return best


def _places(n_leaves: int, n_singles: int) -> list[tuple[int, int]]:
    """Return which leaves are taken away in turn, as runs of the leaves in the order of what they are worth."""
    sizes = [n_leaves // 4 >> i for i in range(n_leaves.bit_length()) if n_leaves // 4 >> i > 0] or [1]
    singles = [(i, i + 1) for i in range(1, n_singles)]
    return [(start, stop) for start, stop in [(0, size) for size in sizes] + singles if stop < n_leaves]


def _worths(tree: ThresholdTree, task: Task, objective: str) -> Floats:
    """Return for each leaf what its rows would lose on the other side of the cut above, shape (n_leaves,)."""
    task = with_own_centers(tree, task, objective)
    problem, rows = make_problem(task, objective), np.flatnonzero(task.kept)
    leaf = leaves_reached(tree, task)[rows]
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(tree.n_leaves + 1))
    worths = np.empty(tree.n_leaves)
    for i, node in enumerate(tree.leaf_nodes.tolist()):
        here, above = rows[order[ends[i] : ends[i + 1]]], int(tree.parent[node])
        sibling = above + 1 if node != above + 1 else int(tree.second[above])
        other = problem.cost_under(here, subtree(tree, sibling).predict(task.rows.values[here], n_jobs=1))
        more = other - problem.cost_under(here, np.full(len(here), tree.leaf_clusters[i]))
        worths[i] = (more * problem.share[here] * problem.times[here]).sum()
    return worths
