"""A tree on mapped columns, seen on the raw ones."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Bools, Floats, Indices
from boxwood.errors import DataError
from boxwood.tree._builder import TreeBuilder
from boxwood.tree._intervals import Intervals, complement, intersection, joined
from boxwood.tree._tree import ThresholdTree
from boxwood.tree._walk import as_rows

if TYPE_CHECKING:
    from boxwood.axes import AxisMap

__all__ = ["pull_back"]


class _Rows(NamedTuple):
    """Rows in both coordinates."""

    raw: NDArray[np.floating]
    mapped: NDArray[np.floating]


class _Visit(NamedTuple):
    """A node of the mapped tree, the node that it becomes, what raw values get there by column, and which rows."""

    node: int
    place: int
    allowed: dict[int, Intervals]
    rows: Indices


def pull_back(tree: ThresholdTree, axis_map: AxisMap, X: ArrayLike | None = None) -> ThresholdTree:
    """See `ThresholdTree.pull_back`."""
    if tree.n_features > axis_map.n_columns:
        raise ValueError(f"the tree tests column {tree.n_features - 1}, but the map makes {axis_map.n_columns} columns")
    table = _both(axis_map, X)
    builder = TreeBuilder()
    stack = [_Visit(0, 0, {}, np.arange(len(table.raw)))]
    while stack:
        visit = stack.pop()
        if tree.feature[visit.node] < 0:
            builder.label(visit.place, int(tree.cluster[visit.node]))
        else:
            stack.extend(_cut(tree, axis_map, table, builder, visit))
    return builder.build()


def _both(axis_map: AxisMap, X: ArrayLike | None) -> _Rows:
    if X is None:
        return _Rows(np.empty((0, axis_map.n_features)), np.empty((0, axis_map.n_columns)))
    raw = as_rows(X, axis_map.n_features)
    return _Rows(raw, axis_map.transform(raw))


def _cut(tree: ThresholdTree, axis_map: AxisMap, table: _Rows, builder: TreeBuilder, visit: _Visit) -> Iterator[_Visit]:
    """Cut at a place of the new tree, and yield what is to be visited below it."""
    node, place, allowed, rows = visit
    column = int(tree.feature[node])
    feature, wanted = axis_map.pull_back(column, float(tree.lower[node]), float(tree.upper[node]))
    z, x = table.mapped[rows, column], table.raw[rows, feature].astype(np.float64, copy=False)
    wanted = _nudged(wanted, x, (tree.lower[node] <= z) & (z <= tree.upper[node]), node)
    domain = axis_map.domain(feature)
    here = allowed.get(feature, domain)
    pieces, swapped = _pieces(wanted, here, domain)
    targets = node + 1, int(tree.second[node])
    hit, missed = targets[::-1] if swapped else targets
    for piece in pieces:
        first, second = builder.split(place, feature, piece[1], piece[0])
        within = _contains((piece,), table.raw[rows, feature].astype(np.float64, copy=False))
        yield _Visit(hit, first, {**allowed, feature: intersection((piece,), here)}, rows[within])
        here, place, rows = intersection(complement((piece,)), here), second, rows[~within]
    yield _Visit(missed, place, {**allowed, feature: here}, rows)


# ------------------------------------------------------------------------------------------------ choice of cuts


def _pieces(wanted: Intervals, allowed: Intervals, domain: Intervals) -> tuple[Intervals, bool]:
    """Return the fewest intervals that tell the allowed values apart, and whether the wanted ones are outside them.

    None at all where every allowed value is on one side.
    """
    inside, outside = _runs(wanted, allowed)
    is_lower = bool(inside and outside) and inside[-1][1] == math.inf and outside[0][0] == -math.inf
    swapped = len(outside) < len(inside) or (len(outside) == len(inside) and is_lower)
    chosen = outside if swapped else inside
    return tuple(_trimmed(piece, domain) for piece in chosen), swapped


def _runs(wanted: Intervals, allowed: Intervals) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the intervals inside and outside a set that hold allowed values; none of these lie between two of one."""
    tiles = sorted([(*tile, True) for tile in wanted] + [(*tile, False) for tile in complement(wanted)])
    runs: list[tuple[float, float, bool]] = []
    for lower, upper, is_in in tiles:
        if not _meets(lower, upper, allowed):
            continue
        if runs and runs[-1][2] == is_in:
            lower = runs.pop()[0]
        runs.append((lower, upper, is_in))
    return [run[:2] for run in runs if run[2]], [run[:2] for run in runs if not run[2]]


def _meets(lower: float, upper: float, allowed: Intervals) -> bool:
    i = bisect_left(allowed, lower, key=lambda piece: piece[1])
    return i < len(allowed) and allowed[i][0] <= upper


def _trimmed(piece: tuple[float, float], domain: Intervals) -> tuple[float, float]:
    """Return the part of an interval from its first to its last possible value."""
    possible = intersection((piece,), domain)
    return possible[0][0], possible[-1][1]


# ------------------------------------------------------------------------------------------------------- nudging


def _nudged(wanted: Intervals, x: Floats, inside: Bools, node: int) -> Intervals:
    """Return a set with the ends moved so that it holds the values flagged as inside, and none of the others."""
    wrong = _contains(wanted, x) != inside
    if not wrong.any():
        return wanted
    within, beside = np.unique(x[inside]), np.unique(x[~inside])
    both = np.intersect1d(within, beside)
    if both.size:
        raise DataError(f"node {node}: the map gives equal values different images, first {both[0]}; it is no function")
    for value in np.unique(x[wrong & inside]).tolist():
        wanted = _with(wanted, value, beside)
    for value in np.unique(x[wrong & ~inside]).tolist():
        wanted = complement(_with(complement(wanted), value, within))
    return wanted


def _contains(intervals: Intervals, x: Floats) -> Bools:
    if not intervals:
        return np.zeros(len(x), dtype=bool)
    lower, upper = np.array(intervals).T
    place = np.searchsorted(lower, x, side="right") - 1
    held: Bools = (place >= 0) & (x <= upper[place])
    return held


def _with(intervals: Intervals, value: float, others: Floats) -> Intervals:
    """Return a set with one more value: the nearest end reaches out for it, unless other values stand in between."""
    reaches = [(value - upper, upper, value) for _, upper in intervals if upper < value]
    reaches += [(lower - value, value, lower) for lower, _ in intervals if lower > value]
    for _, lower, upper in sorted(reaches):
        if np.searchsorted(others, lower) == np.searchsorted(others, upper):
            return joined([*intervals, (lower, upper)])
    return joined([*intervals, (value, value)])
