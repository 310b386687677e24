"""The values next to each threshold of a tree, among the rows that reach it."""

import numpy as np

from boxwood.loops._jit import jit, stands_in_for

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


@stands_in_for(widen_gaps)
def _widen_gaps(X, feature, lower, upper, second, ends, left, right):
    rows = {0: np.arange(len(X))}
    for node in np.flatnonzero(feature >= 0).tolist():
        here = rows[node]
        x = X[here, feature[node]].astype(np.float64)
        here, x = here[~np.isnan(x)], x[~np.isnan(x)]
        for end in range(2):  # of equal values, 0.0 and -0.0, the first one counts
            up_to = x <= ends[node, end]
            some, others = np.append(left[node, end], x[up_to]), np.append(right[node, end], x[~up_to])
            left[node, end], right[node, end] = some[some.argmax()], others[others.argmin()]
        inside = (lower[node] <= x) & (x <= upper[node])
        rows[node + 1], rows[second[node]] = here[inside], here[~inside]
