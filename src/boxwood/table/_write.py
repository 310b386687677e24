"""`write_labelled`: a table with one more column, written in a stream, so that the table may exceed memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from boxwood._files import replacing
from boxwood._validation import cut_off, refuse_other_kind, shown
from boxwood.axes import Categories
from boxwood.table.column_names import ColumnError, suggestion
from boxwood.table.columns import learn_styles, refuse_text
from boxwood.table.duck import Source, Tick, group_rows, open_source
from boxwood.table.labels import Labelled, Rules, Unseen, inputs_of, refuse_taken, rows_with
from boxwood.table.paths import as_path
from boxwood.table.sql import as_name, as_text

__all__ = ["OUTPUTS", "group_rows", "output_format", "write_labelled", "write_source"]

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


def write_labelled(
    path: str,
    out: str,
    expression: str,
    needed: Mapping[str, str],
    *,
    categories: Mapping[str, Categories] | None = None,
    column: str = "cluster",
    tick: Tick | None = None,
    tell: Callable[[str], None] | None = None,
    **reading: Any,
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
    expression, needed, categories
        What the new column is; see `Rules`.
    column : str, default="cluster"
        Name of the new column.
    tick : callable, default=None
        Called now and then with the fraction that is done, and with the number of rows when that is known.
    tell : callable, default=None
        Called with lines on how the table is read.
    reading
        How it is read: format, header and so on, as `read_table` takes them. A new table of CSV is UTF-8 and has a
        line of names in any case.

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
    rules = Rules(expression, needed, {} if categories is None else categories)
    rules.refuse_other_kinds()
    refuse_other_kind("column", column, str, "name the new column")
    out = as_path(out)
    text = output_format(out).startswith("FORMAT csv")
    # DuckDB reads points as decimal ones
    texts = rules.texts if reading.get("decimal") is None else set(needed.values())
    with open_source(path, text=text, texts=texts, **reading) as source:
        if tell is not None:
            for hint in source.hints:
                tell(hint)
        return write_source(source, out, rules, column=column, tick=tick)


def write_source(source: Source, out: str, rules: Rules, *, column: str, tick: Tick | None = None) -> Labelled:
    """Write an open table with one more column; see `write_labelled`."""
    target = output_format(out)
    to_csv = target.startswith("FORMAT csv")
    refuse_taken(source.name, source.names, column)
    if not to_csv:
        _refuse_twins(source, out)
    labelled = _check(source, rules, tick and (lambda share: tick(share / 2)))
    rows = rows_with(source, inputs_of(source, rules))
    second = tick and (lambda share: tick(0.5 + share / 2, labelled.n_rows))
    with replacing(out) as temporary:
        query = _query(source, rows, rules.expression, column, to_csv)
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


def _refuse_twins(source: Source, out: str) -> None:
    """Raise a ColumnError if names of columns differ in case only: DuckDB would write one of them with a number."""
    seen: dict[str, str] = {}
    for name in source.names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            twins = f"columns {shown(other)} and {shown(name)} differ in case only"
            remedy = "write a .csv file, which keeps them, or rename them"
            raise ColumnError(f"{twins}, which {os.path.basename(out)} cannot hold\n{remedy}")


def _check(source: Source, rules: Rules, tick: Tick | None) -> Labelled:
    """Return the counts of a table, from one pass, or more if numbers are not written plainly.

    Raises
    ------
    DataError
        If a column has text that must be a number.
    """
    named = inputs_of(source, rules)
    inputs, rows = list(named.values()), rows_with(source, named)
    tests = [one.is_text for one in inputs] + [one.is_unseen for one in inputs]
    queries = ["count(*)", f"count(*) FILTER (({rules.expression}) IS NULL)"]
    queries += [f"count(*) FILTER ({test})" for test in tests]
    queries += [f"min({source.text(one.column)}) FILTER ({one.is_unseen})" for one in inputs]
    n_rows, n_empty, *found = source.fetch_lean(f"SELECT {', '.join(queries)} FROM {rows}", tick)[0]
    texts, unseen, examples = (found[i * len(inputs) : (i + 1) * len(inputs)] for i in range(3))
    odd = [one.column for one, *counts in zip(inputs, texts, unseen, strict=True) if any(counts)]
    if learn_styles(source, odd):
        return _check(source, rules, tick)
    for one in (one for one, n_texts in zip(inputs, texts, strict=True) if n_texts):
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
