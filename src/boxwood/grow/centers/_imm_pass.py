"""One pass over batches of rows for IMM: questions and answers of all waiting nodes, and the bins of rows on disk.

The search of `imm` takes the answer to a node like the counts of rows in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._threads import fold_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import WholeWeights
from boxwood.batches import Batches, Block
from boxwood.batches.labelling import LabelStore, RowStore
from boxwood.grow.centers.imm import CenterBins
from boxwood.loops import imm as loops
from boxwood.loops.imm import NodeColumn, SortedRows, events_in_bins, send_down
from boxwood.tree import between

BUFFER = 1 << 16  # values that a thread gathers in one array


class NodeQuestion(NamedTuple):
    """The question of a node to a pass: counts of some of its columns in bins, and the values in some of the bins."""

    node: int  # its number in the tree
    clusters: Indices  # clusters whose centres lie in the node
    columns: Indices  # (s,); a column may occur several times, with ascending ranges of bins
    bins: CenterBins
    wanted: Bools  # (s, n_bins): bins whose values are to be gathered

    @classmethod
    def for_counts(cls, node: int, clusters: Indices, columns: Indices, bins: CenterBins) -> NodeQuestion:
        """Return the question for counts alone."""
        return cls(node, clusters, columns, bins, np.zeros_like(bins.constant))


@dataclass
class NodeAnswer:
    """The answer to a node with c clusters: its rows in bins of s columns."""

    columns: Indices
    bins: CenterBins
    counts: Ints  # (s, c, n_bins): weight
    n_rows: Ints  # (s, n_bins): number of rows, also of those whose centre is in another node
    least: Floats  # (s, n_bins): their least and greatest value
    most: Floats
    is_gathered: Bools  # (s, n_bins): bins whose values were gathered
    gathered: loops.GatheredValues  # these values, by column
    starts: Indices  # (s + 1,): where the values of each column begin

    def __post_init__(self) -> None:
        self.total = self.counts[0].sum(axis=1)
        self.bins = self.bins._replace(constant=self.least >= self.most)

    def events(self, column: NodeColumn, constant: Bools) -> tuple[Array, ...]:
        """Return the events in some bins of a column; see `events_in_bins`. A bin of one value has one per cluster."""
        s, wanted, gathered = column.number, column.wanted, self.gathered_in(column.number)
        is_event = wanted[gathered.codes] & (gathered.ranks >= 0)
        ranks, codes = np.nonzero(self.counts[s] * (wanted & ~self.is_gathered[s]))
        events_of = (
            (gathered.values[is_event], gathered.ranks[is_event], gathered.codes[is_event], gathered.weights[is_event]),
            (self.least[s, codes], ranks, codes, self.counts[s, ranks, codes]),
        )
        values, ranks, codes, weights = map(np.concatenate, zip(*events_of, strict=True))
        order = np.argsort(ranks, kind="stable")
        first = np.searchsorted(ranks[order], np.arange(len(self.total) + 1))
        codes = codes[None, order].astype(column.center_codes.dtype)
        rows = SortedRows(order, codes, np.ones(len(order), dtype=np.bool_), weights[order])
        of_column = column._replace(number=0)
        events: tuple[Array, ...] = events_in_bins(values[:, None], of_column, rows, self.counts[s], first, constant)
        return events

    def next_value(self, s: int, value: float, centers: Floats) -> float:
        """Return the smallest value above a gathered one, among the node's rows and centres."""
        gathered, least = self.gathered_in(s).values, self.least[s]
        above = [values[values > value].min(initial=np.inf) for values in (gathered, least, centers)]
        return float(min(above))

    def gathered_in(self, s: int) -> loops.GatheredValues:
        """Return the values that were gathered in one column."""
        return loops.GatheredValues._make(array[self.starts[s] : self.starts[s + 1]] for array in self.gathered)

    def up_to(self, s: int, threshold: float) -> tuple[Ints, int, Ints]:
        """Return the left side of a threshold: weight of each cluster, last bin, further rows.

        All rows up to the last bin are on the left; further rows are the rows of the next bin that are on the left.
        """
        code = self.bins.code(s, threshold)
        last = code if self.most[s, code] <= threshold else code - 1
        values = self.gathered_in(s)
        inside = (values.codes == code) & (values.values <= threshold) if last < code else np.zeros(0, dtype=np.intp)
        left: Ints = self.counts[s, :, : last + 1].sum(axis=1)
        own = values.ranks[inside] >= 0
        np.add.at(left, values.ranks[inside][own], values.weights[inside][own])
        return left, last, values.rows[inside]

    def finer(self, opened: Bools, centers: Floats, n_bins: int) -> tuple[Indices, CenterBins]:
        """Return columns, some of them several times, with finer bins over the bins that can hold the best cut.

        Bins become finer at least by a factor of 4, so that the search ends.
        """
        ordered, ranges = np.sort(centers, axis=0), []
        points = np.vstack([ordered, between(ordered[:-1], ordered[1:])])  # centres, and all marks
        for s in range(len(opened)):
            codes, of_points = np.flatnonzero(opened[s]), self.bins.codes_of(s, points[:, s])
            while len(codes):
                group, codes = np.split(codes, np.searchsorted(codes, [codes[0] + n_bins // 4]))
                inside = points[np.isin(of_points, group), s]
                ends = min([*inside, *self.least[s, group]]), max([*inside, *self.most[s, group]])
                ranges.append((s, max(ends[0], ordered[0, s]), min(np.nextafter(ends[1], np.inf), ordered[-1, s])))
        which, low, high = map(np.array, zip(*ranges, strict=True))
        return self.columns[which], CenterBins.between(low, high, n_bins)


class NodesOfRows(NamedTuple):
    """The leaf of the growing tree in which each row of a block is.

    `of` takes the columns of a block and the block, and returns place (number of the leaf) and cell of each row.
    """

    columns: list[int]  # the columns that are needed
    n_cells: int
    below: dict[int, tuple[int, int]]  # the places below each node: the first, and the one behind the last
    of: Callable[[list[int], Block], tuple[Ints, Ints]]


class _Plan(NamedTuple):
    """The plan of a pass: the nodes of rows, and the spans that are counted there."""

    places: Callable[[Block], tuple[Ints, Ints]]
    n_places: int
    below: list[tuple[int, int]]  # of each node
    rank_of: Ints  # (nodes, cells): index of each cluster among those of each node, or -1
    spans: loops.Spans  # of all nodes
    first_span: Ints  # (nodes + 1,): where those of each node begin
    wanted: Bools
    n_counts: int
    weigh: WholeWeights | None
    stored: StoredCodes | None  # if given, the bins of all values are written there, those of the first question

    def of_node(self, node: int) -> loops.Spans:
        return loops.Spans._make(array[self.first_span[node] : self.first_span[node + 1]] for array in self.spans)


class _PassSums:
    """The summary of a pass."""

    def __init__(self, plan: _Plan) -> None:
        self.plan, n_bins = plan, len(plan.wanted)
        self.sums = loops.BinSums(
            np.zeros(plan.n_counts, dtype=np.int64),
            np.zeros(n_bins, dtype=np.int64),
            np.full(n_bins, np.inf),
            np.full(n_bins, -np.inf),
        )
        self.gathered: list[loops.GatheredValues] = []
        self.n_stored = 0

    def update(self, block: Block, start: int | None) -> None:
        plan = self.plan
        places, cells = plan.places(block)
        weights = np.empty(0, dtype=np.int64)
        if plan.weigh is not None and block.weights is not None:
            weights = plan.weigh.of(block.weights)
        places = np.where((cells >= 0) & (weights > 0) if weights.size else cells >= 0, places, -1)
        order = np.argsort(places.astype(np.int16) if plan.n_places < 1 << 15 else places, kind="stable")
        first = np.searchsorted(places[order], np.arange(plan.n_places + 1))
        n_columns = 0 if plan.stored is None else plan.stored.codes.width
        codes = np.empty((len(places) if n_columns else 0, n_columns), dtype=np.uint8)
        for node, (begin, end) in enumerate(plan.below):
            self._add((block.values, order[first[begin] : first[end]], cells, weights, start or 0), node, codes)
        if plan.stored is not None and plan.stored.write(start, cells, weights, codes):
            self.n_stored += len(cells)

    def _add(self, rows: tuple[Floats, Ints, Ints, Ints, int], node: int, codes: Array) -> None:
        """Add rows of one node."""
        plan, start = self.plan, 0
        spans = plan.of_node(node)
        gathered = _buffer(max(BUFFER, len(spans.position) * max(16, 4096 // rows[0].shape[1])))
        of_node = *rows, plan.rank_of[node], spans, int(plan.first_span[node])
        while start < len(rows[1]):
            start, size = loops.sum_rows(*of_node, start, plan.wanted, self.sums, gathered, codes)
            if size:
                self.gathered.append(loops.GatheredValues._make(array[:size].copy() for array in gathered))

    def merge(self, other: _PassSums) -> None:
        mine, theirs = self.sums, other.sums
        mine.counts[:] += theirs.counts
        mine.n_rows[:] += theirs.n_rows
        np.minimum(mine.least, theirs.least, out=mine.least)
        np.maximum(mine.most, theirs.most, out=mine.most)
        self.gathered += other.gathered
        self.n_stored += other.n_stored

    def answers(self, questions: list[NodeQuestion]) -> list[NodeAnswer]:
        """Return the answer to each question, in the order of the questions."""
        whole = loops.GatheredValues._make(map(np.concatenate, zip(_buffer(0), *self.gathered, strict=True)))
        order = np.argsort(whole.spans, kind="stable")
        gathered = loops.GatheredValues._make(array[order] for array in whole)
        bins = counts = 0
        answers = []
        for question, first in zip(questions, self.plan.first_span.tolist(), strict=False):
            shape = s, n_bins = question.wanted.shape
            at, end = slice(bins, bins + s * n_bins), counts + s * n_bins * len(question.clusters)
            starts = np.searchsorted(gathered.spans, np.arange(first, first + s + 1))
            answer = NodeAnswer(
                question.columns,
                question.bins,
                self.sums.counts[counts:end].reshape(s, -1, n_bins),
                self.sums.n_rows[at].reshape(shape),
                self.sums.least[at].reshape(shape),
                self.sums.most[at].reshape(shape),
                question.wanted,
                loops.GatheredValues._make(array[starts[0] : starts[-1]] for array in gathered),
                starts - starts[0],
            )
            answers.append(answer)
            bins, counts = at.stop, end
        return answers


def _buffer(size: int) -> loops.GatheredValues:
    kinds = np.float64, np.int64, np.int32, np.int16, np.int32, np.int64
    return loops.GatheredValues._make(np.empty(size, dtype=kind) for kind in kinds)


def ask(
    batches: Batches,
    places: NodesOfRows,
    questions: list[NodeQuestion],
    weigh: WholeWeights | None,
    stored: StoredCodes | None = None,
) -> list[NodeAnswer]:
    """Return the answers to the questions of some nodes, from one pass.

    With `stored` there is only one question: for all columns, in the bins that are to be stored.
    """
    columns = sorted({*places.columns, *(j for question in questions for j in question.columns.tolist())})
    rank_of = np.full((len(questions), places.n_cells + 1), -1, dtype=np.int64)  # the last column is for cell -1
    for ranks, question in zip(rank_of, questions, strict=True):
        ranks[question.clusters] = np.arange(len(question.clusters))
    sizes = np.array([len(question.columns) for question in questions])
    n_bins = np.repeat([question.bins.n_bins for question in questions], sizes)
    n_counts = n_bins * np.repeat([len(question.clusters) for question in questions], sizes)
    number = np.searchsorted(columns, np.concatenate([question.columns for question in questions]))
    low, high, scale = map(np.concatenate, zip(*(question.bins.binning for question in questions), strict=True))
    firsts = np.cumsum(n_bins) - n_bins, np.cumsum(n_counts) - n_counts
    spans = loops.Spans(number, low, high, scale, n_bins, *firsts)
    first_span = np.concatenate([[0], np.cumsum(sizes)])
    wanted = np.concatenate([question.wanted.reshape(-1) for question in questions])
    of = partial(places.of, columns)
    n_places = max(end for _, end in places.below.values())
    plan = _Plan(
        of,
        n_places,
        [places.below[question.node] for question in questions],
        rank_of,
        spans,
        first_span,
        wanted,
        int(n_counts.sum()),
        weigh,
        stored,
    )
    sums = batches.fold(partial(_PassSums, plan), columns, numbered=True)
    if stored is not None:
        stored.finish(sums.n_stored)
    return sums.answers(questions)


class MistakeCuts:
    """The cuts of some nodes of a tree with k leaves, by the numbers of the nodes.

    Parameters
    ----------
    home : array of shape (k,)
        The node of each cluster's centre before.
    """

    def __init__(self, home: Ints) -> None:
        self.old_home = home.copy()
        self.child, self.feature, self.up_to = np.full((3, 2 * len(home)), -1, dtype=np.int64)
        self.rows: list[Ints] = [np.empty(0, dtype=np.int64)]
        self.by_value: list[tuple[int, int, float]] = []

    def add(self, node: int, child: int, feature: int, up_to: int, rows: Ints | None = None) -> None:
        """Add a cut with the number of its left child, the last bin on the left, and further rows there.

        `feature` is its position among the stored columns; the number of the right child is the next one.
        """
        self.child[node], self.feature[node], self.up_to[node] = child, feature, up_to
        if rows is not None:
            self.rows.append(rows)

    def add_by_value(self, node: int, child: int, column: int, threshold: float) -> None:
        """Add a cut for which stored bins do not give the side of each row, so that values are read."""
        self.child[node] = child
        self.by_value.append((node, column, threshold))

    def finish(self, home: Ints) -> None:
        """Finish the list of cuts; `home` is the node of each cluster's centre after them."""
        self.home, self.rows = home, [np.sort(np.concatenate(self.rows))]


class StoredCodes:
    """A temporary store of the bin of each value, the cell of each row (see `loops.imm`), and its weight.

    Takes one byte for each value and one or more for each row, and 8 for its weight if rows have weights.
    """

    def __init__(self, n_clusters: int, n_columns: int, is_weighted: bool) -> None:
        self.codes, self.cells = RowStore(np.uint8, n_columns), LabelStore(3 * n_clusters)
        self.weights = RowStore(np.int64) if is_weighted else None
        self.shape = n_columns, n_clusters

    def write(self, start: int | None, cells: Ints, weights: Ints, codes: Array) -> bool:
        """Store the rows of a block; return whether that was possible."""
        cells = np.where(weights > 0, cells, -1) if weights.size else cells
        is_stored = self.codes.write(start, codes) and self.cells.write(start, cells)
        return is_stored and (self.weights is None or self.weights.write(start, weights))

    def finish(self, n_rows: int) -> None:
        """Set the number of rows that were stored."""
        self.cells.finish(n_rows)

    def send_down(self, batches: Batches, cuts: MistakeCuts, n_bins: int) -> Ints:
        """Send rows down to the children of nodes that are cut, and return the weight of the mistakes.

        It is counted by column, cluster and bin. The table is read only for cuts that need values.
        """

        def make() -> Ints:
            return np.zeros((*self.shape, n_bins), dtype=np.int64)

        def work(mistakes: Ints, start: int, stop: int) -> None:
            self.send_block(cuts, start, np.zeros(stop - start, dtype=np.bool_), mistakes)

        if cuts.by_value:
            columns = sorted({column for _, column, _ in cuts.by_value})
            sent: _Sent = batches.fold(
                partial(_Sent, self, cuts, columns, (*self.shape, n_bins)), columns, numbered=True
            )
            return sent.mistakes
        assert self.cells.n_rows is not None
        mistakes, *others = fold_blocks(work, self.cells.n_rows, make, n_jobs=batches.n_jobs)
        for other in others:
            mistakes += other
        return mistakes

    def send_block(self, cuts: MistakeCuts, start: int, is_left: Bools, mistakes: Ints) -> None:
        """Send the rows of a block down; `is_left` marks rows that go left besides those up to the last bins."""
        span = start, len(is_left)
        cells, codes = self.cells.read(*span), self.codes.read(*span).reshape(-1, self.codes.width)
        weights = np.empty(0, dtype=np.int64) if self.weights is None else self.weights.read(*span)
        first, last = np.searchsorted(cuts.rows[0], [start, start + len(is_left)])
        is_left[cuts.rows[0][first:last] - start] = True
        send_down(
            cells, codes, weights, is_left, cuts.child, cuts.feature, cuts.up_to, cuts.old_home, cuts.home, mistakes
        )
        self.cells.write(start, cells)


class _Sent:
    """The summary of a pass that sends rows down by their values."""

    def __init__(self, stored: StoredCodes, cuts: MistakeCuts, columns: list[int], shape: tuple[int, ...]) -> None:
        self.stored, self.cuts, self.columns, self.mistakes = stored, cuts, columns, np.zeros(shape, dtype=np.int64)

    def update(self, block: Block, start: int | None) -> None:
        assert start is not None  # blocks had it when the bins were written
        cells, k = block.labels, len(self.cuts.home)
        nodes = np.where(cells < k, self.cuts.old_home[np.minimum(cells, k - 1)], cells - k)
        is_left = np.zeros(len(cells), dtype=np.bool_)
        for node, column, threshold in self.cuts.by_value:
            is_left |= (nodes == node) & (block.values[:, self.columns.index(column)] <= threshold)
        self.stored.send_block(self.cuts, start, is_left, self.mistakes)

    def merge(self, other: _Sent) -> None:
        self.mistakes = self.mistakes + other.mistakes
