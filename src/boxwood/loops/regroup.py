"""Columns of a table with their values in another order, such as cluster by cluster."""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["place_rows", "regroup"]


@jit
def place_rows(groups, counts, places):
    """Write the place of each row if the rows stand group by group, those of a group in their order.

    IN: groups (n,): -1 leaves a row out. OUT: counts (g,): zeros, number of rows of each group; places (n,): -1 for a
    row that is left out.
    """
    for row in range(len(groups)):
        if groups[row] >= 0:
            counts[np.uint64(groups[row])] += 1  # without a sign, so that numba need not check for negative indices
    following, total = np.empty_like(counts), 0
    for group in range(len(counts)):
        following[group] = total
        total += counts[group]
    for row in range(len(groups)):
        if groups[row] < 0:
            places[row] = -1
            continue
        group = np.uint64(groups[row])
        places[row] = following[group]
        following[group] += 1


@jit
def regroup(X, columns, place, out):
    """Write some columns of a table, each row at its place; the table is read once, row by row.

    IN: X (n, d); columns (c,); place (n,): -1 leaves a row out. OUT: out (c, m).
    """
    for row in range(X.shape[0]):
        to = place[row]
        if to >= 0:
            for i in range(len(columns)):
                out[i, to] = X[row, columns[i]]
