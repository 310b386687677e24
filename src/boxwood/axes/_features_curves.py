"""Maps whose output columns are curves with one peak: a cut on a curve is an interval of the raw column."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood._validation import as_table
from boxwood.axes._axis_map import AxisMap
from boxwood.axes._monotone import last_at_most
from boxwood.tree._intervals import EVERYTHING, Intervals, intersection

__all__ = ["ChosenCurves", "Curves"]

_Function = Callable[[Floats], Floats]


class Curves(AxisMap):
    """A map in which each output column is a curve over one raw column, with at most one peak.

    A raw value below `low` or above `high` has the image of that end. So an interval that contains an end goes on to
    infinity there.

    A subclass computes the curves. Cuts are pulled back by bisection over doubles on both sides of the peak, with the
    computed curve. They are exact to the bit wherever the computed curve rises and falls as the true one does.

    Parameters
    ----------
    low, high : array of shape (n_features,)
        First and last value of each raw column.
    features : array of shape (n_columns,)
        Raw column of each output column.
    peaks : array of shape (n_columns,)
        Raw value at the peak of each output column; inf for a curve that only rises, -inf for one that only falls.

    Attributes
    ----------
    error : float
        Largest difference between the kernel of two values of a raw column and the inner product of their images; 0 for
        exact maps.
    """

    error: float

    def __init__(
        self,
        low: Floats,
        high: Floats,
        features: Indices,
        peaks: Floats,
    ) -> None:
        self.low, self.high, self.features = low, high, features
        self.n_features = len(low)
        self.peaks = np.clip(peaks, low[features], high[features])

    @abstractmethod
    def _curve(self, column: int, x: Floats) -> Floats:
        """Return the images of values from `low` to `high` in one output column, shape (m,)."""

    def images(self, column: int, x: ArrayLike) -> Floats:
        """Return the images of raw values in one output column, shape (m,)."""
        j = self.features[column]
        return self._curve(column, np.clip(np.asarray(x, dtype=np.float64), self.low[j], self.high[j]))

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows: from shape (n, n_features) to shape (n, n_columns)."""
        table = as_table(X, n_columns=self.n_features)
        mapped = np.empty((len(table), self.n_columns), order="F")
        for column, j in enumerate(self.features):
            mapped[:, column] = self.images(column, table[:, j])
        return mapped

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its values with an image in `[lower, upper]`: at most two intervals."""
        return int(self.features[column]), intersection(self._at_least(column, lower), self._at_most(column, upper))

    # ------------------------------------------------------------------------------------------------- steps

    def _peak(self, column: int) -> float:
        """Return the double with the highest image: the rounded peak or one of its two neighbours."""
        peak = self.peaks[column]
        doubles = np.array([peak, np.nextafter(peak, -np.inf), np.nextafter(peak, np.inf)])
        return float(doubles[np.argmax(self.images(column, doubles))])

    def _sides(self, column: int, peak: float) -> tuple[_Function, _Function]:
        """Return two functions that rise: the curve up to its peak, and the mirror image of the curve from the peak on.

        Both are constant beyond the peak.
        """
        return (
            lambda x: self.images(column, np.minimum(x, peak)),
            lambda y: self.images(column, np.maximum(-y, peak)),
        )

    def _at_least(self, column: int, bound: float) -> Intervals:
        """Return the interval where the curve is at least `bound`."""
        if bound == -math.inf:
            return EVERYTHING
        j, peak = self.features[column], self._peak(column)
        rising, falling = self._sides(column, peak)
        first = -last_at_most(lambda x: -rising(-x), -peak, -float(self.low[j]), -bound)
        last = last_at_most(lambda x: -falling(-x), peak, float(self.high[j]), -bound)
        return ((first, last),) if first <= last else ()

    def _at_most(self, column: int, bound: float) -> Intervals:
        """Return the intervals on both sides of the peak where the curve is at most `bound`."""
        j, peak = self.features[column], self._peak(column)
        rising, falling = self._sides(column, peak)
        last = last_at_most(rising, float(self.low[j]), peak, bound)
        if last == math.inf:
            return EVERYTHING
        first = -last_at_most(falling, -float(self.high[j]), -peak, bound)
        before = ((-math.inf, last),) if last > -math.inf else ()
        return (*before, (first, math.inf)) if first < math.inf else before


class ChosenCurves(AxisMap):
    """Some output columns of a map of curves, such as the columns that a tree tests; other columns are not computed.

    Parameters
    ----------
    curves : Curves
    columns : array of int
        Output columns of `curves`, in the order in which they become output columns here.
    """

    def __init__(self, curves: Curves, columns: Indices) -> None:
        self.curves, self.columns = curves, columns
        self.n_features, self.features = curves.n_features, curves.features[columns]

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows: from shape (n, n_features) to shape (n, n_columns)."""
        table = as_table(X, n_columns=self.n_features)
        pairs = zip(self.columns.tolist(), self.features.tolist(), strict=True)
        images = [self.curves.images(column, table[:, j]) for column, j in pairs]
        return np.array(images).reshape(len(images), len(table)).T

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the raw column, and its values with an image in `[lower, upper]`."""
        return self.curves.pull_back(int(self.columns[column]), lower, upper)
