"""What the verbs write, compare, answer and show on a terminal."""

import json
import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import boxwood
from boxwood.cli import VERBS, _options, _terminal
from boxwood.cli import boxwood as command
from boxwood.cli._terminal import Status, Talk
from boxwood.render import EXPORTERS
from boxwood.table import duck
from tests.cli import test_cli
from tests.cli.test_cli import DATA, POSIX, USAGE, run
from tests.command import invoke
from tests.scale import law, some

folder, iris = test_cli.folder, test_cli.iris  # fixtures

# ------------------------------------------------------------------------------------------------ explain -o

FORMS = {".json": "json", ".md": "markdown", ".csv": "csv", ".sql": "sql", ".py": "python", ".js": "javascript"}


def test_each_extension_gives_its_form(folder, tmp_path):
    names = [tmp_path / f"rules{end}" for end in [*FORMS, ".txt"]]
    args = [part for name in names for part in ("-o", name)]
    result = run(folder, "explain", "{}/iris.csv", "-l", "species", "--notes", *args)
    ex = boxwood.load(folder / "species.json")
    for end, form in FORMS.items():
        assert (tmp_path / f"rules{end}").read_text(encoding="utf-8") == f"{EXPORTERS[form].write(ex)}\n"
    assert (tmp_path / "rules.txt").read_text(encoding="utf-8") == result.stdout
    assert result.stderr.count("boxwood: wrote ") == len(names)
    assert sorted(os.listdir(tmp_path)) == sorted(name.name for name in names)


def test_names_and_a_column_of_value(folder, tmp_path):
    chosen = ("-c", "sepal length,petal width", "--value", "petal length")
    asked = ("explain", "{}/iris.csv", "-k", 3, *chosen, "-o", tmp_path / "page.html", "--names")
    result = run(folder, *asked, "0=small", "--names", "cluster 1=large")
    lines = [line.split() for line in result.stdout.splitlines()]
    at = lines.index(["petal", "length", "total", "share", "a", "row"])
    assert [line[0] for line in lines[at + 1 : at + 4]] == ["small", "large", "cluster"]
    assert "in total" in (tmp_path / "page.html").read_text(encoding="utf-8")
    run(folder, *asked, "small", code=USAGE)
    assert "names for labels that do not exist: 9" in run(folder, *asked, "9=none", code=3).stderr


def test_a_page_with_rounded_counts_has_no_exact_ones_beside_it(folder, tmp_path):
    page, exact = tmp_path / "page.html", ("-o", tmp_path / "rules.csv")
    asked = ("explain", "{}/iris.csv", "-l", "species", "--min-count", 7, "-o", page)
    for beside in (exact, ("--save", tmp_path / "model.json"), ("--json",)):
        error = run(folder, *asked, *beside, code=USAGE).stderr
        assert f"rounds the counts of a page, but {beside[-1]} would show them exactly" in " ".join(error.split())
    assert not page.exists()
    run(folder, *asked)
    assert "49 rows" in page.read_text(encoding="utf-8")  # of 50


def test_every_form_that_can_be_written_has_an_extension():
    written = {form for form, exporter in EXPORTERS.items() if exporter.kind != "object"}
    by_extension = {one.form for one in _options.OUTPUTS.values()}
    assert written - by_extension == {"formula", "dbt"}  # text, too, and written by export --to


def test_a_page_and_pictures_are_asked_of_the_explanation(folder, tmp_path, monkeypatch):
    """The page and the pictures have tests of their own; here: what they are asked for, and that files are renamed."""

    class Figure:
        def savefig(self, path, *, format, **how):
            with open(path, "w") as file:
                file.write(f"picture as {format}")

    axes = type("Axes", (), {"figure": Figure()})()
    monkeypatch.setattr(boxwood.Explanation, "plot", lambda self: axes, raising=False)
    monkeypatch.setattr("boxwood.render.page.page.page", lambda explanation: "page")
    names = ["a.html", "b.png", "c.SVG", "d.pdf"]
    args = [part for name in names for part in ("-o", tmp_path / name)]
    run(folder, "explain", "{}/iris.csv", "-k", 3, *args)
    assert [(tmp_path / name).read_text() for name in names] == [
        "page\n",
        "picture as png",
        "picture as svg",
        "picture as pdf",
    ]


def test_nothing_is_written_if_one_form_fails(folder, tmp_path, monkeypatch):
    def broken(self):
        raise MemoryError

    monkeypatch.setattr(boxwood.Explanation, "plot", broken, raising=False)
    (tmp_path / "a.sql").write_text("before")
    args = ["-o", tmp_path / "a.sql", "-o", tmp_path / "b.png"]
    run(folder, "explain", "{}/iris.csv", "-k", 3, *args, code=DATA)
    assert os.listdir(tmp_path) == ["a.sql"]
    assert (tmp_path / "a.sql").read_text() == "before"


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("report.htm", "'report.htm': unknown extension; did you mean '.html'?; known: .html .json"),
        ("report", "'report': unknown extension; known: .html .json"),
        ("nowhere/report.html", "'nowhere/report.html': cannot write in nowhere"),
        ("-", "'-': unknown extension"),
        ("iris.csv", "'iris.csv' is the table itself; name another file"),
    ],
)
def test_outputs_are_checked_before_the_table_is_read(folder, out, message, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("boxwood.table.memory.file_in_memory", None)
    before = sorted(os.listdir(folder))
    result = run(folder, "explain", "iris.csv", "-k", 3, "-o", "good.json", "-o", out, code=USAGE)
    assert f"Invalid value for '-o' / '--output': {message}" in result.stderr
    assert sorted(os.listdir(folder)) == before


def test_two_outputs_of_one_name_and_a_missing_package_are_refused(folder, tmp_path, monkeypatch):
    args = ["-o", tmp_path / "a.sql", "-o", f"{tmp_path}/../{tmp_path.name}/a.sql"]
    assert "is given twice" in run(folder, "explain", "{}/iris.csv", "-k", 3, *args, code=USAGE).stderr
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(folder, "explain", "{}/iris.csv", "-k", 3, "-o", tmp_path / "a.png", code=USAGE)
    assert "a.png' needs matplotlib: pip install matplotlib\n" in result.stderr


# ------------------------------------------------------------------------------------------------------ compare


def test_compare_prints_a_table_and_marks_the_front(folder):
    result = run(folder, "compare", "{}/iris.csv", "-l", "species", "--method", "imm,cart", "--leaves", "3,5")
    lines = result.stdout.splitlines()
    assert lines[0] == "3 clusters of 150 rows (always the largest: 33.3%)"
    assert lines[2].split() == ["method", "leaves", "depth", "columns", "agreement", "seconds"]
    found = json.loads(
        run(
            *(folder, "compare", "{}/iris.csv", "-l", "species", "--method", "imm"),
            *("--method", "cart", "--leaves", "3", "--leaves", "5", "--json"),
        ).stdout
    )
    rows, by_agreement = found["rows"], found["by_agreement"]
    assert (by_agreement, found["baseline"]) == (True, 1 / 3)
    assert [(row["method"], row["leaves"]) for row in rows if row["method"] == "imm"] == [("imm", 3)]
    assert sorted(row["leaves"] for row in rows if row["method"] == "cart") == [3, 5]
    starred = [line.split()[1:3] for line in lines if re.match(r"\*  \w+ +\d", line)]
    assert starred == [[row["method"], str(row["leaves"])] for row in rows if row["on_front"]]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "give either -k N (make clusters) or --labels COLUMN (explain existing ones)"),
        (("-k", 3, "-l", "species"), "give either -k N"),
        (("-k", 3, "--method", "imm,id3"), "'id3' is not one of auto, imm"),
        (("-k", 3, "--leaves", "3,x"), "'x' is not a number of leaves"),
        (("-k", 3, "--leaves", "1"), "'1' is not a number of leaves"),
        (("-l", "specie"), "no column 'specie' in the table; did you mean 'species'?"),
    ],
)
def test_what_compare_cannot_do_is_usage(folder, args, message):
    assert message in run(folder, "compare", "{}/iris.csv", *args, code=USAGE).stderr


# ---------------------------------------------------------------------------------------------------------- why


def test_why_reads_a_row_as_predict_does(folder):
    ex = boxwood.load(folder / "species.json")
    row = {"petal length": 5.1, "petal width": 1.9}  # row 102 of iris
    for name in ("iris.csv", "iris.parquet", "iris.jsonl"):
        assert run(folder, "why", "{}/species.json", f"{{}}/{name}", "--row", 102).stdout == f"{ex.why(row)}\n"
    given = ["--set", "petal length=5.1", "--set", "petal width=1.9"]
    assert run(folder, "why", "{}/species.json", *given).stdout == f"{ex.why(row)}\n"
    assert json.loads(run(folder, "why", "{}/species.json", *given, "--json").stdout) == ex.why(row).to_dict()
    other = run(folder, "why", "{}/species.json", "{}/iris.csv", "--row", 102, "--set", "petal length=1")
    assert other.stdout.startswith("setosa")
    fixed = run(folder, "why", "{}/species.json", *given, "--immutable", "petal length,petal width")
    assert fixed.stdout == f"{ex.why(row, immutable=['petal length', 'petal width'])}\n"


def test_a_missing_value_leaves_a_row_without_a_cluster(folder):
    for mark in ("", "n/a", " NULL"):
        result = run(folder, "why", "{}/species.json", "--set", f"petal length={mark}", "--set", "petal width=1")
        assert result.stdout.startswith("no cluster: petal length is missing")


def test_names_with_equals_signs_and_categories(tmp_path):
    import pandas as pd
    from sklearn.cluster import KMeans
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = pd.DataFrame({"a=b": [1.0, 2, 8, 9] * 5, "a": [1.0, 1, 2, 3] * 5, "kind": ["x", "x", "y=1", "y=1"] * 5})
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    boxwood.explain(frame, make_pipeline(columns, KMeans(3, random_state=0))).save(tmp_path / "m.json")
    ex = boxwood.load(tmp_path / "m.json")
    given = [part for name in ("a=b=9", "a=3", "kind=y=1") for part in ("--set", name)]
    expected = ex.why({"a=b": 9.0, "a": 3.0, "kind": "y=1"})
    assert run(tmp_path, "why", "{}/m.json", *given).stdout == f"{expected}\n"
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert run(tmp_path, "why", "{}/m.json", "{}/t.csv", "--row", 4).stdout == f"{expected}\n"


def test_why_of_a_column_of_booleans(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"member": [True, True, False, False]})
    ex = boxwood.explain(frame, ["in", "in", "out", "out"])
    ex.save(tmp_path / "m.json")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for value, texts in {True: ("True", "true", "1", "yes", "Ja"), False: ("False", "false", "0", "non")}.items():
        expected = str(ex.why({"member": value}))
        assert f"member = {'yes' if value else 'no'} " in expected
        for text in texts:
            assert run(tmp_path, "why", "{}/m.json", "--set", f"member={text}").stdout == f"{expected}\n"
    assert run(tmp_path, "why", "{}/m.json", "{}/t.csv", "--row", 3).stdout == f"{ex.why(2)}\n"
    wrong = run(tmp_path, "why", "{}/m.json", "--set", "member=maybe", code=USAGE)
    assert "--set member must be True or False, got 'maybe'" in wrong.stderr


KINDS = {
    "iso": lambda day: f"{day:%Y-%m-%d}",
    "german": lambda day: f"{day:%d.%m.%Y}",
    "moment": lambda day: f"{day:%Y-%m-%d} {day.day % 24:02d}:{day.day:02d}",
    "zone": lambda day: f"{day:%Y-%m-%dT%H:%M}:30Z",
    "flag": lambda day: str(day.year > 2024),
    "said": lambda day: "ja" if day.year > 2024 else "nein",
    "word": lambda day: "abc"[day.month % 2 + (day.year > 2024)],
    "code": lambda day: f"0{day.month}",
    "whole": lambda day: str(day.toordinal()),
    "tenth": lambda day: f"{day.toordinal() / 10:.1f}",
    "money": lambda day: f"{day.toordinal() - 738000},50 €",
}
"""A text for a day, of each kind of values."""


@law(8)
def test_why_takes_a_value_as_the_file_has_it(seed, tmp_path):
    from datetime import date, timedelta

    rng, kinds = np.random.default_rng(seed), [*KINDS]
    kinds = [kinds[seed % len(kinds)], kinds[int(rng.integers(len(kinds)))]]
    days = [[date(2024, 3, 1) + timedelta(days=int(n)) for n in rng.integers(0, 600, 120)] for _ in kinds]
    cells = {f"{kind}={i}": [KINDS[kind](day) for day in days[i]] for i, kind in enumerate(kinds)}
    for name in [*cells][: seed % 3]:
        cells[name] = ["" if rng.random() < 0.1 else cell for cell in cells[name]]
    label = [f"{a.year > 2024}{b.year > 2024}" for a, b in zip(*days, strict=True)]
    lines = [";".join([*cells, "label"]), *(";".join(line) for line in zip(*cells.values(), label, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(tmp_path, "explain", "{}/t.csv", "-l", "label", "--method", "imm", "--save", "{}/m.json")
    for row in {3, *(1 + texts.index("") for texts in cells.values() if "" in texts)}:
        given = [part for name in cells for part in ("--set", f"{name}={cells[name][row - 1]}")]
        known = run(tmp_path, "why", "{}/m.json", "{}/t.csv", "--row", row, "--json").stdout
        assert run(tmp_path, "why", "{}/m.json", *given, "--json").stdout == known
        assert run(tmp_path, "why", "{}/m.json", "{}/t.csv", "--row", 7, *given, "--json").stdout == known


def test_why_reads_numbers_as_people_write_them(folder):
    for text, plain in {"1.558,17 €": "1558.17", "5 %": "5", "3,5": "3.5", "1 234": "1234"}.items():
        rows = [("--set", "petal length=5.1", "--set", f"petal width={each}") for each in (text, plain)]
        told, expected = (run(folder, "why", "{}/species.json", *row).stdout for row in rows)
        assert told == expected


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ((), USAGE, "give a row: TABLE --row N, or --set COLUMN=VALUE"),
        (("{}/iris.csv",), USAGE, "give a table and --row N together"),
        (("--row", 1), USAGE, "give a table and --row N together"),
        (("{}/iris.csv", "--row", 0), USAGE, "0 is not in the range x>=1"),
        (("{}/iris.csv", "--row", 151), DATA, "iris.csv has 150 rows, so there is no row 151"),
        (("--set", "petal length=1"), USAGE, "the rules also test petal width"),
        (("--set", "petal lenght=1"), USAGE, "no column 'petal lenght' in the table; did you mean 'petal length'?"),
        (("--set", "petal length"), USAGE, "--set 'petal length' has no value; write --set COLUMN=VALUE"),
        (("--set", "petal length=long"), USAGE, "--set petal length must be a number, got 'long'"),
        (("--set", "petal length=1,234"), USAGE, "--set petal length must be a number, got '1,234'"),
        (("{}/iris.csv", "--row", 1, "--immutable", "leaf"), USAGE, "no column 'leaf' in the table"),
        (("{}/words.csv", "--row", 2), DATA, "column 'petal width' must be numbers, but {}/words.csv has 'b' in row 2"),
        (("{}/nothing.csv", "--row", 2), DATA, "no such file: "),
    ],
)
def test_what_why_cannot_answer(folder, args, code, message):
    (folder / "words.csv").write_text("petal length,petal width\n1,2\n3,b\n")
    result = run(folder, "why", "{}/species.json", *args, code=code)
    (folder / "words.csv").unlink()
    assert message.replace("{}", str(folder)) in result.stderr
    assert result.stdout == ""


# --------------------------------------------------------------------------------------- completion, help, demo


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(tmp_path, shell):
    script = run(tmp_path, "completion", shell).stdout
    assert f"_BOXWOOD_COMPLETE={shell}_complete" in script
    assert "'tcsh' is not one of" in run(tmp_path, "completion", "tcsh", code=USAGE).stderr


def completed(words, at):
    environment = os.environ | {"_BOXWOOD_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    result = subprocess.run(
        [sys.executable, "-c", "from boxwood.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    return result.stdout.split()


def test_verbs_options_and_files_are_completed():
    assert completed("boxwood ex", 1) == ["plain,explain", "plain,export"]
    assert "plain,--max-leaf-nodes" in completed("boxwood explain --max", 2)
    assert completed("boxwood predict mod", 2) == ["file,mod"]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "demo"])
def test_help_ends_with_examples_that_parse(verb, tmp_path, monkeypatch):
    text = run(tmp_path, verb, "--help").stdout
    examples = text.split("Examples:\n")[1].strip().splitlines()
    assert all(line.strip().startswith(f"boxwood {verb}") for line in examples)
    made = command.get_command(None, verb)
    for line in examples:
        words = re.split(r"  +|[<>|]", line.strip())[0].split()[2:]
        for name in [word for word in words if word.startswith("-") and word != "-"]:
            assert any(name in option.opts for option in made.params), (line, name)


GROUPS = {
    "explain": ["Clusters", "Rules", "Output", "Reading", "Large tables"],
    "compare": ["Clusters", "Rules", "Output", "Reading", "Large tables"],
    "predict": ["Output", "Reading", "Large tables"],
    "why": ["The row", "Output", "Reading"],
    "export": ["Form", "Report", "Output"],
}


@pytest.mark.parametrize("verb", GROUPS)
def test_help_has_each_option_once_in_groups(verb, tmp_path):
    text = run(tmp_path, verb, "--help").stdout
    parts = re.split(r"^(\w[\w ]*):\n", text, flags=re.MULTILINE)
    groups = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(groups)[: len(groups) - ("Examples" in groups)] == [*GROUPS[verb], "Other"]
    assert groups["Other"].split("\n\n")[0].split()[:2] == ["-h,", "--help"]
    named = [word for group in groups.values() for word in re.findall(r"^  (?:-\w, )?(--[\w-]+)", group, re.MULTILINE)]
    visible = [one for one in command.get_command(None, verb).params if one.opts[0].startswith("-") and not one.hidden]
    first = [next(name for name in one.opts if name.startswith("--")) for one in visible]
    assert sorted(named) == sorted([*first, "--help"])


def test_options_stand_where_they_are_looked_for(tmp_path):
    text = run(tmp_path, "explain", "--help").stdout
    assert text.index("Clusters:") < text.index("--labels") < text.index("Rules:") < text.index("--max-depth")
    assert text.index("Large tables:") < text.index("--spark-master")


def test_the_demo_shows_the_tree_and_where_to_go(tmp_path):
    out = run(tmp_path, "demo").stdout
    assert "|--- " in out
    assert "The rules agree with the clusters on" in out
    for words in re.findall(r"^  boxwood (\w+)", out, flags=re.MULTILINE):
        assert words in VERBS
    assert "-o report.html" in out


# ------------------------------------------------------------------------------------------------- the terminal


def test_a_status_tells_share_rows_and_seconds_left(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("boxwood.cli._terminal.time", SimpleNamespace(monotonic=lambda: now[0]))
    status = Status("labelling t.csv", alive=False, foretold=True)
    assert status.line(0.0) == "labelling t.csv …"
    status(0.01)
    assert status.line(9.0) == "labelling t.csv 1%, 9 s so far …"  # too early to foretell
    status(0.41, rows=2000)
    assert status.line(10.0) == "labelling t.csv 41% of 2,000 rows, 15 s left …"
    assert status.line(0.5) == "labelling t.csv 41% of 2,000 rows …"
    now[0] = 599.0
    status.compiling()
    assert status.line(600.0) == "labelling t.csv 41% of 2,000 rows, 14 min 45 s left, compiling, once …"
    assert status.line(625.0) == "labelling t.csv 41% of 2,000 rows, 15 min 22 s left …"  # that was ten seconds
    status(0.1)  # once more from the beginning, which was not foretold
    status(0.4)
    assert status.line(709.0) == "labelling t.csv, pass 2: 40% of 2,000 rows, 11 min 49 s so far …"


def test_a_status_tells_no_time_left_of_a_task_of_many_parts():
    status = Status("growing", alive=False)
    status(0.0, rows=7)
    assert status.line(0.9) == "growing 7 rows …"
    assert status.line(5.0) == "growing 7 rows, 5 s so far …"
    status(0.9)
    assert status.line(9.0) == "growing 90% of 7 rows, 9 s so far …"
    status(0.0)
    assert status.line(9.0) == "growing, pass 2 of 7 rows, 9 s so far …"
    status.step("trees grown", 4, 5)
    assert status.line(10.0) == "trees grown: 4 of 5, 10 s so far …"
    status.step("making clusters", 0, 1)
    assert status.line(11.0) == "making clusters, 11 s so far …"


def test_nothing_is_drawn_where_nobody_watches(monkeypatch):
    drawn = []
    monkeypatch.setattr("boxwood.cli._terminal.write_to_terminal", drawn.append)
    with Talk(quiet=False).growing("growing") as status:
        status(0.5)
        status.compiling()
    assert drawn == []
    alive = Talk(quiet=False)
    alive._alive = True
    with alive.growing("growing\x1b") as status:
        status(0.5)
        status(0.5)
        status.compiling()
    assert drawn == [
        "\r\x1b[Kgrowing\\x1b …",
        "\r\x1b[Kgrowing\\x1b 50% …",
        "\r\x1b[Kgrowing\\x1b 50%, compiling, once …",
        "\r\x1b[K",
    ]


def test_a_task_that_tells_nothing_is_seen_to_go_on(monkeypatch):
    drawn, seconds = [], iter([0.0, 3.0, 3.2, 4.0])
    monkeypatch.setattr("boxwood.cli._terminal.write_to_terminal", drawn.append)
    monkeypatch.setattr("boxwood.cli._terminal.time", SimpleNamespace(monotonic=lambda: next(seconds)))
    ended = iter([False, False, False, True])
    Status("reading t.csv", alive=True).tick(SimpleNamespace(wait=lambda pause: next(ended)))
    assert drawn == [f"\r\x1b[Kreading t.csv, {after} so far …" for after in ("3 s", "4 s")]


def test_predict_tells_the_share_of_both_passes(folder, tmp_path, monkeypatch):
    seen = []

    def slow(con, work, tick=None):
        result = work()
        if tick is not None:
            tick(1.0)
        return result

    monkeypatch.setattr("boxwood.table.duck.wait_for", slow)
    monkeypatch.setattr(Status, "__call__", lambda self, share, rows=0: seen.append((share, rows)))
    run(folder, "predict", "{}/species.json", "{}/iris.csv", "-o", tmp_path / "o.csv")
    assert seen == [(0.5, 0), (1.0, 150)]


@pytest.mark.parametrize("how", [("-k", 3), (), ("-l", "species"), ("-l", "species", "--engine", "duckdb")])
def test_no_share_falls_under_one_name_while_a_file_is_explained(folder, tmp_path, monkeypatch, how):
    shown, wait = {}, duck.wait_for

    def slow(con, work, tick=None):
        for share in (0.2, 0.7, 1.0) if tick is not None else ():
            tick(share)
        return wait(con, work, tick)

    def draw(status):
        name, _, counts = status.doing.partition(": ")
        count = int(counts.split()[0]) if counts else status.share
        shown.setdefault((name, status.passes), []).append(count)

    monkeypatch.setattr(duck, "wait_for", slow)
    monkeypatch.setattr(Status, "draw", draw)
    rows = (folder / "iris.csv").read_text().splitlines()
    words = ["colour", *(("red", "green", "blue")[i * i % 3] for i in range(len(rows) - 1))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(f"{row},{word}" for row, word in zip(rows, words, strict=True)))
    run(folder, "explain", path, "--exclude", "species" if "-l" not in how else "colour", *how)
    assert all(counts == sorted(counts) for counts in shown.values())
    named = {name for name, _ in shown}
    assert {f"reading {path}", "steps to the tree"} <= named
    assert (f"reading {path}", 2) in shown
    assert ("starts of clusters" in named) == ("-l" not in how)
    assert ("numbers of clusters tried" in named) == (not how)


@POSIX
@pytest.mark.parametrize(
    ("environment", "has_colours"),
    some([({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]),
)
def test_colours_only_where_they_are_wanted(folder, environment, has_colours):
    import pty

    ours, theirs = pty.openpty()
    base = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    subprocess.run(
        [sys.executable, "-m", "boxwood", "export", "species.json"],
        cwd=folder,
        stdout=theirs,
        check=True,
        env=base | environment,
    )
    os.close(theirs)
    time.sleep(0.05)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert ("\x1b[" in shown) is has_colours
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n")
    assert plain == run(folder, "export", "{}/species.json").stdout


def test_paint_changes_no_word():
    text = f"{boxwood.explain(np.arange(8.0)[:, None], [0] * 4 + [1] * 4).to_text()}\nNote: this"
    painted = _terminal._paint(text)
    assert painted != text
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == text


def test_output_that_is_no_terminal_has_no_colours(folder):
    result = invoke("export", folder / "species.json", color=True)
    assert "\x1b" not in result.output
