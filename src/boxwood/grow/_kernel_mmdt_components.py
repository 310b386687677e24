"""Components as Kernel MMDT sees them: how alike their laws are on each axis, and values drawn from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from boxwood._threads import map_tasks
from boxwood._types import Array, Floats, Indices
from boxwood.kernels import DistanceKernel
from boxwood.metrics._kernel_similarity import AxisSimilarity, axis_similarity
from boxwood.reference import Mixture, Task

__all__ = ["ClusterLaws", "GaussianLaws", "Laws"]


POINTS = 512  # values that stand for those of a cluster on an axis
_ROWS = 256  # of a block of similarities


class Laws(ABC):
    """What the algorithm knows of components: how alike they are on each axis, and how to come by a prototype."""

    similarity: AxisSimilarity
    weights: Floats
    names: list[str]
    clusters: Indices  # number of each component in the tree

    @abstractmethod
    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        """Return a value on an axis: drawn from a component, or its medoid where there is no generator."""


class GaussianLaws(Laws):
    """Gaussian components, in closed form."""

    def __init__(self, mixture: Mixture, kernel: DistanceKernel) -> None:
        self.mixture, self.similarity, self.weights = mixture, axis_similarity(mixture, kernel=kernel), mixture.weights
        self.names, self.clusters = [str(name) for name in mixture.names], np.arange(mixture.n_components)

    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        mean = float(self.mixture.means[component, axis])
        if random is None:
            return mean
        return mean + float(np.sqrt(self.mixture.variances[component, axis]) * random.standard_normal())


class ClusterLaws(Laws):
    """Clusters of rows, by weight; those without rows are no components."""

    def __init__(self, task: Task, kernel: DistanceKernel) -> None:
        X, reference, weights = task.rows.values, task.reference, task.rows.weights
        self.X, self.kernel = X, kernel
        self.of_rows = np.ones(len(X)) if weights is None else weights
        labels = np.where(task.kept, reference.labels, -1)
        self.clusters = np.unique(labels[labels >= 0])
        self.rows = [np.flatnonzero(labels == cluster) for cluster in self.clusters]
        self.names = [str(reference.names[cluster]) for cluster in self.clusters]
        shares = np.array([(self.of_rows[rows] / self.of_rows.max()).sum() for rows in self.rows])
        self.weights = shares / shares.sum()
        self.similarity = _similarity(X, self.rows, self.of_rows, kernel, task.n_jobs)

    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        rows = self.rows[component]
        values, weights = _distinct_values(self.X[rows, axis], self.of_rows[rows])
        if random is None:
            return _most_typical(values, weights, self.kernel, axis)
        upto = np.cumsum(weights)
        place = np.searchsorted(upto, random.random() * upto[-1], side="right")
        return float(values[min(int(place), len(values) - 1)])


# ------------------------------------------------------------------------------------------------------- steps


def _similarity(
    X: Array, rows: Sequence[Indices], weights: Floats, kernel: DistanceKernel, n_jobs: int | None
) -> AxisSimilarity:
    """Return how alike clusters are on each axis, over all pairs of their rows, by weight.

    A row and itself are a pair: it is the similarity of the rows given, not an estimate for rows of their kind.
    """

    def work(axis: int) -> tuple[Floats, Floats]:
        laws = [_summary(*_distinct_values(X[here, axis], weights[here])) for here in rows]
        return _pair_means(kernel, axis, [values for values, _ in laws], np.concatenate([share for _, share in laws]))

    found = map_tasks(work, range(X.shape[1]), n_jobs=n_jobs)
    return AxisSimilarity(np.array([mean for mean, _ in found]), np.array([second for _, second in found]))


def _distinct_values(values: Array, weights: Floats) -> tuple[Floats, Floats]:
    """Return the different values, ascending, and the weight of each; weights are brought near 1 by a power of two.

    Whatever is made of them depends on neither the order of rows nor whether a row is repeated or weighs more.
    """
    order = np.lexsort((weights, values))
    ordered = values[order].astype(np.float64)
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    scaled = np.ldexp(weights[order], -int(np.frexp(weights.max())[1]))
    return ordered[first], np.add.reduceat(scaled, first)


def _most_typical(values: Floats, weights: Floats, kernel: DistanceKernel, axis: int) -> float:
    """Return the value with the largest mean similarity to all of them, the lowest among equals."""
    points, shares = _summary(values, weights)
    means = [kernel.axis_kernel(axis, points[start : start + _ROWS], points) for start in range(0, len(points), _ROWS)]
    return float(points[np.argmax(np.concatenate([(block * shares).sum(axis=1) for block in means]))])


def _summary(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return values and shares that add up to 1: means of about `POINTS` runs of neighbours of equal weight.

    The mean similarity to any law rises and falls by 2 at most along the axis, so that moving values within runs of
    share s, one run after the other, changes it by 2 s at most; s is at most 3 / `POINTS` for runs of several values.
    """
    shares = weights / weights.sum()
    if len(values) <= POINTS:
        return values, shares
    run = ((np.cumsum(shares) - shares / 2) * POINTS).astype(np.intp)
    first = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
    base = np.repeat(values[first], np.diff(np.append(first, len(values))))  # keeps the digits of values far from zero
    of_runs = np.add.reduceat(shares, first)
    return values[first] + np.add.reduceat(shares * (values - base), first) / of_runs, of_runs


def _pair_means(kernel: DistanceKernel, axis: int, values: Sequence[Floats], shares: Floats) -> tuple[Floats, Floats]:
    """Return mean and second moment of the similarity for each two clusters, shape (k, k) each."""
    points = np.concatenate(values)
    starts = np.cumsum([0, *map(len, values[:-1])])
    sums = np.empty((2, len(points), len(values)))
    for start in range(0, len(points), _ROWS):
        block = kernel.axis_kernel(axis, points[start : start + _ROWS], points)
        for power in (0, 1):
            weighted = block * shares if power == 0 else np.square(block, out=block) * shares
            sums[power, start : start + _ROWS] = np.add.reduceat(weighted, starts, axis=1)
    moments = np.add.reduceat(sums * shares[:, None], starts, axis=1)
    moments = np.minimum((moments + moments.transpose(0, 2, 1)) / 2, 1.0)  # symmetric to the last digit, as ties ask
    return moments[0], moments[1]
