"""Taylor features of the Gaussian kernel on each axis: curves with one peak each."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats, Indices
from boxwood._validation import as_table
from boxwood.axes._features_curves import Curves
from boxwood.kernels import Gaussian
from boxwood.kernels._bandwidth import by_axis

__all__ = ["TAYLOR_MARGIN", "TaylorFeatures"]

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

    def __init__(self, low: ArrayLike, high: ArrayLike, gamma: ArrayLike, orders: ArrayLike) -> None:
        from scipy.special import gammaln

        last, first = np.asarray(high, dtype=np.float64), np.asarray(low, dtype=np.float64)
        self.unit = _unit(np.asarray(gamma, dtype=np.float64))
        terms = np.asarray(orders, dtype=np.intp) + 1
        features = np.repeat(np.arange(len(terms)), terms)
        self.powers = np.concatenate([np.arange(m) for m in terms.tolist()])
        self.shift = TAYLOR_MARGIN / self.unit - first
        peaks = first[features] + (np.sqrt(self.powers) - TAYLOR_MARGIN) / self.unit[features]
        super().__init__(first, last, features, peaks)
        self._log_scales = -0.5 * gammaln(self.powers + 1.0)
        self.error = float(_tails(terms - 1, _reach(first, last, self.unit)).max())

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

    def _curve(self, column: int, x: Floats) -> Floats:
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
