"""Frames as their libraries make them: dates in any zone, numbers that no double holds, equal names."""

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from io import StringIO
from pathlib import PurePath
from zoneinfo import ZoneInfo, available_timezones

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pytest

import boxwood as bw
from boxwood import _frames
from boxwood._dates import days_of
from boxwood._frames import as_matrix, date_columns
from boxwood.errors import DataError
from boxwood.reference import Reference
from tests.programs import program
from tests.scale import law, some

LABELS = ["a"] * 30 + ["b"] * 30
HOURS = pd.date_range("2026-03-28", periods=60, freq="h", tz="UTC")


def in_zone(zone):
    return pd.DataFrame({"ts": HOURS.tz_convert(zone), "x": [i * 7 % 5 for i in range(60)]})


def test_dates_of_pandas_are_in_their_zone_whatever_its_name():
    for zone in some(sorted(available_timezones() - {"localtime", "Factory"})):
        frame = in_zone(ZoneInfo(zone))
        assert date_columns(frame)["ts"].zone == zone
        assert as_matrix(frame, ["ts"])[:, 0].tolist() == days_of(HOURS.tz_localize(None)).tolist(), zone


@pytest.mark.parametrize("zone", ["America/New_York", "Etc/GMT+5"])
def test_rules_on_dates_are_the_same_in_every_library_and_take_rows_of_another_zone(zone):
    frame, arrow = in_zone(zone), pd.ArrowDtype(pa.timestamp("us", zone))
    tables = [frame, frame.astype({"ts": arrow}), pa.Table.from_pandas(frame), pl.from_pandas(frame)]
    texts = {bw.explain(table, LABELS).rules() for table in tables}
    first = HOURS[30].tz_convert(zone)
    assert len(texts) == 1
    assert f"b: ts is at or after {first:%Y-%m-%d %H:%M}{first.isoformat()[-6:]}" in texts.pop()
    for table in tables:
        ex = bw.explain(table, LABELS)
        assert ex.agreement == 1
        assert ex.predict(in_zone("Europe/Berlin")).tolist() == LABELS
        assert bw.explain(in_zone("Europe/Berlin"), LABELS).predict(table).tolist() == LABELS


class _Odd(tzinfo):
    """A zone of which only the distance of each moment to UTC is known."""

    def utcoffset(self, dt):
        return None if dt is None else timedelta(hours=2)

    def dst(self, dt):
        return timedelta()

    def tzname(self, dt):
        return "odd"


def test_a_distance_to_utc_is_the_zone_of_its_dates_and_one_that_has_no_name_is_utc():
    hour = timedelta(hours=1)
    zones = {timezone(hour): "+01:00", timezone(-3.5 * hour, "here"): "-03:30", timezone(0 * hour): "UTC", UTC: "UTC"}
    zones |= {timezone(hour + timedelta(seconds=1)): "UTC", _Odd(): "UTC"}
    for zone, name in zones.items():
        frame = in_zone(zone)
        assert date_columns(frame)["ts"].zone == name
        ex = bw.explain(frame, LABELS)
        assert ex.agreement == 1
        assert ex.predict(in_zone("UTC")).tolist() == LABELS
    texts = [f"2026-03-{1 + i // 24:02d}T{i % 24:02d}:00:00+01:00" for i in range(60)]
    ex = bw.explain(pd.DataFrame({"ts": pd.to_datetime(texts)}), LABELS)
    assert ex.rules().splitlines()[1] == "b: ts is at or after 2026-03-02 06:00+01:00"
    assert ex.predict(pd.DataFrame({"ts": texts})).tolist() == LABELS


def tables_of(name, values, type):
    """Return tables with a column of Arrow's type, as the libraries have it."""
    table = pa.table({name: pa.array(values, type)})
    return [table, table.to_pandas(types_mapper=pd.ArrowDtype), table.to_pandas(), pl.from_arrow(table)]


@law(20)
def test_whole_numbers_become_the_nearest_doubles(seed):
    rng = np.random.default_rng(seed)
    for kind, type in ((np.int64, pa.int64()), (np.uint64, pa.uint64())):
        ends = np.iinfo(kind)
        values = [ends.min, ends.max, *rng.integers(ends.min, ends.max, 20, dtype=kind).tolist()]
        for known in (values, [*values, None]):
            expected = [np.nan if value is None else float(value) for value in known]
            for table in tables_of("id", known, type):
                np.testing.assert_array_equal(as_matrix(table)[:, 0], expected)


def test_a_note_tells_of_whole_numbers_that_are_the_same_double():
    values = [10**18 + i * 7919 for i in range(60)]
    for table in tables_of("spent", values, pa.int64()):
        ex = bw.explain(table, LABELS, columns=["spent"])
        assert ex.agreement == 1
        assert ex.predict(table).tolist() == LABELS
        assert any("too large to be exact as doubles" in note for note in ex.notes)


@law(20)
def test_times_are_floored_to_microseconds(seed):
    times = np.random.default_rng(seed).integers(-(2**62), 2**62, 20)
    expected = days_of(times.astype("M8[ns]"))
    for zone in (None, "UTC", "America/New_York", "+01:00"):
        for table in tables_of("ts", times, pa.timestamp("ns", zone)):
            np.testing.assert_array_equal(as_matrix(table)[:, 0], expected)


def test_dates_of_all_years_are_read():
    moments = [datetime(1, 1, 1), datetime(2026, 3, 1), datetime(9999, 12, 31), None]
    expected = [-719162.0, 20513.0, 2932896.0, np.nan]
    for type in (pa.timestamp("us"), pa.timestamp("s"), pa.date32()):
        for table in tables_of("ts", moments, type)[:2]:
            np.testing.assert_array_equal(as_matrix(table)[:, 0], expected)


def test_dates_beside_floats_are_read_from_arrow():
    days = pd.date_range("2026-01-01", periods=60).to_list()
    table = pa.table({"day": days, "x": np.arange(60) % 7.0})
    assert bw.explain(table, LABELS).rules().splitlines()[1] == "b: day is on or after 2026-01-31"


@pytest.mark.parametrize("values", [["u", "v", None], [1, 2, None], ["2026-03-01", "2026-04-01", "2026-03-01"]])
@pytest.mark.parametrize("is_ordered", [False, True])
def test_dictionaries_of_arrow_in_pandas_are_their_values(values, is_ordered):
    plain, x = pa.array(values * 20), [i % 2 for i in range(60)]
    codes = plain.dictionary_encode()
    coded = pa.DictionaryArray.from_arrays(codes.indices, codes.dictionary, ordered=is_ordered)
    labels = [f"of {value}" for value in values * 20]
    one, other = (pa.table({"s": s, "x": x}).to_pandas(types_mapper=pd.ArrowDtype) for s in (plain, coded))
    for kinds in ({}, {"categories": ["s"]}):
        first, second = (bw.explain(frame, labels, columns=["s", "x"], **kinds) for frame in (one, other))
        assert first.agreement == 1
        assert first.rules() == second.rules()
        assert first.predict(other).tolist() == second.predict(one).tolist() == second.predict(other).tolist() == labels


@pytest.mark.parametrize("n", [2, 300])
def test_values_that_are_neither_numbers_nor_text_are_told_alike_be_they_few_or_many(n):
    arrays = [np.array([i, 0.5]) for i in range(n)]
    columns = {"complex": np.arange(n) * 1j, "array": arrays, "tuple": [(i,) for i in range(n)]}
    rows = np.arange(300) % n
    for name, values in columns.items():
        frame = pd.DataFrame({name: pd.Series(values).take(rows).array, "x": np.arange(300.0) % 7})
        ex = bw.explain(frame, frame["x"] > 3)
        assert f"left out, neither numbers, categories nor dates, such as lists: {name}" in ex.notes


def test_lengths_of_time_are_left_out_with_a_note_that_says_what_to_do():
    frame = pd.DataFrame({"waited": pd.to_timedelta(np.arange(60), unit="s"), "x": np.arange(60) % 7})
    said = "left out, times of day or lengths of time (make numbers of them, such as seconds): waited"
    assert said in bw.explain(frame, frame["x"] > 3).notes
    assert said in bw.explain(pl.from_pandas(frame), frame["x"] > 3).notes


def test_names_that_are_no_texts_and_columns_that_are_not_there_are_refused_with_what_to_write():
    numbered = pd.DataFrame({0: [1.0, 2.0, 8.0, 9.0], 1: list("aabb")})
    pairs = pd.DataFrame({("x", "u"): [1.0, 2.0, 8.0, 9.0], ("lab", ""): list("aabb")})
    plain = pd.DataFrame({"x": [1.0, 2.0, 8.0, 9.0], "lab": [1, 1, 2, 2]})
    empty = pd.DataFrame({"p": [None] * 4, "q": [np.nan] * 4})
    ex, both = bw.explain(numbered, "1"), "column 'lab' cannot hold labels and weights, too; leave sample_weight out"
    labels = "labels must be one for each row, or the name of a column as text: write "
    calls = [
        (lambda: bw.explain(numbered, 1), labels + "'1' for column 1"),
        (lambda: bw.explain(numbered, np.int64(1)), labels + "'1' for column 1"),
        (lambda: bw.explain(pairs, ("lab", "")), labels + """\"('lab', '')\" for column ('lab', '')"""),
        (
            lambda: bw.explain(numbered, "1", sample_weight=0),
            labels.replace("labels", "sample_weight") + "'0' for column 0",
        ),
        (lambda: bw.IMM().fit(numbered, 1), labels + "'1' for column 1"),
        (lambda: ex.evaluate(numbered, 1), labels + "'1' for column 1"),
        (lambda: bw.explain(numbered, 7), "labels must be one for each row, got 7; to make clusters, pass n_clusters"),
        (lambda: bw.explain(plain, "lab", sample_weight="lab"), both),
        (lambda: bw.explain(bw.scan(plain), "lab", sample_weight="lab"), both),
        (lambda: bw.IMM().fit(plain, "lab", sample_weight="lab"), both),
        (
            lambda: bw.explain(empty, [0, 0, 1, 1]),
            "no numeric column is left in the table of 2 columns; left out, no values: p, q",
        ),
        (
            lambda: bw.explain(plain, "lab", sample_weight="x"),
            "no numeric column is left in the table of 1 columns; it has none beside labels and weights",
        ),
        (
            lambda: bw.explain(numbered, list("aabb"), columns=[0]),
            "no column 0 (did you mean '0'?) in the table; its columns are 0, 1",
        ),
    ]
    for call, message in calls:
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            call()


def test_a_frame_is_looked_through_as_often_be_its_columns_few_or_many(monkeypatch):
    looks, look = {}, nw.DataFrame.iter_columns
    for n in (3, 60):
        frame, seen = pd.DataFrame(np.arange(60.0 * n).reshape(60, n) % 7).rename(columns=str), []
        with monkeypatch.context() as patch:
            patch.setattr(nw.DataFrame, "iter_columns", lambda self, seen=seen: seen.append(1) or look(self))
            bw.explain(frame, LABELS, method="cart")
        looks[n] = len(seen)
    assert looks[3] == looks[60]


def test_equal_names_are_refused_wherever_a_frame_is_read():
    twice, once = (pd.DataFrame(np.eye(4)[:, :3], columns=list(names)) for names in ("aab", "abc"))
    y, message = [0, 0, 1, 1], "columns must have different names, but these occur more than once: 'a'; rename them"
    ex = bw.explain(once, y)
    calls = [
        lambda: bw.explain(twice, y),
        lambda: bw.explain(twice),
        lambda: bw.explain(twice.astype(str), "b"),
        lambda: bw.explain(pa.table([pa.array([1.0, 2.0])] * 2, names=["a", "a"]), [0, 1]),
        lambda: ex.predict(twice),
        lambda: ex.evaluate(twice, y),
        lambda: bw.IMM().fit(twice, y),
        lambda: bw.IMM().fit(once, y).predict(twice),
        lambda: bw.KMedians(2).fit(twice),
        lambda: bw.MixedKMeans(2).fit(twice),
        lambda: bw.scan(twice),
        lambda: bw.compare(twice, y),
    ]
    for call in calls:
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            call()


N = 60
BREAKS = [17, 30, 45, 60, 90]


def bands(age):
    """Return bands of ages as their libraries have them, beside their texts."""
    cut = pd.Series(pd.cut(age, BREAKS))
    return {
        "cut": cut,
        "no order": pd.Series(pd.Categorical(cut, ordered=False)),
        "intervals": pd.Series(pd.arrays.IntervalArray(cut.tolist())),
        "objects": pd.Series(cut.tolist(), dtype=object),
        "texts": cut.astype(str),
        "polars": pl.Series(cut.astype(str).tolist(), dtype=pl.Categorical),
        "arrow": pa.array(cut.astype(str)).dictionary_encode(),
    }


@law(8)
def test_bands_are_in_their_order_whatever_holds_them_and_are_found_again_by_their_texts(seed):
    rng = np.random.default_rng(seed)
    age, x = rng.integers(18, 90, N), rng.integers(0, 50, N)
    labels = np.where(age > BREAKS[1 + seed % 3], "old", "young")
    said = set()
    for column in bands(age).values():
        make = {"polars": pl.DataFrame, "pyarrow": pa.table}.get(type(column).__module__.split(".")[0], pd.DataFrame)
        ex = bw.explain(make({"band": column, "x": x}), labels, method="cart", columns=["band"])
        said.add(ex.rules())
        assert ex._coded_columns[0].ordered
        frame = pd.DataFrame({"band": pd.cut(age, BREAKS), "x": x})
        again = [frame, pd.read_csv(StringIO(frame.to_csv(index=False))), frame[["band"]].to_numpy(dtype=object)]
        for rows in again:
            assert ex.predict(rows).tolist() == labels.tolist()
        rule = program(ex.to_python())
        assert [rule["cluster"]({"band": str(one), "x": 0}) for one in frame["band"]] == labels.tolist()
    assert len(said) == 1
    assert "old: band is " in said.pop()


def test_a_band_is_said_without_quotes_and_a_pair_of_numbers_is_no_band():
    age = np.arange(18, 90)
    ex = bw.explain(pd.DataFrame({"band": pd.cut(age, BREAKS), "x": age % 7}), np.where(age > 45, "old", "young"))
    assert "old: band is (45, 60] or (60, 90]" in ex.rules()
    pairs = pd.DataFrame({"pair": np.where(age > 45, "[1, 2]", "[3, 4]"), "x": age % 7})
    pairs.loc[:3, "pair"] = "[5, 6]"
    ex = bw.explain(pairs, np.where(age > 45, "old", "young"))
    assert not ex._coded_columns[0].ordered


PERIODS = {
    "M": "is on or after 2020-05",
    "Q": "is on or after 2021Q1",
    "W": "is from 2020-01-27/2020-02-02 to ",
    "D": "is on or after 2020-01-05",
    "h": "is at or after 2020-01-01 04:00",
    "Y": "> 2023",
}


@pytest.mark.parametrize("length", PERIODS)
def test_periods_are_dates_weeks_are_texts_in_order_and_years_are_numbers(length):
    place = np.arange(N) % 12
    for kind in (None, object, "category"):
        frame = pd.DataFrame(
            {"t": pd.period_range("2020-01-01", periods=12, freq=length)[place], "x": np.arange(N) % 7}
        )
        frame = frame if kind is None else frame.astype({"t": kind})
        ex = bw.explain(frame, np.where(place > 3, "late", "early"), method="cart")
        assert ex.agreement == 1
        said = ex.rules().splitlines()[1]
        assert said.startswith(f"late: t {PERIODS[length]}")
        assert ex.predict(pd.read_csv(StringIO(frame.to_csv(index=False)))).tolist() == ex.predict(frame).tolist()


@law(12)
def test_sparse_columns_are_the_numbers_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    dense = pd.DataFrame(
        {
            "i": rng.integers(0, 3, N),
            "f": rng.choice([0.0, 0.25, 1.5, np.nan], N),
            "b": rng.random(N) > 0.5,
            "z": np.where(rng.random(N) > 0.3, 0.0, rng.normal(size=N)),
        }
    )
    labels, weight = np.where(dense["z"] > 0, 1, 0), rng.integers(1, 4, N)
    fills = {"i": 1, "f": [np.nan, 0.25][seed % 2], "b": bool(seed % 2), "z": 0.0}
    sparse = pd.DataFrame({name: pd.arrays.SparseArray(dense[name], fill_value=fill) for name, fill in fills.items()})
    given = {
        "labels": pd.Series(pd.arrays.SparseArray(labels)),
        "sample_weight": pd.Series(pd.arrays.SparseArray(weight, fill_value=1)),
    }
    plain = bw.explain(dense, labels, sample_weight=weight)
    found = [bw.explain(sparse, **given), bw.explain(sparse.assign(**given), "labels", sample_weight="sample_weight")]
    for ex in found:
        assert ex.tree == plain.tree
        assert ex.predict(sparse).tolist() == plain.predict(dense).tolist()
        assert ex.evaluate(sparse, labels=labels).agreement == plain.evaluate(dense, labels).agreement
    assert bw.explain(sparse, n_clusters=2).tree == bw.explain(dense, n_clusters=2).tree


class _Handed:
    """A table of another library, which is only handed over."""

    def __init__(self, table, name):
        setattr(self, name, getattr(table, name))


def test_what_hands_a_table_over_is_that_table():
    table = pa.table({"x": np.arange(60.0) % 31, "c": ["u", "v", "w"] * 20})
    plain = bw.explain(table, LABELS)
    given = {
        "stream": lambda: _Handed(table, "__arrow_c_stream__"),
        "frame": lambda: _Handed(table, "__dataframe__"),
        "reader": lambda: table.to_reader(7),
        "batch": lambda: table.to_batches()[0],
    }
    for make in given.values():
        ex = bw.explain(make(), LABELS)
        assert ex.columns == plain.columns == ("x", "c")
        assert ex.tree == plain.tree
        assert ex.predict(make()).tolist() == plain.predict(table).tolist()
        assert ex.evaluate(make(), LABELS).agreement == plain.agreement
        assert bw.compare(make(), LABELS, methods=["cart"]).rows
    with pytest.raises(DataError, match=r"X must be rows by columns, got _Handed; give pyarrow\.table"):
        Reference.of(given["stream"](), LABELS)
    numbers = pa.chunked_array([[1, 2]])
    with pytest.raises(DataError, match="X must be a table, but _Handed hands over none"):
        bw.explain(_Handed(numbers, "__arrow_c_stream__"), [0, 1])


def _objects(values):
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = values
    return pd.Series(boxed, dtype=object)


HOSTILE = {
    "bands of both kinds": lambda y: _objects([pd.Interval(i, i + 1, "left" if i % 2 else "right") for i in y]),
    "bands of dates": lambda y: pd.Series(pd.cut(pd.Timestamp("2020-01-01") + pd.to_timedelta(y, unit="D"), 3)),
    "periods of two lengths": lambda y: _objects([pd.Period(f"2020-0{i + 1}", "MD"[i % 2]) for i in y]),
    "dates": lambda y: pd.Series(pd.Categorical(pd.Timestamp("2020-01-01") + pd.to_timedelta(y, unit="D"))),
    "days": lambda y: pd.Series(pd.Categorical([date(2020, 1, i + 1) for i in y])),
    "numbers": lambda y: pd.Series(pd.Categorical(y * 10, categories=[30, 10, 0, 20], ordered=True)),
    "truths": lambda y: pd.Series(pd.Categorical(y > 1)),
    "pairs": lambda y: pd.Series(pd.Categorical(_objects([("a", i) for i in y]))),
    "decimals": lambda y: pd.Series(pd.Categorical([Decimal(int(i)) for i in y])),
    "lengths": lambda y: pd.Series(pd.Categorical(pd.to_timedelta(y, unit="D"))),
    "sparse words": lambda y: pd.Series(pd.arrays.SparseArray(np.array(list("abcd"), object)[y], fill_value="a")),
    "sparse dates": lambda y: pd.Series(
        pd.arrays.SparseArray(pd.Timestamp("2020-01-01") + pd.to_timedelta(y, unit="D"))
    ),
    "arrays": lambda y: _objects([np.array([i, 1]) for i in y]),
    "arrays and none": lambda y: _objects([np.array([i, 1]) if i else None for i in y]),
    "arrays of one": lambda y: _objects([np.array([np.nan]) for _ in y]),
    "lists and words": lambda y: _objects(["a" if i < 3 else [1] for i in y]),
    "mappings": lambda y: _objects([{"a": i} for i in y]),
    "sets": lambda y: _objects([{i} for i in y]),
    "frames": lambda y: _objects([pd.DataFrame({"a": [i]}) if i else pd.Series([1, 2]) for i in y]),
    "decimals and none": lambda y: _objects([Decimal(int(i)) if i else None for i in y]),
    "bytes": lambda y: _objects([bytes([65 + i]) for i in y]),
    "paths": lambda y: _objects([PurePath(f"/{i}") for i in y]),
    "complex": lambda y: pd.Series(y + 1j),
    "huge": lambda y: _objects([10**400 if i else 1 for i in y]),
    "list of arrow": lambda y: pa.array([[i] for i in y]),
    "struct of arrow": lambda y: pa.array([{"a": i} for i in y]),
    "runs of arrow": lambda y: pa.compute.run_end_encode(pa.array(y)),
    "views of arrow": lambda y: pa.array(["abcd"[i] for i in y], pa.string_view()),
    "dates of arrow": lambda y: pa.array([date(2020, 1, i + 1) for i in y]).dictionary_encode(),
    "bands of arrow": lambda y: pa.array(pd.arrays.IntervalArray.from_breaks(range(5))[y]),
    "months of arrow": lambda y: pa.array(pd.period_range("2020-01", periods=4, freq="M")[y]),
    "array of polars": lambda y: pl.Series([[i, 1] for i in y], dtype=pl.Array(pl.Int64, 2)),
    "objects of polars": lambda y: pl.Series([np.array([i]) for i in y], dtype=pl.Object),
    "long whole numbers of polars": lambda y: pl.Series(y, dtype=getattr(pl, "Int128", pl.Int64)),
}


@law(8)
def test_columns_of_any_type_are_explained_or_left_out_and_found_again(seed):
    rng = np.random.default_rng(seed)
    y, x = rng.integers(0, 4, N), rng.integers(0, 9, N)
    labels = np.where(y > 1, "high", "low")
    labels[0] = "low"  # so that no column is the labels
    for name, make in list(HOSTILE.items())[seed % 8 :: 8]:
        column = make(y if "polars" not in name and "arrow" not in name else y.tolist())
        frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(type(column).__module__.split(".")[0], pa.table)
        table = frame({"c": column, "x": x})
        for given in (labels, None):
            asked = {"n_clusters": None if given is not None else 2, "method": "cart"}
            if name == "huge":
                with pytest.raises(DataError, match=r"c has whole numbers of 2\*\*53 or more as categories"):
                    bw.explain(table, given, **asked)
                continue
            ex = bw.explain(table, given, **asked)
            assert ex.evaluate(table, ex.predict(table)).agreement == 1, name
            assert ("c" in ex.columns) != any("left out" in note and note.endswith(": c") for note in ex.notes), name
            for text in (ex.to_text(), ex.to_sql(), ex.to_python()):
                assert text.encode()


# ------------------------------------------------------------------------------------------- columns that no rule tests


@law(12)
def test_a_row_costs_the_columns_that_rules_test(seed, monkeypatch):
    """Labels are those of the tested columns alone, and no other column is looked at, whatever it holds."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd")).assign(
        word=rng.choice(["u", "v", "w"], size=60)
    )
    labels = (table.a > 0).astype(int) + 2 * (table.word == "u")
    ex = bw.explain(table, labels, categories=["word"])
    tested = [ex.columns[j] for j in ex.tree.features.tolist()]
    idle = {"list": [[1]] * 60, "thing": [object()] * 60, "day": pd.Timestamp("2024-01-01"), "gap": np.nan, "i": 2**60}
    wide = table.assign(**idle).sample(frac=1, axis=1, random_state=seed)
    looked_at = []
    plain = _frames._plain
    monkeypatch.setattr(_frames, "_plain", lambda series: looked_at.append(series.name) or plain(series))
    for ask in (ex.predict, ex.apply):
        for frame in (wide, wide[tested], pl.from_pandas(wide.drop(columns=["list", "thing"]))):
            assert ask(frame).tolist() == ask(table).tolist()
    assert set(looked_at) == set(tested)
    lacking = wide.drop(columns=tested[0])
    with pytest.raises(DataError, match=f"no column '{tested[0]}'.* in the table"):
        ex.predict(lacking)


@law(40)
def test_a_whole_frame_is_read_as_column_by_column(seed):
    """Frames of pandas in numbers of numpy are read at once, with the same doubles in the same order of memory."""
    rng = np.random.default_rng(seed)
    kinds = (np.int64, np.uint64, np.int8, np.float32, np.float64, np.bool_)
    numbers = rng.integers(0, 2**62, size=(int(rng.integers(5)), int(rng.integers(1, 6))))
    frame = pd.DataFrame({j: column.astype(kinds[rng.integers(6)]) for j, column in enumerate(numbers.T)})
    one_by_one = [as_matrix(frame.assign(other="x"), [str(j)])[:, 0] for j in frame]
    whole = as_matrix(frame)
    np.testing.assert_array_equal(whole, np.column_stack(one_by_one))
    assert whole.flags.f_contiguous or len(set(frame.dtypes)) == 1


@law(12)
def test_categories_of_numbers_are_numbers_where_rules_test_these(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, 80)
    values = (y * 3, y / 4, y > 2, y - 3.5)[seed % 4]
    ex = bw.explain(pd.DataFrame({"n": values, "x": rng.normal(size=80)}), y > 2, columns=["n"], method="cart")
    kept = pd.Series(values).astype(object).mask(rng.random(80) < 0.1) if seed % 3 == 0 else pd.Series(values)
    lacking, labels = kept.isna().to_numpy(), (y > 2).tolist()
    for n in (
        pd.Series(pd.Categorical(kept)),
        pd.Series(pa.array(kept, from_pandas=True).dictionary_encode().to_pandas()),
    ):
        for table in (pd.DataFrame({"n": n}), pa.table({"n": pa.Array.from_pandas(n)})):
            found = ex.predict(table, missing="none").tolist()
            assert found == [None if gap else label for gap, label in zip(lacking, labels, strict=True)]
            assert ex.evaluate(table, labels).agreement == 1
