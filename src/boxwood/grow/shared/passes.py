"""Growth by passes over rows that come in batches: an unfinished tree, where a pass looks, and what rows cost.

All nodes that wait for a cut are asked for together, in one pass. A block of rows holds only some columns, so that a
pass reads no more of them than it needs: those that the cuts on the way test, and those that are looked at::

    tree = GrowingTree()
    paths = tree.paths_to(waiting)                    # numbers of nodes: 0 is the root, then as `split` returns them
    columns = sorted({*paths.columns, *looked_at})
    paths = paths.among(columns)                      # goes into the summary of the pass
    places = paths.places(block.values)               # in its `update`: index into `waiting` for each row, or -1

A pass over rows adds up what lies in each bin, or gathers the values of a few bins one by one. Either way the result is
the same kind of table: parts of a column, ascending, each with its rows' least and greatest value, their number and the
sums of their amounts. Which bins are looked at is a matter of speed alone; what is decided by them is exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints, Weights
from boxwood.grow.shared.costs import REPEATS, scale_for, unit_of
from boxwood.loops.bins import whole_by_node
from boxwood.loops.expand import squared_distances
from boxwood.loops.walk import descend
from boxwood.passes import Block
from boxwood.passes.overview import ExactSum
from boxwood.reference import Task
from boxwood.tree import TreeBuilder

__all__ = [
    "BINS",
    "BYTES",
    "FEWEST",
    "BlockCosts",
    "GrowingTree",
    "GuidingRows",
    "Parts",
    "Paths",
    "RowsInNodes",
    "Scales",
    "Stretch",
    "StretchBins",
    "inner_edges",
    "parts_of",
    "parts_of_values",
    "taken",
]


class Paths(NamedTuple):
    """The part of a tree that leads to some of its nodes, in pre-order. All arrays are of shape (m,).

    Where a row leaves the way to all of those nodes, the way ends.
    """

    feature: Ints  # column that a cut tests; -1 where the way ends
    lower: Floats
    upper: Floats
    second: Ints  # second child of a cut
    place: Ints  # index of the node that is led to; -1 for a cut, and where the way ends without one

    @property
    def columns(self) -> list[int]:
        """The columns that are tested on the way, ascending."""
        return np.unique(self.feature[self.feature >= 0]).tolist()  # type: ignore[no-any-return]

    def among(self, columns: Sequence[int]) -> Paths:
        """Return the same way for rows that hold only these columns, in this order."""
        position = {-1: -1} | {column: i for i, column in enumerate(columns)}
        return self._replace(feature=np.array([position[j] for j in self.feature.tolist()], dtype=np.int64))

    def places(self, values: Floats) -> Ints:
        """Return the index of the node that each row comes to, shape (n,); -1 for a row that comes to none."""
        if len(self.feature) == 1:
            return np.full(len(values), self.place[0])
        places = np.empty(len(values), dtype=np.int64)
        descend(values, self.feature, self.lower, self.upper, self.second, self.place, places)
        return places


class GrowingTree(TreeBuilder):
    """A tree made cut by cut, which says how rows come to its nodes.

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
        """Move the threshold of a cut to where it parts the same rows."""
        feature, lower, _, first = self._cuts[node]
        self._cuts[node] = feature, lower, upper, first

    def ends_below(self, nodes: Collection[int]) -> tuple[list[int], dict[int, tuple[int, int]]]:
        """Return the nodes below some nodes that are not cut, in pre-order, and for each node which of them it has.

        These are given by the place of the first, and that behind the last. A node that is not cut is below itself.
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
        """Return the way to some nodes, none of which is a cut; the first one has the place 0."""
        parents = {child: node for node, cut in self._cuts.items() for child in (cut[3], cut[3] + 1)}
        on_the_way = set(nodes)
        for node in nodes:
            while node in parents and parents[node] not in on_the_way:
                node = parents[node]
                on_the_way.add(node)
        places = {node: i for i, node in enumerate(nodes)}
        parts: list[list[float]] = []  # feature, lower, upper, second child and place
        waiting = [(0, -1)]  # a node, and the part whose second child it is
        while waiting:
            node, parent = waiting.pop()
            if parent >= 0:
                parts[parent][3] = len(parts)
            if node in self._cuts and node in on_the_way:
                feature, lower, upper, first = self._cuts[node]
                waiting += ((first + 1, len(parts)), (first, -1))
                parts.append([feature, lower, upper, -1, -1])
            else:
                parts.append([-1, -np.inf, np.inf, -1, places.get(node, -1)])
        whole = np.array([(part[0], part[3], part[4]) for part in parts], dtype=np.int64)
        bounds = np.array([part[1:3] for part in parts], dtype=np.float64)
        feature, second, place = np.ascontiguousarray(whole.T)
        lower, upper = np.ascontiguousarray(bounds.T)
        return Paths(feature, lower, upper, second, place)


BYTES = 1 << 25  # of the sums by bin of one thread
BINS = 512  # of a column at a node, at most
FEWEST = 16  # bins of a column at a node, for which others wait for the next pass
SAMPLED = 1 << 14  # rows of the sample, at most
SAMPLED_VALUES = 1 << 21


class Stretch(NamedTuple):
    """Values of a column at a node that are looked at: all of them, or those from `low` to `high`."""

    node: int
    column: int
    low: float
    high: float
    edges: Floats  # that part them: ascending, from `low` on and below `high`


class Parts(NamedTuple):
    """Parts of a stretch, ascending, none of them without rows. All arrays are of shape (m, ...)."""

    counts: Ints
    low: Floats
    high: Floats
    sums: Ints


class StretchBins(NamedTuple):
    """The bins of some stretches, as `loops.in_bins` takes them, and the slots of each stretch."""

    columns: list[int]  # that are read
    starts: Ints
    edges: Floats
    slots: Ints
    ends: list[int]  # the slots of stretch i are those from `ends[i]` to `ends[i + 1] - 1`

    @classmethod
    def at(cls, stretches: Sequence[Stretch], columns: list[int], n_nodes: int) -> StretchBins:
        """Return the bins of stretches, which come by node, by column, and ascending."""
        position = {column: i for i, column in enumerate(columns)}
        edges: list[Floats] = [np.empty(0)] * (n_nodes * len(columns))
        slots: list[Ints] = [np.full(1, -1)] * len(edges)
        ends = [0]
        for each in stretches:
            pair, first, n_bins = each.node * len(columns) + position[each.column], ends[-1], len(each.edges) + 1
            own = np.arange(first, first + n_bins)
            if each.low == -np.inf:
                edges[pair], slots[pair] = each.edges, own
            else:  # what lies below and above has no slot
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

    def parts(self, counts: Ints, low: Floats, high: Floats, sums: Ints) -> list[Parts]:
        """Return what lies in each stretch, from sums by slot."""
        parts = []
        for i in range(len(self.ends) - 1):
            filled = self.ends[i] + np.flatnonzero(counts[self.ends[i] : self.ends[i + 1]])
            parts.append(Parts(counts[filled], low[filled], high[filled], sums[filled]))
        return parts


class GuidingRows:
    """Some rows, which decide where a pass looks, but nothing that comes of it."""

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


def parts_of_values(n_slots: int, values: Floats, slots: Indices, amounts: Ints) -> list[Parts]:
    """Return for each slot a part for each of its different values."""
    order = np.lexsort((values, slots))
    values, slots, amounts = values[order], slots[order], amounts[order]
    is_new = np.ones(len(values), dtype=np.bool_)
    is_new[1:] = (values[1:] != values[:-1]) | (slots[1:] != slots[:-1])
    first = np.flatnonzero(is_new)
    counts, different = np.diff(np.append(first, len(values))), values[first]
    sums = np.add.reduceat(amounts, first) if len(first) else amounts
    ends = np.searchsorted(slots[first], np.arange(n_slots + 1)).tolist()
    return [
        Parts(counts[start:stop], different[start:stop], different[start:stop], sums[start:stop])
        for start, stop in pairwise(ends)
    ]


def inner_edges(low: float, high: float, sample: Floats, n_bins: int) -> Floats:
    """Return at most `n_bins - 1` values from `low` on and below `high`, ascending; at least one.

    They are values of a sample, ascending, as many between any two. Where it has too few different ones, more come from
    all doubles, as many between any two; so that a few looks suffice however unevenly the rows are spread.
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


AT_ONCE = 1 << 20  # values and costs of the rows that are looked at together


class RowsInNodes(NamedTuple):
    """Some rows of a block that lie in nodes that are asked for."""

    values: Floats
    nodes: Ints
    labels: Indices
    weights: Weights


@dataclass(frozen=True, eq=False)
class BlockCosts:
    """Costs of rows under each cluster, as `make_problem` has them for rows in memory.

    An amount is what is added up: a row's costs under each cluster and the largest of them; or, where mistakes are
    counted, its mass at its label alone.
    """

    centers: Floats
    unit: float
    by_label: bool
    hidden: tuple[int, ...] = ()  # columns that count as zeros
    is_repeated: bool = False  # whether weights are whole numbers, which act as repeated rows
    exponent: int | None = None  # of the heaviest row, if weights are no such numbers

    @classmethod
    def of(cls, task: Task, objective: str, hidden: tuple[int, ...] = ()) -> BlockCosts:
        """Return the costs of a task's rows, with some columns hidden, of rows and of centres."""
        (low, high), centers = task.ranges, task.reference.centers.copy()
        for each in (low, high, centers.T):
            each[list(hidden)] = 0.0
        costs = cls(centers, unit_of(low, high, centers), objective == "mistakes", hidden)
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
        """Whether all scales are 1, as rows are only counted."""
        return self.by_label and not self.is_repeated and self.exponent is None

    def shares(self, part: RowsInNodes) -> tuple[Floats, Ints]:
        """Return the share and the times of each row, whose product is its weight; see `costs`."""
        share, times = np.ones(len(part.nodes)), np.ones(len(part.nodes), dtype=np.int64)
        if self.is_repeated:
            assert part.weights is not None
            times = part.weights.astype(np.int64)
        elif self.exponent is not None:
            assert part.weights is not None
            share = np.ldexp(part.weights, -self.exponent)
        return share, times

    def distances(self, values: Floats) -> Floats:
        """Return the squared distances to all centres, shape (n, k)."""
        costs = np.empty((len(values), len(self.centers)))
        squared_distances(values, np.ascontiguousarray(self.centers.T), self.unit, costs)
        return costs

    def largest(self, part: RowsInNodes) -> Floats:
        """Return the largest weighted cost of each row, which the scale of a node is made of."""
        share, times = self.shares(part)
        return share * times if self.by_label else self.distances(part.values).max(axis=1) * share * times

    def mass(self, part: RowsInNodes, scales: Floats) -> Ints:
        """Return what a mistake at each row costs; an empty array where it is 1."""
        if self.is_counted:
            return np.empty(0, dtype=np.int64)
        share, times = self.shares(part)
        return np.rint(share * scales[part.nodes]).astype(np.int64) * times

    def amounts(self, part: RowsInNodes, scales: Floats) -> Ints:
        """Return the amounts of the rows, shape (n, n_amounts), as whole numbers by the scales of their nodes."""
        if self.by_label:
            amounts = np.zeros((len(part.nodes), self.n_amounts), dtype=np.int64)
            mass = self.mass(part, scales)
            amounts[np.arange(len(part.nodes)), part.labels] = mass if mass.size else 1
            return amounts
        amounts = np.empty((len(part.nodes), self.n_amounts), dtype=np.int64)
        whole_by_node(self.distances(part.values), *self.shares(part), scales, part.nodes, amounts)
        return amounts

    def under(self, sums: Ints) -> Ints:
        """Return the cost under each cluster of rows whose amounts have these sums, shape (..., k)."""
        return sums.sum(axis=-1, keepdims=True) - sums if self.by_label else sums[..., :-1]

    def scale_of_sums(self, sums: Ints, scale: float, n_rows: float) -> float:
        """Return the scale of some rows of a node, by the sums of their amounts at its scale; 0 if that is not sure.

        `n_rows` is the number of the rows with repetitions, or more. The largest cost of each of them was rounded.
        """
        if self.is_counted:
            return 1.0
        largest = float(sums.sum() if self.by_label else sums[-1])
        low, high = scale_for((largest - n_rows) / scale, -1), scale_for((largest + n_rows) / scale, 1)
        return low if low == high and largest > n_rows else 0.0


def parts_of(block: Block, paths: Paths, costs: BlockCosts) -> Iterator[RowsInNodes]:
    """Yield the kept rows of a block that lie in the nodes that paths lead to, not too many at once."""
    values, labels, weights = block
    step = max(AT_ONCE // (values.shape[1] + costs.n_amounts), 1)
    if costs.hidden:
        values = values.copy()
        values[:, list(costs.hidden)] = 0.0
    for start in range(0, len(labels), step):
        some = slice(start, start + step)
        nodes = paths.places(values[some])
        inside = (nodes >= 0) & (labels[some] >= 0)
        if weights is not None:
            inside &= weights[some] > 0
        if inside.all():
            yield RowsInNodes(values[some], nodes, labels[some], None if weights is None else weights[some])
        elif inside.any():
            rows = np.flatnonzero(inside)
            yield RowsInNodes(
                values[some][rows], nodes[rows], labels[some][rows], None if weights is None else weights[some][rows]
            )


def taken(part: RowsInNodes, rows: Indices) -> RowsInNodes:
    """Return some of the rows."""
    weights = None if part.weights is None else part.weights[rows]
    return RowsInNodes(part.values[rows], part.nodes[rows], part.labels[rows], weights)


class Scales:
    """A summary of what the scale of each node is made of, and of how many rows it has; and a sample of all rows."""

    def __init__(self, costs: BlockCosts, paths: Paths, n_nodes: int, sampled: int) -> None:
        self.costs, self.paths, self.sampled = costs, paths, sampled
        self.largest = [ExactSum() for _ in range(n_nodes)]
        self.counts = np.zeros(n_nodes, dtype=np.int64)
        self.sample, self.keys = np.empty((0, len(costs.centers[0]))), np.empty(0)
        self.random = np.random.default_rng(0)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        for part in parts_of(block, self.paths, self.costs):
            self.counts += np.bincount(part.nodes, minlength=len(self.counts))
            if self.sampled:
                self._keep(part.values, self.random.random(len(part.nodes)))
            if not self.costs.is_counted:
                largest = self.costs.largest(part)
                for node in np.unique(part.nodes).tolist():
                    self.largest[node].add(largest[part.nodes == node])

    def merge(self, other: Scales) -> None:
        """Add another summary."""
        self.counts += other.counts
        self._keep(other.sample, other.keys)
        for mine, theirs in zip(self.largest, other.largest, strict=True):
            mine.merge(theirs)

    def _keep(self, rows: Floats, keys: Floats) -> None:
        """Keep the rows with the least keys, which are random. What is sampled decides no cut, only where to look."""
        if len(self.keys) == self.sampled:
            few = keys < self.keys.max(initial=0.0)
            rows, keys = rows[few], keys[few]
        self.sample, self.keys = np.concatenate([self.sample, rows]), np.concatenate([self.keys, keys])
        if len(self.keys) > self.sampled:
            least = np.argpartition(self.keys, self.sampled)[: self.sampled]
            self.sample, self.keys = self.sample[least], self.keys[least]

    def scales(self) -> list[float]:
        """Return the scale of each node."""
        if self.costs.is_counted:
            return [1.0] * len(self.largest)
        return [scale_for(each.value) for each in self.largest]
