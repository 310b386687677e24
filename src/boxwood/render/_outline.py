"""The outline of a tree that all its texts share: one line for each side of a cut and for each leaf."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TypeAlias

from boxwood.render._walk import Step, walk
from boxwood.tree import ThresholdTree

__all__ = ["OfCut", "Tests", "of_cuts", "outline", "outline_lines", "sides", "too_deep"]

LONGEST = 1 << 28  # characters of indentation

Tests: TypeAlias = Callable[[Step], tuple[str, str]]
"""From a cut to the tests of its two sides."""

OfCut: TypeAlias = Callable[[int, float, float, Collection[int]], tuple[str, str]]
"""From a cut's feature, its lower and upper end, and the features cut above it, to the tests of its two sides."""


def outline(tree: ThresholdTree, tests: Tests, leaf: Callable[[int], str]) -> str:
    """Return the tree in the shape of scikit-learn's `export_text`, in pre-order.

    IN: tests, the texts of the two sides of a cut; leaf, the text of a leaf from its node.

    Raises
    ------
    ValueError
        If the tree is so deep that the text would be longer than 2**28 characters by its indentation alone.
    """
    if (indentation := too_deep(tree)) is not None:
        raise ValueError(
            f"a tree of depth {tree.depth:,} as text would take {indentation:,} characters of indentation; use "
            "to_json() or to_sql()"
        )
    return "\n".join(line for line, _ in outline_lines(tree, tests, leaf))


def outline_lines(tree: ThresholdTree, tests: Tests, leaf: Callable[[int], str]) -> list[tuple[str, int]]:
    """Return the lines of the outline, each with its node if it is a leaf's, and -1 otherwise."""
    lines: list[tuple[str, int]] = []
    waiting: dict[tuple[int, bool], str] = {}  # test that leads to a side of a cut
    for step in walk(tree):
        if step.depth:
            lines.append((f"{'|   ' * (step.depth - 1)}|--- {waiting.pop((step.above, step.inside))}", -1))
        if tree.feature[step.node] < 0:
            lines.append((f"{'|   ' * step.depth}|--- {leaf(step.node)}", step.node))
        else:
            waiting[step.node, True], waiting[step.node, False] = tests(step)
    return lines


def of_cuts(tree: ThresholdTree, tests: OfCut) -> Tests:
    """Return texts of cuts that need no more than the cut and the features above it."""

    def of_step(step: Step) -> tuple[str, str]:
        node = step.node
        return tests(int(tree.feature[node]), float(tree.lower[node]), float(tree.upper[node]), step.asked)

    return of_step


def too_deep(tree: ThresholdTree) -> int | None:
    """Return the number of characters of indentation, if it is too large for a text."""
    depth = [0] * tree.n_nodes
    for node, (feature, second) in enumerate(zip(tree.feature.tolist(), tree.second.tolist(), strict=True)):
        if feature >= 0:
            depth[node + 1] = depth[second] = depth[node] + 1
    indentation = 4 * sum(depth)
    return indentation if indentation > LONGEST else None


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
