"""Why a row has no cluster, in SQL: a value that its rule needs is missing, or was never seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from boxwood.render.forms.sql_tests import Test, condition_of_box
from boxwood.tree.boxes import boxes

if TYPE_CHECKING:
    from boxwood.tree import ThresholdTree

Reason = tuple[int, str]
"""A column, and "missing" or "never seen"."""


def lost_ways(
    tree: ThresholdTree, tests: Mapping[int, Test], gaps: Collection[int], said: Callable[[Reason], str]
) -> list[tuple[str, str]]:
    """Return conditions, the first that holds decides, and beside each why a row without a leaf has none.

    Of the cuts whose way a row has come, the deepest is where it stops, so deeper ones come first. The way to the root
    is an empty text; a cut is left out if it says what all behind it say, the root among them.

    IN: gaps: columns of numbers in which a missing value has a place; said: returns SQL of a reason.
    """
    cuts = [node for node in np.flatnonzero(tree.feature >= 0).tolist() if int(tree.feature[node]) not in gaps]
    ways = list[tuple[str, str]]()
    for node, box in zip(cuts, boxes(tree, cuts), strict=True):
        way, j = condition_of_box(box, tests), int(tree.feature[node])
        if way is None:
            continue
        whys = [f"{test}{said((j, reason))}" for reason, test in _why(tests[j]).items()]
        why = whys[0] if len(whys) == 1 else f"CASE {' '.join(whys)} END"
        if not (ways and ways[0][0] == "" and {behind for _, behind in ways} == {why}):
            ways.append((way, why))
    return ways[::-1]


def _why(test: Test) -> dict[str, str]:
    """Return why a column may have no value that a cut knows, and what stands before each in a CASE."""
    categories = getattr(test, "categories", None)
    if categories is None or categories.others:
        return {"missing": ""}
    if None in categories.values:
        return {"never seen": ""}
    return {"missing": f"WHEN {test.lacks} THEN ", "never seen": "ELSE "}  # type: ignore[union-attr]
