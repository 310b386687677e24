"""Frames as their libraries make them: dates in any zone, numbers that no double holds, equal names."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, available_timezones

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood import _frames
from boxwood._dates import days_of
from boxwood._frames import as_matrix, date_columns
from boxwood.errors import DataError
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
    texts = {bw.render.rules(bw.explain(table, LABELS)) for table in tables}
    first = HOURS[30].tz_convert(zone)
    assert len(texts) == 1
    assert f"b: ts is from {first:%Y-%m-%d %H:%M}{first.isoformat()[-6:]} on" in texts.pop()
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
    assert bw.render.rules(ex).splitlines()[1] == "b: ts is from 2026-03-02 06:00+01:00 on"
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
        assert any("too large to tell apart as doubles" in note for note in ex.notes)


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
    assert bw.render.rules(bw.explain(table, LABELS)).splitlines()[1] == "b: day is from 2026-01-31 on"


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
        assert bw.render.rules(first) == bw.render.rules(second)
        assert first.predict(other).tolist() == second.predict(one).tolist() == second.predict(other).tolist() == labels


@pytest.mark.parametrize("n", [2, 300])
def test_values_that_are_neither_numbers_nor_text_are_told_alike_be_they_few_or_many(n):
    months = pd.period_range("2000-01", periods=n, freq="M")
    columns = {"complex": np.arange(n) * 1j, "period": months, "tuple": [(i,) for i in range(n)]}
    rows = np.arange(300) % n
    for name, values in columns.items():
        frame = pd.DataFrame({name: pd.Series(values).take(rows).to_numpy(), "x": np.arange(300.0) % 7})
        ex = bw.explain(frame, frame["x"] > 3)
        assert f"left out, neither numbers nor text: {name}" in ex.notes


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
        (lambda: ex.measure(numbered, 1), labels + "'1' for column 1"),
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
    y, message = [0, 0, 1, 1], "columns must have different names, but these come more than once: 'a'; rename them"
    ex = bw.explain(once, y)
    calls = [
        lambda: bw.explain(twice, y),
        lambda: bw.explain(twice),
        lambda: bw.explain(twice.astype(str), "b"),
        lambda: bw.explain(pa.table([pa.array([1.0, 2.0])] * 2, names=["a", "a"]), [0, 1]),
        lambda: ex.predict(twice),
        lambda: ex.measure(twice, y),
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
    plain = _frames._decoded
    monkeypatch.setattr(_frames, "_decoded", lambda series: looked_at.append(series.name) or plain(series))
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
