"""Costs, prices and agreement, row by row."""

import itertools
import math
from fractions import Fraction

import numpy as np


def parts(labels, weights=None) -> dict:
    """Return the rows of each cluster with the weight of each, as a fraction; others are missing."""
    rows_of: dict = {}
    for row, label in enumerate(labels):
        weight = Fraction(1 if weights is None else float(weights[row]))
        if label != -1 and weight > 0:
            rows_of.setdefault(label, []).append((row, weight))
    return rows_of


def center_by_column(values: list, weights: list, objective: str) -> Fraction:
    """Return the exact mean, or the smallest value that is a median by trying all of them."""
    if objective == "sqeuclidean":
        return sum(w * x for x, w in zip(values, weights, strict=True)) / sum(weights)
    return min(sorted(values), key=lambda c: sum(w * abs(x - c) for x, w in zip(values, weights, strict=True)))


def cost(X, labels, objective: str, centers=None, weights=None) -> Fraction:
    """Return the exact cost for "l1" and "sqeuclidean", with the best centres or the given ones."""
    total = Fraction(0)
    for label, rows in parts(labels, weights).items():
        for j in range(X.shape[1]):
            values, w = [Fraction(float(X[row, j])) for row, _ in rows], [weight for _, weight in rows]
            given = centers is not None
            center = Fraction(float(centers[label, j])) if given else center_by_column(values, w, objective)
            power = 1 if objective == "l1" else 2
            total += sum(weight * abs(x - center) ** power for x, weight in zip(values, w, strict=True))
    return total


def nearest_cost(X, centers, objective: str, weights=None) -> float:
    """Return the weighted sum of the distances of rows to the nearest centre; exact but for "l2"."""
    total = []
    for i, row in enumerate(X):
        x, w = list(map(float, row)), Fraction(1 if weights is None else float(weights[i]))
        if objective == "l2":
            total.append(float(w) * min(math.dist(x, center) for center in centers))
        else:
            power = 1 if objective == "l1" else 2
            steps = [[abs(Fraction(a) - Fraction(float(b))) for a, b in zip(x, z, strict=True)] for z in centers]
            total.append(w * min(sum(step**power for step in of_center) for of_center in steps))
    return math.fsum(total) if objective == "l2" else float(sum(total))


def euclidean_cost(X, labels, centers, weights=None) -> float:
    """Return the weighted sum of Euclidean distances to given centres."""
    return math.fsum(
        float(weight) * math.dist(X[row].astype(float), centers[label])
        for label, rows in parts(labels, weights).items()
        for row, weight in rows
    )


def euclidean_cost_bounds(Z: np.ndarray, w: np.ndarray, point: np.ndarray) -> tuple[float, float]:
    """Return a number that no centre's cost is below, and the cost of `point`, for the sum of Euclidean distances.

    The cost is convex: at a centre z it is at least cost(point) + slope . (z - point), for any subgradient, and the
    best centre is no farther than 2 cost / weight. Rows nearer than 1e-10 of a mean distance count as at the point.
    """
    r = np.sqrt(((Z - point) ** 2).sum(axis=1))
    value, far = (w * r).sum(), r > 1e-10 * (w * r).sum() / w.sum()
    pull = ((w[far] / r[far])[:, None] * (Z[far] - point)).sum(axis=0)
    slope = max(np.sqrt((pull**2).sum()) - w[~far].sum(), 0.0)
    return float(value * (1 - 2 * slope / w.sum())), float(value)


def leaf_clusters_below(d: dict) -> set:
    """Return the clusters of the leaves of a nested tree."""
    if "cluster" in d:
        return {d["cluster"]}
    children = ("left", "right") if "threshold" in d else ("inside", "outside")
    return set.union(*(leaf_clusters_below(d[child]) for child in children))


def node_table(d: dict, X, labels, rows=None) -> list:
    """Return (rows, own, mistakes) of each node of a nested tree, in pre-order, as lists of row numbers."""
    rows = [row for row in range(len(X)) if labels[row] >= 0] if rows is None else rows
    own = [row for row in rows if labels[row] in leaf_clusters_below(d)]
    if "cluster" in d:
        return [(rows, own, [])]
    first, second = ("left", "right") if "threshold" in d else ("inside", "outside")
    sides: dict = {first: [], second: []}
    for row in rows:
        value = float(X[row, d["feature"]])
        low, high = (-np.inf, d["threshold"]) if "threshold" in d else d["interval"]
        sides[first if low <= value <= high else second].append(row)
    below = [(side, leaf_clusters_below(d[side])) for side in sides]
    lost = [row for row in own if not any(row in sides[side] and labels[row] in found for side, found in below)]
    return [(rows, own, lost), *(entry for side in sides for entry in node_table(d[side], X, labels, sides[side]))]


def conditions(path) -> int:
    """Return the number of different one-sided conditions left of a path of threshold cuts."""
    ends = {(cut.feature, cut.inside) for cut in path}
    return len(ends)


def matched(labels, predicted, weights) -> float:
    """Return the largest weight that a one-to-one matching of labels agrees on, by trying all, as a share."""
    a, b = sorted(set(labels)), sorted(set(predicted))
    b += [f"nothing {i}" for i in range(len(a))]
    best = max(
        math.fsum(w for x, y, w in zip(labels, predicted, weights, strict=True) if image[a.index(x)] == y)
        for image in itertools.permutations(b, len(a))
    )
    return best / math.fsum(weights)
