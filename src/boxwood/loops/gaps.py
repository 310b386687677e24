"""The values next to each threshold of a tree, among the rows that reach it."""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["widen_gaps"]


@jit
def widen_gaps(X, feature, lower, upper, second, ends, left, right):
    """Raise the largest value up to each end of a cut, and lower the smallest value beyond it.

    A row counts at the nodes that it passes, until it meets NaN. A value is left of an end if it is at most `ends`; the
    lower end of a cut has the place 0, the upper one 1.

    IN: X (n, d); feature, lower, upper, second (n_nodes,), in pre-order; ends (n_nodes, 2).
    OUT: left, right (n_nodes, 2).
    """
    for row in range(X.shape[0]):
        node = 0
        while feature[node] >= 0:
            x = np.float64(X[row, feature[node]])
            if x != x:
                break
            for end in range(2):
                if x <= ends[node, end]:
                    left[node, end] = max(left[node, end], x)
                else:
                    right[node, end] = min(right[node, end], x)
            node = node + 1 if lower[node] <= x <= upper[node] else second[node]
