"""Thresholds that are allowed, as a caller gives them, as trees have them, and as they are said."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._dates import MICROSECONDS, Dates
from boxwood._frames import refuse_unknown_columns
from boxwood._messages import list_words, show_value
from boxwood._validation import Rows, real_number
from boxwood.errors import DataError
from boxwood.tree.boxes import ends_without_missing
from boxwood.words.values import column_name

if TYPE_CHECKING:
    from boxwood._types import Bools
    from boxwood.reference.budget import Budget
    from boxwood.reference.feature_space import FeatureSpace


def allowed_ends(cuts: Any, here: FeatureSpace, in_table: Collection[str]) -> dict[str, tuple[float, ...]]:
    """Return the thresholds of columns that rules may use, as a tree has them, from what a caller gives.

    IN: in_table: all columns of the table.

    Raises
    ------
    DataError
        If the table lacks a column, or a value is none of its column.
    TypeError, ValueError
        If they are no lists of values by the names of columns.
    """
    if cuts is None:
        return {}
    if not isinstance(cuts, Mapping):
        raise TypeError(
            f'cuts must be lists of values by columns, such as {{"days": [30, 90]}}; got {show_value(cuts)}'
        )
    refuse_unknown_columns([*cuts], [*in_table])
    return {name: _ends(name, values, here) for name, values in cuts.items() if name in here.columns}


def _ends(name: str, values: Any, here: FeatureSpace) -> tuple[float, ...]:
    j = here.columns.index(name)
    if j in here.categories:
        raise DataError(f"cuts are for numbers and dates, but {column_name(name)} holds categories or booleans")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"cuts[{name!r}] must be a list of values, got {show_value(values)}")
    given = list(values)
    if not given:
        raise ValueError(f"cuts[{name!r}] must have at least one value; to keep {name} out of the rules, forbid it")
    return tuple(sorted({_end(name, here.dates.get(j), value) for value in given}))


def _end(name: str, dates: Dates | None, value: Any) -> float:
    """Return the largest number on the left of a threshold: it itself, or the one before a date."""
    if dates is None:
        return number_said(name, None, value)
    is_age = dates.as_of and isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_age:
        return math.nextafter(number_said(name, dates, value), -math.inf)
    days = real_number(f"an age in {name}", value)
    return math.nextafter((dates.origin - round(days * MICROSECONDS)) / MICROSECONDS, -math.inf)


def number_said(name: str, dates: Dates | None, value: Any) -> float:
    """Return a value of a column of numbers or dates, which may be said as rules say it.

    Raises
    ------
    DataError
        If it is none.
    """
    if dates is not None:
        x = dates.number_said(value, name)
    elif isinstance(value, str):
        try:
            x = float(value.removeprefix("≈").replace(",", ""))
        except ValueError:
            raise DataError(f"{name} holds numbers, got the text {show_value(value)}") from None
    else:
        x = real_number(f"the value of {name}", value)
    if not math.isfinite(x):
        raise DataError(
            f"a cut of {name} needs a value, got {value if isinstance(value, float) else show_value(value)}"
        )
    return x


def refuse_useless(budget: Budget, here: FeatureSpace, kept: Bools) -> None:
    """Raise a DataError if none of the thresholds of a column parts its values; IN: kept (n,): the rows that count."""
    for j, ends in budget.cuts:
        x = Rows.column(here.table, j, np.flatnonzero(kept))
        x = x[np.isfinite(x)]
        if len(x) and not any(x.min() <= end < x.max() for end in ends):
            name, dates = here.columns[j], here.dates.get(j)
            said = list_words([f"{each:g}" if isinstance(each, float) else each for each in say_ends(dates, ends)], 6)
            low, high = [f"{x.min():g}", f"{x.max():g}"] if dates is None else map(dates.text, (x.min(), x.max()))
            raise DataError(
                f"no row of {column_name(name)} is on the other side of {said}: its values are from {low} to {high}; "
                "give thresholds between these (cuts), or forbid the column"
            )


def say_ends(dates: Dates | None, ends: Iterable[float]) -> tuple[float | str, ...]:
    """Return thresholds as they are said: numbers, and dates or ages as text."""
    return tuple(end if dates is None else dates.first(end, beyond=True) for end in ends)


def end_said(end: float, is_upper: bool, has_gaps: bool) -> float:
    """Return an end of a cut as rules say it: in a column with gaps the shorter one of it and the double beyond."""
    if not has_gaps:
        return end
    return ends_without_missing(-math.inf, end)[1] if is_upper else ends_without_missing(end, math.inf)[0]
