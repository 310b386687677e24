"""Rows and mistakes at each node of a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Bools, Indices, Ints
from boxwood._validation import Rows, refuse_no_sum
from boxwood.metrics.checks import check_fit
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree, rows_at_nodes


class NodeTable(NamedTuple):
    """Weights by node of a tree, in pre-order; whole numbers where no weights are given.

    Parameters
    ----------
    rows : array of shape (n_nodes,)
        Weight of the rows that reach the node.
    own : array of shape (n_nodes,)
        Weight of those rows for which a leaf of their cluster is at or below the node.
    mistakes : array of shape (n_nodes,)
        Weight of the rows for which a leaf of their cluster is below the node, but not below the child that they go to;
        0 at leaves. Always holds: `own` of a cut is the sum of its children's `own` and its `mistakes`.
    """

    rows: Array
    own: Array
    mistakes: Array


def node_table(
    X: ArrayLike, tree: ThresholdTree, reference: Reference, *, sample_weight: ArrayLike | None = None
) -> NodeTable:
    """Return for each node of a tree the weight of its rows, and of the rows that its cut separates from their cluster.

    Use it to see which cuts make a tree's mistakes. If every cluster has a leaf, the mistakes of all nodes
    add up to the weight of the rows in leaves of another cluster; so does `rows - own` over the leaves. Rows that the
    reference leaves out do not count.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    tree : ThresholdTree
        Tree that explains the reference; several leaves may share a cluster.
    reference : Reference
        Clustering of the same rows.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row. None counts rows, in whole numbers.

    Returns
    -------
    NodeTable
        Named triple of arrays: rows, own, mistakes.

    Raises
    ------
    DataError
        If rows, tree, reference and weights do not fit together.

    Notes
    -----
    Takes time n log(n_leaves) times the depth, and memory n + n_nodes.

    References
    ----------
    M. Moshkovitz, S. Dasgupta, C. Rashtchian, N. Frost, "Explainable k-means and k-medians clustering", ICML 2020,
    arXiv:2002.12538: rows that reach a node together with their centre.

    Examples
    --------
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 5, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> X = [[0.0], [2.0], [6.0], [8.0]]
    >>> node_table(X, tree, Reference.of(X, [0, 0, 0, 1]))
    NodeTable(rows=array([4, 2, 2]), own=array([4, 2, 1]), mistakes=array([1, 0, 0]))
    """
    rows_of_all = Rows.of(X, sample_weight)
    refuse_no_sum(rows_of_all.weights)
    table, weights = rows_of_all.values, rows_of_all.weights
    check_fit(table, tree, reference)
    weight: Array = reference.kept.astype(np.int64) if weights is None else np.where(reference.kept, weights, 0)
    result = NodeTable(*(np.zeros(tree.n_nodes, dtype=weight.dtype) for _ in NodeTable._fields))
    leaves = _LeafRuns(tree)
    is_unseparated = reference.kept  # whether no cut so far separates the row from all leaves of its cluster
    for node, rows, _ in rows_at_nodes(tree, table):
        result.rows[node] = weight[rows].sum()
        rows = rows[is_unseparated[rows]]
        stays = leaves.below(node, reference.labels[rows])
        separated = rows[~stays]
        is_unseparated[separated] = False
        result.own[node] = weight[rows[stays]].sum()
        if node > 0:
            result.mistakes[tree.parent[node]] += weight[separated].sum()
    return result


class _LeafRuns:
    """The clusters that have a leaf at or below a node.

    The leaves at or below a node are consecutive in pre-order::

        node       0   1   2   3   4        leaves below node 1: from 0 to 1
                 cut cut leaf leaf leaf
        before     0   0   0   1   2   3

    Each leaf has the key cluster * n_leaves + leaf. A search in the sorted keys gives the next leaf of a cluster.
    """

    def __init__(self, tree: ThresholdTree) -> None:
        is_leaf = tree.feature < 0
        self._before = np.concatenate([[0], np.cumsum(is_leaf)])
        self._n_leaves = tree.n_leaves
        self._keys = np.sort(tree.leaf_clusters * tree.n_leaves + np.arange(tree.n_leaves))
        self._end = _subtree_ends(tree)

    def below(self, node: int, clusters: Indices) -> Bools:
        """Return which of the clusters have a leaf at or below the node, shape (len(clusters),)."""
        first, last = self._before[node], self._before[self._end[node]]
        next_leaf = np.searchsorted(self._keys, clusters * self._n_leaves + first)
        leaf = self._keys[np.minimum(next_leaf, self._n_leaves - 1)] - clusters * self._n_leaves
        return np.asarray((first <= leaf) & (leaf < last))


def _subtree_ends(tree: ThresholdTree) -> Ints:
    """Return the node after the last node of each subtree, shape (n_nodes,)."""
    end = np.arange(1, tree.n_nodes + 1)
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:
        end[node] = end[tree.second[node]]  # the second child's subtree is the last
    return end
