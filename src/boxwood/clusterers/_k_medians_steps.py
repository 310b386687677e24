"""The alternation of k-medians: rows to their nearest centres, centres to the medians of their rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from boxwood._threads import map_blocks
from boxwood._types import Array, Floats, Indices
from boxwood.errors import DataError
from boxwood.loops.costs import L2
from boxwood.loops.nearest import distances, lower_to, nearest
from boxwood.reference._centers import Groups, find_centers, next_centers

__all__ = ["Cloud", "Clustering", "alternate", "few_rows"]

T = TypeVar("T")
ROUNDING = 1e-13  # fraction of the cost by which equal costs may differ


@dataclass(frozen=True, eq=False)
class Cloud:
    """Rows that all have weight, with the distance between them and the number of threads."""

    X: Array
    weights: Floats | None
    code: int
    n_jobs: int | None

    @property
    def euclidean(self) -> bool:
        """Whether distances are Euclidean; l1 otherwise."""
        return self.code == L2

    @property
    def best_is_costly(self) -> bool:
        """Whether finding the best centres takes much longer than moving nearer to them."""
        return self.euclidean

    @property
    def loop_weights(self) -> Floats:
        """The weights as the loops take them: an empty array where all rows weigh 1."""
        return np.empty(0) if self.weights is None else self.weights

    @cached_property
    def order(self) -> Indices:
        """The rows sorted by value, shape (n,): draws along it do not depend on the order of the rows."""
        order = np.argsort(self.X[:, 0], kind="stable")
        first = self.X[order, 0]
        return order if (first[1:] != first[:-1]).all() else np.lexsort(self.X.T[::-1])

    def rows(self, numbers: Indices) -> Floats:
        """Return some rows, given by their numbers, as float64."""
        return self.X[numbers].astype(np.float64)

    def map_blocks(self, work: Callable[[int, int], T]) -> list[T]:
        """Return `work(start, stop)` for each block of rows."""
        return map_blocks(work, len(self.X), n_jobs=self.n_jobs)

    def distances(self, centers: Floats) -> Floats:
        """Return the distance of each row to each centre, shape (n, k)."""
        columns = np.ascontiguousarray(centers.T)
        out = np.empty((len(self.X), len(centers)))
        self.map_blocks(lambda start, stop: distances(self.X[start:stop], columns, self.euclidean, out[start:stop]))
        return out

    def lower_to(self, center: Floats, closest: Floats) -> None:
        """Lower the distances `closest`, shape (n,), to the distance to one more centre for the rows nearer to it."""
        self.map_blocks(lambda start, stop: lower_to(self.X[start:stop], center, self.euclidean, closest[start:stop]))

    def nearest(self, centers: Floats) -> tuple[Indices, Floats]:
        """Return the nearest centre of each row, the first of equally near ones, and its distance; both (n,)."""
        columns = np.ascontiguousarray(centers.T)
        labels, costs = np.empty(len(self.X), dtype=np.intp), np.empty(len(self.X))

        def work(start: int, stop: int) -> None:
            nearest(self.X[start:stop], columns, self.euclidean, labels[start:stop], costs[start:stop])

        self.map_blocks(work)
        return labels, costs

    def best_centers(self, now: Clustering) -> Floats:
        """Return the best centre of each cluster, shape (k, d)."""
        best = find_centers(self.X, now.labels, len(now.centers), self.code, self.weights, n_jobs=self.n_jobs)
        return best.base + best.offset

    def better_centers(self, now: Clustering) -> Floats:
        """Return centres that are one step nearer to the geometric median of each cluster, shape (k, d)."""
        groups = Groups.of(now.labels, len(now.centers))
        return next_centers(self.X, groups, self.weights, now.centers, n_jobs=self.n_jobs)

    def total(self, costs: Floats) -> float:
        """Return the weighted sum of costs.

        Raises
        ------
        DataError
            If it is beyond the largest float.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.sum(costs if self.weights is None else costs * self.weights))
        if not np.isfinite(total):
            raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
        return total


class Clustering(NamedTuple):
    """Centres (k, d), the nearest of them for each row (n,), their cost, and the number of steps taken."""

    centers: Floats
    labels: Indices
    cost: float
    n_iter: int


def alternate(cloud: Cloud, centers: Floats, *, max_iter: int, tol: float) -> Clustering:
    """Return the clustering at which the alternation from some centres ends. Every cluster has rows.

    A step moves each centre to the best centre of its rows and assigns each row to its nearest centre. A step that
    raises the cost by more than rounding is not taken. The last step lowers the cost by at most the fraction `tol`, or
    changes no label. Geometric medians are costly, so centres only move towards them while that gains enough.
    """
    now, towards = _assigned(cloud, centers, 0), cloud.best_is_costly
    for step in range(1, max_iter + 1):
        moved = cloud.better_centers(now) if towards else cloud.best_centers(now)
        following = _assigned(cloud, moved, step)
        gain, settled = now.cost - following.cost, np.array_equal(following.labels, now.labels)
        now = now._replace(n_iter=step) if gain < -ROUNDING * now.cost else following
        little = settled or gain <= tol * now.cost
        if little and not towards:
            break
        towards = cloud.best_is_costly and not little
    return now


def _assigned(cloud: Cloud, centers: Floats, n_iter: int) -> Clustering:
    """Return the clustering with each row at its nearest centre.

    A centre without rows first moves to the row that is farthest from its nearest centre. That lowers the cost, as no
    row loses its nearest centre. Of equally far rows the first by value is taken.
    """
    while True:
        labels, costs = cloud.nearest(centers)
        empty = np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0)
        if len(empty) == 0:
            return Clustering(centers, labels, cloud.total(costs), n_iter)
        cloud.total(costs)
        if not costs.any():
            raise few_rows(len(centers), len(centers) - len(empty))
        centers = _refilled(cloud, centers, empty, costs)


def _refilled(cloud: Cloud, centers: Floats, empty: Indices, costs: Floats) -> Floats:
    centers = centers.copy()
    for cluster in empty:
        farthest = cloud.order[np.argmax(costs[cloud.order])]
        centers[cluster] = cloud.X[farthest]
        cloud.lower_to(centers[cluster], costs)
    return centers


def few_rows(n_clusters: int, n_different: int) -> DataError:
    """Return the error for fewer different rows than clusters."""
    return DataError(
        f"{n_clusters} clusters asked for, but the table has only {n_different} different rows; ask for fewer clusters"
    )
