"""What gives the rows of a table their cluster, in SQL, and what is told of the rows that were labelled."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from boxwood._validation import refuse_other_kind, shown
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.table._column_names import ColumnError, suggestion
from boxwood.table._source import Source
from boxwood.table._sql import as_double, as_name, as_text
from boxwood.table._texts import refuse_no_numbers

__all__ = ["Input", "Labelled", "Rules", "Unseen", "input_of", "inputs_of", "positions_of", "refuse_taken", "rows_with"]


class Rules(NamedTuple):
    """A new column in SQL.

    Parameters
    ----------
    expression : str
        SQL of the new column, in terms of the keys of `needed`; NULL is written as an empty value.
    needed : mapping from a name in the expression to a column of the table
        Columns that the expression reads. Those without an entry in `categories` must be numbers; the expression reads
        them as doubles, with NULL for missing values and NaN.
    categories : mapping from a name in the expression to Categories, default={}
        Columns of categories. The expression reads them as text, or as doubles if all categories are numbers, with NULL
        for missing values. In CSV, an empty text or a mark such as NA is missing, unless it is one of the categories.
        Other values that are not among the categories are no error; they are counted, unless the categories have a code
        for them.
    """

    expression: str
    needed: Mapping[str, str]
    categories: Mapping[str, Categories] = {}

    def refuse_other_kinds(self) -> None:
        """Raise a TypeError if a part is not of its kind."""
        refuse_other_kind("needed", self.needed, Mapping, "give each name in the expression a column of the table")
        refuse_other_kind("categories", self.categories, Mapping, "give names in the expression their Categories")
        for name, values in self.categories.items():
            refuse_other_kind(f"categories[{shown(name)}]", values, Categories, "make them: boxwood.axes.Categories")

    @property
    def texts(self) -> set[str]:
        """Columns of the table that are read as text."""
        return {self.needed[name] for name, values in self.categories.items() if not values.are_numbers}


class Unseen(NamedTuple):
    """A column of categories, the number of its values that were never seen, and the first of them in the alphabet."""

    column: str
    n_values: int
    example: str


class Labelled(NamedTuple):
    """Number of rows written, number of those without a cluster, and the columns with categories never seen.

    A row has no cluster because a value that its rule needs is missing or was never seen.
    """

    n_rows: int
    n_empty: int
    unseen: tuple[Unseen, ...] = ()


class Input(NamedTuple):
    """A column that the expression reads, in SQL.

    Parameters
    ----------
    column : int
        Position in the table.
    value : str
        Its value; NULL if it is missing.
    is_text : str
        Whether the value is text although it must be a number.
    is_unseen : str
        Whether the value is not among the known categories, and has no code for that reason.
    """

    column: int
    value: str
    is_text: str
    is_unseen: str


def inputs_of(source: Source, rules: Rules) -> dict[str, Input]:
    """Return the columns that the expression reads, by their names in it.

    Raises
    ------
    DataError
        If the table lacks a column, or one that must be numbers has a type without any, such as a date.
    """
    positions = positions_of(source.name, source.names, rules.needed)
    return {name: input_of(source, at, rules.categories.get(name)) for name, at in positions.items()}


def positions_of(table: str, names: Sequence[str], needed: Mapping[str, str]) -> dict[str, int]:
    """Return the position in a table with these columns of each column that is needed."""
    absent = [column for column in needed.values() if column not in names]
    numbered = absent and all(re.fullmatch(r"column [0-9]+", column) for column in absent)
    advice = "\nif it has no header: --no-header" if numbered else ""
    if len(absent) == 1:
        similar = suggestion(absent[0], names)
        raise DataError(f"{table} lacks a column the rules need: {absent[0]}{similar}{advice}")
    if absent:
        raise DataError(f"{table} lacks {len(absent)} columns the rules need: {', '.join(absent)}{advice}")
    return {name: names.index(column) for name, column in needed.items()}


def input_of(source: Source, column: int, categories: Categories | None) -> Input:
    """Return a column of a table as the expression reads it."""
    if categories is None or categories.are_numbers:
        refuse_no_numbers(source, column)
    number = source.number(column)
    if categories is None:
        is_text = f"NOT {source.missing(column)} AND {number} IS NULL" if source.kind(column) == "text" else "false"
        return Input(column, number, is_text, "false")
    known: list[Any] = [value for value in categories.values if value is not None]
    if categories.are_numbers:
        numbers = list(map(float, known))
        other = math.nextafter(max(numbers, default=0.0), math.inf)  # a text is like a number that was never seen
        value = f"CASE WHEN NOT {source.missing(column)} THEN coalesce({number}, {as_double(other)}) END"
        literals = list(map(as_double, numbers))
    else:
        value, literals = source.category(column, list(map(str, known))), [as_text(str(each)) for each in known]
    is_known = f"{value} IN ({', '.join(literals)})" if literals else "false"
    return Input(column, value, "false", "false" if categories.others else f"{value} IS NOT NULL AND NOT {is_known}")


def rows_with(source: Source, inputs: Mapping[str, Input]) -> str:
    """Return the SQL of the rows with what the expression reads beside their own columns."""
    inner = ", ".join(f"{one.value} AS {as_name(name)}" for name, one in inputs.items())
    return f"(SELECT *{', ' + inner if inner else ''} FROM {source.relation})"


def refuse_taken(table: str, names: Sequence[str], column: str) -> None:
    """Raise a ColumnError if a table has a column of a name already."""
    if column.casefold() in (name.casefold() for name in names):
        raise ColumnError(f"{table} has a column '{column}' already; choose another name for the new one")
