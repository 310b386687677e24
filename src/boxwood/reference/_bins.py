"""`Bins`: the rows of a task in bins of each column, so that sums over a few bins stand for sums over many rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks
from boxwood._types import Array, Ints
from boxwood.loops.bins import fill_bins

__all__ = ["N_BINS", "Bins"]

N_BINS = 64


class Bins(NamedTuple):
    """At most 64 bins of each column, with about as many rows in each; equal values share a bin.

    Bin b of column j holds the rows `order[j, starts[j, b] : starts[j, b + 1]]` of the task's order.
    """

    codes: NDArray[np.uint8]  # (n, d), the bin of each value; 0 for rows that are not in the order
    starts: Ints  # (d, N_BINS + 1)

    @classmethod
    def of(cls, X: Array, order: NDArray[np.int32], n_jobs: int | None) -> Bins:
        """Return the bins of rows that stand in the order of each column, shape (d, n_kept). Takes time n d."""
        codes = np.zeros(X.shape, dtype=np.uint8)
        starts = np.empty((X.shape[1], N_BINS + 1), dtype=np.int64)

        def fill(column: int) -> None:
            fill_bins(X, column, order[column], N_BINS, codes, starts[column])

        map_tasks(fill, range(X.shape[1]), n_jobs=n_jobs)
        return cls(codes, starts)
