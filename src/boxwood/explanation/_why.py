"""Why a row is in its cluster: its way down the tree, and the smallest change to each other cluster."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import refuse_unknown_columns
from boxwood._types import Array
from boxwood._validation import listed, position, shown
from boxwood.explanation._changes import Change, smallest_changes
from boxwood.explanation._conditions import Condition, condition_of
from boxwood.explanation._one_row import OneRow, one_row
from boxwood.explanation._spreads import Spread, end_of_cut
from boxwood.tree import ThresholdTree
from boxwood.tree._nodes import Cut

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation

__all__ = ["Step", "Why", "why_of"]


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
        None for categories, and `deviations` also for a model that was saved before spreads were kept.
    """

    column: str
    value: Hashable
    condition: Condition
    threshold: float | None = None
    margin: float | None = None
    deviations: float | None = None


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
        from boxwood.render._why import why_text

        return why_text(self)

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
        from boxwood.render._why import why_facts

        return why_facts(self)


def why_of(ex: Explanation, row: Any, immutable: Collection[str], spreads: Mapping[int, Spread] | None) -> Why:
    """See `Explanation.why`; IN: spreads of the tested columns, None if they are not known."""
    if isinstance(immutable, str):
        raise TypeError(f"immutable must be a list of names, got the text {shown(immutable)}")
    refuse_unknown_columns(immutable, ex.columns)
    tree, coded = ex.tree, ex.coded_columns
    if isinstance(row, (int, np.integer)) and not isinstance(row, bool) and ex._evidence is not None:
        row = ex._evidence.row_of(position("row", row, ex.n_rows))

    def measured() -> Array:
        return ex._rows("the position of a row").coordinates.table.values

    known = one_row(row, ex.columns, tree.features.tolist(), coded, measured)
    cuts, leaf = _way(tree, known)
    steps = tuple(_step(ex, cut, known, spreads or {}) for cut in cuts)
    if leaf is None:
        return Why(None, None, None, None, None, _without(ex, known, cuts[-1].feature), steps[:-1], (), ())
    summary = ex.leaves[leaf]
    changes: tuple[Change, ...] = ()
    reason = "the model was saved without the spreads of its columns, so changes cannot be compared"
    if spreads is not None:
        fixed = [ex.columns.index(name) for name in immutable]
        kinds: dict[str, Any] = {"columns": ex.columns, "names": ex.names, "categories": coded, "spreads": spreads}
        changes, reason = smallest_changes(tree, known, summary.cluster, immutable=fixed, **kinds), ""
    reached = {summary.cluster, *(change.cluster for change in changes)}
    far = tuple(one.name for one in ex.clusters if one.cluster not in reached) if spreads is not None else ()
    name = ex.names[summary.cluster]
    return Why(summary.cluster, leaf, name, summary.size, summary.own, reason, steps, changes, far)


def _way(tree: ThresholdTree, row: OneRow) -> tuple[list[Cut], int | None]:
    """Return the cuts on the way of a row, and its leaf; no leaf if the last cut asks for a value that is not there."""
    cuts, node = [], 0
    while (j := int(tree.feature[node])) >= 0:
        lower, upper, x = float(tree.lower[node]), float(tree.upper[node]), row.numbers[j]
        cuts.append(Cut(node, j, lower, upper, inside=lower <= x <= upper))
        if math.isnan(x):
            return cuts, None
        node = node + 1 if cuts[-1].inside else int(tree.second[node])
    return cuts, int(np.searchsorted(tree.leaf_nodes, node))


def _step(ex: Explanation, cut: Cut, row: OneRow, spreads: Mapping[int, Spread]) -> Step:
    column, coded = ex.columns[cut.feature], ex.coded_columns
    said = column, row.values[cut.feature], condition_of(cut, ex.columns, coded)
    if cut.feature in coded:
        return Step(*said)
    thresholds, margins = end_of_cut(np.array([row.numbers[cut.feature]]), cut.lower, cut.upper)
    spread, margin = spreads.get(cut.feature), float(margins[0])
    return Step(*said, float(thresholds[0]), margin, None if spread is None else margin / spread.deviation)


def _without(ex: Explanation, row: OneRow, j: int) -> str:
    """Return why a row has no cluster: a value is missing, or was never seen."""
    if row.values[j] is None:
        return f"{ex.columns[j]} is missing"
    values = listed([str(value) for value in ex.coded_columns[j].values])
    return f"{ex.columns[j]} is {shown(row.values[j])}, which was never seen (known: {values})"
