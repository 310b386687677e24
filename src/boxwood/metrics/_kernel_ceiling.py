"""The most that a kernel price can be."""

from __future__ import annotations

from numpy.typing import ArrayLike

from boxwood.kernels import Kernel
from boxwood.metrics._kernel_cost import KernelSpace
from boxwood.metrics._price import ratio
from boxwood.reference import Reference, encode_labels
from boxwood.reference._labels import check_length

__all__ = ["price_ceiling"]


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
    codes, names = encode_labels(reference.labels if isinstance(reference, Reference) else reference)
    check_length(codes, len(space.table))
    most = space.diagonal if space.weights is None else space.weights * space.diagonal
    return ratio(float(most[codes >= 0].sum()), space.cost(codes, len(names)))
