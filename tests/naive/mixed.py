"""Clusters of numbers and categories with gaps, by one-hot columns, in whole fractions."""

from fractions import Fraction

import numpy as np


def one_hot(table, categorical, scales) -> list[list[Fraction | None]]:
    """Return rows with a column of 0 and 1 for each code in place of a column of codes, times the scale of its column.

    None is a value that is missing.
    """
    columns = []
    for j, x in enumerate(np.asarray(table, dtype=np.float64).T.tolist()):
        factor = Fraction(float(scales[j]))
        if j not in categorical:
            columns.append([None if value != value else Fraction(value) * factor for value in x])
            continue
        for code in sorted({value for value in x if value == value}):
            columns.append([None if value != value else Fraction(value == code) * factor for value in x])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(len(table))]


def mixed_cost(table, categorical, groups, weights, scales) -> Fraction:
    """Return the weighted squared distances of the one-hot rows to the means of their groups, of what they have."""
    rows, total = one_hot(table, categorical, scales), Fraction(0)
    weights = np.ones(len(rows)) if weights is None else weights
    for group in set(np.asarray(groups).tolist()) - {-1}:
        inside = [(row, Fraction(float(w))) for row, g, w in zip(rows, groups, weights, strict=True) if g == group]
        for j in range(len(rows[0])):
            there = [(row[j], w) for row, w in inside if row[j] is not None]
            mean = _mean(there)
            total += sum((w * (x - mean) ** 2 for x, w in there), Fraction(0))
    return total


def mixed_variances(table, categorical, weights) -> list[Fraction]:
    """Return the variance of each column over its values, that of a category summed over its one-hot columns."""
    weights = np.ones(len(table)) if weights is None else weights
    variances = []
    for j in range(table.shape[1]):
        column = table[:, j : j + 1]
        cost = mixed_cost(column, {0} if j in categorical else set(), np.zeros(len(table)), weights, [1.0])
        variances.append(cost / (sum(Fraction(float(w)) for w in weights[~np.isnan(column[:, 0])]) or 1))
    return variances


def k_pod(rows, labels, k, overall, max_iter=300) -> list[int] | None:
    """Return the labels at which Lloyd's steps on rows with gaps end, from the given ones.

    A step moves each centre to the means of what its rows have, or to that of all rows where they have nothing, and
    each row to its nearest centre by what it has, the first of equally near ones. None if a cluster becomes empty.
    """
    for _ in range(max_iter):
        centers = [
            [
                _mean([(row[j], 1) for row, c in zip(rows, labels, strict=True) if c == cluster and row[j] is not None])
                if any(row[j] is not None for row, c in zip(rows, labels, strict=True) if c == cluster)
                else overall[j]
                for j in range(len(overall))
            ]
            for cluster in range(k)
        ]
        after = [_nearest(row, centers) for row in rows]
        if after == labels:
            return labels
        if len(set(after)) < k:
            return None
        labels = after
    raise AssertionError("the steps do not end")


def _nearest(row, centers) -> int:
    away = [sum((x - y) ** 2 for x, y in zip(row, center, strict=True) if x is not None) for center in centers]
    return away.index(min(away))


def _mean(pairs):
    weight = sum(w for _, w in pairs)
    return sum((w * x for x, w in pairs), Fraction(0)) / weight if weight else Fraction(0)
