"""The search of "auto" on a table in batches: on a sample in memory, measured on all rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from boxwood._progress import Progress
from boxwood.batches.tree_sums import TreeSums
from boxwood.explanation.choose.goal import Candidate, GoalRule, comparable
from boxwood.explanation.choose.search import grow_for, sample_task
from boxwood.explanation.measure.batch_statistics import BatchStatistics, named_by_rows, with_enough_rows
from boxwood.explanation.records import SearchReport
from boxwood.grow import METHODS
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


def choose_in_batches(
    facts: BatchStatistics, method: str, progress: Progress, options: Mapping[str, Any]
) -> GrownInBatches:
    """Return what the method grows for rows in batches, and what the leaves of its tree hold."""
    facts.task.budget.refuse_too_few(facts.task.n_kept)
    if method == "auto":
        return _searched(facts, progress, **options)
    grown = grow_for(facts.task, method, **options)
    return GrownInBatches(grown, facts.of_trees([grown.tree])[0])


def _searched(
    facts: BatchStatistics,
    progress: Progress,
    *,
    objective: str = "auto",
    time_limit: float | None = None,
) -> GrownInBatches:
    """Return the tree that the goal takes, by all rows, of the one that the search finds on a sample and of IMM's.

    The sample holds distinct rows with how often they occur as weights, and the centres are those of all rows. A sample
    of the whole table is the whole table, so the tree is the one of the table in memory. IMM is left out where limits
    are set, where clusters have equal centres, and where there are fewer leaves than clusters.
    """
    task = facts.task
    sample, is_whole = sample_task(task, facts.beside)
    share = 1.0 if objective == "cost" else facts.share_nearest
    rule = GoalRule(objective, share, comparable(facts.cost_of_clusters), float(facts.means.weights.sum()))
    asked, began = objective if rule.by_cost else "agreement", time.monotonic()
    grown = grow_for(sample, "auto", progress=progress, objective=asked, time_limit=time_limit)
    trees = {grown.tree: grown.method}
    if not is_whole:
        others = [] if task.budget.preferred else [(one.tree, one.name) for one in grown.attributes["ranked"]]
        by_imm = {} if time_limit is not None and time.monotonic() - began > time_limit else _of_all_rows(facts)
        for tree, name in (*others, *by_imm.items()):
            trees.setdefault(tree, name)
    best, sums, cost = _taken(facts, rule, trees)
    found: SearchReport = grown.attributes["search"]
    search = found._replace(objective=objective, reason=rule.reason)
    known = (*grown.attributes["on_length"], found.reason)
    notes = tuple(note for note in grown.notes if note not in known)
    if is_whole:
        notes += grown.attributes["on_length"]
        if found.n_sampled == len(sample.rows):  # rows without a cluster were not taken into memory
            search = search._replace(n_sampled=task.n_rows)
    else:
        n_candidates = found.n_candidates + len(by_imm)
        search = search._replace(n_candidates=n_candidates, n_sampled=len(sample.rows), gap=None, agreement_gap=None)
        notes += (_note_on_sample(len(sample.rows), task.n_rows, len(trees), bool(by_imm)),)
    notes += (rule.reason,) if rule.reason else ()
    told = {"search": search} | ({} if task.mixture is None else {"mixture": task.mixture})
    taken = grown._replace(tree=best.tree, method=best.name, attributes=told, notes=notes)
    return GrownInBatches(taken, sums, cost, sample, is_whole)


def _note_on_sample(n_sampled: int, n_rows: int, n_compared: int, beside_imm: bool) -> str:
    imm = ", IMM's tree of all rows among them," if beside_imm else ""
    best = f"the best {n_compared}{imm} were compared" if n_compared > 1 else "the best was measured"
    return f"trees were grown on a sample of {n_sampled:,} of {n_rows:,} rows; {best} on all rows"


def _taken(
    facts: BatchStatistics, rule: GoalRule, trees: dict[ThresholdTree, str]
) -> tuple[Candidate, TreeSums, float]:
    """Return the tree that the goal takes, with honest names, its sums and its cost; takes two passes, seldom three."""
    centers, measured = facts.task.reference.centers, facts.of_trees(list(trees))
    named = [named_by_rows(sums, centers, rule.by_cost) for sums in measured]
    if any(tree.n_leaves < sums.tree.n_leaves for tree, sums in zip(named, measured, strict=True)):
        measured = facts.of_trees(named)  # rows without a cluster have other leaves now
    measured = with_enough_rows(facts, [sums.of_tree(tree) for tree, sums in zip(named, measured, strict=True)])
    candidates, costs = [], facts.costs_of(measured)
    for sums, name, cost in zip(measured, trees.values(), costs, strict=True):
        wrong = sums.held.copy()
        wrong[np.arange(len(wrong)), sums.tree.leaf_clusters] = 0
        candidates.append(Candidate(sums.tree, name, comparable(cost), float(wrong.sum())))
    best = rule.best(candidates)
    place = candidates.index(best)
    return best, measured[place], costs[place]


def _of_all_rows(facts: BatchStatistics) -> dict[ThresholdTree, str]:
    """Return the tree of IMM by passes over all rows, if it can be had."""
    task, imm = facts.task, METHODS["imm"]
    limited = [part for part in task.budget.given if part not in ("round_thresholds", "cuts")]
    if limited or task.reference.equal_pair or task.leaves() < task.reference.n_clusters:
        return {}
    grown = imm.grow(task)
    return {grown.tree: grown.method}
