"""IMM for batches of rows: the same tree as from rows in memory, level by level.

The first pass counts the rows by cluster, column and bin, and stores the bin of each value in a temporary file. All
nodes that wait for a cut share each further pass. It reads the columns that may hold a best cut, and gathers the values
of candidate bins, from which the cuts follow. By the stored bins, rows that a cut separates from their centre are taken
out of the counts.

If candidate bins hold too many values, the node first asks for counts in finer bins, if need be several times. If no
file can be stored, as on several machines, a node uses the counts of a node above until it asks for its own, and the
node of each row is found by the values that the cuts above test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.batches import Block
from boxwood.grow.centers._growing_tree import GrowingTree, Paths
from boxwood.grow.centers._imm_pass import MistakeCuts, NodeAnswer, NodeQuestion, NodesOfRows, StoredCodes, ask
from boxwood.grow.centers.imm import CenterBins, MistakeSearch, grow_imm
from boxwood.grow.drawn import IN_MEMORY, task_in_memory
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, between

MOST_VALUES = 1_000_000  # most values that a pass gathers, of all nodes
MOST_COUNTS = 8_000_000  # most counts of a pass, 8 bytes each
FEWEST_BINS, MOST_BINS, STORED_BINS = 16, 1024, 256  # of a column, between all centres of a node
FEWEST_FINER, MOST_FINER = 64, 16_384  # the same for finer bins; their numbers have two bytes


def tree_of_batches(task: Task, duplicates: str, candidates: str) -> ThresholdTree:
    """Return the tree that `imm` grows for rows in batches."""
    if task.n_kept * task.n_columns <= IN_MEMORY:
        return grow_imm(task_in_memory(task).on_usable_columns, candidates=candidates, duplicates=duplicates).tree
    return _ImmByPasses(task, duplicates, candidates == "midpoints").tree()


@dataclass
class _WaitingNode:
    """A node that is still to be split."""

    clusters: Indices  # clusters whose centres lie in the node
    number: int  # in the tree
    n_rows: float  # approximate number of rows, with strays
    bins: CenterBins  # of the counts of all nodes
    most: Floats  # (d, n_bins): the greatest value in each of these bins, of the rows of this node or one above
    has_strays: bool = False  # whether it may have rows whose centre is in another node
    answer: NodeAnswer | None = None
    in_stored_bins: bool = True  # whether its answer is in the stored bins


class _ImmByPasses:
    """One run of the algorithm. `all` has the counts of each cluster in the node of its centre.

    If no bins are stored, `all.counts` may include rows that a later cut has separated from their centre; `all.total`
    does not.
    """

    def __init__(self, task: Task, duplicates: str, midpoints: bool) -> None:
        centers = task.reference.centers.copy()
        centers[:, list(task.budget.forbidden)] = 0.0  # so that no cut of these columns separates any of them
        self.merged = task.reference.with_centers(centers).distinct_clusters(duplicates)
        self.columns = np.flatnonzero(np.ptp(centers, axis=0) > 0)
        self.centers, self.midpoints = np.ascontiguousarray(centers[:, self.columns]), midpoints
        self.batches, self.weigh, self.n_rows = task.batches, task.whole_weights, task.n_rows
        self.growing = GrowingTree()
        self.stored: StoredCodes | None = None
        self.home = np.zeros(len(centers), dtype=np.int64)  # the node of each cluster's centre
        self.open_cuts: list[_OpenCut] = []

    def tree(self) -> ThresholdTree:
        """Return the tree."""
        clusters = np.unique(self.merged)
        if len(clusters) == 1:
            self.growing.label(0, int(clusters[0]))
            return self.growing.build()
        waiting = [self._counted_root(clusters)]
        while waiting or self.open_cuts:
            waiting = self._cut(waiting)
            if waiting or self.open_cuts:
                self._make_pass(waiting)
        return self.growing.build()

    # ---------------------------------------------------------------------------------------------------- passes

    def _counted_root(self, clusters: Indices) -> _WaitingNode:
        """Count all rows, and store their bins if that is possible."""
        (k, d), weight, source = self.centers.shape, self.batches.weight, self.batches.source
        self.n_bins = min(max(self.n_rows // k, FEWEST_BINS), MOST_BINS, max(MOST_COUNTS // (k * d), FEWEST_BINS // 2))
        stored = StoredCodes(k, d, weight is not None) if source.is_local else None
        bins = CenterBins.around(self.centers, self.n_bins if stored is None else min(self.n_bins, STORED_BINS))
        question = NodeQuestion.for_counts(0, np.arange(k), self.columns, bins)
        places = NodesOfRows([], 3 * k, {0: (0, 1)}, partial(_at_root, self.merged))
        (answer,) = ask(self.batches, places, [question], self.weigh, stored)
        self.all = replace(answer, counts=answer.counts.copy())
        if stored is not None and stored.cells.n_rows == self.n_rows:
            self.stored, self.batches = stored, replace(self.batches, labelling=None, store=stored.cells)
        else:
            self.n_bins = bins.n_bins
        answer.counts = np.ascontiguousarray(answer.counts[:, clusters])
        answer.total = answer.total[clusters]
        return _WaitingNode(clusters, 0, int(answer.n_rows[0].sum()), answer.bins, answer.most, answer=answer)

    def _make_pass(self, waiting: list[_WaitingNode]) -> None:
        """Make one pass over the rows, and give each node its answer."""
        asking = list(self._questions(waiting))
        cuts, self.open_cuts = self.open_cuts, []
        questions = [question for _, question in asking] + [cut.question for cut in cuts]
        answers = ask(self.batches, self._places([question.node for question in questions]), questions, self.weigh)
        for cut, answer in zip(cuts, answers[len(asking) :], strict=True):
            self.growing.move(cut.question.node, cut.threshold(answer))
        for (node, _), answer in zip(asking, answers, strict=False):
            node.answer = answer
            if self.stored is None and node.in_stored_bins:
                self._update_counts(node, answer)

    def _update_counts(self, node: _WaitingNode, answer: NodeAnswer) -> None:
        """Replace the counts of some columns of a node by those of its answer."""
        which = np.searchsorted(self.columns, answer.columns)
        self.all.counts[np.ix_(which, node.clusters)] = answer.counts
        arrays: list[Any] = [array.copy() for array in (*node.bins, node.most)]
        for array, new in zip(arrays, (*answer.bins, answer.most), strict=True):
            array[which] = new
        node.bins, node.most = CenterBins._make(arrays[:-1]), arrays[-1]

    def _questions(self, waiting: list[_WaitingNode]) -> Iterator[tuple[_WaitingNode, NodeQuestion]]:
        """Yield each node that has a question for the next pass, with the question."""
        room, finer = MOST_VALUES, []
        searches = [(node, self._search(node)) for node in waiting]
        for node, search in sorted(searches, key=self._n_values):
            size = self._n_values((node, search))
            which = np.flatnonzero(search.open.any(axis=1))
            if size <= room:
                room -= int(size)
                columns = self.columns if node.answer is None else node.answer.columns
                bins, wanted = search.bins.of_columns(which), self._bins_to_gather(node, search)[which]
                yield node, NodeQuestion(node.number, node.clusters, columns[which], bins, wanted)
            elif node.answer is None:
                bins = CenterBins.around(self.centers[np.ix_(node.clusters, which)], self.n_bins)
                node.in_stored_bins = self.stored is None
                yield node, NodeQuestion.for_counts(node.number, node.clusters, self.columns[which], bins)
            else:
                finer.append((node, search, len(which) * len(node.clusters)))
        n_bins = min(max(MOST_COUNTS // max(sum(size for *_, size in finer), 1), FEWEST_FINER), MOST_FINER)
        for node, search, _ in finer:
            assert node.answer is not None
            node.in_stored_bins = False
            ranges_and_bins = node.answer.finer(search.open, search.centers, n_bins)
            yield node, NodeQuestion.for_counts(node.number, node.clusters, *ranges_and_bins)

    def _search(self, node: _WaitingNode) -> MistakeSearch:
        """Return the search at a node, by its answer, or else by the counts of all nodes."""
        if node.answer is not None:
            centers = self.centers[np.ix_(node.clusters, np.searchsorted(self.columns, node.answer.columns))]
            return MistakeSearch(node.answer, centers, np.arange(len(centers)), node.answer.bins, self.midpoints)
        # the mistakes behind a bin of one value bound those inside, but only by counts of the node itself
        constant = node.bins.constant & (self.stored is not None)
        return MistakeSearch(
            self.all, self.centers, node.clusters, node.bins._replace(constant=constant), self.midpoints
        )

    def _bins_to_gather(self, node: _WaitingNode, search: MistakeSearch) -> Bools:
        """Return the candidate bins whose values are not gathered yet, shape (s, n_bins)."""
        if node.answer is None:
            return search.open & ~node.bins.constant
        return search.open & ~node.answer.bins.constant & ~node.answer.is_gathered

    def _n_values(self, pair: tuple[_WaitingNode, MistakeSearch]) -> float:
        """Return the approximate number of values in the bins that must be gathered."""
        node, search = pair
        bins = self._bins_to_gather(node, search)
        if node.answer is not None:
            return int(node.answer.n_rows[bins].sum())
        return search.weight_in(bins) * node.n_rows / max(int(search.total.sum()), 1)

    def _places(self, nodes: list[int]) -> NodesOfRows:
        """Return the way to find which of some nodes a row is in."""
        k = len(self.home)
        ends, below = self.growing.ends_below(nodes)
        if self.stored is None:
            paths = self.growing.paths_to(ends)
            return NodesOfRows(paths.columns, 3 * k, below, partial(_by_values, paths, self.merged))
        place_of = np.full(2 * k, -1, dtype=np.int64)
        place_of[ends] = np.arange(len(ends))
        of_cells = np.concatenate([place_of[self.home], place_of, [-1]])
        return NodesOfRows([], 3 * k, below, partial(_by_cells, of_cells))

    # ------------------------------------------------------------------------------------------------------ cuts

    def _cut(self, waiting: list[_WaitingNode]) -> list[_WaitingNode]:
        """Split nodes as long as their answers suffice; return the nodes that have to ask."""
        further = []
        while waiting:
            children, cuts = [], MistakeCuts(self.home)
            for node in waiting:
                search = self._search(node)
                if node.answer is not None and not self._bins_to_gather(node, search).any():
                    children += self._split(node, node.answer, search, cuts)
                elif (at := self._certain(node, search)) is not None:
                    children += self._split_behind(node, search, at, cuts)
                else:
                    further.append(node)
            if self.stored is not None and (cuts.child >= 0).any() and (children or further or self.open_cuts):
                cuts.finish(self.home)
                self.all.counts -= self.stored.send_down(self.batches, cuts, self.all.bins.n_bins)
            waiting = children
        return further

    def _certain(self, node: _WaitingNode, search: MistakeSearch) -> tuple[int, int] | None:
        """Return the column and the bin right behind which the best cut lies, if counts alone decide it.

        They do if there is a single candidate bin and the centres of all its rows are on its left: then the more of
        these rows are on the left, the fewer are mistakes.
        """
        opened = np.argwhere(search.open)
        if len(opened) > 1 or node.has_strays or self.midpoints or not node.in_stored_bins:
            return None
        s, code = opened[0].tolist()
        counts = search.counts.counts[s, search.clusters]
        of_bin, centers = counts[:, code] > 0, search.center_bins[s]
        is_sure = (centers != code).all() and of_bin.any() and (centers[of_bin] < code).all()
        return (s, code) if is_sure and (counts.sum(axis=1) == search.total).all() else None

    def _split_behind(
        self, node: _WaitingNode, search: MistakeSearch, at: tuple[int, int], cuts: MistakeCuts
    ) -> list[_WaitingNode]:
        """Split a node behind a bin whose greatest value a later pass gives; return its children that are no leaves."""
        s, code = at
        j = s if node.answer is None else int(np.searchsorted(self.columns, node.answer.columns[s]))
        question = NodeQuestion.for_counts(
            node.number, node.clusters, self.columns[[j]], search.bins.of_columns(np.array([s]))
        )
        self.open_cuts.append(_OpenCut(question, code, search.centers[:, s]))
        left = search.counts.counts[s, search.clusters, : code + 1].sum(axis=1)
        is_left = search.center_bins[s] <= code
        most = node.most[j] if node.answer is None else node.answer.most[s]
        child, *nodes = self._children(node, j, float(most[code]), is_left, left)
        cuts.add(node.number, child, j, code)
        return nodes

    def _split(
        self, node: _WaitingNode, answer: NodeAnswer, search: MistakeSearch, cuts: MistakeCuts
    ) -> list[_WaitingNode]:
        """Split a node by its best cut, and return its children that are no leaves."""
        cut = search.run()
        centers, threshold = search.centers[:, cut.feature], cut.value
        if not self.midpoints:
            threshold = float(between(cut.value, answer.next_value(cut.feature, cut.value, centers)))
        j = int(np.searchsorted(self.columns, answer.columns[cut.feature]))
        left, last, rows = answer.up_to(cut.feature, threshold)
        child, *nodes = self._children(node, j, threshold, centers <= threshold, left)
        if node.in_stored_bins:
            cuts.add(node.number, child, j, last, rows)
        else:
            cuts.add_by_value(node.number, child, int(self.columns[j]), threshold)
        return nodes

    def _children(self, node: _WaitingNode, j: int, threshold: float, is_left: Bools, left: Ints) -> Iterator[Any]:
        """Split a node of the tree; yield the number of the left child, and the children that are no leaves.

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


class _OpenCut(NamedTuple):
    """A cut right behind a bin, whose threshold is not known yet."""

    question: NodeQuestion
    code: int
    centers: Floats  # of the node, in the column of the cut

    def threshold(self, answer: NodeAnswer) -> float:
        """Return the threshold, from the answer to the question."""
        value = float(answer.most[0, self.code])
        return float(between(value, answer.next_value(0, value, self.centers)))


def _at_root(merged: Indices, columns: list[int], block: Block) -> tuple[Ints, Ints]:
    cells = _cells(merged, block)
    return np.minimum(cells, 0), cells


def _by_values(paths: Paths, merged: Indices, columns: list[int], block: Block) -> tuple[Ints, Ints]:
    return paths.among(columns).places(block.values), _cells(merged, block)


def _by_cells(of_cells: Ints, columns: list[int], block: Block) -> tuple[Ints, Ints]:
    return of_cells[block.labels], block.labels


def _cells(merged: Indices, block: Block) -> Array:
    """Return the cluster of each row, with clusters of equal centres merged, or -1."""
    return np.append(merged, -1)[block.labels]
