"""Growth by impurity, cut by cut: every cut of every leaf is tried, and the leaf that gains most is split."""

import math
from itertools import pairwise

import numpy as np

from tests.naive.trees import between

LOW = 2**31


def grown_by(X, labels, k, measure, max_leaf_nodes, weights) -> dict:
    """Return the tree as nested dicts.

    `measure(rows)` gives a function of two sides, what is left on them, and the gain of such a number; or None for a
    leaf that is not to be cut. Weights are whole numbers, 0 for rows that are left out.
    """
    X = np.asarray(X, dtype=np.float64)
    root = {}
    leaves, n_nodes = [(0, root, [r for r in range(len(X)) if weights[r] > 0])], 1
    while len(leaves) < max_leaf_nodes:
        found = [(best_cut(X, rows, measure), number, leaf, rows) for number, leaf, rows in leaves]
        found = [each for each in found if each[0] is not None]
        if not found:
            break
        (_, j, threshold), number, leaf, rows = min(found, key=lambda each: (-each[0][0], each[1]))
        leaf |= {"feature": j, "threshold": threshold, "left": {}, "right": {}}
        leaves.remove((number, leaf, rows))
        leaves.append((n_nodes, leaf["left"], [r for r in rows if X[r, j] <= threshold]))
        leaves.append((n_nodes + 1, leaf["right"], [r for r in rows if X[r, j] > threshold]))
        n_nodes += 2
    for _, leaf, rows in leaves:
        counts = counts_of(rows, labels, k, weights)
        leaf["cluster"] = counts.index(max(counts))
    return root


def best_cut(X, rows, measure) -> tuple | None:
    """Return gain, column and threshold of the best cut of some rows."""
    of_sides = measure(rows)
    if of_sides is None:
        return None
    left_on, gain = of_sides
    tried = []
    for j in range(X.shape[1]):
        for low, high in pairwise(sorted({float(X[r, j]) for r in rows})):
            left = [r for r in rows if X[r, j] <= low]
            right = [r for r in rows if X[r, j] > low]
            tried.append((left_on(left, right), j, low, high))
    tried = [each for each in tried if each[0] < math.inf]  # others leave too few rows on a side
    if not tried:
        return None
    score, j, low, high = min(tried)
    return gain(score), j, between(low, high)


def counts_of(rows, labels, k, weights) -> list[int]:
    return [sum(int(weights[r]) for r in rows if labels[r] == c) for c in range(k)]


def by_gini(labels, k, weights):
    """Return the measure of gini: pairs of rows of different clusters over the weight, as doubles."""

    def impurity(rows) -> float:
        counts = counts_of(rows, labels, k, weights)
        return sum(counts[a] * counts[b] for a in range(k) for b in range(a)) / sum(counts)

    def measure(rows):
        if impurity(rows) == 0:
            return None
        return lambda left, right: impurity(left) + impurity(right), lambda score: impurity(rows) - score

    return measure


def by_entropy(labels, k, weights, x_log_x):
    """Return the measure of entropy, from x log x as a whole number."""

    def impurity(rows) -> int:
        counts = counts_of(rows, labels, k, weights)
        return x_log_x(sum(counts)) - sum(map(x_log_x, counts))

    def measure(rows):
        if impurity(rows) == 0:
            return None
        return lambda left, right: impurity(left) + impurity(right), lambda score: float(impurity(rows) - score)

    return measure


def by_centers(labels, centers, weights, unit):
    """Return the measure of centres: squares between them as whole numbers of 30 bits, by node."""
    k = len(centers)

    def square(a, b) -> float:
        return sum(((x * 0.5 - y * 0.5) * unit) ** 2 for x, y in zip(centers[a], centers[b], strict=True))

    def measure(rows):
        here = [c for c, n in enumerate(counts_of(rows, labels, k, weights)) if n]
        largest = max(square(a, b) for a in here for b in here)
        if largest == 0:
            return None
        scale = 2.0 ** min(30 - math.frexp(largest)[1], 1023)

        def impurity(side) -> float:
            counts = counts_of(side, labels, k, weights)
            pairs = sum(counts[a] * counts[b] * round(square(a, b) * scale) for a in here for b in here if a < b)
            return (float(pairs // LOW) * LOW + pairs % LOW) / sum(counts)

        return (
            lambda left, right: impurity(left) + impurity(right),
            lambda score: impurity(rows) / scale - score / scale,
        )

    return measure


def by_rows(labels, k, weights, table):
    """Return the measure of rows: what a cut explains of their squares, from whole numbers (n, d)."""
    d = len(table[0])

    def measure(rows):
        if len({labels[r] for r in rows}) < 2:
            return None
        weight = sum(int(weights[r]) for r in rows)
        sums = [sum(int(weights[r]) * int(table[r][i]) for r in rows) for i in range(d)]
        mean = [s // weight for s in sums]

        def explained(left, right) -> float:
            n_left = sum(int(weights[r]) for r in left)
            share, squares = n_left / weight, 0.0
            for i in range(d):
                here = sum(int(weights[r]) * (int(table[r][i]) - mean[i]) for r in left)
                difference = here - (sums[i] - weight * mean[i]) * share
                squares += difference * difference
            return -squares / (share * (weight - n_left))

        return explained, lambda score: -score

    return measure
