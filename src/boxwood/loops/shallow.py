"""The best cut of one column among cuts of known cost, when long paths have a price.

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

__all__ = ["best_score", "foretold_depth"]


@jit
def best_score(costs, shares, n_left, k, merges, base, penalty):
    """Return the lowest score of a cut and its place, -1 if there is no cut.

    Among equal scores the lowest cost wins, then the lowest cut. Takes time k at most for the depth of each cut whose
    cost alone does not rule it out.

    IN: costs (m,): of the cuts, by ascending threshold; shares (m,): share of the rows on the left; n_left (m,): number
    of centres on the left of each cut, from 1 to k - 1 and never falling; k: number of centres; merges (2,): whether a
    test of the left, and of the right side merges with an earlier one; base: cost of the rows at their nearest centres,
    at least 1; penalty.
    """
    best, place = np.inf, -1
    sizes, parts, depths = np.empty(k, dtype=np.int64), np.zeros((k + 1, 2), dtype=np.int64), np.zeros(k + 1)
    n_sizes, parted = 0, 0  # `sizes` and `parts` are those for so many centres on the left
    for i in range(len(costs)):
        share = shares[i]
        merged = (share if merges[0] else 0.0) + (1.0 - share if merges[1] else 0.0)
        relative = costs[i] / base
        left, right = 1.0 if n_left[i] > 1 else 0.0, 1.0 if n_left[i] < k - 1 else 0.0  # two centres need a test
        if relative + penalty * (1.0 + share * left + (1.0 - share) * right - merged) > best:
            continue
        if n_left[i] != parted:
            parted = n_left[i]
            n_sizes = _split_in_proportion(parted, k, sizes, parts)
        score = relative + penalty * (_depth(share, sizes[:n_sizes], parts, depths) - merged)
        if place < 0 or score < best or (score == best and costs[i] < costs[place]):  # a score may be infinite
            best, place = score, i
    return best, place


@jit
def foretold_depth(share, k_left, k):
    """Return the mean number of tests that rows need under a cut of these proportions, itself included."""
    sizes, parts, depths = np.empty(k, dtype=np.int64), np.zeros((k + 1, 2), dtype=np.int64), np.zeros(k + 1)
    n_sizes = _split_in_proportion(k_left, k, sizes, parts)
    return _depth(share, sizes[:n_sizes], parts, depths)


@jit
def _split_in_proportion(k_left, k, sizes, parts):
    """Write the numbers of centres of all subtrees, descending from k to 2, and how many of each go left and right.

    Returns how many such numbers there are.

    IN: k_left: those of the k centres that go left. OUT: sizes (k,); parts (k + 1, 2): zeros for all other numbers.
    """
    parts[:] = 0
    parts[k, 0] = 1  # marks a number that is reached
    n_sizes = 0
    for m in range(k, 1, -1):
        if parts[m, 0] == 0:
            continue
        first = min(max((m * k_left + k - 1) // k, 1), m - 1)
        parts[m, 0], parts[m, 1] = first, m - first
        parts[first, 0], parts[m - first, 0] = max(parts[first, 0], 1), max(parts[m - first, 0], 1)
        sizes[n_sizes] = m
        n_sizes += 1
    return n_sizes


@jit
def _depth(share, sizes, parts, depths):
    """Return the foretold depth of `sizes[0]` centres. IN: depths[1]: 0. OUT: depths (k + 1,)."""
    for i in range(len(sizes) - 1, -1, -1):
        m = sizes[i]
        depths[m] = 1.0 + share * depths[parts[m, 0]] + (1.0 - share) * depths[parts[m, 1]]
    return depths[sizes[0]]
