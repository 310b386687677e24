"""`boxwood predict --engine spark|dask` writes what a run on one machine writes, as a folder."""

import os
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from tests.command import invoke

pytestmark = pytest.mark.machines


def run(*words, code=0):
    return invoke("predict", *words, code=code)


def test_a_cluster_labels_as_one_machine(machines, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    frame = pd.DataFrame({"a": rng.normal(size=300) + 5 * y, "id": range(300)})
    bw.explain(frame[["a"]], np.array(["x", "y", "z"])[y]).save(tmp_path / "m.json")
    frame.loc[7, "a"] = np.nan
    (tmp_path / "parts").mkdir()
    frame[:100].to_parquet(tmp_path / "parts" / "1.parquet")
    frame[100:].to_parquet(tmp_path / "parts" / "2.parquet")
    out = tmp_path / "out.parquet"
    words = (tmp_path / "m.json", tmp_path / "parts", "--engine", machines.name)
    told = run(*words, "-o", out).stderr
    assert "wrote" in told
    assert "1 row left without a cluster" in told
    past = run(*words, "-o", tmp_path / "again.parquet", "--fail-over-empty", 0, code=4).stderr
    assert "1 of 300 rows have no cluster, more than 0%" in past
    shutil.rmtree(tmp_path / "again.parquet")
    run(tmp_path / "m.json", tmp_path / "parts", "-o", tmp_path / "one.parquet")
    there, here = (pq.read_table(each).sort_by("id") for each in (out, tmp_path / "one.parquet"))
    assert there.column("cluster").to_pylist() == here.column("cluster").to_pylist()
    assert there.column_names == ["a", "id", "cluster"]
    assert "is not a file; name another one" in run(*words, "-o", out, code=2).stderr
    assert "writes a new folder of Parquet files" in run(*words, "-o", tmp_path / "out.csv", code=2).stderr
    taken = run(*words, "-o", tmp_path / "new.parquet", "--column", "ID", code=2).stderr
    assert "has a column 'ID' already; name the new one with --column NAME" in taken
    assert sorted(os.listdir(tmp_path)) == ["m.json", "one.parquet", "out.parquet", "parts"]


def test_a_failed_run_leaves_nothing(machines, tmp_path):
    bw.explain([[1.0], [2.0]], ["x", "y"], columns=["a"]).save(tmp_path / "m.json")
    (tmp_path / "t").mkdir()
    pd.DataFrame({"a": ["word"]}).to_parquet(tmp_path / "t" / "1.parquet")
    words = (tmp_path / "m.json", tmp_path / "t", "--engine", machines.name, "-o", tmp_path / "out.parquet")
    assert "the rules test a as a number, got text such as 'word'" in run(*words, code=3).stderr
    assert sorted(os.listdir(tmp_path)) == ["m.json", "t"]
