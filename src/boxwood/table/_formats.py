"""The formats of tables that can be read.

To add one, write a function that returns a `Relation`, and give it an entry in `FORMATS`::

    "orc": Format((".orc",), _orc),

Two lists for users repeat the names, the option `--format` and the docstring of `read_table`; a test compares them.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._messages import cut_off
from boxwood.errors import DataError
from boxwood.table._column_names import distinct_names
from boxwood.table._csv import csv_relation, dialect_of, explained, header_hints
from boxwood.table._encodings import encoding_of, is_utf8, utf8_copy
from boxwood.table._inner_tables import attached, readable, sheet_rows, sqlite_rows, write_rows
from boxwood.table._paths import compression_of
from boxwood.table._sql import ONE_FILE, as_pattern

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "FORMATS",
    "File",
    "Format",
    "Relation",
    "format_of",
    "refuse_other_format",
    "refuse_other_options",
    "unreadable",
]


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
    header : bool, default=True
        Of CSV: whether the first line holds the names of the columns.
    encoding : str, default=None
        Of CSV: the encoding of its text; None finds it out.
    table : str, default=None
        Of a file that holds several: the table to read; None is the only one, or the first sheet.
    columns : tuple of (name, type), default=()
        Of rows that Python has copied: their columns.
    hints : tuple of str, default=()
        Lines for the reader on what was made of it before DuckDB reads it.
    """

    path: str
    name: str
    workspace: str
    text_columns: Collection[str] | None
    header: bool = True
    encoding: str | None = None
    table: str | None = None
    columns: tuple[tuple[str | None, str], ...] = ()
    hints: tuple[str, ...] = ()


class Relation(NamedTuple):
    """A table in SQL, and the names of its columns as the file spells them; no names if DuckDB's are the same.

    Of CSV: also its delimiter, and lines for the reader on how it was read. Of Parquet: `durations`, the positions of
    columns that hold lengths of time, for which Parquet has no type. Of JSON: `keys`, a query for the names as they are
    spelled, in any order, because DuckDB renames those that differ in case only.
    """

    sql: str
    names: tuple[str | None, ...] = ()
    delimiter: str | None = None
    hints: tuple[str, ...] = ()
    durations: frozenset[int] = frozenset()
    keys: str | None = None


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
        known = ", ".join(sorted(by_extension))
        wrong = f"'{extension}'" if extension else "a name without extension"
        remedy = f"known: {known}\nsave it as .csv or .xlsx, or name its format: --format csv"
        raise DataError(f"cannot tell the format of {path} from {wrong}\n{remedy}")
    found = by_extension[extension.lower()]
    return _beginning(path) or found if extension.lower() == ".db" else found


def refuse_other_format(file: File, format: str) -> None:
    """Raise a DataError if a file that would be read as text begins as one of another format does."""
    if format in _BEGINNINGS:
        return
    other = _beginning(file.path)
    if other is not None:
        raise DataError(f"{file.name} is {other}, not {format}; name its format: --format {other}")


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


def refuse_other_options(
    name: str,
    format: str,
    *,
    header: bool = True,
    decimal: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
) -> None:
    """Raise a DataError if options of reading are not for a format; `name` is that of the file."""
    if not FORMATS[format].is_text and not (header and decimal is None and encoding is None):
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
    reason = explained(message)
    if reason is None:
        line = message.splitlines()[0].split("Error: ", 1)[-1].strip()
        reason = cut_off(line.replace('"', "'").replace(os.path.abspath(name), name))
    return DataError(f"cannot read {name} as {format}: {reason}")


# --------------------------------------------------------------------------------------------- relations by format


def _csv(con: duckdb.DuckDBPyConnection, file: File, delimiter: str | None = None) -> Relation:
    compression = compression_of(file.path)
    dialect = dialect_of(con, file.path, compression, delimiter, file.workspace, file.header)
    texts = [i for i, name in enumerate(distinct_names(dialect.names)) if name in (file.text_columns or ())]
    sql = csv_relation(dialect, text=file.text_columns is None, texts=texts)
    return Relation(sql, dialect.names, dialect.delimiter, header_hints(dialect))


def _in_utf8(file: File) -> File:
    """Return a file in UTF-8: itself, or a copy."""
    compression = compression_of(file.path)
    encoding = file.encoding or encoding_of(file.path, compression, file.name)
    if is_utf8(encoding):
        return file
    copy = utf8_copy(file.path, compression, encoding, file.workspace, file.name)
    hints = () if file.encoding else (f"read as {encoding}; if that is wrong, name the encoding with --encoding",)
    return file._replace(path=copy, hints=hints)


def _parquet(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    path = as_pattern(file.path)
    schema = con.execute(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({path})").fetchall()
    names, inner = [], 0  # fields are listed depth first; those inside another are not columns
    for name, children in schema[1:]:
        if inner == 0:
            names.append(name)
        inner += children - (inner > 0)
    return Relation(f"read_parquet({path}, {ONE_FILE})", tuple(names), durations=_durations(con, path))


def _durations(con: duckdb.DuckDBPyConnection, path: str) -> frozenset[int]:
    """Return the columns of durations by the schema that Arrow leaves in a Parquet file; none without pyarrow."""
    query = f"SELECT value FROM parquet_kv_metadata({path}) WHERE key = 'ARROW:schema'::BLOB"
    encoded = con.execute(query).fetchone()
    try:
        import pyarrow
    except ImportError:
        return frozenset()
    if encoded is None:
        return frozenset()
    try:
        schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(base64.b64decode(encoded[0])))
    except (pyarrow.ArrowException, ValueError):  # the note of a program; the table itself can be read without it
        return frozenset()
    return frozenset(i for i, kind in enumerate(schema.types) if pyarrow.types.is_duration(kind))


def _arrow(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError:
        raise DataError('Arrow files need pyarrow\npip install "boxwood[arrow]"') from None
    try:
        dataset = pyarrow.dataset.dataset(file.path, format="ipc")
    except (pyarrow.ArrowException, ValueError) as error:
        raise unreadable(file.name, "arrow", str(error).split(": ")[-1]) from None
    con.register("arrow_file", dataset)
    return Relation("arrow_file", tuple(dataset.schema.names))


def _json_lines(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    compression = compression_of(file.path)
    lines = f"{as_pattern(file.path)}, format='newline_delimited', compression='{compression}'"
    keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM read_json_objects({lines}, {ONE_FILE})"
    return Relation(f"read_json({lines}, records=true, sample_size=-1, {ONE_FILE})", keys=keys)


def _duckdb(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    return Relation(attached(con, file.path, file.name, file.table))


def _rows_copied(file: File, format: str, rows: Callable[[str, str, str | None], Iterator[Sequence[Any]]]) -> File:
    copy = os.path.join(file.workspace, "rows.jsonl")
    columns = write_rows(readable(rows(file.path, file.name, file.table), file.name, format), copy)
    if not columns:
        raise DataError(f"{file.name} has no columns; the names of columns must stand in its first row")
    return file._replace(path=copy, columns=columns)


def _rows(con: duckdb.DuckDBPyConnection, file: File) -> Relation:
    types = ", ".join(f"'c{i}': '{type}'" for i, (_, type) in enumerate(file.columns))
    options = f"format='newline_delimited', records=true, compression='none', columns={{{types}}}, {ONE_FILE}"
    return Relation(f"read_json({as_pattern(file.path)}, {options})", tuple(name for name, _ in file.columns))


FORMATS = {
    "csv": Format((".csv", ".txt"), _csv, is_text=True, prepared=_in_utf8),
    "tsv": Format((".tsv",), partial(_csv, delimiter="\t"), is_text=True, prepared=_in_utf8),
    "parquet": Format((".parquet", ".pq"), _parquet),
    "arrow": Format((".arrow", ".feather"), _arrow),
    "jsonl": Format((".jsonl", ".ndjson"), _json_lines),
    "sqlite": Format(
        (".sqlite", ".sqlite3", ".db"), _rows, prepared=partial(_rows_copied, format="sqlite", rows=sqlite_rows)
    ),
    "duckdb": Format((".duckdb", ".ddb"), _duckdb),
    "xlsx": Format((".xlsx", ".xlsm"), _rows, prepared=partial(_rows_copied, format="xlsx", rows=sheet_rows)),
}
