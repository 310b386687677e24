"""`explain` on a table in batches: the same steps as in memory, each by passes over the table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boxwood.explanation._asked import Asked
from boxwood.explanation._budgets import settled, told
from boxwood.explanation._clustering import N_CLUSTERS
from boxwood.explanation._explanation import Explanation, with_booleans
from boxwood.explanation._guards import note_on_identifiers, notes_on_agreement, notes_on_outcome, notes_on_ranges
from boxwood.explanation._mixture_facts import mixture_facts
from boxwood.explanation._progress import Progress
from boxwood.explanation._table_auto import Found, sample_task, searched_by_passes
from boxwood.explanation._table_facts import TableFacts, named_by_rows
from boxwood.explanation._table_growth import Growth, grown_by_name
from boxwood.explanation._table_guards import identifiers_of
from boxwood.explanation._table_in_memory import held_out_of_sample
from boxwood.explanation._table_limits import with_enough_rows
from boxwood.explanation._table_measure import explanation_of
from boxwood.explanation._table_question import table_question_of
from boxwood.explanation._table_rows import boolean_columns_of
from boxwood.passes import Source, TableTask
from boxwood.passes._tree_sums import Moved, TreeSums, shortened_by_passes
from boxwood.reference import Mixture
from boxwood.tree import ThresholdTree
from boxwood.tree._shorten import rounded

__all__ = ["explain_table"]


def explain_table(source: Source, clustering: Any, asked: Asked) -> Explanation:
    """Return the explanation of a clustering of the rows of a source; see `explain`."""
    question = table_question_of(source, clustering, asked)
    growth = question.growth
    facts = TableFacts(growth.task)
    found = _found(facts, growth, asked.progress)
    sums = found.sums
    if growth.scaling is not None:
        facts = TableFacts(question.unscaled_task(), growth.scaling.scale)
        sums = facts.of_trees([found.grown.tree.pull_back(growth.scaling)])[0]
    tree, n_moved, sums = _finished(facts, sums)
    notes = (*question.usable.notes, *_notes_on_columns(facts, sums))
    if clustering is None:
        notes += _notes_on_k_means(facts.task, asked)
    cost = facts.costs_of([sums])[0] if n_moved or found.cost is None else found.cost
    grown = found.grown._replace(tree=tree, notes=(*notes, *found.grown.notes))
    explanation = explanation_of(facts, grown, sums, cost)
    afterwards = _notes_afterwards(explanation, found, made_here=clustering is None)
    if (mixture := grown.facts.get("mixture")) is not None:
        raw = mixture if growth.scaling is None else mixture.rescaled(growth.scaling.shift, growth.scaling.scale)
        explanation = _with_mixture(explanation, raw, facts)
    explanation = told(explanation, facts.task, facts.task.budget, n_moved)
    assert explanation._table is not None
    evidence = replace(explanation._table, growth=growth)
    explanation = replace(explanation, notes=(*explanation.notes, *afterwards), _table=evidence)
    if asked.validate is not None:
        explanation = replace(explanation, held_out=held_out_of_sample(explanation, asked.validate, asked.progress))
    return with_booleans(question.usable.told(explanation), boolean_columns_of(question.usable.batches))


def _notes_on_columns(facts: TableFacts, sums: TreeSums) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, although rules may use them."""
    least, most = facts.task.ranges
    n_values = np.full(len(least), facts.task.overview.n_rows)
    return note_on_identifiers(identifiers_of(facts.task.batches, n_values, ~sums.broken, least, most))


def _notes_on_k_means(task: TableTask, asked: Asked) -> tuple[str, ...]:
    """Return notes on what k-means was given: columns of different ranges, and a number that nobody chose."""
    notes = () if asked.standardize else notes_on_ranges(task.batches.columns, np.stack(task.ranges))
    if asked.n_clusters is None:
        notes += (f"{N_CLUSTERS} clusters were made, as no number was asked for (n_clusters)",)
    return notes


def _notes_afterwards(explanation: Explanation, found: Found, *, made_here: bool) -> tuple[str, ...]:
    """Return notes on what came out; on low agreement where "auto" knows of better trees."""
    notes = notes_on_outcome(explanation, made_here)
    if found.sample is not None:
        sample = settled(found.sample, found.grown.tree)
        notes += notes_on_agreement(explanation.agreement, found.grown.tree, sample)
    return notes


def _with_mixture(explanation: Explanation, mixture: Mixture, facts: TableFacts) -> Explanation:
    """Return the explanation with the facts from the Gaussians; their tails are looked at on a sample."""
    sample, is_whole = sample_task(facts)
    found = mixture_facts(explanation.tree, mixture, explanation.columns, sample)
    note = f"how far the clusters are from Gaussian was judged on a sample of {len(sample.rows):,} rows"
    notes = explanation.notes if is_whole else (*explanation.notes, note)
    return replace(explanation, mixture=found, notes=notes)


def _found(facts: TableFacts, growth: Growth, progress: Progress) -> Found:
    """Return what the method grows, and what the leaves of its tree hold."""
    facts.task.budget.refuse_too_few(facts.task.n_kept)
    if growth.method == "auto":
        return searched_by_passes(facts, progress=progress, **growth.options)
    grown = grown_by_name(facts, growth.method, growth.options)
    return Found(grown, facts.of_trees([grown.tree])[0])


def _finished(facts: TableFacts, sums: TreeSums) -> tuple[ThresholdTree, int, TreeSums]:
    """Return the tree with short thresholds, rounded if that is asked for, the number of rows moved, and its sums."""
    task = facts.task
    short = shortened_by_passes(sums, task.batches)
    digits = task.budget.round_thresholds
    if digits is None:
        return short, 0, sums.of_tree(short)
    near = rounded(short, digits)
    rows = task.batches.fold(partial(Moved, short, near)) if near != short else None
    if rows is None or not (rows.n or rows.n_others):
        return near, 0, sums.of_tree(near)
    moved = facts.of_trees([near])[0]
    if not rows.n:
        return near, 0, moved
    tree = named_by_rows(moved, task.reference.centers, by_cost=False)
    [sums] = with_enough_rows(facts, facts.of_trees([tree]))
    return sums.tree, rows.n, sums
