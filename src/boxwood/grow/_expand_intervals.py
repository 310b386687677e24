"""The best threshold or interval of several leaves at once, by passes over the rows.

An interval that begins in one part of a column and ends in another has all parts between them inside, and all parts
before and behind them outside. No such interval costs less than these rows do under the cheapest cluster for those
inside and the cheapest one for those outside. Only parts are looked into in which a better cut may begin or end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from boxwood._types import Bools, Ints
from boxwood.grow._expand_cuts import Cut, best_interval_of
from boxwood.grow._expand_looks import Looks
from boxwood.grow._looks import Parts
from boxwood.loops.expand import best_threshold
from boxwood.loops.in_bins import mark_open
from boxwood.tree import between

__all__ = ["find_intervals"]


FINER = 4096  # bins of all columns that are looked into, as the time for a column grows with the square of its own


@dataclass(eq=False)
class _Column:
    """A column of a leaf: all its parts, and which of them are to be looked into.

    Parts that hold no better cut than one that is known never will, so only some parts may come to be looked into.
    """

    column: int
    parts: Parts
    open_now: Bools
    may_open: Bools


def find_intervals(looks: Looks, columns: Sequence[int]) -> None:
    """Find the best cut of each leaf, if it gains anything."""
    found = [_Intervals(looks, i, columns, parts) for i, parts in enumerate(looks.first(columns))]
    while wanted := [stretch for each in found for stretch in each.wanted()]:
        n_values = sum(n_rows for _, n_rows in wanted)
        following = iter(looks.into([stretch for stretch, _ in wanted], n_values, most_bins=FINER))
        for each in found:
            each.refine(following)
    for each in found:
        each.finish()


class _Intervals:
    """The search for the best cut of one leaf."""

    def __init__(self, looks: Looks, i: int, columns: Sequence[int], parts: Sequence[Parts]) -> None:
        self.i, self.leaf, self.costs = i, looks.leaves[i], looks.costs
        self.single = int(self.costs.under(self.leaf.total).min())
        self.best = Cut(self.single, False, -1, -math.inf, -math.inf, -1, -1)
        self.columns = [
            _Column(j, own, np.zeros(len(own.counts), dtype=np.bool_), own.low < own.high)
            for j, own in zip(columns, parts, strict=True)
        ]
        self._open()

    def wanted(self) -> Iterator[tuple[tuple[int, int, float, float], int]]:
        """Yield the stretches that are to be looked into, and their numbers of rows."""
        for each in self.columns:
            for b in np.flatnonzero(each.open_now).tolist():
                low, high = float(each.parts.low[b]), float(each.parts.high[b])
                yield (self.i, each.column, low, high), int(each.parts.counts[b])

    def refine(self, following: Iterator[Parts]) -> None:
        """Take finer parts for those that were looked into."""
        for each in self.columns:
            if not each.open_now.any():
                continue
            places = np.flatnonzero(each.open_now).tolist()
            finer, kept = [next(following) for _ in places], [0, *(place + 1 for place in places)]
            ends = zip(kept, [*places, None], strict=True)
            pieces = [Parts._make(one[slice(*both)] for one in each.parts) for both in ends]
            in_order = [pieces[0], *(part for pair in zip(finer, pieces[1:], strict=True) for part in pair)]
            is_new = np.concatenate([np.full(len(one.counts), i % 2 == 1) for i, one in enumerate(in_order)])
            each.parts = Parts._make(np.concatenate(some) for some in zip(*in_order, strict=True))
            each.may_open = is_new & (each.parts.low < each.parts.high)
            each.open_now = np.zeros(len(is_new), dtype=np.bool_)
        self._open()

    def finish(self) -> None:
        """Note the best cut."""
        if self.best.feature >= 0:
            self.leaf.gain, self.leaf.cut = (self.single - self.best.cost) / self.leaf.scale, self.best

    def _open(self) -> None:
        """Take the best of the cuts between parts, and note the parts that may hold a better one."""
        total = self.costs.under(self.leaf.total)
        for each in self.columns:
            self._take(each, np.ascontiguousarray(self.costs.under(each.parts.sums)), total)
        for each in self.columns:
            each.open_now[:] = False
            if each.may_open.any():
                self._mark(each, np.ascontiguousarray(self.costs.under(each.parts.sums)), total)

    def _mark(self, column: _Column, under: Ints, total: Ints) -> None:
        """Mark the parts of a column that may hold a better cut. Where costs are equal, one that begins earlier is."""
        parts, j, best = column.parts, column.column, self.best
        before = [-math.inf, *parts.high[:-1].tolist()]
        two_sided = np.array([(True, j, low) < best[1:4] for low in before], dtype=np.bool_)
        one_sided = np.array([(False, j, -math.inf, low) < best[1:5] for low in parts.low.tolist()], dtype=np.bool_)
        mark_open(under, total, best.cost, ~column.may_open, one_sided, two_sided, column.open_now)

    def _take(self, column: _Column, under: Ints, total: Ints) -> None:
        """Take the best cut between parts of a column, if it is better than the best so far."""
        parts, ranks = column.parts, np.arange(len(column.parts.counts))
        if len(ranks) < 2:
            return
        cost, last, first, second = best_threshold(parts.low, ranks, under, total)
        upper = float(between(parts.high[last], parts.low[last + 1]))
        self._keep(Cut(int(cost), False, column.column, -math.inf, upper, int(first), int(second)), parts, 0, last)
        if len(ranks) > 2:
            cost, start, end, first, second = best_interval_of(parts.low, ranks, under, total)
            lower = -float(between(-parts.low[start], -parts.high[start - 1]))  # it is closed: above the value before
            upper = float(between(parts.high[end], parts.low[end + 1]))
            self._keep(Cut(int(cost), True, column.column, lower, upper, int(first), int(second)), parts, start, end)

    def _keep(self, cut: Cut, parts: Parts, start: int, end: int) -> None:
        """Keep a cut that takes the parts from `start` to `end` if it is the best."""
        if cut < self.best:
            self.best = cut
            inside = slice(start, end + 1)
            self.leaf.left = int(parts.counts[inside].sum()), parts.sums[inside].sum(axis=0)
