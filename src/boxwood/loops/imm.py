"""Counts of rows by cluster, column and bin, from which cuts are chosen.

A bin is a run of neighbouring values of one column. Which values share a bin does not matter to the result; it only
has to hold that a larger value is never in a lower bin. Rows are kept sorted by cluster: place p of the sorted rows is
row `order[p]`, its bin in column j is `codes[j, p]`, and cluster c has the places `first[c]` to `first[c + 1] - 1`::

    order   | rows of cluster 0 | rows of cluster 1 | ...
    codes_0 | 3 0 7 3 2 ...     | 9 9 8 ...         | ...      one byte each, column by column
    codes_1 | 1 1 4 0 2 ...     | 0 5 5 ...         | ...

Weights are whole numbers, so sums do not depend on the order of rows. An empty array of weights counts each row as 1.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = [
    "bin_block",
    "bin_cluster",
    "bin_points",
    "cut_bounds",
    "gather_bins",
    "gather_cut_off",
    "ranges",
    "subtract",
    "sweep",
]


@jit
def bin_of(x, low, high, scale, n_bins):
    """Return the bin of a value: 0 below `low`, then bins of width `1 / scale`, the last from exactly `high` on."""
    place = (x - low) * scale + 1.0
    if place < 0.0:
        place = 0.0
    if place > n_bins - 2.0:
        place = n_bins - 2.0
    if x >= high:
        place = n_bins - 1.0
    return np.uint8(place)


@jit
def bin_points(points, low, high, scale, n_bins, codes):
    """Write the bins of points (k, d). OUT: codes (d, k)."""
    for j in range(points.shape[1]):
        for i in range(points.shape[0]):
            codes[j, i] = bin_of(points[i, j], low[j], high[j], scale[j], n_bins)


@jit
def bin_block(X, labels, weights, start, low, high, scale, places, order, codes, counts):
    """Bin a block of rows, put them in their places, and count them.

    IN: X (n, d), labels (n,), weights (n,) or (0,), start: number of the block's first row; low, high, scale (d,).
    IN and OUT: places (k,): next free place of each cluster; counts (d, k, n_bins).
    OUT: order (m,), codes (d, m).
    """
    n, d = X.shape
    n_bins = counts.shape[2]
    place_of = np.empty(n, dtype=np.int64)
    for row in range(n):
        cluster = labels[row]
        place_of[row] = -1
        if cluster >= 0 and (weights.size == 0 or weights[row] > 0):
            place_of[row] = places[cluster]
            order[places[cluster]] = start + row
            places[cluster] += 1
    tile = max(16, 4096 // d)  # values of a tile stay in the first cache while its columns are read one by one
    for begin in range(0, n, tile):
        end = min(begin + tile, n)
        for j in range(d):
            for row in range(begin, end):
                place = place_of[row]
                if place >= 0:
                    code = bin_of(np.float64(X[row, j]), low[j], high[j], scale[j], n_bins)
                    codes[j, place] = code
                    counts[j, labels[row], code] += weights[row] if weights.size else 1


@jit
def bin_cluster(X, order, alive, weights, cluster, start, stop, low, high, scale, codes, counts):
    """Bin the rows of one cluster anew, at places `start` to `stop - 1`; rows that are not alive are not counted.

    IN: X, order, alive (m,), weights (m,) by place or (0,), low, high, scale (d,).
    OUT: codes, and counts, which must be zero for this cluster.
    """
    for place in range(start, stop):
        row = order[place]
        for j in range(X.shape[1]):
            code = bin_of(np.float64(X[row, j]), low[j], high[j], scale[j], counts.shape[2])
            codes[j, place] = code
            if alive[place]:
                counts[j, cluster, code] += weights[place] if weights.size else 1


@jit
def cut_bounds(counts, total, clusters, center_bins, after, bound):
    """For each column and bin: mistakes of a cut behind the bin, and a lower bound for cuts within it.

    A cluster whose centre lies left of the cut loses its rows on the right, and the other way round.

    IN: counts (d, k, n_bins), total (k,), clusters of the node, center_bins (d, clusters of the node).
    OUT: after, bound (d, n_bins).
    """
    for j in range(counts.shape[0]):
        after[j] = 0
        bound[j] = 0
        for i in range(len(clusters)):
            cluster = clusters[i]
            left = 0
            for code in range(counts.shape[2]):
                before = left
                left += counts[j, cluster, code]
                right = total[cluster] - left
                if code < center_bins[j, i]:
                    after[j, code] += left
                    bound[j, code] += before
                else:
                    after[j, code] += right
                    bound[j, code] += min(before, right) if code == center_bins[j, i] else right


@jit
def gather_bins(codes_j, alive, starts, stops, wanted, found, n_found):
    """Write the living places of some clusters whose bin is wanted, cluster by cluster, and how many each has.

    IN: codes_j (m,), alive (m,); starts, stops (clusters,): places of the clusters; wanted (n_bins,).
    OUT: found, long enough; n_found (clusters,).
    """
    n = 0
    for i in range(len(starts)):
        before = n
        for place in range(starts[i], stops[i]):
            if wanted[codes_j[place]] and alive[place]:
                found[n] = place
                n += 1
        n_found[i] = n - before


@jit
def gather_cut_off(X, j, order, codes_j, alive, start, stop, threshold, threshold_bin, center_is_left, found, n_found):
    """Append the living places from `start` to `stop - 1` whose row lies on the other side of the cut than its centre.

    IN: everything but found. IN and OUT: found, long enough, with n_found places in it. Returns the new n_found.
    """
    for place in range(start, stop):
        code = codes_j[place]
        is_left = code < threshold_bin
        if code == threshold_bin:
            is_left = np.float64(X[order[place], j]) <= threshold
        if is_left != center_is_left and alive[place]:
            found[n_found] = place
            n_found += 1
    return n_found


@jit
def subtract(places, cluster, weights, codes, alive, counts, total):
    """Take rows of one cluster out of the counts. OUT: alive, counts, total."""
    for place in places:
        weight = weights[place] if weights.size else 1
        alive[place] = False
        total[cluster] -= weight
        for j in range(codes.shape[0]):
            counts[j, cluster, codes[j, place]] -= weight


@jit
def ranges(values, codes, low, high):
    """Widen the range of each bin by its values. IN: values, codes (m,). IN and OUT: low, high (n_bins,)."""
    for i in range(len(values)):
        low[codes[i]] = min(low[codes[i]], values[i])
        high[codes[i]] = max(high[codes[i]], values[i])


@jit
def sweep(values, kinds, clusters, weights, codes, start, left, total, is_left, low, high, at_marks):
    """Return the fewest mistakes of a cut just right of one of the sorted values, and the first such value.

    Events are sorted by value; kind 0 is a row, 1 a centre, 2 a mark. A cut is tried behind every value with
    `low <= value < high`, or only at marks. Bins that hold events may have gaps between them; at the first event of a
    bin the count starts anew.

    IN: values, kinds, clusters, weights, codes (e,); start (n_bins,): mistakes of a cut before each bin; total (k,).
    IN and changed: left (n_bins, k): weight of each cluster before each bin; is_left (n_bins, k): whether its centre
    lies before the bin.
    """
    best, best_at = np.int64(-1), -1
    mistakes = np.int64(0)
    n = len(values)
    for e in range(n):
        code, cluster = codes[e], clusters[e]
        if e == 0 or code != codes[e - 1]:
            mistakes = start[code]
        if kinds[e] == 0:
            left[code, cluster] += weights[e]
            mistakes += -weights[e] if is_left[code, cluster] else weights[e]
        elif kinds[e] == 1:
            is_left[code, cluster] = True
            mistakes += total[cluster] - 2 * left[code, cluster]
        if e + 1 < n and values[e + 1] == values[e]:
            continue
        tried = kinds[e] == 2 if at_marks else low <= values[e] < high
        if tried and (best < 0 or mistakes < best):
            best, best_at = mistakes, e
    return best, best_at
