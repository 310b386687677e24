"""What a condition compares: a number, a word, a boolean or a date, made of the value of one column step by step."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cached_property
from typing import Any, TypeAlias

from boxwood._dates import Dates
from boxwood.errors import DataError

Truth: TypeAlias = bool | None
"""True, false, or None for unknown, as a comparison with NULL is."""

NAN = math.nan
OTHER_WORD = "\N{REPLACEMENT CHARACTER} any other value"
"""Stands for a word that no rule names."""


_WITHOUT_DASHES = re.compile(r"(19|20)\d{6}")


class Moment(float):
    """A date: days since the beginning of 1970, in UTC where it has a zone."""

    def later(self, days: float) -> Moment:
        """Return the date some days later."""
        return type(self)(self + days)


class MovingMoment(Moment):
    """A date that is said by its distance from today: so many calendar months, and then days."""

    months = 0

    @classmethod
    def of(cls, days: float, months: int) -> MovingMoment:
        """Return the date on a day since the beginning of 1970, of whose distance so much is in months."""
        found = cls(days)
        found.months = months
        return found

    def later(self, days: float) -> MovingMoment:
        """Return the date some days later."""
        return MovingMoment.of(self + days, self.months)


_EPOCH = date(1970, 1, 1).toordinal()


def days_after_months(days: float, months: int) -> float:
    """Return the same day so many months later, or the last one of its month, in days since the beginning of 1970.

    Raises
    ------
    ValueError
        If it is of no year from 1 to 9999.

    Examples
    --------
    >>> days_after_months(30, 1)  # from 31 January 1970
    58
    """
    day = date.fromordinal(math.floor(days) + _EPOCH)
    years, month = divmod(day.month - 1 + months, 12)
    last = monthrange(day.year + years, month + 1)[1]
    return days - math.floor(days) + date(day.year + years, month + 1, min(day.day, last)).toordinal() - _EPOCH


def moment_of(value: Any, form: str = "") -> Moment | None:
    """Return the moment that a date, or a text in some form or of ISO 8601, is; None if it is none.

    Examples
    --------
    >>> moment_of("1970-01-02 12:00"), moment_of("19700103"), moment_of("soon")
    (1.5, 2.0, None)
    """
    if not form and isinstance(value, str) and _WITHOUT_DASHES.fullmatch(value):
        form = "%Y%m%d"
    zoned = isinstance(value, datetime) and value.tzinfo is not None
    for zone in ("UTC", "") if zoned else ("", "UTC"):
        try:
            return Moment(Dates(zone, form).number(value))
        except (DataError, ValueError, OverflowError):
            continue
    return None


def is_moment(value: Any) -> bool:
    """Return whether a value is a date, or a text of one."""
    return isinstance(value, (date, Moment)) or (
        isinstance(value, str) and value[:4].isdigit() and moment_of(value) is not None
    )


@dataclass(frozen=True)
class Step:
    """A step from the value of a column to what is compared.

    Parameters
    ----------
    name : str
        What is done, as `STEPS` lists it.
    given : float or str or bool or Guard or tuple, default=None
        What it needs: another value for a missing one, the day from which an age counts, a condition on the value, or
        how many digits and decimals a number has.
    """

    name: str
    given: Any = None

    def of(self, value: Any) -> Any:
        """Return what the step makes of a value."""
        return STEPS[self.name](value, self.given)


def _number(value: Any, _: Any) -> Any:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, bool) else value


def _decimal(value: Any, given: Any) -> Any:
    """Return a number with fewer decimals, halves away from zero; IN: given: its digits, and its decimals."""
    value = _number(value, None)
    if value is None or value - value != 0:
        return value
    return float(round_decimal(value, given[1], ROUND_HALF_UP))


def round_decimal(value: float, n_decimals: int, way: str) -> Decimal:
    """Return a number with so many decimals; IN: way: how, as `decimal` says it."""
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-n_decimals), way, Context(prec=800))


def _text(value: Any, _: Any) -> Any:
    if value is None or isinstance(value, (str, Moment)):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0")


def _in_words(change: Callable[[str], str]) -> Callable[[Any, Any], Any]:
    return lambda value, _: change(value) if isinstance(value, str) else value


def _date(value: Any, _: Any) -> Any:
    return moment_of(value) if isinstance(value, (str, date)) else value


def _day(value: Any, _: Any) -> Any:
    found = _date(value, None)
    return found if found is None or found != found else Moment(math.floor(found))


def _days_since(value: Any, today: Any) -> Any:
    found = _day(value, None)
    return found if found is None or found != found else float(today) - float(found)


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "number": _number,
    "decimal": _decimal,
    "text": _text,
    "date": _date,
    "day": _day,
    "days since": _days_since,
    "lower": _in_words(str.lower),
    "upper": _in_words(str.upper),
    "trim": _in_words(str.strip),
    "null if": lambda value, given: None if value == given else value,
    "where": lambda value, guard: value if guard.holds(value) else None,
    "or": lambda value, given: given if value is None else value,
    "at most": lambda value, given: value if value is None or isinstance(value, str) else min(value, given),
}
"""The steps: casts, COALESCE, and what is done to letters."""


@dataclass(frozen=True)
class Place:
    """Where something stands in a text, from 1; 0 if that is not known."""

    line: int = 0
    column: int = 0


NOWHERE = Place()


@dataclass(frozen=True)
class Test:
    """A comparison of one column, as the smallest part of a condition.

    Parameters
    ----------
    column : str
    steps : tuple of Step
        From the value of the column to what is compared, in order.
    sign : {"<", "<=", ">", ">=", "in", "null", "nan", "true"}
    values : tuple
        What it is compared with: one value; for "in" all; none for others. None stands for NULL.
    place : Place
    is_known : bool, default=False
        Whether what is unknown counts as false, as in Python.
    nan_is_large : bool, default=False
        Whether NaN is larger than all numbers, and equal to itself.
    """

    column: str
    steps: tuple[Step, ...]
    sign: str
    values: tuple[Any, ...] = ()
    place: Place = NOWHERE
    is_known: bool = False
    nan_is_large: bool = False

    def holds(self, value: Any) -> Truth:
        """Return whether a value of the column fulfils the test."""
        found = self._compare(value)
        return found is True if self.is_known else found

    def reads(self, value: Any) -> Any:
        """Return what a value of the column is compared as."""
        for step in self.steps:
            value = step.of(value)
        return value

    def _compare(self, value: Any) -> Truth:
        value = self.reads(value)
        if self.sign == "null":
            return value is None
        if value is None:
            return None
        if self.sign == "nan":
            return bool(value != value)
        if self.sign == "true":
            return _as_truth(value)
        if self.sign == "in":
            return self._is_one(value)
        return self._in_order(value, self.values[0])

    def _is_one(self, value: Any) -> Truth:
        if any(_equal(value, other, self.nan_is_large) for other in self.values if other is not None):
            return True
        return None if None in self.values else False

    def _in_order(self, value: Any, limit: Any) -> Truth:
        if limit is None:
            return None
        value, limit = _of_one_kind(value, limit)
        if value is None:
            return None
        if value != value:
            return self.nan_is_large and self.sign in (">", ">=")
        return bool(ORDERS[self.sign](value, limit))

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """What says which rows fulfil the test, without its place."""
        return self.column, self.steps, self.sign, self.values, self.is_known


ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _as_truth(value: Any) -> Truth:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return bool(value)


def _equal(value: Any, other: Any, nan_is_large: bool) -> bool:
    value, other = _of_one_kind(value, other)
    if value != value:
        return nan_is_large and other != other
    return bool(value == other)


def _of_one_kind(value: Any, other: Any) -> tuple[Any, Any]:
    """Return two values so that they can be compared; None for the first if they cannot."""
    if isinstance(other, Moment) and isinstance(value, (str, date)):
        return moment_of(value), other
    if isinstance(value, Moment) and isinstance(other, str):
        found = moment_of(other)
        return value, NAN if found is None else found
    if isinstance(value, str) == isinstance(other, str):
        return value, other
    if isinstance(value, str):
        return (_as_truth(value) if isinstance(other, bool) else _number(value, None)), other
    if isinstance(value, bool):
        return _text(value, None), other.lower()
    return value, _number(other, None) if _number(other, None) is not None else NAN
