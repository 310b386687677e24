"""The gallery runs, and the pages of theory and benchmarks show what is stored; `test_docs.py` runs their code."""

import ast
import csv
import re
import shlex
import warnings
from pathlib import Path

import matplotlib
import pytest
from benchmarks.papers.errata import ERRATA
from benchmarks.tables import tables
from matplotlib import pyplot

from benchmarks import bench_page

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
SCRIPTS = sorted(path.stem for path in GALLERY.glob("*.py"))
ALWAYS = "plot_seabirds"  # the cheapest; the others run with --full


def run(name, monkeypatch, folder):
    """Run a script as the site does, and return what it leaves behind and the pictures that it drew."""
    monkeypatch.chdir(folder)
    pyplot.close("all")
    namespace = {"__name__": "__main__"}
    with matplotlib.rc_context({"backend": "Agg"}), warnings.catch_warnings(action="error"):
        exec(compile((GALLERY / f"{name}.py").read_text(encoding="utf-8"), name, "exec"), namespace)
    return namespace, [pyplot.figure(number) for number in pyplot.get_fignums()]


@pytest.mark.parametrize("name", [pytest.param(s, marks=() if s == ALWAYS else pytest.mark.full) for s in SCRIPTS])
def test_a_script_of_the_gallery_runs(name, tmp_path, monkeypatch, capsys):
    _, figures = run(name, monkeypatch, tmp_path)
    assert capsys.readouterr().out.strip()
    assert figures
    assert list(tmp_path.iterdir()) == []  # a script leaves nothing in the folder where it runs
    pyplot.close("all")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_where_its_data_come_from(name):
    text = ast.get_docstring(ast.parse((GALLERY / f"{name}.py").read_text(encoding="utf-8")))
    title, line = text.splitlines()[:2]
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert re.search(r"made (up )?by|drawn by this script|CC BY", text)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_picture_comes_first(name):
    blocks = re.split(r"^# %%$", (GALLERY / f"{name}.py").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert re.search(r"\.plot\w*\(|subplots\(", blocks[1])


# --------------------------------------------------------------------------------------------------------- theory

THEORY = ROOT / "docs" / "theory"
NUMBERS = THEORY / "numbers"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(THEORY.glob("*.md"))}
PAPERS = {"mmdt-range": "000", "mmdt-gaps": "001", "random-cuts": "002", "imm": "003", "kernels": "004"}


def test_there_is_a_page_for_each_paper():
    assert set(PAGES) == {"index", *PAPERS}
    hidden = re.search(r"```{toctree}\n:hidden:\n\n(.*?)```", PAGES["index"], re.DOTALL)[1].split()
    assert set(hidden) == set(PAPERS)


@pytest.mark.parametrize(("name", "paper"), PAPERS.items())
def test_a_page_has_its_parts_and_all_errata(name, paper):
    parts = re.findall(r"^## (.+)$", PAGES[name], re.MULTILINE)
    assert parts[-2:] == ["Errata", "Our numbers beside theirs"]
    assert parts[0].startswith("The algorithm")
    assert parts[1].startswith("The bound")
    errata = PAGES[name].partition("\n## Errata\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\d+\. \*\*", errata, re.MULTILINE)
    known = [one for one in ERRATA if one.paper == paper]
    assert len(told) >= max(1, len(known))  # the slides have slips alone, which no list of the benchmarks has


def test_stored_numbers_are_shown_and_their_run_is_told():
    shown = {name for text in PAGES.values() for name in re.findall(r"^:file: numbers/(\S+)$", text, re.MULTILINE)}
    stored = {path.name for path in NUMBERS.iterdir()}
    assert shown <= stored
    with (NUMBERS / "runs.csv").open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    assert {run["file"] for run in runs} == stored - {"runs.csv"}
    assert {run["run"] for run in runs} <= {"quick", "full size"}
    quick = {run["file"] for run in runs if run["run"] == "quick"}
    for name, text in PAGES.items():
        told = set(re.findall(r"^```{csv-table} .*, of a quick run\n:file: numbers/(\S+)$", text, re.MULTILINE))
        assert told == quick & set(re.findall(r"^:file: numbers/(\S+)$", text, re.MULTILINE)), name
        assert not told or f"--only {PAPERS[name]} --quick`" in text
    for path in NUMBERS.iterdir():
        with path.open(encoding="utf-8", newline="") as file:
            assert len({len(row) for row in csv.reader(file)}) == 1, path.name


@pytest.mark.parametrize("name", PAGES)
def test_formulas_of_a_page_are_drawn_without_a_script(name):
    convert = pytest.importorskip("docutils.utils.math.latex2mathml").tex2mathml
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", PAGES[name], flags=re.MULTILINE | re.DOTALL)
    formulas = [block or inline for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", text, re.DOTALL)]
    assert formulas
    assert all("<math" in convert(formula) for formula in formulas)  # it refuses a command that it does not know


# ----------------------------------------------------------------------------------------------------- benchmarks


def test_the_benchmark_page_names_the_command_of_each_part():
    text = bench_page.PAGE.read_text(encoding="utf-8")
    commands = [shlex.split(command) for command in re.findall(r"^Made by `(.+)`\.$", text, re.MULTILINE)]
    assert [command[:3] for command in commands] == [shlex.split(bench_page.COMMAND)] * len(bench_page.PARTS)
    assert [command[-1] for command in commands] == list(bench_page.PARTS)
    assert [title for title in bench_page.TITLES.values() if f"## {title}" not in text] == []


@pytest.mark.full
def test_parts_of_the_benchmark_page_are_made(monkeypatch, capsys):
    monkeypatch.delenv("BOXWOOD_DATA", raising=False)
    iris = next(tables())
    monkeypatch.setattr(bench_page, "_tables", lambda options: iter([iris]))
    monkeypatch.setattr(bench_page, "_timed", lambda options: iter([iris]))
    monkeypatch.setattr(bench_page, "RUNS", 1)
    bench_page.main(["--small", "--only", "quality", "agreement", "unseen", "speed"])
    out = capsys.readouterr().out
    assert out.count("Made by") == 3 + ("ConTree was not installed" not in out)
    assert "| boxwood's explain | 2 | " in out
    assert re.search(r"^\| 150 x 4, 3 \| \d+\.\d\d \| \d+\.\d\d \| \d+\.\d\d \|$", out, re.MULTILINE)
