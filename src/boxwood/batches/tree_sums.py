"""`TreeSums`: what one pass tells of the leaves of a tree, and of the gaps in which its thresholds may move.

The sum about a point is that about the mean and the weight times the squared distance of the two. So the pass that
finds the means finds the squares, too. The farther the points are from the means, the fewer digits are left of the
difference; what is left is bounded, and where it is too little, a pass about the means themselves is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.batches.batches import Batches, Block
from boxwood.batches.overview import FewNumbers
from boxwood.batches.sums import Means, Ranges, RowSums, SquareSums, add_smallest_first
from boxwood.loops.sums import add_parts, widen
from boxwood.loops.walk import descend
from boxwood.tree import ThresholdTree, TreeBuilder
from boxwood.tree.shorten import ends_left_of, shortened_in


def leaves_of_block(tree: ThresholdTree, values: Floats) -> Indices:
    """Return the leaf of each row of a block."""
    leaves = np.cumsum(tree.feature < 0, dtype=np.int64) - 1
    found = np.empty(len(values), dtype=np.int64)
    descend(values, tree.feature, tree.lower, tree.upper, tree.second, leaves, found)
    return found


class Cells(NamedTuple):
    """The parts that several trees make of the rows together: no cut of any of them divides one.

    Trees for the same clusters differ little, so there are few more parts than leaves, and a row is added up once::

        leaves of one tree         |   0   |   1    |
        leaves of another          |    0    |  1   |
        cells                      |   0   |1|  2   |

    Parameters
    ----------
    trees : tuple of ThresholdTree
        The trees.
    tree : ThresholdTree
        One whose leaves are the cells.
    leaves : array of shape (n_trees, n_cells)
        Leaf of each tree in which a cell lies.
    """

    trees: tuple[ThresholdTree, ...]
    tree: ThresholdTree
    leaves: Ints

    @classmethod
    def of(cls, trees: Sequence[ThresholdTree], most: float = math.inf) -> Cells | None:
        """Return the cells of trees; None if there are more than `most`."""
        builder, leaves, waiting = TreeBuilder(), list[list[int]](), [(0, [0] * len(trees), _Box({}, {}))]
        while waiting:
            node, places, box = waiting.pop()
            cut = box.divided_by(trees, places)
            if cut is None:
                builder.label(node, len(leaves))
                leaves.append(places)
                continue
            first, second = builder.split(node, *cut)
            waiting += ((second, [*places], box.above(*cut)), (first, [*places], box.up_to(*cut)))
            if builder.n_leaves > most:
                return None
        numbers = [np.cumsum(tree.feature < 0) - 1 for tree in trees]
        of_trees = [number[places] for number, places in zip(numbers, np.array(leaves).T, strict=True)]
        return cls(tuple(trees), builder.build(), np.array(of_trees))

    @property
    def clusters(self) -> Ints:
        """The different clusters that trees give to each cell, shape (at most n_trees, n_cells), filled up with -1."""
        pairs = zip(self.trees, self.leaves, strict=True)
        ordered = np.sort([tree.leaf_clusters[leaves] for tree, leaves in pairs], axis=0)
        ordered[1:][ordered[1:] == ordered[:-1]] = -1
        ordered = np.sort(ordered, axis=0)[::-1]
        return ordered[(ordered >= 0).any(axis=1)]


class _Box(NamedTuple):
    """Where the rows of a cell lie: above some numbers, and up to others, by column."""

    low: dict[int, float]
    high: dict[int, float]

    def above(self, column: int, number: float) -> _Box:
        return _Box(self.low | {column: number}, self.high)

    def up_to(self, column: int, number: float) -> _Box:
        return _Box(self.low, self.high | {column: number})

    def divided_by(self, trees: Sequence[ThresholdTree], places: list[int]) -> tuple[int, float] | None:
        """Return the column and the end of a cut that divides the box; None if none does.

        IN and OUT: places: a node of each tree that holds the box; they go down as far as the box goes.
        """
        for i, tree in enumerate(trees):
            while (j := int(tree.feature[places[i]])) >= 0:
                ends = math.nextafter(tree.lower[places[i]], -math.inf), float(tree.upper[places[i]])
                low, high = self.low.get(j, -math.inf), self.high.get(j, math.inf)
                for end in ends:
                    if low < end < high:
                        return j, end
                is_inside = ends[0] <= low and high <= ends[1]
                places[i] = places[i] + 1 if is_inside else int(tree.second[places[i]])
        return None


def cells_of(trees: Sequence[ThresholdTree], most: int) -> list[Cells]:
    """Return the cells of all trees, of as many of them together as make at most `most` cells."""
    found: list[Cells] = []
    for tree in trees:
        joined = Cells.of((*found[-1].trees, tree), most) if found else None
        if joined is not None:
            found[-1] = joined
        elif (alone := Cells.of((tree,))) is not None:
            found.append(alone)
    return found


class CellSums:
    """A summary of blocks: what rows tell of the leaves of trees, by their cells; see `TreeSums`.

    Parameters
    ----------
    cells : Cells
        The cells.
    ranges : Ranges
        Of the clusters.
    centers : array of shape (k, d)
        Points near the rows of the clusters; squares are added up about them.
    is_weighted : bool
        Whether rows have weights.
    """

    cells: Cells
    ranges: Ranges
    centers: Floats
    n_clusters: int
    clusters: Ints
    counts: Array
    noise: Array
    sums: RowSums
    squares: list[SquareSums]
    least: Array
    most: Array
    broken: Bools
    broken_of_kept: Bools

    def __init__(self, cells: Cells, ranges: Ranges, centers: Floats, is_weighted: bool) -> None:
        self.cells, self.ranges, self.centers, self.n_clusters = cells, ranges, centers, len(ranges.least)
        self.clusters = cells.clusters
        n_cells, of_cells = cells.tree.n_leaves, _of_leaves(ranges, cells.tree.n_leaves)
        self.counts = np.zeros(n_cells * self.n_clusters, dtype=np.int64)
        self.noise = np.zeros(n_cells, dtype=np.int64)
        self.sums = RowSums(of_cells)
        self.squares = [empty_squares(centers[clusters], of_cells) for clusters in self.clusters]
        self.least = np.full((2, *self.sums.exponents.shape), np.inf)  # of rows with a cluster, and of others
        self.most = -self.least
        self.weights = np.zeros((len(self.counts), len(self.sums.units))) if is_weighted else None
        self.broken, self.broken_of_kept = np.zeros((2, ranges.least.shape[1]), dtype=np.bool_)
        self.numbers = FewNumbers(ranges.least.shape[1])

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        values, labels, weights = block
        cell, kept = leaves_of_block(self.cells.tree, values), block.kept
        if not kept.all():
            self.noise += np.bincount(cell[~kept], minlength=len(self.noise))
            widen(values, np.where(kept, -1, cell), self.least[1], self.most[1])
        pairs, cell = np.where(kept, cell * self.n_clusters + labels, -1), np.where(kept, cell, -1)
        self.counts += np.bincount(pairs[kept], minlength=len(self.counts))
        if self.weights is not None:
            nothing, scales = np.empty((len(values), 0)), np.empty((len(self.counts), 0))
            sums = np.empty((len(self.counts), len(self.sums.units), 0))
            add_parts(nothing, pairs, weights, scales, self.sums.scale, self.sums.units, sums, self.weights)
        self.sums.update((values, cell, weights))
        for clusters, squares in zip(self.clusters, self.squares, strict=True):
            squares.update((values, np.where(clusters[cell] >= 0, cell, -1), weights))
        widen(values, cell, self.least[0], self.most[0])
        for j in np.flatnonzero(~self.broken_of_kept).tolist():
            broken = values[:, j] != np.floor(values[:, j])
            self.broken[j] |= broken.any()
            self.broken_of_kept[j] |= broken[kept].any()
            self.numbers.update(j, values[:, j])

    def merge(self, other: CellSums) -> None:
        """Add other sums of the same cells."""
        self.counts += other.counts
        if self.weights is not None and other.weights is not None:
            self.weights += other.weights
        self.noise += other.noise
        self.sums.merge(other.sums)
        for mine, theirs in zip(self.squares, other.squares, strict=True):
            mine.merge(theirs)
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)
        self.broken |= other.broken
        self.broken_of_kept |= other.broken_of_kept
        self.numbers.merge(other.numbers)

    def of_trees(self) -> list[TreeSums]:
        """Return what the leaves of each tree hold."""
        return [TreeSums(self, *pair) for pair in zip(self.cells.trees, self.cells.leaves, strict=True)]


class TreeSums:
    """The rows of each leaf by cluster, sums over the rows of each leaf and squares, and the gap of each end of a cut.

    Rows of weight 0 and rows without a cluster count for gaps alone, as thresholds keep every row on its side.

    Parameters
    ----------
    cells : CellSums
        What is known of the cells.
    tree : ThresholdTree
        The tree.
    leaf : array of shape (n_cells,)
        Leaf in which each cell lies.

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
    numbers : FewNumbers
        The different numbers of columns, while all are whole.
    """

    tree: ThresholdTree
    n_clusters: int
    ranges: Ranges
    counts: Array
    noise: Array
    weights: Floats | None
    sums: RowSums
    squares: SquareSums
    least: Array
    most: Array
    ends: Floats
    left: Array
    right: Array
    broken: Bools
    broken_of_kept: Bools
    numbers: FewNumbers

    def __init__(self, cells: CellSums, tree: ThresholdTree, leaf: Ints) -> None:
        n_leaves, k = tree.n_leaves, cells.n_clusters
        self.tree, self.n_clusters, self.ranges = tree, k, cells.ranges
        self.noise = _gather_groups(np.add, cells.noise, leaf, n_leaves)
        self.counts = _gather_groups(np.add, cells.counts.reshape(-1, k), leaf, n_leaves).reshape(-1)
        self.weights = None
        if cells.weights is not None:
            weights = cells.weights.reshape(len(leaf), k, -1)
            self.weights = _gather_groups(np.add, weights, leaf, n_leaves).reshape(n_leaves * k, -1)
        of_leaves = _of_leaves(cells.ranges, n_leaves)
        self.sums = RowSums(of_leaves)
        self.sums.sums = _gather_groups(np.add, cells.sums.sums, leaf, n_leaves)
        self.sums.totals = _gather_groups(np.add, cells.sums.totals, leaf, n_leaves)
        self.squares = empty_squares(cells.centers[tree.leaf_clusters], of_leaves)
        for clusters, squares in zip(cells.clusters, cells.squares, strict=True):
            own = clusters == tree.leaf_clusters[leaf]
            self.squares.sums += _gather_groups(np.add, squares.sums[own], leaf[own], n_leaves)
        self.least = _gather_groups(np.minimum, cells.least[0], leaf, n_leaves, np.inf)
        self.most = _gather_groups(np.maximum, cells.most[0], leaf, n_leaves, -np.inf)
        self.ends = ends_left_of(tree)
        self.left, self.right = self._gaps(cells.least.min(axis=0), cells.most.max(axis=0), leaf)
        self.broken, self.broken_of_kept, self.numbers = cells.broken, cells.broken_of_kept, cells.numbers

    def _gaps(self, least: Floats, most: Floats, leaf: Ints) -> tuple[Floats, Floats]:
        """Return the gap of each end of a cut; each cell is on one side. IN: least, most (n_cells, d), of all rows."""
        tree = self.tree
        left, right = np.full((tree.n_nodes, 2), -np.inf), np.full((tree.n_nodes, 2), np.inf)
        node_of, stop = np.flatnonzero(tree.feature < 0)[leaf], np.arange(1, tree.n_nodes + 1)
        for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
            stop[node] = stop[tree.second[node]]  # the node behind all that are below it
            below = (node < node_of) & (node_of < stop[node])
            low, high = least[below, tree.feature[node]], most[below, tree.feature[node]]
            for end in range(0 if tree.lower[node] > -np.inf else 1, 2):
                is_left = high <= self.ends[node, end]
                left[node, end] = high.max(initial=-np.inf, where=is_left)
                right[node, end] = low.min(initial=np.inf, where=~is_left)
        return left, right

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
        total = add_smallest_first(self.weights[:, :, None])[:, 0]
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
        joined.sums = _gather_groups(np.add, self.sums.sums, groups, n_groups)
        joined.totals = _gather_groups(np.add, self.sums.totals, groups, n_groups)
        least = _gather_groups(np.minimum, self.least, groups, n_groups, np.inf)
        most = _gather_groups(np.maximum, self.most, groups, n_groups, -np.inf)
        joined.ranges = joined.ranges._replace(least=least, most=most)
        return joined.ranges, joined.means()


def _gather_groups(add: np.ufunc, parts: Array, groups: Ints, n_groups: int, start: float = 0) -> Array:
    """Return what the parts of each group add up to, or the least or the most of them; IN: groups (n_parts,)."""
    whole = np.full((n_groups, *parts.shape[1:]), start, dtype=parts.dtype)
    add.at(whole, groups, parts)
    return whole


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
        moved = leaves_of_block(self.before, block.values) != leaves_of_block(self.after, block.values)
        self.n += int((block.kept & moved).sum())
        self.n_others += int((moved & ~block.kept).sum())

    def merge(self, other: Moved) -> None:
        """Add the rows of another part of the table."""
        self.n, self.n_others = self.n + other.n, self.n_others + other.n_others


LARGEST_ERROR = 2.0**-34  # of squares, relative to them
_ROUNDING = 2.0**-53


def empty_squares(points: Floats, ranges: Ranges) -> SquareSums:
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
        found, sums = add_smallest_first(squares.sums), copy(squares)
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
