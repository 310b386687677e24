"""Kernels that are sums over columns: linear, Hellinger, histogram intersection, χ²."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_finite_vector, as_numbers, as_table, as_vector, finite_number, position, shown
from boxwood.errors import DataError
from boxwood.kernels._gram import Fill, Selection
from boxwood.kernels._kernel import Kernel, refuse_negative
from boxwood.loops.kernels import add_harmonic_means, add_minima, add_products

__all__ = ["AdditiveKernel", "ChiSquared", "Hellinger", "HistogramIntersection", "Linear"]


class AdditiveKernel(Kernel):
    """A kernel `K(x, y) = sum_j K_j(x_j, y_j)`, with the same K_j in every column."""

    def axis_kernel(self, j: int, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return K_j for values x, shape (n,), and y, shape (m,), of column j, as a block of shape (n, m)."""
        return self(as_vector("x", x)[:, None], as_vector("y", y)[:, None])


class _OfHistograms(AdditiveKernel):
    """An additive kernel of values of at least 0."""

    def _checked(self, X: ArrayLike, n_columns: int | None = None) -> Floats:
        return refuse_negative(self, super()._checked(X, n_columns))


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
                raise ValueError(f"origin must be a finite number for each column, or None; got {shown(self.origin)}")
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
