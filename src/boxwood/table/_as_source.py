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
    module = f"{type(X).__module__}."
    maker = next((maker for package, maker in MAKERS.items() if module.startswith(f"{package}.")), None)
    return None if maker is None else maker(X)


def _of(kind: str, module: str, function: str) -> Callable[[Any], Source | None]:
    """Return a function that makes a source of a type of this name; its module is imported when it is first called."""

    def make(X: Any) -> Source | None:
        if type(X).__name__ != kind:
            return None
        return getattr(import_module(f"boxwood.table.{module}"), function)(X)  # type: ignore[no-any-return]

    return make


MAKERS: dict[str, Callable[[Any], Source | None]] = {
    "duckdb": _of("DuckDBPyRelation", "_scan", "scan"),
    "_duckdb": _of("DuckDBPyRelation", "_scan", "scan"),
    "pyspark.sql": _of("DataFrame", "_spark", "SparkSource"),
    "dask.dataframe": _of("DataFrame", "_dask", "DaskSource"),
    "dask_expr": _of("DataFrame", "_dask", "DaskSource"),
}
"""What makes a source of an object, by the package of its type; a maker returns None for what is no table."""
