"""The dialect of a CSV file: its delimiter and its column names, found by DuckDB.

Only the delimiter is guessed. All else is fixed (first line is the header, quotes are doubled, every value is text), so
that a value far down the file is read as the values at its top are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boxwood.table._sql import as_pattern, as_text

if TYPE_CHECKING:
    import duckdb

__all__ = ["complaint", "csv_relation", "header_of"]

_FIXED = "quote='\"', escape='\"', skip=0"
_ONE_FIELD = "\x1f"  # a delimiter that no text holds: the whole line is one field


def header_of(
    con: duckdb.DuckDBPyConnection, path: str, compression: str, delimiter: str | None, workspace: str
) -> tuple[str, tuple[str | None, ...]]:
    """Return the delimiter of a CSV file and the names in its first line, as they stand there.

    The whole sample decides; where it is of one column only, which is what ragged rows look like, the first line alone.
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
    """Return the SQL that reads a CSV file whose dialect is known: all text, or types that DuckDB finds.

    The columns in the places `texts` are text either way.
    """
    if text:
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
        types = f"auto_detect=false, columns={{{columns}}}"
    else:
        types = "sample_size=-1, comment=''"
    if not text and texts:
        names, kept = ", ".join(f"'c{i}'" for i in range(width)), ", ".join(f"'c{i}': 'VARCHAR'" for i in texts)
        types += f", names=[{names}], types={{{kept}}}"
    options = f"delim={as_text(delimiter)}, {_FIXED}, header={header}, compression='{compression}', {types}"
    return f"read_csv({as_pattern(path)}, {options})"


def _sniff(
    con: duckdb.DuckDBPyConnection, path: str, compression: str, delimiter: str | None = None
) -> tuple[str, int]:
    import duckdb

    fixed = "" if delimiter is None else f", delim={as_text(delimiter)}"
    options = f"{_FIXED}, comment='', header=true, compression='{compression}'{fixed}"
    try:
        found = con.execute(f"SELECT Delimiter, Columns FROM sniff_csv({as_pattern(path)}, {options})").fetchone()
    except duckdb.InvalidInputException:
        found = None
    if found is None:
        return delimiter or ",", 1
    return found[0], len(found[1])


def _sniff_first_line(
    con: duckdb.DuckDBPyConnection, path: str, compression: str, workspace: str, delimiter: str | None = None
) -> tuple[str, int]:
    columns = "columns={'line': 'VARCHAR'}, header=false"
    options = f"auto_detect=false, delim='{_ONE_FIELD}', quote='', escape='', compression='{compression}', {columns}"
    line = con.execute(f"SELECT line FROM read_csv({as_pattern(path)}, {options}) LIMIT 1").fetchone()
    first = os.path.join(workspace, "first_line.csv")
    with open(first, "w", encoding="utf-8", newline="") as file:
        file.write(f"{line[0] if line and line[0] is not None else ''}\n")
    return _sniff(con, first, "none", delimiter)


def complaint(message: str) -> str | None:
    """Return what DuckDB says of a line of another width, or of no text, in one sentence; None for all else."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"line {line[1]}" if line else "a line"
    if width := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return f"{where} has {width[2]} field{'' if width[2] == '1' else 's'}, the header has {width[1]}"
    if "not utf-8" in message:
        return f"{where} is not UTF-8 text\nsave it as UTF-8 first"
    return None
