"""Names, texts, numbers and paths in SQL; numbers and truths as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from boxwood._dates import Dates, pattern_of
from boxwood.axes.categories import TRUTHS

_WHOLE = 1 << 24  # float32 has all whole numbers up to here, so that a comparison in float32 is exact, too

ONE_FILE = "hive_partitioning=false"
"""Option of every reader of DuckDB: a folder named `year=2024` is a folder, not a column of the file in it."""


def as_name(name: str) -> str:
    """Return a name as an identifier of SQL.

    Examples
    --------
    >>> print(as_name('the "net" height'), as_text("it's"), as_pattern("a*.csv"))
    "the ""net"" height" 'it''s' 'a[*].csv'
    """
    return '"' + name.replace('"', '""') + '"'


def as_text(text: str) -> str:
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
    return as_text("".join(f"[{c}]" if c in "*?[" else c for c in path))


MANY = 100
"""Columns of one query: to plan it takes DuckDB the square of their number, above all to look for equal expressions."""

MARKS = ("", "na", "n/a", "#n/a", "nan", "null")
"""Texts that programs write for a missing value, in small letters."""

BLANKS = ("-", "--", "\u2013", "\u2014", ".", "?", "n.a.", "k.a.", "missing", "none", "unknown")
"""Texts that people write where they have no number; among words, each of them is a word."""

CURRENCIES = (
    *("aud", "brl", "cad", "chf", "cny", "czk", "dkk", "eur", "gbp", "hkd", "huf", "ils", "inr", "jpy", "krw"),
    *("mxn", "nok", "nzd", "pln", "ron", "sek", "sgd", "try", "usd", "zar"),
    *("kr", "zł", "kč", "ft", "lei"),
)
"""Codes of currencies, and words for them, which stand for their signs."""


class Style(NamedTuple):
    """How the values of a column of text are written.

    Parameters
    ----------
    decimal : {".", ","}
        What stands before the decimals of its numbers.
    words : tuple of two str, or None
        Its words for true and false, if it holds these.
    example : str
        One of its values.
    dates : Dates, or None
        How its dates are written, if it holds these.
    are_truths : bool
        Whether any word for true or false is read, beside others that are none.
    """

    decimal: str = "."
    words: tuple[str, str] | None = None
    example: str = ""
    dates: Dates | None = None
    are_truths: bool = False

    def number(self, text: str) -> str:
        """Return SQL for the number in a text: 1 for true, 0 for false, days for dates; NULL if there is none."""
        if self.dates is not None:
            moments = dict.fromkeys((date_in(text, self.dates), date_in(text, self.dates._replace(form=""))))
            return days(f"coalesce({', '.join(moments)})", "TIMESTAMP")
        if self.words is None and not self.are_truths:
            return number_in(text, self.decimal)
        truths = TRUTHS if self.words is None else dict(zip(self.words, (True, False), strict=True))
        cases = (f"WHEN {as_text(word)} THEN {int(value)}e0" for word, value in truths.items())
        return f"CASE {normal(text)} {' '.join(cases)} END"


def date_in(text: str, dates: Dates) -> str:
    """Return SQL for the date in a text, in UTC if dates have a zone; NULL if there is none."""
    text = bare(text)
    plain = f"TRY_CAST({text} AS {'TIMESTAMPTZ' if dates.zone else 'TIMESTAMP'})"
    plain = f"timezone('UTC', {plain})" if dates.zone else plain
    read = f"try_strptime({text}, {as_text(dates.form)})" if dates.form else plain
    pattern = pattern_of(dates.form).replace("[0-9]{4}", _YEAR)
    return f"CASE WHEN regexp_full_match({text}, {as_text(pattern)}) THEN {read} END"


_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"  # of four digits, and not 0, which DuckDB has


def bare(text: str) -> str:
    """Return SQL for a text without white space around it."""
    return f"trim({text}, ' \t\n\r\f\v\u00a0')"


def days(date: str, type: str) -> str:
    """Return SQL for a date of a type of DuckDB as days since the beginning of 1970."""
    if type == "TIMESTAMPTZ_NS":  # of which DuckDB has no epoch
        date = f"CAST({date} AS TIMESTAMP WITH TIME ZONE)"
    if type == "TIMESTAMP_NS":
        date = f"make_timestamp(CAST(floor(epoch_ns({date}) / 1000) AS BIGINT))"
    return f"(CAST(epoch_us({date}) AS DOUBLE) / 86400000000e0)"


def number_in(text: str, decimal: str, *, signs: bool = True) -> str:
    """Return SQL for the number in a text; NULL if there is none, as in 1,2,3.

    Of point and comma, the one that does not stand before the decimals parts groups of three digits, as spaces and
    apostrophes may. With `signs`, a currency's sign or code before or behind the number, or % behind it, is passed
    over, and brackets around a number say that it is below zero.
    """
    group = "," if decimal == "." else "."
    groups = "|".join(map(groups_of_three, (f"[{group}]", " ", "'")))
    unsigned = rf"([0-9]+|{groups})([{decimal}][0-9]*)?(e[-+]?[0-9]+)?"
    number = rf"[-+]?{unsigned}"
    if signs:
        codes = "|".join(CURRENCIES)
        before, behind = rf"( ?(\p{{Sc}}|{codes}) ?)?", rf"( ?([\p{{Sc}}%]|{codes}))?"
        number = rf"[-+]?{before}{number}{behind}|\({before}{unsigned}{behind}\)"
    digits = f"regexp_replace(replace({normal(text)}, '(', '-'), '[a-z]{{2,}}|[^-+0-9e{decimal}]', '', 'g')"
    pointed = f"replace({text}, '{decimal}', '.')"
    plain = f"CASE WHEN NOT contains({text}, '{group}') THEN {plain_number(pointed)} END"
    return (
        f"coalesce({plain}, CASE WHEN regexp_full_match({normal(text)}, {as_text(number)}) "
        f"THEN TRY_CAST(replace({digits}, '{decimal}', '.') AS DOUBLE) END)"
    )


def groups_of_three(sign: str) -> str:
    """Return the pattern of digits in groups of three, which a sign parts."""
    return f"[1-9][0-9]{{0,2}}({sign}[0-9]{{3}})+"


def plain_number(text: str) -> str:
    """Return SQL for a text as a double; NULL if it is none, or has an underscore, which DuckDB would pass over."""
    return f"CASE WHEN NOT contains({text}, '_') THEN TRY_CAST({text} AS DOUBLE) END"


def normal(text: str) -> str:
    """Return SQL for a text in lower case with plain spaces, a plain minus and plain apostrophes."""
    return f"lower(trim(translate({text}, '\u2212\u00a0\u202f\u2009\u2019', '-   ''')))"


def signs_in(text: str) -> str:
    """Return SQL for the signs and codes of currencies, and of percent, in the text of a number, in small letters."""
    return rf"regexp_replace(lower({text}), '[0-9.,]e[-+0-9]|[^\p{{Sc}}%a-z]', '', 'g')"
