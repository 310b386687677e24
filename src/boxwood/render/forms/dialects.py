"""How engines differ in what the rules need of SQL: quotes, types, NaN, and what counts as the same text."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial

from boxwood._imports import require
from boxwood._validation import refuse_unknown, show_value
from boxwood.errors import DataError
from boxwood.render.forms.days import (
    BIGQUERY,
    CLICKHOUSE,
    MYSQL,
    ORACLE,
    POSTGRES,
    SNOWFLAKE,
    SPARK,
    SQLITE,
    TRINO,
    TSQL,
    Calendar,
)
from boxwood.table.sql import as_double, as_name, as_number, sql_text


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
    nan : pair of str, default=None
        The tests that a value is NaN, and that it is none, around the column's name. None says that no column can hold
        it.
    nan_types : collection of str
        Types of columns that may hold NaN; an empty text stands for a type that is unknown.
    nan_is_large : bool, default=True
        Whether NaN is above all numbers. If so, conditions without an upper end refuse it. In BigQuery no comparison
        with NaN holds.
    trusts_statistics : bool, default=False
        Whether the engine takes results of comparisons from statistics of Parquet files, in which NaN does not count.
        If so, all conditions refuse NaN.
    may_hold_text : bool, default=False
        Whether columns of numbers may hold them as text. If so, all are cast, but those whose type the caller states.
    exact : collection of str, default=None
        Types of columns that are compared with a decimal such as 2.13 exactly as with the double that is written so;
        None is all. Others need an exponent, as in 2.13e0, that makes a double of the number.
    compared : pair of str, default=("{}", "{}")
        What makes two texts compare by all their characters: around a column's text, and around a literal. Some engines
        compare without case, or without spaces at the end, by default.
    texts_differ : bool, default=False
        Whether types of text differ in what `compared` makes of them, so that all are cast to `text` first.
    casts_booleans : bool, default=True
        Whether booleans can be cast to numbers. If not, they are compared by their texts where their type is unknown.
    truths : pair of str, default=("{}", "NOT {}")
        The tests that a boolean is true, and that it is false.
    tells_case : bool, default=False
        Whether names in quotes that differ in case alone are different columns.
    dates, moments : pairs of str
        What makes dates comparable: around a column, and around a moment in UTC. The first ones are for columns without
        a time zone, the second ones for those with one; an engine that has none must hold the latter in UTC.
    texts : str, default=None
        What makes a date of a text of ISO 8601, with `{}` for the column and the type. None says that such texts are
        converted first.
    day : str, default="DATE '{}'"
        How a day is written.
    days_for_moments : bool, default=True
        Whether a moment without a zone can be compared with a day, which stands for its beginning.
    most_nested : int, default=100
        Most levels of CASE within CASE.
    calendar : Calendar
        How days are said that are some time before or after another one.
    all_columns : pair of str, default=("*", "")
        All columns of a table beside others, and what then follows the table's name.
    """

    quoted_name: Callable[[str], str] = as_name
    quoted_text: Callable[[str], str] = sql_text
    double: str = "DOUBLE"
    text: str = "VARCHAR"
    finite: Callable[[float], str] = as_double
    infinity: str | None = "CAST('{}Infinity' AS DOUBLE)"
    nan: tuple[str, str] | None = None
    nan_types: Collection[str] = ("", "DOUBLE", "REAL")
    nan_is_large: bool = True
    trusts_statistics: bool = False
    may_hold_text: bool = False
    exact: Collection[str] | None = None
    compared: tuple[str, str] = ("{}", "{}")
    texts_differ: bool = False
    casts_booleans: bool = True
    truths: tuple[str, str] = ("{}", "NOT {}")
    tells_case: bool = False
    dates: tuple[str, str] = ("{}", "{}")
    moments: tuple[str, str] = ("TIMESTAMP '{}'", "TIMESTAMPTZ '{}+00'")
    texts: str | None = None
    day: str = "DATE '{}'"
    days_for_moments: bool = True
    most_nested: int = 100
    calendar: Calendar = POSTGRES
    all_columns: tuple[str, str] = ("*", "")

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

    def end(self, number: float, type: str) -> str:
        """Return a number that columns of a type are compared with, as doubles are, in the fewest characters."""
        if (self.exact is None or type in self.exact) and math.isfinite(number) and _is_decimal(number):
            return repr(number + 0.0).removesuffix(".0")
        return as_number(number, self.number)

    def is_nan(self, name: str, type: str) -> str:
        """Return the test that a value of a column is NaN; an empty text if its type has none."""
        return self.nan[0].format(name) if self.nan and type in self.nan_types else ""

    def is_no_nan(self, name: str, type: str) -> str:
        """Return the test that a value of a column is no NaN; an empty text if its type has none."""
        return self.nan[1].format(name) if self.nan and type in self.nan_types else ""

    def as_compared(self, expression: str, *, is_text: bool) -> str:
        """Return the text of a column, ready for a comparison with `compared_literal`."""
        as_it_is = is_text and not self.texts_differ
        return self.compared[0].format(expression if as_it_is else f"CAST({expression} AS {self.text})")

    def compared_literal(self, text: str) -> str:
        """Return a text, ready for a comparison."""
        return self.compared[1].format(self.literal(text))


def _without_null(text: str) -> str:
    if "\0" in text:
        raise DataError(f"{show_value(text)} has the character 0, which SQL cannot hold; rename it")
    return text


def _is_decimal(number: float) -> bool:
    """Return whether the shortest decimal of a double is read as a decimal, and rounded once on the way to a double."""
    digits = repr(number)
    return "e" not in digits and len(digits.lstrip("-0.").replace(".", "")) <= _SURE


_SURE = 15  # digits of a decimal that every double holds


def _duckdb() -> Dialect:
    # isnan alone is answered by statistics of a file; of a CASE there are none
    is_nan = "isnan(CASE WHEN {0} IS NOT NULL THEN {0} END)"
    texts = "TRY_CAST(trim(CAST({} AS VARCHAR)) AS {})"
    return Dialect(nan=(is_nan, f"NOT {is_nan}"), trusts_statistics=True, exact=("DOUBLE",), texts=texts)


def _sqlite() -> Dialect:
    # its `.import` of CSV makes all columns text, and it compares text and numbers as two texts; NaN is NULL there
    # dates are texts there, with T or a blank, with or without a zone: it brings them into one form, in UTC; it rounds
    # to milliseconds, and has no date of what is rounded to the year 10000, nor of a text with a blank before it
    date = "trim({0}, char(9, 32, 160))"  # tab, space, no-break space
    return Dialect(
        finite=_in_sqlite,
        infinity="{}9e999",
        exact=(),
        may_hold_text=True,
        dates=(
            f"CASE WHEN {{0}} NOT GLOB '*:*[-+Zz]*' THEN strftime('%Y-%m-%d %H:%M:%f', substr({date}, 1, 23)) END",
            f"strftime('%Y-%m-%d %H:%M:%f', replace({date}, '.999999', '.999'))",
        ),
        moments=("'{}'",) * 2,
        texts="{}",
        calendar=SQLITE,
        day="'{}'",
        days_for_moments=False,
    )


def _in_sqlite(number: float) -> str:
    """Return a finite double as SQL that every version of SQLite reads exactly: a decimal, or a quotient.

    SQLite rounds more than once on the way from a decimal to a double, each version in its own way. A whole number
    below 2**53 is read exactly, and so it stays times or over powers of two.
    """
    if _is_plain(number):
        return repr(number + 0.0).removesuffix(".0")
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
    return Dialect(
        double=double,
        infinity=infinity,
        nan=_by_comparison(double),
        nan_types=("", "DOUBLE", "REAL", "DECIMAL"),
        casts_booleans=False,
        tells_case=True,
        texts="CAST(nullif(trim(CAST({} AS TEXT)), '') AS {})",
    )


def _redshift() -> Dialect:
    name, literal = _quoting("redshift")  # a backslash in a text is two there
    return replace(_postgres(), quoted_name=name, quoted_text=literal, tells_case=False)


def _trino() -> Dialect:
    name, literal = _quoting("trino")
    return Dialect(
        quoted_name=name,
        quoted_text=literal,
        nan=("is_nan({})", "NOT is_nan({})"),
        nan_is_large=False,
        exact=("DOUBLE",),
        moments=("TIMESTAMP '{}'", "TIMESTAMP '{} UTC'"),
        calendar=TRINO,
    )


def _clickhouse() -> Dialect:
    # a cast of NULL needs a type that has NULL; DATE holds no day before 1970
    name, literal = _quoting("clickhouse")
    return Dialect(
        quoted_name=name,
        quoted_text=literal,
        double="Nullable(Float64)",
        text="Nullable(String)",
        infinity="CAST('{}inf' AS Nullable(Float64))",
        nan=("isNaN({})", "NOT isNaN({})"),
        nan_is_large=False,
        tells_case=True,
        day="toDate32('{}')",
        calendar=CLICKHOUSE,
        moments=("toDateTime64('{}', 6)", "toDateTime64('{}', 6, 'UTC')"),
    )


def _oracle() -> Dialect:
    # most numbers are decimals, which have no infinity; what is compared with doubles becomes a double
    name, literal = _quoting("oracle")
    return Dialect(
        quoted_name=name,
        quoted_text=literal,
        double="BINARY_DOUBLE",
        text="VARCHAR2(4000)",
        finite=_in_oracle,
        infinity=None,
        nan=("{} IS NAN", "{} IS NOT NAN"),
        nan_types=("DOUBLE", "REAL"),
        truths=("{} = 1", "{} = 0"),
        tells_case=True,
        moments=("TIMESTAMP '{}'", "TIMESTAMP '{} +00:00'"),
        calendar=ORACLE,
        all_columns=("t.*", " t"),
    )


def _in_oracle(number: float) -> str:
    """Return a finite double, as a decimal where Oracle has one so small or so large."""
    is_decimal = not number or 1e-100 < abs(number) < 1e100
    return repr(number) if is_decimal else f"CAST('{number!r}' AS BINARY_DOUBLE)"


def _by_comparison(double: str) -> tuple[str, str]:
    """Return the tests of NaN where it equals itself; the cast suits columns of all types of numbers."""
    return f"{{}} = CAST('NaN' AS {double})", f"{{}} <> CAST('NaN' AS {double})"


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
        compared=("CAST(CONVERT({} USING utf8mb4) AS BINARY)", "CAST(CONVERT({} USING utf8mb4) AS BINARY)"),
        moments=("TIMESTAMP '{}'",) * 2,
        calendar=MYSQL,
    )


def _tsql() -> Dialect:
    name, literal = _quoting("tsql")
    return Dialect(
        quoted_name=name,
        quoted_text=lambda text: f"N{literal(text)}",  # without N it is text of one code page
        double=_type("tsql", "double"),
        text="NVARCHAR(MAX)",
        infinity=None,
        exact=(),
        truths=("{} = 1", "{} = 0"),
        most_nested=10,
        day="CAST('{}' AS DATE)",
        calendar=TSQL,
        compared=("CAST({} AS VARBINARY(MAX))", "CAST({} AS VARBINARY(MAX))"),
        texts_differ=True,  # bytes of VARCHAR are not those of NVARCHAR, and TEXT has none
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
        nan=("IS_NAN({})", "NOT IS_NAN({})") if dialect == "bigquery" else _by_comparison(double),
        nan_is_large=dialect != "bigquery",
        exact={"snowflake": (), "spark": ("DOUBLE",)}.get(dialect),
        casts_booleans=casts_booleans,
        days_for_moments=dialect != "bigquery",
        tells_case=dialect == "snowflake",
        dates=("CAST({} AS DATETIME)", "{}") if dialect == "bigquery" else ("{}", "{}"),
        moments=_MOMENTS[dialect],
        calendar={"bigquery": BIGQUERY, "snowflake": SNOWFLAKE, "spark": SPARK}[dialect],
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
    "redshift": _redshift,
    "trino": _trino,
    "clickhouse": _clickhouse,
    "oracle": _oracle,
}
"""Dialects by their name in sqlglot. The first three need no extra; the others take quotes and types from sqlglot."""

OTHER_NAMES = {
    "postgresql": "postgres",
    "mariadb": "mysql",
    "sqlserver": "tsql",
    "mssql": "tsql",
    "databricks": "spark",
    "athena": "trino",
    "presto": "trino",
}
"""Names of engines that speak one of the dialects."""

NAMES = (*DIALECTS, *OTHER_NAMES)
"""All names that a dialect may be asked for by."""


LAYOUTS = ("flat", "nested")
"""Of SQL: a condition for each leaf, or one for each side of a cut."""


def dialect_of(name: str) -> Dialect:
    """Return a dialect by its name or another one, in small letters or capitals.

    Raises
    ------
    ImportError
        If it needs sqlglot, which is missing.
    ValueError
        If there is no such dialect.
    """
    found = name.casefold() if isinstance(name, str) else name
    refuse_unknown("dialect", found, NAMES)
    return DIALECTS[OTHER_NAMES.get(found, found)]()
