"""Bounds on the price of IMM's tree for k-means and k-medians: from k or the depth, and from the mistakes of one tree.

They are from M. Moshkovitz, S. Dasgupta, C. Rashtchian, N. Frost, "Explainable k-means and k-medians clustering".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import Rows, refuse_infinite_sum, refuse_other_kind, refuse_unknown, shown, whole_number
from boxwood.errors import DataError
from boxwood.metrics.checks import check_fit
from boxwood.metrics.costs import summed_distances
from boxwood.metrics.prices import ratio
from boxwood.reference import Reference
from boxwood.reference.centers import objective_code
from boxwood.theory.bounds.bound import Bound, Condition, as_price, checked
from boxwood.tree import ThresholdTree

__all__ = ["MistakeCertificate", "imm_certificate", "imm_price_bound"]


_PAPER = "Moshkovitz, Dasgupta, Rashtchian and Frost, Explainable k-Means and k-Medians Clustering, ICML 2020"
_INEQUALITY = "each cut of the tree makes as few mistakes as IMM's, by the inequality of `imm_certificate`"
_AT_REFERENCE = "the price is that with centers='reference'"
_AT_BEST = "the price is that by default, and the reference's centres are the best ones of its clusters"
_AT_EITHER = "the reference's centres are the best ones of its clusters, or the price is that with centers='reference'"
_ROUNDING = 1e-9
_FACTOR = {"sqeuclidean": 2.0, "l1": 1.0}  # |a + b|² <= 2 |a|² + 2 |b|²


def imm_price_bound(
    k: int,
    *,
    objective: str = "sqeuclidean",
    depth: int | None = None,
    certificate: MistakeCertificate | None = None,
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
        conditions = checked(_INEQUALITY, bool(obeys)), certificate.price.conditions[-1]
    return as_price(float(value), conditions, f"{_PAPER}, Theorem {theorem}")


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
        raise ValueError(f"centers must be 'reference' or None, got {shown(centers)}")
    rows_of_all = Rows.of(X, sample_weight)
    table, weights = rows_of_all.values, rows_of_all.weights
    refuse_infinite_sum(weights)
    check_fit(table, tree, reference)
    weight = np.where(reference.kept, 1.0 if weights is None else weights, 0.0)
    kept = np.flatnonzero(weight)
    sums = _walk(tree, reference.centers, table[kept], reference.labels[kept], weight[kept], objective)
    alone = checked("each centre lies in a leaf of its own", True)  # others were refused
    at_centers = checked(_AT_REFERENCE, True)
    if centers is None:
        best = summed_distances(table, reference.labels, objective_code(objective), None, weights)
        at_centers = checked(_AT_BEST, sums.cost <= best * (1 + _ROUNDING))
    factor = _FACTOR[objective]
    price = factor + (factor * ratio(sums.extra, sums.cost) if sums.extra > 0 else 0.0)
    source = f"{_PAPER}, proof of Theorem {3 if objective == 'sqeuclidean' else 2}"
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
