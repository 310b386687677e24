"""`weighted_clusters`: clusters of some rows, and how much each column counts in them.

Columns without groups drown those with groups if all count alike. So a column counts by the share of its variance that
is between the clusters, less what clusters that slice a column without groups have of it, and clusters are made of
columns that count so, in turn, until that settles. At first a column counts by how clearly it parts by itself.

Clusters may slice a column of even values as well. However many columns k boxes cut, they leave a share of the variance
in each whose product is 1 / k². Where clusters leave no less, all columns count alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.reference.clumps import STEPS, spread_left
from boxwood.reference.k_means import seed_centers

SLICED = 0.25  # share of the variance of a column that clusters explain which only slice it
LEAST = 0.02  # weight of a column without groups, where the largest is 1: it tells rows apart that are equal elsewhere
SHARP = 3.0  # power by which columns that part clearly come first
ROUNDS = 6  # that weights and clusters are found in turn
SETTLED = 0.02  # change of weights that is none
CLEARER = 0.75  # of what boxes leave of even values: so much at most is left by groups
STARTS = 4  # of the first clusters
LLOYD = 20  # steps of each at most


class Alone(NamedTuple):
    """What each column of a table tells by itself.

    Parameters
    ----------
    weights : array of shape (d,)
        How much it counts before there are clusters: by how clearly it parts by itself.
    in_steps : array of shape (d,)
        Whether it has few values, or words: a cut between two of these leaves a gap, which is no group.
    """

    weights: Floats
    in_steps: Bools

    @classmethod
    def of(cls, rows: Floats, blocks: Sequence[Indices]) -> Alone:
        """Return what the columns tell; IN: see `weighted_clusters`."""
        left, in_steps = np.ones(len(blocks)), np.ones(len(blocks), dtype=np.bool_)
        for j, columns in enumerate(blocks):
            values, times = np.unique(rows[:, columns[0]], return_counts=True)
            in_steps[j] = len(columns) > 1 or len(values) <= STEPS
            left[j] = 1.0 if in_steps[j] else spread_left(values, times.astype(np.float64))
        weights = np.maximum(left, SETTLED) ** -SHARP
        return cls(weights / weights.max(), in_steps)


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
    made_of = np.repeat(np.arange(len(blocks)), list(map(len, blocks)))
    middle, weights = rows.mean(axis=0), alone.weights
    known = rows - middle
    labels = _cluster(known * np.sqrt(weights)[made_of], k, generator, n_starts)
    for _ in range(ROUNDS):
        new = _weights(_share_explained(known, labels, made_of))
        if np.abs(new - weights).max() < SETTLED:
            break
        weights = new
        placed = known * np.sqrt(weights)[made_of]
        labels = _run_k_means(placed, _means(placed, labels)[0])
    if not _are_clear(_share_explained(known, labels, made_of), k, alone.in_steps):
        weights = np.ones(len(blocks))
        labels = _cluster(known, k, generator, n_starts)
    factors = np.sqrt(weights)[made_of]
    return WeightedClusters(weights, middle, factors, _means(known * factors, labels)[0])


def _are_clear(explained: Floats, k: int, in_steps: Bools) -> bool:
    """Return whether clusters leave less of the columns than k boxes leave of even values.

    Of steps boxes leave nothing, so these count as even values.
    """
    left = np.maximum(1.0 - explained, np.where(in_steps, 1.0 / k**2, 0.0))
    return bool(np.prod(left) < CLEARER / k**2)


def _weights(explained: Floats) -> Floats:
    weights = np.maximum(explained - SLICED, 0.0) + LEAST
    return np.asarray(weights / weights.max())


def _share_explained(rows: Floats, labels: Indices, made_of: Indices) -> Floats:
    """Return the share of the variance of each column of the table that is between clusters; IN: centred rows."""
    means, sizes = _means(rows, labels)
    between = np.bincount(made_of, sizes @ means**2)
    whole = np.bincount(made_of, np.square(rows).sum(axis=0))
    return between / np.where(whole > 0, whole, 1.0)


def _cluster(rows: Floats, k: int, generator: Any, n_starts: int) -> Indices:
    """Return the labels of the best of some starts of k-means."""
    k = min(k, len(rows))
    found = [_run_k_means(rows, seed_centers(rows, k, generator)) for _ in range(n_starts)]
    return max(found, key=lambda labels: _between(rows, labels))


def _between(rows: Floats, labels: Indices) -> float:
    means, sizes = _means(rows, labels)
    return float((sizes @ means**2).sum())


def _run_k_means(rows: Floats, centers: Floats) -> Indices:
    """Return the labels at which Lloyd's steps from some centres end; clusters without rows are gone."""
    labels = _nearest(rows, centers)
    for _ in range(LLOYD):
        new = _nearest(rows, _means(rows, labels)[0])
        if np.array_equal(new, labels):
            break
        labels = new
    return labels


def _nearest(rows: Floats, centers: Floats) -> Indices:
    return np.asarray(np.argmin(np.square(centers).sum(axis=1) - 2.0 * (rows @ centers.T), axis=1), dtype=np.intp)


def _means(rows: Floats, labels: Indices) -> tuple[Floats, Floats]:
    """Return the mean and the number of the rows of each cluster that has some."""
    present, at = np.unique(labels, return_inverse=True)
    member = np.zeros((len(present), len(rows)))
    member[at, np.arange(len(rows))] = 1.0
    sizes = member.sum(axis=1)
    return (member @ rows) / sizes[:, None], sizes
