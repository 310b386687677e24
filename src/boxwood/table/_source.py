"""A table that stays where it is: DuckDB reads the file each time a query runs.

Columns are called `c0`, `c1`, … in SQL, so that no name can collide with another or with a word of SQL.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from boxwood.errors import DataError
from boxwood.table._csv import complaint, csv_relation, header_of
from boxwood.table._paths import find_file, format_of, packed
from boxwood.table._sql import as_pattern, as_text

if TYPE_CHECKING:
    import duckdb

__all__ = ["Source", "Tick", "open_source"]

Tick = Callable[[float], None]
"""Told the share of a query that is done, from 0 to 1, about ten times a second."""

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS = (*_WHOLE, *(f"U{name}" for name in _WHOLE), "BIGNUM", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")
_DATES = ("DATE", "TIME", "TIMESTAMP", "INTERVAL")
_MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none")  # texts that programs write for no value
_MARKS = ", ".join(f"'{mark}'" for mark in _MISSING)
_CONFIG = {
    "autoinstall_known_extensions": "false",  # nothing is ever downloaded
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # a name in a query is never a variable of Python
    "max_expression_depth": "100000",
}


@dataclass(frozen=True)
class Source:
    """A file as a relation of DuckDB, with the names that stand in the file.

    Parameters
    ----------
    con : DuckDB connection, in memory
    relation : SQL of the rows, with columns c0, c1, …
    name : what messages call the file
    format : csv, tsv, parquet, arrow or jsonl
    names, types : name in the file and DuckDB's type of each column; names are all different
    workspace : folder for temporary files, gone when the source is closed
    """

    con: duckdb.DuckDBPyConnection
    relation: str
    name: str
    format: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    workspace: str

    def kind(self, column: int) -> str:
        """Return "number", "text", "date" or "other", by the type alone; a text may still hold numbers only."""
        kind = self.types[column].split("(")[0].split(" ")[0]
        if self.types[column].endswith("]"):
            return "other"
        if kind in _NUMBERS:
            return "number"
        if kind in ("VARCHAR", "ENUM", "JSON", "UUID"):
            return "text"
        return "date" if kind.startswith(_DATES) else "other"

    def text(self, column: int) -> str:
        """Return SQL for a value as text."""
        return f"(c{column} ->> '$')" if self.types[column] == "JSON" else f"CAST(c{column} AS VARCHAR)"

    def missing(self, column: int) -> str:
        """Return SQL for whether there is no value: NULL, NaN, an empty text or NA."""
        if self.kind(column) == "text":
            # numbers come first, as most texts are numbers and a failed test of AND ends it
            return f"({self.number(column)} IS NULL AND coalesce(lower(trim({self.text(column)})) IN ({_MARKS}), true))"
        return f"({self.number(column) if self.kind(column) == 'number' else f'c{column}'} IS NULL)"

    def number(self, column: int) -> str:
        """Return SQL for a value as a double, true and false as 1 and 0; NULL where it is missing or no number."""
        number = f"CAST(c{column} AS DOUBLE)"
        if self.types[column] == "BOOLEAN":  # DuckDB reads a column of CSV that is cast as doubles, which words are not
            number = f"CASE WHEN c{column} THEN 1e0 WHEN NOT c{column} THEN 0e0 END"
        elif self.kind(column) == "text":
            text = self.text(column)
            words = f"CASE lower(trim({text})) WHEN 'true' THEN 1e0 WHEN 'false' THEN 0e0 END"
            number = f"coalesce(TRY_CAST({text} AS DOUBLE), {words})"
        return f"nullif({number}, CAST('NaN' AS DOUBLE))"

    def category(self, column: int, known: Sequence[str]) -> str:
        """Return SQL for a value as text; NULL where it is missing: in CSV also a mark of that which is not known."""
        text = self.text(column)
        if self.format not in ("csv", "tsv"):
            return text
        listed = ", ".join(map(as_text, known))
        is_known = f"{text} IN ({listed}) OR " if known else ""
        return f"CASE WHEN {is_known}lower(trim({text})) NOT IN ({_MARKS}) THEN {text} END"

    def fetch(self, sql: str, tick: Tick | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self._run(lambda: self.con.execute(sql).fetchall(), tick)  # type: ignore[no-any-return]

    def fetch_arrays(self, sql: str, tick: Tick | None = None) -> dict[str, Any]:
        """Return the columns of a query as arrays, in the order of the file."""
        return self._run(lambda: self.con.execute(sql).fetchnumpy(), tick)  # type: ignore[no-any-return]

    def _run(self, work: Callable[[], Any], tick: Tick | None) -> Any:
        import duckdb

        try:
            return _waited(self.con, work, tick)
        except duckdb.Error as error:
            raise _unreadable(self.name, self.format, str(error)) from None


@contextmanager
def open_source(
    path: str, *, format: str | None = None, text: bool = True, texts: Collection[str] = ()
) -> Iterator[Source]:
    """Open a table for queries; it is read when they run, and never as a whole.

    Parameters
    ----------
    path : file name, or `-` for standard input
    format : csv, tsv, parquet, arrow or jsonl; None tells it from the extension
    text : whether values of CSV stay text as they stand, or become numbers where a whole column is numbers
    texts : names of columns of CSV that stay text all the same

    Raises
    ------
    DataError
        If the file is missing, empty or not of its format; the message is one line and then remedies.
    """
    duckdb = _duckdb()
    with tempfile.TemporaryDirectory(prefix="boxwood-", ignore_cleanup_errors=True) as workspace:
        file, name = find_file(path, workspace)
        con = duckdb.connect(":memory:", config={**_CONFIG, "temp_directory": workspace})
        try:
            yield _described(con, file, name, format_of(path, format), workspace, None if text else texts)
        finally:
            con.close()


def _duckdb() -> Any:
    """Import DuckDB in a thread, as Ctrl-C while its binary part is loaded would abort the process."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(import_module, "duckdb").result()


def _described(
    con: duckdb.DuckDBPyConnection, file: str, name: str, format: str, workspace: str, texts: Collection[str] | None
) -> Source:
    import duckdb

    try:
        relation, names = _waited(con, lambda: _relation(con, file, name, format, workspace, texts))
        described = _waited(con, lambda: con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall())
    except duckdb.Error as error:
        raise _unreadable(name, format, str(error)) from None
    names = _distinct(names or [row[0] for row in described])
    aliases = ", ".join(f"c{i}" for i in range(len(described)))
    types = tuple(str(row[1]) for row in described)
    return Source(con, f"{relation} AS t({aliases})", name, format, names, types, workspace)


def _relation(
    con: duckdb.DuckDBPyConnection, file: str, name: str, format: str, workspace: str, texts: Collection[str] | None
) -> tuple[str, tuple[str | None, ...]]:
    """Return the SQL that reads a file, and its names as the file spells them; no names where DuckDB's will do.

    Of CSV, `texts` are the columns that stay text; None is all.
    """
    if format in ("csv", "tsv"):
        delimiter, names = header_of(con, file, packed(file), "\t" if format == "tsv" else None, workspace)
        places = [i for i, known in enumerate(_distinct(names)) if known in (texts or ())]
        return csv_relation(file, packed(file), delimiter, len(names), text=texts is None, texts=places), names
    if format == "parquet":
        return f"read_parquet({as_pattern(file)})", _parquet_names(con, file)
    if format == "jsonl":
        options = f"format='newline_delimited', records=true, sample_size=-1, compression='{packed(file)}'"
        return f"read_json({as_pattern(file)}, {options})", ()
    return _arrow_relation(con, file, name)


def _parquet_names(con: duckdb.DuckDBPyConnection, file: str) -> tuple[str | None, ...]:
    schema = con.execute(f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({as_pattern(file)})").fetchall()
    names, inner = [], 0  # fields are listed depth first; those inside another are not columns
    for name, children in schema[1:]:
        if inner == 0:
            names.append(name)
        inner += children - (inner > 0)
    return tuple(names)


def _arrow_relation(con: duckdb.DuckDBPyConnection, file: str, name: str) -> tuple[str, tuple[str | None, ...]]:
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError:
        raise DataError('Arrow files need pyarrow\npip install "boxwood[arrow]"') from None
    try:
        dataset = pyarrow.dataset.dataset(file, format="ipc")
    except (pyarrow.ArrowException, ValueError) as error:
        raise _unreadable(name, "arrow", str(error).split(": ")[-1]) from None
    con.register("arrow_file", dataset)
    return "arrow_file", tuple(dataset.schema.names)


def _distinct(names: Sequence[str | None]) -> tuple[str, ...]:
    """Return names that are all different; a column without a name is called by its place."""
    seen: dict[str, None] = {}
    for i, name in enumerate(names):
        stem = name or f"column{i + 1}"
        number, choice = 0, stem
        while choice in seen:
            number += 1
            choice = f"{stem}_{number}"
        seen[choice] = None
    return tuple(seen)


def _waited(con: duckdb.DuckDBPyConnection, work: Callable[[], Any], tick: Tick | None = None) -> Any:
    """Return `work()`, done by a thread: this one waits, hears Ctrl-C, and tells how far the query is."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while True:
                try:
                    return future.result(timeout=0.1)
                except TimeoutError:
                    if tick is not None:
                        tick(max(0.0, float(con.query_progress()) / 100))
        except BaseException:
            con.interrupt()
            raise


def _unreadable(name: str, format: str, message: str) -> DataError:
    reason = complaint(message)
    if reason is None:
        line = message.splitlines()[0].split("Error: ", 1)[-1].strip()
        reason = line.replace('"', "'").replace(os.path.abspath(name), name)
    return DataError(f"cannot read {name} as {format}: {reason}")
