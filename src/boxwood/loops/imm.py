"""Counts of rows by cluster, column and bin, from which IMM chooses its cuts.

A bin is a run of neighbouring values of one column. Which values share a bin does not matter to the result; it only
has to hold that a larger value is never in a lower bin. Rows are sorted by cluster: position p of the sorted rows holds
row `order[p]`, whose bin in column j is `codes[j, p]`. Cluster c has the positions `first[c]` to `first[c + 1] - 1`::

    order   | rows of cluster 0 | rows of cluster 1 | ...
    codes_0 | 3 0 7 3 2 ...     | 9 9 8 ...         | ...      one byte each, column by column
    codes_1 | 1 1 4 0 2 ...     | 0 5 5 ...         | ...

Weights are whole numbers, so sums do not depend on the order of rows. An empty array of weights counts each row as 1.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Ints
from boxwood.loops._jit import jit, stands_in_for

__all__ = [
    "Binning",
    "SortedRows",
    "bin_block",
    "bin_cluster",
    "bin_points",
    "cut_bounds",
    "cut_off",
    "weight_in",
]


class Binning(NamedTuple):
    """How each column is cut into bins: see `bin_of`. All arrays are of shape (d,)."""

    low: Floats
    high: Floats
    scale: Floats


class SortedRows(NamedTuple):
    """The m rows that belong to clusters, sorted by cluster."""

    order: Array  # (m,) row at each position, int32 or int64
    codes: Array  # (d, m) bin of each value, uint8
    alive: Bools  # (m,) whether the row at a position still counts
    weights: Ints  # (m,) weight of the row at each position, or (0,)


@jit
def bin_of(x, low, high, scale, n_bins):
    """Return the bin of a value: 0 below `low`, then bins of width `1 / scale`, the last from exactly `high` on."""
    number = (x - low) * scale + 1.0
    if number < 0.0:
        number = 0.0
    if number > n_bins - 2.0:
        number = n_bins - 2.0
    if x >= high:
        number = n_bins - 1.0
    return np.int64(number)


@jit
def bin_points(points, low, high, scale, n_bins, codes):
    """Write the bins of points. IN: points (k, d); low, high, scale (d,); n_bins. OUT: codes (d, k)."""
    for j in range(points.shape[1]):
        for i in range(points.shape[0]):
            codes[j, i] = bin_of(points[i, j], low[j], high[j], scale[j], n_bins)


@jit
def bin_block(X, labels, weights, start, binning, next_free, order, codes, counts):
    """Bin a block of rows, write them at their positions, and count them.

    IN: X (n, d); labels (n,); weights (n,) or (0,); start: number of the block's first row; binning: Binning.
    IN and OUT: next_free (k,): next free position of each cluster; counts (d, k, n_bins).
    OUT: order (m,), codes (d, m): as in `SortedRows`.
    """
    low, high, scale = binning
    n, d = X.shape
    n_bins = counts.shape[2]
    positions = np.empty(n, dtype=np.int64)
    for row in range(n):
        cluster = labels[row]
        positions[row] = -1
        if cluster >= 0 and (weights.size == 0 or weights[row] > 0):
            positions[row] = next_free[cluster]
            order[next_free[cluster]] = start + row
            next_free[cluster] += 1
    tile = max(16, 4096 // d)  # values of a tile stay in the first cache while its columns are read one by one
    for begin in range(0, n, tile):
        end = min(begin + tile, n)
        for j in range(d):
            for row in range(begin, end):
                position = positions[row]
                if position >= 0:
                    code = bin_of(np.float64(X[row, j]), low[j], high[j], scale[j], n_bins)
                    codes[j, position] = code
                    counts[j, labels[row], code] += weights[row] if weights.size else 1


@stands_in_for(bin_block)
def _bin_block(X, labels, weights, start, binning, next_free, order, codes, counts):
    rows = np.flatnonzero((labels >= 0) & (weights > 0 if weights.size else True))
    rows = rows[labels[rows].argsort(kind="stable")]
    c, sizes = labels[rows], np.bincount(labels[rows], minlength=len(next_free))
    positions = np.arange(len(rows)) + np.repeat(next_free - (sizes.cumsum() - sizes), sizes)
    order[positions] = start + rows
    next_free += sizes
    for j in range(len(codes)):
        x, last = X[rows, j].astype(np.float64), counts.shape[2] - 1
        number = np.clip((x - binning.low[j]) * binning.scale[j] + 1.0, 0.0, last - 1.0)
        code = np.where(x >= binning.high[j], last, number).astype(np.int64)
        codes[j, positions] = code
        np.add.at(counts[j], (c, code), weights[rows] if weights.size else 1)


@jit
def bin_cluster(X, rows, cluster, start, stop, binning, counts):
    """Bin the rows of one cluster anew, at positions `start` to `stop - 1`; rows that are not alive are not counted.

    IN: X (n, d); cluster; start, stop; binning: Binning. IN and OUT: rows: SortedRows, whose codes are written;
    counts (d, k, n_bins), zero for this cluster before.
    """
    order, codes, alive, weights = rows
    low, high, scale = binning
    for position in range(start, stop):
        row = order[position]
        for j in range(X.shape[1]):
            code = bin_of(np.float64(X[row, j]), low[j], high[j], scale[j], counts.shape[2])
            codes[j, position] = code
            if alive[position]:
                counts[j, cluster, code] += weights[position] if weights.size else 1


@jit
def cut_bounds(counts, total, clusters, center_bins, after, bound):
    """For each column and bin, write the mistakes of a cut behind the bin, and a lower bound for cuts within it.

    A cluster whose centre lies left of the cut loses its rows on the right, and the other way round.

    IN: counts (d, k, n_bins); total (k,); clusters of the node; center_bins (d, clusters of the node).
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
def cut_off(X, rows, counts, total, clusters, is_left, first, j, threshold, threshold_bin, cut_rows):
    """Take the living rows that a cut separates from their centre out of the counts; return how many there are.

    IN: X (n, d); clusters, is_left (c,): clusters that may have such rows, and whether their centre is on the left;
    first (k + 1,): positions of the clusters; j: the column; threshold, threshold_bin. IN and OUT: rows: SortedRows, of
    which alive is changed; counts (d, k, n_bins); total (k,). OUT: cut_rows, long enough: the rows.
    """
    order, codes, alive, weights = rows
    n = 0
    for i in range(len(clusters)):
        cluster = clusters[i]
        for position in range(first[cluster], first[cluster + 1]):
            code = codes[j, position]
            left = code < threshold_bin
            if code == threshold_bin:
                left = np.float64(X[order[position], j]) <= threshold
            if left == is_left[i] or not alive[position]:
                continue
            weight = weights[position] if weights.size else 1
            alive[position] = False
            total[cluster] -= weight
            for column in range(codes.shape[0]):
                counts[column, cluster, codes[column, position]] -= weight
            cut_rows[n] = order[position]
            n += 1
    return n


@stands_in_for(cut_off)
def _cut_off(X, rows, counts, total, clusters, is_left, first, j, threshold, threshold_bin, cut_rows):
    order, codes, alive, weights = rows
    n = 0
    for i in range(len(clusters)):
        places = np.arange(first[clusters[i]], first[clusters[i] + 1])
        code = codes[j, places]
        up_to = (code == threshold_bin) & (X[order[places], j].astype(np.float64) <= threshold)
        gone = places[(((code < threshold_bin) | up_to) != is_left[i]) & alive[places]]
        weight = weights[gone] if weights.size else np.ones(len(gone), dtype=np.int64)
        alive[gone] = False
        total[clusters[i]] -= weight.sum()
        for column in range(len(codes)):
            np.subtract.at(counts[column, clusters[i]], codes[column, gone], weight)
        cut_rows[n : n + len(gone)] = order[gone]
        n += len(gone)
    return n


@jit
def weight_in(counts, clusters, wanted):
    """Return the weight of the rows of some clusters in wanted bins, in all columns together.

    IN: counts (d, k, n_bins); clusters (c,); wanted (d, n_bins).
    """
    weight = np.int64(0)
    for j in range(counts.shape[0]):
        for cluster in clusters:
            for code in range(counts.shape[2]):
                if wanted[j, code]:
                    weight += counts[j, cluster, code]
    return weight
