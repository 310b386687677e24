"""Every explainer explains: by the tree it has, measured once, whichever door it came in by."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boxwood
from boxwood import (
    CART,
    IMM,
    MMDT,
    ConceptMMDT,
    ExKMC,
    Expand,
    KernelExKMC,
    KernelExpand,
    KernelIMM,
    KernelMMDT,
    RandomCuts,
    explain,
    grow,
    render,
)
from boxwood.concepts import ConceptProjector
from boxwood.errors import DataError, StoppedEarlyWarning
from tests.models import read_model
from tests.scale import each

EXPLAINERS = [IMM, ExKMC, Expand, CART, MMDT, RandomCuts, KernelIMM, KernelExKMC, KernelExpand, KernelMMDT]
BY_KMEANS, BY_MIXTURE = ("IMM", "ExKMC", "Expand", "CART"), ("MMDT", "ConceptMMDT")
BY_KERNEL = ("KernelIMM", "KernelExKMC", "KernelMMDT")


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True)


def fitted(estimator, iris, **options):
    return estimator(random_state=0, **options).fit(iris.data, iris.target_names[iris.target])


def concept_mmdt(iris):
    projector = ConceptProjector.from_vectors(np.eye(4)[2:], names=["long", "wide"])
    return ConceptMMDT(FrozenEstimator(projector)).fit(iris.data.to_numpy(), iris.target_names[iris.target])


# -------------------------------------------------------------------------------------------------- explanation_


@pytest.mark.parametrize("estimator", EXPLAINERS)
def test_every_explainer_gives_rules_sql_and_a_model_file(estimator, iris):
    model = fitted(estimator, iris)
    ex = model.explanation_
    assert ex.tree is model.tree_
    assert ex is model.explanation_
    assert ex.columns == tuple(iris.data.columns)
    assert ex.names == ("setosa", "versicolor", "virginica")
    assert (ex.predict(iris.data) == model.predict(iris.data)).all()
    assert ex.price == model.price_
    assert ex.agreement == pytest.approx((model.labels_ == iris.target_names[iris.target]).mean())
    assert len(model.explanation_.rules().splitlines()) == 3
    assert render.sql(model).endswith("\nEND")
    assert read_model(ex.to_json()) == ex


@pytest.mark.parametrize("estimator", EXPLAINERS)
def test_both_doors_give_the_tree_of_a_method(estimator, iris):
    model = fitted(estimator, iris)
    name, options = estimator._method, {}
    if estimator is RandomCuts:
        options["objective"] = "l1"  # explain takes the distance of k-means
    ex = explain(iris.data, iris.target_names[iris.target], method=name, random_state=0, **options)
    assert ex.tree == model.tree_.shortened(iris.data.to_numpy())
    assert ex.price == model.price_
    assert ex.method == model.explanation_.method == name
    assert (ex.details.draws is None) == (model.explanation_.details.draws is None) == (estimator is not RandomCuts)
    assert (ex.details.kernel is None) == (not name.startswith("kernel"))
    assert (ex.details.mixture is None) == (estimator is not MMDT)


def test_concepts_are_the_columns_of_their_explanation(iris):
    model = concept_mmdt(iris)
    ex = model.explanation_
    assert ex.columns == ("long", "wide")
    assert ex.price == model.price_
    scores = model.projector_.transform(iris.data.to_numpy())
    assert (ex.predict(scores) == model.predict(iris.data.to_numpy())).all()
    assert explain(iris.data.to_numpy(), model) == ex


@pytest.mark.parametrize("estimator", EXPLAINERS)
def test_a_pickle_holds_the_explanation_in_place_of_the_rows(estimator, iris):
    model = fitted(estimator, iris)
    small = pickle.dumps(model)
    copy = pickle.loads(small)
    assert copy.explanation_ == model.explanation_
    assert explain(iris.data, copy) == model.explanation_
    assert iris.data.to_numpy().tobytes() not in small


def test_rows_are_kept_until_the_explanation_is_asked_for(iris):
    model = IMM().fit(iris.data.to_numpy(), iris.target)
    assert model._fit is not None
    model.explanation_.tree  # noqa: B018
    assert model._fit is None


def test_what_an_explanation_needs_of_names(iris):
    model = CART().fit(iris.data, [(name, 1) for name in iris.target])
    assert model.explanation_.names == ("(0, 1)", "(1, 1)", "(2, 1)")
    with pytest.raises(AttributeError):
        IMM().explanation_  # noqa: B018
    with pytest.raises(DataError, match="without rows"):
        MMDT().fit_mixture(boxwood.Mixture([1, 1], [[0.0], [5.0]], [[1.0], [1.0]])).explanation_  # noqa: B018


# ----------------------------------------------------------------------------------------- explain(X, an explainer)


def test_an_explainers_own_tree_is_explained(iris):
    model = KernelIMM(n_clusters=3, random_state=0).fit(iris.data)
    ex = explain(iris.data, model)
    assert ex is model.explanation_
    assert ex.tree is model.tree_
    assert explain(iris.data, FrozenEstimator(model)) is ex
    assert explain(iris.data, clone(model)).tree == model.tree_
    named = explain(iris.data, model, names=["a", "b", "c"])
    assert named.names == ("a", "b", "c")
    assert named.tree is model.tree_
    assert named.price == ex.price
    half = explain(iris.data, model, sample_weight=np.repeat([0.0, 1.0], 75))
    assert half.details.weighted


@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1, random_state=0), None])
def test_other_rows_are_measured_against_what_the_clusterer_predicts(iris, clusterer):
    scaled = None if clusterer is None else make_pipeline(StandardScaler(), clusterer)
    model = IMM(scaled, n_clusters=3, random_state=0).fit(iris.data)
    rows = iris.data[iris.target > 0]
    ex = explain(rows, model)
    assert ex.tree is model.tree_
    assert ex.n_rows == 100
    given = rows if clusterer is not None else rows.to_numpy()  # a pipeline was fitted on names, k-means on numbers
    assert ex.agreement == (model.predict(rows) == model.clusterer_.predict(given)).mean()


def test_other_rows_without_a_clusterer_that_predicts_are_refused(iris):
    model = IMM().fit(iris.data, iris.target)
    with pytest.raises(DataError, match="fitted on other rows"):
        explain(iris.data[1:], model)


@each("given", [{"method": "cart"}, {"max_leaf_nodes": 4}, {"n_clusters": 3}, {"standardize": True}])
def test_a_tree_that_is_there_is_not_grown(iris, given):
    with pytest.raises(ValueError, match=f"IMM brings its own tree, so {next(iter(given))} has no effect"):
        explain(iris.data, IMM().fit(iris.data, iris.target), **given)


def test_names_keep_the_weights_of_the_fit_and_columns_name_arrays_alone(iris):
    weights = np.arange(1.0, 151.0)
    model = IMM().fit(iris.data, iris.target, sample_weight=weights)
    named = explain(iris.data, model, names=["a", "b", "c"])
    assert [c.size for c in named.clusters] == [c.size for c in model.explanation_.clusters]
    assert named.price == model.explanation_.price
    with pytest.raises(ValueError, match="columns cannot be chosen"):
        explain(iris.data, model, columns=["sepal length (cm)"])
    by_number = IMM().fit(iris.data.to_numpy(), iris.target)
    assert explain(iris.data.to_numpy(), by_number, columns=list("abcd")).columns == tuple("abcd")


def test_zeros_of_either_sign_are_the_same_rows(iris):
    X = iris.data.to_numpy().copy()
    X[0, 0] = 0.0
    model = IMM().fit(X, iris.target)
    X[0, 0] = -0.0
    assert explain(X, model) is model.explanation_


def test_columns_that_a_pipeline_makes_are_noted_and_stay_those_of_the_fit(iris):
    model = IMM(make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0))).fit(iris.data)
    assert (
        "cost and price are in the columns that the pipeline computes (StandardScaler)" in model.explanation_.notes[0]
    )
    assert explain(iris.data[iris.target > 0], model).price > 0
    rotated = IMM(make_pipeline(PCA(2), KMeans(3, n_init=1, random_state=0))).fit(iris.data)
    assert (
        rotated.explanation_.notes[0]
        == "PCA mixes columns, so the rules use the raw ones, and the price is in raw units"
    )
    few = Expand(max_leaf_nodes=100)
    with pytest.warns(StoppedEarlyWarning):
        few.fit(iris.data, iris.target)
    assert few.explanation_.notes[0].startswith("the tree has ")


def test_a_fit_without_an_explanation_can_be_pickled():
    X, labels = [[1.0], [2.0], [5.0], [6.0], [8.0], [9.0]], [(1, 2), (1, 2), "(1, 2)", "(1, 2)", 3, 3]
    model = IMM().fit(X, labels)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict([[0.0]])[0] == (1, 2)
    with pytest.raises(DataError, match="clusters must have different names"):
        copy.explanation_  # noqa: B018
    assert not hasattr(MMDT().fit_mixture(boxwood.Mixture([1, 1], [[0.0], [5.0]], [[1.0], [1.0]])), "explanation_")


# ------------------------------------------------------------------------------------------------------- warnings


def test_warnings_name_the_line_of_the_caller(iris):
    X = np.random.default_rng(0).exponential(size=(900, 1))
    X[450:] += 20
    projector = FrozenEstimator(ConceptProjector.from_vectors([[1.0]]))
    for warned in (
        lambda: MMDT().fit(X, np.repeat([0, 1], 450)),
        lambda: ConceptMMDT(projector).fit(X, np.repeat([0, 1], 450)),
        lambda: Expand(max_leaf_nodes=100).fit(iris.data, iris.target),
        lambda: explain([[0.0], [1.0], [0.5], [0.5], [9.0]], [0, 0, 1, 1, 2], method="imm", duplicates="merge"),
        lambda: grow.shallow([[0.0], [1.0]], boxwood.Reference([0, 1], [[0.5], [0.5]]), duplicates="merge"),
    ):
        with pytest.warns(UserWarning, match=".") as caught:
            warned()
        assert {warning.filename for warning in caught} == {__file__}


# ------------------------------------------------------------------------------------------------------- options


def test_methods_take_their_options_by_name(iris):
    X, y = iris.data.to_numpy(), iris.target.to_numpy()
    ex = explain(X, y, method="kernel-imm", kernel="laplace")
    assert ex.tree == KernelIMM(kernel="laplace").fit(X, y).tree_.shortened(X)
    assert ex.details.kernel.kernel.startswith("Laplace")
    with pytest.raises(
        ValueError, match="method 'imm' has no option kernel; its options: candidates, duplicates, tie_break"
    ):
        explain(X, y, method="imm", kernel="laplace")
    with pytest.raises(ValueError, match="options such as kernel belong to one method"):
        explain(X, y, kernel="laplace")
    medians = boxwood.KMedians(3, objective="l1", random_state=0).fit(X)
    assert explain(X, medians, method="random_cuts").details.objective == "l1"
    kernel = boxwood.KernelKMeans(3, kernel=boxwood.kernels.Laplace(0.5), random_state=0)
    for clusterer in (kernel, clone(kernel).fit(X)):
        assert explain(X, clusterer, method="kernel_exkmc").details.kernel.kernel == "Laplace(gamma=0.5)"
    with pytest.raises(ValueError, match="method must be one of"):
        grow.method_of("auto")


def test_every_method_has_a_grower_and_its_row_in_the_page_of_methods():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text()
    for name, method in grow.METHODS.items():
        assert method.name == name
        assert callable(method.grower)
        assert f"grow.{name}" in page or "".join(name.split("_")) in page.lower(), name


# ---------------------------------------------------------------------------------------------------------- noise


@pytest.mark.filterwarnings("ignore:clusters far from Gaussian:UserWarning")
@pytest.mark.crossed
@pytest.mark.parametrize("estimator", EXPLAINERS)
@pytest.mark.parametrize("names", [[4, 7, 9], ["a", "b", "c"], [0.5, 1.5, 2.5]])
def test_rows_left_out_keep_their_label_or_have_that_of_their_leaf(estimator, names, iris):
    names = np.array(names, dtype=None if isinstance(names[0], int) else object)
    out = np.arange(150) % 10 == 3
    weights = np.where(np.arange(150) % 7 == 5, 0.0, 1.0)  # a row without weight is no noise
    labels = np.where(out, -1, names[iris.target])
    leaf = estimator(random_state=0).fit(iris.data, labels, sample_weight=weights)
    keep = estimator(noise="keep", random_state=0).fit(iris.data, labels, sample_weight=weights)
    assert keep.tree_ == leaf.tree_
    assert (keep.predict(iris.data) == leaf.labels_).all()
    assert keep.labels_.tolist() == np.where(out, -1, leaf.labels_.astype(object)).tolist()
    assert keep.labels_.dtype == names.dtype
    assert keep.price_ == leaf.price_
    assert keep.explanation_.agreement == leaf.explanation_.agreement
    again = estimator(noise="keep", random_state=0).fit_predict(iris.data, keep.labels_)  # -1 is noise in y, too
    assert (again == -1).tolist() == out.tolist()
    with pytest.raises(ValueError, match="'noise' parameter"):
        estimator(noise="drop").fit(iris.data, labels)


def test_noise_of_a_clusterer_and_of_concepts():
    rows = np.random.default_rng(0).normal(size=(80, 2)) + 9 * (np.arange(80) % 2)[:, None]
    rows[:3] += 40 * np.eye(3)[:, :2] + 20
    model = IMM(DBSCAN(eps=2), noise="keep").fit(rows)
    assert (model.labels_ == -1).tolist() == (model.clusterer_.labels_ == -1).tolist()
    assert (model.labels_ == -1).sum() >= 3
    projector = FrozenEstimator(ConceptProjector.from_vectors(np.eye(2)))
    concepts = ConceptMMDT(projector, DBSCAN(eps=2), noise="keep").fit(rows)
    assert ((concepts.labels_ == -1) == (model.labels_ == -1)).all()
    assert (concepts.predict(rows) >= 0).all()


# --------------------------------------------------------------------------------------------- all or nothing


@pytest.mark.parametrize("estimator", EXPLAINERS)
def test_a_fit_that_fails_changes_nothing(estimator, iris):
    model = fitted(estimator, iris)
    before = dict(vars(model))
    for X, y in [
        (iris.data.to_numpy()[:, :2], np.zeros(150)),  # one cluster
        (iris.data.to_numpy()[:, :2], iris.target[:10]),
        (np.full((150, 2), np.nan), iris.target),
    ]:
        with pytest.raises(DataError):
            model.fit(X, y)
        assert vars(model) == before
    assert (model.predict(iris.data) == model.labels_).all()


def test_an_interrupted_fit_changes_nothing(iris, monkeypatch):
    model = fitted(KernelMMDT, iris)
    before = dict(vars(model))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("boxwood.estimators._kernel_trees.agreement", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(iris.data.to_numpy(), iris.target)
    assert vars(model) == before


# ------------------------------------------------------------------------------------------------ measured when read


@pytest.mark.parametrize("estimator", EXPLAINERS)
def test_labels_and_prices_are_the_same_whenever_they_are_read(estimator, iris):
    early, late = fitted(estimator, iris), fitted(estimator, iris)
    labels, price = early.labels_.tolist(), early.price_
    explanation = late.explanation_
    assert late.labels_.tolist() == labels == late.predict(iris.data).tolist()
    assert late.price_ == price == explanation.price
    thawed = pickle.loads(pickle.dumps(fitted(estimator, iris)))
    assert thawed.labels_.tolist() == labels
    assert thawed.price_ == price
    if hasattr(early, "price_ceiling_"):
        assert early.price_ceiling_ == late.price_ceiling_ == explanation.details.kernel.price_ceiling


def test_a_fit_measures_nothing_that_nobody_asked_for(iris, monkeypatch):
    calls = []
    monkeypatch.setattr("boxwood.estimators._fits.costs_of", lambda *_: calls.append("costs"))
    monkeypatch.setattr("boxwood.estimators._fits.measure", lambda *_: calls.append("measure"))
    model = fitted(IMM, iris)
    assert model.labels_.tolist() == model.predict(iris.data).tolist()
    assert calls == []


def test_what_was_read_is_kept(iris):
    model = fitted(IMM, iris)
    assert model.labels_ is model.labels_
    assert model.explanation_ is model.explanation_
    model.fit(iris.data.to_numpy()[:100], iris.target[:100])
    assert len(model.labels_) == 100
    assert not hasattr(IMM(), "labels_")
    assert not hasattr(IMM(), "price_")


# ------------------------------------------------------------------------------------------------------ docstrings

OWN = {  # entries that one estimator of a family has in words of its own
    "random_state": {"IMM", "CART", "KernelMMDT"},
    "tree_": {"IMM", "CART", "KernelIMM", "KernelMMDT", "ConceptMMDT"},
    "max_leaf_nodes": {"CART"},
    "max_depth": {"CART"},
    "min_samples_leaf": {"CART"},
    "clusterer": {"ConceptMMDT"},
    "axis": {"ConceptMMDT"},
    "pooling": {"ConceptMMDT"},
    "sigma": {"ConceptMMDT"},
    "mixture_": {"ConceptMMDT"},
    "price_": {"ConceptMMDT"},
    "reference_": {"ConceptMMDT"},
    "n_features_in_": {"ConceptMMDT"},
    "feature_names_in_": {"ConceptMMDT"},
    "cluster_centers_": {"KernelIMM"},
    "kernel": {"KernelIMM", "KernelMMDT"},
    "gamma": {"KernelMMDT"},
}


def entries(estimator):
    text = getattr(boxwood, estimator).__doc__.split("See Also")[0]
    return dict(re.findall(r"^    (\w+) : (.*(?:\n        .*)*)", text, re.MULTILINE))


@pytest.mark.parametrize("family", [BY_KMEANS, BY_MIXTURE, BY_KERNEL])
def test_entries_of_docstrings_are_equal_to_the_letter(family):
    first = {}
    for estimator in family:
        for name, text in entries(estimator).items():
            if estimator not in OWN.get(name, ()):
                assert first.setdefault(name, text) == text, f"{name} of {estimator}"


def test_entries_that_all_docstrings_share():
    for name in ("n_jobs", "noise", "explanation_", "labels_", "n_leaves_", "clusterer_"):
        assert len({entries(estimator)[name] for estimator in (*BY_KMEANS, *BY_MIXTURE, *BY_KERNEL, "RandomCuts")}) == 1


@pytest.mark.parametrize("make", [boxwood.CART, boxwood.ExKMC, boxwood.Expand])
def test_estimators_keep_depth_and_rows_of_a_leaf(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    labels = rng.integers(5, size=200)
    base = {} if make is boxwood.CART else {"base": "root"}
    model = make(max_depth=2, min_samples_leaf=30, **base).fit(X, labels)
    assert model.tree_.depth <= 2
    assert np.bincount(model.apply(X)).min() >= 30
    assert (model.explanation_.limits.max_depth, model.explanation_.limits.min_samples_leaf) == (2, 30)
    assert make(**base).fit(X, labels).explanation_.limits is None


def test_a_tree_to_begin_with_does_not_go_with_a_depth():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="use base 'root'"):
        boxwood.ExKMC(max_depth=1).fit(X, np.arange(20) % 3)
