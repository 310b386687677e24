"""`max_columns`: which columns the rules may test, if they may test only so many."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

from boxwood.explanation.choose import settings
from boxwood.explanation.choose.goal import Candidate, Goal
from boxwood.grow.grown import Grown
from boxwood.grow.leaves.expand import expand_tree
from boxwood.grow.leaves.impurity import grow_by_impurity
from boxwood.grow.leaves.prune import prune_tree
from boxwood.grow.refinement.exchange import NEARLY
from boxwood.grow.shared.names import name_leaves
from boxwood.reference import Task

Choice: TypeAlias = tuple[int, ...]
"""Columns of the table, ascending."""


def grown_on_few(
    task: Task, grow: Callable[..., Grown], objective: str, *, several: bool, time_limit: float | None = None
) -> Grown:
    """Return the best tree on at most `max_columns` columns; `grow(task, seconds)` grows one.

    With `several`, trees are grown in full for the best few choices of columns, and the goal takes one; else for the
    best choice alone. Among trees that lose at most 1% more than the best, the one with most preferred columns is
    taken.
    """
    now = time.monotonic()
    end, half = (None, None) if time_limit is None else (now + time_limit, now + time_limit / 2)
    goal = Goal(task, objective)
    found: list[tuple[Candidate, Grown]] = []
    for choice in choices(task, goal, several=several, deadline=half):
        left = None if end is None else max(end - time.monotonic(), 0.0)
        if found and left == 0:
            break
        grown = grow(task.within(task.budget.only(choice, task.n_columns)), left)
        found.append((goal.candidate(grown.tree, grown.method), grown))
    taken = _prefer_columns(found, goal, task)
    if "search" not in taken.attributes:
        return taken
    return taken._replace(
        attributes={**taken.attributes, "search": taken.attributes["search"]._replace(gap=None, agreement_gap=None)}
    )


def choices(task: Task, goal: Goal, *, several: bool = True, deadline: float | None = None) -> list[Choice]:
    """Return the most promising choices of columns, the best first.

    Each is compared by two trees that are grown fast on a sample of 2000 rows: an expansion of a single leaf, and
    CART's tree, over-grown and pruned back. If there are at most 70 choices, all are compared. Otherwise columns come
    from the 12 that serve best alone, of those that large trees test; they are added one at a time, and then exchanged
    one at a time, as long as that gains.
    """
    return _Choices(task, goal, deadline).ranked(settings.CHOICES_SEARCHED if several else 1)


class _Choices:
    """The choices of columns compared so far, and the losses of their trees."""

    def __init__(self, task: Task, goal: Goal, deadline: float | None) -> None:
        self.budget, self.deadline = task.budget, deadline
        self.sample = task.sampled(settings.CHOICES_ROWS)
        self.sample = self.sample.within(replace(self.sample.budget, max_columns=None))
        _ = self.sample.order  # sorted once for all choices
        self.goal = goal if self.sample is task else goal.of_sample(self.sample)
        self.loss = "cost" if goal.by_cost else "mistakes"
        allowed = self.budget.allowed(task.n_columns)
        self.columns = sorted({self.budget.source(j) for j in allowed})
        self.size = min(task.budget.max_columns or len(self.columns), len(self.columns))
        self.losses: dict[Choice, tuple[float, float]] = {}

    def ranked(self, most: int) -> list[Choice]:
        """Return the best choices of the full size."""
        n_choices = math.comb(len(self.columns), self.size)
        if most > 1 and n_choices <= most + 1:
            return list(combinations(self.columns, self.size))
        if n_choices <= settings.CHOICES_COMPARED:
            for choice in combinations(self.columns, self.size):
                self.compare(choice)
        else:
            self._search(self._pool())
        full = [choice for choice in self.losses if len(choice) == self.size]
        return sorted(full, key=lambda choice: (self.losses[choice], choice))[:most]

    def compare(self, choice: Choice) -> tuple[float, float]:
        """Return the loss of the better of two trees on some columns: first what the goal looks at first.

        After the deadline, choices that were not compared have an infinite loss.
        """
        if choice not in self.losses:
            if self.losses and self.deadline is not None and time.monotonic() > self.deadline:
                return math.inf, math.inf
            self.losses[choice] = min(map(self._loss, self._grow_trees(choice)))
        return self.losses[choice]

    def _loss(self, each: Candidate) -> tuple[float, float]:
        return (each.cost, each.mistakes) if self.goal.by_cost else (each.mistakes, each.cost)

    def _grow_trees(self, choice: Choice, times: int = 1) -> Iterator[Candidate]:
        """Yield trees on some columns with so many times the leaves, named by clusters of which they hold rows."""
        task = self.sample.within(self.sample.budget.only(choice, self.sample.rows.n_columns))
        leaves = times * task.leaves()
        larger = grow_by_impurity(task, "gini", 2 * leaves)
        for tree in (expand_tree(None, task, leaves, loss=self.loss), prune_tree(larger, task, leaves, self.loss)):
            yield self.goal.candidate(name_leaves(tree, task, self.loss), "")

    def _pool(self) -> list[int]:
        """Return the columns from which choices are made, in the order of what each achieves alone."""
        tested = {
            self.budget.source(int(j))
            for each in self._grow_trees(tuple(self.columns), settings.CHOICES_OVERGROWN)
            for j in each.tree.features
        }
        tested |= set(self.columns) if len(self.columns) <= settings.CHOICES_POOL else set()
        pool = sorted(tested, key=lambda column: (self.compare((column,)), column))[
            : max(settings.CHOICES_POOL, self.size)
        ]
        rest = [column for column in self.columns if column not in pool]
        return pool + rest[: max(self.size - len(pool), 0)]

    def _search(self, pool: list[int]) -> None:
        chosen: Choice = ()
        while len(chosen) < self.size:
            chosen = min((_with(chosen, column) for column in pool if column not in chosen), key=self._key)
        self.losses.setdefault(chosen, self.compare(chosen))  # one choice of the full size, whatever the clock says
        for _ in range(settings.CHOICES_ROUNDS):
            others = [
                _with(tuple(each for each in chosen if each != out), column)
                for out in chosen
                for column in pool
                if column not in chosen
            ]
            best = min([chosen, *others], key=self._key)
            if best == chosen:
                break
            chosen = best

    def _key(self, choice: Choice) -> tuple[tuple[float, float], Choice]:
        return self.compare(choice), choice


def _with(choice: Choice, column: int) -> Choice:
    return tuple(sorted((*choice, column)))


def _prefer_columns(found: list[tuple[Candidate, Grown]], goal: Goal, task: Task) -> Grown:
    """Return the tree that the goal takes, or a nearly equal one that tests more preferred columns."""
    best = goal.best([each for each, _ in found])

    def lost(each: Candidate) -> float:
        return each.cost if goal.by_cost else each.mistakes

    near = [(each, grown) for each, grown in found if each is best or lost(each) <= lost(best) * (1 + NEARLY)]

    def rank(pair: tuple[Candidate, Any]) -> tuple[int, bool]:
        return len(set(pair[0].tree.features.tolist()) & set(task.budget.preferred)), pair[0] is best

    return max(near, key=rank)[1]


def on_few_columns(task: Task, sample: Task, is_whole: bool) -> tuple[Task, tuple[str, ...]]:
    """Return the task on the columns that are chosen for a method by its name, and a note; see `grown_on_few`.

    Columns are chosen on a sample. Where it holds all rows, the choice is that of the rows in memory.
    """
    [choice] = choices(sample, Goal(sample, "auto"), several=False)
    few = task.within(task.budget.only(choice, task.n_columns))
    note = f"the columns of the rules were chosen on a sample of {len(sample.rows):,} of {task.n_rows:,} rows"
    return few, () if is_whole else (note,)
