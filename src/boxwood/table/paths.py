"""Files to read: where they are, whether they can be read, and whether they are compressed."""

from __future__ import annotations

import glob
import os
import re
import shutil
import stat
import sys
from typing import IO

from boxwood._frames import nearest_name
from boxwood._validation import cut_off, refuse_unknown_letters, shown
from boxwood.errors import DataError
from boxwood.table.sql import as_text

_PARQUET = (".parquet", ".pq")


def as_path(path: str | os.PathLike[str]) -> str:
    """Return a path as text; raise a TypeError for what is no path."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a path must be text or a pathlib.Path, got {shown(path)}")
    refuse_unknown_letters(path)
    return os.fspath(path)


def is_query(text: str) -> bool:
    """Return whether a text is SQL, and not the name of a file."""
    return re.match(r"\s*(SELECT|WITH|FROM)\s", text, re.IGNORECASE) is not None


def find_file(path: str, workspace: str) -> tuple[str, str]:
    """Return the absolute path of a file that holds a table, and its name in messages.

    `-` is standard input. It is copied to a file in `workspace`, and so is a pipe such as `<(zcat t.csv.gz)`, because a
    table is read more than once.

    Raises
    ------
    DataError
        If there is no such file (with the most similar name), or it is a folder, a device, unreadable, closed or empty.
    """
    name = "standard input" if path == "-" else path
    if path == "-":
        if sys.stdin is None:
            raise DataError("standard input is closed; name a file")
        path = _copied(sys.stdin.buffer, workspace)
    else:
        refuse_absent(path)
        mode = os.stat(path).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            with open(path, "rb") as pipe:
                path = _copied(pipe, workspace)
        elif not stat.S_ISREG(mode):
            raise DataError(f"{path} is a device, not a file\nfor standard input, write -")
    if os.path.getsize(path) == 0:
        raise DataError(f"{name} is empty")
    return os.path.abspath(path), name


def _copied(stream: IO[bytes], workspace: str) -> str:
    path = os.path.join(workspace, "input")
    with open(path, "wb") as file:
        shutil.copyfileobj(stream, file)
    return path


def refuse_absent(path: str) -> None:
    """Raise a DataError if there is no such file (with the most similar name), or it is a folder or unreadable."""
    path = as_path(path)
    if not os.path.exists(path):
        if os.path.islink(path):
            raise DataError(f"{cut_off(path, 500)} is a link, but leads to no file: {cut_off(_why_absent(path))}")
        similar = _similar_file(path)
        raise DataError(f"no such file: {cut_off(path, 500)}" + (f"; did you mean '{similar}'?" if similar else ""))
    if os.path.isdir(path):
        raise DataError(f"{path} is a folder, not a file")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path} may not be read: permission denied")


def _why_absent(path: str) -> str:
    """Return the system's words on a link that leads nowhere, as to itself."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return f"there is no {os.readlink(path)}"
    except OSError as error:
        return error.strerror or str(error)
    return "it has changed"


def find_files(path: str) -> list[str]:
    """Return the files that a path means: itself, those of a folder, or those of a pattern, in the order of names."""
    if os.path.isdir(path):
        found = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
        shown_ones = [each for each in found if not _is_hidden(os.path.relpath(each, path))]
        files = sorted(each for each in shown_ones if each.lower().endswith(_PARQUET))
        if not files:
            raise DataError(f"the folder {path} holds no Parquet files\nname a file, or a folder of .parquet files")
        return files
    if not os.path.exists(path) and glob.has_magic(path):
        files = sorted(each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
        if not files:
            raise DataError(f"no file is named like {cut_off(path, 500)}")
        others = [each for each in files if not each.lower().endswith(_PARQUET)]
        if others and len(files) > 1:
            what = f"{others[0]} is not a Parquet file; of other files, only one can be read as a table"
            raise DataError(f"{what}\na query reads several: FROM {as_text(path)}")
        return files
    if path != "-":
        refuse_absent(path)
    return [path]


def _is_hidden(path: str) -> bool:
    """Return whether a file is an engine's own, such as _SUCCESS or _temporary/part-0.parquet."""
    return any(part.startswith(("_", ".")) for part in path.split(os.sep))


def compression_of(path: str) -> str:
    """Return DuckDB's word for the compression of a file. The first bytes decide, not the name.

    Raises
    ------
    DataError
        If the name ends in .gz, but the file is neither gzip nor text of more than one line.
    """
    with open(path, "rb") as file:
        first = file.read(1 << 16)
    if first.startswith(b"\x1f\x8b"):
        return "gzip"
    if path.lower().endswith(".gz") and (b"\0" in first or b"\n" not in first.strip()):
        raise DataError(f"{os.path.basename(path)} is not gzip")
    return "uncompressed"


def _similar_file(path: str) -> str | None:
    """Return the file of the same folder whose name without extension is most similar, or None."""
    folder, name = os.path.split(path)
    try:
        stems = {entry.split(".")[0]: entry for entry in sorted(os.listdir(folder or "."))}
    except OSError:
        return None
    nearest = nearest_name(name.split(".")[0], list(stems))
    return None if nearest is None else os.path.join(folder, stems[nearest])
