"""A tree with cuts of the form `x <= threshold` alone, for engines that know no other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.errors import DataError
from boxwood.tree import ThresholdTree

__all__ = ["OneSided", "one_sided"]

_MOST = 1 << 17  # nodes

Bounds = dict[int, tuple[float, float]]
"""The smallest and the largest value that can reach a node, for columns cut above it."""


class OneSided(NamedTuple):
    """Nodes in pre-order; rows with `x[feature] <= threshold` go to the left.

    Arrays have shape (n,). `feature` is -1 at a leaf, and `leaf` the number of the tree's leaf there, -1 at a cut.
    """

    feature: Indices
    threshold: Floats
    left: Indices
    right: Indices
    leaf: Indices


def one_sided(tree: ThresholdTree) -> OneSided:
    """Return the tree with one-sided cuts: it labels every row without missing values as the tree does.

    A cut `lower <= x` becomes `x <= t` with t the double below `lower`. A two-sided cut becomes two cuts, and the nodes
    outside stand twice, without the cuts that are decided already. Takes time for each column tested on the way to a
    node.

    Raises
    ------
    DataError
        If this makes more than 2**17 nodes, as a chain of two-sided cuts does.
    """
    numbers = np.cumsum(tree.feature < 0) - 1
    rows: list[tuple[int, float, int, int, int]] = []
    rights: dict[int, int] = {}
    stack: list[tuple[int, Bounds, int]] = [(0, {}, -1)]  # node, bounds, cut of which it is the right side
    while stack:
        node, bounds, above = stack.pop()
        place = len(rows)
        if above >= 0:
            rights[above] = place
        if tree.feature[node] < 0:
            rows.append((-1, math.nan, -1, -1, int(numbers[node])))
            continue
        feature, threshold, left, right = _first_cut(tree, node, bounds)
        if threshold is None:
            stack.append((left[0], left[1], above))
            continue
        rows.append((feature, threshold, place + 1, -1, -1))
        stack += ((right[0], right[1], place), (left[0], left[1], -1))
        if len(rows) > _MOST:
            raise DataError(
                f"with one-sided cuts alone the tree would have more than {_MOST:,} nodes, as each two-sided cut "
                "doubles what is outside of it; explain with fewer leaves or one-sided cuts"
            )
    features, thresholds, lefts, all_rights, leaves = map(np.array, zip(*rows, strict=True))
    all_rights[list(rights)] = list(rights.values())
    return OneSided(features, thresholds.astype(np.float64), lefts, all_rights, leaves)


Side = tuple[int, Bounds]


def _first_cut(tree: ThresholdTree, node: int, bounds: Bounds) -> tuple[int, float | None, Side, Side]:
    """Return the column and the threshold of a node's first one-sided cut, and the nodes and bounds of its sides.

    The threshold is None if all values that reach the node are on the left. Where two cuts are needed, the right side
    of the first is the same node again, with bounds that leave the second one.
    """
    feature, lower, upper = int(tree.feature[node]), float(tree.lower[node]), float(tree.upper[node])
    inside, outside = node + 1, int(tree.second[node])
    low, high = bounds.get(feature, (-math.inf, math.inf))
    if high < lower or low > upper:
        return feature, None, (outside, bounds), (-1, {})
    if lower <= low and high <= upper:
        return feature, None, (inside, bounds), (-1, {})
    if low < lower:
        threshold, left, right = math.nextafter(lower, -math.inf), outside, node if high > upper else inside
        start = lower
    else:
        threshold, left, right = upper, inside, outside
        start = math.nextafter(upper, math.inf)
    return (
        feature,
        threshold,
        (left, {**bounds, feature: (low, threshold)}),
        (right, {**bounds, feature: (start, high)}),
    )
