"""`TableEvidence`: what an explanation of a table in batches knows of the rows it was measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from boxwood._types import Array
from boxwood.errors import DataError
from boxwood.explanation._held import confusion_in
from boxwood.explanation._table_facts import TableFacts
from boxwood.passes import TableTask
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.explanation._table_growth import Growth

__all__ = ["TableEvidence", "refuse_all_rows"]


@dataclass(frozen=True)
class TableEvidence:
    """The table of an explanation, and sums over its rows; it is never written.

    Parameters
    ----------
    task : TableTask
        Rows in batches and the clusters with their names.
    held : array of shape (n_leaves, k)
        Number, or weight, of the rows of each cluster in each leaf.
    facts : TableFacts
        Means of the clusters, and squared distances to them.
    booleans : sequence of str
        Columns that hold booleans.
    growth : Growth, default=None
        How the tree was grown; None for a tree that was there already.
    """

    task: TableTask
    held: Array
    facts: TableFacts
    booleans: Sequence[str] = ()
    growth: Growth | None = None

    def confusion(self, tree: ThresholdTree) -> tuple[tuple[float, ...], ...]:
        """Return the number, or the weight, of the rows of each cluster that are ruled to be in each cluster."""
        return tuple(map(tuple, confusion_in(self.held, tree).tolist()))


def refuse_all_rows(what: str, table: str) -> NoReturn:
    """Raise a DataError for what needs all rows in memory."""
    raise DataError(
        f"{what} needs all rows in memory, but {table} is read in batches; read a sample of its rows into a "
        "frame and explain that, or pass the frame and its labels to measure"
    )
