"""The papers' bounds on the price of trees that explain mixtures, corrected, as numbers."""

from __future__ import annotations

import math

import numpy as np

from boxwood._validation import refuse_unknown
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.theory._bound import Bound, Condition
from boxwood.theory.bounds._facts import (
    DEEP,
    GUARANTEES,
    RANDOM_TREE,
    RANGE_TREE,
    as_price,
    constant,
    facts_of,
    tails,
)

__all__ = ["beta", "l2_price_bound", "price_bound", "sqeuclidean_price_bound"]

_SHARE = {"gaussian": math.sqrt(2 / math.pi), "laplace": math.sqrt(0.5), "rademacher": 1.0}
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
    refuse_unknown("family", family, _SHARE)
    sigma = np.sqrt(mixture.pooled_variances(pooling))
    varies = sigma > 0
    absolute = mixture.weights @ (np.sqrt(mixture.variances[:, varies]) / sigma[varies])
    with np.errstate(over="ignore", divide="ignore"):  # infinite where only a component of hardly any weight varies
        return float((1 / (_SHARE[family] * absolute)).max(initial=1.0))


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
    facts = facts_of(mixture, "variance")
    factor = _beta(mixture) if beta is None else beta
    excess = ratio(constant(sharp) * facts.alpha * factor * facts.k * (facts.k - 1), math.sqrt(facts.q))
    return as_price(1 + excess, (facts.distinct, RANGE_TREE, _SYMMETRIC), f"{GUARANTEES}, Theorem 4", estimated)


def sqeuclidean_price_bound(mixture: Mixture, *, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the squared Euclidean price of MMDT's tree: 2 + 2 C alpha k (k - 1) g.

    g is the sum over axes of the largest variances over that of the weighted ones, 1 where components share them. The
    bound does not depend on how far apart components are. Parameters as in `price_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Appendix A.3,
    with |a + b|² <= 2 |a|² + 2 |b|² for the constants, which the paper does not state.
    """
    facts = facts_of(mixture, "variance")
    largest, mean = (float(mixture.pooled_variances(pooling).sum()) for pooling in ("max", "weighted"))
    value = 2 + 2 * constant(sharp) * facts.alpha * facts.k * (facts.k - 1) * (largest / mean if mean > 0 else 1)
    return as_price(value, (facts.distinct, RANGE_TREE), f"{GUARANTEES}, Remark 7 and Appendix A.3", estimated)


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
    facts = facts_of(mixture, "subgaussian")
    smallest, largest = _distances(mixture)
    chi = math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    value = 1 + (k - 1) * ratio(largest, smallest) * math.sqrt(2 * math.pi * d) / chi
    variance = mixture.variances.flat[0]
    conditions = (
        facts.distinct,
        Condition("weights are equal", bool(np.allclose(mixture.weights, 1 / k))),
        Condition("all covariances are the same multiple of the identity", _is_spherical(mixture, float(variance))),
        RANDOM_TREE,
        tails("gaussian"),
    )
    return as_price(value, conditions, f"{DEEP}, Corollary 2", estimated)


def _beta(mixture: Mixture) -> float:
    return beta(mixture)


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
