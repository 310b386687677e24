"""Tail check: which components of a clustering are far from Gaussian, and along which columns."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_table, as_weights
from boxwood.metrics._checks import check_length
from boxwood.reference import encode_labels
from boxwood.tree import ThresholdTree

__all__ = ["Tail", "far_tails", "tail_check"]

FEWEST = 20  # rows of a component; of fewer nothing is said
MOST = 20_000  # rows of a component that are looked at: the limits leave no doubt far below
SHARES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
QUARTILES = 1.3489795003921634  # from the first to the third quartile of a Gaussian, in standard deviations
MIDDLE = 0.5263202179066186  # the same over the distance from the first to the ninth decile
ROUNDING = 1e-9  # of sums of weights that should reach a share


class Tail(NamedTuple):
    """How one component lies along one column, by its quantiles; see `tail_check` for the limits.

    Parameters
    ----------
    component, axis : int
        Cluster, in ascending order of the labels, and column.
    n_rows : float
        Rows looked at that say as much as these do by their weights; their number where all weigh the same.
    beyond : float
        Share of rows further from the median than three standard deviations of a Gaussian with the same quartiles;
        0.0027 for a Gaussian.
    skewness : float
        `(q90 + q10 - 2 q50) / (q90 - q10)`, from -1 to 1; 0 for a Gaussian.
    middle : float
        `(q75 - q25) / (q90 - q10)`, from 0 to 1; 0.526 for a Gaussian, 1 for two equal heaps.
    verdict : str
        "close", "heavy-tailed", "skewed" or "two-humped"; "few rows" where nothing can be said.
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
        """Whether the rows are far from Gaussian."""
        return self.verdict not in ("close", "few rows")


def tail_check(
    X: ArrayLike,
    labels: Any,
    *,
    columns: Iterable[int] | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Tail, ...]:
    """Return for each component and column whether the rows lie as those of a Gaussian would.

    Use it before a tree that rests on means and variances alone, as that of `grow.mmdt` does: where components have
    heavy tails, are skewed or fall into two heaps, a tree grown from the rows serves better (`grow.cart`, `grow.imm`).
    Quantiles decide, so a few rows gone astray change nothing.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    labels : array-like of shape (n,)
        Component of each row, of any hashable type; -1 leaves a row out.
    columns : iterable of int, default=None
        Columns to look at; None is all.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row. The limits allow for `sum(w)**2 / sum(w**2)` rows.

    Returns
    -------
    tuple of Tail
        One for each component and column, components first.

    Raises
    ------
    DataError
        If rows, labels and weights cannot be used or do not fit together.
    IndexError
        If there is no such column.

    Notes
    -----
    With n rows, a component is two-humped if `middle` is above 0.68 and 0.526 + 2 / sqrt(n), else skewed if the size of
    `skewness` is above 0.25 and 3.8 / sqrt(n), else heavy-tailed if `beyond` is above 0.01 + 6 / n. A true Gaussian of
    20 rows or more is called far with a probability of at most 1 in 1000 for a component and column, and hardly ever
    from a thousand rows on; the fixed parts of the limits let clusters pass that are Gaussian but for what a
    neighbour's border cuts off. Fewer than 20 rows are never called far.

    Of a component with more than 20 000 rows that many are looked at, evenly spaced. Takes time m log m for each
    component and column, where m is their number.

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
    table = as_table(X)
    codes, names = encode_labels(labels)
    check_length(codes, len(table))
    weights = as_weights(sample_weight, len(table))
    wanted = np.arange(table.shape[1])[list(range(table.shape[1]) if columns is None else columns)].tolist()
    pairs = [(k, j) for k in range(len(names)) for j in wanted]
    return _tails(table, _rows_of(codes, len(names), weights), weights, pairs)


def far_tails(
    X: Array,
    labels: Indices,
    tree: ThresholdTree,
    *,
    sample_weight: Floats | None = None,
    n_jobs: int | None = -1,
) -> tuple[Tail, ...]:
    """Return what `tail_check` finds far from Gaussian on the columns that bound a component's leaves.

    Elsewhere it does the tree no harm. `labels` are numbers of the tree's clusters, -1 for rows left out.
    """
    rows_of = _rows_of(labels, int(labels.max(initial=-1)) + 1, sample_weight)
    boxes = zip(tree.leaf_clusters.tolist(), tree.boxes(), strict=True)
    bounded = {(k, j) for k, box in boxes if k < len(rows_of) and len(rows_of[k]) >= FEWEST for j in box}
    return tuple(tail for tail in _tails(X, rows_of, sample_weight, sorted(bounded), n_jobs=n_jobs) if tail.is_far)


def _tails(
    X: Array,
    rows_of: list[Indices],
    weights: Floats | None,
    pairs: list[tuple[int, int]],
    *,
    n_jobs: int | None = -1,
) -> tuple[Tail, ...]:
    def check(pair: tuple[int, int]) -> Tail:
        k, j = pair
        values = X[rows_of[k], j].astype(np.float64)
        return _checked(k, j, values, np.ones(len(values)) if weights is None else weights[rows_of[k]])

    return tuple(map_tasks(check, pairs, n_jobs=n_jobs))


def _rows_of(codes: Indices, k: int, weights: Floats | None) -> list[Indices]:
    """Return the rows with weight of each component, or as many of them as are looked at."""
    codes = codes.astype(np.int16) if k < 2**15 else codes  # numpy sorts these in a time that grows like n
    codes = codes if weights is None else np.where(weights > 0, codes, -1)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes + 1, minlength=k + 1))
    runs = [order[start:end] for start, end in pairwise(ends)]
    return [run if len(run) <= MOST else run[np.arange(MOST) * len(run) // MOST] for run in runs]


def _checked(component: int, axis: int, values: Floats, weights: Floats) -> Tail:
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
    """Return the values at the shares; where a whole gap lies at a share, the midpoint of the gap."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = SHARES * reached[-1]
    slack = ROUNDING * reached[-1]
    last = len(values) - 1
    lower = values[order[np.minimum(np.searchsorted(reached, wanted - slack, side="left"), last)]]
    upper = values[order[np.minimum(np.searchsorted(reached, wanted + slack, side="right"), last)]]
    return np.asarray(lower + (upper - lower) / 2)


def _verdict(n: float, beyond: float, skewness: float, middle: float) -> str:
    if n < FEWEST * (1 - ROUNDING):
        return "few rows"
    if middle > max(0.68, MIDDLE + 2 / np.sqrt(n)):
        return "two-humped"
    if abs(skewness) > max(0.25, 3.8 / np.sqrt(n)):
        return "skewed"
    return "heavy-tailed" if beyond > 0.01 + 6 / n else "close"
