"""The command line on files that are not UTF-8, on databases and on workbooks."""

import random
import re
import sqlite3

import duckdb
import pandas as pd
import pytest

from boxwood import explain
from tests.command import invoke as run
from tests.scale import some

ROWS = [(i % 4 * 10 + round(random.Random(i).random(), 3), i % 4, "Köln" if i % 2 else "Zürich") for i in range(60)]
NAMES = ("Umsätze", "besuche", "ort")


def made(folder, form):
    """Write the rows in a form; return the name of the file and the options to read it."""
    path = folder / f"t.{form}"
    if form == "sqlite":
        with sqlite3.connect(path) as con:
            con.execute("CREATE TABLE other (a)")
            con.execute('CREATE TABLE "the rows" ("Umsätze", besuche, ort)')
            con.executemany('INSERT INTO "the rows" VALUES (?, ?, ?)', ROWS)
        con.close()
        return path, ["--table", "the rows"]
    if form == "duckdb":
        with duckdb.connect(path) as con:
            con.execute('CREATE TABLE "the rows" ("Umsätze" DOUBLE, besuche INTEGER, ort VARCHAR)')
            con.executemany('INSERT INTO "the rows" VALUES (?, ?, ?)', ROWS)
        return path, []
    if form == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [NAMES, *ROWS]:
            book.active.append(row)
        book.create_sheet("empty")
        book.save(path)
        return path, []
    lines = [",".join(map(str, row)) for row in [NAMES, *ROWS]]
    encoding = {"csv": "utf-8", "txt": "cp1252", "tsv": "mac-roman"}[form]
    path.write_bytes("\n".join(lines).encode(encoding))
    return path, ["--encoding", "mac-roman", "--format", "csv"] if form == "tsv" else []


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    return answers(*made(folder, "csv"), folder)


def answers(path, how, folder):
    """Return what each verb says of a table."""
    model = folder / "m.json"
    labelled = "SELECT \"Umsätze\"::DOUBLE, besuche::INT, ort, cluster::INT FROM '{}'"
    explained = ("explain", path, "-k", 4, "--method", "imm", *how)
    shown = [run(*explained, *more).stdout for more in (["--save", model], ["--engine", "duckdb"])]
    said = [
        [line for line in text.splitlines() if not re.match(r"Note: |\d+ (more )?notes?: ", line)] for text in shown
    ]
    run("predict", model, path, "-o", folder / "o.csv", *how)
    said += [duckdb.sql(labelled.format(folder / "o.csv")).fetchall()]
    said += [run("why", model, path, "--row", 8, *how).stdout]
    compared = run("compare", path, "-k", 4, "--method", "imm", "--max-leaf-nodes", 4, "--json", *how).stdout
    return [*said, [line for line in compared.splitlines() if "seconds" not in line]]


@pytest.mark.parametrize("form", some(["txt", "tsv", "sqlite", "duckdb", "xlsx"], of=2))
def test_every_verb_says_the_same_of_every_form(tmp_path, expected, form):
    assert answers(*made(tmp_path, form), tmp_path) == expected


def test_a_guessed_encoding_is_told_by_every_verb(tmp_path):
    path, _ = made(tmp_path, "txt")
    told = "boxwood: read as cp1252; if that is wrong, name the encoding with --encoding"
    for how in (["--save", tmp_path / "m.json"], ["--engine", "duckdb"]):
        assert told in run("explain", path, "-k", 4, "--method", "imm", "--json", "--notes", *how).stderr
    assert told in run("predict", tmp_path / "m.json", path, "-o", tmp_path / "o.csv").stderr
    assert "read as" not in run("explain", path, "-k", 4, "--method", "imm", "--encoding", "cp1252").stdout


def test_tables_are_listed_and_unknown_formats_get_a_remedy(tmp_path):
    path, how = made(tmp_path, "sqlite")
    error = run("explain", path, "-k", 4, code=3).stderr
    assert "holds 2 tables; name one of them with --table\n  tables: other, the rows" in error
    for name in ("t.xls", "t.ods", "t.sav"):
        (tmp_path / name).write_bytes(b"anything")
        assert "save it as .csv or .xlsx" in run("explain", tmp_path / name, "-k", 4, code=3).stderr
    for option in (how, ["--encoding", "cp1252"]):
        error = run("explain", tmp_path / "t.csv", "-k", 4, "--engine", "dask", *option, code=2).stderr
        assert f"{option[0]} is for --engine duckdb or memory" in error


def test_sql_says_which_columns_must_be_converted_and_predict_which_lacks_a_value(tmp_path):
    rows = [f'"{1000 * (i % 2) + i},5";{20 + i};{"ab"[i % 2]}' for i in range(40)]
    (tmp_path / "de.csv").write_text("\n".join(["Umsatz;Alter;seg", *rows]))
    (tmp_path / "new.csv").write_text('Umsatz;Alter\n"";20\n"3,5";30\n')
    files = ["-o", tmp_path / "rules.sql", "-o", tmp_path / "m.json"]
    run("explain", tmp_path / "de.csv", "-l", "seg", *files)
    made, first, then = (tmp_path / "rules.sql").read_text().split("\n", 2)
    assert re.fullmatch(r"-- boxwood \S+, \S+, from de.csv: 2 clusters, 2 leaves, agreement 100.0%", made)
    assert first.startswith(
        "-- Convert these columns to numbers first, where your database holds them as text: Umsatz ("
    )
    assert re.sub("^-- NaN .*\n", "", then).startswith("CASE\n")
    assert run("export", tmp_path / "m.json", "--to", "sql").stdout.splitlines()[:2] == [made, first]
    told = run("predict", tmp_path / "m.json", tmp_path / "new.csv").stderr
    assert "1 row left without a cluster: their value of Umsatz is missing" in told


def test_sql_says_which_tested_columns_a_database_may_hold_otherwise(tmp_path):
    lines = ["km;express;price;seg"]
    for i in range(60):
        express, far = ("ja", "nein")[i % 2], i % 3 == 0
        lines.append(f"{'2.5' if far else '1.2'}{i:02};{express};{i % 7},5 €;{'far' if far else express}")
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    run(
        "explain",
        tmp_path / "t.csv",
        "-l",
        "seg",
        "--decimal",
        ",",
        "-o",
        tmp_path / "r.sql",
        "-o",
        tmp_path / "m.json",
    )
    said = [line for line in (tmp_path / "r.sql").read_text().splitlines() if line.startswith("-- Convert")]
    assert said == [
        "-- Convert these columns to numbers first, where your database holds them as text: km ('1.234' is 1234)",
        "-- Convert these columns to booleans first, where your database holds them as text: "
        "express (ja is true, nein is false)",
    ]
    assert run("export", tmp_path / "m.json", "--to", "sql").stdout.splitlines()[1:3] == said


def test_sql_says_which_words_a_database_may_hold_as_numbers():
    said = "-- Convert these columns to text first, where your database holds them as numbers: version (such as 1.10)\n"
    for words, remark in ((["1.2", "1.10", "1.1"], said), (["1", "1.5", "b"], "")):
        frame = pd.DataFrame({"version": words * 20, "kind": ["old", "new", "old"] * 20})
        assert explain(frame, "kind").to_sql().split("\n", 1)[1].startswith(f"{remark}CASE\n")


def test_sql_says_all_of_a_list_that_is_cut_off(tmp_path):
    names = [f"p{j:02}" for j in range(12)]
    lines = [";".join([*names, "seg"])]
    lines += [
        ";".join([*(f"{(7 * i + 3 * j) % 50},5 €" for j in range(11)), f"{i},5 €", "ab"[i > 30]]) for i in range(60)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    run("explain", tmp_path / "t.csv", "-l", "seg", "-o", tmp_path / "r.sql")
    _, first, case = (tmp_path / "r.sql").read_text().split("\n", 2)
    assert '"p11" <= ' in case
    assert first.endswith(" and 2 more")
