"""`Rows`: a table in memory and its weights, which are checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._messages import listed
from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Weights
from boxwood._validation._arrays import as_float_table
from boxwood._validation._weights import as_weights
from boxwood.errors import DataError

__all__ = ["Rows", "as_table", "refuse_not_finite"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked rows of a table in memory, with checked weights.

    Every function that takes rows takes `Rows` too. Functions read their rows with `Rows.of` or `as_table`, and these
    return `Rows` without a second check. So a table is checked once, however many functions it passes.

    Parameters
    ----------
    values : array of shape (n, d)
        Finite numbers, float32 or float64.
    weights : array of shape (n,), or None
        Finite and not negative; None weighs every row 1.
    """

    values: Array
    weights: Weights = None

    @classmethod
    def of(cls, X: ArrayLike | Rows, sample_weight: ArrayLike | None = None, *, n_columns: int | None = None) -> Rows:
        """Return checked rows; without `sample_weight`, `Rows` keep their weights."""
        table = as_table(X, n_columns=n_columns)
        if isinstance(X, Rows) and sample_weight is None:
            return X
        return cls(table, as_weights(sample_weight, len(table)))

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype=dtype) if not copy else np.array(self.values, dtype=dtype)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def take(self, rows: Indices) -> Rows:
        """Return some of the rows."""
        return Rows(self.values[rows], None if self.weights is None else self.weights[rows])

    def column(self, feature: int, rows: Array) -> Floats:
        """Return the values of one column at some rows, as float64."""
        return np.asarray(self.values[rows, feature], dtype=np.float64)

    def is_first(self, rows: Indices, feature: int, lower: float, upper: float) -> Bools:
        """Return whether each of some rows goes to the first side of the cut `lower <= x <= upper`."""
        values = self.column(feature, rows)
        inside: Bools = (lower <= values) & (values <= np.float64(upper))
        return inside

    def mapped(self, values: Array) -> Rows:
        """Return rows with other values and the same weights."""
        return Rows(values, self.weights)


def as_table(X: ArrayLike | Rows, *, n_columns: int | None = None, names: Sequence[str] | None = None) -> Array:
    """Return `X` as finite rows, shape (n, d), float32 or float64; it is copied only if its type must change.

    Raises
    ------
    DataError
        If `X` is not numeric or two-dimensional, has no rows or columns, has another number of columns than
        `n_columns`, or holds missing or infinite values; the message uses `names` for the columns.
    """
    if isinstance(X, Rows):
        _refuse_other_width(X.values, n_columns)
        return X.values
    if np.ma.is_masked(X):
        raise DataError("X is a masked array with masked values; fill them (X.filled) or leave those rows out")
    if hasattr(X, "toarray"):
        raise DataError("X is sparse, and must have all its numbers; use X.toarray()")
    table = as_float_table(X)
    if 0 in table.shape:
        raise DataError(f"X must have at least one row and one column; got shape {table.shape}")
    _refuse_other_width(table, n_columns)
    refuse_not_finite(table, names if names is not None and len(names) == table.shape[1] else None)
    return table


def _refuse_other_width(table: Array, n_columns: int | None) -> None:
    if n_columns is not None and table.shape[1] != n_columns:
        raise DataError(f"X has {table.shape[1]} columns, but {n_columns} are expected")


def refuse_not_finite(X: Array, names: Sequence[str] | None = None, *, n_jobs: int | None = -1) -> None:
    """Raise a DataError with the number of missing or infinite values by column; finite rows are read once."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = map_blocks(lambda start, stop: np.sum(X[start:stop], dtype=np.float64), len(X), n_jobs=n_jobs)
    if np.isfinite(sums).all() or np.isfinite(X).all():  # a sum of finite values may overflow
        return
    for problem, is_problem, remedy in (
        ("missing values (NaN)", np.isnan, "fill them or leave those rows out"),
        ("infinite values", np.isinf, "replace them or leave those rows out"),
    ):
        bad = is_problem(X)
        if bad.any():
            columns = [
                f"{names[j] if names is not None else f'column {j}'} ({count})"
                for j, count in enumerate(bad.sum(axis=0))
                if count
            ]
            rows = int(bad.any(axis=1).sum())
            raise DataError(f"{problem} in {rows} of {len(X)} rows: {listed(columns)}; {remedy}")
