"""One local Spark and one cluster of Dask, each with two worker processes, for the whole run."""

import logging
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
collect_ignore = ["daemon.py"]  # which Spark starts, and which needs it
MESSAGES = (  # of Spark about a newer pandas; of Dask about sockets that a killed worker leaves
    "ignore:PySpark does not yet fully support pandas:FutureWarning",
    "ignore:unclosed:ResourceWarning",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for message in MESSAGES:
                item.add_marker(pytest.mark.filterwarnings(message))


def let_workers_import():
    """Let processes that are started from here import boxwood and these tests."""
    places = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(places))


class Spark:
    """Spark in this process, with Python workers; each task is tried four times."""

    name = "spark"

    def __init__(self, folder):
        from pyspark.sql import SparkSession

        let_workers_import()
        os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        settings = {
            "spark.python.daemon.module": "tests.machines.daemon",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # Java's second compiler pays after minutes
            "spark.driver.maxResultSize": "32m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder),
            "spark.local.dir": str(folder),
        }
        builder = SparkSession.builder.master("local[2, 4]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def frame(self, table, parts=2):
        """Return an Arrow table in so many partitions."""
        return self.session.createDataFrame(table).repartition(parts)

    @staticmethod
    def table(frame):
        """Return a frame as an Arrow table."""
        return frame.toArrow()

    @staticmethod
    def source(frame):
        from boxwood.table.spark import SparkSource

        return SparkSource(frame)

    def close(self):
        self.session.stop()


class Dask:
    """A scheduler of Dask in this process, with two worker processes."""

    name = "dask"

    def __init__(self, folder):
        from distributed import Client, LocalCluster

        let_workers_import()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it tells of workers that tests kill
        self.cluster = LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=":0",  # any free port: another cluster of this machine may have the usual one
            memory_limit=0,
            local_directory=str(folder),
            silence_logs=logging.CRITICAL,
        )
        self.client = Client(self.cluster)

    @staticmethod
    def frame(table, parts=2):
        """Return an Arrow table in so many partitions, as far as it has rows."""
        import dask.dataframe as dd
        import pandas as pd

        return dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=parts, sort=False)

    @staticmethod
    def table(frame):
        """Return a frame as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_pandas(frame.compute(), preserve_index=False)

    @staticmethod
    def source(frame):
        from boxwood.table._dask import DaskSource

        return DaskSource(frame)

    def close(self):
        self.client.close()
        self.cluster.close()


@pytest.fixture(scope="session", params=["spark", "dask"])
def machines(request, tmp_path_factory):
    started = {"spark": Spark, "dask": Dask}[request.param](tmp_path_factory.mktemp(request.param))
    yield started
    started.close()


@pytest.fixture(scope="session")
def spark(machines):
    if machines.name != "spark":
        pytest.skip("of Spark alone")
    return machines.session
