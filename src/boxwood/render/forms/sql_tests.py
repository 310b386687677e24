"""How a column is tested in SQL: for intervals of numbers, for dates, for booleans, and for categories."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple, TypeAlias, cast

from boxwood._dates import NOW, Dates
from boxwood.axes import Categories
from boxwood.render.forms.code import date_tests
from boxwood.render.forms.dialects import Dialect
from boxwood.tree import Box, Interval
from boxwood.tree.boxes import without_missing

_ALL_WHOLE = 2.0**53  # doubles hold all whole numbers up to here
_LARGEST = sys.float_info.max
EVERY_ROW = "1 = 1"  # true in every engine, of which some have no TRUE


class Numeric(NamedTuple):
    """A column of numbers, which can be tested to lie in intervals: its name, its type, and whether to refuse NaN."""

    name: str
    type: str
    dialect: Dialect
    refuses_nan: bool = True

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test that a value lies in one of some intervals."""
        conditions = [self._within(piece) for piece in pieces]
        inside = any_of([f"({one})" if " AND " in one and len(pieces) > 1 else one for one in conditions])
        has_end = pieces[-1].upper < math.inf or not pieces[-1].upper_closed
        lets_nan_in = not inside or (self.dialect.nan_is_large and not has_end)
        if self.refuses_nan and (self.dialect.trusts_statistics or lets_nan_in):
            no_nan = self.dialect.is_no_nan(self.name, self.type)
            inside = " AND ".join(filter(None, [inside, no_nan]))
        return inside or f"{self.name} IS NOT NULL"

    def _within(self, piece: Interval) -> str:
        """Return the test; an empty text if all numbers are inside."""
        number = self._number(piece)
        lower, upper, lower_closed, upper_closed = piece if self.dialect.infinity else _finite(piece)
        if lower == upper:
            return f"{number} = {self._end(lower)}"
        parts = []
        if lower > -math.inf or not lower_closed:
            parts.append(f"{number} {'>=' if lower_closed else '>'} {self._end(lower)}")
        if upper < math.inf or not upper_closed:
            parts.append(f"{number} {'<=' if upper_closed else '<'} {self._end(upper)}")
        return " AND ".join(parts)

    def _number(self, piece: Interval) -> str:
        """Return the value to compare with the ends of an interval.

        The name alone suffices: an end in double makes a float, a whole number or a decimal a double. Whole numbers
        that no double holds are compared exactly by SQLite; only beyond 2**53 this makes a difference.
        """
        ends = [end for end in piece[:2] if math.isfinite(end)]
        may_be_text = self.dialect.may_hold_text and not self.type
        needs_cast = may_be_text or any(abs(end) >= _ALL_WHOLE for end in ends)
        return f"CAST({self.name} AS {self.dialect.double})" if needs_cast else self.name

    def _end(self, end: float) -> str:
        return self.dialect.end(end, self.type)


class WithGaps(NamedTuple):
    """A column of numbers in which missing values, NULL and NaN, have a place.

    NaN is asked for beside every interval, as engines compare it in their own ways, see `Dialect`.
    """

    name: str
    type: str
    dialect: Dialect

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no value is inside."""
        said, or_missing = without_missing(pieces)
        if not or_missing:
            return self._present(said) if said else ""
        if said and said[0][:2] == (-math.inf, math.inf):
            return EVERY_ROW
        numbers = Numeric(self.name, self.type, self.dialect, refuses_nan=False)
        parts = [f"({one})" if " AND " in one else one for one in (numbers.within((piece,)) for piece in said)]
        return any_of([*parts, f"{self.name} IS NULL", *filter(None, [self.dialect.is_nan(self.name, self.type)])])

    def _present(self, pieces: Sequence[Interval]) -> str:
        """Return the test that there is a number, and that it lies in intervals."""
        return Numeric(self.name, self.type, self.dialect).within(pieces)


def _finite(piece: Interval) -> Interval:
    """Return the same interval where no value is infinite: an open infinite end is that of the finite numbers."""
    lower, upper, lower_closed, upper_closed = piece
    if lower == upper and math.isinf(lower):
        return Interval(_LARGEST, -_LARGEST, True, True)  # no number
    if lower == -math.inf and not lower_closed:
        lower_closed = True
    if upper == math.inf and not upper_closed:
        upper_closed = True
    return Interval(lower, upper, lower_closed, upper_closed)


class Dated(NamedTuple):
    """A column of dates: its name and type, how they are said, and whether missing ones have a place.

    `day` is the name of the column that has the day from which they are counted, if one has.
    """

    name: str
    type: str
    dates: Dates
    dialect: Dialect
    has_gaps: bool
    day: str = ""

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no date is inside."""
        known, or_missing = without_missing(pieces) if self.has_gaps else (tuple(pieces), False)
        if or_missing and known and known[0][:2] == (-math.inf, math.inf):
            return EVERY_ROW
        conditions = [self._within(piece) for piece in known]
        several = len(conditions) + or_missing > 1
        parts = [f"({one})" if " AND " in one and several else one for one in conditions]
        return any_of([*parts, *[self._lacks("IS NULL", " OR ")] * or_missing]) if parts or or_missing else ""

    def _lacks(self, test: str, joined: str) -> str:
        """Return a test of whether there is a date, and a day from which it is counted."""
        tests = [f"{name} {test}" for name in (self.name, self.day) if name]
        return tests[0] if len(tests) == 1 else f"({joined.join(tests)})"

    def _within(self, piece: Interval) -> str:
        ends = [*filter(None, date_tests(piece, self.dates))]
        of_days = not self.dates.zone and all(map(_is_day, (end for _, end in ends)))
        of_days = of_days and self.dates.as_of != NOW and not self.day
        as_days = of_days and (self.type == "DATE" or self.dialect.days_for_moments)
        value = self.name if as_days else self.dialect.dates[bool(self.dates.zone)].format(self.name)
        parts = [f"{value} {sign} {self._end(end, as_day=as_days)}" for sign, end in ends]
        return " AND ".join(parts) or self._lacks("IS NOT NULL", " AND ")

    def _end(self, end: float | datetime | timedelta, *, as_day: bool) -> str:
        if isinstance(end, timedelta):
            return self.dialect.calendar.end(self.dates, self.day, end, as_day=as_day)
        assert isinstance(end, datetime)
        said = self.dialect.day if as_day else self.dialect.moments[bool(self.dates.zone)]
        return said.format(_as_text(end, as_day=as_day))


def _is_day(end: float | datetime | timedelta) -> bool:
    """Return whether an end is the beginning of a day, or a number of days away."""
    if isinstance(end, timedelta):
        return not end % timedelta(days=1)
    return isinstance(end, datetime) and end.time() == time()


def _as_text(moment: datetime, *, as_day: bool) -> str:
    if as_day:
        return moment.date().isoformat()
    text = moment.isoformat(" ")  # without zeros behind a fraction, as SQLite compares texts
    return text.rstrip("0") if moment.microsecond else text


class Truth(NamedTuple):
    """A column of booleans, whose code can be tested to lie in intervals: its name, and its categories."""

    name: str
    categories: Categories
    dialect: Dialect

    @property
    def lacks(self) -> str:
        """The test that there is no value."""
        return f"{self.name} IS NULL"

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no code is inside."""
        inside = [self.categories.values[int(code)] for code in self.categories.codes_in(pieces)]
        parts = [self.dialect.truths[not value].format(self.name) for value in inside if value is not None]
        parts = parts if len(parts) < len(self.dialect.truths) else [f"{self.name} IS NOT NULL"]
        return any_of([*parts, *[f"{self.name} IS NULL"] * (None in inside)]) if inside else ""


class Categorical(NamedTuple):
    """A column of categories, whose code can be tested to lie in intervals."""

    value: str
    categories: Categories
    literals: tuple[tuple[str, ...], ...]  # of each value; of a missing one, those of texts that stand for it
    lacks: str  # the test that there is no value

    def within(self, pieces: Sequence[Interval]) -> str:
        """Return the test; an empty text if no code is inside."""
        values, others = self.categories[:2]
        inside = {*self.categories.codes_in(pieces)}
        excluding = others and len(values) in inside  # unknown values are inside, so the test lists the values outside
        listed = [i for i in range(len(values)) if (i in inside) != excluding]
        known = [literal for i in listed for literal in self.literals[i]]
        parts = [self._one_of(known, excluding=excluding)] if known else []
        if excluding and not known:
            parts.append(f"{self.value} IS NOT NULL")
        if None in values and (None in [values[i] for i in listed]) != excluding:
            parts.append(f"{self.value} IS NULL")
        return any_of(parts) if parts else ""

    def _one_of(self, literals: Sequence[str], *, excluding: bool) -> str:
        if len(literals) == 1:
            return f"{self.value} {'<>' if excluding else '='} {literals[0]}"
        return f"{self.value} {'NOT IN' if excluding else 'IN'} ({', '.join(literals)})"


Test: TypeAlias = Numeric | WithGaps | Dated | Truth | Categorical
"""How a column is tested."""


def test_of(
    column: str, type: str, dialect: Dialect, codes: Categories | None, dates: Dates | None, *, has_gaps: bool
) -> Test:
    """Return how a column is tested.

    IN: type: as `table.sql.type_of` has it; codes, dates: of a column of categories, or of dates; has_gaps: whether a
    missing number or date has a place.
    """
    name = dialect.name(column)
    if dates is not None:
        if type == "TEXT" and not dates.form and dialect.texts is not None:
            name = dialect.texts.format(name, "TIMESTAMPTZ" if dates.zone else "TIMESTAMP")
        return Dated(name, type, dates, dialect, has_gaps, dialect.name(dates.day_column) if dates.day_column else "")
    if codes is None:
        of_numbers = "" if type == "TEXT" else type  # texts of numbers are converted first
        return WithGaps(name, of_numbers, dialect) if has_gaps else Numeric(name, of_numbers, dialect)
    if codes.are_truths and type == "BOOLEAN":
        return Truth(name, codes, dialect)
    return _of_numbers(name, type, dialect, codes) if codes.are_numbers else _of_words(name, type, dialect, codes)


def _of_words(name: str, type: str, dialect: Dialect, codes: Categories) -> Categorical:
    texts = ([str(each) for each in codes.as_written([value]) if each is not None] for value in codes.values)
    literals = tuple(tuple(map(dialect.compared_literal, its)) for its in texts)
    return Categorical(dialect.as_compared(name, is_text=type == "TEXT"), codes, literals, f"{name} IS NULL")


def _of_numbers(name: str, type: str, dialect: Dialect, codes: Categories) -> Categorical:
    may_be_text = type == "TEXT" or not dialect.casts_booleans or (dialect.may_hold_text and not type)
    if codes.are_truths and may_be_text:
        said = tuple(_AS_TEXTS.get(value, ()) for value in codes.values)
        return Categorical(f"lower(CAST({name} AS {dialect.text}))", codes, said, f"{name} IS NULL")
    literals = tuple(
        () if value is None else (dialect.end(float(cast("float", value)), type),) for value in codes.values
    )
    if type in ("INTEGER", "DECIMAL", "DOUBLE") and not dialect.may_hold_text:
        number = name
    else:
        number = f"CAST({name} AS {dialect.double})"  # it may be one of booleans, which DuckDB refuses as numbers
    no_nan = dialect.is_no_nan(name, type)
    if no_nan and not type:
        no_nan = f"lower(CAST({name} AS {dialect.text})) <> 'nan'"  # which no engine refuses to ask a boolean
    lacks = f"({name} IS NULL OR NOT ({no_nan}))" if no_nan else f"{number} IS NULL"
    # NaN is in no list of values, so it matters only where a missing or an unknown value has a code
    matters = no_nan and (codes.others or None in codes.values or dialect.trusts_statistics)
    return Categorical(f"CASE WHEN {no_nan} THEN {number} END" if matters else number, codes, literals, lacks)


_AS_TEXTS: dict[Hashable, tuple[str, ...]] = {  # of numbers, too
    True: ("'true'", "'1'", "'1.0'"),
    False: ("'false'", "'0'", "'0.0'"),
}


def nan_first(test: Test) -> str:
    """Return the test that a value is NaN, if every condition on a column needs it: it may stand before these."""
    if not isinstance(test, Numeric) or not test.refuses_nan or not test.dialect.trusts_statistics:
        return ""
    return test.dialect.is_nan(test.name, test.type)


def without_nan(test: Test) -> Test:
    """Return the test of values that are known to be no NaN."""
    return test._replace(refuses_nan=False) if isinstance(test, Numeric) else test


def within_known(test: Test, pieces: Sequence[Interval], known: Sequence[Interval]) -> str:
    """Return the test that a value lies in some intervals, of values that lie in the known ones around them."""
    if isinstance(test, (Truth, Categorical)):
        return test.within(pieces)
    has_gaps = isinstance(test, WithGaps) or (isinstance(test, Dated) and test.has_gaps)
    is_present = has_gaps and math.inf not in known[-1]
    pieces = [*pieces]
    if (pieces[0].lower, pieces[0].lower_closed) == (known[0].lower, known[0].lower_closed):
        pieces[0] = pieces[0]._replace(lower=-math.inf, lower_closed=True)
    if (pieces[-1].upper, pieces[-1].upper_closed) == (known[-1].upper, known[-1].upper_closed):
        pieces[-1] = pieces[-1]._replace(upper=_LARGEST if is_present else math.inf, upper_closed=True)
    if is_present and isinstance(test, WithGaps):
        return Numeric(test.name, test.type, test.dialect, refuses_nan=False).within(without_missing(pieces)[0])
    return test.within(pieces)


def any_of(conditions: Sequence[str]) -> str:
    """Return the test that one of some conditions holds, as a part of a larger one."""
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


def condition_of_box(box: Box, tests: Mapping[int, Test]) -> str | None:
    """Return the condition of a box: an empty text for a box of all rows, None for one that holds no row."""
    conditions = [tests[j].within(pieces) if pieces else "" for j, pieces in box.items()]
    return " AND ".join(conditions) if all(conditions) else None
