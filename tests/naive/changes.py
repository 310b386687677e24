"""The smallest change of a row that reaches another cluster: every combination of candidate values, one by one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np


def smallest_changes(tree, x, *, sizes, deviations, whole, immutable=()):
    """Return a dict from cluster to (distance, number of columns, leaf, new row) of the best of all combinations.

    IN: x, the row as d floats; sizes: dict from column of codes to its number of codes; deviations, whole: for each
    other column.
    """
    columns = tree.features.tolist()
    choices = [_candidates(tree, x, j, sizes, whole) if j not in immutable else [x[j]] for j in columns]
    rows = np.array([_changed(x, columns, values) for values in itertools.product(*choices)])
    best = {}
    for row, leaf in zip(rows.tolist(), tree.apply(rows).tolist(), strict=True):
        moved = [j for j in columns if row[j] != x[j]]
        distance = sum((_distance(x[j], row[j], j, sizes, deviations) for j in moved), Fraction(0))
        cluster = int(tree.leaf_clusters[leaf])
        entry = distance, len(moved), leaf, row
        if cluster not in best or entry < best[cluster]:
            best[cluster] = entry
    return best


def _distance(before, after, j, sizes, deviations):
    return Fraction(1) if j in sizes else abs(Fraction(after) - Fraction(before)) / Fraction(deviations[j])


def _changed(x, columns, values):
    row = list(x)
    for j, value in zip(columns, values, strict=True):
        row[j] = value
    return row


def _candidates(tree, x, j, sizes, whole):
    """Return the row's value, and every value next to an end of a cut: the end itself and its neighbours."""
    if j in sizes:
        return [float(code) for code in range(sizes[j])]
    ends = {
        float(end) for end in (*tree.lower[tree.feature == j], *tree.upper[tree.feature == j]) if math.isfinite(end)
    }
    if whole[j]:
        near = {float(value) for end in ends for value in range(math.floor(end) - 1, math.ceil(end) + 2)}
    else:
        near = {math.nextafter(end, to) for end in ends for to in (-math.inf, end, math.inf)}
    return sorted({x[j]} | near)
