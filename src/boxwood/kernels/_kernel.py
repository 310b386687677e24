"""`Kernel`: the methods of all kernels, made from the two that each kernel supplies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats
from boxwood._validation import as_table, listed
from boxwood.errors import DataError
from boxwood.kernels._gram import Fill, GramMatrix

__all__ = ["Kernel", "refuse_negative"]


class Kernel(ABC):
    """A similarity of two rows, such as `Gaussian`. If positive definite, it is an inner product in a feature space.

    Kernels are values: they are frozen, can be pickled, and are equal if their parameters are. `kernel(X, Y)` is the
    block of values between the rows of `X` and those of `Y`.

    To add one, write a frozen dataclass with `_filler` and `_diagonal`. `_filler` prepares both tables once and returns
    a function that adds a block of values to an array of zeros::

        @dataclass(frozen=True)
        class Linear(AdditiveKernel):
            def _filler(self, X, Y):
                return product_filler(X, Y)
    """

    positive_definite: ClassVar[bool] = True

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Return the value of the kernel between each row of `X` and each of `Y`, shape (n, m); None takes `X` twice.

        Raises
        ------
        DataError
            If rows are not numeric, not finite, differ in their number of columns, or are outside of the kernel's
            domain.
        ValueError
            If the bandwidth is a rule and not yet a number; `fitted` makes it one.
        """
        return self.gram(X, Y).dense()

    def gram(self, X: ArrayLike, Y: ArrayLike | None = None) -> GramMatrix:
        """Return the same values as a `GramMatrix`, which computes them in tiles; both tables are checked here."""
        rows = self._checked(X)
        others = rows if Y is None else self._checked(Y, n_columns=rows.shape[1])
        return GramMatrix((len(rows), len(others)), self._filler(rows, others))

    def diagonal(self, X: ArrayLike) -> Floats:
        """Return the value between each row and itself, shape (n,), in time n d."""
        return self._diagonal(self._checked(X))

    def fitted(self, X: ArrayLike) -> Self:
        """Return the kernel with its parameters from data, such as a bandwidth by a rule, set for the rows of `X`."""
        return self

    def kept_points(self, X: Array) -> Array:
        """Return the part of rows that values between them and later rows need, with one line for each row."""
        return X

    @abstractmethod
    def _filler(self, X: Floats, Y: Floats) -> Fill:
        """Return the function that adds blocks of the values between the rows of `X` and `Y`."""

    @abstractmethod
    def _diagonal(self, X: Floats) -> Floats: ...

    def _checked(self, X: ArrayLike, n_columns: int | None = None) -> Floats:
        return np.ascontiguousarray(as_table(X, n_columns=n_columns), dtype=np.float64)


def refuse_negative(kernel: Kernel, X: Floats) -> Floats:
    """Return the rows, or raise a DataError if a value is below 0, where the kernel is not defined."""
    bad = (X < 0).sum(axis=0)
    if bad.any():
        columns = listed([f"column {j} ({count})" for j, count in enumerate(bad) if count])
        raise DataError(
            f"{type(kernel).__name__} is a kernel of values of at least 0, such as counts or fractions; "
            f"values below 0 in {columns}; leave those columns out, or take another kernel"
        )
    return X
