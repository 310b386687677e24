"""Counts of rows that come in blocks, by node, column, cluster and bin, from which IMM by passes chooses its cuts.

A *span* is one column as one node looks at it: bins of equal width from `low` to `high`, the first for values below and
the last for values from exactly `high` on. Which values share a bin does not matter to the result; it only has to hold
that a larger value is never in a lower bin. The numbers of all spans of a pass lie one after the other::

    n_rows, least, most, wanted   | bins of span 0 | bins of span 1 | ...
    counts                        | cluster 0, its bins | cluster 1, its bins | ... of span 0 | ... of span 1 | ...

The *rank* of a row is the index of its cluster among the clusters of a node; -1 for a row whose centre lies in another
node, which makes no more mistakes. Weights are whole numbers, so sums do not depend on the order of rows. An
empty array of weights counts each row as 1.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Ints
from boxwood.loops._jit import jit

__all__ = ["Found", "Spans", "Sums", "cut_bounds", "rows_by_place", "sum_rows"]


class Spans(NamedTuple):
    """Spans of one node. All arrays are of shape (s,)."""

    position: Ints  # of the column in a block of rows
    low: Floats
    high: Floats
    scale: Floats
    n_bins: Ints
    first_bin: Ints  # where its bins begin among those of all spans
    first_count: Ints  # where its counts begin


class Sums(NamedTuple):
    """What a pass adds up."""

    counts: Ints  # weight of the rows by span, cluster and bin
    n_rows: Ints  # number of the rows by span and bin, those of rank -1 too
    least: Floats  # their least and their greatest value
    most: Floats


class Found(NamedTuple):
    """Values that a pass has found in the bins that are looked into. All arrays are of shape (m,)."""

    values: Floats
    spans: Array  # int32
    codes: Array  # bin of each value, int32
    ranks: Array  # int32
    weights: Ints


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
def rows_by_place(places, labels, weights, first, order):
    """Sort the rows of a block that count by their place.

    IN: places (n,): place of each row, or -1; labels (n,); weights (n,) or (0,), a weight of 0 leaves a row out.
    OUT: first (places + 1,): where the rows of each place begin; order (n,): the rows.
    """
    first[:] = 0
    for row in range(len(places)):
        if places[row] >= 0 and labels[row] >= 0 and (weights.size == 0 or weights[row] > 0):
            first[places[row] + 1] += 1
    for place in range(1, len(first)):
        first[place] += first[place - 1]
    for row in range(len(places)):
        if places[row] >= 0 and labels[row] >= 0 and (weights.size == 0 or weights[row] > 0):
            order[first[places[row]]] = row
            first[places[row]] += 1
    for place in range(len(first) - 1, 0, -1):  # each start has moved to its end
        first[place] = first[place - 1]
    first[0] = 0


@jit
def sum_rows(values, order, labels, weights, rank_of, spans, first_span, start, wanted, sums, found):
    """Add rows of one node to the sums of its spans, from row `start` on; return where it ended, and how many it found.

    It ends before all rows are added where `found` might not hold what the next rows bring.

    IN: values (n, columns); order (m,): the rows; labels (n,); weights (n,) or (0,); rank_of (k,): rank of the rows of
    each cluster; spans: Spans; first_span: number of the first one; start; wanted: whether to write the values of each
    bin. IN and OUT: sums: Sums. OUT: found: Found.
    """
    counts, n_rows, least, most = sums
    n_spans = len(spans.position)
    n_found = 0
    tile = max(16, 4096 // values.shape[1])  # values of a tile stay in the first cache while its spans are summed
    for begin in range(start, len(order), tile):
        end = min(begin + tile, len(order))
        if n_found + n_spans * (end - begin) > len(found.values):
            return begin, n_found
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
                if wanted[at]:
                    found.values[n_found] = x
                    found.spans[n_found] = first_span + s
                    found.codes[n_found] = code
                    found.ranks[n_found] = rank
                    found.weights[n_found] = weight
                    n_found += 1
    return len(order), n_found


@jit
def cut_bounds(counts, total, come, alive, center_bins, whole, least, behind, inside):
    """For each span and bin, write bounds on the mistakes of cuts of a node.

    A cluster whose centre lies left of the cut loses its rows on the right, and the other way round. Some of the rows
    that were counted may not be in the node, and some of its rows may not be counted: of each cluster no more than
    `come` are not counted, so no more than `total + come - alive` are elsewhere.

    IN: counts (s, c, n_bins); total (c,): weight that was counted; come (c,); alive (c,): weight in the node;
    center_bins (s, c); whole (s, n_bins): whether a bin holds no cut but that behind it.
    OUT, all (s, n_bins): least: no cut in the bin or right behind it makes fewer mistakes; behind: the cut right behind
    the bin makes no more; inside: no cut in the bin or right behind it makes more.
    """
    for s in range(counts.shape[0]):
        least[s] = 0
        behind[s] = 0
        inside[s] = 0
        for c in range(counts.shape[1]):
            new, most, center = come[c], alive[c], center_bins[s, c]
            gone = total[c] + new - most
            left = 0
            for code in range(counts.shape[2]):
                before, left = left, left + counts[s, c, code]
                right = total[c] - left
                fewest_left = left if whole[s, code] else before
                if code < center:
                    least[s, code] += max(0, fewest_left - gone)
                    behind[s, code] += min(left + new, most)
                    inside[s, code] += min(left + new, most)
                elif code > center:
                    least[s, code] += max(0, right - gone)
                    behind[s, code] += min(right + new, most)
                    inside[s, code] += min(total[c] - before + new, most)
                else:
                    least[s, code] += max(0, min(before, right) - gone)
                    behind[s, code] += min(right + new, most)
                    inside[s, code] += min(max(left, total[c] - before) + new, most)
