"""A file in memory: how much that takes, and `FileInMemory`, a source of which DuckDB reads columns as arrays."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cached_property
from glob import has_magic
from typing import Any, TypeVar

import numpy as np

from boxwood._dates import days_of
from boxwood._texts import MARKS
from boxwood._types import Floats
from boxwood.batches.source import RecordSummary, Source, TextAmong
from boxwood.errors import DataError
from boxwood.table.columns import Column, are_digits, hints_on, inspect_columns, refuse_text, spellings_of, text_among
from boxwood.table.connect import Tick
from boxwood.table.duck import DuckTable, open_table
from boxwood.table.formats import format_of
from boxwood.table.options import ALL_COLUMNS, DEFAULTS, ReadOptions, Wanted, find_columns

S = TypeVar("S", bound=RecordSummary)
COPIES = 3  # memory of a table while it is explained, in copies of its values
PACKED = 8  # memory of a compressed file, in times its size, at least; at most 100
_MOST = 100


# ------------------------------------------------------------------------------------------------------ how much
def is_one_file(path: str | None) -> bool:
    """Return whether a name is that of a file, and not of a folder or a pattern of files."""
    return path is not None and not os.path.isdir(path) and (os.path.exists(path) or not has_magic(path))


def why_in_batches(path: str, format: str | None, limit: int | None) -> str | None:
    """Return that a file takes more memory than there is, in words; None if it fits.

    IN: limit: bytes that it may take; None for what is free.
    """
    free = _free_memory() if limit is None else limit
    if free is None or not os.path.isfile(path) or os.path.getsize(path) * _MOST * COPIES <= free:
        return None
    needed = _estimate_memory(path, format)
    if needed <= free:
        return None
    there = f"there {'are' if limit is None else 'may be'} {_gigabytes(free)}"
    return f"{path} needs about {_gigabytes(needed)} in memory, and {there}"


def _estimate_memory(path: str, format: str | None) -> int:
    """Return about how many bytes a file takes in memory while it is explained."""
    size, kind = os.path.getsize(path), format_of(path, format)
    if kind == "parquet":
        try:
            from boxwood.table.parquet import parquet_file

            table = parquet_file(path)
            return 8 * table.n_rows * len(table.schema) * COPIES
        except ImportError:
            return size * PACKED * COPIES
    return size * COPIES * (PACKED if path.endswith((".gz", ".zst", ".bz2")) or kind in ("duckdb", "xlsx") else 1)


def _free_memory() -> int | None:
    """Return the bytes of memory that this process may still take; None if that is not known."""
    found = [_in_meminfo(), _in_control_group()]
    return min((bytes_ for bytes_ in found if bytes_ is not None), default=None)


def _in_meminfo() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _in_control_group() -> int | None:
    """Return the bytes that the limit of a container leaves."""
    try:
        numbers = []
        for name in ("max", "current"):
            with open(f"/sys/fs/cgroup/memory.{name}", encoding="ascii") as file:
                numbers.append(int(file.read()))
        return max(numbers[0] - numbers[1], 0)
    except (OSError, ValueError):  # none, or "max"
        return None


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.0f} MB"


# -------------------------------------------------------------------------------------------------------- a source
def file_in_memory(
    path: str, options: ReadOptions = DEFAULTS, *, wanted: Wanted = ALL_COLUMNS, tick: Tick | None = None
) -> FileInMemory:
    """Return a file that is one table as a source whose rows are read into memory.

    Raises
    ------
    ColumnError
        If it lacks a column that is wanted, before it is read as a whole.
    DataError
        If it cannot be read, or a column in use holds formulas without values.
    """
    with ExitStack() as opened:
        table = opened.enter_context(open_table(path, options))
        chosen = wanted.among(table.names)
        table.refuse_uncalculated([*chosen.columns, *(i for i in chosen[2:] if i is not None)])
        passes = _Passes(tick)
        table = table.kept(passes)
        columns = dict(zip(chosen.columns, inspect_columns(table, chosen.columns, passes), strict=True))
        source = FileInMemory(table, columns, opened, passes)
        passes.tick = None
    return source


class _Passes:
    """Tells the share of each pass over a file, and counts those that are over."""

    def __init__(self, tick: Callable[[float, int], object] | None) -> None:
        self.tick, self.n, self._share = tick, 0, 0.0

    def __call__(self, share: float, n_rows: int = 0) -> None:
        self.n += share < self._share
        self._share = share
        if self.tick is not None:
            self.tick(share, n_rows)


class FileInMemory(Source):
    """A file that is open, and that DuckDB reads whenever columns are asked for, as arrays of all rows.

    Other passes than `explain` makes read a copy, which the first of them writes.

    Parameters
    ----------
    table : DuckTable
        The file.
    columns : mapping from int to Column
        How columns are read that rules may use, by their places; others have the kinds of their types.
    opened : ExitStack
        Closes the file; it is the source's from now on.
    passes : _Passes
        Tells of each pass.
    """

    is_held = True

    def __init__(self, table: DuckTable, columns: Mapping[int, Column], opened: ExitStack, passes: _Passes) -> None:
        self.table, self.columns, self._passes = table, columns, passes
        self.name, self.names, self.notes = table.name, table.names, table.hints
        if all(column.kind == "empty" for column in columns.values()):
            self.refuse_no_rows(self.count())
        self.kinds = tuple(columns[i].kind if i in columns else table.kind(i) for i in range(len(table.names)))
        self.mixed = self._names_of(i for i, column in columns.items() if column.is_mixed)
        self.padded = self._names_of(_padded_in(table, columns))
        self.rounded = self._names_of(_rounded_in(table, columns))
        self.dates = {
            table.names[i]: column.dates(table.types[i], table.zones.get(i, "UTC"))
            for i, column in columns.items()
            if column.kind == "date"
        }
        # booleans of a file of texts are such, as whatever reads the file takes them for
        booleans = [i for i, column in columns.items() if column.kind == "boolean" and table.has_marks]
        types = dict(zip(table.names, table.types, strict=True))
        self.types = types | dict.fromkeys(self._names_of(booleans), "BOOLEAN")
        self.spellings = spellings_of(table, columns)
        self.marks, self.missing_words = MARKS, MARKS if table.has_marks else ()
        self.orders = {table.names[i]: order for i, order in table.orders.items()}
        self._open = opened.pop_all()
        weakref.finalize(self, self._open.close)  # where nobody closes it

    def _names_of(self, places: Iterator[int] | Sequence[int]) -> tuple[str, ...]:
        return tuple(self.names[i] for i in places)

    @property
    def tick(self) -> Callable[[float, int], object] | None:  # type: ignore[override]
        """Called with the share of a pass, and with the number of rows once these are read."""
        return self._passes.tick

    @tick.setter
    def tick(self, told: Callable[[float, int], object] | None) -> None:
        self._passes.tick = told

    @property
    def n_passes(self) -> int:
        """Number of passes so far."""
        return self._passes.n

    @property
    def candidates(self) -> tuple[str, ...]:
        """The columns that rules may use, as far as whoever opened the file has said."""
        return self._names_of([*self.columns])

    def place_of(self, name: str) -> int:
        """Return the place of a column by its name."""
        return find_columns([name], self.names)[0]

    def column(self, name: str) -> Column:
        """Return how a column is read, which is looked at if it is none that rules may use."""
        i = self.place_of(name)
        return self.columns[i] if i in self.columns else inspect_columns(self.table, [i], None)[0]

    def count(self) -> int:
        """Return the number of rows."""
        return int(self.table.fetch(f"SELECT count(*) FROM {self.table.relation}")[0][0])

    def refuse_no_rows(self, n_rows: int) -> None:
        """Raise a DataError if there are no rows."""
        if not n_rows:
            raise DataError("\n".join([f"{self.name} has column names but no rows", *self.notes]))

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, and tell how far it is."""
        return self.table.fetch(sql, self._passes)

    def values(self, columns: Sequence[str], beside: Sequence[str | None] = ()) -> tuple[Floats, list[Any]]:
        """Return columns as doubles, shape (n, d), and others as DuckDB has them, None for None; all in SQL."""
        rows = self.table.values([*columns, *filter(None, beside)], self._passes)
        X = _matrix(rows, len(columns))
        found = [None if one is None else next(rows) for one in beside]
        n_rows = next((len(one) for one in (*X.T, *found) if one is not None), None)
        self.n_rows = self.count() if n_rows is None else n_rows
        self.refuse_no_rows(self.n_rows)
        self.table.give_back_memory()
        self._passes(1.0, self.n_rows)
        return X if columns else np.empty((n_rows or 0, 0)), found

    def refuse_text(self, column: str) -> None:
        """Raise a DataError if a column has text where numbers must be; it says in how many rows, and where first."""
        refuse_text(self.table, self.place_of(column), self.count(), or_words=True)

    def text_among(self, column: str) -> TextAmong:
        """Return what is known of the text among the numbers of a column of `mixed`."""
        return text_among(self.table, self.place_of(column), self.count())

    def hints_on(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return lines on columns of text whose values are numbers to people, though there is doubt which."""
        return hints_on(self.table, columns)

    def label_name(self, column: str) -> str:
        """Return the name by which a pass reads the labels of a column."""
        return self._copy.label_name(column)

    def run(self, make: Callable[[], S], columns: Sequence[str], n_jobs: int | None = -1) -> S:
        """Return one summary of all batches."""
        return self._copy.run(make, columns, n_jobs)

    @cached_property
    def _copy(self) -> Source:
        from boxwood.table._spill import spilled_table

        return self._open.enter_context(closing(spilled_table(self.table, range(len(self.names)))))

    def close(self) -> None:
        """Close the file. The source cannot be read any more."""
        super().close()
        self._open.close()


def _padded_in(table: DuckTable, columns: Mapping[int, Column]) -> list[int]:
    """Return the columns of whole numbers that the file has as digits with leading zeros."""
    padded = [
        i for i, one in columns.items() if one.kind == "number" and one.profile is not None and one.profile.padded
    ]
    if not padded:
        return []
    tests = ", ".join(f"bool_and(n{i} = floor(n{i}))" for i in padded)
    values = ", ".join(f"{table.number(i)} AS n{i}" for i in padded)
    are_whole = table.fetch(f"SELECT {tests} FROM (SELECT {values} FROM {table.relation})")[0]
    return [i for i, is_whole in zip(padded, are_whole, strict=True) if is_whole]


def _rounded_in(table: DuckTable, columns: Mapping[int, Column]) -> list[int]:
    """Return the columns of whole numbers, by their type or their texts, of which doubles may not hold each."""
    texts = [i for i, one in columns.items() if one.profile is not None and one.profile.is_beyond_doubles]
    return [*are_digits(table, texts), *(i for i in columns if table.is_whole(i))]


def _matrix(values: Iterator[Any], n_columns: int) -> Floats:
    """Return the next columns of numbers as doubles; NaN where a value is missing."""
    X = np.empty((0, 0))
    for j in range(n_columns):
        column = as_doubles(next(values))
        if j == 0:
            X = np.empty((len(column), n_columns), order="F")
        X[:, j] = column
    return X


def as_doubles(values: Any) -> Floats:
    """Return numbers or dates of DuckDB, masked where they are missing, as doubles."""
    data = np.ma.getdata(values)  # of the column's own type
    found: Floats = days_of(data) if data.dtype.kind == "M" else np.array(data, dtype=np.float64)
    if np.ma.is_masked(values):
        found[np.ma.getmaskarray(values)] = np.nan
    return found
