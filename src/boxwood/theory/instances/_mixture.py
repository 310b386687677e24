"""Mixtures from the papers' proofs: what no tree can do better on, with the exact numbers they must satisfy.

Four of them are made of one idea: a row is its component's mean, but for one axis at most, on which it is off by +1 or
-1, each with probability eps. So every axis has variance and mean absolute deviation 2 eps, and every cut that parts
two means at distance 1 errs on a row that deviates on its axis towards the other side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations, permutations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from boxwood.metrics._mixture_boxes import as_generator, draw
from boxwood.reference import Mixture

__all__ = [
    "Atoms",
    "Instance",
    "constant_price",
    "exponential_error",
    "first_cut",
    "first_cut_error",
    "growing_price",
    "linear_error",
    "two_gaussians",
]

Array = NDArray[np.float64]

_MOST_PERMUTED = 6


class Atoms(NamedTuple):
    """All rows that a discrete mixture can give: rows (m, d), their probabilities (m,) and components (m,)."""

    points: Array
    probabilities: Array
    labels: NDArray[np.intp]


@dataclass(frozen=True)
class Instance:
    """A mixture, rows drawn from it, and exact numbers.

    Attributes
    ----------
    mixture : Mixture
        Its weights, means and variances. The components need not be Gaussian.
    exact : mapping from str to float
        Exact quantities; each generator names its own.
    deviation : float or None
        For the discrete instances, the probability eps of each deviation; None for Gaussians.
    """

    mixture: Mixture
    exact: Mapping[str, float]
    deviation: float | None = field(default=None)

    def sample(self, n: int, random_state: Any = None) -> tuple[Array, NDArray[np.intp]]:
        """Return `n` rows and the components they came from, shapes (n, d) and (n,)."""
        rng = as_generator(random_state)
        if self.deviation is None:
            return draw(self.mixture, n, rng)
        labels = rng.choice(len(self.mixture.weights), size=n, p=self.mixture.weights)
        X = self.mixture.means[labels]
        place = np.floor(rng.random(n) / self.deviation)  # axis and sign in turn, or beyond the last: no deviation
        off = np.flatnonzero(place < 2 * X.shape[1])
        which = place[off].astype(np.intp)
        X[off, which // 2] += 1.0 - 2.0 * (which % 2)
        return X, labels

    def atoms(self) -> Atoms:
        """Return all rows of a discrete instance; takes memory k (2 d + 1) d.

        Raises
        ------
        ValueError
            If the components are Gaussian.
        """
        if self.deviation is None:
            raise ValueError("Gaussian components have no atoms; use sample")
        (k, d), eps = self.mixture.means.shape, self.deviation
        moves = np.concatenate([np.zeros((1, d)), np.eye(d), -np.eye(d)])
        chances = np.concatenate([[max(0.0, 1 - 2 * d * eps)], np.full(2 * d, eps)])
        points = (self.mixture.means[:, None] + moves).reshape(-1, d)
        return Atoms(points, np.outer(self.mixture.weights, chances).ravel(), np.repeat(np.arange(k), len(moves)))


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
    _need(k >= 2 and q >= k, f"linear_error needs k >= 2 and q >= k, got k={k}, q={q}")
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
    _need(k >= 2 and math.exp(q) > 2 * k, f"exponential_error needs k >= 2 and exp(q) > 2k, got k={k}, q={q}")
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
    _need(d >= 1, f"constant_price needs d >= 1, got {d}")
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
    _need(k >= 2 and copies >= 0, f"growing_price needs k >= 2 and copies >= 0, got k={k}, copies={copies}")
    rng, d = as_generator(random_state), k**3
    means = _corners(k, d, rng)
    while min(int(np.count_nonzero(a != b)) for a, b in combinations(means, 2)) < d / 4:
        means = _corners(k, d, rng)
    rows = 2 * d + copies
    return _deviating(means, 1 / rows, {"enr": 2.0 * rows, "total_l1": 2.0 * d * k})


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
    _need(k >= 2 and q > 0, f"first_cut needs k >= 2 and q > 0, got k={k}, q={q}")
    _need(axes in ("auto", "permutations", "pairs"), f"axes must be 'auto', 'permutations' or 'pairs', got {axes!r}")
    if axes == "auto":
        axes = "permutations" if k <= _MOST_PERMUTED else "pairs"
    _need(axes == "pairs" or k <= _MOST_PERMUTED, f"{k}! axes are too many; use axes='pairs'")
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

    def error(theta: Array) -> Array:
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
    _need(m > 0, f"two_gaussians needs m > 0, got {m}")
    at = {x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in (0.0, m, 2 * m)}
    own, other = float(ndtr(-m)), float(ndtr(-2 * m))
    # E|x - own mean| on the right side, and E|x - other mean| beyond the middle
    cost = (2 * at[0.0] - at[m]) + (2 * at[2 * m] - at[m] + 2 * m * own - 4 * m * other)
    exact = {"error": own, "price": cost / (2 * at[0.0]), "enr": 4 * m * m, "beta": math.sqrt(math.pi / 2)}
    return Instance(Mixture([0.5, 0.5], [[-m], [m]], [[1.0], [1.0]]), MappingProxyType(exact))  # type: ignore[arg-type]


def _deviating(means: Array, eps: float, exact: dict[str, float]) -> Instance:
    k, d = means.shape
    mixture = Mixture(np.full(k, 1 / k), means, np.full((k, d), 2 * eps))
    always = {"eps": eps, "beta": 1 / math.sqrt(2 * eps), "baseline_l1": 2 * d * eps}
    return Instance(mixture, MappingProxyType(always | exact), eps)


def _corners(k: int, d: int, rng: np.random.Generator) -> Array:
    return np.asarray(rng.integers(2, size=(k, d)) * 2.0 - 1.0, dtype=np.float64)


def _pair_orders(k: int) -> list[list[int]]:
    """Return for each pair of components an order, as places by component, that has one first and the other last."""
    orders = []
    for first, last in combinations(range(k), 2):
        others = iter(range(1, k - 1))
        orders.append([0 if i == first else k - 1 if i == last else next(others) for i in range(k)])
    return orders


def _need(fits: bool, message: str) -> None:
    if not fits:
        raise ValueError(message)
