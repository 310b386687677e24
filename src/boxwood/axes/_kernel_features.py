"""Which features stand for a kernel, axis by axis, so that trees can cut them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike

from boxwood.axes._features_additive import ChiSquaredFeatures, PowerFeatures, StepFeatures
from boxwood.axes._features_curves import Curves
from boxwood.axes._features_distance import LandmarkFeatures
from boxwood.axes._features_taylor import TaylorFeatures
from boxwood.kernels import ChiSquared, DistanceKernel, Gaussian, Hellinger, HistogramIntersection, Kernel, Linear

__all__ = ["features_of_kernel", "surrogate_map"]

_ADDITIVE = (Linear, Hellinger, HistogramIntersection, ChiSquared)


def features_of_kernel(kernel: Kernel) -> tuple[str, ...]:
    """Return the kinds of features that a kernel has: "taylor" and "distance", or "additive"; none for other kernels.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian, Laplace, Linear, Polynomial
    >>> [features_of_kernel(one) for one in (Gaussian(1.0), Laplace(1.0), Linear(), Polynomial())]
    [('taylor', 'distance'), ('distance',), ('additive',), ()]
    """
    if isinstance(kernel, Gaussian):
        return "taylor", "distance"
    if isinstance(kernel, DistanceKernel):
        return ("distance",)
    return ("additive",) if isinstance(kernel, _ADDITIVE) else ()


def surrogate_map(
    kernel: Kernel, X: ArrayLike, features: str, *, n_terms: int | str = "auto", n_landmarks: int | None = 64
) -> Curves:
    """Return the surrogate features of a kernel: curves over one column each, whose cuts are intervals of it.

    Parameters
    ----------
    kernel : Kernel
        Its bandwidth is found from `X` if it is not yet.
    X : array-like of shape (n, d)
        Rows whose values the features are made for.
    features : {"taylor", "distance", "additive"}
        Taylor features of the Gaussian kernel; similarities to landmarks for kernels of distances; the feature map of
        an additive kernel. Inner products of "taylor" approximate the sum of the kernel's factors over axes, those of
        "additive" the kernel itself, to within `error`.
    n_terms : int or "auto", default="auto"
        Order M of Taylor and χ² features; see `TaylorFeatures.of` and `ChiSquaredFeatures.of`.
    n_landmarks : int or None, default=64
        Most landmarks of a column, and most steps for histogram intersection; None takes all different values.

    Raises
    ------
    DataError
        If values are outside of the kernel's domain.
    ValueError
        If the kernel has no such features, or a parameter is out of range.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, section 4 and Appendix H.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> surrogate_map(Gaussian(1.0), [[0.0, 0.0], [1.0, 2.0]], "taylor")
    TaylorFeatures(n_features=2, n_columns=23)
    """
    _check(n_terms, n_landmarks)
    known = features_of_kernel(kernel)
    if features not in known:
        kinds = " or ".join(map(repr, known)) or "none that a tree could cut"
        raise ValueError(f"{type(kernel).__name__} has no features {features!r}; it has {kinds}")
    found: Any = kernel.fitted(X)
    if features == "taylor":
        return TaylorFeatures.of(found, X, n_terms=n_terms)
    if features == "distance":
        return LandmarkFeatures.of(found, X, n_landmarks=n_landmarks)
    if isinstance(found, HistogramIntersection):
        return StepFeatures.of(found, X, n_landmarks=n_landmarks)
    if isinstance(found, ChiSquared):
        return ChiSquaredFeatures.of(found, X, n_terms=n_terms)
    return PowerFeatures.of(found, X)


def _check(n_terms: int | str, n_landmarks: int | None) -> None:
    if n_terms != "auto" and (not isinstance(n_terms, Integral) or n_terms < 1):
        raise ValueError(f"n_terms must be a whole number of at least 1, or 'auto'; got {n_terms!r}")
    if n_landmarks is not None and n_landmarks < 2:
        raise ValueError(f"n_landmarks must be at least 2, or None; got {n_landmarks!r}")
