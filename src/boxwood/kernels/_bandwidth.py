"""Bandwidths: given as a number, by axis, or by a rule that looks at rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats
from boxwood._validation import as_table
from boxwood.errors import DataError

__all__ = ["Bandwidth", "as_bandwidth", "by_axis", "found_bandwidth", "refuse_rule"]

Bandwidth = float | tuple[float, ...] | str
_RULES = ("scale", "median")
SAMPLE = 1000  # rows whose distances the rule "median" looks at


def as_bandwidth(gamma: float | Sequence[float] | Array | str) -> Bandwidth:
    """Return a bandwidth in the form that is kept: a number, a tuple of one number for each axis, or a rule's name."""
    if isinstance(gamma, str):
        if gamma not in _RULES:
            raise ValueError(f"gamma must be a number above 0, one for each axis, 'scale' or 'median'; got {gamma!r}")
        return gamma
    values = np.asarray(gamma, dtype=np.float64)
    if values.ndim > 1 or values.size == 0 or not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError(f"gamma must be a number above 0, one for each axis, 'scale' or 'median'; got {gamma!r}")
    return float(values) if values.ndim == 0 else tuple(values.tolist())


def found_bandwidth(gamma: Bandwidth, X: ArrayLike, power: int) -> Bandwidth:
    """Return the bandwidth, found by its rule if it is one, for distances summed over axes of |x - y| to some power."""
    if not isinstance(gamma, str):
        return gamma
    table = as_table(X)
    typical = _spread(table, power) if gamma == "scale" else _median_distance(table, power)
    if not np.isfinite(typical):
        raise DataError("the values of X are too large for a bandwidth; divide the columns by some unit")
    return 1.0 / typical if typical > 0 else 1.0


def by_axis(gamma: Bandwidth, n_axes: int) -> Floats:
    """Return one number for each axis, shape (d,)."""
    refuse_rule(gamma)
    if isinstance(gamma, tuple) and len(gamma) != n_axes:
        raise DataError(f"gamma has {len(gamma)} numbers, one for each axis, but there are {n_axes} columns")
    return np.broadcast_to(np.asarray(gamma, dtype=np.float64), n_axes)


def refuse_rule(gamma: Bandwidth) -> None:
    """Raise a ValueError while the bandwidth is a rule and not yet a number."""
    if isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} is still to be found from rows; call kernel.fitted(X) first")


def _spread(X: Array, power: int) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(X.shape[1] * np.ascontiguousarray(X).std(dtype=np.float64) ** power)


def _median_distance(X: Array, power: int) -> float:
    """Return the median distance between rows of a sample, of those above 0 where half of them are 0."""
    from scipy.spatial.distance import pdist

    if len(X) > SAMPLE:
        X = X[np.sort(np.random.default_rng(0).choice(len(X), SAMPLE, replace=False))]
    distances = pdist(X.astype(np.float64), "cityblock" if power == 1 else "sqeuclidean")
    median = float(np.median(distances)) if len(distances) else 0.0
    return median if median > 0 or not distances.any() else float(np.median(distances[distances > 0]))
