"""The clustering that a tree explains: fitted where none is given, and refused where there is nothing to explain."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import has_fit_parameter

from boxwood.errors import DataError
from boxwood.metrics import partition_cost
from boxwood.reference import Reference, labels_of
from boxwood.reference._reference import _centers_of as centers_of

__all__ = ["fitted_clusterer", "reference_of", "reference_seen", "refuse_number_of_clusters", "refuse_one_cluster"]


MANY_STARTS, FEW_STARTS = 10, 3  # of k-means, which keeps the best: one start often merges two clusters
LARGE = 2_000_000  # values above which the starts are few


def fitted_clusterer(
    clusterer: Any,
    X: Any,
    rows: NDArray[Any],
    *,
    n_clusters: int,
    random_state: Any,
    weights: NDArray[np.float64] | None,
) -> Any:
    """Return a fitted clone of `clusterer`, or k-means where it is None.

    A pipeline sees `X` as it came, with its column names; every other clusterer sees `rows`, its numbers. Weights are
    passed where `fit` accepts them. A `FrozenEstimator` is its own clone and stays as it was fitted.
    """
    if clusterer is None:
        refuse_number_of_clusters(rows, n_clusters)
        starts = MANY_STARTS if rows.size <= LARGE else FEW_STARTS
        clusterer = KMeans(n_clusters, n_init=starts, random_state=random_state)
    fitted = clone(clusterer)
    if isinstance(fitted, FrozenEstimator):
        return fitted
    return fitted.fit(_input_of(fitted, X, rows), **_weight_argument(fitted, weights))


def reference_of(clusterer: Any, X: Any, rows: NDArray[Any], weights: NDArray[np.float64] | None) -> Reference:
    """Return the clustering of the rows by a fitted clusterer.

    A pipeline may read other columns of `X` than those of `rows`, so its clusters have the means of `rows` as centres;
    see `reference_seen` for those where it clusters. So have those of k-means on the rows it was fitted on: its labels
    are right where predicting them would lose all digits, in columns far from zero.
    """
    if isinstance(clusterer, KMeans) and _was_fitted_on(clusterer, _input_of(clusterer, X, rows), rows):
        return Reference.of(rows, clusterer.labels_, sample_weight=weights)
    if hasattr(clusterer, "steps"):
        labels = np.asarray(labels_of(clusterer, X, len(rows)))
        labels = np.where(labels < 0, -1, labels) if labels.dtype.kind in "iu" else labels
        return Reference.of(rows, labels, sample_weight=weights)
    return Reference.from_estimator(clusterer, _input_of(clusterer, X, rows), sample_weight=weights)


def reference_seen(
    pipeline: Any, seen: NDArray[Any], reference: Reference, weights: NDArray[np.float64] | None
) -> Reference:
    """Return the clustering by a fitted pipeline, with centres among the rows `seen` by its last step.

    They are the last step's own, such as the medians of `KMedians` and the means of a mixture; the clusters' means for
    k-means, as it stops short of them, and for a step that has no centres. `reference` is named by its labels.
    """
    last = pipeline[-1].estimator if isinstance(pipeline[-1], FrozenEstimator) else pipeline[-1]
    centers = None if isinstance(last, KMeans) else centers_of(last, seen.shape[1])
    if centers is not None and all(isinstance(name, Integral) and name < len(centers) for name in reference.names):
        return reference.with_centers(centers[np.array(reference.names, dtype=np.intp)])
    names: dict[Hashable, Hashable] = dict(enumerate(reference.names))
    return Reference.of(seen, reference.labels, names=names, sample_weight=weights)


def _was_fitted_on(kmeans: KMeans, X: Any, rows: NDArray[Any]) -> bool:
    """Return whether the labels of k-means fit the rows: its centres are their means, as far as it went."""
    if len(kmeans.labels_) != len(rows) or kmeans.cluster_centers_.shape[1] != rows.shape[1]:
        return False
    nearest = np.asarray(labels_of(kmeans, X, len(rows)))
    losses = [partition_cost(rows, labels, centers=kmeans.cluster_centers_) for labels in (kmeans.labels_, nearest)]
    return losses[0] <= losses[1] * (1 + 1e-6)


def refuse_one_cluster(reference: Reference) -> None:
    """Raise a DataError unless rows of two clusters can be told apart."""
    present = np.unique(reference.labels[reference.kept])
    if len(present) < 2:
        one = f"only one cluster, {reference.names[present[0]]!r}" if len(present) else "no cluster at all"
        raise DataError(f"the labels hold {one}; at least two are needed, as there is nothing to tell apart otherwise")


def refuse_number_of_clusters(rows: NDArray[Any], n_clusters: int) -> None:
    """Raise a DataError unless the rows can make that many clusters, at least two."""
    if n_clusters < 2:
        raise DataError(
            f"at least 2 clusters are needed, as there is nothing to tell apart otherwise; got {n_clusters}"
        )
    found = _distinct_rows(rows, n_clusters)
    if found < n_clusters:
        raise DataError(
            f"{n_clusters} clusters asked for, but the table has only {found} different rows; ask for fewer clusters"
        )


def _input_of(clusterer: Any, X: Any, rows: NDArray[Any]) -> Any:
    """Return the table as the clusterer is to see it: arrays in one memory order, on which last digits depend."""
    named = hasattr(clusterer, "steps") or hasattr(clusterer, "feature_names_in_")
    seen = X if named else rows
    return np.ascontiguousarray(seen) if isinstance(seen, np.ndarray) else seen


def _weight_argument(clusterer: Any, weights: NDArray[np.float64] | None) -> dict[str, Any]:
    name, last = "sample_weight", clusterer
    while hasattr(last, "steps"):  # a pipeline passes what is named after its steps
        step, last = last.steps[-1]
        name = f"{step}__{name}"
    return {name: weights} if weights is not None and has_fit_parameter(last, "sample_weight") else {}


def _distinct_rows(rows: NDArray[Any], enough: int) -> int:
    """Return the number of different rows, or a number of at least `enough`; looks at few rows if these suffice."""
    size = max(1024, 4 * enough)
    while True:
        found = len(np.unique(rows[:size], axis=0))
        if found >= enough or size >= len(rows):
            return found
        size *= 8
