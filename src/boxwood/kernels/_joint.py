"""Kernels of all columns jointly, which are no sum or product over columns: polynomial, neighbourhood, precomputed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats
from boxwood._validation import as_table, finite_number
from boxwood.errors import DataError
from boxwood.kernels._additive import product_filler
from boxwood.kernels._gram import Fill, GramMatrix, KeptGram, Selection
from boxwood.kernels._kernel import Kernel
from boxwood.loops.kernels import add_squares

__all__ = ["Neighborhood", "Polynomial", "Precomputed"]


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
            add_squares(np.ascontiguousarray(X[rows]), np.ascontiguousarray(transposed[:, columns]), units, out)
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
