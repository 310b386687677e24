"""`as_source`: whether something is a table that is read in batches."""

from __future__ import annotations

from typing import Any

from boxwood.passes import Source

__all__ = ["as_source"]


def as_source(X: Any) -> Source | None:
    """Return a table that is read in batches as a source; None for anything else."""
    return X if isinstance(X, Source) else None
