"""`compare` agrees with `explain`, and its front with looking at all pairs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import boxwood as bw
from boxwood.clusterers import KMedians
from boxwood.explanation import Compared
from boxwood.explanation.apply.compare import COMPARED, _beats
from tests.cases import make_case
from tests.scale import law


def on_front(row, rows, by_agreement):
    """Look at every other row: the twin of the front."""
    for other in rows:
        as_good = other.leaves <= row.leaves and other.agreement >= row.agreement
        better = other.leaves < row.leaves or other.agreement > row.agreement
        if not by_agreement:
            as_good, better = as_good and other.price <= row.price, better or other.price < row.price
        if as_good and better:
            return False
    return True


def refusal(call):
    """Return the message of a DataError, or nothing."""
    try:
        call()
    except bw.DataError as error:
        return str(error)
    return ""


@law(6, first=20)
def test_each_row_is_what_explain_says(seed):
    case = make_case(seed)
    X = np.array(case.X, dtype=np.float64, order="C")
    kind = {"labels": case.labels, "sample_weight": case.weights}
    methods = ["imm", "cart", "expand"]
    refused = refusal(lambda: bw.explain(X, method="cart", **kind))
    assert refusal(lambda: bw.compare(X, methods=methods, **kind)) == refused
    if refused:
        return
    found = bw.compare(X, methods=methods, **kind)
    order = [(row.leaves, 0.0 if found.by_agreement else row.price, -row.agreement) for row in found.rows]
    assert order == sorted(order)
    assert [row.on_front for row in found.rows] == [on_front(row, found.rows, found.by_agreement) for row in found.rows]
    auto = bw.explain(X, **kind)
    assert (found.baseline, found.by_agreement) == (pytest.approx(auto.baseline), auto.search_report.by_agreement)
    k, facts = found.n_clusters, []
    for method in methods:
        trees = []
        for leaves in (k, 2 * k) if method != "imm" else (k,):
            try:
                ex = bw.explain(X, method=method, max_leaf_nodes=leaves, **kind)
            except ValueError:
                assert method in dict(found.left_out)
                continue
            if ex.tree not in trees:
                facts.append((method, ex.n_leaves, ex.price, ex.agreement, ex.tree.depth, ex.tree.features.size))
            trees.append(ex.tree)
    ours = [(row.method, row.leaves, row.price, row.agreement, row.depth, row.columns) for row in found.rows]
    assert sorted(ours) == sorted(facts)


@law(3, first=8)
def test_trees_of_words_gaps_and_dates_are_those_of_explain(seed):
    rng, n = np.random.default_rng(seed), 90
    label = rng.integers(0, 3, n)
    gappy = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + label)
    frame = pd.DataFrame({"a": rng.normal(size=n) + label % 2, "b": gappy, "label": label})
    frame["word"] = np.array(list("uvwxyz"))[(2 * label + rng.integers(0, 3, n)) % 6]
    days = pd.Timestamp("2026-03-01") + pd.to_timedelta(40 * label + rng.integers(0, 50, n), unit="D")
    dated, as_text = frame.assign(day=days), frame.assign(day=days.strftime("%Y-%m-%d"))
    numbers = frame.drop(columns="word")
    for method, table in (("auto", frame), ("cart", frame), ("mmdt", numbers), ("cart", dated), ("imm", as_text)):
        ex = bw.explain(table, "label", method=method, max_leaf_nodes=3)
        found = bw.compare(table, "label", methods=[method], max_leaf_nodes=3).rows[0]
        ours = (found.leaves, found.price, found.agreement, found.depth)
        assert ours == (ex.n_leaves, ex.price, ex.agreement, ex.tree.depth), method


def test_a_tree_that_more_leaves_do_not_change_is_listed_once():
    X, labels = np.arange(30.0)[:, None], np.repeat([0, 1], 15)
    found = bw.compare(X, labels, max_leaf_nodes=[2, 3, 4])
    assert sorted(row.method for row in found.rows) == sorted(COMPARED)
    assert {row.leaves for row in found.rows} == {2}


@pytest.mark.parametrize("limits", [{"forbidden": ["x1"]}, {"max_columns": 1}, {"max_depth": 2, "round_thresholds": 2}])
def test_limits_are_those_of_explain(limits):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    labels = KMeans(4, n_init=1, random_state=0).fit_predict(X)
    found = bw.compare(X, labels, methods=["auto", "imm", "cart"], max_leaf_nodes=4, objective="agreement", **limits)
    assert ("imm" in dict(found.left_out)) == ("max_depth" in limits)
    for row in found.rows:
        goal = {"objective": "agreement"} if row.method == "auto" else {}
        ex = bw.explain(X, labels, method=row.method, max_leaf_nodes=4, **goal, **limits)
        assert (row.price, row.agreement, row.leaves) == (ex.price, ex.agreement, ex.n_leaves)


def test_preferred_columns_are_for_every_method():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    labels = KMeans(3, n_init=1, random_state=0).fit_predict(X)
    found = bw.compare(X, labels, methods=["auto", "cart", "imm"], max_leaf_nodes=3, preferred=["x1"])
    assert {row.method for row in found.rows} == {"auto", "cart", "imm"}
    for row in found.rows:
        ex = bw.explain(X, labels, method=row.method, max_leaf_nodes=3, preferred=["x1"])
        assert (row.price, row.agreement, row.columns) == (ex.price, ex.agreement, ex.tree.features.size)


def test_the_front_of_some_rows():
    def row(leaves, price, agreement):
        return Compared("cart", "cart", leaves, 2, 2, price, agreement, 0.1, True)

    best, dearer, equal = row(3, 1.1, 0.9), row(3, 1.2, 0.9), row(3, 1.1, 0.9)
    assert _beats(best, dearer, False)
    assert not _beats(best, dearer, True)
    assert not _beats(dearer, best, False)
    assert not _beats(best, equal, False)
    assert not _beats(best, row(4, 1.0, 0.9), False)
    assert _beats(best, row(4, 1.0, 0.9), True)
    assert not _beats(row(3, 1.0, 0.8), best, False)


def test_what_cannot_be_compared_is_said():
    X, y = [[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]
    found = bw.compare(X, y, methods=["imm", "kernel-imm"], max_leaf_nodes=4)
    assert found.rows == ()
    assert dict(found.left_out) == {
        "imm": "makes 2 leaves, one for each cluster",
        "kernel_imm": "measured by the costs of its kernel, which cannot be compared with these",
    }
    assert "Note: imm is left out: makes 2 leaves" in str(found)
    for wrong, message in (
        ({"methods": []}, "methods must have at least one"),
        ({"methods": ["id3"]}, "method must be one of"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be"),
    ):
        with pytest.raises(ValueError, match=message):
            bw.compare(X, y, **wrong)
    for wrong, message in (({"methods": 3.5}, "methods must be a list"), ({"methods": [3]}, "methods must be names")):
        with pytest.raises(TypeError, match=message):
            bw.compare(X, y, **wrong)


def test_other_distances_are_left_out():
    X = np.random.default_rng(0).normal(size=(80, 2))
    found = bw.compare(X, KMedians(3, random_state=0), methods=["random_cuts", "imm"], max_leaf_nodes=3)
    assert [row.method for row in found.rows] == ["imm"]
    assert dict(found.left_out)["random_cuts"].startswith("measured by l1 distances")


def test_random_cuts_are_those_of_explain():
    X = np.random.default_rng(0).normal(size=(80, 2))
    clusterer = KMeans(3, n_init=2, random_state=0).fit(X)
    [row] = bw.compare(X, clusterer, methods=["random_cuts"], max_leaf_nodes=3).rows
    ex = bw.explain(X, clusterer, method="random_cuts")
    assert (row.price, row.agreement) == (ex.price, ex.agreement)


def test_explainers_are_refused():
    X = np.random.default_rng(0).normal(size=(80, 2))
    with pytest.raises(ValueError, match="brings its own tree"):
        bw.compare(X, bw.IMM(n_clusters=3).fit(X))
