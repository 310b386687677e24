"""`codes_apart`: numbers of a column that stand for a missing value, such as 99 beside answers 1 to 5."""

from __future__ import annotations

import numpy as np

from boxwood._types import Floats

ROWS_OF_CODE, SHARE_OF_CODES = 3, 1 / 3  # rows of each code at least, and share of the rows with any at most


def codes_apart(x: Floats) -> list[float]:
    """Return the numbers of a column that are codes such as 99, 998 or -9, from the outermost on.

    They have two digits or a sign, their digits are 7 to 9, some rows have each of them, and few rows have any. A
    positive one is farther from all other values than these are from each other; one below zero, where no other value
    is, half as far.
    """
    known = x[np.isfinite(x)]
    if not len(known) or not (_is_code(float(known.max())) or _is_code(float(known.min()))):
        return []
    values, n_rows = np.unique(known, return_counts=True)
    may_be = [_is_code(value) and n >= ROWS_OF_CODE for value, n in zip(values.tolist(), n_rows.tolist(), strict=True)]
    codes, low, high = list[float](), 0, len(values)
    while high - low > 2 and may_be[high - 1] and values[high - 1] > 0:
        high -= 1
    while high - low > 2 and may_be[low] and values[low] < 0:
        low += 1
    spread = values[high - 1] - values[low] if high > low else np.inf
    if high < len(values) and values[high] - values[high - 1] > spread:
        codes += values[high:][::-1].tolist()
    if low > 0 and values[low] >= 0 and values[low] - values[low - 1] > spread / 2:
        codes += values[:low].tolist()
    n_coded = n_rows[np.isin(values, codes)].sum()
    return codes if 0 < n_coded <= SHARE_OF_CODES * n_rows.sum() else []


def _is_code(value: float) -> bool:
    digits = f"{abs(value):.0f}"
    return value.is_integer() and {*digits} <= {*"789"} and (value < 0 or len(digits) > 1) and len(digits) <= 4


def ends_of_codes(codes: list[float]) -> tuple[float, float]:
    """Return the greatest code below zero and the least one above: numbers beyond these, and they, are codes."""
    return max((code for code in codes if code < 0), default=-np.inf), min((c for c in codes if c > 0), default=np.inf)
