"""Blocks of rows for IMM: counts by bin, values of some bins, and the way of rows down the tree.

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

from boxwood._types import Array, Floats, Ints
from boxwood.loops.jit import jit

__all__ = ["BinSums", "GatheredValues", "Spans", "send_down", "sum_rows"]


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
