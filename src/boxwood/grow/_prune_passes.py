"""The cheapest prunings of a tree by a pass over rows that come in batches: those of `_prune`."""

from __future__ import annotations

from functools import partial

import numpy as np

from boxwood._types import Ints
from boxwood.grow._block_costs import BlockCosts, Scales, parts_of
from boxwood.grow._levels import GrowingTree, Paths
from boxwood.grow._prune import Shares, shares_of_sums
from boxwood.passes import Block, TableTask
from boxwood.tree import ThresholdTree

__all__ = ["shares_by_passes", "sums_of_leaves"]


def shares_by_passes(tree: ThresholdTree, task: TableTask, objective: str) -> Shares:
    """Return what `shares_of` returns for rows in memory; takes two passes."""
    costs = BlockCosts.of(task, objective)
    growing, node_of = GrowingTree.from_tree(tree)
    leaves = np.flatnonzero(tree.feature < 0)
    sums, _ = sums_of_leaves(task, costs, growing.paths_to([node_of[leaf] for leaf in leaves.tolist()]), len(leaves))
    return shares_of_sums(tree, costs.under(sums))


def sums_of_leaves(task: TableTask, costs: BlockCosts, paths: Paths, n_leaves: int) -> tuple[Ints, float]:
    """Return the sums of the amounts of the rows in each leaf, and the scale of their whole numbers; takes two passes.

    The scale is that of all kept rows, as `whole_costs` has it for rows in memory.
    """
    [scale] = task.batches.fold(partial(Scales, costs, GrowingTree().paths_to([0]), 1, 0)).scales()
    return task.batches.fold(partial(_SumsOfLeaves, costs, paths, scale, n_leaves)).sums, scale


class _SumsOfLeaves:
    """A summary of the amounts of the rows in each leaf, in whole costs of one scale."""

    def __init__(self, costs: BlockCosts, paths: Paths, scale: float, n_leaves: int) -> None:
        self.costs, self.paths, self.scales = costs, paths, np.full(n_leaves, scale)
        self.sums: Ints = np.zeros((n_leaves, costs.n_amounts), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for part in parts_of(block, self.paths, self.costs):
            np.add.at(self.sums, part.nodes, self.costs.amounts(part, self.scales))

    def merge(self, other: _SumsOfLeaves) -> None:
        """Add another summary."""
        self.sums += other.sums
