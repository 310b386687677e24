"""The clusters of rows by SQL: of a whole table, of batches, of one row."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from boxwood._dates import MICROSECONDS, Dates
from boxwood._validation import cut_off, list_words, refuse_other_kind, show_value
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.table.columns import hints_on, learn_styles, refuse_other_type
from boxwood.table.connect import Tick, open_duckdb, wait_for
from boxwood.table.duck import WITH_ZONE, DuckTable, open_table
from boxwood.table.options import DEFAULTS, ColumnError, ReadOptions, distinct_names, suggestion
from boxwood.table.sql import as_double, as_name, sql_text
from boxwood.table.written import Style

if TYPE_CHECKING:
    import duckdb


class Rules(NamedTuple):
    """A new column in SQL.

    Parameters
    ----------
    expression : str
        SQL of the new column, in terms of the keys of `needed`; NULL is written as an empty value.
    needed : mapping from a name in the expression to a column of the table
        Columns that the expression reads. Those without an entry in `categories` must be numbers; the expression reads
        them as doubles, with NULL for missing values and NaN.
    categories : mapping from a name in the expression to Categories, default={}
        Columns of categories. The expression reads them as text, or as doubles if all categories are numbers, with NULL
        for missing values. In CSV, an empty text or a mark such as NA is missing, unless it is one of the categories.
        Other values that are not among the categories are no error; they are counted, unless the categories have a code
        for them.
    dates : mapping from name to Dates, default={}
        Columns of dates, which the expression reads as days: since 1970, or after the day in another column that is
        needed.
    """

    expression: str
    needed: Mapping[str, str]
    categories: Mapping[str, Categories] = {}
    dates: Mapping[str, Dates] = {}

    def refuse_other_kinds(self) -> None:
        """Raise a TypeError if a part is not of its kind."""
        refuse_other_kind("needed", self.needed, Mapping, "give each name in the expression a column of the table")
        refuse_other_kind("categories", self.categories, Mapping, "give names in the expression their Categories")
        for name, values in self.categories.items():
            refuse_other_kind(
                f"categories[{show_value(name)}]", values, Categories, "make them: boxwood.axes.Categories"
            )

    @property
    def texts(self) -> set[str]:
        """Columns of the table that are read as text."""
        words = (name for name, values in self.categories.items() if not values.are_numbers)
        return {self.needed[name] for name in (*words, *self.dates)} | self.day_columns

    @property
    def day_columns(self) -> set[str]:
        """Columns that have the day from which dates are counted."""
        return {one.day_column for one in self.dates.values() if one.day_column}


def days_needed(dates: Iterable[Dates]) -> dict[str, str]:
    """Return the columns that have the day from which dates are counted, by the names that `Rules` need."""
    return {f"day {one.day_column}": one.day_column for one in dates if one.day_column}


class Unseen(NamedTuple):
    """A column, the number of its values that no rule knows, and the first of them in the alphabet.

    They are categories that were never seen, or, if `are_dates` is true, texts among dates that are none.
    """

    column: str
    n_values: int
    example: str
    are_dates: bool = False


class Labelled(NamedTuple):
    """Number of rows written, number of those without a cluster, and the columns with categories never seen.

    A row has no cluster because a value that its rule needs is missing or was never seen.
    """

    n_rows: int
    n_empty: int
    unseen: tuple[Unseen, ...] = ()


class Input(NamedTuple):
    """A column that the expression reads, in SQL.

    Parameters
    ----------
    column : int
        Position in the table.
    value : str
        Its value; NULL if it is missing.
    is_text : str
        Whether the value is text although it must be a number, or a date.
    is_unseen : str
        Whether the value is not among the known categories, and has no code for that reason.
    must_be : str
        What values must be.
    are_dates : bool
        Whether the values are dates that stand as text.
    """

    column: int
    value: str
    is_text: str
    is_unseen: str
    must_be: str = "numbers"
    are_dates: bool = False


def inputs_of(source: DuckTable, rules: Rules) -> dict[str, Input]:
    """Return the columns that the expression reads, by their names in it.

    Raises
    ------
    DataError
        If the table lacks a column, or one that must be numbers has a type without any, such as a date.
    """
    positions = positions_of(source.name, source.names, rules.needed)
    source.refuse_uncalculated(positions.values())
    of_days = {name: Dates() for name in positions if rules.needed[name] in rules.day_columns}
    kinds: dict[str, Categories | Dates] = {**rules.categories, **of_days, **rules.dates}
    found = {name: input_of(source, at, kinds.get(name)) for name, at in positions.items()}
    return found | {name: _from_day(found[name], one, found, rules) for name, one in rules.dates.items()}


def _from_day(one: Input, dates: Dates, inputs: Mapping[str, Input], rules: Rules) -> Input:
    """Return a date as days after the day in another column, if it is counted from there; exact to the microsecond."""
    if not dates.day_column:
        return one
    day = next(inputs[name] for name in inputs if rules.needed[name] == dates.day_column and name not in rules.dates)
    micro = (f"round(({each.value}) * {as_double(float(MICROSECONDS))})" for each in (one, day))
    return one._replace(value=f"(({' - '.join(micro)}) / {as_double(float(MICROSECONDS))})")


def positions_of(table: str, names: Sequence[str], needed: Mapping[str, str]) -> dict[str, int]:
    """Return the position in a table with these columns of each column that is needed."""
    absent = [column for column in needed.values() if column not in names]
    numbered = absent and all(re.fullmatch(r"column [0-9]+", column) for column in absent)
    advice = "\nif it has no header: --no-header" if numbered else ""
    if len(absent) == 1:
        similar = suggestion(absent[0], names)
        raise DataError(f"{table} lacks a column the rules need: {absent[0]}{similar}{advice}")
    if absent:
        raise DataError(f"{table} lacks {len(absent)} columns the rules need: {list_words(absent)}{advice}")
    return {name: names.index(column) for name, column in needed.items()}


def input_of(source: DuckTable, column: int, kind: Categories | Dates | None) -> Input:
    """Return a column of a table as the expression reads it; IN: kind: None for a column of numbers."""
    if isinstance(kind, Dates):
        return _date_input(source, column, kind)
    categories = kind
    if categories is None or categories.are_numbers:
        refuse_other_type(source, column)
    if categories is not None and categories.are_truths and source.kind(column) == "text":
        source.styles[column] = Style(are_truths=True)  # cell by cell, so that another word changes none of these
    number = source.number(column)
    if categories is None:
        is_text = f"NOT {source.missing(column)} AND {number} IS NULL" if source.kind(column) == "text" else "false"
        return Input(column, number, is_text, "false")
    known: list[Any] = [value for value in categories.as_written(categories.values) if value is not None]
    if categories.are_numbers:
        numbers = list(map(float, known))
        other = math.nextafter(max(numbers, default=0.0), math.inf)  # a text is like a number that was never seen
        value = f"CASE WHEN NOT {source.missing(column)} THEN coalesce({number}, {as_double(other)}) END"
        literals = list(map(as_double, numbers))
    else:
        value, literals = source.category(column, list(map(str, known))), [sql_text(str(each)) for each in known]
    is_known = f"{value} IN ({', '.join(literals)})" if literals else "false"
    return Input(column, value, "false", "false" if categories.others else f"{value} IS NOT NULL AND NOT {is_known}")


def _date_input(source: DuckTable, column: int, dates: Dates) -> Input:
    """Return a column of dates as the expression reads it: as days."""
    has_zone = source.types[column] in WITH_ZONE
    if source.kind(column) == "date" and has_zone != bool(dates.zone):
        has, need = ("a", "none; leave it out") if has_zone else ("no", "one; say in which zone they are")
        raise DataError(
            f"the dates of column '{source.names[column]}' in {source.name} have {has} time zone, but those of the "
            f"rules have {need}"
        )
    if source.kind(column) == "text":
        source.styles[column] = Style(dates=dates)
        is_text = f"NOT {source.missing(column)} AND {source.number(column)} IS NULL"
        return Input(column, source.number(column), is_text, "false", f"dates such as {dates.example}", are_dates=True)
    if source.kind(column) == "number":  # of what unit, and from when on; without a value it may have any type
        is_number = f"NOT coalesce(isnan({source.number(column)}), true)"
        return Input(column, source.number(column), is_number, "false", f"dates such as {dates.example}")
    if source.kind(column) != "date":
        kind = source.types[column].lower()
        raise DataError(f"column '{source.names[column]}' must be dates, but {source.name} has {kind}")
    return Input(column, source.number(column), "false", "false")


def rows_with(rows: str, inputs: Mapping[str, Input]) -> str:
    """Return the SQL of rows of a table, which are given in SQL, with what the expression reads beside their own."""
    inner = ", ".join(f"{one.value} AS {as_name(name)}" for name, one in inputs.items())
    return f"(SELECT *{', ' + inner if inner else ''} FROM {rows})"


def refuse_taken(table: str, names: Sequence[str], column: str) -> None:
    """Raise a ColumnError if a table has a column of a name already."""
    if column.casefold() in (name.casefold() for name in names):
        raise ColumnError(f"{table} has a column '{column}' already; choose another name for the new one")


def label_table(con: duckdb.DuckDBPyConnection, table: str, expression: str, *, column: str = "cluster") -> Labelled:
    """Add a column to a table of DuckDB, computed by SQL; if that fails or is interrupted, the table stays as it was.

    Parameters
    ----------
    con : DuckDB connection
        A transaction that is open stays open, and the column is part of it.
    table : str
        Name of the table; points separate the parts of a name, unless a table is so called.
    expression : str
        SQL of the new column, in terms of the table's columns, such as `render.sql` gives.
    column : str, default="cluster"
        Name of the new column.

    Raises
    ------
    ColumnError
        If the table already has a column of the new name.
    DataError
        If there is no such table, or the expression cannot be computed.
    """
    import duckdb

    name, columns = _describe_table(con, table)
    refuse_taken(f"table {table}", list(columns), column)
    try:
        kind = con.execute(f"DESCRIBE SELECT ({expression}) AS found FROM {name}").fetchall()[0][1]
        with _transaction(con):
            con.execute(f"ALTER TABLE {name} ADD COLUMN {as_name(column)} {kind}")
            wait_for(con, lambda: con.execute(f"UPDATE {name} SET {as_name(column)} = ({expression})"))
            counts = con.execute(f"SELECT count(*), count({as_name(column)}) FROM {name}").fetchall()[0]
    except duckdb.Error as error:
        raise DataError(f"cannot add a column to table {table}: {cut_off(str(error), 500)}") from None
    return Labelled(counts[0], counts[0] - counts[1])


def types_of(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Return the columns of a table of DuckDB with their types."""
    return _describe_table(con, table)[1]


def is_connection(value: object) -> bool:
    """Return whether a value is a connection of DuckDB, without importing it."""
    return type(value).__name__ == "DuckDBPyConnection"


def _describe_table(con: duckdb.DuckDBPyConnection, table: str) -> tuple[str, dict[str, str]]:
    """Return the name of a table in SQL, and its columns with their types."""
    import duckdb

    for name in (as_name(table), ".".join(map(as_name, table.split(".")))):
        with suppress(duckdb.Error):
            return name, {str(row[0]): str(row[1]) for row in con.execute(f"DESCRIBE {name}").fetchall()}
    raise DataError(f"DuckDB has no table {table}")


@contextmanager
def _transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run a block in a transaction of its own, or in the open one, which its owner ends."""
    import duckdb

    number = "SELECT txid_current()"  # without a transaction, each statement has a number of its own
    if con.execute(number).fetchall() == con.execute(number).fetchall():
        yield
        return
    con.execute("BEGIN TRANSACTION")
    try:
        yield
        con.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):
            con.execute("ROLLBACK")
        raise


_ROWS = "boxwood_rows"


class BatchLabeller:
    """Gives tables of one schema their clusters, and counts what is told of them. Rows come in their order.

    Attributes
    ----------
    type : pyarrow.DataType
        Type of the new column.
    n_rows : int
        Number of rows so far.
    """

    n_rows: int

    @classmethod
    @contextmanager
    def opened(cls, name: str, schema: Any, rules: Rules) -> Iterator[Self]:
        """Yield one for tables of a schema; `name` is that of the table in messages.

        Raises
        ------
        DataError
            If the schema lacks a column, or one that must be numbers holds others.
        """
        with open_duckdb() as (con, workspace):
            names = distinct_names(schema.names)
            read = sorted(set(positions_of(name, names, rules.needed).values())) or [
                0
            ]  # rows without columns have no number
            _register(con, schema.empty_table(), read)
            types = dict(zip(read, (str(row[1]) for row in con.execute(f"DESCRIBE {_ROWS}").fetchall()), strict=True))
            relation = f"{_ROWS} AS t({', '.join(f'c{i}' for i in read)})"
            all_types = tuple(types.get(i, "") for i in range(len(names)))
            yield cls(DuckTable(con, relation, name, "parquet", names, all_types, workspace), read, rules)

    def __init__(self, source: DuckTable, read: list[int], rules: Rules) -> None:
        self._source, self._read, self.n_rows, self._n_empty = source, read, 0, 0
        inputs = inputs_of(source, rules)
        self._texts = {one.column: one.must_be for one in inputs.values() if one.is_text != "false"}
        self._unseen: dict[int, Unseen] = {
            one.column: Unseen(source.names[one.column], 0, "") for one in inputs.values() if one.is_unseen != "false"
        }
        tests = [(one.is_text, one.column) for one in inputs.values() if one.is_text != "false"]
        tests += [(one.is_unseen, one.column) for one in inputs.values() if one.is_unseen != "false"]
        queries = [f"({rules.expression})", *(f"CASE WHEN {test} THEN {source.text(i)} END" for test, i in tests)]
        selected = ", ".join(f"{query} AS r{i}" for i, query in enumerate(queries))
        self._query = f"SELECT {selected}, row FROM {rows_with(source.numbered, inputs)} ORDER BY row"
        self.type: Any = source.fetch_arrow(self._query).schema.field(0).type

    def labels(self, table: Any) -> Any:
        """Return the new column for the next rows, as an array of Arrow; null for a row without a cluster.

        Raises
        ------
        DataError
            If a value that must be a number is text.
        """
        import pyarrow.compute as pc

        _register(self._source.con, table, self._read)
        labels, *found = (column.combine_chunks() for column in self._source.fetch_arrow(self._query).columns)
        for i, texts in zip(self._texts, found[:-1], strict=False):
            if texts.null_count < len(texts):
                self._refuse_text(i, texts)
        for i, values in zip(self._unseen, found[len(self._texts) : -1], strict=True):
            if n := len(values) - values.null_count:
                old, least = self._unseen[i], pc.min(values).as_py()
                example = min(old.example, least) if old.n_values else least
                self._unseen[i] = Unseen(old.column, old.n_values + n, example)
        self.n_rows, self._n_empty = self.n_rows + len(labels), self._n_empty + labels.null_count
        return labels

    def _refuse_text(self, i: int, texts: Any) -> None:
        import pyarrow.compute as pc

        row = pc.index(pc.is_valid(texts), True).as_py()
        name, where = self._source.names[i], f"first {show_value(texts[row].as_py())} in row {self.n_rows + row + 1:,}"
        advice = "\n".join(hints_on(self._source, [name]))
        message = f"column '{name}' must be {self._texts[i]}, but {self._source.name} has text, {where}\n{advice}"
        raise DataError(message.rstrip())

    def done(self) -> Labelled:
        """Return the counts of all rows."""
        return Labelled(self.n_rows, self._n_empty, tuple(each for each in self._unseen.values() if each.n_values))


def _register(con: Any, table: Any, read: list[int]) -> None:
    """Make some columns of a table the rows of a query."""
    import pyarrow as pa

    known = [_known_to_duckdb(table.column(i)) for i in read]
    con.register(_ROWS, pa.Table.from_arrays(known, names=[f"c{i}" for i in read]))


def _known_to_duckdb(column: Any) -> Any:
    """Return a column of a type that DuckDB has: halves of floats and columns of nulls become others."""
    import pyarrow as pa

    other = {pa.float16(): pa.float32(), pa.null(): pa.float64()}.get(column.type)
    return column if other is None else column.cast(other)


def read_row(
    path: str,
    row: int,
    columns: Mapping[str, Categories | Dates | None],
    options: ReadOptions = DEFAULTS,
    *,
    tick: Tick | None = None,
) -> dict[str, Any]:
    """Return the values of a row by the names of its columns: numbers, texts of categories, None for missing ones.

    Parameters
    ----------
    path : str
        Table to read, or `-` for standard input.
    row : int
        Number of the row in the file, from 1.
    columns : mapping from name to Categories, Dates or None
        Columns to read; None for columns of numbers.
    options : ReadOptions
        How the table is read.
    tick : callable, default=None
        Called now and then with the fraction that is done.

    Raises
    ------
    DataError
        If the table cannot be read, lacks a column or the row, or has text where a number must be.
    """
    texts = [
        name
        for name, values in columns.items()
        if options.decimal or isinstance(values, Dates) or (isinstance(values, Categories) and not values.are_numbers)
    ]
    with open_table(path, options, text=False, texts=texts, all_rows=True) as source:
        positions = positions_of(source.name, source.names, {name: name for name in columns})
        source.refuse_uncalculated(positions.values())
        learn_styles(source.rows_alone(), list(positions.values()))
        inputs = [input_of(source, j, columns[name]) for name, j in positions.items()]
        wanted = [f"{one.value}, {one.is_text}, {source.text(one.column)}, {one.is_unseen}" for one in inputs] or ["1"]
        the_row = f"(SELECT * FROM {source.relation} LIMIT 1 OFFSET {row - 1})"
        query = f"SELECT {', '.join(wanted)} FROM {the_row}"
        found = source.fetch(query, tick)
        if not found:
            n_rows = source.fetch(f"SELECT count(*) FROM {source.relation}", tick)[0][0]
            raise DataError(f"{source.name} has {n_rows:,} rows, so there is no row {row:,}")
        values: dict[str, Any] = {}
        for i, name in enumerate(columns):
            value, is_text, text, is_unseen = found[0][4 * i : 4 * i + 4]
            if is_text:
                what = f"column '{name}' must be {inputs[i].must_be}"
                raise DataError(f"{what}, but {source.name} has {show_value(text)} in row {row:,}")
            if isinstance(kind := columns[name], Dates) and value is not None:
                value = kind.moment(value)
            values[name] = text if is_unseen else value
        return values
