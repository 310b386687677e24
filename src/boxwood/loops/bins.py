"""Rows in bins of columns: the bin of each value, and the rows of each bin."""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for


@jit
def fill_bins(X, column, order, n_bins, codes, starts):
    """Write the bin of each value of one column, and the rank of the first value of each bin; equal values share a bin.

    IN: X (n, d); column; order (m,): rows in ascending order of the column. OUT: codes (n, d): its column; starts
    (n_bins + 1,).
    """
    m, current = len(order), 0
    starts[0] = 0
    for r in range(m):
        row = order[r]
        if r * n_bins >= (current + 1) * m and X[row, column] != X[order[r - 1], column]:
            while r * n_bins >= (current + 1) * m:
                current += 1
                starts[current] = r
        codes[row, column] = current
    starts[current + 1 :] = m


@stands_in_for(fill_bins, lambda X, column, order, *others: len(order))
def _fill_bins(X, column, order, n_bins, codes, starts):
    x, m = X[order, column], len(order)
    first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]])[:m])  # of equal values
    in_order = np.repeat(first * n_bins // max(m, 1), np.diff(first, append=m))
    codes[order, column] = in_order
    starts[:] = in_order.searchsorted(np.arange(n_bins + 1))


@jit
def code_rows(X, is_kept, edges, start, stop, codes, counts):
    """Write the bin of each value of the kept rows from `start` to `stop - 1`: the number of edges below the value.

    IN: X (n, d); is_kept (n,); edges (d, 64): ascending, the last of each column is infinite. OUT: codes (n, d).
    IN and OUT: counts (d, 64): kept rows in each bin.
    """
    for row in range(start, stop):
        if not is_kept[row]:
            continue
        for j in range(X.shape[1]):
            value, of_column = X[row, j], edges[j]
            code = np.uint64(32) * np.uint64(of_column[31] < value)  # no branch, as it would be mispredicted
            code += np.uint64(16) * np.uint64(of_column[code + np.uint64(15)] < value)
            code += np.uint64(8) * np.uint64(of_column[code + np.uint64(7)] < value)
            code += np.uint64(4) * np.uint64(of_column[code + np.uint64(3)] < value)
            code += np.uint64(2) * np.uint64(of_column[code + np.uint64(1)] < value)
            code += np.uint64(of_column[code] < value)
            codes[row, j] = code
            counts[j, code] += 1


@jit
def gather_bins(codes, column, is_kept, starts, order):
    """Write the kept rows bin by bin. IN: codes (n, d); column; is_kept (n,); starts (n_bins + 1,). OUT: order (m,)."""
    following = starts.copy()
    for row in range(len(is_kept)):
        if is_kept[row]:
            code = codes[row, column]
            order[following[code]] = row
            following[code] += 1
