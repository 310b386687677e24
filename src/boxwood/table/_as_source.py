"""`as_source`: what stands where rows stand and is read in batches, as it is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from boxwood.passes import Source

__all__ = ["MAKERS", "as_source"]


def as_source(X: Any) -> Source | None:
    """Return a source, or the source that a relation of DuckDB or a frame of Spark or Dask becomes; None for others.

    No package is imported to find out.
    """
    if isinstance(X, Source):
        return X
    kind = f"{type(X).__module__}.{type(X).__name__}"
    maker = next((maker for prefix, maker in MAKERS.items() if kind.startswith(prefix)), None)
    return None if maker is None else maker(X)


def _of_duckdb(X: Any) -> Source | None:
    from boxwood.table._scan import is_relation, scan

    return scan(X) if is_relation(X) else None


def _later(module: str, function: str) -> Callable[[Any], Source | None]:
    """Return a function that is imported when it is first called."""
    return lambda X: getattr(import_module(f"boxwood.table.{module}"), function)(X)  # type: ignore[no-any-return]


MAKERS: dict[str, Callable[[Any], Source | None]] = {
    "duckdb.": _of_duckdb,
    "_duckdb.": _of_duckdb,
    "pyspark.sql.": _later("_spark", "SparkSource"),
    "dask.dataframe.": _later("_dask", "DaskSource"),
}
"""What makes a source of an object, by how the name of its type begins; a maker returns None for what is no table."""
