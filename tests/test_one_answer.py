"""Kinds of names and of numbers: what stands for no cluster, and what SQL compares as a double."""

import math
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

from boxwood.render import sql
from boxwood.render.forms.sql import sql_case
from boxwood.tree import ThresholdTree
from tests.rule_cases import explained_by


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
    with pytest.raises(ValueError, match="missing must be one of 'warn', 'none', 'error'; got 'skip'"):
        boxwood.explain(X, labels).predict(rows, missing="skip")
    assert "THEN 'true'" in boxwood.explain(X, labels).to_sql("sqlite")  # as files have it


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
            typed = explained_by(tree, ("x",), (0, 1)).to_sql(types={"x": kind})
            expected = [None if x is None or math.isnan(x) else int(x > t) for x in doubles]
            assert [row[0] for row in con.execute(f"SELECT {case} FROM t ORDER BY i").fetchall()] == expected, t
            assert ("isnan" in typed) == (kind in ("FLOAT", "DOUBLE"))
            assert [row[0] for row in con.execute(f"SELECT {typed} FROM t ORDER BY i").fetchall()] == expected, t
            known = con.execute(f"SELECT i FROM t WHERE ({case}) = 0 ORDER BY i").fetchall()
            assert [row[0] for row in known] == [i for i, cluster in enumerate(expected) if cluster == 0], t
            if kind == "FLOAT":  # SQLite has no such column
                continue
            case = sql_case(tree, ["x"], [0, 1], nan=False)
            found = [row[0] for row in lite.execute(f"SELECT {case} FROM t ORDER BY i").fetchall()]
            assert found == expected, t


@pytest.mark.parametrize(("value", "kind"), [("10", "VARCHAR"), ("true", "BOOLEAN")])
def test_duckdb_refuses_to_compare_text_and_booleans_with_numbers(value, kind):
    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 0.5, "left": {"cluster": 0}, "right": {"cluster": 1}})
    with duckdb.connect() as con, pytest.raises(duckdb.BinderException, match=r"Cannot compare values|isnan"):
        con.execute(f"SELECT {sql_case(tree, ['x'], [0, 1])} FROM (SELECT CAST('{value}' AS {kind}) AS x)")


def test_the_cast_stands_where_it_is_needed_only():
    def case(t, **options):
        tree = ThresholdTree.from_dict({"feature": 0, "threshold": t, "left": {"cluster": 0}, "right": {"cluster": 1}})
        return sql_case(tree, ["milk"], ["a", "b"], nan=False, **options).split("\n")[1].strip()

    assert case(27000.0) == """WHEN "milk" <= 27000 THEN 'a'"""
    assert case(0.1) == """WHEN "milk" <= 0.1e0 THEN 'a'"""
    assert case(2.0**53) == """WHEN CAST("milk" AS DOUBLE) <= 9007199254740992e0 THEN 'a'"""
    assert case(27000.0, may_hold_text=True) == """WHEN CAST("milk" AS DOUBLE) <= 27000 THEN 'a'"""
    with pytest.raises(ValueError, match=r"dialect must be one of 'duckdb', 'sqlite', .*; got 'dbase'"):
        sql(None, dialect="dbase")
