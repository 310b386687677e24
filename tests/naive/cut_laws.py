"""Slow, obvious twins of random cuts: where a point ends, by going through all cuts instead of drawing them."""

from functools import cache
from itertools import pairwise

import numpy as np


def embedded(value: float, terminals) -> float:
    """Return where the one-dimensional terminal embedding puts a value."""
    y = sorted(set(terminals))
    z = [0.0]
    for a, b in pairwise(y):
        z.append(z[-1] + (b - a) ** 2 / 2)
    i = min(range(len(y)), key=lambda i: abs(value - y[i]))
    return z[i] + np.sign(value - y[i]) * (value - y[i]) ** 2


def reached(centers, x, objective="l1", exact=False, lower_median=False) -> np.ndarray:
    """Return the probability that `x` ends in the leaf of each centre."""
    centers, x = np.asarray(centers, dtype=float), np.asarray(x, dtype=float)
    if objective == "l2":
        return _by_medians(centers, x, lower_median)
    if objective == "sqeuclidean":
        columns = [[embedded(v, column) for v in (*column, x[j])] for j, column in enumerate(centers.T)]
        centers, x = np.array(columns).T[:-1], np.array(columns).T[-1]
    return (_by_rounds if exact else _by_nodes)(centers, x)


def pieces(centers, x, here) -> list[tuple[int, float, float]]:
    """Return axis and ends of the intervals between neighbouring values of some centres and a point on each axis."""
    found = []
    for j in range(centers.shape[1]):
        column = centers[list(here), j]
        ends = sorted({*column, *(v for v in (x[j],) if column.min() < v < column.max())})
        found += [(j, a, b) for a, b in pairwise(ends)]
    return found


def _by_nodes(centers, x) -> np.ndarray:
    @cache
    def law(here: tuple) -> np.ndarray:
        if len(here) == 1:
            return np.eye(len(centers))[here[0]]
        cuts = pieces(centers, x, here)
        total = sum(b - a for _, a, b in cuts)
        return sum((b - a) / total * law(_side(centers, x, here, j, a)) for j, a, b in cuts)

    return law(tuple(range(len(centers))))


def _side(centers, x, here, j, cut) -> tuple:
    """Return the centres on the side of `x` of a cut just above a value."""
    return tuple(c for c in here if (centers[c, j] <= cut) == (x[j] <= cut))


def _by_rounds(centers, x) -> np.ndarray:
    k = len(centers)

    @cache
    def law(leaves: tuple, mine: int) -> np.ndarray:
        if len(leaves[mine]) == 1:
            return np.eye(k)[leaves[mine][0]]
        cuts = allowed(centers, x, leaves)
        total = sum(b - a for _, a, b in cuts)
        result = np.zeros(k)
        for j, a, b in cuts:
            parts = []
            for i, leaf in enumerate(leaves):
                sides = [[c for c in leaf if (centers[c, j] <= a) == inside] for inside in (True, False)]
                if i == mine:
                    place = len(parts) + (bool(sides[0]) and not x[j] <= a and bool(sides[1]))
                parts += [tuple(side) for side in sides if side]
            result += (b - a) / total * law(tuple(parts), place)
        return result

    return law((tuple(range(k)),), 0)


def allowed(centers, x, leaves) -> list[tuple[int, float, float]]:
    """Return the pieces that part some leaf, but no two centres nearer than D / k³."""
    k = len(centers)
    pairs = [(a, b) for leaf in leaves for a in leaf for b in leaf if a < b]
    distance = {(a, b): np.abs(centers[a] - centers[b]).sum() for a, b in pairs}
    near = max(distance.values()) / k**3
    found = []
    for j, a, b in pieces(centers, x, range(k)):
        parted = [p for p in pairs if min(centers[list(p), j]) <= a < max(centers[list(p), j])]
        if parted and all(distance[p] > near for p in parted):
            found.append((j, a, b))
    return found


def _by_medians(centers, x, lower) -> np.ndarray:
    @cache
    def law(called: tuple, here: tuple) -> np.ndarray:
        if len(here) == 1:
            return np.eye(len(centers))[here[0]]
        if 2 * len(here) <= len(called):
            return law(here, here)
        values = np.sort(centers[list(called)], axis=0)
        low, high = values[(len(called) - 1) // 2], values[len(called) // 2]
        m = low if lower else (low + high) / 2
        weights, sides = [], []
        for j, a, b in pieces(centers, x, here):
            for sign, near, far in ((1, a - m[j], b - m[j]), (-1, m[j] - b, m[j] - a)):
                weight = max(0.0, far) ** 2 - max(0.0, near) ** 2
                side = _side(centers, x, here, j, a)
                kept = [c for c in here if (centers[c, j] <= a) == (sign > 0)]
                weights.append(weight)
                sides.append((called if set(side) == set(kept) else side, side))
        return sum(w / sum(weights) * law(*side) for w, side in zip(weights, sides, strict=True) if w > 0)

    return law(tuple(range(len(centers))), tuple(range(len(centers))))


def median_cut(centers, rng) -> tuple[int, float]:
    """Return axis and threshold of the first median-centred cut, by drawing until one parts the centres."""
    centers = np.asarray(centers, dtype=float)
    m = np.median(centers, axis=0)
    radius = np.sqrt(((centers - m) ** 2).sum(axis=1)).max()
    while True:
        j, sign = rng.integers(centers.shape[1]), rng.choice([-1, 1])
        cut = m[j] + sign * np.sqrt(rng.uniform(0, radius**2))
        if 0 < (centers[:, j] <= cut).sum() < len(centers):
            return int(j), float(cut)
