"""Rows in bins of a column that hold about as many rows each."""

from boxwood.loops._jit import jit

__all__ = ["fill_bins"]


@jit
def fill_bins(X, column, order, n_bins, codes, starts):
    """Write the bin of each value of one column, and the rank at which each bin begins; equal values share a bin.

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
