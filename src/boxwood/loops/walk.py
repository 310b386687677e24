"""Rows down a tree: the value at the leaf of each row."""

import numpy as np

from boxwood.loops._jit import jit, stands_in_for

__all__ = ["descend"]


@jit
def descend(X, feature, lower, upper, second, value, out):
    """Write the value of the leaf that each row of `X` reaches, or -1 for a row that has NaN where it is tested.

    IN: X (n, d); feature, lower, upper, second, value (n_nodes,), in pre-order. OUT: out (n,).
    """
    for row in range(X.shape[0]):
        leaf = _leaf_of(X[row], feature, lower, upper, second)
        out[row] = value[leaf] if leaf >= 0 else -1


@stands_in_for(descend)
def _descend(X, feature, lower, upper, second, value, out):
    nodes, rows = np.zeros(len(X), dtype=np.int64), np.arange(len(X))
    while True:
        rows = rows[feature[nodes[rows]] >= 0]  # those that are not yet in a leaf; the node -1 is one
        if not len(rows):
            break
        node = nodes[rows]
        x = X[rows, feature[node]].astype(np.float64)
        below = np.where((lower[node] <= x) & (x <= upper[node]), node + 1, second[node])
        nodes[rows] = np.where(np.isnan(x), -1, below)
    out[:] = np.where(nodes >= 0, value[nodes], -1)


@jit
def _leaf_of(x, feature, lower, upper, second):
    """Return the leaf that a row reaches, or -1 where a tested value is NaN."""
    node = 0
    while feature[node] >= 0:
        value = np.float64(x[feature[node]])
        if lower[node] <= value <= upper[node]:
            node += 1
        elif value != value:
            return -1
        else:
            node = second[node]
    return node
