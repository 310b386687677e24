"""`task_of`: the task of rows in memory or in batches, whichever is given."""

from __future__ import annotations

from typing import Any

from boxwood.passes._batches import Batches
from boxwood.passes._source import Source, refuse_unscanned
from boxwood.passes._table_task import TableTask
from boxwood.reference import Task

__all__ = ["task_of"]


def task_of(X: Any, reference: Any, **options: Any) -> Task | TableTask:
    """Return `TableTask.of` for a source, and `Task.of` for anything else."""
    refuse_unscanned(X)
    make = TableTask.of if isinstance(X, (Source, Batches)) else Task.of
    return make(X, reference, **options)
