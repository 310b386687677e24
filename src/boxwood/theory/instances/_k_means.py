"""Points on which Lloyd's algorithm for k-means stops at a poor clustering."""

from __future__ import annotations

import numpy as np

from boxwood._validation import finite_number
from boxwood.reference import Reference
from boxwood.theory.instances._instance import Instance, instance_of_points, require

__all__ = ["local_optimum"]


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
    require(0 < finite_number("e", e) <= 0.5, f"e must be above 0 and at most 0.5, got {e}")
    points = np.array([[x, y] for x in (0.0, 1.0, 2.0) for y in (e, -e)])
    reference = Reference(np.array([0, 1, 2, 2, 2, 2]), np.array([[0.0, e], [0.0, -e], [1.5, 0.0]]))
    return instance_of_points(points, reference, {"cost": 1 + 4 * e**2, "best_cost": 6 * e**2})
