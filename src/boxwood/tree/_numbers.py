"""Numbers between numbers: where a threshold is put."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["between", "shortest_between"]


def between(a: ArrayLike, b: ArrayLike) -> Any:
    """Return the midpoint m of two values a < b, such that a <= m < b, and a < m wherever a double lies between.

    Numbers or arrays, by elements.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(over="ignore"):
        middle = (a + b) * 0.5
    middle = np.where(np.isinf(middle), a * 0.5 + b * 0.5, middle)
    return np.where((a <= middle) & (middle < b), middle, a)[()]


def shortest_between(low: float, high: float) -> float:
    """Return the decimal with the fewest digits in `low <= x <= high`, the nearest to the middle among equals.

    Exact: both ends are compared as doubles. Zero has no digits and wins wherever it is allowed.

    Examples
    --------
    >>> shortest_between(44871.25, 45980.0), shortest_between(0.7999, 0.8001), shortest_between(-0.3, 12.0)
    (45000.0, 0.8, 0.0)
    """
    if low <= 0 <= high:
        return 0.0
    exact_low, exact_high = Decimal(low), Decimal(high)
    middle = (exact_low + exact_high) / 2
    top = max(exact_low.adjusted(), exact_high.adjusted()) + 1
    for exponent in range(top, top - 20, -1):  # 17 digits tell any two doubles apart
        step = Decimal(1).scaleb(exponent)
        first = (exact_low / step).to_integral_value(rounding="ROUND_CEILING")
        last = (exact_high / step).to_integral_value(rounding="ROUND_FLOOR")
        if first <= last:
            nearest = min(max((middle / step).to_integral_value(), first), last)
            number = float(nearest * step)
            if low <= number <= high:
                return number
    return low
