"""The cost of a partition in the feature space of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Indices
from boxwood._validation import Rows
from boxwood.errors import DataError
from boxwood.kernels import GramMatrix, Kernel, Precomputed, as_kernel
from boxwood.kernels._means import distances_to_means, rows_of_clusters, shares
from boxwood.metrics._checks import check_length, whole_labels
from boxwood.reference import Reference, encode_labels
from boxwood.tree import ThresholdTree

__all__ = ["KernelSpace", "kernel_cost"]


def kernel_cost(
    X: ArrayLike,
    labels: Any,
    kernel: Kernel | str,
    *,
    reference: Reference | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> float:
    """Return the kernel k-means cost of a partition: squared distances of rows to kernel means, summed over rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows; for `Precomputed` their Gram matrix, shape (n, n).
    labels : ThresholdTree, or array-like of shape (n,)
        Partition: a tree, whose leaves of the same cluster are one part, or the part of each row, of any hashable type,
        -1 for rows left out.
    kernel : Kernel or str
        Kernel, or a name that `kernels.as_kernel` knows. A bandwidth still to be found is found from `X`.
    reference : Reference, or array-like of shape (n,), default=None
        Clusters whose kernel means are the centres: each row is charged the distance to the mean of the cluster of its
        part's number (the surrogate cost), and labels are whole numbers. None takes for each part its own mean, which
        never costs more, if the kernel is positive definite.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; whole weights are repeated rows.
    n_jobs : int or None, default=-1
        Number of threads; the result does not depend on it.

    Returns
    -------
    float
        At least 0 for positive definite kernels, and exactly 0 where the rows of each part are equal.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, rows are outside of the kernel's domain, a part has a number
        that no row of the reference has, or a tree meets a precomputed kernel, which knows no columns.

    Notes
    -----
    Takes one value of the kernel for each pair of rows in the same part (twice that for a reference), computed in
    tiles: memory for n numbers besides.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, equation (2).

    Examples
    --------
    >>> X = [[0.0], [2.0], [9.0]]
    >>> kernel_cost(X, ["a", "a", "b"], "linear"), kernel_cost(X, [0, 0, 1], "linear", reference=[0, 1, 1])
    (2.0, 16.25)
    """
    space = KernelSpace(X, kernel, sample_weight, n_jobs)
    if isinstance(labels, ThresholdTree):
        if isinstance(space.kernel, Precomputed):
            raise DataError("a tree tests columns, which a Gram matrix has not; pass tree.predict(X) as labels")
        labels = labels.predict(space.table)
    if reference is None:
        codes, names = encode_labels(labels)
        check_length(codes, len(space.table))
        return space.cost(codes, len(names))
    own = np.asarray(reference.labels if isinstance(reference, Reference) else reference)
    k = int(own.max(initial=-1)) + 1
    return space.cost(whole_labels(labels, len(space.table), k), k, own)


class KernelSpace:
    """Rows in the feature space of a kernel, where several partitions are measured."""

    def __init__(
        self, X: ArrayLike | Rows, kernel: Kernel | str, sample_weight: ArrayLike | None = None, n_jobs: int | None = -1
    ) -> None:
        rows = Rows.of(X, sample_weight)
        self.table, self.weights = rows.values, rows.weights
        self.kernel = as_kernel(kernel).fitted(self.table)
        self.gram: GramMatrix = self.kernel.gram(self.table)
        self.diagonal = self.kernel.diagonal(self.table)
        self.n_jobs = n_jobs

    def cost(self, labels: Indices, k: int, centers: Array | None = None) -> float:
        """Return the cost of labels from -1 to k - 1, around their own means or those of other labels."""
        parts = rows_of_clusters(labels, k, len(self.table), self.weights)
        points = parts if centers is None else rows_of_clusters(centers, k, len(self.table), self.weights)
        return float(
            sum(self._part(c, *pair) for c, pair in enumerate(zip(parts, points, strict=True)) if len(pair[0]))
        )

    def _part(self, c: int, rows: Indices, points: Indices) -> float:
        if len(points) == 0:
            raise DataError(
                f"rows have the label {c}, but the reference has no rows of that cluster to take the mean of"
            )
        share = shares(points, self.weights)[:, None]
        own = self.gram.product(share, rows=points, columns=points, n_jobs=self.n_jobs)
        similarities = own
        if rows is not points:
            similarities = self.gram.product(share, rows=rows, columns=points, n_jobs=self.n_jobs)
        distances = distances_to_means(self.kernel, self.diagonal[rows], (share * own).sum(axis=0), similarities)[:, 0]
        return float(distances.sum() if self.weights is None else (self.weights[rows] * distances).sum())
