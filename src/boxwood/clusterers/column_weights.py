"""`weighted_clusters`: clusters of some rows, and how much each column counts in them.

Columns without groups drown those with groups if all count alike. So a column counts by the share of its variance that
is between the clusters, less what clusters that slice a column without groups have of it, and clusters are made of
columns that count so, in turn, until that settles. At first a column counts by how clearly it parts by itself.

Such clusters are found from two sides, with columns that count alike at first, too, and those are taken that leave
less: of numbers the determinant of their scatter, so that what several columns say together counts once. Clusters may
slice columns of even values as well: however many of them k boxes cut, they leave 1 / k². Where clusters leave no less,
together or column by column, all columns count alike.

H. P. Friedman, J. Rubin, "On some invariant criteria for grouping data", Journal of the American Statistical
Association 62 (1967); F. H. C. Marriott, "Practical problems in a method of cluster analysis", Biometrics 27 (1971).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.reference.k_means import seed_centers
from boxwood.reference.ranks import STEPS, spread_left

SLICED = 0.25  # share of the variance of a column that clusters explain which only slice it
LEAST = 0.02  # weight of a column without groups, where the largest is 1: it tells rows apart that are equal elsewhere
SHARP = 3.0  # power by which columns that part clearly come first
ROUNDS = 6  # that weights and clusters are found in turn
SETTLED = 0.02  # change of weights that is none
CLEARER = 0.75  # of what boxes leave of even values: so much at most is left by groups, column by column
RIDGE = 0.01  # of the variance of a number: what is added to each, as columns may say the same
STARTS = 10  # of the first clusters, and half of them with columns that count alike
LLOYD = 20  # steps of each at most


class Alone(NamedTuple):
    """What each column of a table tells by itself.

    Parameters
    ----------
    weights : array of shape (d,)
        How much it counts before there are clusters: by how clearly it parts by itself.
    steps : array of shape (d,)
        What boxes that cut between any two of its values leave of it, if it has few values, or words: each of them,
        spread evenly over its range, fills a part of it. 0 for other columns.
    """

    weights: Floats
    steps: Floats

    @classmethod
    def of(cls, rows: Floats, blocks: Sequence[Indices]) -> Alone:
        """Return what the columns tell; IN: see `weighted_clusters`."""
        left, steps = np.ones(len(blocks)), np.zeros(len(blocks))
        for j, columns in enumerate(blocks):
            values, times = np.unique(rows[:, columns[0]], return_counts=True)
            if len(columns) > 1 or len(values) <= STEPS:
                times = np.count_nonzero(rows[:, columns] > 0, axis=0) if len(columns) > 1 else times
                steps[j] = np.sum((times / len(rows)) ** 3)
            else:
                left[j] = spread_left(values, times.astype(np.float64))
        weights = np.maximum(left, SETTLED) ** -SHARP
        return cls(weights / weights.max(), steps)


class WeightedClusters(NamedTuple):
    """Clusters of rows, and how much each column counts.

    Parameters
    ----------
    weights : array of shape (d,)
        Weight of the squared differences in each column of the table; the largest is 1.
    middle, factors : array of shape (m,)
        What is taken from each column of the rows, and the factor of each.
    centers : array of shape (k, m)
        Means of the clusters, in columns shifted and scaled like that.
    """

    weights: Floats
    middle: Floats
    factors: Floats
    centers: Floats

    def predict(self, rows: Floats) -> Indices:
        """Return the nearest centre of each row."""
        return _nearest((rows - self.middle) * self.factors, self.centers)


def weighted_clusters(
    rows: Floats, blocks: Sequence[Indices], k: int, alone: Alone, generator: Any, n_starts: int = STARTS
) -> WeightedClusters:
    """Return k clusters of rows, or fewer where these do not differ, and how much each column counts in them.

    IN: rows (n, m): of columns on one scale, with words as one-hot columns; blocks: the columns that are made of each
    column of the table; alone: what these columns tell by themselves.
    """
    table = _Table.of(rows - rows.mean(axis=0), blocks, alone.steps)
    even = np.ones(len(blocks))
    ways = (alone.weights, n_starts), (even, -(-n_starts // 2))
    found = [table.settle(table.cluster(first, k, generator, n), first) for first, n in ways]
    left, labels, weights = min(found, key=lambda each: each[0])
    if left >= -2.0 * np.log(k) and not table.are_clear(labels, k):
        labels, weights = table.cluster(even, k, generator, n_starts), even
    factors = np.sqrt(weights)[table.made_of]
    return WeightedClusters(weights, rows.mean(axis=0), factors, _means(table.rows * factors, labels)[0])


def shared_weights(rows: Floats, blocks: Sequence[Indices]) -> Floats:
    """Return how much each column has of what most of them have in common; the largest is 1.

    That is the share of its variance that the first principal component tells. Where this tells no more than it would
    of columns that have nothing in common, all count alike (Marchenko and Pastur 1967). IN: see `weighted_clusters`.
    """
    rows = rows - rows.mean(axis=0)
    whole = np.array([np.square(rows[:, columns]).sum() for columns in blocks])
    made_of = np.repeat(np.arange(len(blocks)), list(map(len, blocks)))
    scaled = rows / np.sqrt(np.where(whole > 0, whole, 1.0))[made_of]
    variances, directions = np.linalg.eigh(scaled.T @ scaled)
    if variances[-1] < (1.0 + np.sqrt(len(blocks) / len(rows))) ** 2:
        return np.ones(len(blocks))
    shares = variances[-1] * np.bincount(made_of, directions[:, -1] ** 2) + LEAST
    return np.asarray(shares / shares.max())


class _Table(NamedTuple):
    """Centred rows, of which column of the table each of their columns is made, and what cuts leave of steps.

    `numbers` are the columns that are made alone of one, `words` the columns of the table that are not; `kept` is the
    factor of each number at variance 1, less its steps; `scatter` is that of numbers at variance 1, with a ridge.
    """

    rows: Floats
    made_of: Indices
    steps: Floats
    whole: Floats
    numbers: Indices
    words: Indices
    kept: Floats
    scatter: Floats
    log_scatter: float

    @classmethod
    def of(cls, rows: Floats, blocks: Sequence[Indices], steps: Floats) -> _Table:
        made_of = np.repeat(np.arange(len(blocks)), list(map(len, blocks)))
        numbers = np.array([columns[0] for columns in blocks if len(columns) == 1], dtype=np.intp)
        whole = np.square(rows).sum(axis=0)
        squares = np.where(whole > 0, whole, 1.0)[numbers]
        scaled = rows[:, numbers] / np.sqrt(squares)
        scatter = scaled.T @ scaled + RIDGE * np.eye(len(numbers))
        words, kept = (
            np.setdiff1d(np.arange(len(steps)), made_of[numbers]),
            np.sqrt((1.0 - steps[made_of[numbers]]) / squares),
        )
        return cls(rows, made_of, steps, whole, numbers, words, kept, scatter, float(np.linalg.slogdet(scatter)[1]))

    def weigh(self, weights: Floats) -> Floats:
        """Return the rows in columns that count so much."""
        return self.rows * np.sqrt(weights)[self.made_of]

    def cluster(self, weights: Floats, k: int, generator: Any, n_starts: int) -> Indices:
        """Return the labels of clusters in columns that count so much."""
        return _cluster(self.weigh(weights), k, generator, n_starts)

    def settle(self, labels: Indices, weights: Floats) -> tuple[float, Indices, Floats]:
        """Return clusters at which weights settle, with these, and the logarithm of what they leave of the columns."""
        for _ in range(ROUNDS):
            new = _weights(self.share_explained(labels))
            if np.abs(new - weights).max() < SETTLED:
                break
            weights, placed = new, self.weigh(new)
            labels = _run_k_means(placed, _means(placed, labels)[0])
        return self.log_left(labels), labels, weights

    def share_explained(self, labels: Indices) -> Floats:
        """Return the share of the variance of each column of the table that is between clusters."""
        means, sizes = _means(self.rows, labels)
        whole = np.bincount(self.made_of, self.whole)
        between = np.bincount(self.made_of, sizes @ means**2)
        return np.minimum(between / np.where(whole > 0, whole, 1.0), 1.0)  # which rounding may pass

    def are_clear(self, labels: Indices, k: int) -> bool:
        """Return whether clusters leave clearly less, column by column; cuts between steps leave 1 / k² at least."""
        left = np.maximum(1.0 - self.share_explained(labels), np.where(self.steps > 0, 1.0 / k**2, 0.0))
        return bool(np.prod(left) < CLEARER / k**2)

    def log_left(self, labels: Indices) -> float:
        """Return the logarithm of what clusters leave of the columns; k boxes leave 1 / k² of even values."""
        means, sizes = _means(self.rows, labels)
        between = means[:, self.numbers] * self.kept * np.sqrt(sizes)[:, None]
        within = float(np.linalg.slogdet(self.scatter - between.T @ between)[1]) - self.log_scatter
        if not len(self.words):
            return within
        explained = self.share_explained(labels) * (1.0 - self.steps)
        return within + float(np.log1p(-explained[self.words]).sum())


def _weights(explained: Floats) -> Floats:
    weights = np.maximum(explained - SLICED, 0.0) + LEAST
    return np.asarray(weights / weights.max())


def _cluster(rows: Floats, k: int, generator: Any, n_starts: int) -> Indices:
    """Return the labels of the best of some starts of k-means."""
    found = [_run_k_means(rows, seed_centers(rows, min(k, len(rows)), generator)) for _ in range(n_starts)]
    return max(found, key=lambda labels: _between(rows, labels))


def _between(rows: Floats, labels: Indices) -> float:
    means, sizes = _means(rows, labels)
    return float((sizes @ means**2).sum())


def _run_k_means(rows: Floats, centers: Floats) -> Indices:
    """Return the labels at which Lloyd's steps from some centres end; clusters without rows are gone."""
    labels = _nearest(rows, centers)
    for _ in range(LLOYD):
        new = _nearest(rows, _means(rows, labels)[0])
        if (new == labels).all():
            break
        labels = new
    return labels


def _nearest(rows: Floats, centers: Floats) -> Indices:
    labels: Indices = (rows @ centers.T - 0.5 * np.square(centers).sum(axis=1)).argmax(axis=1)
    return labels


def _means(rows: Floats, labels: Indices) -> tuple[Floats, Floats]:
    """Return the mean and the number of the rows of each cluster that has some."""
    counts = np.bincount(labels)
    present = counts.nonzero()[0]
    member, sizes = (labels == present[:, None]).astype(np.float64), counts[present].astype(np.float64)
    return (member @ rows) / sizes[:, None], sizes
