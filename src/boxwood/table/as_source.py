"""`as_source` turns what stands for a source into one: a relation of DuckDB, or a data frame of Spark or Dask.

None of their packages is imported to find out.
"""

from __future__ import annotations

from typing import Any

from boxwood._validation import is_on_machines
from boxwood.batches.source import Source


def is_source(X: Any) -> bool:
    """Return whether `as_source` makes a source of something; nothing is read to find out."""
    return isinstance(X, Source) or is_relation(X) or is_on_machines(X)


def is_relation(X: Any) -> bool:
    """Return whether `X` is a relation of DuckDB."""
    return type(X).__name__ == "DuckDBPyRelation" and type(X).__module__.split(".")[0] in ("duckdb", "_duckdb")


def as_source(X: Any) -> Source | None:
    """Return a source as it is, and what stands for one as a source; None for anything else, such as rows in memory.

    A relation of DuckDB is read once, into a temporary file; see `scan`.
    """
    if isinstance(X, Source):
        return X
    if is_relation(X):
        from boxwood.table.scanned import scan

        return scan(X)
    return on_machines(X) if is_on_machines(X) else None


def on_machines(frame: Any) -> Source:
    """Return a data frame of Spark or Dask as a source."""
    if hasattr(frame, "mapInArrow"):
        from boxwood.table.spark import SparkSource

        return SparkSource(frame)
    from boxwood.table._dask import DaskSource

    return DaskSource(frame)
