"""Random mixtures, trees and checks that the tests of mixtures share."""

import math

import numpy as np
import pytest

from boxwood import Mixture, TreeBuilder
from tests.metrics.test_mixtures import random_mixture
from tests.scale import seeds


def mixtures(n, *, equal_variances=False):
    """Yield random mixtures, from overlapping to far apart."""
    for seed in seeds(n):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(2, 9)), int(rng.integers(1, 6))
        mixture = random_mixture(rng, k, d, spread=10 ** rng.uniform(-0.5, 2))
        if equal_variances:
            variances = np.broadcast_to(mixture.variances[0], mixture.variances.shape)
            mixture = Mixture(mixture.weights, mixture.means, variances, law="gaussian")
        yield mixture


def caterpillar(order):
    """Return the tree that cuts off one unit vector after the other, at thresholds from 0 to below 1."""
    builder, node = TreeBuilder(), 0
    for i, j in enumerate(order[:-1]):
        left, right = builder.split(node, j, (0.0, 0.5, 0.99)[i % 3])
        builder.label(right, j)
        node = left
    builder.label(node, order[-1])
    return builder.build()


def exact_error(instance, tree):
    atoms = instance.atoms()
    return float(atoms.weights[tree.predict(atoms.points) != atoms.labels].sum())


def deviations_are_right(instance):
    """Check mean, variance and absolute deviation of each axis by all atoms, and the numbers that follow."""
    atoms, mixture = instance.atoms(), instance.mixture
    off = atoms.points - mixture.means[atoms.labels]
    eps, d = instance.exact["eps"], mixture.n_features
    assert atoms.weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(atoms.weights @ off, 0, atol=1e-15)
    np.testing.assert_allclose(atoms.weights @ off**2, 2 * eps)
    np.testing.assert_allclose(mixture.variances, 2 * eps)
    assert atoms.weights @ np.abs(off).sum(axis=1) == pytest.approx(instance.exact["baseline_l1"])
    assert instance.exact["baseline_l1"] == pytest.approx(2 * d * eps)
    assert instance.exact["beta"] == pytest.approx(math.sqrt(2 * eps) / (2 * eps))
