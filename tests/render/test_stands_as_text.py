"""Dates and booleans that stand as text: SQL compares them as what they are, or reads the text where it is told to."""

import contextlib
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.render.forms.dialects import DIALECTS
from boxwood.render.forms.labels import write_labels
from tests.command import invoke
from tests.scale import law

N = 300
TRUTHS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))


def table(seed):
    """Return a frame whose label follows from dates and truths that stand as text, with gaps for some seeds."""
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700 * 24, N), unit="h")
    is_new, truth = day >= "2024-11-05", rng.random(N) < 0.5
    written = day.strftime(["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"][seed % 4])
    frame = pd.DataFrame({"day": written, "member": np.where(truth, *TRUTHS[seed % 3]), "x": rng.integers(0, 9, N)})
    frame["kind"] = np.where(is_new, np.where(truth, "a", "b"), np.where(frame["x"] > 4, "c", "d"))
    if seed % 2:
        frame["day"] = frame["day"].mask(rng.random(N) < 0.1)
        frame["member"] = frame["member"].mask(rng.random(N) < 0.1)
    return frame


def in_parquet(frame, file):
    frame.to_parquet(file)
    return f"'{file}'"


def in_json(frame, file):
    frame.to_json(file, orient="records", lines=True)
    return f"read_json('{file}', columns={{day: 'VARCHAR', member: 'VARCHAR', x: 'BIGINT', kind: 'VARCHAR'}})"


FILES = {"t.parquet": in_parquet, "t.jsonl": in_json}


AS_TEXT = {"day": "TEXT", "member": "VARCHAR(9)"}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("name", FILES)
@law(8)
def test_sql_labels_texts_as_predict_does(seed, tmp_path, name, engine):
    frame, file, model = table(seed), tmp_path / name, str(tmp_path / "model.json")
    relation = FILES[name](frame, file)
    words = ["explain", str(file), "-l", "kind", "--method", "auto", "--engine", engine, "--save", model]
    invoke(*words)
    ex = bw.load(model)
    assert {ex.columns[j] for j in ex.tree.features} >= {"day", "member"}
    write_labels(ex, file, tmp_path / "labels.parquet")
    known = pd.read_parquet(tmp_path / "labels.parquet")["cluster"].tolist()
    assert {*known} >= {"a", "b"}
    assert duckdb.sql(ex.monitoring_sql("duckdb", "frame", AS_TEXT)).fetchall()
    typed = f"(SELECT * REPLACE (CAST(day AS TIMESTAMP) AS day, CAST(member AS BOOLEAN) AS member) FROM {relation})"
    of_booleans = f"(SELECT * REPLACE (CAST(member AS BOOLEAN) AS member) FROM {relation})"
    if ex.details.dates[0][1].zone:
        typed = typed.replace("TIMESTAMP", "TIMESTAMPTZ")
    for source, types in ((typed, None), (relation, AS_TEXT), (of_booleans, AS_TEXT)):
        found = duckdb.sql(f"SELECT {ex.to_sql(types=types)} FROM {source}").fetchall()
        assert [label for (label,) in found] == known
    with duckdb.connect() as warehouse:
        for i, source in enumerate((typed, relation)):
            warehouse.execute(f"CREATE TABLE t{i} AS SELECT * FROM {source}")
            write_labels(ex, warehouse, f"t{i}")
            assert [label for (label,) in warehouse.execute(f"SELECT cluster FROM t{i}").fetchall()] == known
    with contextlib.closing(sqlite3.connect(":memory:")) as con:
        frame.to_sql("t", con, index=False)
        assert [label for (label,) in con.execute(f"SELECT {ex.to_sql('sqlite')} FROM t")] == known


DOORS = {
    "pandas": lambda file: bw.explain(pd.read_csv(file), "kind", method="expand"),
    "scan": lambda file: bw.explain(bw.scan(file), "kind", method="expand"),
    "memory": lambda file: by_command(file, "memory"),
    "duckdb": lambda file: by_command(file, "duckdb"),
}


def by_command(file, engine):
    model = f"{file}.json"
    words = ["explain", str(file), "-l", "kind", "--method", "expand", "--engine", engine, "--save", model]
    invoke(*words)
    return bw.load(model)


@law(4)
def test_a_csv_file_has_one_sql_whoever_reads_it(seed, tmp_path):
    file = tmp_path / "t.csv"
    table(seed).to_csv(file, index=False)
    explained = {name: read(file) for name, read in DOORS.items()}
    for dialect in DIALECTS:
        written = {ex.to_sql(dialect, nan=False).split("\n", 1)[1] for ex in explained.values()}
        assert len(written) == 1, written
        (query,) = written
        assert ("trim(" in query) == (dialect == "sqlite")
        assert ("to dates first" in query) == (dialect != "sqlite")


def test_the_days_of_a_file_are_compared_as_dates(tmp_path):
    days = pd.date_range("2026-01-01", periods=60)
    frame = pd.DataFrame({"day": days.strftime("%Y-%m-%d")})
    ex = bw.explain(frame, np.where(days < "2026-02-01", "old", "new"))
    expected = [
        "-- Convert these columns to dates first, where your database holds them as text: day (such as 2026-03-01)",
        "CASE",
        """  WHEN "day" < DATE '2026-02-01' THEN 'old'""",
        """  WHEN "day" >= DATE '2026-02-01' THEN 'new'""",
        "END",
    ]
    for dialect in ("duckdb", "postgres", "snowflake"):
        assert ex.to_sql(dialect).splitlines()[1:] == expected
    assert ex.to_sql("sqlite").splitlines()[1] == "CASE"
    assert ex.to_sql(types={"day": "DATE"}).splitlines()[1:] == expected[1:]
    read = "TRY_CAST(trim(CAST(\"day\" AS VARCHAR)) AS TIMESTAMP) < DATE '2026-02-01'"
    assert read in ex.to_sql(types={"day": "TEXT"})
