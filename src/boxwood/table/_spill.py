"""Tables that are read once and written into a temporary Parquet file, because they will be read again.

CSV and JSON are slow to parse. A query may give other rows the next time. A reader of Arrow batches can be read once.
Each value becomes what `FileInMemory` makes of it, so a tree from batches is that of the table in memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import compress
from typing import Any, NamedTuple, TypeAlias

from boxwood._files import lasting_folder
from boxwood._messages import cut_off
from boxwood.batches.batches import USABLE, read_numbers
from boxwood.batches.labelling import MOST_LABELS
from boxwood.batches.source import kind_of_type
from boxwood.errors import DataError
from boxwood.table.columns import Column, TextProfile, are_digits, inspect_columns, spellings_of, typed_column
from boxwood.table.connect import Tick, open_duckdb, wait_for
from boxwood.table.duck import DuckTable, group_rows, open_table, query_table
from boxwood.table.options import ReadOptions, distinct_names
from boxwood.table.parquet import (
    CopiedFile,
    Copy,
    ParquetFile,
    ParquetSource,
    opened_files,
    parquet_file,
    refuse_changed,
    refuse_unwritable,
    stamp_of,
)
from boxwood.table.sql import sql_text

Choose: TypeAlias = Callable[[Sequence[str]], list[int]]
"""What gets the names of columns, and returns the places of some."""
_FIRST = 10_000  # rows without a number, but with other texts, show that a column is text


class SpillFolder:
    """A temporary folder, which lasts as long as the source that reads its files."""

    def __init__(self) -> None:
        self.path, self._remove = lasting_folder(self)

    def remove(self) -> None:
        """Remove the folder."""
        self._remove()

    @contextmanager
    def filling(self) -> Iterator[str]:
        """Yield the name of a Parquet file to write; after an error or Ctrl-C the folder is removed."""
        try:
            yield os.path.join(self.path, "rows.parquet")
        except BaseException:
            self.remove()
            raise

    def source(self, table: DuckTable, chosen: Sequence[int], copy: Copy, memory_limit: int | None) -> ParquetSource:
        """Return columns of a table, which were written, as a source."""
        file, names = parquet_file(os.path.join(self.path, "rows.parquet"), table.name), table.names
        return ParquetSource([file], [names[i] for i in chosen], name=table.name, copy=copy, memory_limit=memory_limit)


def spilled_file(
    path: str, options: ReadOptions, choose: Choose, use: Choose, memory_limit: int | None, tick: Tick | None
) -> ParquetSource:
    """Return a file of any format as a source.

    IN: choose, use: get the names of the columns and return those to read, and those that may be used.
    """
    folder = SpillFolder()
    stamp = stamp_of(path) if os.path.isfile(path) else None  # standard input and pipes have none
    with folder.filling() as out, open_table(path, options, memory_limit=memory_limit) as table:
        chosen = choose(table.names)
        table.refuse_uncalculated({*chosen} & {*use(table.names)})
        copy = _write(folder, _limit_memory(table, memory_limit), chosen, out, tick)
        if stamp is not None:
            refuse_changed(path, table.name, stamp)
    notes = (*copy.notes, f"{table.name} was copied to a temporary file of Parquet, which is read instead")
    names = None if chosen == [*range(len(table.names))] else [table.names[i] for i in chosen]
    file = None if stamp is None else CopiedFile(path, options, names, stamp)
    return folder.source(table, chosen, copy._replace(notes=notes, file=file), memory_limit)


def spilled_table(table: DuckTable, chosen: Sequence[int]) -> ParquetSource:
    """Return columns of a file that is open as a source that reads a copy."""
    folder = SpillFolder()
    with folder.filling() as out:
        return folder.source(table, chosen, _write(folder, table, chosen, out, None), None)


def spilled_parquet(
    files: Sequence[ParquetFile], name: str, chosen: Sequence[int], memory_limit: int | None, tick: Tick | None
) -> ParquetSource:
    """Return columns of Parquet files as a source that reads a copy, in which texts of numbers and dates are these."""
    folder = SpillFolder()
    with folder.filling() as out, opened_files(files, name, chosen) as table:
        copy = _write(folder, _limit_memory(table, memory_limit), range(len(chosen)), out, tick)
        for file in files:
            refuse_changed(file.path, file.name, file.stamp)
    said = "in which texts of numbers and decimals are doubles, and texts of dates dates"
    notes = (*copy.notes, f"{name} was copied to a temporary file, {said}")
    return folder.source(table, range(len(chosen)), copy._replace(notes=notes), memory_limit)


class Texts(NamedTuple):
    """Columns of text of Parquet files.

    Parameters
    ----------
    are_others : bool
        Whether one of them or more holds dates, or numbers in at least half of its values, so that a copy is read.
    kinds : mapping from str to str
        Kinds of those that hold no words, if no copy is read: "empty" without a value, as marks such as NA are none,
        "unclear" and "time".
    """

    are_others: bool
    kinds: Mapping[str, str]


def texts_of(files: Sequence[ParquetFile], name: str, chosen: Sequence[int]) -> Texts:
    """Return what is in the columns of Parquet files that are text by their type."""
    with opened_files(files, name, chosen) as table:
        texts = [i for i in range(len(chosen)) if table.kind(i) == "text"]
        if texts:
            tests = [_may_be_others(table, i) for i in texts]
            found = table.fetch(f"SELECT {', '.join(tests)} FROM (SELECT * FROM {table.relation} LIMIT {_FIRST})")[0]
            texts = [i for i, may_be in zip(texts, found, strict=True) if may_be]
        columns = dict(zip(texts, inspect_columns(table, texts, None), strict=True))
        kinds = {table.names[i]: column.kind for i, column in columns.items() if column.kind != "text"}
        are_others = any(column.kind in USABLE or column.is_mixed for column in columns.values())
        return Texts(are_others, kinds)


def _may_be_others(table: DuckTable, column: int) -> str:
    """Return SQL for whether some texts are numbers, or all may be dates or times, or missing."""
    text, lacks = table.text(column), table.missing(column)
    return f"count({table.number(column)}) > 0 OR bool_and({lacks} OR regexp_matches({text}, {sql_text(_OF_TIME)}))"


_OF_TIME = "[0-9][-./: ][0-9]|[A-Za-z]{3}[- ][0-9]"  # in dates and times of every form


def spilled_rows(sql: str, choose: Choose, memory_limit: int | None) -> ParquetSource:
    """Return the rows of a query as a source."""
    folder = SpillFolder()
    with folder.filling() as out, open_duckdb() as (con, workspace):
        table = query_table(con, workspace, sql)
        chosen = choose(table.names)
        columns = [typed_column(table, i) for i in chosen]
        _limit_memory(table, memory_limit)
        with told_of_disk():
            _copy_columns(table, columns, out, None)
    notes = ("the rows of the query were written into a temporary file, so that each pass reads the same",)
    return folder.source(table, chosen, Copy(columns, notes, folder.remove, table.format), memory_limit)


def spilled_relation(relation: Any, choose: Choose, memory_limit: int | None) -> ParquetSource:
    """Return a relation of DuckDB as a source; it is read once, on its own connection."""
    import duckdb

    folder, name = SpillFolder(), "the relation"
    names, types = distinct_names(relation.columns), tuple(map(str, relation.types))
    table = DuckTable(None, "", name, "SQL", names, types, folder.path)
    with folder.filling() as out:
        chosen = choose(names)
        columns = [typed_column(table, i) for i in chosen]
        selected = ", ".join(f"{column.sql} AS c{j}" for j, column in enumerate(columns))
        try:
            with told_of_disk():
                write = partial(_write_relation, relation, selected, len(columns), out)
                # older versions of DuckDB do not tell the connection of a relation, and look for Ctrl-C by themselves
                wait_for(relation._con, write) if hasattr(relation, "_con") else write()
        except duckdb.Error as error:
            raise DataError(f"cannot read the relation: {cut_off(str(error).splitlines()[0], 500)}") from None
    notes = ("the rows of the relation were written into a temporary file, so that each pass reads the same",)
    return folder.source(table, chosen, Copy(columns, notes, folder.remove, table.format), memory_limit)


def _write_relation(relation: Any, selected: str, n_columns: int, out: str) -> None:
    own = ", ".join(f"#{i + 1} AS c{i}" for i in range(len(relation.columns)))  # names may be equal
    # what is made of columns may bring rows into another order
    rows = relation.project(f"row_number() OVER () AS row, {own}").project(f"{selected}, row").order("row")
    # older versions of DuckDB have the second name only, newer ones warn of it
    read = rows.to_arrow_reader if hasattr(rows, "to_arrow_reader") else rows.fetch_arrow_reader
    write_batches_to(out, read(group_rows(n_columns)), range(n_columns))


def spilled_batches(batches: Any, name: str, choose: Choose, memory_limit: int | None) -> ParquetSource:
    """Return the batches of an Arrow reader as a source."""
    folder, names = SpillFolder(), distinct_names(batches.schema.names)
    table = DuckTable(None, "", name, "SQL", names, tuple(map(str, batches.schema.types)), folder.path)
    chosen = choose(names)
    with folder.filling() as out:
        write_batches_to(out, batches, chosen)
    columns = [Column(f"c{i}", kind_of_type(batches.schema.types[i])) for i in chosen]
    notes = (f"{name} can be read once, so its rows were written into a temporary file",)
    return folder.source(table, chosen, Copy(columns, notes, folder.remove, table.format), memory_limit)


def write_batches_to(out: str, batches: Any, chosen: Sequence[int]) -> None:
    """Write columns of Arrow batches as c0, c1, … into a Parquet file; decimals become doubles."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = [batches.schema.types[i] for i in chosen]
    types = [pa.float64() if pa.types.is_decimal(type) else type for type in types]
    schema = pa.schema([pa.field(f"c{j}", type) for j, type in enumerate(types)])
    refuse_unwritable(schema, [batches.schema.names[i] for i in chosen])
    with told_of_disk():
        # few doubles are equal: to look for equal ones takes as long as to write them
        others = [field.name for field in schema if not pa.types.is_floating(field.type)]
        writer = pq.ParquetWriter(out, schema, use_dictionary=others, write_statistics=False)
    with writer:
        for rows in _gather_batches(batches, chosen, schema):
            with told_of_disk():
                writer.write_table(rows, row_group_size=group_rows(len(types)))


def _gather_batches(batches: Any, chosen: Sequence[int], schema: Any) -> Iterator[Any]:
    """Yield columns of batches as tables that are not much smaller than a group of a Parquet file."""
    import pyarrow as pa

    waiting, n_waiting = [], 0
    for batch in batches:
        arrays = [batch.column(i) for i in chosen]
        arrays = [pa.array(read_numbers(each)) if pa.types.is_decimal(each.type) else each for each in arrays]
        waiting.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
        n_waiting += batch.num_rows
        if n_waiting >= group_rows(len(arrays)):
            yield pa.Table.from_batches(waiting, schema)
            waiting, n_waiting = [], 0
    yield pa.Table.from_batches(waiting, schema)


# ---------------------------------------------------------------------------------------------------- by DuckDB
def _write(folder: SpillFolder, table: DuckTable, chosen: Sequence[int], out: str, tick: Tick | None) -> Copy:
    """Write columns of a table into a Parquet file."""
    table = table.kept(tick)
    columns = columns_to_write(table, chosen, tick)
    with told_of_disk():
        _copy_columns(table, columns, out, tick)
    spellings = spellings_of(table, dict(zip(chosen, columns, strict=True)))
    words = {table.names[i]: its for i, its in table.words.items()}
    orders = {table.names[i]: its for i, its in table.orders.items()}
    return Copy(columns, table.hints, folder.remove, table.format, table.decimal, spellings, words, orders)


def _limit_memory(table: DuckTable, memory_limit: int | None) -> DuckTable:
    if memory_limit is not None:
        table.con.execute(f"SET memory_limit = '{memory_limit} bytes'")
    return table


@contextmanager
def told_of_disk() -> Iterator[None]:
    """Say of an error in writing a temporary file where that is, and how to have it elsewhere."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0].removeprefix("cannot write: ")
        raise OSError(
            f"cannot write a temporary file in {tempfile.gettempdir()}: {reason}\n"
            "make room there, or name another folder by the environment variable TMPDIR"
        ) from None


_WIDE = ("HUGEINT", "UHUGEINT", "BIGNUM", "DECIMAL")  # types of numbers that become doubles, which may be equal


def columns_to_write(table: DuckTable, chosen: Sequence[int], tick: Tick | None) -> list[Column]:
    """Return how columns are written: texts of whole numbers as such, and numbers with texts that labels need.

    Of words each text is kept, but for empty ones: whoever reads the copy says which of them stand for a missing word.
    """
    columns = dict(zip(chosen, inspect_columns(table, chosen, tick), strict=True))
    profiles = {i: c.profile for i, c in columns.items() if c.profile is not None and c.profile.are_numbers}
    wide = [i for i in chosen if table.types[i].split("(")[0] in _WIDE]
    numbers = {i: profile for i, profile in profiles.items() if columns[i].kind == "number"}
    exact = [i for i, profile in numbers.items() if _may_be_exact(profile)]
    padded = [i for i, profile in numbers.items() if profile.padded]
    are_texts = {i: profile.blanks > 0 or not table.has_marks for i, profile in profiles.items()}
    whole, labels = _looked_at(table, [*{*exact, *padded}], {**are_texts, **dict.fromkeys(wide, False)}, tick)
    for i in whole:
        sql = f"CAST({table.number(i)} AS BIGINT)" if i in exact else columns[i].sql
        columns[i] = columns[i]._replace(sql=sql, is_padded=i in padded)
    for i in are_digits(table, [i for i, profile in numbers.items() if profile.is_beyond_doubles]):
        columns[i] = columns[i]._replace(is_rounded=True)
    for i in labels:
        columns[i] = columns[i]._replace(label=table.filled(i) if table.kind(i) == "text" else table.label(i))
    return [
        column._replace(sql=table.filled(i)) if column.kind == "text" and column.profile is not None else column
        for i, column in columns.items()
    ]


def _looked_at(
    table: DuckTable, whole: Sequence[int], labels: Mapping[int, bool], tick: Tick | None
) -> tuple[list[int], list[int]]:
    """Return the first columns that hold whole numbers, and the second ones that may be labels by their texts alone.

    IN: columns whose values are all numbers; the second ones with whether their labels are texts in any case.
    """
    tests = [*(f"bool_and(n{i} = floor(n{i}))" for i in whole)]
    tests += [_needs_text(i, is_text=is_text) for i, is_text in labels.items()]
    if not tests:
        return [], []
    values = [f"{table.number(i)} AS n{i}" for i in {*whole, *labels}]  # once, for they are used more than once
    values += [f"{table.text(i)} AS t{i}" for i in labels]
    found = table.fetch(f"SELECT {', '.join(tests)} FROM (SELECT {', '.join(values)} FROM {table.relation})", tick)[0]
    first, second = found[: len(whole)], found[len(whole) :]
    return [*compress(whole, first)], [*compress(labels, second)]


def _needs_text(i: int, *, is_text: bool) -> str:
    """Return SQL for whether texts t that may be labels are not those of whole numbers that doubles hold.

    IN: is_text: whether the labels are texts in any case.
    """
    whole = f"TRY_CAST(t{i} AS BIGINT)"
    is_plain = f"t{i} = CAST({whole} AS VARCHAR) AND {whole} BETWEEN -{1 << 53} AND {1 << 53}"
    are_plain = "false" if is_text else f"bool_and(n{i} IS NULL OR coalesce({is_plain}, false))"
    return f"NOT {are_plain} AND approx_count_distinct(t{i}) <= {2 * MOST_LABELS}"


def _may_be_exact(profile: TextProfile) -> bool:
    """Return whether the least and the greatest value are whole numbers that doubles tell apart."""
    ends = (profile.low or 0.0, profile.high or 0.0)
    return all(abs(end) < 1 << 53 and end == int(end) for end in ends)


def _copy_columns(table: DuckTable, columns: Sequence[Column], out: str, tick: Tick | None) -> None:
    """Write columns as c0, c1, …, and texts of labels beside them, into a Parquet file."""
    written = {f"c{j}": column.sql for j, column in enumerate(columns)}
    written |= {f"t{j}": column.label for j, column in enumerate(columns) if column.label is not None}
    options = f"FORMAT parquet, ROW_GROUP_SIZE {group_rows(len(columns))}, USE_TMP_FILE false"
    table.copy(written, out, options, tick)
