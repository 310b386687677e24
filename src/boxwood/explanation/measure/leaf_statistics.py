"""`LeafStatistics`: what the leaves of a tree hold of each cluster, wherever the rows are, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Array, Indices, Ints
from boxwood.explanation.records import LeafSummary, Rule
from boxwood.metrics.agreements import agreement_of, are_whole, as_numbers_of_rows

if TYPE_CHECKING:
    from boxwood.reference import Task
    from boxwood.tree import ThresholdTree


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
        weights = task.rows.weights
        whole = weights is None or are_whole(weights[task.kept])
        held, noise = held_in(task, leaf, tree.n_leaves)
        return cls(tree, held, noise, len(leaf), task.n_kept, weights is not None, whole)

    @property
    def confusion(self) -> Array:
        """Number, or weight, of the rows of each cluster that are ruled to be in each cluster, shape (k, k)."""
        return confusion_in(self.held, self.tree)

    @property
    def adjusted_rand(self) -> float:
        """Adjusted Rand index between the clusters and the tree's groups of rows."""
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
    reference, weights = task.reference, task.rows.weights
    width = reference.n_clusters + 1  # the label -1 becomes column 0
    cells = leaf * width
    cells += reference.labels
    cells += 1
    held = np.bincount(cells, weights, minlength=n_leaves * width).reshape(n_leaves, width)
    noise = held[:, 0] if weights is None else np.bincount(leaf[~task.kept], minlength=n_leaves)
    return held[:, 1:], noise


def confusion_in(held: Array, tree: ThresholdTree) -> Array:
    """Return the number, or the weight, of the rows of each cluster that are ruled to be in each cluster, (k, k)."""
    k = held.shape[1]
    ruled = np.zeros((k, k), dtype=held.dtype)
    np.add.at(ruled, tree.leaf_clusters, held)
    return ruled.T
