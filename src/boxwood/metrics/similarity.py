"""Similarity of components or samples under a kernel: along each axis, over all axes, and by mean discrepancy.

Fleissner, Zarvandi and Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 5.

The difference of two independent Gaussian rows is Gaussian too: the means are subtracted, the variances added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats
from boxwood._validation import as_table
from boxwood.errors import DataError
from boxwood.kernels import DistanceKernel, Gaussian, Kernel, Laplace, Precomputed, as_kernel
from boxwood.kernels.bandwidth import by_axis
from boxwood.kernels.families import as_distance_kernel
from boxwood.reference import Mixture

Components = Mixture | Sequence[ArrayLike]


@dataclass(frozen=True, eq=False)
class AxisSimilarity:
    """Similarity of each pair of components along each axis: mean and variance of the kernel's factor there.

    Both are over two independent rows, one of each component.

    Attributes
    ----------
    mean : array of shape (d, k, k)
        The similarity xi, from 0 to 1, by axis, first component and second component. Symmetric in the components.
    variance : array of shape (d, k, k)
        Variance over the two rows. It keeps its digits where all similarities are close to 0, or to 1.
    """

    mean: Floats
    variance: Floats

    @property
    def second_moment(self) -> Floats:
        """Mean of the square, shape (d, k, k). Always holds, up to rounding: `mean**2 <= second_moment <= mean`."""
        return self.variance + self.mean**2

    @property
    def tau(self) -> float:
        """The axis-aligned similarity: the smallest mean over axes, for the pair of components where it is largest.

        The smaller it is, the better a single cut separates any two components. It is 0 for a single component.
        """
        k = self.mean.shape[1]
        best = self.mean.min(axis=0)[~np.eye(k, dtype=bool)]
        return float(best.max(initial=0.0))


def axis_similarity(components: Components, *, kernel: Kernel | str) -> AxisSimilarity:
    """Return how similar components are along each axis, for a kernel that is a product of one factor per axis.

    Parameters
    ----------
    components : Mixture, or sequence of arrays of shape (n_c, d)
        Gaussian components, for Gaussian and Laplace kernels. Or a sample of each component, for every kernel: its rows
        are the component, and means are over all pairs of rows, pairs of a row with itself included.
    kernel : DistanceKernel or str
        `Gaussian`, `Laplace` or `ProductKernel`, with a number as its bandwidth.

    Returns
    -------
    AxisSimilarity
        `mean`, `variance`, `second_moment` and `tau`, exact for a mixture and for the given rows.

    Raises
    ------
    DataError
        If samples have different numbers of columns, or the kernel has no exact formula for Gaussian components.
    ValueError
        If the kernel is not a product over axes, or its bandwidth is not yet a number.

    Notes
    -----
    Takes time d k² for Gaussian components, and d n² for samples of n rows altogether. Trees of `grow.kernel_mmdt` have
    their guarantee by these means. As estimates for further rows, those of a sample of n rows with itself are too large
    by a share 1 / n of their distance from 1.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Definition 10.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> similarity = axis_similarity(Mixture([0.5, 0.5], [[0.0], [1.3]], [[0.64], [0.25]]), kernel=Gaussian(0.7))
    >>> round(similarity.tau, 7), similarity.variance[0, 0, 1].round(7)
    (0.3940452, np.float64(0.1165019))
    """
    product = as_distance_kernel(kernel)
    if isinstance(components, Mixture):
        return AxisSimilarity(*moments_of_gaussians(components, product))
    samples = as_samples(components)
    shares = [np.full(len(sample), 1 / len(sample)) for sample in samples]

    def work(axis: int) -> Floats:
        return axis_moments(product, axis, [sample[:, axis] for sample in samples], shares)

    return AxisSimilarity(*np.moveaxis(np.array(map_tasks(work, range(samples[0].shape[1]))), 1, 0))


def mean_similarities(components: Components, *, kernel: Kernel | str) -> Floats:
    """Return the mean of the kernel over two independent rows, for each pair of components, shape (k, k).

    It is the inner product of the components' means in the feature space. The squared MMD of components a and b is
    therefore `S[a, a] + S[b, b] - 2 S[a, b]`.

    Parameters
    ----------
    components : Mixture, or sequence of arrays of shape (n_c, d)
        Gaussian components, for Gaussian and Laplace kernels; for the Gaussian kernel they may be correlated. Or a
        sample of each component, for every kernel but a precomputed one.
    kernel : Kernel or str
        Kernel, with a number as its bandwidth.

    Returns
    -------
    array of shape (k, k)
        Exact for a mixture. For samples, averages over all pairs of rows, as in `axis_similarity`.

    Raises
    ------
    DataError
        As in `axis_similarity`.
    ValueError
        As in `axis_similarity`, or if the kernel is precomputed.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> mean_similarities([[[0.0], [0.0]], [[1.0], [1.0]]], kernel=Gaussian(1.0)).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    resolved = as_kernel(kernel)
    if isinstance(components, Mixture):
        if components.covariances is None:
            return np.asarray(axis_similarity(components, kernel=resolved).mean.prod(axis=0))
        return mean_of_correlated(components, resolved)
    samples = as_samples(components)
    refuse_precomputed(resolved)
    similarities = np.zeros((len(samples), len(samples)))
    for a, first in enumerate(samples):
        for b, second in enumerate(samples[: a + 1]):
            similarities[a, b] = similarities[b, a] = mean_product(resolved, first, second)
    return similarities


def within_similarity(components: Components, *, kernel: Kernel | str) -> Floats:
    """Return the mean of the kernel over two independent rows of the same component, shape (k,).

    It is near 1 where the rows of a component are close to each other. It is also the squared norm of the component's
    mean in the feature space. The paper calls it sigma² and takes it as equal for all components. Parameters, errors
    and cost are those of `mean_similarities`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", equation (24).

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> within_similarity(Mixture([1.0], [[0.0] * 10], [[0.0625] * 10]), kernel=Gaussian(1.0))
    array([0.32768])
    """
    return np.diagonal(mean_similarities(components, kernel=kernel)).copy()


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


_FAR = 12.0  # standard deviations beyond which a Gaussian has no weight in doubles


def moments_of_gaussians(mixture: Mixture, kernel: DistanceKernel) -> tuple[Floats, Floats]:
    """Return mean and variance of the kernel's factor on each axis, both of shape (d, k, k).

    The square of the Gaussian or Laplace kernel is the same kernel with twice its gamma. But a variance that is the
    difference of two moments has no digits left where similarities are close to 1.

    Raises
    ------
    DataError
        If the kernel is neither Gaussian nor Laplace.
    """
    if not isinstance(kernel, (Gaussian, Laplace)):
        raise DataError(
            f"there is no formula for {type(kernel).__name__} and a mixture; pass a sample of each component"
        )
    gamma = by_axis(kernel.gamma, mixture.n_features)[:, None, None]
    difference = np.abs(mixture.means.T[:, :, None] - mixture.means.T[:, None, :])
    variance = mixture.variances.T[:, :, None] + mixture.variances.T[:, None, :]
    if isinstance(kernel, Gaussian):
        return _gaussian(gamma * difference**2, gamma * variance)
    sigma = np.sqrt(variance)
    mean = _laplace(gamma, difference, sigma)
    varies = _laplace(2 * gamma, difference, sigma) - mean**2
    return mean, np.where(gamma * sigma < 1, _laplace_variance(gamma, difference, sigma), varies)


def _gaussian(square: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of exp(-gamma Z²), for gamma times the squared mean and the variance of a Gaussian Z."""
    mean = np.exp(-square / (1 + 2 * spread)) / np.sqrt(1 + 2 * spread)
    second = np.exp(-2 * square / (1 + 4 * spread)) / np.sqrt(1 + 4 * spread)
    factor = 4 * spread / (1 + 4 * spread)
    excess = square / (1 + 2 * spread) * factor + np.log1p(spread * factor) / 2  # log(second / mean²)
    return mean, second * -np.expm1(-excess)


def _laplace(gamma: Floats, mean: Floats, sigma: Floats) -> Floats:
    """Return E exp(-gamma |Z|) for a Gaussian Z: one term for positive Z, one for negative Z."""
    from scipy.special import log_ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z, rise = mean / sigma, gamma**2 * sigma**2 / 2
        positive = np.exp(rise - gamma * mean + log_ndtr(z - gamma * sigma))
        negative = np.exp(rise + gamma * mean + log_ndtr(-z - gamma * sigma))
    return np.where(sigma > 0, positive + negative, np.exp(-gamma * mean))


def _laplace_variance(gamma: Floats, mean: Floats, sigma: Floats) -> Floats:
    """Return the variance of exp(-gamma |Z|) for gamma sigma below 1, by quadrature on either side of Z = 0."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    zero = -np.minimum(mean, _FAR * sigma) / np.where(sigma > 0, sigma, 1.0)  # in standard deviations from the mean
    far = np.full_like(zero, _FAR)
    start, length = np.stack([-far, zero], axis=-1)[..., None], np.stack([zero + far, far - zero], axis=-1)[..., None]
    z = start + length * (nodes + 1) / 2
    density = length * weights * np.exp(-z * z / 2)
    density /= density.sum(axis=(-2, -1), keepdims=True)
    gamma, mean, sigma = (x[..., None, None] for x in np.broadcast_arrays(gamma, mean, sigma))
    with np.errstate(over="ignore", invalid="ignore"):  # where gamma sigma is above 1, nothing of this is used
        rise = np.expm1(-gamma * np.maximum(sigma * z, -2 * mean - sigma * z))  # of exp(gamma mean - gamma |Z|) from 1
        rise -= (density * rise).sum(axis=(-2, -1), keepdims=True)
        return np.asarray(np.exp(-2 * gamma * mean)[..., 0, 0] * (density * rise**2).sum(axis=(-2, -1)))


def mean_of_correlated(mixture: Mixture, kernel: Kernel) -> Floats:
    """Return the mean of the Gaussian kernel for each pair of correlated Gaussian components, shape (k, k).

    Raises
    ------
    DataError
        If the kernel is not Gaussian.
    """
    if not isinstance(kernel, Gaussian):
        raise DataError(f"there is no formula for {kernel!r} and correlated axes; pass a sample of each component")
    assert mixture.covariances is not None
    unit = np.sqrt(by_axis(kernel.gamma, mixture.n_features))
    difference = (mixture.means[:, None, :] - mixture.means[None, :, :]) * unit
    covariance = (mixture.covariances[:, None] + mixture.covariances[None, :]) * np.outer(unit, unit)
    stretch = np.eye(mixture.n_features) + 2 * covariance
    solved = np.linalg.solve(stretch, difference[..., None])[..., 0]
    return np.asarray(np.exp(-(difference * solved).sum(axis=-1)) / np.sqrt(np.linalg.det(stretch)))
