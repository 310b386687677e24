"""Thresholds between two values, the midpoint or a short decimal; those of a tree, moved within the gap of its rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from decimal import Context, Decimal, localcontext
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._dates import NO_DATES, Dates
from boxwood._threads import BLOCK_ROWS, map_blocks
from boxwood._types import Indices
from boxwood.tree.nodes import Nodes, as_rows, rows_at_nodes


def between(a: ArrayLike, b: ArrayLike) -> Any:
    """Return the midpoint m of two values a < b, so that a <= m < b; also a < m if a double lies between a and b.

    Takes numbers, or arrays element by element.
    """
    if isinstance(a, float) and isinstance(b, float):
        return _between_two(float(a), float(b))
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(over="ignore"):
        middle = (a + b) * 0.5
    middle = np.where(np.isinf(middle), a * 0.5 + b * 0.5, middle)
    return np.where((a <= middle) & (middle < b), middle, a)[()]


def _between_two(a: float, b: float) -> float:
    middle = (a + b) * 0.5
    if math.isinf(middle):
        middle = a * 0.5 + b * 0.5
    return middle if a <= middle < b else a


def shortest_between(low: float, high: float) -> float:
    """Return the decimal with the fewest digits in `low <= x <= high`; of several the nearest to the middle.

    The result is exact: both ends are compared as doubles. Zero has no digits, so it wins if it lies in the interval.

    Examples
    --------
    >>> shortest_between(44871.25, 45980.0), shortest_between(0.7999, 0.8001), shortest_between(-0.3, 12.0)
    (45000.0, 0.8, 0.0)
    """
    if low <= 0 <= high:
        return 0.0
    with localcontext(Context(prec=60)):
        exact = Decimal(low), Decimal(high)
        middle = (exact[0] + exact[1]) / 2
        top = max(end.adjusted() for end in exact) + 1
        for exponent in range(top, top - 20, -1):  # any two doubles differ in their first 17 digits
            coarse = _nearest(exact, middle, exponent, low, high)
            if coarse is not None:
                # a multiple of the next smaller power may have as few digits and be nearer to the middle
                finer = _nearest(exact, middle, exponent - 1, low, high)
                numbers = [number for number in (coarse, finer) if number is not None]
                return float(min(numbers, key=lambda x: (len(x.normalize().as_tuple().digits), abs(x - middle))))
    return low


def _nearest(exact: tuple[Decimal, Decimal], middle: Decimal, exponent: int, low: float, high: float) -> Decimal | None:
    """Return the multiple of a power of ten between two ends that is nearest to the middle, if there is one."""
    step = Decimal(1).scaleb(exponent)
    first = (exact[0] / step).to_integral_value(rounding="ROUND_CEILING")
    last = (exact[1] / step).to_integral_value(rounding="ROUND_FLOOR")
    if first > last:
        return None
    number = min(max((middle / step).to_integral_value(), first), last) * step
    return number if low <= float(number) <= high else None


def short_threshold(left: float, right: float, *, is_whole: bool) -> float:
    """Return the threshold that a tree with short ones has between two values of a column; IN: is_whole: if it is."""
    return _short(_Gap(left, right), left, is_whole)


Tree = TypeVar("Tree", bound=Nodes)


class _Gap(NamedTuple):
    """The values next to a threshold t: left <= t < right. An end is infinite if the table has no row on that side."""

    left: float
    right: float

    def mirror(self) -> _Gap:
        return _Gap(-self.right, -self.left)

    def completed_by(self, beyond: _Gap) -> _Gap:
        """Return the gap with infinite ends replaced by those of another gap."""
        left = beyond.left if math.isinf(self.left) else self.left
        return _Gap(left, beyond.right if math.isinf(self.right) else self.right)


# chooses a threshold: (gap, old threshold, whether the column holds whole numbers) -> new threshold
_Choice = Callable[[_Gap, float, bool], float]


def shorten_thresholds(tree: Tree, X: ArrayLike, dates: Mapping[int, Dates] = NO_DATES) -> Tree:
    """See `ThresholdTree.shortened`; IN: dates: columns of dates, whose thresholds become round dates."""
    rows = as_rows(X, tree.n_features)
    whole = [j for j in tree.features.tolist() if _is_whole(rows[:, j])]
    return shortened_in(tree, *_gaps(tree, rows), whole, dates)


def _gaps(tree: Tree, rows: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gap of each end of a cut, in the form of `shortened_in`."""
    from boxwood.loops.walk import widen_gaps  # here, as SQL and model files need the tree without the compiler

    ends, nodes = ends_left_of(tree), (tree.feature, tree.lower, tree.upper, tree.second)
    if tree.has_sets:
        return _gaps_by_nodes(tree, rows, ends)

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


def _gaps_by_nodes(
    tree: Tree, rows: NDArray[np.floating], ends: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gaps of a tree with sets of codes, whose rows no loop takes down; sets themselves have none."""
    left, right = np.full(ends.shape, -np.inf), np.full(ends.shape, np.inf)
    for node, at, inside in rows_at_nodes(tree, rows):
        for end in range(2) if inside is not None and not tree.is_set[node] else ():
            if math.isfinite(ends[node, end]):
                column = rows[:, tree.feature[node]]
                gap = _ends(column[at], column[at], float(ends[node, end]), True)
                beyond = _ends(column, column, float(ends[node, end]), True)
                left[node, end], right[node, end] = gap.completed_by(beyond)
    return left, right


def missing_alone(tree: Tree, X: ArrayLike, gaps: Collection[int]) -> Tree:
    """Return the tree whose cuts ask for missing values alone where no other row of a node is on their side.

    Otherwise a number that is greater than those of all rows of the node would go where only missing ones do.

    IN: gaps: the columns in which plus infinity is a missing value.
    """
    lower, upper, table = tree.lower.copy(), tree.upper.copy(), as_rows(X, tree.n_features)
    for node, rows, inside in rows_at_nodes(tree, table):
        if inside is None or int(tree.feature[node]) not in gaps or upper[node] == np.inf:
            continue
        beyond = table[rows[~inside], int(tree.feature[node])]
        if len(beyond) and np.isposinf(beyond).all():
            lower[node], upper[node] = -np.inf, sys.float_info.max
    return tree.with_thresholds(lower, upper)


def shortened_in(
    tree: Tree,
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    whole: Collection[int],
    dates: Mapping[int, Dates] = NO_DATES,
) -> Tree:
    """Return the tree with the shortest threshold in the gap of each end of a cut; see `shorten_thresholds`.

    IN: left, right (n_nodes, 2): the largest value of the table up to the lower end and the upper end of each cut, and
    the smallest one beyond; whole: the columns of whole numbers. See `ends_left_of`.
    """
    lower, upper = tree.lower.copy(), tree.upper.copy()
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        low, high = (_Gap(float(left[node, end]), float(right[node, end])) for end in range(2))
        j = int(tree.feature[node])
        if j in dates:
            lower[node], upper[node] = _round_dates(tree, node, low, high, dates[j])
        else:
            lower[node], upper[node] = _choose_ends(tree, node, low, high, _short, j in whole)
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
    return _move_ends(tree, raw, mapped)


def round_thresholds(tree: Tree, digits: int, kept: Collection[int] = ()) -> Tree:
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


def _move_ends(tree: Tree, X: NDArray[np.floating], Z: NDArray[np.floating]) -> Tree:
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
        lower[node], upper[node] = _choose_ends(tree, node, low, high, _middle, False)
    return tree.with_thresholds(lower, upper)


def _choose_ends(
    tree: Nodes, node: int, low: _Gap | None, high: _Gap | None, choose: _Choice, whole: bool
) -> tuple[float, float]:
    """Return both ends of a cut, each chosen in its gap if it is finite."""
    lower, upper = float(tree.lower[node]), float(tree.upper[node])
    if high is not None and math.isfinite(upper):
        upper = choose(high, upper, whole)
    if low is not None and math.isfinite(lower):  # x >= lower is -x <= -lower, so a lower end is chosen as an upper end
        lower = -choose(low.mirror(), -lower, whole)
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
            f"the cut at node {node} is not a cut of its column: a row with {gap.left} must be left of one with "
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
        return float(math.floor(shortest_between(left, last)))  # of [-1, 0) it is -0.5
    with np.errstate(over="ignore"):
        low = left + 2 * float(np.spacing(np.float32(abs(left))))
        high = right - 2 * float(np.spacing(np.float32(abs(right))))
    if low <= high:  # false where a value is beyond float32
        return shortest_between(low, high)
    return shortest_between(math.nextafter(left, math.inf) if left < last else left, last)


def _round_dates(tree: Nodes, node: int, low: _Gap, high: _Gap, dates: Dates) -> tuple[float, float]:
    """Return both ends of a cut, each next to the roundest date in its gap; a gap without an end is of one day."""
    lower, upper = float(tree.lower[node]), float(tree.upper[node])
    if math.isfinite(upper) and upper != sys.float_info.max:
        upper = _round_date(high, upper, dates)
    if math.isfinite(lower):
        lower = math.nextafter(_round_date(low, lower, dates), math.inf)
        if lower > upper:  # no row is inside, so both ends lie in one gap
            lower = upper = between(*low)
    return lower, upper


def _round_date(gap: _Gap, threshold: float, dates: Dates) -> float:
    """Return the threshold before the roundest date of a gap, or an old threshold without rows on any side."""
    if math.isinf(gap.left) and math.isinf(gap.right):
        return threshold
    return dates.roundest(*gap.completed_by(_Gap(gap.right - 1, gap.left + 1)))


def _is_whole(column: NDArray[np.floating]) -> bool:
    blocks = (column[start : start + BLOCK_ROWS] for start in range(0, len(column), BLOCK_ROWS))
    return all(bool((block == np.floor(block)).all()) for block in blocks)  # most columns say no in the first block
