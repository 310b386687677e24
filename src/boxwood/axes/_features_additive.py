"""Feature maps of kernels that are sums over axes: powers, steps, and the curves of the χ² kernel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import Rows, as_table
from boxwood.axes._features_curves import Curves
from boxwood.axes._features_distance import landmarks_of
from boxwood.kernels import ChiSquared, Hellinger, HistogramIntersection, Linear
from boxwood.kernels._kernel import refuse_negative

__all__ = ["ChiSquaredFeatures", "PowerFeatures", "StepFeatures"]

STEP = 1.5  # between the logarithms of two rates; this step changes the kernel by about 1 %
DELTA = 0.01  # fraction of the kernel that is lost below the first rate and above the last
MOST = 64  # rates of "auto" in one column
_GRID = 513  # values where the error is measured


class PowerFeatures(Curves):
    """Powers of the columns: square roots for Hellinger's kernel, the columns themselves for the linear kernel.

    Inner products are the kernel exactly.

    Parameters
    ----------
    low, high : array-like of shape (d,)
        First and last value of each column.
    exponent : float
        0.5 or 1.

    Examples
    --------
    >>> PowerFeatures([0.0], [9.0], 0.5).pull_back(0, -np.inf, 2.0)
    (0, ((-inf, 4.000000000000001),))
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, exponent: float) -> None:
        first, last = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        super().__init__(first, last, np.arange(len(first)), np.full(len(first), np.inf))
        self.exponent, self.error = exponent, 0.0

    @classmethod
    def of(cls, kernel: Hellinger | Linear, X: ArrayLike) -> PowerFeatures:
        """Return the features for the rows of `X`, shape (n, d)."""
        table = as_table(X).astype(np.float64)
        if isinstance(kernel, Hellinger):
            refuse_negative(kernel, table)
        return cls(table.min(axis=0), table.max(axis=0), 0.5 if isinstance(kernel, Hellinger) else 1.0)

    def _curve(self, column: int, x: Floats) -> Floats:
        return np.asarray(x**self.exponent)


class StepFeatures(Curves):
    """Steps `sqrt(z_j - z_{j-1}) [x^beta >= z_j]` at values z_j of each column, for histogram intersection.

    Inner products approximate the kernel `min(x^beta, y^beta)`. They are exact if each distinct value of a column has a
    step.

    Parameters
    ----------
    steps : sequence of d arrays
        Values of x with a step in each column, ascending and at least 0.
    beta : float
        Power of the kernel.
    gap : float, default=0.0
        Largest difference between a value of x^beta and the z_j of the last step before it. It is the error.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, equation (13).

    Examples
    --------
    >>> features = StepFeatures([[1.0, 4.0, 9.0]], 0.5)
    >>> Z = features.transform([[4.0], [9.0]])
    >>> Z, float(Z[0] @ Z[1])
    (array([[1., 1., 0.],
           [1., 1., 1.]]), 2.0)
    >>> features.pull_back(1, 0.5, 1.0)
    (0, ((4.0, inf),))
    """

    def __init__(self, steps: list[ArrayLike], beta: float, gap: float = 0.0) -> None:
        columns = [np.asarray(values, dtype=np.float64) for values in steps]
        features = np.repeat(np.arange(len(columns)), [len(values) for values in columns])
        self.steps = np.concatenate(columns)
        self.heights = np.concatenate([np.sqrt(np.diff(values**beta, prepend=0.0)) for values in columns])
        self.error = gap
        low, high = np.array([values[0] for values in columns]), np.array([values[-1] for values in columns])
        super().__init__(low, high, features, np.full(len(features), np.inf))

    @classmethod
    def of(cls, kernel: HistogramIntersection, X: ArrayLike, *, n_landmarks: int | str | None = "auto") -> StepFeatures:
        """Return the features for the rows of `X`, shape (n, d), with a step at each landmark of `landmarks_of`."""
        rows = Rows.of(X)
        columns = [np.unique(column) for column in refuse_negative(kernel, rows.values.astype(np.float64)).T]
        steps = landmarks_of(rows, n_landmarks)
        gaps = [_gap(column**kernel.beta, values**kernel.beta) for column, values in zip(columns, steps, strict=True)]
        return cls(list(steps), kernel.beta, max(gaps))

    def _curve(self, column: int, x: Floats) -> Floats:
        return np.asarray(np.where(x >= self.steps[column], self.heights[column], 0.0))


class ChiSquaredFeatures(Curves):
    """Curves `sqrt(2 w) x exp(-s x)` with rates s and weights w for each column, for the χ² kernel.

    The kernel `2 x y / (x + y)` is the integral of `2 x exp(-s x) y exp(-s y)` over s from 0 to infinity. The rates and
    weights are a quadrature of this integral. Each curve has its peak at 1 / s.

    Parameters
    ----------
    low, high : array-like of shape (d,)
        First and last value of each column, at least 0.
    rates, weights : sequence of d arrays
        Rates and weights of each column.

    Attributes
    ----------
    error : float
        Largest error of an inner product along one axis. It is attained at x = y, and measured on a linear and a
        geometric grid of 513 values each.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, equation (14).

    Examples
    --------
    >>> X = np.array([[0.01], [0.1], [1.0]])
    >>> paper, ours = (ChiSquaredFeatures.of(ChiSquared(), X, n_terms=m) for m in (5, "auto"))
    >>> [np.square(features.transform(X)).sum(axis=1).round(4).tolist() for features in (paper, ours)]
    [[0.0004, 0.0376, 1.2], [0.0099, 0.1014, 0.9816]]
    >>> ours.n_columns, round(paper.error, 2), round(ours.error, 3)
    (9, 0.2, 0.018)
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, rates: list[Floats], weights: list[Floats]) -> None:
        features = np.repeat(np.arange(len(rates)), [len(values) for values in rates])
        self.rates, self.scales = np.concatenate(rates), np.sqrt(2 * np.concatenate(weights))
        with np.errstate(divide="ignore"):
            peaks = 1 / self.rates
        super().__init__(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64), features, peaks)
        self.error = max(self._error(j) for j in range(self.n_features))

    @classmethod
    def of(cls, kernel: ChiSquared, X: ArrayLike, *, n_terms: int | str = "auto") -> ChiSquaredFeatures:
        """Return the features for the rows of `X`, shape (n, d).

        `n_terms` is the number M of curves in each column, with the paper's rates `log(M / j)` and weights 1 / j. These
        are coarse for values far from 1/2: at x = y = 0.01, five of them give 0.0004 instead of 0.01. "auto" takes
        rates in equal steps of their logarithms. Over the range of the positive values, they give the kernel to within
        about 2 %.
        """
        table = refuse_negative(kernel, as_table(X).astype(np.float64))
        low, high = table.min(axis=0), table.max(axis=0)
        if n_terms == "auto":
            rates = [_rates(column) for column in table.T]
            return cls(low, high, rates, [STEP * values for values in rates])
        j = np.arange(1, int(n_terms) + 1)
        rate, weight = np.log(int(n_terms) / j), 1 / j
        return cls(low, high, [rate] * len(low), [weight] * len(low))

    def _curve(self, column: int, x: Floats) -> Floats:
        return np.asarray(self.scales[column] * x * np.exp(-self.rates[column] * x))

    def _error(self, j: int) -> float:
        x = np.linspace(self.low[j], self.high[j], _GRID)
        if self.high[j] > 0:
            least = self.low[j] or self.high[j] * 1e-6 or self.high[j]
            x = np.concatenate([x, np.geomspace(least, self.high[j], _GRID)])
        squares = sum(self._curve(column, x) ** 2 for column in np.flatnonzero(self.features == j).tolist())
        return float(np.abs(squares - x).max())


def _gap(values: Floats, steps: Floats) -> float:
    """Return the largest difference between a value and the last step before it."""
    return float((values - steps[np.searchsorted(steps, values, side="right") - 1]).max())


def _rates(column: Floats) -> Floats:
    """Return rates in equal steps of their logarithms, from the first to the last that matters for positive values.

    The integral over rates below the first is negligible even for the largest value, and the integral over rates above
    the last even for the smallest value.
    """
    positive = column[column > 0]
    if not positive.size:
        return np.ones(1)
    first = math.log(DELTA / 2) - math.log(positive.max())
    last = math.log(math.log(1 / DELTA) / 2) - math.log(positive.min())
    n_rates = min(MOST, math.ceil((last - first) / STEP) + 1)
    return np.asarray(np.exp(first + STEP * np.arange(n_rates)))
