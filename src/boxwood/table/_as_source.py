"""`as_source`: the source that something is, or that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from boxwood.passes._source import Source

__all__ = ["MAKERS", "as_source"]


def as_source(X: Any) -> Source | None:
    """Return a source as it is, and what stands for one as a source; None for anything else, such as rows in memory.

    A relation of DuckDB is read once, into a temporary file; see `scan`.
    """
    if isinstance(X, Source):
        return X
    kind = f"{type(X).__module__}.{type(X).__name__}"
    if kind.split(".")[0] in ("duckdb", "_duckdb") and type(X).__name__ != "DuckDBPyRelation":
        return None
    maker = next((maker for prefix, maker in MAKERS.items() if kind.startswith(prefix)), None)
    return None if maker is None else maker(X)


def _later(module: str, function: str) -> Callable[[Any], Source | None]:
    """Return a function that is imported when it is first called."""
    return lambda X: getattr(import_module(f"boxwood.table.{module}"), function)(X)  # type: ignore[no-any-return]


MAKERS: dict[str, Callable[[Any], Source | None]] = {
    "duckdb.": _later("_scan", "scan"),
    "_duckdb.": _later("_scan", "scan"),
    "pyspark.sql.": _later("_spark", "SparkSource"),
    "dask.dataframe.": _later("_dask", "DaskSource"),
}
"""What makes a source of an object, by how the name of its type begins; a maker returns None for what is no table."""
