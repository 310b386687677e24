"""The clusters of rows as loops read them, and what is impure about them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood._types import Ints
from boxwood._validation import as_whole_weights
from boxwood.reference import Task

__all__ = ["HALF", "Labels", "gini", "whole_weights"]

HALF = 31  # bits by which whole weights are shortened, so that products of two sums of them fit


class Labels(NamedTuple):
    """The clusters of a task's rows, in few bytes, and their whole weights, none where all weigh 1."""

    labels: NDArray[np.integer]
    weights: Ints
    n_clusters: int

    @classmethod
    def of(cls, task: Task) -> Labels:
        """Return those of a task."""
        kind = np.uint8 if task.reference.n_clusters <= 256 else np.int32
        return cls(task.reference.labels.astype(kind), whole_weights(task), task.reference.n_clusters)

    def counts(self, rows: NDArray[np.integer]) -> Ints:
        """Return the weight of some rows by cluster, shape (k,)."""
        if not self.weights.size:
            return np.bincount(self.labels[rows], minlength=self.n_clusters)
        counts = np.zeros(self.n_clusters, dtype=np.int64)
        np.add.at(counts, self.labels[rows], self.weights[rows])
        return counts


def gini(counts: Ints) -> float:
    """Return the pairs of rows of different clusters over the rows, by their weights."""
    weight = int(counts.sum())
    pairs: int = (weight * weight - sum(n * n for n in counts.tolist())) // 2
    return pairs / weight


def whole_weights(task: Task) -> Ints:
    """Return the weights as whole numbers with a sum of about 2**31 at most, an empty array where all weigh 1."""
    weights = task.rows.weights
    if weights is None:
        return np.empty(0, dtype=np.int64)
    weights = np.where(task.kept, weights, 0.0)
    with np.errstate(over="ignore"):
        if weights.sum() < 1 << HALF and (weights == np.floor(weights)).all():
            return weights.astype(np.int64)
    halved: Ints = (as_whole_weights(weights) + (1 << HALF - 1)) >> HALF
    halved[(weights > 0) & (halved == 0)] = 1  # a row of little weight is still a row
    return halved
