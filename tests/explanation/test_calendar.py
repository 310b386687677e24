"""Dates from the first to the last one of the calendar, truths with gaps, and fields that are not there."""

import json
import re
import shutil
import subprocess
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import boxwood as bw
from boxwood._dates import Dates
from boxwood.errors import DataError
from boxwood.explanation.choose.on_table import TableSearch
from boxwood.tree.shorten import shorten_thresholds
from tests.command import invoke
from tests.programs import in_sqlite, program
from tests.scale import each, law

EPOCH = datetime(1970, 1, 1)
ENDS = (datetime.min, datetime(9999, 12, 31), datetime.max)
ZONES = ("", "", "UTC", "Europe/Vienna", "America/New_York")
STEPS = (timedelta(days=1), timedelta(days=7), timedelta(hours=1), timedelta(minutes=1))


def random_table(seed, *, n=60):
    """Return a frame of dates from the whole calendar, a truth and a number, with gaps, labels by these, the unit."""
    rng = np.random.default_rng(seed)
    zone, step = str(rng.choice(ZONES)), STEPS[int(rng.integers(len(STEPS)))]
    start = datetime(int(rng.choice([2, 1850, 1999, 2024, 2300, 9990])), 5, 1)
    values = [start + int(k) * step for k in rng.integers(0, 500, n)]
    ends = [end for end in ENDS[: 2 if step >= timedelta(days=1) else 3] if rng.random() < 0.5]
    for i in np.flatnonzero(rng.random(n) < 0.3).tolist() if ends else ():
        values[i] = ends[int(rng.integers(len(ends)))]
    order, cut = sorted(set(values)), int(rng.integers(1, len(set(values))))
    members = [None if x < 0.2 else bool(x < 0.6) for x in rng.random(n)]
    labels = [
        f"{value < order[cut]} {member if seed % 2 else ''}" for value, member in zip(values, members, strict=True)
    ]
    for i in np.flatnonzero(rng.random(n) < 0.15).tolist() if seed % 3 == 0 else ():
        values[i], labels[i] = None, "never"
    moments = [v if v is None or not zone else v.replace(tzinfo=UTC) for v in values]
    rows = [
        {"at": at, "member": member, "x": x} for at, member, x in zip(moments, members, rng.normal(size=n), strict=True)
    ]
    return rows, labels, zone, step


def frame_of(rows, zone):
    return pl.DataFrame(rows, {"at": pl.Datetime("us", zone or None), "member": pl.Boolean, "x": pl.Float64})


def rows_around(ex, rows):
    """Return rows, and others with dates near the cuts, at both ends of the calendar, and missing."""
    zone = ex._date_columns[0].zone
    moments = {*ENDS, *(row["at"] and row["at"].replace(tzinfo=None) for row in rows)}
    for end in ends_of(ex):
        at = ex._date_columns[0].first_moment(end, beyond=True)
        for off in (timedelta(), *(timedelta(milliseconds=n) for n in (1, 1000, 86_400_000))):
            moments |= {at + off} if datetime.max - at >= off else set()
            moments |= {at - off} if at - datetime.min >= off else set()
    as_zone = [at if at is None or not zone else at.replace(tzinfo=UTC) for at in moments]
    return [{"at": at, "member": member, "x": 0.5} for at in as_zone for member in (True, False, None)]


def ends_of(ex):
    nodes = np.flatnonzero(ex.tree.feature == 0).tolist()
    ends = [float(end[node]) for node in nodes for end in (np.nextafter(ex.tree.lower, -np.inf), ex.tree.upper)]
    return [end for end in ends if abs(end) < 1e7]


def texts_of(rows):
    return [row | {"at": row["at"] and row["at"].isoformat()} for row in rows]


def in_python(ex, rows):
    return list(map(program(ex.to_python())["cluster"], rows))


def in_javascript(ex, rows, folder):
    script = (
        f"{ex.to_javascript()}\nconsole.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0)).map(cluster)))"
    )
    (folder / "run.js").write_text(script)
    given = json.dumps(texts_of(rows))
    done = subprocess.run(["node", folder / "run.js"], input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def in_duckdb(ex, rows):
    con = duckdb.connect()
    con.register("t", frame_of(rows, ex._date_columns[0].zone and "UTC").to_arrow())
    return [label for (label,) in con.execute(f"SET TimeZone = 'UTC'; SELECT {ex.to_sql()} FROM t").fetchall()]


def of_sqlite(ex, rows):
    return in_sqlite(ex.to_sql("sqlite"), texts_of(rows))


@cache
def explained(seed):
    """Return an explanation of a random table, rows around its cuts, their clusters, and the smallest unit of dates."""
    rows, labels, zone, step = random_table(seed)
    ex = bw.explain(frame_of(rows, zone), labels, max_leaf_nodes=5, method="cart" if seed % 8 else "auto")
    rows = rows_around(ex, rows)
    return ex, rows, ex.predict(frame_of(rows, zone and "UTC"), missing="none").tolist(), step


@law(24)
def test_a_row_has_one_cluster_from_the_first_date_to_the_last(seed):
    ex, rows, known, _ = explained(seed)
    for engine in (in_python, in_duckdb, of_sqlite):
        assert engine(ex, rows) == known, engine
    assert in_python(ex, texts_of(rows)) == known
    some = range(seed % 5, len(rows), max(1, len(rows) // 20))
    assert [ex.why(rows[i]).name for i in some] == [known[i] for i in some]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@law(12)
def test_javascript_has_the_same_clusters(seed, tmp_path):
    ex, rows, known, _ = explained(seed)
    assert in_javascript(ex, rows, tmp_path) == known


@law(24)
def test_dates_are_said_as_people_write_them_and_read_back_as_the_cut(seed):
    ex, _, _, step = explained(seed)
    dates = ex._date_columns.get(0, Dates())
    said = f"{ex}{ex.to_text()}{ex.to_text(style='sentences')}{ex.profile()}"
    assert "days after" not in said
    for end in ends_of(ex):
        text = dates.first(end, beyond=True)
        assert text in ex.to_text()
        at = moment_of(text, dates.zone)
        assert at / timedelta(days=1) > end >= np.nextafter(at / timedelta(days=1), -np.inf)
        assert len(text) == 10 or step < timedelta(days=1) or dates.zone


def moment_of(text, zone):
    """Return how long after 1970 a date is, as it is said: a day without a time is the beginning of it in its zone."""
    at = datetime.fromisoformat(text)
    local = at if at.tzinfo or not zone else at.replace(tzinfo=ZoneInfo(zone))
    return local - EPOCH.replace(tzinfo=UTC) if zone else at - EPOCH


# --------------------------------------------------------------------------------------------- what a row must bring
def orders(zone=""):
    """Return an explanation of a country and a date, with gaps; IN: zone: that of the date."""
    days = pd.Series(pd.date_range("2025-01-01", periods=300, tz=zone or None))
    frame = pd.DataFrame({"country": ["AT", "DE", "FR"] * 100, "last": days, "n": np.arange(300) * 7 % 11})
    late = np.arange(300) >= 151  # 2025-06-01
    return bw.explain(frame, np.where(late, np.where(frame.country == "AT", "home", "new"), "old"), max_leaf_nodes=4)


def run_javascript(ex, values, folder):
    """Return what JavaScript gives for sources of rows; errors are their messages."""
    calls = (f"[of(() => cluster({value})), of(() => whyNone({value}))]" for value in values)
    caught = "const of = call => { try { return call(); } catch (error) { return error.message; } };"
    source = f"{ex.to_javascript()}\n{caught}\nconsole.log(JSON.stringify([{', '.join(calls)}]))"
    (folder / "run.js").write_text(source)
    done = subprocess.run(["node", folder / "run.js"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@law(12)
def test_a_field_that_is_not_there_is_no_missing_value(seed):
    rows, labels, zone, _ = random_table(seed)
    ex = bw.explain(frame_of(rows, zone), labels, max_leaf_nodes=5, method="cart")
    scope = program(ex.to_python())
    assert scope["COLUMNS"] == tuple(ex.columns[j] for j in ex.tree.features)
    for row in rows[::7]:
        for column in row:
            rest = {name: value for name, value in row.items() if name != column}
            if column not in scope["COLUMNS"]:
                assert scope["cluster"](rest) == scope["cluster"](row)
                continue
            with pytest.raises(KeyError, match=repr(column)):
                scope["cluster"](rest)
            with pytest.raises(DataError, match=column):
                ex.predict(pd.DataFrame([rest]), missing="none")
            with pytest.raises(DataError, match=column):
                ex.why(rest)
            gone = row | {column: None}
            reason, why = scope["why_none"](gone), ex.why(gone)
            assert (reason is None) == (why.name is not None) == (scope["cluster"](gone) is not None)
            assert reason is None or why.reason == f"{reason[0]} is {reason[1]}"
    assert scope["why_none"](rows[0] | {"member": "perhaps"}) in (None, ("member", "never seen"))


def test_javascript_says_which_field_is_not_there_and_why_a_row_has_no_cluster(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("needs node")
    values = {
        '{country: "AT", last: "2025-07-01"}': ["home", None],
        '{Country: "AT", last: "2025-07-01"}': ['no column "country" in the row; a missing value is null'] * 2,
        "{}": ['no column "country" in the row; a missing value is null'] * 2,
        '{country: undefined, last: "2025-07-01"}': [None, ["country", "missing"]],
        '{country: null, last: "2025-07-01"}': [None, ["country", "missing"]],
        '{country: "XX", last: "2025-07-01"}': [None, ["country", "never seen"]],
        '{country: "AT", last: NaN}': [None, ["last", "missing"]],
    }
    assert run_javascript(orders(), values, tmp_path) == [*values.values()]


ZONED = [
    "2025-05-31T23:30:00+02:00",
    "2025-05-31T23:30:00-02:00",
    "2025-06-01T00:00Z",
    "2025-06-01 00:00 UTC",
    datetime(2025, 6, 1, tzinfo=UTC),
]
BARE = ["2025-05-31", "2025-06-01T00:30", datetime(2025, 6, 1), date(2025, 6, 1)]


@each("zone, refused, taken", [("", ZONED, BARE), ("Europe/Vienna", BARE, ZONED)])
def test_a_date_with_a_zone_is_refused_where_rules_have_none_and_the_other_way_round(zone, refused, taken, tmp_path):
    ex = orders(zone)
    scope = program(ex.to_python())
    for value in refused:
        row = {"country": "AT", "last": value, "n": 1}
        with pytest.raises(DataError, match="time zone"):
            ex.why(row)
        with pytest.raises(DataError, match="time zone"):
            ex.predict(pd.DataFrame([row]))
        with pytest.raises(TypeError, match="time zone"):
            scope["cluster"](row)
    rows = [{"country": "AT", "last": value, "n": 1} for value in taken]
    known = [scope["cluster"](row) for row in rows]
    assert {*known} == {"home", "old"}
    assert known == [ex.why(row).name for row in rows] == [ex.predict(pd.DataFrame([row]))[0] for row in rows]
    if shutil.which("node") is not None:
        texts = [f'{{country: "AT", last: {json.dumps(str(value))}}}' for value in [*refused, *taken]]
        found = [each[0] for each in run_javascript(ex, texts, tmp_path)]
        assert all("time zone" in text for text in found[: len(refused)])
        assert found[len(refused) :] == known


@pytest.mark.parametrize("zone", ["", "UTC"])
def test_a_number_is_no_date(zone, tmp_path):
    ex = orders(zone)
    scope = program(ex.to_python())
    for value in (5, 20240601, 20000.5, True, np.int64(3)):
        row = {"country": "AT", "last": value, "n": 1}
        with pytest.raises(ValueError, match="'last' must be a date such as 2026-03-01, got"):
            scope["cluster"](row)
        with pytest.raises(DataError, match="in last is no date; expected one such as 2026-03-01"):
            ex.why(row)
        with pytest.raises(DataError, match="last must be dates such as 2026-03-01, but has numbers"):
            ex.predict(pd.DataFrame([row]))
    if shutil.which("node") is not None:
        rows = [f'{{country: "AT", last: {value}}}' for value in ("5", "20240601", "true", "[]")]
        assert all("must be a date such as 2026-03-01" in each[0] for each in run_javascript(ex, rows, tmp_path))
    ex.save(tmp_path / "m.json")
    table = pd.DataFrame({"country": ["AT"], "last": [5], "n": 1})
    for file in ("t.parquet", "t.csv"):
        table.to_parquet(tmp_path / file) if "parquet" in file else table.to_csv(tmp_path / file, index=False)
        args = ["predict", str(tmp_path / "m.json"), str(tmp_path / file), "-o", str(tmp_path / "o.csv")]
        result = invoke(*args, code=None)
        assert result.exit_code != 0
        assert "column 'last' must be dates such as 2026-03-01" in result.output
    empty = pd.DataFrame({"country": ["AT"], "last": [np.nan], "n": [1]})
    assert ex.predict(empty, missing="none").tolist() == [None]


def test_trees_on_other_columns_know_dates_too(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"d": pd.Timestamp("2010-01-01") + pd.to_timedelta(rng.integers(0, 1500, 60), unit="D")})
    frame = frame.assign(c=rng.choice(list("abcd"), 60), x=np.where(rng.random(60) < 0.1, np.nan, rng.normal(size=60)))
    monkeypatch.setattr(TableSearch, "best", lambda table, trees, search: trees[-1])  # as if it cost less
    ex = bw.explain(frame, n_clusters=3, columns=[*frame])
    assert "d is before" in ex.to_text()
    assert not re.search(r"\d\d:\d\d", ex.to_text())


@law(40)
def test_a_cut_without_rows_on_one_side_is_before_a_round_date_too(seed):
    rng = np.random.default_rng(seed)
    days = rng.integers(-700_000, 2_900_000) + rng.integers(0, 50, 20).astype(float)
    at = float(rng.choice([days.max(), np.nextafter(days.min(), -np.inf), days.min() - 0.3, days.max() + 0.7]))
    tree = bw.ThresholdTree.from_dict({"feature": 0, "threshold": at, "left": {"cluster": 0}, "right": {"cluster": 1}})
    short = shorten_thresholds(tree, days[:, None], {0: Dates()})
    assert (short.predict(days[:, None]) == tree.predict(days[:, None])).all()
    assert len(Dates().first(float(short.upper[0]), beyond=True)) == 10
