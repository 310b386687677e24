"""Counts of rows per cluster, column and bin: made in one pass over the rows, then updated by subtraction.

The counts are the reason why IMM takes about one pass. A split changes them only by its mistakes, the rows that it cuts
off from their centres; and IMM chooses splits with few mistakes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import BLOCK_ROWS, fold_blocks, map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import Rows
from boxwood.loops import imm as loops
from boxwood.loops.imm_events import Column, events_in_bins, smallest_above

__all__ = ["Bins", "Counts"]


class Bins(NamedTuple):
    """The bins of each column: from `low` up in steps of `1 / scale`; the last bin begins at `high`."""

    low: Floats
    high: Floats
    scale: Floats
    constant: Bools  # (d, n_bins): whether all rows of the bin have one value; False if not known

    @classmethod
    def around(cls, centers: Floats, n_bins: int) -> Bins:
        """Return bins between the outermost centres, as cuts lie there; a column of equal centres gets one bin."""
        low, high = centers.min(axis=0), centers.max(axis=0)
        with np.errstate(divide="ignore", over="ignore"):
            scale = 0.5 * (n_bins - 2) / (high / 2 - low / 2)  # halves: the width itself may overflow
        scale = np.where(low < high, np.minimum(scale, 1e300), 0.0)
        return cls(low, high, scale, np.zeros((len(low), n_bins), dtype=np.bool_))

    @property
    def binning(self) -> loops.Binning:
        """The bins in the form that the loops take."""
        return loops.Binning(self.low, self.high, self.scale)

    @property
    def n_bins(self) -> int:
        """Number of bins of each column."""
        return int(self.constant.shape[1])

    def codes(self, points: Floats) -> NDArray[np.uint8]:
        """Return the bins of points (k, d), shape (d, k)."""
        codes = np.empty(points.shape[::-1], dtype=np.uint8)
        loops.bin_points(points, self.low, self.high, self.scale, self.n_bins, codes)
        return codes

    def codes_of(self, j: int, values: Floats) -> NDArray[np.uint8]:
        """Return the bins of some values of column `j`."""
        codes: NDArray[np.uint8] = np.empty((1, len(values)), dtype=np.uint8)
        span = self.low[j : j + 1], self.high[j : j + 1], self.scale[j : j + 1]
        loops.bin_points(values[:, None], *span, self.n_bins, codes)
        return codes.reshape(-1)

    def code(self, j: int, value: float) -> int:
        """Return the bin of one value of column `j`."""
        return int(self.codes_of(j, np.array([value]))[0])


class Counts:
    """Rows sorted by cluster, the bin of each of their values, and the weight per (column, cluster, bin).

    Memory: one byte per value and five per row (13 with weights), plus the counts: d × k × n_bins whole numbers.

    A *position* is an index into the rows sorted by cluster, `order`; cluster c has positions `first[c]` up to, but not
    including, `first[c + 1]`.
    """

    def __init__(
        self, rows: Rows, labels: Indices, weights: Ints, n_clusters: int, bins: Bins,
        n_jobs: int | None,
    ) -> None:  # fmt: skip
        X, n_columns = rows.values, rows.n_columns
        self.rows = rows
        starts, self.first = _start_positions(labels, weights, n_clusters, n_jobs)
        n_rows = int(self.first[-1])
        self.order = np.empty(n_rows, dtype=np.int32 if len(X) < 2**31 else np.int64)
        self.codes = np.empty((n_columns, n_rows), dtype=np.uint8)
        self.alive = np.ones(n_rows, dtype=np.bool_)

        def work(counts: Ints, start: int, stop: int) -> None:
            block = starts[start // BLOCK_ROWS]
            block_rows = X[start:stop], labels[start:stop], weights[start:stop]
            loops.bin_block(*block_rows, start, bins.binning, block, self.order, self.codes, counts)

        shape = n_columns, n_clusters, bins.n_bins
        parts = fold_blocks(work, len(X), lambda: np.zeros(shape, dtype=np.int64), block=BLOCK_ROWS, n_jobs=n_jobs)
        self.counts = parts[0]
        for part in parts[1:]:
            self.counts += part
        self.total = self.counts[0].sum(axis=1)
        self.weights = weights[self.order] if weights.size else weights
        self.sorted_rows = loops.SortedRows(self.order, self.codes, self.alive, self.weights)

    def rebin(self, clusters: Indices, bins: Bins) -> None:
        """Bin the rows of some clusters anew."""
        self.counts[:, clusters] = 0
        for c in clusters:
            span = int(self.first[c]), int(self.first[c + 1])
            loops.bin_cluster(self.rows.values, self.sorted_rows, c, *span, bins.binning, self.counts)

    def weight_in(self, clusters: Indices, wanted: Bools) -> int:
        """Return the weight of the rows of `clusters` in wanted bins (d, n_bins), in all columns together."""
        return int(loops.weight_in(self.counts, clusters, wanted))

    def events(self, column: Column, constant: Bools) -> tuple[Array, ...]:
        """Return what happens in some bins of a column, and note those of one value; see `events_in_bins`."""
        counted = self.counts[column.number], self.first
        found: tuple[Array, ...] = events_in_bins(self.rows.values, column, self.sorted_rows, *counted, constant)
        return found

    def smallest_above(self, j: int, clusters: Indices, value: float, code: int) -> float:
        """Return the smallest value of column `j` above `value`, whose bin is `code`, or infinity."""
        counted = self.counts[j], self.first
        return float(smallest_above(self.rows.values, j, self.sorted_rows, *counted, clusters, value, code))

    def sorted_column(self, j: int, clusters: Indices) -> tuple[Floats, Ints]:
        """Return the values of the rows of `clusters` in column `j`, ascending, and the weight of each."""
        spans = [np.arange(self.first[c], self.first[c + 1]) for c in clusters.tolist()]
        positions = np.concatenate(spans)
        positions = positions[self.alive[positions]]
        values = self.rows.column(j, self.order[positions])
        weights = self.weights[positions] if self.weights.size else np.ones(len(positions), dtype=np.int64)
        order = np.argsort(values, kind="stable")
        return values[order], weights[order]

    def cut_off(self, j: int, threshold: float, threshold_bin: int, clusters: Indices, is_left: Bools) -> Ints:
        """Take the mistakes of a cut out of the counts, and return their rows.

        `is_left` says which of the clusters have their centre on the left.
        """
        counts = self.counts[j][clusters]
        right, left = counts[:, threshold_bin:].any(axis=1), counts[:, : threshold_bin + 1].any(axis=1)
        hit = np.flatnonzero(np.where(is_left, right, left))  # usually few clusters have rows on the other side
        cut = j, threshold, np.uint8(threshold_bin)
        found = np.empty(int((self.first[clusters[hit] + 1] - self.first[clusters[hit]]).sum()), dtype=np.int64)
        sums = self.sorted_rows, self.counts, self.total
        size = loops.cut_off(self.rows.values, *sums, clusters[hit], is_left[hit], self.first, *cut, found)
        return found[:size]


def _start_positions(labels: Indices, weights: Ints, n_clusters: int, n_jobs: int | None) -> tuple[Ints, Ints]:
    """Return the position of each block's first row of each cluster, (blocks, k), and of each cluster's first row.

    The second array has one number more, the end of the last cluster.
    """

    def work(start: int, stop: int) -> Ints:
        block = labels[start:stop]
        if weights.size:
            block = np.where(weights[start:stop] > 0, block, -1)
        return np.bincount(block + 1, minlength=n_clusters + 1)[1:]

    sizes = np.array(map_blocks(work, len(labels), block=BLOCK_ROWS, n_jobs=n_jobs), dtype=np.int64)  # (blocks, k)
    first = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    return first[:-1] + np.cumsum(sizes, axis=0) - sizes, first
