"""`boxwood explain` on tables that are read in batches."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from boxwood.batches.batches import rows_of
from boxwood.cli._terminal import Status
from boxwood.columns.of_batches import look_at
from boxwood.columns.rules import is_like_identifier
from boxwood.columns.seen import SeenValues
from boxwood.table import memory
from tests.command import invoke
from tests.scale import law
from tests.scattered import scattered

pytestmark = pytest.mark.usefixtures("rows_drawn")

N = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one table as a Parquet file, as two of them, and as CSV."""
    folder = tmp_path_factory.mktemp("tables")
    X, y = make_blobs(N, 3, centers=4, random_state=1)
    frame = pd.DataFrame(X.round(2) * [1, 100, 1e-3], columns=["age", "income", "rate"])
    frame = frame.assign(segment=np.array(["north", "south", "east", "west"])[y], customer_id=range(N), same=1)
    frame = frame.assign(weight=np.arange(N) % 3 + 1.0)
    frame.to_parquet(folder / "t.parquet")
    frame.to_csv(folder / "t.csv", index=False)
    frame[:200].to_parquet(folder / "part-1.parquet")
    frame[200:].to_parquet(folder / "part-2.parquet")
    return folder


def run(*words, code=0):
    return invoke("explain", *words, code=code)


def told(result):
    """Return what JSON says of an explanation, but for costs, which may be rounded."""
    found = json.loads(result.stdout)
    notes = [note for note in found["notes"] if "left out" in note or "scaled" in note]
    return [found[name] for name in ("method", "n_rows", "leaves", "clusters", "nodes", "agreement")], notes


K_MEANS, COLUMNS = ("-k", 4, "--exclude", "weight,segment"), ("-k", 4, "-c", "age,rate")
IMM, AUTO = (
    ("-l", "segment", "--method", "imm", "-c", "age,income,rate"),
    ("-l", "segment", "--scale", "unit", "--exclude", "weight,same"),
)


@pytest.mark.parametrize("words", [IMM, AUTO])
def test_files_in_batches_give_the_explanation_of_memory(folder, words):
    there = run(folder / "t.parquet", *words, "--json")
    assert told(run(folder / "part-*.parquet", *words, "--json")) == told(there)
    assert "read in batches" not in there.stderr


@pytest.mark.parametrize("words", [K_MEANS, COLUMNS])
@pytest.mark.usefixtures("rows_drawn")
def test_clusters_are_made_in_batches_as_in_memory(folder, words):
    results = [run(folder / table, *words, "--json") for table in ("part-*.parquet", "t.parquet")]
    rules, agreements, notes = [], [], []
    for found, said in map(told, results):
        rules.append(sorted(leaf["rule"] for leaf in found[2]))  # clusters are numbered otherwise
        agreements.append(found[-1])
        notes.append(said)
    assert rules[0] == rules[1]
    assert agreements[0] == agreements[1]
    assert notes[0] == notes[1]


@pytest.mark.parametrize("table", ["--engine=duckdb t.csv", "--engine=duckdb t.parquet", "--sql"])
def test_tables_in_batches_give_the_explanation_of_memory(folder, table):
    query = ["--sql", f"SELECT * FROM '{folder}/t.parquet'"]
    found = run(*(query if table == "--sql" else table.replace("t.", f"{folder}/t.").split()), *IMM, "--json")
    assert told(found) == told(run(folder / "t.parquet", *IMM, "--json"))


def test_weights_outputs_and_limits_are_those_of_memory(folder, tmp_path):
    words = ["-l", "segment", "--weights", "weight", "-c", "age,income", "--method", "imm", "--round-thresholds", 2]
    outputs = [tmp_path / f"out.{kind}" for kind in ("html", "json", "sql")]
    found = run(folder / "part-*.parquet", *words, *(word for out in outputs for word in ("-o", out)))
    assert found.stdout == run(folder / "t.parquet", *words).stdout
    assert all(out.stat().st_size > 100 for out in outputs)
    assert run(folder / "part-*.parquet", *words, "--fail-under", 1, code=4).stderr.count("agreement") == 1


def test_a_table_that_does_not_fit_is_read_in_batches(folder, monkeypatch):
    words = [folder / "t.csv", *IMM, "--json"]
    there = run(*words)
    assert "read in batches" not in there.stderr
    monkeypatch.setattr(memory, "_free_memory", lambda: 10_000)
    found = run(*words)
    assert "needs about 0 MB in memory, and there are 0 MB, so it is read in batches (--engine duckdb)" in found.stderr
    assert told(found) == told(there)
    assert "read in batches" not in run(*words, "--engine", "memory").stderr


def test_memory_is_estimated(folder):
    columns = 7 * 8 * N * memory.COPIES
    assert columns <= memory._estimate_memory(str(folder / "t.parquet"), None) <= 9 / 7 * columns
    assert memory._estimate_memory(str(folder / "t.csv"), None) >= 2 * (folder / "t.csv").stat().st_size
    free = memory._free_memory()
    assert free is None or free > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", 3], "give either FILE or --sql QUERY"),
        (["x.csv", "--sql", "FROM x", "-k", 3], "give FILE or --sql, not both"),
        (["--sql", "DROP TABLE x", "-k", 3], "a query begins with SELECT, WITH or FROM and a space"),
        (["x.csv", "-k", 3, "--memory-limit", "much"], "'much' is not a size"),
        (["x.csv", "-k", 3, "--memory-limit", "1GB", "--engine", "memory"], "--memory-limit is for --engine duckdb"),
        (["x.csv", "-k", 3, "--spark-master", "local", "--engine", "dask"], "--spark-master is for --engine spark"),
        (["--sql", "FROM x", "-k", 3, "--engine", "dask"], "--sql is for --engine duckdb or spark"),
        (["*.parquet", "-k", 3, "--engine", "memory"], "--engine memory reads one FILE"),
        (["-", "-k", 3, "--engine", "spark"], "--engine spark cannot read standard input"),
        (["x.jsonl", "-k", 3, "--engine", "dask"], "--engine dask reads Parquet and CSV"),
        (["x.csv", "-k", 3, "--engine", "dask", "--no-header"], "--no-header is for --engine duckdb or memory"),
        (["x.csv", "-k", 3, "--engine", "dask", "--decimal", ","], "--decimal is for --engine duckdb or memory"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words, message):
    assert message in run(*words, code=2).stderr


def test_tables_that_cannot_be_used_are_refused(folder):
    assert "no file is named like" in run(folder / "none-*.parquet", "-k", 3, code=3).stderr
    assert "no column 'segmnt'" in run(folder / "part-*.parquet", "-l", "segmnt", code=2).stderr
    assert (
        "no column 'incom' in the table; did you mean 'income'?" in run(folder, "-k", 3, "-c", "incom", code=2).stderr
    )
    both = run(folder / "part-*.parquet", "-l", "segment", "--weights", "segment", code=2)
    assert "cannot hold both labels and weights" in both.stderr
    query = f"SELECT same FROM '{folder}/t.parquet'"
    assert "only constant columns in the query" in run("--sql", query, "-k", 2, code=3).stderr


def test_rows_are_held_out_and_limits_are_kept(folder):
    parts = folder / "part-*.parquet"
    told = run(parts, "-l", "segment", "--validate", 3, "--min-samples-leaf", 20, "--method", "expand").stdout
    assert "new rows like these: on rows that they had not seen, rules grown the same way agree on" in told
    assert "(3 folds)." in " ".join(told.split())
    refused = run(parts, "-l", "segment", "--max-depth", 2, "--method", "imm", code=2)
    assert "method 'imm' has no --max-depth; use 'auto' or 'exkmc'" in " ".join(refused.stderr.split())


@pytest.mark.usefixtures("rows_drawn")
def test_clusters_made_of_rows_in_memory_take_methods_that_need_these(folder):
    words = (folder / "part-*.parquet", "-k", 3, "--engine", "duckdb", "--method")
    assert "drawn at random" in " ".join(run(*words, "cart", "--notes").stdout.split())
    assert "method 'kernel_imm' needs all rows in memory" in run(*words, "kernel_imm", code=3).stderr


def test_a_method_is_refused_before_the_table_is_read():
    words = ["none.csv", "-l", "segment", "--engine", "duckdb", "--method"]
    assert "method 'kernel_imm' needs all rows in memory" in run(*words, "kernel_imm", code=3).stderr
    limit = run(*words, "imm", "--min-samples-leaf", 5, code=2).stderr
    assert "method 'imm' has no --min-samples-leaf; use 'auto' or 'exkmc'" in limit


@law(60)
def test_identifiers_are_found_by_passes_as_in_memory(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 300))
    columns = {
        "x": rng.normal(size=n),
        "rows": rng.permutation(n) + 7.0,
        "gaps": np.sort(rng.choice(int(n * 1.2), n, replace=False)).astype(float),
        "twice": np.append(np.arange(n - 1.0), 0.0),
        "customer_id": rng.integers(0, 5, size=n).astype(float),
        "zip": rng.integers(0, rng.choice([4, 20, 21, 22]), size=n) * 1000.0,
        "accountId": rng.normal(size=n),
        "same": np.full(n, 3.0),
    }
    found = look_at(rows_of(scattered(np.empty((n, 0)), seed, **columns))).columns
    for seen, (name, values) in zip(found, columns.items(), strict=True):
        assert is_like_identifier(seen) == is_like_identifier(SeenValues(name, values))
        assert (seen.n_values == 1) == (values.min() == values.max())


def test_progress_is_told_by_rows_of_each_pass(folder, monkeypatch):
    lines = []
    monkeypatch.setattr(Status, "draw", lambda status: lines.append(status.line(0.0)))
    run(folder / "part-*.parquet", "-l", "segment", "--method", "imm")
    assert any(line.startswith("growing, pass 2: 100% of 600 rows") for line in lines)


@pytest.mark.slow
def test_a_cancelled_run_leaves_nothing_behind(folder, tmp_path):
    big = f"SELECT t.* FROM '{folder}/t.parquet' t, range(100_000)"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = ["explain", "--sql", big, "-l", "segment", "-o", str(tmp_path / "out.json")]
    command = [sys.executable, "-m", "boxwood", *words]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 100
            while not any(scratch.rglob("*")) and time.monotonic() < deadline:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.01)
            assert any(scratch.rglob("*"))
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=100)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert "interrupted" in said
    assert [path.name for path in tmp_path.rglob("*")] == ["scratch"]
