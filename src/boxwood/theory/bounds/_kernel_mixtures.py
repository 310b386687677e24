"""Bounds on the kernel price of Kernel MMDT's trees for mixtures, corrected, and on the similarity of their axes.

All are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_vector, finite_number, refuse_other_kind, shown, whole_number
from boxwood.errors import DataError
from boxwood.grow._kernel_mmdt_cuts import PrototypeCut
from boxwood.metrics._kernel_similarity import AxisSimilarity
from boxwood.theory.bounds._bound import Bound, Condition, as_price, checked
from boxwood.theory.bounds._laws import drawn_trees
from boxwood.theory.bounds._mixtures import BEYOND_WORST_CASE, chebyshev_constant

__all__ = ["kernel_price_bound", "midpoint_kernel_price_bound", "tau_bound"]

_ROUNDING = 1e-9
_DIGITS = 1e-12  # differences of similarities that are no larger may be rounding


def kernel_price_bound(
    similarity: AxisSimilarity,
    within_similarity: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    cuts: Sequence[PrototypeCut] | None = None,
    drawn: bool = False,
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
        Of the components; see `metrics.axis_similarity`. For a tree of rows they are those of its own rows, and a
        fitted `KernelMMDT` has the bound as `price_bound_`.
    within_similarity : array-like of shape (k,)
        See `metrics.within_similarity`. The paper takes all as equal.
    weights : array-like of shape (k,), default=None
        Weights p of the components; None takes all as equal.
    cuts : sequence of PrototypeCut, default=None
        Cuts of the tree that the bound is asked about, as in `KernelMMDT.cuts_`. The inequality of the proof is checked
        at each of them. None leaves it unknown.
    drawn : bool, default=False
        States that prototypes are drawn at random from their components, as with `prototype="sample"`.
    sharp : bool, default=False
        Whether C is pi² instead of the constant that the paper prints.
    estimated : bool, default=False
        Whether similarities were estimated from samples; it is noted in the result.

    Returns
    -------
    Bound
        Its first condition fails where tau is not below every within-similarity, which can happen. The value is then
        the trivial one, with all rows in a wrong leaf. It fails, too, where a width is so large or so small that the
        difference, or the variance, is lost in rounding.

    Notes
    -----
    The paper has max(1, .) instead of min(1, .), and loses the square of the difference between two lines of its
    proof. Its proof also takes the middle of the largest gap for the best level. The middle can be worse, if the
    similarities of many components lie right behind the gap. See `midpoint_kernel_price_bound`.

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
    (1.017, None)
    """
    facts = _KernelFacts.of(similarity, within_similarity, weights)
    limit = math.inf
    if facts.gap > 0:
        limit = chebyshev_constant(sharp) * facts.alpha * facts.noise * facts.k / facts.gap**2
    conditions = _conditions(facts, similarity, cuts, drawn, lambda cut: limit)
    price = facts.price(limit * (facts.k - 1))
    return as_price(price, conditions, f"{BEYOND_WORST_CASE}, Theorem 12, corrected", estimated)


def midpoint_kernel_price_bound(
    similarity: AxisSimilarity,
    within_similarity: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    cuts: Sequence[PrototypeCut] | None = None,
    drawn: bool = False,
    estimated: bool = False,
) -> Bound:
    """Return a bound on the expected kernel price of Kernel MMDT that holds for the levels it really takes.

    It is `kernel_price_bound` with another bound on the fraction of rows in a wrong leaf: the sum over m from 1 to
    k - 1 of 4 m² e² / (4 m² e² + (min s - tau)²), at most 1. Parameters as there.

    Notes
    -----
    Proof. Let a cut have m + 1 components, prototype c and level t. The similarities to c take values from at most tau
    to at least min s, so the largest of their at most m gaps is at least g = (min s - tau) / m, and t lies at least
    g / 2 from each of them. By Cantelli's inequality a row of any component is on the wrong side with probability at
    most e² / (e² + g² / 4), and so is the sum over components with weights of at most 1. This grows with m. Of the
    cuts of a tree with k leaves, the i-th largest has at most k + 1 - i components, since i - 1 cuts lie outside of it.
    So the sum over cuts is at most the sum over m. With `axis="error"` a cut is at most as bad.

    References
    ----------
    After M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Theorem
    12; the proof is ours.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> from boxwood.metrics import axis_similarity, within_similarity
    >>> mixture, kernel = Mixture([1, 1], [[0.0], [9.0]], [[1e-4], [1e-4]]), Gaussian(1.0)
    >>> similarity = axis_similarity(mixture, kernel=kernel)
    >>> round(midpoint_kernel_price_bound(similarity, within_similarity(mixture, kernel=kernel)).value, 4)
    1.0032
    """
    facts = _KernelFacts.of(similarity, within_similarity, weights)

    def limit(cut: PrototypeCut) -> float:
        return facts.midpoint_limit(len(cut.inside) + len(cut.outside) - 1)

    total = math.fsum(facts.midpoint_limit(m) for m in range(1, facts.k))
    source = f"{BEYOND_WORST_CASE}, after Theorem 12, for the middle of the largest gap"
    return as_price(facts.price(total), _conditions(facts, similarity, cuts, drawn, limit), source, estimated)


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
    within, distance = finite_number("within_similarity", within_similarity), finite_number("mmd", mmd)
    return 1 - (1 - within + distance * distance / 2) / whole_number("n_axes", n_axes, 1)


# ------------------------------------------------------------------------------------------------------- steps


class _KernelFacts(NamedTuple):
    """Numbers of the components under a kernel.

    Their number k, weights and their imbalance alpha, largest variance of the kernel along an axis, axis-aligned
    similarity tau, by how much it lies below the smallest within-similarity (0 if not by more than rounding), and
    (1 + max s) / (1 - sum p s).
    """

    k: int
    weights: Floats
    alpha: float
    noise: float
    tau: float
    gap: float
    factor: float

    @classmethod
    def of(cls, similarity: AxisSimilarity, within_similarity: ArrayLike, weights: ArrayLike | None) -> Self:
        refuse_other_kind("similarity", similarity, AxisSimilarity, "make one: boxwood.metrics.axis_similarity")
        within, k = as_vector("within_similarity", within_similarity), similarity.mean.shape[1]
        if len(within) != k or not (np.abs(within) <= 1 + _ROUNDING).all():
            raise DataError(f"within_similarity must be {k} numbers from -1 to 1; got {shown(within_similarity)}")
        p: Floats = np.full(k, 1 / k) if weights is None else _shares(weights, k)
        rest, noise = 1 - float(p @ within), float(similarity.variance.max())
        factor = (1 + float(within.max())) / rest if rest > _DIGITS else math.inf
        gap = float(within.min() - similarity.tau)
        # a similarity that does not vary is 1 between any two rows of one component
        is_known = gap > _DIGITS and (noise > 0 or rest <= _DIGITS)
        alpha = max(1.0, float(k * p.max()))
        return cls(k, p, alpha, noise, float(similarity.tau), gap if is_known else 0.0, factor)

    def price(self, wrong: float) -> float:
        """Return the bound on the price from one on the fraction of rows in a wrong leaf."""
        return 1 + (self.factor * min(1.0, wrong) if wrong > 0 else 0.0)

    def midpoint_limit(self, m: int) -> float:
        """Return the bound for one cut with m + 1 components, in the middle of the largest gap."""
        if self.gap <= 0:
            return 1.0
        return 4 * m * m * self.noise / (4 * m * m * self.noise + self.gap**2)


def _shares(weights: ArrayLike, k: int) -> Floats:
    given = as_vector("weights", weights)
    if len(given) != k or not (np.isfinite(given) & (given >= 0)).all() or not given.any():
        raise DataError(f"weights must be {k} finite numbers, not negative and not all 0; got {shown(weights)}")
    scaled = given / given.max()  # a sum of large weights may overflow
    return np.asarray(scaled / scaled.sum())


def _conditions(
    facts: _KernelFacts,
    similarity: AxisSimilarity,
    cuts: Sequence[PrototypeCut] | None,
    drawn: bool,
    limit: Callable[[PrototypeCut], float],
) -> tuple[Condition, ...]:
    separated = checked("tau lies below the within-similarity of every component, by more than rounding", facts.gap > 0)
    text = "no cut puts more rows on the wrong side, expected over prototypes, than the proof allows"
    if cuts is None:
        obeyed = Condition(text, "unknown")
    else:
        for cut in cuts:
            refuse_other_kind("cuts", cut, PrototypeCut, "a fitted KernelMMDT has them as cuts_")
        whole = sum(len(cut.inside) + len(cut.outside) == facts.k for cut in cuts) == 1 and len(cuts) == facts.k - 1
        obeyed = checked(text, whole and all(_wrong(cut, facts, similarity) <= limit(cut) for cut in cuts))
    prototypes = drawn_trees(f"grow.kernel_mmdt with prototype='sample', for tau = {facts.tau:.6g}", drawn)
    return separated, obeyed, prototypes


def _wrong(cut: PrototypeCut, facts: _KernelFacts, similarity: AxisSimilarity) -> float:
    """Return Cantelli's bound on the fraction of rows on the wrong side of a cut, for these components.

    It is infinite if the cut was grown from other similarities, or does not part the components as these do.
    """
    components = np.array((*cut.inside, *cut.outside))
    if cut.feature >= len(similarity.mean) or components.max() >= facts.k:
        return math.inf
    means = similarity.mean[cut.feature, cut.component, components]
    known = similarity.mean[cut.feature, cut.component, [cut.component, cut.partner]]
    is_same = np.allclose(known, (cut.within, cut.similarity), rtol=_ROUNDING, atol=0)
    if not is_same or not np.array_equal(means >= cut.level, np.arange(len(components)) < len(cut.inside)):
        return math.inf
    variances = similarity.variance[cut.feature, cut.component, components]
    totals = variances + (cut.level - means) ** 2
    fractions = np.divide(variances, totals, out=np.zeros(len(components)), where=variances > 0)
    return float(facts.weights[components] @ fractions) / (1 + _ROUNDING)
