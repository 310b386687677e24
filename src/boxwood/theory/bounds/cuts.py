"""The cuts of one tree on a mixture: separation probabilities, and the inequality that a proof requires of each cut.

A row ends in a wrong leaf only if some cut separates it from its mean, or if the mean itself lies in a wrong leaf. The
papers' proofs add up bounds on the fractions of rows that the cuts separate, and all of them bound each cut alone. So
any tree obeys a theorem whose cuts obey that inequality, whatever grew the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.metrics.checks import in_components
from boxwood.metrics.mixture_prices import probability_between
from boxwood.reference import Mixture
from boxwood.theory.bounds.bound import Condition, check_condition
from boxwood.tree import ThresholdTree

_ROUNDING = 1e-12  # relative rounding error of an inequality in which equality is possible
_ULPS = 4 * np.finfo(np.float64).eps  # thresholds are rounded, so a cut is not exactly in the middle
_NEGLIGIBLE = 1e-6  # of a standard deviation; larger rounding errors count


class ReachedCut(NamedTuple):
    """One cut, and the m components whose means reach it.

    Attributes
    ----------
    node, axis : int
        Node of the tree and the axis that it cuts.
    lower, upper : float
        Ends of the cut; an end may be infinite.
    components : array of shape (m,)
        Components whose means reach the node; at least one.
    weights, means, sigmas : arrays of shape (m,)
        Their weights, and their means and standard deviations on the axis.
    is_inside : bool array of shape (m,)
        Whether their means lie inside the cut.
    ranges : array of shape (d,)
        Range, on each axis, of the means where a row may end that was with its mean at this node. These are the means
        that reach the node, and those of the leaves below it.
    slack : float
        Relative rounding of the ends: they may lie this times a mean farther from it, but hardly in sigmas.
    """

    node: int
    axis: int
    lower: float
    upper: float
    components: Indices
    weights: Floats
    means: Floats
    sigmas: Floats
    is_inside: Bools
    ranges: Floats
    slack: float = 0.0

    @property
    def n_ends(self) -> int:
        """Number of finite ends."""
        return int(np.isfinite(self.lower)) + int(np.isfinite(self.upper))

    def distances(self, sigma: float | None = None) -> Floats:
        """Return the distances of the means from the nearest end, shape (m,), in sigmas; without noise infinite.

        `sigma` is a unit for all components. None takes each component's own standard deviation.
        """
        distances = np.minimum(np.abs(self.means - self.lower), np.abs(self.upper - self.means))
        distances += np.minimum(self.slack * np.abs(self.means), _NEGLIGIBLE * self.sigmas)
        units = self.sigmas if sigma is None else np.full_like(distances, sigma)
        with np.errstate(over="ignore"):
            return np.divide(distances, units, out=np.full_like(distances, np.inf), where=units > 0)

    def by_gaussians(self) -> Floats:
        """Return the probability that a row of each component is separated from its mean, for Gaussians."""
        if self.n_ends == 1:
            return probability_between(np.full_like(self.means, -np.inf), -self.distances())
        low, high = (_standard(end, self.means, self.sigmas) for end in (self.lower, self.upper))
        infinity = np.full_like(low, np.inf)
        outside = probability_between(-infinity, low) + probability_between(high, infinity)
        return np.where(self.is_inside, outside, probability_between(low, high)) * (self.sigmas > 0)

    def by_chebyshev(self) -> Floats:
        """Return Chebyshev's bound on that probability for components of any law."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(np.minimum(1.0, 1 / self.distances() ** 2))


def reached_cuts(tree: ThresholdTree, mixture: Mixture) -> Iterator[ReachedCut]:
    """Yield the cuts that a mean reaches; the clusters of the tree are the numbers of the components."""
    below = _clusters_below(tree)
    stack = [(0, np.arange(mixture.n_components))]
    while stack:
        node, components = stack.pop()
        if tree.feature[node] < 0 or not len(components):
            continue
        j, lower, upper = int(tree.feature[node]), float(tree.lower[node]), float(tree.upper[node])
        means = mixture.means[components, j]
        is_inside = (lower <= means) & (means <= upper)
        sigmas = np.sqrt(mixture.variances[components, j])
        ranges = np.ptp(mixture.means[np.union1d(components, below[node])], axis=0)
        yield ReachedCut(
            node, j, lower, upper, components, mixture.weights[components], means, sigmas, is_inside, ranges
        )
        stack += ((int(tree.second[node]), components[~is_inside]), (node + 1, components[is_inside]))


def tree_conditions(
    tree: ThresholdTree | None,
    mixture: Mixture,
    inequality: str,
    amount: Callable[[ReachedCut], float],
    limit: Callable[[ReachedCut], float] | float,
) -> tuple[Condition, Condition]:
    """Return the conditions of a proof on a tree: a leaf for each mean, k - 1 thresholds, an inequality at each cut.

    The inequality, in words, says that an amount at each cut is at most a limit. Both conditions are unknown if there
    is no tree.
    """
    separates = "each mean has a leaf of its own component, behind at most k - 1 thresholds in all"
    if tree is None:
        return Condition(separates, "unknown"), Condition(inequality, "unknown")
    own = in_components(mixture, tree)
    cuts = [cut._replace(slack=_ULPS) for cut in reached_cuts(own, mixture)]
    in_place = np.array_equal(own.predict(mixture.means), np.arange(mixture.n_components))
    n_thresholds = sum(cut.n_ends for cut in cuts)
    limits = [limit(cut) if callable(limit) else limit for cut in cuts]
    return (
        check_condition(separates, in_place and n_thresholds < mixture.n_components),
        check_condition(
            inequality, all(amount(cut) <= most * (1 + _ROUNDING) for cut, most in zip(cuts, limits, strict=True))
        ),
    )


# ------------------------------------------------------------------------------------------------------- steps


def _clusters_below(tree: ThresholdTree) -> list[Ints]:
    """Return the clusters of the leaves at or below each node."""
    below = [tree.cluster[i : i + 1] for i in range(tree.n_nodes)]
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        below[node] = np.union1d(below[node + 1], below[int(tree.second[node])])
    return below


def _standard(end: float, means: Floats, sigmas: Floats) -> Floats:
    """Return an end of a cut in standard units of each component; 0 for a component without variance."""
    with np.errstate(over="ignore"):
        return np.divide(end - means, sigmas, out=np.zeros_like(means), where=sigmas > 0)
