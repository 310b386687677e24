"""Maps whose columns are monotone functions, turned round by bisection over the doubles themselves."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Bools, Floats, Ints
from boxwood._validation import as_table
from boxwood.axes._axis_map import AxisMap
from boxwood.tree._intervals import Intervals

__all__ = ["LARGEST", "Elementwise", "Monotone", "Scaling", "last_at_most", "transformed"]

LARGEST = float(np.finfo(np.float64).max)
PIECES = 512  # a step of the bisection asks for the images of so many values at once

_Function = Callable[[Floats], Floats]


class Monotone(AxisMap):
    """A map of each column by a monotone function of its own, increasing or decreasing, flat in places or not.

    A subclass gives the images of values of one column. What a cut means is found by bisection over doubles against
    these, so it is exact to the bit wherever rounding keeps the function monotone.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.features = np.arange(n_features)

    @abstractmethod
    def _images(self, column: int, x: Floats) -> Floats:
        """Return the images of values of one column, shape (m,)."""

    def _range(self, column: int) -> tuple[float, float]:
        """Return the first and last value at which the function is known to be defined and monotone."""
        return -LARGEST, LARGEST

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the column itself, and the interval of its values whose image lies in `[lower, upper]`."""
        low, high = self._range(column)

        def image(x: Floats) -> Floats:
            return self._images(column, x)

        at_low, at_high = image(np.array([low, high])).tolist()
        function, bounds = image, (lower, upper)
        if at_low > at_high:  # a decreasing function is an increasing one seen in a mirror
            function, bounds = (lambda x: -image(x)), (-upper, -lower)
        last = last_at_most(function, low, high, bounds[1])
        first = -last_at_most(lambda x: -function(-x), -high, -low, -bounds[0])
        nothing = last == -math.inf or first == math.inf or first > last
        return column, () if nothing else ((first, last),)


class Scaling(Monotone):
    """Columns shifted and scaled: `(x - shift) / scale`.

    Parameters
    ----------
    shift, scale : arrays of shape (d,)
        Every scale is positive.
    """

    def __init__(self, shift: Floats, scale: Floats) -> None:
        super().__init__(len(shift))
        self.shift, self.scale = shift, scale

    def transform(self, X: ArrayLike) -> Floats:
        """Return the scaled rows, shape (n, d)."""
        return np.asarray((as_table(X, n_columns=self.n_features) - self.shift) / self.scale, dtype=np.float64)

    def _images(self, column: int, x: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray((x - self.shift[column]) / self.scale[column])


class Elementwise(Monotone):
    """A fitted transformer of scikit-learn that maps each column by a monotone function.

    Parameters
    ----------
    transformer : fitted transformer
        Its output has the columns of its input.
    row : array of shape (d,)
        A row that it can transform.
    ranges : array of shape (2, d), default=None
        First and last value of each column at which its function is known to be monotone. Beyond, it is taken to go on
        as it is there, as far as it is defined. None is the whole line.
    """

    def __init__(self, transformer: Any, row: Floats, ranges: Floats | None = None) -> None:
        super().__init__(len(row))
        self.transformer, self.row, self.ranges = transformer, row, ranges

    def transform(self, X: ArrayLike) -> Floats:
        """Return the transformed rows, shape (n, d)."""
        return transformed(self.transformer, as_table(X, n_columns=self.n_features).astype(np.float64))

    def _images(self, column: int, x: Floats) -> Floats:
        rows = np.tile(self.row, (len(x), 1))
        rows[:, column] = x
        try:
            return transformed(self.transformer, rows)[:, column]
        except ValueError:  # a value for which the function is not defined
            if len(x) == 1:
                return np.array([np.nan])
            return np.concatenate([self._images(column, x[i : i + 1]) for i in range(len(x))])

    def _range(self, column: int) -> tuple[float, float]:
        if self.ranges is None:
            return super()._range(column)
        return float(self.ranges[0, column]), float(self.ranges[1, column])


def transformed(transformer: Any, X: Any) -> Floats:
    """Return what a fitted transformer makes of rows as a dense array of doubles, without a word on rounding."""
    from sklearn import config_context

    # values at the ends of the range overflow within a transformer, which is no error
    with np.errstate(all="ignore"), config_context(assume_finite=True):
        result = transformer.transform(X)
    dense = result.toarray() if hasattr(result, "toarray") else result
    return np.asarray(dense, dtype=np.float64)


# ----------------------------------------------------------------------------------------------------- bisection


def last_at_most(function: _Function, low: float, high: float, bound: float) -> float:
    """Return the last double at which an increasing function is at most `bound`: -inf for none, inf for all.

    The function is defined from `low` to `high`. Where it crosses the bound beyond them, it is followed as far as it is
    defined there.
    """

    def holds(x: Floats) -> Bools:
        return function(x) <= bound

    def defined(x: Floats) -> Bools:
        return ~np.isnan(function(x))

    if bound == math.inf:
        return math.inf
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
    """Return the last double from `low`, where a test holds, to `high`, where it does not."""
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
    """Return the place of a double among all doubles, counted from zero."""
    bits = int(np.float64(x).view(np.int64))
    return bits if bits >= 0 else _SIGN - bits


def _of_rank(ranks: Ints) -> Floats:
    return np.where(ranks >= 0, ranks, _SIGN - ranks).view(np.float64)
