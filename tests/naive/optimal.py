"""Optimal trees, by trying all trees."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np


def optimal_cost(X, max_leaf_nodes, weights, leaf_cost) -> float:
    """Return the cost of the cheapest tree with at most so many leaves; `leaf_cost` takes the numbers of rows."""
    X = np.asarray(X, dtype=np.float64)
    one_leaf = cache(lambda rows: leaf_cost(sorted(rows)))

    @cache
    def least(rows: frozenset, leaves: int) -> float:
        found = [one_leaf(rows)]
        for j in range(X.shape[1] if leaves > 1 else 0):
            for value in sorted({float(X[r, j]) for r in rows})[:-1]:
                left = frozenset(r for r in rows if X[r, j] <= value)
                found += [least(left, share) + least(rows - left, leaves - share) for share in range(1, leaves)]
        return min(found)

    return least(frozenset(r for r in range(len(X)) if weights[r] > 0), max_leaf_nodes)


def least_naming_cost(X, labels, weights, leaves) -> float:
    """Return the least cost of leaves, lists of rows, under all names of clusters of which they hold rows."""
    cost = cache(lambda rows: spread(X, weights, rows))
    found = []
    for names in itertools.product(*(sorted({int(labels[r]) for r in rows}) for rows in leaves)):
        pools = [[r for rows, name in zip(leaves, names, strict=True) if name == c for r in rows] for c in set(names)]
        found.append(math.fsum(cost(tuple(sorted(pool))) for pool in pools))
    return min(found)


def spread(X, weights, rows) -> float:
    """Return the weighted sum of squared distances of some rows to their mean."""
    total = math.fsum(weights[r] for r in rows)
    cost = []
    for column in np.asarray(X, dtype=np.float64).T:
        origin = float(column[rows[0]])  # differences of near values are exact
        mean = math.fsum(weights[r] * (float(column[r]) - origin) for r in rows) / total
        cost += [weights[r] * (float(column[r]) - origin - mean) ** 2 for r in rows]
    return math.fsum(cost)


def exact_spread(X, weights, rows) -> Fraction:
    """Return what `spread` does, without rounding."""
    mass = [Fraction(float(weights[r])) for r in rows]
    cost = Fraction(0)
    for column in np.asarray(X, dtype=np.float64).T:
        values = [Fraction(float(column[r])) for r in rows]
        mean = sum(w * x for w, x in zip(mass, values, strict=True)) / sum(mass)
        cost += sum(w * (x - mean) ** 2 for w, x in zip(mass, values, strict=True))
    return cost


def exact_distances(X, weights, rows, center) -> Fraction:
    """Return the weighted sum of squared distances of some rows to a centre, without rounding."""
    cost = Fraction(0)
    for r in rows:
        differences = [Fraction(float(x)) - Fraction(float(c)) for x, c in zip(X[r], center, strict=True)]
        cost += Fraction(float(weights[r])) * sum(each**2 for each in differences)
    return cost


def optimal_cost_by_sets(columns, leaves, leaf_cost) -> float:
    """Return what `optimal_cost` does for a table of numbers, cut at thresholds, and of words, cut by any set of them.

    `columns` has the values of each column by its name.
    """
    cuts = set()
    for values in columns.values():
        different = sorted(set(values))
        if isinstance(different[0], str):
            firsts = [each for m in range(1, len(different)) for each in itertools.combinations(different, m)]
        else:
            firsts = [different[:m] for m in range(1, len(different))]
        cuts |= {frozenset(r for r, value in enumerate(values) if value in each) for each in firsts}
    one_leaf = cache(lambda rows: leaf_cost(sorted(rows)))

    @cache
    def least(rows: frozenset, leaves: int) -> float:
        found = [one_leaf(rows)]
        for first in {rows & cut for cut in cuts} - {rows, frozenset()} if leaves > 1 else ():
            found += [least(first, some) + least(rows - first, leaves - some) for some in range(1, leaves)]
        return min(found)

    n_rows = len(next(iter(columns.values())))
    return least(frozenset(range(n_rows)), leaves)
