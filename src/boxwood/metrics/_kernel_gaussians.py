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

__all__ = ["axis_moment", "mean_of_correlated"]


def axis_moment(mixture: Mixture, kernel: DistanceKernel, power: int) -> Floats:
    """Return the mean of a power of the kernel's factor on each axis, shape (d, k, k).

    A power of the Gaussian or Laplace kernel is the same kernel with its gamma times the power.

    Raises
    ------
    DataError
        If the kernel is neither Gaussian nor Laplace.
    """
    if not isinstance(kernel, (Gaussian, Laplace)):
        raise DataError(
            f"there is no formula for {type(kernel).__name__} and a mixture; pass a sample of each component"
        )
    gamma = power * by_axis(kernel.gamma, mixture.n_features)[:, None, None]
    difference = np.abs(mixture.means.T[:, :, None] - mixture.means.T[:, None, :])
    variance = mixture.variances.T[:, :, None] + mixture.variances.T[:, None, :]
    if isinstance(kernel, Gaussian):
        v = 1 + 2 * gamma * variance
        return np.asarray(np.exp(-gamma * difference**2 / v) / np.sqrt(v))
    return _laplace(gamma, difference, np.sqrt(variance))


def _laplace(gamma: Floats, mean: Floats, sigma: Floats) -> Floats:
    """Return E exp(-gamma |Z|) for a Gaussian Z: one term for positive Z, one for negative Z."""
    from scipy.special import log_ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z, rise = mean / sigma, gamma**2 * sigma**2 / 2
        positive = np.exp(rise - gamma * mean + log_ndtr(z - gamma * sigma))
        negative = np.exp(rise + gamma * mean + log_ndtr(-z - gamma * sigma))
    return np.where(sigma > 0, positive + negative, np.exp(-gamma * mean))


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
