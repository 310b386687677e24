"""The guarantee of one tree for one mixture: the sum of the probabilities that its cuts separate rows from means.

From M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Ints
from boxwood.metrics.checks import in_components
from boxwood.metrics.costs import ratio
from boxwood.reference import Mixture
from boxwood.theory.bounds.bound import Bound, Condition, as_price, as_probability, check_condition, gaussian, with_beta
from boxwood.theory.bounds.cuts import reached_cuts
from boxwood.theory.bounds.mixtures import BEYOND_WORST_CASE
from boxwood.tree import ThresholdTree

_ANY = check_condition("components have these means and variances", True)


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
        The same by Chebyshev's inequality and beta, for components of any law for which beta is right.
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
    """Return the guarantee of a tree for a mixture: bounds for this tree, far below the bounds of the theorems.

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
        takes that of the mixture's law, and that of Gaussians if the mixture states no law.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the bounds.

    Returns
    -------
    Certificate
        Always holds for Gaussians: error rate <= `error` <= `chebyshev_error`, and price <= `price` <=
        `chebyshev_price`, for the price with the means as centres. Each bound says what is known of its conditions;
        `chebyshev_error` has none but the means and variances.

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
    tree = in_components(mixture, tree)
    sums = _walk(tree, mixture)
    missed = mixture.weights * (sums.clusters != np.arange(mixture.n_components))
    misplaced = float(missed.sum())
    displacement = float(missed @ np.abs(mixture.means - mixture.means[sums.clusters]).sum(axis=1))
    gaussian_l1 = float(mixture.weights @ np.sqrt(2 / np.pi * mixture.variances).sum(axis=1))
    factor, deviation = with_beta(mixture, beta)
    least_l1 = float(np.sqrt(mixture.pooled_variances("max")).sum()) / factor

    def error(separation: Floats, condition: Condition, equation: int) -> Bound:
        value = float(separation.sum()) + misplaced
        return as_probability(value, (condition,), f"{BEYOND_WORST_CASE}, equation ({equation})", estimated)

    def price(separation: Floats, baseline: float, conditions: tuple[Condition, ...], equations: str) -> Bound:
        extra = float(separation @ sums.widths) + displacement
        value = 1 + (ratio(extra, baseline) if extra > 0 else 0.0)
        return as_price(value, conditions, f"{BEYOND_WORST_CASE}, equations {equations}", estimated)

    normal = gaussian(mixture)
    return Certificate(
        error(sums.tails, normal, 42),
        error(sums.chebyshev, _ANY, 43),
        price(sums.tails, gaussian_l1, (normal,), "(41) and (42)"),
        price(sums.chebyshev, least_l1, (_ANY, deviation), "(41), (43) and (71)"),
        sums.tails,
        sums.chebyshev,
        misplaced,
    )


# ------------------------------------------------------------------------------------------------------- steps


class _NodeSums(NamedTuple):
    """By node: both separation probabilities and the ℓ1 width of the means. By component: the leaf of its mean."""

    tails: Floats
    chebyshev: Floats
    widths: Floats
    clusters: Ints


def _walk(tree: ThresholdTree, mixture: Mixture) -> _NodeSums:
    sums = _NodeSums(
        np.zeros(tree.n_nodes), np.zeros(tree.n_nodes), np.zeros(tree.n_nodes), tree.predict(mixture.means)
    )
    for cut in reached_cuts(tree, mixture):
        sums.tails[cut.node] = cut.weights @ cut.by_gaussians()
        sums.chebyshev[cut.node] = cut.weights @ cut.by_chebyshev()
        sums.widths[cut.node] = cut.ranges.sum()
    return sums
