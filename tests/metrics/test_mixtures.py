"""Mixtures measured: ratios, exact errors and prices equal their twins, samples and the numbers of the papers."""

import math

import numpy as np
import pytest

from boxwood import Mixture, ThresholdTree, TreeBuilder
from boxwood.errors import DataError
from boxwood.grow import mmdt
from boxwood.kernels import Gaussian, Laplace, ProductKernel
from boxwood.metrics import (
    error_rate,
    explainability_to_noise,
    kernel_cost,
    kernel_mixture_price,
    mixture_price,
    signal_to_noise,
)
from boxwood.metrics.mixture_prices import _centers
from tests import naive
from tests.cases import make_case
from tests.naive.mixture_optimum import optimal_cost
from tests.scale import each, seeds, share

# T-05 of the papers' instances
THREE = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.44]] * 3, law="gaussian")
CUT_AT_0 = ThresholdTree.from_dict({"feature": 0, "threshold": 0, "left": {"cluster": 0}, "right": {"cluster": 1}})


def random_tree(rng, mixture, n_cuts, interval_share=0.4):
    """Return a tree of any cuts near the means, interval cuts among them, whose leaves have any clusters."""
    k, d = mixture.means.shape
    builder, leaves = TreeBuilder(), [0]
    for _ in range(n_cuts):
        j = int(rng.integers(d))
        spread = np.sqrt(mixture.variances[:, j])
        ends = sorted((rng.choice(mixture.means[:, j], 2) + rng.normal(size=2) * rng.choice(spread, 2)).tolist())
        if rng.random() < 0.2:
            ends[1] = max(ends[0], float(rng.choice(mixture.means[:, j])))
        lower = ends[0] if rng.random() < interval_share else -math.inf
        leaves += builder.split(leaves.pop(int(rng.integers(len(leaves)))), j, ends[1], lower)
    for leaf in leaves:
        builder.label(leaf, int(rng.integers(k)))
    return builder.build()


def degenerate_mixture(seed):
    """Return the mixture of a generated table: constant columns, one-row clusters, values of 1e-12 and 1e12."""
    X, labels, weights = make_case(seed, max_rows=25, max_columns=3, max_clusters=5)
    return Mixture.of(X, labels, sample_weight=weights)


def is_resolved(mixture):
    """Return whether doubles are fine enough for the mixture's normals, so that cells have points in them."""
    sigma = np.sqrt(mixture.variances)
    return bool(np.all((sigma == 0) | (sigma > 1e4 * np.spacing(np.abs(mixture.means).max(axis=0)))))


def random_mixture(rng, k, d, spread=3.0):
    weights, means = rng.dirichlet(np.full(k, 3.0)), rng.normal(size=(k, d)) * spread
    return Mixture(weights, means, rng.uniform(0.2, 2, size=(k, d)), law="gaussian")


def arrays(mixture):
    return mixture.weights.tolist(), mixture.means.tolist(), np.sqrt(mixture.variances).tolist()


# ----------------------------------------------------------------------------------------------------- ratios


def test_ratio_equals_the_twin():
    checked = 0
    for seed in seeds(1000):
        mixture = degenerate_mixture(seed)
        if mixture.n_components < 2:
            continue
        for pooling in ("max", "weighted"):
            sigma = np.sqrt(mixture.pooled_variances(pooling)).tolist()
            value, pair, axis = naive.explainability_to_noise(mixture.means.tolist(), sigma)
            found = explainability_to_noise(mixture, pooling=pooling)
            assert (found.pair, found.axis) == (pair, axis), f"seed {seed}"
            assert found.value == pytest.approx(value, rel=1e-12)
        checked += 1
    assert checked > share(950)


def test_ratio_lies_between_those_of_the_signal():
    for seed in seeds(500):
        rng = np.random.default_rng(seed)
        mixture = random_mixture(rng, int(rng.integers(2, 8)), int(rng.integers(1, 6)))
        enr, snr = explainability_to_noise(mixture).value, signal_to_noise(mixture).value
        assert snr / mixture.n_features * (1 - 1e-12) <= enr <= snr * (1 + 1e-12)
        assert explainability_to_noise(mixture, convention="subgaussian").value == enr / 2
        assert signal_to_noise(mixture, convention="subgaussian").value == snr / 2


def test_ratio_of_the_signal_by_hand():
    sigma = np.array([1.0, 1.2])
    apart = [((THREE.means[a] - THREE.means[b]) ** 2 / sigma**2).sum() for a, b in ((0, 1), (0, 2), (1, 2))]
    assert signal_to_noise(THREE) == (pytest.approx(min(apart)), (1, 2))


def test_ratio_does_not_depend_on_units():
    for seed in seeds(200):
        rng = np.random.default_rng(seed)
        mixture = random_mixture(rng, 5, 3)
        scale, shift = 2.0 ** rng.integers(-20, 20, size=3) * rng.choice([-1, 1], 3), rng.normal(size=3)
        moved = Mixture(mixture.weights, mixture.means * scale + shift * scale, mixture.variances * scale**2)
        a, b = explainability_to_noise(mixture), explainability_to_noise(moved)
        assert b.value == pytest.approx(a.value, rel=1e-9)
        assert (a.pair, a.axis) == (b.pair, b.axis)


def test_ratio_of_the_papers_instance():
    assert explainability_to_noise(THREE) == (25.0, (1, 2), 1)
    assert explainability_to_noise(THREE, convention="subgaussian").value == 12.5


def test_ratio_of_degenerate_mixtures():
    exact = Mixture([1, 1], [[0.0, 1.0], [0.0, 2.0]], [[1, 0], [1, 0]])
    assert explainability_to_noise(exact) == (math.inf, (0, 1), 1)
    assert signal_to_noise(exact).value == math.inf
    equal = Mixture([1, 1, 1], [[0.0], [1.0], [1.0]], [[0], [0], [0]])
    assert explainability_to_noise(equal)[:2] == (0.0, (1, 2))
    assert explainability_to_noise(exact, sigma=[1.0, 0.5]).value == 4.0
    assert explainability_to_noise(exact, sigma=[1.0, 0.0]) == (math.inf, (0, 1), 1)
    with pytest.raises(DataError, match="one component has no other"):
        explainability_to_noise(Mixture([1.0], [[0.0]], [[1.0]]))
    with pytest.raises(DataError, match="sigma must be 2"):
        signal_to_noise(exact, sigma=[1.0])
    with pytest.raises(ValueError, match="convention"):
        explainability_to_noise(exact, convention="half")


# ------------------------------------------------------------------------------------------------------ errors


def test_error_equals_the_twin():
    checked = 0
    for seed in seeds(600):
        rng = np.random.default_rng(seed)
        mixture = degenerate_mixture(seed)
        if not is_resolved(mixture):
            continue
        checked += 1
        tree = random_tree(rng, mixture, int(rng.integers(0, 6)))
        expected = naive.error_rate(*arrays(mixture), tree.to_dict())
        found = error_rate(mixture, tree)
        assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-15), f"seed {seed}"
        assert found[1:] == (0.0, True)
    assert checked >= share(450)


def test_error_of_the_papers_instance():
    tree = mmdt(THREE)
    assert tree.to_dict()["threshold"] == 4.0
    assert tree.to_dict()["left"]["threshold"] == 3.0
    assert round(error_rate(THREE, tree).value, 7) == 0.0043965
    sampled = error_rate(THREE, tree, n_samples=10**6, random_state=0)
    assert abs(sampled.value - 0.0043965) < 4 * sampled.standard_error
    assert not sampled.exact


@pytest.mark.parametrize("seed", range(4))
def test_error_equals_a_million_rows(seed):
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng, 6, 3, spread=2.0)
    tree = random_tree(rng, mixture, 7)
    exact, sampled = error_rate(mixture, tree), error_rate(mixture, tree, n_samples=10**6, random_state=seed)
    assert abs(exact.value - sampled.value) < 4 * sampled.standard_error
    assert sampled.standard_error < 6e-4


def test_small_errors_keep_their_digits():
    mixture = Mixture([1, 1], [[-12.0], [12.0]], [[1], [1]])
    assert error_rate(mixture, CUT_AT_0).value == pytest.approx(0.5 * math.erfc(12 / math.sqrt(2)), rel=1e-12, abs=0)


def test_error_with_correlations():
    both = np.array([[1.0, 0.9], [0.9, 1.0]])
    mixture = Mixture([1, 1], [[-1, 0], [1, 0]], np.ones((2, 2)), covariances=[both, both])
    found = error_rate(mixture, CUT_AT_0, random_state=0)
    assert not found.exact
    assert abs(found.value - 0.5 * math.erfc(1 / math.sqrt(2))) < 4 * found.standard_error
    # a corner that the correlation empties: P(x > 0, y > 0) = 1/4 + asin(0.9) / 2 pi for one component at 0
    corner = ThresholdTree.from_dict(
        {"feature": 0, "threshold": 0, "left": {"cluster": 1},
         "right": {"feature": 1, "threshold": 0, "left": {"cluster": 1}, "right": {"cluster": 0}}}
    )  # fmt: skip
    one = Mixture([1 - 1e-12, 1e-12], np.zeros((2, 2)), np.ones((2, 2)), covariances=[both, both])
    found = error_rate(one, corner, n_samples=10**6, random_state=1)
    assert abs(found.value - (0.75 - math.asin(0.9) / (2 * math.pi))) < 4 * found.standard_error
    diagonal = Mixture([1, 1], [[-1, 0], [1, 0]], np.ones((2, 2)), covariances=[np.eye(2)] * 2)
    assert error_rate(diagonal, CUT_AT_0).exact


def test_error_is_repeatable():
    a, b = (error_rate(THREE, mmdt(THREE), n_samples=1000, random_state=7) for _ in range(2))
    assert a == b
    state = np.random.RandomState(0)
    assert error_rate(THREE, mmdt(THREE), n_samples=1000, random_state=state).standard_error > 0


def test_misfits_are_refused():
    with pytest.raises(DataError, match="tests column 1"):
        error_rate(Mixture([1, 1], [[0], [1]], [[1], [1]]), mmdt(THREE))
    with pytest.raises(DataError, match="cluster 2"):
        mixture_price(Mixture([1, 1], [[0, 0], [1, 1]], np.ones((2, 2))), mmdt(THREE))
    with pytest.raises(ValueError, match="n_samples"):
        error_rate(THREE, mmdt(THREE), n_samples=0)


# ------------------------------------------------------------------------------------------------------ prices


@pytest.mark.parametrize(("m", "price"), [(1, 0.8124421), (2, 0.9787349), (3, 0.9990421), (4, 0.9999821)])
def test_price_of_two_normals(m, price):
    """T-04: cut at 0, the means as centres."""
    mixture = Mixture([1, 1], [[-m], [m]], [[1], [1]])
    found = mixture_price(mixture, CUT_AT_0, centers="reference")
    assert round(found.value, 7) == price
    sampled = mixture_price(mixture, CUT_AT_0, centers="reference", n_samples=10**5, random_state=m)
    assert abs(sampled.value - price) < 4 * sampled.standard_error


@pytest.mark.parametrize(("objective", "power"), [("l1", 1), ("sqeuclidean", 2)])
def test_price_equals_the_twin(objective, power):
    for seed in seeds(5):
        rng = np.random.default_rng(seed)
        mixture = random_mixture(rng, int(rng.integers(2, 5)), int(rng.integers(1, 3)), spread=2.0)
        tree = random_tree(rng, mixture, int(rng.integers(1, 5)))
        weights, means, sigma = arrays(mixture)
        whole = {"cluster": 0}
        baseline = sum(
            w * naive.mixture_cost([1.0], [m], [s], whole, [m], power)
            for w, m, s in zip(weights, means, sigma, strict=True)
        )
        for centers in ("reference", "median", "mean"):
            at = _centers(mixture, tree, centers).tolist()
            expected = naive.mixture_cost(weights, means, sigma, tree.to_dict(), at, power) / baseline
            found = mixture_price(mixture, tree, objective=objective, centers=centers).value
            assert found == pytest.approx(expected, rel=1e-8), f"seed {seed}, {centers}"


def test_own_centers_cost_the_least():
    for seed in seeds(2):
        rng = np.random.default_rng(seed)
        mixture = random_mixture(rng, 3, 2, spread=2.0)
        tree = random_tree(rng, mixture, 3)
        weights, means, sigma = arrays(mixture)
        for centers, power in (("median", 1), ("mean", 2)):
            at = _centers(mixture, tree, centers)
            best = naive.mixture_cost(weights, means, sigma, tree.to_dict(), at.tolist(), power)
            for step in (0.05, -0.05):
                for c in np.unique(tree.leaf_clusters):
                    moved = at.copy()
                    moved[c] += step * rng.random(2)
                    assert naive.mixture_cost(weights, means, sigma, tree.to_dict(), moved.tolist(), power) >= best


@pytest.mark.crossed
@pytest.mark.parametrize("objective", ["l1", "sqeuclidean", "l2"])
@pytest.mark.parametrize("centers", ["median", "mean", "reference"])
def test_price_equals_rows(objective, centers):
    rng = np.random.default_rng(3)
    mixture = random_mixture(rng, 4, 3, spread=2.0)
    tree = mmdt(mixture)
    ask = {"objective": objective, "centers": centers}
    a = mixture_price(mixture, tree, **ask, random_state=0)
    covariances = np.einsum("kj,jl->kjl", mixture.variances, np.eye(3)) + 1e-13 * (1 - np.eye(3))
    correlated = Mixture(mixture.weights, mixture.means, mixture.variances, covariances=covariances)
    b = mixture_price(correlated, tree, **ask, n_samples=200_000, random_state=1)
    assert abs(a.value - b.value) < 4 * math.hypot(a.standard_error, b.standard_error)
    assert (a.exact, b.exact) == (objective != "l2", False)


def test_price_of_degenerate_mixtures():
    points = Mixture([1, 1], [[-1.0, 5.0], [1.0, 5.0]], np.zeros((2, 2)))
    for objective in ("l1", "sqeuclidean", "l2"):
        assert mixture_price(points, CUT_AT_0, objective=objective, random_state=0).value == 1.0
        wrong = CUT_AT_0.relabeled([1, 0])
        assert mixture_price(points, wrong, objective=objective, centers="reference").value == math.inf
    assert mixture_price(points, CUT_AT_0.relabeled([1, 0])).value == 1.0  # medians go with the rows
    for seed in seeds(50):
        mixture = degenerate_mixture(seed)
        if not is_resolved(mixture):
            continue
        tree = random_tree(np.random.default_rng(seed), mixture, 3)
        median = mixture_price(mixture, tree).value
        assert 0 <= median <= mixture_price(mixture, tree, centers="mean").value * (1 + 1e-6)
    with pytest.raises(ValueError, match="objective"):
        mixture_price(points, CUT_AT_0, objective="l3")
    with pytest.raises(ValueError, match="centers"):
        mixture_price(points, CUT_AT_0, centers="best")


# ----------------------------------------------------------------------------------------------------- optimum


def test_best_centers_of_two_normals_are_further_apart():
    """By symmetry the centre c has half of |x| below it, and for the squared distance it is the mean of |x|."""
    two = Mixture([1, 1], [[-1], [1]], [[1], [1]])
    found = optimal_cost(two, n_samples=400_000, random_state=0)
    share = [naive.normal_share(-c, c, 1.0, 1.0) for c in np.abs(found.centers[:, 0])]
    assert share == pytest.approx([0.5, 0.5], abs=5e-3)
    assert found.centers[0, 0] < -1.02 < 1.02 < found.centers[1, 0]
    squared = optimal_cost(two, objective="sqeuclidean", n_samples=400_000, random_state=0)
    mean = math.sqrt(2 / math.pi) * math.exp(-0.5) + math.erf(math.sqrt(0.5))
    assert np.abs(squared.centers[:, 0]) == pytest.approx([mean, mean], abs=0.01)
    assert abs(squared.value - (2 - mean**2)) < 4 * squared.standard_error + 1e-4


def test_best_centers_are_no_worse_than_the_means():
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        mixture = random_mixture(rng, 4, 2)
        tree = mmdt(mixture)
        baseline = (mixture.weights @ np.sqrt(2 / np.pi * mixture.variances)).sum()
        best = optimal_cost(mixture, n_samples=5000, random_state=seed)
        assert best.value - 4 * best.standard_error <= min(1.0, mixture_price(mixture, tree).value) * baseline
    with pytest.raises(ValueError, match="objective"):
        optimal_cost(mixture, objective="l2")
    with pytest.raises(ValueError, match="n_samples"):
        optimal_cost(mixture, n_samples=1)


# ---------------------------------------------------------------------------------------------------- kernel price


def test_kernel_price_equals_the_twin():
    """Any tree, interval cuts and leaves of one cluster among them; the twin integrates over pairs of cells."""
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        mixture = random_mixture(rng, int(rng.integers(2, 4)), int(rng.integers(1, 3)), spread=1.5)
        tree, gamma = random_tree(rng, mixture, int(rng.integers(0, 4))), float(np.exp(rng.normal() - 1))
        own, other, base = naive.kernel_mixture_costs(
            *arrays(mixture), tree.to_dict(), lambda t, gamma=gamma: np.exp(-gamma * t**2)
        )
        for centers, expected in (("mean", own), ("reference", other)):
            found = kernel_mixture_price(mixture, tree, kernel=Gaussian(gamma), centers=centers)
            assert found.value == pytest.approx(expected / base, rel=1e-9), f"seed {seed}"
            assert (found.exact, found.standard_error) == (True, 0.0)
        assert own <= other * (1 + 1e-9)  # (26) is the least over all centres


@pytest.mark.parametrize("centers", ["mean", "reference"])
def test_errors_of_estimated_kernel_prices_are_those_of_their_spread(centers):
    """Deviations from the exact price, in standard errors, have a mean square of 1.

    The second component is rare and its leaf is not: at its kernel mean, which few rows make, many rows are measured.
    """
    mixture = Mixture([0.85, 0.15], [[-0.5, 0.0], [1.5, 1.0]], [[1.0, 1.0], [0.5, 2.0]])
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": -0.6, "left": {"cluster": 0}, "right": {"cluster": 1}})
    exact = kernel_mixture_price(mixture, tree, kernel=Gaussian(0.5), centers=centers).value
    options = {"kernel": Gaussian(0.5), "centers": centers, "n_samples": 300}
    estimates = [kernel_mixture_price(mixture, tree, **options, random_state=seed) for seed in range(150)]
    deviations = np.array([(estimate.value - exact) / estimate.standard_error for estimate in estimates])
    assert abs(deviations.mean()) < 4 / np.sqrt(150)
    assert 0.6 < (deviations**2).mean() < 1.5  # 1 +- 3.5 standard errors of a mean of squares
    assert not any(estimate.exact for estimate in estimates)


def test_kernel_prices_of_laplace_and_of_correlated_axes_are_those_of_rows():
    rng = np.random.default_rng(0)
    covariance = np.array([[[1.0, 0.8], [0.8, 1.0]], [[2.0, -0.5], [-0.5, 0.5]]])
    correlated = Mixture([0.5, 0.5], [[-1, 0], [1, 1]], [[1, 1], [2, 0.5]], covariances=covariance)
    labels = rng.integers(2, size=2000)
    X = np.array([rng.multivariate_normal(correlated.means[c], covariance[c]) for c in labels])
    for kernel in (Gaussian(0.5), Laplace(0.7)):
        found = kernel_mixture_price(correlated, CUT_AT_0, kernel=kernel, random_state=1)
        empirical = kernel_cost(X, CUT_AT_0, kernel=kernel) / kernel_cost(X, labels, kernel=kernel)
        assert abs(found.value - empirical) < 4 * found.standard_error * np.sqrt(1 + 4000 / 2000)
        assert 0 < found.standard_error < 0.02
    line = Mixture([0.5, 0.5], [[-1], [1]], [[1], [1]])
    own, other, base = naive.kernel_mixture_costs(*arrays(line), CUT_AT_0.to_dict(), lambda t: np.exp(-0.5 * t))
    for centers, expected in (("mean", own / base), ("reference", other / base)):
        found = kernel_mixture_price(line, CUT_AT_0, kernel=Laplace(0.5), centers=centers, random_state=0)
        assert abs(found.value - expected) < 4 * found.standard_error
    shape = ProductKernel(lambda t: np.exp(-0.5 * t**2), lambda level: np.sqrt(-2 * np.log(level)))
    of_shape = kernel_mixture_price(line, CUT_AT_0, kernel=shape, n_samples=500, random_state=3)
    assert of_shape == pytest.approx(
        kernel_mixture_price(line, CUT_AT_0, kernel=Gaussian(0.5), n_samples=500, random_state=3)
    )


def test_kernel_prices_by_hand():
    # two atoms, one in each leaf: nothing is lost; both in one leaf: the rows' own cost is 0
    atoms = Mixture([0.5, 0.5], [[-1.0], [1.0]], [[0.0], [0.0]])
    assert kernel_mixture_price(atoms, CUT_AT_0, kernel=Gaussian(0.5)).value == 1.0  # 0/0
    single = ThresholdTree.from_dict({"cluster": 0})
    assert kernel_mixture_price(atoms, single, kernel=Gaussian(0.5)).value == math.inf
    # one leaf for two Gaussians: 1 - (s + x) / 2 over 1 - s, with s = E K within and x = E K between components
    two = Mixture([0.5, 0.5], [[0.0], [2.0]], [[1.0], [1.0]])
    within, between = 1 / math.sqrt(3), math.exp(-2 / 3) / math.sqrt(3)  # gamma 1/2: 1 + 2 gamma (1 + 1) = 3
    found = kernel_mixture_price(two, single, kernel=Gaussian(0.5)).value
    assert found == pytest.approx((1 - (within + between) / 2) / (1 - within), rel=1e-12)
    far = kernel_mixture_price(two, single, kernel=Gaussian(0.5), centers="reference").value
    cost = 1 - 2 * (within + between) / 2 + within
    assert far == pytest.approx(cost / (1 - within), rel=1e-12)
    # a leaf that rows reach with a chance of 1e-16 and less changes nothing
    rare = ThresholdTree.from_dict({"feature": 0, "threshold": 12, "left": {"cluster": 0}, "right": {"cluster": 1}})
    assert kernel_mixture_price(two, rare, kernel=Gaussian(0.5)).value == pytest.approx(found, rel=1e-9)


@each(
    "options, error, message",
    [
        ({"kernel": "linear"}, ValueError, "multiply over axes"),
        ({"kernel": Gaussian("scale")}, ValueError, "still to be found from rows"),
        ({"kernel": Gaussian(1.0), "centers": "median"}, ValueError, "centers must be one of 'mean', 'reference'"),
        ({"kernel": Laplace(1.0), "n_samples": 1}, ValueError, "n_samples must be at least 2"),
        ({"kernel": Gaussian([1.0, 2.0])}, DataError, "gamma has 2 numbers"),
    ],
)
def test_kernel_prices_that_are_refused(options, error, message):
    mixture = Mixture([0.5, 0.5], [[-1], [1]], [[1], [1]])
    with pytest.raises(error, match=message):
        kernel_mixture_price(mixture, CUT_AT_0, **options)
    with pytest.raises(DataError, match="leaf of cluster 1"):
        kernel_mixture_price(mixture.part([0]), CUT_AT_0, kernel=Gaussian(1.0))
