"""Checks that a tree fits the rows, the reference or the mixture that it is measured on."""

from __future__ import annotations

import numpy as np

from boxwood._types import Array
from boxwood.errors import DataError
from boxwood.reference import Mixture, Reference
from boxwood.reference.labels import check_length
from boxwood.reference.mixture import refuse_no_mixture
from boxwood.reference.reference import refuse_no_reference
from boxwood.tree import ThresholdTree
from boxwood.tree.tree import refuse_no_tree


def check_fit(X: Array, tree: ThresholdTree, reference: Reference) -> None:
    """Raise a DataError unless tree and reference have the columns of `X`, the same clusters, and a label per row."""
    refuse_no_tree(tree)
    refuse_no_reference(reference)
    check_length(reference.labels, len(X), "labels in the reference")
    if reference.centers.shape[1] != X.shape[1]:
        raise DataError(f"X has {X.shape[1]} columns, but the reference's centres have {reference.centers.shape[1]}")
    _check_columns(tree, X.shape[1], "X")
    _check_clusters(tree, reference.n_clusters, "reference", "clusters")


def in_components(mixture: Mixture, tree: ThresholdTree) -> ThresholdTree:
    """Return a tree with the numbers of the mixture's components, in place of their clusters, at its leaves.

    Raises a DataError if the tree tests a column or has a cluster that the mixture does not have, or if components
    share a cluster.
    """
    refuse_no_mixture(mixture)
    refuse_no_tree(tree)
    k, d = mixture.means.shape
    _check_columns(tree, d, "the mixture")
    if np.array_equal(mixture.clusters, np.arange(k)):
        _check_clusters(tree, k, "mixture", "components")
        return tree
    components = {cluster: component for component, cluster in enumerate(mixture.clusters.tolist())}
    if len(components) < k:
        raise DataError("several components share a cluster; give each a cluster of its own, by Mixture.with_clusters")
    clusters = tree.leaf_clusters.tolist()
    unknown = sorted(set(clusters) - components.keys())
    if unknown:
        raise DataError(f"the tree has a leaf of cluster {unknown[0]}, which is no component's; see mixture.clusters")
    return tree.relabeled([components[cluster] for cluster in clusters])


def _check_columns(tree: ThresholdTree, n_columns: int, owner: str) -> None:
    if tree.n_features > n_columns:
        raise DataError(f"the tree tests column {tree.n_features - 1}, but {owner} has {n_columns} columns")


def _check_clusters(tree: ThresholdTree, n_clusters: int, owner: str, kind: str) -> None:
    last = int(tree.leaf_clusters.max())
    if last >= n_clusters:
        raise DataError(f"the tree has a leaf of cluster {last}, but the {owner} has {n_clusters} {kind}")
