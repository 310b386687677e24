"""Columns of a plan are left out where boxwood makes the clusters, and say what these are."""

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.columns.plan import FEWEST_CELLS, plan_among
from boxwood.columns.rules import COME_EQUALLY, LIKE_IDENTIFIER, OF_PLAN
from boxwood.columns.seen import SeenValues
from tests.doors import DOORS
from tests.scale import law


def plan(rng, n_values, times):
    """Return each combination of some codes, so many times, in any order."""
    cells = np.stack(np.meshgrid(*map(np.arange, n_values)), axis=-1).reshape(-1, len(n_values))
    return rng.permutation(np.repeat(cells, times, axis=0)).astype(float)


def names_of(columns):
    return plan_among([SeenValues(str(j), x) for j, x in enumerate(columns)])


@law(200)
def test_all_columns_of_a_plan_are_found_and_no_others(seed):
    rng = np.random.default_rng(seed)
    n_values = rng.integers(2, 6, rng.integers(2, 5)).tolist()
    if np.prod(sorted(n_values)[:2]) < FEWEST_CELLS:
        n_values[0] = 5
    columns = plan(rng, n_values, max(1, -(-24 // int(np.prod(n_values)))) + int(rng.integers(3)))
    n_rows = len(columns)
    others = [rng.integers(0, 4, n_rows) * 1.0, rng.normal(size=n_rows), np.arange(n_rows) * 1.0]
    wanted = {str(j) for j in range(len(n_values)) if any(n * n_values[j] >= FEWEST_CELLS for n in n_values)}
    assert names_of([*columns.T, *others]) == wanted
    first, second = columns[:, 0].copy(), columns[:, 1]
    i = int(np.flatnonzero((first != first[0]) & (second != second[0]))[0])
    first[[0, i]] = first[[i, 0]]
    assert not names_of([first, second])  # two values are exchanged
    assert not names_of([columns[1:, 0], columns[1:, 1]])  # a row is missing
    assert not names_of([np.where(np.arange(n_rows) == 0, np.nan, columns[:, 0]), columns[:, 1]])


def test_by_chance_columns_are_hardly_crossed():
    rng, found = np.random.default_rng(0), 0
    for n_rows in (24, 30, 60, 120, 600):
        for _ in range(400):
            likely = [rng.integers(0, n, n_rows) * 1.0 for n in (2, 2, 3, 3, 4, 5)]
            found += bool(names_of(likely))
    assert found <= 6  # of 2,000 tables


def test_samples_of_equal_size_and_two_flags_are_no_plan():
    kind = np.repeat([0.0, 1, 2], 50)
    sex = np.tile([0.0, 1.0], 100)
    assert not names_of([kind, np.random.default_rng(0).permutation(kind)])
    assert not names_of([sex, np.repeat([0.0, 1.0], 100)])


@law(20)
def test_what_goes_with_a_person_is_no_plan_of_the_days_when_all_were_seen(seed):
    rng = np.random.default_rng(seed)
    person, day = plan(rng, (2 * int(rng.integers(4, 40)), int(rng.integers(3, 9))), 1).T
    assert names_of([person, day, person % 2]) == {"0", "1"}


@pytest.mark.parametrize("door", ["pandas", "polars", "scan of CSV"])
def test_clusters_are_of_what_was_measured_and_the_plan_says_what_they_are(door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    field, kind, dose = plan(rng, (3, 4, 2), 5).astype(int).T
    table = pd.DataFrame({"field": np.array(["north", "south", "west"])[field], "kind": np.array([*"abcd"])[kind]})
    table["dose"] = dose * 10
    table["height"] = (np.where(kind == 3, 9.0, 2.0) + rng.normal(0, 0.4, len(kind))).round(2)
    ex = DOORS[door].explain(table, None, method="imm", n_clusters=None)
    assert dict(ex.provenance.left_out) == {OF_PLAN: ("field", "kind", "dose")}
    assert ex.n_clusters == 2
    assert "has mostly kind d" in str(ex)
    given = DOORS[door].explain(table, "kind", method="imm", n_clusters=None)
    assert "dose" in given.columns


def test_a_table_of_nothing_but_a_plan_keeps_its_columns():
    answers = plan(np.random.default_rng(2), (3, 4), 10)
    table = pd.DataFrame({"a": np.array([*"xyz"])[answers[:, 0].astype(int)], "b": answers[:, 1] * 1.5})
    assert not {OF_PLAN, COME_EQUALLY} & {reason for reason, _ in bw.explain(table).provenance.left_out}


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_rows_are_left_out_of_short_tables_too(first):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"no": np.arange(first, first + 24), "x": rng.normal(size=24), "y": rng.normal(size=24)})
    assert dict(bw.explain(table).provenance.left_out) == {LIKE_IDENTIFIER: ("no",)}
    assert "no" in bw.explain(table.sample(frac=1, random_state=0)).columns  # a rank says something
    assert "no" in bw.explain(table, rng.integers(0, 2, 24)).columns
