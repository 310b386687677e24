"""`TreeSums`: what one pass tells of the leaves of a tree, and of the gaps in which its thresholds may move.

The sum about a point is that about the mean and the weight times the squared distance of the two. So the pass that
finds the means finds the squares, too. The farther the points are from the means, the fewer digits are left of the
difference; what is left is bounded, and where it is too little, a pass about the means themselves is needed.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.batches.batches import Batches, Block
from boxwood.batches.sums import Means, Ranges, RowSums, SquareSums, rounded
from boxwood.loops.sums import add_parts, widen
from boxwood.loops.walk import descend, widen_gaps
from boxwood.tree import ThresholdTree
from boxwood.tree.shorten import ends_left_of, shortened_in


def leaves_in(tree: ThresholdTree, values: Floats) -> Indices:
    """Return the leaf of each row of a block."""
    leaves = np.cumsum(tree.feature < 0, dtype=np.int64) - 1
    found = np.empty(len(values), dtype=np.int64)
    descend(values, tree.feature, tree.lower, tree.upper, tree.second, leaves, found)
    return found


class TreeSums:
    """The rows of each leaf by cluster, sums over the rows of each leaf and squares, and the gap of each end of a cut.

    Rows of weight 0 and rows without a cluster count for gaps alone, as thresholds keep every row on its side.

    Parameters
    ----------
    tree : ThresholdTree
        The tree.
    ranges : Ranges
        Of the clusters.
    centers : array of shape (k, d)
        Points near the rows of the clusters; squares are added up about them.
    is_weighted : bool
        Whether rows have weights.

    Attributes
    ----------
    noise : array of shape (n_leaves,)
        Number of rows without a cluster in each leaf.
    sums : RowSums
        Sums over the rows of each leaf.
    squares : SquareSums
        Squared differences of the rows of each leaf to the point of its cluster.
    least, most : arrays of shape (n_leaves, d)
        Least and greatest values of the rows of each leaf.
    left, right : arrays of shape (n_nodes, 2)
        Gap of each end of a cut; see `shortened_in`.
    broken, broken_of_kept : arrays of shape (d,)
        Whether a column holds a number that is not whole, in all rows and in the kept ones.
    """

    tree: ThresholdTree
    n_clusters: int
    ranges: Ranges
    counts: Array
    noise: Array
    sums: RowSums
    squares: SquareSums
    least: Array
    most: Array
    left: Array
    right: Array
    broken: Bools
    broken_of_kept: Bools

    def __init__(self, tree: ThresholdTree, ranges: Ranges, centers: Floats, is_weighted: bool) -> None:
        self.tree, self.n_clusters, self.ranges = tree, len(ranges.least), ranges
        self.counts = np.zeros(tree.n_leaves * self.n_clusters, dtype=np.int64)
        self.noise = np.zeros(tree.n_leaves, dtype=np.int64)
        of_leaves = _of_leaves(ranges, tree.n_leaves)
        self.sums, self.squares = RowSums(of_leaves), squares_about(centers[tree.leaf_clusters], of_leaves)
        self.least = np.full(self.sums.exponents.shape, np.inf)
        self.most = -self.least
        self.weights = np.zeros((len(self.counts), len(self.sums.units))) if is_weighted else None
        self.left, self.right = np.full((tree.n_nodes, 2), -np.inf), np.full((tree.n_nodes, 2), np.inf)
        self.ends: Floats = ends_left_of(tree)
        self.broken, self.broken_of_kept = np.zeros((2, ranges.least.shape[1]), dtype=np.bool_)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        values, labels, weights = block
        leaf, tree = leaves_in(self.tree, values), self.tree
        self.noise += np.bincount(leaf[~block.kept], minlength=tree.n_leaves)
        kept = block.kept
        cells, leaf = np.where(kept, leaf * self.n_clusters + labels, -1), np.where(kept, leaf, -1)
        self.counts += np.bincount(cells[kept], minlength=len(self.counts))
        if self.weights is not None:
            nothing, scales = np.empty((len(values), 0)), np.empty((len(self.counts), 0))
            sums = np.empty((len(self.counts), len(self.sums.units), 0))
            add_parts(nothing, cells, weights, scales, self.sums.scale, self.sums.units, sums, self.weights)
        self.sums.update((values, leaf, weights))
        self.squares.update((values, leaf, weights))
        widen(values, leaf, self.least, self.most)
        widen_gaps(values, tree.feature, tree.lower, tree.upper, tree.second, self.ends, self.left, self.right)
        for j in np.flatnonzero(~self.broken_of_kept).tolist():
            broken = values[:, j] != np.floor(values[:, j])
            self.broken[j] |= broken.any()
            self.broken_of_kept[j] |= broken[kept].any()

    def merge(self, other: TreeSums) -> None:
        """Add other sums of the same tree."""
        self.counts += other.counts
        if self.weights is not None and other.weights is not None:
            self.weights += other.weights
        self.noise += other.noise
        self.sums.merge(other.sums)
        self.squares.merge(other.squares)
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)
        self.left, self.right = np.maximum(self.left, other.left), np.minimum(self.right, other.right)
        self.broken |= other.broken
        self.broken_of_kept |= other.broken_of_kept

    def of_tree(self, tree: ThresholdTree) -> TreeSums:
        """Return the same sums for a tree that sends every row to the same leaf, under other names."""
        other = copy(self)
        other.tree = tree
        return other

    @property
    def rows(self) -> Ints:
        """Number of the kept rows of each cluster in each leaf, shape (n_leaves, k)."""
        return self.counts.reshape(self.tree.n_leaves, self.n_clusters)

    @property
    def held(self) -> Ints | Floats:
        """Number, or weight if rows are weighted, of the rows of each cluster in each leaf, shape (n_leaves, k)."""
        if self.weights is None:
            return self.rows
        total = rounded(self.weights[:, :, None])[:, 0]
        return np.asarray(np.ldexp(total, self.ranges.grid.weight_exponent).reshape(self.rows.shape))

    @property
    def has_no_mistakes(self) -> bool:
        """Whether each leaf holds rows of its own cluster alone."""
        own = self.rows[np.arange(self.tree.n_leaves), self.tree.leaf_clusters]
        return bool((own == self.rows.sum(axis=1)).all())

    def means(self) -> Means:
        """Return weights and means of the rows of each leaf."""
        return self.by_leaf()[1]

    def by_leaf(self) -> tuple[Ranges, Means]:
        """Return ranges, weights and means of the rows of each leaf."""
        return self._joined(np.arange(self.tree.n_leaves), self.tree.n_leaves)

    def costs(self, unit: Floats | float = 1.0) -> tuple[float, float]:
        """Return the sum of squared differences of rows to the mean of what the tree gives to their cluster.

        The second number is a bound of its error. IN: unit, in which the columns are measured.
        """
        leaves, clusters = self.means(), self.tree.leaf_clusters
        groups = self.by_cluster()[1]
        inside = AboutMeans.of(self.squares, leaves, self.least == self.most)
        gaps = (leaves.mean - groups.mean[clusters]) + (leaves.rest - groups.rest[clusters])
        between = leaves.weights[:, None] * np.square(np.nan_to_num(gaps))
        parts = inside.sums.squares() + between, inside.errors
        cost, error = (float((part / unit / unit).sum()) for part in parts)
        return cost, error

    def by_cluster(self) -> tuple[Ranges, Means]:
        """Return ranges, weights and means of the rows that the tree gives to each cluster."""
        return self._joined(self.tree.leaf_clusters, self.n_clusters)

    def _joined(self, groups: Ints, n_groups: int) -> tuple[Ranges, Means]:
        """Return ranges and means of groups of leaves; IN: groups (n_leaves,)."""
        joined = RowSums(_of_leaves(self.ranges, n_groups))
        least = np.full(joined.exponents.shape, np.inf)
        most = -least
        for whole, parts, add in (
            (joined.sums, self.sums.sums, np.add),
            (joined.totals, self.sums.totals, np.add),
            (least, self.least, np.minimum),
            (most, self.most, np.maximum),
        ):
            add.at(whole, groups, parts)
        joined.ranges = joined.ranges._replace(least=least, most=most)
        return joined.ranges, joined.means()


def _of_leaves(ranges: Ranges, n_leaves: int) -> Ranges:
    """Return ranges in which each leaf may have the rows of all clusters, so that sums of leaves can be added up."""
    least, most = (np.tile(ends, (n_leaves, 1)) for ends in (ranges.least.min(axis=0), ranges.most.max(axis=0)))
    return ranges._replace(least=least, most=most)


class _Beyond:
    """The largest value of a column up to each of some numbers, and the smallest one beyond, in the whole table."""

    def __init__(self, numbers: Floats, columns: Indices) -> None:
        self.numbers, self.columns = numbers, columns
        self.left, self.right = np.full(len(numbers), -np.inf), np.full(len(numbers), np.inf)

    def update(self, block: Block) -> None:
        for i, number in enumerate(self.numbers.tolist()):
            values = block.values[:, self.columns[i]]
            is_left = values <= number
            self.left[i] = max(self.left[i], values.max(initial=-np.inf, where=is_left))
            self.right[i] = min(self.right[i], values.min(initial=np.inf, where=~is_left))

    def merge(self, other: _Beyond) -> None:
        self.left, self.right = np.maximum(self.left, other.left), np.minimum(self.right, other.right)


def shortened_of_batches(sums: TreeSums, batches: Batches) -> ThresholdTree:
    """Return the tree with the shortest thresholds that keep every row on its side, as `ThresholdTree.shortened` does.

    Takes no pass, and one more if a cut has no row on one side at its node.
    """
    tree, left, right = sums.tree, sums.left.copy(), sums.right.copy()
    cuts = (tree.feature >= 0)[:, None] & np.isfinite(sums.ends)
    bare = cuts & (np.isinf(left) | np.isinf(right))
    if bare.any():
        nodes = np.nonzero(bare)[0]
        columns, places = np.unique(tree.feature[nodes], return_inverse=True)
        beyond = batches.fold(partial(_Beyond, sums.ends[bare], places), columns.tolist())
        left[bare] = np.where(np.isinf(left[bare]), beyond.left, left[bare])
        right[bare] = np.where(np.isinf(right[bare]), beyond.right, right[bare])
    whole = np.flatnonzero(~sums.broken).tolist()
    dates = {j: batches.source.dates[name] for j, name in enumerate(batches.columns) if name in batches.source.dates}
    return shortened_in(tree, left, right, whole, dates)


class Moved:
    """How many rows have another leaf in another tree of the same shape: kept ones, and those without a cluster."""

    before: ThresholdTree
    after: ThresholdTree
    n: int
    n_others: int

    def __init__(self, before: ThresholdTree, after: ThresholdTree) -> None:
        self.before, self.after, self.n, self.n_others = before, after, 0, 0

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        moved = leaves_in(self.before, block.values) != leaves_in(self.after, block.values)
        self.n += int((block.kept & moved).sum())
        self.n_others += int((moved & ~block.kept).sum())

    def merge(self, other: Moved) -> None:
        """Add the rows of another part of the table."""
        self.n, self.n_others = self.n + other.n, self.n_others + other.n_others


LARGEST_ERROR = 2.0**-34  # of squares, relative to them
_ROUNDING = 2.0**-53


def squares_about(points: Floats, ranges: Ranges) -> SquareSums:
    """Return empty sums of squared differences of the rows of groups to points; IN: points (g, d), ranges of groups."""
    return SquareSums(ranges, Means(np.zeros(len(points)), points, np.zeros(points.shape)))


class AboutMeans(NamedTuple):
    """Squared differences to means, found from those to other points.

    Parameters
    ----------
    sums : SquareSums
        Squared differences to the means, in one part.
    errors : array of shape (g, d)
        Bounds of their errors.
    """

    sums: SquareSums
    errors: Floats

    @classmethod
    def of(cls, squares: SquareSums, means: Means, are_equal: Bools) -> AboutMeans:
        """Return the squares about the means of groups; IN: are_equal (g, d), whether all rows of a group are equal."""
        gap = (np.nan_to_num(means.mean) * squares.scales - squares.mean) + np.nan_to_num(means.rest) * squares.scales
        weights = np.ldexp(means.weights, -squares.grid.weight_exponent)[:, None]
        found, sums = rounded(squares.sums), copy(squares)
        left = np.where(are_equal, 0.0, np.maximum(found - weights * (gap * gap), 0.0))
        sums.sums = left[:, None, :]
        # the first term is for squares, the second for what lies below the last part, see `SquareSums`
        errors = np.where(are_equal, 0.0, (16 * found + 1.0) * _ROUNDING)
        with np.errstate(over="ignore"):
            return cls(sums, np.ldexp(errors, 2 * squares.exponents + squares.grid.weight_exponent))

    @property
    def is_exact(self) -> bool:
        """Whether enough digits are left of each sum."""
        return bool((self.errors <= LARGEST_ERROR * self.sums.squares()).all())
