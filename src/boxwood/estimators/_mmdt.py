"""`MMDT`: the tree that tells the components of a mixture apart."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.mixture import GaussianMixture

from boxwood._compat import StrOptions
from boxwood._types import Array, Ints, Weights
from boxwood._validation import listed
from boxwood.estimators._base import TreeClusterer
from boxwood.grow import mmdt
from boxwood.grow._mmdt_thresholds import THRESHOLDS
from boxwood.metrics._mixture_tails import far_tails
from boxwood.reference import Mixture, Reference
from boxwood.reference._clusterer import refuse_number_of_clusters
from boxwood.reference._moments import moments_of
from boxwood.tree import ThresholdTree

__all__ = ["MMDT"]


class MMDT(TreeClusterer):
    """Clusters explained by a tree with one leaf for each, grown from their means and variances alone.

    The Mixture Model Decision Tree: at each node the axis is cut on which the means lie farthest apart, measured in
    standard deviations. Use it for Gaussian mixtures and other clusters that gather around their means: the share of
    rows outside their own leaf falls exponentially with the explainability-to-noise ratio.

    Parameters
    ----------
    clusterer : estimator, default=None
        Clusterer, mixture or pipeline of scikit-learn whose clusters are explained; it is cloned and fitted, but a
        `FrozenEstimator` is used as it is. None is a Gaussian mixture. Ignored if `fit` is given labels.
    n_clusters : int, default=8
        Number of components of the Gaussian mixture where `clusterer` is None.
    axis : {"gap", "range"}, default="gap"
        Axis to cut: that with the largest gap between neighbouring means, or the largest range of means.
    threshold : {"midpoint", "tails", "chebyshev", "gaussian", "uniform"}, default="midpoint"
        Where to cut it; see `grow.mmdt`.
    pooling : {"weighted", "max"}, default="weighted"
        The one variance of an axis: the mean of the clusters' by weight, or the largest.
    random_state : int, RandomState instance or None, default=None
        Randomness of the Gaussian mixture and of "uniform" thresholds; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The tree
        does not depend on it.

    Attributes
    ----------
    mixture_ : Mixture
        What the tree is grown from: the parameters of a Gaussian mixture as it was fitted, or the frequencies, means
        and variances of the clusters' rows, in the columns that the clusterer sees behind a pipeline's first steps.
        Clusters without rows, and components without data, are not in it.
    tree_ : ThresholdTree
        The tree. Always holds: each component of `mixture_` has exactly one leaf, which its mean reaches.
    labels_ : array of shape (n,)
        What `predict` gives for the rows of `fit`.
    reference_ : Reference
        The clustering that the tree explains.
    cluster_centers_ : array of shape (k, d)
        Centres of that clustering.
    n_leaves_ : int
        Number of leaves.
    price_ : float
        Price of explainability: within-cluster squared distances under the tree, divided by those of the clustering.
        0/0 is 1; below 1 where the clustering does not minimise this cost.
    clusterer_ : estimator
        The fitted clusterer; only there if `fit` was given no labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns; only there if `fit` was given a data frame whose column names are all text.

    Warns
    -----
    UserWarning
        By `fit`, where clusters are skewed, heavy-tailed or two-humped along a column that bounds a leaf of theirs,
        by `metrics.tail_check` of at most 20 000 rows of each: the guarantees rest on symmetry and light tails.

    See Also
    --------
    IMM : Counts rows parted from their centre; for k-means clusters.
    CART : Looks at every row; for clusters far from any Gaussian.

    Notes
    -----
    The tree takes one reading of the rows for means and variances, and none where a Gaussian mixture brings its own:
    then `sample_weight`, which scikit-learn's mixtures do not take, counts for `price_` alone.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Algorithm 1.

    Examples
    --------
    >>> from boxwood import MMDT
    >>> X = [[1.0, 0.0], [1.2, 9.0], [1.1, 5.0], [8.0, 1.0], [8.2, 7.0]]
    >>> model = MMDT().fit(X, ["low", "low", "low", "high", "high"])
    >>> model.tree_.to_dict()["feature"], model.predict([[7.0, 0.0]]).tolist()
    (0, ['high'])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "axis": [StrOptions({"gap", "range"})],
        "threshold": [StrOptions(set(THRESHOLDS))],
        "pooling": [StrOptions({"weighted", "max"})],
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        n_clusters: int = 8,
        axis: str = "gap",
        threshold: str = "midpoint",
        pooling: str = "weighted",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.axis = axis
        self.threshold = threshold
        self.pooling = pooling
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _unfitted_clusterer(self, rows: Array) -> Any:
        if self.clusterer is not None:
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        return GaussianMixture(self.n_clusters, random_state=self.random_state)

    def _grow(self, X: Array, reference: Reference, weights: Weights, n_jobs: int) -> ThresholdTree:
        clusters, self.mixture_ = self._mixture(X, reference, weights, n_jobs)
        options = {"axis": self.axis, "threshold": self.threshold, "pooling": self.pooling}
        tree = mmdt(self.mixture_, random_state=self.random_state, **options)
        tree = tree.relabeled(clusters[tree.leaf_clusters])
        self._warn_of_far_tails(X, reference, weights, tree, n_jobs)
        return tree

    def _mixture(self, X: Array, reference: Reference, weights: Weights, n_jobs: int) -> tuple[Ints, Mixture]:
        """Return the mixture, and for each of its components the cluster of the reference."""
        clusterer = getattr(self, "clusterer_", None)
        if hasattr(clusterer, "covariance_type"):  # not so for a pipeline, whose mixture is on other columns
            mixture = Mixture.from_gaussian_mixture(clusterer)
            return np.array(mixture.names, dtype=np.int64), mixture
        moments = reference.moments
        if moments is None:
            moments = moments_of(X, reference.labels, reference.n_clusters, weights, n_jobs)
        clusters = np.flatnonzero(moments.weights > 0)
        return clusters, Mixture.of_moments(moments, names=[reference.names[c] for c in clusters])

    def _warn_of_far_tails(
        self, X: Array, reference: Reference, weights: Weights, tree: ThresholdTree, n_jobs: int
    ) -> None:
        tails = far_tails(X, reference.labels, tree, sample_weight=weights, n_jobs=n_jobs)
        if tails:
            names = getattr(self, "feature_names_in_", ())  # other columns than these are a pipeline's
            columns = names if len(names) == X.shape[1] else [f"column {j}" for j in range(X.shape[1])]
            found = listed([f"{reference.names[t.component]} ({t.verdict} along {columns[t.axis]})" for t in tails])
            warnings.warn(
                f"clusters far from Gaussian: {found}; means and variances say little of them, so that CART or IMM may "
                "give a better tree",
                stacklevel=6,
            )
