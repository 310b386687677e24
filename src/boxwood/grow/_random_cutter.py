"""`RandomCutter`: centres prepared for drawing many random trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._types import Floats, Ints
from boxwood._validation import as_table, listed, refuse_unknown
from boxwood.errors import DataError
from boxwood.loops import random_cuts as fast_loops
from boxwood.loops import random_cuts_exact as exact_loops
from boxwood.loops.random_cuts import L1, L2, SQEUCLIDEAN, prefix_masses
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["OBJECTIVES", "RandomCutter"]

OBJECTIVES = {"l1": L1, "l2": L2, "sqeuclidean": SQEUCLIDEAN}
_VARIANTS = ("fast", "exact")
_MEDIANS = ("midpoint", "lower")
_SAFE = (1e-100, 1e100)  # squares of numbers in this range are neither infinite nor zero


@dataclass(frozen=True, eq=False)
class RandomCutter:
    """Centres prepared for drawing many trees: their order on each axis, and the measure of the cuts between them."""

    objective: int
    exact: bool
    lower_median: bool
    unit: float
    values: Floats  # (d, k) in ascending order, in units of `unit`
    mass: Floats  # (d, k) measure of the cuts below each value, in two parts
    rest: Floats
    order: NDArray[np.int32]  # (d, k)
    rank: NDArray[np.int32]  # (d, k)
    ends: Ints  # (k - 1, 2) edges of a smallest spanning tree; none unless `exact`
    lengths: Floats

    @classmethod
    def of(
        cls, centers: ArrayLike, *, objective: str = "l1", variant: str = "fast", median: str = "midpoint"
    ) -> RandomCutter:
        """Return the centres prepared for `random_cuts` with these parameters."""
        refuse_unknown("objective", objective, tuple(OBJECTIVES))
        refuse_unknown("variant", variant, _VARIANTS)
        refuse_unknown("median", median, _MEDIANS)
        points, unit = _in_units(np.array(as_table(centers), dtype=np.float64))
        _refuse_equal(points)
        code = OBJECTIVES[objective]
        order = np.argsort(points.T, axis=1, kind="stable")
        values = np.take_along_axis(points.T, order, axis=1)
        rank = np.empty_like(order, dtype=np.int32)
        np.put_along_axis(rank, order, np.arange(len(points), dtype=np.int32)[None], axis=1)
        mass, rest = values, np.zeros_like(values)
        if code == SQEUCLIDEAN:
            mass = np.empty_like(values)
            prefix_masses(values, mass, rest)
        exact = variant == "exact" and code != L2
        edges = _edges(mass, rest, rank) if exact else (np.empty((0, 2), np.int64), np.empty(0))
        return cls(code, exact, median == "lower", unit, values, mass, rest, order.astype(np.int32), rank, *edges)

    def draw(self, random: np.random.Generator) -> ThresholdTree:
        """Return one random tree."""
        k = self.values.shape[1]
        uniforms = random.random((k - 1, 2))
        node, feature, rank = (np.empty(k - 1, dtype=np.int64) for _ in range(3))
        offset, cluster = np.empty(k - 1), np.full(2 * k - 1, -1, dtype=np.int64)
        loops = exact_loops if self.exact else fast_loops
        cuts = loops.DrawnCuts(node, feature, rank, offset, cluster)
        centers = loops.SortedCenters(self.values, self.mass, self.rest, self.order, self.rank)
        if self.exact:
            exact_loops.draw_rounds(centers, exact_loops.Edges(self.ends, self.lengths), uniforms, cuts)
        else:
            fast_loops.draw_cuts(self.objective, self.lower_median, centers, uniforms, cuts)
        return _built(node, feature, self._thresholds(feature, rank, offset), cluster)

    def _thresholds(self, feature: Ints, rank: Ints, offset: Floats) -> Floats:
        """Return the thresholds: `offset` is the measure from the value of a rank on, or under L2 the threshold itself.

        Thresholds are clipped in the units of the centres, as the product with the unit may round to the next centre.
        """
        left, right = self.values[feature, rank], self.values[feature, rank + 1]
        cuts = offset if self.objective == L2 else self._beyond(left, right, offset)
        return np.clip(cuts * self.unit, left * self.unit, np.nextafter(right * self.unit, -np.inf))

    def _beyond(self, left: Floats, right: Floats, offset: Floats) -> Floats:
        """Return the thresholds such that the cuts from `left` to them have measure `offset`; NaN gives the middle."""
        if self.objective == L1:
            cuts = left + offset
        else:  # the density is the distance to the nearer end
            half = (right - left) ** 2 / 4
            beyond = np.sqrt(np.maximum(2 * half - offset, 0))
            cuts = np.where(offset <= half, left + np.sqrt(np.minimum(offset, half)), right - beyond)
        return np.where(np.isnan(offset), left + (right - left) / 2, cuts)


def _built(node: Ints, feature: Ints, threshold: Floats, cluster: Ints) -> ThresholdTree:
    builder = TreeBuilder()
    for number, j, cut in zip(node.tolist(), feature.tolist(), threshold.tolist(), strict=True):
        builder.split(number, j, cut)
    for leaf in np.flatnonzero(cluster >= 0).tolist():
        builder.label(leaf, int(cluster[leaf]))
    return builder.build()


def _in_units(points: Floats) -> tuple[Floats, float]:
    """Return the points divided by a unit, and the unit: a power of two such that squares and sums are finite."""
    largest = float(np.abs(points).max())
    if largest == 0 or _SAFE[0] <= largest <= _SAFE[1]:
        return points, 1.0
    unit = float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1))
    return points / unit, unit


def _refuse_equal(points: Floats) -> None:
    _, group = np.unique(points, axis=0, return_inverse=True)
    group = group.reshape(-1)
    shared = np.flatnonzero(np.bincount(group) > 1)
    if len(shared):
        sets = [" and ".join(map(str, np.flatnonzero(group == g))) for g in shared[:3]]
        more = ["..."] if len(shared) > 3 else []
        raise DataError(f"centres with equal coordinates, which no cut separates: {listed(sets + more)}; merge them")


def _edges(mass: Floats, rest: Floats, rank: NDArray[np.int32]) -> tuple[Ints, Floats]:
    """Return a smallest spanning tree of the centres in the measure of cuts, shortest edge first."""
    k = rank.shape[1]
    ends, lengths = np.empty((k - 1, 2), dtype=np.int64), np.empty(k - 1)
    high, low = (np.ascontiguousarray(np.take_along_axis(part, rank, axis=1).T) for part in (mass, rest))
    exact_loops.spanning_edges(high, low, ends, lengths)
    order = np.argsort(lengths, kind="stable")
    return ends[order], lengths[order]
