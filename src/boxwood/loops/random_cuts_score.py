"""By how much each of many trees costs more than the clustering that it explains, from one pass over the rows.

Each tree has one leaf for each cluster, so only rows outside the leaf of their cluster change the cost. The thresholds
around that leaf, in all trees, are listed by axis and side, the innermost first. So a row in the middle of its cluster
is compared with one threshold on each side of an axis, whatever the number of trees.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Ints
from boxwood.loops._jit import jit

__all__ = ["LeafBounds", "Trees", "add_moves"]

L1, L2, SQEUCLIDEAN = 0, 1, 2  # as in costs


class LeafBounds(NamedTuple):
    """The thresholds around the leaf of each of k clusters in each of T trees, the innermost first.

    Those of cluster c, axis j and side s are numbered from `starts[2 (c d + j) + s]` on. Side 0 bounds the leaf from
    above, side 1 from below.
    """

    starts: Ints  # (2 k d + 1,)
    thresholds: Floats  # ascending for side 0, descending for side 1
    trees: Ints  # tree of each threshold


class Trees(NamedTuple):
    """The nodes of T trees, one tree after the other, each in pre-order."""

    roots: Ints  # (T,) number of the first node of each tree
    feature: Ints  # (nodes,)
    upper: Floats  # (nodes,)
    second: Ints  # (nodes,) counted from the root of the tree
    cluster: Ints  # (nodes,)


@jit
def add_moves(X, labels, weights, bounds, trees, centers, objective, last_row, change):
    """Add for each tree the cost of the rows that it moves at the centre of their leaf, minus that at their own centre.

    IN: X (n, d); labels (n,), -1 left out; weights (n,) or (0,); bounds: LeafBounds; trees: Trees; centers (k, d);
    objective L1, L2 or SQEUCLIDEAN. IN and OUT: last_row (T,): last row that each tree was asked about, -1 before;
    change (T,).
    """
    starts, thresholds, owners = bounds
    k, d = centers.shape
    measured, distances = np.full(k, -1), np.empty(k)  # distances[c] is that of row measured[c]
    for i in range(X.shape[0]):
        label = labels[i]
        if label < 0:
            continue
        weight = weights[i] if weights.size else 1.0
        for j in range(d):
            x = float(X[i, j])
            for side in range(2):
                at = 2 * (label * d + j) + side
                for e in range(starts[at], starts[at + 1]):
                    if x <= thresholds[e] if side == 0 else x > thresholds[e]:
                        break
                    tree = owners[e]
                    if last_row[tree] == i:
                        continue
                    last_row[tree] = i
                    cluster = _cluster_of(X, i, trees, tree)
                    for c in (label, cluster):
                        if measured[c] != i:
                            measured[c], distances[c] = i, _distance(X, i, centers, c, objective)
                    change[tree] += weight * (distances[cluster] - distances[label])


@jit
def _cluster_of(X, i, trees, tree):
    """Return the cluster of the leaf that row i reaches in one of the trees."""
    roots, feature, upper, second, cluster = trees
    root = roots[tree]
    node = root
    while feature[node] >= 0:
        node = node + 1 if float(X[i, feature[node]]) <= upper[node] else root + second[node]
    return cluster[node]


@jit
def _distance(X, i, centers, c, objective):
    """Return the distance of row i to centre c, as the objective measures it."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = abs(float(X[i, j]) - centers[c, j])
        total += gap if objective == L1 else gap * gap
    return total**0.5 if objective == L2 else total
