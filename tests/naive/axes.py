"""Axis maps, value by value."""

import math
from decimal import Context, Decimal, localcontext
from itertools import pairwise


def terminal_embedding(terminals, x: float) -> float:
    """Return the image of a value: that of its nearest terminal, plus or minus the squared distance to it."""
    y = sorted({float(t) for t in terminals})
    nearest = min(range(len(y)), key=lambda i: (abs(x - y[i]), i))
    at_nearest = sum((y[i + 1] - y[i]) ** 2 for i in range(nearest)) / 2
    return at_nearest + math.copysign((x - y[nearest]) ** 2, x - y[nearest])


def contains(intervals, x: float) -> bool:
    return any(lower <= x <= upper for lower, upper in intervals)


def taylor_feature(z: float, j: int, gamma: float) -> float:
    """Return exp(-gamma z²) z^j sqrt((2 gamma)^j / j!), in decimals of 60 digits, so that no order overflows."""
    with localcontext(Context(prec=60, Emin=-(10**9), Emax=10**9)):
        z, gamma = Decimal(z), Decimal(gamma)
        scale = ((2 * gamma) ** j / Decimal(math.factorial(j))).sqrt()
        return float((-gamma * z * z).exp() * (z**j if j else 1) * scale)


def chi_squared_feature(x: float, j: int, m: int) -> float:
    return math.sqrt(2 / j) * x * (j / m) ** x


def step_features(column, beta: float) -> list[list[float]]:
    """Return for each value of a column its features for histogram intersection, one for each different value."""
    z = [0.0, *sorted({float(x) ** beta for x in column})]
    steps = list(pairwise(z))
    return [[math.sqrt(high - low) if float(x) ** beta >= high else 0.0 for low, high in steps] for x in column]
