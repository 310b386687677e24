"""`Entry`: how the columns of a table enter distances: tails that are drawn in, and factors that bring them to a scale.

Where boxwood makes the clusters, no single column and no few rows should make them. Numbers get the variance 1; if
most rows have one value, a sixth of the range counts as the deviation at least: else the rarer the other values, the
farther away they are. The tails of a column are drawn in if they are longer than those of an exponential distribution:
about its median, or as of a logarithm where numbers that are not negative differ by ratios, as money and counts do.
Words, and numbers of two values, enter as one-hot columns, in which two different values are as far apart as two
typical numbers. What several columns say counts once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices, Weights
from boxwood.axes.categories import Categories
from boxwood.axes.tails import Tails
from boxwood.reference.repeated import Repeated, repeated_in

MANY = 1 << 17  # so many rows tell the tail of a column with more
FAR = 0.01  # share of the rows that are farthest from the mean
HEAVY = 0.25  # of the variance: the farthest rows of an exponential distribution have 22%
NORMAL = 1.349  # quarters of a normal distribution are so many deviations apart
WIDEST = 6.0  # deviations that the range counts at most, if most rows have one value
TIMES = 2.0  # the upper quarter is more than so many times the lower one: differences of such numbers are ratios
FAINT = 1e-3  # of a flag that another column decides: rules may test it
TINY = 2.0**-60  # of the greatest difference: a smaller spread is rounding


class Entry(NamedTuple):
    """How the columns of a table enter distances.

    Parameters
    ----------
    scales : array of shape (d,)
        Factor of each column.
    tails : Tails, default=None
        What is done to the numbers before; None if nothing is.
    is_scaled : bool, default=True
        Whether columns were brought to one scale.
    repeated : Repeated, default=None
        Columns that say the same, and count once.
    """

    scales: Floats
    tails: Tails | None = None
    is_scaled: bool = True
    repeated: Repeated | None = None

    @classmethod
    def of(cls, table: Array, categories: Collection[int] = (), weights: Weights = None) -> Entry:
        """Return how a table enters clusters that boxwood makes; see the head of this file.

        IN: table (n, d): with plus infinity for each missing number; categories: the columns of codes.
        """
        d = table.shape[1]
        middle, spread, scales = np.zeros(d), np.full(d, np.inf), np.ones(d)
        for j in set(range(d)) - set(categories):
            values, mass = _counted(table[:, j], weights)
            middle[j], spread[j] = _middle_and_spread(values, mass)
            tails = Tails(middle[[j]], spread[[j]])
            scales[j] = _scale(tails.transform(values[:, None])[:, 0], mass)
        tails, repeated = Tails(middle, spread), repeated_in(table, categories)
        return cls(scales * _counted_once(repeated, d), tails if tails.drawn_in else None, repeated=repeated)

    def one_hot(self, table: Array, categories: Mapping[int, Categories]) -> tuple[Floats, list[Indices]]:
        """Return a table with words as one-hot columns, scaled, and the columns that are made of each column of it.

        IN: table (n, d): with NaN for what is missing, which goes to the mean of its columns.
        """
        values, made = self.entered(np.asarray(table, dtype=np.float64)) * self.scales, list[Floats]()
        for j, x in enumerate(values.T):
            lacks, columns = np.isnan(x), x[:, None]
            if j in categories:
                eye = np.eye(len(categories[j].domain)) * self.scales[j]
                columns = eye[np.where(lacks, 0, table[:, j]).astype(np.intp)]
            columns[lacks] = columns[~lacks].mean(axis=0) if not lacks.all() else 0.0
            made.append(columns)
        ends = np.cumsum([part.shape[1] for part in made])
        return np.hstack(made), np.split(np.arange(ends[-1]), ends[:-1])

    def entered(self, table: Array) -> Array:
        """Return a table with its tails drawn in, before its columns are scaled."""
        return table if self.tails is None else self.tails.transform(table)


def _counted_once(repeated: Repeated, d: int) -> Floats:
    """Return factors, shape (d,), by which columns that say the same count as one column."""
    once = np.ones(d)
    for group in repeated.alike:
        once[list(group)] /= math.sqrt(len(group))
    for group in repeated.dummies:
        once[list(group)] /= math.sqrt(2.0)  # as one-hot columns of a word, not of each flag
    once[list(repeated.decided)] *= FAINT
    return once


def _counted(x: Array, weights: Weights) -> tuple[Floats, Floats]:
    """Return the different numbers of a column, ascending, and their weights; of a long one those of some rows."""
    known = np.flatnonzero(np.isfinite(x) if weights is None else np.isfinite(x) & (weights > 0))
    rows = known[:: -(-len(known) // MANY) or 1]
    values, at = np.unique(np.asarray(x[rows], dtype=np.float64), return_inverse=True)
    return values, np.bincount(at.ravel(), None if weights is None else weights[rows]).astype(np.float64)


def _middle_and_spread(values: Floats, mass: Floats) -> tuple[float, float]:
    """Return the median of a column with a long tail, and how far apart its quarters are; an infinite spread if not.

    Where ratios count, it is zero and the lower quarter: above that, `arcsinh` is nearly a logarithm. If the quarters
    are equal, as where most rows have 0, the spread is the median difference of the others.
    """
    if len(values) <= 2:
        return 0.0, math.inf
    unit = max(abs(values[0]), abs(values[-1]))
    shares = mass / mass.sum()
    if _share_of_farthest(values / unit, shares) <= HEAVY:
        return 0.0, math.inf
    low, middle, high = (_quantile(values, shares, q) for q in (0.25, 0.5, 0.75))
    if values[0] >= 0 and 0 < TIMES * low < high:
        return 0.0, max(low, float(values[-1]) * TINY)
    apart = np.abs(values / unit - middle / unit)
    spread = (high / unit - low / unit) / NORMAL
    if spread <= 0:
        order = np.argsort(apart, kind="stable")
        others = order[apart[order] > 0]
        spread = _quantile(apart[others], shares[others], 0.5)
    return middle, max(spread, float(apart.max()) * TINY) * unit


def _share_of_farthest(values: Floats, shares: Floats) -> float:
    """Return the share of the variance that the rows farthest from the mean have."""
    away = np.square(values - (values * shares).sum())
    order = np.argsort(-away, kind="stable")
    left = FAR - (np.cumsum(shares[order]) - shares[order])
    counted = np.clip(left, 0.0, shares[order])
    whole = float((away * shares).sum())
    return float((away[order] * counted).sum()) / whole if whole > 0 else 0.0


def _quantile(values: Floats, shares: Floats, q: float) -> float:
    below = np.cumsum(shares)
    return float(values[np.searchsorted(below, q * below[-1])])


def _scale(values: Floats, mass: Floats) -> float:
    """Return the factor of a column of numbers, from its different values and their weights."""
    if len(values) < 2 or (wide := float(values[-1] - values[0])) == math.inf:
        return 1.0
    if len(values) == 2:
        return math.sqrt(2.0) / wide
    parts = (values - values[0]) / wide
    mean = np.average(parts, weights=mass)
    deviation = math.sqrt(float(np.average(np.square(parts - mean), weights=mass)))
    least = 1.0 / WIDEST if 2 * mass.max() > mass.sum() else 0.0
    return 1.0 / (max(deviation, least) * wide)
