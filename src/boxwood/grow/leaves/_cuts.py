"""The best cut of a leaf if each side goes to one cluster, and the best two or three cuts at once.

Several cuts at once are tried where no single cut saves anything, or where the best one saves little and several save
far more for each leaf. Two clusters laid out as in XOR need this; with some noise, a single cut at an edge always saves
a little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import as_integer_weights
from boxwood.grow.shared.costs import CutProblem, PartitionedOrder, PlacesOfNode, integer_costs, scale_of
from boxwood.loops.expand import (
    CODES,
    add_cells,
    best_alone,
    best_by_majority,
    best_seconds,
    best_thresholds,
    cheapest_interval,
    cheapest_threshold,
)
from boxwood.tree import between

LARGE = 1 << 14  # rows of a node from which the costs of bins are added up before those of blocks of places
NO_CODES = np.empty((0, 0), dtype=np.uint16)
_SHORT = 100_000_000  # steps of a loop that take a fraction of a second


_Found: TypeAlias = tuple[int, int, int, int, int]  # cost, column, place, and the clusters of both sides


class LeafCut(NamedTuple):
    """A cut of a node and the clusters of its two sides. Of two cuts the smaller tuple is the better one."""

    cost: int
    is_interval: bool
    feature: int
    lower: float
    upper: float
    first: int
    second: int


def best_cut(problem: CutProblem, rows: Indices, two_sided: bool) -> tuple[float, LeafCut | None]:
    """Return the cost that the best cut of the rows saves, and the cut; None if no cut saves anything."""
    if len(rows) < 2:
        return 0.0, None
    costs, scale = integer_costs(problem, rows)
    single = int(costs.sum(axis=0).min())  # cost under the best single cluster
    if single == int(costs.min(axis=1).sum()):  # one cluster is the cheapest for every row
        return 0.0, None
    best = cheapest_cut(problem, rows, costs, two_sided)
    if best is None or best.cost >= single:
        return 0.0, None
    return (single - best.cost) / scale, best


class Thresholds:
    """The search of `best_cut` for one-sided cuts, in a sorted order of columns that is partitioned down the tree.

    With `labels` the cost is the weight of mistakes; with None it is the cost of the problem.
    """

    problem: CutProblem
    order: PartitionedOrder

    def __init__(self, problem: CutProblem, order: PartitionedOrder, labels: Indices | None) -> None:
        self.problem, self.order = problem, order
        kind = np.uint8 if problem.n_clusters <= 256 else np.int32
        self.labels: NDArray[np.integer] | None = None if labels is None else labels.astype(kind)
        self.number: Array = np.empty(len(problem.rows), dtype=np.int64)  # of a row in its node, or its mass
        self.codes = order.bins(CODES) if labels is None and len(order.root) >= LARGE else NO_CODES

    def best_cut(self, rows: Indices, places: PlacesOfNode) -> tuple[float, LeafCut | None]:
        """Return the cost that the best cut of the rows saves, and the cut; None if no cut saves anything."""
        if len(rows) < 2:
            return 0.0, None
        with self.order.least_on_sides(places):
            return self._by_costs(rows, places) if self.labels is None else self._by_majority(rows, places, self.labels)

    def _by_costs(self, rows: Indices, places: PlacesOfNode) -> tuple[float, LeafCut | None]:
        costs, scale = integer_costs(self.problem, rows)
        total = costs.sum(axis=0)
        single = int(total.min())  # cost under the best single cluster
        if single == int(costs.min(axis=1).sum()):  # one cluster is the cheapest for every row
            return 0.0, None
        self.number[rows] = np.arange(len(rows))
        codes, entries = self.codes if len(rows) >= LARGE else NO_CODES, self.order.entries

        def best(first: int, last: int) -> _Found:
            cut: _Found = best_thresholds(entries, codes, rows, first, last, *places, self.number, costs, total)
            return cut

        return self._better(places, best, 1 + len(total) // 4, single, scale)

    def _by_majority(
        self, rows: Indices, places: PlacesOfNode, labels: NDArray[np.integer]
    ) -> tuple[float, LeafCut | None]:
        own = labels[rows]
        if (own == own[0]).all():
            return 0.0, None
        mass, scale = self._mass_of(rows)
        total = np.bincount(own, minlength=self.problem.n_clusters)
        if mass.size:
            total[:] = 0
            np.add.at(total, own, mass[rows])

        def best(first: int, last: int) -> _Found:
            cut: _Found = best_by_majority(self.order.entries, first, last, *places, labels, mass, total)
            return cut

        return self._better(places, best, 2, int(total.sum() - total.max()), scale)

    def _mass_of(self, rows: Indices) -> tuple[Ints, float]:
        """Return the cost of a mistake at each row, whole numbers, and their scale; an empty array if each costs 1."""
        if self.problem.rows.weights is None:
            return np.empty(0, dtype=np.int64), 1.0
        share, times = self.problem.share[rows], self.problem.times[rows]
        scale = scale_of(share * times)
        self.number[rows] = np.rint(share * scale).astype(np.int64) * times
        return self.number, scale

    def _better(
        self, places: PlacesOfNode, best: Callable[[int, int], _Found], steps: int, single: int, scale: float
    ) -> tuple[float, LeafCut | None]:
        cost, feature, place, first, second = min(self.order.by_columns(best, places, steps=steps))
        if place < 0 or cost >= single:
            return 0.0, None
        threshold = self.order.threshold(feature, place)
        return (single - cost) / scale, LeafCut(cost, False, feature, -math.inf, threshold, first, second)


def cheapest_cut(problem: CutProblem, rows: Indices, costs: Ints, two_sided: bool) -> LeafCut | None:
    """Return the cut of lowest cost, given the whole costs (n, k) of the rows; None if all rows are equal."""
    by_column = cheapest_cuts(problem, rows, costs, two_sided)
    return min((cut for cuts in by_column for cut in cuts), default=None)


def cheapest_cuts(problem: CutProblem, rows: Indices, costs: Ints, two_sided: bool) -> list[list[LeafCut]]:
    """Return the best threshold of each column that may be tested, and the best interval if `two_sided`."""
    total = costs.sum(axis=0)

    def cuts_of(feature: int) -> list[LeafCut]:
        values = problem.rows.column(feature, rows)
        order = np.argsort(values)  # the order of equal values does not matter to sums of whole numbers
        return list(_cuts(feature, values[order], order, costs, total, two_sided))

    return map_tasks(cuts_of, problem.columns, n_jobs=problem.jobs_for(rows))


def _cuts(
    feature: int, ordered: Floats, order: Indices, costs: Ints, total: Ints, two_sided: bool
) -> Iterator[LeafCut]:
    """Yield the best threshold of one column, and its best interval if `two_sided`; nothing if there is no cut."""
    cost, last, first, second = cheapest_threshold(ordered, order, costs, total)
    if last >= 0:
        upper = between(*ordered[last : last + 2].tolist())
        yield LeafCut(cost, False, feature, -math.inf, upper, first, second)
    if two_sided:
        cost, start, end, first, second = best_interval_of(ordered, order, costs, total)
        if start >= 0:
            before, begin = ordered[start - 1 : start + 1].tolist()
            lower = -between(-begin, -before)  # the end is closed, so it lies above the value before it
            yield LeafCut(cost, True, feature, lower, between(*ordered[end : end + 2].tolist()), first, second)


def best_interval_of(ordered: Floats, order: Indices, costs: Ints, total: Ints) -> tuple[int, int, int, int, int]:
    """Return the best interval; the search is divided into short calls, so that it can be interrupted in between."""
    n, k = costs.shape
    step = max(1, _SHORT // (n * k))
    arrays = ordered, order, costs, total
    intervals: list[tuple[int, int, int, int, int]] = [
        cheapest_interval(*arrays, start, min(start + step, k)) for start in range(0, k, step)
    ]
    return min(intervals)


BINS = {False: 32, True: 16}  # largest number of bins of a column, without and with intervals
CELLS, FEWEST = 1 << 22, 8  # pairs of bins of all columns, times clusters, up to which there are so many; least bins
PER_BIN, FEW_BINS = 8, 16  # different values of a column for each of its bins, where there are more than so many bins
COLUMNS = 32  # if there are more columns, only those with the cheapest cuts are searched for pairs
LITTLE = {False: 0.3, True: 0.4}  # pairs are tried if the best cut saves less than this share of what any could save
FAR_MORE = 1.25  # a pair must save this many times as much for each leaf that it adds
IN_VAIN = 2  # leaves in succession that are searched for pairs in vain before none is any more, in place of a cut
ROUNDS = 3  # largest number of times that the ends of cuts are moved to the best places between rows


class Pair(NamedTuple):
    """A first cut of a leaf, to be followed by second cuts that add `n_leaves` leaves in all; the smaller is better."""

    minus_gain: Fraction  # cost saved for each leaf, in whole costs of the node, with a minus sign
    n_leaves: int
    is_interval: bool
    feature: int
    lower: float
    upper: float
    scale: float  # factor of the whole costs

    @property
    def gain(self) -> float:
        """Cost saved for each leaf."""
        return float(-self.minus_gain * self.n_leaves) / self.scale / self.n_leaves


def best_pairs(problem: CutProblem, rows: Indices, two_sided: bool) -> list[Pair]:
    """Return the best pair that adds two leaves and the best that adds three, if they save anything.

    Both cuts lie between bins of the rows' values. A column with at most `BINS` different values has a bin for each;
    the bins of another column hold about the same weight of rows. There are fewer bins where columns and clusters are
    many.
    """
    if len(rows) < 3:
        return []
    costs, scale = integer_costs(problem, rows)
    single = int(costs.sum(axis=0).min())
    if single == int(costs.min(axis=1).sum()):  # one cluster is the cheapest for every row
        return []
    weights = as_integer_weights(problem.share[rows] * problem.times[rows])
    if not (chosen := _columns(problem, rows, costs, two_sided)):
        return []
    fitting = math.isqrt(CELLS // (len(chosen) ** 2 * costs.shape[1]))
    most = min(BINS[two_sided], max(fitting, FEWEST))
    bins = [_Bins.of(problem.rows.column(j, rows), weights, most) for j in chosen]

    def pairs_of(number: int) -> list[Pair]:
        return _pairs_along(chosen[number], number, bins, costs, single, scale, two_sided)

    by_column = map_tasks(pairs_of, range(len(chosen)), n_jobs=problem.jobs_for(rows))
    best = [min((pair for pairs in by_column for pair in pairs if pair.n_leaves == n), default=None) for n in (2, 3)]
    return [pair for pair in best if pair is not None and pair.minus_gain < 0]


def is_little(gain: float, most: float, two_sided: bool) -> bool:
    """Return whether the best cut of a leaf saves so little, of the most that any cuts save, that pairs are tried."""
    return gain < LITTLE[two_sided] * most


def best_instead(pairs: Sequence[Pair], gain: float, room: int) -> Pair | None:
    """Return the best pair that fits into the room, if it saves far more for each leaf than the best cut."""
    return min((pair for pair in pairs if pair.n_leaves <= room and pair.gain > FAR_MORE * gain), default=None)


def cuts_of_pair(
    problem: CutProblem, rows: Indices, pair: Pair, two_sided: bool
) -> tuple[LeafCut, LeafCut | None, LeafCut | None]:
    """Return the first cut, and the second cuts of the rows inside and outside; None where a side is not cut.

    Second cuts are the best of all. Then the first cut is moved to the best place above them, and they are chosen
    again, as long as this lowers the cost; where each value of a column had a bin of its own, nothing moves.
    """
    costs, _ = integer_costs(problem, rows)
    best = _seconds(problem, rows, costs, pair.feature, (pair.lower, pair.upper), pair.n_leaves, two_sided)
    for _ in range(ROUNDS):
        ends = _moved_ends(problem, rows, costs, best)
        moved = _seconds(problem, rows, costs, pair.feature, ends, pair.n_leaves, two_sided)
        if moved.cost >= best.cost:
            break
        best = moved
    return best.first, best.inside, best.outside


# ---------------------------------------------------------------------------------------------------- in bins
class _Bins(NamedTuple):
    """The bin of each row in one column, and the lowest and highest value of each bin."""

    of_rows: Indices
    low: Floats
    high: Floats

    @classmethod
    def of(cls, values: Floats, weights: Ints, most: int) -> _Bins:
        distinct, position = np.unique(values, return_inverse=True)
        if len(distinct) <= most:
            return cls(position, distinct, distinct)
        most = min(most, max(len(distinct) // PER_BIN, FEW_BINS))
        mass = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(mass, position, weights)
        below = np.cumsum(mass) - mass
        number = np.unique(np.floor(below / mass.sum() * most), return_inverse=True)[1]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        return cls(number[position], distinct[starts], distinct[np.append(starts[1:], len(distinct)) - 1])

    def __len__(self) -> int:
        return len(self.low)

    def ends(self, start: int, stop: int) -> tuple[float, float]:
        """Return lower and upper end of the cut that takes the bins from `start` to `stop - 1`."""
        upper = between(float(self.high[stop - 1]), float(self.low[stop]))
        lower = -math.inf if start == 0 else -between(-float(self.low[start]), -float(self.high[start - 1]))
        return lower, upper


def _columns(problem: CutProblem, rows: Indices, costs: Ints, two_sided: bool) -> list[int]:
    """Return the columns that are searched for pairs of cuts; ties go to the lowest."""
    if len(problem.columns) <= COLUMNS:
        return list(problem.columns)
    best = sorted(min(cuts) for cuts in cheapest_cuts(problem, rows, costs, two_sided) if cuts)
    chosen = sorted(best, key=lambda cut: (cut.cost, cut.feature))[:COLUMNS]
    return sorted(cut.feature for cut in chosen)


def _pairs_along(
    feature: int, number: int, bins: list[_Bins], costs: Ints, single: int, scale: float, two_sided: bool
) -> list[Pair]:
    """Return the best pairs of two and of three leaves whose first cut is along one column."""
    own, k = bins[number], costs.shape[1]
    starts, stops = _first_cuts(len(own), two_sided)
    if not len(starts):
        return []
    alone, best = np.empty((len(starts), 2), dtype=np.int64), np.empty((len(starts), 2), dtype=np.int64)
    for i, other in enumerate(bins):
        sums = np.zeros((len(own) + 1, len(other), k), dtype=np.int64)
        add_cells(own.of_rows, other.of_rows, costs, sums)
        if i == 0:
            best_alone(sums, starts, stops, alone)
            best[:] = alone
        best_seconds(sums, starts, stops, two_sided, best)
    pairs = []
    for n, by_cut in (2, np.minimum(alone[:, 0] + best[:, 1], best[:, 0] + alone[:, 1])), (3, best.sum(axis=1)):
        f = int(by_cut.argmin())
        gain = Fraction(single - int(by_cut[f]), n)
        ends = own.ends(int(starts[f]), int(stops[f]))
        pairs.append(Pair(-gain, n, bool(starts[f] > 0), feature, *ends, scale))
    return pairs


def _first_cuts(n_bins: int, two_sided: bool) -> tuple[Indices, Indices]:
    """Return the first bin inside of each cut and the bin behind the last: thresholds, then inner intervals."""
    thresholds = [(0, stop) for stop in range(1, n_bins)]
    intervals = [(start, stop) for start in range(1, n_bins) for stop in range(start + 1, n_bins)]
    ends = np.array(thresholds + (intervals if two_sided else []), dtype=np.intp).reshape(-1, 2)
    return np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])


# ---------------------------------------------------------------------------------------------------- between rows
class _CutPair(NamedTuple):
    """A first cut with its second cuts, and the cost of all leaves."""

    first: LeafCut
    inside: LeafCut | None
    outside: LeafCut | None
    is_inside: Bools
    cost: int


def _seconds(
    problem: CutProblem,
    rows: Indices,
    costs: Ints,
    feature: int,
    ends: tuple[float, float],
    n_leaves: int,
    two_sided: bool,
) -> _CutPair:
    """Return a first cut with the best second cuts below it: one, in the side where it saves more, or two."""
    is_inside = problem.rows.is_first(rows, feature, *ends)
    sums = [costs[side].sum(axis=0) for side in (is_inside, ~is_inside)]
    clusters, alone = ([int(total.argmin()) for total in sums], [int(total.min()) for total in sums])
    cuts = [cheapest_cut(problem, rows[side], costs[side], two_sided) for side in (is_inside, ~is_inside)]
    saved = [0 if cut is None else without - cut.cost for cut, without in zip(cuts, alone, strict=True)]
    if n_leaves == 2:
        cuts[saved[0] >= saved[1]] = None  # the second side, unless it saves more
    first = LeafCut(sum(alone), ends[0] > -math.inf, feature, *ends, *clusters)
    cost = sum(without if cut is None else cut.cost for cut, without in zip(cuts, alone, strict=True))
    return _CutPair(first, cuts[0], cuts[1], is_inside, cost)


def _moved_ends(problem: CutProblem, rows: Indices, costs: Ints, cuts: _CutPair) -> tuple[float, float]:
    """Return the cheapest ends of the first cut, with the second cuts fixed."""
    first = cuts.first
    inside = _leaf_costs(problem, rows, costs, cuts.inside, first.first)
    outside = _leaf_costs(problem, rows, costs, cuts.outside, first.second)
    distinct, position = np.unique(problem.rows.column(first.feature, rows), return_inverse=True)
    change = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(change, position, inside - outside)
    sums = np.cumsum(change)
    own = _Bins(position, distinct, distinct)
    if not first.is_interval:
        return own.ends(0, int(sums[:-1].argmin()) + 1)
    highest = np.maximum.accumulate(sums[:-2])  # over the values below the start
    stop = int((sums[1:-1] - highest).argmin()) + 1  # the last value inside
    return own.ends(int(sums[:stop].argmax()) + 1, stop + 1)


def _leaf_costs(problem: CutProblem, rows: Indices, costs: Ints, cut: LeafCut | None, cluster: int) -> Ints:
    """Return the cost of each row if it goes to one side of the first cut."""
    if cut is None:
        return costs[:, cluster]
    is_first = problem.rows.is_first(rows, cut.feature, cut.lower, cut.upper)
    return np.where(is_first, costs[:, cut.first], costs[:, cut.second])
