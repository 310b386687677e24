"""The sums of a column of value by cluster are those of pandas; suggested names say what is so."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood import DataError, explain, load, scan
from boxwood.words.distinctive import distinctive_columns
from tests.scale import each, law


def customers(seed, n=80):
    """Return rows of two segments, with a column of value that is sometimes missing, and weights."""
    rng = np.random.default_rng(seed)
    old = rng.random(n) < 0.5
    frame = pd.DataFrame({"age": np.where(old, 60.0, 25.0) + rng.normal(size=n), "spent": rng.exponential(size=n)})
    frame["visits"] = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, size=n))
    frame["segment"], frame["weight"] = np.where(old, "old", "young"), rng.integers(1, 4, size=n)
    return frame


def agrees(worth, frame, weights):
    value = frame[worth.column]
    total = (value * weights).groupby(frame["segment"]).sum()
    weight = (weights * value.notna()).groupby(frame["segment"]).sum()
    assert [own.total for own in worth.clusters] == pytest.approx(total.tolist())
    assert [own.mean for own in worth.clusters] == pytest.approx((total / weight).tolist())
    assert [own.share for own in worth.clusters] == pytest.approx((total / total.sum()).tolist())
    assert worth.total == pytest.approx(total.sum())
    assert worth.n_missing == value.isna().sum()


@law(8)
def test_sums_are_those_of_pandas(seed):
    frame = customers(seed)
    for weights in (None, "weight"):
        ex = explain(frame, "segment", columns=["age", "spent"], sample_weight=weights)
        factor = 1 if weights is None else frame["weight"]
        agrees(ex.totals("spent"), frame, factor)
        agrees(ex.totals("spent", frame), frame, factor)
        agrees(ex.totals("visits", frame["visits"]), frame, factor)


@law(8)
def test_gaps_of_a_column_that_is_looked_at_add_nothing(seed):
    frame = customers(seed)
    if seed % 2:
        frame.loc[frame["segment"] == "old", "visits"] = np.nan
    for weights in (None, "weight"):
        ex = explain(frame, "segment", columns=["age", "visits"], sample_weight=weights)
        factor = np.ones(len(frame)) if weights is None else frame["weight"]
        found = ex.totals("visits")
        assert found == explain(frame, "segment", columns=["age"], sample_weight=weights).totals("visits", frame)
        assert found.total == pytest.approx((frame["visits"] * factor).sum())
        assert found.n_missing == frame["visits"].isna().sum()
    in_batches = explain(scan(pa.Table.from_pandas(frame)), "segment", columns=["age", "visits"]).totals("visits")
    assert in_batches.n_missing == found.n_missing
    assert in_batches.total == pytest.approx(frame["visits"].sum())


def test_rows_that_are_dropped_have_no_worth():
    frame = customers(0)
    frame.loc[:9, "age"] = np.nan
    ex = explain(frame, "segment", columns=["age"], value_column="visits")
    agrees(ex.totals("visits", frame), frame.iloc[10:], 1)


def test_batches_and_the_model_file_tell_the_same(tmp_path):
    frame = customers(1)
    table = pa.Table.from_pandas(frame[["age", "spent", "segment"]])
    ex = explain(frame, "segment", columns=["age", "spent"], value_column="spent")
    by_passes = explain(scan(table), "segment", value_column="spent")
    assert by_passes._kept["totals"].total == pytest.approx(ex._kept["totals"].total)
    ex.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json")._kept["totals"] == ex._kept["totals"]


def test_negative_sums_have_no_shares():
    ex = explain([[1.0, -5.0], [9.0, 7.0]], ["a", "b"], columns=["x", "gain"])
    assert [own.share for own in ex.totals("gain").clusters] == [None, None]


def test_what_cannot_be_summed():
    frame = customers(2)
    ex = explain(frame, "segment", columns=["age"])
    with pytest.raises(DataError, match="'spent' is not a column of numbers that was examined"):
        ex.totals("spent")
    with pytest.raises(DataError, match=r"there are 80 rows, but values of shape \(3,\)"):
        ex.totals("spent", [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="must be numbers"):
        ex.totals("segment", frame)


@each("door", ["looked at", "beside", "text", "an age", "scanned", "array"])
def test_dates_have_no_sum(door, tmp_path):
    table = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=40), "x": np.arange(40.0)})
    labels, numbers = ["a"] * 20 + ["b"] * 20, table[["x"]]
    table.to_parquet(path := tmp_path / "t.parquet")
    ex, values = {
        "looked at": lambda: (bw.explain(table, labels), None),
        "beside": lambda: (bw.explain(numbers, labels), table),
        "text": lambda: (bw.explain(table.astype({"day": str}), labels), None),
        "an age": lambda: (bw.explain(table, labels, as_of="2026-03-01"), None),
        "scanned": lambda: (bw.explain(bw.scan(path), n_clusters=2, columns=["day", "x"]), None),
        "array": lambda: (bw.explain(numbers, labels), table["day"].to_numpy()),
    }[door]()
    with pytest.raises(DataError, match="'day' has dates, which have no sum"):
        ex.totals("day", values)


@law(8)
def test_suggested_names_say_what_is_so(seed):
    frame = customers(seed)
    ex = explain(frame, "segment", columns=["age", "spent"])
    names = ex.suggested_names()
    assert names["old"].startswith("high age")
    assert names["young"].startswith("low age")
    assert ex.rename(names).names == (names["old"], names["young"])


@law(8)
def test_a_cluster_is_not_called_late_by_a_date_that_most_of_it_lacks(seed):
    rng = np.random.default_rng(seed)
    returned, n = np.arange(300) < 100, 300
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    frame = pd.DataFrame({"back": pd.Series(days).where(returned), "spent": rng.normal(size=n)})
    frame.loc[299, "back"] = pd.Timestamp("2026-12-31")  # the latest of all
    ex = explain(frame, np.where(returned, "back", "kept"))
    shown = {one.name: distinctive_columns(ex.profile(), one) for one in ex.clusters}
    assert shown["back"][0] == {"size": "mostly", "name": "back not missing", "told": "100.0%, all rows 33.7%"}
    assert shown["kept"][0] == {"size": "mostly", "name": "back missing", "told": "99.5%, all rows 66.3%"}
    assert not any(one["size"] in ("late", "early") for one in shown["kept"])
    frame.loc[299, "back"] = pd.NaT  # so that nobody there has one
    ex = explain(frame, np.where(returned, "back", "kept"))
    names = ex.suggested_names()
    assert not any("missing" in name for name in names.values())


@law(8)
def test_a_column_that_no_rule_looks_at_is_summed_by_a_pass(seed):
    frame = customers(seed)
    table = pa.Table.from_pandas(frame)
    for weights in (None, "weight"):
        ex = explain(scan(table), "segment", columns=["age"], sample_weight=weights, value_column="visits")
        agrees(ex._kept["totals"], frame, 1 if weights is None else frame["weight"])
        here = explain(frame, "segment", columns=["age"], sample_weight=weights).totals("visits", frame)
        assert ex.totals("visits") == here  # to the last digit


@pytest.mark.parametrize("missing", ["drop", "learn"])
def test_in_batches_with_gaps_and_with_clusters_that_are_made(missing, request):
    frame = customers(3)
    frame.loc[:9, "age"] = np.nan
    table = pa.Table.from_pandas(frame)
    agrees(explain(scan(table), "segment", columns=["age"], missing=missing).totals("visits"), frame.iloc[10:], 1)
    request.getfixturevalue("rows_drawn")
    ex = explain(scan(table), n_clusters=2, columns=["age", "spent"], random_state=0, missing="drop")
    rows = frame.iloc[10:].assign(segment=ex.predict(frame.iloc[10:]))
    assert ex.agreement == 1  # so the rules name the clusters
    agrees(ex.totals("visits"), rows, 1)
    agrees(ex.totals("weight"), rows, 1)


def test_a_column_that_cannot_be_summed_is_named():
    ex = explain(scan(pa.Table.from_pandas(customers(0))), "segment", columns=["age"], sample_weight="weight")
    with pytest.raises(DataError, match="has no column 'spend'; its columns: age, spent"):
        ex.totals("spend")
    with pytest.raises(DataError, match="values must be numbers, but column 'segment' of "):
        ex.totals("segment")
    assert ex.totals("weight").n_missing == 0


@law(24)
def test_sums_beyond_the_largest_float_are_refused_and_others_are_right(seed):
    rng = np.random.default_rng(seed)
    frame, weights = customers(seed), np.exp2(rng.integers(0, 3, size=80))
    value = np.ldexp(rng.choice([-1.0, 1.0], size=80), int(rng.integers(1015, 1024)))
    right = [
        sum(int(v) * int(w) for v, w, s in zip(value, weights, frame["segment"], strict=True) if s == name)
        for name in ("old", "young")
    ]
    largest = int(np.finfo(np.float64).max)
    each_fits = all(abs(int(v) * int(w)) <= largest for v, w in zip(value, weights, strict=True))
    ex = explain(frame[["age"]], frame["segment"].to_numpy(), sample_weight=weights)
    if not each_fits or max(map(abs, [*right, sum(right)])) > largest:
        with pytest.raises(DataError, match="'v' add up to more than the largest float"):
            ex.totals("v", value)
        return
    try:
        found = {own: cluster.total for own, cluster in zip(ex.names, ex.totals("v", value).clusters, strict=True)}
    except DataError:  # sums on the way to it may be too large
        return
    assert [found[name] for name in ("old", "young")] == [float(one) for one in right]
