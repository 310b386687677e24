"""Bounds for cuts in the middle of the largest gap: our own, where the papers' proofs need another threshold.

They hold for `grow.mmdt` with either axis, `threshold="midpoint"` and `pooling="max"`, its defaults. Claim 2 of
M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", is true for the best
threshold and false for the middle of the largest gap.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import refuse_unknown
from boxwood.metrics.prices import ratio
from boxwood.reference import Mixture
from boxwood.theory.bounds.bound import (
    Bound,
    Condition,
    as_price,
    as_probability,
    checked,
    gaussian,
    mixture_facts,
    with_beta,
)
from boxwood.theory.bounds.cuts import ReachedCut, tree_conditions
from boxwood.theory.bounds.mixtures import BEYOND_WORST_CASE
from boxwood.tree import ThresholdTree

__all__ = ["midpoint_error_bound", "midpoint_price_bound"]

_LAWS = ("any", "gaussian")


def midpoint_error_bound(
    mixture: Mixture,
    *,
    tree: ThresholdTree | None = None,
    law: str = "any",
    sigma: ArrayLike | None = None,
    estimated: bool = False,
) -> Bound:
    """Return a bound on the error of MMDT's tree with thresholds in the middle of the largest gap.

    It is the sum over m from 1 to k - 1 of 4 m² / (4 m² + q) for components of any law, and of the normal tail beyond
    sqrt(q) / 2m for Gaussian ones. k is the number of components and q the explainability-to-noise ratio in the
    variance form. It does not depend on the weights.

    Parameters
    ----------
    mixture : Mixture
        Components.
    tree : ThresholdTree, default=None
        Tree that the bound is asked about. The inequality that the proof uses is checked at each of its cuts. None
        leaves it unknown.
    law : {"any", "gaussian"}, default="any"
        What is assumed of the components.
    sigma : array-like of shape (d,), default=None
        Sigmas by which the tree was grown, if they are not the largest standard deviations; none may be below these.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the result.

    Raises
    ------
    DataError
        If the mixture has one component, or does not fit the tree.
    ValueError
        If the law is unknown.

    Notes
    -----
    Proof. At a node with m + 1 means some axis has a range of means of at least sigma sqrt(q). The axis cut has a
    largest gap of at least 1 / m of that, in its own sigmas, whether it is chosen by ranges or by gaps. So each mean
    lies at least sqrt(q) / 2m sigmas from the cut, and a row of any component is separated from its mean with
    probability at most f(m): that of one normal tail, or by Cantelli's inequality. The weights at a node add up to at
    most 1, so the node separates at most a fraction f(m) of all rows. Of the k - 1 nodes the i-th largest has at most
    k + 1 - i means, since the i - 1 larger ones do not lie below it. As f grows with m, the sum over nodes is at most
    the sum over m.

    References
    ----------
    After M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 8.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.grow import mmdt
    >>> mixture = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3, law="gaussian")
    >>> bound = midpoint_error_bound(mixture, tree=mmdt(mixture), law="gaussian")
    >>> round(bound.value, 4), bound.holds
    (0.1119, True)
    """
    refuse_unknown("law", law, _LAWS)
    facts = mixture_facts(mixture, "variance", sigma)
    limits = _tails(facts.k, facts.q, law)
    on_tree = tree_conditions(
        tree,
        mixture,
        "no cut separates more rows from their means than the middle of the largest gap would",
        lambda cut: float(cut.weights @ _separated(cut, law)),
        lambda cut: float(limits[len(cut.components) - 1]),
    )
    conditions: tuple[Condition, ...] = (facts.distinct, *on_tree, _not_exceeded(mixture, facts.sigma))
    if law == "gaussian":
        conditions += (gaussian(mixture),)
    return as_probability(float(limits.sum()), conditions, _source("8"), estimated)


def midpoint_price_bound(
    mixture: Mixture,
    *,
    tree: ThresholdTree | None = None,
    beta: float | None = None,
    sigma: ArrayLike | None = None,
    estimated: bool = False,
) -> Bound:
    """Return a bound on the ℓ1 price of MMDT's tree with thresholds in the middle of the largest gap, for any law.

    It is 1 + beta times the sum over m from 1 to k - 1 of 4 m² r / (4 m² + r²), with r the larger of sqrt(q) and 2m; so
    it is at most 1 + (2 / 3) beta k (k - 1) (2 k - 1) / sqrt(q). The centres are the means of the components.

    Parameters
    ----------
    mixture, tree, sigma, estimated
        As in `midpoint_error_bound`.
    beta : float, default=None
        As in `price_bound`.

    Notes
    -----
    Proof. In the proof of `midpoint_error_bound`, let the axis cut have a range of r sigmas; r >= sqrt(q). A row that
    is separated there costs at most the sum over axes of the ranges of the means more than before. If the axis is
    chosen by ranges, that sum is at most r times the sum of all sigmas, and the cut lies at least r / 2m sigmas from
    each mean. If it is chosen by gaps, and its largest gap is of r / m sigmas, both hold, too. So the node adds at most
    4 m² r / (4 m² + r²) times the sum of the sigmas, which is at most beta times the cost of the mixture. This falls
    with r beyond 2m, and grows with m after r is replaced by the larger of sqrt(q) and 2m. While means differ on an
    axis without variance, such an axis is cut, and no row is separated.

    References
    ----------
    After M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 4.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.grow import mmdt
    >>> mixture = Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]], law="gaussian")
    >>> bound = midpoint_price_bound(mixture, tree=mmdt(mixture))
    >>> round(bound.value, 2), bound.holds
    (2.0, True)
    """
    facts = mixture_facts(mixture, "variance", sigma)
    factor, deviation = with_beta(mixture, beta)
    m = np.arange(facts.k, dtype=np.float64)
    r = np.maximum(math.sqrt(facts.q), 2 * m)
    with np.errstate(invalid="ignore"):
        limits = np.nan_to_num(4 * m**2 / (4 * m**2 / r + r))  # 0 where r is infinite
    total, least = float(facts.sigma.sum()), float(np.sqrt(mixture.pooled_variances("max")).sum())
    factor *= ratio(total, least)  # beta is about the largest deviations, and sigmas may be above them
    on_tree = tree_conditions(
        tree,
        mixture,
        "no cut separates more rows from their means, times the ℓ1 distance to the farthest one, than the middle of "
        "the largest gap would",
        lambda cut: float(cut.weights @ _separated(cut, "any")) * float(cut.ranges.sum()),
        lambda cut: float(limits[len(cut.components) - 1]) * total,
    )
    value = 1 + factor * float(limits.sum()) if facts.q < math.inf else 1.0
    conditions = (facts.distinct, *on_tree, _not_exceeded(mixture, facts.sigma), deviation)
    return as_price(value, conditions, _source("4"), estimated)


# ------------------------------------------------------------------------------------------------------- steps


def _tails(k: int, q: float, law: str) -> Floats:
    """Return the bounds f(0), ..., f(k - 1) on the fraction of rows that a cut with m + 1 means separates."""
    m = np.arange(k, dtype=np.float64)
    if law == "any":
        return np.asarray(4 * m**2 / (4 * m**2 + q) if q > 0 else np.minimum(m, 1.0))
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num(ndtr(-math.sqrt(q) / (2 * m)), nan=0.0))


def _separated(cut: ReachedCut, law: str) -> Floats:
    """Return a bound on the probability that a row of each component is separated from its mean, shape (m,)."""
    if law == "gaussian":
        return cut.by_gaussians()
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(1.0, cut.n_ends / (1 + cut.distances() ** 2)))


def _not_exceeded(mixture: Mixture, sigma: Floats) -> Condition:
    largest = mixture.pooled_variances("max") / (1 + 1e-9)  # as the square of a deviation is rounded
    return checked("no component's standard deviation exceeds the sigma of its axis", bool((largest <= sigma**2).all()))


def _source(theorem: str) -> str:
    return f"{BEYOND_WORST_CASE}, after Theorem {theorem}, for the middle of the largest gap"
