"""Mixtures of rows next to their means, from the papers' lower bounds: what no tree can do better on.

They are made of one idea: a row is its component's mean, but for one axis at most, on which it is off by +1 or -1, each
with probability eps. So every axis has variance and mean absolute deviation 2 eps, and every cut that parts two means
at distance 1 errs on a row that deviates on its axis towards the other side.
"""

from __future__ import annotations

import math
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from boxwood._types import Floats
from boxwood._validation import as_generator
from boxwood.reference import Mixture
from boxwood.theory.instances._instance import Instance, need

__all__ = ["constant_price", "exponential_error", "growing_price", "linear_error"]


def linear_error(k: int, q: float) -> Instance:
    """Return a mixture on which every tree of k leaves errs at least (k - 1) / 4q, q its ratio in the variance form.

    Means are the unit vectors; each axis deviates by ±1 with probability eps = 1 / 2q, at most one at a time.

    `exact` has "eps", "enr", "beta", "baseline_l1", "error" (of each tree with thresholds in [0, 1)) and
    "error_bound", the paper's lower bound, which leaves out the last component.

    Raises
    ------
    ValueError
        If k < 2 or q < k.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 9 and
    Appendix B.2, with ±1 in place of ±q in (91).

    Examples
    --------
    >>> instance = linear_error(5, 20)
    >>> round(instance.exact["error"], 12), instance.exact["error_bound"]
    (0.07, 0.05)
    """
    need(k >= 2 and q >= k, f"linear_error needs k >= 2 and q >= k, got k={k}, q={q}")
    eps = 1 / (2 * q)
    exact = {"error": eps * (k - 1) * (k + 2) / (2 * k), "error_bound": (k - 1) / (4 * q), "enr": q}
    return _deviating(np.eye(k), eps, exact)


def exponential_error(k: int, q: float) -> Instance:
    """Return a mixture on which every tree of k leaves errs at least (k - 1) / 2 exp(-q), q in the sub-Gaussian form.

    As `linear_error`, with eps = exp(-q). The ratio q is that of the sub-Gaussian parameter "sigma" = sqrt(1 / 2q),
    not of the variance 2 exp(-q), which would give exp(q) / 4.

    `exact` has "eps", "sigma", "enr", "enr_of_variance", "beta", "baseline_l1", "error" and "error_bound".

    Raises
    ------
    ValueError
        If k < 2 or exp(q) <= 2k.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Theorem 3 and Appendix C.

    Examples
    --------
    >>> round(exponential_error(4, 3.0).exact["error"], 7)
    0.1120209
    """
    need(k >= 2 and math.exp(q) > 2 * k, f"exponential_error needs k >= 2 and exp(q) > 2k, got k={k}, q={q}")
    eps = math.exp(-q)
    exact = {
        "error": eps * (k - 1) * (k + 2) / (2 * k),
        "error_bound": eps * (k - 1) / 2,
        "enr": q,
        "enr_of_variance": 1 / (4 * eps),
        "sigma": math.sqrt(1 / (2 * q)),
    }
    return _deviating(np.eye(k), eps, exact)


def constant_price(d: int) -> Instance:
    """Return two components that a tree recovers ever better as d grows, at a price that tends to 1.5.

    Means are ±0.5 on all axes; exactly one axis deviates by ±1, each with probability eps = 1 / 2d.

    `exact` has "eps", "enr", "beta", "baseline_l1" (1), and for a cut at 0 on any axis "error" (eps) and, where d >= 3,
    "price" (1.5 - 1 / d, the ℓ1 price with leaf medians, which are the means).

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
    need(d >= 1, f"constant_price needs d >= 1, got {d}")
    price = {"price": 1.5 - 1 / d} if d >= 3 else {}
    return _deviating(np.array([[-0.5] * d, [0.5] * d]), 1 / (2 * d), {"error": 1 / (2 * d), "enr": float(d), **price})


def growing_price(k: int, copies: int = 0, *, random_state: Any = None) -> Instance:
    """Return k components at random corners of a cube of k³ axes, on which the ℓ1 price of any tree grows as log k.

    A component is `copies` rows at its corner and, for each axis, the two rows next to it on that axis; all rows weigh
    the same. Corners are drawn until each two differ in at least a quarter of the axes.

    `exact` has "eps", "enr" (2 (2 k³ + copies)), "beta" (sqrt(enr) / 2), "baseline_l1" (of one row) and
    "total_l1" (of all rows, 2 d k). No number is exact for the price: the lower bound is asymptotic.

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
    need(k >= 2 and copies >= 0, f"growing_price needs k >= 2 and copies >= 0, got k={k}, copies={copies}")
    rng, d = as_generator(random_state), k**3
    means = _corners(k, d, rng)
    while min(int(np.count_nonzero(a != b)) for a, b in combinations(means, 2)) < d / 4:
        means = _corners(k, d, rng)
    rows = 2 * d + copies
    return _deviating(means, 1 / rows, {"enr": 2.0 * rows, "total_l1": 2.0 * d * k})


def _deviating(means: Floats, eps: float, exact: dict[str, float]) -> Instance:
    k, d = means.shape
    mixture = Mixture(np.full(k, 1 / k), means, np.full((k, d), 2 * eps))
    always = {"eps": eps, "beta": 1 / math.sqrt(2 * eps), "baseline_l1": 2 * d * eps}
    return Instance(mixture, MappingProxyType(always | exact), eps)


def _corners(k: int, d: int, rng: np.random.Generator) -> Floats:
    return np.asarray(rng.integers(2, size=(k, d)) * 2.0 - 1.0, dtype=np.float64)
