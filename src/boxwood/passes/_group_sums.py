"""`GroupSums` and `GroupSquares`: means and squared distances of groups of rows, exact in any order of the rows.

Sums are held in three parts each, as `boxwood.loops.sums` explains. The means of clusters are those of
`boxwood.reference._sums`, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Weights
from boxwood.loops.sums import add_parts, widen
from boxwood.passes._overview import Overview
from boxwood.reference._sums import _exponents, _less_product, _rounded

__all__ = ["GroupSquares", "GroupSums", "Means", "Scales"]

AT_ONCE = 1 << 20  # values of a block that are squared at once, so that little memory is taken


class Scales(NamedTuple):
    """Powers of two by which values and weights are at most 1, and the units of the three parts of a sum.

    Parameters
    ----------
    columns : array of shape (d,)
        Exponent of each column's largest value.
    clusters : array of shape (k, d)
        Exponent of the largest value of each cluster.
    spans : array of shape (d,)
        Exponent of the distance between the least and the largest value of each column.
    weight : int
        Exponent of the largest weight.
    units : array of shape (3,)
        Unit of each part.
    """

    columns: Indices
    clusters: Indices
    spans: Indices
    weight: int
    units: Floats

    @classmethod
    def of(cls, overview: Overview) -> Scales:
        """Return the scales of a table."""
        least, most = overview.least, overview.most
        clusters = _exponents(np.maximum(most, -least))
        columns = clusters[overview.sizes > 0].max(axis=0)
        low, high = least.min(axis=0), most.max(axis=0)
        spans = _exponents(high * 0.5 - low * 0.5) + 1
        bits = overview.n_rows.bit_length() + 1
        units = np.ldexp(1.0, [bits - 52 - part * (52 - bits) for part in range(3)])
        heaviest = overview.heaviest or 1.0
        return cls(columns, clusters, np.minimum(spans, 1022), int(_exponents(np.array(heaviest))), units)

    def weighing(self, weights: Weights) -> tuple[Floats, float]:
        """Return weights and their scale as the loops take them."""
        return (np.empty(0), 1.0) if weights is None else (weights, float(np.ldexp(1.0, -self.weight)))

    def of_groups(self, n_groups: int) -> Indices:
        """Return the exponents of the columns for each group, shape (n_groups, d)."""
        return np.tile(self.columns, (n_groups, 1))


class Means(NamedTuple):
    """Means of groups as a double and what it lacks, both of shape (g, d); NaN for a group without rows."""

    base: Floats
    rest: Floats


class GroupSums:
    """Weights and sums of groups of rows, and their least and greatest values.

    Parameters
    ----------
    exponents : array of shape (g, d)
        Exponent of the largest value of each group and column, or a larger one.
    scales : Scales
        Of the table.
    """

    def __init__(self, exponents: Indices, scales: Scales) -> None:
        self.exponents, self.scales = exponents, scales
        n_groups, n_columns = exponents.shape
        self.sums, self.totals = np.zeros((n_groups, 3, n_columns)), np.zeros((n_groups, 3))
        self.least, self.most = np.full(exponents.shape, np.inf), np.full(exponents.shape, -np.inf)

    def add(self, values: Floats, groups: Indices, weights: Weights) -> None:
        """Add rows; a group of -1 leaves a row out."""
        weight, scale, units = *self.scales.weighing(weights), self.scales.units
        add_parts(values, groups, weight, np.ldexp(1.0, -self.exponents), scale, units, self.sums, self.totals)
        widen(values, groups, self.least, self.most)

    def merge(self, other: GroupSums) -> None:
        """Add other sums."""
        self.sums += other.sums
        self.totals += other.totals
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)

    def joined(self, groups: Indices, n_groups: int) -> GroupSums:
        """Return the sums of groups of these groups, which all have the same exponents; IN: groups (g,)."""
        joined = GroupSums(np.tile(self.exponents[0], (n_groups, 1)), self.scales)
        np.add.at(joined.sums, groups, self.sums)
        np.add.at(joined.totals, groups, self.totals)
        np.minimum.at(joined.least, groups, self.least)
        np.maximum.at(joined.most, groups, self.most)
        return joined

    @property
    def means(self) -> Means:
        """The mean of each group."""
        totals = self.totals[:, :, None]
        total = _rounded(totals)
        total[total == 0] = np.nan
        mean = _rounded(self.sums) / total
        lacks = mean * _less_product(totals, total, np.ones(1))
        rest = (_less_product(self.sums, mean, total) - lacks) / total
        with np.errstate(over="ignore"):
            mean, rest = np.ldexp(mean, self.exponents), np.ldexp(rest, self.exponents)
        equal = self.least == self.most
        return Means(np.where(equal, self.least, mean), np.where(equal, 0.0, rest))


class GroupSquares:
    """Sums of squared distances of rows to the means of their groups, by group and column.

    Parameters
    ----------
    means : Means
        Means of the groups.
    scales : Scales
        Of the table.
    """

    def __init__(self, means: Means, scales: Scales) -> None:
        self.means, self.scales = means, scales
        self.sums = np.zeros((len(means.base), 3, means.base.shape[1]))

    def add(self, values: Floats, groups: Indices, weights: Weights) -> None:
        """Add rows; a group of -1 leaves a row out."""
        weight, scale = self.scales.weighing(weights)
        ones, unit = np.ones(self.sums[:, 0].shape), np.ldexp(1.0, -self.scales.spans)
        totals = np.zeros((len(self.sums), 3))
        step = max(AT_ONCE // values.shape[1], 1)
        for start in range(0, len(values), step):
            part = slice(start, start + step)
            with np.errstate(over="ignore"):
                gaps = values[part] - self.means.base[groups[part]]
                gaps -= self.means.rest[groups[part]]
                gaps *= unit
                np.square(gaps, out=gaps)
            add_parts(gaps, groups[part], weight[part], ones, scale, self.scales.units, self.sums, totals)

    def merge(self, other: GroupSquares) -> None:
        """Add other sums."""
        self.sums += other.sums

    def within(self) -> Floats:
        """Return the sums, shape (g, d), in units of 2 to the power of twice the spans of the columns."""
        return _rounded(self.sums)

    def cost(self, weighted: bool) -> float:
        """Return the sum of all, infinite if it is beyond the largest float."""
        by_column = self.within().sum(axis=0)
        exponents = 2 * self.scales.spans + (self.scales.weight if weighted else 0)
        with np.errstate(over="ignore"):
            return float(np.ldexp(by_column, exponents).sum())
