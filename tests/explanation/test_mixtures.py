"""Explanations of mixtures: MMDT in `explain`, what Gaussians say of a tree, and the tail check behind its warning."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler

from boxwood import MMDT, Mixture, Reference, explain, grow
from boxwood.errors import DataError, ModelError
from boxwood.explanation.choose._candidates import CANDIDATES, CandidateInput
from boxwood.metrics import error_rate, explainability_to_noise, tail_check
from boxwood.metrics.noise import far_tails
from boxwood.reference import Task
from boxwood.theory import certificate
from tests import naive
from tests.cases import make_case
from tests.command import invoke
from tests.models import read_model
from tests.scale import SLOW, each, law, seeds, share

KINDS = ("full", "tied", "diag", "spherical")


def draw(seed=0, n=600, spread=4.0, k=3, d=2):
    rng = np.random.default_rng(seed)
    means = spread * rng.normal(size=(k, d))
    labels = rng.integers(k, size=n)
    return means[labels] + rng.normal(size=(n, d)), labels


def fitted(X, kind="diag", k=3, **options):
    return GaussianMixture(k, covariance_type=kind, random_state=0, **options).fit(X)


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).data


# ------------------------------------------------------------------------------------------------------ tail check


def test_tails_are_those_of_the_naive_ones():
    n_said = set()
    for seed in seeds(200, least=100):
        X, labels, weights = make_case(seed, max_rows=40 + 40 * (seed % 5 == 0), max_columns=2, max_clusters=2)
        whole = np.ones(len(X)) if weights is None else np.ceil(4 * weights)
        for tail in tail_check(X, labels, sample_weight=None if weights is None else whole):
            mine = labels == tail.component
            expected = naive.tail(X[mine, tail.axis], whole[mine])
            assert tail[2:6] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert (tail.verdict == "few rows") == (tail.n_rows < 20 * (1 - 1e-9))
            n_said.add(tail.verdict)
    assert n_said == {"few rows", "close", "heavy-tailed", "skewed", "two-humped"}


@pytest.mark.parametrize("n", [20, 30, 50, 100, 200, 1000])
def test_gaussians_are_seldom_called_far(n):
    X = np.random.default_rng(n).normal(size=(n, 6000 if SLOW else 1500))
    alarms = sum(tail.is_far for tail in tail_check(X, np.zeros(n, dtype=int)))
    # at 1 in 1000 there are 6 (1.5) on average; more than 16 (7) have a probability of 2e-4
    assert alarms <= (0 if n == 1000 else 16 if SLOW else 7)


FAR = {
    "cauchy": (lambda rng, size: rng.standard_cauchy(size), "heavy-tailed"),
    "student t, 2": (lambda rng, size: rng.standard_t(2, size), "heavy-tailed"),
    "rare far ones": (
        lambda rng, size: rng.normal(size=size) * np.where(rng.random(size) < 0.1, 20, 1),
        "heavy-tailed",
    ),
    "exponential": (lambda rng, size: rng.exponential(size=size), "skewed"),
    "lognormal": (lambda rng, size: -rng.lognormal(size=size), "skewed"),
    "two points": (lambda rng, size: rng.integers(0, 2, size), "two-humped"),
    "two humps": (lambda rng, size: rng.normal(size=size) + 8 * rng.integers(0, 2, size), "two-humped"),
    "one point and few others": (lambda rng, size: 1.0 * (rng.random(size) < 0.06), "heavy-tailed"),
}


@pytest.mark.parametrize("kind", FAR)
def test_what_is_far_from_gaussian_is_found(kind):
    sample, verdict = FAR[kind]
    X = sample(np.random.default_rng(0), (500, 200))
    tails = tail_check(X, np.zeros(500, dtype=int))
    assert np.mean([tail.is_far for tail in tails]) > 0.99
    assert np.mean([tail.verdict == verdict for tail in tails]) > 0.95


def test_a_border_between_neighbours_is_no_alarm():
    # two Gaussians four standard deviations apart, told apart in the middle: each loses a tail
    X = np.concatenate(
        [np.random.default_rng(0).normal(size=(5000, 1)) - 2, np.random.default_rng(1).normal(size=(5000, 1)) + 2]
    )
    assert not any(tail.is_far for tail in tail_check(X, (X[:, 0] > 0).astype(int)))


def test_few_rows_gone_astray_change_nothing():
    X = np.random.default_rng(0).normal(size=(1000, 1))
    X[:3] = 1e9
    (tail,) = tail_check(X, np.zeros(1000, dtype=int))
    assert tail.verdict == "close"


def test_tails_do_not_depend_on_order_or_scale():
    X, labels = draw(k=4, d=3)
    X[:, 1] = np.exp(X[:, 1])
    expected = tail_check(X, labels)
    order = np.random.default_rng(1).permutation(len(X))
    assert tail_check(X[order], labels[order]) == expected
    assert tail_check(X * 2.0**40, labels) == expected
    assert [t.verdict for t in tail_check(1e9 + 3 * X, labels)] == [t.verdict for t in expected]
    assert tail_check(X, labels, columns=[2]) == tuple(t for t in expected if t.axis == 2)
    assert tail_check(np.hstack([X, X]), labels, columns=[-1])[0][1:] == (5, *expected[2][2:])


def test_weights_count_as_repeated_rows_in_tails():
    X, labels = draw()
    times = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = tail_check(X, labels, sample_weight=times)
    repeated = tail_check(np.repeat(X, times, axis=0), np.repeat(labels, times))
    for one, other in zip(weighted, repeated, strict=True):
        assert one[3:6] == pytest.approx(other[3:6])
        assert one.n_rows <= other.n_rows


def test_large_components_are_sampled_and_noise_is_left_out():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(250_000, 1)), rng.exponential(size=(30, 1)) + 90])
    labels = np.where(X[:, 0] > 50, -1, 7)
    (tail,) = tail_check(X, labels)
    assert (tail.n_rows, tail.verdict) == (20_000, "close")


def test_far_tails_are_those_on_columns_that_bound_a_leaf():
    n_far, n_elsewhere = 0, 0
    for seed in seeds(120):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        labels = np.repeat(np.arange(k), rng.choice([10, 40, 300], size=k))
        X = np.where(rng.random(d) < 0.5, rng.normal(size=(len(labels), d)), rng.exponential(size=(len(labels), d)))
        X += 8 * rng.normal(size=(k, d))[labels]
        tree = grow.mmdt(Mixture.of(X, labels))
        weights = None if seed % 2 else rng.random(len(X))
        labels = np.where((labels == 1) | (rng.random(len(X)) < 0.1), -1, labels)  # noise, and a cluster without rows
        bounding = {(c, j) for c, box in zip(tree.leaf_clusters, tree.boxes(), strict=True) for j in box}
        present = np.unique(labels[labels >= 0])
        expected = [
            (present[tail.component], *tail[1:])
            for tail in tail_check(X, labels, sample_weight=weights)
            if tail.is_far and (present[tail.component], tail.axis) in bounding
        ]
        assert list(far_tails(X, labels, tree, sample_weight=weights, n_jobs=1)) == expected, f"seed {seed}"
        n_far += len(expected)
        n_elsewhere += sum(tail.is_far for tail in tail_check(X, labels, sample_weight=weights)) - len(expected)
    assert min(n_far, n_elsewhere) > share(20)


def test_tails_of_what_cannot_be_used():
    with pytest.raises(DataError, match="columns must be whole numbers from -1 to 0"):
        tail_check([[0.0], [1.0]], [0, 0], columns=[1])
    with pytest.raises(DataError, match="2 rows, but 1"):
        tail_check([[0.0], [1.0]], [0])
    with pytest.raises(DataError, match="every row is left out"):
        tail_check([[0.0]], [-1])
    assert tail_check([[3.0], [3.0]], [0, 0])[0].verdict == "few rows"
    assert tail_check([[3.0]] * 50, [0] * 50)[0].verdict == "close"


# ------------------------------------------------------------------------------------------------------------ mmdt


@pytest.mark.crossed
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("standardize", [False, True])
def test_the_tree_of_a_mixture_is_grown_from_its_parameters(kind, standardize):
    X, _ = draw(1)
    X[:, 1] = 1000 * X[:, 1] - 5
    model = fitted(X, kind)
    ex = explain(X, model, method="mmdt", standardize=standardize)
    expected = grow.mmdt(Mixture.from_gaussian_mixture(model))
    assert ex.method == "mmdt"
    assert (ex.tree.apply(X) == expected.apply(X)).all()
    assert (ex.predict(X) == expected.predict(X)).all()
    assert ex.agreement == pytest.approx(np.mean(model.predict(X) == expected.predict(X)))


@pytest.mark.parametrize("make", [GaussianMixture, BayesianGaussianMixture])
def test_unfitted_frozen_and_fitted_mixtures_say_the_same(make):
    X, _ = draw(2)
    model = make(n_components=3, random_state=0)
    expected = explain(X, make(n_components=3, random_state=0).fit(X), method="mmdt")
    assert explain(X, model, method="mmdt") == expected
    assert not hasattr(model, "means_")
    assert explain(X, FrozenEstimator(make(n_components=3, random_state=0).fit(X)), method="mmdt") == expected


def test_labels_and_other_clusterers_give_means_and_variances_of_rows():
    X, labels = draw(3)
    noisy = np.where(np.arange(len(X)) % 10 == 0, -1, labels)
    ex = explain(X, noisy, method="mmdt", names=["a", "b", "c"])
    expected = grow.mmdt(Mixture.of(X, noisy))
    assert (ex.predict(X) == np.array(["a", "b", "c"])[expected.predict(X)]).all()
    assert ex.n_left_out == 60
    assert ex.details.mixture is not None
    kmeans = KMeans(3, random_state=0).fit(X)
    assert (explain(X, kmeans, method="mmdt").predict(X) == grow.mmdt(Mixture.of(X, kmeans.labels_)).predict(X)).all()
    density = DBSCAN(eps=0.6).fit(X)
    tree = grow.mmdt(Mixture.of(X, density.labels_))
    assert (explain(X, density, method="mmdt").predict(X) == tree.predict(X)).all()


def test_clusters_without_rows_are_no_components():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    kmeans = KMeans(3, init=[[0.5], [10.5], [99.0]], n_init=1, max_iter=1).fit([[0.5], [10.5], [99.0]])
    ex = explain(X, kmeans, method="mmdt")
    assert ex.n_leaves == 2
    assert ex.predict(X).tolist() == [0, 0, 1, 1]


def test_a_pipeline_has_gaussians_of_its_own_columns():
    X, _ = draw(4)
    pipeline = make_pipeline(StandardScaler(), GaussianMixture(3, random_state=0)).fit(X)
    ex = explain(X, pipeline, method="mmdt")
    on_scaled = grow.mmdt(Mixture.from_gaussian_mixture(pipeline[-1]))
    assert (ex.predict(X) == on_scaled.predict(pipeline[0].transform(X))).all()
    assert explain(X, pipeline).details.mixture.fitted


def test_gaussians_of_other_columns_are_not_used(iris):
    model = fitted(iris, "full")
    turned = list(reversed(iris.columns))
    assert explain(iris, model).details.mixture is not None
    assert explain(iris, model, columns=turned).details.mixture is None
    assert explain(iris, model, columns=turned[:2]).details.mixture is None
    assert explain(iris, model, columns=turned, method="mmdt").n_leaves == 3


@pytest.mark.parametrize("method", ["auto", "mmdt", "cart"])
def test_components_without_data_are_dropped_with_a_warning(method):
    labels = np.arange(600) % 3
    X = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])[labels] + np.random.default_rng(0).normal(size=(600, 2))
    options = {"weight_concentration_prior": 1e-6, "max_iter": 500, "random_state": 0}
    model = BayesianGaussianMixture(n_components=6, **options).fit(X)
    with pytest.warns(UserWarning, match="components without data are dropped"):
        ex = explain(X, model, method=method)
    assert ex.n_clusters == 6
    assert (ex.predict(X) == model.predict(X)).all()
    assert ex.details.mixture.certified_error < 1e-3
    assert set(ex.details.mixture.components) <= set(model.predict(X).tolist())


def test_mmdt_makes_one_leaf_for_each_component(iris):
    assert explain(iris, fitted(iris), method="mmdt", max_leaf_nodes=3).n_leaves == 3
    with pytest.raises(ValueError, match=r"one leaf for each of 3 components, but max_leaf_nodes=4"):
        explain(iris, fitted(iris), method="mmdt", max_leaf_nodes=4)
    with pytest.raises(ValueError, match=r"one leaf for each of 3 clusters, but max_leaf_nodes=4"):
        explain(iris, n_clusters=3, method="mmdt", max_leaf_nodes=4)
    X, labels = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], ["a", "a", "b", "b", "a", "a"]
    with pytest.raises(DataError, match=r"equal means, which no cut separates: a, b; make them one, or use CART"):
        explain(X, labels, method="mmdt")


# ------------------------------------------------------------------------------------------------------------ auto


def test_mmdt_is_a_candidate_for_mixtures():
    for seed in range(8, 14):
        rng = np.random.default_rng(seed)
        means, deviations = 2 * rng.normal(size=(4, 3)), rng.uniform(0.3, 1.5, size=(4, 3))
        labels = rng.integers(4, size=150)
        X = means[labels] + deviations[labels] * rng.normal(size=(150, 3))
        model = fitted(X, k=4)
        auto, mmdt = explain(X, model), explain(X, model, method="mmdt")
        assert auto.agreement >= mmdt.agreement or auto.cost <= mmdt.cost
        assert [c.size for c in auto.clusters] == np.bincount(model.predict(X), minlength=4).tolist()
        task = Task.of(X, Reference.from_estimator(model, X), mixture=Mixture.from_gaussian_mixture(model))
        for mixture in (task.mixture, None):
            task = replace(task, mixture=mixture)
            part = CandidateInput(task, task, 4, True, False, True, (4,), {}, {}, set(), set())
            names = [name for _, name in CANDIDATES["separating"](part)]
            assert ("mmdt" in names) == (mixture is not None)


def test_more_leaves_continue_the_tree_of_a_mixture(iris):
    ex = explain(iris, fitted(iris, "full"), max_leaf_nodes=5)
    assert ex.n_leaves <= 5
    assert ex.agreement >= explain(iris, fitted(iris, "full")).agreement


def test_components_with_equal_means_leave_mmdt_out():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)), 30 * rng.normal(size=(200, 2))])
    model = fitted(X, k=2)
    model.means_[:] = 0.0
    ex = explain(X, model)
    assert "equal centres (0 and 1)" in ex.notes[0]
    assert ex.details.mixture.explainability_to_noise == 0
    with pytest.raises(DataError, match=r"equal means, which no cut separates: 0, 1"):
        explain(X, model, method="mmdt")


@pytest.mark.parametrize("method", ["auto", "imm", "cart"])
def test_other_clusterings_say_nothing_of_gaussians(method):
    X, labels = draw(5)
    for given in (labels, KMeans(3, random_state=0)):
        ex = explain(X, given, method=method)
        assert ex.details.mixture is None
        assert "mixture" not in ex.to_dict()
        assert "Gaussian" not in ex.to_text()


# ----------------------------------------------------------------------------------------------------------- facts


@pytest.mark.crossed
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("method", "standardize"),
    [("auto", False), ("imm", True), ("cart", False), ("mmdt", True)]
    + SLOW * [("auto", True), ("imm", False), ("cart", True), ("mmdt", False)],
)
def test_facts_are_those_of_the_gaussians(kind, method, standardize):
    X, _ = draw(6, spread=2.5, n=300)
    model = fitted(X, kind)
    mixture = Mixture.from_gaussian_mixture(model)
    ex = explain(X, model, method=method, standardize=standardize, columns=["a", "b"], names=["x", "y", "z"])
    noise = explainability_to_noise(mixture)
    assert ex.details.mixture.explainability_to_noise == pytest.approx(noise.value, rel=1e-9)
    assert set(ex.details.mixture.components) == {"xyz"[i] for i in noise.pair}
    assert ex.details.mixture.column == "ab"[noise.axis]
    assert ex.details.mixture.certified_error <= certificate(mixture, ex.tree).error.clipped * (1 + 1e-9)
    error = error_rate(mixture, ex.tree)
    if error.exact:
        assert ex.details.mixture.certified_error == pytest.approx(error.value, rel=1e-9)
    else:
        assert error.value - 4 * error.standard_error <= ex.details.mixture.certified_error <= 4 * error.value + 0.01


def test_a_component_without_a_leaf_is_certain_to_err():
    X, _ = draw(7, spread=20)
    ex = explain(X, fitted(X), method="exkmc", max_leaf_nodes=2)
    missing = [cluster.cluster for cluster in ex.clusters if not cluster.rules]
    assert len(missing) == 1
    assert ex.details.mixture.certified_error >= fitted(X).weights_[missing[0]] * (1 - 1e-9)


def far_apart():
    """Return rows and a mixture of round numbers: 1 leaves the others on the column a, 2 has a heavy tail there."""
    rng = np.random.default_rng(0)
    labels = np.arange(900) % 3
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 8.0]])[labels] + rng.normal(size=(900, 2))
    X[labels == 2, 1] = 8 + rng.standard_t(1, size=300).clip(-3, 50)
    model = GaussianMixture(3, covariance_type="diag")
    model.weights_, model.means_ = np.full(3, 1 / 3), np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 8.0]])
    model.covariances_ = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 4.0]])
    model.precisions_cholesky_ = 1 / np.sqrt(model.covariances_)
    return X, model


def test_the_text_says_what_the_gaussians_say():
    X, model = far_apart()
    ex = explain(X, model, method="mmdt", columns=["a", "b"], names=["base", "wide", "high, up"])
    lines = ex.to_text().split("\n\n")[-2].splitlines()
    least = math.floor(1000 * (1 - ex.details.mixture.certified_error)) / 1000
    assert lines == [
        f"Estimated from the Gaussians behind the clusters: at least {least:.1%} of rows of these Gaussians end in "
        "their own leaf; the explainability-to-noise ratio is 16, attained by base and high, up on b.",
        "Warning: far from Gaussian: high, up on b (heavy-tailed), so these estimates may not hold; "
        "method cart or imm does not rest on Gaussians.",
    ]
    other = explain(X, model, method="cart", columns=["a", "b"]).to_text()
    assert other.split("\n\n")[-2].endswith("(heavy-tailed), so these estimates may not hold.")


def test_true_gaussians_bring_no_warning():
    for seed in seeds(10):
        X, labels = draw(seed, spread=20)
        ex = explain(X, labels, method="mmdt")
        assert ex.details.mixture.far_from_gaussian == ()
        assert "Warning" not in ex.to_text()
        assert ex.details.mixture.certified_error > 0
        assert "at least 9" in ex.to_text()


def test_only_columns_that_bound_a_component_count():
    rng = np.random.default_rng(0)
    labels = np.arange(900) % 3
    X = np.array([[0.0, 0.0], [0.0, 9.0], [40.0, 0.0]])[labels] + rng.normal(size=(900, 2))
    X[labels == 2, 1] = rng.exponential(size=300)  # parted by the first column alone
    ex = explain(X, labels, method="mmdt")
    assert ex.tree.features.tolist() == [0, 1]
    assert ex.details.mixture.far_from_gaussian == ()


def test_many_warnings_are_counted():
    X = np.random.default_rng(0).exponential(size=(2000, 2)) + 30 * np.arange(2000)[:, None] % 240
    ex = explain(X, (np.arange(2000) % 8).astype(str), method="mmdt")
    assert len(ex.details.mixture.far_from_gaussian) >= 8
    assert f"and {len(ex.details.mixture.far_from_gaussian) - 5} more, so these estimates" in ex.to_text()


# ------------------------------------------------------------------------------------------------------ model file


def test_the_model_file_keeps_the_facts(tmp_path):
    X, model = far_apart()
    ex = explain(X, model, method="mmdt", columns=["a", "b"])
    copy = read_model(ex.to_json())
    assert copy == ex
    assert hash(copy) == hash(ex)
    assert str(copy) == str(ex)
    assert ex.to_dict()["version"] == 1
    assert ex.to_dict()["mixture"]["far_from_gaussian"] == [{"component": 2, "column": "b", "verdict": "heavy-tailed"}]
    older = ex.to_dict()
    del older["mixture"]
    assert read_model(json.dumps(older)).details.mixture is None


def test_an_infinite_ratio_is_kept():
    ex = explain([[0.0], [0.0], [5.0], [5.0]], ["a", "a", "b", "b"], method="mmdt")
    assert ex.details.mixture.explainability_to_noise == math.inf
    assert ex.details.mixture.certified_error == 0
    assert read_model(ex.to_json()) == ex
    assert "at least 100.0% of rows" in ex.to_text()
    assert "ratio is inf" in ex.to_text()


@each(
    "change, message",
    [
        (lambda facts: facts.pop("column"), "lacks 'column'"),
        (lambda facts: facts.update(components=["a"]), "damaged"),
        (
            lambda facts: facts.update(components=["a", None]),
            r"mixture.components\[1\]: expected text or a number, got None",
        ),
        (lambda facts: facts.update(certified_error="much"), "damaged"),
        (lambda facts: facts.update(far_from_gaussian=[{}]), "lacks 'component'"),
    ],
)
def test_damaged_facts(change, message):
    document = explain([[0.0], [0.0], [5.0], [5.0]], ["a", "a", "b", "b"], method="mmdt").to_dict()
    change(document["mixture"])
    with pytest.raises(ModelError, match=message):
        read_model(json.dumps(document))


# ---------------------------------------------------------------------------------------------------- command line


def test_the_command_explains_by_mmdt(tmp_path, iris):
    iris.columns = ["sepal l", "sepal w", "petal l", "petal w"]
    iris.assign(kind=load_iris().target_names[load_iris().target]).to_csv(tmp_path / "iris.csv", index=False)
    arguments = ["explain", str(tmp_path / "iris.csv"), "-l", "kind", "--method", "mmdt", "--notes"]
    shown = invoke(*arguments, "--save", tmp_path / "m.json")
    assert "of these Gaussians end in their own leaf" in shown.stdout
    facts = json.loads(invoke(*arguments, "--json").stdout)
    assert facts["method"] == "mmdt"
    assert facts["mixture"]["components"] == ["versicolor", "virginica"]
    predicted = invoke("predict", tmp_path / "m.json", tmp_path / "iris.csv")
    assert "versicolor" in predicted.stdout


def test_rows_may_be_a_frame(iris):
    X = pd.DataFrame(iris.to_numpy(), columns=list("abcd"))
    ex = explain(X, fitted(X, "full"), method="mmdt")
    assert ex.details.mixture.column in "abcd"
    assert (ex.predict(X) == ex.tree.predict(X.to_numpy())).all()


# ------------------------------------------------------------------------------------------- mixtures behind scalers

SCALERS = (
    lambda: StandardScaler(),
    lambda: StandardScaler(with_mean=False),
    lambda: MinMaxScaler((-2, 5)),
    lambda: MaxAbsScaler(),
    lambda: RobustScaler(with_centering=False),
    lambda: make_pipeline(RobustScaler(), MinMaxScaler()),
    lambda: "passthrough",
)


def behind_scalers(seed):
    """Return rows, a fitted pipeline of scalers and a mixture, and how it is explained."""
    rng = np.random.default_rng([seed, 31])
    d, k = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    X = draw(seed, n=150, spread=2.5, k=k, d=d)[0] * 10.0 ** rng.integers(-3, 4, size=d) + rng.integers(0, 1000)
    last = BayesianGaussianMixture if rng.random() < 0.2 else GaussianMixture
    mixture = last(n_components=k, covariance_type=KINDS[rng.integers(4)], random_state=seed)
    first, second = (SCALERS[rng.integers(len(SCALERS))]() for _ in range(2))
    pipeline = make_pipeline(first, make_pipeline(second, mixture) if rng.random() < 0.3 else mixture)
    how = {"method": ["auto", "mmdt", "cart"][rng.integers(3)], "standardize": bool(rng.random() < 0.3)}
    pipeline = pipeline.fit(X)
    return X, FrozenEstimator(pipeline) if rng.random() < 0.2 else pipeline, how


@pytest.mark.filterwarnings("ignore:Best performing initialization")
@law(24)
def test_a_mixture_behind_scalers_is_that_mixture(seed):
    X, pipeline, how = behind_scalers(seed)
    last = pipeline[-1][-1] if hasattr(pipeline[-1], "steps") else pipeline[-1]
    if len(np.unique(pipeline.predict(X))) < last.n_components:
        return
    ex = explain(X, pipeline, **how)
    rows, components = last.sample(20_000)
    for step in [pipeline[-1][0], pipeline[0]] if hasattr(pipeline[-1], "steps") else [pipeline[0]]:
        rows = rows if step == "passthrough" else step.inverse_transform(rows)
    if ex.details.mixture is not None:
        assert ex.details.mixture.fitted
        wrong = np.mean(np.array(ex.names)[ex.tree.predict(rows)] != components)
        spread = 4 * np.sqrt(max(wrong * (1 - wrong), 1e-4) / len(rows))
        assert wrong <= ex.details.mixture.certified_error + spread
        if last.covariance_type in ("diag", "spherical"):
            assert wrong >= ex.details.mixture.certified_error - spread


def test_gaussians_of_labelled_rows_are_told_from_those_that_were_fitted():
    rng = np.random.default_rng(3)
    X = np.r_[rng.normal(size=(100, 1)), rng.normal(size=(100, 1)) + 2.2]
    mixture = GaussianMixture(2, random_state=0)
    alone, behind = explain(X, mixture), explain(X, make_pipeline(StandardScaler(), mixture))
    assert behind.details.mixture.certified_error == pytest.approx(alone.details.mixture.certified_error, abs=1e-4)
    assert "from the Gaussians behind the clusters: at least 86.6% of rows" in behind.to_text()
    of_rows = explain(X, clone(mixture).fit_predict(X), method="mmdt")
    assert not of_rows.details.mixture.fitted
    assert (
        "from Gaussians with the means and variances of the clusters' rows: at least 93.2% of rows" in of_rows.to_text()
    )
    curved = make_pipeline(
        QuantileTransformer(n_quantiles=50), mixture
    )  # on no column of the table are there Gaussians
    assert explain(X, curved, method="mmdt").details.mixture is None


def test_the_estimator_takes_the_mixture_behind_a_scaler():
    X, _ = draw(2)
    found = MMDT(make_pipeline(StandardScaler(), GaussianMixture(3, random_state=0))).fit(X)
    last = found.clusterer_[-1]
    assert found.mixture_.means.tolist() == last.means_.tolist()
    assert found.explanation_.details.mixture.fitted
