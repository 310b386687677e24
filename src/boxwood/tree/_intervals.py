"""Sets of doubles as closed intervals, ascending and disjoint; between any two lies a double that is in neither."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

__all__ = ["EVERYTHING", "Intervals", "complement", "intersection", "joined"]

Intervals: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs (lower, upper) of closed intervals. An end may be infinite, and then the infinite value belongs to the set."""

EVERYTHING: Intervals = ((-math.inf, math.inf),)


def joined(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """Return the union of closed intervals, given in any order. Intervals that touch become one.

    Examples
    --------
    >>> joined([(3.0, 4.0), (0.0, 1.0), (1.0, 2.0)])
    ((0.0, 2.0), (3.0, 4.0))
    """
    result: list[tuple[float, float]] = []
    for lower, upper in sorted(intervals):
        if result and lower <= math.nextafter(result[-1][1], math.inf):
            result[-1] = (result[-1][0], max(result[-1][1], upper))
        else:
            result.append((lower, upper))
    return tuple(result)


def intersection(some: Intervals, others: Intervals) -> Intervals:
    """Return the values that are in both sets. Takes time of both lengths together."""
    result, i, j = [], 0, 0
    while i < len(some) and j < len(others):
        lower, upper = max(some[i][0], others[j][0]), min(some[i][1], others[j][1])
        if lower <= upper:
            result.append((lower, upper))
        if some[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return tuple(result)


def complement(intervals: Intervals) -> Intervals:
    """Return the doubles that are not in a set.

    Examples
    --------
    >>> complement(((-math.inf, -5e-324), (5e-324, math.inf)))
    ((0.0, 0.0),)
    """
    result, start = [], -math.inf
    for lower, upper in intervals:
        if lower > start:
            result.append((start, math.nextafter(lower, -math.inf) + 0.0))
        if upper == math.inf:
            return tuple(result)
        start = math.nextafter(upper, math.inf) + 0.0
    return (*result, (start, math.inf))
