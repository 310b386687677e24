"""What an explanation measures when it is asked, as named fields: the frontier, held-out rows, stability."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

__all__ = ["ClusterStability", "CutStability", "Frontier", "FrontierRow", "HeldOut", "Stability"]


class HeldOut(NamedTuple):
    """How well rules grown in the same way do on rows that were not used to grow them.

    Parameters
    ----------
    agreement : float
        Share of the held-out rows, by weight if rows are weighted, whose rule names their cluster.
    price : float
        Price of explainability on the held-out rows. It may be below 1 or infinite.
    n_rows : int
        Number of rows that were held out, over all folds.
    how : str
        How rows were held out: "30% of the rows" or "5 folds", with ", of a sample of 100,000 rows" for a long table in
        batches.
    """

    agreement: float
    price: float
    n_rows: int
    how: str


class FrontierRow(NamedTuple):
    """What a tree with so many leaves loses.

    Parameters
    ----------
    leaves : int
        Number of leaves.
    price : float
        Price of explainability, on the rows that are explained. It may be below 1 or infinite.
    agreement : float
        Share of the rows whose rule names their cluster.
    price_held_out, agreement_held_out : float or None
        The same on rows that were not used to grow; None if that was not asked for.
    is_this : bool
        Whether this is the tree of the explanation; the other rows are prunings of one larger tree.
    """

    leaves: int
    price: float
    agreement: float
    price_held_out: float | None
    agreement_held_out: float | None
    is_this: bool


@dataclass(frozen=True)
class Frontier(Sequence[FrontierRow]):
    """Leaves against price and agreement: a sequence of `FrontierRow`; printing it shows a table.

    Parameters
    ----------
    rows : tuple of FrontierRow
        In ascending order of the leaves, one for each size at which a pruning loses less than all smaller ones, and
        one more for the tree of the explanation, which stands behind the pruning of its size.
    folds : int
        Number of folds by which rows were held out; 0 for none.
    grown_by : str
        How the larger tree was grown, in the words of `Explanation.method`.
    objective : {"cost", "mistakes"}
        What each pruning has the least of, among all prunings with as few leaves.
    n_grown : int
        Number of rows on which the larger tree was grown and pruned: a sample, where the table is long. Price and
        agreement are those of all rows; of a long table in batches those held out are of the sample.
    """

    rows: tuple[FrontierRow, ...]
    folds: int
    grown_by: str
    objective: str
    n_grown: int

    @property
    def this(self) -> FrontierRow:
        """The row of the explanation's own tree."""
        return next(row for row in self.rows if row.is_this)

    @overload
    def __getitem__(self, index: int) -> FrontierRow: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[FrontierRow, ...]: ...

    def __getitem__(self, index: int | slice) -> FrontierRow | tuple[FrontierRow, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[FrontierRow]:
        return iter(self.rows)

    def __str__(self) -> str:
        from boxwood.render._measured_text import frontier_text

        return frontier_text(self)


class ClusterStability(NamedTuple):
    """How surely a cluster is found again.

    Parameters
    ----------
    cluster : int
        Number of the cluster.
    name : str or number
        Its name.
    jaccard : float
        Mean overlap with the cluster that was found again in a resample: rows in both, divided by rows in either.
        Only rows of the resample count. 0 where no cluster was left to be matched with it.
    jaccard_low : float
        The overlap that was undercut in 5% of the resamples.
    lost : int, default=None
        Number of resamples in which the overlap was below 0.5; None for a model that was saved before it was counted.
    """

    cluster: int
    name: Hashable
    jaccard: float
    jaccard_low: float
    lost: int | None = None


class CutStability(NamedTuple):
    """How surely a cut returns; a cut of two ends, a two-sided one, has two entries.

    Parameters
    ----------
    node : int
        Node of the explanation's tree.
    column : str
        Column that the node tests.
    threshold : float
        One end of the cut, in the units of the table.
    returns : float
        Share of the resamples whose tree tests the column.
    low, high : float or None
        The threshold nearest to this one, of each tree that tests the column: 90% of these lie between `low` and
        `high`. None if no tree tests the column, and for a column of categories, where thresholds are codes.
    """

    node: int
    column: str
    threshold: float
    returns: float
    low: float | None
    high: float | None


class Stability(NamedTuple):
    """How much of an explanation is the same on rows drawn again; made by `Explanation.stability`, printed as text.

    Parameters
    ----------
    n : int
        Number of resamples: rows drawn with replacement.
    n_rows : int
        Number of rows in each.
    refitted : bool
        Whether the clusterer was fitted again on each resample. False if labels were given: then the clusters stay, and
        all that is measured is the tree, so "cluster" below means the rows to which its rules give the cluster.
    clusters : tuple of ClusterStability
        In the order of the clusters' numbers.
    cuts : tuple of CutStability
        In the order of the nodes.
    changed : float
        Share of the rows that change their cluster, averaged over the resamples.
    level : {"stable", "doubtful", "unstable"}
        "unstable" if `jaccard_low` of some cluster is below 0.5, "stable" if that of all is 0.75 or more and none was
        ever lost, "doubtful" otherwise. It says whether clusters return, not whether groups are there.
    verdict : str
        The level, and `clearer`, in sentences.
    random_state : int or None
        Seed of the resamples; None if a generator was given.
    explained, without_groups : float, default=None
        Share of the variance that the clusters explain, and the most that would be expected of them in a table of the
        same size and spread without groups. None if labels were given, or the columns have no spread.
    """

    n: int
    n_rows: int
    refitted: bool
    clusters: tuple[ClusterStability, ...]
    cuts: tuple[CutStability, ...]
    changed: float
    level: str
    verdict: str
    random_state: int | None
    explained: float | None = None
    without_groups: float | None = None

    @property
    def clearer(self) -> bool | None:
        """Whether the clusters are clearer than in data without groups; None if that is not known."""
        if self.explained is None or self.without_groups is None:
            return None
        return self.explained > self.without_groups

    def __str__(self) -> str:
        from boxwood.render._measured_text import stability_text

        return stability_text(self)
