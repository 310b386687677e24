"""What changed from one tree to another: cuts that moved, came and went, and the share of rows in another cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boxwood._frames import as_matrix, column_names, date_columns, is_frame, refuse_unknown_columns
from boxwood._types import Array, Floats, Indices, Weights
from boxwood._validation import show_value
from boxwood.batches import Batches, Source
from boxwood.batches.batches import rows_of
from boxwood.errors import DataError
from boxwood.explanation._tally import Tally
from boxwood.explanation.apply.results import Ends, MovedCut, TreeChanges
from boxwood.reference.budget import as_names
from boxwood.tree import Interval, ThresholdTree
from boxwood.tree.boxes import Box
from boxwood.tree.nodes import clusters_below
from boxwood.tree.tree import refuse_no_tree


def changes_in_words(
    old: ThresholdTree, new: ThresholdTree, columns: Sequence[str] | None = None, rows: Any = None
) -> str:
    """Return what changed from one tree to another in a few lines of text.

    Clusters of two explanations, or of two tallies, whatever their numbers and names, are compared by `match`.

    Parameters
    ----------
    old, new : ThresholdTree
        Trees on the same columns whose clusters have the same numbers.
    columns : sequence of str, default=None
        Names of the columns; None takes those of `rows`, or x0, x1, and so on. A table in batches must have them, as
        labels and weights may be among its other columns.
    rows : Tally, array-like or frame of shape (n, d), or a table in batches, default=None
        Tells the share of rows that changed cluster. From rows it is exact. From a tally it is an estimate, which is
        said: within a cluster, columns are taken as independent, and values as spread evenly in a bin. Trees of tallies
        with words need the later tally, which knows the words.

    Raises
    ------
    DataError
        If a tree tests a column that is not there.

    Examples
    --------
    >>> from boxwood import Tally
    >>> monday = Tally.of([[1.0], [2.0], [8.0]], [[1.0], [9.0]])
    >>> both = monday + Tally.of([[6.0], [9.0], [9.5]], monday)
    >>> print(changes_in_words(monday.mmdt(), both.mmdt(), ["income"], [[4.0], [4.8], [9.0], [6.0]]))
    the cut on income moved from 4.75 to 4.8125
    25 % of rows changed cluster
    """
    from boxwood.words.measured import words

    refuse_no_tree(old)
    refuse_no_tree(new)
    names = None if columns is None else as_names("columns", columns)
    width = max(old.n_features, new.n_features)
    rows = _rows_of(rows, width, names) if isinstance(rows, Source) else rows
    names = _columns_of(rows) if names is None else names
    names = tuple(f"x{j}" for j in range(width)) if names is None else names
    if len(names) < width:
        raise DataError(f"the trees test column {width - 1}, but there are {len(names)} names of columns")
    known = dict(rows.dates) if isinstance(rows, Tally) else date_columns(rows)
    dates = {j: known[name] for j, name in enumerate(names) if name in known}
    coded = rows._coded_columns if isinstance(rows, Tally) else {}
    return words(tree_changes(old, new, rows), names, dates, coded)


def tree_changes(old: ThresholdTree, new: ThresholdTree, rows: Any = None) -> TreeChanges:
    """Return what changed from one tree to another; see `changes_in_words`."""
    before, after = _cuts(old), _cuts(new)
    moved, n_same = [], 0
    for key in [key for key in before if key in after]:
        for ends, other in zip(before[key], after[key], strict=False):
            if ends == other:
                n_same += 1
            else:
                moved.append(MovedCut(key[0], ends, other))
    gone, added = _left_over(before, after), _left_over(after, before)
    share = None if rows is None else _share(old, new, rows)
    return TreeChanges(tuple(moved), gone, added, n_same, share, isinstance(rows, Tally))


_Key = tuple[int, frozenset[int], frozenset[int]]  # column, and the clusters on both sides of a cut


def _cuts(tree: ThresholdTree) -> dict[_Key, list[Ends]]:
    """Return the cuts of a tree by what they separate."""
    below = clusters_below(tree)
    cuts: dict[_Key, list[Ends]] = {}
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        feature, upper, lower, members = tree.test(node)
        key = feature, below[node + 1], below[int(tree.second[node])]
        cuts.setdefault(key, []).append(Ends(lower, upper, members))
    return cuts


def _left_over(cuts: dict[_Key, list[Ends]], others: dict[_Key, list[Ends]]) -> tuple[tuple[int, Ends], ...]:
    return tuple((key[0], ends) for key, each in cuts.items() for ends in each[len(others.get(key, [])) :])


def _columns_of(rows: Any) -> tuple[str, ...] | None:
    if isinstance(rows, (Tally, Batches)):
        return rows.columns
    if isinstance(rows, Source):
        return rows_of(rows).columns
    return column_names(rows) if rows is not None and is_frame(rows) else None


def _rows_of(source: Source, width: int, columns: Sequence[str] | None) -> Batches:
    """Return the columns of a source that trees of some width test; labels and weights may be among the numbers."""
    batches = rows_of(source)
    if columns is not None:
        refuse_unknown_columns(columns, source.names)
        return replace(batches, columns=tuple(columns))
    if batches.n_columns > width:
        raise DataError(
            f"{source.name} has {batches.n_columns} columns of numbers, and the trees need {width}; name the trees' "
            "columns in their order (columns), without labels and weights"
        )
    return batches


def _share(old: ThresholdTree, new: ThresholdTree, rows: Any) -> float:
    """Return the share of rows that changed cluster."""
    if isinstance(rows, Tally):
        return _estimated_share(old, new, rows)
    if isinstance(rows, (Source, Batches)):
        batches = rows if isinstance(rows, Batches) else rows_of(rows)
        counted = batches.fold(partial(_Changed, old, new))
    else:
        values = as_matrix(rows) if is_frame(rows) else np.asarray(rows)
        if values.ndim != 2:
            raise DataError(f"rows must be a table or a Tally, got {show_value(rows)}")
        counted = _Changed(old, new)
        counted.update((values, np.empty(0, dtype=np.intp), None))
    return counted.changed / counted.n_rows if counted.n_rows else 0.0


class _Changed:
    """Number of rows that two trees label differently: a summary of blocks."""

    def __init__(self, old: ThresholdTree, new: ThresholdTree) -> None:
        self.trees, self.n_rows, self.changed = (old, new), 0, 0

    def update(self, block: tuple[Array, Indices, Weights]) -> None:
        """Add a block of rows."""
        before, after = (tree.predict(block[0], n_jobs=1) for tree in self.trees)
        self.n_rows += len(before)
        self.changed += int((before != after).sum())

    def merge(self, other: _Changed) -> None:
        """Add other counts."""
        self.n_rows, self.changed = self.n_rows + other.n_rows, self.changed + other.changed


def _estimated_share(old: ThresholdTree, new: ThresholdTree, tally: Tally) -> float:
    """Return the share of rows in a leaf of each tree with other clusters, if columns were independent."""
    if max(old.n_features, new.n_features) > len(tally.columns):
        raise DataError(f"the trees test more columns than the tally has ({len(tally.columns)})")
    same = np.zeros(len(tally.sizes))
    for box, cluster in zip(old.boxes(), old.leaf_clusters.tolist(), strict=True):
        for other, other_cluster in zip(new.boxes(), new.leaf_clusters.tolist(), strict=True):
            if cluster == other_cluster and (both := _common(box, other)) is not None:
                same += tally.sizes * _mass(both, tally)
    return float(np.clip(1.0 - same.sum() / max(tally.n_rows, 1), 0.0, 1.0))


def _common(box: Box, other: Box) -> Box | None:
    """Return the part that two boxes share; None if there is none."""
    both: Box = {}
    for j in {*box, *other}:
        everything = (Interval(-math.inf, math.inf, True, True),)
        pieces = [a.intersection(b) for a in box.get(j, everything) for b in other.get(j, everything)]
        both[j] = tuple(piece for piece in pieces if piece is not None)
        if not both[j]:
            return None
    return both


def _mass(box: Box, tally: Tally) -> Floats:
    """Return the share of each cluster's rows in a box, shape (k,)."""
    mass, coded = np.ones(len(tally.sizes)), tally._coded_columns
    for j, pieces in box.items():
        if j in coded:
            codes = [code for code in range(len(coded[j].values)) if any(code in piece for piece in pieces)]
            mass *= tally.counts[:, j, codes].sum(axis=1) / np.maximum(tally.sizes, 1)
        else:
            mass *= sum((_up_to(tally, j, each.upper) - _up_to(tally, j, each.lower) for each in pieces), np.zeros(1))
    return mass


def _up_to(tally: Tally, j: int, value: float) -> Floats:
    """Return the share of each cluster's rows up to a value of a column, shape (k,); missing ones are plus infinity.

    Rows are spread evenly within a bin. Those below the first edge and above the last one lie close to it.
    """
    edges = tally.edges[j][np.isfinite(tally.edges[j])]
    shares = np.cumsum(tally.counts[:, j], axis=1) / np.maximum(tally.sizes, 1)[:, None]
    if math.isinf(value):
        return np.full(len(shares), float(value > 0))
    if len(edges) == 0 or value > edges[-1]:
        return np.asarray(shares[:, -1])
    return np.array([np.interp(value, edges, share[: len(edges)], left=0.0) for share in shares])
