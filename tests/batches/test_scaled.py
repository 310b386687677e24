"""Standardized columns of tables in batches: the scaling and the trees of memory, to the last bit."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import boxwood as bw
from boxwood.batches.batches import rows_of
from boxwood.batches.sums import unit_scaling_of
from boxwood.reference.scaled import scaled_batches, unit_scaling
from tests.scale import law
from tests.scattered import scattered


def table(seed):
    """Return rows in columns of different units, labels, and weights; a constant column, far ones, and ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    X, y = make_blobs(n, 4, centers=4, cluster_std=2, random_state=seed)
    X = X * 10.0 ** rng.integers(-6, 7, size=4) + (10.0 ** rng.integers(0, 7) if seed % 3 == 0 else 0)
    if seed % 2:
        X[:, 0] = rng.integers(0, 3, size=n)
    if seed % 5 == 0:
        X[:, 1] = 7.3
    return X, y, (None, rng.integers(1, 4, size=n).astype(float), rng.random(n))[seed % 3]


def as_source(X, y, weights, seed):
    columns = {} if weights is None else {"w": weights}
    return scattered(X, seed, label=y, **columns), "w" if columns else None


@law(40)
def test_the_scaling_is_that_of_memory_and_of_fractions(seed):
    X, y, weights = table(seed)
    source, weight = as_source(X, y, weights, seed)
    scaling = unit_scaling(rows_of(source, "label", weight))
    shift, scale = unit_scaling_of(X, weights)
    np.testing.assert_array_equal(scaling.shift, shift)
    np.testing.assert_array_equal(scaling.scale, scale)
    exact = [Fraction(w) for w in (np.ones(len(X)) if weights is None else weights).tolist()]
    for j in range(X.shape[1]):
        values = [Fraction(x) for x in X[:, j].tolist()]
        mean = sum(w * x for w, x in zip(exact, values, strict=True)) / sum(exact)
        variance = sum(w * (x - mean) ** 2 for w, x in zip(exact, values, strict=True)) / sum(exact)
        assert shift[j] == pytest.approx(float(mean), rel=1e-15)
        assert scale[j] == pytest.approx(np.sqrt(float(variance)) or 1.0, rel=1e-14)


@law(10)
def test_scaled_rows_have_mean_0_and_variance_1(seed):
    X, y, weights = table(seed)
    source, weight = as_source(X, y, weights, seed)
    batches = rows_of(source, "label", weight)
    scaled = unit_scaling(scaled_batches(batches, unit_scaling(batches)))
    np.testing.assert_allclose(scaled.shift, 0, atol=1e-7)
    np.testing.assert_allclose(scaled.scale, 1, rtol=1e-12)


@law(8)
@pytest.mark.parametrize("method", ["imm", "auto"])
def test_the_tree_on_scaled_columns_is_that_of_memory(seed, method):
    X, y, weights = table(seed)
    source, weight = as_source(X, y, weights, seed)
    options = {"standardize": True, "method": method}
    found = bw.explain(source, "label", sample_weight=weight, **options)
    there = bw.explain(X, y, sample_weight=weights, **options)
    assert found.tree == there.tree
    assert found.details.standardized
    assert found.price == pytest.approx(there.price, rel=1e-9)
    assert found.cost == pytest.approx(there.cost, rel=1e-9)
    assert [one.rule for one in found.leaves] == [one.rule for one in there.leaves]


@pytest.mark.usefixtures("rows_drawn")
def test_clusters_are_made_on_scaled_columns():
    X, _ = make_blobs(900, 3, centers=4, random_state=3)
    X *= [1.0, 1e6, 1e-6]
    found = bw.explain(scattered(X, 0), n_clusters=4, standardize=True, method="imm", round_thresholds=2)
    there = bw.explain(X, n_clusters=4, standardize=True, method="imm", round_thresholds=2)
    assert found.price == pytest.approx(there.price, rel=1e-3)
    assert len(found.tree.features) > 1
