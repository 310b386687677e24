"""Values of a model file: each is checked, and a wrong one refused by a TypeError or ValueError."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

__all__ = [
    "as_between",
    "as_finite",
    "as_list",
    "as_measure",
    "as_name",
    "as_number",
    "as_share",
    "as_text",
    "as_truth",
    "as_whole",
    "is_finite",
    "is_name",
    "refuse_twice",
]

_SLACK = 1e-9  # shares are quotients of sums, which are rounded


def as_list(value: Any) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r}")
    return value


def as_text(value: Any) -> str:
    """Return text that can be written."""
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r}")
    value.encode("utf-8")  # half of a pair of surrogates could not be written
    return value


def as_name(value: Any, what: str = "a name") -> str | int | float:
    """Return text or a finite number."""
    if not is_name(value):
        raise ValueError(f"{what} must be text or a number, got {value!r}")
    return value  # type: ignore[no-any-return]


def is_name(value: Any) -> bool:
    """Return whether a value is text or a finite number."""
    if isinstance(value, str):
        return bool(as_text(value)) or True
    return isinstance(value, (bool, int, float)) and is_finite(value)


def as_truth(value: Any) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {value!r}")
    return value


def as_whole(value: Any) -> int:
    """Return a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"expected a whole number of at least 0, got {value!r}")
    return value


def as_number(value: Any) -> int | float:
    """Return a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not is_finite(value) or value < 0:
        raise ValueError(f"expected a number of at least 0, got {value!r}")
    return value


def as_finite(value: Any) -> float:
    """Return a finite number."""
    return as_between(value, -sys.float_info.max, sys.float_info.max)


def as_measure(value: Any) -> float:
    """Return a number of at least 0; infinity is stored as text."""
    return math.inf if value == "inf" else float(as_number(value))


def as_share(value: Any) -> float:
    """Return a number from 0 to 1."""
    return as_between(value, 0, 1)


def as_between(value: Any, low: float, high: float) -> float:
    """Return a number of a range, but for rounding."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not low - _SLACK <= value <= high + _SLACK:
        raise ValueError(f"expected a number from {low} to {high}, got {value!r}")
    return float(value)


def is_finite(value: float) -> bool:
    """Return whether a number is finite as a double."""
    return abs(value) <= sys.float_info.max


def refuse_twice(what: str, values: Sequence[Any]) -> None:
    """Raise a ValueError if two values are equal."""
    if len(set(values)) < len(values):
        raise ValueError(f"it lists a {what} twice")
