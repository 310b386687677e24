"""Costs of rows under each cluster, as whole numbers, and the rows sorted by each column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import BLOCK_ROWS, jobs_for, map_blocks, map_tasks
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import Rows, refuse_unknown
from boxwood.errors import DataError
from boxwood.kernels import Kernel, Precomputed, kernel_distances
from boxwood.loops.costs import write_whole
from boxwood.loops.expand import squared_distance, squared_distances
from boxwood.loops.order import mark_ties, partition_by_leaf, partition_order, set_sides
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, between
from boxwood.tree.tree import refuse_no_tree

Costs: TypeAlias = Callable[[Indices], Floats]
"""Return the costs of some rows under each cluster, shape (len(rows), k); not negative, and without weights."""

CostsUnder: TypeAlias = Callable[[Indices, NDArray[np.integer]], Floats]
"""Return the cost of each row under one cluster of its own, shape (len(rows),); the same numbers as `Costs`."""

LOSSES = ("cost", "mistakes")
_BLOCK_VALUES = 1 << 21  # most costs in memory at a time, where only the largest of each row is needed
SUM_ERROR = 1e-6  # upper bound on the relative error of a plain sum of numbers that are not negative
REPEATS = float(1 << 31)  # whole weights with a sum below this count as repeated rows


class CutProblem(NamedTuple):
    """Rows, which of them are kept, and the cost of a row under each cluster."""

    rows: Rows
    kept: Bools
    costs: Costs
    cost_under: CostsUnder
    share: Floats  # the weight of a row is share * times; for all rows one of the two is 1
    times: Ints
    n_clusters: int
    n_jobs: int | None
    columns: tuple[int, ...]  # that cuts may test
    centers: Floats | None = None  # if costs are squared distances to them; see `distance_unit`
    unit: float = 1.0

    def jobs_for(self, rows: Indices) -> int | None:
        """Return the number of threads for work on some rows; one thread is faster for few values."""
        return jobs_for(len(rows) * self.rows.n_columns, self.n_jobs)


def make_problem(task: Task, loss: str, kernel: Kernel | None = None) -> CutProblem:
    """Return the costs of a task's rows under each cluster; a kernel measures distances in its feature space."""
    refuse_unknown("objective", loss, LOSSES)
    share, times = _split_weights(task.rows.weights, task.kept)
    centers = unit = None
    if loss == "mistakes":
        costs, cost_under = _mistake_costs(task)
    elif kernel is not None:
        costs, cost_under = _kernel_costs(task, kernel)
    else:
        centers, unit = task.reference.centers, distance_unit(task)
        costs, cost_under = _distances(task.rows.values, centers, unit)
    k = task.reference.n_clusters
    columns = task.budget.allowed(task.n_columns)
    return CutProblem(
        task.rows, task.kept, costs, cost_under, share, times, k, task.n_jobs, columns, centers, unit or 1.0
    )


def with_centers(problem: CutProblem, centers: Floats, unit: float) -> CutProblem:
    """Return a problem of distances with other centres, shape (k, d); see `distance_unit` for the unit."""
    costs, cost_under = _distances(problem.rows.values, centers, unit)
    return problem._replace(costs=costs, cost_under=cost_under, centers=centers, unit=unit)


def refuse_misfit(tree: ThresholdTree, task: Task) -> None:
    """Raise a DataError if the tree tests columns that the rows lack, or has clusters that the reference lacks."""
    refuse_no_tree(tree)
    n_clusters, n_columns = task.reference.centers.shape
    if tree.n_features > n_columns:
        raise DataError(f"the tree tests column {tree.n_features - 1}, but X has {n_columns} columns")
    if tree.leaf_clusters.max() >= n_clusters:
        raise DataError(f"the tree has cluster {tree.leaf_clusters.max()}, but the reference has {n_clusters}")


def integer_costs(problem: CutProblem, rows: Indices) -> tuple[Ints, float]:
    """Return the weighted costs of the rows as whole numbers, shape (len(rows), k), and their scale.

    Sums of whole numbers are exact in any order; sums of floats are not. The scale is a power of two: the factor that
    brings the sum of the rows' largest costs just below 2**61, so no sum and no difference of sums leaves int64. The
    scale does not depend on the order of rows either: where a plain sum is not precise enough, `fsum` is used.
    """
    share, times = problem.share[rows], problem.times[rows]
    whole = np.empty((len(rows), problem.n_clusters), dtype=np.int64)
    at_once = problem.costs(rows) if len(rows) <= BLOCK_ROWS else None  # costs of more rows are computed twice
    scale = scale_of(largest_costs(problem, rows) if at_once is None else at_once.max(axis=1) * share * times)

    def fill(start: int, stop: int) -> None:
        costs = problem.costs(rows[start:stop]) if at_once is None else at_once[start:stop]
        write_whole(costs, share[start:stop], times[start:stop], scale, whole[start:stop])

    map_blocks(fill, len(rows), n_jobs=problem.jobs_for(rows))
    return whole, scale


def largest_costs(problem: CutProblem, rows: Indices) -> Floats:
    """Return the largest weighted cost of each row, shape (len(rows),)."""

    def largest(start: int, stop: int) -> Floats:
        return np.asarray(problem.costs(rows[start:stop]).max(axis=1))

    block = max(_BLOCK_VALUES // problem.n_clusters, 1)
    blocks = map_blocks(largest, len(rows), block=block, n_jobs=problem.jobs_for(rows))
    return np.concatenate([np.empty(0), *blocks]) * problem.share[rows] * problem.times[rows]


def scale_of(largest: Floats) -> float:
    """Return the scale of `integer_costs` for the largest costs of some rows."""
    total = float(largest.sum())
    scale = scale_for(total, -1)
    return scale if scale == scale_for(total, 1) else scale_for(math.fsum(largest.tolist()))


def scale_for(total: float, side: int = 0) -> float:
    """Return the scale of `integer_costs` for the exact sum of the rows' largest costs.

    For a plain sum, sides -1 and 1 give the scales of the ends of its error interval; if both are equal, it is certain.
    """
    return math.ldexp(1.0, min(61 - math.frexp(total * (1 + side * SUM_ERROR))[1], 1023))


def integer_costs_of(problem: CutProblem, rows: Indices, clusters: Sequence[NDArray[np.integer]]) -> list[Ints]:
    """Return the rows' weighted costs as whole numbers: one array for each list of clusters, one cluster for each row.

    Like `integer_costs`, but only costs under the listed clusters are computed.
    """
    share, times = problem.share[rows], problem.times[rows]
    costs = [problem.cost_under(rows, each) * share for each in clusters]
    largest = np.max(costs, axis=0, initial=0.0) * times
    scale = scale_of(largest)
    return [np.rint(cost * scale).astype(np.int64) * times for cost in costs]


def _split_weights(weights: Floats | None, kept: Bools) -> tuple[Floats, Ints]:
    """Return share and times of each row. Whole weights become times, which multiply whole costs: repeated rows."""
    share, times = np.broadcast_to(1.0, kept.shape), np.broadcast_to(np.int64(1), kept.shape)
    if weights is None:
        return share, times
    counted = weights[kept]
    if (counted == np.floor(counted)).all() and counted.max(initial=0) < REPEATS and counted.sum() < REPEATS:
        return share, np.where(kept, weights, 0.0).astype(np.int64)
    exponent = int(np.frexp(counted.max())[1])
    return np.ldexp(weights, -exponent), times  # near 1, as tiny or huge weights times costs could leave the range


def distance_unit(task: Task) -> float:
    """Return the unit of `squared_distances`: a power of two near one over the largest half difference of values.

    Half differences are multiplied by it. A power of two changes no digit; it keeps squares of 1e300 finite and squares
    of 1e-300 above zero.
    """
    return unit_of(*task.ranges, task.reference.centers)


def unit_of(low: Floats, high: Floats, centers: Floats) -> float:
    """Return the unit of distances between rows in a range and centres; see `distance_unit`."""
    low, high = np.minimum(low, centers.min(axis=0)), np.maximum(high, centers.max(axis=0))
    spread = float((high * 0.5 - low * 0.5).max())
    return math.ldexp(1.0, min(-math.frexp(spread)[1], 1023))


def _distances(X: Array, centers: Floats, unit: float) -> tuple[Costs, CostsUnder]:
    """Return the squared distances to the centres, in the unit of `distance_unit`."""
    by_column, by_cluster = np.ascontiguousarray(centers.T), np.ascontiguousarray(centers)

    def costs(rows: Indices) -> Floats:
        block = np.ascontiguousarray(X[rows])
        out = np.empty((len(rows), len(centers)))
        squared_distances(block, by_column, unit, out)
        return out

    def cost_under(rows: Indices, clusters: NDArray[np.integer]) -> Floats:
        out = np.empty(len(rows))
        squared_distance(X, rows, by_cluster, clusters, unit, out)
        return out

    return costs, cost_under


def _kernel_costs(task: Task, kernel: Kernel) -> tuple[Costs, CostsUnder]:
    """Return the squared distances to the clusters' kernel means, computed once for all kept rows.

    If the kernel is not positive definite, some distances may be negative. Then all distances of such a row are raised
    by the same amount, which changes no comparison between clusters.
    """
    if isinstance(kernel, Precomputed):
        raise DataError("a tree tests columns, which a precomputed kernel does not know; pass rows and their kernel")
    X, weights, kept, reference = task.rows.values, task.rows.weights, task.kept, task.reference
    rows = np.flatnonzero(kept)
    distances = _distances_of_rows(
        kernel.fitted(task.rows),
        X[rows].astype(np.float64),
        reference.labels[rows],
        reference.n_clusters,
        np.ones(len(rows)) if weights is None else weights[rows],
        task.n_jobs,
    )
    present = np.bincount(reference.labels[rows], minlength=reference.n_clusters) > 0
    if not np.isfinite(distances[:, present]).all():
        raise DataError("the values of X are too large for the kernel; divide the columns by some unit")
    distances[:, present] -= np.minimum(distances[:, present].min(axis=1), 0.0)[:, None]
    worst = distances[:, present].max(axis=1)  # a cluster without rows has no mean; it costs more than all others
    distances[:, ~present] = np.where(worst > 0, 2 * worst, worst.max() or 1.0)[:, None]
    position = np.cumsum(kept) - 1  # of a row among the kept rows

    def costs(rows: Indices) -> Floats:
        return np.asarray(distances[position[rows]])

    def cost_under(rows: Indices, clusters: NDArray[np.integer]) -> Floats:
        return np.asarray(distances[position[rows], clusters])

    return costs, cost_under


def _distances_of_rows(
    kernel: Kernel, X: Floats, labels: Indices, n_clusters: int, weights: Floats, n_jobs: int | None
) -> Floats:
    """Return the squared distances to kernel means; the order of rows and repeated rows change no digit.

    Means are sums of floats, whose rounding depends on the order. So rows are sorted, and equal rows of one cluster are
    merged.
    """
    order = np.lexsort((weights, labels, *X.T[::-1]))
    X, labels, weights = X[order], labels[order], weights[order]
    is_new = np.ones(len(X), dtype=np.bool_)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (labels[1:] != labels[:-1])
    first = np.flatnonzero(is_new)
    scaled = np.ldexp(weights, min(0, 960 - int(np.frexp(weights.max())[1])))  # a sum of large weights may overflow
    with np.errstate(over="ignore", invalid="ignore"):
        distinct = kernel_distances(
            kernel, Rows(X[first], np.add.reduceat(scaled, first)), labels[first], n_clusters, n_jobs=n_jobs
        )
    distances = np.empty((len(X), n_clusters))
    distances[order] = distinct[np.cumsum(is_new) - 1]
    return distances


def _mistake_costs(task: Task) -> tuple[Costs, CostsUnder]:
    """Return costs of 0 for the cluster of the row's label, and of 1 for all others."""
    reference = task.reference
    clusters = np.arange(reference.n_clusters)

    def costs(rows: Indices) -> Floats:
        return np.asarray(reference.labels[rows, None] != clusters, dtype=np.float64)

    def cost_under(rows: Indices, under: NDArray[np.integer]) -> Floats:
        return np.asarray(reference.labels[rows] != under, dtype=np.float64)

    return costs, cost_under


T = TypeVar("T")
ONE_THREAD = 1 << 17  # entries up to which threads cost more than they save
AT_ONCE = 1 << 22  # entries in one call of a loop, which takes a fraction of a second


class PlacesOfNode(NamedTuple):
    """The places of a node, the same in every sorted column: from `start` to `stop - 1`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


class PartitionedOrder:
    """The kept rows of a task, sorted by each column and partitioned down a tree; see `loops.order`.

    A node has the same places in every column. A cut is given by its column and a place: rows before it go left.
    `begin_split` and `finish_split` move the rows; after that only the places of the two sides may be used.
    """

    budget: Any
    rows: Rows
    n_jobs: int | None

    def __init__(self, task: Task) -> None:
        self.rows, self.n_jobs, self.budget = task.rows, task.n_jobs, task.budget
        order = task.order
        small = 2 * len(self.rows) <= np.iinfo(np.int32).max
        self.entries: Array = np.empty(order.shape, dtype=np.int32 if small else np.int64)
        self.is_left: Bools = np.zeros(len(self.rows), dtype=np.bool_)

        def mark(feature: int) -> None:
            may_cut = feature not in self.budget.forbidden  # in a column of equal values there is no cut
            values = np.ascontiguousarray(self.rows.values[:, feature]) if may_cut else np.zeros(len(self.rows))
            mark_ties(values, order[feature], self.entries[feature])

        map_tasks(mark, range(len(order)), n_jobs=self.jobs_for(self.root))

    @property
    def root(self) -> PlacesOfNode:
        """The places of all rows."""
        return PlacesOfNode(0, len(self.entries[0]))

    def bins(self, n_bins: int) -> Array:
        """Return the bin of each value among so many of about equal size, shape (d, n_rows), before rows are moved."""
        n, codes = len(self.root), np.zeros((len(self.entries), len(self.rows)), dtype=np.uint16)
        of_places = np.arange(n) * n_bins // n
        for entries, of_rows in zip(self.entries, codes, strict=True):
            of_rows[entries >> 1] = of_places
        return codes

    def jobs_for(self, node: PlacesOfNode) -> int | None:
        """Return the number of threads for work on a node; one thread is faster for few entries."""
        return self.n_jobs if len(node) * len(self.entries) > ONE_THREAD else None

    def by_columns(
        self, work: Callable[[int, int], T], node: PlacesOfNode, *, steps: int = 1, most: int | None = None
    ) -> list[T]:
        """Return `work(first, last)` for consecutive ranges of columns, each done in a fraction of a second.

        `steps` is the time of the work in units of one walk along a column; `most` limits the columns of a range.
        """
        d, jobs = len(self.entries), self.jobs_for(node)
        most = min(most or d, d if jobs is None else (d + 7) // 8)
        most = max(1, min(AT_ONCE // (steps * max(len(node), 1)), most))
        return map_tasks(lambda first: work(first, min(first + most, d)), range(0, d, most), n_jobs=jobs)

    @contextmanager
    def least_on_sides(self, node: PlacesOfNode) -> Iterator[None]:
        """Rule out cuts of a node that leave fewer rows on a side than the budget allows.

        Within the context, the outermost rows of each column are marked as ties, so no cut is tried between them.
        """
        least = self.budget.min_samples_leaf
        if least == 1:
            yield
            return
        first = self.entries[:, node.start : min(node.start + least, node.stop)]
        last = self.entries[:, max(node.stop - least + 1, node.start) : node.stop]
        before = first.copy(), last.copy()
        first |= 1
        last |= 1
        try:
            yield
        finally:
            first[:], last[:] = before

    def rows_of(self, node: PlacesOfNode, feature: int = 0) -> Indices:
        """Return the rows of a node, in the order of a column."""
        return (self.entries[feature, node.start : node.stop] >> 1).astype(np.intp)

    def threshold(self, feature: int, place: int) -> float:
        """Return the midpoint of the values beside a place."""
        return float(between(self.value(feature, place - 1), self.value(feature, place)))

    def begin_split(self, node: PlacesOfNode, feature: int, place: int) -> tuple[PlacesOfNode, PlacesOfNode]:
        """Mark the rows of a node that go left, and return the places of both sides; `finish_split` moves the rows.

        In the column of the cut they are in place already.
        """
        set_sides(self.entries[feature], node.start, place, node.stop, self.is_left)
        return PlacesOfNode(node.start, place), PlacesOfNode(place, node.stop)

    def finish_split(self, node: PlacesOfNode) -> None:
        """Move the rows of a node to the places of their sides, in every column."""

        def move(first: int, last: int) -> None:
            partition_order(self.entries, first, last, node.start, node.stop, self.is_left)

        self.by_columns(move, node)

    def partition_by_leaf(self, leaves: Ints, n_leaves: int) -> list[PlacesOfNode]:
        """Move all rows from the root to the places of the leaves of a tree; return these places.

        `leaves` is the leaf of each row of the task, shape (n_rows,). Takes one walk along each column, at any depth of
        the tree.
        """
        sizes = np.bincount(leaves[self.rows_of(self.root)], minlength=n_leaves)
        leaves = leaves.astype(np.min_scalar_type(n_leaves))  # they are read in the order of each column: far apart
        ends = np.cumsum(sizes)
        starts = ends - sizes

        def move(first: int, last: int) -> None:
            partition_by_leaf(self.entries, first, last, leaves, starts)

        self.by_columns(move, self.root, steps=2)
        return [PlacesOfNode(*span) for span in zip(starts.tolist(), ends.tolist(), strict=True)]

    def value(self, feature: int, place: int) -> float:
        """Return the value of a column at a place."""
        return float(self.rows.values[self.entries[feature, place] >> 1, feature])

    def values(self, feature: int, places: Indices) -> Floats:
        """Return the values of a column at some places; places beyond an end give the value at that end."""
        column = self.entries[feature]
        return self.rows.column(feature, column[np.clip(places, 0, len(column) - 1)] >> 1)
