"""Checks that labels, trees and references fit the rows they are measured on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxwood.errors import DataError
from boxwood.reference import Reference
from boxwood.tree import ThresholdTree

__all__ = ["check_fit", "check_length", "whole_labels"]


def whole_labels(labels: Any, n_rows: int, n_clusters: int, what: str = "labels") -> NDArray[np.intp]:
    """Return labels from -1 to `n_clusters` - 1, one for each row, shape (n,)."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DataError(f"{what} must be whole numbers, one for each row; got {array.dtype} of shape {array.shape}")
    check_length(array, n_rows, what)
    low, high = int(array.min()), int(array.max())
    if low < -1 or high >= n_clusters:
        raise DataError(f"{what} must be from -1 to {n_clusters - 1} for {n_clusters} clusters; got {low} to {high}")
    return array.astype(np.intp, copy=False)


def check_length(labels: NDArray[Any], n_rows: int, what: str = "labels") -> None:
    """Raise a DataError unless there is one label for each row, and at least one row is not left out."""
    if len(labels) != n_rows:
        raise DataError(f"there are {n_rows} rows, but {len(labels)} {what}")
    if labels.max(initial=-1) < 0:
        raise DataError(f"every row is left out: all {what} are -1")


def check_fit(X: NDArray[Any], tree: ThresholdTree, reference: Reference) -> None:
    """Raise a DataError unless tree and reference speak of the rows and columns of `X` and of the same clusters."""
    check_length(reference.labels, len(X), "labels in the reference")
    if reference.centers.shape[1] != X.shape[1]:
        raise DataError(f"X has {X.shape[1]} columns, but the reference's centres have {reference.centers.shape[1]}")
    if tree.n_features > X.shape[1]:
        raise DataError(f"the tree tests column {tree.n_features - 1}, but X has {X.shape[1]} columns")
    last = int(tree.leaf_clusters.max())
    if last >= reference.n_clusters:
        raise DataError(f"the tree has a leaf of cluster {last}, but the reference has {reference.n_clusters} clusters")
