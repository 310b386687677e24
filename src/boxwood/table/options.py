"""How a file is read, and which of its columns are used; the same in memory and in batches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from boxwood._validation import refuse_other_kind, shown
from boxwood.table.column_names import ColumnError, find_columns, split_names


class ReadOptions(NamedTuple):
    """How a file is read.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "sqlite", "duckdb", "xlsx"}, default=None
        None takes the format from the extension, and CSV for standard input.
    header : bool, default=True
        Of CSV: whether the first line holds names; if not, columns are called `column 1`, `column 2`, …
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
    header: bool = True
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
    what = f"memory_limit must be a size such as '1GB' or '500MB', got {shown(memory_limit)}"
    if not isinstance(memory_limit, str):
        raise TypeError(what)
    found = _SIZE.fullmatch(memory_limit)
    size = float(found[1]) * _UNITS.get(found[2].upper(), 0) if found else 0
    if not 1 <= size < 1 << 62:
        raise ValueError(what)
    return int(size)


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
