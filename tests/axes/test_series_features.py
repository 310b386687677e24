"""Taylor kernels other than the Gaussian: features as the paper defines them, their rest, and cuts pulled back."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, i0

from boxwood import DataError, KernelIMM, Reference
from boxwood.axes import surrogate_map
from boxwood.grow import kernel_imm
from boxwood.kernels import Gaussian, TaylorKernel
from boxwood.metrics import kernel_cost
from boxwood.theory import bounds
from tests.scale import each, law

GAMMA = 0.7
KERNELS = {  # the kernel, and f, g and the coefficients of g for one number
    "exponential": (
        TaylorKernel(np.exp, lambda j: np.exp(-gammaln(j + 1.0))),
        (lambda z: math.exp(-z * z / 2), math.exp, lambda j: 1 / math.factorial(j)),
    ),
    "cubic": (
        TaylorKernel(lambda t: (1 + t) ** 3, [1, 3, 3, 1]),
        (lambda z: (1 + z * z) ** -1.5, lambda t: (1 + t) ** 3, lambda j: math.comb(3, j)),
    ),
    "bessel": (  # of even powers of sqrt(t) alone
        TaylorKernel(lambda t: i0(2 * np.sqrt(t)), lambda j: np.exp(-2 * gammaln(j + 1.0))),
        (lambda z: i0(2 * z) ** -0.5, lambda t: i0(2 * math.sqrt(t)), lambda j: math.factorial(j) ** -2),
    ),
    "square": (
        TaylorKernel(lambda t: t * t, [0, 0, 1], lambda z: np.exp(-z)),
        (lambda z: math.exp(-z), lambda t: t * t, lambda j: float(j == 2)),
    ),
    "gaussian": (
        TaylorKernel(
            lambda t: np.exp(2 * GAMMA * t),
            lambda j: np.exp(j * np.log(2 * GAMMA) - gammaln(j + 1.0)),
            lambda z: np.exp(-GAMMA * z * z),
        ),
        (
            lambda z: math.exp(-GAMMA * z * z),
            lambda t: math.exp(2 * GAMMA * t),
            lambda j: (2 * GAMMA) ** j / math.factorial(j),
        ),
    ),
}


def drawn(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, rng.choice([1.0, 3.0]), size=(12, 2))
    X[0, 0] = 0.0
    return rng, X, list(KERNELS.values())[seed % len(KERNELS)]


@law(20)
def test_kernel_and_features_are_those_of_the_definition(seed):
    rng, X, (kernel, (f, g, coefficient)) = drawn(seed)
    n_terms = int(rng.integers(2, 9))
    features = surrogate_map(kernel, X, "taylor", n_terms=n_terms)
    expected = [
        [z**j * f(z) * math.sqrt(coefficient(j)) for z in row for j in range(n_terms + 1) if coefficient(j)]
        for row in X.tolist()
    ]
    Z = features.transform(X)
    np.testing.assert_allclose(Z, expected, rtol=1e-9, atol=1e-12)
    of_axis = np.array([[[f(a) * f(b) * g(a * b) for a, b in zip(x, y)] for y in X.tolist()] for x in X.tolist()])  # noqa: B905
    np.testing.assert_allclose(kernel(X), of_axis.prod(axis=2), rtol=1e-9)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X)))
    for j in range(2):
        own = Z[:, features.features == j]
        assert np.abs(own @ own.T - of_axis[:, :, j]).max() <= features.error * 1.01 + 1e-9


@law(20)
def test_auto_takes_the_smallest_order_that_is_enough(seed):
    _, X, (kernel, _) = drawn(seed)
    features = surrogate_map(kernel, X, "taylor")
    largest = max(float((kernel.factors(x) ** 2 * kernel.series(x * x)).max()) for x in X.T)
    assert features.error <= 0.01 * largest + 1e-12
    most = int(features.powers.max())
    if most > 2:
        assert surrogate_map(kernel, X, "taylor", n_terms=most - 1).error > features.error


@law(20)
def test_a_cut_is_pulled_back_to_the_values_on_its_side(seed):
    rng, X, (kernel, _) = drawn(seed)
    features = surrogate_map(kernel, X, "taylor", n_terms=5)
    for column in range(features.n_columns):
        j = int(features.features[column])
        x = rng.uniform(X[:, j].min(), X[:, j].max(), size=200)
        images = features.images(column, x)
        ends = np.unique(images)
        lower, upper = sorted(rng.choice((ends[1:] + ends[:-1]) / 2, size=2))  # as thresholds lie, between values
        clear = np.minimum(np.abs(images - lower), np.abs(images - upper)) > 1e-14 * ends[-1]
        feature, intervals = features.pull_back(column, lower, upper)
        inside = np.any([(first <= x) & (x <= last) for first, last in intervals], axis=0)
        assert feature == j
        assert (inside == ((lower <= images) & (images <= upper)))[clear].all()


@law(20)
def test_the_price_is_at_most_that_of_theorem_4(seed):
    """For kernels with K(z, z) = 1 on each axis, whatever the clusters are."""
    rng, X, _ = drawn(seed)
    some = [kernel for name, (kernel, _) in KERNELS.items() if name != "square"]  # normalized, that is 1 everywhere
    kernel = TaylorKernel(some[seed % 4].series, some[seed % 4].coefficients)
    X, k = X + 0.1, int(rng.integers(2, 4))
    labels = np.concatenate([np.arange(k), rng.integers(k, size=len(X) - k)])
    n_terms = int(rng.integers(2, 12))
    tree = kernel_imm(X, Reference.of(X, labels), kernel=kernel, features="taylor", n_terms=n_terms)
    delta = surrogate_map(kernel, X, "taylor", n_terms=n_terms).error
    cost = kernel_cost(X, labels, kernel=kernel)
    bound = bounds.taylor_price_bound(k, 2, n_rows=len(X), delta=delta, cost=cost).value
    assert kernel_cost(X, tree.predict(X), kernel=kernel) <= bound * cost


def test_the_gaussian_kernel_is_one_of_them():
    _, X, (kernel, _) = drawn(4)
    np.testing.assert_allclose(kernel(X), Gaussian(GAMMA)(X), rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_imm_grows_a_leaf_for_each_cluster(name):
    kernel, rng = KERNELS[name][0], np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    X = np.array([[0.4, 0.4], [2.4, 0.4], [1.4, 2.8]])[labels] + rng.uniform(-0.3, 0.3, size=(60, 2))
    tree = kernel_imm(X, Reference.of(X, labels), kernel=kernel, features="taylor")
    assert tree.predict(X).tolist() == labels.tolist()
    model = KernelIMM(kernel=kernel).fit(X, labels)
    assert model.predict(X).tolist() == labels.tolist()
    assert model.price_ == pytest.approx(1)


@each("call, message", [
    (lambda: TaylorKernel(np.exp, [1, -1])([[1.0]]), "coefficients must be at least 0"),
    (lambda: TaylorKernel(np.exp, []), "coefficients must be at least one number, got none"),
    (lambda: TaylorKernel(np.exp, lambda j: -1.0 * j)([[1.0]]), "coefficients must be at least 0"),
    (lambda: KERNELS["cubic"][0]([[-1.0]]), "TaylorKernel is a kernel of values of at least 0"),
    (lambda: surrogate_map(KERNELS["cubic"][0], [[-1.0], [1.0]], "taylor"), "kernel of values of at least 0"),
    (lambda: surrogate_map(KERNELS["cubic"][0], [[1.0]], "distance"), "TaylorKernel has no features 'distance'"),
    (
        lambda: surrogate_map(TaylorKernel(np.exp, [1, 1], lambda z: 1.5 + np.sin(4 * z)), [[0.0], [4.0]], "taylor"),
        "the feature of power 0 of column 0 has more than one peak, so a cut on it is not an interval",
    ),
])  # fmt: skip
def test_what_is_no_interpretable_taylor_kernel_is_refused(call, message):
    with pytest.raises((ValueError, DataError), match=message):
        call()


@each("j", [2**63, -1, 1, 1.5, [1.5], [-1], [1j], "a", None])
def test_what_is_no_power_is_refused(j):
    with pytest.raises(DataError, match="j must be whole numbers from 0 to"):
        KERNELS["cubic"][0].powers(j)


@each("x", [1 + 2j, [1j], "a", ["a"], np.datetime64("2020-01-01"), np.datetime64("NaT")])
def test_factors_are_of_numbers_alone(x):
    with pytest.raises(DataError, match="x must be numeric"):
        KERNELS["cubic"][0].factors(x)


def test_the_factor_of_a_value_whose_square_is_no_double_is_zero():
    assert TaylorKernel(lambda t: 1 + t, [1, 1]).factors([0.0, 1e308]).tolist() == [1.0, 0.0]


@law(12)
def test_a_negative_coefficient_is_refused_wherever_it_is(seed):
    rng = np.random.default_rng(seed)
    known = rng.random(int(rng.integers(1, 12)))
    known[rng.integers(len(known))] *= -1
    with pytest.raises(ValueError, match="coefficients must be at least 0"):
        TaylorKernel(np.exp, known.tolist())
    with pytest.raises(ValueError, match="coefficients must be at least 0"):
        TaylorKernel(np.exp, lambda j: np.append(known, 0)[np.minimum(j, len(known))])
