"""IMM by passes over rows that come in batches: the same tree as from rows in memory.

A first pass counts the rows by cluster, column and bin. All nodes that wait for a cut then share each further pass.
What a node asks of it depends on what its counts leave open:

1. few values lie in the bins that can hold its best cut: these values, with new counts of their columns, settle it;
2. many, by counts that still hold rows which cuts above have taken from the node: new counts, in closer bins;
3. many all the same: closer bins within those bins.

So a node takes one pass where clusters lie apart, and mostly two where they overlap. A pass reads the columns that can
hold a best cut, and those that the cuts above its nodes test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from boxwood._types import Indices, Ints
from boxwood._validation import WholeWeights, refuse_unknown
from boxwood.errors import DataError
from boxwood.grow._grown import Grown
from boxwood.grow._imm_passes_counts import Columns, Grid, Wish, look
from boxwood.grow._imm_passes_search import Search
from boxwood.grow._levels import GrowingTree
from boxwood.grow._ties import TIE_BREAKS
from boxwood.passes import TableTask
from boxwood.tree import ThresholdTree

__all__ = ["grow_imm_by_passes"]

MOST_VALUES = 1_000_000  # values that a pass may bring, of all nodes
MOST_COUNTS = 8_000_000  # counts of a pass, 8 bytes each
FEWEST_BINS, MOST_BINS = 16, 1024  # of a column, between all centres of a node
FEWEST_CLOSER, MOST_CLOSER = 64, 16_384  # the same for closer bins within a few bins


def grow_imm_by_passes(
    task: TableTask, *, candidates: str = "all", duplicates: str = "error", tie_break: str = "first"
) -> Grown:
    """Return what `imm` grows for rows in batches."""
    refuse_unknown("candidates", candidates, ("all", "midpoints"))
    refuse_unknown("tie_break", tie_break, TIE_BREAKS)
    if tie_break != "first":
        raise DataError(
            f"tie_break={tie_break!r} needs all rows in memory; for rows in batches use tie_break='first', "
            "or give the rows as an array"
        )
    return Grown(_Growth(task, duplicates, candidates == "midpoints").tree(), "imm")


@dataclass
class _Node:
    """A node that is still to be split or labelled."""

    number: int
    clusters: Indices  # clusters whose centres lie in the node
    alive: Ints  # weight of the rows of each in the node
    grids: list[Grid] = field(default_factory=list)


class _Growth:
    """One run of the algorithm."""

    def __init__(self, task: TableTask, duplicates: str, midpoints: bool) -> None:
        self.batches, self.midpoints = task.batches, midpoints
        self.centers = task.reference.centers.copy()
        self.centers[:, list(task.budget.forbidden)] = 0.0  # so that no cut of these columns separates any of them
        self.merged = replace(task.reference, centers=self.centers).distinct_clusters(duplicates)
        self.n_rows = task.overview.n_rows
        self.weigh = None if task.batches.weight is None else _weigh(task)
        self.growing = GrowingTree()

    def tree(self) -> ThresholdTree:
        """Return the tree."""
        clusters = np.unique(self.merged)
        waiting = [_Node(0, clusters, np.zeros(len(clusters), dtype=np.int64))]
        while waiting:
            waiting = self._settled(waiting)
            if waiting:
                self._look(waiting)
        return self.growing.build()

    def _settled(self, waiting: list[_Node]) -> list[_Node]:
        """Split and label nodes as far as what was seen of the rows goes; return the nodes where it goes no further."""
        further = []
        while waiting:
            node, *waiting = waiting
            if len(node.clusters) == 1:
                self.growing.label(node.number, int(node.clusters[0]))
                continue
            search = self._search(node)
            if search is None or not search.is_done:
                further.append(node)
            else:
                waiting += self._split(node, search)
        return further

    def _search(self, node: _Node) -> Search | None:
        """Return the search at a node; None at the root before its rows are counted."""
        centers = self.centers[node.clusters]
        return Search(centers, node.alive, node.grids, self.midpoints) if node.grids else None

    def _split(self, node: _Node, search: Search) -> list[_Node]:
        """Split a node, and return its children."""
        best = search.best()
        numbers = self.growing.split(node.number, best.feature, best.threshold)
        is_left = self.centers[node.clusters, best.feature] <= best.threshold
        alive = best.left, node.alive - best.left
        return [
            self._child(node, number, np.flatnonzero(inside), weight)
            for number, inside, weight in zip(numbers, (is_left, ~is_left), alive, strict=True)
        ]

    def _child(self, node: _Node, number: int, ranks: Indices, alive: Ints) -> _Node:
        """Return a child that has some of the clusters; `alive` is the weight of all clusters there."""
        clusters = node.clusters[ranks]
        varied = np.ptp(self.centers[clusters], axis=0) > 0
        grids = [grid.of_child(ranks, varied) for grid in node.grids if not grid.is_part and len(ranks) > 1]
        return _Node(number, clusters, alive[ranks], [grid for grid in grids if len(grid.columns.number)])

    # ------------------------------------------------------------------------------------------------- passes

    def _look(self, waiting: list[_Node]) -> None:
        """Make one pass over the rows, and give each node what it wishes to see."""
        wishes = self._wishes(waiting)
        paths = self.growing.paths_to([node.number for node in waiting])
        nodes = [(node.clusters, own) for node, own in zip(waiting, wishes, strict=True)]
        for node, grids in zip(waiting, look(self.batches, paths, nodes, self.merged, self.weigh), strict=True):
            node.grids = [*(grid for grid in node.grids if len(grid.columns.number)), *grids]
            node.alive = grids[0].total

    def _wishes(self, waiting: list[_Node]) -> list[list[Wish]]:
        """Return what each node asks of the next pass; counts that it will replace are dropped."""
        searches = [self._search(node) for node in waiting]
        room, wishes, counting, closer = MOST_VALUES, {}, [], []
        sizes = [MOST_VALUES + 1 if search is None else search.n_values for search in searches]
        for i in np.argsort(sizes, kind="stable").tolist():
            search = searches[i]
            if search is not None and sizes[i] <= room:
                room -= sizes[i]
                wishes[i] = self._for_values(waiting[i], search)
            elif search is None or not search.is_exact:
                counting.append(i)
            else:
                closer.append(i)
        wishes |= self._for_counts({i: (waiting[i], searches[i]) for i in counting})
        wishes |= self._for_closer_bins({i: (waiting[i], search) for i in closer if (search := searches[i])})
        return [wishes[i] for i in range(len(waiting))]

    def _for_values(self, node: _Node, search: Search) -> list[Wish]:
        """Return wishes for the values in all bins that can hold the best cut, with new counts of their columns."""
        wishes = search.wishes_for_values()
        for grid, wish in wishes:
            self._drop(node, [grid], wish.columns.number)
        return [wish for _, wish in wishes]

    def _for_counts(self, nodes: dict[int, tuple[_Node, Search | None]]) -> dict[int, list[Wish]]:
        """Return wishes for new counts of the columns that can hold the best cut, in bins around the node's centres."""
        columns = {i: self._open_columns(node, search) for i, (node, search) in nodes.items()}
        size = sum(len(columns[i]) * len(node.clusters) for i, (node, _) in nodes.items())
        n_bins = min(max(self.n_rows // (4 * len(self.centers)), FEWEST_BINS), MOST_BINS)
        n_bins = max(min(n_bins, MOST_COUNTS // max(size, 1)), FEWEST_BINS // 2)
        wishes = {}
        for i, (node, _) in nodes.items():
            centers = self.centers[np.ix_(node.clusters, columns[i])]
            closer = Columns.between(columns[i], centers.min(axis=0), centers.max(axis=0), n_bins)
            wishes[i] = [Wish.of(closer, n_bins)]
            self._drop(node, node.grids, columns[i])
        return wishes

    def _open_columns(self, node: _Node, search: Search | None) -> Indices:
        if search is None:
            return np.flatnonzero(np.ptp(self.centers[node.clusters], axis=0) > 0)
        return search.open_columns

    def _for_closer_bins(self, nodes: dict[int, tuple[_Node, Search]]) -> dict[int, list[Wish]]:
        """Return wishes for closer bins within those that can hold the best cut."""
        size = sum(search.n_pending_columns * len(node.clusters) for node, search in nodes.values())
        n_bins = min(max(MOST_COUNTS // max(size, 1), FEWEST_CLOSER), MOST_CLOSER)
        parts = {i: search.closer_parts(n_bins) for i, (_, search) in nodes.items()}
        return {i: [Wish.of(part, n_bins, is_part=True) for _, part in own] for i, own in parts.items()}

    def _drop(self, node: _Node, dropped: list[Grid], columns: Indices) -> None:
        """Drop some columns of some of a node's grids."""
        node.grids = [
            grid.without(np.isin(grid.columns.number, columns)) if any(grid is one for one in dropped) else grid
            for grid in node.grids
        ]


def _weigh(task: TableTask) -> WholeWeights:
    """Return how the weights of a table become whole numbers, the same as in memory."""
    heaviest = task.overview.heaviest
    return WholeWeights.scaling(heaviest, math.ldexp(task.overview.total_weight(), -math.frexp(heaviest)[1]))
