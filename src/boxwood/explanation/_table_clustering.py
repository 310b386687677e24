"""The clustering of a table in batches that `explain` is given or makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import listed, shown, whole_number
from boxwood.errors import DataError
from boxwood.explanation._clustering import N_CLUSTERS
from boxwood.passes import Batches, LabelColumn, Labelling, NearestCenters, TableReference
from boxwood.passes._find_labels import find_labels
from boxwood.passes._gaussian import COVARIANCES, LikeliestComponent
from boxwood.passes._means import means_in
from boxwood.passes._overview import MissingValues
from boxwood.passes._table_reference import Measured
from boxwood.reference._clusterer import is_fitted, last_step
from boxwood.reference._estimators import centers_of

__all__ = ["PredictedLabels", "clustering_of_table", "label_column_of"]


@dataclass(frozen=True, eq=False)
class PredictedLabels(Labelling):
    """Each row belongs to the cluster that a fitted clusterer predicts for it; a negative one leaves it out.

    Parameters
    ----------
    clusterer : object
        Has `predict`, which takes rows of numbers, shape (n, d).
    """

    clusterer: Any

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the predicted cluster of each row."""
        assert rows is not None
        if len(rows) == 0:
            return np.empty(0, dtype=np.intp)
        if np.isnan(rows).any():
            raise MissingValues(f"{type(self.clusterer).__name__} is asked about rows with missing values")
        found = np.asarray(self.clusterer.predict(_as_fitted(self.clusterer, rows)))
        return np.asarray(np.maximum(found, -1), dtype=np.intp)


def _as_fitted(clusterer: Any, rows: Floats) -> Any:
    """Return rows with the names of columns if the clusterer was fitted with names; it would warn without them."""
    names = getattr(clusterer, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=list(names))


def label_column_of(clustering: Any) -> str | None:
    """Return the name of the column that holds the labels, if a column does."""
    if isinstance(clustering, TableReference):
        return clustering.labelling.column_read
    return clustering if isinstance(clustering, str) else None


def clustering_of_table(
    batches: Batches, clustering: Any, n_clusters: int | None, random_state: Any
) -> tuple[TableReference, Any]:
    """Return the clustering of the rows of a source, and the clusterer if one was given.

    Raises
    ------
    DataError
        If the clustering needs all rows in memory, or does not fit the columns.
    """
    if clustering is not None and n_clusters is not None:
        raise ValueError(
            f"n_clusters={n_clusters} is for k-means, but the clusters are given; leave one of the two out"
        )
    if clustering is None:
        from boxwood.passes._k_means import k_means_by_passes

        k = N_CLUSTERS if n_clusters is None else whole_number("n_clusters", n_clusters, 0)
        return k_means_by_passes(batches, k, random_state=random_state).reference, None
    if isinstance(clustering, TableReference):
        return clustering, None
    if isinstance(clustering, str):
        return _of_column(batches, clustering), None
    if hasattr(clustering, "fit"):
        return _of_clusterer(batches, clustering), clustering
    centers = np.asarray(clustering)
    if centers.ndim != 2 or centers.dtype.kind not in "biuf":
        raise DataError(
            f"the rows of {batches.source.name} are read in batches, so their labels must be a column of it: give the "
            f"column's name, centres of shape (k, {batches.n_columns}) or a fitted clusterer; got {shown(clustering)}"
        )
    if centers.shape[1] != batches.n_columns:
        raise DataError(f"centres have {centers.shape[1]} columns, but the rows have {_columns(batches)}")
    return TableReference(NearestCenters(np.asarray(centers, dtype=np.float64)), centers), None


def _columns(batches: Batches) -> str:
    return f"{batches.n_columns} ({listed(batches.columns)})"


def _of_column(batches: Batches, column: str) -> TableReference:
    """Return the clusters of a column of labels on the columns of the rows, as `TableReference.of` does on all."""
    labels, overview = find_labels(batches, column)
    labelling = LabelColumn(column, labels)
    labelled = replace(batches, labelling=labelling)
    means = means_in(labelled, overview)
    return TableReference(labelling, means.mean + means.rest, labels, measured=Measured(labelled, overview, means))


def _of_clusterer(batches: Batches, clusterer: Any) -> TableReference:
    """Return the clustering by a fitted clusterer: by its centres if rows belong to the nearest one."""
    from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans

    last, kind = last_step(clusterer), type(clusterer).__name__
    instead = "add its labels to the table as a column, and give the column's name"
    if hasattr(clusterer, "steps"):
        raise DataError(f"a pipeline needs all rows in memory; {instead}")
    if not is_fitted(clusterer):
        raise DataError(f"{kind} is not fitted, and needs all rows in memory; fit it on a sample first")
    if not hasattr(last, "predict"):
        raise DataError(f"{kind} cannot predict, so it labels no rows in batches; {instead}")
    names = list(getattr(last, "feature_names_in_", batches.columns))
    if names != list(batches.columns):
        raise DataError(
            f"{kind} was fitted on the columns {listed(names)}, but the rows have {_columns(batches)}; "
            "name those of the fit (columns)"
        )
    centers = centers_of(last, batches.n_columns)
    if centers is None:
        raise DataError(f"{kind} has no centres with {_columns(batches)} columns; {instead}")
    if isinstance(last, (KMeans, MiniBatchKMeans)) and not isinstance(last, BisectingKMeans):
        return TableReference(NearestCenters(centers), centers)
    if getattr(last, "covariance_type", None) in COVARIANCES:
        return TableReference(LikeliestComponent(last), centers)
    return TableReference(PredictedLabels(last), centers)
