"""Trees that leave the least impurity in their leaves: CART on the labels, and regression trees, best cut first."""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Ints
from boxwood._validation import as_whole_weights, refuse_unknown
from boxwood.grow._costs import distance_unit
from boxwood.grow._order import PartedOrder, Places
from boxwood.loops.expand import squared_distances
from boxwood.loops.impurity import (
    best_by_centers,
    best_by_entropy,
    best_by_gini,
    best_by_rows,
    pairs_of,
    whole_x_log_x,
)
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["CRITERIA", "grown_by", "grown_to_sizes", "whole_weights"]

TABLE = 1 << 20  # numbers whose logarithm is looked up
BITS = 30  # of squared distances between centres
ROW_BITS = 29  # of a value of a row, by "rows"
HALF = 31  # bits by which whole weights are shortened, so that products of two sums of them fit
MARGIN = 1.0 + 1e-9  # above the errors of an impurity, which only says when a leaf is looked at

Best: TypeAlias = tuple[float, int, int]
"""What is left on the sides of a cut, its column and its place: the smaller is better; the place is -1 for no cut."""


def grown_by(task: Task, criterion: str, max_leaf_nodes: int) -> ThresholdTree:
    """Return the tree whose cuts lower an impurity most, the leaf that gains most first.

    Parameters
    ----------
    task : Task
        Rows and reference; rows that are left out do not count.
    criterion : {"gini", "entropy", "centers", "rows"}
        Impurity of a leaf, times its weight. "gini" and "entropy" are those of the clusters of its rows. "centers" is
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
    times that, by "rows" d times. Memory: 4 n d bytes, and by "rows" as much again.
    """
    return grown_to_sizes(task, criterion, [max_leaf_nodes])[0]


def grown_to_sizes(task: Task, criterion: str, sizes: Sequence[int]) -> list[ThresholdTree]:
    """Return `grown_by(task, criterion, size)` for ascending sizes; all take the time of the last one."""
    refuse_unknown("criterion", criterion, CRITERIA)
    growth = _Growth(task, criterion)
    return [growth.grow(size) for size in sizes]


class _Leaf(NamedTuple):
    """A leaf that may be cut: its node in the builder, its places, and the weight of its rows by cluster."""

    node: int
    places: Places
    counts: Ints
    parent: list[Places]  # places whose rows have to be moved to their sides first; shared with the sibling
    depth: int


class _Growth:
    """A tree whose leaves are cut one after another.

    A leaf waits in the heap under the most that it could gain, its impurity, until it is the first; then its best cut
    is looked for, and it waits under what that gains. So leaves that gain little are never looked at.
    """

    def __init__(self, task: Task, criterion: str) -> None:
        self.order, self.builder = PartedOrder(task), TreeBuilder()
        self.weights, self.n_clusters = whole_weights(task), task.reference.n_clusters
        kind = np.uint8 if self.n_clusters <= 256 else np.int32
        self.labels: NDArray[np.integer] = task.reference.labels.astype(kind)
        self.criterion = CRITERIA[criterion](task, self.order, self.labels, self.weights)
        self.heap: list[tuple[float, bool, int, _Leaf, tuple[int, int] | None]] = []
        root = self.order.root
        self.max_depth = task.budget.max_depth
        self._add(_Leaf(0, root, self._counts(0, root), [], 0))

    def grow(self, max_leaf_nodes: int) -> ThresholdTree:
        """Return the tree with at most so many leaves; may be called again for more of them."""
        while self.heap and self.builder.n_leaves < max_leaf_nodes:
            _, _, _, leaf, cut = heapq.heappop(self.heap)
            if cut is None:
                self._look_at(leaf)
            else:
                self._split(leaf, *cut)
        return self.builder.build()

    def _add(self, leaf: _Leaf) -> None:
        self.builder.label(leaf.node, int(leaf.counts.argmax()))
        impurity = self.criterion.impurity(leaf.counts)
        if impurity > 0 and leaf.depth != self.max_depth:
            heapq.heappush(self.heap, (-impurity * MARGIN, False, leaf.node, leaf, None))

    def _look_at(self, leaf: _Leaf) -> None:
        if leaf.parent:
            self.order.finish_split(leaf.parent.pop())
        search, gain_of, steps = self.criterion.search(leaf.places, leaf.counts)
        with self.order.least_on_sides(leaf.places):
            score, feature, place = min(each for each in self.order.by_columns(search, leaf.places, steps=steps))
        if place >= 0:
            heapq.heappush(self.heap, (-gain_of(score), True, leaf.node, leaf, (feature, place)))

    def _split(self, leaf: _Leaf, feature: int, place: int) -> None:
        left, right = self.builder.split(leaf.node, feature, self.order.threshold(feature, place))
        places = self.order.begin_split(leaf.places, feature, place)
        counts = self._counts(feature, places[0])
        parent = [leaf.places]
        self._add(_Leaf(left, places[0], counts, parent, leaf.depth + 1))
        self._add(_Leaf(right, places[1], leaf.counts - counts, parent, leaf.depth + 1))

    def _counts(self, feature: int, places: Places) -> Ints:
        """Return the weight by cluster of the rows at some places of a column."""
        rows = self.order.entries[feature, places.start : places.stop] >> 1
        counts = np.zeros(self.n_clusters, dtype=np.int64)
        if not self.weights.size:
            return counts + np.bincount(self.labels[rows], minlength=self.n_clusters)
        np.add.at(counts, self.labels[rows], self.weights[rows])
        return counts


def whole_weights(task: Task) -> Ints:
    """Return the weights as whole numbers with a sum of about 2**31 at most, an empty array where all weigh 1."""
    weights = task.rows.weights
    if weights is None:
        return np.empty(0, dtype=np.int64)
    weights = np.where(task.kept, weights, 0.0)
    with np.errstate(over="ignore"):
        if weights.sum() < 1 << HALF and (weights == np.floor(weights)).all():
            return weights.astype(np.int64)
    halved: Ints = (as_whole_weights(weights) + (1 << HALF - 1)) >> HALF
    halved[(weights > 0) & (halved == 0)] = 1  # a row of little weight is still a row
    return halved


# ---------------------------------------------------------------------------------------------------- criteria

Search: TypeAlias = Callable[[int, int], Best]


class _Criterion(ABC):
    """An impurity. All its numbers are in one unit, but what a search returns may be in another."""

    def __init__(self, task: Task, order: PartedOrder, labels: NDArray[np.integer], weights: Ints) -> None:
        self.order, self.labels, self.weights = order, labels, weights

    @abstractmethod
    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a leaf with such weights of clusters, or more; 0 if it need not be cut."""

    @abstractmethod
    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        """Return the search for the best cut in a range of columns, what its score gains, and the steps at a row."""


class _Gini(_Criterion):
    def impurity(self, counts: Ints) -> float:
        weight = int(counts.sum())
        pairs: int = (weight * weight - sum(n * n for n in counts.tolist())) // 2
        return pairs / weight

    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, counts
            found: Best = best_by_gini(self.order.entries, *node)
            return found

        return best, lambda score: self.impurity(counts) - score, 2


class _Entropy(_Criterion):
    def __init__(self, task: Task, order: PartedOrder, labels: NDArray[np.integer], weights: Ints) -> None:
        super().__init__(task, order, labels, weights)
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

    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        whole = self._impurity(counts)

        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, counts
            found: Best = best_by_entropy(self.order.entries, *node, self.table, self.scale)
            return found

        return best, lambda score: float(whole - score), 3


class _Centers(_Criterion):
    def __init__(self, task: Task, order: PartedOrder, labels: NDArray[np.integer], weights: Ints) -> None:
        super().__init__(task, order, labels, weights)
        centers = np.ascontiguousarray(task.reference.centers)
        self.squares = np.empty((len(centers), len(centers)))
        self.unit = distance_unit(task)
        squared_distances(centers, np.ascontiguousarray(centers.T), self.unit, self.squares)

    def impurity(self, counts: Ints) -> float:
        clusters, squares, scale = self._of_node(counts)
        high, low, _ = pairs_of(counts[clusters], squares)
        return ((int(high) << HALF) + int(low)) / int(counts.sum()) / scale

    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        clusters, squares, scale = self._of_node(counts)
        number = np.zeros(len(counts), dtype=np.int32)
        number[clusters] = np.arange(len(clusters))
        total = counts[clusters]

        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, total, number, squares
            found: Best = best_by_centers(self.order.entries, *node)
            return found

        impurity = self.impurity(counts)
        return best, lambda score: impurity - score / scale, 2 + len(clusters) // 4

    def _of_node(self, counts: Ints) -> tuple[Ints, Ints, float]:
        """Return the clusters of a node, the squares between their centres as whole numbers, and their scale."""
        clusters = np.flatnonzero(counts)
        squares = self.squares[np.ix_(clusters, clusters)]
        scale = math.ldexp(1.0, min(BITS - math.frexp(float(squares.max()))[1], 1023))
        return clusters, np.rint(squares * scale).astype(np.int64), scale


class _Rows(_Criterion):
    def __init__(self, task: Task, order: PartedOrder, labels: NDArray[np.integer], weights: Ints) -> None:
        super().__init__(task, order, labels, weights)
        X, kept, unit = task.rows.values, task.kept, distance_unit(task)
        middle = task.reference.centers.mean(axis=0) * 0.5
        self.table = np.zeros(X.shape, dtype=np.int32)
        for j in range(X.shape[1]):
            half = (X[kept, j] * 0.5 - middle[j]) * unit
            self.table[kept, j] = np.rint(np.ldexp(half, ROW_BITS - 1))

    def impurity(self, counts: Ints) -> float:
        return math.inf if np.count_nonzero(counts) > 1 else 0.0

    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        rows, weight, d = self.order.rows_of(places), int(counts.sum()), self.order.rows.n_columns
        of_rows = self.weights[rows] if self.weights.size else np.ones(len(rows), dtype=np.int64)
        sums = np.array([int((self.table[rows, j] * of_rows).sum()) for j in range(d)], dtype=np.int64)
        mean = sums // weight
        total = sums - weight * mean

        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.table, self.weights, mean, total, weight
            found: Best = best_by_rows(self.order.entries, *node)
            return found

        return best, lambda score: -score, 2 + d


CRITERIA: dict[str, type[_Criterion]] = {"gini": _Gini, "entropy": _Entropy, "centers": _Centers, "rows": _Rows}
