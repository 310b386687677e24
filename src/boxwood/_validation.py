"""Rows and weights, checked once: `Rows`, and the small checks of parameters that every function shares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints, Weights
from boxwood.errors import DataError

__all__ = [
    "Rows",
    "as_generator",
    "as_table",
    "as_weights",
    "as_whole_weights",
    "listed",
    "refuse_not_finite",
    "refuse_unknown",
]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table in memory, with their weights, both checked.

    `Rows` stands wherever rows stand. Every function reads its rows by `Rows.of` or by `as_table`, and these give back
    what is checked already: so a table is looked through once, however many functions it passes. A table beyond memory
    will be a second class with the methods of this one.

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
        """Return checked rows; the weights of rows that are checked already stay if no others are given."""
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
        """Return which of some rows go to the first side of a cut."""
        values = self.column(feature, rows)
        inside: Bools = (lower <= values) & (values <= np.float64(upper))
        return inside

    def mapped(self, values: Array) -> Rows:
        """Return other columns of the same rows, with the same weights."""
        return Rows(values, self.weights)


def as_table(X: ArrayLike | Rows, *, n_columns: int | None = None, names: Sequence[str] | None = None) -> Array:
    """Return `X` as finite rows, shape (n, d), float32 or float64; nothing is copied unless the type must change.

    Raises
    ------
    DataError
        If `X` is not numeric or two-dimensional, has no rows or columns, has another number of columns than
        `n_columns`, or holds missing or infinite values; the message calls the columns by `names`.
    """
    if isinstance(X, Rows):
        _refuse_other_width(X.values, n_columns)
        return X.values
    table = np.asarray(X)
    if table.dtype not in (np.float32, np.float64):
        if table.dtype.kind not in "biufO" or (table.dtype.kind == "O" and _has_text(table)):
            raise DataError(f"X must be numeric, got {'text' if table.dtype.kind in 'OUS' else table.dtype}")
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"X must be numeric, got {table.dtype}: {error}") from None
    if table.ndim != 2:
        raise DataError(f"X must be two-dimensional, rows by columns; got shape {table.shape}")
    if 0 in table.shape:
        raise DataError(f"X must have at least one row and one column; got shape {table.shape}")
    _refuse_other_width(table, n_columns)
    refuse_not_finite(table, names if names is not None and len(names) == table.shape[1] else None)
    return table


def _refuse_other_width(table: Array, n_columns: int | None) -> None:
    if n_columns is not None and table.shape[1] != n_columns:
        raise DataError(f"X has {table.shape[1]} columns, but {n_columns} are expected")


def _has_text(table: Array) -> bool:
    return any(isinstance(value, (str, bytes)) for value in table.flat)


def refuse_not_finite(X: Array, names: Sequence[str] | None = None, *, n_jobs: int | None = -1) -> None:
    """Raise a DataError that counts missing and infinite values by column; one pass over finite rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = map_blocks(lambda start, stop: np.sum(X[start:stop], dtype=np.float64), len(X), n_jobs=n_jobs)
    if np.isfinite(sums).all() or np.isfinite(X).all():  # a sum of finite values may overflow
        return
    for what, test, remedy in (
        ("missing values (NaN)", np.isnan, "fill them or leave those rows out"),
        ("infinite values", np.isinf, "replace them or leave those rows out"),
    ):
        bad = test(X)
        if bad.any():
            columns = [
                f"{names[j] if names is not None else f'column {j}'} ({count})"
                for j, count in enumerate(bad.sum(axis=0))
                if count
            ]
            rows = int(bad.any(axis=1).sum())
            raise DataError(f"{what} in {rows} of {len(X)} rows: {listed(columns)}; {remedy}")


def as_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the weights of the rows, shape (n,); None where none are given. A single number is each row's weight."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must be numeric: {error}") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight must have one weight for each of {n_rows} rows, got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError("sample_weight must be finite and not negative")
    if not weights.any():
        raise DataError("sample_weight is zero for every row")
    return weights


def listed(words: Sequence[str], limit: int = 10) -> str:
    """Return the words with commas, at most `limit` of them and the number of the others."""
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(words[:limit]) + more


def as_whole_weights(weights: Floats | None) -> Ints:
    """Return weights as whole multiples of one power of two, so that their sums are exact; an empty array for None.

    The multiples add up to less than 2**62, so each weight is kept to 62 bits of the total. Whole weights, and all
    others of that precision, are kept exactly; equal sums stay equal in whatever order they are added.
    """
    if weights is None:
        return np.empty(0, dtype=np.int64)
    scaled = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # below 1, so that the sum is finite
    whole = np.rint(np.ldexp(scaled, int(np.floor(61 - np.log2(scaled.sum()))))).astype(np.int64)
    return np.maximum(whole, weights > 0)  # a row of little weight is still a row


def as_generator(random_state: Any) -> np.random.Generator:
    """Return the generator of a seed, a Generator, a RandomState (which it advances) or None (a new one)."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def refuse_unknown(name: str, value: object, allowed: Collection[str]) -> None:
    """Raise a ValueError that names the parameter, what it may be and what came, unless the value is allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")
