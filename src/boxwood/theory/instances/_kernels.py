"""Few points that show what trees cannot do for kernels: with exact similarities and costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.kernels import Gaussian, Kernel, Neighborhood, Polynomial
from boxwood.theory.instances._instance import need

__all__ = ["KernelPoints", "neighborhood_price", "quadratic_price", "three_corners"]


@dataclass(frozen=True, eq=False)
class KernelPoints:
    """Points, the clusters that a kernel makes of them, and exact numbers.

    Attributes
    ----------
    points : array of shape (n, d)
        Rows.
    labels : array of shape (n,)
        Cluster of each row, an optimum of kernel k-means.
    kernel : Kernel
        The kernel.
    exact : mapping from str to float
        Exact quantities; each generator names its own.
    """

    points: Floats
    labels: Indices
    kernel: Kernel
    exact: Mapping[str, float]


def three_corners(gamma: float) -> KernelPoints:
    """Return three corners of a square, for which the Gaussian kernel has no features of one column each.

    Such features of the rows (0, 0), (1, 0), (1, 1) would make K13 the sum of K12 and K23 less 1, as each step changes
    one column alone.

    `exact` has "similarity", the kernel's K13, and "interpretable", what it would have to be. They differ for every
    gamma above 0, not for large ones alone.

    Raises
    ------
    ValueError
        If gamma is not above 0.

    Notes
    -----
    Nor has the Gaussian kernel features that rise or fall steadily (Theorem 2), as a cut on one side would ask. Three
    rows of which each column rises or falls steadily rule them out if K12 + K23 < K13 + 1: the steps from the first to
    the second row and from there to the third have the inner product K12 + K23 - K13 - 1, while each such feature adds
    at least 0 to it. These corners meet the condition for every gamma, by (1 - exp(-gamma))²; three values of a single
    column in equal steps, as the theorem has them, where they are far apart: exp(-gamma step²) below 0.5437. The last
    line of the paper's proof should read `0 <= ... < 0`, as a feature may rest between rows; it prints `0 < ... < 0`.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorems 1 and 2, Appendices D.1 and D.2.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in three_corners(0.1).exact.items()}
    {'similarity': 0.819, 'interpretable': 0.81}
    """
    need(gamma > 0, f"three_corners needs gamma > 0, got {gamma}")
    exact = {"similarity": math.exp(-2 * gamma), "interpretable": 2 * math.exp(-gamma) - 1}
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    return KernelPoints(points, np.array([0, 0, 1]), Gaussian(gamma), MappingProxyType(exact))


def quadratic_price(*, rotated: bool = True) -> KernelPoints:
    """Return four points on a circle, of which the quadratic kernel makes two clusters of opposite points at no cost.

    `exact` has "threshold_cost" and "interval_cost", the least kernel k-means cost of a tree of two leaves with
    one-sided cuts, and with any; and "price" of the latter.

    Parameters
    ----------
    rotated : bool, default=True
        Whether the points lie on the diagonals, where every tree of two leaves has infinite price. On the axes, as the
        paper has them, a cut `-0.5 <= x <= 0.5` finds the clusters, so that its Proposition 1 fails.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Proposition 1, corrected.

    Examples
    --------
    >>> dict(quadratic_price().exact)
    {'threshold_cost': 2.0, 'interval_cost': 2.0, 'price': inf}
    >>> quadratic_price(rotated=False).exact["price"]
    1.0
    """
    points = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    exact = {"threshold_cost": 4 / 3, "interval_cost": 0.0, "price": 1.0}
    if rotated:
        points = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]) / math.sqrt(2)
        exact = {"threshold_cost": 2.0, "interval_cost": 2.0, "price": math.inf}
    return KernelPoints(points, np.array([0, 0, 1, 1]), Polynomial(2, 0.0), MappingProxyType(exact))


def neighborhood_price() -> KernelPoints:
    """Return eight points in 36 columns, of which the neighbourhood kernel makes two clusters of four at no cost.

    A column stands for two points of the first cluster and two of the second: they have 1 and -1 there, all others 0.
    So every cut of two leaves keeps points of both clusters together.

    `exact` has "squared_within" and "squared_across", the squared distances of points of one and of two clusters,
    "interval_cost", the least kernel k-means cost of a tree of two leaves, and its "price".

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Proposition 2.

    Examples
    --------
    >>> instance = neighborhood_price()
    >>> instance.points.shape, instance.exact["interval_cost"]
    ((8, 36), 2.6666666666666665)
    """
    pairs = list(combinations(range(4), 2))
    chosen = np.array([[i in pair for pair in pairs] for i in range(4)], dtype=np.float64)  # (4, 6)
    first, second = np.repeat(chosen, len(pairs), axis=1), -np.tile(chosen, len(pairs))
    exact = {"squared_within": 24.0, "squared_across": 54.0, "interval_cost": 8 / 3, "price": math.inf}
    labels = np.repeat([0, 1], 4)
    return KernelPoints(np.vstack([first, second]), labels, Neighborhood(math.sqrt(24)), MappingProxyType(exact))
