"""Bounds for mixtures of any law: price and error of trees by MMDT, corrected.

All are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees". The
explainability-to-noise ratio q is in the variance form.
"""

from __future__ import annotations

import math

import numpy as np

from boxwood._validation import finite_number, whole_number
from boxwood.metrics._price import ratio
from boxwood.reference import Mixture
from boxwood.theory.bounds._bound import Bound, as_price, as_probability
from boxwood.theory.bounds._cuts import Cut, tree_conditions
from boxwood.theory.bounds._laws import RANDOM_TREES, drawn_trees, mixture_facts, with_beta
from boxwood.tree import ThresholdTree

__all__ = [
    "BEYOND_WORST_CASE",
    "CHEBYSHEV_CONSTANT",
    "chebyshev_constant",
    "chebyshev_error_bound",
    "chebyshev_minimum_bound",
    "price_bound",
    "random_chebyshev_error_bound",
    "sqeuclidean_price_bound",
]

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
    facts, c = mixture_facts(mixture, "variance"), chebyshev_constant(sharp)
    factor, deviation = with_beta(mixture, beta)
    on_tree = tree_conditions(
        tree,
        mixture,
        "no cut separates more rows from their means, times the ℓ1 distance to the farthest one, than the proof allows",
        lambda cut: _separated(cut, mixture) * float(cut.ranges.sum()),
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
    The paper states no constants; these follow from |a + b|² <= 2 |a|² + 2 |b|².
    """
    facts, c = mixture_facts(mixture, "variance"), chebyshev_constant(sharp)
    largest, mean = (float(mixture.pooled_variances(pooling).sum()) for pooling in ("max", "weighted"))
    on_tree = tree_conditions(
        tree,
        mixture,
        "no cut separates more rows from their means, times the squared distance to the farthest one, than the proof "
        "allows",
        lambda cut: _separated(cut, mixture) * float((cut.ranges**2).sum()),
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
    facts, c = mixture_facts(mixture, "variance"), chebyshev_constant(sharp)
    limit = ratio(c * facts.alpha * facts.k, facts.q)
    text = f"no cut separates more than {limit:.3g} of the rows from their means"
    on_tree = tree_conditions(tree, mixture, text, lambda cut: _separated(cut, mixture), limit)
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
    facts = mixture_facts(mixture, "variance")
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


def _separated(cut: Cut, mixture: Mixture) -> float:
    """Return a bound on the fraction of rows that a cut separates from their means, by the law if it is Gaussian."""
    return float(cut.weights @ (cut.by_gaussians() if mixture.law == "gaussian" else cut.by_chebyshev()))
