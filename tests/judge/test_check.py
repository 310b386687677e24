"""Faults that were planted are found, sound rules have none, and each verdict is proved by rows."""

import itertools

import duckdb
import numpy as np
import pandas as pd

import boxwood as bw
from boxwood.judge.algebra import Judged
from boxwood.judge.conditions import truth_of
from tests.judge import rule_sets
from tests.render.test_hostile_names import NAMES, read_markdown
from tests.scale import law

AT_MOST = 20_000  # rows of a grid


def about(finding):
    return [branch.name for branch in (finding.branch, *finding.others) if branch is not None]


@law(40)
def test_planted_faults_are_found(seed):
    text, table, faults = rule_sets.planted(seed)
    found = bw.read_rules(text).check(table).findings
    for kind, name in faults:
        same = [one for one in found if one.kind == kind and (kind == "hole" or name in about(one))]
        assert same, (kind, name, text)


@law(40)
def test_sound_rules_have_no_fault(seed):
    rng = np.random.default_rng(seed)
    leaves = rule_sets.sound(rng, int(rng.integers(2, 30)))
    text = rule_sets.case([(rule_sets.condition(leaf), f"leaf {i}") for i, leaf in enumerate(leaves)])
    found = bw.read_rules(text).check(rule_sets.table(rng)).findings
    assert not [one for one in found if one.level != "note" or one.kind == "overlap"], text


@law(24)
def test_verdicts_are_proved_by_rows(seed):
    rules = bw.read_rules(rule_sets.planted(seed)[0])
    judged = Judged(rules)
    for i, box in enumerate(judged.reachable):
        if box is not None:
            assert judged.taken_by(judged.space.row(box)) == i
    rest, _ = judged.rest
    assert all(judged.taken_by(judged.space.row(box)) == -1 for box in rest)


@law(40)
def test_verdicts_are_those_of_a_grid(seed):
    rules = bw.read_rules(small(np.random.default_rng(seed), ASKED))
    judged = Judged(rules)
    taken, held = set(), set()
    for row in grid(judged.space.columns):
        holds = [i for i, one in enumerate(rules.branches) if truth_of(one.condition, row) is True]
        held.update(holds)
        taken.add(holds[0] if holds else -1)
    found = rules.check().findings
    never = {one.branch.number - 1 for one in found if one.kind == "never"}
    shadowed = {one.branch.number - 1 for one in found if one.kind == "shadowed"}
    assert never == set(range(len(rules.branches))) - held
    assert shadowed == held - taken
    assert any(one.kind == "falls through" for one in found) == (-1 in taken)


def grid(columns):
    names = list(columns)
    for values in itertools.islice(itertools.product(*(columns[name].cells for name in names)), AT_MOST):
        yield dict(zip(names, values, strict=True))


ASKED = ("NOT {}", "{} IS TRUE", "{} IS NOT TRUE", "{} IS NOT FALSE", "{} IS NULL", "{} = TRUE", "{} <> TRUE")


def small(rng, asked=("NOT {}",)):
    """Return a CASE of few columns, with AND, OR, IN and NULL at random; IN: asked: of some conditions."""
    tests = [
        "a < 3",
        "a >= 3",
        "a BETWEEN 1 AND 5",
        "a <> 4",
        "b = 'x'",
        "b IN ('x', 'y')",
        "b NOT IN ('z')",
        "NOT f",
        "f",
    ]
    tests += ["a IS NULL", "b IS NOT NULL", "COALESCE(a, 0) > 2", "LOWER(b) = 'x'", "b = NULL", "f IS TRUE", "a = 4"]
    tests += ["CAST(a AS DECIMAL(9, 1)) >= 2.5", "a::DECIMAL(9, 0) IN (3, 5)", "b ILIKE 'X'", "b NOT LIKE 'y'"]

    def condition(depth):
        if depth == 0 or rng.random() < 0.3:
            return str(rng.choice(tests))
        sign = str(rng.choice(["AND", "OR"]))
        text = f"({condition(depth - 1)} {sign} {condition(depth - 1)})"
        return f"({rng.choice(asked)})".format(text) if rng.random() < 0.4 else text

    return rule_sets.case([(condition(2), i) for i in range(int(rng.integers(1, 6)))])


@law(24)
def test_rows_get_what_an_engine_gives_them(seed):
    rng = np.random.default_rng(seed)
    text, n = small(rng, ASKED), 60
    columns = {
        "a": rng.choice([0.0, 1.0, 2.45, 2.5, 3.0, 3.49, 3.51, 4.0, 5.0, 7.0, None], n),
        "b": rng.choice(["x", "X", "y", "z", "w", None], n),
        "f": rng.choice([True, False, None], n),
    }
    frame = pd.DataFrame(
        {name: pd.Series(values, dtype=kind) for (name, values), kind in zip(columns.items(), KINDS, strict=True)}
    )
    with duckdb.connect() as con:
        con.register("rows", frame)
        right = [name for (name,) in con.execute(f"SELECT {text} FROM rows").fetchall()]
        rules = bw.read_rules(text)
        assert rules.predict(frame).tolist() == right
        again = [name for (name,) in con.execute(f"SELECT {rules.to_sql()} FROM rows").fetchall()]
    assert again == right


KINDS = ("Float64", "object", "boolean")


@law(24)
def test_conditions_of_pandas_hold_where_pandas_says_so(seed):
    rng, n = np.random.default_rng(seed), 50
    frame = pd.DataFrame(
        {"a": rng.choice([1.0, 2.0, 3.0, np.nan], n), "b": pd.Series(rng.choice(["x", "y", None], n), dtype=object)}
    )
    tests = ["a > 1", "a != 2", "b == 'x'", "b != 'x'", "a <= 2", "b in ['x', 'y']", "not a > 2", "b.isna()"]
    one, other = rng.choice(tests, 2).tolist()
    text = f"({one}) {rng.choice(['&', '|'])} ({other})"
    held = frame.query(text, engine="python").index.tolist()
    found = bw.read_rules({"in": text}).predict(frame)
    assert [i for i, name in enumerate(found) if name == "in"] == held, text


def test_a_word_that_rules_name_alone_is_said():
    rules = bw.read_rules("CASE WHEN plan = 'free' THEN 'a' WHEN plan IS NOT NULL THEN 'b' WHEN f THEN 'c' END")
    assert str(rules).splitlines()[:3] == ["a: plan is free", "b: plan is not missing", "c: f"]


READINGS = {
    "{}": lambda word: word,
    "LOWER({})": lambda word: word and word.lower(),
    "UPPER({})": lambda word: word and word.upper(),
    "TRIM({})": lambda word: word and word.strip(),
    "COALESCE({}, 'None given')": lambda word: word or "None given",
    "COALESCE(LOWER({}), 'Gone')": lambda word: word.lower() if word else "Gone",
}


@law(40)
def test_words_are_spelt_as_the_rule_reads_them(seed):
    rng = np.random.default_rng(seed)
    present = [*rng.choice(["Alpha one", "bravo", "DELTA", " echo"], 3, replace=False).tolist(), None]
    reading, read = list(READINGS.items())[int(rng.integers(len(READINGS)))]
    given = sorted({read(word) for word in present} - {None})
    word = str(rng.choice(given))
    wrong = str(rng.choice([word.swapcase(), word.replace(word[1:3], word[1:3].swapcase())]))
    assert not words_found(reading, word, present)
    [found] = words_found(reading, wrong, present)
    assert (found.kind, found.values, found.nearest) == ("spelling", (wrong,), (word,))


def words_found(reading, word, present):
    rules = bw.read_rules(f"CASE WHEN {reading.format('t')} = '{word}' THEN 'a' ELSE 'b' END")
    return [one for one in rules.check({"t": present}).findings if one.kind in ("spelling", "never met")]


@law(24)
def test_a_fault_is_named_once(seed):
    rng = np.random.default_rng(seed)
    one, other, third = rng.permutation(["n > 5", "NOT t = 'x'", "s <> 'y'", "NOT b", "d >= '2026-03-01'"])[:3]
    never = rng.choice([f"{one} AND t NOT IN ('z', NULL)", f"{one} AND m > 5 AND m < 3 AND {other}"])
    [found] = found_above_else(f"CASE WHEN {never} THEN 'a' ELSE 'b' END")
    assert found.kind == "never"
    careful = "CASE WHEN s IS NULL OR t IS NULL OR b IS NULL THEN 'u' WHEN {} THEN 'a' ELSE 'b' END"
    twice = found_above_else(careful.format(f"{one} OR ({one} AND ({other} OR {third}))"))
    assert [one.kind for one in twice if one.kind != "overlap"] == ["not needed"]


def found_above_else(text):
    return [one for one in bw.read_rules(text).check().findings if one.kind != "falls through"]


@law(24)
def test_single_values_are_said_as_such(seed):
    rng = np.random.default_rng(seed)
    day = str(pd.Timestamp("2026-01-01") + pd.Timedelta(hours=int(rng.choice([24, 6])) * int(rng.integers(900))))
    day = day.removesuffix(" 00:00:00")
    hole = str(bw.read_rules(f"CASE WHEN d < '{day}' THEN 'a' WHEN d > '{day}' THEN 'b' ELSE 'c' END").check())
    assert f"no branch takes d is {day.removesuffix(':00')}, between" in hole
    known = sorted(set(rng.integers(0, 99, 4).tolist()))
    rules = bw.read_rules(f"CASE WHEN n IN ({', '.join(map(str, known))}) THEN 'a' ELSE 'b' END")
    assert f"where n is neither {', '.join(map(str, known[:-1]))} nor {known[-1]}" in str(rules.check())


def test_booleans_of_a_table_are_called_so():
    found = bw.read_rules({"a": "b = 'yes'"}).check({"b": [True, False]})
    assert "error: b is compared with 'yes', but the table holds booleans, such as TRUE" in str(found)


@law(24)
def test_markdown_says_what_text_does_whatever_the_names(seed):
    rng = np.random.default_rng(seed)
    first, second, third = rng.choice([name for name in NAMES if name.isprintable()], 3, replace=False).tolist()
    words = [each.replace("'", "''") for each in (first, second)]
    rules = bw.read_rules({first: f"t = '{words[0]}'", second: f"t = '{words[1]}' or n > 5", third: "n < 3"})
    check = rules.check({"t": [first, second.swapcase(), third], "n": [1, 4, None]})
    shown = read_markdown(check.to_markdown())
    said = [line.removesuffix(".") for line in (*shown["paragraph"], *shown["list_item"])]
    assert said == [line.removesuffix(".") for line in str(check).split("\n\n")[0].split("\n")]
    head, *lines = shown["tr"]
    assert [len(line) for line in lines] == [len(head)] * 4
