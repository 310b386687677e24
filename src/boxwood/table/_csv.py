"""CSV files: the delimiter and the names of the columns, and the SQL that reads such a file.

DuckDB guesses the delimiter. Everything else is fixed: the first line is the header, quotes are doubled, every value is
text. So a value far down the file is read in the same way as the values at its top.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boxwood.table._sql import ONE_FILE, as_pattern, as_text

if TYPE_CHECKING:
    import duckdb

__all__ = ["csv_relation", "explained", "header_of"]

_FIXED = "quote='\"', escape='\"', skip=0"
_NO_DELIMITER = "\x1f"  # a character that no text holds, so that a line is one field


def header_of(
    con: duckdb.DuckDBPyConnection, path: str, compression: str, delimiter: str | None, workspace: str
) -> tuple[str, tuple[str | None, ...]]:
    """Return the delimiter of a CSV file, and the names in its first line, unchanged.

    DuckDB guesses the delimiter from a sample of lines. If it sees a single column, as it does in lines of different
    length, the guess is made from the first line alone.
    """
    if delimiter is None:
        delimiter, width = _sniff(con, path, compression)
        if width == 1:
            delimiter, width = _sniff_first_line(con, path, compression, workspace)
    else:
        width = _sniff_first_line(con, path, compression, workspace, delimiter)[1]
    relation = csv_relation(path, compression, delimiter, width, header=False, text=True)
    row = con.execute(f"SELECT * FROM {relation} LIMIT 1").fetchone()
    return delimiter, tuple(row or ())


def csv_relation(
    path: str,
    compression: str,
    delimiter: str,
    width: int,
    *,
    header: bool = True,
    text: bool = True,
    texts: Sequence[int] = (),
) -> str:
    """Return the SQL that reads a CSV file of `width` columns c0, c1, …: all as text, or of types that DuckDB detects.

    `texts` are the positions of columns that stay text in the second case.
    """
    if text:
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
        types = f"auto_detect=false, columns={{{columns}}}"
    else:
        types = "sample_size=-1, comment=''"
    if not text and texts:
        names, as_texts = ", ".join(f"'c{i}'" for i in range(width)), ", ".join(f"'c{i}': 'VARCHAR'" for i in texts)
        types += f", names=[{names}], types={{{as_texts}}}"
    options = f"delim={as_text(delimiter)}, {_FIXED}, header={header}, compression='{compression}', {types}"
    return f"read_csv({as_pattern(path)}, {options}, {ONE_FILE})"


def _sniff(
    con: duckdb.DuckDBPyConnection, path: str, compression: str, delimiter: str | None = None
) -> tuple[str, int]:
    """Return the delimiter and the number of columns, as DuckDB guesses them; a comma and 1 if it cannot."""
    import duckdb

    fixed = "" if delimiter is None else f", delim={as_text(delimiter)}"
    options = f"{_FIXED}, comment='', header=true, compression='{compression}', {ONE_FILE}{fixed}"
    try:
        guess = con.execute(f"SELECT Delimiter, Columns FROM sniff_csv({as_pattern(path)}, {options})").fetchone()
    except duckdb.InvalidInputException:
        guess = None
    if guess is None:
        return delimiter or ",", 1
    return guess[0], len(guess[1])


def _sniff_first_line(
    con: duckdb.DuckDBPyConnection, path: str, compression: str, workspace: str, delimiter: str | None = None
) -> tuple[str, int]:
    """Return the same guess from a file that holds the first line only."""
    columns = "columns={'line': 'VARCHAR'}, header=false"
    options = f"auto_detect=false, delim='{_NO_DELIMITER}', quote='', escape='', {columns}, {ONE_FILE}"
    options += f", compression='{compression}'"
    line = con.execute(f"SELECT line FROM read_csv({as_pattern(path)}, {options}) LIMIT 1").fetchone()
    first = os.path.join(workspace, "first_line.csv")
    with open(first, "w", encoding="utf-8", newline="") as file:
        file.write(f"{line[0] if line and line[0] is not None else ''}\n")
    return _sniff(con, first, "none", delimiter)


def explained(message: str) -> str | None:
    """Return DuckDB's message in one sentence, if a line has too many fields, too few, or is not UTF-8; else None."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"line {line[1]}" if line else "a line"
    if width := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return f"{where} has {width[2]} field{'' if width[2] == '1' else 's'}, the header has {width[1]}"
    if "not utf-8" in message:
        return f"{where} is not UTF-8 text\nsave it as UTF-8 first"
    return None
