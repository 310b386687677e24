"""The best cut of one column when each row goes to the nearest centre on its own side, and long paths have a price.

The score of a cut is its cost, divided by what the rows cost before it, plus a penalty times the mean number of tests
that rows will need. That number is foretold as if every later cut parted rows and centres in the same proportions as
this one: with a share `a` of the rows and `k_left` of `k` centres on the left, ::

    depth(1) = 0        depth(k) = 1 + a depth(k_left) + (1 - a) depth(k - k_left)

and `k_left` of a smaller `k` is its part of the same proportion, rounded up and kept from 1 to k - 1. A side on which
an earlier test of the same column is only made stricter needs no test of its own, as two tests merge into one.

Costs are whole numbers. The score is a float that is formed in the same way on every processor.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["best_shallow_separation", "foretold_depth"]

NONE = np.iinfo(np.int64).max


@jit
def best_shallow_separation(ordered, order, costs, weights, centers, by_center, merges, base, penalty):
    """Return the lowest score of a cut, its cost, and the two neighbouring values between which it lies.

    Values are those of rows and of centres. Among equal scores the lowest cost wins, then the lowest cut. The score is
    infinite where all centres are equal. Takes time n k for the costs, and k for the depth of each cut whose cost alone
    does not rule it out.

    IN: ordered (n,): values of the rows, ascending; order (n,): row of each value; costs (n, k); weights (n,) or (0,):
    whole numbers; centers (k,): values of the centres, ascending; by_center (k,): column of `costs` for each of these
    centres; merges (2,): whether a test of the left, and of the right side merges with an earlier one; base: cost of
    the rows at their nearest centres, at least 1; penalty.
    """
    n, k = costs.shape
    right = np.empty((k, n), dtype=np.int64)  # right[g, r]: least cost at the centres from g on
    for r in range(n):
        least = NONE
        for g in range(k - 1, -1, -1):
            least = min(least, costs[order[r], by_center[g]])
            right[g, r] = least
    total = np.int64(weights.sum() if weights.size else n)
    left = np.full(n, NONE, dtype=np.int64)  # left[r]: least cost at the centres up to g
    best, best_cost, low, high = np.inf, np.int64(NONE), 0.0, 0.0
    parts, depths = np.empty((k + 1, 2), dtype=np.int64), np.empty(k + 1)
    for g in range(k - 1):
        cost = np.int64(0)
        for r in range(n):
            left[r] = min(left[r], costs[order[r], by_center[g]])
            cost += right[g + 1, r]
        if centers[g] == centers[g + 1]:
            continue
        _split_in_proportion(g + 1, k, parts)
        n_left = np.int64(0)
        for r in range(-1, n):  # the cut lies behind rank r; -1 is before all rows
            if r >= 0:
                cost += left[r] - right[g + 1, r]
                n_left += weights[order[r]] if weights.size else 1
            after = ordered[r + 1] if r + 1 < n else np.inf
            begin = max(centers[g], ordered[r]) if r >= 0 else centers[g]
            end = min(centers[g + 1], after)
            if begin >= end:
                continue
            share = n_left / total if total > 0 else 0.5
            merged = (share if merges[0] else 0.0) + (1.0 - share if merges[1] else 0.0)
            relative = cost / base
            if relative + penalty * (1.0 - merged) > best:  # every row needs this test at least
                continue
            score = relative + penalty * (_depth(share, k, parts, depths) - merged)
            if score < best or (score == best and cost < best_cost):
                best, best_cost, low, high = score, cost, begin, end
    return best, best_cost, low, high


@jit
def foretold_depth(share, k_left, k):
    """Return the mean number of tests that rows need under a cut of these proportions, itself included."""
    parts, depths = np.empty((k + 1, 2), dtype=np.int64), np.empty(k + 1)
    _split_in_proportion(k_left, k, parts)
    return _depth(share, k, parts, depths)


@jit
def _split_in_proportion(k_left, k, parts):
    """Write for each number of centres up to k how many go left and right; zeros where no subtree has that number.

    IN: k_left: those of the k centres that go left. OUT: parts (k + 1, 2).
    """
    parts[:] = 0
    parts[k, 0] = 1  # marks a number that is reached
    for m in range(k, 1, -1):
        if parts[m, 0] == 0:
            continue
        first = min(max((m * k_left + k - 1) // k, 1), m - 1)
        parts[m, 0], parts[m, 1] = first, m - first
        for size in (first, m - first):
            if parts[size, 0] == 0:
                parts[size, 0] = 1


@jit
def _depth(share, k, parts, depths):
    """Return the foretold depth of k centres. OUT: depths (k + 1,), scratch."""
    depths[1] = 0.0
    for m in range(2, k + 1):
        if parts[m, 0] > 0:
            depths[m] = 1.0 + share * depths[parts[m, 0]] + (1.0 - share) * depths[parts[m, 1]]
    return depths[k]
