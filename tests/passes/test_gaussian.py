"""Gaussian mixtures by passes: as likely as those of scikit-learn, and usable as those."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from boxwood import MMDT, Mixture
from boxwood.errors import DataError
from boxwood.loops import gaussians
from boxwood.passes import _gaussian as module
from boxwood.passes._batches import rows_of
from boxwood.passes._gaussian import LikeliestComponent, gaussian_mixture_by_passes
from boxwood.reference._sums import Grid, rounded
from tests.scale import seeds
from tests.scattered import scattered


def table(seed, n=200, d=2, far=0.0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(3, d, d))
    means = rng.normal(size=(3, d)) * 8 + far
    return np.concatenate([means[c] + rng.normal(size=(n, d)) @ roots[c] for c in range(3)])


def found_on(X, seed, weights=None, **options):
    columns = {} if weights is None else {"w": weights}
    return gaussian_mixture_by_passes(
        rows_of(scattered(X, seed, **columns), None, "w" if columns else None), 3, **options
    )


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize("seed", seeds(6))
def test_a_mixture_is_as_likely_as_that_of_scikit_learn_in_any_batches(seed, covariance_type):
    X = table(seed, far=1e5 if seed % 3 == 0 else 0.0)
    found = found_on(X, seed, covariance_type=covariance_type)
    there = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    assert found.score(X) >= there.score(X) - 0.01
    again = found_on(X[::-1], seed + 1, covariance_type=covariance_type)
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_allclose(getattr(found, name), getattr(again, name), rtol=1e-7, atol=1e-7)
    assert found.converged_


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_one_step_is_that_of_scikit_learn(covariance_type, monkeypatch):
    X = table(1)
    monkeypatch.setattr(module, "MAX_STEPS", 1)
    found = found_on(X, 0, covariance_type=covariance_type, max_passes=1)  # one step on the sample, which is the table
    centers = module.start_on(module.first_look(rows_of(scattered(X, 0)), 3).sample, 3, 0).cluster_centers_
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    there = GaussianMixture(3, covariance_type=covariance_type, max_iter=1)
    there._initialize_parameters(X, np.random.RandomState(0))
    there._initialize(X, np.eye(3)[labels])
    for _ in range(2):
        there._m_step(X, there._e_step(X)[1])
    order = np.argsort(-there.weights_)
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(found, name), getattr(there, name)[order], rtol=1e-9, atol=1e-12)


def test_weights_are_repeated_rows():
    X, times = table(2, n=60), np.random.default_rng(0).integers(0, 4, size=180)
    weighted = found_on(X, 0, times.astype(float))
    repeated = found_on(np.repeat(X, times, axis=0), 1)
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-9)
    np.testing.assert_allclose(weighted.lower_bound_, repeated.lower_bound_, rtol=1e-9)


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_it_is_a_fitted_mixture_of_scikit_learn(covariance_type):
    X = table(3)
    found = found_on(X, 0, covariance_type=covariance_type)
    there = LikeliestComponent(found).codes(X, None)
    np.testing.assert_array_equal(there, found.predict(X))
    assert Mixture.from_gaussian_mixture(found).n_components == 3
    np.testing.assert_allclose(
        found.precisions_, np.linalg.inv(found.covariances_) if covariance_type == "full" else 1 / found.covariances_
    )


def test_what_has_no_mixture_is_refused():
    with pytest.raises(DataError, match="3 clusters asked for"):
        found_on(np.array([[0.0], [1.0], [1.0]]), 0)
    with pytest.raises(ValueError, match="covariance_type"):
        found_on(table(0), 0, covariance_type="tied")
    column = 1e9 * table(0)[:, 0]
    with pytest.raises(DataError, match="shrinks to a point"):
        found_on(np.column_stack([column, column]), 0)  # on a line, where columns are large


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize("seed", seeds(10))
def test_a_mixture_is_the_same_to_the_last_bit_in_any_batches(seed, covariance_type):
    rng = np.random.default_rng(seed)
    X = table(seed, n=70, d=int(rng.integers(1, 5)), far=1e5 if seed % 3 == 0 else 0.0)
    weights = [None, rng.integers(0, 4, size=len(X)).astype(float), rng.random(len(X)) ** 4][seed % 3]
    order = rng.permutation(len(X))
    found = found_on(X, seed, weights, covariance_type=covariance_type)
    again = found_on(X[order], seed + 1, None if weights is None else weights[order], covariance_type=covariance_type)
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(again, name))
    assert (found.lower_bound_, found.n_iter_) == (again.lower_bound_, again.n_iter_)


@pytest.mark.parametrize("seed", seeds(3))
def test_a_tree_of_a_mixture_is_the_same_in_any_batches(seed):
    X = table(seed, n=60)
    one, other = (MMDT(n_clusters=3, random_state=0).fit(scattered(X[:: 1 - 2 * i], seed + i)) for i in (0, 1))
    assert one.tree_ == other.tree_


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("seed", seeds(20))
def test_loops_are_those_of_the_definitions(seed, full):
    rng = np.random.default_rng(seed)
    n, d, k = (int(rng.integers(1, most)) for most in (30, 5, 4))
    X, means, shares = rng.normal(size=(n, d)), rng.normal(size=(k, d)), rng.random((n, k)).round(1)
    roots = np.triu(rng.normal(size=(k, d, d))) if full else rng.random((k, 1, d))
    squares, scales = np.empty((n, k)), np.full(d, 0.125)
    units = Grid(n).units()
    sums = np.zeros((k, len(units), 1 + d + (d * (d + 1) // 2 if full else d)))
    gaussians.deviations(X, means, roots, full, squares)
    gaussians.add_expected(X, shares, means, scales, full, units, sums)
    for c in range(k):
        gaps = X - means[c]
        along = gaps @ roots[c] if full else gaps * roots[c, 0]
        np.testing.assert_allclose(squares[:, c], np.square(along).sum(axis=1), rtol=1e-12)
        weight, first, second = np.split(rounded(sums)[c], [1, 1 + d])
        products = gaps.T @ (gaps * shares[:, c, None])
        np.testing.assert_allclose(weight[0], shares[:, c].sum(), rtol=1e-12)
        np.testing.assert_allclose(first * 8, (gaps * shares[:, c, None]).sum(axis=0), rtol=1e-12, atol=1e-12)
        expected = products[np.tril_indices(d)] if full else np.diag(products)
        np.testing.assert_allclose(second * 64, expected, rtol=1e-12, atol=1e-12)
    parts = np.zeros_like(sums)  # in any order, and in parts
    for row in rng.permutation(n):
        gaussians.add_expected(X[row : row + 1], shares[row : row + 1], means, scales, full, units, parts)
    np.testing.assert_array_equal(parts, sums)
