"""One law for all that labels rows: in every engine a row has the cluster, or none, of a walk in plain Python.

A new engine is a line of `ENGINES`. Those that need a server or machines obey the same law in `test_servers.py` and in
`tests/machines`.
"""

import csv
import json
import math
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood._texts import MARKS
from boxwood.explanation.records import Provenance
from boxwood.render.forms.boxes import boxes_by_cluster
from boxwood.render.forms.code import python_of_boxes
from boxwood.render.forms.dialects import DIALECTS
from boxwood.render.forms.formula import formula_of_boxes
from boxwood.render.forms.sql import sql_of_boxes
from tests import scale
from tests.command import invoke
from tests.programs import in_node, program
from tests.rule_cases import (
    COLUMNS,
    KINDS,
    TYPES,
    categories,
    categories_with_missing,
    expected,
    explanation,
    explanation_with_gaps,
    rows,
)

FEW_ROWS = 4_000
N_ROWS = 30_000 if scale.SEEDS >= scale.ALL_KINDS else FEW_ROWS
ONE_LEAF = 300  # its tree has no cut
ALL_ASKED = {60: N_ROWS, 11: N_ROWS, 200: FEW_ROWS, 42: FEW_ROWS}  # trees of these seeds ask for everything, see below


def as_it_is(ex, columns):
    return columns


class Engine(NamedTuple):
    """What labels rows.

    Parameters
    ----------
    labels : function
        Returns the name of each row's cluster, or None, from an explanation, a folder, and the columns of a table.
    holds : function
        Returns the columns of a table as the engine can hold them, from an explanation and these.
    most : int
        Most rows that it labels in a second or so.
    trees : int
        Number of random trees on few rows.
    """

    labels: Callable
    holds: Callable = as_it_is
    most: int = N_ROWS
    trees: int = 24


@cache
def case(seed, n, holds=as_it_is):
    """Return an explanation, the columns of a table of n rows, and the name of each row's cluster, or None."""
    rng = np.random.default_rng(seed)
    with_gaps = seed < 60
    known = categories_with_missing(rng) if with_gaps else categories(rng)
    ex = (explanation_with_gaps if with_gaps else explanation)(rng, known, *[0] * (seed == ONE_LEAF))
    if seed % 3:  # what a frame would have told
        ex = replace(
            ex, provenance=Provenance("a frame", "2026-03-01", "1", "given labels", len(COLUMNS), (), types=TYPES)
        )
    columns = holds(ex, rows(rng, known, n))
    return ex, columns, expected(ex, known, columns)


def check(engine, folder):
    """Compare the labels of an engine with those of the walk: on many trees, one without a cut, and on many rows."""
    tried = [*scale.seeds(engine.trees // 2), *scale.seeds(engine.trees // 2, first=60), ONE_LEAF]
    for seed, n in [*((seed, 150) for seed in tried), *((seed, min(n, engine.most)) for seed, n in ALL_ASKED.items())]:
        ex, columns, wanted = case(seed, n, engine.holds)
        (where := folder / f"{seed}_{n}").mkdir()
        found = engine.labels(ex, where, columns)
        assert len(found) == len(wanted)
        rows_found = zip(as_rows(columns), found, wanted, strict=True)
        other = [(row, mine, right) for row, mine, right in rows_found if mine != right]
        assert not other, f"seed {seed}: {len(other)} of {n} rows, first (row, found, wanted) {other[0]}"


# ---------------------------------------------------------------------------------------------- tables of each kind
def as_rows(columns, nothing=None):
    """Return rows as dicts; every second missing value is `nothing`."""
    table = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]
    for i, row in enumerate(table if nothing is not None else ()):
        for name in [name for name, value in row.items() if value is None]:
            if i % 2:
                row[name] = nothing
    return table


def arrow_table(columns, nan=True):
    """Return the table in Arrow; every second missing number is NaN, if `nan`."""
    arrays = []
    for kind, values in zip(KINDS.values(), columns, strict=True):
        if nan and kind.arrow.startswith("float"):
            values = [math.nan if x is None and i % 2 else x for i, x in enumerate(values)]
        arrays.append(pa.array(values, pa.type_for_alias(kind.arrow)))
    return pa.table(arrays, list(COLUMNS))


def pandas_frame(columns):
    kinds = zip(KINDS.items(), columns, strict=True)
    return pd.DataFrame({name: pd.Series(values, dtype=kind.pandas) for (name, kind), values in kinds})


def object_array(columns):
    return np.array(list(zip(*columns, strict=True)), dtype=object)


def as_csv(folder, columns):
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(zip(*columns, strict=True))
    return folder / "t.csv"


def as_json_lines(folder, columns):
    with open(folder / "t.jsonl", "w", encoding="utf-8") as file:
        for row in as_rows(columns):
            plain = {name: str(x) if isinstance(x, float) and math.isinf(x) else x for name, x in row.items()}
            file.write(json.dumps(plain, allow_nan=False) + "\n")
    return folder / "t.jsonl"


def as_parquet(folder, columns):
    pq.write_table(arrow_table(columns), folder / "t.parquet")
    return folder / "t.parquet"


# ---------------------------------------------------------------------------------------- what an engine cannot hold
def without_marks(ex, columns):
    """Return texts as CSV holds them: an empty one and marks such as NA are missing, unless they are categories."""
    known = {j: one.values for j, one in ex._coded_columns.items()}
    return [
        [None if isinstance(x, str) and x.strip(" ").lower() in MARKS and x not in known[j] else x for x in column]
        for j, column in enumerate(columns)
    ]


def clipped(most, least=0.0):
    """Return what makes numbers finite, and those that are too small zero."""

    def holds(ex, columns):
        def held(x):
            return x if not isinstance(x, float) else max(min(x, most), -most) if abs(x) > least else 0.0

        return [[held(x) for x in column] for column in columns]

    return holds


finite, for_sheets = clipped(1e308), clipped(1e300, 1e-300)


def finite_singles(ex, columns):
    """Return finite numbers, as MariaDB has, in its FLOAT as floats of 32 bits."""
    large = zip(KINDS.values(), finite(ex, columns), strict=True)
    return [clipped(3e38)(ex, [column])[0] if kind.arrow == "float32" else column for kind, column in large]


def in_sheets(ex, columns):
    """Return a table without empty texts, which are empty cells."""
    return [[None if isinstance(x, str) and not x else x for x in column] for column in for_sheets(ex, columns)]


def in_single(ex, columns):
    """Return a table whose numbers are those of float32."""
    codes = ex._coded_columns
    limited = clipped(1e9, 1e-40)(ex, columns)
    return [
        column if j in codes else [x if x is None else float(np.float32(x)) for x in column]
        for j, column in enumerate(limited)
    ]


# ---------------------------------------------------------------------------------------------------------- engines
def in_python(table_of):
    return lambda ex, folder, columns: ex.predict(table_of(columns), missing="none").tolist()


def one_by_one(ex, folder, columns):
    return [ex.why(row).name for row in as_rows(columns)]


def on_command_line(written, out="out.parquet"):
    def labels(ex, folder, columns):
        path, to = written(folder, columns), folder / out
        ex.save(folder / "model.json")
        words = ["predict", str(folder / "model.json"), str(path), "-o", str(to), "--fail-over-empty", "1"]
        result = invoke(*words)
        found = last_column(to)
        n_empty = found.count(None)
        told = f"boxwood: {n_empty:,} row{'' if n_empty == 1 else 's'} left without a cluster: "
        assert (told in result.stderr) == (n_empty > 0)
        return found

    return labels


def last_column(path):
    if path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            return [row[-1] or None for row in csv.reader(file)][1:]
    return [row[-1] for row in duckdb.sql(f"FROM '{path}'").fetchall()]


def as_sql(ex, dialect, **options):
    """Return the rules in SQL, nested or flat."""
    return ex.to_sql(dialect, layout="nested" if ex.n_leaves % 2 and ex.tree.depth <= 10 else "flat", **options)


def in_duckdb(ex, folder, columns):
    path = as_parquet(folder, columns)
    return [name for (name,) in duckdb.sql(f"SELECT {as_sql(ex, 'duckdb')} FROM '{path}'").fetchall()]


def in_table_of_duckdb(ex, folder, columns):
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS FROM '{as_parquet(folder, columns)}'")
        bw.write_labels(ex, con, "t")
        return [row[-1] for row in con.execute("FROM t").fetchall()]


def as_texts(column):
    """Return numbers with all digits, which SQLite would shorten; no text is infinity there, so a huge number is."""
    return [repr(max(min(x, 1e308), -1e308)) if isinstance(x, float) else x for x in column]


def in_sqlite(dialect, kinds, **options):
    """Return the engine for columns declared as these kinds."""

    def labels(ex, folder, columns):
        quoted = ('"' + name.replace('"', '""') + '"' for name in COLUMNS)
        names = ", ".join(f"{name} {kind}" for name, kind in zip(quoted, kinds, strict=True))
        with sqlite3.connect(":memory:") as con:
            con.execute(f"CREATE TABLE t ({names})")
            stored = [as_texts(c) if kind == "TEXT" else c for kind, c in zip(kinds, columns, strict=True)]
            con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(COLUMNS))})", zip(*stored, strict=True))
            query = f"SELECT {as_sql(ex, dialect, **options)} FROM t ORDER BY rowid"
            return [name for (name,) in con.execute(query).fetchall()]

    return labels


def parsed_back(dialect):
    """Return the engine that reads the SQL of a dialect by its grammar, and runs what it means in DuckDB."""

    def labels(ex, folder, columns):
        import sqlglot
        from sqlglot import exp

        options = {"nan": False} if dialect == "oracle" else {}  # whose IS NAN only Oracle has
        written = as_sql(ex, dialect, **options).replace("$\\{", "${")  # tests/machines show what Spark itself reads
        plain = sqlglot.parse_one(written, read=dialect).transform(as_plain_text)
        plain = plain.transform(without_nan) if not DIALECTS[dialect]().nan_is_large else plain
        assert all(column.name in COLUMNS for column in plain.find_all(exp.Column))
        table = arrow_table(columns, nan=dialect not in ("mysql", "tsql", "oracle"))
        pq.write_table(table, folder / "t.parquet", write_statistics=False)  # which DuckDB alone trusts
        query = f"SELECT {plain.sql('duckdb')} FROM '{folder / 't.parquet'}'"
        return [name for (name,) in duckdb.sql(query).fetchall()]

    return labels


def as_plain_text(node):
    """Return a cast to text or bytes as one to text alone, which DuckDB compares by all characters."""
    from sqlglot import exp

    if isinstance(node, exp.Literal) and not node.is_string and "." in node.name and "e" not in node.name:
        return exp.Literal.number(f"{node.name}e0")  # other engines compare a float with a decimal as doubles
    if isinstance(node, exp.Cast) and node.is_type("float"):
        return exp.cast(node.this, "double")  # as FLOAT of SQL Server is
    inner = node
    while isinstance(inner, exp.Cast) and not inner.is_type("double"):
        inner = inner.this
    return node if inner is node else exp.cast(inner, "text")


def without_nan(node):
    """Return a comparison as BigQuery has it, where none with NaN holds."""
    from sqlglot import exp

    if not isinstance(node, (exp.GT, exp.GTE)):
        return node
    return exp.and_(node.copy(), f"lower(CAST({node.this.sql('duckdb')} AS TEXT)) <> 'nan'", dialect="duckdb")


def written_python(ex, folder, columns):
    names = program(ex.to_python())
    assert names["__all__"] == ["COLUMNS", "cluster", *["why_none"] * (ex.n_leaves > 1)]
    return list(map(names["cluster"], as_rows(columns, nothing=math.nan)))


def written_javascript(ex, folder, columns):
    return in_node(ex.to_javascript(), as_rows(columns), folder)


def by_pmml(ex, folder, columns):
    from tests.render.test_pmml import Model

    return list(map(Model(ex.to_pmml()).score, as_rows(columns)))


def codes_of(ex, columns):
    """Return the rows as the numbers that ONNX and scikit-learn take: codes, and NaN for what has none."""
    table = np.empty((len(columns[0]), len(COLUMNS)))
    for j, column in enumerate(columns):
        known = ex._coded_columns.get(j)
        table[:, j] = [np.nan if x is None else x for x in column] if known is None else known.codes(column)
    return table


def by_onnx(ex, folder, columns):
    import onnxruntime

    session = onnxruntime.InferenceSession(ex.to_onnx())
    (names,) = session.run(["cluster"], {"X": codes_of(ex, columns).astype(np.float32)})
    return [name or None for name in names.tolist()]


def by_scikit_learn(ex, folder, columns):
    """Return the clusters of a DecisionTreeClassifier, which knows no row without one: these are left out."""
    known = ex.predict(object_array(columns), missing="none")
    has_one = np.array([name is not None for name in known])
    twin, found = ex.to_sklearn(), np.full(len(known), None)
    assert twin.classes_.tolist() == sorted(ex.names)
    found[has_one] = twin.predict(pd.DataFrame(codes_of(ex, columns)[has_one], columns=list(COLUMNS)))
    return found.tolist()


def in_spreadsheet(ex, folder, columns):
    return calculated(ex.to_formula(row=7, columns=["id", *COLUMNS[::-1]]), columns)


def calculated(formula, columns):
    """Return what a formula gives for row 7 of a sheet, for each row of a table there."""
    import formulas

    written = formulas.Parser().ast(formula)[1].compile()
    letters = dict(zip("BCDEFGH", columns[::-1], strict=False))
    cells = {
        f"{letter}7": np.array([["" if x is None else x] for x in c], dtype=object) for letter, c in letters.items()
    }
    n = len(columns[0])
    found = np.broadcast_to(np.asarray(written(*(cells[name] for name in written.inputs))), (n, 1))
    return [name or None for name in found.ravel().tolist()]


def rule_by_rule(labels):
    """Return the engine that has only the rule of one cluster at a time, which gives its name or nothing."""

    def labels_of_all(ex, folder, columns):
        found = [None] * len(columns[0])
        for name, boxes in zip(ex.names, boxes_by_cluster(ex), strict=True):
            if not boxes.boxes:
                continue
            given = labels(boxes, folder, columns)
            assert {*given} <= {name, None}
            assert not any(before and now for before, now in zip(found, given, strict=True))
            found = [now or before for before, now in zip(found, given, strict=True)]
        return found

    return labels_of_all


def rule_in_duckdb(boxes, folder, columns):
    path = as_parquet(folder, columns)
    return [name for (name,) in duckdb.sql(f"SELECT {sql_of_boxes(boxes)} FROM '{path}'").fetchall()]


def rule_in_python(boxes, folder, columns):
    names = program(python_of_boxes(boxes))
    return list(map(names["cluster"], as_rows(columns, nothing=math.nan)))


def rule_in_spreadsheet(boxes, folder, columns):
    return calculated(formula_of_boxes(boxes, row=7, columns=["id", *COLUMNS[::-1]]), columns)


UNTYPED, AS_TEXT = [""] * len(COLUMNS), ["TEXT", "TEXT", "INTEGER", "TEXT", "TEXT"]
ENGINES = {
    "pandas": Engine(in_python(pandas_frame)),
    "polars": Engine(in_python(lambda columns: pl.DataFrame(arrow_table(columns)))),
    "Arrow": Engine(in_python(arrow_table)),
    "array of objects": Engine(in_python(object_array)),
    "one by one": Engine(one_by_one, finite, most=300, trees=4),
    "CSV": Engine(on_command_line(as_csv), without_marks, trees=8),
    "CSV to CSV": Engine(on_command_line(as_csv, "out.csv"), without_marks, trees=8),
    "Parquet": Engine(on_command_line(as_parquet), trees=8),
    "Parquet to CSV": Engine(on_command_line(as_parquet, "out.csv"), trees=4),
    "JSON lines": Engine(on_command_line(as_json_lines), trees=8),
    "DuckDB": Engine(in_duckdb),
    "table of DuckDB": Engine(in_table_of_duckdb, trees=4),
    "SQLite": Engine(in_sqlite("sqlite", UNTYPED)),
    "SQLite, declared": Engine(in_sqlite("sqlite", ["REAL", "DOUBLE", "INTEGER", "TEXT", "NUMERIC"])),
    "SQLite, as text": Engine(in_sqlite("sqlite", AS_TEXT)),
    "SQLite, by DuckDB's SQL": Engine(in_sqlite("duckdb", UNTYPED, nan=False)),
    **{
        f"{dialect}, parsed back": Engine(parsed_back(dialect), finite, trees=4)
        for dialect in [name for name in DIALECTS if name not in ("duckdb", "sqlite")]
    },
    "Python": Engine(written_python),
    "JavaScript": Engine(written_javascript, trees=8),
    "PMML": Engine(by_pmml, most=20_000),
    "ONNX": Engine(by_onnx, in_single),
    "scikit-learn": Engine(by_scikit_learn, in_single),
    "spreadsheet": Engine(in_spreadsheet, in_sheets, most=500, trees=8),
    "DuckDB, rule by rule": Engine(rule_by_rule(rule_in_duckdb), most=500, trees=8),
    "Python, rule by rule": Engine(rule_by_rule(rule_in_python), most=500, trees=8),
    "spreadsheet, rule by rule": Engine(rule_by_rule(rule_in_spreadsheet), in_sheets, most=20, trees=2),
}


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_gives_the_same_cluster_or_none(name, tmp_path):
    check(ENGINES[name], tmp_path)


def test_the_large_tables_ask_for_everything():
    codes, kinds = set(), set()
    for seed in ALL_ASKED:
        ex, columns, found = case(seed, 4_000)
        assert ex.tree.features.tolist() == list(range(len(COLUMNS)))
        assert (np.isfinite(ex.tree.lower) & np.isfinite(ex.tree.upper)).any()
        assert None in found
        assert len(set(found)) > 4
        codes |= {(one.others, None in one.values) for one in ex._coded_columns.values()}
        first = ex.tree.feature[0]
        has_place = any(x is None and name is not None for x, name in zip(columns[first], found, strict=True))
        kinds.add((ex.tree.has_sets, len(ex._gap_columns), first in ex._gap_columns and has_place))
    assert codes == {(False, False), (True, False), (False, True), (True, True)}
    assert kinds == {(False, 0, False), (True, 1, False), (True, 2, True)}
