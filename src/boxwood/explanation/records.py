"""Every named field: rules, leaves, clusters, profiles, and what an explanation measures when it is asked."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar, overload

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._types import LATER, Amount, AnyAmount, Range, Share, Size
from boxwood.axes import Categories
from boxwood.explanation.claim import Claim
from boxwood.tree import Box, Interval, ThresholdTree
from boxwood.tree.boxes import box_of, intervals_inside, without_missing
from boxwood.tree.cover import Covers
from boxwood.tree.nodes import Cut

__all__ = [
    "FEW",
    "GOALS",
    "NOT_CHOSEN",
    "QUANTILES",
    "CategoryColumn",
    "CategoryGroup",
    "ClusterStability",
    "ClusterSummary",
    "ClusterTotals",
    "Clusters",
    "ColumnProfile",
    "Condition",
    "CutStability",
    "DrawFacts",
    "Edit",
    "Edits",
    "FarFromGaussian",
    "Frontier",
    "FrontierRow",
    "HeldOut",
    "KernelFacts",
    "LeafSummary",
    "LeftOut",
    "LimitFacts",
    "MixtureFacts",
    "NumberColumn",
    "NumberGroup",
    "Profile",
    "Provenance",
    "RowsMoved",
    "Rule",
    "SearchReport",
    "Stability",
    "Totals",
    "cluster_rules_of",
    "clusters_of",
    "condition_of",
    "html_of_result",
    "leaves_of",
    "only_value",
    "result_as_text",
    "ruled_by",
    "rules_of",
    "value_of_two",
]


def html_of_result(result: Any) -> str:
    """Return what a notebook shows of a result."""
    from boxwood.render.page.results import result_in_notebook

    return result_in_notebook(result)


def result_as_text(result: Any) -> str:
    """Return what `print` shows of a result: one of the tables of results."""
    from boxwood.words.tables import table_text

    return table_text(result)


NOT_CHOSEN = "not chosen"
FEW = 5
"""Rows of a group of which values are written at least: fewer would reveal single rows."""


class LeftOut(NamedTuple):
    """Columns that nobody looked at, and why: "text", "dates", "no values", "not chosen" and the like."""

    reason: str
    columns: tuple[str, ...]


class Provenance(NamedTuple):
    """What an explanation rests on. How rows were scaled, and which are in no cluster, is in other fields.

    Parameters
    ----------
    source : str
        Name of the file, or what else the rows are.
    made : str
        Date on which it was made, as in "2026-11-23".
    version : str
        Version of boxwood that made it.
    labels : str
        Where the clusters come from.
    n_columns : int
        Number of columns of the table.
    left_out : tuple of LeftOut
        Columns of the table that neither the clustering nor the rules look at, besides those of labels and weights.
    label : str
        Name of the column of labels, or of the series; empty if they have none.
    types : tuple of pairs of str
        Columns that the rules test, and their types, as far as the table says: "INTEGER", "DECIMAL", "DOUBLE", "REAL",
        "BOOLEAN", "DATE" or "TEXT". `to_sql` asks no whole number whether it is NaN.
    weights : tuple of pairs of str and float
        How much each column counts in clusters that boxwood made: the weight of squared differences in it, where the
        largest is 1. Empty where columns count alike.
    """

    source: str
    made: str
    version: str
    labels: str
    n_columns: int
    left_out: tuple[LeftOut, ...]
    label: Annotated[str, LATER] = ""
    types: Annotated[tuple[tuple[str, str], ...], LATER] = ()
    weights: Annotated[tuple[tuple[str, float], ...], LATER] = ()

    def __str__(self) -> str:
        return result_as_text(self)

    def _repr_html_(self) -> str:
        return html_of_result(self)


class ClusterTotals(NamedTuple):
    """What a cluster sums up to, its share of the total, and the mean of its rows that have a value.

    `share` is None where a cluster has a negative sum, and `mean` for a cluster without such rows. All are None in a
    model file for a cluster of fewer than five such rows, whose sum would reveal single ones.
    """

    total: float | None
    share: Share | None
    mean: float | None


class Totals(NamedTuple):
    """Sums of a column of value, such as revenue, by cluster.

    Parameters
    ----------
    column : str
    total : float
        The sum over all rows in a cluster; times their weight, if rows are weighted. In a model file it is that of the
        clusters whose sums are shown.
    n_missing : int
        Number of these rows without a value, which add nothing.
    clusters : tuple of ClusterTotals
        In the order of the clusters' numbers.
    """

    column: str
    total: float
    n_missing: int
    clusters: tuple[ClusterTotals, ...]

    def __str__(self) -> str:
        return result_as_text(self)

    def _repr_html_(self) -> str:
        return html_of_result(self)


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
    found, precision : tuple of float or None
        For each cluster the share of its held-out rows that its rules matched, and the share of the rows matched that
        belong to it; None where there are no such rows. Empty for a model that was saved before they were counted.
    """

    agreement: Share
    price: AnyAmount
    n_rows: int
    how: str
    found: Annotated[tuple[Share | None, ...], LATER] = ()
    precision: Annotated[tuple[Share | None, ...], LATER] = ()


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
    price: AnyAmount
    agreement: Share
    price_held_out: AnyAmount | None
    agreement_held_out: Share | None
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
    claim : Claim, default=None
        What was proved of the agreement of all trees of as many leaves as the explanation's; None if nothing was.
    by_agreement : bool, default=False
        Whether agreement alone decided; prices say little then, and are not printed.
    """

    rows: tuple[FrontierRow, ...]
    folds: int
    grown_by: str
    objective: Annotated[str, Literal["cost", "mistakes"]]
    n_grown: int
    claim: Claim | None = None
    by_agreement: Annotated[bool, LATER] = False

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
        from boxwood.words.measured import frontier_text

        return frontier_text(self)

    _repr_html_ = html_of_result


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
        The overlap that was undercut in at most 5% of the resamples: the lowest one, if they are 20 or fewer.
    lost : int, default=None
        Number of resamples in which the overlap was below 0.5; None for a model that was saved before it was counted.
    """

    cluster: int
    name: Hashable
    jaccard: Share
    jaccard_low: Share
    lost: Annotated[int | None, LATER] = None


class CutStability(NamedTuple):
    """How surely a cut returns; a cut of two ends, a two-sided one, has two entries, one on categories one.

    Parameters
    ----------
    node : int
        Node of the explanation's tree.
    column : str
        Column that the node tests.
    threshold : float
        One end of the cut, in the units of the table. The largest double, if the cut asks whether there is a number.
    returns : float
        Share of the resamples whose tree has this cut: thresholds of a column are matched one to one, so that they are
        least far apart in sum. For a column of categories the share whose tree tests the column.
    low, high : float or None
        The matched threshold of each of these trees: at least 90% lie between `low` and `high`. None if there is none,
        for a column of categories, where thresholds are codes, and for one of 0 and 1, where any threshold between them
        says the same.
    dates : Dates, default=None
        Of a column of dates, whose thresholds are days since the beginning of 1970: how they are said.
    """

    node: int
    column: str
    threshold: float
    returns: Share
    low: float | None
    high: float | None
    dates: Annotated[Dates | None, LATER] = None


class Stability(NamedTuple):
    """How much of an explanation is the same on rows drawn again; made by `Explanation.stability`, printed as text.

    Parameters
    ----------
    n : int
        Number of resamples: rows drawn with replacement.
    n_rows : int
        Number of rows in each.
    refitted : bool
        Whether the clusterer was fitted again on each resample. False if labels or centres were given, or if the
        clusterer is frozen: then the clusters stay, and all that is measured is the tree, so "cluster" below means the
        rows to which its rules give the cluster.
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
    clearer : bool, default=None
        Whether the rows show groups: a gap or a valley parts them. None if that is not known, as `untested` says, or as
        the rows are too few.
    untested : str, default=""
        Why it is not tested whether groups are there: `refitted` is False, or the clusterer takes columns of codes,
        which have no variance. Empty if it is tested, and for a model that was saved before this was kept.
    """

    n: int
    n_rows: int
    refitted: bool
    clusters: tuple[ClusterStability, ...]
    cuts: tuple[CutStability, ...]
    changed: Share
    level: Annotated[str, Literal["stable", "doubtful", "unstable"]]
    verdict: str
    random_state: int | None
    clearer: Annotated[bool | None, LATER] = None
    untested: Annotated[str, LATER] = ""

    def __str__(self) -> str:
        from boxwood.words.measured import stability_text

        return stability_text(self)

    def _repr_html_(self) -> str:
        return html_of_result(self)


class LeafSummary(NamedTuple):
    """A leaf with its rule.

    `size` is its number of rows, and `own` the number of those that belong to its cluster. Both are sums of weights if
    rows are weighted. `noise` is the number of rows left out (label -1, or weight 0) that fulfil its rule; None for a
    model that was saved before this was counted.
    """

    leaf: int
    cluster: int
    size: float
    own: float
    rule: Rule
    noise: int | None = None


class Mend(NamedTuple):
    """One more leaf that mends a weak rule: the condition that the rule gets, and its precision with it."""

    condition: str
    precision: Share


class ClusterSummary(NamedTuple):
    """A cluster with its rules, and how well they describe it.

    `size` is its number of rows (their weight, if rows are weighted). `share` is the fraction of all rows that are in
    it, without rows left out. `matched` is the number (or weight) of rows that its rules take, of whichever cluster,
    without rows left out. `found` is the fraction of the cluster's rows that its rules hold; None for a cluster without
    rows.
    `precision` is the fraction of the rules' rows that are in the cluster; None if the rules hold no row.
    `rules` together hold the rows of the cluster's leaves, in the fewest conditions that were found, the shortest rule
    first. They may overlap, and are none for a cluster without a leaf. `Explanation.leaves` has the rule of each leaf.
    `mend` is the one more leaf that makes weak rules better; None where none does, or where that was not looked for.
    """

    cluster: int
    name: Hashable
    size: float
    share: float
    matched: float
    found: float | None
    precision: float | None
    rules: tuple[Rule, ...]
    mend: Mend | None = None

    @property
    def is_weak(self) -> bool:
        """Whether its rules say little: most of their rows are others', or nearly as many as chance would give.

        Of the rows fewer than half are in the cluster, or fewer than twice its share (than two thirds, at most), or
        the share of others among them is more than three quarters of that among all rows.
        """
        least = max(0.5, min(2 * self.share, 2 / 3), 1 - 0.75 * (1 - self.share))
        return self.precision is not None and self.precision < least

    @property
    def caught(self) -> float | None:
        """The same as `found`, by the name that it has in model files."""
        return self.found


class Clusters(tuple[ClusterSummary, ...]):
    """A tuple of clusters, in the order of their numbers; printing it shows a line for each, with its rule.

    Where boxwood made the clusters, a line below says once as what missing values count.
    """

    _made_here = False  # an explanation says so

    def __str__(self) -> str:
        from boxwood.words.measured import cluster_parts

        return "\n\n".join(cluster_parts(self, made_here=self._made_here))

    _repr_html_ = html_of_result


class RowsMoved(NamedTuple):
    """Rows that a change sends from one cluster to another: their number, or their weight if rows are weighted."""

    before: Hashable
    now: Hashable
    size: Size


class Edit(NamedTuple):
    """A change by hand, and what it cost; its text is the line of Python that makes it again.

    Parameters
    ----------
    line : str
        The line, for an explanation with the name `ex`.
    agreement_before, agreement : float
        Share of the rows whose rule names their cluster, before the change and after it.
    price_before, price : float
        Price of explainability, before and after.
    moved : tuple of RowsMoved
        Rows that have another cluster by the changed rules, most first. Rows left out do not count.
    by_agreement : bool, default=False
        Whether agreement alone decided how the tree was found; prices say little then, and are not printed.
    """

    line: str
    agreement_before: Share
    agreement: Share
    price_before: AnyAmount
    price: AnyAmount
    moved: tuple[RowsMoved, ...]
    by_agreement: bool = False

    def __str__(self) -> str:
        return self.line


class Edits(tuple[Edit, ...]):
    """A tuple of changes by hand, the first one first; printing it shows each with what it cost."""

    def __str__(self) -> str:
        from boxwood.words.measured import edits_text

        return edits_text(self)

    _repr_html_ = html_of_result


class FarFromGaussian(NamedTuple):
    """A component whose rows are not Gaussian along a column, and how: "heavy-tailed", "skewed" or "two-humped"."""

    component: Hashable
    column: str
    verdict: str


class MixtureFacts(NamedTuple):
    """Facts on a tree that follow from the parameters of a Gaussian mixture. Like the parameters, they are estimates.

    Parameters
    ----------
    explainability_to_noise : float
        For a pair of components: the squared distance of their means in units of the variance, on the column that
        separates the pair best. The ratio is the smallest such value of all pairs. Infinite for components without
        variance.
    components : pair
        Names of the pair with the smallest value.
    column : str
        The column that separates that pair best.
    certified_error : float
        Upper bound on the share of rows drawn from these Gaussians that end in a leaf of another component. It is
        exact if columns are independent within components.
    far_from_gaussian : tuple of FarFromGaussian
        Components that `metrics.tail_check` finds far from Gaussian on a column that bounds one of their leaves.
    fitted : bool, default=None
        Whether these are the Gaussians of a fitted mixture. False if they have the means and variances of the clusters'
        rows; None in a model file of an older version.
    """

    explainability_to_noise: AnyAmount
    components: tuple[Hashable, Hashable]
    column: str
    certified_error: Share
    far_from_gaussian: tuple[FarFromGaussian, ...]
    fitted: Annotated[bool | None, LATER] = None


class DrawFacts(NamedTuple):
    """Facts on the random trees of which the explanation has the cheapest.

    Parameters
    ----------
    n_trees : int
        Number of trees drawn.
    best, mean, worst : float
        Smallest, mean and largest cost of the trees, divided by the cost of the clusters. Both costs are sums of
        distances to the clusters' centres.
    bound : float or None
        Upper bound on the expected cost of one random tree, divided by that of the clusters, for any data. None where
        columns are kept from the cuts (`forbidden`, `max_columns`): costs count these columns, and have no bound then.
    """

    n_trees: Annotated[int, Range(1, 2**63 - 1, "a whole number of at least 1")]
    best: AnyAmount
    mean: AnyAmount
    worst: AnyAmount
    bound: AnyAmount | None


class KernelFacts(NamedTuple):
    """A kernel, and the highest price in its feature space: compare a price with it.

    Parameters
    ----------
    kernel : str
        The kernel, with its bandwidth.
    price_ceiling : float
        The highest price that any tree could have. If it is near 1, a price near 1 says nothing.
    """

    kernel: str
    price_ceiling: AnyAmount


def leaves_of(leaves: Iterable[LeafSummary], n_clusters: int) -> list[list[LeafSummary]]:
    """Return the leaves of each cluster."""
    groups: list[list[LeafSummary]] = [[] for _ in range(n_clusters)]
    for leaf in leaves:
        groups[leaf.cluster].append(leaf)
    return groups


def ruled_by(leaves: Iterable[LeafSummary]) -> float:
    """Return the number, or the weight, of the rows in some leaves."""
    return sum(leaf.size for leaf in leaves)


def clusters_of(
    leaves: Sequence[LeafSummary], names: Sequence[Hashable], sizes: Sequence[float], rules: Sequence[tuple[Rule, ...]]
) -> Clusters:
    """Return the clusters; IN: leaves of all; names, sizes, rules: of each cluster."""
    total = sum(sizes)
    return Clusters(
        ClusterSummary(
            cluster=i,
            name=name,
            size=size,
            share=size / total,
            matched=ruled_by(own),
            found=_share(sum(leaf.own for leaf in own), size),
            precision=_share(sum(leaf.own for leaf in own), ruled_by(own)),
            rules=rules[i],
        )
        for i, (name, size, own) in enumerate(zip(names, sizes, leaves_of(leaves, len(sizes)), strict=True))
    )


def _share(part: float, whole: float) -> float | None:
    return min(part / whole, 1.0) if whole else None  # rounding can put a sum of weights above the whole


QUANTILES = (5, 25, 50, 75, 95)  # percent


class NumberGroup(NamedTuple):
    """A column of numbers among the rows of one cluster, or of all clusters.

    Parameters
    ----------
    mean, deviation : float
        Mean and standard deviation (that of the rows as they are: divided by their weight).
    quantiles : tuple of 5 float
        The values below which 5, 25, 50, 75 and 95 percent of the rows lie. Without weights they are interpolated as
        in numpy and pandas. With weights, each is the least value that reaches its percentage of the weight.
    difference : float, default=None
        Standardised difference: the mean minus the mean of all other clusters' rows, in standard deviations of the
        column. 0 for a column of one value. None for all rows, and where no other cluster has rows.
    index : float, default=None
        The mean in percent of the mean of all rows: 100 is average. None if the column has negative values or is 0
        everywhere, as percentages say nothing then.
    missing : float, default=None
        Share of the rows that lack a value, for which the rules have a place; the other numbers are of rows with one.
        None for a column without such rows.
    """

    mean: float
    deviation: Amount
    quantiles: tuple[float, ...]
    difference: float | None = None
    index: Amount | None = None  # type: ignore[assignment]  # hides the method of tuples, which nobody needs here
    missing: Annotated[Share | None, LATER] = None


class CategoryGroup(NamedTuple):
    """A column of categories among the rows of one cluster, or of all clusters: an entry for each category.

    Parameters
    ----------
    shares : tuple of float
        Share of the rows that have the category. They add up to 1.
    differences : tuple of float, default=None
        Standardised differences: the share minus the share among all other clusters' rows, in standard deviations of
        having the category or not. 0 for a category that all rows or no rows have. None for all rows, and where no
        other cluster has rows.
    indexes : tuple of float or None
        The share in percent of the share among all rows: 100 is average. None for a category that no row has.
    """

    shares: tuple[Share, ...]
    differences: tuple[float, ...] | None = None
    indexes: tuple[Amount | None, ...] = ()


class NumberColumn(NamedTuple):
    """A column of numbers, cluster by cluster.

    Parameters
    ----------
    column : str
    effect : float
        Effect size η² (eta squared): the share of the column's variance that lies between clusters, from 0 to 1; 0 for
        a column of one value.
    everyone : NumberGroup
        All rows that are in a cluster. Its index is 100 where it has one.
    clusters : tuple of k (NumberGroup or None)
        In the order of the clusters' numbers; None for a cluster without rows.
    dates : Dates, default=None
        Of a column of dates: how they are said. Its numbers are days since the beginning of 1970.
    """

    column: str
    effect: Share
    everyone: NumberGroup
    clusters: tuple[NumberGroup | None, ...]
    dates: Annotated[Dates | None, LATER] = None


class CategoryColumn(NamedTuple):
    """A column of categories, cluster by cluster.

    Parameters
    ----------
    column : str
    effect : float
        Effect size Cramér's V: how closely categories and clusters go together, from 0 to 1; 0 for one category.
    everyone : CategoryGroup
        All rows that are in a cluster.
    clusters : tuple of k (CategoryGroup or None)
        In the order of the clusters' numbers; None for a cluster without rows.
    categories : Categories
        What the entries of a group are: `categories.values`, and one more for all other values if
        `categories.others`. A column of booleans has the values False and True.
    """

    column: str
    effect: Share
    everyone: CategoryGroup
    clusters: tuple[CategoryGroup | None, ...]
    categories: Categories


ColumnProfile: TypeAlias = NumberColumn | CategoryColumn
"""A column of the profile: of numbers or of categories."""


_T = TypeVar("_T")


class Named(tuple[_T, ...]):
    """A tuple that knows the names of the clusters; a notebook shows it as a table."""

    names: tuple[Hashable, ...]

    def __new__(cls, items: Iterable[_T] = (), names: Iterable[Hashable] = ()) -> Self:
        """Return the tuple; `names` has the name of each cluster."""
        made = super().__new__(cls, items)
        made.names = tuple(names)
        return made

    _repr_html_ = html_of_result


class Confusion(Named[tuple[float, ...]]):
    """How many rows of each cluster the rules give to each cluster; printing it shows a table."""

    __str__ = result_as_text


class Profile(Named[ColumnProfile]):
    """A tuple of columns, cluster by cluster, which knows the names of the clusters; printing it shows a table."""

    def __new__(cls, columns: Iterable[ColumnProfile] = (), names: Iterable[Hashable] = ()) -> Self:
        """Return the profile; `names` has the name of each cluster."""
        return super().__new__(cls, columns, names)

    def __str__(self) -> str:
        from boxwood.words.measured import profile_text

        return profile_text(self)


_EVERY_NUMBER = (Interval(-np.inf, np.inf, True, True),)


class Condition(NamedTuple):
    """The condition on one column: its value lies in one of the intervals, which are ascending and disjoint.

    For a column with `categories` the intervals hold their codes, one interval for each code. With `or_missing` a row
    without a value fulfils it, too. The interval of all numbers, without `or_missing`, says that there is a value.
    For a column with `dates` the intervals hold days since the beginning of 1970.
    """

    column: str
    intervals: tuple[Interval, ...]
    categories: Categories | None = None
    or_missing: bool = False
    dates: Dates | None = None


Rule: TypeAlias = tuple[Condition, ...]
"""Conditions that all hold. For a leaf they are in the order in which its path first tests their columns."""


def rules_of(
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> list[Rule]:
    """Return the rule of each leaf. A column that may have any value gives no condition.

    IN: gaps: the columns of numbers in which the tree takes a missing value as +inf; dates: those of days, which words
    say as dates; so for the functions below.
    """
    return [_rule(box, columns, categories, gaps, dates) for box in tree.boxes()]


def rule_of(
    cuts: Iterable[Cut],
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> Rule:
    """Return the rule that the rows on one side of each of some cuts fulfil: the side that `cut.inside` says."""
    return _rule(box_of(cuts), columns, categories, gaps, dates)


def cluster_rules_of(
    tree: ThresholdTree,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    n_clusters: int,
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> list[tuple[Rule, ...]]:
    """Return the rules of each cluster, see `ClusterSummary`; none for a cluster without a leaf.

    They are for readers. A row in which a value is missing may fulfil them and yet have no leaf, because the tree asks
    for that value on its way.
    """
    boxes, clusters = tree.boxes(), tree.leaf_clusters.tolist()
    covers, rules = Covers(boxes, {j: known.domain for j, known in categories.items()}, gaps), []
    for i in range(n_clusters):
        leaves = [leaf for leaf, cluster in enumerate(clusters) if cluster == i]
        own = [boxes[leaf] for leaf in leaves]
        if len(own) > 1 or any(categories.keys() & box.keys() for box in own):
            own = covers.of(leaves) or own  # leaves that hold no row keep rules that say so
        rules.append(tuple(_rule(box, columns, categories, gaps, dates) for box in own))  # one box needs no fewer words
    return rules


def condition_of(
    cut: Cut,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> Condition:
    """Return the condition that the rows on one side of a cut fulfil: the side that `cut.inside` says."""
    return _condition(cut.feature, tuple(intervals_inside(cut)), columns, categories, gaps, dates)


def value_of_two(one: Condition) -> tuple[Interval, ...]:
    """Return the only one of 0 and 1 that fulfils a condition on numbers; its intervals, if there is no such value."""
    values = [x for x in (0.0, 1.0) if any(x in piece for piece in one.intervals)]
    if one.categories is not None or len(values) != 1:
        return one.intervals
    return (Interval(values[0], values[0], True, True),)


def only_value(piece: Interval, *, whole: bool, signed: bool) -> Interval:
    """Return the value of a range that holds no other; the range, if it holds several.

    IN: whole, signed: whether all numbers of the column are whole ones, and whether some are below 0.
    """
    lower, upper, lower_closed, upper_closed = piece if signed or piece.lower >= 0 else (0.0, piece[1], True, piece[3])
    if math.isinf(lower) or math.isinf(upper):
        return piece
    if whole:
        lower, lower_closed = math.ceil(lower) if lower_closed else math.floor(lower) + 1, True
        upper, upper_closed = math.floor(upper) if upper_closed else math.ceil(upper) - 1, True
    is_one = lower == upper and lower_closed and upper_closed
    return Interval(float(lower), float(upper), True, True) if is_one else piece


def _rule(
    box: Box,
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dates: Mapping[int, Dates],
) -> Rule:
    return tuple(
        _condition(j, pieces, columns, categories, gaps, dates) for j, pieces in box.items() if pieces != _EVERY_NUMBER
    )


def _condition(
    j: int,
    pieces: tuple[Interval, ...],
    columns: Sequence[str],
    categories: Mapping[int, Categories],
    gaps: Collection[int],
    dates: Mapping[int, Dates],
) -> Condition:
    if j in gaps:
        numbers, or_missing = without_missing(pieces)
        return Condition(columns[j], numbers, or_missing=or_missing, dates=dates.get(j))
    if j not in categories:
        return Condition(columns[j], pieces, dates=dates.get(j))
    codes = categories[j].codes_in(pieces)
    return Condition(columns[j], tuple(Interval(code, code, True, True) for code in codes), categories[j])


GOALS = ("auto", "cost", "agreement")


class AllowedCuts(NamedTuple):
    """The thresholds that cuts of a column may have, ascending: numbers, or dates and ages as text."""

    column: str
    values: tuple[Hashable, ...]


class LimitFacts(NamedTuple):
    """The limits that were set for the rules, all of which are kept; None where there was none.

    Parameters
    ----------
    max_depth, min_samples_leaf, max_columns, round_thresholds : int, default=None
    forbidden, preferred : tuple of str
        Names of columns.
    n_moved : int
        Number of rows, without rows left out, that moving the thresholds sent to another leaf: as they are rounded, or
        in few methods as those of a column are given.
    cuts : tuple of AllowedCuts
    """

    max_depth: int | None = None
    min_samples_leaf: int | None = None
    max_columns: int | None = None
    round_thresholds: int | None = None
    forbidden: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    n_moved: int = 0
    cuts: Annotated[tuple[AllowedCuts, ...], LATER] = ()


class Details(NamedTuple):
    """Facts on an explanation that few people ask for: what the numbers count, and what is said of columns.

    Parameters
    ----------
    weighted : bool
        Whether rows were weighted. Sizes, shares and costs then count weights instead of rows.
    standardized : bool
        Whether rows were clustered and costs measured on columns scaled to unit variance. Thresholds are in raw units.
        If costs were measured in the columns of a pipeline, a note says so.
    objective : {"sqeuclidean", "l1", "l2"}, default="sqeuclidean"
        Distance that costs add up. For "random_cuts" it is the distance for which cuts were drawn.
    categories : tuple of pairs (column, Categories)
        Columns without numbers, and their values. The tree tests codes that stand for these values. A column of
        booleans that the tree tests has the values False and True, whose codes are 0 and 1.
    gaps : tuple of str
        Columns of numbers whose missing values have a place in the tree: it takes a missing value as +inf, which is
        outside of `x <= 5`, and rules say "age > 5 or missing". In other columns of numbers a row without a value that
        it is asked for has no leaf.
    binary : tuple of str
        Columns of numbers that the tree tests and that hold only 0 and 1: words say `member = 0`.
    dates : tuple of pairs (column, Dates)
        Columns of dates, which the tree takes as days since the beginning of 1970, and how they are said. A threshold
        is next to a round date: its cut parts dates before that one from itself and later ones.
    mixture : MixtureFacts, default=None
        Facts from the Gaussians, if a Gaussian mixture is explained or "mmdt" grew the tree.
    kernel : KernelFacts, default=None
        Kernel, if costs are measured in its feature space. None says that they are measured in the columns.
    draws : DrawFacts, default=None
        Facts on all random trees, if "random_cuts" grew the tree.
    n_incomplete : int
        Number of rows that are left out for what they lack. The rules may give some of them a cluster.
    noise : tuple of k int, default=None
        Number of rows left out (label -1, weight 0, or without a value) that the rules of each cluster take. They add
        up to `n_left_out` less `n_unruled`. None for a model that was saved before this was counted.
    n_unruled : int
        Number of rows that the rules give no cluster, as they ask for a value that these lack.
    """

    weighted: bool = False
    standardized: bool = False
    objective: str = "sqeuclidean"
    categories: tuple[tuple[str, Categories], ...] = ()
    gaps: tuple[str, ...] = ()
    binary: tuple[str, ...] = ()
    dates: tuple[tuple[str, Dates], ...] = ()
    mixture: MixtureFacts | None = None
    kernel: KernelFacts | None = None
    draws: DrawFacts | None = None
    n_incomplete: int = 0
    noise: tuple[int, ...] | None = None
    n_unruled: int = 0


class SearchReport(NamedTuple):
    """What "auto" did to find the tree.

    Parameters
    ----------
    objective : {"auto", "cost", "agreement"}
        What was asked for.
    reason : str
        Why "auto" looked at agreement alone; empty where it did not.
    n_candidates : int
        Number of different trees that were compared.
    n_sampled : int
        Number of rows that most growers saw; the tree was refined and measured on every row. Of a table in batches it
        was refined on these rows, and measured on every row.
    stopped_by_clock : bool
        Whether the time limit ended the search.
    gap : float, default=None
        No tree with as many leaves costs less by more than this share, even if it explains other clusters; 0 if none
        costs less. Trees that test forbidden columns do not count; those that break another limit do. None if that is
        not known: for more than four leaves or more leaves than clusters, where agreement alone is looked at, in
        tables with words or gaps, in long and in wide ones, with four leaves in most unless cost was asked for, with
        `max_columns`, where rounded thresholds move rows, and where a cut of a pipeline's columns becomes several cuts
        of the table's.
    agreement_gap : float, default=None
        No tree within the limits, of as many leaves as were asked for, agrees on more rows by more than this share of
        them; 0 if none agrees more. It is known where agreement alone is looked at, for a depth of at most 4 or at most
        4 leaves, in tables with up to 30 000 values in the columns that rules may test (2**20 with a `max_depth` of at
        most 3); not where `gap` is None for another reason than that. In tables of categories and gaps each set of
        values counts as a column (127 for 8 values), and so does each side for missing numbers; it is not known for
        categories of more values, and with `time_limit`.
    """

    objective: Annotated[str, Literal["auto", "cost", "agreement"]]
    reason: str
    n_candidates: int
    n_sampled: int
    stopped_by_clock: bool
    gap: Share | None = None
    agreement_gap: Share | None = None

    @property
    def by_agreement(self) -> bool:
        """Whether agreement alone decided, so that the price of the tree says little."""
        return self.objective == "agreement" or bool(self.reason)

    def __str__(self) -> str:
        return result_as_text(self)

    def _repr_html_(self) -> str:
        return html_of_result(self)
