"""The components of Kernel MMDT: how similar their distributions are on each axis, and prototypes from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats, Indices
from boxwood.kernels import DistanceKernel
from boxwood.metrics._kernel_samples import axis_moments
from boxwood.metrics._kernel_similarity import AxisSimilarity, axis_similarity
from boxwood.reference import Mixture, Task

__all__ = ["ClusterLaws", "GaussianLaws", "Laws"]


POINTS = 512  # values that stand for those of a cluster on an axis
_ROWS = 256  # rows of a block of similarities


class Laws(ABC):
    """The distributions of the components: how similar they are on each axis, and a prototype from each."""

    similarity: AxisSimilarity
    weights: Floats
    names: list[str]
    clusters: Indices  # number of each component in the tree

    @abstractmethod
    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        """Return a value on an axis, drawn from a component; without a generator its medoid."""


class GaussianLaws(Laws):
    """Gaussian components; their similarities have a closed form."""

    def __init__(self, mixture: Mixture, kernel: DistanceKernel) -> None:
        self.mixture, self.similarity, self.weights = mixture, axis_similarity(mixture, kernel=kernel), mixture.weights
        self.names, self.clusters = [str(name) for name in mixture.names], np.arange(mixture.n_components)

    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        mean = float(self.mixture.means[component, axis])
        if random is None:
            return mean
        return mean + float(np.sqrt(self.mixture.variances[component, axis]) * random.standard_normal())


class ClusterLaws(Laws):
    """Clusters of weighted rows; clusters without rows are left out."""

    def __init__(self, task: Task, kernel: DistanceKernel) -> None:
        X, reference, weights = task.rows.values, task.reference, task.rows.weights
        self.X, self.kernel = X, kernel
        self.row_weights = np.ones(len(X)) if weights is None else weights
        labels = np.where(task.kept, reference.labels, -1)
        self.clusters = np.unique(labels[labels >= 0])
        self.rows = [np.flatnonzero(labels == cluster) for cluster in self.clusters]
        self.names = [str(reference.names[cluster]) for cluster in self.clusters]
        totals = np.array([(self.row_weights[rows] / self.row_weights.max()).sum() for rows in self.rows])
        self.weights = totals / totals.sum()
        self.similarity = _similarity(X, self.rows, self.row_weights, kernel, task.n_jobs)

    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        rows = self.rows[component]
        values, weights = _distinct_values(self.X[rows, axis], self.row_weights[rows])
        if random is None:
            return _most_typical(values, weights, self.kernel, axis)
        cumulated = np.cumsum(weights)
        index = np.searchsorted(cumulated, random.random() * cumulated[-1], side="right")
        return float(values[min(int(index), len(values) - 1)])


# ------------------------------------------------------------------------------------------------------- steps


def _similarity(
    X: Array, rows: Sequence[Indices], weights: Floats, kernel: DistanceKernel, n_jobs: int | None
) -> AxisSimilarity:
    """Return how similar clusters are on each axis: over all pairs of their rows, by weight.

    Pairs of a row with itself count: this is the similarity of the given rows, not an estimate for further rows.
    """

    def work(axis: int) -> Floats:
        summaries = [_summary(*_distinct_values(X[cluster, axis], weights[cluster])) for cluster in rows]
        values, shares = zip(*summaries, strict=True)
        return axis_moments(kernel, axis, values, shares)

    return AxisSimilarity(*np.moveaxis(np.array(map_tasks(work, range(X.shape[1]), n_jobs=n_jobs)), 1, 0))


def _distinct_values(values: Array, weights: Floats) -> tuple[Floats, Floats]:
    """Return the different values, ascending, and the weight of each, scaled near 1 by a power of two.

    So results do not depend on the order of rows, and a repeated row is the same as a row of more weight.
    """
    order = np.lexsort((weights, values))
    ordered = values[order].astype(np.float64)
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    scaled = np.ldexp(weights[order], -int(np.frexp(weights.max())[1]))
    return ordered[first], np.add.reduceat(scaled, first)


def _most_typical(values: Floats, weights: Floats, kernel: DistanceKernel, axis: int) -> float:
    """Return the value with the largest mean similarity to all values; ties go to the lowest value."""
    points, shares = _summary(values, weights)
    means = [kernel.axis_kernel(axis, points[start : start + _ROWS], points) for start in range(0, len(points), _ROWS)]
    return float(points[np.argmax(np.concatenate([(block * shares).sum(axis=1) for block in means]))])


def _summary(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return about `POINTS` values and their shares of the weight: the means of runs of neighbouring values.

    Runs have about equal weight. Along the axis, the mean similarity to any distribution rises and falls by at most 2
    in total. So moving values within runs of share s, one run after the other, changes it by at most 2 s. A run of
    several values has a share of at most 3 / `POINTS`.
    """
    shares = weights / weights.sum()
    if len(values) <= POINTS:
        return values, shares
    run = ((np.cumsum(shares) - shares / 2) * POINTS).astype(np.intp)
    first = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
    base = np.repeat(values[first], np.diff(np.append(first, len(values))))  # keeps the digits of values far from zero
    run_shares = np.add.reduceat(shares, first)
    return values[first] + np.add.reduceat(shares * (values - base), first) / run_shares, run_shares
