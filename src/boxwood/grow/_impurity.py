"""Trees that leave the least impurity in their leaves: CART on the labels, and regression trees, best cut first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from boxwood._types import Ints
from boxwood._validation import refuse_unknown
from boxwood.grow._impurity_bins import GiniInBins
from boxwood.grow._impurity_labels import Labels
from boxwood.grow._impurity_order import CRITERIA, InOrder
from boxwood.reference import Task
from boxwood.tree import ThresholdTree, TreeBuilder

__all__ = ["grown_by", "grown_to_sizes"]

MARGIN = 1.0 + 1e-9  # above the errors of an impurity, which only says when a leaf is looked at


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
    times that, by "rows" d times. Memory: 4 n d bytes, and by "rows" as much again. By "gini" a long table is not
    sorted: sums over bins of the columns show where the best cut may lie, and only the rows there are. Memory then is n
    d bytes.
    """
    return grown_to_sizes(task, criterion, [max_leaf_nodes])[0]


def grown_to_sizes(task: Task, criterion: str, sizes: Sequence[int]) -> list[ThresholdTree]:
    """Return `grown_by(task, criterion, size)` for ascending sizes; all take the time of the last one."""
    refuse_unknown("criterion", criterion, CRITERIA)
    growth = _Growth(task, criterion)
    return [growth.grow(size) for size in sizes]


class CutRows(Protocol):
    """The rows of a task, in which the best cut of a node is found. What the rows of a node are is its own affair.

    A cut is a column and something more.
    """

    root: Any

    def impurity(self, counts: Ints) -> float:
        """Return the impurity of a node with such weights of clusters, or more; 0 if it need not be cut."""

    def best(self, part: Any, counts: Ints) -> tuple[float, Any] | None:
        """Return what the best cut of a node gains, and the cut; None without one."""

    def threshold(self, cut: Any) -> float:
        """Return the threshold of a cut."""

    def split(self, part: Any, cut: Any) -> tuple[Any, Any]:
        """Return both sides of a node's cut."""

    def counts(self, part: Any, feature: int = 0) -> Ints:
        """Return the weight by cluster of the rows of a node, of the root or beside a cut of the column."""


class _Leaf(NamedTuple):
    """A leaf that may be cut: its node in the builder, its rows, and their weight by cluster."""

    node: int
    part: Any
    counts: Ints
    depth: int


class _Growth:
    """A tree whose leaves are cut one after another.

    A leaf waits in the heap under the most that it could gain, its impurity, until it is the first; then its best cut
    is looked for, and it waits under what that gains. So leaves that gain little are never looked at.
    """

    def __init__(self, task: Task, criterion: str) -> None:
        labels = Labels.of(task)
        in_bins = criterion == "gini" and task.is_long
        self.rows: CutRows = GiniInBins(task, labels) if in_bins else InOrder(task, criterion, labels)
        self.builder, self.max_depth = TreeBuilder(), task.budget.max_depth
        self.heap: list[tuple[float, bool, int, _Leaf, Any]] = []
        root: Any = self.rows.root
        self._add(_Leaf(0, root, self.rows.counts(root), 0))

    def grow(self, max_leaf_nodes: int) -> ThresholdTree:
        """Return the tree with at most so many leaves; may be called again for more of them."""
        while self.heap and self.builder.n_leaves < max_leaf_nodes:
            _, _, _, leaf, cut = heapq.heappop(self.heap)
            if cut is None:
                self._look_at(leaf)
            else:
                self._split(leaf, cut)
        return self.builder.build()

    def _add(self, leaf: _Leaf) -> None:
        self.builder.label(leaf.node, int(leaf.counts.argmax()))
        impurity = self.rows.impurity(leaf.counts)
        if impurity > 0 and leaf.depth != self.max_depth:
            heapq.heappush(self.heap, (-impurity * MARGIN, False, leaf.node, leaf, None))

    def _look_at(self, leaf: _Leaf) -> None:
        found = self.rows.best(leaf.part, leaf.counts)
        if found is not None:
            gain, cut = found
            heapq.heappush(self.heap, (-gain, True, leaf.node, leaf, cut))

    def _split(self, leaf: _Leaf, cut: Any) -> None:
        feature = cut[0]
        left, right = self.builder.split(leaf.node, feature, self.rows.threshold(cut))
        first, second = self.rows.split(leaf.part, cut)
        counts = self.rows.counts(first, feature)
        self._add(_Leaf(left, first, counts, leaf.depth + 1))
        self._add(_Leaf(right, second, leaf.counts - counts, leaf.depth + 1))
