"""Rows held out: trees are grown again on the other rows, and measured on these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._progress import Progress, silent, tell_progress
from boxwood._types import Floats, Indices
from boxwood._validation import Rows, random_of, show_value
from boxwood.batches.sample import Draw, Sample, sample_of
from boxwood.errors import DataError
from boxwood.explanation.choose.search import rows_of_sample
from boxwood.explanation.measure.evidence import Evidence, confusion_in, held_in
from boxwood.explanation.measure.losses import Distance, Loss, add_losses, losses_on
from boxwood.explanation.records import HeldOut
from boxwood.reference import Reference, Task
from boxwood.reference.feature_space import FeatureSpace

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

MOST_FOLDS = 100
Validate = float | int
"""A share of the rows, or a number of folds."""


def checked_validate(validate: Any) -> Validate:
    """Return a share between 0 and 1 or a number of folds from 2 on.

    Raises
    ------
    TypeError, ValueError
        If it is neither.
    """
    expected = f"a share of the rows between 0 and 1, a number of folds from 2 to {MOST_FOLDS}, or None"
    if isinstance(validate, bool) or not isinstance(validate, Real):
        raise TypeError(f"validate must be {expected}; got {show_value(validate)}")
    within: Any = min(validate, MOST_FOLDS + 1)
    is_whole, value = isinstance(validate, Integral), float(within)
    if is_whole and 2 <= value <= MOST_FOLDS:
        return int(value)
    if not is_whole and 0 < value < 1:
        return value
    raise ValueError(f"validate must be {expected}; got {show_value(validate)}")


def held_out(evidence: Evidence, validate: Validate, distance: Distance, progress: Progress = silent) -> HeldOut:
    """Return how well trees do on rows that were not used to grow them, each grown as the explanation's tree was.

    With a share, one tree is grown on the other rows. With folds, every row is held out once, and the losses of all
    folds are added before they are divided.

    Raises
    ------
    DataError
        If there are too few rows.
    ValueError
        If the tree was there already, and nothing says how to grow another.
    """
    if evidence.grow is None:
        raise ValueError("the tree already exists, so none can be grown without the rows held out; leave it out")
    grow, parts = evidence.grow, parts_held_out(evidence.task, validate)

    def loss(task: Task, held: Indices) -> tuple[Loss, Floats]:
        tree = grow(task).tree
        if evidence.budget.moves_thresholds:
            tree = rest_of(evidence, task, held).on_table(tree)
        losses = losses_on(tree, evidence.of_rows(held), distance)
        return losses.of(tree.leaf_clusters), confusion_in(losses.held, tree)

    each, confusions = zip(*loss_of_parts(evidence.task, parts, loss, progress), strict=True)
    total, confusion = add_losses(list(each)), np.sum(confusions, axis=0)
    shares = (_shares(confusion.diagonal(), confusion.sum(axis=axis)) for axis in (1, 0))
    return HeldOut(total.agreement, total.price, int(sum(map(len, parts))), how_of(validate), *shares)


def _shares(parts: Floats, wholes: Floats) -> tuple[float | None, ...]:
    """Return each part as a share of its whole; None where that is nothing."""
    pairs = zip(parts.tolist(), wholes.tolist(), strict=True)
    return tuple(min(part / whole, 1.0) if whole else None for part, whole in pairs)


def how_of(validate: Validate) -> str:
    """Return in words how rows are held out."""
    return f"{validate} folds" if isinstance(validate, int) else f"{100 * validate:g}% of the rows"


def rest_of(evidence: Evidence, task: Task, held: Indices) -> Evidence:
    """Return the evidence without the rows held out; `task` has the others."""
    return replace(evidence.of_rows(_all_but(len(evidence.leaf), held)), task=task)


def loss_of_parts(
    task: Task, parts: list[Indices], loss: Callable[[Task, Indices], Any], progress: Progress = silent
) -> list[Any]:
    """Return `loss(task without the part, part)` for each part."""
    each = tell_progress(progress, "trees grown without the rows held out", parts)
    return [loss(_without(task, held), held) for held in each]


def parts_held_out(task: Task, validate: Validate) -> list[Indices]:
    """Return the numbers of the rows that are held out together: one array for a share, or one for each fold.

    The rows of each cluster are spread evenly over the folds, in an order drawn by the task's randomness. Each cluster
    keeps a row to grow on, so the only row of a cluster is never held out. Neither are rows that are left out.

    Raises
    ------
    DataError
        If there are fewer rows than folds, or no row is left to be held out.
    """
    order = _shuffled_by_cluster(task)
    if isinstance(validate, int):
        if len(order) < validate:
            raise DataError(f"{validate} folds need as many rows in clusters of two or more, got {len(order)}")
        return [np.sort(order[fold::validate]) for fold in range(validate)]
    position = np.arange(len(order))
    chosen = np.floor((position + 1) * validate) > np.floor(position * validate)
    labels = task.reference.labels[order]
    for cluster in np.unique(labels):
        of_cluster = np.flatnonzero(labels == cluster)
        if chosen[of_cluster].all():
            chosen[of_cluster[0]] = False
    if not chosen.any():
        raise DataError(f"validate={validate:g} holds out no row of {int(task.kept.sum())}; ask for more, or for folds")
    return [np.sort(order[chosen])]


def _shuffled_by_cluster(task: Task) -> Indices:
    """Return the kept rows of clusters with two or more of them, cluster after cluster, in random order."""
    generator, labels = random_of(task.random_state), task.reference.labels
    order = generator.permutation(np.flatnonzero(task.kept))
    sizes = np.bincount(labels[order], minlength=task.reference.n_clusters)
    order = order[sizes[labels[order]] > 1]
    return np.asarray(order[np.argsort(labels[order], kind="stable")], dtype=np.intp)


def retaken(task: Task, rows: Indices) -> Task:
    """Return the task on some rows, which may be taken more than once.

    If the clusters' centres are the means of their rows, they become the means of these rows, unless a cluster has none
    of them.
    """
    part, reference = task.of_rows(rows), task.reference
    present = np.unique(part.reference.labels[part.kept])
    if reference.moments is None or len(present) < reference.n_clusters:
        return part
    means = Reference.of(part.rows, part.reference.labels)
    return part.with_reference(means.named(reference.names))


def _without(task: Task, held: Indices) -> Task:
    return retaken(task, _all_but(task.n_rows, held))


def _all_but(n_rows: int, held: Indices) -> Indices:
    stays = np.ones(n_rows, dtype=np.bool_)
    stays[held] = False
    return np.flatnonzero(stays)


def with_rows_in_memory(ex: MeasuredTree) -> tuple[MeasuredTree, bool]:
    """Return an explanation that refers to rows in memory, and whether these are all with a cluster.

    Of rows in batches it refers to a sample, which depends on the rows alone, and takes a pass. Its tree and its facts
    stay those of all rows.
    """
    there = ex._evidence
    if there is None or there.facts is None:
        return ex, there is None or there.whole is None
    whole = there.facts.task
    sample, is_all = _sample(whole)
    table = Rows(sample.values, sample.own_weights if whole.is_weighted else None)
    coordinates = FeatureSpace.of_rows(table, ex.columns, there.coordinates.scaling)
    task = _task(coordinates.rows, sample, there)
    leaf = ex.tree.apply(table, n_jobs=whole.n_jobs)
    held, _ = held_in(task, leaf, ex.n_leaves)
    here = replace(there, task=task, coordinates=coordinates, leaf=leaf, held=held, facts=None, budget=task.budget)
    return replace(ex, _evidence=here), is_all


def _sample(task: Task) -> tuple[Sample, bool]:
    """Return rows of the table, each as likely as any other, and whether these are all with a cluster and a weight."""
    most = rows_of_sample(task.batches, task.leaves())
    sample = sample_of(task.batches, Draw.of(most, task.overview.sizes)).drawn(most)
    return sample, len(sample.labels) == task.n_kept


def _task(rows: Rows, sample: Sample, there: Evidence) -> Task:
    """Return the task on the rows of a sample; centres that are means are theirs, if each cluster has some."""
    task, names = there.task, there.task.reference.names
    centers = task.reference.centers
    reference = Reference(sample.labels, centers)
    if there.by_means and len(np.unique(sample.labels)) == len(centers):
        reference = Reference.of(rows, sample.labels)
    return task.on(rows, reference.named(names), task.budget.for_share(min(len(rows) / task.n_kept, 1.0)))
