"""Features of kernels on each axis: they reproduce the kernel, and a cut on one is an interval of its column."""

import math
import pickle

import numpy as np
import pytest
from scipy.special import lambertw
from scipy.stats import poisson

from boxwood._validation import Rows
from boxwood.axes import (
    TAYLOR_MARGIN,
    ChiSquaredFeatures,
    ChosenCurves,
    LandmarkFeatures,
    PowerFeatures,
    StepFeatures,
    TaylorFeatures,
    features_of_kernel,
    surrogate_map,
)
from boxwood.axes.kernel_features import landmarks_of
from boxwood.errors import DataError
from boxwood.kernels import (
    ChiSquared,
    Gaussian,
    Hellinger,
    HistogramIntersection,
    Laplace,
    Linear,
    Neighborhood,
    Polynomial,
    Precomputed,
    ProductKernel,
)
from tests import naive
from tests.cases import make_case, tree_on_values
from tests.scale import seeds, share

INF = math.inf
CAUCHY = ProductKernel(lambda t: 1 / (1 + t * t), lambda level: np.sqrt(1 / level - 1))
KINDS = [
    ("taylor", Gaussian(), {}),
    ("taylor", Gaussian("median"), {"n_terms": 5}),
    ("distance", Gaussian(), {}),
    ("distance", Laplace(), {"n_landmarks": 3}),
    ("distance", CAUCHY, {"n_landmarks": None}),
    ("additive", Linear(), {}),
    ("additive", Hellinger(), {}),
    ("additive", HistogramIntersection(), {}),
    ("additive", HistogramIntersection(0.5), {"n_landmarks": 4}),
    ("additive", ChiSquared(), {}),
    ("additive", ChiSquared(), {"n_terms": 5}),
]
NAMES = [f"{kind}-{type(kernel).__name__}-{options}" for kind, kernel, options in KINDS]


def rows_for(kernel, seed, **sizes):
    X = make_case(seed, **sizes).X
    histogram = isinstance(kernel, (Hellinger, HistogramIntersection, ChiSquared))
    return np.abs(X.astype(np.float64)) if histogram else X


def inner_products(features, X):
    """Return the inner products of the images of rows, for each raw column, shape (d, n, n)."""
    Z = features.transform(X)
    return np.array([Z[:, features.features == j] @ Z[:, features.features == j].T for j in range(X.shape[1])])


def in_order(x, z):
    """Return whether images rise to a peak and fall behind it, even in their last digits."""
    steps = np.sign(np.diff(z[np.argsort(x, kind="stable")]))
    return (np.diff(steps[steps != 0]) <= 0).all()


# ------------------------------------------------------------------------------------------------------- Taylor


def taylor_on(reach, gamma, order):
    """Return features whose z is the raw value itself, from the margin to `reach`."""
    return TaylorFeatures([TAYLOR_MARGIN / math.sqrt(2 * gamma)], [reach], [gamma], [order])


def test_a_cut_on_a_taylor_feature_is_the_interval_of_lambert_w():
    # T-15: gamma 1, j 3, theta 0.2
    features = taylor_on(4.0, 1.0, 3)
    above = np.nextafter(0.2, INF)
    feature, ((first, last),) = features.pull_back(3, above, INF)
    assert (feature, round(first, 7), round(last, 7)) == (0, 0.6385889, 1.9304072)
    assert features.peaks[3] == pytest.approx(1.2247449, abs=1e-7)
    peak = float(features.images(3, [features.peaks[3]])[0])
    assert features.pull_back(3, peak * 1.001, INF) == (0, ())
    assert features.pull_back(3, -INF, peak * 1.001) == (0, ((-INF, INF),))


def test_cuts_on_taylor_features_by_the_formula():
    # Fleissner et al., Theorem 3: z = sqrt(-j / (2 gamma) W(-(2 gamma / j) (theta / c)^(2 / j)))
    rng = np.random.default_rng(0)
    for _ in range(200):
        gamma, order = 10.0 ** rng.uniform(-3, 3), int(rng.integers(1, 12))
        features = taylor_on(12.0 / math.sqrt(gamma), gamma, order)
        peak = float(features.images(order, [features.peaks[order]])[0])
        theta = peak * rng.uniform(0.05, 0.99)
        c = math.sqrt((2 * gamma) ** order / math.factorial(order))
        argument = -(2 * gamma / order) * (theta / c) ** (2 / order)
        roots = [math.sqrt(-order / (2 * gamma) * lambertw(argument, branch).real) for branch in (0, -1)]
        (_, ((first, last),)) = features.pull_back(order, theta, INF)
        assert [first, last] == pytest.approx(roots, rel=1e-9)


def test_the_first_taylor_feature_falls():
    features = taylor_on(3.0, 0.5, 0)
    _, ((first, last),) = features.pull_back(0, 0.3, INF)
    assert (first, last) == (-INF, pytest.approx(math.sqrt(-math.log(0.3) / 0.5)))


def test_taylor_features_are_the_formula():
    rng = np.random.default_rng(1)
    for gamma, reach, order in [(1.0, 2.0, 6), (0.01, 30.0, 40), (300.0, 1.0, 200), (1e-20, 2e10, 200)]:
        features = taylor_on(reach, gamma, order)
        z = rng.uniform(float(features.low[0]), reach, 5)
        for j in range(0, order + 1, max(1, order // 7)):
            expected = [naive.taylor_feature(float(x), j, gamma) for x in z]
            assert features.images(j, z) == pytest.approx(expected, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(
    ("gamma", "reach", "printed"), [(1.0, 1.0, 0.0165636), (1.0, 2.0, 0.8087639), (0.5, 3.0, 0.8843095)]
)
def test_the_error_of_taylor_features_is_a_poisson_probability(gamma, reach, printed):
    # T-21: M = 5
    features = taylor_on(reach, gamma, 5)
    z = np.linspace(float(features.low[0]), reach, 301)
    errors = np.abs(inner_products(features, z[:, None])[0] - Gaussian(gamma).axis_kernel(0, z, z))
    assert features.error == pytest.approx(printed, abs=5e-8)
    assert errors.max() == pytest.approx(printed, abs=5e-8)
    assert errors.argmax() == errors.size - 1


def test_with_the_paper_s_g_the_error_is_large():
    # T-21: exp(2 z) in place of exp(2 gamma z), gamma = 0.5, R = 3: why our features differ from the text
    z = np.linspace(0, 3, 30001)
    j = np.arange(6)
    Z = np.exp(-0.5 * z[:, None] ** 2) * z[:, None] ** j * np.sqrt(2.0**j / [math.factorial(i) for i in j])
    assert np.abs(np.square(Z).sum(axis=1) - 1).max() == pytest.approx(9.4885, abs=5e-5)


@pytest.mark.parametrize(("squared", "order"), [(1, 6), (4, 15), (9, 29), (25, 67)])
def test_auto_takes_the_least_order_that_does(squared, order):
    X = np.array([[0.0], [math.sqrt(squared) - TAYLOR_MARGIN / math.sqrt(2)]])
    features = TaylorFeatures.of(Gaussian(1.0), X)
    assert features.powers.max() == order
    assert features.error == pytest.approx(poisson.sf(order, 2 * squared))
    assert features.error <= 0.01 < poisson.sf(order - 1, 2 * squared)


def test_auto_has_an_order_for_each_column_and_an_end():
    X = np.array([[0.0, 0.0, 7.0], [1.0, 1e9, 7.0]])
    features = TaylorFeatures.of(Gaussian(1.0), X)
    assert np.bincount(features.features).tolist() == [7, 201, 1]
    assert features.error == pytest.approx(1.0)
    assert np.isfinite(features.transform(X)).all()


@pytest.mark.parametrize("order", [200, 1000])
def test_high_orders_neither_overflow_nor_vanish(order):
    features = taylor_on(math.sqrt(order / 4), 1.0, order)
    z = np.linspace(float(features.low[0]), float(features.high[0]), 50)
    errors = np.abs(inner_products(features, z[:, None])[0] - Gaussian(1.0).axis_kernel(0, z, z))
    assert features.error < 1e-15
    assert errors.max() < 1e-9


# ------------------------------------------------------------------------------------------- similarity to landmarks


def test_landmarks_are_the_values_of_a_column_or_some_of_them():
    X = np.column_stack([np.arange(200.0), np.arange(200) % 3])
    features = LandmarkFeatures.of(Laplace(1.0), X, n_landmarks=64)
    assert np.bincount(features.features).tolist() == [64, 3]
    assert (features.landmarks[[0, 63]] == [0, 199]).all()
    assert (np.diff(features.landmarks[:64]) > 2).all()
    assert LandmarkFeatures.of(Laplace(1.0), X, n_landmarks=None).n_columns == 203
    assert math.isnan(features.error)


def test_landmarks_are_quantiles_of_the_rows_by_weight():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 30, size=(int(rng.integers(1, 60)), 1)).astype(float)
        most, weights = int(rng.integers(2, 12)), rng.integers(1, 5, size=len(X))
        repeated = np.repeat(X, weights, axis=0)
        expected = np.unique(np.quantile(repeated, np.arange(most) / (most - 1), method="inverted_cdf"))
        if len(np.unique(X)) <= most:
            expected = np.unique(X)
        for rows in (Rows.of(repeated), Rows.of(X, weights)):
            assert landmarks_of(rows, most)[0].tolist() == expected.tolist(), seed
    heavy = np.append(np.zeros(900), np.arange(100.0))[:, None]  # equal steps of values: 0, 11, ...
    assert landmarks_of(Rows.of(heavy), 10)[0].tolist() == [0, 99]


@pytest.mark.parametrize(("n", "d", "many"), [(2000, 1, True), (2000, 5, True), (2000, 6, False), (2001, 1, False)])
def test_small_tables_have_all_values_as_landmarks(n, d, many):
    X = np.random.default_rng(0).random((n, d))
    assert {len(values) for values in landmarks_of(Rows.of(X), "auto")} == {n if many else 64}
    half = Rows.of(X[: n // 2], np.full(n // 2, 2.0))  # counts as repeated rows
    assert {len(values) for values in landmarks_of(half, "auto")} == {n // 2 if many or n % 2 else 64}


def test_cuts_on_landmarks_are_intervals_around_them():
    rng = np.random.default_rng(0)
    X = np.sort(rng.normal(size=(50, 1)), axis=0)
    for kernel in (Gaussian(0.7), Laplace(0.7), CAUCHY):
        features = LandmarkFeatures.of(kernel, X)
        for theta in rng.uniform(0.75, 0.99, 20):
            column = int(rng.integers(20, 30))
            radius = float(kernel.radius(0, theta))
            _, ((first, last),) = features.pull_back(column, theta, INF)
            middle = features.landmarks[column]
            assert [middle - first, last - middle] == pytest.approx([radius, radius], rel=1e-9)
            inside = np.abs(X[:, 0] - middle) <= radius
            assert (features.images(column, X[:, 0])[inside] >= theta).all()


# ------------------------------------------------------------------------------------------------------ additive


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (Linear(), {}),
        (Hellinger(), {}),
        (HistogramIntersection(), {"n_landmarks": None}),
        (HistogramIntersection(0.3), {"n_landmarks": None}),
        (HistogramIntersection(2.0), {"n_landmarks": None}),
    ],
)
def test_exact_features(kernel, options):
    for seed in seeds(30):
        X = rows_for(kernel, seed, max_rows=15)
        features = surrogate_map(kernel, X, "additive", **options)
        assert features.error == 0
        for j, products in enumerate(inner_products(features, X)):
            expected = kernel.axis_kernel(j, X[:, j], X[:, j])
            assert products == pytest.approx(expected, rel=1e-9, abs=1e-12 * np.abs(expected).max())


def test_steps_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(30, 1)) / 4
    for beta in (0.5, 1.0, 2.0):
        features = StepFeatures.of(HistogramIntersection(beta), X)
        assert features.transform(X) == pytest.approx(np.array(naive.step_features(X[:, 0], beta)))
        for column in range(1, features.n_columns):
            assert features.pull_back(column, 1e-9, INF) == (0, ((features.steps[column], INF),))


def test_fewer_steps_are_off_by_their_gaps():
    X = np.random.default_rng(0).exponential(size=(500, 2))
    features = StepFeatures.of(HistogramIntersection(), X, n_landmarks=10)
    errors = np.abs(inner_products(features, X) - np.minimum(X.T[:, :, None], X.T[:, None, :]))
    assert features.n_columns == 20
    assert errors.max() == pytest.approx(features.error)


def test_chi_squared_features_are_those_of_the_paper():
    # T-22: x = y, M = 5
    features = ChiSquaredFeatures.of(ChiSquared(), [[0.0], [3.0]], n_terms=5)
    x = np.array([0.01, 0.1, 0.25, 0.5, 1, 3])
    printed = [0.000448, 0.037622, 0.180656, 0.5, 1.2, 5.0976]
    Z = features.transform(x[:, None])
    assert np.diagonal(Z @ Z.T) == pytest.approx(printed, abs=6e-7, rel=1e-5)
    expected = [[naive.chi_squared_feature(value, j, 5) for j in range(1, 6)] for value in x]
    assert np.allclose(Z, expected, rtol=1e-12)
    assert features.error == pytest.approx(5.0976 - 3, rel=1e-4)
    assert (features.transform([[0.0]]) == 0).all()


def test_more_terms_of_the_paper_come_closer():
    # M = 50 gives 0.0596 for the kernel 0.1 of x = y = 0.1
    features = ChiSquaredFeatures.of(ChiSquared(), [[0.1], [1.0]], n_terms=50)
    assert np.square(features.transform([[0.1]])).sum() == pytest.approx(0.0596, abs=5e-5)


def test_rates_in_equal_steps_give_the_kernel_to_two_per_cent():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        scale = 10.0 ** rng.integers(-12, 13)
        X = scale * rng.exponential(size=(40, 2)) ** rng.integers(1, 4) * (rng.random((40, 2)) < 0.8)
        features = ChiSquaredFeatures.of(ChiSquared(), X)
        for j, products in enumerate(inner_products(features, X)):
            expected = ChiSquared().axis_kernel(j, X[:, j], X[:, j])
            assert (np.abs(products - expected) <= 0.025 * expected).all()
            assert np.abs(products - expected).max() <= features.error * 1.001


def test_a_cut_on_a_chi_squared_feature_is_the_interval_of_lambert_w():
    # the roots of x t^x = s are W(s ln t) / ln t
    features = ChiSquaredFeatures.of(ChiSquared(), [[0.0], [9.0]], n_terms=5)
    for j in range(1, 5):
        t = j / 5
        s = 0.7 / (math.e * math.log(1 / t))
        roots = [float(lambertw(s * math.log(t), branch).real) / math.log(t) for branch in (0, -1)]
        _, ((first, last),) = features.pull_back(j - 1, s * math.sqrt(2 / j), INF)
        assert [first, last] == pytest.approx([roots[0], roots[1] if roots[1] < 9 else INF], rel=1e-9)
    assert features.peaks[[0, 4]] == pytest.approx([1 / math.log(5), 9])


# ------------------------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize(("kind", "kernel", "options"), KINDS, ids=NAMES)
def test_every_row_goes_where_its_image_goes(kind, kernel, options):
    for seed in seeds(20):
        X = rows_for(kernel, seed, max_rows=25)
        rng = np.random.default_rng(seed)
        features = surrogate_map(kernel, X, kind, **options)
        Z = features.transform(X)
        values = rng.choice(Z.ravel(), size=20) * rng.choice([1.0, 0.9], size=20)
        tree = tree_on_values(rng, int(rng.integers(2, 8)), features.n_columns, values)
        pulled = tree.pull_back(features, X)
        assert (pulled.predict(X) == tree.predict(Z)).all(), seed


@pytest.mark.parametrize(("kind", "kernel", "options"), KINDS, ids=NAMES)
def test_cuts_are_exact_between_rows_too(kind, kernel, options):
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        X = np.abs(rng.normal(size=(30, 2)))
        features = surrogate_map(kernel, X, kind, **options)
        x = np.concatenate([rng.uniform(-1, 4, 200), X[:, 0]])
        for column in rng.integers(features.n_columns, size=10).tolist():
            z = features.images(column, x)
            lower, upper = np.sort(rng.choice(z, 2)) + 1e-9 * rng.normal(size=2)
            feature, intervals = features.pull_back(column, lower, upper)
            assert feature == features.features[column]
            assert [naive.contains(intervals, value) for value in x] == ((lower <= z) & (z <= upper)).tolist()
            for last in (end for pair in intervals for end in pair if math.isfinite(end)):
                at, before, behind = features.images(column, [last, np.nextafter(last, -INF), np.nextafter(last, INF)])
                assert lower <= at <= upper
                assert not (lower <= before <= upper and lower <= behind <= upper)


@pytest.mark.parametrize(("kind", "kernel", "options"), KINDS, ids=NAMES)
def test_curves_rise_to_their_peak_and_fall_behind_it(kind, kernel, options):
    for seed in seeds(60):
        X = rows_for(kernel, seed, max_rows=20).astype(np.float64)
        features = surrogate_map(kernel, X, kind, **options)
        for column, (j, peak) in enumerate(zip(features.features, features.peaks, strict=True)):
            x = np.unique(X[:, j])
            z = features.images(column, x)
            slack = 1e-12 * np.abs(z).max()
            rounded = 2 * np.spacing(np.abs(peak))
            assert (np.diff(z[x <= peak - rounded]) >= -slack).all()
            assert (np.diff(z[x >= peak + rounded]) <= slack).all()


def test_cuts_are_exact_where_a_peak_lies_between_two_doubles():
    x = 1 + np.arange(30) * np.spacing(1.0)
    compared = 0
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        features = TaylorFeatures.of(Gaussian(10.0 ** rng.uniform(-3, 1) / np.spacing(1.0) ** 2), x[:, None])
        for column in range(features.n_columns):
            z = features.images(column, x)
            if not in_order(x, z):
                continue
            for theta in rng.choice(z, 2):
                above, below = (features.pull_back(column, *ends)[1] for ends in ((theta, INF), (-INF, theta)))
                assert [naive.contains(above, value) for value in x] == (z >= theta).tolist()
                assert [naive.contains(below, value) for value in x] == (z <= theta).tolist()
                compared += 1
    assert compared > share(1000)


@pytest.mark.parametrize(("kind", "kernel", "options"), KINDS, ids=NAMES)
def test_values_beyond_the_rows_count_as_the_nearest(kind, kernel, options):
    X = np.abs(np.random.default_rng(0).normal(size=(20, 2)))
    features = surrogate_map(kernel, X, kind, **options)
    beyond = np.array([[-1e300, -5.0], [1e300, 99.0]])
    assert (features.transform(beyond) == features.transform([X.min(axis=0), X.max(axis=0)])).all()
    again = pickle.loads(pickle.dumps(features)) if kernel is not CAUCHY else features
    assert (again.transform(X.astype(np.float32)) == features.transform(X.astype(np.float32))).all()


def test_some_columns_alone():
    X = np.random.default_rng(0).normal(size=(20, 3))
    features = surrogate_map(Gaussian(1.0), X, "taylor")
    columns = np.array([9, 2, 14])
    some = ChosenCurves(features, columns)
    assert (some.transform(X) == features.transform(X)[:, columns]).all()
    assert (some.n_features, some.features.tolist()) == (3, features.features[columns].tolist())
    assert some.pull_back(1, 0.1, 0.3) == features.pull_back(2, 0.1, 0.3)
    assert ChosenCurves(features, columns[:0]).transform(X).shape == (20, 0)


def test_one_row_and_constant_columns():
    for kind, kernel, options in KINDS:
        features = surrogate_map(kernel, [[3.0, 0.0]], kind, **options)
        Z = features.transform([[3.0, 0.0], [9.0, 1.0]])
        assert np.isfinite(Z).all()
        assert (Z[0] == Z[1]).all()
        value = float(Z[0, 0])
        assert features.pull_back(0, value, value) == (0, ((-INF, INF),))
        assert features.pull_back(0, value + 1, INF) == (0, ())


def test_what_kernels_have():
    assert [features_of_kernel(kernel) for kernel in (CAUCHY, Polynomial(), Neighborhood(1.0), Precomputed())] == [
        ("distance",),
        (),
        (),
        (),
    ]
    with pytest.raises(ValueError, match="Laplace has no features 'taylor'; it has 'distance'"):
        surrogate_map(Laplace(1.0), [[0.0]], "taylor")
    with pytest.raises(ValueError, match="Polynomial has no features 'additive'; it has none"):
        surrogate_map(Polynomial(), [[0.0]], "additive")


@pytest.mark.parametrize("kernel", [Hellinger(), HistogramIntersection(), ChiSquared()])
def test_negative_values_are_refused(kernel):
    with pytest.raises(DataError, match="values of at least 0"):
        surrogate_map(kernel, [[1.0, -1.0]], "additive")


def test_parameters_are_checked():
    for n_terms in (0, 2.5, "many", 10**9):
        with pytest.raises(ValueError, match="n_terms must be a whole number from 1 to 1000, or 'auto'"):
            surrogate_map(Gaussian(1.0), [[0.0]], "taylor", n_terms=n_terms)
    for n_landmarks in (1, 2.5, "many"):
        with pytest.raises(ValueError, match="n_landmarks must be a whole number of at least 2, 'auto', or None"):
            surrogate_map(Gaussian(1.0), [[0.0]], "distance", n_landmarks=n_landmarks)
    assert repr(PowerFeatures([0.0], [1.0], 0.5)) == "PowerFeatures(n_features=1, n_columns=1)"
