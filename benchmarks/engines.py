"""Spark and Dask on this machine against the embedded default: the same explanation, with 1, 2 and 4 workers.

`python -m benchmarks.batches --engines` runs it. An engine's start is not timed, and neither is its first small pass,
in which workers start and import what they need. On an engine no clusters of rows are kept between passes, so each pass
over rows that belong to the nearest centre reads all columns; the embedded default reads those that it needs.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["WORKERS", "explained_by"]

WORKERS = (1, 2, 4)


def explained_by(engine: str, file: str, explain: Callable[[Any], dict[str, float | str]]) -> dict[str, float | str]:
    """Return what `explain` finds of a table that an engine reads, and the seconds it took; IN: engine, "spark 2"."""
    name, n_workers = engine.split()
    with {"spark": _spark, "dask": _dask, "duckdb": _embedded}[name](file, int(n_workers)) as source:
        source.run(_Nothing, source.names[:1])
        source.readings.clear()
        began = time.perf_counter()
        found = explain(source)
        return found | {"seconds": time.perf_counter() - began}


class _Nothing:
    """A summary that sees every batch and keeps nothing."""

    def update(self, batch: Any, start: int | None) -> None:
        """See a batch."""

    def merge(self, other: _Nothing) -> None:
        """See what others saw."""


@contextmanager
def _embedded(file: str, n_workers: int) -> Iterator[Any]:
    import boxwood as bw

    source = bw.scan(file)
    source.n_jobs = n_workers
    yield source


@contextmanager
def _spark(file: str, n_workers: int) -> Iterator[Any]:
    """Yield the table of a session with so many Python workers, in as many partitions."""
    from pyspark.sql import SparkSession

    import boxwood as bw

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "spark.driver.memory": "2g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
            "spark.sql.shuffle.partitions": str(n_workers),
            "spark.sql.files.openCostInBytes": "0",
            "spark.sql.files.minPartitionNum": str(n_workers),
            "spark.sql.files.maxPartitionBytes": str(math.ceil(Path(file).stat().st_size / n_workers)),
        }
        builder = SparkSession.builder.master(f"local[{n_workers}]")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            yield bw.scan(session.read.parquet(file))
        finally:
            session.stop()


@contextmanager
def _dask(file: str, n_workers: int) -> Iterator[Any]:
    """Yield the table of a cluster of so many worker processes of one thread, in as many partitions."""
    import dask.dataframe as dd
    import pyarrow.parquet as pq
    from distributed import Client, LocalCluster

    import boxwood as bw

    groups = math.ceil(pq.ParquetFile(file).metadata.num_row_groups / n_workers)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=folder,
            memory_limit=0,
        ) as cluster,
        Client(cluster),
    ):
        yield bw.scan(dd.read_parquet(file, split_row_groups=groups))
