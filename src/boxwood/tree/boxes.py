"""Leaves as boxes: the intervals that a leaf allows in each column that it restricts."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood.tree.nodes import Cut, Nodes

__all__ = ["Box", "Interval", "boxes", "sides"]


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
        cut = Cut(node, feature, float(tree.lower[node]), float(tree.upper[node]), inside=True)
        stack.append((int(tree.second[node]), _restrict(box, cut._replace(inside=False))))
        stack.append((node + 1, _restrict(box, cut)))
    return result


def _restrict(box: Box, cut: Cut) -> Box:
    """Return the part of a box on one side of a cut."""
    allowed = box.get(cut.feature, (Interval(-math.inf, math.inf, True, True),))
    pieces = (a.intersection(b) for a in allowed for b in sides(cut))
    return {**box, cut.feature: tuple(piece for piece in pieces if piece is not None)}


def sides(cut: Cut) -> list[Interval]:
    """Return the values on the side of a cut that `cut.inside` says: one interval inside, up to two outside."""
    if cut.inside:
        return [Interval(cut.lower, cut.upper, True, True)]
    below = Interval(-math.inf, cut.lower, True, False)
    above = Interval(cut.upper, math.inf, False, True)
    return [*([below] if cut.lower > -math.inf else []), *([above] if cut.upper < math.inf else [])]
