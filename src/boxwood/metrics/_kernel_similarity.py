"""How similar the components of a mixture are to a kernel: along each axis, and over all axes.

Fleissner, Zarvandi and Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Floats
from boxwood.kernels import Kernel, as_kernel
from boxwood.kernels._by_name import as_distance_kernel
from boxwood.metrics._kernel_gaussians import mean_of_correlated, moments_of_gaussians
from boxwood.metrics._kernel_samples import as_samples, axis_moments, mean_product, refuse_precomputed
from boxwood.reference import Mixture

__all__ = ["AxisSimilarity", "axis_similarity", "mean_similarities", "within_similarity"]

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
