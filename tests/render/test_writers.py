"""What runs elsewhere labels rows as `predict` does: on 100 000 rows at, next to and far from the cuts."""

import json
import math
import shutil
import sqlite3
import subprocess
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pytest

from boxwood import ThresholdTree
from boxwood.render.forms.code import in_spreadsheet
from boxwood.render.forms.dialects import DIALECTS, dialect_of
from boxwood.table.sql import as_number
from tests.rule_cases import COLUMNS, CUTS, UNSEEN, categories, explained_by, explanation, odd_doubles, rows
from tests.scale import SLOW
from tests.test_one_answer import by_sqlite, in_duckdb, pandas_frame, polars_frame

N_ROWS = 100_000
SEEDS = (60, 200)  # their trees test all columns, with two-sided cuts; one refuses unknown categories, one covers them


@cache
def case(seed):
    """Return an explanation, its categories, the columns of a table, and the cluster of each row or None."""
    rng = np.random.default_rng(seed)
    known = categories(rng)
    ex = explanation(rng, known)
    columns = rows(rng, known, N_ROWS)
    return ex, known, columns, ex.predict(pandas_frame(columns), missing="none").tolist()


def as_rows(columns):
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]


def test_the_trees_of_these_tests_ask_for_everything():
    others = set()
    for seed in SEEDS:
        ex, known, _, predicted = case(seed)
        assert ex.tree.features.tolist() == list(range(len(COLUMNS)))
        assert (np.isfinite(ex.tree.lower) & np.isfinite(ex.tree.upper)).any()
        assert None in predicted
        assert len(set(predicted)) > 4
        others |= {known[3].others, known[4].others}
    assert others == {False, True}


# ------------------------------------------------------------------------------------------------------- programs


@pytest.mark.parametrize("seed", SEEDS)
def test_python(seed):
    ex, _, columns, predicted = case(seed)
    names = {}
    exec(ex.to_python(), names)
    assert list(map(names["cluster"], as_rows(columns))) == predicted
    assert [name for name in names if not name.startswith("_")] == ["cluster"]


RUN = """
const fs = require("fs");
const table = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const found = table.map((row, i) => {
  for (const name in row) {
    if (row[name] === null && i % 3 === 0) delete row[name];
    else if (row[name] === null && i % 3 === 1) row[name] = NaN;
  }
  return cluster(row);
});
fs.writeFileSync(process.argv[3], JSON.stringify(found));
"""


def in_node(source, table, folder):
    """Return what the function gives for each row; missing values are null, NaN and no property in turns."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed, so JavaScript cannot run")
    (folder / "run.js").write_text(f'"use strict";\n{source}\n{RUN}', encoding="utf-8")
    infinite = json.dumps(table).replace("Infinity", "1e999")
    (folder / "rows.json").write_text(infinite, encoding="utf-8")
    subprocess.run(["node", folder / "run.js", folder / "rows.json", folder / "found.json"], check=True)
    return json.loads((folder / "found.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("seed", SEEDS)
def test_javascript(seed, tmp_path):
    ex, _, columns, predicted = case(seed)
    assert in_node(ex.to_javascript(), as_rows(columns), tmp_path) == predicted


# ------------------------------------------------------------------------------------------------------------ SQL


@pytest.mark.parametrize("seed", SEEDS)
def test_duckdb(seed, tmp_path):
    ex, _, columns, predicted = case(seed)
    assert in_duckdb(ex, tmp_path, columns) == predicted


@pytest.mark.parametrize("seed", SEEDS)
def test_sqlite(seed):
    ex, _, columns, predicted = case(seed)
    assert by_sqlite(ex.to_sql("sqlite"), ["REAL", "DOUBLE", "INTEGER", "TEXT", "NUMERIC"], columns) == predicted


@pytest.mark.parametrize(("connect", "dialect"), [(duckdb.connect, "duckdb"), (sqlite3.connect, "sqlite")])
def test_thresholds_are_read_exactly(connect, dialect):
    numbers = odd_doubles(np.random.default_rng(0), 100_000 if SLOW else 1_000)
    written = [as_number(x, dialect_of(dialect).number) for x in numbers]
    with connect(":memory:") as con:
        parts = [written[start : start + 500] for start in range(0, len(written), 500)]
        found = [x for part in parts for x in con.execute(f"SELECT {', '.join(part)}").fetchone()]
    assert found == numbers


def test_sqlite_labels_rows_at_and_next_to_a_decimal_that_it_misreads():
    cut = 9999998.67777183
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": cut, "left": {"cluster": 0}, "right": {"cluster": 1}})
    ex = explained_by(tree, ("x",), ("a", "b"))
    with sqlite3.connect(":memory:") as con:
        con.execute("CREATE TABLE t (x REAL)")
        con.executemany("INSERT INTO t VALUES (?)", [(math.nextafter(cut, 0),), (cut,), (math.nextafter(cut, 1e9),)])
        assert [name for (name,) in con.execute(f"SELECT {ex.to_sql('sqlite')} FROM t")] == ["a", "a", "b"]
    assert "<= CAST(5368708410134157 AS REAL) / 536870912 THEN" in ex.to_sql("sqlite")


def test_short_thresholds_stay_decimals_in_sqlite():
    for cut, written in ((2.13, "2.13e0"), (730.0, "730"), (0.00125, "0.00125e0"), (-45.5, "-45.5e0")):
        assert as_number(cut, dialect_of("sqlite").number) == written


@pytest.mark.full
@pytest.mark.parametrize("dialect", ["mysql", "tsql", "bigquery", "snowflake", "spark"])
@pytest.mark.parametrize("seed", SEEDS)
def test_other_dialects_say_the_same_when_they_are_parsed_back(seed, dialect, tmp_path):
    import sqlglot
    from sqlglot import exp

    ex, _, columns, _ = case(seed)
    columns = [[clipped(value) for value in column] for column in columns]  # some have no infinity
    written = ex.to_sql(dialect).replace("$\\{", "${")  # tests/machines show what Spark itself reads
    parsed = sqlglot.parse_one(written, read=dialect)
    plain = parsed.transform(as_plain_text)
    assert all(column.name in COLUMNS for column in plain.find_all(exp.Column))
    path = tmp_path / "t.parquet"
    polars_frame(columns, nan=dialect not in ("mysql", "tsql")).write_parquet(path)  # these hold no NaN
    found = [row[0] for row in duckdb.execute(f"SELECT {plain.sql('duckdb')} FROM '{path}'").fetchall()]
    assert found == ex.predict(pandas_frame(columns), missing="none").tolist()


def as_plain_text(node):
    """Return a cast to text or bytes as one to text alone, which DuckDB compares by all characters."""
    from sqlglot import exp

    if isinstance(node, exp.Cast) and node.is_type("float"):
        return exp.cast(node.this, "double")  # as FLOAT of SQL Server is
    inner = node
    while isinstance(inner, exp.Cast) and not inner.is_type("double"):
        inner = inner.this
    return node if inner is node else exp.cast(inner, "text")


def clipped(value, most=1e308):
    return max(min(value, most), -most) if isinstance(value, float) else value


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_adds_the_cluster_to_the_table(dialect):
    import sqlglot
    from sqlglot import exp

    ex = case(60)[0]
    query = sqlglot.parse_one(ex.to_sql(dialect, table='shop "1".cust`omers]'), read=dialect)
    source = query.find(exp.Table)
    assert (source.db, source.name) == ('shop "1"', "cust`omers]")
    assert [one.alias for one in query.selects] == ["", "cluster"]
    assert query.selects[0].is_star
    assert query.selects[1].this == sqlglot.parse_one(ex.to_sql(dialect), read=dialect)


def test_a_query_runs():
    import boxwood

    ex = boxwood.explain([[1.0, 5.0], [9.0, 5.0]], ["young", "old"], columns=["age", "Cluster"])
    with sqlite3.connect(":memory:") as con:
        con.execute('CREATE TABLE "the people" (age, cluster)')
        con.execute('INSERT INTO "the people" VALUES (7, 1), (NULL, 2)')
        found = con.execute(ex.to_sql("sqlite", table="the people"))
        assert [column[0] for column in found.description] == ["age", "cluster", "cluster_1"]
        assert found.fetchall() == [(7, 1, "old"), (None, 2, None)]
    for table in ("", "a..b", ()):
        with pytest.raises(ValueError, match="table must be a name such as"):
            ex.to_sql(table=table)
    assert 'FROM "a.b"."c"' in ex.to_sql(table=("a.b", "c"))


# ---------------------------------------------------------------------------------------------------- spreadsheets


N_CELLS = N_ROWS if SLOW else 2_000  # an evaluator in Python takes 10 seconds for all


@pytest.mark.full
@pytest.mark.parametrize("seed", SEEDS)
def test_spreadsheets(seed):
    import formulas

    ex, known, _, _ = case(seed)
    rng = np.random.default_rng(seed)
    cuts = np.array([cut for cut in CUTS if cut])
    near = np.concatenate([cuts * (1 + 1e-12), cuts * (1 - 1e-12), [1e-300, -1e-300, 1e6, -1e6]])
    columns = [
        rng.choice(near, N_CELLS).tolist(),
        rng.choice(near, N_CELLS).tolist(),
        rng.choice([True, False], N_CELLS).tolist(),
        rng.choice([*known[3].values, *UNSEEN], N_CELLS).tolist(),
        rng.choice([*known[4].values, 3.5, 20.499999999], N_CELLS).tolist(),
    ]
    columns = [[None if gap else x for x, gap in zip(c, rng.random(N_CELLS) < 0.1, strict=True)] for c in columns]
    sheet = ["id", *COLUMNS[::-1]]
    written = formulas.Parser().ast(ex.to_formula(row=7, columns=sheet))[1].compile()
    cells = {
        f"{letter}7": np.array([["" if x is None else x] for x in c], dtype=object)
        for letter, c in zip("FEDCB", columns, strict=True)
    }
    found = np.asarray(written(*(cells[name] for name in written.inputs))).ravel().tolist()
    predicted = ex.predict(np.array(list(zip(*columns, strict=True)), dtype=object), missing="none").tolist()
    assert found == ["" if name is None else name for name in predicted]


def by_header(ex, sheet):
    """Return what the formula gives for each row of a whole sheet, the first row of which has names."""
    import formulas

    written = formulas.Parser().ast(ex.to_formula(row=7))[1].compile()
    header, *rows = [np.array([row], dtype=object) for row in sheet]
    return [str(np.asarray(written(header, row)).item()) for row in rows]


def test_spreadsheets_find_columns_by_their_names():
    import boxwood

    rng = np.random.default_rng(0)
    names = ['net "price" (€)', "qty*", "2024", "gift?", "w" * 200]
    X = pd.DataFrame({name: rng.integers(0, 9, 60) for name in names}).assign(**{"gift?": rng.random(60) < 0.5})
    labels = [f"{row[0] > 4} {row[1] > 4} {row[2] > 4} {row[3]} {row[4] > 4}" for row in X.itertuples(index=False)]
    ex = boxwood.explain(X, labels, method="cart", max_leaf_nodes=12)
    assert set(ex.tree.features) == set(range(5))
    rows = X.iloc[:8, ::-1].astype(object).values.tolist()
    others = ["id", "qtys", "net price", "gifts", 7]  # some of them match without escapes
    sheet = [[*others, *(2024 if name == "2024" else name for name in names[::-1])]]
    sheet += [[i, "A", -1, "", i, *row] for i, row in enumerate(rows)]
    assert by_header(ex, sheet) == ex.predict(X[:8]).tolist()
    assert by_header(ex, [["cluster", *sheet[0][1:-1], "net price"], sheet[1]]) == ["#N/A"]


def test_headers_that_spreadsheets_cannot_tell_apart_are_refused():
    import boxwood
    from boxwood.errors import DataError

    ex = boxwood.explain([[1.0, 5.0], [9.0, 5.0]], ["young", "old"], columns=["age", "Age"])
    with pytest.raises(DataError, match="columns 'age', 'Age' differ in case only, so a spreadsheet cannot find it by"):
        ex.to_formula()
    assert ex.to_formula(columns=["Age", "age"]).startswith("=IF(ISNUMBER(B2),")
    with pytest.raises(DataError, match=r"no column 'age' .*; its columns are ages"):
        ex.to_formula(columns=["ages"])
    with pytest.raises(TypeError, match="columns must be a list of names of columns, which are text; got 2"):
        ex.to_formula(columns=["age", 2])
    with pytest.raises(DataError, match="the sheet has 2 columns 'age'; rename all but one"):
        ex.to_formula(columns=["age", "age"])
    with pytest.raises(DataError, match="a column has no name, so"):
        boxwood.explain([[1.0], [9.0]], [0, 1], columns=[""]).to_formula()
    other = boxwood.explain([[1.0], [9.0]], ["young", "old"], columns=["age"])
    assert by_header(other, [["AGE", "x"], [7, 7]]) == ["#N/A"]  # predict would not take it either
    tilde = boxwood.explain([[1.0], [9.0]], [0, 1], columns=["~a"]).to_formula()
    assert tilde.count('MATCH("~~a",$1:$1,0)') == 3


def test_formulas_too_long_for_excel_are_refused():
    import boxwood
    from boxwood.errors import DataError

    ex = boxwood.explain(np.arange(400.0)[:, None], np.arange(400), method="imm")
    with pytest.raises(DataError, match="and Excel allows 8,192 and 64\nexplain with fewer leaves"):
        ex.to_formula()
    few = boxwood.explain(np.arange(120.0)[:, None], np.repeat(np.arange(40), 3), method="imm")
    assert few.to_formula(row=10, columns=["x0"]).count("A10") == 40  # 39 cuts, and whether there is a number
    assert few.to_formula().count("MATCH(") == 41  # and the header
    with pytest.raises(ValueError, match="row must be at least 1"):
        ex.to_formula(row=0, columns=["x0"])
    with pytest.raises(ValueError, match="row must be at least 2"):  # the first row has the names
        ex.to_formula(row=1)


def test_literals_of_spreadsheets():
    assert in_spreadsheet("x" * 300).count("&") == 2
    assert in_spreadsheet(math.inf) == "9.99999999999999E+307"
    assert in_spreadsheet("") == '""'


# ------------------------------------------------------------------------------------------------- float32 engines


def single_rows(ex, known, n, *, missing):
    """Return rows that float32 holds, as codes: at each cut or its neighbours, and the table with the codes' values."""
    rng = np.random.default_rng(n)
    cuts = np.concatenate([ex.tree.lower, ex.tree.upper, CUTS])
    cuts = cuts[np.isfinite(cuts)].astype(np.float32)
    near = np.concatenate([cuts, np.nextafter(cuts, np.float32(-np.inf)), np.nextafter(cuts, np.float32(np.inf))])
    codes = np.empty((n, len(COLUMNS)), dtype=np.float32)
    table = []
    for j, name in enumerate(COLUMNS):
        if j in known:
            values = [*known[j].values, *["never seen"] * known[j].others]
            codes[:, j] = rng.integers(len(values), size=n)
        else:
            codes[:, j] = rng.choice(near, n)
        if missing:
            codes[rng.random(n) < 0.1, j] = np.nan
        of_code = (lambda c, values=values: values[int(c)]) if j in known else float
        table.append(pd.Series([None if np.isnan(c) else of_code(c) for c in codes[:, j]], dtype=object, name=name))
    return codes, pd.concat(table, axis=1)


def numbers(frame):
    return frame.astype(dict.fromkeys(COLUMNS[:2], float))


@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn(seed):
    ex, known, _, _ = case(seed)
    codes, table = single_rows(ex, known, N_ROWS, missing=False)
    twin = ex.to_sklearn()
    named = pd.DataFrame(codes, columns=list(COLUMNS))
    assert (twin.predict(named) == ex.predict(numbers(table))).all()
    assert twin.classes_.tolist() == sorted(ex.names)
    assert twin.feature_names_in_.tolist() == list(COLUMNS)


@pytest.mark.full
@pytest.mark.parametrize("seed", SEEDS)
def test_onnx(seed):
    import onnxruntime

    ex, known, _, _ = case(seed)
    codes, table = single_rows(ex, known, N_ROWS, missing=True)
    (found,) = onnxruntime.InferenceSession(ex.to_onnx()).run(["cluster"], {"X": codes})
    predicted = ex.predict(numbers(table), missing="none")
    assert found.tolist() == ["" if name is None else name for name in predicted.tolist()]


def test_onnx_gives_whole_numbers_as_such():
    import onnxruntime

    import boxwood

    ex = boxwood.explain([[1.0], [9.0]], [30, 5])
    X = np.array([[5.0], [5.5], [np.nan], [np.inf]], dtype=np.float32)
    (found,) = onnxruntime.InferenceSession(ex.to_onnx()).run(None, {"X": X})
    assert found.tolist() == ex.predict(X, missing="none").tolist() == [30, 5, -1, 5]
    assert found.dtype == np.int64
