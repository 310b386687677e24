"""Names, texts and paths as SQL spells them."""

import math

__all__ = ["as_double", "as_name", "as_pattern", "as_text"]


def as_name(name: str) -> str:
    """Return a name as an identifier.

    Examples
    --------
    >>> print(as_name('the "net" height'), as_text("it's"), as_pattern("a*.csv"))
    "the ""net"" height" 'it''s' 'a[*].csv'
    """
    return '"' + name.replace('"', '""') + '"'


def as_text(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def as_double(number: float) -> str:
    """Return a number as a literal double, in full."""
    text = "Infinity" if number == math.inf else "-Infinity" if number == -math.inf else repr(number)
    return f"CAST('{text}' AS DOUBLE)"


def as_pattern(path: str) -> str:
    """Return a path as a literal that DuckDB takes for this one file, also where it holds `*`, `?` or `[`."""
    return as_text("".join(f"[{c}]" if c in "*?[" else c for c in path))
