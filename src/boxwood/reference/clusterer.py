"""The clustering that a tree explains: fitted if none is given, and refused if there is only one cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import nullcontext
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._frames import column_names, is_frame
from boxwood._threads import map_blocks, one_thread
from boxwood._types import Array, Floats
from boxwood._validation import Rows, as_weights, out_of_frozen, show_value
from boxwood.errors import DataError
from boxwood.loops.costs import SQEUCLIDEAN, add_costs
from boxwood.loops.expand import squared_distances
from boxwood.reference.labels import centers_of, labels_of, objective_of, refuse_other_clusterer
from boxwood.reference.labels import last_step as last_step
from boxwood.reference.mixture import Mixture
from boxwood.reference.of_fit import labels_by
from boxwood.reference.reference import Reference

MANY_STARTS, FEW_STARTS = 10, 3  # starts of k-means, which keeps the best: one start often merges two clusters
LARGE = 2_000_000  # number of values above which k-means gets few starts
QUICK = 1 << 23  # differences of rows and centres, so few that they take no longer than scikit-learn's beginning
SAMPLED = 1 << 20  # such differences for a sample of a large table
NEAR = 1 + 0.9e-6  # a little below the bound on what predicted labels cost, so that rounding cannot matter


def fitted_clusterer(clusterer: Any, X: Any, rows: Rows, *, n_clusters: int | None, random_state: Any) -> Any:
    """Return a fitted clone of `clusterer`, or k-means where it is None.

    A pipeline is fitted on `X` with its column names, every other clusterer on the numbers, `rows`. Weights are passed
    if `fit` accepts them. A `FrozenEstimator` is not cloned and stays as it was fitted. K-means of a small table takes
    one thread; that of a large one is quicker by several.
    """
    if clusterer is not None:
        is_frozen = out_of_frozen(clusterer) is not clusterer
        return clusterer if is_frozen else fitted_clone(clusterer, _input_of(clusterer, X, rows), rows.weights)
    assert n_clusters is not None
    refuse_number_of_clusters(rows, n_clusters)
    made = default_clusterer(n_clusters, rows.values.size, random_state)
    with one_thread() if rows.values.size * n_clusters <= QUICK else nullcontext():
        return fitted_clone(made, _input_of(made, X, rows), rows.weights)


def default_clusterer(n_clusters: int, n_values: int, random_state: Any) -> Any:
    """Return k-means that is not fitted, with fewer starts for large tables."""
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=MANY_STARTS if n_values <= LARGE else FEW_STARTS, random_state=random_state)


def fitted_pipeline(pipeline: Any, X: Any, sample_weight: ArrayLike | None) -> Any:
    """Return a clone of a pipeline fitted on the unchanged table, which may hold values other than numbers."""
    return fitted_clone(pipeline, X, None if sample_weight is None else as_weights(sample_weight, len(X)))


def refuse_other_estimator(clusterer: Any) -> None:
    """Raise the DataError of `refuse_other_clusterer` for a clusterer, or for a step of a pipeline."""
    for each in (step for _, step in clusterer.steps) if hasattr(clusterer, "steps") else [clusterer]:
        refuse_other_clusterer(each)


def fitted_clone(clusterer: Any, X: Any, weights: Floats | None) -> Any:
    """Return a clone of a clusterer or pipeline, fitted on a table as it is.

    Raises
    ------
    DataError
        If it learns from labels, or its last step finds no clusters.
    """
    from sklearn.base import clone

    refuse_other_estimator(clusterer)
    last = last_step(clusterer)
    if isinstance(last, str) or last is None:
        raise DataError(
            f"the last step of the pipeline is {show_value(last)}, which finds no clusters; let it be a clusterer"
        )
    if _learns_from_labels(last):
        kind = type(last).__name__
        raise DataError(
            f"{kind} learns from labels, so it finds no clusters by itself; give a clusterer, the labels, or "
            f"{kind} after its fit"
        )
    return clone(clusterer).fit(X, **weight_argument(clusterer, weights))


def reference_of(clusterer: Any, X: Any, rows: Rows) -> Reference:
    """Return the clustering of the rows by a fitted clusterer.

    A pipeline may read columns of `X` that `rows` lack. So the centres of its clusters are means of `rows`; see
    `reference_in` for centres in the columns in which it clusters. On the rows that k-means was fitted on, its
    `labels_` are taken, with means of `rows` as centres: in columns far from zero, predicting the labels would lose all
    digits.
    """
    if _is_k_means(clusterer) and _was_fitted_on(clusterer, _input_of(clusterer, X, rows), rows):
        return Reference.of(rows, clusterer.labels_)
    if hasattr(clusterer, "steps"):
        labels = labels_by(clusterer, X, len(rows))
        labels = np.where(labels < 0, -1, labels) if labels.dtype.kind in "iu" else labels
        return Reference.of(rows, labels)
    return Reference.from_estimator(clusterer, _input_of(clusterer, X, rows), rows=rows)


def predicted_reference(clusterer: Any, X: Any, rows: Rows) -> Reference:
    """Return the clusters that a fitted clusterer names for rows, wherever these lie: for a tree that is there."""
    labels = np.asarray(labels_of(clusterer, _input_of(clusterer, X, rows), len(rows)))
    return Reference.of(rows, np.where(labels < 0, -1, labels) if labels.dtype.kind in "iu" else labels)


def reference_in(pipeline: Any, rows: Rows, reference: Reference) -> Reference:
    """Return the clustering by a fitted pipeline, with centres in the columns that its last step clusters.

    The centres are those of the last step, such as the medians of `KMedians` or the means of a mixture. The clusters'
    means are taken for a step without centres, and for k-means, which stops before its centres are exact means. The
    names in `reference` are its labels.
    """
    last = last_step(pipeline)
    centers = None if _is_k_means(last) else centers_of(last, rows.n_columns)
    if centers is not None and all(isinstance(name, Integral) and name < len(centers) for name in reference.names):
        in_order = centers[np.array(reference.names, dtype=np.intp)]
        return reference.with_centers(in_order, best_for=objective_of(last))
    names: dict[Hashable, Hashable] = dict(enumerate(reference.names))
    return Reference.of(rows, reference.labels, names=names)


def _is_k_means(clusterer: Any) -> bool:
    from sklearn.cluster import KMeans

    return isinstance(clusterer, KMeans)


def _was_fitted_on(kmeans: Any, X: Any, rows: Rows) -> bool:
    """Return whether k-means was fitted on these rows: its labels cost about as little as those that it predicts.

    No labels cost less than those of the nearest centres. Where these are found quickly, and the labels cost no more,
    nothing is predicted, as scikit-learn takes some milliseconds to begin. Nor is it in a large table where the labels
    cost what they cost in the fit, and those of a sample of its rows no more than those of the nearest centres.
    """
    if len(kmeans.labels_) != len(rows) or kmeans.cluster_centers_.shape[1] != rows.n_columns:
        return False
    values, labels, centers = rows.values, kmeans.labels_, kmeans.cluster_centers_.astype(np.float64)
    own = _squared_distances(values, labels, centers)
    n_differences = values.size * len(centers)
    if _has_columns_of_fit(kmeans, X) and (n_differences <= QUICK or own <= kmeans.inertia_ * NEAR <= own * NEAR**2):
        step = 1 if n_differences <= QUICK else -(-n_differences // SAMPLED)
        of_sample = own if step == 1 else _squared_distances(values[::step], labels[::step], centers)
        if of_sample <= _least_distances(values[::step], centers) * NEAR:
            return True
    nearest = np.asarray(labels_of(kmeans, X, len(rows)))
    return own <= _squared_distances(values, nearest, centers) * (1 + 1e-6)


def _has_columns_of_fit(clusterer: Any, X: Any) -> bool:
    """Return whether a clusterer that knows the names of its columns would take the table as it is."""
    names = getattr(clusterer, "feature_names_in_", None)
    return names is None or (is_frame(X) and list(column_names(X)) == list(names))


def _least_distances(rows: Array, centers: Floats) -> float:
    """Return the sum of the squared distances of rows to their nearest centres."""
    distances, by_column = np.empty((len(rows), len(centers))), np.ascontiguousarray(centers.T)
    squared_distances(np.ascontiguousarray(rows), by_column, 2.0, distances)  # it takes half differences
    return float(distances.min(axis=1).sum())


def _squared_distances(rows: Array, labels: Array, centers: Array) -> float:
    """Return the sum of the squared distances of rows to the centres of their labels."""

    def work(start: int, stop: int) -> float:
        costs = np.zeros(len(centers))
        block = rows[start:stop], labels[start:stop], np.empty(0)
        add_costs(*block, centers, np.zeros_like(centers), SQEUCLIDEAN, costs)
        return float(costs.sum())

    return sum(map_blocks(work, len(rows)))


def mixture_of(clusterer: Any, reference: Reference, columns: Sequence[str]) -> Mixture | None:
    """Return the Gaussians of a fitted Gaussian mixture, with the cluster of each; None for other clusterers.

    Also None if its columns are not those of the table, or if rows belong to a component without weight. `reference` is
    the mixture's clustering of the rows; its clusters are named by the numbers of the components.
    """
    fitted = out_of_frozen(clusterer)
    if not is_gaussian_mixture(fitted):
        return None
    names = getattr(fitted, "feature_names_in_", None)
    same = fitted.means_.shape[1] == len(columns) if names is None else list(names) == list(columns)
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


def is_gaussian_mixture(clusterer: Any) -> bool:
    """Return whether this is a Gaussian mixture of scikit-learn; False for None."""
    if clusterer is None:
        return False
    from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

    return isinstance(clusterer, (GaussianMixture, BayesianGaussianMixture))


def is_fitted(clusterer: Any) -> bool:
    """Return whether a clusterer is fitted; False for None."""
    if clusterer is None:
        return False
    refuse_other_estimator(clusterer)
    last = last_step(clusterer)
    if hasattr(last, "fit") and not hasattr(last, "__sklearn_tags__"):  # scikit-learn knows nothing of its class
        return any(name.endswith("_") and not name.startswith("__") for name in vars(last))
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(clusterer)
    except NotFittedError:
        return False
    return True


def flat(clusterer: Any) -> Any:
    """Return a pipeline whose last step is a pipeline as one of all their steps, and any other clusterer as it is.

    What is frozen stays frozen.
    """
    if not hasattr(clusterer, "fit"):  # labels need no scikit-learn
        return clusterer
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import Pipeline, make_pipeline

    if isinstance(clusterer, FrozenEstimator):
        inside = flat(clusterer.estimator)
        return clusterer if inside is clusterer.estimator else FrozenEstimator(inside)
    last: Any = flat(clusterer.steps[-1][1]) if isinstance(clusterer, Pipeline) else None
    if not hasattr(last, "steps"):
        return clusterer
    frozen = isinstance(last, FrozenEstimator)
    steps = (FrozenEstimator(each) if frozen and not isinstance(each, str) else each for _, each in last.steps)
    return make_pipeline(*(each for _, each in clusterer.steps[:-1]), *steps)


class FewDifferentRows(DataError):
    """More clusters are asked for than there are different rows."""


def refuse_number_of_clusters(rows: Rows, n_clusters: int) -> None:
    """Raise a DataError unless at least two clusters are wanted, and there are as many different rows."""
    refuse_few_different(_distinct_rows(rows.values, n_clusters), n_clusters)


def refuse_few_different(n_distinct: int, n_clusters: int) -> None:
    """Raise a DataError unless at least two clusters are wanted, and no more than the different rows of a table."""
    if n_clusters < 2:
        raise DataError(f"at least 2 clusters are needed, as a tree separates clusters; got {n_clusters}")
    if n_distinct < n_clusters:
        raise FewDifferentRows(
            f"{n_clusters} clusters asked for, but the table has only {n_distinct} different rows; "
            "ask for fewer clusters"
        )


def weight_argument(clusterer: Any, weights: Floats | None) -> dict[str, Any]:
    """Return the argument that passes weights to `fit`, under the name that a pipeline wants; none if not accepted.

    Where scikit-learn routes metadata, the clusterer's requests decide, and those of a pipeline's steps.
    """
    from sklearn import get_config
    from sklearn.utils.validation import has_fit_parameter

    if weights is not None and get_config()["enable_metadata_routing"] and hasattr(clusterer, "get_metadata_routing"):
        return _as_requested(clusterer, weights)
    name, last = "sample_weight", clusterer
    while hasattr(last, "steps"):  # a pipeline passes an argument to the step in its name
        step, last = last.steps[-1]
        name = f"{step}__{name}"
    return {name: weights} if weights is not None and has_fit_parameter(last, "sample_weight") else {}


def _learns_from_labels(estimator: Any) -> bool:
    """Return whether `fit` needs labels; False for a class of which scikit-learn knows nothing."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return False
    from sklearn.utils import get_tags

    tags = get_tags(estimator)
    return tags.target_tags.required or tags.estimator_type in ("classifier", "regressor")


def _as_requested(clusterer: Any, weights: Floats) -> dict[str, Any]:
    """Return the weights if a clusterer or a step of it asks for them, or has not said whether it does.

    A pipeline with a step that has not said so refuses them. One clusterer alone gets them, as by a call of its `fit`.
    """
    from sklearn.exceptions import UnsetMetadataPassedError
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

    fits = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner="boxwood").add(clusterer=clusterer, method_mapping=fits)
    given = {"sample_weight": weights}
    try:
        return dict(router.route_params(params=given, caller="fit").clusterer.fit)
    except UnsetMetadataPassedError:
        return given


def _input_of(clusterer: Any, X: Any, rows: Rows) -> Any:
    """Return the table for the clusterer; arrays are made C-contiguous, as the last digits depend on memory order."""
    wants_names = hasattr(clusterer, "steps") or hasattr(clusterer, "feature_names_in_")
    table = X if wants_names else rows.values
    return np.ascontiguousarray(table) if isinstance(table, np.ndarray) else table


def _distinct_rows(rows: Array, enough: int) -> int:
    """Return the number of different rows, or some number of at least `enough`, found from as few rows as suffice."""
    size = max(1024, 4 * enough)
    while True:
        count = len(np.unique(rows[:size], axis=0))
        if count >= enough or size >= len(rows):
            return count
        size *= 8
