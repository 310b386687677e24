"""Files that hold several tables: databases of SQLite and DuckDB, workbooks of Excel. One table of them is read.

DuckDB reads its own databases in place. The rows of the others are copied by Python to a file of JSON lines, because
nothing is downloaded and DuckDB brings no reader of them; their types are those of the values.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date, datetime
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boxwood._frames import nearest_name
from boxwood._validation import cut_off, listed
from boxwood.errors import DataError
from boxwood.table._sql import as_name, as_text

if TYPE_CHECKING:
    import duckdb

__all__ = ["attached", "readable", "sheet_rows", "sqlite_rows", "write_rows"]

_Row = Sequence[Any]
_BATCH = 1000  # rows whose types are looked at together
_EMPTY = "NULL"
_TYPES: tuple[tuple[set[type], str], ...] = (
    (set(), _EMPTY),
    ({bool}, "BOOLEAN"),
    ({int}, "BIGINT"),
    ({int, float}, "DOUBLE"),
    ({date, datetime}, "TIMESTAMP"),
)


def attached(con: duckdb.DuckDBPyConnection, path: str, name: str, table: str | None) -> str:
    """Return the SQL of a table or view of a database of DuckDB, which is attached for reading alone."""
    con.execute(f"ATTACH {as_text(path)} AS boxwood_file (READ_ONLY, TYPE duckdb)")
    here = "WHERE database_name = 'boxwood_file' AND NOT internal"
    tables = f"SELECT schema_name, table_name FROM duckdb_tables() {here}"
    views = f"SELECT schema_name, view_name FROM duckdb_views() {here}"
    found = con.execute(f"{tables} UNION ALL {views} ORDER BY ALL").fetchall()
    places = {each if schema == "main" else f"{schema}.{each}": (schema, each) for schema, each in found}
    return ".".join(map(as_name, ("boxwood_file", *places[_chosen(name, table, list(places))])))


def sqlite_rows(path: str, name: str, table: str | None) -> Iterator[_Row]:
    """Yield the names of the columns of a table or view of SQLite, and then its rows."""
    with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True)) as con:
        here = "type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"
        found = con.execute(f"SELECT name FROM sqlite_master WHERE {here} ORDER BY name")
        rows = con.execute(f"SELECT * FROM {as_name(_chosen(name, table, [row[0] for row in found]))}")
        yield [column[0] for column in rows.description]
        yield from rows


def sheet_rows(path: str, name: str, table: str | None) -> Iterator[_Row]:
    """Yield the rows of a sheet of Excel, the first one if none is named; without the empty ones below the last."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataError('Excel files need openpyxl\npip install "boxwood[excel]"') from None
    with closing(load_workbook(path, read_only=True, data_only=True)) as book:
        sheets = [sheet.title for sheet in book.worksheets]
        sheet = book[_chosen(name, table, sheets[:1] if table is None else sheets, "sheet")]
        sheet.reset_dimensions()  # which some programs write wrongly
        n_empty = 0
        for row in sheet.iter_rows(values_only=True):
            if all(value is None for value in row):
                n_empty += 1
                continue
            yield from [()] * n_empty
            n_empty = 0
            yield [_number(value) if type(value) is int else value for value in row]


def _number(value: int) -> int | float:
    """Return a whole number of Excel, which has no more digits than a double."""
    return value if -(1 << 63) <= value < 1 << 63 else float(value)


def _chosen(name: str, table: str | None, tables: Sequence[str], what: str = "table") -> str:
    """Return the table that was asked for, or the only one."""
    if table is None and len(tables) == 1:
        return tables[0]
    if table is not None and table in tables:
        return table
    if not tables:
        raise DataError(f"{name} holds no {what}")
    known = f"{what}s: {listed(tables, 30)}"
    if table is None:
        raise DataError(f"{name} holds {len(tables):,} {what}s; name one of them with --table\n{known}")
    similar = nearest_name(table, list(tables))
    raise DataError(
        f"{name} has no {what} '{cut_off(table)}'{f'; did you mean {similar!r}?' if similar else ''}\n{known}"
    )


# ------------------------------------------------------------------------------------------------ rows of Python


def write_rows(rows: Iterator[_Row], out: str) -> tuple[tuple[str | None, str], ...]:
    """Write rows as JSON lines with the keys c0, c1, …; return the name and DuckDB's type of each column.

    The first row holds the names. A row may be shorter than others; columns at the end without name and value are none.
    """
    names = [None if each is None else str(each) for each in next(rows, ())]
    kinds: list[set[type]] = [set() for _ in names]
    with open(out, "w", encoding="ascii") as file:
        while batch := list(islice(rows, _BATCH)):
            for i, values in enumerate(zip_longest(*batch)):
                if i == len(kinds):
                    kinds.append(set())
                kinds[i].update(map(type, values))
            file.writelines(map(_line, batch))
    columns = [(name, _type_of(held - {type(None)})) for name, held in zip_longest(names, kinds)]
    while columns and columns[-1] == (None, _EMPTY):
        columns.pop()
    return tuple((name, "VARCHAR" if type == _EMPTY else type) for name, type in columns)


def readable(rows: Iterator[_Row], name: str, format: str) -> Iterator[_Row]:
    """Yield the rows of a file; raise a DataError where it cannot be read."""
    try:
        yield from rows
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of a damaged file, openpyxl raises whatever its parsers do
        reason = cut_off(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise DataError(f"cannot read {name} as {format}: {reason}") from None


def _line(row: _Row) -> str:
    held = {f"c{i}": value for i, value in enumerate(row) if value is not None}
    return f"{json.dumps(held, default=_as_text)}\n"


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, date) else str(value)


def _type_of(held: set[type]) -> str:
    """Return the type of a column that holds values of these types; of numbers among texts it is text."""
    return next((type for types, type in _TYPES if held <= types), "VARCHAR")
