"""The cost of a partition in the feature space of a kernel."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows, refuse_no_sum
from boxwood.errors import DataError
from boxwood.kernels import GramMatrix, Kernel, Precomputed, as_kernel
from boxwood.kernels.means import distances_to_means, rows_of_clusters, shares
from boxwood.reference import Reference, encode_labels
from boxwood.reference.labels import check_length, whole_labels
from boxwood.reference.reference import labels_given
from boxwood.tree import ThresholdTree

_MOST_CLUSTERS = 1 << 31


def kernel_cost(
    X: ArrayLike,
    labels: Any,
    *,
    kernel: Kernel | str,
    reference: Reference | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> float:
    """Return the kernel k-means cost of a partition: the sum of squared distances of rows to kernel means.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows; for `Precomputed` their Gram matrix, shape (n, n).
    labels : ThresholdTree, or array-like of shape (n,)
        Partition: a tree, whose leaves of the same cluster count as one cluster, or the cluster of each row. Labels may
        be of any hashable type; -1 leaves a row out.
    kernel : Kernel or str
        Kernel, or a name that `kernels.as_kernel` knows. A bandwidth that is not yet a number is computed from `X`.
    reference : Reference, or array-like of shape (n,), default=None
        Clusters whose kernel means are the centres; the result is then the surrogate cost. Labels are then whole
        numbers: label c takes the mean of cluster c of the reference. None takes the kernel mean of each cluster of the
        partition itself, which never costs more if the kernel is positive definite.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; whole weights are repeated rows.
    n_jobs : int or None, default=-1
        Number of threads; the result does not depend on it.

    Returns
    -------
    float
        At least 0 for positive definite kernels. It is exactly 0 where the rows of each cluster are equal.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, values lie outside the kernel's domain, a label has no row in
        the reference, or a tree comes with a precomputed kernel, which has no columns.

    Notes
    -----
    Computes one value of the kernel for each pair of rows in the same cluster, and about twice as many for a reference.
    They are computed in tiles, so extra memory is n numbers.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, equation (2).

    Examples
    --------
    >>> X = [[0.0], [2.0], [9.0]]
    >>> kernel_cost(X, ["a", "a", "b"], kernel="linear")
    2.0
    >>> kernel_cost(X, [0, 0, 1], kernel="linear", reference=[0, 1, 1])
    16.25
    """
    space = KernelSpace(X, kernel, sample_weight, n_jobs)
    if isinstance(labels, ThresholdTree):
        if isinstance(space.kernel, Precomputed):
            raise DataError("a tree tests columns, and a Gram matrix has none; pass tree.predict(X) as labels")
        labels = labels.predict(space.table)
    if reference is None:
        codes, names = encode_labels(labels)
        check_length(codes, len(space.table))
        return space.cost(codes, len(names))
    reference_labels = whole_labels(labels_given(reference), len(space.table), _MOST_CLUSTERS, "reference")
    k = int(reference_labels.max(initial=-1)) + 1
    return space.cost(whole_labels(labels, len(space.table), k), k, reference_labels)


class KernelSpace:
    """Rows in the feature space of a kernel; made once where several partitions are measured there."""

    weights: Any
    table: Array

    def __init__(
        self, X: ArrayLike | Rows, kernel: Kernel | str, sample_weight: ArrayLike | None = None, n_jobs: int | None = -1
    ) -> None:
        rows = Rows.of(X, sample_weight)
        refuse_no_sum(rows.weights)
        self.table, self.weights = rows.values, rows.weights
        self.kernel: Kernel = as_kernel(kernel).fitted(rows)
        self.gram: GramMatrix = self.kernel.gram(rows)
        self.diagonal: Floats = self.kernel.diagonal(rows)
        self.n_jobs = n_jobs

    def cost(self, labels: Indices, k: int, centers: Array | None = None) -> float:
        """Return the cost of labels from -1 to k - 1.

        A row of label c is measured against the mean of the rows that have label c in `centers`; None takes `labels`.
        """
        rows_of = rows_of_clusters(labels, k, len(self.table), self.weights)
        points_of = rows_of if centers is None else rows_of_clusters(centers, k, len(self.table), self.weights)
        pairs = enumerate(zip(rows_of, points_of, strict=True))
        return float(sum(self._cost_of_cluster(c, rows, points) for c, (rows, points) in pairs if len(rows)))

    def _cost_of_cluster(self, c: int, rows: Indices, points: Indices) -> float:
        """Return the sum of squared distances of some rows to the mean of the points."""
        if len(points) == 0:
            raise DataError(
                f"rows have the label {c}, but the reference has no rows of that cluster to take the mean of"
            )
        share = shares(points, self.weights)[:, None]
        of_points = self.gram.product(share, rows=points, columns=points, n_jobs=self.n_jobs)
        of_rows = of_points
        if rows is not points:
            of_rows = self.gram.product(share, rows=rows, columns=points, n_jobs=self.n_jobs)
        square = (share * of_points).sum(axis=0)
        distances = distances_to_means(self.kernel, self.diagonal[rows], square, of_rows)[:, 0]
        return float(distances.sum() if self.weights is None else (self.weights[rows] * distances).sum())
