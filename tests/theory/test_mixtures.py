"""Bounds for mixtures of any law lie above what they bound, and the instances are as bad as stated."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest

from boxwood import Mixture, ThresholdTree
from boxwood.grow import mmdt
from boxwood.metrics import error_rate, explainability_to_noise, mixture_price
from boxwood.theory import bounds, certificate, instances
from tests.scale import each, seeds
from tests.theory.law_cases import means_at_cuts
from tests.theory.mixture_cases import caterpillar, deviations_are_right, exact_error, mixtures


def test_beta_of_families():
    one = Mixture([1, 1], [[0.0, 1], [1, 0]], [[2.0, 0], [2, 0]])
    assert bounds.mixture_beta(one) == pytest.approx(math.sqrt(math.pi / 2))
    assert bounds.mixture_beta(one, family="laplace") == pytest.approx(math.sqrt(2))
    assert bounds.mixture_beta(one, family="rademacher") == 1
    rng = np.random.default_rng(0)
    for family, x in (("gaussian", rng.normal(size=10**6)), ("laplace", rng.laplace(size=10**6))):
        assert bounds.mixture_beta(one, family=family) == pytest.approx(x.std() / np.abs(x).mean(), rel=5e-3)
    with pytest.raises(ValueError, match="family"):
        bounds.mixture_beta(one, family="cauchy")


def test_beta_with_unequal_variances():
    mixture = Mixture([0.5, 0.5], [[0.0], [9.0]], [[1.0], [9.0]])
    assert bounds.mixture_beta(mixture, pooling="weighted", family="rademacher") == pytest.approx(math.sqrt(5) / 2)
    assert bounds.mixture_beta(mixture, family="rademacher") == pytest.approx(3 / 2)
    for mixture in mixtures(300):
        absolute = math.sqrt(2 / math.pi) * (mixture.weights @ np.sqrt(mixture.variances)).sum()
        for pooling in ("weighted", "max"):
            sigma = np.sqrt(mixture.pooled_variances(pooling)).sum()
            assert absolute >= sigma / bounds.mixture_beta(mixture, pooling=pooling) * (1 - 1e-12)
    assert bounds.mixture_beta(Mixture([1], [[0.0]], [[0.0]])) == 1
    hardly = Mixture([1, 1e-300], [[0.0], [1.0]], [[0.0], [1e-300]])
    assert bounds.mixture_beta(hardly, family="rademacher") == pytest.approx(1e300)
    assert bounds.mixture_beta(Mixture([1, 5e-324], [[0.0], [1.0]], [[0.0], [1.0]])) == math.inf


# --------------------------------------------------------------------------------------------------------------- claims


def test_each_node_keeps_the_range():
    """Claim 1: on the axis chosen, the means at a node span at least sigma sqrt(q)."""
    for mixture in mixtures(300):
        q, sigma = explainability_to_noise(mixture).value, np.sqrt(mixture.pooled_variances("max"))
        for axis, least in (("range", 1.0), ("gap", 1 / (mixture.n_components - 1))):
            tree = mmdt(mixture, axis=axis, threshold="midpoint", pooling="max")
            for node, components in means_at_cuts(tree, mixture):
                j = int(tree.feature[node])
                means = np.sort(mixture.means[components, j])
                width = np.ptp(means) if axis == "range" else np.diff(means).max()
                assert width >= least * sigma[j] * math.sqrt(q) * (1 - 1e-12)


def test_smallest_chebyshev_sum():
    """Claim 2: the sum in the middle of the largest gap is within the bound; for two means they are equal."""
    for seed in seeds(3000):
        rng = np.random.default_rng(seed)
        k, sigma = int(rng.integers(2, 12)), rng.uniform(0.1, 3)
        means = np.sort(rng.choice([rng.random(k), rng.random(k) ** 4, np.arange(k) + 0.0]))
        gap = int(np.diff(means).argmax())
        at = (means[gap] + means[gap + 1]) / 2
        smallest = float((sigma**2 / (at - means) ** 2).sum())
        assert smallest <= bounds.chebyshev_minimum_bound(k, float(np.ptp(means)), sigma) * (1 + 1e-9)
    assert bounds.chebyshev_minimum_bound(2, 3.0, 1.0) == pytest.approx(2 / 1.5**2)
    assert bounds.chebyshev_minimum_bound(3, 5e-324, 0.0) == 0
    with pytest.raises(ValueError, match="sigma must be at least 0"):
        bounds.chebyshev_minimum_bound(3, 1.0, -1.0)
    even = np.arange(6.0)
    assert bounds.chebyshev_minimum_bound(6, 5.0, 2.0) == pytest.approx((4 / (2.5 - even) ** 2).sum())


# --------------------------------------------------------------------------------------------------------------- bounds


def test_probabilities_are_clipped():
    near = Mixture([1, 1, 1], [[0.0], [0.1], [0.2]], np.ones((3, 1)))
    bound = bounds.chebyshev_error_bound(near)
    assert bound.value > 1
    assert bound.clipped == 1
    assert bounds.price_bound(near).clipped == bounds.price_bound(near).value > 1


@pytest.mark.parametrize("threshold", ["midpoint", "chebyshev", "tails", "gaussian"])
def test_order_of_error_bounds_for_trees_by_range(threshold):
    for mixture in mixtures(100):
        tree = mmdt(mixture, axis="range", threshold=threshold, pooling="max")
        exact, guarantee = error_rate(mixture, tree).value, certificate(mixture, tree)
        theorem = bounds.chebyshev_error_bound(mixture, sharp=True).value
        assert exact <= guarantee.error.value * (1 + 1e-9)
        assert guarantee.error.value <= min(guarantee.chebyshev_error.value, theorem) * (1 + 1e-9)
        if threshold in ("midpoint", "chebyshev"):
            assert guarantee.chebyshev_error.value <= theorem * (1 + 1e-9)


def test_order_of_prices():
    for mixture in mixtures(300):
        tree = mmdt(mixture, axis="range", threshold="chebyshev", pooling="max")
        price, guarantee = mixture_price(mixture, tree, centers="reference").value, certificate(mixture, tree)
        theorem = bounds.price_bound(mixture, sharp=True).value
        assert price <= guarantee.price.value * (1 + 1e-9)
        assert guarantee.price.value <= guarantee.chebyshev_price.value * (1 + 1e-9)
        assert guarantee.chebyshev_price.value <= theorem * (1 + 1e-9) <= bounds.price_bound(mixture).value * (1 + 1e-8)
        squared = mixture_price(mixture, tree, objective="sqeuclidean", centers="reference").value
        assert squared <= bounds.sqeuclidean_price_bound(mixture, sharp=True).value


# ------------------------------------------------------------------------------------------------------------ instances


@pytest.mark.parametrize(("k", "q"), [(2, 2.0), (3, 5.0), (5, 20.0), (6, 6.0)])
def test_linear_error(k, q):
    """T-01 is k = 5, q = 20: error 0.07, printed bound 0.05."""
    instance = instances.linear_error(k, q)
    deviations_are_right(instance)
    assert explainability_to_noise(instance.mixture).value == pytest.approx(q)
    assert instance.exact["error"] == pytest.approx((k - 1) * (k + 2) / (4 * q * k))
    for order in list(permutations(range(k)))[::7]:
        assert exact_error(instance, caterpillar(order)) == pytest.approx(instance.exact["error"])
    assert instance.exact["error_bound"] <= instance.exact["error"] * (1 + 1e-12)
    assert certificate(instance.mixture, mmdt(instance.mixture)).chebyshev_error.value >= instance.exact["error"]


def test_printed_numbers_of_linear_error():
    exact = instances.linear_error(5, 20.0).exact
    assert exact["error"] == pytest.approx(0.07, abs=1e-12)
    assert exact["error_bound"] == 0.05
    with pytest.raises(ValueError, match="q >= k"):
        instances.linear_error(5, 4.0)


@pytest.mark.parametrize("threshold", ["midpoint", "chebyshev"])
def test_chebyshev_holds_for_laws_that_are_not_gaussian(threshold):
    kinds = (
        instances.linear_error(5, 20.0),
        instances.linear_error(6, 6.0),
        instances.exponential_error(4, 3.0),
        instances.constant_price(5),
        instances.growing_price(3, 10, random_state=0),
    )
    for instance in kinds:
        tree = mmdt(instance.mixture, axis="range", threshold=threshold, pooling="max")
        guaranteed = certificate(instance.mixture, tree).chebyshev_error.value
        assert 0 < exact_error(instance, tree) <= guaranteed
        assert guaranteed <= bounds.chebyshev_error_bound(instance.mixture, sharp=True).value * (1 + 1e-9)


@pytest.mark.parametrize(("d", "price", "error"), [(5, 1.3, 0.1), (20, 1.45, 0.025), (3, 1.5 - 1 / 3, 1 / 6)])
def test_constant_price(d, price, error):
    """T-03."""
    instance = instances.constant_price(d)
    deviations_are_right(instance)
    assert instance.exact["price"] == pytest.approx(price)
    assert instance.exact["error"] == pytest.approx(error)
    assert instance.exact["baseline_l1"] == pytest.approx(1)
    assert explainability_to_noise(instance.mixture).value == pytest.approx(instance.exact["enr"])
    atoms = instance.atoms()
    for axis in range(d):
        tree = ThresholdTree.from_dict(
            {"feature": axis, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 1}}
        )
        assert exact_error(instance, tree) == pytest.approx(error)
        leaf, total = tree.predict(atoms.points), 0.0
        for c in (0, 1):
            rows, weights = atoms.points[leaf == c], atoms.weights[leaf == c]
            medians = [weighted_median(column, weights) for column in rows.T]
            np.testing.assert_allclose(medians, instance.mixture.means[c])
            total += float(weights @ np.abs(rows - medians).sum(axis=1))
        assert total == pytest.approx(price)
    assert "price" not in instances.constant_price(2).exact


def weighted_median(values, weights):
    order = np.argsort(values)
    return values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]


@pytest.mark.parametrize(("k", "copies"), [(2, 0), (3, 0), (3, 40), (4, 7)])
def test_growing_price(k, copies):
    instance = instances.growing_price(k, copies, random_state=k)
    deviations_are_right(instance)
    d, exact, means = k**3, instance.exact, instance.mixture.means
    assert means.shape == (k, d)
    assert set(np.unique(means)) == {-1.0, 1.0}
    assert min(np.count_nonzero(a != b) for a, b in combinations(means, 2)) >= d / 4
    assert exact["enr"] == 2 * (2 * d + copies) == pytest.approx(explainability_to_noise(instance.mixture).value)
    assert exact["enr"] >= 4 * k**3
    assert exact["beta"] == pytest.approx(math.sqrt(exact["enr"]) / 2)
    assert exact["total_l1"] == pytest.approx(exact["baseline_l1"] * k * (2 * d + copies)) == 2 * d * k
    X, labels = instance.sample(1000, 0)
    assert (np.abs(X - means[labels]).sum(axis=1) <= 1).all()
    again = instances.growing_price(k, copies, random_state=k)
    assert (again.mixture.means == means).all()


@each("m", [0.5, 1.0, 2.0, 3.0, 4.0])
def test_two_gaussians(m):
    instance = instances.two_gaussians(m)
    tree = mmdt(instance.mixture)
    assert tree.to_dict()["threshold"] == 0
    assert error_rate(instance.mixture, tree).value == pytest.approx(instance.exact["error"], rel=1e-12)
    price = mixture_price(instance.mixture, tree, centers="reference").value
    assert price == pytest.approx(instance.exact["price"], rel=1e-12)
    assert explainability_to_noise(instance.mixture).value == pytest.approx(instance.exact["enr"])
    with pytest.raises(ValueError, match="atoms"):
        instance.atoms()
