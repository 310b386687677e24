"""Ex-Greedy and ExShallow by passes over rows that come in batches: the trees of `_greedy` and `_shallow`.

All nodes of a level are cut together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boxwood._validation import refuse_unknown
from boxwood.errors import DataError
from boxwood.grow._block_costs import BlockCosts
from boxwood.grow._greedy_search import CenterNode, GreedySearch
from boxwood.grow._grown import Grown
from boxwood.grow._levels import GrowingTree
from boxwood.grow._shallow import refuse_negative
from boxwood.grow._ties import TIE_BREAKS
from boxwood.passes import TableTask
from boxwood.tree import ThresholdTree

__all__ = ["grow_greedy_by_passes", "grow_shallow_by_passes"]


def grow_greedy_by_passes(task: TableTask, *, duplicates: str = "error", tie_break: str = "first") -> Grown:
    """Return what `grow_greedy` grows for rows in memory."""
    refuse_unknown("tie_break", tie_break, TIE_BREAKS)
    if tie_break != "first":
        raise DataError(f"tie_break={tie_break!r} needs all rows in memory; for rows in batches use tie_break='first'")
    return Grown(_separated(task, duplicates, 0.0), "greedy")


def grow_shallow_by_passes(task: TableTask, *, depth_penalty: float = 0.03, duplicates: str = "error") -> Grown:
    """Return what `grow_shallow` grows for rows in memory."""
    refuse_negative(depth_penalty)
    return Grown(_separated(task, duplicates, float(depth_penalty)), "shallow")


def _separated(task: TableTask, duplicates: str, penalty: float) -> ThresholdTree:
    """Return the tree with one leaf for each centre whose cuts have the lowest scores."""
    hidden = task.budget.forbidden
    costs, tree = BlockCosts.of(task, "cost", hidden), GrowingTree()
    clusters = np.unique(replace(task.reference, centers=costs.centers).distinct_clusters(duplicates))
    untested = np.zeros((task.batches.n_columns, 2), dtype=np.bool_)
    search, waiting = GreedySearch(task, tree, costs, penalty), [CenterNode(0, clusters, untested)]
    while waiting:
        for node in waiting:
            if len(node.clusters) == 1:
                tree.label(node.node, int(node.clusters[0]))
        sides = search.find([node for node in waiting if len(node.clusters) > 1])
        waiting = [side for pair in sides for side in pair]
    return tree.build()
