"""K-means of few rows, as scikit-learn finds it to the last bit, without its checks, which take longer than the rows.

The first centres are those of greedy k-means++: D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful
seeding", SODA 2007.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices

MOST, SETTLED = 300, 1e-4  # steps, and the squared shift of centres, in mean variances of columns, that is none

_of_thread = threading.local()


class KMeansOfRows(NamedTuple):
    """Clusters of rows: their labels, shape (n,), and centres, shape (k, d)."""

    labels: Array
    centers: Floats

    def predict(self, rows: Floats) -> Array:
        """Return the nearest centre of each row."""
        return _nearest(np.ascontiguousarray(rows), self.centers)


def k_means(rows: Floats, k: int, seed: int, n_starts: int = 1) -> KMeansOfRows:
    """Return the clusters of the best of some starts, by one thread; call it where BLAS takes one as well.

    A later start is better if it costs less and is no other numbering of the same clusters.
    """
    rows, generator = np.ascontiguousarray(rows), _generator(seed)  # sums depend on the order in memory
    mean = rows.mean(axis=0)
    known = rows - mean
    settled = np.mean(np.var(rows, axis=0)) * SETTLED
    best, least = None, np.inf
    for _ in range(n_starts):
        found = _run(known, seed_centers(known, k, generator), settled)
        cost = _steps()[1](known, np.ones(len(known)), found.centers, found.labels, 1)
        if best is None or (cost < least and not _are_same(found.labels, best.labels)):
            best, least = found, cost
    assert best is not None
    return best._replace(centers=best.centers + mean)


def _generator(seed: int) -> Any:
    """Return a generator that draws as a new one does; to make one takes as long as the steps of few rows."""
    if not hasattr(_of_thread, "generator"):
        _of_thread.generator = np.random.RandomState()
    _of_thread.generator.seed(seed)
    return _of_thread.generator


def seed_centers(rows: Floats, k: int, random_state: Any) -> Floats:
    """Return k rows as first centres, each the best of some that are drawn by their distance from those before.

    The arguments are those with which `KMeans` of scikit-learn calls its `init`.
    """
    n, n_trials, norms = len(rows), 2 + int(np.log(k)), np.einsum("ij,ij->i", rows, rows)
    ones, chosen = np.ones(n), np.empty(k, dtype=np.intp)
    even = (ones / n).cumsum()
    chosen[0] = (even / even[-1]).searchsorted(random_state.random_sample(), side="right")  # as `choice` draws it
    apart = _squared_distances(rows, norms, chosen[:1])[0]
    cost = apart @ ones
    for c in range(1, k):
        tried = np.minimum(apart.cumsum().searchsorted(random_state.uniform(size=n_trials) * cost), n - 1)
        each = np.minimum(apart, _squared_distances(rows, norms, tried))
        costs = each @ ones[:, None]
        best = int(costs.argmin())
        apart, cost, chosen[c] = each[best], costs[best], tried[best]
    return rows[chosen]


def _squared_distances(rows: Floats, norms: Floats, chosen: Indices) -> Floats:
    """Return those of all rows from each chosen one, shape (m, n)."""
    found = -2.0 * (rows[chosen] @ rows.T)
    found += norms[chosen, None]
    found += norms
    return np.maximum(found, 0.0, out=found)


def _run(rows: Floats, centers: Floats, settled: float) -> KMeansOfRows:
    """Return where Lloyd's steps from some centres end."""
    step, ones, labels = _steps()[0], np.ones(len(rows)), np.full(len(rows), -1, dtype=np.int32)
    new, sizes, shifts, before = np.zeros_like(centers), np.zeros(len(centers)), np.zeros(len(centers)), b""
    for _ in range(MOST):
        step(rows, ones, centers, new, sizes, labels, shifts, 1)
        centers, new = new, centers
        if (now := labels.tobytes()) == before:
            return KMeansOfRows(labels, centers)
        if (shifts**2).sum() <= settled:
            break
        before = now
    return KMeansOfRows(_nearest(rows, centers), centers)


def _nearest(rows: Floats, centers: Floats) -> Array:
    labels, none = np.full(len(rows), -1, dtype=np.int32), np.zeros(len(centers))
    _steps()[0](rows, np.ones(len(rows)), centers, centers, none, labels, none, 1, update_centers=False)
    return labels


def _are_same(labels: Array, others: Array) -> bool:
    """Return whether labels are others by other numbers."""
    return len({*zip(labels.tolist(), others.tolist(), strict=True)}) == len({*labels.tolist()})


@cache
def _steps() -> tuple[Callable[..., None], Callable[..., float]]:
    from boxwood._compat import steps_of_lloyd  # it loads scikit-learn

    return steps_of_lloyd()
