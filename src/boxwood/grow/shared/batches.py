"""Growth by passes over batches of rows: a growing tree, the bins of a pass, and the costs of rows.

One pass serves all nodes that wait for a cut. A block of rows holds only the columns that the pass needs: those tested
by the cuts above the nodes, and those that are searched::

    tree = GrowingTree()
    paths = tree.paths_to(waiting)                    # numbers of nodes: 0 is the root, then as `split` returns them
    columns = sorted({*paths.columns, *searched})
    paths = paths.among(columns)                      # goes into the summary of the pass
    places = paths.places(block.values)               # in its `update`: index into `waiting` for each row, or -1

A pass sums the rows of each bin, or gathers the values of a few bins one by one. Either way the result is a table of
filled bins of a column, ascending: number of rows, their least and greatest value, and the sums of their amounts. The
choice of bins affects speed alone; the cuts are exact.

A search for the best cuts of some nodes looks at the cuts between bins. The bins that may hold a better one are its
candidates. It looks into these (`narrow_candidates`), by finer bins, or value by value once they hold few rows, until
none is left. What a cut costs, and the lower bound on the cuts inside a bin, are those of the method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from boxwood._types import Array, Floats, Indices, Ints, Weights
from boxwood.batches import Block
from boxwood.batches.overview import ExactSum
from boxwood.grow.shared.costs import REPEATS, scale_for, unit_of
from boxwood.loops.bins import find_in_slots, whole_by_node
from boxwood.loops.expand import squared_distances
from boxwood.loops.walk import descend
from boxwood.reference import Task
from boxwood.tree import TreeBuilder


class Paths(NamedTuple):
    """The part of a tree above some of its nodes, in pre-order. All arrays are of shape (m,).

    Subtrees without any of these nodes are left out; a row that enters one is in none of the nodes.
    """

    feature: Ints  # column that a cut tests; -1 where the way ends
    lower: Floats
    upper: Floats
    second: Ints  # second child of a cut
    place: Ints  # index among the nodes; -1 for a cut, and where the way ends without a node

    @property
    def columns(self) -> list[int]:
        """The columns tested by the cuts, ascending."""
        return np.unique(self.feature[self.feature >= 0]).tolist()  # type: ignore[no-any-return]

    def among(self, columns: Sequence[int]) -> Paths:
        """Return the same paths for rows that hold only these columns, in this order."""
        position = {-1: -1} | {column: i for i, column in enumerate(columns)}
        return self._replace(feature=np.array([position[j] for j in self.feature.tolist()], dtype=np.int64))

    def places(self, values: Floats) -> Ints:
        """Return the index of the node that each row reaches, shape (n,); -1 for a row that reaches none."""
        if len(self.feature) == 1:
            return np.full(len(values), self.place[0])
        places = np.empty(len(values), dtype=np.int64)
        descend(values, self.feature, self.lower, self.upper, self.second, self.place, places)
        return places


class GrowingTree(TreeBuilder):
    """A tree made cut by cut, which gives the paths to its nodes.

    Examples
    --------
    >>> import numpy as np
    >>> tree = GrowingTree()
    >>> left, right = tree.split(0, feature=2, upper=0.5)
    >>> tree.label(left, 0)
    >>> third, fourth = tree.split(right, feature=4, upper=0.5)
    >>> paths = tree.paths_to([fourth, third])
    >>> paths.columns
    [2, 4]
    >>> paths.among([2, 3, 4]).places(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]))
    array([-1,  1,  0])
    """

    def move(self, node: int, upper: float) -> None:
        """Change the threshold of a cut to one that separates the same rows."""
        feature, lower, _, first = self._cuts[node]
        self._cuts[node] = feature, lower, upper, first

    def ends_below(self, nodes: Collection[int]) -> tuple[list[int], dict[int, tuple[int, int]]]:
        """Return the leaves below some nodes, in pre-order, and for each node the span of its leaves among them.

        A span is the position of the first leaf and the position after the last. A leaf is below itself.
        """
        ends: list[int] = []
        spans: dict[int, tuple[int, int]] = {}
        waiting = [(0, 0 in nodes, -1)]  # a node, whether its ends count, and where they begin
        while waiting:
            node, is_asked, start = waiting.pop()
            if node in self._cuts and start < 0:
                first = self._cuts[node][3]
                children = ((child, is_asked or child in nodes, -1) for child in (first + 1, first))
                waiting += ((node, is_asked, len(ends)), *children)
                continue
            if start < 0:
                start = len(ends)
                ends += [node] if is_asked else []
            spans[node] = start, len(ends)
        return ends, spans

    def paths_to(self, nodes: Sequence[int]) -> Paths:
        """Return the paths to some leaves, numbered in the order given."""
        parents = {child: node for node, cut in self._cuts.items() for child in (cut[3], cut[3] + 1)}
        on_the_way = set(nodes)
        for node in nodes:
            while node in parents and parents[node] not in on_the_way:
                node = parents[node]
                on_the_way.add(node)
        places = {node: i for i, node in enumerate(nodes)}
        entries: list[list[float]] = []  # feature, lower, upper, second child and place
        waiting = [(0, -1)]  # a node, and the entry whose second child it is
        while waiting:
            node, parent = waiting.pop()
            if parent >= 0:
                entries[parent][3] = len(entries)
            if node in self._cuts and node in on_the_way:
                feature, lower, upper, first = self._cuts[node]
                waiting += ((first + 1, len(entries)), (first, -1))
                entries.append([feature, lower, upper, -1, -1])
            else:
                entries.append([-1, -np.inf, np.inf, -1, places.get(node, -1)])
        whole = np.array([(entry[0], entry[3], entry[4]) for entry in entries], dtype=np.int64)
        bounds = np.array([entry[1:3] for entry in entries], dtype=np.float64)
        feature, second, place = np.ascontiguousarray(whole.T)
        lower, upper = np.ascontiguousarray(bounds.T)
        return Paths(feature, lower, upper, second, place)


BYTES = 1 << 25  # for the sums by bin of one thread
BINS = 512  # most bins of a column at a node
FEWEST = 16  # fewest bins of a column at a node; if memory allows fewer, other nodes wait for the next pass
SAMPLED = 1 << 14  # most rows of the sample
SAMPLED_VALUES = 1 << 21  # most values of the sample


class Stretch(NamedTuple):
    """A range of values of a column at a node: all of them, or those from `low` to `high`."""

    node: int
    column: int
    low: float
    high: float
    edges: Floats  # between its bins: ascending, from `low` on and below `high`


class FilledBins(NamedTuple):
    """The bins of a stretch that have rows, ascending. All arrays are of shape (m, ...)."""

    counts: Ints
    low: Floats
    high: Floats
    sums: Ints


class StretchBins(NamedTuple):
    """The bins of some stretches, in the form of `loops.bins`, and the slots of each stretch."""

    columns: list[int]  # to be read
    starts: Ints
    edges: Floats
    slots: Ints
    ends: list[int]  # the slots of stretch i are those from `ends[i]` to `ends[i + 1] - 1`

    @classmethod
    def at(cls, stretches: Sequence[Stretch], columns: list[int], n_nodes: int) -> StretchBins:
        """Return the bins of stretches, which must be sorted by node, column and values."""
        position = {column: i for i, column in enumerate(columns)}
        edges: list[Floats] = [np.empty(0)] * (n_nodes * len(columns))
        slots: list[Ints] = [np.full(1, -1)] * len(edges)
        ends = [0]
        for each in stretches:
            pair, first, n_bins = (
                each.node * len(columns) + position[each.column],
                ends[-1],
                len(each.edges) + 1,
            )
            own = np.arange(first, first + n_bins)
            if each.low == -np.inf:
                edges[pair], slots[pair] = each.edges, own
            else:  # values below and above the stretch have no slot
                below = np.nextafter(each.low, -np.inf)
                edges[pair] = np.concatenate([edges[pair], [below], each.edges, [each.high]])
                slots[pair] = np.concatenate([slots[pair], own, [-1]])
            ends.append(first + n_bins)
        starts = np.cumsum([0, *(len(each) for each in edges)])
        return cls(columns, starts, np.concatenate(edges), np.concatenate(slots), ends)

    @property
    def n_slots(self) -> int:
        """Number of slots."""
        return self.ends[-1]

    def filled(self, counts: Ints, low: Floats, high: Floats, sums: Ints) -> list[FilledBins]:
        """Return the filled bins of each stretch, from sums by slot."""
        filled_bins = []
        for i in range(len(self.ends) - 1):
            filled = self.ends[i] + np.flatnonzero(counts[self.ends[i] : self.ends[i + 1]])
            filled_bins.append(FilledBins(counts[filled], low[filled], high[filled], sums[filled]))
        return filled_bins


class GuidingRows:
    """A sample of rows, by which bins are chosen; it affects the speed of a pass, but not its result."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows

    @staticmethod
    def size(n_columns: int) -> int:
        """Return how many rows a sample has."""
        return max(min(SAMPLED, SAMPLED_VALUES // n_columns), 1)

    def at(self, paths: Paths) -> SampleAt:
        """Return the rows at some nodes."""
        return SampleAt(self.rows, paths.places(self.rows))


class SampleAt:
    """The rows of a sample at some nodes."""

    rows: Floats
    nodes: Ints

    def __init__(self, rows: Floats, nodes: Ints) -> None:
        self.rows, self.nodes = rows, nodes
        self.ascending: dict[tuple[int, int], Floats] = {}  # of a node and a column

    def edges(self, node: int, column: int, low: float, high: float, n_bins: int) -> Floats:
        """Return edges of at most `n_bins` bins of the values at a node from `low` to `high`; see `inner_edges`."""
        if n_bins == 1:
            return np.empty(0)
        if (node, column) not in self.ascending:
            self.ascending[node, column] = np.sort(self.rows[self.nodes == node, column])
        return inner_edges(low, high, self.ascending[node, column], n_bins)


def bins_of_values(n_slots: int, values: Floats, slots: Indices, amounts: Ints) -> list[FilledBins]:
    """Return for each slot a bin for each of its distinct values."""
    order = np.lexsort((values, slots))
    values, slots, amounts = values[order], slots[order], amounts[order]
    is_new = np.ones(len(values), dtype=np.bool_)
    is_new[1:] = (values[1:] != values[:-1]) | (slots[1:] != slots[:-1])
    first = np.flatnonzero(is_new)
    counts, different = np.diff(np.append(first, len(values))), values[first]
    sums = np.add.reduceat(amounts, first) if len(first) else amounts
    ends = np.searchsorted(slots[first], np.arange(n_slots + 1)).tolist()
    return [
        FilledBins(counts[start:stop], different[start:stop], different[start:stop], sums[start:stop])
        for start, stop in pairwise(ends)
    ]


def inner_edges(low: float, high: float, sample: Floats, n_bins: int) -> Floats:
    """Return at most `n_bins - 1` values from `low` on and below `high`, ascending; at least one.

    They are quantiles of the sample, which is ascending. If it has too few distinct values, others are added, spaced
    evenly among all doubles, so that a few passes suffice however unevenly the rows are distributed.
    """
    first, last = np.searchsorted(sample, [low, high])
    inside = sample[first:last]
    picked = inside[np.linspace(0, len(inside) - 1, min(len(inside), n_bins - 1)).astype(np.intp)]
    edges = np.unique(picked + 0.0)
    if 2 * len(edges) >= n_bins - 1:
        return edges
    start, stop = _key(low), _key(high)
    wanted = n_bins - 1 - len(edges)
    step = (stop - start) // (wanted + 1)  # of two numbers that may be 2**64 apart
    steps = np.arange(1, wanted + 1) if step else np.arange(stop - start)
    keys = np.uint64(start % (1 << 64)) + np.uint64(max(step, 1)) * steps.astype(
        np.uint64
    )  # wraps around, as it should
    return np.union1d(edges, _doubles(keys.view(np.int64)))


def _key(value: float) -> int:
    """Return the number of a double among all doubles, 0 for zero."""
    key = int(np.float64(abs(value)).view(np.int64))
    return key if value >= 0 else -key


def _doubles(keys: Ints) -> Floats:
    """Return the doubles with these numbers."""
    return np.copysign(np.abs(keys).view(np.float64), keys) + 0.0


class CandidateBin(NamedTuple):
    """A bin that may hold a better cut than the best so far: a stretch of a column, with its rows and those before."""

    column: int
    low: float
    high: float
    n_rows: int
    before: Any  # sums over the rows before it
    rank: tuple[float, ...]  # a lower bound on all cuts inside, in the order of the cuts


def narrow_candidates(
    candidates: list[list[CandidateBin]],
    look: Callable[[list[tuple[int, int, float, float]], int], Iterable[FilledBins]],
    inside: Callable[[int, list[tuple[CandidateBin, FilledBins]]], list[CandidateBin]],
) -> None:
    """Look into the candidates of each node, and into those inside of them, until there are none.

    `look` returns the bins of all candidates, by one pass, given their nodes, columns and ends, and the number of their
    rows. `inside` takes the best of the cuts between bins of a node, and returns the bins that may hold a better one.
    """
    while any(candidates):
        wanted = [(node, each.column, each.low, each.high) for node, group in enumerate(candidates) for each in group]
        bins = iter(look(wanted, sum(each.n_rows for group in candidates for each in group)))
        by_node = [[(candidate, next(bins)) for candidate in group] for group in candidates]
        candidates = [inside(node, looked_into) for node, looked_into in enumerate(by_node)]


def bins_into(
    wanted: Sequence[tuple[int, int, float, float]],
    sample: SampleAt,
    *,
    gathers: bool,
    n_bins: int,
    n_amounts: int,
    most: int = BYTES,
) -> list[Stretch]:
    """Return stretches (node, column, ends) with their bins: at most `n_bins` each, `most` together, and two at least.

    A pass that gathers values needs one bin each.
    """
    at_most = max(min(n_bins, min(BYTES // (8 * (n_amounts + 3)), most) // len(wanted)), 2)
    return [Stretch(*stretch, sample.edges(*stretch, 1 if gathers else at_most)) for stretch in wanted]


AT_ONCE = 1 << 20  # values and costs of the rows of a chunk


class RowsInNodes(NamedTuple):
    """A chunk: some rows of a block that lie in the nodes of a pass."""

    values: Floats
    nodes: Ints
    labels: Indices
    weights: Weights


@dataclass(frozen=True, eq=False)
class BlockCosts:
    """Costs of rows under each cluster, equal to those of `make_problem` for rows in memory.

    The amounts of a row are the numbers that are summed: its costs under each cluster and the largest of them; or,
    where mistakes are counted, its mass at its own label.
    """

    centers: Floats
    unit: float
    by_label: bool
    hidden: tuple[int, ...] = ()  # columns whose values are replaced by zeros
    is_repeated: bool = False  # whether weights are whole numbers, which act as repeated rows
    exponent: int | None = None  # of the heaviest row, if weights are not whole numbers

    @classmethod
    def of(cls, task: Task, loss: str, hidden: tuple[int, ...] = ()) -> BlockCosts:
        """Return the costs of a task's rows, with some columns of rows and centres hidden."""
        (low, high), centers = task.ranges, task.reference.centers.copy()
        for values in (low, high, centers.T):
            values[list(hidden)] = 0.0
        costs = cls(centers, unit_of(low, high, centers), loss == "mistakes", hidden)
        if task.batches.weight is None:
            return costs
        overview = task.overview
        if overview.all_whole and overview.heaviest < REPEATS and overview.total_weight() < REPEATS:
            return replace(costs, is_repeated=True)
        return replace(costs, exponent=int(np.frexp(overview.heaviest)[1]))

    @property
    def n_amounts(self) -> int:
        """Number of amounts of a row."""
        return len(self.centers) + (not self.by_label)

    @property
    def is_counted(self) -> bool:
        """Whether rows are only counted, so that all scales are 1."""
        return self.by_label and not self.is_repeated and self.exponent is None

    def shares(self, chunk: RowsInNodes) -> tuple[Floats, Ints]:
        """Return the share and the times of each row, whose product is its weight; see `Problem`."""
        share, times = np.ones(len(chunk.nodes)), np.ones(len(chunk.nodes), dtype=np.int64)
        if self.is_repeated:
            assert chunk.weights is not None
            times = chunk.weights.astype(np.int64)
        elif self.exponent is not None:
            assert chunk.weights is not None
            share = np.ldexp(chunk.weights, -self.exponent)
        return share, times

    def distances(self, values: Floats) -> Floats:
        """Return the squared distances to all centres, shape (n, k)."""
        costs = np.empty((len(values), len(self.centers)))
        squared_distances(values, np.ascontiguousarray(self.centers.T), self.unit, costs)
        return costs

    def largest(self, chunk: RowsInNodes) -> Floats:
        """Return the largest weighted cost of each row, from which the scale of a node is computed."""
        share, times = self.shares(chunk)
        return share * times if self.by_label else self.distances(chunk.values).max(axis=1) * share * times

    def mass(self, chunk: RowsInNodes, scales: Floats) -> Ints:
        """Return the cost of a mistake at each row; an empty array if each costs 1."""
        if self.is_counted:
            return np.empty(0, dtype=np.int64)
        share, times = self.shares(chunk)
        return np.rint(share * scales[chunk.nodes]).astype(np.int64) * times

    def amounts(self, chunk: RowsInNodes, scales: Floats) -> Ints:
        """Return the amounts of the rows, shape (n, n_amounts), as whole numbers by the scales of their nodes."""
        if self.by_label:
            amounts = np.zeros((len(chunk.nodes), self.n_amounts), dtype=np.int64)
            mass = self.mass(chunk, scales)
            amounts[np.arange(len(chunk.nodes)), chunk.labels] = mass if mass.size else 1
            return amounts
        amounts = np.empty((len(chunk.nodes), self.n_amounts), dtype=np.int64)
        whole_by_node(self.distances(chunk.values), *self.shares(chunk), scales, chunk.nodes, amounts)
        return amounts

    def under(self, sums: Ints) -> Ints:
        """Return the cost under each cluster of rows whose amounts have these sums, shape (..., k)."""
        return sums.sum(axis=-1, keepdims=True) - sums if self.by_label else sums[..., :-1]

    def scale_of_sums(self, sums: Ints, scale: float, n_rows: float) -> float:
        """Return the scale of some rows of a node, from the sums of their amounts at its scale; 0 if it is not certain.

        `n_rows` is an upper bound on the number of rows with repetitions, each of which adds a rounding error.
        """
        if self.is_counted:
            return 1.0
        largest = float(sums.sum() if self.by_label else sums[-1])
        low, high = scale_for((largest - n_rows) / scale, -1), scale_for((largest + n_rows) / scale, 1)
        return low if low == high and largest > n_rows else 0.0


def chunks_of(block: Block, paths: Paths, costs: BlockCosts) -> Iterator[RowsInNodes]:
    """Yield the rows of a block that lie in the nodes of `paths`, in chunks; rows that are left out are skipped."""
    values, labels, weights = block
    step = max(AT_ONCE // (values.shape[1] + costs.n_amounts), 1)
    if costs.hidden:
        values = values.copy()
        values[:, list(costs.hidden)] = 0.0
    for start in range(0, len(labels), step):
        span = slice(start, start + step)
        nodes = paths.places(values[span])
        inside = (nodes >= 0) & (labels[span] >= 0)
        if weights is not None:
            inside &= weights[span] > 0
        if inside.all():
            yield RowsInNodes(values[span], nodes, labels[span], None if weights is None else weights[span])
        elif inside.any():
            rows = np.flatnonzero(inside)
            yield RowsInNodes(
                values[span][rows], nodes[rows], labels[span][rows], None if weights is None else weights[span][rows]
            )


def rows_taken(chunk: RowsInNodes, rows: Indices) -> RowsInNodes:
    """Return some of the rows."""
    weights = None if chunk.weights is None else chunk.weights[rows]
    return RowsInNodes(chunk.values[rows], chunk.nodes[rows], chunk.labels[rows], weights)


class SlotSums(ABC):
    """A summary of the rows in each slot: sums of their amounts, or, where it gathers, the amounts of each value."""

    bins: StretchBins
    gathers: bool
    counts: Array
    sums: Array
    low: Array
    high: Array

    def __init__(self, bins: StretchBins, gathers: bool, n_amounts: int) -> None:
        self.bins, self.gathers = bins, gathers
        n_slots = 0 if gathers else bins.n_slots
        self.counts, self.sums = np.zeros(n_slots, dtype=np.int64), np.zeros((n_slots, n_amounts), dtype=np.int64)
        self.low, self.high = np.full(n_slots, np.inf), np.full(n_slots, -np.inf)
        none = np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, n_amounts), dtype=np.int64)
        self.gathered: list[tuple[Floats, Indices, Ints]] = [none]  # values, slots, amounts

    @abstractmethod
    def update(self, block: Block) -> None:
        """Add a block of rows."""

    @property
    def slots(self) -> tuple[Ints, Floats, Ints]:
        """The slots of each node and column, as the loops read them."""
        return self.bins.starts, self.bins.edges, self.bins.slots

    @property
    def out(self) -> tuple[Ints, Floats, Floats, Ints]:
        """What the loops add to, by slot."""
        return self.counts, self.low, self.high, self.sums

    def values_in(self, chunk: RowsInNodes) -> tuple[Ints, Ints, Ints]:
        """Return the row, the column and the slot of each value of a chunk that lies in a slot."""
        rows, columns, slots = np.empty((3, chunk.values.size), dtype=np.int64)
        n_values = find_in_slots(chunk.values, chunk.nodes, *self.slots, rows, columns, slots)
        return rows[:n_values], columns[:n_values], slots[:n_values].copy()

    def merge(self, other: Self) -> None:
        """Add another summary."""
        self.counts += other.counts
        self.sums += other.sums
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.gathered += other.gathered

    def filled(self) -> list[FilledBins]:
        """Return the filled bins of each stretch."""
        if not self.gathers:
            return self.bins.filled(*self.out)
        values, slots, amounts = (np.concatenate(arrays) for arrays in zip(*self.gathered, strict=True))
        return bins_of_values(self.bins.n_slots, values, slots, amounts)


class Scales:
    """A summary that gives the scale and the number of rows of each node, and a sample of all rows."""

    costs: BlockCosts
    paths: Paths
    sampled: int
    counts: Array
    sample: Floats
    keys: Floats

    def __init__(self, costs: BlockCosts, paths: Paths, n_nodes: int, sampled: int) -> None:
        self.costs, self.paths, self.sampled = costs, paths, sampled
        self.largest: list[ExactSum] = [ExactSum() for _ in range(n_nodes)]
        self.counts = np.zeros(n_nodes, dtype=np.int64)
        self.sample, self.keys = np.empty((0, len(costs.centers[0]))), np.empty(0)
        self.random = np.random.default_rng(0)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for chunk in chunks_of(block, self.paths, self.costs):
            self.counts += np.bincount(chunk.nodes, minlength=len(self.counts))
            if self.sampled:
                self._keep(chunk.values, self.random.random(len(chunk.nodes)))
            if not self.costs.is_counted:
                largest = self.costs.largest(chunk)
                for node in np.unique(chunk.nodes).tolist():
                    self.largest[node].add(largest[chunk.nodes == node])

    def merge(self, other: Scales) -> None:
        """Add another summary."""
        self.counts += other.counts
        self._keep(other.sample, other.keys)
        for mine, theirs in zip(self.largest, other.largest, strict=True):
            mine.merge(theirs)

    def _keep(self, rows: Floats, keys: Floats) -> None:
        """Keep the rows with the least keys, which are random. The sample decides no cut, only the choice of bins."""
        if len(self.keys) == self.sampled:
            is_less = keys < self.keys.max(initial=0.0)
            rows, keys = rows[is_less], keys[is_less]
        self.sample, self.keys = np.concatenate([self.sample, rows]), np.concatenate([self.keys, keys])
        if len(self.keys) > self.sampled:
            least = np.argpartition(self.keys, self.sampled)[: self.sampled]
            self.sample, self.keys = self.sample[least], self.keys[least]

    def scales(self) -> list[float]:
        """Return the scale of each node."""
        if self.costs.is_counted:
            return [1.0] * len(self.largest)
        return [scale_for(total.value) for total in self.largest]
