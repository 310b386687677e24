"""`fit` on tables that are read in batches, and on data frames whose columns are named for labels and weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from boxwood._frames import column_values, is_frame, without_columns
from boxwood._types import Indices
from boxwood._validation import shown
from boxwood.errors import DataError
from boxwood.estimators._fits import Explained, NoExplanation
from boxwood.explanation._budgets import told
from boxwood.explanation._explanation import with_booleans
from boxwood.explanation._guards import notes_on_left_out
from boxwood.explanation._names import renamed
from boxwood.explanation._table_clustering import clustering_of_table
from boxwood.explanation._table_facts import TableFacts
from boxwood.explanation._table_measure import explanation_of
from boxwood.explanation._table_rows import boolean_columns_of, left_out_of, refuse_one_cluster_of
from boxwood.grow import METHODS
from boxwood.grow._grown import Grown
from boxwood.passes import Batches, Source, TableReference, TableTask
from boxwood.passes._batches import rows_of
from boxwood.table._as_source import is_source
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.estimators._base import TreeClusterer

__all__ = ["NO_LABELS", "FitOnTable", "by_name", "clusters_on", "fit_on", "refuse_source"]

NO_LABELS = (
    "there are no labels_, as the rows are read in batches and not kept; predict rows in a frame, or write the labels "
    "of a file: boxwood.explain(table, …).save('model.json'), then boxwood predict model.json FILE -o OUT"
)


class FitOnTable(NamedTuple):
    """What an explanation is measured on, by passes, when it is first read."""

    task: TableTask
    notes: tuple[str, ...]

    def clusters(self, tree: ThresholdTree) -> Indices:
        """Raise an error, as there are too many labels to be kept."""
        raise NoExplanation(NO_LABELS)

    def prices(self, grown: Grown, clusters: Indices) -> tuple[float, float]:
        """Raise an error; the price is a part of the explanation."""
        raise NoExplanation(NO_LABELS)

    def explained(self, grown: Grown, booleans: Sequence[str]) -> Explained:
        """Return the explanation, from one pass, or two where rows belong to the nearest centre; seldom one more."""
        task = replace(self.task, reference=renamed(self.task.reference))
        facts = TableFacts(task)
        sums = facts.of_trees([grown.tree])[0]
        grown = grown._replace(notes=(*self.notes, *grown.notes))
        explanation = told(explanation_of(facts, grown, sums, facts.costs_of([sums])[0]), task, task.budget)
        return Explained(with_booleans(explanation, booleans), (explanation.price, math.inf))


def fit_on(model: TreeClusterer, source: Source, label: Any, weight: Any) -> FitOnTable:
    """Grow the tree of an estimator on a table in batches, and set the attributes that `fit` sets.

    Raises
    ------
    DataError
        If the method or the clusterer needs all rows in memory, or there is only one cluster.
    """
    for what, name in (("labels", label), ("sample_weight", weight)):
        if name is not None and not isinstance(name, str):
            raise DataError(
                f"the rows of {source.name} are read in batches, so {what} must be the name of a column of it; "
                f"got {shown(name)}"
            )
    method = METHODS[model._method]
    method.refuse_without_passes()  # before anything is read
    batches = replace(rows_of(source, label, weight), n_jobs=model._jobs())
    model._booleans, model._left_out = boolean_columns_of(batches), left_out_of(source, (label, weight))
    model._beside = tuple(name for name in (label, weight) if name is not None)
    model.n_features_in_ = batches.n_columns
    model.feature_names_in_ = np.array(batches.columns, dtype=object)
    reference = model._clusters_on(batches, label)
    task = TableTask.of(
        replace(batches, labelling=reference.labelling),
        reference,
        mixture=model._mixture(None),
        max_leaf_nodes=getattr(model, "max_leaf_nodes", None),
        random_state=model.random_state,
        n_jobs=model._jobs(),
        budget=model._budget(),
    )
    refuse_one_cluster_of(task)
    model.reference_ = replace(reference, measured=None)  # type: ignore[assignment]  # which holds no table
    model._keep(method.grow(task, **model._options()))
    model._map, model._no_explanation = None, NO_LABELS
    return FitOnTable(task, notes_on_left_out(model._left_out))


def clusters_on(model: TreeClusterer, batches: Batches, label: str | None) -> TableReference:
    """Return the clusters of a column of labels, of a fitted clusterer that is frozen, or of k-means by passes."""
    if label is not None:
        return clustering_of_table(batches, label, None, model.random_state)[0]
    clusterer = model.clusterer
    if clusterer is not None:
        if not isinstance(clusterer, FrozenEstimator):
            raise DataError(
                f"{type(clusterer).__name__} cannot be fitted on a table in batches; fit it on a sample and give "
                "FrozenEstimator(fitted), name a column of labels, or leave it out for k-means"
            )
        model.clusterer_ = clusterer
        return clustering_of_table(batches, clusterer.estimator, None, model.random_state)[0]
    from boxwood.passes._k_means import k_means_by_passes

    found = k_means_by_passes(batches, model.n_clusters, random_state=model.random_state)
    model.clusterer_ = found.as_estimator()
    return found.reference


def by_name(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Return the rows, labels and weights of a frame in which names of columns stand for the last two, and the names.

    Raises
    ------
    DataError
        If there is no such column, or if `X` is no data frame.
    """
    names = tuple(name for name in (y, sample_weight) if isinstance(name, str))
    if not names:
        return X, y, sample_weight, ()
    if not is_frame(X):
        raise DataError(f"{shown(names[0])} names a column, but X is no data frame with named columns")
    labels = column_values(X, y) if isinstance(y, str) else y
    weights = column_values(X, sample_weight) if isinstance(sample_weight, str) else sample_weight
    return without_columns(X, names), labels, weights, names


def refuse_source(X: Any, what: str) -> None:
    """Raise a DataError if `X` is a table in batches."""
    if is_source(X):
        raise DataError(
            f"{what} needs rows in memory, but the table is read in batches; read some of its rows into a frame"
        )
