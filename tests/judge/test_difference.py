"""Which rows go from where to where: those of a grid, and of a table; and what moved since an earlier month."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.judge.conditions import truth_of
from boxwood.judge.space import Space
from tests.judge.test_check import AT_MOST, grid, small
from tests.scale import law


def name_of(rules, row):
    """Return what a row of cells gets."""
    held = (one.name for one in rules.branches if truth_of(one.condition, row) is True)
    return next(held, rules.otherwise)


@law(40)
def test_the_moves_are_those_of_a_grid(seed):
    rng = np.random.default_rng(seed)
    old, new = bw.read_rules(small(rng)), bw.read_rules(small(rng))
    columns = Space([one.condition for rules in (old, new) for one in rules.branches]).columns
    rows = list(grid(columns))
    assert len(rows) < AT_MOST
    pairs = Counter((name_of(old, row), name_of(new, row)) for row in rows)
    expected = {pair for pair in pairs if pair[0] != pair[1]}
    found = old.difference(new)
    assert {(one.before, one.now) for one in found.moves} == expected
    assert bool(found) == bool(expected)
    assert (str(found) == "Every possible row gets the same.") == (not expected)


@law(12)
def test_rows_of_a_table_are_counted(seed):
    rng, n = np.random.default_rng(seed), 80
    old, new = bw.read_rules(small(rng)), bw.read_rules(small(rng))
    frame = pd.DataFrame({
        "a": rng.choice([0.0, 1.0, 2.5, 3.0, 4.0, 5.0, 7.0, np.nan], n),
        "b": pd.Series(rng.choice(["x", "X", "y", "z", "w", None], n), dtype=object),
        "f": pd.Series(rng.choice([True, False, None], n), dtype=object),
    })  # fmt: skip
    pairs = Counter(zip(old.predict(frame).tolist(), new.predict(frame).tolist(), strict=True))
    found = old.difference(new, frame)
    assert {(one.before, one.now): one.rows for one in found.moves if one.rows} == {
        pair: rows for pair, rows in pairs.items() if pair[0] != pair[1]
    }
    assert [one.rows for one in found.moves] == sorted((one.rows for one in found.moves), reverse=True)


@law(12)
def test_shorter_rules_differ_nowhere(seed):
    rules = bw.read_rules(small(np.random.default_rng(seed)))
    assert not rules.difference(rules.simplified())


def test_an_explanation_of_rules_tells_what_it_gives_up():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"orders": rng.integers(0, 20, 300), "plan": rng.choice(["free", "team"], 300)})
    rules = bw.read_rules({"fan": "orders > 15", "pays": "plan == 'team'", "other": "else"})
    ex = bw.explain(frame, rules, max_leaf_nodes=2)
    moved = sum(one.rows for one in rules.difference(ex, frame).moves)
    assert moved == round(300 * (1 - ex.agreement))


def test_branches_that_grew_or_shrank_beyond_chance_are_told():
    rng = np.random.default_rng(1)
    june, july, small_one = (
        pd.DataFrame({"orders": rng.integers(0, most, n)}) for most, n in ((20, 400), (30, 500), (9, 9))
    )
    rules = bw.read_rules("CASE WHEN orders > 15 THEN 'fan' WHEN orders > 5 THEN 'regular' ELSE 'rare' END")
    check = rules.check(july, before=june)
    assert {one.kind for one in check.findings if one.branch and one.branch.name == "fan"} >= {"grew"}
    assert [one.taken_then for one in check.branches] == [one.taken for one in rules.check(june).branches]
    assert "share before" in str(check)
    assert "took" in next(one["sentence"] for one in check.to_dict()["findings"] if one["kind"] == "grew")
    assert not {"grew", "shrank"} & {one.kind for one in rules.check(july, before=july).findings}
    assert not {"grew", "shrank"} & {one.kind for one in rules.check(july, before=small_one).findings}
    assert rules.check(july, before=rules.check(june)) == check


def test_what_cannot_be_compared_is_refused():
    rules, frame = bw.read_rules({"a": "x > 1", "b": "else"}), pd.DataFrame({"x": [1, 2]})
    with pytest.raises(ValueError, match="before needs a table"):
        rules.check(before=frame)
    with pytest.raises(DataError, match="rules with the same branches"):
        rules.check(frame, before=bw.read_rules({"a": "x > 1", "c": "else"}).check(frame))
    with pytest.raises(DataError, match="rules with the same branches"):
        rules.check(frame, before=rules.check())


def test_ages_of_an_earlier_month_count_from_its_day():
    text = "CASE WHEN seen >= CURRENT_DATE - 30 THEN 'new' ELSE 'gone' END"
    days = np.arange(60)
    june = pd.DataFrame({"seen": pd.Timestamp("2026-06-30") - pd.to_timedelta(days, unit="D")})
    july = pd.DataFrame({"seen": pd.Timestamp("2026-07-31") - pd.to_timedelta(days, unit="D")})
    before = bw.read_rules(text, today="2026-06-30").check(june)
    check = bw.read_rules(text, today="2026-07-31").check(july, before=before)
    assert [(one.taken, one.taken_then) for one in check.branches] == [(31, 31), (29, 29)]
