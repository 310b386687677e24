"""One local Spark and one local cluster of Dask, each with two worker processes, for the whole run."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _warnings_of_others(recwarn):
    """Spark and Dask warn of versions of pandas and of each other; that is no fault of ours."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    # workers need no more than the driver has: this Python, boxwood, and these tests
    places = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    os.environ |= {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, places)),
        "OMP_NUM_THREADS": "1",
    }
    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2, 4]")  # two tasks at a time, each tried four times
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder))
        .config("spark.local.dir", str(folder))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def dask_client(tmp_path_factory):
    from distributed import Client, LocalCluster

    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["spark", "dask"])
def machines(request):
    """Return a function that gives a pandas frame to the machines, in some number of partitions."""
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return lambda frame, parts: session.createDataFrame(frame).repartition(parts) if parts else None
    request.getfixturevalue("dask_client")
    return None


@pytest.fixture
def random():
    return np.random.default_rng(0)
