"""`as_source`: whether something is a table that is read in batches."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from boxwood.passes import Source

__all__ = ["MAKERS", "as_source"]

MAKERS = {  # where a kind of data frame is from, and what makes a source of it; the makers import its package
    "pyspark.sql.": "boxwood.table._spark:SparkSource",
    "dask.dataframe.": "boxwood.table._dask:DaskSource",
    "dask_expr.": "boxwood.table._dask:DaskSource",
}


def as_source(X: Any) -> Source | None:
    """Return a table that is read in batches as a source; None for anything else."""
    if isinstance(X, Source):
        return X
    for prefix, maker in MAKERS.items():
        if type(X).__module__.startswith(prefix) and type(X).__name__ == "DataFrame":
            module, _, name = maker.partition(":")
            return getattr(import_module(module), name)(X)  # type: ignore[no-any-return]
    return None
