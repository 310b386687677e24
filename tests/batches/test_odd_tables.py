"""What tables in batches hold that is no row: labels beyond 2**63, weights that are text, sums beyond all floats."""

import pickle
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import make_blobs

import boxwood as bw
from boxwood.batches.overview import Overview
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.reference import Task
from tests.scale import law

X = np.repeat([0.0, 5.0, 9.0], 20)


def test_labels_on_both_sides_of_the_largest_signed_number_are_told_apart():
    labels = [1] * 20 + [2**63] * 20 + [2**63 + 1] * 20
    table = ArrowSource(pa.table({"x": X, "label": pa.array(labels, pa.uint64())}))
    ex = bw.explain(table, "label", method="imm")
    assert (ex.names, ex.n_left_out) == ((1, 2**63, 2**63 + 1), 0)


@pytest.mark.parametrize(("weights", "what"), [(["a"] * 60, "text"), (np.arange(60).astype("datetime64[D]"), "dates")])
def test_weights_are_numbers(weights, what):
    table = ArrowSource(pa.table({"x": X, "label": np.repeat([0, 1, 2], 20), "w": weights}))
    with pytest.raises(DataError, match=f"weights must be numbers, but column 'w' of the table holds {what}"):
        bw.explain(table, "label", method="imm", sample_weight="w")


@pytest.mark.parametrize("labels", [[0, 0, 1], [0, 1, 1]])
def test_weights_beyond_the_largest_float_are_refused(labels):
    table = ArrowSource(pa.table({"x": [0.0, 1.0, 2.0], "label": labels, "w": [1e308, 1e308, 1.0]}))
    with pytest.raises(DataError, match="adds up to more than the largest float"):
        bw.explain(table, "label", method="imm", sample_weight="w")


def test_merged_weights_beyond_the_largest_float_are_refused():
    one, other = Overview(1, 1), Overview(1, 1)
    for each in (one, other):
        each.weight[0].add([1e308])
    with pytest.raises(DataError, match="adds up to more than the largest float"):
        one.merge(other)


def test_a_model_of_a_closed_table_can_be_pickled(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": X, "label": np.repeat([0, 1, 2], 20)}), path)
    with bw.scan(path) as table:
        model = bw.IMM().fit(table, "label")
    assert pickle.loads(pickle.dumps(model)).tree_ == model.tree_


def test_no_step_of_auto_begins_after_the_time_is_over(monkeypatch):
    from boxwood.explanation.choose import settings

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 2))
    table = ArrowSource(pa.table({"x": rows[:, 0], "y": rows[:, 1]}))
    centers = bw.Reference.nearest(table, rows[:3])
    monkeypatch.setattr(settings, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(settings, "ROWS", 100)
    assert any("the time limit ended the search" in note for note in bw.explain(table, centers, time_limit=0).notes)


def test_changes_in_words_take_the_columns_of_the_trees():
    labels = (X > 6).astype(float)
    table = ArrowSource(pa.table({"label": labels, "x": X}))
    old, new = (
        bw.ThresholdTree.from_dict({"feature": 0, "threshold": t, "left": {"cluster": 0}, "right": {"cluster": 1}})
        for t in (4.0, 6.0)
    )
    with pytest.raises(DataError, match="2 columns of numbers, and the trees need 1; name the trees' columns"):
        bw.changes_in_words(old, new, rows=table)
    assert bw.changes_in_words(old, new, ["x"], table).splitlines()[-1].startswith("33.3 % of rows")


def test_comparing_needs_rows_in_memory():
    with pytest.raises(DataError, match="compare needs rows in memory"):
        bw.compare(ArrowSource(pa.table({"x": X, "label": X})), "label")


@law(4)
def test_a_second_part_of_the_sample_never_loses_anything(monkeypatch, seed):
    """What the goal looks at is no worse than with one part, as its trees are among those that are measured."""
    from boxwood.explanation.choose import settings

    rows, labels = make_blobs(3000, 3, centers=5, cluster_std=4, random_state=seed)
    table = ArrowSource(pa.table({"x": rows[:, 0], "y": rows[:, 1], "z": rows[:, 2], "label": labels}))
    monkeypatch.setattr(settings, "is_held", lambda n_rows, n_columns: False)
    monkeypatch.setattr(settings, "SAMPLE_ROWS", 1500)
    monkeypatch.setattr(settings, "ROWS", 300)
    both = bw.explain(table, "label", objective="agreement", max_leaf_nodes=5)
    note = next(note for note in both.notes if "trees were grown on a sample of" in note)
    assert re.search(r"the best [234] were compared on all rows|the best was measured", note)
    monkeypatch.setattr(Task, "drawn_anew", lambda task: task)
    assert both.agreement >= bw.explain(table, "label", objective="agreement", max_leaf_nodes=5).agreement
