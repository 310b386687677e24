"""`write_labelled`: a table with one more column, row by row, however long it is."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.table._column_names import ColumnError, meant, nearest
from boxwood.table._read import refuse_text, refuse_unknown
from boxwood.table._source import Source, Tick, open_source
from boxwood.table._sql import as_double, as_name, as_text

__all__ = ["OUTPUTS", "Labelled", "output_format", "replacing", "write_labelled"]

OUTPUTS = {
    ".csv": "FORMAT csv",
    ".tsv": "FORMAT csv, DELIMITER '\t'",
    ".parquet": "FORMAT parquet",
    ".pq": "FORMAT parquet",
    ".jsonl": "FORMAT json",
    ".ndjson": "FORMAT json",
}
"""What DuckDB is told to write, by extension; csv, tsv and jsonl may be packed (`.gz`)."""


class Labelled(NamedTuple):
    """Number of rows written, and how many of them have no cluster because a value they need is missing."""

    n_rows: int
    n_empty: int


def write_labelled(
    path: str,
    out: str,
    expression: str,
    needed: Mapping[str, str],
    *,
    categories: Mapping[str, Categories] | None = None,
    column: str = "cluster",
    format: str | None = None,
    tick: Tick | None = None,
) -> Labelled:
    """Write a table with one more column, computed by SQL; rows and other columns stay as and where they are.

    DuckDB streams the file, so it may be larger than memory. Texts of CSV are written to CSV as they were read. Written
    beside `out` and renamed when complete: after an error or Ctrl-C, `out` is what it was.

    Parameters
    ----------
    path : str
        Table to read, or `-` for standard input.
    out : str
        File to write; the extension tells the format.
    expression : str
        SQL of the new column, on the names that `needed` gives; NULL is written as an empty value.
    needed : mapping from a name in the expression to a column of the table
        Columns that must be numbers, but for those of `categories`; the expression sees doubles, with NULL for missing
        values and NaN.
    categories : mapping from a name in the expression to Categories, default=None
        Columns of categories. The expression sees text, and doubles where all categories are numbers; NULL for missing
        values. In CSV these are the empty text, NA and the like, unless they are among the categories.
    column : str, default="cluster"
        Name of the new column.
    format : str, default=None
        Format of the table that is read; see `read_table`.
    tick : callable, default=None
        Told the share of a pass that is done.

    Returns
    -------
    Labelled
        Named pair: n_rows, n_empty.

    Raises
    ------
    ColumnError
        If the table has a column of the new name already.
    DataError
        If the table cannot be read, lacks a column, has text where a number is needed, or values that are none of
        their categories where there are no others.
    """
    target = output_format(out)
    as_it_stands = target.startswith("FORMAT csv")
    known = categories or {}
    texts = {needed[name] for name, mine in known.items() if not mine.are_numbers}
    with open_source(path, format=format, text=as_it_stands, texts=texts) as source:
        places = _find(source, needed)
        _refuse_taken(source, column)
        inputs = [_input(source, place, known.get(name)) for name, place in places.items()]
        n_rows, n_missing = _check(source, inputs, tick)
        inner = ", ".join(f"{one.value} AS {as_name(name)}" for name, one in zip(places, inputs, strict=True))
        rows = f"(SELECT *{', ' + inner if inner else ''} FROM {source.relation})"
        with replacing(out) as temporary:
            query = _query(source, rows, expression, column, as_it_stands)
            packing = ", COMPRESSION gzip" if out.lower().endswith(".gz") else ""
            source.fetch(f"COPY ({query.sql}) TO {as_text(temporary)} ({target}{query.header}{packing})", tick)
        empty = f"SELECT count(*) FROM {rows} WHERE ({expression}) IS NULL"
        return Labelled(n_rows, source.fetch(empty, tick)[0][0] if n_missing else 0)


def output_format(out: str) -> str:
    """Return what DuckDB is told to write into a file of this name.

    Raises
    ------
    ValueError
        If the extension is not one of those that can be written.
    """
    name = out.lower()
    plain = name.removesuffix(".gz")
    extension = os.path.splitext(plain)[1]
    if extension not in OUTPUTS or (plain != name and "parquet" in OUTPUTS[extension]):
        near = meant(nearest(extension, list(OUTPUTS)))
        raise ValueError(f"'{out}': unknown extension{near or ';'} known: {' '.join(OUTPUTS)} .csv.gz .jsonl.gz")
    return OUTPUTS[extension]


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Give the name of a file beside `path` to write, and rename it to `path` at the end; removed after an error."""
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{secrets.token_hex(4)}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _find(source: Source, needed: Mapping[str, str]) -> dict[str, int]:
    absent = [column for column in needed.values() if column not in source.names]
    if len(absent) == 1:
        near = meant(nearest(absent[0], source.names))
        raise DataError(f"{source.name} lacks a column the rules need: {absent[0]}{near}")
    if absent:
        raise DataError(f"{source.name} lacks {len(absent)} columns the rules need: {', '.join(absent)}")
    return {name: source.names.index(column) for name, column in needed.items()}


def _refuse_taken(source: Source, column: str) -> None:
    if column.casefold() in (name.casefold() for name in source.names):
        raise ColumnError(f"{source.name} has a column '{column}' already; name the new one with --column NAME")


class _Input(NamedTuple):
    """A column that is needed, in SQL: its value, NULL where it is missing; whether it is text that is no number;
    whether it is none of the known categories, of which there may be none."""

    place: int
    value: str
    is_text: str
    is_unknown: str
    known: tuple[str, ...]


def _input(source: Source, place: int, categories: Categories | None) -> _Input:
    number = source.number(place)
    is_text = f"NOT {source.missing(place)} AND {number} IS NULL"
    if categories is None:
        return _Input(place, number, is_text, "false", ())
    known: list[Any] = [value for value in categories.values if value is not None]
    texts = tuple(map(str, known))
    if categories.are_numbers:
        value, literals = number, [as_double(float(x)) for x in known]
    else:
        value, literals, is_text = source.category(place, texts), list(map(as_text, texts)), "false"
    is_known = f"{value} IN ({', '.join(literals)})" if literals else "false"
    is_unknown = "false" if categories.others else f"{value} IS NOT NULL AND NOT {is_known}"
    return _Input(place, value, is_text, is_unknown, texts)


def _check(source: Source, inputs: Sequence[_Input], tick: Tick | None) -> tuple[int, int]:
    """Return the number of rows and of missing values, after refusing what is no number or no category."""
    tests = [test for one in inputs for test in (one.is_text, one.is_unknown, f"{one.value} IS NULL")]
    counts = ", ".join(["count(*)", *(f"count(*) FILTER ({test})" for test in tests)])
    n_rows, *found = source.fetch(f"SELECT {counts} FROM {source.relation}", tick)[0]
    for one, n_texts, n_unknown in zip(inputs, found[::3], found[1::3], strict=True):
        if n_texts:
            refuse_text(source, one.place, n_rows)
        if n_unknown:
            refuse_unknown(source, one.place, one.is_unknown, one.known, n_rows)
    return n_rows, sum(found[2::3])


class _Query(NamedTuple):
    sql: str
    header: str


def _query(source: Source, rows: str, expression: str, column: str, is_csv: bool) -> _Query:
    """Return the rows with the new column, and whether the writer of CSV adds the names.

    DuckDB renames a column whose name differs from another's in case only; then the names are the first row instead.
    """
    names = [*source.names, column]
    values = [*(f"c{i}" for i in range(len(source.names))), f"({expression})"]
    if not is_csv or len({name.casefold() for name in names}) == len(names):
        selected = ", ".join(f"{value} AS {as_name(name)}" for value, name in zip(values, names, strict=True))
        return _Query(f"SELECT {selected} FROM {rows}", ", HEADER true" if is_csv else "")
    first = ", ".join(as_text(name) for name in names)
    texts = ", ".join(f"CAST({value} AS VARCHAR)" for value in values)
    return _Query(f"SELECT {first} UNION ALL SELECT {texts} FROM {rows}", ", HEADER false")
