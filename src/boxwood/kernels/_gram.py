"""The Gram matrix of a kernel, computed in tiles: most callers need a product with it, and never the matrix itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats, Indices

__all__ = ["Fill", "GramMatrix", "KeptGram", "Places", "one_blas_thread"]

Places = slice | Indices
Fill = Callable[[Places, Places, Floats], None]
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

    def block(self, rows: Places, columns: Places) -> Floats:
        """Return the values between some rows and some of the others, each given by a slice or by numbers."""
        shape = _length(rows, self.shape[0]), _length(columns, self.shape[1])
        with one_blas_thread():
            return self._tile(rows, columns, np.empty(shape[0] * shape[1]))

    def dense(self, *, n_jobs: int | None = -1) -> Floats:
        """Return the whole matrix, shape (n, m), computed by `n_jobs` threads."""
        n, m = self.shape
        whole = np.zeros((n, m))
        height = max(1, TILE * TILE // m)

        def work(start: int) -> None:
            self._fill(slice(start, start + height), slice(None), whole[start : start + height])

        with one_blas_thread():
            map_tasks(work, range(0, n, height), n_jobs=n_jobs)
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

        Takes one evaluation of each value asked for. Each row is summed in the same order whatever the number of
        threads, so the result does not depend on it.

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

        def work(start: int) -> Floats:
            taken = _part(rows, start, min(start + TILE, n))
            buffer = np.empty(TILE * TILE)
            sums = np.zeros((min(TILE, n - start), coefficients.shape[1]))
            for first in range(0, m, TILE):
                last = min(first + TILE, m)
                sums += self._tile(taken, _part(columns, first, last), buffer) @ coefficients[first:last]
            return sums

        with one_blas_thread():
            parts = map_tasks(work, range(0, n, TILE), n_jobs=n_jobs)
        return np.concatenate(parts) if parts else np.zeros((0, coefficients.shape[1]))

    def _tile(self, rows: Places, columns: Places, buffer: Floats) -> Floats:
        """Return a block, written into the buffer: fresh memory for each tile costs more than the kernel."""
        shape = _length(rows, self.shape[0]), _length(columns, self.shape[1])
        tile = buffer[: shape[0] * shape[1]].reshape(shape)
        tile.fill(0.0)
        self._fill(rows, columns, tile)
        return tile


class KeptGram(GramMatrix):
    """A Gram matrix that is in memory, shape (n, m); its blocks are views where rows and columns are slices."""

    def __init__(self, values: Array) -> None:
        def fill(rows: Places, columns: Places, out: Floats) -> None:
            out[...] = values[rows][:, columns]

        super().__init__((values.shape[0], values.shape[1]), fill)
        self.values = values

    def _tile(self, rows: Places, columns: Places, buffer: Floats) -> Floats:
        return self.values[rows][:, columns].astype(np.float64, copy=False)


class _OneBlasThread:
    """The number of BLAS threads is the process's, so the first to enter sets it and the last to leave restores it."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_ONE_BLAS_THREAD = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which a matrix product takes one thread: tiles are shared out among threads already.

    It also fixes the order in which products are summed, which BLAS may choose by its number of threads.
    """
    return _ONE_BLAS_THREAD


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return ThreadpoolController()


def _length(places: Places, n: int) -> int:
    return len(range(*places.indices(n))) if isinstance(places, slice) else len(places)


def _part(places: Indices | None, start: int, stop: int) -> Places:
    return slice(start, stop) if places is None else places[start:stop]
