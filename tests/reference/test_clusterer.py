"""K-means on the rows that it was fitted on, and on other rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import boxwood as bw
from boxwood._threads import one_thread
from boxwood._validation import Rows
from boxwood.reference import clusterer
from boxwood.reference.clusterer import fitted_clusterer, reference_of
from tests.scale import each, seeds


class Bare:
    """A clusterer that has the methods of scikit-learn's, and none of its base classes."""

    def __init__(self, at=0.5):
        self.at = at

    def fit(self, X, y=None):
        self.labels_ = self.predict(X)
        return self

    def predict(self, X):
        """Return whether the first number of each row is above one."""
        return (np.asarray(X)[:, 0] > self.at) * 1

    def get_params(self, deep=True):
        """Return what it was made with."""
        return {"at": self.at}

    def set_params(self, **given):
        """Set what it was made with."""
        self.at = given["at"]
        return self


def test_a_clusterer_without_a_base_class_of_scikit_learn_is_cloned_and_fitted():
    X = np.random.default_rng(0).normal(size=(60, 2))
    for given in (Bare(), Bare().fit(X)):
        assert bw.explain(X, given, method="cart").agreement == 1.0


class Counting(KMeans):
    """K-means that counts how often it predicts."""

    predicted = 0

    def predict(self, X):
        """Return the labels of the nearest centres."""
        self.predicted += 1
        return super().predict(X)


def blobs(seed, n=60):
    rng = np.random.default_rng(seed)
    return 5 * rng.normal(size=(4, 3))[rng.integers(4, size=n)] + rng.normal(size=(n, 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_predicted_for_the_rows_of_its_fit(dtype):
    for seed in seeds(20):
        X = blobs(seed).astype(dtype)
        kmeans = Counting(4, n_init=1, random_state=seed).fit(X)
        reference = reference_of(kmeans, X, Rows.of(X))
        assert reference.labels.tolist() == kmeans.labels_.tolist()
        assert kmeans.predicted == 0


def test_k_means_of_a_small_table_is_the_same_on_any_number_of_threads():
    for seed in seeds(8):
        X = blobs(seed, n=2000)
        args = (None, X, Rows.of(X))
        many = fitted_clusterer(*args, n_clusters=4, random_state=seed)
        with one_thread():
            one = fitted_clusterer(*args, n_clusters=4, random_state=seed)
        assert many.cluster_centers_.tobytes() == one.cluster_centers_.tobytes()


def test_other_rows_are_predicted():
    for seed in seeds(20):
        kmeans, other = Counting(4, n_init=1, random_state=seed).fit(blobs(seed)), blobs(seed + 1000)
        assert reference_of(kmeans, other, Rows.of(other)).labels.tolist() == kmeans.predict(other).tolist()


def test_whether_it_was_fitted_on_rows_does_not_depend_on_the_way(monkeypatch):
    """Labels of some rows are exchanged, the fewer the nearer the case is to the bound."""
    for seed in seeds(60):
        rng, X = np.random.default_rng(seed), blobs(seed) + 10.0 ** (seed % 9)
        kmeans = KMeans(4, n_init=1, random_state=seed).fit(X)
        exchanged = rng.choice(len(X), size=seed % 3, replace=False)
        kmeans.labels_[exchanged] = rng.integers(4, size=len(exchanged))
        found = []
        for quick in (0, 1 << 23):
            monkeypatch.setattr(clusterer, "QUICK", quick)
            found.append(clusterer._was_fitted_on(kmeans, X, Rows.of(X)))
        assert found[0] == found[1]


@pytest.mark.parametrize("make", [np.asarray, lambda X: pd.DataFrame(X, columns=["a", "b", "c"])])
def test_rows_of_a_large_table_are_recognised_by_what_they_cost(make, monkeypatch):
    monkeypatch.setattr(clusterer, "QUICK", 0)
    for seed in seeds(20):
        X = blobs(seed)
        kmeans = Counting(4, n_init=1, random_state=seed).fit(make(X))
        assert reference_of(kmeans, make(X), Rows.of(X)).labels.tolist() == kmeans.labels_.tolist()
        assert kmeans.predicted == 0
        mirrored = 2 * kmeans.cluster_centers_[kmeans.labels_] - X  # they cost as much, but others may be nearer
        found = reference_of(kmeans, make(mirrored), Rows.of(mirrored)).labels
        assert found.tolist() == kmeans.predict(make(mirrored)).tolist()


def test_columns_in_another_order_are_those_of_the_fit():
    X = pd.DataFrame(blobs(0), columns=["a", "b", "c"])
    kmeans = Counting(4, n_init=1, random_state=0).fit(X)
    with pytest.raises(ValueError, match="order"):
        reference_of(kmeans, X[["b", "a", "c"]], Rows.of(X))


@each("estimator, words", [
    (DecisionTreeClassifier(), "DecisionTreeClassifier learns from labels, so it finds no clusters by itself"),
    (LinearRegression(), "LinearRegression learns from labels"),
    (HistGradientBoostingClassifier(), "HistGradientBoostingClassifier learns from labels"),
    (make_pipeline(StandardScaler(), DecisionTreeClassifier()), "DecisionTreeClassifier learns from labels"),
    (GridSearchCV(DecisionTreeClassifier(), {}), "GridSearchCV learns from labels"),
    (make_pipeline(StandardScaler(), "passthrough"), "the last step of the pipeline is 'passthrough', which finds no"),
    (make_pipeline(KMeans(3), "passthrough"), "the last step of the pipeline is 'passthrough', which finds no"),
])  # fmt: skip
def test_what_finds_no_clusters_is_refused_before_it_is_fitted(estimator, words):
    X = blobs(0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for call in (
        lambda: bw.explain(X, estimator),
        lambda: bw.explain(frame.assign(word="u"), estimator),
        lambda: bw.compare(X, estimator),
        lambda: bw.IMM(estimator).fit(X),
    ):
        with pytest.raises(bw.DataError, match=words):
            call()


@each(
    "random_state, error", [(np.random.default_rng(0), TypeError), ("a", TypeError), (-1, ValueError), (1.5, TypeError)]
)
def test_randomness_is_that_of_scikit_learn(random_state, error):
    X, words = blobs(0), "random_state must be a whole number from 0 to 4294967295, a RandomState or None; got"
    for call in (
        lambda: bw.explain(X, n_clusters=3, random_state=random_state),
        lambda: bw.explain(X, X[:, 0] > 0, random_state=random_state),
        lambda: bw.compare(X, n_clusters=3, random_state=random_state),
        lambda: bw.explain(X, n_clusters=3).stability(random_state=random_state),
    ):
        with pytest.raises(error, match=words):
            call()
