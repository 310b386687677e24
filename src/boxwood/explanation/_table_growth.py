"""How the tree of an explanation of a table in batches was grown, and how it is grown again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from boxwood.axes import Scaling
from boxwood.errors import DataError
from boxwood.explanation._best import refuse_leaves
from boxwood.explanation._table_auto import sample_task
from boxwood.explanation._table_facts import TableFacts
from boxwood.explanation._table_limits import on_few_columns
from boxwood.grow import METHODS
from boxwood.grow._grown import Grown
from boxwood.passes import TableTask

__all__ = ["Growth", "grown_by_name"]


class Growth(NamedTuple):
    """How the tree of an explanation of a table in batches was grown.

    Parameters
    ----------
    task : TableTask
        Rows and their clusters, in the columns on which trees are grown.
    method : str
        "auto", or a name of `METHODS`.
    options : mapping
        Options of the method.
    clusterer : object
        The fitted clusterer that made the clusters; None if labels or centres were given.
    scaling : Scaling or None
        Map from the table's columns to those of the task; None if they are the same.
    by_means : bool
        Whether the clusters' centres are the means of their rows.
    """

    task: TableTask
    method: str
    options: Mapping[str, Any]
    clusterer: Any
    scaling: Scaling | None
    by_means: bool


def grown_by_name(facts: TableFacts, method: str, options: Mapping[str, Any]) -> Grown:
    """Return what a method by its name grows on all rows, as `choose` does for rows in memory."""
    chosen, task = METHODS[method], facts.task
    notes: tuple[str, ...] = ()
    refuse_leaves(task, chosen)
    if task.budget.max_columns is not None:
        task, notes = on_few_columns(task, *sample_task(facts))
    grown = chosen.grow(task, **options)
    if grown.objective != "sqeuclidean" or grown.kernel is not None:
        raise DataError(f"costs by {grown.objective} distances need all rows in memory")
    return grown._replace(notes=(*notes, *grown.notes))
