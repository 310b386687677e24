"""How engines differ in what the rules need of SQL: quotes, types, NaN, and what counts as the same text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial

from boxwood._imports import require
from boxwood._validation import refuse_unknown, shown
from boxwood.errors import DataError
from boxwood.table.sql import as_double, as_name, as_text


@dataclass(frozen=True)
class Dialect:
    """The SQL of one engine, as far as rules need it.

    Parameters
    ----------
    quoted_name, quoted_text : functions from a text to SQL
        How a name and a text are written.
    double, text : str
        Types of 64-bit floats, and of texts of any length.
    finite : function from a float to SQL
        How a finite double is written, so that the engine reads the same double.
    infinity : str, default=None
        How infinity is written, with `{}` for its sign. None says that no column can hold it.
    may_hold_nan : bool, default=True
        Whether columns may hold NaN, which many engines sort above all numbers. If so, conditions without an upper end
        refuse it by its text, as not every engine has `isnan`.
    trusts_statistics : bool, default=False
        Whether the engine takes results of comparisons and of `isnan` from statistics of Parquet files, in which NaN
        does not count. If so, all conditions refuse NaN by its text.
    may_hold_text : bool, default=False
        Whether columns of numbers may hold them as text. If so, all are cast.
    compared : pair of str, default=("{}", "{}")
        What makes two texts compare by all their characters: around a column's text, and around a literal. Some engines
        compare without case, or without spaces at the end, by default.
    casts_booleans : bool, default=True
        Whether booleans can be cast to numbers. If not, they are compared by their texts.
    tells_case : bool, default=False
        Whether names in quotes that differ in case alone are different columns.
    dates, moments : pairs of str
        What makes dates comparable: around a column, and around a moment in UTC. The first ones are for columns without
        a time zone, the second ones for those with one; an engine that has none must hold the latter in UTC.
    """

    quoted_name: Callable[[str], str] = as_name
    quoted_text: Callable[[str], str] = as_text
    double: str = "DOUBLE"
    text: str = "VARCHAR"
    finite: Callable[[float], str] = as_double
    infinity: str | None = "CAST('{}Infinity' AS DOUBLE)"
    may_hold_nan: bool = True
    trusts_statistics: bool = False
    may_hold_text: bool = False
    compared: tuple[str, str] = ("{}", "{}")
    casts_booleans: bool = True
    tells_case: bool = False
    dates: tuple[str, str] = ("{}", "{}")
    moments: tuple[str, str] = ("TIMESTAMP '{}'", "TIMESTAMPTZ '{}+00'")

    def name(self, name: str) -> str:
        """Return a name of a column or a table."""
        return self.quoted_name(_without_null(name))

    def literal(self, text: str) -> str:
        """Return a text."""
        return self.quoted_text(_without_null(text))

    def number(self, number: float) -> str:
        """Return a double with all its digits."""
        if math.isinf(number):
            assert self.infinity is not None  # ends of intervals are made finite before
            return self.infinity.format("-" if number < 0 else "")
        return self.finite(number)

    def as_compared(self, expression: str) -> str:
        """Return the text of a column, ready for a comparison with `compared_literal`."""
        return self.compared[0].format(f"CAST({expression} AS {self.text})")

    def compared_literal(self, text: str) -> str:
        """Return a text, ready for a comparison."""
        return self.compared[1].format(self.literal(text))


def _without_null(text: str) -> str:
    if "\0" in text:
        raise DataError(f"{shown(text)} has the character 0, which SQL cannot hold; rename it")
    return text


def _duckdb() -> Dialect:
    return Dialect(trusts_statistics=True)


def _sqlite() -> Dialect:
    # its `.import` of CSV makes all columns text, and it compares text and numbers as two texts; NaN is NULL there
    # dates are texts there, with T or a blank, with or without a zone: it brings them into one form, in UTC; it rounds
    # to milliseconds, and has no date of what is rounded to the year 10000
    return Dialect(
        finite=_in_sqlite,
        infinity="{}9e999",
        may_hold_nan=False,
        may_hold_text=True,
        dates=(
            "CASE WHEN {0} NOT GLOB '*:*[-+Zz]*' THEN strftime('%Y-%m-%d %H:%M:%f', substr({0}, 1, 23)) END",
            "strftime('%Y-%m-%d %H:%M:%f', replace({}, '.999999', '.999'))",
        ),
        moments=("'{}'",) * 2,
    )


def _in_sqlite(number: float) -> str:
    """Return a finite double as SQL that every version of SQLite reads exactly: a decimal, or a quotient.

    SQLite rounds more than once on the way from a decimal to a double, each version in its own way. A whole number
    below 2**53 is read exactly, and so it stays times or over powers of two.
    """
    if _is_plain(number):
        return as_double(number)
    numerator, denominator = number.as_integer_ratio()
    zeros = (numerator & -numerator).bit_length() - 1  # at its end, in binary
    power = zeros - denominator.bit_length() + 1
    steps = [62] * (abs(power) // 62) + [abs(power) % 62]  # a whole number of SQLite has 64 bits
    scale = "".join(f" {'*' if power > 0 else '/'} {1 << step}" for step in steps if step)
    return f"CAST({numerator >> zeros} AS REAL){scale}"


def _is_plain(number: float) -> bool:
    """Return whether the shortest decimal of a double is read exactly even with an error of a fiftieth of its last bit.

    That is more than twenty roundings to 64 bits can add up to. Of 15 digits, and down to 10**-22, a single rounding to
    53 bits is right, too.
    """
    written = Decimal(repr(number))
    _, digits, exponent = written.as_tuple()
    assert isinstance(exponent, int)  # it is finite
    off = abs(Fraction(written) - Fraction(number)) / Fraction(math.ulp(math.nextafter(number, 0.0)))
    return len(digits) <= 15 and -22 <= exponent <= 0 and off < Fraction(48, 100)


def _postgres() -> Dialect:
    double = "DOUBLE PRECISION"
    infinity = f"CAST('{{}}Infinity' AS {double})"
    return Dialect(double=double, infinity=infinity, casts_booleans=False, tells_case=True)


def _quoting(dialect: str) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """Return how sqlglot writes a name and a text."""
    exp = require("sqlglot.expressions", "sql", f"SQL for {dialect}")

    def name(text: str) -> str:
        return str(exp.to_identifier(text, quoted=True).sql(dialect))

    def literal(text: str) -> str:
        return str(exp.Literal.string(text).sql(dialect))

    return name, literal


def _type(dialect: str, name: str) -> str:
    exp = require("sqlglot.expressions", "sql", f"SQL for {dialect}")
    text: str = exp.DataType.build(name).sql(dialect)
    return text


def _mysql() -> Dialect:
    # its collations compare without case and without spaces at the end, but bytes compare by all; no NaN, no infinity
    name, literal = _quoting("mysql")
    return Dialect(
        quoted_name=name,
        quoted_text=literal,
        double=_type("mysql", "double"),
        text="CHAR",
        infinity=None,
        may_hold_nan=False,
        compared=("CAST(CONVERT({} USING utf8mb4) AS BINARY)", "CAST(CONVERT({} USING utf8mb4) AS BINARY)"),
        moments=("TIMESTAMP '{}'",) * 2,
    )


def _tsql() -> Dialect:
    name, literal = _quoting("tsql")
    return Dialect(
        quoted_name=name,
        quoted_text=lambda text: f"N{literal(text)}",  # without N it is text of one code page
        double=_type("tsql", "double"),
        text="NVARCHAR(MAX)",
        infinity=None,
        may_hold_nan=False,
        compared=("CAST({} AS VARBINARY(MAX))", "CAST({} AS VARBINARY(MAX))"),
        moments=("CAST('{}' AS DATETIME2)", "CAST('{}+00:00' AS DATETIMEOFFSET)"),
    )


def _of_warehouse(dialect: str, *, casts_booleans: bool) -> Dialect:
    double = _type(dialect, "double")
    name, literal = _quoting(dialect)
    return Dialect(
        quoted_name=name,
        quoted_text=literal,
        double=double,
        text=_type(dialect, "text"),
        infinity=f"CAST('{{}}Infinity' AS {double})",
        casts_booleans=casts_booleans,
        tells_case=dialect == "snowflake",
        dates=("CAST({} AS DATETIME)", "{}") if dialect == "bigquery" else ("{}", "{}"),
        moments=_MOMENTS[dialect],
    )


_MOMENTS = {
    "bigquery": ("DATETIME '{}'", "TIMESTAMP '{}+00'"),
    "snowflake": ("'{}'::TIMESTAMP_NTZ", "'{} +00:00'::TIMESTAMP_TZ"),
    "spark": ("TIMESTAMP '{}'", "TIMESTAMP '{}+00:00'"),
}


def _spark() -> Dialect:
    plain = _of_warehouse("spark", casts_booleans=True)
    # it puts the value of a setting for ${name}, in texts, too, before it reads the SQL; names cannot be written apart
    return replace(plain, quoted_text=lambda text: plain.quoted_text(text).replace("${", "$\\{"))


DIALECTS: dict[str, Callable[[], Dialect]] = {
    "duckdb": _duckdb,
    "sqlite": _sqlite,
    "postgres": _postgres,
    "mysql": _mysql,
    "tsql": _tsql,
    "bigquery": partial(_of_warehouse, "bigquery", casts_booleans=False),
    "snowflake": partial(_of_warehouse, "snowflake", casts_booleans=False),
    "spark": _spark,
}
"""Dialects by their name in sqlglot. The first three need no extra; the others take quotes and types from sqlglot."""


def dialect_of(name: str) -> Dialect:
    """Return a dialect.

    Raises
    ------
    ImportError
        If it needs sqlglot, which is missing.
    ValueError
        If there is no such dialect.
    """
    refuse_unknown("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]()
