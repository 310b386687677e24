"""The rows of a sheet of Excel, read by the parser of openpyxl: what it would pass over is told, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from boxwood._messages import Lost, list_words
from boxwood.errors import DataError

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of Excel
MOST_EMPTY = 100  # empty rows, or columns, between others


class Uncalculated:
    """The value of a cell with a formula that no program has calculated."""

    def __str__(self) -> str:
        return ""


UNCALCULATED = Uncalculated()


def opened_book(path: str) -> Any:
    """Return a workbook of Excel, for reading alone; its sheets of charts are empty, as nobody asks for charts."""
    from openpyxl.chartsheet import Chartsheet
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):  # type: ignore[misc]
        def read_chartsheet(self, sheet: Any, rel: Any) -> None:  # openpyxl's own fails if there is no chart
            self.wb._add_sheet(Chartsheet(parent=self.wb, title=sheet.name))

    reader = Reader(path, read_only=True, data_only=True)
    reader.read()
    return reader.wb


def visible_sheets(book: Any, hints: list[str]) -> list[str]:
    """Return the names of the sheets that are not hidden, or of all if all are; more than one is hinted at."""
    sheets = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
    n_hidden = len(book.worksheets) - len(sheets)
    if not sheets:
        return [sheet.title for sheet in book.worksheets]
    if len(book.worksheets) > 1:
        which = f"the first of {len(sheets):,} sheets" if len(sheets) > 1 else "the only sheet"
        which += f" that {'are' if len(sheets) > 1 else 'is'} not hidden" if n_hidden else ""
        hints.append(f"read {which}: {sheets[0]}; --table names another")
    return sheets


def rows_of_sheet(sheet: Any, name: str, hints: list[str]) -> Iterator[Sequence[Any]]:
    """Yield the rows of a sheet, without the empty ones below the last, and without many empty ones in between.

    IN: name: of the file, in messages. Rows that are left out in between are added to the hints.

    Raises
    ------
    DataError
        If a row or a cell lies beyond the bounds of Excel, or rows do not stand in order.
    """
    last = 0
    for number, cells in _parse_rows(sheet):
        if not last < number <= MOST_ROWS:
            what = f"row {number:,} of sheet {sheet.title}"
            why = f"sheets end with row {MOST_ROWS:,}" if number > last else f"it is below row {last:,}"
            raise DataError(f"cannot read {name} as xlsx: {what}: {why}\nopen the file in Excel and save it")
        row = _values(cells, name)
        if all(value is None for value in row):
            continue
        n_empty = number - last - 1
        if n_empty > MOST_EMPTY and last > 0:
            hints.append(Lost(f"left out {n_empty:,} empty rows above row {number:,}"))
        elif n_empty <= MOST_EMPTY:
            yield from [()] * n_empty
        last = number
        yield row


def without_empty_columns(
    columns: Sequence[tuple[str | None, str | None]], hints: list[str]
) -> list[tuple[int, str | None, str]]:
    """Return the place, name and type of the columns of a sheet, without many in a row that have no name and no value.

    IN: names and types; None for the type of a column without a value.
    """
    kept: list[tuple[int, str | None, str]] = []
    waiting: list[tuple[int, str | None, str]] = []
    for i, (name, type) in enumerate(columns):
        waiting.append((i, name, type or "VARCHAR"))
        if name is None and type is None:
            continue
        if len(waiting) > MOST_EMPTY + 1:
            hints.append(Lost(f"left out {len(waiting) - 1:,} empty columns before column {i + 1:,}"))
            waiting = [(i, name or f"column {i + 1}", type or "VARCHAR")]
        kept, waiting = [*kept, *waiting], []
    return kept


def _parse_rows(sheet: Any) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield the number and the cells of each row that the file has."""
    from openpyxl.worksheet._reader import FORMULA_TAG, VALUE_TAG, WorkSheetParser

    class Parser(WorkSheetParser):  # type: ignore[misc]
        def parse_cell(self, element: Any) -> Any:
            cell = super().parse_cell(element)
            has_value = element.get("t") == "str" or element.findtext(VALUE_TAG)
            if not has_value and element.find(FORMULA_TAG) is not None:
                cell["value"] = UNCALCULATED
            return cell

    book = sheet.parent
    formats = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
    with closing(sheet._get_source()) as source:
        yield from Parser(source, sheet._shared_strings, data_only=True, epoch=book.epoch, **formats).parse()


def _values(cells: Sequence[dict[str, Any]], name: str) -> list[Any]:
    """Return the values of a row, from its first column to the last that has one."""
    filled = [cell for cell in cells if cell["value"] is not None]
    width = max((cell["column"] for cell in filled), default=0)
    if width > MOST_COLUMNS:
        what = f"a cell of row {filled[0]['row']:,} is in column {width:,}"
        raise DataError(f"cannot read {name} as xlsx: {what}: sheets end with column {MOST_COLUMNS:,}")
    if len({cell["column"] for cell in filled}) < len(filled):
        raise DataError(f"cannot read {name} as xlsx: row {filled[0]['row']:,} has two cells in one column")
    row: list[Any] = [None] * width
    for cell in filled:
        value = cell["value"]
        # a whole number of Excel has no more digits than a double
        is_far = type(value) is int and not -(1 << 63) <= value < 1 << 63
        row[cell["column"] - 1] = float(value) if is_far else value
    return row


def error_of_no_values(file: str, counts: Sequence[tuple[str, int]]) -> DataError:
    """Return the error for columns that are used, by their names, and have formulas without a value."""
    return DataError(
        f"{list_uncalculated(counts)} in {file}\nopen and save the workbook in Excel, or leave the column out"
    )


def list_uncalculated(counts: Sequence[tuple[str, int]]) -> str:
    """Return what is said of columns with formulas without a value, from their names and how many cells these are."""
    n = sum(count for _, count in counts)
    cells = "1 cell" if n == 1 else f"{n:,} cells"
    return f"{cells} of {list_words([repr(name) for name, _ in counts])} hold{'s' * (n == 1)} formulas without a value"
