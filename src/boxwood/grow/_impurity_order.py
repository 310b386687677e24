"""What a cut leaves impure on its two sides, found in walks along the rows in the order of each column."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood._types import Ints
from boxwood.grow._costs import distance_unit
from boxwood.grow._impurity_labels import HALF, Labels, gini
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

__all__ = ["CRITERIA", "InOrder"]

TABLE = 1 << 20  # numbers whose logarithm is looked up
BITS = 30  # of squared distances between centres
ROW_BITS = 29  # of a value of a row, by "rows"

Best: TypeAlias = tuple[float, int, int]
"""What is left on the sides of a cut, its column and its place: the smaller is better; the place is -1 for no cut."""


class _Part(NamedTuple):
    """The rows of a node: their places, and those whose rows have to be moved to their sides first."""

    places: Places
    parent: list[Places]  # shared with the sibling


class InOrder:
    """The rows of a task in the order of each column, where a node's best cut is found; see `_impurity.CutRows`."""

    def __init__(self, task: Task, criterion: str, labels: Labels) -> None:
        self.order, self.labels = PartedOrder(task), labels
        self.criterion = CRITERIA[criterion](task, self.order, labels)
        self.root = _Part(self.order.root, [])

    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a node with such weights of clusters, or more; 0 if it need not be cut."""
        return self.criterion.impurity(counts)

    def best(self, part: _Part, counts: Ints) -> tuple[float, tuple[int, int]] | None:
        """Return what the best cut of a node gains, and the cut; None without one."""
        if part.parent:
            self.order.finish_split(part.parent.pop())
        search, gain_of, steps = self.criterion.search(part.places, counts)
        with self.order.least_on_sides(part.places):
            score, feature, place = min(each for each in self.order.by_columns(search, part.places, steps=steps))
        return (gain_of(score), (feature, place)) if place >= 0 else None

    def threshold(self, cut: tuple[int, int]) -> float:
        """Return the threshold of a cut."""
        return self.order.threshold(*cut)

    def split(self, part: _Part, cut: tuple[int, int]) -> tuple[_Part, _Part]:
        """Return both sides of a node's cut."""
        left, right = self.order.begin_split(part.places, *cut)
        parent = [part.places]
        return _Part(left, parent), _Part(right, parent)

    def counts(self, part: _Part, feature: int = 0) -> Ints:
        """Return the weight by cluster of a node's rows, which are in their places of one column."""
        return self.labels.counts(self.order.rows_of(part.places, feature))


# ---------------------------------------------------------------------------------------------------- criteria

Search: TypeAlias = Callable[[int, int], Best]


class _Criterion(ABC):
    """An impurity. All its numbers are in one unit, but what a search returns may be in another."""

    def __init__(self, task: Task, order: PartedOrder, labels: Labels) -> None:
        self.order, self.labels, self.weights = order, labels.labels, labels.weights

    @abstractmethod
    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a leaf with such weights of clusters, or more; 0 if it need not be cut."""

    @abstractmethod
    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        """Return the search for the best cut in a range of columns, what its score gains, and the steps at a row."""


class _Gini(_Criterion):
    def impurity(self, counts: Ints) -> float:
        return gini(counts)

    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, counts
            found: Best = best_by_gini(self.order.entries, *node)
            return found

        return best, lambda score: gini(counts) - score, 2


class _Entropy(_Criterion):
    def __init__(self, task: Task, order: PartedOrder, labels: Labels) -> None:
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

    def search(self, places: Places, counts: Ints) -> tuple[Search, Callable[[float], float], int]:
        whole = self._impurity(counts)

        def best(first: int, last: int) -> Best:
            node = first, last, *places, self.labels, self.weights, counts
            found: Best = best_by_entropy(self.order.entries, *node, self.table, self.scale)
            return found

        return best, lambda score: float(whole - score), 3


class _Centers(_Criterion):
    def __init__(self, task: Task, order: PartedOrder, labels: Labels) -> None:
        super().__init__(task, order, labels)
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
    def __init__(self, task: Task, order: PartedOrder, labels: Labels) -> None:
        super().__init__(task, order, labels)
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
