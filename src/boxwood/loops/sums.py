"""Sums over the rows of each cluster that do not depend on the order of the rows.

A value of at most 1 is cut into three parts: the nearest multiple of a unit, the nearest multiple of a smaller unit to
what remains, and so on. All parts of one unit add up to less than 2**53 units, so their sums in doubles are exact, in
any order and in any blocks::

    x = 0.7 = 45875 / 65536 + 3277 / 2**32 + …

`weights` of length 0 stands for rows that all weigh 1; a label of -1 leaves a row out.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_parts", "widen"]

ROUNDING = 6755399441055744.0  # 1.5 * 2**52: added and subtracted again, it rounds to a whole number
SPLIT = 134217729.0  # 2**27 + 1: cuts a double into halves whose products are exact


@jit
def widen(X, labels, least, most):
    """Lower the least and raise the most value of each cluster and column.

    IN: X (n, d); labels (n,). OUT: least, most (k, d).
    """
    for row in range(X.shape[0]):
        if labels[row] < 0:
            continue
        c = np.uint64(labels[row])  # without a sign, so that numba need not check for negative indices
        for j in range(X.shape[1]):
            x = np.float64(X[row, j])
            least[c, j] = min(least[c, j], x)
            most[c, j] = max(most[c, j], x)


@jit
def add_parts(X, labels, weights, scales, scale, units, sums):
    """Add to each cluster its rows in three parts: `X * scales`, times `weights * scale`.

    IN: X (n, d); labels (n,); weights (n,) or (0,); scales (k, d), powers of two that bring the values of a cluster
    into [-1, 1]; scale, which does so for weights; units (3,), descending. OUT: sums (k, 3, d).
    """
    first, second, third = ROUNDING * units[0], ROUNDING * units[1], ROUNDING * units[2]
    for row in range(X.shape[0]):
        if labels[row] < 0:
            continue
        c = np.uint64(labels[row])
        weight = weights[row] * scale if weights.size else 1.0
        for j in range(X.shape[1]):
            x = np.float64(X[row, j]) * scales[c, j]
            value = weight * x
            coarse = (value + first) - first
            rest = value - coarse
            fine = (rest + second) - second
            rest -= fine
            sums[c, 0, j] += coarse
            sums[c, 1, j] += fine
            sums[c, 2, j] += (rest + third) - third
            if weights.size:
                error = _error_of_product(weight, x, value)
                fine = (error + second) - second
                sums[c, 1, j] += fine
                sums[c, 2, j] += ((error - fine) + third) - third


@jit
def _error_of_product(a, b, product):
    """Return what rounding took from a product (Dekker 1971)."""
    large = SPLIT * a
    a_high = large - (large - a)
    a_low = a - a_high
    large = SPLIT * b
    b_high = large - (large - b)
    b_low = b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
