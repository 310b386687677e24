"""Better cuts on categories and on numbers with gaps: for each cut of a tree the best set, or side of missing values.

A table holds the codes of categories, and the point at infinity where a number is missing (`MISSING`). Let a row's
difference at a node be its cost in the leaf that it reaches below the first child, less that below the second one. The
differences of a node's rows, summed by code, tell the best set at once: the codes whose sum is below zero. For numbers
the sums are taken up to each value, with and without the rows that lack one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.axes.mixed import NONE_ALIKE
from boxwood.grow.shared.costs import integer_costs, make_problem
from boxwood.loops.order import ascending
from boxwood.reference import Task
from boxwood.reference.budget import NO_BUDGET, Budget
from boxwood.reference.mixed import CodedColumns
from boxwood.tree import ThresholdTree, TreeBuilder, between

MOST_ROWS = 100_000  # of a longer table so many decide, evenly spread over it
LARGEST = sys.float_info.max  # so that `x <= LARGEST` asks whether there is a number


def refined_categories(
    tree: ThresholdTree,
    table: Array,
    task: Task,
    loss: str,
    columns: CodedColumns,
    *,
    budget: Budget = NO_BUDGET,
    max_rounds: int = 5,
) -> ThresholdTree:
    """Return the tree with better cuts on categories and on numbers with gaps, until none lowers the loss further.

    A node may get a cut on another column than it had. Leaves keep their clusters, and no leaf loses all of its rows,
    or all rows of its own cluster.

    Parameters
    ----------
    tree : ThresholdTree
        Tree on the columns of the table.
    table : array of shape (n, d)
        The rows of the task in the columns that the tree cuts: numbers, codes, and infinity for missing numbers.
    task : Task
        Labels and weights of the rows, and the coordinates in which their costs are measured.
    loss : {"cost", "mistakes"}
        Loss of a row in a leaf: its squared distance to the centre of the leaf's cluster, or 1 in another cluster.
    columns : CodedColumns
        Columns of categories, and of numbers that lack some values.
    budget : Budget
        Limits on the columns of the table.
    max_rounds : int, default=5
        Largest number of walks over the nodes, from the leaves up.

    Returns
    -------
    ThresholdTree
        Always holds: its loss is not above that of `tree`, on the 100 000 rows that decide where there are more. Codes
        that no row of a node has go to the side of more rows.

    Notes
    -----
    Sums are of whole numbers, so neither the order of rows nor the processor matters. Of equal cuts that on the column
    of fewer words is taken, or the one that is there; of better ones the first, by column. Only the best cut of each
    column is looked at: where it would take a leaf its rows, that column is passed over. Each round takes time n k
    once, then n for each node above a row and each of these columns, and memory for n k numbers.
    """
    draft = SetState(tree, table, task, loss, budget, columns.alike)
    cut_anew = _SetColumns.of(draft.values, columns, tree, budget)
    for _ in range(max_rounds):
        if not draft.improve(cut_anew):
            break
    return draft.build()


class NewCut(NamedTuple):
    """The rows of a cut that go to the first child, how much their differences add up to, and the cut that says so."""

    total: int
    feature: int
    lower: float
    upper: float
    members: tuple[int, ...]
    swaps: bool  # whether rows inside of the cut go to the second child

    @classmethod
    def of_set(cls, feature: int, goes_first: Bools, sums: Ints, rows: Indices, alike: Indices | None) -> NewCut:
        """Return the cut of a set of codes; codes without rows go where more rows go.

        IN: goes_first, sums, rows (n_codes,): codes in the set, and the differences and the rows of each; alike: the
        code that stands for each code, if some are not told apart.
        """
        total = int(sums[goes_first].sum())
        if rows[goes_first].sum() * 2 > rows.sum():
            goes_first = goes_first | (rows == 0)
        return cls.of_codes(feature, total, goes_first if alike is None else goes_first[alike])

    @classmethod
    def of_codes(cls, feature: int, total: int, goes_first: Bools) -> NewCut:
        """Return the cut of all codes in a set."""
        members = np.flatnonzero(goes_first)
        has_hole = members[-1] - members[0] >= len(members)
        ends = float(members[0]), float(members[-1])
        return cls(total, feature, *ends, tuple(members.tolist()) if has_hole else (), False)


class AtNode(NamedTuple):
    """The rows of a node: which go to its first child, the leaves they reach below each, and what that differs."""

    goes_first: Bools
    below: tuple[Indices, Indices]
    difference: Ints

    @property
    def total(self) -> int:
        """What the differences of the rows that go to the first child add up to."""
        return int(self.difference[self.goes_first].sum())


class _SetColumns(NamedTuple):
    """The columns that may be cut anew."""

    codes: dict[int, int]
    sets: Mapping[int, Bools]  # of codes that may go to the first child, shape (n_sets, n_codes), where not all may
    order: dict[int, Indices]  # rows in ascending order, for each column with gaps
    alike: Mapping[int, Indices]  # the code that stands for each code, where some are not told apart

    @classmethod
    def of(cls, values: Floats, columns: CodedColumns, tree: ThresholdTree, budget: Budget) -> _SetColumns:
        usable = set(budget.allowed(values.shape[1]))
        if budget.max_columns is not None:
            usable &= set(tree.features.tolist())
        order = {j: _missing_last(values[:, j]) for j in sorted(columns.gaps) if j in usable}
        codes = {j: n_codes for j, n_codes in sorted(columns.codes.items()) if j in usable}
        return cls(codes, sets_of(columns), order, columns.alike)

    def n_values(self, feature: int) -> int:
        """Return the number of words of a column; 0 for one of numbers, and where the order allows few sets."""
        return 0 if feature in self.sets else self.codes.get(feature, 0)

    def sides(self, values: Floats, rows: Indices, difference: Ints) -> Iterator[NewCut]:
        """Yield the best cut of some rows in each column; IN: difference: of all rows, 0 outside of these."""
        for j, n_codes in self.codes.items():
            codes, at = values[rows, j].astype(np.intp), self.alike.get(j)
            yield from best_set(j, n_codes, self.sets.get(j), codes, difference[rows], at)
        if self.order:
            is_here = np.zeros(len(values), dtype=np.bool_)
            is_here[rows] = True
            for j, order in self.order.items():
                at = order[is_here[order]]
                yield from best_threshold(j, values[at, j], difference[at])


def _missing_last(x: Floats) -> Indices:
    """Return rows in ascending order of their numbers, and behind them those that lack one."""
    known, lacks = np.flatnonzero(x < np.inf), np.flatnonzero(x == np.inf)
    return np.concatenate([known[ascending(x[known])], lacks])


def sets_in_order(n_known: int, n_codes: int) -> Bools:
    """Return the sets that a cut of codes in their order may send to the first child, shape (n_sets, n_codes)."""
    up_to, lacks = np.tri(n_known, n_codes, dtype=np.bool_), np.arange(n_codes) >= n_known
    return np.vstack([up_to, up_to | lacks, ~up_to, ~(up_to | lacks)])


def sets_of(columns: CodedColumns) -> dict[int, Bools]:
    """Return for each column that is cut in its order the sets that may go to the first child."""
    return {j: sets_in_order(n_known, columns.codes[j]) for j, n_known in columns.ordered.items()}


def best_set(
    feature: int, n_codes: int, sets: Bools | None, codes: Indices, difference: Ints, alike: Indices | None = None
) -> Iterator[NewCut]:
    """Yield the set of codes whose rows should go to the first child, unless all or none should.

    IN: sets: those that may; None: all; alike: the code that stands for each code, if some are not told apart.
    """
    sums, rows = np.zeros(n_codes, dtype=np.int64), np.bincount(codes, minlength=n_codes)
    np.add.at(sums, codes, difference)
    goes_first = sums < 0 if sets is None else _best_of(sets, sums, rows)
    if not goes_first.any() or goes_first[rows > 0].all():
        return
    if sets is None:
        yield NewCut.of_set(feature, goes_first, sums, rows, alike)
    else:
        yield NewCut.of_codes(feature, int(sums[goes_first].sum()), goes_first)


def _best_of(sets: Bools, sums: Ints, rows: Indices) -> Bools:
    """Return the set of the least sum; of equal ones that with most codes on the side of more rows, then the first."""
    n_first, n_codes = sets @ rows, sets.sum(axis=1)
    with_more = np.where(2 * n_first > rows.sum(), n_codes, sets.shape[1] - n_codes)
    is_cut = (n_first > 0) & (n_first < rows.sum())
    order = np.lexsort((-with_more, sets @ sums, ~is_cut))
    return np.asarray(sets[order[0]])


def best_threshold(feature: int, values: Floats, difference: Ints) -> Iterator[NewCut]:
    """Yield the best cuts between ascending values, the last of which may be missing: on which side, and with which."""
    n = int(np.searchsorted(values, np.inf))
    missing = int(difference[n:].sum())
    present = int(difference[:n].sum())
    if n < len(values) and n:
        yield NewCut(present, feature, -math.inf, LARGEST, (), False)
        yield NewCut(missing, feature, -math.inf, LARGEST, (), True)
    ends = np.flatnonzero(values[: max(n - 1, 0)] < values[1:n])
    if not ends.size:
        return
    up_to = np.cumsum(difference[:n])[ends]
    for best, is_below in ((int(up_to.argmin()), True), (int(up_to.argmax()), False)):
        end = int(ends[best])
        threshold = float(between(float(values[end]), float(values[end + 1])))
        above = math.nextafter(threshold, math.inf)
        below = int(up_to[best])
        if is_below:
            yield NewCut(below, feature, -math.inf, threshold, (), False)
            yield NewCut(below + missing, feature, above, LARGEST, (), True)
        else:
            yield NewCut(present - below, feature, above, LARGEST, (), False)
            yield NewCut(present - below + missing, feature, -math.inf, threshold, (), True)


class SetState:
    """A tree whose cuts change, and the kept rows of a task with their costs under each cluster."""

    def __init__(
        self,
        tree: ThresholdTree,
        table: Array,
        task: Task,
        loss: str,
        budget: Budget,
        alike: Mapping[int, Indices] = NONE_ALIKE,
    ) -> None:
        rows = np.flatnonzero(task.kept)
        every = -(-len(rows) // MOST_ROWS)
        rows = rows[::every]
        self.values = np.asarray(table[rows], dtype=np.float64, order="F")  # read column by column
        self.labels, self.budget = task.reference.labels[rows], budget if every == 1 else budget.for_share(1 / every)
        self.costs, _ = integer_costs(make_problem(task, loss), rows)
        self.feature, self.cluster = tree.feature.tolist(), tree.cluster.tolist()
        self.first, self.second = (np.arange(tree.n_nodes) + 1).tolist(), tree.second.tolist()
        self.ends = list(zip(tree.lower.tolist(), tree.upper.tolist(), strict=True))
        self.members = [tree.test(node).members for node in range(tree.n_nodes)]
        for j, codes_alike in alike.items():
            self.values[:, j] = codes_alike[self.values[:, j].astype(np.intp)]

    def improve(self, columns: _SetColumns) -> bool:
        """Choose the cuts anew, from the leaves up; return whether one has changed."""
        has_changed = False
        for node, rows in reversed(list(self.rows_of_cuts())):
            has_changed |= self._improve(node, rows, columns)
        return has_changed

    def build(self) -> ThresholdTree:
        """Return the tree."""
        builder, waiting = TreeBuilder(), [(0, 0)]
        while waiting:
            node, new = waiting.pop()
            if self.feature[node] < 0:
                builder.label(new, self.cluster[node])
                continue
            lower, upper = self.ends[node]
            children = builder.split(new, self.feature[node], upper, lower, self.members[node])
            waiting += zip((self.second[node], self.first[node]), children[::-1], strict=True)
        return builder.build()

    def rows_of_cuts(self) -> Iterator[tuple[int, Indices]]:
        """Yield each cut and its rows, a cut before those below it."""
        waiting = [(0, np.arange(len(self.values)))]
        while waiting:
            node, rows = waiting.pop()
            if self.feature[node] < 0:
                continue
            yield node, rows
            inside = self._inside(node, rows)
            waiting += ((self.second[node], rows[~inside]), (self.first[node], rows[inside]))

    def _inside(self, node: int, rows: Indices) -> Bools:
        return _is_inside(self.values[rows, self.feature[node]], *self.ends[node], self.members[node])

    def _leaves_below(self, top: int, rows: Indices) -> Indices:
        """Return the leaf that each row reaches from a node, as its number among the nodes."""
        leaves, waiting = np.empty(len(rows), dtype=np.intp), [(top, np.arange(len(rows)))]
        while waiting:
            node, at = waiting.pop()
            if self.feature[node] < 0:
                leaves[at] = node
                continue
            inside = self._inside(node, rows[at])
            waiting += ((self.second[node], at[~inside]), (self.first[node], at[inside]))
        return leaves

    def _improve(self, node: int, rows: Indices, columns: _SetColumns) -> bool:
        """Give a node the best cut of its rows, if that is better than its own; return whether it is."""
        here = self.at(node, rows)
        difference = np.zeros(len(self.values), dtype=np.int64)
        difference[rows] = here.difference
        least, chosen = (here.total, columns.n_values(self.feature[node])), None
        for cut in columns.sides(self.values, rows, difference):
            found = cut.total, columns.n_values(cut.feature)
            if found < least and self.may_take(rows, here, cut):
                least, chosen = found, cut
        if chosen is not None:
            self.take(node, chosen)
        return chosen is not None

    def at(self, node: int, rows: Indices) -> AtNode:
        """Return what the rows of a node do on either side of its cut."""
        first, second = (self._leaves_below(child, rows) for child in (self.first[node], self.second[node]))
        clusters = np.asarray(self.cluster)
        difference = self.costs[rows, clusters[first]] - self.costs[rows, clusters[second]]
        return AtNode(self._inside(node, rows), (first, second), difference)

    def may_take(self, rows: Indices, here: AtNode, cut: NewCut) -> bool:
        """Return whether each leaf that has rows keeps enough with another cut, and some of its own cluster."""
        inside = _is_inside(self.values[rows, cut.feature], cut.lower, cut.upper, cut.members)
        before, after = np.where(here.goes_first, *here.below), np.where(inside != cut.swaps, *here.below)
        return self._keeps_leaves(rows, before, after)

    def _keeps_leaves(self, rows: Indices, before: Indices, after: Indices) -> bool:
        """Return whether each leaf that has rows keeps enough, and some of its own cluster if it has such."""
        n, clusters = len(self.feature), np.asarray(self.cluster)
        had, has = np.bincount(before, minlength=n), np.bincount(after, minlength=n)
        if (has[had > 0] < self.budget.min_samples_leaf).any():
            return False
        own_had, own_has = (
            np.bincount(leaves[clusters[leaves] == self.labels[rows]], minlength=n) for leaves in (before, after)
        )
        return not (own_has[own_had > 0] == 0).any()

    def take(self, node: int, side: NewCut) -> None:
        """Give a node another cut."""
        self.feature[node], self.members[node] = side.feature, side.members
        self.ends[node] = side.lower, side.upper
        if side.swaps:
            self.first[node], self.second[node] = self.second[node], self.first[node]


def _is_inside(values: Floats, lower: float, upper: float, members: Sequence[int]) -> Bools:
    inside = (lower <= values) & (values <= upper)
    return np.asarray(inside & np.isin(values, members) if len(members) else inside)
