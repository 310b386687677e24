"""How alike the components of a mixture are to a kernel: along each axis, altogether, and as a distance of their laws.

Fleissner, Zarvandi and Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats
from boxwood._validation import as_table
from boxwood.errors import DataError
from boxwood.kernels import DistanceKernel, Gaussian, Kernel, Laplace, Precomputed, as_kernel
from boxwood.kernels._bandwidth import by_axis
from boxwood.reference import Mixture

__all__ = ["AxisSimilarity", "axis_similarity", "mean_similarities", "mmd", "within_similarity"]

Components = Mixture | Sequence[ArrayLike]
_ROWS = 512  # of a sample against another at a time


@dataclass(frozen=True, eq=False)
class AxisSimilarity:
    """How alike each pair of components is along each axis: the mean of the kernel's axis over independent rows.

    Attributes
    ----------
    mean : array of shape (d, k, k)
        The similarity xi of axis, first and second component, from 0 to 1; symmetric in the components.
    second_moment : array of shape (d, k, k)
        Mean of the square. Always holds: `mean**2 <= second_moment <= mean`, but for rounding.
    """

    mean: Floats
    second_moment: Floats

    @cached_property
    def variance(self) -> Floats:
        """Variance over independent rows, shape (d, k, k)."""
        return np.maximum(self.second_moment - self.mean**2, 0.0)

    @property
    def tau(self) -> float:
        """The axis-aligned similarity: the smallest mean over axes, of the pair of components where it is largest.

        The smaller, the easier a tree can tell components apart. It is 0 for a single component.
        """
        k = self.mean.shape[1]
        best = self.mean.min(axis=0)[~np.eye(k, dtype=bool)]
        return float(best.max(initial=0.0))


def axis_similarity(components: Components, kernel: Kernel | str) -> AxisSimilarity:
    """Return how alike components are along each axis, to a kernel that multiplies over axes.

    Parameters
    ----------
    components : Mixture, or sequence of arrays of shape (n_c, d)
        Gaussian components, for Gaussian and Laplace kernels: the means are exact. Or a sample of each component, for
        all kernels: they are averages over pairs of different rows, without bias.
    kernel : DistanceKernel or str
        `Gaussian`, `Laplace` or `ProductKernel`, with its bandwidth as a number.

    Returns
    -------
    AxisSimilarity

    Raises
    ------
    DataError
        If samples have unlike numbers of columns, or there is no exact formula for the kernel.
    ValueError
        If the kernel does not multiply over axes, or its bandwidth is still to be found.

    Notes
    -----
    Takes time d k² for Gaussian components, d n² for samples of n rows together. A sample of a single row has the
    similarity 1 with itself.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Definition 10.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> similarity = axis_similarity(Mixture([0.5, 0.5], [[0.0], [1.3]], [[0.64], [0.25]]), Gaussian(0.7))
    >>> round(similarity.tau, 7), similarity.variance[0, 0, 1].round(7)
    (0.3940452, np.float64(0.1165019))
    """
    resolved = as_kernel(kernel)
    if not isinstance(resolved, DistanceKernel):
        raise ValueError(f"the kernel must multiply over axes, as Gaussian, Laplace or ProductKernel; got {resolved!r}")
    if isinstance(components, Mixture):
        return AxisSimilarity(_of_gaussians(components, resolved, 1), _of_gaussians(components, resolved, 2))
    samples = _as_samples(components)
    pairs = [(j, a, b) for j in range(samples[0].shape[1]) for a in range(len(samples)) for b in range(a + 1)]

    def work(pair: tuple[int, int, int]) -> tuple[float, float]:
        j, a, b = pair
        return _pair_means(resolved, j, samples[a][:, j], samples[b][:, j], a == b)

    moments = np.zeros((2, samples[0].shape[1], len(samples), len(samples)))
    for (j, a, b), found in zip(pairs, map_tasks(work, pairs), strict=True):
        moments[:, j, a, b] = moments[:, j, b, a] = found
    return AxisSimilarity(*moments)


def mean_similarities(components: Components, kernel: Kernel | str) -> Floats:
    """Return the mean of the kernel over independent rows of each two components, shape (k, k).

    These are the inner products of the components' means in the feature space, so the squared MMD of two components is
    `S[a, a] + S[b, b] - 2 S[a, b]`.

    Parameters
    ----------
    components, kernel
        As in `axis_similarity`; the kernel may be of any kind where samples are given, and components may be correlated
        Gaussians for the Gaussian kernel.

    Returns
    -------
    array of shape (k, k)
        Averages over pairs of different rows where samples are given.

    Raises
    ------
    DataError, ValueError
        As in `axis_similarity`.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> mean_similarities([[[0.0], [0.0]], [[1.0], [1.0]]], Gaussian(1.0)).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    resolved = as_kernel(kernel)
    if isinstance(components, Mixture):
        if components.covariances is None:
            return np.asarray(axis_similarity(components, resolved).mean.prod(axis=0))
        return _of_correlated(components, resolved)
    samples = _as_samples(components)
    if isinstance(resolved, Precomputed):
        raise ValueError("a precomputed kernel has no values for samples; take the means of blocks of its matrix")
    similarities = np.zeros((len(samples), len(samples)))
    for a, first in enumerate(samples):
        similarities[a, a] = _mean_of_pairs(resolved, first)
        for b, second in enumerate(samples[:a]):
            similarities[a, b] = similarities[b, a] = _mean_product(resolved, first, second)
    return similarities


def within_similarity(components: Components, kernel: Kernel | str) -> Floats:
    """Return the mean of the kernel over independent rows of each component, shape (k,).

    The paper calls it sigma² and takes it as equal for all components; it is a similarity, near 1 where rows of a
    component are close to each other, and the squared norm of the component's mean in the feature space. Parameters,
    errors and cost are those of `mean_similarities`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", equation (24).

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> within_similarity(Mixture([1.0], [[0.0] * 10], [[0.0625] * 10]), Gaussian(1.0))
    array([0.32768])
    """
    return np.diagonal(mean_similarities(components, kernel)).copy()


def mmd(X: ArrayLike, Y: ArrayLike, kernel: Kernel | str, *, unbiased: bool = False, squared: bool = False) -> float:
    """Return the maximum mean discrepancy of two samples: the distance of their means in the feature space.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (m, d)
        Samples.
    kernel : Kernel or str
        Kernel, with its bandwidth as a number; one still to be found is found from both samples together.
    unbiased : bool, default=False
        Whether the square is estimated without bias, from pairs of different rows (the U-statistic), so that it may be
        below 0. Otherwise it is the distance of the samples themselves (the V-statistic), whose square is too large by
        about (1 - within-similarity) (1/n + 1/m).
    squared : bool, default=False
        Whether to return the square. The root of an estimate below 0 is 0.

    Raises
    ------
    DataError
        If the samples do not fit together, or one has a single row and the estimate is to be unbiased.

    Notes
    -----
    Takes time (n + m)² d and memory for n + m rows.

    References
    ----------
    A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf, A. Smola, "A kernel two-sample test", JMLR 13 (2012),
    equations (3) and (5).

    Examples
    --------
    >>> round(mmd([[0.0], [2.0]], [[4.0], [6.0]], "linear"), 6), mmd([[0.0], [2.0]], [[0.0], [2.0]], "linear")
    (4.0, 0.0)
    >>> mmd([[0.0], [2.0]], [[4.0], [6.0]], "linear", unbiased=True, squared=True)
    14.0
    """
    first, second = _as_samples([X, Y])
    if unbiased and min(len(first), len(second)) < 2:
        raise DataError("an unbiased estimate needs at least two rows of each sample")
    resolved = as_kernel(kernel)
    if isinstance(resolved, Precomputed):
        raise ValueError("a precomputed kernel has no values for samples; take the means of blocks of its matrix")
    resolved = resolved.fitted(np.vstack([first, second]))
    within = [
        _mean_of_pairs(resolved, sample) if unbiased else _mean_product(resolved, sample, sample)
        for sample in (first, second)
    ]
    square = sum(within) - 2 * _mean_product(resolved, first, second)
    return square if squared else float(np.sqrt(max(square, 0.0)))


# ------------------------------------------------------------------------------------------------------- steps


def _as_samples(components: Sequence[ArrayLike]) -> list[Array]:
    samples = [as_table(sample) for sample in components]
    columns = {sample.shape[1] for sample in samples}
    if len(columns) != 1:
        raise DataError(f"samples must have the same columns; numbers of columns are {sorted(columns)}")
    return samples


def _mean_product(kernel: Kernel, X: Array, Y: Array) -> float:
    shares = np.full((len(Y), 1), 1 / len(Y))
    return float(kernel.gram(X, Y).product(shares).mean())


def _mean_of_pairs(kernel: Kernel, X: Array) -> float:
    """Return the mean over pairs of different rows; of a single row with itself."""
    n, diagonal = len(X), kernel.diagonal(X)
    if n == 1:
        return float(diagonal[0])
    sums = kernel.gram(X).product(np.ones((n, 1)))[:, 0]
    return float(((sums - diagonal) / (n - 1)).mean())


def _pair_means(kernel: DistanceKernel, j: int, x: Array, y: Array, same: bool) -> tuple[float, float]:
    """Return mean and second moment of the similarity on one axis; of different rows where the samples are one."""
    if same and len(x) == 1:
        return 1.0, 1.0
    sums = np.zeros(2)
    for start in range(0, len(x), _ROWS):
        block = kernel.axis_kernel(j, x[start : start + _ROWS], y)
        sums += block.sum(), np.square(block, out=block).sum()
    sums = (sums - len(x)) / (len(x) * (len(x) - 1)) if same else sums / (len(x) * len(y))
    return float(sums[0]), float(sums[1])


def _of_gaussians(mixture: Mixture, kernel: DistanceKernel, power: int) -> Floats:
    """Return the mean of a power of the similarity on each axis, shape (d, k, k), over Gaussian components.

    The difference of two rows is Gaussian too, with mean D and variance s²; a power of either kernel is the kernel of
    that many times its gamma.
    """
    if not isinstance(kernel, (Gaussian, Laplace)):
        raise DataError(
            f"there is no formula for {type(kernel).__name__} and a mixture; pass a sample of each component"
        )
    gamma = power * by_axis(kernel.gamma, mixture.n_features)[:, None, None]
    apart = np.abs(mixture.means.T[:, :, None] - mixture.means.T[:, None, :])
    variance = mixture.variances.T[:, :, None] + mixture.variances.T[:, None, :]
    if isinstance(kernel, Gaussian):
        v = 1 + 2 * gamma * variance
        return np.asarray(np.exp(-gamma * apart**2 / v) / np.sqrt(v))
    return _laplace_of_gaussians(gamma, apart, np.sqrt(variance))


def _laplace_of_gaussians(gamma: Floats, apart: Floats, sigma: Floats) -> Floats:
    """Return E exp(-gamma |Z|) for Gaussian Z of mean `apart`: a half for either sign of Z."""
    from scipy.special import log_ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z, rise = apart / sigma, gamma**2 * sigma**2 / 2
        above = np.exp(rise - gamma * apart + log_ndtr(z - gamma * sigma))
        below = np.exp(rise + gamma * apart + log_ndtr(-z - gamma * sigma))
    return np.where(sigma > 0, above + below, np.exp(-gamma * apart))


def _of_correlated(mixture: Mixture, kernel: Kernel) -> Floats:
    """Return the mean of the Gaussian kernel over two correlated Gaussian components, shape (k, k)."""
    if not isinstance(kernel, Gaussian):
        raise DataError(f"there is no formula for {kernel!r} and correlated axes; pass a sample of each component")
    assert mixture.covariances is not None
    unit = np.sqrt(by_axis(kernel.gamma, mixture.n_features))
    apart = (mixture.means[:, None, :] - mixture.means[None, :, :]) * unit
    spread = (mixture.covariances[:, None] + mixture.covariances[None, :]) * np.outer(unit, unit)
    stretch = np.eye(mixture.n_features) + 2 * spread
    solved = np.linalg.solve(stretch, apart[..., None])[..., 0]
    return np.asarray(np.exp(-(apart * solved).sum(axis=-1)) / np.sqrt(np.linalg.det(stretch)))
