import copy
import json
import os
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
)
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boxwood
from boxwood import Expand, KernelKMeans, Reference, explain, grow, load, scan
from boxwood.errors import DataError, ModelError
from boxwood.explanation.choose import on_table, settings
from boxwood.explanation.measure import measure
from tests import naive
from tests.cases import make_case
from tests.models import read_model
from tests.scale import SLOW, draws, each, seeds

METHODS = ["auto", "imm", "exkmc", "expand", "cart"]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def usable(seed):
    """Return a generated case with two clusters or more that no equal centres forbid, or None."""
    case = make_case(seed)
    reference = Reference.of(case.X, case.labels, sample_weight=case.weights)
    distinct = len(np.unique(reference.first_of_equal_centers())) == reference.n_clusters
    return case if distinct and reference.n_clusters > 1 else None


def explained(seed):
    """Return a usable case and its explanation, by another method for each seed."""
    case = usable(seed)
    if case is None:
        return None
    standardize = seed % 7 == 3
    method = "auto" if standardize else METHODS[seed % len(METHODS)]  # scaled centres may round to equal ones
    leaves = None if seed % 2 or method == "imm" else len(np.unique(case.labels)) + seed % 3
    options = {"method": method, "max_leaf_nodes": leaves, "sample_weight": case.weights}
    return case, explain(case.X, case.labels, standardize=standardize, **options)


@pytest.fixture(scope="module")
def examples():
    return [pair for pair in map(explained, seeds(100)) if pair is not None]


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def wine_explained(wine):
    return explain(wine, n_clusters=3, standardize=True)


# ------------------------------------------------------------------------------------------------ what it promises


def test_rules_reproduce_predict(examples):
    for case, ex in examples:
        predicted, leaves = ex.predict(case.X), ex.apply(case.X)
        for r, row in enumerate(case.X.tolist()):
            named = dict(zip(ex.columns, row, strict=True))
            held = [leaf.leaf for leaf in ex.leaves if naive.holds(leaf.rule, named)]
            assert held == [leaves[r]]
            assert predicted[r] == ex.names[ex.leaves[held[0]].cluster]


@pytest.mark.crossed
@pytest.mark.parametrize("loader", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("method", METHODS)
def test_rules_reproduce_predict_on_real_tables(loader, method):
    X = loader(as_frame=True).data
    ex = explain(X, n_clusters=4, method=method)
    predicted = ex.predict(X)
    assert (predicted == ex.tree.predict(X[list(ex.columns)])).all()
    for r, row in enumerate(X.to_dict("records")):
        (name,) = [cluster.name for cluster in ex.clusters if any(naive.holds(rule, row) for rule in cluster.rules)]
        assert name == predicted[r]


def test_measurements_equal_the_naive_ones(examples):
    for case, ex in examples:
        expected = naive.measured(ex, ex.columns, case.X.tolist(), case.labels.tolist(), case.weights)
        for cluster, numbers in zip(ex.clusters, expected, strict=True):
            found = cluster.size, cluster.share, cluster.matched, cluster.found, cluster.precision
            assert found == pytest.approx(numbers)
        w = np.ones(len(case.X)) if case.weights is None else case.weights
        kept = case.labels != -1
        assert ex.agreement == pytest.approx(np.average(ex.predict(case.X)[kept] == case.labels[kept], weights=w[kept]))
        assert (ex.n_rows, ex.n_left_out) == (len(case.X), int((~kept).sum()))
        assert sum(leaf.size for leaf in ex.leaves) == pytest.approx(w[kept].sum())
        assert ex.details.noise == naive.noise(ex, ex.columns, case.X.tolist(), case.labels.tolist())
        assert sum(ex.details.noise) == ex.n_left_out
        assert ex.details.weighted == (case.weights is not None)
        if case.weights is None:
            assert all(type(cluster.size) is int for cluster in ex.clusters)


def test_what_the_growth_knows_is_not_measured_again(monkeypatch):
    case, k = make_case(0), 3
    X, labels = case.X, np.arange(len(case.X)) % k
    plain = explain(X, labels)
    grow_for = on_table.grow_for

    def grow_and_tell(task, name, **options):
        grown = grow_for(task, name, **options)
        return grown._replace(attributes={**grown.attributes, "costs": lambda: (plain.cost, plain.reference_cost)})

    monkeypatch.setattr(on_table, "grow_for", grow_and_tell)
    monkeypatch.setattr(measure, "costs_of", None)
    assert explain(X, labels) == plain
    monkeypatch.undo()
    monkeypatch.setattr(on_table, "grow_for", grow_and_tell)
    limited = explain(X, labels, round_thresholds=1)  # rows may move
    assert limited.cost == pytest.approx(boxwood.metrics.cost(X, limited.tree))
    assert limited.cost != plain.cost


def test_measurements_equal_those_of_metrics(examples):
    for case, ex in examples[:300]:
        if ex.details.standardized:
            continue
        reference = Reference.of(case.X, case.labels)
        w = {"sample_weight": case.weights}
        assert ex.price == pytest.approx(boxwood.metrics.price_of_explainability(case.X, ex.tree, reference, **w))
        predicted = ex.predict(case.X)
        index = boxwood.metrics.agreement(case.labels, predicted, **w).adjusted_rand
        assert ex.adjusted_rand == pytest.approx(index, rel=1e-12, abs=1e-15)
        kept = case.labels != -1
        left_out = None if case.weights is None else case.weights[kept]
        found = boxwood.metrics.readability(case.X[kept], ex.tree, sample_weight=left_out)
        assert ex.readability == pytest.approx(found)


def test_short_thresholds_keep_every_row_on_its_side():
    for seed in seeds(100):
        case = usable(seed)
        if case is None:
            continue
        reference = Reference.of(case.X, case.labels, sample_weight=case.weights)
        tree = grow.imm(case.X, reference, sample_weight=case.weights)
        ex = explain(case.X, case.labels, method="imm", sample_weight=case.weights)
        assert (ex.apply(case.X) == tree.apply(case.X)).all()
        assert ex.tree == tree.shortened(case.X)


def test_json_keeps_everything(examples):
    for _, ex in examples:
        copy = read_model(ex.to_json())
        assert copy == ex
        assert hash(copy) == hash(ex)
        assert str(copy) == str(ex)


def test_same_input_same_explanation(wine):
    first = explain(wine, n_clusters=4)
    assert explain(wine, n_clusters=4, random_state=0) == first


def test_threads_share_no_state(wine):
    wine = wine[wine.columns[:5]]
    labels = KMeans(4, random_state=0).fit_predict(wine)
    with ThreadPoolExecutor(8) as pool:  # which begin together, and most of which go on with a second call
        first, *others = pool.map(lambda _: explain(wine, labels, max_leaf_nodes=5), range(draws(8)))
    assert all(other == first for other in others)


def test_warnings_stay_as_threads_share_them(wine, monkeypatch):
    """Python's filters are one for all threads: only pandas' own `astype` and numba's compiler touch them."""
    table = wine[wine.columns[:5]].assign(word=np.resize(["a", "b", "c"], len(wine)))
    table.iloc[::7, 0] = np.nan
    labels = KMeans(4, random_state=0).fit_predict(wine)
    entered = []
    enter = warnings.catch_warnings.__enter__

    def noted(self):
        entered.append(sys._getframe(1).f_globals["__name__"].split(".")[0])
        return enter(self)

    monkeypatch.setattr(warnings.catch_warnings, "__enter__", noted)
    explain(table, "word").predict(table.drop(columns="word"))
    explain(table, labels, max_leaf_nodes=5).predict(table)
    assert set(entered) <= {"pandas", "numba"}


def test_weights_are_repeated_rows(wine):
    times = np.random.default_rng(0).integers(1, 4, size=len(wine))
    labels = KMeans(4, random_state=0).fit_predict(wine)
    for standardize in (False, True):
        weighted = explain(wine, labels, sample_weight=times, standardize=standardize)
        repeated = explain(wine.loc[wine.index.repeat(times)], np.repeat(labels, times), standardize=standardize)
        assert weighted.tree == repeated.tree
        assert weighted.price == pytest.approx(repeated.price)
        assert [c.size for c in weighted.clusters] == [c.size for c in repeated.clusters]


# ------------------------------------------------------------------------------------------------------------ auto


def tables():
    blobs = [
        make_blobs(300, d, centers=k, cluster_std=2.5, random_state=k)[0] for d, k in ((2, 4), (3, 6), (5, 10), (8, 5))
    ]
    real = [load().data for load in (load_iris, load_wine, load_breast_cancer, load_diabetes)]
    rng = np.random.default_rng(0)
    odd = [make_moons(300, noise=0.1, random_state=0)[0], make_circles(300, noise=0.1, factor=0.4, random_state=0)[0]]
    return [*blobs, *real, *odd, rng.normal(size=(200, 6)), rng.exponential(size=(200, 3)) ** 3]


@pytest.mark.parametrize(
    ("i", "more"), [(i, more) for i in range(12) for more in (0, 3) if SLOW or more == 3 * (i % 2)]
)
def test_auto_costs_no_more_than_any_method(i, more):
    X = tables()[i]
    labels = KMeans(5, random_state=0).fit_predict(X)
    auto = explain(X, labels, max_leaf_nodes=5 + more)
    assert {leaf.cluster for leaf in auto.leaves} == set(range(5))
    for method in METHODS[2:] if more else METHODS[1:]:
        other = explain(X, labels, method=method, max_leaf_nodes=5 + more)
        assert auto.cost <= other.cost * (1 + 1e-12), (method, auto.method)


@pytest.mark.parametrize("i", [8, 9])
def test_auto_makes_no_more_mistakes_where_clusters_are_not_of_means(i):
    make, options = ((make_moons, {"noise": 0.1}), (make_circles, {"noise": 0.05, "factor": 0.4}))[i - 8]
    X, labels = make(400, random_state=0, **options)
    auto = explain(X, labels, max_leaf_nodes=6)
    for method in METHODS[2:]:
        other = explain(X, labels, method=method, max_leaf_nodes=6)
        assert auto.agreement >= other.agreement or len({leaf.cluster for leaf in other.leaves}) < 2


def test_methods_and_their_leaves(wine):
    labels = KMeans(3, random_state=0).fit_predict(wine)
    found = {method: explain(wine, labels, method=method).n_leaves for method in METHODS}
    assert found["auto"] == found["imm"] == 3
    assert found["cart"] <= 3
    from_root = explain(wine, labels, method="exkmc", max_leaf_nodes=2)
    assert (from_root.n_leaves, from_root.method) == (2, "exkmc-root")
    with pytest.raises(ValueError, match=r"'imm' makes one leaf for each of 3 clusters.*max_leaf_nodes=4"):
        explain(wine, labels, method="imm", max_leaf_nodes=4)


def test_fewer_leaves_than_clusters(wine):
    ex = explain(wine, n_clusters=4, max_leaf_nodes=2)
    missing = [cluster for cluster in ex.clusters if not cluster.rules]
    assert len(missing) == 2
    assert all(cluster.found == 0 and cluster.precision is None for cluster in missing)
    told = [note for note in ex.notes if note.startswith("no rule for")]
    assert len(told) == 2
    for cluster, note in zip(missing, told, strict=True):
        assert f"no rule for cluster {cluster.name}: its {cluster.size} rows are in the rules of cluster" in note


def test_the_rows_of_a_cluster_without_a_leaf_are_told_by_their_weight():
    weights = [1.25, 1.5, 3.0, 3.0, 0.12, 0.02]
    ex = explain([[0.0], [0.0], [9.0], [9.0], [8.0], [8.0]], list("aabbcc"), sample_weight=weights, max_leaf_nodes=2)
    assert any(note.startswith("no rule for c: its rows, of weight 0.1, are in the rules of b") for note in ex.notes)


def test_a_copy_knows_the_same_rows(wine):
    ex = explain(wine, n_clusters=3, max_leaf_nodes=4)
    profile = ex.profile()
    for twin in (copy.copy(ex), copy.deepcopy(ex)):
        assert twin == ex
        assert twin.profile() == profile
        assert twin._rows() is ex._rows()
        assert twin._kept is not ex._kept
    assert copy.deepcopy(ex).tree is not ex.tree
    assert pickle.loads(pickle.dumps(ex))._evidence is None


def test_stopping_early_is_a_note():
    X, labels = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
    (note,) = explain(X, labels, max_leaf_nodes=4).notes
    stopped = "the tree has 2 leaves instead of 4: "
    assert note == f"{stopped}no tree with more leaves was found that gets more rows right or costs less"
    (note,) = explain(X, labels, method="expand", max_leaf_nodes=4).notes
    assert "no further cut, alone or with a second one, lowers the number of mistakes" in note
    (note,) = explain(X, labels, method="exkmc", max_leaf_nodes=4, look_ahead=False).notes
    assert note == "the tree has 2 leaves instead of 4: no single further cut lowers the cost"
    assert explain(X, labels).notes == ()


def test_equal_centers_leave_imm_out():
    X, labels = np.array([[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]]), ["a", "a", "b", "b", "a", "a"]
    ex = explain(X, labels, max_leaf_nodes=3)
    assert "equal centres (a and b)" in ex.notes[0]
    assert "a and b" in ex.to_text()
    for method in ("imm", "exkmc"):
        with pytest.raises(DataError, match=r"equal centres, .*: a and b; .*method 'auto' or 'cart'"):
            explain(X, labels, method=method)


@pytest.mark.parametrize("options", [{}, {"base": "imm"}])
def test_expand_begins_from_the_root_where_centres_are_equal(options):
    X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]] * 5)
    labels = np.array([0, 0, 1, 1] * 5)
    note = "grown from the root, as clusters have equal centres (0 and 1), which IMM cannot separate"
    table = scan(pd.DataFrame(X, columns=["x0", "x1"]).assign(label=labels))
    for ex in (
        explain(X, labels, method="expand", **options),
        explain(table, "label", method="expand", **options),  # by passes
        Expand(**options).fit(X, labels).explanation_,
    ):
        assert (ex.n_leaves, ex.agreement, ex.notes) == (4, 1.0, (note,))


def test_auto_keeps_to_the_clusters_it_was_given():
    """A tree that costs less than the clusters has found others: that is no reason to take it."""
    for seed in seeds(25):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(3, 6))
        labels = rng.integers(k, size=300)
        X = (3 * rng.normal(size=(k, 2)))[labels] + rng.normal(size=(300, 2))
        labels = X[:, 0].round(0).astype(int) // 2  # given by hand: slices that no clusterer would make
        auto, cart = explain(X, labels), explain(X, labels, method="cart")
        assert auto.agreement >= cart.agreement - 0.02, seed


def test_rows_without_weight_are_not_sampled(monkeypatch):
    monkeypatch.setattr(settings, "ROWS", 500)
    X, labels = make_blobs(3000, 2, centers=3, random_state=0)
    weights = np.zeros(3000)
    weights[[np.flatnonzero(labels == c)[0] for c in range(3)]] = 1.0
    assert explain(X, labels, sample_weight=weights).agreement == 1.0


def test_notes_do_not_speak_of_a_tree_that_was_not_grown(monkeypatch):
    monkeypatch.setattr(settings, "ROWS", 500)
    X, labels = make_blobs(3000, 2, centers=4, random_state=0)
    assert "IMM" not in explain(X, labels, max_leaf_nodes=2).notes[0]


def test_k_means_far_from_zero_keeps_its_labels():
    """Times in milliseconds: predicting them again would lose all digits of the distances."""
    groups = np.repeat(np.arange(4), 50)
    X = (1_700_000_000_000.0 + 15_000 * groups + np.random.default_rng(0).integers(100, size=200))[:, None]
    assert explain(X, n_clusters=4).agreement == 1.0
    assert sorted(cluster.size for cluster in explain(X, n_clusters=4).clusters) == [50] * 4


def test_constant_columns_are_never_cut():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(300, 0.1), rng.normal(size=300).round(1)])
    labels = rng.integers(0, 6, size=300)
    for method in METHODS:
        assert 0 not in explain(X, labels, method=method).tree.features


def test_large_tables_are_sampled(monkeypatch):
    X, labels = make_blobs(1200, 2, centers=4, cluster_std=3, random_state=0)
    whole = explain(X, labels, max_leaf_nodes=6)
    monkeypatch.setattr(settings, "ROWS", 300)
    sampled = explain(X, labels, max_leaf_nodes=6)
    assert not any("sample" in note for note in whole.notes)
    assert "random sample of 300 of 1,200 rows" in sampled.notes[0]
    assert (whole.search_report.n_sampled, sampled.search_report.n_sampled) == (1200, 300)
    assert sampled == explain(X, labels, max_leaf_nodes=6)
    assert sampled.n_rows == 1200
    assert sampled.cost < 1.2 * whole.cost
    some = explain(X, np.where(np.arange(1200) < 200, labels, -1), max_leaf_nodes=6)  # rows left out are no part of it
    assert not any("sample" in note for note in some.notes)


# ------------------------------------------------------------------------------------------------------ standardize


def test_standardized_thresholds_are_raw():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, size=200)
    X = np.column_stack([rng.normal(size=200) + 3 * labels, 1e6 + 1e3 * rng.normal(size=200), np.full(200, 7.0)])
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    for method in METHODS:
        ex = explain(X, labels, method=method, standardize=True)
        assert ex.details.standardized
        assert (ex.predict(X) == explain(Z, labels, method=method).predict(Z)).mean() > 0.99
        assert ex.cost == pytest.approx(boxwood.metrics.partition_cost(Z, ex.predict(X)))
        assert ex.reference_cost == pytest.approx(boxwood.metrics.partition_cost(Z, labels))


def test_standardized_trees_keep_thresholds_that_rows_leave_free():
    X = np.array([[100.0], [200.0], [300.0], [1000.0]])
    labels = [0, 1, 0, 1]  # IMM parts the centres 200 and 600, and loses rows
    ex = explain(X, labels, method="imm", standardize=True)
    assert 200 <= ex.tree.upper[0] < 1000
    raw = explain(X, labels, method="imm")
    assert (ex.predict(X) == raw.predict(X)).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e150])
def test_standardize_at_any_scale(scale):
    X, labels = make_blobs(100, 3, centers=3, random_state=0)
    expected = explain(X, labels, standardize=True)
    found = explain(X * scale, labels, standardize=True)
    assert (found.predict(X * scale) == expected.predict(X)).all()
    assert found.price == pytest.approx(expected.price)


# -------------------------------------------------------------------------------------------------- what to explain


def test_kmeans_by_default(wine):
    ex = explain(wine)
    sizes = [cluster.size for cluster in ex.clusters]
    assert (sum(sizes), sizes) == (178, sorted(sizes, reverse=True))
    labels = KMeans(3, n_init=10, random_state=0).fit_predict((wine - wine.mean()) / wine.std(ddof=0))
    assert adjusted_rand_score(ex._rows().task.reference.labels, labels) > 0.75  # columns count by their groups
    assert ex.provenance.labels.startswith("k-means, ")
    assert any(note.startswith("3 clusters were chosen") for note in ex.notes)
    assert explain(wine, n_clusters=3).n_clusters == 3


@pytest.mark.parametrize("kind", FRAMES)
def test_label_column(kind, wine):
    columns = {name: wine[name].tolist() for name in wine.columns[:4]}
    kinds = np.where(wine["proline"] > 800, "dear", "cheap").tolist()
    table = FRAMES[kind]({"kind": kinds, **columns})
    ex = explain(table, "kind")
    assert ex.names == ("cheap", "dear")
    assert ex.columns == tuple(columns)
    assert ex == explain(FRAMES[kind](columns), kinds)
    assert (ex.predict(table) == ex.predict(FRAMES[kind](columns))).all()


def test_estimators(wine):
    X = wine.to_numpy()
    kmeans = KMeans(3, random_state=0).fit(X[:100])
    for given in (kmeans, FrozenEstimator(kmeans)):
        ex = explain(X, given)
        assert [cluster.size for cluster in ex.clusters] == np.bincount(kmeans.predict(X)).tolist()
    unfitted = KMeans(3, random_state=0)
    assert explain(X, unfitted) == explain(X, KMeans(3, random_state=0).fit(X))
    assert not hasattr(unfitted, "labels_")
    for other in (GaussianMixture(3, random_state=0), AgglomerativeClustering(3)):
        labels = other.fit_predict(X)
        assert explain(X, other).agreement == pytest.approx(explain(X, labels, max_leaf_nodes=3).agreement, abs=0.05)


@pytest.mark.crossed
@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_pipelines_bring_their_own_scale(wine, fitted, standardize):
    pipeline = make_pipeline(StandardScaler(), KMeans(3, random_state=0))
    labels = pipeline.fit_predict(wine)
    given = pipeline if fitted else make_pipeline(StandardScaler(), KMeans(3, random_state=0))
    ex = explain(wine, given, standardize=standardize)
    scaled = explain(wine, labels, standardize=True)  # the same but for the last digits of the scaled values
    assert (ex.predict(wine) == scaled.predict(wine)).mean() > 0.98
    assert (ex.price, ex.agreement) == pytest.approx((scaled.price, scaled.agreement), abs=0.01)
    assert ex.details.standardized == standardize


def test_fitted_estimator_with_names_and_fewer_columns(wine):
    kmeans = KMeans(3, random_state=0).fit(wine)
    assert explain(wine, kmeans).agreement == 1
    ex = explain(wine, kmeans, columns=["alcohol", "hue", "proline"])
    assert ex.columns == ("alcohol", "hue", "proline")
    assert [cluster.size for cluster in ex.clusters] == np.bincount(kmeans.labels_).tolist()
    assert explain(wine, kmeans, standardize=True).details.standardized


def test_names(wine):
    labels = np.where(wine["proline"] > 800, "d", "c")
    assert explain(wine, labels, names={"d": "dear"}).names == ("c", "dear")
    assert explain(wine, labels, names=["cheap", "dear"]).names == ("cheap", "dear")
    assert explain(wine, n_clusters=2, names={1: "one"}).names == (0, "one")
    assert explain(wine, [("x", int(c == "d")) for c in labels]).names == ("('x', 0)", "('x', 1)")
    assert explain(wine, labels == "d").names == (False, True)
    with pytest.raises(DataError, match=r"labels that do not exist: e; labels: c, d"):
        explain(wine, labels, names={"e": "?"})
    with pytest.raises(DataError, match="one name for each of 2 clusters, got 3"):
        explain(wine, labels, names=["a", "b", "c"])
    with pytest.raises(DataError, match="different names"):
        explain(wine, labels, names=["a", "a"])


# ---------------------------------------------------------------------------------------------------------- predict


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_are_read_by_name(kind, wine, wine_explained):
    tested = [wine_explained.columns[j] for j in wine_explained.tree.features]
    shuffled = FRAMES[kind]({"extra": ["?"] * len(wine), **{name: wine[name].tolist() for name in reversed(tested)}})
    assert (wine_explained.predict(shuffled) == wine_explained.predict(wine.to_numpy())).all()
    assert (wine_explained.apply(shuffled) == wine_explained.tree.apply(wine)).all()
    misspelt = FRAMES[kind]({name.replace("proline", "prolin"): wine[name].tolist() for name in wine.columns})
    with pytest.raises(DataError, match=r"no column 'proline' \(did you mean 'prolin'\?\)"):
        wine_explained.predict(misspelt)


def test_arrays_are_read_by_position(wine, wine_explained):
    with pytest.raises(DataError, match="12 columns, but 13 are expected"):
        wine_explained.predict(wine.to_numpy()[:, 1:])
    with pytest.raises(
        DataError, match=r"178 of 178 rows lack a value that their rule needs, first row 0: .* is missing"
    ):
        wine_explained.predict(wine.to_numpy() * np.nan, missing="error")
    with pytest.raises(DataError, match="predict and apply give them no cluster by missing="):
        wine_explained.predict(wine.to_numpy() * np.nan, missing="error")


def test_one_leaf():
    ex = explain([[0.0], [0.0], [0.0]], ["a", "a", "b"], method="cart")
    assert ex.n_leaves == 1
    assert ex.clusters[0].rules == ((),)
    assert ex.predict(pd.DataFrame({"z": [1.0, 2.0]})).tolist() == ["a", "a"]
    assert read_model(ex.to_json()) == ex


# ------------------------------------------------------------------------------------------------------- model file


def test_save_and_load(tmp_path, wine_explained):
    path = tmp_path / "model.json"
    path.write_text("something else")
    wine_explained.save(path)
    assert load(path) == wine_explained
    assert load(str(path)) == wine_explained
    assert os.listdir(tmp_path) == ["model.json"]
    if os.name == "posix":
        umask = os.umask(0o022)
        os.umask(umask)
        assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_failed_save_changes_nothing(tmp_path, wine_explained, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("kept")

    def fail(temporary, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        wine_explained.save(path)
    assert path.read_text() == "kept"
    assert os.listdir(tmp_path) == ["model.json"]


def test_the_file_holds_facts_and_no_rows(wine, wine_explained):
    document = json.loads(wine_explained.to_json())
    assert document == wine_explained.to_dict()
    assert (document["format"], document["version"]) == ("boxwood", 1)
    assert document["columns"] == list(wine.columns)
    assert [entry["size"] for entry in document["clusters"]] == [c.size for c in wine_explained.clusters]
    assert len(document["nodes"]) == wine_explained.tree.n_nodes
    assert not any(isinstance(value, list) and len(value) == len(wine) for value in document.values())


def test_infinite_price():
    ex = explain([[0.0], [0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1, 2], max_leaf_nodes=2)
    assert ex.price == np.inf
    assert json.loads(ex.to_json())["price"] == "inf"
    assert read_model(ex.to_json()) == ex


def damaged(change):
    document = explain([[0.0], [1.0], [5.0]], ["a", "a", "b"]).to_dict()
    change(document)
    return json.dumps(document)


@each(
    "text, message",
    [
        ("", "is not a boxwood model"),
        ("[1]", "is not a boxwood model"),
        ("{}", "is not a boxwood model"),
        ('{"format": "boxwood-tree", "version": 1}', "is not a boxwood model"),
        ("[" * 100_000, "is not a boxwood model"),
        ('{"format": "boxwood", "version": 4}', r"was written by a newer boxwood \(format 4, this one reads 3\)"),
        ('{"format": "boxwood", "version": "x"}', "format 'x' is unknown"),
        (lambda d: d.pop("columns"), "damaged boxwood model: it lacks 'columns'"),
        (lambda d: d.update(nodes=[]), "damaged boxwood model: a tree is a list of nodes"),
        (lambda d: d.update(columns=[]), "its nodes test column 0, but it lists 0 columns"),
        (lambda d: d["clusters"].pop(), "its nodes carry cluster 1, but it lists 1 clusters"),
        (lambda d: d["leaves"].pop(), "its nodes have 2 leaves, but it lists 1"),
        (lambda d: d.update(columns=[3]), "expected text, got 3"),
        (lambda d: d["clusters"][0].update(name=None), r"clusters\[0\].name: expected text or a number, got None"),
        (lambda d: d.update(price=None), "damaged boxwood model"),
    ],
)
def test_other_files(tmp_path, text, message):
    text = damaged(text) if callable(text) else text
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(ModelError, match=message) as error:
        load(path)
    assert str(error.value).startswith(str(path))
    with pytest.raises(ModelError, match=message):
        read_model(text)


def test_binary_files(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b"\xff\xfe\x00PAR1")
    with pytest.raises(ModelError, match="is not a boxwood model"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")


# ----------------------------------------------------------------------------------------------------------- errors

GOOD = pd.DataFrame({"age": [20.0, 30.0, 60.0], "city": ["Ulm", "Bern", "Rom"]})
DATED = GOOD.assign(on=pd.to_timedelta([1, 2, 3], unit="h"))


@each(
    "arguments, options, message",
    [
        ((DATED, [0, 0, 1]), {"columns": ["age", "on"]}, r"columns that are not numbers: on \(Duration\)"),
        (
            (DATED[["on"]], [0, 0, 1]),
            {},
            r"no numeric column is left in the table of 1 columns; left out, times of day or .*\): on",
        ),
        ((GOOD[["age"]], "segment"), {}, "no column 'segment' in the table; its columns are age"),
        ((GOOD, "age"), {"columns": ["agee"]}, r"no column 'agee' \(did you mean 'age'\?\)"),
        (([[1.0], [2.0]], "segment"), {}, "'segment' names a column of labels, but X is not a data frame"),
        (([[1.0], [2.0]], 2), {}, "to make clusters, pass n_clusters"),
        (([[1.0], [2.0]],), {"n_clusters": 3}, "3 clusters asked for, but the table has only 2 different rows"),
        (([[1.0], [2.0]],), {"n_clusters": 1}, "at least 2 clusters"),
        (([[1.0], [2.0]], [0, 0]), {}, "only one cluster"),
        (([[1.0], [2.0]], [-1, -1]), {}, "every row is left out"),
        (([[1.0], [2.0]], [0, 1, 1]), {}, "2 rows, but there are 3 labels"),
        (([[1.0], [np.nan]], [0, 1]), {"columns": ["age"], "missing": "refuse"}, r"missing values in 1 of 2 rows: age"),
        (
            ([[1.0], [np.nan], [np.nan]], [0, 1, 1]),
            {"columns": ["age"]},
            r"2 of 3 rows: age \(2\); these are more than",
        ),
        (([[1.0], [np.inf]], [0, 1]), {}, "infinite values in 1 of 2 rows"),
        (([["x"], ["y"]], [0, 1]), {}, "X must be numeric"),
        (([1.0, 2.0], [0, 1]), {}, "two-dimensional"),
        (([[1.0], [2.0]], [0, 1]), {"columns": ["a", "b"]}, "one name for each of 1 columns, got 2"),
        (([[1.0, 2.0]] * 2, [0, 1]), {"columns": ["a", "a"]}, "different names"),
        (([[1.0], [2.0]], [0, 1]), {"sample_weight": [1.0]}, "one weight for each of 2 rows"),
        (([[1.0], [2.0]], [None, np.nan]), {}, "every row is left out: all labels are -1 or missing"),
        (([[3.0], [3.0]],), {}, "only 1 different rows"),
    ],
)
def test_bad_data(arguments, options, message):
    with pytest.raises(DataError, match=message):
        explain(*arguments, **options)


def test_long_words_are_cut_off_in_messages():
    for table in ([[1.0], [2.0]], GOOD):
        with pytest.raises(DataError, match="column") as caught:
            explain(table, "x" * 100_000)
        assert len(str(caught.value)) < 500


@each(
    "options, message",
    [
        ({"method": "magic"}, "method must be one of 'auto', 'imm', .*; got 'magic'"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be a whole number of at least 2"),
        ({"n_clusters": 2}, "n_clusters=2 is for k-means, but the clusters are given"),
        ({"n_clusters": np.zeros((40, 3))}, r"n_clusters=an array of shape \(40, 3\) is for k-means"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        explain([[1.0], [2.0]], [0, 1], **options)


@each(
    "damage",
    [
        lambda d: d["clusters"][0].update(size="many"),
        lambda d: d["leaves"][0].update(own=None),
        lambda d: d["clusters"][0].update(share=True),
        lambda d: d.update(clusters=None),
        lambda d: d.update(columns=["a"] * len(d["columns"])),
        lambda d: d["nodes"][0].update(threshold=10**400),
        lambda d: d["nodes"][0].update(feature=2**70),
    ],
)
def test_damaged_models_are_refused(damage):
    document = json.loads(explain(load_iris().data, n_clusters=3).to_json())
    damage(document)
    with pytest.raises(ModelError, match="damaged boxwood model"):
        read_model(json.dumps(document))


@pytest.mark.parametrize(("method", "other"), [("exkmc", "expand"), ("kernel_exkmc", "kernel_expand")])
def test_a_method_that_leaves_the_clusters_for_the_cost_says_so(method, other):
    X, labels = load_iris().data, np.random.default_rng(1).integers(0, 3, 150)
    away, near = (explain(X, labels, method=name, max_leaf_nodes=9) for name in (method, other))
    assert away.price < near.price
    assert away.agreement < near.agreement
    note = f"method {method} lowers the cost, also where that leads away from the clusters"
    assert [note in text and f"{other} keeps to them" in text for text in away.notes].count(True) == 1
    assert not any("leads away" in text for text in near.notes)
    of_k_means = explain(X, n_clusters=3, method=method, max_leaf_nodes=6)
    assert not any("leads away" in text for text in of_k_means.notes)
    if method == "exkmc":
        assert any(note in text for text in boxwood.ExKMC(max_leaf_nodes=9).fit(X, labels).explanation_.notes)


def test_clusters_of_a_kernel_are_noted():
    X = np.random.default_rng(0).normal(size=(60, 2))
    note = "method kernel_exkmc explains them by two-sided cuts"
    for clusterer in (KernelKMeans(2, random_state=0), FrozenEstimator(KernelKMeans(2, random_state=0).fit(X))):
        assert any(note in line for line in explain(X, clusterer).notes)
    assert not any(note in line for line in explain(X, n_clusters=2).notes)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_reference_brings_centers_of_its_own(standardize):
    X = np.random.default_rng(0).normal(size=(500, 3))
    km = KMeans(4, n_init=1, max_iter=2, random_state=0).fit(X)  # stopped early, so centres are not means
    given = Reference(km.predict(X), km.cluster_centers_, names=list("abcd"))
    ex, twin = (explain(X, each, method="imm", standardize=standardize) for each in (given, km))
    assert ex.names == ("a", "b", "c", "d")
    assert (ex.tree, ex.price) == (twin.tree, twin.price)
    if not standardize:
        assert ex.tree == grow.imm(X, given).shortened(X)
    narrow = given.with_centers(np.eye(4)[:, :2])
    for wrong, message in ((given.of_rows(np.arange(5)), "500 rows"), (narrow, "centres")):
        with pytest.raises(DataError, match=message):
            explain(X, wrong, standardize=standardize)


def test_a_lazy_frame_is_refused_with_advice():
    X, labels = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    lazy = pl.DataFrame(X, schema=["a", "b"]).lazy()
    ex, model = explain(lazy.collect(), labels), boxwood.IMM().fit(X, labels)
    calls = (
        lambda: explain(lazy, labels),
        lambda: ex.predict(lazy),
        lambda: ex.evaluate(lazy, labels),
        lambda: boxwood.IMM().fit(lazy, labels),
        lambda: model.predict(lazy),
        lambda: boxwood.scan(lazy),
    )
    for call in calls:
        with pytest.raises(DataError, match=r"a LazyFrame of polars holds no rows yet; call \.collect\(\)"):
            call()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_weights_may_be_a_column_of_a_frame(make):
    rng = np.random.default_rng(0)
    X, labels, weights = rng.normal(size=(60, 2)), np.arange(60) % 3, rng.integers(1, 9, size=60)
    X[:, 0] += 3 * labels
    frame = make({"x0": X[:, 0], "x1": X[:, 1], "w": weights, "kind": labels})
    for method in ("auto", "cart"):
        ex = explain(frame, "kind", sample_weight="w", method=method)
        expected = explain(make({"x0": X[:, 0], "x1": X[:, 1]}), labels, sample_weight=weights, method=method)
        assert ex.columns == ("x0", "x1")
        assert ex == expected
        again = ex.evaluate(frame, "kind", "w")
        assert (again.agreement, again.price) == (ex.agreement, ex.price)
    with pytest.raises(DataError, match="sample_weight='w' names a column, but X is not a data frame; give numbers"):
        explain(X, labels, sample_weight="w")
    with pytest.raises(DataError, match="weights"):
        explain(frame, "kind", sample_weight="weights")
