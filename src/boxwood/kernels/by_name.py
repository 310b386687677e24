"""Kernels that are given by name, with the bandwidth of a name that has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from boxwood._validation import shown
from boxwood.kernels._families import (
    ChiSquared,
    DistanceKernel,
    Gaussian,
    Hellinger,
    HistogramIntersection,
    Laplace,
    Linear,
    Polynomial,
    Precomputed,
)
from boxwood.kernels.kernel import Kernel

__all__ = ["as_distance_kernel", "as_kernel", "kernel_with_gamma"]

_NAMED: dict[str, Callable[[], Kernel]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplace": Laplace,
    "laplacian": Laplace,
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "hellinger": Hellinger,
    "histogram_intersection": HistogramIntersection,
    "chi_squared": ChiSquared,
    "precomputed": Precomputed,
}


def as_kernel(kernel: Kernel | str) -> Kernel:
    """Return a kernel given by itself or by name, with its default parameters.

    Names are "gaussian" and "laplace" (or "rbf" and "laplacian", as in scikit-learn), "linear", "polynomial" (or
    "poly"), "hellinger", "histogram_intersection", "chi_squared" and "precomputed". The bandwidth of "gaussian" and
    "laplace" is "auto".

    Raises
    ------
    ValueError
        If the name is unknown. "chi2" and "additive_chi2", scikit-learn's names, are refused: they mean other
        functions than `ChiSquared`.

    Examples
    --------
    >>> as_kernel("rbf"), as_kernel(Laplace(2.0))
    (Gaussian(gamma='auto'), Laplace(gamma=2.0))
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in ("chi2", "additive_chi2"):
        raise ValueError(
            f"kernel {kernel!r} of scikit-learn is another function than the additive χ² kernel sum 2xy / (x + y); "
            "take 'chi_squared' for the additive one, or pass 'precomputed' and the Gram matrix of the other"
        )
    if not isinstance(kernel, str) or kernel not in _NAMED:
        raise ValueError(f"kernel must be a Kernel or one of {', '.join(map(repr, _NAMED))}; got {shown(kernel)}")
    return _NAMED[kernel]()


def as_distance_kernel(kernel: Kernel | str) -> DistanceKernel:
    """Return a kernel that is a product of one factor per axis, given by itself or by name.

    Raises
    ------
    ValueError
        If the kernel is not such a product.
    """
    resolved = as_kernel(kernel)
    if not isinstance(resolved, DistanceKernel):
        raise ValueError(f"the kernel must multiply over axes, as Gaussian, Laplace or ProductKernel; got {resolved!r}")
    return resolved


def kernel_with_gamma(kernel: Kernel | str, gamma: Any) -> Kernel:
    """Return a kernel given by itself or by name; a name of a kernel with a bandwidth gets the bandwidth `gamma`.

    Raises
    ------
    ValueError
        If the name is unknown, or another `gamma` than "auto" stands beside a kernel that would not read it.
    """
    resolved = as_kernel(kernel)
    if isinstance(kernel, str) and isinstance(resolved, (Gaussian, Laplace)):
        return replace(resolved, gamma=gamma)
    if not (isinstance(gamma, str) and gamma == "auto"):
        raise ValueError(
            f"gamma is the bandwidth of a kernel given as 'gaussian' or 'laplace'; got gamma={gamma!r} beside "
            f"kernel={kernel!r}; leave gamma out, or give the kernel by name"
        )
    return resolved
