"""What one tree guarantees for one mixture: the chance that each cut parts a row from its component, added up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.metrics._checks import check_mixture
from boxwood.metrics._mixture_boxes import probability_between
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.theory._bound import Bound, Condition
from boxwood.theory.bounds import beta as gaussian_beta
from boxwood.tree import ThresholdTree

__all__ = ["Certificate", "certificate"]


_SOURCE = "Fleissner, Zarvandi and Ghoshdastidar, Explainable Clustering Beyond Worst-Case Guarantees, {}"
_GAUSSIAN = Condition("components are Gaussian along each axis", None)
_ANY = Condition("components have these means and variances", None)


@dataclass(frozen=True)
class Certificate:
    """Bounds on the error and the ℓ1 price of a tree for a mixture, with what each node adds to them.

    Attributes
    ----------
    error : Bound
        Sum of exact Gaussian tails; always holds: at least the error rate, if components are Gaussian.
    chebyshev_error : Bound
        The same by Chebyshev's inequality, for components of any law; always holds: at least `error`.
    price : Bound
        On the ℓ1 price with the components' means as centres, from the Gaussian tails.
    chebyshev_price : Bound
        The same by Chebyshev's inequality, given beta.
    separation, chebyshev : arrays of shape (n_nodes,)
        Chance that a row of the mixture has its mean at the node and is parted from it by this cut; 0 at leaves.
        Aligned with the nodes of the tree.
    misplaced : float
        Weight of the components whose mean lies in a leaf of another one; all their rows count as errors. It is 0 for
        trees with one mean in each leaf.
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
        """Share of rows of these Gaussians that end in a leaf of their own component, at least."""
        return 1 - self.error.clipped


def certificate(
    tree: ThresholdTree, mixture: Mixture, *, beta: float | None = None, estimated: bool = False
) -> Certificate:
    """Return what a tree guarantees for a mixture: far less than the theorems allow, and still a bound.

    A row can only end in a wrong leaf if some cut on the way parts it from its mean, so the error is at most the sum
    over cuts of the chance of that. It needs the distribution along each axis alone: correlations do no harm.

    Parameters
    ----------
    tree : ThresholdTree
        Any tree whose clusters are the components; interval cuts and several leaves for a component are allowed.
    mixture : Mixture
        Components.
    beta : float, default=None
        For `chebyshev_price`: sigmas over mean absolute deviations, see `bounds.beta`. None takes that of Gaussians.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the bounds.

    Returns
    -------
    Certificate
        Always holds for Gaussians: error rate <= `error` <= `chebyshev_error`, and price <= `price` <=
        `chebyshev_price`, the price with the means as centres.

    Raises
    ------
    DataError
        If the tree tests other columns than the mixture has, or has other clusters.

    Notes
    -----
    A row parted from its mean at a node ends at a centre that lies below that node, so it costs at most the sum over
    axes of the range of the means there. Takes time d times the sum over nodes of their components, memory k d.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", equations (41)
    to (43) and (71); (38) lacks beta.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.grow import mmdt
    >>> mixture = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3)
    >>> found = certificate(mmdt(mixture), mixture)
    >>> round(found.error.value, 6), round(found.correct, 3), found.misplaced
    (0.004399, 0.996, 0.0)
    """
    check_mixture(mixture, tree)
    sums = _walk(tree, mixture)
    lost = float(mixture.weights[sums.misplaced].sum())
    rows_l1 = float(mixture.weights @ np.sqrt(2 / np.pi * mixture.variances).sum(axis=1))
    sigma = np.sqrt(mixture.pooled_variances("max")).sum()
    least = float(sigma) / (gaussian_beta(mixture) if beta is None else beta)
    away = float(mixture.weights[sums.misplaced] @ sums.displacement[sums.misplaced])

    def price(separation: Floats, baseline: float) -> float:
        extra = float(separation @ sums.widths) + away
        return 1 + (ratio(extra, baseline) if extra > 0 else 0.0)

    def bound(value: float, condition: Condition, where: str, top: float = np.inf) -> Bound:
        return Bound(value, min(top, value), (condition,), _SOURCE.format(where), estimated)

    return Certificate(
        bound(float(sums.tails.sum()) + lost, _GAUSSIAN, "equation (42)", 1.0),
        bound(float(sums.chebyshev.sum()) + lost, _ANY, "equation (43)", 1.0),
        bound(price(sums.tails, rows_l1), _GAUSSIAN, "equations (41) and (42)"),
        bound(price(sums.chebyshev, least), _ANY, "equations (41), (43) and (71)"),
        sums.tails,
        sums.chebyshev,
        lost,
    )


@dataclass
class _Sums:
    """By node: both bounds on the chance of being parted, and the ℓ1 width of the means. By component: where it is."""

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
        node, here = stack.pop()
        if tree.feature[node] < 0:
            owner = tree.cluster[node]
            sums.misplaced[here] = here != owner
            sums.displacement[here] = np.abs(mixture.means[here] - mixture.means[owner]).sum(axis=1)
            continue
        if len(here):
            inside = _part(tree, mixture, node, here, sums)
            sums.widths[node] = np.ptp(mixture.means[np.union1d(here, below[node])], axis=0).sum()
            stack += ((int(tree.second[node]), here[~inside]), (node + 1, here[inside]))
    return sums


def _clusters_below(tree: ThresholdTree) -> list[Ints]:
    """Return the clusters of the leaves at or below each node."""
    below = [tree.cluster[i : i + 1] for i in range(tree.n_nodes)]
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        below[node] = np.union1d(below[node + 1], below[int(tree.second[node])])
    return below


def _part(tree: ThresholdTree, mixture: Mixture, node: int, here: Indices, sums: _Sums) -> Bools:
    """Add what the cut parts of the components here, and return which means are inside it."""
    j, lower, upper = int(tree.feature[node]), float(tree.lower[node]), float(tree.upper[node])
    mean, sigma, weights = mixture.means[here, j], np.sqrt(mixture.variances[here, j]), mixture.weights[here]
    inside = (lower <= mean) & (mean <= upper)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high = (np.nan_to_num((end - mean) / sigma, nan=side, posinf=np.inf, neginf=-np.inf)
                     for end, side in ((lower, -np.inf), (upper, np.inf)))  # fmt: skip
        distance = np.minimum(np.abs(low), np.abs(high))
        chebyshev = np.minimum(1.0, 1 / distance**2)
    outside = probability_between(np.full_like(low, -np.inf), low) + probability_between(
        high, np.full_like(high, np.inf)
    )
    tails = np.where(inside, outside, probability_between(low, high))
    sums.tails[node] = weights @ tails
    sums.chebyshev[node] = weights @ chebyshev
    return np.asarray(inside)
