"""What the two sides of each cut ask of a row, in words for the edges of a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from boxwood.axes import Categories
from boxwood.render._fitted import short_number
from boxwood.render._outline import sides
from boxwood.render._rules import category, column_name, none_of, number, one_of

if TYPE_CHECKING:
    from boxwood.explanation import Explanation
    from boxwood.tree import ThresholdTree

__all__ = ["CutWords", "Sides", "codes_at_cuts", "cut_words"]

Sides = tuple[list[int], list[int]]
"""Codes of the categories that can reach a cut: those inside, and those outside."""


class CutWords(NamedTuple):
    """The conditions of the inside and the outside of a cut: short ones without the column's name, and in full."""

    short: tuple[str, str]
    full: tuple[str, str]


def cut_words(ex: Explanation, node: int, codes: Sides | None) -> CutWords:
    """Return what the sides of a cut ask; `codes` are those of `codes_at_cuts`, for a column of categories."""
    feature, lower, upper = int(ex.tree.feature[node]), float(ex.tree.lower[node]), float(ex.tree.upper[node])
    name = column_name(ex.columns[feature])
    if codes is None:
        inside, outside = sides(name, lower, upper, number)
        return CutWords(_numbers(lower, upper), (inside, outside.replace(f"{name} >  ", f"{name} > ")))
    categories = ex.coded_columns[feature]
    if categories.values == (False, True):
        yes = codes[0] == [1]
        return CutWords(
            ("yes", "no") if yes else ("no", "yes"), (name, f"not {name}") if yes else (f"not {name}", name)
        )
    short = _categories(categories, codes)
    return CutWords(short, (f"{name} {short[0]}", f"{name} {short[1]}"))


def codes_at_cuts(tree: ThresholdTree, categories: dict[int, Categories]) -> dict[int, Sides]:
    """Return the codes that can reach each cut on a column of categories, inside and outside of it."""
    found: dict[int, Sides] = {}
    known = {j: list(range(len(one.domain))) for j, one in categories.items()}
    stack = [(0, known)]  # node, and the codes of each column that can reach it
    while stack:
        node, possible = stack.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            continue
        below = (possible, possible)
        if feature in categories:
            lower, upper = tree.lower[node], tree.upper[node]
            inside = [code for code in possible[feature] if lower <= code <= upper]
            outside = [code for code in possible[feature] if not lower <= code <= upper]
            found[node] = inside, outside
            below = possible | {feature: inside}, possible | {feature: outside}
        stack += (int(tree.second[node]), below[1]), (node + 1, below[0])
    return found


def _numbers(lower: float, upper: float) -> tuple[str, str]:
    low, high = short_number(lower), short_number(upper)
    if lower == -math.inf:
        return f"≤ {high}", f"> {high}"
    if upper == math.inf:
        return f"≥ {low}", f"< {low}"
    return f"{low} to {high}", f"< {low} or > {high}"


def _categories(categories: Categories, codes: Sides) -> tuple[str, str]:
    """Return what both sides ask: the side of fewer categories is named, and the other one is not those.

    A side that other values than the known ones may take is always the other one.
    """
    values = categories.values
    has_others = [any(code >= len(values) for code in side) for side in codes]
    named = 1 if has_others[0] or (len(codes[1]) < len(codes[0]) and not has_others[1]) else 0
    chosen = [values[code] for code in codes[named] if code < len(values)]
    others = [values[code] for code in codes[1 - named] if code < len(values)]
    if not chosen:
        words = "impossible", "any"
    elif len(others) == 1 and not any(has_others):
        words = f"is {one_of(chosen)}", f"is {category(others[0])}"
    else:
        words = f"is {one_of(chosen)}", f"is {none_of(chosen)}" if others or any(has_others) else "impossible"
    return words if named == 0 else (words[1], words[0])
