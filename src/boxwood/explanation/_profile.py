"""The profile: every column in each cluster against the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from boxwood._threads import map_tasks, n_threads
from boxwood._types import Array, Floats, Indices, Ints
from boxwood._validation import as_whole_weights
from boxwood.axes import Categories
from boxwood.explanation._profile_fields import (
    QUANTILES,
    CategoryColumn,
    CategoryGroup,
    ColumnProfile,
    NumberColumn,
    NumberGroup,
)
from boxwood.reference._quantiles import (
    AT_ONCE,
    columns_in_groups,
    places_in_groups,
    quantiles_of_groups,
    weighted_quantiles_of_groups,
)

if TYPE_CHECKING:
    from boxwood.reference import Task

__all__ = ["of_counts", "others", "profile_of", "spread_out"]

_HALVED = 1023  # exponent of two beyond which the difference of two values may overflow


def profile_of(
    task: Task, table: Array, columns: Mapping[int, str], categories: Mapping[int, Categories]
) -> tuple[ColumnProfile, ...]:
    """Return the profile of some columns of a table, in their order.

    IN: table (n, d), the rows of `task` in the table's columns; columns: name of each column to tell of; categories:
    those of columns that hold codes.
    """
    groups, names = _Groups.of(task), list(columns)
    places = places_in_groups(groups.order, len(table))
    at_once = int(np.clip(len(names) // n_threads(task.n_jobs), 1, AT_ONCE))

    def of_columns(first: int) -> list[ColumnProfile]:
        here = names[first : first + at_once]
        return [
            _of_codes(columns[j], x, categories[j], groups) if j in categories else _of_numbers(columns[j], x, groups)
            for j, x in zip(here, columns_in_groups(table, here, places), strict=True)
        ]

    return tuple(chain.from_iterable(map_tasks(of_columns, range(0, len(names), at_once), n_jobs=task.n_jobs)))


@dataclass(frozen=True)
class _Groups:
    """The kept rows in the order of their clusters.

    order (m,): row numbers. clusters: those that have rows; cluster `clusters[i]` has the rows `order[bounds[i]:
    bounds[i + 1]]`, which weigh `sizes[i]`. weights (m,), whole (m,): weights of the rows in this order, and as whole
    numbers; None if rows are not weighted.
    """

    n_clusters: int
    order: Indices
    clusters: Indices
    bounds: Indices
    sizes: Floats
    weights: Floats | None
    whole: Ints | None

    @classmethod
    def of(cls, task: Task) -> _Groups:
        rows = np.flatnonzero(task.kept)
        k = task.reference.n_clusters
        labels = task.reference.labels[rows].astype(_short(k))
        order = rows[np.argsort(labels, kind="stable")]
        counts = np.bincount(labels, minlength=k)
        clusters = np.flatnonzero(counts)
        bounds = np.append(0, np.cumsum(counts[clusters]))
        if task.rows.weights is None:
            return cls(k, order, clusters, bounds, counts[clusters].astype(np.float64), None, None)
        weights = task.rows.weights[order]
        weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # their squares' sums neither over- nor underflow
        return cls(
            k, order, clusters, bounds, np.add.reduceat(weights, bounds[:-1]), weights, as_whole_weights(weights)
        )

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sum of the values of each cluster with rows."""
        sums: Floats = np.add.reduceat(values if self.weights is None else values * self.weights, self.bounds[:-1])
        return sums

    def quantiles(self, x: Floats) -> Floats:
        """Return the quantiles of the values of each cluster with rows, and of all rows last, shape (i + 1, 5)."""
        if self.whole is None:
            return quantiles_of_groups(x, self.bounds, QUANTILES)
        return weighted_quantiles_of_groups(x, self.bounds, self.whole, QUANTILES)


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


def _short(n: int) -> type[np.integer]:
    """Return a type for numbers below `n`; numpy sorts short ones in one pass."""
    return np.int16 if n <= 2**15 else np.int64


# -------------------------------------------------------------------------------------------------------- numbers


def _of_numbers(name: str, values: Floats, groups: _Groups) -> NumberColumn:
    """Return the profile of a column; IN: values (m,), in the order of the groups."""
    # Values are scaled to at most 1 by powers of two, which change no digit, so that no square leaves the range: those
    # of each cluster by its own, as small clusters would vanish beside large ones.
    starts, rows_in = groups.bounds[:-1], np.diff(groups.bounds)
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    exponents, exponent = np.frexp(largest := np.maximum(-least, most))[1], int(np.frexp(largest.max())[1])
    x = np.ldexp(values, -np.repeat(exponents, rows_in))
    sizes, total = groups.sizes, groups.sizes.sum()
    own_means = groups.sums(x) / sizes
    np.square(np.subtract(x, np.repeat(own_means, rows_in), out=x), out=x)
    own_inside = groups.sums(x)
    means, inside = np.ldexp(own_means, exponents - exponent), np.ldexp(own_inside, 2 * (exponents - exponent))
    mean = float((sizes * means).sum() / total)
    between, constant = float((sizes * np.square(means - mean)).sum()), bool(least.min() == most.max())
    variance = 0.0 if constant else float(inside.sum() + between) / total
    deviation = float(np.sqrt(variance))
    indexed = mean > 0 and float(least.min()) >= 0
    rest = others(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        differences = (means - others(sizes * means) / rest) / (deviation or np.inf)
    deviations = np.zeros(len(sizes)) if constant else np.sqrt(own_inside / sizes)
    halved = int(exponent > _HALVED)  # the difference of two values may be twice the largest
    quantiles = np.ldexp(groups.quantiles(np.ldexp(values, -1) if halved else values), halved).tolist()

    def group(i: int, power: int, mean_of: float, deviation_of: float, difference: float | None) -> NumberGroup:
        return NumberGroup(
            mean=float(np.ldexp(mean_of, power)),
            deviation=float(np.ldexp(deviation_of, power)),
            quantiles=tuple(quantiles[i]),
            difference=difference,
            index=100.0 * float(np.ldexp(mean_of, power - exponent)) / mean if indexed else None,
        )

    facts = zip(exponents.tolist(), own_means.tolist(), deviations.tolist(), differences.tolist(), strict=True)
    each = [
        group(i, power, mean_of, deviation_of, difference if rest[i] > 0 else None)
        for i, (power, mean_of, deviation_of, difference) in enumerate(facts)
    ]
    return NumberColumn(
        column=name,
        effect=float(min(between / total / variance, 1.0)) if variance else 0.0,
        everyone=group(-1, exponent, mean, deviation, None),
        clusters=spread_out(each, groups.clusters, groups.n_clusters),
    )


# ----------------------------------------------------------------------------------------------------- categories


def _of_codes(name: str, codes: Floats, categories: Categories, groups: _Groups) -> CategoryColumn:
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
