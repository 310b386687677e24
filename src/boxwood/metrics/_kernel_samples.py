"""Means of a kernel over pairs of rows of two samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array
from boxwood._validation import as_table
from boxwood.errors import DataError
from boxwood.kernels import DistanceKernel, Kernel, Precomputed

__all__ = ["as_samples", "axis_moments", "mean_of_pairs", "mean_product", "refuse_precomputed"]

_BLOCK = 512  # rows of the first sample that meet all rows of the second at a time


def as_samples(components: Sequence[ArrayLike]) -> list[Array]:
    """Return each sample as finite rows, shape (n_c, d).

    Raises
    ------
    DataError
        If a sample cannot be used, or samples have different numbers of columns.
    """
    samples = [as_table(sample) for sample in components]
    columns = {sample.shape[1] for sample in samples}
    if len(columns) != 1:
        raise DataError(f"samples must have the same columns; numbers of columns are {sorted(columns)}")
    return samples


def refuse_precomputed(kernel: Kernel) -> None:
    """Raise a ValueError for a Gram matrix: it holds no values for further rows."""
    if isinstance(kernel, Precomputed):
        raise ValueError("a precomputed kernel has no values for samples; take the means of blocks of its matrix")


def mean_product(kernel: Kernel, X: Array, Y: Array) -> float:
    """Return the mean of the kernel over all pairs of a row of `X` and a row of `Y`."""
    shares = np.full((len(Y), 1), 1 / len(Y))
    return float(kernel.gram(X, Y).product(shares).mean())


def mean_of_pairs(kernel: Kernel, X: Array) -> float:
    """Return the mean of the kernel over pairs of different rows; a single row is paired with itself."""
    n, diagonal = len(X), kernel.diagonal(X)
    if n == 1:
        return float(diagonal[0])
    sums = kernel.gram(X).product(np.ones((n, 1)))[:, 0]
    return float(((sums - diagonal) / (n - 1)).mean())


def axis_moments(kernel: DistanceKernel, axis: int, x: Array, y: Array, *, is_same_sample: bool) -> tuple[float, float]:
    """Return mean and second moment of the kernel's factor on one axis, over pairs of values of `x` and `y`.

    Where both are the same sample, the pairs are of different rows; a single row has similarity 1 with itself.
    """
    if is_same_sample and len(x) == 1:
        return 1.0, 1.0
    sums = np.zeros(2)
    for start in range(0, len(x), _BLOCK):
        block = kernel.axis_kernel(axis, x[start : start + _BLOCK], y)
        sums += block.sum(), np.square(block, out=block).sum()
    sums = (sums - len(x)) / (len(x) * (len(x) - 1)) if is_same_sample else sums / (len(x) * len(y))
    return float(sums[0]), float(sums[1])
