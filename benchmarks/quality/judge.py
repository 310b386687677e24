"""The judge: price and agreement of any way to part the rows, and who beats whom."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix

from benchmarks.quality.cases import Clusters

CHEAPER = 0.0005  # a peer wins if it costs less by more than this share, and agrees at least as much


class Outcome(NamedTuple):
    """Price of the parts of the rows, their agreement with the clusters, leaves, and seconds of processor."""

    price: float
    agreement: float
    leaves: int
    seconds: float = 0.0

    def beats(self, other: "Outcome") -> bool:
        """Return whether this tree is cheaper with no more disagreement; prices below 1 count as 1."""
        return self.gain_over(other) > CHEAPER and self.agreement >= other.agreement

    def gain_over(self, other: "Outcome") -> float:
        """Return by which share this tree is cheaper; prices below 1 count as 1."""
        return 1 - max(self.price, 1.0) / max(other.price, 1.0)


def outcome_of_labels(case: Clusters, predicted: np.ndarray, leaves: int) -> Outcome:
    """Return the outcome of a tree whose leaves have the names of clusters."""
    labels = case.kmeans.labels_
    return Outcome(_cost(case.X, predicted) / _cost(case.X, labels), float((predicted == labels).mean()), leaves)


def outcome_of_leaves(case: Clusters, leaf: np.ndarray) -> Outcome:
    """Return the outcome of a tree whose leaves have no names: the cheaper of the ways to name them.

    As many leaves as clusters are clusters of their own, named so that they agree most. Of more leaves each has the
    name of the cluster of most of its rows, or of the nearest centre.
    """
    found, leaf = np.unique(leaf, return_inverse=True)
    n, k, labels = len(found), case.k, case.kmeans.labels_
    counts = confusion_matrix(leaf, labels, labels=np.arange(max(n, k)))[:n, :k]
    if n <= k:
        rows, names = linear_sum_assignment(counts, maximize=True)
        agreement = float(counts[rows, names].sum() / len(labels))
        return Outcome(_cost(case.X, leaf) / _cost(case.X, labels), agreement, n)
    means = np.stack([case.X[leaf == i].mean(axis=0) for i in range(n)])
    named = [counts.argmax(axis=1), case.kmeans.predict(means)]
    return min(outcome_of_labels(case, names[leaf], n) for names in named)


def _cost(X: np.ndarray, groups: np.ndarray) -> float:
    order = np.argsort(groups, kind="stable")
    parts = np.split(X[order], np.flatnonzero(np.diff(groups[order])) + 1)
    return float(sum(np.square(part - part.mean(axis=0)).sum() for part in parts))
