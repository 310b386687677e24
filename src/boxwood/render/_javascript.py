"""The rules as a function of JavaScript, which needs nothing but JavaScript."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from boxwood.render._function import body, comparisons
from boxwood.render._literals import in_javascript
from boxwood.render._rules import explanation_of

__all__ = ["javascript"]

_HEAD = """\
// The cluster of a row by the rules of a small tree. Written by boxwood.
// row: an object from the name of a column to its value. The result is null if the row lacks a value that its rule
// needs, or has a category there that was never seen.
function cluster(row) {
"""
_VALUE = """

  function valueOf(column) {
    const value = Object.prototype.hasOwnProperty.call(row, column) ? row[column] : null;
    return value === undefined || value !== value ? null : value;
  }
"""
_NUMBER = """
  function numberOf(column) {
    const value = valueOf(column);
    if (value !== null && !["number", "boolean", "bigint"].includes(typeof value)) {
      throw new TypeError(JSON.stringify(column) + " must be a number, got " + JSON.stringify(value));
    }
    return value === null ? null : Number(value);
  }
"""
_CODE = """
  function codeOf(column) {
    const value = valueOf(column);
    return ["boolean", "bigint"].includes(typeof value) ? Number(value) : value;
  }
"""
_RESERVED = """
arguments await break case catch class cluster codeOf const continue debugger default delete do else enum eval export
extends false finally for function if implements import in instanceof interface let new null number numberOf object
package private protected public return row static super switch this throw true try typeof undefined valueOf var void
while with yield
"""


def javascript(model: Any) -> str:
    """Return a function of JavaScript, `cluster(row)`; see `Explanation.to_javascript`.

    `model` may be a fitted estimator. The result is a number if the name is one that JavaScript holds exactly.
    """
    lines = "\n".join(body(explanation_of(model), _JavaScript(), indent="  "))
    helpers = [text for name, text in (("numberOf(", _NUMBER), ("codeOf(", _CODE)) if name in lines]
    helpers = [_VALUE, *helpers] if helpers else ["\n"]
    return "".join([_HEAD, lines, *helpers, "}"])


class _JavaScript:
    reserved: Collection[str] = frozenset(_RESERVED.split())
    close = "}"
    literal = staticmethod(in_javascript)

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        return f"const {variable} = numberOf({in_javascript(column)});", f"if ({variable} === null) return null;"

    def ask_value(self, variable: str, column: str, known: Sequence[object]) -> Sequence[str]:
        lines = self.ask_any_value(variable, column, missing=True)
        return *lines, f"if ({self.one_of(variable, known, inside=False)}) return null;"

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        refused = () if missing else (f"if ({variable} === null) return null;",)
        return f"const {variable} = codeOf({in_javascript(column)});", *refused

    def between(self, variable: str, lower: float, upper: float, *, inside: bool) -> str:
        parts = (
            f"{variable} {end[0]} {in_javascript(end[1])}" for end in comparisons(lower, upper, inside=inside) if end
        )
        return (" && " if inside else " || ").join(parts)

    def one_of(self, variable: str, values: Sequence[object], *, inside: bool) -> str:
        values = _numbers(values)
        if len(values) == 1:
            return f"{variable} {'===' if inside else '!=='} {in_javascript(values[0])}"
        return f"{'' if inside else '!'}[{', '.join(map(in_javascript, values))}].includes({variable})"

    def when(self, test: str) -> str:
        return f"if ({test}) {{"

    def give(self, value: str) -> str:
        return f"return {value};"


def _numbers(values: Sequence[object]) -> list[object]:
    """Return the values with 0 and 1 for booleans, which `codeOf` turns into these, too."""
    return [int(value) if isinstance(value, bool) else value for value in values]
