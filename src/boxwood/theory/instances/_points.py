"""Points for k-means and random cuts: with exact costs, and with lower bounds on the price of every tree.

Most are from K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means".
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors

from boxwood._types import Floats, Indices
from boxwood._validation import as_generator, finite_number, refuse_other_kind, refuse_unknown, whole_number
from boxwood.reference import Reference
from boxwood.theory.instances._instance import Instance, instance_of_points, refuse_unless
from boxwood.tree import ThresholdTree, rows_at_nodes
from boxwood.tree.tree import refuse_no_tree

_OBJECTIVES = ("l1", "sqeuclidean", "l2")


def star(k: int, far: float, *, objective: str = "l1") -> Instance:
    """Return one point at the origin and k centres, each on its own axis: one at cost 1, the others at cost `far`.

    Every cut separates one centre from the point and from all other centres. So the point ends with the centre that
    is never cut off. Random cuts cut off a centre with a probability proportional to its cost for "l1" and
    "sqeuclidean", and to the square of its cost for "l2".

    `exact` has "expected_cost", which is also the expected price, and "limit", to which it tends for large `far`:
    1 + H_{k-1} for "l1" and "sqeuclidean", with H_m = 1 + 1/2 + ... + 1/m, and 1 for "l2".

    Parameters
    ----------
    k : int
        Number of centres, at least 2.
    far : float
        Cost of the far centres, at least 1.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Cost of a row, and objective of `grow.random_cuts`. The variant and the median make no difference.

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
    whole_number("k", k, 2)
    refuse_unless(finite_number("far", far) >= 1, f"star needs far >= 1, got {far}")
    refuse_unknown("objective", objective, _OBJECTIVES)
    costs = np.array([1.0] + [far] * (k - 1))
    odds = far**2 if objective == "l2" else far
    stays = math.prod(j * odds / (1 + j * odds) for j in range(1, k))
    limit = 1.0 if objective == "l2" else 1 + math.fsum(1 / j for j in range(1, k))
    centers = np.diag(np.sqrt(costs) if objective == "sqeuclidean" else costs)
    reference = Reference(np.zeros(1, dtype=np.intp), centers)
    exact = {"expected_cost": 1 + (far - 1) * (1 - stays), "limit": limit}
    return instance_of_points(np.zeros((1, k)), reference, exact)


def two_centers(t: float, *, objective: str = "l1", median: str = "midpoint") -> Instance:
    """Return a point at t between the centres 0 and 1 on a line.

    `exact` has "probability", with which a tree of random cuts gives the point to the centre 1, and "expected_cost".

    Parameters
    ----------
    t : float
        Position of the point, from 0 to 1.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Cost of a row, and objective of `grow.random_cuts`.
    median : {"midpoint", "lower"}, default="midpoint"
        Median of the two centres; for "l2" alone.

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
    refuse_unless(0 <= finite_number("t", t) <= 1, f"t must be from 0 to 1, got {t}")
    refuse_unknown("median", median, ("midpoint", "lower"))
    refuse_unknown("objective", objective, _OBJECTIVES)
    nearest = min(t, 1 - t)
    crossing = {"l1": nearest, "sqeuclidean": 2 * nearest**2, "l2": 2 * nearest * (1 - nearest)}[objective]
    probability = crossing if t <= 0.5 else 1 - crossing
    if objective == "l2" and median == "lower":
        probability = t**2
    power = 2 if objective == "sqeuclidean" else 1
    cost = probability * (1 - t) ** power + (1 - probability) * t**power
    reference = Reference(np.array([0 if t <= 0.5 else 1]), np.array([[0.0], [1.0]]))
    exact = {"probability": probability, "expected_cost": cost}
    return instance_of_points(np.array([[t]], dtype=np.float64), reference, exact)


def unit_cube(
    k: int, *, d: int | None = None, eps: float | None = None, copies: float | None = None, random_state: Any = None
) -> Instance:
    """Return k random centres in a cube and two points beside each: for k-means every tree has a high price.

    A centre is drawn uniformly from [0, 1]^d. Its points are the centre itself, with a large weight, and the centre
    ± eps on all axes. Every cut through the cube separates many points from their centres, and all other centres are
    far away.

    Parameters
    ----------
    k : int
        Number of centres, at least 2.
    d : int, default=None
        Number of axes; None takes the paper's 300 ln k, rounded up.
    eps : float, default=None
        Offset of the two points on each axis, from 1e-150 to 1e150. None takes the paper's 300 ln k / k, which
        is below 1 from k = 2 326 on.
    copies : float, default=None
        Weight of a centre; None takes the paper's k².
    random_state : int, Generator, RandomState or None, default=None
        Source of the centres.

    Returns
    -------
    Instance
        3k rows. `exact` has, for the centres drawn, "reference_cost" (2 k eps² d; the optimum is at most that),
        "min_distance" between centres, and "fewest_separated", the fewest points that a cut at 0 <= theta < 1
        separates from their centres. No tree of k leaves, with any centres, has a cost below "cost_bound" or a price
        below "price_bound". The paper's numbers are "distance_bound" (sqrt(d / 12)), "separated_bound" (eps k / 4) and
        "paper_cost_bound" (eps k d / 80); they hold with high probability for its d and eps, and may fail for others.

    Raises
    ------
    ValueError
        If k < 2, or d, eps or copies are not positive.

    Notes
    -----
    `cost_bound`: let D be the smallest distance of two centres and h = eps sqrt(d). A point separated from its centre
    pays at least (D - h)² if leaves keep these centres, and at least copies / (copies + 2k) times that with best ones.
    A tree that leaves two centres together pays copies D² / 2 for them. With the paper's d and eps its ratio to the
    optimum, 1 / (160 eps), exceeds 1 from about k = 642 000 on; the bound here is above 1 wherever D > 2h.

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
    whole_number("k", k, 2)
    d = math.ceil(300 * math.log(k)) if d is None else whole_number("d", d, 1)
    eps = 300 * math.log(k) / k if eps is None else finite_number("eps", eps)
    copies = float(k) ** 2 if copies is None else finite_number("copies", copies)
    refuse_unless(
        1e-150 <= eps <= 1e150, f"eps must be from 1e-150 to 1e150, so that its square is a double; got {eps}"
    )
    refuse_unless(copies > 0, f"copies must be above 0, got {copies}")
    centers = as_generator(random_state).random((k, d))
    bounds = {"distance_bound": math.sqrt(d / 12), "separated_bound": eps * k / 4, "paper_cost_bound": eps * k * d / 80}
    return _with_neighbors(centers, centers - eps, centers + eps, eps, copies, 2, bounds)


def unit_grid(
    k: int, *, d: int | None = None, steps: int | None = None, copies: float | None = None, random_state: Any = None
) -> Instance:
    """Return k random centres on a grid and two points beside each: for ℓ2 k-medians every tree has a high price.

    A centre is drawn uniformly from the grid {0, eps, 2 eps, ..., 1}^d, eps = 1 / steps. Its points are the centre
    itself, with a large weight, and the centre ± eps on all axes. A cut damages a centre if it separates it from one
    of the two; `damages` counts the damaged centres of a tree level by level.

    Parameters
    ----------
    k : int
        Number of centres, at least 2.
    d : int, default=None
        Number of axes; None takes the paper's 300 ln k, rounded up.
    steps : int, default=None
        Steps of the grid on an axis; None takes the paper's ln k, rounded up.
    copies : float, default=None
        Weight of a centre, at least 2k; the paper says "many", None takes k².
    random_state : int, Generator, RandomState or None, default=None
        Source of the centres.

    Returns
    -------
    Instance
        3k rows. `exact` as in `unit_cube`, with "reference_cost" 2 k eps sqrt(d) and the paper's numbers
        "distance_bound" (sqrt(d) / 4) and "separated_bound" (eps k / 2, of centres that the first cut damages).

    Raises
    ------
    ValueError
        If k < 2, d or steps are not positive, or copies is below 2k.

    Notes
    -----
    `cost_bound`: let D be the smallest distance of two centres and h = eps sqrt(d). A point separated from its centre
    pays at least D - h. This holds with best centres, too: a centre with more than half the weight of a leaf is the
    leaf's geometric median. A tree that leaves two centres together pays copies D for them. Takes time k² d, memory
    k d.

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
    whole_number("k", k, 2)
    d = math.ceil(300 * math.log(k)) if d is None else whole_number("d", d, 1)
    steps = math.ceil(math.log(k)) if steps is None else whole_number("steps", steps, 1)
    copies = float(k) ** 2 if copies is None else finite_number("copies", copies)
    refuse_unless(copies >= 2 * k, f"copies must be at least 2k = {2 * k}, so that best centres stay, got {copies}")
    step = as_generator(random_state).integers(steps + 1, size=(k, d))
    below, centers, above = ((step + shift) / steps for shift in (-1, 0, 1))  # so all points lie on the grid exactly
    bounds = {"distance_bound": math.sqrt(d) / 4, "separated_bound": k / steps / 2}
    return _with_neighbors(centers, below, above, 1 / steps, copies, 1, bounds)


# ------------------------------------------------------------------------------------------------------- steps
def _with_neighbors(
    centers: Floats, below: Floats, above: Floats, eps: float, copies: float, power: int, bounds: dict[str, float]
) -> Instance:
    """Return centres of weight `copies` with two points each, and bounds for all trees of k leaves."""
    k, d = centers.shape
    distance, fewest = _smallest_distance(centers), _fewest_separated(below, above)
    kept_cost = (eps * math.sqrt(d)) ** power
    separated_cost = max(0.0, distance - eps * math.sqrt(d)) ** power
    # where a separated point pays less than its own centre costs, a tree may separate any number of points
    points_cost = (2 * k - fewest) * min(kept_cost, separated_cost) + fewest * separated_cost
    best_centers = copies / (copies + 2 * k) if power == 2 else 1.0
    bound = min(best_centers * points_cost, copies * distance**power / power)
    exact = {
        "reference_cost": 2 * k * kept_cost,
        "min_distance": distance,
        "fewest_separated": fewest,
        "cost_bound": bound,
        "price_bound": bound / (2 * k * kept_cost),
    }
    points, weights = np.concatenate([centers, below, above]), np.repeat([copies, 1.0, 1.0], k)
    return instance_of_points(points, Reference(np.tile(np.arange(k), 3), centers), exact | bounds, weights=weights)


def _smallest_distance(centers: Floats) -> float:
    # products find neighbours fast but roughly; the distance itself is exact but for near ties
    nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(centers).kneighbors(return_distance=False)[:, 0]
    return float(np.linalg.norm(centers - centers[nearest], axis=1).min())


def _fewest_separated(below: Floats, above: Floats) -> float:
    """Return the fewest intervals [below, above) on any axis that contain a theta in [0, 1).

    theta separates a centre from one of its two points where it lies in the centre's interval. The number falls where
    intervals end, so its minimum is at 0 or at an end.
    """
    fewest = len(below)
    for starts, ends in zip(np.sort(below, axis=0).T, np.sort(above, axis=0).T, strict=True):
        thetas = np.concatenate([[0.0], ends[(ends >= 0) & (ends < 1)]])
        n_intervals = np.searchsorted(starts, thetas, side="right") - np.searchsorted(ends, thetas, side="right")
        fewest = min(fewest, int(n_intervals.min()))
    return float(fewest)


def local_optimum(e: float = 0.1) -> Instance:
    """Return six points in three pairs, and centres that are not the best ones although Lloyd's algorithm keeps them.

    Pairs are at (0, ±e), (1, ±e) and (2, ±e), centres at (0, e), (0, -e) and (1.5, 0). A tree with a leaf for each
    pair costs less than the reference, so its price is below 1.

    `exact` has "cost" (1 + 4 e², squared Euclidean) and "best_cost" (6 e², with one centre for each pair).

    Parameters
    ----------
    e : float, default=0.1
        Distance of a point from the middle of its pair, above 0 and at most 1/2.

    Raises
    ------
    ValueError
        If e is not above 0, or is above 1/2: the pairs are then no longer the best clusters.

    References
    ----------
    D. Ghoshdastidar, "Statistical foundations of learning", lecture slides: sub-optimality of Lloyd's algorithm.

    Examples
    --------
    >>> local_optimum(0.5).exact
    mappingproxy({'cost': 2.0, 'best_cost': 1.5})
    """
    refuse_unless(0 < finite_number("e", e) <= 0.5, f"e must be above 0 and at most 0.5, got {e}")
    points = np.array([[x, y] for x in (0.0, 1.0, 2.0) for y in (e, -e)])
    reference = Reference(np.array([0, 1, 2, 2, 2, 2]), np.array([[0.0, e], [0.0, -e], [1.5, 0.0]]))
    return instance_of_points(points, reference, {"cost": 1 + 4 * e**2, "best_cost": 6 * e**2})


class Damages(NamedTuple):
    """Centres that each cut of a tree damages, with the cuts in pre-order. All arrays have one number for each cut.

    A centre is damaged by the first cut that parts some of its rows from the others.

    Attributes
    ----------
    level : array
        Number of cuts above; 0 for the root.
    undamaged : array
        Number of centres that no cut above has damaged, and that reach the cut.
    damaged : array
        Number of these that the cut damages.
    """

    level: Indices
    undamaged: Indices
    damaged: Indices

    @property
    def by_level(self) -> Indices:
        """Number of centres that the cuts of each level damage, from the root down."""
        return np.bincount(self.level, self.damaged).astype(np.intp)


def damages(instance: Instance, tree: ThresholdTree) -> Damages:
    """Return how many centres each cut of a tree damages in an instance of points, such as `unit_grid`.

    In `unit_grid`, Lemma 8.6 says that with high probability a cut at a level below log2(k) / 4 damages at least
    eps / 2 of its undamaged centres, if these are more than sqrt(k). So trees that separate all centres damage many.

    Raises
    ------
    ValueError
        If the instance has a mixture and no points.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021, Lemma 8.6.

    Examples
    --------
    >>> from boxwood.grow import random_cuts
    >>> from boxwood.theory.instances import unit_grid
    >>> instance = unit_grid(100, d=20, steps=5, random_state=0)
    >>> damages(instance, random_cuts(instance.centers, random_state=0)).by_level[:3]
    array([36, 25, 10])
    """
    refuse_other_kind("instance", instance, Instance, "make one by a function of boxwood.theory.instances")
    refuse_no_tree(tree)
    labels = instance.labels
    assert instance.points is not None  # an instance with labels has points
    n_rows = np.bincount(labels)
    level = np.zeros(len(tree.feature), dtype=np.intp)
    found = []
    for node, rows, inside in rows_at_nodes(tree, instance.points):
        if inside is None:
            continue
        level[[node + 1, int(tree.second[node])]] = level[node] + 1
        whole = np.bincount(labels[rows], minlength=len(n_rows)) == n_rows
        first = np.bincount(labels[rows[inside]], minlength=len(n_rows))
        found.append((level[node], whole.sum(), (whole & (first > 0) & (first < n_rows)).sum()))
    return Damages(*np.array(found, dtype=np.intp).reshape(-1, 3).T)
