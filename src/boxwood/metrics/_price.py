"""What a clustering loses by being explained: the cost of the tree over the cost of the reference."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._validation import Rows
from boxwood.errors import DataError
from boxwood.kernels import Kernel, Precomputed, as_kernel
from boxwood.metrics._checks import check_fit, check_length
from boxwood.metrics._cost import summed_distances
from boxwood.metrics._kernel_cost import KernelSpace
from boxwood.reference import Reference, encode_labels
from boxwood.reference._centers import objective_code
from boxwood.tree import ThresholdTree

__all__ = ["price_ceiling", "price_of_explainability", "ratio"]


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
    """Return the cost of the tree's partition divided by the cost of the reference, over the rows the reference keeps.

    A price of 1 loses nothing. It is below 1 where the reference is not the best clustering and the tree's is better;
    it is never clipped.

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
        Centres for both partitions; "reference" takes those of the reference, which are its kernel means where there is
        a kernel. None takes for each partition its own best centres.
    kernel : Kernel or str, default=None
        Kernel in whose feature space costs are measured, see `kernel_cost`; None measures them in the columns. A
        bandwidth still to be found is found from all rows.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    float
        No unit. 1 where both costs are 0, infinite where only the reference's is.

    Raises
    ------
    DataError
        If rows, tree and reference do not fit together, or the kernel is precomputed, so that it knows no columns.
    ValueError
        If the objective is unknown, or a kernel comes with another objective than the default or with centres.

    Notes
    -----
    Takes the time of two calls of `cost`, or of `kernel_cost`. The papers divide by the lowest cost of all clusterings,
    which nobody knows; here it is that of the reference, so that a price is lower than theirs only for a reference that
    is not the best. Every kernel price is at most `price_ceiling`.

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
    check_fit(rows.values, tree, reference)
    if isinstance(centers, str) and centers != "reference":
        raise ValueError(f"centers must be an array, 'reference' or None, got {centers!r}")
    if kernel is not None:
        if objective != "sqeuclidean" or not (centers is None or isinstance(centers, str)):
            raise ValueError("with a kernel, objective must be 'sqeuclidean', and centers 'reference' or None")
        return _kernel_price(rows, tree, reference, kernel, fixed=centers is not None)
    if isinstance(centers, str):
        centers = reference.centers
    predicted = np.where(reference.kept, tree.predict(rows), -1)
    of_tree, of_reference = (
        summed_distances(rows.values, labels, code, centers, rows.weights) for labels in (predicted, reference.labels)
    )
    return ratio(of_tree, of_reference)


def _kernel_price(rows: Rows, tree: ThresholdTree, reference: Reference, kernel: Kernel | str, *, fixed: bool) -> float:
    if isinstance(as_kernel(kernel), Precomputed):
        raise DataError(
            "a tree tests columns, which a precomputed kernel does not know; take ratio(kernel_cost(gram, "
            "tree.predict(X), kernel), kernel_cost(gram, reference.labels, kernel))"
        )
    space = KernelSpace(rows, kernel)
    predicted = np.where(reference.kept, tree.predict(rows), -1)
    centers = reference.labels if fixed else None
    of_tree = space.cost(predicted, reference.n_clusters, centers)
    return ratio(of_tree, space.cost(reference.labels, reference.n_clusters))


def price_ceiling(
    X: ArrayLike,
    reference: Reference | ArrayLike,
    kernel: Kernel | str,
    *,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> float:
    """Return the most that the kernel price of any partition of the rows can be, whatever tree makes it.

    No part costs more around its mean than around the origin of the feature space, so the cost of every partition is at
    most the sum of K(x, x), and the price at most that over the cost of the reference. Where this is near 1, as for
    narrow bandwidths, a price near 1 says nothing: look at the agreement of labels.

    Parameters
    ----------
    X, kernel, sample_weight, n_jobs
        As in `kernel_cost`; the kernel must be positive definite.
    reference : Reference, or array-like of shape (n,)
        Clustering that the price compares with; rows of label -1 are left out.

    Returns
    -------
    float
        No unit; infinite where the reference costs nothing.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, section 7, where the bound is n max K(x, x) over the cost.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> price_ceiling([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], Gaussian(100.0))
    2.0
    """
    space = KernelSpace(X, kernel, sample_weight, n_jobs)
    codes, names = encode_labels(reference.labels if isinstance(reference, Reference) else reference)
    check_length(codes, len(space.table))
    most = space.diagonal if space.weights is None else space.weights * space.diagonal
    return ratio(float(most[codes >= 0].sum()), space.cost(codes, len(names)))


def ratio(cost: float, reference_cost: float) -> float:
    """Return `cost / reference_cost`, where 0 / 0 is 1 and anything else over 0 is infinite.

    Raises
    ------
    ValueError
        If a cost is negative or not a number.

    Examples
    --------
    >>> ratio(3.0, 2.0), ratio(0.0, 0.0), ratio(3.0, 0.0)
    (1.5, 1.0, inf)
    """
    if not (cost >= 0 and reference_cost >= 0):
        raise ValueError(f"costs must not be negative, got {cost} and {reference_cost}")
    if reference_cost > 0:
        return float(cost / reference_cost)
    return 1.0 if cost == 0 else math.inf
