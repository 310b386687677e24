"""Bounds for mixtures of any law: price and error of trees by MMDT and by Kernel MMDT, corrected.

All are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees". The
explainability-to-noise ratio q is in the variance form.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._validation import refuse_unknown
from boxwood.metrics._kernel_similarity import AxisSimilarity
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.theory.bounds._bound import RANDOM_TREE, Bound, Condition, as_price, as_probability, mixture_facts

__all__ = [
    "BEYOND_WORST_CASE",
    "CHEBYSHEV_CONSTANT",
    "chebyshev_error_bound",
    "chebyshev_minimum_bound",
    "kernel_price_bound",
    "mixture_beta",
    "price_bound",
    "random_chebyshev_error_bound",
    "sqeuclidean_price_bound",
    "tau_bound",
]

BEYOND_WORST_CASE = "Fleissner, Zarvandi and Ghoshdastidar, Explainable Clustering Beyond Worst-Case Guarantees"
"""The paper, as sources of bounds name it."""

CHEBYSHEV_CONSTANT = 4 + 2 * math.pi**2 / 3
"""The constant C of the bounds by Chebyshev's inequality, as published (C0). The sharp one is pi²."""

_RANGE_TREE = Condition(
    "the tree is MMDT's with axis='range' and threshold 'midpoint' or 'chebyshev' (for Gaussians any but 'uniform')",
    None,
)
_SYMMETRIC = Condition("components are symmetric about their means", None)
_ABSOLUTE_DEVIATION = {"gaussian": math.sqrt(2 / math.pi), "laplace": math.sqrt(0.5), "rademacher": 1.0}  # over sigma


def price_bound(mixture: Mixture, *, beta: float | None = None, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the ℓ1 price of MMDT's tree: 1 + C alpha beta k (k - 1) / sqrt(q).

    It bounds the price with the means as centres, and therefore also the price with medians as centres. k is the number
    of components and alpha the imbalance of their weights, `mixture.alpha`. MMDT is `grow.mmdt` with `pooling="max"`.

    Parameters
    ----------
    mixture : Mixture
        Components.
    beta : float, default=None
        Ratio of standard deviation to mean absolute deviation, see `mixture_beta`. None takes Gaussian components.
    sharp : bool, default=False
        Whether C is pi², the exact sum of the paper's series. Otherwise C is the larger number that the paper prints.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the result.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 4.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> round(price_bound(Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]])).value, 2)
    7.63
    """
    facts = mixture_facts(mixture, "variance")
    factor = mixture_beta(mixture) if beta is None else beta
    excess = ratio(_constant(sharp) * facts.alpha * factor * facts.k * (facts.k - 1), math.sqrt(facts.q))
    return as_price(1 + excess, (facts.distinct, _RANGE_TREE, _SYMMETRIC), f"{BEYOND_WORST_CASE}, Theorem 4", estimated)


def sqeuclidean_price_bound(mixture: Mixture, *, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the squared Euclidean price of MMDT's tree: 2 + 2 C alpha k (k - 1) g.

    g is the sum over axes of the largest variances, divided by the sum over axes of the weighted variances. It is 1
    where all components have the same variances. The bound does not depend on the distances between components.
    Parameters as in `price_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Appendix A.3.
    The paper states no constants; these follow from |a + b|² <= 2 |a|² + 2 |b|².
    """
    facts = mixture_facts(mixture, "variance")
    largest, mean = (float(mixture.pooled_variances(pooling).sum()) for pooling in ("max", "weighted"))
    value = 2 + 2 * _constant(sharp) * facts.alpha * facts.k * (facts.k - 1) * (largest / mean if mean > 0 else 1)
    return as_price(value, (facts.distinct, _RANGE_TREE), f"{BEYOND_WORST_CASE}, Remark 7 and Appendix A.3", estimated)


def chebyshev_error_bound(mixture: Mixture, *, sharp: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the error of MMDT's tree for components of any law: C alpha k (k - 1) / q.

    Parameters as in `price_bound`. The paper asks for its Assumption 3, but its proof does not use it.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 8.
    """
    facts = mixture_facts(mixture, "variance")
    value = ratio(_constant(sharp) * facts.alpha * facts.k * (facts.k - 1), facts.q)
    return as_probability(value, (facts.distinct, _RANGE_TREE), f"{BEYOND_WORST_CASE}, Theorem 8", estimated)


def random_chebyshev_error_bound(mixture: Mixture, *, estimated: bool = False) -> Bound:
    """Return the bound on the expected error of MMDT's random tree for any law: 4 alpha (k - 1) / sqrt(q).

    A cut drawn from a range of length R separates a row from its mean with probability at most 4 sigma / R, the mean
    of min(1, sigma² / s²) over the cuts. So Chebyshev's inequality, clipped at 1, gives a bound by the
    explainability-to-noise ratio. The paper's remark doubts that it does.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Remark 6.
    """
    facts = mixture_facts(mixture, "variance")
    value = ratio(4 * facts.alpha * (facts.k - 1), math.sqrt(facts.q))
    return as_probability(value, (facts.distinct, RANDOM_TREE), f"{BEYOND_WORST_CASE}, Remark 6, clipped", estimated)


def mixture_beta(mixture: Mixture, *, family: str = "gaussian", pooling: str = "max") -> float:
    """Return the paper's beta: the largest ratio over axes of standard deviation to mean absolute deviation.

    It turns standard deviations into an ℓ1 cost: the sum of the axes' sigmas is at most beta times the mean ℓ1
    distance of a row from its component's mean. It is at least 1.

    Parameters
    ----------
    mixture : Mixture
        Components.
    family : {"gaussian", "laplace", "rademacher"}, default="gaussian"
        Law of each component along an axis. The ratios of a single component are sqrt(pi / 2), sqrt(2) and 1.
    pooling : {"max", "weighted"}, default="max"
        How the components' variances along an axis become one sigma², see `Mixture.pooled_variances`. The theorem
        needs "max"; "weighted" is the paper's equation (7). They differ only where components differ in variance.

    Raises
    ------
    ValueError
        If the family or the pooling is unknown.

    Notes
    -----
    Axes without variance are skipped; with no axis left beta is 1. The paper says 1 for Gaussians; it is sqrt(pi / 2).

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Assumption 3.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> mixture = Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]])
    >>> [round(mixture_beta(mixture, family=family), 7) for family in ("gaussian", "laplace", "rademacher")]
    [1.2533141, 1.4142136, 1.0]
    """
    refuse_unknown("family", family, _ABSOLUTE_DEVIATION)
    sigma = np.sqrt(mixture.pooled_variances(pooling))
    varies = sigma > 0
    absolute = mixture.weights @ (np.sqrt(mixture.variances[:, varies]) / sigma[varies])
    with np.errstate(over="ignore", divide="ignore"):  # infinite where only a component of tiny weight varies
        return float((1 / (_ABSOLUTE_DEVIATION[family] * absolute)).max(initial=1.0))


def chebyshev_minimum_bound(k: int, width: float, sigma: float) -> float:
    """Return the bound on the smallest sum over k means of Chebyshev's bounds, for means that span a given width.

    The minimum over theta of the sum of sigma² / (theta - mean)² is at most the sum of 2 sigma² / ((2i - 1) delta)²
    over i from 1 to ceil(k / 2), with delta = width / (2 (k - 1)). The paper derives it from the middle of the largest
    gap. Equality holds for k = 2.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Claim 2. Its
    proof holds with 2 delta_1 >= delta_k in (57) and R_1 in (61).
    """
    odd = 2 * np.arange(1, (k + 1) // 2 + 1) - 1
    delta = width / (2 * (k - 1))
    return float(2 * np.sum((sigma / (odd * delta)) ** 2))


def kernel_price_bound(
    similarity: AxisSimilarity,
    within_similarity: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    sharp: bool = False,
    estimated: bool = False,
) -> Bound:
    """Return the bound on the expected kernel price of Kernel MMDT's tree; the mean is over the prototypes drawn.

    With s the within-similarities and p the weights, it is 1 + (1 + max s) / (1 - sum p s) times a bound on the
    fraction of rows in a wrong leaf. That bound is min(1, C alpha e² k (k - 1) / (min s - tau)²), with e² the largest
    variance of the kernel along an axis.

    Parameters
    ----------
    similarity : AxisSimilarity
        Of the components; see `metrics.axis_similarity`.
    within_similarity : array-like of shape (k,)
        See `metrics.within_similarity`. The paper takes all as equal.
    weights : array-like of shape (k,), default=None
        Weights p of the components; None takes all as equal.
    sharp : bool, default=False
        Whether C is pi² instead of the constant that the paper prints.
    estimated : bool, default=False
        Whether similarities were estimated from samples; it is noted in the result.

    Returns
    -------
    Bound
        Its first condition fails where tau is not below every within-similarity, which can happen. The value is then
        the trivial one, with all rows in a wrong leaf.

    Notes
    -----
    The paper has max(1, .) instead of min(1, .), and loses the square of the difference between two lines of its
    proof.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 12,
    corrected.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> from boxwood.metrics import axis_similarity, within_similarity
    >>> mixture, kernel = Mixture([1, 1], [[0.0], [9.0]], [[1e-4], [1e-4]]), Gaussian(1.0)
    >>> similarity = axis_similarity(mixture, kernel=kernel)
    >>> bound = kernel_price_bound(similarity, within_similarity(mixture, kernel=kernel))
    >>> round(bound.value, 3), bound.holds
    (1.017, True)
    """
    within = np.asarray(within_similarity, dtype=np.float64)
    k = len(within)
    p = np.full(k, 1 / k) if weights is None else np.asarray(weights, dtype=np.float64) / np.sum(weights)
    gap, tau = float(within.min() - similarity.tau), similarity.tau
    separated = Condition("tau lies below the within-similarity of every component", gap > 0)
    alpha, noise = max(1.0, float(k * p.max())), float(similarity.variance.max())
    wrong = min(1.0, _constant(sharp) * alpha * noise * k * (k - 1) / gap**2) if gap > 0 else 1.0
    rest = 1 - float(p @ within)
    excess = (1 + float(within.max())) * wrong
    price = 1 + (excess / rest if rest > 0 else (math.inf if excess > 0 else 0.0))
    drawn = Condition(f"the tree is Kernel MMDT's with drawn prototypes, for tau = {tau:.6g}", None)
    return as_price(price, (separated, drawn), f"{BEYOND_WORST_CASE}, Theorem 12, corrected", estimated)


def tau_bound(within_similarity: float, mmd: float, n_axes: int) -> float:
    """Return the bound on the axis-aligned similarity tau of components whose laws lie at least `mmd` apart.

    It is `1 - (1 - within_similarity + mmd² / 2) / d`. The reason: a product of similarities over axes is at least 1
    minus the sum over axes of (1 - similarity) (Weierstrass).

    Parameters
    ----------
    within_similarity : float
        Mean of the kernel over two rows of one component; for two components the mean of both.
    mmd : float
        Smallest maximum mean discrepancy of two components; not squared.
    n_axes : int
        Number of axes d.

    Notes
    -----
    The paper prints `within_similarity - mmd² / (2 d)`. Its proof takes an axis out of an expectation, although the
    axis depends on the rows drawn. That bound is false. So is the remark that tau is always below the
    within-similarity: the example shows a tau above it.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Lemma 11,
    corrected.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> from boxwood.metrics import axis_similarity, mean_similarities
    >>> mixture, kernel = Mixture([1, 1], [[0.0] * 10, [0.5] * 10], [[0.0625] * 10] * 2), Gaussian(1.0)
    >>> S = mean_similarities(mixture, kernel=kernel)
    >>> mmd = math.sqrt(S[0, 0] + S[1, 1] - 2 * S[0, 1])
    >>> tau = axis_similarity(mixture, kernel=kernel).tau
    >>> round(S[0, 0], 5), round(tau, 4), round(tau_bound(S[0, 0], mmd, 10), 4)
    (np.float64(0.32768), 0.7323, 0.9044)
    """
    return float(1 - (1 - within_similarity + mmd**2 / 2) / n_axes)


def _constant(sharp: bool) -> float:
    return math.pi**2 if sharp else CHEBYSHEV_CONSTANT
