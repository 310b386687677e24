"""Medians of the clusters of a table in batches: those of the same rows in memory, to the last bit.

A first pass counts values in bins that divide the range of each cluster and column, and finds the bin with the median.
While too many values share it, it is divided again. At last the few values in it are gathered. Bins have equally many
doubles each, so outliers do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Floats, Indices, Ints, Weights
from boxwood.errors import DataError
from boxwood.passes._batches import Batches, Block
from boxwood.passes._overview import Overview

__all__ = ["medians_in"]

MOST_BINS, MOST_COUNTS = 4096, 1 << 22  # of a cluster and column, and of all of them
MOST_GATHERED = 1 << 21  # values of all clusters and columns
_SIGN = np.int64(np.iinfo(np.int64).max)


def medians_in(batches: Batches, overview: Overview) -> Floats:
    """Return the median of each cluster and column, shape (k, d); NaN for a cluster without rows.

    Two or three passes are usual, seven the most.

    Raises
    ------
    DataError
        If weights are not whole, as sums of others are not exact.
    """
    if batches.weight is not None and not (overview.all_whole and overview.total_weight() < 2.0**53):
        raise DataError(f"medians of rows in batches need whole weights; column {batches.weight!r} has others")
    empty = (overview.sizes == 0)[:, None]
    low, high = (_keys(np.where(empty, 0.0, ends)) for ends in (overview.least, overview.most))
    total = np.array([round(weight.value) for weight in overview.weight]) if batches.weight else overview.sizes
    inside = np.broadcast_to(total[:, None], low.shape)
    below = np.zeros(low.shape, dtype=np.int64)  # weight of the values under the bin
    n_bins = int(np.clip(MOST_COUNTS // low.size, 16, MOST_BINS))
    while inside[low != high].sum() > MOST_GATHERED:
        histogram = batches.fold(partial(_Histogram, low, high, n_bins))
        low, high, below, inside = histogram.narrowed(total, below)
    gathered = batches.fold(partial(_Gathered, low, high))
    return np.where(empty, np.nan, gathered.medians(total, below))


def _keys(values: Floats) -> Ints:
    """Return whole numbers in the order of doubles, next to each other for neighbouring doubles."""
    bits = np.ascontiguousarray(values + 0.0).view(np.int64)  # -0.0 is 0.0
    return np.where(bits < 0, bits ^ _SIGN, bits)


def _values(keys: Ints) -> Floats:
    return np.where(keys < 0, keys ^ _SIGN, keys).view(np.float64)


def _steps(low: Ints, keys: Ints) -> NDArray[np.uint64]:
    """Return how far keys lie above others; the distance may be larger than the largest int64."""
    return keys.view(np.uint64) - low.view(np.uint64)


class _Histogram:
    """Weight of the rows of each cluster by column and bin: a summary of blocks."""

    def __init__(self, low: Ints, high: Ints, n_bins: int) -> None:
        self.low, self.high = low, high
        self.width = _steps(low, high) // np.uint64(n_bins) + np.uint64(1)
        self.counts = np.zeros((*low.shape, n_bins), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        k, d, n_bins = self.counts.shape
        for j, keys, labels, weights in _columns(block, d):
            rows = (keys >= self.low[labels, j]) & (keys <= self.high[labels, j])
            keys, clusters = keys[rows], labels[rows]
            bins = (_steps(self.low[clusters, j], keys) // self.width[clusters, j]).astype(np.intp)
            counted = None if weights is None else weights[rows]
            sums = np.bincount(clusters * n_bins + bins, weights=counted, minlength=k * n_bins)
            self.counts[:, j] += sums.astype(np.int64).reshape(k, n_bins)

    def merge(self, other: _Histogram) -> None:
        """Add other counts in the same bins."""
        self.counts += other.counts

    def narrowed(self, total: Ints, below: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the bins with the medians: their ends, the weight below them, and inside."""
        through = below[:, :, None] + np.cumsum(self.counts, axis=2)
        at = np.argmax(2 * through >= total[:, None, None], axis=2)
        inside = np.take_along_axis(self.counts, at[:, :, None], axis=2)[:, :, 0]
        low = (self.low.view(np.uint64) + at.astype(np.uint64) * self.width).view(np.int64)
        last = np.minimum(_steps(low, self.high), self.width - np.uint64(1))
        high = (low.view(np.uint64) + last).view(np.int64)
        return low, high, np.take_along_axis(through, at[:, :, None], axis=2)[:, :, 0] - inside, inside


class _Gathered:
    """The values between two ends of each cluster and column, and the next one above: a summary of blocks."""

    def __init__(self, low: Ints, high: Ints) -> None:
        self.low, self.high = low, high
        self.at_low = np.zeros(low.shape, dtype=np.int64)  # weight of rows where both ends are one
        self.cells: list[Indices] = []
        self.keys: list[Ints] = []
        self.weights: list[Ints] = []
        self.above = np.full(low.shape, np.iinfo(np.int64).max)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        d = self.low.shape[1]
        for j, keys, labels, weights in _columns(block, d):
            low, high = self.low[labels, j], self.high[labels, j]
            whole = np.ones(len(keys), dtype=np.int64) if weights is None else weights.astype(np.int64)
            beyond = keys > high
            np.minimum.at(self.above[:, j], labels[beyond], keys[beyond])
            alone = (low == high) & (keys == low)
            np.add.at(self.at_low[:, j], labels[alone], whole[alone])
            rows = (keys >= low) & ~beyond & (low != high)
            self.cells.append(labels[rows] * d + j)
            self.keys.append(keys[rows])
            self.weights.append(whole[rows])

    def merge(self, other: _Gathered) -> None:
        """Add what another summary has gathered."""
        self.at_low += other.at_low
        self.above = np.minimum(self.above, other.above)
        self.cells, self.keys = self.cells + other.cells, self.keys + other.keys
        self.weights = self.weights + other.weights

    def medians(self, total: Ints, below: Ints) -> Floats:
        """Return the medians, shape (k, d); any number for a cluster without rows."""
        k, d = self.low.shape
        alone = np.flatnonzero((self.low == self.high).reshape(-1))
        cells = np.concatenate([alone, *self.cells])
        keys = np.concatenate([self.low.reshape(-1)[alone], *self.keys])
        weights = np.concatenate([self.at_low.reshape(-1)[alone], *self.weights])
        order = np.lexsort((keys, cells))
        cells, keys, weights = cells[order], keys[order], weights[order]
        ends = np.searchsorted(cells, np.arange(k * d + 1))
        medians = np.zeros(k * d)
        for cell in np.flatnonzero(np.diff(ends) > 0).tolist():
            part = slice(ends[cell], ends[cell + 1])
            through = below.reshape(-1)[cell] + np.cumsum(weights[part])
            here = np.append(keys[part], self.above.reshape(-1)[cell])
            medians[cell] = _median(here, through, int(total[cell // d]))
        return medians.reshape(k, d)


def _median(keys: Ints, through: Ints, total: int) -> float:
    """Return the median from ascending values, one of them more than sums of weights."""
    at = int(np.argmax(2 * through >= total))
    value = float(_values(keys[at : at + 1])[0])
    if 2 * through[at] != total:
        return value
    return value / 2 + float(_values(keys[at + 1 : at + 2])[0]) / 2  # equal values come one by one, so it may be equal


def _columns(block: Block, d: int) -> Iterator[tuple[int, Ints, Indices, Weights]]:
    """Yield each column with the keys, the labels and the weights of the rows that count."""
    X, labels, weights = block
    kept = block.kept
    labels, weights = labels[kept], None if weights is None else weights[kept]
    for j in range(d):
        yield j, _keys(X[kept, j].astype(np.float64)), labels, weights
