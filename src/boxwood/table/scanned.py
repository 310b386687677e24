"""`scan`: a table that may be larger than memory, read in batches as often as a tree needs it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

from boxwood._frames import column_names, is_frame
from boxwood._imports import require
from boxwood._texts import MARKS
from boxwood._validation import cut_off, is_on_machines, refuse_other_kind, show_value
from boxwood.batches.source import ArrowSource, Source, kind_of_type
from boxwood.batches.texts import look_by_pass, look_in_order, read_texts_in_batches
from boxwood.errors import DataError
from boxwood.table.connect import Tick
from boxwood.table.formats import FORMATS, format_of, refuse_other_options
from boxwood.table.memory import file_in_memory, why_in_batches
from boxwood.table.options import (
    ALL_COLUMNS,
    DEFAULTS,
    ReadOptions,
    Wanted,
    as_bytes,
    as_path,
    distinct_names,
    find_columns,
    find_files,
    is_query,
    refuse_no_options,
)
from boxwood.table.parquet import (
    ParquetFile,
    ParquetSource,
    can_be_read_in_place,
    parquet_file,
    refuse_changed,
    shared_types,
    stamp_of,
)
from boxwood.table.spark import SparkSource, quote_name


def scan(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    memory_limit: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    table: str | None = None,
) -> Source:
    """Return a table that is read in batches, and so may be larger than memory.

    Pass what it returns wherever rows are expected. Parquet is read in place. Any other file, a query and a reader that
    can be read once are written into a temporary Parquet file, which is removed when the source is closed or garbage;
    the source's `notes` say so. Values are those of the table in memory: texts of dates are dates, texts of numbers in
    files are numbers, decimal commas are recognised, and a folder named `year=2024` is no column. Frames, relations,
    queries and readers have types that somebody chose, so texts of digits alone may be codes, and stay text, while
    others that are plain numbers are read as such. `explain` reads tables of up to 2 ** 23 values into memory
    where it makes the clusters, or a column has labels, and a longer file, if it fits, as the command does. It draws
    rows from longer tables where it makes the clusters, and where rules need words or gaps.

    Parameters
    ----------
    source : path, SQL, relation, frame or reader
        The table:

        - a path of a Parquet, CSV, TSV, JSON-lines or Arrow file, of a database of SQLite or DuckDB, of a workbook of
          Excel, of a folder of Parquet files, or a pattern of such files, as `data/*.parquet`. Files are read in the
          order of their names;
        - SQL for DuckDB: a text that begins with SELECT, WITH or FROM and a space;
        - a relation of DuckDB;
        - a pyarrow.Table, or a data frame of pandas or polars. It stays in memory;
        - a data frame of Spark or Dask, which its own workers read;
        - a reader of Arrow batches, or anything else with `__arrow_c_stream__`.
    columns : sequence of str, default=None
        Columns to read, among them that of the labels; None is all columns.
    memory_limit : str, default=None
        Memory that DuckDB may take, and that batches may take together, such as "1GB"; None leaves DuckDB its own limit
        and bounds a batch by its number of columns. Not for frames.
    header : bool, default=None
        Of a CSV file: whether its first line holds names; None takes it for names, unless it is numbers
        alone above numbers alone: then it is a row, with a note, and columns are called `column 1`, `column 2`, …
    encoding : str, default=None
        Of a CSV file: the encoding of its text, by any name that Python knows. None reads UTF-16 and UTF-32 that begin
        with their mark, UTF-8, and else cp1252, with a note, if no byte speaks against it.
    table : str, default=None
        Of a database or a workbook: the table, view or sheet to read. None is the only table, or the first sheet.

    Returns
    -------
    Source
        It has `names`, `kinds` and `n_rows`; `notes`, lines on how the table is read; `readings`, what each pass has
        read; `tick`, which can be set to a function that gets the share and the number of rows of a pass; and
        `close`, which `with` calls.

    Raises
    ------
    DataError
        If there is no such file or column, files have different columns, or a file cannot be read.
    ImportError
        If pyarrow is missing.
    OSError
        If a temporary file cannot be written.
    TypeError
        If the source is none of these, or a frame has a memory_limit, or what is no file a header, an encoding or a
        table.
    ValueError
        If the encoding is unknown.

    Notes
    -----
    A batch has 65 536 rows for up to 20 columns, and fewer for more; there are no more batches in memory than threads.
    A file that changes between passes is an error. What a killed process left is removed by the next one.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("name;age;height\\nAda;36;1,65\\nAlan;41;1,80\\n")
    >>> with scan(f"SELECT * FROM read_csv('{path}') WHERE age > 40") as table:
    ...     print(table)
    ParquetSource(the query: name, age, height, 1 rows)
    >>> table = scan(path, columns=["age", "height"])
    >>> table.names, table.kinds, table.n_rows
    (('age', 'height'), ('number', 'number'), 2)
    >>> table.close()
    """
    require("pyarrow", "arrow", "boxwood.scan")
    limit = as_bytes(memory_limit)
    wanted = None if columns is None else _as_names(columns)
    if isinstance(source, Source):
        if any(each is not None for each in (columns, memory_limit, header, encoding, table)):
            raise TypeError("the source has been scanned; give columns and memory_limit to the first call of scan")
        return source
    if isinstance(source, (str, os.PathLike)) and not (isinstance(source, str) and is_query(source)):
        options = ReadOptions(header=header, encoding=encoding, table=table)
        found = scan_file(source, options, columns=wanted, memory_limit=limit)
        path = as_path(source)
        if wanted is None and os.path.isfile(path) and why_in_batches(path, None, limit) is None:
            found.as_held = partial(_read_again, path, options, stamp_of(path))
        return found
    if any(each is not None for each in (header, encoding, table)):
        raise TypeError(f"header, encoding and table are for files; got {show_value(source)}")
    if isinstance(source, str):
        return scan_query(source, wanted, limit)
    if is_relation(source):
        return _of_relation(source, wanted, limit)
    if memory_limit is not None and (is_frame(source) or is_on_machines(source)):
        where = "is in memory already" if is_frame(source) else "is read by the workers of its own engine"
        raise TypeError(f"memory_limit is for tables that this process reads in batches; a frame {where}")
    if is_frame(source):
        return _of_frame(source, wanted)
    if is_on_machines(source):
        return on_machines(_with_columns(source, wanted))
    if hasattr(source, "__arrow_c_stream__"):
        return _of_reader(source, wanted, limit)
    raise TypeError(
        "boxwood.scan takes a path, SQL that begins with SELECT, WITH or FROM, a DuckDB relation, a data frame or a "
        f"reader of Arrow batches; got {show_value(source)}"
    )


def _read_again(path: str, options: ReadOptions, stamp: tuple[int, int]) -> Source:
    """Return a file that was scanned as one in memory; IN: stamp: that of the file when it was scanned."""
    refuse_changed(path, path, stamp)
    return file_in_memory(path, options)


def as_source(X: Any) -> Source | None:
    """Return a source as it is, and what stands for one as a source; None for anything else, such as rows in memory.

    A relation of DuckDB is read once, into a temporary file; see `scan`.
    """
    if isinstance(X, Source):
        return X
    if is_relation(X):
        return scan(X)
    return on_machines(X) if is_on_machines(X) else None


def is_source(X: Any) -> bool:
    """Return whether `as_source` makes a source of something; nothing is read or imported to find out."""
    return isinstance(X, Source) or is_relation(X) or is_on_machines(X)


def is_relation(X: Any) -> bool:
    """Return whether `X` is a relation of DuckDB."""
    return type(X).__name__ == "DuckDBPyRelation" and type(X).__module__.split(".")[0] in ("duckdb", "_duckdb")


def on_machines(frame: Any) -> Source:
    """Return a data frame of Spark or Dask as a source; takes a pass over its columns of text, if there are any."""
    if hasattr(frame, "mapInArrow"):
        return read_texts_in_batches(SparkSource(frame), look_by_pass)
    from boxwood.table._dask import DaskSource

    return read_texts_in_batches(DaskSource(frame), look_by_pass)


def scan_file(
    path: str | os.PathLike[str],
    options: ReadOptions = DEFAULTS,
    *,
    columns: Sequence[str] | None = None,
    wanted: Wanted = ALL_COLUMNS,
    memory_limit: int | None = None,
    tick: Tick | None = None,
) -> Source:
    """Return a file, a folder or the files of a pattern as a source; those `columns` of it, or all of them.

    Raises
    ------
    ColumnError
        If it lacks a column that is wanted, before it is read as a whole.
    """
    refuse_no_options(options)
    where = as_path(path)
    if not where or "\0" in where:
        raise DataError(f"no such file: {show_value(where)}")
    found = find_files(where)
    format = format_of(found[0], options.format)
    source = _of_files(
        found, where, options._replace(format=format), _WantedColumns(columns, wanted), memory_limit, tick
    )
    source.marks = MARKS
    source.missing_words = MARKS if FORMATS[format].is_text else ()
    return source


def _of_files(
    found: Sequence[str],
    path: str,
    options: ReadOptions,
    choose: _WantedColumns,
    memory_limit: int | None,
    tick: Tick | None,
) -> ParquetSource:
    if options.format != "parquet":
        from boxwood.table._spill import spilled_file

        return _with_rows(spilled_file(found[0], options, choose, choose.used_of, memory_limit, tick))
    refuse_other_options(path, "parquet", options)
    return _of_parquet([parquet_file(each) for each in found], path, choose, memory_limit, tick)


def scan_query(sql: str, columns: Sequence[str] | None, memory_limit: int | None) -> Source:
    """Return the rows of a query of DuckDB as a source."""
    from boxwood.table._spill import spilled_rows

    return _read_texts(spilled_rows(sql, _WantedColumns(columns), memory_limit))


class _WantedColumns:
    """Finds the wanted columns among those of a table, or takes all of them."""

    def __init__(self, wanted: Sequence[str] | None, used: Wanted = ALL_COLUMNS) -> None:
        self.wanted, self.used = wanted, used

    def __call__(self, names: Sequence[str]) -> list[int]:
        self.used.among(names)
        return list(range(len(names))) if self.wanted is None else find_columns(self.wanted, names)

    def used_of(self, names: Sequence[str]) -> list[int]:
        """Return the columns that are not excluded, with those of labels and weights."""
        chosen = self.used.among(names)
        return [*chosen.columns, *(i for i in chosen[2:] if i is not None)]


# ------------------------------------------------------------------------------------------------------- arguments


def _as_names(columns: Sequence[str]) -> list[str]:
    if isinstance(columns, str):
        raise TypeError(
            f"columns must be a list of names, got the text {show_value(columns)}; write [{show_value(columns)}]"
        )
    try:
        names = list(dict.fromkeys(columns))
    except TypeError:
        raise TypeError(f"columns must be a list of names, got {show_value(columns)}") from None
    for name in names:
        refuse_other_kind("the name of a column", name, str, "names are text")
    if not names:
        raise ValueError("columns must name a column at least; None is all columns")
    return names


# ----------------------------------------------------------------------------------------------------------- files


def _of_parquet(
    files: Sequence[ParquetFile], path: str, choose: _WantedColumns, memory_limit: int | None, tick: Tick | None
) -> ParquetSource:
    from boxwood.table._spill import Texts, spilled_parquet, texts_of

    all_names = distinct_names(files[0].schema.names)
    chosen = choose(all_names)
    names = [all_names[i] for i in chosen]
    types = shared_types(files, names, all_columns=choose.wanted is None)
    if sum(file.n_rows for file in files) == 0:
        raise DataError(f"{path} has column names but no rows")
    texts = [i for i, type in zip(chosen, types, strict=True) if kind_of_type(type) == "text"]
    in_place = can_be_read_in_place(files, names, all_names)
    looked_at = texts_of(files, path, texts) if in_place and texts else Texts(False, {})
    if not in_place or looked_at.are_others:
        return _with_rows(spilled_parquet(files, path, chosen, memory_limit, tick))
    return _with_rows(ParquetSource(files, names, name=path, memory_limit=memory_limit), looked_at.kinds)


# ---------------------------------------------------------------------------------------------------- other tables


def _of_relation(relation: Any, wanted: Sequence[str] | None, memory_limit: int | None) -> Source:
    from boxwood.table._spill import spilled_relation

    return _read_texts(spilled_relation(relation, _WantedColumns(wanted), memory_limit))


def _of_reader(reader: Any, wanted: Sequence[str] | None, memory_limit: int | None) -> Source:
    import pyarrow as pa

    from boxwood.table._spill import spilled_batches

    try:
        batches = reader if isinstance(reader, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(reader)
    except pa.ArrowInvalid as error:  # such as a series
        raise TypeError(f"a {type(reader).__name__} gives no batches of a table: {cut_off(str(error))}") from None
    return _read_texts(spilled_batches(batches, "the reader", _WantedColumns(wanted), memory_limit))


def _of_frame(frame: Any, wanted: Sequence[str] | None) -> Source:
    import pyarrow as pa

    names = column_names(frame)
    chosen = _WantedColumns(wanted)(names)
    try:
        if isinstance(frame, pa.Table):
            table = frame.select(chosen)
        elif type(frame).__module__.startswith("pandas"):
            table = pa.Table.from_pandas(frame.iloc[:, chosen], preserve_index=False)
        else:
            import narwhals as nw

            table = nw.from_native(frame, eager_only=True)[:, chosen].to_arrow()
    except pa.ArrowException as error:
        raise DataError(f"a column of the frame is not a column of Arrow: {cut_off(str(error))}") from None
    return _read_texts(ArrowSource(table.rename_columns([names[i] for i in chosen]), name="the frame"))


def _with_columns(frame: Any, wanted: Sequence[str] | None) -> Any:
    """Return a data frame of Spark or Dask with the wanted columns; names may hold dots."""
    names = column_names(frame)
    chosen = [names[i] for i in _WantedColumns(wanted)(names)]
    if wanted is None:
        return frame
    is_spark = hasattr(frame, "mapInArrow")
    return frame.select(*map(quote_name, chosen)) if is_spark else frame[chosen]


S = TypeVar("S", ParquetSource, ArrowSource)


def _read_texts(source: S) -> Source:
    """Return a table with types that somebody chose; dates and numbers among its texts are read as these."""
    return read_texts_in_batches(_with_rows(source), look_in_order)


def _with_rows(source: S, known: Mapping[str, str] = MappingProxyType({})) -> S:
    """Return a source that knows which columns are without any value; raise a DataError if it has no rows.

    IN: known: kinds of columns of text that hold no words.
    """
    if source.n_rows == 0:
        source.close()
        raise DataError(f"{source.name} has column names but no rows")
    may_be: Sequence[str] = _empty_in(source, source.names, most=1)
    empty = dict.fromkeys(_empty_in(source, may_be), "empty") if may_be else {}
    kinds = zip(source.names, source.kinds, strict=True)
    source.kinds = tuple({**known, **empty}.get(name, kind) for name, kind in kinds)
    return source


def _empty_in(source: ParquetSource | ArrowSource, names: Sequence[str], most: int | None = None) -> Sequence[str]:
    """Return the columns without a value in the first batches, or in all of them."""
    import pyarrow.compute as pc

    for batch, _ in islice(source.batches(names), most):
        names = [name for name in names if pc.all(batch.column(name).is_null(nan_is_null=True)).as_py()]
        if not names:
            break
    return names
