"""K-medians, step by step."""

import itertools
import math
from fractions import Fraction

import numpy as np

from tests.naive.metrics import parts


def distance(x, center, objective) -> float:
    """Return the l1 or the Euclidean distance, summed column by column."""
    gaps = [float(a) - float(b) for a, b in zip(x, center, strict=True)]
    return float(sum(abs(gap) for gap in gaps)) if objective == "l1" else math.sqrt(sum(gap * gap for gap in gaps))


def nearest(X, centers, objective) -> tuple[list[int], list[float]]:
    """Return the nearest centre of each row, the first of equally near ones, and its distance."""
    found = [[distance(x, center, objective) for center in centers] for x in X]
    return [row.index(min(row)) for row in found], [min(row) for row in found]


def alternate(X, centers, objective, best_centers, weights=None, max_iter=300) -> tuple[list, list, float, int]:
    """Return centres, labels, cost and steps; `best_centers(labels)` gives the best centre of each cluster."""
    weights = np.ones(len(X)) if weights is None else weights
    now = _assigned(X, [list(center) for center in centers], objective, weights)
    for step in range(1, max_iter + 1):
        after = _assigned(X, best_centers(now[1]), objective, weights)
        gain, settled = now[2] - after[2], after[1] == now[1]
        now = now if gain < -1e-13 * now[2] else after
        if settled or gain <= 0:
            return *now, step
    return *now, max_iter


def _assigned(X, centers, objective, weights) -> tuple[list, list, float]:
    """Return centres, labels and cost, after centres without rows went to the rows farthest from theirs."""
    by_value = sorted(range(len(X)), key=lambda row: tuple(X[row]))
    while True:
        labels, costs = nearest(X, centers, objective)
        empty = [c for c in range(len(centers)) if c not in labels]
        if not empty:
            return centers, labels, float(np.sum(np.array(costs) * weights))
        if not any(costs):
            raise ValueError(f"only {len(set(labels))} different rows")
        for c in empty:
            farthest = max(by_value, key=lambda row: costs[row])
            centers = [*centers[:c], [float(x) for x in X[farthest]], *centers[c + 1 :]]
            costs = [min(cost, distance(x, centers[c], objective)) for cost, x in zip(costs, X, strict=True)]


def medians(X, labels, k, weights=None) -> list:
    """Return the median of each column of each cluster: half of the weight on either side, the midpoint of a gap."""
    rows_of = parts(labels, weights)
    return [[_median([(float(X[row, j]), w) for row, w in rows_of[c]]) for j in range(X.shape[1])] for c in range(k)]


def _median(pairs) -> float:
    pairs, total, below = sorted(pairs), sum(w for _, w in pairs), Fraction(0)
    for place, (value, w) in enumerate(pairs):
        below += w
        if 2 * below == total:
            after = pairs[place + 1][0]
            return value if value == after else value / 2 + after / 2
        if 2 * below > total:
            return value
    raise AssertionError


def lowest_cost(n_rows: int, k: int, cost_of) -> float:
    """Return the lowest cost of all partitions of the rows into k parts; `cost_of(rows)` is the cost of a part."""
    known = {}

    def part_cost(rows):
        if rows not in known:
            known[rows] = cost_of(rows) if rows else 0.0
        return known[rows]

    return min(
        sum(part_cost(tuple(row for row in range(n_rows) if labels[row] == c)) for c in range(k))
        for labels in itertools.product(range(k), repeat=n_rows)
        if labels[0] == 0  # the parts have no order
    )
