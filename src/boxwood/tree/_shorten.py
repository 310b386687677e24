"""Thresholds moved within the gap between the nearest rows: to a short decimal, or to the midpoint in other columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from decimal import Context
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Indices
from boxwood.tree._nodes import Nodes
from boxwood.tree._numbers import between, shortest_between
from boxwood.tree._walk import as_rows, rows_at_nodes

__all__ = ["recut", "rounded", "shortened"]

Tree = TypeVar("Tree", bound=Nodes)


class _Gap(NamedTuple):
    """The values next to a threshold t: left <= t < right. An end is infinite if the table has no row on that side."""

    left: float
    right: float

    def mirrored(self) -> _Gap:
        return _Gap(-self.right, -self.left)


# chooses a threshold: (gap, old threshold, whether the column holds whole numbers) -> new threshold
_Choice = Callable[[_Gap, float, bool], float]


def shortened(tree: Tree, X: ArrayLike) -> Tree:
    """See `ThresholdTree.shortened`."""
    rows = as_rows(X, tree.n_features)
    return _moved(tree, rows, rows, _short)


def recut(tree: Tree, X: ArrayLike, Z: ArrayLike) -> Tree:
    """See `ThresholdTree.recut`."""
    raw, mapped = as_rows(X, tree.n_features), as_rows(Z, tree.n_features)
    if raw.shape[0] != mapped.shape[0]:
        raise ValueError(f"X and Z must hold the same rows, got {raw.shape[0]} and {mapped.shape[0]}")
    return _moved(tree, raw, mapped, _middle)


def rounded(tree: Tree, digits: int, kept: Collection[int] = ()) -> Tree:
    """Return the tree with thresholds rounded to so many significant digits, but in some columns that are kept.

    Rounding keeps the order of numbers, so no interval is turned around. A number that would leave the range of doubles
    is rounded towards zero.
    """
    changes = (tree.feature >= 0) & ~np.isin(tree.feature, list(kept))

    def ends(values: NDArray[np.float64]) -> NDArray[np.float64]:
        new = values.copy()
        for node in np.flatnonzero(changes & np.isfinite(values)).tolist():
            new[node] = _to_digits(float(values[node]), digits)
        return new

    return tree.with_thresholds(ends(tree.lower), ends(tree.upper))


def _to_digits(value: float, digits: int) -> float:
    if math.isinf(near := float(f"{value:.{digits - 1}e}")):
        return float(Context(prec=digits, rounding="ROUND_DOWN").create_decimal_from_float(value))
    return near


def _moved(tree: Tree, X: NDArray[np.floating], Z: NDArray[np.floating], choose: _Choice) -> Tree:
    """Return the tree with each finite end of a cut chosen anew.

    It is chosen in the gap of `X` between the rows that it separates in `Z`.
    """
    lower, upper = tree.lower.copy(), tree.upper.copy()
    whole = {int(feature): _is_whole(X[:, feature]) for feature in tree.features}
    for node, rows, inside in rows_at_nodes(tree, Z):
        if inside is None:
            continue
        j = int(tree.feature[node])
        column = X[:, j], Z[:, j], rows
        if math.isfinite(upper[node]):
            gap = _gap(node, *column, upper[node], closed=True)
            upper[node] = choose(gap, upper[node], whole[j])
        if math.isfinite(lower[node]):  # x >= lower is -x <= -lower, so a lower end is chosen as an upper end
            gap = _gap(node, *column, lower[node], closed=False)
            lower[node] = -choose(gap.mirrored(), -lower[node], whole[j])
            if lower[node] > upper[node]:  # no row is inside, so both ends lie in one gap
                lower[node] = upper[node] = between(*gap)
    return tree.with_thresholds(lower, upper)


def _gap(
    node: int, x: NDArray[np.floating], z: NDArray[np.floating], rows: Indices, threshold: float, closed: bool
) -> _Gap:
    """Return the gap in `x` among the rows at a node; on a side without such rows, among all rows of the table."""
    left, right = _ends(x[rows], z[rows], threshold, closed)
    if math.isinf(left) or math.isinf(right):
        beyond = _ends(x, z, threshold, closed)
        left, right = (beyond.left if math.isinf(left) else left), (beyond.right if math.isinf(right) else right)
    if left >= right:
        raise ValueError(
            f"the cut at node {node} is no cut of its column: a row with {left} must be left of one with {right}; "
            "is each column of Z an increasing function of the same column of X?"
        )
    return _Gap(left, right)


def _ends(x: NDArray[np.floating], z: NDArray[np.floating], threshold: float, closed: bool) -> _Gap:
    """Return the largest `x` left of a threshold on `z`, and the smallest right of it; `closed` puts equal `z` left."""
    values, mapped = x.astype(np.float64, copy=False), z.astype(np.float64, copy=False)
    is_left = mapped <= threshold if closed else mapped < threshold
    left, right = values[is_left], values[~is_left]
    return _Gap(float(left.max(initial=-np.inf)), float(right.min(initial=np.inf)))


def _middle(gap: _Gap, threshold: float, whole: bool) -> float:
    """Return the midpoint of the gap; a threshold next to its finite end if only one is finite."""
    if math.isfinite(gap.left) and math.isfinite(gap.right):
        return float(between(*gap))
    if math.isfinite(gap.left):  # all rows are on one side of the threshold
        return gap.left
    return math.nextafter(gap.right, -math.inf) if math.isfinite(gap.right) else threshold


def _short(gap: _Gap, threshold: float, whole: bool) -> float:
    """Return the shortest decimal in the gap, two float32 steps away from both ends if the gap is wide enough."""
    left, right = gap
    if math.isinf(left) or math.isinf(right):
        return threshold
    last = math.nextafter(right, -math.inf)
    if whole:
        return shortest_between(left, last)
    with np.errstate(over="ignore"):
        low = left + 2 * float(np.spacing(np.float32(abs(left))))
        high = right - 2 * float(np.spacing(np.float32(abs(right))))
    if low <= high:  # false where a value is beyond float32
        return shortest_between(low, high)
    return shortest_between(math.nextafter(left, math.inf) if left < last else left, last)


def _is_whole(column: NDArray[np.floating]) -> bool:
    return bool(np.all(column == np.floor(column)))
