"""`ParquetSource`: Parquet files as a source of batches, read in place by pyarrow, and as one table.

Reading five million rows of ten columns takes a third of the time and of the memory that DuckDB's Arrow reader takes.
So whatever is no Parquet file is written as one first; see `_spill.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from boxwood._imports import require
from boxwood._messages import cut_off, list_words
from boxwood._threads import n_threads
from boxwood.batches.source import (
    RecordSummary,
    Source,
    Spelling,
    TextAmong,
    batch_rows,
    dates_of,
    fewer_threads,
    kind_of_type,
)
from boxwood.errors import DataError
from boxwood.table._common_type import common_type, exact_cast
from boxwood.table.columns import Column, hints_on, refuse_text, text_among
from boxwood.table.duck import DuckTable, describe_file, open_table
from boxwood.table.formats import FORMATS, File
from boxwood.table.options import ReadOptions, distinct_names
from boxwood.table.sql import sql_text

S = TypeVar("S", bound=RecordSummary)
_BUFFERS, _BUFFER = 1 << 25, (1 << 16, 1 << 20)  # bytes of all buffers, of which each column has one, and of each
_MOST_CHUNKS = 200_000  # chunks of columns whose sizes are looked up; more would take longer than the pass


class ParquetFile(NamedTuple):
    """A Parquet file, as it was when it was found.

    Parameters
    ----------
    path, name : str
        Where it is, and what it is called in messages.
    stamp : tuple of int
        Its size and the time when it was written last, by which a change is noticed.
    schema : pyarrow.Schema
        Names and types of its columns.
    n_rows : int
        Number of its rows.
    """

    path: str
    name: str
    stamp: tuple[int, int]
    schema: Any
    n_rows: int

    def type_of(self, name: str) -> Any:
        """Return Arrow's type of a column by its name, of which equal ones have numbers."""
        return self.schema.types[distinct_names(self.schema.names).index(name)]

    @contextmanager
    def opened(self, n_columns: int | None = None) -> Iterator[Any]:
        """Yield pyarrow's reader of the file, for some or all columns; raise a DataError if it changed meanwhile."""
        self._refuse_changed()
        with _named_errors(self.name):
            file = _open(self.path, len(self.schema) if n_columns is None else n_columns)
        with file:
            yield file
        self._refuse_changed()

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield record batches of at most `rows` rows with these columns."""
        wanted = list(columns)
        with self.opened(len(wanted)) as file:
            for batch in self.read(file.iter_batches(rows, columns=wanted)):
                yield batch.select(wanted)  # asked for "a", pyarrow gives "a.b", too, in the order of the file

    def read(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield what pyarrow reads; what it cannot read becomes a DataError that says where."""
        n_read = 0
        while True:
            try:
                with _named_errors(self.name, n_read):
                    batch = next(batches, None)
            except DataError:
                self._refuse_changed()  # then that is the reason
                raise
            if batch is None:
                return
            n_read += batch.num_rows
            yield batch

    def cast(self, array: Any, type: Any, name: str) -> Any:
        """Return values of a column of this name as a type; raise a DataError if one of them would become another."""
        import pyarrow as pa

        try:
            return exact_cast(array, type)
        except pa.ArrowInvalid:
            raise DataError(f"{self.loss(name, array.type, type)}\n{_ONE_TYPE}") from None

    def loss(self, name: str, own: Any, type: Any) -> str:
        """Return words for values of a column that the type cannot hold that the column has together with others."""
        return (
            f"column '{name}' is {own} in {self.name}, and values of it are none of {type}, as the files need together"
        )

    def _refuse_changed(self) -> None:
        refuse_changed(self.path, self.name, self.stamp)


def refuse_changed(path: str, name: str, stamp: tuple[int, int]) -> None:
    """Raise a DataError if a file was removed or written since its stamp was taken."""
    try:
        now = stamp_of(path)
    except OSError as error:
        raise DataError(f"{name} cannot be read any more: {error.strerror}; scan the table again") from None
    if now != stamp:
        raise DataError(f"{name} changed while it was read; scan it again when nobody writes to it")


def stamp_of(path: str) -> tuple[int, int]:
    """Return the size of a file and the time when it was written last."""
    facts = os.stat(path)
    return facts.st_size, facts.st_mtime_ns


def parquet_file(path: str, name: str | None = None) -> ParquetFile:
    """Return a Parquet file with what its last lines say.

    Raises
    ------
    DataError
        If it is no Parquet file, or its end is missing.
    """
    name = name or path
    try:
        stamp = stamp_of(path)
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror}") from None
    with _named_errors(name), _open(path, 1) as file:
        return ParquetFile(path, name, stamp, file.schema_arrow, file.metadata.num_rows)


class CopiedFile(NamedTuple):
    """A file that was copied: where it is, how it is read, the columns that were chosen, and its stamp at that time."""

    path: str
    options: ReadOptions
    names: Sequence[str] | None
    stamp: tuple[int, int]


class Copy(NamedTuple):
    """A table that was copied to a temporary file, whose columns are c0, c1, …, and t0, t1, … the texts of some.

    Parameters
    ----------
    columns : sequence of Column
        What they are.
    notes : tuple of str
        Lines for the reader on how the table is read.
    remove : callable
        Removes the file when the source is closed.
    format : str
        Format of the table.
    decimal : {".", ","}, or None
        What stands before the decimals in all of its texts, if the reader said so.
    spellings : mapping from str to Spelling
        See `passes.Source`.
    words : mapping from str to collection of str
        Marks of missing values that are words in a column.
    orders : mapping from str to sequence
        Values of columns whose type has an order.
    file : CopiedFile, or None
        The file, if it can be read again: it holds what the copy has not, as lines that are no rows, and texts.
    """

    columns: Sequence[Column]
    notes: tuple[str, ...]
    remove: Callable[[], object]
    format: str
    decimal: str | None = None
    spellings: Mapping[str, Spelling] = {}
    words: Mapping[str, Collection[str]] = {}
    orders: Mapping[str, Sequence[Hashable]] = {}
    file: CopiedFile | None = None


class ParquetSource(Source):
    """Parquet files, one after the other, as one table.

    Parameters
    ----------
    files : sequence of ParquetFile
        Files that all have the columns.
    names : sequence of str
        Names of the columns.
    name : str
        Name of the table in messages.
    copy : Copy, default=None
        What is known of the table whose copy in a temporary file is read.
    memory_limit : int, default=None
        Bytes that all batches together may take.
    n_jobs : int or None
        Most threads of a pass.
    """

    names: tuple[str, ...]
    name: str
    notes: tuple[str, ...]
    spellings: Mapping[str, Spelling]
    words: Mapping[str, Collection[str]]
    orders: Mapping[str, Sequence[Hashable]]

    files: tuple[ParquetFile, ...]
    n_jobs: int | None

    def __init__(
        self,
        files: Sequence[ParquetFile],
        names: Sequence[str],
        *,
        name: str,
        copy: Copy | None = None,
        memory_limit: int | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.files, self.names, self.name, self._copy = tuple(files), tuple(names), name, copy
        self.file: CopiedFile | None = None if copy is None else copy.file
        self.n_rows: int = sum(file.n_rows for file in files)
        self._stored = {name: name if copy is None else f"c{i}" for i, name in enumerate(names)}
        texts = {name: f"t{i}" for i, name in enumerate(names)} if copy is not None else {}
        texts = {name: text for name, text in texts.items() if text in files[0].schema.names}
        self._labels = {name: f"{name}\0" for name in texts}  # no column has such a name
        self._stored |= {self._labels[name]: text for name, text in texts.items()}
        self._types = {given: self._type(kept) for given, kept in self._stored.items()}
        self.kinds = tuple(kind_of_type(self._types[name]) for name in names)
        self.types: dict[str, str] = {name: str(self._types[name]) for name in names}
        self.dates = dates_of(self.names, [self._types[name] for name in names])
        if copy is not None:
            self.notes, self.spellings = copy.notes, copy.spellings
            self.kinds: tuple[str, ...] = tuple(column.kind for column in copy.columns)
            pairs = [*zip(names, copy.columns, strict=True)]
            self.dates = {
                name: column.dates("") if column.profile is not None else self.dates[name]
                for name, column in pairs
                if column.kind == "date"
            }
            self.mixed: tuple[str, ...] = tuple(name for name, column in pairs if column.is_mixed)
            self.padded: tuple[str, ...] = tuple(name for name, column in pairs if column.is_padded)
            self.rounded: tuple[str, ...] = tuple(name for name, column in pairs if column.is_rounded)
            self.words, self.orders = copy.words, copy.orders
            are_typed = copy.format in FORMATS and not FORMATS[copy.format].is_text
            self.typed_texts = {name for name, column in pairs if are_typed and column.profile is not None}
            dates = [name for name, column in pairs if column.kind == "date" and column.profile is not None]
            self.types |= dict.fromkeys([*self.typed_texts, *dates], "text")
        self._memory_limit, self.n_jobs, self._is_closed = memory_limit, n_jobs, False

    def refuse_text(self, column: str) -> None:
        """Raise a DataError if a column has text where numbers must be; it says in how many rows, and where first."""
        with self._opened([column]) as table:
            refuse_text(table, 0, sum(file.n_rows for file in self.files), or_words=True)

    def text_among(self, column: str) -> TextAmong:
        """Return what is known of the text among the numbers of a column of `mixed`."""
        with self._opened([column]) as table:
            return text_among(table, 0, sum(file.n_rows for file in self.files))

    def hints_on(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return lines on columns of text whose values are numbers to people, though there is doubt which.

        Columns of queries, relations and readers have types that somebody chose: their texts are words.
        """
        if not columns or (self._copy is not None and self._copy.format == "SQL"):
            return ()
        with self._opened(columns) as table:
            return hints_on(table, columns)

    @contextmanager
    def _opened(self, columns: Sequence[str]) -> Iterator[DuckTable]:
        """Yield columns of text as a table of DuckDB, read as in the file whose copy this may be."""
        known = distinct_names(self.files[0].schema.names)
        with opened_files(self.files, self.name, [known.index(self._stored[name]) for name in columns]) as table:
            table = replace(table, names=tuple(columns))
            copy = self._copy
            yield table if copy is None else replace(table, format=copy.format, decimal=copy.decimal)

    def label_name(self, column: str) -> str:
        """Return the name by which a pass reads the labels of a column."""
        return self._labels.get(column, column)

    def run(self, make: Callable[[], S], columns: Sequence[str], n_jobs: int | None = -1) -> S:
        """Return one summary of all batches."""
        self._refuse_closed()
        n_bytes = None if self._sizes is None else sum(self._sizes[self._stored[name]] for name in columns)
        return self._fold(
            self.batches(columns), make, columns, n_jobs=fewer_threads(n_jobs, self.n_jobs), n_bytes=n_bytes
        )

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        """Yield batches of some columns in the order of the files, each with the number of its first row."""
        import pyarrow as pa

        self._refuse_closed()
        start, rows, stored = 0, self._batch_rows(len(columns)), [self._stored[name] for name in columns]
        types = [self._types[name] for name in columns]
        for file in self.files:
            for batch in file.batches(stored, rows):
                arrays = [file.cast(batch.column(j), type, columns[j]) for j, type in enumerate(types)]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns)), start
                start += batch.num_rows

    def type_of(self, name: str) -> Any:
        """Return Arrow's type of a column: the files' common one, or one that holds the values of all of them."""
        return self._types[name]

    def close(self) -> None:
        """Remove temporary files, if there are any. The source cannot be read any more."""
        super().close()
        self._is_closed = True
        if self._copy is not None:
            self._copy.remove()

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise DataError(f"{self.name} was closed; scan it again, or ask before it is closed")

    def _batch_rows(self, n_columns: int) -> int:
        """Return the rows of a batch; a thread holds one as Arrow's, as doubles, and in what it makes of it."""
        limit = None if self._memory_limit is None else self._memory_limit // (4 * n_threads(self.n_jobs) + 4)
        return batch_rows(n_columns, limit)

    def _type(self, stored: str) -> Any:
        """Return the type of a column: the files' common one, or one that holds the values of all of them."""
        return common_type(file.schema.field(stored).type for file in self.files)

    @cached_property
    def _sizes(self) -> dict[str, int] | None:
        """Bytes of each column in the files, compressed as they are; None if looking it up would take too long."""
        sizes = dict.fromkeys(self._stored.values(), 0)
        n_chunks = 0
        for file in self.files:
            with file.opened() as opened:
                facts = opened.metadata
                n_chunks += facts.num_row_groups * facts.num_columns
                if n_chunks > _MOST_CHUNKS:
                    return None
                for group in map(facts.row_group, range(facts.num_row_groups)):
                    for chunk in map(group.column, range(facts.num_columns)):
                        top = chunk.path_in_schema if chunk.path_in_schema in sizes else ""
                        if top or (top := chunk.path_in_schema.split(".")[0]) in sizes:
                            sizes[top] += chunk.total_compressed_size
        return sizes


def _open(path: str, n_columns: int) -> Any:
    parquet = require("pyarrow.parquet", "arrow", "reading a table in batches")
    least, most = _BUFFER
    size = max(least, min(most, _BUFFERS // max(n_columns, 1)))
    # by default pyarrow keeps in memory what it has read of a file
    return parquet.ParquetFile(path, pre_buffer=False, buffer_size=size, page_checksum_verification=True)


@contextmanager
def _named_errors(name: str, after: int | None = None) -> Iterator[None]:
    """Turn what pyarrow says on a file that it cannot read into a DataError with the name of the file."""
    import pyarrow as pa

    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        where = "" if after is None else f" after row {after:,}"
        reason = cut_off((str(error).splitlines() or [type(error).__name__])[0], 200)
        raise DataError(
            f"cannot read {name} as parquet{where}: {reason}\nthe file is damaged or incomplete: copy it again"
        ) from None


SHARED_COLUMNS = "scan files of one table, or give the columns that all of them have: columns=[…]"
"""The remedy where files have other columns; the command line words it otherwise."""


def shared_types(files: Sequence[ParquetFile], names: Sequence[str], *, all_columns: bool) -> list[Any]:
    """Return the type of Arrow of each column that holds the values of all files.

    Raises
    ------
    DataError
        If a file has other columns than the first one, or a column types that say different things.
    """
    for file in files[1:]:
        _refuse_other_columns(files[0], file, names, all_columns=all_columns)
    if len(files) == 1:
        return [files[0].type_of(name) for name in names]
    return [_shared_type(files, name) for name in names]


def _refuse_other_columns(first: ParquetFile, file: ParquetFile, names: Sequence[str], *, all_columns: bool) -> None:
    theirs = distinct_names(file.schema.names)
    lacking = [name for name in names if name not in theirs]
    further = [name for name in theirs if name not in names] if all_columns else []
    if lacking or further:
        what = [f"lacks {list_words(lacking)}"] if lacking else []
        what += [f"has {list_words(further)} besides"] if further else []
        raise DataError(f"{file.name} has other columns than {first.name}: it {' and '.join(what)}\n{SHARED_COLUMNS}")


def _shared_type(files: Sequence[ParquetFile], name: str) -> Any:
    types = [file.type_of(name) for file in files]
    if len(set(types)) > 1 and common_type(types) is None:
        first, other = next(
            (i, j) for j in range(len(types)) for i in range(j) if common_type([types[i], types[j]]) is None
        )
        said = [f"{types[i]} in {files[i].name}" for i in (first, other)]
        raise DataError(f"column '{name}' is {said[0]}, and {said[1]}\n{_ONE_TYPE}")
    return common_type(types)


_ONE_TYPE = "write it with one type in all files, or leave the file out"


def can_be_read_in_place(files: Sequence[ParquetFile], names: Sequence[str], all_names: Sequence[str]) -> bool:
    """Return whether pyarrow finds the columns by their names, and reads the doubles that DuckDB reads."""
    import pyarrow as pa

    if list(all_names) != list(files[0].schema.names):  # repeated or empty names
        return False
    types = [file.schema.field(name).type for file in files for name in names]
    nested = any(pa.types.is_nested(type) for file in files for type in file.schema.types)
    return not any(map(pa.types.is_decimal, types)) and not (nested and any("." in name for name in all_names))


def is_kept_by_arrow(file: ParquetFile) -> bool:
    """Return whether Arrow writes the columns of a file with the types that they have there.

    It has none for lengths of time in months, days and parts of a day, nor for times of day with a zone.
    """
    with file.opened() as opened:
        columns = map(opened.schema.column, range(len(opened.schema)))
        types = [json.loads(column.logical_type.to_json()) for column in columns]
    return not any(type["Type"] == "Interval" or (type["Type"] == "Time" and type["isAdjustedToUTC"]) for type in types)


def refuse_unwritable(schema: Any, names: Sequence[str]) -> None:
    """Raise a DataError if a column of an Arrow schema, with this name for users, is of a type that Parquet lacks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for field, name in zip(schema, names, strict=True):
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except pa.ArrowNotImplementedError:
            raise DataError(
                f"column {name!r} holds {field.type}, which a Parquet file cannot\nleave it out, or make it text"
            ) from None


@contextmanager
def opened_files(files: Sequence[ParquetFile], name: str, chosen: Sequence[int]) -> Iterator[DuckTable]:
    """Yield columns of Parquet files as one table; `chosen` are their places in the first file."""
    with open_table(files[0].path, ReadOptions(format="parquet")) as first:
        further = (File(file.path, file.name, first.workspace, None) for file in files[1:])
        tables = [first, *(describe_file(first.con, file, "parquet") for file in further)]
        names = tuple(first.names[i] for i in chosen)
        shared = _shared_in_sql(files, names, first)
        pairs = zip(tables, files, strict=True)
        rows = " UNION ALL ".join(_select_columns(table, file, shared) for table, file in pairs)
        found = [str(row[1]) for row in first.con.execute(f"DESCRIBE {rows}").fetchall()]
        # lengths of time are told by Arrow's schema alone
        types = tuple(
            "INTERVAL" if first.types[i] == "INTERVAL" else type for i, type in zip(chosen, found, strict=True)
        )
        aliases = ", ".join(f"c{i}" for i in range(len(names)))
        yield replace(first, relation=f"({rows}) AS t({aliases})", name=name, names=names, types=types)


def _shared_in_sql(files: Sequence[ParquetFile], names: Sequence[str], first: DuckTable) -> dict[str, str]:
    """Return DuckDB's types of columns of several files: where they differ, those of an empty file of shared types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {name: first.types[first.names.index(name)] for name in names}
    differ = [name for name in names if len({file.type_of(name) for file in files}) > 1]
    if differ:
        shared = shared_types(files, differ, all_columns=False)
        path = os.path.join(first.workspace, "empty.parquet")
        pq.write_table(pa.schema([*zip(differ, shared, strict=True)]).empty_table(), path)
        empty = describe_file(first.con, File(path, first.name, first.workspace, None), "parquet")
        types |= dict(zip(differ, empty.types, strict=True))
    return types


def _select_columns(table: DuckTable, file: ParquetFile, types: Mapping[str, str]) -> str:
    columns = (_cast_in_sql(table, file, name, type) for name, type in types.items())
    return f"SELECT {', '.join(columns)} FROM {table.relation}"


def _cast_in_sql(table: DuckTable, file: ParquetFile, name: str, type: str) -> str:
    """Return SQL of a column as a type of DuckDB; it is an error if a value would become another one."""
    i = table.names.index(name)
    if table.types[i] == type:
        return f"c{i}"
    cast, own = f"TRY_CAST(c{i} AS {type})", table.types[i]
    is_kept = f"TRY_CAST({cast} AS {own}) IS NOT DISTINCT FROM c{i}"
    return f"CASE WHEN {is_kept} THEN {cast} ELSE error({sql_text(file.loss(name, own, type))}) END"
