"""A tree of fixed shape whose cuts and clusters change: sweeps over its cuts, one level of nodes at a time.

What is known of the sweep before is used again, and no result depends on it. A cut is at its best after a sweep, so it
is looked at again only if its rows have changed, or something below it, or the costs. Then the differences between both
sides are computed anew, and with them by how much the sum of any first side can have fallen. A column whose smallest
sum was so large that it cannot undercut the sum of today is not walked again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sized
from typing import NamedTuple, TypeVar

import numpy as np

from boxwood._threads import BLOCK_ROWS, map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.grow._costs import SUM_ERROR, Problem, scale_for
from boxwood.grow._recut_arrays import centers_in, last_below, one_kind, summed
from boxwood.grow._recut_leaves import cheaper_clusters
from boxwood.grow._recut_search import Found, Search
from boxwood.loops import refine as loops
from boxwood.loops import refine_level as loops_of_level
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["Draft", "is_past"]

T = TypeVar("T")

_UNKNOWN = -(1 << 62)  # no sum of differences is below; see `whole_costs`
_KEPT_BYTES = 1 << 28  # of what is known of the rows of the first levels, 20 for each row and level


class _OtherSide(NamedTuple):
    """Of each row at a level: where it would go from the other side of its node, and what that changes."""

    leaf: Array  # int32, n_nodes if unknown
    cost: Floats  # in that leaf
    difference: Ints  # cost on the first side less cost on the second, whole; 0 for a row that is new in its node


class Draft:
    """A tree, the rows of a task in it, and what each row costs in its leaf and would cost elsewhere."""

    def __init__(self, tree: ThresholdTree, task: Task, problem: Problem) -> None:
        self.shape, self.task, self.problem, self.centers = tree, task, problem, centers_in(problem)
        self.X, self.labels = one_kind(task.rows.values), one_kind(task.reference.labels)
        self.feature, self.upper, self.cluster = tree.feature.copy(), tree.upper.copy(), tree.cluster.copy()
        self.cuts_at = [np.flatnonzero((tree.node_depth == level) & (tree.feature >= 0)) for level in range(tree.depth)]
        self.is_one_sided = np.isneginf(tree.lower)
        self.last = last_below(tree)
        self.share, self.times = np.ascontiguousarray(problem.share), np.ascontiguousarray(problem.times)
        n, nowhere = len(self.X), tree.n_nodes
        self.may_cut = np.ones(self.X.shape[1], dtype=np.bool_)
        self.may_cut[list(task.budget.forbidden)] = False
        self.at, self.room = np.empty((tree.depth + 1, n), dtype=np.int32), np.empty(n, dtype=np.intp)
        self.leaf, self.own = np.empty(n, dtype=np.int32), np.zeros(n)
        self._for_blocks(self._place, self.X)
        n_kept = min(tree.depth, max(_KEPT_BYTES // (20 * n), 1))
        self.others, self.other_costs = np.full((n_kept, n), nowhere, dtype=np.int32), np.zeros((n_kept, n))
        self.differences = np.zeros((n_kept, n), dtype=np.int64)
        self.lowest = np.full((nowhere + 1, self.X.shape[1]), _UNKNOWN)  # no sum over first rows of a column is below
        self.fallen = np.zeros(nowhere + 1, dtype=np.int64)  # by how much these sums may have fallen since
        self.scales = np.zeros(nowhere + 1)
        self.unknown = np.ones(nowhere + 1, dtype=np.bool_)  # leaves whose rows or costs are new
        self.cheaper = np.full(nowhere + 1, -1)  # the cheapest cluster of the other leaves; -1 if they have it
        self.moved = np.ones(nowhere + 1, dtype=np.bool_)  # nodes whose rows or costs are new
        self.stale = np.full(nowhere + 1, loops.ROWS, dtype=np.uint8)  # what is new of each leaf; see `other_leaves`
        self._measure(np.flatnonzero(task.kept))

    def _place(self, start: int, stop: int) -> None:
        loops.place_rows(self.X, self.task.kept, *self._tree(), self.at, self.leaf, start, stop)

    def set_costs(self, problem: Problem, is_new: Bools) -> None:
        """Measure rows by other costs from now on; `is_new`, shape (k,), says which clusters have other costs."""
        self.problem, self.centers = problem, centers_in(problem)
        self.unknown[:] = True
        leaves = self.shape.leaf_nodes[is_new[self.cluster[self.shape.leaf_nodes]]]
        self.stale[leaves] = loops.COSTS
        of_leaf = np.append(self.stale[:-1] > loops.FRESH, False)
        self._measure(self.room[: loops_of_level.rows_at(of_leaf, self.leaf, self.room)])
        for cuts in reversed(self.cuts_at):
            of_leaf[cuts] = of_leaf[cuts + 1] | of_leaf[self.shape.second[cuts]]
        self.moved |= of_leaf

    def gain_of(self, centers: Floats) -> float:
        """Return by which share the cost of the rows falls if these, the means of the clusters, become the centres."""
        weights = np.bincount(self.leaf, self.share * self.times, minlength=len(self.cluster) + 1)[:-1]
        moved = np.square((centers * 0.5 - self.centers * 0.5) * self.problem.unit).sum(axis=1)
        cost = float((self.own * self.times).sum())
        return float((weights * moved[self.cluster]).sum()) / cost if cost > 0 else 0.0

    def parts(self) -> tuple[Array, ...]:
        """Return what may change of the tree, as it is now."""
        return self.feature.copy(), self.upper.copy(), self.cluster.copy()

    def build(self) -> ThresholdTree:
        """Return the tree as it is now."""
        return ThresholdTree(self.feature, self.shape.lower, self.upper, self.shape.second, self.cluster)

    def clusters_of_rows(self) -> Indices:
        """Return the cluster of each row's leaf, shape (n,); -1 for rows that are not kept."""
        return np.append(self.cluster, -1)[self.leaf]

    def sweep_often(self, max_sweeps: int, deadline: float | None = None) -> None:
        """Sweep until nothing changes, so many times at most."""
        for _ in range(max_sweeps):
            if not self.sweep(deadline) or is_past(deadline):
                break

    def sweep(self, deadline: float | None = None) -> bool:
        """Visit every node once, children before parents; return whether anything has changed.

        After the deadline, on the clock of `time.monotonic`, no further level is visited.
        """
        if is_past(deadline):
            return False
        new, self.moved = self.moved, np.zeros_like(self.moved)
        changed = np.zeros_like(new)  # whether a node or one below it has changed in this sweep
        self._relabel_leaves(new, changed)
        for level in range(self.shape.depth - 1, -1, -1):
            if is_past(deadline):
                break
            cuts = self.cuts_at[level]
            below = changed[cuts + 1] | changed[self.shape.second[cuts]]
            changed[cuts] = below
            nodes = cuts[(below | new[cuts]) & self.is_one_sided[cuts]]
            if len(nodes):
                changed |= self._recut_level(level, nodes)
        self.stale[:-1] = loops.FRESH
        return bool(changed.any())

    # ------------------------------------------------------------------------------------------------ leaves

    def _relabel_leaves(self, new: Bools, changed: Bools) -> None:
        """Give each leaf the cheapest cluster of which it holds rows, unless it is the only leaf of its own."""
        self.unknown |= new
        leaves = self.shape.leaf_nodes
        counts = np.bincount(self.cluster[leaves], minlength=self.problem.n_clusters)
        self._look_at_leaves(leaves[self.unknown[leaves] & (counts[self.cluster[leaves]] > 1)])
        for leaf in leaves[::-1].tolist():
            cluster = int(self.cluster[leaf])
            if counts[cluster] == 1:
                continue
            if self.unknown[leaf]:
                self._look_at_leaves(np.array([leaf]))
            best = int(self.cheaper[leaf])
            if best >= 0:
                counts[cluster] -= 1
                counts[best] += 1
                self.cluster[leaf], self.cheaper[leaf] = best, -1
                changed[leaf], self.stale[leaf] = True, loops.COSTS
                self._measure(np.flatnonzero(self.leaf == leaf))

    def _look_at_leaves(self, leaves: Indices) -> None:
        if len(leaves):
            slot = np.full(len(self.unknown), -1)
            slot[leaves] = np.arange(len(leaves))
            slots = slot[self.leaf]
            rows = np.flatnonzero(slots >= 0)
            found = cheaper_clusters(self.problem, self.labels, self.cluster[leaves], rows, slots[rows])
            self.cheaper[leaves] = found
            self.unknown[leaves] = False

    def _measure(self, rows: Indices) -> None:
        """Compute what the rows cost in their leaves."""

        def measure(start: int, stop: int) -> None:
            costs = self.labels, self.centers, self.problem.unit, self.share
            loops.write_costs(self.X, rows[start:stop], self.leaf, self.cluster, *costs, self.own)

        self._for_blocks(measure, rows)

    # -------------------------------------------------------------------------------------------------- cuts

    def _recut_level(self, level: int, nodes: Indices) -> Bools:
        """Give some nodes of a level their best cuts; return which have a new one."""
        active = np.zeros(len(self.moved), dtype=np.bool_)
        active[nodes] = True
        rows = self.room[: loops_of_level.rows_at(active, self.at[level], self.room)]
        side = self._other_side(level)
        current, wanted, n_rows = self._look_across(level, rows, nodes, side)
        found = Found.nothing(current)
        search = Search(self.task, self.X, rows, self.at[level], side.difference, self.problem.n_jobs)
        search.look(found, wanted, n_rows, self.lowest)
        chosen, feature, upper = found.cuts(self.X)
        if chosen.any():
            chosen &= self._keeps_leaves(level, rows, chosen, feature, upper, side)
            nodes = np.flatnonzero(chosen)
            self.feature[nodes], self.upper[nodes] = feature[nodes], upper[nodes]
            self._move_rows(level, rows, chosen, side)
            for node in nodes.tolist():
                self.stale[node : self.last[node] + 1] = loops.ROWS
        return chosen

    def _other_side(self, level: int) -> _OtherSide:
        if level < len(self.others):
            return _OtherSide(self.others[level], self.other_costs[level], self.differences[level])
        n = len(self.X)
        unknown = np.full(n, self.shape.n_nodes, dtype=np.int32)
        return _OtherSide(unknown, np.zeros(n), np.zeros(n, dtype=np.int64))

    def _look_across(self, level: int, rows: Indices, nodes: Indices, side: _OtherSide) -> tuple[Ints, Bools, Ints]:
        """Find what rows cost on the other side; return for each node the sum of differences over its first side, the
        columns in which it may have a better cut, and the number of rows.

        The factors that make costs whole numbers follow from all costs of a node (see `whole_costs_of`), but are mostly
        the same as before. So differences are computed at once, and again where the factor has changed.
        """
        at, below, n = self.at[level], self.at[level + 1], len(self.moved)
        of_leaves = self.cluster, self.stale, self.leaf, self.own
        costs = self.labels, self.centers, self.problem.unit, self.share, self.times

        def look(start: int, stop: int) -> tuple[Floats, Ints]:
            largest, sums = np.zeros(n), np.zeros((n, 4), dtype=np.int64)
            here = rows[start:stop], at, below, *self._tree(), *of_leaves, *costs, self.scales
            loops.look_across(self.X, *here, *side, largest, sums)
            return largest, sums

        def largest_at(node: int) -> Floats:
            here = np.flatnonzero(at == node)
            largest: Floats = np.maximum(self.own[here], side.cost[here]) * self.times[here]
            return largest

        parts = self._for_blocks(look, rows)
        sums = summed([part[1] for part in parts])
        anew, some_new = self._renew_scales(nodes, summed([part[0] for part in parts]), largest_at)
        if some_new:
            sums[anew] = self._differences(rows[anew[at[rows]]], at, below, side)[anew]
        if level >= len(self.others):
            anew[nodes] = True
        current, wanted = np.zeros(n, dtype=np.int64), np.zeros(self.lowest.shape, dtype=np.bool_)
        bounds = _UNKNOWN, self.lowest, self.fallen
        loops_of_level.find_wanted(nodes, anew, sums, self.may_cut, *bounds, current, wanted)
        return current, wanted, np.ascontiguousarray(sums[:, 3])

    def _renew_scales(self, nodes: Indices, sums: Floats, largest_at: Callable[[int], Floats]) -> tuple[Bools, bool]:
        """Take the factors of `whole_costs` by plain sums of the largest costs; return which are new, and if any is.

        `largest_at` gives the largest costs of one node, from which an exact sum is made where the plain one leaves a
        doubt.
        """
        anew, in_doubt = np.zeros((2, len(sums)), dtype=np.bool_)
        some_new, some_in_doubt = loops_of_level.write_scales(nodes, sums, SUM_ERROR, self.scales, anew, in_doubt)
        for node in np.flatnonzero(in_doubt).tolist() if some_in_doubt else ():
            scale = scale_for(math.fsum(largest_at(node).tolist()))
            anew[node] = scale != self.scales[node]
            self.scales[node] = scale
        return anew, some_new or bool(anew.any())

    def _differences(self, rows: Indices, at: Array, below: Array, side: _OtherSide) -> Ints:
        def compute(start: int, stop: int) -> Ints:
            sums = np.zeros((len(self.scales), 4), dtype=np.int64)
            costs = self.own, side.cost, self.times, self.scales
            loops.set_differences(rows[start:stop], at, below, *costs, side.difference, sums)
            return sums

        return summed(self._for_blocks(compute, rows))

    def _keeps_leaves(
        self, level: int, rows: Indices, chosen: Bools, feature: Indices, upper: Floats, side: _OtherSide
    ) -> Bools:
        """Return whether, with each new cut, leaves that have rows keep some, and hold some of their own cluster."""

        def count(start: int, stop: int) -> Ints:
            counts = np.zeros((len(chosen), 3), dtype=np.int64)
            here = self.at[level], self.at[level + 1], chosen, feature, upper, self.leaf, side.leaf
            labels = self.labels, self.cluster
            loops.count_leaves(self.X, rows[start:stop], *here, *labels, counts)
            return counts

        before, after, own = summed(self._for_blocks(count, rows)).T
        keeps = np.ones(len(chosen), dtype=np.bool_)
        nodes = np.flatnonzero(chosen)  # of one level, so each leaf is below the last of them that is not behind it
        too_few = after < self.task.budget.min_samples_leaf
        wrong = np.flatnonzero((before + after > 0) & ((own == 0) | too_few))
        keeps[nodes[np.searchsorted(nodes, wrong, side="right") - 1]] = False
        return keeps

    def _move_rows(self, level: int, rows: Indices, chosen: Bools, side: _OtherSide) -> None:
        def move(start: int, stop: int) -> tuple[Ints, Bools]:
            fallen, moved = np.zeros(len(chosen), dtype=np.int64), np.zeros(len(chosen), dtype=np.bool_)
            of_rows = self.leaf, self.own, side.leaf, side.cost, self.others, self.differences
            here = rows[start:stop], self.at, level, chosen
            loops.move_rows(self.X, *here, *self._tree(), *of_rows, fallen, moved)
            return fallen, moved

        for fallen, moved in self._for_blocks(move, rows):
            self.fallen += fallen
            self.moved |= moved

    # ------------------------------------------------------------------------------------------------- rows

    def _tree(self) -> tuple[Ints, Floats, Floats, Ints]:
        return self.feature, self.shape.lower, self.upper, self.shape.second

    def _for_blocks(self, work: Callable[[int, int], T], rows: Sized) -> list[T]:
        """Return what `work(start, stop)` gives for each block of some rows, at least one."""
        if len(rows) <= BLOCK_ROWS:
            return [work(0, len(rows))]
        return map_blocks(work, len(rows), n_jobs=self.problem.n_jobs)


def is_past(deadline: float | None) -> bool:
    """Return whether a time on the clock of `time.monotonic` is over; None never is."""
    return deadline is not None and time.monotonic() > deadline
