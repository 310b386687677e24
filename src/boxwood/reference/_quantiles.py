"""Quantiles of a column in each of several groups of rows, and the columns with their values group by group."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from boxwood._types import Array, Floats, Indices, Ints
from boxwood.loops import ranks as loops
from boxwood.loops import regroup as loops_of_columns

__all__ = [
    "AT_ONCE",
    "MediansOfGroups",
    "QuantilesOfGroups",
    "columns_in_groups",
    "medians_of_groups",
    "places_in_groups",
    "quantiles_of_groups",
    "values_at_ranks",
    "weighted_quantiles_of_groups",
]

AT_ONCE = 4  # columns of a table that are read together, as their values lie side by side

_SAMPLE = 1024  # values from which the span of the bins is taken
_OUTSIDE = 64  # one in so many of these lies beyond the span on either side
_MOST_BINS = 1024


def places_in_groups(groups: Indices, n_groups: int) -> tuple[Indices, Indices]:
    """Return the place of each row if the rows stand group by group, shape (n,), and the number of rows of each group.

    IN: groups (n,): group of each row; -1 leaves a row out, and its place is -1.
    """
    counts, places = np.zeros(n_groups, dtype=np.int64), np.empty(len(groups), dtype=np.int64)
    loops_of_columns.place_rows(groups, counts, places)
    return places, counts


def columns_in_groups(table: Array, columns: Sequence[int], places: Indices, out: Floats | None = None) -> Floats:
    """Return some columns with their values in another order, shape (n_columns, m); see `places_in_groups`.

    IN: out, default=None: memory for at least so many columns.
    """
    values = np.empty((len(columns), int(places.max(initial=-1)) + 1)) if out is None else out[: len(columns)]
    loops_of_columns.regroup(table, np.array(columns, dtype=np.int64), places, values)
    return values


def medians_of_groups(x: Floats, bounds: Indices) -> Floats:
    """Return the median of each group, shape (g,), as `np.median` does; IN: as for `quantiles_of_groups`."""
    return MediansOfGroups(bounds).of(x)


def values_at_ranks(x: Floats, ranks: Sequence[int]) -> Floats:
    """Return the values at some ranks among all of them, from 0."""
    bounds, asked = np.array([0, len(x)]), np.tile(np.array(ranks, dtype=np.int64), (2, 1))
    found: Floats = _AtRanks(bounds, asked).of(x)[0]
    return found


def quantiles_of_groups(x: Floats, bounds: Indices, percents: Sequence[int]) -> Floats:
    """Return the quantiles of the values of each group, and of all values last, shape (g + 1, n_percents).

    They are those of `np.percentile`, to the last bit. Takes time n, or that of `np.partition` where most values that
    differ lie close together beside few that are far away.

    IN: x (n,): differences are finite; bounds (g + 1,): group i has the values `x[bounds[i]:bounds[i + 1]]`, at least
    one.
    """
    return QuantilesOfGroups(bounds, percents).of(x)


class QuantilesOfGroups:
    """`quantiles_of_groups` of several columns, one after the other; memory is taken once. IN: as above."""

    def __init__(self, bounds: Indices, percents: Sequence[int]) -> None:
        last = _sizes(bounds) - 1
        place = last * np.true_divide(percents, 100)
        before = np.floor(place)
        self._share, ranks = place - before, before.astype(np.int64)
        self._at_ranks = _AtRanks(bounds, np.hstack([ranks, np.minimum(ranks + 1, last)]))

    def of(self, x: Floats) -> Floats:
        """Return the quantiles of a column."""
        low, high = np.split(self._at_ranks.of(x), 2, axis=1)
        share, step = self._share, high - low
        return np.asarray(np.where(share < 0.5, low + step * share, high - step * (1 - share)))  # as numpy does it


class MediansOfGroups:
    """`medians_of_groups` of several columns, one after the other; memory is taken once. IN: as above."""

    def __init__(self, bounds: Indices) -> None:
        sizes = _sizes(bounds)
        self._at_ranks = _AtRanks(bounds, np.hstack([(sizes - 1) // 2, sizes // 2]))

    def of(self, x: Floats) -> Floats:
        """Return the medians of a column."""
        middle = self._at_ranks.of(x)
        with np.errstate(over="ignore"):
            return np.asarray((middle[:-1, 0] + middle[:-1, 1]) / 2)


def _sizes(bounds: Indices) -> Ints:
    """Return the number of values of each group, and of all last, shape (g + 1, 1)."""
    return np.append(np.diff(bounds), bounds[-1])[:, None]


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
    asked = [-(-int(reached[-1]) * percent // 100) for percent in percents]  # rounded up
    return np.asarray(x[order[np.searchsorted(reached, asked)]])


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
