"""k-means by passes: exact sums over all rows, the same clusters whatever the batches."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from boxwood.batches.batches import rows_of
from boxwood.clusterers import k_means_batches as module
from boxwood.clusterers.k_means_batches import k_means_of_batches
from boxwood.errors import DataError
from tests.scale import law
from tests.scattered import scattered


def table(seed):
    """Return rows and weights; few values in some tables, far from zero in others."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 200)), int(rng.integers(1, 5))
    kinds = (
        lambda: rng.integers(0, 4, size=(n, d)).astype(float),
        lambda: rng.normal(size=(n, d)) * 1e-12,
        lambda: rng.normal(size=(n, d)) + 1e9,
        lambda: make_blobs(n, d, centers=4, random_state=seed)[0],
    )
    weights = (None, rng.integers(1, 4, size=n).astype(float), rng.random(n) * (rng.random(n) < 0.8))
    return kinds[seed % 4](), weights[seed % 3]


def found_on(X, weights, seed, n_clusters, **options):
    columns = {} if weights is None else {"w": weights}
    source = scattered(X, seed, **columns)
    found = k_means_of_batches(rows_of(source, None, "w" if columns else None), n_clusters, **options)
    assert found.n_passes == source.runs
    return found


@law(60)
def test_clusters_are_the_same_in_any_batches_and_measured_on_all_rows(seed, monkeypatch):
    monkeypatch.setattr(module, "LEAST_SAMPLE_ROWS", 20)  # so that the passes have something to improve
    monkeypatch.setattr(module, "LARGE", 20)
    monkeypatch.setattr(module, "LEAST_ROWS_EACH", 1)
    X, weights = table(seed)
    found = found_on(X, weights, seed, 3)
    order = np.random.default_rng(seed).permutation(len(X))
    again = found_on(X[order], None if weights is None else weights[order], seed + 1, 3)
    for name in ("centers", "means", "sizes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(again, name))
    assert (found.cost, found.n_passes) == (again.cost, again.n_passes)

    weights = np.ones(len(X)) if weights is None else weights
    labels = found.reference.labelling.codes(X, None)
    np.testing.assert_allclose(found.sizes, np.bincount(labels, weights, 3), rtol=1e-14)
    np.testing.assert_allclose(found.cost, (weights * ((X - found.centers[labels]) ** 2).sum(axis=1)).sum(), rtol=1e-12)
    means = [np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(3)]
    np.testing.assert_allclose(found.reference.centers, means, rtol=1e-13, atol=1e-13 * np.abs(X).max())


@law(5)
def test_clusters_cost_as_little_as_those_of_memory(seed):
    X, _ = make_blobs(3000, 3, centers=5, cluster_std=2, random_state=seed)
    found = found_on(X, None, seed, 5)
    assert found.cost <= 1.001 * KMeans(5, n_init=10, random_state=0).fit(X).inertia_
    assert (np.diff(found.sizes) <= 0).all()


def test_passes_improve_a_start_on_few_rows(monkeypatch):
    X, _ = make_blobs(3000, 4, centers=6, cluster_std=3, random_state=0)
    monkeypatch.setattr(module, "LEAST_SAMPLE_ROWS", 40)
    monkeypatch.setattr(module, "LARGE", 40)
    monkeypatch.setattr(module, "LEAST_ROWS_EACH", 1)
    costs = [found_on(X, None, 0, 6, max_passes=n).cost for n in (1, 2, 5)]
    assert costs[0] > costs[1] > costs[2]


def test_an_empty_cluster_gets_a_far_row(monkeypatch):
    X = np.concatenate([np.arange(10.0), np.arange(100.0, 110.0), [150.0]])[:, None]
    monkeypatch.setattr(module, "_start", lambda *args: (np.array([[5.0], [60.0], [110.0]]), np.ones(3)))
    found = found_on(X, None, 0, 3)
    assert sorted(found.means.ravel().tolist()) == [4.5, 104.5, 150.0]
    assert found.sizes.tolist() == [10.0, 10.0, 1.0]


def test_what_cannot_be_clustered_is_refused():
    with pytest.raises(DataError, match="3 clusters asked for, but the table has only 2 different rows"):
        found_on(np.array([[0.0], [1.0], [1.0]]), None, 0, 3)
    with pytest.raises(DataError, match="at least 2 clusters"):
        found_on(np.array([[0.0], [1.0]]), None, 0, 1)
    with pytest.raises(DataError, match="missing values in 1 of 3 rows: x0"):
        found_on(np.array([[0.0], [np.nan], [1.0]]), None, 0, 2)
    with pytest.raises(DataError, match="squared distances overflow"):
        found_on(np.array([[1e200], [-1e200], [1.0]]), None, 0, 2)
    with pytest.raises(DataError, match="every row is left out"):
        found_on(np.arange(3.0)[:, None], np.zeros(3), 0, 2)
