"""`KMedians`: clusters around medians, for the l1 and the Euclidean distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from boxwood._compat import Interval, StrOptions, fit_context
from boxwood._frames import validated_rows
from boxwood._messages import warn_caller
from boxwood._threads import BLOCK_ROWS, jobs_of, map_blocks
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, as_weights, real_number, refuse_no_sum
from boxwood.errors import DataError
from boxwood.loops.costs import L2, add_potentials, distances, lower_to, nearest
from boxwood.reference.centers import Groups, find_centers, next_centers, objective_code
from boxwood.reference.clusterer import FEW_STARTS, LARGE, MANY_STARTS

BETTER = 1e-9  # fraction of the cost by which a start must be better than an earlier one: less may be rounding


def plus_plus(cloud: Cloud, k: int, rng: np.random.RandomState) -> Floats:
    """Return k rows, each drawn with a chance in proportion to its distance to the nearest row drawn before.

    It is the distance and not its square, so that the chance of a row is its fraction of the cost. Of 2 + log k
    candidates the one that leaves the lowest cost is taken, and of equal ones the first.
    """
    return _draw_centers(cloud, k, rng, lambda closest: closest, 2 + int(np.log(k)))


def _at_random(cloud: Cloud, k: int, rng: np.random.RandomState) -> Floats:
    """Return k different rows, drawn by weight."""
    return _draw_centers(cloud, k, rng, lambda closest: np.sign(closest), 1)


SEEDINGS: dict[str, Callable[[Cloud, int, np.random.RandomState], Floats]] = {
    "k-medians++": plus_plus,
    "random": _at_random,
}


def _draw_centers(
    cloud: Cloud, k: int, rng: np.random.RandomState, chance: Callable[[Floats], Floats], n_trials: int
) -> Floats:
    """Return k different rows, each the best of some candidates, drawn by `chance` of their distance to the others.

    They are fewer where no more are different.
    """
    first = _draw(cloud, np.ones(len(cloud.X)), rng, 1)
    centers = cloud.rows(first)
    closest = np.full(len(cloud.X), np.inf)
    cloud.lower_to(centers[0], closest)
    while len(centers) < k:
        if not closest.any():
            break
        candidates = cloud.rows(_draw(cloud, chance(closest), rng, n_trials))
        potentials = cloud.potentials(candidates, closest) if n_trials > 1 else np.zeros(1)
        center = candidates[np.argmin(potentials)]
        centers = np.vstack([centers, center])
        cloud.lower_to(center, closest)
    return centers


def warn_of_few(n_clusters: int, n_found: int, what: str = "different rows") -> None:
    """Warn, as scikit-learn's k-means does, if fewer clusters were found than asked for."""
    if n_found < n_clusters:
        of = f"{n_found} of the {n_clusters} clusters asked for were found"
        warn_caller(f"{of}, as the table has only {n_found} {what}; ask for fewer clusters", ConvergenceWarning)


def refuse_few(n_clusters: int, n_rows: int) -> None:
    """Raise a DataError, as scikit-learn's k-means does, if there are fewer rows than clusters asked for."""
    if n_rows < n_clusters:
        raise DataError(
            f"{n_clusters} clusters asked for, but the table has only {n_rows} rows; ask for fewer clusters"
        )


@dataclass(frozen=True, eq=False)
class Cloud:
    """Rows that all have weight, with the distance between them and the number of threads."""

    X: Array
    weights: Floats | None
    code: int
    n_jobs: int | None

    @property
    def euclidean(self) -> bool:
        """Whether distances are Euclidean; l1 otherwise."""
        return self.code == L2

    @property
    def best_is_costly(self) -> bool:
        """Whether finding the best centres takes much longer than moving nearer to them."""
        return self.euclidean

    @property
    def loop_weights(self) -> Floats:
        """The weights as the loops take them: an empty array where all rows weigh 1."""
        return np.empty(0) if self.weights is None else self.weights

    @cached_property
    def order(self) -> Indices:
        """The rows sorted by value, shape (n,): draws along it do not depend on the order of the rows."""
        order = np.argsort(self.X[:, 0], kind="stable")
        first = self.X[order, 0]
        return order if (first[1:] != first[:-1]).all() else np.lexsort(self.X.T[::-1])

    def rows(self, numbers: Indices) -> Floats:
        """Return some rows, given by their numbers, as float64."""
        return self.X[numbers].astype(np.float64)

    def map_blocks(self, work: Callable[[int, int], T]) -> list[T]:
        """Return `work(start, stop)` for each block of rows."""
        return map_blocks(work, len(self.X), n_jobs=self.n_jobs)

    def distances(self, centers: Floats) -> Floats:
        """Return the distance of each row to each centre, shape (n, k)."""
        columns = np.ascontiguousarray(centers.T)
        out = np.empty((len(self.X), len(centers)))
        self.map_blocks(lambda start, stop: distances(self.X[start:stop], columns, self.euclidean, out[start:stop]))
        return out

    def lower_to(self, center: Floats, closest: Floats) -> None:
        """Update `closest`, shape (n,), the distances to the nearest centre, by one more centre."""
        self.map_blocks(lambda start, stop: lower_to(self.X[start:stop], center, self.euclidean, closest[start:stop]))

    def nearest(self, centers: Floats) -> tuple[Indices, Floats]:
        """Return the nearest centre of each row, the first of equally near ones, and its distance; both (n,)."""
        columns = np.ascontiguousarray(centers.T)
        labels, costs = np.empty(len(self.X), dtype=np.intp), np.empty(len(self.X))

        def work(start: int, stop: int) -> None:
            nearest(self.X[start:stop], columns, self.euclidean, labels[start:stop], costs[start:stop])

        self.map_blocks(work)
        return labels, costs

    def best_centers(self, now: Clustering) -> Floats:
        """Return the best centre of each cluster, shape (k, d)."""
        best = find_centers(self.X, now.labels, len(now.centers), self.code, self.weights, n_jobs=self.n_jobs)
        return best.base + best.offset

    def better_centers(self, now: Clustering) -> Floats:
        """Return centres that are one step nearer to the geometric median of each cluster, shape (k, d)."""
        groups = Groups.of(now.labels, len(now.centers))
        return next_centers(self.X, groups, self.weights, now.centers, n_jobs=self.n_jobs)

    def potentials(self, candidates: Floats, closest: Floats) -> Floats:
        """Return the cost of all rows with each candidate as one more centre, shape (t,)."""
        columns, weights = np.ascontiguousarray(candidates.T), self.loop_weights

        def work(start: int, stop: int) -> Floats:
            sums, rows = np.zeros(len(candidates)), slice(start, stop)
            add_potentials(self.X[rows], weights[rows], columns, self.euclidean, closest[rows], sums)
            return sums

        return np.asarray(np.sum(self.map_blocks(work), axis=0))

    def total(self, costs: Floats) -> float:
        """Return the weighted sum of costs.

        Raises
        ------
        DataError
            If it is beyond the largest float.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.sum(costs if self.weights is None else costs * self.weights))
        if not np.isfinite(total):
            raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
        return total


def _draw(cloud: Cloud, chance: Floats, rng: np.random.RandomState, size: int) -> Indices:
    """Return rows drawn with chances in proportion to weight times `chance`."""
    with np.errstate(over="ignore"):  # a cost beyond the largest float is refused when it is the cost of clusters
        return draw_by_chances(chance if cloud.weights is None else chance * cloud.weights, cloud.order, rng, size)


def draw_by_chances(chances: Floats, order: Indices, rng: np.random.RandomState, size: int) -> Indices:
    """Return rows drawn with chances in proportion to `chances`, which are laid end to end in an order of the rows."""
    ends = np.cumsum(chances[order])
    ranks = np.searchsorted(ends, rng.uniform(size=size) * ends[-1], side="right")
    last = np.searchsorted(ends, ends[-1])  # rounding may lead behind the last row that has a chance
    return np.asarray(order[np.minimum(ranks, last)])


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
        Centres; always holds: each is the nearest centre of at least one row of `fit`. They are fewer than `n_clusters`
        if fewer rows are different, which gives a `ConvergenceWarning`.
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
            If `X` has missing or infinite values or text columns, has fewer rows than `n_clusters`, if weights or first
            centres do not fit, or if the cost is beyond the largest float.
        """
        rows = self._rows(X, reset=True)
        weights = as_weights(sample_weight, len(rows))
        cloud = self._cloud(rows, weights)
        refuse_few(self.n_clusters, len(rows))
        best = self._best_start(cloud)
        warn_of_few(self.n_clusters, len(best.centers))
        self.cluster_centers_: Floats = best.centers
        self.inertia_: float = best.cost
        self.n_iter_: int = best.n_iter
        self.labels_: Indices = best.labels if len(cloud.X) == len(rows) else self._cloud(rows).nearest(best.centers)[0]
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
        refuse_no_sum(weights)
        return -float(np.sum(costs if weights is None else costs * weights))

    # ------------------------------------------------------------------------------------------------- steps

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        """Return checked rows, float32 or float64; remember (or compare) the number and names of the columns."""
        return validated_rows(self, X, reset=reset, n_jobs=jobs_of(self.n_jobs))

    def _cloud(self, rows: Array, weights: Floats | None = None) -> Cloud:
        """Return the rows that have weight; few rows get one thread, as starting more would take longer."""
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        n_jobs = jobs_of(self.n_jobs) if rows.size > BLOCK_ROWS else 1
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


T = TypeVar("T")
ROUNDING = 1e-13  # fraction of the cost by which equal costs may differ


class Clustering(NamedTuple):
    """Centres (k, d), the nearest of them for each row (n,), their cost, and the number of steps taken."""

    centers: Floats
    labels: Indices
    cost: float
    n_iter: int


def alternate(cloud: Cloud, centers: Floats, *, max_iter: int, tol: float) -> Clustering:
    """Return the clustering at which the alternation from some centres ends. Every cluster has rows.

    A step moves each centre to the best centre of its rows and assigns each row to its nearest centre. A step that
    raises the cost by more than rounding is not taken. The last step lowers the cost by at most the fraction `tol`, or
    changes no label. Geometric medians are costly, so centres only move towards them while that gains enough.
    """
    now, towards = _assign_rows(cloud, centers, 0), cloud.best_is_costly
    for step in range(1, max_iter + 1):
        moved = cloud.better_centers(now) if towards else cloud.best_centers(now)
        following = _assign_rows(cloud, moved, step)
        gain, settled = now.cost - following.cost, np.array_equal(following.labels, now.labels)
        now = now._replace(n_iter=step) if gain < -ROUNDING * now.cost else following
        little = settled or gain <= tol * now.cost
        if little and not towards:
            break
        towards = cloud.best_is_costly and not little
    return now


def _assign_rows(cloud: Cloud, centers: Floats, n_iter: int) -> Clustering:
    """Return the clustering with each row at its nearest centre.

    A centre without rows first moves to the row that is farthest from its nearest centre. That lowers the cost, as no
    row loses its nearest centre. Of equally far rows the first by value is taken. Where all rows are at centres, those
    without rows are left out.
    """
    while True:
        labels, costs = cloud.nearest(centers)
        empty = np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0)
        if len(empty) == 0:
            return Clustering(centers, labels, cloud.total(costs), n_iter)
        cloud.total(costs)
        if not costs.any():  # there are no more different rows
            centers = np.delete(centers, empty, axis=0)
            return Clustering(centers, cloud.nearest(centers)[0], 0.0, n_iter)
        centers = _refill_empty(cloud, centers, empty, costs)


def _refill_empty(cloud: Cloud, centers: Floats, empty: Indices, costs: Floats) -> Floats:
    centers = centers.copy()
    for cluster in empty:
        farthest = cloud.order[np.argmax(costs[cloud.order])]
        centers[cluster] = cloud.rows(farthest[None])[0]
        cloud.lower_to(centers[cluster], costs)
    return centers
