"""The best centre of each cluster: mean, coordinate median, geometric median."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import BLOCK_ROWS, map_tasks
from boxwood._types import Array, Floats, Indices, Weights
from boxwood._validation import Rows, number_of_clusters, refuse_infinite_sum, refuse_unknown
from boxwood.loops.costs import L1, L2, SQEUCLIDEAN
from boxwood.reference._geometric_median import geometric_median, next_point
from boxwood.reference._labels import whole_labels
from boxwood.reference._median import weighted_median
from boxwood.reference._moments import MomentsOfRows
from boxwood.reference._sums import means_of

if TYPE_CHECKING:
    from boxwood.reference._reference import Reference

__all__ = [
    "Centers",
    "Groups",
    "best_centers",
    "find_centers",
    "known_means",
    "next_centers",
    "objective_code",
    "without_weightless",
]

_OBJECTIVES = {"l1": L1, "l2": L2, "sqeuclidean": SQEUCLIDEAN}


class Centers(NamedTuple):
    """Centres as base + offset, both of shape (k, d). They are kept apart so that no digit of a distance is lost."""

    base: Floats
    offset: Floats


def best_centers(
    X: ArrayLike, labels: ArrayLike, n_clusters: int, *, objective: str, sample_weight: ArrayLike | None = None
) -> Floats:
    """Return the centre of each cluster that makes its cost smallest, shape (k, d).

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout; not copied.
    labels : array-like of shape (n,)
        Cluster of each row, a whole number from 0 to `n_clusters` - 1; -1 leaves the row out.
    n_clusters : int
        Number of clusters k. Clusters may have no rows.
    objective : {"l1", "l2", "sqeuclidean"}
        Distance of a row to its centre; the cost is its sum over rows. Under "l1" the best centre is the median of each
        column (the midpoint if a whole gap is best), under "l2", the Euclidean distance, the geometric median, and
        under "sqeuclidean" the mean.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row. Whole weights give the result of repeated rows; rows of weight 0 are left out. None gives
        every row the weight 1.

    Returns
    -------
    array of shape (k, d)
        NaN for clusters without weight.

    Raises
    ------
    DataError
        If labels or weights do not fit the rows, or values are missing or infinite.
    ValueError
        If the objective is unknown.

    Notes
    -----
    Means take one pass over the data. Medians take O(n) per column (O(n log n) with weights).

    The geometric median is found by Weiszfeld's iteration, with the step of Vardi and Zhang at data points, and with
    Newton's step if that is better. The search stops when a bound shows that the cost is within a relative 1e-9 of the
    smallest cost, when rounding leaves nothing to gain, or after 500 steps; 10 to 20 steps are usual. A row closer to
    the centre than 1e-10 of the mean distance counts as lying at the centre. Each step is one pass that takes time
    n d^2 (n d above 128 columns). For rows on a line the result is exactly a median on that line.

    Extra memory: 16 bytes for each row; for medians also one column for each thread. The result does not depend on the
    number of threads.

    References
    ----------
    Y. Vardi, C.-H. Zhang, "The multivariate L1-median and associated data depth", PNAS 97 (2000),
    doi:10.1073/pnas.97.4.1423.

    Examples
    --------
    >>> X = [[0.0, 0.0], [2.0, 0.0], [9.0, 0.0], [5.0, 5.0]]
    >>> best_centers(X, [0, 0, 0, 1], 2, objective="l1")
    array([[2., 0.],
           [5., 5.]])
    >>> best_centers(X, [0, 0, -1, -1], 2, objective="sqeuclidean")
    array([[ 1.,  0.],
           [nan, nan]])
    """
    code, rows = objective_code(objective), Rows.of(X, sample_weight)
    number_of_clusters(n_clusters, len(rows))
    refuse_infinite_sum(rows.weights)
    table, weights = rows.values, rows.weights
    clusters = whole_labels(labels, len(table), n_clusters)
    centers = find_centers(table, without_weightless(clusters, weights), n_clusters, code, weights)
    return centers.base + centers.offset


def objective_code(objective: str) -> int:
    """Return the number of an objective in the loops."""
    refuse_unknown("objective", objective, _OBJECTIVES)
    return _OBJECTIVES[objective]


def without_weightless(labels: Indices, weights: Weights) -> Indices:
    """Return the labels with -1 for rows of weight 0."""
    return labels if weights is None else np.where(weights > 0, labels, -1)


def find_centers(
    X: Array,
    labels: Indices,
    k: int,
    code: int,
    weights: Weights,
    *,
    n_jobs: int | None = -1,
) -> Centers:
    """Return the best centre of each cluster; see `best_centers`. Rows of weight 0 must have the label -1."""
    if code == SQEUCLIDEAN:
        return Centers(*means_of(X, labels, k, weights, n_jobs))
    groups = Groups.of(labels, k)
    centers = _medians(X, groups, weights, n_jobs)
    if code == L2:
        _add_geometric_medians(X, groups, weights, centers, n_jobs)
    return centers


def known_means(rows: Rows, reference: Reference) -> Centers | None:
    """Return what `find_centers` finds for the means of the clusters, if the reference knows the means of these rows.

    Then each cluster has rows of weight above 0.
    """
    known = reference.moments
    if isinstance(known, MomentsOfRows) and known.are_of(rows, reference.labels) and known.weights.all():
        return Centers(known.origins, known.offsets)
    return None


def next_centers(X: Array, groups: Groups, weights: Weights, centers: Floats, *, n_jobs: int | None = -1) -> Floats:
    """Return the centres after one step towards each geometric median, shape (k, d); takes one pass over the data."""
    moved = np.array(centers)

    def work(cluster: int, rows: Indices, jobs: int | None) -> None:
        moved[cluster] = next_point(X, rows, weights, centers[cluster], n_jobs=jobs)

    groups.for_each(work, n_jobs)
    return moved


class Groups(NamedTuple):
    """The rows sorted by cluster: the rows of cluster c are `order[ends[c] : ends[c + 1]]`."""

    order: Indices
    ends: Indices

    @classmethod
    def of(cls, labels: Indices, k: int) -> Groups:
        order = np.argsort(
            (labels + 1).astype(np.min_scalar_type(k)), kind="stable"
        )  # numpy sorts short numbers by radix
        ends = np.cumsum(np.bincount(labels + 1, minlength=k + 1))
        return cls(order[ends[0] :], ends - ends[0])

    def parts(self) -> list[slice]:
        """Return the slice of `order` that holds each cluster."""
        return [slice(start, stop) for start, stop in pairwise(self.ends.tolist())]

    def for_each(self, work: Callable[[int, Indices, int | None], None], n_jobs: int | None) -> None:
        """Call `work(cluster, rows, jobs)` for each cluster with rows.

        A large cluster gets all threads; small clusters are divided among the threads.
        """
        parts = [(cluster, self.order[part]) for cluster, part in enumerate(self.parts()) if part.start < part.stop]
        for cluster, rows in parts:
            if len(rows) > BLOCK_ROWS:
                work(cluster, rows, n_jobs)
        small = [part for part in parts if len(part[1]) <= BLOCK_ROWS]
        map_tasks(lambda part: work(*part, 1), small, n_jobs=n_jobs)


def _medians(X: Array, groups: Groups, weights: Weights, n_jobs: int | None) -> Centers:
    parts = groups.parts()
    ordered_weights = None if weights is None else weights[groups.order]

    def work(column: int) -> list[float]:
        values = X[:, column][groups.order].astype(np.float64, copy=False)
        return [
            weighted_median(values[part], None if ordered_weights is None else ordered_weights[part])
            if part.start < part.stop
            else np.nan
            for part in parts
        ]

    base = np.array(map_tasks(work, range(X.shape[1]), n_jobs=n_jobs)).T
    return Centers(base, np.zeros_like(base))


def _add_geometric_medians(X: Array, groups: Groups, weights: Weights, centers: Centers, n_jobs: int | None) -> None:
    """Write the offsets from medians to geometric medians; for rows on a line the offset is 0."""

    def work(cluster: int, rows: Indices, jobs: int | None) -> None:
        centers.offset[cluster] = geometric_median(X, rows, weights, centers.base[cluster], n_jobs=jobs)

    groups.for_each(work, n_jobs)
