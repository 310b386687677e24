"""Thresholds moved within the gap that rows leave: to a short decimal, or to the midpoint in other units."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood.tree._numbers import between, shortest_between
from boxwood.tree._tree import ThresholdTree, _as_rows
from boxwood.tree._walk import rows_at_nodes

__all__ = ["recut", "shortened"]

# how a threshold is chosen: (last value on its left, first value on its right, column is whole) -> threshold
Choice = Callable[[float, float, bool], float]


class _Gap(NamedTuple):
    """Values next to one end of a cut, among the rows that reach it; infinite where there is no row."""

    left: float
    right: float


def shortened(tree: ThresholdTree, X: ArrayLike) -> ThresholdTree:
    """See `ThresholdTree.shortened`."""
    rows = _as_rows(X, tree.n_features)
    return _moved(tree, rows, rows, _short)


def recut(tree: ThresholdTree, X: ArrayLike, Z: ArrayLike) -> ThresholdTree:
    """See `ThresholdTree.recut`."""
    raw, mapped = _as_rows(X, tree.n_features), _as_rows(Z, tree.n_features)
    if raw.shape[0] != mapped.shape[0]:
        raise ValueError(f"X and Z must hold the same rows, got {raw.shape[0]} and {mapped.shape[0]}")
    return _moved(tree, raw, mapped, lambda left, right, whole: between(left, right))


def _moved(tree: ThresholdTree, X: NDArray[np.floating], Z: NDArray[np.floating], choose: Choice) -> ThresholdTree:
    """Return the tree with each finite end of each cut chosen in the gap of `X` between the rows that `Z` separates."""
    lower, upper = tree.lower.copy(), tree.upper.copy()
    whole = {int(feature): _is_whole(X[:, feature]) for feature in tree.features}
    for node, rows, inside in rows_at_nodes(tree, Z):
        if inside is None or len(rows) == 0:
            continue
        feature = int(tree.feature[node])
        values = X[rows, feature].astype(np.float64, copy=False)
        above = Z[rows, feature] > tree.upper[node]
        ends = _ends(values, below=~inside & ~above, inside=inside, above=above)
        for gap, bounds, is_lower in zip(ends, (lower, upper), (True, False), strict=True):
            if math.isfinite(bounds[node]):
                bounds[node] = _choose(gap, bounds[node], is_lower, whole[feature], choose, node)
    return ThresholdTree(tree.feature, lower, upper, tree.second, tree.cluster)


def _ends(
    values: NDArray[np.float64], below: NDArray[np.bool_], inside: NDArray[np.bool_], above: NDArray[np.bool_]
) -> tuple[_Gap, _Gap]:
    def largest(side: NDArray[np.bool_]) -> float:
        return float(np.max(values, where=side, initial=-np.inf))

    def smallest(side: NDArray[np.bool_]) -> float:
        return float(np.min(values, where=side, initial=np.inf))

    # where no row is inside, the next rows beyond bound the gap
    lower = _Gap(largest(below), min(smallest(inside), smallest(above)))
    upper = _Gap(max(largest(inside), largest(below)), smallest(above))
    return lower, upper


def _choose(gap: _Gap, threshold: float, is_lower: bool, whole: bool, choose: Choice, node: int) -> float:
    if gap.left >= gap.right:
        raise ValueError(f"the cut at node {node} is no cut of its column: {gap.left} and {gap.right} are out of order")
    left, right = gap
    if math.isinf(left) and math.isinf(right):
        return threshold
    if math.isinf(left):  # no row on this side: the gap is taken as wide on it as on the other
        left = min(2 * threshold - right, threshold)
    if math.isinf(right):
        right = max(2 * threshold - left, threshold)
    if not (left < right and math.isfinite(left) and math.isfinite(right)):
        return threshold
    if is_lower:  # a closed lower end mirrors a closed upper one
        return -choose(-right, -left, whole)
    return choose(left, right, whole)


def _short(left: float, right: float, whole: bool) -> float:
    """Return the shortest decimal t with left <= t < right, clear of both by two float32 steps where there is room."""
    last = math.nextafter(right, -math.inf)
    if whole:
        return shortest_between(left, last)
    low = left + 2 * float(np.spacing(np.float32(abs(left))))
    high = right - 2 * float(np.spacing(np.float32(abs(right))))
    if math.isfinite(low) and math.isfinite(high) and low <= high:
        return shortest_between(low, high)
    return shortest_between(math.nextafter(left, math.inf) if left < last else left, last)


def _is_whole(column: NDArray[np.floating]) -> bool:
    return bool(np.all(column == np.floor(column)))
