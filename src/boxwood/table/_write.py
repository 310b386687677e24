"""`write_labelled`: a table with one more column, row by row, however long it is."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from boxwood.errors import DataError
from boxwood.table._names import ColumnError, meant, nearest
from boxwood.table._read import refuse_text
from boxwood.table._source import Source, Tick, open_source
from boxwood.table._sql import as_name, as_text

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
    numbers: Mapping[str, str],
    *,
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
        SQL of the new column, on the names that `numbers` gives; NULL is written as an empty value.
    numbers : mapping from a name in the expression to a column of the table
        Columns that must be numbers; the expression sees doubles, with NULL for missing values and NaN.
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
        If the table cannot be read, lacks a column, or has text where a number is needed.
    """
    target = output_format(out)
    as_it_stands = target.startswith("FORMAT csv")
    with open_source(path, format=format, text=as_it_stands) as source:
        places = _find(source, numbers)
        _refuse_taken(source, column)
        n_rows, n_missing = _check_numbers(source, list(places.values()), tick)
        inner = ", ".join(f"{source.number(place)} AS {as_name(name)}" for name, place in places.items())
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


def _find(source: Source, numbers: Mapping[str, str]) -> dict[str, int]:
    absent = [column for column in numbers.values() if column not in source.names]
    if len(absent) == 1:
        near = meant(nearest(absent[0], source.names))
        raise DataError(f"{source.name} lacks a column the rules need: {absent[0]}{near}")
    if absent:
        raise DataError(f"{source.name} lacks {len(absent)} columns the rules need: {', '.join(absent)}")
    return {name: source.names.index(column) for name, column in numbers.items()}


def _refuse_taken(source: Source, column: str) -> None:
    if column.casefold() in (name.casefold() for name in source.names):
        raise ColumnError(f"{source.name} has a column '{column}' already; name the new one with --column NAME")


def _check_numbers(source: Source, places: Sequence[int], tick: Tick | None) -> tuple[int, int]:
    """Return the number of rows and of missing values, after refusing text and what else is no number."""
    bad = [f"count(*) FILTER (NOT {source.missing(i)} AND {source.number(i)} IS NULL)" for i in places]
    missing = [f"count(*) FILTER ({source.missing(i)})" for i in places]
    n_rows, *counts = source.fetch(f"SELECT {', '.join(['count(*)', *bad, *missing])} FROM {source.relation}", tick)[0]
    for i, count in zip(places, counts, strict=False):
        if count:
            refuse_text(source, i, n_rows)
    return n_rows, sum(counts[len(places) :])


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
