"""What one pass over rows in batches tells the nodes of IMM that wait for a cut, and the bins that are kept of it.

The answer that a node gets looks to the search of `imm` like the counts of rows in memory.
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
from boxwood.grow.centers.imm import CenterBins
from boxwood.loops import imm_streamed as loops
from boxwood.loops.imm import NodeColumn, SortedRows, events_in_bins
from boxwood.loops.imm_streamed import send_down
from boxwood.passes import Batches, Block
from boxwood.passes.labelling import LabelStore, RowStore
from boxwood.tree import between

__all__ = ["Cuts", "KeptCodes", "NodeQuestion", "NodesOfRows", "Seen", "look"]

BUFFER = 1 << 16  # values that a thread finds before they are put together


class NodeQuestion(NamedTuple):
    """What a node asks of a pass: some of its columns in bins, and the values in some of the bins."""

    node: int  # its number in the tree
    clusters: Indices  # clusters whose centres lie in the node
    columns: Indices  # (s,); a column may be asked for in several parts, in ascending order
    bins: CenterBins
    wanted: Bools  # (s, n_bins): bins whose values are found

    @classmethod
    def for_counts(cls, node: int, clusters: Indices, columns: Indices, bins: CenterBins) -> NodeQuestion:
        """Return the question for counts alone."""
        return cls(node, clusters, columns, bins, np.zeros_like(bins.constant))


@dataclass
class Seen:
    """The rows of a node with c clusters, in s columns, in bins."""

    columns: Indices
    bins: CenterBins
    counts: Ints  # (s, c, n_bins): weight
    n_rows: Ints  # (s, n_bins): number of rows, also of those whose centre is in another node
    least: Floats  # (s, n_bins): their least and greatest value
    most: Floats
    known: Bools  # (s, n_bins): bins whose values were found
    found: loops.FoundValues  # these values, by column
    starts: Indices  # (s + 1,): where the values of each column begin

    def __post_init__(self) -> None:
        self.total = self.counts[0].sum(axis=1)
        self.bins = self.bins._replace(constant=self.least >= self.most)

    def events(self, column: NodeColumn, constant: Bools) -> tuple[Array, ...]:
        """Return what happens in some bins of a column; see `events_in_bins`. A bin of one value has it once."""
        s, wanted, found = column.number, column.wanted, self.found_in(column.number)
        kept = wanted[found.codes] & (found.ranks >= 0)
        ranks, codes = np.nonzero(self.counts[s] * (wanted & ~self.known[s]))
        parts = (
            (found.values[kept], found.ranks[kept], found.codes[kept], found.weights[kept]),
            (self.least[s, codes], ranks, codes, self.counts[s, ranks, codes]),
        )
        values, ranks, codes, weights = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(ranks, kind="stable")
        first = np.searchsorted(ranks[order], np.arange(len(self.total) + 1))
        codes = codes[None, order].astype(column.center_codes.dtype)
        rows = SortedRows(order, codes, np.ones(len(order), dtype=np.bool_), weights[order])
        of_column = column._replace(number=0)
        events: tuple[Array, ...] = events_in_bins(values[:, None], of_column, rows, self.counts[s], first, constant)
        return events

    def next_value(self, s: int, value: float, centers: Floats) -> float:
        """Return the smallest value above that of a known bin, among the node's rows and centres."""
        found, least = self.found_in(s).values, self.least[s]
        above = [part[part > value].min(initial=np.inf) for part in (found, least, centers)]
        return float(min(above))

    def found_in(self, s: int) -> loops.FoundValues:
        """Return the values that were found in one column."""
        return loops.FoundValues._make(part[self.starts[s] : self.starts[s + 1]] for part in self.found)

    def up_to(self, s: int, threshold: float) -> tuple[Ints, int, Ints]:
        """Return what lies on the left of a threshold: weight of each cluster, last bin, further rows.

        The last bin is the last one of which all rows are on the left; the further rows are those of the next bin.
        """
        code = self.bins.code(s, threshold)
        last = code if self.most[s, code] <= threshold else code - 1
        found = self.found_in(s)
        inside = (found.codes == code) & (found.values <= threshold) if last < code else np.zeros(0, dtype=np.intp)
        left: Ints = self.counts[s, :, : last + 1].sum(axis=1)
        own = found.ranks[inside] >= 0
        np.add.at(left, found.ranks[inside][own], found.weights[inside][own])
        return left, last, found.rows[inside]

    def closer(self, opened: Bools, centers: Floats, n_bins: int) -> tuple[Indices, CenterBins]:
        """Return parts of the columns in closer bins, around all that can hold the best cut.

        Bins become closer at least by a factor of 4, so that nothing is looked at for ever.
        """
        ordered, parts = np.sort(centers, axis=0), []
        points = np.vstack([ordered, between(ordered[:-1], ordered[1:])])  # centres, and all marks
        for s in range(len(opened)):
            codes, of_points = np.flatnonzero(opened[s]), self.bins.codes_of(s, points[:, s])
            while len(codes):
                part, codes = np.split(codes, np.searchsorted(codes, [codes[0] + n_bins // 4]))
                inside = points[np.isin(of_points, part), s]
                ends = min([*inside, *self.least[s, part]]), max([*inside, *self.most[s, part]])
                parts.append((s, max(ends[0], ordered[0, s]), min(np.nextafter(ends[1], np.inf), ordered[-1, s])))
        which, low, high = map(np.array, zip(*parts, strict=True))
        return self.columns[which], CenterBins.between(low, high, n_bins)


class NodesOfRows(NamedTuple):
    """Tells in which end of the tree, as it is so far, each row of a block is.

    `of` takes the columns of a block and the block, and returns place and cell of each row.
    """

    columns: list[int]  # the columns that tell it
    n_cells: int
    below: dict[int, tuple[int, int]]  # the places below each node: the first, and that behind the last
    of: Callable[[list[int], Block], tuple[Ints, Ints]]


class _Plan(NamedTuple):
    """A pass: the way of rows to their nodes, and what is counted there."""

    places: Callable[[Block], tuple[Ints, Ints]]
    n_places: int
    below: list[tuple[int, int]]  # of each node
    rank_of: Ints  # (nodes, cells): index of each cluster among those of each node, or -1
    spans: loops.Spans  # of all nodes
    first_span: Ints  # (nodes + 1,): where those of each node begin
    wanted: Bools
    n_counts: int
    weigh: WholeWeights | None
    kept: KeptCodes | None  # where the bins of all values are written, as the first node asks for them

    def of_node(self, node: int) -> loops.Spans:
        return loops.Spans._make(part[self.first_span[node] : self.first_span[node + 1]] for part in self.spans)


class _Looked:
    """The summary of a pass."""

    def __init__(self, plan: _Plan) -> None:
        self.plan, n_bins = plan, len(plan.wanted)
        self.sums = loops.BinSums(
            np.zeros(plan.n_counts, dtype=np.int64),
            np.zeros(n_bins, dtype=np.int64),
            np.full(n_bins, np.inf),
            np.full(n_bins, -np.inf),
        )
        self.found: list[loops.FoundValues] = []
        self.n_kept = 0

    def update(self, block: Block, start: int | None) -> None:
        plan = self.plan
        places, cells = plan.places(block)
        weights = np.empty(0, dtype=np.int64)
        if plan.weigh is not None and block.weights is not None:
            weights = plan.weigh.of(block.weights)
        places = np.where((cells >= 0) & (weights > 0) if weights.size else cells >= 0, places, -1)
        order = np.argsort(places.astype(np.int16) if plan.n_places < 1 << 15 else places, kind="stable")
        first = np.searchsorted(places[order], np.arange(plan.n_places + 1))
        n_columns = 0 if plan.kept is None else plan.kept.codes.width
        codes = np.empty((len(places) if n_columns else 0, n_columns), dtype=np.uint8)
        for node, (begin, end) in enumerate(plan.below):
            self._add((block.values, order[first[begin] : first[end]], cells, weights, start or 0), node, codes)
        if plan.kept is not None and plan.kept.write(start, cells, weights, codes):
            self.n_kept += len(cells)

    def _add(self, rows: tuple[Floats, Ints, Ints, Ints, int], node: int, codes: Array) -> None:
        """Add rows of one node."""
        plan, start = self.plan, 0
        spans = plan.of_node(node)
        found = _buffer(max(BUFFER, len(spans.position) * max(16, 4096 // rows[0].shape[1])))
        of_node = *rows, plan.rank_of[node], spans, int(plan.first_span[node])
        while start < len(rows[1]):
            start, size = loops.sum_rows(*of_node, start, plan.wanted, self.sums, found, codes)
            if size:
                self.found.append(loops.FoundValues._make(part[:size].copy() for part in found))

    def merge(self, other: _Looked) -> None:
        mine, theirs = self.sums, other.sums
        mine.counts[:] += theirs.counts
        mine.n_rows[:] += theirs.n_rows
        np.minimum(mine.least, theirs.least, out=mine.least)
        np.maximum(mine.most, theirs.most, out=mine.most)
        self.found += other.found
        self.n_kept += other.n_kept

    def answers(self, questions: list[NodeQuestion]) -> list[Seen]:
        """Return the answer to each question, in the order of the questions."""
        whole = loops.FoundValues._make(map(np.concatenate, zip(_buffer(0), *self.found, strict=True)))
        order = np.argsort(whole.spans, kind="stable")
        found = loops.FoundValues._make(part[order] for part in whole)
        bins = counts = 0
        answers = []
        for question, first in zip(questions, self.plan.first_span.tolist(), strict=False):
            shape = s, n_bins = question.wanted.shape
            at, end = slice(bins, bins + s * n_bins), counts + s * n_bins * len(question.clusters)
            starts = np.searchsorted(found.spans, np.arange(first, first + s + 1))
            seen = Seen(
                question.columns,
                question.bins,
                self.sums.counts[counts:end].reshape(s, -1, n_bins),
                self.sums.n_rows[at].reshape(shape),
                self.sums.least[at].reshape(shape),
                self.sums.most[at].reshape(shape),
                question.wanted,
                loops.FoundValues._make(part[starts[0] : starts[-1]] for part in found),
                starts - starts[0],
            )
            answers.append(seen)
            bins, counts = at.stop, end
        return answers


def _buffer(size: int) -> loops.FoundValues:
    kinds = np.float64, np.int64, np.int32, np.int16, np.int32, np.int64
    return loops.FoundValues._make(np.empty(size, dtype=kind) for kind in kinds)


def look(
    batches: Batches,
    places: NodesOfRows,
    questions: list[NodeQuestion],
    weigh: WholeWeights | None,
    kept: KeptCodes | None = None,
) -> list[Seen]:
    """Return the answers to the questions of some nodes, from one pass.

    With `kept` there is one question, for all columns in the bins that are to be kept.
    """
    columns = sorted({*places.columns, *(j for question in questions for j in question.columns.tolist())})
    rank_of = np.full((len(questions), places.n_cells + 1), -1, dtype=np.int64)  # the last one is that of cell -1
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
        kept,
    )
    looked = batches.fold(partial(_Looked, plan), columns, numbered=True)
    if kept is not None:
        kept.finish(looked.n_kept)
    return looked.answers(questions)


class Cuts:
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
        self.far: list[tuple[int, int, float]] = []

    def add(self, node: int, child: int, feature: int, up_to: int, rows: Ints | None = None) -> None:
        """Add a cut with the number of its left child, the last bin on the left, and further rows there.

        `feature` is its column among those that are kept; the number of the right child is the next one.
        """
        self.child[node], self.feature[node], self.up_to[node] = child, feature, up_to
        if rows is not None:
            self.rows.append(rows)

    def add_far(self, node: int, child: int, column: int, threshold: float) -> None:
        """Add a cut for which the bins do not tell the side of rows."""
        self.child[node] = child
        self.far.append((node, column, threshold))

    def finish(self, home: Ints) -> None:
        """Say which node each cluster's centre is in afterwards; no cuts come after this."""
        self.home, self.rows = home, [np.sort(np.concatenate(self.rows))]


class KeptCodes:
    """The bin of each value, the cell of each row (see `loops.imm_streamed`), and its weight.

    Takes one byte for each value and one or more for each row, and 8 for its weight if rows have weights.
    """

    def __init__(self, n_clusters: int, n_columns: int, is_weighted: bool) -> None:
        self.codes, self.cells = RowStore(np.uint8, n_columns), LabelStore(3 * n_clusters)
        self.weights = RowStore(np.int64) if is_weighted else None
        self.shape = n_columns, n_clusters

    def write(self, start: int | None, cells: Ints, weights: Ints, codes: Array) -> bool:
        """Keep the rows of a block; return whether that was possible."""
        cells = np.where(weights > 0, cells, -1) if weights.size else cells
        is_kept = self.codes.write(start, codes) and self.cells.write(start, cells)
        return is_kept and (self.weights is None or self.weights.write(start, weights))

    def finish(self, n_rows: int) -> None:
        """Say of how many rows the bins are kept."""
        self.cells.finish(n_rows)

    def send_down(self, batches: Batches, cuts: Cuts, n_bins: int) -> Ints:
        """Send rows down to the children of nodes that are cut, and return the weight of the mistakes.

        It is counted by column, cluster and bin. The table is read only where the bins do not tell the side of rows.
        """

        def make() -> Ints:
            return np.zeros((*self.shape, n_bins), dtype=np.int64)

        def work(lost: Ints, start: int, stop: int) -> None:
            self.send_block(cuts, start, np.zeros(stop - start, dtype=np.bool_), lost)

        if cuts.far:
            columns = sorted({column for _, column, _ in cuts.far})
            sent: _Sent = batches.fold(
                partial(_Sent, self, cuts, columns, (*self.shape, n_bins)), columns, numbered=True
            )
            return sent.lost
        assert self.cells.n_rows is not None
        lost, *others = fold_blocks(work, self.cells.n_rows, make, n_jobs=batches.n_jobs)
        for other in others:
            lost += other
        return lost

    def send_block(self, cuts: Cuts, start: int, is_left: Bools, lost: Ints) -> None:
        """Send the rows of a block down; `is_left` tells rows that go left besides those of the last bins."""
        span = start, len(is_left)
        cells, codes = self.cells.read(*span), self.codes.read(*span).reshape(-1, self.codes.width)
        weights = np.empty(0, dtype=np.int64) if self.weights is None else self.weights.read(*span)
        first, last = np.searchsorted(cuts.rows[0], [start, start + len(is_left)])
        is_left[cuts.rows[0][first:last] - start] = True
        send_down(cells, codes, weights, is_left, cuts.child, cuts.feature, cuts.up_to, cuts.old_home, cuts.home, lost)
        self.cells.write(start, cells)


class _Sent:
    """The summary of a pass that sends rows down by their values."""

    def __init__(self, kept: KeptCodes, cuts: Cuts, columns: list[int], shape: tuple[int, ...]) -> None:
        self.kept, self.cuts, self.columns, self.lost = kept, cuts, columns, np.zeros(shape, dtype=np.int64)

    def update(self, block: Block, start: int | None) -> None:
        assert start is not None  # the bins were written by it
        cells, k = block.labels, len(self.cuts.home)
        nodes = np.where(cells < k, self.cuts.old_home[np.minimum(cells, k - 1)], cells - k)
        is_left = np.zeros(len(cells), dtype=np.bool_)
        for node, column, threshold in self.cuts.far:
            is_left |= (nodes == node) & (block.values[:, self.columns.index(column)] <= threshold)
        self.kept.send_block(self.cuts, start, is_left, self.lost)

    def merge(self, other: _Sent) -> None:
        self.lost = self.lost + other.lost
