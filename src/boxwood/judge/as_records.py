"""Boxes of cells as the rules of all explanations: intervals of numbers and dates, words, and missing values."""

from __future__ import annotations

import math
from collections.abc import Iterator

from boxwood._dates import Dates
from boxwood.axes import Categories
from boxwood.explanation.records import Condition, Rule
from boxwood.judge.boxes import CellBox
from boxwood.judge.space import Column, Space
from boxwood.judge.values import OTHER_WORD
from boxwood.tree.boxes import Interval


def rule_of_box(space: Space, box: CellBox) -> Rule:
    """Return a box as a rule, its conditions in the order in which rules test their columns."""
    conditions = (condition_of_cells(space.columns[name], box[name]) for name in space.columns if name in box)
    return tuple(one for one in conditions if one is not None)


def condition_of_cells(column: Column, cells: int) -> Condition | None:
    """Return the condition that a value is in some cells; None if any is. NaN counts as missing."""
    or_missing = bool(cells & column.missing)
    if cells == column.full:
        return None
    if column.n_numbers and (column.has_order or column.is_date) and not _named_words(column, cells):
        dates = Dates() if column.is_date else None
        return Condition(column.name, tuple(_pieces(column, cells)), None, or_missing, dates)
    categories, codes = _encode_words(column, cells)
    return Condition(column.name, tuple(Interval(code, code, True, True) for code in codes), categories)


def _named_words(column: Column, cells: int) -> bool:
    return any(isinstance(value, (str, bool)) for value in column.values(cells))


def _encode_words(column: Column, cells: int) -> tuple[Categories, list[float]]:
    """Return the words of a column as categories, and the codes of some cells."""
    inside = column.values(cells)
    present = [cell for cell in column.cells if cell is not None and cell == cell]
    known = [cell for cell in present if cell != OTHER_WORD and _is_listed(column, cell)]
    others = len(known) < len(present)
    values = (*known, None)
    found = [value for value in inside if value is not None and value == value]
    chosen = {value for value in found if value in known and _is_listed(column, value)}
    codes = [float(i) for i, value in enumerate(known) if value in chosen]
    codes += [float(len(known))] * (None in inside)
    codes += [float(len(values))] * (others and any(value not in chosen for value in found))
    shown = tuple(_plain(value) for value in values)
    return Categories(shown, others), codes


def _is_listed(column: Column, cell: object) -> bool:
    """Return whether a cell is a single value, rather than all between two."""
    return isinstance(cell, (str, bool)) or cell in column.limits


def _plain(value: object) -> object:
    if isinstance(value, float) and not isinstance(value, bool) and value.is_integer():
        return int(value)
    return value


def _pieces(column: Column, cells: int) -> Iterator[Interval]:
    """Yield the runs of numbers among some cells as intervals."""
    first: int | None = None
    for i in range(column.n_numbers + 1):
        is_in = i < column.n_numbers and bool(cells >> i & 1)
        if is_in and first is None:
            first = i
        if not is_in and first is not None:
            yield _piece(column, first, i - 1)
            first = None


def _piece(column: Column, first: int, last: int) -> Interval:
    """Return the numbers from one cell to another: a cell is a limit, or all between the limits beside it."""
    numbers, limits = column.cells[: column.n_numbers], set(column.limits)
    low, high = numbers[first], numbers[last]
    has_low, has_high = low in limits, high in limits
    lower = low if has_low else (numbers[first - 1] if first else -math.inf)
    upper = high if has_high else (numbers[last + 1] if last + 1 < len(numbers) else math.inf)
    return Interval(float(lower), float(upper), has_low or lower == -math.inf, has_high or upper == math.inf)
