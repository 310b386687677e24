"""The best cut of one column when each row goes to the nearest centre on its own side.

The node's centres are in the order of their values in the column. A threshold between centres g and g + 1 leaves the
first g + 1 of them on its left: a row on the left costs the least of these, one on the right the least of the others::

    centres     c_0     c_1          c_2
    rows      x  x   x   x  | x   x   x  x      cut in gap 1: rows on the left cost min(c_0, c_1), on the right c_2
                           cut

Costs are whole numbers, so sums are exact and do not depend on the order of rows.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["best_separation"]

NONE = np.iinfo(np.int64).max


@jit
def best_separation(ordered, order, costs, centers, by_center):
    """Return the lowest cost of a cut, and the two neighbouring values, of rows or centres, between which it lies.

    Among equal costs the lowest cut wins; the cost is the largest integer where all centres are equal. Takes time n k.

    IN: ordered (n,): values, ascending; order (n,): their rows; costs (n, k); centers (k,): values, ascending;
    by_center (k,): their columns of costs.
    """
    n, k = costs.shape
    right = np.empty((k, n), dtype=np.int64)  # least cost among centres from g on, by row
    for p in range(n):
        least = NONE
        for g in range(k - 1, -1, -1):
            least = min(least, costs[order[p], by_center[g]])
            right[g, p] = least
    left = np.full(n, NONE, dtype=np.int64)  # least cost among the centres up to g
    best, low, high = np.int64(NONE), 0.0, 0.0
    for g in range(k - 1):
        cost = np.int64(0)
        for p in range(n):
            left[p] = min(left[p], costs[order[p], by_center[g]])
            cost += right[g + 1, p]
        if centers[g] == centers[g + 1]:
            continue
        for p in range(-1, n):  # the cut is behind place p
            if p >= 0:
                cost += left[p] - right[g + 1, p]
            after = ordered[p + 1] if p + 1 < n else np.inf
            begin = max(centers[g], ordered[p]) if p >= 0 else centers[g]
            end = min(centers[g + 1], after)
            if begin < end and cost < best:
                best, low, high = cost, begin, end
    return best, low, high
