"""Counts of rows in batches, by node, column, cluster and bin: what one pass adds up for all nodes that wait."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import WholeWeights
from boxwood.grow._levels import Paths
from boxwood.loops import imm_passes as loops
from boxwood.loops.imm import bin_points
from boxwood.passes import Batches, Block

__all__ = ["Columns", "Grid", "Looking", "Wish", "look"]

BUFFER = 1 << 16  # values that a thread finds before they are put together


class Columns(NamedTuple):
    """Columns in bins of equal width between `low` and `high`. All arrays are of shape (s,)."""

    number: Indices
    low: Floats
    high: Floats
    scale: Floats

    @classmethod
    def between(cls, number: Indices, low: Floats, high: Floats, n_bins: int) -> Columns:
        """Return columns in bins between two values each, the first of them the smaller one."""
        with np.errstate(divide="ignore", over="ignore"):
            scale = 0.5 * (n_bins - 2) / (high / 2 - low / 2)  # halves: the width itself may overflow
        return cls(number, low, high, np.minimum(scale, 1e300))

    def codes(self, points: Floats, n_bins: int) -> Ints:
        """Return the bins of points of each column, both of shape (s, m)."""
        codes = np.empty(points.shape, dtype=np.int64)
        bin_points(np.ascontiguousarray(points.T), self.low, self.high, self.scale, n_bins, codes)
        return codes

    def taken(self, which: Indices) -> Columns:
        """Return some of the columns."""
        return Columns._make(part[which] for part in self)


class Wish(NamedTuple):
    """What a node asks of a pass: some of its columns in bins, and the values in some of the bins."""

    columns: Columns
    n_bins: int
    wanted: Bools  # (s, n_bins): bins whose values are found
    shut: Bools  # (s, n_bins): bins that another grid of the node looks into
    is_part: bool  # whether bins span only a part of what lies between the centres

    @classmethod
    def of(cls, columns: Columns, n_bins: int, *, is_part: bool = False) -> Wish:
        """Return a wish for counts alone."""
        wanted, shut = np.zeros((2, len(columns.number), n_bins), dtype=np.bool_)
        return cls(columns, n_bins, wanted, shut, is_part)


class Grid(NamedTuple):
    """The rows of a node with c clusters, in s columns, in bins."""

    columns: Columns
    counts: Ints  # (s, c, n_bins): weight
    total: Ints  # (c,): weight of all bins of a column
    come: Ints  # (c,): at most so much weight of the node was not counted
    n_rows: Ints  # (s, n_bins): number of rows, strays too
    least: Floats  # (s, n_bins): their least and greatest value
    most: Floats
    known: Bools  # (s, n_bins): bins whose values were found
    found: loops.Found  # these values, by column
    starts: Indices  # (s + 1,): where the values of each column begin
    shut: Bools  # (s, n_bins): bins that another grid looks into
    is_part: bool
    is_own: bool = True  # whether the rows that were counted are those of the node

    @property
    def n_bins(self) -> int:
        """Number of bins of each column."""
        return int(self.counts.shape[2])

    def without(self, dropped: Bools) -> Grid:
        """Return the grid without some columns; values that were found are dropped as well."""
        kept = np.flatnonzero(~dropped)
        return self._of(kept, np.arange(len(self.total)))._replace(shut=self.shut[kept], is_own=self.is_own)

    def of_child(self, ranks: Indices, varied: Bools) -> Grid:
        """Return the grid for a child that holds some of the clusters, whose centres differ in some of the columns."""
        return self._of(np.flatnonzero(varied[self.columns.number]), ranks)._replace(is_own=False)

    def moved(self, come: Ints, is_same: bool) -> Grid:
        """Return the grid for a node whose rows are not quite those that were counted, unless `is_same`.

        `come` is the weight that came to each cluster.
        """
        if is_same:
            return self
        return self._replace(come=self.come + come, known=np.zeros_like(self.known), is_own=False)

    def _of(self, kept: Indices, ranks: Indices) -> Grid:
        known, shut = np.zeros((2, len(kept), self.n_bins), dtype=np.bool_)
        return self._replace(
            columns=self.columns.taken(kept),
            counts=self.counts[np.ix_(kept, ranks)],
            total=self.total[ranks],
            come=self.come[ranks],
            n_rows=self.n_rows[kept],
            least=self.least[kept],
            most=self.most[kept],
            known=known,
            found=loops.Found._make(part[:0] for part in self.found),
            starts=np.zeros(len(kept) + 1, dtype=np.intp),
            shut=shut,
        )


class Looking(NamedTuple):
    """A node that looks at its rows in a pass."""

    clusters: Indices  # clusters whose centres lie in the node
    wishes: list[Wish]
    places: tuple[int, int]  # the first of the places of its rows, and that behind the last


class _Plan(NamedTuple):
    """A pass: the way of rows to their places, and what is counted there."""

    paths: Paths
    n_places: int
    nodes: list[Looking]
    rank_of: Ints  # (nodes, k): index of each cluster among those of each node, or -1
    spans: loops.Spans  # of all nodes
    first_span: Ints  # (nodes + 1,): where those of each node begin
    wanted: Bools
    n_counts: int
    weigh: WholeWeights | None

    def of_node(self, node: int) -> loops.Spans:
        return loops.Spans._make(part[self.first_span[node] : self.first_span[node + 1]] for part in self.spans)


class _Looked:
    """The summary of a pass."""

    def __init__(self, plan: _Plan) -> None:
        self.plan, n_bins = plan, len(plan.wanted)
        self.sums = loops.Sums(
            np.zeros(plan.n_counts, dtype=np.int64),
            np.zeros(n_bins, dtype=np.int64),
            np.full(n_bins, np.inf),
            np.full(n_bins, -np.inf),
        )
        self.found: list[loops.Found] = []

    def update(self, block: Block) -> None:
        plan = self.plan
        places = plan.paths.places(block.values)
        weights = np.empty(0, dtype=np.int64)
        if plan.weigh is not None and block.weights is not None:
            weights = plan.weigh.of(block.weights)
        first, order = np.empty(plan.n_places + 1, dtype=np.int64), np.empty(len(places), dtype=np.int64)
        loops.rows_by_place(places, block.labels, weights, first, order)
        for node, looking in enumerate(plan.nodes):
            start, stop = first[list(looking.places)]
            if start < stop:
                self._add(block, order[start:stop], weights, node)

    def _add(self, block: Block, order: Ints, weights: Ints, node: int) -> None:
        """Add rows of one node."""
        plan, start = self.plan, 0
        spans = plan.of_node(node)
        found = _buffer(max(BUFFER, len(spans.position) * max(16, 4096 // block.values.shape[1])))
        rows = block.values, order, block.labels, weights, plan.rank_of[node], spans, int(plan.first_span[node])
        while start < len(order):
            start, size = loops.sum_rows(*rows, start, plan.wanted, self.sums, found)
            if size:
                self.found.append(loops.Found._make(part[:size].copy() for part in found))

    def merge(self, other: _Looked) -> None:
        mine, theirs = self.sums, other.sums
        mine.counts[:] += theirs.counts
        mine.n_rows[:] += theirs.n_rows
        np.minimum(mine.least, theirs.least, out=mine.least)
        np.maximum(mine.most, theirs.most, out=mine.most)
        self.found += other.found

    def all_found(self) -> loops.Found:
        """Return the values that were found, by span."""
        whole = loops.Found._make(map(np.concatenate, zip(_buffer(0), *self.found, strict=True)))
        order = np.argsort(whole.spans, kind="stable")
        return loops.Found._make(part[order] for part in whole)


def _buffer(size: int) -> loops.Found:
    kinds = np.float64, np.int32, np.int32, np.int32, np.int64
    return loops.Found._make(np.empty(size, dtype=kind) for kind in kinds)


def look(
    batches: Batches, paths: Paths, nodes: list[Looking], merged: Indices, weigh: WholeWeights | None
) -> list[list[Grid]]:
    """Return what each of some nodes wishes to see, from one pass.

    `paths` leads to the places of the rows; `merged` is the cluster that each cluster counts as.
    """
    columns = sorted({*paths.columns, *(j for node in nodes for wish in node.wishes for j in wish.columns.number)})
    looked = batches.fold(partial(_Looked, _plan(paths, columns, nodes, merged, weigh)), columns)
    cut = _Cutter(looked)
    return [[cut.next(wish, len(node.clusters)) for wish in node.wishes] for node in nodes]


def _plan(paths: Paths, columns: list[int], nodes: list[Looking], merged: Indices, weigh: WholeWeights | None) -> _Plan:
    rank_of = np.full((len(nodes), len(merged)), -1, dtype=np.int64)
    for ranks, node in zip(rank_of, nodes, strict=True):
        ranks[node.clusters] = np.arange(len(node.clusters))
    wishes = [(wish, len(node.clusters)) for node in nodes for wish in node.wishes]
    sizes = [len(wish.columns.number) for wish, _ in wishes]
    n_bins = np.repeat([wish.n_bins for wish, _ in wishes], sizes)
    n_counts = np.repeat([wish.n_bins * n_clusters for wish, n_clusters in wishes], sizes)
    number, low, high, scale = map(np.concatenate, zip(*(wish.columns for wish, _ in wishes), strict=True))
    starts = np.cumsum(n_bins) - n_bins, np.cumsum(n_counts) - n_counts
    spans = loops.Spans(np.searchsorted(columns, number), low, high, scale, n_bins, *starts)
    wanted = np.concatenate([wish.wanted.reshape(-1) for wish, _ in wishes])
    first_span = np.cumsum([0, *(sum(len(wish.columns.number) for wish in node.wishes) for node in nodes)])
    n_places, way = int(paths.place.max()) + 1, paths.among(columns)
    ranks = np.ascontiguousarray(rank_of[:, merged])
    return _Plan(way, n_places, nodes, ranks, spans, first_span, wanted, int(n_counts.sum()), weigh)


class _Cutter:
    """Cuts the numbers of a pass into those of each wish, in the order of the wishes."""

    def __init__(self, looked: _Looked) -> None:
        self.sums, self.found = looked.sums, looked.all_found()
        self.span = self.bin = self.count = 0

    def next(self, wish: Wish, n_clusters: int) -> Grid:
        n_spans, n_bins = wish.wanted.shape
        bins = slice(self.bin, self.bin + n_spans * n_bins)
        counts = self.sums.counts[self.count : self.count + n_spans * n_bins * n_clusters]
        counts = counts.reshape(n_spans, n_clusters, n_bins)
        starts = np.searchsorted(self.found.spans, np.arange(self.span, self.span + n_spans + 1))
        self.span, self.bin, self.count = self.span + n_spans, bins.stop, self.count + counts.size
        sums, found = self.sums, self.found
        return Grid(
            wish.columns,
            counts,
            total=counts[0].sum(axis=1),
            come=np.zeros(n_clusters, dtype=np.int64),
            n_rows=sums.n_rows[bins].reshape(n_spans, n_bins),
            least=sums.least[bins].reshape(n_spans, n_bins),
            most=sums.most[bins].reshape(n_spans, n_bins),
            known=wish.wanted,
            found=loops.Found._make(part[starts[0] : starts[-1]] for part in found),
            starts=starts - starts[0],
            shut=wish.shut,
            is_part=wish.is_part,
        )
