"""A tree of fixed shape whose cuts and clusters change: sweeps over its cuts, one level of nodes at a time.

What is known of the sweep before is used again, and no result depends on it. A cut is at its best after a sweep, so it
is looked at again only if its rows have changed, or something below it, or the costs. Then the differences between both
sides are computed anew, and with them by how much the sum of any first side can have fallen. A column whose smallest
sum was so large that it cannot undercut the sum of today is not walked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sized
from typing import TypeVar

import numpy as np

from boxwood._threads import BLOCK_ROWS, map_blocks
from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.grow._costs import Problem, scales_of, whole_costs
from boxwood.grow._recut_search import Found, Search
from boxwood.loops import refine as loops
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["Draft"]

T = TypeVar("T")

_UNKNOWN = -(1 << 62)  # no sum of differences is below; see `whole_costs`
_KEPT_LEVELS = 32  # whose differences are kept between sweeps; memory for n numbers each


class Draft:
    """A tree, the rows of a task in it, and what each row costs in its leaf and would cost elsewhere."""

    def __init__(self, tree: ThresholdTree, task: Task, problem: Problem) -> None:
        self.shape, self.task, self.problem = tree, task, problem
        self.X = task.rows.values
        self.feature, self.upper, self.cluster = tree.feature.copy(), tree.upper.copy(), tree.cluster.copy()
        self.nodes_at = [np.flatnonzero(tree.node_depth == level) for level in range(tree.depth + 1)]
        n, nowhere, d = len(self.X), tree.n_nodes, self.X.shape[1]
        self.at = np.empty((tree.depth + 1, n), dtype=np.int32)
        self.leaf = np.empty(n, dtype=np.int32)
        self._place(task.kept)
        self.other, self.other_cost = np.zeros(n, dtype=np.int32), np.zeros(n)
        self.differences = np.zeros((min(tree.depth, _KEPT_LEVELS), n), dtype=np.int64)
        self.lowest = np.full((nowhere + 1, d), _UNKNOWN)  # no sum over first rows of a column's order is below
        self.fallen = np.zeros(nowhere + 1, dtype=np.int64)  # by how much these sums may have fallen since
        self.scales = np.zeros(nowhere + 1)
        self.totals: dict[int, Ints] = {}  # of a leaf's rows under each cluster, unless they have changed
        self.set_costs(problem)

    def _place(self, kept: Bools) -> None:
        def place(start: int, stop: int) -> None:
            loops.place_rows(self.X, kept, *self._tree(), self.at, self.leaf, start, stop)

        self._for_blocks(place, self.X)

    def set_costs(self, problem: Problem) -> None:
        """Measure rows by other costs from now on, with the same weights."""
        self.problem = problem
        self.share, self.times = np.ascontiguousarray(problem.share), np.ascontiguousarray(problem.times)
        self.own = np.zeros(len(self.X))
        self._measure(np.flatnonzero(self.task.kept))
        self.moved = np.ones(self.shape.n_nodes + 1, dtype=np.bool_)  # nodes whose rows or costs are new

    def build(self) -> ThresholdTree:
        """Return the tree as it is now."""
        return ThresholdTree(self.feature, self.shape.lower, self.upper, self.shape.second, self.cluster)

    def clusters_of_rows(self) -> Indices:
        """Return the cluster of each row's leaf, shape (n,); -1 for rows that are not kept."""
        return np.append(self.cluster, -1)[self.leaf]

    def sweep_often(self, max_sweeps: int, deadline: float | None = None) -> None:
        """Sweep until nothing changes, so many times at most."""
        for _ in range(max_sweeps):
            if not self.sweep(deadline) or (deadline is not None and time.monotonic() > deadline):
                break

    def sweep(self, deadline: float | None = None) -> bool:
        """Visit every node once, children before parents; return whether anything has changed.

        After the deadline, on the clock of `time.monotonic`, no further level is visited.
        """
        new, self.moved = self.moved, np.zeros_like(self.moved)
        changed = np.zeros_like(new)  # whether a node or one below it has changed in this sweep
        self._relabel_leaves(new, changed)
        for level in range(self.shape.depth - 1, -1, -1):
            if deadline is not None and time.monotonic() > deadline:
                break
            cuts = self.nodes_at[level]
            cuts = cuts[self.feature[cuts] >= 0]
            below = changed[cuts + 1] | changed[self.shape.second[cuts]]
            active = np.zeros_like(new)
            active[cuts] = (below | new[cuts]) & np.isneginf(self.shape.lower[cuts])
            changed[cuts] = below
            if active.any():
                changed |= self._recut_level(level, active)
        return bool(changed.any())

    # ------------------------------------------------------------------------------------------------ leaves

    def _relabel_leaves(self, new: Bools, changed: Bools) -> None:
        """Give each leaf its cheapest cluster, unless it is the only one of its own."""
        counts = np.bincount(self.cluster[self.shape.leaf_nodes], minlength=self.problem.n_clusters)
        for leaf in self.shape.leaf_nodes[::-1].tolist():
            cluster = int(self.cluster[leaf])
            if new[leaf]:
                self.totals.pop(leaf, None)
            if counts[cluster] == 1:
                continue
            if leaf not in self.totals:
                rows = np.flatnonzero(self.leaf == leaf)
                self.totals[leaf] = whole_costs(self.problem, rows)[0].sum(axis=0)
            total = self.totals[leaf]
            best = int(total.argmin())
            if total[best] < total[cluster]:
                counts[cluster] -= 1
                counts[best] += 1
                self.cluster[leaf], changed[leaf] = best, True
                self._measure(np.flatnonzero(self.leaf == leaf))

    def _measure(self, rows: Indices) -> None:
        """Compute what the rows cost in their leaves."""

        def measure(start: int, stop: int) -> None:
            here = rows[start:stop]
            self.own[here] = self.problem.cost_under(here, self.cluster[self.leaf[here]]) * self.share[here]

        map_blocks(measure, len(rows), n_jobs=self.problem.jobs_for(rows))

    # -------------------------------------------------------------------------------------------------- cuts

    def _recut_level(self, level: int, active: Bools) -> Bools:
        """Give the active nodes of a level their best cuts; return which have a new one."""
        rows = np.flatnonzero(active[self.at[level]])
        kept = level < len(self.differences)
        difference = self.differences[level] if kept else np.zeros(len(self.X), dtype=np.int64)
        if not kept:
            self.lowest[active] = _UNKNOWN
        self._compute_other_costs(level, rows)
        current, is_wrong, n_rows = self._compute_differences(level, rows, active, difference)
        wanted = self.lowest < current[:, None]
        wanted[~(active & is_wrong)] = False
        found = Found.nothing(current)
        search = Search(self.task, rows, self.at[level], difference, self.problem.n_jobs)
        search.look(found, wanted, n_rows, self.lowest)
        chosen, feature, upper = found.cuts(self.X)
        if chosen.any():
            chosen &= self._keeps_leaves(level, rows, chosen, feature, upper)
            nodes = np.flatnonzero(chosen)
            self.feature[nodes], self.upper[nodes] = feature[nodes], upper[nodes]
            self._move_rows(level, rows, chosen)
        return chosen

    def _compute_other_costs(self, level: int, rows: Indices) -> None:
        at, below = self.at[level], self.at[level + 1]

        def compute(start: int, stop: int) -> None:
            dear = np.empty(stop - start, dtype=np.intp)
            of_rows = self.cluster, self.leaf, self.own, self.other, self.other_cost, dear
            count = loops.other_leaves(self.X, rows[start:stop], at, below, *self._tree(), *of_rows)
            dear = dear[:count]
            self.other_cost[dear] = self.problem.cost_under(dear, self.cluster[self.other[dear]]) * self.share[dear]

        self._for_blocks(compute, rows)

    def _compute_differences(
        self, level: int, rows: Indices, active: Bools, difference: Ints
    ) -> tuple[Ints, Bools, Ints]:
        """Write the differences; return for each node their sum over the first side, whether a row is on its dearer
        side, and the number of rows.
        """
        at, below = self.at[level], self.at[level + 1]
        scales = self._scales(at, rows, len(active))
        anew = active & (scales != self.scales)
        self.scales[active] = scales[active]

        def compute(start: int, stop: int) -> Ints:
            sums = np.zeros((len(active), 4), dtype=np.int64)
            costs = self.own, self.other_cost, self.times, scales
            loops.set_differences(rows[start:stop], at, below, *costs, difference, sums)
            return sums

        sums = np.sum(self._for_blocks(compute, rows), axis=0)
        fallen = (self.fallen + sums[:, 1])[active, None]
        self.lowest[active] = np.maximum(self.lowest[active] - fallen, _UNKNOWN)
        self.fallen[active] = 0
        self.lowest[anew] = _UNKNOWN
        return sums[:, 0], sums[:, 2] > 0, sums[:, 3]

    def _scales(self, at: Ints, rows: Indices, n_nodes: int) -> Floats:
        """Return the factor that makes the costs at each node whole numbers; see `whole_costs_of`."""

        def add(start: int, stop: int) -> Floats:
            sums = np.zeros(n_nodes)
            loops.add_largest(rows[start:stop], at, self.own, self.other_cost, self.times, sums)
            return sums

        def largest(node: int) -> Floats:
            here = np.flatnonzero(at == node)
            costs: Floats = np.maximum(self.own[here], self.other_cost[here]) * self.times[here]
            return costs

        return scales_of(np.sum(self._for_blocks(add, rows), axis=0), largest)

    def _keeps_leaves(self, level: int, rows: Indices, chosen: Bools, feature: Indices, upper: Floats) -> Bools:
        """Return whether, with the new cut of each chosen node, every leaf that has rows keeps some."""

        def count(start: int, stop: int) -> Ints:
            counts = np.zeros((len(chosen), 2), dtype=np.int64)
            here = self.at[level], self.at[level + 1], chosen, feature, upper, self.leaf, self.other
            loops.count_leaves(self.X, rows[start:stop], *here, counts)
            return counts

        before, after = np.sum(self._for_blocks(count, rows), axis=0).T
        keeps = np.ones(len(chosen), dtype=np.bool_)
        nodes = np.flatnonzero(chosen)  # of one level, so each leaf is below the last of them that is not behind it
        emptied = np.flatnonzero((before > 0) & (after == 0))
        keeps[nodes[np.searchsorted(nodes, emptied, side="right") - 1]] = False
        return keeps

    def _move_rows(self, level: int, rows: Indices, chosen: Bools) -> None:
        def move(start: int, stop: int) -> tuple[Ints, Bools]:
            fallen, moved = np.zeros(len(chosen), dtype=np.int64), np.zeros(len(chosen), dtype=np.bool_)
            of_rows = self.other, self.other_cost, self.leaf, self.own, self.differences, fallen, moved
            loops.move_rows(self.X, rows[start:stop], self.at, level, chosen, *self._tree(), *of_rows)
            return fallen, moved

        for fallen, moved in self._for_blocks(move, rows):
            self.fallen += fallen
            self.moved |= moved

    # ------------------------------------------------------------------------------------------------- rows

    def _tree(self) -> tuple[Ints, Floats, Floats, Ints]:
        return self.feature, self.shape.lower, self.upper, self.shape.second

    def _for_blocks(self, work: Callable[[int, int], T], rows: Sized) -> list[T]:
        """Return what `work(start, stop)` gives for each block of some rows, at least one."""
        jobs = self.problem.n_jobs if len(rows) > BLOCK_ROWS else None
        return map_blocks(work, max(len(rows), 1), n_jobs=jobs)
