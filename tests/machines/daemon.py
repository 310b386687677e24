"""Starts Spark's Python workers with boxwood loaded already, so that a worker after a killed one is there at once."""

from pyspark.daemon import manager

import boxwood.batches.overview
import boxwood.table.spark  # noqa: F401

if __name__ == "__main__":
    manager()
