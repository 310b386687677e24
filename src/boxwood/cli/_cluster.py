"""Tables of Spark and Dask for the command line: read as data frames, labelled and written by the workers."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from typing import TYPE_CHECKING, Any

import click

from boxwood._imports import require

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.table import Labelled


def cluster_frame(file: str | None, engine: str, options: dict[str, Any]) -> Any:
    """Return a table, or the rows of a query, as a data frame of Spark or Dask."""
    return _of_spark(file, options) if engine == "spark" else _of_dask(str(file), options)


def write_on_cluster(
    explanation: Explanation, file: str | None, out: str, engine: str, column: str, options: dict[str, Any]
) -> Labelled:
    """Write a table with the clusters of its rows into a folder of Parquet files; after an error there is none.

    The workers must see the folder of `out` under the same name. Returns the counts of the rows; which categories were
    never seen is not among them.

    Raises
    ------
    ColumnError
        If the table has a column of the new name.
    DataError
        If it lacks a column that the rules test.
    """
    from boxwood._frames import column_names
    from boxwood.explanation.apply.predict import frame_with_leaves
    from boxwood.table.labels import refuse_taken

    frame = cluster_frame(file, engine, options)
    refuse_taken(file or "the query", column_names(frame), column)
    names = [explanation.names[cluster] for cluster in explanation.tree.leaf_clusters.tolist()]
    labelled = frame_with_leaves(explanation, frame, names, "none", column)
    folder, name = os.path.split(os.path.realpath(out))
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(3)}.tmp")
    try:
        if engine == "spark":
            _write_by_spark(labelled, temporary)
        else:
            labelled.to_parquet(temporary, write_index=False)
        os.rename(temporary, out)
        return _counts(out, column)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _counts(folder: str, column: str) -> Labelled:
    from pyarrow import dataset

    from boxwood.table import Labelled

    written = dataset.dataset(folder)
    return Labelled(written.count_rows(), written.count_rows(filter=dataset.field(column).is_null()))


def _write_by_spark(frame: Any, out: str) -> None:
    """Write a frame; what boxwood says of a row on a worker comes wrapped in a traceback, and is unwrapped."""
    from pyspark.errors import PythonException

    from boxwood.errors import DataError

    try:
        frame.write.parquet(out)
    except PythonException as error:
        said = re.search(r"^boxwood\.errors\.DataError: (.*)$", str(error), re.MULTILINE)
        if said is None:
            raise
        raise DataError(said[1]) from None


def _of_spark(file: str | None, options: dict[str, Any]) -> Any:
    is_csv = file is not None and _is_csv(file, options)
    builder = require("pyspark.sql", "spark", "--engine spark").SparkSession.builder.appName("boxwood")
    if options["spark_master"] is not None:
        builder = builder.master(options["spark_master"])
    session = builder.getOrCreate()
    if file is None:
        return session.sql(options["sql"])
    if is_csv:
        return session.read.csv(file, header=options["header"] is not False, inferSchema=True)
    return session.read.parquet(file)


def _of_dask(file: str, options: dict[str, Any]) -> Any:
    is_csv = _is_csv(file, options)
    frames = require("dask.dataframe", "dask", "--engine dask")
    if options["dask_scheduler"] is not None:
        require("distributed", "dask", "--dask-scheduler").Client(options["dask_scheduler"])  # used from now on
    return (frames.read_csv if is_csv else frames.read_parquet)(file)


def _is_csv(file: str, options: dict[str, Any]) -> bool:
    """Return whether a file for Spark or Dask is CSV; folders and names without an extension are Parquet.

    How CSV is written is for DuckDB to find out: what the other engines would not heed is refused.
    """
    unread = [f"--{name}" for name in ("decimal", "encoding", "table") if options[name]]
    unread += ["--no-header"] * (options["engine"] == "dask" and options["header"] is False)
    if unread:
        raise click.UsageError(f"{unread[0]} is for --engine duckdb or memory.")
    kind = options["format"] or os.path.splitext(file.removesuffix(".gz").rstrip("/*"))[1].lstrip(".")
    if kind not in ("csv", "parquet", "pq", ""):
        raise click.UsageError(f"--engine {options['engine']} reads Parquet and CSV; {file} is {kind}.")
    return kind == "csv"
