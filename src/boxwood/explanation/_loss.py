"""What a tree loses, by which trees are compared and refined: cost or mistakes, as the clusters call for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxwood._threads import map_blocks
from boxwood.explanation._task import Task
from boxwood.grow import refine
from boxwood.loops.kernels import products
from boxwood.metrics import best_centers, partition_cost
from boxwood.tree import ThresholdTree

__all__ = ["Loss"]

NEAREST = 0.95  # share of rows nearest to their own cluster's mean from which on clusters are those of means
INCOMPLETE = 1.25  # a tree that leaves a cluster without a rule counts as if it lost so many times as much
ROUNDS = 10  # of centres and cuts taking turns


class Loss:
    """The loss of trees that explain one clustering.

    It is the within-cluster cost if the clusters are those of means, so that cost is what they are about; otherwise the
    weight of the rows outside their cluster. A cost below that of the clusters themselves gains nothing: such a tree
    has found other clusters. Among equal losses the weight of the rows outside their cluster decides.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.is_cost = _of_means(task)
        self.least_cost = partition_cost(task.X, task.reference.labels, sample_weight=task.weights)
        self.present = np.unique(task.reference.labels[task.reference.kept])

    def of(self, tree: ThresholdTree) -> tuple[float, float]:
        """Return the loss of a tree, and the weight of the rows outside their cluster."""
        X, reference, weights = self.task.X, self.task.reference, self.task.weights
        predicted, kept = tree.predict(X), reference.kept
        wrong = kept & (predicted != reference.labels)
        mistakes = float(wrong.sum() if weights is None else weights[wrong].sum())
        loss = mistakes
        if self.is_cost:
            loss = partition_cost(X, np.where(kept, predicted, -1), sample_weight=weights)
        if not np.isin(self.present, np.unique(predicted[kept])).all():
            loss *= INCOMPLETE
        return (max(loss, self.least_cost) if self.is_cost else loss), mistakes

    def least(self, candidates: Sequence[tuple[str, ThresholdTree]]) -> tuple[str, ThresholdTree]:
        """Return the candidate with the least loss, the first of equals."""
        return min(candidates, key=lambda candidate: self.of(candidate[1]))

    def refined(self, tree: ThresholdTree, part: Task) -> ThresholdTree:
        """Return the tree with cuts that lose less on some of the rows.

        For costs, centres and cuts take turns, as centres and labels do in k-means: the cost falls with either.
        """
        X, reference, weights = part.X, part.reference, part.weights
        if not self.is_cost:
            return refine(tree, X, reference, objective="mistakes", sample_weight=weights)
        for _ in range(ROUNDS):
            predicted = np.where(reference.kept, tree.predict(X), -1)
            centers = best_centers(X, predicted, reference.n_clusters, objective="sqeuclidean", sample_weight=weights)
            centers = np.where(np.isnan(centers), reference.centers, centers)
            better = refine(tree, X, reference.with_centers(centers), sample_weight=weights)
            if better == tree:
                break
            tree = better
        return tree


def _of_means(task: Task) -> bool:
    """Return whether nearly every row lies nearest to the mean of its own cluster."""
    reference, weights = task.reference, task.weights
    means = best_centers(task.X, reference.labels, reference.n_clusters, objective="sqeuclidean", sample_weight=weights)
    means = np.where(np.isnan(means), np.inf, means)
    present: NDArray[np.bool_] = np.isfinite(means[:, 0])
    origin = means[present].mean(axis=0)
    unit = np.abs(means[present] - origin).max() or 1.0  # keeps squares of huge numbers finite
    near = np.where(present[:, None], (means - origin) / unit, 0.0)
    norms = np.where(present, np.square(near).sum(axis=1), np.inf)

    def count(start: int, stop: int) -> NDArray[np.float64]:
        labels = reference.labels[start:stop]
        rows = (task.X[start:stop] - origin) / unit
        distances = norms - 2 * products(rows, near)
        kept = labels >= 0
        own: NDArray[Any] = distances[np.arange(len(labels)), np.where(kept, labels, 0)] <= distances.min(axis=1)
        weight: NDArray[Any] = np.where(kept, 1.0 if weights is None else weights[start:stop], 0.0)
        return np.array([weight[own].sum(), weight.sum()], dtype=np.float64)

    own, total = np.sum(map_blocks(count, len(task.X)), axis=0)
    return bool(own >= NEAREST * total)
