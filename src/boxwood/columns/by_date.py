"""`fixed_by_dates`: columns that say when a row is from, as they are the same in all rows of a date or a part of one.

So are dummies of years, flags of holidays and prices by day. What a person has is the same in all rows of a birthday,
too: such dates are told from others as numbers that are names are, by a property that changes in their order about as
often as in any. Only columns that would differ in many rows, if they had nothing to do with the date, show this.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.columns.number_names import BY_CHANCE, are_names
from boxwood.columns.seen import SeenValues

ROWS = 20_000  # that are looked at, at most


def fixed_by_dates(dates: Sequence[SeenValues], columns: Sequence[SeenValues]) -> set[str]:
    """Return which columns are the same in all rows of each value of one of some dates or parts of dates."""
    found = set[str]()
    for date in dates:
        rows = _in_order(date.values)
        pairs = np.diff(date.values[rows]) == 0
        left = [one for one in columns if one.name not in found]
        same = {one.name for one in left if _is_fixed(one.values[rows], pairs)}
        found |= set() if same and are_names(date, columns) else same
    return found


def _in_order(date: Floats) -> Indices:
    """Return rows in the order of their dates; of a long table the first rows of a random order."""
    rows = np.flatnonzero(~np.isnan(date))
    rows = np.random.default_rng(0).permutation(rows)[:ROWS]
    return rows[np.argsort(date[rows], kind="stable")]


def _is_fixed(x: Floats, pairs: Bools) -> bool:
    """Return whether values are equal in all pairs of rows of a date, many of which would differ by chance."""
    x = np.nan_to_num(x, nan=np.inf)
    if (x[1:] != x[:-1])[pairs].any():
        return False
    _, counts = np.unique(x, return_counts=True)
    return bool(pairs.sum() * (1 - ((counts / len(x)) ** 2).sum()) >= BY_CHANCE)
