"""The documentation is true: what the README, the pages of docs/ and CONTRIBUTING show is what comes out."""

import contextlib
import importlib.util
import inspect
import io
import operator
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from PIL import Image
from sklearn.datasets import load_wine

import boxwood as bw
from boxwood._imports import EXTRAS
from boxwood.cli import boxwood as main
from boxwood.cli._options import OUTPUTS
from tests.command import invoke

ROOT = Path(__file__).parents[1]
MADE = {"_build", "auto_gallery", "generated"}  # by `make docs`
GUIDES = ("CONTRIBUTING.md", "docs/architecture.md", "tests/README.md", "RELEASING.md")  # quote code as it stands
PAGES = [
    "README.md",
    "benchmarks/plan.md",
    *sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if not MADE.intersection(path.parts)
    ),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # "```python ExKMC" is quoted, not run
MADE_ON = re.compile(r"boxwood \S+, \d{4}-\d\d-\d\d")  # of code, by the version and on the day of the test
LINK = re.compile(r"\]\(([^)]+)\)|src=\"([^\"]+)\"")


def blocks(name, of=""):
    """Return the blocks of a page, those of another package by its name, too."""
    return BLOCK.findall(re.sub(rf"^(```\w+) {of}$", r"\1", (ROOT / name).read_text(), flags=re.MULTILINE))


WITH_CODE = [name for name in PAGES if name not in GUIDES and any(language == "python" for language, _ in blocks(name))]


def test_there_are_pages_for_those_who_come_from_elsewhere():
    from_elsewhere = {"docs/from-exkmc.md", "docs/from-decision-tree.md", "docs/how-to/from-shap.md"}
    assert {*from_elsewhere, "docs/methods.md", "docs/how-to/beyond-memory.md"} <= set(WITH_CODE)
    assert len(WITH_CODE) >= 15


def test_the_readme_is_read_in_two_minutes():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_help_of_explain_begins_with_what_people_set():
    names = list(inspect.signature(bw.explain).parameters)
    help_ = inspect.getdoc(bw.explain).splitlines()
    at = {name: next(i for i, line in enumerate(help_) if line.startswith(f"{name} : ")) for name in names[:-1]}
    assert names[:6] == ["X", "labels", "n_clusters", "columns", "max_leaf_nodes", "as_of"]
    assert list(at.values()) == sorted(at.values())
    assert at["by"] <= 55, "what most people set, with an example, is on one screen"
    assert len(help_) <= 140, "numbers of defaults are in docs/decisions.md"


def test_no_link_of_the_readme_leads_nowhere_on_a_package_index():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    text = (ROOT / "README.md").read_text()
    for one in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [link for found in LINK.findall(text) for link in found if link and "://" not in link] == []
    assert "Reading an explanation explains" in text


INSTALL = re.compile(r'pip install .*"\.\[([\w,]+)\]"')


def test_one_line_installs_what_the_code_of_the_pages_imports():
    lines = [INSTALL.search((ROOT / name).read_text())[1] for name in ("README.md", "docs/index.md", "Makefile")]
    assert len(set(lines)) == 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(each for name in lines[0].split(",") for each in EXTRAS[name])]
    installed = {re.match(r"[\w-]+", each)[0].replace("scikit-learn", "sklearn") for each in wanted}
    assert {"pandas", "duckdb", "sklearn"} <= installed
    lacking = {}
    for name in (name for name in WITH_CODE if not name.startswith("benchmarks/")):
        text, code = (ROOT / name).read_text(), "".join(text for of, text in blocks(name) if of == "python")
        imported = set(re.findall(r"^ *(?:import|from) (\w+)", code, re.MULTILINE)) - {
            *sys.stdlib_module_names,
            "boxwood",
        }
        written = (OUTPUTS[end].extra for end in re.findall(r" -o \S*(\.\w+)", text) if end in OUTPUTS)
        needed = imported.union(*(EXTRAS[extra] for extra in written if extra))
        lacking[name] = needed - installed - set(" ".join(re.findall(r"pip install ([\w -]+)", text)).split())
    assert {name: packages for name, packages in lacking.items() if packages} == {}


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


@pytest.fixture
def beside_customers(tmp_path, monkeypatch):
    """A folder with the table of the README, where the README and the other pages look for it."""
    (tmp_path / "examples").mkdir()
    for folder in (tmp_path, tmp_path / "examples"):
        shutil.copy(ROOT / "examples" / "customers.csv", folder)
    monkeypatch.chdir(tmp_path)


FIRST = ("README.md", "docs/index.md")  # what everybody sees; other pages are tried where all is


@pytest.mark.parametrize(
    "name", [name if name in FIRST else pytest.param(name, marks=pytest.mark.full) for name in WITH_CODE]
)
def test_the_code_of_a_page_prints_what_it_shows(name, beside_customers):
    with matplotlib.rc_context({"backend": "Agg"}):
        run_blocks(name, blocks(name), {})
        pyplot.close("all")


def run_blocks(name, found, namespace):
    """Run the code of a page, and compare what it prints with the block of text below it."""
    printed, n_compared = "", 0
    for language, text in found:
        if language == "python":
            assert not printed.strip(), f"nothing shows what comes before {text}"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, name, "exec"), namespace)
            printed = out.getvalue()
        elif language == "javascript":
            if shutil.which("node") is None:
                pytest.skip("node is not installed, so JavaScript cannot run")
            assert not printed.strip()
            printed = subprocess.run(["node", "-"], input=text, capture_output=True, text=True, check=True).stdout
        elif language == "text":
            printed, text = (MADE_ON.sub("boxwood VERSION, DATE", each).strip() for each in (printed, text))
            assert [line.rstrip() for line in printed.splitlines()] == text.splitlines()
            printed, n_compared = "", n_compared + 1
    assert not printed.strip()
    assert n_compared


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # SHAP's own, of packages newer than it
def test_code_of_shap_runs_and_draws_what_the_page_says():
    pytest.importorskip("shap")
    name, wine = "docs/how-to/from-shap.md", load_wine(as_frame=True)
    with matplotlib.rc_context({"backend": "Agg"}):
        run_blocks(name, blocks(name, of="shap"), {"X": wine.data, "labels": wine.target})
        assert pyplot.gcf().axes[0].get_xlabel() == "SHAP value (impact on model output)"
        pyplot.close("all")


def without_code(name):
    return re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """Return what links may add to a page after "#", as MyST and forges make them of its headings."""
    headings = re.findall(r"^#+ (.*)$", without_code(path.relative_to(ROOT)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_and_names_of_a_page_lead_somewhere(name):
    text = without_code(name)
    links = [first or second for first, second in LINK.findall(text)]
    broken = []
    for link in (link for link in links if "://" not in link):
        file, _, anchor = link.partition("#")
        path = ((ROOT / name).parent / file if file else ROOT / name).resolve()
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(link)
    assert broken == []
    known = {"ex": set(dir(bw.Explanation)) | set(bw.Explanation.__dataclass_fields__), "bw": set(bw.__all__)}
    named = re.findall(r"`(ex|bw)\.(\w+)", text)
    assert [f"{of}.{what}" for of, what in named if what not in known[of]] == []


def listed():
    """Return the names that the pages of the reference list, with their modules."""
    names = set()
    for path in (ROOT / "docs" / "reference").glob("*.rst"):
        module = ""
        for line in path.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif re.fullmatch(r"   [\w.]+", line):
                names.add(f"{module}.{line.strip()}")
    return names


def test_the_reference_has_every_public_name():
    modules = [bw.axes, bw.concepts, bw.errors, bw.grow, bw.kernels, bw.metrics, bw.render, bw.theory]
    public = {f"boxwood.{name}" for name in bw.__all__ if not inspect.ismodule(getattr(bw, name))}
    for module in (*modules, bw.theory.bounds, bw.theory.instances):
        names = [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]
        public |= {f"{module.__name__}.{name}" for name in names}
    methods = {
        f"boxwood.Explanation.{name}" for name, _ in inspect.getmembers(bw.Explanation, callable) if name[0] != "_"
    }
    elsewhere = {"boxwood.DataError", "boxwood.render.write_labels", "boxwood.theory.instances.Instance"}
    assert (public | methods) - elsewhere - listed() == set()
    for name in listed():
        operator.attrgetter(name.removeprefix("boxwood."))(bw)


def test_the_commands_of_the_pages_run(beside_customers):
    load_wine(as_frame=True).data.to_csv("wine.csv", index=False)
    page = "docs/reference/command-line.md"
    commands = [
        line.removeprefix("$ boxwood ")
        for language, text in blocks("README.md") + blocks("docs/start/five-minutes.md") + blocks(page)
        if language == "console"
        for line in text.splitlines()
        if line.startswith("$ boxwood")
    ]
    assert len(commands) >= 5
    for command in commands:
        invoke(*shlex.split(command))
    told = re.findall(r"^\| `boxwood ([\w-]+)", (ROOT / page).read_text(), re.MULTILINE)
    assert sorted(told) == sorted(main.list_commands(click.Context(main)))


@pytest.mark.parametrize("name", FIRST)
def test_the_first_screen_shows_what_comes_out(name, beside_customers):
    shown = next(text for language, text in blocks(name) if language == "text")
    assert str(bw.explain(bw.scan("customers.csv"), "segment", as_of="2026-07-31")).strip() in shown


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


@pytest.mark.parametrize("name", ["customers", "boxes", "profile"])
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
    texts = "".join((ROOT / name).read_text() for name in GUIDES)
    named = re.findall(r"`((?:src|tests|benchmarks|docs)/[\w/.]+)`", texts)
    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_folders_of_the_house_are_in_its_drawing():
    drawn = re.search(r"```text\nsrc/boxwood/\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    folders = {path.parent.name for path in (ROOT / "src" / "boxwood").glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/", drawn, re.MULTILINE)) == folders


def test_functions_that_contributing_quotes_are_as_they_stand():
    for language, text in (block for name in GUIDES for block in blocks(name)):
        if language == "python":
            path, source = text.split("\n", 1)
            assert source.strip() in (ROOT / path.removeprefix("# ").strip()).read_text(), path
