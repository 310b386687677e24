"""Costs of groups in a table of numbers and categories, with gaps: what Lloyd's steps on such a table minimise.

A category costs what its one-hot columns cost, which are never made; a value that is missing costs nothing. Numbers are
added exactly (`passes/sums.py`), and so are weights of categories, so the order of rows changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from boxwood._threads import BLOCK_ROWS, map_tasks
from boxwood._types import Array, Floats, Indices, Weights
from boxwood.errors import DataError
from boxwood.loops.sums import widen
from boxwood.passes.sums import Grid, Means, Ranges, RowSums, SquareSums, rounded, scaling_of
from boxwood.reference.centers import without_weightless


def mixed_cost(
    table: Array,
    categorical: Collection[int],
    groups: Indices,
    weights: Weights,
    scales: Floats,
    n_jobs: int | None = -1,
) -> float:
    """Return the cost of the groups of a table: weighted squared distances of the rows to the centres of their groups.

    Parameters
    ----------
    table : array of shape (n, d)
        Rows: numbers, or codes 0, 1, … in the columns of categories. NaN is a missing number, or no code; so is an
        infinity in a column of numbers.
    categorical : collection of int
        Columns of categories.
    groups : array of shape (n,)
        Group of each row, 0, 1, …; -1 leaves a row out.
    weights : array of shape (n,), or None
        Weight of each row; None weighs all rows 1.
    scales : array of shape (d,)
        Factor of each column, which multiplies its distances, and its cost by the square.
    n_jobs : int or None, default=-1
        Number of threads, each for a column; -1 is all processors.

    Returns
    -------
    float
        Sum over columns. Of numbers: the weighted squared distances of the values to their mean in the group. Of
        categories: the weight of the values times 1 - sum of squared shares, by group, which is what the one-hot
        columns cost about their means. What is missing costs nothing and enters no mean.

    Raises
    ------
    DataError
        If the cost is beyond the largest float.

    Notes
    -----
    Right to some units in the last place, also for values far from zero, as means are right to 2**-70 of the greatest
    value of a group; 0 where all values of each group are equal. The result depends neither on the order of rows, nor
    on the numbers of groups, nor on threads.

    Takes three passes over a column of numbers and one over a column of categories; memory for a number a row of each
    thread, and for the groups: a number for each code of each.

    References
    ----------
    J. T. Chi, E. C. Chi, R. G. Baraniuk, "k-POD: a method for k-means clustering of missing data", The American
    Statistician 70 (2016), arXiv:1411.7013: this cost of numbers is the least over all ways to fill the gaps.

    Examples
    --------
    >>> table = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 1.0], [9.0, np.nan]])
    >>> mixed_cost(table, [1], np.array([0, 0, 0, 1]), None, np.ones(2))
    3.333333333333333
    """
    rows = _Groups.of(groups, weights)
    kinds = set(categorical)

    def work(j: int) -> Floats:
        costs = _costs_of_codes if j in kinds else _costs_of_numbers
        return costs(table[:, j], rows, float(scales[j]))

    by_group = np.concatenate([np.empty(0), *map_tasks(work, range(table.shape[1]), n_jobs=n_jobs)])
    total = math.fsum(by_group) if np.isfinite(by_group).all() else math.inf
    if not math.isfinite(total):
        raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
    return total


def mixed_scales(table: Array, categorical: Collection[int], weights: Weights, n_jobs: int | None = -1) -> Floats:
    """Return the factor of each column, shape (d,), that brings its variance to 1.

    That of numbers is 1 / standard deviation, that of categories 1 / sqrt(1 - sum of squared shares), both of the
    values that are there. It is 1 for a column of one value or of none. Parameters, time and memory are those of
    `mixed_cost`.

    Examples
    --------
    >>> mixed_scales(np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 0.0], [1.0, 1.0], [3.0, np.nan]]), [1], None)
    array([1.        , 1.41421356])
    """
    rows = _Groups.of(np.zeros(len(table), dtype=np.intp), weights)
    kinds = set(categorical)
    scale = {True: _scale_of_codes, False: _scale_of_numbers}
    scales = map_tasks(lambda j: scale[j in kinds](table[:, j], rows), range(table.shape[1]), n_jobs=n_jobs)
    return np.array(scales, dtype=np.float64)


class _Groups(NamedTuple):
    """Groups of rows; rows of weight 0 are in none."""

    groups: Indices
    k: int
    weights: Weights
    grid: Grid

    @classmethod
    def of(cls, groups: Indices, weights: Weights) -> _Groups:
        groups = without_weightless(groups, weights)
        return cls(groups, int(groups.max(initial=-1)) + 1, weights, Grid.of(groups >= 0, weights))

    def blocks(self, x: Array) -> Iterator[tuple[Floats, Indices, Weights]]:
        """Yield the values of a column, their groups, and their weights; missing values are in no group."""
        for start in range(0, len(x), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            values = np.ascontiguousarray(x[rows], dtype=np.float64)
            groups = np.where(np.isfinite(values), self.groups[rows], -1)
            yield values, groups, None if self.weights is None else self.weights[rows]


def _costs_of_numbers(x: Array, rows: _Groups, scale: float) -> Floats:
    """Return the cost of each group in a column of numbers, times the square of a factor."""
    _, _, squares = _squares(x, rows)
    mantissa, exponent = math.frexp(scale)  # so that nothing overflows where only the scaled cost is in range
    exponents = 2 * (squares.exponents + exponent) + squares.grid.weight_exponent
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(rounded(squares.sums) * mantissa**2, exponents)[:, 0])


def _costs_of_codes(x: Array, rows: _Groups, scale: float) -> Floats:
    """Return the cost of each group in a column of codes, times the square of a factor."""
    counts, totals = _counts(x, rows)
    with np.errstate(over="ignore"):
        return np.asarray(totals * _spread(counts, totals) * scale * scale)


def _scale_of_numbers(x: Array, rows: _Groups) -> float:
    ranges, means, squares = _squares(x, rows)
    return 1.0 / float(scaling_of(ranges, means, squares)[1][0]) if means.weights.any() else 1.0


def _scale_of_codes(x: Array, rows: _Groups) -> float:
    spread = float(_spread(*_counts(x, rows)).sum())  # of one group
    return 1.0 / math.sqrt(spread) if spread > 0 else 1.0


def _squares(x: Array, rows: _Groups) -> tuple[Ranges, Means, SquareSums]:
    """Return ranges, means and squared differences to the means, of the groups in a column of numbers."""
    least, most = np.full((rows.k, 1), np.inf), np.full((rows.k, 1), -np.inf)
    blocks = [(values[:, None], groups, weights) for values, groups, weights in rows.blocks(x)]
    for values, groups, _ in blocks:
        widen(values, groups, least, most)
    sums = RowSums(ranges := Ranges(least, most, rows.grid))
    for block in blocks:
        sums.update(block)
    squares = SquareSums(ranges, means := sums.means())
    for block in blocks:
        squares.update(block)
    return ranges, means, squares


def _counts(x: Array, rows: _Groups) -> tuple[Floats, Floats]:
    """Return the weights of the codes in each group, shape (k, m), ascending, and their sums, shape (k,).

    The rows of a code in a group are added exactly, as a cluster of a table without columns.
    """
    top = np.fmax.reduce(x)
    m = 1 if np.isnan(top) else int(top) + 1
    sums = RowSums(Ranges(np.empty((rows.k * m, 0)), np.empty((rows.k * m, 0)), rows.grid))
    for values, groups, weights in rows.blocks(x):
        cells = np.where(groups < 0, -1, groups * m + np.nan_to_num(values).astype(np.intp))
        sums.update((np.empty((len(values), 0)), cells, weights))
    counts = np.sort(sums.means().weights.reshape(rows.k, m), axis=1)
    return counts, counts.sum(axis=1)


def _spread(counts: Floats, totals: Floats) -> Floats:
    """Return 1 - sum of squared shares of each group, shape (k,), without a difference of near numbers."""
    shares = counts / np.where(totals > 0, totals, 1.0)[:, None]
    fewer, most = shares[:, :-1], shares[:, -1]
    return np.asarray((fewer * (1 - fewer)).sum(axis=1) + most * fewer.sum(axis=1))
