"""What passes over a table tell of a clustering and of trees: what leaves hold, means of groups, and costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.batches import Batches, Block
from boxwood.batches.batches import Together
from boxwood.batches.overview import ExactSum
from boxwood.batches.ranks import medians_in
from boxwood.batches.sums import Means, Ranges, RowSums, SquareSums, add_smallest_first
from boxwood.batches.tree_sums import (
    LARGEST_ERROR,
    AboutMeans,
    CellSums,
    TreeSums,
    cells_of,
    empty_squares,
    leaves_of_block,
)
from boxwood.errors import DataError
from boxwood.grow.centers.random_cuts import score_trees
from boxwood.grow.shared.names import without_leaves
from boxwood.loops.costs import nearest
from boxwood.reference import Task
from boxwood.reference.reference_batches import ranges_of_batches
from boxwood.tree import ThresholdTree, TreeBuilder

MOST_CELL_VALUES = 1 << 14  # columns and clusters of all cells together, whose sums stay in a near cache
EQUAL = 1 + 1e-12  # distances of this ratio are equal, but for rounding


class _TreeSquares(SquareSums):
    """Squared differences of rows to the means of the rows that a tree gives to their cluster."""

    def __init__(self, tree: ThresholdTree, ranges: Ranges, means: Means) -> None:
        super().__init__(ranges, means)
        self.tree = tree

    def update(self, block: Any) -> None:
        values, labels, weights = block
        groups = self.tree.leaf_clusters[leaves_of_block(self.tree, values)]
        super().update((values, np.where(labels >= 0, groups, -1), weights))


class _NearestWeights:
    """The weight of the rows that lie nearest to the mean of their own cluster, and of all."""

    def __init__(self, means: Floats) -> None:
        self.present = np.flatnonzero(np.isfinite(means[:, 0]))
        self.origin = means[self.present].mean(axis=0)
        self.unit = np.abs(means[self.present] - self.origin).max() or 1.0  # keeps squares of huge numbers finite
        self.means = (means[self.present] - self.origin) / self.unit
        self.place = np.full(len(means), -1)
        self.place[self.present] = np.arange(len(self.present))
        self.own, self.all = ExactSum(), ExactSum()

    def update(self, block: Block) -> None:
        values, labels, weights = block
        kept = np.flatnonzero(block.kept)
        rows, own = (values[kept] - self.origin) / self.unit, self.place[labels[kept]]
        found, least = np.empty(len(kept), dtype=np.intp), np.empty(len(kept))
        nearest(rows, np.ascontiguousarray(self.means.T), True, found, least)
        is_own = found == own
        others = np.flatnonzero(~is_own)
        is_own[others] = np.linalg.norm(rows[others] - self.means[own[others]], axis=1) <= least[others] * EQUAL
        self.own.add(weights[kept[is_own]] if weights is not None else [float(is_own.sum())])
        self.all.add(weights[kept] if weights is not None else [float(len(kept))])

    @property
    def share(self) -> float:
        """Share of the weight of the rows that lie nearest."""
        return float(self.own.value / self.all.value)

    def merge(self, other: _NearestWeights) -> None:
        self.own.merge(other.own)
        self.all.merge(other.all)


class BatchStatistics:
    """What passes tell of a clustering and of trees.

    Parameters
    ----------
    task : Task
        Rows and their clusters.
    scale : array of shape (d,), default=None
        Units of the columns in which costs are measured; None is 1.
    objective : {"sqeuclidean", "l1"}, default="sqeuclidean"
        Distance of rows to the centre of their group that costs add up.
    """

    scale: Floats | None
    task: Task
    k: int

    def __init__(self, task: Task, scale: Floats | None = None, objective: str = "sqeuclidean") -> None:
        if objective not in ("sqeuclidean", "l1"):
            raise DataError(f"costs by {objective} distances need all rows in memory")
        self.scale, self.objective = scale, objective
        self.task, self.k = task, task.reference.n_clusters
        self.weighted: bool = task.is_weighted
        known = task.reference.measured
        is_known = known is not None and known.is_of(task.batches)
        self._means: Means | None = known.means if known is not None and is_known else None
        self._squares: SquareSums | None = None

    @cached_property
    def ranges(self) -> Ranges:
        """Ranges of the clusters."""
        return ranges_of_batches(self.task.batches, self.task.overview)

    @property
    def means(self) -> Means:
        """Weights and means of the clusters; takes a pass unless they are known."""
        if self._means is None:
            self.of_trees(())
        assert self._means is not None
        return self._means

    @property
    def squares(self) -> SquareSums:
        """Squared differences of the rows to the means of their clusters; takes a pass unless they are known."""
        if self._squares is None:
            self._look(())
        if self._squares is None:  # centres are far from the means, which are known now
            self._look(())
        assert self._squares is not None
        return self._squares

    def under(self, objective: str) -> BatchStatistics:
        """Return what is known, with costs that add up another distance."""
        if objective == self.objective:
            return self
        other = BatchStatistics(self.task, self.scale, objective)
        other._means, other._squares = self._means, self._squares
        return other

    def with_leaves(self, max_leaf_nodes: int | None) -> BatchStatistics:
        """Return what is known, for trees of another number of leaves."""
        other = copy(self)
        other.task = self.task.with_leaves(max_leaf_nodes)
        return other

    @cached_property
    def cost_of_clusters(self) -> float:
        """Within-cluster cost of the clusters."""
        return (
            self._cost(self.squares)
            if self.objective == "sqeuclidean"
            else least_distances(self.task, None, self.scale)
        )

    def of_trees(self, trees: Sequence[ThresholdTree]) -> list[TreeSums]:
        """Return what the leaves of trees hold, from one pass; it also finds means and squares of the clusters."""
        near = self.task.reference.centers if self._means is None else self._means.mean
        cells = cells_of(trees, MOST_CELL_VALUES // (self.task.n_columns + self.k))
        found = self._look([partial(CellSums, each, self.ranges, near, self.weighted) for each in cells])
        return [sums for each in found for sums in each.of_trees()]

    def beside(self, make: Callable[[], Any]) -> Any:
        """Return a summary of all rows; its pass also finds what it can of the clusters, and the share of near rows."""
        if self._means is None:  # to which rows are near
            return self._look([make])[0]
        found, near = self._look([make, partial(_NearestWeights, self._means.mean)])
        self.share_nearest = near.share
        return found

    def costs_of(self, sums: Sequence[TreeSums]) -> list[float]:
        """Return the within-cluster costs of trees by what their leaves hold; seldom takes a pass.

        It does where centres are so far from the means of rows that too few digits of squares about them are left, and
        for distances to medians.
        """
        if self.objective != "sqeuclidean":
            return [self.cost_of_groups(one.tree) for one in sums]
        costs = {i: self._known_cost(one) for i, one in enumerate(sums)}
        far = [i for i, cost in costs.items() if cost is None]
        if far:
            found = self._look([partial(_TreeSquares, sums[i].tree, *sums[i].by_cluster()) for i in far])
            costs |= {i: self._cost(part) for i, part in zip(far, found, strict=True)}
        return [cost for cost in costs.values() if cost is not None]

    def cost_of_groups(self, tree: ThresholdTree) -> float:
        """Return the sum of distances of the rows to the medians of a tree's groups, from some passes."""
        return least_distances(self.task, tree, self.scale)

    def cost_inside_leaves(self, sums: TreeSums) -> float:
        """Return the sum of squared distances of the rows to the means of their leaves, from a pass."""
        own = sums.tree.relabeled(np.arange(sums.tree.n_leaves))
        return self._cost(self._look([partial(_TreeSquares, own, *sums.by_leaf())])[0])

    def _known_cost(self, sums: TreeSums) -> float | None:
        if sums.has_no_mistakes:
            return self.cost_of_clusters  # to the last bit
        with np.errstate(over="ignore", invalid="ignore"):
            cost, error = sums.costs(1.0 if self.scale is None else self.scale)
        return cost if error <= LARGEST_ERROR * cost < math.inf else None

    def _look(self, makes: Sequence[Callable[[], Any]]) -> list[Any]:
        """Return summaries of one pass, which also finds what is not yet known of the clusters.

        If means are not known, squares are added up about the centres.
        """
        own: list[Callable[[], Any]] = [] if self._means is not None else [partial(RowSums, self.ranges)]
        if self._squares is None:
            about = partial(empty_squares, self.task.reference.centers, self.ranges)
            own.append(about if self._means is None else partial(SquareSums, self.ranges, self._means))
        parts = self.task.batches.fold(partial(Together, [*makes, *own])).parts
        if self._means is None:
            squares, self._means = parts.pop(), parts.pop().means()
            found = AboutMeans.of(squares, self._means, self.ranges.least == self.ranges.most)
            self._squares = found.sums if found.is_exact else None
        elif self._squares is None:
            self._squares = parts.pop()
        return parts

    def _cost(self, squares: SquareSums) -> float:
        with np.errstate(over="ignore"):
            found = squares.squares()
            cost = float((found if self.scale is None else found / self.scale / self.scale).sum())
        if not math.isfinite(cost):
            raise DataError("the cost is beyond the largest float; divide the columns of the table by a power of ten")
        return cost

    @cached_property
    def share_nearest(self) -> float:
        """Share of the rows that lie nearest to the mean of their own cluster."""
        share: float = self._look([partial(_NearestWeights, self.means.mean)])[0].share
        return share

    @cached_property
    def spreads(self) -> Spreads:
        """Means and variances of the columns, in all rows and in clusters."""
        return Spreads.of(self.ranges, self.means, self.squares)


class Spreads(NamedTuple):
    """Means and variances of the columns in units of their own, powers of two that keep squares in range.

    Parameters
    ----------
    exponents : array of shape (d,)
        Exponents of the units.
    away, inside : arrays of shape (k, d)
        Mean of each cluster less the origin, and the sum of its squared differences to the mean; 0 without rows.
    origin : array of shape (d,)
        A mean of some cluster.
    mean, between, variance : arrays of shape (d,)
        Mean of all rows less the origin, and their variance, with its part between clusters; 0 for a column of one
        value.
    """

    exponents: Indices
    away: Floats
    inside: Floats
    origin: Floats
    mean: Floats
    between: Floats
    variance: Floats

    @classmethod
    def of(cls, ranges: Ranges, means: Means, squares: SquareSums) -> Spreads:
        """Return the spreads of clusters."""
        least, most = ranges.least.min(axis=0), ranges.most.max(axis=0)
        exponents = np.frexp(np.maximum(most * 0.5 - least * 0.5, np.abs(most) * 2.0**-60))[1] + 1
        present = means.weights > 0
        first = int(np.argmax(present))
        base = np.where(present[:, None], means.mean, means.mean[first])
        origin = np.ldexp(base[first], -exponents)
        away = np.ldexp(base, -exponents) - origin + np.ldexp(np.nan_to_num(means.rest), -exponents)
        inside = np.ldexp(
            add_smallest_first(squares.sums), 2 * (squares.exponents - exponents) + squares.grid.weight_exponent
        )
        share, total = means.weights / means.weights.sum(), means.weights.sum()
        mean = (share[:, None] * away).sum(axis=0)
        between = (share[:, None] * np.square(away - mean)).sum(axis=0)
        varies = least < most
        between = np.where(varies, between, 0.0)
        variance = np.where(varies, between + inside.sum(axis=0) / total, 0.0)
        return cls(exponents, away, inside, origin, mean, between, variance)

    def deviation(self, column: int) -> float:
        """Return the standard deviation of a column; 0 for a column of one value."""
        return float(np.ldexp(np.sqrt(self.variance[column]), self.exponents[column]))


def named_by_rows(sums: TreeSums, centers: Floats, by_cost: bool) -> ThresholdTree:
    """Return the tree with honest names and without empty leaves, as `grow.shared.names.name_leaves` does in memory.

    A leaf with rows but none of its own cluster gets the cluster of most of its weight, or with `by_cost` the one of
    which it holds rows and that costs its rows least: the one whose centre is nearest to their mean.
    """
    tree, rows, held = sums.tree, sums.rows, sums.held
    clusters, n_leaves = tree.leaf_clusters.copy(), tree.n_leaves
    wrong = rows.any(axis=1) & (rows[np.arange(n_leaves), clusters] == 0)
    for leaf in np.flatnonzero(wrong).tolist():
        worth = held[leaf].astype(np.float64)
        if by_cost:
            unit = math.ldexp(1.0, -int(sums.sums.exponents.max()))  # keeps squares finite
            worth = -np.square((sums.means().mean[leaf] - centers) * unit).sum(axis=1)
        clusters[leaf] = np.where(rows[leaf] > 0, worth, -np.inf).argmax()
    return without_leaves(tree.relabeled(clusters), rows.sum(axis=1) == 0)


def with_enough_rows(facts: BatchStatistics, measured: Sequence[TreeSums]) -> list[TreeSums]:
    """Return the sums of trees without leaves that hold too few rows, as `within` makes them.

    The leaf with the fewest rows is taken away while it has too few, the first of equals; each time takes a pass for
    all trees together. Names that were honest stay so, as leaves only win rows.
    """
    found, fewest = list(measured), facts.task.budget.min_samples_leaf
    while changed := {i: tree for i, sums in enumerate(found) if (tree := _without_least(sums, fewest)) != sums.tree}:
        for i, sums in zip(changed, facts.of_trees(list(changed.values())), strict=True):
            found[i] = sums
    return found


def _without_least(sums: TreeSums, fewest: int) -> ThresholdTree:
    """Return the tree without its smallest leaf if that has too few rows, and is not the only one."""
    rows = sums.rows.sum(axis=1)
    if rows.min() >= fewest or sums.tree.n_leaves == 1:
        return sums.tree
    return without_leaves(sums.tree, np.arange(len(rows)) == rows.argmin())


def refuse_all_rows(what: str, table: str) -> NoReturn:
    """Raise a DataError for what needs all rows in memory."""
    raise DataError(
        f"{what} needs all rows in memory, but {table} is read in batches; read a sample of its rows into a "
        "frame and explain that, or pass the frame and its labels to measure"
    )


def least_distances(task: Task, tree: ThresholdTree | None = None, scale: Floats | None = None) -> float:
    """Return the sum of the ℓ1 distances of rows to the medians of their groups, from four or five passes.

    IN: tree: makes the groups, on the task's columns; None takes the clusters. scale (d,): units of the columns.
    """
    groups = _GroupBatches(**vars(task.batches), tree=tree, scale=scale)
    reference = task.reference if tree is None and scale is None else replace(task.reference, measured=None)
    grouped = Task(groups, reference, n_jobs=task.n_jobs)
    medians = medians_in(groups, grouped.overview)
    no_cut = TreeBuilder()
    no_cut.label(0, 0)
    return score_trees(grouped, np.nan_to_num(medians), [no_cut.build()], objective="l1").cost


@dataclass(frozen=True, eq=False)
class _GroupBatches(Batches):
    """The same rows in the groups of a tree in place of their clusters, and in other units."""

    tree: ThresholdTree | None = None
    scale: Floats | None = None

    def fold(self, make: Callable[[], Any], columns: Sequence[int] | None = None, *, numbered: bool = False) -> Any:
        assert columns is None  # a tree may test any
        assert not numbered
        return super().fold(partial(_Regrouped, make, self.tree, self.scale)).summary


class _Regrouped:
    """A summary of the rows in their groups."""

    def __init__(self, make: Callable[[], Any], tree: ThresholdTree | None, scale: Floats | None) -> None:
        self.summary, self.tree, self.scale = make(), tree, scale

    def update(self, block: Block) -> None:
        values, labels, weights = block
        if self.tree is not None:
            labels = np.where(labels >= 0, self.tree.leaf_clusters[leaves_of_block(self.tree, values)], -1)
        self.summary.update(Block(values if self.scale is None else values / self.scale, labels, weights))

    def merge(self, other: _Regrouped) -> None:
        self.summary.merge(other.summary)
