"""Columns that say what another one says: one of them stays, and columns that say more do, too."""

import numpy as np
import pandas as pd
import pytest

from boxwood.axes.categories import Categories
from boxwood.columns.copies import codes_of_words, copies_among
from boxwood.columns.rules import NUMBERS_OF_UNITS, reasons_to_leave_out
from boxwood.columns.seen import SeenValues, Use
from tests.doors import DOORS
from tests.scale import law

CURVES = (np.exp, np.cbrt, np.arctan, lambda x: -3 * x, lambda x: 7 + x / 100)


def copies_in(columns):
    return copies_among([SeenValues(name, np.asarray(x, dtype=float)) for name, x in columns.items()])


@law(30)
def test_numbers_on_a_curve_and_corrected_ones_are_copies_of_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([60, 700, 9000]))
    x, free = rng.normal(size=n).round(4), rng.normal(size=n)
    corrected = np.where(rng.random(n) < 0.04, x * 100, x)
    table = {"free": free, "x": x, "curved": CURVES[seed % len(CURVES)](x), "corrected": corrected, "other": x + free}
    assert copies_in(table) == {"curved": "x", "corrected": "x"}
    lacks = rng.random(n) < 0.003
    lacks[:2] = True
    table["x"] = np.where(lacks, np.nan, x)
    assert "x" in copies_in(table), "one that lacks nothing stays"


@law(30)
def test_numbers_that_say_more_than_a_frequent_value_are_no_copies(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([200, 700, 9000]))
    bought, asked = rng.random(n) < rng.uniform(0.02, 0.5), rng.random(n) < 0.5
    amount, visits = rng.exponential(size=(2, n)) + 1
    answers = [np.where(rng.random(n) < 0.03, 1, np.where(asked, 2, 0)) for _ in range(2)]
    age, group = rng.integers(18, 80, n), rng.integers(0, 3, n)
    table = {
        "amount": np.where(bought, amount, 0),
        "visits": np.where(bought, visits, 0),
        **{f"answer {i}": answer for i, answer in enumerate(answers)},
        **{f"tall {i}": group * 9 + rng.normal(size=n) for i in range(2)},
        "age": age,
        "band": age // 15,
    }
    assert copies_in(table) == {}


@law(20)
def test_the_order_of_many_rows_decides_nothing(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=6000)
    table = {
        "x": x,
        "near": x + rng.normal(size=6000) * rng.uniform(0.1, 0.2),
        "y": np.exp(x),
        "z": rng.normal(size=6000),
    }
    order = rng.permutation(6000)
    assert copies_in({name: values[order] for name, values in table.items()}) == copies_in(table)


@law(30)
def test_codes_go_beside_their_words_and_measures_stay(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.choice([60, 3000])), int(rng.integers(2, 9))
    word = rng.permutation(np.arange(n) % k)
    names = Categories(tuple(f"w{i}" for i in range(k)), others=False)
    words = SeenValues("words", word.astype(float), names)
    code, dose = rng.permutation(k) + 1.0, 10.0 * 2 ** np.arange(k)
    almost = np.where(np.arange(n) == 7, code[(word + 1) % k], code[word])
    numbers = {"code": code[word], "dose": dose[word], "almost": almost, "free": rng.integers(0, k, n) * 1.0}
    columns = [*(SeenValues(name, x) for name, x in numbers.items()), words]
    assert codes_of_words(columns) == {"code": "words"}
    other = SeenValues("other", code[word] - 1, names)
    assert codes_of_words([words, other]) == {"other": "words"}
    numbers["code"][:3] = np.nan
    assert codes_of_words([SeenValues("code", numbers["code"]), words]) == {"code": "words"}
    words.values[3] = words.values[4] if word[3] != word[4] else (word[4] + 1) % k
    assert codes_of_words([SeenValues("code", code[word]), words]) == {}


@law(20)
def test_numbers_of_chambers_go_with_those_of_trees_and_age_groups_stay(seed):
    rng = np.random.default_rng(seed)
    n_trees, n_each = int(rng.integers(12, 80)), int(rng.integers(2, 9))
    tree = np.repeat(np.arange(n_trees), n_each) + 1.0
    chamber = np.repeat(np.sort(np.r_[np.arange(3), rng.integers(0, 3, n_trees - 3)]), n_each) + 1.0
    if np.bincount(chamber.astype(int))[1:].min() < n_each or len(tree) < 60 or n_trees <= 20:
        return
    size, by_chance = rng.normal(size=len(tree)), rng.integers(1, 4, len(tree)) * 1.0
    order = rng.permutation(len(tree))

    def units_in(**columns):
        seen = [SeenValues(name, x[order]) for name, x in {"id": tree, "size": size, **columns}.items()]
        why = reasons_to_leave_out(seen, Use(by_boxwood=True))
        return {name for name, reason in why.items() if reason == NUMBERS_OF_UNITS}

    assert units_in(chamber=chamber, by_chance=by_chance) == {"chamber"}
    assert units_in(chamber=chamber, age=chamber * 10 + rng.normal(size=len(tree))) == set()
    of_tree = rng.permutation(n_trees)[tree.astype(int) - 1] % 3 + 1.0
    assert units_in(of_tree=of_tree) == set()


@pytest.mark.parametrize("door", ["pandas", "polars", "CSV", "scan of Parquet"])
def test_what_is_said_twice_is_left_out_through_every_door(door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x, end = rng.normal(size=600), rng.integers(0, 3, 600)
    why = np.array(["alive", "dead", "lost"])[end]
    frame = pd.DataFrame({"x": x, "status": end, "why": why, "y": np.exp(x), "z": rng.normal(size=600)})
    ex = DOORS[door].explain(frame, None, method="imm", n_clusters=2)
    assert ex.columns == ("x", "why", "z")
    assert dict(ex.provenance.left_out) == {"says the same as why": ("status",), "says the same as x": ("y",)}
    note = "left out, says the same as why: status; to use it, name the columns (columns)"
    assert note in ex.notes
