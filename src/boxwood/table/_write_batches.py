"""`write_batches` and `label_table`: the cluster of every row as a new column of a Parquet file or a DuckDB table."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._extras import require
from boxwood._files import replacing
from boxwood._frames import names_array
from boxwood._types import Indices
from boxwood._validation import cut_off
from boxwood.errors import DataError
from boxwood.passes._batches import numbers
from boxwood.passes._source import Source
from boxwood.table._column_names import ColumnError
from boxwood.table._parquet_source import parquet_file
from boxwood.table._paths import as_path, refuse_absent
from boxwood.table._source import Tick, waited
from boxwood.table._sql import as_name
from boxwood.table._write import Labelled, group_rows, output_format
from boxwood.tree import ThresholdTree
from boxwood.tree._walk import values_at_leaves

if TYPE_CHECKING:
    import duckdb

__all__ = ["label_table", "tree_codes", "write_batches"]

_COMPRESSIONS = ("snappy", "gzip", "brotli", "zstd", "lz4")
Codes = Callable[[Any], Indices]


def write_batches(
    source: Source | str | os.PathLike[str],
    codes: Codes,
    names: Sequence[Hashable],
    out: str | os.PathLike[str],
    *,
    column: str = "cluster",
    tick: Tick | None = None,
) -> Labelled:
    """Write a table into a Parquet file, with the name of each row's cluster as its last column.

    The table is streamed, so it may be larger than memory. Other columns, their types and the order of rows stay; of a
    Parquet file, so do metadata, compression and groups of rows, of which large ones are divided. The output is
    written beside `out` and renamed when it is complete: after an error or Ctrl-C, `out` is what it was. It may be the
    file that is read.

    Parameters
    ----------
    source : Source or path
        A source whose rows have an order, or a Parquet file.
    codes : function
        Takes some rows as a pyarrow.Table with all columns and returns the number of the cluster of each, -1 for a row
        that has none; it gets null in the new column. `tree_codes` makes one.
    names : sequence of k hashables
        Names of the clusters. If they are no numbers or texts of one type, they are written as text.
    out : path
        File to write, with the extension .parquet or .pq.
    column : str, default="cluster"
        Name of the new column.
    tick : callable, default=None
        Called for each batch with the share that is done and the number of rows.

    Returns
    -------
    Labelled
        Named tuple: n_rows, n_empty.

    Raises
    ------
    ColumnError
        If the table already has a column of the new name.
    DataError
        If the table cannot be read, or changes while it is read.
    OSError
        If the file cannot be written.
    ValueError
        If `out` has another extension, or the rows of the source have no order.
    """
    pq = require("pyarrow.parquet", "arrow", "writing Parquet in batches")
    import pyarrow as pa

    out = as_path(out)
    if output_format(out) != "FORMAT parquet":
        raise ValueError(f"'{cut_off(out, 500)}' must be a .parquet file, as its rows are written in batches")
    known = _as_arrow(names)
    n_empty = n_done = 0
    with replacing(out) as temporary, _tables(source) as (tables, schema, n_rows, how):
        if column.casefold() in (name.casefold() for name in schema.names):
            raise ColumnError(f"the table has a column '{column}' already; choose another name for the new one")
        schema = schema.append(pa.field(column, known.type))
        with _named(out):
            writer = pq.ParquetWriter(temporary, schema, **_options(how, schema))
        with _closing(writer, out):
            for table in tables:
                found = np.asarray(codes(table))
                missing = found < 0
                labels = known.take(pa.array(found, mask=missing))
                n_empty, n_done = n_empty + int(missing.sum()), n_done + table.num_rows
                whole = pa.Table.from_arrays([*table.columns, labels], schema=schema)
                with _named(out):
                    writer.write_table(whole, row_group_size=max(table.num_rows, 1))
                if tick is not None:
                    tick(n_done / n_rows if n_rows else 0.0, n_done)
    return Labelled(n_done, n_empty)


def tree_codes(tree: ThresholdTree, columns: Sequence[str]) -> Codes:
    """Return the function that gives rows their clusters by a tree; `columns` names the columns that it may test.

    Values are compared as doubles. A row that lacks a value which it is asked for has no cluster.
    """
    tested = np.unique(tree.feature[tree.feature >= 0])
    feature = np.where(tree.feature < 0, -1, np.searchsorted(tested, tree.feature))
    narrow = ThresholdTree(feature, tree.lower, tree.upper, tree.second, tree.cluster)
    names = [columns[j] for j in tested]

    def codes(table: Any) -> Indices:
        values = np.empty((table.num_rows, len(names)))
        for j, name in enumerate(names):
            values[:, j] = numbers(table.column(name).combine_chunks())
        return values_at_leaves(narrow, values, narrow.cluster, -1, nan="none")

    return codes


def label_table(con: duckdb.DuckDBPyConnection, table: str, expression: str, *, column: str = "cluster") -> None:
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
    if column.casefold() in (each.casefold() for each in columns):
        raise ColumnError(f"table {table} has a column '{column}' already; choose another name for the new one")
    try:
        kind = con.execute(f"DESCRIBE SELECT ({expression}) AS found FROM {name}").fetchall()[0][1]
        with _transaction(con):
            con.execute(f"ALTER TABLE {name} ADD COLUMN {as_name(column)} {kind}")
            waited(con, lambda: con.execute(f"UPDATE {name} SET {as_name(column)} = ({expression})"))
    except duckdb.Error as error:
        raise DataError(f"cannot add a column to table {table}: {cut_off(str(error), 500)}") from None


# ----------------------------------------------------------------------------------------------------------- tables


@contextmanager
def _tables(source: Source | str | os.PathLike[str]) -> Iterator[tuple[Iterator[Any], Any, int | None, Any]]:
    """Yield tables of some rows each, their schema, the number of all rows if known, and the first group's metadata."""
    import pyarrow as pa

    if isinstance(source, Source):
        if not hasattr(source, "batches"):
            raise ValueError(f"the rows of {source.name} have no order, so they cannot be written in batches")
        batches = (batch for batch, _ in source.batches(source.names))
        first = next(batches, None)
        if first is None:
            raise DataError(f"{source.name} has no rows")
        tables = (pa.Table.from_batches([batch]) for each in ((first,), batches) for batch in each)
        yield tables, first.schema, source.n_rows, None
        return
    path = as_path(source)
    refuse_absent(path)
    found = parquet_file(path)
    with found.opened() as file:
        tables = (pa.Table.from_batches([batch]) for batch in found.read(_groups(file)))
        metadata = file.metadata
        yield tables, found.schema, found.n_rows, metadata.row_group(0) if metadata.num_row_groups else None


def _groups(file: Any) -> Iterator[Any]:
    """Yield the groups of rows of a Parquet file as batches, large ones in parts."""
    most = group_rows(file.metadata.num_columns)
    for group in range(file.metadata.num_row_groups):
        yield from file.iter_batches(most, row_groups=[group])


def _options(group: Any, schema: Any) -> dict[str, Any]:
    """Return how columns are compressed, as in a group of rows of the file that is read; the last column is new.

    A dictionary of values is made where there is one that saves room: to look for equal values takes as long as to
    write them.
    """
    import pyarrow as pa

    if group is None:
        others = [field.name for field in schema if not pa.types.is_floating(field.type)]
        return {"compression": "snappy", "use_dictionary": [*others, schema.names[-1]]}
    chunks = [group.column(j) for j in range(group.num_columns)]
    kinds = {chunk.path_in_schema: chunk.compression.lower() for chunk in chunks}
    compression = {path: kind if kind in _COMPRESSIONS else "none" for path, kind in kinds.items()}
    widths = {"FLOAT": 4, "DOUBLE": 8}
    saved = [
        chunk.path_in_schema
        for chunk in chunks
        if chunk.has_dictionary_page
        and chunk.total_uncompressed_size < 0.7 * widths.get(chunk.physical_type, math.inf) * chunk.num_values
    ]
    return {"compression": compression | {schema.names[-1]: "snappy"}, "use_dictionary": [*saved, schema.names[-1]]}


def _as_arrow(names: Sequence[Hashable]) -> Any:
    """Return the names as an Arrow array of numbers or text."""
    import pyarrow as pa

    array = names_array(names)
    return pa.array(array if array.dtype.kind in "iufb" else [str(name) for name in names])


@contextmanager
def _closing(writer: Any, out: str) -> Iterator[None]:
    """Close a writer at the end; after an error, an error of closing it is of no interest."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
    with _named(out):
        writer.close()


@contextmanager
def _named(out: str) -> Iterator[None]:
    """Name the file that cannot be written."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]
        raise OSError(f"cannot write {out}: {reason}; is the disk full?") from None


# ---------------------------------------------------------------------------------------------------------- DuckDB


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
