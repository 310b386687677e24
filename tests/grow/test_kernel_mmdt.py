"""Kernel MMDT: equal to its twins, its guarantee over all prototypes, the closed form, what changes nothing."""

import math
import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from boxwood import KernelKMeans, KernelMMDT
from boxwood.errors import DataError
from boxwood.grow import kernel_mmdt, kernel_mmdt_of_mixture
from boxwood.grow.kernel.mmdt import (
    AXES,
    POINTS,
    ClusterLaws,
    GaussianLaws,
    _distinct_values,
    _summary,
    grow_from_laws,
    grow_kernel_mmdt,
)
from boxwood.kernels import Gaussian, Laplace, Linear, Precomputed, ProductKernel, kernel_distances
from boxwood.metrics import (
    axis_similarity,
    kernel_cost,
    kernel_mixture_price,
    price_of_explainability,
    within_similarity,
)
from boxwood.reference import Mixture, Reference, Task
from boxwood.theory.bounds import kernel_price_bound, midpoint_kernel_price_bound
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case
from tests.grow.test_kernel_expand import cauchy, cauchy_inverse
from tests.grow.test_mmdt import make_mixture
from tests.scale import seeds, share, variants

PROTOTYPES = ("sample", "medoid")
CAUCHY = ProductKernel(cauchy, cauchy_inverse)


def tree_and_cuts(X, reference, *, axis="similarity", random_state=None, sample_weight=None, n_jobs=-1, **options):
    task = Task.of(X, reference, sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs)
    grown = grow_kernel_mmdt(task, axis=axis, **options)
    return grown.tree, grown.attributes["cuts"]


def laws_of(X, reference, kernel, weights=None) -> ClusterLaws:
    return ClusterLaws(Task.of(X, reference, sample_weight=weights, n_jobs=1), kernel)


def random_mixture(seed) -> Mixture:
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    means = rng.normal(size=(k, d)) * rng.choice([1, 3]) if seed % 3 else rng.integers(0, 4, size=(k, d))
    return Mixture(rng.dirichlet(np.ones(k)) + 1e-3, means, rng.gamma(1, size=(k, d)) * rng.choice([0.01, 0.3, 2]))


def clusters(seed, *, max_rows=40):
    """Return rows, reference, weights and a kernel with its bandwidth found."""
    X, labels, weights = make_case(seed, max_rows=max_rows)
    kernel = (Gaussian("scale"), Laplace("median"), CAUCHY)[seed % 3].fitted(X)
    return X, Reference.of(X, labels, sample_weight=weights), weights, kernel


def balls(rng, centers, sizes, spread):
    """Return small clouds around centres, and their numbers."""
    labels = np.repeat(np.arange(len(centers)), sizes)
    return np.asarray(centers, dtype=float)[labels] + spread * rng.normal(size=(len(labels), len(centers[0]))), labels


# --------------------------------------------------------------------------------------------------- the twin


@pytest.mark.parametrize("prototype", PROTOTYPES)
def test_of_a_mixture_equals_the_twin(prototype):
    refused = 0
    for seed in seeds(120):
        mixture = random_mixture(seed) if seed % 2 else make_mixture(seed)
        kernel = (Gaussian(0.5), Laplace(1.0))[seed % 2]
        xi = axis_similarity(mixture, kernel=kernel).mean.tolist()
        random = np.random.default_rng(seed)

        def value(c, i, mixture=mixture, random=random):
            noise = 0.0 if prototype == "medoid" else math.sqrt(mixture.variances[c, i]) * random.standard_normal()
            return mixture.means[c, i] + noise

        twin = naive.kernel_mmdt(xi, _radius(kernel), value, list(range(mixture.n_components)))
        if twin is None:
            refused += 1
            with pytest.raises(DataError, match="alike on every axis"):
                kernel_mmdt_of_mixture(mixture, kernel=kernel)
            continue
        tree = kernel_mmdt_of_mixture(mixture, kernel=kernel, prototype=prototype, random_state=seed)
        assert tree == ThresholdTree.from_dict(twin), seed
    assert 0 < refused < len(seeds(120)) / 3


def _radius(kernel):
    return lambda i, level: float(kernel.radius(i, level))


def test_of_rows_equals_the_twin():
    refused = 0
    for seed in seeds(120):
        X, reference, weights, kernel = clusters(seed)
        laws = laws_of(X, reference, kernel, weights)
        xi, random = laws.similarity.mean.tolist(), np.random.default_rng(seed)
        of_rows = np.ones(len(X)) if weights is None else weights

        def value(c, i, X=X, labels=reference.labels, of_rows=of_rows, random=random):
            rows = labels == c
            return naive.quantile(X[rows, i].astype(float).tolist(), of_rows[rows].tolist(), random.random())

        twin = naive.kernel_mmdt(xi, _radius(kernel), value, list(range(reference.n_clusters)))
        options = {"kernel": kernel, "sample_weight": weights, "random_state": seed}
        if twin is None:
            refused += 1
            with pytest.raises(DataError, match="alike on every axis"):
                kernel_mmdt(X, reference, **options)
            continue
        tree = kernel_mmdt(X, reference, **options)
        expected = ThresholdTree.from_dict(twin)
        assert np.array_equal(tree.feature, expected.feature), seed
        assert np.array_equal(tree.cluster, expected.cluster), seed
        np.testing.assert_array_equal((tree.lower, tree.upper), (expected.lower, expected.upper))
    assert 0 < refused < len(seeds(120)) / 3


def test_the_surest_cuts_equal_the_twin():
    refused = 0
    for seed in seeds(150):
        mixture = random_mixture(seed) if seed % 2 else make_mixture(seed)
        kernel = (Gaussian(0.5), Laplace(1.0))[seed % 2]
        laws = GaussianLaws(mixture, kernel)
        xi, variance = laws.similarity.mean.tolist(), laws.similarity.variance.tolist()
        twin = naive.kernel_mmdt(
            xi,
            _radius(kernel),
            lambda c, i, mixture=mixture: mixture.means[c, i],
            list(range(mixture.n_components)),
            partial(naive.surest_cut, xi, variance, mixture.weights.tolist()),
        )
        options = {"kernel": kernel, "prototype": "medoid"}
        if twin is None:
            refused += 1
            with pytest.raises(DataError, match="alike on every axis"):
                kernel_mmdt_of_mixture(mixture, axis="error", **options)
            continue
        tree = kernel_mmdt_of_mixture(mixture, axis="error", **options)
        assert tree == ThresholdTree.from_dict(twin), seed
    assert 0 < refused < len(seeds(150)) / 3


def test_the_surest_cut_of_a_node_has_no_higher_bound_than_the_paper_s():
    lower = 0
    for seed in seeds(150):
        mixture, kernel = random_mixture(seed), Gaussian(0.5)
        laws = GaussianLaws(mixture, kernel)
        (paper, *_), (surest, *_) = (grow_from_laws(laws, kernel, None, axis)[1] for axis in AXES)
        assert surest.error_bound <= paper.error_bound * (1 + 1e-8)
        assert surest.component in surest.inside
        assert surest.partner in surest.outside
        lower += surest.error_bound < 0.9 * paper.error_bound
    assert lower > share(50)


def test_a_column_of_wide_noise_attracts_the_least_alike_and_not_the_surest():
    rng = np.random.default_rng(0)
    X, labels = balls(rng, [[0.0], [10.0], [20.0]], 100, 1.0)
    X = np.column_stack([X, 100 * rng.normal(size=300)])
    options = {"kernel": Gaussian(0.02), "prototype": "medoid"}
    reference = Reference.of(X, labels)
    assert np.mean(kernel_mmdt(X, reference, **options).predict(X) == labels) < 0.75
    assert np.mean(kernel_mmdt(X, reference, axis="error", **options).predict(X) == labels) > 0.95


def test_a_column_of_nearly_equal_similarities_is_not_sure():
    # the second column is the same for both clusters, and so small that similarities differ from 1 by 1e-9 only
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    X = np.column_stack([5.0 * labels + rng.normal(size=120), 3e-5 * rng.normal(size=120)])
    kernel, reference = Gaussian(0.1), Reference.of(X, labels)
    laws = laws_of(X, reference, kernel)
    exact = np.zeros((2, 2))
    for a in range(2):
        for b in range(2):
            squares = np.subtract.outer(X[labels == a, 1], X[labels == b, 1]) ** 2
            exact[a, b] = (0.1 * squares).var()  # 1 - exp(-t) is t to nine digits
    np.testing.assert_allclose(laws.similarity.variance[1], exact, rtol=1e-5)
    tree, cuts = tree_and_cuts(X, reference, kernel=kernel, axis="error", prototype="medoid")
    assert tree.feature[0] == 0
    assert (tree.predict(X) != labels).mean() <= cuts[0].error_bound


def test_similarities_are_means_over_all_pairs():
    for seed in seeds(60):
        X, reference, weights, kernel = clusters(seed, max_rows=25)
        similarity = laws_of(X, reference, kernel, weights).similarity
        of_rows = np.ones(len(X)) if weights is None else weights
        for i in range(X.shape[1]):
            profile = partial(kernel.axis, i)
            parts = [(X[rows, i].astype(float), of_rows[rows]) for rows in _rows_of(reference)]
            for a, (x, v) in enumerate(parts):
                for b, (y, w) in enumerate(parts):
                    mean, variance = naive.pair_similarity(profile, x, y, v, w)
                    assert similarity.mean[i, a, b] == pytest.approx(mean, abs=1e-12)
                    assert similarity.variance[i, a, b] == pytest.approx(
                        variance, rel=1e-9, abs=1e-15 * variance**0.5 + 1e-31
                    )


def _rows_of(reference):
    return [reference.labels == c for c in range(reference.n_clusters)]


def test_similarities_are_the_same_numbers_in_any_order_and_for_repeated_rows():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        n = 60 if seed else 3000
        X, labels, weights = rng.integers(0, 9, size=(n, 2)) / 7, rng.integers(0, 3, size=n), rng.random(n) + 0.1
        X = X if seed else X + rng.random((n, 2))
        reference, p, times = Reference.of(X, labels), rng.permutation(n), rng.integers(1, 4, size=n)
        similarity = laws_of(X, reference, Gaussian(1.0), weights).similarity
        permuted = laws_of(X[p], Reference(labels[p], reference.centers), Gaussian(1.0), weights[p]).similarity
        assert (similarity.mean == permuted.mean).all()
        assert (similarity.mean == similarity.mean.transpose(0, 2, 1)).all()
        repeated = Reference(np.repeat(labels, times), reference.centers)
        of_repeated = laws_of(np.repeat(X, times, axis=0), repeated, Laplace(1.0)).similarity
        weighted = laws_of(X, reference, Laplace(1.0), times.astype(float)).similarity
        assert (of_repeated.mean == weighted.mean).all()


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian(100.0), Laplace(1.0), CAUCHY])
def test_many_values_are_summarised_within_the_stated_error(kernel):
    rng = np.random.default_rng(0)
    laws = [
        rng.normal(size=2000),
        rng.standard_cauchy(size=2000),
        rng.choice([-5.0, 5.0], 2000) + 0.1 * rng.normal(size=2000),
    ]
    X, labels = np.concatenate(laws)[:, None], np.repeat([0, 1, 2], 2000)
    weights = rng.gamma(1.0, size=len(X))
    similarity = laws_of(X, Reference.of(X, labels), kernel, weights).similarity
    for a in range(3):
        for b in range(a + 1):
            block = kernel.axis_kernel(0, laws[a], laws[b])
            v, w = (weights[labels == c] / weights[labels == c].sum() for c in (a, b))
            assert similarity.mean[0, a, b] == pytest.approx(v @ block @ w, abs=2e-3)
            assert similarity.second_moment[0, a, b] == pytest.approx(v @ block**2 @ w, abs=2e-3)
    assert similarity.mean[0, 0, 0] == pytest.approx(kernel.axis_kernel(0, laws[0], laws[0]).mean(), abs=0.05)


def test_a_value_of_much_weight_stands_for_itself():
    rng = np.random.default_rng(0)
    laws = [np.where(rng.random(2000) < share, 0.0, rng.normal(size=2000)) for share in (0.5, 0.2)]
    X, reference = np.concatenate(laws)[:, None], Reference(np.repeat([0, 1], 2000), np.zeros((2, 1)))
    for gamma in (1.0, 1e12):
        kernel = Gaussian(gamma)
        similarity = laws_of(X, reference, kernel).similarity
        for a, b in ((0, 0), (0, 1), (1, 1)):
            assert similarity.mean[0, a, b] == pytest.approx(kernel.axis_kernel(0, laws[a], laws[b]).mean(), abs=2e-3)


def test_a_summary_keeps_weight_and_mean():
    rng = np.random.default_rng(0)
    values, weights = _distinct_values(1e12 + rng.normal(size=5000), rng.gamma(1.0, size=5000))
    points, shares = _summary(values, weights)
    assert POINTS - 20 <= len(points) <= POINTS
    assert shares.sum() == pytest.approx(1)
    assert shares.max() < 2 / POINTS + weights.max() / weights.sum()
    assert (points - 1e12) @ shares == pytest.approx((values - 1e12) @ weights / weights.sum(), abs=1e-4)
    assert (np.diff(points) > 0).all()


# --------------------------------------------------------------------------------------------------- closed form


def test_two_gaussians_in_closed_form():
    # T-08: xi = 0.3940452, Var = 0.1165019
    mixture, kernel = Mixture([0.5, 0.5], [[0.0], [1.3]], [[0.64], [0.25]]), Gaussian(0.7)
    similarity = axis_similarity(mixture, kernel=kernel)
    assert similarity.mean[0, 0, 1] == pytest.approx(0.3940452, abs=5e-8)
    assert similarity.variance[0, 0, 1] == pytest.approx(0.1165019, abs=5e-8)
    tree = kernel_mmdt_of_mixture(mixture, kernel=kernel, prototype="medoid")
    within = 1 / math.sqrt(1 + 2 * 0.7 * 0.5)  # of the narrow component, which has the larger gap
    radius = math.sqrt(-math.log((within + 0.3940452) / 2) / 0.7)
    assert (tree.lower[0], tree.upper[0]) == pytest.approx((1.3 - radius, 1.3 + radius), abs=1e-6)
    assert tree.leaf_clusters.tolist() == [1, 0]


def test_samples_of_gaussians_tend_to_the_closed_form():
    mixture, kernel = Mixture([0.5, 0.5], [[0.0, 1.0], [1.3, 1.0]], [[0.64, 1.0], [0.25, 2.0]]), Gaussian(0.7)
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40_000)
    X = mixture.means[labels] + np.sqrt(mixture.variances[labels]) * rng.normal(size=(len(labels), 2))
    reference = Reference.of(X, labels)
    similarity, exact = laws_of(X, reference, kernel).similarity, axis_similarity(mixture, kernel=kernel)
    np.testing.assert_allclose(similarity.mean, exact.mean, atol=5e-3)
    np.testing.assert_allclose(similarity.variance, exact.variance, atol=5e-3)
    tree = kernel_mmdt(X, reference, kernel=kernel, prototype="medoid")
    closed = kernel_mmdt_of_mixture(mixture, kernel=kernel, prototype="medoid")
    assert (tree.lower[0], tree.upper[0]) == pytest.approx((closed.lower[0], closed.upper[0]), abs=0.1)


# ------------------------------------------------------------------------------------------------- properties


@pytest.mark.parametrize("prototype", PROTOTYPES)
def test_one_leaf_for_each_cluster_and_its_prototype_inside(prototype):
    grown = 0
    for seed in seeds(100):
        X, reference, weights, kernel = clusters(seed)
        options = {"kernel": kernel, "sample_weight": weights, "prototype": prototype, "random_state": seed}
        try:
            tree, cuts = tree_and_cuts(X, reference, **options)
        except DataError:
            continue
        grown += 1
        assert sorted(tree.leaf_clusters) == list(range(reference.n_clusters))
        assert np.array_equal([cut.node for cut in cuts], np.flatnonzero(tree.feature >= 0))
        for cut in cuts:
            assert cut.component in cut.inside
            assert cut.partner in cut.outside
            assert cut.similarity < cut.level <= cut.within
            assert kernel.axis(cut.feature, cut.radius) == pytest.approx(cut.level)
            ends = cut.prototype - cut.radius, cut.prototype + cut.radius
            assert (tree.feature[cut.node], tree.lower[cut.node], tree.upper[cut.node]) == (cut.feature, *ends)
            rows = reference.labels == cut.component
            values = X[rows, cut.feature].astype(float)
            assert cut.prototype in values
    assert grown > share(65)


def test_the_largest_gap_of_all_may_leave_the_prototype_outside():
    # why gaps above the similarity of a component with itself are not looked at
    left_out = 0
    for seed in seeds(400):
        mixture, kernel = random_mixture(seed), Gaussian(1.0)
        xi = axis_similarity(mixture, kernel=kernel).mean
        i, a, b = np.unravel_index(np.argmin(xi + 2 * np.eye(mixture.n_components)), xi.shape)
        gaps = [(np.diff(np.sort(xi[i, c])).max(), -c) for c in (a, b)]
        c = -max(gaps)[1]
        ordered = np.sort(xi[i, c])
        place = np.diff(ordered).argmax()
        left_out += xi[i, c, c] < ordered[place : place + 2].mean()
        tree, cuts = grow_from_laws(GaussianLaws(mixture, kernel), kernel, None)
        assert sorted(tree.leaf_clusters) == list(range(mixture.n_components))
        assert all(cut.component in cut.inside and cut.partner in cut.outside for cut in cuts)
    assert left_out > share(3)


@pytest.mark.parametrize("axis", AXES)
def test_mistakes_over_all_prototypes_are_below_the_bound_of_the_cut(axis):
    informative = 0
    for seed in seeds(120):
        rng = np.random.default_rng(seed)
        X, labels = balls(rng, 4 * rng.normal(size=(2, 2)), rng.integers(2, 25, size=2), rng.choice([0.05, 0.3, 1.0]))
        reference, kernel = Reference.of(X, labels), (Gaussian(1.0), Laplace(0.7))[seed % 2]
        tree, (cut,) = tree_and_cuts(X, reference, kernel=kernel, axis=axis, random_state=0)
        prototypes = X[labels == cut.component, cut.feature]
        near = np.abs(X[:, cut.feature, None] - prototypes) <= cut.radius
        wrong = near != np.isin(labels, cut.inside)[:, None]
        assert wrong.mean() <= cut.error_bound * (1 + 1e-9) + 1e-12
        informative += cut.error_bound < 0.1
        assert tree.n_leaves == 2
    assert informative > share(30)


@pytest.mark.parametrize("axis", AXES)
def test_mistakes_are_below_the_bound_for_similarities_close_to_0_and_close_to_1(axis):
    near_0 = near_1 = 0
    for seed in seeds(24, least=24):
        rng = np.random.default_rng(seed)
        X, labels = balls(
            rng, rng.uniform(-10, 10, size=(3, 2)), rng.integers(2, 12, size=3), rng.choice([0.1, 0.4, 2])
        )
        kernel = (Gaussian, Laplace)[seed % 2](10 ** rng.choice([-9.0, -1.0, 0.0, 1.0]))
        try:
            _, cuts = tree_and_cuts(X, Reference.of(X, labels), kernel=kernel, axis=axis, random_state=seed)
        except DataError:
            continue
        for cut in cuts:
            prototypes = X[labels == cut.component, cut.feature]
            near = kernel.axis_kernel(cut.feature, X[:, cut.feature], prototypes) >= cut.level
            of_node = np.isin(labels, (*cut.inside, *cut.outside))
            wrong = (near != np.isin(labels, cut.inside)[:, None]) & of_node[:, None]
            assert wrong.mean() <= cut.error_bound * (1 + 1e-6) + 1e-12
            near_0 += cut.similarity < 1e-12
            near_1 += cut.similarity > 1 - 1e-6
    assert min(near_0, near_1) > share(2)


@pytest.mark.parametrize("axis", AXES)
def test_the_expected_price_is_below_the_bound(axis):
    # Theorem 12 of Fleissner, Zarvandi, Ghoshdastidar, corrected, for the given rows and every prototype of a pair
    useful = 0
    for seed in seeds(80):
        rng = np.random.default_rng(seed)
        X, labels = balls(rng, 3 * rng.normal(size=(2, 2)), rng.integers(3, 30, size=2), rng.choice([0.01, 0.05, 0.2]))
        reference, kernel = Reference.of(X, labels), Gaussian(0.5)
        laws = laws_of(X, reference, kernel)
        distances = kernel_distances(kernel, X, labels, 2)
        _, (cut,) = tree_and_cuts(X, reference, kernel=kernel, axis=axis, random_state=0)
        bound, middle = _bounds(X, labels, laws, kernel, (cut,))
        near = np.abs(X[:, cut.feature, None] - X[labels == cut.component, cut.feature]) <= cut.radius
        given = np.where(near, cut.inside[0], cut.outside[0])
        prices = np.take_along_axis(distances, given, axis=1).sum(axis=0) / distances[range(len(X)), labels].sum()
        assert prices.mean() <= bound.value * (1 + 1e-9)
        if middle.holds:
            assert prices.mean() <= middle.value * (1 + 1e-9) <= bound.value * (1 + 1e-8)
        useful += bound.holds is True and bound.value < 1 + (1 + 1) / (1 - _within(X, labels, kernel).max())
    assert useful > 15


@pytest.mark.parametrize("axis", AXES)
def test_the_mean_price_over_draws_is_below_the_bound_for_many_clusters(axis):
    rng = np.random.default_rng(0)
    X, labels = balls(rng, [[0, 0], [3, 0], [0, 3], [6, 6]], [30, 20, 30, 40], 0.03)
    reference, kernel = Reference.of(X, labels), Gaussian(0.5)
    laws = laws_of(X, reference, kernel)
    distances = kernel_distances(kernel, X, labels, 4)
    least = distances[range(len(X)), labels].sum()
    prices, shares, random = [], [], np.random.default_rng(1)
    for _ in range(100):
        tree, cuts = tree_and_cuts(X, reference, kernel=kernel, axis=axis, random_state=random)
        given = tree.predict(X)
        prices.append(distances[range(len(X)), given].sum() / least)
        shares.append((given != labels).mean())
        assert np.mean(shares) <= sum(cut.error_bound for cut in cuts)
    for bound in _bounds(X, labels, laws, kernel, cuts):
        assert bound.holds
        assert np.mean(prices) <= bound.value


def _within(X, labels, kernel):
    return np.array([kernel(X[labels == c]).mean() for c in range(labels.max() + 1)])


def _bounds(X, labels, laws, kernel, cuts):
    similar = laws.similarity, _within(X, labels, kernel), laws.weights
    return [bound(*similar, cuts=cuts, drawn=True) for bound in (kernel_price_bound, midpoint_kernel_price_bound)]


@pytest.mark.parametrize("prototype", PROTOTYPES)
def test_order_of_rows_repetition_layout_and_threads_change_nothing(prototype):
    for seed in seeds(15):
        X, reference, weights, kernel = clusters(seed)
        rng = np.random.default_rng(seed)
        options = {"kernel": kernel, "prototype": prototype, "random_state": seed, "n_trees": 3}
        options["axis"] = AXES[seed // 3 % 2]
        try:
            tree = kernel_mmdt(X, reference, sample_weight=weights, **options)
        except DataError:
            continue
        p = rng.permutation(len(X))
        permuted = Reference(reference.labels[p], reference.centers)
        of_permuted = None if weights is None else weights[p]
        assert tree == kernel_mmdt(X[p], permuted, sample_weight=of_permuted, **options)
        assert tree == kernel_mmdt(X.astype(float), reference, sample_weight=weights, n_jobs=1, **options)
        times = rng.integers(1, 4, size=len(X))
        repeated = Reference(np.repeat(reference.labels, times), reference.centers)
        weighted = kernel_mmdt(X, reference, sample_weight=times, **options)
        assert weighted == kernel_mmdt(np.repeat(X, times, axis=0), repeated, **options)


def test_a_seed_gives_one_tree_and_seeds_differ():
    rng = np.random.default_rng(0)
    X, labels = balls(rng, [[0, 0], [3, 0], [0, 3]], [50, 50, 50], 0.8)
    reference = Reference.of(X, labels)
    trees = [kernel_mmdt(X, reference, kernel="gaussian", random_state=seed) for seed in (0, 0, 1)]
    assert trees[0] == trees[1] != trees[2]
    assert trees[0] == kernel_mmdt(X, reference, kernel="gaussian", random_state=np.random.default_rng(0))
    states = [kernel_mmdt(X, reference, kernel="gaussian", random_state=np.random.RandomState(5)) for _ in "ab"]
    assert states[0] == states[1]
    fixed = [kernel_mmdt(X, reference, kernel="gaussian", prototype="medoid", random_state=seed) for seed in (0, 1)]
    assert fixed[0] == fixed[1]


def test_more_draws_never_cost_more():
    rng = np.random.default_rng(0)
    X, labels = balls(rng, [[0, 0], [2, 0], [0, 2]], [50, 50, 50], 0.6)
    reference, kernel = Reference.of(X, labels), Gaussian(0.5)
    distances = kernel_distances(kernel, X, labels, 3)
    costs = []
    for n_trees in (1, 2, 5, 20):
        tree = kernel_mmdt(X, reference, kernel=kernel, n_trees=n_trees, random_state=3)
        costs.append(distances[range(len(X)), tree.predict(X)].sum())
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_a_medoid_is_the_value_most_alike_to_the_others():
    X = np.array([[0.0], [5.0], [5.1], [5.2], [9.0], [40.0], [40.1]])
    tree, (cut,) = tree_and_cuts(
        X, Reference.of(X, [0, 0, 0, 0, 0, 1, 1]), kernel=Gaussian(1.0), prototype="medoid", random_state=0
    )
    assert cut.component == 1
    assert cut.prototype == 40.0
    swapped = Reference.of(X, [1, 1, 1, 1, 1, 0, 0])
    _, (cut,) = tree_and_cuts(X, swapped, kernel=Gaussian(0.001), prototype="medoid")
    assert cut.component == 0
    values = X[:5, 0]
    _, (cut,) = tree_and_cuts(
        values[:, None], Reference([0, 0, 0, 0, 1], [[0], [1]]), kernel=Gaussian(1e-6), prototype="medoid"
    )
    assert cut.component == 1
    assert tree.predict(X).tolist() == [0] * 5 + [1] * 2


# ------------------------------------------------------------------------------------------------- edge cases


def test_edges():
    one = kernel_mmdt([[1.0], [2.0]], Reference([0, 0], [[1.5]]), kernel="gaussian")
    assert one.n_leaves == 1
    X = np.array([[1e12, 0.0], [1e12, 1.0], [1e12, 8.0], [1e12, 9.0]])
    for kernel in (Gaussian((1.0, 0.1)), Laplace((1.0, 0.1))):
        tree = kernel_mmdt(X, Reference([0, 0, 2, 2], np.zeros((3, 2))), kernel=kernel, prototype="medoid")
        assert tree.predict(X).tolist() == [0, 0, 2, 2]  # cluster 1 has no rows
        assert tree.feature[0] == 1
    for size in (1e-12, 1e12):
        tree = kernel_mmdt(X[:, 1:] * size, Reference([0, 0, 1, 1], np.zeros((2, 1))), kernel="laplace", random_state=0)
        assert tree.predict(X[:, 1:] * size).tolist() == [0, 0, 1, 1]
    left_out = kernel_mmdt(
        X, Reference([0, -1, -1, 1], np.zeros((2, 2))), kernel=Gaussian(0.1), random_state=0, sample_weight=[1, 1, 0, 2]
    )
    assert left_out.predict(X).tolist() == [0, 0, 1, 1]


def test_two_points_as_components():
    mixture = Mixture([1, 1], [[0.0, 5.0], [1.0, 5.0]], np.zeros((2, 2)))
    tree = kernel_mmdt_of_mixture(mixture, kernel=Gaussian(1.0), random_state=0)
    assert tree.predict(mixture.means).tolist() == [0, 1]


def test_what_is_refused():
    X, reference = np.array([[0.0], [1.0], [8.0], [9.0]]), Reference([0, 0, 1, 1], [[0.5], [8.5]])
    for error, match, changed in [
        (ValueError, "the kernel must multiply over axes", {"kernel": Linear()}),
        (ValueError, "the kernel must multiply over axes", {"kernel": Precomputed()}),
        (ValueError, "kernel must be a Kernel or one of", {"kernel": "gauss"}),
        (ValueError, "prototype must be one of 'sample', 'medoid'; got 'mean'", {"prototype": "mean"}),
        (ValueError, "axis must be one of 'similarity', 'error'; got 'gap'", {"axis": "gap"}),
        (ValueError, "n_trees must be at least 1", {"n_trees": 0}),
        (DataError, "sample_weight must have one weight", {"sample_weight": [1.0]}),
        (DataError, "gamma has 2 numbers", {"kernel": Gaussian((1.0, 2.0))}),
        (DataError, "X has 3 rows, but the reference has 4 labels", {"X": X[:3]}),
        (DataError, "on every axis that may be cut, so that no cut separates them: 0, 1; make", {"X": [[1.0]] * 4}),
        (DataError, "alike on every axis", {"X": [[1.0], [2.0]] * 2}),
        (DataError, "every row is left out", {"reference": Reference([-1] * 4, [[0.5], [8.5]])}),
    ]:
        arguments = {"X": X, "reference": reference, "kernel": "gaussian", "random_state": 0} | changed
        with pytest.raises(error, match=match):
            kernel_mmdt(arguments.pop("X"), arguments.pop("reference"), **arguments)
    mixture = Mixture([1, 1], [[0.0], [1.0]], [[1.0], [1.0]])
    with pytest.raises(ValueError, match="still to be found"):
        kernel_mmdt_of_mixture(mixture, kernel="gaussian")
    with pytest.raises(DataError, match="no formula for ProductKernel"):
        kernel_mmdt_of_mixture(mixture, kernel=CAUCHY)
    with pytest.raises(ValueError, match="prototype must be one of"):
        kernel_mmdt_of_mixture(mixture, kernel=Gaussian(1.0), prototype="mean")
    with pytest.raises(DataError, match="alike on every axis"):
        kernel_mmdt_of_mixture(Mixture([1, 1], [[0.0], [0.0]], [[1.0], [1.0]]), kernel=Gaussian(1.0))


# ------------------------------------------------------------------------------------------------- the estimator


@pytest.mark.full
@parametrize_with_checks(variants(KernelMMDT(), KernelMMDT(axis="similarity", prototype="medoid")))
def test_scikit_learn(estimator, check):
    check(estimator)


def test_the_estimators_tree_price_and_bound():
    X, labels = balls(np.random.default_rng(0), [[0, 0], [3, 0], [0, 3]], [40, 50, 60], 0.1)
    y, kernel = np.array(["a", "b", "c"])[labels], Gaussian(0.5)
    model = KernelMMDT(gamma=0.5, random_state=3).fit(X, y)
    reference = Reference.of(X, y)
    tree, cuts = tree_and_cuts(X, reference, kernel=kernel, axis="error", random_state=3)
    assert model.tree_ == tree == kernel_mmdt(X, reference, kernel=kernel, axis="error", random_state=3)
    paper = KernelMMDT(gamma=0.5, axis="similarity", random_state=3).fit(X, y)
    assert paper.tree_ == kernel_mmdt(X, reference, kernel=kernel, random_state=3)
    assert model.cuts_ == cuts
    assert model.n_leaves_ == 3
    assert model.price_ == pytest.approx(price_of_explainability(X, tree, reference, kernel=kernel))
    assert model.price_ <= model.price_ceiling_
    assert model.score(X) * len(X) == pytest.approx(-kernel_cost(X, tree, kernel=kernel))
    assert (model.labels_ != y).mean() <= model.error_bound_ < 0.2
    assert clone(model).fit(X, y).tree_ == tree
    drawn = KernelMMDT(gamma=0.5, random_state=3, n_trees=4).fit(X, y)
    assert drawn.tree_ == kernel_mmdt(X, reference, kernel=kernel, axis="error", random_state=3, n_trees=4)
    medoid = KernelMMDT(gamma=0.5, prototype="medoid").fit(X, y)
    assert medoid.tree_ == kernel_mmdt(X, reference, kernel=kernel, axis="error", prototype="medoid")


@pytest.mark.parametrize("axis", AXES)
def test_the_estimator_s_own_bound_on_the_price_holds(axis):
    held = 0
    for seed in seeds(8):
        rng = np.random.default_rng(seed)
        X, labels = balls(
            rng, rng.uniform(-6, 6, size=(3, 2)), rng.integers(3, 20, size=3), rng.choice([0.02, 0.1, 0.5])
        )
        y, weights = np.where(rng.random(len(X)) < 0.1, -1, 2 * labels), rng.integers(1, 4, size=len(X))
        kernel = (Gaussian, Laplace)[seed % 2](10 ** rng.uniform(-4, 0.5))
        try:
            models = [KernelMMDT(kernel=kernel, axis=axis, random_state=s).fit(X, y, weights) for s in range(6)]
        except DataError:
            continue
        bound = models[0].price_bound_
        assert all(model.price_bound_.value == bound.value for model in models)
        assert bound.conditions[1].holds is True  # the cuts are those of the bound's components
        assert bound.holds is bound.conditions[0].holds
        prices = [model.price_ for model in models]
        assert np.mean(prices) <= bound.value + 4 * np.std(prices) / math.sqrt(6) + 1e-9
        held += bound.holds
    assert held > 1


def test_the_own_bound_is_that_of_similarities_over_all_pairs():
    X, y = balls(np.random.default_rng(0), [[0, 0], [3, 0], [0, 3]], [20, 30, 40], 0.03)
    model = KernelMMDT(gamma=0.5, random_state=0).fit(X, y)
    samples = [X[y == c] for c in range(3)]
    similar = [measure(samples, kernel=model.kernel_) for measure in (axis_similarity, within_similarity)]
    asked = {"weights": [20, 30, 40], "cuts": model.cuts_, "drawn": True}
    paper, middle = (bound(*similar, **asked) for bound in (kernel_price_bound, midpoint_kernel_price_bound))
    assert paper.holds is middle.holds is True
    assert model.price_bound_.value == pytest.approx(min(paper.value, middle.value))
    assert model.price_bound_.holds is True
    assert model.price_bound_.value < model.price_ceiling_
    assert pickle.loads(pickle.dumps(model)).price_bound_ == model.price_bound_
    unread = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    with pytest.raises(DataError, match="holds no rows"):
        unread.price_bound_  # noqa: B018
    assert KernelMMDT(gamma=0.5, prototype="medoid").fit(X, y).price_bound_.holds is None
    assert model.fit(X, np.minimum(y, 1)).price_bound_.value != paper.value
    many = np.concatenate([X, X + 1e-4])[np.arange(1100) % 180] + 1e-6 * np.arange(1100)[:, None]
    assert KernelMMDT(gamma=0.5).fit(many, np.arange(1100) % 180 % 90 > 20).price_bound_.estimated


def test_a_tree_of_a_mixture_has_a_bound_on_its_price_that_holds():
    held = 0
    for seed in seeds(12):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        mixture = Mixture(rng.uniform(1, 3, k), rng.uniform(-9, 9, (k, d)), rng.uniform(1e-5, 1e-3, (k, d)))
        kernel, axis = (Gaussian, Laplace)[seed % 2](10 ** rng.uniform(-2, 0)), AXES[seed // 2 % 2]
        try:
            models = [KernelMMDT(kernel=kernel, axis=axis, random_state=s).fit_mixture(mixture) for s in range(6)]
        except DataError:
            continue
        bound = models[0].price_bound_
        assert models[0].tree_ == kernel_mmdt_of_mixture(mixture, kernel=kernel, axis=axis, random_state=0)
        assert all(model.price_bound_.value == bound.value for model in models)
        assert bound.holds is bound.conditions[0].holds
        found = [kernel_mixture_price(mixture, m.tree_, kernel=kernel, centers="reference") for m in models]
        prices, errors = [price.value for price in found], [price.standard_error for price in found]
        spread = np.std(prices) / math.sqrt(6) + max(errors)
        assert np.mean(prices) <= bound.value + 4 * spread + 1e-9
        held += bound.holds
    assert held > 1


def test_a_model_of_a_mixture_has_no_facts_on_rows():
    mixture = Mixture([0.5, 0.5], [[0.0], [1.3]], [[0.64], [0.25]], names=["low", "high"])
    model = KernelMMDT(gamma=0.7, prototype="medoid").fit([[0.0], [9.0]], [0, 1]).fit_mixture(mixture)
    assert model.n_leaves_ == 2
    assert model.price_bound_.holds is None  # of medoids nothing is proved
    assert model.predict([[1.3]]).tolist() == ["high"]
    assert not hasattr(model, "explanation_")
    assert pickle.loads(pickle.dumps(model)).price_bound_ == model.price_bound_
    with pytest.raises(ValueError, match="gamma='auto' is still to be found from rows"):
        KernelMMDT().fit_mixture(mixture)
    with pytest.raises(DataError, match="only one"):
        KernelMMDT(gamma=0.7).fit_mixture(Mixture([1.0], [[0.0]], [[1.0]]))


def test_the_own_bound_leaves_out_clusters_without_rows():
    X, y = balls(np.random.default_rng(0), [[0, 0], [3, 0], [0, 3]], [20, 30, 40], 0.03)
    of_three = FrozenEstimator(KMeans(3, init=[[0, 0], [3, 0], [0, 3]], n_init=1).fit(X))
    model = KernelMMDT(of_three, gamma=0.5, random_state=0).fit(X[y != 1])
    assert model.reference_.n_clusters == 3
    alone = KernelMMDT(gamma=0.5, random_state=0).fit(X[y != 1], y[y != 1])
    assert model.price_bound_.holds is True
    assert model.price_bound_.value == pytest.approx(alone.price_bound_.value)


def test_agreement_counts_kept_rows_by_weight():
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0], [5.0]])
    labels, weights = np.array([0, 0, 1, 1, 1, 1, -1]), np.array([1.0, 2, 3, 4, 5, 6, 7])
    model = KernelMMDT(gamma=0.01, prototype="medoid").fit(X, labels, weights)
    wrong = weights[:6][model.labels_[:6] != labels[:6]].sum()
    assert 0 < wrong < 21
    assert model.agreement_.matched == pytest.approx(1 - wrong / 21)


def test_the_estimator_with_clusterers():
    X, labels = balls(np.random.default_rng(0), [[0, 0], [3, 0], [0, 3]], [40, 50, 60], 0.1)
    model = KernelMMDT(n_clusters=3, kernel="laplace", random_state=0).fit(X)
    assert isinstance(model.clusterer_, KernelKMeans)
    assert model.kernel_ == Laplace("auto").fitted(X)
    assert sorted(model.tree_.leaf_clusters) == [0, 1, 2]
    wide = X * [1.0, 1000.0]
    piped = KernelMMDT(make_pipeline(StandardScaler(), KMeans(3, n_init=10, random_state=0)), random_state=0).fit(wide)
    scaled = StandardScaler().fit_transform(wide)
    alone = KernelMMDT(random_state=0).fit(scaled, piped.reference_.labels)
    assert (piped.predict(wide) == alone.predict(scaled)).all()
    with pytest.raises(ValueError, match="must multiply over axes"):
        KernelMMDT(kernel="linear").fit(X, labels)
