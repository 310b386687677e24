"""The formats of tables that can be read, and files that hold several tables.

To add one, write a function that returns a `Relation`, and give it an entry in `FORMATS`::

    "orc": Format((".orc",), _orc),

Two lists for users repeat the names, the option `--format` and the docstring of `ReadOptions`; a test compares them.

DuckDB reads its own databases in place. Files of Arrow are copied to Parquet. The rows of the others are copied by
Python to a file of JSON lines, because nothing is downloaded and DuckDB brings no reader of them; their types are those
of the values.
"""

from __future__ import annotations

import base64
import codecs
import io
import json
import os
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._frames import nearest_name, stated_order
from boxwood._imports import MissingExtraError, require
from boxwood._messages import cut_off, show_value
from boxwood._validation import list_words
from boxwood.errors import DataError
from boxwood.table.connect import open_duckdb, wait_for
from boxwood.table.csv import (
    csv_relation,
    detect_dialect,
    encoding_of,
    explain_message,
    header_hints,
    hints_on_names,
    is_utf8,
    line_ends,
    texts_of_numbers,
    utf8_copy,
    with_one_end,
)
from boxwood.table.heads import NoRow, rows_told
from boxwood.table.options import DEFAULTS, ReadOptions, compression_of, distinct_names
from boxwood.table.sheet import (
    UNCALCULATED,
    Uncalculated,
    opened_book,
    rows_of_sheet,
    visible_sheets,
    without_empty_columns,
)
from boxwood.table.sql import ONE_FILE, as_name, as_pattern, sql_text

if TYPE_CHECKING:
    import duckdb


class File(NamedTuple):
    """A table to read.

    Parameters
    ----------
    path : str
    name : str
        Name of the file in messages.
    workspace : str
        Folder for temporary files.
    text_columns : collection of str, or None
        Of CSV: names of the columns that stay text while others become numbers; None keeps all columns as text.
    options : ReadOptions
        How it is read.
    columns : tuple of (place, name, type), default=()
        Of rows that Python has copied: their columns.
    uncalculated : mapping from place to int, default={}
        Of a sheet: how many cells of its columns hold formulas without a value.
    hints : tuple of str, default=()
        Lines for the reader on what was made of it before DuckDB reads it.
    line_end : str, default=""
        Of CSV: how lines end, where that is to be told.
    all_rows : bool, default=False
        Of CSV and Excel: whether lines below the names of columns that are no rows, such as totals, are read, too.
    as_written : bool, default=False
        Of JSON and rows that Python copies: whether numbers of a column with fractions, and values with others inside,
        are read as the JSON that they are, so that whole numbers stay whole, however large.
    is_marked : bool, default=False
        Of rows that Python has copied: whether those that are none are marked.
    memory_limit : int, default=None
        Of DuckDB: bytes that a view may take.
    """

    path: str
    name: str
    workspace: str
    text_columns: Collection[str] | None
    options: ReadOptions = DEFAULTS
    columns: tuple[tuple[int, str | None, str], ...] = ()
    uncalculated: Mapping[int, int] = MappingProxyType({})
    hints: tuple[str, ...] = ()
    line_end: str = ""
    all_rows: bool = False
    as_written: bool = False
    is_marked: bool = False
    memory_limit: int | None = None


class Relation(NamedTuple):
    """A table in SQL, and the names of its columns as the file spells them; no names if DuckDB's are the same.

    Of CSV: also its delimiter, and lines for the reader on how it was read. Of CSV and Excel: SQL for whether a line
    that is read is not a row, and whether it may be none, see `DuckTable`. Of Excel: `uncalculated`, how many cells of
    some columns, by their positions, hold formulas without a value. Of Parquet: `durations`, the positions of columns
    that hold lengths of time, for which Parquet has no type. Of Parquet and Arrow: `zones`, the time zones of columns,
    by their positions, which DuckDB does not keep, and `orders`, the values of columns whose type has an order. Of
    JSON: `keys`, a query for the names as they are spelled, in any order, because DuckDB renames those that differ in
    case only; and `typed`, which gives the SQL that reads columns as these types.
    """

    sql: str
    names: tuple[str | None, ...] = ()
    delimiter: str | None = None
    hints: tuple[str, ...] = ()
    durations: frozenset[int] = frozenset()
    zones: Mapping[int, str] = MappingProxyType({})
    orders: Mapping[int, Sequence[Hashable]] = MappingProxyType({})
    keys: str | None = None
    typed: Callable[[Mapping[str, str]], str] | None = None
    not_a_row: str = ""
    may_be_none: str = ""
    uncalculated: Mapping[int, int] = MappingProxyType({})


class Format(NamedTuple):
    """How tables of one format are read.

    Parameters
    ----------
    extensions : tuple of str
        Extensions of such files; `.gz` may follow where DuckDB can unpack the format.
    relation : callable of a DuckDB connection and a File
        Returns the Relation, and raises a DataError or an error of DuckDB for a file that is not of the format.
    is_text : bool, default=False
        Whether all values are text, so that a missing value is an empty text or a mark such as NA.
    prepared : callable of a File, default=None
        Returns the File that DuckDB can read, a copy in the workspace perhaps. It runs in the calling thread, so that
        Ctrl-C ends it at once.
    """

    extensions: tuple[str, ...]
    relation: Callable[[duckdb.DuckDBPyConnection, File], Relation]
    is_text: bool = False
    prepared: Callable[[File], File] = lambda file: file


def format_of(path: str, name: str | None = None) -> str:
    """Return the name of the format of a table: `name`, or by the extension of `path`; standard input is CSV.

    Raises
    ------
    DataError
        If the extension is unknown.
    """
    if name is not None:
        return name
    if path == "-":
        return "csv"
    by_extension = {extension: name for name, format in FORMATS.items() for extension in format.extensions}
    extension = os.path.splitext(path.removesuffix(".gz"))[1]
    if extension.lower() not in by_extension:
        _refuse_packed(path, path)
        known = ", ".join(sorted(by_extension))
        wrong = f"'{extension}'" if extension else "a name without extension"
        may_be = "jsonl" if extension.lower() == ".json" else "csv"
        named = f", or name its format: --format {may_be}" if _may_be_text(path) else ""
        remedy = f"known: {known}\nsave it as .csv or .xlsx{named}"
        raise DataError(f"cannot tell the format of {path} from {wrong}\n{remedy}")
    found = by_extension[extension.lower()]
    return _beginning(path) or found if extension.lower() == ".db" else found


def refuse_other_format(file: File, format: str) -> None:
    """Raise a DataError if a file that would be read as text begins as one of another format does."""
    if format in _BEGINNINGS:
        return
    _refuse_packed(file.path, file.name)
    other = _beginning(file.path)
    if other is not None:
        raise DataError(f"{file.name} is {other}, not {format}; name its format: --format {other}")


def _refuse_packed(path: str, name: str) -> None:
    """Raise a DataError if a file is packed in another way than by gzip, or holds several files."""
    with open(path, "rb") if os.path.isfile(path) else io.BytesIO() as opened:
        beginning = opened.read(512)
    plain = name.lower().removesuffix(".gz")
    for extension, (mark, at, command) in _PACKINGS.items():
        if plain.endswith(extension) if mark is None else beginning.startswith(mark, at):
            known = "of packed files, .gz alone is read as it is"
            raise DataError(f"{name} is packed ({extension[1:]})\nunpack it first: {command} {name}; {known}")


_PACKINGS = {
    ".zst": (b"\x28\xb5\x2f\xfd", 0, "zstd -d"),
    ".xz": (b"\xfd7zXZ\0", 0, "xz -d"),
    ".bz2": (b"1AY&SY", 4, "bzip2 -d"),
    ".lz4": (b"\x04\x22\x4d\x18", 0, "lz4 -d"),
    ".Z": (b"\x1f\x9d", 0, "gunzip"),
    ".7z": (b"7z\xbc\xaf\x27\x1c", 0, "7z x"),
    ".rar": (b"Rar!\x1a\x07", 0, "unrar x"),
    ".br": (None, 0, "brotli -d"),
    ".tar": (None, 0, "tar -xf"),
    ".tgz": (None, 0, "tar -xf"),
    ".zip": (None, 0, "unzip"),
}
"""First bytes of packed files, where they stand, and what unpacks them; those without are known by their names."""


def _may_be_text(path: str) -> bool:
    """Return whether a file may be text, by its first bytes: text has no byte 0, but for UTF-16, UTF-32 and gzip."""
    with open(path, "rb") if os.path.isfile(path) else io.BytesIO() as opened:
        first = opened.read(1 << 12)
    return b"\0" not in first or first.startswith(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"\0\0\xfe\xff", b"\x1f\x8b")
    )


def _beginning(path: str) -> str | None:
    """Return the format that holds no text and whose files begin as this one does, or None."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as opened:
        beginning = opened.read(32)
    return next((each for each, (mark, at) in _BEGINNINGS.items() if beginning.startswith(mark, at)), None)


_BEGINNINGS = {
    "parquet": (b"PAR1", 0),
    "arrow": (b"ARROW1", 0),
    "sqlite": (b"SQLite format 3\0", 0),
    "duckdb": (b"DUCK", 8),
    "xlsx": (b"PK\3\4", 0),
}
"""First bytes of files that hold no text, and where they stand."""


def refuse_other_options(name: str, format: str, options: ReadOptions) -> None:
    """Raise a DataError if options of reading are not for a format; `name` is that of the file."""
    _, header, decimal, encoding, table = options
    if not FORMATS[format].is_text and not (header is not False and decimal is None and encoding is None):
        raise DataError(f"{name} is {format}; --no-header, --decimal and --encoding are for csv and tsv")
    if table is not None and format not in _WITH_TABLES:
        raise DataError(f"{name} is {format}; --table is for {', '.join(_WITH_TABLES)}")


_WITH_TABLES = ("sqlite", "duckdb", "xlsx")


def unreadable(name: str, format: str, message: str) -> DataError | MemoryError:
    """Return the error for a file that is not of its format, from the message of the library that reads it.

    If the message says that the system gave no memory, the file is not at fault.
    """
    if "bad allocation" in message:
        return MemoryError(message.splitlines()[0])
    reason = explain_message(message)
    if reason is None:
        line = message.splitlines()[0].split("Error: ", 1)[-1].strip()
        reason = cut_off(line.replace('"', "'").replace(os.path.abspath(name), name))
    return DataError(f"cannot read {name} as {format}: {reason}")


def error_of_query(name: str, format: str, error: Exception) -> Exception:
    """Return the error for a file from that of a query of DuckDB: it needs memory or disk, or the file is at fault."""
    import duckdb

    message = str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return MemoryError(message.splitlines()[0])
    if isinstance(error, duckdb.IOException) and _WRITING.search(message):
        return OSError(f"cannot write: {_reason(message)}\nis the disk full?")
    return unreadable(name, format, message)


_WRITING = re.compile(r"\b(write|writing|flush|No space left|File too large)\b", re.IGNORECASE)
"""Words of DuckDB's errors if a file cannot be written; nothing is written where a table is read."""


def _reason(message: str) -> str:
    """Return the system's reason, if DuckDB's message on a failed write has its number, and else its first line."""
    number = re.search(r'"errno":"(\d+)"', message)
    return os.strerror(int(number[1])) if number else message.splitlines()[0]


# --------------------------------------------------------------------------------------------- relations by format
def _csv(con: duckdb.DuckDBPyConnection, file: File, delimiter: str | None = None) -> Relation:
    compression = compression_of(file.path)
    how = (delimiter, file.workspace, file.options.header, file.line_end)
    dialect = detect_dialect(con, file.path, compression, *how, all_rows=file.all_rows)
    texts = [i for i, name in enumerate(distinct_names(dialect.names)) if name in (file.text_columns or ())]
    if file.all_rows and file.text_columns is not None:
        texts = sorted({*texts, *texts_of_numbers(con, dialect)})
    sql = csv_relation(dialect, text=file.text_columns is None, texts=texts)
    hints = header_hints(dialect)
    not_a_row, may_be_none = dialect.sql_of(dialect.no_rows), dialect.sql_of(dialect.may_be_rows)
    return Relation(sql, dialect.names, dialect.delimiter, hints, not_a_row=not_a_row, may_be_none=may_be_none)


def _as_text_file(file: File) -> File:
    """Return a file in UTF-8 whose lines end alike: itself, or a copy."""
    file = _in_utf8(file)
    compression = compression_of(file.path)
    try:
        ends = line_ends(file.path, compression, file.name)
    except (OSError, EOFError, zlib.error):
        return file  # DuckDB says what is wrong when it reads the file
    if ends <= {b"\n"} or ends == {b"\r\n"}:
        return file._replace(line_end="".join(end.decode() for end in ends))
    return file._replace(path=with_one_end(file.path, compression, file.workspace, file.name), line_end="\n")


def _in_utf8(file: File) -> File:
    """Return a file in UTF-8: itself, or a copy."""
    compression = compression_of(file.path)
    encoding = file.options.encoding or encoding_of(file.path, compression, file.name)
    if is_utf8(encoding):
        return file
    copy = utf8_copy(file.path, compression, encoding, file.workspace, file.name)
    hints = (
        () if file.options.encoding else (f"read as {encoding}; if that is wrong, name the encoding with --encoding",)
    )
    return file._replace(path=copy, hints=hints)


def _parquet(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    path = as_pattern(file.path)
    schema = con.execute(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({path})").fetchall()
    names, inner = [], 0  # fields are listed depth first; those inside another are not columns
    for name, children in schema[1:]:
        if inner == 0:
            names.append(name)
        inner += children - (inner > 0)
    types = _types_of_arrow(con, path)
    durations = frozenset(i for i, type in enumerate(types) if str(type).startswith("duration"))
    sql, orders = f"read_parquet({path}, {ONE_FILE})", _orders(types, partial(_first, file.path))
    return Relation(sql, tuple(names), durations=durations, zones=_zones(types), orders=orders)


def _first(path: str, column: int) -> Any:
    """Return the first value of a column of a Parquet file, as an array of Arrow; None if there is none."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        batch = next(file.iter_batches(1, columns=[file.schema_arrow.names[column]]), None)
    return None if batch is None else batch.column(0)


def _orders(types: Sequence[Any], first: Callable[[int], Any]) -> dict[int, Sequence[Hashable]]:
    """Return the values of columns of ordered types of Arrow, by their places; IN: first: reads some of a column."""
    ordered = [i for i, type in enumerate(types) if getattr(type, "ordered", False)]
    return {i: order for i in ordered if (order := stated_order(first(i)))}


def _zones(types: Sequence[Any]) -> dict[int, str]:
    """Return the time zones among types of Arrow, by their places."""
    return {i: zone for i, type in enumerate(types) if (zone := getattr(type, "tz", None))}


def _types_of_arrow(con: duckdb.DuckDBPyConnection, path: str) -> Sequence[Any]:
    """Return the types of columns by the schema that Arrow leaves in a Parquet file; none without it, or pyarrow."""
    query = f"SELECT value FROM parquet_kv_metadata({path}) WHERE key = 'ARROW:schema'::BLOB"
    encoded = con.execute(query).fetchone()
    try:
        import pyarrow
    except ImportError:
        return ()
    if encoded is None:
        return ()
    try:
        types: Sequence[Any] = pyarrow.ipc.read_schema(pyarrow.py_buffer(base64.b64decode(encoded[0]))).types
    except (pyarrow.ArrowException, ValueError):  # the note of a program; the table itself can be read without it
        return ()
    return types


def _arrow(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    """Read the copy in Parquet; lengths of time, for which that has no type, are as in the file."""
    import pyarrow

    copy = file._replace(path=_copy_of(file))
    with pyarrow.memory_map(file.path) as opened, pyarrow.ipc.open_file(opened) as batches:
        names, types = tuple(batches.schema.names), batches.schema.types
        orders = _orders(types, lambda i: batches.get_batch(0).column(i) if batches.num_record_batches else None)
    found = _parquet(con, copy)._replace(names=names, zones=_zones(types), orders=orders, durations=frozenset())
    lengths = {i: type.unit for i, type in enumerate(types) if pyarrow.types.is_duration(type)}
    if not lengths:
        return found
    columns = [f"c{i}" for i in range(len(types))]
    values = [_DURATIONS[lengths[i]].format(column) if i in lengths else column for i, column in enumerate(columns)]
    return found._replace(sql=f"(SELECT {', '.join(values)} FROM {found.sql} AS t({', '.join(columns)}))")


_DURATIONS = {
    "s": "to_seconds({})",
    "ms": "to_milliseconds({})",
    "us": "to_microseconds({})",
    "ns": "to_microseconds({} // 1000)",
}
"""The length of time in SQL that a whole number is, by its unit."""


def _copied_to_parquet(file: File) -> File:
    """Copy a file of Arrow: a query of DuckDB that ends while Arrow still reads batches ahead may crash."""
    pyarrow = require("pyarrow", "arrow", "reading an Arrow file")
    writer_of = require("pyarrow.parquet", "arrow", "reading an Arrow file").ParquetWriter
    try:
        with pyarrow.memory_map(file.path) as opened, pyarrow.ipc.open_file(opened) as batches:
            others = [field.name for field in batches.schema if not pyarrow.types.is_floating(field.type)]
            how = {"use_dictionary": others, "write_statistics": False}
            with writer_of(_copy_of(file), batches.schema, **how) as writer:
                for rows in _tables_of(batches):
                    writer.write_table(rows)
    except pyarrow.ArrowNotImplementedError as error:
        lacking = str(error).split(": ")[-1]
        raise unreadable(file.name, "arrow", f"Parquet, to which it is copied, lacks the type {lacking}") from None
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # the disk is full, say
            raise
        raise unreadable(file.name, "arrow", str(error).split(": ")[-1]) from None
    return file


def _copy_of(file: File) -> str:
    return os.path.join(file.workspace, "arrow.parquet")


def _tables_of(batches: Any) -> Iterator[Any]:
    """Yield the batches of a file of Arrow as tables of many rows, or few if they have many columns."""
    import pyarrow

    waiting, n_values = [], 0
    for i in range(batches.num_record_batches):
        waiting.append(batches.get_batch(i))
        n_values += waiting[-1].num_rows * max(waiting[-1].num_columns, 1)
        if n_values >= _VALUES or i == batches.num_record_batches - 1:
            yield pyarrow.Table.from_batches(waiting)
            waiting, n_values = [], 0


_VALUES = 1 << 22  # of a group of rows of a copy


def _json_lines(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    compression = compression_of(file.path)
    lines = f"{as_pattern(file.path)}, format='newline_delimited', compression='{compression}'"
    keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM read_json_objects({lines}, {ONE_FILE})"

    def typed(types: Mapping[str, str]) -> str:
        columns = ", ".join(f"{sql_text(name)}: {sql_text(type)}" for name, type in types.items())
        return f"read_json({lines}, records=true, columns={{{columns}}}, {ONE_FILE})"

    return Relation(f"read_json({lines}, records=true, sample_size=-1, {ONE_FILE})", keys=keys, typed=typed)


def _duckdb(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    con.execute(f"ATTACH {sql_text(file.path)} AS {_DATABASE} (READ_ONLY, TYPE duckdb)")
    return Relation(_place_in(con, file)[0])


def _with_rows_stored(file: File) -> File:
    """Return a database with the rows in a table: itself, or a copy of what a view or generated columns compute.

    They would give rows in another order, or other rows, each time. They are SQL of whoever made the file, which runs
    once, where no other file can be read.
    """
    import duckdb

    with open_duckdb() as (con, _):
        copy = os.path.join(file.workspace, "rows.duckdb")
        try:
            return wait_for(con, lambda: _copy_computed(con, file, copy))  # type: ignore[no-any-return]
        except duckdb.Error as error:
            raise _of_sealed(error_of_query(file.name, "duckdb", error), error) from None


def _copy_computed(con: duckdb.DuckDBPyConnection, file: File, copy: str) -> File:
    con.execute(f"ATTACH {sql_text(file.path)} AS {_DATABASE} (READ_ONLY, TYPE duckdb)")
    con.execute(f"ATTACH {sql_text(copy)} AS copied")
    con.execute("SET enable_external_access = false")
    place, is_stored = _place_in(con, file)
    if is_stored:
        return file
    if file.memory_limit is not None:
        con.execute(f"SET memory_limit = '{file.memory_limit} bytes'")
    con.execute(f"CREATE TABLE copied.rows AS SELECT * FROM {place}")
    return file._replace(path=copy, options=file.options._replace(table="rows"))


def _of_sealed(error: Exception, cause: Exception) -> Exception:
    """Return an error with what to do, if its cause is that a view reads other files."""
    if not isinstance(error, DataError) or _NO_ACCESS not in str(cause):
        return error
    return DataError(f"{error}\na view may read its own database alone; if you trust it, run its SELECT by --sql")


_NO_ACCESS = "disabled by configuration"  # DuckDB's words


def _rows_copied(
    file: File,
    format: str,
    rows: Callable[[str, str, str | None, list[str]], Iterator[Sequence[Any]]],
    *,
    is_sheet: bool = False,
) -> File:
    """Return a copy of rows of Python; of a sheet, that people write, without titles."""
    copy, hints = os.path.join(file.workspace, "rows.jsonl"), list[str]()
    found = readable(rows(file.path, file.name, file.options.table, hints), file.name, format)
    if is_sheet:
        found = rows_told(found, hints, all_rows=file.all_rows)
    columns, counts = write_rows(found, copy, hints, as_written=file.as_written, is_exact=file.all_rows)
    if not columns:
        raise DataError("\n".join([f"{file.name} {_NO_COLUMNS}", *hints]))
    if is_sheet:
        hints += hints_on_names([name for _, name, _ in columns])
    file = file._replace(path=copy, columns=columns, hints=(*file.hints, *hints))
    return file._replace(uncalculated=counts, is_marked=is_sheet and file.all_rows)


def _rows(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    mark = [f"'{_NO_ROW}': 'BOOLEAN'"] if file.is_marked else []
    types = ", ".join([*(f"'c{i}': '{type}'" for i, _, type in file.columns), *mark])
    options = f"format='newline_delimited', records=true, compression='uncompressed', columns={{{types}}}, {ONE_FILE}"
    names, at = tuple(name for _, name, _ in file.columns), [i for i, _, _ in file.columns]
    counts = {at.index(i): n for i, n in file.uncalculated.items()}
    relation = Relation(f"read_json({as_pattern(file.path)}, {options})", names, uncalculated=counts)
    if not file.is_marked:
        return relation
    return relation._replace(not_a_row=f"{_NO_ROW} IS TRUE", may_be_none=f"{_NO_ROW} IS FALSE")


def _place_in(con: duckdb.DuckDBPyConnection, file: File) -> tuple[str, bool]:
    """Return the SQL of a table or view of a database that is attached, and whether its rows are stored as they are."""
    here = f"WHERE database_name = '{_DATABASE}' AND NOT internal"
    is_stored = "sql NOT ILIKE '%GENERATED ALWAYS%'"
    tables = f"SELECT schema_name, table_name, {is_stored} FROM duckdb_tables() {here}"
    views = f"SELECT schema_name, view_name, false FROM duckdb_views() {here}"
    found = con.execute(f"{tables} UNION ALL {views} ORDER BY ALL").fetchall()
    places = {
        each if schema == "main" else f"{schema}.{each}": (schema, each, stored) for schema, each, stored in found
    }
    schema, each, stored = places[_choose_table(file.name, file.options.table, list(places))]
    return ".".join(map(as_name, (_DATABASE, schema, each))), stored


_DATABASE = "boxwood_file"


def _choose_table(name: str, table: str | None, tables: Sequence[str], what: str = "table") -> str:
    """Return the table that was asked for, or the only one."""
    if table is None and len(tables) == 1:
        return tables[0]
    if table is not None and table in tables:
        return table
    if not tables:
        raise DataError(f"{name} holds no {what}")
    known = f"{what}s: {list_words(tables, 30)}"
    if table is None:
        raise DataError(f"{name} holds {len(tables):,} {what}s; name one of them with --table\n{known}")
    similar = nearest_name(table, list(tables))
    raise DataError(
        f"{name} has no {what} '{cut_off(table)}'{f'; did you mean {similar!r}?' if similar else ''}\n{known}"
    )


# ------------------------------------------------------------------------------------------------ rows of Python
def write_rows(
    rows: Iterator[_Row], out: str, hints: list[str], *, as_written: bool = False, is_exact: bool = False
) -> tuple[tuple[tuple[int, str | None, str], ...], dict[int, int]]:
    """Write rows as JSON lines with the keys c0, c1, …; return the place, name and DuckDB's type of each column.

    The first row holds the names. A row may be shorter than others; columns at the end without name and value are none.
    IN: as_written: see `File`; is_exact: whether all digits of whole numbers shall stay. Beside them comes how many
    cells of columns hold formulas without a value.
    """
    names = [None if each is None else str(each) for each in next(rows, ())]
    kinds: list[set[type]] = [set() for _ in names]
    counts = Counter[int]()
    with open(out, "w", encoding="ascii") as file:
        while batch := list(islice(rows, _BATCH)):
            for i, values in enumerate(zip_longest(*batch)):
                if i == len(kinds):
                    kinds.append(set())
                held = set(map(type, values))
                if Uncalculated in held:
                    counts[i] += values.count(UNCALCULATED)
                if int in held and not all(abs(value) <= _EXACT for value in values if type(value) is int):
                    held.add(_FarInt)
                kinds[i] |= held
            file.writelines(map(_line, batch))
    how = {"as_written": as_written, "is_exact": is_exact}
    columns = [(name, _type_of(held - {type(None)}, **how)) for name, held in zip_longest(names, kinds)]
    return tuple(without_empty_columns(columns, hints)), dict(counts)


def _line(row: _Row) -> str:
    held = {f"c{i}": value for i, value in enumerate(row) if value is not None and value is not UNCALCULATED}
    if isinstance(row, NoRow):
        held[_NO_ROW] = row.is_sure
    return f"{json.dumps(held, default=_as_text)}\n"


_NO_COLUMNS = "has no columns; column names must be in its first row"
_Row = Sequence[Any]
_NO_ROW = "no_row"


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, date) else str(value)


def _type_of(held: set[type], *, as_written: bool, is_exact: bool) -> str | None:
    """Return the type of a column that holds values of these types; None if there are none.

    Of numbers among texts it is text, and so it is where all digits of numbers shall stay, and no other type has them.
    """
    if not held:
        return None
    held = held - {Uncalculated}
    if {int, float} <= held <= {int, float, _FarInt} and (as_written or (is_exact and _FarInt in held)):
        return "JSON" if as_written else "VARCHAR"
    return next((type for types, type in _TYPES if held and held <= types), "VARCHAR")


class _FarInt(int):
    """Stands for whole numbers that doubles do not tell apart."""


_EXACT = 1 << 53
_TYPES: tuple[tuple[set[type], str], ...] = (
    ({bool}, "BOOLEAN"),
    ({int, _FarInt}, "BIGINT"),
    ({int, float, _FarInt}, "DOUBLE"),
    ({date, datetime}, "TIMESTAMP"),
)


_BATCH = 1000  # rows whose types are looked at together


def readable(rows: Iterator[_Row], name: str, format: str) -> Iterator[_Row]:
    """Yield the rows of a file; raise a DataError where it cannot be read."""
    try:
        yield from rows
    except (DataError, MissingExtraError, MemoryError):
        raise
    except Exception as error:  # of a damaged file, openpyxl raises whatever its parsers do
        reason = cut_off(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise DataError(f"cannot read {name} as {format}: {reason}") from None


def sqlite_rows(path: str, name: str, table: str | None, hints: list[str]) -> Iterator[_Row]:
    """Yield the names of the columns of a table or view of SQLite, and then its rows; nothing is hinted at."""
    with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True)) as con:
        here = "type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"
        found = con.execute(f"SELECT name FROM sqlite_master WHERE {here} ORDER BY name")
        rows = con.execute(f"SELECT * FROM {as_name(_choose_table(name, table, [row[0] for row in found]))}")
        yield [column[0] for column in rows.description]
        yield from rows


def sheet_rows(path: str, name: str, table: str | None, hints: list[str]) -> Iterator[_Row]:
    """Yield the rows of a sheet of Excel, the first visible one if none is named; see `rows_of_sheet`.

    A line on other sheets is added to the hints.
    """
    require("openpyxl", "excel", "reading an Excel file")
    with closing(opened_book(path)) as book:
        sheets = visible_sheets(book, hints)[:1] if table is None else [sheet.title for sheet in book.worksheets]
        chosen = _choose_table(name, table, sheets, "sheet")
        n_rows = 0
        for n_rows, row in enumerate(rows_of_sheet(book[chosen], name, hints), 1):  # noqa: B007
            yield row
        if n_rows == 0 and table is not None:
            raise DataError(f"{name}, sheet {show_value(chosen)}, {_NO_COLUMNS}\nsheets: {list_words(sheets, 30)}")


FORMATS = {
    "csv": Format((".csv", ".txt"), _csv, is_text=True, prepared=_as_text_file),
    "tsv": Format((".tsv",), partial(_csv, delimiter="\t"), is_text=True, prepared=_as_text_file),
    "parquet": Format((".parquet", ".pq"), _parquet),
    "arrow": Format((".arrow", ".feather"), _arrow, prepared=_copied_to_parquet),
    "jsonl": Format((".jsonl", ".ndjson"), _json_lines),
    "sqlite": Format(
        (".sqlite", ".sqlite3", ".db"), _rows, prepared=partial(_rows_copied, format="sqlite", rows=sqlite_rows)
    ),
    "duckdb": Format((".duckdb", ".ddb"), _duckdb, prepared=_with_rows_stored),
    "xlsx": Format(
        (".xlsx", ".xlsm"), _rows, prepared=partial(_rows_copied, format="xlsx", rows=sheet_rows, is_sheet=True)
    ),
}
