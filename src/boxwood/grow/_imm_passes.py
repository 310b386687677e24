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
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import Rows, refuse_unknown
from boxwood.errors import DataError
from boxwood.grow._grown import Grown
from boxwood.grow._imm import grow_imm
from boxwood.grow._imm_passes_counts import Columns, Grid, Looking, Wish, look
from boxwood.grow._imm_passes_search import Best, Guess, Search
from boxwood.grow._levels import GrowingTree, Paths
from boxwood.grow._ties import TIE_BREAKS
from boxwood.passes import Block, TableTask
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

__all__ = ["grow_imm_by_passes"]

FEW_VALUES = 1_000_000  # a table with no more values is read into memory
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
    if task.overview.n_kept * task.batches.n_columns <= FEW_VALUES:
        return grow_imm(_in_memory(task), candidates=candidates, duplicates=duplicates)
    return Grown(_Growth(task, duplicates, candidates == "midpoints").tree(), "imm")


def _in_memory(task: TableTask) -> Task:
    """Return the task with its kept rows in memory."""
    kept, reference = task.batches.fold(_Kept), task.reference
    values, labels, weights = map(np.concatenate, zip(*kept.parts, strict=True))
    rows = Rows.of(values, None if task.batches.weight is None else weights)
    return Task.of(
        rows, Reference(labels, reference.centers, reference.names), n_jobs=task.n_jobs, budget=task.budget
    ).blinkered


class _Kept:
    """A summary of few rows: the rows themselves."""

    def __init__(self) -> None:
        self.parts: list[tuple[Floats, Indices, Floats]] = []

    def update(self, block: Block) -> None:
        weights, kept = np.ones(len(block.labels)) if block.weights is None else block.weights, block.kept
        self.parts.append((block.values[kept], block.labels[kept], weights[kept]))

    def merge(self, other: _Kept) -> None:
        self.parts += other.parts


@dataclass
class _Node:
    """A node that is still to be split or labelled, or one that is guessed to come."""

    clusters: Indices  # clusters whose centres lie in the node
    alive: Ints  # weight of the rows of each in the node; an estimate where the node is guessed
    grids: list[Grid]
    number: int = -1  # in the tree; -1 for a node that is guessed
    looked: list[Grid] = field(default_factory=list)  # what a guessed node saw
    guess: Guess | None = None
    children: list[_Node] = field(default_factory=list)  # on the two sides of the guess

    def forget(self) -> None:
        """Drop the counts of a guessed node: its place is taken by a node that has them from its parent anew."""
        if self.number < 0:
            self.grids = []

    def with_those_below(self) -> Iterator[_Node]:
        """Yield the node and all that are guessed below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children


class _Growth:
    """One run of the algorithm."""

    def __init__(self, task: TableTask, duplicates: str, midpoints: bool) -> None:
        self.batches, self.midpoints = task.batches, midpoints
        self.centers = task.reference.centers.copy()
        self.centers[:, list(task.budget.forbidden)] = 0.0  # so that no cut of these columns separates any of them
        self.merged = replace(task.reference, centers=self.centers).distinct_clusters(duplicates)
        self.n_rows = task.overview.n_rows
        self.weigh = task.whole_weights
        self.growing = GrowingTree()

    def tree(self) -> ThresholdTree:
        """Return the tree."""
        clusters = np.unique(self.merged)
        waiting = [_Node(clusters, np.zeros(len(clusters), dtype=np.int64), [], 0)]
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
                waiting += self._split(node, search.best())
        return further

    def _search(self, node: _Node) -> Search | None:
        """Return the search at a node; None at the root before its rows are counted."""
        centers = self.centers[node.clusters]
        return Search(centers, node.alive, node.grids, self.midpoints) if node.grids else None

    def _split(self, node: _Node, best: Best) -> list[_Node]:
        """Split a node, and return its children."""
        children = self._children(node, best.feature, best.threshold, best.left)
        numbers = self.growing.split(node.number, best.feature, best.threshold)
        guessed = self._moved(node, best, children[0].clusters)
        for child, number, other in zip_longest(children, numbers, guessed):
            child.number = number
            if other is not None:
                taken = [j for grid in other.looked for j in grid.columns.number]
                _drop(child, child.grids, np.array(taken, dtype=np.intp))
                child.grids += other.looked
                child.children, child.guess = other.children, other.guess
        return children

    def _children(self, node: _Node, feature: int, threshold: float, left: Ints) -> list[_Node]:
        """Return nodes on the two sides of a cut, with the counts of the node; `left` is the weight on the left."""
        is_left = self.centers[node.clusters, feature] <= threshold
        children = []
        for ranks, alive in ((np.flatnonzero(is_left), left), (np.flatnonzero(~is_left), node.alive - left)):
            clusters = node.clusters[ranks]
            varied = np.ptp(self.centers[clusters], axis=0) > 0
            grids = [grid.of_child(ranks, varied) for grid in node.grids if not grid.is_part and len(ranks) > 1]
            children.append(_Node(clusters, alive[ranks], [grid for grid in grids if len(grid.columns.number)]))
        return children

    def _moved(self, node: _Node, best: Best, left_clusters: Indices) -> list[_Node]:
        """Return the children that were guessed, with what they saw as far as it is true of those of the best cut."""
        guess = node.guess
        if guess is None or guess.feature != best.feature:
            return []
        if not np.array_equal(left_clusters, node.children[0].clusters):
            return []
        up_to = best.up_to(guess.threshold)
        if up_to is None:
            return []
        left, n_left = up_to
        come = np.zeros((2, len(self.centers)), dtype=np.int64)  # to the left, and to the right
        come[:, node.clusters] = np.maximum(best.left - left, 0), np.maximum(left - best.left, 0)
        for child, new in zip(node.children, come, strict=True):
            for each in child.with_those_below():
                each.looked = [grid.moved(new[each.clusters], n_left == best.n_left) for grid in each.looked]
        return node.children

    # ------------------------------------------------------------------------------------------------- passes

    def _look(self, waiting: list[_Node]) -> None:
        """Make one pass over the rows, and give each node what it wishes to see."""
        wishes = self._wishes(waiting)
        paths, nodes = self._layout(waiting, wishes)
        looking = [Looking(node.clusters, wishes[id(node)], places) for node, places in nodes]
        for (node, _), grids in zip(nodes, look(self.batches, paths, looking, self.merged, self.weigh), strict=True):
            if node.number < 0:
                node.looked = grids
            else:
                node.grids += grids
                node.alive = grids[0].total

    def _wishes(self, waiting: list[_Node]) -> dict[int, list[Wish]]:
        """Return what each node asks of the next pass, by the node's id.

        Where it is certain how a node's best cut will part its centres, nodes on both sides of a cut near to it are
        guessed, and ask as well.
        """
        room, wishes = MOST_VALUES, {}
        counting: list[tuple[_Node, Search | None]] = []
        closer: list[tuple[_Node, Search]] = []
        queue = deque(sorted(((node, self._search(node)) for node in waiting), key=_n_values))
        while queue:
            node, search = queue.popleft()
            node.guess, node.children = None, []
            if search is not None and search.n_values <= room:
                room -= search.n_values
                queue += self._guessed(node, search)
                wishes[id(node)] = _for_values(node, search)
                node.forget()
            elif search is None or not search.is_exact:
                counting.append((node, search))
            else:
                closer.append((node, search))
        wishes |= self._for_counts(counting) | _for_closer_bins(closer)
        for node, _ in counting:
            node.forget()
        return wishes

    def _guessed(self, node: _Node, search: Search) -> list[tuple[_Node, Search | None]]:
        """Guess the children of a node, and return those which are no leaves."""
        node.guess = search.guess()
        if node.guess is None:
            return []
        node.children = self._children(node, *node.guess)
        return [(child, self._search(child)) for child in node.children if len(child.clusters) > 1]

    def _for_counts(self, nodes: list[tuple[_Node, Search | None]]) -> dict[int, list[Wish]]:
        """Return wishes for new counts of the columns that can hold the best cut, in bins around the node's centres."""
        columns = [self._open_columns(node, search) for node, search in nodes]
        size = sum(len(own) * len(node.clusters) for own, (node, _) in zip(columns, nodes, strict=True))
        n_bins = min(max(self.n_rows // len(self.centers), FEWEST_BINS), MOST_BINS)
        n_bins = max(min(n_bins, MOST_COUNTS // max(size, 1)), FEWEST_BINS // 2)
        wishes = {}
        for own, (node, _) in zip(columns, nodes, strict=True):
            centers = self.centers[np.ix_(node.clusters, own)]
            closer = Columns.between(own, centers.min(axis=0), centers.max(axis=0), n_bins)
            wishes[id(node)] = [Wish.of(closer, n_bins)]
            _drop(node, node.grids, own)
        return wishes

    def _open_columns(self, node: _Node, search: Search | None) -> Indices:
        if search is None:
            return np.flatnonzero(np.ptp(self.centers[node.clusters], axis=0) > 0)
        return search.open_columns

    def _layout(
        self, waiting: list[_Node], wishes: dict[int, list[Wish]]
    ) -> tuple[Paths, list[tuple[_Node, tuple[int, int]]]]:
        """Return the way of rows to the ends of the tree that is guessed, and each node that looks at rows.

        The rows of a node are those at the ends below it, which have numbers in a row: from the first up to the second.
        """
        tree = self.growing.copy()
        ends: list[int] = []
        nodes: list[tuple[_Node, tuple[int, int]]] = []
        stack = [(node, node.number, -1) for node in reversed(waiting)]
        while stack:
            node, number, start = stack.pop()
            if start < 0 and node.guess is not None:
                first, second = tree.split(number, node.guess.feature, node.guess.threshold)
                left, right = node.children
                stack += ((node, number, len(ends)), (right, second, -1), (left, first, -1))
                continue
            if start < 0:
                start = len(ends)
                ends.append(number)
            if id(node) in wishes:
                nodes.append((node, (start, len(ends))))
        return tree.paths_to(ends), nodes


def _n_values(pair: tuple[_Node, Search | None]) -> float:
    return math.inf if pair[1] is None else pair[1].n_values


def _for_values(node: _Node, search: Search) -> list[Wish]:
    """Return wishes for the values in all bins that can hold the best cut, with new counts of their columns."""
    wishes = search.wishes_for_values()
    for grid, wish in wishes:
        _drop(node, [grid], wish.columns.number)
    return [wish for _, wish in wishes]


def _for_closer_bins(nodes: list[tuple[_Node, Search]]) -> dict[int, list[Wish]]:
    """Return wishes for closer bins within those that can hold the best cut."""
    size = sum(search.n_pending_columns * len(node.clusters) for node, search in nodes)
    n_bins = min(max(MOST_COUNTS // max(size, 1), FEWEST_CLOSER), MOST_CLOSER)
    return {
        id(node): [Wish.of(part, n_bins, is_part=True) for _, part in search.closer_parts(n_bins)]
        for node, search in nodes
    }


def _drop(node: _Node, dropped: list[Grid], columns: Indices) -> None:
    """Drop some columns of some of a node's grids."""
    kept = [
        grid.without(np.isin(grid.columns.number, columns)) if any(grid is one for one in dropped) else grid
        for grid in node.grids
    ]
    node.grids = [grid for grid in kept if len(grid.columns.number)]
