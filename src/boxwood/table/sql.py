"""Names, texts, numbers, types and paths in SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

_WHOLE = 1 << 24  # float32 has all whole numbers up to here, so that a comparison in float32 is exact, too

ONE_FILE = "hive_partitioning=false"
"""Option of every reader of DuckDB: a folder named `year=2024` is a folder, not a column of the file in it."""


def as_name(name: str) -> str:
    """Return a name as an identifier of SQL.

    Examples
    --------
    >>> print(as_name('the "net" height'), sql_text("it's"), as_pattern("a*.csv"))
    "the ""net"" height" 'it''s' 'a[*].csv'
    """
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def as_double(number: float) -> str:
    """Return a number as a literal double of SQL, with all its digits.

    Examples
    --------
    >>> as_double(27000.0), as_double(-0.1), as_double(5e-324)
    ('27000e0', '-0.1e0', '5e-324')
    """
    if math.isinf(number):
        return f"CAST('{'-' if number < 0 else ''}Infinity' AS DOUBLE)"
    text = repr(number)  # without an exponent, an engine would take it for a decimal number of few digits
    return text if "e" in text else f"{text.removesuffix('.0')}e0"


def as_number(number: float, double: Callable[[float], str] = as_double) -> str:
    """Return a number as a literal that is compared with doubles and floats as a double, in the fewest characters.

    IN: double: how the engine has doubles, where they are no short whole numbers.

    Examples
    --------
    >>> as_number(27000.0), as_number(-0.0), as_number(0.1), as_number(2.0**60)
    ('27000', '0', '0.1e0', '1.152921504606847e+18')
    """
    return str(int(number)) if abs(number) <= _WHOLE and number == int(number) else double(number)


def type_of(declared: str) -> str:
    """Return what a type of SQL, or of a frame, holds; an empty text if that is none of these.

    Examples
    --------
    >>> [type_of(name) for name in ("bigint", "NUMERIC(10, 2)", "Float64", "FLOAT8", "character varying(9)", "POINT")]
    ['INTEGER', 'DECIMAL', 'DOUBLE', 'DOUBLE', 'TEXT', '']
    """
    name = declared.strip().lower()
    return next((kind for kind, pattern in _TYPES.items() if re.match(pattern, name)), "")


_TYPES = {
    "INTEGER": r"(unsigned )?u?(tiny|small|medium|big|huge)? ?int(eger)?\d*\b|(big|small)?serial\b|(byte|short|long)$",
    "DECIMAL": r"(big)?(decimal|numeric|number)|(small)?money$|dec\b",
    "DOUBLE": r"double|float(8|64)$",
    "REAL": r"real$|float",
    "BOOLEAN": r"bool|bit$",
    "DATE": r"date(32\[day\])?$",
    "TEXT": r"(long|medium|tiny)?text|n?(var)?char|(large_)?string|str$|categorical$|enum$|clob",
}

TYPES = tuple(_TYPES)
"""What `type_of` returns: among the names of types in SQL, one for each kind that rules have to tell apart."""


def as_pattern(path: str) -> str:
    """Return a path as a literal that DuckDB reads as this one file, even if it contains `*`, `?` or `[`."""
    return sql_text("".join(f"[{c}]" if c in "*?[" else c for c in path))


MANY = 100
"""Columns of one query: to plan it takes DuckDB the square of their number, above all to look for equal expressions."""
