"""`explain` on a table in batches: the same steps as in memory, each by passes over the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from boxwood.errors import DataError
from boxwood.explanation._best import refuse_leaves
from boxwood.explanation._budgets import settled, told
from boxwood.explanation._clustering import N_CLUSTERS
from boxwood.explanation._explanation import Explanation, with_booleans
from boxwood.explanation._guards import notes_on_agreement, notes_on_outcome
from boxwood.explanation._names import Names, renamed
from boxwood.explanation._of_explainer import is_explainer
from boxwood.explanation._options import with_defaults
from boxwood.explanation._progress import Progress, silent
from boxwood.explanation._table_auto import Found, searched_by_passes
from boxwood.explanation._table_clustering import clustering_of_table, label_column_of
from boxwood.explanation._table_evidence import refuse_all_rows
from boxwood.explanation._table_facts import TableFacts, named_by_rows
from boxwood.explanation._table_measure import explanation_of
from boxwood.explanation._table_rows import boolean_columns_of, budget_for, rows_for
from boxwood.grow import METHODS
from boxwood.passes import Source, TableTask
from boxwood.passes._tree_sums import Moved, TreeSums, shortened_by_passes
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
    for name, given in (("standardize", standardize), ("validate", validate is not None)):
        if given:
            refuse_all_rows(name, source.name)
    if is_explainer(clustering):
        refuse_all_rows("an explainer that brings its own tree", source.name)
    if is_spark_model(clustering):
        source, clustering = reference_of_spark_model(clustering, getattr(source, "frame", source))
    batches, notes = rows_for(source, label_column_of(clustering), sample_weight, columns)
    budget = budget_for(batches, method, dict(limits or {}))
    reference, clusterer = clustering_of_table(batches, clustering, n_clusters, random_state)
    task = TableTask.of(
        replace(batches, labelling=reference.labelling),
        renamed(reference, names),
        max_leaf_nodes=max_leaf_nodes,
        random_state=random_state,
        n_jobs=n_jobs,
        budget=budget,
    )
    _refuse_one_cluster(task)
    if clustering is None and n_clusters is None:
        notes += (f"{N_CLUSTERS} clusters were made, as no number was asked for (n_clusters)",)
    facts = TableFacts(task)
    found = _found(facts, method, with_defaults(method, dict(options), clusterer), progress)
    tree, n_moved, sums = _finished(facts, found.sums)
    cost = facts.costs_of([sums])[0] if n_moved or found.cost is None else found.cost
    grown = found.grown._replace(tree=tree, notes=(*notes, *found.grown.notes))
    explanation = explanation_of(facts, grown, sums, cost)
    afterwards = notes_on_outcome(explanation, clustering is None)
    if found.sample is not None:
        sample = settled(found.sample, found.grown.tree)
        afterwards += notes_on_agreement(explanation.agreement, found.grown.tree, sample)
    explanation = told(explanation, task, budget, n_moved)
    explanation = replace(explanation, notes=(*explanation.notes, *afterwards))
    return with_booleans(explanation, boolean_columns_of(batches))


def _refuse_one_cluster(task: TableTask) -> None:
    present = [name for name, size in zip(task.reference.names, task.overview.sizes, strict=True) if size]
    if len(present) < 2:
        raise DataError(
            f"the labels hold only one cluster, {present[0]!r}; a tree separates clusters, so give at least two"
        )


def _found(facts: TableFacts, method: str, options: dict[str, Any], progress: Progress) -> Found:
    """Return what the method grows, and what the leaves of its tree hold."""
    if method == "auto":
        return searched_by_passes(facts, progress=progress, **options)
    chosen = METHODS[method]
    refuse_leaves(facts.task, chosen)
    grown = chosen.grow(facts.task, **options)
    if grown.objective != "sqeuclidean" or grown.kernel is not None:
        raise DataError(f"costs by {grown.objective} distances need all rows in memory")
    return Found(grown, facts.of_trees([grown.tree])[0])


def _finished(facts: TableFacts, sums: TreeSums) -> tuple[ThresholdTree, int, TreeSums]:
    """Return the tree with short thresholds, rounded if that is asked for, the number of rows moved, and its sums."""
    task = facts.task
    short = shortened_by_passes(sums, task.batches)
    digits = task.budget.round_thresholds
    if digits is None:
        return short, 0, sums.of_tree(short)
    near = rounded(short, digits)
    n_moved = task.batches.fold(partial(Moved, short, near)).n if near != short else 0
    if not n_moved:
        return near, 0, sums.of_tree(near)
    moved = facts.of_trees([near])[0]
    tree = named_by_rows(moved, task.reference.centers, by_cost=False)
    return tree, n_moved, facts.of_trees([tree])[0]
