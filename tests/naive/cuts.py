"""Random cuts and their bounds."""

import itertools
import math
from itertools import pairwise

import numpy as np

from tests.naive.axes import terminal_embedding
from tests.naive.metrics import leaf_clusters_below


def expected_cost(x, centers, objective="l1", median="midpoint") -> float:
    """Return the exact expected cost of one row over the trees of random cuts, from its nodes one by one.

    Cuts between two neighbouring values of the row and the centres at a node send the row to the same side.
    """
    x, centers = [float(v) for v in x], [[float(v) for v in c] for c in centers]
    norm = {"l1": 1, "l2": 2, "sqeuclidean": 2}[objective]
    costs = [sum(abs(a - b) ** norm for a, b in zip(x, c, strict=True)) for c in centers]
    costs = [math.sqrt(cost) for cost in costs] if objective == "l2" else costs
    axes = range(len(x))
    if objective == "sqeuclidean":
        terminals = [sorted({c[i] for c in centers}) for i in axes]
        x, *centers = [[terminal_embedding(terminals[i], p[i]) for i in axes] for p in (x, *centers)]
    known = {}

    def at(here: tuple, call: tuple | None) -> float:
        """Return the expected cost from a node on; `call` is the size and the median that "l2" started from."""
        if len(here) == 1:
            return costs[here[0]]
        if objective == "l2" and (call is None or 2 * len(here) <= call[0]):
            call = len(here), tuple(middle([centers[c][i] for c in here], median) for i in axes)
        if (here, call) not in known:
            ways = list(_ways(x, centers, here, call))
            total = sum(weight for weight, _, _ in ways)
            known[here, call] = sum(weight / total * at(stay, later) for weight, stay, later in ways)
        return known[here, call]

    return at(tuple(range(len(centers))), None)


def _ways(x, centers, here: tuple, call: tuple | None):
    """Yield the weight of each interval of cuts, the centres on the row's side, and `call` if the median is there."""
    for i in range(len(x)):
        places = [centers[c][i] for c in here]
        stops = {*places, x[i]} | ({call[1][i]} if call else set())
        for a, b in pairwise(sorted(v for v in stops if min(places) <= v <= max(places))):
            stay = tuple(c for c in here if (centers[c][i] <= a) == (x[i] <= a))
            weight, main = b - a, False
            if call:
                m = call[1][i]
                weight, main = abs((b - m) ** 2 - (a - m) ** 2), (m <= a) == (x[i] <= a)
            yield weight, stay, call if main else None


def middle(values: list, median: str) -> float:
    """Return the middle value; of an even number the midpoint of the two middle ones, or the lower one."""
    ordered, half = sorted(values), len(values) // 2
    if len(values) % 2:
        return ordered[half]
    return ordered[half - 1] if median == "lower" else (ordered[half - 1] + ordered[half]) / 2


def separation_probability(x, center, median, radius: float) -> float:
    """Return the share of axis, sign and number in [0, radius²] whose cut has one of row and centre on either side."""
    shares = []
    for v, c, m in zip(x, center, median, strict=True):
        numbers = sorted({0.0, radius**2, *(q for q in ((v - m) ** 2, (c - m) ** 2) if q < radius**2)})
        for sign in (-1, 1):
            cuts = [(b - a, m + sign * math.sqrt((a + b) / 2)) for a, b in pairwise(numbers)]
            shares.append(sum(width for width, cut in cuts if (v <= cut) != (c <= cut)) / radius**2)
    return sum(shares) / len(shares)


def fewest_separated(points, centers, labels) -> int:
    """Return the fewest points that a cut at 0 <= theta < 1 on any axis parts from their centres."""
    own, counts = np.asarray(centers)[labels], []
    for i in range(points.shape[1]):
        for theta in {0.0, *(v for v in (*points[:, i], *own[:, i]) if 0 <= v < 1)}:
            counts.append(int(((points[:, i] <= theta) != (own[:, i] <= theta)).sum()))
    return min(counts)


def mistake_ratios(d: dict, X, labels, centers, weights, power: int) -> tuple[list, list, float]:
    """Return by node in pre-order the mistakes and the largest ratio of IMM's inequality; and the cost of mistakes."""
    X, mistakes, ratios, spent = np.asarray(X, dtype=np.float64), [], [], 0.0
    stack = [(d, [r for r in range(len(X)) if labels[r] >= 0], sorted(leaf_clusters_below(d)))]
    while stack:
        node, rows, here = stack.pop()
        mistakes.append(0.0)
        ratios.append(0.0)
        if "cluster" in node:
            continue
        j, cut = node["feature"], node["threshold"]
        kept = [r for r in rows if (X[r][j] <= cut) == (centers[labels[r]][j] <= cut)]
        mistakes[-1] = sum(weights[r] for r in rows) - sum(weights[r] for r in kept)
        for i in range(len(centers[0])):
            extra = mistakes[-1] * (max(centers[c][i] for c in here) - min(centers[c][i] for c in here)) ** power
            spent += extra
            costs = sum(weights[r] * abs(X[r][i] - centers[labels[r]][i]) ** power for r in rows)
            if extra > 0:
                ratios[-1] = max(ratios[-1], extra / ((4 * len(here) if power == 2 else 2) * costs))
        for side, is_left in (("right", False), ("left", True)):
            inside = [c for c in here if (centers[c][j] <= cut) == is_left]
            stack.append((node[side], [r for r in kept if (X[r][j] <= cut) == is_left], inside))
    return mistakes, ratios, spent


def kmeans_plus_plus(points, k: int) -> float:
    """Return the exact expected cost of the seeds of k-means++, over all sequences of rows."""

    def at(seeds: tuple) -> float:
        costs = [min(float(((p - points[s]) ** 2).sum()) for s in seeds) for p in points]
        if len(seeds) == k or sum(costs) == 0:
            return sum(costs)
        return sum(cost / sum(costs) * at((*seeds, r)) for r, cost in enumerate(costs) if cost > 0)

    return sum(at((r,)) for r in range(len(points))) / len(points)


def best_kmeans_cost(points, k: int) -> float:
    """Return the smallest cost of k-means, over all partitions into at most k parts."""
    best = math.inf
    for labels in itertools.product(range(k), repeat=len(points) - 1):
        labels = np.array((0, *labels))
        cost = sum(float(((p - p.mean(axis=0)) ** 2).sum()) for c in set(labels) for p in [points[labels == c]])
        best = min(best, cost)
    return best
