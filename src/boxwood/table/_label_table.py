"""`label_table`: the cluster of every row as a new column of a table of DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from boxwood._validation import cut_off
from boxwood.errors import DataError
from boxwood.table._labels import Labelled, refuse_taken
from boxwood.table._source import waited
from boxwood.table._sql import as_name

if TYPE_CHECKING:
    import duckdb

__all__ = ["is_connection", "label_table"]


def label_table(con: duckdb.DuckDBPyConnection, table: str, expression: str, *, column: str = "cluster") -> Labelled:
    """Add a column to a table of DuckDB, computed by SQL; if that fails or is interrupted, the table stays as it was.

    Parameters
    ----------
    con : DuckDB connection
        A transaction that is open stays open, and the column is part of it.
    table : str
        Name of the table; points separate the parts of a name, unless a table is so called.
    expression : str
        SQL of the new column, in terms of the table's columns, such as `render.sql` gives.
    column : str, default="cluster"
        Name of the new column.

    Raises
    ------
    ColumnError
        If the table already has a column of the new name.
    DataError
        If there is no such table, or the expression cannot be computed.
    """
    import duckdb

    name, columns = _described(con, table)
    refuse_taken(f"table {table}", columns, column)
    try:
        kind = con.execute(f"DESCRIBE SELECT ({expression}) AS found FROM {name}").fetchall()[0][1]
        with _transaction(con):
            con.execute(f"ALTER TABLE {name} ADD COLUMN {as_name(column)} {kind}")
            waited(con, lambda: con.execute(f"UPDATE {name} SET {as_name(column)} = ({expression})"))
            counts = con.execute(f"SELECT count(*), count({as_name(column)}) FROM {name}").fetchall()[0]
    except duckdb.Error as error:
        raise DataError(f"cannot add a column to table {table}: {cut_off(str(error), 500)}") from None
    return Labelled(counts[0], counts[0] - counts[1])


def is_connection(value: object) -> bool:
    """Return whether a value is a connection of DuckDB, without importing it."""
    return type(value).__name__ == "DuckDBPyConnection"


def _described(con: duckdb.DuckDBPyConnection, table: str) -> tuple[str, list[str]]:
    """Return the name of a table in SQL, and the names of its columns."""
    import duckdb

    for name in (as_name(table), ".".join(map(as_name, table.split(".")))):
        with suppress(duckdb.Error):
            return name, [str(row[0]) for row in con.execute(f"DESCRIBE {name}").fetchall()]
    raise DataError(f"DuckDB has no table {table}")


@contextmanager
def _transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run a block in a transaction of its own, or in the open one, which its owner ends."""
    import duckdb

    number = "SELECT txid_current()"  # without a transaction, each statement has a number of its own
    if con.execute(number).fetchall() == con.execute(number).fetchall():
        yield
        return
    con.execute("BEGIN TRANSACTION")
    try:
        yield
        con.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):
            con.execute("ROLLBACK")
        raise
