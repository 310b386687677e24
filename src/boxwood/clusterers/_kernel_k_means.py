"""Kernel k-means: Lloyd's iteration in the feature space of a kernel, with all starts side by side."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from boxwood._compat import Interval, StrOptions, fit_context
from boxwood._frames import validated_rows
from boxwood._threads import jobs_of, one_blas_thread
from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows, as_weights, real_number, refuse_no_sum
from boxwood.clusterers._k_medians import draw_by_chances, warn_of_few
from boxwood.errors import DataError
from boxwood.kernels import GramMatrix, KeptGram, Kernel, KernelMeans, Nystroem, Precomputed
from boxwood.kernels.bandwidth import RULES
from boxwood.kernels.families import kernel_with_gamma
from boxwood.kernels.means import distances_to_means, nearest_mean
from boxwood.loops.kernels import products
from boxwood.reference.clusterer import FEW_STARTS, MANY_STARTS

LARGE_GRAM = 16_000_000  # values of the kernel (4000 rows) above which there are fewer starts
_MOST_MEGABYTES = 1 << 40  # largest cache; no machine has more, and products of larger numbers may overflow
_MEGABYTE = 1e6


class KernelKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters around means in the feature space of a kernel, which may have any shape in the columns.

    Use it if clusters are not round clouds but rings, moons or chains. Any tree of boxwood can explain its labels.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    kernel : Kernel or str, default="gaussian"
        Kernel, or a name that `kernels.as_kernel` knows. A bandwidth that is a rule is made a number from the rows.
        With `Precomputed` ("precomputed") `fit` takes the symmetric Gram matrix for `X`, and `predict` the block of
        values between new rows and those of `fit`.
    gamma : float, array-like of shape (d,), "auto", "scale" or "median", default="auto"
        Bandwidth of a kernel given as "gaussian" or "laplace"; see `kernels.Gaussian`. Other kernels have their own or
        none, and another `gamma` than "auto" is refused beside them.
    n_init : "auto" or int, default="auto"
        Number of starts drawn at random. The one of lowest cost is kept. All starts take one pass over the Gram matrix
        together. "auto" is 10, or 3 if that matrix, or the one between rows and landmarks, has more than 16 000 000
        values; without `n_components`, it adds a start that is not random (see Notes).
    max_iter : int, default=300
        Largest number of iterations of each start.
    tol : float, default=1e-6
        A start ends when an iteration lowers its cost by at most this fraction, or when no row moves.
    n_components : int, default=None
        Number of landmarks of a Nyström approximation, which is meant for many rows; see `kernels.Nystroem`. None takes
        the kernel itself.
    cache_size : float, default=200
        Megabytes up to which the Gram matrix is kept in memory. It takes 8 n² bytes, so 200 is enough for 5000 rows. A
        larger matrix is computed again in tiles at each iteration, which takes no longer unless there are hundreds of
        columns.
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
        Weighted sum of squared distances of rows to the nearest mean, in the feature space, or in that of the Nyström
        features if `n_components` is given.
    n_iter_ : int
        Number of iterations of the best start.
    kernel_ : Kernel
        The kernel, with its bandwidth as a number.
    kernel_means_ : KernelMeans
        The means that `predict` compares rows with.
    approximation_error_ : ApproximationError
        Error of Nyström's approximation of the kernel. Only there if `n_components` is given.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns; only there if `fit` was given a data frame whose column names are all text.

    Raises
    ------
    DataError
        If there are fewer rows than clusters. Fewer rows that differ in the feature space give fewer clusters and a
        `ConvergenceWarning`.

    See Also
    --------
    sklearn.cluster.KMeans : The same with the linear kernel, in time n d k.

    Notes
    -----
    Starts are drawn by greedy k-means++ in the feature space. Each iteration then moves each row to its nearest mean,
    if that is nearer than its own mean. A cluster that loses all rows gets the row that is farthest from its mean. So
    no iteration raises the cost, if the kernel is positive definite.

    Long, thin clusters lie near each other in the feature space, and few drawn starts find them. So "auto" adds a start
    from the k - 1 leading eigenvectors of the centred Gram matrix, the solution of kernel k-means without the condition
    that each row belongs to one cluster; the rows are shared out by pivots. Of more than 1000 rows, 1000 are taken for
    the eigenvectors, evenly along the first column.

    Sums of the kernel over clusters are updated by the rows that moved. The first iteration takes n² values of the
    kernel, a later one n times the number of rows that moved. Takes memory for n n_init k numbers besides the Gram
    matrix; if that is more than `cache_size`, starts are run in groups.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Appendix B.
    D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    H. Zha, X. He, C. Ding, H. Simon, M. Gu, "Spectral relaxation for k-means clustering", NIPS 2001.

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

    kernel_means_: KernelMeans
    labels_: Indices
    approximation_error_: Any
    n_iter_: int
    inertia_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, Kernel],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions(set(RULES)), "array-like"],
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
        gamma: Any = "auto",
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
        self.gamma = gamma
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_components = n_components
        self.cache_size = cache_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters of the rows of `X`, shape (n, d), or of its Gram matrix, shape (n, n); `y` is ignored.

        `sample_weight`, shape (n,), is the weight of each row; whole weights have the effect of repeated rows.
        """
        rows = self._rows(X, reset=True)
        if len(rows) < self.n_clusters:
            raise DataError(f"n_samples={len(rows)} should be >= n_clusters={self.n_clusters}; ask for fewer clusters")
        weights = as_weights(sample_weight, len(rows))
        refuse_no_sum(weights)
        self.kernel_: Kernel = kernel_with_gamma(self.kernel, self.gamma).fitted(Rows(rows, weights))
        if self.n_components is None:
            self._fit_kernel(rows, weights)
        else:
            self._fit_features(rows, weights)
        return self

    def predict(self, X: Any) -> Indices:
        """Return the cluster of each row of `X`, shape (n,): the one with the nearest mean in the feature space."""
        check_is_fitted(self)
        rows = self._rows(X)
        return self.kernel_means_.nearest(rows, n_jobs=jobs_of(self.n_jobs))

    # ------------------------------------------------------------------------------------------------- steps

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        return validated_rows(self, X, reset=reset, n_jobs=jobs_of(self.n_jobs))

    def _n_starts(self, n_values: int) -> int:
        """Return the number of starts for a matrix of `n_values` values of the kernel."""
        if self.n_init != "auto":
            return int(self.n_init)
        return MANY_STARTS if n_values <= LARGE_GRAM else FEW_STARTS

    def _fit_kernel(self, rows: Array, weights: Floats | None) -> None:
        """Cluster by the kernel itself, and label the rows as `predict` does."""
        n_jobs, n = jobs_of(self.n_jobs), len(rows)
        gram, tol = self._gram(rows, n_jobs), real_number("tol", self.tol)
        weight = np.ones(n) if weights is None else weights / weights.max()
        diagonal = self.kernel_.diagonal(rows)
        random = check_random_state(self.random_state)
        rows_in_order = np.arange(n) if isinstance(self.kernel_, Precomputed) else np.lexsort(rows.T[::-1])
        arguments = gram, diagonal, weight, self.n_clusters, random, rows_in_order
        starts = [seeds(*arguments) for _ in range(self._n_starts(n * n))]
        k = 1 + max(int(labels.max()) for labels in starts)  # less where no more rows are different
        warn_of_few(self.n_clusters, k, "different rows for the kernel")
        if self.n_init == "auto" and k > 1:
            starts.append(relax_labels(gram, weight, k, rows_in_order))
        group = max(1, int(self._cache_bytes() / (8 * n * k)))
        runs = [
            run
            for first in range(0, len(starts), group)
            for run in lloyd(gram, diagonal, weight, starts[first : first + group], k, self.max_iter, tol, n_jobs)
        ]
        best = min(runs, key=lambda run: run.cost)
        order = self._order(rows, best.labels, weight, k)
        labels = np.argsort(order)[best.labels]
        self.n_iter_ = best.n_iter
        self.kernel_means_ = KernelMeans.of(self.kernel_, rows, labels, k, sample_weight=weights, n_jobs=n_jobs)
        similarities = gram.product(self.kernel_means_.coefficients, n_jobs=n_jobs)
        distances = distances_to_means(self.kernel_, diagonal, self.kernel_means_.squares, similarities)
        self.labels_ = nearest_mean(self.kernel_means_.squares, similarities)
        to_own_mean = distances[np.arange(n), self.labels_]
        self.inertia_ = float(to_own_mean.sum() if weights is None else (weights * to_own_mean).sum())

    def _fit_features(self, rows: Array, weights: Floats | None) -> None:
        """Cluster Nyström's features by k-means; its means are weighted sums of landmarks."""
        n_jobs, random = jobs_of(self.n_jobs), check_random_state(self.random_state)
        nystroem = Nystroem.of(self.kernel_, rows, self.n_components or 1, random_state=random)
        features = nystroem.transform(rows, n_jobs=n_jobs)
        starts = self._n_starts(features.size)
        kmeans = KMeans(self.n_clusters, n_init=starts, max_iter=self.max_iter, tol=self.tol, random_state=random)
        with threadpool_limits(n_jobs):
            kmeans.fit(features, sample_weight=weights)
        mass = np.ones(len(rows)) if weights is None else weights
        order = self._order(rows, kmeans.labels_.astype(np.intp), mass, self.n_clusters)
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
        """Return the Gram matrix, in memory if `cache_size` is enough for it."""
        gram = self.kernel_.gram(rows)
        if isinstance(self.kernel_, Precomputed):
            if not np.allclose(rows, rows.T, rtol=1e-6, atol=1e-9 * np.abs(rows).max()):
                raise DataError("the Gram matrix of a precomputed kernel must be symmetric; pass (G + G.T) / 2")
            return gram
        if 8 * len(rows) ** 2 > self._cache_bytes():
            return gram
        return KeptGram(gram.dense(n_jobs=n_jobs))

    def _cache_bytes(self) -> float:
        return min(self.cache_size, _MOST_MEGABYTES) * _MEGABYTE

    def _order(self, rows: Array, labels: Indices, weights: Floats, k: int) -> Indices:
        """Return the clusters in the order in which they are numbered, shape (k,), which does not depend on chance."""
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


_SAME_POINT = 1e-10  # two rows are one point if their squared distance is below this fraction of the diagonal
_ROUNDING = 1e-12  # least gain for which a row moves, as a fraction of the diagonal, so that rounding moves none


_RELAXED = 1000  # most rows of the Gram matrix whose eigenvectors give the relaxed start


class KernelRun(NamedTuple):
    """The result of one start: its labels, their cost, and the number of iterations."""

    labels: Indices
    cost: float
    n_iter: int


def seeds(
    gram: GramMatrix, diagonal: Floats, weights: Floats, n_clusters: int, random: np.random.RandomState, order: Indices
) -> Indices:
    """Return the first labels, shape (n,): the nearest of k drawn rows for each row.

    A row is drawn with a chance in proportion to its weight times the squared distance to the nearest row drawn before.
    Of 2 + log k such candidates the one is taken that leaves the lowest cost (greedy k-means++). Chances are laid end
    to end along `order`, an order of the rows that does not depend on the order in which they were given.

    Fewer rows are drawn where no more points are different.
    """
    labels = np.zeros(len(diagonal), dtype=np.intp)
    closest = np.ones(len(diagonal))
    for c in range(n_clusters):
        chances = weights * closest
        if not chances.any():
            break
        candidates = draw_by_chances(chances, order, random, 1 if c == 0 else 2 + int(np.log(n_clusters)))
        distances = _between(gram, diagonal, candidates)
        nearer = distances if c == 0 else np.minimum(distances, closest[:, None])
        best = int(np.argmin((weights[:, None] * nearer).sum(axis=0)))  # BLAS would sum by its number of threads
        if c > 0:
            labels[distances[:, best] < closest] = c
        closest = nearer[:, best]
    return labels


def _between(gram: GramMatrix, diagonal: Floats, rows: Indices) -> Floats:
    """Return the squared distance of each row to some of the rows, shape (n, len(rows)), with 0 for mere rounding."""
    terms = diagonal[:, None] + diagonal[rows]
    distances = terms - 2 * gram.block(slice(None), rows)
    return np.where(distances <= _SAME_POINT * np.abs(terms), 0.0, distances)


def relax_labels(gram: GramMatrix, weights: Floats, n_clusters: int, order: Indices) -> Indices:
    """Return first labels, shape (n,), from the leading eigenvectors of the centred Gram matrix of some rows.

    Without the condition that each row belongs to one cluster, the k-means of lowest cost is spanned by the constant
    vector and the k - 1 leading eigenvectors. Pivots find k rows whose directions are farthest apart, and each row goes
    to the nearest of these directions. Nothing is random.
    """
    from scipy.linalg import qr

    sample = _spread_out(weights, order)
    roots = np.sqrt(weights[sample])
    shares = weights[sample] / weights[sample].sum()
    with one_blas_thread():
        to_sample = gram.block(slice(None), sample)
        to_sample = to_sample - (to_sample * shares).sum(axis=1)[:, None]
        centered = to_sample[sample] - (to_sample[sample] * shares[:, None]).sum(axis=0)
        values, vectors = np.linalg.eigh(centered * roots * roots[:, None])
        leading = slice(None, -n_clusters, -1)
        values, vectors = values[leading], vectors[:, leading]
        usable = values > _ROUNDING * max(float(values.max(initial=0.0)), 1e-300)
        along = (vectors[:, usable] * roots[:, None]) / np.where(usable, values, 1.0)[usable]
        scores = to_sample @ along
        scores -= (scores[sample] * shares[:, None]).sum(axis=0)
        space = np.column_stack([np.full(len(scores), 1 / np.sqrt(weights[sample].sum())), scores])
        pivots = qr(space[sample].T, mode="r", pivoting=True)[1][: space.shape[1]]
        first, _, second = np.linalg.svd(space[sample[pivots]].T)
        return np.asarray(np.abs(space @ (first @ second)).argmax(axis=1))


def _spread_out(weights: Floats, order: Indices) -> Indices:
    """Return all rows, or `_RELAXED` of them, with equal weight between neighbours along an order of the rows."""
    counted = order[weights[order] > 0]
    if len(counted) <= _RELAXED:
        return counted
    ends = np.cumsum(weights[counted])
    middles = (np.arange(_RELAXED) + 0.5) / _RELAXED * ends[-1]
    return np.unique(counted[np.minimum(np.searchsorted(ends, middles), len(counted) - 1)])


def lloyd(
    gram: GramMatrix,
    diagonal: Floats,
    weights: Floats,
    starts: list[Indices],
    n_clusters: int,
    max_iter: int,
    tol: float,
    n_jobs: int,
) -> list[KernelRun]:
    """Return the result of each start: its labels of the lowest cost.

    For each row, start and cluster, the weighted sum of the kernel over the cluster is kept from one iteration to the
    next and changed by the rows that moved. So each tile of the Gram matrix is computed once for all starts.

    Parameters
    ----------
    gram : GramMatrix
        Values of the kernel between the n rows.
    diagonal, weights : array of shape (n,)
        Values of rows with themselves; weights.
    starts : list of arrays of shape (n,)
        First labels of each start.
    n_clusters, max_iter, tol, n_jobs
        As in `KernelKMeans`.
    """
    n, active = len(diagonal), list(range(len(starts)))
    before = [np.full(n, -1) for _ in starts]
    now = [labels.copy() for labels in starts]
    sums = [np.zeros((n, n_clusters)) for _ in starts]
    runs: list[KernelRun | None] = [None] * len(starts)
    for iteration in range(1, max_iter + 2):
        _update(gram, sums, weights, [(r, before[r], now[r]) for r in active], n_clusters, n_jobs)
        for r in list(active):
            step = _LloydStep(sums[r], diagonal, weights, now[r])
            last = runs[r]
            if last is None or step.cost < last.cost:
                runs[r] = KernelRun(now[r], step.cost, max(1, iteration - 1))
            labels = step.moved()
            gained = last is None or last.cost - step.cost > tol * last.cost
            if not gained or iteration > max_iter or np.array_equal(labels, now[r]):
                active.remove(r)
            before[r], now[r] = now[r], labels
        if not active:
            break
    return [run for run in runs if run is not None]


def _update(
    gram: GramMatrix,
    sums: list[Floats],
    weights: Floats,
    moves: list[tuple[int, Indices, Indices]],
    k: int,
    n_jobs: int,
) -> None:
    """Change the sums of each start by the rows whose label has changed; the label -1 is no cluster.

    `moves` has the number of each start, its old labels and its new labels.
    """
    moved = np.flatnonzero(np.any([old != new for _, old, new in moves], axis=0))
    change = np.zeros((len(moved), len(moves) * k))
    lines = np.arange(len(moved))
    for i, (_, old, new) in enumerate(moves):
        differs = old[moved] != new[moved]
        came, went = differs & (new[moved] >= 0), differs & (old[moved] >= 0)
        change[lines[came], i * k + new[moved][came]] += weights[moved[came]]
        change[lines[went], i * k + old[moved][went]] -= weights[moved[went]]
    product = gram.product(change, columns=moved if len(moved) < gram.shape[1] else None, n_jobs=n_jobs)
    for i, (r, _, _) in enumerate(moves):
        sums[r] += product[:, i * k : (i + 1) * k]


class _LloydStep:
    """One iteration of one start: distances of rows to the means of its clusters, and the labels that follow."""

    def __init__(self, sums: Floats, diagonal: Floats, weights: Floats, labels: Indices) -> None:
        rows, k = np.arange(len(sums)), sums.shape[1]
        self.labels, self.counted = labels, weights > 0
        mass = np.bincount(labels, weights, minlength=k)
        total = np.where(mass > 0, mass, 1.0)
        squares = np.bincount(labels, weights * sums[rows, labels], minlength=k) / total**2
        self.distances = diagonal[:, None] + np.where(mass > 0, squares, np.inf) - 2 * (sums / total)
        self.own_distances = self.distances[rows, labels]
        self.rounding = _ROUNDING * (np.abs(diagonal).max() + np.abs(squares).max())
        self.cost = float((weights[self.counted] * self.own_distances[self.counted]).sum())

    def moved(self) -> Indices:
        """Return the labels after the iteration: rows move to a nearer mean, and empty clusters get a row."""
        least = self.distances.min(axis=1)
        first = (self.distances <= (least + self.rounding)[:, None]).argmax(axis=1)
        labels = np.where(least < self.own_distances - self.rounding, first, self.labels)
        self._refill(labels, np.minimum(least, self.own_distances))
        return labels

    def _refill(self, labels: Indices, left: Floats) -> None:
        """Give each cluster without rows the row farthest from its mean, of those whose cluster keeps another row."""
        sizes = np.bincount(labels[self.counted], minlength=self.distances.shape[1])
        if sizes.all():
            return
        steps = np.where(self.counted, np.rint(left / self.rounding) if self.rounding > 0 else 0.0, -np.inf)
        farthest = iter(np.argsort(-steps, kind="stable"))  # in whole steps, so that rounding does not choose a row
        for empty in np.flatnonzero(sizes == 0):
            row = next((row for row in farthest if steps[row] > 0 and sizes[labels[row]] > 1), None)
            if row is None:
                return
            sizes[labels[row]] -= 1
            labels[row], sizes[empty] = empty, 1
