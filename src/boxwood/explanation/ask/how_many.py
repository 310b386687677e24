"""How many clusters to make, and whether groups are there at all: a look at some rows before clusters are made of all.

The number is the largest on which halves of the rows agree, as in prediction strength: k-means of one half and k-means
of the other label all rows alike. So a number is chosen because other rows would give it, too. Where columns count by
what the clusters explain of them, each half finds that by itself.

R. Tibshirani, G. Walther, "Cluster validation by prediction strength", Journal of Computational and Graphical
Statistics 14 (2005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from boxwood._progress import Progress, in_one_step, silent, told
from boxwood._threads import quietly_by_one_thread
from boxwood._types import Array, Floats, Indices, Weights
from boxwood._validation import Rows, whole_number
from boxwood.axes import Categories
from boxwood.batches.sample import some_rows
from boxwood.clusterers.column_weights import STARTS, Alone, WeightedClusters, weighted_clusters
from boxwood.explanation.measure.contrast import contrast_of
from boxwood.reference.entry import Entry
from boxwood.reference.mixed import with_gaps
from boxwood.words.notes import NO_GROUPS

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


_HALVES = "for which both halves of the rows give"


class HowMany(NamedTuple):
    """How well halves of the rows agree on each number of clusters, as an adjusted Rand index.

    `too_many` is a number that showed no groups, so that few are left to choose from.
    """

    agreement: dict[int, float]
    too_many: int | None = None

    @property
    def few(self) -> HowMany:
        """The same for no more clusters than are chosen where no groups show, if there are such numbers."""
        kept = {k: share for k, share in self.agreement.items() if k <= FEW}
        return HowMany(kept, self.best) if kept else self

    @property
    def best(self) -> int:
        """The largest number on which halves agree, about as well as on any; if none, the least of the best ones."""
        most = max(self.agreement.values())
        alike = [k for k, share in self.agreement.items() if share >= max(ALIKE, most - ABOUT)]
        return max(alike) if alike else min(k for k, share in self.agreement.items() if share >= most - MOST_BELOW)

    @property
    def others(self) -> tuple[int, ...]:
        """Other numbers on which halves agree nearly as well."""
        return self.nearly_as_good(min(NEARLY, self.agreement[self.best]))

    def nearly_as_good(self, least: float) -> tuple[int, ...]:
        """Return other numbers on which halves agree at least so well, the best ones first."""
        others = [k for k, share in self.agreement.items() if k != self.best and share >= least]
        return tuple(sorted(others, key=lambda k: -self.agreement[k]))

    @property
    def note(self) -> str:
        """What was chosen, and why."""
        share, others = self.agreement[self.best], self.others
        if self.too_many is not None:
            return f"{self.best} clusters were chosen (at most {FEW}), as {self.too_many} show no groups (n_clusters)"
        also = f"; {max(others)} would do nearly as well" if others else ""
        if share >= ALIKE:
            return f"{self.best} clusters were chosen, the largest number {_HALVES} similar clusters{also} (n_clusters)"
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
    whether columns count by what the clusters explain of them; they count alike in `rows`.
    """

    rows: Floats
    blocks: Sequence[Indices] | None = None
    has_weights: bool = False

    @classmethod
    def of_rows(cls, rows: Rows) -> DrawnRows:
        """Return a look at rows of numbers that count as they are."""
        return cls(np.asarray(rows.values[some_rows(rows.values, LOOKED_AT, rows.weights)], dtype=np.float64))

    @classmethod
    def of_entry(
        cls, entry: Entry, table: Array, categories: Mapping[int, Categories], weights: Weights, has_weights: bool
    ) -> DrawnRows:
        """Return a look at rows of a table, with words as one-hot columns and gaps at the means of their columns.

        IN: table (n, d): with plus infinity for each missing number, and codes for words.
        """
        some = np.asarray(table[some_rows(table, LOOKED_AT, weights)], dtype=np.float64)
        known = with_gaps(np.where(np.isinf(some), np.nan, some), categories)
        return cls(*entry.even.one_hot(known, categories), has_weights)

    def weights(self, k: int) -> Floats | None:
        """Return how much each column of the table counts in k clusters; None if all count as they are."""
        return self._clusters(self.rows, k, 0, STARTS).weights if self.has_weights else None

    def counted(self, k: int) -> DrawnRows:
        """Return the rows in which each column counts as it does in k clusters."""
        if (weights := self.weights(k)) is None:
            return self
        factors = np.repeat(np.sqrt(weights), list(map(len, self._blocks)))
        return DrawnRows(self.rows * factors, self.blocks)

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
        most = min(len(self.rows) // ROWS_EACH, len(np.unique(self.rows, axis=0)))
        numbers = [k for k in among if k <= max(most, among[0])]
        return HowMany({k: self.agreement_of_halves(k) for k in told(progress, "numbers of clusters tried", numbers)})

    def shows_groups(self, k: int) -> bool:
        """Return whether k clusters of the rows are clearer than those of tables without groups, or cannot be told.

        Groups that show in one column alone are not told from values that this column happens to have.
        """
        rows = self.looked_at
        if self.doubts(k):
            return True

        def cluster(table: Floats) -> Indices:
            return np.asarray(_k_means(table, k, 0).labels_, dtype=np.intp)

        once, generator = np.ones(len(rows), dtype=np.intp), np.random.RandomState(0)
        with quietly_by_one_thread():
            found = contrast_of(rows, once, cluster, generator, blocks=self.blocks, together=True, until_clear=True)
        return found is None or found.is_clearer

    @property
    def looked_at(self) -> Floats:
        """The rows that are looked at for groups."""
        return self.rows[: LOOKED_AT // 2]

    def doubts(self, k: int) -> tuple[str, ...]:
        """Return a note if there are too few rows to tell k groups from none."""
        n_rows = len(self.looked_at)
        said = f"looking at {n_rows} rows does not tell whether {k} clusters are groups"
        return (said,) if n_rows < max(FEWEST, 2 * k) else ()

    def agreement_of_halves(self, k: int) -> float:
        """Return the mean agreement of the clusters of one half with those of the other, on all rows."""
        from sklearn.metrics import adjusted_rand_score

        generator, found = np.random.RandomState(0), list[float]()
        with quietly_by_one_thread():
            for seed in range(HALVES):
                order = generator.permutation(len(self.rows))
                halves = order[: len(order) // 2], order[len(order) // 2 :]
                one, other = (self._clusters_of_half(self.rows[half], min(k, len(half)), seed) for half in halves)
                found.append(adjusted_rand_score(one.predict(self.rows), other.predict(self.rows)))
        return float(np.mean(found))

    def _clusters_of_half(self, half: Floats, k: int, seed: int) -> Any:
        return self._clusters(half, k, seed, STARTS_OF_HALF) if self.has_weights else _k_means(half, k, seed)


class Number(NamedTuple):
    """A number of clusters, notes on it, and other numbers that would do nearly as well, the best ones first.

    It is None, without notes, if the clusters are given. `weights`, shape (d,), say how much each column counts; None
    if columns count as they are.
    """

    k: int | None = None
    notes: tuple[str, ...] = ()
    others: tuple[int, ...] = ()
    weights: Floats | None = None


def settled_number(
    look: DrawnRows, n_clusters: int | None, among: Sequence[int] = NUMBERS, progress: Progress = silent
) -> Number:
    """Return the number of clusters to make, the one that was asked for or the one to choose among some.

    Where no groups show, at most `FEW` clusters are chosen, and each number up to this one does nearly as well.
    """
    number = _number(look, n_clusters, among, progress)
    return number if number.k is None or number.k < 2 else number._replace(weights=look.weights(number.k))


def _number(look: DrawnRows, n_clusters: int | None, among: Sequence[int], progress: Progress) -> Number:
    def shows_groups(k: int) -> bool:
        with in_one_step(progress, "looking for groups"):
            return look.counted(k).shows_groups(k)

    if n_clusters is not None:
        k = whole_number("n_clusters", n_clusters, 0)
        return Number(k, () if k < 2 else look.doubts(k) if shows_groups(k) else (_no_groups(k),))
    found = look.how_many(among, progress)
    shows = shows_groups(found.best)
    if not shows and found.best > FEW:
        found = found.few
        shows = shows_groups(found.best)
    if shows:
        return Number(found.best, (found.note, *look.doubts(found.best)), found.others)
    return Number(found.best, (found.note_without_groups, _no_groups(found.best)), found.few.nearly_as_good(-1.0))


def _no_groups(k: int) -> str:
    return f"{NO_GROUPS} a table without groups divides into {k} clusters as clearly"


def _k_means(rows: Floats, k: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=2, random_state=seed).fit(rows)
