"""Means in the feature space of a kernel, distances of rows to them, and its Nyström features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import one_blas_thread
from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows, as_table, number_of_clusters
from boxwood.errors import DataError
from boxwood.kernels.families import as_kernel
from boxwood.kernels.kernel import GramMatrix, Kernel

_ROUNDING = 2.0**-46  # a squared distance below this fraction of its terms may be their rounding, and counts as 0
_TIE = 1e-10  # two distances that differ by less than this fraction of their terms count as equal


@dataclass(frozen=True, eq=False, repr=False)
class KernelMeans:
    """The means of clusters in a kernel's feature space, each a weighted sum of points.

    `of` makes them from labelled rows. A fitted `KernelKMeans` keeps them to label later rows.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose bandwidth is a number.
    points : array of shape (m, d)
        Rows whose weighted sums are the means.
    coefficients : array of shape (m, k)
        Weight of each point in each mean.
    squares : array of shape (k,)
        Squared norm of each mean. It is infinite for a cluster without weight, so that no row is nearest to it.

    Examples
    --------
    >>> from boxwood.kernels import Linear
    >>> means = KernelMeans.of(Linear(), [[0.0], [2.0], [9.0]], [0, 0, 1], 2)
    >>> means.distances([[3.0], [9.0]])
    array([[ 4., 36.],
           [64.,  0.]])
    """

    kernel: Kernel
    points: Array
    coefficients: Floats
    squares: Floats

    @classmethod
    def of(
        cls,
        kernel: Kernel | str,
        X: ArrayLike,
        labels: ArrayLike,
        n_clusters: int,
        *,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = -1,
    ) -> KernelMeans:
        """Return the means of the rows of `X` by labels from 0 to `n_clusters - 1`, -1 for rows left out.

        Takes as many values of the kernel as there are pairs of rows in one cluster. Errors as in `kernel_distances`.
        """
        rows = Rows.of(X, sample_weight)
        resolved = as_kernel(kernel).fitted(rows)
        return _means(resolved, rows, resolved.gram(rows), labels, n_clusters, n_jobs)

    def similarities(self, X: ArrayLike, *, n_jobs: int | None = -1) -> Floats:
        """Return the inner product of each row of `X` with each mean, shape (n, k), in time n m (d + k)."""
        return self.kernel.gram(X, self.points).product(self.coefficients, n_jobs=n_jobs)

    def distances(self, X: ArrayLike, *, n_jobs: int | None = -1) -> Floats:
        """Return the squared distance of each row of `X` to each mean, shape (n, k); see `kernel_distances`."""
        return distances_to_means(
            self.kernel, self.kernel.diagonal(X), self.squares, self.similarities(X, n_jobs=n_jobs)
        )

    def nearest(self, X: ArrayLike, *, n_jobs: int | None = -1) -> Indices:
        """Return the number of the nearest mean for each row, shape (n,); of equally near ones the first."""
        return nearest_mean(self.squares, self.similarities(X, n_jobs=n_jobs))


def kernel_distances(
    kernel: Kernel | str,
    X: ArrayLike,
    labels: ArrayLike,
    n_clusters: int,
    *,
    Y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> Floats:
    """Return the squared distance of each row to the mean of each cluster, in the feature space of a kernel.

    It is `K(x, x) + sum_{y, z in C} K(y, z) / |C|² - 2 sum_{y in C} K(x, y) / |C|`; weights, if given, replace counts.

    Parameters
    ----------
    kernel : Kernel or str
        Kernel, or a name that `as_kernel` knows. A bandwidth that is a rule is made a number from `X`.
    X : array-like of shape (n, d)
        Labelled rows; for `Precomputed` their Gram matrix, shape (n, n).
    labels : array-like of shape (n,)
        Cluster of each row, from 0 to `n_clusters - 1`; -1 leaves the row out of all means.
    n_clusters : int
        Number of clusters k; some may have no row.
    Y : array-like of shape (m, d), default=None
        Rows to measure; None takes all rows of `X`, including those left out of the means.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row of `X` in the means; None weighs all rows 1.
    n_jobs : int or None, default=-1
        Number of threads; the result does not depend on it.

    Returns
    -------
    array of shape (n, k), or (m, k)
        Squared distances: at least 0 if the kernel is positive definite, exactly 0 if smaller than the rounding of
        their terms, and infinite for clusters without weight.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, or rows are outside of the kernel's domain.

    Notes
    -----
    The Gram matrix is computed in tiles and never kept whole. Takes time n² (d + k), about n² (2 + k / 5) ns a thread
    for few columns, and memory for n (2 k + d) numbers and half a megabyte a thread.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, equations (2) and (8).

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> kernel_distances(Gaussian("scale"), [[0.0], [0.0], [5.0]], [0, 0, 1], 2).round(3)
    array([[0.   , 1.978],
           [0.   , 1.978],
           [1.978, 0.   ]])
    """
    rows = Rows.of(X, sample_weight)
    resolved = as_kernel(kernel).fitted(rows)
    gram = resolved.gram(rows)
    means = _means(resolved, rows, gram, labels, n_clusters, n_jobs)
    if Y is not None:
        return means.distances(Y, n_jobs=n_jobs)
    similarities = gram.product(means.coefficients, n_jobs=n_jobs)
    return distances_to_means(resolved, resolved.diagonal(rows), means.squares, similarities)


def distances_to_means(kernel: Kernel, diagonal: Floats, squares: Floats, similarities: Floats) -> Floats:
    """Return `|x|² + |c|² - 2 <x, c>`, shape (n, k), with 0 for values that are only rounding."""
    terms = diagonal[:, None] + squares
    with np.errstate(invalid="ignore"):
        distances = terms - 2 * similarities
        distances[np.abs(distances) <= _ROUNDING * np.abs(terms)] = 0.0
    distances[:, np.isinf(squares)] = np.inf
    return np.maximum(distances, 0.0) if kernel.positive_definite else distances


def nearest_mean(squares: Floats, similarities: Floats) -> Indices:
    """Return the number of the nearest mean for each row; the first of those that are equally near up to rounding."""
    scores = squares - 2 * similarities
    finite = np.where(np.isfinite(squares), np.abs(squares), 0.0)
    scale = np.abs(similarities).max(axis=1) + finite.max()
    is_nearest = scores <= (scores.min(axis=1) + _TIE * scale)[:, None]
    return np.asarray(is_nearest.argmax(axis=1), dtype=np.intp)


def rows_of_clusters(labels: ArrayLike, n_clusters: int, n_rows: int, weights: Floats | None) -> list[Indices]:
    """Return the numbers of the rows of each cluster, without those that weigh 0.

    Raises
    ------
    DataError
        If labels are not a whole number from -1 to `n_clusters - 1` for each row.
    """
    codes = _checked_labels(labels, n_clusters, n_rows)
    kept = codes if weights is None else np.where(weights > 0, codes, -1)
    order = np.argsort(kept, kind="stable")
    ends = np.cumsum(np.bincount(kept.astype(np.intp) + 1, minlength=n_clusters + 1))
    return np.split(order, ends[:-1])[1:]


def _checked_labels(labels: ArrayLike, n_clusters: int, n_rows: int) -> Array:
    codes = np.asarray(labels)
    if codes.shape != (n_rows,) or codes.dtype.kind not in "iu":
        raise DataError(
            f"labels must be whole numbers, one for each of {n_rows} rows; got {codes.dtype} of shape {codes.shape}"
        )
    low, high = int(codes.min()), int(codes.max())
    if low < -1 or high >= n_clusters:
        raise DataError(f"labels must be from -1 to {n_clusters - 1} for {n_clusters} clusters; got {low} to {high}")
    return codes


def shares(rows: Indices, weights: Floats | None) -> Floats:
    """Return the fraction of the whole weight that each of some rows has, shape (len(rows),); none weighs 0."""
    if weights is None:
        return np.full(len(rows), 1 / len(rows))
    scaled = weights[rows] / weights[rows].max()  # a sum of large weights may overflow
    return np.asarray(scaled / scaled.sum())


def _means(
    kernel: Kernel, table: Rows, gram: GramMatrix, labels: ArrayLike, n_clusters: int, n_jobs: int | None
) -> KernelMeans:
    number_of_clusters(n_clusters, len(table))
    weights = table.weights
    coefficients = np.zeros((len(table), n_clusters))
    squares = np.full(n_clusters, np.inf)
    for c, rows in enumerate(rows_of_clusters(labels, n_clusters, len(table), weights)):
        if len(rows):
            share = shares(rows, weights)
            coefficients[rows, c] = share
            similarities = gram.product(share[:, None], rows=rows, columns=rows, n_jobs=n_jobs)[:, 0]
            squares[c] = (share * similarities).sum()  # not by BLAS, which sums by the number of its threads
    return KernelMeans(kernel, kernel.kept_points(table.values), coefficients, squares)


_PAIRS = 1000


class ApproximationError(NamedTuple):
    """Mean absolute error of an approximated kernel: of rows with themselves, and of pairs of rows."""

    diagonal: float
    pairs: float


@dataclass(frozen=True, eq=False, repr=False)
class Nystroem:
    """Features whose inner products approximate a kernel, exactly between landmark rows.

    As scikit-learn's `Nystroem`, for the kernels of boxwood, whose values are computed in tiles.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose bandwidth is a number.
    landmarks : array of shape (m, d)
        Rows that represent all rows.
    normalization : array of shape (m, m)
        The root of the inverse of the landmarks' Gram matrix. The features of a row are its values with the landmarks
        times the transpose of this matrix.

    References
    ----------
    C. K. I. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> features = Nystroem.of(Gaussian("scale"), X, 10, random_state=0)
    >>> features.transform(X).shape, features.error(X).pairs < 1e-3
    ((50, 10), True)
    """

    kernel: Kernel
    landmarks: Array
    normalization: Floats

    @classmethod
    def of(cls, kernel: Kernel | str, X: ArrayLike, n_components: int, *, random_state: Any = None) -> Nystroem:
        """Return the features of `n_components` landmarks, drawn without replacement from the rows of `X`.

        Takes time m² (m + d) for m landmarks. A bandwidth that is a rule is made a number from all of `X`.

        Raises
        ------
        ValueError
            If there are more landmarks than rows, or the kernel is not known to be positive definite, such as
            `Precomputed`.
        """
        from sklearn.utils import check_random_state

        table = as_table(X)
        resolved = as_kernel(kernel).fitted(table)
        if not 1 <= n_components <= len(table):
            raise ValueError(f"n_components must be from 1 to the number of rows, {len(table)}; got {n_components}")
        if not resolved.positive_definite:
            raise ValueError(f"landmarks need a positive definite kernel of rows, not {resolved!r}")
        chosen = check_random_state(random_state).choice(len(table), n_components, replace=False)
        landmarks = table[np.sort(chosen)]
        with one_blas_thread():
            values, vectors = np.linalg.eigh(resolved(landmarks))
            # directions without weight among the landmarks are left out, as they would only magnify rounding
            kept = values > values.max() * len(values) * np.finfo(np.float64).eps
            root = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
            return cls(resolved, landmarks, (vectors * root) @ vectors.T)

    def transform(self, X: ArrayLike, *, n_jobs: int | None = -1) -> Floats:
        """Return the features of rows, shape (n, m), in time n m (d + m)."""
        return self.kernel.gram(X, self.landmarks).product(self.normalization.T, n_jobs=n_jobs)

    def error(self, X: ArrayLike, *, random_state: Any = 0) -> ApproximationError:
        """Return the error of inner products of features, over 1000 rows of `X` (or all) and 1000 pairs of rows."""
        from sklearn.utils import check_random_state

        table, random = as_table(X), check_random_state(random_state)
        rows = table if len(table) <= _PAIRS else table[random.choice(len(table), _PAIRS, replace=False)]
        first, second = table[random.randint(len(table), size=(2, _PAIRS))]
        return ApproximationError(
            float(np.abs(self.kernel.diagonal(rows) - self._inner(rows, rows)).mean()),
            float(np.abs(np.diagonal(self.kernel(first, second)) - self._inner(first, second)).mean()),
        )

    def _inner(self, X: Array, Y: Array) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.transform(X), self.transform(Y)))
