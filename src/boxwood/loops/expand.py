"""The best cut of one column when each side goes to one cluster, from the costs of the rows under every cluster.

Costs may be squared distances, mistakes, or distances in a kernel's space. They are whole numbers, so running totals
are exact: equal costs are truly equal, and the result depends neither on the order of rows with equal values nor on
the number of threads.

The rows of a node are walked in the order of their values. A row's position in this order is its rank. A cut may lie
only between two different values::

    rank     0    1    2    3    4    5          ordered[r]  value at rank r, ascending
    value   1.0  1.0  2.5  2.5  3.0  7.0         order[r]    row of `costs` at rank r
                     ^         ^    ^            cuts behind ranks 1, 3, 4
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["best_interval", "best_threshold", "squared_distance", "squared_distances"]

NONE = np.iinfo(np.int64).max


@jit
def squared_distances(X, centers, scale, out):
    """Write the squared distance of each row to each centre, in squared units of `2 / scale`.

    IN: X (n, d); centers (d, k): one column for each centre; scale. OUT: out (n, k).
    """
    for row in range(X.shape[0]):
        for cluster in range(centers.shape[1]):
            out[row, cluster] = 0.0
        for j in range(X.shape[1]):
            x = np.float64(X[row, j]) * 0.5  # half of each, as the difference of two finite values may overflow
            for cluster in range(centers.shape[1]):
                difference = (x - centers[j, cluster] * 0.5) * scale
                out[row, cluster] += difference * difference


@jit
def squared_distance(X, rows, centers, clusters, scale, out):
    """Write the squared distance of some rows, each to a centre of its own, in the units of `squared_distances`.

    Four rows are taken at once, so that no sum waits for its own last step.

    IN: X (n, d); rows (m,); centers (k, d); clusters (m,): the centre for each of the rows; scale. OUT: out (m,).
    """
    fours = len(rows) - len(rows) % 4
    for i in range(0, fours, 4):
        p, q, r, s = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        a, b, c, d = clusters[i], clusters[i + 1], clusters[i + 2], clusters[i + 3]
        sum_p, sum_q, sum_r, sum_s = 0.0, 0.0, 0.0, 0.0
        for j in range(X.shape[1]):
            sum_p += _squared(X[p, j], centers[a, j], scale)
            sum_q += _squared(X[q, j], centers[b, j], scale)
            sum_r += _squared(X[r, j], centers[c, j], scale)
            sum_s += _squared(X[s, j], centers[d, j], scale)
        out[i], out[i + 1], out[i + 2], out[i + 3] = sum_p, sum_q, sum_r, sum_s
    for i in range(fours, len(rows)):
        total = 0.0
        for j in range(X.shape[1]):
            total += _squared(X[rows[i], j], centers[clusters[i], j], scale)
        out[i] = total


@jit
def _squared(x, center, scale):
    difference = (np.float64(x) * 0.5 - center * 0.5) * scale
    return difference * difference


@jit
def best_threshold(ordered, order, costs, total):
    """Return the lowest cost of a cut into two sides, the rank behind which it lies, and the clusters of the sides.

    Among equal costs the first rank wins, then the lowest cluster of the first side, then of the second. The rank is -1
    where all values are equal. Takes time n k.

    IN: ordered (n,); order (n,); costs (n, k); total (k,): sum of the costs.
    """
    n, k = costs.shape
    best, rank, first, second = NONE, -1, -1, -1
    left = np.zeros(k, dtype=np.int64)
    for r in range(n - 1):
        row = order[r]
        for cluster in range(k):
            left[cluster] += costs[row, cluster]
        if ordered[r + 1] == ordered[r]:
            continue
        a, b = 0, 0
        for cluster in range(1, k):
            if left[cluster] < left[a]:
                a = cluster
            if total[cluster] - left[cluster] < total[b] - left[b]:
                b = cluster
        cost = left[a] + total[b] - left[b]
        if cost < best:
            best, rank, first, second = cost, r, a, b
    return best, rank, first, second


@jit
def best_interval(ordered, order, costs, total, from_cluster, to_cluster):
    """Return the lowest cost of an inner interval, its first and last rank, and the clusters inside and outside.

    With cluster j inside and cluster l outside, the cost is `total[l]` plus the sum inside of
    `costs[:, j] - costs[:, l]`, so the best interval is a run of values with the smallest sum. A run that touches the
    first or the last value is a threshold cut, which is left to `best_threshold`. Among equal costs the first start
    wins, then the first end, then the lowest j, then the lowest l. Ranks are -1 where fewer than three values differ.

    Clusters j from `from_cluster` to `to_cluster - 1` are tried. All k together take time n (k + k²), at most.

    IN: as `best_threshold`, and from_cluster, to_cluster.
    """
    k = len(total)
    best, start, end, inside, outside = NONE, -1, -1, -1, -1
    begin, stop = _inner_ranks(ordered)
    group = np.zeros(k, dtype=np.int64)  # costs of the rows that share one value
    run = np.ones((k, k), dtype=np.int64)  # smallest sum of a run that ends here; a positive one is dropped
    run_start = np.zeros((k, k), dtype=np.int64)
    group_start = begin
    for r in range(begin, stop):
        for cluster in range(k):
            group[cluster] += costs[order[r], cluster]
        if ordered[r + 1] == ordered[r]:
            continue
        for j in range(from_cluster, to_cluster):
            for other in range(k):
                if run[j, other] > 0:  # a sum of zero is kept: the cost is the same and the start is earlier
                    run[j, other] = 0
                    run_start[j, other] = group_start
                run[j, other] += group[j] - group[other]
                cost = total[other] + run[j, other]
                if cost < best or (cost == best and run_start[j, other] < start):
                    best, start, end, inside, outside = cost, run_start[j, other], r, j, other
        group[:] = 0
        group_start = r + 1
    return best, start, end, inside, outside


@jit
def _inner_ranks(ordered):
    """Return the first rank behind the lowest value, and the first rank of the highest value."""
    begin, stop = 0, len(ordered) - 1
    while begin < len(ordered) and ordered[begin] == ordered[0]:
        begin += 1
    while stop > 0 and ordered[stop - 1] == ordered[-1]:
        stop -= 1
    return begin, stop
