"""Checks that labels, trees and references fit the rows they are measured on."""

from __future__ import annotations

from boxwood._types import Array
from boxwood.errors import DataError
from boxwood.reference import Reference
from boxwood.reference._labels import check_length, whole_labels
from boxwood.tree import ThresholdTree

__all__ = ["check_fit", "check_length", "whole_labels"]


def check_fit(X: Array, tree: ThresholdTree, reference: Reference) -> None:
    """Raise a DataError unless tree and reference speak of the rows and columns of `X` and of the same clusters."""
    check_length(reference.labels, len(X), "labels in the reference")
    if reference.centers.shape[1] != X.shape[1]:
        raise DataError(f"X has {X.shape[1]} columns, but the reference's centres have {reference.centers.shape[1]}")
    if tree.n_features > X.shape[1]:
        raise DataError(f"the tree tests column {tree.n_features - 1}, but X has {X.shape[1]} columns")
    last = int(tree.leaf_clusters.max())
    if last >= reference.n_clusters:
        raise DataError(f"the tree has a leaf of cluster {last}, but the reference has {reference.n_clusters} clusters")
