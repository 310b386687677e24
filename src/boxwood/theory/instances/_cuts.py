"""Weighted points with given centres: exact expectations of random cuts, and a poor reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from boxwood._types import Floats
from boxwood.reference import Reference
from boxwood.theory.instances._instance import need

__all__ = ["WeightedPoints", "local_optimum", "star", "two_centers"]


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points with weights, centres that explain them, and exact numbers.

    Attributes
    ----------
    points : array of shape (n, d)
        Rows.
    weights : array of shape (n,)
        Weight of each row: many copies of a row are one row of large weight.
    reference : Reference
        Label of each row and the centres (k, d).
    exact : mapping from str to float
        Exact quantities and bounds; each generator names its own.
    """

    points: Floats
    weights: Floats
    reference: Reference
    exact: Mapping[str, float]

    @property
    def centers(self) -> Floats:
        """Centres, shape (k, d)."""
        return self.reference.centers


def star(k: int, far: float, *, objective: str = "l1") -> WeightedPoints:
    """Return one point between k centres on axes of their own, one at cost 1 and the others at cost `far`.

    Every cut parts one centre from all others and from the point, so the centre that is left in the end is the
    point's. Random cuts part centre i with a probability in proportion to its cost for "l1" and "sqeuclidean", whose
    centres are at the roots, and to the square of its cost for "l2".

    `exact` has "expected_cost", which is the expected price, and "limit", which it tends to for large `far`:
    1 + H_{k-1} for "l1" and "sqeuclidean", 1 for "l2".

    Parameters
    ----------
    k : int
        Number of centres, at least 2.
    far : float
        Cost of the far centres, at least 1.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Cost of a row, and objective of `grow.random_cuts`; the variant and the median make no difference.

    Raises
    ------
    ValueError
        If k < 2, far < 1 or the objective is unknown.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021, for the three
    algorithms. A. Gupta, M. R. Pittu, O. Svensson, R. Yuan, "The price of explainability for clustering", FOCS 2023,
    for the limit.

    Examples
    --------
    >>> round(star(3, 5.0).exact["expected_cost"], 7), round(star(5, 1e9).exact["limit"], 4)
    (1.969697, 3.0833)
    """
    need(k >= 2 and far >= 1, f"star needs k >= 2 and far >= 1, got k={k}, far={far}")
    _need_objective(objective)
    costs = np.array([1.0] + [far] * (k - 1))
    odds = far**2 if objective == "l2" else far
    stays = math.prod(j * odds / (1 + j * odds) for j in range(1, k))
    limit = 1.0 if objective == "l2" else 1 + math.fsum(1 / j for j in range(1, k))
    exact = {"expected_cost": 1 + (far - 1) * (1 - stays), "limit": limit}
    centers = np.diag(np.sqrt(costs) if objective == "sqeuclidean" else costs)
    return WeightedPoints(
        np.zeros((1, k)), np.ones(1), Reference(np.zeros(1, dtype=np.intp), centers), MappingProxyType(exact)
    )


def two_centers(t: float, *, objective: str = "l1", median: str = "midpoint") -> WeightedPoints:
    """Return a point at t between the centres 0 and 1 on a line.

    `exact` has "probability", with which a tree of random cuts gives the point to the centre 1, and "expected_cost".

    Parameters
    ----------
    t : float
        Place of the point, from 0 to 1.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Cost of a row, and objective of `grow.random_cuts`.
    median : {"midpoint", "lower"}, default="midpoint"
        Median of the two centres, for "l2" alone.

    Raises
    ------
    ValueError
        If t is not from 0 to 1, or the objective or the median is unknown.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021; for "l2"
    algorithm 4 with cuts at the median plus or minus the root of theta. As printed, without the root, the probability
    is 0 for t up to 1/4.

    Examples
    --------
    >>> [round(two_centers(0.3, objective=one).exact["expected_cost"], 4) for one in ("l1", "sqeuclidean", "l2")]
    [0.42, 0.162, 0.468]
    """
    need(0 <= t <= 1, f"t must be from 0 to 1, got {t}")
    need(median in ("midpoint", "lower"), f"median must be 'midpoint' or 'lower', got {median!r}")
    _need_objective(objective)
    near = min(t, 1 - t)
    crossing = {"l1": near, "sqeuclidean": 2 * near**2, "l2": 2 * near * (1 - near)}[objective]
    probability = crossing if t <= 0.5 else 1 - crossing
    if objective == "l2" and median == "lower":
        probability = t**2
    power = 2 if objective == "sqeuclidean" else 1
    cost = probability * (1 - t) ** power + (1 - probability) * t**power
    exact = {"probability": probability, "expected_cost": cost}
    reference = Reference(np.array([0 if t <= 0.5 else 1]), np.array([[0.0], [1.0]]))
    return WeightedPoints(np.array([[t]], dtype=np.float64), np.ones(1), reference, MappingProxyType(exact))


def local_optimum(e: float = 0.1) -> WeightedPoints:
    """Return six points in three pairs, and centres that Lloyd's algorithm leaves as they are but that are not best.

    Pairs are at (0, ±e), (1, ±e), (2, ±e), centres at (0, e), (0, -e), (1.5, 0). A tree may then cost less than the
    reference: its price is below 1.

    `exact` has "cost" (1 + 4 e², squared Euclidean) and "best_cost" (6 e², of one centre for each pair).

    Raises
    ------
    ValueError
        If e is not above 0, or above 1/2, where pairs are no longer the best clusters.

    References
    ----------
    D. Ghoshdastidar, "Statistical foundations of learning", lecture slides: sub-optimality of Lloyd's algorithm.

    Examples
    --------
    >>> local_optimum(0.5).exact
    mappingproxy({'cost': 2.0, 'best_cost': 1.5})
    """
    need(0 < e <= 0.5, f"e must be above 0 and at most 0.5, got {e}")
    points = np.array([[x, y] for x in (0.0, 1.0, 2.0) for y in (e, -e)])
    reference = Reference(np.array([0, 1, 2, 2, 2, 2]), np.array([[0.0, e], [0.0, -e], [1.5, 0.0]]))
    exact = {"cost": 1 + 4 * e**2, "best_cost": 6 * e**2}
    return WeightedPoints(points, np.ones(6), reference, MappingProxyType(exact))


# ------------------------------------------------------------------------------------------------------- steps


def _need_objective(objective: str) -> None:
    need(objective in ("l1", "sqeuclidean", "l2"), f"objective must be 'l1', 'sqeuclidean' or 'l2', got {objective!r}")
