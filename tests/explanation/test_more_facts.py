"""Misassigned rows, confusion, typical rows, the tree on other rows, other names, frames, and what models keep."""

import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import boxwood
from boxwood import ThresholdTree, explain, scan
from boxwood.errors import DataError, ModelError
from boxwood.explanation.measure.told import rounded_quantiles
from tests import naive
from tests.cases import make_case
from tests.explanation.test_pipelines import goods, pipeline
from tests.models import read_model
from tests.scale import law, seeds, share

METHODS = ["cart", "expand", "kernel_expand"]


def explained(seed):
    """Return a generated case and its explanation by few leaves, so that rows are misassigned."""
    case = make_case(seed)
    if len(np.unique(case.labels[case.labels >= 0])) < 2:
        return None
    options = {"sample_weight": case.weights, "max_leaf_nodes": 3, "method": METHODS[seed % 3]}
    try:
        return case, explain(case.X, case.labels, **options)
    except DataError:  # no expansion separates these clusters, or a cluster weighs nothing
        return None


@pytest.fixture(scope="module")
def examples():
    found = [pair for pair in map(explained, seeds(60)) if pair is not None]
    assert len(found) > share(40)
    return found


# ------------------------------------------------------------------------------------------- rows and their clusters


def test_misassigned_rows_equal_the_naive_ones(examples):
    n_found = 0
    for case, ex in examples:
        weights = np.ones(len(case.X)) if case.weights is None else case.weights
        found, nested = ex.misassigned(), ex.tree.to_dict()
        clusters = {name: i for i, name in enumerate(ex.names)}
        rows = []
        for i, x in enumerate(np.asarray(case.X, dtype=float)):
            if case.labels[i] == -1 or weights[i] == 0:
                continue
            ruled, cut = naive.misassigned(nested, x, clusters[case.labels[i]])
            if ruled != clusters[case.labels[i]]:
                rows.append((i, clusters[case.labels[i]], ruled, cut))
        assert [one[:3] for one in found] == [row[:3] for row in rows]
        for one, (i, _, _, cut) in zip(found, rows, strict=True):
            if cut is None:
                assert one.column is None
                continue
            j, end, distance = cut
            assert (one.column, one.threshold, one.distance) == (ex.columns[j], end, distance)
            assert one.value == case.X[i, j]
            assert one.deviations == distance / ex._spreads()[j].deviation
            n_found += 1
    assert n_found > share(100)


def test_the_side_is_the_one_that_the_row_took():
    one = {"feature": 0, "interval": [1.5, 3.5], "inside": {"cluster": 1}, "outside": {"cluster": 0}}
    ex = explain([[1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 1, 0, 0], method="cart")
    ex = replace(ex, tree=ThresholdTree.from_dict(one))
    later = ex.evaluate([[1.0], [2.5], [9.0]], [1, 0, 0])
    assert [(one.row, one.side) for one in later.misassigned()] == [(0, "outside"), (1, "inside")]
    words = explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6)
    wrong = [one for one in words.misassigned(goods(), np.roll(words.predict(goods()), 1)) if one.column is not None]
    coded = [words.columns[j] for j in words._coded_columns]
    assert {one.column in coded for one in wrong} == {True, False}
    for one in wrong:
        assert one.value == goods()[one.column].iloc[one.row]
        assert (one.column in coded) == (one.threshold is None) == (one.side not in ("<=", ">"))
        assert one.column not in coded or one.side.startswith(one.column)


def test_confusion_adds_up(examples):
    for _, ex in examples:
        counts = np.array(ex.confusion())
        assert counts.sum(axis=1) == pytest.approx([cluster.size for cluster in ex.clusters])
        assert counts.sum(axis=0) == pytest.approx([cluster.matched for cluster in ex.clusters])
        assert np.trace(counts) / counts.sum() == pytest.approx(ex.agreement)


def test_results_that_are_tables_print_as_tables():
    frame = pd.DataFrame({"a|b": [*range(20), 30, 31], "day": pd.date_range("2026-01-30", periods=22)})
    ex = explain(frame, ["x", "y"] * 10 + ["y", "y"], max_leaf_nodes=2)
    rows = ex.misassigned()
    header, *lines, caption = str(rows).splitlines()
    assert [line.split()[0] for line in lines] == [str(one.row) for one in rows]
    assert caption == f"{len(rows)} rows whose rule names another cluster."
    assert "threshold" not in header
    assert str(ex.evaluate(frame, ex.predict(frame)).misassigned()).startswith("0 rows")
    header, *lines, _ = str(ex.confusion()).splitlines()
    assert [[int(cell) for cell in line.split()[1:]] for line in lines] == [list(row) for row in ex.confusion()]
    sums = [line.split()[1] for line in str(ex.totals("a|b")).splitlines()[1:-1]]
    assert [float(each) for each in sums] == [one.total for one in ex.totals("a|b").clusters]
    assert {"source", "made", "labels"} <= {line.split()[0] for line in str(ex.provenance).splitlines()[1:]}
    assert str(ex.search_report).splitlines()[1].split() == ["objective", "auto"]


def test_typical_rows_are_nearest_to_the_middle(examples):
    for case, ex in examples[:30]:
        X = np.asarray(case.X, dtype=float)
        weights = np.ones(len(X)) if case.weights is None else case.weights
        for name, column, row in zip(ex.names, range(ex.n_clusters), ex.representatives(), strict=True):
            own = np.flatnonzero((case.labels == name) & (weights > 0))
            if len(own) == 0:
                assert row is None
                continue
            away = np.zeros(len(X))
            for j, facts in enumerate(ex.profile()):
                if facts.everyone.deviation > 0:
                    away += np.abs(X[:, j] - facts.clusters[column].quantiles[2]) / facts.everyone.deviation
            assert row in own
            assert away[row] == pytest.approx(away[own].min(), rel=1e-9, abs=1e-9)


def test_typical_rows_count_words():
    ex = explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6)
    rows = ex.representatives()
    assert all(row is not None and 0 <= row < len(goods()) for row in rows)


# -------------------------------------------------------------------------------------------------------- other rows


def facts_of(ex):
    """Return what two explanations of one tree on the same rows have in common; notes differ.

    Which leaf would mend a weak rule is looked for where a tree is grown.
    """
    clusters = [one._replace(mend=None) for one in ex.clusters]
    return (
        clusters,
        ex.leaves,
        ex.agreement,
        ex.adjusted_rand,
        ex.readability,
        ex.n_rows,
        ex.n_left_out,
        ex.details.noise,
    )


def test_measured_on_the_same_rows_all_facts_are_the_same(examples):
    for case, ex in examples[:25]:
        again = ex.evaluate(case.X, case.labels, case.weights)
        assert facts_of(again) == facts_of(ex)
        assert again.price == pytest.approx(ex.price)
        assert again.details.kernel == ex.details.kernel
        loaded = read_model(ex.to_json()).evaluate(case.X, case.labels, case.weights)
        assert facts_of(loaded) == facts_of(ex)
        assert any("squared distances in the numeric columns" in note for note in loaded.notes)
        assert loaded.profile() == ex.profile() == read_model(ex.to_json()).profile(case.X, case.labels, case.weights)
        assert read_model(ex.to_json()).misassigned(case.X, case.labels, case.weights) == ex.misassigned()


@pytest.mark.parametrize("options", [{"standardize": True}, {"method": "kernel_imm"}, {"method": "random_cuts"}])
def test_costs_are_measured_as_before(options):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)) * [1, 50] + 6 * i for i in range(3)])
    y = np.repeat([0, 1, 2], 20)
    ex = explain(X, y, **options)
    again = ex.evaluate(X, y)
    assert (again.price, again.cost) == pytest.approx((ex.price, ex.cost))
    assert (again.details.objective, again.details.standardized) == (ex.details.objective, ex.details.standardized)
    loaded = read_model(ex.to_json()).evaluate(X, y)
    assert not loaded.details.standardized
    assert loaded.details.kernel is None


def test_a_pipeline_maps_other_rows_as_it_mapped_the_first():
    table = goods()
    ex = explain(table, pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6)
    labels = ex.predict(table)
    half = table.iloc[::2]
    later = ex.evaluate(half, labels[::2])
    assert later.agreement == 1
    assert later.price == pytest.approx(1)
    loaded = read_model(ex.to_json()).evaluate(half, labels[::2])
    assert facts_of(loaded) == facts_of(later)
    assert loaded.price == pytest.approx(1)


def test_labels_may_be_a_column_and_a_cluster_may_have_no_row():
    table = pd.DataFrame({"age": [20.0, 30, 60, 70], "segment": ["young", "young", "old", "old"]})
    ex = explain(table, "segment")
    for frame in (table, pl.from_pandas(table)):
        assert ex.evaluate(frame, "segment").agreement == 1
    young = ex.evaluate(table[:2], "segment")
    assert young.clusters[0].size == 0
    assert young.clusters[0].found is None
    assert young.profile()[0].clusters[0] is None
    assert young.profile()[0].clusters[1].difference is None
    assert young.representatives() == (None, 0)
    assert ex.evaluate(table, ["young", "young", "old", -1]).n_left_out == 1


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("X", "labels", "message"),
    [
        (
            [[1.0], [2.0]],
            ["d", "c"],
            "labels that the model has never seen: c, d; its clusters are a, b, and -1 leaves",
        ),
        ([[1.0], [2.0]], ["a"], "X has 2 rows, but there are 1 labels"),
        ([[1.0], [2.0]], [-1, -1], "every row is left out"),
        ([[1.0, 2.0]], ["a"], "X has 2 columns, but 1 are expected"),
        ([[None], [None]], ["a", "b"], "2 of 2 rows get no cluster, as their rule knows no such value: x missing"),
        ([[1.0], [2.0]], "segment", "X is not a data frame"),
        (pd.DataFrame({"z": [1.0]}), ["a"], "no column 'x' in the table"),
        (pd.DataFrame({"x": [1.0]}), "segment", "no column 'segment'"),
    ],
)
@pytest.mark.parametrize("saved", [False, True])
def test_other_rows_that_do_not_fit(X, labels, message, saved):
    ex = explain([[1.0], [2.0], [9.0]], ["a", "a", "b"], columns=["x"])
    with pytest.raises(DataError, match=message):
        (read_model(ex.to_json()) if saved else ex).evaluate(X, labels)


def test_unseen_categories_of_a_saved_model_are_named():
    table = goods()
    ex = explain(table, pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6)
    column = next(ex.columns[j] for j in ex.tree.features if j in ex._coded_columns)
    table[column] = "never"
    for model in (ex, read_model(ex.to_json())):
        with pytest.raises(DataError, match=rf"get no cluster, as .*{column} 'never' \("):
            model.evaluate(table, np.full(len(table), ex.names[0]))


@law(12)
def test_rows_with_words_and_labels_that_are_new_are_counted_and_the_others_measured(seed, tmp_path):
    rng = np.random.default_rng(seed)
    n = 80
    frame = pd.DataFrame({"c": rng.choice(["DE", "FR", "IT"], n), "age": rng.integers(18, 90, n)})
    labels = np.where((frame["c"] == "DE") & (frame["age"] > 40), "a", "b").astype(object)
    ex = explain(frame.assign(l=labels), "l", columns=["c", "age"])
    is_new, is_word = rng.random(n) < 0.1, rng.random(n) < 0.2
    is_new[0] = is_word[1] = True
    other = frame.assign(c=frame["c"].where(~is_word, "US"), l=np.where(is_new, "z", labels))
    other.to_csv(path := tmp_path / "t.csv", index=False)
    left = other[~is_new & ~is_word]
    known = ex.evaluate(left, "l")
    for model in (ex, read_model(ex.to_json())):
        for rows in (other, pl.from_pandas(other), scan(path)):
            found = model.evaluate(rows, "l")
            assert (found.n_rows, found.details.n_incomplete) == (n, is_word.sum())
            assert found.n_left_out == (is_word | is_new).sum()
            assert found.agreement == known.agreement
            assert found.confusion() == known.confusion()
            assert [row.row for row in found.misassigned()] == [left.index[row.row] for row in known.misassigned()]
            said = " ".join(found.notes)
            assert re.search(rf"{is_new.sum()} of {n} rows (have|has) a label that .*: z \({is_new.sum()}\)", said)
            assert re.search(rf"{is_word.sum()} of {n} rows gets? no cluster, as .*: c 'US' \({is_word.sum()}\)", said)
            assert model.profile(rows, "l") == model.profile(left, "l")


# ------------------------------------------------------------------------------------------------------------- names


def test_new_names_are_everywhere():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)) + 9 * i for i in range(3)])
    ex = explain(X, GaussianMixture(3, covariance_type="diag", random_state=0), method="mmdt")
    new = ex.rename({0: "Loyal", 2: "New"})
    assert new.names == ("Loyal", 1, "New")
    assert set(new.predict(X)) == {"Loyal", 1, "New"}
    assert ex.names == (0, 1, 2)
    assert set(new.details.mixture.components) == {
        {0: "Loyal", 1: 1, 2: "New"}[one] for one in ex.details.mixture.components
    }
    assert "Loyal" in str(new)
    assert read_model(new.to_json()) == new
    assert new.evaluate(X, new.predict(X)).agreement == 1
    assert new.profile() == ex.profile()
    assert new.rename({"Loyal": 0, "New": 2}) == ex
    assert ex.rename({0: 1, 1: 0}).names == (1, 0, 2)


def test_notes_keep_earlier_names_and_say_so():
    ex = explain([[1.0], [2.0], [1.5], [9.0]], [0, 0, 2, 1], method="expand", max_leaf_nodes=2)
    assert any("no rule for cluster 2" in note for note in ex.notes)
    assert ex.rename({2: "Rare"}).notes == (*ex.notes, "the notes above use earlier names: Rare was cluster 2")


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ({5: "x"}, DataError, "names for labels that do not exist: 5; labels: 0, 1"),
        ({0: 1}, DataError, r"different names, got cluster 1 more than once; .*rename\(\.\.\., merge=True\)"),
        (["a", "b"], TypeError, "names must be a mapping from name to new name, got list"),
    ],
)
def test_names_that_cannot_be(names, error, message):
    with pytest.raises(error, match=message):
        explain([[1.0], [9.0]], [0, 1]).rename(names)


# ------------------------------------------------------------------------------------------------------------ frames


def test_frames_hold_the_facts(examples):
    for _, ex in examples[:20]:
        clusters = ex.to_frame()
        assert clusters.cluster.tolist() == list(ex.names)
        assert clusters.matched.tolist() == [cluster.matched for cluster in ex.clusters]
        assert clusters.noise.tolist() == list(ex.details.noise)
        rules = ex.to_frame("rules")
        assert rules["size"].tolist() == [leaf.size for leaf in ex.leaves]
        assert all(rules.rule)
        assert (ex.to_frame("confusion").to_numpy() == np.array(ex.confusion())).all()
        profile = ex.to_frame("profile")
        assert len(profile) == sum(group is not None for column in ex.profile() for group in column.clusters)
        assert profile.q50.tolist() == [
            group.quantiles[2] for column in ex.profile() for group in column.clusters if group is not None
        ]
        assert len(ex.to_frame("misassigned")) == len(ex.misassigned())


def test_the_frame_of_a_profile_has_a_row_for_each_category():
    ex = explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6)
    frame = ex.to_frame("profile")
    shares = frame[frame.share.notna()].groupby(["column", "cluster"]).share.sum()
    assert len(shares) > 1
    assert shares.to_numpy() == pytest.approx(1)


def test_frames_that_there_are_not(monkeypatch):
    ex = explain([[1.0], [9.0]], [0, 1])
    with pytest.raises(ValueError, match="what must be one of 'clusters', 'rules'"):
        ex.to_frame("cluster")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"a data frame needs pandas: pip install pandas"):
        ex.to_frame()


# ------------------------------------------------------------------------------------------------------ saved models


@pytest.mark.parametrize("clustering", ["mixed", "plain", "weighted"])
def test_a_profile_that_was_asked_for_is_saved(tmp_path, clustering):
    if clustering == "mixed":
        ex = explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6)
    else:
        X = np.random.default_rng(0).normal(size=(50, 3))
        ex = explain(X, X[:, 0] > 0, sample_weight=np.arange(50) if clustering == "weighted" else None)
    assert "profile" not in ex.to_dict()
    profile = ex.profile()
    ex.save(tmp_path / "model.json")
    assert boxwood.load(tmp_path / "model.json").profile() == tuple(map(rounded_quantiles, profile))
    assert pickle.loads(pickle.dumps(ex)).profile() == profile
    document = json.loads(ex.to_json())
    document["profile"][0]["clusters"].pop()
    with pytest.raises(ModelError, match="its profile has"):
        read_model(json.dumps(document))


def test_an_older_model_has_no_noise_and_no_spreads():
    ex = explain([[1.0], [2.0], [9.0], [5.0]], [0, 0, 1, -1])
    document = ex.to_dict()
    del document["spreads"]
    for leaf in document["leaves"]:
        del leaf["noise"]
    for cluster in document["clusters"]:
        del cluster["ruled"]
    old = read_model(json.dumps(document))
    assert old.details.noise is None
    assert [cluster.matched for cluster in old.clusters] == [cluster.matched for cluster in ex.clusters]
    assert "the rules put" not in str(old)
    assert ex.details.noise is not None


def test_estimators_have_these_facts_by_their_explanation():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)) + 9 * i for i in range(3)])
    est = boxwood.IMM(make_pipeline(StandardScaler(), KMeans(3, random_state=0))).fit(X)
    ex = est.explanation_
    assert len(ex.profile()) == 2
    assert ex.profile()[0].everyone.mean == pytest.approx(X[:, 0].mean())
    assert ex.why(X[0]).name == est.predict(X[:1])[0]
    assert ex.evaluate(X, est.labels_).agreement == 1
    assert pickle.loads(pickle.dumps(est)).explanation_.why(X[0]) == ex.why(X[0])


def test_rows_that_move_no_threshold_change_one_line_of_the_model(tmp_path):
    x = np.repeat([1.0, 2, 8, 9], 10)
    lines = []
    for n in (36, 40):
        explain(x[:n, None], (x > 5)[:n].astype(int), columns=["x"]).save(tmp_path / "m.json")
        lines.append((tmp_path / "m.json").read_text().splitlines())
    assert len(lines[0]) == len(lines[1]) > 10
    assert [first == second for first, second in zip(*lines, strict=True)] == [True] * (len(lines[0]) - 1) + [False]
