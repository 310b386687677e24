"""Columns of dates: the same tree and words from every table, and the same cluster wherever the rules run."""

import json
import math
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import compress
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans

import boxwood as bw
from boxwood._dates import DATE_FORMS, MICROSECONDS, Dates, in_form
from boxwood.errors import DataError
from boxwood.render.forms.labels import write_labels
from tests.command import invoke
from tests.models import read_model
from tests.programs import in_sqlite, program
from tests.scale import drawn, each, law
from tests.table.test_texts_of_dates import odd_text

EPOCH = datetime(1970, 1, 1)
N = 400


def customers(seed=0, *, gaps=False):
    """Return a frame of pandas in which the label follows from an age and two columns of dates, one with times."""
    rng = np.random.default_rng(seed)
    joined = pd.Timestamp("1962-01-01") + pd.to_timedelta(rng.integers(0, 6000, N), unit="D")
    last = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900 * 1440, N), unit="min")
    table = pd.DataFrame({"age": rng.integers(18, 80, N), "joined": joined, "last": last})
    late = table["last"] >= "2025-03-01 12:30"
    table["segment"] = np.where(table.joined < "1969-04-17", np.where(late, "back", "gone"), "new")
    if gaps:
        table.loc[rng.random(N) < 0.1, "last"] = pd.NaT
        table.loc[rng.random(N) < 0.1, "age"] = np.nan
    return table


def as_text(table):
    return table.assign(joined=table.joined.dt.strftime("%d.%m.%Y"), last=table["last"].dt.strftime("%Y-%m-%d %H:%M"))


def as_objects(table):
    return table.assign(joined=table.joined.dt.date)


def frames(table):
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    dates = arrow.set_column(1, "joined", arrow["joined"].cast(pa.date32()))
    return [table, as_text(table), as_objects(table), pl.from_arrow(dates), dates, arrow]


def test_files_keep_the_time_zone_of_their_dates(tmp_path):
    table = customers()
    table["last"] = table["last"].dt.tz_localize("America/New_York", ambiguous=False, nonexistent="shift_forward")
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    table.to_parquet(tmp_path / "t.parquet")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, arrow.schema) as writer:
        writer.write_table(arrow)
    expected = bw.explain(table, "segment", method="imm")
    assert dict(expected.details.dates)["last"] == Dates("America/New_York")
    for path in (tmp_path / "t.parquet", tmp_path / "t.arrow"):
        model = str(path.with_suffix(".json"))
        args = ["explain", str(path), "-l", "segment", "--method", "imm", "-q", "-o", model]
        invoke(*args)
        assert bw.load(model).details.dates == expected.details.dates
        assert str(bw.load(model).clusters) == str(expected.clusters)


@each(
    "texts, dates",
    [
        (["31.05.23", "01.06.23"], Dates(form="%d.%m.%y")),
        (["31.05.23", "31.05.2023"], None),
        (["23-05-31", "23-06-01"], None),
        (["2023-5-31", "2023-06-01"], Dates(form="%Y-%m-%d")),
        (["2023-05-31 23:59", "2023-05-31 24:00"], None),
        (["2023-05-31 10:00 UTC", "2023-06-01T10:00:00.5Z"], Dates("UTC")),
        (["2023-05-31 10:00+0200", "2023-06-01 10:00:00-03"], Dates("UTC")),
        (["2023-05-31 10:00 +02:00", "2023-06-01 10:00 +02:00"], None),
        (["31.05.0000", "01.06.2023"], None),
        (["\u00a031.05.2023", "1.6.2023\t"], Dates(form="%d.%m.%Y")),
        (["1/2/2023", "3/4/2023"], None),
    ],
)
def test_files_and_frames_read_the_same_texts_as_dates(tmp_path, texts, dates):
    frame = pd.DataFrame({"day": texts * 30, "x": range(60)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    expected = () if dates is None else (("day", dates),)
    assert bw.explain(frame, np.arange(60) % 2).details.dates == expected
    for path in (tmp_path / "t.csv", tmp_path / "t.jsonl"):
        with bw.scan(path) as table:
            assert (*table.dates.items(),) == expected


def test_a_time_that_would_do_is_before_the_round_date_of_a_cut():
    frame = pd.DataFrame({"at": pd.date_range("2026-01-01", periods=60, freq="6h"), "x": np.arange(60) % 7})
    ex = bw.explain(frame, np.where(np.arange(60) < 4, "early", "late"))
    assert "would be early if at were before 2026-01-02 (" in str(ex.why(frame.iloc[7]))
    assert "would be late if at were 2026-01-02 or later (" in str(ex.why(frame.iloc[2]))
    assert ex.predict(frame.assign(at=pd.Timestamp("2026-01-02"))).tolist() == ["late"] * 60


def test_words_say_dates():
    ex = bw.explain(customers(), "segment", method="imm")
    assert str(ex.clusters).count("joined is before 1969-05-01 and last is on or after 2025-03-01") == 1
    assert "|--- joined is on or after 1969-05-01" in ex.to_text()
    assert "joined is before 1969-05-01" in ex.to_text(style="sentences")
    why = str(ex.why({"age": 30, "joined": "1975-01-01", "last": "2025-01-01"}))
    assert "joined = 1975-01-01  joined is on or after 1969-05-01  (2071 days from the cut" in why
    assert "would be gone if joined were 1969-04-30 or earlier" in why
    back = str(ex.why({"age": 30, "joined": "1965-01-01", "last": datetime(2025, 1, 1)}))
    assert "would be back if last were 2025-03-01 or later" in back
    assert "would be new if joined were 1969-05-01 or later" in back
    assert "joined at 1969-" in str(ex.stability(n=3))
    assert "1970" in str(ex.profile())
    page = ex.to_html()
    assert "joined is before 1969-05-01" in page
    assert '"date": true' in page or '"date":true' in page


def test_a_model_keeps_its_dates(tmp_path):
    ex = bw.explain(as_text(customers(gaps=True)), "segment")
    ex.profile(), ex.stability(n=2)
    ex.save(tmp_path / "m.json")
    model = bw.load(tmp_path / "m.json")
    assert model == ex
    assert dict(model.details.dates)["joined"] == Dates(form="%d.%m.%Y")
    assert str(model.clusters) == str(ex.clusters)
    assert str(model.profile()) == str(ex.profile())
    for other in frames(customers(1, gaps=True)):
        expected = ex.predict(customers(1, gaps=True), missing="none").tolist()
        assert model.predict(other, missing="none").tolist() == expected
    measured = model.evaluate(as_text(customers(1, gaps=True)), "segment")
    assert str(measured.clusters).count("1969") == str(ex.clusters).count("1969")
    damaged = json.loads((tmp_path / "m.json").read_text())
    damaged["dates"]["joined"]["zone"] = "Nowhere/Town"
    (tmp_path / "m.json").write_text(json.dumps(damaged))
    with pytest.raises(bw.errors.ModelError, match="time zone 'Nowhere/Town' is not known"):
        bw.load(tmp_path / "m.json")


# ----------------------------------------------------------------------------------------------- where the rules run
def edge_rows(ex, zone):
    """Return rows of dates around each threshold: equal, a microsecond or a millisecond off, before 1970, missing."""
    moments = {datetime(1901, 2, 3), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2100, 1, 1)}
    for node in np.flatnonzero(ex.tree.feature >= 0).tolist():
        for end in (ex.tree.lower[node], ex.tree.upper[node]):
            if math.isfinite(end) and abs(end) < 1e6 and int(ex.tree.feature[node]) in ex._date_columns:
                at = ex._date_columns[int(ex.tree.feature[node])].first_moment(float(end), beyond=True)
                moments |= {at + timedelta(microseconds=n) for n in (0, -1, 1, -1000, 1000, -86_400_000_000)}
    values = [*sorted(moments), None]
    rows = [(age, joined, last) for age in (20.0, 60.0, None) for joined in values for last in values]
    of_zone = {"joined": "", "last": zone}
    named = [dict(zip(("age", "joined", "last"), row, strict=True)) for row in rows]
    return [
        {
            name: value if value is None or not of_zone.get(name) else value.replace(tzinfo=UTC)
            for name, value in row.items()
        }
        for row in named
    ]


def walked(ex, row):
    """Return the cluster of a row by a walk over the tree, with dates as fractions of days, in plain Python."""
    node = 0
    while (j := int(ex.tree.feature[node])) >= 0:
        value = row[ex.columns[j]]
        if isinstance(value, datetime):
            value = (value.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1) / MICROSECONDS
        if value is None:
            if j not in ex._gap_columns:
                return None
            value = math.inf
        inside = ex.tree.lower[node] <= value <= ex.tree.upper[node]
        node = node + 1 if inside else int(ex.tree.second[node])
    return ex.names[int(ex.tree.cluster[node])]


@cache
def dated(gaps, zone):
    """Return an explanation of dates, rows around its thresholds, and the cluster of each by the walk."""
    table = customers(2, gaps=gaps)
    if zone:
        table["last"] = table["last"].dt.tz_localize("UTC").dt.tz_convert(zone)
    ex = bw.explain(table, "segment", max_leaf_nodes=6)
    rows = edge_rows(ex, zone)
    return ex, rows, [walked(ex, row) for row in rows]


def in_python(ex, rows, folder):
    return list(map(program(ex.to_python())["cluster"], rows))


def texts_of(rows):
    return [
        {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
        for row in rows
    ]


def in_python_by_texts(ex, rows, folder):
    return in_python(ex, texts_of(rows), folder)


def in_javascript(ex, rows, folder, call="cluster"):
    script = folder / "run.js"
    script.write_text(
        f"{ex.to_javascript()}\n"
        'function tried(row) { try { return cluster(row); } catch (error) { return "refused: " + error; } }\n'
        f"console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0)).map({call})))"
    )
    done = subprocess.run(
        ["node", script], input=json.dumps(texts_of(rows)), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def in_duckdb(ex, rows, folder):
    frame = pl.DataFrame(rows, infer_schema_length=None)
    types = {name: "TEXT" for name, _ in ex.details.dates if frame[name].dtype == pl.String}
    found = duckdb.sql(f"SET TimeZone = 'UTC'; SELECT {ex.to_sql(types=types)} FROM frame").fetchall()
    assert len(frame) == len(found)
    return [label for (label,) in found]


def in_a_frame(kind):
    def labels(ex, rows, folder):
        frame = pl.DataFrame(rows, infer_schema_length=None)
        return ex.predict(
            {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}[kind], missing="none"
        )

    return labels


def in_a_file(form):
    def labels(ex, rows, folder):
        frame = pl.DataFrame(rows, infer_schema_length=None)
        write = frame.write_parquet if form == "parquet" else frame.to_pandas().to_csv
        write(folder / f"t.{form}")
        write_labels(ex, folder / f"t.{form}", folder / "out.parquet")
        return pl.read_parquet(folder / "out.parquet")["cluster"].to_list()

    return labels


ENGINES = {
    "python": in_python,
    "python, texts": in_python_by_texts,
    "javascript": in_javascript,
    "duckdb": in_duckdb,
    "sqlite": lambda ex, rows, folder: in_sqlite(ex.to_sql("sqlite"), texts_of(rows)),
    **{kind: in_a_frame(kind) for kind in ("polars", "pandas", "arrow")},
    **{form: in_a_file(form) for form in ("parquet", "csv")},
}
COARSE = ("sqlite",)  # which know milliseconds alone


@pytest.mark.parametrize("zone", ["", "Europe/Vienna"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_has_the_same_cluster_wherever_the_rules_run(engine, gaps, zone, tmp_path):
    if engine == "javascript" and shutil.which("node") is None:
        pytest.skip("needs node")
    ex, rows, wanted = dated(gaps, zone)
    if engine in COARSE:
        is_held = [all(not isinstance(v, datetime) or v.microsecond % 1000 == 0 for v in row.values()) for row in rows]
        rows, wanted = list(compress(rows, is_held)), list(compress(wanted, is_held))
    found = list(ENGINES[engine](ex, rows, tmp_path))
    assert found == wanted
    assert {*found} > {"new", "gone"}


def test_what_holds_no_dates_says_so(tmp_path):
    ex = bw.explain(customers(), "segment")
    for write in (ex.to_onnx, ex.to_sklearn):
        with pytest.raises(DataError, match="float32, which hold no dates, but the rules test joined"):
            write()
    zoned = customers(1).assign(last=lambda t: t["last"].dt.tz_localize("UTC"))
    with pytest.raises(DataError, match="dates of last have a time zone, but those of the rules have none"):
        ex.predict(zoned)
    with pytest.raises(DataError, match="'soon' in joined is no date"):
        ex.predict(customers(1).assign(joined="soon"))
    zoned.to_parquet(tmp_path / "z.parquet")
    with pytest.raises(DataError, match=r"column 'last' in .* have a time zone, but those of the rules have none"):
        write_labels(ex, tmp_path / "z.parquet", tmp_path / "out.csv")
    as_text(customers(1)).assign(joined="soon").to_csv(tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"column 'joined' must be dates such as 2026-03-01, but .* 400 of 400 rows"):
        write_labels(ex, tmp_path / "t.csv", tmp_path / "out.csv")


# ------------------------------------------------------------------------------------------------- texts in one form
FORMS = ("", *(form for form in DATE_FORMS if not form.startswith("%Y-%m-")))  # those with "-" are found as ISO 8601


def written(seed):
    """Return an explanation of texts in a form, and texts: around its threshold, and nearly in this form or another."""
    rng = np.random.default_rng(seed)
    form = FORMS[seed * 7 % len(FORMS)]
    hours, parted = (45, datetime(2021, 5, 6)) if not Dates(form=form).of_months else (720, datetime(2025, 4, 1))
    moments = [datetime(2021, 1, 1) + timedelta(hours=hours * i, seconds=9 * i) for i in range(160)]
    labels = ["old" if moment < parted else "new" for moment in moments]
    texts = [in_form(moment, form or "%Y-%m-%dT%H:%M") for moment in moments]
    texts = [None if seed % 2 and i % 9 == 0 else text for i, text in enumerate(texts)]
    ex = bw.explain(pd.DataFrame({"it's": texts, "x": np.arange(160) % 7}), labels, max_leaf_nodes=2)
    assert dict(ex.details.dates) == {"it's": Dates("", form)}
    at = Dates().first_moment(float(ex.tree.upper[0]), beyond=True)
    near = [at + timedelta(days=n) for n in (-60, -1, 0, 1, 40)] + [datetime(1969, 5, 6), datetime(1, 1, 2)]
    found = [in_form(moment, each) for moment in near for each in ("%Y-%m-%dT%H:%M:%S.123456789", form) if each]
    ends = rng.choice(["", "Z", "+02:00", "x"], 16, p=[0.7, 0.1, 0.1, 0.1])
    found += [odd_text(rng, str(each)) for each in [form or "%Y-%m-%d"] * 8]
    found += [odd_text(rng, str(each)) + end for each, end in zip(rng.choice(DATE_FORMS, 16), ends, strict=True)]
    return ex, [None, "", "soon", "20210506", "6.5.21", "2021-02-31", *found]


def refused_or(label):
    """Return a function that gives why a row is refused, where `label` refuses it."""

    def tried(row):
        try:
            return label(row)
        except (DataError, ValueError, TypeError) as error:
            return f"refused: {error}"

    return tried


def save_rows(texts, path):
    frame = pd.DataFrame({"it's": texts, "x": 1})
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_json(path, orient="records", lines=True)


def is_refused(label):
    return str(label).startswith("refused: ")


@law(12)
def test_texts_in_a_form_are_read_or_refused_wherever_the_rules_run(seed, tmp_path):
    ex, texts = written(seed)
    dates = ex.details.dates[0][1]
    scope = program(ex.to_python())
    rows = [{"it's": text, "x": 1} for text in texts]
    known = [*map(refused_or(lambda row: ex.predict(pd.DataFrame([row]), missing="none")[0]), rows)]
    found = {"python": [*map(refused_or(scope["cluster"]), rows)]}
    if shutil.which("node") is not None:
        found["javascript"] = in_javascript(ex, rows, tmp_path, "tried")
    for labels in found.values():
        for text, expected, label in zip(texts, known, labels, strict=True):
            if "time zone" in str(expected) and not is_refused(label):
                continue  # in JavaScript, one without a time zone counts as one of UTC
            assert is_refused(label) if is_refused(expected) else label == expected, text
            if is_refused(label):
                assert "it's" in label
                assert (dates.form or "2026-03-01") in label or "zone" in label
    assert all(dates.example in label or "time zone" in label for label in filter(is_refused, known))

    read = [(text, label) for text, label in zip(texts, known, strict=True) if not is_refused(label)]
    assert {label for _, label in read} >= {"old", "new"}
    refused = [text for text, label in zip(texts, known, strict=True) if text and "is no date" in str(label)]
    files = [("t.csv", "o.parquet", pl.read_parquet), ("t.csv", "o.csv", pl.read_csv)]
    for file, out, opened in drawn([*files, ("t.jsonl", "o.jsonl", pl.read_ndjson)], seed):
        save_rows([text for text, _ in read], tmp_path / file)
        write_labels(ex, tmp_path / file, tmp_path / out)
        assert opened(tmp_path / out)["cluster"].to_list() == [label for _, label in read]
        save_rows(refused[:1] * 2, tmp_path / file)
        with pytest.raises(DataError, match="must be dates such as"):
            write_labels(ex, tmp_path / file, tmp_path / out)

    said = f"dates first, where your database holds them as text: it's (such as {dates.example})\nCASE\n"
    said = f"-- Convert these columns to {said}"
    assert ex.to_sql().split("\n", 1)[1].startswith(said)
    query = ex.to_sql(types={"it's": "TEXT"}).split("\n", 1)[1]
    assert query.startswith(said if dates.form else "CASE\n")


@law(20)
def test_texts_of_iso_8601_are_dates_in_databases_that_hold_them_as_text(seed, tmp_path):
    ex, texts = written(seed * len(FORMS))
    assert ex.details.dates[0][1] == Dates()
    rows = [{"it's": text, "x": 1} for text in texts if "\u00a0" not in str(text)]  # which SQLite reads as no blank
    known = [*map(refused_or(lambda row: ex.predict(pd.DataFrame([row]), missing="none")[0]), rows)]
    rows, known = zip(
        *((row, label) for row, label in zip(rows, known, strict=True) if not is_refused(label)), strict=True
    )
    assert {*known} >= {"old", "new"}
    assert in_duckdb(ex, rows, tmp_path) == in_sqlite(ex.to_sql("sqlite"), texts_of(rows)) == [*known]
    asked = {"types": {"it's": "TEXT"}}
    assert "Convert these columns" not in ex.to_sql(**asked) + ex.to_sql("postgres", **asked) + ex.to_sql("sqlite")
    for query in (ex.to_sql(), ex.to_sql("mysql"), ex.to_sql("mysql", **asked)):
        assert "Convert these columns to dates first" in query


def test_moments_of_any_time_zone_have_the_same_cluster_wherever_the_rules_run(tmp_path):
    moments = pd.date_range("2021-01-01", periods=400, freq="15min", tz="UTC")
    texts = [moment.isoformat() for moment in moments]
    ex = bw.explain(pd.DataFrame({"at": texts}), ["old" if i < 170 else "new" for i in range(400)])
    ends = ("Z", " UTC", "+00", "+02:00", "-0330", "+05:45", "+14", "-11:59")
    local = [f"{at:%Y-%m-%d{sep}%H:%M:%S}{end}" for at in moments[140:200:7] for end in ends for sep in " T"]
    rows = [{"at": text} for text in (*local, "2021-01-02T18:29:59.999999Z", "2021-01-02T18:30:00.000001Z")]
    known = ex.predict(pd.DataFrame(rows)).tolist()
    scope = program(ex.to_python())
    assert [scope["cluster"](row) for row in rows] == known
    assert {*known} == {"old", "new"}
    assert in_duckdb(ex, rows, tmp_path) == known
    read = [re.search(r"T[^.]*(Z|[+-]\d\d:\d\d)$", row["at"]) is not None for row in rows]  # by SQLite
    assert in_sqlite(ex.to_sql("sqlite"), texts_of(compress(rows, read))) == [*compress(known, read)]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    write_labels(ex, tmp_path / "t.csv", tmp_path / "o.parquet")
    assert pl.read_parquet(tmp_path / "o.parquet")["cluster"].to_list() == known
    if shutil.which("node") is not None:
        assert in_javascript(ex, rows, tmp_path) == known


CLOCKS = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Auckland")
WITH_DATES = """
const rows = JSON.parse(require("fs").readFileSync(0));
const of = day => cluster({"it's": day, x: 1});
const date = row => new Date(...row.instant ? [row.instant] : row.parts);
console.log(JSON.stringify(rows.map(row => [of(row.text), of(date(row))])));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@law(6)
def test_a_date_of_javascript_is_what_its_text_is_wherever_the_clock_stands(seed, tmp_path):
    rng = np.random.default_rng(seed)
    clock = ZoneInfo(CLOCKS[seed % len(CLOCKS)])
    changes = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-09-27", "2026-10-25", "2026-11-01", "1923-06-01"]
    middle = datetime.fromisoformat(str(rng.choice(changes))) + timedelta(hours=int(rng.choice([0, 2, 3, 24])))
    zone = "Europe/Berlin" if rng.random() < 0.3 else ""
    moments = [middle + timedelta(minutes=int(n)) for n in rng.integers(-4000, 4000, 60)]
    moments += [middle + timedelta(hours=n) for n in range(-30, 31)]
    moments += [moment.replace(hour=0, minute=0) for moment in moments]
    frame = pd.DataFrame({"it's": moments, "x": 1})
    frame["it's"] = frame["it's"].dt.tz_localize(zone or None, ambiguous="NaT", nonexistent="NaT")
    frame = frame.dropna()
    ex = bw.explain(frame, np.where(frame["it's"].dt.tz_localize(None) < middle, "old", "new"))
    scope, rows = {}, []
    exec(ex.to_python(), scope)
    for moment in frame["it's"].dt.to_pydatetime():
        local = moment.replace(tzinfo=clock)
        if zone or local.astimezone(UTC).astimezone(clock).replace(tzinfo=None) == moment:  # no clock shows others
            parts = [moment.year, moment.month - 1, moment.day, moment.hour, moment.minute]
            instant = int(moment.timestamp() * 1000) if zone else None
            rows.append({"text": moment.isoformat(), "parts": parts, "instant": instant})
    (tmp_path / "run.js").write_text(ex.to_javascript() + WITH_DATES)
    done = subprocess.run(
        ["node", tmp_path / "run.js"],
        input=json.dumps(rows),
        env={**os.environ, "TZ": clock.key},
        capture_output=True,
        text=True,
        check=True,
    )
    known = [scope["cluster"]({"it's": row["text"], "x": 1}) for row in rows]
    assert {*known} == {"old", "new"}
    assert json.loads(done.stdout) == [[label, label] for label in known]


@law(4)
def test_frames_of_facts_say_dates_as_dates(seed):
    table = customers(seed)
    odd = np.random.default_rng(seed).random(N) < 0.2
    table["segment"] = table["segment"].mask(odd, "new")
    ex = bw.explain(table, "segment", max_leaf_nodes=4)
    dates = dict(ex.details.dates)
    wrong = ex.to_frame("misassigned")
    assert len(wrong) == len(ex.misassigned())
    for row, known in zip(wrong.itertuples(), ex.misassigned(), strict=True):
        if known.column in dates and known.threshold is not None:
            assert row.threshold == dates[known.column].text(known.threshold)
            assert pd.Timestamp(row.threshold).year in range(1962, 2028)
    profile = ex.to_frame("profile")
    for name in dates:
        told = profile[profile["column"] == name]
        median = table.groupby("segment")[name].median()
        away = pd.to_datetime(told["q50"], format="ISO8601").to_numpy() - median.loc[told["cluster"]].to_numpy()
        assert np.abs(away).max() <= np.timedelta64(1, "us")  # it is interpolated
    assert all(isinstance(x, float) for x in profile.loc[profile["column"] == "age", "q50"])


def test_formulas_and_pmml_compare_dates():
    ex = bw.explain(customers(), "segment", method="imm")
    assert ">=DATE(1969,5,1)" in ex.to_formula(columns=["age", "joined", "last"])
    times = pd.DataFrame({"at": pd.to_datetime(["2025-03-01 12:10", "2025-03-01 12:50"])})
    assert "DATE(2025,3,1)+TIME(12,30,0)" in bw.explain(times, [0, 1]).to_formula()
    assert '<DataField name="joined" optype="continuous" dataType="dateTime"/>' in ex.to_pmml()
    assert 'field="joined" operator="lessThan" value="1969-05-01T00:00:00"' in ex.to_pmml()


def test_dates_count_as_days_in_clusters_and_are_no_identifiers():
    table = customers().drop(columns="segment")
    ex = bw.explain(table, n_clusters=3, columns=list(table))
    days = table.assign(**{name: table[name].to_numpy().astype("M8[us]").astype(float) / 86400e6 for name in table[:0]})
    days["age"] = table["age"]
    assert ex.reference_cost == bw.explain(days, n_clusters=3).reference_cost
    daily = pd.DataFrame({"day": pd.date_range("2020", periods=100), "x": np.arange(100) % 7})
    assert bw.explain(daily, np.arange(100) // 50).columns == ("day", "x")
    kmeans = KMeans(2, n_init=1, random_state=0).fit(table[["age"]].to_numpy())
    ex = bw.explain(table, kmeans)
    assert ex.columns == ("age",)
    assert "left out, dates, which a clusterer of numbers does not see: joined, last" in ex.notes
    wanted = ("joined", Dates()), ("last", Dates())
    assert bw.IMM().fit(table, customers()["segment"]).explanation_.details.dates == wanted


@law(4)
def test_rounded_thresholds_leave_dates(seed):
    rng = np.random.default_rng(seed)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, 120), unit="D")
    frame = pd.DataFrame({"when": when, "value": rng.normal(100, 10, 120)})
    labels = np.where((when > "2024-11-07") & (frame["value"] > 97), "late", "early")
    ex = bw.explain(frame, labels, method="cart", max_leaf_nodes=3)
    near = bw.explain(frame, labels, method="cart", max_leaf_nodes=3, round_thresholds=1)
    j = ex.columns.index("when")
    assert near.tree.upper[near.tree.feature == j].tolist() == ex.tree.upper[ex.tree.feature == j].tolist()
    of_lines = (tree.upper[tree.feature == j] for tree in near.standalone_rules().trees if tree is not None)
    assert all(end % 10000 or end == np.inf for ends in of_lines for end in ends.tolist())


@law(8)
def test_a_loaded_model_says_dates_as_the_one_that_was_saved(seed):
    r = np.random.default_rng(seed)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(r.integers(0, 300, 90), unit="D")
    table = pd.DataFrame({"seen": days, "orders": r.integers(0, 30, 90)})
    labels = np.where(days < pd.Timestamp("2026-05-01"), "gone", np.where(table["orders"] > 9, "loyal", "new"))
    as_of = [None, "2026-11-01"][seed % 2]
    ex = bw.explain(table, labels, method="cart", as_of=as_of)
    of_day = {} if as_of is None else {"as_of": as_of}
    loaded = read_model(ex.to_json()).evaluate(table, labels, **of_day)
    assert str(loaded.standalone_rules(2)) == str(ex.standalone_rules(2))
    assert str(loaded.contrast("loyal", "gone")) == str(ex.contrast("loyal", "gone"))
