"""Texts and numbers as literals of the languages that rules are written in."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Sequence
from numbers import Integral, Real

from boxwood._messages import shown
from boxwood.errors import DataError

__all__ = ["identifiers", "in_javascript", "in_python", "in_spreadsheet", "plain"]

_SAFE = 2**53  # numbers of JavaScript hold all whole numbers up to here
_LONGEST = 30  # characters of a variable
_IN_A_CELL = 120  # characters of one literal, quotes not doubled; Excel allows 255 with all of them doubled
_LARGEST = 9.99999999999999e307  # that a cell holds
_CONTROL = re.compile(r"([\x00-\x1f\x7f-\x9f\u2028\u2029])")
_JAVASCRIPT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "<": "\\x3C"}


def plain(name: Hashable) -> str | int | float | bool:
    """Return the name of a cluster, or a category, as a plain value: numbers and booleans stay such, all else is text.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.int64(3)), plain(True), plain("a"), plain((1, 2))
    (3, True, 'a', '(1, 2)')
    """
    if isinstance(name, bool):
        return name
    if isinstance(name, Integral):
        return int(name)
    return float(name) if isinstance(name, Real) else str(name)


def in_python(value: object) -> str:
    """Return a plain value, or None, as a literal of Python; whole floats lose their point.

    Examples
    --------
    >>> print(in_python("it's"), in_python(27000.0), in_python(-0.1), in_python(None), in_python(float("inf")))
    "it's" 27000 -0.1 None float('inf')
    """
    if isinstance(value, float):
        return f"float('{value}')" if not math.isfinite(value) else repr(value + 0.0).removesuffix(".0")
    return repr(value)


def in_javascript(value: object) -> str:
    """Return a plain value, or None, as a literal of JavaScript that may also stand in a page, between script tags.

    A whole number that no number of JavaScript holds becomes text.

    Examples
    --------
    >>> print(in_javascript('</script> "$"'), in_javascript(27000.0), in_javascript(True), in_javascript(None))
    "\\x3C/script> \\"$\\"" 27000 true null
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        if isinstance(value, int) and abs(value) > _SAFE:
            return f'"{value}"'
        number = repr(value + 0.0 if isinstance(value, float) else value).removesuffix(".0")
        return number.replace("inf", "Infinity").replace("nan", "NaN")
    return '"' + "".join(map(_in_javascript, str(value))) + '"'


def _in_javascript(c: str) -> str:
    if c in _JAVASCRIPT or (c.isprintable() and c != "\u2028"):
        return _JAVASCRIPT.get(c, c)
    return f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else f"\\u{{{ord(c):x}}}"


def in_spreadsheet(value: object) -> str:
    """Return a plain value as part of a formula.

    Characters that cannot be printed are given by their number, and long texts in parts, as Excel asks.

    Raises
    ------
    DataError
        If a text has the character 0, which no cell can hold.

    Examples
    --------
    >>> print(in_spreadsheet('a "b" c'), in_spreadsheet("two\\nlines"), in_spreadsheet(True), in_spreadsheet(2.5))
    "a ""b"" c" "two"&UNICHAR(10)&"lines" TRUE 2.5
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return repr(min(max(value + 0.0, -_LARGEST), _LARGEST)).removesuffix(".0").upper()
    text = str(value)
    if isinstance(value, int):
        return text
    if "\0" in text:
        raise DataError(f"{shown(text)} has the character 0, which no cell of a spreadsheet can hold; rename it")
    parts = []
    for part in _CONTROL.split(text):
        if _CONTROL.fullmatch(part):
            parts.append(f"UNICHAR({ord(part)})")
        else:
            pieces = (part[i : i + _IN_A_CELL] for i in range(0, len(part), _IN_A_CELL))
            parts += ['"' + piece.replace('"', '""') + '"' for piece in pieces]
    return "&".join(parts) or '""'


def identifiers(names: Sequence[str], columns: Collection[int], reserved: Collection[str]) -> dict[int, str]:
    """Return a variable for each of some columns: its name as far as variables may have it, or its number.

    Examples
    --------
    >>> identifiers(["Petal length (cm)", "for", "日本", "petal-length (CM)"], [0, 1, 2, 3], {"for"})
    {0: 'petal_length_cm', 1: 'for_1', 2: 'x2', 3: 'petal_length_cm_3'}
    """
    found: dict[int, str] = {}
    taken = set(reserved)
    for j in sorted(columns):
        slug = re.sub(r"[^0-9a-z]+", "_", names[j].lower()).strip("_")[:_LONGEST].strip("_")
        variable = slug if slug and not slug[0].isdigit() else f"x{j}"
        while variable in taken:
            variable = f"{variable}_{j}"
        taken.add(variable)
        found[j] = variable
    return found
