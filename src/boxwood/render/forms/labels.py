"""`write_labels`: a table with the cluster of every row as a new column."""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from boxwood._dates import NO_DATES, Dates
from boxwood._messages import as_cell
from boxwood._validation import refuse_other_kind, show_value
from boxwood.axes import Categories
from boxwood.batches.source import Source
from boxwood.explanation.ages import to_apply
from boxwood.explanation.measured_tree import explanation_of
from boxwood.render.forms.sql import sql, sql_case
from boxwood.table import Labelled
from boxwood.table.duck import Query
from boxwood.table.labels import Rules, days_needed, is_connection, label_table, types_of
from boxwood.table.options import is_query, with_index
from boxwood.table.sql import type_of
from boxwood.table.write_labels import is_csv, label_rows
from boxwood.tree import ThresholdTree


def write_labels(
    model: Any,
    table: Any,
    out: str | os.PathLike[str],
    *,
    column: str = "cluster",
    columns: Sequence[str] | None = None,
    as_of: Any = None,
) -> Labelled:
    """Write a table with the cluster of every row as a new, last column; return how many rows have none.

    The table is streamed, so it may be larger than memory. From Parquet to Parquet, which needs pyarrow, all else stays
    as it is: types, metadata, compression, the order of rows, and groups of rows, of which large ones are divided. The
    file is written beside `out` and renamed when it is complete: after an error or Ctrl-C, `out` is what it was.

    Parameters
    ----------
    model : Explanation, fitted estimator with `explanation_`, or ThresholdTree
        What labels the rows. The clusters of a tree are their numbers.
    table : path, SQL, frame, relation, reader, Source or connection
        Anything that `scan` takes, and what it returns. CSV is read as by `boxwood predict`. For a connection of
        DuckDB, `out` is the name of a table there, which gets the column. The index of a frame of pandas becomes its
        first columns, unless it only counts the rows from 0; without a name it is called "index".
    out : path, or str
        File to write: .parquet, and for a file, a folder, a pattern or SQL also .csv, .tsv or .jsonl (.gz may follow
        those). It may be the file that is read. Or the name of a table of DuckDB. In CSV and TSV a name of a cluster
        that a spreadsheet would take as a formula, such as "=1+1", has an apostrophe before it; other cells are copies.
    column : str, default="cluster"
        Name of the new column.
    columns : sequence of str, default=None
        For a ThresholdTree: the names of its columns. An explanation has its own.
    as_of : str or date, default=None
        Where rules say ages, the day from which they are counted, or the column that has it; see `Explanation.apply`.

    Returns
    -------
    Labelled
        Named tuple: n_rows; n_empty, rows without a cluster, which get null, as a value that their rule needs is
        missing or was never seen; unseen, which values these are (not for a table of DuckDB).

    Raises
    ------
    ColumnError
        If the table already has a column of the new name, in capital letters or small ones, or one of the name of the
        frame's index.
    DataError
        If the table cannot be read, lacks a column, or has text where a number must be; if rows have no order, as those
        of Spark and Dask, whose frames `predict` takes.
    ImportError
        If pyarrow is missing, unless one file is read.
    OSError
        If the file cannot be written.
    ValueError
        If the extension of `out` is unknown.

    Notes
    -----
    From Parquet to Parquet, values are read once, and checked while they are written. Otherwise a table is read twice.
    A transaction that is open on the connection stays open, and the column is part of it.

    Examples
    --------
    >>> import os, tempfile
    >>> import boxwood, duckdb
    >>> ex = boxwood.explain([[21.0], [34.0], [61.0]], ["young", "young", "old"], columns=["age"])
    >>> folder = tempfile.mkdtemp()
    >>> people, out = os.path.join(folder, "people.parquet"), os.path.join(folder, "out.parquet")
    >>> duckdb.sql("SELECT 'Ada' AS name, 36 AS age UNION ALL SELECT 'Alan', NULL").write_parquet(people)
    >>> write_labels(ex, people, out)
    Labelled(n_rows=2, n_empty=1, unseen=())
    >>> duckdb.read_parquet(out).fetchall()
    [('Ada', 36, 'young'), ('Alan', None, None)]
    """
    refuse_other_kind("column", column, str, "name the new column")
    if not column:
        raise ValueError("column must not be empty; name the new column")
    if is_connection(table):
        name = _as_table_name(out)
        return label_table(table, name, _expression(model, columns, types_of(table, name), as_of), column=column)
    rules = sql_rules(model, columns, out=out, as_of=as_of)
    if isinstance(table, str) and is_query(table):
        table = Query(table)
    if isinstance(table, (str, os.PathLike, Query, Source)):
        return label_rows(table, out, rules, column=column)
    from boxwood.table import scan

    with scan(with_index(table)) as source:
        return label_rows(source, out, rules, column=column)


def sql_rules(model: Any, columns: Sequence[str] | None = None, *, out: Any = None, as_of: Any = None) -> Rules:
    """Return a model as SQL of a new column, in names of its own for the columns that it tests.

    IN: columns: names for those of a `ThresholdTree`; an explanation names its own. out: file that the column is for:
    in CSV no name of a cluster is a formula. as_of: the day from which ages are counted.
    """
    if isinstance(model, ThresholdTree):
        return _rules(model, _columns_of(model, columns), range(int(model.cluster.max()) + 1), {})
    ex = to_apply(_read_columns(model, columns), as_of)
    names = [as_cell(name) if isinstance(name, str) else name for name in ex.names] if is_csv(out) else ex.names
    return _rules(ex.tree, ex.columns, names, ex._coded_columns, ex._gap_columns, ex._date_columns)


def _rules(
    tree: ThresholdTree,
    columns: Sequence[str],
    names: Sequence[Hashable],
    categories: Mapping[int, Categories],
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> Rules:
    """Return a tree as SQL; IN: gaps: columns of numbers in which it takes a missing value as +inf; dates: of dates."""
    placeholders = [f"x{j}" for j in range(len(columns))]
    tested = tree.features.tolist()
    return Rules(
        sql_case(tree, placeholders, names, categories, gaps=gaps, nan=False),
        {placeholders[j]: columns[j] for j in tested} | days_needed(dates[j] for j in tested if j in dates),
        {placeholders[j]: categories[j] for j in tested if j in categories},
        {placeholders[j]: dates[j] for j in tested if j in dates},
    )


def _expression(model: Any, columns: Sequence[str] | None, types: Mapping[str, str], as_of: Any) -> str:
    """Return the SQL of the new column, in terms of the columns of a table of DuckDB with these types."""
    if isinstance(model, ThresholdTree):
        return sql_case(model, _columns_of(model, columns), range(int(model.cluster.max()) + 1))
    ex = _read_columns(model, columns)
    return sql(
        ex, as_of=as_of, types={name: type for name, type in types.items() if name in ex.columns and type_of(type)}
    )


def _columns_of(tree: ThresholdTree, columns: Sequence[str] | None) -> list[str]:
    if columns is None or isinstance(columns, str):
        raise TypeError(f"columns must name the {tree.n_features} columns of the tree, got {show_value(columns)}")
    if len(columns) < tree.n_features:
        raise ValueError(f"columns must name the {tree.n_features} columns of the tree, got {len(columns)} names")
    return list(columns)


def _read_columns(model: Any, columns: Sequence[str] | None) -> Any:
    if columns is not None:
        raise TypeError("columns are for a ThresholdTree; the model names its own")
    return explanation_of(model)


def _as_table_name(out: Any) -> str:
    refuse_other_kind("out", out, str, "name a table of the connection")
    return str(out)
