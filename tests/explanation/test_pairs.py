"""Features together: changes by hand, ages, shares, outcomes, loaded models and rules that are read back."""

import re

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests.models import read_model
from tests.scale import law

DAY = "2026-07-31"
EXPORTED = ("duckdb", "postgres", "mysql", "bigquery", "snowflake", "sqlite", "tsql", "oracle", "trino")


def table_of(seed, n=60):
    """Return rows with dates, quarters, a scale and booleans, some of which lack, and labels that these decide."""
    r = np.random.default_rng(seed)
    ages, quarter = r.integers(0, 500, n), r.integers(0, 8, n)
    table = pd.DataFrame({
        "last": (pd.Timestamp(DAY) - pd.to_timedelta(ages, unit="D")).strftime("%Y-%m-%d"),
        "quarter": [f"{2023 + i // 4}-Q{i % 4 + 1}" for i in quarter],
        "opinion": r.choice(["disagree", "neutral", "agree"], n),
        "member": r.random(n) < 0.5,
    })  # fmt: skip
    table["days"] = ages
    by = (ages < r.integers(100, 300), quarter < 4, table.opinion == "agree")[seed % 3]
    labels = np.where(by, "in", np.where(table.member, "member", "out"))
    return table, labels


def replayed(ex, changed):
    """Return the explanation that the lines of `changes` make of another one."""
    for edit in changed.changes:
        known = {"ex": ex}
        exec(str(edit).splitlines()[0], known)
        ex = known["ex"]
    return ex


@law(8)
def test_cuts_of_ages_move_to_other_ages(seed):
    table, labels = table_of(3 * seed)
    ex = bw.explain(table[["last"]], labels, as_of=DAY, method="cart", max_leaf_nodes=2)
    cut = re.search(r"last within the last (.* days)", ex.rules())[1] + " ago"
    to = int(np.random.default_rng(seed).integers(1, 400))
    moved = ex.move_cut("last", cut, to=f"{to} days ago")
    expected = np.where(table.days <= to, *names_of_sides(ex, table))
    assert moved.predict(table, as_of=DAY).tolist() == expected.tolist()
    for changed in (moved, ex.replace_cut(0, "last", f"{to} days ago"), ex.split(0, "last", "1,000 days ago")):
        assert replayed(ex, changed).tree == changed.tree


@law(6)
def test_cuts_of_ages_before_a_column_move_too(seed):
    table, labels = table_of(3 * seed)
    rows = table[["last"]].assign(seen=DAY)
    ex = bw.explain(rows, labels, as_of="seen", method="cart", max_leaf_nodes=2)
    moved = ex.replace_cut(0, "last", "40 days before seen")
    assert moved.tree != ex.tree
    assert replayed(ex, moved).tree == moved.tree
    leaf = moved.apply(rows)
    assert {*leaf[table.days <= 40]}.isdisjoint(leaf[table.days > 40])


def names_of_sides(ex, table):
    """Return the clusters of the latest and of the earliest date."""
    order = table.days.argsort()
    names = ex.predict(table.iloc[[order.iloc[0], order.iloc[-1]]], as_of=DAY)
    return names[0], names[1]


def test_what_is_no_age_is_refused():
    table, labels = table_of(0)
    ex = bw.explain(table[["last"]], labels, as_of=DAY, method="cart", max_leaf_nodes=2)
    for value in (90, "soon", "90 moons ago"):
        with pytest.raises(bw.DataError, match="is no age; expected one such as '30 days ago'"):
            ex.replace_cut(0, "last", value)


@law(6)
def test_shares_are_as_of_a_day(seed):
    table, labels = table_of(3 * seed)
    ex = bw.explain(table[["last"]], labels, as_of=DAY, method="cart", max_leaf_nodes=3)
    leaf = ex.apply(table, as_of=DAY)
    expected = [[np.mean(labels[leaf == i] == name) for name in ex.names] for i in leaf]
    np.testing.assert_allclose(ex.predict_proba(table, as_of=DAY), expected)


@law(6)
def test_a_loaded_model_changes_as_the_one_that_was_saved(seed):
    table, labels = table_of(3 * seed + 2)
    rows, labels = table[["opinion", "member"]], np.where(labels == "in", "in", "out")
    ex = bw.explain(rows, labels, method="cart", max_leaf_nodes=2)
    loaded, given = read_model(ex.to_json()), {"X": rows, "labels": labels}
    for value in (True, False):
        assert loaded.split(0, "member", value, **given).tree == ex.split(0, "member", value).tree
    assert str(loaded.profile(**given)) == str(ex.profile())


@law(6)
def test_outcomes_are_merged_with_their_clusters(seed):
    table, labels = table_of(seed)
    outcomes = pd.DataFrame({"cost": np.random.default_rng(seed).random(len(table))})
    ex = bw.explain(outcomes, labels, by=table[["days", "opinion"]], method="cart", max_leaf_nodes=3)
    for merged in (ex.merge_clusters("in", "out", name="both"), ex.rename({"in": "both", "out": "both"}, merge=True)):
        own = np.where(labels == "member", "member", "both")
        means = [group.mean for group in merged.profile(outcomes=True)[0].clusters]
        assert means == pytest.approx([outcomes.cost[own == name].mean() for name in merged.names])
        assert merged.to_html()
    with pytest.raises(bw.DataError, match="nothing is known of outcomes"):
        ex.evaluate(table, labels).profile(outcomes=True)


@law(6)
def test_sql_of_quarters_and_scales_is_read_back_on_the_table(seed):
    table, labels = table_of(seed)
    rows = table[["quarter", "opinion", "member"]].copy()
    rows.loc[::7, "quarter"] = None
    ex = bw.explain(rows, labels, method="cart", max_leaf_nodes=5)
    for dialect in EXPORTED[seed % 3 :: 3]:
        rules = bw.read_rules(ex.to_sql(dialect), dialect)
        assert rules.predict(rows).tolist() == ex.predict(rows, missing="none").tolist(), dialect


def test_dates_that_can_be_read_in_two_ways_are_refused():
    rules = bw.read_rules("CASE WHEN d < DATE '2024-01-01' THEN 'old' ELSE 'new' END")
    with pytest.raises(bw.DataError, match="in several ways, such as '01/02/2024'; give them as dates"):
        rules.predict({"d": ["01/02/2024", "03/04/2023"]})
    assert rules.predict({"d": ["2024-Q1", "2023-Q2", "NA", None]}).tolist() == ["new", "old", "new", "new"]
