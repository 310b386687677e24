"""Means and variances of clusters that depend neither on the order of rows nor on how they are divided into blocks.

The ranges of the clusters give a grid, on which the rows add up exactly. So there are three passes: ranges, sums of
rows, sums of squared differences to the means. The same three give the same numbers for rows in memory and in batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from boxwood._threads import fold_blocks, map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Weights
from boxwood.batches.batches import Block
from boxwood.batches.source import Summary
from boxwood.loops.sums import SPLIT, add_parts, add_squares, widen

_BITS = 53  # of the result that the parts must keep at least
_LEAST_UNIT = 1000  # units are not below 2**-1000, so that none of them is rounded


class Grid(NamedTuple):
    """What the parts of a sum are multiples of; depends on the number and the weights of the rows that count."""

    n_rows: int
    heaviest: float = 1.0  # weight of a row
    lightest: float = 1.0  # weight above 0 of a row

    @classmethod
    def of(cls, kept: Bools, weights: Weights) -> Grid:
        """Return the grid for some of the rows in memory; none of them weighs 0."""
        n_rows = int(np.count_nonzero(kept))
        if weights is None or n_rows == 0:
            return cls(n_rows)
        counted = weights[kept]
        return cls(n_rows, float(counted.max()), float(counted.min()))

    @property
    def weight_exponent(self) -> int:
        """The least e so that no weight is above 2**e; 0 where rows are not weighed."""
        return 0 if self.heaviest == 1.0 else int(_exponents(np.array(self.heaviest)))

    @property
    def scale(self) -> float:
        """The factor that brings weights to at most 1."""
        return math.ldexp(1.0, -self.weight_exponent)

    def units(self) -> Floats:
        """Return the units of the parts of a sum, descending.

        There are three of them for up to 16 million rows that all weigh the same, and more where light rows far away
        must be told from rounding.
        """
        bits = self.n_rows.bit_length() + 1
        spread = math.frexp(self.heaviest)[1] - math.frexp(self.lightest)[1] if self.lightest < self.heaviest else 0
        n_parts = max(3, -(-(_BITS + bits + spread) // (52 - bits)))
        n_parts = min(n_parts, _LEAST_UNIT // (52 - bits))
        return np.ldexp(1.0, [-(part + 1) * (52 - bits) for part in range(n_parts)])


class Ranges(NamedTuple):
    """What must be known of the rows of clusters before they are added up."""

    least: Floats  # (k, d), infinite for a cluster without rows, like `most`
    most: Floats
    grid: Grid

    @classmethod
    def of(cls, X: Array, labels: Indices, k: int, weights: Weights, n_jobs: int | None) -> Ranges:
        """Return the ranges of rows in memory; labels are -1 for rows of weight 0."""
        return cls(*ranges_of(X, labels, k, n_jobs), Grid.of(labels >= 0, weights))


class Means(NamedTuple):
    """Weights and means of clusters."""

    weights: Floats  # (k,), 0 for a cluster without rows
    mean: Floats  # (k, d), NaN for a cluster without rows
    rest: Floats  # (k, d), what the mean lacks


class RowSums:
    """Sums of the weighted rows of each cluster: a summary of blocks (values, labels, weights)."""

    ranges: Ranges
    units: Floats
    scales: Array
    scale: float
    sums: Floats
    totals: Floats

    def __init__(self, ranges: Ranges) -> None:
        self.ranges, self.units = ranges, ranges.grid.units()
        self.exponents: Indices = _exponents(np.maximum(ranges.most, -ranges.least))
        self.scales, self.scale = np.ldexp(1.0, -self.exponents), ranges.grid.scale
        k, d = ranges.least.shape
        self.sums, self.totals = np.zeros((k, len(self.units), d)), np.zeros((k, len(self.units)))

    def update(self, block: tuple[Array, Indices, Weights]) -> None:
        """Add a block of rows."""
        X, labels, weights = block
        weights = np.empty(0) if weights is None else weights
        add_parts(X, labels, weights, self.scales, self.scale, self.units, self.sums, self.totals)

    def merge(self, other: RowSums) -> None:
        """Add other sums; they are of the same ranges."""
        self.sums += other.sums
        self.totals += other.totals

    def means(self) -> Means:
        """Return weights and means.

        Clusters of equal rows have equal means, and rows that are all equal are their own mean.
        """
        least, most = self.ranges.least, self.ranges.most
        totals = self.totals[:, :, None]
        total = add_smallest_first(totals)
        total[total == 0] = np.nan
        mean = add_smallest_first(self.sums) / total
        rest = (_less_product(self.sums, mean, total) - mean * _less_product(totals, total, np.ones(1))) / total
        with np.errstate(over="ignore"):
            mean, rest = np.ldexp(mean, self.exponents), np.ldexp(rest, self.exponents)
            weights = np.ldexp(np.nan_to_num(total[:, 0]), self.ranges.grid.weight_exponent)
        equal = least == most
        return Means(weights, np.where(equal, least, mean) + 0.0, np.where(equal, 0.0, rest))  # -0.0 is 0.0


class SquareSums:
    """Sums of weighted squared differences to the mean of each cluster: a summary of blocks.

    The sums have a relative error of at most 8 * 2**-53: they are made of terms that are none of them negative.
    """

    grid: Grid
    units: Floats
    scales: Array
    scale: float
    mean: Floats
    rest: Floats
    sums: Floats

    def __init__(self, ranges: Ranges, means: Means) -> None:
        self.grid, self.units = ranges.grid, ranges.grid.units()
        mean, rest = np.nan_to_num(means.mean), np.nan_to_num(means.rest)
        with np.errstate(invalid="ignore"):
            farthest = np.maximum(ranges.most / 2 - mean / 2, mean / 2 - ranges.least / 2)
        self.exponents: Array = _exponents(farthest) + 1
        self.scales, self.scale = np.ldexp(1.0, -self.exponents), self.grid.scale
        self.mean, self.rest = mean * self.scales, rest * self.scales
        self.sums = np.zeros((len(mean), len(self.units), mean.shape[1]))

    def update(self, block: tuple[Array, Indices, Weights]) -> None:
        """Add a block of rows."""
        X, labels, weights = block
        weights = np.empty(0) if weights is None else weights
        add_squares(X, labels, weights, self.mean, self.rest, self.scales, self.scale, self.units, self.sums)

    def merge(self, other: SquareSums) -> None:
        """Add other sums; they are about the same means."""
        self.sums += other.sums

    def squares(self) -> Floats:
        """Return the sums, shape (k, d); 0 for a cluster without rows."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(add_smallest_first(self.sums), 2 * self.exponents + self.grid.weight_exponent))

    def deviations(self, weights: Floats) -> Floats:
        """Return the standard deviations of clusters of these weights, shape (k, d); none is out of range."""
        total = np.ldexp(weights, -self.grid.weight_exponent)[:, None]
        return np.asarray(np.ldexp(np.sqrt(add_smallest_first(self.sums) / total), self.exponents))


S = TypeVar("S", bound=Summary[Block])


def scaling_of(ranges: Ranges, means: Means, squares: SquareSums) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column, of rows that are one cluster; 1 for a constant column."""
    scale = squares.deviations(means.weights)[0]
    is_constant = ranges.least[0] == ranges.most[0]
    return (means.mean + means.rest)[0], np.where(is_constant | (scale == 0), 1.0, scale)


def unit_scaling_of(X: Array, weights: Weights) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column of rows in memory; 1 for a constant column."""
    labels = np.zeros(len(X), dtype=np.intp) if weights is None else np.where(weights > 0, 0, -1)
    ranges, means = ranged_means_of(X, labels, 1, weights, -1)
    return scaling_of(ranges, means, fold_rows(X, labels, weights, lambda: SquareSums(ranges, means)))


def means_of(X: Array, labels: Indices, k: int, weights: Weights, n_jobs: int | None = -1) -> tuple[Floats, Floats]:
    """Return the means of clusters as a double and what it lacks, both of shape (k, d); NaN for a cluster without rows.

    Labels are -1 for rows of weight 0. Takes one pass for the ranges and one for the sums.
    """
    _, means = ranged_means_of(X, labels, k, weights, n_jobs)
    return means.mean, means.rest


def squares_of(X: Array, labels: Indices, k: int, weights: Weights, n_jobs: int | None = -1) -> tuple[Means, Floats]:
    """Return weights and means of clusters, and sums of weighted squared differences to the means, shape (k, d).

    Labels are -1 for rows of weight 0. Takes three passes.
    """
    ranges, means = ranged_means_of(X, labels, k, weights, n_jobs)
    return means, squares_about(X, labels, weights, ranges, means, n_jobs)


def ranged_means_of(X: Array, labels: Indices, k: int, weights: Weights, n_jobs: int | None) -> tuple[Ranges, Means]:
    """Return ranges, and weights and means, of clusters; labels are -1 for rows of weight 0. Takes two passes."""
    ranges = Ranges.of(X, labels, k, weights, n_jobs)
    return ranges, _means(X, labels, weights, ranges, n_jobs)


def squares_about(
    X: Array, labels: Indices, weights: Weights, ranges: Ranges, means: Means, n_jobs: int | None
) -> Floats:
    """Return the sums of squared differences to the means that `ranged_means_of` found. Takes one pass."""
    return fold_rows(X, labels, weights, lambda: SquareSums(ranges, means), n_jobs).squares()


def ranges_of(X: Array, labels: Indices, k: int, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Return the least and the most value of each cluster and column; infinite for a cluster without rows."""
    shape = k, X.shape[1]

    def work(start: int, stop: int) -> tuple[Floats, Floats]:
        least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
        widen(X[start:stop], labels[start:stop], least, most)
        return least, most

    least, most = zip(*map_blocks(work, len(X), n_jobs=n_jobs), strict=True)
    return np.min(least, axis=0), np.max(most, axis=0)


def _means(X: Array, labels: Indices, weights: Weights, ranges: Ranges, n_jobs: int | None) -> Means:
    return fold_rows(X, labels, weights, lambda: RowSums(ranges), n_jobs).means()


def fold_rows(X: Array, labels: Indices, weights: Weights, make: Callable[[], S], n_jobs: int | None = -1) -> S:
    """Return one summary of all rows in memory."""

    def work(summary: S, start: int, stop: int) -> None:
        block_weights = None if weights is None else weights[start:stop]
        summary.update(Block(X[start:stop], labels[start:stop], block_weights))

    first, *others = fold_blocks(work, len(X), make, n_jobs=n_jobs)
    for other in others:
        first.merge(other)
    return first


def _exponents(largest: Floats) -> Indices:
    """Return for each number the least e, whose power of two has an inverse, so that it is not above 2**e."""
    return np.asarray(np.clip(np.frexp(np.where(np.isfinite(largest), largest, 1.0))[1], -1022, 1024))


def add_smallest_first(parts: Floats) -> Floats:
    """Return the sum of the parts, shape (k, p, d), the smallest first."""
    total = np.zeros(parts[:, 0].shape)
    for part in range(parts.shape[1] - 1, -1, -1):
        total += parts[:, part]
    return total


def _less_product(parts: Floats, a: Floats, b: Floats) -> Floats:
    """Return a sum in parts minus a product near to it, which is computed without rounding (Dekker 1971)."""
    product = a * b
    first, second = _halves(a), _halves(b)
    error = ((first[0] * second[0] - product) + first[0] * second[1] + first[1] * second[0]) + first[1] * second[1]
    total = (parts[:, 0] - product) - error
    for part in range(1, parts.shape[1]):
        total = total + parts[:, part]
    return np.asarray(total)


def _halves(x: Floats) -> tuple[Floats, Floats]:
    large = SPLIT * x
    high = large - (large - x)
    return high, x - high
