"""The best threshold of several leaves at once, by passes over the rows.

The cheapest cluster of the rows on the left of a cut costs more and more as they grow in number, and that of the rows
on the right less and less. So no cut inside a bin of values costs less than the former at the bin's begin and the
latter at its end. A pass adds up costs by bin, which gives the cost of the cuts between bins; only bins that may hold
a better cut remain. These are looked into: by finer bins, or value by value once they hold few rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Ints
from boxwood.grow._expand_cuts import Cut
from boxwood.grow._expand_looks import Looks
from boxwood.grow._looks import BYTES, Parts
from boxwood.tree import between

__all__ = ["find_thresholds"]


class _Best(NamedTuple):
    """The best cut so far; the better of two is the smaller tuple, ties included."""

    cost: int
    column: int
    threshold: float
    first: int
    second: int


class _Stretch(NamedTuple):
    """A stretch of a column whose inner cuts may be the best; its rows, and those before it."""

    column: int
    low: float
    high: float
    n_rows: int
    n_before: int
    before: Ints
    bound: int  # no inner cut costs less

    @property
    def rank(self) -> tuple[int, int, float]:
        """What no inner cut is better than, to be compared with `_Best`."""
        return self.bound, self.column, self.low


def find_thresholds(looks: Looks, columns: Sequence[int], *, least_rows: int) -> None:
    """Find the best threshold of each leaf that leaves so many rows on both sides, if it gains anything."""
    _Thresholds(looks, columns, least_rows).find()


class _Thresholds:
    """The search for the best thresholds of some leaves."""

    def __init__(self, looks: Looks, columns: Sequence[int], least_rows: int) -> None:
        self.looks, self.leaves, self.costs = looks, looks.leaves, looks.costs
        self.columns, self.least_rows = columns, least_rows
        self.best: list[_Best] = []

    def find(self) -> None:
        """Find the cuts."""
        open_now, none = [], np.zeros(self.costs.n_amounts, dtype=np.int64)
        for i, (leaf, found) in enumerate(zip(self.leaves, self.looks.first(self.columns), strict=True)):
            self.best.append(_Best(int(self.costs.under(leaf.total).min()), -1, -math.inf, -1, -1))
            whole = [_Stretch(j, -np.inf, np.inf, leaf.count, 0, none, 0) for j in self.columns]
            open_now.append(self._inside(i, list(zip(whole, found, strict=True))))
        while any(open_now):
            wanted = [(i, each.column, each.low, each.high) for i, some in enumerate(open_now) for each in some]
            n_values = sum(each.n_rows for some in open_now for each in some)
            parts = iter(self.looks.into(wanted, n_values, most_bins=BYTES))
            open_now = [self._inside(i, [(each, next(parts)) for each in some]) for i, some in enumerate(open_now)]
        for leaf, best in zip(self.leaves, self.best, strict=True):
            if best.column >= 0:
                leaf.gain = (int(self.costs.under(leaf.total).min()) - best.cost) / leaf.scale
                leaf.cut = Cut(best.cost, False, best.column, -math.inf, best.threshold, best.first, best.second)

    def _inside(self, i: int, found: list[tuple[_Stretch, Parts]]) -> list[_Stretch]:
        """Take the best of the cuts between parts of stretches of a leaf, and return the parts to look into."""
        inner = []
        for stretch, parts in found:
            if len(parts.counts):
                inner += self._parted(i, stretch, parts)
        return [each for each in inner if each.rank < self.best[i][:3]]

    def _parted(self, i: int, stretch: _Stretch, parts: Parts) -> list[_Stretch]:
        leaf, best, least = self.leaves[i], self.best[i], self.least_rows
        left = stretch.before + np.cumsum(parts.sums, axis=0)
        n_left = stretch.n_before + np.cumsum(parts.counts)
        before = np.concatenate([stretch.before[None], left[:-1]])
        n_before = n_left - parts.counts
        on_right = self.costs.under(leaf.total - left).min(axis=1)
        at_ends = self.costs.under(left[:-1]).min(axis=1) + on_right[:-1]
        allowed = (n_left[:-1] >= least) & (leaf.count - n_left[:-1] >= least)
        if allowed.any():
            at = int(np.where(allowed, at_ends, np.iinfo(np.int64).max).argmin())
            threshold = float(between(parts.high[at], parts.low[at + 1]))
            here = int(at_ends[at]), stretch.column, threshold
            if here < best[:3]:
                first, second = (int(self.costs.under(side).argmin()) for side in (left[at], leaf.total - left[at]))
                self.best[i] = best = _Best(*here, first, second)
                leaf.left = int(n_left[at]), left[at]
        bounds = self.costs.under(before).min(axis=1) + on_right
        open_now = (parts.low < parts.high) & (bounds <= best.cost)
        open_now &= (n_left - 1 >= least) & (leaf.count - n_before - 1 >= least)
        return [
            _Stretch(
                stretch.column,
                float(parts.low[b]),
                float(parts.high[b]),
                int(parts.counts[b]),
                int(n_before[b]),
                before[b],
                int(bounds[b]),
            )
            for b in np.flatnonzero(open_now).tolist()
        ]
