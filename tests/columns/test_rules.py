"""Each rule that leaves a column out, through every door by which a table comes."""

import contextlib

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood._dates import Dates
from boxwood.columns.column_table import ColumnTable
from boxwood.columns.dates_and_names import fixed_by_dates, names_among, units_among
from boxwood.columns.rules import (
    BEGINS_AGAIN,
    CALENDAR,
    COME_EQUALLY,
    FIXED_BY_DATE,
    OF_UNITS,
    RULES,
    WITH_DATE,
    reasons_to_leave_out,
)
from boxwood.columns.seen import SeenValues, Use, seen_in
from tests.doors import DOORS
from tests.scale import law

N = 600
X = np.random.default_rng(0).normal(size=N) + np.arange(N) % 3 * 10
WORD = np.array(["red", "green"])[np.arange(N) // 7 % 2]
KIND = np.array(["low", "middle", "high"])[np.arange(N) % 3]


def explained(table, labels="kind", method="imm"):
    return bw.explain(table, labels, method=method, n_clusters=None if labels else 3)


DOORS_OF_RULES = ("pandas", "polars", "Arrow", "scan of CSV", "scan of Parquet", "scan of a query of CSV", "CSV")


@pytest.fixture(params=DOORS_OF_RULES)
def door(request, tmp_path):
    """Return the name of a door, and what explains a frame through it, in a folder of its own."""

    def explained(frame, labels="kind", method="imm"):
        return DOORS[request.param].explain(frame, labels, method=method, n_clusters=None if labels else 3)

    with contextlib.chdir(tmp_path):
        yield request.param, explained


FRAMES, MANY = ("pandas", "polars", "Arrow"), "more than 255 values"
RULE_BY_COLUMN = {  # a column, the beginning of what is said, and doors where that differs: None where it is used
    "text_among_numbers": (
        [*map(str, range(1000, 1599)), "oops"],
        "numbers, but text in few rows",
        dict.fromkeys((*FRAMES, "scan of a query of CSV"), MANY),  # of which nobody looks at each cell
    ),
    "numbers_as_text": ([f"{i % 40} kg" for i in range(N)], "numbers as text", {}),
    "times_as_text": (["?" if i % 99 == 9 else f"{i % 24:02}:30" for i in range(N)], "times of day", {}),
    "another_kind": (
        [f"0{i % 9 + 1}/0{i % 8 + 1}/2026" for i in range(N)],
        "dates that cannot be read",
        {"scan of a query of CSV": None},
    ),  # DuckDB reads them
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
    reasons = [reason for reason, names in ex.provenance.left_out if "seen" in names]
    assert [reason[: len(expected or "")] for reason in reasons] == ([] if expected is None else [expected])
    assert ex.columns == ("x", "word", "seen")[: 2 + (expected is None)]


IDENTIFIERS = {  # whole numbers in a column, its name, and whether they look like an identifier
    "rising": (np.cumsum(np.arange(N) % 7 + 1) + 500, "number", True),
    "rising, thinly": (np.cumsum(np.arange(N) % 7 + 1) * 1000, "number", False),
    "falling": (9000 - np.cumsum(np.arange(N) % 7 + 1), "number", False),
    "few shops": (np.arange(N) * 7 % 11 % 7, "store_id", False),
    "few shops, far apart": (np.array([10_115, 80_331, 4109, 20_095])[np.arange(N) * 7 % 11 % 4], "zip", False),
    "20 shops": (np.arange(N) * 7 % 20 * 1000, "id", False),
    "21 shops": (np.arange(N) * 7 % 21 * 1000, "id", True),
    "many shops": (np.arange(N) * 7 % 97, "store_id", True),
}


@pytest.mark.parametrize("door", ["pandas", "scan of CSV", "CSV"], indirect=True)  # a frame, a scan and a file
@pytest.mark.parametrize("case", IDENTIFIERS)
def test_identifiers_are_found_by_counting(case, door):
    values, called, is_identifier = IDENTIFIERS[case]
    ex = door[1](pd.DataFrame({"x": X, "word": WORD, called: values, "kind": KIND}))
    assert (called in ex.columns) is not is_identifier
    ex = door[1](pd.DataFrame({"x": X, "y": X[::-1], called: values, "kind": np.arange(N) % 3}))  # numbers alone
    assert (called in ex.columns) is not is_identifier


AGE = np.random.default_rng(1).integers(1, 32, N)
DAYS = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) % 700, unit="D")
SAYS_WHEN = {  # columns, and whether they say when a row is from
    "date": (DAYS.astype(str), True),
    "Year": (2019 + np.arange(N) % 5, True),
    "fiscal_year": (72 + np.arange(N) % 9, True),
    "yr": (AGE, False),
    "date of sale": (111_597 + np.arange(N) % 60 * 100, True),
    "timestamp": (1_190_000_000 + np.arange(N) ** 2, True),
    "month": (np.arange(N) % 12 + 1, True),
    "day_of_month": (AGE, True),
    "order date": (2019 + np.arange(N) % 60 / 12, True),
    "season": (np.array(["spring", "Autumn"])[np.arange(N) // 5 % 2], True),
    "w": (np.array(["Mon", "Tuesday", "sat"])[np.arange(N) // 5 % 3], True),
    "start_time": (np.arange(N) % 24 * 100 + np.arange(N) * 7 % 60, True),
    "reaction_time": (200 + np.arange(N) * 7 % 400, False),
    "age": (AGE, False),
    "months": (AGE, False),
    "hours_per_week": (AGE + 20, False),
    "year_built": (1950 + 2 * AGE, False),
    "week": (AGE * 3, False),
    "may": (np.where(X > 0.1, "may", "must"), False),
}


@pytest.mark.parametrize("name", SAYS_WHEN)
def test_what_says_when_a_row_is_from_is_for_labels_but_not_for_clusters_made_here(name):
    values, is_calendar = SAYS_WHEN[name]
    frame = pd.DataFrame({"x": X, "y": X[::-1], "word": WORD, name: values, "kind": KIND})
    assert name in explained(frame).columns
    ex = explained(frame, None)
    assert (name not in ex.columns) is is_calendar
    assert (f": {name}; to use it, name the columns (columns)" in " ".join(ex.notes)) is is_calendar
    assert explained(frame[["x", name]], None).columns == ("x", name)[: 2 - is_calendar]
    assert explained(frame[["word", name]], None).columns == ("word", name)  # where no measure is left


DAY = np.arange(N) * 7 % 60  # of each row
PRICE = np.random.default_rng(3).lognormal(4, 1, 60).round(2)
BLOOD = np.random.default_rng(4).integers(0, 3, 60)
OF_DATES = {  # columns, and those that are the same in all rows of a date
    "price by day": ({"day": DAYS[DAY].astype(str), "price": PRICE[DAY]}, {"price"}),
    "with a gap": ({"day": DAYS[DAY].astype(str), "price": np.where(DAY == 5, np.nan, PRICE[DAY])}, {"price"}),
    "dummies of years": ({"year": 1990 + DAY % 5, "y91": DAY % 5 == 1, "y92": DAY % 5 == 2}, {"y91", "y92"}),
    "holidays": ({"day": DAYS[DAY].astype(str), "holiday": np.array(["no", "yes"])[(DAY > 50) * 1]}, {"holiday"}),
    "one price differs": ({"day": DAYS[DAY].astype(str), "price": PRICE[DAY] + (np.arange(N) == 9)}, set()),
    "a rare flag": ({"month": DAY % 12 + 1, "flag": np.arange(N) == 7}, set()),
    "a row a day": ({"day": DAYS.astype(str), "price": np.random.default_rng(3).lognormal(4, 1, N)}, set()),
    "birthdays": ({"born": DAYS[DAY].astype(str), "blood": np.array(["A", "B", "0"])[BLOOD[DAY]]}, set()),
}


@pytest.mark.parametrize("case", OF_DATES)
def test_what_goes_with_a_date_says_when_a_row_is_from(case):
    columns, fixed = OF_DATES[case]
    frame = pd.DataFrame({"x": X, "y": X[::-1], "word": WORD, **columns, "kind": KIND})
    assert {*explained(frame).columns} == {*frame} - {"kind"}
    ex = explained(frame.drop(columns="kind"), None)
    when = next(iter(columns))
    assert {*frame} - {"kind"} - {*ex.columns} == {when, *fixed}
    told = dict(ex.provenance.left_out)
    assert {*told.get(FIXED_BY_DATE, ())} == fixed
    chosen = bw.explain(frame, n_clusters=3, method="imm", columns=[*frame][:-1])
    assert chosen.columns == (*[*frame][:-1],)


@law(60)
def test_columns_go_with_no_date_by_chance_and_those_that_do_are_found(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_days = int(rng.choice([80, 600, 30_000])), int(rng.choice([2, 12, 300]))
    day = np.sort(rng.integers(0, n_days, n_rows)) if seed % 2 else rng.integers(0, n_days, n_rows)
    free = {
        "rare": rng.random(n_rows) < 3 / n_rows,
        "half": rng.random(n_rows) < 0.5,
        "few": rng.integers(0, 3, n_rows),
        "measure": rng.normal(size=n_rows),
    }
    fixed = {"price": rng.normal(size=n_days)[day], "late": day >= n_days // 2}
    seen = [SeenValues(name, np.asarray(x, dtype=float)) for name, x in (free | fixed).items()]
    found = fixed_by_dates([SeenValues("day", day.astype(float))], seen)
    assert found <= {*fixed}
    assert found == {*fixed} or n_rows < 4 * n_days


RNG = np.random.default_rng(2)
SHOP = RNG.integers(0, 40, N)  # the shop of each row
NUMBERS, TOWN, OPENED = RNG.permutation(900)[:40], np.array(["A", "B", "C"])[RNG.integers(0, 3, 40)], np.arange(40) // 9
NAMED = {  # columns, and those of them that are numbers of what has a property
    "shops in towns": ({"nr": NUMBERS[SHOP], "town": TOWN[SHOP]}, {"nr"}),
    "some in two": ({"nr": NUMBERS[SHOP], "town": np.where(np.arange(N) % 150, TOWN[SHOP], "A")}, {"nr"}),
    "many in two": ({"nr": NUMBERS[SHOP], "town": np.where(np.arange(N) % 20, TOWN[SHOP], "A")}, set()),
    "districts of shops": ({"nr": SHOP, "district": 7 + SHOP // 2, "town": TOWN[SHOP]}, {"nr", "district"}),
    "flags": ({"nr": NUMBERS[SHOP], "is_new": (TOWN == "A")[SHOP]}, {"nr"}),
    "in the order of time": ({"nr": SHOP, "wave": OPENED[SHOP]}, set()),
    "age and band": ({"age": AGE, "band": AGE // 10}, set()),
    "working age": ({"age": AGE, "works": (AGE > 8) & (AGE < 25)}, set()),
    "measured": (
        {"distance": NUMBERS[SHOP], "line": TOWN[SHOP], "time": NUMBERS[SHOP] + 90 * RNG.normal(size=N)},
        set(),
    ),
    "no property": ({"nr": NUMBERS[SHOP]}, set()),
    "few": ({"nr": NUMBERS[SHOP % 15], "town": TOWN[SHOP % 15]}, set()),
}


@pytest.mark.parametrize("case", NAMED)
def test_numbers_are_names_if_what_they_name_has_properties(case):
    columns, names = NAMED[case]
    frame = pd.DataFrame({"x": X, "y": X[::-1], "z": X**2, **columns, "kind": KIND})
    assert {*explained(frame).columns} == {*frame} - {"kind"}
    ex = explained(frame.drop(columns="kind"), None)
    assert {*frame} - {"kind"} - {*ex.columns} == names
    told = f"as all rows of each agree in another column: {', '.join(sorted(names, reverse=True))}; to use it"
    assert (told in " ".join(ex.notes)) is bool(names)


@law(300)
def test_numbers_are_no_names_by_chance_and_names_of_long_lists_are_found(seed):
    """Columns that have nothing to do with each other, or fix bands of each other; and planted names."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([70, 400, 3000, 9000]))
    most, age, price = n_rows // 3, rng.integers(18, 80, n_rows), rng.lognormal(5, 1, n_rows).round(-1)
    columns = {
        "any": rng.integers(0, rng.integers(20, max(21, most) + 1), n_rows),
        "few rows": rng.integers(0, n_rows, n_rows),
        "counts": rng.zipf(1.5, n_rows) % 1000,
        **{f"flag {share}": rng.random(n_rows) < share for share in (0.06, 0.1, 0.3, 0.5)},
        **{f"of {n}": rng.integers(0, n, n_rows) for n in (2, 3, 12)},
        "age": age,
        "group": age // 15,
        "works": (age > 25) & (age < 65),
        "price": price,
        "band": np.searchsorted([100, 200, 400], price),
    }
    assert names_in(columns) == set()
    n_things = int(rng.choice([40, 3000]))
    own, number = rng.integers(0, n_things, 12 * n_things), rng.permutation(5 * n_things)[:n_things]
    kind, noise = rng.integers(0, 3, n_things), rng.integers(0, 60, len(own))
    assert names_in({"nr": number[own], "kind": kind[own], "noise": noise}) == {"nr"}


def names_in(columns):
    seen = [SeenValues(name, np.asarray(x, dtype=float)) for name, x in columns.items()]
    return names_among([one for one in seen if one.may_name_things], seen)


def units(rng):
    """Return numbers of units through a file, of which each has some rows."""
    n_rows = rng.integers(1, 9, int(rng.integers(25, 300))) if rng.random() < 0.5 else np.full(100, rng.integers(2, 9))
    return np.repeat(np.arange(1, len(n_rows) + 1), n_rows)


@law(24)
def test_numbers_of_units_are_found_by_counting(seed):
    rng = np.random.default_rng(seed)
    own = units(rng)
    noise = {f"x{i}": rng.normal(size=len(own)) for i in range(3)}
    assert units_in({"unit": own, **noise}) == {"unit"}

    own = np.repeat(np.arange(60), 7)
    number, of_unit = rng.choice(10_000, 60, replace=False), rng.normal(size=(60, 4))
    mixed = rng.permutation(len(own))
    hardly = {f"x{i}": of_unit[own, i] + 0.2 * rng.normal(size=len(own)) for i in range(4)}
    table = {"unit": number[own], **hardly, "noise": rng.normal(size=len(own))}
    assert units_in({name: x[mixed] for name, x in table.items()}) == {"unit"}

    step, n = int(rng.integers(1, 12)), int(rng.integers(150, 900))
    unique = 10_000 + step * rng.choice(n * 3, n, replace=False)
    assert units_in({"nr": unique, "x": rng.normal(size=n)}) == {"nr"}
    site = np.sort(rng.integers(1, 5, n)) * 100_000  # and the last digit is for checks, as steps of 7 to 9 and 14 show
    unique = site + np.cumsum(rng.choice([7, 8, 9, 14], n))
    assert units_in({"nr": unique[rng.permutation(n)], "x": rng.normal(size=n)}) == {"nr"}


@law(12)
def test_one_measure_of_units_tells_them_and_units_within_units_go_through_the_file(seed):
    rng = np.random.default_rng(seed)
    own = np.repeat(np.arange(80), rng.integers(4, 30, 80))
    number, of_unit = np.sort(rng.choice(9_000, 80, replace=False)), rng.normal(size=80).round(3)
    table = {
        "school": number[own],
        "wealth": of_unit[own],
        "score": rng.normal(size=len(own)),
        "age": np.arange(len(own)) % 7,
    }
    assert units_in(table) == {"school"}
    mixed = rng.permutation(len(own))
    assert units_in({name: x[mixed] for name, x in {**table, "school": own}.items()}) == {"school"}
    assert units_in({name: x[mixed] for name, x in table.items()}) == set()  # it may be a measure of a school
    mother = np.cumsum(rng.integers(0, 3, len(own)))
    assert units_in({**table, "mother": mother}) == {"school", "mother"}
    village = np.delete(np.arange(1, 100), rng.choice(99, 15, replace=False))
    assert units_in({"village": np.repeat(village, 9), "x": rng.normal(size=9 * 84)}) == {"village"}


@law(6)
def test_numbers_of_visits_begin_again(seed):
    rng = np.random.default_rng([seed, 7])
    n_each = rng.integers(4, 9, 30)
    visit = np.concatenate([np.arange(n) for n in n_each])
    table = pd.DataFrame({"wave": 10 + 2 * visit, "x": rng.normal(size=len(visit)), "y": rng.normal(size=len(visit))})
    told = [note for note in bw.explain(table, n_clusters=2).notes if BEGINS_AGAIN in note]
    assert told == [f"left out, {BEGINS_AGAIN}: wave; to use it, name the columns (columns)"]
    assert not any(BEGINS_AGAIN in note for note in bw.explain(table.sample(frac=1, random_state=seed)).notes)
    table["wave"] = rng.integers(0, 4, len(visit))
    assert not any(BEGINS_AGAIN in note for note in bw.explain(table, n_clusters=2).notes)


def panel(rng):
    """Return a table of units in waves: what goes with the wave, what names the unit, and other columns."""
    n_units, n_waves = int(rng.integers(8, 12)), int(rng.integers(7, 12))
    unit, wave = np.repeat(np.arange(n_units), n_waves), np.tile(np.arange(n_waves), n_units)
    group = rng.permutation(np.arange(n_units) % 2)[unit]
    n = len(unit)
    return pd.DataFrame(
        {
            "firm": unit * 10 + 100,
            "name": [f"firm {one}" for one in unit],
            "wave": 72 + wave,
            "index": rng.lognormal(size=n_waves)[wave],
            "price": 3 * wave + rng.normal(size=n) * n_waves / 8,
            "size": group * 8 + rng.normal(size=n),
            "late": (wave > n_waves // 2) * 8 + rng.normal(size=n),
            "sector": rng.choice(["north", "south"], n_units)[unit],
            "x": rng.normal(size=n),
        }
    )


@law(12)
def test_what_says_the_wave_or_the_unit_of_a_panel_is_left_out_and_groups_stay(seed):
    table = panel(np.random.default_rng([seed, 8]))
    ex = bw.explain(table, n_clusters=2)
    assert {*table} - {*ex.columns} == {"firm", "name", "wave", "index", "price"}
    of = {name: reason for reason, names in ex.provenance.left_out for name in names}
    assert [of[name] for name in ("firm", "name", "wave", "index", "price")] == [
        *(OF_UNITS, OF_UNITS, BEGINS_AGAIN, FIXED_BY_DATE, WITH_DATE)
    ]
    mixed = bw.explain(table.rename(columns={"wave": "year"}).sample(frac=1, random_state=seed), n_clusters=2)
    assert {"size", "late", "sector", "x"} <= {*mixed.columns} <= {*table} - {"index", "price"}


@law(200)
def test_numbers_come_equally_often_by_a_plan_and_not_by_chance(seed):
    rng = np.random.default_rng(seed)
    n_levels, each = int(rng.integers(6, 50)), int(rng.integers(8, 30))
    plan = rng.permutation(np.repeat(np.arange(n_levels), each)).astype(float)
    assert SeenValues("plan", plan).come_equally
    assert n_levels < 20 or SeenValues("less some", plan[n_levels // 4 :]).come_equally
    assert not SeenValues("measure", np.exp(plan)).come_equally
    assert not SeenValues("of units", plan**2).come_equally
    assert not SeenValues("flag", plan % 2).come_equally
    rows = rng.integers(0, 9, (3, 50)).astype(float)  # rows that come again
    assert not any(SeenValues("again", np.tile(x, 2)).come_equally for x in [*rows, rng.permutation(50) * 1.0])
    table = pd.DataFrame({"plot": plan, "x": rng.normal(size=len(plan)), "word": rng.choice(["a", "b"], len(plan))})
    if seed < 5:
        assert dict(bw.explain(table).provenance.left_out) == {COME_EQUALLY: ("plot",)}


def test_numbers_that_are_all_as_likely_come_equally_in_few_columns_and_measures_in_none():
    rng, n_found, n_measures = np.random.default_rng(5), 0, 0
    for n_values in (2, 3, 4, 6, 20):
        for n in (60, 200, 600, 3000):
            for _ in range(100):
                likely = rng.integers(0, n_values, n).astype(float)
                n_found += SeenValues("any", likely).come_equally
                n_measures += SeenValues("counts", rng.poisson(n_values, n).astype(float)).come_equally
                n_measures += SeenValues("age", rng.normal(40, 2 * n_values, n).round()).come_equally
    assert (n_found <= 2, n_measures) == (True, 0)


@law(5)
def test_numbers_within_other_numbers_down_a_file_are_units(seed):
    rng = np.random.default_rng([seed, 6])
    mother = np.repeat(np.cumsum(rng.integers(1, 4, 400)), rng.integers(1, 4, 400)).astype(float)
    village, ethnic = mother // 11, rng.integers(0, 3, len(mother))
    share = rng.random(int(village[-1]) + 1)[village.astype(int)]  # rises with some villages
    table = {"mother": mother, "village": village, "share": share, "ethnic": ethnic}
    assert units_in(table) >= {"mother", "village"}
    mixed = rng.permutation(len(mother))
    assert "mother" not in units_in({name: x[mixed] for name, x in {**table, "share": rng.random(len(mother))}.items()})
    income = np.sort(rng.integers(10, 300, 500)) * 100.0  # a file that is sorted by a measure, in bands
    assert units_in({"income": income, "band": np.floor(income / 3000), "x": rng.normal(size=500)}) == set()


@law(24)
def test_what_follows_from_a_measure_makes_it_no_number_of_units(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([200, 400, 3000]))
    age = rng.normal(40, 15, n).clip(18, 90).round()
    follows = {"squared": (age - 50) ** 2, "wave": np.sin(age / 8), "group": age // 15, "rate": 1 / age}
    order = np.argsort(age, kind="stable") if seed % 2 else np.arange(n)
    table = {"age": age, **follows, "x": rng.normal(size=n)}
    assert units_in({name: x[order] for name, x in table.items()}) == set()


@law(24)
def test_measures_are_no_numbers_of_units(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([70, 400, 3000]))
    age = rng.normal(40, 15, n).clip(18, 90).round()
    weight = rng.normal(1500, 300, n).round()
    measures = {
        "age": age,
        "weight": weight,
        "power": (weight / 10 + rng.normal(0, 4, n)).round(),
        "income": rng.lognormal(10, 1, n).round(),
        "price": rng.lognormal(5, 1, n).round(-1),
        "counts": rng.poisson(30, n),
        "x": rng.normal(size=n),
    }
    by = rng.choice(["age", "weight", "counts", "none"])  # that the file is sorted by
    order = np.argsort(measures[by], kind="stable") if by != "none" else np.arange(n)
    assert units_in({name: x[order] for name, x in measures.items()}) == set()


def units_in(columns):
    seen = [SeenValues(name, np.asarray(x, dtype=float)) for name, x in columns.items()]
    return units_among([one for one in seen if one.may_name_things], seen)


def test_columns_that_clusters_made_here_do_without_are_the_same_through_every_door(door):
    cities = [f"city {i * 7 % 13}" for i in range(N)]
    shops = {"nr": NUMBERS[SHOP], "town": TOWN[SHOP]}
    frame = pd.DataFrame({"x": X, "y": X[::-1], "word": WORD, "year": 2019 + np.arange(N) % 5, "city": cities, **shops})
    frame = frame.assign(same=7, rate=PRICE[frame["year"] - 2019])
    ex = door[1](frame, None)
    assert ex.columns == ("x", "y", "word", "town")
    assert {reason[:10]: names for reason, names in ex.provenance.left_out} == {
        "more than ": ("city",),
        "looks like": ("year",),
        "the same i": ("rate",),
        "numbers th": ("nr",),
        "one value ": ("same",),
    }
    clock = np.arange(N) % 24 * 100 + np.arange(N) * 7 % 60
    numbers = door[1](frame[["x", "y", "year"]].assign(start_time=clock, reaction_time=np.arange(N) * 7 % 300), None)
    assert numbers.columns == ("x", "y", "reaction_time")


def test_what_says_the_level_and_what_rises_with_a_date_is_left_out_through_every_door(door):
    year = 2001 + RNG.integers(0, 9, N)
    told = {"plot": RNG.permutation(N) % 12, "year": year, "level": year * 3 + np.arange(N) % 2}
    ex = door[1](pd.DataFrame({"x": X, "word": WORD, **told}), None)
    assert dict(ex.provenance.left_out) == {CALENDAR: ("year",), WITH_DATE: ("level",), COME_EQUALLY: ("plot",)}


def test_words_in_an_order_are_no_mere_names():
    sizes = pd.Categorical(np.arange(N) % 15, categories=range(15), ordered=True).rename_categories(str)
    frame = pd.DataFrame({"x": X, "y": X[::-1], "names": [f"n{i % 14}" for i in range(N)], "sizes": sizes})
    assert explained(frame, None).columns == ("x", "y", "sizes")


def test_every_rule_is_tried():
    # of numbers in files beyond 2**53, of clusterers of numbers, and of clusters that boxwood makes
    elsewhere = {"one_double", "unseen_dates", "many_names", "calendar", "begins_again", "come_equally", "part_of_plan"}
    elsewhere |= {"numbers_as_names", "code_of_words", "copy_of_numbers", "counts_of_rows", "number_of_row"}
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
        ex = door[1](shown.assign(x=X, kind=kind), "kind", "auto")
        assert {ex.columns[j] for j in ex.tree.features} == {expected}
        assert ex.agreement == 1


def test_a_column_of_numbers_has_no_type_of_text_through_any_door(door):
    frame = pd.DataFrame({"x": X, "word": WORD}).assign(kind=np.where((X > 9) & (WORD == "red"), "a", "b"))
    types = dict(door[1](frame, "kind", "auto").provenance.types)
    assert types["word"] == "TEXT"
    assert types.get("x") != "TEXT"


@law(4)
def test_shuffled_rows_leave_out_the_same_columns(seed):
    """Columns are so near to what a rule asks for that another draw of rows may decide otherwise."""
    rng = np.random.default_rng(seed)
    n = 50_000
    day, shop = rng.integers(0, 3000, n).astype(float), rng.integers(0, 200, n)
    town = np.where(rng.random(n) < rng.choice([0.99, 0.985]), rng.integers(0, 4, 200)[shop], rng.integers(0, 4, n))
    near = {f"near{j}": day + rng.normal(0, 400 + 4 * j, n) for j in range(10)}
    columns = {"day": day, "shop": rng.permutation(900)[:200][shop].astype(float), "town": town.astype(float), **near}
    table = ColumnTable(tuple(columns), np.column_stack([*columns.values()]), dates={"day": Dates()})
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(5))]
    use = Use(by_boxwood=True)
    found = [reasons_to_leave_out(seen_in(table.of_rows(order)), use) for order in orders]
    assert all(one == found[0] for one in found)


@law(4)
def test_where_all_rises_with_the_date_clusters_are_made_of_that(seed):
    rng = np.random.default_rng(seed)
    days = pd.date_range("2020-01-01", periods=300)
    frame = pd.DataFrame({"day": days, "t": np.arange(300), "price": np.arange(300) + rng.normal(0, 20, 300)})
    assert bw.explain(frame, n_clusters=2).columns == ("price",)
    with_rate = bw.explain(frame.assign(rate=rng.normal(size=300)), n_clusters=2)
    assert with_rate.columns == ("rate",), "it is left out where another column is there"
