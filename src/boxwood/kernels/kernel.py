"""`Kernel`: the methods of all kernels, and their Gram matrices in tiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, list_words
from boxwood.errors import DataError
from boxwood.loops.kernels import add_products


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
        rows = self._check_rows(X)
        others = rows if Y is None else self._check_rows(Y, n_columns=rows.shape[1])
        return GramMatrix((len(rows), len(others)), self._filler(rows, others))

    def diagonal(self, X: ArrayLike) -> Floats:
        """Return the value of each row with itself, shape (n,), in time n d."""
        return self._diagonal(self._check_rows(X))

    def fitted(self, X: ArrayLike) -> Self:
        """Return the kernel with its parameters from data, such as a bandwidth by a rule, set for the rows of `X`."""
        return self

    def kept_points(self, X: Array) -> Array:
        """Return the data of rows that later values of the kernel need, with one line for each row."""
        return X

    @abstractmethod
    def _filler(self, X: Floats, Y: Floats) -> Fill:
        """Return the function that adds blocks of the values between the rows of `X` and `Y`."""

    @abstractmethod
    def _diagonal(self, X: Floats) -> Floats: ...

    def _check_rows(self, X: ArrayLike, n_columns: int | None = None) -> Floats:
        return np.ascontiguousarray(as_table(X, n_columns=n_columns), dtype=np.float64)


def refuse_negative_values(kernel: Kernel, X: Floats) -> Floats:
    """Return the rows, or raise a DataError if a value is below 0, where the kernel is not defined."""
    bad = (X < 0).sum(axis=0)
    if bad.any():
        columns = list_words([f"column {j} ({count})" for j, count in enumerate(bad) if count])
        raise DataError(
            f"{type(kernel).__name__} is a kernel of values of at least 0, such as counts or fractions; "
            f"values below 0 in {columns}; leave those columns out, or take another kernel"
        )
    return X


Selection = slice | Indices
Fill = Callable[[Selection, Selection, Floats], None]
"""The function that a kernel supplies: takes rows, columns, and a contiguous array of zeros to add their block to."""

TILE = 256  # rows and columns of a tile: half a megabyte, which stays in the cache of one processor


class GramMatrix:
    """The values of a kernel between n rows and m others, computed block by block when they are needed.

    Made by `Kernel.gram`. Blocks are computed anew each time, so that memory does not grow with n times m.

    Attributes
    ----------
    shape : tuple of int
        n and m.
    """

    def __init__(self, shape: tuple[int, int], fill: Fill) -> None:
        self.shape = shape
        self._fill = fill

    def block(self, rows: Selection, columns: Selection) -> Floats:
        """Return the values between some rows and some of the others, each given by a slice or by numbers."""
        shape = _length(rows, self.shape[0]), _length(columns, self.shape[1])
        return self._tile(rows, columns, np.empty(shape[0] * shape[1]))

    def dense(self, *, n_jobs: int | None = -1) -> Floats:
        """Return the whole matrix, shape (n, m), computed by `n_jobs` threads."""
        n, m = self.shape
        whole = np.empty((n, m))

        def work(start: int) -> None:
            rows, buffer = slice(start, min(start + TILE, n)), np.empty(TILE * TILE)
            for first in range(0, m, TILE):
                columns = slice(first, min(first + TILE, m))
                whole[rows, columns] = self._tile(rows, columns, buffer)

        map_tasks(work, range(0, n, TILE), n_jobs=n_jobs)
        return whole

    def product(
        self,
        coefficients: Floats,
        *,
        rows: Indices | None = None,
        columns: Indices | None = None,
        n_jobs: int | None = -1,
    ) -> Floats:
        """Return the matrix, or some of its rows and columns, times coefficients of shape (m, p).

        Takes one evaluation of each requested value. Each row is summed in the order of the columns, so it depends
        neither on the number of threads, nor on the processor, nor on the other requested rows.

        Parameters
        ----------
        coefficients : array of shape (m, p)
            One line for each column of the matrix, or for each of `columns`.
        rows, columns : array of int, default=None
            Numbers of the rows and columns taken; None takes all.
        n_jobs : int or None, default=-1
            Number of threads.

        Returns
        -------
        array of shape (n, p)
        """
        n = self.shape[0] if rows is None else len(rows)
        m = len(coefficients)
        factors = np.ascontiguousarray(coefficients, dtype=np.float64)

        def work(start: int) -> Floats:
            taken = _selection_of(rows, start, min(start + TILE, n))
            buffer = np.empty(TILE * TILE)
            sums = np.zeros((min(TILE, n - start), factors.shape[1]))
            block_sum = np.empty_like(sums)
            for first in range(0, m, TILE):
                last = min(first + TILE, m)
                block_sum.fill(0.0)  # summed by blocks, which rounds less than one long sum
                add_products(
                    self._tile(taken, _selection_of(columns, first, last), buffer), factors[first:last], block_sum
                )
                sums += block_sum
            return sums

        parts = map_tasks(work, range(0, n, TILE), n_jobs=n_jobs)
        return np.concatenate(parts) if parts else np.zeros((0, factors.shape[1]))

    def _tile(self, rows: Selection, columns: Selection, buffer: Floats) -> Floats:
        """Return a block, written into the buffer: fresh memory for each tile costs more than the kernel."""
        shape = _length(rows, self.shape[0]), _length(columns, self.shape[1])
        tile = buffer[: shape[0] * shape[1]].reshape(shape)
        tile.fill(0.0)
        self._fill(rows, columns, tile)
        return tile


class KeptGram(GramMatrix):
    """A Gram matrix that is in memory, shape (n, m); its blocks are views where rows and columns are slices."""

    def __init__(self, values: Array) -> None:
        def fill(rows: Selection, columns: Selection, out: Floats) -> None:
            out[...] = values[rows][:, columns]

        super().__init__((values.shape[0], values.shape[1]), fill)
        self.values = values

    def _tile(self, rows: Selection, columns: Selection, buffer: Floats) -> Floats:
        return self.values[rows][:, columns].astype(np.float64, copy=False)


def _length(selection: Selection, n: int) -> int:
    return len(range(*selection.indices(n))) if isinstance(selection, slice) else len(selection)


def _selection_of(numbers: Indices | None, start: int, stop: int) -> Selection:
    return slice(start, stop) if numbers is None else numbers[start:stop]
