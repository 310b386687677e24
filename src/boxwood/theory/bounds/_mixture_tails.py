"""Bounds for mixtures with sub-Gaussian tails: error and ℓ2 price of MMDT's trees, corrected.

All are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models
and Deep Representations". The explainability-to-noise ratio q is in the sub-Gaussian form.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._validation import refuse_unknown
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.theory.bounds._bound import RANDOM_TREE, Bound, Condition, as_price, as_probability, mixture_facts

__all__ = ["estimated_error_bound", "gap_error_bound", "l2_price_bound", "random_error_bound"]

_PAPER = "Fleissner, Zarvandi and Ghoshdastidar, Decision Trees for Interpretable Clusters in Mixture Models"
_GAP_TREE = Condition("the tree is MMDT's with axis='gap' and threshold='midpoint'", None)
_TAIL = {"gaussian": 0.5, "one-sided": 1.0, "two-sided": 2.0}


def gap_error_bound(
    mixture: Mixture,
    *,
    tail: str = "gaussian",
    sigma: ArrayLike | None = None,
    sharp: bool = False,
    estimated: bool = False,
) -> Bound:
    """Return the bound on the error of MMDT's tree by gaps: c alpha (k - 1) exp(-q / 4k²).

    k is the number of components and alpha the imbalance of their weights, `mixture.alpha`. MMDT is `grow.mmdt` with
    `pooling="max"`.

    Parameters
    ----------
    mixture : Mixture
        Components.
    tail : {"gaussian", "one-sided", "two-sided"}, default="gaussian"
        What is assumed of the tails; it sets c. "gaussian", c = 1/2: components are Gaussian. "one-sided", c = 1:
        P(x - mean >= s) <= exp(-s² / 2 sigma²) on either side. "two-sided", c = 2, is the paper's Assumption 1:
        P(|x - mean| >= s) <= 2 exp(-s² / 2 sigma²).
    sigma : array-like of shape (d,), default=None
        Sub-Gaussian parameters of the axes, not variances. None takes the largest standard deviation on each axis,
        which is right for Gaussians.
    sharp : bool, default=False
        Whether to take (k - 1)² instead of k², since k means have k - 1 gaps, and 1 instead of alpha, since the
        weights at a node add up to at most 1. The same proof gives both.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the result.

    Raises
    ------
    DataError
        If the mixture has one component, or `sigma` does not fit.
    ValueError
        If the tail is unknown.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Theorem 1, with the constants of its proof.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> bound = gap_error_bound(Mixture([0.5, 0.5], [[0], [10]], [[1], [1]]))
    >>> bound.value < 0.03, bound.holds
    (True, True)
    """
    facts = mixture_facts(mixture, "subgaussian", sigma)
    gaps, alpha = (facts.k - 1, 1.0) if sharp else (facts.k, facts.alpha)
    value = _factor(tail) * alpha * (facts.k - 1) * math.exp(-facts.q / (4 * gaps**2))
    return as_probability(value, (facts.distinct, _GAP_TREE, _tails(tail)), f"{_PAPER}, Theorem 1", estimated)


def random_error_bound(
    mixture: Mixture, *, tail: str = "gaussian", sigma: ArrayLike | None = None, estimated: bool = False
) -> Bound:
    """Return the bound on the expected error of MMDT's random tree: c alpha (k - 1) sqrt(pi / q).

    The expectation is over rows and random cuts. Parameters and errors as in `gap_error_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Theorem 2, with the constants of its proof.
    """
    facts = mixture_facts(mixture, "subgaussian", sigma)
    value = _factor(tail) * facts.alpha * (facts.k - 1) * math.sqrt(ratio(math.pi, facts.q))
    return as_probability(value, (facts.distinct, RANDOM_TREE, _tails(tail)), f"{_PAPER}, Theorem 2", estimated)


def estimated_error_bound(
    mixture: Mixture, delta: float, *, tail: str = "gaussian", sigma: ArrayLike | None = None
) -> Bound:
    """Return the bound on the true error of a tree that was grown by gaps from estimated parameters.

    It is c alpha (k - 1) exp(-(1 - delta) (sqrt(q) / 2k - sqrt(delta))²). It asks that every true mean is within
    sqrt(2 delta) estimated sigmas of its estimate, and that every estimated variance is at least (1 - delta) times the
    true one.

    Parameters
    ----------
    mixture : Mixture
        Estimated components. The weights are taken as the true ones.
    delta : float
        Accuracy of the estimates, above 0, below 1 and below q / 4k². Otherwise a condition fails and the bound is
        infinite.
    tail, sigma
        As in `gap_error_bound`.

    Notes
    -----
    The paper has -(1 - delta) (q / 4k² - delta) in the exponent, from (a - b)² >= a² - b². That is false for
    a > b > 0.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Corollary 1, corrected.
    """
    facts = mixture_facts(mixture, "subgaussian", sigma)
    accurate = 0 < delta < min(1.0, facts.q / (4 * facts.k**2))
    root = math.sqrt(facts.q) / (2 * facts.k) - math.sqrt(max(delta, 0.0))
    value = _factor(tail) * facts.alpha * (facts.k - 1) * (math.exp(-(1 - delta) * root**2) if accurate else 1.0)
    conditions = (
        facts.distinct,
        Condition("delta is above 0 and below q / 4k² and 1", accurate),
        Condition("(mean - estimate)² <= 2 delta sigma² and estimated variance >= (1 - delta) variance", None),
        _GAP_TREE,
        _tails(tail),
    )
    return as_probability(value if accurate else math.inf, conditions, f"{_PAPER}, Corollary 1, corrected", True)


def l2_price_bound(mixture: Mixture, *, estimated: bool = False) -> Bound:
    """Return the bound on the expected ℓ2 price of MMDT's random tree: 1 + (k - 1) (D / c) sqrt(2 pi d) / chi.

    D and c are the largest and the smallest distance between means. chi is the mean length of a standard normal vector
    of d numbers, sqrt(2) Gamma((d + 1) / 2) / Gamma(d / 2).

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Corollary 2, with its constants. The paper divides by sqrt(d), which is larger than chi.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> round(l2_price_bound(Mixture([0.5, 0.5], [[0.0], [1.0]], [[0.01], [0.01]])).value, 6)
    4.141593
    """
    k, d = mixture.means.shape
    facts = mixture_facts(mixture, "subgaussian")
    smallest, largest = _extreme_distances(mixture)
    chi = math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    value = 1 + (k - 1) * ratio(largest, smallest) * math.sqrt(2 * math.pi * d) / chi
    variance = mixture.variances.flat[0]
    conditions = (
        facts.distinct,
        Condition("weights are equal", bool(np.allclose(mixture.weights, 1 / k))),
        Condition("all covariances are the same multiple of the identity", _is_spherical(mixture, float(variance))),
        RANDOM_TREE,
        _tails("gaussian"),
    )
    return as_price(value, conditions, f"{_PAPER}, Corollary 2", estimated)


# ------------------------------------------------------------------------------------------------------- steps


def _factor(tail: str) -> float:
    refuse_unknown("tail", tail, _TAIL)
    return _TAIL[tail]


def _tails(tail: str) -> Condition:
    return Condition(f"components have {tail} tails with these sigmas along each axis", None)


def _extreme_distances(mixture: Mixture) -> tuple[float, float]:
    """Return the smallest and the largest distance between two means."""
    means = mixture.means
    to_later = [np.linalg.norm(means[i + 1 :] - means[i], axis=1) for i in range(len(means) - 1)]
    distances = np.concatenate(to_later)
    return float(distances.min()), float(distances.max())


def _is_spherical(mixture: Mixture, variance: float) -> bool:
    if mixture.covariances is None:
        return bool(np.allclose(mixture.variances, variance, atol=0))
    identity = np.eye(mixture.means.shape[1])
    return bool(np.allclose(mixture.covariances, variance * identity, atol=1e-9 * variance))
