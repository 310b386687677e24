"""The maximum mean discrepancy of two samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood.errors import DataError
from boxwood.kernels import Kernel, as_kernel
from boxwood.metrics._kernel_samples import as_samples, mean_of_pairs, mean_product, refuse_precomputed

__all__ = ["mmd"]


def mmd(X: ArrayLike, Y: ArrayLike, *, kernel: Kernel | str, unbiased: bool = False, squared: bool = False) -> float:
    """Return the maximum mean discrepancy of two samples: the distance of their means in the feature space.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (m, d)
        Samples.
    kernel : Kernel or str
        Kernel. A bandwidth that is not yet a number is computed from both samples together.
    unbiased : bool, default=False
        True estimates the square without bias, from pairs of different rows (the U-statistic); the estimate may be
        negative. False takes the distance of the samples themselves (the V-statistic); its square is too large by about
        (1 - within-similarity) (1/n + 1/m).
    squared : bool, default=False
        Whether to return the square. Otherwise the root is returned, and 0 for a negative estimate.

    Raises
    ------
    DataError
        If the samples have different numbers of columns, or one has a single row and `unbiased` is true.
    ValueError
        If the kernel is precomputed.

    Notes
    -----
    Takes time (n + m)² d and memory for n + m rows.

    References
    ----------
    A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf, A. Smola, "A kernel two-sample test", JMLR 13 (2012),
    equations (3) and (5).

    Examples
    --------
    >>> X, Y = [[0.0], [2.0]], [[4.0], [6.0]]
    >>> round(mmd(X, Y, kernel="linear"), 6), mmd(X, X, kernel="linear")
    (4.0, 0.0)
    >>> mmd(X, Y, kernel="linear", unbiased=True, squared=True)
    14.0
    """
    first, second = as_samples([X, Y])
    if unbiased and min(len(first), len(second)) < 2:
        raise DataError(
            f"an unbiased estimate needs at least two rows of each sample; got {len(first)} and {len(second)}"
        )
    resolved = as_kernel(kernel)
    refuse_precomputed(resolved)
    resolved = resolved.fitted(np.vstack([first, second]))
    within = [
        mean_of_pairs(resolved, sample) if unbiased else mean_product(resolved, sample, sample)
        for sample in (first, second)
    ]
    square = sum(within) - 2 * mean_product(resolved, first, second)
    return square if squared else float(np.sqrt(max(square, 0.0)))
