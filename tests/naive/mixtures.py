"""Moments, MMDT and the tail check."""

import math
from fractions import Fraction

import numpy as np

from tests.naive.metrics import parts
from tests.naive.trees import between

# ------------------------------------------------------------------------------------------------------- moments, MMDT


def moments(X, labels, weights=None) -> dict:
    """Return for each cluster its weight, and exact mean and population variance by column."""
    found = {}
    for cluster, rows in sorted(parts(labels, weights).items()):
        total = sum(weight for _, weight in rows)
        columns = [[(Fraction(float(X[row, j])), weight) for row, weight in rows] for j in range(X.shape[1])]
        means = [sum(w * x for x, w in column) / total for column in columns]
        variances = [
            sum(w * (x - mean) ** 2 for x, w in column) / total for column, mean in zip(columns, means, strict=True)
        ]
        found[cluster] = total, means, variances
    return found


def mmdt(means, deviations, axis="gap", components=None) -> dict:
    """Return the tree of midpoints as nested dicts: node by node, every gap of every axis."""
    components = list(range(len(means))) if components is None else components
    if len(components) == 1:
        return {"cluster": components[0]}
    _, _, j, threshold = min(mmdt_cuts(means, deviations, axis, components))
    left = [c for c in components if means[c][j] <= threshold]
    right = [c for c in components if means[c][j] > threshold]
    return {
        "feature": j,
        "threshold": threshold,
        "left": mmdt(means, deviations, axis, left),
        "right": mmdt(means, deviations, axis, right),
    }


def mmdt_cuts(means, deviations, axis, components) -> list:
    """Return the largest gap of every axis: minus its ratio, minus its length where that is infinite, axis, middle."""
    cuts = []
    for j, deviation in enumerate(deviations):
        values = sorted({float(means[c][j]) for c in components})
        if len(values) < 2:
            continue
        place = max(range(len(values) - 1), key=lambda i, v=values: v[i + 1] - v[i])
        a, b = values[place], values[place + 1]
        length = b - a if axis == "gap" else values[-1] - values[0]
        ratio = length / deviation if deviation > 0 else math.inf
        cuts.append((-ratio, -length if ratio == math.inf else 0, j, between(a, b)))
    return cuts


def mmdt_by_largest_ratio(means, deviations) -> dict:
    """Return the same tree grown as the paper writes it: of all leaves, always split that with the largest ratio."""
    root = {"cluster": list(range(len(means)))}
    leaves = [root]
    while True:
        cuts = [(min(mmdt_cuts(means, deviations, "gap", d["cluster"])), i, d) for i, d in enumerate(leaves)
                if len(d["cluster"]) > 1]  # fmt: skip
        if not cuts:
            break
        (_, _, j, threshold), i, leaf = min(cuts, key=lambda entry: entry[:2])
        components = leaf.pop("cluster")
        leaf.update(feature=j, threshold=threshold)
        leaf["left"] = {"cluster": [c for c in components if means[c][j] <= threshold]}
        leaf["right"] = {"cluster": [c for c in components if means[c][j] > threshold]}
        leaves = [*leaves[:i], *leaves[i + 1 :], leaf["left"], leaf["right"]]
    for leaf in leaves:
        (leaf["cluster"],) = leaf["cluster"]
    return root


def log_losses(points, means, weights, variances, objective) -> np.ndarray:
    """Return the logarithm of what is lost at each threshold on one axis, term by term."""
    from scipy.special import log_ndtr

    found = np.full(len(points), -np.inf)
    for mean, weight, variance in zip(means, weights, variances, strict=True):
        if variance == 0:
            continue
        with np.errstate(divide="ignore", over="ignore"):
            t = np.abs(points - mean) / math.sqrt(variance)
            shares = {
                "tails": lambda t: log_ndtr(-t),
                "chebyshev": lambda t: -2 * np.log(t),
                "cantelli": lambda t: -np.logaddexp(0, 2 * np.log(t)),
                "gaussian": lambda t: -(t**2) / 2,
            }
            share = shares[objective](t)
        found = np.logaddexp(found, math.log(weight) + share)
    return found


# ---------------------------------------------------------------------------------------------------------- tail check


def tail(values, weights) -> tuple[float, float, float, float]:
    """Return rows by weight, share beyond three robust standard deviations, skewness and middle; weights are whole."""
    rows = sorted((float(v), int(w)) for v, w in zip(values, weights, strict=True))
    total = sum(w for _, w in rows)
    low, first, median, third, high = (
        _quantile(rows, total, share) for share in map(Fraction, ("0.1", "0.25", "0.5", "0.75", "0.9"))
    )
    sigma = (third - first) / 1.3489795003921634
    beyond = sum(w for v, w in rows if abs(v - median) > 3 * sigma) / total
    n = total**2 / sum(w * w for _, w in rows)
    if high == low:
        return n, beyond, 0.0, 0.5263202179066186
    return n, beyond, ((high - median) - (median - low)) / (high - low), (third - first) / (high - low)


def _quantile(rows, total, share) -> float:
    """Return the middle of the values that have at most the share below and at most the rest above."""
    fitting = []
    for value, _ in rows:
        below, above = sum(w for v, w in rows if v < value), sum(w for v, w in rows if v > value)
        if below <= share * total and above <= (1 - share) * total:
            fitting.append(value)
    return fitting[0] + (fitting[-1] - fitting[0]) / 2
