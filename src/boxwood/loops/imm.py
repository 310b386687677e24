"""Counts of rows by cluster, column and bin, from which IMM chooses its cuts, and sweeps over the values of some bins.

A bin is a run of neighbouring values of one column. The result does not depend on the bins, as long as a larger value
is never in a lower bin. Rows are sorted by cluster: position p holds row `order[p]`, whose bin in column j is
`codes[j, p]`. Cluster c has the positions `first[c]` to `first[c + 1] - 1`::

    order   | rows of cluster 0 | rows of cluster 1 | ...
    codes_0 | 3 0 7 3 2 ...     | 9 9 8 ...         | ...      one byte each, column by column
    codes_1 | 1 1 4 0 2 ...     | 0 5 5 ...         | ...

Weights are whole numbers, so sums do not depend on the order of rows. An empty array of weights counts each row as 1.

As a cut moves up a column, it passes *events*: a row, which is then on its left; the centre of a cluster, whose rows on
the right are mistakes from then on, in place of those on the left; or a mark, where nothing changes.

**Blocks of rows**, where rows are in batches: counts by bin, values of some bins, and the way of rows down the tree.

A *span* is one column at one node, in bins of equal width from `low` to `high`, the first for values below and the last
for values from exactly `high` on. The result does not depend on the bins, as long as a larger value is never in a lower
bin. The sums of all spans of a pass lie one after the other::

    n_rows, least, most, wanted   | bins of span 0 | bins of span 1 | ...
    counts                        | cluster 0, its bins | cluster 1, its bins | ... of span 0 | ... of span 1 | ...

The *rank* of a row is the index of its cluster among the clusters of a node; -1 for a row whose centre lies in another
node, which is a mistake already. Weights are whole numbers, so sums do not depend on the order of rows. An empty array
of weights counts each row as 1.

The *cell* of a row is the number of its cluster, if the row is in the node of the cluster's centre; k plus the number
of its node, if it is in another node; and -1 for a row that is left out.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Ints
from boxwood.loops.jit import jit, stands_in_for


class Binning(NamedTuple):
    """The bins of each column: see `bin_of`. All arrays are of shape (d,)."""

    low: Floats
    high: Floats
    scale: Floats


class SortedRows(NamedTuple):
    """The m rows that belong to clusters, sorted by cluster."""

    order: Array  # (m,) row at each position, int32 or int64
    codes: Array  # (d, m) bin of each value, uint8
    is_counted: Bools  # (m,) whether the row at a position is still counted; False once it is a mistake
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
    # values of a tile stay in the first cache while its columns are read one by one; in Fortran order nothing has to
    tile = n if X.strides[0] < X.strides[1] else max(16, 4096 // d)
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
        codes[j, positions] = code = _bins_of(X, rows, j, binning, counts.shape[2])
        np.add.at(counts[j], (c, code), weights[rows] if weights.size else 1)


def _bins_of(X, rows, j, binning, n_bins):
    """Return what `bin_of` does for some rows of a column."""
    x = X[rows, j].astype(np.float64)
    number = np.clip((x - binning.low[j]) * binning.scale[j] + 1.0, 0.0, n_bins - 2.0)
    return np.where(x >= binning.high[j], n_bins - 1, number).astype(np.int64)


@jit
def bin_cluster(X, rows, cluster, start, stop, binning, counts):
    """Bin the counted rows of one cluster anew, at positions `start` to `stop - 1`.

    IN: X (n, d); cluster; start, stop; binning: Binning. IN and OUT: rows: SortedRows, whose codes are written;
    counts (d, k, n_bins), zero for this cluster before.
    """
    order, codes, is_counted, weights = rows
    low, high, scale = binning
    for position in range(start, stop):
        row = order[position]
        for j in range(X.shape[1]):
            code = bin_of(np.float64(X[row, j]), low[j], high[j], scale[j], counts.shape[2])
            codes[j, position] = code
            if is_counted[position]:
                counts[j, cluster, code] += weights[position] if weights.size else 1


@stands_in_for(bin_cluster)
def _bin_cluster(X, rows, cluster, start, stop, binning, counts):
    order, codes, is_counted, weights = rows
    counted = is_counted[start:stop]
    mass = weights[start:stop][counted] if weights.size else 1
    for j in range(X.shape[1]):
        codes[j, start:stop] = code = _bins_of(X, order[start:stop], j, binning, counts.shape[2])
        np.add.at(counts[j, cluster], code[counted], mass)


@jit
def cut_bounds(counts, total, clusters, center_bins, after, bound):
    """Write for each column and bin the mistakes of a cut behind the bin, and a lower bound for cuts within it.

    A cluster whose centre lies left of the cut loses its rows on the right, and the other way round. If some of the
    counted rows are no longer in the node, the written mistakes behind a bin are an upper bound.

    IN: counts (d, k, n_bins); total (k,): weight in the node; clusters of the node; center_bins (d, clusters of the
    node). OUT: after, bound (d, n_bins).
    """
    for j in range(counts.shape[0]):
        after[j] = 0
        bound[j] = 0
        for i in range(len(clusters)):
            cluster = clusters[i]
            weight, counted = total[cluster], counts[j, cluster].sum()
            gone, left = counted - weight, 0
            for code in range(counts.shape[2]):
                before = left
                left += counts[j, cluster, code]
                right = counted - left
                if code < center_bins[j, i]:
                    after[j, code] += min(left, weight)
                    bound[j, code] += max(before - gone, 0)
                else:
                    after[j, code] += min(right, weight)
                    fewest = min(before, right) if code == center_bins[j, i] else right
                    bound[j, code] += max(fewest - gone, 0)


@stands_in_for(cut_bounds)
def _cut_bounds(counts, total, clusters, center_bins, after, bound):
    after[:], bound[:], code = 0, 0, np.arange(counts.shape[2])
    for i, cluster in enumerate(clusters):
        left, at = counts[:, cluster].cumsum(axis=1), center_bins[:, i, None].astype(np.int64)
        before, counted = left - counts[:, cluster], left[:, -1:]
        right, weight = counted - left, total[cluster]
        after += np.minimum(np.where(code < at, left, right), weight)
        fewest = np.where(code < at, before, np.where(code == at, np.minimum(before, right), right))
        bound += np.maximum(fewest - (counted - weight), 0)


@jit
def remove_cut_off(X, rows, counts, total, clusters, is_left, first, j, threshold, threshold_bin, cut_rows):
    """Remove the rows that a cut separates from their centre from the counts; return their number.

    IN: X (n, d); clusters, is_left (c,): clusters that may have such rows, and whether their centre is on the left;
    first (k + 1,): positions of the clusters; j: the column; threshold, threshold_bin. IN and OUT: rows: SortedRows, of
    which `is_counted` changes; counts (d, k, n_bins); total (k,). OUT: cut_rows, long enough: the rows.
    """
    order, codes, is_counted, weights = rows
    n = 0
    for i in range(len(clusters)):
        cluster, begin = clusters[i], n
        for position in range(first[cluster], first[cluster + 1]):
            code = codes[j, position]
            left = code < threshold_bin
            if code == threshold_bin:
                left = np.float64(X[order[position], j]) <= threshold
            if left == is_left[i] or not is_counted[position]:
                continue
            is_counted[position] = False
            total[cluster] -= weights[position] if weights.size else 1
            cut_rows[n] = position
            n += 1
        for column in range(codes.shape[0]):  # one after another, so that its counts stay at hand
            for position in cut_rows[begin:n]:
                counts[column, cluster, codes[column, position]] -= weights[position] if weights.size else 1
    cut_rows[:n] = order[cut_rows[:n]]
    return n


@stands_in_for(remove_cut_off)
def _cut_off(X, rows, counts, total, clusters, is_left, first, j, threshold, threshold_bin, cut_rows):
    order, codes, is_counted, weights = rows
    n = 0
    for i in range(len(clusters)):
        places = np.arange(first[clusters[i]], first[clusters[i] + 1])
        code = codes[j, places]
        up_to = (code == threshold_bin) & (X[order[places], j].astype(np.float64) <= threshold)
        gone = places[(((code < threshold_bin) | up_to) != is_left[i]) & is_counted[places]]
        weight = weights[gone] if weights.size else np.ones(len(gone), dtype=np.int64)
        is_counted[gone] = False
        total[clusters[i]] -= weight.sum()
        for column in range(len(codes)):
            np.subtract.at(counts[column, clusters[i]], codes[column, gone], weight)
        cut_rows[n : n + len(gone)] = order[gone]
        n += len(gone)
    return n


@jit
def weight_in_bins(counts, clusters, wanted):
    """Return the weight of the rows of some clusters in the wanted bins, summed over columns.

    IN: counts (d, k, n_bins); clusters (c,); wanted (d, n_bins).
    """
    weight = np.int64(0)
    for j in range(counts.shape[0]):
        for cluster in clusters:
            for code in range(counts.shape[2]):
                if wanted[j, code]:
                    weight += counts[j, cluster, code]
    return weight


@stands_in_for(weight_in_bins)
def _weight_in(counts, clusters, wanted):
    return counts[:, clusters].sum(axis=1)[wanted].sum()


ROW, CENTER, MARK = 0, 1, 2  # kinds of events


class NodeColumn(NamedTuple):
    """A column at a node with the centres of c clusters, and the bins whose values are wanted."""

    number: int
    clusters: Ints  # (c,)
    centers: Floats  # (c,)
    center_codes: Array  # (c,) bin of each centre, of one byte up to 256 bins
    marks: Floats  # (m,)
    mark_codes: Array  # (m,) bin of each mark, likewise
    wanted: Bools  # (n_bins,) the bins whose values are wanted


class Events(NamedTuple):
    """Rows, centres and marks of one column, in this order. All arrays are of shape (e,)."""

    values: Floats
    kinds: Array  # ROW, CENTER or MARK, int8
    clusters: Ints  # numbers among the clusters of the node
    weights: Ints  # only read for rows
    codes: Array  # bin of each value


class ClusterCounts(NamedTuple):
    """The mistakes of a cut before each bin of one column, and the counts of the c clusters of a node there."""

    start: Ints  # (n_bins,) mistakes of a cut before each bin
    left: Ints  # (n_bins, c) weight of each cluster before each bin
    total: Ints  # (c,) weight of each cluster
    is_left: Bools  # (n_bins, c) whether the centre of the cluster lies before the bin


@jit
def events_in_bins(X, column, rows, counts, first, constant):
    """Return the events in the wanted bins of a column: the fields of `Events`, and `left` and `is_left` of its counts.

    IN: X (n, d); column: NodeColumn; rows: SortedRows; counts (k, n_bins): of the column; first (k + 1,): positions of
    the clusters. IN and OUT: constant (n_bins,): becomes true for wanted bins whose rows all have one value.
    """
    j, clusters, centers, center_codes, marks, mark_codes, wanted = column
    order, codes, is_counted, weights = rows
    n_bins, n_clusters, room = len(wanted), len(clusters), len(centers) + len(marks)
    left, is_left = np.empty((n_bins, n_clusters), dtype=np.int64), np.empty((n_bins, n_clusters), dtype=np.bool_)
    hit = np.zeros(n_clusters, dtype=np.bool_)
    for i in range(n_clusters):
        before = np.int64(0)
        for code in range(n_bins):
            weight = counts[clusters[i], code]
            left[code, i], is_left[code, i] = before, center_codes[i] < code
            before += weight
            hit[i] = hit[i] or (wanted[code] and weight > 0)
        if hit[i]:
            room += first[clusters[i] + 1] - first[clusters[i]]
    values, kinds = np.empty(room), np.empty(room, dtype=np.int8)
    owners, amounts = np.empty(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    bins = np.empty(room, dtype=center_codes.dtype)
    low, high, e = np.full(n_bins, np.inf), np.full(n_bins, -np.inf), 0
    for i in range(n_clusters):
        if not hit[i]:
            continue
        for position in range(first[clusters[i]], first[clusters[i] + 1]):
            code = codes[j, position]
            if wanted[code] and is_counted[position]:
                x = np.float64(X[order[position], j])
                values[e], kinds[e], owners[e], bins[e] = x, ROW, i, code
                amounts[e] = weights[position] if len(weights) else 1
                low[code], high[code] = min(low[code], x), max(high[code], x)
                e += 1
    for i in range(n_clusters):
        if wanted[center_codes[i]]:
            values[e], kinds[e], owners[e], bins[e] = centers[i], CENTER, i, center_codes[i]
            e += 1
    for i in range(len(marks)):
        if wanted[mark_codes[i]]:
            values[e], kinds[e], owners[e], bins[e] = marks[i], MARK, 0, mark_codes[i]
            e += 1
    for code in range(n_bins):
        constant[code] = constant[code] or (wanted[code] and low[code] >= high[code])
    return values[:e], kinds[:e], owners[:e], amounts[:e], bins[:e], left, is_left


@stands_in_for(events_in_bins)
def _events_in_bins(X, column, rows, counts, first, constant):
    j, clusters, centers, center_codes, marks, mark_codes, wanted = column
    order, codes, is_counted, weights = rows
    of_clusters = counts[clusters]
    spans = [np.arange(first[c], first[c + 1]) for c in clusters]
    hit = np.where((of_clusters[:, wanted] > 0).any(axis=1), [len(span) for span in spans], 0)
    places = np.concatenate([span[:size] for span, size in zip(spans, hit, strict=True)])
    owners = np.arange(len(clusters)).repeat(hit)
    is_event = wanted[codes[j, places]] & is_counted[places]
    places, owners = places[is_event], owners[is_event]
    x, code = X[order[places], j].astype(np.float64), codes[j, places]
    low, high = np.full(len(wanted), np.inf), np.full(len(wanted), -np.inf)
    np.minimum.at(low, code, x)
    np.maximum.at(high, code, x)
    constant |= wanted & (low >= high)
    at, marked = np.flatnonzero(wanted[center_codes]), np.flatnonzero(wanted[mark_codes])
    none = np.zeros(len(marked), dtype=np.int64)
    amounts = np.zeros(len(x) + len(at) + len(marked), dtype=np.int64)
    amounts[: len(x)] = weights[places] if len(weights) else 1
    return (
        np.concatenate([x, centers[at], marks[marked]]),
        np.repeat(np.array([ROW, CENTER, MARK], dtype=np.int8), [len(x), len(at), len(marked)]),
        np.concatenate([owners, at, none]),
        amounts,
        np.concatenate([code, center_codes[at], mark_codes[marked]]),
        np.ascontiguousarray((of_clusters.cumsum(axis=1) - of_clusters).T),
        center_codes < np.arange(len(wanted))[:, None],
    )


@jit
def sweep(events, order, before, low, high, at_marks):
    """Return the values behind which a cut is tried, ascending, and the mistakes of each.

    A cut is tried behind every value with `low <= value < high`, or only at marks if `at_marks`. There may be bins
    without events in between, so the count starts anew at the first event of each bin. Of equal values only the last
    event gives a cut.

    IN: events: Events; order (e,): stable ascending order of their values. IN and OUT: before: ClusterCounts, of which
    `left` and `is_left` are updated during the sweep.
    """
    values, kinds, clusters, weights, codes = events
    start, left, total, is_left = before
    tried, mistakes = np.empty(len(order)), np.empty(len(order), dtype=np.int64)
    count, n, last = np.int64(0), 0, len(order) - 1
    for i in range(len(order)):
        e = order[i]
        code, cluster = codes[e], clusters[e]
        if i == 0 or code != codes[order[i - 1]]:
            count = start[code]
        if kinds[e] == ROW:
            left[code, cluster] += weights[e]
            count += -weights[e] if is_left[code, cluster] else weights[e]
        elif kinds[e] == CENTER:
            is_left[code, cluster] = True
            count += total[cluster] - 2 * left[code, cluster]
        if i < last and values[order[i + 1]] == values[e]:
            continue
        if kinds[e] == MARK if at_marks else low <= values[e] < high:
            tried[n], mistakes[n] = values[e], count
            n += 1
    return tried[:n], mistakes[:n]


@jit
def smallest_above(X, j, rows, counts, first, clusters, value, code):
    """Return the smallest value of a column above `value` among the counted rows of some clusters, or infinity.

    IN: X (n, d); j: the column; rows: SortedRows; counts (k, n_bins): those of the column; first (k + 1,): positions
    of all clusters; clusters (c,); code: the bin of `value`.
    """
    order, codes, is_counted, _ = rows
    least = np.inf
    for at in range(code, counts.shape[1]):
        for cluster in clusters:
            if counts[cluster, at] == 0:
                continue
            for position in range(first[cluster], first[cluster + 1]):
                if codes[j, position] == at and is_counted[position]:
                    x = np.float64(X[order[position], j])
                    if value < x < least:
                        least = x
        if least < np.inf:
            break
    return least


@stands_in_for(smallest_above)
def _smallest_above(X, j, rows, counts, first, clusters, value, code):
    order, codes, is_counted, _ = rows
    least = np.inf
    for at in range(code, counts.shape[1]):
        for cluster in clusters[counts[clusters, at] != 0]:
            places = slice(first[cluster], first[cluster + 1])
            x = X[order[places][(codes[j, places] == at) & is_counted[places]], j].astype(np.float64)
            x = np.append(least, x[x > value])
            least = x[x.argmin()]  # of equal values, 0.0 and -0.0, the first one counts
        if least < np.inf:
            break
    return least


class Spans(NamedTuple):
    """Spans of one node. All arrays are of shape (s,)."""

    position: Ints  # of the column in a block of rows
    low: Floats
    high: Floats
    scale: Floats
    n_bins: Ints
    first_bin: Ints  # where its bins begin among those of all spans
    first_count: Ints  # where its counts begin


class BinSums(NamedTuple):
    """The sums of a pass."""

    counts: Ints  # weight of the rows by span, cluster and bin
    n_rows: Ints  # number of rows by span and bin, with those of rank -1
    least: Floats  # their least and their greatest value
    most: Floats


class GatheredValues(NamedTuple):
    """The values in the wanted bins. All arrays are of the same length."""

    values: Floats
    rows: Ints
    spans: Array  # int32
    codes: Array  # bin of each value, int16
    ranks: Array  # int32
    weights: Ints


@jit
def sum_rows(
    values, order, labels, weights, first_row, rank_of, spans, first_span, start, wanted, sums, gathered, codes
):
    """Add rows of one node to the sums of its spans, from row `start` on; return the end, and the number of values.

    It ends early if `gathered` might be too small for the values of the next rows.

    IN: values (n, columns); order (m,): the rows; labels (n,); weights (n,) or (0,); first_row: number of the first
    row; rank_of: rank of the rows of each label; spans: Spans; first_span: number of the first one; start; wanted:
    whether to write the values of each bin. IN and OUT: sums: BinSums. OUT: gathered: GatheredValues; codes (n, s) or
    (0, 0): the bin of each value.
    """
    counts, n_rows, least, most = sums
    n_spans = len(spans.position)
    n_gathered = 0
    tile = max(16, 4096 // values.shape[1])  # values of a tile stay in the first cache while its spans are summed
    for begin in range(start, len(order), tile):
        end = min(begin + tile, len(order))
        if n_gathered + n_spans * (end - begin) > len(gathered.values):
            return begin, n_gathered
        for s in range(n_spans):
            j, low, high, scale = spans.position[s], spans.low[s], spans.high[s], spans.scale[s]
            n_bins, first_bin, first_count = spans.n_bins[s], spans.first_bin[s], spans.first_count[s]
            for i in range(begin, end):
                row = order[i]
                x, rank = values[row, j], rank_of[labels[row]]
                code = bin_of(x, low, high, scale, n_bins)
                weight = weights[row] if weights.size else np.int64(1)
                at = first_bin + code
                n_rows[at] += 1
                least[at] = min(least[at], x)
                most[at] = max(most[at], x)
                if rank >= 0:
                    counts[first_count + rank * n_bins + code] += weight
                if codes.size:
                    codes[row, s] = code
                if wanted[at]:
                    gathered.values[n_gathered] = x
                    gathered.rows[n_gathered] = first_row + row
                    gathered.spans[n_gathered] = first_span + s
                    gathered.codes[n_gathered] = code
                    gathered.ranks[n_gathered] = rank
                    gathered.weights[n_gathered] = weight
                    n_gathered += 1
    return len(order), n_gathered


@jit
def send_down(cells, codes, weights, is_left, child, feature, up_to, old_home, home, mistakes):
    """Send the rows of nodes that are cut down to their children, and add up the mistakes.

    A row goes left if its bin in the column of the cut is at most the last one on the left, or if `is_left` says so.

    IN: codes (n, d); weights (n,) or (0,); is_left (n,); child (nodes,): number of the left child, that of the right
    one is next, or -1; feature, up_to (nodes,): column of the cut, and the last bin on the left; old_home, home (k,):
    the node of each cluster's centre before and after. IN and OUT: cells (n,); mistakes (d, k, n_bins).
    """
    k = len(home)
    for row in range(len(cells)):
        cell = cells[row]
        if cell < 0:
            continue
        node = old_home[cell] if cell < k else cell - k
        if child[node] < 0:
            continue
        number = child[node]
        if not (is_left[row] or codes[row, feature[node]] <= up_to[node]):
            number += 1
        if cell < k:
            if home[cell] == number:
                continue
            weight = weights[row] if weights.size else 1
            for j in range(codes.shape[1]):
                mistakes[j, cell, codes[row, j]] += weight
        cells[row] = k + number
