"""The best centre of each cluster: mean, coordinate median, geometric median."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import BLOCK_ROWS, map_blocks, map_tasks
from boxwood._types import Array, Floats, Indices, Weights
from boxwood._validation import as_table, as_weights, refuse_unknown
from boxwood.loops.costs import L1, L2, SQEUCLIDEAN, add_differences
from boxwood.reference._geometric_median import geometric_median, next_point
from boxwood.reference._labels import whole_labels
from boxwood.reference._median import weighted_median

__all__ = [
    "Centers",
    "Groups",
    "best_centers",
    "find_centers",
    "next_centers",
    "objective_code",
    "without_weightless",
]

_OBJECTIVES = {"l1": L1, "l2": L2, "sqeuclidean": SQEUCLIDEAN}


class Centers(NamedTuple):
    """Centres in two parts that are not added, so that no digit of a distance is lost; both of shape (k, d)."""

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
        Number of clusters k; some may have no row.
    objective : {"l1", "l2", "sqeuclidean"}
        What is summed over rows: the l1 distance (best: the median of each column; where a whole gap is best, its
        midpoint), the Euclidean distance (the geometric median), or its square (the mean).
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; whole weights are repeated rows, a row of weight 0 is left out. None weighs all rows 1.

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
    Means take one pass over the data, medians O(n) per column (O(n log n) with weights). The geometric median is found
    by Weiszfeld's iteration with the step of Vardi and Zhang at data points, and Newton's step where that is better. It
    stops where a bound shows that the cost is within a share of 1e-9 of the smallest, or where rounding leaves nothing
    to gain (after 500 steps in any case; 10 to 20 are usual). Rows nearer to the centre than 1e-10 of the mean distance
    count as at it. A step is a pass that takes time n d^2 (n d above 128 columns). Rows on a line get a median on it,
    exactly. Extra memory: 16 bytes a row, and one column for each thread for medians. The result does not depend on
    the number of threads.

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
    if n_clusters < 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    code, table = objective_code(objective), as_table(X)
    clusters = whole_labels(labels, len(table), n_clusters)
    weights = as_weights(sample_weight, len(table))
    centers = find_centers(table, without_weightless(clusters, weights), n_clusters, code, weights)
    return centers.base + centers.offset


def objective_code(objective: str) -> int:
    """Return the number by which the loops know an objective."""
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
    """Return the best centres of clusters of rows that all have weight; see `best_centers`."""
    if code == SQEUCLIDEAN:
        return _means(X, labels, k, weights, n_jobs)
    groups = Groups.of(labels, k)
    centers = _medians(X, groups, weights, n_jobs)
    if code == L2:
        _add_geometric_medians(X, groups, weights, centers, n_jobs)
    return centers


def next_centers(X: Array, groups: Groups, weights: Weights, centers: Floats, *, n_jobs: int | None = -1) -> Floats:
    """Return centres a step nearer to the geometric median of each cluster, shape (k, d); one pass over the data."""
    moved = np.array(centers)

    def work(cluster: int, rows: Indices, jobs: int | None) -> None:
        moved[cluster] = next_point(X, rows, weights, centers[cluster], n_jobs=jobs)

    groups.for_each(work, n_jobs)
    return moved


class Groups(NamedTuple):
    """The rows cluster by cluster: those of cluster c are `order[ends[c] : ends[c + 1]]`."""

    order: Indices
    ends: Indices

    @classmethod
    def of(cls, labels: Indices, k: int) -> Groups:
        order = np.argsort((labels + 1).astype(np.min_scalar_type(k)), kind="stable")  # short numbers: by radix
        ends = np.cumsum(np.bincount(labels + 1, minlength=k + 1))
        return cls(order[ends[0] :], ends - ends[0])

    def parts(self) -> list[slice]:
        """Return the place of each cluster in the order."""
        return [slice(start, stop) for start, stop in pairwise(self.ends.tolist())]

    def for_each(self, work: Callable[[int, Indices, int | None], None], n_jobs: int | None) -> None:
        """Call `work(cluster, rows, jobs)` for each cluster with rows; threads share clusters, or a large one."""
        parts = [(cluster, self.order[part]) for cluster, part in enumerate(self.parts()) if part.start < part.stop]
        for cluster, rows in parts:
            if len(rows) > BLOCK_ROWS:
                work(cluster, rows, n_jobs)
        few = [part for part in parts if len(part[1]) <= BLOCK_ROWS]
        map_tasks(lambda part: work(*part, 1), few, n_jobs=n_jobs)


def _means(X: Array, labels: Indices, k: int, weights: Weights, n_jobs: int | None) -> Centers:
    rows = np.arange(len(X))
    first = np.full(k + 1, -1)  # the label -1 writes to the last place
    first[labels[::-1]] = rows[::-1]  # of several values for one place the last stays
    seen = first[:k] >= 0
    base = np.full((k, X.shape[1]), np.nan)
    base[seen] = X[first[:k][seen]]
    total = np.bincount(labels + 1, weights, minlength=k + 1)[1:]
    weight = np.empty(0) if weights is None else weights

    def work(start: int, stop: int) -> Floats:
        sums = np.zeros_like(base)
        add_differences(X[start:stop], labels[start:stop], weight[start:stop], base, sums)
        return sums

    # a cluster without rows has base NaN
    sums = np.sum(map_blocks(work, len(X), n_jobs=n_jobs), axis=0)
    return Centers(base, sums / np.where(seen, total, 1.0)[:, None])


def _medians(X: Array, groups: Groups, weights: Weights, n_jobs: int | None) -> Centers:
    parts = groups.parts()
    heavy = None if weights is None else weights[groups.order]

    def work(column: int) -> list[float]:
        values = X[:, column][groups.order].astype(np.float64, copy=False)
        return [
            weighted_median(values[part], None if heavy is None else heavy[part]) if part.start < part.stop else np.nan
            for part in parts
        ]

    base = np.array(map_tasks(work, range(X.shape[1]), n_jobs=n_jobs)).T
    return Centers(base, np.zeros_like(base))


def _add_geometric_medians(X: Array, groups: Groups, weights: Weights, centers: Centers, n_jobs: int | None) -> None:
    """Fill the offsets from medians, which for rows on a line are a median on that line, to geometric medians."""

    def work(cluster: int, rows: Indices, jobs: int | None) -> None:
        centers.offset[cluster] = geometric_median(X, rows, weights, centers.base[cluster], n_jobs=jobs)

    groups.for_each(work, n_jobs)
