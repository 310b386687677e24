"""`explain` on a table in batches: the same steps as in memory, each by passes over the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from boxwood.explanation._budgets import settled, told
from boxwood.explanation._clustering import N_CLUSTERS
from boxwood.explanation._explanation import Explanation, with_booleans
from boxwood.explanation._guards import note_on_identifiers, notes_on_agreement, notes_on_outcome, notes_on_ranges
from boxwood.explanation._mixture_facts import mixture_facts
from boxwood.explanation._names import Names, renamed
from boxwood.explanation._options import with_defaults
from boxwood.explanation._progress import Progress, silent
from boxwood.explanation._table_auto import Found, sample_task, searched_by_passes
from boxwood.explanation._table_clustering import clustering_of_table, label_column_of
from boxwood.explanation._table_evidence import refuse_all_rows
from boxwood.explanation._table_facts import TableFacts, named_by_rows
from boxwood.explanation._table_growth import Growth, grown_by_name
from boxwood.explanation._table_guards import identifiers_of
from boxwood.explanation._table_in_memory import held_out_of_sample
from boxwood.explanation._table_limits import with_enough_rows
from boxwood.explanation._table_measure import explanation_of
from boxwood.explanation._table_rows import (
    boolean_columns_of,
    budget_for,
    refuse_one_cluster_of,
    rows_for,
    without_identifiers,
)
from boxwood.grow import METHODS
from boxwood.passes import Source, TableReference, TableTask
from boxwood.passes._scaled import scaled_batches, unit_scaling, unscaled_reference
from boxwood.passes._tree_sums import Moved, TreeSums, shortened_by_passes
from boxwood.reference import Mixture
from boxwood.reference._clusterer import default_clusterer, last_step
from boxwood.table._spark_models import is_spark_model, reference_of_spark_model
from boxwood.tree import ThresholdTree
from boxwood.tree._shorten import rounded

__all__ = ["explain_table"]


def explain_table(
    source: Source,
    clustering: Any,
    *,
    method: str,
    options: Mapping[str, Any],
    n_clusters: int | None = None,
    max_leaf_nodes: int | None = None,
    names: Names | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    columns: Sequence[str] | None = None,
    standardize: bool = False,
    validate: float | int | None = None,
    n_jobs: int | None = -1,
    progress: Progress = silent,
    limits: Mapping[str, Any] | None = None,
) -> Explanation:
    """Return the explanation of a clustering of the rows of a source; `explain` states the parameters.

    IN: method, options: as `method_with_options` returns them; limits: the parts of a budget.
    """
    if is_spark_model(clustering):
        source, clustering = reference_of_spark_model(clustering, getattr(source, "frame", source))
    batches, notes = rows_for(source, label_column_of(clustering), sample_weight, columns)
    batches = replace(batches, n_jobs=n_jobs)
    if method != "auto":
        METHODS[method].refuse_without_passes()  # before anything is read
    if clustering is None and columns is None:
        batches, left_out = without_identifiers(batches)
        notes += left_out
    budget = budget_for(batches, method, dict(limits or {}))
    if standardize and not (clustering is None or isinstance(clustering, str)):
        refuse_all_rows("standardize with centres or a clusterer", source.name)
    scaling = unit_scaling(batches) if standardize else None
    on = batches if scaling is None else scaled_batches(batches, scaling)  # the columns on which trees are grown
    reference, clusterer = clustering_of_table(on, clustering, n_clusters, random_state)
    options_of_task: dict[str, Any] = {
        "mixture": _mixture_of(clusterer),
        "max_leaf_nodes": max_leaf_nodes,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "budget": budget,
    }
    reference = renamed(reference, names)
    task = TableTask.of(replace(on, labelling=reference.labelling), reference, **options_of_task)
    refuse_one_cluster_of(task)
    facts = TableFacts(task)
    chosen = with_defaults(method, dict(options), clusterer)
    made_by = clusterer
    if clustering is None:
        n_values = task.overview.n_rows * task.batches.n_columns
        made_by = default_clusterer(reference.n_clusters, n_values, random_state)
    growth = Growth(task, method, chosen, made_by, scaling, clustering is None or _has_means(reference))
    found = _found(facts, method, chosen, progress)
    sums = found.sums
    if scaling is not None:
        reference = unscaled_reference(reference, scaling)
        rows = replace(batches, labelling=reference.labelling, store=task.batches.store)
        task = TableTask.of(rows, reference, **options_of_task)
        facts = TableFacts(task, scaling.scale)
        sums = facts.of_trees([found.grown.tree.pull_back(scaling)])[0]
    tree, n_moved, sums = _finished(facts, sums)
    notes += _notes_on_columns(facts, sums)
    if clustering is None:
        notes += _notes_on_k_means(task, n_clusters, standardize)
    cost = facts.costs_of([sums])[0] if n_moved or found.cost is None else found.cost
    grown = found.grown._replace(tree=tree, notes=(*notes, *found.grown.notes))
    explanation = explanation_of(facts, grown, sums, cost)
    afterwards = notes_on_outcome(explanation, clustering is None)
    if found.sample is not None:
        sample = settled(found.sample, found.grown.tree)
        afterwards += notes_on_agreement(explanation.agreement, found.grown.tree, sample)
    if (mixture := grown.facts.get("mixture")) is not None:
        raw = mixture if scaling is None else mixture.rescaled(scaling.shift, scaling.scale)
        explanation = _with_mixture(explanation, raw, facts)
    explanation = told(explanation, task, budget, n_moved)
    explanation = replace(explanation, notes=(*explanation.notes, *afterwards))
    assert explanation._table is not None
    explanation = replace(explanation, _table=replace(explanation._table, growth=growth))
    if validate is not None:
        explanation = replace(explanation, held_out=held_out_of_sample(explanation, validate, progress))
    return with_booleans(explanation, boolean_columns_of(batches))


def _notes_on_columns(facts: TableFacts, sums: TreeSums) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, although rules may use them."""
    overview, (least, most) = facts.task.overview, facts.task.ranges
    return note_on_identifiers(identifiers_of(facts.task.batches, overview.n_rows, ~sums.broken, least, most))


def _notes_on_k_means(task: TableTask, n_clusters: int | None, standardize: bool) -> tuple[str, ...]:
    """Return notes on what k-means was given: columns of different ranges, and a number that nobody chose."""
    notes = () if standardize else notes_on_ranges(task.batches.columns, np.stack(task.ranges))
    if n_clusters is None:
        notes += (f"{N_CLUSTERS} clusters were made, as no number was asked for (n_clusters)",)
    return notes


def _has_means(reference: TableReference) -> bool:
    """Return whether the centres are the means of the rows of a column of labels."""
    return reference.measured is not None and reference.measured.means is not None


def _mixture_of(clusterer: Any) -> Mixture | None:
    """Return the Gaussians of a fitted mixture; its clusters have the numbers of its components."""
    fitted = last_step(clusterer)
    if not isinstance(fitted, (GaussianMixture, BayesianGaussianMixture)):
        return None
    mixture = Mixture.from_gaussian_mixture(fitted)
    return mixture.with_clusters(np.array(mixture.names, dtype=np.intp))


def _with_mixture(explanation: Explanation, mixture: Mixture, facts: TableFacts) -> Explanation:
    """Return the explanation with the facts from the Gaussians; their tails are looked at on a sample."""
    sample, is_whole = sample_task(facts)
    found = mixture_facts(explanation.tree, mixture, explanation.columns, sample)
    note = f"how far the clusters are from Gaussian was judged on a sample of {len(sample.rows):,} rows"
    notes = explanation.notes if is_whole else (*explanation.notes, note)
    return replace(explanation, mixture=found, notes=notes)


def _found(facts: TableFacts, method: str, options: dict[str, Any], progress: Progress) -> Found:
    """Return what the method grows, and what the leaves of its tree hold."""
    facts.task.budget.refuse_too_few(facts.task.n_kept)
    if method == "auto":
        return searched_by_passes(facts, progress=progress, **options)
    grown = grown_by_name(facts, method, options)
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
