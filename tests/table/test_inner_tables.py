"""Files that hold several tables: databases of SQLite and DuckDB, workbooks of Excel."""

import datetime
import sqlite3
import sys

import duckdb
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.table import ReadOptions, label_rows
from boxwood.table.duck import open_table
from boxwood.table.labels import Rules
from tests.reading import read_file

FAR = (1 << 62) + 1
VALUES = [
    ("whole", [FAR, -(1 << 63), None]),
    ("real", [5e-324, float("inf"), -0.1]),
    ("both", [1, 2.5, None]),
    ("text", ["", "é\0\U0001f600\n", None]),
    ("mixed", [7, "x", 0.1]),
    ("nothing", [None, None, None]),
    ("bytes", [b"\xff\0", None, b""]),
]
HOSTILE = ['x"; DROP TABLE t; --', "it's", "a b", "select", "é", "x.y", "%s", " "]


def sqlite_file(path, tables, views=()):
    with sqlite3.connect(path) as con:
        for name, columns in tables.items():
            quoted = '"' + name.replace('"', '""') + '"'
            names = ", ".join(f'"{column}"' for column, _ in columns)
            con.execute(f"CREATE TABLE {quoted} ({names})")
            rows = list(zip(*(values for _, values in columns), strict=True))
            con.executemany(f"INSERT INTO {quoted} VALUES ({', '.join('?' * len(columns))})", rows)
        for view in views:
            con.execute(view)
    con.close()
    return str(path)


def duckdb_file(path, *statements):
    with duckdb.connect(path) as con:
        for each in statements:
            con.execute(each)
    return str(path)


def workbook(path, sheets):
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return str(path)


def rows_of(path, **options):
    with open_table(path, ReadOptions(**options)) as source:
        return source.names, source.types, source.fetch(f"SELECT * FROM {source.relation}")


def test_values_of_sqlite_are_exact(tmp_path):
    names, types, rows = rows_of(sqlite_file(tmp_path / "t.sqlite", {"t": VALUES}))
    assert names == tuple(name for name, _ in VALUES)
    assert types == ("BIGINT", "DOUBLE", "DOUBLE", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR")
    expected = [
        (FAR, 5e-324, 1.0, "", "7", None, "ff00"),
        (-(1 << 63), float("inf"), 2.5, "é\0\U0001f600\n", "x", None, None),
        (None, -0.1, None, None, "0.1", None, ""),
    ]
    assert rows == expected


def test_more_rows_than_a_batch_keep_their_order_and_types(tmp_path):
    columns = [("i", list(range(2500))), ("late", [None] * 2400 + [0.5] * 100)]
    path = sqlite_file(tmp_path / "t.db", {"t": columns})
    _, types, rows = rows_of(path)
    assert types == ("BIGINT", "DOUBLE")
    assert rows == list(zip(*(values for _, values in columns), strict=True))


@pytest.mark.parametrize("form", ["sqlite", "duckdb"])
def test_tables_and_views_are_read_by_name_in_memory_and_in_batches(tmp_path, form):
    view = "CREATE VIEW double AS SELECT 2 * a AS b FROM t"
    if form == "sqlite":
        path = sqlite_file(tmp_path / "t.db", {"t": [("a", [1, 2, 5])]}, [view])
    else:
        path = duckdb_file(tmp_path / "t.db", "CREATE TABLE t AS SELECT unnest([1, 2, 5]) AS a", view)
    assert read_file(path, ReadOptions(table="t")).X.tolist() == [[1], [2], [5]]
    assert read_file(path, ReadOptions(table="double")).X.tolist() == [[2], [4], [10]]
    with bw.scan(path, table="double") as source:
        assert (source.names, source.kinds, source.n_rows) == (("b",), ("number",), 3)
    with pytest.raises(DataError, match=r"t\.db holds 2 tables; name one of them with --table\ntables: double, t"):
        read_file(path)
    with pytest.raises(DataError, match=r"has no table 'dubble'; did you mean 'double'\?\ntables: double, t"):
        read_file(path, ReadOptions(table="dubble"))


@pytest.mark.parametrize("form", ["sqlite", "duckdb"])
def test_any_name_is_the_name_of_a_table(tmp_path, form):
    if form == "sqlite":
        path = sqlite_file(tmp_path / "it's.sqlite", {name: [("a", [i, 9])] for i, name in enumerate(HOSTILE)})
    else:
        quoted = ['"' + name.replace('"', '""') + '"' for name in HOSTILE]
        tables = [f"CREATE TABLE {name} AS SELECT unnest([{i}, 9]) AS a" for i, name in enumerate(quoted)]
        path = duckdb_file(tmp_path / "it's.duckdb", *tables)
    for i, name in enumerate(HOSTILE):
        assert rows_of(path, table=name)[2] == [(i,), (9,)]


def test_schemas_and_types_of_duckdb(tmp_path):
    table = """CREATE TABLE "my one".t AS SELECT 1.5::DECIMAL(4, 1) AS d, 'a'::ENUM('a') AS e, DATE '2024-01-01' AS f"""
    path = duckdb_file(tmp_path / "t.duckdb", 'CREATE SCHEMA "my one"', table, "CREATE TABLE t AS SELECT 1 AS a")
    wanted = ("DECIMAL(4,1)", "ENUM('a')", "DATE"), [(pytest.approx(1.5), "a", datetime.date(2024, 1, 1))]
    assert rows_of(path, table="my one.t")[1:] == wanted


def test_a_database_is_left_as_it_is(tmp_path):
    for path in (
        sqlite_file(tmp_path / "a.sqlite", {"t": [("a", [1, 2])]}),
        duckdb_file(tmp_path / "b.duckdb", "CREATE TABLE t AS SELECT unnest([1, 2]) AS a"),
    ):
        before = (tmp_path / path).read_bytes()
        out = tmp_path / "o.csv"
        label_rows(path, str(out), Rules("x0 + 1", {"x0": "a"}))
        assert out.read_text().splitlines() == ["a,cluster", "1,2.0", "2,3.0"]
        assert (tmp_path / path).read_bytes() == before


@pytest.mark.crossed
@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb", "t.xlsx"])
@pytest.mark.parametrize("what", ["cut", "other"])
def test_damaged_files_are_told_in_one_line(tmp_path, name, what):
    path = tmp_path / name
    if name == "t.xlsx":
        pytest.importorskip("openpyxl")
        workbook(path, {"s": [["a"], [1]]})
    elif name == "t.sqlite":
        sqlite_file(path, {"t": [("a", list(range(5000)))]})
    else:
        duckdb_file(path, "CREATE TABLE t AS SELECT range AS a FROM range(100)")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if what == "cut" else b"neither nor" * 1000)
    with pytest.raises(DataError, match=f"cannot read .* as {name[2:]}: .") as caught:
        read_file(str(path))
    assert "\n" not in str(caught.value)


def test_a_locked_database_is_told(tmp_path):
    path = sqlite_file(tmp_path / "t.sqlite", {"t": [("a", [1, 2])]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sqlite3.connect", lambda *a, _connect=sqlite3.connect, **k: _connect(*a, timeout=0, **k))
        con = sqlite3.connect(path)
        con.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DataError, match=r"cannot read .*t\.sqlite as sqlite: database is locked"):
            read_file(path)
        con.close()


def test_what_has_no_table_and_what_takes_none(tmp_path):
    with pytest.raises(DataError, match="holds no table"):
        read_file(sqlite_file(tmp_path / "t.sqlite", {"t": [("a", [1])]}, ["DROP TABLE t"]))
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    with pytest.raises(DataError, match=r"t\.csv is csv; --table is for sqlite, duckdb, xlsx"):
        read_file(str(tmp_path / "t.csv"), ReadOptions(table="t"))
    (tmp_path / "u.csv").write_bytes((tmp_path / "t.sqlite").read_bytes())
    with pytest.raises(DataError, match=r"u\.csv is sqlite, not csv; name its format: --format sqlite"):
        read_file(str(tmp_path / "u.csv"))


def test_sheets_of_excel(tmp_path):
    pytest.importorskip("openpyxl")
    day = datetime.datetime(2024, 2, 29, 12)
    rows = [
        ["Größe", 2024, None, "when", "word", "a", None],
        [1, 0.1, True, day, "x", 1, None],
        [None] * 7,
        [3, 2, False, None, "é", "#N/A"],
        [None] * 7,
    ]
    path = workbook(tmp_path / "t.xlsx", {"one": rows, "two": [["a"], [5], [6]], "none": []})
    assert rows_of(path) == (
        ("Größe", "2024", "column 3", "when", "word", "a"),
        ("BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "VARCHAR", "VARCHAR"),
        [(1, 0.1, True, day, "x", "1"), (None,) * 6, (3, 2.0, False, None, "é", "#N/A")],
    )
    assert read_file(path, ReadOptions(table="two")).X.tolist() == [[5], [6]]
    with bw.scan(path, table="two") as source:
        assert (source.names, source.n_rows) == (("a",), 2)
    with pytest.raises(DataError, match="has no columns; column names must be in its first row"):
        read_file(path, ReadOptions(table="none"))
    assert "read the first of 3 sheets: one; --table names another" in read_file(path, missing="drop").hints
    cover = workbook(tmp_path / "cover.xlsx", {"cover": [["Customers 2026", None], []], "rows": rows})
    with pytest.raises(DataError, match="no rows\nread the first of 2 sheets: cover; --table names another"):
        read_file(cover)
    with pytest.raises(DataError, match=r"has no sheet 'tow'\nsheets: one, two, none"):
        read_file(path, ReadOptions(table="tow"))


def test_excel_without_openpyxl_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(b"PK\3\4")
    with pytest.raises(ImportError, match=r"^reading an Excel file needs openpyxl: pip install openpyxl$"):
        read_file(str(tmp_path / "t.xlsx"))


def test_a_sheet_of_no_chart_is_passed_over(tmp_path):
    from openpyxl import load_workbook

    path = workbook(tmp_path / "t.xlsx", {"one": [["x"], [1], [2]]})
    book = load_workbook(path)
    book.create_chartsheet("plot", 0)
    book.save(path)
    assert read_file(path).X.tolist() == [[1.0], [2.0]]
