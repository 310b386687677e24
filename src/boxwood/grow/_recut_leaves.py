"""The cheapest cluster of a leaf, mostly found without the costs of its rows under every cluster."""

from __future__ import annotations

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.grow._costs import Problem, whole_costs
from boxwood.loops.refine import add_gaps

__all__ = ["cheaper_clusters"]

_NONE = np.iinfo(np.int64).max
_MARGIN = 1e-6  # more than the relative error of the costs by means


def cheaper_clusters(problem: Problem, labels: Indices, clusters: Ints, rows: Indices, slots: Indices) -> Ints:
    """Return for each of some leaves the cheapest cluster of which it holds rows, or -1 if it has none cheaper.

    `labels` are the clusters of all rows; `clusters` those of the leaves; `rows` are all rows of these leaves, and
    `slots` the place of each one's leaf among `clusters`. Sums are exact as those of `whole_costs` are, and of equal
    clusters the first is the cheapest.
    """
    if problem.centers is None and (problem.share == 1).all():
        return _by_counts(problem, labels, clusters, rows, slots)
    cheaper = np.full(len(clusters), -1)
    held = np.zeros((len(clusters), problem.n_clusters), dtype=np.bool_)
    held[slots, labels[rows]] = True
    in_doubt = _in_doubt(problem, clusters, rows, slots, held)
    rows, slots = rows[in_doubt[slots]], slots[in_doubt[slots]]
    order = np.argsort(slots, kind="stable")
    ends = np.searchsorted(slots[order], np.arange(len(clusters) + 1))
    for i in np.flatnonzero(in_doubt).tolist():
        total = whole_costs(problem, rows[order[ends[i] : ends[i + 1]]])[0].sum(axis=0)
        best = int(np.where(held[i], total, _NONE).argmin())
        if total[best] < total[clusters[i]]:
            cheaper[i] = best
    return cheaper


def _by_counts(problem: Problem, labels: Indices, clusters: Ints, rows: Indices, slots: Indices) -> Ints:
    """Return the cluster of most rows of each leaf, or -1 if its own has as many: the one of fewest mistakes."""
    counts = np.zeros((len(clusters), problem.n_clusters), dtype=np.int64)
    np.add.at(counts, (slots, labels[rows]), problem.times[rows])
    own = counts[np.arange(len(clusters)), clusters]
    return np.where(counts.max(axis=1) > own, counts.argmax(axis=1), -1)


def _in_doubt(problem: Problem, clusters: Ints, rows: Indices, slots: Indices, held: Bools) -> Bools:
    """Return which leaves may have a cheaper cluster, shape (n_leaves,)."""
    several: Bools = np.asarray(held.sum(axis=1) > 1)
    if problem.centers is None:
        return several
    costs = _costs_by_means(problem, clusters, rows, slots)
    own = costs[np.arange(len(clusters)), clusters][:, None]
    near = held & (costs - own <= _MARGIN * (costs + own))
    return np.asarray(several & (near.sum(axis=1) > 1))


def _costs_by_means(problem: Problem, clusters: Ints, rows: Indices, slots: Indices) -> Floats:
    """Return the cost of each leaf under each cluster, shape (n_leaves, k), up to rounding.

    It is the cost about the leaf's mean, and the weight times the squared distance from the mean to the centre. Gaps
    are taken to the centre of the leaf's own cluster, which keeps the digits of values that are far from zero.
    """
    centers, unit = problem.centers, problem.unit
    assert centers is not None
    gaps, sums = np.zeros((len(clusters), centers.shape[1])), np.zeros((len(clusters), 2))
    weights = problem.share[rows] * problem.times[rows]
    add_gaps(problem.rows.values, rows, slots, weights, centers[clusters], unit, gaps, sums)
    weight = np.where(sums[:, 0] > 0, sums[:, 0], 1.0)
    means = gaps / weight[:, None]
    about_means = sums[:, 1] - weight * np.square(means).sum(axis=1)
    costs = np.empty((len(clusters), len(centers)))
    for i, cluster in enumerate(clusters.tolist()):
        to_centers = (centers[cluster] * 0.5 - centers * 0.5) * unit + means[i]
        costs[i] = np.square(to_centers).sum(axis=1) * weight[i] + about_means[i]
    return costs
