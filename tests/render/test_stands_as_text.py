"""Dates and truths that stand as text: SQL runs on the table as it is, and labels its rows as `predict` does."""

import contextlib
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import boxwood as bw
from boxwood.cli import boxwood as command
from boxwood.render.forms.labels import write_labels
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


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("name", FILES)
@law(8)
def test_sql_labels_texts_as_predict_does(seed, tmp_path, name, engine):
    frame, file, model = table(seed), tmp_path / name, str(tmp_path / "model.json")
    relation = FILES[name](frame, file)
    words = ["explain", str(file), "-l", "kind", "--method", "auto", "--engine", engine, "--save", model]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    ex = bw.load(model)
    assert {ex.columns[j] for j in ex.tree.features} >= {"day", "member"}
    write_labels(ex, file, tmp_path / "labels.parquet")
    known = pd.read_parquet(tmp_path / "labels.parquet")["cluster"].tolist()
    assert {*known} >= {"a", "b"}
    assert duckdb.sql(ex.watch_sql("duckdb", "frame")).fetchall()
    for source in (relation, f"(SELECT * REPLACE (CAST(member AS BOOLEAN) AS member) FROM {relation})"):
        found = duckdb.sql(f"SELECT {ex.to_sql()} FROM {source}").fetchall()
        assert [label for (label,) in found] == known
    with contextlib.closing(sqlite3.connect(":memory:")) as con:
        frame.to_sql("t", con, index=False)
        assert [label for (label,) in con.execute(f"SELECT {ex.to_sql('sqlite')} FROM t")] == known
