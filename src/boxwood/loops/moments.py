"""Weights, means and squared deviations of the rows of each cluster, in one reading of a block of rows.

A mean is given in two parts: an origin near the rows, and an offset, the mean difference to it. Differences of
neighbouring values are exact, so the variance of 1e12 + 1 and 1e12 + 2 is as accurate as that of 1 and 2::

    x = origin + (x - origin)        mean = origin + offset        squares = sum of w ((x - origin) - offset)²

The origin is the first row of the cluster. Sums and squares are added about the origin and then moved to the mean. That
would cost digits if the origin lies many deviations from the mean. Then the mean is taken as the origin, and the block
is walked once more while it is still in the processor's cache.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["block_moments"]

FEW = 100.0  # largest squared distance from mean to origin, in variances, that may be subtracted: it costs two digits


@jit
def block_moments(X, labels, weights, total, origins, offsets, squares):
    """Fill weight, mean (in two parts) and weighted squared deviations of each cluster; a label of -1 is left out.

    IN: X (n, d); labels (n,); weights (n,), or (0,) for rows that all weigh 1. OUT, all zeros beforehand: total (k,),
    origins, offsets, squares (k, d). A cluster without weight keeps its zeros.
    """
    sums = np.zeros((len(total), X.shape[1], 2))  # of differences and of their squares, side by side in memory
    _first_rows(X, labels, weights, origins)
    _add_about(X, labels, weights, origins, total, sums)
    if not _move_to_means(total, sums, offsets, squares):
        origins += offsets
        total[:] = 0.0
        sums[:] = 0.0
        _add_about(X, labels, weights, origins, total, sums)
        _move_to_means(total, sums, offsets, squares)


@jit
def _first_rows(X, labels, weights, origins):
    """Write the first row of weight of each cluster."""
    has_origin = np.zeros(len(origins), dtype=np.bool_)
    missing = len(origins)
    for row in range(X.shape[0]):
        c = labels[row]
        if c < 0 or has_origin[c] or (weights.size and weights[row] == 0.0):
            continue
        has_origin[c] = True
        for j in range(X.shape[1]):
            origins[c, j] = X[row, j]
        missing -= 1
        if missing == 0:
            return


@jit
def _add_about(X, labels, weights, origins, total, sums):
    """Add the weights, and the differences to the origins and their squares."""
    for row in range(X.shape[0]):
        if labels[row] < 0:
            continue
        c = np.uint64(labels[row])  # without a sign, so that numba need not check for negative indices
        weight = weights[row] if weights.size else 1.0
        if weight == 0.0:
            continue
        total[c] += weight
        for j in range(X.shape[1]):
            gap = np.float64(X[row, j]) - origins[c, j]
            sums[c, j, 0] += weight * gap
            sums[c, j, 1] += weight * (gap * gap)


@jit
def _move_to_means(total, sums, offsets, squares):
    """Write offsets, and squares about the means, from sums about the origins; return whether few digits were lost."""
    exact = True
    for c in range(len(total)):
        if total[c] == 0.0:
            continue
        for j in range(offsets.shape[1]):
            offsets[c, j] = sums[c, j, 0] / total[c]
            shift = total[c] * (offsets[c, j] * offsets[c, j])
            squares[c, j] = max(sums[c, j, 1] - shift, 0.0)
            exact = exact and shift <= FEW * squares[c, j]
    return exact
