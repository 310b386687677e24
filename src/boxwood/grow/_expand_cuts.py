"""The best cut of a node, if each of its sides goes to one cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks
from boxwood._types import Floats, Indices, Ints
from boxwood.grow._costs import Problem, scale_of, whole_costs
from boxwood.grow._order import PartedOrder, Places
from boxwood.loops.expand import best_by_majority, best_interval, best_threshold, best_thresholds
from boxwood.tree import between

__all__ = ["Cut", "Thresholds", "best_cut", "best_interval_of", "cheapest_cut", "cheapest_cuts"]

_SHORT = 100_000_000  # steps of a loop that take a fraction of a second


_Found: TypeAlias = tuple[int, int, int, int, int]  # cost, column, place, and the clusters of both sides


class Cut(NamedTuple):
    """A cut of a node and the clusters of its two sides; the better of two is the smaller tuple, ties included."""

    cost: int
    is_interval: bool
    feature: int
    lower: float
    upper: float
    first: int
    second: int


def best_cut(problem: Problem, rows: Indices, two_sided: bool) -> tuple[float, Cut | None]:
    """Return the cost that the best cut of the rows saves, and the cut; None if no cut saves anything."""
    if len(rows) < 2:
        return 0.0, None
    costs, scale = whole_costs(problem, rows)
    single = int(costs.sum(axis=0).min())  # cost under the best single cluster
    if single == int(costs.min(axis=1).sum()):  # one cluster is the cheapest for every row
        return 0.0, None
    best = cheapest_cut(problem, rows, costs, two_sided)
    if best is None or best.cost >= single:
        return 0.0, None
    return (single - best.cost) / scale, best


class Thresholds:
    """The search of `best_cut` for one-sided cuts, along columns whose order is parted down the tree.

    Labels are those that mistakes are counted by; None takes the costs of the problem.
    """

    def __init__(self, problem: Problem, order: PartedOrder, labels: Indices | None) -> None:
        self.problem, self.order = problem, order
        kind = np.uint8 if problem.n_clusters <= 256 else np.int32
        self.labels: NDArray[np.integer] | None = None if labels is None else labels.astype(kind)
        self.number = np.empty(len(problem.rows), dtype=np.int64)  # of a row in its node, or its mass

    def best_cut(self, rows: Indices, places: Places) -> tuple[float, Cut | None]:
        """Return the cost that the best cut of the rows saves, and the cut; None if no cut saves anything."""
        if len(rows) < 2:
            return 0.0, None
        with self.order.least_on_sides(places):
            return self._by_costs(rows, places) if self.labels is None else self._by_majority(rows, places, self.labels)

    def _by_costs(self, rows: Indices, places: Places) -> tuple[float, Cut | None]:
        costs, scale = whole_costs(self.problem, rows)
        total = costs.sum(axis=0)
        single = int(total.min())  # cost under the best single cluster
        if single == int(costs.min(axis=1).sum()):  # one cluster is the cheapest for every row
            return 0.0, None
        self.number[rows] = np.arange(len(rows))

        def best(first: int, last: int) -> _Found:
            found: _Found = best_thresholds(self.order.entries, first, last, *places, self.number, costs, total)
            return found

        return self._better(places, best, 1 + len(total) // 4, single, scale)

    def _by_majority(self, rows: Indices, places: Places, labels: NDArray[np.integer]) -> tuple[float, Cut | None]:
        own = labels[rows]
        if (own == own[0]).all():
            return 0.0, None
        mass, scale = self._mass_of(rows)
        total = np.bincount(own, minlength=self.problem.n_clusters)
        if mass.size:
            total[:] = 0
            np.add.at(total, own, mass[rows])

        def best(first: int, last: int) -> _Found:
            found: _Found = best_by_majority(self.order.entries, first, last, *places, labels, mass, total)
            return found

        return self._better(places, best, 2, int(total.sum() - total.max()), scale)

    def _mass_of(self, rows: Indices) -> tuple[Ints, float]:
        """Return what a mistake costs by row, as a whole number, and its scale; an empty array where each costs 1."""
        if self.problem.rows.weights is None:
            return np.empty(0, dtype=np.int64), 1.0
        share, times = self.problem.share[rows], self.problem.times[rows]
        scale = scale_of(share * times)
        self.number[rows] = np.rint(share * scale).astype(np.int64) * times
        return self.number, scale

    def _better(
        self, places: Places, best: Callable[[int, int], _Found], steps: int, single: int, scale: float
    ) -> tuple[float, Cut | None]:
        cost, feature, place, first, second = min(self.order.by_columns(best, places, steps=steps))
        if place < 0 or cost >= single:
            return 0.0, None
        threshold = self.order.threshold(feature, place)
        return (single - cost) / scale, Cut(cost, False, feature, -math.inf, threshold, first, second)


def cheapest_cut(problem: Problem, rows: Indices, costs: Ints, two_sided: bool) -> Cut | None:
    """Return the cut of lowest cost, given the whole costs (n, k) of the rows; None if all rows are equal."""
    by_column = cheapest_cuts(problem, rows, costs, two_sided)
    return min((cut for cuts in by_column for cut in cuts), default=None)


def cheapest_cuts(problem: Problem, rows: Indices, costs: Ints, two_sided: bool) -> list[list[Cut]]:
    """Return for each column that may be tested its best threshold, and its best interval if `two_sided`."""
    total = costs.sum(axis=0)

    def cuts_of(feature: int) -> list[Cut]:
        values = problem.rows.column(feature, rows)
        order = np.argsort(values)  # the order of equal values does not matter to sums of whole numbers
        return list(_cuts(feature, values[order], order, costs, total, two_sided))

    return map_tasks(cuts_of, problem.columns, n_jobs=problem.jobs_for(rows))


def _cuts(
    feature: int,
    ordered: Floats,
    order: Indices,
    costs: Ints,
    total: Ints,
    two_sided: bool,
) -> Iterator[Cut]:
    """Yield the best threshold of one column, and its best interval if `two_sided`; nothing if there is no cut."""
    cost, last, first, second = best_threshold(ordered, order, costs, total)
    if last >= 0:
        upper = between(*ordered[last : last + 2].tolist())
        yield Cut(cost, False, feature, -math.inf, upper, first, second)
    if two_sided:
        cost, start, end, first, second = best_interval_of(ordered, order, costs, total)
        if start >= 0:
            before, begin = ordered[start - 1 : start + 1].tolist()
            lower = -between(-begin, -before)  # the end is closed, so it lies above the value before it
            yield Cut(cost, True, feature, lower, between(*ordered[end : end + 2].tolist()), first, second)


def best_interval_of(ordered: Floats, order: Indices, costs: Ints, total: Ints) -> tuple[int, int, int, int, int]:
    """Return the best interval; the search is cut into short calls, so that an interrupt is heard between two."""
    n, k = costs.shape
    step = max(1, _SHORT // (n * k))
    arrays = ordered, order, costs, total
    intervals: list[tuple[int, int, int, int, int]] = [
        best_interval(*arrays, start, min(start + step, k)) for start in range(0, k, step)
    ]
    return min(intervals)
