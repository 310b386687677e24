"""Random centres, each with two points next to it, on which every threshold tree is dear."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from boxwood._types import Floats
from boxwood._validation import as_generator
from boxwood.reference import Reference
from boxwood.theory.instances._cuts import WeightedPoints
from boxwood.theory.instances._instance import need

__all__ = ["unit_cube", "unit_grid"]


def unit_cube(
    k: int,
    *,
    d: int | None = None,
    eps: float | None = None,
    copies: float | None = None,
    random_state: Any = None,
) -> WeightedPoints:
    """Return k random centres in a cube, each with two points next to it, on which any tree is dear for k-means.

    A centre is drawn uniformly from [0, 1]^d; its points are itself, with a large weight, and itself ± eps on all axes.
    So every cut through the cube parts many points from centres that are far from all others.

    Parameters
    ----------
    k : int
        Number of centres, at least 2.
    d : int, default=None
        Number of axes; None takes the paper's 300 ln k, rounded up.
    eps : float, default=None
        Offset of the two points on each axis; None takes the paper's 300 ln k / k, which is below 1 from k = 2 326 on.
    copies : float, default=None
        Weight of a centre; None takes the paper's k².
    random_state : int, Generator, RandomState or None, default=None
        Source of the centres.

    Returns
    -------
    WeightedPoints
        3k rows. `exact` has, measured on the centres drawn: "reference_cost" (2 k eps² d, so the optimum is at most
        that), "min_distance" between centres, "fewest_separated" (the fewest points that any cut at 0 <= theta < 1
        parts from their centres), and "cost_bound" and "price_bound", below which no tree of k leaves comes with any
        centres. And the paper's numbers: "distance_bound" (sqrt(d / 12)), "separated_bound" (eps k / 4) and
        "paper_cost_bound" (eps k d / 80), which hold with high probability for its d and eps, and may not for others.

    Raises
    ------
    ValueError
        If k < 2, or d, eps or copies are not positive.

    Notes
    -----
    `cost_bound`: a point parted from its centre pays at least (D - h)², D the smallest distance of centres and
    h = eps sqrt(d), if leaves keep the given centres; with best ones at least copies / (copies + 2k) times that. A tree
    that leaves two centres together pays copies D² / 2 for them. With the paper's d and eps its ratio to the optimum,
    1 / (160 eps), exceeds 1 from about k = 642 000 on; the bound here is above 1 wherever D > 2h.

    Takes time k² d, memory k d.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021, Theorem 8.1,
    Lemmas 8.2 and 8.3, with the optimum 2 k eps² d throughout.

    Examples
    --------
    >>> exact = unit_cube(400, d=40, eps=0.05, random_state=0).exact
    >>> exact["fewest_separated"], exact["separated_bound"], round(exact["reference_cost"], 6)
    (11.0, 5.0, 80.0)
    """
    need(k >= 2, f"unit_cube needs k >= 2, got {k}")
    d = math.ceil(300 * math.log(k)) if d is None else d
    eps = 300 * math.log(k) / k if eps is None else eps
    copies = float(k) ** 2 if copies is None else copies
    need(d >= 1 and eps > 0 and copies > 0, f"d, eps and copies must be positive, got {d}, {eps} and {copies}")
    centers = as_generator(random_state).random((k, d))
    paper = {
        "distance_bound": math.sqrt(d / 12),
        "separated_bound": eps * k / 4,
        "paper_cost_bound": eps * k * d / 80,
    }
    return _beside(centers, centers - eps, centers + eps, eps, copies, 2, paper)


def unit_grid(
    k: int,
    *,
    d: int | None = None,
    steps: int | None = None,
    copies: float | None = None,
    random_state: Any = None,
) -> WeightedPoints:
    """Return k random centres on a grid, each with two points next to it, on which any tree is dear for ℓ2 k-medians.

    A centre is drawn uniformly from the grid {0, eps, 2 eps, ..., 1}^d, eps = 1 / steps; its points are itself, with a
    large weight, and itself ± eps on all axes. A centre is damaged by a cut that parts it from one of the two.

    Parameters
    ----------
    k : int
        Number of centres, at least 2.
    d : int, default=None
        Number of axes; None takes the paper's 300 ln k, rounded up.
    steps : int, default=None
        Steps of the grid on an axis; None takes the paper's ln k, rounded up.
    copies : float, default=None
        Weight of a centre, at least 2k; None takes the paper's "many", here k².
    random_state : int, Generator, RandomState or None, default=None
        Source of the centres.

    Returns
    -------
    WeightedPoints
        3k rows. `exact` as of `unit_cube`, with "reference_cost" 2 k eps sqrt(d), and the paper's numbers
        "distance_bound" (sqrt(d) / 4) and "separated_bound" (eps k / 2, of centres damaged by the first cut).

    Raises
    ------
    ValueError
        If k < 2, d or steps are not positive, or copies is below 2k.

    Notes
    -----
    `cost_bound`: a parted point pays at least D - h, D the smallest distance of centres and h = eps sqrt(d), also with
    best centres, as a centre of more than half the weight of a leaf is its geometric median. A tree that leaves two
    centres together pays copies D for them. Takes time k² d, memory k d.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021, Theorem 8.4,
    Lemmas 8.5 and 8.6, with the optimum 2 k eps sqrt(d) and sqrt(d / 12) for the distance of candidate centres.

    Examples
    --------
    >>> exact = unit_grid(400, d=40, steps=6, random_state=0).exact
    >>> exact["fewest_separated"] >= exact["separated_bound"], exact["min_distance"] >= exact["distance_bound"]
    (True, True)
    """
    need(k >= 2, f"unit_grid needs k >= 2, got {k}")
    d = math.ceil(300 * math.log(k)) if d is None else d
    steps = math.ceil(math.log(k)) if steps is None else steps
    copies = float(k) ** 2 if copies is None else copies
    need(d >= 1 and steps >= 1, f"d and steps must be positive, got {d} and {steps}")
    need(copies >= 2 * k, f"copies must be at least 2k = {2 * k}, so that best centres stay, got {copies}")
    places = as_generator(random_state).integers(steps + 1, size=(k, d))
    below, centers, above = ((places + shift) / steps for shift in (-1, 0, 1))  # so all points lie on the grid exactly
    paper = {"distance_bound": math.sqrt(d) / 4, "separated_bound": k / steps / 2}
    return _beside(centers, below, above, 1 / steps, copies, 1, paper)


# ------------------------------------------------------------------------------------------------------- steps


def _beside(
    centers: Floats, below: Floats, above: Floats, eps: float, copies: float, power: int, paper: dict[str, float]
) -> WeightedPoints:
    """Return centres of weight `copies` with two points each, and what holds for all trees of k leaves."""
    k, d = centers.shape
    distance, fewest = _smallest_distance(centers), _fewest_separated(below, above)
    own = (eps * math.sqrt(d)) ** power
    parted = max(0.0, distance - eps * math.sqrt(d)) ** power
    # where a parted point pays less than its own centre costs, any number of them may be parted
    points_cost = (2 * k - fewest) * min(own, parted) + fewest * parted
    kept = copies / (copies + 2 * k) if power == 2 else 1.0
    together = copies * distance**power / power
    bound = min(kept * points_cost, together)
    exact = {
        "reference_cost": 2 * k * own,
        "min_distance": distance,
        "fewest_separated": fewest,
        "cost_bound": bound,
        "price_bound": bound / (2 * k * own),
    }
    points, weights = np.concatenate([centers, below, above]), np.repeat([copies, 1.0, 1.0], k)
    return WeightedPoints(
        points, weights, Reference(np.tile(np.arange(k), 3), centers), MappingProxyType(exact | paper)
    )


def _smallest_distance(centers: Floats) -> float:
    # neighbours are found fast but roughly, by products; the distance itself is exact but for near ties
    nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(centers).kneighbors(return_distance=False)[:, 0]
    return float(np.linalg.norm(centers - centers[nearest], axis=1).min())


def _fewest_separated(below: Floats, above: Floats) -> float:
    """Return the fewest intervals [below, above) on any axis that hold a theta in [0, 1).

    A centre and its two points are parted by theta where it lies in their interval. The number falls where intervals
    end, so the fewest are at 0 or at an end.
    """
    fewest = len(below)
    for starts, ends in zip(np.sort(below, axis=0).T, np.sort(above, axis=0).T, strict=True):
        thetas = np.concatenate([[0.0], ends[(ends >= 0) & (ends < 1)]])
        held = np.searchsorted(starts, thetas, side="right") - np.searchsorted(ends, thetas, side="right")
        fewest = min(fewest, int(held.min()))
    return float(fewest)
