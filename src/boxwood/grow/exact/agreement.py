"""Trees that agree most with the clusters: whole ones within a depth, with a bound, and in subtrees of depth two.

The search looks for the tree with the fewest mistakes, within a depth, a number of leaves and fewest rows of a leaf.

Trees of depth two, and of depth three in small tables, are found by the loops of `boxwood.loops.agreement`, where it
says how. Others are looked for in the same way: of all cuts at the root one in the column of the lowest bound is looked
at, in the middle of the places that may hold a better tree, and each of its sides is a search of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from boxwood._types import Indices, Ints
from boxwood.grow.exact._search import DEEPEST, Cuts, Kept, Order, box_name, leaf_rows, n_leaves
from boxwood.grow.leaves.impurity import grow_by_impurity
from boxwood.grow.refinement.exchange import within
from boxwood.grow.refinement.refine import refine_tree
from boxwood.grow.shared.costs import make_problem, scale_of
from boxwood.loops.agreement import NONE, UNIT, begin, look, middle, raise_bounds, solve
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

CHOICES = 200  # sets of columns that are all tried
SAMPLED, FAR = 1_000, 16  # rows whose best tree the search begins with, and how many times as many the table has
BY_LOOP = 3  # depth up to which no other tree is grown to begin with
CELLS = {1: 1 << 22, 2: 1 << 20, 3: 30_000}  # rows times columns up to which trees of a depth are solved by "auto"


class Agreeing(NamedTuple):
    """A tree, the weight of its mistakes, and a weight that no tree within the limits is below."""

    tree: ThresholdTree
    mistakes: float
    bound: float


def is_within_reach(task: Task, depth: int) -> bool:
    """Return whether a table has so few rows and columns that its best tree of a depth is found in about a second."""
    return task.n_kept * len(task.budget.allowed(task.rows.n_columns)) <= CELLS.get(depth, 0)


def agreeing_of(
    task: Task,
    leaves: int,
    *,
    incumbent: ThresholdTree | None = None,
    max_steps: int | None = None,
    deadline: float | None = None,
    marks: LoopCodes | None = None,
) -> Agreeing:
    """Return the tree with the fewest mistakes that keeps the budget of a task, with at most so many leaves.

    Of such trees it is the one with the fewest leaves, and then the first by its cuts in pre-order: by column, then by
    threshold. The search begins with `incumbent`, if its cuts are one-sided. It stops after `max_steps` rows of columns
    that were looked at, or after half of them if it found no better tree since an eighth of what it did, or at the
    time `deadline` of `time.monotonic`, with the best tree so far and a bound.
    `max_columns` is kept by trying all sets of columns, up to 200, each within these steps, and else by adding columns
    one at a time, with the bound of all columns. IN: marks: the rows, with what is solved of them already.
    """
    if task.budget.max_columns is not None:
        return _on_few(task, leaves, max_steps, deadline)
    marks = marks or LoopCodes.of(task)
    kept = marks.kept
    search = FewestMistakes(marks, task.budget.min_samples_leaf, deadline=deadline, max_steps=max_steps)
    leaves = min(leaves, len(kept.rows))
    depth = min(task.budget.max_depth or leaves, max(leaves - 1, 0))
    known = None
    takes_long = depth > BY_LOOP or (deadline is not None and not is_within_reach(task, depth))
    if incumbent is None and leaves > 1 and takes_long:
        incumbent = _grow_tree(task, leaves)
    elif incumbent is None and depth > 1 and (max_steps is None or depth == 2):
        incumbent = _of_sample(task, leaves, max_steps, deadline)
    if incumbent is not None and np.isneginf(incumbent.lower).all():
        known = kept.cuts(incumbent, np.arange(len(kept.rows)))
    if depth > BY_LOOP and leaves > DEEPEST:
        return _measure_result(search.not_sought(leaves, known), marks)
    return _measure_result(search.solve_from(depth, leaves, known), marks)


def _of_sample(task: Task, leaves: int, max_steps: int | None, deadline: float | None) -> ThresholdTree | None:
    """Return the best tree of some rows of a long table: with it to begin with, fewer cuts are looked at.

    There is none if leaves need a number of rows, as the tree may leave fewer of all rows in one.
    """
    rows = np.flatnonzero(task.kept)
    if task.budget.min_samples_leaf > 1 or len(rows) < FAR * SAMPLED:
        return None
    sample = task.of_rows(rows[:: len(rows) // SAMPLED])
    return agreeing_of(sample, leaves, max_steps=max_steps, deadline=deadline).tree


def _grow_tree(task: Task, leaves: int) -> ThresholdTree:
    """Return a tree that is grown fast and improved."""
    tree = within(refine_tree(grow_by_impurity(task, "gini", leaves), task, "mistakes"), task, "mistakes")
    return resolved_by_agreement(tree, task, leaves)


def _measure_result(found: Fewest, marks: LoopCodes) -> Agreeing:
    """Return a result of the search as a tree, whose leaves have their commonest clusters, with weights of mistakes."""
    kept = marks.kept
    task, weights = kept.task, kept.task.rows.weights
    tree = _name_leaves(kept.tree(found.cuts), found.cuts, marks)
    wrong = task.kept & (tree.predict(task.rows) != task.reference.labels)
    mistakes = math.fsum((np.ones(len(wrong)) if weights is None else weights)[wrong].tolist())
    if found.is_exact:
        return Agreeing(tree, mistakes, mistakes)
    whole, factor = marks.scaled
    lost = 0 if factor == 1.0 else len(whole)  # of the weights' sum, as each is rounded
    unit = 1.0 if weights is None or factor == 1.0 else float(weights[kept.rows].max()) / float(whole.max())
    return Agreeing(tree, mistakes, min(max(found.bound // UNIT - lost, 0) * unit, mistakes))


def _name_leaves(tree: ThresholdTree, cuts: Cuts, marks: LoopCodes) -> ThresholdTree:
    """Return the tree with the commonest cluster of each leaf, the first of equals."""
    rows, weights = np.arange(len(marks.labels)), marks.scaled[0]
    leaves = leaf_rows(marks.kept.codes, rows, cuts)
    return tree.relabeled(np.array([np.bincount(marks.labels[leaf], weights[leaf]).argmax() for leaf in leaves]))


def _on_few(task: Task, leaves: int, max_steps: int | None, deadline: float | None) -> Agreeing:
    """Return the best tree on as many columns as the budget allows, with the bound of all sets that may be better."""
    columns = sorted({task.budget.source(j) for j in task.budget.allowed(task.rows.n_columns)})
    size = min(task.budget.max_columns or len(columns), len(columns))

    def on(chosen: tuple[int, ...]) -> Agreeing:
        few = task.within(task.budget.only(chosen, task.rows.n_columns))
        return agreeing_of(few, leaves, max_steps=max_steps, deadline=deadline)

    if math.comb(len(columns), size) <= CHOICES:
        found = [on(chosen) for chosen in combinations(columns, size)]
        bound = min(each.bound for each in found)
    else:
        free = task.within(replace(task.budget, max_columns=None))
        bound = agreeing_of(free, leaves, max_steps=max_steps, deadline=deadline).bound
        chosen: tuple[int, ...] = ()
        for _ in range(size):
            more = [tuple(sorted((*chosen, column))) for column in columns if column not in chosen]
            found = [on(each) for each in more]
            chosen = more[int(np.argmin([each.mistakes for each in found]))]
    best = min(found, key=_order)
    return best._replace(bound=min(bound, best.mistakes))


def _order(found: Agreeing) -> tuple[float, int, list[tuple[int, float]]]:
    cuts = zip(found.tree.feature.tolist(), found.tree.upper.tolist(), strict=True)
    return found.mistakes, found.tree.n_leaves, [(j, upper if j >= 0 else 0.0) for j, upper in cuts]


def resolved_by_agreement(
    tree: ThresholdTree,
    task: Task,
    leaves: int,
    *,
    max_steps: int | None = None,
    deadline: float | None = None,
    marks: LoopCodes | None = None,
) -> ThresholdTree:
    """Return the tree with each subtree of depth two replaced by the best one for its rows, until none is better.

    Leaves that are free, as `leaves` allows more, are used where they save most. The result has no more mistakes than
    `tree`; of as many it has fewer leaves. It keeps the budget of the task if `tree` does. A tree with two-sided cuts
    is returned as it is. It ends after `max_steps` rows of columns that were looked at, or at the time `deadline` of
    `time.monotonic`; subtrees of so many rows that these steps would not do are left. IN: marks: the rows, with what is
    solved of them already.
    """
    if not np.isneginf(tree.lower).all() or leaves < 2:
        return tree
    marks = marks or LoopCodes.of(task)
    kept = marks.kept
    search = FewestMistakes(marks, task.budget.min_samples_leaf, deadline=deadline, max_steps=max_steps)
    windows = _Windows(marks, search, leaves)
    rows = np.arange(len(kept.rows))
    before = kept.cuts(tree, rows)
    cuts = windows.improve(before)
    if marks.cost(cuts, rows) >= marks.cost(before, rows):
        return tree
    return _name_leaves(kept.tree(cuts), cuts, marks)


class _Windows:
    """The subtrees of a tree with up to two cuts on a way down, each solved for its rows."""

    def __init__(self, marks: LoopCodes, search: FewestMistakes, leaves: int) -> None:
        self.marks, self.search, self.leaves = marks, search, leaves
        self.depth = marks.kept.task.budget.max_depth or leaves
        self.found: dict[tuple[bytes, int, int], Fewest] = {}

    def improve(self, cuts: Cuts) -> Cuts:
        """Return a tree none of whose windows can be better, or the best one when the search is over."""
        rows = np.arange(len(self.marks.labels))
        while not self.search.is_over:
            better = self._with_best(cuts, rows, self.depth)
            if better == cuts:
                gains = self._gains(cuts, rows, (), self.leaves - n_leaves(cuts))
                gain, way, window = min(gains, key=lambda each: each[:2], default=(0, (), None))
                if gain >= 0:
                    break
                better = _replace_subtree(cuts, way, window)
            cuts = better
        return cuts

    def _with_best(self, cuts: Cuts, rows: Indices, depth: int) -> Cuts:
        """Return a tree with the best tree in each window that has no window above it, with as many leaves."""
        if cuts is None:
            return None
        if n_leaves(cuts) <= 4 and _depth(cuts) <= 2:
            found = self._best(rows, min(2, depth), n_leaves(cuts))
            return found.cuts if found.cost < self.marks.cost(cuts, rows) else cuts
        inside = self.marks.kept.codes[cuts[0], rows] <= cuts[1]
        first = self._with_best(cuts[2], rows[inside], depth - 1)
        return cuts[0], cuts[1], first, self._with_best(cuts[3], rows[~inside], depth - 1)

    def _gains(
        self, cuts: Cuts, rows: Indices, way: tuple[int, ...], free: int
    ) -> Iterator[tuple[int, tuple[int, ...], Cuts]]:
        """Yield for each window how its best tree with more leaves changes the cost, the way there, and the tree."""
        if free <= 0:
            return
        if n_leaves(cuts) <= 4 and _depth(cuts) <= 2 and len(way) < self.depth:
            found = self._best(rows, min(2, self.depth - len(way)), min(n_leaves(cuts) + free, 4))
            yield found.cost - self.marks.cost(cuts, rows), way, found.cuts
        if cuts is not None:
            inside = self.marks.kept.codes[cuts[0], rows] <= cuts[1]
            yield from self._gains(cuts[2], rows[inside], (*way, 2), free)
            yield from self._gains(cuts[3], rows[~inside], (*way, 3), free)

    def _best(self, rows: Indices, depth: int, leaves: int) -> Fewest:
        key = rows.tobytes(), depth, leaves
        found = self.marks.solved.get(key) or self.found.get(key)
        if found is None:
            order = self.marks.order
            if self.search.is_over or not self.search.may_close(len(order) * len(rows)):
                return Fewest(0, NONE, None, 0)
            inside = np.zeros(len(self.marks.labels), dtype=np.bool_)
            inside[rows] = True
            box = order[inside[order]].reshape(len(order), len(rows))
            found = self.search.solve(box, depth, leaves)
            (self.marks.solved if found.is_exact else self.found)[key] = found
        return found


def _depth(cuts: Cuts) -> int:
    return 0 if cuts is None else 1 + max(_depth(cuts[2]), _depth(cuts[3]))


def _replace_subtree(cuts: Cuts, way: tuple[int, ...], other: Cuts) -> Cuts:
    """Return a tree with another subtree at the end of a way from the root: 2 is the first side, 3 the second."""
    if not way:
        return other
    assert cuts is not None
    side = _replace_subtree(cuts[way[0]], way[1:], other)  # type: ignore[arg-type]
    return (*cuts[:2], side, cuts[3]) if way[0] == 2 else (*cuts[:3], side)


AT_ONCE = 1 << 24  # steps of a loop in one call, so that an interrupt is seen within a second
SMALL = 1 << 14  # rows times columns up to which one look takes less than its overhead, so that a loop does them all
LOOKS = 50  # times that a search for a tree of depth two looks at each value, seldom less where it finds a better one
MOST = 1 << 27  # steps of one call for depth two, unless the search may take more: within a second; few take as many
LARGE = 1 << 26  # rows times columns twice, up to which trees of depth two are found in one call of a loop
VAIN = 8  # times the steps up to the best tree, after which a better one is hardly ever found
REMEMBERED = 1 << 16  # boxes whose results are kept
_DIGITS = 2.0**-11  # from sums below 2**61 to sums below 2**50, which may be multiplied by `UNIT`


class Fewest(NamedTuple):
    """What is known of the best tree on a box; costs are those of `boxwood.loops.agreement`."""

    bound: int  # no tree costs less
    cost: int  # of the best tree that was found
    cuts: Cuts
    relaxed: int  # no tree costs less, even if leaves may have any number of rows

    @property
    def is_exact(self) -> bool:
        """Whether no tree is better."""
        return self.bound >= self.cost


@dataclass(frozen=True, eq=False)
class LoopCodes:
    """The kept rows of a task as the loops take them: codes in the columns that can be cut, labels, whole weights."""

    kept: Kept
    solved: dict[tuple[bytes, int, int], Fewest] = field(default_factory=dict)  # by rows, depth and leaves

    @classmethod
    def of(cls, task: Task) -> LoopCodes:
        """Return the kept rows of a task, of which nothing is solved yet."""
        return cls(Kept(task))

    @cached_property
    def columns(self) -> Indices:
        """The columns that have a cut, ascending."""
        return np.flatnonzero(self.kept.codes.max(axis=1) > 0)

    @cached_property
    def order(self) -> Order:
        """The rows in the ascending order of these columns."""
        return self._of_columns(self.kept.order)

    @cached_property
    def codes(self) -> Order:
        """The codes of their values."""
        return self._of_columns(self.kept.codes)

    def _of_columns(self, table: Order) -> Order:
        return table if len(self.columns) == len(table) else np.ascontiguousarray(table[self.columns])

    @cached_property
    def labels(self) -> Ints:
        """The cluster of each row."""
        return self.kept.task.reference.labels[self.kept.rows].astype(np.int64)

    @cached_property
    def scaled(self) -> tuple[Ints, float]:
        """The weight of each row as a whole number, and the factor that made it one."""
        problem = make_problem(self.kept.task, "mistakes")
        share, times = problem.share[self.kept.rows], problem.times[self.kept.rows]
        if (share == 1).all():
            return np.array(times), 1.0
        factor = scale_of(share * times) * _DIGITS
        return np.rint(share * factor).astype(np.int64) * times, factor

    def cost(self, cuts: Cuts, rows: Indices) -> int:
        """Return the cost of a tree on some rows; its cuts are on columns of the table."""
        weights, cost = self.scaled[0], UNIT * int(self.scaled[0][rows].sum())
        for leaf in leaf_rows(self.kept.codes, rows, cuts):
            cost += 1 - UNIT * int(np.bincount(self.labels[leaf], weights[leaf]).max(initial=0))
        return cost


class FewestMistakes:
    """A search on the boxes of one table; it stops at the time `deadline` of `time.monotonic`, or after some steps."""

    def __init__(
        self, marks: LoopCodes, least: int = 1, *, deadline: float | None = None, max_steps: int | None = None
    ) -> None:
        self.marks, self.least, self.deadline, self.max_steps = marks, least, deadline, max_steps
        self.n_steps = 0  # rows of a column that loops have looked at
        self.n_to_best: int | None = None  # those up to the last better tree of the whole table, if that is sought
        self.n_labels = int(marks.labels.max()) + 1
        self.memory: dict[tuple[bytes, int, int], Fewest] = {}
        self.work = np.zeros(1, dtype=np.int64)

    @property
    def is_over(self) -> bool:
        """Whether the steps or the time are spent."""
        if self.max_steps is not None and self.n_steps >= self.max_steps:
            return True
        return self.deadline is not None and time.monotonic() >= self.deadline

    def may_close(self, size: int) -> bool:
        """Return whether the steps may do for the best tree of depth two on a box; IN: size: its rows times columns."""
        return self.max_steps is None or LOOKS * size <= self.max_steps

    @property
    def is_in_vain(self) -> bool:
        """Whether half of the steps are spent, and seven eighths of what is spent brought no better tree."""
        if self.max_steps is None or self.n_to_best is None:
            return False
        return self.n_steps >= max(self.max_steps / 2, VAIN * self.n_to_best)

    def solve_from(self, depth: int, leaves: int, known: Cuts = None) -> Fewest:
        """Return the best tree of the whole table; `known` is one that keeps the limits, to begin with."""
        rows, self.n_to_best = np.arange(len(self.marks.labels)), 0
        key = rows.tobytes(), depth, leaves
        if key in self.marks.solved:
            return self.marks.solved[key]
        cost = self.marks.cost(known, rows)
        found = self.solve(self.marks.order, depth, leaves, cost + 1)  # which finds the first of those as good
        if found.cost <= cost:
            if found.is_exact:
                self.marks.solved[key] = found
            return found
        return Fewest(min(found.bound, cost), cost, known, min(found.relaxed, cost))

    def not_sought(self, leaves: int, known: Cuts) -> Fewest:
        """Return a tree of so many leaves that better ones are not looked for: only rare labels bound its mistakes."""
        cost = self.marks.cost(known, np.arange(len(self.marks.labels)))
        weights = np.sort(np.bincount(self.marks.labels, self.marks.scaled[0]))
        bound = UNIT * int(weights[: max(len(weights) - leaves, 0)].sum())
        return Fewest(bound, cost, known, bound)

    def solve(self, order: Order, depth: int, leaves: int, limit: int = NONE, at_once: bool = False) -> Fewest:
        """Return the best tree on a box with so many cuts on a way down, and leaves, at most.

        If it costs `limit` or more, a bound of at least `limit` is all that is promised. IN: at_once: whether a tree of
        depth two is found by one call of a loop, however large the box is.
        """
        leaves = min(leaves, order.shape[1], 1 << min(depth, 30))
        depth = min(depth, leaves - 1)
        if len(order) == 0 or depth < 2 or (depth == 2 and (at_once or order.size * len(order) <= LARGE)):
            return self._small(order, leaves, limit)
        key = box_name(self.marks.codes, order), depth, leaves
        found = self.memory.get(key)
        if found is None or not (found.is_exact or found.bound >= limit):
            found = self._at_root(order, depth, leaves, limit)
            if len(self.memory) < REMEMBERED or key in self.memory:
                self.memory[key] = found
        return found

    def _small(self, order: Order, leaves: int, limit: int) -> Fewest:
        """Return what `solve` does, by one call of a loop."""
        if len(order) == 0 or leaves == 1:
            leaf = self._leaf(order)
            return Fewest(leaf, leaf, None, leaf)
        cuts = np.empty((3, 2), dtype=np.int64)
        self.work[0], most = 0, NONE if self.max_steps is None else max(self.max_steps, MOST)
        cost, relaxed = solve(order, *self.table, leaves, self.least, limit, cuts, self.work, most)
        self.n_steps += int(self.work[0])
        bound = cost if self.work[0] < most else relaxed
        return Fewest(bound, cost, self._tree(cuts), relaxed) if cost < limit else Fewest(bound, NONE, None, relaxed)

    @cached_property
    def table(self) -> tuple[Order, Ints, Ints, int]:
        """Codes, labels and weights of all rows, and the number of labels."""
        return self.marks.codes, self.marks.labels, self.marks.scaled[0], self.n_labels

    def _leaf(self, order: Order) -> int:
        rows = order[0] if len(order) else np.arange(len(self.marks.labels))
        return self.marks.cost(None, rows)

    def _tree(self, cuts: Ints) -> Cuts:
        """Return a tree whose cuts are given in pre-order, as columns of the table; a column -1 is a leaf."""
        column, code = cuts[0].tolist()
        if column < 0:
            return None
        half = (len(cuts) - 1) // 2
        sides = [self._tree(part) if half else None for part in (cuts[1 : 1 + half], cuts[1 + half :])]
        return int(self.marks.columns[column]), code, sides[0], sides[1]

    def _at_root(self, order: Order, depth: int, leaves: int, limit: int) -> Fewest:
        """Return what `solve` does, by cuts at the root one after another."""
        root = _Root(self, order, depth, leaves, min(limit, self._leaf(order)))
        return root.look() if depth <= BY_LOOP and order.size <= SMALL else root.try_roots()


class _Root:
    """The cuts at the root of a box, and what is known of both their sides."""

    def __init__(self, search: FewestMistakes, order: Order, depth: int, leaves: int, limit: int) -> None:
        self.search, self.order, self.depth = search, order, depth
        half = min(1 << (depth - 1), leaves)
        least = max(leaves - half, 1)
        most = leaves - least  # leaves of a side are from the least to the most
        self.leaves_of = np.arange(least, most + 1) if leaves < 2 * half else np.array([half])
        count = len(self.leaves_of)
        self.shares = np.column_stack([np.arange(count), np.arange(count)[::-1]])
        d, n = order.shape
        self.ends, self.weight_to = np.empty((d, n), dtype=np.int64), np.empty((d, n), dtype=np.int64)
        self.n_places, self.next_place = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
        self.low, self.high = np.empty((count, d, n), dtype=np.int64), np.empty((count, d, n), dtype=np.int64)
        self.least_of, self.state = np.zeros(d, dtype=np.int64), np.array([limit, -1, -1, limit])
        known = self.ends, self.n_places, self.weight_to, self.low, self.high, self.next_place
        begin(order, *search.table, self.leaves_of, *known)
        self.bounds = [self._bounds(j) for j in range(d)]  # of the places of each column

    def look(self) -> Fewest:
        """Return the best tree of depth three; the loop is left now and then."""
        search, cuts = self.search, np.full((7, 2), -1)
        known = self.ends, self.n_places, self.weight_to, self.low, self.high, self.next_place, self.least_of
        is_done = False
        while not (is_done or search.is_over or search.is_in_vain):
            search.work[0] = 0
            table = self.order, *search.table, self.leaves_of, self.shares, search.least
            best = int(self.state[0])
            is_done = look(*table, *known, self.state, cuts, search.work, AT_ONCE)
            search.n_steps += int(search.work[0])
            self._note(best)
        return self._end_search(is_done, search._tree(cuts))

    def _note(self, best: int) -> None:
        """Remember the steps done if there is a tree better than the best one before."""
        if self.search.n_to_best is not None and self.state[0] < best:
            self.search.n_to_best = self.search.n_steps

    def _end_search(self, is_done: bool, cuts: Cuts) -> Fewest:
        best = int(self.state[0])
        open_ = best if is_done else min(best, int(self.least_of[self.n_places > 0].min(initial=best)))
        relaxed = min(int(self.state[3]), open_)
        if cuts is None:
            leaf = self.search._leaf(self.order)
            return Fewest(min(open_, leaf), leaf, None, min(relaxed, leaf))
        return Fewest(open_, best, cuts, relaxed)

    def try_roots(self) -> Fewest:
        """Return the best tree, by cuts at the root one after another."""
        cuts: Cuts = None
        is_done = False
        while not (is_done or self.search.is_over or self.search.is_in_vain):
            best, at = int(self.state[0]), int(self.state[1])
            j = int(np.where(self.n_places > 0, self.least_of, NONE).argmin())
            if self.least_of[j] >= best + (at >= 0) or self.n_places[j] == 0:
                is_done = True
                continue
            count = int(self.n_places[j])
            bounds = self.bounds[j]
            equal_to = self._equal_to(j, count)
            p, self.next_place[j] = int(self.next_place[j]), -1
            start, stop = 0, count - 1
            if p < 0 or bounds[p] >= best + (p < equal_to):
                p, start, stop = middle(bounds, count, best, equal_to)
                if p < 0:
                    self.least_of[j] = NONE
                    continue
            cuts = self._look(j, p, start, stop, p < equal_to, cuts)
            self._note(best)
            self.bounds[j] = self._bounds(j)
            self.least_of[j] = self.bounds[j].min()
        return self._end_search(is_done, cuts)

    def _bounds(self, j: int) -> Ints:
        """Return the bound of each place of a column: the least of all shares of the leaves between both sides."""
        (first, second), count = self.shares.T, int(self.n_places[j])
        bounds: Ints = (self.low[first, j, :count] + self.high[second, j, :count]).min(axis=0)
        return bounds

    def _equal_to(self, j: int, count: int) -> int:
        """Return the number of places of a column at which a tree as good as the best one would come before it."""
        if j != self.state[1]:
            return count if j < self.state[1] else 0
        codes = self.search.marks.codes[j][self.order[j][self.ends[j, :count] - 1]]
        return int(np.searchsorted(codes, self.state[2]))

    def _look(self, j: int, p: int, start: int, stop: int, may_equal: bool, cuts: Cuts) -> Cuts:
        """Solve both sides of a cut, raise the bounds of its column, and return the best tree so far."""
        search, to, count, end = self.search, self.weight_to[j], int(self.n_places[j]), int(self.ends[j, p])
        d, n = self.order.shape
        code = int(search.marks.codes[j, self.order[j, end - 1]])
        is_first = (search.marks.codes[j] <= code)[self.order]
        first, second = self.order[is_first].reshape(d, end), self.order[~is_first].reshape(d, n - end)
        search.n_steps += self.order.size
        far = int(max(to[p] - to[start], to[stop] - to[p])) if self.state[0] >= UNIT else 0
        slack = UNIT * (far // 4 if self.depth <= BY_LOOP else far)  # small searches are not paid for by more
        relaxed = NONE
        for i, o in self.shares.tolist():
            most = int(self.state[0]) + may_equal + slack
            boxes = (first, i), (second, o)
            bounds, found = [int(self.low[i, j, p]), int(self.high[o, j, p])], dict[int, Fewest]()
            for s in (0, 1) if 2 * end <= n else (1, 0):  # the smaller side first
                box, plane = boxes[s]
                limit = most - bounds[1 - s]
                if limit <= bounds[s]:
                    break
                found[s] = search.solve(box, self.depth - 1, int(self.leaves_of[plane]), limit, self.depth <= BY_LOOP)
                bounds[s] = max(bounds[s], found[s].relaxed)
            relaxed = min(relaxed, sum(bounds))
            is_over = any(not each.is_exact and each.bound < most - bounds[1 - s] for s, each in found.items())
            raise_bounds(self.low[i, j], self.high[o, j], to, count, p, *bounds)
            if not is_over:
                self.low[i, j, p] = NONE
            if len(found) == 2 and min(end, n - end) >= search.least:
                cost = found[0].cost + found[1].cost
                tree = int(search.marks.columns[j]), code, found[0].cuts, found[1].cuts
                if cost < self.state[0] or (cost == self.state[0] and cuts is not None and _key(tree) < _key(cuts)):
                    self.state[:3], cuts, may_equal = (cost, j, code), tree, True
        self.state[3] = min(self.state[3], relaxed)
        return cuts


def _key(cuts: Cuts) -> tuple[int, ...]:
    """Return the cuts in pre-order; of equal trees that with the lowest comes first."""
    return (-1,) if cuts is None else (cuts[0], cuts[1], *_key(cuts[2]), *_key(cuts[3]))
