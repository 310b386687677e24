"""Writes the example files that are no texts: `python -m tests.files.make FOLDER`. A function for each."""

import sys
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

HERE = Path(__file__).parent
CITIES = ["Bern", "Wien", "Bern", "Köln", "Wien", "Bern", "Köln", "Köln", "Wien", "Bern", "Wien", "Köln"]
HEIGHTS = [171.5, 164.2, 180.1, 175.3, 169.9, 158.4, 182.7, 177.0, 166.6, 173.8, 161.2, 179.5]
VISITS = [12, 7, 31, 25, 9, 14, 28, 22, 8, 17, 11, 30]
ACTIVE = [True, False, True, True, False, False, True, True, False, True, False, True]
DAYS = ["01-03", "01-17", "02-04", "02-20", "03-05", "03-28", "04-09", "04-30", "05-11", "06-02", "06-25", "07-14"]
DATES = [date.fromisoformat(f"2026-{day}") for day in DAYS]
PLAIN = {"city": CITIES, "height": HEIGHTS, "visits": VISITS}
TYPED = {"city": CITIES, "start": DATES, "active": ACTIVE}

MADE: dict[str, Callable[[Path], Any]] = {}


def made(name: str) -> Callable[[Callable[[Path], Any]], Callable[[Path], Any]]:
    """Return a decorator that enters a function as the one that writes a file."""
    return lambda write: MADE.setdefault(name, write)


def lines_of(columns: dict[str, list[Any]]) -> list[list[Any]]:
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


def sheet_of(path: Path, lines: list[list[Any]]) -> Any:
    """Return a workbook with these lines in its only sheet; whoever asks saves it."""
    from openpyxl import Workbook

    book = Workbook()
    for line in lines:
        book.active.append(line)
    return book


# --------------------------------------------------------------------------------------------------------- workbooks
@made("hidden-sheet.xlsx")
def hidden_sheet(path):
    book = sheet_of(path, lines_of(PLAIN))
    hidden = book.create_sheet("lists", 0)
    hidden.append(["choices"])
    hidden.sheet_state = "hidden"
    book.active = 1
    book.save(path)


@made("merged-head.xlsx")
def merged_head(path):
    book = sheet_of(path, [["Visits by customer"], *lines_of(PLAIN)])
    book.active.merge_cells("A1:C1")
    book.save(path)


@made("typed-cells.xlsx")
def typed_cells(path):
    sheet_of(path, lines_of({**TYPED, "visits": VISITS})).save(path)


@made("formulas.xlsx")
def formulas(path):
    doubled = [f"=2*C{row}" for row in range(2, 14)]
    sheet_of(path, lines_of({**PLAIN, "double": doubled})).save(path)


@made("units-and-total.xlsx")
def units_and_total(path):
    weights = [round(height - 100.5, 1) for height in HEIGHTS]
    names, *rows = lines_of({"city": CITIES, "height": HEIGHTS, "weight": weights, "visits": VISITS})
    sheet_of(path, [names, [None, "cm", None, None], *rows, ["Total", None, None, sum(VISITS)]]).save(path)


@made("chart-sheet.xlsx")
def chart_sheet(path):
    from openpyxl.chart import BarChart, Reference

    book = sheet_of(path, lines_of(PLAIN))
    chart = BarChart()
    chart.add_data(Reference(book.worksheets[0], min_col=3, min_row=1, max_row=13), titles_from_data=True)
    book.create_chartsheet("chart", 0).add_chart(chart)
    book.save(path)


# --------------------------------------------------------------------------------------------------------- databases
def sqlite_of(path: Path, *others: str) -> None:
    import sqlite3

    con = sqlite3.connect(path)
    con.execute("CREATE TABLE visits (city TEXT, height REAL, visits INTEGER)")
    con.executemany("INSERT INTO visits VALUES (?, ?, ?)", lines_of(PLAIN)[1:])
    for other in others:
        con.execute(f"CREATE TABLE {other} (name TEXT, price REAL)")
    con.commit()
    con.close()


MADE["one-table.sqlite"] = sqlite_of
MADE["two-tables.sqlite"] = MADE["named-table.sqlite"] = lambda path: sqlite_of(path, "products")


@made("typed.duckdb")
def typed_duckdb(path):
    import duckdb

    with duckdb.connect(path) as con:
        con.execute("CREATE TABLE visits (city VARCHAR, start DATE, active BOOLEAN, height DECIMAL(5, 1))")
        con.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", lines_of({**TYPED, "height": HEIGHTS})[1:])


# ----------------------------------------------------------------------------------------------------- Arrow, Parquet
def parquet_of(path: Path, columns: dict[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table(columns), path)


@made("dictionary.parquet")
def dictionary(path):
    import pyarrow as pa

    parquet_of(path, {**PLAIN, "city": pa.array(CITIES).dictionary_encode()})


@made("zones.parquet")
def zones(path):
    moments = [datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo("Europe/Vienna")) for day in DATES]
    parquet_of(path, {"city": CITIES, "start": moments, "visits": VISITS})


@made("texts-of-numbers.parquet")
def texts_of_numbers(path):
    parquet_of(path, {"code": ["1", "2", "1", "3", "3", "2"] * 2, "height": HEIGHTS})


@made("plain.arrow")
def plain_arrow(path):
    import pyarrow as pa

    table = pa.table(PLAIN)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


@made("archive.zip")
def archive(path):
    with zipfile.ZipFile(path, "w") as file:
        file.write(HERE / "plain.csv", "plain.csv")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, write in MADE.items():
        write(folder / name)
