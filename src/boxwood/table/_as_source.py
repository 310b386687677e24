"""`as_source`: the source that something is, or that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boxwood.passes._source import Source

__all__ = ["MAKERS", "as_source"]


def as_source(X: Any) -> Source | None:
    """Return a source as it is, and what stands for one as a source; None for anything else, such as rows in memory.

    A relation of DuckDB is read once, into a temporary file; see `scan`.
    """
    if isinstance(X, Source):
        return X
    maker = MAKERS.get(type(X).__module__.split(".")[0])
    return None if maker is None else maker(X)


def _of_duckdb(X: Any) -> Source | None:
    from boxwood.table._scan import is_relation, scan

    return scan(X) if is_relation(X) else None


MAKERS: dict[str, Callable[[Any], Source | None]] = {"duckdb": _of_duckdb, "_duckdb": _of_duckdb}
"""What makes a source of an object, by the package of its type; a maker returns None for what is no table."""
