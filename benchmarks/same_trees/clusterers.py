"""Clusterers that find the clusters they were told, so that no real one can change a tree."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks.same_trees.tables import Table


class FixedLabels(ClusterMixin, BaseEstimator):
    """A clusterer that finds the labels it was told, and cannot predict."""

    def __init__(self, labels: Any = None) -> None:
        self.labels = labels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the labels."""
        self.n_features_in_ = np.shape(X)[1]
        self.labels_ = np.asarray(self.labels)
        return self


class FixedCenters(ClusterMixin, BaseEstimator):
    """A clusterer whose centres are told; a row belongs to the nearest, the first of equally near ones."""

    def __init__(self, centers: Any = None) -> None:
        self.centers = centers

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the centres."""
        self.n_features_in_ = np.shape(X)[1]
        self.cluster_centers_ = np.asarray(self.centers, dtype=np.float64)
        self.labels_ = self.predict(X)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the nearest centre of each row."""
        differences = np.asarray(X, dtype=np.float64)[:, None, :] - self.cluster_centers_
        return (differences**2).sum(axis=2).argmin(axis=1)


class FixedMixture(GaussianMixture):
    """A Gaussian mixture, fitted by hand, that gives each row to the component of most density there."""

    @classmethod
    def of(cls, table: Table) -> Self:
        """Return the mixture of a table's centres, shares and variances."""
        self = cls(table.k, covariance_type="diag", random_state=0)
        self.weights_, self.means_ = table.shares / table.shares.sum(), table.centers
        self.covariances_ = np.maximum(table.variances, 1e-3)
        self.precisions_ = 1 / self.covariances_
        self.precisions_cholesky_ = np.sqrt(self.precisions_)
        self.converged_, self.n_iter_, self.lower_bound_ = True, 1, 0.0
        self.n_features_in_ = table.X.shape[1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the component of each row, by sums over columns in the place of the parent's matrix products."""
        squares = (np.asarray(X, dtype=np.float64)[:, None, :] - self.means_) ** 2
        losses = (squares * self.precisions_).sum(axis=2) - 2 * np.log(self.precisions_cholesky_).sum(axis=1)
        return (losses - 2 * np.log(self.weights_)).argmin(axis=1)


def by_centers(t: Table) -> Any:
    return FixedCenters(t.centers)


def by_scaled_labels(t: Table) -> Any:
    return make_pipeline(StandardScaler(), FixedLabels(t.labels))


def by_scaled_centers(t: Table) -> Any:
    return make_pipeline(MinMaxScaler(), FixedCenters(MinMaxScaler().fit(t.X).transform(t.centers)))
