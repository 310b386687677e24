"""The surrogate features of a kernel: columns made of one raw column each, which a tree can cut."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices, Ints, Weights
from boxwood._validation import Rows, as_integer_weights, as_table, show_value
from boxwood.axes._curves import Curves, TaylorFeatures
from boxwood.kernels import (
    ChiSquared,
    DistanceKernel,
    Gaussian,
    Hellinger,
    HistogramIntersection,
    Kernel,
    Linear,
    TaylorKernel,
)
from boxwood.kernels.kernel import refuse_negative_values

MOST_TERMS = 1000  # most terms for each column of the table, as each is a column of numbers

_ADDITIVE = (Linear, Hellinger, HistogramIntersection, ChiSquared)


def features_of_kernel(kernel: Kernel) -> tuple[str, ...]:
    """Return the kinds of features of a kernel: "taylor" and "distance", "distance", "additive", or none.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian, Laplace, Linear, Polynomial
    >>> [features_of_kernel(one) for one in (Gaussian(1.0), Laplace(1.0), Linear(), Polynomial())]
    [('taylor', 'distance'), ('distance',), ('additive',), ()]
    """
    if isinstance(kernel, Gaussian):
        return "taylor", "distance"
    if isinstance(kernel, TaylorKernel):
        return ("taylor",)
    if isinstance(kernel, DistanceKernel):
        return ("distance",)
    return ("additive",) if isinstance(kernel, _ADDITIVE) else ()


def surrogate_map(
    kernel: Kernel, X: ArrayLike, features: str, *, n_terms: int | str = "auto", n_landmarks: int | str | None = "auto"
) -> Curves:
    """Return the surrogate features of a kernel: curves over one raw column each. A cut on a curve is an interval.

    Parameters
    ----------
    kernel : Kernel
        A bandwidth that is not yet a number is computed from `X`.
    X : array-like of shape (n, d)
        Rows that decide the range and the number of features of each column.
    features : {"taylor", "distance", "additive"}
        "taylor": Taylor features of the Gaussian kernel, or of a `kernels.TaylorKernel`; inner products approximate the
        sum of the kernel's factors over axes. "distance": similarities to landmarks, for a product of profiles of
        distances. "additive": the feature map of an additive kernel; inner products approximate the kernel. On each
        axis, an approximation is off by at most `error`.
    n_terms : int or "auto", default="auto"
        Order M of Taylor and χ² features, at most 1000; see `TaylorFeatures.of` and `ChiSquaredFeatures.of`.
    n_landmarks : int, "auto" or None, default="auto"
        Largest number of landmarks in a column, or of steps for histogram intersection. Fewer than the different values
        are quantiles of the rows by weight. None takes all different values. "auto" does so for small tables, with
        at most 2000 rows and n² d at most 20 million (1500 rows of 8 columns), and takes 64 for larger ones. Quantiles
        that fall on one value are one landmark, so a column in which most rows share a value gets few.

    Returns
    -------
    Curves
        An axis map: `TaylorFeatures`, `SeriesFeatures`, `LandmarkFeatures`, `StepFeatures`, `ChiSquaredFeatures` or
        `PowerFeatures`.

    Raises
    ------
    DataError
        If values lie outside the kernel's domain.
    ValueError
        If the kernel has no such features, or a parameter is out of range.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, section 4 and Appendix H.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> surrogate_map(Gaussian(1.0), [[0.0, 0.0], [1.0, 2.0]], "taylor")
    TaylorFeatures(n_features=2, n_columns=23)
    """
    _check(n_terms, n_landmarks)
    kinds = features_of_kernel(kernel)
    if features not in kinds:
        listing = " or ".join(map(repr, kinds)) or "none that a tree could cut"
        raise ValueError(f"{type(kernel).__name__} has no features {show_value(features)}; it has {listing}")
    fitted: Any = kernel.fitted(X)
    if features == "taylor":
        kind = SeriesFeatures if isinstance(fitted, TaylorKernel) else TaylorFeatures
        return kind.of(fitted, X, n_terms=n_terms)
    if features == "distance":
        return LandmarkFeatures.of(fitted, X, n_landmarks=n_landmarks)
    if isinstance(fitted, HistogramIntersection):
        return StepFeatures.of(fitted, X, n_landmarks=n_landmarks)
    if isinstance(fitted, ChiSquared):
        return ChiSquaredFeatures.of(fitted, X, n_terms=n_terms)
    return PowerFeatures.of(fitted, X)


def _check(n_terms: int | str, n_landmarks: int | str | None) -> None:
    if n_terms != "auto" and (not isinstance(n_terms, Integral) or not 1 <= n_terms <= MOST_TERMS):
        raise ValueError(
            f"n_terms must be a whole number from 1 to {MOST_TERMS}, or 'auto'; got {show_value(n_terms)}; features of "
            "higher order are 0 on all rows, unless the kernel is narrower than a 30th of a column's range"
        )
    if n_landmarks not in ("auto", None) and (not isinstance(n_landmarks, Integral) or n_landmarks < 2):
        raise ValueError(
            f"n_landmarks must be a whole number of at least 2, 'auto', or None; got {show_value(n_landmarks)}"
        )


STEP = 1.5  # difference of the logarithms of two rates; it changes the kernel by about 1 %
DELTA = 0.01  # fraction of the kernel that is lost below the first rate and above the last
MOST_POWERS = 200  # highest power of "auto"
MOST = 64  # most rates of "auto" in one column
_GRID = 513  # values where the error is measured


class SeriesFeatures(Curves):
    """The features `f(z) z^j sqrt(a_j)` of a kernel `f(z) f(z') g(z z')` on each axis, where g is `sum_j a_j t^j`.

    Powers without a coefficient have no feature. Inner products of all powers up to M are the kernel but for the rest
    of the series, which is a kernel itself, so that it is largest where z = z'.

    Parameters
    ----------
    low, high : array-like of shape (d,)
        First and last value of each column, at least 0.
    kernel : TaylorKernel
    orders : array-like of int, shape (d,)
        Highest power M of each column.

    Attributes
    ----------
    error : float
        Largest error of an inner product along one axis, measured at z = z' on a grid of 513 values.

    Raises
    ------
    ValueError
        If a feature has more than one peak on the column, as the kernel is then no interpretable Taylor kernel: there
        `z f'(z) + j f(z) = 0` has at most one solution. It is looked for on the same grid.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Definition 3 and Theorems 3 and 4.

    Examples
    --------
    >>> from boxwood.kernels import TaylorKernel
    >>> cubic = TaylorKernel(lambda t: (1 + t) ** 3, [1, 3, 3, 1])
    >>> Z = (features := surrogate_map(cubic, [[0.0], [1.0], [3.0]], "taylor")).transform([[1.0], [3.0]])
    >>> round(float(Z[0] @ Z[1]), 4), features.error < 1e-12
    (0.7155, True)
    """

    kernel: TaylorKernel
    powers: Array

    def __init__(self, low: ArrayLike, high: ArrayLike, kernel: TaylorKernel, orders: ArrayLike) -> None:
        first, last = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        used = [np.flatnonzero(kernel.powers(np.arange(m + 1)) > 0) for m in np.asarray(orders).tolist()]
        self.kernel, self.powers = kernel, np.concatenate(used)
        self._roots = np.sqrt(kernel.powers(self.powers))
        features = np.repeat(np.arange(len(used)), [len(powers) for powers in used])
        super().__init__(first, last, features, np.zeros(len(features)))
        self.peaks: Array = np.array([self._peak_of(column) for column in range(len(features))])
        self.error: float = max(self._rest(j) for j in range(len(first)))

    @classmethod
    def of(cls, kernel: TaylorKernel, X: ArrayLike, *, n_terms: int | str = "auto") -> SeriesFeatures:
        """Return the features for the rows of `X`, shape (n, d).

        `n_terms` is the highest power M in every column. "auto" takes for each column the smallest M with an error of
        at most a hundredth of the kernel's largest value there, but never more than 200; look at `error` then.
        """
        table = refuse_negative_values(kernel, as_table(X).astype(np.float64))
        low, high = table.min(axis=0), table.max(axis=0)
        if n_terms != "auto":
            return cls(low, high, kernel, np.full(len(low), n_terms))
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return cls(low, high, kernel, [_order_of(kernel, np.linspace(*end, _GRID)) for end in ends])

    def _curve(self, column: int | Indices, x: Floats) -> Floats:
        with np.errstate(divide="ignore"):  # 0 to the power j, and what is nothing to the power 0
            return np.asarray(_term(self.kernel, x, self.powers[column]) * self._roots[column])

    def _peak_of(self, column: int) -> float:
        """Return where a curve is highest."""
        from scipy.optimize import minimize_scalar

        j = self.features[column]
        x = np.linspace(self.low[j], self.high[j], _GRID)
        y = self._curve(column, x)
        top, slack = int(y.argmax()), 1e-12 * float(y.max())
        if (np.diff(y[: top + 1]) < -slack).any() or (np.diff(y[top:]) > slack).any():
            raise ValueError(
                f"the feature of power {self.powers[column]} of column {j} has more than one peak, so a cut on it is "
                "not an interval; give a kernel whose z f'(z) + j f(z) = 0 has at most one solution"
            )
        if top in (0, _GRID - 1) or x[0] == x[-1]:
            return float(x[top])
        inner = minimize_scalar(
            lambda z: -float(self._curve(column, np.array([z]))[0]),
            bounds=(x[top - 1], x[top + 1]),
            method="bounded",
            options={"xatol": 1e-12 * (x[-1] - x[0])},
        )
        return float(inner.x)

    def _rest(self, j: int) -> float:
        x = np.linspace(self.low[j], self.high[j], _GRID)
        known = sum(self._curve(column, x) ** 2 for column in np.flatnonzero(self.features == j).tolist())
        return float(np.abs(self.kernel.factors(x) ** 2 * self.kernel.series(x * x) - known).max())


def _term(kernel: TaylorKernel, x: Floats, power: int | Array) -> Floats:
    """Return `f(x) x^power`, from logarithms, so that no power overflows."""
    from scipy.special import xlogy

    return np.asarray(np.exp(xlogy(power, x) + np.log(kernel.factors(x))))


def _order_of(kernel: TaylorKernel, x: Floats) -> int:
    """Return the smallest highest power whose rest is at most `DELTA` of the kernel's largest value on a grid."""
    rest = kernel.factors(x) ** 2 * kernel.series(x * x)
    most = DELTA * float(rest.max())
    for power in range(MOST_POWERS + 1):
        rest = rest - _term(kernel, x, power) ** 2 * kernel.powers(np.array([power]))
        if np.abs(rest).max() <= most:
            return power
    return MOST_POWERS


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

    error: float

    exponent: float

    def __init__(self, low: ArrayLike, high: ArrayLike, exponent: float) -> None:
        first, last = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        super().__init__(first, last, np.arange(len(first)), np.full(len(first), np.inf))
        self.exponent, self.error = exponent, 0.0

    @classmethod
    def of(cls, kernel: Hellinger | Linear, X: ArrayLike) -> PowerFeatures:
        """Return the features for the rows of `X`, shape (n, d)."""
        table = as_table(X).astype(np.float64)
        if isinstance(kernel, Hellinger):
            refuse_negative_values(kernel, table)
        return cls(table.min(axis=0), table.max(axis=0), 0.5 if isinstance(kernel, Hellinger) else 1.0)

    def _curve(self, column: int | Indices, x: Floats) -> Floats:
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
        self.steps: Floats = np.concatenate(columns)
        self.heights: Array = np.concatenate([np.sqrt(np.diff(values**beta, prepend=0.0)) for values in columns])
        self.error = gap
        low, high = np.array([values[0] for values in columns]), np.array([values[-1] for values in columns])
        super().__init__(low, high, features, np.full(len(features), np.inf))

    @classmethod
    def of(cls, kernel: HistogramIntersection, X: ArrayLike, *, n_landmarks: int | str | None = "auto") -> StepFeatures:
        """Return the features for the rows of `X`, shape (n, d), with a step at each landmark of `landmarks_of`."""
        rows = Rows.of(X)
        columns = [np.unique(column) for column in refuse_negative_values(kernel, rows.values.astype(np.float64)).T]
        steps = landmarks_of(rows, n_landmarks)
        gaps = [_gap(column**kernel.beta, values**kernel.beta) for column, values in zip(columns, steps, strict=True)]
        return cls(list(steps), kernel.beta, max(gaps))

    def _curve(self, column: int | Indices, x: Floats) -> Floats:
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

    rates: Floats
    scales: Array

    def __init__(self, low: ArrayLike, high: ArrayLike, rates: list[Floats], weights: list[Floats]) -> None:
        features = np.repeat(np.arange(len(rates)), [len(values) for values in rates])
        self.rates, self.scales = np.concatenate(rates), np.sqrt(2 * np.concatenate(weights))
        with np.errstate(divide="ignore"):
            peaks = 1 / self.rates
        super().__init__(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64), features, peaks)
        self.error: float = max(self._error(j) for j in range(self.n_features))

    @classmethod
    def of(cls, kernel: ChiSquared, X: ArrayLike, *, n_terms: int | str = "auto") -> ChiSquaredFeatures:
        """Return the features for the rows of `X`, shape (n, d).

        `n_terms` is the number M of curves in each column, with the paper's rates `log(M / j)` and weights 1 / j. These
        are coarse for values far from 1/2: at x = y = 0.01, five of them give 0.0004 instead of 0.01. "auto" takes
        rates in equal steps of their logarithms. Over the range of the positive values, they give the kernel to within
        about 2 %.
        """
        table = refuse_negative_values(kernel, as_table(X).astype(np.float64))
        low, high = table.min(axis=0), table.max(axis=0)
        if n_terms == "auto":
            rates = [_rates(column) for column in table.T]
            return cls(low, high, rates, [STEP * values for values in rates])
        j = np.arange(1, int(n_terms) + 1)
        rate, weight = np.log(int(n_terms) / j), 1 / j
        return cls(low, high, [rate] * len(low), [weight] * len(low))

    def _curve(self, column: int | Indices, x: Floats) -> Floats:
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


SMALL_ROWS, SMALL_TRANSFORM = 2000, 20_000_000  # of tables in which each value of a column is a landmark by default
FEW = 64  # default number of landmarks of a column in larger tables


class LandmarkFeatures(Curves):
    """The similarities `h(|x_i - l|)` of a value to landmarks l on each axis; h is the kernel's profile on that axis.

    Parameters
    ----------
    kernel : DistanceKernel
        Gaussian, Laplace or another product of falling profiles, with numbers for its bandwidth.
    landmarks : sequence of d arrays
        Landmarks of each column, ascending.

    Attributes
    ----------
    landmarks : array of shape (n_columns,)
        Landmark of each output column.
    error : float
        NaN: inner products of these features do not approximate the kernel. The features are values of the kernel.

    Notes
    -----
    A transform takes time and memory of n times the number of landmarks. The paper takes every value of every column as
    a landmark: n d features.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, equation (4) and Theorem 5.

    Examples
    --------
    >>> from boxwood.kernels import Laplace
    >>> features = LandmarkFeatures(Laplace(1.0), [[0.0, 2.0, 9.0]])
    >>> features.transform([[1.0], [2.0]]).round(3)
    array([[0.368, 0.368, 0.   ],
           [0.135, 1.   , 0.001]])
    >>> feature, ((first, last),) = features.pull_back(1, 0.5, 1.0)
    >>> feature, round(first, 4), round(last, 4)
    (0, 1.3069, 2.6931)
    """

    def __init__(self, kernel: DistanceKernel, landmarks: list[ArrayLike]) -> None:
        points = [np.asarray(values, dtype=np.float64) for values in landmarks]
        self.kernel = kernel
        self.landmarks: Floats = np.concatenate(points)
        self.error: float = math.nan
        features = np.repeat(np.arange(len(points)), [len(values) for values in points])
        low, high = np.array([values[0] for values in points]), np.array([values[-1] for values in points])
        super().__init__(low, high, features, self.landmarks)

    @classmethod
    def of(cls, kernel: DistanceKernel, X: ArrayLike, *, n_landmarks: int | str | None = "auto") -> LandmarkFeatures:
        """Return the features for the rows of `X`, shape (n, d), by the landmarks of `landmarks_of`."""
        return cls(kernel, list(landmarks_of(Rows.of(X), n_landmarks)))

    def _curve(self, column: int | Indices, x: Floats) -> Floats:
        j = int(np.ravel(self.features[column])[0])
        return self.kernel.axis(j, x - self.landmarks[column])


def landmarks_of(rows: Rows, n_landmarks: int | str | None) -> list[Floats]:
    """Return the landmarks of each column, ascending.

    They are the different values of the column. If these are more than `n_landmarks`, the landmarks are quantiles of
    the rows by weight: as many, in equal steps, from the smallest to the largest value. Quantiles that fall on one
    value are one landmark. None takes all values: up to n d of them for n rows. "auto" takes all values of small
    tables, and `FEW` quantiles of larger ones; a table of n rows (repeated by whole weights) and d columns is small if
    n is at most `SMALL_ROWS` and n² d, the numbers that a transform makes, at most `SMALL_TRANSFORM`.
    """
    n = _n_rows(rows.weights, len(rows))
    few = FEW if n > SMALL_ROWS or n * n * rows.n_columns > SMALL_TRANSFORM else None
    most = few if n_landmarks == "auto" else n_landmarks
    weights = as_integer_weights(np.ones(len(rows)) if rows.weights is None else rows.weights)
    return [_quantiles(column.astype(np.float64), weights, most) for column in rows.values.T]


def _n_rows(weights: Weights, n_rows: int) -> float:
    """Return the number of rows; with whole weights, their sum."""
    if weights is None:
        return n_rows
    return float(weights.sum()) if (weights == np.floor(weights)).all() else int((weights > 0).sum())


def _quantiles(column: Floats, weights: Ints, most: Any) -> Floats:
    values, position = np.unique(column, return_inverse=True)
    if most is None or len(values) <= most:
        return np.asarray(values)
    mass = np.zeros(len(values), dtype=np.int64)
    np.add.at(mass, position, weights)
    upto = np.cumsum(mass) / mass.sum()
    return np.asarray(values[np.unique(np.searchsorted(upto, np.arange(most) / (most - 1)))])
