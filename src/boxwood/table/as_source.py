"""`as_source`: the source that something is, or that it stands for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from boxwood.passes.source import Source

__all__ = ["MAKERS", "as_source", "is_source"]


def is_source(X: Any) -> bool:
    """Return whether `as_source` makes a source of something; nothing is read to find out."""
    return isinstance(X, Source) or _maker_of(X) is not None


def as_source(X: Any) -> Source | None:
    """Return a source as it is, and what stands for one as a source; None for anything else, such as rows in memory.

    A relation of DuckDB is read once, into a temporary file; see `scan`.
    """
    if isinstance(X, Source):
        return X
    maker = _maker_of(X)
    if maker is None:
        return None
    made: Source = getattr(import_module(f"boxwood.table.{maker.module}"), maker.function)(X)
    return made


class Maker(NamedTuple):
    """What makes a source: the name of the type, and a function in a file of `table`, imported when it is needed."""

    kind: str
    module: str
    function: str


def _maker_of(X: Any) -> Maker | None:
    module, kind = f"{type(X).__module__}.", type(X).__name__
    found = (maker for package, maker in MAKERS.items() if module.startswith(f"{package}.") and kind == maker.kind)
    return next(found, None)


MAKERS = {
    "duckdb": Maker("DuckDBPyRelation", "scanned", "scan"),
    "_duckdb": Maker("DuckDBPyRelation", "scanned", "scan"),
    "pyspark.sql": Maker("DataFrame", "spark", "SparkSource"),
    "dask.dataframe": Maker("DataFrame", "_dask", "DaskSource"),
    "dask_expr": Maker("DataFrame", "_dask", "DaskSource"),
}
"""What makes a source of an object, by the package of its type."""
