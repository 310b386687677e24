"""Frontier, stability and rows held out of a table in batches: by passes as in memory, or by a sample in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from boxwood import explain
from boxwood.explanation.choose import search
from boxwood.explanation.measure import frontier
from boxwood.explanation.measure.held_out import with_rows_in_memory
from tests.explanation.test_table_explain import both, cannot_be_separated, near, table
from tests.models import read_model
from tests.scale import law
from tests.scattered import scattered

pytestmark = pytest.mark.usefixtures("rows_drawn")

BY_NAME = ["imm", "greedy", "shallow", "mmdt", "exkmc", "expand", "random_cuts"]


def check_frontier(in_memory, by_passes):
    wanted = in_memory.folds, in_memory.grown_by, in_memory.objective, in_memory.n_grown
    assert (by_passes.folds, by_passes.grown_by, by_passes.objective, by_passes.n_grown) == wanted
    assert [(row.leaves, row.is_this) for row in by_passes] == [(row.leaves, row.is_this) for row in in_memory]
    for mine, its in zip(by_passes, in_memory, strict=True):
        assert near(mine.price, its.price)
        assert near(mine.agreement, its.agreement)


@law(21)
def test_the_frontier_is_that_in_memory(seed):
    X, y, weights = table(seed, n=100)
    if cannot_be_separated(X, y, weights):
        return
    options = {} if seed % 2 else {"standardize": True}
    in_memory, by_passes = both(X, y, weights, seed, method=BY_NAME[seed % 7], **options)
    check_frontier(in_memory.frontier(), by_passes.frontier())
    assert by_passes.frontier() is by_passes.frontier()


@pytest.mark.parametrize("objective", ["auto", "agreement"])
def test_the_frontier_of_auto_is_that_in_memory(objective):
    X, y = make_blobs(150, 3, centers=4, cluster_std=3.0, random_state=0)
    y[::10] = -1
    in_memory, by_passes = both(X, y, objective=objective)
    check_frontier(in_memory.frontier(), by_passes.frontier())
    assert read_model(by_passes.to_json()).frontier() == by_passes.frontier()


@law(4)
def test_what_is_held_out_is_that_of_the_same_rows_in_memory(seed):
    X, y = make_blobs(200, 3, centers=4, cluster_std=3.0, random_state=seed)
    method, options = [("imm", {}), ("expand", {"round_thresholds": 2})][seed % 2]
    options = {"method": method, "standardize": seed > 1, "random_state": 3, **options}
    if seed <= 1:
        y[::20] = -1  # rows without a cluster are not in the sample, but columns are scaled by them, too
    ex = explain(scattered(X, seed, label=y), "label", validate=3, **options)
    rows = with_rows_in_memory(ex)[0]._rows()
    frame = pd.DataFrame(rows.coordinates.table.values, columns=["x0", "x1", "x2"])
    assert sorted(map(tuple, frame.to_numpy())) == sorted(map(tuple, X[y >= 0]))
    expected = explain(frame, rows.task.reference.labels, validate=3, **options)
    assert ex.tree == expected.tree
    assert ex.held_out == expected.held_out
    assert ex.frontier(3).rows == tuple(
        row._replace(price=pytest.approx(row.price), agreement=pytest.approx(row.agreement))
        for row in expected.frontier(3)
    )
    stability = expected.stability(n=3)
    assert ex.stability(n=3) == stability
    assert ex.stability(n=2).n == 2


def test_a_sample_of_a_longer_table_is_named(monkeypatch):
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 300)
    monkeypatch.setattr("boxwood.explanation.measure.held_out.rows_of_sample", lambda *_: 300)
    X, y = make_blobs(2_000, 3, centers=4, cluster_std=3.0, random_state=0)
    ex = explain(scattered(X, 0, label=y), "label", method="imm", validate=0.3)
    assert ex.held_out.how == "30% of the rows, of a sample of 300 rows"
    assert ex.held_out.n_rows < 120
    assert ex.frontier().n_grown == 2_000  # a method by its name sees all rows
    held = explain(scattered(X, 5, label=y), "label", method="imm").frontier(3)
    assert held.n_grown == 300
    assert all(row.price_held_out > 0 for row in held)
    assert held.this.price == ex.price
    auto = explain(scattered(X, 0, label=y), "label")
    assert auto.frontier().n_grown == 300
    tree = auto.frontier()[0]
    assert 0 < tree.agreement <= 1
    stability = auto.stability(n=2)
    assert stability.n_rows == 300
    assert auto.rename({0: "zero"}).stability(n=3).clusters[0].name == "zero"


def test_equal_rows_are_as_often_in_a_sample_as_in_the_table(monkeypatch):
    monkeypatch.setattr("boxwood.explanation.measure.held_out.rows_of_sample", lambda *_: 400)
    X = np.repeat([[0.0], [1.0], [5.0]], [3_000, 500, 1_500], axis=0)
    ex = explain(scattered(X, 0, label=np.repeat([0, 1, 1], [3_000, 500, 1_500])), "label", method="imm")
    sample, is_all = with_rows_in_memory(ex)
    values, counts = np.unique(sample._rows().coordinates.table.values, return_counts=True)
    assert not is_all
    assert values.tolist() == [0.0, 1.0, 5.0]
    assert counts / 400 == pytest.approx([0.6, 0.1, 0.3], abs=0.07)


@pytest.mark.usefixtures("rows_drawn")
def test_clusters_that_are_made_are_made_again():
    X = make_blobs(300, 2, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)[0]
    made = explain(scattered(X, 0), n_clusters=3, method="imm").stability(n=3)
    given = explain(scattered(X, 0), KMeans(3, n_init=1, random_state=0).fit(X), method="imm").stability(n=3)
    centers = explain(scattered(X, 0), X[:3], method="imm").stability(n=3)
    assert (made.refitted, given.refitted, centers.refitted) == (True, True, False)
    assert made.level == given.level == "stable"
    assert made.clusters[0].jaccard == 1.0


@law(4)
def test_a_table_that_a_tree_is_measured_on_has_a_frontier(seed):
    X, y, _ = table(seed, n=80)
    y[:2] = 0, 1
    y = np.minimum(y, 1)
    ex = explain(X, y, columns=[f"x{j}" for j in range(X.shape[1])], max_leaf_nodes=3, objective="agreement")
    by_passes = ex.evaluate(scattered(X, seed, label=y), "label")
    in_memory = ex.evaluate(X, y)
    assert frontier.largest_of(by_passes) == frontier.largest_of(in_memory)
    assert by_passes.frontier().grown_by == "cart-entropy"
    assert [row.agreement for row in by_passes.frontier()][-1] == pytest.approx(1.0, abs=0.5)
    with pytest.raises(ValueError, match="the tree already exists"):
        by_passes.stability()
