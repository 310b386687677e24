"""What many trees cost more than the clustering they explain, from one pass over the rows.

A tree of one leaf a cluster changes the cost by the rows alone that are cut off from their cluster. All cuts around the
leaf of a cluster, of all trees, are listed by axis and side, the innermost first; so a row in the middle of its cluster
is compared with one bound on each side of an axis, however many trees there are.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_moves"]

L1, L2, SQEUCLIDEAN = 0, 1, 2  # as in costs


@jit
def add_moves(
    X, labels, weights, starts, bounds, owners, roots, feature, upper, second, cluster, centers, objective, seen, change
):
    """Add for each tree what its moved rows cost more at the centre of their leaf than at their own.

    IN: X (n, d); labels (n,), -1 left out; weights (n,) or (0,); starts (2 k d + 1,), by cluster, axis and side, of
    bounds and owners: cuts above (side 0, ascending) and below (side 1, descending) and their trees; roots (T,): first
    node of each tree in feature, upper, second (within the tree), cluster; centers (k, d); objective L1, L2 or
    SQEUCLIDEAN. OUT: seen (T,), filled with -1 before; change (T,).
    """
    k, d = centers.shape
    known, distances = np.full(k, -1), np.empty(k)
    for i in range(X.shape[0]):
        own = labels[i]
        if own < 0:
            continue
        weight = weights[i] if weights.size else 1.0
        for j in range(d):
            x = float(X[i, j])
            for side in range(2):
                at = 2 * (own * d + j) + side
                for e in range(starts[at], starts[at + 1]):
                    if x <= bounds[e] if side == 0 else x > bounds[e]:
                        break
                    tree = owners[e]
                    if seen[tree] == i:
                        continue
                    seen[tree] = i
                    there = _leaf(X, i, roots[tree], feature, upper, second, cluster)
                    for c in (own, there):
                        if known[c] != i:
                            known[c], distances[c] = i, _distance(X, i, centers, c, objective)
                    change[tree] += weight * (distances[there] - distances[own])


@jit
def _leaf(X, i, root, feature, upper, second, cluster):
    node = root
    while feature[node] >= 0:
        node = node + 1 if float(X[i, feature[node]]) <= upper[node] else root + second[node]
    return cluster[node]


@jit
def _distance(X, i, centers, c, objective):
    total = 0.0
    for j in range(X.shape[1]):
        gap = abs(float(X[i, j]) - centers[c, j])
        total += gap if objective == L1 else gap * gap
    return total**0.5 if objective == L2 else total
