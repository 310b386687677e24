"""Labels are written as a new last column; everything else of the table stays as it was."""

import datetime
import functools
import os
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import boxwood as bw
from boxwood.errors import DataError
from boxwood.table import ColumnError
from boxwood.table.labels import label_table
from boxwood.tree import TreeBuilder
from tests.scale import law
from tests.table.test_scan_faults import files_of_at_most, flip_byte
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


def labels_of(path, column="cluster"):
    return pq.read_table(path, columns=[column]).column(0).to_pylist()


def test_all_else_of_a_file_stays(tmp_path):
    table = rich_table()
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(table, path, row_group_size=300, compression={"x": "zstd", "small": "none", "word": "gzip"})
    assert bw.write_labels(tree_of(), path, out, columns=table.column_names) == (1000, 0, ())
    new = pq.read_table(out)
    assert new.column_names == [*table.column_names, "cluster"]
    assert new.drop_columns(["cluster"]).equals(pq.read_table(path), check_metadata=True)
    assert labels_of(out) == [int(x <= 0.5) for x in table.column("x").to_pylist()]
    mine, theirs = pq.ParquetFile(out).metadata, pq.ParquetFile(path).metadata
    assert [mine.row_group(i).num_rows for i in range(4)] == [300, 300, 300, 100]
    for j in range(3):
        assert mine.row_group(0).column(j).compression == theirs.row_group(0).column(j).compression
    assert b"pandas" in mine.metadata


@law(4)
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
    (tmp_path / "parts").mkdir()
    cut = int(rng.integers(1, 299))
    for part, rows in enumerate((table[:cut], table[cut:])):
        pq.write_table(rows, tmp_path / "parts" / f"{part}.parquet", row_group_size=int(rng.integers(1, 400)))
    filled = tree.predict(np.where(holes, 0.0, X))
    touched = tree.predict(np.where(holes, 1e308, X)) != filled
    query = f"SELECT * FROM '{path}'"
    tables = (path, tmp_path / "parts", tmp_path / "parts/*.parquet", query)
    for thing in (*tables, bw.scan(path), table.to_pandas(), table, table.to_reader()):
        done = bw.write_labels(tree, thing, out, columns=names)
        found = pq.read_table(out)
        assert found.select(names).equals(table) or not isinstance(thing, (type(path), str))
        labels = found.column("cluster").to_pylist()
        assert done == (300, sum(label is None for label in labels), ())
        for label, expected, moved in zip(labels, filled.tolist(), touched.tolist(), strict=True):
            assert label == expected or label is None
            assert label is None or not moved  # a row whose cluster hangs on a missing value has none
        whole = ~holes.any(axis=1)
        assert np.array(labels, dtype=object)[whole].tolist() == filled[whole].tolist()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


TYPES = {
    "int8": pa.int8(), "uint64": pa.uint64(), "float32": pa.float32(), "float16": pa.float16(), "bool": pa.bool_(),
    "decimal": pa.decimal128(12, 3), "text": pa.string(), "large": pa.large_string(), "view": pa.string_view(),
    "words": pa.dictionary(pa.int32(), pa.string()), "none": pa.null(),
}  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
@law(2)
def test_columns_of_any_type_are_compared_as_doubles(tmp_path, kind, seed):
    rng = np.random.default_rng(seed)
    numbers, gaps = rng.integers(0, 2 if kind == "bool" else 100, 200).tolist(), rng.random(200) < 0.1
    if kind == "none":
        gaps[:] = True
    make = str if kind in ("text", "large", "view", "words") else bool if kind == "bool" else float
    values = [None if gap else make(number) for number, gap in zip(numbers, gaps, strict=True)]
    if kind == "words":  # "7.0", as texts of numbers are
        column = pa.array(values, pa.string()).dictionary_encode()
    elif kind == "decimal":
        column = pa.array([None if value is None else Decimal(value) for value in values], TYPES[kind])
    else:
        column = pa.array(values).cast(TYPES[kind])
    table = pa.table({"x": column, "id": np.arange(200)})
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(table, path, row_group_size=64)
    threshold = 0.5 if kind == "bool" else 41.5
    n_empty = bw.write_labels(tree_of(threshold), path, out, columns=["x"]).n_empty
    expected = [None if value is None or kind == "none" else int(float(value) <= threshold) for value in values]
    assert labels_of(out) == expected
    assert n_empty == expected.count(None)
    assert pq.read_table(out).drop_columns(["cluster"]).equals(pq.read_table(path))
    duckdb_too = tmp_path / "out.csv"
    bw.write_labels(tree_of(threshold), path, duckdb_too, columns=["x"])
    if kind != "none":
        with duckdb.connect() as con:
            found = con.read_csv(str(duckdb_too), all_varchar=True).project("cluster").fetchall()
        assert [None if label is None else int(label) for (label,) in found] == expected


NASTY = ["", "a.b", "a", 'quo"te', "it's", "select", "x; DROP TABLE t", "c0", "é\n", "boxwood_rows", "A", "$1", "label"]


@law(3)
def test_hostile_names_of_columns_stay(tmp_path, seed):
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(NASTY))
    X = rng.random((50, len(names)))
    table = pa.table(dict(zip(names, X.T, strict=True)))
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(table, path)
    at = names.index("a.b")
    assert bw.write_labels(tree_of(0.5, at), path, out, columns=names, column='clu"ster.').n_rows == 50
    assert pq.read_table(out).column_names == [*names, 'clu"ster.']
    assert pq.read_table(out).select(range(len(names))).equals(table)
    assert pq.read_table(out).column(len(names)).to_pylist() == (X[:, at] <= 0.5).astype(int).tolist()


def test_categories_missing_and_never_seen_values(tmp_path):
    frame = pd.DataFrame({"town": ["Rome", "Oslo", "Bonn"] * 20, "age": np.arange(60.0) % 2 / 9})
    coder = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    ex = bw.explain(frame, make_pipeline(coder, KMeans(3, random_state=0, n_init=2)).fit(frame))
    other = pd.DataFrame({"age": [1.0, 2.0, np.nan, 50.0, 30.0], "town": ["Rome", None, "Bonn", "Lima", "Äd"]})
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    other.to_parquet(path, row_group_size=2)
    done = bw.write_labels(ex, path, out)
    expected = ex.predict(other, missing="none").tolist()
    assert labels_of(out) == [None if label == -1 else label for label in expected]
    assert done.n_empty == labels_of(out).count(None)
    csv = bw.write_labels(ex, path, tmp_path / "out.csv")
    assert csv == done


def test_a_file_may_be_replaced_by_itself_and_large_groups_are_divided(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": np.arange(300_000.0), "y": np.zeros(300_000)}), path, row_group_size=300_000)
    bw.write_labels(tree_of(9.0, 0), path, path, columns=["x"])
    assert sum(labels_of(path)) == 10
    assert os.listdir(tmp_path) == ["t.parquet"]
    assert pq.ParquetFile(path).metadata.num_row_groups == 3


def test_types_that_arrow_lacks_stay(tmp_path):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    duckdb.execute(
        "COPY (SELECT i / 4 AS x, INTERVAL (i) DAY AS span, '10:00:00+02'::TIMETZ AS clock, uuid() AS id, "
        f"'{{\"a\": 1}}'::JSON AS doc FROM range(5) t(i)) TO '{path}' (FORMAT parquet)"
    )
    bw.write_labels(tree_of(), path, out, columns=["x"])
    rows, new = (duckdb.sql(f"FROM '{each}'") for each in (path, out))
    assert [*zip(rows.columns, rows.types, strict=True)] == [*zip(new.columns, new.types, strict=True)][:-1]
    assert [row[:-1] for row in new.fetchall()] == rows.fetchall()
    assert labels_of(out) == [1, 1, 1, 0, 0]


def test_files_of_other_types_become_one(tmp_path):
    for i, values in enumerate((pa.array([0, 1], pa.int32()), pa.array([0.25, None], pa.float64()))):
        pq.write_table(pa.table({"x": values, "n": [i, i]}), tmp_path / f"{i}.parquet")
    out = tmp_path / "out" / "all.parquet"
    out.parent.mkdir()
    bw.write_labels(tree_of(), tmp_path / "*.parquet", out, columns=["x"])
    assert pq.read_table(out).to_pydict() == {"x": [0, 1, 0.25, None], "n": [0, 0, 1, 1], "cluster": [1, 0, 1, None]}
    pq.write_table(pa.table({"y": [1.0], "n": [1]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2\.parquet has other columns than .*: it lacks x and has y besides"):
        bw.write_labels(tree_of(), tmp_path / "*.parquet", out, columns=["x"])


@pytest.mark.parametrize(("names", "expected"), [([0, 1], [1, 0]), (["b", "a"], ["a", "b"]), ([0, "b"], ["b", "0"])])
def test_names_are_written_as_numbers_or_text(tmp_path, names, expected):
    ex = bw.explain([[0.0], [1.0]], np.array(names[::-1], dtype=object), columns=["x"])
    bw.write_labels(ex, pa.table({"x": [0.0, 1.0]}), tmp_path / "out.parquet")
    assert labels_of(tmp_path / "out.parquet") == expected


def test_an_estimator_writes_labels(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60) % 3)[:, None]
    frame = pd.DataFrame(X, columns=["a", "b"])
    est = bw.IMM(n_clusters=3).fit(frame)
    bw.write_labels(est, frame, tmp_path / "out.parquet", column="group")
    assert labels_of(tmp_path / "out.parquet", "group") == est.predict(frame).tolist()


def test_a_table_without_rows_keeps_its_columns(tmp_path):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": pa.array([], pa.float64()), "n": pa.array([], pa.string())}), path)
    assert bw.write_labels(tree_of(), path, out, columns=["x"]) == (0, 0, ())
    assert pq.read_table(out).column_names == ["x", "n", "cluster"]


def test_a_query_may_end_as_queries_do(tmp_path):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": [0.0, 1.0], "é": ["a;", "--"]}), path)
    for end in ("", ";", " ; -- done;", " -- as is", ";;\n/* end ; */ "):
        query = f"SELECT *, 'é' AS \"ü\" FROM '{path}'{end}"
        bw.write_labels(tree_of(), query, out, columns=["x"])
        assert pq.read_table(out).to_pydict() == {
            "x": [0.0, 1.0], "é": ["a;", "--"], "ü": ["é", "é"], "cluster": [1, 0]
        }  # fmt: skip
        assert bw.scan(query).n_rows == 2
    with pytest.raises(DataError, match="must be one SELECT, got SELECT, SELECT"):
        bw.write_labels(tree_of(), "SELECT 1 AS x; SELECT 2 AS x", out, columns=["x"])


def test_what_cannot_be_written_is_said_and_nothing_is_left(tmp_path):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    day = pa.array([datetime.timedelta(1)])
    pq.write_table(pa.table({"x": [0.0], "Cluster": [1], "t": ["word"], "day": day}), path)
    write = functools.partial(bw.write_labels, tree_of(), column="new")
    for call, error, said in (
        (lambda: write(path, out, columns=["x"], column="cluster"), ColumnError, "has a column 'cluster' already"),
        (lambda: write(path, tmp_path / "out.xls", columns=["x"]), ValueError, "unknown extension"),
        (lambda: write(bw.scan(path), tmp_path / "out.csv", columns=["x"]), ValueError, r"must be a \.parquet file"),
        (lambda: write(tmp_path / "none.parquet", out, columns=["x"]), DataError, "no such file"),
        (lambda: write(path, out, columns=["xx"]), DataError, "lacks a column the rules need: xx"),
        (lambda: write(path, out, columns=["t"]), DataError, r"'t' must be numbers, .* text, first 'word' in row 1"),
        (lambda: write(path, out, columns=["day"]), DataError, "'day' must be numbers, but .* has interval"),
        (lambda: write(path, out), TypeError, "columns must name the 1 columns of the tree"),
        (lambda: write(path, out, columns=[]), ValueError, "columns must name the 1 columns of the tree, got 0"),
        (lambda: bw.write_labels("tree", path, out), TypeError, "expected an Explanation or a fitted explainer"),
        (lambda: write(path, out, columns=["x"], column=""), ValueError, "column must not be empty"),
    ):
        with pytest.raises(error, match=said):
            call()
    assert os.listdir(tmp_path) == ["t.parquet"]


def test_text_far_down_leaves_the_old_file(tmp_path):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    out.write_text("old")
    pq.write_table(pa.table({"x": ["1"] * 900 + ["1,5"] + ["2"] * 99}), path, row_group_size=100)
    with pytest.raises(
        DataError, match=r"has text, first '1,5' in row 901\nlook like numbers with signs in them: x \('1,5'\)"
    ):
        bw.write_labels(tree_of(), path, out, columns=["x"])
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "t.parquet"]


@pytest.mark.parametrize("table", ["file", "source"])
def test_a_full_disk_is_named_and_the_old_file_stays(tmp_path, table):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(0).random(50_000)}), path, row_group_size=5000)
    out.write_text("old")
    thing = path if table == "file" else bw.scan(path)
    with (
        files_of_at_most(100_000),
        pytest.raises(OSError, match=r"cannot write .*out\.parquet: .*; is the disk full\?"),
    ):
        bw.write_labels(tree_of(), thing, out, columns=["x"])
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "t.parquet"]


def test_a_damaged_file_is_named_and_the_old_file_stays(tmp_path):
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    out.write_text("old")
    x = np.random.default_rng(0).random(3000)
    pq.write_table(pa.table({"x": x}), path, row_group_size=1000, write_page_checksum=True, use_dictionary=False)
    flip_byte(path)
    with pytest.raises(DataError, match=r"cannot read .*t\.parquet as parquet after row 1,000"):
        bw.write_labels(tree_of(), path, out, columns=["x"])
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "t.parquet"]


@pytest.mark.parametrize("name", ["t", "main.t", "my table"])
def test_a_table_of_duckdb_gets_a_column(name):
    con = duckdb.connect()
    con.execute(
        f'CREATE TABLE "{name.removeprefix("main.")}" AS SELECT nullif(i, 4) / 4 AS x, i AS id FROM range(5) t(i)'
    )
    ex = bw.explain([[0.4], [0.6]], ["a", "b"], columns=["x"])
    assert bw.write_labels(ex, con, name, column="segment") == (5, 1, ())
    rows = con.execute(f'SELECT id, segment FROM "{name.removeprefix("main.")}" ORDER BY id').fetchall()
    assert rows == [(0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, None)]
    with pytest.raises(ColumnError, match="has a column 'Segment' already"):
        bw.write_labels(ex, con, name, column="Segment")


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


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (None, []),
        (pd.RangeIndex(3, 7), ["index"]),
        (pd.Index([3, 0, 2, 1]), ["index"]),
        (pd.RangeIndex(4, name="row"), ["row"]),
        (pd.Index(list("klmn"), name="key"), ["key"]),
        (pd.date_range("2020-01-01", periods=4, name="day"), ["day"]),
        (pd.MultiIndex.from_product([["k", "l"], [1, 2]], names=["key", None]), ["key", "level_1"]),
    ],
)
def test_the_index_of_a_frame_is_written_unless_it_counts_the_rows(tmp_path, index, names):
    frame, out = pd.DataFrame({"x": [0.0, 1.0, 0.5, 2.0]}, index=index), tmp_path / "out.parquet"
    bw.write_labels(tree_of(), frame, out, columns=["x"])
    found = pq.read_table(out).to_pandas()
    assert list(found.columns) == [*names, "x", "cluster"]
    assert found["cluster"].tolist() == [1, 0, 1, 0]
    for level, name in enumerate(names):
        assert found[name].tolist() == frame.index.get_level_values(level).tolist()
    assert list(frame.columns) == ["x"]


def test_an_index_with_the_name_of_a_column_is_refused(tmp_path):
    frame = pd.DataFrame({"x": [0.0, 1.0]}).rename_axis("x")
    with pytest.raises(ColumnError, match=r"the index would be written as column 'x'.*rename_axis"):
        bw.write_labels(tree_of(), frame, tmp_path / "out.parquet", columns=["x"])
