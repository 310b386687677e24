"""The ascending order of the values of a column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Floats
from boxwood.loops.sort import sort_rows

__all__ = ["ascending"]

_FEW = 4096  # values up to which numpy sorts as fast
_MANY = np.iinfo(np.int32).max
_NOT_SIGN = np.iinfo(np.int64).max


def ascending(values: Floats) -> NDArray[Any]:
    """Return the places of finite values in ascending order, shape (n,); equal values come in any order.

    Takes a third of the time of numpy's sort, and as long where most values are equal in their first six digits.
    """
    if not _FEW < len(values) <= _MANY:
        return np.argsort(values)
    bits = np.ascontiguousarray(values).view(np.int64)
    rising = bits ^ ((bits >> 63) & _NOT_SIGN)  # the bits of a number below zero fall where it rises
    keys = ((rising >> 33) + (1 << 30)).astype(np.int32)
    order, rows = np.empty((2, len(values)), dtype=np.int32)
    return order if sort_rows(values, keys, np.empty_like(keys), rows, order) else np.argsort(values)
