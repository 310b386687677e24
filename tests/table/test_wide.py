"""CSV files of many columns, which are copied once, and read in parts."""

import pytest

import boxwood as bw
from boxwood.table.duck import open_table
from tests.reading import read_file

MANY = 4  # columns that are many here

KINDS = {  # columns of many kinds, by their values
    "whole": ["1", "2", "-3", "9007199254740993"],
    "real": ["0.1", "1e-300", "NaN", "2"],
    "truth": ["true", "false", "TRUE", "False"],
    "padded": ["01234", "00001", "7", "99999"],
    "day": ["2024-01-01", "2024-02-29", "2023-12-31", "2024-03-01"],
    "moment": ["12:30:00", "00:00:01", "23:59:59", "08:00:00"],
    "word": ["a", "é", "", "NA"],
    "same": ["5", "5", "5", "5"],
    "none": ["", "", "", ""],
    "share": ["3 %", "4.5 %", "10 %", "7 %"],
    "answer": ["ja", "nein", "Ja", "nein"],
}


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    modules = "boxwood.table.duck", "boxwood.table.columns"
    for module in modules:
        monkeypatch.setattr(f"{module}.MANY", MANY)


def csv_file(path, names):
    columns = [KINDS[name.split()[0]] for name in names]
    lines = [",".join(names), *(",".join(row) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_columns_are_read_in_a_wide_file_as_in_a_narrow_one(tmp_path):
    kinds = [kind for kind in KINDS if kind != "real"]  # an error would name its gap
    times = 2
    wide = read_file(csv_file(tmp_path / "wide.csv", [f"{kind} {i}" for i in range(times) for kind in kinds]))
    narrow = read_file(csv_file(tmp_path / "narrow.csv", kinds))
    assert wide.X.tolist() == [row * times for row in narrow.X.tolist()]
    assert [name.split()[0] for name in wide.columns] == list(narrow.columns) * times
    assert {why: len(some) for why, some in wide.left_out} == {why: times * len(some) for why, some in narrow.left_out}
    for facts in ("padded", "booleans"):
        assert [name.split()[0] for name in getattr(wide, facts)] == list(getattr(narrow, facts)) * times


def test_batches_of_a_wide_file_are_those_of_a_narrow_one(tmp_path):
    times = 2
    path = csv_file(tmp_path / "wide.csv", [f"{kind} {i}" for i in range(times) for kind in KINDS])
    with bw.scan(path) as wide, bw.scan(csv_file(tmp_path / "narrow.csv", list(KINDS))) as narrow:
        assert wide.kinds == narrow.kinds * times


def test_only_text_of_many_columns_is_copied_for_many_queries(tmp_path):
    names = [f"whole {i}" for i in range(MANY + 1)]
    with open_table(csv_file(tmp_path / "t.csv", names), text=False) as source:
        copy = source.kept()
        assert copy.relation.startswith("read_parquet")
        query = f"SELECT * FROM {{}} WHERE c{MANY} > 0"
        assert copy.fetch(query.format(copy.relation)) == source.fetch(query.format(source.relation))
    with open_table(csv_file(tmp_path / "t.csv", names[:MANY]), text=False) as source:
        assert source.kept() is source
