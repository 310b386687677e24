"""Whether clusters are clearer than those of tables without groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices

CONTRASTED = 1_000  # most rows of a table that is clustered for this
DRAWS = 20  # tables without groups, of each kind
LOOKS = 4, 8, 12  # so many where only the verdict is asked for, until it is clear
FEW = 10  # a column of so many values at most keeps to them: steps alone would look like groups
SKEWED = 1.0  # skewness of a column that is not taken for normal
TAILED = 1.0  # kurtosis of such a one, beyond that of a normal one; two groups of one size have less than that has
OFTEN = 0.1  # share of the rows that have one value of a column, from which on that looks like a group
RARE = 0.0043  # share of tables without groups that seem as clear, of each kind


class Contrast(NamedTuple):
    """Share of the variance that clusters explain, and the most that is to be expected where there are no groups."""

    explained: float
    without_groups: float

    @property
    def is_clearer(self) -> bool:
        """Whether the clusters are clearer than those of tables without groups."""
        return self.explained > self.without_groups


def contrast_of(
    rows: Floats,
    times: Indices,
    cluster: Callable[[Floats], Array],
    generator: Any,
    *,
    blocks: Sequence[Indices] | None = None,
    together: bool = False,
    until_clear: bool = False,
) -> Contrast | None:
    """Return how clusters of a table compare with clusters of tables without groups.

    These are uniform in a box along the table's principal axes, or one Gaussian with its covariances. With `together`
    groups must show in several columns together: there is a third kind, the table's columns in orders of their own; and
    if a column is skewed, its columns with the ranks of a Gaussian take the place of the Gaussian. The kind that seems
    to have the clearest clusters is what counts. None for a table without spread.

    With `until_clear` few tables are drawn, and more only while they leave open whether the clusters are clearer. The
    first kind whose clusters are as clear settles that they are not.

    IN: rows, times: distinct rows, and how often each occurs, as rows of the tables without groups do; cluster: returns
    the label of each row of a table, -1 for noise; blocks: columns that keep their rows together, as one-hot columns of
    a word do, None for each by itself; together, until_clear: see above.
    """
    table = np.repeat(rows, times, axis=0)
    if not np.isfinite(spread := np.ptp(table, axis=0)).all() or spread.max() <= 0:
        return None
    kinds = [_of_one_cloud(rows, table, by_ranks=together), _in_a_box(rows, table)]
    kinds += [_in_own_orders(rows, blocks)] if together else []
    explained = _explained(table, cluster(table))

    def expected(draw: Callable[[Any], Floats]) -> float:
        shares, most = list[float](), 1.0
        for draws in LOOKS if until_clear else (DRAWS,):
            drawn = (np.repeat(draw(generator), times, axis=0) for _ in range(draws - len(shares)))
            shares += [_explained(one, cluster(one)) for one in drawn]
            usual, most = _usual_and_most(shares)
            if not usual < explained <= most:
                break
        return most

    without_groups = 0.0
    for draw in kinds:
        without_groups = max(without_groups, expected(draw))
        if until_clear and explained <= without_groups:
            break
    return Contrast(explained, without_groups)


def any_looks_grouped(table: Floats, blocks: Sequence[Indices]) -> bool:
    """Return whether a raw column alone may look like groups, as one of words, of many zeros, or with far values."""
    return any(len(columns) > 1 or _looks_grouped(table[:, columns[0]]) for columns in blocks)


def _looks_grouped(column: Floats) -> bool:
    apart = (column - column.mean()) / (column.std() or 1.0)
    often = np.unique(column, return_counts=True)[1].max() > OFTEN * len(column)
    return bool(often or abs(np.power(apart, 3).mean()) > SKEWED or np.power(apart, 4).mean() - 3 > TAILED)


def _usual_and_most(shares: Sequence[float]) -> tuple[float, float]:
    """Return a share that one more table without groups has often, and the one that it rarely exceeds."""
    from scipy.special import stdtrit

    n, mean, deviation = len(shares), float(np.mean(shares)), float(np.std(shares, ddof=1))
    beyond = float(stdtrit(n - 1, 1.0 - RARE)) * np.sqrt(1.0 + 1.0 / n)
    return mean + deviation, min(float(mean + beyond * deviation), 1.0)


def _in_own_orders(rows: Floats, blocks: Sequence[Indices] | None) -> Callable[[Any], Floats]:
    together = blocks if blocks is not None else [np.array([j]) for j in range(rows.shape[1])]

    def draw(generator: Any) -> Floats:
        drawn = np.empty_like(rows)
        for columns in together:
            drawn[:, columns] = rows[np.ix_(generator.permutation(len(rows)), columns)]
        return drawn

    return draw


def _in_a_box(rows: Floats, table: Floats) -> Callable[[Any], Floats]:
    center = table.mean(axis=0)
    axes, here = _axes(table - center), rows - center
    ends, on_steps = ((here @ axes).min(axis=0), (here @ axes).max(axis=0)), _to_steps(rows)
    size = len(rows), axes.shape[1]
    return lambda generator: on_steps(center + generator.uniform(*ends, size=size) @ axes.T)


def _axes(centred: Floats) -> Floats:
    """Return the principal axes of centred rows, shape (d, m): m = d, or the number of rows where that is less."""
    if _is_wide(centred):
        return np.asarray(np.linalg.svd(centred, full_matrices=False)[2].T)
    return np.asarray(np.linalg.eigh(np.atleast_2d(np.cov(centred.T, ddof=0)))[1])


def _is_wide(rows: Floats) -> bool:
    """Return whether rows are fewer than columns, whose covariances would take time d cubed."""
    n_rows, n_columns = rows.shape
    return bool(n_rows < n_columns)


def _of_one_cloud(rows: Floats, table: Floats, *, by_ranks: bool) -> Callable[[Any], Floats]:
    center, deviations = table.mean(axis=0), table.std(axis=0)
    skewness = np.power((table - center) / np.where(deviations > 0, deviations, 1.0), 3).mean(axis=0)
    if by_ranks and np.abs(skewness).max() > SKEWED:
        return _of_ranks(rows)
    mixed, on_steps = _root(table - center), _to_steps(rows)
    return lambda generator: on_steps(center + generator.normal(size=(len(rows), mixed.shape[1])) @ mixed.T)


def _of_ranks(rows: Floats) -> Callable[[Any], Floats]:
    """Draw the columns of a table with the ranks of a Gaussian of their rank correlations."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    scores = ndtri((rankdata(rows, axis=0) - 0.5) / len(rows))
    spread = scores.std(axis=0)
    scores = (scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    mixed, values = _root(scores), np.sort(rows, axis=0)

    def draw(generator: Any) -> Floats:
        normal = generator.normal(size=(len(rows), mixed.shape[1]))
        ranks = np.argsort(np.argsort(normal @ mixed.T, axis=0), axis=0)
        return np.take_along_axis(values, ranks, axis=0)

    return draw


def _root(centred: Floats) -> Floats:
    """Return a matrix, shape (d, m), that gives m independent normal numbers the covariances of centred rows."""
    if _is_wide(centred):
        return np.asarray(centred.T / np.sqrt(len(centred)))
    strength, axes = np.linalg.eigh(np.atleast_2d(np.cov(centred.T, ddof=0)))
    return np.asarray(axes * np.sqrt(np.maximum(strength, 0.0)))


def _explained(table: Floats, labels: Array) -> float:
    """Return the share of the variance that is between clusters; rows of noise are not explained."""
    whole = np.square(table - table.mean(axis=0)).sum()
    left = np.square(table[labels < 0] - table.mean(axis=0)).sum()
    left += sum(np.square(one - one.mean(axis=0)).sum() for one in _groups(table, labels))
    return float(max(1.0 - left / whole, 0.0)) if whole > 0 else 0.0


def _groups(table: Floats, labels: Array) -> Iterator[Floats]:
    return (table[labels == label] for label in np.unique(labels[labels >= 0]))


def _to_steps(table: Floats) -> Callable[[Floats], Floats]:
    """Return a function that gives a drawn table the values of each column that has few of them, the nearest ones."""
    every = ((j, np.unique(table[:, j])) for j in range(table.shape[1]))
    steps = [(j, values) for j, values in every if len(values) <= FEW]

    def on_steps(drawn: Floats) -> Floats:
        for j, values in steps:
            drawn[:, j] = values[np.searchsorted((values[1:] + values[:-1]) / 2, drawn[:, j])]
        return drawn

    return on_steps
