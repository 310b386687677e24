"""Checks of rows and weights that every function of arrays shares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_blocks
from boxwood._types import Array, Floats, Ints
from boxwood.errors import DataError

__all__ = [
    "as_generator",
    "as_table",
    "as_weights",
    "as_whole_weights",
    "listed",
    "refuse_not_finite",
    "refuse_unknown",
]


def as_table(X: ArrayLike, *, n_columns: int | None = None) -> Array:
    """Return `X` as finite rows, shape (n, d), float32 or float64; nothing is copied unless the type must change.

    Raises
    ------
    DataError
        If `X` is not numeric or two-dimensional, has no rows or columns, has another number of columns than
        `n_columns`, or holds missing or infinite values.
    """
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
    if n_columns is not None and table.shape[1] != n_columns:
        raise DataError(f"X has {table.shape[1]} columns, but {n_columns} are expected")
    refuse_not_finite(table)
    return table


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
