"""Files and their formats: what a name means, and what is in the way of reading it."""

from __future__ import annotations

import os
import shutil
import sys

from boxwood.errors import DataError
from boxwood.table._column_names import meant, nearest

__all__ = ["FORMATS", "find_file", "format_of", "packed", "refuse_absent"]

FORMATS = {
    ".arrow": "arrow",
    ".csv": "csv",
    ".feather": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".tsv": "tsv",
    ".txt": "csv",
}
"""Format of a table by the extension of its file; csv, tsv and jsonl may be packed (`.gz`)."""


def find_file(path: str, workspace: str) -> tuple[str, str]:
    """Return the file that holds a table, as an absolute path, and what messages call it.

    `-` is standard input, kept in `workspace`, since a table is read more than once.

    Raises
    ------
    DataError
        If there is no such file (the nearest name is offered), or it is a folder, unreadable or empty.
    """
    name = "standard input" if path == "-" else path
    if path == "-":
        path = os.path.join(workspace, "input")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    else:
        refuse_absent(path)
    if os.path.getsize(path) == 0:
        raise DataError(f"{name} is empty")
    return os.path.abspath(path), name


def refuse_absent(path: str) -> None:
    """Raise a DataError if there is no such file (the nearest name is offered), or it is a folder or unreadable."""
    if not os.path.exists(path):
        raise DataError(f"no such file: {path}{meant(_neighbour(path))}")
    if os.path.isdir(path):
        raise DataError(f"{path} is a folder, not a file")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path} may not be read: permission denied")


def format_of(path: str, asked: str | None = None) -> str:
    """Return the format of a table: the one asked for, or by extension; standard input is CSV.

    Raises
    ------
    DataError
        If the extension tells nothing.
    """
    if asked is not None:
        return asked
    if path == "-":
        return "csv"
    extension = os.path.splitext(path.removesuffix(".gz"))[1]
    if extension.lower() not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        wrong = f"'{extension}'" if extension else "a name without extension"
        raise DataError(f"cannot tell the format of {path} from {wrong}\nknown: {known}\nor name it: --format csv")
    return FORMATS[extension.lower()]


def packed(path: str) -> str:
    """Return DuckDB's word for the compression of a file, told by its first bytes rather than by its name."""
    with open(path, "rb") as file:
        return "gzip" if file.read(2) == b"\x1f\x8b" else "none"


def _neighbour(path: str) -> str | None:
    """Return the file of the same folder that was probably meant, by its name without extension."""
    folder, name = os.path.split(path)
    try:
        stems = {entry.split(".")[0]: entry for entry in sorted(os.listdir(folder or "."))}
    except OSError:
        return None
    near = nearest(name.split(".")[0], list(stems))
    return None if near is None else os.path.join(folder, stems[near])
