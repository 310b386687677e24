"""ExKMC and Expand by passes over batches of rows: the same trees as from rows in memory.

Leaves are split one after another, the one with the largest gain first. To save passes, several leaves are searched in
one pass: all leaves that the tree would have, and need to search, if leaves not yet searched gained nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from boxwood._types import Floats, Ints
from boxwood._validation import real_number, refuse_unknown
from boxwood.batches import Block
from boxwood.grow.leaves._cuts import IN_VAIN, Pair, best_instead, best_pairs, cuts_of_pair, is_little
from boxwood.grow.leaves._cuts_batches import Leaf, LeafCutSearch
from boxwood.grow.leaves.expand import check_expansion, refuse_too_small
from boxwood.grow.leaves.prune import sums_of_leaves
from boxwood.grow.shared.batches import BlockCosts, GrowingTree, Paths, RowsInNodes, chunks_of, rows_taken
from boxwood.grow.shared.costs import LOSSES, CutProblem, make_problem, refuse_misfit, with_centers
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, TreeBuilder


def expanded_in_batches(
    tree: ThresholdTree | None,
    task: Task,
    max_leaf_nodes: int,
    *,
    loss: str,
    cuts: str = "threshold",
    look_ahead: bool = True,
    instead: bool = False,
    tol: float = 0.0,
) -> tuple[ThresholdTree, tuple[str, ...]]:
    """Return a tree with leaves split, as `expanded` does; None begins with a single leaf of the cheapest cluster.

    Beside it is a note if leaves have too many rows to look ahead, where that might have found more.
    """
    refuse_unknown("objective", loss, LOSSES)
    check_expansion(task, cuts=cuts, look_ahead=look_ahead, tol=tol)
    task.budget.refuse_too_few(task.n_kept)
    if tree is not None:
        refuse_misfit(tree, task)
        refuse_too_small(max_leaf_nodes, tree)
    growth = _GrowthByPasses(tree, task, loss, two_sided=cuts == "interval")
    growth.set_least(real_number("tol", tol))
    look_ahead = look_ahead and not task.budget.limits_shape
    grown, n_large = growth.grow(max_leaf_nodes, look_ahead=look_ahead, instead=look_ahead and instead)
    leaves = "1 leaf has" if n_large == 1 else f"{n_large} leaves have"
    note = f"{leaves} more than {VALUES} values, so two cuts at once were not looked for there"
    return grown, (note,) if n_large else ()


class _GrowthByPasses:
    """A tree whose leaves are split one after another.

    `begin` is the tree to begin with. `tree` is the growing tree; it may have more cuts than the result.
    """

    def __init__(self, begin: ThresholdTree | None, task: Task, loss: str, *, two_sided: bool) -> None:
        self.task, self.max_depth, self.least = task, task.budget.max_depth, 0.0
        self.costs = BlockCosts.of(task, loss)
        if begin is None:
            self.begin, self.tree, node_of = ThresholdTree.from_dict({"cluster": 0}), GrowingTree(), [0]
        else:
            self.begin = begin
            self.tree, node_of = GrowingTree.from_tree(begin)
        self.search = LeafCutSearch(task, self.tree, self.costs, two_sided)
        self.ahead = LookAhead(task, self.search)
        leaves = np.flatnonzero(self.begin.feature < 0).tolist()
        self.leaves = [Leaf(node_of[node], int(self.begin.node_depth[node])) for node in leaves]
        if begin is None:
            self.search.find(self.leaves)
            cheapest = int(self.costs.under(self.leaves[0].total).argmin())
            self.begin = ThresholdTree.from_dict({"cluster": cheapest})

    def set_least(self, tol: float) -> None:
        """Set the gain that a leaf must exceed: `tol` times the cost of the tree to begin with."""
        if tol == 0:
            return
        paths = self.tree.paths_to([leaf.node for leaf in self.leaves])
        sums, scale = sums_of_leaves(self.task, self.costs, paths, len(self.leaves))
        clusters = self.begin.leaf_clusters
        cost = sum(int(self.costs.under(total)[cluster]) for total, cluster in zip(sums, clusters, strict=True))
        self.least = tol * (cost / scale)

    def grow(self, max_leaf_nodes: int, *, look_ahead: bool, instead: bool) -> tuple[ThresholdTree, int]:
        """Return the tree with at most `max_leaf_nodes` leaves, and the number of leaves too large to look ahead."""
        while True:
            run = _Trial(self, max_leaf_nodes)
            wanted = run.grow(look_ahead, instead)
            if wanted:
                self.search.find(wanted)
            elif run.looked_at:
                self.ahead.find(run.looked_at)
            else:
                return run.builder.build(), len(run.large)


class _Trial:
    """A trial of the growth, in which leaves that are not searched yet gain nothing."""

    def __init__(self, growth: _GrowthByPasses, max_leaf_nodes: int) -> None:
        self.growth, self.max_leaf_nodes = growth, max_leaf_nodes
        self.builder, _ = TreeBuilder.from_tree(growth.begin)
        self.wanted: list[Leaf] = []  # leaves that are not searched yet
        self.looked_at: list[Leaf] = []  # leaves whose pairs of cuts are not searched yet
        self.heap: list[tuple[float, int, Leaf]] = []
        self.stuck: dict[int, Leaf] = {}
        self.in_vain = 0  # as in `Growth`, once the trial is the last one
        self.large: set[int] = set()  # nodes of leaves that were too large to look ahead

    @property
    def _is_sure(self) -> bool:
        """Whether the tree so far is final: no leaf on which it depends is still to be searched."""
        return not self.wanted and not self.looked_at

    def grow(self, look_ahead: bool, instead: bool) -> list[Leaf]:
        """Grow the tree and return the leaves that are to be searched."""
        new = [(leaf.node, leaf) for leaf in self.growth.leaves]
        while (room := self.max_leaf_nodes - self.builder.n_leaves) > 0:
            for node, leaf in new:
                self._consider(node, leaf)
            if self.heap:
                _, node, leaf = heapq.heappop(self.heap)
                new = self._split_best(node, leaf, room if instead else 0)
            elif look_ahead and room > 1 and self._is_sure and (best := self._best_pair(room)) is not None:
                new = self._split_twice(best[0], self.stuck.pop(best[0]), best[1])
            else:
                break
        return self.wanted

    def _consider(self, node: int, leaf: Leaf) -> None:
        growth = self.growth
        if growth.max_depth is not None and leaf.depth >= growth.max_depth:
            return
        if not leaf.is_searched:
            self.wanted.append(leaf)
        elif leaf.cut is not None and leaf.gain > growth.least:
            heapq.heappush(self.heap, (-leaf.gain, node, leaf))
        else:
            self.stuck[node] = leaf

    def _split_best(self, node: int, leaf: Leaf, room: int) -> list[tuple[int, Leaf]]:
        """Split a leaf by its best cut, or by a pair of cuts that gains far more; not while a pair is still uncertain.

        A single cut may be made early, as leaves searched later only leave less room; a pair cannot be undone.
        """
        pair, growth = None, self.growth
        most = int(growth.costs.under(leaf.total).min()) - leaf.least  # that any cuts save
        if room > 1 and self.in_vain < IN_VAIN and is_little(leaf.gain, most / leaf.scale, growth.search.two_sided):
            if leaf.pairs is None:
                self.looked_at.append(leaf)
                return []
            self.large |= {node} if leaf.is_too_large else set()
            pair = best_instead(leaf.pairs, leaf.gain, room)
            self.in_vain = self.in_vain + 1 if pair is None else 0
        if pair is None:
            growth.search.open_sides(leaf)
            return self._split(node, leaf)
        return self._split_twice(node, leaf, pair) if self._is_sure else []

    def _split(self, node: int, leaf: Leaf) -> list[tuple[int, Leaf]]:
        assert leaf.cut is not None
        sides = self.builder.split(node, leaf.cut.feature, leaf.cut.upper, leaf.cut.lower)
        for side, cluster in zip(sides, (leaf.cut.first, leaf.cut.second), strict=True):
            self.builder.label(side, cluster)
        return list(zip(sides, leaf.sides, strict=True))

    def _best_pair(self, room: int) -> tuple[int, Pair] | None:
        """Return the stuck leaf and the pair of cuts that gain most for each leaf that they add, once all are known."""
        self.looked_at = [leaf for leaf in self.stuck.values() if leaf.pairs is None]
        if self.looked_at:
            return None
        self.large |= {node for node, leaf in self.stuck.items() if leaf.is_too_large}
        pairs = [(node, pair) for node, leaf in self.stuck.items() for pair in leaf.pairs or ()]
        pairs = [(node, pair) for node, pair in pairs if pair.n_leaves <= room and pair.gain > self.growth.least]
        return min(pairs, key=lambda each: (-each[1].gain, each[0], each[1]), default=None)

    def _split_twice(self, node: int, leaf: Leaf, pair: Pair) -> list[tuple[int, Leaf]]:
        self.growth.ahead.open_sides(leaf, pair)
        assert leaf.seconds is not None
        new: list[tuple[int, Leaf]] = []
        for side, cut in zip(self._split(node, leaf), leaf.seconds, strict=True):
            new += [side] if cut is None else self._split(*side)
        return new


VALUES = 1 << 22  # most values of the rows that are gathered at once


class LookAhead:
    """The search of `_cuts` for pairs of cuts, in leaves of a growing tree; leaves with too many rows are left out."""

    task: Task
    search: LeafCutSearch
    most_rows: int

    def __init__(self, task: Task, search: LeafCutSearch) -> None:
        self.task, self.search, self.most_rows = task, search, max(VALUES // task.n_columns, 1)

    def find(self, leaves: Sequence[Leaf]) -> None:
        """Find the best pairs of cuts of leaves."""
        for leaf in leaves:
            leaf.pairs = []
        mixed = self._mixed_leaves(leaves)
        for leaf in mixed:
            leaf.is_too_large = leaf.count > self.most_rows
        for group in self._at_once([leaf for leaf in mixed if not leaf.is_too_large]):
            for leaf, problem in zip(group, self._problems(group), strict=True):
                leaf.pairs = best_pairs(problem, np.arange(len(problem.rows)), self.search.two_sided)

    def _mixed_leaves(self, leaves: Sequence[Leaf]) -> list[Leaf]:
        """Return the leaves in which no cluster is the cheapest for every row."""
        costs = self.search.costs
        leaves = [leaf for leaf in leaves if leaf.count > 2 and costs.under(leaf.total).min() > 0]
        if costs.by_label or not leaves:
            return leaves
        paths, scales = self.search.tree.paths_to([leaf.node for leaf in leaves]), [leaf.scale for leaf in leaves]
        least = self.task.batches.fold(partial(_Least, costs, paths, np.array(scales))).sums
        for leaf, own in zip(leaves, least.tolist(), strict=True):
            leaf.least = own
        return [leaf for leaf in leaves if int(costs.under(leaf.total).min()) != leaf.least]

    def open_sides(self, leaf: Leaf, pair: Pair) -> None:
        """Make the cuts of a pair, unless they are made already."""
        if leaf.seconds is not None:
            return
        problem = self._problems([leaf])[0]
        leaf.cut, *leaf.seconds = cuts_of_pair(problem, np.arange(len(problem.rows)), pair, self.search.two_sided)
        self.search.split(leaf)
        for side, cut in zip(leaf.sides, leaf.seconds, strict=True):
            if cut is not None:
                side.cut = cut
                self.search.split(side)

    def _at_once(self, leaves: Sequence[Leaf]) -> Iterator[list[Leaf]]:
        """Yield groups of leaves whose rows can be gathered together."""
        group: list[Leaf] = []
        for leaf in leaves:
            if sum(other.count for other in group) + leaf.count > self.most_rows:
                yield group
                group = []
            group.append(leaf)
        if group:
            yield group

    def _problems(self, leaves: Sequence[Leaf]) -> list[CutProblem]:
        """Return the rows of each leaf as a problem in memory, with the same costs as among all rows."""
        paths, costs = self.search.tree.paths_to([leaf.node for leaf in leaves]), self.search.costs
        rows = self.task.batches.fold(partial(_RowsOfLeaves, costs, paths)).joined()
        return [self._problem(rows_taken(rows, np.flatnonzero(rows.nodes == i))) for i in range(len(leaves))]

    def _problem(self, chunk: RowsInNodes) -> CutProblem:
        costs, task = self.search.costs, self.task
        reference = Reference(chunk.labels, costs.centers)
        small = Task.of(chunk.values, reference, sample_weight=chunk.weights, n_jobs=task.n_jobs, budget=task.budget)
        problem = make_problem(small, "mistakes" if costs.by_label else "cost")
        share, times = costs.shares(chunk)
        problem = problem._replace(share=share, times=times)
        return problem if costs.by_label else with_centers(problem, costs.centers, costs.unit)


class _Least:
    """A summary of the cost of the rows of each leaf, each row under its own cheapest cluster."""

    def __init__(self, costs: BlockCosts, paths: Paths, scales: Floats) -> None:
        self.costs, self.paths, self.scales = costs, paths, scales
        self.sums: Ints = np.zeros(len(scales), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for chunk in chunks_of(block, self.paths, self.costs):
            np.add.at(self.sums, chunk.nodes, self.costs.amounts(chunk, self.scales)[:, :-1].min(axis=1))

    def merge(self, other: _Least) -> None:
        """Add another summary."""
        self.sums += other.sums


class _RowsOfLeaves:
    """A summary that gathers all rows of some leaves."""

    def __init__(self, costs: BlockCosts, paths: Paths) -> None:
        self.costs, self.paths = costs, paths
        self.chunks: list[RowsInNodes] = []

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for chunk in chunks_of(block, self.paths, self.costs):
            self.chunks.append(
                rows_taken(chunk, np.arange(len(chunk.nodes)))
            )  # a copy: a part may be a view of its block

    def merge(self, other: _RowsOfLeaves) -> None:
        """Add another summary."""
        self.chunks += other.chunks

    def joined(self) -> RowsInNodes:
        """Return the rows."""
        values, nodes, labels, weights = zip(*self.chunks, strict=True)
        together = np.concatenate(values), np.concatenate(nodes), np.concatenate(labels)
        return RowsInNodes(*together, None if weights[0] is None else np.concatenate(weights))
