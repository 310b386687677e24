"""The documentation is true: what the README, the pages of docs/ and CONTRIBUTING show is what comes out."""

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import matplotlib
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib import pyplot
from PIL import Image
from sklearn.datasets import load_wine

import boxwood as bw
from boxwood.cli import boxwood as main

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # "```python ExKMC" is quoted, not run
LINK = re.compile(r"\]\(([^)]+)\)|src=\"([^\"]+)\"")


def blocks(name):
    return BLOCK.findall((ROOT / name).read_text())


def test_there_are_pages_for_those_who_come_from_elsewhere():
    assert {"docs/from-exkmc.md", "docs/from-decision-tree.md", "docs/methods.md", "docs/tables.md"} <= set(PAGES)


@pytest.mark.skipif(os.name != "posix", reason="needs make, and scripts that name their interpreter")
def test_make_names_the_python_that_it_needs_before_it_installs(tmp_path):
    old, venv = tmp_path / "python3", tmp_path / "venv"
    old.write_text(f"#!{sys.executable}\nimport sys\nsys.version_info = (3, 10, 13)\nexec(sys.argv[2])\n")
    old.chmod(0o755)
    made = subprocess.run(
        ["make", "demo", f"PYTHON={old}", f"VENV={venv}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode != 0
    assert made.stderr.startswith(f"boxwood needs Python 3.11 or later, but {old} is 3.10.13; name another one: make")
    assert not venv.exists()


@pytest.mark.full
@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_prints_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace, printed, n_run = {}, "", 0
    with matplotlib.rc_context({"backend": "Agg"}):
        for language, text in blocks(name):
            if language == "python":
                assert not printed.strip(), f"nothing shows what comes before {text}"
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(text, name, "exec"), namespace)
                printed, n_run = out.getvalue(), n_run + 1
            elif language == "text":
                assert [line.rstrip() for line in printed.strip().splitlines()] == text.strip().splitlines()
                printed = ""
        pyplot.close("all")
    assert not printed.strip()
    assert n_run >= 2


@pytest.mark.parametrize("name", PAGES)
def test_links_and_names_of_a_page_lead_somewhere(name):
    text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(), flags=re.MULTILINE | re.DOTALL)
    links = [first or second for first, second in LINK.findall(text)]
    assert [link for link in links if "://" not in link and not (ROOT / name).parent.joinpath(link).exists()] == []
    known = {"ex": set(dir(bw.Explanation)) | set(bw.Explanation.__dataclass_fields__), "bw": set(dir(bw))}
    named = re.findall(r"`(ex|bw)\.(\w+)", text)
    assert [f"{of}.{what}" for of, what in named if what not in known[of]] == []


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_wine(as_frame=True).data.to_csv("wine.csv", index=False)
    commands = [
        line.removeprefix("$ boxwood ")
        for language, text in blocks("README.md")
        if language == "console"
        for line in text.splitlines()
        if line.startswith("$ boxwood")
    ]
    assert len(commands) >= 5
    for command in commands:
        result = CliRunner().invoke(main, shlex.split(command))
        assert result.exit_code == 0, (command, result.output)
    told = re.findall(r"^\| `boxwood (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert sorted(told) == sorted(main.list_commands(click.Context(main)))


def test_the_readme_begins_with_what_the_demo_prints():
    shown = next(text for language, text in blocks("README.md") if language == "text")
    assert shown.strip() in CliRunner().invoke(main, ["demo"]).stdout


# --------------------------------------------------------------------------------------------------- pictures


@pytest.fixture(scope="module")
def drawing():
    spec = importlib.util.spec_from_file_location("draw", ROOT / "docs" / "draw.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_used_and_small(drawing):
    files = list(drawing.FOLDER.iterdir())
    assert {path.stem for path in files} == {*drawing.PICTURES, "report"}
    shown = "".join((ROOT / name).read_text() for name in PAGES)
    assert [path.name for path in files if f"pictures/{path.name}" not in shown] == []
    assert sum(path.stat().st_size for path in files) < 300_000


@pytest.mark.parametrize("name", ["tree", "boxes", "profile"])
def test_pictures_show_what_is_drawn_now(name, drawing, tmp_path):
    drawing.draw(name, tmp_path / "now.png")
    now, stored = (
        np.asarray(Image.open(path).convert("L"), dtype=float)
        for path in (tmp_path / "now.png", drawing.FOLDER / f"{name}.png")
    )
    assert now.shape == stored.shape
    assert np.abs(now - stored).mean() < 3  # letters differ a little between versions of freetype


# ----------------------------------------------------------------------------------------------- CONTRIBUTING


def test_files_that_contributing_names_are_there():
    named = re.findall(r"`((?:src|tests|benchmarks|docs)/[\w/.]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_folders_of_the_house_are_in_its_drawing():
    drawn = re.search(r"```text\nsrc/boxwood/\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    folders = {path.parent.name for path in (ROOT / "src" / "boxwood").glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/", drawn, re.MULTILINE)) == folders


def test_functions_that_contributing_quotes_are_as_they_stand():
    for language, text in blocks("CONTRIBUTING.md"):
        if language == "python":
            path, source = text.split("\n", 1)
            assert source.strip() in (ROOT / path.removeprefix("# ").strip()).read_text(), path
