"""Thresholds that are allowed: a table in the bands between them, and a tree with each of its cuts at one of them.

A grower that sees a table in bands finds no other cut: in a band all rows have one value. So its tree loses no row when
its thresholds are moved to those that are allowed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from boxwood._types import Array, Bools, Floats
from boxwood.tree.tree import ThresholdTree

Allowed: TypeAlias = Sequence[tuple[int, tuple[float, ...]]]
"""Columns, each with its thresholds: the largest value on the left of each, ascending."""


def in_bands(table: Array, allowed: Allowed, kept: Bools | None = None) -> Floats:
    """Return a table in which the numbers of a column between two of its thresholds are one: their mean.

    IN: kept (n,): the rows that count; None is all. Plus infinity, a missing number, stays.
    """
    values = np.array(table, dtype=np.float64)
    for j, ends in allowed:
        x, bands = values[:, j].copy(), np.searchsorted(ends, values[:, j])
        for band in np.unique(bands[np.isfinite(x)]).tolist():
            inside = (bands == band) & np.isfinite(x)
            own = x[inside & kept] if kept is not None and (inside & kept).any() else x[inside]
            values[inside, j] = np.clip((own / len(own)).sum(), own.min(), own.max())
    return values


def at_allowed(
    tree: ThresholdTree, allowed: Allowed, known: Mapping[int, Floats], beyond: Collection[int]
) -> ThresholdTree:
    """Return a tree with each end of a cut at the threshold of its column past which the fewest values move.

    Of those past which as few move it is the nearest, and then the lowest. A lower end is the threshold itself, or in
    the columns `beyond` the number after it, so that it parts the values as an upper end does.

    IN: known: the values of columns by which that is decided, in order; without them the nearest is taken.
    """
    lower, upper = tree.lower.copy(), tree.upper.copy()
    for j, ends in allowed:
        values = known.get(j, np.empty(0))
        for node in np.flatnonzero(tree.feature == j).tolist():
            if math.isfinite(upper[node]) and upper[node] != sys.float_info.max:  # which asks whether there is a number
                upper[node] = _nearest(ends, upper[node], values, "right")
            if math.isfinite(lower[node]):
                is_beyond = j in beyond
                left = math.nextafter(lower[node], -math.inf) if is_beyond else lower[node]
                near = _nearest(ends, left, values, "right" if is_beyond else "left")
                lower[node] = min(math.nextafter(near, math.inf) if is_beyond else near, upper[node])
    return tree.with_thresholds(lower, upper)


def _nearest(ends: Sequence[float], old: float, values: Floats, side: str) -> float:
    places = np.searchsorted(values, [old, *ends], side=side)  # type: ignore[call-overload]
    moved = np.abs(places[1:] - places[0])
    return min(zip(moved.tolist(), (abs(end - old) for end in ends), ends, strict=True))[2]
