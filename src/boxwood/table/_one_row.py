"""`read_row`: one row of a file, read as `write_labelled` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boxwood._validation import shown
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.table._labels import input_of, positions_of
from boxwood.table._source import Tick, open_source
from boxwood.table._texts import learn_styles

__all__ = ["read_row"]


def read_row(
    path: str,
    row: int,
    columns: Mapping[str, Categories | None],
    *,
    tick: Tick | None = None,
    **reading: Any,
) -> dict[str, Any]:
    """Return the values of a row by the names of its columns: numbers, texts of categories, None for missing ones.

    Parameters
    ----------
    path : str
        Table to read, or `-` for standard input.
    row : int
        Number of the row in the file, from 1.
    columns : mapping from name to Categories or None
        Columns to read; None for columns of numbers.
    tick : callable, default=None
        Called now and then with the fraction that is done.
    reading
        How the table is read: format, header and so on, as `read_table` takes them.

    Raises
    ------
    DataError
        If the table cannot be read, lacks a column or the row, or has text where a number must be.
    """
    decimal = reading.get("decimal")
    texts = [name for name, values in columns.items() if decimal or (values is not None and not values.are_numbers)]
    with open_source(path, text=False, texts=texts, **reading) as source:
        positions = positions_of(source.name, source.names, {name: name for name in columns})
        learn_styles(source, list(positions.values()))
        inputs = [input_of(source, j, columns[name]) for name, j in positions.items()]
        wanted = [f"{one.value}, {one.is_text}, {source.text(one.column)}" for one in inputs] or ["1"]
        query = f"SELECT {', '.join(wanted)} FROM {source.relation} LIMIT 1 OFFSET {row - 1}"
        found = source.fetch(query, tick)
        if not found:
            n_rows = source.fetch(f"SELECT count(*) FROM {source.relation}", tick)[0][0]
            raise DataError(f"{source.name} has {n_rows:,} rows, so there is no row {row:,}")
        values: dict[str, Any] = {}
        for i, name in enumerate(columns):
            value, is_text, text = found[0][3 * i : 3 * i + 3]
            if is_text:
                raise DataError(f"column '{name}' must be numbers, but {source.name} has {shown(text)} in row {row:,}")
            values[name] = value
        return values
