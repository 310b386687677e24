"""Quantiles and medians of groups of rows, by counting in bins: of rows in memory, and of a table in batches.

A first pass counts rows in bins that divide the range of each cluster and column, and finds the bins with the ranks
that are asked for. While too many values share these, they are divided again. At last the few values in them are
gathered. Bins have equally many doubles each, so outliers do no harm. Weights are added as whole numbers, so that a
sum depends on no order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Array, Floats, Indices, Ints
from boxwood._validation import WholeWeights
from boxwood.batches.batches import Batches, Block
from boxwood.batches.overview import Overview
from boxwood.loops import ranks as loops

MOST_BINS, MOST_COUNTS = 4096, 1 << 20  # of a stretch, and of all of them
MOST_GATHERED = 1 << 21  # values of all clusters and columns
_NEAR_ZERO = 256.0  # so many times less than the largest value
_SIGN = np.uint64(1 << 63)

Keys = NDArray[np.uint64]


def quantiles_in(batches: Batches, overview: Overview, percents: Sequence[int]) -> Floats:
    """Return the quantiles of each cluster and, last, of all rows with a cluster, shape (k + 1, d, len(percents)).

    Without weights they are interpolated as in numpy; with weights each is the least value that reaches its percentage
    of the weight. NaN for a cluster without rows. One to three passes are usual.
    """
    if batches.weight is not None:
        return _values_reaching(batches, overview, partial(weights_of_percents, percents=percents), everyone=True)
    ranks, share = ranks_of_percents(np.append(overview.sizes, overview.n_kept), percents)
    low, high = np.split(_values_reaching(batches, overview, lambda _: ranks + 1, everyone=True), 2, axis=2)
    return interpolate(low, high, share[:, None])


def medians_in(batches: Batches, overview: Overview) -> Floats:
    """Return the median of each cluster and column, shape (k, d); NaN for a cluster without rows.

    One to three passes are usual.
    """
    low, high = np.moveaxis(_values_reaching(batches, overview, _halves), 2, 0)
    return np.asarray(np.where(low == high, low, low / 2 + high / 2))


def _halves(totals: Ints) -> Ints:
    """Return the least weights that are half of the totals, and more than half, shape (g, 2)."""
    return np.stack([(totals + 1) // 2, totals // 2 + 1], axis=1)


def _values_reaching(
    batches: Batches, overview: Overview, asked: Callable[[Ints], Ints], everyone: bool = False
) -> Floats:
    """Return the least values of each group and column up to which rows have some weights, shape (g, d, r).

    The groups are the clusters, and all rows as the last one if `everyone`. `asked` makes the weights, shape (g, r), of
    the weight of each group, shape (g,). Rows count with their whole weights, or 1.
    """
    whole = None if batches.weight is None else overview.whole_weights()
    stretches, sought = _Stretches.of(overview, everyone), None
    if stretches.n_rows > MOST_GATHERED:
        stretches = stretches.divided_near_zero()
    while stretches.n_rows > MOST_GATHERED:
        counted = batches.fold(partial(_StretchCounts, stretches, whole))
        stretches, sought = counted.narrow(sought or counted.sought(asked))
    gathered = _Gathered(stretches, whole)
    if stretches.n_rows or sought is None:
        gathered = batches.fold(partial(_Gathered, stretches, whole))
    values = _values(gathered.keys_of(sought or gathered.sought(asked)))
    n_groups, d = stretches.shape
    sizes = np.append(overview.sizes, overview.n_kept)[:n_groups]
    return np.where(sizes[:, None, None] == 0, np.nan, values.reshape(n_groups, d, -1))


def _keys(values: Floats) -> Keys:
    """Return whole numbers in the order of doubles, next to each other for neighbouring doubles."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)  # -0.0 is 0.0
    return np.where(bits < _SIGN, bits | _SIGN, ~bits)


def _values(keys: Keys) -> Floats:
    return np.where(keys < _SIGN, ~keys, keys ^ _SIGN).view(np.float64)


class _Sought(NamedTuple):
    """Values that are sought: the stretch of each, or one below it, and the weight from there up to it; (g d r,)."""

    stretches: Indices
    weights: Ints


class _Stretches(NamedTuple):
    """Stretches of keys, ascending in each cell, which is a group and a column; see `loops.ranks_passes`."""

    shape: tuple[int, int]  # groups and columns
    everyone: int  # the group of all rows, or -1
    cells: Indices  # (m,), ascending
    low: Keys  # (m,)
    high: Keys
    n_rows: int  # that have to be looked at: where a stretch has one key only, there is nothing to look for

    @classmethod
    def of(cls, overview: Overview, everyone: bool) -> _Stretches:
        """Return the range of each cell."""
        least, most, sizes = overview.least, overview.most, overview.sizes
        if everyone:
            least, most = (np.vstack([ends, of(ends, axis=0)]) for ends, of in ((least, np.min), (most, np.max)))
            sizes = np.append(sizes, sizes.sum())
        empty = (sizes == 0)[:, None]
        low, high = (_keys(np.where(empty, 0.0, ends)).reshape(-1) for ends in (least, most))
        n_rows = int(np.repeat(sizes, least.shape[1])[low < high].sum())
        return cls(least.shape, len(sizes) - 1 if everyone else -1, np.arange(low.size), low, high, n_rows)

    def divided_near_zero(self) -> _Stretches:
        """Return the ranges in up to three parts, as there are as many doubles near 0 as anywhere else."""
        near = np.maximum(np.abs(_values(self.low)), np.abs(_values(self.high))) / _NEAR_ZERO
        near = np.maximum(near, np.nextafter(0.0, 1.0))
        below, above, one = _keys(-near), _keys(near), np.uint64(1)
        low = np.stack([self.low, np.maximum(self.low, below + one), np.maximum(self.low, above)], axis=1)
        high = np.stack([np.minimum(self.high, below), np.minimum(self.high, above - one), self.high], axis=1)
        some = low <= high
        return self._replace(cells=np.repeat(self.cells, some.sum(axis=1)), low=low[some], high=high[some])

    @property
    def first(self) -> Indices:
        """The first stretch of each cell, and the number of stretches last."""
        return np.searchsorted(self.cells, np.arange(self.shape[0] * self.shape[1] + 1))


class _InStretches:
    """A summary of blocks by stretches of keys."""

    def __init__(self, stretches: _Stretches, whole: WholeWeights | None) -> None:
        self.stretches, self.whole, self.first = stretches, whole, stretches.first
        self.by_cluster = np.zeros(stretches.shape[0] - (stretches.everyone >= 0), dtype=np.int64)

    def sought(self, asked: Callable[[Ints], Ints]) -> _Sought:
        """Return what is sought, from the first stretch of each cell on; see `_values_reaching`."""
        totals, (n_groups, d) = self.by_cluster, self.stretches.shape
        if self.stretches.everyone >= 0:
            totals = np.append(totals, totals.sum())
        weights = np.minimum(asked(totals), totals[:, None])[:, None]  # as a group without rows has none
        first = self.first[:-1].reshape(n_groups, d, 1)
        n_asked = n_groups, d, weights.shape[2]
        return _Sought(np.broadcast_to(first, n_asked).flatten(), np.broadcast_to(weights, n_asked).flatten())

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        kept, weights = block.kept, None
        labels = block.labels[kept]
        if self.whole is not None and block.weights is not None:
            weights = self.whole.of(block.weights[kept])
        np.add.at(self.by_cluster, labels, 1 if weights is None else weights)
        self._add(_keys(block.values[kept].T), labels, weights)

    def _add(self, keys: Keys, labels: Indices, weights: Ints | None) -> None:
        """Add keys, shape (d, n), with their labels and weights, shape (n,)."""
        raise NotImplementedError


class _StretchCounts(_InStretches):
    """Rows and weights in the bins of the stretches, and the least and the greatest key of each bin."""

    def __init__(self, stretches: _Stretches, whole: WholeWeights | None) -> None:
        super().__init__(stretches, whole)
        n_stretches = len(stretches.cells)
        n_bins = int(np.clip(MOST_COUNTS // n_stretches, 16, MOST_BINS))
        self.shift = _shift(stretches.high - stretches.low, n_bins)
        shape = n_stretches, n_bins
        self.rows = np.zeros(shape, dtype=np.int64)
        self.sums = self.rows[:0] if whole is None else np.zeros(shape, dtype=np.int64)
        self.least, self.most = np.full(shape, ~np.uint64(0)), np.zeros(shape, dtype=np.uint64)

    def _add(self, keys: Keys, labels: Indices, weights: Ints | None) -> None:
        where, out = self.stretches, (self.rows, self.sums, self.least, self.most)
        weights = self.by_cluster[:0] if weights is None else weights
        loops.count_in_stretches(
            keys, labels, weights, self.first, where.low, where.high, self.shift, where.everyone, *out
        )

    def merge(self, other: _StretchCounts) -> None:
        """Add other counts in the same bins."""
        self.by_cluster += other.by_cluster
        self.rows += other.rows
        self.sums += other.sums
        np.minimum(self.least, other.least, out=self.least)
        np.maximum(self.most, other.most, out=self.most)

    def narrow(self, sought: _Sought) -> tuple[_Stretches, _Sought]:
        """Return the bins of what is sought, no wider than their values, and what is sought in them."""
        n_bins = self.rows.shape[1]
        places, rest = sought.stretches * n_bins, sought.weights.copy()
        loops.reach((self.rows if self.whole is None else self.sums).reshape(-1), places, rest)
        bins, stretches = np.unique(places, return_inverse=True)
        rows = self.rows.reshape(-1)[bins]
        low, high = (np.where(rows > 0, ends.reshape(-1)[bins], _SIGN) for ends in (self.least, self.most))
        n_rows = int(rows[low < high].sum())
        cells = self.stretches.cells[bins // n_bins]
        return self.stretches._replace(cells=cells, low=low, high=high, n_rows=n_rows), _Sought(stretches, rest)


def _shift(spans: Keys, n_bins: int) -> Keys:
    """Return the power of two of the width of the bins of each stretch, so that there are at most `n_bins`."""
    shift = np.zeros_like(spans)
    while (wide := spans >> shift >= np.uint64(n_bins)).any():
        shift += wide
    return shift


class _Gathered(_InStretches):
    """The values in the stretches, where these have more than one key."""

    def __init__(self, stretches: _Stretches, whole: WholeWeights | None) -> None:
        super().__init__(stretches, whole)
        self.parts: list[tuple[Array, ...]] = []

    def _add(self, keys: Keys, labels: Indices, weights: Ints | None) -> None:
        where, most = self.stretches, keys.size * (1 + (self.stretches.everyone >= 0))
        stretches, taken, rows = (np.empty(most, dtype=kind) for kind in (np.intp, np.uint64, np.intp))
        where_to = where.everyone, stretches, taken, rows
        n = loops.take_in_stretches(keys, labels, self.first, where.low, where.high, *where_to)
        of_rows = np.ones(n, dtype=np.int64) if weights is None else weights[rows[:n]]
        self.parts.append((stretches[:n].copy(), taken[:n].copy(), of_rows))

    def merge(self, other: _Gathered) -> None:
        """Add what another summary has gathered."""
        self.by_cluster += other.by_cluster
        self.parts += other.parts

    def keys_of(self, sought: _Sought) -> Keys:
        """Return the keys of what is sought; any for a group without rows."""
        low, high = self.stretches.low, self.stretches.high
        one = np.flatnonzero(low >= high)  # and no row has been taken
        endless = np.full(len(one), np.iinfo(np.int64).max)
        parts = (one, low[one], endless), *self.parts
        stretches, keys, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.lexsort((keys, stretches))
        places = np.searchsorted(stretches[order], sought.stretches)
        loops.reach(weights[order], places, sought.weights.copy())
        found: Keys = keys[order][places]
        return found


AT_ONCE = 4  # columns of a table that are read together, as their values lie side by side

_SAMPLE = 1024  # values from which the span of the bins is taken
_OUTSIDE = 64  # one in so many of these lies beyond the span on either side
_MOST_BINS = 1024


def places_in_groups(groups: Indices, n_groups: int) -> tuple[Indices, Indices]:
    """Return the place of each row if the rows stand group by group, shape (n,), and the number of rows of each group.

    IN: groups (n,): group of each row; -1 leaves a row out, and its place is -1.
    """
    counts, places = np.zeros(n_groups, dtype=np.int64), np.empty(len(groups), dtype=np.int64)
    loops.place_rows(groups, counts, places)
    return places, counts


def columns_in_groups(table: Array, columns: Sequence[int], places: Indices, out: Floats | None = None) -> Floats:
    """Return some columns with their values in another order, shape (n_columns, m); see `places_in_groups`.

    IN: out, default=None: memory for at least so many columns.
    """
    values = np.empty((len(columns), int(places.max(initial=-1)) + 1)) if out is None else out[: len(columns)]
    loops.regroup(table, np.array(columns, dtype=np.int64), places, values)
    return values


def values_at_ranks(x: Floats, ranks: Sequence[int]) -> Floats:
    """Return the values at some ranks among all of them, from 0."""
    bounds, asked = np.array([0, len(x)]), np.tile(np.array(ranks, dtype=np.int64), (2, 1))
    found: Floats = _AtRanks(bounds, asked).of(x)[0]
    return found


class QuantilesOfGroups:
    """Quantiles of the values of each group, and of all last, of one column after the other; memory is taken once.

    They are those of `np.percentile`, to the last bit. Takes time n, or that of `np.partition` where most values that
    differ lie close together beside few that are far away.

    IN: bounds (g + 1,): group i has the values `x[bounds[i]:bounds[i + 1]]`, at least one.
    """

    def __init__(self, bounds: Indices, percents: Sequence[int]) -> None:
        ranks, self._share = ranks_of_percents(_sizes(bounds), percents)
        self._at_ranks = _AtRanks(bounds, ranks)

    def of(self, x: Floats) -> Floats:
        """Return the quantiles of a column, shape (g + 1, n_percents)."""
        low, high = np.split(self._at_ranks.of(x), 2, axis=1)
        return interpolate(low, high, self._share)


class MediansOfGroups:
    """The median of each group, as `np.median` has it, in the same way. IN: as above."""

    def __init__(self, bounds: Indices) -> None:
        sizes = _sizes(bounds)
        self._at_ranks = _AtRanks(bounds, np.stack([(sizes - 1) // 2, sizes // 2], axis=1))

    def of(self, x: Floats) -> Floats:
        """Return the medians of a column, shape (g,)."""
        middle = self._at_ranks.of(x)
        with np.errstate(over="ignore"):
            return np.asarray((middle[:-1, 0] + middle[:-1, 1]) / 2)


def _sizes(bounds: Indices) -> Ints:
    """Return the number of values of each group, and of all last, shape (g + 1,)."""
    return np.append(np.diff(bounds), bounds[-1])


def ranks_of_percents(sizes: Ints, percents: Sequence[int]) -> tuple[Ints, Floats]:
    """Return the ranks below some percentages of rows, then those above, and how far each place lies between them.

    The shapes are (g, 2 p) and (g, p); IN: sizes (g,): numbers of rows. Ranks count from 0.
    """
    last = (sizes - 1)[:, None]
    place = np.asarray(last * np.true_divide(percents, 100), dtype=np.float64)
    ranks = np.floor(place).astype(np.int64)
    return np.hstack([ranks, np.minimum(ranks + 1, last)]).astype(np.int64), place - ranks


def interpolate(low: Floats, high: Floats, share: Floats) -> Floats:
    """Return what lies between two values each, at a share of the way, as numpy computes it."""
    with np.errstate(over="ignore"):
        unit = np.where(np.isfinite(high - low), 1.0, 0.5)  # the difference may be beyond the largest double
    low, high = low * unit, high * unit
    step = high - low
    return np.asarray(np.where(share < 0.5, low + step * share, high - step * (1 - share)) / unit) + 0.0


def weights_of_percents(totals: Ints, percents: Sequence[int]) -> Ints:
    """Return the least whole weights that are some percentages of totals, shape (g, p); IN: totals (g,)."""
    return np.array([[-(-total * percent // 100) for percent in percents] for total in totals.tolist()])


def weighted_quantiles_of_groups(x: Floats, bounds: Indices, weights: Ints, percents: Sequence[int]) -> Floats:
    """Return for each group the least values that reach each percentage of its weight, and those of all values last.

    IN: as above; weights (n,).
    """
    order, n_groups = np.argsort(x), len(bounds) - 1
    group = np.repeat(np.arange(n_groups), np.diff(bounds))
    short = np.int16 if n_groups <= 2**15 else np.int64  # numpy sorts short numbers in one pass
    by_group = order[np.argsort(group[order].astype(short), kind="stable")]
    parts = [*(by_group[start:stop] for start, stop in pairwise(bounds.tolist())), order]
    return np.array([_reaching(x, weights, part, percents) for part in parts])


def _reaching(x: Floats, weights: Ints, order: Indices, percents: Sequence[int]) -> Floats:
    """Return the least values that reach each percentage of the weight; IN: order, ascending in `x`."""
    reached = np.cumsum(weights[order])
    asked = weights_of_percents(reached[-1:], percents)[0]
    return np.asarray(x[order[np.searchsorted(reached, asked)]]) + 0.0  # -0.0 is 0.0


class _AtRanks:
    """The values at some ranks of each group, from 0, and of all values last, for one column after the other.

    IN: bounds (g + 1,); ranks (g + 1, r).
    """

    def __init__(self, bounds: Indices, ranks: Ints) -> None:
        n = int(bounds[-1])
        self.bounds, self.n_bins = bounds, _n_bins(n, len(bounds))
        self.order = np.argsort(ranks, axis=1, kind="stable")
        self.ranks = np.take_along_axis(ranks, self.order, axis=1)
        self.codes, self.taken = np.empty(n, dtype=np.int32), np.empty(2 * n)

    def of(self, x: Floats) -> Floats:
        """Return the values, shape (g + 1, r); IN: x (n,)."""
        counts = np.zeros((len(self.bounds), self.n_bins), dtype=np.int64)
        least, most = np.full(self.n_bins, np.inf), np.full(self.n_bins, -np.inf)
        binned = self.codes, counts, least, most
        loops.count_in_bins(x, self.bounds, *_low_and_scale(x, self.n_bins), *binned)
        ends, marks = np.empty(len(self.bounds), dtype=np.int64), np.zeros(self.n_bins, dtype=np.int64)
        places, at = np.empty_like(self.ranks), np.empty(self.ranks.shape)
        loops.take_bins_of_ranks(x, self.bounds, *binned, self.ranks, marks, self.taken, ends, places, at)
        starts, stops = np.append(ends[:-1], 0).tolist(), np.append(ends[1:], ends[0]).tolist()
        for start, stop, wanted in zip(starts, stops, places, strict=True):
            if start < stop:
                self.taken[start:stop].partition(wanted[wanted >= 0] - start)
        found = np.empty_like(at)
        np.put_along_axis(found, self.order, np.where(places < 0, at, self.taken[places]), axis=1)
        return found


def _n_bins(n: int, n_parts: int) -> int:
    """Return a number of bins from 16 on, so that each holds few values of a part."""
    return int(2 ** np.clip(np.ceil(np.log2(n / n_parts)), 4, np.log2(_MOST_BINS)))


def _low_and_scale(x: Floats, n_bins: int) -> tuple[float, float]:
    """Return the end of the first bin, and the bins in two units; few values far away do not widen the bins."""
    sample = np.sort(x[:: max(len(x) // _SAMPLE, 1)])
    outside = len(sample) // _OUTSIDE
    low, high = float(sample[outside]), float(sample[-1 - outside])
    with np.errstate(divide="ignore", over="ignore"):
        return low, float(min(np.divide(n_bins - 2, abs(high / 2 - low / 2)), 1e300))  # -0.0 - 0.0 is negative
