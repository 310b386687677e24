"""What all instances have in common: rows drawn from them, and their errors."""

import math

import numpy as np
import pytest

from boxwood.theory import instances
from tests.scale import each
from tests.theory.mixture_cases import caterpillar


def test_samples_of_discrete_instances():
    for seed, instance in enumerate(
        [instances.linear_error(5, 20.0), instances.exponential_error(4, 3.0), instances.constant_price(5)]
    ):
        X, labels = instance.sample(200_000, seed)
        k = instance.mixture.n_components
        error = float(np.mean(caterpillar(range(k)).predict(X) != labels)) if k > 2 else None
        if error is not None:
            exact = instance.exact["error"]
            assert abs(error - exact) < 4 * math.sqrt(exact * (1 - exact) / len(X))
        off = X - instance.mixture.means[labels]
        assert (np.abs(off).sum(axis=1) <= 1 + 1e-12).all()
        eps = instance.exact["eps"]
        for sign in (1, -1):
            fraction = (np.abs(off - sign) < 1e-9).mean(axis=0)
            assert (np.abs(fraction - eps) < 5 * math.sqrt(eps / len(X))).all()


def test_instances_have_points_or_a_mixture():
    drawn, points = instances.constant_price(3), instances.local_optimum()
    assert np.array_equal(drawn.centers, drawn.mixture.means)
    atoms = drawn.atoms()
    assert np.array_equal(atoms.centers, drawn.centers)
    assert atoms.exact == drawn.exact
    assert points.weights.tolist() == [1.0] * 6
    with pytest.raises(ValueError, match="draw some by sample"):
        _ = drawn.labels
    for call in (points.atoms, lambda: points.sample(3)):
        with pytest.raises(ValueError, match="use its points"):
            call()


@each(
    "call, words",
    [
        (lambda: instances.star(1, 5.0), "k must be at least 2"),
        (lambda: instances.star(3, 0.5), "far >= 1"),
        (lambda: instances.star(3, 5.0, objective="kl"), "objective must be"),
        (lambda: instances.two_centers(1.5), "t must be from 0 to 1"),
        (lambda: instances.two_centers(0.5, median="upper"), "median must be"),
        (lambda: instances.two_centers(0.5, objective="kl"), "objective must be"),
        (lambda: instances.local_optimum(0.6), "e must be above 0"),
        (lambda: instances.unit_cube(1), "k must be at least 2"),
        (lambda: instances.unit_cube(5, d=0), "d must be at least 1"),
        (lambda: instances.unit_cube(5, eps=0.0), "eps must be from 1e-150"),
        (lambda: instances.unit_grid(1), "k must be at least 2"),
        (lambda: instances.unit_grid(5, steps=0), "steps must be at least 1"),
        (lambda: instances.unit_grid(5, copies=9.0), "copies must be at least 2k = 10"),
    ],
)
def test_bad_parameters_of_instances(call, words):
    with pytest.raises(ValueError, match=words):
        call()
