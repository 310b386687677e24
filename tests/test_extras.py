"""What an absent optional package leaves: one line that says what needs it, and the command that installs it."""

import re
import shlex
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import duckdb
import numpy as np
import pytest

import boxwood as bw
from boxwood._imports import EXTRAS, MissingExtraError
from boxwood.concepts import extract_latents
from boxwood.render.notebook.editor import _widget_class
from boxwood.render.page._template import _environment
from tests.command import invoke
from tests.scale import law

ROOT = Path(__file__).parents[1]
X = np.repeat([[20.0, 1.0], [30.0, 2.0], [60.0, 1.0], [70.0, 2.0]], 10, axis=0)
EX = bw.explain(X, np.repeat(["young", "old"], 20), columns=["age", "size"])


def command(*words):
    """Run a command, which must end as a wrong use does, and raise the one line that it says."""
    done = invoke(*words, code=None)
    said = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    assert (done.exit_code, len(said)) == (2, 1), done.output
    raise MissingExtraError(re.sub(r"^\w+: (error: )?(Invalid value for [^:]*: )?", "", said[0]))


DOORS = {
    "arrow": {
        "scan": lambda at: bw.scan(f"{at}/t.parquet"),
        "scan of Arrow": lambda at: bw.explain(bw.scan(f"{at}/t.arrow"), n_clusters=2),
        "explain of Arrow": lambda at: command("explain", at / "t.arrow", "-k", 2),
        "explain in batches": lambda at: command("explain", at / "t.parquet", "-k", 2, "--engine", "duckdb"),
        "explain of a query": lambda at: command("explain", "--sql", f"FROM '{at}/t.parquet'", "-k", 2),
        "predict of several files": lambda at: command("predict", at / "m.json", at / "parts", "-o", at / "o.csv"),
        "predict of a query": lambda at: command(
            "predict", at / "m.json", "--sql", f"FROM '{at}/t.parquet'", "-o", at / "o.csv"
        ),
        "write_labels": lambda at: bw.write_labels(EX, f"{at}/parts", f"{at}/o.parquet"),
        "a table of another package": lambda at: EX.predict(Handed()),
    },
    "dask": {"--engine dask": lambda at: command("explain", at / "t.parquet", "-k", 2, "--engine", "dask")},
    "excel": {
        "scan": lambda at: bw.explain(bw.scan(f"{at}/t.xlsx"), n_clusters=2),
        "explain": lambda at: command("explain", at / "t.xlsx", "-k", 2),
        "predict": lambda at: command("predict", at / "m.json", at / "t.xlsx", "-o", at / "o.csv"),
    },
    "notebook": {"edit": lambda at: EX.edit()},
    "onnx": {
        "to_onnx": lambda at: EX.to_onnx(),
        "-o": lambda at: command("explain", at / "t.csv", "-k", 2, "-o", at / "m.onnx"),
        "export": lambda at: command("export", at / "m.json", "--to", "onnx", "-o", at / "m.onnx"),
    },
    "page": {
        "to_html": lambda at: EX.to_html(),
        "a page of measure": lambda at: EX.drift(X).to_html(),
        "a page of match": lambda at: bw.match(EX, EX, X).to_html(),
        "-o": lambda at: command("explain", at / "t.csv", "-k", 2, "-o", at / "r.html"),
        "drift -o": lambda at: command("drift", at / "m.json", at / "t.csv", "-o", at / "r.html"),
        "match -o": lambda at: command("match", at / "m.json", at / "m.json", at / "t.csv", "-o", at / "r.html"),
        "export": lambda at: command("export", at / "m.json", "--to", "html", "-o", at / "r.html"),
    },
    "pandas": {
        **{f"to_frame({what!r})": lambda at, what=what: EX.to_frame(what) for what in ("rules", "confusion", "profile")}
    },
    "plot": {
        "plot": lambda at: EX.plot(),
        "plot_boxes": lambda at: EX.plot_boxes(),
        "plot_flow": lambda at: bw.match(EX, EX, X).plot(),
        "-o": lambda at: command("explain", at / "t.csv", "-k", 2, "-o", at / "t.svg"),
    },
    "spark": {"--engine spark": lambda at: command("explain", at / "t.parquet", "-k", 2, "--engine", "spark")},
    "sql": {
        **{name: lambda at, name=name: EX.to_sql(name) for name in ("snowflake", "bigquery", "mysql", "tsql", "spark")},
        "monitoring_sql": lambda at: EX.monitoring_sql("snowflake", "t"),
        "lines": lambda at: EX.standalone_rules(1).to_sql("snowflake"),
        "export": lambda at: command("export", at / "m.json", "--to", "sql", "--dialect", "snowflake"),
    },
    "torch": {"extract_latents": lambda at: extract_latents(object(), X)},
}
WITHOUT_DOORS = {"polars"}  # its frames are read, and come with it


class Handed:
    """A table that only Arrow can take over."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise NotImplementedError


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    at = tmp_path_factory.mktemp("tables")
    EX.save(at / "m.json")
    (at / "parts").mkdir()
    duckdb.sql("CREATE TABLE t AS SELECT i % 50 + 20.0 AS age, i % 3 AS size FROM range(60) r(i)")
    for file in ("t.parquet", "t.csv", "parts/1.parquet", "parts/2.parquet"):
        duckdb.sql(f"COPY t TO '{at / file}'")
    duckdb.sql("DROP TABLE t")
    (at / "t.arrow").write_bytes(b"ARROW1")
    (at / "t.xlsx").write_bytes(b"PK\3\4")
    return at


def name_of(requirement):
    return re.match(r"[\w-]+", requirement)[0]


def hide(packages, monkeypatch):
    """Make packages as absent as they are where they were never installed."""
    for package in packages:
        for module in [name for name in sys.modules if name.startswith(f"{package}.")]:
            monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, package, None)


def test_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = {name: tuple(each.partition(">")[0] for each in extra) for name, extra in project.items()}
    assert wanted == EXTRAS
    assert {*DOORS} | WITHOUT_DOORS == {*EXTRAS}


def test_what_is_required_is_of_its_extra():
    sources = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    required = {found for text in sources for found in re.findall(r'require\("(\w+)[\w.]*", "(\w+)"', text)}
    assert len(required) > 10
    assert {(package, extra) for package, extra in required if package not in map(name_of, EXTRAS[extra])} == set()


@law(4)
def test_an_absent_package_is_told_in_one_line_with_the_command_that_installs_it(seed, tables, monkeypatch):
    rng = np.random.default_rng(seed)
    for extra, door in [(extra, door) for extra, doors in DOORS.items() for door in doors]:
        others = [name for name in map(name_of, EXTRAS[extra]) if rng.random() < 0.5]
        first = name_of(EXTRAS[extra][0])  # what each door asks for before the others
        _environment.cache_clear()  # of the page, which keeps jinja2
        _widget_class.cache_clear()
        with monkeypatch.context() as patch:
            hide({first, *others}, patch)
            with pytest.raises(ImportError) as told:
                DOORS[extra][door](tables)
            absent = {name for name in map(name_of, EXTRAS[extra]) if find_spec(name) is None}
        said = re.fullmatch(r"[^\n]+ needs ([\w and]+): pip install ([^\n]+)", str(told.value))
        assert said, (door, str(told.value))
        assert {name_of(each) for each in shlex.split(said[2])} == {*said[1].split(" and ")} == absent, (door, said[0])
