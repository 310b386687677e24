"""Separability of a mixture's components by axis-aligned cuts, and checks for components far from Gaussian.

Fleissner, Zarvandi and Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees" and "Decision Trees for
Interpretable Clusters in Mixture Models and Deep Representations".
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats, Indices
from boxwood._validation import Rows, as_positions, show_value
from boxwood.errors import DataError
from boxwood.reference import Mixture, encode_labels
from boxwood.reference.labels import check_length
from boxwood.reference.mixture import refuse_no_mixture, sigma_of
from boxwood.tree import ThresholdTree

_FACTOR = {"variance": 1.0, "subgaussian": 0.5}


class ExplainabilityToNoise(NamedTuple):
    """Explainability-to-noise ratio, with the pair of components and the axis that attain it."""

    value: float
    pair: tuple[int, int]
    axis: int


class SignalToNoise(NamedTuple):
    """Signal-to-noise ratio, with the pair of components that attains it."""

    value: float
    pair: tuple[int, int]


def explainability_to_noise(
    mixture: Mixture, *, convention: str = "variance", pooling: str = "max", sigma: ArrayLike | None = None
) -> ExplainabilityToNoise:
    """Return the explainability-to-noise ratio: the squared distance of the closest components, on their best axis.

    It is the minimum over pairs of components of the maximum over axes of (difference of means)² / sigma². It is large
    if a single cut can separate any two components: the larger it is, the fewer rows a tree must put into wrong leaves.

    Parameters
    ----------
    mixture : Mixture
        Components; at least two.
    convention : {"variance", "subgaussian"}, default="variance"
        "variance" divides by sigma², "subgaussian" by 2 sigma². Each bound of `boxwood.theory` states which it uses.
    pooling : {"max", "weighted"}, default="max"
        How the variances of the components along an axis become one sigma²; see `Mixture.pooled_variances`. The
        guarantees need "max".
    sigma : array-like of shape (d,), default=None
        Standard deviations (never variances), or sub-Gaussian parameters of the same unit, instead of the pooled ones.

    Returns
    -------
    ExplainabilityToNoise
        `value` has no unit. It is infinite if every pair differs on an axis without variance, and 0 if two components
        have equal means. `pair` is the first pair that attains it, `axis` the first axis that attains it for that pair.
        Scaling or shifting an axis changes none of the three.

    Raises
    ------
    DataError
        If there is only one component, or `sigma` is not one finite number per axis.
    ValueError
        If the convention or the pooling is unknown.

    Notes
    -----
    Takes time k² d and memory k d. With snr the signal-to-noise ratio, always holds: `snr / d <= enr <= snr`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", Definition 2
    (variance); the same, "Decision Trees for Interpretable Clusters in Mixture Models and Deep Representations",
    Definition 1 (subgaussian). The conventions differ by the factor 2 exactly.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> mixture = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3)
    >>> explainability_to_noise(mixture)
    ExplainabilityToNoise(value=25.0, pair=(1, 2), axis=1)
    >>> explainability_to_noise(mixture, convention="subgaussian").value
    12.5
    """
    factor, noise = _factor(convention), _noise(mixture, pooling, sigma)
    best = np.inf, (0, 1), 0
    for first in range(len(mixture.weights) - 1):
        ratios = _ratios(mixture, first, noise)
        largest = ratios.max(axis=1)
        other = int(largest.argmin())
        if first == 0 or largest[other] < best[0]:
            best = float(largest[other]), (first, first + 1 + other), int(ratios[other].argmax())
    return ExplainabilityToNoise(factor * best[0], *best[1:])


def signal_to_noise(
    mixture: Mixture, *, convention: str = "variance", pooling: str = "max", sigma: ArrayLike | None = None
) -> SignalToNoise:
    """Return the signal-to-noise ratio: the squared distance of the closest components, over all axes.

    It is `explainability_to_noise` with the sum over axes in place of the maximum. It counts all axes, while a single
    cut uses only one. Always holds: `snr / d <= enr <= snr`. Parameters, errors, time and memory are those of
    `explainability_to_noise`.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 2.4.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> signal_to_noise(Mixture([0.5, 0.5], [[0, 0], [3, 4]], [[1, 1], [1, 1]]))
    SignalToNoise(value=25.0, pair=(0, 1))
    """
    factor, noise = _factor(convention), _noise(mixture, pooling, sigma)
    best = np.inf, (0, 1)
    for first in range(len(mixture.weights) - 1):
        sums = _ratios(mixture, first, noise).sum(axis=1)
        other = int(sums.argmin())
        if first == 0 or sums[other] < best[0]:
            best = float(sums[other]), (first, first + 1 + other)
    return SignalToNoise(factor * best[0], best[1])


def _factor(convention: str) -> float:
    if convention not in _FACTOR:
        raise ValueError(f"convention must be 'variance' or 'subgaussian', got {show_value(convention)}")
    return _FACTOR[convention]


def _noise(mixture: Mixture, pooling: str, sigma: ArrayLike | None) -> Floats:
    refuse_no_mixture(mixture)
    if mixture.n_components < 2:
        raise DataError("one component has no other to be separated from; give a mixture of at least two")
    return sigma_of(mixture, pooling, sigma)


def _ratios(mixture: Mixture, first: int, sigma: Floats) -> Floats:
    """Return the squared distance of component `first` to each later one, in sigmas, shape (k - first - 1, d)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        difference = np.abs(mixture.means[first + 1 :] - mixture.means[first])
        return np.where(difference > 0, (difference / sigma) ** 2, 0.0)


FEWEST = 20  # rows of a component; with fewer, the verdict is "few rows"
MOST = 20_000  # most rows of a component that are read; far fewer suffice for the limits below
LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])  # of the quantiles
QUARTILES = 1.3489795003921634  # distance of the quartiles of a Gaussian, in standard deviations
MIDDLE = 0.5263202179066186  # distance of the quartiles of a Gaussian, divided by that of its outer deciles
ROUNDING = 1e-9  # relative rounding error of a sum of weights that is compared to a level


class Tail(NamedTuple):
    """The distribution of one component along one column, by its quantiles; see `tail_check` for the limits.

    Parameters
    ----------
    component, axis : int
        Cluster, in ascending order of the labels, and column.
    n_rows : float
        Effective number of rows that were read, `sum(w)**2 / sum(w**2)`; their number if all weigh the same.
    beyond : float
        Fraction of rows further from the median than three standard deviations of a Gaussian with the same quartiles;
        0.0027 for a Gaussian.
    skewness : float
        `(q90 + q10 - 2 q50) / (q90 - q10)`, from -1 to 1; 0 for a Gaussian.
    middle : float
        `(q75 - q25) / (q90 - q10)`, from 0 to 1; 0.526 for a Gaussian, 1 for two humps of equal size.
    verdict : str
        "close", "heavy-tailed", "skewed" or "two-humped"; "few rows" if there are too few to decide.
    """

    component: int
    axis: int
    n_rows: float
    beyond: float
    skewness: float
    middle: float
    verdict: str

    @property
    def is_far(self) -> bool:
        """Whether the component is far from Gaussian along the column."""
        return self.verdict not in ("close", "few rows")


def tail_check(
    X: ArrayLike, labels: Any, *, columns: Iterable[int] | None = None, sample_weight: ArrayLike | None = None
) -> tuple[Tail, ...]:
    """Return for each component and column how close the rows are to a Gaussian.

    Use it before growing a tree from means and variances alone, as `grow.mmdt` does. If components have heavy tails,
    are skewed or have two humps, a tree grown from the rows is the better choice (`grow.cart`, `grow.imm`). The check
    compares quantiles, so a few outliers do not change its verdict.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    labels : array-like of shape (n,)
        Component of each row, of any hashable type; -1 leaves a row out.
    columns : iterable of int, default=None
        Columns to check, negative ones counted from the last; None checks all.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row. The limits below take `sum(w)**2 / sum(w**2)` as the number of rows.

    Returns
    -------
    tuple of Tail
        One for each component and column, in the order of components, then of columns.

    Raises
    ------
    DataError
        If rows, labels or weights cannot be used, or do not fit together, or if `columns` holds a column that `X` does
        not have.

    Notes
    -----
    With n rows, a component is two-humped if `middle` is above both 0.68 and 0.526 + 2 / sqrt(n). Else it is skewed if
    the absolute `skewness` is above both 0.25 and 3.8 / sqrt(n). Else it is heavy-tailed if `beyond` is above
    0.01 + 6 / n. A component of fewer than 20 rows is never called far from Gaussian. A true Gaussian of 20 rows or
    more is called so with a probability of at most 1 in 1000 for each column, and almost never from a thousand rows on.
    The constants 0.68, 0.25 and 0.01 accept clusters that would be Gaussian if the border to a neighbour had not cut
    off a tail.

    If a component has more than 20 000 rows, 20 000 evenly spaced ones are read. With m rows read, takes time m log m
    for each component and column.

    References
    ----------
    D. V. Hinkley, "On power transformations to symmetry", Biometrika 62 (1975), doi:10.1093/biomet/62.1.101: skewness
    by quantiles.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=1000), rng.exponential(size=1000)])
    >>> [(tail.axis, tail.verdict) for tail in tail_check(X, np.zeros(1000, dtype=int))]
    [(0, 'close'), (1, 'skewed')]
    """
    rows_of_all = Rows.of(X, sample_weight)
    table, weights = rows_of_all.values, rows_of_all.weights
    codes, names = encode_labels(labels)
    check_length(codes, len(table))
    d = table.shape[1]
    checked = list(range(d))
    if columns is not None:
        checked = np.arange(d)[as_positions("columns", list(columns), d, least=-d)].tolist()
    pairs = [(k, j) for k in range(len(names)) for j in checked]
    return _tails(table, _rows_of(codes, len(names), weights), weights, pairs)


def far_tails(
    X: Array, labels: Indices, tree: ThresholdTree, *, sample_weight: Floats | None = None, n_jobs: int | None = -1
) -> tuple[Tail, ...]:
    """Return the results of `tail_check` that are far from Gaussian, on the columns that bound a component's leaves.

    On other columns the tree does not use the component's distribution. `labels` are the tree's clusters, -1 for rows
    left out.
    """
    rows_of = _rows_of(labels, int(labels.max(initial=-1)) + 1, sample_weight)
    boxes = zip(tree.leaf_clusters.tolist(), tree.boxes(), strict=True)
    bounded = {(k, j) for k, box in boxes if k < len(rows_of) and len(rows_of[k]) >= FEWEST for j in box}
    return tuple(tail for tail in _tails(X, rows_of, sample_weight, sorted(bounded), n_jobs=n_jobs) if tail.is_far)


def _tails(
    X: Array, rows_of: list[Indices], weights: Floats | None, pairs: list[tuple[int, int]], *, n_jobs: int | None = -1
) -> tuple[Tail, ...]:
    def check(pair: tuple[int, int]) -> Tail:
        k, j = pair
        values = X[rows_of[k], j].astype(np.float64)
        return _tail(k, j, values, np.ones(len(values)) if weights is None else weights[rows_of[k]])

    return tuple(map_tasks(check, pairs, n_jobs=n_jobs))


def _rows_of(codes: Indices, k: int, weights: Floats | None) -> list[Indices]:
    """Return the rows of each component that have weight, at most `MOST` of them, evenly spaced."""
    codes = codes.astype(np.int16) if k < 2**15 else codes  # numpy sorts these in a time that grows like n
    codes = codes if weights is None else np.where(weights > 0, codes, -1)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes + 1, minlength=k + 1))
    runs = [order[start:end] for start, end in pairwise(ends)]
    return [run if len(run) <= MOST else run[np.arange(MOST) * len(run) // MOST] for run in runs]


def _tail(component: int, axis: int, values: Floats, weights: Floats) -> Tail:
    if len(values) == 0:
        return Tail(component, axis, 0.0, 0.0, 0.0, MIDDLE, "few rows")
    weights = weights / weights.max()
    n = float(weights.sum() ** 2 / np.square(weights).sum())
    values = np.ldexp(values, -np.frexp(np.abs(values).max())[1])  # differences of huge values stay finite
    low, first, median, third, high = _quantiles(values, weights)
    far = np.abs(values - median) > 3 * (third - first) / QUARTILES
    beyond = float(weights[far].sum() / weights.sum())
    width = high - low
    skewness = float((high - median) - (median - low)) / width if width > 0 else 0.0
    middle = float(third - first) / width if width > 0 else MIDDLE
    return Tail(component, axis, n, beyond, skewness, middle, _verdict(n, beyond, skewness, middle))


def _quantiles(values: Floats, weights: Floats) -> Floats:
    """Return the quantile of each level; if every value of a gap is one, the midpoint of the gap."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    wanted = LEVELS * total[-1]
    slack = ROUNDING * total[-1]
    last = len(values) - 1
    lower = values[order[np.minimum(np.searchsorted(total, wanted - slack, side="left"), last)]]
    upper = values[order[np.minimum(np.searchsorted(total, wanted + slack, side="right"), last)]]
    return np.asarray(lower + (upper - lower) / 2)


def _verdict(n: float, beyond: float, skewness: float, middle: float) -> str:
    if n < FEWEST * (1 - ROUNDING):
        return "few rows"
    if middle > max(0.68, MIDDLE + 2 / np.sqrt(n)):
        return "two-humped"
    if abs(skewness) > max(0.25, 3.8 / np.sqrt(n)):
        return "skewed"
    return "heavy-tailed" if beyond > 0.01 + 6 / n else "close"
