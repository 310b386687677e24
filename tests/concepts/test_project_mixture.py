"""Mixtures of scores: equal to their formula and to the mixture of projected rows."""

import numpy as np
import pytest

from boxwood import Mixture, grow
from boxwood.concepts import project
from boxwood.concepts._choosing import pair_gaps
from boxwood.errors import DataError
from boxwood.metrics import explainability_to_noise
from tests import naive
from tests.scale import seeds


def random_mixture(rng, k, d):
    A = rng.normal(size=(k, d, d))
    covariances = A @ A.transpose(0, 2, 1)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    return Mixture(rng.dirichlet(np.ones(k)) + 0.01, rng.normal(size=(k, d)), variances, covariances=covariances)


def test_a_projected_mixture_is_what_its_formula_says():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        k, d, m = (int(rng.integers(1, 5)) for _ in range(3))
        mixture, C, b = random_mixture(rng, k, d), rng.normal(size=(m, d)), rng.normal(size=m)
        scores = project(mixture, C, b)
        for c in range(k):
            for j in range(m):
                assert scores.means[c, j] == pytest.approx(C[j] @ mixture.means[c] + b[j])
                assert scores.variances[c, j] == pytest.approx(naive.quadratic_form(C[j], mixture.covariances[c]))
    plain = Mixture(mixture.weights, mixture.means, mixture.variances)
    assert project(plain, C).variances == pytest.approx(mixture.variances @ (C**2).T)


def test_a_projected_mixture_is_the_mixture_of_projected_rows():
    for seed in seeds(1000):
        rng = np.random.default_rng(seed)
        k, d, m = int(rng.integers(2, 5)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
        labels = np.concatenate([np.arange(k), rng.integers(k, size=30)])
        Z = rng.normal(size=(k + 30, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=(k, d))[labels]
        C = rng.normal(size=(m, d))
        plain = Mixture.of(Z, labels)
        covariances = np.array([np.cov(Z[labels == c].T, bias=True).reshape(d, d) for c in range(k)])
        variances = np.diagonal(covariances, axis1=1, axis2=2)
        projected = project(Mixture(plain.weights, plain.means, variances, covariances=covariances), C)
        expected = Mixture.of(Z @ C.T, labels)
        assert np.allclose(projected.means, expected.means, rtol=1e-6, atol=1e-9), seed
        assert np.allclose(projected.variances, expected.variances, rtol=1e-6, atol=1e-9), seed


def test_the_ratio_of_concepts_is_equation_6():
    """min over pairs of max over concepts of (c (mu - mu'))² / (2 c Sigma c), for one covariance."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        k, d, m = int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        means, C, A = rng.normal(size=(k, d)), rng.normal(size=(m, d)), rng.normal(size=(d, d))
        covariance = A @ A.T
        everywhere = np.broadcast_to(covariance, (k, d, d))
        mixture = Mixture(np.ones(k), means, np.broadcast_to(np.diag(covariance), (k, d)), covariances=everywhere)
        expected = min(
            max((c @ (means[i] - means[j])) ** 2 / (2 * naive.quadratic_form(c, covariance)) for c in C)
            for i in range(k)
            for j in range(i)
        )
        found = explainability_to_noise(project(mixture, C), convention="subgaussian").value
        assert found == pytest.approx(expected)


def test_the_standard_deviation_decides_not_the_variance():
    """Concept gaps 10 and 3 with deviations 4 and 1: ratios 2.5 and 3, whatever the length of a vector.

    With c' Sigma c in the place of its root, as Algorithm 2 of "Decision Trees for Interpretable Clusters in Mixture
    Models and Deep Representations" prints, they would be 0.625 and 3, and 6.25 after a division of the first by 10.
    """
    mixture = Mixture([1, 1], [[0.0, 0.0], [10.0, 3.0]], [[16.0, 1.0]] * 2)
    for length in (1.0, 0.1, 1000.0):
        scores = project(mixture, [[length, 0.0], [0.0, 1.0]])
        _, gaps = pair_gaps(scores, "weighted")
        assert gaps[0] == pytest.approx([2.5, 3.0])
        assert grow.mmdt(scores).to_dict()["feature"] == 1


def test_trees_do_not_depend_on_lengths_and_intercepts():
    rng = np.random.default_rng(2)
    for _ in range(300):
        mixture = random_mixture(rng, int(rng.integers(2, 7)), int(rng.integers(1, 5)))
        C = rng.normal(size=(int(rng.integers(1, 5)), mixture.n_features))
        length, b = np.exp(3 * rng.normal(size=len(C))), rng.normal(size=len(C))
        rows = rng.normal(size=(50, mixture.n_features))
        plain = grow.mmdt(project(mixture, C)).predict(rows @ C.T)
        other = grow.mmdt(project(mixture, length[:, None] * C, b)).predict(rows @ (length[:, None] * C).T + b)
        assert np.array_equal(plain, other)


def test_errors_of_projections():
    mixture = Mixture([1, 1], [[0.0, 1.0], [1.0, 0.0]], np.ones((2, 2)))
    for C, b, message in (
        ([[1.0]], None, r"shape \(m, 2\)"),
        ([[1.0, np.nan]], None, "finite"),
        ([[1, 0]], [1, 2], "one finite number for each of 1 vectors"),
    ):
        with pytest.raises(DataError, match=message):
            project(mixture, C, b)
