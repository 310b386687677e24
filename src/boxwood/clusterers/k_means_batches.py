"""`k_means_of_batches`, and a Gaussian mixture: clusterings of a table in batches, from a start on a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from boxwood._threads import one_thread
from boxwood._types import Floats, Indices
from boxwood.batches.batches import Batches, Block, Together
from boxwood.batches.labelling import Labelling, NearestCenters, OneCluster
from boxwood.batches.overview import Overview
from boxwood.batches.sample import Draw, RowSample, Sample
from boxwood.batches.sums import Grid, Means, Ranges, RowSums
from boxwood.errors import DataError
from boxwood.loops.costs import nearest
from boxwood.reference.clusterer import FEW_STARTS, LARGE, MANY_STARTS, refuse_few_different
from boxwood.reference.reference import Reference

MAX_PASSES = 10
TOLERANCE = 1e-4  # least relative gain of a pass for another pass to follow
SAMPLE_ROWS, LEAST_SAMPLE_ROWS, LEAST_ROWS_EACH = 1 << 16, 10_000, 100


@dataclass(frozen=True, eq=False)
class KMeansFound:
    """Clusters of k-means, the largest first.

    Parameters
    ----------
    centers : array of shape (k, d)
        Each row belongs to the nearest of these, to the first of equally near ones.
    means : array of shape (k, d)
        Mean of the rows of each cluster.
    sizes : array of shape (k,)
        Weight of the rows of each cluster.
    cost : float
        Sum of the weighted squared distances of rows to the nearest of `centers`.
    n_passes : int
        Number of passes over the table, that of the sample included.
    """

    centers: Floats
    means: Floats
    sizes: Floats
    cost: float
    n_passes: int

    def as_estimator(self) -> Any:
        """Return `KMeans` of scikit-learn, fitted with these centres; its `labels_` are those of the centres alone."""
        from sklearn.cluster import KMeans

        k = len(self.centers)
        kmeans = KMeans(k, init=self.centers, n_init=1, max_iter=1, random_state=0).fit(self.centers)
        kmeans.set_params(init="k-means++", max_iter=300)
        kmeans.cluster_centers_, kmeans.inertia_, kmeans.n_iter_ = self.centers.copy(), self.cost, self.n_passes
        return kmeans

    @property
    def reference(self) -> Reference:
        """The clustering, with means as centres."""
        return Reference(NearestCenters(self.centers), self.means)


@dataclass(frozen=True)
class FirstLook:
    """The result of the first pass of a clustering: an overview of all rows as one cluster, and a sample of them."""

    overview: Overview
    sample: Sample


def first_look(batches: Batches, n_clusters: int, n_rows: int | None = None) -> FirstLook:
    """Return an overview of all rows and a sample, from one pass; the labelling of the batches is not read.

    The sample has up to `n_rows` different rows; None is about two million values, at least 10 000 rows and at least
    100 rows for each cluster.

    Raises
    ------
    DataError
        If values are missing or infinite, or no row has a weight above 0, or there are fewer rows than clusters.
    """
    d = batches.n_columns
    n_rows = n_rows or max(min(SAMPLE_ROWS, LARGE // d), LEAST_SAMPLE_ROWS, LEAST_ROWS_EACH * n_clusters)
    makes: list[Any] = [partial(Overview, 1, d), partial(RowSample, Draw(n_rows), d)]
    overview, rows = replace(batches, labelling=OneCluster(), store=None).fold(partial(Together, makes)).parts
    overview.refuse_unusable(batches.columns)
    first = FirstLook(overview, Sample.of(rows))
    refuse_few_different(len(np.unique(first.sample.values, axis=0)), n_clusters)
    return first


def k_means_of_batches(
    batches: Batches, n_clusters: int, *, random_state: Any = 0, max_passes: int = MAX_PASSES
) -> KMeansFound:
    """Return the clusters that k-means finds on a sample, improved by passes over all rows.

    One pass takes a sample that depends on the rows alone, and scikit-learn's `KMeans` finds the best of several starts
    on it, as `explain` does in memory. Each further pass is a step of Lloyd's algorithm on all rows: it assigns them to
    their nearest centre, and the means become the next centres. The passes end when the cost falls by less than
    0.01 %, or after `max_passes` of them. Sums are exact, so the clusters depend neither on batches nor on the order of
    the rows. A cluster that loses all rows gets the row of the sample that is farthest from its centre.

    Raises
    ------
    DataError
        If values are missing or infinite, or so large that their squares overflow, or if there are fewer different
        rows than clusters.
    """
    batches = replace(batches, labelling=None, store=None)
    look = first_look(batches, n_clusters)
    make = partial(_CenterSums, _ranges(look.overview))
    centers = _by_size(*_start(look.sample, n_clusters, random_state))
    before = np.inf
    for n_passes in range(1, max_passes + 1):
        sums = batches.fold(partial(make, centers))
        cost = sums.cost
        if cost >= (1 - TOLERANCE) * before or n_passes == max_passes:
            break
        before = cost
        centers = _by_size(_next(sums, look.sample), sums.sizes)
    if (np.diff(sums.sizes) > 0).any():  # two sizes changed places in the last pass; ties of rows go to the first
        centers = _by_size(centers, sums.sizes)
        sums, n_passes = batches.fold(partial(make, centers)), n_passes + 1
    if not sums.sizes.all():
        raise DataError(f"k-means lost {int((sums.sizes == 0).sum())} of {n_clusters} clusters; ask for fewer clusters")
    return KMeansFound(centers, sums.means, sums.sizes, sums.cost, n_passes + 1)


def _start(sample: Sample, n_clusters: int, random_state: Any) -> tuple[Floats, Floats]:
    """Return the centres that k-means finds on a sample, the best of several starts, and their clusters' weights."""
    from sklearn.cluster import KMeans

    values, weights = sample.values, sample.weights
    starts = MANY_STARTS if values.size <= LARGE else FEW_STARTS
    kmeans = KMeans(n_clusters, n_init=starts, random_state=random_state)
    with one_thread():
        kmeans.fit(values, sample_weight=weights)
    return kmeans.cluster_centers_, np.bincount(kmeans.labels_, weights, n_clusters).astype(np.float64)


def _by_size(centers: Floats, sizes: Floats) -> Floats:
    return np.ascontiguousarray(centers[np.argsort(-sizes, kind="stable")])


class _CenterSums:
    """Sums over the rows nearest to each centre, of the columns, of the squared distances and of the weights.

    They are exact in any order; see `RowSums`. The squared distance is an additional column.
    """

    def __init__(self, ranges: Ranges, centers: Floats) -> None:
        k = len(centers)
        self.centers = centers
        self.sums = RowSums(ranges._replace(least=np.tile(ranges.least, (k, 1)), most=np.tile(ranges.most, (k, 1))))

    def update(self, block: Block) -> None:
        values, _, weights = block
        n, d = values.shape
        labels, rows = np.empty(n, dtype=np.intp), np.empty((n, d + 1))
        distances = np.empty(n)
        nearest(values, np.ascontiguousarray(self.centers.T), True, labels, distances)
        rows[:, :d], rows[:, d] = values, distances * distances
        self.sums.update((rows, labels, weights))

    def merge(self, other: _CenterSums) -> None:
        self.sums.merge(other.sums)

    @cached_property
    def weights_and_means(self) -> Means:
        """Weights and means of the clusters."""
        return self.sums.means()

    @property
    def sizes(self) -> Floats:
        """Weight of the rows of each cluster."""
        return self.weights_and_means.weights

    @property
    def cost(self) -> float:
        """Sum of the weighted squared distances."""
        return float((self.weights_and_means.weights * np.nan_to_num(self.weights_and_means.mean[:, -1])).sum())

    @property
    def means(self) -> Floats:
        """Mean of the rows of each cluster; NaN for a cluster without rows."""
        return np.asarray((self.weights_and_means.mean + self.weights_and_means.rest)[:, :-1])


def _ranges(overview: Overview) -> Ranges:
    """Return the ranges of all columns and of the squared distances between rows.

    Raises
    ------
    DataError
        If squared distances between rows may overflow.
    """
    least, most = overview.least, overview.most
    with np.errstate(over="ignore"):
        diameter = 2 * float(np.square(most - least).sum())  # twice, as it is rounded
    if not np.isfinite(2 * diameter * overview.n_rows):
        raise DataError("values are so large that squared distances overflow; divide the columns by their spread")
    weights = (overview.heaviest, overview.lightest) if overview.heaviest else ()
    least, most = np.append(least, [[0.0]], axis=1), np.append(most, [[diameter]], axis=1)
    return Ranges(least, most, Grid(overview.n_kept, *weights))


def _next(sums: _CenterSums, sample: Sample) -> Floats:
    """Return the means; an empty cluster gets the row of the sample that is farthest from its nearest centre."""
    centers = sums.means
    for c in np.flatnonzero(sums.sizes == 0):
        others = centers[~np.isnan(centers).any(axis=1)]
        labels, distances = np.empty(len(sample.values), dtype=np.intp), np.empty(len(sample.values))
        nearest(sample.values, np.ascontiguousarray(others.T), True, labels, distances)
        centers[c] = sample.values[distances.argmax()]
    return centers


COVARIANCES = ("full", "diag")
"""Kinds of covariances of which `LikeliestComponent` finds the densities."""


@dataclass(frozen=True, eq=False)
class LikeliestComponent(Labelling):
    """Each row belongs to its likeliest component of a fitted Gaussian mixture, the first of equally likely ones.

    Each row is computed by itself, so its component does not depend on other rows of its block, as it would with BLAS.

    Parameters
    ----------
    mixture : GaussianMixture
        Fitted, with full or diagonal covariances.
    """

    mixture: Any

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the likeliest component of each row."""
        assert rows is not None
        fitted, columns = self.mixture, np.ascontiguousarray(rows.T)
        components = zip(fitted.weights_, fitted.means_, fitted.precisions_cholesky_, strict=True)
        return np.asarray(
            np.argmax([_log_density(columns, *parameters) for parameters in components], axis=0), dtype=np.intp
        )


def _log_density(columns: Floats, weight: float, mean: Floats, root: Floats) -> Floats:
    """Return the logarithm of a component's weight times its density, but for a constant, shape (n,).

    IN: columns (d, n); root (d, d): root of the inverse of the covariance, or (d,): inverse deviations.
    """
    from boxwood.loops.kernels import products  # here, as most tables are read without it and the compiler

    is_full, gaps = root.ndim == 2, columns - mean[:, None]
    total = np.zeros(columns.shape[1])
    for along in products(root.T, gaps.T) if is_full else gaps * root[:, None]:
        total += along * along  # column by column, as the order of a sum in numpy may depend on the number of rows
    with np.errstate(divide="ignore"):
        offset = np.log(np.diagonal(root) if is_full else root).sum() + np.log(weight)
    return np.asarray(offset - 0.5 * total)


def mixture_of_sample(batches: Batches, n_components: int, n_rows: int, random_state: Any) -> tuple[Any, str]:
    """Return a `GaussianMixture` of scikit-learn, fitted on up to `n_rows` rows from one pass, and a note on them.

    The sample depends on the rows alone, and each row is as likely to be in it as any other. If it holds all rows, the
    note is empty. Weights count as little as in memory, as scikit-learn's mixtures take none; rows of weight 0 are left
    out.

    Raises
    ------
    DataError
        If values are missing or infinite, or if there are fewer different rows than components.
    """
    from sklearn.mixture import GaussianMixture

    look = first_look(batches, n_components, n_rows)
    rows, n_kept = look.sample.drawn(n_rows).values, look.overview.n_kept
    mixture = GaussianMixture(n_components, random_state=random_state)
    with one_thread():
        mixture.fit(rows)
    is_all = len(rows) == n_kept
    return mixture, "" if is_all else f"the mixture was fitted on a sample of {len(rows):,} of {n_kept:,} rows"
