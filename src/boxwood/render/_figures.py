"""Counts, shares and names as texts show them to people."""

from __future__ import annotations

import math
from unicodedata import combining, east_asian_width

__all__ = ["counted", "of_leaves", "percent", "price", "shortened", "size", "width"]

LONGEST_NAME = 40  # a longer name is cut in the middle


def percent(share: float | None) -> str:
    """Return a share with one decimal; only 1 is printed as 100.0%, and only 0 as 0.0%."""
    if share is None:
        return "-"
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return "99.9%"
    return f"{share:.1%}"


def price(times: float) -> str:
    """Return a price with two decimals, or with as many more as it takes to tell it from 1.

    Examples
    --------
    >>> price(1.0365), price(1.0042), price(0.99996), price(1.0), price(12345.0)
    ('1.04', '1.004', '0.99996', '1', '1.23e+04')
    """
    if times == 1 or not math.isfinite(times):
        return "1" if times == 1 else str(times)
    decimals = min(max(2, math.ceil(-math.log10(abs(times - 1)))), 6)
    return f"{times:.{decimals}f}" if times < 1000 else f"{times:.3g}"


def size(rows: float) -> str:
    """Return a number of rows, or their weight with one decimal."""
    return f"{rows:,.0f}" if rows == math.floor(rows) else f"{rows:,.1f}"


def counted(n: int, noun: str) -> str:
    """Return a number of things, such as "1 row" or "2 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def of_leaves(n: int) -> str:
    """Return a number of leaves."""
    return "1 leaf" if n == 1 else f"{n:,} leaves"


def shortened(name: str) -> str:
    """Return a name, cut in the middle if it is long."""
    if len(name) <= LONGEST_NAME:
        return name
    half = LONGEST_NAME // 2
    return f"{name[: half - 1]}…{name[-half:]}"


def width(s: str) -> int:
    """Return the number of terminal columns that a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in s)
