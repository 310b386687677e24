"""Concepts, one at a time."""

import itertools
import math

import numpy as np


def mean_difference_distances(Z, values) -> list[float]:
    """Return the signed distance of each row from the boundary halfway between the means of 0 and 1."""
    spread = [max(column.std(), 0.01 * math.sqrt(np.mean(Z.var(axis=0)))) or 1.0 for column in Z.T]
    low, high = (Z[[v == side for v in values]].mean(axis=0) for side in (0, 1))
    normal = [(h - b) / s**2 * (np.ptp(z) > 0) for h, b, s, z in zip(high, low, spread, Z.T, strict=True)]
    length = math.sqrt(math.fsum(w * w for w in normal))
    if length == 0:
        return []
    middle = [(h + b) / 2 for h, b in zip(high, low, strict=True)]
    return [math.fsum(w * (a - m) for w, a, m in zip(normal, x, middle, strict=True)) / length for x in Z]


def quadratic_form(c, covariance) -> float:
    """Return the variance along a vector."""
    return math.fsum(c[i] * covariance[i][j] * c[j] for i in range(len(c)) for j in range(len(c)))


def best_concepts(gaps, most: int) -> tuple[float, tuple[int, ...]]:
    """Return the largest distance of the worst pair on its best concept of some, and the first smallest such subset."""
    best, chosen = -1.0, ()
    for size in range(1, most + 1):
        for subset in itertools.combinations(range(len(gaps[0])), size):
            value = min(max(row[j] for j in subset) for row in gaps)
            if value > best:
                best, chosen = value, subset
    return best, chosen


def left_out_ridge(Z, values) -> list[float]:
    """Return what a ridge regression (alpha 1, free intercept) on the other rows predicts for each row."""
    Z = (Z - Z.mean(axis=0)) / np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0)
    predicted = []
    for i in range(len(Z)):
        rows, labels = np.delete(Z, i, axis=0), np.delete(values, i)
        design = np.column_stack([np.ones(len(rows)), rows])
        penalty = np.diag([0.0] + [1.0] * Z.shape[1])
        weights = np.linalg.solve(design.T @ design + penalty, design.T @ labels)
        predicted.append(float(weights[0] + Z[i] @ weights[1:]))
    return predicted


def holm(p_values) -> list[float]:
    """Return each p-value adjusted: the largest, up to it in ascending order, of p times the number not yet passed."""
    m, order = len(p_values), sorted(range(len(p_values)), key=lambda j: p_values[j])
    adjusted = [0.0] * m
    for rank, j in enumerate(order):
        adjusted[j] = min(1.0, max((m - i) * p_values[order[i]] for i in range(rank + 1)))
    return adjusted
