"""Rules as a tree: each row gets what the rules give it, in every form; other rules are refused, by the condition."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.errors import DataError
from tests.judge.rule_sets import DATES, case, condition, sound, table
from tests.scale import each, law, share

AGED = "CASE WHEN seen >= CURRENT_DATE - 30 THEN 'new' WHEN seen >= CURRENT_DATE - 365 THEN 'known' ELSE 'gone' END"


def frame_of(rows):
    """Return a frame with its dates as dates."""
    return pd.DataFrame({name: pd.to_datetime(x) if name in DATES else x for name, x in rows.items()})


@law(24)
def test_each_row_gets_what_the_rules_give_it_in_all_forms(seed):
    rng = np.random.default_rng(seed)
    leaves = sound(rng, int(rng.integers(2, 7)))
    names = rng.integers(0, 4, len(leaves)).tolist()
    rules = bw.read_rules(case([(condition(leaf), f"S{i}") for leaf, i in zip(leaves, names, strict=True)]))
    frame = frame_of(table(rng, 60)).iloc[:-1]
    frame = frame.mask(rng.random(frame.shape) < rng.choice([0, 0.1]))
    frame = frame[frame[list(rules.columns)].notna().any(axis=1)]  # rows without any value are left out
    expected = rules.predict(frame)
    if not {*rules.names} <= {*expected.tolist()} or len({*expected.tolist()}) < 2:
        return  # a branch without rows is refused, which another test is for
    share(1)
    ex = rules.explanation(frame)
    assert ex.agreement == 1
    assert ex.predict(frame).tolist() == expected.tolist()
    assert duckdb.sql(ex.to_sql("duckdb", "frame")).df()["cluster"].tolist() == expected.tolist()
    again = bw.read_rules(ex.to_sql("duckdb"), "duckdb")
    assert again.predict(frame).tolist() == expected.tolist()


def test_it_is_measured_against_labels():
    rules = bw.read_rules("CASE WHEN age < 18 THEN 'child' ELSE 'adult' END")
    ex = rules.explanation(pd.DataFrame({"age": [3, 17, 18, 40]}), ["child", "adult", "adult", "adult"])
    assert ex.agreement == 0.75
    assert ex.clusters[0].name == "adult"
    assert str(ex.rules()) == "adult: age >= 18\nchild: age < 18"


def test_ages_stay_ages():
    seen = pd.Timestamp("2026-07-31") - pd.to_timedelta([3, 40, 100, 900], unit="D")
    ex = bw.read_rules(AGED, today="2026-07-31").explanation(pd.DataFrame({"seen": seen}))
    assert "seen within the last 30 days" in str(ex.rules())
    assert "CURRENT_DATE" in ex.to_sql()


REFUSED = [
    (
        "CASE WHEN age < 10 THEN 'child' WHEN age < 25 THEN 'adult' END",
        "rows that no branch takes get NULL, but a tree gives each row a cluster",
    ),
    (
        "CASE WHEN age < 10 THEN NULL WHEN age < 25 THEN 'young' ELSE 'adult' END",
        r"branch 1 \(NULL, line 1\) gives some rows NULL",
    ),
    (
        "CASE WHEN age < 1 THEN 'baby' WHEN age < 10 THEN 'child' ELSE 'adult' END",
        r"no row of the table gets baby \(branch 1 \(baby, line 1\)\)",
    ),
    ("CASE WHEN years < 18 THEN 'child' ELSE 'adult' END", "the table has no column years"),
    (
        "CASE WHEN age < DATE '2026-01-01' THEN 'a' WHEN n > 1 THEN 'c' ELSE 'b' END",
        "age holds no dates, and is compared with dates",
    ),
    (
        "CASE WHEN day < DATE '2026-02-01' THEN 'a' WHEN day < CURRENT_DATE - 9 THEN 'b' ELSE 'c' END",
        "compare dates with today and with fixed days",
    ),
]


@each("text, said", REFUSED)
def test_rules_that_are_no_tree_are_refused(text, said):
    days = pd.to_datetime(["2026-01-01", "2026-02-03", "2026-03-01"])
    frame = pd.DataFrame({"age": [3, 20, 30], "day": days, "n": [1, 2, 3]})
    with pytest.raises(DataError, match=said):
        bw.read_rules(text, today="2026-02-20").explanation(frame)
