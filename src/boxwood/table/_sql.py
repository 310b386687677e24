"""Names, texts, numbers and paths in SQL."""

import math

__all__ = ["ONE_FILE", "as_double", "as_name", "as_pattern", "as_text"]

ONE_FILE = "hive_partitioning=false"
"""Option of every reader of DuckDB: a folder named `year=2024` is a folder, not a column of the file in it."""


def as_name(name: str) -> str:
    """Return a name as an identifier of SQL.

    Examples
    --------
    >>> print(as_name('the "net" height'), as_text("it's"), as_pattern("a*.csv"))
    "the ""net"" height" 'it''s' 'a[*].csv'
    """
    return '"' + name.replace('"', '""') + '"'


def as_text(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def as_double(number: float) -> str:
    """Return a number as a literal double of SQL, with all its digits."""
    text = "Infinity" if number == math.inf else "-Infinity" if number == -math.inf else repr(number)
    return f"CAST('{text}' AS DOUBLE)"


def as_pattern(path: str) -> str:
    """Return a path as a literal that DuckDB reads as this one file, even if it contains `*`, `?` or `[`."""
    return as_text("".join(f"[{c}]" if c in "*?[" else c for c in path))
