"""What is copied from one form of a file to another is what stood there."""

import csv
import json

import duckdb
import numpy as np
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.table import label_rows
from boxwood.table.labels import Rules
from tests.reading import read_file
from tests.scale import law
from tests.table.test_inner_tables import sqlite_file, workbook

RULES = Rules("CASE WHEN x < 20 THEN 'low' ELSE 'high' END", {"x": "x"})
AWKWARD = [1, 2.5, -0.1, 2**53 + 1, 2**63 - 1, -(2**53) - 1, 1e300, 0, 9007199254740993, 1e-7]
FAR = [2**64 + 1, 10**30, -(2**70)]
NESTED = [{"a": [1, 2.5, 2**53 + 1]}, {"a": []}, {"b": {"c": "x,y"}}, None]


def values_of(rng, form, n):
    """Return columns of awkward values by their names; those of a model are last."""
    columns = {"id": [*AWKWARD], "text": ["01234", "", "a,b", 'say "so"', "1.50"]}
    if form == "jsonl":
        columns |= {
            "far": [*AWKWARD, *FAR],
            "nested": NESTED,
            "list": [[1, 2.5], [], [2**53 + 1]],
            "truth": [True, False],
        }
    made = {name: [values[i] for i in rng.integers(0, len(values), n)] for name, values in columns.items()}
    return {**made, "x": [[3, 2.5, 40][i] for i in rng.integers(0, 3, n)]}


def as_written(value):
    """Return a value as CSV has it."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


@law(40)
def test_values_come_back(tmp_path, seed):
    rng = np.random.default_rng(seed)
    form, n = str(rng.choice(["jsonl", "sqlite"])), int(rng.integers(1, 12))
    columns = values_of(rng, form, n)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path = str(tmp_path / f"t.{form}")
    if form == "jsonl":
        (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    else:
        sqlite_file(path, {"t": list(columns.items())})
    assert label_rows(path, str(tmp_path / "o.jsonl"), RULES).n_rows == n
    found = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [{name: row[name] for name in columns} for row in found] == rows
    label_rows(path, str(tmp_path / "o.csv"), RULES)
    with open(tmp_path / "o.csv", newline="") as file:
        for row, expected in zip(csv.DictReader(file), rows, strict=True):
            for name, value in expected.items():
                text = row[name]
                same = (
                    text == value
                    if isinstance(value, str)
                    else not text
                    if value is None
                    else json.loads(text) == value
                )
                assert same, (name, text, value)
    label_rows(path, str(tmp_path / "o.parquet"), RULES)
    for name in ("id", "x"):
        written = duckdb.sql(f"SELECT {name} FROM '{tmp_path / 'o.parquet'}'").fetchall()
        assert [json.loads(value) if isinstance(value, str) else value for (value,) in written] == columns[name]


def test_numbers_of_csv_keep_their_digits(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("post,far,mixed,x\n01234,18446744073709551617,1,3\n1000,2,2.5,30\n,,9007199254740993,4\n")
    label_rows(str(path), str(tmp_path / "o.jsonl"), RULES)
    found = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [row["post"] for row in found] == ["01234", "1000", None]
    assert [row["far"] for row in found] == ["18446744073709551617", "2", None]
    assert [row["mixed"] for row in found] == ["1", "2.5", "9007199254740993"]


def test_formulas_without_a_value_are_told(tmp_path):
    path = workbook(tmp_path / "t.xlsx", {"one": [["x", "gross"], *([i, f"=A{i + 2}*1.2"] for i in range(30))]})
    said = []
    assert label_rows(path, str(tmp_path / "o.csv"), RULES, tell=said.append).n_rows == 30
    assert said == ["30 cells of 'gross' hold formulas without a value; open and save the workbook"]
    for use in (
        lambda: read_file(path),
        lambda: bw.scan(path),
        lambda: label_rows(path, "o.csv", Rules("g", {"g": "gross"})),
    ):
        with pytest.raises(DataError, match="30 cells of 'gross' hold formulas without a value in"):
            use()
    assert read_file(path, exclude=["gross"]).columns == ("x",)


def test_a_cell_far_below_and_far_to_the_right_costs_nothing(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    for row in [["x", "y"], [1, 2], [30, 4]]:
        book.active.append(row)
    book.active["A1048576"], book.active["XFD3"] = 5, "far"
    book.save(tmp_path / "t.xlsx")
    said = []
    assert label_rows(str(tmp_path / "t.xlsx"), str(tmp_path / "o.csv"), RULES, tell=said.append).n_rows == 3
    assert (tmp_path / "o.csv").read_text() == "x,y,column 16384,cluster\n1,2,,low\n30,4,far,high\n5,,,low\n"
    assert said[:2] == [
        "left out 1,048,572 empty rows above row 1,048,576",
        "left out 16,381 empty columns before column 16,384",
    ]
