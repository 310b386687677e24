"""A tree of fixed shape whose cuts and clusters are improved: sweeps over its cuts, one level of nodes at a time.

Facts from the last sweep are reused, which affects speed but no result. After a sweep each cut is the best of its
node, so a node is searched again only if its rows, its subtree or the costs have changed. Then the differences of cost
between both sides are computed anew, and an upper bound on the fall of any sum of them since the last search. A column
whose least sum, less this bound, is not below the sum of the present cut is skipped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sized
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import BLOCK_ROWS, jobs_for, map_blocks, map_tasks, n_threads
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.grow.shared.costs import SUM_ERROR, CutProblem, integer_costs, scale_for
from boxwood.loops import refine as loops
from boxwood.loops.refine import add_gaps, split_by_size
from boxwood.reference import Task
from boxwood.reference.bins import N_BINS
from boxwood.tree import ThresholdTree, between

T = TypeVar("T")

_UNKNOWN = -(1 << 62)  # a lower bound on all sums of differences; see `integer_costs`
_CACHE_BYTES = 1 << 28  # for differences of the rows at the first levels, 20 bytes for each row and level


class _OtherSide(NamedTuple):
    """The leaf and cost of each row if it went to the other side of its node at one level."""

    leaf: Array  # int32, n_nodes if unknown
    cost: Floats  # in that leaf
    difference: Ints  # cost on the first side less cost on the second, whole; 0 for a row that is new in its node


class RefinementState:
    """A tree under refinement: the node of each row at each level, and its cost in its leaf and on other sides."""

    def __init__(self, tree: ThresholdTree, task: Task, problem: CutProblem) -> None:
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
        n_cached = min(tree.depth, max(_CACHE_BYTES // (20 * n), 1))
        self.others, self.other_costs = np.full((n_cached, n), nowhere, dtype=np.int32), np.zeros((n_cached, n))
        self.differences = np.zeros((n_cached, n), dtype=np.int64)
        self.lowest = np.full((nowhere + 1, self.X.shape[1]), _UNKNOWN)  # lower bounds on the sums of first sides
        self.fallen = np.zeros(nowhere + 1, dtype=np.int64)  # upper bounds on the fall of these sums since then
        self.scales = np.zeros(nowhere + 1)
        self.unknown = np.ones(nowhere + 1, dtype=np.bool_)  # leaves whose rows or costs are new
        self.cheaper = np.full(
            nowhere + 1, -1
        )  # the cheapest cluster of each leaf that is not unknown; -1 if it has it
        self.moved = np.ones(nowhere + 1, dtype=np.bool_)  # nodes whose rows or costs are new
        self.stale = np.full(nowhere + 1, loops.ROWS, dtype=np.uint8)  # of leaves: FRESH, or new COSTS or ROWS
        self._measure(np.flatnonzero(task.kept))

    def _place(self, start: int, stop: int) -> None:
        loops.descend_rows(self.X, self.task.kept, *self._tree(), self.at, self.leaf, start, stop)

    def set_costs(self, problem: CutProblem, is_new: Bools) -> None:
        """Replace the costs of rows; `is_new`, shape (k,), marks the clusters whose costs are new."""
        self.problem, self.centers = problem, centers_in(problem)
        self.unknown[:] = True
        leaves = self.shape.leaf_nodes[is_new[self.cluster[self.shape.leaf_nodes]]]
        self.stale[leaves] = loops.COSTS
        of_leaf = np.append(self.stale[:-1] > loops.FRESH, False)
        self._measure(self.room[: loops.rows_at(of_leaf, self.leaf, self.room)])
        for cuts in reversed(self.cuts_at):
            of_leaf[cuts] = of_leaf[cuts + 1] | of_leaf[self.shape.second[cuts]]
        self.moved |= of_leaf

    def gain_of(self, centers: Floats) -> float:
        """Return the share by which the cost falls if the means of the clusters, `centers`, become their centres."""
        weights = np.bincount(self.leaf, self.share * self.times, minlength=len(self.cluster) + 1)[:-1]
        moved = np.square((centers * 0.5 - self.centers * 0.5) * self.problem.unit).sum(axis=1)
        cost = float((self.own * self.times).sum())
        return float((weights * moved[self.cluster]).sum()) / cost if cost > 0 else 0.0

    def arrays(self) -> tuple[Array, ...]:
        """Return copies of the arrays that refinement changes: features, thresholds and clusters."""
        return self.feature.copy(), self.upper.copy(), self.cluster.copy()

    def build(self) -> ThresholdTree:
        """Return the tree as it is now."""
        return ThresholdTree(self.feature, self.shape.lower, self.upper, self.shape.second, self.cluster)

    def clusters_of_rows(self) -> Indices:
        """Return the cluster of each row's leaf, shape (n,); -1 for rows that are not kept."""
        return np.append(self.cluster, -1)[self.leaf]

    def sweep_often(self, max_sweeps: int, deadline: float | None = None) -> None:
        """Sweep until nothing changes, at most `max_sweeps` times."""
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
            cheaper = cheaper_clusters(self.problem, self.labels, self.cluster[leaves], rows, slots[rows])
            self.cheaper[leaves] = cheaper
            self.unknown[leaves] = False

    def _measure(self, rows: Indices) -> None:
        """Compute the costs of rows in their leaves."""

        def measure(start: int, stop: int) -> None:
            costs = self.labels, self.centers, self.problem.unit, self.share
            loops.write_costs(self.X, rows[start:stop], self.leaf, self.cluster, *costs, self.own)

        self._for_blocks(measure, rows)

    # -------------------------------------------------------------------------------------------------- cuts

    def _recut_level(self, level: int, nodes: Indices) -> Bools:
        """Give some nodes of a level their best cuts; return which nodes have a new cut."""
        active = np.zeros(len(self.moved), dtype=np.bool_)
        active[nodes] = True
        rows = self.room[: loops.rows_at(active, self.at[level], self.room)]
        side = self._other_side(level)
        current, candidates, n_rows = self._compare_sides(level, rows, nodes, side)
        best = BestRecuts.nothing(current)
        search = RecutLevel(self.task, self.X, rows, self.at[level], side.difference, self.problem.n_jobs)
        search.search(best, candidates, n_rows, self.lowest)
        chosen, feature, upper = best.cuts(self.X)
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

    def _compare_sides(self, level: int, rows: Indices, nodes: Indices, side: _OtherSide) -> tuple[Ints, Bools, Ints]:
        """Compute the cost of rows on the other side; return for each node the sum of differences over its first side,
        the columns in which it may have a better cut, and the number of rows.

        The scales of integer costs follow from all costs of a node (see `integer_costs_of`), but seldom change. So
        differences are computed by the old scales, and again at nodes whose scale has changed.
        """
        at, below, n = self.at[level], self.at[level + 1], len(self.moved)
        of_leaves = self.cluster, self.stale, self.leaf, self.own
        costs = self.labels, self.centers, self.problem.unit, self.share, self.times

        def compare(start: int, stop: int) -> tuple[Floats, Ints]:
            largest, sums = np.zeros(n), np.zeros((n, 4), dtype=np.int64)
            arrays = rows[start:stop], at, below, *self._tree(), *of_leaves, *costs, self.scales
            loops.compare_sides(self.X, *arrays, *side, largest, sums)
            return largest, sums

        def largest_at(node: int) -> Floats:
            at_node = np.flatnonzero(at == node)
            largest: Floats = np.maximum(self.own[at_node], side.cost[at_node]) * self.times[at_node]
            return largest

        blocks = self._for_blocks(compare, rows)
        sums = add_blocks([block[1] for block in blocks])
        is_new, some_new = self._renew_scales(nodes, add_blocks([block[0] for block in blocks]), largest_at)
        if some_new:
            sums[is_new] = self._differences(rows[is_new[at[rows]]], at, below, side)[is_new]
        if level >= len(self.others):
            is_new[nodes] = True
        current, candidates = np.zeros(n, dtype=np.int64), np.zeros(self.lowest.shape, dtype=np.bool_)
        bounds = _UNKNOWN, self.lowest, self.fallen
        loops.find_candidates(nodes, is_new, sums, self.may_cut, *bounds, current, candidates)
        return current, candidates, np.ascontiguousarray(sums[:, 3])

    def _renew_scales(self, nodes: Indices, sums: Floats, largest_at: Callable[[int], Floats]) -> tuple[Bools, bool]:
        """Update the scales of nodes from plain sums of the largest costs; return which have changed, and if any has.

        `largest_at` gives the largest costs of one node, for an exact sum where the plain one is not precise enough.
        """
        is_new, in_doubt = np.zeros((2, len(sums)), dtype=np.bool_)
        some_new, some_in_doubt = loops.write_scales(nodes, sums, SUM_ERROR, self.scales, is_new, in_doubt)
        for node in np.flatnonzero(in_doubt).tolist() if some_in_doubt else ():
            scale = scale_for(math.fsum(largest_at(node).tolist()))
            is_new[node] = scale != self.scales[node]
            self.scales[node] = scale
        return is_new, some_new or bool(is_new.any())

    def _differences(self, rows: Indices, at: Array, below: Array, side: _OtherSide) -> Ints:
        def compute(start: int, stop: int) -> Ints:
            sums = np.zeros((len(self.scales), 4), dtype=np.int64)
            costs = self.own, side.cost, self.times, self.scales
            loops.set_differences(rows[start:stop], at, below, *costs, side.difference, sums)
            return sums

        return add_blocks(self._for_blocks(compute, rows))

    def _keeps_leaves(
        self, level: int, rows: Indices, chosen: Bools, feature: Indices, upper: Floats, side: _OtherSide
    ) -> Bools:
        """Return which new cuts keep leaves large enough, and each leaf with rows of its own cluster."""

        def count(start: int, stop: int) -> Ints:
            counts = np.zeros((len(chosen), 3), dtype=np.int64)
            arrays = self.at[level], self.at[level + 1], chosen, feature, upper, self.leaf, side.leaf
            labels = self.labels, self.cluster
            loops.count_leaves(self.X, rows[start:stop], *arrays, *labels, counts)
            return counts

        before, after, own = add_blocks(self._for_blocks(count, rows)).T
        keeps = np.ones(len(chosen), dtype=np.bool_)
        nodes = np.flatnonzero(chosen)  # of one level, so the node above a leaf is the last one not after the leaf
        too_few = after < self.task.budget.min_samples_leaf
        wrong = np.flatnonzero((before + after > 0) & ((own == 0) | too_few))
        keeps[nodes[np.searchsorted(nodes, wrong, side="right") - 1]] = False
        return keeps

    def _move_rows(self, level: int, rows: Indices, chosen: Bools, side: _OtherSide) -> None:
        def move(start: int, stop: int) -> tuple[Ints, Bools]:
            fallen, moved = np.zeros(len(chosen), dtype=np.int64), np.zeros(len(chosen), dtype=np.bool_)
            of_rows = self.leaf, self.own, side.leaf, side.cost, self.others, self.differences
            arrays = rows[start:stop], self.at, level, chosen
            loops.move_rows(self.X, *arrays, *self._tree(), *of_rows, fallen, moved)
            return fallen, moved

        for fallen, moved in self._for_blocks(move, rows):
            self.fallen += fallen
            self.moved |= moved

    # ------------------------------------------------------------------------------------------------- rows

    def _tree(self) -> tuple[Ints, Floats, Floats, Ints]:
        return self.feature, self.shape.lower, self.upper, self.shape.second

    def _for_blocks(self, work: Callable[[int, int], T], rows: Sized) -> list[T]:
        """Return the results of `work(start, stop)` for each block of some rows, at least one block."""
        if len(rows) <= BLOCK_ROWS:
            return [work(0, len(rows))]
        return map_blocks(work, len(rows), n_jobs=self.problem.n_jobs)


def is_past(deadline: float | None) -> bool:
    """Return whether a time on the clock of `time.monotonic` is over; None never is."""
    return deadline is not None and time.monotonic() > deadline


_NONE = np.iinfo(np.int64).max
_MARGIN = 1e-6  # upper bound on the relative error of `_costs_by_means`


def cheaper_clusters(problem: CutProblem, labels: Indices, clusters: Ints, rows: Indices, slots: Indices) -> Ints:
    """Return for each of some leaves the cheapest cluster of which it holds rows, or -1 if its own is as cheap.

    IN: labels (n,): clusters of all rows; clusters (n_leaves,): clusters of the leaves; rows (m,): all rows of these
    leaves; slots (m,): the leaf of each, as an index into `clusters`. Sums of `integer_costs` are exact; ties go to the
    first cluster.
    """
    if problem.centers is None and (problem.share == 1).all():
        return _by_counts(problem, labels, clusters, rows, slots)
    cheaper = np.full(len(clusters), -1)
    is_held = np.zeros((len(clusters), problem.n_clusters), dtype=np.bool_)
    is_held[slots, labels[rows]] = True
    in_doubt = _in_doubt(problem, clusters, rows, slots, is_held)
    rows, slots = rows[in_doubt[slots]], slots[in_doubt[slots]]
    order = np.argsort(slots, kind="stable")
    ends = np.searchsorted(slots[order], np.arange(len(clusters) + 1))
    for i in np.flatnonzero(in_doubt).tolist():
        total = integer_costs(problem, rows[order[ends[i] : ends[i + 1]]])[0].sum(axis=0)
        best = int(np.where(is_held[i], total, _NONE).argmin())
        if total[best] < total[clusters[i]]:
            cheaper[i] = best
    return cheaper


def _by_counts(problem: CutProblem, labels: Indices, clusters: Ints, rows: Indices, slots: Indices) -> Ints:
    """Return the heaviest cluster of each leaf, so the one with fewest mistakes, or -1 if its own is as heavy."""
    counts = np.zeros((len(clusters), problem.n_clusters), dtype=np.int64)
    np.add.at(counts, (slots, labels[rows]), problem.times[rows])
    own = counts[np.arange(len(clusters)), clusters]
    return np.where(counts.max(axis=1) > own, counts.argmax(axis=1), -1)


def _in_doubt(problem: CutProblem, clusters: Ints, rows: Indices, slots: Indices, is_held: Bools) -> Bools:
    """Return which leaves may have a cheaper cluster, shape (n_leaves,)."""
    several: Bools = np.asarray(is_held.sum(axis=1) > 1)
    if problem.centers is None:
        return several
    costs = _costs_by_means(problem, clusters, rows, slots)
    own = costs[np.arange(len(clusters)), clusters][:, None]
    near = is_held & (costs - own <= _MARGIN * (costs + own))
    return np.asarray(several & (near.sum(axis=1) > 1))


def _costs_by_means(problem: CutProblem, clusters: Ints, rows: Indices, slots: Indices) -> Floats:
    """Return the cost of each leaf under each cluster, shape (n_leaves, k), up to rounding.

    It is the cost about the leaf's mean, plus the weight times the squared distance from the mean to the centre. Values
    are taken relative to the centre of the leaf's own cluster, which keeps their digits if they are far from zero.
    """
    centers, unit = problem.centers, problem.unit
    assert centers is not None
    gaps, sums = np.zeros((len(clusters), centers.shape[1])), np.zeros((len(clusters), 2))
    weights = problem.share[rows] * problem.times[rows]
    add_gaps(problem.rows.values, rows, slots, weights, centers[clusters], unit, gaps, sums)
    weight = np.where(sums[:, 0] > 0, sums[:, 0], 1.0)
    means = gaps / weight[:, None]
    about_means = sums[:, 1] - weight * np.square(means).sum(axis=1)
    costs = np.empty((len(clusters), len(centers)))
    for i, cluster in enumerate(clusters.tolist()):
        to_centers = (centers[cluster] * 0.5 - centers * 0.5) * unit + means[i]
        costs[i] = np.square(to_centers).sum(axis=1) * weight[i] + about_means[i]
    return costs


_LARGE = 4 * N_BINS  # rows from which a node is searched by bins first
_FEW = 16  # the rows of candidate nodes are sorted anew if they are fewer than one in 16
_SUMS = 1 << 16  # sums that are filled at a time, so that they stay in the processor's cache


class BestRecuts(NamedTuple):
    """The best cut of each node so far: sum of differences over its first side, column, and the rows next to it."""

    current: Ints  # the sum of the present cut
    best: Ints  # the sum of the best cut
    feature: Indices
    left: Ints  # the last row on the first side
    right: Ints  # the first row on the second side

    @classmethod
    def nothing(cls, current: Ints) -> BestRecuts:
        none = np.full((2, len(current)), -1)
        return cls(current, current.copy(), np.zeros(len(current), dtype=np.intp), *none)

    def add(self, nodes: Indices, column: int, states: Ints) -> None:
        """Take the cuts of a column where they are better; columns come in any order."""
        loops.take_better(nodes, column, states, *self)

    def cuts(self, X: Array) -> tuple[Bools, Indices, Floats]:
        """Return which nodes have a better cut than the present one, with columns and thresholds of the best cuts."""
        chosen, upper = self.best < self.current, np.zeros(len(self.best))
        for node in np.flatnonzero(chosen).tolist():
            j = self.feature[node]
            upper[node] = between(float(X[self.left[node], j]), float(X[self.right[node], j]))
        return chosen, self.feature, upper


class RecutLevel(NamedTuple):
    """The rows of some nodes of one level, and their differences."""

    task: Task
    X: Array
    rows: Indices
    at: Array
    difference: Ints
    n_jobs: int | None

    def search(self, best: BestRecuts, candidates: Bools, n_rows: Ints, lowest: Ints) -> None:
        """Search nodes for better cuts in candidate columns, and update the lower bounds on sums, `lowest`."""
        large, small = np.empty(len(candidates), dtype=np.intp), np.empty_like(candidates)
        n_large, any_small = split_by_size(candidates, n_rows, _LARGE, large, small)
        if n_large:
            self._search_by_bins(best, large[:n_large], candidates, lowest)
        if any_small:
            self._walk(best, small, lowest)

    # ------------------------------------------------------------------------------------------- small nodes

    def _walk(self, best: BestRecuts, candidates: Bools, lowest: Ints) -> None:
        columns = np.flatnonzero(candidates.any(axis=0)).tolist()
        nodes = np.flatnonzero(candidates.any(axis=1))
        order = self._orders(candidates)

        def of_column(column: int) -> Ints:
            states = np.zeros((len(candidates), 6), dtype=np.int64)
            states[:, loops.BEST] = best.current
            states[:, loops.LAST :] = -1
            is_candidate = np.ascontiguousarray(candidates[:, column])
            loops.best_cuts(self.X, column, order(column), self.at, is_candidate, self.difference, states)
            return states[nodes]

        for column, states in zip(columns, map_tasks(of_column, columns, n_jobs=self._jobs), strict=True):
            is_candidate = candidates[nodes, column]
            lowest[nodes[is_candidate], column] = states[is_candidate, loops.LOWEST]
            best.add(nodes, column, states)

    def _orders(self, candidates: Bools) -> Callable[[int], NDArray[np.int32]]:
        """Return a function that gives the rows of candidate nodes, perhaps with others, sorted by a column."""
        of_nodes: Bools = np.asarray(candidates.any(axis=1))
        rows = self.rows[of_nodes[self.at[self.rows]]].astype(np.int32)
        if len(rows) * _FEW > len(self.X):
            return self.task.order.__getitem__
        return lambda column: rows[np.argsort(self.X[rows, column])]

    # ------------------------------------------------------------------------------------------- large nodes

    def _search_by_bins(self, best: BestRecuts, nodes: Indices, candidates: Bools, lowest: Ints) -> None:
        """Search nodes by bins: walk only bins that may hold a cut as good as the best one at an end of a bin."""
        slot = np.full(len(candidates), -1)
        slot[nodes] = np.arange(len(nodes))
        columns = np.flatnonzero(candidates[nodes].any(axis=0))
        size = max(1, min(_SUMS // (2 * N_BINS * len(nodes)), -(-len(columns) // n_threads(self._jobs))))
        groups = [columns[i : i + size] for i in range(0, len(columns), size)]

        def fill(group: Indices) -> tuple[Ints, Ints, Ints]:
            bins = np.zeros((len(nodes), len(group), N_BINS, 2), dtype=np.int64)
            least, least_at_ends = np.zeros((len(nodes), len(group)), dtype=np.int64), best.current[nodes]
            loops.add_to_bins(self.rows, self.at, slot, self.difference, self.task.bins.codes, group, bins)
            loops.bound_bins(bins, group, self.task.bins.single, least, least_at_ends)
            return bins, least, least_at_ends

        _ = self.task.bins  # made here, not by several threads at once
        filled = map_tasks(fill, groups, n_jobs=self._jobs)
        limits = np.min([least_at_ends for _, _, least_at_ends in filled], axis=0)
        limits = np.minimum(limits, best.current[nodes] - 1)
        near = []  # columns in which some node may have a better cut, with their bounds
        for group, (bins, least, _) in zip(groups, filled, strict=True):
            lowest[nodes[:, None], group] = np.maximum(lowest[nodes[:, None], group], least)
            near += [(int(group[i]), bins[:, i]) for i in np.flatnonzero((least <= limits[:, None]).any(axis=0))]

        def of_column(column: int, bounds: Ints) -> Ints:
            states = np.zeros((len(nodes), 6), dtype=np.int64)
            states[:, loops.BEST] = best.current[nodes]
            near_bounds = np.ascontiguousarray(bounds)
            walked = (near_bounds[:, :, 1] <= limits[:, None]).any(axis=0)
            order, starts = self.task.bins.order(column, walked), self.task.bins.starts[column]
            arrays = order, starts, self.at, slot, near_bounds, limits, self.difference, states
            loops.best_cuts_of_bins(self.X, column, *arrays)
            return states

        states = map_tasks(lambda each: of_column(*each), near, n_jobs=self._jobs)
        for (column, _), each in zip(near, states, strict=True):
            best.add(nodes, column, each)

    # --------------------------------------------------------------------------------------------- both kinds

    @property
    def _jobs(self) -> int | None:
        """Number of threads; one is faster for few values."""
        return jobs_for(len(self.rows) * self.X.shape[1], self.n_jobs)


_NO_CENTERS = np.empty((0, 0))


def add_blocks(blocks: list[Array]) -> Array:
    """Return the sum of arrays, one for each block of rows."""
    return blocks[0] if len(blocks) == 1 else np.sum(blocks, axis=0)


def centers_in(problem: CutProblem) -> Floats:
    """Return the centres of a problem of distances, and none for other costs."""
    return one_kind(_NO_CENTERS if problem.centers is None else problem.centers)


def one_kind(array: Array) -> Array:
    """Return a read-only contiguous view, or a copy, so that loops are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def last_below(tree: ThresholdTree) -> Ints:
    """Return the last node of the subtree of each node, shape (n_nodes,)."""
    last = np.arange(tree.n_nodes)
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        last[node] = last[tree.second[node]]
    return last
