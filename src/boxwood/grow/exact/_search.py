"""The search for the cheapest tree on a box of rows: best first, with bounds that hold whenever it stops.

Of one column and one share of the leaves between the sides of the cut, the first side's least cost only rises with the
place of the cut, and the second side's only falls. So the cuts at all places from `low` to `high` cost at least what
the first side costs at `low` and the second at `high`::

    place     0    1    2    3    4    5
    first     0    3    7   20   31   60        places 1 to 4 cost at least 3 + 15
    second   90   70   52   40   15    2
                  low            high

Such runs of places wait in the order of their bounds. A place of the first run is looked at: it is a tree, and it parts
the run into two with higher bounds. Runs whose bounds reach the cost of the best tree are dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks, one_blas_thread
from boxwood._types import Floats, Indices, Ints
from boxwood.grow.shared.costs import CutProblem, distance_unit, integer_costs, make_problem, scale_of
from boxwood.loops.optimal import keep_inside, leaf_cost, sweep_clusters, sweep_means
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder, between, rows_at_nodes

Cuts: TypeAlias = "tuple[int, int, Cuts, Cuts] | None"
"""A tree: column, last code of the first side, and the trees on both sides; None is a leaf."""

Way: TypeAlias = tuple[bool, ...]
"""The way from the root to a node: at each cut, whether it goes to the second side."""

NONE = int(np.iinfo(np.int64).max)
DEEPEST = 24  # leaves; trees with more are grown and improved, but not searched for, as their bound would stay at 0
REMEMBERED = 1 << 17  # boxes whose results are kept
AT_ONCE = 1 << 26  # steps of a loop in one call, so that an interrupt is seen within a second
NEAR_THE_END = 16  # parts of a run, of which the last one begins at the place that is looked at; see `_CutRun.place`
ONE_THREAD = 1 << 22  # steps up to which threads cost more than they save


class BestOnBox(NamedTuple):
    """What is known of the cheapest tree on a box: a bound on its cost, and the cost and the cuts of the best tree."""

    bound: int
    cost: int
    cuts: Cuts

    @property
    def is_exact(self) -> bool:
        """Whether no tree is cheaper."""
        return self.bound >= self.cost


class _CutRun(NamedTuple):
    """The cuts of a column at the places from `low` to `high` that leave `share` leaves to the first side."""

    bound: int
    column: int
    share: int
    low: int
    high: int
    first: int  # least cost of the first side at `low`, or a bound on it
    second: int  # least cost of the second side at `high`, or a bound on it
    is_whole: bool  # whether no place of the column has been looked at

    def place(self, leaves: int) -> int:
        """Return the place to look at, of a box with so many leaves.

        If the first side is one leaf, its costs are known at all places, and what the second side costs at `high` is
        most of what the bound lacks. A place near to it tells that almost as well, and still parts a run of any length.
        The middle comes first, though, as a search that stops early needs good trees.
        """
        if self.is_whole or 1 < self.share < leaves - 1:
            return (self.low + self.high) // 2
        near = (self.high - self.low) // NEAR_THE_END
        return self.high - near if self.share == 1 else self.low + near


class _Runs:
    """The runs of a box that may hold a tree of a cost below `limit`, and what the sides of its cuts cost as leaves."""

    def __init__(self, order: Order, leaves: int) -> None:
        self.first, self.second, self.places = (np.empty(order.shape, dtype=np.int64) for _ in range(3))
        self.leaves, self.limit, self.waiting = leaves, NONE, list[_CutRun]()

    def begin(self) -> None:
        """Let all places of all columns wait, for every share of the leaves."""
        for column, n_places in enumerate(np.count_nonzero(self.places >= 0, axis=1).tolist()):
            for share in range(1, self.leaves):
                self.wait(column, share, 0, n_places - 1, 0, 0, is_whole=True)

    def wait(
        self, column: int, share: int, low: int, high: int, first: int, second: int, *, is_whole: bool = False
    ) -> None:
        """Let a run wait, unless its bound reaches the limit.

        Where a side has one leaf, its costs are known at all places, and rule out some at the other end of the run.
        """
        if low > high:
            return
        if share == 1:
            first = max(first, int(self.first[column, low]))
        if share == self.leaves - 1:
            second = max(second, int(self.second[column, high]))
        if first + second >= self.limit:  # most runs end here
            return
        if share == 1:
            high = low + int(self.first[column, low : high + 1].searchsorted(self.limit - second)) - 1
        if share == self.leaves - 1:
            rising = self.second[column, low : high + 1][::-1]
            low = high + 1 - int(rising.searchsorted(self.limit - first))
        heappush(self.waiting, _CutRun(first + second, column, share, low, high, first, second, is_whole))

    @property
    def bound(self) -> int:
        """A cost that no tree among those which wait, or were dropped, is below."""
        return min(self.limit, self.waiting[0].bound) if self.waiting else self.limit


class Search:
    """A search on the boxes of one table, which remembers what it has found.

    It stops after `max_boxes` boxes, each counted as its share of the table's rows, or at the time `deadline` of
    `time.monotonic`. The bounds of what it returns then still hold.
    """

    def __init__(
        self,
        sums: LoopRows,
        *,
        max_boxes: float | None = None,
        deadline: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sums, self.max_boxes, self.deadline, self.n_jobs = sums, max_boxes, deadline, n_jobs
        self.n_rows = 0  # of the boxes looked at so far
        self.memory: dict[tuple[bytes, int], BestOnBox] = {}

    @property
    def n_boxes(self) -> float:
        """The boxes looked at so far, each counted as its share of the table's rows."""
        return float(self.n_rows / self.sums.codes.shape[1])

    @property
    def boxes_left(self) -> float:
        """The boxes that may still be looked at."""
        return math.inf if self.max_boxes is None else self.max_boxes - self.n_boxes

    @property
    def is_over(self) -> bool:
        """Whether the boxes or the time are spent."""
        is_spent = self.max_boxes is not None and self.boxes_left <= 0
        return is_spent or (self.deadline is not None and time.monotonic() >= self.deadline)

    def solve(self, order: Order, leaves: int, budget: int = NONE, known: BestOnBox | None = None) -> BestOnBox:
        """Return the cheapest tree on a box with at most so many leaves.

        If it costs `budget` or more, a bound of at least `budget` is all that is promised. `known` is a tree to begin
        with, with a bound of 0.
        """
        leaves = min(leaves, order.shape[1])
        if leaves == 1:
            return self._leaf(order)
        key = box_name(self.sums.codes, order), leaves
        found = self.memory.get(key, BestOnBox(0, NONE, None))
        if known is not None and known.cost < found.cost:
            found = BestOnBox(found.bound, known.cost, known.cuts)
        if found.is_exact or found.bound >= budget:
            return found
        if self.is_over:
            leaf = self._leaf(order)
            return BestOnBox(found.bound, *min((found[1:], leaf[1:]), key=lambda each: each[0]))
        if leaves == 2:
            two = self._best_cut(order)
            found = two if two.cost <= found.cost else BestOnBox(two.bound, found.cost, found.cuts)
        else:
            found = self._search_runs(order, leaves, budget, found)
        if len(self.memory) < REMEMBERED or key in self.memory:
            self.memory[key] = found
        return found

    def side(self, order: Order, column: int, code: int, is_first: bool) -> Order:
        """Return the box on one side of a cut."""
        codes = self.sums.codes[column]
        return self.part(order, codes <= code if is_first else codes > code)

    def part(self, order: Order, inside: NDArray[np.bool_]) -> Order:
        """Return the rows of a box that are inside."""
        kept = np.empty((len(order), int(np.count_nonzero(inside[order[0]]))), dtype=order.dtype)
        keep_inside(order, inside, kept)
        return kept

    # --------------------------------------------------------------------------------------- one leaf, two leaves

    def _leaf(self, order: Order) -> BestOnBox:
        cost = self.sums.leaf(order[0])
        return BestOnBox(cost, cost, None)

    def _best_cut(self, order: Order, costs: tuple[Ints, Ints, Ints] | None = None) -> BestOnBox:
        """Return the cheapest tree with two leaves, or the leaf if no cut is cheaper; `costs` are written for all cuts.

        If time is up before all columns are looked at, the bound is 0 and the costs are not all written.
        """
        self.n_rows += order.shape[1]
        d, n = order.shape
        empty = np.empty((d, 0), dtype=np.int64)
        out = (empty, empty, empty) if costs is None else costs
        steps = n * max(self.sums.table.shape[1], self.sums.moments.shape[1])
        at_once = max(min(AT_ONCE // steps, -(-d // 4)), 1) if steps * d > ONE_THREAD else d

        def best_of(start: int) -> tuple[int, int, int] | None:
            if start > 0 and self.deadline is not None and time.monotonic() >= self.deadline:
                return None
            return self.sums.sweep(order, start, min(start + at_once, d), out)

        starts = range(0, d, at_once)
        tried = [best_of(0)] if len(starts) == 1 else map_tasks(best_of, starts, n_jobs=self.n_jobs)
        cost, column, code = min(each for each in tried if each is not None)
        leaf = self._leaf(order)
        best = leaf if cost >= leaf.cost else BestOnBox(cost, cost, (column, code, None, None))
        return best if None not in tried else best._replace(bound=0)

    # -------------------------------------------------------------------------------------------------- more leaves

    def _search_runs(self, order: Order, leaves: int, budget: int, found: BestOnBox) -> BestOnBox:
        """Look at runs until none is left that may hold a tree of a cost below the budget and that of the best tree."""
        runs = _Runs(order, leaves)
        two = self._best_cut(order, (runs.first, runs.second, runs.places))
        best = min(two, found, key=lambda each: each.cost)
        if not two.is_exact:
            return BestOnBox(found.bound, best.cost, best.cuts)
        runs.limit = min(budget, best.cost)
        runs.begin()
        while runs.bound < runs.limit and not self.is_over:
            run = heappop(runs.waiting)
            better = self._look(order, runs, run)
            if better is not None and better.cost < best.cost:
                best = better
        return BestOnBox(max(found.bound, runs.bound), best.cost, best.cuts)

    def _look(self, order: Order, runs: _Runs, run: _CutRun) -> BestOnBox | None:
        """Look at a place of a run, let its parts wait, and return the tree that was found there.

        The side with fewer leaves is solved first. If it rules out the part of the run in which it costs more, the
        other side is not solved, as a place in the other part will tell more.
        """
        _, column, share, low, high, first, second, _ = run
        at, other = run.place(runs.leaves), runs.leaves - share
        code = int(runs.places[column, at])

        def solved(is_first: bool) -> BestOnBox:
            share_here = share if is_first else other
            if share_here == 1:
                cost = int((runs.first if is_first else runs.second)[column, at])
                return BestOnBox(cost, cost, None)
            box = self.side(order, column, code, is_first)
            return self.solve(box, share_here, runs.limit - (second if is_first else first))

        if share <= other:
            a = solved(True)
            if a.bound + second >= runs.limit:
                runs.wait(column, share, low, at - 1, first, second)
                return None
            b = solved(False)
        else:
            b = solved(False)
            if first + b.bound >= runs.limit:
                runs.wait(column, share, at + 1, high, first, second)
                return None
            a = solved(True)
        runs.limit = min(runs.limit, a.cost + b.cost)
        at_place = max(first, a.bound), max(second, b.bound)
        runs.wait(column, share, low, at - 1, first, at_place[1])
        runs.wait(column, share, at, at, *at_place)  # if the search is over and a side is not solved
        runs.wait(column, share, at + 1, high, at_place[0], second)
        return BestOnBox(0, a.cost + b.cost, (column, code, a.cuts, b.cuts))

    # ------------------------------------------------------------------------------------------ a tree to begin with

    def price_cuts(self, rows: Indices, cuts: Cuts) -> BestOnBox:
        """Return a tree with its cost on some rows; the bound is 0."""
        return BestOnBox(0, sum(self.sums.leaf(part) for part in leaf_rows(self.sums.codes, rows, cuts)), cuts)

    def grown(self, order: Order, leaves: int) -> BestOnBox:
        """Return a tree that grows by the cut that saves most; the bound is 0."""
        cuts: dict[Way, tuple[int, int]] = {}
        cutting: list[tuple[int, Way, int, int, Order]] = []  # minus what a cut saves, the way there, the cut, the box

        def add(way: Way, box: Order) -> None:
            cut = self.solve(box, 2)
            if cut.cuts is not None:
                heappush(cutting, (cut.cost - self._leaf(box).cost, way, cut.cuts[0], cut.cuts[1], box))

        add((), order)
        while cutting and len(cuts) < leaves - 1 and not self.is_over:
            _, way, column, code, box = heappop(cutting)
            cuts[way] = column, code
            for is_second in (False, True):
                add((*way, is_second), self.side(box, column, code, not is_second))
        trees: dict[Way, Cuts] = {}
        for way in sorted(cuts, key=len, reverse=True):
            trees[way] = (*cuts[way], trees.get((*way, False)), trees.get((*way, True)))
        return self.price_cuts(order[0], trees.get(()))


def box_name(codes: Order, order: Order) -> bytes:
    """Return the lowest and highest codes of a box in each column: they name its rows, as it holds all between."""
    return codes[np.arange(len(order)), order[:, :: max(order.shape[1] - 1, 1)].T].tobytes()


def leaf_rows(codes: Order, rows: Indices, cuts: Cuts) -> list[Indices]:
    """Return the rows of each leaf of a tree, in pre-order."""
    leaves, waiting = [], [(rows, cuts)]
    while waiting:
        here, cut = waiting.pop()
        if cut is None:
            leaves.append(here)
            continue
        is_first = codes[cut[0], here] <= cut[1]
        waiting += ((here[~is_first], cut[3]), (here[is_first], cut[2]))
    return leaves


def n_leaves(cuts: Cuts) -> int:
    """Return the number of leaves of a tree."""
    count, waiting = 0, [cuts]
    while waiting:
        node = waiting.pop()
        if node is None:
            count += 1
        else:
            waiting += node[2:]
    return count


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
        position = np.full(self.task.n_rows, -1)
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
class LoopCosts:
    """The costs of a task's kept rows as the loops take them. They are whole numbers; `in_units` gives them a unit."""

    sums: LoopRows
    least: float  # cost of the rows in the best of cases, which the sums leave out, in the units of `in_units`
    slack: float  # by how much a bound may be too high, as costs are rounded
    exponent: int  # of two, by which costs are multiplied to be in the unit of the task's columns

    def in_units(self, cost: float) -> float:
        """Return a cost in squared units of the columns, or a weight of mistakes."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(float(cost), self.exponent)) + self.least

    @property
    def doubt(self) -> float:
        """By how much a bound may be too high, in the units of `in_units`."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self.slack, self.exponent))

    @classmethod
    def of_clusters(cls, task: Task, kept: Kept, loss: str, most: float = math.inf) -> LoopCosts:
        """Return the costs if leaves choose among clusters: squared distances to their centres, or mistakes.

        Trees that cost more than `most` need not have their own cost, but one above it. So rows that alone cost more
        than that leave digits for the others.
        """
        problem = make_problem(task, loss)
        exponent = _exponent_of_weights(task, problem, kept)
        if loss == "cost":
            exponent += 2 - 2 * _log2(distance_unit(task))
        if math.isfinite(most):
            table, least, scale = _cap_costs(problem, kept, float(np.ldexp(2 * most, -exponent)))
        else:
            table, scale = integer_costs(problem, kept.rows)
            least = int(table.min(axis=1).sum()) / scale
            table -= table.min(axis=1)[:, None]
        sums = LoopRows(kept.codes, table, np.empty((len(table), 0)), 1.0)
        slack = float(problem.times[kept.rows].sum())
        return cls(sums, float(np.ldexp(least, exponent)), slack, exponent - _log2(scale))

    @classmethod
    def of_means(cls, task: Task, kept: Kept, most: float = math.inf) -> LoopCosts:
        """Return the costs if each leaf has its own mean: weight, square and values of each row, as whole numbers.

        Values are taken about a median of each column, the lower one, which no order of rows changes. Trees that cost
        more than `most` need not have their own cost, but one above it; see `_close_gaps`.
        """
        problem = make_problem(task, "mistakes")  # for the weights alone
        share, times = problem.share[kept.rows], problem.times[kept.rows]
        values, unit = _about_medians(task, kept, times, most)
        squares, farthest = np.zeros(values.shape[1]), np.zeros(values.shape[1])
        for column in values:  # column by column, so that the sum of a row is the same on every processor
            squares += column * column
            farthest = np.maximum(farthest, np.abs(column))
        of_weights, of_values, of_squares = (
            scale_of(each * share * times) * _DIGITS for each in (np.ones(len(squares)), farthest, squares)
        )
        if (share == 1).all():
            of_weights = 1.0
        moments, lost = _round_moments(
            np.vstack([share * of_weights, squares * share * of_squares, values * share * of_values])
        )
        moments *= times[:, None]
        no_table = np.empty((len(squares), 0), dtype=np.int64)
        exponent = _exponent_of_weights(task, problem, kept) - _log2(of_squares) + 2 - 2 * _log2(unit)
        sums = LoopRows(kept.codes, no_table, moments, of_squares / of_values * of_weights / of_values)
        return cls(sums, 0.0, _slack(sums, lost, times, of_values / of_weights * values), exponent)

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


def _round_moments(moments: Floats) -> tuple[Floats, Floats]:
    """Return weights, squares and values of rows as whole numbers, shape (n, 2 + d), and by how much they differ.

    IN: moments (2 + d, n), which is overwritten.
    """
    whole = np.ascontiguousarray(np.rint(moments).T)
    whole[:, 0] = np.maximum(whole[:, 0], 1.0)
    moments -= whole.T
    return whole, np.abs(moments, out=moments)


def _slack(sums: LoopRows, lost: Floats, times: Ints, values: Floats) -> float:
    """Return by how much the cost of a tree may be too high, as rows, their sums and what is made of them are rounded.

    Rows of sum S and weight W cost S**2 / W less. If that sum is rounded by e, and the weight by f, it changes by at
    most 2 |S / W| e + 2 (S / W)**2 f, and by e**2 / W; |S / W| is at most the largest value. With whole weights |S / W|
    times e is at most |S| times the largest e of a row.

    IN: lost (2 + d, n): by how much the moments of each row are rounded; values (d, n): of each row, in units of S / W.
    """
    weights, squares = sums.moments[:, 0], sums.moments[:, 1].sum()
    of_columns = lost @ times
    largest, ranges = np.abs(values).max(axis=1), np.ptp(values, axis=1)
    of_sums = largest * of_columns[2:]
    if not of_columns[0]:
        of_sums = np.minimum(of_sums, np.abs(sums.moments[:, 2:]).sum(axis=0) * lost[2:].max(axis=1))
    of_sums = 2 * (of_sums + largest**2 * of_columns[0]) + (lost[2:] ** 2 * times**2 / weights).sum(axis=1)
    arithmetic = (len(values) + 8) * squares + sums.factor * weights.sum() * (ranges**2).sum()
    return float(of_columns[1] + sums.factor * of_sums.sum() + 2.0**-52 * arithmetic + DEEPEST)


def _cap_costs(problem: CutProblem, kept: Kept, most: float) -> tuple[Ints, float, float]:
    """Return what rows cost under each cluster above their least cost, at most `most`, and the sum of the least costs.

    The former are whole numbers, and have a scale as those of `integer_costs`, which comes last.
    """
    costs, times = problem.costs(kept.rows) * problem.share[kept.rows, None], problem.times[kept.rows]
    least = costs.min(axis=1)
    above = np.minimum(costs - least[:, None], most)
    scale = scale_of(above.max(axis=1) * times)
    return np.rint(above * scale).astype(np.int64) * times[:, None], math.fsum(least * times), scale


def _about_medians(task: Task, kept: Kept, times: Ints, most: float) -> tuple[Floats, float]:
    """Return the rows' halved differences to the median of each column times a power of two, and this power.

    The differences come column by column, shape (d, n).

    Halves of huge numbers have a difference, and the power brings the largest value near 1.
    """
    columns = [task.rows.column(feature, kept.rows) * 0.5 for feature in range(task.n_columns)]
    if math.isfinite(most):
        least = 1.0 if task.rows.weights is None else float(task.rows.weights[kept.rows].min())
        widest = math.sqrt(most) / math.sqrt(least)
        columns = [_close_gaps(column, kept.order[feature], widest) for feature, column in enumerate(columns)]
    spread = max(float(column.max() - column.min()) for column in columns)
    unit = math.ldexp(1.0, min(-math.frexp(spread)[1], 1023))
    values = np.empty((len(columns), len(kept.rows)))
    for feature, column in enumerate(columns):
        counted = np.cumsum(times[kept.order[feature]])
        median = column[kept.order[feature, np.searchsorted(counted, (counted[-1] + 1) // 2)]]
        values[feature] = (column - median) * unit
    return values, unit


def _close_gaps(column: Floats, order: Indices, widest: float) -> Floats:
    """Return halved values with gaps of at most `widest` between neighbours, so that few digits hold them all.

    A leaf with rows on both sides of a wider gap costs at least twice the square of that, times the least weight of a
    row. If that is more than the best tree costs, such leaves may cost less, so long as it stays more: all other leaves
    lie on one side of the gap, and cost what they did::

        0  1  2                          999999999
        0  1  2         102                           each gap at most 100
    """
    ordered = column[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] - ordered[:-1] > widest]))
    lengths = np.diff(begins, append=len(ordered))
    first, last = ordered[begins], ordered[begins + lengths - 1]
    moved_to = np.concatenate([[0.0], np.cumsum((last - first)[:-1] + widest)])
    closed = np.empty(len(column))
    closed[order] = (ordered - np.repeat(first, lengths)) + np.repeat(moved_to, lengths)
    return closed


def _exponent_of_weights(task: Task, problem: CutProblem, kept: Kept) -> int:
    """Return the power of two that `make_problem` takes from the weights."""
    row = kept.rows[int(np.argmax(problem.share[kept.rows] * problem.times[kept.rows]))]  # tiny weights may be 0 there
    weight = 1.0 if task.rows.weights is None else float(task.rows.weights[row])
    return _log2(weight / float(problem.share[row] * problem.times[row]))


def _log2(power: float) -> int:
    return math.frexp(power)[1] - 1


Order: TypeAlias = NDArray[np.int32]
"""The rows of a box in the ascending order of each column, shape (d, n)."""


class LoopRows(NamedTuple):
    """Rows as the loops take them; see `boxwood.loops.optimal`."""

    codes: NDArray[np.int32]
    table: Ints
    moments: Floats
    factor: float

    def leaf(self, rows: NDArray[np.integer]) -> int:
        """Return the cost of some rows as one leaf."""
        rows = rows.astype(np.int32, copy=False)  # of the kind of an order, so that the loop is compiled for one kind
        return int(leaf_cost(rows, self.table, self.moments, self.factor))

    def sweep(self, order: Order, start: int, stop: int, out: tuple[Ints, Ints, Ints]) -> tuple[int, int, int]:
        """Return the cheapest cut of some columns, and write the costs of all; see `loops.optimal.sweep_clusters`."""
        if self.table.shape[1]:
            found: tuple[int, int, int] = sweep_clusters(order, self.codes, self.table, start, stop, *out)
        else:
            found = sweep_means(order, self.codes, self.moments, self.factor, start, stop, *out)
        cost, column, code = found
        return int(cost), int(column), int(code)
