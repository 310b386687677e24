"""`MMDT`: the tree that tells the components of a mixture apart."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.mixture import GaussianMixture

from boxwood._compat import StrOptions
from boxwood._validation import Rows, listed
from boxwood.estimators._base import TreeClusterer
from boxwood.grow import METHODS
from boxwood.grow._grown import Grown
from boxwood.grow._mmdt import AXES
from boxwood.grow._mmdt_thresholds import THRESHOLDS
from boxwood.metrics._mixture_tails import far_tails
from boxwood.reference import Mixture, Reference, Task
from boxwood.reference._clusterer import refuse_number_of_clusters, refuse_one_cluster
from boxwood.reference._coordinates import Coordinates

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
    explanation_ : Explanation
        The tree, measured on the rows of `fit`: rules, agreement and price. It is made when first asked for; until then
        the rows are kept. A pickle holds it in place of the rows.
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

    _method = "mmdt"
    _facts = ("mixture",)
    _instead = "means and variances say little of them, so that CART or IMM may give a better tree"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "axis": [StrOptions(set(AXES))],
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

    def fit_mixture(self, mixture: Any) -> Self:
        """Grow the tree from a mixture alone, without any row.

        Parameters
        ----------
        mixture : Mixture or GaussianMixture
            Components to be separated. A Gaussian mixture must be fitted.

        Returns
        -------
        self
            Without `labels_`, `price_` and `explanation_`, which need rows. The means are the centres of `reference_`.

        Raises
        ------
        DataError
            If components have equal means, or there is only one.
        """
        self._validate_params()
        with self._all_or_nothing():
            given = mixture if isinstance(mixture, Mixture) else Mixture.from_gaussian_mixture(mixture)
            self.n_features_in_ = given.n_features
            self._separate(given, given)
        return self

    def _separate(self, given: Mixture, seen: Mixture) -> None:
        """Grow the tree that separates the components of a mixture, in the columns in which the tree sees it."""
        self.reference_ = Reference(np.arange(given.n_components), given.means, given.names)
        refuse_one_cluster(self.reference_)
        means = Reference(self.reference_.labels, seen.means, given.names)
        components = seen.with_clusters(np.arange(given.n_components))
        task = Task.of(seen.means, means, mixture=components, random_state=self.random_state)
        self._keep(METHODS[self._method].grow(task, **self._options()))
        self._fit = None

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        if self.clusterer is not None:
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        return GaussianMixture(self.n_clusters, random_state=self.random_state)

    def _mixture(self, place: Coordinates) -> Mixture | None:
        clusterer = getattr(self, "clusterer_", None)
        if not hasattr(clusterer, "covariance_type"):  # not so for a pipeline, whose mixture is on other columns
            return None
        mixture = Mixture.from_gaussian_mixture(clusterer)
        return mixture.with_clusters(mixture.names)  # type: ignore[arg-type]

    def _warn(self, grown: Grown, task: Task, place: Coordinates) -> None:
        rows, reference = task.rows, task.reference
        weights, n_jobs = rows.weights, task.n_jobs
        tails = far_tails(rows.values, reference.labels, grown.tree, sample_weight=weights, n_jobs=n_jobs)
        if tails:
            columns = place.columns if place.axis_map is None else [f"column {j}" for j in range(rows.n_columns)]
            far = listed([f"{reference.names[t.component]} ({t.verdict} along {columns[t.axis]})" for t in tails])
            warnings.warn(f"clusters far from Gaussian: {far}; {self._instead}", stacklevel=7)
