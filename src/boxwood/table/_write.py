"""`write_labelled`: a table with one more column, written in a stream, so that the table may exceed memory."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from boxwood._files import replacing
from boxwood._validation import cut_off, refuse_other_kind, shown
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.table._column_names import ColumnError, suggestion
from boxwood.table._paths import as_path
from boxwood.table._read import refuse_text
from boxwood.table._source import Source, Tick, open_source
from boxwood.table._sql import as_double, as_name, as_text

__all__ = ["OUTPUTS", "Labelled", "group_rows", "input_of", "output_format", "positions_of", "write_labelled"]

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
_GROUP, _GROUP_ROWS = 1 << 22, (2048, 122_880)  # values, and bounds of rows, of a group of a Parquet file


class Unseen(NamedTuple):
    """A column of categories, the number of its values that were never seen, and the first of them in the alphabet."""

    column: str
    n_values: int
    example: str


class Labelled(NamedTuple):
    """Number of rows written, number of those without a cluster, and the columns with categories never seen.

    A row has no cluster because a value that its rule needs is missing or was never seen.
    """

    n_rows: int
    n_empty: int
    unseen: tuple[Unseen, ...] = ()


def write_labelled(
    path: str,
    out: str,
    expression: str,
    needed: Mapping[str, str],
    *,
    categories: Mapping[str, Categories] | None = None,
    column: str = "cluster",
    format: str | None = None,
    header: bool = True,
    decimal: str | None = None,
    tick: Tick | None = None,
) -> Labelled:
    """Write a table with one more column, computed by SQL. Rows and other columns keep their values and order.

    DuckDB streams the file, so it may be larger than memory. From CSV to CSV, texts are written as they were read. The
    output is written beside `out` and renamed when it is complete: after an error or Ctrl-C, `out` is what it was.

    Parameters
    ----------
    path : str
        Table to read, or `-` for standard input.
    out : str
        File to write; the extension decides the format.
    expression : str
        SQL of the new column, in terms of the keys of `needed`; NULL is written as an empty value.
    needed : mapping from a name in the expression to a column of the table
        Columns that the expression reads. Those without an entry in `categories` must be numbers; the expression reads
        them as doubles, with NULL for missing values and NaN.
    categories : mapping from a name in the expression to Categories, default=None
        Columns of categories. The expression reads them as text, or as doubles if all categories are numbers, with NULL
        for missing values. In CSV, an empty text or a mark such as NA is missing, unless it is one of the categories.
        Other values that are not among the categories are no error; they are counted, unless the categories have a code
        for them.
    column : str, default="cluster"
        Name of the new column.
    format, header, decimal : default=None, True, None
        How the table is read; see `read_table`. The new table has a line of names in any case.
    tick : callable, default=None
        Called now and then with the fraction that is done, and with the number of rows when that is known.

    Returns
    -------
    Labelled
        Named tuple: n_rows, n_empty, unseen.

    Raises
    ------
    ColumnError
        If the table already has a column of the new name, or, for files other than CSV, names that differ in case only.
    DataError
        If the table cannot be read, lacks a column, or has text in a column that must be numbers.
    """
    refuse_other_kind("needed", needed, Mapping, "give each name in the expression a column of the table")
    if categories is not None:
        refuse_other_kind("categories", categories, Mapping, "give names in the expression their Categories")
        for name, values in categories.items():
            refuse_other_kind(f"categories[{shown(name)}]", values, Categories, "make them: boxwood.axes.Categories")
    refuse_other_kind("column", column, str, "name the new column")
    out = as_path(out)
    target = output_format(out)
    to_csv = target.startswith("FORMAT csv")
    by_name = categories or {}
    texts = {needed[name] for name, values in by_name.items() if not values.are_numbers}
    with open_source(path, format=format, text=to_csv, texts=texts, header=header, decimal=decimal) as source:
        positions = positions_of(source, needed)
        _refuse_taken(source, column)
        if not to_csv:
            _refuse_twins(source, out)
        inputs = [input_of(source, position, by_name.get(name)) for name, position in positions.items()]
        inner = ", ".join(f"{one.value} AS {as_name(name)}" for name, one in zip(positions, inputs, strict=True))
        rows = f"(SELECT *{', ' + inner if inner else ''} FROM {source.relation})"
        labelled = _check(source, inputs, rows, expression, tick and (lambda share: tick(share / 2)))
        second = tick and (lambda share: tick(0.5 + share / 2, labelled.n_rows))
        with replacing(out) as temporary:
            query = _query(source, rows, expression, column, to_csv)
            packing = ", COMPRESSION gzip" if out.lower().endswith(".gz") else ""
            n_rows = group_rows(len(source.names) + 1)
            groups = f", ROW_GROUP_SIZE {n_rows}" if target == OUTPUTS[".parquet"] else ""
            options = f"{target}{query.header}{packing}{groups}, {_IN_PLACE}"
            source.fetch_lean(f"COPY ({query.sql}) TO {as_text(temporary)} ({options})", second)
        return labelled


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


def group_rows(n_columns: int) -> int:
    """Return the most rows of a group of a Parquet file: it is in memory as a whole when written."""
    least, most = _GROUP_ROWS
    return max(least, min(most, _GROUP // max(n_columns, 1)))


def positions_of(source: Source, needed: Mapping[str, str]) -> dict[str, int]:
    """Return the position in the table of each column that is needed."""
    absent = [column for column in needed.values() if column not in source.names]
    numbered = absent and all(re.fullmatch(r"column [0-9]+", column) for column in absent)
    advice = "\nif it has no header: --no-header" if numbered else ""
    if len(absent) == 1:
        similar = suggestion(absent[0], source.names)
        raise DataError(f"{source.name} lacks a column the rules need: {absent[0]}{similar}{advice}")
    if absent:
        raise DataError(f"{source.name} lacks {len(absent)} columns the rules need: {', '.join(absent)}{advice}")
    return {name: source.names.index(column) for name, column in needed.items()}


def _refuse_twins(source: Source, out: str) -> None:
    """Raise a ColumnError if names of columns differ in case only: DuckDB would write one of them with a number."""
    seen: dict[str, str] = {}
    for name in source.names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            twins = f"columns {shown(other)} and {shown(name)} differ in case only"
            remedy = "write a .csv file, which keeps them, or rename them"
            raise ColumnError(f"{twins}, which {os.path.basename(out)} cannot hold\n{remedy}")


def _refuse_taken(source: Source, column: str) -> None:
    if column.casefold() in (name.casefold() for name in source.names):
        raise ColumnError(f"{source.name} has a column '{column}' already; name the new one with --column NAME")


class _Input(NamedTuple):
    """A column that the expression reads, in SQL.

    Parameters
    ----------
    column : int
        Position in the table.
    value : str
        Its value; NULL if it is missing.
    is_text : str
        Whether the value is text although it must be a number.
    is_unseen : str
        Whether the value is not among the known categories, and has no code for that reason.
    """

    column: int
    value: str
    is_text: str
    is_unseen: str


def input_of(source: Source, column: int, categories: Categories | None) -> _Input:
    number = source.number(column)
    if categories is None:
        return _Input(column, number, f"NOT {source.missing(column)} AND {number} IS NULL", "false")
    known: list[Any] = [value for value in categories.values if value is not None]
    if categories.are_numbers:
        numbers = list(map(float, known))
        other = math.nextafter(max(numbers, default=0.0), math.inf)  # a text is like a number that was never seen
        value = f"CASE WHEN NOT {source.missing(column)} THEN coalesce({number}, {as_double(other)}) END"
        literals = list(map(as_double, numbers))
    else:
        value, literals = source.category(column, list(map(str, known))), [as_text(str(each)) for each in known]
    is_known = f"{value} IN ({', '.join(literals)})" if literals else "false"
    return _Input(column, value, "false", "false" if categories.others else f"{value} IS NOT NULL AND NOT {is_known}")


def _check(source: Source, inputs: Sequence[_Input], rows: str, expression: str, tick: Tick | None) -> Labelled:
    """Return the counts of a table, from one pass.

    Raises
    ------
    DataError
        If a column has text that must be a number.
    """
    tests = [one.is_text for one in inputs] + [one.is_unseen for one in inputs]
    queries = ["count(*)", f"count(*) FILTER (({expression}) IS NULL)"]
    queries += [f"count(*) FILTER ({test})" for test in tests]
    queries += [f"min({source.text(one.column)}) FILTER ({one.is_unseen})" for one in inputs]
    n_rows, n_empty, *found = source.fetch_lean(f"SELECT {', '.join(queries)} FROM {rows}", tick)[0]
    texts, unseen, examples = (found[i * len(inputs) : (i + 1) * len(inputs)] for i in range(3))
    for one, n_texts in zip(inputs, texts, strict=True):
        if n_texts:
            refuse_text(source, one.column, n_rows)
    columns = [source.names[one.column] for one in inputs]
    counts = zip(columns, unseen, examples, strict=True)
    return Labelled(n_rows, n_empty, tuple(Unseen(*count) for count in counts if count[1]))


class _Query(NamedTuple):
    sql: str
    header: str


def _query(source: Source, rows: str, expression: str, column: str, is_csv: bool) -> _Query:
    """Return the SQL of the rows with the new column, and DuckDB's option for a line of names.

    DuckDB renames a column if its name differs from another's in case only. In a CSV file, the names are then written
    as the first row instead; other files are refused.
    """
    names = [*source.names, column]
    values = [*(f"c{i}" for i in range(len(source.names))), f"({expression})"]
    if not is_csv or len({name.casefold() for name in names}) == len(names):
        selected = ", ".join(f"{value} AS {as_name(name)}" for value, name in zip(values, names, strict=True))
        return _Query(f"SELECT {selected} FROM {rows}", ", HEADER true" if is_csv else "")
    first = ", ".join(as_text(name) for name in names)
    texts = ", ".join(f"CAST({value} AS VARCHAR)" for value in values)
    return _Query(f"SELECT {first} UNION ALL SELECT {texts} FROM {rows}", ", HEADER false")
