"""Shares of clusters in leaves: those of the rows, in all doors, and as scikit-learn's tools take them."""

import contextlib
import pickle
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV

import boxwood as bw
from boxwood.errors import DataError
from tests.command import invoke
from tests.models import read_model
from tests.scale import law


@law(12)
def test_shares_are_those_of_the_rows_of_each_leaf(seed, tmp_path):
    r = np.random.default_rng(seed)
    n = int(r.integers(30, 80))
    X = pd.DataFrame({"a": r.random(n), "b": np.where(r.random(n) < 0.1, np.nan, r.random(n))})
    labels = np.where(X.a + r.random(n) / 2 > 0.7, "x", r.choice(["y", "z"], n))
    weights = r.integers(0, 4, n) + 0.5 if seed % 2 else None
    ex = bw.explain(X, labels, sample_weight=weights, method="cart", max_leaf_nodes=5)
    leaf, mass = ex.apply(X), np.ones(n) if weights is None else weights
    expected = [[mass[(leaf == i) & (labels == name)].sum() / mass[leaf == i].sum() for name in ex.names] for i in leaf]
    shares = ex.predict_proba(X)
    np.testing.assert_allclose(shares, expected)
    for one in ex.leaves:
        assert shares[leaf == one.leaf][:, one.cluster] == pytest.approx(one.own / one.size)
    ex.save(tmp_path / "model.json")
    renamed = ex.rename({"x": "last"})
    for other in (bw.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(ex)), renamed):
        np.testing.assert_array_equal(other.predict_proba(X), shares)


def test_a_row_without_a_leaf_has_no_shares():
    ex = bw.explain([[1.0], [2.0], [8.0]], ["low", "low", "high"], columns=["age"])
    np.testing.assert_array_equal(ex.predict_proba([[None], [1.0]], missing="none"), [[np.nan, np.nan], [0.0, 1.0]])
    with pytest.raises(DataError, match="missing"):
        ex.predict_proba([[None]], missing="error")


def test_a_model_that_was_saved_without_them_is_refused():
    document = bw.explain([[1.0], [2.0], [8.0]], ["low", "low", "high"]).to_json().replace('"held"', '"unread"')
    with pytest.raises(DataError, match="save it anew"):
        read_model(document).predict_proba([[1.0]])


def test_scorers_and_calibration_of_scikit_learn_take_the_shares():
    r = np.random.default_rng(0)
    X, labels = r.random((300, 2)), r.integers(0, 3, 300)
    labels = np.where(X[:, 0] > 0.6, 2, labels)
    estimator = bw.CART(max_leaf_nodes=6).fit(X, labels)
    shares = estimator.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert estimator.reference_.names == (0, 1, 2)
    assert get_scorer("neg_log_loss")(estimator, X, labels) == -log_loss(labels, shares)
    assert get_scorer("roc_auc_ovr")(estimator, X, labels) > 0.7
    assert estimator.classes_.tolist() == [0, 1, 2]
    said, true = calibration_curve(labels == 2, shares[:, 2])[::-1]
    np.testing.assert_allclose(said, true)  # on the rows of the fit


@law(6)
def test_calibration_and_searches_of_scikit_learn_take_estimators(seed):
    r = np.random.default_rng(seed)
    X, names = r.random((150, 2)), np.array(["a", "b", "c"][: 2 + seed % 2])
    labels = np.where(X[:, 0] > 0.6, names[-1], r.choice(names, 150))
    estimator = [bw.CART(max_leaf_nodes=4), bw.IMM(), bw.ExKMC(max_leaf_nodes=5)][seed % 3]
    with pytest.raises(AttributeError):
        _ = estimator.classes_
    fitted = clone(estimator).fit(X, labels)
    assert fitted.classes_.tolist() == names.tolist() == list(fitted.reference_.names)
    frozen = CalibratedClassifierCV(FrozenEstimator(fitted)).fit(X, labels)
    for how in ({}, {"ensemble": False}):
        calibrated = CalibratedClassifierCV(clone(estimator), cv=3, **how).fit(X, labels)
        assert calibrated.classes_.tolist() == names.tolist()
        assert log_loss(labels, calibrated.predict_proba(X)) < np.log(len(names))
    shares, found = fitted.predict_proba(X), frozen.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    if len(names) == 2:  # what is calibrated rises with the share
        assert (np.diff(found[np.argsort(shares[:, 0], kind="stable"), 0]) >= -1e-12).all()
        assert get_scorer("roc_auc")(fitted, X, labels) == roc_auc_score(labels == "b", shares[:, 1])
    search = GridSearchCV(bw.CART(), {"max_leaf_nodes": [3, 5]}, scoring="neg_log_loss", cv=3).fit(X, labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


ENGINES = {"duckdb": duckdb.connect, "sqlite": lambda: sqlite3.connect(":memory:")}


@pytest.mark.parametrize("engine", ENGINES)
@law(6)
def test_sql_gives_the_share_of_the_own_cluster_of_each_leaf(seed, engine, tmp_path):
    r = np.random.default_rng(seed)
    n = int(r.integers(30, 80))
    X = pd.DataFrame({"a": r.random(n), "cluster_share": r.random(n)})  # the new column has another name then
    labels = np.where(X.a + r.random(n) / 2 > 0.7, "x", r.choice(["y", "z"], n))
    weights = r.integers(0, 4, n) + 0.1 if seed % 2 else None
    ex = bw.explain(X, labels, sample_weight=weights, method="cart", max_leaf_nodes=2 + seed % 5)
    X = X.mask(r.random(X.shape) < 0.1)
    own = ex.tree.leaf_clusters[leaf := ex.apply(X, missing="none")]
    expected = np.where(leaf < 0, np.nan, ex.predict_proba(X, missing="none")[np.arange(n), own])
    ex.save(tmp_path / "model.json")
    with contextlib.closing(ENGINES[engine]()) as connection:
        connection.execute("CREATE TABLE seen (a DOUBLE, cluster_share DOUBLE)")
        connection.executemany(
            "INSERT INTO seen VALUES (?, ?)", X.astype(object).where(X.notna(), None).values.tolist()
        )
        for model in (ex, bw.load(tmp_path / "model.json")):
            layout, reasons = r.choice(["flat", "nested"]), bool(r.integers(2))
            query = model.to_sql(engine, "seen", layout=layout, reasons=reasons, share=True)
            found = connection.execute(f'SELECT "cluster", "cluster_share_1" FROM ({query}) AS q').fetchall()
            np.testing.assert_array_equal(np.array([share for _, share in found], dtype=float), expected)
            plain = connection.execute(model.to_sql(engine, "seen", layout=layout, reasons=reasons)).fetchall()
            assert [cluster for cluster, _ in found] == [row[-1] for row in plain]
            both = model.to_sql(engine, alias="segment", share=True)
            named = connection.execute(f"SELECT\n{both}\nFROM seen")
            assert [name for name, *_ in named.description] == ["segment", "segment_share"]


@law(8)
def test_python_gives_the_share_of_the_own_cluster_of_each_leaf(seed, tmp_path):
    r = np.random.default_rng(seed)
    n = int(r.integers(30, 80))
    share = "share" if seed % 2 else 7  # names of columns may be numbers, and that of the function
    X = pd.DataFrame({"day": pd.Timestamp("2026-07-31") - pd.to_timedelta(r.integers(0, 400, n), "D")})
    X = X.assign(word=r.choice(["u", "v", "w"], n)).assign(**{str(share): r.random(n)})
    labels = np.where((X[str(share)] > 0.5) & (X.word != "u"), "x", r.choice(["y", "z"], n) if seed != 3 else "x")
    as_of, weights = "2026-07-31" if seed % 3 else None, r.integers(1, 4, n)
    ex = bw.explain(X, labels, method="cart", max_leaf_nodes=2 + seed, as_of=as_of, sample_weight=weights)
    seen = X.astype(object).mask(r.random(X.shape) < 0.1, None)
    ex.save(tmp_path / "model.json")
    for model in (ex, bw.load(tmp_path / "model.json")):
        leaf = model.apply(seen, missing="none", as_of=as_of)
        shares = model.predict_proba(seen, missing="none", as_of=as_of)
        expected = np.where(leaf < 0, np.nan, shares[range(n), model.tree.leaf_clusters[leaf]])
        names, without = {}, {}
        exec(model.to_python(share=True, as_of=as_of), names)
        exec(model.to_python(), without)
        assert sorted(names["__all__"]) == sorted([*without["__all__"], "share"])
        rows = seen.rename(columns={str(share): share}).to_dict("records")
        np.testing.assert_array_equal(np.array([names["share"](row) for row in rows], dtype=float), expected)


@pytest.mark.parametrize("form", ["sql", "python"])
def test_the_command_writes_shares(form, tmp_path):
    ex = bw.explain([[1.0], [2.0], [8.0]], ["low", "low", "high"], columns=["age"])
    ex.save(tmp_path / "model.json")
    written = invoke("export", tmp_path / "model.json", "--to", form, "--share")
    assert written.stdout.strip() == getattr(ex, f"to_{form}")(share=True)
    refused = invoke("export", tmp_path / "model.json", "--to", "javascript", "--share", code=2)
    assert "--share needs --to sql or --to python" in refused.stderr
