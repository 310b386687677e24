"""Sizes of memory as people write them, and of the groups of rows that are in memory together."""

from __future__ import annotations

import re

from boxwood._validation import shown

__all__ = ["as_bytes", "group_rows"]

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_UNITS = {"": 1, "B": 1, **{f"{u}B": 1000 ** (i + 1) for i, u in enumerate("KMGT")}}
_GROUP, _GROUP_ROWS = 1 << 22, (2048, 122_880)  # values, and bounds of rows, of a group of a Parquet file
_UNITS |= {f"{u}IB": 1024 ** (i + 1) for i, u in enumerate("KMGT")}


def as_bytes(memory_limit: str | None) -> int | None:
    """Return the bytes of a text such as "1GB"."""
    if memory_limit is None:
        return None
    what = f"memory_limit must be a size such as '1GB' or '500MB', got {shown(memory_limit)}"
    if not isinstance(memory_limit, str):
        raise TypeError(what)
    found = _SIZE.fullmatch(memory_limit)
    size = float(found[1]) * _UNITS.get(found[2].upper(), 0) if found else 0
    if not 1 <= size < 1 << 62:
        raise ValueError(what)
    return int(size)


def group_rows(n_columns: int) -> int:
    """Return the most rows of a group of a Parquet file: it is in memory as a whole when written."""
    least, most = _GROUP_ROWS
    return max(least, min(most, _GROUP // max(n_columns, 1)))
