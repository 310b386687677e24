"""What comes out when an explanation is applied: why a row is in its cluster, trees side by side, what changed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from boxwood._dates import Dates
from boxwood.explanation.records import Condition, html_of_result


class Step(NamedTuple):
    """A cut on the way of a row down the tree.

    Parameters
    ----------
    column : str
    value : float or category
        Column that is cut, and the row's value there.
    condition : Condition
        What the row fulfils here: the side of the cut that it takes.
    threshold, margin, deviations : float or None
        The nearest end of the cut, and how far the value is from it, in units of the column and in standard deviations;
        None for categories, for a missing value and for a cut that asks for one, and `deviations` also for a model that
        was saved before spreads were kept.
    """

    column: str
    value: Hashable
    condition: Condition
    threshold: float | None = None
    margin: float | None = None
    deviations: float | None = None


class Move(NamedTuple):
    """The change of one column: its value before and after, and how far that is.

    `deviations` is the distance in standard deviations of the column; 1 for a column of categories, where `is_category`
    is true, and for a number instead of a missing value, where `before` is None. Dates are days since the beginning of
    1970; `dates` says how they are said.
    """

    column: str
    before: Hashable
    after: Hashable
    deviations: float
    is_category: bool = False
    dates: Dates | None = None


class Change(NamedTuple):
    """The smallest change of a row that brings it to another cluster.

    Parameters
    ----------
    cluster : int
    name : str or number
        The other cluster, and its name.
    leaf : int
        Leaf that the changed row reaches.
    deviations : float
        Sum of the changes of all columns, in standard deviations; a change of category counts 1.
    moves : tuple of Move
        Columns to change, in the order of the table's columns. The others keep their values.
    """

    cluster: int
    name: Hashable
    leaf: int
    deviations: float
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Why:
    """Why a row is in its cluster; made by `Explanation.why`. Printing it gives a text.

    Parameters
    ----------
    cluster, leaf : int or None
        Cluster and leaf of the row; None if the tree asks for a value that the row does not have.
    name : str, number or None
        Name of the cluster.
    size, own : float or None
        Number of measured rows in the leaf, and of those that belong to its cluster; weights, if rows are weighted.
    reason : str
        Why the row has no cluster, or why no changes are known; empty otherwise.
    steps : tuple of Step
        Cuts on the way, from the root on. For a row without a cluster: up to the cut where its value is missing.
    changes : tuple of Change
        The smallest change to each other cluster that can be reached, in the order of the clusters' numbers.
    out_of_reach : tuple of str or number
        Names of the other clusters, which no allowed change reaches.
    """

    cluster: int | None
    leaf: int | None
    name: Hashable
    size: float | None
    own: float | None
    reason: str
    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    out_of_reach: tuple[Hashable, ...]

    def __str__(self) -> str:
        from boxwood.words.measured import why_text

        return why_text(self)

    _repr_html_ = html_of_result

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as a dict that JSON can hold: conditions are texts, and numbers that are infinite None.

        Examples
        --------
        >>> import boxwood
        >>> why = boxwood.explain([[21.0], [61.0]], ["young", "old"], columns=["age"]).why({"age": 30.5})
        >>> facts = why.to_dict()
        >>> facts["steps"][0]["condition"], facts["changes"][0]["cluster"]
        ('age <= 40', 'old')
        """
        from boxwood.words.measured import why_facts

        return why_facts(self)


class Compared(NamedTuple):
    """A tree of a comparison.

    Parameters
    ----------
    method : str
        "auto", or a name of `grow.METHODS`.
    grown_by : str
        How the tree was grown; of "auto", also the steps after its method.
    leaves, depth, columns : int
        Leaves of the tree, conditions of its longest rule, and columns that it tests.
    price, agreement : float
        As in `Explanation`.
    seconds : float
        Time that growing and measuring took.
    on_front : bool
        Whether no other tree of the comparison is as good in leaves, price and agreement, and better in one of them.
        The price does not count where agreement alone decides; see `Comparison.by_agreement`.
    """

    method: str
    grown_by: str
    leaves: int
    depth: int
    columns: int
    price: float
    agreement: float
    seconds: float
    on_front: bool


@dataclass(frozen=True)
class Comparison:
    """Trees for one clustering; made by `compare`. Printing it gives a table.

    Parameters
    ----------
    rows : tuple of Compared
        By number of leaves, then by price, or by agreement where it alone decides.
    left_out : tuple of (str, str)
        Methods that grew no tree, and why.
    n_clusters, n_rows : int
        Of the clustering.
    baseline : float
        Agreement of giving every row to the largest cluster.
    by_agreement : bool
        Whether agreement alone decides, as `explain` would take it: that is asked for, or the clusters are not compact.
    notes : tuple of str
        On columns and rows that are left out.
    """

    rows: tuple[Compared, ...]
    left_out: tuple[tuple[str, str], ...]
    n_clusters: int
    n_rows: int
    baseline: float
    by_agreement: bool
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        from boxwood.words.measured import compare_text

        return compare_text(self)

    _repr_html_ = html_of_result


class Ends(NamedTuple):
    """Both ends of a cut `lower <= x <= upper`, and the codes of categories, if it asks for a set of them."""

    lower: float
    upper: float
    members: tuple[int, ...] = ()


class MovedCut(NamedTuple):
    """A cut of the old tree and of the new one, which separate the same clusters on the same column."""

    column: int
    before: Ends
    after: Ends


class TreeChanges(NamedTuple):
    """What changed from one tree to another.

    Attributes
    ----------
    moved : tuple of MovedCut
        Cuts that separate the same clusters on the same column at another threshold.
    gone, new : tuple of (column, Ends)
        Cuts of one of the trees alone.
    n_same : int
        Number of cuts that did not change.
    share : float or None
        Share of the rows that changed cluster; None if there are no rows.
    is_estimate : bool
        Whether the share is an estimate from the bins of a tally.
    """

    moved: tuple[MovedCut, ...]
    gone: tuple[tuple[int, Ends], ...]
    new: tuple[tuple[int, Ends], ...]
    n_same: int
    share: float | None
    is_estimate: bool
