"""What belongs to a row stays with it, and rows stay in their order, in files that several threads read.

DuckDB reads CSV of more than 8 MiB by several threads, and promises the order of rows only where it reads them: from
five constants on it may make a join of IN, whose rows come in any order. The optimizer that does is left on here.
"""

import sqlite3
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.render import write_labels
from boxwood.table import connect, duck
from boxwood.table.labels import read_row
from tests.command import invoke
from tests.reading import read_file

WORDS = np.array(["ash", "beech", "box", "elm", "fir", "oak", "yew"])
FORMS = ("csv", "tsv", "csv.gz", "jsonl", "parquet", "sqlite", "duckdb", "arrow")
OTHERS = pytest.mark.full


@pytest.fixture(autouse=True)
def joins(monkeypatch):
    """Make joins of IN, and read by two threads."""
    monkeypatch.setitem(connect.SETTINGS, "threads", "2")
    monkeypatch.setitem(connect.SETTINGS, "disabled_optimizers", "'statistics_propagation'")
    monkeypatch.setattr(duck, "NOT_USED", "statistics_propagation")


@pytest.fixture(params=[2, pytest.param(8, marks=OTHERS)])
def threads(request, monkeypatch):
    """Read by so many threads."""
    monkeypatch.setitem(connect.SETTINGS, "threads", str(request.param))
    return request.param


@pytest.fixture(scope="module")
def rows():
    """Return rows of which each column tells the others, so that none can change its place unseen."""
    return made(110_000)


def made(n, n_more=0, seed=0):
    random = np.random.default_rng(seed)
    i = np.arange(n)
    x = random.permutation(n) / 8
    tree = WORDS[random.integers(len(WORDS), size=n)]
    label = np.where(x > n / 16, "high", np.where(np.isin(tree, WORDS[:3]), "low, early", "low, late"))
    rows = pd.DataFrame(
        {"i": i, "x": x, "tree": tree, "label": label, "weight": 1.0 + i % 7, "revenue": 3.0 * i + 0.25}
    )
    rows["planted"] = (np.datetime64("2000-01-01") + i % 9000).astype(str)
    rows["height"] = np.where(i % 5 == 0, np.nan, i / 4)
    rows["text"] = [f"{k:09d} " + "long enough for a file of ten megabytes " for k in i.tolist()]
    return pd.concat([rows, pd.DataFrame({f"more {j}": (i + j) % 1000 for j in range(n_more)})], axis=1)


def file_of(rows, folder, form):
    """Write rows as a file of a form, and return its path; also as many groups of rows as fit in Parquet."""
    path, table = folder / f"rows.{form}", pa.Table.from_pandas(rows, preserve_index=False)
    if form == "parquet":
        pq.write_table(table, path, row_group_size=3000)
    elif form == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=3000)
    elif form == "sqlite":
        with sqlite3.connect(path) as con:
            rows.to_sql("rows", con, index=False)
        con.close()
    else:
        with duckdb.connect(path if form == "duckdb" else ":memory:") as con:
            con.register("given", table)
            options = {"csv": "FORMAT csv", "tsv": "FORMAT csv, DELIMITER '\t'", "jsonl": "FORMAT json"}
            options["csv.gz"] = "FORMAT csv, COMPRESSION gzip"
            made = (
                "CREATE TABLE rows AS FROM given" if form == "duckdb" else f"COPY given TO '{path}' ({options[form]})"
            )
            con.execute(made)
    assert path.stat().st_size > 9 << 20 or form in ("csv.gz", "parquet", "duckdb", "sqlite")
    return str(path)


def assert_same(table, rows):
    """Assert that a table of `read_file` has the rows, with their words, labels, weights and values."""
    found = {name: table.X[:, j] for j, name in enumerate(table.columns)}
    assert (found["i"] == rows["i"]).all()
    assert (found["x"] == rows["x"]).all()
    assert np.array_equal(found["height"], rows["height"], equal_nan=True)
    days = rows["planted"].to_numpy().astype("M8[D]").astype(int)
    assert (found["planted"] == days).all()
    (words,) = table.categories.values()
    assert (np.array(words.values)[found["tree"].astype(int)] == rows["tree"]).all()
    assert (table.labels == rows["label"]).all()
    assert (table.weights == rows["weight"]).all()
    assert (table.worth == rows["revenue"]).all()
    for name in rows.columns[9:]:
        assert (found[name] == rows[name]).all()


READ = partial(read_file, labels="label", weights="weight", value="revenue", missing="learn")


def test_in_memory_labels_weights_and_values_are_those_of_the_row(rows, tmp_path, threads):
    assert_same(READ(file_of(rows, tmp_path, "csv")), rows)


def test_arrow_files_of_many_batches_are_read_whole(rows, tmp_path):
    some = rows[:20_000]
    path = tmp_path / "rows.arrow"
    with pa.ipc.new_file(path, pa.Schema.from_pandas(some, preserve_index=False)) as writer:
        writer.write_table(pa.Table.from_pandas(some, preserve_index=False), max_chunksize=100)
    for _ in range(3):  # a query that ended early could crash while Arrow read batches ahead
        assert_same(READ(str(path)), some)


@pytest.mark.full
@pytest.mark.parametrize("form", FORMS[1:])
def test_they_are_in_all_forms(form, rows, tmp_path):
    assert_same(READ(file_of(rows, tmp_path, form)), rows)


@pytest.mark.full
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_so_are_those_of_more_columns_than_one_query_reads(form, tmp_path):
    rows = made(40_000, n_more=120)
    assert_same(READ(file_of(rows, tmp_path, form)), rows)


@pytest.mark.parametrize(
    "form", ["csv", *(pytest.param(form, marks=OTHERS) for form in ("csv.gz", "jsonl", "parquet", "arrow"))]
)
def test_in_batches_too(form, rows, tmp_path):
    with bw.scan(file_of(rows, tmp_path, form)) as source:
        _same_batches(source, rows)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["query", "relation", "files"])
def test_so_are_rows_of_queries_relations_and_several_files(kind, rows, tmp_path):
    path = file_of(rows, tmp_path, "csv")
    if kind == "files":
        for part in range(3):
            file_of(rows[part * 40_000 : (part + 1) * 40_000], tmp_path, "parquet")
            (tmp_path / "rows.parquet").rename(tmp_path / f"part {part}.parquet")
    with duckdb.connect(config={"threads": 2}) as con:
        given = {"query": f"SELECT * FROM '{path}'", "relation": con.sql(f"FROM '{path}'")}
        with bw.scan(given.get(kind, str(tmp_path / "*.parquet"))) as source:
            _same_batches(source, rows)


def _same_batches(source, rows):
    names = ["i", "x", "tree", "label", "weight", "revenue", "height"]
    batches = [batch for batch, _ in source.batches(names)]
    assert pa.Table.from_batches(batches).to_pandas().astype(rows[names].dtypes).equals(rows[names])


@pytest.fixture(scope="module")
def model(rows):
    """Return rules that name words, so that their SQL has an IN of more than four."""
    few = rows[:2000].assign(label=lambda few: np.where(few["tree"].isin(WORDS[:6]), "wood", "poison"))
    return bw.explain(few[["tree", "label"]], "label")


def test_files_with_clusters_have_the_rows_in_their_order(rows, model, tmp_path, threads):
    _assert_labelled(rows, model, tmp_path, "csv", "csv")


@pytest.mark.full
@pytest.mark.parametrize(("form", "out"), list(zip(FORMS[1:], ("parquet", "jsonl", "csv") * 3, strict=False)))
def test_they_have_in_all_forms(form, out, rows, model, tmp_path):
    _assert_labelled(rows, model, tmp_path, form, out)


def _assert_labelled(rows, model, tmp_path, form, out):
    path = file_of(rows, tmp_path, form)
    target = str(tmp_path / f"labelled.{out}")
    assert write_labels(model, path, target).n_empty == 0
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": partial(pd.read_json, lines=True)}[out](target)
    assert (read["cluster"] == np.where(rows["tree"] == "yew", "poison", "wood")).all()
    assert read[rows.columns].astype(rows.dtypes).equals(rows)


def test_names_that_differ_in_case_alone_change_no_order(rows, model, tmp_path):
    twins = rows.rename(columns={"text": "X"})
    path, target = tmp_path / "twins.csv", tmp_path / "labelled.csv"
    twins.to_csv(path, index=False)
    write_labels(model, path, target)
    read = pd.read_csv(target)
    assert read[twins.columns].equals(twins)
    assert (read["cluster"] == np.where(twins["tree"] == "yew", "poison", "wood")).all()


def test_a_row_is_found_by_its_number(rows, model, tmp_path):
    path = file_of(rows, tmp_path, "csv")
    for number in (1, 54_321, len(rows)):
        found = read_row(path, number, {"x": None, "tree": model._coded_columns[0]})
        assert found == rows.loc[number - 1, ["x", "tree"]].to_dict()


@pytest.mark.full
def test_the_command_explains_a_large_file_as_the_library_explains_the_frame(rows, tmp_path):
    path, saved = file_of(rows, tmp_path, "csv"), str(tmp_path / "m.json")
    limits = {"max_leaf_nodes": 3, "sample_weight": "weight"}
    expected = bw.explain(rows[["x", "tree", "weight", "label"]], "label", **limits)
    for engine in ("memory", "duckdb"):
        asked = ["-l", "label", "--leaves", "3", "--weights", "weight", "--columns", "x,tree", "--value", "revenue"]
        invoke("explain", path, *asked, "--engine", engine, "-o", saved, "-q")
        found = bw.load(saved)
        assert found.agreement == expected.agreement == 1.0
        assert [one.size for one in found.clusters] == [one.size for one in expected.clusters]
        assert found.tree == expected.tree
