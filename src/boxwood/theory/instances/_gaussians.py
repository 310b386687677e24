"""Gaussian mixtures from the papers, with the exact numbers they must satisfy."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from boxwood._types import Floats
from boxwood.reference import Mixture
from boxwood.theory.instances._instance import Instance, need

__all__ = ["first_cut", "first_cut_error", "two_gaussians"]


_MOST_PERMUTED = 6


def first_cut(k: int, q: float, *, axes: str = "auto") -> Instance:
    """Return Gaussians on which the first cut of any tree alone errs in the order of 1 / sqrt(q), sub-Gaussian form.

    On each axis the means are 1 to k in some order, and sigma² = (k - 1)² / 2q everywhere.

    Parameters
    ----------
    k : int
        Number of components.
    q : float
        Explainability-to-noise ratio.
    axes : {"auto", "permutations", "pairs"}, default="auto"
        "permutations": one axis for each of the k! orders, as in the paper. "pairs": one for each pair of components,
        which puts them at 1 and k; q is the same, with k (k - 1) / 2 axes. "auto" takes permutations for k up to 6.

    Returns
    -------
    Instance
        `exact` has "sigma", "enr", "first_cut_error" (the least over all cuts of the root) and "limit", which it tends
        to for large k: 1 / (2 sqrt(pi q)).

    Raises
    ------
    ValueError
        If k < 2, q <= 0, or permutations are asked for with k above 6.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Remark 1 and Appendix E. (32) takes an upper bound of the tail for a lower one.

    Examples
    --------
    >>> exact = first_cut(3, 10.0).exact
    >>> round(exact["first_cut_error"], 4), round(exact["limit"], 4)
    (0.088, 0.0892)
    """
    need(k >= 2 and q > 0, f"first_cut needs k >= 2 and q > 0, got k={k}, q={q}")
    need(axes in ("auto", "permutations", "pairs"), f"axes must be 'auto', 'permutations' or 'pairs', got {axes!r}")
    if axes == "auto":
        axes = "permutations" if k <= _MOST_PERMUTED else "pairs"
    need(axes == "pairs" or k <= _MOST_PERMUTED, f"{k}! axes are too many; use axes='pairs'")
    orders = permutations(range(k)) if axes == "permutations" else _pair_orders(k)
    means = 1.0 + np.array(list(orders), dtype=np.float64).T
    sigma = (k - 1) / math.sqrt(2 * q)
    error, _ = first_cut_error(k, sigma)
    exact = {"sigma": sigma, "enr": q, "first_cut_error": error, "limit": 1 / (2 * math.sqrt(math.pi * q))}
    return Instance(Mixture(np.full(k, 1 / k), means, np.full(means.shape, sigma**2)), MappingProxyType(exact))


def first_cut_error(k: int, sigma: float, threshold: ArrayLike | None = None) -> tuple[float, float]:
    """Return the error of one cut through normals at 1, 2, ..., k of equal weight, and the threshold it is for.

    The error at theta is the mean of Phi(-|i - theta| / sigma) over i. With `threshold` None, its least value over
    1 <= theta <= k: it is convex between neighbours, and thirds of all gaps are narrowed down at once.
    """
    places = np.arange(1.0, k + 1)

    def error(theta: Floats) -> Floats:
        return np.asarray(ndtr(-np.abs(places - theta[:, None]) / sigma).mean(axis=1))

    if threshold is not None:
        given = np.asarray(threshold, dtype=np.float64).reshape(1)
        return float(error(given)[0]), float(given[0])
    low, high = places[:-1].copy(), places[1:].copy()
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        lower = error(left) <= error(right)
        low, high = np.where(lower, low, left), np.where(lower, right, high)
    errors = error(low)
    best = int(errors.argmin())
    return float(errors[best]), float(low[best])


def two_gaussians(m: float) -> Instance:
    """Return normals of variance 1 at -m and m, of equal weight.

    `exact` has, for a cut at 0, "error" (Phi(-m)) and "price", the ℓ1 price with the means as centres; it is below 1,
    as a row beyond the middle is nearer to the other mean. "enr" is in the variance form.

    Raises
    ------
    ValueError
        If m <= 0.

    Examples
    --------
    >>> round(two_gaussians(1.0).exact["price"], 7)
    0.8124421
    """
    need(m > 0, f"two_gaussians needs m > 0, got {m}")
    at = {x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in (0.0, m, 2 * m)}
    own, other = float(ndtr(-m)), float(ndtr(-2 * m))
    # E|x - own mean| on the right side, and E|x - other mean| beyond the middle
    cost = (2 * at[0.0] - at[m]) + (2 * at[2 * m] - at[m] + 2 * m * own - 4 * m * other)
    exact = {"error": own, "price": cost / (2 * at[0.0]), "enr": 4 * m * m, "beta": math.sqrt(math.pi / 2)}
    return Instance(Mixture([0.5, 0.5], [[-m], [m]], [[1.0], [1.0]]), MappingProxyType(exact))  # type: ignore[arg-type]


def _pair_orders(k: int) -> list[list[int]]:
    """Return for each pair of components an order, as places by component, that has one first and the other last."""
    orders = []
    for first, last in combinations(range(k), 2):
        others = iter(range(1, k - 1))
        orders.append([0 if i == first else k - 1 if i == last else next(others) for i in range(k)])
    return orders
