"""Thresholds moved within the gap between the nearest rows: to a short decimal, or to the midpoint in other columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from decimal import Context
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._threads import BLOCK_ROWS, map_blocks
from boxwood._types import Indices
from boxwood.tree._numbers import between, shortest_between
from boxwood.tree.nodes import Nodes, as_rows, rows_at_nodes

__all__ = ["ends_left_of", "recut", "rounded", "shortened", "shortened_in"]

Tree = TypeVar("Tree", bound=Nodes)


class _Gap(NamedTuple):
    """The values next to a threshold t: left <= t < right. An end is infinite if the table has no row on that side."""

    left: float
    right: float

    def mirrored(self) -> _Gap:
        return _Gap(-self.right, -self.left)

    def completed_by(self, beyond: _Gap) -> _Gap:
        """Return the gap with infinite ends replaced by those of another gap."""
        left = beyond.left if math.isinf(self.left) else self.left
        return _Gap(left, beyond.right if math.isinf(self.right) else self.right)


# chooses a threshold: (gap, old threshold, whether the column holds whole numbers) -> new threshold
_Choice = Callable[[_Gap, float, bool], float]


def shortened(tree: Tree, X: ArrayLike) -> Tree:
    """See `ThresholdTree.shortened`."""
    rows = as_rows(X, tree.n_features)
    whole = [j for j in tree.features.tolist() if _is_whole(rows[:, j])]
    return shortened_in(tree, *_gaps(tree, rows), whole)


def _gaps(tree: Tree, rows: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gap of each end of a cut, in the form of `shortened_in`."""
    from boxwood.loops.walk import widen_gaps  # here, as SQL and model files need the tree without the compiler

    ends, nodes = ends_left_of(tree), (tree.feature, tree.lower, tree.upper, tree.second)

    def work(start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        left, right = np.full(ends.shape, -np.inf), np.full(ends.shape, np.inf)
        widen_gaps(rows[start:stop], *nodes, ends, left, right)
        return left, right

    no_row = np.full(ends.shape, -np.inf), np.full(ends.shape, np.inf)
    lefts, rights = zip(no_row, *map_blocks(work, len(rows)), strict=True)
    left, right = np.max(lefts, axis=0), np.min(rights, axis=0)
    bare = (tree.feature >= 0)[:, None] & np.isfinite(ends) & (np.isinf(left) | np.isinf(right))
    for node, end in np.argwhere(bare).tolist():  # no row of the node is on one side: the next one of the table is
        beyond = _ends(rows[:, tree.feature[node]], rows[:, tree.feature[node]], float(ends[node, end]), True)
        gap = _Gap(float(left[node, end]), float(right[node, end]))
        left[node, end], right[node, end] = gap.completed_by(beyond)
    return left, right


def shortened_in(tree: Tree, left: NDArray[np.float64], right: NDArray[np.float64], whole: Collection[int]) -> Tree:
    """Return the tree with the shortest threshold in the gap of each end of a cut; see `shortened`.

    IN: left, right (n_nodes, 2): the largest value of the table up to the lower end and the upper end of each cut, and
    the smallest one beyond; whole: the columns of whole numbers. See `ends_left_of`.
    """
    lower, upper = tree.lower.copy(), tree.upper.copy()
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        low, high = (_Gap(float(left[node, end]), float(right[node, end])) for end in range(2))
        lower[node], upper[node] = _chosen(tree, node, low, high, _short, int(tree.feature[node]) in whole)
    return tree.with_thresholds(lower, upper)


def ends_left_of(tree: Nodes) -> NDArray[np.float64]:
    """Return for both ends of each cut the largest number on its left, shape (n_nodes, 2).

    A lower end is right of itself, so that is the double before it. Infinite ends have no number between them and
    infinity.
    """
    return np.stack([np.nextafter(tree.lower, -np.inf), tree.upper], axis=1)


def recut(tree: Tree, X: ArrayLike, Z: ArrayLike) -> Tree:
    """See `ThresholdTree.recut`."""
    raw, mapped = as_rows(X, tree.n_features), as_rows(Z, tree.n_features)
    if raw.shape[0] != mapped.shape[0]:
        raise ValueError(f"X and Z must hold the same rows, got {raw.shape[0]} and {mapped.shape[0]}")
    return _moved(tree, raw, mapped)


def rounded(tree: Tree, digits: int, kept: Collection[int] = ()) -> Tree:
    """Return the tree with thresholds rounded to `digits` significant digits, except in the columns `kept`.

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


def _moved(tree: Tree, X: NDArray[np.floating], Z: NDArray[np.floating]) -> Tree:
    """Return the tree with each finite end of a cut in the middle of a gap.

    It is the gap of `X` between the rows that the end separates in `Z`.
    """
    lower, upper = tree.lower.copy(), tree.upper.copy()
    for node, rows, inside in rows_at_nodes(tree, Z):
        if inside is None:
            continue
        j = int(tree.feature[node])
        column = X[:, j], Z[:, j], rows
        low, high = (
            _gap(node, *column, end, closed) if math.isfinite(end) else None
            for end, closed in ((lower[node], False), (upper[node], True))
        )
        lower[node], upper[node] = _chosen(tree, node, low, high, _middle, False)
    return tree.with_thresholds(lower, upper)


def _chosen(
    tree: Nodes, node: int, low: _Gap | None, high: _Gap | None, choose: _Choice, whole: bool
) -> tuple[float, float]:
    """Return both ends of a cut, each chosen in its gap if it is finite."""
    lower, upper = float(tree.lower[node]), float(tree.upper[node])
    if high is not None and math.isfinite(upper):
        upper = choose(high, upper, whole)
    if low is not None and math.isfinite(lower):  # x >= lower is -x <= -lower, so a lower end is chosen as an upper end
        lower = -choose(low.mirrored(), -lower, whole)
        if lower > upper:  # no row is inside, so both ends lie in one gap
            lower = upper = between(*low)
    return lower, upper


def _gap(
    node: int, x: NDArray[np.floating], z: NDArray[np.floating], rows: Indices, threshold: float, closed: bool
) -> _Gap:
    """Return the gap in `x` among the rows at a node; a side without such rows takes all rows of the table."""
    gap = _ends(x[rows], z[rows], threshold, closed)
    if math.isinf(gap.left) or math.isinf(gap.right):
        gap = gap.completed_by(_ends(x, z, threshold, closed))
    if gap.left >= gap.right:
        raise ValueError(
            f"the cut at node {node} is no cut of its column: a row with {gap.left} must be left of one with "
            f"{gap.right}; is each column of Z an increasing function of the same column of X?"
        )
    return gap


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
    blocks = (column[start : start + BLOCK_ROWS] for start in range(0, len(column), BLOCK_ROWS))
    return all(bool((block == np.floor(block)).all()) for block in blocks)  # most columns say no in the first block
