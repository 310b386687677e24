"""Tables that are scanned: each source gives the rows that the file in memory has, in its order, as often as asked."""

import gc
import os
import tempfile
import threading
from functools import partial
from itertools import islice

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.batches.batches import read_numbers
from boxwood.errors import DataError
from boxwood.table import ColumnError, ReadOptions
from boxwood.table.parquet import ParquetSource, parquet_file
from boxwood.table.scanned import as_source, is_source, scan_file
from tests.reading import read_file
from tests.scale import each, law

NAMES = ("a", "b", "flag", "word")


class Rows:
    """Gathers the batches, and puts them in order by the number of their first row."""

    def __init__(self):
        self.batches = []

    def update(self, batch, start):
        self.batches.append((start, batch))

    def merge(self, other):
        self.batches += other.batches


def rows_of(source, columns=None):
    """Return all rows of a source as a table; the numbers of first rows must fit together."""
    columns = source.names if columns is None else columns
    gathered = sorted(source.run(Rows, columns).batches, key=lambda pair: pair[0])
    assert [start for start, _ in gathered] == np.cumsum([0, *(b.num_rows for _, b in gathered)])[:-1].tolist()
    return pa.Table.from_batches([batch for _, batch in gathered])


def values_of(source, columns):
    table = rows_of(source, columns)
    return np.column_stack([read_numbers(table.column(name).combine_chunks()) for name in columns])


def random_table(seed, n=None):
    """Return a table of numbers, truths and words, with missing values."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1, 200))
    columns = {
        "a": pa.array(rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n), mask=rng.random(n) < 0.1),
        "b": pa.array(rng.integers(-5, 5, n)),
        "flag": pa.array(rng.random(n) < 0.5, mask=rng.random(n) < 0.1),
        "word": pa.array([["red", "green", "2nd"][i] for i in rng.integers(3, size=n)]),
    }
    return pa.table(columns)


def every_source(table, folder, rng):
    """Yield the name of each kind of source, and what scan takes."""
    path = os.path.join(folder, "t.parquet")
    pq.write_table(table, path, row_group_size=int(rng.integers(1, 60)))
    parts = os.path.join(folder, "year=2024")
    os.mkdir(parts)
    cuts = [0, *sorted(rng.integers(0, table.num_rows + 1, 2).tolist()), table.num_rows]
    for i in range(3):
        pq.write_table(table.slice(cuts[i], cuts[i + 1] - cuts[i]), os.path.join(parts, f"part-{i}.parquet"))
    open(os.path.join(parts, "_SUCCESS"), "w").close()
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS FROM '{path}'")
    yield "file", path
    yield "folder", parts
    yield "pattern", os.path.join(parts, "*.parquet")
    yield "query", f"SELECT * FROM '{path}'"
    yield "from", f"from '{path}' -- all of it"
    yield "relation", con.table("t")
    yield "table", table
    yield "pandas", table.to_pandas(types_mapper=pd.ArrowDtype)
    yield "polars", pl.from_arrow(table)
    yield "reader", table.to_reader(max_chunksize=int(rng.integers(1, 60)))


@law(9)
def test_every_source_gives_the_rows_in_their_order(tmp_path, seed):
    table = random_table(seed)
    for name, thing in islice(every_source(table, tmp_path, np.random.default_rng(seed)), seed % 3, None, 3):
        with bw.scan(thing) as source:
            assert (source.names, source.n_rows) == (NAMES, table.num_rows), name
            assert source.kinds == ("number", "number", "boolean", "text"), name
            for _ in range(2):
                rows = rows_of(source)
                for column in NAMES[:3]:
                    expected = read_numbers(table.column(column).combine_chunks())
                    np.testing.assert_array_equal(read_numbers(rows.column(column).combine_chunks()), expected, name)
                assert rows.column("word").cast(pa.string()).to_pylist() == table.column("word").to_pylist(), name
            assert rows_of(source, ["word", "a"]).column_names == ["word", "a"]
            assert [reading.n_rows for reading in source.readings] == [table.num_rows] * 3
            assert source.readings[2].columns == ("word", "a")
            assert source.n_passes == 3
            assert source.readings[2].n_bytes < source.readings[1].n_bytes
    gc.collect()


HOSTILE = "id;x;share;truth;when;kind;code\n" + "".join(
    f"{i};{'' if i == 7 else f'{i},{i % 10}5'};{i / 7};{'TRUE' if i % 3 else 'false'};2024-01-{i % 28 + 1:02d};"
    f"{'NA' if i == 3 else 'b' if i % 2 else 'a'};0{i}\n"
    for i in range(40)
)


@pytest.mark.parametrize("form", ["csv", "csv.gz", "jsonl", "arrow", "parquet", "tsv"])
def test_each_value_is_the_same_in_memory(tmp_path, form):
    path = str(tmp_path / f"t.{form}")
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(size=300) * 10.0 ** rng.integers(-20, 20, 300),
        "small": rng.normal(size=300).astype(np.float32),
        "whole": rng.integers(-(2**60), 2**60, 300),
        "texts": np.array([repr(v) for v in rng.normal(size=300).tolist()]),
        "mixed": np.array(["no" if i % 2 else str(i) for i in range(300)]),
    }
    table = pa.table(columns)
    if form == "parquet":
        prices = pa.array(rng.integers(0, 10**12, 300)).cast(pa.decimal128(30, 5))
        table = table.append_column("price", prices)
        pq.write_table(table, path)
    elif form == "arrow":
        pyarrow.feather.write_feather(table, path)
    else:
        options = {
            "csv": "FORMAT csv",
            "csv.gz": "FORMAT csv",
            "tsv": "FORMAT csv, DELIMITER '\t'",
            "jsonl": "FORMAT json",
        }
        with duckdb.connect() as con:
            con.register("t", table)
            con.execute(f"COPY t TO '{path}' ({options[form]}{', COMPRESSION gzip' if form[-2:] == 'gz' else ''})")
    expected = read_file(path, exclude=["mixed"])
    with bw.scan(path) as source:
        assert source.kinds[:5] == ("number", "number", "number", "number", "text")
        assert source.mixed == ("mixed",)
        assert list(source.names) == [*expected.columns[:4], "mixed", *expected.columns[4:]]
        np.testing.assert_array_equal(values_of(source, expected.columns), expected.X)
        assert any("temporary file" in note for note in source.notes)


def test_commas_truths_dates_marks_and_zeros_of_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HOSTILE)
    with bw.scan(path) as source:
        assert source.kinds == ("number", "number", "number", "boolean", "date", "text", "number")
        rows = rows_of(source).to_pydict()
        assert rows["x"][:3] == [0.05, 1.15, 2.25]
        assert rows["x"][7] is None
        assert rows["truth"][:3] == [False, True, True]
        assert rows["kind"][:5] == ["a", "b", "a", "NA", "a"]
        assert source.marks_in("kind").has("NA")
        assert rows["id"] == list(range(40))  # whole numbers, so that labels are
        assert source.padded == ("code",)
    with scan_file(path, ReadOptions(decimal="."), columns=["x"]) as source:
        assert source.kinds == ("text",)


def test_names_of_any_kind_stay(tmp_path):
    names = ["X", "x", "a.b", "a", 'say "hi"', "c0", "é"]
    table = pa.table([pa.array([float(i), i + 0.5]) for i in range(len(names))], names=names)
    path = str(tmp_path / "t.parquet")
    pq.write_table(table, path)
    for thing in (path, table.to_reader(), table):
        with bw.scan(thing) as source:
            assert source.names == tuple(names)
            assert rows_of(source).to_pydict() == table.to_pydict()
            chosen = ["a", "x", "X"]
            assert rows_of(source, chosen).to_pydict() == table.select(chosen).to_pydict()


def test_repeated_names_and_nested_columns(tmp_path):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]), path)
    with bw.scan(path) as source:
        assert source.names == ("a", "a_1")
        assert values_of(source, ["a", "a_1"]).tolist() == [[1.0, 2.0]]
    nested = pa.table({"a": [{"b": 1.0}, {"b": 2.0}], "a.b": [3.0, 4.0], "list": [[1], [2, 3]]})
    pq.write_table(nested, path)
    with bw.scan(path) as source:
        assert source.kinds == ("other", "number", "other")
        assert values_of(source, ["a.b"]).tolist() == [[3.0], [4.0]]


def test_types_that_differ_between_files_become_one(tmp_path):
    for i, type in enumerate([pa.int32(), pa.float64(), pa.int64(), pa.null()]):
        values = [None] if type == pa.null() else [i]
        table = pa.table({"x": pa.array(values, type), "n": pa.array([i], pa.int8() if i else pa.int64())})
        pq.write_table(table, tmp_path / f"{i}.parquet")
    with bw.scan(tmp_path) as source:
        rows = rows_of(source)
        assert rows.schema.types == [pa.float64(), pa.int64()]
        assert rows.to_pydict() == {"x": [0.0, 1.0, 2.0, None], "n": [0, 1, 2, 3]}


def test_columns_are_chosen_and_unknown_ones_get_a_suggestion(tmp_path):
    table = random_table(0)
    for _, thing in every_source(table, tmp_path, np.random.default_rng(0)):
        if not isinstance(thing, pa.RecordBatchReader):  # it can be read once
            with bw.scan(thing, columns=["word", "a"]) as source:
                assert source.names == ("word", "a")
                assert rows_of(source).column_names == ["word", "a"]
        with pytest.raises(ColumnError, match="no column 'wrod' in the table; did you mean 'word'"):
            bw.scan(thing, columns=["wrod"])


def test_relations_of_any_type_and_names_leave_their_connection_as_it_was():
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE t AS SELECT 1 a, 1.5 b, 'x' c, INTERVAL 1 DAY d, TIME '10:00' e, [1, 2] f, 7::HUGEINT g, "
        "{'a': 1} h, uuid() u, '[1]'::JSON j, DATE '2024-01-01' k, true l, 0.5::FLOAT m, 'x'::ENUM('x', 'y') n"
    )
    with bw.scan(con.sql("FROM t")) as source:
        kinds = dict(zip(source.names, source.kinds, strict=True))
        assert "".join(name for name in kinds if kinds[name] == "number") == "abgm"
        assert "".join(name for name in kinds if kinds[name] == "text") == "cujn"
        assert "".join(name for name in kinds if kinds[name] == "time") == "de"
        assert kinds["k"] == "date"
        assert (kinds["l"], kinds["f"], kinds["h"]) == ("boolean", "other", "other")
        assert rows_of(source, ["a", "b", "g", "m", "n"]).to_pylist() == [
            {"a": 1, "b": 1.5, "g": 7.0, "m": 0.5, "n": "x"}
        ]
    with bw.scan(con.sql("SELECT 1 a, 2 A, 3 a")) as source:
        assert values_of(source, source.names).tolist() == [[1.0, 2.0, 3.0]]
    assert con.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone() == (0,)


def test_volatile_queries_give_the_same_rows_in_each_pass():
    with bw.scan("SELECT random() AS x FROM range(1000)") as source:
        first = values_of(source, ["x"])
        np.testing.assert_array_equal(first, values_of(source, ["x"]))
        assert len(np.unique(first)) == 1000


def test_a_limit_of_memory_makes_batches_smaller(tmp_path):
    path = str(tmp_path / "t.parquet")
    pq.write_table(random_table(0, n=100_000), path)
    sizes = {}
    for limit in (None, "1 MB"):
        with bw.scan(path, memory_limit=limit) as source:
            sizes[limit] = max(batch.num_rows for _, batch in source.run(Rows, ["a", "b"]).batches)
    assert sizes["1 MB"] < 10_000 < sizes[None] == 65_536
    with bw.scan(f"SELECT a FROM '{path}'", memory_limit="1GiB") as source:
        assert source.n_rows == 100_000


def test_wide_tables_come_in_smaller_batches(tmp_path):
    table = pa.table({f"x{j}": np.zeros(20_000) for j in range(200)})
    pq.write_table(table, tmp_path / "t.parquet")
    for thing in (table, tmp_path / "t.parquet"):
        with bw.scan(thing) as source:
            assert max(batch.num_rows for _, batch in source.run(Rows, source.names).batches) <= 6553
            assert max(batch.num_rows for _, batch in source.run(Rows, ["x0"]).batches) > 6553


@each(
    "arguments, error, message",
    [
        ({"source": None}, TypeError, "takes a path, SQL"),
        ({"source": np.zeros((3, 2))}, TypeError, "got an array of shape"),
        ({"source": ""}, DataError, "no such file"),
        ({"source": "a\0b"}, DataError, "no such file"),
        ({"source": "nowhere.parquet"}, DataError, "no such file: nowhere.parquet"),
        ({"source": "nowhere/*.parquet"}, DataError, "no file is named like nowhere/"),
        ({"source": "SELECT 1; SELECT 2"}, DataError, "must be one SELECT, got SELECT, SELECT"),
        ({"source": "WITH a AS (SELECT 1) DELETE FROM a"}, DataError, "must be one SELECT, got DELETE"),
        ({"source": "SELECT nothing"}, DataError, "cannot run the query: .*nothing"),
        ({"source": "SELECT 1 WHERE false"}, DataError, "the query has column names but no rows"),
        ({"source": "SELECT (", "columns": None}, DataError, "cannot run the query: Parser Error"),
        ({"source": pa.table({"a": [1]}), "columns": "a"}, TypeError, r"write \['a'\]"),
        ({"source": pa.table({"a": [1]}), "columns": [1]}, TypeError, "names are text"),
        ({"source": pa.table({"a": [1]}), "columns": 5}, TypeError, "must be a list of names"),
        ({"source": pa.table({"a": [1]}), "columns": []}, ValueError, "must name a column at least"),
        ({"source": pa.table({"a": [1]}), "memory_limit": 5}, TypeError, "a size such as '1GB'"),
        ({"source": pa.table({"a": [1]}), "memory_limit": "much"}, ValueError, "a size such as '1GB'"),
        ({"source": pa.table({"a": [1]}), "memory_limit": "0GB"}, ValueError, "a size such as '1GB'"),
        ({"source": pa.table({"a": []})}, DataError, "no rows"),
        ({"source": pa.chunked_array([[1]])}, TypeError, "a ChunkedArray gives no batches of a table"),
        ({"source": "SELECT '\ud800'"}, DataError, "cannot run the query"),
        ({"source": pd.DataFrame({"a": [1, "x", [2]]})}, DataError, "is not a column of Arrow"),
    ],
)
def test_what_cannot_be_scanned_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        bw.scan(**arguments)


def test_a_source_is_one_already():
    source = bw.scan(pa.table({"a": [1.0]}))
    assert bw.scan(source) is source
    with pytest.raises(TypeError, match="has been scanned"):
        bw.scan(source, columns=["a"])


def test_frames_and_relations_that_stand_for_sources():
    source = bw.scan(pa.table({"a": [1.0]}))
    assert as_source(source) is source
    assert as_source(duckdb.sql("SELECT 1 AS a")).names == ("a",)
    for other in (None, "SELECT 1", [[1.0]], np.zeros(3), pd.DataFrame({"a": [1]}), pa.table({"a": [1]})):
        assert as_source(other) is None


def test_frames_are_told_by_the_package_and_the_name_of_their_type():
    for module, name, is_one in (
        ("pyspark.sql.connect.dataframe", "DataFrame", True),
        ("dask.dataframe.dask_expr._collection", "DataFrame", True),
        ("_duckdb", "DuckDBPyRelation", True),
        ("pyspark.sql.column", "Column", False),
        ("duckdbs", "DuckDBPyRelation", False),
        ("pandas.core.frame", "DataFrame", False),
    ):
        assert is_source(type(name, (), {"__module__": module})()) == is_one


def test_what_a_source_says_of_itself(tmp_path):
    pq.write_table(pa.table({"a": [1.0] * 1234, "b": [2] * 1234}), tmp_path / "t.parquet")
    source = bw.scan(tmp_path / "t.parquet")
    assert repr(source) == f"ParquetSource({tmp_path}/t.parquet: a, b, 1,234 rows)"
    assert source.notes == ()


def test_temporary_files_go_with_the_source(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    query = "SELECT i AS a FROM range(10) t(i)"
    source = bw.scan(query)
    assert len(os.listdir(tmp_path)) == 1
    source.close()
    source.close()
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="the query was closed; scan it again"):
        source.run(Rows, ["a"])
    with bw.scan(query) as source:
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == []
    source = bw.scan(query)
    batches = source.batches(["a"])
    next(batches)
    del source
    gc.collect()
    assert len(os.listdir(tmp_path)) == 1  # it is still read
    del batches
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_progress_is_told_by_share_and_rows(tmp_path):
    pq.write_table(random_table(0, n=200_000), tmp_path / "t.parquet")

    class Slow(Rows):
        def update(self, batch, start):
            threading.Event().wait(0.06)

    with bw.scan(tmp_path / "t.parquet") as source:
        told = []
        source.tick = lambda share, rows: told.append((share, rows, threading.current_thread()))
        source.run(Slow, ["a"])
        shares, rows, threads = zip(*told, strict=True)
        assert list(shares) == sorted(shares)
        assert (shares[-1], rows[-1]) == (1.0, 200_000)
        assert set(threads) == {threading.main_thread()}
        assert len(told) > 1


def test_several_passes_at_a_time(tmp_path):
    table = random_table(3, n=5000)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=700)
    source = bw.scan(tmp_path / "t.parquet")
    found = [None] * 4

    def read(i):
        found[i] = rows_of(source).to_pydict()

    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each == found[0] for each in found)
    assert found[0]["b"] == table.column("b").to_pylist()


def test_bytes_are_those_of_the_columns_in_the_file(tmp_path):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"a": np.arange(1000.0), "b": np.zeros(1000)}), path, row_group_size=100)
    facts = pq.ParquetFile(path).metadata
    size = sum(facts.row_group(i).column(0).total_compressed_size for i in range(10))
    source = ParquetSource([parquet_file(path)], ["a", "b"], name="t")
    source.run(Rows, ["a"])
    assert source.readings[0].n_bytes == size


def test_text_among_numbers_is_refused_where_it_would_be_used(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i % 7},{'five' if i == 3 else i % 5},{i % 3}\n" for i in range(30))
    path.write_text(f"a,b,group\n{rows}")
    with bw.scan(path) as source:
        refused = r"column 'b' must be numbers, but .*t.csv has text in 1 of 30 rows, first 'five' in row 4"
        with pytest.raises(DataError, match=refused):
            bw.explain(source, "group", method="imm", columns=["a", "b"])
        assert bw.explain(source, "group", method="imm", columns=["a"]).columns == ("a",)
        left_out = r"left out, numbers, but text in 1 of 30 rows, first 'five' in row 4 \(.*\): b"
        with pytest.warns(UserWarning, match=left_out):  # as it reads numbers alone
            assert bw.IMM().fit(source, "group").feature_names_in_.tolist() == ["a"]


def test_columns_without_a_value_are_told(tmp_path):
    columns = {"x": pa.array([1.0, 2.0]), "none": pa.nulls(2), "nan": pa.array([np.nan, None]), "text": ["", ""]}
    table = pa.table({**columns, "late": pa.array([None, "a"])})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    # an empty text is no value in a file, and a text in a table that somebody made
    for source, kind in ((bw.scan(tmp_path / "t.parquet"), "empty"), (bw.scan(table), "text")):
        with source:
            assert source.kinds == ("number", "empty", "empty", kind, "text")


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_numbers_that_are_texts_by_their_type_are_told(tmp_path, form):
    words = ["1.1", "1.10", "1.2", "2.0"]
    frame = pd.DataFrame({"version": words * 10, "whole": ["7", "12"] * 20, "real": [0.5, 1.5] * 20})
    frame["kind"] = [f"k{i % 4 // 2}" for i in range(40)]
    path = tmp_path / f"t.{form}"
    frame.to_parquet(path) if form == "parquet" else frame.to_json(path, orient="records", lines=True)
    said = "read as numbers: version ('1.10' is 1.1), whole ('12' is 12)"
    with bw.scan(path) as source:
        assert said in bw.explain(source, "kind").notes
    assert dict(read_file(str(path), labels="kind").spellings) == {
        "version": ("'1.10' is 1.1", True),
        "whole": ("'12' is 12", True),
    }
    with bw.scan(path) as source:
        assert "read as numbers: whole ('12' is 12)" in bw.explain(source, "kind", categories=["version"]).notes


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
def test_texts_that_are_one_number_are_words_of_their_own_where_they_are_categories(tmp_path, form):
    words = ["1.1", "1.10", "1.2", "2.0"]
    frame = pd.DataFrame(
        {"version": words * 10, "plain": ["7.0", "12.0"] * 20, "kind": ["old", "new", "old", "old"] * 10}
    )
    path = tmp_path / f"t.{form}"
    {"parquet": frame.to_parquet, "csv": partial(frame.to_csv, index=False)}.get(
        form, partial(frame.to_json, orient="records", lines=True)
    )(path)
    with bw.scan(path) as source:
        ex = bw.explain(source, "kind", categories=["version", "plain"])
        assert ex.evaluate(source, "kind").agreement == ex.agreement == 1
    assert dict(ex.details.categories)["version"].values == tuple(words)
    assert dict(ex.details.categories)["plain"].values == (7, 12)
    in_memory = read_file(str(path), labels="kind", categories=("version",))
    assert in_memory.categories[in_memory.columns.index("version")].values == tuple(words)
    assert ex.predict(frame).tolist() == frame.kind.tolist()
