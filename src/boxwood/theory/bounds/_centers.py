"""Bounds on the price of trees with a leaf for each centre, for k-means and k-medians: of IMM, and of random cuts.

For IMM they follow from k or the depth, and from the mistakes of one tree: M. Moshkovitz, S. Dasgupta, C. Rashtchian,
N. Frost, "Explainable k-means and k-medians clustering".

For random cuts they bound the expected price: K. Makarychev, L. Shan, "Near-optimal algorithms for explainable
k-medians and k-means", with a sharper one for ℓ1 from a later paper. They bound the cost of a tree with the given
centres, as a multiple of the cost of the given centres. They therefore hold for the cost with best centres, too. They
also hold for the cheapest of several trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import (
    Rows,
    as_numbers,
    finite_number,
    refuse_no_sum,
    refuse_other_kind,
    refuse_unknown,
    show_value,
    whole_number,
)
from boxwood.errors import DataError
from boxwood.metrics.checks import check_fit
from boxwood.metrics.costs import ratio, summed_distances
from boxwood.reference import Reference
from boxwood.reference.centers import objective_code
from boxwood.theory.bounds.bound import Bound, Condition, as_price, check_condition, drawn_trees
from boxwood.tree import ThresholdTree

_IMM_PAPER = "Moshkovitz, Dasgupta, Rashtchian and Frost, Explainable k-Means and k-Medians Clustering, ICML 2020"
_INEQUALITY = "each cut of the tree makes as few mistakes as IMM's, by the inequality of `imm_certificate`"
_AT_REFERENCE = "the price is that with centers='reference'"
_AT_BEST = "the price is that by default, and the reference's centres are the best ones of its clusters"
_AT_EITHER = "the reference's centres are the best ones of its clusters, or the price is that with centers='reference'"
_ROUNDING = 1e-9
_FACTOR = {"sqeuclidean": 2.0, "l1": 1.0}  # |a + b|² <= 2 |a|² + 2 |b|²


def imm_price_bound(
    k: int, *, objective: str = "sqeuclidean", depth: int | None = None, certificate: MistakeCertificate | None = None
) -> Bound:
    """Return the bound on the price of IMM's tree of depth H: 2 + 8 k H for k-means and 2 H + 1 for k-medians.

    It is a bound on `price_of_explainability` with `centers="reference"`. It is one on the price by default, too, where
    the reference's centres are the best ones of its clusters: means for k-means, medians for k-medians.

    Parameters
    ----------
    k : int
        Number of centres, at least 1.
    objective : {"sqeuclidean", "l1"}, default="sqeuclidean"
        Squared Euclidean or ℓ1 cost.
    depth : int, default=None
        Depth of the tree. None takes that of the certificate, or else the largest, k - 1; the bounds are then
        2 + 8 k (k - 1) and 2 k - 1.
    certificate : MistakeCertificate, default=None
        Of the tree that the bound is asked about, by `imm_certificate` with the same objective. It is checked whether
        the tree obeys the inequality of the proof, as IMM's tree does, and the condition on the centres is the
        certificate's. None leaves both unknown.

    Raises
    ------
    ValueError
        If the objective is unknown, no tree of k leaves has this depth, or the certificate is of another objective or
        of more than k centres.

    References
    ----------
    M. Moshkovitz, S. Dasgupta, C. Rashtchian, N. Frost, "Explainable k-means and k-medians clustering", ICML 2020,
    Theorems 2 and 3.

    Examples
    --------
    >>> imm_price_bound(5).value, imm_price_bound(5, depth=3).value, imm_price_bound(5, objective="l1", depth=3).value
    (162.0, 122.0, 7.0)
    """
    refuse_unknown("objective", objective, _FACTOR)
    whole_number("k", k, 0)
    if certificate is not None:
        refuse_other_kind("certificate", certificate, MistakeCertificate, "imm_certificate returns one")
    edges = _depth(k, depth, certificate)
    if not 0 <= edges < k <= 2**edges:
        raise ValueError(f"a tree of k leaves has a depth from log2 k to k - 1, got k={k}, depth={depth}")
    value, theorem = (2 + 8 * k * edges, 3) if objective == "sqeuclidean" else (2 * edges + 1, 2)
    if certificate is None:
        conditions = Condition(_INEQUALITY, "unknown"), Condition(_AT_EITHER, "unknown")
    elif certificate.objective != objective:
        raise ValueError(f"the certificate is for objective={certificate.objective!r}, the bound for {objective!r}")
    else:
        if k < certificate.n_leaves:
            raise ValueError(f"the certificate is of a tree with {certificate.n_leaves} centres, but k={k}")
        obeys = certificate.depth <= edges and certificate.ratios.max() <= 1 + _ROUNDING
        conditions = check_condition(_INEQUALITY, bool(obeys)), certificate.price.conditions[-1]
    return as_price(float(value), conditions, f"{_IMM_PAPER}, Theorem {theorem}")


@dataclass(frozen=True)
class MistakeCertificate:
    """The mistakes of one tree by node, and the bound on its price that follows.

    Arrays are aligned with the nodes of the tree.

    Attributes
    ----------
    mistakes : array of shape (n_nodes,)
        Weight of the rows that reach the node together with their centre and that its cut separates from it. It is 0
        at leaves.
    ratios : array of shape (n_nodes,)
        Left side over right side of the paper's inequality (see `imm_certificate`), the largest over columns; 0 at
        leaves. Always holds for IMM's tree: at most 1, but for rounding.
    price : Bound
        Bound on the price of this tree; the last condition says which price, and whether the reference's centres suit
        it. Always holds for IMM's tree: at most `imm_price_bound` at its depth.
    depth : int
        Depth of the tree.
    objective : str
        Cost that the bound is for.
    """

    mistakes: Floats
    ratios: Floats
    price: Bound
    depth: int
    objective: str

    @property
    def n_leaves(self) -> int:
        """Number of leaves, each with one centre."""
        return (len(self.mistakes) + 1) // 2


def imm_certificate(
    X: ArrayLike,
    tree: ThresholdTree,
    reference: Reference,
    *,
    objective: str = "sqeuclidean",
    centers: str | None = None,
    sample_weight: ArrayLike | None = None,
) -> MistakeCertificate:
    """Return the mistakes of one tree by node, and the bound on its price that follows from them.

    Suppose that a node makes t mistakes: its cut separates t rows from their centres. Each of these rows ends at
    another centre of the node. Let r_i be the range of the node's centres in column i. For every tree, with sums over
    nodes and columns,

        squared Euclidean cost <= 2 cost(reference) + 2 sum t r_i²    and    ℓ1 cost <= cost(reference) + sum t r_i

    All costs are at the reference's own centres. So the bound on the price is one on `price_of_explainability` with
    `centers="reference"`. The price by default takes the best centres of the tree's clusters and of the reference's. It
    has the same bound only if the reference's centres are the best ones of its clusters.

    IMM's cuts also obey an inequality at each node and in each column. Let k' be the number of the node's centres, and
    sum over the rows that reach the node together with their centre c::

        t r_i² <= 4 k' sum (x_i - c_i)²    and, for the ℓ1 cost,    t r_i <= 2 sum |x_i - c_i|

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    tree : ThresholdTree
        Tree that has one leaf for each distinct centre.
    reference : Reference
        Clustering of the rows.
    objective : {"sqeuclidean", "l1"}, default="sqeuclidean"
        Cost to be bounded.
    centers : "reference" or None, default=None
        The price that is meant, as in `price_of_explainability`. None: the price by default; the bound then fails its
        last condition, and `holds` is False, unless the reference's centres are the best ones of its clusters: means
        for "sqeuclidean", medians for "l1". "reference": the price at the reference's centres, whatever they are.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.

    Raises
    ------
    DataError
        If rows, tree, reference and weights do not fit together, or two distinct centres lie in one leaf.
    ValueError
        If the objective is unknown, or `centers` is something else.

    Notes
    -----
    Takes time d times the number of rows at a node, summed over nodes, and memory n d.

    References
    ----------
    M. Moshkovitz, S. Dasgupta, C. Rashtchian, N. Frost, "Explainable k-means and k-medians clustering", ICML 2020,
    proof of Theorem 3. M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision
    trees", ICLR 2024, Lemma 2.

    Examples
    --------
    >>> from boxwood.grow import imm
    >>> X = [[0.0], [1.0], [8.5], [8.0], [9.0]]
    >>> reference = Reference([0, 0, 0, 1, 1], [[2.0], [8.0]])
    >>> certificate = imm_certificate(X, imm(X, reference), reference, centers="reference")
    >>> certificate.mistakes, certificate.ratios, round(certificate.price.value, 3)
    (array([1., 0., 0.]), array([0.09326425, 0.        , 0.        ]), 3.492)
    >>> certificate.price.holds, imm_certificate(X, imm(X, reference), reference).price.holds
    (True, False)
    """
    refuse_unknown("objective", objective, _FACTOR)
    if not (centers is None or (isinstance(centers, str) and centers == "reference")):
        raise ValueError(f"centers must be 'reference' or None, got {show_value(centers)}")
    rows_of_all = Rows.of(X, sample_weight)
    table, weights = rows_of_all.values, rows_of_all.weights
    refuse_no_sum(weights)
    check_fit(table, tree, reference)
    weight = np.where(reference.kept, 1.0 if weights is None else weights, 0.0)
    kept = np.flatnonzero(weight)
    sums = _walk(tree, reference.centers, table[kept], reference.labels[kept], weight[kept], objective)
    alone = check_condition("each centre lies in a leaf of its own", True)  # others were refused
    at_centers = check_condition(_AT_REFERENCE, True)
    if centers is None:
        best = summed_distances(table, reference.labels, objective_code(objective), None, weights)
        at_centers = check_condition(_AT_BEST, sums.cost <= best * (1 + _ROUNDING))
    factor = _FACTOR[objective]
    price = factor + (factor * ratio(sums.extra, sums.cost) if sums.extra > 0 else 0.0)
    source = f"{_IMM_PAPER}, proof of Theorem {3 if objective == 'sqeuclidean' else 2}"
    bound = as_price(price, (alone, at_centers), source)
    return MistakeCertificate(sums.mistakes, sums.ratios, bound, tree.depth, objective)


# ------------------------------------------------------------------------------------------------------- steps


def _depth(k: int, depth: int | None, certificate: MistakeCertificate | None) -> int:
    if depth is not None:
        return whole_number("depth", depth, 0)
    return k - 1 if certificate is None else certificate.depth


class _MistakeSums(NamedTuple):
    mistakes: Floats
    ratios: Floats
    extra: float  # sum over nodes of mistakes times the sum over columns of the ranges, squared for k-means
    cost: float  # of the reference


def _walk(
    tree: ThresholdTree, centers: Floats, X: Array, labels: Indices, weight: Floats, objective: str
) -> _MistakeSums:
    leaf = tree.apply(centers)
    if not np.array_equal(centers[tree.leaf_clusters[leaf]], centers) or len(np.unique(leaf)) < tree.n_leaves:
        raise DataError("each centre must lie in a leaf of its own, as in trees of IMM or random cuts")
    power = 2 if objective == "sqeuclidean" else 1
    row_centers = centers[labels]
    with np.errstate(over="ignore"):
        costs = weight[:, None] * np.abs(X.astype(np.float64) - row_centers) ** power
        if not np.isfinite(costs.sum()):
            raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
    mistakes, ratios, total = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes), 0.0
    stack = [(0, np.arange(len(X)), tree.leaf_clusters)]
    while stack:
        node, rows, clusters = stack.pop()
        if tree.feature[node] < 0:
            continue
        row_inside = _is_inside(tree, node, X[rows])
        separated = row_inside != _is_inside(tree, node, row_centers[rows])
        inside = _is_inside(tree, node, centers[clusters])
        mistakes[node] = weight[rows[separated]].sum()
        extra = mistakes[node] * np.ptp(centers[clusters], axis=0) ** power
        factor = 4 * len(clusters) if power == 2 else 2
        ratios[node] = _largest_ratio(extra, factor * costs[rows].sum(axis=0))
        total += float(extra.sum())
        stack.append((int(tree.second[node]), rows[~separated & ~row_inside], clusters[~inside]))
        stack.append((node + 1, rows[~separated & row_inside], clusters[inside]))
    return _MistakeSums(mistakes, ratios, total, float(costs.sum()))


def _is_inside(tree: ThresholdTree, node: int, Z: Array) -> Bools:
    values = Z[:, tree.feature[node]].astype(np.float64)
    return np.asarray((tree.lower[node] <= values) & (values <= tree.upper[node]))


def _largest_ratio(left: Floats, right: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float(np.divide(left, right, out=np.zeros_like(left), where=left > 0).max())


_RANDOM_PAPER = "Makarychev and Shan, Near-optimal Algorithms for Explainable k-Medians and k-Means, ICML 2021"
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
        return as_price(
            _median_cuts_bound(k), (condition,), f"{_RANDOM_PAPER}, Theorem 7.1, with constants from its proof"
        )
    condition = drawn_trees(f"grow.random_cuts with objective={objective!r}, variant={variant!r}", drawn)
    bound, source = _l1_bound(k, variant)
    if objective == "l1":
        return as_price(bound, (condition,), source)
    distortion = 2 * k - 1 if sharp else 8 * k
    return as_price(distortion * bound, (condition,), f"{_RANDOM_PAPER}, Theorem 6.3, with {source}")


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
        return 1 + 4 * (2 * math.log(k) + math.e) * phases, f"{_RANDOM_PAPER}, Theorem 4.1"
    return 1 + math.fsum(1 / j for j in range(1, k)), _LATER_PAPER


def _median_cuts_bound(k: int) -> float:
    calls, root = math.floor(math.log2(k)), math.sqrt(math.log2(k))
    heavy, light = 8 * (8 * math.log(k) + 9) / root, 8 * root
    return 1 + calls * (heavy + light)
