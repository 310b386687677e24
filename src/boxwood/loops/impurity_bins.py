"""The cut of a node that leaves least impurity by gini on its two sides, from the bins of its columns.

Sums over bins give the impurity of cuts at the ends of bins, and bound that of the cuts inside. Only the rows of bins
in which a better cut may lie are sorted and walked. So the cut is the one that `loops.impurity.best_by_gini` finds, in
a fraction of the time where there are many rows.

The bound: let a row of weight w and cluster c go from the right side to the left. Impurity, the pairs of rows of
different clusters over the rows, changes by w (s - p_c + q_c) at most and at least, where p and q are the shares of the
clusters on the left and on the right, and s is half the sum of p² less half that of q². These are bounded over all that
may lie left of a cut in the bin. So no cut inside has less than the mean of the impurities at both ends of the bin,
less half of the largest changes of all its rows.

Sums are of whole numbers; see `loops.impurity`, also for what ties go to.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_clusters", "best_in_bins", "find_rows", "look_at_ends", "mark_near", "part_rows", "values_beside"]

LEEWAY = 1.0 + 1e-12  # above the errors of a comparison without division, which only rules cuts out
LESS = 1.0 - 1e-12


@jit
def add_clusters(rows, codes, first, labels, weights, sums):
    """Add the rows of a node to the bins of some columns: their weight by cluster, and their number.

    IN: rows (m,); codes (n, d); first: the first of the columns; labels (n,); weights (n,) or (0,): then each row
    weighs 1, and numbers are left out. OUT: sums (n_columns, n_bins + 1, k + 1): bins begin at 1.
    """
    n_columns, k = sums.shape[0], sums.shape[2] - 1
    for row in rows:
        c = labels[row]
        if len(weights):
            for j in range(n_columns):
                code = codes[row, first + j] + 1
                sums[j, code, c] += weights[row]
                sums[j, code, k] += 1
        else:
            for j in range(n_columns):
                sums[j, codes[row, first + j] + 1, c] += 1


@jit
def look_at_ends(sums, is_weighted, least, barred, ends):
    """Sum up the bins, and return the least impurity of a cut at the end of a bin, its column and the bin after it.

    The last two are -1 without a cut.

    IN: is_weighted; least: rows on a side, at least; barred (n_columns,): columns without a cut. IN and OUT: sums: see
    `add_clusters`, then over all bins up to each. OUT: ends (n_columns, n_bins + 1): the impurity of the cut after so
    many bins.
    """
    best, feature, place = np.inf, -1, -1
    n_columns, n_ends, k = sums.shape[0], sums.shape[1], sums.shape[2] - 1
    for j in range(n_columns):
        total = sums[j, n_ends - 1]
        for b in range(n_ends):
            if not is_weighted:
                for c in range(k):
                    sums[j, b, k] += sums[j, b, c]
            if b > 0:
                for c in range(k + 1):
                    sums[j, b, c] += sums[j, b - 1, c]
        for b in range(n_ends):
            ends[j, b] = _impurity(sums[j, b], total)
            n_left = sums[j, b, k]
            is_cut = 0 < n_left < total[k] and sums[j, b + 1, k] > n_left and not barred[j]
            if is_cut and n_left >= least and total[k] - n_left >= least and ends[j, b] < best:
                best, feature, place = ends[j, b], j, b
    return best, feature, place


@jit
def _impurity(left, total):
    """Return the impurity of both sides of a cut. IN: left, total (k + 1,): see `add_clusters`."""
    n_left, n_right = np.int64(0), np.int64(0)
    pairs_left, pairs_right = np.int64(0), np.int64(0)
    for c in range(len(total) - 1):
        right = total[c] - left[c]
        pairs_left += n_left * left[c]
        pairs_right += n_right * right
        n_left += left[c]
        n_right += right
    if n_left == 0:
        return pairs_right / np.float64(n_right)
    if n_right == 0:
        return pairs_left / np.float64(n_left)
    return pairs_left / np.float64(n_left) + pairs_right / np.float64(n_right)


@jit
def mark_near(sums, ends, limit, near):
    """Mark the bins in which a cut may lie that has no more impurity than a limit, and at least two rows.

    IN: sums (n_columns, n_bins + 1, k + 1), ends (n_columns, n_bins + 1): see `look_at_ends`; limit.
    OUT: near (n_columns, n_bins).
    """
    n_columns, n_bins = near.shape
    k = sums.shape[2] - 1
    for j in range(n_columns):
        total = sums[j, n_bins]
        for b in range(n_bins):
            left, after = sums[j, b], sums[j, b + 1]
            weight = np.int64(0)
            for c in range(k):
                weight += after[c] - left[c]
            sum_of_ends = (ends[j, b] + ends[j, b + 1]) * LESS
            is_near = after[k] - left[k] > 1 and (sum_of_ends - weight) * 0.5 <= limit * LEEWAY
            near[j, b] = is_near and (sum_of_ends - _change(left, after, total)) * 0.5 <= limit * LEEWAY


@jit
def _change(left, after, total):
    """Return the most by which the rows of a bin can change the impurity together."""
    k = len(total) - 1
    w_left, w_after, w_total = np.int64(0), np.int64(0), np.int64(0)
    for c in range(k):
        w_left += left[c]
        w_after += after[c]
        w_total += total[c]
    if w_left == 0 or w_after == w_total:
        return np.float64(w_after - w_left)  # the change of no row is larger than its weight
    low, high = 0.0, 0.0  # bounds of s
    for c in range(k):
        p_low, p_high = left[c] / w_after, min(after[c] / w_left, 1.0)
        q_low, q_high = (total[c] - after[c]) / (w_total - w_left), (total[c] - left[c]) / (w_total - w_after)
        q_high = min(q_high, 1.0)
        low += 0.5 * (p_low * p_low - q_high * q_high)
        high += 0.5 * (p_high * p_high - q_low * q_low)
    most = 0.0
    for c in range(k):
        p_low, p_high = left[c] / w_after, min(after[c] / w_left, 1.0)
        q_low, q_high = (total[c] - after[c]) / (w_total - w_left), (total[c] - left[c]) / (w_total - w_after)
        largest = max(high - p_low + min(q_high, 1.0), p_high - q_low - low)
        most += (after[c] - left[c]) * min(largest, 1.0)
    return most * LEEWAY


@jit
def find_rows(rows, codes, column, near, found):
    """Write the rows of a node that lie in bins of a column that are near; return their number.

    IN: rows (m,); codes (n, d); column; near (n_bins,). OUT: found (m,).
    """
    n_found = 0
    for row in rows:  # each is written, as a branch would be guessed wrongly
        found[n_found] = row
        n_found += np.int64(near[codes[row, column]])
    return n_found


@jit
def best_in_bins(rows, values, codes, column, labels, weights, sums, least, limit):
    """Return the least impurity of a cut inside a bin, the bin, and the number of the row after the cut, or -1.

    Cuts with more impurity than a limit are not looked at.

    IN: rows (m,): those of some bins, in ascending order of the column; values (m,): theirs; codes (n, d); column;
    labels (n,); weights (n,) or (0,); sums (n_bins + 1, k + 1): those of `look_at_ends`; least: rows on a side, at
    least; limit.
    """
    best, place, number = np.inf, -1, -1
    k, total = sums.shape[1] - 1, sums[-1]
    limit *= LEEWAY
    left, current, n_rows = np.empty(k, dtype=np.int64), -1, np.int64(0)
    n_left, n_right, pairs_left, pairs_right = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(rows)):
        row, code = rows[i], np.int64(codes[rows[i], column])
        if code != current:
            current, n_rows = code, sums[code, k]
            n_left, n_right, pairs_left, pairs_right = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for c in range(k):
                left[c] = sums[code, c]
                right = total[c] - left[c]
                pairs_left += n_left * left[c]
                pairs_right += n_right * right
                n_left += left[c]
                n_right += right
        elif values[i] != values[i - 1] and n_rows >= least and total[k] - n_rows >= least:
            a, b = np.float64(n_left), np.float64(n_right)
            if pairs_left * b + pairs_right * a <= limit * (a * b):
                score = pairs_left / a + pairs_right / b
                if score < best:
                    best, place, number, limit = score, code, i, score * LEEWAY
        c = labels[row]
        w = weights[row] if len(weights) else np.int64(1)
        pairs_left += w * (n_left - left[c])
        pairs_right -= w * (n_right - (total[c] - left[c]))
        left[c] += w
        n_left += w
        n_right -= w
        n_rows += 1
    return best, place, number


@jit
def values_beside(X, rows, codes, column, first):
    """Return the largest value of a node before a bin, and the smallest from there on.

    IN: X (n, d); rows (m,); codes (n, d); column; first: the bin.
    """
    largest, smallest = -np.inf, np.inf
    for row in rows:
        value, is_before = np.float64(X[row, column]), codes[row, column] < first
        largest = max(largest, value if is_before else largest)
        smallest = min(smallest, smallest if is_before else value)
    return largest, smallest


@jit
def part_rows(X, rows, column, threshold, left, right):
    """Write the rows of a node to the sides of a cut; return the number of those on the left.

    IN: X (n, d); rows (m,); column; threshold. OUT: left, right (m,).
    """
    n_left, n_right = 0, 0
    for row in rows:  # each is written to both sides, as a branch would be guessed wrongly
        goes_left = np.int64(np.float64(X[row, column]) <= threshold)
        left[n_left], right[n_right] = row, row
        n_left += goes_left
        n_right += 1 - goes_left
    return n_left
