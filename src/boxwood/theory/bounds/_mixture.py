"""The papers' bounds on the error and the price of trees that explain mixtures, corrected, as numbers.

"MMDT" below is `boxwood.grow.mmdt` with `pooling="max"`: every guarantee needs one sigma for each axis that no
component exceeds. Explainability-to-noise ratios are taken accordingly, in the convention of each theorem.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood.metrics import explainability_to_noise, ratio
from boxwood.reference import Mixture
from boxwood.theory._bound import Bound, Condition

__all__ = [
    "C0",
    "beta",
    "chebyshev_error_bound",
    "chebyshev_minimum_bound",
    "estimated_error_bound",
    "gap_error_bound",
    "l2_price_bound",
    "price_bound",
    "random_chebyshev_error_bound",
    "random_error_bound",
    "sqeuclidean_price_bound",
]

C0 = 4 + 2 * math.pi**2 / 3
"""Constant of the Chebyshev bounds as published; pi² is the sharp one."""

_GUARANTEES = "Fleissner, Zarvandi and Ghoshdastidar, Explainable Clustering Beyond Worst-Case Guarantees"
_DEEP = "Fleissner, Zarvandi and Ghoshdastidar, Decision Trees for Interpretable Clusters in Mixture Models"
_SHARE = {"gaussian": math.sqrt(2 / math.pi), "laplace": math.sqrt(0.5), "rademacher": 1.0}
_TAIL = {"gaussian": 0.5, "one-sided": 1.0, "two-sided": 2.0}
_RANGE_TREE = Condition(
    "the tree is MMDT's with axis='range' and threshold 'midpoint' or 'chebyshev' (for Gaussians any but 'uniform')",
    None,
)
_SYMMETRIC = Condition("components are symmetric about their means", None)


def beta(mixture: Mixture, *, family: str = "gaussian", pooling: str = "max") -> float:
    """Return the largest ratio over axes of the standard deviation to the mean absolute deviation, at least 1.

    It turns standard deviations into an ℓ1 cost: E|x - mean|₁ is at least the sum of the axes' sigmas divided by it.

    Parameters
    ----------
    mixture : Mixture
        Components.
    family : {"gaussian", "laplace", "rademacher"}, default="gaussian"
        Shape of the components along an axis: alone they have sqrt(pi / 2), sqrt(2) and 1.
    pooling : {"max", "weighted"}, default="max"
        "weighted" takes the root of E|x - mean|², as the paper's equation (7); "max" the largest component's sigma,
        which the theorem needs. They differ only where components have unequal variances.

    Raises
    ------
    ValueError
        If the family or the pooling is unknown.

    Notes
    -----
    Axes without variance are skipped; with none left it is 1. The paper says 1 for Gaussians; it is sqrt(pi / 2).

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Assumption 3.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> mixture = Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]])
    >>> round(beta(mixture), 7), round(beta(mixture, family="laplace"), 7), beta(mixture, family="rademacher")
    (1.2533141, 1.4142136, 1.0)
    """
    if family not in _SHARE:
        raise ValueError(f"family must be one of {', '.join(map(repr, _SHARE))}, got {family!r}")
    sigma = np.sqrt(mixture.pooled_variances(pooling))
    absolute = _SHARE[family] * (mixture.weights @ np.sqrt(mixture.variances))
    varies = sigma > 0
    return float(max(1.0, (sigma[varies] / absolute[varies]).max(initial=1.0)))


def price_bound(mixture: Mixture, *, beta: float | None = None, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the ℓ1 price of MMDT's tree: 1 + C alpha beta k (k - 1) / sqrt(q), q the variance form.

    It bounds the price with the means as centres, and so that with medians too.

    Parameters
    ----------
    mixture : Mixture
        Components.
    beta : float, default=None
        See the function of that name with "max" pooling; None takes Gaussian components.
    sharp : bool, default=False
        Whether C is pi², the exact sum of the series, in place of `C0`, the paper's bound on it.
    estimated : bool, default=False
        Whether the parameters were estimated; it is noted in the result.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 4.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> round(price_bound(Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]])).value, 2)
    7.63
    """
    facts = _facts(mixture, "variance")
    factor = _beta(mixture) if beta is None else beta
    excess = ratio(_constant(sharp) * facts.alpha * factor * facts.k * (facts.k - 1), math.sqrt(facts.q))
    return _price(1 + excess, (facts.distinct, _RANGE_TREE, _SYMMETRIC), f"{_GUARANTEES}, Theorem 4", estimated)


def sqeuclidean_price_bound(mixture: Mixture, *, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the squared Euclidean price of MMDT's tree: 2 + 2 C alpha k (k - 1) g.

    g is the sum over axes of the largest variances over that of the weighted ones, 1 where components share them. The
    bound does not depend on how far apart components are. Parameters as in `price_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Appendix A.3,
    with |a + b|² <= 2 |a|² + 2 |b|² for the constants, which the paper does not state.
    """
    facts = _facts(mixture, "variance")
    largest, mean = (float(mixture.pooled_variances(pooling).sum()) for pooling in ("max", "weighted"))
    value = 2 + 2 * _constant(sharp) * facts.alpha * facts.k * (facts.k - 1) * (largest / mean if mean > 0 else 1)
    return _price(value, (facts.distinct, _RANGE_TREE), f"{_GUARANTEES}, Remark 7 and Appendix A.3", estimated)


def chebyshev_error_bound(mixture: Mixture, *, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the error of MMDT's tree for components of any law: C alpha k (k - 1) / q, variance form.

    Parameters as in `price_bound`. The paper asks for Assumption 3, which its proof does not use.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 8.
    """
    facts = _facts(mixture, "variance")
    value = ratio(_constant(sharp) * facts.alpha * facts.k * (facts.k - 1), facts.q)
    return _probability(value, (facts.distinct, _RANGE_TREE), f"{_GUARANTEES}, Theorem 8", estimated)


def random_chebyshev_error_bound(mixture: Mixture, *, estimated: bool = False) -> Bound:
    """Return the bound on the expected error of MMDT's random tree for any law: 4 alpha (k - 1) / sqrt(q).

    A cut drawn from a range R parts a row from its mean with probability at most E min(1, sigma² / s²) = 4 sigma / R:
    clipped, Chebyshev's bound does keep the explainability-to-noise ratio (variance form), which the remark doubts.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Remark 6.
    """
    facts = _facts(mixture, "variance")
    value = ratio(4 * facts.alpha * (facts.k - 1), math.sqrt(facts.q))
    return _probability(value, (facts.distinct, _RANDOM_TREE), f"{_GUARANTEES}, Remark 6, clipped", estimated)


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
    facts = _facts(mixture, "subgaussian", sigma)
    gaps, alpha = (facts.k - 1, 1.0) if sharp else (facts.k, facts.alpha)
    value = _tail(tail) * alpha * (facts.k - 1) * math.exp(-facts.q / (4 * gaps**2))
    return _probability(value, (facts.distinct, _GAP_TREE, _tails(tail)), f"{_DEEP}, Theorem 1", estimated)


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
    facts = _facts(mixture, "subgaussian", sigma)
    value = _tail(tail) * facts.alpha * (facts.k - 1) * math.sqrt(ratio(math.pi, facts.q))
    return _probability(value, (facts.distinct, _RANDOM_TREE, _tails(tail)), f"{_DEEP}, Theorem 2", estimated)


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
    facts = _facts(mixture, "subgaussian", sigma)
    accurate = 0 < delta < min(1.0, facts.q / (4 * facts.k**2))
    root = math.sqrt(facts.q) / (2 * facts.k) - math.sqrt(max(delta, 0.0))
    value = _tail(tail) * facts.alpha * (facts.k - 1) * (math.exp(-(1 - delta) * root**2) if accurate else 1.0)
    conditions = (
        facts.distinct,
        Condition("delta is above 0 and below q / 4k² and 1", accurate),
        Condition("(mean - estimate)² <= 2 delta sigma² and estimated variance >= (1 - delta) variance", None),
        _GAP_TREE,
        _tails(tail),
    )
    return _probability(value if accurate else math.inf, conditions, f"{_DEEP}, Corollary 1, corrected", True)


def l2_price_bound(mixture: Mixture, *, estimated: bool = False) -> Bound:
    """Return the bound on the expected ℓ2 price of MMDT's random tree: 1 + (k - 1) (D / c) sqrt(2 pi d) / chi.

    D and c are the largest and the smallest distance between means, chi = sqrt(2) Gamma((d + 1) / 2) / Gamma(d / 2) the
    mean length of a standard normal vector, by which a row is away from its mean.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Corollary 2, with its constants; the paper divides by sqrt(d) in place of chi, which is larger.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> round(l2_price_bound(Mixture([0.5, 0.5], [[0.0], [1.0]], [[0.01], [0.01]])).value, 6)
    4.141593
    """
    k, d = mixture.means.shape
    facts = _facts(mixture, "subgaussian")
    smallest, largest = _distances(mixture)
    chi = math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    value = 1 + (k - 1) * ratio(largest, smallest) * math.sqrt(2 * math.pi * d) / chi
    variance = mixture.variances.flat[0]
    conditions = (
        facts.distinct,
        Condition("weights are equal", bool(np.allclose(mixture.weights, 1 / k))),
        Condition("all covariances are the same multiple of the identity", _is_spherical(mixture, float(variance))),
        _RANDOM_TREE,
        _tails("gaussian"),
    )
    return _price(value, conditions, f"{_DEEP}, Corollary 2", estimated)


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


# ------------------------------------------------------------------------------------------------------- steps

_GAP_TREE = Condition("the tree is MMDT's with axis='gap' and threshold='midpoint'", None)
_RANDOM_TREE = Condition("the tree is MMDT's with axis='range' and threshold='uniform'", None)


class _Facts(NamedTuple):
    k: int
    alpha: float
    q: float
    distinct: Condition


def _facts(mixture: Mixture, convention: str, sigma: ArrayLike | None = None) -> _Facts:
    q = explainability_to_noise(mixture, convention=convention, sigma=sigma).value
    return _Facts(len(mixture.weights), mixture.alpha, q, Condition("the means are distinct", q > 0))


def _beta(mixture: Mixture) -> float:
    return beta(mixture)


def _constant(sharp: bool) -> float:
    return math.pi**2 if sharp else C0


def _tail(tail: str) -> float:
    if tail not in _TAIL:
        raise ValueError(f"tail must be one of {', '.join(map(repr, _TAIL))}, got {tail!r}")
    return _TAIL[tail]


def _tails(tail: str) -> Condition:
    return Condition(f"components have {tail} tails with these sigmas along each axis", None)


def _distances(mixture: Mixture) -> tuple[float, float]:
    means = mixture.means
    each = [np.linalg.norm(means[i + 1 :] - means[i], axis=1) for i in range(len(means) - 1)]
    lengths = np.concatenate(each)
    return float(lengths.min()), float(lengths.max())


def _is_spherical(mixture: Mixture, variance: float) -> bool:
    if mixture.covariances is None:
        return bool(np.allclose(mixture.variances, variance, atol=0))
    identity = np.eye(mixture.means.shape[1])
    return bool(np.allclose(mixture.covariances, variance * identity, atol=1e-9 * variance))


def _price(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool) -> Bound:
    return Bound(value, value, conditions, source, estimated)


def _probability(value: float, conditions: tuple[Condition, ...], source: str, estimated: bool) -> Bound:
    return Bound(value, min(1.0, value), conditions, source, estimated)
