"""The walk of a tree that all its texts share: one line for each side of a cut and for each leaf."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TypeAlias

from boxwood.tree import ThresholdTree

__all__ = ["Tests", "outline", "sides"]

LONGEST = 1 << 28  # characters of indentation

Tests: TypeAlias = Callable[[int, float, float, Collection[int]], tuple[str, str]]
"""From a cut's feature, its lower and upper end, and the features cut above it, to the tests of its two sides."""


def outline(tree: ThresholdTree, tests: Tests, cluster_name: Callable[[int], str]) -> str:
    """Return the tree in the shape of scikit-learn's `export_text`, in pre-order.

    Raises
    ------
    ValueError
        If the tree is so deep that the text would be longer than 2**28 characters by its indentation alone.
    """
    _refuse_too_deep(tree)
    lines: list[str] = []
    stack: list[tuple[int, tuple[int, ...], str]] = [(0, (), "")]  # node, features cut above it, test that leads to it
    while stack:
        node, above, test = stack.pop()
        if test:
            lines.append(f"{'|   ' * (len(above) - 1)}|--- {test}")
        feature = int(tree.feature[node])
        if feature < 0:
            lines.append(f"{'|   ' * len(above)}|--- {cluster_name(int(tree.cluster[node]))}")
            continue
        inside, outside = tests(feature, float(tree.lower[node]), float(tree.upper[node]), above)
        below = (*above, feature)
        stack += ((int(tree.second[node]), below, outside), (node + 1, below, inside))
    return "\n".join(lines)


def _refuse_too_deep(tree: ThresholdTree) -> None:
    depth = [0] * tree.n_nodes
    for node, (feature, second) in enumerate(zip(tree.feature.tolist(), tree.second.tolist(), strict=True)):
        if feature >= 0:
            depth[node + 1] = depth[second] = depth[node] + 1
    if (indentation := 4 * sum(depth)) > LONGEST:
        raise ValueError(
            f"a tree of depth {tree.depth:,} as text would take {indentation:,} characters of indentation; use "
            "to_json() or render.sql"
        )


def sides(
    name: str, lower: float, upper: float, number: Callable[[float], str], low: str = "", high: str = ""
) -> tuple[str, str]:
    """Return the tests of the two sides of a cut; `low` and `high` are added for values below and above the cut."""
    if lower == -math.inf:
        return f"{name} <= {number(upper)}{low}", f"{name} >  {number(upper)}{high}"
    if upper == math.inf:
        return f"{name} >= {number(lower)}{high}", f"{name} <  {number(lower)}{low}"
    above = f"{name} > {number(upper)}" if not high else f"> {number(upper)}"
    return f"{number(lower)} <= {name} <= {number(upper)}", f"{name} < {number(lower)}{low} or {above}{high}"
