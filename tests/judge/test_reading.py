"""What is read as rules, what is refused and where, and that no text does harm."""

import textwrap
import time
from contextlib import suppress
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import boxwood as bw
from boxwood.errors import DataError
from tests.judge import rule_sets
from tests.scale import each, law

PUBLISHED = {  # as such segments stand in blogs and repositories: made anew
    "rfm": "CASE WHEN r >= 4 AND f >= 4 AND m >= 4 THEN 'Champions' WHEN r >= 3 AND f >= 3 THEN 'Loyal' "
    "WHEN r <= 2 AND f >= 3 THEN 'At risk' WHEN r = 1 THEN 'Lost' ELSE 'Others' END",
    "grades": "CASE WHEN score >= 750 THEN 'A' WHEN score BETWEEN 700 AND 749 THEN 'B' WHEN score < 700 THEN 'C' END",
    "ages": "SELECT id, CASE WHEN age < 18 THEN '<18' WHEN age BETWEEN 18 AND 34 THEN '18-34' ELSE '35+' END b FROM t",
    "simple": "CASE plan WHEN 'free' THEN 0 WHEN 'team' THEN 1 ELSE NULL END",
    "churn": "CASE WHEN last_login >= CURRENT_DATE - INTERVAL '30 days' THEN 'active' "
    "WHEN last_login >= CURRENT_DATE - INTERVAL '90 days' THEN 'fading' ELSE 'churned' END",
    "lower": "CASE WHEN LOWER(TRIM(status)) IN ('open', 'new') THEN 'todo' WHEN status IS NULL THEN 'none' END",
    "nested": "CASE WHEN country = 'AT' THEN CASE WHEN age >= 60 THEN 'senior' ELSE 'adult' END ELSE 'abroad' END",
    "flags": "CASE WHEN is_paying AND NOT is_trial THEN 'paying' WHEN is_trial = TRUE THEN 'trial' END",
    "null": "CASE WHEN COALESCE(spend, 0) = 0 THEN 'none' WHEN spend < 100 THEN 'low' ELSE 'high' END",
    "cast": "CASE WHEN CAST(amount AS DECIMAL(10, 2)) > 99.5 THEN 'big' ELSE 'small' END",
    "dates": "CASE WHEN joined < DATE '2024-01-01' THEN 'old' WHEN joined >= '2024-01-01' THEN 'new' END",
    "codes": "CASE WHEN icd IN ('E10', 'E11') THEN 'diabetes' WHEN icd = 'I10' THEN 'pressure' ELSE 'other' END",
    "dbt": "{{ config(materialized='table') }}\nselect *, case when orders > 3 then 'loyal' else 'new' end as s\n"
    "from {{ ref('orders') }}",
    "cte": "WITH t AS (SELECT * FROM x) SELECT CASE WHEN t.a > 1 THEN 'x' ELSE 'y' END FROM t WHERE t.b = 2",
    "days": "CASE WHEN DATEDIFF('day', last_order, CURRENT_DATE) <= 30 THEN 'hot' ELSE 'cold' END",
    "negated": "CASE WHEN NOT (a = 1 OR b <> 'x') THEN 'p' END",
    "promoters": "CASE WHEN nps >= 9 THEN 'promoter' WHEN nps >= 7 THEN 'passive' WHEN nps >= 0 THEN 'detractor' END",
    "responses": "CASE WHEN code BETWEEN 200 AND 299 THEN 'ok' WHEN code BETWEEN 400 AND 499 THEN 'client' "
    "WHEN code >= 500 THEN 'server' ELSE 'other' END",
    "body mass": "SELECT CASE WHEN bmi < 18.5 THEN 'under' WHEN bmi < 25 THEN 'normal' WHEN bmi < 30 THEN 'over' "
    "WHEN bmi IS NOT NULL THEN 'obese' ELSE 'unknown' END AS class FROM visits",
    "delivery": "COALESCE(CASE WHEN status LIKE 'returned' THEN 'back' WHEN days_late > 3 AND status <> 'lost' "
    "THEN 'late' END, 'in time')",
    "counted": "SELECT region, SUM(CASE WHEN paid_at IS NULL AND due < CURRENT_DATE THEN 1 ELSE 0 END) FROM bills "
    "GROUP BY 1",
    "whole": "CASE WHEN x > 1e3 THEN 1 WHEN x > -.5 THEN 2 ELSE 3 END",
}
REFUSED = [
    ("CASE WHEN name LIKE 'a%' THEN 1 END", "line 1, column 11: expected a comparison"),
    ("CASE WHEN name LIKE 'a%' THEN 1 END", "list the values that are meant with IN"),
    ("CASE WHEN a = 1 THEN 'x' WHEN name ILIKE 'x%' THEN 2 END", "line 1, column 31: .*list the values"),
    ("SELECT UPPER(CASE WHEN a > 1 THEN 'x' END) FROM t", "line 1, column 24: expected a CASE by itself"),
    ("SELECT 'x' || CASE WHEN a > 1 THEN 'x' END", "give the CASE alone"),
    ("SELECT * FROM t WHERE CASE WHEN a > 1 THEN 'x' END = 'x'", "a CASE within EQ"),
    ("CASE WHEN EXTRACT(YEAR FROM d) = 2024 THEN 1 END", "line 1, column"),
    ("CASE WHEN LENGTH(code) = 5 THEN 1 END", "line 1, column"),
    ("CASE WHEN a > b THEN 1 END", "expected a column beside a value"),
    ("CASE WHEN a > 1 THEN 1\n  WHEN sqrt(a) > 2 THEN 2 END", r"line 2, column 8: .*got 'sqrt\(a\)'"),
    ("CASE WHEN a > (SELECT 1) THEN 1 END", "line 1, column"),
    ("CASE WHEN a > {{ var('x') }} THEN 1 END", "a template in braces"),
    ("CASE WHEN CAST(a AS INT) > 1 THEN 1 END", "some engines cut and others round"),
    ("CASE WHEN a > 'm' THEN 1 END", "order texts in different ways"),
    ("CASE WHEN a > 9007199254740993 THEN 1 END", "a number that a double holds"),
    ("CASE WHEN a > 1 THEN b END", "expected a name"),
    ("CASE WHEN t.a > 1 AND u.a > 1 THEN 1 END", "one table for a"),
    ("CASE WHEN a > THEN 1 END", "line 1, column"),
    ("SELECT 1", "expected one CASE; got none"),
    (
        "SELECT CASE WHEN a > 1 THEN 1 END,\n CASE WHEN a > 2 THEN 1 END",
        "expected one CASE; got 2 of them, at lines 1, 2",
    ),
    ("CASE WHEN " + "(" * 99 + "a > 1" + ")" * 99 + " THEN 1 END", "brackets within one another"),
    ("CASE WHEN a > 1 THEN 1 END" + " " * 200_000, "at most 100,000"),
    ("CASE WHEN a > 1 'x' ELSE 'y' END", "line 1, column 21: expected THEN after each WHEN; got 'ELSE'"),
    ("CASE WHEN a * 12 >= 120 THEN 1 END", r"got 'a \* 12'; bring the arithmetic to the other side"),
    ("CASE WHEN CAST(`a` AS DECIMAL) > 1 THEN 1 END", "to a DECIMAL with its decimals; .*engines differ in how"),
    ("CASE WHEN (a > 1) = 'x' THEN 1 END", "TRUE or FALSE beside a condition"),
    ("def f(row):\n    return row['a'] + 1", "line 2"),
    ("def f(row):\n    import os\n    return 1", "line 2, column 5: expected if, elif"),
    ("def f(row):\n    if __import__('os').system('x'):\n        return 1", "line 2, column 8"),
]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_rules_are_read(name):
    rules = bw.read_rules(PUBLISHED[name])
    assert len(rules.branches) >= 1
    assert str(rules.check())
    again = bw.read_rules(rules.to_sql())
    assert [one.name for one in again.branches if not one.is_implied][:1] == [rules.branches[0].name]


@each("text, said", REFUSED)
def test_what_is_not_understood_is_refused_by_its_place(text, said):
    with pytest.raises(DataError, match=said):
        bw.read_rules(text)


def test_python_is_read():
    source = textwrap.dedent(
        """
        def segment(row):
            "Not run."
            if row["age"] < 18 and row["plan"] != "team":
                return "child"
            elif row.age >= 65 or row["plan"] is None:
                return "senior"
            return "adult"
        """
    )
    rules = bw.read_rules(source)
    table = {"age": [3, 3, 70, 30, 30, None], "plan": ["x", "team", "x", None, "x", "x"]}
    assert rules.predict(table).tolist() == ["child", "adult", "senior", "senior", "adult", "adult"]


def test_tables_of_rules_are_read(tmp_path):
    frame = pd.DataFrame({"name": ["a", "b", "c"], "condition": ["x > 3", "x <= 3 AND y = 'k'", "else"]})
    frame.to_csv(tmp_path / "rules.csv", index=False)
    rows = {"x": [4, 1, 1], "y": ["k", "k", "j"]}
    for source in (frame, tmp_path / "rules.csv", list(zip(frame["name"], frame["condition"], strict=True))):
        assert bw.read_rules(source).predict(rows).tolist() == ["a", "b", "c"]


@law(12)
def test_trees_of_scikit_learn_are_read(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)).astype(np.float32).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 80)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    near = np.repeat(tree.tree_.threshold[(tree.tree_.feature >= 0) & np.isfinite(tree.tree_.threshold)], 3)
    rows = np.concatenate([X, np.nextafter(near, rng.choice([-9, 9, 0], len(near)))[:, None].repeat(3, axis=1)])
    table = {f"x{j}": rows[:, j].tolist() for j in range(3)}
    assert bw.read_rules(tree).predict(table).tolist() == tree.predict(rows).tolist()


def damage(rng, text):
    """Return a text with a few parts gone, twice, exchanged or odd."""
    for _ in range(int(rng.integers(1, 5))):
        i, j = sorted(rng.integers(0, len(text) + 1, 2).tolist())
        j = min(j, i + int(rng.integers(0, 12)))
        odd = str(
            rng.choice(["(", ")", "'", '"', "NOT ", "CASE ", " END", "\0", "{{", "[", "/*", "--", "é", "NULL", "1e999"])
        )
        text = text[:i] + str(rng.choice(["", text[i:j] * 2, odd, odd * 40])) + text[j:]
    return text


@cache
def own_code():
    """Return rules in the code that boxwood writes."""
    table = pd.DataFrame({"orders": [1, 2, 8, 9], "plan": ["free", "free", "team", None]})
    ex = bw.explain(table, ["new", "new", "loyal", "gone"], method="cart")
    return ex.to_python(), ex.to_javascript(), ex.to_formula(), ex.to_formula(separator=";")


@law(300)
def test_damaged_texts_are_read_or_refused(seed):
    rng = np.random.default_rng(seed)
    texts = [
        *PUBLISHED.values(),
        rule_sets.planted(seed % 7)[0],
        "def f(r):\n    if r.a > 1:\n        return 'x'\n    return 'y'",
        *own_code(),
    ]
    text = damage(rng, texts[int(rng.integers(len(texts)))])
    start = time.process_time()
    with suppress(DataError, FileNotFoundError):
        str(bw.read_rules(text).check())
    assert time.process_time() - start < 2, text


BY_SQL = [  # what is read, and the names of four rows: a is 1, 5, 9 and missing, b is x, "X ", missing and y
    ("SELECT IF(a > 3, 'x', 'y') FROM t", None, ["y", "x", "x", "y"]),
    ("SELECT IIF(a > 3, 'x', IIF(b = 'y', 'z', 'w')) FROM t", "tsql", ["w", "x", "x", "z"]),
    ("CASE WHEN b IS DISTINCT FROM 'x' THEN 1 ELSE 2 END", None, [2, 1, 1, 1]),
    ("CASE WHEN b IS NOT DISTINCT FROM NULL THEN 1 ELSE 2 END", "postgres", [2, 2, 1, 2]),
    ("CASE WHEN b <=> 'x' THEN 1 ELSE 2 END", "mysql", [1, 2, 2, 2]),
    ("CASE WHEN LTRIM(RTRIM(b)) = 'X' THEN 1 ELSE 2 END", "tsql", [2, 1, 2, 2]),
    ("CASE WHEN LOWER(TRIM(b)) = 'x' THEN 1 ELSE 2 END", None, [1, 1, 2, 2]),
    ("CASE WHEN a NOT BETWEEN 2 AND 6 THEN 1 ELSE 2 END", None, [1, 2, 1, 2]),
    ("CASE WHEN 3 < a THEN 1 WHEN NULL THEN 2 ELSE 3 END", None, [3, 1, 1, 3]),
    ("CASE WHEN NVL(b, 'none') = 'none' THEN 1 ELSE 2 END", "oracle", [2, 2, 1, 2]),
    ("CASE WHEN a >= CAST('5' AS INT) AND a < 9::BIGINT THEN 1 ELSE 2 END", "postgres", [2, 1, 2, 2]),
    ("CASE WHEN (a > 3 AND b = 'y') IS NULL THEN 1 ELSE 2 END", None, [2, 2, 1, 1]),
    ("CASE TRUE WHEN a > 3 THEN 1 WHEN b = 'y' THEN 2 ELSE 3 END", None, [3, 1, 1, 2]),
    ("SELECT CASE WHEN a > 3 THEN 1 END AS s FROM t GROUP BY CASE WHEN a > 3 THEN 1 END", None, [None, 1, 1, None]),
    ({"p": "1 < a <= 5", "q": "a == [1, 9]"}, None, ["q", "p", "q", None]),
    ({"p": "b.fillna('y') == 'y'", "q": "a.between(1, 4)"}, None, ["q", None, "p", "p"]),
    ({"p": "a > 3 and b != 'x'", "q": "a IS NULL"}, None, [None, "p", None, "q"]),
    (pd.DataFrame({"name": ["p", "q"], "condition": ["a > 3", np.nan]}), None, ["q", "p", "p", "q"]),
    (
        "def s(row):\n    return 'x' if row['a'] > 3 else 'y' if row['b'] in ('x', None) else 'z'",
        None,
        ["y", "x", "x", "z"],
    ),
]


@each("source, dialect, names", BY_SQL)
def test_rows_get_their_names(source, dialect, names):
    rules = bw.read_rules(source, dialect)
    assert rules.predict({"a": [1, 5, 9, None], "b": ["x", "X ", None, "y"]}).tolist() == names


BY_DAY = [  # what is read as of 2026-07-31, and whether it holds on 2026-01-31, 2026-07-01, and a missing day
    ("seen >= CONVERT(date, '2026-07-01')", "tsql", [False, True, False]),
    ("seen >= '20260701'", "tsql", [False, True, False]),
    ("seen = '2026-07-01'", None, [False, True, False]),
    ("seen NOT IN ('2026-07-01', '2026-07-02')", None, [True, False, False]),
    ("seen > ADD_MONTHS(CURRENT_DATE, -6)", "snowflake", [False, True, False]),
]


@each("condition, dialect, holds", BY_DAY)
def test_days_are_compared_as_days(condition, dialect, holds):
    rules = bw.read_rules(f"CASE WHEN {condition} THEN 1 ELSE 0 END", dialect, today="2026-07-31")
    days = pd.to_datetime(pd.Series(["2026-01-31", "2026-07-01", None]))
    assert rules.predict(pd.DataFrame({"seen": days})).tolist() == holds
    assert not [one for one in rules.check({"seen": days.dt.date}).findings if one.kind in ("types", "never met")]


def test_every_row_is_said_as_such():
    assert "get ELSE (cluster 2); for every row" in str(bw.read_rules("CASE WHEN b = NULL THEN 1 ELSE 2 END").check())
