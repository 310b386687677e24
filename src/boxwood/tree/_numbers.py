"""Numbers between two numbers: thresholds between two values."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["between", "shortest_between"]


def between(a: ArrayLike, b: ArrayLike) -> Any:
    """Return the midpoint m of two values a < b, so that a <= m < b; also a < m if a double lies between a and b.

    Takes numbers, or arrays element by element.
    """
    if isinstance(a, float) and isinstance(b, float):
        return _between_two(float(a), float(b))
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(over="ignore"):
        middle = (a + b) * 0.5
    middle = np.where(np.isinf(middle), a * 0.5 + b * 0.5, middle)
    return np.where((a <= middle) & (middle < b), middle, a)[()]


def _between_two(a: float, b: float) -> float:
    middle = (a + b) * 0.5
    if math.isinf(middle):
        middle = a * 0.5 + b * 0.5
    return middle if a <= middle < b else a


def shortest_between(low: float, high: float) -> float:
    """Return the decimal with the fewest digits in `low <= x <= high`; of several the nearest to the middle.

    The result is exact: both ends are compared as doubles. Zero has no digits, so it wins if it lies in the interval.

    Examples
    --------
    >>> shortest_between(44871.25, 45980.0), shortest_between(0.7999, 0.8001), shortest_between(-0.3, 12.0)
    (45000.0, 0.8, 0.0)
    """
    if low <= 0 <= high:
        return 0.0
    with localcontext(Context(prec=60)):
        exact = Decimal(low), Decimal(high)
        middle = (exact[0] + exact[1]) / 2
        top = max(end.adjusted() for end in exact) + 1
        for exponent in range(top, top - 20, -1):  # any two doubles differ in their first 17 digits
            coarse = _nearest(exact, middle, exponent, low, high)
            if coarse is not None:
                # a multiple of the next smaller power may have as few digits and be nearer to the middle
                finer = _nearest(exact, middle, exponent - 1, low, high)
                numbers = [number for number in (coarse, finer) if number is not None]
                return float(min(numbers, key=lambda x: (len(x.normalize().as_tuple().digits), abs(x - middle))))
    return low


def _nearest(exact: tuple[Decimal, Decimal], middle: Decimal, exponent: int, low: float, high: float) -> Decimal | None:
    """Return the multiple of a power of ten between two ends that is nearest to the middle, if there is one."""
    step = Decimal(1).scaleb(exponent)
    first = (exact[0] / step).to_integral_value(rounding="ROUND_CEILING")
    last = (exact[1] / step).to_integral_value(rounding="ROUND_FLOOR")
    if first > last:
        return None
    number = min(max((middle / step).to_integral_value(), first), last) * step
    return number if low <= float(number) <= high else None
