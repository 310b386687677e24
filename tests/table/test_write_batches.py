"""Labels are written as a new last column; everything else of the table stays as it was."""

import datetime
import os

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.render._sql import sql_case
from boxwood.table import ColumnError
from boxwood.table._write_batches import label_table, tree_codes, write_batches
from boxwood.tree import TreeBuilder
from tests.scale import seeds
from tests.table.test_table import THRESHOLDS, neighbours, random_tree


def tree_of(threshold=0.5, feature=0):
    builder = TreeBuilder()
    left, right = builder.split(0, feature, threshold)
    builder.label(left, 1)
    builder.label(right, 0)
    return builder.build()


def rich_table(n=1000):
    """Return a table with columns of many types, pandas' metadata among them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(n), "small": rng.random(n).astype(np.float32)})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    more = {
        "word": pa.array(["é", None, "b"] * n)[:n].dictionary_encode(),
        "price": pa.array(rng.integers(0, 1000, n)).cast(pa.decimal128(30, 2)),
        "when": pa.array([datetime.datetime(2024, 1, 1)] * n, pa.timestamp("us", "UTC")),
        "list": pa.array([[1, 2], None] * n)[:n],
        "tiny": pa.array(rng.integers(0, 200, n), pa.uint8()),
        "pair": pa.array([{"a": 1, "b": "c"}] * n),
        "bytes": pa.array([b"\0\1"] * n),
    }
    for name, values in more.items():
        table = table.append_column(name, values)
    return table


def test_all_else_of_a_file_stays(tmp_path):
    table = rich_table()
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(table, path, row_group_size=300, compression={"x": "zstd", "small": "none", "word": "gzip"})
    told = []
    done = write_batches(
        path, tree_codes(tree_of(), table.column_names), ["b", "a"], out, tick=lambda *a: told.append(a)
    )
    assert (done.n_rows, done.n_empty) == (1000, 0)
    assert told[-1] == (1.0, 1000)
    new = pq.read_table(out)
    assert new.column_names == [*table.column_names, "cluster"]
    assert new.drop_columns(["cluster"]).equals(pq.read_table(path), check_metadata=True)
    assert new.column("cluster").to_pylist() == ["a" if x <= 0.5 else "b" for x in table.column("x").to_pylist()]
    mine, theirs = pq.ParquetFile(out).metadata, pq.ParquetFile(path).metadata
    assert [mine.row_group(i).num_rows for i in range(4)] == [300, 300, 300, 100]
    for j in range(3):
        assert mine.row_group(0).column(j).compression == theirs.row_group(0).column(j).compression
    assert b"pandas" in mine.metadata


@pytest.mark.parametrize("seed", seeds(10))
def test_rows_get_the_clusters_of_the_tree(tmp_path, seed):
    rng = np.random.default_rng(seed)
    values = np.array([v for v in THRESHOLDS if np.isfinite(v)])
    tree = random_tree(rng, int(rng.integers(1, 20)), 6, values)
    X = rng.choice(neighbours(values), (300, 6))
    names = [f"c{j}" for j in range(6)]
    holes = rng.random(X.shape) < 0.05
    table = pa.table({name: pa.array(X[:, j], mask=holes[:, j]) for j, name in enumerate(names)})
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(table, path, row_group_size=int(rng.integers(1, 400)))
    filled = tree.predict(np.where(holes, 0.0, X))
    touched = tree.predict(np.where(holes, 1e308, X)) != filled
    for thing in (path, bw.scan(path), bw.scan(table), bw.scan(table.to_reader())):
        done = write_batches(thing, tree_codes(tree, names), range(5), out)
        found = pq.read_table(out)
        assert found.select(names).equals(table)
        labels = found.column("cluster").to_pylist()
        assert done.n_empty == sum(label is None for label in labels)
        for label, expected, moved in zip(labels, filled.tolist(), touched.tolist(), strict=True):
            assert label == expected or label is None
            assert label is None or not moved  # a row whose cluster hangs on a missing value has none
        whole = ~holes.any(axis=1)
        assert np.array(labels, dtype=object)[whole].tolist() == filled[whole].tolist()


def test_float32_is_compared_as_a_double(tmp_path):
    table = pa.table({"x": pa.array([0.1, 0.2], pa.float32())})
    pq.write_table(table, tmp_path / "t.parquet")
    write_batches(tmp_path / "t.parquet", tree_codes(tree_of(0.1), ["x"]), [0, 1], tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").column("cluster").to_pylist() == [0, 0]  # float32(0.1) > 0.1


def test_a_file_may_be_replaced_by_itself_and_large_groups_are_divided(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": np.arange(300_000.0), "y": np.zeros(300_000)}), path, row_group_size=300_000)
    write_batches(path, tree_codes(tree_of(9.0, 0), ["x"]), [0, 1], path)
    assert pq.read_table(path).column("cluster").to_numpy().sum() == 10
    assert os.listdir(tmp_path) == ["t.parquet"]
    assert pq.ParquetFile(path).metadata.num_row_groups == 3


@pytest.mark.parametrize(
    ("names", "expected"),
    [([0, 1], [1, 0]), (["a", "b"], ["b", "a"]), ([0, "b"], ["b", "0"]), ([0.5, 1.0], [1.0, 0.5])],
)
def test_names_are_written_as_numbers_or_text(tmp_path, names, expected):
    out = tmp_path / "out.parquet"
    write_batches(bw.scan(pa.table({"x": [0.0, 1.0]})), tree_codes(tree_of(), ["x"]), names, out)
    assert pq.read_table(out).column("cluster").to_pylist() == expected


def test_what_cannot_be_written_is_said_and_nothing_is_left(tmp_path):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": [0.0], "Cluster": [1]}), path)
    codes = tree_codes(tree_of(), ["x"])
    with pytest.raises(ColumnError, match="has a column 'cluster' already"):
        write_batches(path, codes, [0, 1], out)
    with pytest.raises(ValueError, match=r"must be a \.parquet file"):
        write_batches(path, codes, [0, 1], tmp_path / "out.csv", column="new")
    with pytest.raises(DataError, match="no such file"):
        write_batches(tmp_path / "none.parquet", codes, [0, 1], out)
    with pytest.raises(ZeroDivisionError):
        write_batches(path, lambda table: 1 // 0, [0, 1], out, column="new")
    assert os.listdir(tmp_path) == ["t.parquet"]


def test_a_full_disk_is_named_and_the_old_file_stays(tmp_path, monkeypatch):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": np.arange(10.0)}), path, row_group_size=5)
    out.write_text("old")

    def full(self, *args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(OSError, match=r"cannot write .*out\.parquet: No space left on device; is the disk full\?"):
        write_batches(path, tree_codes(tree_of(), ["x"]), [0, 1], out)
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "t.parquet"]


@pytest.mark.parametrize("name", ["t", "main.t", "my table"])
def test_a_table_of_duckdb_gets_a_column(name):
    con = duckdb.connect()
    con.execute(f'CREATE TABLE "{name.removeprefix("main.")}" AS SELECT i / 4 AS x, i AS id FROM range(5) t(i)')
    expression = sql_case(tree_of(), ["x"], ["b", "a"])
    label_table(con, name, expression, column="segment")
    rows = con.execute(f'SELECT id, segment FROM "{name.removeprefix("main.")}" ORDER BY id').fetchall()
    assert rows == [(0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "b")]
    with pytest.raises(ColumnError, match="has a column 'Segment' already"):
        label_table(con, name, expression, column="Segment")


def test_a_table_of_duckdb_stays_as_it_was_if_its_column_cannot_be_computed():
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT 'word' AS x")
    for expression in ("CAST(x AS INTEGER)", "nothing + 1"):
        with pytest.raises(DataError, match="cannot add a column to table t"):
            label_table(con, "t", expression)
    with pytest.raises(DataError, match="DuckDB has no table nowhere"):
        label_table(con, "nowhere", "1")
    assert con.execute("FROM t").fetchall() == [("word",)]
    con.execute("BEGIN")
    label_table(con, "t", "length(x)")
    assert con.execute("FROM t").fetchall() == [("word", 4)]
    con.execute("ROLLBACK")
    assert con.execute("FROM t").fetchall() == [("word",)]
