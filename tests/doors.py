"""Doors: the ways by which a table comes to `explain`, from frames of all libraries to files of all formats."""

import contextlib
import os
import sqlite3
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import boxwood as bw
from tests.command import invoke


def in_arrow(column):
    return column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, from_pandas=True)


def arrow_table(columns):
    return pa.table({name: in_arrow(column) for name, column in columns.items()})


def pandas_frame(columns):
    def series(name, column):
        return pa.table({name: column}).to_pandas()[name] if isinstance(column, pa.Array) else column

    return pd.DataFrame({name: series(name, column) for name, column in columns.items()})


def polars_frame(columns):
    import polars as pl

    of_objects = any(getattr(column, "dtype", None) == np.dtype(object) for column in columns.values())
    return pl.from_pandas(pandas_frame(columns)) if of_objects else pl.from_arrow(arrow_table(columns))


FRAMES = {
    "pandas": pandas_frame,
    "Arrow in pandas": lambda columns: arrow_table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": polars_frame,
    "Arrow": arrow_table,
    "Arrow in pieces": lambda columns: pa.concat_tables([arrow_table(columns)[:100], arrow_table(columns)[100:]]),
    "RecordBatch": lambda columns: arrow_table(columns).combine_chunks().to_batches()[0],
}
"""Frames of each library, from columns of pandas and Arrow by their names."""


def csv_file(columns):
    pandas_frame(columns).to_csv("t.csv", index=False)
    return "t.csv"


def parquet_file(columns):
    pq.write_table(arrow_table(columns), "t.parquet")
    return "t.parquet"


def json_file(columns):
    pandas_frame(columns).to_json("t.jsonl", orient="records", lines=True, date_format="iso")
    return "t.jsonl"


def excel_file(columns):
    pandas_frame(columns).to_excel("t.xlsx", index=False)
    return "t.xlsx"


def sqlite_file(columns):
    with contextlib.suppress(FileNotFoundError):
        os.remove("t.sqlite")
    with contextlib.closing(sqlite3.connect("t.sqlite")) as connection, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the 'timedelta' type is not supported", UserWarning)
        pandas_frame(columns).to_sql("t", connection, index=False)
    return "t.sqlite"


def duckdb_file(columns):
    with contextlib.suppress(FileNotFoundError):
        os.remove("t.duckdb")
    with duckdb.connect("t.duckdb") as connection:
        connection.register("given", arrow_table(columns))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return "t.duckdb"


def by_library(table, labels, **asked):
    return bw.explain(table, labels, **asked)


def by_scan(table, labels, **asked):
    with bw.scan(table) as source:
        return bw.explain(source, labels, **asked)


def by_command(engine):
    def explained(file, labels, *, n_clusters=None, method="auto", max_leaf_nodes=None):
        clusters = ["--labels", labels] if labels else ["-k", str(n_clusters)]
        leaves = [] if max_leaf_nodes is None else ["--max-leaves", str(max_leaf_nodes)]
        words = ["explain", file, *clusters, "--method", method, *leaves, "--engine", engine, "--save", "m.json"]
        invoke(*words)
        return bw.load("m.json")

    return explained


class Door(NamedTuple):
    """A door: what makes a table of columns by their names, and what explains it."""

    make: Callable[[dict[str, Any]], Any]
    explained: Callable[..., bw.Explanation]

    def explain(self, columns, labels, **asked):
        """Return the explanation of a table, whose files are made in the present folder."""
        return self.explained(self.make(dict(columns)), labels, **asked)


DOORS = {name: Door(make, by_library) for name, make in FRAMES.items()}
DOORS |= {
    "Parquet": Door(parquet_file, by_command("memory")),
    "Parquet, engine duckdb": Door(parquet_file, by_command("duckdb")),
    "CSV": Door(csv_file, by_command("memory")),
    "JSON lines": Door(json_file, by_command("memory")),
    "SQLite": Door(sqlite_file, by_command("memory")),
    "DuckDB": Door(duckdb_file, by_command("memory")),
    "Excel": Door(excel_file, by_command("memory")),
    "scan of Parquet": Door(parquet_file, by_scan),
    "scan of CSV": Door(csv_file, by_scan),
    "scan of a query": Door(lambda columns: f"FROM '{parquet_file(columns)}'", by_scan),
    "scan of a query of CSV": Door(lambda columns: f"FROM '{csv_file(columns)}'", by_scan),
    "relation": Door(lambda columns: duckdb.sql(f"FROM '{parquet_file(columns)}'"), by_library),
    "scan of pandas": Door(pandas_frame, by_scan),
    "scan of Arrow": Door(arrow_table, by_scan),
    "scan of a reader": Door(lambda columns: arrow_table(columns).to_reader(), by_scan),
}
"""Doors by name; those of Dask and Spark are in `tests/machines`."""
