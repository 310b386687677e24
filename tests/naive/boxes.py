"""Mixtures in the boxes of a tree."""

import functools
import itertools
import math
from itertools import pairwise

import numpy as np

from tests.naive.trees import leaf_of


def explainability_to_noise(means, sigma) -> tuple[float, tuple[int, int], int]:
    """Return the smallest over pairs of the largest over axes, with the first pair and axis that attain it."""
    best = None
    for a, b in itertools.combinations(range(len(means)), 2):
        ratios = []
        for j, s in enumerate(sigma):
            apart = abs(means[a][j] - means[b][j])
            ratios.append(0.0 if apart == 0 else math.inf if s == 0 else (apart / s) ** 2)
        if best is None or max(ratios) < best[0]:
            best = max(ratios), (a, b), ratios.index(max(ratios))
    return best


def normal_share(low: float, high: float, mean: float, sigma: float) -> float:
    """Return the probability of the open interval, or of the point where both ends are equal."""
    if sigma == 0:
        return float(low <= mean <= high) if low == high else float(low < mean < high)
    a, b = (low - mean) / sigma, (high - mean) / sigma
    if a > 0:
        a, b = -b, -a
    return 0.5 * (math.erfc(-b / math.sqrt(2)) - math.erfc(-a / math.sqrt(2)))


def cells(d: dict, n_columns: int):
    """Yield every cell of the grid of all ends of all cuts, as intervals by column, with the cluster it falls in."""
    ends, stack = [set() for _ in range(n_columns)], [d]
    while stack:
        node = stack.pop()
        if "cluster" not in node:
            ends[node["feature"]] |= set(node.get("interval", [node.get("threshold")]))
            stack += [node[side] for side in ("left", "right", "inside", "outside") if side in node]
    axes = []
    for column in ends:
        points = [-math.inf, *sorted(end for end in column if math.isfinite(end)), math.inf]
        axes.append([*pairwise(points), *((p, p) for p in points[1:-1])])
    for cell in itertools.product(*axes):
        x = np.array([_inside(low, high) for low, high in cell])
        yield cell, leaf_of(d, x)["cluster"]


def _inside(low: float, high: float) -> float:
    if math.isinf(low) or math.isinf(high):
        if math.isinf(low) and math.isinf(high):
            return 0.0
        return math.nextafter(high, low) if math.isinf(low) else math.nextafter(low, high)
    return low if low == high else low + (high - low) / 2


def error_rate(weights, means, sigma, d: dict) -> float:
    """Return the share of rows in cells of another cluster than their component."""
    total = 0.0
    for cell, cluster in cells(d, len(means[0])):
        for c, weight in enumerate(weights):
            if c != cluster:
                share = (normal_share(*cell[j], means[c][j], sigma[c][j]) for j in range(len(cell)))
                total += weight * math.prod(share)
    return total


def mixture_cost(weights, means, sigma, d: dict, centers, power: int) -> float:
    """Return E of the sum over columns of |x - centre|^power, each cell by quadrature."""
    total = 0.0
    for cell, cluster in cells(d, len(means[0])):
        for c, weight in enumerate(weights):
            share = [normal_share(*cell[j], means[c][j], sigma[c][j]) for j in range(len(cell))]
            for j, interval in enumerate(cell):
                others = math.prod(share[:j] + share[j + 1 :])
                if others > 0:
                    total += weight * others * _moment(*interval, means[c][j], sigma[c][j], centers[cluster][j], power)
    return total


def _moment(low, high, mean, sigma, center, power) -> float:
    if low == high:
        return 0.0
    low, high = max(low, mean - 12 * sigma), min(high, mean + 12 * sigma)
    cuts = [low, *(p for p in (center,) if low < p < high), high]
    nodes, steps = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for a, b in pairwise(cuts):
        for p, q in pairwise(np.linspace(a, b, 9)) if a < b else []:
            x = p + (q - p) * (nodes + 1) / 2
            density = np.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
            total += float((steps * density * np.abs(x - center) ** power).sum() * (q - p) / 2)
    return total


def kernel_mixture_costs(weights, means, sigma, d: dict, profile) -> tuple[float, float, float]:
    """Return the cost of a tree at its own kernel means, at those of the components, and the cost of the components.

    The kernel is the product over columns of `profile(t)`, t >= 0. Rows in two cells have by quadrature in each column
    the mean of the profile. Costs are sums of inner products of kernel means: no formula is used.
    """
    whole = [(-math.inf, math.inf)] * len(means[0])
    by_cluster = {}
    for cell, cluster in cells(d, len(means[0])):
        if all(low < high for low, high in cell):
            by_cluster.setdefault(cluster, []).append(cell)

    def shared(a, cell, b, other) -> float:
        pairs = zip(cell, other, means[a], sigma[a], means[b], sigma[b], strict=True)
        return math.prod(_mean_of_profile(profile, *pair) for pair in pairs)

    components = range(len(weights))
    within = [shared(c, whole, c, whole) for c in components]
    own = other = 0.0
    for cluster, boxes in by_cluster.items():
        law = [(c, cell, weights[c]) for c in components for cell in boxes]
        chance = sum(
            w * math.prod(normal_share(*ends, m, s) for ends, m, s in zip(cell, means[c], sigma[c], strict=True))
            for c, cell, w in law
        )
        squared_norm = sum(v * w * shared(a, cell, b, near) for a, cell, v in law for b, near, w in law)
        own += chance - (squared_norm / chance if chance > 0 else 0.0)
        to_component = sum(v * shared(a, cell, cluster, whole) for a, cell, v in law)
        other += chance - 2 * to_component + chance * within[cluster]
    return own, other, sum(w * (1 - s) for w, s in zip(weights, within, strict=True))


@functools.cache
def _mean_of_profile(profile, ends, others, mean, deviation, center, spread) -> float:
    """Return E[profile(|x - y|); x and y between their ends] for normal x and y, by nodes and weights of both."""
    x, p = _nodes(*ends, mean, deviation)
    y, q = _nodes(*others, center, spread)
    return float(p @ profile(np.abs(x[:, None] - y)) @ q)


def _nodes(low, high, mean, sigma) -> tuple[np.ndarray, np.ndarray]:
    low, high = max(low, mean - 9 * sigma), min(high, mean + 9 * sigma)
    if low >= high:
        return np.zeros(1), np.zeros(1)
    nodes, steps = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(low, high, 13)
    width = np.diff(edges) / 2
    x = (edges[:-1] + width + np.outer(nodes, width)).ravel()
    density = np.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
    return x, np.outer(steps, width).ravel() * density


def separations(weights, means, sigma, d: dict) -> tuple[list[float], list[float], float]:
    """Return by node in pre-order the exact and the Chebyshev chance of parting rows from their mean; and misplaced."""
    exact, chebyshev, misplaced = [], [], 0.0
    stack = [(d, list(range(len(weights))))]
    while stack:
        node, here = stack.pop()
        exact.append(0.0)
        chebyshev.append(0.0)
        if "cluster" in node:
            misplaced += sum(weights[c] for c in here if c != node["cluster"])
            continue
        j = node["feature"]
        low, high = node.get("interval", (-math.inf, node.get("threshold")))
        first, second = ("left", "right") if "threshold" in node else ("inside", "outside")
        for c in here:
            mean, s = means[c][j], sigma[c][j]
            parts = [(-math.inf, low), (high, math.inf)] if low <= mean <= high else [(low, high)]
            exact[-1] += weights[c] * sum(normal_share(a, b, mean, s) for a, b in parts)
            distance = min(abs(low - mean), abs(high - mean))
            chance = 0.0 if s == 0 else 1.0 if distance == 0 else min(1.0, (s / distance) ** 2)
            chebyshev[-1] += weights[c] * chance
        stack.append((node[second], [c for c in here if not low <= means[c][j] <= high]))
        stack.append((node[first], [c for c in here if low <= means[c][j] <= high]))
    return exact, chebyshev, misplaced
