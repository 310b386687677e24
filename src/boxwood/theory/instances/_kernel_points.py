"""Few points that show limits of trees for kernel k-means, with exact similarities and costs.

They are from M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees".
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from boxwood._validation import finite_number, whole_number
from boxwood.kernels import Gaussian, Neighborhood, Polynomial
from boxwood.reference import Reference
from boxwood.theory.instances._instance import Instance, instance_of_points, refuse_unless

_SMALLEST, _LARGEST = 1e-150, 1e150  # range of numbers whose squares are doubles


def three_corners(gamma: float) -> Instance:
    """Return three corners of a square, for which the Gaussian kernel has no features of one column each.

    The rows are (0, 0), (1, 0) and (1, 1); each step from one to the next changes one column alone. With such features
    the kernel's K13 would be K12 + K23 - 1.

    `exact` has "similarity", the kernel's K13, and "interpretable", the value K12 + K23 - 1. They differ for every
    gamma above 0, not for large ones alone.

    Parameters
    ----------
    gamma : float
        Of the Gaussian kernel ``exp(-gamma |x - y|²)``, above 0.

    Raises
    ------
    ValueError
        If gamma is not above 0.

    Notes
    -----
    A one-sided cut asks for monotone features, that rise or fall steadily in their column. The Gaussian kernel has no
    such features either (Theorem 2). To see this, take three rows along which each column rises or falls steadily. The
    step from the first row to the second and the step from the second to the third have the inner product
    K12 + K23 - K13 - 1. Each monotone feature adds at least 0 to it, so there are none if K12 + K23 < K13 + 1.

    These corners meet this condition for every gamma, by (1 - exp(-gamma))². Three values of a single column in equal
    steps, as in the theorem, meet it if they are far apart: for exp(-gamma step²) below 0.5437. The last line of the
    paper's proof prints `0 < ... < 0`. It should read `0 <= ... < 0`, as a feature may be equal for two rows.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorems 1 and 2, Appendices D.1 and D.2.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in three_corners(0.1).exact.items()}
    {'similarity': 0.819, 'interpretable': 0.81}
    """
    refuse_unless(finite_number("gamma", gamma) > 0, f"three_corners needs gamma > 0, got {gamma}")
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    exact = {"similarity": math.exp(-2 * gamma), "interpretable": 2 * math.exp(-gamma) - 1}
    return instance_of_points(points, Reference.of(points, [0, 0, 1]), exact, kernel=Gaussian(gamma))


def quadratic_price(*, rotated: bool = True) -> Instance:
    """Return four points on a circle; the quadratic kernel makes two clusters of opposite points at cost 0.

    `exact` has "threshold_cost" and "interval_cost", the least kernel k-means cost of a tree of two leaves with a
    one-sided cut and with any cut, and "price", that of the latter.

    Parameters
    ----------
    rotated : bool, default=True
        Whether the points lie on the diagonals. Every tree of two leaves then has infinite price. Otherwise they lie
        on the axes, as in the paper: the cut `-0.5 <= x <= 0.5` then finds the clusters, and the paper's Proposition 1
        is false.

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
    return instance_of_points(points, Reference.of(points, [0, 0, 1, 1]), exact, kernel=Polynomial(2, 0.0))


def neighborhood_price() -> Instance:
    """Return eight points in 36 columns; the neighbourhood kernel makes two clusters of four at cost 0.

    Each column stands for two points of the first cluster, which have 1 there, and two of the second, which have -1.
    All other points have 0. So a single cut always leaves points of both clusters together.

    `exact` has "squared_within" and "squared_across", the squared distances between points of the same cluster and of
    different clusters, "interval_cost", the least kernel k-means cost of a tree of two leaves, and its "price".

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
    points = np.vstack([np.repeat(chosen, len(pairs), axis=1), -np.tile(chosen, len(pairs))])
    reference = Reference.of(points, np.repeat([0, 1], 4))
    exact = {"squared_within": 24.0, "squared_across": 54.0, "interval_cost": 8 / 3, "price": math.inf}
    return instance_of_points(points, reference, exact, kernel=Neighborhood(math.sqrt(24)))


def split_middle(e: float) -> Instance:
    """Return three pairs on a line, whose middle pair ExKMC splits first if it starts from the root.

    Pairs are at -1 ± e, ±e and 1 ± e, with their middles as centres. The cut at 0 saves most: it gives each point of
    the middle pair to an outer centre. One more cut, for three leaves, gives only one of them back to its cluster.

    `exact` has, for the tree of three leaves from the root and the squared Euclidean cost, "price" (with the means of
    the leaves as centres: 7/9 - 2 / (9 e) + 1 / (9 e²)) and "surrogate_price" (with the given centres:
    5/6 + (1 - e)² / (6 e²)). Both grow without bound as e falls. It also has "cost" (6 e², of the reference; IMM's tree
    has the same) and the paper's "printed_bound".

    Parameters
    ----------
    e : float
        Distance of a point from the middle of its pair, at least 1e-150 and below 1/2.

    Raises
    ------
    ValueError
        If e is below 1e-150, or not below 1/2.

    Notes
    -----
    The paper prints 1/2 + 2 (1 - 2 e)² / (9 e²) as a lower bound of the price. It counts pairs twice: for small e it
    is above both prices.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining Kernel Clustering via Decision Trees", ICLR 2024,
    arXiv:2402.09881, Theorem 6 and Appendix J, corrected.

    Examples
    --------
    >>> exact = split_middle(0.1).exact
    >>> round(exact["price"], 4), round(exact["surrogate_price"], 4), round(exact["printed_bound"], 4)
    (9.6667, 14.3333, 14.7222)
    """
    refuse_unless(_SMALLEST <= finite_number("e", e) < 0.5, f"e must be at least {_SMALLEST:g} and below 0.5, got {e}")
    labels = np.repeat(np.arange(3), 2)
    reference = Reference(labels, np.array([[-1.0], [0.0], [1.0]]))
    points = reference.centers[labels] + np.tile([-e, e], 3)[:, None]
    exact = {
        "price": 7 / 9 - 2 / (9 * e) + 1 / (9 * e**2),
        "surrogate_price": 5 / 6 + (1 - e) ** 2 / (6 * e**2),
        "cost": 6 * e**2,
        "printed_bound": 0.5 + 2 * (1 - 2 * e) ** 2 / (9 * e**2),
    }
    return instance_of_points(points, reference, exact)


def far_point(v: float, copies: int = 50) -> Instance:
    """Return two crossed clusters and a point far from both, which a tree grown by mistakes alone does not separate.

    One cluster has the rows (1, -3) and (-3, 1), the other (-1, 3) and (3, -1), each `copies` times. The third is the
    point (0, v). Centres are (-1, -1), (1, 1) and (0, v); Lloyd's algorithm keeps them. Separating the far point
    removes one mistake; separating one of the four rows removes `copies` of them. So in the tree of three leaves that
    Expand or CART grows, the far point shares a leaf with the second cluster.

    `exact` has "cost" (32 copies, of the reference) and two prices, for the squared Euclidean cost with the means of
    the leaves as centres. "price" is that of this tree, 1/2 + ((v - 1)² + 1) / (16 (2 copies + 1)), and grows without
    bound with v. "best_price" (5/6) is that of the tree with the cuts `x[1] > 4` and `x[0] <= -2`.

    Parameters
    ----------
    v : float
        Height of the far point, above 4 and at most 1e150.
    copies : int, default=50
        Number of copies of each of the four rows, at least 2.

    Raises
    ------
    ValueError
        If v or copies are too small, or v is too large.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining Kernel Clustering via Decision Trees", ICLR 2024,
    arXiv:2402.09881, Remark 2, which refers to an example of section 3 of Moshkovitz, Dasgupta, Rashtchian and Frost,
    "Explainable k-Means and k-Medians Clustering", ICML 2020.

    Examples
    --------
    >>> [round(far_point(v).exact["price"], 4) for v in (10.0, 100.0, 1000.0)]
    [0.5507, 6.5656, 618.0755]
    """
    whole_number("copies", copies, 2)
    refuse_unless(4 < finite_number("v", v) <= _LARGEST, f"far_point needs 4 < v <= {_LARGEST:g}, got {v}")
    rows = np.array([[1.0, -3.0], [-3.0, 1.0], [-1.0, 3.0], [3.0, -1.0]])
    points = np.vstack([np.repeat(rows, copies, axis=0), [[0.0, v]]])
    labels = np.append(np.repeat([0, 0, 1, 1], copies), 2)
    exact = {"price": 0.5 + ((v - 1) ** 2 + 1) / (16 * (2 * copies + 1)), "best_price": 5 / 6, "cost": 32.0 * copies}
    return instance_of_points(points, Reference(labels, np.array([[-1.0, -1.0], [1.0, 1.0], [0.0, v]])), exact)
