"""Bounds for mixtures: price and error of trees by MMDT, for any law, for sub-Gaussian tails, and for middles of gaps.

For any law they are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case
Guarantees", corrected. The explainability-to-noise ratio q is in the variance form.

For sub-Gaussian tails they are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable
Clusters in Mixture Models and Deep Representations", corrected. The ratio q is in the sub-Gaussian form.

For cuts in the middle of the largest gap they are our own, as the first paper's proofs need another threshold: its
Claim 2 is true for the best threshold and false for the middle. They hold for `grow.mmdt` with either axis,
`threshold="midpoint"` and `pooling="max"`, its defaults.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import finite_number, refuse_unknown, whole_number
from boxwood.errors import DataError
from boxwood.metrics.costs import ratio
from boxwood.reference import Mixture
from boxwood.reference.mixture import refuse_no_mixture
from boxwood.theory.bounds.bound import (
    RANDOM_TREES,
    TAILS,
    Bound,
    Condition,
    as_price,
    as_probability,
    check_condition,
    drawn_trees,
    gaussian,
    mixture_numbers,
    tail_condition,
    with_beta,
)
from boxwood.theory.bounds.cuts import ReachedCut, tree_conditions
from boxwood.tree import ThresholdTree

BEYOND_WORST_CASE = "Fleissner, Zarvandi and Ghoshdastidar, Explainable Clustering Beyond Worst-Case Guarantees"
"""The paper, as sources of bounds name it."""

CHEBYSHEV_CONSTANT = 4 + 2 * math.pi**2 / 3
"""The constant C of the bounds by Chebyshev's inequality, as published (C0). The sharp one is pi²."""


def chebyshev_constant(sharp: bool) -> float:
    """Return the constant C: the sharp one, or the larger one that the paper prints."""
    return math.pi**2 if sharp else CHEBYSHEV_CONSTANT


def price_bound(
    mixture: Mixture,
    *,
    tree: ThresholdTree | None = None,
    beta: float | None = None,
    sharp: bool = False,
    estimated: bool = False,
) -> Bound:
    """Return the bound on the ℓ1 price of MMDT's tree: 1 + C alpha beta k (k - 1) / sqrt(q).

    It bounds `metrics.mixture_price` for components of any law with the means as centres, and therefore also with
    medians as centres. k is the number of components and alpha the imbalance of their weights, `mixture.alpha`.

    Parameters
    ----------
    mixture : Mixture
        Components.
    tree : ThresholdTree, default=None
        Tree that the bound is asked about. The inequality that the proof uses is checked at each of its cuts. None
        leaves these conditions unknown; `grow.mmdt(mixture, axis="range", threshold="chebyshev", pooling="max")` obeys
        them.
    beta : float, default=None
        Ratio of standard deviation to mean absolute deviation, see `mixture_beta`. None takes that of the mixture's
        law, and that of Gaussians if the mixture states no law.
    sharp : bool, default=False
        Whether C is pi², the exact sum of the paper's series. Otherwise C is the larger number that the paper prints.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the result.

    Raises
    ------
    DataError
        If the mixture has one component, or does not fit the tree.
    ValueError
        If `beta` is below 1.

    Notes
    -----
    The paper also proves it for cuts in the middle of the largest gap. That proof forgets that many means may lie right
    behind the gap: from k = 10 on the middle may be worse than the proof's sum says. See `midpoint_price_bound`. The
    paper asks for symmetric components, so that their means are medians, the best centres; the bound does not need it.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 4.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.grow import mmdt
    >>> mixture = Mixture([0.5, 0.5], [[-2], [2]], [[1], [1]], law="gaussian")
    >>> bound = price_bound(mixture, tree=mmdt(mixture, axis="range", threshold="chebyshev"))
    >>> round(bound.value, 2), bound.holds
    (7.63, True)
    """
    facts, c = mixture_numbers(mixture, "variance"), chebyshev_constant(sharp)
    factor, deviation = with_beta(mixture, beta)
    on_tree = tree_conditions(
        tree,
        mixture,
        "no cut separates more rows from their means, times the ℓ1 distance to the farthest one, than the proof allows",
        lambda cut: _bound_on_separated(cut, mixture) * float(cut.ranges.sum()),
        ratio(c * facts.alpha * facts.k * float(facts.sigma.sum()), math.sqrt(facts.q)),
    )
    excess = ratio(c * facts.alpha * factor * facts.k * (facts.k - 1), math.sqrt(facts.q))
    conditions = (facts.distinct, *on_tree, deviation)
    return as_price(1 + excess, conditions, f"{BEYOND_WORST_CASE}, Theorem 4", estimated)


def sqeuclidean_price_bound(
    mixture: Mixture, *, tree: ThresholdTree | None = None, sharp: bool = False, estimated: bool = False
) -> Bound:
    """Return the bound on the squared Euclidean price of MMDT's tree: 2 + 2 C alpha k (k - 1) g.

    g is the sum over axes of the largest variances, divided by the sum over axes of the weighted variances. It is 1
    where all components have the same variances. The bound does not depend on the distances between components.
    Parameters, errors and notes as in `price_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Appendix A.3.
    The paper states no constants; these follow from ``|a + b|² <= 2 |a|² + 2 |b|²``.
    """
    facts, c = mixture_numbers(mixture, "variance"), chebyshev_constant(sharp)
    largest, mean = (float(mixture.pooled_variances(pooling).sum()) for pooling in ("max", "weighted"))
    on_tree = tree_conditions(
        tree,
        mixture,
        "no cut separates more rows from their means, times the squared distance to the farthest one, than the proof "
        "allows",
        lambda cut: _bound_on_separated(cut, mixture) * float((cut.ranges**2).sum()),
        c * facts.alpha * facts.k * largest,
    )
    value = 2 + 2 * c * facts.alpha * facts.k * (facts.k - 1) * (largest / mean if mean > 0 else 1)
    source = f"{BEYOND_WORST_CASE}, Remark 7 and Appendix A.3"
    return as_price(value, (facts.distinct, *on_tree), source, estimated)


def chebyshev_error_bound(
    mixture: Mixture, *, tree: ThresholdTree | None = None, sharp: bool = False, estimated: bool = False
) -> Bound:
    """Return the bound on the error of MMDT's tree for components of any law: C alpha k (k - 1) / q.

    Parameters, errors and notes as in `price_bound`. The paper asks for its Assumption 3, but its proof does not use
    it.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem 8.
    """
    facts, c = mixture_numbers(mixture, "variance"), chebyshev_constant(sharp)
    limit = ratio(c * facts.alpha * facts.k, facts.q)
    text = f"no cut separates more than {limit:.3g} of the rows from their means"
    on_tree = tree_conditions(tree, mixture, text, lambda cut: _bound_on_separated(cut, mixture), limit)
    value = ratio(c * facts.alpha * facts.k * (facts.k - 1), facts.q)
    return as_probability(value, (facts.distinct, *on_tree), f"{BEYOND_WORST_CASE}, Theorem 8", estimated)


def random_chebyshev_error_bound(mixture: Mixture, *, drawn: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the expected error of MMDT's random trees for any law: 4 alpha (k - 1) / sqrt(q).

    `drawn` states that trees are drawn by `grow.mmdt(mixture, axis="range", threshold="uniform", pooling="max")`.

    A cut drawn from a range of length R separates a row from its mean with probability at most 4 sigma / R, the mean
    of min(1, sigma² / s²) over the cuts. So Chebyshev's inequality, clipped at 1, gives a bound by the
    explainability-to-noise ratio. The paper's remark doubts that it does.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Remark 6.
    """
    facts = mixture_numbers(mixture, "variance")
    value = ratio(4 * facts.alpha * (facts.k - 1), math.sqrt(facts.q))
    return as_probability(
        value, (facts.distinct, drawn_trees(RANDOM_TREES, drawn)), f"{BEYOND_WORST_CASE}, Remark 6, clipped", estimated
    )


def chebyshev_minimum_bound(k: int, width: float, sigma: float) -> float:
    """Return the bound on the smallest sum over k means of Chebyshev's bounds, for means that span a given width.

    The minimum over theta of the sum of sigma² / (theta - mean)² is at most the sum of 2 sigma² / ((2i - 1) delta)²
    over i from 1 to ceil(k / 2), with delta = width / (2 (k - 1)). Equality holds for k = 2.

    The paper derives it from the middle of the largest gap. For the minimum no configuration is known to violate it.
    For the middle it is false from k = 10 on, if many means lie right behind the gap; see `midpoint_error_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Claim 2. Its
    proof holds with 2 delta_1 >= delta_k in (57) and R_1 in (61).
    """
    odd = 2 * np.arange(1, (whole_number("k", k, 2) + 1) // 2 + 1) - 1
    if finite_number("width", width) <= 0:
        raise ValueError(f"width must be above 0, got {width}")
    if finite_number("sigma", sigma) < 0:
        raise ValueError(f"sigma must be at least 0, got {sigma}")
    with np.errstate(over="ignore"):
        shares = np.float64(sigma) / width * (2 * (k - 1) / odd)
        return float(2 * np.sum(shares**2))


# ------------------------------------------------------------------------------------------------------- steps
def _bound_on_separated(cut: ReachedCut, mixture: Mixture) -> float:
    """Return a bound on the fraction of rows that a cut separates from their means, by the law if it is Gaussian."""
    return float(cut.weights @ (cut.by_gaussians() if mixture.law == "gaussian" else cut.by_chebyshev()))


_PAPER = "Fleissner, Zarvandi and Ghoshdastidar, Decision Trees for Interpretable Clusters in Mixture Models"


def gap_error_bound(
    mixture: Mixture,
    *,
    tree: ThresholdTree | None = None,
    tail: str = "gaussian",
    sigma: ArrayLike | None = None,
    sharp: bool = False,
    estimated: bool = False,
) -> Bound:
    """Return the bound on the error of MMDT's tree by gaps: c alpha (k - 1) exp(-q / 4k²).

    k is the number of components and alpha the imbalance of their weights, `mixture.alpha`.

    Parameters
    ----------
    mixture : Mixture
        Components.
    tree : ThresholdTree, default=None
        Tree that the bound is asked about. The inequality that the proof uses is checked at each of its cuts. None
        leaves these conditions unknown; `grow.mmdt(mixture, sigma=sigma)`, with the other parameters at their defaults,
        obeys them.
    tail : {"gaussian", "one-sided", "two-sided"}, default="gaussian"
        What is assumed of the tails; it sets c. "gaussian", c = 1/2: components are Gaussian. "one-sided", c = 1:
        P(x - mean >= s) <= exp(-s² / 2 sigma²) on either side. "two-sided", c = 2, is the paper's Assumption 1:
        ``P(|x - mean| >= s) <= 2 exp(-s² / 2 sigma²)``.
    sigma : array-like of shape (d,), default=None
        Sub-Gaussian parameters of the axes, not variances: they state that the components have these tails. None takes
        the largest standard deviation on each axis, which is right for Gaussians.
    sharp : bool, default=False
        Whether to take (k - 1)² instead of k², since k means have k - 1 gaps, and 1 instead of alpha, since the
        weights at a node add up to at most 1. The same proof gives both.
    estimated : bool, default=False
        Whether the parameters were estimated from data; it is noted in the result.

    Raises
    ------
    DataError
        If the mixture has one component, or `sigma` or the tree do not fit it.
    ValueError
        If the tail is unknown.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Theorem 1, with the constants of its proof.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.grow import mmdt
    >>> mixture = Mixture([0.5, 0.5], [[0], [10]], [[1], [1]], law="gaussian")
    >>> bound = gap_error_bound(mixture, tree=mmdt(mixture))
    >>> bound.value < 0.03, bound.holds
    (True, True)
    >>> gap_error_bound(mixture).holds, [condition.status for condition in gap_error_bound(mixture).conditions]
    (None, ['verified', 'unknown', 'unknown', 'stated'])
    """
    facts = mixture_numbers(mixture, "subgaussian", sigma)
    tails = tail_condition(mixture, tail, sigma, facts.sigma)
    gaps, alpha = (facts.k - 1, 1.0) if sharp else (facts.k, facts.alpha)
    limit = TAILS[tail] * alpha * math.exp(-facts.q / (4 * gaps**2))
    on_tree = _tree_by_tails(tree, mixture, limit, tail, facts.sigma)
    value = limit * (facts.k - 1)
    return as_probability(value, (facts.distinct, *on_tree, tails), f"{_PAPER}, Theorem 1", estimated)


def random_error_bound(
    mixture: Mixture,
    *,
    drawn: bool = False,
    tail: str = "gaussian",
    sigma: ArrayLike | None = None,
    estimated: bool = False,
) -> Bound:
    """Return the bound on the expected error of MMDT's random trees: c alpha (k - 1) sqrt(pi / q).

    The expectation is over rows and random cuts. `drawn` states that trees are drawn by
    `grow.mmdt(mixture, axis="range", threshold="uniform", sigma=sigma)`, which no single tree can show. Other
    parameters and errors as in `gap_error_bound`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Theorem 2, with the constants of its proof.
    """
    facts = mixture_numbers(mixture, "subgaussian", sigma)
    tails = tail_condition(mixture, tail, sigma, facts.sigma)
    value = TAILS[tail] * facts.alpha * (facts.k - 1) * math.sqrt(ratio(math.pi, facts.q))
    how = RANDOM_TREES if sigma is None else "grow.mmdt with axis='range', threshold='uniform' and these sigmas"
    trees = drawn_trees(how, drawn)
    return as_probability(value, (facts.distinct, trees, tails), f"{_PAPER}, Theorem 2", estimated)


def estimated_error_bound(
    mixture: Mixture,
    delta: float,
    *,
    tree: ThresholdTree | None = None,
    truth: Mixture | None = None,
    tail: str = "gaussian",
    sigma: ArrayLike | None = None,
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
    tree : ThresholdTree, default=None
        As in `gap_error_bound`; its cuts are checked against the estimates.
    truth : Mixture, default=None
        The true components, in the order of the estimated ones, if you know them. None leaves the accuracy unknown.
    tail, sigma
        As in `gap_error_bound`; `sigma` are estimates.

    Raises
    ------
    DataError
        If the mixture has one component, or `sigma`, the tree or the truth do not fit it.
    ValueError
        If the tail is unknown.

    Notes
    -----
    The paper has -(1 - delta) (q / 4k² - delta) in the exponent, from (a - b)² >= a² - b². That is false for
    a > b > 0.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Decision Trees for Interpretable Clusters in Mixture Models and Deep
    Representations", Corollary 1, corrected.
    """
    facts = mixture_numbers(mixture, "subgaussian", sigma)
    refuse_unknown("tail", tail, TAILS)
    delta = finite_number("delta", delta)
    small = 0 < delta < min(1.0, facts.q / (4 * facts.k**2))
    root = math.sqrt(facts.q) / (2 * facts.k) - math.sqrt(max(delta, 0.0))
    limit = TAILS[tail] * facts.alpha * (math.exp(-(1 - delta) * root**2) if small else 1.0)
    value = limit * (facts.k - 1)
    conditions = (
        facts.distinct,
        check_condition("delta is above 0 and below q / 4k² and 1", small),
        _accuracy(mixture, delta, truth, facts.sigma),
        *_tree_by_tails(tree, mixture, limit, tail, facts.sigma, delta if small else 0.0),
        tail_condition(truth or mixture, tail, sigma, facts.sigma / math.sqrt(1 - delta) if small else facts.sigma),
    )
    return as_probability(value if small else math.inf, conditions, f"{_PAPER}, Corollary 1, corrected", True)


def l2_price_bound(mixture: Mixture, *, drawn: bool = False, estimated: bool = False) -> Bound:
    """Return the bound on the expected ℓ2 price of MMDT's random trees: 1 + (k - 1) (D / c) sqrt(2 pi d) / chi.

    D and c are the largest and the smallest distance between means. chi is the mean length of a standard normal vector
    of d numbers, sqrt(2) Gamma((d + 1) / 2) / Gamma(d / 2). `drawn` states that trees are drawn as for
    `random_error_bound`.

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
    facts = mixture_numbers(mixture, "subgaussian")
    k, d = mixture.means.shape
    smallest, largest = _extreme_distances(mixture)
    chi = math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    value = 1 + (k - 1) * ratio(largest, smallest) * math.sqrt(2 * math.pi * d) / chi
    variance = mixture.variances.flat[0]
    conditions = (
        facts.distinct,
        check_condition("weights are equal", bool(np.allclose(mixture.weights, 1 / k))),
        check_condition(
            "all covariances are the same multiple of the identity", _is_spherical(mixture, float(variance))
        ),
        drawn_trees(RANDOM_TREES, drawn),
        gaussian(mixture),
    )
    return as_price(value, conditions, f"{_PAPER}, Corollary 2", estimated)


# ------------------------------------------------------------------------------------------------------- steps
def _tree_by_tails(
    tree: ThresholdTree | None, mixture: Mixture, limit: float, tail: str, sigma: Floats, delta: float = 0.0
) -> tuple[Condition, Condition]:
    """Return the condition of the proofs on a tree: no cut separates more rows than a limit, by tails of one kind.

    With delta, the means may be off by sqrt(2 delta) sigmas, and the variances by a factor 1 - delta.
    """

    def separated(cut: ReachedCut) -> float:
        distances = cut.distances(sigma[cut.axis]) - math.sqrt(2 * delta)
        tails = TAILS[tail] * np.exp(-0.5 * (1 - delta) * distances**2)
        return float(cut.weights @ np.where(distances > 0, np.minimum(1.0, cut.n_ends * tails), 1.0))

    text = f"no cut separates more than {limit:.3g} of the rows from their means, by their tails"
    return tree_conditions(tree, mixture, text, separated, limit)


def _accuracy(mixture: Mixture, delta: float, truth: Mixture | None, sigma: Floats) -> Condition:
    text = "(mean - estimate)² <= 2 delta sigma², estimated variance >= (1 - delta) variance, and the weights are right"
    if truth is None:
        return Condition(text, "unknown")
    refuse_no_mixture(truth)
    if truth.means.shape != mixture.means.shape:
        raise DataError(f"the truth has means of shape {truth.means.shape}, but the mixture {mixture.means.shape}")
    near = ((mixture.means - truth.means) ** 2 <= 2 * delta * sigma**2).all()
    wide = (sigma**2 >= (1 - delta) * truth.variances).all()
    return check_condition(text, bool(near and wide and np.allclose(mixture.weights, truth.weights, rtol=1e-9, atol=0)))


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
    facts = mixture_numbers(mixture, "variance", sigma)
    limits = _tails(facts.k, facts.q, law)
    on_tree = tree_conditions(
        tree,
        mixture,
        "no cut separates more rows from their means than the middle of the largest gap would",
        lambda cut: float(cut.weights @ _separated_at_most(cut, law)),
        lambda cut: float(limits[len(cut.components) - 1]),
    )
    conditions: tuple[Condition, ...] = (facts.distinct, *on_tree, _not_exceeded(mixture, facts.sigma))
    if law == "gaussian":
        conditions += (gaussian(mixture),)
    return as_probability(float(limits.sum()), conditions, _for_the_middle("8"), estimated)


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
    facts = mixture_numbers(mixture, "variance", sigma)
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
        lambda cut: float(cut.weights @ _separated_at_most(cut, "any")) * float(cut.ranges.sum()),
        lambda cut: float(limits[len(cut.components) - 1]) * total,
    )
    value = 1 + factor * float(limits.sum()) if facts.q < math.inf else 1.0
    conditions = (facts.distinct, *on_tree, _not_exceeded(mixture, facts.sigma), deviation)
    return as_price(value, conditions, _for_the_middle("4"), estimated)


# ------------------------------------------------------------------------------------------------------- steps


def _tails(k: int, q: float, law: str) -> Floats:
    """Return the bounds f(0), ..., f(k - 1) on the fraction of rows that a cut with m + 1 means separates."""
    m = np.arange(k, dtype=np.float64)
    if law == "any":
        return np.asarray(4 * m**2 / (4 * m**2 + q) if q > 0 else np.minimum(m, 1.0))
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num(ndtr(-math.sqrt(q) / (2 * m)), nan=0.0))


def _separated_at_most(cut: ReachedCut, law: str) -> Floats:
    """Return a bound on the probability that a row of each component is separated from its mean, shape (m,)."""
    if law == "gaussian":
        return cut.by_gaussians()
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(1.0, cut.n_ends / (1 + cut.distances() ** 2)))


def _not_exceeded(mixture: Mixture, sigma: Floats) -> Condition:
    largest = mixture.pooled_variances("max") / (1 + 1e-9)  # as the square of a deviation is rounded
    return check_condition(
        "no component's standard deviation exceeds the sigma of its axis", bool((largest <= sigma**2).all())
    )


def _for_the_middle(theorem: str) -> str:
    return f"{BEYOND_WORST_CASE}, after Theorem {theorem}, for the middle of the largest gap"
