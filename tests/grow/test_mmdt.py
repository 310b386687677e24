"""MMDT: equal to its twin, thresholds that no grid beats, the numbers of the papers, and the estimator."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, kstest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from boxwood import MMDT, Mixture, grow
from boxwood.errors import DataError
from boxwood.grow import mmdt
from boxwood.metrics import explainability_to_noise
from boxwood.reference import moments as moments_module
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case
from tests.scale import each, seeds, share

OBJECTIVES = ("tails", "chebyshev", "cantelli", "gaussian")


def make_mixture(seed, *, max_components=8, max_axes=4):
    """Return a small mixture of different means: ties, constant axes, neighbouring doubles, zero variances, 1e±12."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(1, max_components + 1)), int(rng.integers(1, max_axes + 1))
    means = np.column_stack([_means(rng, k) for _ in range(d)])
    spread = np.array([max(np.ptp(column), 1e-300) for column in means.T])
    kinds = [
        lambda: np.ones((k, d)),
        lambda: rng.gamma(1.0, size=(k, d)) * (0.1 * spread) ** 2,
        lambda: np.where(rng.random((k, d)) < 0.4, 0.0, (spread / k) ** 2),
        lambda: (spread * 10.0 ** rng.integers(-8, 1, size=(k, d))) ** 2,
        lambda: np.where(rng.random(d) < 0.5, 0.0, 1.0) * np.ones((k, d)),
    ]
    weights = np.ones(k) if rng.random() < 0.5 else rng.dirichlet(np.ones(k)) + 1e-6
    _, first = np.unique(means + 0.0, axis=0, return_index=True)
    return Mixture(weights[first], means[first], kinds[rng.integers(len(kinds))]()[first])


def _means(rng, k):
    kinds = [
        lambda: rng.normal(size=k),
        lambda: rng.integers(0, 4, size=k).astype(float),
        lambda: np.full(k, rng.normal()),
        lambda: 1.0 + rng.integers(0, 4, size=k) * np.spacing(1.0),
        lambda: 1e12 * rng.normal(size=k),
        lambda: 1e-12 * rng.normal(size=k),
        lambda: 1e12 + rng.permutation(k),
        lambda: 2.0 ** rng.integers(-40, 40, size=k),
        lambda: rng.choice([-0.0, 0.0, 1.0], size=k),
    ]
    return kinds[rng.integers(len(kinds))]()


def nodes(tree, mixture):
    """Yield axis, threshold and components of each cut."""
    stack = [(tree.to_dict(), list(range(mixture.n_components)))]
    while stack:
        d, components = stack.pop()
        if "cluster" in d:
            assert components == [d["cluster"]]
            continue
        j, threshold = d["feature"], d["threshold"]
        yield j, threshold, components
        is_left = mixture.means[components, j] <= threshold
        stack.append((d["right"], [c for c, left in zip(components, is_left, strict=True) if not left]))
        stack.append((d["left"], [c for c, left in zip(components, is_left, strict=True) if left]))


# ---------------------------------------------------------------------------------------------------- the tree


@pytest.mark.parametrize("axis", ["gap", "range"])
@pytest.mark.parametrize("pooling", ["weighted", "max"])
def test_equals_the_twin(axis, pooling):
    for seed in seeds(150):
        mixture = make_mixture(seed)
        deviations = np.sqrt(mixture.pooled_variances(pooling)).tolist()
        twin = ThresholdTree.from_dict(naive.mmdt(mixture.means.tolist(), deviations, axis))
        assert mmdt(mixture, axis=axis, pooling=pooling) == twin, f"seed {seed}"


def test_the_order_of_splits_does_not_matter():
    """Of all leaves always that with the largest ratio, as the paper writes it, ends in the same tree."""
    for seed in seeds(600):
        mixture = make_mixture(seed)
        deviations = np.sqrt(mixture.pooled_variances()).tolist()
        twin = naive.mmdt_by_largest_ratio(mixture.means.tolist(), deviations)
        assert mmdt(mixture) == ThresholdTree.from_dict(twin), f"seed {seed}"


@pytest.mark.crossed
@pytest.mark.parametrize("axis", ["gap", "range"])
@pytest.mark.parametrize("threshold", [*OBJECTIVES, "uniform", "midpoint"])
def test_each_mean_has_its_leaf(axis, threshold):
    for seed in seeds(80):
        mixture = make_mixture(seed)
        tree = mmdt(mixture, axis=axis, threshold=threshold, tie_break=("first", "random")[seed % 2], random_state=seed)
        assert tree.n_leaves == mixture.n_components
        assert tree.predict(mixture.means).tolist() == list(range(mixture.n_components))


def test_shifting_and_scaling_axes_moves_the_cuts_along():
    for seed in seeds(500):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(2, 8)), int(rng.integers(1, 5))
        means, variances = rng.normal(size=(k, d)), rng.gamma(2.0, size=(k, d))
        scale, shift = np.exp(rng.normal(size=d)), rng.normal(size=d)
        tree = mmdt(Mixture(np.ones(k), means, variances))
        moved = mmdt(Mixture(np.ones(k), means * scale + shift, variances * scale**2))
        assert (moved.feature == tree.feature).all()
        assert (moved.cluster == tree.cluster).all()
        cuts = tree.feature >= 0
        j = tree.feature[cuts]
        assert moved.upper[cuts] == pytest.approx(tree.upper[cuts] * scale[j] + shift[j], abs=1e-12)


def test_the_order_of_components_does_not_matter():
    for seed in seeds(250):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(2, 8)), int(rng.integers(1, 5))
        arrays = rng.dirichlet(np.ones(k)), rng.normal(size=(k, d)), rng.gamma(2.0, size=(k, d))
        order = rng.permutation(k)
        for threshold in ("midpoint", "tails"):
            tree = mmdt(Mixture(*arrays), threshold=threshold)
            other = mmdt(Mixture(*(array[order] for array in arrays)), threshold=threshold)
            assert (other.feature == tree.feature).all()
            assert other.upper == pytest.approx(tree.upper, rel=1e-12)
            assert (order[other.leaf_clusters] == tree.leaf_clusters).all()


def test_a_chain_as_deep_as_it_has_components():
    means = 3.0 ** np.arange(300)[:, None]
    tree = mmdt(Mixture(np.ones(300), means, np.ones((300, 1))))
    assert tree.depth == 299
    assert tree.upper[0] == means[-2:].mean()


def test_means_as_far_apart_as_doubles_are():
    mixture = Mixture([1, 1, 1], [[-1.7e308, 0], [1.7e308, 0], [1.7e308, 1]], np.ones((3, 2)))
    assert mmdt(mixture).upper[0] == 0
    assert explainability_to_noise(mixture) == (1.0, (1, 2), 1)


def test_many_components_and_many_axes():
    rng = np.random.default_rng(0)
    wide = Mixture(np.ones(3), rng.normal(size=(3, 10_000)), np.ones((3, 10_000)))
    assert mmdt(wide) == ThresholdTree.from_dict(naive.mmdt(wide.means.tolist(), np.ones(10_000).tolist()))
    tall = Mixture(np.ones(3000), rng.normal(size=(3000, 2)), np.ones((3000, 2)))
    assert mmdt(tall).predict(tall.means).tolist() == list(range(3000))


# -------------------------------------------------------------------------------------------- the papers' numbers


def test_three_components():  # T-05
    mixture = Mixture([0.5, 0.3, 0.2], [[0, 0], [6, 1], [3, 7]], [[1, 1.2**2]] * 3)
    assert mmdt(mixture).to_dict() == {
        "feature": 1,
        "threshold": 4.0,
        "left": {"feature": 0, "threshold": 3.0, "left": {"leaf": 0, "cluster": 0}, "right": {"leaf": 1, "cluster": 1}},
        "right": {"leaf": 2, "cluster": 2},
    }


def test_gap_and_range_choose_different_axes():  # T-06
    mixture = Mixture(np.ones(5), [[0, 0], [1, 0], [2, 0], [3, 0], [0, 2.5]], np.ones((5, 2)))
    assert mmdt(mixture, axis="range").feature[0] == 0
    assert (mmdt(mixture).feature[0], mmdt(mixture).upper[0]) == (1, 1.25)


@pytest.mark.parametrize(
    ("threshold", "expected"), [("chebyshev", 3.8648821), ("gaussian", 3.4836509), ("tails", 3.4705506)]
)
def test_two_components(threshold, expected):  # T-07
    mixture = Mixture([1, 1], [[0], [10]], [[1], [4]])
    assert mmdt(mixture, threshold=threshold).upper[0] == pytest.approx(expected, abs=5.1e-8)


def test_chebyshev_in_closed_form():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        (p, q), (a, b) = rng.dirichlet([1, 1]), rng.gamma(1.0, size=2)
        low, distance = rng.normal(), np.exp(rng.normal())
        found = mmdt(Mixture([p, q], [[low], [low + distance]], [[a], [b]]), threshold="chebyshev").upper[0]
        ratio = np.cbrt(p * a / (q * b))  # t / (D - t)
        assert found == pytest.approx(low + distance * ratio / (1 + ratio), rel=1e-12)


def test_cantelli_is_the_least_of_its_stationary_points():
    """Where two means are less than a few deviations apart the sum has several minima; its slope is a polynomial."""
    several = 0
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        (p, q), (a, b) = rng.dirichlet([1, 1]), np.exp(2 * rng.normal(size=2))
        distance = np.exp(1.5 * rng.normal())
        x, y = np.poly1d([1.0, 0.0]), np.poly1d([1.0, -distance])
        slope = (
            x * float(p * a) * (y * y + float(b)) ** 2 + y * float(q * b) * (x * x + float(a)) ** 2
        )  # times -1/2 of the two denominators
        roots = slope.roots[np.abs(slope.roots.imag) < 1e-9].real
        inside = np.concatenate([roots[(roots > 0) & (roots < distance)], [0.0, np.nextafter(distance, 0)]])
        losses = p * a / (a + inside**2) + q * b / (b + (inside - distance) ** 2)
        several += len(inside) > 3
        found = mmdt(Mixture([p, q], [[0.0], [distance]], [[a], [b]]), threshold="cantelli").upper[0]
        loss = p * a / (a + found**2) + q * b / (b + (found - distance) ** 2)
        assert loss == pytest.approx(losses.min(), rel=1e-12), f"seed {seed}"
    assert several > 3


# -------------------------------------------------------------------------------------------------- thresholds


def grid(values):
    """Return points of every gap: evenly spaced, and closer and closer to both ends."""
    values, shares = np.unique(values), 2.0 ** -np.arange(0.5, 60, 0.25)
    steps = np.concatenate([[0.0], shares, np.linspace(0, 1, 200)])
    points = []
    for a, b in pairwise(values):
        inside = np.concatenate([a + (b - a) * steps, b - (b - a) * steps])
        points.append(inside[(a <= inside) & (inside < b)])
    return np.concatenate(points)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_threshold_of_a_fine_grid_loses_less(objective):
    for seed in seeds(100):
        mixture = make_mixture(seed)
        for j, threshold, components in nodes(mmdt(mixture, threshold=objective), mixture):
            own = mixture.means[components, j], mixture.weights[components], mixture.variances[components, j]
            found = naive.log_losses(np.array([threshold]), *own, objective)[0]
            best = naive.log_losses(grid(own[0]), *own, objective).min()
            assert found == best or found <= best + 1e-9 * max(1, abs(best)), f"seed {seed}"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_axis_does_not_depend_on_the_threshold(objective):
    for seed in seeds(200):
        mixture = make_mixture(seed)
        deviations = np.sqrt(mixture.pooled_variances()).tolist()
        for j, _, components in nodes(mmdt(mixture, threshold=objective), mixture):
            assert j == min(naive.mmdt_cuts(mixture.means.tolist(), deviations, "gap", components))[2]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_losses_too_small_for_a_double_have_their_minimum(objective):
    """Deviations of 1 and 2 at a distance of 10 000: tails of exp(-10^7)."""
    near = mmdt(Mixture([1, 1], [[0], [1e4]], [[1], [4]]), threshold=objective).upper[0]
    of_moments = 1e4 / (1 + 4 ** (1 / 3))
    expected = {"tails": 1e4 / 3, "gaussian": 1e4 / 3, "chebyshev": of_moments, "cantelli": of_moments}[objective]
    assert near == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equal_components_are_cut_halfway_and_the_lowest_of_equal_gaps_first(objective):
    pair = Mixture(np.ones(2), [[0.0], [10.0]], np.ones((2, 1)))
    assert mmdt(pair, threshold=objective).upper[0] == pytest.approx(5.0, rel=1e-14)
    line = Mixture(np.ones(4), np.arange(4.0)[:, None] * 10, np.ones((4, 1)))
    assert mmdt(line, threshold=objective).upper[0] == pytest.approx(5.0, abs=0.1)  # 25 is as good, 15 is worse


def test_without_variance_on_the_axis():
    mixture = Mixture(np.ones(3), [[0, 0], [1, 0], [4, 9]], [[0, 1]] * 3)
    for objective in OBJECTIVES:
        tree = mmdt(mixture, threshold=objective)
        assert tree.feature[tree.feature >= 0].tolist() == [0, 0]
        assert tree.upper[:2].tolist() == [2.5, 0.5]
    several = Mixture(np.ones(2), [[0, 0], [1, 3]], np.zeros((2, 2)))  # the widest of such axes
    assert mmdt(several).feature[0] == 1
    one_sided = Mixture(np.ones(2), [[0], [10]], [[0], [1]])  # nothing is lost of the first at any threshold
    for objective in OBJECTIVES:
        assert mmdt(one_sided, threshold=objective).upper[0] == 0.0


def test_uniform_thresholds_are_uniform():
    """Kolmogorov and Smirnov at a significance of 0.001; between the outer means, not within a gap."""
    mixture = Mixture(np.ones(3), [[2, 0], [3, 0], [6, 1]], np.ones((3, 2)))
    random = np.random.default_rng(0)
    drawn = [mmdt(mixture, axis="range", threshold="uniform", random_state=random).upper[0] for _ in range(2000)]
    assert kstest(drawn, "uniform", args=(2, 4)).pvalue > 0.001
    again = [mmdt(mixture, threshold="uniform", random_state=5) for _ in range(2)]
    assert again[0] == again[1]
    neighbours = Mixture([1, 1], [[1.0], [np.nextafter(1, 2)]], [[1], [1]])
    assert all(mmdt(neighbours, threshold="uniform", random_state=s).upper[0] == 1.0 for s in range(20))


def test_ties_at_random():
    """Two equal axes, and two equal gaps: each half of the time, at a significance of 0.001."""
    random = np.random.RandomState(0)
    square = Mixture(np.ones(4), [[0, 0], [0, 1], [1, 0], [1, 1]], np.ones((4, 2)))
    axes = [mmdt(square, tie_break="random", random_state=random).feature[0] for _ in range(400)]
    assert binomtest(int(np.sum(axes)), 400).pvalue > 0.001
    line = Mixture(np.ones(3), [[0], [1], [2]], np.ones((3, 1)))
    for objective in ("midpoint", "tails"):
        cuts = [mmdt(line, threshold=objective, tie_break="random", random_state=random).upper[0] for _ in range(400)]
        assert binomtest(int(np.sum(np.array(cuts) < 1)), 400).pvalue > 0.001
        assert mmdt(line, threshold=objective).upper[0] < 1


# ------------------------------------------------------------------------------------------------------ refused


def test_one_component():
    assert mmdt(Mixture([1], [[5.0]], [[1.0]])).to_dict() == {"leaf": 0, "cluster": 0}


def test_equal_means():
    means = [[0, 0], [1, 1], [1, 1], [2, 5]]
    with pytest.raises(DataError, match="equal means, which no cut separates: b, c; make them one"):
        mmdt(Mixture(np.ones(4), means, np.ones((4, 2)), ["a", "b", "c", "d"]))
    with pytest.raises(DataError, match="0, 1"):
        mmdt(Mixture(np.ones(2), [[0.0], [-0.0]], np.ones((2, 1))), threshold="tails")
    almost = Mixture(np.ones(3), [[1, 1, 0], [1, 1, 1e-300], [1, 1, 1]], np.ones((3, 3)))
    assert mmdt(almost).features.tolist() == [2]


@each("option", ["axis", "threshold", "pooling", "tie_break"])
def test_unknown_options(option):
    with pytest.raises(ValueError, match=f"{option} must be .*'nonsense'"):
        mmdt(Mixture([1, 1], [[0], [1]], [[1], [1]]), **{option: "nonsense"})


# ------------------------------------------------------------------------------------------------ the estimator


@pytest.fixture(scope="module")
def iris():
    return load_iris()


@pytest.mark.slow  # the default options are checked in tests/estimators
@parametrize_with_checks([MMDT(axis="range", threshold="gaussian", pooling="max")])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_labels_need_their_moments_alone(iris):
    model = MMDT(threshold="tails", pooling="max").fit(iris.data, iris.target_names[iris.target])
    mixture = Mixture.of(iris.data, iris.target)
    assert (model.mixture_.means == mixture.means).all()
    assert (model.mixture_.variances == mixture.variances).all()
    assert model.mixture_.names == ("setosa", "versicolor", "virginica")
    assert model.tree_ == grow.mmdt(mixture, threshold="tails", pooling="max")
    assert model.n_leaves_ == 3
    assert (model.labels_ == model.predict(iris.data)).all()
    assert (model.labels_ == iris.target_names[iris.target]).mean() > 0.9


def test_a_gaussian_mixture_is_explained_by_its_own_parameters(iris):
    model = MMDT(n_clusters=3, random_state=0).fit(iris.data)
    fitted = GaussianMixture(3, random_state=0).fit(iris.data)
    assert isinstance(model.clusterer_, GaussianMixture)
    assert (model.mixture_.means == fitted.means_).all()
    assert (model.cluster_centers_ == fitted.means_).all()
    assert model.mixture_.covariances is not None
    expected = grow.mmdt(Mixture.from_gaussian_mixture(fitted))
    weighted = MMDT(fitted).fit(pd.DataFrame(iris.data, columns=iris.feature_names), sample_weight=np.arange(150))
    for other in (model, MMDT(fitted).fit(iris.data), MMDT(FrozenEstimator(fitted)).fit(iris.data), weighted):
        assert other.tree_ == expected
        assert (other.labels_ == fitted.predict(iris.data)).mean() > 0.9


def test_components_without_data_keep_their_numbers():
    X, y = make_blobs(300, centers=[[0, 0], [20, 20]], random_state=0)
    mixture = BayesianGaussianMixture(n_components=4, random_state=1, max_iter=500, tol=1e-6)
    with pytest.warns(UserWarning, match="components without data are dropped"):
        model = MMDT(mixture).fit(X)
    assert model.n_leaves_ == model.mixture_.n_components == 2
    assert (model.predict(X) == model.clusterer_.predict(X)).all()
    assert len(set(zip(model.labels_.tolist(), y.tolist(), strict=True))) == 2


def test_other_clusterers_by_the_moments_of_their_clusters(iris):
    kmeans = KMeans(3, n_init=1, random_state=0).fit(iris.data)
    model = MMDT(kmeans).fit(iris.data)
    assert model.tree_ == grow.mmdt(Mixture.of(iris.data, kmeans.labels_))
    frozen = MMDT(FrozenEstimator(kmeans)).fit(iris.data[kmeans.labels_ != 1])  # a cluster without rows
    assert frozen.mixture_.names == (0, 2)
    assert set(frozen.labels_.tolist()) == {0, 2}
    scaled = MMDT(make_pipeline(StandardScaler(), GaussianMixture(3, random_state=0))).fit(iris.data)
    scaler, fitted = scaled.clusterer_
    assert scaled.mixture_.means == pytest.approx(fitted.means_)  # the mixture itself, on its own columns
    there = grow.mmdt(scaled.mixture_)
    assert (scaled.tree_.predict(iris.data) == there.predict(scaler.transform(iris.data))).all()


def test_noise_is_left_out(iris):
    model = MMDT(DBSCAN(eps=0.7)).fit(iris.data)
    labels = DBSCAN(eps=0.7).fit_predict(iris.data)
    assert (labels == -1).any()
    assert model.tree_ == grow.mmdt(Mixture.of(iris.data[labels >= 0], labels[labels >= 0]))
    assert set(model.predict(iris.data)) == {0, 1}


def test_weights_and_threads():
    n_fitted = 0
    for seed in seeds(150):
        X, labels, weights = make_case(seed)
        mixture = Mixture.of(X, labels, sample_weight=weights)
        if len(np.unique(mixture.means, axis=0)) < mixture.n_components:
            continue
        model = MMDT(threshold="gaussian", n_jobs=2).fit(X, labels, sample_weight=weights)
        assert model.tree_ == MMDT(threshold="gaussian").fit(X, labels, sample_weight=weights).tree_
        assert model.tree_ == grow.mmdt(mixture, threshold="gaussian")
        n_fitted += 1
    assert n_fitted > share(100)


def test_refused():
    X = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0]])
    with pytest.raises(DataError, match="only one cluster, 'a'"):
        MMDT().fit(X, ["a"] * 4)
    with pytest.raises(DataError, match="3 clusters asked for, but the table has only 2 different rows"):
        MMDT(n_clusters=3).fit(X)
    with pytest.raises(DataError, match="equal means, which no cut separates: a, b"):
        MMDT().fit([[0.0], [2.0], [1.0]], ["a", "a", "b"])


@pytest.mark.parametrize(
    "clusterer", [None, DBSCAN(eps=0.7), KMeans(3, n_init=1, random_state=0), FrozenEstimator(KMeans(3))], ids=str
)
def test_rows_are_added_up_once_for_means_and_variances(iris, clusterer, monkeypatch):
    if isinstance(clusterer, FrozenEstimator):
        clusterer = FrozenEstimator(KMeans(3, n_init=1, random_state=0).fit(iris.data))
    read = []
    for name in ("squares_of", "ranged_means_of", "squares_about"):  # the first does what the other two do
        found = getattr(moments_module, name)
        noting = lambda X, *rest, name=name, found=found: read.append((name, len(X))) or found(X, *rest)  # noqa: E731
        monkeypatch.setattr(moments_module, name, noting)
    model = MMDT(clusterer, random_state=0).fit(iris.data, iris.target if clusterer is None else None)
    assert read in ([("squares_of", 150)], [("ranged_means_of", 150), ("squares_about", 150)])
    labels = model.reference_.labels
    assert model.tree_.predict(model.mixture_.means).tolist() == np.unique(labels[labels >= 0]).tolist()


def test_clusters_far_from_gaussian_are_said():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.exponential(size=900), "age": rng.normal(size=900)})
    X.loc[:449, "income"] += 20
    X.loc[:299, "age"] += 50
    labels = np.repeat(["a", "b", "c"], [300, 150, 450])
    with pytest.warns(UserWarning, match="far from Gaussian") as caught:
        model = MMDT().fit(X, labels)
    (message,) = [str(warning.message) for warning in caught]
    assert message.startswith("clusters far from Gaussian: b (skewed along income), c (skewed along income); means")
    assert model.tree_.n_leaves == 3  # a is cut off by age, along which it is Gaussian
    with pytest.warns(UserWarning, match=r"0 \(skewed along x0\)"):
        MMDT().fit(X[["income"]].to_numpy(), np.repeat([-1, 0, 1], [300, 150, 450]))
    MMDT().fit(X[["age"]], np.repeat([0, 1], [300, 600]))  # nothing to say
