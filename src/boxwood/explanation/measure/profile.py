"""The profile: every column in each cluster against the rest, and typical rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from boxwood._threads import fold_blocks, n_threads
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import as_integer_weights
from boxwood.axes import Categories
from boxwood.batches.ranks import (
    AT_ONCE,
    QuantilesOfGroups,
    columns_in_groups,
    places_in_groups,
    quantiles_in,
    weighted_quantiles_of_groups,
)
from boxwood.batches.sums import Means, Ranges
from boxwood.errors import DataError
from boxwood.explanation.measure.batch_statistics import BatchStatistics, Spreads
from boxwood.explanation.measure.evidence import BOOLEAN, Evidence
from boxwood.explanation.measured_tree import side_of_outcomes
from boxwood.explanation.records import (
    QUANTILES,
    CategoryColumn,
    CategoryGroup,
    ColumnProfile,
    NumberColumn,
    NumberGroup,
    Profile,
)
from boxwood.loops.sums import add_squares_in_groups
from boxwood.reference import Task

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

_FAR = 400  # exponent of two up to which squares and their sums are far from the ends of the range


def measure_profile(ex: MeasuredTree) -> Profile:
    """Return the profile of the rows of an explanation, which keeps it; see `Explanation.profile`."""
    if "profile" not in ex._kept:
        ex._kept["profile"] = profile_on(ex._known())
    kept, names = ex._kept["profile"], ex.names
    if getattr(kept, "names", None) != names:
        dates = dict(ex.details.dates)
        kept = (one._replace(dates=dates[one.column]) if one.column in dates else one for one in kept)
        kept = ex._kept["profile"] = Profile(kept, names)
    return kept  # type: ignore[no-any-return]


def outcomes_profiled(ex: MeasuredTree) -> Profile:
    """Return the profile of the outcomes, which the explanation keeps; see `Explanation.profile`.

    Raises
    ------
    DataError
        If the clusters are not those of another table, or nothing of it is known.
    """
    side = side_of_outcomes(ex)
    if side is None:
        raise DataError("nothing is known of outcomes: the rules are on the table of the clusters, or it has no column")
    found = measure_profile(side)
    ex._kept["outcomes"] = found
    return found


def profile_on(evidence: Evidence, hidden: Sequence[int] = ()) -> tuple[ColumnProfile, ...]:
    """Return the profile of the columns of a table, wherever its rows are.

    IN: hidden: clusters that it leaves out of rows in batches, but for the quantiles of all rows.
    """
    if evidence.facts is not None:
        return _of_batches(evidence.facts, evidence.booleans, hidden)
    return profile_of(evidence.task, evidence.coordinates.table.values, evidence.columns, evidence.categories)


def profile_of(
    task: Task, table: Array, columns: Mapping[int, str], categories: Mapping[int, Categories]
) -> tuple[ColumnProfile, ...]:
    """Return the profile of some columns of a table, in their order, without those of which no row has a value.

    IN: table (n, d), the rows of `task` in the table's columns; columns: name of each column to tell of; categories:
    those of columns that hold codes. Numbers that are missing, which are plus infinity, do not count.
    """
    groups, names = _ClusterRows.of(task), list(columns)
    at_once = int(np.clip(len(names) // n_threads(task.n_jobs), 1, AT_ONCE))
    found: list[ColumnProfile | None] = [None] * len(names)

    def of_column(j: int, x: Floats, room: _Room) -> ColumnProfile | None:
        if j in categories:
            return _of_codes(columns[j], x, categories[j], groups)
        known = np.isfinite(x)
        if not known.any():
            return None
        return _of_numbers(columns[j], x, groups, room) if known.all() else _of_gaps(columns[j], x, known, groups)

    def of_columns(room: _Room, start: int, stop: int) -> None:
        values = columns_in_groups(table, names[start:stop], groups.places, room.values)
        found[start:stop] = [of_column(j, x, room) for j, x in zip(names[start:stop], values, strict=True)]

    fold_blocks(of_columns, len(names), lambda: _Room(groups, at_once), block=at_once, n_jobs=task.n_jobs)
    return tuple(one for one in found if one is not None)


@dataclass(frozen=True)
class _ClusterRows:
    """The kept rows in the order of their clusters.

    places (n,): place of each row, -1 for those left out. clusters: those that have rows; cluster `clusters[i]` has the
    places from `bounds[i]` to `bounds[i + 1]`, which weigh `sizes[i]`. weights (m,), whole (m,): weights in this order,
    and as whole numbers; None if rows are not weighted.
    """

    n_clusters: int
    places: Indices
    clusters: Indices
    bounds: Indices
    sizes: Floats
    weights: Floats | None
    whole: Ints | None

    @classmethod
    def of(cls, task: Task) -> _ClusterRows:
        labels, k, weights = task.reference.labels, task.reference.n_clusters, task.rows.weights
        places, counts = places_in_groups(labels if weights is None else np.where(task.kept, labels, -1), k)
        clusters = np.flatnonzero(counts)
        bounds = np.append(0, np.cumsum(counts[clusters]))
        if weights is None:
            return cls(k, places, clusters, bounds, counts[clusters].astype(np.float64), None, None)
        weights = columns_in_groups(weights[:, None], [0], places)[0]
        weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # their squares' sums neither over- nor underflow
        sizes = np.add.reduceat(weights, bounds[:-1])
        return cls(k, places, clusters, bounds, sizes, weights, as_integer_weights(weights))

    def weight(self, rows: Bools) -> Floats:
        """Return the number, or the weight, of some rows in each cluster with rows."""
        return self.sums(rows.astype(np.float64))

    def part(self, rows: Bools) -> _ClusterRows:
        """Return the groups of some rows, without places; clusters without any of them are left out."""
        counts = np.add.reduceat(rows, self.bounds[:-1], dtype=np.intp)
        present = counts > 0
        bounds = np.append(0, np.cumsum(counts[present]))
        return _ClusterRows(
            n_clusters=self.n_clusters,
            places=np.empty(0, dtype=np.intp),
            clusters=self.clusters[present],
            bounds=bounds,
            sizes=self.weight(rows)[present],
            weights=None if self.weights is None else self.weights[rows],
            whole=None if self.whole is None else self.whole[rows],
        )

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sum of the values of each cluster with rows."""
        sums: Floats = np.add.reduceat(values if self.weights is None else values * self.weights, self.bounds[:-1])
        return sums

    def squares(self, values: Floats, means: Floats) -> Floats:
        """Return the weighted sum of the squared differences of the values of each cluster with rows to a number."""
        sums = np.empty(len(means))
        add_squares_in_groups(values, self.bounds, np.empty(0) if self.weights is None else self.weights, means, sums)
        return sums


class _Room:
    """What a thread needs for some columns, one after the other, so that memory is taken once."""

    def __init__(self, groups: _ClusterRows, n_columns: int) -> None:
        self.groups = groups
        self.values = np.empty((n_columns, groups.bounds[-1]))
        self._quantiles = QuantilesOfGroups(groups.bounds, QUANTILES) if groups.whole is None else None

    def quantiles(self, x: Floats) -> Floats:
        """Return the quantiles of the values of each cluster with rows, and of all rows last, shape (i + 1, 5)."""
        if self._quantiles is not None:
            return self._quantiles.of(x)
        assert self.groups.whole is not None
        return weighted_quantiles_of_groups(x, self.groups.bounds, self.groups.whole, QUANTILES)


def others(totals: Floats) -> Floats:
    """Return for each cluster the sum over all others, without a subtraction that would lose digits."""
    none = np.zeros((1, *totals.shape[1:]))
    before = np.cumsum(np.concatenate([none, totals[:-1]]), axis=0)
    after = np.cumsum(np.concatenate([none, totals[:0:-1]]), axis=0)[::-1]
    return np.asarray(before + after)


G = TypeVar("G", NumberGroup, CategoryGroup)


def spread_out(groups: Sequence[G], clusters: Indices, n_clusters: int) -> tuple[G | None, ...]:
    """Return groups in the order of the clusters' numbers, with None for those without rows; IN: those with rows."""
    found = dict(zip(clusters.tolist(), groups, strict=True))
    return tuple(found.get(cluster) for cluster in range(n_clusters))


# -------------------------------------------------------------------------------------------------------- numbers
class _ColumnMoments(NamedTuple):
    """Means and variances of a column, in each cluster with rows and in all of them.

    clusters, sizes, means, deviations (i,): numbers of the clusters, their weights, own means and standard deviations.
    The rest is in units of 2 ** exponent, so that no square leaves the range. at, away (i,): the means, and the means
    less an origin, which is 0 where that loses no digits. mean, least: of all rows. variance, between: of all rows, and
    its part between clusters; 0 for a column of one value.
    """

    n_clusters: int
    clusters: Indices
    sizes: Floats
    means: Floats
    deviations: Floats
    exponent: int
    at: Floats
    away: Floats
    mean: float
    least: float
    variance: float
    between: float


def _numbers(name: str, moments: _ColumnMoments, quantiles: Floats) -> NumberColumn:
    """Return the profile of a column; IN: quantiles of the clusters with rows, and of all rows last, (i + 1, 5)."""
    sizes, away, mean, rest = moments.sizes, moments.away, moments.mean, others(moments.sizes)
    deviation, indexed = float(np.sqrt(moments.variance)), mean > 0 and moments.least >= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        differences = (away - others(sizes * away) / rest) / (deviation or np.inf)

    def group(i: int, at: float, mean_of: float, deviation_of: float, difference: float | None) -> NumberGroup:
        index = 100.0 * at / mean if indexed else None
        return NumberGroup(mean_of, deviation_of, tuple(quantiles[i].tolist()), difference, index)

    facts = (moments.at, moments.means, moments.deviations, differences)
    each = [
        group(i, at, mean_of, deviation_of, difference if rest[i] > 0 else None)
        for i, (at, mean_of, deviation_of, difference) in enumerate(zip(*(x.tolist() for x in facts), strict=True))
    ]
    mean_of_all, deviation_of_all = np.ldexp([mean, deviation], moments.exponent).tolist()
    return NumberColumn(
        column=name,
        effect=float(min(moments.between / moments.variance, 1.0)) if moments.variance else 0.0,
        everyone=group(-1, mean, mean_of_all, deviation_of_all, None),
        clusters=spread_out(each, moments.clusters, moments.n_clusters),
    )


def _of_numbers(name: str, values: Floats, groups: _ClusterRows, room: _Room) -> NumberColumn:
    """Return the profile of a column; IN: values (m,), in the order of the groups."""
    # Numbers of a cluster are scaled to at most 1 by powers of two, which change no digit: those of each cluster by its
    # own, as small clusters would vanish beside large ones.
    starts = groups.bounds[:-1]
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    exponents, exponent = np.frexp(largest := np.maximum(-least, most))[1], int(np.frexp(largest.max())[1])
    sizes, total = groups.sizes, groups.sizes.sum()
    own_means, own_inside = _own_moments(values, exponents, groups)
    means, inside = np.ldexp(own_means, exponents - exponent), np.ldexp(own_inside, 2 * (exponents - exponent))
    mean = float((sizes * means).sum() / total)
    between, constant = float((sizes * np.square(means - mean)).sum()), bool(least.min() == most.max())
    moments = _ColumnMoments(
        n_clusters=groups.n_clusters,
        clusters=groups.clusters,
        sizes=sizes,
        means=np.ldexp(own_means, exponents),
        deviations=np.zeros(len(sizes)) if constant else np.ldexp(np.sqrt(own_inside / sizes), exponents),
        exponent=exponent,
        at=means,
        away=means,
        mean=mean,
        least=float(least.min()),
        variance=0.0 if constant else float(inside.sum() + between) / total,
        between=between / total,
    )
    return _numbers(name, moments, room.quantiles(values))


def _of_gaps(name: str, values: Floats, known: Bools, groups: _ClusterRows) -> NumberColumn:
    """Return the profile of a column of numbers of which some are missing, which are infinite here."""
    part = groups.part(known)
    found = _of_numbers(name, values[known], part, _Room(part, 0))
    lacking, sizes = groups.weight(~known), groups.sizes
    share_of = dict(zip(groups.clusters.tolist(), np.minimum(lacking / sizes, 1.0).tolist(), strict=True))
    each = (one and one._replace(missing=share_of[i]) for i, one in enumerate(found.clusters))
    everyone = found.everyone._replace(missing=float(min(lacking.sum() / sizes.sum(), 1.0)))
    return found._replace(everyone=everyone, clusters=tuple(each))


def _own_moments(values: Floats, exponents: Ints, groups: _ClusterRows) -> tuple[Floats, Floats]:
    """Return the mean of each cluster, and its sum of squared differences to it, if its values are scaled to at most 1.

    The values themselves are scaled where that is needed; else their sums are, which gives the same numbers.
    """
    if np.abs(exponents).max() <= _FAR:
        means = groups.sums(values) / groups.sizes
        return np.ldexp(means, -exponents), np.ldexp(groups.squares(values, means), -2 * exponents)
    x = np.ldexp(values, -np.repeat(exponents, np.diff(groups.bounds)))
    means = groups.sums(x) / groups.sizes
    return means, groups.squares(x, means)


# ----------------------------------------------------------------------------------------------------- categories
def _of_codes(name: str, codes: Floats, categories: Categories, groups: _ClusterRows) -> CategoryColumn:
    """Return the profile of a column of codes; IN: codes (m,), in the order of the groups."""
    n_codes = len(categories.values) + categories.others
    cell = np.repeat(np.arange(len(groups.sizes)) * n_codes, np.diff(groups.bounds)) + codes.astype(np.intp)
    weights = np.bincount(cell, groups.weights, minlength=len(groups.sizes) * n_codes).astype(np.float64)
    return of_counts(name, weights.reshape(-1, n_codes), categories, groups.clusters, groups.n_clusters)


def of_counts(name: str, table: Floats, categories: Categories, clusters: Indices, n_clusters: int) -> CategoryColumn:
    """Return the profile of a column of codes; IN: table: weight of each category in each cluster with rows."""
    sizes = table.sum(axis=1)
    shares, overall = table / sizes[:, None], table.sum(axis=0) / sizes.sum()
    occurs = np.asarray(table.any(axis=0))
    varies = occurs & (table.sum(axis=0) < sizes.sum())
    rest = others(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = shares - others(table) / rest[:, None]
        differences = np.where(varies, away / np.sqrt(overall * (1 - overall)), 0.0)
        indexes = 100 * shares / overall

    def indexed(values: Floats) -> tuple[float | None, ...]:
        return tuple(value if known else None for value, known in zip(values.tolist(), occurs.tolist(), strict=True))

    each = [
        CategoryGroup(
            shares=tuple(shares[i].tolist()),
            differences=tuple(differences[i].tolist()) if rest[i] > 0 else None,
            indexes=indexed(indexes[i]),
        )
        for i in range(len(sizes))
    ]
    n_codes = table.shape[1]
    return CategoryColumn(
        column=name,
        effect=_cramers_v(table[:, occurs]),
        everyone=CategoryGroup(tuple(overall.tolist()), None, indexed(np.full(n_codes, 100.0))),
        clusters=spread_out(each, clusters, n_clusters),
        categories=categories,
    )


def _cramers_v(table: Floats) -> float:
    """Return Cramér's V of a table of weights without empty rows and columns."""
    freedom = min(table.shape) - 1
    if freedom == 0:
        return 0.0
    joint = table / table.sum()
    expected = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    return min(float(np.sqrt((np.square(joint - expected) / expected).sum() / freedom)), 1.0)


class _Summed(NamedTuple):
    """What passes add up of clusters."""

    means: Means
    spreads: Spreads
    ranges: Ranges

    @classmethod
    def of(cls, facts: BatchStatistics, hidden: Sequence[int]) -> _Summed:
        """Return the sums without some clusters."""
        if not hidden:
            return cls(facts.means, facts.spreads, facts.ranges)
        kept = ~np.isin(np.arange(facts.k), hidden)
        means = facts.means._replace(weights=np.where(kept, facts.means.weights, 0.0))
        least, most = facts.ranges.least, facts.ranges.most
        least, most = np.where(kept[:, None], least, np.inf), np.where(kept[:, None], most, -np.inf)
        ranges, squares = facts.ranges._replace(least=least, most=most), copy(facts.squares)
        squares.sums = np.where(kept[:, None, None], squares.sums, 0.0)
        return cls(means, Spreads.of(ranges, means, squares), ranges)


def _of_batches(facts: BatchStatistics, booleans: Collection[str], hidden: Sequence[int]) -> tuple[ColumnProfile, ...]:
    """Return the profile of the columns of a table in batches; quantiles take one to four passes."""
    batches = facts.task.batches
    quantiles, summed = quantiles_in(batches, facts.task.overview, QUANTILES), _Summed.of(facts, hidden)
    return tuple(
        _of_booleans(name, summed.means, j) if name in booleans else _of_sums(name, summed, j, quantiles[:, j])
        for j, name in enumerate(batches.columns)
    )


def _of_booleans(name: str, means: Means, j: int) -> CategoryColumn:
    present = np.flatnonzero(means.weights > 0)
    true = means.mean[present, j] * means.weights[present]
    table = np.stack([means.weights[present] - true, true], axis=1)
    return of_counts(name, table, BOOLEAN, present, len(means.weights))


def _of_sums(name: str, summed: _Summed, j: int, quantiles: Floats) -> NumberColumn:
    """Return the profile of a column of numbers; IN: quantiles of the clusters and of all rows, shape (k + 1, 5)."""
    means, spreads, ranges = summed
    present = np.flatnonzero(means.weights > 0)
    sizes, unit, variance = means.weights[present], int(spreads.exponents[j]), float(spreads.variance[j])
    deviations = np.sqrt(spreads.inside[present, j] / sizes) if variance else np.zeros(len(sizes))
    moments = _ColumnMoments(
        n_clusters=len(means.weights),
        clusters=present,
        sizes=sizes,
        means=means.mean[present, j],
        deviations=np.ldexp(deviations, unit),
        exponent=unit,
        at=np.ldexp(means.mean[present, j], -unit),
        away=spreads.away[present, j],
        mean=float(spreads.origin[j] + spreads.mean[j]),
        least=float(ranges.least[:, j].min()),
        variance=variance,
        between=float(spreads.between[j]),
    )
    return _numbers(name, moments, quantiles[[*present, -1]])


def representatives_of(ex: MeasuredTree) -> tuple[int | None, ...]:
    """See `Explanation.representatives`."""
    ex._refuse_batches("representatives()")
    rows = ex._rows()
    found = typical_rows(rows.task, rows.coordinates.table.values, rows.columns, measure_profile(ex))
    return tuple(None if row is None else rows.in_table(row) for row in found)


def typical_rows(
    task: Task, table: Array, columns: Mapping[int, str], profile: Sequence[ColumnProfile]
) -> tuple[int | None, ...]:
    """Return the position of the typical row of each cluster, the first of equally near ones; None without rows.

    IN: table (n, d), the rows of `task` in the table's columns; columns: their names; profile: that of them.
    """
    rows = np.flatnonzero(task.kept)
    labels, k = task.reference.labels[rows], task.reference.n_clusters
    away = np.zeros(len(rows))
    place = {name: j for j, name in columns.items()}
    for column in profile:
        j = place[column.column]
        values = np.asarray(table[rows, j], dtype=np.float64)
        if isinstance(column, CategoryColumn):
            usual = [0 if one is None else int(np.argmax(one.shares)) for one in column.clusters]
            away += values != np.array(usual)[labels]
        elif column.everyone.deviation > 0:
            middle = np.array([0.0 if one is None else one.quantiles[2] for one in column.clusters])
            # divided first, as differences of huge values leave the range
            steps = np.abs(values / column.everyone.deviation - (middle / column.everyone.deviation)[labels])
            away += np.where(np.isinf(values), 1.0, steps)  # a missing value counts as another category does
    of_clusters = (np.flatnonzero(labels == i) for i in range(k))
    return tuple(int(rows[own[np.argmin(away[own])]]) if len(own) else None for own in of_clusters)
