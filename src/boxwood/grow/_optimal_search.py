"""The search for the cheapest tree on a box of rows: best first, with bounds that hold whenever it stops.

Of one column and one share of the leaves between the sides of the cut, the first side's least cost only rises with the
place of the cut, and the second side's only falls. So the cuts at all places from `low` to `high` cost at least what
the first side costs at `low` and the second at `high`::

    place     0    1    2    3    4    5
    first     0    3    7   20   31   60        places 1 to 4 cost at least 3 + 15
    second   90   70   52   40   15    2
                  low            high

Such runs of places wait in the order of their bounds. The middle place of the first run is looked at: it is a tree, and
it parts the run into two with higher bounds. Runs whose bounds reach the cost of the best tree are dropped.
"""

from __future__ import annotations

import time
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks
from boxwood._types import Indices, Ints
from boxwood.grow._optimal_sums import Order, Sums
from boxwood.loops.optimal import keep_inside

__all__ = ["DEEPEST", "Cuts", "Found", "Search", "leaf_rows", "n_leaves"]

Cuts: TypeAlias = "tuple[int, int, Cuts, Cuts] | None"
"""A tree: column, last code of the first side, and the trees on both sides; None is a leaf."""

Way: TypeAlias = tuple[bool, ...]
"""The way from the root to a node: at each cut, whether it goes to the second side."""

NONE = int(np.iinfo(np.int64).max)
DEEPEST = 24  # leaves; trees with more are grown and improved, but not searched for, as their bound would stay at 0
REMEMBERED = 1 << 17  # boxes whose results are kept
AT_ONCE = 1 << 26  # steps of a loop in one call, so that an interrupt is seen within a second
ONE_THREAD = 1 << 22  # steps up to which threads cost more than they save


class Found(NamedTuple):
    """What is known of the cheapest tree on a box: a bound on its cost, and the cost and the cuts of the best tree."""

    bound: int
    cost: int
    cuts: Cuts

    @property
    def is_exact(self) -> bool:
        """Whether no tree is cheaper."""
        return self.bound >= self.cost


class _Run(NamedTuple):
    """The cuts of a column at the places from `low` to `high` that leave `share` leaves to the first side."""

    bound: int
    column: int
    share: int
    low: int
    high: int
    first: int  # least cost of the first side at `low`, or a bound on it
    second: int  # least cost of the second side at `high`, or a bound on it


class _Runs:
    """The runs of a box that may hold a tree of a cost below `limit`, and what the sides of its cuts cost as leaves."""

    def __init__(self, order: Order, leaves: int) -> None:
        self.first, self.second, self.places = (np.empty(order.shape, dtype=np.int64) for _ in range(3))
        self.leaves, self.limit, self.waiting = leaves, NONE, list[_Run]()

    def begin(self) -> None:
        """Let all places of all columns wait, for every share of the leaves."""
        for column, n_places in enumerate(np.count_nonzero(self.places >= 0, axis=1).tolist()):
            for share in range(1, self.leaves):
                self.wait(column, share, 0, n_places - 1, 0, 0)

    def wait(self, column: int, share: int, low: int, high: int, first: int, second: int) -> None:
        """Let a run wait, unless its bound reaches the limit.

        Where a side has one leaf, its costs are known at all places, and rule out some at the other end of the run.
        """
        if share == 1 and low <= high:
            first = max(first, int(self.first[column, low]))
            high = low + int(np.searchsorted(self.first[column, low : high + 1], self.limit - second)) - 1
        if share == self.leaves - 1 and low <= high:
            second = max(second, int(self.second[column, high]))
            rising = self.second[column, low : high + 1][::-1]
            low = high + 1 - int(np.searchsorted(rising, self.limit - first))
        if low <= high and first + second < self.limit:
            heappush(self.waiting, _Run(first + second, column, share, low, high, first, second))

    @property
    def bound(self) -> int:
        """A cost that no tree among those which wait, or were dropped, is below."""
        return min([self.limit, *(run.bound for run in self.waiting[:1])])


class Search:
    """A search on the boxes of one table, which remembers what it has found.

    It stops after `max_boxes` boxes, each counted as its share of the table's rows, or at the time `deadline` of
    `time.monotonic`. The bounds of what it returns then still hold.
    """

    def __init__(
        self, sums: Sums, *, max_boxes: float | None = None, deadline: float | None = None, n_jobs: int | None = None
    ) -> None:
        self.sums, self.max_boxes, self.deadline, self.n_jobs = sums, max_boxes, deadline, n_jobs
        self.n_rows = 0  # of the boxes looked at so far
        self.memory: dict[tuple[bytes, int], Found] = {}

    @property
    def n_boxes(self) -> float:
        """The boxes looked at so far, each counted as its share of the table's rows."""
        return float(self.n_rows / self.sums.codes.shape[1])

    @property
    def is_over(self) -> bool:
        """Whether the boxes or the time are spent."""
        if self.max_boxes is not None and self.n_boxes >= self.max_boxes:
            return True
        return self.deadline is not None and time.monotonic() >= self.deadline

    def solve(self, order: Order, leaves: int, budget: int = NONE, known: Found | None = None) -> Found:
        """Return the cheapest tree on a box with at most so many leaves.

        If it costs `budget` or more, a bound of at least `budget` is all that is promised. `known` is a tree to begin
        with, with a bound of 0.
        """
        leaves = min(leaves, order.shape[1])
        if leaves == 1:
            return self._leaf(order)
        key = self._key(order), leaves
        found = self.memory.get(key, Found(0, NONE, None))
        if known is not None and known.cost < found.cost:
            found = Found(found.bound, known.cost, known.cuts)
        if found.is_exact or found.bound >= budget:
            return found
        if self.is_over:
            leaf = self._leaf(order)
            return Found(found.bound, *min((found[1:], leaf[1:]), key=lambda each: each[0]))
        if leaves == 2:
            two = self._best_cut(order)
            found = two if two.cost <= found.cost else Found(two.bound, found.cost, found.cuts)
        else:
            found = self._searched(order, leaves, budget, found)
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

    def _key(self, order: Order) -> bytes:
        """Return the lowest and highest codes of a box in each column: they name its rows, as it holds all between."""
        columns = np.arange(len(order))
        return self.sums.codes[columns, order[:, 0]].tobytes() + self.sums.codes[columns, order[:, -1]].tobytes()

    def _leaf(self, order: Order) -> Found:
        cost = self.sums.leaf(order[0])
        return Found(cost, cost, None)

    def _best_cut(self, order: Order, costs: tuple[Ints, Ints, Ints] | None = None) -> Found:
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

        tried = map_tasks(best_of, range(0, d, at_once), n_jobs=self.n_jobs)
        cost, column, code = min(each for each in tried if each is not None)
        leaf = self._leaf(order)
        best = leaf if cost >= leaf.cost else Found(cost, cost, (column, code, None, None))
        return best if None not in tried else best._replace(bound=0)

    # -------------------------------------------------------------------------------------------------- more leaves

    def _searched(self, order: Order, leaves: int, budget: int, found: Found) -> Found:
        """Look at runs until none is left that may hold a tree of a cost below the budget and that of the best tree."""
        runs = _Runs(order, leaves)
        two = self._best_cut(order, (runs.first, runs.second, runs.places))
        best = min(two, found, key=lambda each: each.cost)
        if not two.is_exact:
            return Found(found.bound, best.cost, best.cuts)
        runs.limit = min(budget, best.cost)
        runs.begin()
        while runs.bound < runs.limit and not self.is_over:
            run = heappop(runs.waiting)
            better = self._look(order, runs, run)
            if better is not None and better.cost < best.cost:
                best = better
        return Found(max(found.bound, runs.bound), best.cost, best.cuts)

    def _look(self, order: Order, runs: _Runs, run: _Run) -> Found | None:
        """Look at the middle of a run, let its parts wait, and return the tree that was found there.

        The side with fewer leaves is solved first. If it rules out the part of the run in which it costs more, the
        other side is not solved, as a place in the other part will tell more.
        """
        _, column, share, low, high, first, second = run
        middle, other = (low + high) // 2, runs.leaves - share
        code = int(runs.places[column, middle])

        def solved(is_first: bool) -> Found:
            share_here = share if is_first else other
            if share_here == 1:
                cost = int((runs.first if is_first else runs.second)[column, middle])
                return Found(cost, cost, None)
            box = self.side(order, column, code, is_first)
            return self.solve(box, share_here, runs.limit - (second if is_first else first))

        if share <= other:
            a = solved(True)
            if a.bound + second >= runs.limit:
                runs.wait(column, share, low, middle - 1, first, second)
                return None
            b = solved(False)
        else:
            b = solved(False)
            if first + b.bound >= runs.limit:
                runs.wait(column, share, middle + 1, high, first, second)
                return None
            a = solved(True)
        runs.limit = min(runs.limit, a.cost + b.cost)
        at_middle = max(first, a.bound), max(second, b.bound)
        runs.wait(column, share, low, middle - 1, first, at_middle[1])
        runs.wait(column, share, middle, middle, *at_middle)  # if the search is over and a side is not solved
        runs.wait(column, share, middle + 1, high, at_middle[0], second)
        return Found(0, a.cost + b.cost, (column, code, a.cuts, b.cuts))

    # ------------------------------------------------------------------------------------------ a tree to begin with

    def priced(self, rows: Indices, cuts: Cuts) -> Found:
        """Return a tree with its cost on some rows; the bound is 0."""
        return Found(0, sum(self.sums.leaf(part) for part in leaf_rows(self.sums.codes, rows, cuts)), cuts)

    def grown(self, order: Order, leaves: int) -> Found:
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
        return self.priced(order[0], trees.get(()))


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
