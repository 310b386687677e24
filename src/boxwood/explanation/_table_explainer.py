"""An explainer on a table in batches: its tree is explained there, and no other is grown."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boxwood._frames import refuse_unknown_columns
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.explanation._asked import Asked
from boxwood.explanation._explanation import Explanation, with_booleans
from boxwood.explanation._names import renamed
from boxwood.explanation._of_explainer import out_of_frozen, refuse_growing
from boxwood.explanation._table_clustering import clustering_of_table
from boxwood.explanation._table_evidence import refuse_all_rows
from boxwood.explanation._table_facts import TableFacts
from boxwood.explanation._table_measure import explanation_of
from boxwood.explanation._table_other import named_by_column
from boxwood.explanation._table_rows import Usable, boolean_columns_of, on_complete_rows, rows_for
from boxwood.passes import Batches, Source, TableReference, TableTask
from boxwood.reference._clusterer import is_fitted

__all__ = ["explained_on_table"]


def explained_on_table(explainer: Any, source: Source, asked: Asked) -> Explanation:
    """Return the explanation by the tree of an explainer, which is cloned and fitted on the table if it has none.

    Rows belong to the clusters that the explainer's clusterer predicts. Without one, they have labels in the column
    that it was fitted on.

    Raises
    ------
    DataError
        If the clusters of the rows cannot be known, or costs need all rows in memory.
    """
    from sklearn.base import clone

    explainer, names, weight = out_of_frozen(explainer), asked.names, asked.sample_weight
    refuse_growing(explainer, asked)
    if asked.columns is not None:
        raise ValueError("columns cannot be chosen for a tree that is there already; leave columns out")
    if not is_fitted(explainer):
        explainer = clone(explainer).fit(source, sample_weight=weight)
        if names is None:
            return explainer.explanation_  # type: ignore[no-any-return]
    kind, grown = type(explainer).__name__, explainer._grown
    if grown.kernel is not None or grown.objective != "sqeuclidean" or hasattr(explainer, "concept_names_"):
        refuse_all_rows(f"an explanation by {kind}", source.name)
    batches = replace(_rows(explainer, source, weight), n_jobs=asked.n_jobs)
    explanation = on_complete_rows(partial(_explained, explainer, asked), batches, asked.missing)
    return with_booleans(explanation, boolean_columns_of(batches))


def _explained(explainer: Any, asked: Asked, usable: Usable) -> Explanation:
    batches, grown = usable.batches, explainer._grown
    reference = renamed(_clusters(explainer, batches), asked.names)
    facts = TableFacts(TableTask.of(batches, reference, n_jobs=asked.n_jobs))
    sums = facts.of_trees([explainer.tree_])[0]
    return explanation_of(facts, grown._replace(tree=explainer.tree_), sums, facts.costs_of([sums])[0])


def _rows(explainer: Any, source: Source, weight: Any) -> Batches:
    """Return the columns of the fit; those without names are all columns of numbers, in their order."""
    known = getattr(explainer, "feature_names_in_", None)
    if known is not None:
        refuse_unknown_columns(list(known), source.names)
        return rows_for(source, None, weight, list(known))
    batches = rows_for(source, None, weight, None)
    if batches.n_columns != explainer.n_features_in_:
        raise DataError(
            f"{type(explainer).__name__} was fitted on {explainer.n_features_in_} columns, but {source.name} has "
            f"{batches.n_columns} of numbers ({listed(batches.columns)}); scan the columns of the fit (columns)"
        )
    return batches


def _clusters(explainer: Any, batches: Batches) -> TableReference:
    """Return the clusters of the rows, numbered as in the fit."""
    clusterer, reference = getattr(explainer, "clusterer_", None), explainer.reference_
    if clusterer is None:
        column = reference.labelling.column_read if isinstance(reference, TableReference) else None
        if column is not None and column in batches.source.names:
            return named_by_column(renamed(reference).names, batches, column)
        raise DataError(
            f"{type(explainer).__name__} has no clusterer that could predict the clusters of the rows of "
            f"{batches.source.name}; name their column: explainer.explanation_.measure(table, 'column')"
        )
    found, _ = clustering_of_table(batches, out_of_frozen(clusterer), None, None)
    if found.names != reference.names:
        raise DataError(
            f"{type(explainer).__name__} found the clusters {listed([*map(str, reference.names)])}, but its clusterer "
            f"predicts {listed([*map(str, found.names)])}; add its labels to the table as a column, and measure "
            "explainer.explanation_ on them"
        )
    centers = np.zeros((found.n_clusters, batches.n_columns))  # a tree that is there already needs none
    return TableReference(found.labelling, centers, found.names)
