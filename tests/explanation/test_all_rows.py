"""Long tables with words and gaps: trees grow on rows that are drawn, and are measured on all of them."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from boxwood import explain, load, scan
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.explanation.choose import settings
from tests.explanation.test_gathered import customers, told
from tests.scale import draws

FACTS = ("n_rows", "n_left_out", "leaves", "clusters", "cost", "reference_cost", "agreement", "adjusted_rand")
COLUMNS = ["age", "country", "plan", "member", "visits"]


@pytest.fixture(autouse=True)
def _half_is_drawn(monkeypatch):
    monkeypatch.setattr(settings, "GATHERED", 1000)
    monkeypatch.setattr(settings, "DRAWN", 1000)


def in_batches(frame, batch_rows=41):
    return ArrowSource(pa.Table.from_pandas(frame), batch_rows=batch_rows)


def check_told_of_all_rows(ex, frame, **way):
    """Check that an explanation tells of a table what its tree does in a frame of the same rows."""
    expected = ex.evaluate(frame, "segment", **way)
    for name in FACTS:
        assert getattr(ex, name) == getattr(expected, name), name


def test_what_is_told_is_told_of_all_rows_to_the_last_bit(tmp_path):
    for seed in range(draws(16)):
        way = {"sample_weight": "weight"} if seed % 2 else {}
        frame = customers(seed)
        frame["segment"] = frame["segment"].mask(frame.index % 17 == 0, "-1")
        table = in_batches(frame, 7 + seed)
        options = {"columns": COLUMNS, "standardize": seed // 2 % 2 == 0, "max_leaf_nodes": 3 + seed % 4}
        ex = explain(table, "segment", **options, **way, random_state=0)
        assert len(ex._rows().leaf) == 200
        assert ex.n_rows == 400
        check_told_of_all_rows(ex, frame, **way)
        again = ex.evaluate(table, "segment", **way)
        assert ex.confusion() == again.confusion() == ex.evaluate(frame, "segment", **way).confusion()
        check_told_of_all_rows(again, frame, **way)
        ex.save(tmp_path / "model.json")
        loaded = load(tmp_path / "model.json").evaluate(table, "segment", **way)  # costs are those of numbers
        expected = load(tmp_path / "model.json").evaluate(frame, "segment", **way)
        assert (loaded.n_rows, loaded.leaves, loaded.clusters) == (400, expected.leaves, expected.clusters)
        assert (loaded.cost, loaded.price) == pytest.approx((expected.cost, expected.price), rel=1e-14)


def test_rows_that_lack_a_value_are_dropped_wherever_they_are():
    for seed in range(draws(4)):
        frame = customers(seed)
        ex = explain(in_batches(frame), "segment", columns=COLUMNS, missing="drop")
        whole = frame.dropna(subset=COLUMNS)
        assert (ex.n_rows, ex.details.n_incomplete) == (400, 400 - len(whole))
        assert any(note.startswith(f"{400 - len(whole)} of 400 rows lack a value and were") for note in ex.notes)
        expected = ex.evaluate(whole, "segment")
        wanted = without_noise(expected), expected.cost, expected.agreement
        assert (without_noise(ex), ex.cost, ex.agreement) == wanted
        ruled = ex.predict(frame[frame[COLUMNS].isna().any(axis=1)], missing="none")
        assert sum(ex.details.noise) == sum(one in ex.names for one in ruled.tolist())


def without_noise(ex):
    return [one._replace(noise=None) for one in ex.leaves]


def told_of_one_value(frame, column, value, ask):
    """Return what is told when a row has another value, for rows that are drawn and rows that are not."""
    found = []
    for row in range(12):
        table = frame.copy()
        table.loc[row, column] = value
        try:
            found.append(ask(in_batches(table)))
        except DataError as error:
            found.append(str(error))
    return found


def test_gaps_and_infinite_numbers_are_refused_wherever_they_are():
    frame = customers(0).dropna(subset=COLUMNS).reset_index(drop=True)

    def ask(table):
        return explain(table, "segment", columns=COLUMNS, missing="refuse", method="imm")

    messages = set(told_of_one_value(frame, "plan", None, ask))
    assert messages == {
        f'missing values in 1 of {n} rows: plan (1); fill them, or leave those rows out (missing="drop")'
        for n in (200, len(frame))
    }
    assert set(told_of_one_value(frame, "age", np.inf, ask)) == {
        "infinite values in 1 of 200 rows: age (1)\nleave those rows or columns out",
        "infinite values: age (1)\nleave those rows or columns out",
    }


def test_a_gap_that_no_row_drawn_has_is_told():
    frame = customers(0)[["age", "country", "segment"]].dropna().reset_index(drop=True)
    frame = frame.assign(age=frame["age"] + frame.index / 1e4)  # so that rows differ
    frame = pd.concat([frame, frame.assign(age=lambda f: f["age"] + 0.5)], ignore_index=True)
    found = told_of_one_value(
        frame, "age", None, lambda table: explain(table, "segment", columns=["age", "country"], method="imm")
    )
    unseen = [ex for ex in found if "age" not in ex.details.gaps]
    assert 0 < len(unseen) < len(found)
    assert {ex.details.n_incomplete for ex in unseen} == {1}
    note = f"1 of {len(frame)} rows lacks a value and was left out, as no row that was drawn lacks one in age"
    assert all(note in ex.notes for ex in unseen)


def test_other_rows_may_lack_what_rules_need_or_hold_what_they_do_not_know():
    frame = customers(2)[["age", "country", "segment"]].dropna()
    frame = pd.concat([frame] * 2, ignore_index=True)
    ex = explain(frame, "segment")
    assert not ex.details.gaps
    assert {*ex.columns} == {ex.columns[j] for j in ex.tree.features}
    other = frame.copy()
    other.loc[:2, "age"] = None
    measured = ex.evaluate(in_batches(other), "segment")
    assert measured.details.n_incomplete == 3
    assert (
        f"3 of {len(frame)} rows get no cluster, as their rule knows no such value: age missing (3)" in measured.notes
    )
    check_told_of_all_rows(measured, other)
    other["country"] = frame["country"].mask(frame.index == 7)
    for words in (frame["country"].mask(frame.index == 7), frame["country"].mask(frame.index % 300 == 0, "XX")):
        other["country"] = words
        measured, n = (
            ex.evaluate(in_batches(other), "segment"),
            sum(one not in ex.names for one in ex.predict(other, missing="none").tolist()),
        )
        assert measured.details.n_incomplete == n
        assert any(
            note.startswith(f"{n} of {len(frame)} rows get no cluster, as their rule") for note in measured.notes
        )
        check_told_of_all_rows(measured, other)


def test_other_rows_whose_dates_are_texts_are_measured_as_dates():
    frame = customers(0).assign(day=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(400), unit="D"))
    ex = explain(frame, "segment", columns=[*COLUMNS, "day"], method="imm")
    other = frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d"))
    assert ex.evaluate(in_batches(other), "segment").agreement == ex.agreement
    assert ex.evaluate(in_batches(other[200:]), "segment").agreement == ex.evaluate(frame[200:], "segment").agreement


def test_clusters_of_which_no_row_was_drawn_are_there():
    frame = pd.concat([customers(0)] * 10, ignore_index=True).assign(age=lambda f: f["age"] + f.index / 1e4)
    frame.loc[frame.index % 1000 == 7, "segment"] = "rare"
    frame.loc[11, "segment"] = "single"
    ex = explain(in_batches(frame), "segment", columns=COLUMNS, method="imm")
    assert ex.names == ("lost", "loyal", "new", "rare", "single")
    assert [one.size for one in ex.clusters][3:] == [4, 1]
    assert {leaf.cluster for leaf in ex.leaves} == set(range(5))
    assert len(ex._rows().leaf) <= 205
    check_told_of_all_rows(ex, frame)


def test_clusters_of_which_no_complete_row_was_drawn_are_there():
    frame = pd.concat([customers(0)] * 10, ignore_index=True).assign(age=lambda f: f["age"] + f.index / 1e4)
    for i in range(10):
        frame.loc[[10 * i, 10 * i + 1], "segment"] = f"rare{i}"
        frame.loc[10 * i, "visits"], frame.loc[10 * i + 1, COLUMNS] = np.nan, [50.0 + i, "AT", "plus", True, 5.0]
    ex = explain(in_batches(frame), "segment", columns=COLUMNS, missing="drop", method="imm", max_leaf_nodes=None)
    assert [name for name in ex.names if "rare" in name] == [f"rare{i}" for i in range(10)]
    assert [one.size for one in ex.clusters if "rare" in one.name] == [1] * 10


def test_rows_of_rare_clusters_count_as_much_in_the_rows_drawn_as_in_the_table():
    frame = pd.concat([customers(0)] * 10, ignore_index=True).assign(age=lambda f: f["age"] + f.index / 1e4)
    frame.loc[[5, 6], "segment"], frame.loc[[5, 6], "visits"] = "rare", [-900.0, 900.0]
    ex = explain(in_batches(frame), "segment", columns=COLUMNS, random_state=0)
    [this] = [row for row in ex.frontier().rows if row.is_this]
    assert this.price == pytest.approx(ex.price, rel=0.2)
    assert not ex.details.weighted


def test_leaves_have_as_many_of_all_rows_as_are_asked_for():
    for seed in range(draws(4)):
        frame = customers(seed, 2000)
        ex = explain(in_batches(frame), "segment", columns=COLUMNS, max_leaf_nodes=8, min_samples_leaf=150)
        assert ex.n_leaves >= 3
        assert min(leaf.size for leaf in ex.leaves) >= 150
        assert ex.limits.min_samples_leaf == 150
        check_told_of_all_rows(ex, frame)
    with pytest.raises(DataError, match="min_samples_leaf=1001 allows no cut of 2000 rows; take at most 1000"):
        explain(in_batches(frame), "segment", columns=COLUMNS, min_samples_leaf=1001)


def test_values_are_summed_over_all_rows():
    frame = customers(0)
    ex = explain(in_batches(frame), "segment", columns=COLUMNS)
    expected = explain(frame, "segment", columns=COLUMNS)
    for column, values in (("spent", frame), ("weight", frame), ("age", None)):
        assert ex.totals(column) == expected.totals(column, values)
    with pytest.raises(DataError, match="values must be numbers, but column 'plan'"):
        ex.totals("plan")
    dropped = explain(in_batches(frame), "segment", columns=COLUMNS, missing="drop")
    whole = frame.dropna(subset=COLUMNS)
    assert dropped.totals("spent").total == pytest.approx(whole["spent"].sum(), rel=1e-14)
    assert dropped.totals("age").total == whole["age"].sum()


def test_what_is_asked_of_drawn_rows_says_so():
    frame = customers(0)
    ex = explain(in_batches(frame), "segment", columns=COLUMNS, validate=3, random_state=0)
    assert ex.notes[0] == (
        "200 of 400 rows, drawn at random, were read into memory, as tables with categories or missing values are, "
        "and the tree was grown on these; sizes, agreement and costs are those of all rows, profiles, pictures and "
        "other sizes of the tree those of the rows that were drawn"
    )
    assert ex.held_out.how == "3 folds, of a sample of 200 rows"
    drawn = ex._rows()
    [this] = [row for row in ex.frontier().rows if row.is_this]
    assert this.agreement == (ex.tree.predict(drawn.coordinates.table) == drawn.task.reference.labels).mean()
    assert ex.search_report.gap is ex.search_report.agreement_gap is None
    with pytest.raises(DataError, match="rows of the table without positions there, as they were drawn, or it has"):
        ex.representatives()


def test_rules_on_what_a_pipeline_reads_need_rows_in_memory():
    frame = customers(0).dropna()
    steps = make_column_transformer((OneHotEncoder(), ["country", "plan"]), ("passthrough", ["age"]))
    ex = explain(frame, make_pipeline(steps, KMeans(3, n_init=1, random_state=0)))
    labelled = frame.assign(segment=ex.predict(frame))
    with pytest.raises(DataError, match="a rule on columns that a pipeline reads needs all rows in memory"):
        ex.evaluate(in_batches(pd.concat([labelled] * 3)), "segment")


def test_measuring_the_same_rows_costs_the_same_where_rules_ask_for_truths():
    for seed in range(draws(4)):
        frame = customers(seed)
        ex = explain(scan(frame.iloc[:100]), "segment", columns=COLUMNS, max_leaf_nodes=8, random_state=0)
        again = ex.evaluate(frame.iloc[:100], "segment")
        assert (again.cost, again.reference_cost) == (ex.cost, ex.reference_cost)
        assert [leaf.rule for leaf in again.leaves] == [leaf.rule for leaf in ex.leaves]


# ---------------------------------------------------------------------------------------------------- in memory
def test_long_tables_in_memory_are_searched_in_parts_and_measured_as_a_whole():
    for seed in range(draws(6)):
        frame = customers(seed)
        frame["segment"] = frame["segment"].mask(frame.index % 17 == 0)
        way = {"sample_weight": "weight"} if seed % 2 else {}
        ex = explain(frame, "segment", columns=COLUMNS, max_leaf_nodes=3 + seed, random_state=0, **way)
        is_out = frame["segment"].isna() | ((frame["weight"] == 0) & bool(way))
        assert (ex.n_rows, ex.n_left_out) == (400, int(is_out.sum()))
        note = "grown on 2 times 1.. of 400 rows, drawn at random; this one was measured on all rows"
        assert re.search(note, str(ex.notes))
        assert ex.search_report.gap is ex.search_report.agreement_gap is None
        assert "values" not in ex._rows().task.rows.__dict__  # growth columns of all rows were never made
        check_told_of_all_rows(ex, frame, **way)


def test_the_better_tree_of_two_parts_is_taken():
    better = 0
    for seed in range(draws(6)):
        frame = customers(seed)
        ex = explain(frame, "segment", columns=COLUMNS, objective="agreement", random_state=0)
        first = explain(frame, "segment", columns=COLUMNS, objective="agreement", random_state=0, time_limit=60)
        assert re.search("trees were grown on 1.. of 400 rows, drawn", str(first.notes))
        assert ex.agreement >= first.agreement
        better += ex.agreement > first.agreement
    assert better > 0


def test_more_is_told_of_long_tables_in_memory():
    frame = customers(0)
    ex = explain(frame, "segment", columns=[*COLUMNS, "spent"], random_state=0, validate=3)
    labels = np.array(ex.predict(frame), dtype=object)
    assert ex.agreement == (labels == frame["segment"]).mean()
    assert {frame["segment"][row.row] for row in ex.misassigned()} <= {*ex.names}
    assert all(labels[row.row] != frame["segment"][row.row] for row in ex.misassigned())
    assert str(ex.why(17)) == str(ex.why(frame.iloc[17].to_dict()))
    assert all(told(ex))
    [this] = [row for row in ex.frontier().rows if row.is_this]
    assert this.agreement == ex.agreement


def test_limits_hold_in_all_rows_of_long_tables_in_memory():
    for seed in range(draws(4)):
        frame = customers(seed, 2000)
        ex = explain(frame, "segment", columns=COLUMNS, max_leaf_nodes=8, min_samples_leaf=150, round_thresholds=1)
        assert min(leaf.size for leaf in ex.leaves) >= 150
        numbers = (ex.tree.feature == 0) & (np.abs(ex.tree.upper) < 1e300)  # a larger end asks whether there is an age
        assert numbers.any()
        assert (ex.tree.upper[numbers] % 10 == 0).all()
        check_told_of_all_rows(ex, frame)


def test_small_clusters_of_long_tables_in_memory_are_seen():
    frame = customers(0, 4000)
    frame.loc[11, "segment"] = "single"
    assert explain(frame, "segment", columns=COLUMNS).names == ("lost", "loyal", "new", "single")
    frame.loc[11, "weight"] = 0.0
    with pytest.raises(DataError, match="clusters without weight: single"):
        explain(frame, "segment", columns=COLUMNS, sample_weight="weight")


def test_rows_are_measured_as_they_were_explained_where_each_column_may_lack_values(monkeypatch):
    for seed in range(draws(4)):
        frame = customers(seed)[["age", "country", "segment"]]
        generator = np.random.default_rng(seed)
        frame.loc[generator.random(400) < 0.2, "age"] = np.nan
        frame.loc[generator.random(400) < 0.2, "country"] = None
        ex = explain(frame.iloc[:300], "segment", random_state=0)
        monkeypatch.setattr(settings, "GATHERED", 10)
        is_empty = frame.iloc[:300, :2].isna().all(axis=1)
        assert ex.details.n_incomplete == is_empty.sum() > 0
        for rows in (frame.iloc[:300][~is_empty], in_batches(frame.iloc[:300][~is_empty])):
            measured = ex.evaluate(rows, "segment")
            assert without_noise(measured) == without_noise(ex)
            assert [getattr(measured, name) for name in FACTS[3:]] == [getattr(ex, name) for name in FACTS[3:]]
        monkeypatch.setattr(settings, "GATHERED", 1000)
