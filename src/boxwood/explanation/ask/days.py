"""The day from which the dates of a table are counted, where `explain` is asked for ages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._dates import Dates, days_between, moment_in
from boxwood._frames import as_matrix, dates_from_column, without_columns
from boxwood._types import Array, Floats
from boxwood._validation import list_words, show_value
from boxwood.batches import Source
from boxwood.batches.batches import read_numbers
from boxwood.batches.texts import TextsRead
from boxwood.columns.column_table import ColumnTable
from boxwood.errors import DataError
from boxwood.explanation.ages import LATEST, as_of_text, names_column, with_ages
from boxwood.explanation.ask.options import Candidates, Options

COUNTED = "dates are counted from "
"""How a note on the latest date of a table begins."""
_SHORT = 4  # days that times of a table span at most, so that its latest moment counts instead of its day


class Counted(NamedTuple):
    """Rows whose dates are counted from a day, how these are said, and notes on the day."""

    X: Any
    dates: Mapping[str, Dates]
    notes: tuple[str, ...] = ()


def with_day(X: Any, asked: Options, clustering: Any, *, if_any: bool = False) -> tuple[Any, Options]:
    """Return the rows, and what is asked, with dates that are counted from the day that is asked for, if one is.

    IN: if_any: whether a table that has nothing to count stays as it is.
    """
    label = clustering if isinstance(clustering, str) else ""
    if isinstance(X, Source) and X.is_held:  # its rows are counted when they are read
        return X, asked
    if asked.as_of is None or (if_any and not can_count(asked.dates, asked.as_of, label)):
        return X, asked
    X, dates, notes = count_from_day(X, asked.dates, asked.as_of, label)
    if isinstance(asked.columns, Sequence):
        taken = as_of_text(asked.as_of)
        asked = replace(asked, columns=_without(asked.columns, taken))
    return X, replace(asked, dates=dates, notes=notes)


def _without(columns: Sequence[str], name: str) -> Sequence[str]:
    if name not in columns:
        return columns
    kept = [one for one in columns if one != name]
    return Candidates(kept, are_named=columns.are_named) if isinstance(columns, Candidates) else kept


def can_count(dates: Mapping[str, Dates], as_of: Any, label: str = "") -> bool:
    """Return whether a table has dates, and the column that they are counted from, if that is one; IN: as below."""
    day, others = {as_of_text(as_of)} if names_column(as_of) else set(), {*dates} - {label}
    return day <= others and bool(others - day)


def count_from_day(X: Any, dates: Mapping[str, Dates], as_of: Any, label: str = "") -> Counted:
    """Return a table with dates that are counted from a day; IN: dates: its columns of dates; label: that of labels.

    Raises
    ------
    DataError
        If the table has no dates, or none up to today, or lacks the column that has the day of each row.
    """
    text, others = as_of_text(as_of), {name: one for name, one in dates.items() if name != label}
    if moment_in(text, "") is None and text != LATEST:
        return _from_column(X, others, text)
    if not others:
        raise DataError("as_of counts dates from a day, but the table has no column of dates")
    text, notes = _latest(X, others) if text == LATEST else (text, ())
    counted = with_ages(others, text)
    return Counted(AgesRead(X, counted) if isinstance(X, Source) else _with_dates(X, counted), counted, notes)


def _with_dates(X: Any, dates: Mapping[str, Dates]) -> Any:
    return replace(X, dates={**X.dates, **dates}) if isinstance(X, ColumnTable) else X


class AgesRead(TextsRead):
    """A table in batches whose dates are counted from a day."""

    def __init__(self, source: Source, dates: Mapping[str, Dates]) -> None:
        super().__init__(source, {}, ())
        self.dates = {**source.dates, **dates}


def _from_column(X: Any, dates: Mapping[str, Dates], name: str) -> Counted:
    """Return the table without the column that has the day of each row, with dates as far from 1970 as from that."""
    if isinstance(X, Source):
        raise DataError(
            f"as_of names the column {show_value(name)}, but {X.name} is read in batches; give a day, or a "
            "table in memory"
        )
    if name not in dates:
        raise DataError(
            f"as_of must be a day such as '2026-07-31', 'latest', or a column of dates; got {show_value(name)}"
        )
    others = {one: known for one, known in dates.items() if one != name}
    if not others:
        raise DataError(f"as_of counts dates from the day in {name}, but the table has no other column of dates")
    if dates[name].zone and (local := [one for one, known in others.items() if not known.zone]):
        raise DataError(f"{name} (as_of) has a time zone, but the dates of {list_words(local)} have none")
    counted = with_ages(others, name)
    if isinstance(X, ColumnTable):
        return Counted(_columns_from(X, name, counted), counted)
    return Counted(without_columns(dates_from_column(X, counted), [name]), counted)


def _columns_from(table: ColumnTable, name: str, dates: Mapping[str, Dates]) -> ColumnTable:
    values, day = table.values.copy(order="F"), table.values[:, table.columns.index(name)]
    for j, one in enumerate(table.columns):
        if one in dates:
            values[:, j] = days_between(values[:, j], day)
    return replace(table, values=values, dates=dict(dates)).without([name])


def _latest(X: Any, dates: Mapping[str, Dates]) -> tuple[str, tuple[str, ...]]:
    """Return the latest date of a table that is not in the future, and a note that tells it, and how many are."""
    tomorrow = Dates().number(datetime.now().date()) + 1
    if isinstance(X, Source):
        met = X.run(partial(_DatesMet, tomorrow), [*dates])
    else:
        met = _DatesMet(tomorrow)
        values = _values_of(X, [*dates])
        for j in range(values.shape[1]):
            met.add(values[:, j])
    if not math.isfinite(met.last):
        raise DataError("as_of='latest' is the latest date up to today, but all dates are later; give the day")
    known, is_short = Dates(), met.last - met.first <= _SHORT
    as_of = known.text(met.last) if is_short and met.last != math.floor(met.last) else known.day(met.last)
    later = f"; dates after today did not count: {met.n_later:,}, up to {known.day(met.end)}" if met.n_later else ""
    return as_of, (f"{COUNTED}{as_of}, the latest date up to today (as_of){later}",)


def _values_of(X: Any, names: Sequence[str]) -> Array:
    if isinstance(X, ColumnTable):
        return X.values[:, [X.columns.index(name) for name in names if name in X.columns]]
    return as_matrix(X, names)


class _DatesMet:
    """A summary of dates: the first and the last one before tomorrow, and how many are later, up to which."""

    def __init__(self, tomorrow: float) -> None:
        self.tomorrow, self.n_later = tomorrow, 0
        self.first, self.last, self.end = math.inf, -math.inf, -math.inf

    def add(self, days: Floats) -> None:
        """Add dates as days."""
        known = days[np.isfinite(days)]
        past, later = known[known < self.tomorrow], known[known >= self.tomorrow]
        self.first, self.last = min(self.first, past.min(initial=math.inf)), max(self.last, past.max(initial=-math.inf))
        self.n_later, self.end = self.n_later + len(later), max(self.end, later.max(initial=-math.inf))

    def update(self, batch: Any, start: int | None) -> None:
        """Add the dates of a record batch."""
        for column in batch.columns:
            self.add(read_numbers(column))

    def merge(self, other: _DatesMet) -> None:
        """Add other dates."""
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        self.n_later, self.end = self.n_later + other.n_later, max(self.end, other.end)
