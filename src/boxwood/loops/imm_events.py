"""The mistakes of IMM's cuts between the values of a column, where bins of `loops.imm` are looked into.

What happens as a cut moves up a column are *events*: it passes a row, which is then on its left; it passes the centre
of a cluster, whose rows on its right are mistakes from then on, and no longer those on its left; or it passes a mark,
where nothing changes.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Ints
from boxwood.loops._jit import jit, stands_in_for

__all__ = ["CENTER", "MARK", "ROW", "ClusterCounts", "Column", "Events", "events_in_bins", "smallest_above", "sweep"]

ROW, CENTER, MARK = 0, 1, 2  # kinds of events


class Column(NamedTuple):
    """A column as a node looks into some of its bins; the node has the centres of c clusters."""

    number: int
    clusters: Ints  # (c,)
    centers: Floats  # (c,)
    center_codes: Array  # (c,) bin of each centre, uint8
    marks: Floats  # (m,)
    mark_codes: Array  # (m,) bin of each mark, uint8
    wanted: Bools  # (n_bins,) the bins that are looked into


class Events(NamedTuple):
    """Rows, centres and marks of one column, in this order. All arrays are of shape (e,)."""

    values: Floats
    kinds: Array  # ROW, CENTER or MARK, int8
    clusters: Ints  # numbers among the clusters of the node
    weights: Ints  # only read for rows
    codes: Array  # bin of each value, uint8


class ClusterCounts(NamedTuple):
    """The mistakes of cuts before each bin of one column, and the c clusters of a node that make them."""

    start: Ints  # (n_bins,) mistakes of a cut before each bin
    left: Ints  # (n_bins, c) weight of each cluster before each bin
    total: Ints  # (c,) weight of each cluster
    is_left: Bools  # (n_bins, c) whether the centre of the cluster lies before the bin


@jit
def events_in_bins(X, column, rows, counts, first, constant):
    """Return the events in the wanted bins of a column: the parts of `Events`, and `left` and `is_left` of its counts.

    IN: X (n, d); column: Column; rows: SortedRows; counts (k, n_bins): those of the column; first (k + 1,): positions
    of the clusters. IN and OUT: constant (n_bins,): becomes true for wanted bins whose rows all have one value.
    """
    j, clusters, centers, center_codes, marks, mark_codes, wanted = column
    order, codes, alive, weights = rows
    n_bins, n_clusters, room = len(wanted), len(clusters), len(centers) + len(marks)
    left, is_left = np.empty((n_bins, n_clusters), dtype=np.int64), np.empty((n_bins, n_clusters), dtype=np.bool_)
    hit = np.zeros(n_clusters, dtype=np.bool_)
    for i in range(n_clusters):
        before = np.int64(0)
        for code in range(n_bins):
            here = counts[clusters[i], code]
            left[code, i], is_left[code, i] = before, center_codes[i] < code
            before += here
            hit[i] = hit[i] or (wanted[code] and here > 0)
        if hit[i]:
            room += first[clusters[i] + 1] - first[clusters[i]]
    values, kinds = np.empty(room), np.empty(room, dtype=np.int8)
    owners, amounts = np.empty(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    bins = np.empty(room, dtype=np.uint8)
    low, high, e = np.full(n_bins, np.inf), np.full(n_bins, -np.inf), 0
    for i in range(n_clusters):
        if not hit[i]:
            continue
        for position in range(first[clusters[i]], first[clusters[i] + 1]):
            code = codes[j, position]
            if wanted[code] and alive[position]:
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
    order, codes, alive, weights = rows
    of_clusters = counts[clusters]
    spans = [np.arange(first[c], first[c + 1]) for c in clusters]
    hit = np.where((of_clusters[:, wanted] > 0).any(axis=1), [len(span) for span in spans], 0)
    places = np.concatenate([span[:size] for span, size in zip(spans, hit, strict=True)])
    owners = np.arange(len(clusters)).repeat(hit)
    is_event = wanted[codes[j, places]] & alive[places]
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

    A cut is tried behind every value with `low <= value < high`, or only at marks if `at_marks`. Bins that hold events
    may have gaps between them, so the count starts anew at the first event of a bin. Among equal values the last event
    stands for all.

    IN: events: Events; order (e,): that of their values, and among equal ones as they come. IN and changed: before:
    ClusterCounts, of which left and is_left follow the sweep.
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
    """Return the smallest value of a column above `value` among the living rows of some clusters, or infinity.

    IN: X (n, d); j: the column; rows: SortedRows; counts (k, n_bins): those of the column; first (k + 1,): positions
    of all clusters; clusters (c,); code: the bin of `value`.
    """
    order, codes, alive, _ = rows
    least = np.inf
    for at in range(code, counts.shape[1]):
        for cluster in clusters:
            if counts[cluster, at] == 0:
                continue
            for position in range(first[cluster], first[cluster + 1]):
                if codes[j, position] == at and alive[position]:
                    x = np.float64(X[order[position], j])
                    if value < x < least:
                        least = x
        if least < np.inf:
            break
    return least


@stands_in_for(smallest_above)
def _smallest_above(X, j, rows, counts, first, clusters, value, code):
    order, codes, alive, _ = rows
    least = np.inf
    for at in range(code, counts.shape[1]):
        for cluster in clusters[counts[clusters, at] != 0]:
            places = slice(first[cluster], first[cluster + 1])
            x = X[order[places][(codes[j, places] == at) & alive[places]], j].astype(np.float64)
            x = np.append(least, x[x > value])
            least = x[x.argmin()]  # of equal values, 0.0 and -0.0, the first one counts
        if least < np.inf:
            break
    return least
