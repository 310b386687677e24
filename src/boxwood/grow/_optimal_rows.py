"""The kept rows of a task as the search for optimal trees takes them, and its trees as `ThresholdTree`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boxwood._threads import one_blas_thread
from boxwood._types import Floats, Indices, Ints
from boxwood.grow._costs import Problem, distance_unit, make_problem, scale_of, whole_costs
from boxwood.grow._optimal_search import Cuts, n_leaves
from boxwood.grow._optimal_sums import Order, Sums
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder, between, rows_at_nodes

__all__ = ["Costs", "Kept"]

_DIGITS = 2.0**-8  # from sums below 2**61, which are whole numbers, to sums below 2**53, which are floats
_AT_ONCE = 1 << 28  # products in one call, so that an interrupt is seen within a second
_WIDEST = 1000  # columns up to which the bound by eigenvalues is computed


@dataclass(frozen=True, eq=False)
class Kept:
    """The kept rows of a task, numbered from 0, and the order and rank of their values in each column.

    Neither depends on the clusters, so one object serves tasks with other centres, too.
    """

    task: Task

    @cached_property
    def rows(self) -> Indices:
        """The number of each row in the table, shape (n,)."""
        return np.flatnonzero(self.task.kept)

    @cached_property
    def order(self) -> Order:
        """The rows in the ascending order of each column, shape (d, n)."""
        return self.position.astype(np.int32)[self.task.order]

    @cached_property
    def codes(self) -> Order:
        """The rank of each row's value among the different values of the column, shape (d, n)."""
        codes = np.empty(self.order.shape, dtype=np.int32)
        for feature, order in enumerate(self.order):
            if feature in self.task.budget.forbidden:  # equal ranks, so no cut
                codes[feature] = 0
                continue
            values = self.task.rows.column(feature, self.rows[order])
            codes[feature, order] = np.cumsum(np.concatenate([[False], values[1:] != values[:-1]]))
        return codes

    @cached_property
    def position(self) -> Indices:
        """The number of each row of the table among the kept ones, shape (all rows,); -1 for the others."""
        position = np.full(len(self.task.rows), -1)
        position[self.rows] = np.arange(len(self.rows))
        return position

    def tree(self, cuts: Cuts) -> ThresholdTree:
        """Return a tree; all leaves have cluster 0."""
        builder = TreeBuilder()
        self.graft(builder, 0, cuts, np.arange(len(self.rows)), [0] * n_leaves(cuts))
        return builder.build()

    def graft(self, builder: TreeBuilder, node: int, cuts: Cuts, rows: Indices, clusters: Sequence[int]) -> None:
        """Split a node, which some rows reach, by cuts midway between the rows, and label its leaves in pre-order."""
        waiting, labels = [(node, cuts, rows)], iter(clusters)
        while waiting:
            here, cut, reached = waiting.pop()
            if cut is None:
                builder.label(here, next(labels))
                continue
            feature, code, first, second = cut
            is_first = self.codes[feature, reached] <= code
            values = self.task.rows.column(feature, self.rows[reached])
            gap = between(values[is_first].max(), values[~is_first].min())
            nodes = builder.split(here, feature, float(gap))
            waiting += ((nodes[1], second, reached[~is_first]), (nodes[0], first, reached[is_first]))

    def cuts(self, tree: ThresholdTree, rows: Indices) -> Cuts:
        """Return the cuts of a tree that part some of the rows; the tree's cuts are one-sided."""
        found: dict[int, Cuts] = {}
        reached = list(rows_at_nodes(tree, self.task.rows.values[self.rows[rows]]))
        for node, here, inside in reversed(reached):
            if inside is None or len(here) == 0:
                found[node] = None
            elif inside.all() or not inside.any():
                found[node] = found[node + 1 if inside.all() else int(tree.second[node])]
            else:
                feature = int(tree.feature[node])
                code = int(self.codes[feature, rows[here[inside]]].max())
                found[node] = feature, code, found[node + 1], found[int(tree.second[node])]
        return found[0]


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of a task's kept rows as the loops take them. They are whole numbers; `in_units` gives them a unit."""

    sums: Sums
    least: int  # cost of the rows in the best of cases, which the sums leave out
    slack: int  # by how much a bound may be too high, as costs are rounded
    exponent: int  # of two, by which costs are multiplied to be in the unit of the task's columns

    def in_units(self, cost: int) -> float:
        """Return a cost in squared units of the columns, or a weight of mistakes."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(float(cost + self.least), self.exponent))

    @classmethod
    def of_clusters(cls, task: Task, kept: Kept, objective: str) -> Costs:
        """Return the costs if leaves choose among clusters: squared distances to their centres, or mistakes."""
        problem = make_problem(task, objective)
        table, scale = whole_costs(problem, kept.rows)
        largest, least = int(table.max(axis=1).sum()), table.min(axis=1)
        exponent = _exponent_of_weights(task, problem, kept) - _log2(scale)
        if objective == "cost":
            exponent += 2 - 2 * _log2(distance_unit(task))
        sums = Sums(kept.codes, table - least[:, None], np.empty((len(table), 0)), 1.0)
        return cls(sums, int(least.sum()), largest >> 44, exponent)

    @classmethod
    def of_means(cls, task: Task, kept: Kept) -> Costs:
        """Return the costs if each leaf has its own mean: weight, square and values of each row, as whole numbers.

        Values are taken about a median of each column, the lower one, which no order of rows changes.
        """
        problem = make_problem(task, "mistakes")  # for the weights alone
        share, times = problem.share[kept.rows], problem.times[kept.rows]
        values, unit = _about_medians(task, kept, times)
        squares, farthest = np.zeros(values.shape[1]), np.zeros(values.shape[1])
        for column in values:  # column by column, so that the sum of a row is the same on every processor
            squares += column * column
            farthest = np.maximum(farthest, np.abs(column))
        of_weights, of_values, of_squares = (
            scale_of(each * share * times) * _DIGITS for each in (np.ones(len(squares)), farthest, squares)
        )
        if (share == 1).all():
            of_weights = 1.0
        moments = np.empty((len(squares), 2 + len(values)))
        moments[:, 0] = np.maximum(np.rint(share * of_weights), 1.0)
        moments[:, 1] = np.rint(squares * share * of_squares)
        moments[:, 2:] = np.rint(values * share * of_values).T
        moments *= times[:, None]
        no_table = np.empty((len(squares), 0), dtype=np.int64)
        exponent = _exponent_of_weights(task, problem, kept) - _log2(of_squares) + 2 - 2 * _log2(unit)
        sums = Sums(kept.codes, no_table, moments, of_squares / of_values * of_weights / of_values)
        return cls(sums, 0, int(moments[:, 1].sum()) >> 38, exponent)

    def bound_of_means(self, leaves: int) -> int:
        """Return a cost that no partition into so many parts is below, if each part has its own mean.

        It is the variance outside the first `leaves - 1` principal components, rounded down (C. Ding, X. He, "K-means
        clustering via principal component analysis", ICML 2004).
        """
        weights, values = self.sums.moments[:, 0], self.sums.moments[:, 2:]
        d = values.shape[1]
        if d > _WIDEST or leaves > d:
            return 0
        mean = values.sum(axis=0) / np.sqrt(weights.sum())
        scatter = -np.outer(mean, mean)
        block = _AT_ONCE // d**2 + 1
        with one_blas_thread():
            for start in range(0, len(values), block):
                rows = values[start : start + block] / np.sqrt(weights[start : start + block, None])
                scatter += rows.T @ rows
            variances = np.linalg.eigvalsh(scatter)
        outside = variances[: d - leaves + 1].sum() - 1e-9 * np.abs(variances).sum()
        return max(int(outside * self.sums.factor), 0)


def _about_medians(task: Task, kept: Kept, times: Ints) -> tuple[Floats, float]:
    """Return the rows' halved differences to the median of each column times a power of two, and this power.

    The differences come column by column, shape (d, n).

    Halves of huge numbers have a difference, and the power brings the largest value near 1.
    """
    columns = [task.rows.column(feature, kept.rows) for feature in range(task.rows.n_columns)]
    spread = max(float(column.max() * 0.5 - column.min() * 0.5) for column in columns)
    unit = math.ldexp(1.0, min(-math.frexp(spread)[1], 1023))
    values = np.empty((len(columns), len(kept.rows)))
    for feature, column in enumerate(columns):
        counted = np.cumsum(times[kept.order[feature]])
        median = column[kept.order[feature, np.searchsorted(counted, (counted[-1] + 1) // 2)]]
        values[feature] = (column * 0.5 - median * 0.5) * unit
    return values, unit


def _exponent_of_weights(task: Task, problem: Problem, kept: Kept) -> int:
    """Return the power of two that `make_problem` takes from the weights."""
    row = kept.rows[int(np.argmax(problem.share[kept.rows] * problem.times[kept.rows]))]  # tiny weights may be 0 there
    weight = 1.0 if task.rows.weights is None else float(task.rows.weights[row])
    return _log2(weight / float(problem.share[row] * problem.times[row]))


def _log2(power: float) -> int:
    return math.frexp(power)[1] - 1
