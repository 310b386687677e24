"""Rows of a table in batches in memory, all of them or some that are drawn: on these most methods grow their trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boxwood._validation import Rows
from boxwood.batches.sample import Draw, sample_of
from boxwood.reference import Reference, Task

IN_MEMORY = 1 << 23  # A table of more values is not read into memory: rows of so many are drawn,
ROWS, ROWS_PER_LEAF = 20_000, 50  # of wide tables at least so many,
ROWS_EACH = 2_000  # and about so many of each cluster, if it has as many.


def task_in_memory(task: Task) -> Task:
    """Return the task with all of its rows in memory."""
    few, reference = task.batches.gathered(), task.reference
    rows, reference = Rows.of(few.values, few.weights), Reference(few.labels, reference.centers, reference.names)
    return task.on(rows, reference)


def task_for_growth(task: Task) -> tuple[Task, tuple[str, ...]]:
    """Return the task on rows in memory on which a tree is grown, and a note where these are not all rows."""
    if task.n_kept * task.n_columns <= IN_MEMORY:
        return task_in_memory(task), ()
    n_rows = max(IN_MEMORY // task.n_columns, ROWS, ROWS_PER_LEAF * task.leaves(times=2))
    few, is_whole = task_drawn(task, n_rows, ROWS_EACH)
    note = f"the tree was grown on {len(few.rows):,} of {task.n_rows:,} rows, drawn at random, and measured on all"
    return few, () if is_whole else (note,)


def task_drawn(task: Task, n_rows: int, each: int, fold: Callable[[Any], Any] | None = None) -> tuple[Task, bool]:
    """Return the task on a sample of distinct rows, and whether all rows are in it.

    Heavy rows and those of rare clusters are drawn more often, and weigh less by as much, but where leaves must have
    some rows.

    IN: each: about how many rows of a cluster are drawn at least; fold: as for `sample_of`.
    """
    budget = task.budget
    is_free = budget.min_samples_leaf == 1
    mean_weight = task.overview.total_weight() / task.n_kept if is_free and task.is_weighted else None
    each = min(each, n_rows // (4 * task.reference.n_clusters)) if is_free else 0
    draw = Draw.of(n_rows, task.overview.sizes, each, mean_weight)
    found = sample_of(task.batches, draw, fold)
    is_whole = int(found.times.sum()) == task.n_kept
    values, weights = found.values, found.weights
    if not is_whole:
        weights = weights / found.chances
    if budget.min_samples_leaf > 1:  # which counts equal rows one by one
        if is_whole and found.times.sum() <= n_rows:
            found = found.repeated()
            values, weights = found.values, found.weights
        else:
            budget = budget.for_share(min(len(values) / task.n_kept, 1.0))
    are_alike = not task.is_weighted and bool((weights == 1.0).all())
    reference = Reference(found.labels, task.reference.centers, task.reference.names)
    return task.on(Rows(values, None if are_alike else weights), reference, budget), is_whole
