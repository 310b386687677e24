"""`Kernel`: what every kernel can do, from the one function that each of them supplies."""

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
    """A similarity of two rows, such as `Gaussian`; for positive definite ones the inner product of a feature space.

    Kernels are values: frozen, equal where their parameters are, and kept in pickles. `kernel(X, Y)` is the block of
    values between the rows of `X` and those of `Y`.

    To add one, write a frozen dataclass with `_filler`, which prepares both tables once and returns the function that
    adds a block of values to an array of zeros, and `_diagonal`::

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
            If rows are not numeric, not finite, of unlike numbers of columns, or outside of the kernel's domain.
        ValueError
            If the bandwidth is still to be found; `fitted` finds it.
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
        """Return the kernel with what it takes from data, such as a bandwidth, found for the rows of `X`."""
        return self

    def kept_points(self, X: Array) -> Array:
        """Return what must be kept of rows for values between them and later ones, one line for each row."""
        return X

    @abstractmethod
    def _filler(self, X: Floats, Y: Floats) -> Fill:
        """Return the function that adds blocks of the values between the rows of `X` and `Y`."""

    @abstractmethod
    def _diagonal(self, X: Floats) -> Floats: ...

    def _checked(self, X: ArrayLike, n_columns: int | None = None) -> Floats:
        return np.ascontiguousarray(as_table(X, n_columns=n_columns), dtype=np.float64)


def refuse_negative(kernel: Kernel, X: Floats) -> Floats:
    """Return the rows, unless a value lies below 0, where the kernel has no meaning."""
    bad = (X < 0).sum(axis=0)
    if bad.any():
        columns = listed([f"column {j} ({count})" for j, count in enumerate(bad) if count])
        raise DataError(
            f"{type(kernel).__name__} is a kernel of values of at least 0, such as counts or shares; "
            f"values below 0 in {columns}; leave those columns out, or take another kernel"
        )
    return X
