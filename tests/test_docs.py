"""The documentation is true: what README and CONTRIBUTING show is what comes out."""

import contextlib
import io
import re
import shlex
from pathlib import Path

from click.testing import CliRunner
from sklearn.datasets import load_iris

from boxwood.cli import boxwood as main

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name):
    return BLOCK.findall((ROOT / name).read_text())


def test_the_code_of_the_readme_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace, printed, n_run = {}, "", 0
    for language, text in blocks("README.md"):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "README.md", "exec"), namespace)
            printed, n_run = out.getvalue(), n_run + 1
        elif language == "text" and n_run:
            assert printed.strip() == text.strip()
    assert n_run >= 7


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    iris = load_iris(as_frame=True).data
    iris.to_csv("iris.csv", index=False)
    commands = [
        line.removeprefix("$ boxwood ")
        for language, text in blocks("README.md")
        if language == "console"
        for line in text.splitlines()
        if line.startswith("$ boxwood")
    ]
    assert len(commands) >= 3
    for command in commands:
        result = CliRunner().invoke(main, shlex.split(command))
        assert result.exit_code == 0, (command, result.output)


def test_the_picture_of_the_readme_is_what_the_demo_prints():
    picture = next(text for language, text in blocks("README.md") if language == "text")
    assert picture.strip() in CliRunner().invoke(main, ["demo"]).stdout


def test_files_that_contributing_names_are_there():
    named = re.findall(r"`((?:src|tests|benchmarks)/[\w/.]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_functions_that_contributing_quotes_are_as_they_stand():
    for language, text in blocks("CONTRIBUTING.md"):
        if language == "python":
            path, source = text.split("\n", 1)
            assert source.strip() in (ROOT / path.removeprefix("# ").strip()).read_text(), path
