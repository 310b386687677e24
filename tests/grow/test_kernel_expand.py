"""Expansion in a kernel's space: equal to enumeration, exact under permutation, the papers' instances."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from boxwood import KernelExKMC, KernelExpand, KernelIMM, KernelKMeans
from boxwood.errors import DataError, StoppedEarlyWarning
from boxwood.grow import cart, expand, imm, kernel_imm
from boxwood.grow.shared.costs import make_problem
from boxwood.kernels import (
    Gaussian,
    Hellinger,
    Laplace,
    Linear,
    Neighborhood,
    Polynomial,
    Precomputed,
    ProductKernel,
    as_kernel,
)
from boxwood.metrics import agreement, cost, kernel_cost, partition_cost, price_ceiling, price_of_explainability
from boxwood.reference import Reference, Task
from boxwood.theory.instances import far_point, split_middle
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case, tree_on_rows
from tests.grow.test_expand import CUTS, problem
from tests.scale import seeds, share


def cauchy(t):
    return 1 / (1 + t**2)


def cauchy_inverse(level):
    return np.sqrt(1 / level - 1)


KERNELS = (
    Gaussian(0.3),
    Laplace((0.2, 1.0, 0.5, 0.1)),
    ProductKernel(cauchy, cauchy_inverse),
    Neighborhood(1.5),
    Gaussian("scale"),
    Laplace("median"),
)


def kernel_for(seed, X):
    kernel = KERNELS[seed % len(KERNELS)]
    return Laplace(kernel.gamma[: X.shape[1]]) if kernel == KERNELS[1] else kernel


def expanded(*args, **kwargs) -> ThresholdTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        return expand(*args, **kwargs)


def distances_of(X, reference, weights, kernel):
    """Return what `expand` takes for the costs of all rows, those left out included as zeros."""
    costs = make_problem(Task.of(X, reference, sample_weight=weights), "cost", as_kernel(kernel))
    found = np.zeros((len(X), reference.n_clusters))
    found[costs.kept] = costs.costs(np.flatnonzero(costs.kept))
    return found


def rounded(seed, *, max_rows):
    """Return a problem whose values are few and of moderate size, so that rows repeat and cuts tie."""
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, max_rows=max_rows)
    X = rng.integers(-3, 4, size=X.shape) + labels[:, None] if seed % 2 else rng.normal(size=X.shape) + labels[:, None]
    return X.astype(float), Reference.of(X, labels, sample_weight=weights), weights


# --------------------------------------------------------------------------------------------------- the twin


@pytest.mark.parametrize(("cuts", "max_rows"), [("threshold", 30), ("interval", 20)])
def test_equals_enumeration(cuts, max_rows):
    for seed in seeds(60):
        X, reference, weights = problem(seed, max_rows=max_rows)
        rng, kernel = np.random.default_rng(seed), kernel_for(seed, X)
        start = tree_on_rows(rng, X, reference.n_clusters, int(rng.integers(1, 5)), 0.5) if rng.random() < 0.5 else None
        m = (1 if start is None else start.n_leaves) + int(rng.integers(0, 7))
        nested = None if start is None else start.to_dict()
        distances = distances_of(X, reference, weights, kernel)
        twin = naive.expand(
            nested, X, reference.labels, reference.centers, m, cuts=cuts, weights=weights, distances=distances
        )
        tree = expanded(start, X, reference, max_leaf_nodes=m, cuts=cuts, kernel=kernel, sample_weight=weights)
        assert tree == ThresholdTree.from_dict(_unnumbered(twin)), seed


@pytest.mark.parametrize(("cuts", "max_rows"), [("threshold", 12), ("interval", 8)])
def test_looking_ahead_equals_enumeration(cuts, max_rows):
    used = 0
    for seed in seeds(40):
        rng, kernel = np.random.default_rng(seed), (Gaussian(2.0), Laplace(1.5), Polynomial(2, 1.0))[seed % 3]
        X = rng.integers(0, 3, size=(int(rng.integers(4, max_rows)), 2)).astype(float)
        labels = ((X[:, 0] > 1) ^ (X[:, 1] > 0)).astype(int) if seed % 2 else rng.integers(0, 3, size=len(X))
        reference = Reference.of(X, labels)
        options = {"cuts": cuts, "tol": (0.0, 0.05, 0.2)[seed % 3]}
        tree = expanded(None, X, reference, max_leaf_nodes=5, kernel=kernel, look_ahead=True, **options)
        distances = distances_of(X, reference, None, kernel)
        twin = naive.expand(None, X, labels, reference.centers, 5, look_ahead=True, distances=distances, **options)
        assert tree == ThresholdTree.from_dict(_unnumbered(twin)), seed
        used += tree != expanded(None, X, reference, max_leaf_nodes=5, kernel=kernel, **options)
    assert used > share(2)


def _unnumbered(d):
    return {key: _unnumbered(value) if isinstance(value, dict) else value for key, value in d.items() if key != "leaf"}


def test_costs_are_distances_to_kernel_means():
    for seed in seeds(300):
        X, reference, weights = rounded(seed, max_rows=30)
        kernel = kernel_for(seed, X).fitted(X)
        K = kernel(X)
        kept = reference.kept if weights is None else reference.kept & (weights > 0)
        expected = np.array(naive.kernel_distances(K, np.diag(K), reference.labels, reference.n_clusters, weights))
        if not kernel.positive_definite:  # shifted by row where one is below 0
            expected -= np.minimum(expected.min(axis=1), 0.0)[:, None]
        found = distances_of(X, reference, weights, kernel)
        np.testing.assert_allclose(found[kept], expected[kept], atol=1e-11)


def test_costs_are_the_same_numbers_in_any_order_and_for_repeated_rows():
    for seed in seeds(150):
        X, reference, weights = rounded(seed, max_rows=40)
        rng, kernel = np.random.default_rng(seed), (Gaussian(0.3), Laplace(0.5), Polynomial(2, 1.0))[seed % 3]
        p = rng.permutation(len(X))
        of_permuted = None if weights is None else weights[p]
        permuted = distances_of(X[p], Reference(reference.labels[p], reference.centers), of_permuted, kernel)
        assert (permuted == distances_of(X, reference, weights, kernel)[p]).all()
        times = rng.integers(1, 4, size=len(X))
        repeated = Reference(np.repeat(reference.labels, times), reference.centers)
        of_repeated = distances_of(np.repeat(X, times, axis=0), repeated, None, kernel)
        weighted = distances_of(X, reference, times.astype(float), kernel)
        assert (of_repeated == np.repeat(weighted, times, axis=0)).all()


# ------------------------------------------------------------------------------------------------- properties


@pytest.mark.parametrize("cuts", CUTS)
def test_a_linear_kernel_gives_the_tree_of_squared_distances(cuts):
    different = 0
    for seed in seeds(50):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(3, 40)), int(rng.integers(1, 4))))
        labels = np.append([0, 1], rng.integers(-1, 4, size=len(X) - 2))
        weights = rng.random(len(X)) + 0.1 if seed % 2 else None
        reference = Reference.of(X, labels, sample_weight=weights)
        start = tree_on_rows(rng, X, reference.n_clusters, int(rng.integers(1, 5)), 0.5)
        options = {"max_leaf_nodes": 8, "cuts": cuts, "sample_weight": weights}
        linear = expanded(start, X, reference, kernel="linear", **options)
        assert linear == expanded(start, X, reference, **options)
        different += linear != expanded(start, X, reference, kernel=Gaussian(2.0), **options)
    assert different > 12  # the kernel does matter


def test_more_leaves_never_cost_more_and_trees_are_nested():
    for seed in seeds(40):
        X, reference, weights = problem(seed, max_rows=40)
        kernel, cuts = kernel_for(seed, X), CUTS[seed % 2]
        distances = distances_of(X, reference, weights, kernel)
        shares = reference.kept * (np.ones(len(X)) if weights is None else weights)
        smaller, before = None, math.inf
        for m in range(1, 9):
            tree = expanded(None, X, reference, max_leaf_nodes=m, cuts=cuts, kernel=kernel, sample_weight=weights)
            after = math.fsum(shares * distances[np.arange(len(X)), tree.predict(X)])
            assert after <= before * (1 + 1e-12)
            if smaller is not None:
                assert after < before or tree == smaller
                assert len(set(zip(tree.apply(X), smaller.apply(X), strict=True))) == len(set(tree.apply(X)))
            smaller, before = tree, after


def test_order_of_rows_repetition_and_layout_change_nothing():
    for seed in seeds(50):
        X, reference, weights = rounded(seed, max_rows=40)
        rng, kernel = np.random.default_rng(seed), (Gaussian(0.3), Laplace(0.5), Neighborhood(1.5))[seed % 3]
        options = {"max_leaf_nodes": 8, "cuts": CUTS[seed % 2], "kernel": kernel}
        tree = expanded(None, X, reference, sample_weight=weights, **options)

        p = rng.permutation(len(X))
        permuted = Reference(reference.labels[p], reference.centers)
        assert tree == expanded(None, X[p], permuted, sample_weight=None if weights is None else weights[p], **options)
        assert tree == expanded(None, np.asfortranarray(X), reference, sample_weight=weights, n_jobs=1, **options)

        times = rng.integers(0, 4, size=len(X))
        times[np.flatnonzero(reference.kept)[0]] = 1
        repeated = Reference(np.repeat(reference.labels, times), reference.centers)
        weighted = expanded(None, X, reference, sample_weight=times, **options)
        assert weighted == expanded(None, np.repeat(X, times, axis=0), repeated, **options)


def test_rows_left_out_matter_to_a_bandwidth_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    reference = Reference.of(X, np.append(rng.integers(0, 3, size=40), [-1] * 20))
    alone = Reference(reference.labels[:40], reference.centers)
    X[40:] *= 100
    for kernel in (Gaussian(0.5), Polynomial(2, 1.0)):
        options = {"max_leaf_nodes": 6, "kernel": kernel}
        assert expanded(None, X, reference, **options) == expanded(None, X[:40], alone, **options)
    tree = expanded(None, X, reference, max_leaf_nodes=6, kernel="gaussian")
    assert tree == expanded(None, X, reference, max_leaf_nodes=6, kernel=Gaussian("auto").fitted(X))
    assert tree != expanded(None, X[:40], alone, max_leaf_nodes=6, kernel="gaussian")


def test_mistakes_do_not_look_at_the_kernel():
    for seed in seeds(50):
        X, reference, weights = problem(seed, max_rows=30)
        options = {"max_leaf_nodes": 6, "objective": "mistakes", "sample_weight": weights}
        assert expanded(None, X, reference, kernel="laplace", **options) == expanded(None, X, reference, **options)


def test_centres_do_not_matter():
    X = np.random.default_rng(0).normal(size=(40, 2))
    labels = (np.linalg.norm(X, axis=1) > 1).astype(int)
    trees = [
        expanded(None, X, Reference(labels, centers), max_leaf_nodes=5, cuts="interval", kernel=Gaussian(1.0))
        for centers in (np.zeros((2, 2)), [[5.0, 5.0], [9.0, 9.0]])
    ]
    assert trees[0] == trees[1]


def test_a_cluster_without_rows_has_no_leaf():
    X = np.array([[0.0], [1.0], [8.0], [9.0], [9.0]])
    for labels in ([1, 1, 2, 2, 2], [1, 1, 1, 1, 1], [2, 2, 0, 0, 0]):
        reference = Reference(labels, np.zeros((4, 1)))
        for kernel in (Gaussian(1.0), Linear(), Neighborhood(0.5)):
            tree = expanded(None, X, reference, max_leaf_nodes=5, kernel=kernel)
            assert set(tree.leaf_clusters) <= set(labels)
    same = expanded(
        None, [[3.0]] * 4, Reference([1, 1, 2, 2], np.zeros((3, 1))), max_leaf_nodes=1, kernel=Gaussian(1.0)
    )
    assert same.leaf_clusters.tolist() == [1]  # all costs are 0, and cluster 0 has no rows


# ------------------------------------------------------------------------------------------- instances of the papers


@pytest.mark.parametrize(
    ("e", "expected", "surrogate"), [(0.1, 9.6667, 14.3333), (0.05, 40.7778, 61), (0.01, 1089.6667, 1634.3333)]
)
def test_from_the_root_the_price_is_unbounded(e, expected, surrogate):
    # Theorem 6 of Fleissner, Vankadara, Ghoshdastidar (T-16), for which the linear kernel is enough
    X, _, reference, exact = (instance := split_middle(e)).points, instance.weights, instance.reference, instance.exact
    first = expand(None, X, reference, max_leaf_nodes=2, kernel="linear")
    assert first.upper[0] == pytest.approx(0, abs=1e-12)
    tree = expand(None, X, reference, max_leaf_nodes=3, kernel="linear")
    assert (exact["price"], exact["surrogate_price"]) == pytest.approx((expected, surrogate), abs=5e-5)
    leaves = tree.apply(X)
    found = sum(((X[leaves == leaf] - X[leaves == leaf].mean(axis=0)) ** 2).sum() for leaf in range(3))
    assert found / exact["cost"] == pytest.approx(exact["price"])
    assert cost(X, tree, centers=reference.centers) / exact["cost"] == pytest.approx(exact["surrogate_price"])
    assert exact["printed_bound"] > exact["surrogate_price"] > exact["price"]
    assert price_of_explainability(X, imm(X, reference), reference, kernel="linear") == pytest.approx(1)


@pytest.mark.parametrize(("v", "expected"), [(10.0, 0.5507), (100.0, 6.5656), (1000.0, 618.08)])
def test_mistakes_and_purity_alone_have_unbounded_price(v, expected):
    # Remark 2 of Fleissner, Vankadara, Ghoshdastidar (T-14)
    instance = far_point(v)
    X, reference, exact = instance.points, instance.reference, instance.exact
    assert exact["price"] == pytest.approx(expected, rel=1e-4)
    assert partition_cost(X, reference.labels, centers=reference.centers) == pytest.approx(exact["cost"])
    centers = [X[reference.labels == c] for c in range(3)]
    assert np.array_equal([rows.mean(axis=0) for rows in centers], reference.centers)
    nearest = ((X[:, None] - reference.centers) ** 2).sum(axis=2).argmin(axis=1)
    assert nearest.tolist() == reference.labels.tolist()  # Lloyd's algorithm stays
    for tree in (
        expand(None, X, reference, max_leaf_nodes=3, objective="mistakes", kernel="linear"),
        cart(X, reference.labels, max_leaf_nodes=3),
    ):
        assert _price_of_leaves(X, tree, exact["cost"]) == pytest.approx(exact["price"])
    inner = {"feature": 0, "threshold": -2.0, "left": {"cluster": 0}, "right": {"cluster": 1}}
    best = ThresholdTree.from_dict({"feature": 1, "threshold": 4.0, "left": inner, "right": {"cluster": 2}})
    assert _price_of_leaves(X, best, exact["cost"]) == pytest.approx(exact["best_price"])


def _price_of_leaves(X, tree, cost_of_reference) -> float:
    leaves = tree.apply(X)
    parts = [X[leaves == leaf] for leaf in range(tree.n_leaves)]
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts) / cost_of_reference


def test_instances_refuse_parameters_that_do_not_fit():
    for bad in (0.0, 0.5, -1.0):
        with pytest.raises(ValueError, match="e must be at least 1e-150 and below"):
            split_middle(bad)
    for v, copies in ((4.0, 50), (9.0, 1)):
        with pytest.raises(ValueError, match=r"far_point needs|copies must be at least 2"):
            far_point(v, copies)


def test_a_ring_needs_a_kernel_and_intervals():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, size=600), np.repeat([0.5, 3.0], 300) + 0.1 * rng.normal(size=600)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    labels = np.repeat([0, 1], 300)
    reference = Reference.of(X, labels)
    tree = expanded(None, X, reference, max_leaf_nodes=3, kernel=Gaussian(1.0), cuts="interval")
    assert (tree.predict(X) == labels).mean() > 0.99
    plain = expanded(None, X, reference, max_leaf_nodes=3, cuts="interval")
    assert (plain.predict(X) == labels).mean() < 0.9


# ------------------------------------------------------------------------------------------------- edge cases


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_sizes_far_from_one(size):
    X = np.array([[-1.0, 1.0], [-0.75, 1.0], [0.75, 1.0], [1.0, 1.0]]) * size
    reference = Reference.of(X, [0, 0, 1, 1])
    for kernel in ("gaussian", "laplace", Laplace("median"), Gaussian(1 / size**2)):
        tree = expand(None, X, reference, max_leaf_nodes=2, kernel=kernel)
        assert tree.predict(X).tolist() == [0, 0, 1, 1]
        for weight in (5e-324, 1e-300, 1e300):
            weighted = expand(None, X, reference, max_leaf_nodes=2, kernel=kernel, sample_weight=np.full(4, weight))
            assert weighted.predict(X).tolist() == [0, 0, 1, 1]


def test_zeros_of_both_signs_and_float32():
    X = np.array([[-0.0], [0.0], [-0.0], [1.0], [1.0]], dtype=np.float32)
    reference = Reference.of(X, [0, 0, 0, 1, 1])
    for kernel in (Gaussian(1.0), Hellinger()):
        tree = expand(None, X, reference, max_leaf_nodes=2, kernel=kernel)
        assert tree == expand(None, X.astype(float), reference, max_leaf_nodes=2, kernel=kernel)
        assert tree.predict(X).tolist() == [0, 0, 0, 1, 1]


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3)) + rng.integers(0, 4, size=3000)[:, None]
    reference = Reference.of(X, rng.integers(0, 3, size=len(X)))
    trees = [expanded(None, X, reference, max_leaf_nodes=8, kernel=Gaussian(0.5), n_jobs=j) for j in (1, 2, 5)]
    assert trees[0].n_leaves == 8
    assert trees[0] == trees[1] == trees[2]


def test_what_is_refused():
    X, reference = np.array([[0.0], [1.0], [8.0], [9.0]]), Reference([0, 0, 1, 1], [[0.5], [8.5]])
    for error, match, rows, kernel in [
        (ValueError, "kernel must be a Kernel or one of", X, "gauss"),
        (ValueError, "another function than the additive", X, "chi2"),
        (DataError, "a precomputed kernel does not know", X, Precomputed()),
        (DataError, "values of at least 0", X - 1, "hellinger"),
        (DataError, "too large for the kernel", X * 1e200, "linear"),
    ]:
        with pytest.raises(error, match=match):
            expand(None, rows, reference, max_leaf_nodes=2, kernel=kernel)
    with pytest.warns(StoppedEarlyWarning, match="no single further cut lowers the cost"):
        expand(None, [[1.0]] * 4, reference, max_leaf_nodes=2, kernel=Gaussian(1.0))


# ------------------------------------------------------------------------------------------------- estimators

ESTIMATORS = (KernelExKMC, KernelExpand)


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, size=300), np.repeat([0.5, 2.5], 150) + 0.1 * rng.normal(size=300)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.repeat(["inner", "outer"], 150)


@pytest.mark.full  # on the base of Kernel IMM
@parametrize_with_checks([KernelExKMC()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.full  # on the same base as the one above
@parametrize_with_checks([KernelExpand()])
def test_scikit_learn_on_the_other(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "objective"), [(KernelExKMC, "cost"), (KernelExpand, "mistakes")])
def test_the_estimators_trees_and_prices(estimator, objective, rings):
    X, y = rings
    model = estimator(gamma=0.5, max_leaf_nodes=4).fit(X, y)
    kernel, reference = Gaussian(0.5), Reference.of(X, y)
    begin = kernel_imm(X, reference, kernel=kernel)
    options = {"max_leaf_nodes": 4, "objective": objective, "kernel": kernel}
    assert begin.n_leaves == 2
    assert model.tree_ == expand(begin, X, reference, cuts="interval", **options)
    assert model.kernel_ == kernel
    assert model.price_ == pytest.approx(price_of_explainability(X, model.tree_, reference, kernel=kernel))
    assert model.price_ceiling_ == pytest.approx(price_ceiling(X, reference, kernel=kernel))
    assert model.agreement_ == agreement(y, model.labels_)
    assert model.price_ <= KernelIMM(gamma=0.5).fit(X, y).price_
    assert model.score(X) * len(X) == pytest.approx(-kernel_cost(X, model.tree_, kernel=kernel))
    assert (model.predict(X) == model.labels_).all()
    assert (model.labels_ == y).mean() > 0.95
    root = estimator(gamma=0.5, max_leaf_nodes=4, base="root", cuts="threshold").fit(X, y)
    assert root.tree_ == expanded(None, X, reference, **options)
    assert np.isinf(root.tree_.lower).all()
    assert clone(model).fit(X, y).tree_ == model.tree_


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_default_leaves_clusterers_and_frames(estimator, rings):
    X, y = rings
    model = estimator(n_clusters=3, random_state=0).fit(X)
    assert isinstance(model.clusterer_, KernelKMeans)
    assert model.kernel_ == Gaussian("auto").fitted(X)
    assert 3 <= model.n_leaves_ <= 6
    laplace = estimator(kernel="laplace", gamma="median").fit(X, y)
    assert laplace.kernel_ == Laplace("median").fitted(X)
    spectral = estimator(SpectralClustering(2, gamma=2.0, random_state=0), gamma=0.5).fit(X)
    assert spectral.n_leaves_ <= 4
    frame = pd.DataFrame(X, columns=["east", "north"])
    assert estimator(gamma=0.5).fit(frame, y).tree_ == estimator(gamma=0.5).fit(X, y).tree_
    weights = np.random.default_rng(0).integers(1, 3, size=len(X))
    weighted = estimator(gamma=0.5).fit(X, y, sample_weight=weights)
    assert weighted.tree_ == estimator(gamma=0.5).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).tree_


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_behind_a_pipeline_the_kernel_sees_scaled_columns(estimator, rings):
    X = rings[0] * [1.0, 1000.0]
    model = estimator(make_pipeline(StandardScaler(), KernelKMeans(2, random_state=0)), gamma=1.0).fit(X)
    scaled = StandardScaler().fit_transform(X)
    alone = estimator(gamma=1.0).fit(scaled, model.reference_.labels)
    assert (model.predict(X) == alone.predict(scaled)).all()
    assert model.price_ == pytest.approx(alone.price_)


def test_any_kernel_from_the_root(rings):
    X, y = rings
    model = KernelExKMC(kernel=Polynomial(2, 1.0), base="root", max_leaf_nodes=3).fit(X, y)
    assert (model.labels_ == y).mean() > 0.8
    with pytest.raises(ValueError, match="Polynomial"):
        KernelExKMC(kernel=Polynomial(2, 1.0)).fit(X, y)
    with pytest.raises(DataError, match="precomputed"):
        KernelExKMC(kernel="precomputed", base="root").fit(X, y)
    with pytest.warns(StoppedEarlyWarning, match="of 90 leaves"):
        KernelExpand(gamma=0.5, max_leaf_nodes=90).fit(X, y)


def test_features_of_the_tree_to_begin_with():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) * 3
    y = (np.hypot(*X.T) > 3).astype(int)
    trees = {}
    for options in ({"features": "taylor", "n_terms": 1}, {"features": "distance", "n_landmarks": 3}):
        base = kernel_imm(X, Reference.of(X, y), kernel=Gaussian(0.2), **options)
        for estimator, objective in ((KernelExKMC, "cost"), (KernelExpand, "mistakes")):
            model = estimator(gamma=0.2, max_leaf_nodes=5, **options).fit(X, y)
            more = {"max_leaf_nodes": 5, "objective": objective, "cuts": "interval", "kernel": Gaussian(0.2)}
            assert model.tree_ == expanded(base, X, Reference.of(X, y), look_ahead=True, **more)
            trees[str(options), objective] = model.tree_
    assert len({tree.to_json() for tree in trees.values()}) > 2
    with pytest.raises(ValueError, match="n_terms"):
        KernelExKMC(n_terms=10**9).fit(X, y)
