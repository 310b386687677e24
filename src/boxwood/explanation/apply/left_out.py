"""Rows that were left out of an explanation, as they lack values: the leaf of each, where the rules ask for none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boxwood._types import Array
from boxwood.axes.categories import is_missing
from boxwood.batches.source import Source
from boxwood.columns.column_table import ColumnTable
from boxwood.explanation.apply.rows import Walk, walked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boxwood.explanation.measured_tree import MeasuredTree


def walk_of_others(ex: MeasuredTree) -> Walk | None:
    """Return the way down the tree of the rows that were left out; None if there are none, or they are in batches."""
    others = None if ex._evidence is None else ex._evidence.others
    if others is None or isinstance(others, Source):
        return None
    rows, dates = (others, ex._date_columns)
    if isinstance(others, ColumnTable):
        rows, dates = _as_given(others, ex.columns), {}
    return walked(ex.tree, ex.columns, ex._coded_columns, rows, ex._gap_columns, dates)


def _as_given(table: ColumnTable, columns: Sequence[str]) -> Array:
    """Return rows with words in place of codes, and None for what is missing; dates are days."""
    found = np.full((len(table), len(columns)), None, dtype=object)
    for j, name in enumerate(table.columns):
        if name not in columns:
            continue
        known, values = table.categories.get(j), table.values[:, j].tolist()
        words = values if known is None else [known.value(int(code)) for code in values]
        found[:, columns.index(name)] = [None if is_missing(one) else one for one in words]
    return found
