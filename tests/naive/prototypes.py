"""Kernel MMDT."""

import math
from itertools import pairwise

from tests.naive.trees import between


def pair_similarity(g, x, y, v, w) -> tuple[float, float]:
    """Return mean and variance of `g(|x - y|)` over all pairs of weighted values, a value and itself included."""
    pairs = [(p * q, g(abs(a - b))) for a, p in zip(x, v, strict=True) for b, q in zip(y, w, strict=True)]
    total = math.fsum(v) * math.fsum(w)
    mean = math.fsum(s * value for s, value in pairs) / total
    return mean, math.fsum(s * (value - mean) ** 2 for s, value in pairs) / total


def kernel_mmdt(xi, radius, prototype, here, choice=None) -> dict | None:
    """Return the tree as nested dicts: every axis, pair and gap tried; None where components cannot be parted.

    `xi[i][a][b]` are similarities, `radius(i, level)` and `prototype(component, i)` numbers, asked for in pre-order,
    and `choice(here)` axis, component and level of a node, or None; without it those of the pair that is least alike.
    """
    if len(here) == 1:
        return {"cluster": here[0]}
    found = _of_the_least_alike(xi, here) if choice is None else choice(here)
    if found is None:
        return None
    i, c, level = found
    p, r = prototype(c, i), radius(i, level)
    inside, outside = [m for m in here if xi[i][c][m] >= level], [m for m in here if xi[i][c][m] < level]
    children = [kernel_mmdt(xi, radius, prototype, side, choice) for side in (inside, outside)]
    if None in children:
        return None
    return {"feature": i, "interval": [p - r, p + r], "inside": children[0], "outside": children[1]}


def _of_the_least_alike(xi, here) -> tuple[int, int, float] | None:
    pairs = sorted((xi[i][a][b], i, a, b) for i in range(len(xi)) for a in here for b in here if a < b)
    tried = [(i, _widest_gap(xi[i], (a, b), here)) for _, i, a, b in pairs]
    tried = [(i, gap) for i, gap in tried if gap is not None]
    if not tried:
        return None
    i, (_, c, level) = tried[0]
    return i, c, level


def surest_cut(xi, variance, weights, here) -> tuple[int, int, float] | None:
    """Return axis, component and level, in the middle of any gap, with the least bound on mistakes by Cantelli."""
    found = []
    for i in range(len(xi)):
        for c in here:
            for low, high in pairwise(sorted({xi[i][c][m] for m in here if xi[i][c][m] <= xi[i][c][c]})):
                level = -between(-high, -low)
                spreads = [(weights[m], variance[i][c][m], (level - xi[i][c][m]) ** 2) for m in here]
                if high - low > 1e-12:
                    found.append((math.fsum(p * v / (v + s) for p, v, s in spreads if v > 0), i, c, level))
    least = min(found)[0] if found else 0.0
    return next(((i, c, level) for bound, i, c, level in found if bound <= least * (1 + 1e-9)), None)


def _widest_gap(xi, pair, here) -> tuple[float, int, float] | None:
    """Return the largest gap below the similarity of a component to itself, the component, and the gap's middle."""
    best = None
    for c in pair:
        for low, high in pairwise(sorted({xi[c][m] for m in here if xi[c][m] <= xi[c][c]})):
            if high - low > (1e-12 if best is None else best[0]):
                best = high - low, c, -between(-high, -low)
    return best


def quantile(values, weights, u: float) -> float:
    """Return the first value, ascending, up to which more than a share u of the weights lies."""
    upto, pairs = 0.0, sorted(zip(values, weights, strict=True))
    for value, weight in pairs:
        upto += weight
        if upto > u * sum(weight for _, weight in pairs):
            return value
    return pairs[-1][0]
