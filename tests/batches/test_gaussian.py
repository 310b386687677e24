"""Gaussian mixtures on tables in batches: fitted on a sample that depends on the rows alone."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from boxwood import MMDT, Mixture
from boxwood.batches.batches import rows_of
from boxwood.clusterers.k_means_batches import LikeliestComponent, mixture_of_sample
from boxwood.errors import DataError
from boxwood.explanation.choose import search
from tests.scale import law
from tests.scattered import scattered


def table(seed, n=200, d=2, far=0.0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(3, d, d))
    means = rng.normal(size=(3, d)) * 8 + far
    return np.concatenate([means[c] + rng.normal(size=(n, d)) @ roots[c] for c in range(3)])


def found_on(X, seed, n_rows=10_000):
    return mixture_of_sample(rows_of(scattered(X, seed)), 3, n_rows, 0)


@law(6)
def test_a_mixture_of_a_short_table_is_that_of_its_rows(seed):
    X = np.repeat(table(seed), 1 + np.arange(600) % 2, axis=0)  # equal rows count as often as they are
    found, note = found_on(X, seed)
    assert note == ""
    there = GaussianMixture(3, random_state=0).fit(X)
    assert found.score(X) >= there.score(X) - 0.05 * abs(there.score(X))
    assert found.weights_.sum() == pytest.approx(1.0)
    again, _ = found_on(X[::-1], seed + 1)
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(again, name))


def test_a_mixture_of_a_long_table_is_that_of_a_sample():
    X = table(1, n=2000)
    found, note = found_on(X, 0, n_rows=900)
    assert note == "the mixture was fitted on a sample of 900 of 6,000 rows"
    assert found.score(X) >= GaussianMixture(3, random_state=0).fit(X).score(X) - 0.1
    source = scattered(X, 0)
    mixture_of_sample(rows_of(source), 3, 900, 0)
    assert source.runs == 1


def test_the_note_is_one_of_the_explanation(monkeypatch):
    X = table(2, n=300)
    assert not [note for note in MMDT(n_clusters=3).fit(scattered(X, 0)).explanation_.notes if "sample" in note]
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 300)
    model = MMDT(n_clusters=3, random_state=0).fit(scattered(X, 0))
    assert "the mixture was fitted on a sample of 300 of 900 rows" in model.explanation_.notes
    assert sum(one.size for one in model.explanation_.clusters) == 900


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@law(10)
def test_the_likeliest_component_is_that_of_scikit_learn_in_any_blocks(seed, covariance_type):
    X = table(seed, d=1 + seed % 5, far=1e5 if seed % 3 == 0 else 0.0)
    fitted = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    codes = LikeliestComponent(fitted).codes(X, None)
    np.testing.assert_array_equal(codes, fitted.predict(X))
    parts = [LikeliestComponent(fitted).codes(part, None) for part in np.array_split(X, 1 + seed % 50)]
    np.testing.assert_array_equal(codes, np.concatenate(parts))
    assert Mixture.from_gaussian_mixture(fitted).n_components == 3


@law(3)
def test_a_tree_of_a_mixture_is_the_same_in_any_batches(seed):
    X = table(seed, n=60)
    one, other = (MMDT(n_clusters=3, random_state=0).fit(scattered(X[:: 1 - 2 * i], seed + i)) for i in (0, 1))
    assert one.tree_ == other.tree_


def test_rows_of_no_weight_are_left_out():
    X, weights = table(4), np.tile([0.0, 1.0, 5.0], 200)
    mixture, _ = mixture_of_sample(rows_of(scattered(X, 0, w=weights), None, "w"), 3, 10_000, 0)
    without, _ = found_on(X[weights > 0], 1)
    assert mixture.score(X) == pytest.approx(without.score(X), abs=0.1)
    assert mixture.weights_.tolist() != found_on(X, 0)[0].weights_.tolist()


def test_too_few_rows_are_refused():
    with pytest.raises(DataError, match="3 clusters asked for"):
        found_on(np.array([[0.0], [1.0], [1.0]]), 0)
    with pytest.raises(DataError, match="missing values in 1 of 4 rows"):
        found_on(np.array([[0.0], [1.0], [2.0], [np.nan]]), 0)
