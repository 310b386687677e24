"""`Bins`: the rows of a task in bins of each column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import fold_blocks, map_tasks
from boxwood._types import Array, Bools, Floats, Ints
from boxwood.loops.bins import code_rows, fill_bins, gather_bins
from boxwood.loops.order import ascending

N_BINS = 64
LONG = 1 << 15  # rows of a table above which no column is sorted for the sake of its bins
_PER_BIN = 64  # rows of a sample from which the ends of a bin are taken


class Bins:
    """At most 64 bins of each column, with about as many rows in each; equal values share a bin.

    Parameters
    ----------
    codes : array of uint8, shape (n, d)
        Bin of each value; 0 for rows that are not kept.
    starts : array of int64, shape (d, N_BINS + 1)
        Rank at which each bin of a column begins.
    order : array of int, shape (d, n_kept)
        Kept rows in ascending order of each column.
    single : array of bool, shape (d, N_BINS)
        Bins that are known to hold one value and no other.
    """

    codes: Array
    starts: Ints
    single: Bools

    def __init__(self, codes: NDArray[np.uint8], starts: Ints, order: Array, single: Bools) -> None:
        self.codes, self.starts, self._order, self.single = codes, starts, order, single

    @classmethod
    def of(cls, X: Array, order: NDArray[np.int32], n_jobs: int | None) -> Bins:
        """Return the bins of rows that stand in the order of each column, shape (d, n_kept). Takes time n d."""
        codes = np.zeros(X.shape, dtype=np.uint8)
        starts = np.empty((X.shape[1], N_BINS + 1), dtype=np.int64)

        def fill(column: int) -> None:
            fill_bins(X, column, order[column], N_BINS, codes, starts[column])

        map_tasks(fill, range(X.shape[1]), n_jobs=n_jobs)
        return cls(codes, starts, order, _hold_one_value(X, order, starts))

    def order(self, column: int, wanted: Bools) -> Array:
        """Return the kept rows bin by bin, those of the wanted bins, shape (N_BINS,), in ascending order of a column.

        Bin b holds the rows from `starts[column, b]` to `starts[column, b + 1] - 1`. No two threads may ask for the
        same column at once.
        """
        rows: Array = self._order[column]
        return rows


class LooseBins(Bins):
    """Bins whose ends are values of a sample of the rows. Rows are sorted only within bins that are asked for.

    In a long table this takes a fraction of the time and memory that an order of all columns does. Values that are
    common have a bin of their own.
    """

    def __init__(self, X: Array, kept: Bools, n_jobs: int | None) -> None:
        self._X, self._kept, d = X, kept, X.shape[1]
        codes = np.zeros(X.shape, dtype=np.uint8)
        edges = _edges(X, kept)
        single = np.zeros(edges.shape, dtype=np.bool_)
        single[:, 1:] = edges[:, :-1] == np.nextafter(edges[:, 1:], -np.inf)

        def code(counts: Ints, start: int, stop: int) -> None:
            code_rows(X, kept, edges, start, stop, codes, counts)

        counts = sum(fold_blocks(code, len(X), lambda: np.zeros((d, N_BINS), dtype=np.int64), n_jobs=n_jobs))
        starts = np.zeros((d, N_BINS + 1), dtype=np.int64)
        np.cumsum(counts, axis=1, out=starts[:, 1:])
        super().__init__(codes, starts, np.empty((d, 0), dtype=np.int32), single)
        self._rows: dict[int, tuple[Array, Bools]] = {}  # of a column, bin by bin, and which bins are sorted

    def order(self, column: int, wanted: Bools) -> Array:
        """Return the kept rows bin by bin; see `Bins.order`. Only the wanted bins are in order."""
        starts = self.starts[column]
        if column not in self._rows:
            rows = np.empty(starts[-1], dtype=np.int32 if len(self._X) <= np.iinfo(np.int32).max else np.int64)
            gather_bins(self.codes, column, self._kept, starts, rows)
            self._rows[column] = rows, np.zeros(N_BINS, dtype=np.bool_)
        rows, is_sorted = self._rows[column]
        for b in np.flatnonzero(wanted & ~is_sorted & ~self.single[column]).tolist():
            of_bin = rows[starts[b] : starts[b + 1]]
            of_bin[:] = of_bin[ascending(self._X[of_bin, column].astype(np.float64))]
        is_sorted |= wanted
        return rows


def _hold_one_value(X: Array, order: Array, starts: Ints) -> Bools:
    """Return which bins of ordered columns have rows, the first and the last of which are equal."""
    rows = order.shape[1]
    columns = np.arange(len(order))[:, None]
    first, last = (
        X[order[columns, np.minimum(at, rows - 1)], columns]
        for at in (starts[:, :-1], np.maximum(starts[:, 1:] - 1, 0))
    )
    return np.asarray((first == last) & (starts[:, :-1] < starts[:, 1:]), dtype=np.bool_)


def _edges(X: Array, kept: Bools) -> Floats:
    """Return the largest value of each bin but the last, which has none; shape (d, N_BINS), ascending.

    A value that would be the end of several bins gets one of its own.
    """
    rows = np.flatnonzero(kept)
    rows = rows[:: -(-len(rows) // (N_BINS * _PER_BIN))]
    ranks = np.arange(1, N_BINS) * len(rows) // N_BINS
    edges = np.full((X.shape[1], N_BINS), np.inf)
    for j in range(X.shape[1]):
        edges[j, :-1] = np.sort(X[rows, j])[ranks]
    is_first = np.diff(edges, axis=1, prepend=-np.inf) > 0
    is_common = edges[:, :-1] == edges[:, 1:]
    before = is_first[:, :-1] & is_common & np.isfinite(edges[:, :-1])
    edges[:, :-1] = np.where(before, np.nextafter(edges[:, :-1], -np.inf), edges[:, :-1])
    return edges
