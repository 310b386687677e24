"""What one tree guarantees for one mixture: the probabilities that its cuts separate rows from their means, added up.

From M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.metrics._checks import check_mixture
from boxwood.metrics._mixture_boxes import probability_between
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.theory.bounds._bound import Bound, Condition
from boxwood.theory.bounds._mixtures import BEYOND_WORST_CASE, mixture_beta
from boxwood.tree import ThresholdTree

__all__ = ["Certificate", "certificate"]


_GAUSSIAN = Condition("components are Gaussian along each axis", None)
_ANY = Condition("components have these means and variances", None)


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds on the error and the ℓ1 price of a tree for a mixture, with the contribution of each node.

    Attributes
    ----------
    error : Bound
        Sum of exact Gaussian tails. Always holds: at least the error rate, if components are Gaussian.
    chebyshev_error : Bound
        The same by Chebyshev's inequality, for components of any law. Always holds: at least `error`.
    price : Bound
        Bound on the ℓ1 price with the components' means as centres, from the Gaussian tails.
    chebyshev_price : Bound
        The same by Chebyshev's inequality and beta.
    separation, chebyshev : arrays of shape (n_nodes,)
        Probability that a row's mean reaches the node and the node's cut separates the row from it: exact for
        Gaussians, and Chebyshev's bound. 0 at leaves. Aligned with the nodes of the tree.
    misplaced : float
        Weight of the components whose mean lies in a leaf of another component. All their rows count as errors. It is
        0 for trees with one mean in each leaf.
    """

    error: Bound
    chebyshev_error: Bound
    price: Bound
    chebyshev_price: Bound
    separation: Floats
    chebyshev: Floats
    misplaced: float

    @property
    def correct(self) -> float:
        """Lower bound on the fraction of rows in a leaf of their own component, for Gaussian components."""
        return 1 - self.error.clipped


def certificate(
    mixture: Mixture, tree: ThresholdTree, *, beta: float | None = None, estimated: bool = False
) -> Certificate:
    """Return what a tree guarantees for a mixture: bounds for this tree, far below those of the theorems.

    A row reaches a wrong leaf only if some cut on its way separates it from its mean. So the error is at most the sum
    over cuts of the probability of that. It depends on the law along each axis alone, so axes may be correlated.

    Parameters
    ----------
    mixture : Mixture
        Components.
    tree : ThresholdTree
        Any tree whose clusters are the components. Interval cuts and several leaves for a component are allowed.
    beta : float, default=None
        For `chebyshev_price`: ratio of standard deviation to mean absolute deviation, see `bounds.mixture_beta`. None
        takes Gaussian components.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the bounds.

    Returns
    -------
    Certificate
        Always holds for Gaussians: error rate <= `error` <= `chebyshev_error`, and price <= `price` <=
        `chebyshev_price`, for the price with the means as centres.

    Raises
    ------
    DataError
        If the tree tests a column or has a cluster that the mixture does not have.

    Notes
    -----
    A row that a node separates from its mean ends at a centre of a leaf below that node. So it costs at most the sum
    over axes of the range of the means there. Takes time d times the number of components at a node, summed over
    nodes, and memory k d.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", equations (41)
    to (43) and (71); (38) lacks beta.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.grow import mmdt
    >>> mixture = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3)
    >>> guarantee = certificate(mixture, mmdt(mixture))
    >>> round(guarantee.error.value, 6), round(guarantee.correct, 3), guarantee.misplaced
    (0.004399, 0.996, 0.0)
    """
    check_mixture(mixture, tree)
    sums = _walk(tree, mixture)
    misplaced = float(mixture.weights[sums.misplaced].sum())
    displacement = float(mixture.weights[sums.misplaced] @ sums.displacement[sums.misplaced])
    gaussian_l1 = float(mixture.weights @ np.sqrt(2 / np.pi * mixture.variances).sum(axis=1))
    sigma = np.sqrt(mixture.pooled_variances("max")).sum()
    least_l1 = float(sigma) / (mixture_beta(mixture) if beta is None else beta)

    def price(separation: Floats, baseline: float) -> float:
        extra = float(separation @ sums.widths) + displacement
        return 1 + (ratio(extra, baseline) if extra > 0 else 0.0)

    def bound(value: float, condition: Condition, equations: str, top: float = np.inf) -> Bound:
        return Bound(value, min(top, value), (condition,), f"{BEYOND_WORST_CASE}, {equations}", estimated)

    return Certificate(
        bound(float(sums.tails.sum()) + misplaced, _GAUSSIAN, "equation (42)", 1.0),
        bound(float(sums.chebyshev.sum()) + misplaced, _ANY, "equation (43)", 1.0),
        bound(price(sums.tails, gaussian_l1), _GAUSSIAN, "equations (41) and (42)"),
        bound(price(sums.chebyshev, least_l1), _ANY, "equations (41), (43) and (71)"),
        sums.tails,
        sums.chebyshev,
        misplaced,
    )


# ------------------------------------------------------------------------------------------------------- steps


@dataclass
class _Sums:
    """By node: both separation probabilities and the ℓ1 width of the means. By component: where its mean ends."""

    tails: Floats
    chebyshev: Floats
    widths: Floats
    misplaced: Bools
    displacement: Floats


def _walk(tree: ThresholdTree, mixture: Mixture) -> _Sums:
    k, n = len(mixture.weights), tree.n_nodes
    sums = _Sums(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(k, dtype=np.bool_), np.zeros(k))
    below = _clusters_below(tree)
    stack = [(0, np.arange(k))]
    while stack:
        node, components = stack.pop()
        if tree.feature[node] < 0:
            leaf_cluster = tree.cluster[node]
            sums.misplaced[components] = components != leaf_cluster
            offset = mixture.means[components] - mixture.means[leaf_cluster]
            sums.displacement[components] = np.abs(offset).sum(axis=1)
            continue
        if len(components):
            inside = _add_cut(tree, mixture, node, components, sums)
            sums.widths[node] = np.ptp(mixture.means[np.union1d(components, below[node])], axis=0).sum()
            stack += ((int(tree.second[node]), components[~inside]), (node + 1, components[inside]))
    return sums


def _clusters_below(tree: ThresholdTree) -> list[Ints]:
    """Return the clusters of the leaves at or below each node."""
    below = [tree.cluster[i : i + 1] for i in range(tree.n_nodes)]
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        below[node] = np.union1d(below[node + 1], below[int(tree.second[node])])
    return below


def _add_cut(tree: ThresholdTree, mixture: Mixture, node: int, components: Indices, sums: _Sums) -> Bools:
    """Add the probabilities that the node's cut separates rows from their means; return which means lie inside it."""
    j, lower, upper = int(tree.feature[node]), float(tree.lower[node]), float(tree.upper[node])
    mean, sigma = mixture.means[components, j], np.sqrt(mixture.variances[components, j])
    weights = mixture.weights[components]
    inside = (lower <= mean) & (mean <= upper)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # 0 / 0, a component without variance and its mean at an end of the cut: the mean lies inside
        low = np.nan_to_num((lower - mean) / sigma, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        high = np.nan_to_num((upper - mean) / sigma, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        distance = np.minimum(np.abs(low), np.abs(high))
        chebyshev = np.minimum(1.0, 1 / distance**2)
    infinity = np.full_like(low, np.inf)
    outside = probability_between(-infinity, low) + probability_between(high, infinity)
    tails = np.where(inside, outside, probability_between(low, high))
    sums.tails[node] = weights @ tails
    sums.chebyshev[node] = weights @ chebyshev
    return np.asarray(inside)
