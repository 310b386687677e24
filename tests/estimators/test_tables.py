"""Estimators on tables that are read in batches, and on frames with labels and weights in columns."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture

import boxwood as bw
from boxwood.errors import DataError
from tests.scale import law
from tests.scattered import scattered

EXPANDED = {"look_ahead": False}
EXPLAINERS = [(bw.IMM, {}), (bw.MMDT, {}), (bw.ExKMC, EXPANDED), (bw.Expand, EXPANDED)]
EACH = pytest.mark.parametrize(("explainer", "options"), EXPLAINERS, ids=lambda one: getattr(one, "__name__", ""))


def table(seed=0, n=300, k=3):
    rng = np.random.default_rng(seed)
    X, y = make_blobs(n, 3, centers=k, cluster_std=2, random_state=seed)
    return X.round(1), np.array(["north", "south", "east", "west"])[y], rng.integers(1, 4, size=n).astype(float)


@EACH
@law(3)
def test_the_tree_of_a_table_is_that_of_its_rows_in_memory(explainer, options, seed):
    X, labels, weights = table(seed)
    source = scattered(X, seed, segment=labels, w=weights)
    model = explainer(**options).fit(source, "segment", "w")
    there = explainer(**options).fit(X, labels, weights)
    assert model.tree_ == there.tree_
    assert model.n_leaves_ == there.n_leaves_
    np.testing.assert_array_equal(model.cluster_centers_, there.cluster_centers_)
    assert (model.feature_names_in_.tolist(), model.n_features_in_) == (["x0", "x1", "x2"], 3)
    assert model.reference_.names == there.reference_.names
    assert model.price_ == pytest.approx(there.price_, rel=1e-12)
    ex, expected = model.explanation_, there.explanation_
    assert (ex.agreement, ex.n_rows) == (pytest.approx(expected.agreement), expected.n_rows)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    np.testing.assert_array_equal(model.predict(frame), there.predict(X))
    np.testing.assert_array_equal(model.predict(frame.assign(segment=labels, w=weights)), there.predict(X))
    assert model.score(frame, sample_weight=weights) == pytest.approx(there.score(X, sample_weight=weights))


@pytest.mark.crossed
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("explainer", [bw.IMM, bw.MMDT, bw.CART, bw.KernelIMM])
def test_columns_of_a_frame_may_hold_labels_and_weights(make, explainer):
    X, labels, weights = table()
    rows = {f"x{j}": X[:, j] for j in range(3)}
    whole = make({"segment": labels, **rows, "w": weights})
    model = explainer().fit(whole, "segment", "w")
    there = explainer().fit(make(rows), labels, weights)
    assert model.tree_ == there.tree_
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    for frame in (whole, make(rows)):
        np.testing.assert_array_equal(model.predict(frame), there.predict(make(rows)))
    np.testing.assert_array_equal(model.fit_predict(whole, "segment", "w"), there.labels_)
    assert model.price_ == there.price_
    assert bw.explain(whole, model) == model.explanation_


def test_names_need_columns():
    X, labels, _ = table()
    with pytest.raises(DataError, match="no column 'segmnt'"):
        bw.IMM().fit(pd.DataFrame({"x": X[:, 0], "segment": labels}), "segmnt")
    with pytest.raises(DataError, match=r"^'x{198}… names a column, but X is not a data frame"):
        bw.IMM().fit(X, "x" * 10**5)
    with pytest.raises(DataError, match="'segment' names a column, but X is not a data frame"):
        bw.IMM().fit(X, "segment")
    with pytest.raises(DataError, match="has no column 'segmnt'"):
        bw.IMM().fit(scattered(X, 0, segment=labels), "segmnt")
    with pytest.raises(DataError, match="labels must be the name of a column"):
        bw.IMM().fit(scattered(X, 0), labels)
    with pytest.raises(DataError, match="sample_weight must be the name of a column"):
        bw.IMM().fit(scattered(X, 0, segment=labels), "segment", np.ones(len(X)))


@pytest.mark.parametrize("explainer", [bw.IMM, bw.MMDT])
def test_clusters_are_made_here(explainer):
    X, _, _ = table(4, n=600, k=4)
    model = explainer(n_clusters=4, random_state=0).fit(scattered(X, 0))
    there = explainer(n_clusters=4, random_state=0).fit(X)
    assert model.price_ == pytest.approx(there.price_, rel=0.02)
    assert type(model.clusterer_) is (GaussianMixture if explainer is bw.MMDT else KMeans)
    agreement = bw.explain(pd.DataFrame(X, columns=["x0", "x1", "x2"]), model).agreement  # by the clusterer's clusters
    assert agreement == pytest.approx(model.explanation_.agreement, abs=1e-12)


def test_a_frozen_clusterer_gives_the_clusters():
    X, _, _ = table(5)
    kmeans = KMeans(3, random_state=0).fit(X)
    model = bw.IMM(FrozenEstimator(kmeans)).fit(scattered(X, 0))
    np.testing.assert_array_equal(model.cluster_centers_, kmeans.cluster_centers_)
    mixture = GaussianMixture(3, random_state=0).fit(X)
    by_mixture = bw.MMDT(FrozenEstimator(mixture)).fit(scattered(X, 0))
    assert by_mixture.tree_ == bw.MMDT(FrozenEstimator(mixture)).fit(X).tree_


def test_what_needs_rows_in_memory_is_refused():
    X, labels, _ = table()
    source = scattered(X, 0, segment=labels)
    with pytest.raises(DataError, match="method 'kernel_imm' needs all rows in memory"):
        bw.KernelIMM().fit(source, "segment")
    with pytest.raises(DataError, match="AgglomerativeClustering cannot be fitted on a table in batches"):
        bw.IMM(AgglomerativeClustering(3)).fit(source)
    with pytest.raises(DataError, match="fit_predict needs rows in memory"):
        bw.IMM().fit_predict(source, "segment")
    with pytest.raises(DataError, match="only one cluster, 'one'"):
        bw.IMM().fit(scattered(X, 0, segment=["one"] * len(X)), "segment")
    assert source.runs == 0
    model = bw.IMM()
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(source, "segment")
    with pytest.raises(DataError, match="predict needs rows in memory"):
        model.predict(source)
    with pytest.raises(DataError, match="there are no labels_"):
        _ = model.labels_
    assert not hasattr(model, "labels_")
    _ = model.explanation_
    with pytest.raises(AttributeError, match="there are no labels_"):
        _ = model.labels_


def test_columns_that_rules_cannot_use_are_left_out_with_a_warning():
    X, labels, _ = table()
    source = scattered(X, 0, segment=labels, town=labels, late=X[:, 0] > 0)
    with pytest.warns(UserWarning, match="town"):
        model = bw.IMM().fit(source, "segment")
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2", "late"]
    assert "town" in " ".join(model.explanation_.notes)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(late=X[:, 0] > 0, town=labels)
    assert len(model.predict(frame)) == len(X)


def test_a_pickle_holds_the_explanation_and_no_table():
    X, labels, _ = table()
    source = scattered(X, 0, segment=labels)
    model = bw.IMM().fit(source, "segment")
    read = pickle.loads(pickle.dumps(model))
    assert read.explanation_ == model.explanation_
    assert read.tree_ == model.tree_
    assert len(pickle.dumps(model)) < X.nbytes + 20_000
    assert not hasattr(read, "labels_")


def test_a_failed_fit_leaves_the_fit_before():
    X, labels, _ = table()
    model = bw.IMM().fit(scattered(X, 0, segment=labels), "segment")
    with pytest.raises(DataError):
        model.fit(scattered(X, 0, segment=labels), "other")
    assert model.predict(pd.DataFrame(X, columns=["x0", "x1", "x2"])).shape == (len(X),)
    model.fit(X, labels)  # and rows in memory bring back labels_
    assert len(model.labels_) == len(X)
