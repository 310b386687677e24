"""Lloyd's iteration on a Gram matrix: starts by k-means++, rows to their nearest mean, all starts side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.errors import DataError
from boxwood.kernels import GramMatrix

__all__ = ["Run", "lloyd", "seeds"]

_SAME_POINT = 1e-10  # share of the diagonal below which a squared distance says that two rows are one point
_ROUNDING = 1e-12  # likewise for differences of squared distances, so that rounding cannot move rows back and forth


class Run(NamedTuple):
    """What one start came to: the cost of its labels, and how many iterations it took."""

    labels: Indices
    cost: float
    n_iter: int


def seeds(
    gram: GramMatrix,
    diagonal: Floats,
    weights: Floats,
    n_clusters: int,
    random: np.random.RandomState,
    line: Indices,
) -> Indices:
    """Return the first labels, shape (n,): each row's nearest of k rows that are drawn far from each other.

    Each row is drawn with a chance in proportion to its weight times the squared distance to the nearest row drawn
    before, and of 2 + log k such candidates the one is taken that leaves the lowest cost (greedy k-means++). Chances
    are laid along `line`, the rows in an order that does not depend on how they came.

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
                f"{n_clusters} clusters asked for, but the kernel tells only {c} different rows apart; "
                "ask for fewer clusters, or take another bandwidth"
            )
        candidates = _draw(chances, line, random, 1 if c == 0 else 2 + int(np.log(n_clusters)))
        distances = _between(gram, diagonal, candidates)
        nearer = distances if c == 0 else np.minimum(distances, closest[:, None])
        best = int(np.argmin((weights[:, None] * nearer).sum(axis=0)))  # BLAS would sum by its number of threads
        if c > 0:
            labels[distances[:, best] < closest] = c
        closest = nearer[:, best]
    return labels


def _draw(chances: Floats, line: Indices, random: np.random.RandomState, size: int) -> Indices:
    ends = np.cumsum(chances[line])
    places = np.searchsorted(ends, random.uniform(size=size) * ends[-1], side="right")
    last = np.searchsorted(ends, ends[-1])  # rounding may lead behind the last row that has a chance
    return np.asarray(line[np.minimum(places, last)])


def _between(gram: GramMatrix, diagonal: Floats, rows: Indices) -> Floats:
    """Return the squared distance of each row to some of the rows, shape (n, len(rows)); 0 where it is rounding."""
    terms = diagonal[:, None] + diagonal[rows]
    distances = terms - 2 * gram.block(slice(None), rows)
    return np.where(distances <= _SAME_POINT * np.abs(terms), 0.0, distances)


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
    """Return where each of the starts comes to, with the labels of its lowest cost.

    The weighted sums of the kernel over each cluster, for every row and start, are kept from one iteration to the next
    and changed by the rows that moved, so that one tile of the Gram matrix serves all starts.

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
    """Change the sums of each run by the rows whose label is another than before; -1 is the label of no cluster."""
    moved = np.flatnonzero(np.any([old != new for _, old, new in moves], axis=0))
    change = np.zeros((len(moved), len(moves) * k))
    line = np.arange(len(moved))
    for place, (_, old, new) in enumerate(moves):
        differs = old[moved] != new[moved]
        came, went = differs & (new[moved] >= 0), differs & (old[moved] >= 0)
        change[line[came], place * k + new[moved][came]] += weights[moved[came]]
        change[line[went], place * k + old[moved][went]] -= weights[moved[went]]
    product = gram.product(change, columns=moved if len(moved) < gram.shape[1] else None, n_jobs=n_jobs)
    for place, (r, _, _) in enumerate(moves):
        sums[r] += product[:, place * k : (place + 1) * k]


class _Step:
    """One iteration of one start: distances of rows to the means of their labels, and where the rows go."""

    def __init__(self, sums: Floats, diagonal: Floats, weights: Floats, labels: Indices) -> None:
        rows, k = np.arange(len(sums)), sums.shape[1]
        self.labels, self.counted = labels, weights > 0
        mass = np.bincount(labels, weights, minlength=k)
        total = np.where(mass > 0, mass, 1.0)
        squares = np.bincount(labels, weights * sums[rows, labels], minlength=k) / total**2
        self.distances = diagonal[:, None] + np.where(mass > 0, squares, np.inf) - 2 * (sums / total)
        self.own = self.distances[rows, labels]
        self.rounding = _ROUNDING * (np.abs(diagonal).max() + np.abs(squares).max())
        self.cost = float((weights[self.counted] * self.own[self.counted]).sum())

    def moved(self) -> Indices:
        """Return the labels after each row went to the nearest mean, if one is nearer, and empty clusters got a row."""
        least = self.distances.min(axis=1)
        first = (self.distances <= (least + self.rounding)[:, None]).argmax(axis=1)
        labels = np.where(least < self.own - self.rounding, first, self.labels)
        self._refill(labels, np.minimum(least, self.own))
        return labels

    def _refill(self, labels: Indices, left: Floats) -> None:
        """Give to each cluster without rows the one farthest from its mean, of those whose cluster keeps another."""
        sizes = np.bincount(labels[self.counted], minlength=self.distances.shape[1])
        if sizes.all():
            return
        steps = np.where(self.counted, np.rint(left / self.rounding) if self.rounding > 0 else 0.0, -np.inf)
        farthest = iter(np.argsort(-steps, kind="stable"))  # whole steps, so that rounding does not choose
        for empty in np.flatnonzero(sizes == 0):
            row = next((row for row in farthest if steps[row] > 0 and sizes[labels[row]] > 1), None)
            if row is None:
                return
            sizes[labels[row]] -= 1
            labels[row], sizes[empty] = empty, 1
