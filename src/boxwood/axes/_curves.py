"""Maps whose output columns are curves with one peak: a cut on a curve is an interval of the raw column."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table
from boxwood.axes._monotone import last_at_most
from boxwood.axes.maps import AxisMap
from boxwood.kernels import Gaussian
from boxwood.kernels.bandwidth import by_axis
from boxwood.tree.cover import EVERYTHING, Intervals, intersection

AT_ONCE = 1 << 16  # images that are computed at once, which stay in a processor's cache

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

    features: Indices

    low: Floats
    high: Floats

    error: float

    def __init__(self, low: Floats, high: Floats, features: Indices, peaks: Floats) -> None:
        self.low, self.high, self.features = low, high, features
        self.n_features: int = len(low)
        self.peaks: Floats = np.clip(peaks, low[features], high[features])

    @abstractmethod
    def _curve(self, column: int | Indices, x: Floats) -> Floats:
        """Return the images of values from `low` to `high` in one output column, shape (m,).

        Output columns of one raw column, shape (c, 1), have images of shape (c, m), or of (1, m) if they are all alike.
        """

    def images(self, column: int, x: ArrayLike) -> Floats:
        """Return the images of raw values in one output column, shape (m,)."""
        return self._curve(column, self._inside(int(self.features[column]), x))

    def _inside(self, j: int, x: ArrayLike) -> Floats:
        """Return values of a raw column, those below its first or above its last value as that one."""
        return np.clip(np.asarray(x, dtype=np.float64), self.low[j], self.high[j])

    def transform(self, X: ArrayLike) -> Floats:
        """Return the image of rows: from shape (n, n_features) to shape (n, n_columns)."""
        table = as_table(X, n_columns=self.n_features)
        mapped = np.empty((self.n_columns, len(table)))
        at_once = max(AT_ONCE // max(len(table), 1), 1)
        for j in range(self.n_features):
            columns = np.flatnonzero(self.features == j)
            x = self._inside(j, table[:, j])
            for of_block in np.split(columns, range(at_once, len(columns), at_once)):
                mapped[of_block] = self._curve(of_block[:, None], x)
        return mapped.T

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
        return (lambda x: self.images(column, np.minimum(x, peak)), lambda y: self.images(column, np.maximum(-y, peak)))

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

    n_features: int
    features: Indices

    curves: Curves
    columns: Indices

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


TAYLOR_MARGIN = 2.0**-10
"""Distance of the smallest shifted value of a column from 0, in lengths 1 / sqrt(2 gamma)."""

DELTA = 0.01  # largest error of an inner product that "auto" accepts
MOST = 200  # highest power of "auto"
_FAR = 1e6  # lengths; all features are 0 there, whatever the power


class TaylorFeatures(Curves):
    """The first terms of the Taylor series of a Gaussian kernel on each axis.

    Values are shifted: z = x + shift, so that the smallest z of a column is a small positive number. The features of an
    axis are `exp(-gamma z²) z^j sqrt((2 gamma)^j / j!)` for j = 0, ..., M. For growing M, their inner products tend to
    the kernel `exp(-gamma (z - z')²)`. Each feature has one peak, at `z = sqrt(j / (2 gamma))`.

    Parameters
    ----------
    low, high : array-like of shape (d,)
        First and last value of each column.
    gamma : array-like of shape (d,)
        Inverse of a squared length for each column.
    orders : array-like of int, shape (d,)
        Highest power M of each column.

    Attributes
    ----------
    shift : array of shape (d,)
        Shift of each column.
    powers : array of shape (n_columns,)
        Power j of each output column.
    error : float
        Largest error of an inner product along one axis. It is the probability that a Poisson variable of mean
        2 gamma R² is above M, where R is the largest z of the axis, and it is attained at z = z' = R.

    Notes
    -----
    Powers are computed from logarithms, so that none overflows. A transform takes time and memory of n sum (M + 1)
    numbers.

    The paper prints g(z) = exp(2 z) for its example, the Gaussian kernel; correct is exp(2 gamma z). It allows every
    shift, because no shift changes the kernel. But this is a series around z = 0, and it needs about 2 gamma R² terms.
    With the middle of the values shifted to 0, a fourth of the terms would do. Then, however, the even powers have two
    peaks, and a cut on such a feature is two intervals.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Definition 3 and Theorems 3 and 4, corrected.

    Examples
    --------
    >>> features = TaylorFeatures([0.0], [1.0], [1.0], [5])
    >>> Z = features.transform([[0.25], [1.0]])
    >>> abs(float(Z[0] @ Z[1]) - np.exp(-(0.75**2))) <= features.error < 0.017
    True
    >>> feature, ((first, last),) = features.pull_back(3, 0.2, 0.5)
    >>> feature, round(first, 4), last
    (0, 0.6379, inf)
    """

    powers: Array

    def __init__(self, low: ArrayLike, high: ArrayLike, gamma: ArrayLike, orders: ArrayLike) -> None:
        from scipy.special import gammaln

        last, first = np.asarray(high, dtype=np.float64), np.asarray(low, dtype=np.float64)
        self.unit: Floats = _unit(np.asarray(gamma, dtype=np.float64))
        terms = np.asarray(orders, dtype=np.intp) + 1
        features = np.repeat(np.arange(len(terms)), terms)
        self.powers = np.concatenate([np.arange(m) for m in terms.tolist()])
        self.shift: Floats = TAYLOR_MARGIN / self.unit - first
        peaks = first[features] + (np.sqrt(self.powers) - TAYLOR_MARGIN) / self.unit[features]
        super().__init__(first, last, features, peaks)
        self._log_scales = -0.5 * gammaln(self.powers + 1.0)
        self.error: float = float(_tails(terms - 1, _reach(first, last, self.unit)).max())

    @classmethod
    def of(cls, kernel: Gaussian, X: ArrayLike, *, n_terms: int | str = "auto") -> TaylorFeatures:
        """Return the features for the rows of `X`, shape (n, d); the kernel has numbers for its bandwidth.

        `n_terms` is the highest power M in every column; the paper's experiments have 5. "auto" takes for each column
        the smallest M with an error of at most 0.01, but never more than 200. A kernel whose length fits 18 times
        into the range of a column would need more than 200 terms; look at `error` then.
        """
        table = as_table(X)
        gamma = by_axis(kernel.gamma, table.shape[1])
        low, high = table.min(axis=0).astype(np.float64), table.max(axis=0).astype(np.float64)
        if n_terms != "auto":
            return cls(low, high, gamma, np.full(len(low), n_terms))
        tails = _tails(np.arange(MOST)[:, None], _reach(low, high, _unit(gamma)))
        return cls(low, high, gamma, (tails > DELTA).sum(axis=0))

    def _curve(self, column: int | Indices, x: Floats) -> Floats:
        j = self.features[column]
        u = _lengths(x, self.low[j], self.unit[j])
        return np.asarray(np.exp(self.powers[column] * np.log(u) - 0.5 * u * u + self._log_scales[column]))


def _unit(gamma: Floats) -> Floats:
    """Return sqrt(2 gamma); twice the largest numbers would leave the range of doubles."""
    return np.asarray(np.where(gamma < 1e300, np.sqrt(2 * np.minimum(gamma, 1e300)), np.sqrt(2) * np.sqrt(gamma)))


def _lengths(x: Floats, low: Floats, unit: Floats) -> Floats:
    """Return shifted values in lengths 1 / sqrt(2 gamma).

    They are computed from the difference `x - low`: adding the shift would lose digits of values far from zero.
    """
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum((x - low) * unit + TAYLOR_MARGIN, _FAR))


def _reach(low: Floats, high: Floats, unit: Floats) -> Floats:
    """Return the largest shifted value of each column in lengths."""
    return _lengths(high, low, unit)


def _tails(orders: Indices, reach: Floats) -> Floats:
    """Return the probabilities that Poisson variables of mean `reach²` are above the orders."""
    from scipy.special import pdtrc

    return np.asarray(pdtrc(orders, reach**2))
