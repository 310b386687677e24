"""`ColumnTable`: the columns of a table that rules may use, as numbers and codes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from boxwood._dates import Dates
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import list_words
from boxwood.axes import Categories
from boxwood.axes.known_order import known_order
from boxwood.columns.keys import Keys
from boxwood.errors import DataError
from boxwood.reference.feature_space import BesideColumn

TRUTHS = Categories((False, True, None), others=False)


@dataclass(frozen=True)
class ColumnTable:
    """The columns of a table that rules may use, as numbers and codes.

    Parameters
    ----------
    columns : tuple of d str
        Names of the columns.
    values : array of shape (n, d)
        Numbers, NaN where one is missing, and codes; a missing category has a code of its own.
    categories : mapping from column to Categories
        The columns of codes.
    booleans : tuple of str
        Columns of numbers that are truths, as 0 and 1.
    left_out : mapping from str to list of str
        Other columns, by the reason why they are left out.
    names : tuple of str
        Names of all columns of the table.
    dates : mapping from str to Dates
        Columns of numbers that are days of dates.
    notes : tuple of str
        On the columns: which are used, why others are left out, and how they are read.
    keys : Keys, default=None
        What says which rows of another table belong to these, if a file has it.
    beside : mapping from str to BesideColumn
        Columns that were left out, and may say what clusters are, by their names.
    counts : array of shape (n,), default=None
        How many rows each row stands for, if a column that was left out counts them.
    """

    columns: tuple[str, ...]
    values: Floats
    categories: Mapping[int, Categories] = field(default_factory=dict)
    booleans: tuple[str, ...] = ()
    left_out: Mapping[str, list[str]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    dates: Mapping[str, Dates] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    keys: Keys | None = None
    beside: Mapping[str, BesideColumn] = field(default_factory=dict)
    counts: Floats | None = None

    def __len__(self) -> int:
        return len(self.values)

    def lacks(self, j: int) -> Bools:
        """Return whether each row lacks a value in a column, shape (n,)."""
        known = self.categories[j].values if j in self.categories else ()
        x = self.values[:, j]
        return np.asarray(x == known.index(None) if None in known else np.isnan(x))

    def _beside(self, j: int, reason: str) -> BesideColumn:
        return BesideColumn(self.values[:, j], self.categories.get(j), self.dates.get(self.columns[j]), reason)

    @property
    def lacking(self) -> Bools:
        """Whether each value is missing, shape (n, d)."""
        return np.array([self.lacks(j) for j in range(len(self.columns))]).T

    @property
    def gaps(self) -> tuple[int, ...]:
        """The columns of numbers that some rows lack."""
        return tuple(j for j in range(len(self.columns)) if j not in self.categories and self.lacks(j).any())

    @property
    def is_plain(self) -> bool:
        """Whether there are neither categories nor gaps."""
        return not self.categories and not self.gaps

    @property
    def points(self) -> Floats:
        """The values with plus infinity for each missing number; tables are finite, so that point is free."""
        if not (gaps := self.gaps):
            return self.values
        values = self.values.copy(order="F")
        for j in gaps:
            values[self.lacks(j), j] = np.inf
        return values

    def of_rows(self, rows: Indices) -> ColumnTable:
        """Return some of the rows; values that only other rows have keep their codes."""
        beside = {name: one._replace(values=one.values[rows]) for name, one in self.beside.items()}
        counts = None if self.counts is None else self.counts[rows]
        return replace(self, values=self.values[rows], beside=beside, counts=counts)

    def without(self, names: Collection[str], reason: str = "", *, may_tell: bool = False) -> ColumnTable:
        """Return the table without some of its columns, which are left out for a reason if one is given.

        IN: may_tell: whether these columns, and not only those of categories, may say what clusters are.
        """
        kept = [j for j, name in enumerate(self.columns) if name not in names]
        if len(kept) == len(self.columns):
            return self
        lost = [j for j in range(len(self.columns)) if j not in kept and (may_tell or j in self.categories)]
        left = {self.columns[j]: self._beside(j, reason) for j in lost}
        return replace(
            self,
            beside={**self.beside, **left} if reason else self.beside,
            columns=tuple(self.columns[j] for j in kept),
            values=self.values[:, kept],
            categories={i: self.categories[j] for i, j in enumerate(kept) if j in self.categories},
            left_out={**self.left_out, reason: [*self.left_out.get(reason, ()), *names]} if reason else self.left_out,
        )


def with_truths(table: ColumnTable) -> ColumnTable:
    """Return the table with truths that some rows lack as categories, as a rule says them like words."""
    values, categories = table.values, dict(table.categories)
    for j, name in enumerate(table.columns):
        if name in table.booleans and (lacks := np.isnan(table.values[:, j])).any():
            values = values.copy(order="F") if values is table.values else values
            values[lacks, j] = len(TRUTHS.values) - 1
            categories[j] = TRUTHS
    booleans = tuple(name for j, name in enumerate(table.columns) if name in table.booleans and j not in categories)
    return replace(table, values=values, categories=dict(sorted(categories.items())), booleans=booleans)


def known_orders(table: ColumnTable) -> dict[str, Sequence[Any]]:
    """Return the orders of columns whose words have one by themselves, by their names; see `axes.known_order`."""
    found: dict[str, Sequence[Any]] = {}
    for j, known in table.categories.items():
        if not known.ordered and (order := known_order(known.values[: known.known])) is not None:
            found[table.columns[j]] = order
    return found


def in_stated_order(table: ColumnTable, orders: Mapping[str, Sequence[Any]]) -> ColumnTable:
    """Return the table with some of its columns as ordered categories, in the orders that the caller states.

    Values are told apart by their texts, so that "2" stands for the number 2.

    Raises
    ------
    DataError
        If a column has a value that its order lacks.
    """
    values, categories = table.values, dict(table.categories)
    for j, name in enumerate(table.columns):
        if name not in orders:
            continue
        before, stated = categories[j], [str(value) for value in orders[name]]
        by_text = {str(value): value for value in before.values[: before.known]}
        if others := [text for text in by_text if text not in stated]:
            raise DataError(
                f"{name} has values that its order in categories lacks: {list_words(others)}; name them, too"
            )
        in_order, lacks = [by_text[text] for text in stated if text in by_text], before.values[before.known :]
        categories[j] = before._replace(values=(*in_order, *lacks), ordered=True)
        values = values.copy(order="F") if values is table.values else values
        values[:, j] = categories[j].codes(before.values)[values[:, j].astype(np.intp)]
    return replace(table, values=values, categories=categories)
