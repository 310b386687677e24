"""A table that stays in its file, or that a query makes: DuckDB reads it each time a query runs.

Columns are called `c0`, `c1`, … in SQL, so that no name can collide with another or with a word of SQL.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from boxwood._messages import cut_off, list_words
from boxwood._texts import BLANKS, MARKS
from boxwood._validation import refuse_unknown, show_value
from boxwood.errors import DataError
from boxwood.table.connect import NOT_USED, Tick, open_duckdb, wait_for
from boxwood.table.csv import has_encoding
from boxwood.table.formats import (
    FORMATS,
    File,
    error_of_query,
    format_of,
    refuse_other_format,
    refuse_other_options,
    unreadable,
)
from boxwood.table.options import (
    DEFAULTS,
    ReadOptions,
    as_path,
    as_spelled,
    distinct_names,
    find_file,
    may_be_renamed,
    refuse_no_options,
)
from boxwood.table.sheet import error_of_no_values, list_uncalculated
from boxwood.table.sql import MANY, ONE_FILE, as_name, as_pattern, sql_text
from boxwood.table.written import Style, days, number_in, plain_number

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_WHOLE_TYPES = (*_WHOLE, *(f"U{name}" for name in _WHOLE), "BIGNUM")
_NUMBERS = (*_WHOLE_TYPES, "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")
_DATES, _TIMES = ("DATE", "TIMESTAMP"), ("TIME", "INTERVAL")
_OF_TEXTS = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME", "UUID")  # that DuckDB makes of texts of JSON
WITH_ZONE = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
_MARKS, _BLANKS = (", ".join(f"'{mark}'" for mark in marks) for marks in (MARKS, (*MARKS, *BLANKS)))

_MOVED = "rows in another order than they were read"


class _RowsMovedError(Exception):
    """A query gave rows in another order than the table has them."""


_LEAN, _LEAN_COLUMN = 256, 4  # MiB for a query that streams, and for each column, of which DuckDB holds 122 880 rows
_PART = 1 << 15  # rows of a part
_IN_FILES = "FORMAT parquet, COMPRESSION uncompressed, OVERWRITE_OR_IGNORE true"
_LEAN_THREADS = 128  # columns of all threads together, as each thread holds those rows of every column


@dataclass(frozen=True)
class DuckTable:
    """A file as a relation of DuckDB, with the names of its columns.

    Parameters
    ----------
    con : DuckDB connection
        It is in memory.
    relation : str
        SQL of the rows, with columns c0, c1, …
    name : str
        Name of the file in messages.
    format : str
        Name of its format, a key of `FORMATS`.
    names, types : tuple of str
        Name and DuckDB's type of each column. Always holds: names are all different.
    workspace : str
        Folder for temporary files. It is removed when the source is closed.
    hints : tuple of str
        Lines for the reader on how the file was read.
    decimal : {".", ","}, or None
        What stands before the decimals in every column of text; None if the reader did not say.
    styles : dict from int to Style
        How columns of text are written that hold numbers or truths, but not plainly; `learn_styles` fills it in.
    looked_at : dict from int to facts, or None
        What is known of columns of text that may hold numbers; None for others. Each takes queries only once.
    words : dict from int to collection of str
        Marks of missing values, as NA, that are words in a column of text; see `table.words`, which fills it in.
    names_with_e : set of int
        Columns of text in which 1E5 is a name, and no number.
    zones : mapping from int to str
        Time zones of columns, where the file names them; DuckDB has all dates with a time zone in UTC.
    orders : mapping from int to sequence
        The values of columns whose type has an order, where the file has such types, in that order.
    not_a_row : str
        SQL for whether a row of the relation is none, as a total or a note; "" if all are rows. They get no cluster.
    may_be_none : str
        SQL for whether one may be none, as it has texts where others have numbers; they get no cluster if rules need
        these. "" if there is none.
    uncalculated : mapping from int to int
        Of Excel: how many cells of columns hold formulas without a value; such columns can be copied, but not used.
    """

    con: duckdb.DuckDBPyConnection
    relation: str
    name: str
    format: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    workspace: str
    hints: tuple[str, ...] = ()
    decimal: str | None = None
    styles: dict[int, Style] = field(default_factory=dict)
    looked_at: dict[int, Any] = field(default_factory=dict)
    words: dict[int, Collection[str]] = field(default_factory=dict)
    names_with_e: set[int] = field(default_factory=set)
    zones: Mapping[int, str] = field(default_factory=dict)
    orders: Mapping[int, Sequence[Hashable]] = field(default_factory=dict)
    not_a_row: str = ""
    may_be_none: str = ""
    uncalculated: Mapping[int, int] = field(default_factory=dict)

    def refuse_uncalculated(self, columns: Collection[int]) -> None:
        """Raise a DataError if one of the columns holds formulas without a value."""
        if found := [(self.names[i], n) for i, n in self.uncalculated.items() if i in columns]:
            raise error_of_no_values(self.name, found)

    @property
    def others(self) -> str:
        """SQL for whether a row of the relation is none, or may be none; "" if all are rows."""
        return " OR ".join(filter(None, (self.not_a_row, self.may_be_none)))

    def rows_alone(self) -> DuckTable:
        """Return the table without the others; what is learnt of the one is known of the other."""
        return replace(self, may_be_none="")._without(self.others)

    def _without(self, others: str) -> DuckTable:
        if not others:
            return self
        return replace(self, relation=f"(SELECT * FROM {self.relation} WHERE NOT ({others})) AS t", not_a_row="")

    def kind(self, column: int) -> str:
        """Return "number", "text", "date", "time" or "other", by the type alone; texts may still be numbers."""
        kind = self.types[column].split("(")[0].split(" ")[0]
        if self.types[column].endswith("]"):
            return "other"
        if kind in _NUMBERS:
            return "number"
        if kind in ("VARCHAR", "ENUM", "JSON", "UUID"):
            return "text"
        return "date" if kind.startswith(_DATES) else "time" if kind.startswith(_TIMES) else "other"

    def is_whole(self, column: int) -> bool:
        """Return whether the type of a column holds whole numbers only."""
        return self.types[column] in _WHOLE_TYPES

    def text(self, column: int) -> str:
        """Return SQL for a value as text."""
        return f"(c{column} ->> '$')" if self.types[column] == "JSON" else f"CAST(c{column} AS VARCHAR)"

    def label(self, column: int) -> str:
        """Return SQL for a value as the text of a label, with one zero only, and in UTC if it has a zone."""
        if self.types[column] in WITH_ZONE:
            return f"(CAST(timezone('UTC', c{column}) AS VARCHAR) || '+00')"
        return f"CAST(c{column} + 0 AS VARCHAR)" if self.types[column] in ("FLOAT", "DOUBLE") else self.text(column)

    def missing(self, column: int, *, among_words: bool = False) -> str:
        """Return SQL for whether the value is missing: NULL, NaN, an empty text, a mark such as NA, or a blank.

        IN: among_words: whether it is where `category` has none, so that blanks are words.
        """
        if self.kind(column) == "text" and among_words:
            return f"({self.category(column)} IS NULL)"
        if self.kind(column) == "text":
            # most texts are numbers, so the first test is false for them, and the second is not evaluated
            said = f"lower(trim({self.text(column)})) IN ({_BLANKS})"
            return f"({self.number(column)} IS NULL AND coalesce({said}, true))"
        return f"({self.number(column) if self.kind(column) == 'number' else f'c{column}'} IS NULL)"

    def number(self, column: int) -> str:
        """Return SQL for a value as a double: 1 for true, 0 for false, days for dates; NULL if missing or no number."""
        number = f"CAST(c{column} AS DOUBLE)"
        if self.kind(column) == "date":
            return days(f"c{column}", self.types[column])
        if self.types[column] == "BOOLEAN":
            # a cast would make DuckDB read the column of a CSV file again, as DOUBLE, which fails on true and false
            number = f"CASE WHEN c{column} THEN 1e0 WHEN NOT c{column} THEN 0e0 END"
        elif self.kind(column) == "text":
            text = self.text(column)
            truth = f"CASE lower(trim({text})) WHEN 'true' THEN 1e0 WHEN 'false' THEN 0e0 END"
            plain = plain_number(text)
            if column in self.names_with_e:
                return "CAST(NULL AS DOUBLE)"
            if column in self.styles:
                plain = self.styles[column].number(text)
            elif self.decimal is not None:
                plain = number_in(text, self.decimal, signs=False)
            number = f"coalesce({plain}, {truth})"
        return f"nullif({number}, CAST('NaN' AS DOUBLE))"

    def category(self, column: int, known: Sequence[str] = ()) -> str:
        """Return SQL for a value as text; NULL if it is missing.

        In CSV, an empty text and a mark such as NA are missing too, unless it is one of the known values, or a word of
        the column.
        """
        text, known = self.text(column), [*known, *self.words.get(column, ())]
        if not self.has_marks:
            return text
        listed = ", ".join(map(sql_text, known))
        is_known = f"{text} IN ({listed}) OR " if known else ""
        return f"CASE WHEN {is_known}lower(trim({text})) NOT IN ({_MARKS}) THEN {text} END"

    def filled(self, column: int) -> str:
        """Return SQL for a value as text; NULL if it is missing, or an empty text in CSV."""
        text = self.text(column)
        return f"CASE WHEN trim({text}) <> '' THEN {text} END" if self.has_marks else text

    @property
    def has_marks(self) -> bool:
        """Whether texts are all that the table has, so that some of them stand for a missing value."""
        return self.format in FORMATS and FORMATS[self.format].is_text

    def fetch(self, sql: str, tick: Tick | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self._run(lambda: self.con.execute(sql).fetchall(), tick)  # type: ignore[no-any-return]

    def fetch_lean(self, sql: str, tick: Tick | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query that streams the file, in memory that does not grow with the number of rows.

        DuckDB takes as much memory as it may, for results that wait for their turn in the order of rows. If the limit
        is too small, for instance for long texts, the query runs again without it.
        """
        return _leanly(self.con, len(self.names), lambda: self.fetch(sql, tick))

    def values(self, columns: Sequence[str], tick: Tick | None = None) -> Iterator[Any]:
        """Yield columns, which are given in SQL, as arrays, one value for each row in the order of the file.

        Values are masked where they are NULL. They come with the number of their row, and are put in its place: a
        query may give rows in any order, and takes some of the columns only.
        """
        for start in range(0, len(columns), MANY):
            some = columns[start : start + MANY]
            selected = ", ".join(f"{sql} AS v{j}" for j, sql in enumerate(some))
            arrays = self._fetch_arrays(f"SELECT row, {selected} FROM {self.numbered}", tick)
            rows = arrays.pop("row")
            order = None if (rows[1:] > rows[:-1]).all() else rows.argsort()
            for j in range(len(some)):
                found = arrays.pop(f"v{j}")
                yield found if order is None else found[order]

    def give_back_memory(self) -> None:
        """Return to the system what queries have freed, as DuckDB keeps it for the next one: a lower limit takes it."""
        import duckdb

        with suppress(duckdb.Error):
            self.con.execute("SET memory_limit = '1MiB'")
        self.con.execute("RESET memory_limit")

    def parts(self, sql: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query, in any order, as masked arrays by the names of its columns, some rows at a time.

        The query runs once: its rows are written into files, each of which is a part.
        """
        with tempfile.TemporaryDirectory(dir=self.workspace) as folder:
            options = f"{_IN_FILES}, ROW_GROUP_SIZE {_PART}, FILE_SIZE_BYTES 1"  # each group of rows in one of its own
            self.fetch_lean(f"COPY ({sql}) TO {sql_text(folder)} ({options})")
            for name in sorted(os.listdir(folder)):
                yield self._fetch_arrays(f"FROM read_parquet({as_pattern(os.path.join(folder, name))})", None)

    def _fetch_arrays(self, sql: str, tick: Tick | None) -> dict[str, Any]:
        return self._run(lambda: self.con.execute(sql).fetchnumpy(), tick)  # type: ignore[no-any-return]

    @property
    def numbered(self) -> str:
        """SQL of the rows with their number in `row`: only where a table is read does DuckDB promise their order."""
        return f"(SELECT row_number() OVER () AS row, * FROM {self.relation})"

    def copy(
        self,
        columns: Mapping[str, str],
        out: str,
        options: str,
        tick: Tick | None = None,
        *,
        rows: str | None = None,
        above: str = "",
    ) -> None:
        """Write columns, which are given in SQL by their names, into a file, in the order of the table.

        They are streamed. Should DuckDB give rows in another order than it has read them, they are sorted.

        IN: options: of DuckDB, for the file; rows: SQL of the rows with their number, None for `numbered`; above: SQL
        of rows to write above them.
        """
        inner = ", ".join(f"{sql} AS v{j}" for j, sql in enumerate(columns.values()))
        outer = ", ".join(f"v{j} AS {as_name(name)}" for j, name in enumerate(columns))
        query = f"SELECT {outer} FROM (SELECT row, {inner} FROM {rows or self.numbered})"
        run = self.fetch if self.format == "SQL" else self.fetch_lean  # a query may need memory of its own
        in_place = f"QUALIFY CASE WHEN row = row_number() OVER () THEN true ELSE error('{_MOVED}') END"
        for order in (in_place, "ORDER BY row"):
            with suppress(_RowsMovedError):
                run(f"COPY ({above}({query} {order})) TO {sql_text(out)} ({options})", tick)
                return

    def kept(self, tick: Tick | None = None) -> DuckTable:
        """Return the same table for many queries: if it is text of many columns, a copy in Parquet, else itself."""
        if not FORMATS[self.format].is_text or len(self.names) <= MANY:
            return self
        copy = os.path.join(self.workspace, "kept.parquet")
        options = f"FORMAT parquet, ROW_GROUP_SIZE {group_rows(len(self.names))}"
        self.fetch_lean(f"COPY (SELECT * FROM {self.relation}) TO {sql_text(copy)} ({options})", tick)
        aliases = ", ".join(f"c{i}" for i in range(len(self.names)))
        return replace(self, relation=f"read_parquet({as_pattern(copy)}, {ONE_FILE}) AS t({aliases})")

    def fetch_arrow(self, sql: str) -> Any:
        """Return the rows of a query as a table of Arrow, in their order."""
        return self._run(lambda: self.con.sql(sql).to_arrow_table(), None)

    def _run(self, work: Callable[[], Any], tick: Tick | None) -> Any:
        import duckdb

        try:
            return wait_for(self.con, work, tick)
        except duckdb.Error as error:
            if _MOVED in str(error):
                raise _RowsMovedError from None
            raise error_of_query(self.name, self.format, error) from None


@contextmanager
def open_table(
    path: str,
    options: ReadOptions = DEFAULTS,
    *,
    text: bool = True,
    texts: Collection[str] = (),
    all_rows: bool = False,
    as_written: bool = False,
    memory_limit: int | None = None,
) -> Iterator[DuckTable]:
    """Open a table for queries. Each query reads the file in a stream, so the table may exceed memory.

    Parameters
    ----------
    path : str
        File name, or `-` for standard input.
    options : ReadOptions
        How it is read; of the decimals of CSV, see `learn_styles`, too.
    text : bool, default=True
        Of CSV: whether all values stay text. If not, columns that hold numbers only become numbers.
    texts : collection of str, default=()
        Names of columns of CSV that stay text in any case.
    all_rows : bool, default=False
        Whether the table is to be copied. Of CSV and Excel: lines that are no rows are kept, see `DuckTable.not_a_row`,
        but for titles above the names of columns. Of JSON lines and SQLite: no digit of whole numbers is lost.
    as_written : bool, default=False
        Of JSON lines, SQLite and Excel: whether it is copied into a file of text, so that numbers of columns with
        fractions, and values with others inside, stay the JSON that they are.
    memory_limit : int, default=None
        Bytes that DuckDB may take to run a view; None is its own limit.

    Raises
    ------
    DataError
        If the file is missing, empty or not of its format. The first line of the message says what is wrong, further
        lines what to do.
    ValueError
        If the format or the encoding is unknown.
    """
    refuse_no_options(options)
    path = as_path(path)
    if options.format is not None:
        refuse_unknown("format", options.format, FORMATS)
    if options.encoding is not None and not has_encoding(options.encoding):
        raise ValueError(
            f"unknown encoding {show_value(options.encoding)}; name one that Python knows, such as 'cp1252'"
        )
    with open_duckdb() as (con, workspace):
        file = File(*find_file(path, workspace), workspace, None if text else texts, options)
        file = file._replace(all_rows=all_rows, as_written=as_written, memory_limit=memory_limit)
        yield describe_file(con, file, format_of(path, options.format))


def describe_file(con: duckdb.DuckDBPyConnection, file: File, format: str) -> DuckTable:
    """Return a file with the names and types of its columns."""
    import duckdb

    refuse_other_options(file.name, format, file.options)
    refuse_other_format(file, format)
    file = FORMATS[format].prepared(file)
    try:
        found = wait_for(con, lambda: FORMATS[format].relation(con, file))
        describe = f"DESCRIBE SELECT * FROM {found.sql}"  # to find the types of CSV, DuckDB reads all of it
        described = _leanly(con, len(found.names), lambda: wait_for(con, lambda: con.execute(describe).fetchall()))
    except duckdb.Error as error:
        raise unreadable(file.name, format, str(error)) from None
    if len(described) > MANY:
        con.execute(f"SET disabled_optimizers = '{NOT_USED}, common_subexpressions'")
    described = described[: len(found.names) or None]  # a mark of what is no row may stand behind the columns
    own = [str(row[0]) for row in described]
    names = distinct_names(found.names or _spell_names(con, own, found.keys))
    aliases = ", ".join(f"c{i}" for i in range(len(described)))
    types = tuple("INTERVAL" if i in found.durations else str(row[1]) for i, row in enumerate(described))
    sql = found.sql
    if found.typed is not None and not may_be_renamed(own):
        types = tuple("VARCHAR" if type in _OF_TEXTS else type for type in types)
        if file.all_rows:
            types = _exact_types(con, file, own, types, found.typed)
        sql = found.typed(dict(zip(own, types, strict=True)))
    relation = f"{sql} AS t({aliases})"
    hints = (*file.hints, *found.hints)
    more = {"hints": hints, "decimal": file.options.decimal, "zones": found.zones, "orders": found.orders}
    more |= {"not_a_row": found.not_a_row, "uncalculated": found.uncalculated}
    if found.uncalculated:
        counts = [(names[i], n) for i, n in found.uncalculated.items()]
        more["hints"] = (*hints, f"{list_uncalculated(counts)}; open and save the workbook")
    table = DuckTable(con, relation, file.name, format, names, types, file.workspace, **more)
    return replace(table, may_be_none=found.may_be_none) if file.all_rows else table.rows_alone()


def _exact_types(
    con: duckdb.DuckDBPyConnection,
    file: File,
    names: Sequence[str],
    types: tuple[str, ...],
    typed: Callable[[Mapping[str, str]], str],
) -> tuple[str, ...]:
    """Return types of columns of JSON lines that lose no digit: JSON in place of those that may."""
    loose = [i for i, type in enumerate(types) if type in ("DOUBLE", "HUGEINT", "UHUGEINT") or is_nested(type)]
    if loose and not file.as_written:
        rows = typed({names[i]: "JSON" for i in loose})
        tests = ", ".join(f"bool_or(regexp_matches(CAST(c{i} AS VARCHAR), '{_FAR}'))" for i in loose)
        query = f"SELECT {tests} FROM {rows} AS t({', '.join(f'c{i}' for i in loose)})"
        found = wait_for(con, lambda: con.execute(query).fetchall())[0]
        loose = [i for i, is_far in zip(loose, found, strict=True) if is_far]
    return tuple("JSON" if i in loose else type for i, type in enumerate(types))


_FAR = "(^|[^0-9.])[0-9]{16,}([^0-9.eE]|$)"  # a whole number that a double may not hold


def is_nested(type: str) -> bool:
    """Return whether values of a type of DuckDB hold others."""
    return type.endswith("]") or type.startswith(("STRUCT", "MAP", "UNION"))


def _spell_names(con: duckdb.DuckDBPyConnection, names: list[str], keys: str | None) -> Sequence[str]:
    """Return names of columns as the file spells them, where DuckDB may have renamed some."""
    if keys is None or not may_be_renamed(names):
        return names
    return as_spelled(names, {row[0] for row in wait_for(con, lambda: con.execute(keys).fetchall())})


def _leanly(con: duckdb.DuckDBPyConnection, n_columns: int, work: Callable[[], T]) -> T:
    """Return `work()`, done in little memory, or if that is not enough, in as much as DuckDB takes.

    The more columns, the fewer threads. A single one also writes rows as they come, without a queue of groups of rows.
    """
    import duckdb

    ((threads,),) = con.execute("SELECT current_setting('threads')").fetchall()
    con.execute(f"SET memory_limit = '{_LEAN + _LEAN_COLUMN * n_columns}MiB'")
    con.execute(f"SET threads = {max(1, min(threads, _LEAN_THREADS // max(n_columns, 1)))}")
    try:
        return work()
    except (MemoryError, duckdb.OutOfMemoryException):
        con.execute("RESET memory_limit")
        return work()
    finally:
        con.execute("RESET memory_limit")  # some versions do not read the limit that they tell, as of 1638.3 PiB
        con.execute(f"SET threads = {threads}")


QUERY = "the query"  # its name in messages


class Query(NamedTuple):
    """A query in place of the name of a file."""

    sql: str


def query_table(con: duckdb.DuckDBPyConnection, workspace: str, sql: str) -> DuckTable:
    """Return the rows of a query; it runs each time they are read.

    Raises
    ------
    DataError
        If it is not one SELECT, or DuckDB cannot plan it.
    """
    import duckdb

    try:
        sql.encode()
        kinds = [statement.type.name for statement in con.extract_statements(sql)]
        if kinds != ["SELECT"]:
            raise DataError(f"the query must be one SELECT, got {list_words(kinds) or 'none'}")
        inner = f"(\n{_without_end(sql)}\n)"
        found = con.execute(f"DESCRIBE SELECT * FROM {inner}").fetchall()
    except (duckdb.Error, UnicodeEncodeError) as error:
        raise DataError(f"cannot run the query: {cut_off(str(error), 500)}") from None
    names, types = (tuple(str(row[at]) for row in found) for at in (0, 1))
    aliases = ", ".join(f"c{i}" for i in range(len(names)))
    return DuckTable(con, f"{inner} AS t({aliases})", QUERY, "SQL", names, types, workspace)


def _without_end(sql: str) -> str:
    """Return a statement without the semicolons and comments behind it, so that it can stand in brackets."""
    import duckdb

    text = sql.encode()  # places of tokens count bytes
    end = len(text)
    for start, kind in reversed(duckdb.tokenize(sql)):
        # older versions of DuckDB tell no comments, so that one may stand behind the semicolon
        if "comment" not in str(kind) and not text[start:end].startswith(b";"):
            break
        end = start
    return text[:end].decode()


_GROUP, _GROUP_ROWS = 1 << 22, (2048, 122_880)  # values, and bounds of rows, of a group of a Parquet file


def group_rows(n_columns: int) -> int:
    """Return the most rows of a group of a Parquet file: it is in memory as a whole when written."""
    least, most = _GROUP_ROWS
    return max(least, min(most, _GROUP // max(n_columns, 1)))
