"""Means of a kernel over Gaussian components, by formula.

The difference of two independent Gaussian rows is Gaussian too: the means are subtracted, the variances added.
"""

from __future__ import annotations

import numpy as np

from boxwood._types import Floats
from boxwood.errors import DataError
from boxwood.kernels import DistanceKernel, Gaussian, Kernel, Laplace
from boxwood.kernels._bandwidth import by_axis
from boxwood.reference import Mixture

__all__ = ["mean_of_correlated", "moments_of_gaussians"]

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
    part = 4 * spread / (1 + 4 * spread)
    excess = square / (1 + 2 * spread) * part + np.log1p(spread * part) / 2  # log(second / mean²)
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
