"""What is written for other engines: numbers with all digits, queries, formulas; see `test_every_engine.py`, too."""

import inspect
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boxwood import Explanation, ThresholdTree, TreeBuilder, explain
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.render.forms.code import in_spreadsheet
from boxwood.render.forms.dialects import DIALECTS, OTHER_NAMES, dialect_of
from boxwood.table.sql import as_number
from boxwood.tree.boxes import reached_by_missing
from tests.programs import program
from tests.render.test_every_engine import ALL_ASKED, case
from tests.rule_cases import explained_by, odd_doubles
from tests.scale import SLOW, law

FORMS = {name: form for name, form in inspect.getmembers(Explanation, inspect.isfunction) if name.startswith("to_")}


@pytest.mark.parametrize(
    ("form", "option"),
    [
        (name, option)
        for name, form in FORMS.items()
        for option, parameter in inspect.signature(form).parameters.items()
        if parameter.annotation == "bool"
    ],
)
def test_whatever_counts_as_true_or_false_is_an_option_of_a_form(form, option):
    write = FORMS[form]
    ex = explain([[1.0], [2.0], [9.0]], ["a", "a", "b"], columns=["x"])
    for given in (2, 2**63, np.bool_(True), np.bool_(False), 0):
        assert write(ex, **{option: given}) == write(ex, **{option: bool(given)})


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


def test_nan_has_no_cluster_whatever_the_statistics_of_a_file_say(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 1.0, math.nan, None]}), tmp_path / "t.parquet")  # from 1 to 1, they say
    for cut in ((5.0, -math.inf), (0.0, -math.inf), (5.0, 0.0), (5.0, 2.0), (1.0, 1.0), (math.inf, 0.0)):
        for known in ({}, {0: Categories((0, 1, 2), False)}, {0: Categories((1, 2), True)}):
            builder = TreeBuilder()
            for leaf, cluster in zip(builder.split(0, 0, *cut), (0, 1), strict=True):
                builder.label(leaf, cluster)
            ex = explained_by(builder.build(), ("x",), ("in", "out"), known)
            known = ex.predict([[1], [1], [None], [None]], missing="none").tolist()
            for layout in ("flat", "nested"):
                found = duckdb.sql(f"SELECT {ex.to_sql(layout=layout)} FROM '{tmp_path / 't.parquet'}'").fetchall()
                assert [name for (name,) in found] == known


def test_short_thresholds_stay_decimals_in_sqlite():
    for cut, written in ((2.13, "2.13"), (730.0, "730"), (0.00125, "0.00125"), (-45.5, "-45.5")):
        assert as_number(cut, dialect_of("sqlite").number) == written


def typed_table():
    """Return a table with a column of each type, and labels of which each cut asks for one."""
    rng, n = np.random.default_rng(0), 400
    whole, days, country = rng.integers(0, 9, n), rng.integers(19_900, 20_300, n), rng.choice(["AT", "CH", "DE"], n)
    spend, paid, premium = rng.integers(0, 99, n) / 8, rng.integers(0, 99, n) / 4, rng.random(n) < 0.5
    columns = {"orders": whole, "spend": spend, "paid": pa.array([Decimal(x) for x in paid], pa.decimal128(8, 2))}
    columns |= {"premium": premium, "country": country, "since": days.astype("M8[D]")}
    tests = {"often": whole > 4, "big": spend > 6, "paid": paid > 12, "swiss": country == "CH", "new": days > 20_100}
    label = np.select([premium & tests["often"], *tests.values()], ["loyal", *tests], "other")
    return pa.table(columns), label


@pytest.mark.parametrize("of", ["Arrow", "pandas", "polars", "batches"])
def test_columns_that_hold_no_nan_are_not_asked_for_it(of, tmp_path):
    import boxwood

    table, labels = typed_table()
    pq.write_table(table.append_column("kind", pa.array(labels)), tmp_path / "t.parquet")
    frames = {"pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype), "polars": lambda: pl.DataFrame(table)}
    if of == "batches":
        ex = boxwood.explain(boxwood.scan(tmp_path / "t.parquet"), "kind", max_leaf_nodes=12)
    else:
        ex = boxwood.explain(frames.get(of, lambda: table)(), labels, max_leaf_nodes=12)
    assert {ex.columns[j] for j in ex.tree.features} == {*table.column_names}
    for layout in ("flat", "nested"):
        written = ex.to_sql(layout=layout)
        for part in ('"orders" <= 4 ', 'NOT "premium" ', "\"country\" = 'CH' ", '"since" >= DATE \'20'):
            assert part in written.replace(" AND", " ")
        of_floats = {"spend", "paid"} if of == "batches" else {"spend"}  # decimals are copied as floats there
        assert {*re.findall(r'isnan\(CASE WHEN "(\w+)"', written)} == of_floats
        assert "isnan" not in ex.to_sql(layout=layout, nan=False)
        found = duckdb.sql(f"SELECT {written} FROM '{tmp_path / 't.parquet'}'").fetchall()
        assert [name for (name,) in found] == ex.predict(table).tolist()


def test_types_and_layouts_that_are_unknown_are_refused():
    ex = explained_by(ThresholdTree.from_dict({"cluster": 0}), ("x",), ("a",))
    with pytest.raises(ValueError, match=r"types must map columns to types of SQL such as INTEGER, .* for x"):
        ex.to_sql(types={"x": "POINT"})
    with pytest.raises(DataError, match="no column 'y'"):
        ex.to_sql(types={"y": "INTEGER"})
    with pytest.raises(ValueError, match="layout must be one of 'flat', 'nested'; got 'wide'"):
        ex.to_sql(layout="wide")
    steps = TreeBuilder()
    node = 0
    for depth in range(11):
        leaf, node = steps.split(node, 0, float(depth))
        steps.label(leaf, 0)
    steps.label(node, 0)
    deep = explained_by(steps.build(), ("x",), ("a",))
    assert deep.to_sql("duckdb", layout="nested").count("CASE\n") == 11
    with pytest.raises(ValueError, match="tsql cannot be asked to nest a tree of depth 11"):
        deep.to_sql("tsql", layout="nested")


@law(8)
def test_nested_conditions_leave_out_what_the_way_has_shown(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, 300).astype(float)
    label = x // (6 + seed % 5)
    x[rng.random(300) < 0.1] = np.nan
    frame = pd.DataFrame({"x": x, "z": rng.random(300)})
    ex = explain(frame, np.where(np.isnan(x), rng.choice(label), label).astype(int), missing="learn")
    query = ex.to_sql(layout="nested")
    reached = reached_by_missing(ex.tree, {0})
    assert 1 <= len(reached) < (ex.tree.feature >= 0).sum()
    assert query.count('"x" IS NULL') == len(reached)
    assert query.count("isnan(") == 2 * len(reached)  # once for each side
    found = duckdb.sql(f"SELECT {query} FROM frame").fetchall()
    assert [name for (name,) in found] == ex.predict(frame).tolist()


def test_the_expression_has_a_name_if_it_is_given_one():
    ex = explained_by(ThresholdTree.from_dict({"cluster": 0}), ("x",), ("a",))
    assert ex.to_sql(alias="segment").endswith("\n'a' AS \"segment\"")
    assert 'AS "segment"\nFROM "t"' in ex.to_sql(table="t", alias="segment")


def test_engines_have_other_names_and_a_misspelt_one_gets_a_hint():
    ex = case(60, 1)[0]
    for name, dialect in {**OTHER_NAMES, **dict(zip(DIALECTS, DIALECTS, strict=True))}.items():
        for spelt in (name, name.upper(), name.capitalize()):
            assert ex.to_sql(spelt) == ex.to_sql(dialect)
        assert ex.monitoring_sql(name.title(), "t") == ex.monitoring_sql(dialect, "t")
    for wrong, meant in {"postgre": "postgres", "big query": "bigquery", "Click-House": "clickhouse"}.items():
        with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
            ex.to_sql(wrong)
    for wrong in ("", "db2", None, 3):
        with pytest.raises(ValueError, match="dialect must be one of 'duckdb', 'sqlite', 'postgres'"):
            ex.to_sql(wrong)


@pytest.mark.parametrize("type", ["", "VARCHAR(20)", "NVARCHAR(20)", "TEXT", "CHAR(4)"])
def test_sql_server_compares_the_bytes_of_one_type_of_text(type):
    import sqlglot
    from sqlglot import exp

    import boxwood

    ex = boxwood.explain(pd.DataFrame({"plan": ["free", "plus", "team"] * 4}), ["a", "a", "b"] * 4)
    query = sqlglot.parse_one(ex.to_sql("tsql", types={"plan": type} if type else None), read="tsql")
    for cast in query.find_all(exp.Cast):
        if cast.is_type("varbinary"):
            text = cast.this
            assert (
                text.args.get("is_string") or isinstance(text, exp.National) or text.to.sql("tsql") == "NVARCHAR(MAX)"
            )
    casts = [cast for cast in query.find_all(exp.Cast) if isinstance(cast.this, exp.Column)]
    assert {cast.to.sql("tsql") for cast in casts} == {"NVARCHAR(MAX)"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_adds_the_cluster_to_the_table(dialect):
    import sqlglot
    from sqlglot import exp

    ex = case(60, 1)[0]
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


def test_a_formula_with_semicolons_is_the_same_but_for_its_signs():
    frame = pd.DataFrame({"a, b; c.5": [1.5, 2.5, 8.5, 9.5] * 5, "w": ["x,1.5", 'y"z;', "x,1.5", "u"] * 5})
    ex = explain(frame, ["p,q", "p,q", "r.s", "t"] * 5, method="cart")
    for columns in (None, [*frame.columns]):
        plain, other = (ex.to_formula(columns=columns, separator=sign) for sign in ",;")
        texts = [re.findall('"[^"]*"', each) for each in (plain, other)]
        assert texts[0] == texts[1]
        outside = [re.sub('"[^"]*"', "T", each) for each in (plain, other)]
        assert outside[0].replace(",", ";").replace(".", ",") == outside[1] != outside[0]
    with pytest.raises(ValueError, match="separator must be one of"):
        ex.to_formula(separator=":")


def by_header(ex, sheet):
    """Return what the formula gives for each row of a whole sheet, the first row of which has names."""
    import formulas

    written = formulas.Parser().ast(ex.to_formula(row=7, let=False))[1].compile()
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
    tilde = boxwood.explain([[1.0], [9.0]], [0, 1], columns=["~a"]).to_formula(let=False)
    assert tilde.count('MATCH("~~a",$1:$1,0)') == 3


def test_formulas_too_long_for_excel_are_refused():
    import boxwood
    from boxwood.errors import DataError

    ex = boxwood.explain(np.arange(400.0)[:, None], np.arange(400), method="imm")
    with pytest.raises(DataError, match="and Excel allows 8,192 and 64\nexplain with fewer leaves"):
        ex.to_formula()
    few = boxwood.explain(np.arange(120.0)[:, None], np.repeat(np.arange(40), 3), method="imm")
    assert few.to_formula(row=10, columns=["x0"]).count("A10") == 40  # 39 cuts, and whether there is a number
    assert few.to_formula(let=False).count("MATCH(") == 41  # and the header
    with pytest.raises(ValueError, match="row must be at least 1"):
        ex.to_formula(row=0, columns=["x0"])
    with pytest.raises(ValueError, match="row must be at least 2"):  # the first row has the names
        ex.to_formula(row=1)


def test_literals_of_spreadsheets():
    assert in_spreadsheet("x" * 300).count("&") == 2
    assert in_spreadsheet(math.inf) == "9.99999999999999E+307"
    assert in_spreadsheet("") == '""'


def test_onnx_gives_whole_numbers_as_such():
    import onnxruntime

    import boxwood

    ex = boxwood.explain([[1.0], [9.0]], [30, 5])
    X = np.array([[5.0], [5.5], [np.nan], [np.inf]], dtype=np.float32)
    (found,) = onnxruntime.InferenceSession(ex.to_onnx()).run(None, {"X": X})
    assert found.tolist() == ex.predict(X, missing="none").tolist() == [30, 5, -1, 5]
    assert found.dtype == np.int64


def test_let_names_what_the_long_formula_finds_again_and_again():
    builder, node = TreeBuilder(), 0
    for j in range(4):
        leaf, node = builder.split(node, j, 0.5)
        builder.label(leaf, 0)
    builder.label(node, 1)
    ex = explained_by(builder.build(), ("x1", "R", "net (price)", "true"), ("a", "b"))
    found, rules = re.fullmatch(r"=LET\((.*?),(IF\(AND.*)\)", ex.to_formula(row=3)).groups()
    named = dict(re.findall(r"([a-z_0-9]+),(INDEX\(3:3,MATCH\(.*?,0\)\))", found))
    assert [*named] == ["x1_", "r_", "net_price", "true_3"]
    for name, cell in named.items():
        rules = re.sub(rf"(?<![\w\"]){name}(?![\w\"])", cell, rules)
    assert f"={rules}" == ex.to_formula(row=3, let=False)


# ----------------------------------------------------------------------------------------------------------- programs


@pytest.mark.parametrize("seed", ALL_ASKED)
def test_python_is_formatted_and_typed_as_it_comes(seed, tmp_path):
    ruff = shutil.which("ruff") or shutil.which("ruff", path=os.path.dirname(sys.executable))
    if ruff is None:
        pytest.skip("ruff is not installed, so nothing looks at the code")
    source = case(seed, 1)[0].to_python() + "\n"
    assert source.startswith("# boxwood")
    (tmp_path / "rules.py").write_text(source, encoding="utf-8")
    rules = "E,F,W,I,B,UP,SIM,RET,ANN,N,PIE,C4,PL,TRY,PERF,FURB"
    counted = "ANN401,C901,PLR09,PLR2004,TRY003,E501"  # any values, numbers, and as many branches as the tree has
    for words in (
        ["format", "--check"],
        ["check", "--select", rules, "--ignore", counted, "--target-version", "py311"],
    ):
        done = subprocess.run([ruff, *words, "--isolated", tmp_path / "rules.py"], capture_output=True, text=True)
        assert not done.returncode, done.stdout


def test_javascript_is_a_module_if_that_is_asked_for(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed, so JavaScript cannot run")
    ex = case(60, 1)[0]
    (tmp_path / "rules.mjs").write_text(ex.to_javascript(module=True), encoding="utf-8")
    (tmp_path / "rules.cjs").write_text(ex.to_javascript(), encoding="utf-8")
    calls = "const row = Object.fromEntries(COLUMNS.map(name => [name, null])); console.log(typeof whyNone(row)[0]);"
    (tmp_path / "by.mjs").write_text(f"import {{COLUMNS, whyNone}} from './rules.mjs'; {calls}", encoding="utf-8")
    (tmp_path / "by.cjs").write_text(f"const {{COLUMNS, whyNone}} = require('./rules.cjs'); {calls}", encoding="utf-8")
    for file in ("by.mjs", "by.cjs"):
        assert subprocess.run(["node", tmp_path / file], capture_output=True, text=True).stdout == "string\n"


@law(6)
def test_a_row_without_a_cluster_has_the_reason_where_it_is_asked_for(seed):
    rng = np.random.default_rng(seed)
    n, words = 60, ["AT", "DE", "CH", None]
    frame = pd.DataFrame({"spend": rng.normal(size=n), "country": rng.choice(words[: 3 + seed % 2], n)})
    frame["orders"] = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 9, n)) if seed % 3 else frame["spend"] ** 2
    ex = explain(frame, rng.integers(0, 3, n), columns=[*frame], method="cart", max_leaf_nodes=8)
    new = frame.assign(country=rng.choice([*words, "FR"], n)).mask(rng.random((n, 3)) < 0.2)
    names = program(ex.to_python())
    rows = new.astype(object).where(new.notna(), None).to_dict("records")
    expected = [
        str(found) if (found := names["cluster"](row)) is not None else names["why_none"](row)[1] for row in rows
    ]
    assert {"missing", "never seen"} & {*expected}
    for layout in ("flat", "nested"):
        query = "SELECT {} FROM new ORDER BY rowid"
        with duckdb.connect() as con:
            con.execute("CREATE TABLE new AS FROM new")
            assert [
                name for (name,) in con.execute(query.format(ex.to_sql(layout=layout, reasons=True))).fetchall()
            ] == expected
        with sqlite3.connect(":memory:") as con:
            new.to_sql("new", con, index=False)
            said = ex.to_sql("sqlite", layout=layout, reasons=True)
            assert [name for (name,) in con.execute(query.format(said))] == expected
