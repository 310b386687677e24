"""`explain` on a table in batches: the same steps as in memory, each by passes over the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from boxwood._frames import refuse_unknown_columns
from boxwood._validation import listed, refuse_other_kind
from boxwood.errors import DataError
from boxwood.explanation._best import refuse_leaves
from boxwood.explanation._budgets import settled, told
from boxwood.explanation._clustering import N_CLUSTERS
from boxwood.explanation._explanation import Explanation, with_booleans
from boxwood.explanation._guards import notes_on_agreement, notes_on_left_out, notes_on_outcome
from boxwood.explanation._names import Names, renamed
from boxwood.explanation._of_explainer import is_explainer
from boxwood.explanation._options import with_defaults
from boxwood.explanation._progress import Progress, silent
from boxwood.explanation._table_auto import Found, searched_by_passes
from boxwood.explanation._table_clustering import clustering_of_table, label_column_of
from boxwood.explanation._table_facts import TableFacts, named_by_rows
from boxwood.explanation._table_measure import explanation_of
from boxwood.grow import METHODS
from boxwood.passes import Batches, Source, TableTask
from boxwood.passes._batches import rows_of
from boxwood.passes._tree_sums import Moved, TreeSums, shortened_by_passes
from boxwood.reference._budget import Budget, as_names
from boxwood.tree import ThresholdTree
from boxwood.tree._shorten import rounded

__all__ = ["explain_table"]

_REASONS = {"text": "text", "date": "dates", "other": "neither numbers nor booleans"}


def explain_table(
    source: Source,
    clustering: Any,
    *,
    method: str,
    options: Mapping[str, Any],
    n_clusters: int | None = None,
    max_leaf_nodes: int | None = None,
    names: Names | None = None,
    sample_weight: str | None = None,
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
            _refuse(name, source)
    if is_explainer(clustering):
        _refuse("an explainer that brings its own tree", source)
    batches, notes = _rows(source, clustering, sample_weight, columns)
    budget = _budget(batches, method, dict(limits or {}))
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
    grown, sums, sample = _found(facts, method, with_defaults(method, dict(options), clusterer), progress)
    of_search = grown.tree
    tree, n_moved, sums = _finished(facts, sums)
    cost = facts.costs_of([sums])[0]
    grown = grown._replace(tree=tree, notes=(*notes, *grown.notes))
    explanation = explanation_of(facts, grown, sums, cost)
    afterwards = notes_on_outcome(explanation, clustering is None)
    if sample is not None:
        afterwards += notes_on_agreement(explanation.agreement, of_search, settled(sample, of_search))
    explanation = told(explanation, task, budget, n_moved)
    explanation = replace(explanation, notes=(*explanation.notes, *afterwards))
    kinds = dict(zip(source.names, source.kinds, strict=True))
    return with_booleans(explanation, [name for name in batches.columns if kinds[name] == "boolean"])


def _refuse(what: str, source: Source) -> NoReturn:
    raise DataError(
        f"{what} needs all rows in memory, but {source.name} is read in batches; read a sample of its rows into a "
        "frame, and explain that"
    )


# ------------------------------------------------------------------------------------------------------- the task


def _rows(
    source: Source, clustering: Any, weight: str | None, columns: Sequence[str] | None
) -> tuple[Batches, tuple[str, ...]]:
    """Return the columns that rules may use as rows, and a note on those that are left out."""
    if weight is not None:
        refuse_other_kind("sample_weight", weight, str, f"name the column of {source.name} that holds the weights")
    label = label_column_of(clustering)
    batches = rows_of(source, label, weight)
    if columns is not None:
        return replace(batches, columns=_chosen(batches, columns, label)), ()
    left_out: dict[str, list[str]] = {}
    for name, kind in zip(source.names, source.kinds, strict=True):
        if kind in _REASONS and name not in (label, weight):
            left_out.setdefault(_REASONS[kind], []).append(name)
    return batches, notes_on_left_out(left_out)


def _chosen(batches: Batches, columns: Sequence[str], label: str | None) -> tuple[str, ...]:
    """Return the columns that the caller has chosen, in this order."""
    source, wanted = batches.source, as_names("columns", columns)
    refuse_unknown_columns(wanted, source.names)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    others = [name for name in wanted if kinds[name] in _REASONS and name != label]
    if others:
        raise DataError(
            f"columns of a table in batches must be numbers, but these are not: {listed(others)}; leave them out, or "
            "add columns of numbers made of them"
        )
    chosen = tuple(dict.fromkeys(name for name in wanted if name not in (label, batches.weight)))
    if not chosen:
        raise DataError(f"no column is left for the rules among {listed(wanted)}")
    return chosen


def _budget(batches: Batches, method: str, limits: dict[str, Any]) -> Budget:
    """Return the budget on the columns of the rows; methods by passes keep none but rounded thresholds."""
    others = set(batches.source.names) - set(batches.columns)
    limits["forbidden"] = [name for name in as_names("forbidden", limits.get("forbidden")) if name not in others]
    budget = Budget.of(batches.columns, **limits)
    kept = ("round_thresholds",) if method != "auto" else ("round_thresholds", *_OF_AUTO)
    refused = [name for name in budget.given if name not in kept]
    if refused:
        _refuse(listed(refused) + (f" with method {method!r}" if refused[0] in _OF_AUTO else ""), batches.source)
    return budget


_OF_AUTO = ("max_depth", "max_columns", "forbidden", "preferred")  # limits that a tree of a sample keeps on all rows


def _refuse_one_cluster(task: TableTask) -> None:
    present = [name for name, size in zip(task.reference.names, task.overview.sizes, strict=True) if size]
    if len(present) < 2:
        raise DataError(
            f"the labels hold only one cluster, {present[0]!r}; a tree separates clusters, so give at least two"
        )


# ------------------------------------------------------------------------------------------------------- the tree


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
