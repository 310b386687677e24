"""Bandwidths: one number, one number for each column, or a rule that makes a number from rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats
from boxwood._validation import Rows, as_numbers, show_value
from boxwood.errors import DataError

Bandwidth = float | tuple[float, ...] | str
RULES = ("auto", "scale", "median")
SAMPLE = 1000  # rows whose pairwise distances are used by the rules "auto" and "median"
NEAR = 0.05  # share of the rows in the neighbourhood that "auto" measures
NARROWEST = 7.0  # largest gamma of "auto", over the summed variances; a larger one sees only dense spots of heavy tails
_AT_NEAR = {1: 1.0, 2: 0.25}  # gamma times the distance (Laplace) or squared distance (Gaussian) to such neighbours


def as_bandwidth(gamma: float | Sequence[float] | Array | str) -> Bandwidth:
    """Return a bandwidth in the form that kernels store: a number, a tuple with one per column, or a rule's name."""
    if isinstance(gamma, str):
        if gamma not in RULES:
            raise _no_bandwidth(gamma)
        return gamma
    values = as_numbers("gamma", gamma)
    if values.ndim > 1 or values.size == 0 or not np.isfinite(values).all() or (values <= 0).any():
        raise _no_bandwidth(gamma)
    return float(values) if values.ndim == 0 else tuple(values.tolist())


def _no_bandwidth(gamma: object) -> ValueError:
    rules = f"{', '.join(map(repr, RULES[:-1]))} or {RULES[-1]!r}"
    return ValueError(f"gamma must be a number above 0, one for each axis, {rules}; got {show_value(gamma)}")


def resolved_bandwidth(gamma: Bandwidth, X: ArrayLike, power: int) -> Bandwidth:
    """Return the bandwidth as numbers: a rule is applied to the rows of `X`.

    Distances are sums of |x_j - y_j| to the given power: 1 or 2. "auto" heeds the weights of rows, if `X` has any.
    """
    if not isinstance(gamma, str):
        return gamma
    rows = Rows.of(X)
    near = 0.0
    if gamma == "auto":
        typical, near = _spread_of_columns(rows.values, power, rows.weights), _near_distance(rows, power)
    else:
        typical = _spread(rows.values, power) if gamma == "scale" else _median_distance(rows.values, power)
    if not np.isfinite(typical):
        raise DataError("the values of X are too large for a bandwidth; divide the columns by a power of ten")
    if typical == 0:
        return 1.0
    return min(_AT_NEAR[power] / near, NARROWEST / typical) if near > 0 else 1.0 / typical


def by_axis(gamma: Bandwidth, n_axes: int) -> Floats:
    """Return the bandwidth of each column, shape (d,)."""
    numbers = fixed_bandwidth(gamma)
    if isinstance(numbers, tuple) and len(numbers) != n_axes:
        raise DataError(f"gamma has {len(numbers)} numbers, one for each column, but there are {n_axes} columns")
    return np.broadcast_to(np.asarray(numbers, dtype=np.float64), n_axes)


def fixed_bandwidth(gamma: Bandwidth) -> float | tuple[float, ...]:
    """Return the bandwidth if it is a number, or one for each column; raise a ValueError if it is still a rule."""
    if isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} is still to be found from rows; call kernel.fitted(X) first")
    return gamma


def _spread(X: Array, power: int) -> float:
    """Return d times the standard deviation of all values to some power, as scikit-learn's "scale" has it for power 2.

    Infinite or NaN where it overflows.
    """
    values = np.asarray(X, dtype=np.float64)
    return float(X.shape[1] * _deviation(values, np.full(values.shape, 1 / values.size)) ** power)


def _spread_of_columns(X: Array, power: int, weights: Floats | None) -> float:
    """Return the sum over columns of their standard deviations to some power; it does not depend on shifts."""
    each = np.ones(len(X)) if weights is None else weights
    columns = np.asarray(X, dtype=np.float64).T
    with np.errstate(over="ignore", invalid="ignore"):
        return float(sum(_deviation(*_distinct(column, each)) ** power for column in columns))


def _distinct(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the different values, ascending, and their shares: a repeated row is the same as a row of more weight."""
    order = np.lexsort((weights, values))
    ordered = values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    scaled = np.ldexp(weights[order], -int(np.frexp(weights.max())[1]))  # so that no sum overflows
    return ordered[first], _shares(np.add.reduceat(scaled, first))


def _deviation(values: Floats, shares: Floats) -> float:
    """Return the standard deviation of values with these shares; infinite or NaN where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        center = _exact_sum(shares * values)
        return float(np.sqrt(_exact_sum(shares * np.square(values - center))))


def _exact_sum(values: Floats) -> float:
    """Return a sum of whole multiples of one power of two, so that the order of the values does not matter."""
    largest = float(np.abs(values).max())
    if not 0 < largest < np.inf:
        return float(values.sum())
    shift = 62 - int(np.frexp(largest)[1]) - values.size.bit_length()  # the multiples add up to less than 2**62
    return math.ldexp(float(np.rint(np.ldexp(values, shift)).astype(np.int64).sum()), -shift)


def _shares(weights: Floats) -> Floats:
    scaled = weights / weights.max()  # the sum of large weights may overflow
    return np.asarray(scaled / _exact_sum(scaled))


def _median_distance(X: Array, power: int) -> float:
    """Return the median distance between rows of a sample; the median of those above 0 if that is 0."""
    distances = _distances(X, power)
    median = float(np.median(distances)) if len(distances) else 0.0
    return median if median > 0 or not distances.any() else float(np.median(distances[distances > 0]))


def _near_distance(rows: Rows, power: int) -> float:
    """Return the distance within which a row has the share `NEAR` of all weight: the median over rows, or 0.

    A row counts as its own neighbour, but the distance is above 0: at least that to the nearest row that differs.
    """
    from scipy.spatial.distance import squareform

    X, weights = rows.values, np.ones(len(rows)) if rows.weights is None else rows.weights
    if rows.weights is not None and len(X) > SAMPLE:
        drawn = np.random.default_rng(0).choice(len(X), SAMPLE, p=_shares(weights))
        X, weights = X[np.sort(drawn)], np.ones(SAMPLE)
    X, weights = X[weights > 0], weights[weights > 0]
    distances = squareform(_distances(X, power))
    weights = _shares(weights[: len(distances)])  # all are equal if the rows were sampled
    order = np.argsort(distances, axis=1)
    ascending = np.take_along_axis(distances, order, axis=1)
    enough = (np.cumsum(weights[order], axis=1) >= NEAR * (1 - 1e-9)) & (ascending > 0)
    if not enough.any():
        return 0.0
    radii = np.where(enough, ascending, np.inf).min(axis=1)
    by_size = np.argsort(radii)
    upto = np.cumsum(weights[by_size])
    return float(radii[by_size[np.searchsorted(upto, upto[-1] / 2 * (1 - 1e-9))]])


def _distances(X: Array, power: int) -> Floats:
    from scipy.spatial.distance import pdist

    if len(X) > SAMPLE:
        X = X[np.sort(np.random.default_rng(0).choice(len(X), SAMPLE, replace=False))]
    return np.asarray(pdist(X.astype(np.float64), "cityblock" if power == 1 else "sqeuclidean"))
