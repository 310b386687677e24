"""The papers' bounds for trees that explain kernel clusterings, corrected, as functions of given numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boxwood.metrics._kernel_similarity import AxisSimilarity
from boxwood.theory._bound import Bound, Condition
from boxwood.theory.bounds._facts import GUARANTEES, as_price, constant

__all__ = ["distance_price_bound", "kernel_price_bound", "tau_bound", "taylor_price_bound"]

_KERNELS = "Fleissner, Vankadara and Ghoshdastidar, Explaining Kernel Clustering via Decision Trees, ICLR 2024"


def tau_bound(within_similarity: float, mmd: float, n_axes: int) -> float:
    """Return the bound on the axis-aligned similarity tau of components whose laws lie at least `mmd` apart.

    It is `1 - (1 - within + mmd² / 2) / d`: the product of the similarities over axes is at least one less the sum of
    what each lacks to 1 (Weierstrass).

    Parameters
    ----------
    within_similarity : float
        Mean of the kernel over rows of one component; of a pair of components the mean of both.
    mmd : float
        Smallest maximum mean discrepancy of two components; not squared.
    n_axes : int
        Number of axes d.

    Notes
    -----
    The paper prints `within - mmd² / (2 d)`, from a step that takes an axis which depends on the rows drawn out of an
    expectation. That is false, and so is its remark that tau is always below the within-similarity: see the example.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Lemma 11,
    corrected.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> from boxwood.metrics import axis_similarity, mean_similarities
    >>> mixture = Mixture([1, 1], [[0.0] * 10, [0.5] * 10], [[0.0625] * 10] * 2)
    >>> S = mean_similarities(mixture, kernel=Gaussian(1.0))
    >>> gap = math.sqrt(S[0, 0] + S[1, 1] - 2 * S[0, 1])
    >>> tau = axis_similarity(mixture, kernel=Gaussian(1.0)).tau
    >>> round(S[0, 0], 5), round(tau, 4), round(tau_bound(S[0, 0], gap, 10), 4)
    (np.float64(0.32768), 0.7323, 0.9044)
    """
    return float(1 - (1 - within_similarity + mmd**2 / 2) / n_axes)


def kernel_price_bound(
    similarity: AxisSimilarity,
    within_similarity: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    sharp: bool = False,
    estimated: bool = False,
) -> Bound:
    """Return the bound on the expected kernel price of Kernel MMDT's tree, over the prototypes that it draws.

    With s the within-similarities, it is 1 + (1 + max s) / (1 - sum p s) times the share of rows in a wrong leaf, which
    is at most min(1, C alpha e² k (k - 1) / (min s - tau)²), e² the largest variance of the kernel along an axis.

    Parameters
    ----------
    similarity : AxisSimilarity
        Of the components; see `metrics.axis_similarity`.
    within_similarity : array-like of shape (k,)
        See `metrics.within_similarity`. The paper takes all as equal.
    weights : array-like of shape (k,), default=None
        Weights p of the components; None takes all as equal.
    sharp : bool, default=False
        Whether C is pi² in place of the constant that the paper prints.
    estimated : bool, default=False
        Whether similarities were estimated from samples; it is noted in the result.

    Returns
    -------
    Bound
        Its condition fails where tau is not below every within-similarity, as is possible: then the value is the
        trivial one, with all rows in a wrong leaf.

    Notes
    -----
    The paper has max(1, .) for min(1, .), and loses the square of the difference between two lines of its proof.

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
    >>> bound = kernel_price_bound(axis_similarity(mixture, kernel=kernel), within_similarity(mixture, kernel=kernel))
    >>> round(bound.value, 3), bound.holds
    (1.017, True)
    """
    within = np.asarray(within_similarity, dtype=np.float64)
    k = len(within)
    p = np.full(k, 1 / k) if weights is None else np.asarray(weights, dtype=np.float64) / np.sum(weights)
    gap, tau = float(within.min() - similarity.tau), similarity.tau
    separated = Condition("tau lies below the within-similarity of every component", gap > 0)
    alpha, noise = max(1.0, float(k * p.max())), float(similarity.variance.max())
    wrong = min(1.0, constant(sharp) * alpha * noise * k * (k - 1) / gap**2) if gap > 0 else 1.0
    rest = 1 - float(p @ within)
    excess = (1 + float(within.max())) * wrong
    price = 1 + (excess / rest if rest > 0 else (math.inf if excess > 0 else 0.0))
    drawn = Condition(f"the tree is Kernel MMDT's with drawn prototypes, for tau = {tau:.6g}", None)
    return as_price(price, (separated, drawn), f"{GUARANTEES}, Theorem 12, corrected", estimated)


def taylor_price_bound(k: int, n_axes: int, *, n_rows: int, delta: float, cost: float) -> Bound:
    """Return the bound on the kernel price of Kernel IMM's tree on truncated features, such as Taylor's.

    It is `(2 + 8 k (k - 1)) d + 2 n d delta (3 + 8 k (k - 1)) / cost`; with exact features delta is 0.

    Parameters
    ----------
    k, n_axes, n_rows : int
        Numbers of clusters, axes d and rows n.
    delta : float
        Largest absolute error of the features' inner products along one axis, over pairs of rows.
    cost : float
        Kernel k-means cost of the reference, above 0.

    Notes
    -----
    The paper writes O(delta) for an error that grows with the number of rows.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorem 4, with the constants of its proof.

    Examples
    --------
    >>> taylor_price_bound(2, 3, n_rows=100, delta=0.01, cost=50.0).value
    56.28
    """
    _refuse_bad(cost > 0 and delta >= 0, "cost must be above 0 and delta not below")
    pairs = 8 * k * (k - 1)
    value = (2 + pairs) * n_axes + 2 * n_rows * n_axes * delta * (3 + pairs) / cost
    return as_price(
        value,
        (
            _product(),
            _tree("truncated features"),
        ),
        f"{_KERNELS}, Theorem 4",
        False,
    )


def distance_price_bound(k: int, n_axes: int, *, stretch: float, shrink: float) -> Bound:
    """Return the bound on the kernel price of Kernel IMM's tree on distances to points: `(2 + 8 a b k (k - 1)) d`.

    Parameters
    ----------
    k, n_axes : int
        Numbers of clusters and axes d.
    stretch : float
        The paper's kappa_1, a: the largest ratio, over pairs of centres at one node, of their squared distance in the
        product of the axes' feature spaces to the plain one of their features. `distance_ratios` finds both from data.
    shrink : float
        The paper's kappa_2, b: the largest ratio, over rows and their centres, the other way round.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorem 5 and Appendix G.

    Examples
    --------
    >>> distance_price_bound(2, 3, stretch=1.0, shrink=2.0).value
    102.0
    """
    _refuse_bad(stretch >= 0 and shrink >= 0, "stretch and shrink must not be below 0")
    value = (2 + 8 * stretch * shrink * k * (k - 1)) * n_axes
    return as_price(value, (_product(), _tree("distances to all rows")), f"{_KERNELS}, Theorem 5", False)


def _product() -> Condition:
    return Condition("the kernel multiplies over axes, each factor from 0 to 1 and 1 for equal values", None)


def _tree(features: str) -> Condition:
    return Condition(f"the tree is Kernel IMM's on {features}, with the reference's means there as centres", None)


def _refuse_bad(good: bool, message: str) -> None:
    if not good:
        raise ValueError(message)
