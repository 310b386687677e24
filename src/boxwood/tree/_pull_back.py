"""A tree on mapped columns, rewritten as a tree on raw columns."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Bools, Floats, Indices
from boxwood._validation import Rows
from boxwood.errors import DataError
from boxwood.tree._builder import TreeBuilder
from boxwood.tree.cover import Intervals, complement, intersection, joined
from boxwood.tree.nodes import as_rows
from boxwood.tree.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.axes import AxisMap

__all__ = ["pull_back"]


class _RawAndMapped(NamedTuple):
    """The same rows in raw and in mapped columns."""

    raw: NDArray[np.floating]
    mapped: NDArray[np.floating]


class _Visit(NamedTuple):
    """A node of the mapped tree, and where it goes in the new tree."""

    node: int
    new_node: int
    allowed: dict[int, Intervals]  # raw values that can reach the new node, for each raw column cut above it
    rows: Indices  # rows that reach the new node


def pull_back(tree: ThresholdTree, axis_map: AxisMap, X: ArrayLike | None = None) -> ThresholdTree:
    """See `ThresholdTree.pull_back`."""
    if not all(hasattr(axis_map, name) for name in ("n_columns", "transform", "pull_back", "domain")):
        raise TypeError(f"axis_map must be an AxisMap, such as boxwood.axes.Scaling; got {type(axis_map).__name__}")
    if tree.n_features > axis_map.n_columns:
        raise ValueError(f"the tree tests column {tree.n_features - 1}, but the map makes {axis_map.n_columns} columns")
    table = _both(axis_map, X)
    builder = TreeBuilder()
    stack = [_Visit(0, 0, {}, np.arange(len(table.raw)))]
    while stack:
        visit = stack.pop()
        if tree.feature[visit.node] < 0:
            builder.label(visit.new_node, int(tree.cluster[visit.node]))
        else:
            stack.extend(_cut(tree, axis_map, table, builder, visit))
    return builder.build()


def _both(axis_map: AxisMap, X: ArrayLike | None) -> _RawAndMapped:
    if X is None:
        return _RawAndMapped(np.empty((0, axis_map.n_features)), np.empty((0, axis_map.n_columns)))
    raw = as_rows(X, axis_map.n_features)
    return _RawAndMapped(raw, axis_map.transform(X if isinstance(X, Rows) else raw))


def _cut(
    tree: ThresholdTree, axis_map: AxisMap, table: _RawAndMapped, builder: TreeBuilder, visit: _Visit
) -> Iterator[_Visit]:
    """Cut the new tree at a node, and yield the children to be visited."""
    node, new_node, allowed, rows = visit
    column = int(tree.feature[node])
    feature, wanted = axis_map.pull_back(column, float(tree.lower[node]), float(tree.upper[node]))
    z, x = table.mapped[rows, column], table.raw[rows, feature].astype(np.float64, copy=False)
    wanted = _nudged(wanted, x, (tree.lower[node] <= z) & (z <= tree.upper[node]), node)
    domain = axis_map.domain(feature)
    reachable = allowed.get(feature, domain)
    pieces, swapped = _pieces(wanted, reachable, domain)
    children = node + 1, int(tree.second[node])
    in_piece, in_no_piece = children[::-1] if swapped else children
    for piece in pieces:
        first, second = builder.split(new_node, feature, piece[1], piece[0])
        within = _contains((piece,), table.raw[rows, feature].astype(np.float64, copy=False))
        yield _Visit(in_piece, first, {**allowed, feature: intersection((piece,), reachable)}, rows[within])
        reachable, new_node, rows = intersection(complement((piece,)), reachable), second, rows[~within]
    yield _Visit(in_no_piece, new_node, {**allowed, feature: reachable}, rows)


# ------------------------------------------------------------------------------------------------ choice of cuts


def _pieces(wanted: Intervals, allowed: Intervals, domain: Intervals) -> tuple[Intervals, bool]:
    """Return the fewest intervals that separate wanted from unwanted values, and whether the wanted ones are outside.

    Only allowed values count. There is no interval if all of them are on one side.
    """
    inside, outside = _runs(wanted, allowed)
    is_lower = bool(inside and outside) and inside[-1][1] == math.inf and outside[0][0] == -math.inf
    swapped = len(outside) < len(inside) or (len(outside) == len(inside) and is_lower)
    chosen = outside if swapped else inside
    return tuple(_trimmed(piece, domain) for piece in chosen), swapped


def _runs(wanted: Intervals, allowed: Intervals) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the maximal runs of allowed values inside the wanted set, and outside it, as intervals."""
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
    """Tell whether an interval holds an allowed value."""
    i = bisect_left(allowed, lower, key=lambda piece: piece[1])
    return i < len(allowed) and allowed[i][0] <= upper


def _trimmed(piece: tuple[float, float], domain: Intervals) -> tuple[float, float]:
    """Return the part of an interval between its first and its last value in the domain."""
    possible = intersection((piece,), domain)
    return possible[0][0], possible[-1][1]


# ------------------------------------------------------------------------------------------------------- nudging


def _nudged(wanted: Intervals, x: Floats, inside: Bools, node: int) -> Intervals:
    """Return a set with its ends moved so that it holds the values flagged as inside, and no other of `x`."""
    wrong = _contains(wanted, x) != inside
    if not wrong.any():
        return wanted
    within, outside = np.unique(x[inside]), np.unique(x[~inside])
    both = np.intersect1d(within, outside)
    if both.size:
        raise DataError(f"node {node}: the map gives equal values different images, first {both[0]}; it is no function")
    for value in np.unique(x[wrong & inside]).tolist():
        wanted = _with(wanted, value, outside)
    for value in np.unique(x[wrong & ~inside]).tolist():
        wanted = complement(_with(complement(wanted), value, within))
    return wanted


def _contains(intervals: Intervals, x: Floats) -> Bools:
    """Return whether each value is in one of the intervals."""
    if not intervals:
        return np.zeros(len(x), dtype=bool)
    lower, upper = np.array(intervals).T
    index = np.searchsorted(lower, x, side="right") - 1
    contained: Bools = (index >= 0) & (x <= upper[index])
    return contained


def _with(intervals: Intervals, value: float, others: Floats) -> Intervals:
    """Return a set with one more value: the nearest interval is extended to it, unless others lie in between."""
    reaches = [(value - upper, upper, value) for _, upper in intervals if upper < value]
    reaches += [(lower - value, value, lower) for lower, _ in intervals if lower > value]
    for _, lower, upper in sorted(reaches):
        if np.searchsorted(others, lower) == np.searchsorted(others, upper):
            return joined([*intervals, (lower, upper)])
    return joined([*intervals, (value, value)])
