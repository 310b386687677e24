"""How estimators read a table, and what they keep of `fit` until its facts are first read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin

from boxwood._dates import DATES_AS_TEXT, Dates
from boxwood._frames import (
    boolean_columns,
    column_values,
    date_columns,
    is_frame,
    numeric_columns,
    refuse_other_names,
    validated_rows,
    without_columns,
)
from boxwood._messages import warn_caller
from boxwood._threads import BLOCK_ROWS, jobs_of
from boxwood._types import Indices, Weights
from boxwood._validation import Rows, as_weights, refuse_no_sum, show_value
from boxwood.api.explanation import Explanation
from boxwood.axes import AxisMap
from boxwood.columns.rules import UNSEEN_DATES
from boxwood.errors import DataError
from boxwood.explanation.ask.clustering import name_clusters
from boxwood.explanation.ask.columns import notes_on_left_out
from boxwood.explanation.ask.limits import with_limits
from boxwood.explanation.ask.provenance import Given, with_provenance
from boxwood.explanation.measure.measure import costs_of, measure, measured_in_batches
from boxwood.explanation.measured_tree import with_kinds, with_short_words
from boxwood.grow.grown import Grown
from boxwood.reference import Task
from boxwood.reference.feature_space import FeatureSpace, default_columns
from boxwood.table.scanned import is_source
from boxwood.tree import ThresholdTree


class NoExplanation(DataError, AttributeError):
    """There is no explanation: an AttributeError, too, so that `hasattr` says so."""


class Explained(NamedTuple):
    """An explanation, and what stays of the rows that it was measured on.

    Parameters
    ----------
    explanation : Explanation
        The explanation.
    prices : tuple of two floats
        The price of the tree, and the highest price that any tree could have.
    digest : bytes
        Recognises the rows; empty if they are never recognised.
    weights : array of shape (n,), or None
        Weights of the rows.
    """

    explanation: Explanation
    prices: tuple[float, float]
    digest: bytes = b""
    weights: Weights = None


NO_LABELS = (
    "there are no labels_, as the rows are read in batches and not kept; predict rows in a frame, or write the labels "
    "of a file: boxwood.explain(table, …).save('model.json'), then boxwood predict model.json FILE -o OUT"
)


class Fit(NamedTuple):
    """The data of a fit on which its explanation is measured, kept until that is first read."""

    task: Task
    coordinates: FeatureSpace | None = None  # None for rows in batches
    notes: tuple[str, ...] = ()  # on rows in batches; those in memory have them in their coordinates
    grow: Callable[[Any], Grown] | None = None  # grows a tree for another task, as the estimator does
    clusterer: Any = None  # the fitted clusterer
    given: Any = None  # the table that a pipeline was fitted on; None for other clusterers
    rests_on: Given | None = None  # what rows and clusters are called

    def clusters(self, tree: ThresholdTree) -> Indices:
        """Return the cluster that the tree gives to each row; those of rows in batches are too many to be kept."""
        if self.coordinates is None:
            raise NoExplanation(NO_LABELS)
        return tree.predict(self.coordinates.table, n_jobs=self.task.n_jobs)

    def prices(self, grown: Grown, clusters: Indices) -> tuple[float, float]:
        """Return the price of the tree on rows in memory, and the highest price that any tree could have."""
        assert self.coordinates is not None
        predicted = np.where(self.task.reference.kept, clusters, -1)
        costs = costs_of(self.task, grown, predicted, self.coordinates)
        return costs.price, costs.ceiling

    def explained(self, grown: Grown, booleans: Sequence[str], dates: Mapping[str, Dates]) -> Explained:
        """Return the explanation, which refers to the rows."""
        task, here = self.task.with_reference(name_clusters(self.task.reference)), self.coordinates
        if here is None:
            told_of = grown._replace(notes=(*self.notes, *grown.notes))
            measured = measured_in_batches(task, told_of, short_words=True)
        else:
            measured = measure(task, grown, here)
            evidence = replace(measured._rows(), grow=self.grow, clusterer=self.clusterer, given=self.given)
            short = here.dated(dates).shortened(grown.tree)
            measured = with_short_words(replace(measured, _evidence=evidence), short)
        explanation = Explanation._of(measured)
        explanation = with_limits(explanation, task, task.budget) if task.budget.given else explanation
        explanation = with_kinds(explanation, booleans, dates)
        explanation = explanation if self.rests_on is None else with_provenance(explanation, self.rests_on)
        ceiling = math.inf if explanation.details.kernel is None else explanation.details.kernel.price_ceiling
        prices = explanation.price, ceiling
        if here is None:
            return Explained(explanation, prices)
        digest = digest_of(here.table if here.measured is None else here.measured)
        return Explained(explanation, prices, digest, task.rows.weights)


def digest_of(rows: Rows) -> bytes:
    """Return a digest of the values of rows, which does not depend on their type and layout."""
    digest = blake2b(str(rows.values.shape).encode(), digest_size=16)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows.values[start : start + BLOCK_ROWS].astype(np.float64) + 0.0  # -0.0 equals 0.0
        digest.update(np.ascontiguousarray(block).data)
    return digest.digest()


def resolve_names(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Return the rows, labels and weights of a frame in which names of columns stand for the last two, and the names.

    Raises
    ------
    DataError
        If there is no such column, or if `X` is no data frame.
    """
    refuse_other_names(X, labels=y, sample_weight=sample_weight)
    names = tuple(name for name in (y, sample_weight) if isinstance(name, str))
    if not names:
        return X, y, sample_weight, ()
    if not is_frame(X):
        raise DataError(f"{show_value(names[0])} names a column, but X is not a data frame with named columns")
    labels = column_values(X, y) if isinstance(y, str) else y
    weights = column_values(X, sample_weight) if isinstance(sample_weight, str) else sample_weight
    return without_columns(X, names), labels, weights, names


def refuse_clusterer(model: BaseEstimator, y: Any) -> None:
    """Raise a DataError if a clusterer stands where `fit` takes labels; `explain` takes one there."""
    if hasattr(y, "fit"):
        raise DataError(
            f"y must be labels, but {show_value(y)} is a clusterer, which goes into the constructor: "
            f"{type(model).__name__}(clusterer=…).fit(X)"
        )


def refuse_source(X: Any, what: str) -> None:
    """Raise a DataError if `X` is a table in batches."""
    if is_source(X):
        raise DataError(
            f"{what} needs rows in memory, but the table is read in batches; read some of its rows into a frame"
        )


class TableReader(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that reads the tables of `predict` and `score` as it read that of `fit`."""

    clusterer: Any
    n_jobs: int | None

    _map: AxisMap | None  # the columns that a pipeline makes, where the tree was grown on them
    _left_out: Mapping[str, Sequence[str]] = {}  # columns of the frame that rules cannot use, by the reason
    _unlabelled: tuple[str, ...] = ()  # a note on rows without a label, if there are any
    _booleans: Sequence[str] = ()
    _dates: Mapping[str, Dates] = {}
    _beside: Sequence[str] = ()  # columns of the table that hold labels and weights

    def _jobs(self) -> int:
        return jobs_of(self.n_jobs)

    def _read_kinds(self, X: Any, y: Any) -> None:
        """Store which columns of a frame hold booleans and dates, and which are left out, being text.

        No column is left out if a pipeline clusters the frame: it may read them.
        """
        if not is_frame(X):
            return
        self._booleans, self._dates = boolean_columns(X), date_columns(X)
        if y is not None or not hasattr(self.clusterer, "steps"):
            numeric, others = numeric_columns(X)
            if y is None and self.clusterer is not None:
                others[UNSEEN_DATES] = [*self._dates, *others.pop(DATES_AS_TEXT)]
                numeric = [name for name in numeric if name not in self._dates]
            if numeric:
                self._left_out = {reason: names for reason, names in others.items() if names}

    def _numbers(self, X: Any) -> Any:
        """Return a frame without the columns that `fit` left out or took for labels; anything else as it is."""
        names = [*self._beside, *(name for names in self._left_out.values() for name in names)]
        return without_columns(X, names) if names and is_frame(X) else X

    def _warn_of_left_out(self) -> None:
        unread = [
            what for what, reason in (("words", "text"), (DATES_AS_TEXT, DATES_AS_TEXT)) if reason in self._left_out
        ]
        instead = [f"explain takes {' and '.join(unread)}"] if unread else []
        if said := [*notes_on_left_out(self._left_out), *instead, *self._unlabelled]:
            warn_caller("; ".join(said))

    def _rows(self, X: Any, sample_weight: ArrayLike | None = None, *, reset: bool = False) -> Rows:
        """Return checked rows, float32 or float64; store the number and names of the columns, or compare them."""
        refuse_source(X, f"{type(self).__name__}.fit" if reset else "predict")
        table = self._numbers(X)
        values = validated_rows(self, table, reset=reset, at_least=2 if reset else 1, n_jobs=self._jobs())
        if sample_weight is None and isinstance(X, Rows):
            return Rows(values, X.weights)
        weights = as_weights(sample_weight, len(values))
        refuse_no_sum(weights)
        return Rows(values, weights)

    def _tested_columns(self, X: Any) -> Rows:
        """Return rows in the columns that the tree tests."""
        return self._rows(X)

    def _coordinates(self, X: Any, rows: Rows) -> FeatureSpace:
        """Return the rows, and the columns that a pipeline computes from them before its clusterer."""
        columns = tuple(map(str, getattr(self, "feature_names_in_", default_columns(rows.n_columns))))
        return FeatureSpace.of_rows(rows, columns, self._map)
