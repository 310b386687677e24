"""What became of segments: the facts of a saved tree on later rows, and of two explanations side by side."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from boxwood.explanation.records import Condition


class ClusterDrift(NamedTuple):
    """A cluster then and now.

    Parameters
    ----------
    cluster : int
    name : str or number
    then, now : float
        Rows that its rules take: of the rows of the model, and of those that were given.
    share_then, share : float
        Their shares of all rows, with a cluster or without.
    found_then, found : float or None
        Share of the rows of this label that the rules find; None without labels, or without such rows.
    precision_then, precision : float or None
        Share of the rows that the rules take which have this label.
    change : {"", "grew", "shrank"}
        What its share did beyond chance.
    """

    cluster: int
    name: Hashable
    then: float
    now: float
    share_then: float
    share: float
    found_then: float | None = None
    found: float | None = None
    precision_then: float | None = None
    precision: float | None = None
    change: str = ""


class CutDrift(NamedTuple):
    """A cut of the tree: the share of the rows that reach it, and get a cluster, which fulfil its condition."""

    node: int
    condition: Condition
    of_then: float
    of: float
    share_then: float | None
    share: float | None
    moved: bool = False


class ColumnDrift(NamedTuple):
    """A tested column of numbers: how it lies within the clusters of the rules, then and now.

    Parameters
    ----------
    column : str
    middle : float
        About the median of the rows of the model; days since the beginning of 1970 for dates.
    above_then, above : float
        Shares of the values above it.
    missing_then, missing : float
        Shares of the rows without a value.
    moved : float
        Share of the rows of a cluster that lie between other tenths than they did, on average over the clusters.
    factor : float or None
        How many times as large all numbers are about, if that is another unit.
    change : {"", "moved", "another unit"}
    """

    column: str
    middle: float
    above_then: float
    above: float
    missing_then: float
    missing: float
    moved: float
    factor: float | None = None
    change: str = ""


class WordsDrift(NamedTuple):
    """A tested column of words: the one whose share of the rows changed the most, and how all lie within the clusters.

    `word` is None for rows without one, and `boxwood.axes.categories.OTHER` for all that the model does not know.
    `moved` and `change` are those of `ColumnDrift`.
    """

    column: str
    word: Hashable
    share_then: float
    share: float
    moved: float
    change: str = ""


class LostRows(NamedTuple):
    """Rows without a cluster for one reason: their value of a column is "missing", or was "never seen".

    `words` are the values that were never seen, each with its rows, the most frequent first, 20 at most.
    """

    column: str
    reason: str
    rows: int
    words: tuple[tuple[str, int], ...] = ()


class LabelDrift(NamedTuple):
    """Labels of the rows against the rules.

    `rows` is the number of rows with a cluster and a label that the model knows, of which `agreement` is a share. `new`
    are labels that the model has never seen, each with its rows, the 20 most frequent at most. `n_unlabelled` is the
    number of rows without a label.
    """

    agreement_then: float
    agreement: float | None
    rows: int
    n_unlabelled: int
    new: tuple[tuple[str, int], ...] = ()


class MatchedCluster(NamedTuple):
    """A cluster of one of two explanations: its name, its rows by its own explanation, and their share."""

    name: Hashable
    rows: float
    share: float


class Matched(NamedTuple):
    """What became of clusters.

    Parameters
    ----------
    change : {"same", "grew", "shrank", "split", "merged", "new", "gone", "unclear"}
        "unclear" is a cluster of no kin where the models do not know enough to say that it is new or gone.
    old, new : tuple
        Names of the clusters before and after; several new ones of a split, several old ones of a merge.
    share_then, share : float or None
        Shares of these clusters in all rows, before and after.
    kept : float or None
        Share of the rows of the old clusters that are in the new ones.
    """

    change: str
    old: tuple[Hashable, ...]
    new: tuple[Hashable, ...]
    share_then: float | None = None
    share: float | None = None
    kept: float | None = None


@dataclass(frozen=True)
class MatchFacts:
    """The fields of a `Match`, which says what they are."""

    before: tuple[MatchedCluster, ...]
    after: tuple[MatchedCluster, ...]
    overlap: tuple[tuple[float, ...], ...]
    changes: tuple[Matched, ...]
    same_names: tuple[tuple[Hashable, Hashable], ...]
    how: str
    notes: tuple[str, ...]


class Told(NamedTuple):
    """A change in a word, what it is about, and two shares or numbers, before and after, where it has them."""

    change: str
    name: Hashable
    then: float | None = None
    now: float | None = None


@dataclass(frozen=True)
class DriftFacts:
    """The fields of a `Drift`, which says what they are."""

    n_then: float
    n_rows: float
    clusters: tuple[ClusterDrift, ...]
    cuts: tuple[CutDrift, ...]
    columns: tuple[ColumnDrift, ...]
    words: tuple[WordsDrift, ...]
    lost: tuple[LostRows, ...]
    n_lost_then: float
    labels: LabelDrift | None
    changes: tuple[Told, ...]
    untested: str
    notes: tuple[str, ...]
    provenance: Any = None

    @property
    def n_lost(self) -> float:
        """Number of rows without a cluster, or their weight."""
        return sum(one.rows for one in self.lost)

    @property
    def empty(self) -> float:
        """Share of the rows without a cluster."""
        return self.n_lost / max(self.n_rows, 1)

    @property
    def agreement(self) -> float | None:
        """Share of the rows, with a label that the model knows, whose rule names it; None without such rows."""
        return None if self.labels is None else self.labels.agreement
