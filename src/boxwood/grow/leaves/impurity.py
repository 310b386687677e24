"""Trees of least impurity: CART on the labels, and regression trees on rows or centres, grown best cut first."""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_tasks, n_threads
from boxwood._types import Array, Bools, Floats, Ints
from boxwood._validation import as_integer_weights, refuse_unknown
from boxwood.grow.shared.costs import PartitionedOrder, PlacesOfNode, distance_unit
from boxwood.loops import impurity as loops
from boxwood.loops.expand import squared_distances
from boxwood.loops.impurity import best_by_centers, best_by_entropy, best_by_gini, best_by_rows, pairs_of, whole_x_log_x
from boxwood.loops.order import ascending
from boxwood.reference import Task
from boxwood.reference.bins import N_BINS, LooseBins
from boxwood.tree import ThresholdTree, TreeBuilder, between

MARGIN = 1.0 + 1e-9  # covers rounding errors of an impurity, which only decides when a leaf is searched


def grow_by_impurity(task: Task, criterion: str, max_leaf_nodes: int) -> ThresholdTree:
    """Return the tree whose cuts lower an impurity most, the leaf that gains most first.

    Parameters
    ----------
    task : Task
        Rows and reference; rows that are left out do not count.
    criterion : {"gini", "entropy", "centers", "rows"}
        Impurity of a leaf, times its weight. "gini" and "entropy" are by the clusters of its rows. "centers" is
        the sum of squares of the centres of the rows' clusters around their mean, so a regression tree on the centres;
        clusters that lie far apart are told apart first. "rows" is the sum of squares of the rows around their mean, a
        regression tree on the rows.
    max_leaf_nodes : int
        Largest number of leaves. There are fewer only if no leaf with rows of several clusters can be cut.

    Returns
    -------
    ThresholdTree
        Always holds: each leaf carries the commonest cluster of its rows, the lowest of equals. Thresholds are
        midpoints between values of the rows at the node.

    Notes
    -----
    Leaves whose rows are all of one cluster, or by "centers" of one centre, are not cut. An impure leaf is cut also
    where no cut gains anything, after all others. Ties go to the lowest feature, then to the lowest threshold; among
    leaves to the one made first. Sums are of whole numbers and the numbers compared are made of + - * / of them, so the
    tree depends neither on the order of rows nor on threads or processor. Weights that are not whole, or have a sum of
    2³¹ and more, are rounded to about 2⁻³¹ of their sum. "centers" rounds squared distances to 2⁻³⁰ of the largest in
    the node, "rows" values to 2⁻²⁸ of the largest distance from the mean.

    Takes time n d for each level of the tree, after the order of the columns (`Task.order`); by "centers" at most k
    times that, by "rows" d times. Memory: 4 n d bytes, and by "rows" as much again. By "gini" a long table is not
    sorted: sums over bins of the columns show where the best cut may lie, and only the rows there are. Memory then is n
    d bytes.
    """
    return grown_to_sizes(task, criterion, [max_leaf_nodes])[0]


def grown_to_sizes(task: Task, criterion: str, sizes: Sequence[int]) -> list[ThresholdTree]:
    """Return `grown_by(task, criterion, size)` for ascending sizes, in the time of the largest."""
    refuse_unknown("criterion", criterion, CRITERIA)
    growth = _ImpurityGrowth(task, criterion)
    return [growth.grow(size) for size in sizes]


class CutRows(Protocol):
    """The rows of a task, searched for the best cut of a node.

    Each class has its own type for the rows of a node, and for a cut: a tuple whose first item is the column.
    """

    root: Any

    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a node with such weights of clusters, or more; 0 if it need not be cut."""

    def best(self, rows: Any, counts: Ints) -> tuple[float, Any] | None:
        """Return the gain of the best cut of a node, and the cut; None if there is no cut."""

    def threshold(self, cut: Any) -> float:
        """Return the threshold of a cut."""

    def split(self, rows: Any, cut: Any) -> tuple[Any, Any]:
        """Return both sides of a node's cut."""

    def counts(self, rows: Any, feature: int = 0) -> Ints:
        """Return the weight by cluster of the rows of a node: the root, or a side of a cut on the column."""


class _ImpurityLeaf(NamedTuple):
    """A leaf that may be split: its node in the builder, its rows, and their weight by cluster."""

    node: int
    rows: Any
    counts: Ints
    depth: int


class _ImpurityGrowth:
    """A tree grown by splitting one leaf at a time.

    A leaf enters the heap with an upper bound on its gain: its impurity. Its best cut is searched only once it comes
    first; then it goes back into the heap with its true gain. So leaves of little gain are never searched.
    """

    def __init__(self, task: Task, criterion: str) -> None:
        labels = Labels.of(task)
        in_bins = criterion == "gini" and task.is_long
        self.rows: CutRows = GiniInBins(task, labels) if in_bins else InOrder(task, criterion, labels)
        self.builder, self.max_depth = TreeBuilder(), task.budget.max_depth
        self.heap: list[tuple[float, bool, int, _ImpurityLeaf, Any]] = []
        root: Any = self.rows.root
        self._add(_ImpurityLeaf(0, root, self.rows.counts(root), 0))

    def grow(self, max_leaf_nodes: int) -> ThresholdTree:
        """Return the tree with at most `max_leaf_nodes` leaves; may be called again with a larger number."""
        while self.heap and self.builder.n_leaves < max_leaf_nodes:
            _, _, _, leaf, cut = heapq.heappop(self.heap)
            if cut is None:
                self._look_at(leaf)
            else:
                self._split(leaf, cut)
        return self.builder.build()

    def _add(self, leaf: _ImpurityLeaf) -> None:
        self.builder.label(leaf.node, int(leaf.counts.argmax()))
        impurity = self.rows.impurity(leaf.counts)
        if impurity > 0 and leaf.depth != self.max_depth:
            heapq.heappush(self.heap, (-impurity * MARGIN, False, leaf.node, leaf, None))

    def _look_at(self, leaf: _ImpurityLeaf) -> None:
        best = self.rows.best(leaf.rows, leaf.counts)
        if best is not None:
            gain, cut = best
            heapq.heappush(self.heap, (-gain, True, leaf.node, leaf, cut))

    def _split(self, leaf: _ImpurityLeaf, cut: Any) -> None:
        feature = cut[0]
        left, right = self.builder.split(leaf.node, feature, self.rows.threshold(cut))
        first, second = self.rows.split(leaf.rows, cut)
        counts = self.rows.counts(first, feature)
        self._add(_ImpurityLeaf(left, first, counts, leaf.depth + 1))
        self._add(_ImpurityLeaf(right, second, leaf.counts - counts, leaf.depth + 1))


HALF = 31  # bits that are cut off whole weights, so that the product of two sums fits into int64


class Labels(NamedTuple):
    """The clusters of a task's rows, in a small integer type, and their whole weights; empty if all weigh 1."""

    labels: NDArray[np.integer]
    weights: Ints
    n_clusters: int

    @classmethod
    def of(cls, task: Task) -> Labels:
        """Return the labels of a task."""
        kind = np.uint8 if task.reference.n_clusters <= 256 else np.int32
        return cls(task.reference.labels.astype(kind), whole_weights(task), task.reference.n_clusters)

    def counts(self, rows: NDArray[np.integer]) -> Ints:
        """Return the weight of some rows by cluster, shape (k,)."""
        if not self.weights.size:
            return np.bincount(self.labels[rows], minlength=self.n_clusters)
        counts = np.zeros(self.n_clusters, dtype=np.int64)
        np.add.at(counts, self.labels[rows], self.weights[rows])
        return counts


def gini(counts: Ints) -> float:
    """Return the weight of the pairs of rows of different clusters, divided by the weight of the rows."""
    weight = int(counts.sum())
    pairs = (weight * weight - int(counts @ counts)) // 2
    return pairs / weight


def whole_weights(task: Task) -> Ints:
    """Return the weights as whole numbers with a sum of about 2**31 at most, an empty array where all weigh 1."""
    weights = task.rows.weights
    if weights is None:
        return np.empty(0, dtype=np.int64)
    weights = np.where(task.kept, weights, 0.0)
    with np.errstate(over="ignore"):
        if weights.sum() < 1 << HALF and (weights == np.floor(weights)).all():
            return weights.astype(np.int64)
    halved: Ints = (as_integer_weights(weights) + (1 << HALF - 1)) >> HALF
    halved[(weights > 0) & (halved == 0)] = 1  # a row of little weight is still a row
    return halved


TABLE = 1 << 20  # numbers whose logarithm is stored in a table
BITS = 30  # of a squared distance between centres
ROW_BITS = 29  # of a value of a row, for "rows"

Best: TypeAlias = tuple[float, int, int]
"""Impurity of the sides of a cut, its column and its place. The smaller is better; the place is -1 without a cut."""


class _PlacedRows(NamedTuple):
    """The rows of a node, by their places; `parent` is not empty while its rows are not yet moved to their sides."""

    places: PlacesOfNode
    parent: list[PlacesOfNode]  # shared with the sibling


class InOrder:
    """The rows of a task, sorted by each column and searched for the best cut of a node; see `CutRows`."""

    order: PartitionedOrder
    labels: Labels

    def __init__(self, task: Task, criterion: str, labels: Labels) -> None:
        self.order, self.labels = PartitionedOrder(task), labels
        self.criterion: _Criterion = CRITERIA[criterion](task, self.order, labels)
        self.root: _PlacedRows = _PlacedRows(self.order.root, [])

    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a node with such weights of clusters, or more; 0 if it need not be cut."""
        return self.criterion.impurity(counts)

    def best(self, rows: _PlacedRows, counts: Ints) -> tuple[float, tuple[int, int]] | None:
        """Return the gain of the best cut of a node, and the cut; None if there is no cut."""
        if rows.parent:
            self.order.finish_split(rows.parent.pop())
        search, gain_of, steps = self.criterion.search(rows.places, counts)
        with self.order.least_on_sides(rows.places):
            score, feature, place = min(self.order.by_columns(search, rows.places, steps=steps))
        return (gain_of(score), (feature, place)) if place >= 0 else None

    def threshold(self, cut: tuple[int, int]) -> float:
        """Return the threshold of a cut."""
        return self.order.threshold(*cut)

    def split(self, rows: _PlacedRows, cut: tuple[int, int]) -> tuple[_PlacedRows, _PlacedRows]:
        """Return both sides of a node's cut."""
        left, right = self.order.begin_split(rows.places, *cut)
        parent = [rows.places]
        return _PlacedRows(left, parent), _PlacedRows(right, parent)

    def counts(self, rows: _PlacedRows, feature: int = 0) -> Ints:
        """Return the weight by cluster of the rows of a node, read from one column, in which they are in place."""
        return self.labels.counts(self.order.rows_of(rows.places, feature))


# ---------------------------------------------------------------------------------------------------- criteria
Search: TypeAlias = Callable[[int, int], Best]


class _Criterion(ABC):
    """An impurity. All its methods use one unit, but scores of its search may have another."""

    order: PartitionedOrder
    labels: Array
    weights: Ints

    def __init__(self, task: Task, order: PartitionedOrder, labels: Labels) -> None:
        self.order, self.labels, self.weights = order, labels.labels, labels.weights

    @abstractmethod
    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a leaf with such weights of clusters, or more; 0 if it need not be cut."""

    @abstractmethod
    def search(self, places: PlacesOfNode, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        """Return the search for the best cut in a range of columns, the gain of a score, and the steps per row."""


class _Gini(_Criterion):
    def impurity(self, counts: Ints) -> float:
        return gini(counts)

    def search(self, places: PlacesOfNode, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, counts
            cut: Best = best_by_gini(self.order.entries, *node)
            return cut

        return best, lambda score: gini(counts) - score, 2


class _Entropy(_Criterion):
    def __init__(self, task: Task, order: PartitionedOrder, labels: Labels) -> None:
        super().__init__(task, order, labels)
        weight = int(self.weights.sum()) if self.weights.size else self.order.root.stop
        largest = max(weight, 2) * math.log2(max(weight, 2))
        self.scale = math.ldexp(1.0, 60 - math.frexp(largest)[1])
        self.table = whole_x_log_x(0, min(weight + 1, TABLE), self.scale)

    def impurity(self, counts: Ints) -> float:
        return float(self._impurity(counts))

    def _impurity(self, counts: Ints) -> int:
        def whole(x: int) -> int:
            return int(self.table[x] if x < len(self.table) else whole_x_log_x(x, x + 1, self.scale)[0])

        return whole(int(counts.sum())) - sum(map(whole, counts.tolist()))

    def search(self, places: PlacesOfNode, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        whole = self._impurity(counts)

        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, counts
            cut: Best = best_by_entropy(self.order.entries, *node, self.table, self.scale)
            return cut

        return best, lambda score: float(whole - score), 3


class _Centers(_Criterion):
    def __init__(self, task: Task, order: PartitionedOrder, labels: Labels) -> None:
        super().__init__(task, order, labels)
        centers = np.ascontiguousarray(task.reference.centers)
        self.squares = np.empty((len(centers), len(centers)))
        self.unit = distance_unit(task)
        squared_distances(centers, np.ascontiguousarray(centers.T), self.unit, self.squares)

    def impurity(self, counts: Ints) -> float:
        clusters, squares, scale = self._of_node(counts)
        high, low, _ = pairs_of(counts[clusters], squares)
        return ((int(high) << HALF) + int(low)) / int(counts.sum()) / scale

    def search(self, places: PlacesOfNode, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        clusters, squares, scale = self._of_node(counts)
        number = np.zeros(len(counts), dtype=np.int32)
        number[clusters] = np.arange(len(clusters))
        total = counts[clusters]

        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, total, number, squares
            cut: Best = best_by_centers(self.order.entries, *node)
            return cut

        impurity = self.impurity(counts)
        return best, lambda score: impurity - score / scale, 2 + len(clusters) // 4

    def _of_node(self, counts: Ints) -> tuple[Ints, Ints, float]:
        """Return the clusters of a node, the squared distances of their centres as whole numbers, and their scale."""
        clusters = np.flatnonzero(counts)
        squares = self.squares[np.ix_(clusters, clusters)]
        scale = math.ldexp(1.0, min(BITS - math.frexp(float(squares.max()))[1], 1023))
        return clusters, np.rint(squares * scale).astype(np.int64), scale


class _SortedRows(_Criterion):
    def __init__(self, task: Task, order: PartitionedOrder, labels: Labels) -> None:
        super().__init__(task, order, labels)
        X, kept, unit = task.rows.values, task.kept, distance_unit(task)
        middle = task.reference.centers.mean(axis=0) * 0.5
        self.table = np.zeros(X.shape, dtype=np.int32)
        for j in range(X.shape[1]):
            half = (X[kept, j] * 0.5 - middle[j]) * unit
            self.table[kept, j] = np.rint(np.ldexp(half, ROW_BITS - 1))

    def impurity(self, counts: Ints) -> float:
        return math.inf if np.count_nonzero(counts) > 1 else 0.0

    def search(self, places: PlacesOfNode, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        rows, weight, d = self.order.rows_of(places), int(counts.sum()), self.order.rows.n_columns
        of_rows = self.weights[rows] if self.weights.size else np.ones(len(rows), dtype=np.int64)
        sums = np.array([int((self.table[rows, j] * of_rows).sum()) for j in range(d)], dtype=np.int64)
        mean = sums // weight
        total = sums - weight * mean

        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.table, self.weights, mean, total, weight
            cut: Best = best_by_rows(self.order.entries, *node)
            return cut

        return best, lambda score: -score, 2 + d


CRITERIA: dict[str, type[_Criterion]] = {"gini": _Gini, "entropy": _Entropy, "centers": _Centers, "rows": _SortedRows}


_SUMS = 1 << 17  # numbers that are summed at a time, so that they stay in the processor's cache
_AT_ONCE = 1 << 26  # values in one call of a loop, which takes a fraction of a second
_ONE_THREAD = 1 << 17  # values up to which threads cost more than they save


class _Cut(NamedTuple):
    """A cut; of cuts with equal impurity, the smaller tuple is taken."""

    column: int
    bin: int  # the bin of the first value after the cut
    number: int  # of that value among the sorted values of the candidate bins; 0 for the first value of a bin
    threshold: float


class GiniInBins:
    """The rows of a task in bins of each column, searched for the best cut of a node; see `CutRows`.

    The rows of a node are an array of row numbers, ascending.
    """

    budget: Any
    labels: Labels
    n_jobs: int | None
    codes: Array
    single: Bools

    def __init__(self, task: Task, labels: Labels) -> None:
        self.X, self.budget, self.labels, self.n_jobs = task.rows.values, task.budget, labels, task.n_jobs
        bins = task.bins
        assert isinstance(bins, LooseBins)  # the task is long
        self.codes, self.single = bins.codes, bins.single
        self.root: NDArray[np.integer] = np.flatnonzero(task.kept)
        if len(self.X) <= np.iinfo(np.int32).max:
            self.root = self.root.astype(np.int32)

    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a node with such weights of clusters."""
        return gini(counts)

    def threshold(self, cut: _Cut) -> float:
        """Return the threshold of a cut."""
        return cut.threshold

    def split(self, rows: Array, cut: _Cut) -> tuple[Array, Array]:
        """Return both sides of a node's cut."""
        left, right = np.empty_like(rows), np.empty_like(rows)
        n_left = loops.partition_rows(self.X, rows, cut.column, cut.threshold, left, right)
        return left[:n_left].copy(), right[: len(rows) - n_left].copy()

    def counts(self, rows: Array, feature: int = 0) -> Ints:
        """Return the weight by cluster of the rows of a node."""
        return self.labels.counts(rows)

    def best(self, rows: Array, counts: Ints) -> tuple[float, _Cut] | None:
        """Return the gain of the best cut of a node, and the cut; None if there is no cut."""
        jobs = self.n_jobs if len(rows) * self.X.shape[1] > _ONE_THREAD else None
        sums = map_tasks(lambda columns: self._add_up(rows, columns), self._columns(rows, jobs), n_jobs=jobs)
        score, column, bin_after = min((bins.end for bins in sums), key=lambda end: (end[0], end[1]))
        candidates = [column for bins in sums for column in bins.candidates(score, self.single, self.budget.forbidden)]
        walked = map_tasks(lambda column: self._walk(rows, *column, score), candidates, n_jobs=jobs)
        cuts = [cut for cut in walked if cut is not None]
        if bin_after >= 0:
            cuts.append((score, _Cut(column, bin_after, 0, self._threshold(rows, column, bin_after))))
        if not cuts:
            return None
        score, cut = min(cuts)
        return gini(counts) - score, cut

    def _columns(self, rows: Array, jobs: int | None) -> list[range]:
        """Return ranges of columns that are summed together."""
        d = self.X.shape[1]
        size = min(_SUMS // ((N_BINS + 1) * (self.labels.n_clusters + 1)), _AT_ONCE // len(rows))
        size = max(1, min(size, -(-d // n_threads(jobs))))
        return [range(first, min(first + size, d)) for first in range(0, d, size)]

    def _add_up(self, rows: Array, columns: range) -> _BinSums:
        """Add up the bins of some columns."""
        sums = np.zeros((len(columns), N_BINS + 1, self.labels.n_clusters + 1), dtype=np.int64)
        ends = np.empty(sums.shape[:2])
        loops.add_clusters(rows, self.codes, columns.start, self.labels.labels, self.labels.weights, sums)
        is_forbidden = np.zeros(len(columns), dtype=np.bool_)
        is_forbidden[[j - columns.start for j in self.budget.forbidden if j in columns]] = True
        least = self.budget.min_samples_leaf
        score, column, after = loops.best_at_ends(sums, self.labels.weights.size > 0, least, is_forbidden, ends)
        return _BinSums(columns, sums, ends, (score, column + columns.start, after))

    def _walk(self, rows: Array, column: int, sums: Ints, candidates: Bools, limit: float) -> tuple[float, _Cut] | None:
        """Return the best cut inside the candidate bins of a column, if its impurity is at most `limit`."""
        candidate_rows = np.empty_like(rows)
        candidate_rows = candidate_rows[: loops.find_rows(rows, self.codes, column, candidates, candidate_rows)]
        values: Floats = self.X[candidate_rows, column].astype(np.float64)
        order = ascending(values)
        candidate_rows, values = candidate_rows[order], values[order]
        arrays = self.codes, column, self.labels.labels, self.labels.weights, sums
        score, place, i = loops.best_in_bins(candidate_rows, values, *arrays, self.budget.min_samples_leaf, limit)
        return (score, _Cut(column, place, i, float(between(values[i - 1], values[i])))) if place >= 0 else None

    def _threshold(self, rows: Array, column: int, bin_after: int) -> float:
        """Return the threshold of the cut before a bin."""
        return float(between(*loops.values_beside(self.X, rows, self.codes, column, bin_after)))


class _BinSums(NamedTuple):
    """Sums over the bins of some columns, and the best cut at an end of a bin; see `loops.best_at_ends`."""

    columns: range
    sums: Ints
    ends: Floats
    end: tuple[float, int, int]

    def candidates(self, limit: float, single: Bools, forbidden: tuple[int, ...]) -> list[tuple[int, Ints, Bools]]:
        """Return the columns that have candidate bins, with their sums and a mask of these bins.

        A candidate is a bin of several values in which the impurity of a cut may be at most `limit`.
        """
        candidates = np.zeros((len(self.columns), N_BINS), dtype=np.bool_)
        loops.mark_candidates(self.sums, self.ends, limit, candidates)
        candidates &= ~single[self.columns.start : self.columns.stop]
        marked = np.flatnonzero(candidates.any(axis=1)).tolist()
        return [(self.columns[i], self.sums[i], candidates[i]) for i in marked if self.columns[i] not in forbidden]
