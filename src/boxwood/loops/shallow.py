"""The best of the cuts of known cost of some columns, when long paths have a price.

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

__all__ = ["best_scores", "foretold_depth", "write_least_depths"]


@jit
def best_scores(cuts, first, k, total, tested, base, penalties, scores, best):
    """Replace, for each penalty, the best cut of the columns so far by that of some more columns.

    Among equal scores the lowest cost wins, then the cut that came first. Takes time k at most for the depth of each
    cut whose cost alone does not rule it out.

    IN: cuts: of t columns, see `greedy_costs.costs_of_cuts`; first: of these columns; k: number of centres; total:
    weight of the rows; tested (d, 2): whether a test of the left, and of the right side of a column merges with an
    earlier one; base: cost of the rows at their nearest centres, at least 1; penalties (p,). IN and OUT: scores (p,):
    infinite before the first cut; best (p, 4): cost, column, place behind the last row on the left, and centres there;
    the column is -1 before the first cut.
    """
    costs, weight_left, places, centers_left, sizes = cuts
    numbers, parts, depths = np.empty(k, dtype=np.int64), np.zeros((k + 1, 2), dtype=np.int64), np.zeros(k + 1)
    for t in range(len(sizes)):
        n_numbers, parted = 0, 0  # `numbers` and `parts` are those for so many centres on the left
        merges_left, merges_right = tested[first + t, 0], tested[first + t, 1]
        for i in range(sizes[t]):
            share = weight_left[t, i] / total if total > 0 else 0.5
            n_left = centers_left[t, i]
            merged = (share if merges_left else 0.0) + (1.0 - share if merges_right else 0.0)
            relative = costs[t, i] / base
            left, right = 1.0 if n_left > 1 else 0.0, 1.0 if n_left < k - 1 else 0.0  # two centres need a test
            least = 1.0 + share * left + (1.0 - share) * right - merged
            depth = -1.0
            for p in range(len(penalties)):
                if relative + penalties[p] * least > scores[p]:
                    continue
                if depth < 0.0:
                    if n_left != parted:
                        parted = n_left
                        n_numbers = _split_in_proportion(parted, k, numbers, parts)
                    depth = _depth(share, numbers[:n_numbers], parts, depths)
                score = relative + penalties[p] * (depth - merged)
                first_of_all = best[p, 1] < 0  # a score may be infinite
                if first_of_all or score < scores[p] or (score == scores[p] and costs[t, i] < best[p, 0]):
                    scores[p] = score
                    best[p, 0], best[p, 1], best[p, 2], best[p, 3] = costs[t, i], first + t, places[t, i], n_left


@jit
def foretold_depth(share, k_left, k):
    """Return the mean number of tests that rows need under a cut of these proportions, itself included."""
    sizes, parts, depths = np.empty(k, dtype=np.int64), np.zeros((k + 1, 2), dtype=np.int64), np.zeros(k + 1)
    n_sizes = _split_in_proportion(k_left, k, sizes, parts)
    return _depth(share, sizes[:n_sizes], parts, depths)


@jit
def write_least_depths(low, high, centers_left, k, depths):
    """Write what `foretold_depth` is not below, but for rounding, for any share between two.

    A depth is between those of its two sides, so the one of the two ends of the shares with the lower sum bounds it.

    IN: low, high (m,): shares; centers_left (m,). OUT: depths (m,).
    """
    sizes, parts, least = np.empty(k, dtype=np.int64), np.zeros((k + 1, 2), dtype=np.int64), np.zeros(k + 1)
    for i in range(len(low)):
        n_sizes = _split_in_proportion(centers_left[i], k, sizes, parts)
        for s in range(n_sizes - 1, -1, -1):
            m = sizes[s]
            left, right = least[parts[m, 0]], least[parts[m, 1]]
            at_low, at_high = low[i] * left + (1.0 - low[i]) * right, high[i] * left + (1.0 - high[i]) * right
            least[m] = 1.0 + min(at_low, at_high)
        depths[i] = least[k]


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
