"""Columns of a table with their values in another order, such as cluster by cluster."""

from boxwood.loops._jit import jit

__all__ = ["regroup"]


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
