"""Tables in batches with words and gaps: rows in memory, with the answers of a frame."""

import datetime
import itertools
import re
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from boxwood import compare, compare_k, explain, scan
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.explanation.choose import settings
from tests.scale import draws, law, some

FIELDS = ("tree", "n_rows", "n_left_out", "clusters", "cost", "price", "agreement", "notes", "columns")


def customers(seed, n=400):
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(30 + 10 * segment, 6).round(),
            "country": np.where(segment == 0, rng.choice(["AT", "CH"], n), rng.choice(["US", "UK", "FR", "CH"], n)),
            "plan": rng.choice(["basic", "plus"], n).astype(object),
            "member": segment > rng.integers(0, 3, n),
            "visits": rng.integers(0, 9, n).astype(float),
            "spent": rng.gamma(2.0, 50.0, n),
            "segment": np.array(["new", "loyal", "lost"])[segment],
            "weight": rng.integers(0, 4, n).astype(float),
        }
    )
    for name in rng.choice(["age", "country", "plan", "visits"], 2, replace=False):
        frame.loc[rng.random(n) < 0.15, name] = np.nan if name in ("age", "visits") else None
    return frame


def check_same(one, other):
    for name in FIELDS:
        assert getattr(one, name) == getattr(other, name), name
    assert one.details.gaps == other.details.gaps


WAYS = [
    {"labels": "segment", "columns": ["age", "country", "plan", "member", "visits"]},
    {"labels": "segment", "sample_weight": "weight", "method": "imm"},
    {"labels": "segment", "missing": "drop", "method": "expand", "max_leaf_nodes": 5},
    {"labels": "segment", "categories": ["visits"], "max_columns": 2, "method": "exkmc"},
    {"labels": "segment", "categories": {"visits": range(9), "country": ["FR", "CH", "AT", "US", "UK"]}},
    {"n_clusters": 3, "standardize": True, "columns": ["age", "country", "plan", "visits"]},
]


@pytest.mark.crossed
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("source", ["{}/t.csv", "{}/t.parquet", "SELECT * FROM '{}/t.csv'", None])
def test_every_source_gives_what_a_frame_gives(tmp_path, source, way):
    frame = customers(0)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    with scan(frame if source is None else source.format(tmp_path)) as table:
        check_same(explain(table, **way), explain(frame, **way))


def test_batches_and_their_words_make_no_difference():
    for seed in range(draws(3)):
        frame = customers(seed)
        table = pa.Table.from_pandas(frame)
        coded = table.set_column(1, "country", table["country"].dictionary_encode())
        expected = explain(frame, "segment")
        for each in (table, coded):
            check_same(explain(ArrowSource(each, batch_rows=7), "segment"), expected)


def test_words_that_look_like_numbers_stay_words_where_somebody_chose_types(tmp_path):
    frame = customers(0).assign(plan=lambda f: f["plan"].map({"basic": "1,5", "plus": "2 %"}))
    frame.to_parquet(tmp_path / "t.parquet")
    query = f"SELECT * FROM '{tmp_path}/t.parquet'"
    expected = explain(frame, "segment")
    assert ("plan", ("1,5", "2 %")) in [(name, one.values[:2]) for name, one in expected.details.categories]
    for source in (frame, query, duckdb.sql(query), pa.Table.from_pandas(frame).to_reader()):
        with scan(source) as table:
            check_same(explain(table, "segment"), expected)


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.csv"])
def test_marks_of_missing_values_are_words_where_a_file_knows_none(tmp_path, name):
    frame = customers(0)[["age", "segment"]].fillna(30.0).assign(plan=["", "NA", "null", "one", "two"] * 80)
    write = {"t.parquet": frame.to_parquet, "t.csv": lambda path: frame.to_csv(path, index=False)}
    write.get(name, lambda path: frame.to_json(path, orient="records", lines=True))(tmp_path / name)
    with scan(tmp_path / name) as table:
        ex = explain(table, "segment", method="imm")
        [known] = ex._rows().coordinates.categories.values()
        assert known.values == (("one", "two", None) if name == "t.csv" else ("", "NA", "null", "one", "two"))
        measured = ex.evaluate(table, "segment")
        assert (measured.n_rows, measured.agreement) == (ex.n_rows, ex.agreement)
        if name != "t.csv":
            assert ex.evaluate(frame, "segment").agreement == ex.agreement


def test_truths_and_gaps_of_a_file_may_be_spelled_in_many_ways(tmp_path):
    frame = customers(0).drop(columns="weight")
    frame["member"] = frame["member"].astype("boolean").mask(frame.index % 9 == 0)
    way = {"columns": ["age", "plan", "member"], "method": "imm"}
    expected = explain(frame, "segment", **way)
    truths = (("true", "false"), ("TRUE", "FALSE"), ("True", "False"), ("yes", "no"), ("Ja", "nein"), ("oui", "NON"))
    for words, mark in zip(truths, ("", "NA", "n/a", "NaN", "null", " #N/A "), strict=True):
        spelled = frame.assign(member=frame["member"].map(dict(zip((True, False), words, strict=True))))
        spelled.to_csv(tmp_path / "t.csv", index=False, na_rep=mark)
        with scan(f"{tmp_path}/t.csv") as table:
            found = explain(table, "segment", **way)
            wanted = expected.tree, expected.details.categories, 400
            assert (found.tree, found.details.categories, found.n_rows) == wanted


def test_numbers_with_units_are_left_out_of_files_as_of_frames_unless_they_are_named(tmp_path):
    frame = customers(0)[["age", "country", "segment"]]
    frame["way"] = [f"{x:.1f} km" for x in np.random.default_rng(0).uniform(0, 9, 400)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    for way, told in (({}, True), ({"categories": ["way"]}, False), ({"columns": ["age", "way"]}, False)):
        for rows in (frame, scan(tmp_path / "t.csv")):
            ex = explain(rows, "segment", **way)
            assert ("way" in ex.columns) is not told
            assert any("numbers as text (convert them" in note for note in ex.notes) is told


def test_gaps_of_numbers_alone_are_learnt_from():
    frame = customers(0)[["age", "spent", "segment"]]
    frame.loc[frame["segment"] == "lost", "age"] = np.nan
    ex = explain(scan(frame), "segment")
    check_same(ex, explain(frame, "segment"))
    assert ex.details.gaps == ("age",)
    assert explain(scan(frame), "segment", missing="drop").details.n_incomplete == frame["age"].isna().sum()


def test_values_of_a_column_beside_the_rules_are_summed():
    frame = customers(0)
    way = {"columns": ["age", "country"], "value_column": "spent"}
    with scan(frame) as table:
        ex = explain(table, "segment", **way)
        assert ex._kept["totals"] == explain(frame, "segment", **way)._kept["totals"]
        assert ex.totals("weight") == explain(frame, "segment", **way).totals("weight", frame)
        with pytest.raises(DataError, match="values must be numbers, but column 'plan'"):
            ex.totals("plan")


def told(ex):
    """Return what takes more passes over the rows, and grows trees on them."""
    return [
        *(str(ex.frontier(folds)) for folds in (0, 3)),
        str(ex.stability(3)),
        str(ex.profile()),
        str(ex.totals("spent")),
        ex.confusion(),
        ex.suggested_names(),
    ]


def test_what_is_asked_later_is_told_of_the_rows_as_of_a_frame():
    frame = customers(0)
    way = {"labels": "segment", "columns": ["age", "country", "spent"], "random_state": 0, "validate": 3}
    one, expected = explain(ArrowSource(pa.Table.from_pandas(frame), batch_rows=7), **way), explain(frame, **way)
    assert told(one) == told(expected)
    wanted = expected.held_out, expected.misassigned(), expected.representatives()
    assert (one.held_out, one.misassigned(), one.representatives()) == wanted
    assert str(one.why(17)) == str(expected.why(17))


def numbers(seed):
    """Return a table of numbers, some of which make no groups: copies, names, flags, dates, and far rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(80, 160))
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "x": rng.normal(4.0 * group, 1.0),
            "far": rng.standard_t(1.5, n),
            "spent": rng.lognormal(group, 1.5),
            "flag": rng.random(n) < 0.1,
            "few": rng.integers(0, 3, n) * 1.0,
            "number": rng.permutation(n) + 1000,
            "customer_id": rng.integers(10_000, 99_999, n),
            "one": 3,
            "day": pd.date_range("2024-01-01", periods=n),
            "month": rng.integers(1, 13, n),
            "weight": rng.integers(1, 4, n),
        }
    )
    frame["again"] = 2.0 * frame["x"] + 1.0
    frame["season"] = (frame["month"] - 1) // 3
    if seed % 2:
        frame.loc[rng.random(n) < 0.1, "far"] = np.nan
    others = rng.choice(frame.columns.drop(["x", "weight"]), int(rng.integers(4, 10)), replace=False)
    return frame[rng.permutation(["x", "weight", *others])]


MADE = [
    {"sample_weight": "weight"},
    {"n_clusters": 3, "forbidden": ["x"], "missing": "drop", "method": "imm"},
    {"n_clusters": 2, "standardize": True, "method": "cart"},
    {"n_clusters": 4, "standardize": False, "method": "expand"},
    {"max_depth": 3},
]


@law(8)
def test_clusters_of_numbers_are_made_as_of_a_frame(seed, tmp_path):
    frame, way = numbers(seed), {**MADE[seed % len(MADE)], "random_state": seed}
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    expected = explain(frame, **way)
    for source in ("t.csv", "t.parquet"):
        with scan(tmp_path / source) as table:
            ex = explain(table, **way)
            check_same(ex, expected)
            assert ex.provenance.labels == expected.provenance.labels
            assert table.n_passes == 1
    assert ex.misassigned() == expected.misassigned()


def test_of_a_table_one_value_too_long_rows_are_drawn_to_make_clusters(monkeypatch):
    frame = customers(0)[["visits", "spent"]].fillna(3.0).assign(spent=lambda f: f["spent"] ** 3)
    for most, is_short in ((800, True), (799, False)):
        monkeypatch.setattr(settings, "GATHERED", most)
        with scan(frame) as table:
            ex = explain(table, n_clusters=3, method="imm")
        assert (table.n_passes == 1, ex._rows().whole is None) == (is_short, is_short)


def untimed(found):
    """Return what was found side by side without the seconds that it took."""
    rows = [row._replace(seconds=0.0) if hasattr(row, "seconds") else row for row in found.rows]
    return replace(found, rows=tuple(rows))


def test_numbers_of_clusters_are_mapped_and_trees_compared_as_of_a_frame(monkeypatch):
    frame, way = numbers(0), {"sample_weight": "weight", "random_state": 0}
    asked = (
        lambda rows: compare_k(rows, [2, 3], method="imm", **way),
        lambda rows: compare(rows, n_clusters=3, methods=["imm", "cart"], **way),
    )
    with scan(frame) as table:
        for ask in asked:
            one, other = ask(table), ask(frame)
            assert untimed(one) == untimed(other)
        monkeypatch.setattr(settings, "GATHERED", 10)
        monkeypatch.setattr(settings, "DRAWN", 50 * frame.shape[1])
        for ask in asked:
            found = ask(table)
            share = rf"{found.n_rows} of {len(frame)} rows, drawn at random, were read into memory"
            assert found.n_rows < len(frame)
            assert re.search(share, str(found.note if hasattr(found, "note") else found.notes))
        with pytest.raises(DataError, match="compare needs rows in memory where clusters are given"):
            compare(table, "few", methods=["imm"])


@pytest.mark.parametrize("clusters", [{"labels": "segment"}, {"n_clusters": 3, "standardize": True}])
def test_of_a_long_table_rows_are_drawn_by_what_they_hold(monkeypatch, clusters):
    frame = customers(0)
    monkeypatch.setattr(settings, "GATHERED", 800)
    monkeypatch.setattr(settings, "DRAWN", 800)
    way = {**clusters, "columns": ["age", "country", "spent", "visits"], "random_state": 0}
    table = ArrowSource(pa.Table.from_pandas(frame), batch_rows=7)
    one = explain(table, **way)
    other = explain(ArrowSource(pa.Table.from_pandas(frame.iloc[::-1]), batch_rows=50), **way)
    check_same(one, other)
    assert told(one) == told(other)
    assert one.n_rows == 400
    assert one.notes[0].startswith("200 of 400 rows, drawn at random, were read into memory")
    assert len(one._rows().leaf) == 200
    for ask in (one.misassigned, one.representatives, lambda: one.why(3)):
        with pytest.raises(DataError, match="rows of the table without positions there, as they were drawn, or it has"):
            ask()


def test_columns_that_cannot_be_used_are_told_or_refused():
    frame = customers(0).assign(
        free=[f"text {i}" for i in range(400)],
        day=pd.Timedelta("1h"),
        same="x",
        copy=lambda f: f["segment"].str.upper(),
        customer_id=range(1000, 1400),
        large=2**53 + np.arange(400) % 7,
    )
    ex = explain(scan(frame), "segment")
    assert ex.columns == ("age", "country", "plan", "member", "visits", "spent", "weight", "large")
    assert {one.reason.split(" (")[0]: one.columns for one in ex.provenance.left_out} == {
        "times of day or lengths of time": ("day",),
        "more than 255 values": ("free",),
        "one value only": ("same",),
        "the labels themselves": ("copy",),
        "looks like an identifier": ("customer_id",),
    }
    for way, message in (
        ({"columns": ["age", "free"]}, r"rules cannot use free of the frame: more than 255 values"),
        ({"columns": ["age", "day"]}, "columns of other kinds: day"),
        ({"categories": ["day"]}, "columns of other kinds: day"),
        ({"categories": ["towns"]}, "no column 'towns'"),
        ({"categories": ["same"]}, "rules cannot use same of the frame: one value only"),
        ({"categories": ["large"]}, r"large has whole numbers of 2\*\*53 or more as categories"),
        ({"numbers": ["country"]}, "columns in numbers= must be numbers, but column 'country'"),
        ({"missing": "refuse"}, "missing values in"),
        ({"columns": ["age", "segment"], "sample_weight": "plan"}, "weights must be numbers"),
    ):
        with pytest.raises(DataError, match=message):
            explain(scan(frame), "segment", **way)
    with pytest.raises(ValueError, match="method 'mmdt' takes no categories"):
        explain(scan(frame), "segment", method="mmdt")


def test_other_tables_are_measured_as_frames_are(tmp_path):
    ex, frame = explain(customers(0), "segment", columns=["age", "country", "visits"]), customers(1)
    frame.to_csv(tmp_path / "t.csv", index=False, na_rep="NA")
    expected = ex.evaluate(frame, "segment")
    for source in (frame, f"{tmp_path}/t.csv"):
        with scan(source) as table:
            check_same(ex.evaluate(table, "segment"), expected)
    with pytest.raises(DataError, match="'weight' is not a column of numbers that was examined"):  # not those of before
        explain(scan(customers(0)), "segment", columns=["age", "country"]).evaluate(frame, "segment").totals("weight")


LABELS = [["007", "08", "9"], [True, False, True], [0.5, 1.5, 2], [2**53, 2**53 + 1, 5]]
LABELS += [[datetime.date(2024, 1, day) for day in (1, 2, 31)]]


@pytest.mark.parametrize("labels", LABELS)
def test_labels_are_the_same_where_other_tables_are_measured(tmp_path, labels):
    frame = customers(0)[["age", "country", "segment"]].dropna()
    frame["segment"] = frame["segment"].map(dict(zip(("new", "loyal", "lost"), labels, strict=True)))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    sources = (frame, f"{tmp_path}/t.csv", f"{tmp_path}/t.parquet", f"SELECT * FROM '{tmp_path}/t.parquet'")
    tables = [frame, *map(scan, sources)]
    models = [explain(table, "segment", method="imm") for table in tables]
    models = models if labels[0] is not True else models[:2]  # True of CSV and true of Parquet are two words
    for model, source in some(itertools.product(models, sources), of=3):
        assert model.evaluate(scan(source), "segment").agreement == model.agreement


def test_numbers_may_be_named_in_a_table_of_numbers():
    frame = customers(0)[["spent", "segment"]]
    found, expected = (explain(each, "segment", numbers=["spent"]) for each in (scan(frame), frame))
    assert (found.tree, found.columns) == (expected.tree, expected.columns)


def test_postcodes_with_leading_zeros_are_words_where_they_are_called_categories(tmp_path):
    rng = np.random.default_rng(0)
    segment = rng.integers(2, size=300)
    zips = np.where(segment, rng.choice(["01234", "02345"], 300), rng.choice(["02345", "10115"], 300))
    frame = pd.DataFrame({"zip": zips, "age": rng.integers(20, 60, 300), "segment": np.array(["a", "b"])[segment]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = explain(frame, "segment", categories=["zip"])
    assert expected.details.categories[0][1].values == ("01234", "02345", "10115")
    with scan(f"{tmp_path}/t.csv") as table:
        ex = explain(table, "segment", categories=["zip"])
        check_same(ex, expected)
        assert ex.evaluate(table, "segment").agreement == ex.evaluate(frame, "segment").agreement == ex.agreement
