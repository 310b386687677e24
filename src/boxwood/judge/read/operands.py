"""What stands on the sides of a comparison in any language: a column with steps, or a value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from boxwood.judge.conditions import All, Condition, Not, Some, Unknown
from boxwood.judge.read.refuse import COLUMN, VALUE, refuse
from boxwood.judge.values import Moment, Place, Step, Test, is_moment, moment_of


@dataclass(frozen=True)
class Operand:
    """A column and the steps from its value."""

    column: str
    steps: tuple[Step, ...] = ()

    def then(self, name: str, given: Any = None) -> Operand:
        """Return the same with a further step."""
        return replace(self, steps=(*self.steps, Step(name, given)))


@dataclass(frozen=True)
class Value:
    """A value that is the same for all rows."""

    value: Any


@dataclass(frozen=True)
class Logic:
    """How a language compares: whether what is unknown counts as false, and whether NaN is larger than numbers."""

    is_known: bool = False
    nan_is_large: bool = False


FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def compare_operands(left: Operand | Value, sign: str, right: Operand | Value, place: Place, logic: Logic) -> Condition:
    """Return a comparison as a condition; IN: sign: of "<", "<=", ">", ">=", "=", "<>"."""
    if isinstance(left, Value) and isinstance(right, Operand):
        return compare_operands(right, FLIPPED[sign], left, place, logic)
    if isinstance(left, Operand) and isinstance(right, Operand):
        refuse(place, "a column beside a value", f"{left.column} beside {right.column}", "compare them in a new column")
    if isinstance(left, Value):
        refuse(place, COLUMN, repr(left.value))
    assert isinstance(right, Value)  # a column beside a column is refused above
    if sign in ("=", "<>"):
        found = ask_one_of(left, (right.value,), place, logic)
        return Not(found) if sign == "<>" else found
    value = right.value
    if isinstance(value, str):
        value = _in_order(value, place)
    if isinstance(value, bool):
        refuse(place, "a number, a date or a text of one beside an order", repr(value))
    return _test(left, sign, (value,), place, logic)


def ask_one_of(left: Operand, values: tuple[Any, ...], place: Place, logic: Logic) -> Condition:
    """Return the condition that a column has one of some values; NaN is asked for by name."""
    numbers = tuple(value for value in values if not (isinstance(value, float) and math.isnan(value)))
    if numbers == values:
        return _test(left, "in", values, place, logic)
    is_nan = _test(left, "nan", (), place, logic)
    return is_nan if not numbers else Some((is_nan, _test(left, "in", numbers, place, logic)))


def as_condition(operand: Operand | Value, place: Place, logic: Logic) -> Condition:
    """Return a boolean column, or a boolean, as a condition."""
    if isinstance(operand, Operand):
        return _test(operand, "true", (), place, logic)
    if operand.value is None:
        return Some() if logic.is_known else Unknown()
    if isinstance(operand.value, bool):
        return All() if operand.value else Some()
    return refuse(place, "a condition", repr(operand.value))


def ask_missing(operand: Operand | Value, place: Place) -> Condition:
    """Return the condition that there is no value."""
    if isinstance(operand, Value):
        refuse(place, COLUMN, repr(operand.value))
    return Test(operand.column, operand.steps, "null", (), place)


def _test(left: Operand, sign: str, values: tuple[Any, ...], place: Place, logic: Logic) -> Test:
    return Test(left.column, left.steps, sign, values, place, logic.is_known, logic.nan_is_large)


def _in_order(text: str, place: Place) -> Any:
    """Return the number or date that a text is, which is compared by order."""
    if is_moment(text):
        return moment_of(text)
    return exact_number(text, place, "a number or a date beside an order", "engines order texts in different ways")


def exact_number(text: str, place: Place, expected: str = "a number", instead: str = "") -> float:
    """Return the number that a text is as a double; refuse one that no double holds."""
    try:
        number = float(text)
    except ValueError:
        refuse(place, expected, text, instead)
    is_rounded = text.lstrip("+-").isdigit() and int(text) != number
    if is_rounded or (math.isinf(number) and "inf" not in text.lower()):
        refuse(place, "a number that a double holds", text)
    return number


def shift_date(moment: Any, days: float, place: Place) -> Value:
    """Return a date some days later."""
    if not isinstance(moment, Moment):
        no_value(place, repr(moment))
    return Value(moment.later(days))


def no_value(place: Place, came: str) -> NoReturn:
    """Raise a DataError where a value was expected."""
    refuse(place, VALUE, came)
