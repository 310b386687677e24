"""A tree with cuts of the form `x <= threshold` alone, for engines that know no other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import list_words
from boxwood.errors import DataError
from boxwood.tree import ThresholdTree
from boxwood.tree.nodes import runs_of

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

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
    outside stand twice, without the cuts that are decided already. A set of codes becomes a cut at each end of its
    runs, and the nodes on both sides stand as often as there are runs of them. Takes time for each column tested on the
    way to a node.

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
                "doubles what is outside of it"
                + (", and each set of categories what is on both sides" if tree.has_sets else "")
                + "; explain with fewer leaves or one-sided cuts, or take another form: SQL, Python, JavaScript, PMML"
            )
    features, thresholds, lefts, all_rights, leaves = map(np.array, zip(*rows, strict=True))
    all_rights[list(rights)] = list(rights.values())
    return OneSided(features, thresholds.astype(np.float64), lefts, all_rights, leaves)


Side = tuple[int, Bounds]


def _first_cut(tree: ThresholdTree, node: int, bounds: Bounds) -> tuple[int, float | None, Side, Side]:
    """Return the column and the threshold of a node's first one-sided cut, and the nodes and bounds of its sides.

    The threshold is None if all values that reach the node are on the left. The right side of a cut is the same node
    again, with bounds that leave the cuts that are still needed.
    """
    feature, upper, lower, members = tree.test(node)
    inside, outside = node + 1, int(tree.second[node])
    low, high = bounds.get(feature, (-math.inf, math.inf))
    if members:  # codes are whole numbers from 0 on
        low, high = float(np.ceil(max(low, 0.0))), float(np.floor(high))
    runs: Sequence[tuple[float, float]] = runs_of(members) if members else [(lower, upper)]
    run = next((run for run in runs if low <= run[1]), None)
    if run is None or high < run[0]:
        return feature, None, (outside, bounds), (-1, {})
    if run[0] <= low and high <= run[1]:
        return feature, None, (inside, bounds), (-1, {})
    first, last = map(float, run)
    if low < first:
        left, threshold, start = outside, first - 1 if members else math.nextafter(first, -math.inf), first
    else:
        left, threshold, start = inside, last, last + 1 if members else math.nextafter(last, math.inf)
    return (
        feature,
        threshold,
        (left, {**bounds, feature: (low, threshold)}),
        (node, {**bounds, feature: (start, high)}),
    )


def refuse_dates(ex: MeasuredTree, what: str) -> None:
    """Raise a DataError if a tree tests dates; IN: what: takes rows in float32, which cannot tell minutes apart."""
    tested = [ex.columns[j] for j in ex.tree.features.tolist() if j in ex._date_columns]
    if tested:
        others = (
            "SQL, Python or JavaScript"
            if any(one.as_of for _, one in ex.details.dates)
            else "SQL, Python, JavaScript or PMML"
        )
        remedy = f"write {others}, or make days since a day of your choice of the column"
        raise DataError(
            f"{what} takes numbers of float32, which hold no dates, but the rules test {list_words(tested)}; {remedy}"
        )
