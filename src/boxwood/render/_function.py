"""The rules as a function of a row in a language with `if` and `return`: one walk, and what differs by language.

Each cut returns from the side of fewer leaves, so the other side needs no `else`, and the code is indented at most as
often as the logarithm of the number of leaves says. A column is asked for where the way down the tree first tests it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Protocol

from boxwood.axes import Categories
from boxwood.render._literals import identifiers, plain
from boxwood.render._walk import Step, among, walk

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["Language", "body", "comparisons"]


class Language(Protocol):
    """How a language says what the function needs."""

    reserved: Collection[str]  # words that no variable may be
    close: str  # what ends an indented block; an empty text if the indentation does

    def literal(self, value: object) -> str:
        """Return a value."""

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        """Return lines that set a variable to a number, and return nothing if it is missing."""

    def ask_value(self, variable: str, column: str, known: Sequence[object]) -> Sequence[str]:
        """Return lines that set a variable to a category, None if it is missing, and return nothing if it is unknown.

        IN: known, the values that have a code.
        """

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        """Return lines that set a variable to a category, known or not; `missing` says whether it may be missing."""

    def between(self, variable: str, lower: float, upper: float, *, inside: bool) -> str:
        """Return the test that a number lies in a closed interval, or that it does not."""

    def one_of(self, variable: str, values: Sequence[object], *, inside: bool) -> str:
        """Return the test that a value is one of these, or that it is none of them."""

    def when(self, test: str) -> str:
        """Return the line that begins an indented block."""

    def give(self, value: str) -> str:
        """Return the line that returns a value."""


def body(ex: Explanation, language: Language, *, indent: str) -> list[str]:
    """Return the lines of the function's body, which give the name of a cluster.

    Takes time and length of the number of nodes, and of the categories that each tests.
    """
    tree, known = ex.tree, ex.coded_columns
    variables = identifiers(ex.columns, tree.features.tolist(), language.reserved)
    lines: list[str] = []
    level = 0
    for step in walk(tree, lighter_first=True):
        if step.nested < level:
            lines += [f"{indent * level}{language.close}"] * bool(language.close)
        elif step.nested > level:
            test = _test(ex, language, variables, step)
            lines.append(f"{indent * (level + 1)}{language.when(test)}")
        level = step.nested
        inner = indent * (level + 1)
        feature = int(tree.feature[step.node])
        if feature < 0:
            lines.append(f"{inner}{language.give(language.literal(plain(ex.names[int(tree.cluster[step.node])])))}")
        elif feature not in step.asked:
            asked = _asked(language, variables[feature], ex.columns[feature], known.get(feature))
            lines += [f"{inner}{line}" for line in asked]
    return lines


def _asked(language: Language, variable: str, column: str, known: Categories | None) -> Sequence[str]:
    if known is None:
        return language.ask_number(variable, column)
    if known.others:
        return language.ask_any_value(variable, column, missing=None in known.values)
    return language.ask_value(variable, column, _plain(known.values))


def _test(ex: Explanation, language: Language, variables: dict[int, str], step: Step) -> str:
    """Return the test of the cut above a step that leads to it."""
    cut = step.above
    feature, lower, upper = int(ex.tree.feature[cut]), float(ex.tree.lower[cut]), float(ex.tree.upper[cut])
    known = ex.coded_columns.get(feature)
    if known is None:
        return language.between(variables[feature], lower, upper, inside=step.inside)
    values, included = among(known, lower, upper)
    return language.one_of(variables[feature], _plain(values), inside=included == step.inside)


def _plain(values: Sequence[Hashable]) -> list[object]:
    return [None if value is None else plain(value) for value in values]


def comparisons(
    lower: float, upper: float, *, inside: bool
) -> tuple[tuple[str, float] | None, tuple[str, float] | None]:
    """Return the tests at the lower and the upper end of a cut, each an operator and a number, or None without one.

    Inside both have to hold, outside one of them.
    """
    at_lower = None if lower == -math.inf else (">=" if inside else "<", lower)
    at_upper = None if upper == math.inf and at_lower else ("<=" if inside else ">", upper)
    return at_lower, at_upper
