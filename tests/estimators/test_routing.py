"""Where scikit-learn routes metadata, requests decide who takes sample weights, in pipelines and searches, too."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import boxwood as bw
from boxwood.reference.clusterer import weight_argument
from tests.scale import each, law

X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)) + corner for corner in ([0, 0], [9, 0], [0, 9])])
W = np.random.default_rng(1).uniform(0.5, 2, size=len(X))
ASKED = (True, False, None)
GOT = []  # who was fitted, and whether with weights


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Scaler(StandardScaler):
    """A scaler that tells whether it was given weights."""

    def fit(self, X, y=None, sample_weight=None):
        """Scale as the base does."""
        GOT.append(("scaler", sample_weight is not None))
        return super().fit(X, y, sample_weight)

    def fit_transform(self, X, y=None, sample_weight=None):
        """Scale as the base does."""
        return self.fit(X, y, sample_weight).transform(X)


class Means(KMeans):
    """K-means that tells whether it was given weights."""

    def fit(self, X, y=None, sample_weight=None):
        """Cluster as the base does."""
        GOT.append(("means", sample_weight is not None))
        return super().fit(X, y, sample_weight)


def requesting(estimator, asked):
    return estimator if asked is None else estimator.set_fit_request(sample_weight=asked)


def drawn(seed):
    """Return a clusterer with a scaler in one of several places, each of which asks for weights, or not, or is mute."""
    rng = np.random.default_rng(seed)
    scaler, means = (requesting(one, ASKED[rng.integers(3)]) for one in (Scaler(), Means(3, n_init=1, random_state=0)))
    searched = GridSearchCV(means.set_score_request(sample_weight=False), {"n_clusters": [3]}, cv=2)
    return (
        means,
        make_pipeline(scaler, means),
        make_pipeline("passthrough", means),
        make_pipeline(make_pipeline(scaler), make_pipeline(means)),
        make_pipeline(ColumnTransformer([("one", scaler, [0]), ("other", MinMaxScaler(), [1])]), means),
        make_pipeline(scaler, searched),
        searched,
    )[rng.integers(7)]


def told(call):
    """Return who was given weights by a call, in order, or the kind of its error."""
    GOT.clear()
    try:
        call()
    except (UnsetMetadataPassedError, TypeError) as error:
        return type(error)
    return tuple(GOT)


@law(12)
def test_weights_reach_whom_they_reach_by_a_call_of_fit(seed):
    clusterer = drawn(seed)
    direct = told(lambda: clone(clusterer).fit(X, sample_weight=W))
    own = clusterer.get_metadata_routing()
    if direct is TypeError or (isinstance(clusterer, Means) and own.fit.requests["sample_weight"] is False):
        direct = told(
            lambda: clone(clusterer).fit(X)
        )  # nobody takes weights: scikit-learn refuses, here the tree has them
    assert told(lambda: bw.explain(X, clusterer, sample_weight=W)) == direct


@law(12)
def test_explainers_ask_as_meta_estimators_do(seed):
    clusterer = drawn(seed)
    by_pipeline = told(lambda: make_pipeline(clone(clusterer)).fit(X, sample_weight=W))
    if by_pipeline is TypeError:  # it is refused there, as nobody takes weights; here the tree does
        by_pipeline = told(lambda: clone(clusterer).fit(X))
    assert told(lambda: bw.IMM(clusterer).fit(X, sample_weight=W)) == by_pipeline
    assert told(lambda: bw.IMM(clusterer).fit_predict(X, sample_weight=W)) == by_pipeline


@each("make", [
    lambda: AgglomerativeClustering(3),
    lambda: GaussianMixture(3, random_state=0),
    lambda: FrozenEstimator(KMeans(3, n_init=1, random_state=0).fit(X)),
    lambda: DBSCAN(eps=3).set_fit_request(sample_weight=True),
    lambda: bw.KMedians(3, random_state=0).set_fit_request(sample_weight=True),
    lambda: bw.KernelKMeans(3, random_state=0).set_fit_request(sample_weight=False),
    lambda: KMeans(3, n_init=1, random_state=0).set_fit_request(sample_weight="weight_of_others"),
    lambda: None,
])  # fmt: skip
def test_each_kind_of_clusterer(make):
    assert bw.IMM(make(), n_clusters=3, random_state=0).fit(X, sample_weight=W).n_leaves_ == 3
    assert bw.explain(X, make(), n_clusters=3 if make() is None else None, sample_weight=W).tree.n_leaves == 3


def test_an_explainer_is_routed_to():
    means = KMeans(3, n_init=1, random_state=0).set_fit_request(sample_weight=True)
    tree = bw.IMM(means).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scaled = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), tree)
    assert scaled.fit(X, sample_weight=W)[-1].n_leaves_ == 3
    searched = GridSearchCV(tree, {"clusterer__n_clusters": [2, 3]}, cv=2).fit(X, sample_weight=W)
    assert searched.best_params_ == {"clusterer__n_clusters": 3}
    with pytest.raises(UnsetMetadataPassedError, match=r"KMeans.fit, which is used within IMM.fit"):
        bw.IMM(KMeans(3)).fit(X, sample_weight=W)
    bw.IMM(KMeans(3)).fit(X)
    bw.IMM(KMeans(3)).fit(X, np.repeat([0, 1, 2], 20), sample_weight=W)  # no clusterer is fitted for given labels


def test_without_requests_of_its_own_a_class_gets_weights_if_its_fit_takes_them():
    class Foreign:
        def fit(self, X, sample_weight=None):
            """Take weights."""

    assert weight_argument(Foreign(), W) == {"sample_weight": W}
    assert weight_argument(AgglomerativeClustering(), W) == {}
    assert weight_argument(KMeans(), None) == {}
