"""Rows down a tree: the value at the leaf of each row."""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["descend"]


@jit
def descend(X, feature, lower, upper, second, value, out):
    """Write the value of the leaf that each row of `X` reaches, or -1 for a row that has NaN where it is tested.

    IN: X (n, d); feature, lower, upper, second, value (n_nodes,), in pre-order. OUT: out (n,).
    """
    for row in range(X.shape[0]):
        leaf = _leaf_of(X[row], feature, lower, upper, second)
        out[row] = value[leaf] if leaf >= 0 else -1


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
