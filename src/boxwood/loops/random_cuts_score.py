"""The additional cost of each of many trees over the clustering that they explain, from one pass over the rows.

Each tree has one leaf for each cluster, so only rows outside the leaf of their cluster add to the cost. The thresholds
around that leaf, in all trees, are listed by axis and side, the innermost first. So a row in the middle of its cluster
is compared with one threshold on each side of an axis, for any number of trees.

Costs are added in parts, as in `sums`, so that the cheapest tree does not depend on the order of the rows.
"""

from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Ints
from boxwood.loops.jit import jit

__all__ = ["LeafBounds", "Trees", "add_costs_and_moves"]

L1, L2, SQEUCLIDEAN = 0, 1, 2  # as in costs
ROUNDING = 6755399441055744.0  # as in sums


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
def add_costs_and_moves(X, labels, weights, scale, bounds, trees, centers, unit, objective, units, cost, change):
    """Add the cost of the rows at their own centres, and for each tree the additional cost of the rows that it moves.

    IN: X (n, d); labels (n,), -1 left out; weights (n,) or (0,); scale: brings weight times distance to at most 1;
    bounds: LeafBounds; trees: Trees; centers (k, d); unit: brings differences of values to at most 1; objective L1, L2
    or SQEUCLIDEAN; units (p,): those of the parts, descending. OUT: cost (1, p); change (T, p).
    """
    starts, thresholds, owners = bounds
    k, d = centers.shape
    last_row = np.full(len(change), -1)  # the last row sent down each tree
    measured, distances = np.full(k, -1), np.empty(k)  # distances[c] is that of row measured[c]
    for i in range(X.shape[0]):
        label = labels[i]
        if label < 0:
            continue
        weight = (weights[i] if weights.size else 1.0) * scale
        if weight == 0.0:
            continue
        measured[label], distances[label] = i, _distance(X, i, centers, label, unit, objective)
        _deposit(weight * distances[label], units, cost[0])
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
                    if measured[cluster] != i:
                        measured[cluster], distances[cluster] = i, _distance(X, i, centers, cluster, unit, objective)
                    _deposit(weight * (distances[cluster] - distances[label]), units, change[tree])


@jit
def _deposit(value, units, sums):
    """Add a number in parts. IN: value; units (p,). OUT: sums (p,)."""
    for part in range(len(units)):
        magic = ROUNDING * units[part]
        whole = (value + magic) - magic
        sums[part] += whole
        value -= whole


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
def _distance(X, i, centers, c, unit, objective):
    """Return the distance of row i to centre c, as the objective measures it, with differences times the unit."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = abs(float(X[i, j]) * unit - centers[c, j] * unit)
        total += gap if objective == L1 else gap * gap
    return np.sqrt(total) if objective == L2 else total
