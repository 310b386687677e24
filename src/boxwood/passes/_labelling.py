"""Which cluster a row of a table in batches belongs to: that of its nearest centre, or that of a column of labels."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.errors import DataError

__all__ = [
    "LEFT_OUT",
    "MOST_LABELS",
    "LabelColumn",
    "Labelling",
    "NearestCenters",
    "codes_of",
    "labels_in",
    "no_labels",
    "refuse_other_labels",
    "written",
]

MOST_LABELS = 10_000
LEFT_OUT = ("-1", "-1.0")
"""Labels in a file that leave a row out."""

_WHOLE = re.compile(r"\s*[-+]?(0|[1-9][0-9]*)\s*", re.ASCII)
_NUMBER = re.compile(
    r"\s*[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?\s*|[-+]?inf(inity)?", re.ASCII | re.I
)


class Labelling(ABC):
    """A rule that gives each row its cluster, a whole number from 0 on, or -1 for a row that is left out."""

    @property
    def column_read(self) -> str | None:
        """The column that it reads; None if it reads the rows themselves."""
        return None

    @abstractmethod
    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the cluster of each row, from the rows, shape (n, d), or from Arrow's array of the column."""


@dataclass(frozen=True, eq=False)
class NearestCenters(Labelling):
    """Each row belongs to its nearest centre by the Euclidean distance, the first of equally near ones.

    Parameters
    ----------
    centers : array of shape (k, d)
        The centres.
    """

    centers: Floats

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the nearest centre of each row."""
        from boxwood.loops.nearest import nearest  # here, as most tables are read without it and the compiler

        assert rows is not None
        labels, costs = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        nearest(rows, np.ascontiguousarray(self.centers.T), True, labels, costs)
        return labels


@dataclass(frozen=True, eq=False)
class LabelColumn(Labelling):
    """A column of the table holds the label of each row.

    Parameters
    ----------
    column : str
        Name of the column.
    labels : tuple of hashables
        Label of each cluster. All other values are left out; that they are -1 was checked when the labels were found.
    """

    column: str
    labels: tuple[Hashable, ...]

    @property
    def column_read(self) -> str:
        """The column of labels."""
        return self.column

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the place of each value among the labels."""
        places = {label: i for i, label in enumerate(self.labels)}
        codes, values = codes_of(column)
        found = (places.get(value, places.get(_other_form(value, column.type), -1)) for value in values)
        return np.array([*found, -1], dtype=np.intp)[codes]


def _other_form(value: Any, type: Any) -> Hashable:
    """Return a value of a file as its label may be: a text as a number, and anything else as `written`."""
    return _number(value) if isinstance(value, str) else written(value, type)


def codes_of(column: Any) -> tuple[Indices, list[Any]]:
    """Return for each value of Arrow's array its place among the different values, -1 for none, and these values."""
    import pyarrow.compute as pc

    encoded = _plain_labels(column).dictionary_encode()
    codes = np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), dtype=np.intp)
    return codes, encoded.dictionary.to_pylist()


# ------------------------------------------------------------------------------------------------ labels of files


def labels_in(texts: Iterable[str]) -> dict[str, Hashable]:
    """Return the label that each text of a file's column stands for.

    They are numbers if all texts are, and no two of them the same one: 01, 1 and 1.0 are three labels. Whole numbers
    are exact. Those that have leading zeros, or are too large for 64 bits, stay texts.
    """
    texts = list(texts)
    numbers = [_number(text) for text in texts]
    if any(isinstance(number, float) for number in numbers):
        numbers = [None if number is None else float(number) for number in numbers]
    is_exact = len(set(numbers)) == len(numbers) and None not in numbers
    if is_exact and all(isinstance(number, float) or -(2**63) <= number < 2**64 for number in numbers if number):
        return dict(zip(texts, numbers, strict=True))
    return {text: "-1" if text in LEFT_OUT else text for text in texts}


def _number(text: str) -> int | float | None:
    if _WHOLE.fullmatch(text):
        return int(text)
    number = float(text) if _NUMBER.fullmatch(text) else None
    return number if number is not None and math.isfinite(number) else None


def written(value: Any, type: Any) -> Hashable:
    """Return a value of Arrow's type as a file in text holds it: true, 2024-01-31, and 0.1 as a float of 32 bits."""
    import pyarrow as pa

    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and (pa.types.is_float32(type) or pa.types.is_float16(type)):
        return float(str(np.float32(value)))
    if pa.types.is_duration(type) or not pa.types.is_temporal(type):
        return value  # type: ignore[no-any-return]
    text = str(value)
    return re.sub(r"(\.[0-9]*?)0+(?=\D|$)", r"\1", text) if "." in text else text


def no_labels(table: str, column: str) -> DataError:
    """Return the error for a column of a type that holds no labels."""
    return DataError(f"column {column!r} of {table} holds no labels; expected numbers, text, booleans or dates")


def refuse_other_labels(table: str, column: str, n_missing: int, n_labels: int, n_rows: int) -> None:
    """Raise a DataError if labels of a file are missing, all are -1, or they are too many to be clusters."""
    where = f"column {column!r} of {table}"
    if n_missing:
        raise DataError(f"{n_missing} of {n_rows} labels in {where} are missing; use -1 for rows to leave out")
    if n_labels == 0:
        raise DataError(f"every row is left out: all labels in {where} are -1")
    if n_labels > 50 and 10 * n_labels > n_rows:
        raise DataError(f"{where} holds {n_labels:,} different values; is it the cluster column?")


def _plain_labels(column: Any) -> Any:
    """Return Arrow's array of labels without a dictionary, and with one zero only."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_string_view(column.type) or types.is_large_string(column.type):
        column = column.cast(pa.string())
    if types.is_float16(column.type):
        column = column.cast(pa.float32())
    if types.is_timestamp(column.type):  # Python's dates and times have no nanoseconds
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    if types.is_time64(column.type):
        column = column.cast(pa.time64("us"), safe=False)
    return pc.add(column, pa.scalar(0.0, column.type)) if types.is_floating(column.type) else column
