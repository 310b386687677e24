"""Kernel k-means: Lloyd's iteration in the feature space of a kernel, all its starts side by side."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,import-not-found,unused-ignore]

from boxwood._compat import Interval, StrOptions, fit_context
from boxwood._frames import validated_rows
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_weights
from boxwood.clusterers._kernel_k_means_steps import lloyd, seeds
from boxwood.errors import DataError
from boxwood.kernels import GramMatrix, KeptGram, Kernel, KernelMeans, Nystroem, Precomputed, as_kernel
from boxwood.kernels._means import nearest, squared_distances
from boxwood.loops.kernels import products

__all__ = ["KernelKMeans"]

MANY_STARTS, FEW_STARTS = 10, 3
LARGE = 16_000_000  # values of the kernel above which the starts are few: those between 4000 rows
_MEGABYTE = 1e6


class KernelKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters whose rows are near a common mean in the feature space of a kernel, of whatever shape in the columns.

    Use it where clusters are no round clouds: rings, moons, chains. Its labels may be explained by any tree of boxwood.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernel : Kernel or str, default="gaussian"
        Kernel, or a name that `kernels.as_kernel` knows. A bandwidth still to be found is found from the rows. With
        `Precomputed` ("precomputed") `fit` takes the symmetric Gram matrix for `X`, and `predict` the block of values
        between new rows and those of `fit`.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one of lowest cost is kept. They share one pass over the Gram matrix. "auto" is
        10, and 3 where that matrix, or the one between rows and landmarks, has more than 16 000 000 values.
    max_iter : int, default=300
        Most iterations of each start.
    tol : float, default=1e-6
        A start ends when an iteration lowers its cost by no more than this share, or no row moves.
    n_components : int, default=None
        Number of landmarks of a Nyström approximation, for many rows; see `kernels.Nystroem`. None takes the kernel
        itself.
    cache_size : float, default=200
        Megabytes up to which the Gram matrix is kept in memory: 8 n² bytes, so 200 holds 5000 rows. Beyond that its
        tiles are computed anew when they are needed, which takes no longer unless there are hundreds of columns.
    random_state : int, RandomState instance or None, default=None
        Randomness of starts and landmarks; an int gives the same clusters each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. Without
        `n_components` the clusters do not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each row. Always holds: it is what `predict` gives for the rows of `fit`. Clusters are numbered in
        ascending order of the means of their first column, then the second and so on; those of a precomputed kernel in
        the order of their first rows.
    inertia_ : float
        Weighted sum of squared distances of rows to the nearest mean, in the feature space; of Nyström features where
        these are used.
    n_iter_ : int
        Number of iterations of the best start.
    kernel_ : Kernel
        The kernel, with its bandwidth as a number.
    kernel_means_ : KernelMeans
        The means that `predict` compares rows with.
    approximation_error_ : ApproximationError
        How far Nyström's approximation is from the kernel; only there where `n_components` is given.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns; only there if `fit` was given a data frame whose column names are all text.

    Raises
    ------
    DataError
        If there are fewer rows, or fewer rows that the kernel tells apart, than clusters.

    See Also
    --------
    sklearn.cluster.KMeans : The same with the linear kernel, in time n d k.

    Notes
    -----
    Starts are drawn by greedy k-means++ in the feature space. Rows then go to their nearest mean, staying where none is
    nearer; a cluster that loses all rows gets the row farthest from its mean. So no iteration raises the cost
    (unless the kernel is not positive definite). Sums of the kernel over clusters are updated by the rows that moved:
    the first iteration takes n² values of the kernel, and later ones n times the rows that move. Memory for n n_init k
    numbers besides the Gram matrix; starts are run in groups where this goes beyond `cache_size`.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Appendix B.
    D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> angle = np.arange(60) * np.pi / 30
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([0.2 * circle, 3.0 * circle])
    >>> model = KernelKMeans(2, kernel=Gaussian(1.0), random_state=0).fit(X)
    >>> np.bincount(model.labels_).tolist(), model.kernel_
    ([60, 60], Gaussian(gamma=1.0))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, Kernel],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "cache_size": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel | str = "gaussian",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        n_components: int | None = None,
        cache_size: float = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_components = n_components
        self.cache_size = cache_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters of the rows of `X`, shape (n, d), or of its Gram matrix, shape (n, n); `y` is ignored.

        `sample_weight`, shape (n,), is the weight of each row: whole weights are repeated rows.
        """
        rows = self._rows(X, reset=True)
        if len(rows) < self.n_clusters:
            raise DataError(f"n_samples={len(rows)} should be >= n_clusters={self.n_clusters}: ask for fewer clusters")
        weights = as_weights(sample_weight, len(rows))
        self.kernel_ = as_kernel(self.kernel).fitted(rows)
        if self.n_components is None:
            self._fit_kernel(rows, weights)
        else:
            self._fit_features(rows, weights)
        return self

    def predict(self, X: Any) -> Indices:
        """Return the cluster of each row of `X`, shape (n,): the one with the nearest mean in the feature space."""
        check_is_fitted(self)
        rows = self._rows(X)
        return self.kernel_means_.nearest(rows, n_jobs=effective_n_jobs(self.n_jobs))

    # ------------------------------------------------------------------------------------------------- steps

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        return validated_rows(self, X, reset=reset, n_jobs=effective_n_jobs(self.n_jobs))

    def _n_starts(self, n_values: int) -> int:
        """Return the number of starts for a matrix of so many values of the kernel."""
        if self.n_init != "auto":
            return int(self.n_init)
        return MANY_STARTS if n_values <= LARGE else FEW_STARTS

    def _fit_kernel(self, rows: Array, weights: Floats | None) -> None:
        """Cluster by the kernel itself, and label the rows as `predict` does."""
        n_jobs, n = effective_n_jobs(self.n_jobs), len(rows)
        gram = self._gram(rows, n_jobs)
        weight = np.ones(n) if weights is None else weights / weights.max()
        diagonal = self.kernel_.diagonal(rows)
        random = check_random_state(self.random_state)
        line = np.arange(n) if isinstance(self.kernel_, Precomputed) else np.lexsort(rows.T[::-1])
        starts = [seeds(gram, diagonal, weight, self.n_clusters, random, line) for _ in range(self._n_starts(n * n))]
        group = max(1, int(self.cache_size * _MEGABYTE / (8 * n * self.n_clusters)))
        runs = [
            run
            for first in range(0, len(starts), group)
            for run in lloyd(
                gram, diagonal, weight, starts[first : first + group], self.n_clusters, self.max_iter, self.tol, n_jobs
            )
        ]
        best = min(runs, key=lambda run: run.cost)
        order = self._order(rows, best.labels, weight)
        labels = np.argsort(order)[best.labels]
        self.n_iter_ = best.n_iter
        self.kernel_means_ = KernelMeans.of(
            self.kernel_, rows, labels, self.n_clusters, sample_weight=weights, n_jobs=n_jobs
        )
        similarities = gram.product(self.kernel_means_.coefficients, n_jobs=n_jobs)
        distances = squared_distances(self.kernel_, diagonal, self.kernel_means_.squares, similarities)
        self.labels_ = nearest(self.kernel_means_.squares, similarities)
        own = distances[np.arange(n), self.labels_]
        self.inertia_ = float(own.sum() if weights is None else (weights * own).sum())

    def _fit_features(self, rows: Array, weights: Floats | None) -> None:
        """Cluster Nyström's features by k-means, whose means are then sums of landmarks."""
        n_jobs, random = effective_n_jobs(self.n_jobs), check_random_state(self.random_state)
        nystroem = Nystroem.of(self.kernel_, rows, self.n_components or 1, random_state=random)
        features = nystroem.transform(rows, n_jobs=n_jobs)
        starts = self._n_starts(features.size)
        kmeans = KMeans(self.n_clusters, n_init=starts, max_iter=self.max_iter, tol=self.tol, random_state=random)
        with threadpool_limits(n_jobs):
            kmeans.fit(features, sample_weight=weights)
        order = self._order(rows, kmeans.labels_.astype(np.intp), np.ones(len(rows)) if weights is None else weights)
        centers = kmeans.cluster_centers_[order]
        self.kernel_means_ = KernelMeans(
            self.kernel_,
            nystroem.landmarks,
            products(nystroem.normalization.T, centers),
            np.einsum("ij,ij->i", centers, centers),
        )
        self.approximation_error_ = nystroem.error(rows)
        self.labels_ = self.kernel_means_.nearest(rows, n_jobs=n_jobs)
        self.inertia_, self.n_iter_ = float(kmeans.inertia_), int(kmeans.n_iter_)

    def _gram(self, rows: Array, n_jobs: int) -> GramMatrix:
        """Return the Gram matrix, in memory where there is room."""
        gram = self.kernel_.gram(rows)
        if isinstance(self.kernel_, Precomputed):
            if not np.allclose(rows, rows.T, rtol=1e-6, atol=1e-9 * np.abs(rows).max()):
                raise DataError("the Gram matrix of a precomputed kernel must be symmetric; pass (G + G.T) / 2")
            return gram
        if 8 * len(rows) ** 2 > self.cache_size * _MEGABYTE:
            return gram
        return KeptGram(gram.dense(n_jobs=n_jobs))

    def _order(self, rows: Array, labels: Indices, weights: Floats) -> Indices:
        """Return the clusters in the order of their new numbers, shape (k,), so that these do not depend on chance."""
        k = self.n_clusters
        if isinstance(self.kernel_, Precomputed):
            first = np.full(k, len(labels))
            np.minimum.at(first, labels, np.arange(len(labels)))
            return np.argsort(first, kind="stable")
        mass = np.bincount(labels, weights, minlength=k)
        with np.errstate(invalid="ignore"):
            means = [np.bincount(labels, weights * column, minlength=k) / mass for column in rows.T]
        return np.lexsort(means[::-1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags
