"""`Evidence`: the rows that an explanation was measured on, what leaves hold of them, how to grow its tree again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import rows_of_table
from boxwood._types import Array, Bools, Floats, Indices, Ints, Weights
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.records import LeafSummary, Rule
from boxwood.reference.budget import NO_BUDGET, Budget

if TYPE_CHECKING:  # a model that was read from a file has no evidence
    from boxwood.explanation.measure.batch_statistics import BatchStatistics
    from boxwood.explanation.measure.full_table import FullTable
    from boxwood.grow.grown import Grown
    from boxwood.kernels import Kernel
    from boxwood.reference import Task
    from boxwood.reference.feature_space import FeatureSpace
    from boxwood.tree import ThresholdTree

BOOLEAN = Categories((False, True), False)


@dataclass(frozen=True)
class Evidence:
    """What an explanation refers to while it is in memory, so that more can be measured; it is never written.

    Parameters
    ----------
    task : Task
        Rows in the columns on which trees are grown, the clusters with their names, weights, randomness.
    coordinates : FeatureSpace
        The same rows in the table's columns, on which the tree of the explanation runs, and the map between them.
    leaf : array of shape (n,)
        Leaf of each row in memory; empty for rows in batches.
    held : array of shape (n_leaves, k)
        Number, or weight, of the rows of each cluster in each leaf.
    facts : BatchStatistics, default=None
        What passes tell of rows in batches, in the table's columns; None for rows in memory.
    grow : function from a task to Grown, default=None
        Grows a tree by the method of the explanation on the columns of `task`; None for a tree that was there already.
    clusterer : object, default=None
        The fitted clusterer that makes the clusters again, of other rows; None where `fixed` says why there is none.
    fixed : str, default="Labels were given"
        Why the clusters cannot be made again, if there is no clusterer.
    booleans : tuple of str, default=()
        Columns of the table that hold booleans, as 0 and 1.
    given : array or data frame, default=None
        The rows as the clusterer was given them; None if these are the rows of the task.
    kernel : Kernel, default=None
        Kernel in whose feature space costs are measured; None measures them in the columns.
    is_short : bool, default=False
        Whether thresholds of the explanation were shortened, and so should be those of trees compared with it.
    budget : Budget
        Limits of the rules, on the table's columns.
    by_means : bool, default=False
        Whether the centres are the means of the clusters' rows in batches, so that those of a sample are its own means.
    positions : array of shape (n,), default=None
        Position of each row in the table that was explained; None if no row of it was left out as it lacks values.
    unplaced : str, default=""
        Name of the table if these rows have no positions in it, as they were drawn from it, or it has no order.
    whole : FullTable, default=None
        All rows of the table from which these were drawn, and which the facts of the tree are told of.
    others : array, data frame, ColumnTable or Source, default=None
        The rows of the table that were left out as they lack values.
    beside : function from the name of a column to an array, default=None
        Reads the numbers of a column that rules do not use, of all rows of the table; None where the table is not at
        hand.
    outcomes : Evidence, default=None
        The rows of the table whose clusters these are, where rules are on the columns of another one.
    """

    task: Task
    coordinates: FeatureSpace
    leaf: Indices
    held: Array
    facts: BatchStatistics | None = None
    grow: Callable[[Task], Grown] | None = None
    clusterer: Any = None
    fixed: str = "Labels were given"
    booleans: tuple[str, ...] = ()
    given: Any = None
    kernel: Kernel | None = None
    is_short: bool = False
    budget: Budget = NO_BUDGET
    by_means: bool = False
    positions: Indices | None = None
    unplaced: str = ""
    whole: FullTable | None = None
    others: Any = None
    beside: Callable[[str], Floats] | None = None
    outcomes: Evidence | None = None

    @property
    def in_batches(self) -> bool:
        """Whether rows come in batches."""
        return self.task.in_batches

    @property
    def columns(self) -> dict[int, str]:
        """Columns of the table whose values are at hand, and their names: a pipeline reads those that it uses."""
        names, axis_map = self.coordinates.columns, self.coordinates.axis_map
        read = range(len(names)) if axis_map is None else np.unique(axis_map.features).tolist()
        return {j: names[j] for j in read}

    @property
    def categories(self) -> dict[int, Categories]:
        """Columns of the table that hold codes, and what the codes stand for; columns of booleans among them."""
        booleans = {j: BOOLEAN for j, name in self.columns.items() if name in self.booleans}
        return booleans | dict(self.coordinates.categories)

    def of_rows(self, rows: Indices) -> Evidence:
        """Return the same on some of the rows."""
        task, here, whole = self.task.of_rows(rows), self.coordinates, self.task
        budget = self.budget.for_share(min(task.n_kept / whole.n_kept, 1.0))
        measured = None if here.measured is None else here.measured.take(rows)
        coordinates = replace(here, table_store=here.table.take(rows), store=task.rows, measured=measured, beside={})
        given = None if self.given is None else rows_of_table(self.given, rows)
        leaf = self.leaf[rows]
        held, _ = held_in(task, leaf, len(self.held))
        there = replace(self, task=task, coordinates=coordinates, leaf=leaf, held=held, given=given, budget=budget)
        return replace(there, positions=None, whole=None, others=None, beside=None, outcomes=None)

    def in_table(self, row: int) -> int:
        """Return the position in the whole table of a row."""
        self._refuse_unplaced()
        return row if self.positions is None else int(self.positions[row])

    def row_of(self, position: int) -> int:
        """Return the row at a position in the whole table."""
        self._refuse_unplaced()
        if self.positions is None:
            return position
        row = int(np.searchsorted(self.positions, position))
        if row == len(self.positions) or self.positions[row] != position:
            raise DataError(f"row {position} lacks a value that the rules look at; give it as a mapping to see how far")
        return row

    def _refuse_unplaced(self) -> None:
        if self.unplaced:
            raise DataError(
                f"these are rows of {self.unplaced} without positions there, as they were drawn, or it has no order of "
                "rows; read them into a frame, and pass it with its labels"
            )

    def on_table(self, tree: ThresholdTree) -> ThresholdTree:
        """Return a tree on the columns of the task as one on the table's, within the limits.

        Thresholds are short if those of the explanation are.
        """
        from boxwood.explanation.measure.limited import finish_tree

        tree = self.coordinates.pulled_back(tree)
        short = self.coordinates.shortened(tree) if self.is_short else tree
        return finish_tree(short, self.task, self.budget, self.coordinates)[0]


class LeafStatistics(NamedTuple):
    """What the leaves of a tree hold.

    Parameters
    ----------
    tree : ThresholdTree
        The tree.
    held : array of shape (n_leaves, k)
        Number, or weight if rows are weighted, of the rows of each cluster in each leaf.
    noise : array of shape (n_leaves,)
        Number of the rows left out by their label, or by a weight of 0, in each leaf.
    n_rows, n_kept : int
        Number of all rows, and of those with a cluster and a weight above 0.
    weighted : bool
        Whether rows are weighted.
    whole : bool
        Whether weights count rows: whether they are whole numbers of moderate size.
    """

    tree: ThresholdTree
    held: Array
    noise: Ints
    n_rows: int
    n_kept: int
    weighted: bool
    whole: bool

    @classmethod
    def of(cls, task: Task, tree: ThresholdTree, leaf: Indices) -> LeafStatistics:
        """Return those of rows in memory; IN: leaf (n,): of each row."""
        return cls.of_labels(tree, leaf, task.reference.labels, task.reference.n_clusters, task.rows.weights)

    @classmethod
    def of_labels(cls, tree: ThresholdTree, leaf: Indices, labels: Indices, k: int, weights: Weights) -> LeafStatistics:
        """Return those of rows with clusters, shape (n,), or -1; IN: leaf (n,): of each row."""
        from boxwood.metrics.agreements import are_whole

        kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
        whole = weights is None or are_whole(weights[kept])
        held, noise = _count_held(leaf, labels, (tree.n_leaves, k), kept, weights)
        return cls(tree, held, noise, len(leaf), int(kept.sum()), weights is not None, whole)

    @property
    def confusion(self) -> Array:
        """Number, or weight, of the rows of each cluster that are ruled to be in each cluster, shape (k, k)."""
        return confusion_in(self.held, self.tree)

    @property
    def adjusted_rand(self) -> float:
        """Adjusted Rand index between the clusters and the tree's groups of rows."""
        from boxwood.metrics.agreements import agreement_of, as_numbers_of_rows  # here, as a model file has no rows

        confusion = self.confusion.astype(np.float64)
        table = confusion if self.whole else as_numbers_of_rows(confusion, self.n_kept)
        return agreement_of(table).adjusted_rand

    def leaves(self, rules: Sequence[Rule]) -> tuple[LeafSummary, ...]:
        """Return the leaves; IN: rules: of each leaf."""
        n_leaves, clusters, held = self.tree.n_leaves, self.tree.leaf_clusters, self.held
        own, sizes = held[np.arange(n_leaves), clusters].tolist(), held.sum(axis=1).tolist()
        return tuple(map(LeafSummary, range(n_leaves), clusters.tolist(), sizes, own, rules, self.noise.tolist()))


def held_in(task: Task, leaf: Indices, n_leaves: int) -> tuple[Array, Ints]:
    """Return what leaves hold of each cluster, shape (n_leaves, k), and of rows left out.

    IN: leaf (n,): of each row.
    """
    reference = task.reference
    return _count_held(leaf, reference.labels, (n_leaves, reference.n_clusters), task.kept, task.rows.weights)


def _count_held(
    leaf: Indices, labels: Indices, shape: tuple[int, int], kept: Bools, weights: Weights
) -> tuple[Array, Ints]:
    n_leaves, width = shape[0], shape[1] + 1  # the label -1 becomes column 0
    cells = leaf * width
    cells += labels
    cells += 1
    held = np.bincount(cells, weights, minlength=n_leaves * width).reshape(n_leaves, width)
    noise = held[:, 0] if weights is None else np.bincount(leaf[~kept], minlength=n_leaves)
    return held[:, 1:], noise


def confusion_in(held: Array, tree: ThresholdTree) -> Array:
    """Return the number, or the weight, of the rows of each cluster that are ruled to be in each cluster, (k, k)."""
    k = held.shape[1]
    ruled = np.zeros((k, k), dtype=held.dtype)
    np.add.at(ruled, tree.leaf_clusters, held)
    return ruled.T
