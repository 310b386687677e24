"""The first command on a table of one's own: identifiers, scales, and what people write for numbers."""

import inspect
import io
import json
import re
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood
from boxwood.table import ReadOptions
from boxwood.table.columns import learn_styles
from boxwood.table.duck import open_table
from tests.cli.test_cli import DATA, run
from tests.reading import read_file
from tests.scale import law

N = 60
RNG = np.random.default_rng(0)
CRM = pd.DataFrame(
    {
        "id": np.arange(1, N + 1),
        "zip": [f"{i:05}" for i in RNG.permutation(N) + 990],
        "uid": [f"3f2504e0-4f89-11d3-9a0c-0305e82c{i:04}" for i in range(N)],
        "price": RNG.normal(size=N) * 1000,
        "qty": RNG.normal(size=N),
        "group": RNG.integers(3, size=N),
    }
)


@pytest.fixture
def crm(tmp_path):
    CRM.to_csv(tmp_path / "crm.csv", index=False)
    return tmp_path


def facts(result):
    return json.loads(result.stdout)


# -------------------------------------------------------------------------------------------------- identifiers


def test_identifiers_are_left_out_where_clusters_are_made(crm):
    result = run(crm, "explain", "{}/crm.csv", "-k", 3, "--exclude", "group", "--json", "--notes")
    assert facts(result)["columns"] == ["price", "qty"]
    used = "boxwood: 2 of 5 columns are used: price, qty\n"
    note = "boxwood: left out, looks like an identifier: id, zip, uid; to use it, name the columns (-c)\n"
    assert f"{used}{note}" in result.stderr


def test_columns_that_are_named_stay(crm):
    result = run(crm, "explain", "{}/crm.csv", "-k", 3, "-c", "id,zip", "--json", "--notes")
    assert facts(result)["columns"] == ["id", "zip"]
    assert "left out" not in result.stderr


def test_labels_leave_identifiers_out_too_and_leading_zeros_of_many_numbers_are_told(crm):
    result = run(crm, "explain", "{}/crm.csv", "-l", "group", "--json", "--notes")
    assert facts(result)["columns"] == ["price", "qty"]
    assert "left out, looks like an identifier: id, zip" in result.stderr
    pd.concat([CRM.assign(zip=[f"{i:05}" for i in range(n, n + N)]) for n in range(990, 990 + 5 * N, N)]).to_csv(
        crm / "crm.csv", index=False
    )
    asked = run(crm, "explain", "{}/crm.csv", "-l", "group", "-c", "id,zip", "--json", "--notes")
    told = "boxwood: numbers with leading zeros, which rules do not show: zip (--categories shows them)\n"
    assert told in asked.stderr
    assert any("looks like an identifier: id, zip" in note for note in facts(asked)["notes"])


def test_a_table_of_identifiers_is_refused(tmp_path):
    CRM[["id", "zip"]].to_csv(tmp_path / "t.csv", index=False)
    told = run(tmp_path, "explain", "{}/t.csv", "-k", 3, code=DATA).stderr
    assert told.startswith("boxwood: error: no column is left in ")
    assert "looks like an identifier: id, zip; to use it, name the columns (-c)" in " ".join(told.split())


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("values", "padded"),
    [
        (["01", "2", "3"], True),
        (["0", "2", "3"], False),
        (["0.5", "2", "3"], False),
        (["00.5", "2", "3"], False),
        (["1", "10", "100"], False),
    ],
)
def test_few_numbers_with_leading_zeros_are_words_but_fractions_are_not(tmp_path, values, padded, engine):
    rows = [f"{value},{i},{'uv'[value == values[0]]}\n" for i, value in enumerate(values * 20)]
    (tmp_path / "t.csv").write_text("a,b,kind\n" + "".join(rows))
    words = ("explain", "{}/t.csv", "-l", "kind", "-c", "a", "--json", "--engine", engine)
    told = facts(run(tmp_path, *words))
    assert ("categories" in told) is padded
    if padded:
        assert told["categories"]["a"]["values"] == values[:3]
        assert {cluster["rule"] for cluster in told["clusters"]} == {"a is 01", "a is 2 or 3"}
        assert facts(run(tmp_path, *words, "--numbers", "a")).get("categories") is None


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_flag_that_is_one_value_or_none_is_used(tmp_path, engine):
    flags = {"word": "gold", "yes": "yes", "truth": "true", "one": "1", "day": "2026-03-01"}
    for name, value in flags.items():
        rows = [f"{'uv'[i < 30]},{value if 2 < i < 33 else ''},{i % 7}\n" for i in range(60)]
        (tmp_path / "t.csv").write_text(f"kind,{name},other\n{''.join(rows)}")
        words = ("explain", "{}/t.csv", "-l", "kind", "--json", "--engine", engine)
        told = facts(run(tmp_path, *words))
        assert told["columns"] == [name, "other"]
        assert told["agreement"] == 0.9
        assert any("missing" in rule for one in told["clusters"] for rule in one["rules"])
        dropped = run(tmp_path, *words, "--missing", "drop", "--notes")
        assert facts(dropped)["n_left_out"] == 0
        assert "boxwood: 1 of 2 columns is used: other\nboxwood: left out, " in dropped.stderr


@pytest.mark.parametrize("values", [["00:12:33", "0:59:01.5", ""], ["14:30", "9:05", "23:59"], ["112:05", "7:00"]])
def test_times_and_lengths_of_time_as_text_are_left_out(tmp_path, values):
    reason = "left out, times of day or lengths of time (make numbers of them, such as seconds): t"
    frame = pd.DataFrame({"t": values * 20, "x": np.arange(20 * len(values)) % 7})
    frame["kind"] = np.where(frame["x"] < 3, "u", "v")
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert reason in boxwood.explain(frame.replace("", None), "kind").notes
    for engine in ("memory", "duckdb"):
        assert reason in run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "--engine", engine, "--notes").stdout
    words = boxwood.explain(frame.assign(t=frame["t"] + " h"), "kind")  # a text that is none
    assert "t" in words.columns
    for engine in ("memory", "duckdb"):
        taken = run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "--categories", "t", "--json", "--engine", engine)
        assert facts(taken)["columns"] == ["t", "x"]


def test_a_new_word_among_truths_or_numbers_changes_no_other_row(tmp_path):
    flags = ["ja" if i % 3 else "" for i in range(60)]
    rows = [f"{flag};{i % 7},50 €;{'in' if flag else 'out'}\n" for i, flag in enumerate(["", *flags[:59]])]
    (tmp_path / "t.csv").write_text(f"news;paid;kind\n{''.join(rows)};1,50 €;in\n")
    run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "-o", "{}/m.json", "-q")
    (tmp_path / "new.csv").write_text("news;paid\nja;80,00 €\n;80,00 €\ncancelled;80,00 €\nnein;80,00 €\n")
    result = run(tmp_path, "predict", "{}/m.json", "{}/new.csv", "--notes")
    found = pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)["cluster"]
    rows = boxwood.load(tmp_path / "m.json").predict(
        pd.DataFrame({"news": ["ja", None, "cancelled", "nein"]}), missing="none"
    )
    assert [label or None for label in found] == rows.tolist()
    assert rows.tolist()[:3] == ["in", "out", None]
    assert "column news: 1 row has a value that was never seen, such as 'cancelled'" in result.stderr
    told = run(tmp_path, "why", "{}/m.json", "{}/new.csv", "--row", 3).stdout
    assert told.startswith("no cluster: news is 'cancelled', which was never seen")
    (tmp_path / "t.csv").write_text("paid;kind\n" + "".join(f"{i},50 €;{'uv'[i < 30]}\n" for i in range(60)))
    run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "-o", "{}/m.json", "-q")
    (tmp_path / "new.csv").write_text("paid;n\n80,00 €;1\n20,00 €;2\non request;3\n")
    told = run(tmp_path, "predict", "{}/m.json", "{}/new.csv", code=DATA).stderr
    assert "has text in 1 of 3 rows, first 'on request' in row 3" in told


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_text_among_numbers_of_a_column_that_nobody_asked_for_is_told(tmp_path, engine):
    scores = ["don't know" if i % 20 == 3 else str(i % 11) for i in range(200)]
    pay = ["n/k" if i in (6, 50) else str(1000 + 7 * i % 991) for i in range(200)]
    ages = ["young" if i == 9 else str(18 + i % 60) for i in range(200)]
    kinds = ["unsure" if score == "don't know" else "uv"[int(score) > 5] for score in scores]
    spent = ["on request" if i == 2 else f"{i + 2000:,d} €".replace(",", ".") for i in range(200)]
    last = ["never" if i in (0, 7) else f"{i % 28 + 1:02}.03.{2020 + i % 9}" for i in range(200)]
    rows = "".join(f"{';'.join(row)}\n" for row in zip(scores, pay, ages, spent, last, kinds, strict=True))
    (tmp_path / "t.csv").write_text(f"score;pay;age;spent;last;kind\n{rows}")
    words = ("explain", "{}/t.csv", "-l", "kind", "--json", "--engine", engine)
    result = run(tmp_path, *words, "--notes")
    assert facts(result)["columns"] == ["score"]
    assert facts(result)["agreement"] == 1.0
    rules = {rule for one in facts(result)["clusters"] for rule in one["rules"]}
    assert rules == {"score is don't know", "score is 0, 1, 2, 3, 4 or 5", "score is 6, 7, 8, 9 or 10"}
    told = "left out, {}, but text in {} of 200 rows, first '{}' in row {} (make {} of such cells, or leave them empty)"
    for fact in (("numbers", 2, "n/k", 7), ("numbers", 1, "young", 10), ("numbers", 1, "on request", 3)):
        assert told.format(*fact, "numbers") in result.stderr
    assert told.format("dates", 2, "never", 1, "dates") in result.stderr
    assert "score: numbers and text, read as categories" in result.stderr
    for column in ("score", "pay"):
        refused = run(tmp_path, *words, "-c", column, code=DATA).stderr
        assert f"column '{column}' must be numbers, but" in refused


# -------------------------------------------------------------------------------------------------------- scale


def without_basis(entries):
    """Return what a model tells besides its source."""
    return {name: entry for name, entry in entries.items() if name != "provenance"}


def test_clusters_are_made_on_scaled_columns_unless_told_otherwise(crm):
    X, columns = np.asfortranarray(CRM[["price", "qty"]]), ["price", "qty"]
    for options in ([], ["--scale", "unit"], ["--standardize"], ["--scale", "none"]):
        scaled = "none" not in options if options else "auto"
        result = run(crm, "explain", "{}/crm.csv", "-k", 3, "-c", "price,qty", "--json", *options)
        expected = boxwood.explain(X, n_clusters=3, columns=columns, random_state=0, standardize=scaled)
        assert without_basis(facts(result)) == without_basis(expected.to_dict())
        assert facts(result)["standardized"] is bool(scaled)
        assert "scaled" not in result.stderr


def test_given_labels_are_explained_on_columns_as_they_are(crm):
    result = run(crm, "explain", "{}/crm.csv", "-l", "group", "-c", "price,qty", "--json")
    assert facts(result)["standardized"] is False
    assert "scaled" not in result.stderr
    asked = run(crm, "explain", "{}/crm.csv", "-l", "group", "-c", "price,qty", "--json", "--scale", "unit")
    assert facts(asked)["standardized"] is True


def test_a_column_that_decides_alone_is_told_without_advice_that_was_followed(tmp_path):
    a = np.repeat([0.0, 5, 9], 20)
    pd.DataFrame({"a": a, "b": abs(a - 5)}).to_csv(tmp_path / "t.csv", index=False)
    for scale, advice in (("none", "standardize, or choose the columns"), ("unit", "choose the columns")):
        notes = facts(run(tmp_path, "explain", "{}/t.csv", "-k", 3, "--scale", scale, "--json"))["notes"]
        said = f"alone decides the cluster of every row; if other columns should count, {advice} (columns)"
        assert [note[2:] for note in notes if "alone" in note] == [said]


# ------------------------------------------------------------------------------------------- files as people write them

X = np.round(RNG.normal(size=(40, 2)) * 900 + [5000, 0], 2)
KIND = np.where(X[:, 0] > 5000, "dear", "cheap")


def written(number, decimal=".", thousands=""):
    return f"{number:,.2f}".replace(",", "\0").replace(".", decimal).replace("\0", thousands)


def csv_text(cells, delimiter=",", header=("price", "share", "kind")):
    rows = [*([header] if header else []), *([*row, kind] for row, kind in zip(cells, KIND, strict=True))]
    return "\n".join(delimiter.join(row) for row in rows) + "\n"


PLAIN = [[written(x) for x in row] for row in X]
COMMAS = [[written(x, ",") for x in row] for row in X]
GROUPS = [[written(x, ",", ".") for x in row] for row in X]
QUOTED = [[f'"{cell}"' for cell in row] for row in COMMAS]
FULL = [[f'"{written(x, ".", ",")}"' for x in row] for row in X]
EUROS = [[f"{cell} €" for cell in row] for row in GROUPS]
DOLLARS = [[f'"${cell}"'.replace("$-", "-$") for cell in row] for row in PLAIN]
NARROW = [[written(x, ",", "\u202f").replace("-", "\u2212") for x in row] for row in X]
BRACKETS = [[f"({x[1:]})" if x.startswith("-") else x for x in row] for row in PLAIN]
SPACED = csv_text(PLAIN, " ")


class Written(NamedTuple):
    text: str
    options: tuple[str, ...] = ()
    note: str = ""


WRITTEN = {
    "plain": Written(csv_text(PLAIN)),
    "semicolons and decimal commas": Written(csv_text(COMMAS, ";")),
    "semicolons and groups": Written(csv_text(GROUPS, ";")),
    "commas that are sure": Written(csv_text(QUOTED), note="read as numbers: price ('"),
    "groups": Written(csv_text(FULL), note="read as numbers: price ('"),
    "euros": Written(csv_text(EUROS, ";"), note="read as numbers: price ('"),
    "dollars": Written(csv_text(DOLLARS), note="read as numbers: price ('"),
    "spaces and minus signs": Written(csv_text(NARROW, "\t"), note="read as numbers: price ('"),
    "brackets": Written(csv_text(BRACKETS), note="read as numbers: share ('("),
    "tabs and decimal commas": Written(csv_text(COMMAS, "\t"), ("--decimal", ",")),
    "quoted decimal commas": Written(csv_text(QUOTED), ("--decimal", ",")),
    "spaces": Written(SPACED),
    "runs of spaces": Written(SPACED.replace(" ", "   ").replace("price", "  price")),
    "a comment": Written("# made today\n" + csv_text(PLAIN), note="skipped 1 line that begins with #"),
    "comments": Written("# made today, by hand\n#\n" + csv_text(PLAIN), note="skipped 2 lines that begin with #"),
    "comments and spaces": Written("# made today\n" + SPACED, note="skipped 1 line that begin"),
    "comments and semicolons": Written("# a;b\n" + csv_text(COMMAS, ";"), note="skipped 1 line that begin"),
}


@pytest.mark.crossed
@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("out", ["o.csv", "o.parquet"])
def test_a_file_is_read_as_people_write_it(tmp_path, form, out):
    text, options, note = WRITTEN[form]
    (tmp_path / "t.csv").write_text(text)
    args = ["explain", "{}/t.csv", "-l", "kind", "--json", "--notes", "--save", "{}/m.json", *options]
    result = run(tmp_path, *args)
    expected = boxwood.explain(np.asfortranarray(X), KIND, columns=["price", "share"])
    found = facts(result)
    notes = found.pop("notes")
    same = json.loads(expected.to_json())
    assert without_basis(found) == {name: fact for name, fact in without_basis(same).items() if name != "notes"}
    assert [said for said in notes if not said.startswith(("read as numbers: ", "skipped "))] == list(expected.notes)
    assert note in result.stderr
    run(tmp_path, "predict", "{}/m.json", "{}/t.csv", "-o", f"{{}}/{out}", *options)
    assert [row[0] for row in duckdb.execute(f"SELECT cluster FROM '{tmp_path / out}'").fetchall()] == KIND.tolist()


@pytest.mark.parametrize("delimiter", [",", ";", " "])
def test_a_file_without_header(tmp_path, delimiter):
    (tmp_path / "t.csv").write_text("# no names\n" + csv_text(PLAIN, delimiter, header=None))
    args = ["explain", "{}/t.csv", "--no-header", "-l", "column 3", "--json", "--save", "{}/m.json"]
    result = facts(run(tmp_path, *args))
    assert result["n_rows"] == len(X)
    assert result["columns"] == ["column 1", "column 2"]
    assert result["clusters"][0]["rule"].startswith("column 1 <= ")
    lines = run(tmp_path, "predict", "{}/m.json", "{}/t.csv", "--no-header").stdout.splitlines()
    assert lines[0] == "column 1,column 2,column 3,cluster"
    assert [line.split(",")[3] for line in lines[1:]] == KIND.tolist()
    told = run(tmp_path, "predict", "{}/m.json", "{}/t.csv", code=DATA).stderr
    assert told.endswith("lacks a column the rules need: column 1\n  if it has no header: --no-header\n")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("24.84,10,a", "column names look like data (24.84, 10); no header? --no-header"),
        ("5.1,x,setosa", "column names look like data (5.1); no header? --no-header"),
        ("3,7,9", "column names look like data (3, 7, 9); no header? --no-header"),
        ("0,1,2", None),
        ("2019,2020,2021", None),
        ("id,2019,2020", None),
        ("a,b,c", None),
    ],
)
def test_a_header_that_looks_like_data_is_told(tmp_path, header, said):
    (tmp_path / "t.csv").write_text(f"{header}\n" + "".join(f"{i},{i % 3},{i % 5}\n" for i in range(20)))
    told = run(tmp_path, "explain", "{}/t.csv", "-k", 2, "--notes").stdout
    assert (f"Note: {said}\n" in told) if said else "look like data" not in told


@law(24)
def test_a_first_line_of_numbers_above_numbers_is_a_row(tmp_path, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, int(rng.integers(2, 5)))) * 10.0 ** rng.integers(2, 6)
    if seed % 2:
        rows = np.flip(np.sort(rows.round().astype(int), axis=1), axis=1)  # whole numbers that rise may be names
    texts = [[str(value) for value in row] for row in rows.tolist()]
    if seed % 3:
        texts[int(rng.integers(1, 30))][0] = ""
    path = tmp_path / f"{seed}.csv"
    path.write_text("\n".join(map(",".join, texts)) + "\n")
    with boxwood.scan(path) as table:
        assert any("is numbers above numbers" in note for note in table.notes)
        ex = boxwood.explain(table, n_clusters=2, method="imm")
    assert ex.n_rows == 30
    assert ex.columns == tuple(f"column {j + 1}" for j in range(rows.shape[1]))
    named = boxwood.explain(boxwood.scan(path, header=True), n_clusters=2, method="imm")
    assert named.columns == tuple(texts[0])


def test_what_people_write_for_a_missing_number_is_missing(tmp_path):
    blanks = ["", "n/a", "-", " - ", "--", "\u2013", "\u2014", ".", "?", "n.a.", "k.A.", "Missing", "UNKNOWN"]
    ages = [blanks[i // 5] if i % 5 == 0 and i // 5 < len(blanks) else str(20 + i % 40) for i in range(80)]
    seen = ["-" if i % 7 == 0 else f"2026-{i % 12 + 1:02}-01" for i in range(80)]
    words, kind = [["-", "unknown", "red"][i % 3] for i in range(80)], [["unknown", "known"][i % 2] for i in range(80)]
    lines = ["age,seen,colour,kind", *map(",".join, zip(ages, seen, words, kind, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    table = read_file(str(tmp_path / "t.csv"), labels="kind", missing="drop")
    assert table.columns == ("age", "seen", "colour")
    expected = [np.nan if age in blanks else float(age) for age in ages]
    assert np.array_equal(table.X[:, 0], expected, equal_nan=True)
    assert np.isnan(table.X[:, 1]).tolist() == [day == "-" for day in seen]
    assert table.categories[2].values == ("-", "red", "unknown")
    assert table.labels.tolist() == kind
    with boxwood.scan(tmp_path / "t.csv") as source:
        assert source.kinds == ("number", "date", "text", "text")
        in_batches = boxwood.explain(source, "kind")
    run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "--save", "{}/m.json", "-q")
    assert in_batches.tree == boxwood.load(tmp_path / "m.json").tree
    labelled = run(tmp_path, "predict", "{}/m.json", "{}/t.csv", "-q").stdout.splitlines()[1:]
    assert sum(line.endswith(",") for line in labelled) == 0


HEADING, ONE_LINE = "numbers, but text in 1 of 3 rows, first 'years' in row 1", "keep one line of names above the rows"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\nyears\n1\n2\n", f"left out, {HEADING} (if that row has names or units, {ONE_LINE}): a"),
        ("Sales 2026\n\na,b\n1,2\n2,3\n", "if there is a title above the column names, delete it"),
    ],
)
def test_what_to_do_with_lines_that_do_not_belong_to_the_table_is_told(tmp_path, text, said):
    (tmp_path / "t.csv").write_text(text)
    assert run(tmp_path, "explain", "{}/t.csv", "-k", 2, code=DATA).stderr.endswith(f"\n  {said}\n")


def test_names_that_come_twice_are_told(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a\n" + "".join(f"{i},{i % 3},{i % 5}\n" for i in range(20)))
    told = run(tmp_path, "explain", "{}/t.csv", "-k", 2, "--notes").stdout
    assert "Note: repeated column names get a number: a_1\n" in told


DOUBT, OPTIONS = "look like numbers with", "--decimal . or --decimal , reads them"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (['"12,345"', '"6,789"'], f"{DOUBT} a sign that may part thousands or decimals: a ('12,345'); {OPTIONS}"),
        (["1.234 €", "5.678 €"], f"{DOUBT} a sign that may part thousands or decimals: a ('1.234 €'); {OPTIONS}"),
        (["$5", "€6"], f"{DOUBT} different signs: a ('$5'); write plain numbers to use them"),
        (["CHF 5", "EUR 6"], f"{DOUBT} different signs: a ('CHF 5'); write plain numbers to use them"),
        (["7%", "0.5", "8%"], f"{DOUBT} different signs: a ('7%'); write plain numbers to use them"),
        (['"1,5"', '"1,2"', '"1,234.5"'], f"{DOUBT} points and commas in more than one role: a ('1,2'); write plain"),
        (["red", "12%"], None),
        (["ABC 5", "ABC 6"], None),
        (["1.2.3", "1.2.4"], None),
        (["26.12.2021", "24.12.2021"], None),
        (["0049 30 123", "0049 40 456"], None),
    ],
)
def test_text_that_is_perhaps_numbers_is_told(tmp_path, values, said):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(f"{value},{i},{i % 4}\n" for i, value in enumerate(values * 9)))
    told = run(tmp_path, "explain", "{}/t.csv", "-k", 2, "--notes").stdout
    assert (f"Note: {said}" in told) if said else "look like" not in told
    named = run(tmp_path, "explain", "{}/t.csv", "-k", 2, "-c", "a", "--numbers", "a", code=DATA).stderr
    assert (f"\n  {said}" in named) if said else "look like" not in named


def test_points_are_in_doubt_where_other_columns_have_decimal_commas(tmp_path):
    doubt = f"{DOUBT} a sign that may part thousands or decimals: people ('59.915'); {OPTIONS}"
    for people, price, is_doubtful in (
        (["59.915", "237", "60.000"], "1,5", True),
        (["59.91", "237", "60.000"], "1,5", False),  # decimals
        (["59.915", "237", "60.000"], "1.5", False),
    ):
        lines = [f"{people[i % 3]};{price}{i};{'ab'[i % 3 == 1]}\n" for i in range(30)]
        (tmp_path / "t.csv").write_text("people;price;kind\n" + "".join(lines))
        for engine in ("memory", "duckdb"):
            told = run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "--engine", engine, "--notes").stdout
            assert (f"Note: {doubt}" in told) == is_doubtful
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text().replace(";1.", ";1,"))
    named = run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "-c", "people", code=DATA).stderr
    assert named.endswith(f"\n  {doubt}\n")
    run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "-c", "people", "--decimal", ",", "-o", "{}/m.json")
    refused = run(tmp_path, "predict", "{}/m.json", "{}/t.csv", "-o", "{}/out.csv", code=DATA).stderr
    assert refused == f"boxwood: error: columns of {tmp_path}/t.csv {doubt}\n"
    run(tmp_path, "predict", "{}/m.json", "{}/t.csv", "-o", "{}/out.csv", "--decimal", ",")
    assert '59.915,"1,50",a,a' in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(
    ("values", "decimal", "numbers"),
    [
        (["12,345", "6,789"], ".", [12345, 6789]),
        (["12,345", "6,789"], ",", [12.345, 6.789]),
        (["1.234 €", "7 €"], ",", [1234, 7]),
        (["1.234 €", "7 €"], ".", [1.234, 7]),
        (["8,5 %", "1,0 %"], None, [8.5, 1]),
        (["1'234.50", "-2"], None, [1234.5, -2]),
    ],
)
def test_an_option_decides_where_there_is_doubt(tmp_path, values, decimal, numbers):
    (tmp_path / "t.csv").write_text("a;b\n" + "".join(f"{value};{i}\n" for i, value in enumerate(values)))
    assert read_file(str(tmp_path / "t.csv"), ReadOptions(decimal=decimal)).X[:, 0].tolist() == numbers


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1,5", "2", "3,25"], [1.5, 2, 3.25]),
        (["1.234,5", "-12.345.678,25", "0,5"], [1234.5, -12345678.25, 0.5]),
        (["1,5", "NA", ""], [1.5, None, None]),
        (["1,5", "2.5", "3"], None),  # both signs: neither is sure
        (["1,234", "5,678", "9"], None),  # fractions, or thousands
        (["1,5", "x", "2,5"], None),
        (["1.5", "2", "3"], [1.5, 2, 3]),
    ],
)
def test_a_decimal_comma_is_read_where_it_is_sure(tmp_path, values, numbers):
    (tmp_path / "t.csv").write_text("a;b\n" + "".join(f"{value};{i}\n" for i, value in enumerate(values)))
    with open_table(str(tmp_path / "t.csv")) as source:
        learn_styles(source, [0])
        found = [row[0] for row in source.fetch(f"SELECT {source.number(0)} FROM {source.relation}")]
        plain = [_plain(value) for value in values]
        assert found == (plain if numbers is None else numbers)


def _plain(value):
    try:
        return float(value)
    except ValueError:
        return None


@pytest.mark.crossed
@pytest.mark.parametrize("words", [("yes", "no"), ("Ja", "Nein"), ("OUI", "non")])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_words_for_yes_and_no_are_true_and_false(tmp_path, words, form):
    yes, no = words
    chosen = np.arange(40) % 3 == 0
    frame = pd.DataFrame({"letter": np.where(chosen, yes, no), "only": yes, "x": np.arange(40) % 7})
    path = str(tmp_path / f"t.{form}")
    frame.to_csv(path, index=False) if form == "csv" else frame.to_json(path, orient="records", lines=True)
    table = read_file(path)
    assert (table.columns, table.booleans) == (("letter", "x"), ("letter",))
    assert table.X[:, 0].tolist() == chosen.tolist()
    assert table.spellings == {"letter": (f"{yes.lower()} is 1, {no.lower()} is 0", False)}
    with boxwood.scan(path) as source:
        assert source.kinds == ("boolean", "boolean", "number")


def test_numbers_that_are_rounded_are_told_of_columns_that_are_used(tmp_path):
    huge = 2**62 + 100_000 * np.arange(60)
    frame = pd.DataFrame({"id": huge, "far": huge[::-1], "x": np.arange(60) % 7, "kind": np.arange(60) // 30})
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run(tmp_path, "explain", "{}/t.csv", "-l", "kind", "--json", "--notes")
    note = "whole numbers too large to be exact as doubles: far; rules read them rounded"
    assert f"boxwood: {note}\n" in result.stderr
    assert note in facts(result)["notes"]


def test_options_of_csv_are_refused_for_other_formats(tmp_path):
    duckdb.execute(f"COPY (SELECT i AS a FROM range(9) t(i)) TO '{tmp_path / 't.parquet'}'")
    for options in (["--no-header"], ["--decimal", ","]):
        told = run(tmp_path, "explain", "{}/t.parquet", "-k", 2, *options, code=DATA).stderr
        assert told.endswith("t.parquet is parquet; --no-header, --decimal and --encoding are for csv and tsv\n")


def test_a_header_may_begin_with_a_number_sign(tmp_path):
    (tmp_path / "t.csv").write_text("# made today\n#x,y\n1,2\n3,5\n")
    assert read_file(str(tmp_path / "t.csv")).columns == ("#x", "y")
    (tmp_path / "t.csv").write_text("#x\n1\n3\n")
    assert read_file(str(tmp_path / "t.csv")).columns == ("#x",)


# ------------------------------------------------------------------------------------------------- words of notes


def notes_of(result):
    return [line.removeprefix("Note: ") for line in result.stdout.splitlines() if line.startswith("Note: ")]


def test_notes_name_options_of_the_command_line(crm):
    t = np.arange(N, dtype=float)
    group = np.where(t % 3 == 0, t * 7 % 4, t // 5 % 4)  # more leaves get more rows right, but not all
    table = {"a": np.repeat([0.0, 5, 900], N // 3), "standardize": t % 7 / 3, "id": t, "group": group}
    pd.DataFrame(table).to_csv(crm / "t.csv", index=False)
    calls = {
        "k-means hardly sees standardize": ("; --scale unit gives columns equal weight", "-k", 2, "--scale", "none"),
        "a alone decides": ("--scale unit, or choose the columns (-c)", "-k", 2, "--scale", "none"),
        "looks like an identifier: id": (
            "rules on it say little (--exclude leaves it out)",
            "-l",
            "group",
            "-c",
            "a,id",
        ),
        "leaves that was tried reaches": ("(--max-leaf-nodes)", "-l", "group", "-c", "a,id,standardize"),
    }
    for begins, (ends, *options) in calls.items():
        shown = run(crm, "explain", "{}/t.csv", *options, "--notes", "--save", "{}/m.json")
        (note,) = [note for note in notes_of(shown) if begins in note]
        assert note.endswith(ends), note
        assert note in notes_of(run(crm, "export", "{}/m.json"))
        assert not any(
            note.rstrip(")").endswith(("columns", "max_leaf_nodes", "n_clusters")) for note in notes_of(shown)
        )
        assert note not in boxwood.load(crm / "m.json").notes  # Python's words stay in the model


def test_every_parameter_that_a_note_ends_with_has_an_option():
    from pathlib import Path

    from boxwood import explanation
    from boxwood.cli._options import _ENDS, _IN_ERRORS

    source = "".join(path.read_text() for path in Path(explanation.__file__).parent.rglob("*.py"))
    parameters = "|".join({*inspect.signature(boxwood.explain).parameters} - {"X", "key"})  # no options
    ends = set(re.findall(rf"\((?:{parameters})[a-z ,=\"]*\)(?=[\"'][],)\n ])", source))
    assert ends - {*_IN_ERRORS} == {"(" + end.rpartition("(")[2] for end in _ENDS if end.endswith(")")}
