"""`KMedians`: clusters around medians, for the l1 and the Euclidean distance."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boxwood._compat import Interval, StrOptions, fit_context
from boxwood._frames import validated_rows
from boxwood._threads import BLOCK_ROWS
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, as_weights, real_number, refuse_infinite_sum
from boxwood.clusterers._k_medians_steps import Cloud, Clustering, alternate, few_rows
from boxwood.clusterers._seeding import SEEDINGS
from boxwood.errors import DataError
from boxwood.reference._centers import objective_code
from boxwood.reference._clusterer import FEW_STARTS, LARGE, MANY_STARTS

__all__ = ["KMedians"]

BETTER = 1e-9  # fraction of the cost by which a start must be better than an earlier one: less may be rounding


class KMedians(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters around medians, for the l1 or the Euclidean distance: k-medians.

    Far rows move a median less than a mean, so outliers change these clusters less than those of k-means. Use the l1
    distance before a tree whose guarantee is for k-medians in l1, and if each column has a meaning of its own. Use the
    Euclidean distance if the result must not depend on a rotation of the columns.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    objective : {"l1", "l2"}, default="l1"
        Distance of a row to its centre, summed over the rows: l1 (the centre is the median of each column) or Euclidean
        (the centre is the geometric median). In the units of the columns.
    init : {"k-medians++", "random"} or array-like of shape (k, d), default="k-medians++"
        First centres. "k-medians++" draws rows with a chance in proportion to their distance from the nearest centre so
        far, and takes the best of 2 + log k such candidates each time. "random" draws different rows by weight. An
        array is taken as it is.
    n_init : "auto" or int, default="auto"
        Number of starts. The one with the lowest cost is kept; costs that differ by a fraction of 1e-9 count as equal,
        and of equal ones the first is kept. "auto" is 10, or 3 for tables of more than 2 000 000 values. Given centres
        make one start.
    max_iter : int, default=300
        Largest number of steps of a start.
    tol : float, default=1e-4
        A start ends with a step that lowers its cost by at most this fraction. With 0 it ends when nothing changes.
    random_state : int, RandomState instance or None, default=None
        Randomness of the first centres; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The result
        does not depend on it.

    Attributes
    ----------
    cluster_centers_ : array of shape (k, d)
        Centres; always holds: each is the nearest centre of at least one row of `fit`.
    labels_ : array of shape (n,)
        Cluster of each row of `fit`, always what `predict` gives for it.
    inertia_ : float
        The cost: the weighted sum of distances of the rows to their centres.
    n_iter_ : int
        Number of steps of the start that is kept.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns; only there if `fit` was given a data frame whose column names are all text.

    See Also
    --------
    boxwood.metrics.best_centers : The best centres of given clusters.

    Notes
    -----
    Each step assigns each row to its nearest centre (of equally near ones the first), and moves each centre to the
    median of its rows. Neither raises the cost, so the steps end in a local optimum. It may be a poor one, so there are
    several starts. A centre that is nearest to no row moves to the row farthest from its own centre, which lowers the
    cost.

    With `tol=0`, centres are the best ones for their rows; geometric medians are so within a fraction of 1e-9 of the
    cost. Rows are drawn along their order by value, so the result does not depend on the order of the rows, and whole
    weights have the effect of repeated rows. Both statements hold unless rounding decides between equal costs.

    A step takes time n k d to find the nearest centres, and n d for medians. Most steps towards geometric medians take
    one pass of n d^2 (n d above 128 columns), the last step five passes or more. The first centres take as long as
    2 + log k steps. Extra memory: 56 bytes a row, and one column for each thread. Euclidean distances are computed by
    squares: differences below 1e-160 count as 0, and differences above 1e150 are too large.

    References
    ----------
    S. P. Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28 (1982),
    doi:10.1109/TIT.1982.1056489.

    D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007: with distances to any power,
    the expected cost of the first centres (one candidate each) is O(log k) times the lowest.

    Examples
    --------
    >>> from boxwood import KMedians
    >>> X = [[1.0, 0.0], [2.0, 0.0], [90.0, 0.0], [5.0, 8.0], [6.0, 8.0], [7.0, 9.0]]
    >>> model = KMedians(3, random_state=0).fit(X)
    >>> model.inertia_
    4.0
    >>> model.cluster_centers_[model.predict([[5.5, 7.0], [70.0, 1.0]])]
    array([[ 6.,  8.],
           [90.,  0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions({"l1", "l2"})],
        "init": [StrOptions(set(SEEDINGS)), "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        objective: str = "l1",
        init: Any = "k-medians++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.objective = objective
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows. Arrays of float32 or float64 are not copied, unless rows of weight 0 must be left out.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; whole weights have the effect of repeated rows. None weighs all rows 1.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If `X` has missing or infinite values or text columns, has fewer different rows than `n_clusters`, if
            weights or first centres do not fit, or if the cost is beyond the largest float.
        """
        rows = self._rows(X, reset=True)
        weights = as_weights(sample_weight, len(rows))
        cloud = self._cloud(rows, weights)
        if len(cloud.X) < self.n_clusters:
            raise few_rows(self.n_clusters, len(np.unique(cloud.X, axis=0)))
        best = self._best_start(cloud)
        self.cluster_centers_ = best.centers
        self.inertia_ = best.cost
        self.n_iter_ = best.n_iter
        self.labels_ = best.labels if len(cloud.X) == len(rows) else self._cloud(rows).nearest(best.centers)[0]
        self._n_features_out = len(best.centers)
        return self

    def predict(self, X: Any) -> Indices:
        """Return the nearest centre of each row, the first of equally near ones, shape (n,)."""
        return self._nearest(X)[0]

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row to each centre, shape (n, k)."""
        check_is_fitted(self)
        return self._cloud(self._rows(X)).distances(self.cluster_centers_)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Indices:
        """Fit, and return the cluster of each row of `X`, shape (n,)."""
        labels: Indices = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the weighted sum of the distances of the rows to their nearest centres. Greater is better."""
        costs = self._nearest(X)[1]
        weights = as_weights(sample_weight, len(costs))
        refuse_infinite_sum(weights)
        return -float(np.sum(costs if weights is None else costs * weights))

    # ------------------------------------------------------------------------------------------------- steps

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        """Return checked rows, float32 or float64; remember (or compare) the number and names of the columns."""
        return validated_rows(self, X, reset=reset, n_jobs=effective_n_jobs(self.n_jobs))

    def _cloud(self, rows: Array, weights: Floats | None = None) -> Cloud:
        """Return the rows that have weight; few rows get one thread, as starting more would take longer."""
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        n_jobs = effective_n_jobs(self.n_jobs) if rows.size > BLOCK_ROWS else 1
        return Cloud(rows, weights, objective_code(self.objective), n_jobs)

    def _best_start(self, cloud: Cloud) -> Clustering:
        rng = check_random_state(self.random_state)
        best = self._start(cloud, rng)
        for _ in range(1, self._n_starts(cloud)):
            other = self._start(cloud, rng)
            if other.cost < best.cost * (1 - BETTER):
                best = other
        return best

    def _n_starts(self, cloud: Cloud) -> int:
        if not isinstance(self.init, str):
            return 1
        if self.n_init != "auto":
            return int(self.n_init)
        return MANY_STARTS if cloud.X.size <= LARGE else FEW_STARTS

    def _start(self, cloud: Cloud, rng: np.random.RandomState) -> Clustering:
        if isinstance(self.init, str):
            centers = SEEDINGS[self.init](cloud, self.n_clusters, rng)
        else:
            centers = self._given_centers(cloud.X.shape[1])
        return alternate(cloud, centers, max_iter=self.max_iter, tol=real_number("tol", self.tol))

    def _given_centers(self, n_columns: int) -> Floats:
        centers = as_table(self.init)
        if centers.shape != (self.n_clusters, n_columns):
            raise DataError(
                f"init must have a row for each of {self.n_clusters} clusters and the {n_columns} columns of X; "
                f"got shape {centers.shape}"
            )
        return centers.astype(np.float64)

    def _nearest(self, X: Any) -> tuple[Indices, Floats]:
        check_is_fitted(self)
        return self._cloud(self._rows(X)).nearest(self.cluster_centers_)
