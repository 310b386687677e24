"""Where rules and clusters disagree: how many rows, which ones, and the cut that parted each from its own cluster."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._types import Floats, Indices
from boxwood.axes import Categories
from boxwood.explanation.claim import Claim
from boxwood.explanation.measure.evidence import Evidence, confusion_in
from boxwood.explanation.measure.spreads import Spread, end_of_cut
from boxwood.explanation.records import Confusion, Named, condition_of, result_as_text
from boxwood.tree import ThresholdTree
from boxwood.tree.boxes import ends_without_missing, reached_by_missing
from boxwood.tree.nodes import Cut
from boxwood.words.claims import exceptions
from boxwood.words.rules import condition
from boxwood.words.values import count_of, of_leaves, percent

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


class Misassigned(NamedTuple):
    """A row whose rule names another cluster than its own.

    The cut that misled it is the last one on its way down behind which its own cluster still had a leaf: there it took
    the side from which no leaf of its cluster can be reached. All facts on that cut are None if its cluster has no leaf
    at all.

    Parameters
    ----------
    row : int
        Position of the row, from 0.
    cluster, ruled : int
        Its cluster, and the cluster that its rule names.
    column : str or None
        Column of the cut that misled it.
    value : float, or category, or None
        Its value there; a date as text.
    side : str or None
        The side that it took: "<=", ">", ">=" or "<" the threshold; "inside" or "outside" of an interval; for
        categories, dates, and in columns with gaps, the condition that it fulfils, in words.
    threshold : float or None
        The end of the cut that is nearest to its value; None for categories, and where the value is missing, or the cut
        asks whether it is.
    distance, deviations : float or None
        How far its value is from the threshold, in units of the column and in standard deviations of the column; None
        without a threshold. The value must move by more than this to change sides, or by just this if the threshold
        belongs to the other side.
    """

    row: int
    cluster: int
    ruled: int
    column: str | None = None
    value: Hashable = None
    side: str | None = None
    threshold: float | None = None
    distance: float | None = None
    deviations: float | None = None


class MisassignedRows(Named[Misassigned]):
    """The misassigned rows, in their order; printing them shows a table of the first."""

    __str__ = result_as_text


class Exceptions(NamedTuple):
    """The fewest rows without which the tree's rules give every row its own cluster; made by `Explanation.exceptions`.

    Parameters
    ----------
    rows : tuple of Misassigned
        These rows, in their order, each with the cut that misled it.
    share : float
        Their share of the rows in a cluster, by weight if rows are weighted.
    least_share : float or None
        Any tree of as many leaves, within the limits, has to set aside at least this share of the rows; None if that is
        not known.
    verdict : str
        The same in a sentence or two, which printing shows.
    claim : Claim or None
        What was proved of these trees; None if nothing was.
    """

    rows: tuple[Misassigned, ...]
    share: float
    least_share: float | None
    verdict: str
    claim: Claim | None = None

    def __str__(self) -> str:
        return self.verdict


def exceptions_of(ex: MeasuredTree) -> Exceptions:
    """See `Explanation.exceptions`."""
    rows, share, claim = misassigned_in(ex), 1 - ex.agreement, ex._claim_on("agreement")
    least = 0.0 if share <= 0 else None if claim is None else max(share - claim.by, 0.0)
    of_weight = f" ({percent(share)} of the weight)" if ex.details.weighted else f" ({percent(share)})"
    told = f"Without {count_of(len(rows), 'row')}{of_weight} of {ex.n_rows - ex.n_left_out:,}, the rules are perfect."
    if not rows:
        told = "The rules are perfect: no row has to be set aside."
    elif claim is not None:
        told += f" {exceptions(claim)}"
    else:
        told += f" Whether another tree of {of_leaves(ex.n_leaves)} has to set aside fewer is not known."
    return Exceptions(rows, max(share, 0.0), least, told, claim)


def misassigned_in(ex: MeasuredTree) -> tuple[Misassigned, ...]:
    """See `Explanation.misassigned`."""
    ex._refuse_batches("misassigned()")
    rows = ex._rows()
    found = misassigned_rows(ex.tree, rows, ex._coded_columns, ex._spreads() or {}, ex._gap_columns, ex._date_columns)
    return MisassignedRows((one._replace(row=rows.in_table(one.row)) for one in found), ex.names)


def confusion_of(ex: MeasuredTree) -> tuple[tuple[float, ...], ...]:
    """See `Explanation.confusion`."""
    return Confusion(map(tuple, confusion_in(ex._known().held, ex.tree).tolist()), ex.names)


def misassigned_rows(
    tree: ThresholdTree,
    evidence: Evidence,
    categories: Mapping[int, Categories],
    spreads: Mapping[int, Spread],
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> tuple[Misassigned, ...]:
    """Return the misassigned rows that are in a cluster and have weight, in their order.

    IN: gaps: columns of numbers in which the tree takes a missing value as +inf; dates: columns of dates.
    """
    labels, ruled = evidence.task.reference.labels, tree.leaf_clusters[evidence.leaf]
    rows = np.flatnonzero(evidence.task.kept & (labels != ruled))
    pairs, group = np.unique(np.stack([evidence.leaf[rows], labels[rows]]), axis=1, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    parts = np.split(rows[order], np.cumsum(np.bincount(group.reshape(-1)))[:-1]) if len(rows) else []
    parting, reached = _Parting(tree), reached_by_missing(tree, gaps)
    found: list[Misassigned] = []
    for leaf, cluster, part in zip(*pairs.tolist(), parts, strict=True):
        cut = parting.cut(leaf, cluster)
        own, other = [cluster] * len(part), [int(tree.leaf_clusters[leaf])] * len(part)
        facts = (
            []
            if cut is None
            else _facts(cut, part, evidence, categories, spreads, gaps, reached, dates.get(cut.feature))
        )
        found += map(Misassigned, part.tolist(), own, other, *facts)
    return tuple(sorted(found))


def _facts(
    cut: Cut,
    rows: Indices,
    evidence: Evidence,
    categories: Mapping[int, Categories],
    spreads: Mapping[int, Spread],
    gaps: Collection[int],
    reached: Collection[int],
    dates: Dates | None,
) -> list[list[Hashable]]:
    """Return the facts on the cut that misled some rows, each for all rows; IN: reached: cuts of missing values."""
    j, n = cut.feature, len(rows)
    names, values = evidence.coordinates.columns, evidence.coordinates.table.column(j, rows)
    if j in categories:
        side = condition(condition_of(cut, names, categories))
        nothing: list[Hashable] = [None] * n
        return [[names[j]] * n, [categories[j].value(code) for code in values], [side] * n, nothing, nothing, nothing]
    ends = ends_without_missing(cut.lower, cut.upper) if j in gaps else (cut.lower, cut.upper)
    threshold, distance = end_of_cut(np.where(np.isfinite(values), values, 0.0) if j in gaps else values, *ends)
    with np.errstate(over="ignore"):
        numbers = (threshold, distance, distance / spreads[j].deviation)
    if j not in gaps and dates is None:
        return [[names[j]] * n, values.tolist(), [_side(cut)] * n, *(each.tolist() for each in numbers)]
    fulfilled = condition_of(cut, names, categories, gaps, {} if dates is None else {j: dates})
    side = condition(fulfilled._replace(or_missing=fulfilled.or_missing and cut.node in reached))
    said = _values_of_numbers(values, values)
    if dates is not None:
        said = [None if days is None else dates.text(days) for days in said]  # type: ignore[arg-type]
    return [[names[j]] * n, said, [side] * n, *(_values_of_numbers(each, values) for each in numbers)]


def _values_of_numbers(numbers: Floats, values: Floats) -> list[Hashable]:
    """Return numbers that tell of values, None where a number is infinite or the value is missing."""
    known = np.isfinite(numbers) & np.isfinite(values)
    return [number if told else None for number, told in zip(numbers.tolist(), known.tolist(), strict=True)]


def _side(cut: Cut) -> str:
    if cut.lower == -np.inf:
        return "<=" if cut.inside else ">"
    if cut.upper == np.inf:
        return ">=" if cut.inside else "<"
    return "inside" if cut.inside else "outside"


class _Parting:
    """Finds the cut that parts a leaf from all leaves of a cluster. Nodes below a node follow it in pre-order."""

    def __init__(self, tree: ThresholdTree) -> None:
        self.tree = tree
        self.stop = list(range(1, tree.n_nodes + 1))  # behind the last node below each node
        for node in reversed(range(tree.n_nodes)):
            if tree.feature[node] >= 0:
                self.stop[node] = self.stop[int(tree.second[node])]
        self.leaves: dict[int, list[int]] = {}
        for node, cluster in zip(tree.leaf_nodes.tolist(), tree.leaf_clusters.tolist(), strict=True):
            self.leaves.setdefault(cluster, []).append(node)

    def cut(self, leaf: int, cluster: int) -> Cut | None:
        """Return the last cut above a leaf that has a leaf of the cluster below it; None for one without leaves."""
        leaves = self.leaves.get(cluster, [])
        for cut in reversed(self.tree.path(leaf)):
            first = bisect_left(leaves, cut.node)
            if first < len(leaves) and leaves[first] < self.stop[cut.node]:
                return cut
        return None
