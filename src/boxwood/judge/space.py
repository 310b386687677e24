"""The cells of each column that rules test: all values of a cell fulfil the same tests, so one stands for all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

from boxwood._messages import show_value
from boxwood._texts import BLANKS, MARKS, TextForms
from boxwood.errors import DataError
from boxwood.judge.boxes import CellBox, Search, all_of, union
from boxwood.judge.conditions import All, Condition, Not, Some, tests_in
from boxwood.judge.values import NAN, OTHER_WORD, Moment, Test, Truth, moment_of, round_decimal


@dataclass(frozen=True)
class Column:
    """A column that rules test.

    Parameters
    ----------
    name : str
    tests : tuple of Test
        All tests of it.
    cells : tuple
        A value of each cell. Those of numbers and dates ascend: below the first limit, at it, between it and the next,
        and so on. Then come words, booleans, NaN where some test asks for it, and None for a missing value.
    limits : tuple of float
        The numbers or dates at which cells end.
    """

    name: str
    tests: tuple[Test, ...]
    cells: tuple[Any, ...]
    limits: tuple[float, ...]

    @property
    def full(self) -> int:
        """All cells."""
        return (1 << len(self.cells)) - 1

    @property
    def missing(self) -> int:
        """The cell of missing values."""
        return 1 << (len(self.cells) - 1)

    @property
    def n_numbers(self) -> int:
        """How many of the first cells are numbers or dates."""
        return sum(_is_number(cell) and cell == cell for cell in self.cells)

    @cached_property
    def is_date(self) -> bool:
        """Whether a test compares dates, or ages."""
        dated = (step.name in ("date", "day", "days since") for test in self.tests for step in test.steps)
        return any(dated) or any(isinstance(value, Moment) for test in self.tests for value in test.values)

    @cached_property
    def has_order(self) -> bool:
        """Whether some test compares by order, rather than with single values alone."""
        by_order = (test.sign in ("<", "<=", ">", ">=") for test in self.tests)
        return any(by_order) or any(step.name in ("day", "days since") for test in self.tests for step in test.steps)

    @cached_property
    def named(self) -> tuple[Any, ...]:
        """The words and booleans that tests compare the column with, in the order in which they stand."""
        values = (value for test in self.tests for value in test.values)
        return tuple(dict.fromkeys(value for value in values if isinstance(value, (str, bool))))

    def where(self, test: Test, truth: Truth) -> int:
        """Return the cells whose values give a test a truth value."""
        return sum(1 << i for i, cell in enumerate(self.cells) if test.holds(cell) is truth)

    def values(self, cells: int) -> list[Any]:
        """Return a value of each of some cells."""
        return [cell for i, cell in enumerate(self.cells) if cells >> i & 1]

    def form_of(self, values: Iterable[Any]) -> str:
        """Return how the texts of a table are dates, such as quarters, if tests need dates; empty for ISO 8601.

        Raises
        ------
        DataError
            If they are dates, but in more than one way.
        """
        texts = {value for value in values if isinstance(value, str)} if self.is_date else set()
        forms, texts = TextForms(), {text for text in texts if text.strip().lower() not in (*MARKS, *BLANKS)}
        forms.update(texts)
        if forms.are_doubtful and forms.forms[0]:
            raise DataError(
                f"the dates of {self.name} can be read in several ways, such as {show_value(min(texts))}; give "
                "them as dates"
            )
        return "" if forms.reading is None or forms.reading.dates is None else forms.reading.dates.form

    def read(self, value: Any, form: str = "") -> Any:
        """Return a value of a table as tests read it: a date as one, NaN and other signs of a gap as missing.

        A text that is a date is one where tests compare with dates.

        IN: form: how texts are dates, see `form_of`.
        """
        if value is None or _differs_from_itself(value):
            return None
        if self.is_date or isinstance(value, date):
            return moment_of(value, form)
        return value if isinstance(value, (str, bool, int, float)) else _plain(value)


def _differs_from_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # the NA of pandas
        return True


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    try:
        return float(value)  # a decimal
    except (TypeError, ValueError):
        return str(value)


def columns_tested(conditions: Iterable[Condition]) -> dict[str, Column]:
    """Return the columns that conditions test, by their names, in the order in which they are first tested."""
    tests: dict[str, list[Test]] = {}
    for condition in conditions:
        for test in tests_in(condition):
            tests.setdefault(test.column, []).append(test)
    return {name: _column(name, tuple(of_column)) for name, of_column in tests.items()}


def _with_guards(tests: Iterable[Test]) -> Iterator[Test]:
    """Yield tests, and those that guard what they compare."""
    for test in tests:
        yield test
        for step in test.steps:
            if step.name == "where":
                yield from _with_guards(tests_in(step.given.condition))


def _column(name: str, own: tuple[Test, ...]) -> Column:
    tests = tuple(_with_guards(own))
    found = {limit for test in tests for limit in _limits(test)}
    dated = any(isinstance(limit, Moment) for limit in found)
    words = dict.fromkeys(word for test in tests for word in _words(test))
    if dated:  # texts beside dates are dates, where they can be
        read = {word: moment_of(word) for word in words}
        found |= {moment for moment in read.values() if moment is not None}
        words = {word: None for word, moment in read.items() if moment is None}
    limits = sorted(found)
    is_truth = any(test.sign == "true" or any(isinstance(each, bool) for each in test.values) for test in tests)
    cells: list[Any] = [Moment(each) if dated else each for each in _numbers(limits)]
    cells += [*words, *[OTHER_WORD] * (bool(words) or not (limits or is_truth))]
    cells += [True, False] * is_truth
    cells += [NAN] * any(test.sign == "nan" for test in tests)
    return Column(name, own, (*cells, None), tuple(limits))


def _limits(test: Test) -> Iterator[float]:
    """Yield the numbers or dates at which a test may change, said in values of the column."""
    since = next((step.given for step in test.steps if step.name == "days since"), None)
    by_day = since is not None or any(step.name == "day" for step in test.steps)
    given = [step.given for step in test.steps if step.name == "or"]
    n_decimals = next((step.given[1] for step in test.steps if step.name == "decimal"), None)
    for value in (*test.values, *given):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            continue
        if since is not None:
            value = Moment(math.floor(since - value))
        if by_day:
            yield from (Moment(math.floor(value) + more) for more in (0, 1))
        if n_decimals is not None:
            yield from _limits_of_decimals(value, n_decimals)
        else:
            yield value


def _limits_of_decimals(value: float, n_decimals: int) -> Iterator[float]:
    """Yield the numbers at which those with fewer decimals come to, or pass, a value."""
    unit = Decimal(1).scaleb(-n_decimals)
    below = round_decimal(value, n_decimals, ROUND_FLOOR)
    yield from (float(below + unit * halves / 2) for halves in (-1, 1, 3))


def _numbers(limits: Sequence[float]) -> Iterator[float]:
    """Yield a number below the first limit, each limit, a number between it and the next, and one above the last."""
    if not limits:
        return
    yield _below(limits[0])
    for low, high in pairwise(limits):
        yield low
        between = _between(low, high)
        if low < between < high:  # neighbouring doubles have none between
            yield between
    yield limits[-1]
    yield -_below(-limits[-1])


def _below(limit: float) -> float:
    return limit - 1.0 if limit - 1.0 < limit else math.nextafter(limit, -math.inf)


def _between(low: float, high: float) -> float:
    """Return a number between two, a whole one if there is one."""
    whole = math.floor(low) + 1.0 if abs(low) < 2**52 else low
    return whole if low < whole < high else low + (high - low) / 2


def _words(test: Test) -> Iterator[str]:
    """Yield words that a test tells from others: those that it names, and other spellings of them that it may take."""
    steps = {step.name for step in test.steps}
    values = [*test.values, *(step.given for step in test.steps if step.name == "or")]
    for word in (value for value in values if isinstance(value, str)):
        yield word
        spelt = {"lower": (word, word.upper(), word.capitalize()), "upper": (word, word.lower())}
        variants = [each for name in spelt if name in steps for each in spelt[name]] or [word]
        yield from variants
        if "trim" in steps:
            yield from (f" {each}" for each in variants)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


class Space:
    """All rows that conditions can tell apart: their columns, and the boxes in which conditions are true."""

    def __init__(self, conditions: Sequence[Condition]):
        self.columns = columns_tested(conditions)
        self.search = Search({name: column.full for name, column in self.columns.items()})
        self._cells: dict[tuple[Any, Truth], int] = {}

    def boxes(self, condition: Condition, truth: bool = True) -> list[CellBox]:
        """Return the boxes of the rows for which a condition is true, or false."""
        match condition:
            case Test():
                cells = self._where(condition, truth)
                return [{condition.column: cells}] if cells else []
            case Not(part):
                return self.boxes(part, not truth)
            case All(parts) | Some(parts):
                sets = [self.boxes(part, truth) for part in parts]
                together = isinstance(condition, All) is truth
                return all_of(sets) if together else union(box for boxes in sets for box in boxes)
        return []

    def row(self, box: CellBox) -> dict[str, Any]:
        """Return a row of a box, with values that are plain where there are such."""
        return {name: _plainest(column, box.get(name, column.full)) for name, column in self.columns.items()}

    def _where(self, test: Test, truth: Truth) -> int:
        key = (test.shape, truth)
        if key not in self._cells:
            self._cells[key] = self.columns[test.column].where(test, truth)
        return self._cells[key]


def _plainest(column: Column, cells: int) -> Any:
    values = column.values(cells)
    present = [value for value in values if value is not None and value == value and value != OTHER_WORD]
    return present[0] if present else values[0]
