"""Kernel k-means: no step raises the cost, starts equal the twin, and it keeps scikit-learn's conventions."""

import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import boxwood as bw
from boxwood import KernelKMeans, Reference
from boxwood.clusterers import _kernel_k_means
from boxwood.clusterers._kernel_k_means import lloyd, relax_labels, seeds
from boxwood.errors import DataError
from boxwood.kernels import Gaussian, Laplace, Linear, Neighborhood, Polynomial, kernel_distances
from tests import naive, scale
from tests.cases import make_case

NOT_EQUIVALENT = {
    "check_sample_weight_equivalence_on_dense_data": "landmarks are drawn among rows, whatever they weigh"
}


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:.*clusters asked for were found")  # the tables of some checks have few rows
@parametrize_with_checks(
    [
        KernelKMeans(3, n_components=8),
        *scale.variants(
            KernelKMeans(), KernelKMeans(3, kernel=Laplace("median"), n_init=2), KernelKMeans(3, cache_size=0)
        ),
    ],
    expected_failed_checks=lambda est: NOT_EQUIVALENT if est.n_components else {},
)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def circles(n, rng):
    angle = rng.uniform(0, 2 * np.pi, size=2 * n)
    radius = np.repeat([0.3, 3.0], n) + rng.normal(scale=0.05, size=2 * n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.repeat([0, 1], n)


def problem(seed):
    """Return a table, its Gram matrix, weights and first labels, some clusters without rows."""
    X, labels, weights = make_case(seed, max_rows=14)
    rng = np.random.default_rng(seed)
    kernel = [Gaussian("scale"), Laplace("median"), Gaussian("median")][seed % 3].fitted(X)
    k = int(labels.max()) + 1
    weights = np.ones(len(X)) if weights is None else weights.copy()
    if seed % 4 == 0 and len(X) > k + 1:
        weights[rng.integers(len(X))] = 0.0
    start = rng.integers(0, k if seed % 5 else 1, size=len(X))
    return X, kernel, weights, start, k


# ------------------------------------------------------------------------------------------------------ iteration


def test_iteration_equals_the_twin_and_never_raises_the_cost():
    differ = refilled = 0
    for seed in scale.seeds(400):
        X, kernel, weights, start, k = problem(seed)
        K = kernel(X)
        labels, costs = naive.kernel_kmeans(K.tolist(), start.tolist(), k, weights.tolist())
        (run,) = lloyd(kernel.gram(X), np.diagonal(K), weights, [start], k, 300, 0.0, 1)
        assert run.cost == pytest.approx(costs[-1], rel=1e-9, abs=1e-11), f"seed {seed}"
        differ += (run.labels != labels)[weights > 0].any()
        refilled += len(set(labels)) > len(set(start.tolist()))
        assert (np.diff(costs) <= 1e-12 * weights.sum()).all()
    assert differ <= 2  # steps that gain as little as rounding
    assert refilled > scale.share(80)


def test_no_iteration_raises_the_cost():
    for seed in scale.seeds(20):
        rng = np.random.default_rng(seed)
        X, k = rng.normal(size=(200, 3)), int(rng.integers(2, 9))
        kernel = [Gaussian(1.0), Laplace(0.5), Polynomial(2, 1.0), Linear()][seed % 4]
        gram, weights = kernel.gram(X), rng.uniform(size=200) if seed % 2 else np.ones(200)
        start = rng.integers(0, k, size=200)
        costs = [lloyd(gram, kernel.diagonal(X), weights, [start], k, m, 0.0, 1)[0].cost for m in range(1, 15)]
        assert (np.diff(costs) <= 1e-12 * costs[0]).all()
        assert costs[-1] < costs[0]
        (run,) = lloyd(gram, kernel.diagonal(X), weights, [start], k, 300, 0.0, 1)
        assert run.cost == pytest.approx(naive.kernel_cost(kernel(X).tolist(), run.labels.tolist(), weights.tolist()))
        assert len(np.unique(run.labels)) == k


def test_starts_side_by_side_are_the_starts_one_by_one():
    X = np.random.default_rng(0).normal(size=(300, 2))
    kernel, k = Gaussian(1.0), 6
    gram, diagonal, weights = kernel.gram(X), kernel.diagonal(X), np.ones(300)
    starts = [np.random.default_rng(i).integers(0, k, size=300) for i in range(4)]
    together = lloyd(gram, diagonal, weights, starts, k, 300, 0.0, 2)
    for run, start in zip(together, starts, strict=True):
        (alone,) = lloyd(gram, diagonal, weights, [start], k, 300, 0.0, 1)
        assert np.array_equal(run.labels, alone.labels)
        assert run.cost == pytest.approx(alone.cost, rel=1e-12)
        assert run.n_iter == alone.n_iter


def test_seeds_are_far_apart():
    X, y = make_blobs(200, centers=[[0, 0], [50, 0], [0, 50], [50, 50]], random_state=0)
    kernel = Gaussian(0.01)
    for seed in scale.seeds(20):
        labels = seeds(
            kernel.gram(X), np.ones(200), np.ones(200), 4, np.random.RandomState(seed), np.lexsort(X.T[::-1])
        )
        assert adjusted_rand_score(y, labels) == 1


def test_seeds_are_drawn_in_proportion_to_weight_times_squared_distance():
    X, weights = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 2.0, 1.0])
    random, first, second = np.random.RandomState(0), np.zeros(3), np.zeros((3, 3))
    line = np.arange(3)
    gram, diagonal = Linear().gram(X), Linear().diagonal(X)
    from boxwood.clusterers._k_medians import draw_by_chances
    from boxwood.clusterers._kernel_k_means import _between

    for _ in range(4000):
        (a,) = draw_by_chances(weights, line, random, 1)
        first[a] += 1
        (b,) = draw_by_chances(weights * _between(gram, diagonal, np.array([a]))[:, 0], line, random, 1)
        second[a, b] += 1
    np.testing.assert_allclose(first / 4000, weights / 4, atol=0.03)
    np.testing.assert_allclose(second[0] / second[0].sum(), np.array([0, 2, 9]) / 11, atol=0.05)


# ------------------------------------------------------------------------------------------------------ estimator


def test_the_linear_kernel_is_kmeans():
    X, _ = make_blobs(300, 3, centers=5, random_state=1)
    X -= X.mean(axis=0)
    model = KernelKMeans(5, kernel="linear", random_state=0).fit(X)
    plain = KMeans(5, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, plain.labels_) == 1
    assert model.inertia_ == pytest.approx(plain.inertia_)


def test_the_linear_kernel_far_from_zero():
    X, y = make_blobs(150, 3, centers=4, cluster_std=0.3, random_state=0)
    assert adjusted_rand_score(y, KernelKMeans(4, kernel="linear", random_state=0).fit_predict(X + 1e10)) == 1


def test_circles_that_no_kmeans_finds():
    for seed in range(5):
        X, y = circles(100, np.random.default_rng(seed))
        model = KernelKMeans(2, kernel=Gaussian(1.0), random_state=seed).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1
        assert adjusted_rand_score(y, KMeans(2, n_init=5, random_state=seed).fit_predict(X)) < 0.5
        new, y_new = circles(50, np.random.default_rng(seed + 100))
        assert adjusted_rand_score(y_new, model.predict(new)) == 1


def test_inertia_is_the_distance_to_the_nearest_mean():
    X, _ = make_moons(200, noise=0.1, random_state=0)
    weights = np.random.default_rng(0).uniform(size=200)
    model = KernelKMeans(4, kernel="laplace", random_state=0).fit(X, sample_weight=weights)
    D = kernel_distances(model.kernel_, X, model.labels_, 4, sample_weight=weights)
    assert np.array_equal(D.argmin(axis=1), model.labels_)  # it converged
    assert model.inertia_ == pytest.approx(weights @ D.min(axis=1))
    assert model.inertia_ == pytest.approx(
        naive.kernel_cost(model.kernel_(X).tolist(), model.labels_.tolist(), weights.tolist())
    )
    np.testing.assert_allclose(model.kernel_means_.distances(X), D, atol=1e-12)


def test_labels_are_what_predict_gives_on_tables_of_ties():
    fitted = 0
    for seed in scale.seeds(200):
        X, _, weights = make_case(seed, max_rows=20)
        kernel = [Gaussian("scale"), Laplace("median")][seed % 2]
        model = KernelKMeans(2 + seed % 3, kernel=kernel, n_init=2, max_iter=1 + seed % 4, random_state=seed)
        if len(np.unique(model.kernel.fitted(X)(X).round(6), axis=0)) < model.n_clusters:
            continue
        model.fit(X, sample_weight=weights)
        fitted += 1
        assert np.array_equal(model.predict(X), model.labels_), f"seed {seed}"
    assert fitted > scale.share(130)


def test_the_result_does_not_depend_on_threads_tiles_or_memory():
    X, _ = make_blobs(700, 4, centers=6, cluster_std=3.0, random_state=0)
    models = [
        KernelKMeans(6, random_state=0, n_init=3, **options).fit(X)
        for options in ({}, {"n_jobs": 2}, {"cache_size": 0}, {"cache_size": 0, "n_jobs": 3})
    ]
    for model in models[1:]:
        assert np.array_equal(model.labels_, models[0].labels_)
        assert model.inertia_ == pytest.approx(models[0].inertia_, rel=1e-12)
    assert models[0].inertia_ == models[1].inertia_
    assert models[2].inertia_ == models[3].inertia_


def test_many_rows_have_fewer_starts(monkeypatch):
    X, _ = make_blobs(40, 2, centers=3, random_state=0)
    found = []

    def counted(*arguments):
        found[-1] += 1
        return seeds(*arguments)

    monkeypatch.setattr(_kernel_k_means, "seeds", counted)
    for limit, n_init in ((1600, "auto"), (1599, "auto"), (1599, 5)):
        monkeypatch.setattr(_kernel_k_means, "LARGE_GRAM", limit)
        found.append(0)
        KernelKMeans(3, n_init=n_init, random_state=0).fit(X)
    assert found == [10, 3, 5]


def test_the_order_of_rows_and_repeated_rows_change_nothing():
    X, _ = make_blobs(60, 2, centers=3, cluster_std=2.0, random_state=3)
    weights = np.random.default_rng(0).integers(0, 4, size=60)
    model = KernelKMeans(3, random_state=0).fit(X, sample_weight=weights)
    order = np.random.default_rng(1).permutation(60)
    moved = KernelKMeans(3, random_state=0, kernel=model.kernel_).fit(X[order], sample_weight=weights[order])
    assert np.array_equal(moved.labels_, model.labels_[order])
    repeated = KernelKMeans(3, random_state=0, kernel=model.kernel_).fit(np.repeat(X, weights, axis=0))
    assert np.array_equal(repeated.predict(X), model.labels_)
    assert repeated.inertia_ == pytest.approx(model.inertia_)


def test_clusters_are_numbered_by_their_means():
    X, _ = make_blobs(90, 2, centers=[[5, 0], [-5, 0], [0, 9]], random_state=0)
    for seed in range(5):
        labels = KernelKMeans(3, random_state=seed).fit(X).labels_
        means = [X[labels == c, 0].mean() for c in range(3)]
        assert means == sorted(means)


def test_precomputed_is_the_kernel_itself():
    X, new = np.random.default_rng(0).normal(size=(80, 3)), np.random.default_rng(1).normal(size=(20, 3))
    kernel = Gaussian("scale").fitted(X)
    model = KernelKMeans(4, kernel=kernel, random_state=0).fit(X)
    given = KernelKMeans(4, kernel="precomputed", random_state=0, n_init=30).fit(kernel(X))
    assert given.inertia_ <= model.inertia_ * 1.05
    assert np.array_equal(given.predict(kernel(X)), given.labels_)
    first = [int(np.flatnonzero(given.labels_ == c)[0]) for c in range(4)]
    assert first == sorted(first)
    own = kernel_distances(kernel, X, given.labels_, 4, Y=new).argmin(axis=1)
    assert np.array_equal(given.predict(kernel(new, X)), own)
    with pytest.raises(DataError, match="symmetric"):
        KernelKMeans(2, kernel="precomputed").fit(np.triu(np.ones((5, 5))))
    with pytest.raises(DataError, match="Gram matrix"):
        KernelKMeans(2, kernel="precomputed").fit(np.ones((5, 4)))
    assert KernelKMeans(kernel="precomputed").__sklearn_tags__().input_tags.pairwise


def test_an_indefinite_kernel_may_be_clustered():
    X, y = make_blobs(60, 2, centers=[[0, 0], [30, 0]], random_state=0)
    assert adjusted_rand_score(y, KernelKMeans(2, kernel=Neighborhood(8.0), random_state=0).fit_predict(X)) == 1


def test_nystroem_comes_close():
    X, y = circles(300, np.random.default_rng(0))
    model = KernelKMeans(2, kernel=Gaussian(1.0), n_components=60, random_state=0, n_jobs=2).fit(X)
    exact = KernelKMeans(2, kernel=Gaussian(1.0), random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.approximation_error_.diagonal < 0.1
    assert model.approximation_error_.pairs < 0.01
    assert not hasattr(exact, "approximation_error_")
    assert model.inertia_ == pytest.approx(exact.inertia_, rel=0.1)
    finer = KernelKMeans(2, kernel=Gaussian(1.0), n_components=150, random_state=0).fit(X)
    assert finer.approximation_error_.diagonal < model.approximation_error_.diagonal


def test_labels_may_be_explained_and_models_copied():
    X, _ = make_moons(120, noise=0.05, random_state=0)
    model = KernelKMeans(2, kernel=Gaussian(5.0), random_state=0).fit(X)
    assert np.array_equal(Reference.from_estimator(model, X).labels, model.labels_)
    assert bw.IMM(clone(model)).fit(X).n_leaves_ == 2
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
    assert clone(model).get_params()["kernel"] == Gaussian(5.0)


@pytest.mark.parametrize("gamma", ["auto", "scale", "median", 0.5, (0.5, 2.0)])
def test_gamma_is_the_bandwidth_of_a_named_kernel(gamma):
    X, _ = circles(40, np.random.default_rng(0))
    for name, kind in (("gaussian", Gaussian), ("laplace", Laplace)):
        named = KernelKMeans(2, kernel=name, gamma=gamma, random_state=0).fit(X)
        made = KernelKMeans(2, kernel=kind(gamma), random_state=0).fit(X)
        assert named.kernel_ == made.kernel_
        assert np.array_equal(named.labels_, made.labels_)


@pytest.mark.parametrize(
    "options", [{"kernel": Gaussian(1.0)}, {"n_init": 2}, {"n_init": 2, "n_components": 3}], ids=str
)
def test_fewer_different_rows_than_clusters_give_fewer_clusters(options):
    for k in (3, 4, 8):
        X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            model = KernelKMeans(k, **options, random_state=0).fit(X)
        assert [warning.category for warning in noted] == [ConvergenceWarning] * (k > 3)
        assert model.labels_.tolist() == np.repeat([0, 1, 2], 4).tolist() == model.predict(X).tolist()
        assert model.inertia_ == pytest.approx(0, abs=1e-9)


def test_errors():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    with pytest.raises(DataError, match="n_samples=12 should be >= n_clusters=13"):
        KernelKMeans(13).fit(X)
    with pytest.raises(ValueError, match="kernel must be"):
        KernelKMeans(2, kernel="sigmoid").fit(X)
    with pytest.raises(ValueError, match="n_init"):
        KernelKMeans(2, n_init=0).fit(X)
    for kernel in (Gaussian(1.0), "linear"):
        with pytest.raises(ValueError, match="leave gamma out, or give the kernel by name"):
            KernelKMeans(2, kernel=kernel, gamma=2.0).fit(X)
    with pytest.raises(DataError, match="missing values"):
        KernelKMeans(2).fit([[math.nan], [1.0]])
    with pytest.raises(DataError, match="at least 0"):
        KernelKMeans(2, kernel="hellinger").fit(-X)
    assert KernelKMeans(2, kernel=Gaussian(1.0), cache_size=10**400).fit(X).labels_.max() == 1
    assert KernelKMeans(1, kernel=Gaussian(1.0)).fit(X).labels_.tolist() == [0] * 12
    assert KernelKMeans(3, kernel=Gaussian(1.0)).fit(X).inertia_ == 0


# ------------------------------------------------------------------------------------------------- the defaults


@pytest.mark.parametrize("n", [400, 1200])  # a start from all rows, and from some of them
def test_the_defaults_find_moons_and_rings(n):
    for seed in range(3 if n < 1000 else 1):
        moons = make_moons(n, noise=0.05, random_state=seed)
        rings = make_circles(n, noise=0.05, factor=0.3, random_state=seed)
        for X, classes in (moons, rings):
            assert adjusted_rand_score(classes, KernelKMeans(2, random_state=0).fit(X).labels_) > 0.9


def test_the_start_from_eigenvectors_helps_and_depends_on_nothing_else():
    better = 0
    for seed in scale.seeds(10):
        X, _ = make_moons(300, noise=0.05, random_state=seed)
        drawn, both = (KernelKMeans(2, n_init=n, random_state=0).fit(X) for n in (10, "auto"))
        assert both.inertia_ <= drawn.inertia_ * (1 + 1e-9)
        better += both.inertia_ < drawn.inertia_ * 0.999
    assert better >= 2
    rng = np.random.default_rng(0)
    p, times = rng.permutation(len(X)), rng.integers(0, 3, len(X))
    first = relaxed_of(X, np.ones(len(X)))
    assert (relaxed_of(X[p], np.ones(len(X))) == first[p]).all()
    weighted = relaxed_of(X, times.astype(float))
    assert (np.repeat(weighted, times) == relaxed_of(np.repeat(X, times, axis=0), np.ones(times.sum()))).all()


def relaxed_of(X, weights):
    """Return the labels, numbered in the order of the rows' values."""
    order = np.lexsort(X.T[::-1])
    labels = relax_labels(Gaussian(5.0).gram(X), weights, 2, order)
    return (labels != labels[order[weights[order] > 0][0]]).astype(int)


def test_the_start_from_eigenvectors_finds_the_best_of_far_groups():
    for seed in scale.seeds(20):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 7))
        classes = rng.permutation(np.repeat(np.arange(k), 8))
        X = 100.0 * classes[:, None] + rng.random((8 * k, 2))
        found = relax_labels(Gaussian(1.0).gram(X), np.ones(len(X)), k, np.lexsort(X.T[::-1]))
        assert adjusted_rand_score(classes, found) == 1
    same = relax_labels(Gaussian(1.0).gram(np.ones((5, 1))), np.ones(5), 3, np.arange(5))  # no eigenvectors to use
    assert same.tolist() == [same[0]] * 5
