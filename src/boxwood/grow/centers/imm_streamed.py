"""IMM for rows in batches: the same tree as from rows in memory, level by level.

One pass counts the rows by cluster, column and bin, and keeps the bin of each value in a temporary file. All nodes that
wait for a cut then share each further pass, which reads the columns that can hold a best cut, and finds the values in
the bins that can. From these the cuts follow; the bins tell which rows they separate from their centres.

Many values are not found at once: the node asks for counts in closer bins, and in closer bins again. Where no file can
be kept, as on several machines, counts of a node are those of the nodes above it, until it asks for new ones; rows find
their nodes by the values that the cuts above test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import Rows
from boxwood.grow.centers._imm_look import Cuts, KeptCodes, NodeQuestion, NodesOfRows, Seen, look
from boxwood.grow.centers.imm import CenterBins, MistakeSearch, grow_imm
from boxwood.grow.shared.passes import GrowingTree, Paths
from boxwood.passes import Block
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree, between

__all__ = ["tree_by_passes"]

FEW_VALUES = 1_000_000  # a table with no more values is read into memory
MOST_VALUES = 1_000_000  # values that a pass may bring, of all nodes
MOST_COUNTS = 8_000_000  # counts of a pass, 8 bytes each
FEWEST_BINS, MOST_BINS, KEPT_BINS = 16, 1024, 256  # of a column, between all centres of a node
FEWEST_CLOSER, MOST_CLOSER = 64, 16_384  # the same for closer bins within a few bins; they have numbers of two bytes


def tree_by_passes(task: Task, duplicates: str, candidates: str) -> ThresholdTree:
    """Return the tree that `imm` grows for rows in batches."""
    if task.n_kept * task.n_columns <= FEW_VALUES:
        return grow_imm(_in_memory(task), candidates=candidates, duplicates=duplicates).tree
    return _ImmByPasses(task, duplicates, candidates == "midpoints").tree()


def _in_memory(task: Task) -> Task:
    """Return the task with its kept rows in memory."""
    kept, reference = task.batches.fold(_FewRows), task.reference
    values, labels, weights = map(np.concatenate, zip(*kept.parts, strict=True))
    rows = Rows.of(values, None if task.batches.weight is None else weights)
    return Task.of(
        rows, Reference(labels, reference.centers, reference.names), n_jobs=task.n_jobs, budget=task.budget
    ).blinkered


class _FewRows:
    """A summary of few rows: the rows themselves."""

    def __init__(self) -> None:
        self.parts: list[tuple[Floats, Indices, Floats]] = []

    def update(self, block: Block) -> None:
        weights, kept = np.ones(len(block.labels)) if block.weights is None else block.weights, block.kept
        self.parts.append((block.values[kept], block.labels[kept], weights[kept]))

    def merge(self, other: _FewRows) -> None:
        self.parts += other.parts


@dataclass
class _WaitingNode:
    """A node that is still to be split."""

    clusters: Indices  # clusters whose centres lie in the node
    number: int  # in the tree
    n_rows: float  # about how many rows it has, also of those whose centre is in another node
    bins: CenterBins  # of the counts of all nodes
    most: Floats  # (d, n_bins): the greatest value in each of these bins, of the rows of this node or one above
    has_strays: bool = False  # whether it may have rows whose centre is in another node
    seen: Seen | None = None
    is_near: bool = True  # whether it was seen in the bins that are kept


class _ImmByPasses:
    """One run of the algorithm. `counts` (d, k, n_bins) and `total` (k,) are those of each cluster where its centre is.

    Where no bins are kept, `counts` may hold rows that a later cut has separated from their centre; `total` does not.
    """

    def __init__(self, task: Task, duplicates: str, midpoints: bool) -> None:
        centers = task.reference.centers.copy()
        centers[:, list(task.budget.forbidden)] = 0.0  # so that no cut of these columns separates any of them
        self.merged = task.reference.with_centers(centers).distinct_clusters(duplicates)
        self.columns = np.flatnonzero(np.ptp(centers, axis=0) > 0)
        self.centers, self.midpoints = np.ascontiguousarray(centers[:, self.columns]), midpoints
        self.batches, self.weigh, self.n_rows = task.batches, task.whole_weights, task.n_rows
        self.growing = GrowingTree()
        self.kept: KeptCodes | None = None
        self.home = np.zeros(len(centers), dtype=np.int64)  # the node of each cluster's centre
        self.unset: list[_Unset] = []

    def tree(self) -> ThresholdTree:
        """Return the tree."""
        clusters = np.unique(self.merged)
        if len(clusters) == 1:
            self.growing.label(0, int(clusters[0]))
            return self.growing.build()
        waiting = [self._counted_root(clusters)]
        while waiting or self.unset:
            waiting = self._cut(waiting)
            if waiting or self.unset:
                self._look(waiting)
        return self.growing.build()

    # ---------------------------------------------------------------------------------------------------- passes

    def _counted_root(self, clusters: Indices) -> _WaitingNode:
        """Count all rows, and keep their bins if that is possible."""
        (k, d), weight, source = self.centers.shape, self.batches.weight, self.batches.source
        self.n_bins = min(max(self.n_rows // k, FEWEST_BINS), MOST_BINS, max(MOST_COUNTS // (k * d), FEWEST_BINS // 2))
        kept = KeptCodes(k, d, weight is not None) if source.is_local else None
        bins = CenterBins.around(self.centers, self.n_bins if kept is None else min(self.n_bins, KEPT_BINS))
        question = NodeQuestion.for_counts(0, np.arange(k), self.columns, bins)
        places = NodesOfRows([], 3 * k, {0: (0, 1)}, partial(_at_root, self.merged))
        (seen,) = look(self.batches, places, [question], self.weigh, kept)
        self.all = replace(seen, counts=seen.counts.copy())
        if kept is not None and kept.cells.n_rows == self.n_rows:
            self.kept, self.batches = kept, replace(self.batches, labelling=None, store=kept.cells)
        else:
            self.n_bins = bins.n_bins
        seen.counts = np.ascontiguousarray(seen.counts[:, clusters])
        seen.total = seen.total[clusters]
        return _WaitingNode(clusters, 0, int(seen.n_rows[0].sum()), seen.bins, seen.most, seen=seen)

    def _look(self, waiting: list[_WaitingNode]) -> None:
        """Make one pass over the rows, and give each node what it asks for."""
        asking = list(self._questions(waiting))
        unset, self.unset = self.unset, []
        questions = [question for _, question in asking] + [each.question for each in unset]
        seen = look(self.batches, self._places([question.node for question in questions]), questions, self.weigh)
        for each, answer in zip(unset, seen[len(asking) :], strict=True):
            self.growing.move(each.question.node, each.threshold(answer))
        for (node, _), answer in zip(asking, seen, strict=False):
            node.seen = answer
            if self.kept is None and node.is_near:
                self._renew(node, answer)

    def _renew(self, node: _WaitingNode, seen: Seen) -> None:
        """Take over new counts of a node's columns."""
        which = np.searchsorted(self.columns, seen.columns)
        self.all.counts[np.ix_(which, node.clusters)] = seen.counts
        parts: list[Any] = [part.copy() for part in (*node.bins, node.most)]
        for part, new in zip(parts, (*seen.bins, seen.most), strict=True):
            part[which] = new
        node.bins, node.most = CenterBins._make(parts[:-1]), parts[-1]

    def _questions(self, waiting: list[_WaitingNode]) -> Iterator[tuple[_WaitingNode, NodeQuestion]]:
        """Yield each node with what it asks of the next pass."""
        room, closer = MOST_VALUES, []
        searches = [(node, self._search(node)) for node in waiting]
        for node, search in sorted(searches, key=self._n_values):
            size = self._n_values((node, search))
            which = np.flatnonzero(search.open.any(axis=1))
            if size <= room:
                room -= int(size)
                columns = self.columns if node.seen is None else node.seen.columns
                bins, wanted = search.bins.taken(which), self._pending(node, search)[which]
                yield node, NodeQuestion(node.number, node.clusters, columns[which], bins, wanted)
            elif node.seen is None:
                bins = CenterBins.around(self.centers[np.ix_(node.clusters, which)], self.n_bins)
                node.is_near = self.kept is None
                yield node, NodeQuestion.for_counts(node.number, node.clusters, self.columns[which], bins)
            else:
                closer.append((node, search, len(which) * len(node.clusters)))
        n_bins = min(max(MOST_COUNTS // max(sum(size for *_, size in closer), 1), FEWEST_CLOSER), MOST_CLOSER)
        for node, search, _ in closer:
            assert node.seen is not None
            node.is_near = False
            parts = node.seen.closer(search.open, search.centers, n_bins)
            yield node, NodeQuestion.for_counts(node.number, node.clusters, *parts)

    def _search(self, node: _WaitingNode) -> MistakeSearch:
        """Return the search at a node, by what it has seen or by the counts of all nodes."""
        if node.seen is not None:
            centers = self.centers[np.ix_(node.clusters, np.searchsorted(self.columns, node.seen.columns))]
            return MistakeSearch(node.seen, centers, np.arange(len(centers)), node.seen.bins, self.midpoints)
        # a bin of one value bounds the mistakes by those behind it, but only by counts of the node itself
        constant = node.bins.constant & (self.kept is not None)
        return MistakeSearch(
            self.all, self.centers, node.clusters, node.bins._replace(constant=constant), self.midpoints
        )

    def _pending(self, node: _WaitingNode, search: MistakeSearch) -> Bools:
        """Return the bins that must be looked into, shape (s, n_bins)."""
        if node.seen is None:
            return search.open & ~node.bins.constant
        return search.open & ~node.seen.bins.constant & ~node.seen.known

    def _n_values(self, pair: tuple[_WaitingNode, MistakeSearch]) -> float:
        """Return about how many values lie in the bins that must be looked into."""
        node, search = pair
        pending = self._pending(node, search)
        if node.seen is not None:
            return int(node.seen.n_rows[pending].sum())
        return search.weight_in(pending) * node.n_rows / max(int(search.total.sum()), 1)

    def _places(self, nodes: list[int]) -> NodesOfRows:
        """Return what tells which of some nodes a row is in."""
        k = len(self.home)
        ends, below = self.growing.ends_below(nodes)
        if self.kept is None:
            paths = self.growing.paths_to(ends)
            return NodesOfRows(paths.columns, 3 * k, below, partial(_by_values, paths, self.merged))
        place_of = np.full(2 * k, -1, dtype=np.int64)
        place_of[ends] = np.arange(len(ends))
        of_cells = np.concatenate([place_of[self.home], place_of, [-1]])
        return NodesOfRows([], 3 * k, below, partial(_by_cells, of_cells))

    # ------------------------------------------------------------------------------------------------------ cuts

    def _cut(self, waiting: list[_WaitingNode]) -> list[_WaitingNode]:
        """Split nodes as far as what was seen of the rows goes; return the nodes where it goes no further."""
        further = []
        while waiting:
            children, cuts = [], Cuts(self.home)
            for node in waiting:
                search = self._search(node)
                if node.seen is not None and not self._pending(node, search).any():
                    children += self._split(node, node.seen, search, cuts)
                elif (at := self._certain(node, search)) is not None:
                    children += self._split_behind(node, search, at, cuts)
                else:
                    further.append(node)
            if self.kept is not None and (cuts.child >= 0).any() and (children or further or self.unset):
                cuts.finish(self.home)
                self.all.counts -= self.kept.send_down(self.batches, cuts, self.all.bins.n_bins)
            waiting = children
        return further

    def _certain(self, node: _WaitingNode, search: MistakeSearch) -> tuple[int, int] | None:
        """Return the column and the bin right behind which the best cut lies, where counts alone tell it.

        They do if a single bin is left and all its rows belong on the left of a cut: the more of them are there, the
        fewer are mistakes.
        """
        opened = np.argwhere(search.open)
        if len(opened) > 1 or node.has_strays or self.midpoints or not node.is_near:
            return None
        s, code = opened[0].tolist()
        counts = search.counts.counts[s, search.clusters]
        of_bin, centers = counts[:, code] > 0, search.center_bins[s]
        is_sure = (centers != code).all() and of_bin.any() and (centers[of_bin] < code).all()
        return (s, code) if is_sure and (counts.sum(axis=1) == search.total).all() else None

    def _split_behind(
        self, node: _WaitingNode, search: MistakeSearch, at: tuple[int, int], cuts: Cuts
    ) -> list[_WaitingNode]:
        """Split a node behind a bin whose greatest value a later pass tells; return its children that are no leaves."""
        s, code = at
        j = s if node.seen is None else int(np.searchsorted(self.columns, node.seen.columns[s]))
        question = NodeQuestion.for_counts(
            node.number, node.clusters, self.columns[[j]], search.bins.taken(np.array([s]))
        )
        self.unset.append(_Unset(question, code, search.centers[:, s]))
        left = search.counts.counts[s, search.clusters, : code + 1].sum(axis=1)
        is_left = search.center_bins[s] <= code
        most = node.most[j] if node.seen is None else node.seen.most[s]
        child, *nodes = self._children(node, j, float(most[code]), is_left, left)
        cuts.add(node.number, child, j, code)
        return nodes

    def _split(self, node: _WaitingNode, seen: Seen, search: MistakeSearch, cuts: Cuts) -> list[_WaitingNode]:
        """Split a node by its best cut, and return its children that are no leaves."""
        cut = search.run()
        centers, threshold = search.centers[:, cut.feature], cut.value
        if not self.midpoints:
            threshold = float(between(cut.value, seen.next_value(cut.feature, cut.value, centers)))
        j = int(np.searchsorted(self.columns, seen.columns[cut.feature]))
        left, last, rows = seen.up_to(cut.feature, threshold)
        child, *nodes = self._children(node, j, threshold, centers <= threshold, left)
        if node.is_near:
            cuts.add(node.number, child, j, last, rows)
        else:
            cuts.add_far(node.number, child, int(self.columns[j]), threshold)
        return nodes

    def _children(self, node: _WaitingNode, j: int, threshold: float, is_left: Bools, left: Ints) -> Iterator[Any]:
        """Split a node of the tree; yield the number of the left child, and both children, but for leaves.

        `left` is the weight of each cluster on the left.
        """
        numbers = self.growing.split(node.number, int(self.columns[j]), threshold)
        yield numbers[0]
        right = self.all.total[node.clusters] - left
        for number, side, own, others in ((numbers[0], is_left, left, right), (numbers[1], ~is_left, right, left)):
            clusters = node.clusters[side]
            self.home[clusters], self.all.total[clusters] = number, own[side]
            if len(clusters) == 1:
                self.growing.label(number, int(clusters[0]))
                continue
            n_rows = node.n_rows * float(own.sum()) / max(float(own.sum() + others.sum()), 1.0)
            has_strays = node.has_strays or bool(own[~side].any())
            yield _WaitingNode(clusters, number, n_rows, node.bins, node.most, has_strays)


class _Unset(NamedTuple):
    """A cut right behind a bin, whose threshold is not known yet."""

    question: NodeQuestion
    code: int
    centers: Floats  # of the node, in the column of the cut

    def threshold(self, seen: Seen) -> float:
        """Return the threshold, by the answer to the question."""
        value = float(seen.most[0, self.code])
        return float(between(value, seen.next_value(0, value, self.centers)))


def _at_root(merged: Indices, columns: list[int], block: Block) -> tuple[Ints, Ints]:
    cells = _cells(merged, block)
    return np.minimum(cells, 0), cells


def _by_values(paths: Paths, merged: Indices, columns: list[int], block: Block) -> tuple[Ints, Ints]:
    return paths.among(columns).places(block.values), _cells(merged, block)


def _by_cells(of_cells: Ints, columns: list[int], block: Block) -> tuple[Ints, Ints]:
    return of_cells[block.labels], block.labels


def _cells(merged: Indices, block: Block) -> Array:
    """Return the cluster that each row counts as, or -1."""
    return np.append(merged, -1)[block.labels]
