"""The rules as source of Python, which needs nothing but Python."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Collection, Sequence
from typing import Any

from boxwood.render._function import body, comparisons
from boxwood.render._literals import in_python
from boxwood.render._rules import explanation_of

__all__ = ["python"]

_HEAD = '''\
"""The cluster of a row by the rules of a small tree. Written by boxwood."""


def cluster(row):
    """Return the cluster of a row, a mapping from the name of a column to its value.

    The result is None if the row lacks a value that its rule needs, or has a category there that was never seen.
    """
'''
_MISSING = """


def _is_missing(value):
    try:
        return value is None or bool(value != value)
    except TypeError:  # a comparison with the NA of pandas is neither true nor false
        return True
"""
_NUMBER = """

def _number(row, column):
    value = row.get(column)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{column!r} must be a number, got {value!r}")
    return None if _is_missing(value) else float(value)
"""
_VALUE = """

def _value(row, column):
    value = row.get(column)
    return None if _is_missing(value) else value
"""


def python(model: Any) -> str:
    """Return source of Python with one public function, `cluster(row)`; see `Explanation.to_python`.

    `model` may be a fitted estimator.
    """
    lines = "\n".join(body(explanation_of(model), _Python(), indent="    "))
    helpers = [text for name, text in (("_number(", _NUMBER), ("_value(", _VALUE)) if name in lines]
    return "".join([_HEAD, lines, *([_MISSING] if helpers else []), *helpers]).rstrip("\n")


class _Python:
    reserved: Collection[str] = frozenset([*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "row", "cluster"])
    close = ""
    literal = staticmethod(in_python)

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        return f"{variable} = _number(row, {column!r})", f"if {variable} is None:", "    return None"

    def ask_value(self, variable: str, column: str, known: Sequence[object]) -> Sequence[str]:
        lines = self.ask_any_value(variable, column, missing=True)
        return *lines, f"if {self.one_of(variable, known, inside=False)}:", "    return None"

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        refused = () if missing else (f"if {variable} is None:", "    return None")
        return f"{variable} = _value(row, {column!r})", *refused

    def between(self, variable: str, lower: float, upper: float, *, inside: bool) -> str:
        at_lower, at_upper = comparisons(lower, upper, inside=inside)
        if at_lower and at_upper and inside:
            return f"{in_python(lower)} <= {variable} <= {in_python(upper)}"
        parts = (f"{variable} {end[0]} {in_python(end[1])}" for end in (at_lower, at_upper) if end)
        return " or ".join(parts)

    def one_of(self, variable: str, values: Sequence[object], *, inside: bool) -> str:
        if values == [None]:
            return f"{variable} is {'' if inside else 'not '}None"
        if len(values) == 1:
            return f"{variable} {'==' if inside else '!='} {in_python(values[0])}"
        return f"{variable} {'' if inside else 'not '}in ({', '.join(map(in_python, values))})"

    def when(self, test: str) -> str:
        return f"if {test}:"

    def give(self, value: str) -> str:
        return f"return {value}"
