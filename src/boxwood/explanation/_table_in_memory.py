"""A sample of the rows of a table in batches in memory, for what is measured by growing trees many times."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boxwood._validation import Rows
from boxwood.explanation._best import choose
from boxwood.explanation._evidence import Evidence
from boxwood.explanation._holdout import Validate, held_out, how_of
from boxwood.explanation._losses import Distance
from boxwood.explanation._progress import Progress
from boxwood.explanation._table_auto import rows_of_sample
from boxwood.passes import TableTask
from boxwood.passes._sample import Sample, sample_of
from boxwood.reference import Reference, Task
from boxwood.reference._coordinates import Coordinates

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._records import HeldOut
    from boxwood.explanation._table_growth import Growth

__all__ = ["held_out_of_sample", "with_sample_in_memory"]


def with_sample_in_memory(ex: Explanation) -> tuple[Explanation, bool]:
    """Return an explanation that refers to a sample of the rows of its table, and whether they are all with a cluster.

    The sample depends on the rows alone. Its tree and its facts stay those of all rows. Takes a pass.
    """
    assert ex._table is not None
    whole, growth = ex._table.task, ex._table.growth
    sample, is_all = _sample(whole)
    weights = None if whole.batches.weight is None else sample.own_weights
    table = Rows(sample.values, weights)
    coordinates = Coordinates.of_rows(table, ex.columns, None if growth is None else growth.scaling)
    task = _task(coordinates.rows, sample, whole if growth is None else growth.task, growth)
    task = task.with_reference(task.reference.named(ex.names))
    evidence = Evidence(
        task,
        coordinates,
        ex.tree.apply(table, n_jobs=whole.n_jobs),
        None if growth is None else lambda part: choose(part, growth.method, **growth.options),
        None if growth is None else growth.clusterer,
        is_short=growth is not None,
        budget=task.budget,
    )
    return replace(ex, _table=None, _evidence=evidence), is_all


def held_out_of_sample(ex: Explanation, validate: Validate, progress: Progress) -> HeldOut:
    """Return how well trees do on rows of a sample that were not used to grow them; `how` names the sample."""
    sampled, is_all = with_sample_in_memory(ex)
    evidence = sampled._rows()
    found = held_out(evidence, validate, Distance(ex.objective), progress)
    return found if is_all else found._replace(how=f"{how_of(validate)}, of a sample of {len(evidence.leaf):,} rows")


def _sample(task: TableTask) -> tuple[Sample, bool]:
    """Return rows of the table, each as likely as any other, and whether these are all with a cluster and a weight."""
    most = rows_of_sample(task)
    distinct = sample_of(task.batches, most)
    times = np.cumsum(distinct.times)
    total = int(times[-1])
    if total <= most:
        return distinct.repeated(), total == task.n_kept
    drawn = np.sort(random.Random(0).sample(range(total), most))
    return distinct.at(np.searchsorted(times, drawn, side="right")), False


def _task(rows: Rows, sample: Sample, task: TableTask, growth: Growth | None) -> Task:
    """Return the task on the rows of a sample; centres that are means are theirs, if each cluster has some."""
    centers, budget = task.reference.centers, task.budget
    reference = Reference(sample.labels, centers)
    if growth is not None and growth.by_means and len(np.unique(sample.labels)) == len(centers):
        reference = Reference.of(rows, sample.labels)
    return Task.of(
        rows,
        reference,
        mixture=task.mixture,
        max_leaf_nodes=task.max_leaf_nodes,
        random_state=task.random_state,
        n_jobs=task.n_jobs,
        budget=budget.for_share(min(len(rows) / task.n_kept, 1.0)),
    )
