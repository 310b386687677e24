"""The rows of a picture, counted one by one."""

import math

import numpy as np

__all__ = ["at_cut", "bar_of", "lost_at"]


def at_cut(ex, node):
    """Return the rows in a cluster, with weight, that reach a node: by walking each row from the root."""
    task, table = ex._rows().task, ex._rows().coordinates.table.values
    rows = []
    for row in range(len(table)):
        weight = 1.0 if task.rows.weights is None else float(task.rows.weights[row])
        if task.reference.labels[row] >= 0 and weight > 0 and node in path_of(ex.tree, table[row]):
            rows.append((row, int(task.reference.labels[row]), weight))
    return rows


def path_of(tree, x):
    """Return the nodes that a row meets."""
    nodes = [0]
    while tree.feature[node := nodes[-1]] >= 0:
        inside = tree.lower[node] <= float(x[tree.feature[node]]) <= tree.upper[node]
        nodes.append(node + 1 if inside else int(tree.second[node]))
    return nodes


def bar_of(edges, value):
    """Return the bar of a value: the first whose right edge is not below it, or the last one."""
    for i in range(len(edges) - 2):
        if value <= edges[i + 1]:
            return i
    return len(edges) - 2


def lost_at(ex, node):
    """Return the weight of rows at a cut that could have reached a leaf of their cluster, and no longer can.

    Rows of a cluster that no leaf names are lost at the first cut.
    """
    tree, table = ex.tree, ex._rows().coordinates.table.values
    lost = 0.0
    for row, cluster, weight in at_cut(ex, node):
        path = path_of(tree, table[row])
        child = path[path.index(node) + 1]
        if (node == 0 or cluster in clusters_below(tree, node)) and cluster not in clusters_below(tree, child):
            lost += weight
    return lost


def clusters_below(tree, node):
    if tree.feature[node] < 0:
        return {int(tree.cluster[node])}
    return clusters_below(tree, node + 1) | clusters_below(tree, int(tree.second[node]))


def straddles(left, right, lower, upper):
    """Return whether a bar from `left`, which is not in it, to `right` has doubles inside and outside of a cut."""
    first, last = math.nextafter(left, math.inf), right
    inside = [lower <= x <= upper for x in (first, last)]
    return inside[0] != inside[1] or (not inside[0] and first < lower and last > upper)


def overlap(box, other):
    """Return whether two rectangles have more than an edge in common; the last digits do not count."""
    wide = min(box.x + box.width, other.x + other.width) - max(box.x, other.x)
    high = min(box.y + box.height, other.y + other.height) - max(box.y, other.y)
    return wide > 1e-6 and high > 1e-6


def whole(values):
    return bool(np.all(np.asarray(values) == np.floor(values)))
