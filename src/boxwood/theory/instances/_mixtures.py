"""Mixtures on which error and price have exact values, or lower bounds that hold for every tree.

They are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees". In
all but one, a row is its component's mean but for one axis at most (see `instance_of_deviations`).

They are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models
and Deep Representations".
"""

from __future__ import annotations

import math
from itertools import combinations, permutations
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from boxwood._types import Floats
from boxwood._validation import as_generator, finite_number, refuse_unknown, whole_number
from boxwood.reference import Mixture
from boxwood.theory.instances._instance import Instance, instance_of_deviations, refuse_unless

_FARTHEST = 1e150  # so that squares of distances are finite


def linear_error(k: int, q: float) -> Instance:
    """Return a mixture on which every tree of k leaves errs at least (k - 1) / 4q, q the ratio in the variance form.

    Means are the unit vectors. Each axis deviates by ±1, each with probability eps = 1 / 2q; a row deviates on one
    axis at most.

    `exact` has "eps", "enr" (q), "beta", "baseline_l1", "error" (of every tree with thresholds in [0, 1)) and
    "error_bound", the paper's lower bound, which leaves out the last component.

    Parameters
    ----------
    k : int
        Number of components and axes, at least 2.
    q : float
        Explainability-to-noise ratio, at least k.

    Raises
    ------
    ValueError
        If k < 2 or q < k.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 9 and
    Appendix B.2, with ±1 instead of ±q in (91).

    Examples
    --------
    >>> instance = linear_error(5, 20)
    >>> round(instance.exact["error"], 12), instance.exact["error_bound"]
    (0.07, 0.05)
    """
    refuse_unless(finite_number("q", q) >= whole_number("k", k, 2), f"linear_error needs q >= k, got k={k}, q={q}")
    eps = 1 / (2 * q)
    exact = {"error": eps * (k - 1) * (k + 2) / (2 * k), "error_bound": (k - 1) / (4 * q), "enr": q}
    return instance_of_deviations(np.eye(k), eps, exact)


def constant_price(d: int) -> Instance:
    """Return two components on which, as d grows, a tree's error tends to 0 and its price to 1.5.

    Means are ±0.5 on all axes. Exactly one axis deviates by ±1, each with probability eps = 1 / 2d.

    `exact` has "eps", "enr" (d), "beta", "baseline_l1" (1) and, for a cut at 0 on any axis, "error" (eps). For d >= 3
    it also has "price" (1.5 - 1 / d), the ℓ1 price of that cut with leaf medians, which are the means.

    Parameters
    ----------
    d : int
        Number of axes, at least 1.

    Raises
    ------
    ValueError
        If d < 1.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Appendix B.3.

    Examples
    --------
    >>> instance = constant_price(20)
    >>> instance.exact["price"], instance.exact["error"]
    (1.45, 0.025)
    """
    whole_number("d", d, 1)
    price = {"price": 1.5 - 1 / d} if d >= 3 else {}
    means = np.array([[-0.5] * d, [0.5] * d])
    return instance_of_deviations(means, 1 / (2 * d), {"error": 1 / (2 * d), "enr": float(d), **price})


def growing_price(k: int, copies: int = 0, *, random_state: Any = None) -> Instance:
    """Return k components at random corners of a cube of k³ axes, on which the ℓ1 price of any tree grows as log k.

    A component is `copies` rows at its corner and, for each axis, the two rows at distance 1 on that axis. All rows
    weigh the same. Corners are drawn until every two differ in at least a quarter of the axes.

    `exact` has "eps", "enr" (2 (2 k³ + copies)), "beta" (sqrt(enr) / 2), "baseline_l1" (of one row) and "total_l1" (of
    all rows, 2 d k). It has no price: the paper's lower bound on it is asymptotic.

    Parameters
    ----------
    k : int
        Number of components, at least 2.
    copies : int, default=0
        Number of rows at each corner.
    random_state : int, Generator, RandomState or None, default=None
        Source of the corners.

    Raises
    ------
    ValueError
        If k < 2 or copies < 0.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 5 and
    Appendix A.2, with the squared distance 4 in (79), so that q >= 4 k³.

    Examples
    --------
    >>> instance = growing_price(3, copies=10, random_state=0)
    >>> instance.exact["enr"], round(instance.exact["beta"], 6)
    (128.0, 5.656854)
    """
    whole_number("k", k, 2), whole_number("copies", copies, 0)
    rng, d = as_generator(random_state), k**3
    means = _corners(k, d, rng)
    while min(int(np.count_nonzero(a != b)) for a, b in combinations(means, 2)) < d / 4:
        means = _corners(k, d, rng)
    rows = 2 * d + copies
    return instance_of_deviations(means, 1 / rows, {"enr": 2.0 * rows, "total_l1": 2.0 * d * k})


def two_gaussians(m: float) -> Instance:
    """Return normals of variance 1 at -m and m, of equal weight.

    `exact` has, for a cut at 0, "error" (Phi(-m)) and "price", the ℓ1 price with the means as centres. The price is
    below 1, since a row beyond 0 is nearer to the other component's mean. It also has "beta" and "enr", in the
    variance form.

    Parameters
    ----------
    m : float
        Half the distance of the means, above 0 and at most 1e150.

    Raises
    ------
    ValueError
        If m <= 0 or m > 1e150.

    Examples
    --------
    >>> round(two_gaussians(1.0).exact["price"], 7)
    0.8124421
    """
    refuse_unless(0 < finite_number("m", m) <= _FARTHEST, f"two_gaussians needs 0 < m <= {_FARTHEST:g}, got {m}")
    density = {x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in (0.0, m, 2 * m)}
    error, beyond_mean = float(ndtr(-m)), float(ndtr(-2 * m))
    # E|x - its mean| on its side of 0, and E|x - the other mean| beyond 0
    cost = (2 * density[0.0] - density[m]) + (2 * density[2 * m] - density[m] + 2 * m * error - 4 * m * beyond_mean)
    exact = {"error": error, "price": cost / (2 * density[0.0]), "enr": 4 * m * m, "beta": math.sqrt(math.pi / 2)}
    mixture = Mixture(np.array([0.5, 0.5]), np.array([[-m], [m]]), np.array([[1.0], [1.0]]), law="gaussian")
    return Instance(exact=MappingProxyType(exact), mixture=mixture)


def _corners(k: int, d: int, rng: np.random.Generator) -> Floats:
    return np.asarray(rng.integers(2, size=(k, d)) * 2.0 - 1.0, dtype=np.float64)


_LARGEST_RATIO = 1e300  # sigma² and its inverse are then doubles
_MOST_PERMUTED = 6


def exponential_error(k: int, q: float) -> Instance:
    """Return a mixture on which every tree of k leaves errs at least (k - 1) / 2 exp(-q), q in the sub-Gaussian form.

    It is that of `linear_error`, with eps = exp(-q). The ratio q takes the sub-Gaussian parameter sigma = sqrt(1 / 2q).
    The variance 2 exp(-q) would give exp(q) / 4.

    `exact` has "eps", "sigma", "enr" (q), "enr_of_variance", "beta", "baseline_l1", "error" and "error_bound".

    Parameters
    ----------
    k : int
        Number of components and axes, at least 2.
    q : float
        Explainability-to-noise ratio, above ln 2k and below 700, since exp(-q) must be a double.

    Raises
    ------
    ValueError
        If k < 2 or exp(q) <= 2k, or q >= 700.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Theorem 3 and Appendix C.

    Examples
    --------
    >>> round(exponential_error(4, 3.0).exact["error"], 7)
    0.1120209
    """
    whole_number("k", k, 2)
    refuse_unless(
        math.log(2 * k) < finite_number("q", q) < 700, f"exponential_error needs ln 2k < q < 700, got k={k}, q={q}"
    )
    eps = math.exp(-q)
    exact = {
        "error": eps * (k - 1) * (k + 2) / (2 * k),
        "error_bound": eps * (k - 1) / 2,
        "enr": q,
        "enr_of_variance": 1 / (4 * eps),
        "sigma": math.sqrt(1 / (2 * q)),
    }
    return instance_of_deviations(np.eye(k), eps, exact)


def first_cut(k: int, q: float, *, axes: str = "auto") -> Instance:
    """Return Gaussians on which the first cut of any tree errs in the order of 1 / sqrt(q), sub-Gaussian form.

    On each axis the means are 1 to k in some order. The variance is sigma² = (k - 1)² / 2q everywhere.

    Parameters
    ----------
    k : int
        Number of components, at least 2.
    q : float
        Explainability-to-noise ratio, from 1e-300 to 1e300.
    axes : {"auto", "permutations", "pairs"}, default="auto"
        "permutations": one axis for each of the k! orders, as in the paper. "pairs": one axis for each pair of
        components, which have the means 1 and k there; q is the same, with k (k - 1) / 2 axes. "auto": permutations
        for k up to 6, else pairs.

    Returns
    -------
    Instance
        `exact` has "sigma", "enr" (q), "first_cut_error" (the least over all cuts of the root) and "limit", to which
        that error tends for large k: 1 / (2 sqrt(pi q)).

    Raises
    ------
    ValueError
        If k < 2, q is out of range, axes is unknown, or axes is "permutations" for k above 6.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Remark 1 and Appendix E. Its (32) takes an upper bound of the tail for a lower one.

    Examples
    --------
    >>> exact = first_cut(3, 10.0).exact
    >>> round(exact["first_cut_error"], 4), round(exact["limit"], 4)
    (0.088, 0.0892)
    """
    whole_number("k", k, 2)
    fits = 1 / _LARGEST_RATIO <= finite_number("q", q) <= _LARGEST_RATIO
    refuse_unless(fits, f"first_cut needs a q from {1 / _LARGEST_RATIO:g} to {_LARGEST_RATIO:g}, got {q}")
    refuse_unknown("axes", axes, ("auto", "permutations", "pairs"))
    if axes == "auto":
        axes = "permutations" if k <= _MOST_PERMUTED else "pairs"
    refuse_unless(axes == "pairs" or k <= _MOST_PERMUTED, f"{k}! axes are too many; use axes='pairs'")
    orders = permutations(range(k)) if axes == "permutations" else _pair_orders(k)
    means = 1.0 + np.array(list(orders), dtype=np.float64).T
    sigma = (k - 1) / math.sqrt(2 * q)
    error, _ = first_cut_error(k, sigma)
    exact = {"sigma": sigma, "enr": q, "first_cut_error": error, "limit": 1 / (2 * math.sqrt(math.pi * q))}
    mixture = Mixture(np.full(k, 1 / k), means, np.full(means.shape, sigma**2), law="gaussian")
    return Instance(exact=MappingProxyType(exact), mixture=mixture)


def first_cut_error(k: int, sigma: float, threshold: ArrayLike | None = None) -> tuple[float, float]:
    """Return the error of one cut through normals with means 1, 2, ..., k and equal weight, and its threshold.

    The error at theta is the mean over i of ``Phi(-|i - theta| / sigma)``. Without `threshold` it is the least error
    over 1 <= theta <= k.

    Parameters
    ----------
    k : int
        Number of normals, at least 2.
    sigma : float
        Standard deviation of each, above 0.
    threshold : float, default=None
        Threshold of the cut; None searches the best one.

    Notes
    -----
    The error is convex between neighbouring means. Ternary search narrows down all k - 1 gaps at once.
    """
    means = np.arange(1.0, whole_number("k", k, 2) + 1)
    refuse_unless(finite_number("sigma", sigma) > 0, f"sigma must be above 0, got {sigma}")

    def error(theta: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(ndtr(-np.abs(means - theta[:, None]) / sigma).mean(axis=1))

    if threshold is not None:
        theta = np.array([finite_number("threshold", threshold)])
        return float(error(theta)[0]), float(theta[0])
    low, high = means[:-1].copy(), means[1:].copy()
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        lower = error(left) <= error(right)
        low, high = np.where(lower, low, left), np.where(lower, right, high)
    errors = error(low)
    best = int(errors.argmin())
    return float(errors[best]), float(low[best])


def _pair_orders(k: int) -> list[list[int]]:
    """Return for each pair of components the rank of each component, with the pair ranked first and last."""
    orders = []
    for first, last in combinations(range(k), 2):
        middle_ranks = iter(range(1, k - 1))
        orders.append([0 if i == first else k - 1 if i == last else next(middle_ranks) for i in range(k)])
    return orders
