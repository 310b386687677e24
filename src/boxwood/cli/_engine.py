"""The engine of `boxwood explain`: the table in memory, or an engine that reads it in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from boxwood._imports import require
from boxwood.cli._options import Choice, in_option_names, reading, with_options
from boxwood.cli._terminal import Status, Talk

if TYPE_CHECKING:
    from boxwood.batches import Source
    from boxwood.table.duck import Query
    from boxwood.table.options import Wanted

ENGINES = ("memory", "duckdb", "spark", "dask")


def _check_sql(ctx: click.Context, param: click.Parameter, sql: str | None) -> str | None:
    if sql is not None:
        from boxwood.table.options import is_query

        if not is_query(sql):
            raise click.BadParameter("a query begins with SELECT, WITH or FROM and a space")
    return sql


def _check_limit(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    if text is None:
        return None
    from boxwood.table.options import as_bytes

    try:
        as_bytes(text)
    except ValueError:
        raise click.BadParameter(f"'{text}' is not a size; write one such as 1GB or 500MB") from None
    return text


query_option = click.option(
    "--sql",
    metavar="QUERY",
    callback=_check_sql,
    help="Read the rows of a query instead of FILE: SELECT … FROM 'x.parquet'.",
)
_CLUSTERS = (
    click.option("--spark-master", metavar="URL", help="Cluster of --engine spark; the default is that of Spark."),
    click.option("--dask-scheduler", metavar="ADDRESS", help="Cluster of --engine dask; the default is this machine."),
)
engine_options = with_options(
    query_option,
    click.option(
        "--engine",
        type=Choice(ENGINES),
        help="What reads the table. The default is memory if the table fits, and duckdb otherwise, which reads it "
        "in batches, as often as needed. spark and dask read it on a cluster.",
    ),
    click.option(
        "--memory-limit",
        metavar="SIZE",
        callback=_check_limit,
        help="Memory for the table, such as 1GB. A table that needs more is read in batches by duckdb.",
    ),
    *_CLUSTERS,
)
"""Options that say what reads the table."""

labelling_options = with_options(
    query_option,
    click.option(
        "--engine",
        type=Choice(ENGINES),
        help="What labels the rows. The default is duckdb, which streams them; memory is the same for one file. spark "
        "and dask label them on a cluster, which writes a folder OUT of Parquet files.",
    ),
    *_CLUSTERS,
)
"""Options that say what labels the rows of a table."""


def check_one_table(file: str | None, sql: str | None, *, needed: bool = True) -> None:
    """Raise a UsageError if there are two tables, or none where one is needed."""
    if needed and file is None and sql is None:
        raise click.UsageError("give either FILE or --sql QUERY.")
    if file is not None and sql is not None:
        raise click.UsageError("give FILE or --sql, not both.")


def table_or_query(file: str | None, sql: str | None) -> str | Query:
    """Return the one table that a command was given, as the library takes it."""
    from boxwood.table.duck import Query

    if file is not None:
        return file
    assert sql is not None  # which was checked
    return Query(sql)


def check_engine(file: str | None, options: dict[str, Any]) -> None:
    """Raise a UsageError if there is no table, or options do not go together; set the engine that a cluster implies."""
    sql, engine = options["sql"], options["engine"]
    check_one_table(file, sql)
    for option, its in (("spark_master", "spark"), ("dask_scheduler", "dask")):
        if options[option] is not None:
            if engine not in (its, None):
                raise click.UsageError(f"--{option.replace('_', '-')} is for --engine {its}.")
            engine = options["engine"] = its
    if options.get("memory_limit") is not None and engine not in ("duckdb", None):
        raise click.UsageError("--memory-limit is for --engine duckdb.")
    if engine == "dask" and sql is not None:
        raise click.UsageError("--sql is for --engine duckdb or spark.")
    from boxwood.table.memory import is_one_file

    if engine == "memory" and (sql is not None or not is_one_file(file)):
        raise click.UsageError("--engine memory reads one FILE; use --engine duckdb, or leave --engine out.")
    if engine in ("spark", "dask") and file == "-":
        raise click.UsageError(f"--engine {engine} cannot read standard input.")


def chosen_engine(talk: Talk, file: str | None, options: dict[str, Any]) -> str:
    """Return the engine that was asked for, or memory for a file that fits in, and duckdb otherwise, with a note."""
    from boxwood.table.memory import is_one_file, why_in_batches
    from boxwood.table.options import as_bytes

    if options["engine"] is not None:
        return str(options["engine"])
    if file is None or not is_one_file(file):
        return "duckdb"
    why = why_in_batches(file, options["format"], as_bytes(options["memory_limit"]))
    if why is None:
        return "memory"
    talk.note(f"{why}, so it is read in batches (--engine duckdb)")
    return "duckdb"


@contextmanager
def open_source(talk: Talk, file: str | None, engine: str, wanted: Wanted, options: dict[str, Any]) -> Iterator[Source]:
    """Yield the table as a source, which is closed in the end, with what it keeps in temporary files."""
    with read_while(talk, "reading", file) as tick:
        if engine == "memory":
            source = _in_memory(str(file), wanted, options, tick)
        elif engine == "duckdb":
            source = _by_duckdb(file, wanted, options, tick)
        else:
            source = _on_cluster(file, engine, options)
            source.name = file or "the query"
    with source:
        yield source


@contextmanager
def read_while(talk: Talk, doing: str, file: str | None, *, foretold: bool = False) -> Iterator[Status]:
    """Show a task that reads FILE or the query; of files of different columns, say what to do about them."""
    from boxwood.errors import DataError

    try:
        with talk.status(f"{doing} {file or 'the query'}", foretold=foretold) as tick:
            yield tick
    except DataError as error:
        from boxwood.table.parquet import SHARED_COLUMNS
        from boxwood.table.sql import sql_text

        if file is None or SHARED_COLUMNS not in str(error):
            raise
        pattern = sql_text(os.path.join(file, "**", "*.parquet") if os.path.isdir(file) else file)
        query = f'--sql "SELECT * FROM read_parquet({pattern}, union_by_name = true)"'
        ours = f"name files of one table; or read what a file lacks as missing:\n{query}"
        raise DataError(str(error).replace(SHARED_COLUMNS, ours)) from None


def _in_memory(file: str, wanted: Wanted, options: dict[str, Any], tick: Any) -> Source:
    """Return a file whose rows are read into memory."""
    from boxwood.table.memory import file_in_memory

    with in_option_names():
        return file_in_memory(file, reading(options), wanted=wanted, tick=tick)


def _by_duckdb(file: str | None, wanted: Wanted, options: dict[str, Any], tick: Any) -> Source:
    from boxwood.table.options import as_bytes
    from boxwood.table.scanned import scan, scan_file

    require("pyarrow", "arrow", "Reading a table in batches")
    limit = options["memory_limit"]
    if file is None:
        return scan(options["sql"], memory_limit=limit)
    return scan_file(file, reading(options), wanted=wanted, memory_limit=as_bytes(limit), tick=tick)


def _on_cluster(file: str | None, engine: str, options: dict[str, Any]) -> Source:
    from boxwood.cli._cluster import cluster_frame
    from boxwood.table.scanned import on_machines

    return on_machines(cluster_frame(file, engine, options))
