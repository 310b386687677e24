"""`TableFacts`: what passes tell of a clustering and of trees: what leaves hold, means of groups, and costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from boxwood._types import Bools, Floats
from boxwood.errors import DataError
from boxwood.grow._names import without_leaves
from boxwood.loops.nearest import nearest
from boxwood.passes import Block, TableTask
from boxwood.passes._exact import ExactSum
from boxwood.passes._group_sums import GroupSquares, GroupSums, Means, Scales
from boxwood.passes._label_column import ClusterSums
from boxwood.passes._together import Together
from boxwood.passes._tree_sums import TreeSums, leaves_in
from boxwood.tree import ThresholdTree

__all__ = ["TableFacts", "named_by_rows"]

EQUAL = 1 + 1e-12  # distances of this ratio are equal, but for rounding


class _ClusterSquares(GroupSquares):
    """Squared distances of rows to the means of their clusters."""

    def update(self, block: Block) -> None:
        values, labels, weights = block
        self.add(values, labels if weights is None else np.where(weights > 0, labels, -1), weights)


class _TreeSquares(GroupSquares):
    """Squared distances of rows to the means of the rows in the leaves of a cluster."""

    def __init__(self, tree: ThresholdTree, means: Means, scales: Scales) -> None:
        super().__init__(means, scales)
        self.tree = tree

    def update(self, block: Block) -> None:
        values, labels, weights = block
        groups = self.tree.leaf_clusters[leaves_in(self.tree, values)]
        kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
        self.add(values, np.where(kept, groups, -1), weights)


class _Nearest:
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
        kept = np.flatnonzero(labels >= 0 if weights is None else (labels >= 0) & (weights > 0))
        rows, own = (values[kept] - self.origin) / self.unit, self.place[labels[kept]]
        found, least = np.empty(len(kept), dtype=np.intp), np.empty(len(kept))
        nearest(rows, np.ascontiguousarray(self.means.T), True, found, least)
        is_own = found == own
        others = np.flatnonzero(~is_own)
        is_own[others] = np.square(rows[others] - self.means[own[others]]).sum(axis=1) <= least[others] * EQUAL
        self.own.add(weights[kept[is_own]] if weights is not None else [float(is_own.sum())])
        self.all.add(weights[kept] if weights is not None else [float(len(kept))])

    def merge(self, other: _Nearest) -> None:
        self.own.merge(other.own)
        self.all.merge(other.all)


class TableFacts:
    """What passes tell of a clustering and of trees.

    Parameters
    ----------
    task : TableTask
        Rows and their clusters.
    """

    def __init__(self, task: TableTask) -> None:
        self.task, self.k = task, task.reference.n_clusters
        self.weighted = task.batches.weight is not None
        self._sums: GroupSums | None = None
        self._squares: GroupSquares | None = None

    @cached_property
    def scales(self) -> Scales:
        """Scales of the table."""
        return Scales.of(self.task.overview)

    @property
    def clusters(self) -> GroupSums:
        """Sums over the rows of each cluster."""
        if self._sums is None:
            self.of_trees(())
        assert self._sums is not None
        return self._sums

    @property
    def squares(self) -> GroupSquares:
        """Squared distances of the rows to the means of their clusters."""
        if self._squares is None:
            self.costs_of(())
        assert self._squares is not None
        return self._squares

    @property
    def cost_of_clusters(self) -> float:
        """Within-cluster cost of the clusters."""
        return _finite(self.squares.cost(self.weighted))

    def of_trees(self, trees: Sequence[ThresholdTree]) -> list[TreeSums]:
        """Return what the leaves of trees hold, from one pass; it also finds the means of the clusters."""
        makes = [partial(TreeSums, tree, self.k, self.scales, self.weighted) for tree in trees]
        own = [partial(ClusterSums, self.scales.clusters, self.scales)] if self._sums is None else []
        parts = self.task.batches.fold(partial(Together, [*makes, *own])).parts
        if own:
            self._sums = parts.pop()
        return parts

    def costs_of(self, sums: Sequence[TreeSums]) -> list[float]:
        """Return the within-cluster costs of trees, from one pass, by what their leaves hold."""
        makes = []
        for one in sums:
            means = one.sums.joined(one.tree.leaf_clusters, self.k).means
            makes.append(partial(_TreeSquares, one.tree, means, self.scales))
        own = [partial(_ClusterSquares, self.clusters.means, self.scales)] if self._squares is None else []
        parts = self.task.batches.fold(partial(Together, [*makes, *own])).parts
        if own:
            self._squares = parts.pop()
        return [_finite(part.cost(self.weighted)) for part in parts]

    @cached_property
    def share_nearest(self) -> float:
        """Share of the rows that lie nearest to the mean of their own cluster."""
        makes: list[Callable[[], Any]] = [partial(_Nearest, self.clusters.means.base)]
        if self._squares is None:
            makes.append(partial(_ClusterSquares, self.clusters.means, self.scales))
        parts = self.task.batches.fold(partial(Together, makes)).parts
        if self._squares is None:
            self._squares = parts.pop()
        return parts[0].own.value / parts[0].all.value  # type: ignore[no-any-return]

    def deviation(self, column: int) -> float:
        """Return the standard deviation of a column among all kept rows; 0 for a column of one value."""
        variance, _, unit = self.spread(column)
        return float(np.sqrt(variance)) * unit

    def spread(self, column: int) -> tuple[float, float, float]:
        """Return the variance of a column among all kept rows, its part between clusters, and the unit of both.

        Both are multiples of the unit's square, so that they do not leave the range of floats.
        """
        if self.is_constant(column):
            return 0.0, 0.0, 1.0
        sizes, means = self.sizes, self.clusters.means
        unit = float(np.ldexp(1.0, int(self.scales.spans[column])))
        present: Bools = sizes > 0
        base, share = means.base[present, column] / unit, sizes[present] / sizes.sum()
        away = base - base[0] + means.rest[present, column] / unit
        mean = float((share * away).sum())
        between = float((share * np.square(away - mean)).sum())
        inside = float(self.squares.within()[:, column].sum()) * self._weight_unit / sizes.sum()
        return inside + between, between, unit

    def is_constant(self, column: int) -> bool:
        """Return whether all kept rows have one value."""
        least, most = self.task.ranges
        return bool(least[column] == most[column])

    @cached_property
    def sizes(self) -> Floats:
        """Number, or weight, of the rows of each cluster, shape (k,)."""
        overview = self.task.overview
        counts = [one.value for one in overview.weight] if self.weighted else overview.sizes
        return np.asarray(counts, dtype=np.float64)

    @property
    def _weight_unit(self) -> float:
        return float(np.ldexp(1.0, self.scales.weight)) if self.weighted else 1.0


def _finite(cost: float) -> float:
    """Return a cost, or raise a DataError if it is infinite."""
    if not math.isfinite(cost):
        raise DataError("the cost is beyond the largest float; divide the columns of the table by a power of ten")
    return cost


def named_by_rows(sums: TreeSums, centers: Floats, by_cost: bool) -> ThresholdTree:
    """Return the tree with honest names and without empty leaves, as `boxwood.grow._names.named` does in memory.

    A leaf with rows but none of its own cluster gets the cluster of most of its weight, or with `by_cost` the one of
    which it holds rows and that costs its rows least: the one whose centre is nearest to their mean.
    """
    tree, rows, held = sums.tree, sums.rows, sums.held
    clusters, n_leaves = tree.leaf_clusters.copy(), tree.n_leaves
    wrong = rows.any(axis=1) & (rows[np.arange(n_leaves), clusters] == 0)
    for leaf in np.flatnonzero(wrong).tolist():
        worth = held[leaf].astype(np.float64)
        if by_cost:
            gaps = (sums.sums.means.base[leaf] - centers) * np.ldexp(
                1.0, -sums.scales.spans.max()
            )  # squares stay finite
            worth = -np.square(gaps).sum(axis=1)
        clusters[leaf] = np.where(rows[leaf] > 0, worth, -np.inf).argmax()
    return without_leaves(tree.relabeled(clusters), ~rows.any(axis=1))
