"""ExKMC and Expand by passes over rows that come in batches: the trees of `_expand`, without look-ahead.

Leaves are split one after another, the one that gains most first. A pass per leaf would be many, so the leaves that are
likely to come are searched along with those that are asked for: the sides of all leaves that would be split if leaves
that are not known yet gained nothing.
"""

from __future__ import annotations

import heapq
from functools import partial
from typing import Any

import numpy as np

from boxwood._types import Ints
from boxwood._validation import real_number, refuse_unknown
from boxwood.errors import DataError
from boxwood.grow._block_costs import BlockCosts, parts_of
from boxwood.grow._costs import OBJECTIVES, refuse_misfit
from boxwood.grow._expand import base_of, check_expansion, early_stop, refuse_too_small
from boxwood.grow._expand_search import Leaf, Search
from boxwood.grow._grown import Grown
from boxwood.grow._levels import GrowingTree, Paths
from boxwood.grow._methods import METHODS
from boxwood.passes import Block, TableTask
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["expanded_by_passes", "grow_exkmc_by_passes", "grow_expand_by_passes"]


def grow_exkmc_by_passes(
    task: TableTask, *, base: str | None = None, cuts: str = "threshold", look_ahead: bool = False, tol: float = 0.0
) -> Grown:
    """Return what `grow_exkmc` grows for rows in memory."""
    return _grow(task, "exkmc", base, objective="cost", cuts=cuts, look_ahead=look_ahead, tol=tol)


def grow_expand_by_passes(
    task: TableTask, *, base: str | None = None, cuts: str = "threshold", look_ahead: bool = False, tol: float = 0.0
) -> Grown:
    """Return what `grow_expand` grows for rows in memory."""
    return _grow(task, "expand", base, objective="mistakes", cuts=cuts, look_ahead=look_ahead, tol=tol)


def _grow(task: TableTask, name: str, base: str | None, **options: Any) -> Grown:
    base = base_of(task, base, "imm")
    begin = METHODS["imm"].grow(task).tree if base == "imm" else None
    leaves = task.leaves(times=2)
    tree = expanded_by_passes(begin, task, leaves, **options)
    reason = early_stop(tree, leaves, **{key: options[key] for key in ("objective", "look_ahead", "tol")})
    return Grown(tree, name if base == "imm" else f"{name}-root", early_stop=reason)


def expanded_by_passes(
    tree: ThresholdTree | None,
    task: TableTask,
    max_leaf_nodes: int,
    *,
    objective: str,
    cuts: str = "threshold",
    look_ahead: bool = False,
    tol: float = 0.0,
) -> ThresholdTree:
    """Return a tree with leaves split, as `expanded` does; None begins with a single leaf of the cheapest cluster."""
    refuse_unknown("objective", objective, OBJECTIVES)
    check_expansion(task, cuts=cuts, look_ahead=look_ahead, tol=tol)
    if cuts == "interval":
        raise DataError("cuts='interval' needs all rows in memory; for rows in batches use cuts='threshold'")
    if look_ahead:
        raise DataError("look_ahead=True needs all rows in memory; for rows in batches use look_ahead=False")
    task.budget.refuse_too_few(task.overview.n_kept)
    if tree is not None:
        refuse_misfit(tree, task)
        refuse_too_small(max_leaf_nodes, tree)
    growth = _Growth(tree, task, objective)
    growth.set_least(real_number("tol", tol))
    return growth.grow(max_leaf_nodes)


class _Growth:
    """A tree whose leaves are split one after another.

    `tree` is the growing one, in which more cuts are made than the tree will have; `begin` is the one to begin with.
    """

    def __init__(self, begin: ThresholdTree | None, task: TableTask, objective: str) -> None:
        self.task, self.max_depth, self.least = task, task.budget.max_depth, 0.0
        self.costs = BlockCosts.of(task, objective)
        if begin is None:
            self.begin, self.tree, node_of = ThresholdTree.from_dict({"cluster": 0}), GrowingTree(), [0]
        else:
            self.begin = begin
            self.tree, node_of = GrowingTree.from_tree(begin)
        self.search = Search(task, self.tree, self.costs)
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
        root = Leaf(0, 0)
        self.search.measure_at([root], GrowingTree().paths_to([0]))
        make = partial(_CostOfTree, self.costs, self.tree.paths_to([leaf.node for leaf in self.leaves]), root.scale)
        sums = self.task.batches.fold(partial(make, len(self.leaves))).sums
        clusters = self.begin.leaf_clusters
        cost = sum(int(self.costs.under(total)[cluster]) for total, cluster in zip(sums, clusters, strict=True))
        self.least = tol * (cost / root.scale)

    def grow(self, max_leaf_nodes: int) -> ThresholdTree:
        """Return the tree with at most so many leaves."""
        while True:
            tree, wanted = self._run(max_leaf_nodes)
            if not wanted:
                return tree
            self.search.find(wanted)

    def _run(self, max_leaf_nodes: int) -> tuple[ThresholdTree, list[Leaf]]:
        """Return the tree if leaves that are not searched yet gained nothing, and these leaves."""
        builder, _ = TreeBuilder.from_tree(self.begin)
        wanted: list[Leaf] = []
        heap: list[tuple[float, int, Leaf]] = []
        new = [(leaf.node, leaf) for leaf in self.leaves]
        while max_leaf_nodes > builder.n_leaves:
            for node, leaf in new:
                if self.max_depth is not None and leaf.depth >= self.max_depth:
                    continue
                if not leaf.is_searched:
                    wanted.append(leaf)
                elif leaf.cut is not None and leaf.gain > self.least:
                    heapq.heappush(heap, (-leaf.gain, node, leaf))
            if not heap:
                break
            _, node, leaf = heapq.heappop(heap)
            self.search.part(leaf)
            assert leaf.cut is not None
            sides = builder.split(node, leaf.cut.feature, leaf.cut.upper, leaf.cut.lower)
            for side, cluster in zip(sides, (leaf.cut.first, leaf.cut.second), strict=True):
                builder.label(side, cluster)
            new = list(zip(sides, leaf.sides, strict=True))
        return builder.build(), wanted


class _CostOfTree:
    """A summary of the amounts of the rows in each leaf, in whole costs of one scale."""

    def __init__(self, costs: BlockCosts, paths: Paths, scale: float, n_leaves: int) -> None:
        self.costs, self.paths, self.scales = costs, paths, np.full(n_leaves, scale)
        self.sums: Ints = np.zeros((n_leaves, costs.n_amounts), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for part in parts_of(block, self.paths, self.costs):
            np.add.at(self.sums, part.nodes, self.costs.amounts(part, self.scales))

    def merge(self, other: _CostOfTree) -> None:
        """Add another summary."""
        self.sums += other.sums
