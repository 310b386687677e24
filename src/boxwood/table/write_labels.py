"""`label_rows`: the cluster of every row as a new column, whatever the table is and whatever is written."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from boxwood._files import replacing, temporary_folder
from boxwood._imports import require
from boxwood._messages import as_cell
from boxwood._validation import cut_off, refuse_other_kind, show_value
from boxwood.batches.source import Source
from boxwood.batches.texts import TextsRead
from boxwood.errors import DataError
from boxwood.table._spill import told_of_disk
from boxwood.table.columns import learn_styles, refuse_doubtful, refuse_text
from boxwood.table.connect import Tick, open_duckdb
from boxwood.table.duck import QUERY, DuckTable, Query, group_rows, is_nested, open_table, query_table
from boxwood.table.formats import format_of
from boxwood.table.labels import (
    BatchLabeller,
    Input,
    Labelled,
    Rules,
    Unseen,
    inputs_of,
    positions_of,
    refuse_taken,
    rows_with,
)
from boxwood.table.options import (
    DEFAULTS,
    ColumnError,
    ReadOptions,
    as_path,
    distinct_names,
    find_columns,
    find_files,
    refuse_no_options,
    suggestion,
)
from boxwood.table.parquet import (
    ParquetFile,
    ParquetSource,
    is_kept_by_arrow,
    opened_files,
    parquet_file,
    refuse_changed,
    refuse_unwritable,
    shared_types,
)
from boxwood.table.sql import as_name, sql_text

OUTPUTS = {
    ".csv": "FORMAT csv",
    ".tsv": "FORMAT csv, DELIMITER '\t'",
    ".parquet": "FORMAT parquet",
    ".pq": "FORMAT parquet",
    ".jsonl": "FORMAT json",
    ".ndjson": "FORMAT json",
}
"""DuckDB's options for a file to write, by extension; `.gz` may follow csv, tsv and jsonl."""


_IN_PLACE = "USE_TMP_FILE false"  # the file is a temporary one already


def label_rows(
    table: Source | Query | str | os.PathLike[str],
    out: str | os.PathLike[str],
    rules: Rules,
    /,
    options: ReadOptions = DEFAULTS,
    *,
    column: str = "cluster",
    tick: Tick | None = None,
    tell: Callable[[str], None] | None = None,
) -> Labelled:
    """Write a table with one more column, computed by SQL. Rows and other columns keep their values and order.

    Rows are streamed, so a table may be larger than memory. There are two sinks. From Parquet to Parquet, groups of
    rows are copied as they are, see `write_batches`; otherwise DuckDB writes the rows, see `write_source`. The rows of
    a query are written into a temporary file first, as it may give others the next time. The output is written beside
    `out` and renamed when it is complete: after an error or Ctrl-C, `out` is what it was.

    Parameters
    ----------
    table : path, Query or Source
        A file, `-` for standard input, a folder or a pattern of Parquet files, a query of DuckDB, or a source whose
        rows have an order. A source that is a copy of a file is that file: what the copy has not is in the output.
    out : path
        File to write; the extension decides the format. Of a source it must be Parquet.
    rules : Rules
        What the new column is.
    options : ReadOptions
        How a file is read. A new table of CSV is UTF-8 and has a line of names in any case.
    column : str, default="cluster"
        Name of the new column.
    tick : callable, default=None
        Called now and then with the fraction that is done, and with the number of rows when that is known.
    tell : callable, default=None
        Called with lines on how a file is read.

    Returns
    -------
    Labelled
        Named tuple: n_rows, n_empty, unseen.
    """
    rules.refuse_other_kinds()
    refuse_no_options(options)
    refuse_other_kind("column", column, str, "name the new column")
    out = as_path(out)
    to_parquet, names = output_format(out) == OUTPUTS[".parquet"], None
    if isinstance(table, Source):
        table = table.source if isinstance(table, TextsRead) else table  # whose texts stay texts in what is written
        if not to_parquet:
            raise ValueError(f"'{cut_off(out, 500)}' must be a .parquet file, as the rows of {table.name} are batches")
        if not isinstance(table, ParquetSource) or table.file is None:
            with of_source(table) as rows:
                return write_batches(rows, rules, out, column=column, tick=tick)
        positions_of(table.name, table.file.names or [*rules.needed.values()], rules.needed)
        refuse_changed(table.file.path, table.name, table.file.stamp)
        table, options, names, _ = table.file
    with _parquet_files(table, options) as found:
        if found is not None and to_parquet and all(map(is_kept_by_arrow, found.files)):
            with of_files(found.files, found.name) as rows:
                return write_batches(rows, rules, out, column=column, tick=tick)
        with _open_for_labels(table, out, rules, options) if found is None else opened_files(*found) as source:
            if tell is not None:
                for hint in source.hints:
                    tell(hint)
            return write_source(source, out, rules, column=column, names=names, tick=tick)


def output_format(out: str) -> str:
    """Return DuckDB's options for writing a file of this name.

    Raises
    ------
    ValueError
        If files of this extension cannot be written.
    """
    out = as_path(out)
    name = out.lower()
    plain = name.removesuffix(".gz")
    extension = os.path.splitext(plain)[1]
    if extension not in OUTPUTS or (plain != name and "parquet" in OUTPUTS[extension]):
        similar = suggestion(extension, list(OUTPUTS))
        raise ValueError(
            f"'{cut_off(out, 500)}': unknown extension{similar or ';'} known: {' '.join(OUTPUTS)} .csv.gz .jsonl.gz"
        )
    return OUTPUTS[extension]


def is_csv(out: Any) -> bool:
    """Return whether a file is written as CSV or TSV, which people open in a spreadsheet."""
    return isinstance(out, (str, os.PathLike)) and as_path(out).lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def _open_for_labels(
    table: Any, out: str, rules: Rules, options: ReadOptions, beside: Collection[str] = ()
) -> AbstractContextManager[DuckTable]:
    """Open a file; for CSV, its texts stay as they are, and elsewhere numbers are numbers, but for those `beside`."""
    as_written = output_format(out) != OUTPUTS[".parquet"]
    # DuckDB reads points as decimal ones
    texts = {*beside, *(rules.texts if options.decimal is None else rules.needed.values())}
    return open_table(as_path(table), options, text=is_csv(out), texts=texts, all_rows=True, as_written=as_written)


@contextmanager
def opened_to_count(
    table: Query | str, rules: Rules, options: ReadOptions, labels: Collection[str]
) -> Iterator[DuckTable]:
    """Open the table that `label_rows` would write, to count its rows: without those that are titles or totals."""
    with (
        _parquet_files(table, options) as found,
        _open_for_labels(table, "counted.parquet", rules, options, labels)
        if found is None
        else opened_files(*found) as source,
    ):
        yield source.rows_alone()


class _Files(NamedTuple):
    """Parquet files of the same columns, what they are together, and the places of their columns."""

    files: Sequence[ParquetFile]
    name: str
    columns: Sequence[int]

    @classmethod
    def of(cls, files: Sequence[ParquetFile], name: str) -> _Files:
        return cls(files, name, range(len(files[0].schema)))


@contextmanager
def _parquet_files(table: Query | str | os.PathLike[str], options: ReadOptions) -> Iterator[_Files | None]:
    """Yield the Parquet files that a table stands for; None for one file that DuckDB reads by itself."""
    if isinstance(table, Query):
        with _write_query(table.sql) as file:
            yield _Files.of([file], QUERY)
        return
    path = as_path(table)
    paths = find_files(path)
    is_plain = options._replace(format=None) == DEFAULTS and all(
        os.path.isfile(each) and os.path.getsize(each) for each in paths
    )
    if len(paths) == 1 and not (
        is_plain and find_spec("pyarrow") is not None and format_of(paths[0], options.format) == "parquet"
    ):
        yield None  # it may be standard input or empty, or DuckDB must say what is wrong
        return
    require("pyarrow.parquet", "arrow", "labelling several files")
    files = [parquet_file(each) for each in paths]
    shared_types(files, distinct_names(files[0].schema.names), all_columns=True)
    yield _Files.of(files, path)


@contextmanager
def _write_query(sql: str) -> Iterator[ParquetFile]:
    """Yield the rows of a query in a temporary file."""
    require("pyarrow.parquet", "arrow", "labelling the rows of a query")
    with temporary_folder() as folder:
        path = os.path.join(folder, "rows.parquet")
        with open_duckdb() as (con, workspace):
            rows = query_table(con, workspace, sql)
            selected = ", ".join(f"c{i} AS {as_name(name)}" for i, name in enumerate(rows.names))
            with told_of_disk():
                rows.fetch(f"COPY (SELECT {selected} FROM {rows.relation}) TO {sql_text(path)} (FORMAT parquet)")
        yield parquet_file(path, QUERY)


T = TypeVar("T")
_COMPRESSIONS = ("snappy", "gzip", "brotli", "zstd", "lz4")


class RowsInOrder(NamedTuple):
    """Rows in their order, which are read once.

    Parameters
    ----------
    name : str
        Name of the table in messages.
    schema : pyarrow.Schema
        Names and types of the columns, with the metadata of the table.
    n_rows : int, or None
        Number of rows, if it is known.
    tables : iterator
        The rows as tables of Arrow, of some rows each.
    group : metadata of a group of rows of a Parquet file, or None
        Says how columns are compressed; the new file does the same.
    """

    name: str
    schema: Any
    n_rows: int | None
    tables: Iterator[Any]
    group: Any = None


@contextmanager
def of_files(files: Sequence[ParquetFile], name: str) -> Iterator[RowsInOrder]:
    """Yield the rows of Parquet files by their groups, large ones in parts; the first file says what the new one is."""
    import pyarrow as pa

    together = ParquetSource(files, files[0].schema.names, name=name) if len(files) > 1 else None
    schema = files[0].schema if together is None else _with_types(files[0].schema, together)
    with files[0].opened() as first:
        group = first.metadata.row_group(0) if first.metadata.num_row_groups else None

    def tables() -> Generator[Any, None, None]:
        for file in files:
            with file.opened() as opened:
                for batch in file.read(_groups(opened)):
                    if together is not None:
                        arrays = [file.cast(batch.column(field.name), field.type, field.name) for field in schema]
                        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
                    yield pa.Table.from_batches([batch])

    rows = tables()
    try:
        yield RowsInOrder(name, schema, sum(file.n_rows for file in files), rows, group)
    finally:
        rows.close()


def _with_types(schema: Any, together: ParquetSource) -> Any:
    """Return a schema with types that hold the values of all files."""
    for i, name in enumerate(schema.names):
        schema = schema.set(i, schema.field(i).with_type(together.type_of(name)))
    return schema


def _groups(file: Any) -> Iterator[Any]:
    most = group_rows(file.metadata.num_columns)
    for group in range(file.metadata.num_row_groups):
        yield from file.iter_batches(most, row_groups=[group])


@contextmanager
def of_source(source: Source) -> Iterator[RowsInOrder]:
    """Yield the rows of a source.

    Raises
    ------
    DataError
        If they have no order, as those of a frame of Spark, or there are none.
    """
    import pyarrow as pa

    if not hasattr(source, "batches"):
        raise DataError(f"the rows of {source.name} have no order\npredict gives its frame with one more column")
    batches = (batch for batch, _ in source.batches(source.names))
    first = next(batches, None)
    if first is None:
        raise DataError(f"{source.name} has no rows")
    tables = (pa.Table.from_batches([batch]) for each in ((first,), batches) for batch in each)
    try:
        yield RowsInOrder(source.name, first.schema, source.n_rows, tables)
    finally:
        batches.close()


def write_batches(
    rows: RowsInOrder, rules: Rules, out: str, *, column: str = "cluster", tick: Tick | None = None
) -> Labelled:
    """Write rows into a Parquet file, with their cluster as the last column.

    Rows are streamed, so they may be larger than memory. Other columns, their types and the order of rows stay; of a
    Parquet file, so do metadata, compression and groups of rows, of which large ones are divided. The output is
    written beside `out` and renamed when it is complete: after an error or Ctrl-C, `out` is what it was. It may be the
    file that is read.

    Parameters
    ----------
    rows : RowsInOrder
    rules : Rules
        What the new column is.
    out : str
        File to write.
    column : str, default="cluster"
        Name of the new column.
    tick : callable, default=None
        Called for each table with the share that is done and the number of rows.

    Raises
    ------
    ColumnError
        If the table already has a column of the new name.
    DataError
        If the table cannot be read, changes while it is read, lacks a column, or has text where a number must be.
    OSError
        If the file cannot be written.
    """
    pq = require("pyarrow.parquet", "arrow", "writing Parquet in batches")
    import pyarrow as pa

    refuse_taken(rows.name, rows.schema.names, column)
    refuse_unwritable(rows.schema, rows.schema.names)
    with BatchLabeller.opened(rows.name, rows.schema, rules) as labeller, replacing(out) as temporary:
        schema = rows.schema.append(pa.field(column, labeller.type))
        with _name_output(out):
            writer = pq.ParquetWriter(temporary, schema, **_options(rows.group, schema))
        with _closing(writer, out):
            for table, labels in _ahead(rows.tables, labeller.labels):
                whole = pa.Table.from_arrays([*table.columns, labels], schema=schema)
                with _name_output(out):
                    writer.write_table(whole, row_group_size=max(table.num_rows, 1))
                if tick is not None:
                    tick(labeller.n_rows / rows.n_rows if rows.n_rows else 0.0, labeller.n_rows)
    return labeller.done()


def _ahead(things: Iterator[Any], work: Callable[[Any], T]) -> Iterator[tuple[Any, T]]:
    """Yield each thing with what is made of it; the next one is read and made while the caller uses this one."""

    busy, has_ended = Lock(), False

    def next_one() -> tuple[Any, T] | None:
        with busy:
            thing = None if has_ended else next(things, None)
            return None if thing is None else (thing, work(thing))

    try:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(next_one)
            while (found := waiting.result()) is not None:
                waiting = pool.submit(next_one)
                yield found
    finally:
        with busy:  # the pool does not wait for a thread whose start was interrupted
            has_ended = True


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


@contextmanager
def _closing(writer: Any, out: str) -> Iterator[None]:
    """Close a writer at the end; after an error, an error of closing it is of no interest."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
    with _name_output(out):
        writer.close()


@contextmanager
def _name_output(out: str) -> Iterator[None]:
    """Name the file that cannot be written."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error).splitlines()[0].removeprefix("cannot write: ")
        raise OSError(f"cannot write {out}: {reason}; is the disk full?") from None


# ------------------------------------------------------------------------------------------------------ by DuckDB
def write_source(
    source: DuckTable,
    out: str,
    rules: Rules,
    *,
    column: str,
    names: Sequence[str] | None = None,
    tick: Tick | None = None,
) -> Labelled:
    """Write an open table with one more column, by DuckDB, which streams it; see `label_rows`.

    Rows and other columns keep their values and order; from CSV to CSV, texts are written as they were read.

    IN: names: the columns to write, None for all.

    Raises
    ------
    ColumnError
        If the table already has a column of the new name, or, for files other than CSV, names that differ in case only.
    DataError
        If the table cannot be read, lacks a column, or has text in a column that must be numbers.
    """
    target = output_format(out)
    to_csv = is_csv(out)
    names = source.names if names is None else names
    refuse_taken(source.name, names, column)
    if not to_csv:
        _refuse_twins(names, out)
    labelled = check_rows(source.rows_alone(), rules, tick and (lambda share: tick(share / 2)))
    inputs = inputs_of(source, rules)
    rows, expression = rows_with(source.numbered, inputs), _of_rows(source, _with_dates(rules, inputs), inputs)
    labelled = _with_others(source, labelled, rows, expression)
    second = tick and (lambda share: tick(0.5 + share / 2, labelled.n_rows))
    with replacing(out) as temporary:
        new = _columns(source, names, expression, as_cell(column) if to_csv else column, to_csv)
        packing = ", COMPRESSION gzip" if out.lower().endswith(".gz") else ""
        n_rows = group_rows(len(source.names) + 1)
        groups = f", ROW_GROUP_SIZE {n_rows}" if target == OUTPUTS[".parquet"] else ""
        options = f"{target}{new.header}{packing}{groups}, {_IN_PLACE}"
        with _name_output(out):
            source.copy(new.columns, temporary, options, second, rows=rows, above=new.above)
    return labelled


def _with_dates(rules: Rules, inputs: Mapping[str, Input]) -> str:
    """Return the SQL of the new column, which is NULL where a date cannot be read: nothing is known of that row."""
    unread = " OR ".join(one.is_text for one in inputs.values() if one.are_dates)
    return f"CASE WHEN NOT ({unread}) THEN ({rules.expression}) END" if unread else rules.expression


def _of_rows(source: DuckTable, expression: str, inputs: Mapping[str, Input]) -> str:
    """Return the SQL of the new column, which is NULL for what is no row, and for what may be none and has texts."""
    texts = " OR ".join(one.is_text for one in inputs.values()) or "false"
    doubtful = f"({source.may_be_none}) AND ({texts})" if source.may_be_none else ""
    others = " OR ".join(filter(None, (source.not_a_row, doubtful)))
    return f"CASE WHEN NOT coalesce({others}, false) THEN ({expression}) END" if others else expression


def _with_others(source: DuckTable, labelled: Labelled, rows: str, expression: str) -> Labelled:
    """Return the counts with what is, or may be, no row: it is written, too."""
    if not source.others:
        return labelled
    counts = f"count(*), count(*) FILTER (({expression}) IS NULL)"
    n_rows, n_empty = source.fetch_lean(f"SELECT {counts} FROM {rows} WHERE {source.others}")[0]
    return labelled._replace(n_rows=labelled.n_rows + n_rows, n_empty=labelled.n_empty + n_empty)


def _refuse_twins(names: Sequence[str], out: str) -> None:
    """Raise a ColumnError if names of columns differ in case only: DuckDB would write one of them with a number."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            twins = f"columns {show_value(other)} and {show_value(name)} differ in case only"
            remedy = "write a .csv file, which keeps them, or rename them"
            raise ColumnError(f"{twins}, which {os.path.basename(out)} cannot hold\n{remedy}")


def check_rows(source: DuckTable, rules: Rules, tick: Tick | None) -> Labelled:
    """Return the counts of a table, from one pass, or more if numbers are not written plainly.

    Raises
    ------
    DataError
        If a column has text that must be a number.
    """
    named = inputs_of(source, rules)
    inputs, rows = list(named.values()), rows_with(source.relation, named)
    tests = [one.is_text for one in inputs] + [one.is_unseen for one in inputs]
    queries = ["count(*)", f"count(*) FILTER (({_with_dates(rules, named)}) IS NULL)"]
    queries += [f"count(*) FILTER ({test})" for test in tests]
    queries += [f"min({source.text(one.column)}) FILTER ({one.is_unseen} OR {one.is_text})" for one in inputs]
    n_rows, n_empty, *found = source.fetch_lean(f"SELECT {', '.join(queries)} FROM {rows}", tick)[0]
    texts, unseen, examples = (found[i * len(inputs) : (i + 1) * len(inputs)] for i in range(3))
    odd = [one.column for one, *counts in zip(inputs, texts, unseen, strict=True) if any(counts)]
    if learn_styles(source, odd):
        return check_rows(source, rules, tick)
    for one, n_texts in zip(inputs, texts, strict=True):
        if n_texts and not (one.are_dates and _most_are_read(source, one.column, n_texts)):
            refuse_text(source, one.column, n_rows, one.must_be)
    refuse_doubtful(source, [one.column for one in inputs if one.must_be == "numbers"])
    counts = zip(inputs, texts, unseen, examples, strict=True)
    told = (Unseen(source.names[one.column], n + m, example, one.are_dates) for one, n, m, example in counts if n + m)
    return Labelled(n_rows, n_empty, tuple(told))


def _most_are_read(source: DuckTable, column: int, n_unread: int) -> bool:
    """Return whether at least half of the values of a column can be read, so that the others are single mistakes."""
    filled = f"count(*) FILTER (NOT {source.missing(column)})"
    return 2 * n_unread <= int(source.fetch(f"SELECT {filled} FROM {source.relation}")[0][0])


def _as_text_of_csv(source: DuckTable, i: int) -> str:
    """Return SQL of a column for CSV: values with others inside are JSON, and texts of JSON lose their quotes."""
    if is_nested(source.types[i]):
        return f"CAST(to_json(c{i}) AS VARCHAR)"
    return source.text(i) if source.types[i] == "JSON" else f"c{i}"


class _WrittenColumns(NamedTuple):
    """The columns to write, in SQL by their names, SQL of a row above them, and DuckDB's option for a line of names."""

    columns: dict[str, str]
    header: str
    above: str = ""


def _columns(source: DuckTable, names: Sequence[str], expression: str, column: str, to_csv: bool) -> _WrittenColumns:
    """Return some columns of a table with the new one.

    DuckDB renames a column if its name differs from another's in case only. In a CSV file, the names are then written
    as the first row instead; other files are refused.
    """
    places = find_columns(names, source.names)
    own = (_as_text_of_csv(source, i) if to_csv else f"c{i}" for i in places)
    names = [*names, column]
    values = [*own, f"({expression})"]
    if not to_csv or len({name.casefold() for name in names}) == len(names):
        return _WrittenColumns(dict(zip(names, values, strict=True)), ", HEADER true" if to_csv else "")
    first = f"SELECT {', '.join(sql_text(name) for name in names)} UNION ALL "
    texts = {f"t{i}": f"CAST({value} AS VARCHAR)" for i, value in enumerate(values)}
    return _WrittenColumns(texts, ", HEADER false", first)
