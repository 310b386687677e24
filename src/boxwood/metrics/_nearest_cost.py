"""The cost of rows at the nearest of given centres: what no tree with these centres can undercut."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import BLOCK_ROWS, map_blocks
from boxwood._types import Indices
from boxwood._validation import Rows, refuse_infinite_sum
from boxwood.errors import DataError
from boxwood.loops import nearest as loops
from boxwood.metrics._cost import as_centers, summed_distances
from boxwood.reference._centers import objective_code

__all__ = ["nearest_cost"]


def nearest_cost(
    X: ArrayLike,
    centers: ArrayLike,
    *,
    objective: str = "sqeuclidean",
    sample_weight: ArrayLike | None = None,
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
    refuse_infinite_sum(rows.weights)
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
