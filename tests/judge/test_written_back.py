"""Every SQL that boxwood writes is read back as the same rules: no row differs, at cuts, without values and unseen."""

import datetime

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.render.forms.dialects import DIALECTS
from tests.rule_cases import (
    COLUMNS,
    categories,
    categories_with_missing,
    expected,
    explanation,
    explanation_with_gaps,
    rows,
)
from tests.scale import drawn, law

DIALECTS_NOW = sorted(DIALECTS)


def case(seed, *, in_sheet=False):
    """Return an explanation, a table, and the cluster of each row; IN: in_sheet: no cell of it has an empty text."""
    rng = np.random.default_rng(seed)
    with_gaps = seed % 2 == 1
    known = categories_with_missing(rng) if with_gaps else categories(rng)
    ex = (explanation_with_gaps if with_gaps else explanation)(rng, known)
    columns = rows(rng, known, 40)
    if in_sheet:
        columns = [[None if value == "" else value for value in column] for column in columns]
    return ex, dict(zip(COLUMNS, columns, strict=True)), expected(ex, known, columns)


@law(24)
def test_sql_is_read_back(seed):
    ex, table, right = case(seed)
    for dialect in drawn(DIALECTS_NOW, seed // 2):
        layout = "nested" if ex.tree.depth <= 10 and seed % 3 == 0 else "flat"
        rules = bw.read_rules(ex.to_sql(dialect, layout=layout), dialect)
        assert rules.predict(table).tolist() == right, dialect


@law(24)
def test_our_own_code_is_read_back(seed):
    read_back_code(seed)


@pytest.mark.full
@law(2000, first=24)
def test_much_of_our_own_code_is_read_back(seed):
    read_back_code(seed)


def read_back_code(seed):
    """Compare what Python, JavaScript and a formula that are read give with the tree."""
    ex, table, right = case(seed)
    for text in (ex.to_python(), ex.to_javascript(module=seed % 3 == 0)):
        assert bw.read_rules(text).predict(table).tolist() == right
    ex, table, right = case(seed, in_sheet=True)
    formula = ex.to_formula(let=seed % 5 > 0, separator=",;"[seed // 2 % 2])
    assert bw.read_rules(formula).predict(table).tolist() == right


@law(12)
def test_sql_with_reasons_is_read_back(seed):
    ex, table, right = case(seed)
    for dialect in drawn(DIALECTS_NOW, seed // 2):
        layout = "nested" if seed % 3 else "flat"
        rules = bw.read_rules(ex.to_sql(dialect, layout=layout, reasons=True), dialect)
        found = rules.predict(table).tolist()
        assert [name if own is not None else own for name, own in zip(found, right, strict=True)] == [
            own if own is None else str(own) for own in right
        ], dialect


def test_coalesce_gives_what_a_case_leaves_open():
    text = "COALESCE(CASE WHEN a > 5 THEN NULL WHEN a > 3 THEN 'x' END, CASE WHEN a > 7 THEN 'y' END, NULL, 'z')"
    assert bw.read_rules(text).predict({"a": [9, 6, 4, 1, None]}).tolist() == ["y", "z", "x", "z", "z"]
    one = bw.read_rules("SELECT COALESCE(CASE WHEN a > 5 THEN 'x' END, 'rest') AS s FROM t")
    assert one.predict({"a": [9, 1, None]}).tolist() == ["x", "rest", "rest"]


@law(8)
def test_sql_of_ages_is_read_back_as_of_any_day(seed):
    r = np.random.default_rng(seed)
    days = pd.Timestamp("2026-07-31") - pd.to_timedelta(r.integers(0, 400, 60), unit="D")
    table = pd.DataFrame({"seen": days, "orders": r.integers(0, 30, 60)})
    labels = np.where(days < pd.Timestamp("2026-04-01"), "gone", np.where(table["orders"] > 9, "loyal", "new"))
    ex = bw.explain(table, labels, as_of="2026-07-31", method="cart")
    today = datetime.date(2026, 7, 31) + datetime.timedelta(days=int(r.integers(-90, 90)))
    right = ex.predict(table, as_of=today).tolist()
    for text in (ex.to_python(), ex.to_javascript(), ex.to_formula()):
        assert bw.read_rules(text, today=today).predict(table).tolist() == right
    for dialect in drawn(DIALECTS_NOW, seed):
        assert bw.read_rules(ex.to_sql(dialect), dialect, today=today).predict(table).tolist() == right, dialect


AGES = (
    "seen >= CURRENT_DATE - {n}",
    "seen < CURRENT_DATE - INTERVAL '{m} months'",
    "DATEDIFF('day', seen, CURRENT_DATE) {sign} {n}",
    "DATEDIFF('day', seen, CURRENT_DATE) > {n}.5",
    "CURRENT_DATE - seen::DATE BETWEEN {m} AND {n}",
    "seen::DATE > CURRENT_DATE - INTERVAL '{m} months' - INTERVAL '{m} days'",
)


@law(12)
def test_ages_that_others_wrote_are_written_as_ages(seed):
    r = np.random.default_rng(seed)
    given = {"n": r.integers(9, 200), "m": r.integers(1, 9), "sign": r.choice(["<", "<=", ">", ">=", "="])}
    text = f"CASE WHEN {AGES[seed % len(AGES)].format(**given)} THEN 1 ELSE 0 END"
    table = pd.DataFrame(
        {"seen": pd.Timestamp("2026-03-31 15:00") - pd.to_timedelta(r.integers(0, 600, 90) / 2, unit="D")}
    )
    today = datetime.date(2026, 3, 31) - datetime.timedelta(days=int(r.integers(40)))
    right = bw.read_rules(text, today=today).predict(table).tolist()
    rules = bw.read_rules(text, today="2026-07-31")
    for dialect in drawn(sorted({*DIALECTS_NOW} - {"oracle"}), seed):
        assert bw.read_rules(rules.to_sql(dialect), dialect, today=today).predict(table).tolist() == right, dialect


def test_ages_that_count_from_a_day_in_a_column_are_refused():
    seen = pd.Timestamp("2026-07-31") - pd.to_timedelta(np.arange(40) * 9, unit="D")
    table = pd.DataFrame({"seen": seen, "day": pd.Timestamp("2026-07-31")})
    ex = bw.explain(table, np.where(np.arange(40) < 20, "here", "gone"), as_of="day", method="cart")
    for text in (ex.to_python(), ex.to_javascript()):
        with pytest.raises(bw.DataError, match=r"one day for all rows.*a day in a column"):
            bw.read_rules(text)
