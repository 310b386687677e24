"""Two clusters against each other: the short rules that part them on their rows alone, and how their columns differ."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.errors import DataError
from boxwood.explanation.measure.held_out import with_rows_in_memory
from boxwood.explanation.measure.line_search import find_rules
from boxwood.explanation.measure.lines import StandaloneRule
from boxwood.explanation.measure.profile import measure_profile
from boxwood.explanation.records import CategoryColumn, NumberColumn, Profile
from boxwood.reference import Reference
from boxwood.reference.labels import places_of
from boxwood.words.values import cluster_name

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree

OTHERS = "all others"
CONTRASTS = "contrasts"
"""What keeps those that were asked for, by the places of both clusters; None is that of all others."""
_SURE = 0.95


class Difference(NamedTuple):
    """How a column differs between two clusters: by the mean of its numbers, or by the share of one of its categories.

    Parameters
    ----------
    column : str
        Name of the column.
    value : category, default=None
        Of a column of categories, the one whose share differs most in standard deviations; None for numbers.
    first, second : float
        The mean of each cluster, or its share with the value. Missing numbers do not count.
    difference : float
        `first - second`.
    low, high : float or None
        Interval of 95% for the difference, were other rows of the same two clusters taken: of means by Welch, of shares
        by Newcombe. None for means of which one is that of a single row. It says nothing on whether the clusters are
        real, as clusters may be made of these columns. Weighted rows count as (Σw)²/Σw² rows.
    effect : float
        The difference in standard deviations of the column, or of having the value or not, among the rows of both.
    """

    column: str
    value: Hashable
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    effect: float


class Contrast(NamedTuple):
    """Two clusters against each other; printing it shows sentences. Made by `Explanation.contrast`.

    Parameters
    ----------
    names : tuple of 2 (str or number)
        Names of both; the second is "all others" if the first was asked for alone.
    sizes : tuple of 2 float
        Number of rows of each, or weight if rows are weighted.
    rules : tuple of 2 (StandaloneRule or None)
        For each of both the shortest rule that says which of these rows are its own. Clusters have the numbers 0 and 1
        there. Shares are of these rows alone. None where no rule was found.
    differences : tuple of Difference
        One for each column, the largest effect first. Columns without a number in one of both are left out.
    profile : Profile
        Every column in both.
    is_of_sample : bool
        Whether a sample of the rows was looked at, as a table in batches is not in memory.
    """

    names: tuple[Hashable, Hashable]
    sizes: tuple[float, float]
    rules: tuple[StandaloneRule | None, StandaloneRule | None]
    differences: tuple[Difference, ...]
    profile: Profile
    is_of_sample: bool = False

    def __str__(self) -> str:
        from boxwood.words.contrast import contrast_text

        return contrast_text(self)

    def _repr_html_(self) -> str:
        from boxwood.render.page.contrast import contrast_in_notebook

        return contrast_in_notebook(self)


def contrast_of(ex: MeasuredTree, first: Hashable, second: Hashable | None) -> Contrast:
    """See `Explanation.contrast`."""
    ex._known()
    places = _places(ex, first, second)
    contrasts = ex._kept.setdefault(CONTRASTS, {})
    if places not in contrasts:
        contrasts[places] = _make_contrast(ex, *places)
    return contrasts[places]  # type: ignore[no-any-return]


def _make_contrast(ex: MeasuredTree, one_place: int, other_place: int | None) -> Contrast:
    here, is_all = with_rows_in_memory(ex)
    pair = _pair_of(here, one_place, other_place)
    profile, rows = measure_profile(pair), pair._known()
    found = [_difference(one, rows) for one in profile]
    differences = sorted((one for one in found if one is not None), key=lambda one: -abs(one.effect))
    one, other = pair.clusters
    rules = find_rules(pair, 3, None, None, None).lines
    return Contrast(
        (one.name, other.name), (one.size, other.size), (rules[0], rules[1]), tuple(differences), profile, not is_all
    )


def _places(ex: MeasuredTree, first: Hashable, second: Hashable | None) -> tuple[int, int | None]:
    (one,) = places_of([first], ex.names, cluster_name)
    if second is None:
        return one, None
    (other,) = places_of([second], ex.names, cluster_name)
    if one == other:
        raise DataError(f"a contrast takes two clusters; got {cluster_name(ex.names[one])} twice")
    return one, other


def _pair_of(ex: MeasuredTree, one: int, other: int | None) -> MeasuredTree:
    """Return an explanation of two clusters on their rows alone; IN: other: None takes all other clusters as one."""
    labels = ex._known().task.reference.labels
    of_other = (labels >= 0) & (labels != one) if other is None else labels == other
    names = (ex.names[one], OTHERS if other is None else ex.names[other])
    return two_groups(ex, np.where(labels == one, 0, np.where(of_other, 1, -1)), names)


def two_groups(ex: MeasuredTree, both: Indices, names: tuple[Hashable, Hashable]) -> MeasuredTree:
    """Return an explanation of two groups of rows as clusters, so that rules and profile are those of these rows.

    IN: both (n,): 0 or 1 for each row, -1 for one of neither.
    """
    rows = ex._known()
    task = rows.task
    centers = np.zeros((2, task.reference.centers.shape[1]))  # nothing of what follows asks for them
    task = replace(task, reference=Reference(both, centers), mixture=None)
    evidence = replace(rows, task=task, whole=None, outcomes=None)
    sizes = [_weight(evidence, task.kept & (both == i)) for i in (0, 1)]
    if min(sizes) == 0:
        raise DataError(f"{cluster_name(names[sizes.index(0)])} has no row here; a contrast needs rows of both")
    clusters = tuple(
        ex.clusters[0]._replace(cluster=i, name=names[i], size=sizes[i], share=sizes[i] / sum(sizes)) for i in (0, 1)
    )
    complete = ex._with_details(n_incomplete=0)
    return replace(complete, clusters=clusters, n_rows=task.n_kept, n_left_out=0, _evidence=evidence, _kept={})


def _weight(rows: Evidence, which: Bools) -> float:
    weights = rows.task.rows.weights
    return float(which.sum() if weights is None else weights[which].sum())


def _difference(column: NumberColumn | CategoryColumn, rows: Evidence) -> Difference | None:
    """Return how a column differs; None if one of both clusters has no value."""
    if isinstance(column, CategoryColumn):
        return _of_shares(column, _effective_sizes(rows, rows.task.kept))
    j = rows.coordinates.columns.index(column.column)
    known = rows.task.kept & np.isfinite(np.asarray(rows.coordinates.table.values[:, j], dtype=np.float64))
    return _of_means(column, _effective_sizes(rows, known))


def _effective_sizes(rows: Evidence, which: Bools) -> tuple[float, float]:
    """Return how many rows of equal weight some rows of each cluster are worth."""
    labels, weights = rows.task.reference.labels, rows.task.rows.weights
    if weights is None:
        return float((which & (labels == 0)).sum()), float((which & (labels == 1)).sum())
    own = [weights[which & (labels == i)] for i in (0, 1)]
    worth = [float(np.square(w.sum() / w.max()) / np.square(w / w.max()).sum()) if len(w) else 0.0 for w in own]
    return worth[0], worth[1]


def _of_means(column: NumberColumn, n: Sequence[float]) -> Difference | None:
    first, second = column.clusters
    if first is None or second is None or first.difference is None:
        return None
    unit = column.everyone.deviation  # in which squares are near 1
    difference = first.mean - second.mean
    spread = _welch([group.deviation / (unit or 1.0) for group in (first, second)], n)
    low, high = (None, None) if spread is None else (difference - spread * unit, difference + spread * unit)
    return Difference(column.column, None, first.mean, second.mean, difference, low, high, first.difference)


def _welch(deviations: Sequence[float], n: Sequence[float]) -> float | None:
    """Return half the width of the interval of a difference of means; None if a deviation is that of one row."""
    from scipy.special import stdtrit

    if min(n) < 1 + 1e-9:
        return None
    squares = [deviation**2 / (size - 1) for deviation, size in zip(deviations, n, strict=True)]
    if sum(squares) == 0:
        return 0.0
    freedom = sum(squares) ** 2 / sum(square**2 / (size - 1) for square, size in zip(squares, n, strict=True))
    return float(stdtrit(freedom, (1 + _SURE) / 2)) * math.sqrt(sum(squares))


def _of_shares(column: CategoryColumn, n: Sequence[float]) -> Difference | None:
    first, second = column.clusters
    if first is None or second is None or first.differences is None:
        return None
    effects: Floats = np.abs(first.differences)
    code = len(effects) - 1 - int(np.argmax(effects[::-1]))  # of two values True, as both differ by as much
    one, other = first.shares[code], second.shares[code]
    low, high = _newcombe((one, other), n)
    effect = first.differences[code]
    return Difference(column.column, column.categories.value(code), one, other, one - other, low, high, effect)


def _newcombe(shares: tuple[float, float], n: Sequence[float]) -> tuple[float, float]:
    """Return the interval of a difference of shares, which Wilson's intervals of both give."""
    from scipy.special import ndtri

    z = float(ndtri((1 + _SURE) / 2))
    ends = []
    for share, size in zip(shares, n, strict=True):
        middle, half = share + z**2 / (2 * size), z * math.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
        ends.append(((middle - half) / (1 + z**2 / size), (middle + half) / (1 + z**2 / size)))
    (low, high), (its_low, its_high) = ends
    one, other = shares
    return one - other - math.hypot(one - low, its_high - other), one - other + math.hypot(high - one, other - its_low)
