"""An explanation on a data frame of Spark or Dask: columns by their names, clusters by theirs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from boxwood._frames import column_names, refuse_unknown_columns
from boxwood._types import Indices
from boxwood._validation import refuse_unknown
from boxwood.axes import Categories
from boxwood.explanation._rows import leaves_of_rows
from boxwood.tree import ThresholdTree
from boxwood.tree._on_frames import Labeller, with_new_column

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation

__all__ = ["frame_with_leaves"]


def frame_with_leaves(
    ex: Explanation, frame: Any, values: Sequence[Hashable], missing: Literal["error", "none"], name: str
) -> Any:
    """Return the frame with one more column: for each row the value of its leaf, from a value for each leaf.

    Raises
    ------
    DataError
        If the frame lacks a column that the tree tests.
    """
    refuse_unknown("missing", missing, ("error", "none"))
    present = column_names(frame)
    tested = [ex.columns[j] for j in ex.tree.features.tolist()]
    refuse_unknown_columns(tested, present)
    labeller = Labeller(
        places=tuple(map(present.index, tested)),
        names=tuple(tested),
        leaf_of=_Leaves(ex.tree, ex.columns, ex.coded_columns),
        values=tuple(values),
        missing=missing,
    )
    return with_new_column(frame, labeller, name)


@dataclass(frozen=True)
class _Leaves:
    """The leaf of each row of a small table, whose columns are those that the tree tests."""

    tree: ThresholdTree
    columns: tuple[str, ...]
    categories: Mapping[int, Categories]

    def __call__(self, table: Any) -> Indices:
        return leaves_of_rows(self.tree, self.columns, self.categories, table, "none")
