"""Removal of cuts that separate nothing: both sides give every row the same cluster, or one side can replace both."""

from __future__ import annotations

import math
from typing import TypeAlias

from boxwood._types import Ints
from boxwood.tree.cover import EVERYTHING, Intervals, complement, intersection
from boxwood.tree.nodes import Nodes, runs_of
from boxwood.tree.tree import ThresholdTree, TreeBuilder

_Box: TypeAlias = dict[int, Intervals]
"""The values that are allowed in each restricted column."""


def merge_leaves(tree: ThresholdTree) -> ThresholdTree:
    """Return the tree without cuts that separate nothing: every row has the same cluster as before.

    A cut is left out if one of its sides gives all rows of the other side their cluster, too; that side then takes the
    place of the cut. So two sibling leaves of one cluster become one leaf, and a chain of cuts that sends all rows to
    one cluster becomes a leaf. If both sides would do, the one with fewer leaves is kept, or else the first.

    Always holds: `predict` is the same for every row, seen or not; no further cut can be left out in this way. Leaves
    may have other numbers than before. Takes time for each cut in proportion to the leaves that have to be compared:
    at most the product of the numbers of leaves of its sides, mostly one or two.

    Examples
    --------
    >>> right = {"feature": 0, "threshold": 5.0, "left": {"cluster": 1}, "right": {"cluster": 0}}
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 2.0, "left": {"cluster": 1}, "right": right})
    >>> merge_leaves(tree).to_dict()
    {'feature': 0, 'threshold': 5.0, 'left': {'leaf': 0, 'cluster': 1}, 'right': {'leaf': 1, 'cluster': 0}}
    """
    boxes = _boxes_of_nodes(tree)
    replaced_by = list(range(tree.n_nodes))  # the node whose cut or cluster each visited node gets
    n_leaves = [1] * tree.n_nodes
    clusters: list[set[int]] = [set() for _ in range(tree.n_nodes)]  # the clusters of the leaves below a node
    reached: list[set[int]] = [set() for _ in range(tree.n_nodes)]  # the clusters of leaves that some row can reach
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.feature[node] < 0:
            clusters[node] = {int(tree.cluster[node])}
            reached[node] = clusters[node].copy() if all(boxes[node].values()) else set()
            continue
        sides = node + 1, int(tree.second[node])
        by_leaves = (0, 1) if n_leaves[sides[0]] <= n_leaves[sides[1]] else (1, 0)
        for side in by_leaves:
            other = sides[1 - side]
            may_agree = reached[other] <= clusters[sides[side]]
            if may_agree and _agree(tree, replaced_by, n_leaves, other, sides[side], boxes[other]):
                replaced_by[node], n_leaves[node] = replaced_by[sides[side]], n_leaves[sides[side]]
                break
        else:
            n_leaves[node] = n_leaves[sides[0]] + n_leaves[sides[1]]
        for sets in (clusters, reached):
            sets[node] = _union(sets[sides[0]], sets[sides[1]])
    return tree if n_leaves[0] == tree.n_leaves else _build_tree(tree, replaced_by)


def _union(some: set[int], others: set[int]) -> set[int]:
    """Return the union of two sets that are not used afterwards: the larger one is extended in place."""
    some, others = (some, others) if len(some) >= len(others) else (others, some)
    some |= others
    return some


def _agree(tree: Nodes, replaced_by: list[int], n_leaves: list[int], one_node: int, other_node: int, box: _Box) -> bool:
    """Return whether two subtrees give every row in a box the same cluster; small sides are compared first."""
    stack = [(replaced_by[one_node], replaced_by[other_node], box)]
    while stack:
        a, b, box = stack.pop()
        if not all(box.values()):
            continue
        cut = a if tree.feature[a] >= 0 else b
        if tree.feature[cut] < 0:
            if tree.cluster[a] != tree.cluster[b]:
                return False
            continue
        sides = zip((cut + 1, int(tree.second[cut])), _boxes_of_sides(tree, cut, box), strict=True)
        for child, side_box in sorted(sides, key=lambda side: -n_leaves[side[0]]):
            below = replaced_by[child]
            stack.append((below, b, side_box) if cut == a else (a, below, side_box))
    return True


def _boxes_of_nodes(tree: Nodes) -> list[_Box]:
    boxes: list[_Box] = [{} for _ in range(tree.n_nodes)]
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            boxes[node + 1], boxes[tree.second[node]] = _boxes_of_sides(tree, node, boxes[node])
    return boxes


def _boxes_of_sides(tree: Nodes, node: int, box: _Box) -> tuple[_Box, _Box]:
    """Return the two sides of a box under a cut; an empty side allows no value of the column."""
    feature, upper, lower, members = tree.test(node)
    allowed = box.get(feature, EVERYTHING)
    if lower == -math.inf and len(allowed) == 1 and upper < math.inf:  # nearly all cuts, so there is a fast way
        ((low, high),) = allowed
        above = math.nextafter(upper, math.inf) + 0.0
        first: Intervals = ((low, min(high, upper)),) if low <= upper else ()
        second: Intervals = ((max(low, above), high),) if above <= high else ()
    else:
        inside: Intervals = tuple((float(a), float(b)) for a, b in runs_of(members)) if members else ((lower, upper),)
        first, second = (intersection(allowed, side) for side in (inside, complement(inside)))
    return {**box, feature: first}, {**box, feature: second}


def _build_tree(tree: Nodes, replaced_by: list[int]) -> ThresholdTree:
    builder, stack = TreeBuilder(), [(0, 0)]
    second: Ints = tree.second
    while stack:
        old, new = stack.pop()
        node = replaced_by[old]
        if tree.feature[node] < 0:
            builder.label(new, int(tree.cluster[node]))
        else:
            children = builder.split(new, *tree.test(node))
            stack += zip((node + 1, int(second[node])), children, strict=True)
    return builder.build()
