"""Means of a kernel over pairs of rows of two samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats
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


def axis_moments(kernel: DistanceKernel, axis: int, samples: Sequence[Array], shares: Sequence[Floats]) -> Floats:
    """Return mean and variance of the kernel's factor on one axis for each pair of samples, shape (2, k, k).

    They are over all pairs of values, by the share that each value has of its sample. The variance is taken for each
    value, and between the values' means. So it keeps its digits where similarities are close to 0, and close to 1.
    """
    values, share, sizes = np.concatenate(samples), np.concatenate(shares), list(map(len, samples))
    starts = np.cumsum([0, *sizes[:-1]])
    means, spread = np.empty((2, len(values), len(samples)))
    for start in range(0, len(values), _BLOCK):
        rows = slice(start, start + _BLOCK)
        block = kernel.axis_kernel(axis, values[rows], values)
        means[rows] = np.add.reduceat(block * share, starts, axis=1)
        block -= np.repeat(means[rows], sizes, axis=1)
        spread[rows] = np.add.reduceat(np.square(block, out=block) * share, starts, axis=1)
    mean = np.add.reduceat(means * share[:, None], starts)
    spread += np.square(means - np.repeat(mean, sizes, axis=0))
    moments = np.array([mean, np.add.reduceat(spread * share[:, None], starts)])
    symmetric = (moments + moments.transpose(0, 2, 1)) / 2  # exactly, so that ties stay ties
    return np.asarray(np.minimum(symmetric, 1.0))
