"""Kernels equal their definitions on any table; means in their feature spaces equal sums over all pairs."""

import math
import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise
from threadpoolctl import threadpool_info

from boxwood import kernels
from boxwood._threads import map_tasks
from boxwood._validation import Rows
from boxwood.errors import DataError
from boxwood.kernels import (
    ChiSquared,
    Gaussian,
    Hellinger,
    HistogramIntersection,
    KernelMeans,
    Laplace,
    Linear,
    Neighborhood,
    Nystroem,
    Polynomial,
    Precomputed,
    ProductKernel,
    as_kernel,
    kernel_distances,
)
from boxwood.kernels.bandwidth import resolved_bandwidth
from boxwood.kernels.kernel import TILE
from tests import naive
from tests.cases import make_case
from tests.scale import law, seeds


def cauchy(t):
    return 1 / (1 + t**2)


def cauchy_inverse(level):
    return np.sqrt(1 / level - 1)


def gaussian_of(x, y, gamma):
    return math.exp(-sum(g * (a - b) ** 2 for a, b, g in zip(x, y, gamma, strict=True)))


def laplace_of(x, y, gamma):
    return math.exp(-sum(g * abs(a - b) for a, b, g in zip(x, y, gamma, strict=True)))


def harmonic(a, b):
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


PAIRS = {  # kernel -> its value for two rows
    "gaussian": (Gaussian(0.3), lambda x, y: gaussian_of(x, y, [0.3] * len(x))),
    "laplace": (Laplace(0.3), lambda x, y: laplace_of(x, y, [0.3] * len(x))),
    "product": (
        ProductKernel(cauchy, cauchy_inverse),
        lambda x, y: math.prod(cauchy(a - b) for a, b in zip(x, y, strict=True)),
    ),
    "linear": (Linear(), lambda x, y: sum(a * b for a, b in zip(x, y, strict=True))),
    "polynomial": (Polynomial(2, 0.5), lambda x, y: (sum(a * b for a, b in zip(x, y, strict=True)) + 0.5) ** 2),
    "neighborhood": (Neighborhood(1.5), lambda x, y: float(math.dist(x, y) <= 1.5)),
    "hellinger": (Hellinger(), lambda x, y: sum(math.sqrt(a) * math.sqrt(b) for a, b in zip(x, y, strict=True))),
    "intersection": (
        HistogramIntersection(0.5),
        lambda x, y: sum(min(a**0.5, b**0.5) for a, b in zip(x, y, strict=True)),
    ),
    "chi squared": (ChiSquared(), lambda x, y: sum(harmonic(a, b) for a, b in zip(x, y, strict=True))),
}
KERNELS = [kernel for kernel, _ in PAIRS.values()]


def table_for(kernel, X):
    """Return rows in the domain of a kernel."""
    return np.abs(X) if isinstance(kernel, Hellinger | HistogramIntersection | ChiSquared) else X


def name_of(kernel):
    """Return the name of a test's parameter, the same in every process: the `repr` of a function is not."""
    return type(kernel).__name__


# --------------------------------------------------------------------------------------------------- definitions


@pytest.mark.parametrize("name", PAIRS)
def test_blocks_equal_the_twin(name):
    kernel, value = PAIRS[name]
    for seed in seeds(100):
        X = table_for(kernel, make_case(seed, max_rows=12).X)
        Y = X[: 1 + len(X) // 2]
        expected = naive.gram(value, X, Y)
        scale = np.sqrt(np.outer(np.abs(kernel.diagonal(X)), np.abs(kernel.diagonal(Y))))
        assert (np.abs(kernel(X, Y) - expected) <= 1e-13 * scale).all(), f"seed {seed}"
        assert (np.abs(kernel.diagonal(X) - np.diagonal(naive.gram(value, X, X))) <= 1e-13 * kernel.diagonal(X)).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_blocks_are_parts_of_the_whole(kernel):
    X = np.random.default_rng(0).uniform(0, 3, size=(3 * TILE // 2, 3))
    gram, whole = kernel.gram(X), kernel(X)
    assert gram.shape == whole.shape == (len(X), len(X))
    rows, columns = np.array([5, 2, 300]), np.array([7, 5])
    assert np.array_equal(gram.block(rows, columns), whole[rows][:, columns])
    assert np.array_equal(gram.block(slice(3, 9), slice(4, 6)), whole[3:9, 4:6])
    W = np.random.default_rng(1).normal(size=(len(X), 4))
    np.testing.assert_allclose(gram.product(W), whole @ W, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(gram.product(W[:3], columns=rows), whole[:, rows] @ W[:3], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(gram.product(W[:2], rows=rows[:2], columns=columns), whole[rows[:2]][:, columns] @ W[:2])
    many = np.random.default_rng(2).permutation(len(X))[: TILE + 9]
    product = gram.product(W[: len(many)], rows=many, columns=many)
    np.testing.assert_allclose(product, whole[many][:, many] @ W[: len(many)], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian((0.1,) * 20), Linear(), Laplace(0.1)], ids=repr)
def test_products_do_not_depend_on_threads(kernel):
    X = np.random.default_rng(0).normal(size=(700, 20))
    W = np.random.default_rng(1).normal(size=(700, 7))
    blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    results = [kernel.gram(X).product(W, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert all(np.array_equal(results[0], other) for other in results[1:])
    several = map_tasks(lambda _: kernel.gram(X).product(W, n_jobs=1), range(4), n_jobs=4)
    assert all(np.array_equal(results[0], other) for other in several)
    assert blas == [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_wide_gaussian_blocks_are_accurate_and_equal_rows_exactly_alike():
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 30)) * 10.0 ** rng.integers(-3, 2) + 10.0 ** rng.integers(0, 13)
        gamma = float(10.0 ** rng.integers(-2, 1)) / X.shape[1] / X.var(axis=0).mean()
        X[10:20] += 10.0 ** rng.integers(0, 6) / math.sqrt(gamma)  # so many lengths away
        X[20:] = X[:20]
        expected = naive.gram(lambda x, y: gaussian_of(x, y, [gamma] * 30), X, X)  # noqa: B023
        K = Gaussian(gamma)(X)
        assert np.abs(K - expected).max() < 1e-11
        assert (np.diagonal(K) == 1).all()
        assert (np.diagonal(K, 20) == 1).all()
        assert K.max() <= 1


def test_equal_rows_are_exactly_alike_in_few_columns():
    X = np.array([[1e12, 1e-12], [1e12, 1e-12], [1e12 + 1, 0.0]])
    for kernel in (Gaussian(1.0), Laplace(1.0)):
        K = kernel(X)
        assert K[0, 1] == 1.0
        assert K[0, 2] == pytest.approx(math.exp(-1))


def test_bandwidths_by_axis():
    X = np.random.default_rng(0).normal(size=(9, 3))
    gamma = (0.5, 2.0, 1e-3)
    np.testing.assert_allclose(Gaussian(gamma)(X), naive.gram(lambda x, y: gaussian_of(x, y, gamma), X, X), rtol=1e-13)
    np.testing.assert_allclose(Laplace(gamma)(X), naive.gram(lambda x, y: laplace_of(x, y, gamma), X, X), rtol=1e-13)
    assert Gaussian([0.5, 2.0]) == Gaussian((0.5, 2.0)) == Gaussian(np.array([0.5, 2.0]))
    with pytest.raises(DataError, match="gamma has 3 numbers"):
        Gaussian(gamma)(X[:, :2])


def test_kernels_of_scikit_learn():
    X = np.random.default_rng(0).uniform(size=(30, 4))
    np.testing.assert_allclose(Gaussian(0.7)(X), pairwise.rbf_kernel(X, gamma=0.7), rtol=1e-12)
    np.testing.assert_allclose(Laplace(0.7)(X), pairwise.laplacian_kernel(X, gamma=0.7), rtol=1e-12)
    np.testing.assert_allclose(Polynomial(3, 2.0)(X), pairwise.polynomial_kernel(X, degree=3, gamma=1, coef0=2))
    sums = X.sum(axis=1)
    twice = 2 * ChiSquared()(X) - sums[:, None] - sums
    np.testing.assert_allclose(pairwise.additive_chi2_kernel(X), twice, atol=1e-12)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.positive_definite], ids=name_of)
def test_kernels_are_positive_definite(kernel):
    for seed in seeds(20):
        X = table_for(kernel, np.random.default_rng(seed).normal(size=(25, 3)))
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] >= -1e-10 * values[-1]


# ------------------------------------------------------------------------------------------------------- by axis


@pytest.mark.parametrize(
    "kernel", [Gaussian((0.5, 2.0)), Laplace((0.5, 2.0)), ProductKernel(cauchy, cauchy_inverse)], ids=name_of
)
def test_distance_kernels_are_products_over_axes(kernel):
    X, Y = np.random.default_rng(0).normal(size=(2, 11, 2))
    np.testing.assert_allclose(
        kernel(X, Y), kernel.axis_kernel(0, X[:, 0], Y[:, 0]) * kernel.axis_kernel(1, X[:, 1], Y[:, 1]), rtol=1e-12
    )
    t = np.linspace(0, 3, 20)
    for j in range(2):
        levels = kernel.axis(j, t)
        assert levels[0] == 1
        assert (np.diff(levels) < 0).all()
        np.testing.assert_allclose(kernel.radius(j, levels), t, atol=1e-7)
        assert np.array_equal(levels, kernel.axis(j, -t))
    assert kernel.radius(0, 1.0) == 0
    assert not np.signbit(kernel.radius(0, 1.0))
    with pytest.raises(ValueError, match="levels of a similarity"):
        kernel.radius(0, [0.5, 1.5])


def test_radius_of_the_level_0_is_infinite():
    assert Gaussian(1.0).radius(0, 0.0) == math.inf
    assert Laplace(1.0).radius(0, 0.0) == math.inf


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(1e308)], ids=name_of)
def test_values_so_far_apart_that_their_difference_is_no_double_have_similarity_0(kernel):
    largest = np.finfo(float).max
    with np.errstate(all="raise", under="ignore"):
        assert kernel.axis(0, [0.0, largest]).tolist() == [1, 0]
        assert kernel.axis_kernel(0, [0.0, largest], [-largest]).tolist() == [[0], [0]]
    for bad in (math.inf, math.nan):
        with pytest.raises(DataError, match=f"x must be finite numbers, got {bad}"):
            kernel.axis_kernel(0, [0.0, bad], [0.0])


@pytest.mark.parametrize("kernel", [Linear(), Hellinger(), HistogramIntersection(2.0), ChiSquared()], ids=repr)
def test_additive_kernels_are_sums_over_axes(kernel):
    X, Y = np.random.default_rng(0).uniform(size=(2, 11, 3))
    total = sum(kernel.axis_kernel(j, X[:, j], Y[:, j]) for j in range(3))
    np.testing.assert_allclose(kernel(X, Y), total, rtol=1e-12)


def test_kernels_are_inner_products_of_the_papers_features():
    """Fleissner, Vankadara, Ghoshdastidar 2024, Appendix H: Hellinger, and histogram intersection, equation (13)."""
    X = np.random.default_rng(0).integers(0, 5, size=(20, 3)) / 4
    np.testing.assert_allclose(Hellinger()(X), np.sqrt(X) @ np.sqrt(X).T, atol=1e-12)
    features = []
    for column in (X**0.7).T:
        z = np.unique(column)
        features += [np.sqrt(step) * (column >= value) for step, value in zip(np.diff(z, prepend=0), z, strict=True)]
    np.testing.assert_allclose(HistogramIntersection(0.7)(X), np.transpose(features) @ features, atol=1e-12)


def test_chi_squared_at_the_papers_values():
    """K(x, x) = x, which the features of equation (14) approximate; 0 where a value is 0."""
    for x in (0.01, 0.1, 0.25, 0.5, 1.0, 3.0):
        assert ChiSquared()([[x]])[0, 0] == pytest.approx(x)
    assert ChiSquared()([[0.0]], [[0.0], [2.0]]).tolist() == [[0.0, 0.0]]


def test_neighborhood_holds_rows_exactly_at_its_radius():
    """Appendix K of the same paper needs squared distances of 24 within a radius of sqrt(24)."""
    X = np.zeros((2, 6))
    X[1] = 2.0
    assert Neighborhood(math.sqrt(24))(X).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert Neighborhood(4.898)(X).tolist() == [[1.0, 0.0], [0.0, 1.0]]


# --------------------------------------------------------------------------------------------- values and errors


def test_kernels_are_values():
    for kernel in [*KERNELS, Gaussian("median"), Precomputed()]:
        assert pickle.loads(pickle.dumps(kernel)) == kernel
        assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))
        with pytest.raises(AttributeError):
            kernel.anything = 1
    assert repr(Gaussian(0.5)) == "Gaussian(gamma=0.5)"
    assert Gaussian(0.5) != Laplace(0.5)


def test_bandwidth_rules():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 2, 3]
    assert Gaussian("scale").fitted(X).gamma == pytest.approx(1 / (3 * X.var()))
    assert Laplace("scale").fitted(X).gamma == pytest.approx(1 / (3 * X.std()))
    apart = pairwise.euclidean_distances(X)[np.triu_indices(50, 1)]
    assert Gaussian("median").fitted(X).gamma == pytest.approx(1 / np.median(apart**2))
    l1 = pairwise.manhattan_distances(X)[np.triu_indices(50, 1)]
    assert Laplace("median").fitted(X).gamma == pytest.approx(1 / np.median(l1))
    assert Gaussian(2.0).fitted(X) == Gaussian(2.0)
    large = np.random.default_rng(0).normal(size=(3000, 2))
    assert Gaussian("median").fitted(large) == Gaussian("median").fitted(large)
    assert Gaussian("median").fitted(large).gamma == pytest.approx(1 / (4 * math.log(2)), rel=0.1)
    mostly_equal = np.r_[np.zeros(40), 2.0][:, None]
    assert Gaussian("median").fitted(mostly_equal).gamma == 0.25
    for rule in ("auto", "scale", "median"):
        assert Gaussian(rule).fitted(np.ones((4, 2))).gamma == 1.0
        assert Gaussian(rule).fitted([[3.0]]).gamma == 1.0


@pytest.mark.parametrize(
    ("kernel", "distance", "factor"), [(Gaussian, "sqeuclidean", 4.0), (Laplace, "cityblock", 1.0)]
)
def test_the_rule_auto_measures_how_near_the_nearest_rows_are(kernel, distance, factor):
    capped = 0
    for seed in seeds(24):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(2, 60)), int(rng.integers(1, 5)))) ** (1 + 2 * (seed % 3 == 0))
        X = X.round(0 if seed % 4 == 0 else 9)  # with equal rows
        weights = rng.integers(0, 4, size=len(X)) + (np.arange(len(X)) == 0)
        repeated = np.repeat(X, weights, axis=0)
        radii = []
        for row in cdist(repeated, repeated, distance):
            enough = [t for t in row if t > 0 and (row <= t).sum() >= 0.05 * len(row)]
            radii.append(min(enough, default=math.inf))
        radius = sorted(radii)[(len(radii) - 1) // 2]
        spread = float((repeated.std(axis=0) ** (2 if kernel is Gaussian else 1)).sum())
        scale = 1 / spread if spread else 1.0
        expected = min(1 / (factor * radius), 7 * scale) if radius < math.inf else scale
        for rows in (repeated, repeated[rng.permutation(len(repeated))], Rows.of(X, weights)):
            assert kernel("auto").fitted(rows).gamma == pytest.approx(expected)
        assert kernel("auto").fitted(repeated + 100 * np.arange(X.shape[1])).gamma == pytest.approx(expected)
        capped += expected == 7 * scale
    assert 0 < capped < len(seeds(24)) / 2


@pytest.mark.parametrize("kernel", [Gaussian, Laplace])
def test_bandwidths_are_the_same_numbers_for_any_order_of_rows_and_for_weights_of_one(kernel):
    for seed in seeds(60):
        rng = np.random.default_rng(seed)
        X = np.exp(3 * rng.normal(size=(40, 2))) * 10.0 ** rng.integers(-12, 13)
        weights, order = rng.random(40), rng.permutation(40)
        assert kernel("auto").fitted(Rows.of(X, np.ones(40))) == kernel("auto").fitted(X)
        assert kernel("scale").fitted(X[order]) == kernel("scale").fitted(X)
        assert kernel("auto").fitted(Rows.of(X[order], weights[order])) == kernel("auto").fitted(Rows.of(X, weights))


def test_the_rule_auto_samples_large_tables():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    found = Gaussian("auto").fitted(X).gamma
    assert found == Gaussian("auto").fitted(X).gamma
    # a disc of this radius around a row of median density holds 5 % of the rows
    assert found == pytest.approx(Gaussian("auto").fitted(X[:900]).gamma, rel=0.2)
    doubled = Gaussian("auto").fitted(Rows.of(X, np.full(3000, 2.0))).gamma
    assert doubled == pytest.approx(found, rel=0.1)


def test_a_rule_has_no_values_before_it_is_fitted():
    for use in (lambda k: k([[0.0]]), lambda k: k.axis(0, 1.0), lambda k: k.radius(0, 0.5)):
        for kernel in (Gaussian(), Laplace("median")):
            with pytest.raises(ValueError, match=r"call kernel.fitted\(X\) first"):
                use(kernel)


@pytest.mark.parametrize("gamma", [0.0, -1.0, math.nan, math.inf, "wide", [], [1.0, 0.0], [[1.0]]])
def test_bad_bandwidths(gamma):
    for kernel in (Gaussian, Laplace):
        with pytest.raises(ValueError, match="gamma must be"):
            kernel(gamma)


def test_bad_parameters():
    for make, match in (
        (lambda: Polynomial(0), "degree"),
        (lambda: Polynomial(1.5), "degree"),
        (lambda: Polynomial(2, -1.0), "coef0"),
        (lambda: Neighborhood(-1.0), "radius"),
        (lambda: HistogramIntersection(0.0), "beta"),
        (lambda: ProductKernel(np.sin, np.arcsin), "1 at distance"),
    ):
        with pytest.raises(ValueError, match=match):
            make()
    with pytest.raises(DataError, match="2 profiles, but there are 3 columns"):
        ProductKernel((cauchy, cauchy), (cauchy_inverse, cauchy_inverse))(np.zeros((2, 3)))


@pytest.mark.parametrize("kernel", [Hellinger(), HistogramIntersection(), ChiSquared()], ids=repr)
def test_values_below_zero_are_refused(kernel):
    with pytest.raises(DataError, match=r"values of at least 0.*column 1 \(2\)"):
        kernel([[0.0, -1.0], [1.0, -2.0], [1.0, 0.0]])
    with pytest.raises(DataError, match="at least 0"):
        kernel.diagonal([[-1.0]])
    with pytest.raises(DataError, match="at least 0"):
        kernel([[0.0]], [[-1.0]])


def test_bad_rows_are_refused():
    with pytest.raises(DataError, match="missing values"):
        Linear()([[math.nan]])
    with pytest.raises(DataError, match="3 columns, but 2 are expected"):
        Linear()([[1.0, 2.0]], [[1.0, 2.0, 3.0]])


def test_names():
    assert as_kernel("rbf") == as_kernel("gaussian") == Gaussian("auto")
    assert as_kernel("laplacian") == as_kernel("laplace") == Laplace("auto")
    assert as_kernel("poly") == as_kernel("polynomial") == Polynomial(3, 1.0)
    assert as_kernel("linear") == Linear()
    assert as_kernel("chi_squared") == ChiSquared()
    assert as_kernel("precomputed") == Precomputed()
    assert as_kernel(Neighborhood(1.0)) == Neighborhood(1.0)
    with pytest.raises(ValueError, match="another function"):
        as_kernel("chi2")
    with pytest.raises(ValueError, match="'gaussian', 'rbf'"):
        as_kernel("sigmoid")
    with pytest.raises(ValueError, match="must be a Kernel"):
        as_kernel(3)
    assert all(hasattr(kernels, name) for name in kernels.__all__)


# ----------------------------------------------------------------------------------------------- distances to means


def test_distances_equal_the_twin():
    kernel_of = [Gaussian("scale"), Laplace("scale"), Gaussian("median"), Neighborhood(1.0), Precomputed()]
    for seed in seeds(500):
        X, labels, weights = make_case(seed, max_rows=14)
        kernel = kernel_of[seed % len(kernel_of)]
        k = int(labels.max()) + 1 + seed % 2  # sometimes a cluster without rows
        if isinstance(kernel, Precomputed):
            X = Laplace("median").fitted(X)(X)
        K = kernel.fitted(X)(X)
        expected = np.array(naive.kernel_distances(K, np.diagonal(K), labels, k, weights))
        found = kernel_distances(kernel, X, labels, k, sample_weight=weights)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=2e-13, err_msg=f"seed {seed}")


@pytest.mark.parametrize(
    ("kernel", "features"),
    [
        (Linear(), lambda X: X),
        (Hellinger(), np.sqrt),
        (
            Polynomial(2, 0.0),
            lambda X: np.stack([X[:, 0] ** 2, math.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2], axis=1),
        ),
    ],
    ids=name_of,
)
def test_distances_equal_those_of_explicit_features(kernel, features):
    """The equation (8) of the paper against feature maps that can be written down."""
    for seed in seeds(50):
        rng = np.random.default_rng(seed)
        X, Y = rng.uniform(size=(30, 2)), rng.uniform(size=(9, 2))
        labels, weights = rng.permutation(np.arange(30) % 4) - 1, rng.uniform(size=30)
        Z, ZY = features(X), features(Y)
        means = np.array([np.average(Z[labels == c], axis=0, weights=weights[labels == c]) for c in range(3)])
        expected = ((ZY[:, None] - means) ** 2).sum(axis=2)
        found = kernel_distances(kernel, X, labels, 3, Y=Y, sample_weight=weights)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        model = KernelMeans.of(kernel, X, labels, 3, sample_weight=weights)
        np.testing.assert_allclose(model.distances(Y), expected, atol=1e-12)
        assert np.array_equal(model.nearest(Y), expected.argmin(axis=1))


def test_distances_in_many_tiles_and_on_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(2 * TILE + 7, 15))
    labels = np.arange(len(X)) % 5 - 1
    results = [kernel_distances("gaussian", X, labels, 4, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert all(np.array_equal(results[0], other) for other in results)
    K = Gaussian("auto").fitted(X)(X)
    np.testing.assert_allclose(results[0], naive.kernel_distances(K, np.diagonal(K), labels, 4), rtol=1e-9)


def test_linear_distances_keep_their_digits_far_from_zero():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        near = rng.integers(-(2**10), 2**10, size=(20, 3)) / 2**10
        labels = rng.permutation(np.arange(20) % 3)
        far = near + 2.0 ** rng.integers(20, 40, size=3)  # exact
        found = kernel_distances("linear", far, labels, 3)
        np.testing.assert_allclose(found, kernel_distances("linear", near, labels, 3), rtol=1e-12, atol=1e-12)
        means = KernelMeans.of("linear", far, labels, 3)
        np.testing.assert_allclose(means.distances(far), found, rtol=1e-12, atol=1e-12)
    outlier = np.array([[1.0], [2.0], [3.0], [4.0], [1e12]])
    assert kernel_distances("linear", outlier, [0, 0, 1, 1, -1], 2)[:4].tolist() == [
        [0.25, 6.25],
        [0.25, 2.25],
        [2.25, 0.25],
        [6.25, 0.25],
    ]


def test_the_origin_of_the_linear_kernel():
    X = np.array([[1.0, 9.0], [1.0, 8.0], [2.0, 7.0], [4.0, 6.0]])
    kernel = Linear().fitted(X)
    assert kernel == Linear([2, 7]) == kernel.fitted(X + 1) == Linear().fitted(X[[3, 0, 2, 0, 1]])
    assert kernel(X, X[:1]).tolist() == (X - [2, 7]).dot([[-1], [2]]).tolist()
    assert kernel.diagonal(X).tolist() == np.diagonal(kernel(X)).tolist()
    assert np.array_equal(kernel.axis_kernel(0, X[:, 0], X[:, 0]) + kernel.axis_kernel(1, X[:, 1], X[:, 1]), kernel(X))
    with pytest.raises(DataError, match="the origin has 2 numbers, but there are 3 columns"):
        kernel(np.ones((2, 3)))
    for origin in ([np.nan], [[1.0]], 1.0):
        with pytest.raises(ValueError, match="origin must be a finite number for each column"):
            Linear(origin)


def test_weights_are_repeated_rows_and_weightless_rows_count_for_nothing():
    X = np.random.default_rng(0).normal(size=(20, 2))
    labels, weights = np.arange(20) % 3, np.arange(20) % 4
    kernel = Gaussian(0.5)
    repeated = kernel_distances(kernel, np.repeat(X, weights, axis=0), np.repeat(labels, weights), 3, Y=X)
    np.testing.assert_allclose(kernel_distances(kernel, X, labels, 3, Y=X, sample_weight=weights), repeated, atol=1e-12)
    huge = kernel_distances(kernel, X, labels, 3, Y=X, sample_weight=weights * 1e307)
    np.testing.assert_allclose(huge, repeated, atol=1e-12)


def test_a_cluster_of_equal_rows_is_at_distance_0_from_its_rows():
    for kernel in (Gaussian(0.3), Laplace(0.3), Polynomial(2, 0.1), Hellinger(), ChiSquared()):
        X = np.repeat([[0.1, 0.7], [0.3, 0.9]], 7, axis=0)
        D = kernel_distances(kernel, X, np.repeat([0, 1], 7), 2)
        assert (D[:7, 0] == 0).all()
        assert (D[7:, 1] == 0).all()
        assert (D[:7, 1] > 0).all()


def test_an_indefinite_kernel_keeps_negative_squares():
    D = kernel_distances(Precomputed(), [[0.0, 1.0], [1.0, 0.0]], [0, 0], 1)
    assert D.tolist() == [[-0.5], [-0.5]]


def test_precomputed_blocks():
    X, Y = np.random.default_rng(0).normal(size=(2, 9, 2))
    labels, kernel = np.arange(9) % 2, Gaussian(0.4)
    means = KernelMeans.of(Precomputed(), kernel(X), labels, 2)
    assert np.array_equal(means.nearest(kernel(Y, X)), KernelMeans.of(kernel, X, labels, 2).nearest(Y))
    with pytest.raises(DataError, match="9 columns are expected"):
        means.nearest(kernel(Y, X)[:, :5])
    with pytest.raises(DataError, match="square"):
        Precomputed().diagonal(np.zeros((2, 3)))
    with pytest.raises(DataError, match="Gram matrix"):
        Precomputed()(np.zeros((2, 3)))


def test_bad_labels_are_refused():
    X = [[0.0], [1.0]]
    for labels, match in (([0], "one for each of 2 rows"), ([0, 2], "from -1 to 1"), ([0.0, 1.0], "whole numbers")):
        with pytest.raises(DataError, match=match):
            kernel_distances("linear", X, labels, 2)


# ------------------------------------------------------------------------------------------------------- Nyström


def test_nystroem_is_exact_between_landmarks_and_close_elsewhere():
    X = np.random.default_rng(0).normal(size=(300, 2))
    for kernel in (Gaussian("scale"), Laplace("scale"), Linear(), Polynomial(2, 1.0)):
        features = Nystroem.of(kernel, X, 40, random_state=0)
        Z = features.transform(features.landmarks)
        K = features.kernel(features.landmarks)
        np.testing.assert_allclose(Z @ Z.T, K, atol=1e-6 * K.max())
    errors = [Nystroem.of("laplace", X, m, random_state=0).error(X) for m in (5, 50, 300)]
    assert errors[0].pairs > errors[1].pairs > errors[2].pairs
    assert errors[2].diagonal < 1e-10
    exact = Gaussian("scale").fitted(X)
    features = Nystroem.of(exact, X, 30, random_state=0)
    K, Z = exact(X), features.transform(X)
    assert features.error(X).diagonal == pytest.approx(np.abs(np.diagonal(K - Z @ Z.T)).mean())
    assert features.error(X).pairs == pytest.approx(np.abs(K - Z @ Z.T).mean(), rel=0.5)


def test_nystroem_refuses_what_it_cannot_do():
    X = np.zeros((5, 1))
    with pytest.raises(ValueError, match="n_components must be from 1 to the number of rows, 5"):
        Nystroem.of("linear", X, 6)
    for kernel in (Precomputed(), Neighborhood(1.0)):
        with pytest.raises(ValueError, match="positive definite"):
            Nystroem.of(kernel, np.eye(5), 2)


@law(30)
def test_a_repeated_row_is_a_row_of_more_weight(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    X = rng.choice([rng.normal(size=(n, d)), rng.integers(0, 3, size=(n, d)) / 3.0])
    times = rng.integers(1, 5, size=n)
    for power in (1, 2):
        weighted = resolved_bandwidth("auto", Rows(X, times.astype(float)), power)
        assert weighted == resolved_bandwidth("auto", np.repeat(X, times, axis=0), power)
