"""The weighted median of one column."""

from __future__ import annotations

import numpy as np

from boxwood._types import Floats

__all__ = ["weighted_median"]

FEW = 64  # values below which sorting is quicker than parting


def weighted_median(values: Floats, weights: Floats | None = None) -> float:
    """Return the median: half of the weight lies on either side; where a whole gap does so, its midpoint.

    With whole weights this is the median of repeated rows. Takes time n.
    """
    if weights is None:
        return _median(values)
    heavy = weights > 0
    if not heavy.all():
        values, weights = values[heavy], weights[heavy]
    return _median_by_weight(values, weights)


def _median(values: Floats) -> float:
    half = len(values) // 2
    parted = np.partition(values, half)
    if len(values) % 2:
        return float(parted[half])
    return _midpoint(parted[:half].max(), parted[half])


def _median_by_weight(values: Floats, weights: Floats) -> float:
    """Halve the values until few are left; `below` is the weight of those dropped on the left."""
    half, below = weights.sum() / 2, 0.0
    while len(values) > FEW:
        middle = len(values) // 2
        order = np.argpartition(values, middle)
        left, right = order[:middle], order[middle:]
        through = below + weights[left].sum()
        if through == half:
            return _midpoint(values[left].max(), values[right].min())
        kept, below = (left, below) if through > half else (right, through)
        values, weights = values[kept], weights[kept]
    order = np.argsort(values)
    ends = below + np.cumsum(weights[order])
    place = min(int(np.searchsorted(ends, half)), len(order) - 1)  # sums of fractions are rounded
    after = order[min(place + 1, len(order) - 1)]
    return _midpoint(values[order[place]], values[after]) if ends[place] == half else float(values[order[place]])


def _midpoint(a: float, b: float) -> float:
    return float(a / 2 + b / 2)
