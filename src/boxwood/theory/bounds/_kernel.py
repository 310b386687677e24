"""Bounds on the kernel price of the trees of Kernel IMM and Kernel MMDT, corrected.

All are from M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees".

All are from M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import (
    Rows,
    as_vector,
    finite_number,
    real_number,
    refuse_no_sum,
    refuse_other_kind,
    show_value,
    whole_number,
)
from boxwood.errors import DataError
from boxwood.grow.kernel.mmdt import PrototypeCut
from boxwood.kernels import Kernel
from boxwood.kernels.families import as_distance_kernel
from boxwood.metrics.similarity import AxisSimilarity
from boxwood.reference import Reference
from boxwood.reference.reference import refuse_no_reference
from boxwood.theory.bounds.bound import Bound, Condition, as_price, check_condition, drawn_trees
from boxwood.theory.bounds.mixtures import BEYOND_WORST_CASE, chebyshev_constant

_PAPER = "Fleissner, Vankadara and Ghoshdastidar, Explaining Kernel Clustering via Decision Trees, ICLR 2024"
_PRODUCT = Condition("the kernel multiplies over axes, each factor from 0 to 1 and 1 for equal values", "unknown")
_ROUNDING = 1e-14  # of a squared distance in the feature space of an axis, where no similarity is above 1


def taylor_price_bound(k: int, n_axes: int, *, n_rows: int, delta: float, cost: float) -> Bound:
    """Return the bound on the kernel price of Kernel IMM's tree on truncated features, such as Taylor's.

    It is `(2 + 8 k (k - 1)) d + 2 n d delta (3 + 8 k (k - 1)) / cost`; with exact features delta is 0.

    Parameters
    ----------
    k, n_axes, n_rows : int
        Numbers of clusters, axes d and rows n.
    delta : float
        Largest absolute error of the features' inner products along one axis, over pairs of rows. At least 0.
    cost : float
        Kernel k-means cost of the reference, above 0.

    Raises
    ------
    ValueError
        If delta is below 0, or the cost is not above 0.

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
    for name, count in (("k", k), ("n_axes", n_axes), ("n_rows", n_rows)):
        whole_number(name, count, 1)
    if not (finite_number("cost", cost) > 0 and finite_number("delta", delta) >= 0):
        raise ValueError(f"cost must be above 0 and delta not below 0, got cost={cost}, delta={delta}")
    pairs = 8 * k * (k - 1)
    value = (2 + pairs) * n_axes + 2 * n_rows * n_axes * delta * (3 + pairs) / cost
    return as_price(value, (_PRODUCT, _tree_on("truncated features")), f"{_PAPER}, Theorem 4")


def distance_price_bound(k: int, n_axes: int, *, stretch: float, shrink: float) -> Bound:
    """Return the bound on the kernel price of Kernel IMM's tree on distances to points: `(2 + 8 a b k (k - 1)) d`.

    Parameters
    ----------
    k, n_axes : int
        Numbers of clusters and axes d.
    stretch, shrink : float
        The constants a and b of the data, at least 0; see `DistanceRatios`. `distance_ratios` returns both.

    Raises
    ------
    ValueError
        If a constant is below 0.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorem 5 and Appendix G.

    Examples
    --------
    >>> distance_price_bound(2, 3, stretch=1.0, shrink=2.0).value
    102.0
    """
    whole_number("k", k, 1), whole_number("n_axes", n_axes, 1)
    if not (real_number("stretch", stretch) >= 0 and real_number("shrink", shrink) >= 0):
        raise ValueError(f"stretch and shrink must not be below 0, got stretch={stretch}, shrink={shrink}")
    value = (2 + 8 * stretch * shrink * k * (k - 1)) * n_axes
    return as_price(value, (_PRODUCT, _tree_on("distances to all rows")), f"{_PAPER}, Theorem 5")


class DistanceRatios(NamedTuple):
    """The two constants of the data in `distance_price_bound`.

    Each is the largest ratio of two squared distances between the same two points. One is the squared distance in the
    product of the axes' feature spaces. The other is the squared distance of the points' similarities to all values of
    all axes, the features on which Kernel IMM cuts.

    Attributes
    ----------
    stretch : float
        The paper's kappa_1: the distance in the feature spaces divided by the distance of the similarities, both
        squared, the largest over pairs of clusters' means. 0 for one cluster.
    shrink : float
        The paper's kappa_2: the inverse ratio, the largest over rows and the means of their clusters. 0 if each row is
        at its mean.
    """

    stretch: float
    shrink: float


def distance_ratios(
    X: ArrayLike, reference: Reference, *, kernel: Kernel | str, sample_weight: ArrayLike | None = None
) -> DistanceRatios:
    """Return the constants of the data in the bound on the price of Kernel IMM on distances to all rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    reference : Reference
        Clusters to be explained. Only the labels are used; -1 leaves a row out.
    kernel : DistanceKernel or str
        Kernel that multiplies over axes, or the name of one. A bandwidth that is not a number is found from all rows.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row; weight 0 leaves a row out.

    Returns
    -------
    DistanceRatios
        Arguments of `distance_price_bound`. Always holds: both are at least 0. `shrink` is, but for rounding, at most
        the largest row sum of an axis's kernel matrix.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, or every row is left out.
    ValueError
        If the kernel does not multiply over axes.

    Notes
    -----
    Let K be the kernel matrix of the distinct values of an axis. A row, a mean or a difference of them has weights w on
    these values and the similarities u = K w to them. The paper's squared distance `u' K⁻¹ u` is `w' K w`, also with
    the pseudo-inverse. So no matrix is inverted, however badly K is conditioned. In the paper a repeated value counts
    as often as it occurs, and K is singular then. Here it counts once, as in the features of `grow.kernel_imm` with
    `n_landmarks=None`; the theorem holds for these features, too.

    The paper takes the maximum over the nodes of a tree. All pairs of clusters are together at the root, so the tree
    does not matter. Two points whose squared distance in the feature space is below 1e-14 per axis count as equal.

    With m distinct values in a column, takes time n m + k² m and memory for 3 m² numbers, for one column at a time.

    References
    ----------
    M. Fleissner, L. C. Vankadara, D. Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024,
    arXiv:2402.09881, Theorem 5 and Appendix G.

    Examples
    --------
    >>> from boxwood.kernels import Laplace
    >>> from boxwood.theory.bounds import distance_price_bound
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> ratios = distance_ratios(X, Reference.of(X, [0, 0, 1, 1]), kernel=Laplace(1.0))
    >>> round(ratios.stretch, 3), round(ratios.shrink, 3)
    (0.74, 0.632)
    >>> round(distance_price_bound(2, 1, **ratios._asdict()).value, 2)
    9.49
    """
    refuse_no_reference(reference)
    rows = Rows.of(X, sample_weight)
    refuse_no_sum(rows.weights)
    product = as_distance_kernel(kernel).fitted(rows)
    table, labels, weights = _kept_rows(rows.values, reference, rows.weights)
    k, d = int(labels.max()) + 1, table.shape[1]
    between_means, to_means = np.zeros((2, k, k)), np.zeros((2, len(table)))
    for j in range(d):
        values, index = np.unique(table[:, j].astype(np.float64), return_inverse=True)
        K = product.axis_kernel(j, values, values)
        fractions = np.zeros((len(values), k))
        np.add.at(fractions, (index, labels), weights)
        fractions /= fractions.sum(axis=0)
        means = K @ fractions
        between_means += _between_means(fractions, means)
        to_means += _to_means(K, fractions, means, index, labels)
    differ, off_mean = between_means[0] > d * _ROUNDING, to_means[0] > d * _ROUNDING
    stretch = _largest_ratio(between_means[0][differ], between_means[1][differ])
    return DistanceRatios(stretch, _largest_ratio(to_means[1][off_mean], to_means[0][off_mean]))


# ------------------------------------------------------------------------------------------------------- steps
def _tree_on(features: str) -> Condition:
    return Condition(f"the tree is Kernel IMM's on {features}, with the reference's means there as centres", "unknown")


def _kept_rows(table: Array, reference: Reference, weights: Floats | None) -> tuple[Array, Indices, Floats]:
    """Return the rows that are not left out, their clusters numbered without gaps, and their weights."""
    if len(table) != len(reference.labels):
        raise DataError(f"X has {len(table)} rows, but the reference has {len(reference.labels)}")
    all_weights = np.ones(len(table)) if weights is None else weights
    kept = reference.kept & (all_weights > 0)
    if not kept.any():
        raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
    return table[kept], np.unique(reference.labels[kept], return_inverse=True)[1], all_weights[kept]


def _between_means(fractions: Floats, means: Floats) -> Floats:
    """Return squared distances of the clusters' means, (2, k, k): in the axis's feature space, of similarities.

    IN: fractions (m, k), of each cluster's weight on each value; means (m, k), the similarities K @ fractions.
    """
    k = fractions.shape[1]
    squares = np.empty((2, k, k))
    for a in range(k):
        difference = means - means[:, [a]]
        squares[0, a] = ((fractions - fractions[:, [a]]) * difference).sum(axis=0)
        squares[1, a] = np.square(difference).sum(axis=0)
    return squares


def _to_means(K: Floats, fractions: Floats, means: Floats, index: Array, labels: Array) -> Floats:
    """Return squared distances of rows to the means of their clusters, (2, n), in the same order.

    IN: index (n,), of each row's value; others as above.
    """
    squares = np.empty((2, len(labels)))
    for c in range(fractions.shape[1]):
        members = labels == c
        values, of_row = np.unique(index[members], return_inverse=True)
        difference = K[values] - means[:, c]
        product = difference[np.arange(len(values)), values] - difference @ fractions[:, c]
        squares[:, members] = np.array([product, np.square(difference).sum(axis=1)])[:, of_row]
    return squares


def _largest_ratio(over: Floats, under: Floats) -> float:
    return float((over / under).max(initial=0.0))


_ROUNDING_OF_MIXTURES = 1e-9
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
    facts = _KernelNumbers.of(similarity, within_similarity, weights)
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
    facts = _KernelNumbers.of(similarity, within_similarity, weights)

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
class _KernelNumbers(NamedTuple):
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
        if len(within) != k or not (np.abs(within) <= 1 + _ROUNDING_OF_MIXTURES).all():
            raise DataError(f"within_similarity must be {k} numbers from -1 to 1; got {show_value(within_similarity)}")
        p: Floats = np.full(k, 1 / k) if weights is None else _shares(weights, k)
        rest, noise = 1 - float(p @ within), float(similarity.variance.max())
        factor = (1 + float(within.max())) / rest if rest > _DIGITS else math.inf
        gap = float(within.min() - similarity.tau)
        # a similarity that does not vary is 1 between any two rows of one component
        is_known = gap > _DIGITS and (noise > 0 or rest <= _DIGITS)
        alpha = max(1.0, float(k * p.max()))
        return cls(k, p, alpha, noise, float(similarity.tau), gap if is_known else 0.0, factor)

    def price(self, wrong: float) -> float:
        """Return the bound on the price, given a bound on the fraction of rows in a wrong leaf."""
        return 1 + (self.factor * min(1.0, wrong) if wrong > 0 else 0.0)

    def midpoint_limit(self, m: int) -> float:
        """Return the bound for one cut with m + 1 components, in the middle of the largest gap."""
        if self.gap <= 0:
            return 1.0
        return 4 * m * m * self.noise / (4 * m * m * self.noise + self.gap**2)


def _shares(weights: ArrayLike, k: int) -> Floats:
    given = as_vector("weights", weights)
    if len(given) != k or not (np.isfinite(given) & (given >= 0)).all() or not given.any():
        raise DataError(f"weights must be {k} finite numbers, not negative and not all 0; got {show_value(weights)}")
    scaled = given / given.max()  # a sum of large weights may overflow
    return np.asarray(scaled / scaled.sum())


def _conditions(
    facts: _KernelNumbers,
    similarity: AxisSimilarity,
    cuts: Sequence[PrototypeCut] | None,
    drawn: bool,
    limit: Callable[[PrototypeCut], float],
) -> tuple[Condition, ...]:
    separated = check_condition(
        "tau lies below the within-similarity of every component, by more than rounding", facts.gap > 0
    )
    text = "no cut puts more rows on the wrong side, expected over prototypes, than the proof allows"
    if cuts is None:
        obeyed = Condition(text, "unknown")
    else:
        for cut in cuts:
            refuse_other_kind("cuts", cut, PrototypeCut, "a fitted KernelMMDT has them as cuts_")
        whole = sum(len(cut.inside) + len(cut.outside) == facts.k for cut in cuts) == 1 and len(cuts) == facts.k - 1
        obeyed = check_condition(text, whole and all(_wrong(cut, facts, similarity) <= limit(cut) for cut in cuts))
    prototypes = drawn_trees(f"grow.kernel_mmdt with prototype='sample', for tau = {facts.tau:.6g}", drawn)
    return separated, obeyed, prototypes


def _wrong(cut: PrototypeCut, facts: _KernelNumbers, similarity: AxisSimilarity) -> float:
    """Return Cantelli's bound on the fraction of rows on the wrong side of a cut, for these components.

    It is infinite if the cut was grown from other similarities, or does not part the components as these do.
    """
    components = np.array((*cut.inside, *cut.outside))
    if cut.feature >= len(similarity.mean) or components.max() >= facts.k:
        return math.inf
    means = similarity.mean[cut.feature, cut.component, components]
    known = similarity.mean[cut.feature, cut.component, [cut.component, cut.partner]]
    is_same = np.allclose(known, (cut.within, cut.similarity), rtol=_ROUNDING_OF_MIXTURES, atol=0)
    if not is_same or not np.array_equal(means >= cut.level, np.arange(len(components)) < len(cut.inside)):
        return math.inf
    variances = similarity.variance[cut.feature, cut.component, components]
    totals = variances + (cut.level - means) ** 2
    fractions = np.divide(variances, totals, out=np.zeros(len(components)), where=variances > 0)
    return float(facts.weights[components] @ fractions) / (1 + _ROUNDING_OF_MIXTURES)
