"""A refit that keeps what need not change: which cuts stay, and at which loss."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from benchmarks.living import first, month

import boxwood as bw
from boxwood.batches.source import ArrowSource
from tests.models import read_model
from tests.scale import law


def cuts_of(ex):
    """Return the cuts of a tree by column, ends and words."""
    tree = ex.tree
    nodes = np.flatnonzero(tree.feature >= 0).tolist()
    return [(ex.columns[int(tree.feature[node])], float(tree.lower[node]), float(tree.upper[node])) for node in nodes]


def agreement(ex, rows, labels):
    return float((ex.predict(rows) == labels).mean())


@law(4)
def test_stays_within_the_loss(seed):
    rng = np.random.default_rng(seed)
    before = first(rng)
    old = read_model(bw.explain(before.rows, before.labels).to_json())
    after = month(rng, before.centers + rng.normal(0, 0.7, before.centers.shape), before.sizes)
    new = bw.explain(after.rows, after.labels)
    for loss in (0.0, 0.02):
        kept = new.stay_close_to(old, loss=loss)
        assert agreement(kept, after.rows, after.labels) >= new.agreement - loss - 1e-12
        assert kept.agreement == pytest.approx(agreement(kept, after.rows, after.labels))
        assert "cuts of the earlier tree are kept" in kept.notes[-1]
    cost = new.stay_close_to(old, by="cost")
    assert cost.cost <= new.cost * 1.005 + 1e-9


@law(4)
def test_all_is_kept_where_that_costs_nothing(seed):
    rng = np.random.default_rng(seed)
    before = first(rng)
    old = bw.explain(before.rows, before.labels)
    after = month(rng, before.centers, before.sizes)
    kept = bw.explain(after.rows, after.labels).stay_close_to(old)
    assert cuts_of(kept) == cuts_of(old)
    assert "no cut changed" in kept.notes[-1]


def test_one_threshold_moves_alone():
    ages = np.tile(np.arange(20.0, 80.0), 4)
    spend = np.repeat([1.0, 9.0], 120)
    table = pd.DataFrame({"age": ages, "spend": spend})
    labels = np.where(spend > 5, "rich", np.where(ages > 50, "old", "young"))
    old = bw.explain(table, labels)
    later = np.where(spend > 5, "rich", np.where(ages > 60, "old", "young"))
    kept = bw.explain(table, later).stay_close_to(old)
    assert kept.agreement == 1.0
    assert "1 of 2 cuts of the earlier tree are kept" in kept.notes[-1]
    assert "the cut on age moved from 50 to 60" in kept.notes[-1]


def test_a_new_cluster_splits_a_leaf_alone():
    ages = np.tile(np.arange(20.0, 80.0), 4)
    table = pd.DataFrame({"age": ages, "kind": np.repeat(["a", "b", "a", "b"], 60)})
    labels = np.where(ages > 50, "old", "young")
    old = bw.explain(table, labels)
    later = np.where(ages > 50, np.where(table["kind"] == "a", "old", "old b"), "young")
    kept = bw.explain(table, later, preferred=["kind"]).stay_close_to(old)
    assert kept.agreement == 1.0
    assert cuts_of(old)[0] in cuts_of(kept)
    assert "1 of 1 cuts of the earlier tree are kept" in kept.notes[-1]


def test_words_get_their_new_codes():
    table = pd.DataFrame({"kind": ["a", "b", "c", "d"] * 20})
    old = bw.explain(table, ["x", "x", "y", "y"] * 20)
    more = pd.DataFrame({"kind": ["0", "a", "b", "c", "d"] * 20})
    kept = bw.explain(more, ["y", "x", "x", "y", "y"] * 20).stay_close_to(old)
    assert kept.agreement == 1.0
    assert kept.predict(pd.DataFrame({"kind": list("0abcd")})).tolist() == ["y", "x", "x", "y", "y"]


def test_what_cannot_be_kept_is_refused():
    table = pd.DataFrame({"age": [1.0, 2.0, 8.0, 9.0]})
    labels = ["a", "a", "b", "b"]
    old = bw.explain(table, labels)
    renamed = bw.explain(table.rename(columns={"age": "years"}), labels)
    with pytest.raises(bw.DataError, match="lacks: age"):
        renamed.stay_close_to(old)
    with pytest.raises(bw.DataError, match="held categories"):
        bw.explain(table.assign(age=["u", "w", "v", "x"]), labels).stay_close_to(old)
    with pytest.raises(bw.DataError, match="holds no rows"):
        read_model(old.to_json()).stay_close_to(old)
    with pytest.raises(ValueError, match="by must be"):
        old.stay_close_to(old, by="price")


def test_a_long_table_is_measured_on_all_rows(monkeypatch):
    from boxwood.explanation.choose import settings
    from tests.explanation.test_gathered import customers

    monkeypatch.setattr(settings, "GATHERED", 1000)
    monkeypatch.setattr(settings, "DRAWN", 1000)
    frame = customers(1)
    table = ArrowSource(pa.Table.from_pandas(frame), batch_rows=41)
    columns = ["age", "country", "plan", "member", "visits"]
    old = bw.explain(table, "segment", columns=columns)
    kept = old.stay_close_to(old)
    assert (kept.n_rows, kept.clusters, kept.agreement) == (400, old.clusters, old.agreement)
    drift = old.drift(table)
    assert drift.n_rows == 400
    assert drift.changes == ()
