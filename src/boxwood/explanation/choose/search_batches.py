"""The search of "auto" on a table in batches: on a sample in memory, measured on all rows.

It takes four passes, or five where the sample is to be drawn anew: ranges, means, the sample, and what the leaves of
the best trees hold. So trees are found for each number of leaves that is tried before any of them is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._progress import Progress
from boxwood.batches.tree_sums import TreeSums
from boxwood.explanation.choose import settings
from boxwood.explanation.choose.goal import Candidate, GoalRule, comparable, sampled_for_search
from boxwood.explanation.choose.search import grow_for, sample_task
from boxwood.explanation.measure.batch_statistics import BatchStatistics, named_by_rows, with_enough_rows
from boxwood.explanation.records import SearchReport
from boxwood.grow.grown import Grown
from boxwood.reference import Task
from boxwood.tree import ThresholdTree


class GrownInBatches(NamedTuple):
    """What was grown, and what the leaves of its tree hold; of "auto" also its cost and the sample that it saw."""

    grown: Grown
    sums: TreeSums
    cost: float | None = None
    sample: Task | None = None
    is_whole: bool = True  # whether all rows are in the sample


class SearchInBatches:
    """The search of "auto" for rows in batches.

    The sample holds distinct rows with how often they occur as weights, and the centres are those of all rows. A sample
    of the whole table is the whole table, so the tree is the one of the table in memory.

    Parameters
    ----------
    facts : BatchStatistics
        What passes tell of the rows and their clusters.
    progress : Progress
        Is told of the steps.
    objective : {"auto", "cost", "agreement"}, default="auto"
        What was asked for.

    Attributes
    ----------
    sample : Task
        The rows on which trees are grown.
    is_whole : bool
        Whether these are all rows.
    """

    def __init__(self, facts: BatchStatistics, progress: Progress, objective: str = "auto") -> None:
        facts.task.budget.refuse_too_few(facts.task.n_kept)
        self.facts, self.progress, self.objective = facts, progress, objective
        self.sample, self.is_whole = sample_task(facts.task, facts.beside)
        share = 1.0 if objective == "cost" else facts.share_nearest
        self.rule = GoalRule(objective, share, comparable(facts.cost_of_clusters), float(facts.means.weights.sum()))

    def grow(self, max_leaf_nodes: int | None, time_limit: float | None = None) -> Grown:
        """Return what the search finds on the sample, with so many leaves.

        Most trees are grown on a part of a large sample, whose luck decides more than the rest of it mends. So it is
        searched from two parts, and the best trees of both are measured on all rows. A limit of time, or a tree without
        a mistake, leaves it at one.
        """
        sample = self.sample.with_leaves(max_leaf_nodes)
        first = self._search(sample, time_limit)
        is_one = self.is_whole or time_limit is not None or sampled_for_search(sample) is sample
        if is_one or self.facts.task.budget.preferred or first.attributes["ranked"][0].mistakes == 0:
            return first
        other = self._search(sample.drawn_anew(), None)
        ranked = [each for grown in (first, other) for each in grown.attributes["ranked"][: settings.COMPARED_OF_TWO]]
        return first._replace(attributes={**first.attributes, "ranked": ranked})

    def _search(self, sample: Task, time_limit: float | None) -> Grown:
        objective = self.objective if self.rule.by_cost else "agreement"
        return grow_for(sample, "auto", progress=self.progress, objective=objective, time_limit=time_limit)

    def agreement(self, tree: ThresholdTree) -> float:
        """Return the share of the rows of the sample, by weight, whose cluster a tree gives."""
        sample = self.sample
        weights = sample.reference.kept if sample.kept_weights is None else sample.kept_weights
        return float(
            np.average(tree.predict(sample.rows, n_jobs=sample.n_jobs) == sample.reference.labels, weights=weights)
        )

    def measure_all(self, searches: Sequence[Grown]) -> list[GrownInBatches]:
        """Return for each search the tree that the goal takes, by all rows, of the best ones that it found.

        All of them are measured by one pass, or two where rows without a cluster have other leaves when empty leaves
        are taken away; each further leaf with too few rows takes one more.
        """
        every = dict.fromkeys(tree for grown in searches for tree in self._best_of(grown))
        sums = self._sums_of(list(every))
        known = dict(zip(every, zip(sums, self.facts.costs_of(sums), strict=True), strict=True))
        return [self._take_by_goal(grown, known) for grown in searches]

    def _best_of(self, grown: Grown) -> dict[ThresholdTree, str]:
        """Return the best trees of a search with their names, the one it took first."""
        trees = {grown.tree: grown.method}
        if not self.is_whole and not self.facts.task.budget.preferred:
            for one in grown.attributes["ranked"]:
                trees.setdefault(one.tree, one.name)
        return trees

    def _sums_of(self, trees: list[ThresholdTree]) -> list[TreeSums]:
        """Return what the leaves of trees hold, with honest names and without leaves of too few rows."""
        centers, measured = self.facts.task.reference.centers, self.facts.of_trees(trees)
        named = [named_by_rows(sums, centers, self.rule.by_cost) for sums in measured]
        if any(tree.n_leaves < sums.tree.n_leaves for tree, sums in zip(named, measured, strict=True)):
            measured = self.facts.of_trees(named)  # rows without a cluster have other leaves now
        return with_enough_rows(self.facts, [sums.of_tree(tree) for tree, sums in zip(named, measured, strict=True)])

    def _take_by_goal(self, grown: Grown, known: dict[ThresholdTree, tuple[TreeSums, float]]) -> GrownInBatches:
        """Return the tree of a search that the goal takes; IN: known: what leaves hold, and costs."""
        trees, candidates = self._best_of(grown), dict[Candidate, ThresholdTree]()
        for tree, name in trees.items():
            sums, cost = known[tree]
            candidates[Candidate(sums.tree, name, comparable(cost), _weight_of_mistakes(sums))] = tree
        best = self.rule.best(list(candidates))
        sums, cost = known[candidates[best]]
        facts: dict[str, Any] = {"search": self._report(grown)}
        if self.facts.task.mixture is not None:
            facts |= {"mixture": self.facts.task.mixture}
        notes = tuple(self._notes(grown, len(trees)))
        taken = grown._replace(tree=best.tree, method=best.name, attributes=facts, notes=notes)
        return GrownInBatches(taken, sums, cost, self.sample, self.is_whole)

    def _report(self, grown: Grown) -> SearchReport:
        found: SearchReport = grown.attributes["search"]
        search = found._replace(objective=self.objective, reason=self.rule.reason)
        if not self.is_whole:
            return search._replace(n_sampled=len(self.sample.rows), gap=None, agreement_gap=None)
        are_all = found.n_sampled == len(self.sample.rows)  # rows without a cluster were not taken into memory
        return search._replace(n_sampled=self.facts.task.n_rows) if are_all else search

    def _notes(self, grown: Grown, n_compared: int) -> Iterator[str]:
        on_length = grown.attributes["on_length"]
        yield from (note for note in grown.notes if note not in (*on_length, grown.attributes["search"].reason))
        if self.is_whole:
            yield from on_length
        else:
            best = f"the best {n_compared} were compared" if n_compared > 1 else "the best was measured"
            yield (
                f"trees were grown on a sample of {len(self.sample.rows):,} of {self.facts.task.n_rows:,} rows; "
                f"{best} on all rows"
            )
        yield from filter(None, [self.rule.reason])


def _weight_of_mistakes(sums: TreeSums) -> float:
    wrong = sums.held.copy()
    wrong[np.arange(len(wrong)), sums.tree.leaf_clusters] = 0
    return float(wrong.sum())
