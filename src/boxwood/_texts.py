"""Texts that are dates or numbers in one way that leaves no doubt: what all values of a column say together.

A table that has types, such as a frame, a query or a table of Spark, is read by this; files that people write have more
ways of writing numbers, see `table.columns`. Texts of digits alone may be codes, and somebody may have made texts of
numbers to have words: these stay words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import combinations
from typing import Any, NamedTuple

from boxwood._dates import DATE_FORMS, Dates, moment_in
from boxwood._messages import Quoting, cut_off, show_value
from boxwood.errors import DataError

PAIRS = (("yes", "no"), ("ja", "nein"), ("oui", "non"), ("sí", "no"), ("si", "no"))
"""Words for true and false, besides these."""
TRUTHS = {word: word == yes for yes, no in (("true", "false"), *PAIRS) for word in (yes, no)}
"""The truth that each word stands for, in small letters."""

MARKS = ("", "na", "n/a", "#n/a", "nan", "null")
"""Texts that programs write for a missing value, in small letters."""

BLANKS = ("-", "--", "\u2013", "\u2014", ".", "?", "n.a.", "k.a.", "missing", "none", "unknown")
"""Texts that people write where they have no number; among words, each of them is a word."""

_CODES = 20  # so many different numbers may be codes, such as versions
_MARKS = {*MARKS, *BLANKS}
_DIGITS, _PADDED = re.compile(r"\s*\d+\s*"), re.compile(r"\s*0\d+\s*")
_PARTED = re.compile(r"\s*[-+]?[1-9]\d{0,2}(?:\.\d{3})+\s*")  # as 1.234, which is a number of thousands to some


def is_double(text: str) -> bool:
    """Return whether a text is a plain number, as programs write it, and not infinite."""
    try:
        return abs(float(text)) < float("inf") and "_" not in text
    except ValueError:
        return False


def number_in_text(text: Any) -> float | None:
    """Return the number that a text is, 1 or 0 for a word that stands for true or false; None if there is none."""
    if not isinstance(text, str):
        return None
    truth = TRUTHS.get(text.strip().lower())
    return float(text) if is_double(text) else None if truth is None else float(truth)


class TextReading(NamedTuple):
    """How the texts of a column are read.

    Parameters
    ----------
    dates : Dates, or None
        How they are written, if they are dates; None if they are numbers.
    example : str
        One of the texts: the first in the alphabet, of numbers that end with a zero behind the point if there are some.
    """

    dates: Dates | None
    example: str = ""

    def value(self, text: str) -> datetime | float:
        """Return the date or the number in a text.

        Raises
        ------
        DataError
            If there is none, or the date has a zone where the others have none, or the other way round.
        """
        if self.dates is None:
            if (number := number_in_text(text)) is None:
                raise DataError(f"{show_value(text)} is no number, but the rules test the column as numbers")
            return number
        for form in dict.fromkeys((self.dates.form, "")):
            moment = moment_in(text, form)
            if moment is not None and (moment.tzinfo is not None) == bool(self.dates.zone):
                return moment
        self.dates.number(text)
        raise AssertionError("a text that is no date has been refused")

    @property
    def said(self) -> Quoting:
        """How a number is read, in words."""
        quoted = cut_off(repr(self.example), 40)
        return Quoting(f"{quoted} is {float(self.example):.15g}", "'12.50' is 12.5")


def dates_among(readings: Mapping[str, TextReading]) -> dict[str, Dates]:
    """Return the columns of dates among columns of texts."""
    return {name: reading.dates for name, reading in readings.items() if reading.dates is not None}


class TextForms:
    """The ways in which the texts of a column may be read; adds up over parts of a table, in any order.

    Attributes
    ----------
    forms : list of str
        Forms of dates that fit all texts, of those with the same dates the first one is meant.
    are_numbers : bool
        Whether all texts are plain numbers without leading zeros.
    """

    def __init__(self) -> None:
        self.forms, self.are_numbers = ["", *DATE_FORMS], True
        self._has_marks = False  # of missing values, which texts are where nobody says that they are none
        self._differ: set[tuple[str, str]] = set()  # forms that say different dates of some text
        self._zones: set[bool] = set()
        self._numbers: set[str] = set()  # that are more than digits, up to one more than may be codes
        self._points: set[bool] = set()  # whether the points of numbers may part thousands
        self._examples: list[str] = []  # the least text, and the least that ends with a zero behind a point

    @property
    def is_open(self) -> bool:
        """Whether further texts may be dates or numbers, as those before are."""
        return bool(self.forms) or self.are_numbers

    @property
    def are_doubtful(self) -> bool:
        """Whether all texts are dates, but in more than one way, some with a time zone, or beside marks such as NA."""
        return self.are_dates and self.reading is None

    @property
    def are_dates(self) -> bool:
        """Whether all texts but such marks are dates."""
        return bool(self.forms and self._zones)

    @property
    def reading(self) -> TextReading | None:
        """How the texts are read; None if they are words, or in doubt."""
        if self._has_marks:
            return None
        if self.forms and len(self._zones) == 1 and not self._differ & {*combinations(self.forms, 2)}:
            return TextReading(Dates("UTC" if True in self._zones else "", self.forms[0]), self._examples[0])
        if self.are_numbers and len(self._numbers) > _CODES and self._points != {True}:
            return TextReading(None, self._examples[-1])
        return None

    def update(self, texts: Iterable[Any]) -> None:
        """Add different texts, without missing ones."""
        for text in texts:
            if not isinstance(text, str):
                self.forms, self.are_numbers = [], False
            if not self.is_open:
                return
            if text.strip().lower() in _MARKS:
                self._has_marks = True
                continue
            self._add_date(text)
            self._add_number(text)
            self._add_example(text)

    def merge(self, other: TextForms) -> None:
        """Add the texts of others."""
        self.forms = [form for form in self.forms if form in other.forms]
        self.are_numbers &= other.are_numbers
        self._has_marks |= other._has_marks
        self._differ |= other._differ
        self._zones |= other._zones
        self._numbers |= other._numbers
        self._points |= other._points
        for text in other._examples:
            self._add_example(text)

    def _add_date(self, text: str) -> None:
        found = {form: moment for form in self.forms if (moment := moment_in(text, form)) is not None}
        self.forms = [*found]
        self._zones |= {moment.tzinfo is not None for moment in found.values()}
        self._differ |= {pair for pair in combinations(found, 2) if found[pair[0]] != found[pair[1]]}

    def _add_number(self, text: str) -> None:
        self.are_numbers = self.are_numbers and is_double(text) and not _PADDED.fullmatch(text)
        if self.are_numbers and "." in text:
            self._points.add(_PARTED.fullmatch(text) is not None)
        if self.are_numbers and len(self._numbers) <= _CODES and not _DIGITS.fullmatch(text):
            self._numbers.add(text)

    def _add_example(self, text: str) -> None:
        with_zero = [one for one in (text, *self._examples[1:]) if "." in one and one.endswith("0")]
        self._examples = [min([text, *self._examples[:1]]), *([min(with_zero)] if with_zero else [])]
