"""The kernels: sums and products over columns, and kernels of all columns jointly; kernels that are given by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import (
    as_finite_vector,
    as_numbers,
    as_positions,
    as_table,
    as_vector,
    finite_number,
    list_words,
    position,
    show_value,
)
from boxwood.errors import DataError
from boxwood.kernels.bandwidth import Bandwidth, as_bandwidth, by_axis, fixed_bandwidth, resolved_bandwidth
from boxwood.kernels.kernel import Fill, GramMatrix, KeptGram, Kernel, Selection, refuse_negative_values
from boxwood.loops.kernels import add_absolutes, add_harmonic_means, add_minima, add_pair_squares, add_products

_LOOP_COLUMNS = 12  # number of columns up to which differences take no longer than a matrix product
_NEAR = 1e-6  # squared distances in bandwidths below which a matrix product has lost too many digits
_SAFE_SQUARES = 1000.0  # squared norms in bandwidths up to which a matrix product keeps 12 digits of the kernel

Profile = Callable[[Floats], Floats]


class DistanceKernel(Kernel):
    """A kernel `K(x, y) = prod_j g_j(|x_j - y_j|)` whose profiles g_j fall from `g_j(0) = 1` towards 0."""

    @abstractmethod
    def axis(self, j: int, distances: ArrayLike) -> Floats:
        """Return the profile g_j of column j at distances of any shape."""

    @abstractmethod
    def radius(self, j: int, levels: ArrayLike) -> Floats:
        """Return the distances in column j at which the similarity is at the given levels: the inverse of g_j.

        Levels are from 0 to 1, in an array of any shape. The distance is 0 at the level 1, and may be infinite at the
        level 0.
        """

    def axis_kernel(self, j: int, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return the similarities of values x, shape (n,), and y, shape (m,), of column j, as a block (n, m)."""
        with np.errstate(over="ignore"):  # at so large a distance the similarity is 0
            distances = np.subtract.outer(as_finite_vector("x", x), as_finite_vector("y", y))
        return self.axis(j, distances)

    def _diagonal(self, X: Floats) -> Floats:
        return np.ones(len(X))


@dataclass(frozen=True)
class _WithBandwidth(DistanceKernel):
    """A kernel of the sum over columns of gamma_j |x_j - y_j| to some power."""

    _power: ClassVar[int]

    gamma: Bandwidth = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", as_bandwidth(self.gamma))

    def fitted(self, X: ArrayLike) -> Self:
        """Return the kernel with its bandwidth as numbers, for the rows of `X`, shape (n, d)."""
        return replace(self, gamma=resolved_bandwidth(self.gamma, X, power=self._power))


@dataclass(frozen=True)
class Gaussian(_WithBandwidth):
    """The Gaussian kernel `exp(-sum_j gamma_j (x_j - y_j)²)`, which scikit-learn calls "rbf".

    Parameters
    ----------
    gamma : float, array-like of shape (d,), "auto", "scale" or "median", default="auto"
        Inverse of a squared length, above 0: one for all columns, or one for each. "scale" is 1 / (d variance of all
        values), as in scikit-learn's `SVC`. "median" is 1 / median squared distance between rows. "auto" is 1 / (2 r)²,
        but at most 7 / sum of the columns' variances. Here r is the distance within which a row has 5 % of the rows, a
        median over rows.
        Distances are those between 1000 rows, drawn the same way each time. `fitted(X)` makes a number of a rule; the
        kernel has no values before.

    Raises
    ------
    ValueError
        If gamma is something else.

    Notes
    -----
    Up to 12 columns, distances are summed from differences. With more columns they come from a matrix product of
    centred columns, if no row is farther than some 30 lengths from the centre; distances of rows that are near each
    other are again summed from differences. Values have an absolute accuracy of 1e-12, and equal rows exactly 1. A
    value takes about 2 ns, and 0.1 ns for each column.

    "auto" is our own rule, which needs neither labels nor the number of clusters. Of some two hundred such rules it was
    among the best at finding known classes by kernel k-means: on 23 small tables (half-moons, rings, iris, ...) the
    mean adjusted Rand index is 0.53, with "scale" 0.47, with "median" 0.43, and with the best bandwidth of each table,
    which takes the classes to know, 0.61. `benchmarks/kernels.py` measures this again.

    Examples
    --------
    >>> Gaussian(0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> Gaussian("scale").fitted([[0.0], [4.0]])
    Gaussian(gamma=0.25)
    >>> Gaussian(0.25).axis(0, 2.0).round(4), Gaussian(0.25).radius(0, np.exp(-1.0))
    (np.float64(0.3679), np.float64(2.0))
    """

    _power = 2

    def axis(self, j: int, distances: ArrayLike) -> Floats:
        """Return `exp(-gamma_j t²)` for distances t of any shape."""
        t = as_numbers("distances", distances)
        with np.errstate(over="ignore"):  # at so large a distance the similarity is 0
            return np.exp(-_at(self.gamma, j) * t * t)

    def radius(self, j: int, levels: ArrayLike) -> Floats:
        """Return `sqrt(-log(level) / gamma_j)` for levels from 0 to 1 of any shape."""
        return np.sqrt(_log_inverse(levels) / _at(self.gamma, j))

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        unit = np.sqrt(by_axis(self.gamma, X.shape[1]))
        if X.shape[1] > _LOOP_COLUMNS:
            center = Y.min(axis=0) / 2 + Y.max(axis=0) / 2
            with np.errstate(over="ignore"):
                A = (X - center) * unit
                B = A if Y is X else (Y - center) * unit
                squares = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
            if max(squares[0].max(), squares[1].max()) <= _SAFE_SQUARES:
                return _by_products(A, B, *squares)
        return _by_differences(X, Y, unit, add_pair_squares)


@dataclass(frozen=True)
class Laplace(_WithBandwidth):
    """The Laplace kernel `exp(-sum_j gamma_j |x_j - y_j|)`, of ℓ1 distances; scikit-learn calls it "laplacian".

    Parameters
    ----------
    gamma : float, array-like of shape (d,), "auto", "scale" or "median", default="auto"
        Inverse of a length, above 0: one for all columns, or one for each. "scale" is 1 / (d standard deviation of all
        values). "median" is 1 / median ℓ1 distance between rows. "auto" is 1 / r, but at most 7 / sum of the columns'
        standard deviations. Here r is the ℓ1 distance within which a row has 5 % of the rows, a median over rows.
        Distances are those between 1000 rows, drawn the same way each time. `fitted(X)` makes a number of a rule; the
        kernel has no values before.

    Raises
    ------
    ValueError
        If gamma is something else.

    Examples
    --------
    >>> Laplace(0.5)([[0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]).round(4)
    array([[0.3679, 1.    ]])
    >>> Laplace((0.5, 2.0)).axis(1, 0.5).round(4)
    np.float64(0.3679)
    """

    _power = 1

    def axis(self, j: int, distances: ArrayLike) -> Floats:
        """Return `exp(-gamma_j |t|)` for distances t of any shape."""
        with np.errstate(over="ignore"):  # at so large a distance the similarity is 0
            return np.exp(-_at(self.gamma, j) * np.abs(as_numbers("distances", distances)))

    def radius(self, j: int, levels: ArrayLike) -> Floats:
        """Return `-log(level) / gamma_j` for levels from 0 to 1 of any shape."""
        return _log_inverse(levels) / _at(self.gamma, j)

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        return _by_differences(X, Y, by_axis(self.gamma, X.shape[1]), add_absolutes)


@dataclass(frozen=True)
class ProductKernel(DistanceKernel):
    """The kernel `prod_j g_j(|x_j - y_j|)` with profiles g_j of your own, which fall from `g_j(0) = 1`.

    Parameters
    ----------
    profile : callable, or sequence of d callables
        One profile for all columns, or one for each. It takes an array of distances and returns similarities from 0 to
        1. The kernel is positive definite only if the profiles make it so, which is not checked.
    inverse : callable, or sequence of d callables
        The inverse of each profile. It takes an array of levels from 0 to 1 and returns distances.

    Raises
    ------
    ValueError
        If a profile is not 1 at distance 0.

    Examples
    --------
    >>> cauchy = ProductKernel(lambda t: 1 / (1 + t**2), lambda level: np.sqrt(1 / level - 1))
    >>> cauchy([[0.0, 0.0]], [[1.0, 2.0]])
    array([[0.1]])
    >>> cauchy.radius(0, 0.5)
    array(1.)
    """

    profile: Profile | tuple[Profile, ...]
    inverse: Profile | tuple[Profile, ...]

    def __post_init__(self) -> None:
        for name in ("profile", "inverse"):
            functions = getattr(self, name)
            object.__setattr__(self, name, functions if callable(functions) else tuple(functions))
        for profile in self.profile if isinstance(self.profile, tuple) else (self.profile,):
            at_zero = as_vector("what a profile returns for several distances", profile(np.zeros(1)))
            if not (np.abs(at_zero - 1) <= 1e-12).all():
                raise ValueError(f"a profile must be 1 at distance 0, got {list_words([str(at) for at in at_zero])}")

    def axis(self, j: int, distances: ArrayLike) -> Floats:
        """Return the profile of column j at distances of any shape."""
        profile = _of_axis(self.profile, j)
        return np.asarray(profile(np.abs(as_numbers("distances", distances))), dtype=np.float64)

    def radius(self, j: int, levels: ArrayLike) -> Floats:
        """Return the inverse of the profile of column j at levels of any shape."""
        with np.errstate(divide="ignore"):  # the distance at the level 0 may be infinite
            return np.asarray(_of_axis(self.inverse, j)(_as_levels(levels)), dtype=np.float64)

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        if isinstance(self.profile, tuple) and len(self.profile) != X.shape[1]:
            raise DataError(f"the kernel has {len(self.profile)} profiles, but there are {X.shape[1]} columns")

        def fill(rows: Selection, columns: Selection, out: Floats) -> None:
            out += 1.0
            for j in range(X.shape[1]):
                out *= self.axis_kernel(j, X[rows, j], Y[columns, j])

        return fill


# ------------------------------------------------------------------------------------------------------- steps
def _by_differences(X: Floats, Y: Floats, units: Floats, add: Any) -> Fill:
    """Return the filler of `exp(-distance)`, with distances summed from differences: exact far from zero too."""
    transposed, units = np.ascontiguousarray(Y.T), np.ascontiguousarray(units)

    def fill(rows: Selection, columns: Selection, out: Floats) -> None:
        add(np.ascontiguousarray(X[rows]), np.ascontiguousarray(transposed[:, columns]), units, out)
        np.exp(np.negative(out, out=out), out=out)

    return fill


def _by_products(A: Floats, B: Floats, a: Floats, b: Floats) -> Fill:
    """Return the filler of `exp(-distance)` by one matrix product: `-|x - y|² = [2x, -|x|², 1] [y, 1, -|y|²]'`.

    Distances near 0 lose their digits there and are summed from differences, so that equal rows are exactly alike.
    """
    left = np.column_stack([2 * A, -a, np.ones(len(a))])
    transposed = np.ascontiguousarray(np.column_stack([B, np.ones(len(b)), -b]).T)

    def fill(rows: Selection, columns: Selection, out: Floats) -> None:
        add_products(np.ascontiguousarray(left[rows]), np.ascontiguousarray(transposed[:, columns]), out)
        i, j = np.nonzero(out > -_NEAR)
        out[i, j] = -np.square(A[rows][i] - B[columns][j]).sum(axis=1)
        np.exp(out, out=out)

    return fill


def _at(gamma: Bandwidth, j: int) -> float:
    numbers = fixed_bandwidth(gamma)
    return numbers[position("j", j, len(numbers))] if isinstance(numbers, tuple) else numbers


def _of_axis(functions: Profile | tuple[Profile, ...], j: int) -> Profile:
    return functions[position("j", j, len(functions))] if isinstance(functions, tuple) else functions


def _log_inverse(levels: ArrayLike) -> Floats:
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(_as_levels(levels))  # 0.0 - x, as -x would be -0.0 at the level 1


def _as_levels(levels: ArrayLike) -> Floats:
    values = as_numbers("levels", levels)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"levels of a similarity are from 0 to 1, got {show_value(levels)}")
    return values


class AdditiveKernel(Kernel):
    """A kernel `K(x, y) = sum_j K_j(x_j, y_j)`, with the same K_j in every column."""

    def axis_kernel(self, j: int, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return K_j for values x, shape (n,), and y, shape (m,), of column j, as a block of shape (n, m)."""
        return self(as_vector("x", x)[:, None], as_vector("y", y)[:, None])


class _OfHistograms(AdditiveKernel):
    """An additive kernel of values of at least 0."""

    def _check_rows(self, X: ArrayLike, n_columns: int | None = None) -> Floats:
        return refuse_negative_values(self, super()._check_rows(X, n_columns))


@dataclass(frozen=True)
class Linear(AdditiveKernel):
    """The inner product `sum_j (x_j - o_j) (y_j - o_j)` around an origin o: kernel k-means with it is k-means.

    Parameters
    ----------
    origin : array-like of shape (d,), default=None
        Origin; None is zero. Unless an origin is given, `fitted(X)` takes the median of the different values of each
        column. Distances do not depend on the origin, but keep more digits if it is near the rows.

    Raises
    ------
    ValueError
        If the origin is not a sequence of finite numbers.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    >>> Linear().fitted([[1e9], [1e9 + 1], [1e9 + 4]])
    Linear(origin=(1000000001.0,))
    """

    origin: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.origin is not None:
            values = as_numbers("origin", self.origin)
            if values.ndim != 1 or not np.isfinite(values).all():
                raise ValueError(
                    f"origin must be a finite number for each column, or None; got {show_value(self.origin)}"
                )
            object.__setattr__(self, "origin", tuple(values.tolist()))

    def fitted(self, X: ArrayLike) -> Linear:
        """Return the kernel around the median of the rows of `X`, shape (n, d), which a few far rows do not move."""
        if self.origin is not None:
            return self
        columns = [np.unique(column) for column in as_table(X).T]
        return Linear(tuple(float(values[(len(values) - 1) // 2]) for values in columns))

    def axis_kernel(self, j: int, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return K_j for values x, shape (n,), and y, shape (m,), of column j, as a block of shape (n, m)."""
        origin = 0.0 if self.origin is None else self.origin[position("j", j, len(self.origin))]
        with np.errstate(over="ignore"):
            return np.asarray(np.multiply.outer(as_finite_vector("x", x) - origin, as_finite_vector("y", y) - origin))

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        A = self._from_origin(X)
        return product_filler(A, A if Y is X else self._from_origin(Y))

    def _diagonal(self, X: Floats) -> Floats:
        A = self._from_origin(X)
        return np.asarray(np.einsum("ij,ij->i", A, A))

    def _from_origin(self, X: Floats) -> Floats:
        if self.origin is None:
            return X
        if len(self.origin) != X.shape[1]:
            raise DataError(f"the origin has {len(self.origin)} numbers, but there are {X.shape[1]} columns")
        return np.asarray(X - np.array(self.origin))


@dataclass(frozen=True)
class Hellinger(_OfHistograms):
    """Hellinger's kernel `sum_j sqrt(x_j y_j)` of values of at least 0: the inner product of their square roots.

    For histograms that add up to 1, K(x, x) is 1, and the squared distance is twice the square of Hellinger's distance.

    Examples
    --------
    >>> Hellinger()([[1.0, 4.0]], [[9.0, 1.0]])
    array([[5.]])
    """

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        return product_filler(np.sqrt(X), np.sqrt(Y))

    def _diagonal(self, X: Floats) -> Floats:
        return np.asarray(X.sum(axis=1))


@dataclass(frozen=True)
class HistogramIntersection(_OfHistograms):
    """The generalised histogram intersection `sum_j min(x_j^beta, y_j^beta)` of values of at least 0.

    Parameters
    ----------
    beta : float, default=1.0
        Power, above 0.

    Raises
    ------
    ValueError
        If beta is not above 0.

    Examples
    --------
    >>> HistogramIntersection()([[1.0, 4.0]], [[9.0, 2.0]]), HistogramIntersection(0.5)([[1.0, 4.0]], [[9.0, 4.0]])
    (array([[3.]]), array([[3.]]))
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        if finite_number("beta", self.beta) <= 0:
            raise ValueError(f"beta must be above 0, got {self.beta}")

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        return _loop_filler(X**self.beta, Y**self.beta, add_minima)

    def _diagonal(self, X: Floats) -> Floats:
        return np.asarray((X**self.beta).sum(axis=1))


@dataclass(frozen=True)
class ChiSquared(_OfHistograms):
    """The additive χ² kernel `sum_j 2 x_j y_j / (x_j + y_j)` of values of at least 0, with 0 where both are 0.

    scikit-learn has two other kernels of this name. Its "chi2" is the exponential of a χ² distance. Its
    `additive_chi2_kernel` is twice this kernel minus the sums of both rows, so its distances are twice as large.

    Examples
    --------
    >>> ChiSquared()([[1.0, 0.0]], [[3.0, 0.0]])
    array([[1.5]])
    """

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        return _loop_filler(X, Y, add_harmonic_means)

    def _diagonal(self, X: Floats) -> Floats:
        return np.asarray(X.sum(axis=1))


# ------------------------------------------------------------------------------------------------------- steps
def product_filler(A: Floats, B: Floats) -> Fill:
    """Return the filler of inner products."""
    return _loop_filler(A, B, add_products)


def _loop_filler(A: Floats, B: Floats, add: Any) -> Fill:
    transposed = np.ascontiguousarray(B.T)

    def fill(rows: Selection, columns: Selection, out: Floats) -> None:
        add(np.ascontiguousarray(A[rows]), np.ascontiguousarray(transposed[:, columns]), out)

    return fill


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel `(sum_j x_j y_j + coef0)^degree`.

    Parameters
    ----------
    degree : int, default=3
        Power, at least 1.
    coef0 : float, default=1.0
        Constant, at least 0. Unlike scikit-learn's "poly" there is no factor on the inner product: scale the columns.

    Raises
    ------
    ValueError
        If the kernel would not be positive definite.

    Examples
    --------
    >>> Polynomial(2, 0.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    degree: int = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        degree = finite_number("degree", self.degree)
        if degree < 1 or not degree.is_integer():
            raise ValueError(f"degree must be a whole number of at least 1, got {self.degree}")
        if finite_number("coef0", self.coef0) < 0:
            raise ValueError(f"coef0 must be at least 0, got {self.coef0}")

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        multiply = product_filler(X, Y)

        def fill(rows: Selection, columns: Selection, out: Floats) -> None:
            multiply(rows, columns, out)
            out += self.coef0
            np.power(out, self.degree, out=out)

        return fill

    def _diagonal(self, X: Floats) -> Floats:
        return np.asarray((np.einsum("ij,ij->i", X, X) + self.coef0) ** self.degree)


_LOOKED_AT = 64  # powers whose coefficients are looked at, of a callable


@dataclass(frozen=True)
class TaylorKernel(Kernel):
    """The kernel `prod_j f(x_j) f(y_j) g(x_j y_j)` of values of at least 0, with f and the power series g of your own.

    Parameters
    ----------
    series : callable
        The function g. It takes an array of products and returns as many numbers.
    coefficients : callable, or sequence of float
        The coefficients of g, all at least 0: a callable takes an array of powers from 0 on; a sequence has those of a
        polynomial, from the constant on. They are not compared with `series`.
    factor : callable, default=None
        The function f, above 0. None is `1 / sqrt(g(x²))`, so that a value is 1 to itself.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Definition 3.

    Examples
    --------
    >>> cubic = TaylorKernel(lambda t: (1 + t) ** 3, [1, 3, 3, 1])
    >>> cubic([[1.0, 0.0]], [[1.0, 0.0], [3.0, 0.0]]).round(4)
    array([[1.    , 0.7155]])
    """

    series: Profile
    coefficients: Callable[[Indices], Floats] | tuple[float, ...]
    factor: Profile | None = None

    def __post_init__(self) -> None:
        if not callable(self.coefficients):
            known = as_finite_vector("coefficients", self.coefficients)
            if not known.size:
                raise ValueError("coefficients must be at least one number, got none")
            object.__setattr__(self, "coefficients", tuple(known.tolist()))
        n_known = _LOOKED_AT if callable(self.coefficients) else len(self.coefficients)
        if (self.powers(np.arange(n_known)) < 0).any():
            raise ValueError("coefficients must be at least 0, or the kernel is not positive definite")

    def powers(self, j: Indices) -> Floats:
        """Return the coefficients of some powers, shape (m,)."""
        j = as_positions("j", j, 1 << 31)
        if callable(self.coefficients):
            return np.asarray(self.coefficients(j), dtype=np.float64)
        known = np.asarray(self.coefficients)
        return np.where(j < len(known), known[np.minimum(j, len(known) - 1)], 0.0)

    def factors(self, x: Floats) -> Floats:
        """Return f of values of any shape."""
        x = as_numbers("x", x)
        with np.errstate(over="ignore"):  # the square of a huge value is inf, and its factor 0
            found = 1 / np.sqrt(self.series(x * x)) if self.factor is None else self.factor(x)
        return np.asarray(found, dtype=np.float64)

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        left, right = (self.factors(refuse_negative_values(self, points)) for points in (X, Y))

        def fill(rows: Selection, columns: Selection, out: Floats) -> None:
            out += 1.0
            for j in range(X.shape[1]):
                out *= left[rows, j][:, None] * right[columns, j] * self.series(X[rows, j][:, None] * Y[columns, j])

        return fill

    def _diagonal(self, X: Floats) -> Floats:
        points = refuse_negative_values(self, X)
        return np.asarray(np.prod(self.factors(points) ** 2 * self.series(points * points), axis=1))


@dataclass(frozen=True)
class Neighborhood(Kernel):
    """The neighbourhood kernel: 1 where two rows are at most `radius` apart, else 0.

    It is not positive definite, so squared distances to means may be negative. Distances are rounded square roots, so a
    radius that is a rounded square root includes its rows: `Neighborhood(math.sqrt(24))` is 1 at squared distance 24.

    Parameters
    ----------
    radius : float
        Euclidean distance, at least 0.

    Raises
    ------
    ValueError
        If the radius is below 0 or not finite.

    Examples
    --------
    >>> Neighborhood(2.0)([[0.0]], [[2.0], [3.0]])
    array([[1., 0.]])
    """

    radius: float

    positive_definite: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if finite_number("radius", self.radius) < 0:
            raise ValueError(f"radius must be at least 0, got {self.radius}")

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        transposed, units = np.ascontiguousarray(Y.T), np.ones(X.shape[1])

        def fill(rows: Selection, columns: Selection, out: Floats) -> None:
            add_pair_squares(np.ascontiguousarray(X[rows]), np.ascontiguousarray(transposed[:, columns]), units, out)
            np.less_equal(np.sqrt(out, out=out), self.radius, out=out, casting="unsafe")

        return fill

    def _diagonal(self, X: Floats) -> Floats:
        return np.ones(len(X))


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values that were computed elsewhere: each row of `X` holds the values of one row with m training rows.

    For the training rows `X` is their square Gram matrix, for n later rows a block of shape (n, m). Squared distances
    may be negative if the matrix is not positive definite.

    Examples
    --------
    >>> Precomputed()([[1.0, 0.2], [0.2, 1.0]])
    array([[1. , 0.2],
           [0.2, 1. ]])
    """

    positive_definite: ClassVar[bool] = False

    def gram(self, X: ArrayLike, Y: ArrayLike | None = None) -> GramMatrix:
        """Return the block `X` itself. It must be square, or have a column for each row of `Y`."""
        block = as_table(X)
        m = len(block) if Y is None else len(np.asarray(Y))
        if block.shape[1] != m:
            raise DataError(
                "X must be a Gram matrix, or a block with a column for each training row, for a precomputed kernel: "
                f"{m} columns are expected, got shape {block.shape}"
            )
        return KeptGram(block)

    def diagonal(self, X: ArrayLike) -> Floats:
        """Return the diagonal of a square Gram matrix, shape (n,)."""
        block = as_table(X)
        if block.shape[0] != block.shape[1]:
            raise DataError(
                "the values between rows and themselves are only in the square Gram matrix of the training rows; "
                f"got a block of shape {block.shape}"
            )
        return np.diagonal(block).astype(np.float64)

    def kept_points(self, X: Array) -> Array:
        """Return rows without columns, because a later block holds all values that are needed."""
        return np.empty((len(X), 0))

    def _filler(self, X: Floats, Y: Floats) -> Fill:
        raise NotImplementedError("a precomputed kernel cannot compute values; pass the block of values as X")

    def _diagonal(self, X: Floats) -> Floats:
        return np.diagonal(X).copy()


_NAMED: dict[str, Callable[[], Kernel]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplace": Laplace,
    "laplacian": Laplace,
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "hellinger": Hellinger,
    "histogram_intersection": HistogramIntersection,
    "chi_squared": ChiSquared,
    "precomputed": Precomputed,
}


def as_kernel(kernel: Kernel | str) -> Kernel:
    """Return a kernel given by itself or by name, with its default parameters.

    Names are "gaussian" and "laplace" (or "rbf" and "laplacian", as in scikit-learn), "linear", "polynomial" (or
    "poly"), "hellinger", "histogram_intersection", "chi_squared" and "precomputed". The bandwidth of "gaussian" and
    "laplace" is "auto".

    Raises
    ------
    ValueError
        If the name is unknown. "chi2" and "additive_chi2", scikit-learn's names, are refused: they mean other
        functions than `ChiSquared`.

    Examples
    --------
    >>> as_kernel("rbf"), as_kernel(Laplace(2.0))
    (Gaussian(gamma='auto'), Laplace(gamma=2.0))
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in ("chi2", "additive_chi2"):
        raise ValueError(
            f"kernel {kernel!r} of scikit-learn is another function than the additive χ² kernel sum 2xy / (x + y); "
            "take 'chi_squared' for the additive one, or pass 'precomputed' and the Gram matrix of the other"
        )
    if not isinstance(kernel, str) or kernel not in _NAMED:
        raise ValueError(f"kernel must be a Kernel or one of {', '.join(map(repr, _NAMED))}; got {show_value(kernel)}")
    return _NAMED[kernel]()


def as_distance_kernel(kernel: Kernel | str) -> DistanceKernel:
    """Return a kernel that is a product of one factor per axis, given by itself or by name.

    Raises
    ------
    ValueError
        If the kernel is not such a product.
    """
    resolved = as_kernel(kernel)
    if not isinstance(resolved, DistanceKernel):
        raise ValueError(f"the kernel must multiply over axes, as Gaussian, Laplace or ProductKernel; got {resolved!r}")
    return resolved


def kernel_with_gamma(kernel: Kernel | str, gamma: Any) -> Kernel:
    """Return a kernel given by itself or by name; a name of a kernel with a bandwidth gets the bandwidth `gamma`.

    Raises
    ------
    ValueError
        If the name is unknown, or another `gamma` than "auto" stands beside a kernel that would not read it.
    """
    resolved = as_kernel(kernel)
    if isinstance(kernel, str) and isinstance(resolved, (Gaussian, Laplace)):
        return replace(resolved, gamma=gamma)
    if not (isinstance(gamma, str) and gamma == "auto"):
        raise ValueError(
            f"gamma is the bandwidth of a kernel given as 'gaussian' or 'laplace'; got gamma={gamma!r} beside "
            f"kernel={kernel!r}; leave gamma out, or give the kernel by name"
        )
    return resolved
