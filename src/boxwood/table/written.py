"""Values as people write them: numbers, truths and dates, as SQL reads and Python knows them."""

from __future__ import annotations

import re
from typing import NamedTuple

from boxwood._dates import Dates, pattern_of
from boxwood._texts import TRUTHS
from boxwood.table.sql import sql_text

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
        cases = (f"WHEN {sql_text(word)} THEN {int(value)}e0" for word, value in truths.items())
        return f"CASE {normal(text)} {' '.join(cases)} END"


def date_in(text: str, dates: Dates) -> str:
    """Return SQL for the date in a text, in UTC if dates have a zone; NULL if there is none."""
    text = bare(text)
    plain = f"TRY_CAST({text} AS {'TIMESTAMPTZ' if dates.zone else 'TIMESTAMP'})"
    plain = f"timezone('UTC', {plain})" if dates.zone else plain
    months = text
    for quarter in "1234" if "%q" in dates.form else "":  # DuckDB has no form of quarters
        months = f"replace({months}, 'Q{quarter}', 'q{3 * int(quarter) - 2:02}')"
    form = dates.form.replace("Q%q", "q%m")
    read = f"try_strptime({months}, {sql_text(form)})" if dates.form else plain
    pattern = pattern_of(dates.form).replace("[0-9]{4}", _YEAR)
    return f"CASE WHEN regexp_full_match({text}, {sql_text(pattern)}) THEN {read} END"


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
    group, number = "," if decimal == "." else ".", pattern_of_number(decimal, signs=signs)
    digits = f"regexp_replace(replace({normal(text)}, '(', '-'), '[a-z]{{2,}}|[^-+0-9e{decimal}]', '', 'g')"
    pointed = f"replace({text}, '{decimal}', '.')"
    plain = f"CASE WHEN NOT contains({text}, '{group}') THEN {plain_number(pointed)} END"
    return (
        f"coalesce({plain}, CASE WHEN regexp_full_match({normal(text)}, {sql_text(number)}) "
        f"THEN TRY_CAST(replace({digits}, '{decimal}', '.') AS DOUBLE) END)"
    )


def pattern_of_number(decimal: str, *, signs: bool = True) -> str:
    """Return the pattern of the numbers that `number_in` reads, once `normal`; DuckDB and JavaScript read it alike."""
    groups = "|".join(map(groups_of_three, (f"[{',' if decimal == '.' else '.'}]", " ", "'")))
    unsigned = rf"([0-9]+|{groups})([{decimal}][0-9]*)?(e[-+]?[0-9]+)?"
    if not signs:
        return rf"[-+]?{unsigned}"
    codes = "|".join(CURRENCIES)
    before, behind = rf"( ?(\p{{Sc}}|{codes}) ?)?", rf"( ?([\p{{Sc}}%]|{codes}))?"
    return rf"[-+]?{before}[-+]?{unsigned}{behind}|\({before}{unsigned}{behind}\)"


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


# ------------------------------------------------------------------------------------------------- what is recognised
_SIGN = "[$€£¥]"


def is_plain(text: str) -> bool:
    """Return whether a text is a number, a date or a truth."""
    text = text.strip()
    return len(text) <= 40 and (text.lower() in PLAIN_WORDS or PLAIN.fullmatch(text) is not None)


def without_unit(text: str) -> str:
    """Return a text without signs before a number, such as < and ±, and without a unit behind it."""
    return BESIDE.sub("", text.strip())


def is_to_people(text: str) -> bool:
    """Return whether a text is a number to people: with a currency or a unit, thousands, or a minus behind it."""
    return _NUMBER.fullmatch(text) is not None


_NUMBER = re.compile(
    rf"[<>]?\s*\(?[-+\u2212]?\s*(?:{_SIGN}|[A-Z]{{3}}\s)?\s*(?:\d{{1,3}}(?:[.,'\u2019\s]\d{{3}})+|\d+)(?:[.,]\d+)?"
    rf"(?:\s*(?:%|{_SIGN})|\s(?![aApP][mM]\b)[^\W\d_]{{1,5}})?\)?-?"
)
PLAIN_WORDS = {"inf", "infinity", "-inf", "-infinity", *TRUTHS}
PLAIN = re.compile(
    rf"[-+(\u2212]?\s*(?:[A-Z]{{3}}|{_SIGN})?\s*[-+]?\.?[0-9][0-9\s.,:/'\u2019-]*(?:[eE][-+]?[0-9]+)?(?:T[0-9:.,]+)?"
    rf"\s*(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}}|[AaPp]\.?[Mm]\.?)?\s*(?:[A-Z]{{3}}|{_SIGN}|%)?\s*\)?"
)
BESIDE = re.compile(r"^[<>=\u2264\u2265~\u2248\u00b1]+|(?<=[0-9])\s*[^\W\d_]{1,3}$")
