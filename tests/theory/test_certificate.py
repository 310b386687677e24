"""Certificates equal their twin, and lie between the truth and the theorems."""

import math

import numpy as np
import pytest

from boxwood import Mixture, ThresholdTree
from boxwood.errors import DataError
from boxwood.grow import mmdt
from boxwood.metrics import error_rate, mixture_price
from boxwood.theory import certificate
from tests import naive
from tests.metrics.test_mixtures import THREE, arrays, degenerate_mixture, is_resolved, random_mixture, random_tree
from tests.scale import seeds, share


def test_certificate_equals_the_twin():
    checked = 0
    for seed in seeds(400):
        mixture = degenerate_mixture(seed)
        if not is_resolved(mixture):
            continue
        checked += 1
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, mixture, int(rng.integers(0, 6)))
        exact, chebyshev, misplaced = naive.separations(*arrays(mixture), tree.to_dict())
        guarantee = certificate(mixture, tree)
        np.testing.assert_allclose(guarantee.separation, exact, rtol=1e-9, atol=1e-14, err_msg=f"seed {seed}")
        np.testing.assert_allclose(guarantee.chebyshev, chebyshev, rtol=1e-9, atol=1e-14)
        assert guarantee.misplaced == pytest.approx(misplaced)
        assert guarantee.error.value == pytest.approx(sum(exact) + misplaced)
        assert error_rate(mixture, tree).value <= guarantee.error.value * (1 + 1e-9) + 1e-15
        assert guarantee.error.value <= guarantee.chebyshev_error.value * (1 + 1e-9) + 1e-15
    assert checked >= share(300)


def test_certificate_of_any_tree_bounds_its_price():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        mixture = random_mixture(rng, 4, 2)
        tree = random_tree(rng, mixture, 4)
        guarantee = certificate(mixture, tree)
        assert mixture_price(mixture, tree, centers="reference").value <= guarantee.price.value * (1 + 1e-9)
        assert guarantee.price.value <= guarantee.chebyshev_price.value * (1 + 1e-9)


def test_certificate_counts_the_way_to_far_clusters():
    """Rows of the first component that cross 0 land at the third, whose mean is nowhere near that node."""
    mixture = Mixture([1, 1e-6, 1], [[-1.0], [1.0], [100.0]], np.ones((3, 1)))
    tree = ThresholdTree.from_dict(
        {"feature": 0, "threshold": 50, "right": {"cluster": 2},
         "left": {"feature": 0, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 2}}}
    )  # fmt: skip
    price = mixture_price(mixture, tree, centers="reference").value
    assert 5 < price <= certificate(mixture, tree).price.value < 1.1 * price


def test_certificate_needs_no_independence():
    both = np.array([[1.0, 0.95], [0.95, 1.0]])
    mixture = Mixture([1, 1, 1], [[0, 0], [4, 0], [0, 4]], np.ones((3, 2)), covariances=[both] * 3)
    tree = mmdt(mixture, pooling="max")
    sampled = error_rate(mixture, tree, random_state=0)
    assert sampled.value - 4 * sampled.standard_error <= certificate(mixture, tree).error.value


def test_certificate_says_what_it_rests_on():
    guarantee = certificate(THREE, mmdt(THREE), estimated=True)
    assert guarantee.error.estimated
    assert guarantee.error.holds
    assert "Gaussian" in guarantee.error.conditions[0].text
    assert guarantee.correct == 1 - guarantee.error.clipped
    assert certificate(THREE, mmdt(THREE), beta=10.0).chebyshev_price.value > guarantee.chebyshev_price.value
    points = Mixture([1, 1], [[0.0], [1.0]], np.zeros((2, 1)))
    assert certificate(points, mmdt(points)).price.value == 1
    wrong = certificate(points, mmdt(points).relabeled([1, 0]))
    assert (wrong.error.value, wrong.misplaced, wrong.price.value) == (1, 1, math.inf)
    with pytest.raises(DataError, match="cluster"):
        certificate(Mixture([1, 1], [[0, 0], [1, 1]], np.ones((2, 2))), mmdt(THREE))
