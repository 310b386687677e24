"""What the rows of a block cost under each cluster, in the whole numbers of `_costs`, for trees grown by passes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints, Weights
from boxwood._validation import WholeWeights
from boxwood.grow._costs import REPEATS, scale_for, unit_of
from boxwood.grow._levels import Paths
from boxwood.loops.expand import squared_distances
from boxwood.loops.in_bins import whole_by_node
from boxwood.passes import Block, TableTask
from boxwood.passes._exact import ExactSum

__all__ = ["BlockCosts", "Part", "Scales", "parts_of", "taken", "whole_weights_of"]

AT_ONCE = 1 << 20  # values and costs of the rows that are looked at together


class Part(NamedTuple):
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
    def of(cls, task: TableTask, objective: str, hidden: tuple[int, ...] = ()) -> BlockCosts:
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

    def shares(self, part: Part) -> tuple[Floats, Ints]:
        """Return the share and the times of each row, whose product is its weight; see `_costs`."""
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

    def largest(self, part: Part) -> Floats:
        """Return the largest weighted cost of each row, which the scale of a node is made of."""
        share, times = self.shares(part)
        return share * times if self.by_label else self.distances(part.values).max(axis=1) * share * times

    def mass(self, part: Part, scales: Floats) -> Ints:
        """Return what a mistake at each row costs; an empty array where it is 1."""
        if self.is_counted:
            return np.empty(0, dtype=np.int64)
        share, times = self.shares(part)
        return np.rint(share * scales[part.nodes]).astype(np.int64) * times

    def amounts(self, part: Part, scales: Floats) -> Ints:
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


def parts_of(block: Block, paths: Paths, costs: BlockCosts) -> Iterator[Part]:
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
            yield Part(values[some], nodes, labels[some], None if weights is None else weights[some])
        elif inside.any():
            rows = np.flatnonzero(inside)
            yield Part(
                values[some][rows], nodes[rows], labels[some][rows], None if weights is None else weights[some][rows]
            )


def taken(part: Part, rows: Indices) -> Part:
    """Return some of the rows."""
    weights = None if part.weights is None else part.weights[rows]
    return Part(part.values[rows], part.nodes[rows], part.labels[rows], weights)


def whole_weights_of(task: TableTask) -> WholeWeights | None:
    """Return how the weights of a task's rows become whole numbers; None where every row weighs 1."""
    if task.batches.weight is None:
        return None
    heaviest = task.overview.heaviest
    return WholeWeights.scaling(heaviest, math.ldexp(task.overview.total_weight(), -math.frexp(heaviest)[1]))


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
