"""Trees that agree most with the clusters: whole ones within a depth, with a bound, and in subtrees of depth two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from boxwood._types import Indices
from boxwood.grow.better.exchange import within
from boxwood.grow.better.refine import refined
from boxwood.grow.exact._agreement import Fewest, FewestMistakes, Marks
from boxwood.grow.exact._search import DEEPEST, Cuts, Kept, leaf_rows, n_leaves
from boxwood.grow.leaves.impurity import grown_by
from boxwood.loops.agreement import UNIT
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["Agreeing", "agreeing_of", "is_within_reach", "resolved_by_agreement"]

CHOICES = 200  # sets of columns that are all tried
BY_LOOP = 3  # depth up to which no other tree is grown to begin with
CELLS = {1: 1 << 22, 2: 1 << 20, 3: 30_000}  # rows times columns up to which trees of a depth are solved by "auto"


class Agreeing(NamedTuple):
    """A tree, the weight of its mistakes, and a weight that no tree within the limits is below."""

    tree: ThresholdTree
    mistakes: float
    bound: float


def is_within_reach(task: Task, depth: int) -> bool:
    """Return whether a table has so few rows and columns that its best tree of a depth is found in about a second."""
    return task.n_kept * len(task.budget.allowed(task.rows.n_columns)) <= CELLS.get(depth, 0)


def agreeing_of(
    task: Task,
    leaves: int,
    *,
    incumbent: ThresholdTree | None = None,
    max_steps: int | None = None,
    deadline: float | None = None,
) -> Agreeing:
    """Return the tree with the fewest mistakes that keeps the budget of a task, with at most so many leaves.

    Of such trees it is the one with the fewest leaves, and then the first by its cuts in pre-order: by column, then by
    threshold. The search begins with `incumbent`, if its cuts are one-sided. It stops after `max_steps` rows of columns
    that were looked at, or at the time `deadline` of `time.monotonic`, with the best tree so far and a bound.
    `max_columns` is kept by trying all sets of columns, up to 200, and else by adding columns one at a time, with the
    bound of all columns.
    """
    if task.budget.max_columns is not None:
        return _on_few(task, leaves, deadline)
    kept = Kept(task)
    marks = Marks(kept)
    search = FewestMistakes(marks, task.budget.min_samples_leaf, deadline=deadline, max_steps=max_steps)
    leaves = min(leaves, len(kept.rows))
    depth = min(task.budget.max_depth or leaves, max(leaves - 1, 0))
    known = None
    takes_long = depth > BY_LOOP or (deadline is not None and not is_within_reach(task, depth))
    if incumbent is None and leaves > 1 and takes_long:
        incumbent = _grown(task, leaves)
    if incumbent is not None and np.isneginf(incumbent.lower).all():
        known = kept.cuts(incumbent, np.arange(len(kept.rows)))
    if depth > BY_LOOP and leaves > DEEPEST:
        return _measured(search.not_sought(leaves, known), marks)
    return _measured(search.solve_from(depth, leaves, known), marks)


def _grown(task: Task, leaves: int) -> ThresholdTree:
    """Return a tree that is grown fast and improved."""
    tree = within(refined(grown_by(task, "gini", leaves), task, "mistakes"), task, "mistakes")
    return resolved_by_agreement(tree, task, leaves)


def _measured(found: Fewest, marks: Marks) -> Agreeing:
    """Return a result of the search as a tree, whose leaves have their commonest clusters, with weights of mistakes."""
    kept = marks.kept
    task, weights = kept.task, kept.task.rows.weights
    tree = _named(kept.tree(found.cuts), found.cuts, marks)
    wrong = task.kept & (tree.predict(task.rows) != task.reference.labels)
    mistakes = math.fsum((np.ones(len(wrong)) if weights is None else weights)[wrong].tolist())
    if found.is_exact:
        return Agreeing(tree, mistakes, mistakes)
    whole, factor = marks.scaled
    lost = 0 if factor == 1.0 else len(whole)  # of the weights' sum, as each is rounded
    unit = 1.0 if weights is None or factor == 1.0 else float(weights[kept.rows].max()) / float(whole.max())
    return Agreeing(tree, mistakes, min(max(found.bound // UNIT - lost, 0) * unit, mistakes))


def _named(tree: ThresholdTree, cuts: Cuts, marks: Marks) -> ThresholdTree:
    """Return the tree with the commonest cluster of each leaf, the first of equals."""
    rows, weights = np.arange(len(marks.labels)), marks.scaled[0]
    leaves = leaf_rows(marks.kept.codes, rows, cuts)
    return tree.relabeled(np.array([np.bincount(marks.labels[leaf], weights[leaf]).argmax() for leaf in leaves]))


def _on_few(task: Task, leaves: int, deadline: float | None) -> Agreeing:
    """Return the best tree on as many columns as the budget allows, with the bound of all sets that may be better."""
    columns = sorted({task.budget.source(j) for j in task.budget.allowed(task.rows.n_columns)})
    size = min(task.budget.max_columns or len(columns), len(columns))

    def on(chosen: tuple[int, ...]) -> Agreeing:
        return agreeing_of(task.within(task.budget.only(chosen, task.rows.n_columns)), leaves, deadline=deadline)

    if math.comb(len(columns), size) <= CHOICES:
        found = [on(chosen) for chosen in combinations(columns, size)]
        bound = min(each.bound for each in found)
    else:
        bound = agreeing_of(task.within(replace(task.budget, max_columns=None)), leaves, deadline=deadline).bound
        chosen: tuple[int, ...] = ()
        for _ in range(size):
            more = [tuple(sorted((*chosen, column))) for column in columns if column not in chosen]
            found = [on(each) for each in more]
            chosen = more[int(np.argmin([each.mistakes for each in found]))]
    best = min(found, key=_order)
    return best._replace(bound=min(bound, best.mistakes))


def _order(found: Agreeing) -> tuple[float, int, list[tuple[int, float]]]:
    cuts = zip(found.tree.feature.tolist(), found.tree.upper.tolist(), strict=True)
    return found.mistakes, found.tree.n_leaves, [(j, upper if j >= 0 else 0.0) for j, upper in cuts]


def resolved_by_agreement(
    tree: ThresholdTree, task: Task, leaves: int, *, deadline: float | None = None
) -> ThresholdTree:
    """Return the tree with each subtree of depth two replaced by the best one for its rows, until none is better.

    Leaves that are free, as `leaves` allows more, are used where they save most. The result has no more mistakes than
    `tree`; of as many it has fewer leaves. It keeps the budget of the task if `tree` does. A tree with two-sided cuts
    is returned as it is. It ends at the time `deadline` of `time.monotonic`.
    """
    if not np.isneginf(tree.lower).all() or leaves < 2:
        return tree
    kept = Kept(task)
    marks = Marks(kept)
    windows = _Windows(marks, FewestMistakes(marks, task.budget.min_samples_leaf, deadline=deadline), leaves)
    rows = np.arange(len(kept.rows))
    before = kept.cuts(tree, rows)
    cuts = windows.improved(before)
    if marks.cost(cuts, rows) >= marks.cost(before, rows):
        return tree
    return _named(kept.tree(cuts), cuts, marks)


class _Windows:
    """The subtrees of a tree with up to two cuts on a way down, each solved for its rows."""

    def __init__(self, marks: Marks, search: FewestMistakes, leaves: int) -> None:
        self.marks, self.search, self.leaves = marks, search, leaves
        self.depth = marks.kept.task.budget.max_depth or leaves
        self.solved: dict[tuple[bytes, int, int], Fewest] = {}

    def improved(self, cuts: Cuts) -> Cuts:
        """Return a tree none of whose windows can be better, or the best one by the deadline."""
        rows = np.arange(len(self.marks.labels))
        while not self.search.is_over:
            better = self._with_best(cuts, rows, self.depth)
            if better == cuts:
                gains = self._gains(cuts, rows, (), self.leaves - n_leaves(cuts))
                gain, way, window = min(gains, key=lambda each: each[:2], default=(0, (), None))
                if gain >= 0:
                    break
                better = _replaced(cuts, way, window)
            cuts = better
        return cuts

    def _with_best(self, cuts: Cuts, rows: Indices, depth: int) -> Cuts:
        """Return a tree with the best tree in each window that has no window above it, with as many leaves."""
        if cuts is None:
            return None
        if n_leaves(cuts) <= 4 and _depth(cuts) <= 2:
            found = self._best(rows, min(2, depth), n_leaves(cuts))
            return found.cuts if found.cost < self.marks.cost(cuts, rows) else cuts
        inside = self.marks.kept.codes[cuts[0], rows] <= cuts[1]
        first = self._with_best(cuts[2], rows[inside], depth - 1)
        return cuts[0], cuts[1], first, self._with_best(cuts[3], rows[~inside], depth - 1)

    def _gains(
        self, cuts: Cuts, rows: Indices, way: tuple[int, ...], free: int
    ) -> Iterator[tuple[int, tuple[int, ...], Cuts]]:
        """Yield for each window how its best tree with more leaves changes the cost, the way there, and the tree."""
        if free <= 0:
            return
        if n_leaves(cuts) <= 4 and _depth(cuts) <= 2 and len(way) < self.depth:
            found = self._best(rows, min(2, self.depth - len(way)), min(n_leaves(cuts) + free, 4))
            yield found.cost - self.marks.cost(cuts, rows), way, found.cuts
        if cuts is not None:
            inside = self.marks.kept.codes[cuts[0], rows] <= cuts[1]
            yield from self._gains(cuts[2], rows[inside], (*way, 2), free)
            yield from self._gains(cuts[3], rows[~inside], (*way, 3), free)

    def _best(self, rows: Indices, depth: int, leaves: int) -> Fewest:
        key = rows.tobytes(), depth, leaves
        if key not in self.solved:
            order = self.marks.order
            inside = np.zeros(len(self.marks.labels), dtype=np.bool_)
            inside[rows] = True
            box = order[inside[order]].reshape(len(order), len(rows))
            self.solved[key] = self.search.solve(box, depth, leaves)
        return self.solved[key]


def _depth(cuts: Cuts) -> int:
    return 0 if cuts is None else 1 + max(_depth(cuts[2]), _depth(cuts[3]))


def _replaced(cuts: Cuts, way: tuple[int, ...], other: Cuts) -> Cuts:
    """Return a tree with another subtree at the end of a way from the root: 2 is the first side, 3 the second."""
    if not way:
        return other
    assert cuts is not None
    side = _replaced(cuts[way[0]], way[1:], other)  # type: ignore[arg-type]
    return (*cuts[:2], side, cuts[3]) if way[0] == 2 else (*cuts[:3], side)
