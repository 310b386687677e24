"""Walks of a tree: rows down to their leaves and past each threshold, and up from the leaves the cheapest prunings."""

import numpy as np

from boxwood.loops.jit import jit, stands_in_for


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


@jit
def widen_gaps(X, feature, lower, upper, second, ends, left, right):
    """Update the largest value up to each end of a cut, and the smallest value beyond it.

    A row counts at the nodes that it passes, until a tested value is NaN. A value is left of an end if it is at most
    `ends`; column 0 is the lower end of a cut, column 1 the upper one. An end at minus infinity is skipped.

    IN: X (n, d); feature, lower, upper, second (n_nodes,), in pre-order; ends (n_nodes, 2).
    OUT: left, right (n_nodes, 2).
    """
    for row in range(X.shape[0]):
        node = np.uint64(0)  # without a sign, so that numba need not check for negative indices
        j = feature[node]
        while j >= 0:
            x = np.float64(X[row, np.uint64(j)])
            if x != x:
                break
            if x <= ends[node, 1]:
                if x > left[node, 1]:  # mostly it is not, and nothing is written
                    left[node, 1] = x
            elif x < right[node, 1]:
                right[node, 1] = x
            if lower[node] > -np.inf:
                if x <= ends[node, 0]:
                    left[node, 0] = max(left[node, 0], x)
                else:
                    right[node, 0] = min(right[node, 0], x)
            node = node + np.uint64(1) if lower[node] <= x <= upper[node] else np.uint64(second[node])
            j = feature[node]


@stands_in_for(widen_gaps)
def _widen_gaps(X, feature, lower, upper, second, ends, left, right):
    rows = {0: np.arange(len(X))}
    for node in np.flatnonzero(feature >= 0).tolist():
        rows_of_node = rows[node]
        x = X[rows_of_node, feature[node]].astype(np.float64)
        rows_of_node, x = rows_of_node[~np.isnan(x)], x[~np.isnan(x)]
        for end in range(0 if lower[node] > -np.inf else 1, 2):  # of equal values, 0.0 and -0.0, the first one counts
            up_to = x <= ends[node, end]
            some, others = np.append(left[node, end], x[up_to]), np.append(right[node, end], x[~up_to])
            left[node, end], right[node, end] = some[some.argmax()], others[others.argmin()]
        inside = (lower[node] <= x) & (x <= upper[node])
        rows[node + 1], rows[second[node]] = rows_of_node[inside], rows_of_node[~inside]


MOST = np.iinfo(np.int64).max


@jit
def cheapest_prunings(second, below, starts, alone, costs, on_first):
    """Write the lowest cost of each node with every number of leaves, and the leaves on its first side; 0 for a leaf.

    The costs of a node with 1, 2, … leaves are stored from `starts[node]` on, one for each leaf below the node. Of
    equal costs the one with the fewest leaves on the first side is taken.

    IN: second, below (leaves below it), starts, alone (cost as a leaf), all (n_nodes,). OUT: costs, on_first, flat.
    """
    for node in range(len(below) - 1, -1, -1):  # in pre-order, children come after their parent
        at = starts[node]
        costs[at] = alone[node]
        on_first[at] = 0
        if below[node] == 1:
            continue
        first_child, second_child = node + 1, second[node]
        for place in range(at + 1, at + below[node]):
            costs[place] = MOST
        for a in range(1, below[first_child] + 1):
            cost = costs[starts[first_child] + a - 1]
            for b in range(1, below[second_child] + 1):
                cost_of_both = cost + costs[starts[second_child] + b - 1]
                if cost_of_both < costs[at + a + b - 1]:
                    costs[at + a + b - 1] = cost_of_both
                    on_first[at + a + b - 1] = a
