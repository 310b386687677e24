"""What may be written of clusters: nothing of those of few rows but their size and their rules.

A page and a model file are passed on, so they hold no value of a single row. `profile_told`, `totals_told` and
`spreads_told` leave out clusters of few rows, and are of the rows of the others alone: what is said of all rows, less
what is said of the others, would tell what was left out. Words of few rows are told where rules need them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._dates import Dates
from boxwood._types import Floats
from boxwood.axes import Categories
from boxwood.explanation.records import (
    FEW,
    CategoryColumn,
    ClusterSummary,
    ClusterTotals,
    ColumnProfile,
    NumberColumn,
    Totals,
)

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measure.spreads import Spread
    from boxwood.explanation.measured_tree import MeasuredTree


def count_rows_of_clusters(ex: MeasuredTree) -> Floats:
    """Return the number of rows of each cluster, shape (k,); their weight where a weighted model holds no rows.

    Of rows that were drawn from a long table it is the number of these, as profiles are of them.
    """
    if ex._evidence is None:
        return np.array([cluster.size for cluster in ex.clusters], dtype=np.float64)
    task = ex._evidence.task
    if task.in_batches:
        return np.asarray(task.overview.sizes, dtype=np.float64)
    return np.bincount(task.reference.labels[task.kept], minlength=ex.n_clusters).astype(np.float64)


def of_few_rows(ex: MeasuredTree, least: int = FEW) -> list[int]:
    """Return the clusters whose values are not told: they have fewer rows than `least`, but not none."""
    rows = count_rows_of_clusters(ex)
    found: list[int] = np.flatnonzero((rows > 0) & (rows < least)).tolist()
    return found


def profile_told(ex: MeasuredTree, least: int = FEW) -> tuple[ColumnProfile, ...]:
    """Return the profile, which was asked for before, of the clusters of `least` rows or more, in the rows of these.

    A column of which few of these rows have a value is left out, and so are words of few rows: they count as others.
    """
    from boxwood.explanation.measure.profile import profile_on

    rows, hidden = count_rows_of_clusters(ex), of_few_rows(ex, least)
    rows[hidden] = 0.0
    if not rows.any():
        return ()
    found: Iterable[ColumnProfile] = ex._kept.get("profile", ())
    if hidden and ex._evidence is not None:
        found = (
            _with_dates(one, dict(ex.details.dates)) for one in profile_on(_of_others(ex._evidence, hidden), hidden)
        )
    sizes = np.array([cluster.size if n else 0.0 for cluster, n in zip(ex.clusters, rows.tolist(), strict=True)])
    told: list[ColumnProfile | None] = []
    for one in found:
        if not isinstance(one, CategoryColumn):
            told.append(_with_enough_values(one, rows, least))
        else:
            told.append(_with_frequent_words(one, _rows_of_words(ex, one, rows), sizes, least))
    return tuple(one for one in told if one is not None)


def totals_told(ex: MeasuredTree, least: int = FEW) -> Totals | None:
    """Return the sums that were asked for, without those of fewer rows than `least`; shares are of what is told."""
    found: Totals | None = ex._kept.get("totals")
    if found is None:
        return None
    rows = count_rows_of_clusters(ex).tolist()
    known = (_rows_with_value(n, own, one) for n, own, one in zip(rows, ex.clusters, found.clusters, strict=True))
    is_told = [n >= least or not rows_there for n, rows_there in zip(known, rows, strict=True)]
    if all(is_told):
        return found
    own = [one.total if told else None for one, told in zip(found.clusters, is_told, strict=True)]
    total = math.fsum(x for x in own if x is not None)
    has_shares = total > 0 and all(x is None or x >= 0 for x in own)
    clusters = tuple(
        ClusterTotals(None, None, None) if x is None else one._replace(total=x, share=x / total if has_shares else None)
        for x, one in zip(own, found.clusters, strict=True)
    )
    return found._replace(total=total, clusters=clusters)


def categories_told(ex: MeasuredTree) -> dict[str, Categories]:
    """Return the words of columns: all that rules need, and of columns that no rule tests those of `FEW` rows."""
    known, evidence = dict(ex.details.categories), ex._in_memory
    if evidence is None:
        return known
    rows = np.flatnonzero(evidence.task.kept)
    for name in known.keys() - {ex.columns[j] for j in ex.tree.features.tolist()}:
        codes = evidence.coordinates.table.values[rows, ex.columns.index(name)]
        counts = np.bincount(codes.astype(np.intp), minlength=len(known[name].domain))
        words = tuple(value for value, n in zip(known[name].values, counts.tolist(), strict=False) if n >= FEW)
        if not words:
            del known[name]
        elif len(words) < len(known[name].values):
            known[name] = known[name]._replace(values=words, others=True)
    return known


def spreads_told(ex: MeasuredTree) -> dict[int, Spread] | None:
    """Return the spreads of the columns that the tree tests, in the rows of clusters that are not of few rows.

    Rules name values by those of all rows, so where there are such clusters, whether some are below 0 is not told.
    """
    from boxwood.explanation.measure.spreads import spreads_of

    hidden, evidence = of_few_rows(ex), ex._in_memory
    if evidence is None or not hidden or len(hidden) == ex.n_clusters:
        return ex._spreads()
    others = _of_others(evidence, hidden)
    found = spreads_of(others.task, others.coordinates.table.values, ex._spreads() or {})
    return {j: spread._replace(signed=None) for j, spread in found.items()}


def range_told(ex: MeasuredTree, column: int, least: int = FEW) -> tuple[float, float] | None:
    """Return between which numbers a column is, so far out and so round that they show no row; None if not known.

    Fewer rows than `least` are below the first one, and as few are above the second: those at the ends change nothing.
    The ends lie a quarter of the others' spread further out, and none is below 0 where so few values are.
    """
    evidence = ex._in_memory
    if evidence is None:
        return None
    shown = evidence.task.kept & (count_rows_of_clusters(ex) >= least)[evidence.task.reference.labels]
    x = np.asarray(evidence.coordinates.table.values[shown, column], dtype=np.float64)
    x = np.sort(x[np.abs(x) < _HUGE])
    if len(x) < 2 * least or not 0 < (spread := x[-least] - x[least - 1]) < _HUGE:
        return None
    power = math.floor(math.log10(spread))
    step, digits = 10.0**power / (1 if power == 0 else 2), 1 - power
    low = round(math.floor((x[least - 1] - spread / 4) / step) * step, digits)
    high = round(math.ceil((x[-least] + spread / 4) / step) * step, digits)
    return 0.0 if low < 0 <= x[least - 1] else low, high


# ----------------------------------------------------------------------------------------------------------- steps
def _of_others(evidence: Evidence, hidden: Collection[int]) -> Evidence:
    """Return the rows in memory that are in no hidden cluster; rows in batches stay as they are."""
    if evidence.in_batches:
        return evidence
    return evidence.of_rows(np.flatnonzero(~np.isin(evidence.task.reference.labels, list(hidden))))


def _with_dates(column: ColumnProfile, dates: Mapping[str, Dates]) -> ColumnProfile:
    is_dated = isinstance(column, NumberColumn) and column.column in dates
    return column._replace(dates=dates[column.column]) if is_dated else column  # type: ignore[call-arg]


def _rows_with_value(n: float, cluster: ClusterSummary, one: ClusterTotals) -> float:
    """Return about how many rows of a cluster a sum is of, by its mean; all of its `n` rows where that is 0."""
    if not one.mean or one.total is None or not cluster.size:
        return n if one.mean is not None else 0.0
    return round(n * (one.total / one.mean) / cluster.size, 6)


def _with_enough_values(column: NumberColumn, rows: Floats, least: int) -> NumberColumn | None:
    """Return a column without groups of which few rows have a value.

    IN: rows (k,): of the clusters, 0 for hidden ones.
    """
    shares = [1 - (group.missing or 0.0) if group is not None else 0.0 for group in column.clusters]
    known = np.round(rows * shares, 6)
    if known.sum() < least:
        return None
    groups = zip(column.clusters, known.tolist(), strict=True)
    return column._replace(clusters=tuple(group if n >= least else None for group, n in groups))


def _rows_of_words(ex: MeasuredTree, column: CategoryColumn, rows: Floats) -> Floats:
    """Return the number of rows of each word in clusters that are not hidden; in memory, whatever they weigh."""
    n_codes = len(column.categories.domain)
    if not ex.details.weighted or ex._in_memory is None:
        none = np.zeros(n_codes)
        shares = np.array([none if one is None else one.shares for one in column.clusters])
        return np.asarray(np.round(rows @ shares, 6))
    task, table = ex._in_memory.task, ex._in_memory.coordinates.table.values
    shown = np.flatnonzero(task.kept & (rows > 0)[task.reference.labels])
    codes = table[shown, ex.columns.index(column.column)].astype(np.intp)
    return np.bincount(codes, minlength=n_codes).astype(np.float64)


def _with_frequent_words(column: CategoryColumn, n: Floats, sizes: Floats, least: int) -> CategoryColumn | None:
    """Return a column in which words of fewer rows than `least` count as other values.

    IN: n: rows of each word; sizes (k,): weight of the clusters, 0 for hidden ones.
    """
    from boxwood.explanation.measure.profile import of_counts

    values, none = column.categories.values, np.zeros(len(n))
    kept, present = np.flatnonzero(n[: len(values)] >= least), np.flatnonzero(sizes)
    if len(kept) == len(values):
        groups = zip(column.clusters, sizes.tolist(), strict=True)
        return column._replace(clusters=tuple(group if size else None for group, size in groups))
    if not len(kept):
        return None
    table = np.array([none if one is None else one.shares for one in column.clusters]) * sizes[:, None]
    present = present[table[present].any(axis=1)]
    others = np.delete(table, kept, axis=1).sum(axis=1)
    words = Categories(tuple(values[i] for i in kept.tolist()), others=bool(others.any()))
    table = np.column_stack([table[:, kept], others]) if words.others else table[:, kept]
    return of_counts(column.column, table[present], words, present, len(sizes))


_HUGE = 1e300  # a number that may be rounded to none
_DAYS = 2.0  # of a column of dates that spreads so far, quantiles are told to the day


def rounded_quantiles(column: ColumnProfile) -> Any:
    """Return a column of a profile with quantiles in few digits for its spread, as they are values of rows."""
    if not isinstance(column, NumberColumn) or not 0 < column.everyone.deviation < math.inf:
        return column
    digits, by_day = 3 - math.floor(math.log10(column.everyone.deviation)), column.everyone.deviation >= _DAYS

    def of_number(x: float) -> float:
        if column.dates is not None:
            return float(math.floor(x)) if by_day else x
        return x if abs(x) > _HUGE else round(x, digits)

    def of_group(group: Any) -> Any:
        return group and group._replace(quantiles=tuple(map(of_number, group.quantiles)))

    return column._replace(everyone=of_group(column.everyone), clusters=tuple(map(of_group, column.clusters)))
