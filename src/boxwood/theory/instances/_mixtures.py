"""Mixtures on which error and price have exact values or lower bounds: what no tree can improve on.

They are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees". In
all but one, a row is its component's mean but for one axis at most (see `instance_of_deviations`).
"""

from __future__ import annotations

import math
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import ndtr

from boxwood._types import Floats
from boxwood._validation import as_generator, finite_number, whole_number
from boxwood.reference import Mixture
from boxwood.theory.instances._instance import Instance, instance_of_deviations, require

__all__ = ["constant_price", "growing_price", "linear_error", "two_gaussians"]

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
    require(finite_number("q", q) >= whole_number("k", k, 2), f"linear_error needs q >= k, got k={k}, q={q}")
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
    require(0 < finite_number("m", m) <= _FARTHEST, f"two_gaussians needs 0 < m <= {_FARTHEST:g}, got {m}")
    density = {x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in (0.0, m, 2 * m)}
    error, beyond_mean = float(ndtr(-m)), float(ndtr(-2 * m))
    # E|x - its mean| on its side of 0, and E|x - the other mean| beyond 0
    cost = (2 * density[0.0] - density[m]) + (2 * density[2 * m] - density[m] + 2 * m * error - 4 * m * beyond_mean)
    exact = {"error": error, "price": cost / (2 * density[0.0]), "enr": 4 * m * m, "beta": math.sqrt(math.pi / 2)}
    mixture = Mixture(np.array([0.5, 0.5]), np.array([[-m], [m]]), np.array([[1.0], [1.0]]), law="gaussian")
    return Instance(exact=MappingProxyType(exact), mixture=mixture)


def _corners(k: int, d: int, rng: np.random.Generator) -> Floats:
    return np.asarray(rng.integers(2, size=(k, d)) * 2.0 - 1.0, dtype=np.float64)
