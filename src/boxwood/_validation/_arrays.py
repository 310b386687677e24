"""Checks of arrays that are given as parameters: numbers, vectors, positions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._messages import cut_off, shown
from boxwood._types import Array, Floats, Indices
from boxwood.errors import DataError

__all__ = ["as_finite_vector", "as_float_table", "as_numbers", "as_positions", "as_vector", "refuse_no_rows"]


def as_float_table(X: ArrayLike) -> Array:
    """Return `X` as a two-dimensional array of float32 or float64, copied only if its type must change.

    Raises
    ------
    DataError
        If `X` is not numeric or not two-dimensional. Missing and infinite values are numbers here.
    """
    refuse_no_rows(X)
    table = np.asarray(X)
    if table.dtype not in (np.float32, np.float64):
        if table.dtype.kind not in "biufO" or (table.dtype.kind == "O" and _has_text(table)):
            raise DataError(f"X must be numeric, got {'text' if table.dtype.kind in 'OUS' else table.dtype}")
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"X must be numeric, got {table.dtype}: {cut_off(str(error))}") from None
    if table.ndim != 2:
        raise DataError(f"X must be two-dimensional, rows by columns; got shape {table.shape}")
    return table


def refuse_no_rows(X: Any) -> None:
    """Raise a DataError for the name of a file and for mappings, which hold rows in a form that arrays do not have."""
    if isinstance(X, (str, os.PathLike)):
        raise DataError(
            f"X must be rows, got the text {shown(os.fspath(X))}; boxwood.scan reads the table of a file, and so does "
            "boxwood explain on the command line"
        )
    if isinstance(X, Mapping):
        rows = "X" if any(map(np.ndim, X.values())) else "[X]"
        raise DataError(f"X must be rows by columns, got a mapping; give a data frame: pandas.DataFrame({rows})")
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        raise DataError("X must be rows by columns, got mappings; give a data frame: pandas.DataFrame(X)")


def _has_text(table: Array) -> bool:
    return any(isinstance(value, (str, bytes)) for value in table.flat)


def as_numbers(name: str, values: ArrayLike) -> Floats:
    """Return real numbers of any shape as doubles, copied only if their type must change; they need not be finite.

    Raises
    ------
    DataError
        If the values are text, dates or complex, have no common shape, or are too large for a double.
    """
    try:
        given = np.asarray(values)
        numbers = given.astype(np.float64, copy=False) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name} must be numeric: {cut_off(str(error))}") from None
    if numbers is None:
        what = {"U": "text", "S": "text", "c": "complex numbers", "M": "dates"}
        raise DataError(f"{name} must be numeric, got {what.get(given.dtype.kind, str(given.dtype))}")
    return numbers


def as_vector(name: str, values: ArrayLike) -> Floats:
    """Return real numbers of shape (n,) as doubles; raise a DataError for anything else."""
    numbers = as_numbers(name, values)
    if numbers.ndim != 1:
        raise DataError(f"{name} must be a sequence of numbers, got shape {numbers.shape}")
    return numbers


def as_finite_vector(name: str, values: ArrayLike) -> Floats:
    """Return finite real numbers of shape (n,) as doubles; raise a DataError for anything else."""
    numbers = as_vector(name, values)
    if not np.isfinite(numbers).all():
        raise DataError(f"{name} must be finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def as_positions(name: str, values: ArrayLike, n: int, *, least: int = 0) -> Indices:
    """Return whole numbers from `least` to `n` - 1, shape (m,).

    Raises
    ------
    DataError
        If the values are something else.
    """
    array = np.asarray(values)
    whole = array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0)
    if not whole or (array.size and not (array.min() >= least and array.max() < n)):
        raise DataError(f"{name} must be whole numbers from {least} to {n - 1}; got {shown(values)}")
    return array.astype(np.intp, copy=False)
