"""Tables that are clustered well, and that greedy growth from the root explains at any price."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from boxwood.reference import Reference
from boxwood.theory.instances._cuts import WeightedPoints
from boxwood.theory.instances._instance import need

__all__ = ["far_point", "split_middle"]


def split_middle(e: float) -> WeightedPoints:
    """Return three pairs on a line, whose middle one ExKMC splits first where it begins at the root.

    Pairs are at -1 ± e, ±e and 1 ± e, and their middles the centres. The cut at 0 gives the middle pair to the centres
    beside it and saves most; one of its two points is then left without its cluster in a tree of three leaves.

    `exact` has, for three leaves from the root and the squared Euclidean cost, "price" (leaves around their own means,
    7/9 - 2 / (9 e) + 1 / (9 e²)) and "surrogate_price" (around the centres, 5/6 + (1 - e)² / (6 e²)), both without
    bound as e falls; "cost" (6 e², of the reference, which the tree of IMM keeps); and "printed_bound" of the paper.

    Raises
    ------
    ValueError
        If e is not above 0 and below 1/2.

    Notes
    -----
    The paper prints 1/2 + 2 (1 - 2 e)² / (9 e²) as a lower bound of the price. It counts pairs twice, and for
    small e is above the price around the means as well as around the centres.

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
    need(0 < e < 0.5, f"e must be above 0 and below 0.5, got {e}")
    labels = np.repeat(np.arange(3), 2)
    reference = Reference(labels, np.array([[-1.0], [0.0], [1.0]]))
    points = reference.centers[labels] + np.tile([-e, e], 3)[:, None]
    exact = {
        "price": 7 / 9 - 2 / (9 * e) + 1 / (9 * e**2),
        "surrogate_price": 5 / 6 + (1 - e) ** 2 / (6 * e**2),
        "cost": 6 * e**2,
        "printed_bound": 0.5 + 2 * (1 - 2 * e) ** 2 / (9 * e**2),
    }
    return WeightedPoints(points, np.ones(6), reference, MappingProxyType(exact))


def far_point(v: float, copies: int = 50) -> WeightedPoints:
    """Return two crossed clusters and a point far from both, which a tree grown by mistakes alone does not part.

    One cluster has rows (1, -3) and (-3, 1), the other (-1, 3) and (3, -1), each `copies` times, and the third the
    point (0, v). Centres are (-1, -1), (1, 1) and (0, v), which Lloyd's algorithm leaves as they are. Parting the
    far point removes one mistake, parting one of the four rows `copies` of them: so a tree of three leaves by Expand,
    or CART, keeps the far point with the second cluster.

    `exact` has, for the squared Euclidean cost of leaves around their own means, "price", 1/2 +
    ((v - 1)² + 1) / (16 (2 copies + 1)), which grows without bound with v; "best_price" (5/6), of the tree that parts
    the far point at `x[1] > 4` and then rows at `x[0] <= -2`; and "cost" (32 copies) of the reference.

    Parameters
    ----------
    v : float
        Height of the far point, above 4.
    copies : int, default=50
        How often each of the four rows is there, at least 2.

    Raises
    ------
    ValueError
        If v or the copies are below that.

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
    need(v > 4 and copies >= 2, f"far_point needs v > 4 and copies >= 2, got v={v}, copies={copies}")
    rows = np.array([[1.0, -3.0], [-3.0, 1.0], [-1.0, 3.0], [3.0, -1.0]])
    points = np.vstack([np.repeat(rows, copies, axis=0), [[0.0, v]]])
    labels = np.append(np.repeat([0, 0, 1, 1], copies), 2)
    exact = {
        "price": 0.5 + ((v - 1) ** 2 + 1) / (16 * (2 * copies + 1)),
        "best_price": 5 / 6,
        "cost": 32.0 * copies,
    }
    reference = Reference(labels, np.array([[-1.0, -1.0], [1.0, 1.0], [0.0, v]]))
    return WeightedPoints(points, np.ones(len(points)), reference, MappingProxyType(exact))
