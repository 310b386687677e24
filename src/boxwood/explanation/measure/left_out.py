"""What columns that clusters do without say of them: dates, categories that are many, and what goes with dates.

A cluster is told by the value, or the months or days of the week in a row, that most of its rows have and few others,
or by numbers and dates that are clearly higher or lower, later or earlier. Only what stands out far is told, by 0.8
standard deviations, as much as is called a large effect; and by so many rows that none of some hundred values would do
so by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.columns.rules import OF_UNITS
from boxwood.explanation.records import FEW
from boxwood.words.distinctive import THAN_OTHERS
from boxwood.words.values import category, cluster_name, column_name, shorten_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.reference.feature_space import BesideColumn

FAR = 0.8  # standard deviations that a cluster is apart
BY_CHANCE = 4.5  # standard errors: in one of 300,000 cases by chance
MOST = 0.5  # of the cluster have what is said of it
MONTHS: tuple[str, ...] = ("January", "February", "March", "April", "May", "June", "July")
MONTHS += ("August", "September", "October", "November", "December")
WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
CYCLES = (4, 7, 12, 24, 31)  # quarters, days of the week, months, hours and days of the month
FEW_VALUES = 31  # of numbers, as parts of dates have
YEAR, YEARS = 366.0, 2.5  # days, and years from which on months come again
TOLD = 3  # clusters
THURSDAY = 3  # the first day of 1970


class _Telling(NamedTuple):
    """What is said of a cluster, and how far it is apart, in standard deviations."""

    cluster: int
    apart: float
    said: str


class _Rows(NamedTuple):
    """The cluster of each row that has one, its weight, and the weight of each cluster."""

    labels: Indices
    mass: Floats
    sizes: Floats

    def sums(self, values: Floats) -> Floats:
        """Return the sum of values over the rows of each cluster."""
        return np.asarray(np.bincount(self.labels, self.mass * values, len(self.sizes)), dtype=np.float64)

    def are_far(self, apart: Floats, n_rows: Floats | float) -> Bools:
        """Return whether a cluster is so far apart that few others are by chance; IN: n_rows: that tell of it."""
        share = self.sizes / self.sizes.sum()
        errors = np.abs(apart) * np.sqrt(share * (1 - share) * len(self.labels))
        return np.asarray((np.abs(apart) >= FAR) & (errors >= BY_CHANCE) & (np.asarray(n_rows) >= FEW))


def say_left_out(ex: MeasuredTree) -> str:
    """Return what columns that clusters do without say of them; empty if that is nothing, or rows are not in memory.

    It is said of up to three clusters, of each what tells most, and of two clusters of one, as the other is the rest.
    """
    if not ex._is_made_here or ex._in_memory is None:
        return ""
    if "left_out" not in ex._kept:
        ex._kept["left_out"] = tell_left_out(ex)
    said: dict[int, str] = ex._kept["left_out"]
    if not said:
        return ""
    names = {c: shorten_name(cluster_name(one.name)) for c, one in enumerate(ex.clusters)}
    return f"Columns left out tell more: {'; '.join(f'{names[c]} has {words}' for c, words in said.items())}."


def tell_left_out(ex: MeasuredTree) -> dict[int, str]:
    """Return by their numbers the clusters of which a column says something that clusters do without, and what."""
    evidence = ex._in_memory
    if evidence is None:
        return {}
    task = evidence.task
    labels = task.reference.labels[task.kept]
    mass = np.ones(len(labels)) if task.kept_weights is None else task.kept_weights[task.kept]
    sizes = np.bincount(labels, mass, task.reference.n_clusters)
    rows = _Rows(labels, mass, np.asarray(sizes, dtype=np.float64))
    if (rows.sizes == 0).any() or len(rows.sizes) < 2:
        return {}
    best: dict[int, _Telling] = {}
    for name, column in evidence.coordinates.beside.items():
        if column.reason == OF_UNITS and column.categories is None:
            continue  # numbers that name units are neither high nor low
        for one in _told_by(column_name(name), column, column.values[task.kept], rows):
            best[one.cluster] = max(best.get(one.cluster, one), one, key=lambda each: each.apart)
    found = sorted(best.values(), key=lambda one: -one.apart)[: 1 if len(rows.sizes) == 2 else TOLD]
    return {one.cluster: one.said for one in sorted(found)}


def _told_by(name: str, column: BesideColumn, x: Floats, rows: _Rows) -> Iterator[_Telling]:
    """Yield what a column says of clusters."""
    if column.categories is not None:
        values = column.categories.values
        for c, code, apart in _frequent(_shares(x.astype(np.intp), len(values), rows), rows):
            if values[code] is not None:
                yield _Telling(c, apart, f"mostly {name} {category(values[code])}")
        return
    known = np.isfinite(x)
    if known.all():
        if column.dates is not None:
            yield from _calendar(name, x, rows, has_days=not column.dates.zone)
        elif len(found := np.unique(x)) <= FEW_VALUES and (found == np.floor(found)).all():
            begin_again = found[0] in (0, 1) and len(found) in CYCLES
            said = [f"{value:.0f}" for value in found.tolist()]
            yield from _runs(name, "", np.searchsorted(found, x), said, rows, begin_again=begin_again)
        yield from _numbers(name, x, rows, ("late", "early") if column.dates is not None else ("high", "low"))


def _numbers(name: str, x: Floats, rows: _Rows, words: tuple[str, str]) -> Iterator[_Telling]:
    """Yield the clusters whose mean is far from that of all other rows."""
    total = rows.sizes.sum()
    x = x - np.average(x, weights=rows.mass)
    sums, spread = rows.sums(x), float(np.sqrt(np.average(x**2, weights=rows.mass)))
    if spread == 0:
        return
    apart = (sums / rows.sizes - (sums.sum() - sums) / (total - rows.sizes)) / spread
    for c in np.flatnonzero(rows.are_far(apart, rows.sizes)).tolist():
        yield _Telling(c, abs(float(apart[c])), f"{THAN_OTHERS[words[0] if apart[c] > 0 else words[1]]} {name}")


def _calendar(name: str, days: Floats, rows: _Rows, *, has_days: bool) -> Iterator[_Telling]:
    """Yield the months, and the days of the week, in a row that most of a cluster's dates have."""
    day = np.floor(days).astype("datetime64[D]")
    if not YEAR < np.ptp(days) < YEARS * YEAR:  # in two years each month may be of one of them
        yield from _runs(name, "in ", day.astype("datetime64[M]").astype(np.intp) % 12, MONTHS, rows)
    if has_days:
        yield from _runs(name, "on ", (day.astype(np.intp) + THURSDAY) % 7, WEEKDAYS, rows)


def _runs(
    name: str, where: str, codes: Indices, words: Sequence[str], rows: _Rows, *, begin_again: bool = True
) -> Iterator[_Telling]:
    """Yield words in a row; IN: begin_again: whether the first one comes behind the last."""
    shares, n = _shares(codes, len(words), rows), len(words)
    for length in range(1, n - 1):
        together = np.sum([np.roll(shares, -i, axis=0) for i in range(length)], axis=0)
        for c, first, apart in _frequent(together if begin_again else together[: n - length + 1], rows):
            last = words[(first + length - 1) % n]
            said = [words[first], f"{words[first]} and {last}", f"{words[first]} to {last}"][min(length, 3) - 1]
            yield _Telling(c, apart, f"{name} mostly {where}{said}")


def _shares(codes: Indices, n_codes: int, rows: _Rows) -> Floats:
    """Return the weight of each code in each cluster, shape (n_codes, k)."""
    k = len(rows.sizes)
    held = np.bincount(codes * k + rows.labels, rows.mass, n_codes * k)
    return np.asarray(held, dtype=np.float64).reshape(n_codes, k)


def _frequent(held: Floats, rows: _Rows) -> Iterator[tuple[int, int, float]]:
    """Yield for clusters the code that tells most of those that most rows of it have, and how far it is apart.

    IN: held: the weight of each code in each cluster.
    """
    total, whole = held.sum(axis=1, keepdims=True), rows.sizes.sum()
    shares, of_all = held / rows.sizes, total / whole
    rest = (total - held) / (whole - rows.sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where((of_all > 0) & (of_all < 1), (shares - rest) / np.sqrt(of_all * (1 - of_all)), 0.0)
    apart = np.where((shares >= MOST) & (apart > 0) & rows.are_far(apart, held), apart, 0.0)
    for c in np.flatnonzero(apart.max(axis=0, initial=0.0) > 0).tolist():
        code = int(np.argmax(apart[:, c]))
        yield c, code, float(apart[code, c])
