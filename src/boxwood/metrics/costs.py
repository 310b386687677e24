"""The cost of a partition, as a ratio too, and of rows at the nearest of given centres."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import BLOCK_ROWS, map_blocks
from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows, as_numbers, refuse_no_sum
from boxwood.errors import DataError
from boxwood.loops import costs as loops
from boxwood.loops.costs import L2, SQEUCLIDEAN, add_costs
from boxwood.reference import Reference, encode_labels
from boxwood.reference.centers import Centers, find_centers, known_means, objective_code, without_weightless
from boxwood.reference.labels import check_length, whole_labels
from boxwood.tree import ThresholdTree
from boxwood.tree.tree import refuse_no_tree


def cost(
    X: ArrayLike,
    tree: ThresholdTree,
    *,
    objective: str = "sqeuclidean",
    centers: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cost of a tree: the sum of the distances of rows to the centre of their leaf's cluster.

    Leaves of the same cluster count as one cluster, with one centre.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout; not copied.
    tree : ThresholdTree
        Tree whose leaves carry the clusters.
    objective : {"l1", "l2", "sqeuclidean"}, default="sqeuclidean"
        Distance of a row to its centre: l1 (k-medians), Euclidean, or squared Euclidean (k-means). The unit is that of
        the columns; for "sqeuclidean" it is squared.
    centers : array-like of shape (k, d), default=None
        Centre of each cluster; the result is then the surrogate cost. None computes the best centre of each cluster:
        coordinate median (l1), geometric median (l2) or mean (sqeuclidean). No other centres cost less, up to the
        tolerance of the geometric median (see `best_centers`).
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; whole weights are repeated rows. None weighs all rows 1.

    Returns
    -------
    float
        Sum of weighted distances. It is exactly 0 where the rows of each cluster are equal.

    Raises
    ------
    DataError
        If rows, weights or centres do not fit together, values are missing or infinite, or the cost exceeds the
        largest float.
    ValueError
        If the objective is unknown.

    Notes
    -----
    Each centre is kept as a sum of two floats, so that the digits of values such as 1e12 + 1 survive. Besides
    `tree.predict`, takes about two passes over the data for given centres and three for means, and 24 bytes of memory
    per row. Blocks of rows are summed in their order, so the result does not depend on the number of threads.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021,
    arXiv:2107.00798, eq. (1)-(6).

    Examples
    --------
    >>> from boxwood.tree import ThresholdTree
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 5, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> X = [[0.0], [1.0], [5.0], [9.0]]
    >>> cost(X, tree), cost(X, tree, objective="l1"), cost(X, tree, objective="l1", centers=[[0.0], [7.0]])
    (14.0, 5.0, 8.0)
    """
    refuse_no_tree(tree)
    code, rows = objective_code(objective), Rows.of(X, sample_weight)
    refuse_no_sum(rows.weights)
    return summed_distances(rows.values, tree.predict(rows), code, centers, rows.weights)


def partition_cost(
    X: ArrayLike,
    labels: Any,
    *,
    objective: str = "sqeuclidean",
    centers: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cost of a partition that is given by labels; `cost` does the same for a tree.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    labels : array-like of shape (n,)
        Cluster of each row, of any hashable type; the number -1 leaves a row out. With `centers`, labels are whole
        numbers from 0 to k - 1: the row of `centers` to take.
    objective, centers, sample_weight
        As in `cost`. The centre of a cluster without rows may be NaN, as in the result of `best_centers`.

    Returns
    -------
    float
        Sum of weighted distances over the rows that are not left out.

    Raises
    ------
    DataError
        As in `cost`, or if labels do not fit the rows or every row is left out.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 2.0], [7.0, 7.0], [9.0, 9.0]]
    >>> partition_cost(X, ["a", "a", "b", -1]), partition_cost(X, [0, 0, -1, -1], centers=[[1.0, 1.0]])
    (2.0, 4.0)
    """
    code, rows = objective_code(objective), Rows.of(X, sample_weight)
    refuse_no_sum(rows.weights)
    return summed_distances(rows.values, labels, code, centers, rows.weights)


def summed_distances(X: Array, labels: Any, code: int, centers: ArrayLike | None, weights: Floats | None) -> float:
    """Return `partition_cost` of checked rows and weights, and of the code of an objective."""
    unit = _unit(X) if code == L2 else 1.0
    if unit != 1:
        scaled = None if centers is None else np.asarray(centers, dtype=np.float64) / unit
        return unit * summed_distances(X / np.float64(unit), labels, code, scaled, weights)
    if centers is None:
        clusters, names = encode_labels(labels)
        check_length(clusters, len(X))
        clusters = without_weightless(clusters, weights)
        return _sum(X, clusters, find_centers(X, clusters, len(names), code, weights), code, weights)
    points = as_centers(centers, X.shape[1])
    clusters = without_weightless(whole_labels(labels, len(X), len(points)), weights)
    _refuse_missing_centers(points, clusters)
    return _sum(X, clusters, Centers(points, np.zeros_like(points)), code, weights)


def cost_of_clusters(rows: Rows, reference: Reference, code: int) -> float:
    """Return `summed_distances` of rows by the clusters of a reference; means that it knows are not computed again."""
    means = known_means(rows, reference) if code == SQEUCLIDEAN else None
    if means is None:
        return summed_distances(rows.values, reference.labels, code, None, rows.weights)
    return cost_about(rows, reference.labels, means)


def cost_about(rows: Rows, labels: Indices, means: Centers) -> float:
    """Return `summed_distances` of rows by clusters whose means are known, of squared distances.

    IN: labels (n,), from -1 to k - 1; means (k, d); NaN for a cluster without rows of weight above 0.
    """
    if np.isnan(means.base).any():  # its number would change the order of a sum, and so its last digit
        return summed_distances(rows.values, labels, SQEUCLIDEAN, None, rows.weights)
    return _sum(rows.values, without_weightless(labels, rows.weights), means, SQEUCLIDEAN, rows.weights)


def _unit(X: Array) -> float:
    """Return a power of two by which rows are divided so that the squares of their values stay in range; mostly 1."""
    largest = float(np.abs(X).max())
    return 1.0 if largest == 0 or 1e-100 < largest < 1e100 else float(2.0 ** max(np.frexp(largest)[1], -1020))


def _sum(X: Array, labels: Indices, centers: Centers, code: int, weights: Floats | None) -> float:
    weight = np.empty(0) if weights is None else weights

    def work(start: int, stop: int) -> Floats:
        costs = np.zeros(len(centers.base))
        add_costs(X[start:stop], labels[start:stop], weight[start:stop], centers.base, centers.offset, code, costs)
        return costs

    with np.errstate(over="ignore"):
        total = float(np.sum(np.sum(map_blocks(work, len(X)), axis=0)))
    if not np.isfinite(total):
        raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
    return total


def as_centers(centers: ArrayLike, n_columns: int) -> Floats:
    """Return centres as an array of the right shape, or raise a DataError."""
    array = as_numbers("centers", centers)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] != n_columns:
        raise DataError(f"centers must be of shape (k, {n_columns}), as X has {n_columns} columns; got {array.shape}")
    return array


def _refuse_missing_centers(centers: Floats, labels: Indices) -> None:
    bad = ~np.isfinite(centers).all(axis=1)
    used = np.bincount(labels + 1, minlength=len(centers) + 1)[1:] > 0
    if (bad & used).any():
        raise DataError(f"centers must be finite for clusters with rows; cluster {int(np.argmax(bad & used))} is not")


def ratio(cost: float, reference_cost: float) -> float:
    """Return `cost / reference_cost`, where 0 / 0 is 1 and anything else over 0 is infinite.

    Raises
    ------
    ValueError
        If a cost is negative or not a number.

    Examples
    --------
    >>> ratio(3.0, 2.0), ratio(0.0, 0.0), ratio(3.0, 0.0)
    (1.5, 1.0, inf)
    """
    if not (cost >= 0 and reference_cost >= 0):
        raise ValueError(f"costs must not be negative, got {cost} and {reference_cost}")
    if reference_cost > 0:
        return float(cost / reference_cost)
    return 1.0 if cost == 0 else math.inf


def nearest_cost(
    X: ArrayLike, centers: ArrayLike, *, objective: str = "sqeuclidean", sample_weight: ArrayLike | None = None
) -> float:
    """Return the sum of the distances of rows to the nearest of given centres.

    It is the cost of the clustering that these centres make: the divisor of the price of a tree with each of them in a
    leaf. `cost(X, tree, centers=centers)` is the cost of such a tree and never less.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout; not copied.
    centers : array-like of shape (k, d)
        Centres. Equal centres count as one.
    objective : {"l1", "l2", "sqeuclidean"}, default="sqeuclidean"
        Distance of a row to a centre: l1 (k-medians), Euclidean, or squared Euclidean (k-means).
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; whole weights are repeated rows. None weighs all rows 1.

    Returns
    -------
    float
        Sum of weighted distances. It is 0 where every row is a centre. Which of several equally near centres a row is
        counted at does not change it.

    Raises
    ------
    DataError
        If rows, weights or centres do not fit together, values are missing or infinite, or the cost exceeds the
        largest float.
    ValueError
        If the objective is unknown.

    Notes
    -----
    Takes time n k d. Besides the rows, memory is 8 bytes for each row, and distances to the k centres for one row of
    each block. Blocks of rows are summed in their order, so the result does not depend on the number of threads.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021,
    arXiv:2107.00798, eq. (4)-(6).

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [9.0]]
    >>> nearest_cost(X, [[0.0], [7.0]]), nearest_cost(X, [[0.0], [7.0]], objective="l1")
    (9.0, 5.0)
    """
    code, rows = objective_code(objective), Rows.of(X, sample_weight)
    refuse_no_sum(rows.weights)
    points = as_centers(centers, rows.n_columns)
    if not np.isfinite(points).all():
        raise DataError(f"centers must be finite; center {int(np.argmin(np.isfinite(points).all(axis=1)))} is not")
    columns = np.ascontiguousarray(points.T)
    labels: Indices = np.empty(len(rows), dtype=np.intp)

    def work(start: int, stop: int) -> None:
        distances = np.empty(stop - start)
        loops.nearest(rows.values[start:stop], columns, objective != "l1", labels[start:stop], distances)

    map_blocks(work, len(rows), block=BLOCK_ROWS)
    return summed_distances(rows.values, labels, code, points, rows.weights)
