"""The price of explainability, and an upper bound on it under a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._validation import Rows, refuse_no_sum, show_value
from boxwood.errors import DataError
from boxwood.kernels import Kernel, Precomputed, as_kernel
from boxwood.metrics.checks import check_fit
from boxwood.metrics.costs import ratio, summed_distances
from boxwood.metrics.kernel_costs import KernelSpace
from boxwood.reference import Reference, encode_labels
from boxwood.reference.centers import objective_code
from boxwood.reference.labels import check_length
from boxwood.reference.reference import labels_given
from boxwood.tree import ThresholdTree


def price_of_explainability(
    X: ArrayLike,
    tree: ThresholdTree,
    reference: Reference,
    *,
    objective: str = "sqeuclidean",
    centers: ArrayLike | str | None = None,
    kernel: Kernel | str | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cost of a tree divided by the cost of its reference.

    A price of 1 says that the tree costs as much as the reference. The price is below 1 where the tree's clustering is
    the better one; it is never clipped. Rows that the reference leaves out count in neither cost.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    tree : ThresholdTree
        Tree that explains the reference; its clusters are the reference's.
    reference : Reference
        Clustering of the same rows.
    objective : {"l1", "l2", "sqeuclidean"}, default="sqeuclidean"
        See `cost`.
    centers : array-like of shape (k, d) or "reference", default=None
        Centres for both partitions. "reference" takes those of the reference; with a kernel, these are its kernel
        means. None computes the best centres of each partition.
    kernel : Kernel or str, default=None
        Measures costs in the kernel's feature space, see `kernel_cost`; None measures them on the columns. A bandwidth
        that is not yet a number is computed from all rows.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    float
        No unit. It is 1 where both costs are 0, and infinite where only the reference costs 0.

    Raises
    ------
    DataError
        If rows, tree and reference do not fit together, or the kernel is precomputed: it has no columns for the tree.
    ValueError
        If the objective is unknown, or a kernel comes with an array of centres or an objective other than the default.

    Notes
    -----
    Takes the time of two calls of `cost`, or of `kernel_cost`. The papers divide by the lowest cost of all clusterings,
    which nobody knows; here the divisor is the cost of the reference. Both prices are equal for a reference of lowest
    cost; for any other, the price here is lower. Every kernel price is at most `price_ceiling`.

    References
    ----------
    M. Moshkovitz, S. Dasgupta, C. Rashtchian, N. Frost, "Explainable k-means and k-medians clustering", ICML 2020,
    arXiv:2002.12538.
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Definition 4.

    Examples
    --------
    >>> from boxwood.tree import ThresholdTree
    >>> tree = ThresholdTree.from_dict({"feature": 0, "threshold": 5, "left": {"cluster": 0}, "right": {"cluster": 1}})
    >>> X = [[0.0], [2.0], [6.0], [8.0]]
    >>> price_of_explainability(X, tree, Reference.of(X, [0, 0, 1, 1]))
    1.0
    >>> price_of_explainability(X, tree, Reference.of(X, [0, 0, 0, 1]))
    0.21428571428571427
    """
    code, rows = objective_code(objective), Rows.of(X, sample_weight)
    refuse_no_sum(rows.weights)
    check_fit(rows.values, tree, reference)
    if isinstance(centers, str) and centers != "reference":
        raise ValueError(f"centers must be an array, 'reference' or None, got {show_value(centers)}")
    if kernel is not None:
        if objective != "sqeuclidean" or not (centers is None or isinstance(centers, str)):
            raise ValueError("with a kernel, objective must be 'sqeuclidean', and centers 'reference' or None")
        return _kernel_price(rows, tree, reference, kernel, at_reference=centers is not None)
    if isinstance(centers, str):
        centers = reference.centers
    predicted = np.where(reference.kept, tree.predict(rows), -1)
    of_tree, of_reference = (
        summed_distances(rows.values, labels, code, centers, rows.weights) for labels in (predicted, reference.labels)
    )
    return ratio(of_tree, of_reference)


def _kernel_price(
    rows: Rows, tree: ThresholdTree, reference: Reference, kernel: Kernel | str, *, at_reference: bool
) -> float:
    if isinstance(as_kernel(kernel), Precomputed):
        raise DataError(
            "a tree tests columns, and a precomputed kernel has none; divide kernel_cost(gram, "
            "tree.predict(X), kernel=kernel) by kernel_cost(gram, reference.labels, kernel=kernel)"
        )
    space = KernelSpace(rows, kernel)
    predicted = np.where(reference.kept, tree.predict(rows), -1)
    centers = reference.labels if at_reference else None
    of_tree = space.cost(predicted, reference.n_clusters, centers)
    return ratio(of_tree, space.cost(reference.labels, reference.n_clusters))


def price_ceiling(
    X: ArrayLike,
    reference: Reference | ArrayLike,
    *,
    kernel: Kernel | str,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> float:
    """Return an upper bound on the kernel price of every partition of the rows, whatever tree makes it.

    A cluster costs no more around its own mean than around the origin of the feature space. So every partition costs at
    most the sum of K(x, x), and its price is at most this sum divided by the cost of the reference.

    Look at this bound beside a price. Where the bound is near 1, as for narrow bandwidths, every price is near 1 and
    says nothing about the tree; look at the agreement of labels instead.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows; for `Precomputed` their Gram matrix, shape (n, n).
    reference : Reference, or array-like of shape (n,)
        Clustering that the price compares with. Rows of label -1 are left out.
    kernel : Kernel or str
        Positive definite kernel, or a name that `kernels.as_kernel` knows.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.
    n_jobs : int or None, default=-1
        Number of threads; the result does not depend on it.

    Returns
    -------
    float
        No unit; infinite where the reference costs 0.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, or values lie outside the kernel's domain.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, section 7, where the bound is n max K(x, x) over the cost.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> price_ceiling([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], kernel=Gaussian(100.0))
    2.0
    """
    space = KernelSpace(X, kernel, sample_weight, n_jobs)
    codes, names = encode_labels(labels_given(reference))
    check_length(codes, len(space.table))
    most = space.diagonal if space.weights is None else space.weights * space.diagonal
    return ratio(float(most[codes >= 0].sum()), space.cost(codes, len(names)))
