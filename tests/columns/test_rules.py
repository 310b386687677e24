"""Each rule that leaves a column out, through every door by which a table comes."""

import contextlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import boxwood as bw
from boxwood.cli import boxwood as command
from boxwood.columns.rules import RULES

N = 600
X = np.random.default_rng(0).normal(size=N) + np.arange(N) % 3 * 10
WORD = np.array(["red", "green"])[np.arange(N) // 7 % 2]
KIND = np.array(["low", "middle", "high"])[np.arange(N) % 3]


def scanned(what, method):
    with bw.scan(what) as source:
        return bw.explain(source, "kind", method=method)


def by_csv(frame, method="imm"):
    frame.to_csv("t.csv", index=False)
    return scanned("t.csv", method)


def by_parquet(frame, method="imm"):
    frame.to_parquet("t.parquet")
    return scanned("t.parquet", method)


def by_query(frame, method="imm"):
    frame.to_csv("t.csv", index=False)
    return scanned("FROM 't.csv'", method)


def by_command(frame, method="imm"):
    frame.to_csv("t.csv", index=False)
    words = ["explain", "t.csv", "--labels", "kind", "--method", method, "--engine", "memory", "--save", "m.json"]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    return bw.load("m.json")


DOORS = {
    "pandas": lambda frame, method="imm": bw.explain(frame, "kind", method=method),
    "polars": lambda frame, method="imm": bw.explain(pl.from_pandas(frame), "kind", method=method),
    "arrow": lambda frame, method="imm": bw.explain(pa.Table.from_pandas(frame), "kind", method=method),
    "csv": by_csv,
    "parquet": by_parquet,
    "query": by_query,
    "command": by_command,
}


@pytest.fixture(params=DOORS)
def door(request, tmp_path):
    """Return the name of a door, and what explains a frame through it, in a folder of its own."""
    with contextlib.chdir(tmp_path):
        yield request.param, DOORS[request.param]


FRAMES, MANY = ("pandas", "polars", "arrow"), "more than 255 values"
UNREAD = {"parquet": None, "query": None}  # texts that have a type, and in which nobody looks for others
RULE_BY_COLUMN = {  # a column, the beginning of what is said, and doors where that differs: None where it is used
    "text_among_numbers": (
        [*map(str, range(1000, 1599)), "oops"],
        "numbers, but text in few rows",
        dict.fromkeys((*FRAMES, "query"), MANY),  # of which nobody looks at each cell
    ),
    "numbers_as_text": ([f"{i % 40} kg" for i in range(N)], "numbers as text", {}),
    "times_as_text": ([f"{i % 24:02}:30" for i in range(N)], "times of day", {"parquet": None}),
    "another_kind": ([f"0{i % 9 + 1}/0{i % 8 + 1}/2026" for i in range(N)], "dates that cannot be read", UNREAD),
    "no_words": ([f"word{'abcdefghij'[i % 10]}{i}x" for i in range(N)], MANY, {}),
    "no_values": ([np.nan] * N, "no values", {}),
    "one_value": (["same"] * N, "one value only", {}),
    "the_labels": (np.arange(N) % 3 * 5 + 1, "the labels themselves", {}),
    "like_identifier": (np.arange(N) + 7, "looks like an identifier", {}),
}


@pytest.mark.parametrize("rule", RULE_BY_COLUMN)
def test_a_column_is_left_out_for_the_same_reason_through_every_door(rule, door):
    name, through = door
    values, said, others = RULE_BY_COLUMN[rule]
    expected = others.get(name, said)
    ex = through(pd.DataFrame({"x": X, "word": WORD, "seen": values, "kind": KIND}))
    reasons = [reason for reason, names in ex.basis.left_out if "seen" in names]
    assert [reason[: len(expected or "")] for reason in reasons] == ([] if expected is None else [expected])
    assert ex.columns == ("x", "word", "seen")[: 2 + (expected is None)]


IDENTIFIERS = {  # whole numbers in a column, its name, and whether they look like an identifier
    "rising": (np.cumsum(np.arange(N) % 7 + 1) + 500, "number", True),
    "rising, thinly": (np.cumsum(np.arange(N) % 7 + 1) * 1000, "number", False),
    "falling": (9000 - np.cumsum(np.arange(N) % 7 + 1), "number", False),
    "few shops": (np.arange(N) * 7 % 11 % 7, "store_id", False),
    "many shops": (np.arange(N) * 7 % 97, "store_id", True),
}


@pytest.mark.parametrize("case", IDENTIFIERS)
def test_identifiers_are_found_by_counting(case, door):
    values, called, is_identifier = IDENTIFIERS[case]
    ex = door[1](pd.DataFrame({"x": X, "word": WORD, called: values, "kind": KIND}))
    assert (called in ex.columns) is not is_identifier


def test_every_rule_is_tried():
    elsewhere = {"one_double", "unseen_dates"}  # of numbers in files beyond 2**53, and of clusterers of numbers
    assert {rule.__name__ for rule in RULES} == {*RULE_BY_COLUMN} | elsewhere


def test_rules_are_on_the_plainer_of_columns_that_say_the_same(door):
    """Regions and no states, wages and no logarithms; with "auto", whose trees are as good on either."""
    rng = np.random.default_rng(0)
    states = rng.integers(0, 24, N)
    regions, wage = np.array(["East", "North", "South", "West"])[states % 4], np.exp(rng.normal(2, 0.6, N)).round(2)
    frame = pd.DataFrame({"state": [f"s{i:02}" for i in states], "log": np.log(wage), "Region": regions, "wage": wage})
    by_words, by_numbers = frame[["state", "Region"]], frame[["log", "wage"]]
    west, rich = np.where(regions == "West", "west", "other"), np.where(wage > 8, "rich", "poor")
    for shown, kind, expected in ((by_words, west, "Region"), (by_numbers, rich, "wage"), (frame, west, "Region")):
        ex = door[1](shown.assign(x=X, kind=kind), "auto")
        assert {ex.columns[j] for j in ex.tree.features} == {expected}
        assert ex.agreement == 1
