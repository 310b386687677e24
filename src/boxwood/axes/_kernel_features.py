"""The surrogate features of a kernel: columns made of one raw column each, which a tree can cut."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike

from boxwood._validation import shown
from boxwood.axes._features_additive import ChiSquaredFeatures, PowerFeatures, StepFeatures
from boxwood.axes._features_curves import Curves
from boxwood.axes._features_distance import LandmarkFeatures
from boxwood.axes._features_taylor import TaylorFeatures
from boxwood.kernels import ChiSquared, DistanceKernel, Gaussian, Hellinger, HistogramIntersection, Kernel, Linear

__all__ = ["MOST_TERMS", "features_of_kernel", "surrogate_map"]

MOST_TERMS = 1000  # each term is a column of numbers beside each column of the table

_ADDITIVE = (Linear, Hellinger, HistogramIntersection, ChiSquared)


def features_of_kernel(kernel: Kernel) -> tuple[str, ...]:
    """Return the kinds of features of a kernel: "taylor" and "distance", "distance", "additive", or none.

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
    kernel: Kernel, X: ArrayLike, features: str, *, n_terms: int | str = "auto", n_landmarks: int | str | None = "auto"
) -> Curves:
    """Return the surrogate features of a kernel: curves over one raw column each. A cut on a curve is an interval.

    Parameters
    ----------
    kernel : Kernel
        A bandwidth that is not yet a number is computed from `X`.
    X : array-like of shape (n, d)
        Rows that decide the range and the number of features of each column.
    features : {"taylor", "distance", "additive"}
        "taylor": Taylor features of the Gaussian kernel; inner products approximate the sum of the kernel's factors
        over axes. "distance": similarities to landmarks, for a product of profiles of distances. "additive": the
        feature map of an additive kernel; inner products approximate the kernel. On each axis, an approximation is off
        by at most `error`.
    n_terms : int or "auto", default="auto"
        Order M of Taylor and χ² features, at most 1000; see `TaylorFeatures.of` and `ChiSquaredFeatures.of`.
    n_landmarks : int, "auto" or None, default="auto"
        Largest number of landmarks in a column, or of steps for histogram intersection. Fewer than the different values
        are quantiles of the rows by weight. None takes all different values. "auto" does so for small tables, with
        at most 2000 rows and n² d at most 20 million (1500 rows of 8 columns), and takes 64 for larger ones. Quantiles
        that fall on one value are one landmark, so a column in which most rows share a value gets few.

    Returns
    -------
    Curves
        An axis map: `TaylorFeatures`, `LandmarkFeatures`, `StepFeatures`, `ChiSquaredFeatures` or `PowerFeatures`.

    Raises
    ------
    DataError
        If values lie outside the kernel's domain.
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
    kinds = features_of_kernel(kernel)
    if features not in kinds:
        listing = " or ".join(map(repr, kinds)) or "none that a tree could cut"
        raise ValueError(f"{type(kernel).__name__} has no features {shown(features)}; it has {listing}")
    fitted: Any = kernel.fitted(X)
    if features == "taylor":
        return TaylorFeatures.of(fitted, X, n_terms=n_terms)
    if features == "distance":
        return LandmarkFeatures.of(fitted, X, n_landmarks=n_landmarks)
    if isinstance(fitted, HistogramIntersection):
        return StepFeatures.of(fitted, X, n_landmarks=n_landmarks)
    if isinstance(fitted, ChiSquared):
        return ChiSquaredFeatures.of(fitted, X, n_terms=n_terms)
    return PowerFeatures.of(fitted, X)


def _check(n_terms: int | str, n_landmarks: int | str | None) -> None:
    if n_terms != "auto" and (not isinstance(n_terms, Integral) or not 1 <= n_terms <= MOST_TERMS):
        raise ValueError(
            f"n_terms must be a whole number from 1 to {MOST_TERMS}, or 'auto'; got {shown(n_terms)}; features of "
            "higher order are 0 on all rows, unless the kernel is narrower than a 30th of a column's range"
        )
    if n_landmarks not in ("auto", None) and (not isinstance(n_landmarks, Integral) or n_landmarks < 2):
        raise ValueError(f"n_landmarks must be a whole number of at least 2, 'auto', or None; got {shown(n_landmarks)}")
