"""The same row has the same cluster, or none, in Python, on the command line and in SQL."""

import csv
import json
import math
import sqlite3
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from boxwood.cli import boxwood as command
from boxwood.render import sql
from boxwood.render.forms.sql import sql_case
from boxwood.tree import ThresholdTree
from tests.rule_cases import COLUMNS, CUTS, categories, expected, explanation, rows
from tests.scale import SLOW, seeds

N_ROWS = 100_000 if SLOW else 150

# ---------------------------------------------------------------------------------------- one table, many doors


def polars_frame(columns, *, nan):
    """Return the table in polars; every second missing number is NaN, if `nan`."""
    kinds = (pl.Float64, pl.Float32, pl.Boolean, pl.String, pl.Float64)
    frame = {}
    for name, values, kind in zip(COLUMNS, columns, kinds, strict=True):
        if nan and kind in (pl.Float64, pl.Float32):
            values = [math.nan if x is None and i % 2 else x for i, x in enumerate(values)]
        frame[name] = pl.Series(values, dtype=kind)
    return pl.DataFrame(frame)


def pandas_frame(columns):
    kinds = ("float64", "float32", "boolean", "object", "Float64")
    return pd.DataFrame(
        {name: pd.Series(values, dtype=kind) for name, values, kind in zip(COLUMNS, columns, kinds, strict=True)}
    )


def by_command(ex, folder, path):
    """Return the clusters that `boxwood predict` writes, and what it notes."""
    ex.save(folder / "model.json")
    out = folder / "out.parquet"
    result = CliRunner().invoke(command, ["predict", str(folder / "model.json"), str(path), "-o", str(out)])
    assert result.exit_code == 0, result.output
    return [row[0] for row in duckdb.execute(f"SELECT cluster FROM '{out}'").fetchall()], result.stderr


def as_csv(folder, columns):
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(zip(*columns, strict=True))
    return folder / "t.csv"


def as_json_lines(folder, columns):
    with open(folder / "t.jsonl", "w", encoding="utf-8") as file:
        for row in zip(*columns, strict=True):
            plain = [str(x) if isinstance(x, float) and math.isinf(x) else x for x in row]
            file.write(json.dumps(dict(zip(COLUMNS, plain, strict=True)), allow_nan=False) + "\n")
    return folder / "t.jsonl"


def as_parquet(folder, columns):
    polars_frame(columns, nan=True).write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def in_python(frame_of):
    return lambda ex, folder, columns: ex.predict(frame_of(columns), missing="none").tolist()


def on_command_line(written):
    def labelled(ex, folder, columns):
        found, said = by_command(ex, folder, written(folder, columns))
        n_empty = found.count(None)
        rows = f"{n_empty:,} row{'' if n_empty == 1 else 's'} left without a cluster"
        assert (f"boxwood: {rows}: " in said) == (n_empty > 0)
        return found

    return labelled


def in_duckdb(ex, folder, columns):
    path = as_parquet(folder, columns)
    return [row[0] for row in duckdb.execute(f"SELECT {sql(ex)} FROM '{path}'").fetchall()]


def as_texts(column):
    """Return numbers with all digits, which SQLite would shorten; no text is infinity there, so a huge number is."""
    return [repr(max(min(x, 1e308), -1e308)) if isinstance(x, float) else x for x in column]


def in_sqlite(expression, kinds):
    """Return the door of SQLite, for columns declared as these kinds."""
    return lambda ex, folder, columns: by_sqlite(expression(ex), kinds, columns)


def by_sqlite(expression, kinds, columns):
    quoted = ('"' + name.replace('"', '""') + '"' for name in COLUMNS)
    names = ", ".join(f"{name} {kind}" for name, kind in zip(quoted, kinds, strict=True))
    with sqlite3.connect(":memory:") as con:
        con.execute(f"CREATE TABLE t ({names})")
        stored = [as_texts(c) if kind == "TEXT" else c for kind, c in zip(kinds, columns, strict=True)]
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", zip(*stored, strict=True))
        return [row[0] for row in con.execute(f"SELECT {expression} FROM t ORDER BY rowid").fetchall()]


DOORS = {
    "pandas": in_python(pandas_frame),
    "polars": in_python(lambda columns: polars_frame(columns, nan=True)),
    "arrow": in_python(lambda columns: polars_frame(columns, nan=False).to_arrow()),
    "array": in_python(lambda columns: np.array(list(zip(*columns, strict=True)), dtype=object)),
    "csv": on_command_line(as_csv),
    "parquet": on_command_line(as_parquet),
    "json lines": on_command_line(as_json_lines),
    "duckdb": in_duckdb,
    "sqlite": in_sqlite(sql, [""] * 5),
    "sqlite, declared": in_sqlite(sql, ["REAL", "DOUBLE", "INTEGER", "TEXT", "NUMERIC"]),
    "sqlite, for it": in_sqlite(partial(sql, dialect="sqlite"), [""] * 5),
    "sqlite, as text": in_sqlite(partial(sql, dialect="sqlite"), ["TEXT", "TEXT", "INTEGER", "TEXT", "TEXT"]),
}


def test_sqlite_reads_the_thresholds_of_these_tests_exactly():
    with sqlite3.connect(":memory:") as con:
        assert all(con.execute(f"SELECT {cut!r}").fetchone()[0] == cut for cut in CUTS)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_cluster_or_none(door, tmp_path):
    for seed in seeds(5):
        rng = np.random.default_rng(seed)
        known = categories(rng)
        ex, columns = explanation(rng, known), rows(rng, known, N_ROWS)
        assert DOORS[door](ex, tmp_path, columns) == expected(ex, known, columns), seed


def test_names_that_are_numbers_become_minus_one_where_there_is_no_cluster():
    import boxwood

    X = [[1.0, 0.0], [2.0, 0.0], [8.0, 0.0], [9.0, 0.0]]
    rows = [[1.0, None], [None, 0.0], [pd.NA, 0.0], [9.0, math.nan]]
    for names, kind, none in (
        ([3, 5], "i", -1),
        ([0.5, 5.5], "f", -1),
        (["a", "b"], "O", None),
        ([True, False], "O", None),
    ):
        labels = [names[0], names[0], names[1], names[1]]
        found = boxwood.explain(X, labels).predict(rows, missing="none")
        assert found.dtype.kind == kind
        assert found.tolist() == [names[0], none, none, names[1]]
    with pytest.raises(ValueError, match="missing must be one of 'error', 'none'; got 'skip'"):
        boxwood.explain(X, labels).predict(rows, missing="skip")


# ------------------------------------------------------------------------------------------- kinds of numbers in SQL

WHOLE = (2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53) - 1, 2**62 + 1, 0, 5, -7, 16777217, 2**24)
KINDS = {
    "TINYINT": (-128, -7, 0, 5, 127),
    "UTINYINT": (0, 5, 255),
    "SMALLINT": (-32768, -7, 0, 5, 27000),
    "UINTEGER": (0, 5, 2**32 - 1),
    "BIGINT": WHOLE,
    "UBIGINT": tuple(x for x in WHOLE if x >= 0),
    "HUGEINT": (*WHOLE, 2**100 + 1),
    "FLOAT": (0.1, -0.0, 16777216.0, 16777220.0, 2.5, math.inf, -math.inf, math.nan),
    "DOUBLE": (0.1, -0.0, 16777217.0, 2.5, 2.0**53 + 2, math.inf, -math.inf, math.nan, 5e-324),
    "DECIMAL(10, 2)": (0.1, 27000, 27000.01, -7, 0),
}
THRESHOLDS = (*map(float, WHOLE), 0.1, 2.5, 27000.0, float(np.float32(0.1)), -0.0, 0.5, 16777218.0, 1e300)


@pytest.mark.parametrize("kind", KINDS)
def test_sql_compares_every_kind_of_number_as_a_double(kind):
    values = [*KINDS[kind], None]
    with duckdb.connect() as con, sqlite3.connect(":memory:") as lite:
        for engine in (con, lite):
            engine.execute(f"CREATE TABLE t (i INTEGER, x {kind})")
            fits = [x if engine is con or x is None or abs(x) < 2**63 else float(x) for x in values]
            engine.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(fits)))
        doubles = [row[0] for row in con.execute("SELECT CAST(x AS DOUBLE) FROM t ORDER BY i").fetchall()]
        for t in THRESHOLDS:
            tree = ThresholdTree.from_dict(
                {"feature": 0, "threshold": t, "left": {"cluster": 0}, "right": {"cluster": 1}}
            )
            case = sql_case(tree, ["x"], [0, 1])
            expected = [None if x is None or math.isnan(x) else int(x > t) for x in doubles]
            assert [row[0] for row in con.execute(f"SELECT {case} FROM t ORDER BY i").fetchall()] == expected, t
            known = con.execute(f"SELECT i FROM t WHERE ({case}) = 0 ORDER BY i").fetchall()
            assert [row[0] for row in known] == [i for i, cluster in enumerate(expected) if cluster == 0], t
            if kind == "FLOAT":  # SQLite has no such column
                continue
            found = [row[0] for row in lite.execute(f"SELECT {case} FROM t ORDER BY i").fetchall()]
            assert found == expected, t


@pytest.mark.parametrize(("value", "kind"), [("10", "VARCHAR"), ("true", "BOOLEAN")])
def test_duckdb_refuses_to_compare_text_and_booleans_with_numbers(value, kind):
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0.5, "left": {"cluster": 0}, "right": {"cluster": 1}})
    with duckdb.connect() as con, pytest.raises(duckdb.BinderException, match="Cannot compare values"):
        con.execute(f"SELECT {sql_case(tree, ['x'], [0, 1])} FROM (SELECT CAST('{value}' AS {kind}) AS x)")


def test_the_cast_stands_where_it_is_needed_only():
    def case(t, **options):
        tree = ThresholdTree.from_dict({"feature": 0, "threshold": t, "left": {"cluster": 0}, "right": {"cluster": 1}})
        return sql_case(tree, ["milk"], ["a", "b"], may_hold_nan=False, **options).split("\n")[1]

    assert case(27000.0) == """WHEN "milk" <= 27000 THEN 'a'"""
    assert case(0.1) == """WHEN "milk" <= 0.1e0 THEN 'a'"""
    assert case(2.0**53) == """WHEN CAST("milk" AS DOUBLE) <= 9007199254740992e0 THEN 'a'"""
    assert case(27000.0, may_hold_text=True) == """WHEN CAST("milk" AS DOUBLE) <= 27000 THEN 'a'"""
    with pytest.raises(ValueError, match=r"dialect must be one of 'duckdb', 'sqlite', .*; got 'oracle'"):
        sql(None, dialect="oracle")
