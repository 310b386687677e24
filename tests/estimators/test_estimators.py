import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from boxwood import CART, IMM, MMDT, ConceptMMDT, ExKMC, Expand, KernelIMM, RandomCuts, Reference, grow, metrics, scan
from boxwood.concepts import ConceptProjector
from boxwood.errors import DataError, StoppedEarlyWarning
from boxwood.grow.centers import imm as imm_module
from boxwood.grow.centers.imm import grow_imm
from tests.scale import each, law

BY_KMEANS = [IMM, ExKMC, Expand, CART]  # where no clusterer is given
ALL = [*BY_KMEANS, MMDT, RandomCuts]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.fixture(scope="module")
def iris():
    return load_iris()


@parametrize_with_checks([IMM()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.full  # on the same bases as the one above
@parametrize_with_checks([ExKMC(), Expand(), CART(), MMDT(), RandomCuts()])
def test_scikit_learn_on_the_others(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------------------ attributes


@pytest.mark.parametrize("estimator", BY_KMEANS)
def test_attributes(estimator, iris):
    model = estimator(n_clusters=3, random_state=0).fit(iris.data)
    kmeans = KMeans(3, n_init=10, random_state=0).fit(iris.data)
    assert isinstance(model.clusterer_, KMeans)
    assert (model.reference_.labels == kmeans.labels_).all()
    assert np.allclose(model.cluster_centers_, kmeans.cluster_centers_)
    assert (model.labels_ == model.tree_.predict(iris.data)).all()
    assert (model.labels_ == model.predict(iris.data)).all()
    assert (model.apply(iris.data) == model.tree_.apply(iris.data)).all()
    assert model.n_leaves_ == model.tree_.n_leaves
    assert model.price_ == metrics.price_of_explainability(iris.data, model.tree_, model.reference_)
    distances = np.square(iris.data - kmeans.cluster_centers_[model.labels_])
    assert model.score(iris.data) == pytest.approx(-distances.sum(axis=1).mean())
    weights = np.arange(150.0)
    assert model.score(iris.data, sample_weight=weights) == pytest.approx(
        -np.average(distances.sum(axis=1), weights=weights)
    )


def test_trees_are_those_of_grow(iris):
    model = IMM(n_clusters=3, random_state=0).fit(iris.data)
    X, reference = iris.data, model.reference_
    assert model.tree_ == grow.imm(X, reference)
    assert IMM(model.clusterer_, candidates="midpoints").fit(X).tree_ == grow.imm(X, reference, candidates="midpoints")
    labels = reference.labels
    reference = Reference.of(X, labels)
    begin = grow.imm(X, reference)
    assert ExKMC(max_leaf_nodes=4).fit(X, labels).tree_ == grow.expand(begin, X, reference, max_leaf_nodes=4)
    expected = grow.expand(None, X, reference, max_leaf_nodes=4, objective="mistakes", cuts="interval")
    assert Expand(max_leaf_nodes=4, base="root", cuts="interval").fit(X, labels).tree_ == expected
    expected = grow.cart(X, labels, max_leaf_nodes=3, criterion="entropy")
    assert CART(criterion="entropy", random_state=0).fit(X, labels).tree_ == expected


def test_default_numbers_of_leaves():
    X, y = make_blobs(400, 2, centers=4, cluster_std=3, random_state=0)
    assert IMM().fit(X, y).n_leaves_ == 4
    assert CART().fit(X, y).n_leaves_ == 4
    assert ExKMC().fit(X, y).n_leaves_ == 8
    assert Expand().fit(X, y).n_leaves_ == 8


def test_only_leaves_that_were_asked_for_are_missed():
    X, y = [[0.0], [1.0], [5.0]], [0, 0, 1]
    assert ExKMC().fit(X, y).n_leaves_ == 2
    with pytest.warns(StoppedEarlyWarning, match="2 of 4"):
        ExKMC(max_leaf_nodes=4).fit(X, y)


def test_a_second_fit_forgets_the_first(iris):
    model = IMM(n_clusters=3, random_state=0).fit(iris.data)
    model.fit(iris.data[:, :2], iris.target)
    assert not hasattr(model, "clusterer_")
    assert model.n_features_in_ == 2


# ---------------------------------------------------------------------------------------------------- labels


@pytest.mark.crossed
@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("names", [("a", "b"), (3, 7), (0.5, 1.5), ((1, "x"), (2, "y")), ("a", 5), (-2, 4)], ids=str)
def test_predict_gives_the_labels_back(estimator, names):
    labels = [names[0], names[0], names[1], names[1], -1]
    X = np.array([[0.0], [1.0], [8.0], [9.0], [4.0]])
    model = estimator().fit(X, labels)
    predicted = model.predict(X[:4]).tolist()
    assert predicted == labels[:4]
    assert [type(name) for name in predicted] == [type(name) for name in labels[:4]]
    assert model.labels_.tolist()[4] in names
    assert set(model.reference_.names) == set(names)


def test_left_out_rows_do_not_count(iris):
    labels = iris.target.copy()
    labels[::3] = -1
    kept = labels >= 0
    for estimator in ALL:
        whole, part = (
            estimator(random_state=0).fit(*data) for data in ((iris.data, labels), (iris.data[kept], labels[kept]))
        )
        assert whole.tree_ == part.tree_
        assert whole.price_ == pytest.approx(part.price_)
        assert len(whole.labels_) == 150


@pytest.mark.parametrize(
    "series", [pd.Series, pl.Series, pa.array, list, np.array, lambda y: pd.Series(y, dtype="category")]
)
def test_labels_of_any_library(series, iris):
    names = iris.target_names[iris.target].tolist()
    assert IMM().fit(iris.data, series(names)).predict(iris.data[:1]).tolist() == ["setosa"]


def test_fit_predict(iris):
    weights = np.random.default_rng(0).random(150)
    for estimator in ALL:
        model = estimator(random_state=0)
        labels = model.fit_predict(iris.data, iris.target, sample_weight=weights)
        assert (labels == model.labels_).all()
        assert clone(model).fit(iris.data, iris.target, sample_weight=weights).tree_ == model.tree_


@pytest.mark.filterwarnings("ignore:clusters far from Gaussian")  # as repeated rows are
def test_weights_are_repeated_rows(iris):
    times = np.random.default_rng(0).integers(0, 4, size=150)
    for estimator in ALL:
        weighted = estimator(random_state=0).fit(iris.data, iris.target, sample_weight=times)
        repeated = estimator(random_state=0).fit(np.repeat(iris.data, times, axis=0), np.repeat(iris.target, times))
        assert weighted.tree_ == repeated.tree_
        assert weighted.price_ == pytest.approx(repeated.price_)


# ------------------------------------------------------------------------------------------------- clusterers


def clusterers():
    return [
        KMeans(3, random_state=0),
        GaussianMixture(3, random_state=0),
        AgglomerativeClustering(3),
        DBSCAN(eps=0.7),
        make_pipeline(StandardScaler(), KMeans(3, random_state=0)),
        make_pipeline(StandardScaler(), AgglomerativeClustering(3)),
    ]


@pytest.mark.crossed
@pytest.mark.parametrize("clusterer", clusterers(), ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("frame", [False, True])
def test_any_clusterer(clusterer, frame, iris):
    X = pd.DataFrame(iris.data, columns=iris.feature_names) if frame else iris.data
    model = IMM(clusterer).fit(X)
    labels = clone(clusterer).fit_predict(X)
    assert (model.reference_.labels == labels).all()
    assert model.clusterer_ is not clusterer
    assert metrics.agreement(labels, model.labels_).matched > 0.8


def test_frozen_estimator_is_used_as_it_is(iris):
    kmeans = KMeans(3, random_state=0).fit(iris.data[:100])
    model = IMM(FrozenEstimator(kmeans)).fit(iris.data)
    assert (model.reference_.labels == kmeans.predict(iris.data)).all()
    assert np.allclose(model.cluster_centers_, kmeans.cluster_centers_)


class Recorder(ClusterMixin, BaseEstimator):
    def fit(self, X, y=None, sample_weight=None):
        self.seen_ = sample_weight
        self.labels_ = (np.asarray(X)[:, 0] > 0).astype(int)
        return self


def test_weights_reach_the_clusterer():
    X, weights = np.array([[-1.0], [-2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    model = IMM(Recorder()).fit(X, sample_weight=weights)
    assert (model.clusterer_.seen_ == weights).all()
    model = IMM(make_pipeline(StandardScaler(), Recorder())).fit(X, sample_weight=weights)
    assert (model.clusterer_[-1].seen_ == weights).all()
    IMM(AgglomerativeClustering(2)).fit(X, sample_weight=weights)  # takes none


# ----------------------------------------------------------------------------------------------------- frames


@pytest.mark.crossed
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("estimator", ALL)
def test_frames(kind, estimator, iris):
    columns = {name: iris.data[:, j] for j, name in enumerate(iris.feature_names)}
    X = FRAMES[kind](columns)
    model = estimator(n_clusters=3, random_state=0).fit(X)
    assert model.feature_names_in_.tolist() == iris.feature_names
    assert model.tree_ == estimator(n_clusters=3, random_state=0).fit(iris.data).tree_
    assert (model.predict(X) == model.labels_).all()
    backwards = FRAMES[kind](dict(reversed(columns.items())))
    with pytest.raises(ValueError, match="order"):
        model.predict(backwards)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_several_types(kind):
    X = FRAMES[kind]({"age": [20, 30, 60, 70], "member": [True, False, True, False], "spent": [1.5, 2.5, 1.0, 3.0]})
    model = CART().fit(X, ["young", "young", "old", "old"])
    assert model.tree_.to_dict()["threshold"] == 45.0
    assert model.predict(X).tolist() == ["young", "young", "old", "old"]


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_that_cannot_be_used(kind):
    text = FRAMES[kind]({"city": ["Ulm", "Bern"], "state": ["BW", "BE"]})
    with pytest.raises(DataError, match=r"not numbers: city \(String\), state \(String\); leave them out"):
        IMM().fit(text, [0, 1])
    missing = FRAMES[kind]({"age": [20.0, None, 40.0], "spent": [1.0, None, None]})
    with pytest.raises(DataError, match=r"missing values \(NaN\) in 2 of 3 rows: age \(1\), spent \(2\)"):
        IMM().fit(missing, [0, 1, 1])


def spied_tasks(monkeypatch):
    tasks = []

    def spy(task, **options):
        tasks.append(task)
        return grow_imm(task, **options)

    monkeypatch.setattr(imm_module, "grow_imm", spy)
    return tasks


def test_nothing_is_copied(monkeypatch):
    tasks = spied_tasks(monkeypatch)
    rows = np.random.default_rng(0).random((50, 3))
    for X in (rows, np.asfortranarray(rows), rows.astype("f4")):
        IMM().fit(X, np.arange(50) % 2)
        assert tasks[-1].rows.values.dtype == X.dtype
        assert np.shares_memory(tasks[-1].rows.values, X)


def test_n_jobs_is_that_of_joblib(monkeypatch):
    tasks = spied_tasks(monkeypatch)
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    IMM().fit(X, y)
    IMM(n_jobs=3).fit(X, y)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        IMM().fit(X, y)
    assert [task.n_jobs for task in tasks] == [1, 3, 2]


# ------------------------------------------------------------------------------------------- other people's tools


def test_pipeline_and_search(iris):
    pipeline = make_pipeline(StandardScaler(), IMM())
    assert set(pipeline.fit_predict(iris.data, iris.target)) == {0, 1, 2}
    search = GridSearchCV(ExKMC(random_state=0), {"n_clusters": [2, 5], "base": ["imm", "root"]}, cv=3)
    assert search.fit(iris.data).best_params_["n_clusters"] == 5
    assert search.predict(iris.data).shape == (150,)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend, iris):
    tasks = [joblib.delayed(IMM(n_clusters=k, random_state=0, n_jobs=2).fit)(iris.data) for k in (2, 3)]
    models = joblib.Parallel(n_jobs=2, backend=backend)(tasks)
    for k, model in zip((2, 3), models, strict=True):
        assert model.tree_ == IMM(n_clusters=k, random_state=0).fit(iris.data).tree_


# ----------------------------------------------------------------------------------------------------- errors


@each("estimator", ALL)
def test_errors(estimator):
    X = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0]])
    with pytest.raises(DataError, match="only one cluster, 'a'"):
        estimator().fit(X, ["a"] * 4)
    with pytest.raises(DataError, match="only one cluster, 0"):
        estimator().fit(X, [0, -1, 0, -1])
    with pytest.raises(DataError, match="at least 2 clusters"):
        estimator(n_clusters=1).fit(X)
    with pytest.raises(DataError, match="3 clusters asked for, but the table has only 2 different rows"):
        estimator(n_clusters=3).fit(X)
    with pytest.raises(DataError, match="4 rows, but there are 3 labels"):
        estimator().fit(X, [0, 1, 0])
    for table in (X, scan(pd.DataFrame(X, columns=["x0", "x1"]))):
        with pytest.raises(
            DataError, match=rf"clusterer, which goes into .*: {estimator.__name__}\(clusterer=…\)\.fit\(X\)"
        ):
            estimator().fit(table, KMeans(2))
    with pytest.raises(DataError, match="sample_weight"):
        estimator().fit(X, [0, 0, 1, 1], sample_weight=[1, 1, -1, 1])
    with pytest.raises(ValueError, match="n_jobs"):
        estimator(n_jobs=0).fit(X, [0, 0, 1, 1])


def test_few_different_rows_far_apart():
    X = np.zeros((5000, 1))
    X[-1], X[-2] = 1.0, 2.0
    with pytest.raises(DataError, match="only 3 different rows"):
        IMM(n_clusters=4).fit(X)
    assert IMM(n_clusters=3, random_state=0).fit(X).n_leaves_ == 3


@pytest.mark.parametrize("estimator", BY_KMEANS)
def test_cross_validation_by_labels_is_that_of_a_classifier_where_it_is_asked_for(estimator, iris):
    """Rows come sorted by class, so folds that are not stratified lack one each."""
    folds = StratifiedKFold(3)
    ours = cross_val_score(estimator(n_clusters=3), iris.data, iris.target, cv=folds, scoring="accuracy")
    theirs = cross_val_score(DecisionTreeClassifier(max_leaf_nodes=3), iris.data, iris.target, cv=folds)
    assert (ours >= theirs - 0.1).all()


@law(20)
def test_a_score_is_a_mean(seed):
    """Rows in parts of any sizes: the mean of the parts, by their weight, is the score of all; so is that of copies."""
    rng, X = np.random.default_rng(seed), np.random.default_rng(seed).normal(size=(60, 3))
    n, weights = int(rng.integers(1, 59)), rng.integers(1, 5, size=60)
    for model in (IMM(n_clusters=3), RandomCuts(n_clusters=3, objective="l1", random_state=0)):
        model.fit(X)
        of_parts = [model.score(X[:n], sample_weight=weights[:n]), model.score(X[n:], sample_weight=weights[n:])]
        together = np.average(of_parts, weights=[weights[:n].sum(), weights[n:].sum()])
        assert model.score(X, sample_weight=weights) == pytest.approx(together)
        assert model.score(np.repeat(X, weights, axis=0)) == pytest.approx(together)


def test_scores_of_kernels_and_concepts_are_means():
    X = np.random.default_rng(0).normal(size=(60, 3))
    concepts = ConceptMMDT(ConceptProjector.from_vectors(np.eye(3))).fit(X, X[:, 0] > 0)
    for model in (KernelIMM(n_clusters=3, random_state=0).fit(X), concepts):
        twice = np.repeat(X, 2, axis=0)
        for score in (model.score(twice), model.score(X, sample_weight=np.full(60, 2.0))):
            assert score == pytest.approx(model.score(X))
