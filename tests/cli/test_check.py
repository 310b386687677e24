"""`boxwood check`: from a file of SQL and a table to sentences, JSON and an exit code."""

import json

import pytest

from tests.command import invoke

SQL = "SELECT CASE WHEN age < 18 THEN 'child'\n WHEN age > 18 THEN 'adult'\n WHEN age > 30 THEN 'old' END AS s FROM t"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "segments.sql").write_text(SQL)
    (tmp_path / "broken.sql").write_text("CASE WHEN age LIKE 3 THEN 1 END")
    (tmp_path / "people.csv").write_text("age,s\n3,child\n18,adult\n40,adult\n,child\n")
    return tmp_path


def run(folder, *arguments, code=0):
    given = [str(each).replace("{}", str(folder)) for each in arguments]
    return invoke("check", *given, code=code)


def test_rules_are_judged_without_a_table(folder):
    found = run(folder, "{}/segments.sql")
    assert "error: branch 3 (old, line 3) can never fire: branch 2 (adult, line 2) takes all its rows." in found.stdout
    assert "warning: no branch takes age = 18, between thresholds; such rows get NULL." in found.stdout


def test_rules_are_judged_on_a_table(folder):
    found = run(folder, "{}/segments.sql", "{}/people.csv", "--labels", "s", "--json")
    facts = json.loads(found.stdout)
    assert facts["n_rows"] == 4
    assert facts["agreement"] == 0.5
    assert [one["taken"] for one in facts["branches"]] == [1, 1, 0, 2]
    assert [one["rows"] for one in facts["findings"] if one["kind"] == "hole"] == [1]


@pytest.mark.parametrize(("option", "today"), [("--today", "2026-07-31"), ("--as-of", "2026-09-15")])
def test_ages_count_from_the_day_that_is_named(folder, option, today):
    (folder / "aged.sql").write_text("CASE WHEN seen >= CURRENT_DATE - 30 THEN 'new' ELSE 'gone' END")
    (folder / "seen.csv").write_text("seen,s\n2026-07-20,new\n2026-05-01,gone\n")
    facts = json.loads(run(folder, "{}/aged.sql", "{}/seen.csv", "-l", "s", option, today, "--json").stdout)
    assert facts["agreement"] == (1.0 if today == "2026-07-31" else 0.5)


def test_rules_are_compared_with_those_that_they_replace(folder):
    (folder / "old.sql").write_text(SQL.replace("age > 18", "age >= 18"))
    found = run(folder, "{}/segments.sql", "{}/people.csv", "--against", "{}/old.sql")
    assert found.stdout.rstrip().endswith("1 of 4 rows get another name:\nadult -> NULL: 1 row; where age = 18")
    facts = json.loads(run(folder, "{}/segments.sql", "--against", "{}/old.sql", "--json").stdout)
    assert [(one["before"], one["now"], one["rows"]) for one in facts["difference"]["moves"]] == [("adult", None, None)]


def test_rows_are_compared_with_those_of_an_earlier_month(folder):
    (folder / "aged.sql").write_text("CASE WHEN seen >= CURRENT_DATE - 30 THEN 'new' ELSE 'gone' END")
    for month, day in (("june", "2026-06-20"), ("july", "2026-07-20")):
        (folder / f"{month}.csv").write_text("seen\n" + f"{day}\n" * 60 + "2026-01-01\n" * 20)
    days = ["--today", "2026-07-31", "--before-today", "2026-06-30"]
    facts = json.loads(run(folder, "{}/aged.sql", "{}/july.csv", "--before", "{}/june.csv", *days, "--json").stdout)
    assert [(one["taken"], one["taken_then"]) for one in facts["branches"]] == [(60, 60), (20, 20)]
    facts = json.loads(run(folder, "{}/aged.sql", "{}/july.csv", "--before", "{}/june.csv", *days[:2], "--json").stdout)
    assert [one["kind"] for one in facts["findings"] if one["kind"] in ("grew", "shrank")] == ["grew", "shrank"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["{}/segments.sql", "--fail-on", "error"], 4, "found 1 of level error"),
        (["{}/segments.sql", "{}/people.csv", "--fail-on", "warning"], 4, "of level warning or graver"),
        (["{}/broken.sql"], 3, "line 1, column 11: expected a comparison"),
        (["{}/segments.sql", "--labels", "s"], 2, "--labels needs FILE"),
        (["{}/segments.sql", "--before", "june.csv"], 2, "--before needs FILE"),
        (["{}/segments.sql", "--against", "{}/broken.sql"], 3, "line 1, column 11: expected a comparison"),
        (["{}/segments.sql", "{}/people.csv", "--labels", "x"], 3, "x"),
        (["{}/nothing.sql"], 3, "nothing.sql"),
        (["{}/segments.sql", "--today", "soon"], 2, "'soon' does not match the format '%Y-%m-%d'"),
    ],
)
def test_exit_codes(folder, arguments, code, said):
    assert said in run(folder, *arguments, code=code).stderr
