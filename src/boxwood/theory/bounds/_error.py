"""The papers' bounds on the error rate of trees that explain mixtures, corrected, as numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._validation import refuse_unknown
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.theory._bound import Bound, Condition
from boxwood.theory.bounds._facts import (
    DEEP,
    GAP_TREE,
    GUARANTEES,
    RANDOM_TREE,
    RANGE_TREE,
    as_probability,
    constant,
    facts_of,
    tails,
)

__all__ = [
    "chebyshev_error_bound",
    "chebyshev_minimum_bound",
    "estimated_error_bound",
    "gap_error_bound",
    "random_chebyshev_error_bound",
    "random_error_bound",
]

_TAIL = {"gaussian": 0.5, "one-sided": 1.0, "two-sided": 2.0}


def chebyshev_error_bound(mixture: Mixture, *, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the error of MMDT's tree for components of any law: C alpha k (k - 1) / q, variance form.

    Parameters as in `price_bound`. The paper asks for Assumption 3, which its proof does not use.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 8.
    """
    facts = facts_of(mixture, "variance")
    value = ratio(constant(sharp) * facts.alpha * facts.k * (facts.k - 1), facts.q)
    return as_probability(value, (facts.distinct, RANGE_TREE), f"{GUARANTEES}, Theorem 8", estimated)


def random_chebyshev_error_bound(mixture: Mixture, *, estimated: bool = False) -> Bound:
    """Return the bound on the expected error of MMDT's random tree for any law: 4 alpha (k - 1) / sqrt(q).

    A cut drawn from a range R parts a row from its mean with probability at most E min(1, sigma² / s²) = 4 sigma / R:
    clipped, Chebyshev's bound does keep the explainability-to-noise ratio (variance form), which the remark doubts.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Remark 6.
    """
    facts = facts_of(mixture, "variance")
    value = ratio(4 * facts.alpha * (facts.k - 1), math.sqrt(facts.q))
    return as_probability(value, (facts.distinct, RANDOM_TREE), f"{GUARANTEES}, Remark 6, clipped", estimated)


def gap_error_bound(
    mixture: Mixture,
    *,
    tail: str = "gaussian",
    sigma: ArrayLike | None = None,
    sharp: bool = False,
    estimated: bool = False,
) -> Bound:
    """Return the bound on the error of MMDT's tree by gaps: c alpha (k - 1) exp(-q / 4k²), q the sub-Gaussian form.

    Parameters
    ----------
    mixture : Mixture
        Components.
    tail : {"gaussian", "one-sided", "two-sided"}, default="gaussian"
        What is known of the tails, and with it c: Gaussians have 1/2; 1 is for P(x - mean >= s) <= exp(-s² / 2 sigma²)
        on either side, 2 for P(|x - mean| >= s) <= 2 exp(-s² / 2 sigma²) alone (Assumption 1 of the paper).
    sigma : array-like of shape (d,), default=None
        Sub-Gaussian parameters of the axes, not variances; None takes the largest standard deviation on each axis,
        which is right for Gaussians.
    sharp : bool, default=False
        Whether to take (k - 1)² in place of k² (k means have k - 1 gaps) and 1 in place of alpha (the weights of a
        node add up to at most 1), which the same proof gives.
    estimated : bool, default=False
        Whether the parameters were estimated; it is noted in the result.

    Raises
    ------
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
    facts = facts_of(mixture, "subgaussian", sigma)
    gaps, alpha = (facts.k - 1, 1.0) if sharp else (facts.k, facts.alpha)
    value = _tail(tail) * alpha * (facts.k - 1) * math.exp(-facts.q / (4 * gaps**2))
    return as_probability(value, (facts.distinct, GAP_TREE, tails(tail)), f"{DEEP}, Theorem 1", estimated)


def random_error_bound(
    mixture: Mixture, *, tail: str = "gaussian", sigma: ArrayLike | None = None, estimated: bool = False
) -> Bound:
    """Return the bound on the expected error of MMDT's random tree: c alpha (k - 1) sqrt(pi / q), sub-Gaussian form.

    The expectation is over the random cuts too. Parameters and errors as in `gap_error_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Theorem 2, with the constants of its proof.
    """
    facts = facts_of(mixture, "subgaussian", sigma)
    value = _tail(tail) * facts.alpha * (facts.k - 1) * math.sqrt(ratio(math.pi, facts.q))
    return as_probability(value, (facts.distinct, RANDOM_TREE, tails(tail)), f"{DEEP}, Theorem 2", estimated)


def estimated_error_bound(
    mixture: Mixture, delta: float, *, tail: str = "gaussian", sigma: ArrayLike | None = None
) -> Bound:
    """Return the bound on the true error of a tree grown by gaps from estimated parameters.

    With every true mean within sqrt(2 delta) estimated sigmas of its estimate, and every estimated variance at least
    (1 - delta) times the true one: c alpha (k - 1) exp(-(1 - delta) (sqrt(q) / 2k - sqrt(delta))²).

    Parameters
    ----------
    mixture : Mixture
        Estimated components; the weights are taken as the true ones.
    delta : float
        Accuracy of the estimates, above 0 and below q / 4k² and 1; else a condition fails and the bound says nothing.
    tail, sigma
        As in `gap_error_bound`.

    Notes
    -----
    The paper has -(1 - delta) (q / 4k² - delta) in the exponent, from (a - b)² >= a² - b², which is false for
    a > b > 0.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Corollary 1, corrected.
    """
    facts = facts_of(mixture, "subgaussian", sigma)
    accurate = 0 < delta < min(1.0, facts.q / (4 * facts.k**2))
    root = math.sqrt(facts.q) / (2 * facts.k) - math.sqrt(max(delta, 0.0))
    value = _tail(tail) * facts.alpha * (facts.k - 1) * (math.exp(-(1 - delta) * root**2) if accurate else 1.0)
    conditions = (
        facts.distinct,
        Condition("delta is above 0 and below q / 4k² and 1", accurate),
        Condition("(mean - estimate)² <= 2 delta sigma² and estimated variance >= (1 - delta) variance", None),
        GAP_TREE,
        tails(tail),
    )
    return as_probability(value if accurate else math.inf, conditions, f"{DEEP}, Corollary 1, corrected", True)


def chebyshev_minimum_bound(k: int, width: float, sigma: float) -> float:
    """Return the bound on the smallest sum of Chebyshev's bounds over k means that span an interval of some width.

    min over theta of the sum of sigma² / (theta - mean)² is at most 2 sum sigma² / ((2i - 1) delta)² over i from 1 to
    ceil(k / 2), delta = width / (2 (k - 1)); the middle of the largest gap attains it. Equality for k = 2.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Claim 2. Its
    proof holds with 2 delta_1 >= delta_k in (57) and R_1 in (61).
    """
    odd = 2 * np.arange(1, (k + 1) // 2 + 1) - 1
    delta = width / (2 * (k - 1))
    return float(2 * np.sum((sigma / (odd * delta)) ** 2))


def _tail(tail: str) -> float:
    refuse_unknown("tail", tail, _TAIL)
    return _TAIL[tail]
