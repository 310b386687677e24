"""The clustering that a tree explains: fitted where none is given, and refused where there is nothing to explain."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from boxwood._threads import map_blocks
from boxwood._types import Array, Floats
from boxwood._validation import Rows, as_weights
from boxwood.errors import DataError
from boxwood.loops.costs import SQEUCLIDEAN, add_costs
from boxwood.reference._mixture import Mixture
from boxwood.reference._reference import Reference, labels_of, objective_of
from boxwood.reference._reference import _centers_of as centers_of

__all__ = [
    "fitted_clusterer",
    "fitted_pipeline",
    "is_fitted",
    "last_step",
    "mixture_of",
    "reference_in",
    "reference_of",
    "refuse_number_of_clusters",
    "refuse_one_cluster",
]


MANY_STARTS, FEW_STARTS = 10, 3  # of k-means, which keeps the best: one start often merges two clusters
LARGE = 2_000_000  # values above which the starts are few


def fitted_clusterer(
    clusterer: Any,
    X: Any,
    rows: Rows,
    *,
    n_clusters: int,
    random_state: Any,
) -> Any:
    """Return a fitted clone of `clusterer`, or k-means where it is None.

    A pipeline sees `X` as it came, with its column names; every other clusterer sees `rows`, its numbers. Weights are
    passed where `fit` accepts them. A `FrozenEstimator` is its own clone and stays as it was fitted.
    """
    if clusterer is None:
        refuse_number_of_clusters(rows, n_clusters)
        starts = MANY_STARTS if rows.values.size <= LARGE else FEW_STARTS
        clusterer = KMeans(n_clusters, n_init=starts, random_state=random_state)
    fitted = clone(clusterer)
    if isinstance(fitted, FrozenEstimator):
        return fitted
    return fitted.fit(_input_of(fitted, X, rows), **_weight_argument(fitted, rows.weights))


def fitted_pipeline(pipeline: Any, X: Any, sample_weight: ArrayLike | None) -> Any:
    """Return a fitted clone of a pipeline; it sees the table as it came, which need not be one of numbers."""
    return clone(pipeline).fit(X, **_weight_argument(pipeline, as_weights(sample_weight, len(X))))


def reference_of(clusterer: Any, X: Any, rows: Rows) -> Reference:
    """Return the clustering of the rows by a fitted clusterer.

    A pipeline may read other columns of `X` than those of `rows`, so its clusters have the means of `rows` as centres;
    see `reference_in` for those where it clusters. So have those of k-means on the rows it was fitted on: its labels
    are right where predicting them would lose all digits, in columns far from zero.
    """
    if isinstance(clusterer, KMeans) and _was_fitted_on(clusterer, _input_of(clusterer, X, rows), rows):
        return Reference.of(rows, clusterer.labels_)
    if hasattr(clusterer, "steps"):
        labels = np.asarray(labels_of(clusterer, X, len(rows)))
        labels = np.where(labels < 0, -1, labels) if labels.dtype.kind in "iu" else labels
        return Reference.of(rows, labels)
    return Reference.from_estimator(clusterer, _input_of(clusterer, X, rows), rows=rows)


def reference_in(pipeline: Any, rows: Rows, reference: Reference) -> Reference:
    """Return the clustering by a fitted pipeline, with centres among the rows that its last step clusters.

    They are the last step's own, such as the medians of `KMedians` and the means of a mixture; the clusters' means for
    k-means, as it stops short of them, and for a step that has no centres. `reference` is named by its labels.
    """
    last = last_step(pipeline)
    centers = None if isinstance(last, KMeans) else centers_of(last, rows.n_columns)
    if centers is not None and all(isinstance(name, Integral) and name < len(centers) for name in reference.names):
        own = centers[np.array(reference.names, dtype=np.intp)]
        return reference.with_centers(own, best_for=objective_of(last))
    names: dict[Hashable, Hashable] = dict(enumerate(reference.names))
    return Reference.of(rows, reference.labels, names=names)


def _was_fitted_on(kmeans: KMeans, X: Any, rows: Rows) -> bool:
    """Return whether the labels of k-means fit the rows: its centres are their means, as far as it went."""
    if len(kmeans.labels_) != len(rows) or kmeans.cluster_centers_.shape[1] != rows.n_columns:
        return False
    nearest = np.asarray(labels_of(kmeans, X, len(rows)))
    losses = [_squared_distances(rows.values, labels, kmeans.cluster_centers_) for labels in (kmeans.labels_, nearest)]
    return losses[0] <= losses[1] * (1 + 1e-6)


def _squared_distances(rows: Array, labels: Array, centers: Array) -> float:
    """Return the sum of the squared distances of rows to the centres of their labels."""
    exact = centers.astype(np.float64)

    def work(start: int, stop: int) -> float:
        costs = np.zeros(len(exact))
        block = rows[start:stop], labels[start:stop], np.empty(0)
        add_costs(*block, exact, np.zeros_like(exact), SQEUCLIDEAN, costs)
        return float(costs.sum())

    return sum(map_blocks(work, len(rows)))


def mixture_of(clusterer: Any, reference: Reference, columns: Sequence[str]) -> Mixture | None:
    """Return the Gaussians of a fitted Gaussian mixture, with the cluster that each is; None for other clusterers.

    None too where its columns are not those of the table, or rows belong to a component that has no weight. `reference`
    is what the mixture makes of the rows, with clusters named by the numbers of the components.
    """
    fitted = clusterer.estimator if isinstance(clusterer, FrozenEstimator) else clusterer
    if not isinstance(fitted, (GaussianMixture, BayesianGaussianMixture)):
        return None
    named = getattr(fitted, "feature_names_in_", None)
    same = fitted.means_.shape[1] == len(columns) if named is None else list(named) == list(columns)
    if not same:
        return None
    mixture = Mixture.from_gaussian_mixture(fitted)
    cluster_of = {name: i for i, name in enumerate(reference.names)}
    components = [i for i, name in enumerate(mixture.names) if name in cluster_of]
    mixture = mixture.part(components)
    clusters = np.array([cluster_of[name] for name in mixture.names], dtype=np.intp)
    if not np.isin(reference.labels[reference.kept], clusters).all():
        return None
    return mixture.with_clusters(clusters)


def is_fitted(clusterer: Any) -> bool:
    """Return whether a clusterer is fitted; None is not."""
    if clusterer is None:
        return False
    try:
        check_is_fitted(clusterer)
    except NotFittedError:
        return False
    return True


def last_step(clusterer: Any) -> Any:
    """Return the last step of a pipeline, or the clusterer itself, out of any `FrozenEstimator`."""
    last = clusterer[-1] if hasattr(clusterer, "steps") else clusterer
    return last.estimator if isinstance(last, FrozenEstimator) else last


def refuse_one_cluster(reference: Reference) -> None:
    """Raise a DataError unless rows of two clusters can be told apart."""
    present = np.unique(reference.labels[reference.kept])
    if len(present) < 2:
        one = f"only one cluster, {reference.names[present[0]]!r}" if len(present) else "no cluster at all"
        raise DataError(f"the labels hold {one}; at least two are needed, as there is nothing to tell apart otherwise")


def refuse_number_of_clusters(rows: Rows, n_clusters: int) -> None:
    """Raise a DataError unless the rows can make that many clusters, at least two."""
    if n_clusters < 2:
        raise DataError(
            f"at least 2 clusters are needed, as there is nothing to tell apart otherwise; got {n_clusters}"
        )
    found = _distinct_rows(rows.values, n_clusters)
    if found < n_clusters:
        raise DataError(
            f"{n_clusters} clusters asked for, but the table has only {found} different rows; ask for fewer clusters"
        )


def _input_of(clusterer: Any, X: Any, rows: Rows) -> Any:
    """Return the table as the clusterer is to see it: arrays in one memory order, on which last digits depend."""
    named = hasattr(clusterer, "steps") or hasattr(clusterer, "feature_names_in_")
    table = X if named else rows.values
    return np.ascontiguousarray(table) if isinstance(table, np.ndarray) else table


def _weight_argument(clusterer: Any, weights: Floats | None) -> dict[str, Any]:
    name, last = "sample_weight", clusterer
    while hasattr(last, "steps"):  # a pipeline passes what is named after its steps
        step, last = last.steps[-1]
        name = f"{step}__{name}"
    return {name: weights} if weights is not None and has_fit_parameter(last, "sample_weight") else {}


def _distinct_rows(rows: Array, enough: int) -> int:
    """Return the number of different rows, or a number of at least `enough`; looks at few rows if these suffice."""
    size = max(1024, 4 * enough)
    while True:
        found = len(np.unique(rows[:size], axis=0))
        if found >= enough or size >= len(rows):
            return found
        size *= 8
