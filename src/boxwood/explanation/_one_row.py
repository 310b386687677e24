"""One row, in any of the forms in which people have it, as the values that a tree tests."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._frames import is_frame, refuse_unknown_columns
from boxwood._validation import position
from boxwood.axes import Categories
from boxwood.axes._categories import is_missing
from boxwood.axes._table_map import values_of
from boxwood.errors import DataError
from boxwood.explanation._rows import numbers_of

__all__ = ["OneRow", "one_row"]


class OneRow(NamedTuple):
    """The columns of a row that a tree tests.

    `values` are as people have them: numbers, categories, or None for missing ones. `numbers` are what the tree tests:
    the same numbers, codes of categories, and NaN where a value is missing or was never seen.
    """

    values: dict[int, Hashable]
    numbers: dict[int, float]


def one_row(
    row: Any, columns: Sequence[str], features: Sequence[int], categories: Mapping[int, Categories], table: Any
) -> OneRow:
    """Return the tested columns of a row; IN: features: these columns; table: function that gives the measured rows.

    `row` is a mapping from column to value, a data frame of one row, a series with the columns' names, values in the
    order of the columns, or the position of a measured row.
    """
    if isinstance(row, (int, np.integer)) and not isinstance(row, bool):
        rows = table()
        measured = rows[position("row", row, len(rows))]
        numbers = {j: float(measured[j]) for j in features}
        return OneRow(
            {j: categories[j].value(x) if j in categories else x for j, x in numbers.items()},
            numbers,
        )
    plain = {j: _plain(value) for j, value in _values(row, columns, features)}
    numbers = {
        j: float(categories[j].codes([value])[0]) if j in categories else _number(value, columns[j])
        for j, value in plain.items()
    }
    values = {j: _named(categories[j], x, plain[j]) if j in categories else _shown(x) for j, x in numbers.items()}
    return OneRow(values, numbers)


def _values(row: Any, columns: Sequence[str], features: Sequence[int]) -> list[tuple[int, Any]]:
    """Return the tested columns and their values, of any type."""
    if is_frame(row):
        row = {columns[j]: _only(values_of(row, columns[j])) for j in features}
    elif hasattr(row, "to_dict"):  # a series of pandas
        row = row.to_dict()
    if isinstance(row, Mapping):
        by_name = {str(name): value for name, value in row.items()}
        refuse_unknown_columns([columns[j] for j in features], list(by_name))
        return [(j, by_name[columns[j]]) for j in features]
    if isinstance(row, np.ndarray) and row.ndim == 2 and len(row) == 1:
        row = row[0]
    if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or np.ndim(row) > 1:
        raise TypeError(
            "row must be a mapping from column to value, a data frame of one row, a list of values, or the position of "
            f"a row; got {type(row).__name__}"
        )
    if len(row) != len(columns):
        raise DataError(f"row has {len(row)} values, but there are {len(columns)} columns")
    return [(j, row[j]) for j in features]


def _only(values: list[Any]) -> Any:
    if len(values) != 1:
        raise DataError(f"row must be a data frame of one row, got {len(values)} rows")
    return values[0]


def _plain(value: Any) -> Any:
    """Return a value as Python has it, and None for a missing one."""
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _number(value: Any, name: str) -> float:
    number = float(numbers_of([value], name)[0])
    if math.isinf(number):
        raise DataError(f"row must have finite numbers, but {name} is {number}")
    return number


def _named(categories: Categories, code: float, value: Hashable) -> Hashable:
    """Return a category as the column has it: 0 in a column of booleans is False. An unknown value stays as it is."""
    return categories.values[int(code)] if code < len(categories.values) else value


def _shown(number: float) -> float | None:
    return None if math.isnan(number) else number
