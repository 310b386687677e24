"""The cut of a node with the least impurity of its two sides: by a walk along each sorted column, or from bins.

Impurity of a side is one of

* gini: the sum over pairs of rows of different clusters of the product of their weights, divided by the side's weight;
* centers: the same, with the squared distance between the centres of the two clusters as a factor; this is the sum of
  squares of the rows' centres around their mean;
* entropy: the entropy of the clusters times the side's weight, as f(n) - sum of f(n of each cluster), f(x) = x log2 x;
* rows: the sum of squares of the rows themselves around their mean.

When a row of cluster c and weight w moves from the right to the left, the pairs of the left grow by w times the weight
of other clusters there, and the pairs of the right shrink likewise. All sums are sums of whole numbers, so they are
exact in any order of rows with equal values. The score of a cut is computed from such sums by + - * / alone, so it is
the same on every processor.

Columns hold the entries of `loops.order`. A cut lies before a place `r`; of equal cuts the lowest column, then the
lowest place wins. Weights are whole numbers with a sum below 2**31 or so; an empty array weighs each row 1.

Sums over bins give the impurity of cuts at the ends of bins, and a lower bound for cuts inside. Only the rows of
candidate bins, in which a better cut may lie, are sorted and walked. So the cut is that of `best_by_gini`, in a
fraction of the time where there are many rows.

The bound: let a row of weight w and cluster c go from the right side to the left. Impurity, the pairs of rows of
different clusters over the rows, changes by w (s - p_c + q_c) at most and at least, where p and q are the shares of the
clusters on the left and on the right, and s is half the sum of p² less half the sum of q². These are bounded over all
sets of rows that may lie left of a cut in the bin. So a lower bound on a cut inside is the mean of the impurities at
both ends of the bin, less half the sum of the largest changes of its rows.

"""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for

NONE = np.iinfo(np.int64).max
LEEWAY = 1.0 + 1e-12  # covers rounding errors of comparisons without division, which only rule cuts out
LOW = 31  # bits of the low word of a sum of pairs
MASK = (1 << LOW) - 1
LOG_2 = 0.6931471805599453


@jit
def best_by_gini(entries, first, last, start, stop, labels, weights, total):
    """Return the least Gini impurity of a cut, its column and its place; the place is -1 if there is no cut.

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
    """Return the least entropy of a cut, as a whole number, its column and its place.

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
            on_left, on_right = left[c], total[c] - left[c]
            explained += _whole(on_left + w, table, scale) - _whole(on_left, table, scale)
            explained += _whole(on_right - w, table, scale) - _whole(on_right, table, scale)
            left[c] = on_left + w
            n_left += w
    return best, feature, place


@jit
def best_by_centers(entries, first, last, start, stop, labels, weights, total, number, squares):
    """Return the least sum of squares of a cut, between the rows' centres on each side, its column and its place.

    Takes time m for each run of rows of one cluster, as rows with the same centre add no squared distances.

    IN: as for `best_by_gini`, but total (m,) by the clusters of the node; number (k,): place of a cluster among these;
    squares (m, m): squared distances between their centres, whole numbers below 2**31.
    """
    best, feature, place, limit = np.inf, -1, -1, np.inf
    m, weight = len(total), np.int64(0)
    for c in range(m):
        weight += total[c]
    high, low, all_reach = pairs_of(total, squares)
    reach = np.empty(m, dtype=np.int64)  # to each centre, the sum of squared distances from the left rows' centres
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
    """Return the sum of squared distances between the centres of all pairs of rows, and for each centre the sum to it.

    The first sum comes in two words: the first times 2**31 plus the second. IN: total (m,); squares (m, m).
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
    """Return the largest sum of squares explained by a cut, with a minus sign, its column and its place.

    A side explains its weight times the squared distance from its mean to the mean of the node. Takes time d for each
    row.

    IN: entries, first, last, start, stop, weights: as for `best_by_gini`; table (n_rows, d): whole numbers;
    mean (d,): near the node's mean, whole numbers; total (d,): sum of the node's rows less `mean`; weight: their sum.
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
    """Return x log2 x times `scale`, rounded; read from `table` if x is in it.

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


def _of_clusters(entries, first, last, start, stop, labels, weights, total, *others):
    """Return the number of values that stand-ins have for each row of a node, column and cluster."""
    return (last - first) * (stop - start) * len(total)


def _of_column(entries, first, last, start, stop, labels, weights, total, *others):
    """Return the number of values that stand-ins have at once: those of one column."""
    return (stop - start) * len(total)


@stands_in_for(best_by_gini, _of_clusters, _of_column)
def _best_by_gini(entries, first, last, start, stop, labels, weights, total):
    def impurity(side):
        return (side * (side.cumsum(axis=0) - side)).sum(axis=0) / side.sum(axis=0)

    return _least(np.inf, (entries, first, last, start, stop), weights, _of_sides(labels, total, impurity))


@stands_in_for(best_by_entropy, _of_clusters, _of_column)
def _best_by_entropy(entries, first, last, start, stop, labels, weights, total, table, scale):
    def whole(x):
        is_known = x.max() < len(table)
        return table[x] if is_known else np.array([_whole(number, table, scale) for number in x.flat]).reshape(x.shape)

    def impurity(side):
        return whole(side.sum(axis=0)) - whole(side).sum(axis=0)

    return _least(NONE, (entries, first, last, start, stop), weights, _of_sides(labels, total, impurity))


@stands_in_for(best_by_centers, lambda *args: _of_clusters(*args) * len(args[7]), _of_column)  # each cluster with each
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
    """Return a function from cuts to the sums of the impurities of both sides, for `_least`."""

    def scores(rows, w, cuts):
        left = np.array([np.cumsum(np.where(clusters[rows] == c, w, 0))[cuts] for c in range(len(total))])
        return impurity(left) + impurity(total[:, None] - left)

    return scores


def _least(best, node, weights, scores):
    """Return the least score of a cut of a node, its column and its place; `best, -1, -1` if none is below `best`."""
    entries, first, last, start, stop = node
    best_cut = best, -1, -1
    for j in range(first, last):
        rows, cuts = entries[j, start:stop] >> 1, np.flatnonzero(entries[j, start + 1 : stop] & 1 == 0)
        if len(cuts):
            of_cuts = scores(rows, weights[rows] if len(weights) else np.ones(len(rows), dtype=np.int64), cuts)
            p = of_cuts.argmin()
            best_cut = min(best_cut, (of_cuts[p], j, start + 1 + cuts[p]))
    return best_cut


LESS = 1.0 - 1e-12


@jit
def add_clusters(rows, codes, first, labels, weights, sums):
    """Add the rows of a node to the bins of some columns: their weight by cluster, and their number.

    IN: rows (m,); codes (n, d); first: the first of the columns; labels (n,); weights (n,) or (0,): then each row
    weighs 1, and the number of rows is not counted. OUT: sums (n_columns, n_bins + 1, k + 1): bins begin at 1.
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
def best_at_ends(sums, is_weighted, least, is_forbidden, ends):
    """Accumulate the bins, and return the least impurity of a cut at the end of a bin, its column and the bin after it.

    The last two are -1 if there is no cut.

    IN: is_weighted; least: fewest rows of a side; is_forbidden (n_columns,): columns that may not be cut. IN and OUT:
    sums: see `add_clusters`; then cumulative sums over the bins. OUT: ends (n_columns, n_bins + 1): entry b is the
    impurity of the cut after the first b bins.
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
            is_cut = 0 < n_left < total[k] and sums[j, b + 1, k] > n_left and not is_forbidden[j]
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
def mark_candidates(sums, ends, limit, candidates):
    """Mark the bins of at least two rows in which the impurity of a cut may be at most `limit`.

    IN: sums (n_columns, n_bins + 1, k + 1), ends (n_columns, n_bins + 1): see `best_at_ends`; limit.
    OUT: candidates (n_columns, n_bins).
    """
    n_columns, n_bins = candidates.shape
    k = sums.shape[2] - 1
    for j in range(n_columns):
        total = sums[j, n_bins]
        for b in range(n_bins):
            left, after = sums[j, b], sums[j, b + 1]
            weight = np.int64(0)
            for c in range(k):
                weight += after[c] - left[c]
            sum_of_ends = (ends[j, b] + ends[j, b + 1]) * LESS
            is_candidate = after[k] - left[k] > 1 and (sum_of_ends - weight) * 0.5 <= limit * LEEWAY
            candidates[j, b] = is_candidate and (sum_of_ends - _change(left, after, total)) * 0.5 <= limit * LEEWAY


@jit
def _change(left, after, total):
    """Return an upper bound on the change of impurity by all rows of a bin."""
    k = len(total) - 1
    w_left, w_after, w_total = np.int64(0), np.int64(0), np.int64(0)
    for c in range(k):
        w_left += left[c]
        w_after += after[c]
        w_total += total[c]
    if w_left == 0 or w_after == w_total:
        return np.float64(w_after - w_left)  # a row changes the impurity by at most its weight
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
def find_rows(rows, codes, column, candidates, candidate_rows):
    """Write the rows of a node that lie in candidate bins of a column; return their number.

    IN: rows (m,); codes (n, d); column; candidates (n_bins,). OUT: candidate_rows (m,).
    """
    n_found = 0
    for row in rows:  # always written, as a branch would be mispredicted
        candidate_rows[n_found] = row
        n_found += np.int64(candidates[codes[row, column]])
    return n_found


@jit
def best_in_bins(rows, values, codes, column, labels, weights, sums, least, limit):
    """Return the least impurity of a cut inside a bin, the bin, and the position of the row after the cut, or -1.

    Cuts with more impurity than `limit` are ignored.

    IN: rows (m,): the rows of some bins, in ascending order of the column; values (m,): their values; codes (n, d);
    column; labels (n,); weights (n,) or (0,); sums (n_bins + 1, k + 1): see `best_at_ends`; least: fewest rows of a
    side; limit.
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
    """Return the largest value of a node before a bin, and the smallest value from that bin on.

    IN: X (n, d); rows (m,); codes (n, d); column; first: the bin.
    """
    largest, smallest = -np.inf, np.inf
    for row in rows:
        value, is_before = np.float64(X[row, column]), codes[row, column] < first
        largest = max(largest, value if is_before else largest)
        smallest = min(smallest, smallest if is_before else value)
    return largest, smallest


@jit
def partition_rows(X, rows, column, threshold, left, right):
    """Write the rows of a node to the sides of a cut; return the number of those on the left.

    IN: X (n, d); rows (m,); column; threshold. OUT: left, right (m,).
    """
    n_left, n_right = 0, 0
    for row in rows:  # written to both sides, as a branch would be mispredicted
        goes_left = np.int64(np.float64(X[row, column]) <= threshold)
        left[n_left], right[n_right] = row, row
        n_left += goes_left
        n_right += 1 - goes_left
    return n_left
