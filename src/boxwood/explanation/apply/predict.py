"""The cluster and the leaf of each row of a table, in memory or in a frame of Spark or Dask."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._dates import Dates
from boxwood._frames import column_names, names_array, names_or_none, refuse_unknown_columns
from boxwood._types import Array, Floats, Indices
from boxwood._validation import is_on_machines, refuse_unknown
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.ages import to_apply
from boxwood.explanation.apply.rows import MISSING, Missing, leaves_in
from boxwood.explanation.measured_tree import HELD
from boxwood.tree import ThresholdTree
from boxwood.tree.on_frames import Labeller, with_new_column

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


def clusters_of_rows(ex: MeasuredTree, X: Any, missing: Missing, as_of: Any = None) -> Array:
    """See `Explanation.predict`."""
    ex = to_apply(ex, as_of)
    if is_on_machines(X):
        values = tuple(ex.names[cluster] for cluster in ex.tree.leaf_clusters.tolist())
        return frame_with_leaves(ex, X, values, missing, "cluster")  # type: ignore[no-any-return]
    leaves = _leaves_of(ex, X, missing)
    if missing != "none" and leaves.min(initial=0) >= 0:
        known: Array = names_array(ex.names)[ex.tree.leaf_clusters[leaves]]
        return known
    # a row without a leaf has leaf -1, the last one, and the name behind all others
    found: Array = names_or_none(ex.names)[np.append(ex.tree.leaf_clusters, len(ex.names))[leaves]]
    return found


def shares_of_rows(ex: MeasuredTree, X: Any, missing: Missing, as_of: Any = None) -> Floats:
    """See `Explanation.predict_proba`."""
    if is_on_machines(X):
        raise DataError("shares are of rows in memory; apply gives a frame its leaves, whose shares ex.leaves tells")
    return np.vstack([shares_of_leaves(ex), np.full(ex.n_clusters, np.nan)])[leaves_of_rows(ex, X, missing, as_of)]


def shares_of_leaves(ex: MeasuredTree) -> Floats:
    """Return the share of each cluster in the rows of each leaf, shape (n_leaves, k); a leaf without rows is its own.

    Raises
    ------
    DataError
        If the explanation was read from a file that does not tell of other clusters in leaves.
    """
    held = _rows_of_clusters(ex)
    total = held.sum(axis=1, keepdims=True)
    own = np.eye(ex.n_clusters)[ex.tree.leaf_clusters]
    return np.asarray(np.where(total > 0, held / np.where(total > 0, total, 1.0), own))


def own_shares_of_leaves(ex: MeasuredTree) -> Floats:
    """Return the share of the rows of each leaf that are in the leaf's cluster, shape (n_leaves,)."""
    return shares_of_leaves(ex)[np.arange(ex.n_leaves), ex.tree.leaf_clusters]


def _rows_of_clusters(ex: MeasuredTree) -> Floats:
    """Return the number or weight of the rows of each cluster in each leaf, shape (n_leaves, k)."""
    if ex._evidence is not None:
        return ex._evidence.held.astype(np.float64)
    if HELD in ex._kept:
        return np.asarray(ex._kept[HELD], dtype=np.float64)
    raise DataError("this model does not tell of other clusters in its leaves; save it anew from the rows")


def leaves_of_rows(ex: MeasuredTree, X: Any, missing: Missing, as_of: Any = None) -> Indices:
    """See `Explanation.apply`."""
    return _leaves_of(to_apply(ex, as_of), X, missing)


def _leaves_of(ex: MeasuredTree, X: Any, missing: Missing) -> Indices:
    if is_on_machines(X):
        return frame_with_leaves(ex, X, range(ex.n_leaves), missing, "leaf")  # type: ignore[no-any-return]
    return leaves_in(ex.tree, ex.columns, ex._coded_columns, X, missing, ex._gap_columns, ex._date_columns)


def frame_with_leaves(ex: MeasuredTree, frame: Any, values: Sequence[Hashable], missing: Missing, name: str) -> Any:
    """Return the frame with one more column: for each row the value of its leaf, from a value for each leaf.

    Raises
    ------
    DataError
        If the frame lacks a column that the tree tests.
    """
    refuse_unknown("missing", missing, MISSING)
    present = column_names(frame)
    days = [one.day_column for one in ex._date_columns.values() if one.day_column]
    tested = list(dict.fromkeys([*(ex.columns[j] for j in ex.tree.features.tolist()), *days]))
    refuse_unknown_columns(tested, present)
    labeller = Labeller(
        places=tuple(map(present.index, tested)),
        names=tuple(tested),
        leaf_of=_Leaves(ex.tree, ex.columns, ex._coded_columns, ex._gap_columns, ex._date_columns),
        values=tuple(values),
        missing="error" if missing == "error" else "none",  # workers would warn where nobody reads it
    )
    return with_new_column(frame, labeller, name)


@dataclass(frozen=True)
class _Leaves:
    """The leaf of each row of a small table, whose columns are those that the tree tests."""

    tree: ThresholdTree
    columns: tuple[str, ...]
    categories: Mapping[int, Categories]
    gaps: Collection[int]
    dates: Mapping[int, Dates]

    def __call__(self, table: Any) -> Indices:
        return leaves_in(self.tree, self.columns, self.categories, table, "none", self.gaps, self.dates)
