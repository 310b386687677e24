"""Leaves as boxes: the intervals that a leaf allows in each column that it restricts."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood.tree.nodes import Cut, Nodes, runs_of


class Interval(NamedTuple):
    """An interval of one column. An infinite end is no bound. `x in interval` tests a value."""

    lower: float
    upper: float
    lower_closed: bool
    upper_closed: bool

    def __contains__(self, x: object) -> bool:
        if not isinstance(x, (int, float)):
            return False
        above = x >= self.lower if self.lower_closed else x > self.lower
        below = x <= self.upper if self.upper_closed else x < self.upper
        return above and below

    def intersection(self, other: Interval) -> Interval | None:
        """Return the values in both intervals, or None where there are none."""
        # at the same value, an open lower end lies above a closed one, and an open upper end below a closed one
        lower, lower_open = max((self.lower, not self.lower_closed), (other.lower, not other.lower_closed))
        upper, upper_closed = min((self.upper, self.upper_closed), (other.upper, other.upper_closed))
        if lower > upper or (lower == upper and (lower_open or not upper_closed)):
            return None
        return Interval(lower, upper, not lower_open, upper_closed)


Box: TypeAlias = dict[int, tuple[Interval, ...]]
"""For each restricted column the allowed intervals, ascending and disjoint; none if cuts contradict each other."""


def boxes(tree: Nodes, at: Collection[int] | None = None) -> list[Box]:
    """Return the box of each leaf, in the order of the leaves; or of each node in `at`, in the order of the nodes.

    Takes time and memory for each column that is tested on the path to a leaf.
    """
    result: list[Box] = []
    wanted = tree.feature < 0 if at is None else np.isin(np.arange(tree.n_nodes), list(at))
    stack: list[tuple[int, Box]] = [(0, {})]
    while stack:
        node, box = stack.pop()
        if wanted[node]:
            result.append(box)
        feature = int(tree.feature[node])
        if feature < 0:
            continue
        _, upper, lower, members = tree.test(node)
        cut = Cut(node, feature, lower, upper, True, members)
        stack.append((int(tree.second[node]), restrict(box, cut._replace(inside=False))))
        stack.append((node + 1, restrict(box, cut)))
    return result


def box_of(cuts: Iterable[Cut]) -> Box:
    """Return the box on one side of each of some cuts."""
    return reduce(restrict, cuts, {})


def restrict(box: Box, cut: Cut) -> Box:
    """Return the part of a box on one side of a cut."""
    allowed = box.get(cut.feature, (Interval(-math.inf, math.inf, True, True),))
    pieces = (a.intersection(b) for a in allowed for b in intervals_inside(cut))
    return {**box, cut.feature: tuple(piece for piece in pieces if piece is not None)}


def intervals_inside(cut: Cut) -> list[Interval]:
    """Return the values on the side of a cut that `cut.inside` says, as intervals, ascending.

    Inside an interval is one, outside are up to two; a set has one for each run of codes, or those between the runs.
    """
    if cut.members:
        runs = [Interval(float(first), float(last), True, True) for first, last in runs_of(cut.members)]
        return runs if cut.inside else _between(runs)
    if cut.inside:
        return [Interval(cut.lower, cut.upper, True, True)]
    below = Interval(-math.inf, cut.lower, True, False)
    above = Interval(cut.upper, math.inf, False, True)
    return [*([below] if cut.lower > -math.inf else []), *([above] if cut.upper < math.inf else [])]


def _between(runs: list[Interval]) -> list[Interval]:
    """Return the values before, between and after closed intervals."""
    starts, stops = [-math.inf, *(run.upper for run in runs)], [*(run.lower for run in runs), math.inf]
    ends = zip(starts, stops, strict=True)
    return [Interval(low, high, math.isinf(low), math.isinf(high)) for low, high in ends]


_NUMBERS = Interval(-math.inf, sys.float_info.max, True, True)


def without_missing(pieces: Sequence[Interval]) -> tuple[tuple[Interval, ...], bool]:
    """Return the numbers among the values of a column with gaps, and whether a missing value is among them.

    There a missing value is the point +inf. Intervals of the result are of numbers alone: an upper end that is infinite
    is no bound for them. Ends are said by the shorter one of two neighbouring doubles.

    Examples
    --------
    >>> without_missing([Interval(-math.inf, 5.000000000000001, True, False), Interval(math.inf, math.inf, True, True)])
    ((Interval(lower=-inf, upper=5.0, lower_closed=True, upper_closed=True),), True)
    """
    numbers = (piece.intersection(_NUMBERS) for piece in pieces)
    return tuple(map(_shortly, filter(None, numbers))), any(math.inf in piece for piece in pieces)


def ends_without_missing(lower: float, upper: float) -> tuple[float, float]:
    """Return both ends of a cut on a column with gaps as they are said; infinite where it parts missing values alone.

    Examples
    --------
    >>> ends_without_missing(30.000000000000004, sys.float_info.max)
    (30.0, inf)
    """
    pieces, _ = without_missing([Interval(lower, upper, True, True)])
    return pieces[0][:2] if pieces else (lower, upper)


def reached_by_missing(tree: Nodes, gaps: Collection[int]) -> frozenset[int]:
    """Return the cuts on columns with gaps that a row reaches which lacks the value they ask for."""
    found, stack = [], [(0, frozenset(gaps))]  # a node, and the columns of which it is reached without a value
    while stack:
        node, open_columns = stack.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            continue
        inside = outside = open_columns
        if feature in open_columns:
            found.append(node)
            closed = open_columns - {feature}
            inside, outside = (inside, closed) if tree.upper[node] == math.inf else (closed, outside)
        stack += ((int(tree.second[node]), outside), (node + 1, inside))
    return frozenset(found)


def _shortly(piece: Interval) -> Interval:
    """Return the same doubles: a closed end is an open one at its neighbour, which may take fewer digits."""
    lower, upper, lower_closed, upper_closed = piece
    if piece.upper == _NUMBERS.upper and upper_closed:
        upper = math.inf
    beside = math.nextafter(lower, -math.inf if lower_closed else math.inf) + 0.0
    if _is_shorter(beside, lower):
        lower, lower_closed = beside, not lower_closed
    beside = math.nextafter(upper, math.inf if upper_closed else -math.inf) + 0.0
    if _is_shorter(beside, upper):
        upper, upper_closed = beside, not upper_closed
    return Interval(lower, upper, lower_closed, upper_closed)


def _is_shorter(end: float, other: float) -> bool:
    return math.isfinite(end) and math.isfinite(other) and len(repr(end)) < len(repr(other))
