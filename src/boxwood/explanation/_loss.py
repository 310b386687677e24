"""The loss by which trees are compared and refined: cost or mistakes, depending on the clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Floats, Indices
from boxwood.grow._refine import means_of, refined, refined_with_centers
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.loops.kernels import products
from boxwood.metrics._cost import summed_distances
from boxwood.reference import Task
from boxwood.tree import ThresholdTree

__all__ = ["Candidate", "Loss", "least"]

NEAREST = 0.95  # the loss is the cost if at least this share of rows is nearest to its own cluster's mean
INCOMPLETE = 1.25  # factor on the loss of a tree that leaves a cluster without a leaf


class Candidate(NamedTuple):
    """A tree, its name, and its loss; see `Loss.of`."""

    loss: tuple[float, float]
    name: str
    tree: ThresholdTree


def least(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the least loss, the first of equals."""
    return min(candidates, key=lambda candidate: candidate.loss)


class Loss:
    """The loss of trees that explain one clustering.

    It is the within-cluster cost if nearly all rows are nearest to the mean of their cluster; otherwise it is the
    weight of the rows outside their cluster. A cost below that of the clusters themselves gains nothing: such a tree
    has found other clusters. Among equal losses the weight of the rows outside their cluster decides.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.is_cost = _of_means(task)
        self.least_cost = self._cost(task.reference.labels)
        self.present = np.unique(task.reference.labels[task.reference.kept])

    def of(self, tree: ThresholdTree) -> tuple[float, float]:
        """Return the loss of a tree, and the weight of the rows outside their cluster."""
        reference, weights = self.task.reference, self.task.rows.weights
        predicted, kept = tree.predict(self.task.rows), reference.kept
        wrong = kept & (predicted != reference.labels)
        mistakes = float(wrong.sum() if weights is None else weights[wrong].sum())
        loss = mistakes
        if self.is_cost:
            loss = self._cost(np.where(kept, predicted, -1))
        if not np.isin(self.present, np.unique(predicted[kept])).all():
            loss *= INCOMPLETE
        return (max(loss, self.least_cost) if self.is_cost else loss), mistakes

    def _cost(self, labels: Indices) -> float:
        return summed_distances(self.task.rows.values, labels, SQEUCLIDEAN, None, self.task.rows.weights)

    def scored(self, candidates: Iterable[tuple[str, ThresholdTree]]) -> list[Candidate]:
        """Return the candidates with their losses; of equal trees only the first, so that none is refined twice."""
        first: dict[ThresholdTree, str] = {}
        for name, tree in candidates:
            first.setdefault(tree, name)
        return [Candidate(self.of(tree), name, tree) for tree, name in first.items()]

    def refined(self, tree: ThresholdTree, part: Task) -> ThresholdTree:
        """Return the tree with cuts that lose less on the rows of `part`, a sample of the task."""
        if not self.is_cost:
            return refined(tree, part, "mistakes")
        return refined_with_centers(tree, part)


def _of_means(task: Task) -> bool:
    """Return whether nearly every row lies nearest to the mean of its own cluster."""
    X, reference, weights = task.rows.values, task.reference, task.rows.weights
    means = means_of(task, reference.labels)
    means = np.where(np.isnan(means), np.inf, means)
    present: Bools = np.isfinite(means[:, 0])
    origin = means[present].mean(axis=0)
    unit = np.abs(means[present] - origin).max() or 1.0  # keeps squares of huge numbers finite
    centered = np.where(present[:, None], (means - origin) / unit, 0.0)
    norms = np.where(present, np.square(centered).sum(axis=1), np.inf)

    def count(start: int, stop: int) -> Floats:
        labels = reference.labels[start:stop]
        rows = (X[start:stop] - origin) / unit
        distances = norms - 2 * products(rows, centered)
        kept = labels >= 0
        nearest_to_own: Array = distances[np.arange(len(labels)), np.where(kept, labels, 0)] <= distances.min(axis=1)
        weight: Array = np.where(kept, 1.0 if weights is None else weights[start:stop], 0.0)
        return np.array([weight[nearest_to_own].sum(), weight.sum()], dtype=np.float64)

    nearest_to_own, total = np.sum(map_blocks(count, len(X)), axis=0)
    return bool(nearest_to_own >= NEAREST * total)
