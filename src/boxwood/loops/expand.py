"""The best cut of one column if each side goes to one cluster, and the best two cuts, one below the other.

Costs may be squared distances, mistakes, or distances in a kernel's space. They are whole numbers, so running totals
are exact: equal costs are truly equal, and the result depends neither on the order of rows with equal values nor on
the number of threads.

The rows of a node are walked in the order of their values. A row's position in this order is its rank. A cut may lie
only between two different values::

    rank     0    1    2    3    4    5          ordered[r]  value at rank r, ascending
    value   1.0  1.0  2.5  2.5  3.0  7.0         order[r]    row of `costs` at rank r
                     ^         ^    ^            cuts behind ranks 1, 3, 4

A bin is a run of neighbouring values of a column. A first cut has a run of bins of one column inside. A second cut
splits the rows inside, or the rows outside, along another column or the same one::

                 second column, b bins            cells[i, p, c]: cost under cluster c of the rows
                +----+----+----+----+             in bin i of the first column and bin p of the second
    first       |    |    |    |    |  outside
    column,     +----+----+----+----+             sums[i]: cells summed over the bins before i, so that
    a bins      |    |    |    |    |  inside     a run of bins is a difference of two of them
                |    |    |    |    |  inside
                +----+----+----+----+
"""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for

NONE = np.iinfo(np.int64).max
CODES = 1024  # bins of the values of a column
BLOCK = 16  # rows between places at which all clusters are compared


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


@stands_in_for(squared_distances)
def _squared_distances(X, centers, scale, out):
    out[:] = 0.0
    for j in range(X.shape[1]):
        difference = (X[:, j, None].astype(np.float64) * 0.5 - centers[j] * 0.5) * scale
        out += difference * difference


@jit
def squared_distance(X, rows, centers, clusters, scale, out):
    """Write the squared distance of some rows, each to its own centre, in the units of `squared_distances`.

    Four rows are computed at once, so that additions do not wait for each other.

    IN: X (n, d); rows (m,); centers (k, d); clusters (m,): the centre for each of the rows; scale. OUT: out (m,).
    """
    fours = len(rows) - len(rows) % 4
    for i in range(0, fours, 4):
        p, q, r, s = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        a, b, c, d = clusters[i], clusters[i + 1], clusters[i + 2], clusters[i + 3]
        sum_p, sum_q, sum_r, sum_s = 0.0, 0.0, 0.0, 0.0
        for j in range(X.shape[1]):
            sum_p += _square(X[p, j], centers[a, j], scale)
            sum_q += _square(X[q, j], centers[b, j], scale)
            sum_r += _square(X[r, j], centers[c, j], scale)
            sum_s += _square(X[s, j], centers[d, j], scale)
        out[i], out[i + 1], out[i + 2], out[i + 3] = sum_p, sum_q, sum_r, sum_s
    for i in range(fours, len(rows)):
        total = 0.0
        for j in range(X.shape[1]):
            total += _square(X[rows[i], j], centers[clusters[i], j], scale)
        out[i] = total


@stands_in_for(squared_distance)
def _squared_distance(X, rows, centers, clusters, scale, out):
    totals = np.zeros(len(rows))
    for j in range(X.shape[1]):
        difference = (X[rows, j].astype(np.float64) * 0.5 - centers[clusters, j] * 0.5) * scale
        totals += difference * difference
    out[: len(rows)] = totals


@jit
def _square(x, center, scale):
    difference = (np.float64(x) * 0.5 - center * 0.5) * scale
    return difference * difference


@jit
def cheapest_threshold(ordered, order, costs, total):
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
def best_thresholds(entries, codes, rows, first, last, start, stop, number, costs, total):
    """Return the lowest cost of a cut among some columns, its column and place, and the clusters of its sides.

    A cut lies before a place. Among equal costs the first column wins, then the first place, then the lowest clusters.
    The place is -1 where all values are equal.

    From place to place, the cost of the left rows under their cheapest cluster never falls, and that of the right rows
    never rises. So a lower bound on the cuts within a run of places is the left cost at its begin plus the right cost
    at its end. Only runs whose bound is at most the cost of a known cut are walked: of bins, if there are codes, and
    then of blocks. The costs of bins are added up row by row, as rows that are neighbours in a column are far apart in
    memory.

    IN: entries (d, n): see `loops.order`; codes (d, n_rows): bin of each value, rising with it, or (0, 0); rows (m,):
    those of `costs`; first, last: the columns; start, stop: the places of the node; number (n_rows,): of each row in
    `costs`; costs (m, k): not negative; total (k,): sum of the costs.
    """
    n, k, n_bins = stop - start, len(total), CODES if codes.shape[1] else 1
    sums, ends = np.zeros((n_bins + 1, k), dtype=np.int64), np.zeros(n_bins + 1, dtype=np.int64)
    on_left, on_right = np.empty(n_bins + 1, dtype=np.int64), np.empty(n_bins + 1, dtype=np.int64)
    n_blocks = (n + BLOCK - 1) // BLOCK
    blocks, sides = np.empty((n_blocks + 1, k), dtype=np.int64), np.empty((2, n_blocks + 1), dtype=np.int64)
    sums[n_bins], ends[n_bins] = total, n
    best, feature, place, a_best, b_best = NONE, -1, -1, -1, -1
    for j in range(first, last):
        column, lowest = entries[j], best
        if codes.shape[1]:
            _add_up_bins(codes[j], rows, costs, sums, ends)
        for b in range(n_bins + 1):
            on_left[b], on_right[b] = _least_sides(sums[b], total)
            if 0 < ends[b] < n and column[start + ends[b]] & 1 == 0:
                lowest = min(lowest, on_left[b] + on_right[b])
        for b in range(n_bins):
            bound = on_left[b] + on_right[b + 1]
            if ends[b] == ends[b + 1] or bound > lowest or bound >= best:
                continue
            places = start, start + ends[b], start + ends[b + 1]
            cost, r, a, z = _best_between(column, places, sums[b], number, costs, total, lowest, best, blocks, sides)
            if r >= 0:
                best, feature, place, a_best, b_best = cost, j, r, a, z
                lowest = min(lowest, best)
    return best, feature, place, a_best, b_best


@jit
def _add_up_bins(codes, rows, costs, sums, ends):
    """Write the costs of the rows before each bin of a column, and how many they are.

    OUT: sums (b + 1, k); ends (b + 1,).
    """
    sums[:], ends[:] = 0, 0
    for i in range(len(rows)):
        behind = codes[rows[i]] + 1
        ends[behind] += 1
        for c in range(costs.shape[1]):
            sums[behind, c] += costs[i, c]
    for b in range(1, len(ends)):
        ends[b] += ends[b - 1]
        for c in range(costs.shape[1]):
            sums[b, c] += sums[b - 1, c]


@jit
def _least_sides(left, total):
    """Return the cost of the left rows and of the right ones, each under their cheapest cluster."""
    least_left, least_right = NONE, NONE
    for c in range(len(total)):
        least_left = min(least_left, left[c])
        least_right = min(least_right, total[c] - left[c])
    return least_left, least_right


@jit
def _best_between(column, places, before, number, costs, total, lowest, best, blocks, sides):
    """Return the cost of the first cut below `best` of those between two places, its place, and its clusters; or -1.

    IN: places: the first of the node, and those between which cuts lie; before (k,): costs of the rows before; lowest:
    a cost that the best cut has at most. Also overwritten: blocks (b + 1, k), sides (2, b + 1), with room for blocks.
    """
    begin, start, stop = places
    n_blocks, k = (stop - start + BLOCK - 1) // BLOCK, len(total)
    place, a_best, b_best = -1, -1, -1
    for c in range(k):
        blocks[0, c] = before[c]
    for b in range(n_blocks + 1):
        sides[0, b], sides[1, b] = _least_sides(blocks[b], total)
        r = start + b * BLOCK
        if begin < r < stop and column[r] & 1 == 0:
            lowest = min(lowest, sides[0, b] + sides[1, b])
        if b < n_blocks:
            behind = blocks[b + 1]
            behind[:] = blocks[b]
            for q in range(r, min(r + BLOCK, stop)):
                row = costs[number[column[q] >> 1]]
                for c in range(k):
                    behind[c] += row[c]
    for b in range(n_blocks):
        bound = sides[0, b] + sides[1, b + 1]
        if bound > lowest or bound >= best:
            continue
        left = blocks[b]
        for r in range(start + b * BLOCK, min(start + (b + 1) * BLOCK, stop)):
            if column[r] & 1 == 0 and r > begin:
                a, z = 0, 0
                for c in range(1, k):
                    if left[c] < left[a]:
                        a = c
                    if total[c] - left[c] < total[z] - left[z]:
                        z = c
                cost = left[a] + total[z] - left[z]
                if cost < best:
                    best, place, a_best, b_best = cost, r, a, z
            row = costs[number[column[r] >> 1]]
            for c in range(k):
                left[c] += row[c]
    return best, place, a_best, b_best


@jit
def best_by_majority(entries, first, last, start, stop, labels, mass, total):
    """Like `best_thresholds`, if a row costs 0 under its own cluster and its mass under every other.

    Takes time m for each column, as only the largest mass of a cluster on each side is tracked.

    IN: entries, first, last, start, stop: as for `best_thresholds`; labels (n_rows,); mass (n_rows,), or (0,) where
    each is 1; total (k,): mass by cluster.
    """
    k, weight = len(total), np.int64(0)
    for c in range(k):
        weight += total[c]
    in_order = np.empty(stop - start, dtype=labels.dtype)  # as the rows are far apart in memory, they are read once
    on_left = np.empty(stop - start, dtype=np.int64)  # the largest mass among the rows before each place
    counts = np.empty(k, dtype=np.int64)
    best, feature, place = NONE, -1, -1
    for j in range(first, last):
        column = entries[j]
        counts[:] = 0
        largest = np.int64(0)
        for r in range(start, stop):
            on_left[r - start] = largest
            row = column[r] >> 1
            label = labels[row]
            in_order[r - start] = label
            counts[label] += mass[row] if len(mass) else np.int64(1)
            largest = max(largest, counts[label])
        counts[:] = 0
        largest = np.int64(0)
        for r in range(stop - 1, start, -1):
            label = in_order[r - start]
            counts[label] += mass[column[r] >> 1] if len(mass) else np.int64(1)
            largest = max(largest, counts[label])
            if column[r] & 1 == 0:
                cost = weight - on_left[r - start] - largest
                if cost < best or (cost == best and feature == j):
                    best, feature, place = cost, j, r
    if place < 0:
        return best, feature, place, -1, -1
    counts[:] = 0
    for r in range(start, place):
        row = entries[feature, r] >> 1
        counts[labels[row]] += mass[row] if len(mass) else np.int64(1)
    a, z = 0, 0
    for c in range(1, k):
        if counts[c] > counts[a]:
            a = c
        if total[c] - counts[c] > total[z] - counts[z]:
            z = c
    return best, feature, place, a, z


@stands_in_for(
    best_by_majority,
    lambda entries, first, last, start, stop, labels, mass, total: (last - first) * (stop - start) * len(total),
)
def _best_by_majority(entries, first, last, start, stop, labels, mass, total):
    best, feature, place, left = NONE, -1, -1, total
    for j in range(first, last):
        column = entries[j, start:stop]
        rows, places = column >> 1, np.flatnonzero(column[1:] & 1 == 0) + 1
        counts = np.zeros((len(rows), len(total)), dtype=np.int64)
        counts[np.arange(len(rows)), labels[rows]] = mass[rows] if len(mass) else 1
        before = counts.cumsum(axis=0)[places - 1]
        costs = total.sum() - before.max(axis=1) - (total - before).max(axis=1)
        if costs.min(initial=NONE) < best:
            at = costs.argmin()
            best, feature, place, left = costs[at], j, start + places[at], before[at]
    if place < 0:
        return best, feature, place, -1, -1
    return best, feature, place, left.argmax(), (total - left).argmax()


@jit
def cheapest_interval(ordered, order, costs, total, from_cluster, to_cluster):
    """Return the lowest cost of an inner interval, its first and last rank, and the clusters inside and outside.

    With cluster j inside and cluster l outside, the cost is `total[l]` plus the sum inside of
    `costs[:, j] - costs[:, l]`, so the best interval is a run of values with the smallest sum. A run that touches the
    first or the last value is a threshold cut, which is left to `cheapest_threshold`. Among equal costs the first start
    wins, then the first end, then the lowest j, then the lowest l. Ranks are -1 where fewer than three values differ.

    Clusters j from `from_cluster` to `to_cluster - 1` are tried. All k together take time n (k + k²), at most.

    IN: as `cheapest_threshold`, and from_cluster, to_cluster.
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


@jit
def add_cells(first, second, costs, sums):
    """Write the cumulative sums of the cells of two columns; bins may be empty.

    IN: first, second (n,): bins of the rows in either column; costs (n, k). OUT: sums (a + 1, b, k), zero before.
    """
    for row in range(len(first)):
        for cluster in range(costs.shape[1]):
            sums[first[row] + 1, second[row], cluster] += costs[row, cluster]
    for i in range(1, sums.shape[0]):
        for p in range(sums.shape[1]):
            for cluster in range(sums.shape[2]):
                sums[i, p, cluster] += sums[i - 1, p, cluster]


@jit
def best_alone(sums, starts, stops, alone):
    """Write the cost of each side of each first cut under its cheapest cluster.

    IN: sums (a + 1, b, k); starts, stops (m,): the bins inside are those from start to stop - 1. OUT: alone (m, 2).
    """
    last, b, k = sums.shape[0] - 1, sums.shape[1], sums.shape[2]
    for f in range(len(starts)):
        for cluster in range(k):
            inside, total = np.int64(0), np.int64(0)
            for p in range(b):
                inside += sums[stops[f], p, cluster] - sums[starts[f], p, cluster]
                total += sums[last, p, cluster]
            if cluster == 0 or inside < alone[f, 0]:
                alone[f, 0] = inside
            if cluster == 0 or total - inside < alone[f, 1]:
                alone[f, 1] = total - inside


@jit
def best_seconds(sums, starts, stops, two_sided, best):
    """Lower the cost of each side of each first cut to its cost with the best second cut along the second column.

    IN: sums, starts, stops as `best_alone`; two_sided: whether a second cut may be an interval. OUT: best (m, 2).
    """
    last, b, k = sums.shape[0] - 1, sums.shape[1], sums.shape[2]
    bin_costs, total = np.empty((b, k), dtype=np.int64), np.empty(k, dtype=np.int64)
    left, run = np.empty(k, dtype=np.int64), np.empty((k, k), dtype=np.int64)
    for f in range(len(starts)):
        for side in range(2):
            total[:] = 0
            for p in range(b):
                for cluster in range(k):
                    cost = sums[stops[f], p, cluster] - sums[starts[f], p, cluster]
                    bin_costs[p, cluster] = cost if side == 0 else sums[last, p, cluster] - cost
                    total[cluster] += bin_costs[p, cluster]
            best[f, side] = min(best[f, side], _best_threshold(bin_costs, total, left))
            if two_sided:
                best[f, side] = min(best[f, side], _best_interval(bin_costs, total, run))


@jit
def _best_threshold(bin_costs, total, left):
    """Return the lowest cost of a threshold between bins; `left` is space for k numbers."""
    b, k = bin_costs.shape
    left[:] = 0
    best = total.min()
    for p in range(b - 1):
        first, second = np.iinfo(np.int64).max, np.iinfo(np.int64).max
        for cluster in range(k):
            left[cluster] += bin_costs[p, cluster]
            first, second = min(first, left[cluster]), min(second, total[cluster] - left[cluster])
        best = min(best, first + second)
    return best


@jit
def _best_interval(bin_costs, total, run):
    """Return the lowest cost of an inner run of bins: a minimum-sum run for each pair of clusters, as in `expand`.

    `run` is space for k x k numbers.
    """
    b, k = bin_costs.shape
    run[:] = 0
    best = total.min()
    for p in range(1, b - 1):
        for j in range(k):
            for other in range(k):
                run[j, other] = min(run[j, other], 0) + bin_costs[p, j] - bin_costs[p, other]
                best = min(best, total[other] + run[j, other])
    return best
