"""The best cut of one column when each row goes to the nearest centre on its own side.

The node's centres are in the order of their values in the column. A threshold in gap g, between centres g and g + 1,
leaves the first g + 1 centres on its left. A row on the left costs the least of its costs at those centres, a row on
the right the least of its costs at the others::

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

    Among equal costs the lowest cut wins. The cost is the largest integer where all centres are equal. Takes time n k.

    IN: ordered (n,): values of the rows, ascending; order (n,): row of each value; costs (n, k); centers (k,): values
    of the centres, ascending; by_center (k,): column of `costs` for each of these centres.
    """
    n, k = costs.shape
    right = np.empty((k, n), dtype=np.int64)  # right[g, r]: least cost at the centres from g on
    for r in range(n):
        least = NONE
        for g in range(k - 1, -1, -1):
            least = min(least, costs[order[r], by_center[g]])
            right[g, r] = least
    left = np.full(n, NONE, dtype=np.int64)  # left[r]: least cost at the centres up to g
    best, low, high = np.int64(NONE), 0.0, 0.0
    for g in range(k - 1):
        cost = np.int64(0)
        for r in range(n):
            left[r] = min(left[r], costs[order[r], by_center[g]])
            cost += right[g + 1, r]
        if centers[g] == centers[g + 1]:
            continue
        for r in range(-1, n):  # the cut lies behind rank r; -1 is before all rows
            if r >= 0:
                cost += left[r] - right[g + 1, r]
            after = ordered[r + 1] if r + 1 < n else np.inf
            begin = max(centers[g], ordered[r]) if r >= 0 else centers[g]
            end = min(centers[g + 1], after)
            if begin < end and cost < best:
                best, low, high = cost, begin, end
    return best, low, high
