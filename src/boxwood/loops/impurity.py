"""The cut of a node that leaves least impurity on its two sides, in one walk along each column.

Impurity of a side is one of

* gini: the sum over pairs of rows of different clusters of the product of their weights, divided by the side's weight;
* centers: the same, with the squared distance between the centres of the two clusters as a factor; this is the sum of
  squares of the rows' centres around their mean;
* entropy: the entropy of the clusters times the side's weight, as f(n) - sum of f(n of each cluster), f(x) = x log2 x;
* rows: the sum of squares of the rows themselves around their mean.

When a row of cluster c and weight w goes from the right to the left, the pairs of the left grow by w times the weight
of other clusters there, and those of the right shrink alike. All sums are of whole numbers, so they are exact, whatever
the order of rows with equal values. What a cut is compared by is a function of such sums alone, of + - * / and nothing
else, so it is the same on every processor.

Entries of the columns are those of `loops.order`. A cut lies before a place `r`; the lowest column, then the lowest
place wins among equals. Weights are whole numbers with a sum below 2**31 or so; an empty array weighs each row 1.
"""

import numpy as np

from boxwood.loops._jit import jit, stands_in_for

__all__ = ["best_by_centers", "best_by_entropy", "best_by_gini", "best_by_rows", "pairs_of", "whole_x_log_x"]

NONE = np.iinfo(np.int64).max
LEEWAY = 1.0 + 1e-12  # above the errors of a comparison without division, which only rules cuts out
LOW = 31  # bits of the lower part of a sum of pairs
MASK = (1 << LOW) - 1
LOG_2 = 0.6931471805599453


@jit
def best_by_gini(entries, first, last, start, stop, labels, weights, total):
    """Return the least impurity by gini of the sides of a cut, its column and its place; the place is -1 without a cut.

    IN: entries (d, n); first, last: the columns; start, stop: the places of the node; labels (n_rows,);
    weights (n_rows,) or (0,); total (k,): weight of the node's rows of each cluster.
    """
    best, feature, place, limit = np.inf, -1, -1, np.inf
    weight, pairs = np.int64(0), np.int64(0)
    for c in range(len(total)):
        pairs += weight * total[c]
        weight += total[c]
    left = np.empty(len(total), dtype=np.int64)
    for j in range(first, last):
        column = entries[j]
        left[:] = 0
        n_left, n_right, pairs_left, pairs_right = np.int64(0), weight, np.int64(0), pairs
        for r in range(start, stop):
            entry = column[r]
            if entry & 1 == 0 and r > start:
                a, b = np.float64(n_left), np.float64(n_right)
                if pairs_left * b + pairs_right * a < limit * (a * b):
                    score = pairs_left / a + pairs_right / b
                    if score < best:
                        best, feature, place, limit = score, j, r, score * LEEWAY
            row = entry >> 1
            c = labels[row]
            w = weights[row] if len(weights) else np.int64(1)
            pairs_left += w * (n_left - left[c])
            pairs_right -= w * (n_right - (total[c] - left[c]))
            left[c] += w
            n_left += w
            n_right -= w
    return best, feature, place


@jit
def best_by_entropy(entries, first, last, start, stop, labels, weights, total, table, scale):
    """Return the least impurity by entropy of the sides of a cut, a whole number, its column and its place.

    IN: as for `best_by_gini`; table, scale: see `whole_x_log_x`.
    """
    best, feature, place = NONE, -1, -1
    weight, sum_total = np.int64(0), np.int64(0)
    for c in range(len(total)):
        weight += total[c]
        sum_total += _whole(total[c], table, scale)
    left = np.empty(len(total), dtype=np.int64)
    for j in range(first, last):
        column = entries[j]
        left[:] = 0
        n_left, explained = np.int64(0), sum_total  # the sum of f over the clusters of both sides
        for r in range(start, stop):
            entry = column[r]
            if entry & 1 == 0 and r > start:
                score = _whole(n_left, table, scale) + _whole(weight - n_left, table, scale) - explained
                if score < best:
                    best, feature, place = score, j, r
            row = entry >> 1
            c = labels[row]
            w = weights[row] if len(weights) else np.int64(1)
            here, there = left[c], total[c] - left[c]
            explained += _whole(here + w, table, scale) - _whole(here, table, scale)
            explained += _whole(there - w, table, scale) - _whole(there, table, scale)
            left[c] = here + w
            n_left += w
    return best, feature, place


@jit
def best_by_centers(entries, first, last, start, stop, labels, weights, total, number, squares):
    """Return the least sum of squares of the rows' centres within the sides of a cut, its column and its place.

    Takes time m for each run of rows of one cluster: `reach` changes only there, and no row is far from its own centre.

    IN: as for `best_by_gini`, but total (m,) by the clusters of the node; number (k,): place of a cluster among these;
    squares (m, m): squared distances between their centres, whole numbers below 2**31.
    """
    best, feature, place, limit = np.inf, -1, -1, np.inf
    m, weight = len(total), np.int64(0)
    for c in range(m):
        weight += total[c]
    high, low, all_reach = pairs_of(total, squares)
    reach = np.empty(m, dtype=np.int64)  # sum over the left rows of the squares to each centre
    for j in range(first, last):
        column = entries[j]
        reach[:] = 0
        n_left, run, run_weight = np.int64(0), -1, np.int64(0)
        to_left, to_right = np.int64(0), np.int64(0)
        high_left, low_left, high_right, low_right = np.int64(0), np.int64(0), high, low
        for r in range(start, stop):
            entry = column[r]
            if entry & 1 == 0 and r > start:
                a, b = np.float64(n_left), np.float64(weight - n_left)
                pairs_left = np.float64(high_left + (low_left >> LOW)) * (MASK + 1.0) + np.float64(low_left & MASK)
                pairs_right = np.float64(high_right + (low_right >> LOW)) * (MASK + 1.0) + np.float64(low_right & MASK)
                if pairs_left * b + pairs_right * a < limit * (a * b):
                    score = pairs_left / a + pairs_right / b
                    if score < best:
                        best, feature, place, limit = score, j, r, score * LEEWAY
            row = entry >> 1
            c = number[labels[row]]
            w = weights[row] if len(weights) else np.int64(1)
            if c != run:
                if run >= 0:
                    of_run = squares[run]
                    for i in range(m):
                        reach[i] += run_weight * of_run[i]
                run, run_weight, to_left, to_right = c, np.int64(0), reach[c], all_reach[c] - reach[c]
            run_weight += w
            n_left += w
            high_left += w * (to_left >> LOW)
            low_left += w * (to_left & MASK)
            high_right -= w * (to_right >> LOW)
            low_right -= w * (to_right & MASK)
    return best, feature, place


@jit
def pairs_of(total, squares):
    """Return the sum over pairs of rows of the squares between their centres, in two parts, and each cluster's share.

    The sum is the first part times 2**31 plus the second. IN: total (m,); squares (m, m).
    """
    reach = np.zeros(len(total), dtype=np.int64)
    high, low = np.int64(0), np.int64(0)
    for c in range(len(total)):
        high += total[c] * (reach[c] >> LOW)
        low += total[c] * (reach[c] & MASK)
        high, low = high + (low >> LOW), low & MASK
        for i in range(len(total)):
            reach[i] += total[c] * squares[c, i]
    return high, low, reach


@jit
def best_by_rows(entries, first, last, start, stop, table, weights, mean, total, weight):
    """Return the largest sum of squares that a cut explains, with a minus sign, its column and its place.

    What the sides explain is the sum, over both, of the weight times the squared distance of the mean to that of the
    node. Takes time d for each row.

    IN: entries, first, last, start, stop, weights: as for `best_by_gini`; table (n_rows, d): whole numbers;
    mean (d,): near that of the node, whole numbers; total (d,): sum of the node's rows less `mean`; weight: their own.
    """
    best, feature, place = np.inf, -1, -1
    d = len(mean)
    left = np.empty(d, dtype=np.int64)
    for j in range(first, last):
        column = entries[j]
        left[:] = 0
        n_left = np.int64(0)
        for r in range(start, stop):
            entry = column[r]
            if entry & 1 == 0 and r > start:
                share, squares = n_left / weight, 0.0
                for i in range(d):
                    difference = left[i] - total[i] * share
                    squares += difference * difference
                score = -squares / (share * (weight - n_left))
                if score < best:
                    best, feature, place = score, j, r
            row = entry >> 1
            w = weights[row] if len(weights) else np.int64(1)
            for i in range(d):
                left[i] += w * (table[row, i] - mean[i])
            n_left += w
    return best, feature, place


@jit
def whole_x_log_x(first, last, scale):
    """Return x log2 x times `scale`, rounded, for the whole numbers from `first` to `last - 1`."""
    no_table = np.empty(0, dtype=np.int64)
    values = np.empty(last - first, dtype=np.int64)
    for x in range(first, last):
        values[x - first] = _whole(x, no_table, scale)
    return values


@jit
def _whole(x, table, scale):
    """Return x log2 x times `scale`, rounded; from the table as far as it goes.

    A logarithm of the standard library differs in its last digit from processor to processor; this series does not:
    log m = 2 (z + z³/3 + z⁵/5 + …) with z = (m - 1) / (m + 1).
    """
    if x < len(table):
        return table[x]
    if x < 2:
        return np.int64(0)
    exponent, m = 0, np.float64(x)
    while m > 1.4142135623730951:
        m *= 0.5
        exponent += 1
    z = (m - 1.0) / (m + 1.0)
    square = z * z
    term, series = 1.0, 0.0
    for i in range(11):
        series += term / (2 * i + 1)
        term *= square
    return np.int64(np.rint(x * (exponent + 2.0 * z * series / LOG_2) * scale))


@stands_in_for(best_by_gini)
def _best_by_gini(entries, first, last, start, stop, labels, weights, total):
    def impurity(side):
        return (side * (side.cumsum(axis=0) - side)).sum(axis=0) / side.sum(axis=0)

    return _least(np.inf, (entries, first, last, start, stop), weights, _of_sides(labels, total, impurity))


@stands_in_for(best_by_entropy)
def _best_by_entropy(entries, first, last, start, stop, labels, weights, total, table, scale):
    def whole(x):
        is_known = x.max() < len(table)
        return table[x] if is_known else np.array([_whole(each, table, scale) for each in x.flat]).reshape(x.shape)

    def impurity(side):
        return whole(side.sum(axis=0)) - whole(side).sum(axis=0)

    return _least(NONE, (entries, first, last, start, stop), weights, _of_sides(labels, total, impurity))


@stands_in_for(best_by_centers)
def _best_by_centers(entries, first, last, start, stop, labels, weights, total, number, squares):
    def impurity(side):
        high, low, reach = np.int64(0), np.int64(0), np.zeros_like(side)
        for c in range(len(side)):
            high, low = high + side[c] * (reach[c] >> LOW), low + side[c] * (reach[c] & MASK)
            reach += np.multiply.outer(squares[c], side[c])
        return ((high + (low >> LOW)) * (MASK + 1.0) + (low & MASK)) / side.sum(axis=0)

    clusters = number.take(labels, mode="clip")  # rows of other nodes may have any label
    return _least(np.inf, (entries, first, last, start, stop), weights, _of_sides(clusters, total, impurity))


@stands_in_for(best_by_rows)
def _best_by_rows(entries, first, last, start, stop, table, weights, mean, total, weight):
    def scores(rows, w, cuts):
        left, n_left = (w[:, None] * (table[rows] - mean)).cumsum(axis=0)[cuts], w.cumsum()[cuts]
        share, squares = n_left / weight, np.zeros(len(cuts))
        for i in range(len(mean)):
            difference = left[:, i] - total[i] * share
            squares += difference * difference
        return -squares / (share * (weight - n_left))

    return _least(np.inf, (entries, first, last, start, stop), weights, scores)


def _of_sides(clusters, total, impurity):
    """Return a function of cuts, behind some of the rows, that adds up the impurity of both sides (k, cuts)."""

    def scores(rows, w, cuts):
        left = np.array([np.cumsum(np.where(clusters[rows] == c, w, 0))[cuts] for c in range(len(total))])
        return impurity(left) + impurity(total[:, None] - left)

    return scores


def _least(best, node, weights, scores):
    """Return the least score of a cut of a node, if it is below `best`, its column and its place."""
    entries, first, last, start, stop = node
    found = best, -1, -1
    for j in range(first, last):
        rows, cuts = entries[j, start:stop] >> 1, np.flatnonzero(entries[j, start + 1 : stop] & 1 == 0)
        if len(cuts):
            of_cuts = scores(rows, weights[rows] if len(weights) else np.ones(len(rows), dtype=np.int64), cuts)
            p = of_cuts.argmin()
            found = min(found, (of_cuts[p], j, start + 1 + cuts[p]))
    return found
