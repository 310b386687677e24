"""Checks of single parameters: choices, kinds, numbers, seeds."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from boxwood._messages import shown

__all__ = [
    "as_generator",
    "as_time_limit",
    "finite_number",
    "number_of_clusters",
    "position",
    "real_number",
    "refuse_other_kind",
    "refuse_unknown",
    "whole_number",
]


def refuse_unknown(name: str, value: object, allowed: Collection[str]) -> None:
    """Raise a ValueError with the parameter, the allowed values and the given value, unless the value is allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {shown(value)}")


def refuse_other_kind(name: str, value: object, kind: type, instead: str) -> None:
    """Raise a TypeError unless a value is of a kind; `instead` says how to get one."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, got {type(value).__name__}; {instead}")


def whole_number(name: str, value: Any, least: int) -> int:
    """Return a whole number that is not below `least`.

    Raises
    ------
    TypeError
        If the value is no whole number; a float, a boolean and text are none.
    ValueError
        If it is below `least`, or so large that its square is no double.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    if value < least or int(value) >= 1 << 300:
        limit = f"at least {least}" if value < least else "below 2**300"
        raise ValueError(f"{name} must be {limit}, got {shown(value)}")
    return int(value)


def number_of_clusters(n_clusters: Any, n_rows: int) -> int:
    """Return a number of clusters for which there can be room: at most a million, or one for each row."""
    most = max(n_rows, 1_000_000)
    if whole_number("n_clusters", n_clusters, 1) > most:
        raise ValueError(f"n_clusters must be at most {most:,} for {n_rows:,} rows, got {shown(n_clusters)}")
    return int(n_clusters)


def as_time_limit(time_limit: float | None) -> float | None:
    """Return a number of seconds as a double, or None; raise a TypeError or ValueError for anything else."""
    if time_limit is None:
        return None
    if isinstance(time_limit, bool):
        raise TypeError(f"time_limit must be a number of seconds, got {time_limit}")
    seconds = real_number("time_limit", time_limit)
    if not seconds >= 0:
        raise ValueError(f"time_limit must be at least 0 seconds, got {seconds}")
    return seconds


def position(name: str, value: Any, n: int) -> int:
    """Return a whole number from 0 to `n` - 1; raise a TypeError or ValueError for anything else."""
    if whole_number(name, value, 0) >= n:
        raise ValueError(f"{name} must be from 0 to {n - 1}, got {shown(value)}")
    return int(value)


def real_number(name: str, value: Any) -> float:
    """Return a real number as a double; NaN and infinities are numbers here.

    Raises
    ------
    TypeError
        If the value is no number; text and complex numbers are none.
    ValueError
        If it is a whole number too large for a double.
    """
    plain = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(plain, Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    try:
        return float(plain)
    except OverflowError:
        raise ValueError(f"{name} must be a number below 1.8e308, got {shown(value)}") from None


def finite_number(name: str, value: Any) -> float:
    """Return a finite number as a double; raise a TypeError or ValueError for anything else."""
    number = real_number(name, value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {number}")
    return number


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, a Generator, a RandomState (which is advanced) or None (a new generator)."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        what = "a whole number of at least 0, a Generator, a RandomState or None"
        raise kind(f"random_state must be {what}; got {shown(random_state)}") from None
