"""Rows that were left out of an explanation, as they lack values: the leaf of each, where the rules ask for none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._types import Array
from boxwood.axes import Categories
from boxwood.axes.categories import is_missing
from boxwood.batches.source import Source
from boxwood.columns.column_table import ColumnTable
from boxwood.explanation.apply.rows import Walk, walk_rows
from boxwood.tree import ThresholdTree


def walk_of_others(
    others: Any,
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dates: Mapping[int, Dates],
) -> Walk | None:
    """Return the way down a tree of the rows that were left out; None if there are none, or they are in batches.

    IN: others: an array, a data frame, a `ColumnTable` or a table in batches; else as for `walk_rows`.
    """
    if others is None or isinstance(others, Source):
        return None
    if isinstance(others, ColumnTable):
        others, dates = _as_given(others, columns), NO_DATES
    return walk_rows(tree, columns, categories, others, gaps, dates)


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
