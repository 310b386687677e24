"""Tables and views of databases: what belongs to a row stays with it, and a file's own SQL reads no other file.

A view has no order of its own, so that two queries of it may give its rows in two orders, or two sets of rows.
"""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.render import write_labels
from boxwood.table import connect
from boxwood.table.duck import open_table
from boxwood.table.options import ReadOptions
from tests.reading import read_file
from tests.scale import some

ROWS = ReadOptions(table="rows")
N, MORE = 40_000, 12  # rows, and columns besides
MANY = 4  # columns that are many here, so that a table is read by several queries

FIRST = f"SELECT i, hash(i) % 1000 AS w, hash(i + {N}) % 9 AS g, i * 7 % {N} AS x FROM range({N}) AS t(i)"
MORES = ", ".join(f"(x + {j}) % 1000 AS m{j}" for j in range(MORE))
VIEWS = {
    "window": "SELECT *, row_number() OVER (PARTITION BY w ORDER BY x) AS place FROM base",
    "grouped join": "SELECT b.i, max(b.w) AS w, max(b.g) AS g, max(b.x) AS x, sum(p.n) AS place "
    "FROM base AS b JOIN paid AS p ON p.i = b.i GROUP BY b.i",
    "join": "SELECT b.*, p.n AS place FROM paid AS p JOIN base AS b ON p.i = b.i",
    "distinct": "SELECT DISTINCT *, 1 AS place FROM base",
    "ordered": "SELECT *, 1 AS place FROM base ORDER BY w",
    "union": "SELECT *, 1 AS place FROM base WHERE w > 500 UNION ALL SELECT *, 2 FROM base WHERE w <= 500",
    "sample": "SELECT *, 1 AS place FROM base USING SAMPLE 50 PERCENT (bernoulli)",
    "random": f"SELECT i, w, g, CAST(floor(random() * {N}) AS BIGINT) AS x, 1 AS place FROM base",
    "some": "SELECT *, 1 AS place FROM base WHERE random() < 0.5",
}
TABLES = ("table", "generated")
SELECTED = f"SELECT *, CASE WHEN x > {N // 2} THEN 'high' WHEN g < 4 THEN 'low, few' ELSE 'low, many' END AS label, "
SELECTED += f"1 + x % 7 AS weight, 3 * x AS revenue, {MORES}"


def database(path, kind):
    """Write a database of DuckDB with a table or view `rows`, whose labels, weights and values follow from x and g."""
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE base AS {FIRST}")
        con.execute("CREATE TABLE paid AS SELECT i, unnest([1, 2]) AS n FROM base ORDER BY hash(i)")
        what, view = ("TABLE", "SELECT *, 1 AS place FROM base") if kind in TABLES else ("VIEW", VIEWS[kind])
        con.execute(f"CREATE {what} rows AS {SELECTED} FROM ({view})")
        if kind == "generated":
            names = ", ".join(f"{name} {type}" for name, type, *_ in con.execute("DESCRIBE rows").fetchall())
            con.execute(f"CREATE TABLE stored (r DOUBLE GENERATED ALWAYS AS (random()), {names})")
            con.execute("INSERT INTO stored FROM rows")
            con.execute("DROP TABLE rows")
            con.execute("ALTER TABLE stored RENAME TO rows")
    return str(path)


@pytest.fixture(params=[2, pytest.param(1, marks=pytest.mark.full), pytest.param(8, marks=pytest.mark.full)])
def threads(request, monkeypatch):
    monkeypatch.setitem(connect.SETTINGS, "threads", str(request.param))
    for module in ("boxwood.table.duck", "boxwood.table.columns"):
        monkeypatch.setattr(f"{module}.MANY", MANY)


OTHERS = [kind for kind in (*VIEWS, *TABLES) if kind not in ("window", "some")]


def label_of(x, g):
    return np.where(x > N // 2, "high", np.where(g < 4, "low, few", "low, many"))


@pytest.mark.parametrize("kind", ["window", "some", *(pytest.param(kind, marks=pytest.mark.full) for kind in OTHERS)])
def test_in_memory_what_belongs_to_a_row_of_a_view_stays_with_it(kind, tmp_path, threads):
    value = "r" if kind == "generated" else "revenue"
    wanted = {"labels": "label", "weights": "weight", "value": value, "missing": "learn"}
    table = read_file(database(tmp_path / "rows.duckdb", kind), ROWS, **wanted)
    found = {name: table.X[:, j] for j, name in enumerate(table.columns)}
    x, g = found["x"], found["g"]
    assert len(x) > N / 3
    assert (table.labels == label_of(x, g)).all()
    assert (table.weights == 1 + x % 7).all()
    assert (table.worth == (found["r"] if kind == "generated" else 3 * x)).all()
    for j in range(MORE):
        assert (found[f"m{j}"] == (x + j) % 1000).all()


@pytest.mark.full
@pytest.mark.parametrize("kind", [*VIEWS, *TABLES])
@pytest.mark.parametrize("threads", [2], indirect=True)
def test_in_batches_and_labelled_too(kind, tmp_path, threads):
    path, model = database(tmp_path / "rows.duckdb", kind), _model()
    with bw.scan(path, table="rows") as source:
        x, g, label = _columns(source, "x", "g", "label")
        out = tmp_path / "labelled.parquet"
        assert write_labels(model, source, out).n_empty == 0
    assert (label == label_of(x, g)).all()
    with duckdb.connect() as con:
        assert con.sql(f"SELECT count(*) FROM '{out}' WHERE cluster <> label").fetchall() == [(0,)]


def _columns(source, *names):
    batches = [batch for batch, _ in source.batches(names)]
    return [np.concatenate([batch.column(j).to_pylist() for batch in batches]) for j in range(len(names))]


def _model():
    x, g = np.repeat(np.arange(0, N, 50), 9), np.tile(np.arange(9), N // 50)
    return bw.explain(pd.DataFrame({"x": x, "g": g}), label_of(x, g))


@pytest.mark.parametrize("threads", [2], indirect=True)
def test_a_table_of_sqlite_is_read_at_one_moment(tmp_path, threads):
    path, ends = str(tmp_path / "rows.sqlite"), Event()
    names = ["x", "g", *(f"m{j}" for j in range(MORE))]
    rows = [(i, i % 9, *(i + j for j in range(MORE))) for i in range(5000)]
    with closing(sqlite3.connect(path, isolation_level=None)) as con:
        con.execute("PRAGMA journal_mode = wal")
        con.execute(f"CREATE TABLE rows ({', '.join(names)})")
        con.execute("BEGIN")
        con.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", rows)
        con.execute("COMMIT")
        con.execute("CREATE VIEW random_rows AS SELECT *, random() AS r FROM rows")

    def move():
        with closing(sqlite3.connect(path, isolation_level=None)) as con:
            while not ends.wait(0.01):
                con.execute(
                    "UPDATE rows SET x = x + 1, g = g + 1, " + ", ".join(f"m{j} = m{j} + 1" for j in range(MORE))
                )

    with ThreadPoolExecutor(1) as pool:
        moved = pool.submit(move)
        try:
            tables = [read_file(path, ReadOptions(table=each), value="g") for each in ("rows", "random_rows")]
        finally:
            ends.set()
        moved.result()
    for table in tables:
        found = {name: table.X[:, j] for j, name in enumerate(table.columns)}
        assert (found["g"] == table.worth).all()
        assert all((found[f"m{j}"] == found["x"] + j).all() for j in range(MORE))


READERS = {  # what reads other files than the database itself; {0} is the folder
    "text": "SELECT i, (SELECT content FROM read_text('{0}/secret.csv')) AS note FROM range(9) AS t(i)",
    "bytes": "SELECT size, content FROM read_blob('{0}/secret.csv')",
    "csv": "FROM read_csv('{0}/secret.csv')",
    "name": "FROM '{0}/secret.csv'",
    "names of files": "FROM glob('{0}/*')",
    "dialect": "SELECT * FROM sniff_csv('{0}/secret.csv')",
    "parquet": "FROM read_parquet('{0}/secret.parquet')",
    "metadata": "FROM parquet_metadata('{0}/secret.parquet')",
    "json": "FROM read_json('{0}/secret.json')",
    "query": "FROM query('FROM read_text(''{0}/secret.csv'')')",
    "table macro": "FROM of_macro()",
    "macro": "SELECT i, macro() AS note FROM range(9) AS t(i)",
    "view": "FROM first",
    "secrets": "SELECT i, (SELECT count(*) FROM duckdb_secrets()) AS n FROM range(9) AS t(i)",
}


def test_a_view_of_duckdb_reads_its_own_database_alone(tmp_path):
    (tmp_path / "secret.csv").write_text("word,n\nhidden,1\n")
    path = str(tmp_path / "theirs.duckdb")
    with duckdb.connect(path) as con:
        for form in ("parquet", "json"):
            con.execute(f"COPY (SELECT 'hidden' AS word) TO '{tmp_path}/secret.{form}'")
        text = f"SELECT content FROM read_text('{tmp_path}/secret.csv')"
        con.execute(f"CREATE MACRO of_macro() AS TABLE {text}")
        con.execute(f"CREATE MACRO macro() AS ({text})")
        con.execute(f"CREATE VIEW first AS {text}")
        for name, sql in READERS.items():
            con.execute(f'CREATE VIEW "{name}" AS {sql.format(tmp_path)}')
        con.execute("CREATE TABLE plain AS SELECT i, i % 2 AS j FROM range(9) AS t(i)")
        con.execute("CREATE VIEW of_plain AS SELECT * FROM plain")
    for name in some(READERS):
        with _refused(), open_table(path, ReadOptions(table=name)):
            pass
    with _refused():
        bw.scan(path, table="text")
    for name in ("plain", "of_plain"):
        assert read_file(path, ReadOptions(table=name)).X.shape == (9, 2)


def _refused():
    return pytest.raises(DataError, match=r"disabled by configuration\na view may read its own database alone")
