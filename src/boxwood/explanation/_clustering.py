"""The clustering that `explain` is given or makes: labels, a clusterer, a pipeline, or k-means."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from boxwood._frames import column_values, label_values
from boxwood._validation import shown, whole_number
from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.reference import Mixture, Reference
    from boxwood.reference._coordinates import Coordinates

__all__ = ["N_CLUSTERS", "clustering_of", "given_to"]

N_CLUSTERS = 8  # as in every estimator


def given_to(clusterer: Any, was_fitted: bool, X: Any, stages: tuple[Coordinates, Coordinates]) -> Any:
    """Return the rows as a clusterer was given them; None if these are the rows on which trees are grown.

    A pipeline reads the table; so does a clusterer that was fitted before on other columns than the rules use, or on
    columns that were not standardized.
    """
    unscaled, coordinates = stages
    names = getattr(clusterer, "feature_names_in_", coordinates.columns)
    if hasattr(clusterer, "steps") or list(names) != list(coordinates.columns):
        return X
    return unscaled.rows.values if was_fitted and coordinates.scaling is not None else None


def clustering_of(
    clustering: Any, X: Any, stages: tuple[Coordinates, Coordinates], n_clusters: int | None, random_state: Any
) -> tuple[Reference, Mixture | None, Any]:
    """Return the clustering, its Gaussians if it is the clustering of a mixture, and the fitted clusterer if any.

    `stages` are the coordinates of the rows before they are standardized, and after.
    """
    from boxwood.reference import Reference
    from boxwood.reference._clusterer import refuse_one_cluster

    if clustering is not None and n_clusters is not None:
        raise ValueError(
            f"n_clusters={shown(n_clusters)} is for k-means, but the clusters are given; leave one of the two out"
        )
    if clustering is None or hasattr(clustering, "fit"):
        n_clusters = N_CLUSTERS if n_clusters is None else whole_number("n_clusters", n_clusters, 0)
        reference, mixture, clustering = _of_clusterer(clustering, X, stages, n_clusters, random_state)
    elif isinstance(clustering, Reference):
        reference, mixture = _with_scaled_centers(clustering, stages[1]), None
    elif isinstance(clustering, Integral):
        raise DataError(f"labels must be one for each row, got {shown(clustering)}; to make clusters, pass n_clusters")
    else:
        labels = column_values(X, clustering) if isinstance(clustering, str) else clustering
        reference, mixture = Reference.of(stages[1].rows, label_values(labels)), None
    refuse_one_cluster(reference)
    return reference, mixture, clustering


def _of_clusterer(
    clusterer: Any, X: Any, stages: tuple[Coordinates, Coordinates], n_clusters: int, random_state: Any
) -> tuple[Reference, Mixture | None, Any]:
    """Return the clustering by a clusterer, its Gaussians if it is a mixture, and the clusterer, fitted by now."""
    from boxwood.reference import Reference
    from boxwood.reference._clusterer import fitted_clusterer, is_fitted, mixture_of, reference_of
    from boxwood.reference._labels import by_size

    coordinates = stages[1]
    if is_fitted(clusterer):
        reference = _in_rows(clusterer, reference_of(clusterer, X, coordinates.table), stages)
        mixture = mixture_of(clusterer, reference, coordinates.columns)
        return reference, None if mixture is None else coordinates.to_rows(mixture), clusterer
    fitted = fitted_clusterer(clusterer, X, coordinates.rows, n_clusters=n_clusters, random_state=random_state)
    if clusterer is None:
        return Reference.of(coordinates.rows, by_size(fitted.labels_, coordinates.rows.weights)), None, fitted
    reference = reference_of(fitted, X, coordinates.rows)
    return reference, mixture_of(fitted, reference, coordinates.columns), fitted


def _in_rows(clusterer: Any, reference: Reference, stages: tuple[Coordinates, Coordinates]) -> Reference:
    """Return a clustering of the table by a fitted clusterer, with centres in the columns on which trees are grown."""
    import numpy as np

    from boxwood.reference import Reference
    from boxwood.reference._clusterer import reference_in

    unscaled, coordinates = stages
    if hasattr(clusterer, "steps"):
        if unscaled.axis_map is not None:
            reference = reference_in(clusterer, unscaled.rows, reference)
    elif list(getattr(clusterer, "feature_names_in_", coordinates.columns)) != list(coordinates.columns):
        names = {c: reference.names[c] for c in np.unique(reference.labels[reference.kept]).tolist()}
        return Reference.of(coordinates.rows, reference.labels, names=names)
    return _with_scaled_centers(reference, coordinates)


def _with_scaled_centers(reference: Reference, coordinates: Coordinates) -> Reference:
    """Return a clustering with centres in the columns on which trees are grown; other centres are refused later."""
    if coordinates.scaling is None or reference.centers.shape[1] != coordinates.rows.n_columns:
        return reference
    return reference.with_centers(coordinates.scaling.transform(reference.centers))
