"""Maps whose output columns are monotone functions of a column each, inverted by bisection over the doubles."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import as_float_table, as_table, as_vector, position, real_number
from boxwood.axes.maps import LARGEST, AxisMap
from boxwood.tree.cover import Intervals, intersection, join_intervals

PIECES = 512  # number of values that one step of the bisection maps at once
FORMULA = 2.0**-45  # relative error of an inverse by its formula, at most: where it is less, one step finds all digits

_Function = Callable[[Floats], Floats]


class Monotone(AxisMap):
    """A map of each column by its own monotone function, increasing or decreasing; it may be constant on intervals.

    A subclass computes the images of values of one column. Cuts are pulled back by bisection over doubles, with the
    computed images. They are exact to the bit wherever the computed function is monotone. A formula of the inverse, if
    there is one, tells where the bisection begins.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.features: Indices = np.arange(n_features)

    @abstractmethod
    def _images(self, column: int, x: Floats) -> Floats:
        """Return the images of values of one column, shape (m,)."""

    def _inverse(self, column: int, image: float) -> tuple[float, float]:
        """Return two numbers whose sum is the value with an image, but for rounding; NaN where no formula tells it."""
        return math.nan, math.nan

    def _near(self, column: int, image: float) -> tuple[float, float]:
        """Return the ends of an interval in which the formula says that a value has an image; NaN without a formula."""
        with np.errstate(all="ignore"):
            shift, away = self._inverse(column, image)
            margin = FORMULA * (abs(shift) + abs(away))
            return shift + away - margin, shift + away + margin

    def _range(self, column: int) -> tuple[float, float]:
        """Return the ends of an interval where the function is defined and monotone."""
        return -LARGEST, LARGEST

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the column itself, and the interval of its values with an image in `[lower, upper]`."""
        column = position("column", column, self.n_columns)
        lower, upper = real_number("lower", lower), real_number("upper", upper)
        low, high = self._range(column)

        def image(x: Floats) -> Floats:
            return self._images(column, x)

        at_low, at_high = image(np.array([low, high])).tolist()
        function, bounds = image, (lower, upper)
        if at_low > at_high:  # minus a decreasing function is increasing
            function, bounds = (lambda x: -image(x)), (-upper, -lower)
        near, before = self._near(column, upper), self._near(column, lower)  # of increasing functions
        last = last_at_most(function, low, high, bounds[1], near)
        first = -last_at_most(lambda x: -function(-x), -high, -low, -bounds[0], (-before[1], -before[0]))
        is_empty = last == -math.inf or first == math.inf or first > last
        return column, () if is_empty else ((first, last),)


class Scaling(Monotone):
    """Columns shifted and scaled: `(x - shift) / scale`.

    Parameters
    ----------
    shift, scale : arrays of shape (d,)
        Every scale is positive.
    """

    shift: Floats
    scale: Floats

    def __init__(self, shift: Floats, scale: Floats) -> None:
        self.shift, self.scale = as_vector("shift", shift), as_vector("scale", scale)
        if len(self.shift) != len(self.scale):
            raise ValueError(f"there must be a scale for each shift; got {len(self.scale)} for {len(self.shift)}")
        super().__init__(len(self.shift))

    def transform(self, X: ArrayLike) -> Floats:
        """Return the scaled rows, shape (n, d)."""
        return np.asarray((as_table(X, n_columns=self.n_features) - self.shift) / self.scale, dtype=np.float64)

    def _images(self, column: int, x: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray((x - self.shift[column]) / self.scale[column])

    def _inverse(self, column: int, image: float) -> tuple[float, float]:
        return float(self.shift[column]), float(self.scale[column] * image)

    @property
    def affine(self) -> tuple[Floats, Floats]:
        """Shift and scale of each column."""
        return self.shift, self.scale


class Tails(Monotone):
    """Columns whose long tails are drawn in, so that a few far rows do not decide all distances.

    They are as they are near their middle, and as their logarithm far from it: `arcsinh((x - middle) / spread)`.
    Numbers that stand for a missing value, such as 99 beside answers 1 to 5, are where a typical row is.

    Parameters
    ----------
    middle, spread : arrays of shape (d,)
        Each spread is positive; an infinite one leaves its column as it is.
    ends : array of shape (2, d), default=None
        Numbers at or beyond these stand for missing values, below and above; None is for no column.
    typical : array of shape (d,), default=None
        What such numbers are taken for.
    """

    middle: Floats
    spread: Floats
    ends: Floats
    typical: Floats

    def __init__(
        self, middle: Floats, spread: Floats, ends: Floats | None = None, typical: Floats | None = None
    ) -> None:
        super().__init__(len(middle))
        self.middle, self.spread = middle, spread
        self.ends = np.outer([-np.inf, np.inf], np.ones(len(middle))) if ends is None else ends
        self.typical = np.zeros(len(middle)) if typical is None else typical

    @property
    def drawn_in(self) -> tuple[int, ...]:
        """The columns whose tails are drawn in."""
        return tuple(np.flatnonzero(np.isfinite(self.spread)).tolist())

    @property
    def changed(self) -> tuple[int, ...]:
        """The columns that are not left as they are."""
        return tuple(np.flatnonzero(np.isfinite(self.spread) | np.isfinite(self.ends).any(axis=0)).tolist())

    def column(self, j: int) -> Tails | None:
        """Return the map of one column; None for one that is left as it is."""
        if j not in self.changed:
            return None
        return Tails(self.middle[[j]], self.spread[[j]], self.ends[:, [j]], self.typical[[j]])

    def transform(self, X: ArrayLike) -> Floats:
        """Return the rows as they enter, shape (n, d); NaN and infinite numbers stay what they are."""
        drawn = np.array(as_float_table(X), dtype=np.float64, order="K")
        for j in self.changed:
            x = drawn[:, j]
            drawn[:, j] = self._images(j, np.where(self.stand_for_missing(j, x), self.typical[j], x))
        return drawn

    def stand_for_missing(self, column: int, x: Floats) -> Bools:
        """Return which numbers of a column stand for a missing value, shape (m,)."""
        return np.asarray(np.isfinite(x) & ((x <= self.ends[0, column]) | (x >= self.ends[1, column])))

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the column itself, and its values with an image in `[lower, upper]`."""
        column, pieces = super().pull_back(column, lower, upper)
        low, high = self.ends[:, column].tolist()
        if low == -math.inf and high == math.inf:
            return column, pieces
        first, last = (end if math.isinf(end) else math.nextafter(end, 0.0) for end in (low, high))
        known = intersection(pieces, ((first, last),))
        is_inside = lower <= self._images(column, self.typical[[column]])[0] <= upper
        codes = [(-math.inf, low)] * (low > -math.inf) + [(high, math.inf)] * (high < math.inf)
        return column, join_intervals([*known, *(codes if is_inside else [])])

    def _images(self, column: int, x: Floats) -> Floats:
        if not np.isfinite(self.spread[column]):
            return x
        with np.errstate(over="ignore"):
            return np.asarray(np.arcsinh((x - self.middle[column]) / self.spread[column]))

    def _inverse(self, column: int, image: float) -> tuple[float, float]:
        if not np.isfinite(self.spread[column]):
            return 0.0, image
        return float(self.middle[column]), float(self.spread[column] * np.sinh(image))


class Elementwise(Monotone):
    """A fitted transformer of scikit-learn that maps each column by a monotone function.

    Parameters
    ----------
    transformer : fitted transformer
        It has one output column for each input column.
    row : array of shape (d,)
        A row that it can transform.
    ranges : array of shape (2, d), default=None
        For each column, the ends of an interval where its function is monotone; None is all numbers. Outside the
        interval the function is assumed to stay monotone wherever it is defined.
    """

    def __init__(self, transformer: Any, row: Floats, ranges: Floats | None = None) -> None:
        super().__init__(len(row))
        self.transformer, self.row, self.ranges = transformer, row, ranges

    def transform(self, X: ArrayLike) -> Floats:
        """Return the transformed rows, shape (n, d)."""
        return transform_rows(self.transformer, as_table(X, n_columns=self.n_features).astype(np.float64))

    def _images(self, column: int, x: Floats) -> Floats:
        rows = np.tile(self.row, (len(x), 1))
        rows[:, column] = x
        try:
            return transform_rows(self.transformer, rows)[:, column]
        except ValueError:  # the function is not defined for one of the values
            if len(x) == 1:
                return np.array([np.nan])
            return np.concatenate([self._images(column, x[i : i + 1]) for i in range(len(x))])

    @property
    def affine(self) -> tuple[Floats, Floats] | None:
        """Shift and scale of each column, if the transformer is one of scikit-learn's scalers."""
        from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

        scaler, ones = self.transformer, np.ones(self.n_features)
        if getattr(scaler, "clip", False):
            return None
        if isinstance(scaler, MinMaxScaler):
            return -scaler.min_ / scaler.scale_, 1 / scaler.scale_
        if isinstance(scaler, StandardScaler):
            shift = scaler.mean_ if scaler.with_mean else None
        elif isinstance(scaler, (MaxAbsScaler, RobustScaler)):
            shift = getattr(scaler, "center_", None)
        else:
            return None
        return 0 * ones if shift is None else shift, ones if scaler.scale_ is None else scaler.scale_

    def _range(self, column: int) -> tuple[float, float]:
        if self.ranges is None:
            return super()._range(column)
        return float(self.ranges[0, column]), float(self.ranges[1, column])


def transform_rows(transformer: Any, X: Any) -> Floats:
    """Return the output of a fitted transformer as a dense array of doubles, without warnings of numpy."""
    from sklearn import config_context

    # bisection tries the largest doubles; if these overflow within a transformer, that is not an error
    with np.errstate(all="ignore"), config_context(assume_finite=True):
        result = transformer.transform(X)
    dense = result.toarray() if hasattr(result, "toarray") else result
    return np.asarray(dense, dtype=np.float64)


# ----------------------------------------------------------------------------------------------------- bisection


def last_at_most(
    function: _Function, low: float, high: float, bound: float, near: tuple[float, float] = (math.nan, math.nan)
) -> float:
    """Return the last double where an increasing function is at most `bound`: -inf if there is none, inf if all are.

    The function is defined from `low` to `high`, and NaN where it is not defined. If it crosses the bound outside this
    interval, the search goes on there, up to the end of the function's domain. It begins between two numbers that are
    near, where it crosses the bound there.
    """

    def holds(x: Floats) -> Bools:
        return function(x) <= bound

    def defined(x: Floats) -> Bools:
        return ~np.isnan(function(x))

    if bound == math.inf:
        return math.inf
    if math.isfinite(near[0]) and math.isfinite(near[1]) and holds(np.array(near)).tolist() == [True, False]:
        return _last(holds, *near)
    if _at(holds, high):
        top = LARGEST if _at(defined, LARGEST) else _last(defined, high, LARGEST)
        return math.inf if _at(holds, top) else _last(holds, high, top)
    if _at(holds, low):
        return _last(holds, low, high)
    bottom = -LARGEST if _at(defined, -LARGEST) else -_last(lambda x: defined(-x), -low, LARGEST)
    return _last(holds, bottom, low) if _at(holds, bottom) else -math.inf


def _at(test: Callable[[Floats], Bools], x: float) -> bool:
    return bool(test(np.array([x]))[0])


def _last(test: Callable[[Floats], Bools], low: float, high: float) -> float:
    """Return the last double for which a test holds, between `low` (it holds) and `high` (it does not)."""
    first, last = _rank(low), _rank(high)
    while last - first > 1:
        steps = min(PIECES, last - first)
        ranks = [first + (last - first) * i // steps for i in range(1, steps)]
        holds = test(_of_rank(np.array(ranks, dtype=np.int64)))
        n = len(ranks) if holds.all() else int(np.argmin(holds))
        first, last = (ranks[n - 1] if n else first), (ranks[n] if n < len(ranks) else last)
    return float(_of_rank(np.array([first]))[0])


_SIGN = np.iinfo(np.int64).min  # the bits of -0.0


def _rank(x: float) -> int:
    """Return the rank of a double among all doubles; 0.0 has rank 0."""
    bits = int(np.float64(x).view(np.int64))
    return bits if bits >= 0 else _SIGN - bits


def _of_rank(ranks: Ints) -> Floats:
    """Return the doubles of these ranks."""
    return np.where(ranks >= 0, ranks, _SIGN - ranks).view(np.float64)
