"""Readability: the amount that a person has to read in a tree, and in the rule of a row."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Amount, Array, Ints, Weights
from boxwood._validation import Rows, refuse_no_sum
from boxwood.tree import Box, ThresholdTree
from boxwood.tree.tree import refuse_no_tree

LARGEST = sys.float_info.max


class Readability(NamedTuple):
    """How much a person has to read, in numbers of leaves, cuts, columns and conditions.

    `depth` is the number of cuts on the longest path, `n_features` the number of different columns tested. Averages
    over rows are `weighted_average_depth`, the number of cuts on a row's path, and
    `weighted_average_explanation_size`, the number of conditions in the rule of its leaf. Always holds:
    `weighted_average_depth <= depth`.
    """

    n_leaves: int
    depth: int
    n_features: int
    weighted_average_depth: Amount
    weighted_average_explanation_size: Amount


def readability(X: ArrayLike, tree: ThresholdTree, *, sample_weight: ArrayLike | None = None) -> Readability:
    """Return how much a person has to read in a tree, and for the rows of `X` on average.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows. A leaf counts in the averages by its rows.
    tree : ThresholdTree
        Tree to be read.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    Readability
        The explanation size of a leaf is the number of one-sided conditions that remain when the cuts on its path are
        merged by column: `x > 3` and `x > 5` are one condition, `3 < x <= 5` is two, and a set of categories is one.

    Raises
    ------
    DataError
        If rows or weights do not fit, or values are missing or infinite.

    Notes
    -----
    Takes the time of `tree.apply` and `tree.boxes`, and 8 bytes of extra memory per row.

    References
    ----------
    E. Laber, L. Murtinho, F. Oliveira, "Shallow decision trees for explainable k-means clustering", Pattern Recognition
    137 (2023), doi:10.1016/j.patcog.2022.109239.

    Examples
    --------
    >>> tree = ThresholdTree.from_dict(
    ...     {
    ...         "feature": 0,
    ...         "threshold": 5,
    ...         "left": {"feature": 0, "threshold": 3, "left": {"cluster": 0}, "right": {"cluster": 1}},
    ...         "right": {"cluster": 2},
    ...     }
    ... )
    >>> readability([[1.0], [2.0], [4.0], [9.0]], tree)
    Readability(n_leaves=3, depth=2, n_features=1, weighted_average_depth=1.75, weighted_average_explanation_size=1.25)
    """
    refuse_no_tree(tree)
    rows = Rows.of(X, sample_weight)
    refuse_no_sum(rows.weights)
    return readability_at(tree, tree.apply(rows), rows.weights)


def readability_at(tree: ThresholdTree, leaf: Ints, weights: Weights) -> Readability:
    """Return the readability of a tree for rows with these leaves, shape (n,)."""
    return readability_of(tree, np.bincount(leaf, weights, minlength=tree.n_leaves))


def readability_of(tree: ThresholdTree, on_leaf: Array, categories: Collection[int] = ()) -> Readability:
    """Return the readability of a tree with these numbers or weights of rows on its leaves, shape (n_leaves,).

    IN: categories: columns of codes, also where no cut asks for a set of them.
    """
    leaf_shares = on_leaf / on_leaf.sum()
    coded = frozenset(tree.feature[tree.is_set].tolist()) | frozenset(categories)
    sizes = np.array([_size(box, coded) for box in tree.boxes()])
    return Readability(
        tree.n_leaves,
        tree.depth,
        len(tree.features),
        float(leaf_shares @ tree.node_depth[tree.leaf_nodes]),
        float(leaf_shares @ sizes),
    )


def _size(box: Box, coded: Collection[int]) -> int:
    """Return the number of conditions of a box: each end of an interval is one, and each column of `coded`, of sets.

    The largest number is no end, as all but missing numbers are below it.
    """
    known = (pieces for j, pieces in box.items() if j not in coded)
    ends = (abs(end) for pieces in known for piece in pieces for end in piece[:2])
    return sum(end < LARGEST for end in ends) + len(box.keys() & coded)
