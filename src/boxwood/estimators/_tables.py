"""How estimators read a table: which columns rules can use, checked rows, and the columns that the tree is grown on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin

from boxwood._frames import boolean_columns, is_frame, numeric_columns, validated_rows, without_columns
from boxwood._validation import Rows, as_weights, refuse_infinite_sum
from boxwood._warnings import warn_caller
from boxwood.axes import AxisMap
from boxwood.estimators._on_sources import refuse_source
from boxwood.explanation._guards import notes_on_left_out
from boxwood.reference._coordinates import Coordinates, default_columns

__all__ = ["TableReader"]


class TableReader(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that reads the tables of `predict` and `score` as it read that of `fit`."""

    clusterer: Any
    n_jobs: int | None

    _map: AxisMap | None  # the columns that a pipeline makes, where the tree was grown on them
    _left_out: Mapping[str, Sequence[str]] = {}  # columns of the frame that rules cannot use, by the reason
    _booleans: Sequence[str] = ()
    _beside: Sequence[str] = ()  # columns of the table that hold labels and weights

    def _jobs(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _read_kinds(self, X: Any, y: Any) -> None:
        """Store which columns of a frame hold booleans, and which are left out, being text or dates.

        No column is left out if a pipeline clusters the frame: it may read them.
        """
        if not is_frame(X):
            return
        self._booleans = boolean_columns(X)
        if y is not None or not hasattr(self.clusterer, "steps"):
            numeric, others = numeric_columns(X)
            if numeric:
                self._left_out = {reason: names for reason, names in others.items() if names}

    def _numbers(self, X: Any) -> Any:
        """Return a frame without the columns that `fit` left out or took for labels; anything else as it is."""
        names = [*self._beside, *(name for names in self._left_out.values() for name in names)]
        return without_columns(X, names) if names and is_frame(X) else X

    def _warn_of_left_out(self) -> None:
        if self._left_out:
            warn_caller("; ".join(notes_on_left_out(self._left_out)))

    def _rows(self, X: Any, sample_weight: ArrayLike | None = None, *, reset: bool = False) -> Rows:
        """Return checked rows, float32 or float64; store the number and names of the columns, or compare them."""
        refuse_source(X, f"{type(self).__name__}.fit" if reset else "predict")
        table = self._numbers(X)
        values = validated_rows(self, table, reset=reset, at_least=2 if reset else 1, n_jobs=self._jobs())
        if sample_weight is None and isinstance(X, Rows):
            return Rows(values, X.weights)
        weights = as_weights(sample_weight, len(values))
        refuse_infinite_sum(weights)
        return Rows(values, weights)

    def _tested(self, X: Any) -> Rows:
        """Return rows in the columns that the tree tests."""
        return self._rows(X)

    def _coordinates(self, X: Any, rows: Rows) -> Coordinates:
        """Return the rows, and the columns that a pipeline computes from them before its clusterer."""
        columns = tuple(map(str, getattr(self, "feature_names_in_", default_columns(rows.n_columns))))
        return Coordinates.of_rows(rows, columns, self._map)
