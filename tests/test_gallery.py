"""The gallery runs, and the pages of theory and benchmarks show what is stored and lead somewhere."""

import ast
import csv
import re
import time
import warnings
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
SCRIPTS = sorted(path.stem for path in GALLERY.glob("*.py"))
ALWAYS = "plot_seabirds"  # the cheapest; the others run with --full
MOST_SECONDS = 20  # of one processor


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
    start = time.process_time()
    _, figures = run(name, monkeypatch, tmp_path)
    assert time.process_time() - start < MOST_SECONDS
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
