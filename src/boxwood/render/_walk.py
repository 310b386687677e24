"""The one walk of a tree that all writers share, and what a cut asks of a value."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from boxwood.axes import Categories
from boxwood.tree import ThresholdTree

__all__ = ["Step", "among", "walk"]


class Step(NamedTuple):
    """A node on the walk.

    `depth` counts the cuts above it. `above` is the last of these, -1 for the root, and `inside` says on which side of
    it the node lies. `asked` holds the columns that the way to the node has tested. `nested` counts the cuts above it
    of which it lies on the side that is walked first.
    """

    node: int
    depth: int
    above: int
    inside: bool
    asked: frozenset[int]
    nested: int


def walk(tree: ThresholdTree, *, lighter_first: bool = False) -> Iterator[Step]:
    """Yield the nodes, each before those below it, and all on one side of a cut before those on the other.

    The inside of a cut comes first, or with `lighter_first` the side of fewer leaves. Then `nested` is at most the
    logarithm to base 2 of the number of leaves, however deep the tree is: code that indents only the first side stays
    narrow.
    """
    features, second = tree.feature.tolist(), tree.second.tolist()
    leaves = _leaves_below(tree) if lighter_first else None
    stack = [Step(0, 0, -1, True, frozenset(), 0)]
    while stack:
        step = stack.pop()
        yield step
        node, feature = step.node, features[step.node]
        if feature < 0:
            continue
        asked = step.asked if feature in step.asked else step.asked | {feature}
        outside_first = leaves is not None and leaves[second[node]] < leaves[node + 1]
        for inside in (outside_first, not outside_first):  # what is pushed last is walked first
            child = node + 1 if inside else second[node]
            nested = step.nested + (inside != outside_first)
            stack.append(Step(child, step.depth + 1, node, inside, asked, nested))


def among(categories: Categories, lower: float, upper: float) -> tuple[tuple[Hashable, ...], bool]:
    """Return which values a cut on their codes has inside: these, and True; or all but these, and False."""
    return categories.chosen([code for code, _ in categories.domain if lower <= code <= upper])


def _leaves_below(tree: ThresholdTree) -> list[int]:
    leaves, features, second = [1] * tree.n_nodes, tree.feature.tolist(), tree.second.tolist()
    for node in range(tree.n_nodes - 1, -1, -1):
        if features[node] >= 0:
            leaves[node] = leaves[node + 1] + leaves[second[node]]
    return leaves
