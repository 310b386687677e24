"""Gaussian mixtures by passes: as likely as those of scikit-learn, and usable as those."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from boxwood import Mixture
from boxwood.errors import DataError
from boxwood.passes import _gaussian as module
from boxwood.passes._batches import rows_of
from boxwood.passes._gaussian import LikeliestComponent, gaussian_mixture_by_passes
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
