"""`boxwood predict` on Parquet files, patterns and queries."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from tests.command import invoke
from tests.scale import seeds

N = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, and a table as one Parquet file and as two."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    frame = pd.DataFrame({"a.b": rng.normal(size=N) + 5 * y, 'q"': rng.normal(size=N)})
    bw.explain(frame, np.array(["x", "y", "z"])[y]).save(folder / "m.json")
    frame.loc[7, "a.b"] = np.nan
    frame["when"] = pd.Timestamp("2024-01-01", tz="UTC")
    frame["word"] = pd.Categorical(np.array(["u", "v"])[y % 2])
    (folder / "parts").mkdir()
    frame.to_parquet(folder / "t.parquet", row_group_size=100)
    frame[:120].to_parquet(folder / "parts" / "1.parquet")
    frame[120:].to_parquet(folder / "parts" / "2.parquet")
    return folder


def run(*words, code=0):
    return invoke("predict", *words, code=code)


def expected(folder):
    rows = pd.read_parquet(folder / "t.parquet")
    return bw.load(folder / "m.json").predict(rows, missing="none").tolist()


@pytest.mark.crossed
@pytest.mark.parametrize("table", ["t.parquet", "parts", "parts/*.parquet", "--sql"])
@pytest.mark.parametrize("out", ["out.parquet", "out.csv", "out.jsonl"])
def test_tables_of_any_form_are_labelled(folder, tmp_path, table, out):
    query = ["--sql", f"SELECT * FROM '{folder}/t.parquet' -- all;"]
    target = tmp_path / out
    done = run(folder / "m.json", *(query if table == "--sql" else [folder / table]), "-o", target)
    assert "1 row left without a cluster" in done.stderr
    found = duckdb.sql(f"FROM '{target}'")
    assert found.columns == ["a.b", 'q"', "when", "word", "cluster"]
    assert [label for (label,) in found.project("cluster").fetchall()] == expected(folder)
    if out == "out.parquet" and table != "--sql":
        new, old = pq.read_table(target), pq.read_table(folder / "t.parquet")
        assert new.drop_columns(["cluster"]).equals(old)
        first = folder / ("t.parquet" if table == "t.parquet" else "parts/1.parquet")
        assert new.schema.metadata == pq.read_schema(first).metadata
    assert sorted(os.listdir(tmp_path)) == [out]


@pytest.mark.parametrize("table", ["t.csv", "t.parquet"])
def test_many_rows_without_a_cluster_are_an_exit_code(folder, tmp_path, table):
    frame = pd.DataFrame({"a.b": [None, 1.0, None, None]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    words = (folder / "m.json", tmp_path / table, "-q")
    done = run(*words, code=4)
    said = "boxwood: 3 of 4 rows have no cluster, more than 50%; --fail-over-empty sets this limit\n"
    assert (done.stderr, done.stdout.count("\n")) == (said, 5)
    assert run(*words, "-o", tmp_path / "out.csv", code=4).stderr == said
    assert (tmp_path / "out.csv").read_text() == done.stdout
    assert run(*words, "--fail-over-empty", 0.75).stderr == ""
    run(*words, "--fail-over-empty", 0, "-o", tmp_path / "out.parquet", code=4)
    run(folder / "m.json", folder / "t.parquet", "-o", tmp_path / "out.parquet")  # one of 300


def test_a_query_is_printed(folder):
    query = f"""SELECT "a.b", 'q' AS "é" FROM '{folder}/t.parquet' LIMIT 2;"""
    lines = run(folder / "m.json", "--sql", query, "-q").stdout.splitlines()
    assert lines[0] == "a.b,é,cluster"
    assert [line.rsplit(",", 1)[1] for line in lines[1:]] == expected(folder)[:2]


def test_errors_are_those_of_explain(folder, tmp_path):
    model, out = folder / "m.json", tmp_path / "out.parquet"
    assert "give either FILE or --sql QUERY" in run(model, "-o", out, code=2).stderr
    assert "give FILE or --sql, not both" in run(model, "t.csv", "--sql", "FROM x", code=2).stderr
    assert "a query begins with SELECT" in run(model, "--sql", "DROP x", code=2).stderr
    assert "no file is named like" in run(model, folder / "no*.parquet", "-o", out, code=3).stderr
    assert "cannot run the query" in run(model, "--sql", "SELECT nothing", "-o", out, code=3).stderr
    assert "lacks a column the rules need: a.b" in run(model, "--sql", "SELECT 1 AS x", "-o", out, code=3).stderr
    taken = run(model, folder / "t.parquet", "-o", out, "--column", "WORD", code=2).stderr
    assert "t.parquet has a column 'WORD' already; name the new one with --column NAME" in taken
    same = run(model, folder / "parts/*.parquet", "-o", folder / "parts" / "2.parquet", code=2).stderr
    assert "is the table itself; name another file" in same
    parts = sorted((folder / "parts").iterdir())
    quoted = "several files are a pattern in quotes, so that the shell keeps it: 'data/*.parquet'"
    assert quoted in run(model, *parts, "-o", out, code=2).stderr
    texts = run(model, folder / "*.*", "-o", out, code=3).stderr
    assert "m.json is not a Parquet file; of other files, only one can be read as a table\n" in texts
    assert "  a query reads several: FROM '" in texts
    assert os.listdir(tmp_path) == []


def test_several_files_without_pyarrow_are_told_what_to_install(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    told = run(folder / "m.json", folder / "parts", "-o", tmp_path / "all.parquet", code=2).stderr
    assert told.startswith("boxwood: error: labelling several files needs pyarrow: pip install pyarrow\n")


def test_the_help_says_that_a_folder_becomes_one_file():
    said = " ".join(run("--help").stdout.split())
    assert "a folder or a pattern of Parquet files, whose rows become one file OUT" in said


def test_files_of_other_columns_are_one_table_by_a_query(folder, tmp_path):
    frame, parts = pd.read_parquet(folder / "t.parquet"), tmp_path / "it's"
    (parts / "deeper").mkdir(parents=True)
    frame[:120].to_parquet(parts / "1.parquet")
    frame[120:].drop(columns="word").to_parquet(parts / "deeper" / "2.parquet")
    for command, words in (("predict", [folder / "m.json"]), ("explain", ["-k", 2])):
        refused = invoke(command, *words, parts, code=3)
        said, name, query = refused.stderr.strip().split("\n  ")
        assert refused.exit_code == 3
        assert said.endswith("has other columns than " + str(parts / "1.parquet") + ": it lacks word")
        assert name == "name files of one table; or read what a file lacks as missing:"
        invoke(command, *words, *shlex.split(query))
    assert "has other columns" in run(folder / "m.json", parts / "**" / "*.parquet", code=3).stderr


def test_a_file_may_be_called_like_a_query(folder, tmp_path):
    path = tmp_path / "from t.csv"
    path.write_text("a.b\n1\n")
    assert run(folder / "m.json", path, "-q").stdout.startswith("a.b,cluster\n1,")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_the_old_file(folder, tmp_path, how):
    x = np.random.default_rng(0).normal(size=3_000_000)
    pq.write_table(pa.table({"a.b": x, **{f"x{j}": x for j in range(4)}}), tmp_path / "big.parquet")
    out = tmp_path / "out.parquet"
    out.write_text("old")
    command = [sys.executable, "-m", "boxwood", "predict", folder / "m.json", "big.parquet", "-o", out]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".out*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[how]
    assert out.read_text() == "old"
    if how == signal.SIGKILL:  # what it left is removed by the next run
        run(folder / "m.json", folder / "t.parquet", "-o", tmp_path / "other.parquet")
        os.remove(tmp_path / "other.parquet")
    assert sorted(os.listdir(tmp_path)) == ["big.parquet", "out.parquet"]


def test_labelling_starts_neither_the_compiler_nor_scikit_learn(folder, tmp_path):
    words = ["predict", str(folder / "m.json"), str(folder / "t.parquet"), "-o", str(tmp_path / "out.parquet")]
    program = (
        f"import sys\nfrom boxwood.cli import boxwood\nboxwood({words!r}, standalone_mode=False)\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numba", "sklearn", "scipy"} & set(done.stdout.split())


def test_other_columns_of_json_and_csv_stay_as_they_are_written(tmp_path):
    written = [
        {
            "t": "2026-01-01T10:00:00+02:00",
            "d": "00:30",
            "u": "6F1C2C1E-1111-4222-8333-444455556666",
            "m": 50,
            "x": 1.5,
        },
        {"t": "2026-01-02T10:00:00+02:00", "d": "01:30", "u": None, "m": "50", "x": 9.0},
        {"t": "2026-01-03", "d": None, "u": None, "m": [1, "a"], "x": 9.0},
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, written)))
    bw.explain(pd.DataFrame({"x": [1.5, 9.0]}), ["a", "b"]).save(tmp_path / "m.json")
    run(tmp_path / "m.json", tmp_path / "t.jsonl", "-o", tmp_path / "o.jsonl")
    found = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert found == [{**row, "cluster": label} for row, label in zip(written, "abb", strict=True)]
    run(tmp_path / "m.json", tmp_path / "t.jsonl", "-o", tmp_path / "o.csv")
    assert pd.read_csv(tmp_path / "o.csv", dtype=str)["m"].tolist() == ["50", "50", '[1,"a"]']
    days = {"day": "17.03.23", "at": "01/02/2023 10:00:00", "on": "2023-1-1"}
    pd.DataFrame([{**days, "x": 1.5}] * 2).to_csv(tmp_path / "t.csv")
    for out, read in (("p.jsonl", partial(pd.read_json, lines=True, dtype=str)), ("p.parquet", pd.read_parquet)):
        run(tmp_path / "m.json", tmp_path / "t.csv", "-o", tmp_path / out)
        assert read(tmp_path / out).loc[1, [*days]].to_dict() == days


def test_a_row_without_a_date_among_dates_gets_an_empty_cluster(tmp_path):
    """Whether its rule asks for the date, and whether rules say where missing dates go; most of them must be dates."""
    for seed in seeds(6):
        rng = np.random.default_rng(seed)
        day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 600, 80), unit="D")
        frame = pd.DataFrame({"day": day.strftime("%Y-%m-%d"), "kind": rng.choice(["a", "b"], 80)})
        frame["day"] = frame.day.mask(rng.random(80) < 0.2 * (seed % 2))
        labels = np.where(frame.kind == "a", "always", np.where(frame.day > "2024-10-01", "late", "early"))
        bw.explain(frame, labels).save(tmp_path / "m.json")
        (tmp_path / "t.csv").write_text(frame.to_csv(index=False))
        whole = run(tmp_path / "m.json", tmp_path / "t.csv", "-q").stdout.splitlines()[1:]
        odd = frame.day.notna().to_numpy() & (rng.random(80) < rng.choice([0.1, 0.4, 0.7]))
        frame.loc[odd, "day"] = rng.choice(["soon", "31.02.2026", "2024-02-30"], odd.sum())
        (tmp_path / "t.csv").write_text(frame.to_csv(index=False))
        if 2 * odd.sum() > frame.day.notna().sum():
            assert "must be dates" in run(tmp_path / "m.json", tmp_path / "t.csv", code=3).stderr
            continue
        done = run(tmp_path / "m.json", tmp_path / "t.csv", "--notes", "--fail-over-empty", 1)
        found = [line.rsplit(",", 1)[1] for line in done.stdout.splitlines()[1:]]
        assert found == ["" if is_odd else line.rsplit(",", 1)[1] for is_odd, line in zip(odd, whole, strict=True)]
        rows = f"{odd.sum()} row{' has' if odd.sum() == 1 else 's have'}"
        assert (f"column day: {rows} a value that is no date, such as " in done.stderr) == odd.any()
