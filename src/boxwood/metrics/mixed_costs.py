"""Costs of groups in a table of numbers and categories, with gaps: what Lloyd's steps on such a table minimise.

A category costs what its one-hot columns cost, which are never made; a value that is missing costs nothing. Numbers are
added exactly (`batches/sums.py`), and so are weights of categories, so the order of rows changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from boxwood._threads import BLOCK_ROWS, map_tasks
from boxwood._types import Array, Floats, Indices, Weights
from boxwood.batches.sums import Grid, Means, Ranges, RowSums, SquareSums, add_smallest_first, scaling_of
from boxwood.errors import DataError
from boxwood.loops.sums import widen
from boxwood.reference.centers import without_weightless

if TYPE_CHECKING:
    from boxwood.reference.feature_space import FeatureSpace

CostOfGroups: TypeAlias = Callable[[Indices], float]
"""Makes the cost of groups of rows from the group of each row, shape (n,), -1 for those that are left out."""


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
    rows = _MixedGroups.of(groups, weights)
    kinds = set(categorical)

    def work(j: int) -> Floats:
        x, scale = table[:, j], float(scales[j])
        if j in kinds:
            return rows.answered(costs_of_codes(rows.k, _n_codes(x), rows.grid, scale), x)
        return rows.answered(costs_of_numbers(rows.k, rows.grid, scale), x)

    threads = n_jobs if table.size > _FEW else 1  # to start threads takes longer than to add up so few values
    return total_of(map_tasks(work, range(table.shape[1]), n_jobs=threads))


_FEW = 1 << 16  # values


def cost_of_groups(here: FeatureSpace, n_jobs: int | None) -> CostOfGroups:
    """Return what measures groups of the rows of a table with categories or gaps by `mixed_cost`.

    It remembers the cost of groups that it has measured.
    """
    assert here.scales is not None  # as for any such table
    values, weights = here.table.values, here.table.weights
    table = values if here.entry is None else here.entry.entered(values)
    categories, scales = tuple(here.categories), here.scales
    known: dict[bytes, float] = {}

    def cost(groups: Indices) -> float:
        key = blake2b(np.ascontiguousarray(groups).data).digest()
        if key not in known:
            known[key] = mixed_cost(table, categories, groups, weights, scales, n_jobs)
        return known[key]

    return cost


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
    rows = _MixedGroups.of(np.zeros(len(table), dtype=np.intp), weights)
    kinds = set(categorical)

    def work(j: int) -> Floats:
        x = table[:, j]
        steps = _scale_of_codes(_n_codes(x), rows.grid) if j in kinds else _scale_of_numbers(rows.grid)
        return rows.answered(steps, x)

    return np.concatenate([np.empty(0), *map_tasks(work, range(table.shape[1]), n_jobs=n_jobs)])


class Widest:
    """Least and greatest value of each group in a column of numbers: a summary of blocks."""

    least: Array
    most: Array

    def __init__(self, k: int) -> None:
        self.least, self.most = np.full((k, 1), np.inf), np.full((k, 1), -np.inf)

    def update(self, block: tuple[Floats, Indices, Weights]) -> None:
        """Add a block of rows."""
        values, groups, _ = block
        widen(values, groups, self.least, self.most)

    def merge(self, other: Widest) -> None:
        """Add what another summary has seen."""
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)


class CodeSums(RowSums):
    """Weights of the codes of each group, shape (k, m), added exactly: each is a cluster of rows without columns."""

    def __init__(self, k: int, m: int, grid: Grid) -> None:
        super().__init__(Ranges(np.empty((k * m, 0)), np.empty((k * m, 0)), grid))
        self.shape: tuple[int, int] = k, m

    def update(self, block: tuple[Floats, Indices, Weights]) -> None:
        """Add a block of rows."""
        values, groups, weights = block
        codes = np.where(groups < 0, 0.0, values[:, 0]).astype(np.intp)
        cells = np.where(groups < 0, -1, groups * self.shape[1] + codes)
        super().update((np.empty((len(values), 0)), cells, weights))


K = TypeVar("K", bound=Hashable)
Steps: TypeAlias = Generator[Callable[[], Any], Any, Floats]
"""Yields what makes an empty summary of blocks, gets it back with all rows in it, and returns a number for each group.

A block holds the values of one column, shape (n, 1), the groups of the rows, -1 where a value is missing, and weights.
So rows in memory and passes over batches answer the same questions, and give the same numbers to the last bit.
"""


def costs_of_numbers(k: int, grid: Grid, scale: float) -> Steps:
    """Find the cost of each of k groups in a column of numbers, times the square of a factor; asks for three passes."""
    _, _, squares = yield from _squares(k, grid)
    mantissa, exponent = math.frexp(scale)  # so that nothing overflows where only the scaled cost is in range
    exponents = 2 * (squares.exponents + exponent) + squares.grid.weight_exponent
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(add_smallest_first(squares.sums) * mantissa**2, exponents)[:, 0])


def costs_of_codes(k: int, m: int, grid: Grid, scale: float) -> Steps:
    """Find the cost of each of k groups in a column of m codes, times the square of a factor; asks for one pass."""
    counts, totals = yield from _counts(k, m, grid)
    with np.errstate(over="ignore"):
        return np.asarray(totals * _spread(counts, totals) * scale * scale)


def weights_of_codes(k: int, m: int, grid: Grid) -> Steps:
    """Find the weights of m codes in each of k groups, shape (k * m,); asks for one pass."""
    sums = yield partial(CodeSums, k, m, grid)
    return np.asarray(sums.means().weights)


def answer_steps(
    steps: Mapping[K, Steps], ask: Callable[[Mapping[K, Callable[[], Any]]], Mapping[K, Any]]
) -> dict[K, Floats]:
    """Return what several questions find, of which each gets one more summary from each pass until it is done.

    IN: ask: returns the filled summaries of one pass, from what makes them.
    """
    found: dict[K, Floats] = {}
    waiting = {key: next(each) for key, each in steps.items()}
    while waiting:
        for key, summary in ask(waiting).items():
            try:
                waiting[key] = steps[key].send(summary)
            except StopIteration as done:
                found[key] = done.value
                del waiting[key]
    return found


def total_of(costs: Sequence[Floats]) -> float:
    """Return the sum of the costs of groups in columns, rounded once; a DataError where it is beyond all floats."""
    by_group = np.concatenate([np.empty(0), *costs])
    total = math.fsum(by_group) if np.isfinite(by_group).all() else math.inf
    if not math.isfinite(total):
        raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
    return total


def _scale_of_numbers(grid: Grid) -> Steps:
    ranges, means, squares = yield from _squares(1, grid)
    return np.asarray(1.0 / scaling_of(ranges, means, squares)[1] if means.weights.any() else np.ones(1))


def _scale_of_codes(m: int, grid: Grid) -> Steps:
    spread = _spread(*(yield from _counts(1, m, grid)))
    return 1.0 / np.sqrt(spread) if spread[0] > 0 else np.ones(1)


def _squares(k: int, grid: Grid) -> Generator[Callable[[], Any], Any, tuple[Ranges, Means, SquareSums]]:
    """Find ranges, means and squared differences to the means, of k groups in a column of numbers."""
    widest = yield partial(Widest, k)
    ranges = Ranges(widest.least, widest.most, grid)
    sums = yield partial(RowSums, ranges)
    squares = yield partial(SquareSums, ranges, means := sums.means())
    return ranges, means, squares


def _counts(k: int, m: int, grid: Grid) -> Generator[Callable[[], Any], Any, tuple[Floats, Floats]]:
    """Find the weights of m codes in each of k groups, shape (k, m), ascending, and their sums, shape (k,)."""
    weights = yield from weights_of_codes(k, m, grid)
    counts = np.sort(weights.reshape(k, m), axis=1)
    return counts, counts.sum(axis=1)


class _MixedGroups(NamedTuple):
    """Groups of rows in memory; rows of weight 0 are in none."""

    groups: Indices
    k: int
    weights: Weights
    grid: Grid

    @classmethod
    def of(cls, groups: Indices, weights: Weights) -> _MixedGroups:
        groups = without_weightless(groups, weights)
        return cls(groups, int(groups.max(initial=-1)) + 1, weights, Grid.of(groups >= 0, weights))

    def answered(self, steps: Steps, x: Array) -> Floats:
        """Return what a question finds of a column."""
        blocks = list(self._blocks(x))

        def ask(makes: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
            summary = makes["x"]()
            for block in blocks:
                summary.update(block)
            return {"x": summary}

        return answer_steps({"x": steps}, ask)["x"]

    def _blocks(self, x: Array) -> Iterator[tuple[Floats, Indices, Weights]]:
        """Yield the values of a column, their groups, and their weights; missing values are in no group."""
        for start in range(0, len(x), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            values = np.ascontiguousarray(x[rows], dtype=np.float64)
            groups = np.where(np.isfinite(values), self.groups[rows], -1)
            yield values[:, None], groups, None if self.weights is None else self.weights[rows]


def _n_codes(x: Array) -> int:
    top = np.fmax.reduce(x)
    return 1 if np.isnan(top) else int(top) + 1


def _spread(counts: Floats, totals: Floats) -> Floats:
    """Return 1 - sum of squared shares of each group, shape (k,), without a difference of near numbers."""
    shares = counts / np.where(totals > 0, totals, 1.0)[:, None]
    fewer, most = shares[:, :-1], shares[:, -1]
    return np.asarray((fewer * (1 - fewer)).sum(axis=1) + most * fewer.sum(axis=1))
