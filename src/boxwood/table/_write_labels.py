"""`label_rows`: the cluster of every row as a new column, whatever the table is and whatever is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

from boxwood._extras import require
from boxwood._files import temporary_folder
from boxwood._validation import cut_off
from boxwood.passes._source import Source
from boxwood.table._formats import format_of
from boxwood.table._labels import Labelled, Rules
from boxwood.table._parquet_files import is_kept_by_arrow, opened_files, refuse_other_columns
from boxwood.table._parquet_source import ParquetFile, parquet_file
from boxwood.table._paths import as_path, find_files
from boxwood.table._query import QUERY, Query, query_table
from boxwood.table._source import Tick, connected
from boxwood.table._spill import told_of_disk
from boxwood.table._sql import as_name, as_text
from boxwood.table._write import output_format, write_labelled, write_source
from boxwood.table._write_batches import of_files, of_source, write_batches

__all__ = ["label_rows"]


def label_rows(
    table: Source | Query | str | os.PathLike[str],
    out: str | os.PathLike[str],
    rules: Rules,
    /,
    *,
    column: str = "cluster",
    tick: Tick | None = None,
    tell: Callable[[str], None] | None = None,
    **reading: Any,
) -> Labelled:
    """Write a table with one more column, computed by SQL. Rows and other columns keep their values and order.

    Parquet is copied group by group, see `write_batches`, other tables by DuckDB, see `write_labelled`. The rows of a
    query are written into a temporary file first, as it may give others the next time.

    Parameters
    ----------
    table : path, Query or Source
        A file, a folder or a pattern of Parquet files, a query of DuckDB, or a source whose rows have an order.
    out : path
        File to write; the extension decides the format. Of a source it must be Parquet.
    rules : Rules
        What the new column is.
    column : str, default="cluster"
        Its name.
    tick, tell : callables, default=None
        Told how far it is, and how a file is read; see `write_labelled`.
    reading
        How a file is read: format, header and so on, as `read_table` takes them.
    """
    out = as_path(out)
    to_parquet = output_format(out) == "FORMAT parquet"
    if isinstance(table, Source):
        if not to_parquet:
            raise ValueError(f"'{cut_off(out, 500)}' must be a .parquet file, as the rows of {table.name} are batches")
        with of_source(table) as rows:
            return write_batches(rows, rules, out, column=column, tick=tick)
    with _parquet_files(table, **reading) as found:
        if found is None:
            assert not isinstance(table, Query)
            given: dict[str, Any] = rules._asdict()
            return write_labelled(as_path(table), out, **given, column=column, tick=tick, tell=tell, **reading)
        if to_parquet and all(map(is_kept_by_arrow, found.files)):
            with of_files(found.files, found.name) as rows:
                return write_batches(rows, rules, out, column=column, tick=tick)
        with opened_files(found.files, found.name, range(len(found.files[0].schema))) as source:
            return write_source(source, out, rules, column=column, tick=tick)


class _Files(NamedTuple):
    """Parquet files of the same columns, and what they are together."""

    files: Sequence[ParquetFile]
    name: str


@contextmanager
def _parquet_files(
    table: Query | str | os.PathLike[str], /, *, format: str | None = None, **reading: Any
) -> Iterator[_Files | None]:
    """Yield the Parquet files that a table stands for; None for one file that DuckDB reads by itself."""
    if isinstance(table, Query):
        with _written(table.sql) as file:
            yield _Files([file], QUERY)
        return
    path = as_path(table)
    paths = find_files(path)
    plain = _is_plain(**reading) and all(os.path.isfile(each) and os.path.getsize(each) for each in paths)
    if len(paths) == 1 and not (
        plain and find_spec("pyarrow") is not None and format_of(paths[0], format) == "parquet"
    ):
        yield None  # it may be standard input or empty, or DuckDB must say what is wrong
        return
    require("pyarrow.parquet", "arrow", "labelling several files")
    files = [parquet_file(each) for each in paths]
    for file in files[1:]:
        refuse_other_columns(files[0], file, files[0].schema.names, all_columns=True)
    yield _Files(files, path)


def _is_plain(header: bool = True, **others: Any) -> bool:
    return header and not any(others.values())


@contextmanager
def _written(sql: str) -> Iterator[ParquetFile]:
    """Yield the rows of a query in a temporary file."""
    require("pyarrow.parquet", "arrow", "labelling the rows of a query")
    with temporary_folder() as folder:
        path = os.path.join(folder, "rows.parquet")
        with connected() as (con, workspace):
            rows = query_table(con, workspace, sql)
            selected = ", ".join(f"c{i} AS {as_name(name)}" for i, name in enumerate(rows.names))
            with told_of_disk():
                rows.fetch(f"COPY (SELECT {selected} FROM {rows.relation}) TO {as_text(path)} (FORMAT parquet)")
        yield parquet_file(path, QUERY)
