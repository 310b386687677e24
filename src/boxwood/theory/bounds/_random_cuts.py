"""Bounds on the expected price of random threshold trees for k-medians and k-means.

They are from K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", with a sharper
one for ℓ1 from a later paper. They bound the cost of a tree with the given centres, as a multiple of the cost of the
given centres. They therefore hold for the cost with best centres, too. They also hold for the cheapest of several
trees.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_numbers, finite_number, refuse_unknown, whole_number
from boxwood.theory.bounds.bound import Bound, as_price, drawn_trees

__all__ = ["random_cuts_price_bound", "separation_probability"]


_PAPER = "Makarychev and Shan, Near-optimal Algorithms for Explainable k-Medians and k-Means, ICML 2021"
_LATER_PAPER = "Gupta, Pittu, Svensson and Yuan, The Price of Explainability for Clustering, FOCS 2023"
_OBJECTIVES, _VARIANTS = ("l1", "sqeuclidean", "l2"), ("fast", "exact")


def random_cuts_price_bound(
    k: int, *, objective: str = "l1", variant: str = "fast", drawn: bool = False, sharp: bool = False
) -> Bound:
    """Return the bound on the expected price of trees by `grow.random_cuts`, for any k centres and any rows.

    =============  =========  =============================================================================
    objective      variant    bound, with L = log2 k and H_k = 1 + 1/2 + ... + 1/k
    =============  =========  =============================================================================
    "l1"           "fast"     1 + H_{k-1}; no smaller number holds for every instance, see `instances.star`
    "l1"           "exact"    1 + 4 (2 ln k + e) ceil(3 L)
    "sqeuclidean"  either     8k times the bound for "l1"; 8k is the distortion of the terminal embedding
    "l2"           either     1 + floor(L) (8 (8 ln k + 9) / sqrt(L) + 8 sqrt(L)), of order log^(3/2) k
    =============  =========  =============================================================================

    Parameters
    ----------
    k : int
        Number of centres, at least 2.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Cost that the trees are grown for and measured by.
    variant : {"fast", "exact"}, default="fast"
        Variant of `grow.random_cuts`. The bound of "fast" holds for "exact", too, if no two centres are nearer to each
        other than D / k³, with D the largest distance between two centres of one node. Each row then reaches each
        centre with the same probability in both variants.
    drawn : bool, default=False
        States that trees are drawn by `grow.random_cuts` with this objective and variant, which no tree can show.
    sharp : bool, default=False
        Whether the distortion is 2k - 1, the smallest that holds for the embedding, instead of the paper's 8k.

    Raises
    ------
    ValueError
        If k < 2, or the objective or the variant is unknown.

    Notes
    -----
    The paper proves O(log k log log k) for "l1" without a constant. 1 + H_{k-1} is a later result, for trees in which
    each node draws its cut uniformly. It bounds the expected cost of every single row.

    The distortion 2k - 1: let the way from a terminal y to a row x consist of the gaps g_1, ..., g_j between terminals
    and a rest t. Then ``|x - y|² = (sum g + t)²``, which is at most (2j + 1) (sum g² / 2 + t²) by the Cauchy-Schwarz
    inequality, and j is at most k - 1. For rows between terminals it is less.

    For "l2" the paper states the order alone. The constants are those of its proof, with three changes. A centre in
    the outer half of the radius leaves the main part with probability 1 / 8d, not 1 / 4d. A light cut costs 2R. A row
    outside the box of the centres is counted by 2A >= max(A, B) or by ``|x - c| >= B / 2``, with A and B the distances
    of the centre and the row from the median.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021,
    arXiv:2107.00798: Theorem 4.1 with Claim 4.4 (constant e), Theorem 6.3 and Theorem 7.1. Theorem 1.2 and the proof
    of Theorem 8.1 write the ℓ2 cost where they mean the squared one.
    A. Gupta, M. R. Pittu, O. Svensson, R. Yuan, "The price of explainability for clustering", FOCS 2023,
    arXiv:2304.09743. K. Makarychev, L. Shan, "Random cuts are optimal for explainable k-medians", NeurIPS 2023, has
    2 ln k + 2 for the same trees.

    Examples
    --------
    >>> [round(random_cuts_price_bound(k).value, 3) for k in (2, 3, 5, 10, 20)]
    [2.0, 2.5, 3.083, 3.829, 4.548]
    >>> random_cuts_price_bound(3, objective="sqeuclidean").value
    60.0
    """
    whole_number("k", k, 2)
    refuse_unknown("objective", objective, _OBJECTIVES)
    refuse_unknown("variant", variant, _VARIANTS)
    if objective == "l2":
        condition = drawn_trees("grow.random_cuts with objective='l2'", drawn)
        return as_price(_median_cuts_bound(k), (condition,), f"{_PAPER}, Theorem 7.1, with constants from its proof")
    condition = drawn_trees(f"grow.random_cuts with objective={objective!r}, variant={variant!r}", drawn)
    bound, source = _l1_bound(k, variant)
    if objective == "l1":
        return as_price(bound, (condition,), source)
    distortion = 2 * k - 1 if sharp else 8 * k
    return as_price(distortion * bound, (condition,), f"{_PAPER}, Theorem 6.3, with {source}")


def separation_probability(x: ArrayLike, center: ArrayLike, median: ArrayLike, radius: float) -> Floats:
    """Return the probability that one draw of a median-centred cut separates a row from its centre.

    A draw is an axis, a sign and a number uniform in [0, radius²]. The cut lies at the median plus or minus the root
    of the number. A draw that separates no two centres of the main part makes no cut, but it counts as a draw.

    Parameters
    ----------
    x, center : array-like of shape (..., d)
        Rows and their centres, broadcast against each other.
    median : array-like of shape (d,)
        Median of the centres.
    radius : float
        Largest distance of a centre of the main part from the median, above 0.

    Returns
    -------
    array of shape (...)
        Probabilities; always holds, by Lemma 7.2: at most ``|x - c| (|c - m| + |x - m|) / (2 d radius²)``.

    Raises
    ------
    ValueError
        If the radius is not above 0.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021, Lemma 7.2. The
    text does not clip squared offsets at radius², and its bound has d where the triangle inequality gives 2d.

    Examples
    --------
    >>> separation_probability([[1.0], [3.0]], [0.0], [-1.0], 2.0)
    array([0.375, 0.375])
    """
    if finite_number("radius", radius) <= 0:
        raise ValueError(f"radius must be above 0, got {radius}")
    row, own, middle = as_numbers("x", x), as_numbers("center", center), as_numbers("median", median)
    with np.errstate(over="ignore"):  # beyond the radius the distance does not matter
        of_row, of_center = (_signed_fraction(point - middle, radius) for point in (row, own))
    return np.asarray(np.abs(of_row - of_center).mean(axis=-1) / 2)


# ------------------------------------------------------------------------------------------------------- steps


def _signed_fraction(offset: Floats, radius: float) -> Floats:
    """Return the fraction of [0, radius²] whose roots lie between the median and a point; negative below the median.

    The difference of two points' fractions is the fraction between the points, on one side of the median or across it.
    """
    return np.asarray(np.sign(offset) * np.minimum(np.abs(offset) / radius, 1.0) ** 2)


def _l1_bound(k: int, variant: str) -> tuple[float, str]:
    if variant == "exact":
        phases = math.ceil(3 * math.log2(k))
        return 1 + 4 * (2 * math.log(k) + math.e) * phases, f"{_PAPER}, Theorem 4.1"
    return 1 + math.fsum(1 / j for j in range(1, k)), _LATER_PAPER


def _median_cuts_bound(k: int) -> float:
    calls, root = math.floor(math.log2(k)), math.sqrt(math.log2(k))
    heavy, light = 8 * (8 * math.log(k) + 9) / root, 8 * root
    return 1 + calls * (heavy + light)
