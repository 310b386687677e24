"""What a caller says of a table: its file, how that is read, and which columns are used; in memory and in batches."""

from __future__ import annotations

import glob
import os
import re
import shutil
import stat
import sys
from collections.abc import Collection, Sequence
from typing import IO, Any, NamedTuple

from boxwood._frames import nearest_name
from boxwood._validation import cut_off, list_words, refuse_other_kind, refuse_unknown_letters, show_value
from boxwood.errors import DataError
from boxwood.table.sql import sql_text


class ReadOptions(NamedTuple):
    """How a file is read.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "sqlite", "duckdb", "xlsx"}, default=None
        None takes the format from the extension, and CSV for standard input.
    header : bool, default=None
        Of CSV: whether the first line holds names; if not, columns are called `column 1`, `column 2`, … None takes it
        for names, unless it has numbers alone and so have all columns; whole numbers that rise, as years do, are names.
    decimal : {".", ","}, default=None
        Of CSV: what stands before the decimals; the other of point and comma may part groups of three digits. None is
        a point, or a comma in columns where that is sure: all values of the column are such numbers, and some could be
        no others.
    encoding : str, default=None
        Of CSV: the encoding of its text, by any name that Python knows. None reads UTF-16 and UTF-32 that begin with
        their mark, UTF-8, and else cp1252, with a hint, if no byte speaks against it.
    table : str, default=None
        Of a database or a workbook: the table, view or sheet to read. None is the only table, or the first sheet.
    """

    format: str | None = None
    header: bool | None = None
    decimal: str | None = None
    encoding: str | None = None
    table: str | None = None


DEFAULTS = ReadOptions()


def refuse_no_options(options: object) -> None:
    """Raise a TypeError unless options are `ReadOptions`."""
    refuse_other_kind("options", options, ReadOptions, "such as ReadOptions(header=False)")


_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_UNITS = {"": 1, "B": 1, **{f"{u}B": 1000 ** (i + 1) for i, u in enumerate("KMGT")}}
_UNITS |= {f"{u}IB": 1024 ** (i + 1) for i, u in enumerate("KMGT")}


def as_bytes(memory_limit: str | None) -> int | None:
    """Return the bytes of a text such as "1GB"."""
    if memory_limit is None:
        return None
    what = f"memory_limit must be a size such as '1GB' or '500MB', got {show_value(memory_limit)}"
    if not isinstance(memory_limit, str):
        raise TypeError(what)
    found = _SIZE.fullmatch(memory_limit)
    size = float(found[1]) * _UNITS.get(found[2].upper(), 0) if found else 0
    if not 1 <= size < 1 << 62:
        raise ValueError(what)
    return int(size)


# ------------------------------------------------------------------------------------------------------------- its file
_PARQUET = (".parquet", ".pq")


def as_path(path: str | os.PathLike[str]) -> str:
    """Return a path as text; raise a TypeError for what is no path."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a path must be text or a pathlib.Path, got {show_value(path)}")
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
        path = _copy_stream(sys.stdin.buffer, workspace)
    else:
        refuse_absent(path)
        mode = os.stat(path).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            with open(path, "rb") as pipe:
                path = _copy_stream(pipe, workspace)
        elif not stat.S_ISREG(mode):
            raise DataError(f"{path} is a device, not a file\nfor standard input, write -")
    if os.path.getsize(path) == 0:
        raise DataError(f"{name} is empty")
    return os.path.abspath(path), name


def _copy_stream(stream: IO[bytes], workspace: str) -> str:
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
            raise DataError(f"{what}\na query reads several: FROM {sql_text(path)}")
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


# ---------------------------------------------------------------------------------------------------------- its columns
_NUMBERED = re.compile(r"(.*)_\d+", re.DOTALL)


class ColumnError(DataError):
    """A column was asked for that the table does not have, or must not have."""


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return "; did you mean 'x'?" with the known name that is most similar, or nothing if none is similar.

    Examples
    --------
    >>> suggestion("segmnt", ["x", "segment"]), suggestion("customers", ["cities"])
    ("; did you mean 'segment'?", '')
    """
    nearest = nearest_name(name, known)
    return "" if nearest is None else f"; did you mean '{nearest}'?"


def split_names(items: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the names in items that each hold one name, or several with commas between them.

    An item that is itself a known name stays whole, even if it holds a comma. Repeated names are returned once.
    """
    if isinstance(items, str):
        raise TypeError(
            f"names of columns must be a list, got the text {show_value(items)}; write [{show_value(items)}]"
        )
    names: list[str] = []
    for item in items:
        refuse_other_kind("the name of a column", item, str, "names are text")
        names += [item] if item in known else [part.strip() for part in item.split(",") if part.strip()]
    return tuple(dict.fromkeys(names))


def find_columns(wanted: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return the position of each wanted name among the known ones.

    Raises
    ------
    ColumnError
        For the first name that is not known, with the most similar known one.
    """
    position = {name: i for i, name in enumerate(known)}
    for name in wanted:
        if name not in position:
            similar = suggestion(name, known)
            raise ColumnError(f"no column '{cut_off(name)}' in the table{similar}\nColumns: {list_words(known, 30)}")
    return [position[name] for name in wanted]


def distinct_names(names: Sequence[str | None]) -> tuple[str, ...]:
    """Return names that are all different: repeated ones get a number, missing ones are those of a file without header.

    Examples
    --------
    >>> distinct_names(["a", "a", None])
    ('a', 'a_1', 'column 3')
    """
    distinct: dict[str, None] = {}
    for i, name in enumerate(names):
        stem = name or f"column {i + 1}"
        number, choice = 0, stem
        while choice in distinct:
            number += 1
            choice = f"{stem}_{number}"
        distinct[choice] = None
    return tuple(distinct)


def may_be_renamed(names: Collection[str]) -> bool:
    """Return whether a name ends in a number, and is without it, but for case, another one of the names."""
    folded = {name.lower() for name in names}
    stems = (_NUMBERED.fullmatch(name) for name in names)
    return any(stem is not None and stem[1].lower() in folded for stem in stems)


def as_spelled(names: Sequence[str], spelled: Collection[str]) -> list[str]:
    """Return names as they were before DuckDB put numbers to those that differ from earlier ones in case only.

    IN: names: as DuckDB has them, in its order; spelled: all names as they were, in any order.

    Raises
    ------
    DataError
        If a name of the file may be such a number: of "a", "A" and "A_1", DuckDB's "A_1" may be each of the last two.

    Examples
    --------
    >>> as_spelled(["a", "A_1", "b"], {"a", "A", "b"})
    ['a', 'A', 'b']
    """
    by_case: dict[str, list[str]] = {}
    for name in sorted(spelled):
        by_case.setdefault(name.lower(), []).append(name)
    for folded, alike in by_case.items():
        numbered = [other for other in by_case if re.fullmatch(re.escape(folded) + r"(_\d+)+", other)]
        if len(alike) > 1 and numbered:
            others = list_words([show_value(name) for other in numbered for name in by_case[other]])
            twins = list_words([show_value(name) for name in alike])
            raise DataError(
                f"columns {twins} differ in case only and cannot be distinguished from {others}\nrename them"
            )
    return [_before(name, spelled) for name in names]


def _before(name: str, spelled: Collection[str]) -> str:
    """Return the name without numbers at its end, until it is one of the file's."""
    while name not in spelled and (stem := _NUMBERED.fullmatch(name)) is not None:
        name = stem[1]
    return name


def with_index(frame: Any) -> Any:
    """Return a frame of pandas with its index as its first columns; other tables are returned as they are.

    An index without a name that counts the rows from 0 is none. The frame's values are not copied.

    Raises
    ------
    ColumnError
        If the index has the name of a column.
    """
    from narwhals import dependencies

    if not dependencies.is_pandas_dataframe(frame) or _counts_rows(frame.index):
        return frame
    index, several = frame.index, frame.index.nlevels > 1
    unnamed = (f"level_{level}" if several else "index" for level in range(index.nlevels))
    names = [default if name is None else name for name, default in zip(index.names, unnamed, strict=True)]
    whole = frame.copy(deep=False)
    for level, name in enumerate(names):
        if str(name) in map(str, whole.columns):
            raise ColumnError(
                f"the index would be written as column {str(name)!r}, but there is one already; name the index "
                "otherwise (frame.rename_axis), or drop it: frame.reset_index(drop=True)"
            )
        whole.insert(level, name, index.get_level_values(level))
    return whole


def _counts_rows(index: Any) -> bool:
    """Return whether an index of pandas is the one that a frame has if none is given."""
    is_range = type(index).__name__ == "RangeIndex" and index.name is None
    return is_range and (index.start, index.step) == (0, 1)


class Chosen(NamedTuple):
    """Columns of a table by their places: those to use, whether somebody named them, and those of labels and weights.

    Unless they were named, columns to use are candidates, of which some are left out by what they hold.
    """

    columns: list[int]
    are_named: bool
    label: int | None = None
    weight: int | None = None


class Wanted(NamedTuple):
    """Which columns of a table are used.

    Parameters
    ----------
    columns, exclude : sequences of str
        Columns to use and not to use; by default all numeric ones are used. An item may hold several names, with commas
        between them.
    labels, weights : str, default=None
        Columns with the label and with the weight of each row; they are no others.
    """

    columns: Sequence[str] = ()
    exclude: Sequence[str] = ()
    labels: str | None = None
    weights: str | None = None

    def among(self, names: Sequence[str]) -> Chosen:
        """Return the columns of a table with these names.

        Raises
        ------
        ColumnError
            If a column is named that the table does not have, or one for labels and for weights.
        """
        label, weight = (None if each is None else find_columns([each], names)[0] for each in self[2:])
        if label is not None and label == weight:
            raise ColumnError(
                f"column '{self.labels}' cannot hold both labels and weights; name another one for one of them"
            )
        wanted, excluded = (find_columns(split_names(each, names), names) for each in self[:2])
        chosen = [i for i in wanted or range(len(names)) if i not in (*excluded, label, weight)]
        return Chosen(chosen, bool(wanted), label, weight)


ALL_COLUMNS = Wanted()
