"""Each example file is read as the text beside it says that a person reads it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.cli._options import in_options
from boxwood.errors import DataError
from boxwood.explanation.choose import settings
from boxwood.table import ReadOptions, memory
from tests.command import invoke
from tests.files.make import HERE, MADE
from tests.reading import read_file
from tests.scale import law

CUSTOMERS = Path(__file__).parents[2] / "examples" / "customers.csv"
MUST = {path.name.removesuffix(".json"): json.loads(path.read_text("utf-8")) for path in sorted(HERE.glob("*.json"))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, write in MADE.items():
        write(folder / name)
    return folder


def path_of(name: str, folder: Path) -> str:
    return str((folder if name in MADE else HERE) / name)


def kind_of(table, j: int) -> str:
    name = table.columns[j]
    kinds = {"words": j in table.categories, "date": name in table.dates, "truth": name in table.booleans}
    return next((kind for kind, is_it in kinds.items() if is_it), "number")


def value_of(table, row: int, j: int):
    """Return a cell as the texts beside the files write it."""
    value = table.X[row, j]
    if j in table.categories:
        return table.categories[j].values[int(value)]
    if np.isnan(value):
        return None
    if (kind := kind_of(table, j)) == "date":
        zone = ZoneInfo(table.dates[table.columns[j]].zone or "UTC")
        moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=value)).astimezone(zone)
        return f"{moment:%Y-%m-%d}" if value % 1 == 0 else f"{moment:%Y-%m-%d %H:%M}"
    return bool(value) if kind == "truth" else float(value)


def row_of(table, row: int) -> list:
    return [value_of(table, row, j) for j in range(len(table.columns))]


def test_each_file_has_a_text_beside_it_that_says_why():
    files = {path.name for path in HERE.iterdir() if path.suffix not in {".json", ".py", ".md"} and path.is_file()}
    assert files | set(MADE) == set(MUST)
    assert len(MUST) >= 40
    assert all(must["why"] and ("columns" in must) != ("error" in must) for must in MUST.values())


@pytest.mark.parametrize("name", MUST)
def test_a_file_is_read_as_people_read_it(name, folder):
    must, path = MUST[name], path_of(name, folder)
    options = ReadOptions(**must.get("options", {}))
    if "error" in must:
        with pytest.raises(DataError, match=must["error"]):
            read_file(path, options, missing="learn")
        return
    table = read_file(path, options, missing="learn")
    assert {column: kind_of(table, j) for j, column in enumerate(table.columns)} == must["columns"]
    assert (len(table.X), row_of(table, 0), row_of(table, -1)) == (must["n_rows"], must["first"], must["last"])
    left_out = {column: reason for reason, columns in table.left_out for column in columns}
    assert left_out.keys() == must.get("left_out", {}).keys()
    assert all(reason in left_out[column] for column, reason in must.get("left_out", {}).items())
    missing = np.isnan(table.X).sum(axis=0)
    assert {table.columns[j]: int(n) for j, n in enumerate(missing) if n} == must.get("missing", {})
    assert (list(table.padded), list(table.rounded)) == (must.get("padded", []), must.get("rounded", []))
    notes = "\n".join(table.hints)
    assert [note for note in must.get("notes", []) if note not in notes] == []
    assert must.get("notes") != [] or notes == ""


def in_words(name, value):
    """Return an option as the command takes it."""
    return [f"--no-{name}"] if value is False else [f"--{name}", str(value)]


def printed_by(engine, path, labels, options):
    """Return the exit code, the text and the errors of `boxwood explain` with all notes."""
    asked = ["-k", "2"] if labels is None else ["--labels", labels]
    given = [word for name, value in options.items() for word in in_words(name, value)]
    words = ["explain", path, *asked, *given, "--method", "imm", "--notes", "--engine", engine]
    result = invoke(*words, code=None)
    return result.exit_code, result.stdout, result.stderr


def printed_by_scan(path, labels, options):
    """Return the text of `explain` of a scanned file, in the words of the command."""
    with bw.scan(path, **options) as source:
        return in_options(bw.explain(source, labels, n_clusters=2 if labels is None else None, method="imm")).to_text()


@pytest.mark.parametrize("labels", [None, "segment"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_that_fits_is_read_whole_however_many_values_it_has(form, labels, tmp_path, monkeypatch):
    frame, path = pd.read_csv(CUSTOMERS), str(tmp_path / f"t.{form}")
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path, index=False)
    monkeypatch.setattr(settings, "DRAWN", frame.size // 2)
    said = set()
    for most in (frame.size, frame.size - 1):  # of one more value, rows of a table that does not fit are drawn
        monkeypatch.setattr(settings, "GATHERED", most)
        code, text, error = printed_by("memory", path, labels, {})
        assert code == 0, error
        said |= {text, f"{printed_by_scan(path, labels, {})}\n"}
    assert len(said) == 1
    if labels is None:
        monkeypatch.setattr(memory, "_free_memory", lambda: 0)
        assert "drawn at random" in printed_by_scan(path, labels, {})


@law(2)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_both_engines_and_a_scanned_file_say_the_same(seed, folder):
    rng = np.random.default_rng(seed)
    names = [name for name, must in MUST.items() if "columns" in must]
    name = names[int(rng.integers(len(names)))]
    columns, options = list(MUST[name]["columns"]), MUST[name].get("options", {})
    labels = None if rng.random() < 0.5 else columns[int(rng.integers(len(columns)))]
    path = path_of(name, folder)
    code, text, error = printed_by("memory", path, labels, options)
    assert printed_by("duckdb", path, labels, options) == (code, text, error), (name, labels)
    assert code != 2, error
    if code == 0:
        assert f"{printed_by_scan(path, labels, options)}\n" == text, (name, labels)
