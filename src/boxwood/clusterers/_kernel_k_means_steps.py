"""Lloyd's iteration on a Gram matrix: first labels by k-means++, then rows to their nearest mean, for all starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood._threads import one_blas_thread
from boxwood._types import Floats, Indices
from boxwood.errors import DataError
from boxwood.kernels import GramMatrix

__all__ = ["Run", "lloyd", "relaxed", "seeds"]

_SAME_POINT = 1e-10  # two rows are one point if their squared distance is below this fraction of the diagonal
_ROUNDING = 1e-12  # likewise the least gain for which a row moves, so that rounding moves none back and forth


_RELAXED = 1000  # rows whose Gram matrix the relaxed start takes the eigenvectors of


class Run(NamedTuple):
    """The result of one start: its labels, their cost, and the number of iterations."""

    labels: Indices
    cost: float
    n_iter: int


def seeds(
    gram: GramMatrix,
    diagonal: Floats,
    weights: Floats,
    n_clusters: int,
    random: np.random.RandomState,
    order: Indices,
) -> Indices:
    """Return the first labels, shape (n,): the nearest of k drawn rows for each row.

    A row is drawn with a chance in proportion to its weight times the squared distance to the nearest row drawn before.
    Of 2 + log k such candidates the one is taken that leaves the lowest cost (greedy k-means++). Chances are laid end
    to end along `order`, an order of the rows that does not depend on the order in which they were given.

    Raises
    ------
    DataError
        If there are fewer different points than clusters.
    """
    labels = np.zeros(len(diagonal), dtype=np.intp)
    closest = np.ones(len(diagonal))
    for c in range(n_clusters):
        chances = weights * closest
        if not chances.any():
            raise DataError(
                f"{n_clusters} clusters asked for, but only {c} rows are different for the kernel; "
                "ask for fewer clusters, or take another bandwidth"
            )
        candidates = _draw(chances, order, random, 1 if c == 0 else 2 + int(np.log(n_clusters)))
        distances = _between(gram, diagonal, candidates)
        nearer = distances if c == 0 else np.minimum(distances, closest[:, None])
        best = int(np.argmin((weights[:, None] * nearer).sum(axis=0)))  # BLAS would sum by its number of threads
        if c > 0:
            labels[distances[:, best] < closest] = c
        closest = nearer[:, best]
    return labels


def _draw(chances: Floats, order: Indices, random: np.random.RandomState, size: int) -> Indices:
    ends = np.cumsum(chances[order])
    ranks = np.searchsorted(ends, random.uniform(size=size) * ends[-1], side="right")
    last = np.searchsorted(ends, ends[-1])  # rounding may lead behind the last row that has a chance
    return np.asarray(order[np.minimum(ranks, last)])


def _between(gram: GramMatrix, diagonal: Floats, rows: Indices) -> Floats:
    """Return the squared distance of each row to some of the rows, shape (n, len(rows)), with 0 for mere rounding."""
    terms = diagonal[:, None] + diagonal[rows]
    distances = terms - 2 * gram.block(slice(None), rows)
    return np.where(distances <= _SAME_POINT * np.abs(terms), 0.0, distances)


def relaxed(gram: GramMatrix, weights: Floats, n_clusters: int, order: Indices) -> Indices:
    """Return first labels, shape (n,), from the leading eigenvectors of the centred Gram matrix of some rows.

    Without the condition that each row belongs to one cluster, the k-means of lowest cost is spanned by the constant
    vector and the k - 1 leading eigenvectors. Pivots find k rows whose directions are farthest apart, and each row goes
    to the nearest of these directions. Nothing is random.
    """
    from scipy.linalg import qr

    sample = _spread_out(weights, order)
    roots = np.sqrt(weights[sample])
    shares = weights[sample] / weights[sample].sum()
    with one_blas_thread():
        to_sample = gram.block(slice(None), sample)
        to_sample = to_sample - (to_sample * shares).sum(axis=1)[:, None]
        centered = to_sample[sample] - (to_sample[sample] * shares[:, None]).sum(axis=0)
        values, vectors = np.linalg.eigh(centered * roots * roots[:, None])
        leading = slice(None, -n_clusters, -1)
        values, vectors = values[leading], vectors[:, leading]
        usable = values > _ROUNDING * max(float(values.max(initial=0.0)), 1e-300)
        along = (vectors[:, usable] * roots[:, None]) / np.where(usable, values, 1.0)[usable]
        scores = to_sample @ along
        scores -= (scores[sample] * shares[:, None]).sum(axis=0)
        space = np.column_stack([np.full(len(scores), 1 / np.sqrt(weights[sample].sum())), scores])
        pivots = qr(space[sample].T, mode="r", pivoting=True)[1][: space.shape[1]]
        first, _, second = np.linalg.svd(space[sample[pivots]].T)
        return np.asarray(np.abs(space @ (first @ second)).argmax(axis=1))


def _spread_out(weights: Floats, order: Indices) -> Indices:
    """Return all rows, or `_RELAXED` of them, with equal weight between neighbours along an order of the rows."""
    counted = order[weights[order] > 0]
    if len(counted) <= _RELAXED:
        return counted
    ends = np.cumsum(weights[counted])
    middles = (np.arange(_RELAXED) + 0.5) / _RELAXED * ends[-1]
    return np.unique(counted[np.minimum(np.searchsorted(ends, middles), len(counted) - 1)])


def lloyd(
    gram: GramMatrix,
    diagonal: Floats,
    weights: Floats,
    starts: list[Indices],
    n_clusters: int,
    max_iter: int,
    tol: float,
    n_jobs: int,
) -> list[Run]:
    """Return the result of each start: its labels of the lowest cost.

    For each row, start and cluster, the weighted sum of the kernel over the cluster is kept from one iteration to the
    next and changed by the rows that moved. So each tile of the Gram matrix is computed once for all starts.

    Parameters
    ----------
    gram : GramMatrix
        Values of the kernel between the n rows.
    diagonal, weights : array of shape (n,)
        Values of rows with themselves; weights.
    starts : list of arrays of shape (n,)
        First labels of each start.
    n_clusters, max_iter, tol, n_jobs
        As in `KernelKMeans`.
    """
    n, active = len(diagonal), list(range(len(starts)))
    before = [np.full(n, -1) for _ in starts]
    now = [labels.copy() for labels in starts]
    sums = [np.zeros((n, n_clusters)) for _ in starts]
    runs: list[Run | None] = [None] * len(starts)
    for iteration in range(1, max_iter + 2):
        _update(gram, sums, weights, [(r, before[r], now[r]) for r in active], n_clusters, n_jobs)
        for r in list(active):
            step = _Step(sums[r], diagonal, weights, now[r])
            last = runs[r]
            if last is None or step.cost < last.cost:
                runs[r] = Run(now[r], step.cost, max(1, iteration - 1))
            labels = step.moved()
            gained = last is None or last.cost - step.cost > tol * last.cost
            if not gained or iteration > max_iter or np.array_equal(labels, now[r]):
                active.remove(r)
            before[r], now[r] = now[r], labels
        if not active:
            break
    return [run for run in runs if run is not None]


def _update(
    gram: GramMatrix,
    sums: list[Floats],
    weights: Floats,
    moves: list[tuple[int, Indices, Indices]],
    k: int,
    n_jobs: int,
) -> None:
    """Change the sums of each start by the rows whose label has changed; the label -1 is no cluster.

    `moves` has the number of each start, its old labels and its new labels.
    """
    moved = np.flatnonzero(np.any([old != new for _, old, new in moves], axis=0))
    change = np.zeros((len(moved), len(moves) * k))
    lines = np.arange(len(moved))
    for i, (_, old, new) in enumerate(moves):
        differs = old[moved] != new[moved]
        came, went = differs & (new[moved] >= 0), differs & (old[moved] >= 0)
        change[lines[came], i * k + new[moved][came]] += weights[moved[came]]
        change[lines[went], i * k + old[moved][went]] -= weights[moved[went]]
    product = gram.product(change, columns=moved if len(moved) < gram.shape[1] else None, n_jobs=n_jobs)
    for i, (r, _, _) in enumerate(moves):
        sums[r] += product[:, i * k : (i + 1) * k]


class _Step:
    """One iteration of one start: distances of rows to the means of its clusters, and the labels that follow."""

    def __init__(self, sums: Floats, diagonal: Floats, weights: Floats, labels: Indices) -> None:
        rows, k = np.arange(len(sums)), sums.shape[1]
        self.labels, self.counted = labels, weights > 0
        mass = np.bincount(labels, weights, minlength=k)
        total = np.where(mass > 0, mass, 1.0)
        squares = np.bincount(labels, weights * sums[rows, labels], minlength=k) / total**2
        self.distances = diagonal[:, None] + np.where(mass > 0, squares, np.inf) - 2 * (sums / total)
        self.own_distances = self.distances[rows, labels]
        self.rounding = _ROUNDING * (np.abs(diagonal).max() + np.abs(squares).max())
        self.cost = float((weights[self.counted] * self.own_distances[self.counted]).sum())

    def moved(self) -> Indices:
        """Return the labels after the iteration: rows move to a nearer mean, and empty clusters get a row."""
        least = self.distances.min(axis=1)
        first = (self.distances <= (least + self.rounding)[:, None]).argmax(axis=1)
        labels = np.where(least < self.own_distances - self.rounding, first, self.labels)
        self._refill(labels, np.minimum(least, self.own_distances))
        return labels

    def _refill(self, labels: Indices, left: Floats) -> None:
        """Give each cluster without rows the row farthest from its mean, of those whose cluster keeps another row."""
        sizes = np.bincount(labels[self.counted], minlength=self.distances.shape[1])
        if sizes.all():
            return
        steps = np.where(self.counted, np.rint(left / self.rounding) if self.rounding > 0 else 0.0, -np.inf)
        farthest = iter(np.argsort(-steps, kind="stable"))  # in whole steps, so that rounding does not choose a row
        for empty in np.flatnonzero(sizes == 0):
            row = next((row for row in farthest if steps[row] > 0 and sizes[labels[row]] > 1), None)
            if row is None:
                return
            sizes[labels[row]] -= 1
            labels[row], sizes[empty] = empty, 1
