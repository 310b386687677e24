"""The weighted median of one column."""

from __future__ import annotations

import numpy as np

from boxwood._types import Floats

__all__ = ["weighted_median"]

FEW = 64  # number of values up to which sorting is faster than halving


def weighted_median(values: Floats, weights: Floats | None = None) -> float:
    """Return the median, with half of the weight on either side; if this holds in a whole gap, its midpoint.

    With whole weights this is the median of repeated rows. Takes time n.
    """
    return _of_values(values, weights) + 0.0  # -0.0 is 0.0


def _of_values(values: Floats, weights: Floats | None) -> float:
    if weights is None:
        return _median(values)
    kept = weights > 0
    if not kept.all():
        values, weights = values[kept], weights[kept]
    return _median_by_weight(values, weights)


def _median(values: Floats) -> float:
    half = len(values) // 2
    partitioned = np.partition(values, half)
    if len(values) % 2:
        return float(partitioned[half])
    return _midpoint(partitioned[:half].max(), partitioned[half])


def _median_by_weight(values: Floats, weights: Floats) -> float:
    """Halve the values until few are left; `below` is the weight of all values dropped on the left."""
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
    rank = min(int(np.searchsorted(ends, half)), len(order) - 1)  # rounding may leave every sum below half
    after = order[min(rank + 1, len(order) - 1)]
    return _midpoint(values[order[rank]], values[after]) if ends[rank] == half else float(values[order[rank]])


def _midpoint(a: float, b: float) -> float:
    return float(a / 2 + b / 2)
