"""The search of "auto": trees are grown, the most promising are refined, and the goal takes one.

Work is bounded by counts of rows, never by a clock: growers that need several passes see a random sample of rows where
the table is long, trees are compared and refined on this sample, and the best few are compared, and the best one
refined, on every row. A time limit ends the search at the best tree so far.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from boxwood.explanation._candidates import CANDIDATES, Part, equal_centers
from boxwood.explanation._facts import SearchFacts
from boxwood.explanation._goal import Candidate, Goal
from boxwood.grow._expand import expanded
from boxwood.grow._grown import Grown
from boxwood.grow._refine import refined, refined_with_centers
from boxwood.grow._resolve import resolved
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["ROWS", "searched"]

ROWS = 20_000  # rows of the sample; in a longer table, growers that need several passes see a sample
ROWS_PER_LEAF = 50  # so many at least
REFINED = 4  # candidates that are refined on the sample
RESOLVED = 2  # candidates whose small subtrees are solved exactly
BOXES = 30  # tables whose rows such a solution may look at
COMPARED = 3  # candidates that are compared on every row


class Clock:
    """A time limit in seconds; None is none."""

    def __init__(self, time_limit: float | None) -> None:
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.stopped = False

    def has_passed(self) -> bool:
        """Return whether the time is over; remembers that it was."""
        self.stopped = self.stopped or (self.deadline is not None and time.monotonic() > self.deadline)
        return self.stopped


def searched(task: Task, *, objective: str = "auto", time_limit: float | None = None) -> Grown:
    """Return the tree that the goal takes of all candidates, with the facts of the search."""
    search = Search(task, objective, Clock(time_limit))
    leaves, k = task.leaves(), task.reference.n_clusters
    best = search.best(leaves, search.best(k) if leaves > k else None)
    notes = search.notes()
    facts = {"search": search.facts()} | ({} if task.mixture is None else {"mixture": task.mixture})
    early_stop = "no tree with more leaves was found that loses less"
    return Grown(best.tree, best.name, facts=facts, notes=notes, early_stop=early_stop)


class Search:
    """The trees that were grown for a task, on a sample where the table is long, and the goal that takes one."""

    def __init__(self, task: Task, objective: str, clock: Clock) -> None:
        self.task, self.clock = task, clock
        self.goal = Goal(task, objective)
        self.sample = task.sampled(max(ROWS, ROWS_PER_LEAF * task.leaves()))
        self.on_sample = self.goal if self.sample is task else self.goal.of_sample(self.sample)
        self.seen: set[ThresholdTree] = set()

    def best(self, leaves: int, begin: Candidate | None = None) -> Candidate:
        """Return the best tree with at most so many leaves; it loses no more than `begin`, a tree with fewer."""
        grown = self.on_sample.candidates(self._grown(leaves, begin))
        found = [*grown, *self.on_sample.candidates(self._refined(self.on_sample.ranked(grown)[:REFINED]))]
        found += self.on_sample.candidates(self._resolved(self.on_sample.ranked(found)[:RESOLVED]))
        chosen = self.on_sample.ranked(found)
        self.seen |= {each.tree for each in chosen}
        if self.sample is not self.task:
            chosen = self._on_every_row(chosen[:COMPARED])
        if begin is not None:
            chosen = [each for each in chosen if self.goal.is_no_worse(each, begin)] or [begin]
        return self.goal.best(chosen)

    def _grown(self, leaves: int, begin: Candidate | None) -> Iterator[tuple[ThresholdTree, str]]:
        if begin is not None:
            for how, objective in (("exkmc", "cost"), ("expand", "mistakes")):
                yield expanded(begin.tree, self.sample, leaves, objective=objective), f"{begin.name}, {how}"
        part = Part(self.task, self.sample, leaves, self.goal.by_cost)
        for grow in CANDIDATES.values():
            for tree, name in grow(part):
                yield tree, name
                if self.clock.has_passed():
                    return

    def _refined(self, candidates: list[Candidate]) -> Iterator[tuple[ThresholdTree, str]]:
        for each in candidates:
            if self.clock.has_passed():
                return
            yield self._better(each.tree, self.sample), f"{each.name}, refined"

    def _resolved(self, candidates: list[Candidate]) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the trees with small subtrees solved exactly, with the cuts refined thereafter."""
        k = self.task.reference.n_clusters
        for each in candidates:
            if self.clock.has_passed():
                return
            objective = "cost" if self.goal.by_cost else "mistakes"
            own_means = self.goal.by_cost and each.tree.n_leaves <= k
            better = resolved(
                each.tree,
                self.sample,
                own_means=own_means,
                objective=objective,
                max_boxes=BOXES,
                deadline=self.clock.deadline,
            )
            if better != each.tree:
                yield better, f"{each.name}, resolved"
                yield self._better(better, self.sample), f"{each.name}, resolved, refined"

    def _on_every_row(self, candidates: list[Candidate]) -> list[Candidate]:
        compared = self.goal.candidates((each.tree, each.name) for each in candidates)
        if not self.clock.has_passed():
            best = self.goal.best(compared)
            compared.append(self.goal.candidate(self._better(best.tree, self.task), best.name))
        return compared

    def _better(self, tree: ThresholdTree, task: Task) -> ThresholdTree:
        """Return the tree with cuts that lose less on the rows of a task."""
        return refined_with_centers(tree, task) if self.goal.by_cost else refined(tree, task, "mistakes")

    def facts(self) -> SearchFacts:
        """Return what was done."""
        goal = self.goal
        return SearchFacts(goal.objective, goal.reason, len(self.seen), len(self.sample.rows), self.clock.stopped)

    def notes(self) -> tuple[str, ...]:
        """Return what the reader of the result must know of the search."""
        notes = []
        if self.clock.stopped:
            notes.append("stopped by the clock: the best tree so far (time_limit)")
        if self.sample is not self.task:
            notes.append(
                f"the table is long: most trees were grown on a random sample of {len(self.sample.rows):,} of "
                f"{len(self.task.rows):,} rows; this one was refined and measured on all rows"
            )
        if equal := equal_centers(self.task.reference):
            notes.append(f"IMM was left out, as no cut separates clusters with equal centres ({equal})")
        return (*notes, self.goal.reason) if self.goal.reason else tuple(notes)
