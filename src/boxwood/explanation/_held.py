"""The rows that each leaf holds of each cluster, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from boxwood._types import Array, Floats, Indices, Ints
from boxwood.explanation._conditions import Rule
from boxwood.explanation._summaries import LeafSummary

if TYPE_CHECKING:
    from boxwood.reference import Reference
    from boxwood.tree import ThresholdTree

__all__ = ["confusion_in", "held_by_leaves", "leaves_holding"]


def held_by_leaves(leaf: Indices, n_leaves: int, reference: Reference, weights: Floats | None) -> tuple[Array, Ints]:
    """Return the number, or the weight, of the rows of each cluster in each leaf, shape (n_leaves, k), and noise.

    That is the number of rows left out by their label in each leaf, shape (n_leaves,), whatever their weight.

    IN: leaf (n,): of each row; weights (n,).
    """
    width = reference.n_clusters + 1  # the label -1 becomes column 0
    cells = leaf * width
    cells += reference.labels
    cells += 1
    held = np.bincount(cells, weights, minlength=n_leaves * width).reshape(n_leaves, width)
    noise = held[:, 0] if weights is None else np.bincount(leaf[~reference.kept], minlength=n_leaves)
    return held[:, 1:], noise


def leaves_holding(tree: ThresholdTree, held: Array, noise: Ints, rules: Sequence[Rule]) -> tuple[LeafSummary, ...]:
    """Return the leaves; IN: held (n_leaves, k), noise (n_leaves,): see `held_by_leaves`; rules: of each leaf."""
    own, sizes = held[np.arange(tree.n_leaves), tree.leaf_clusters], held.sum(axis=1)
    clusters = tree.leaf_clusters.tolist()
    return tuple(map(LeafSummary, range(tree.n_leaves), clusters, sizes.tolist(), own.tolist(), rules, noise.tolist()))


def confusion_in(held: Array, tree: ThresholdTree) -> Array:
    """Return the number, or the weight, of the rows of each cluster that are ruled to be in each cluster, (k, k)."""
    k = held.shape[1]
    ruled = np.zeros((k, k), dtype=held.dtype)
    np.add.at(ruled, tree.leaf_clusters, held)
    return ruled.T
