"""`quantiles_in`: quantiles of every column in each cluster, from a sample and one pass that counts rows in bins.

The ends of the bins are values of a sample: of each cluster and column up to 512 of its quantiles, or all of its
values. The pass counts the rows of each bin, and its least and greatest value, which is exact in any order. So the bin
of a quantile is known; inside it, rows are taken to lie evenly between the least and the greatest one. Where all rows
of a bin are equal, or the rank is that of its first or last row, the quantile is exact. Weights are whole numbers, as
in memory, so that sums of them depend on no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Ints
from boxwood._validation import WholeWeights
from boxwood.passes._batches import Batches, Block
from boxwood.passes._sample import Sample, sample_of

__all__ = ["quantiles_in"]

ENDS = 512
SAMPLE_VALUES, LEAST_SAMPLE = 2_000_000, 20_000


def quantiles_in(
    batches: Batches, n_clusters: int, percents: Sequence[int], whole: WholeWeights | None = None
) -> Floats:
    """Return the quantiles of each cluster and, last, of all rows with a cluster, shape (k + 1, d, len(percents)).

    Without weights they are interpolated as in numpy; with weights each is the least value that reaches its percentage
    of the weight. The rank of a value that is not exact is off by less than the share of its bin, which is about 1/512.
    NaN for a cluster without rows. `whole` says how weights become whole numbers, if rows have weights. Takes two
    passes, and memory for 4 * 512 numbers for each cluster and column.
    """
    sample = sample_of(batches, max(SAMPLE_VALUES // batches.n_columns, LEAST_SAMPLE))
    bins = batches.fold(partial(_Bins, _ends_of(sample, n_clusters), whole))
    found = np.full((n_clusters + 1, batches.n_columns, len(percents)), np.nan)
    for group in range(n_clusters + 1):
        for j in range(batches.n_columns):
            held = bins.held(group, j)
            if len(held.weights):
                take = _interpolated if whole is None else _reached
                found[group, j] = [take(held, percent) for percent in percents]
    return found


def _ends_of(sample: Sample, n_clusters: int) -> list[list[Floats]]:
    """Return the ends of the bins of each cluster, and of all rows, in each column; the last end is infinite."""
    groups = [sample.labels == c for c in range(n_clusters)] + [sample.labels >= 0]
    return [[_some_of(np.unique(column[rows])) for column in sample.values.T] for rows in groups]


def _some_of(values: Floats) -> Floats:
    if len(values) > ENDS:
        values = values[np.linspace(0, len(values) - 1, ENDS).round().astype(np.intp)]
    return np.append(values, np.inf)


class _Held(NamedTuple):
    """The bins that hold rows: whole weights (numbers of rows without weights), least and greatest values."""

    weights: Ints
    least: Floats
    most: Floats


class _Bins:
    """Rows in the bins of each group and column; a bin holds what is above the end before it, and up to its own."""

    def __init__(self, ends: list[list[Floats]], whole: WholeWeights | None) -> None:
        self.ends, self.whole = ends, whole
        self.sizes = np.cumsum([0, *(len(one) for group in ends for one in group)])
        self.weights = np.zeros(self.sizes[-1], dtype=np.int64)
        self.least, self.most = np.full(self.sizes[-1], np.inf), np.full(self.sizes[-1], -np.inf)

    def update(self, block: Block) -> None:
        values, labels, _ = block
        rows, weights = np.flatnonzero(block.kept), None
        if self.whole is not None and block.weights is not None:
            weights = self.whole.of(block.weights)
        order = rows[np.argsort(labels[rows], kind="stable")]
        stops = np.cumsum(np.bincount(labels[order], minlength=len(self.ends) - 1))
        parts = [*np.split(order, stops[:-1]), order]
        for group, part in enumerate(parts):
            if len(part):
                for j in range(values.shape[1]):
                    self._add(group, j, values[part, j], None if weights is None else weights[part])

    def _add(self, group: int, column: int, values: Floats, weights: Ints | None) -> None:
        if weights is None:
            x, before = np.sort(values), None
        else:
            order = np.argsort(values, kind="stable")
            x, before = values[order], np.append(0, np.cumsum(weights[order]))
        stops = np.searchsorted(x, self.ends[group][column], side="right")
        starts = np.append(0, stops[:-1])
        held = np.flatnonzero(stops > starts)
        at = self._start(group, column) + held
        first, last = starts[held], stops[held] - 1
        self.weights[at] += last + 1 - first if before is None else before[last + 1] - before[first]
        self.least[at], self.most[at] = np.minimum(self.least[at], x[first]), np.maximum(self.most[at], x[last])

    def _start(self, group: int, column: int) -> int:
        return int(self.sizes[group * len(self.ends[0]) + column])

    def merge(self, other: _Bins) -> None:
        self.weights += other.weights
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)

    def held(self, group: int, column: int) -> _Held:
        """Return the bins of a group and column that hold rows."""
        start = self._start(group, column)
        part = slice(start, start + len(self.ends[group][column]))
        rows = self.weights[part] > 0
        return _Held(self.weights[part][rows], self.least[part][rows], self.most[part][rows])


def _interpolated(held: _Held, percent: int) -> float:
    """Return a quantile as numpy interpolates it: between the two rows next to the rank."""
    rank = (held.weights.sum() - 1) * percent / 100
    below = np.floor(rank)
    low, high = _at_rank(held, below), _at_rank(held, np.ceil(rank))
    share = rank - below
    return float(low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share))


def _at_rank(held: _Held, rank: float) -> float:
    """Return the value of a row by its place in ascending order, from 0 on."""
    before = np.cumsum(held.weights) - held.weights
    i = int(np.searchsorted(before, rank, side="right")) - 1
    if held.weights[i] <= 1 or held.least[i] == held.most[i]:
        return float(held.least[i])
    share = (rank - before[i]) / (held.weights[i] - 1)
    return float(held.least[i] * (1 - share) + held.most[i] * share)


def _reached(held: _Held, percent: int) -> float:
    """Return the least value that reaches a percentage of the weight."""
    up_to = np.cumsum(held.weights)
    asked = -(-int(up_to[-1]) * percent // 100)  # rounded up
    i = int(np.searchsorted(up_to, asked))
    share = (asked - int(up_to[i] - held.weights[i])) / int(held.weights[i])
    return float(held.least[i] * (1 - share) + held.most[i] * share)
