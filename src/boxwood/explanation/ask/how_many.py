"""How many clusters to make, and whether groups are there at all: a look at some rows before clusters are made of all.

The number is the largest on which halves of the rows agree, as in prediction strength: k-means of one half and k-means
of the other label all rows alike. So a number is chosen because other rows would give it, too. Where columns count by
what the clusters explain of them, each half finds that by itself.

R. Tibshirani, G. Walther, "Cluster validation by prediction strength", Journal of Computational and Graphical
Statistics 14 (2005).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._messages import Quoting
from boxwood._progress import Progress, in_one_step, silent, tell_progress
from boxwood._threads import quietly_by_one_thread
from boxwood._types import Array, Bools, Floats, Indices, Weights
from boxwood._validation import Rows, whole_number
from boxwood.axes import Categories
from boxwood.batches.sample import some_rows
from boxwood.clusterers.column_weights import STARTS, Alone, WeightedClusters, shared_weights, weighted_clusters
from boxwood.explanation.measure.valleys import Groups, Valleys
from boxwood.metrics.agreements import adjusted_rand, count_pairs
from boxwood.reference.entry import Entry
from boxwood.reference.k_means import KMeansOfRows, k_means
from boxwood.reference.mixed import with_gaps
from boxwood.words.notes import ALONE, TOO_FEW, no_groups
from boxwood.words.values import column_name, group_digits

if TYPE_CHECKING:
    from boxwood.reference.feature_space import FeatureSpace

LOOKED_AT = 1_000  # most rows that are looked at for the number, and half of them for groups
FEWEST = 20  # rows of which groups can be told from none
NUMBERS = tuple(range(2, 11))  # of clusters that are tried
FEW = 4  # clusters at most that are chosen where no groups show
ROWS_EACH = 10  # rows for each cluster that is tried
HALVES = 5  # times that the rows are halved
STARTS_OF_HALF = 2  # of clusters
ALIKE, NEARLY = 0.85, 0.8  # adjusted Rand index of labels that count as the same, and as nearly the same
ABOUT = 0.1  # such an index is so far below the best one at most
MOST_BELOW = 0.05  # of such an index: a difference that is left to chance
SHOWN = 0.1  # weight of a column in which groups show, where the largest is 1


_HALVES = "for which both halves of the rows give"


class HowMany(NamedTuple):
    """How well halves of the rows agree on each number of clusters, as an adjusted Rand index, and the number taken.

    `taken` is None for the first of the candidates.
    """

    agreement: dict[int, float]
    taken: int | None = None

    @property
    def candidates(self) -> list[int]:
        """The numbers on which halves agree, about as well as on any, the largest first; or the least of the best."""
        most = max(self.agreement.values())
        alike = [k for k, share in self.agreement.items() if share >= max(ALIKE, most - ABOUT)]
        return sorted(alike, reverse=True) or [min(k for k in self.agreement if self.agreement[k] >= most - MOST_BELOW)]

    @property
    def best(self) -> int:
        """The number that is taken."""
        return self.candidates[0] if self.taken is None else self.taken

    @property
    def others(self) -> tuple[int, ...]:
        """Other numbers on which halves agree nearly as well, the best first; none if one is taken without that."""
        least = min(NEARLY, self.agreement[self.best]) if self.best in self.candidates else math.inf
        return tuple(k for k in self.ranking if k != self.best and self.agreement[k] >= least)

    @property
    def ranking(self) -> list[int]:
        """All numbers, those on which halves agree best first."""
        return sorted(self.agreement, key=lambda k: -self.agreement[k])

    @property
    def note(self) -> str:
        """What was chosen, and why."""
        share, others = self.agreement[self.best], self.others
        also = f"; {max(others)} would do nearly as well" if others else ""
        if self.best not in self.candidates:
            return f"{self.best} clusters were chosen, the fewest that lie apart (n_clusters)"
        if share >= ALIKE:
            largest = "the largest number" + " that lie apart, and" * (self.best != self.candidates[0])
            return f"{self.best} clusters were chosen, {largest} {_HALVES} similar clusters{also} (n_clusters)"
        best = f"{_HALVES} the most similar clusters, though not the same"
        return f"{self.best} clusters were chosen, {best}{also} (n_clusters)"

    @property
    def note_without_groups(self) -> str:
        """What was chosen where no groups show: halves of a cloud without groups, too, may be cut alike."""
        at_most = f" (at most {FEW})" * (self.best <= FEW)
        return f"{self.best} clusters were chosen{at_most}, {_HALVES} about the most similar clusters (n_clusters)"


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Some rows as they enter distances, in a random order; `blocks` are the columns made of one column of the table.

    However long the table is, at most `LOOKED_AT` rows are looked at, and the same ones each time. `has_weights` says
    whether columns count by what the clusters explain of them; they count alike in `rows`, or by `shared`, what most of
    them have in common.
    """

    rows: Floats
    blocks: Sequence[Indices] | None = None
    has_weights: bool = False
    lacks: Bools | None = None
    columns: Sequence[str] = ()
    as_read: Floats | None = None
    shared: Floats | None = None

    @classmethod
    def of_rows(cls, rows: Rows, columns: Sequence[str] = (), table: Floats | None = None) -> DrawnRows:
        """Return a look at rows of numbers that count as they are.

        IN: columns, table: their columns, and their numbers as they were read.
        """
        some = some_rows(rows.values, LOOKED_AT, rows.weights)
        read = None if table is None else np.asarray(table[some], dtype=np.float64)
        return cls(np.asarray(rows.values[some], dtype=np.float64), columns=columns, as_read=read)

    @classmethod
    def of_entry(
        cls,
        entry: Entry,
        table: Array,
        categories: Mapping[int, Categories],
        weights: Weights,
        columns: Sequence[str],
        *,
        has_weights: bool,
    ) -> DrawnRows:
        """Return a look at rows of a table, with words as one-hot columns and gaps at the means of their columns.

        IN: table (n, d): with plus infinity for each missing number, and codes for words.
        """
        some = np.asarray(table[some_rows(table, LOOKED_AT, weights)], dtype=np.float64)
        known = entry.known(with_gaps(np.where(np.isinf(some), np.nan, some), categories))
        rows, blocks = entry.even.one_hot(known, categories)
        lacks = [np.repeat(np.isnan(known[:, [j]]), len(block), axis=1) for j, block in enumerate(blocks)]
        return cls(rows, blocks, has_weights, np.hstack(lacks), columns, known)

    @classmethod
    def of_space(cls, here: FeatureSpace) -> DrawnRows:
        """Return a look at the rows of clusters that boxwood made."""
        if here.entry is None:
            return cls.of_rows(here.rows, here.columns, here.table.values)
        about = here.entry, here.table.values, here.categories, here.table.weights, here.columns
        return cls.of_entry(*about, has_weights=here.entry.weights is not None)

    def settle(self, groups: Groups, k: int) -> DrawnRows:
        """Return the look in which columns count as they do in k clusters of these rows.

        Where groups show, it is the first one in which these lie apart. Categories are kinds by themselves, but slices
        of a number tell nothing of a table: where no groups show and one column of numbers alone would count, whatever
        the number of clusters, columns count by what most of them have in common.
        """
        if groups.show:
            return next((look for look in self.ways() if look.lie_apart(k)), self)
        weights = self.weights(2) if groups.show is False else None
        counts = [] if weights is None else np.flatnonzero(weights >= SHOWN).tolist()
        is_slice = len(counts) == 1 and self._is_of_numbers(counts[0])
        return self._by_what_is_shared if is_slice else self

    def ways(self) -> Iterator[DrawnRows]:
        """Yield this look, one in which columns count by what most have in common, and one in which all count alike."""
        yield self
        if self.has_weights:
            yield self._by_what_is_shared
            yield self._alike

    @cached_property
    def _alike(self) -> DrawnRows:
        return replace(self, has_weights=False)

    @cached_property
    def _by_what_is_shared(self) -> DrawnRows:
        shared = shared_weights(self.rows, self._blocks)
        factors = np.repeat(np.sqrt(shared), list(map(len, self._blocks)))
        return replace(self, rows=self.rows * factors, has_weights=False, shared=shared)

    def _is_of_numbers(self, column: int) -> bool:
        made = self._blocks[column]
        known = slice(None) if self.lacks is None else ~self.lacks[:, made[0]]
        return len(made) == 1 and len(np.unique(self.rows[known, made[0]])) > 2

    def weights(self, k: int) -> Floats | None:
        """Return how much each column of the table counts in k clusters; None if all count as they are."""
        return self._clusters_of_all(k).weights if self.has_weights else self.shared

    def _clusters_of_all(self, k: int) -> WeightedClusters:
        if k not in self._clusters_by_number:
            self._clusters_by_number[k] = self._clusters(self.rows, k, 0, STARTS)
        return self._clusters_by_number[k]

    @cached_property
    def _clusters_by_number(self) -> dict[int, WeightedClusters]:
        """Clusters of all rows that are known, for each number of them."""
        return {}

    def _clusters(self, rows: Floats, k: int, seed: int, n_starts: int) -> WeightedClusters:
        """Return clusters of some of the rows."""
        generator = np.random.RandomState(seed)
        return weighted_clusters(rows, self._blocks, k, self._alone, generator, n_starts)

    @property
    def _blocks(self) -> Sequence[Indices]:
        return list(np.arange(self.rows.shape[1])[:, None]) if self.blocks is None else self.blocks

    @cached_property
    def _alone(self) -> Alone:
        return Alone.of(self.rows, self._blocks)

    def how_many(self, among: Sequence[int] = NUMBERS, progress: Progress = silent) -> HowMany:
        """Return how many clusters the rows suggest, of ascending numbers, of which few rows leave the least ones."""
        numbers = self.limit_numbers(among)
        tried = tell_progress(progress, "numbers of clusters tried", numbers)
        found = {k: self.agreement_of_halves(k, NEARLY) for k in tried}
        return HowMany(found if max(found.values()) >= ALIKE else {k: self.agreement_of_halves(k) for k in numbers})

    def limit_numbers(self, among: Sequence[int] = NUMBERS) -> list[int]:
        """Return those of ascending numbers for which there are rows enough, and the least one anyway."""
        most = min(len(self.rows) // ROWS_EACH, len(np.unique(self.rows, axis=0)))
        return [k for k in among if k <= max(most, among[0])]

    def groups(self) -> Groups:
        """Return whether the rows show groups; it is the one verdict on this, whatever the number of clusters."""
        if len(self.looked_at) < FEWEST:
            return Groups(None)
        with quietly_by_one_thread():
            found = self._valleys.groups()
        if found.show and not any(look.all_lie_apart(k) for look in self.ways() for k in look.limit_numbers()):
            return Groups(False)
        return found

    @cached_property
    def _valleys(self) -> Valleys:
        n = len(self.looked_at)
        read = None if self.as_read is None else self.as_read[:n]
        if read is not None and self.blocks is not None:
            read = np.repeat(read, [len(columns) for columns in self.blocks], axis=1)
        return Valleys.of(self.looked_at, self.blocks, None if self.lacks is None else self.lacks[:n], read)

    def lie_apart(self, k: int) -> bool:
        """Return whether valleys part some of k clusters from others: at least two, and half of them."""
        return self._n_apart(k) >= max(2, k / 2)

    def all_lie_apart(self, k: int) -> bool:
        """Return whether valleys part at least two of k clusters, and all but one, and so this one, too."""
        return self._n_apart(k) >= max(2, k - 1)

    def _n_apart(self, k: int) -> int:
        if k not in self._n_apart_by_number:
            with quietly_by_one_thread():
                if self.has_weights:
                    found = self._clusters_of_all(k)
                    labels, factors = found.predict(self.looked_at), found.factors
                else:
                    labels = k_means(self.rows, k, 0, STARTS).labels[: len(self.looked_at)]  # as clusters are made
                    factors = np.ones(self.rows.shape[1])
                self._n_apart_by_number[k] = self._valleys.n_apart(labels, factors)
        return self._n_apart_by_number[k]

    @cached_property
    def _n_apart_by_number(self) -> dict[int, int]:
        """How many clusters valleys part, for each number of them for which that is known."""
        return {}

    def notes_on(self, k: int, groups: Groups) -> tuple[str, ...]:
        """Return what is said of k clusters: too few rows, no groups, or the column that shows them by itself."""
        if doubts := self.doubts(k):
            return doubts
        if not groups.show:
            return (no_groups(groups.go_round),)
        if groups.column is None or self.as_read is None or not self.columns:
            return ()
        said = f"{column_name(self.columns[groups.column])}{ALONE}"
        ends = sorted(self.as_read[list(groups.around), groups.column].tolist())
        if not np.isfinite(ends).all():
            return (said,)
        known = np.unique(self.as_read[: len(self.looked_at), groups.column])
        is_gap = ends[-1] - ends[0] > np.diff(known).min(initial=np.inf)  # between whole numbers in a row is nothing
        where = f"no row of {len(self.looked_at)} between {_between(*ends)}" if is_gap else _about(ends[0])
        return (Quoting(f"{said}: {where}", said),)

    @property
    def looked_at(self) -> Floats:
        """The rows that are looked at for groups."""
        return self.rows[: LOOKED_AT // 2]

    def doubts(self, k: int) -> tuple[str, ...]:
        """Return a note if there are too few rows to tell k groups from none."""
        n_rows = len(self.looked_at)
        said = f"looking at {n_rows} rows{TOO_FEW}{k} clusters are groups"
        return (said,) if n_rows < max(FEWEST, 2 * k) else ()

    def agreement_of_halves(self, k: int, least: float = -1.0) -> float:
        """Return the mean agreement of the clusters of one half with those of the other, on all rows.

        It is that of fewer halvings if these tell that it is below the least one that counts.
        """
        found = self._agreements.setdefault(k, [])
        with quietly_by_one_thread():
            while len(found) < HALVES and sum(found) + HALVES - len(found) >= least * HALVES:
                found.append(self._agreement_of(k, len(found)))
        return float(np.mean(found))

    @cached_property
    def _agreements(self) -> dict[int, list[float]]:
        """Those that are known, for each number of clusters."""
        return {}

    @cached_property
    def _orders(self) -> list[Indices]:
        """The orders in which the first rows are one half."""
        generator = np.random.RandomState(0)
        return [generator.permutation(len(self.rows)) for _ in range(HALVES)]

    def _agreement_of(self, k: int, halving: int) -> float:
        order, middle = self._orders[halving], len(self.rows) // 2
        halves = order[:middle], order[middle:]
        one, other = (self._clusters_of_half(self.rows[half], min(k, len(half)), halving) for half in halves)
        both = count_pairs(one.predict(self.rows), other.predict(self.rows), (k, k))
        return adjusted_rand(both.astype(np.float64))

    def _clusters_of_half(self, half: Floats, k: int, seed: int) -> WeightedClusters | KMeansOfRows:
        if self.has_weights:
            return self._clusters(half, k, seed, STARTS_OF_HALF)
        return k_means(half, k, seed, STARTS_OF_HALF)


class Number(NamedTuple):
    """A number of clusters, notes on it, and other numbers that would do nearly as well, the best ones first.

    It is None, without notes, if the clusters are given. `weights`, shape (d,), say how much each column counts; None
    if columns count as they are. `groups` says whether the rows show groups; None if nobody looked.
    """

    k: int | None = None
    notes: tuple[str, ...] = ()
    others: tuple[int, ...] = ()
    weights: Floats | None = None
    groups: Groups | None = None


def settled_number(
    look: DrawnRows,
    n_clusters: int | None,
    among: Sequence[int] = NUMBERS,
    progress: Progress = silent,
    groups: Groups | None = None,
) -> Number:
    """Return the number of clusters to make, the one that was asked for or the one to choose among some.

    Where no groups show, at most `FEW` clusters are chosen, and each number up to this one does nearly as well. IN:
    groups: whether the rows show groups, if that is known.
    """
    k = None if n_clusters is None else whole_number("n_clusters", n_clusters, 0)
    if k is not None and k < 2:
        return Number(k)
    groups = groups or _groups(look, progress)
    return _number(look, k, groups, among, progress)


def _number(look: DrawnRows, k: int | None, groups: Groups, among: Sequence[int], progress: Progress) -> Number:
    if k is not None:
        return Number(k, look.notes_on(k, groups), (), look.settle(groups, k).weights(k), groups)
    shown = groups.show is not False
    if groups.show:
        look, found = _find_apart(look, among, progress)
    else:
        look = look.settle(groups, 2)
        found = look.how_many(among if shown else [k for k in among if k <= FEW] or among, progress)
    notes = found.note if shown else found.note_without_groups, *look.notes_on(found.best, groups)
    others = found.others if shown else tuple(k for k in found.ranking if k != found.best)
    return Number(found.best, notes, others, look.weights(found.best), groups)


def _find_apart(look: DrawnRows, among: Sequence[int], progress: Progress) -> tuple[DrawnRows, HowMany]:
    """Return the first look that gives clusters that lie apart, and their number.

    That is one on which halves agree, or else the least whose clusters lie apart. Without any, it is as if all did.
    """
    tried = list[tuple[DrawnRows, HowMany]]()
    for way in look.ways():
        found = way.how_many(among, progress)
        tried.append((way, found))
        apart = next((k for k in found.candidates if way.lie_apart(k)), None)
        if apart is not None:
            return way, found._replace(taken=apart)
    for way, found in tried:
        apart = next((k for k in found.agreement if way.all_lie_apart(k)), None)
        if apart is not None:
            return way, found._replace(taken=apart)
    return tried[0]


def _groups(look: DrawnRows, progress: Progress) -> Groups:
    with in_one_step(progress, "looking for groups"):
        return look.groups()


def _about(place: float) -> str:
    return f"fewer rows about {group_digits(float(f'{place:.2g}'))} than on both sides"


def _between(low: float, high: float) -> str:
    """Return two numbers in short, of which neither is outside these two."""
    digits = 1 - math.floor(math.log10(high - low))
    step, ends = 10.0**-digits, (round(low, digits), round(high, digits))
    inner = ends[0] + step * (ends[0] < low), ends[1] - step * (ends[1] > high)
    return " and ".join(group_digits(round(end, digits)) for end in inner)
