"""`boxwood drift`: a nightly job from two monthly files to a report and an exit code."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks.living import first

import boxwood as bw
from boxwood.cli._verbs import DATA, PAST_A_LIMIT
from tests.cli.test_cli import USAGE, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a model of October, and rows of November: some of unknown countries, and fewer of one."""
    folder = tmp_path_factory.mktemp("months")
    october = first(np.random.default_rng(5))
    rows = october.rows.assign(segment=october.labels)
    bw.explain(rows, "segment").save(folder / "october.json")
    november = rows[(october.labels != "s0") | (np.arange(len(rows)) % 2 == 0)].reset_index(drop=True)
    november.loc[:9, "c0"] = np.nan
    november.loc[20:29, "segment"] = "s1"
    november.to_csv(folder / "november.csv", index=False)
    return folder


def test_a_nightly_job(folder):
    report = folder / "report.html"
    measured = run(folder, "drift", "{}/october.json", "{}/november.csv", "-l", "segment", "-o", report)
    ex = bw.load(folder / "october.json")
    drift = ex.evaluate(bw.scan(folder / "november.csv"), "segment").drift
    assert measured.stdout == f"{drift}\n"
    assert ("shrank", "s0") in [one[:2] for one in drift.changes]
    assert "s0 shrank" in report.read_text(encoding="utf-8")
    query = f"SELECT * FROM '{folder / 'november.csv'}'"
    numbers = run(folder, "drift", "{}/october.json", "--sql", query, "-l", "segment", "--json").stdout
    assert json.loads(numbers) == json.loads(json.dumps(drift.to_dict()))


def test_exit_codes(folder):
    measured = "drift", "{}/october.json", "{}/november.csv", "-q"
    run(folder, *measured, "-l", "segment", "--fail-under", 0.5, "--fail-over-empty", 0.9)
    assert "agreement is" in run(folder, *measured, "-l", "segment", "--fail-under", 1, code=PAST_A_LIMIT).stderr
    limit = run(folder, *measured, "--fail-over-empty", 0, code=PAST_A_LIMIT).stderr
    assert "have no cluster, more than 0%" in limit
    assert "without labels" in run(folder, *measured, "--fail-under", 0.5, code=USAGE).stderr
    assert "known: .html" in run(folder, *measured, "-o", "report.docx", code=USAGE).stderr
    assert "FILE or --sql" in run(folder, "drift", "{}/october.json", code=USAGE).stderr
    assert "has no column" in run(folder, *measured, "-l", "segmnt", code=DATA).stderr
    (folder / "empty.csv").write_text((folder / "november.csv").read_text().splitlines()[0] + "\n")
    empty = "drift", "{}/october.json", "{}/empty.csv", "--fail-over-empty", 1
    assert "there are no rows" in run(folder, *empty, code=PAST_A_LIMIT).stderr
    assert "has no rows" in run(folder, "match", "segment", "segment", "{}/empty.csv", code=DATA).stderr


def test_one_note_is_printed_and_the_others_are_asked_for(folder, tmp_path):
    new = pd.read_csv(folder / "november.csv").assign(c0=lambda rows: rows["c0"].where(rows.index > 4, "-"))
    new.to_csv(tmp_path / "new.csv", index=False, header=False)
    (tmp_path / "titled.csv").write_text(f"November,,\n\n{','.join(new.columns)}\n{(tmp_path / 'new.csv').read_text()}")
    for verb in (["drift", "{}/october.json"], ["match", "{}/october.json", "{}/october.json"]):
        short, full = (
            run(folder, *verb, tmp_path / "titled.csv", *all_notes).stdout for all_notes in ((), ("--notes",))
        )
        told = [line for line in full.splitlines() if line.startswith("Note: ")]
        assert told
        assert short.split("\n\n")[:-1] == full.split("\n\n")[:-1]
        assert short.splitlines()[-1] == f"{len(told)} note{'s' * (len(told) > 1)}: --notes"


@pytest.mark.parametrize(
    ("share", "code"), [("0.5", 0), ("50%", 0), ("99.99%", PAST_A_LIMIT), ("90", USAGE), ("x%", USAGE)]
)
def test_shares_are_numbers_or_percentages(folder, share, code):
    measured = run(
        folder, "drift", "{}/october.json", "{}/november.csv", "-l", "segment", "--fail-under", share, code=code
    )
    assert ("write 0.9 or 90%" in measured.stderr) == (code == USAGE)
    labelled = "predict", "{}/october.json", "{}/november.csv", "--fail-over-empty"
    assert "write 0.9 or 90%" in run(folder, *labelled, "101%", code=USAGE).stderr


@pytest.mark.parametrize(("end", "begins"), [("md", "## "), ("txt", "1,"), ("json", "{")])
def test_reports_by_extension(folder, end, begins):
    run(folder, "drift", "{}/october.json", "{}/november.csv", "-o", folder / f"report.{end}")
    assert (folder / f"report.{end}").read_text(encoding="utf-8").startswith(begins)


def test_two_models_are_matched(folder):
    october = bw.load(folder / "october.json")
    other = october.rename({name: f"t{i}" for i, name in enumerate(reversed(october.names))})
    other.save(folder / "other.json")
    matched = "match", "{}/october.json", "{}/other.json"
    assert run(folder, *matched).stdout == f"{bw.match(october, bw.load(folder / 'other.json'))}\n"
    found = run(folder, *matched, "{}/november.csv", "--json", "--named", "{}/named.json", "-o", folder / "flow.html")
    assert [one["change"] for one in json.loads(found.stdout)["changes"]] == ["same"] * october.n_clusters
    assert bw.load(folder / "named.json").names == october.names
    assert "same" in (folder / "flow.html").read_text(encoding="utf-8")
    assert "not both" in run(folder, *matched, "x.csv", "--sql", "SELECT 1", code=USAGE).stderr


def test_columns_of_labels_and_tallies_are_matched(folder):
    model, november = bw.load(folder / "october.json"), pd.read_csv(folder / "november.csv")
    november["other"] = november["segment"].map({"s0": 2, "s1": 10})
    november.to_csv(folder / "labelled.csv", index=False)
    for old, new in (("segment", "other"), ("{}/october.json", "other"), ("segment", "{}/october.json")):
        said = run(folder, "match", old, new, "{}/labelled.csv").stdout
        sides = [model if "json" in one else one for one in (old, new)]
        assert said == f"{bw.match(*sides, november)}\n"
    assert "has no column" in run(folder, "match", "segmnt", "other", "{}/labelled.csv", code=DATA).stderr
    assert "october.json" in run(folder, "match", "{}/octobr.json", "other", "{}/labelled.csv", code=DATA).stderr
    assert (
        "must be one"
        in run(folder, "match", "segment", "other", "{}/labelled.csv", "--named", "n.json", code=USAGE).stderr
    )
    numbers = november[["c0", "c1"]].fillna(0.0)
    tally = bw.Tally.of(numbers, november["segment"].tolist())
    tally.save(folder / "november.tally")
    assert run(folder, "match", "{}/november.tally", "{}/november.tally").stdout == f"{bw.match(tally, tally)}\n"
    said = run(folder, "match", "{}/november.tally", "segment", "{}/labelled.csv").stdout
    assert said == f"{bw.match(tally, 'segment', november)}\n"
