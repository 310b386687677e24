"""Which cluster a row of a table in batches belongs to, and a file that keeps the cluster of every row.

Where rows belong to the nearest centre, a cluster is found from all columns. The first pass that finds the clusters
writes them, by the number of the row; later passes read only the columns that they need.
"""

from __future__ import annotations

import math
import os
import re
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from boxwood._files import lasting_folder
from boxwood._frames import OrderedLabels, name_as_text
from boxwood._messages import in_line, list_words
from boxwood._types import Array, Floats, Indices
from boxwood.errors import DataError

MOST_LABELS = 10_000
MARKS_MISSING = "labels that count as missing: "
"""How the note begins that tells words of a file which stand for no label."""
LEFT_OUT = ("-1", "-1.0")
"""Labels in a file that leave a row out."""

_WHOLE = re.compile(r"\s*[-+]?(0|[1-9][0-9]*)\s*", re.ASCII)
_WITH_E = re.compile(r"\s*[0-9]+e[0-9]+\s*", re.ASCII | re.I)  # a name such as 1E5, as programs write 1e+05
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


class OneCluster(Labelling):
    """All rows belong to one cluster, as where clusters are still to be made."""

    n_clusters: int = 1

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return zeros."""
        assert rows is not None
        return np.zeros(len(rows), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class MadeClusters(Labelling):
    """Each row of a table belongs to one of the clusters that were made of some of its rows.

    Parameters
    ----------
    predict : function
        Returns the cluster of each row of numbers and codes, shape (n, d), with NaN for what is missing; -1 for none.
    n_columns : int
        The number of these columns; blocks may hold others behind them.
    n_clusters : int
        The number of clusters.
    """

    predict: Callable[[Floats], Indices]
    n_columns: int
    n_clusters: int

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the cluster of each row."""
        assert rows is not None
        return self.predict(rows[:, : self.n_columns]) if len(rows) else np.empty(0, dtype=np.intp)


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
        from boxwood.loops.costs import nearest  # here, as most tables are read without it and the compiler

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
        Label of each cluster. All other values are -1 or missing, as was checked when the labels were found.
    """

    column: str
    labels: tuple[Hashable, ...]

    @property
    def column_read(self) -> str:
        """The column of labels."""
        return self.column

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.labels)

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the place of each value among the labels."""
        places = {label: i for i, label in enumerate(self.labels)}
        codes, values = factorize(column, of_file=all(isinstance(label, (str, int, float)) for label in self.labels))
        found = (places.get(value, places.get(_other_form(value, column.type), -1)) for value in values)
        return np.array([*found, -1], dtype=np.intp)[codes]

    def by_code(self, codes: Indices) -> Array:
        """Return the label of each row from its cluster, and -1 for a row that is left out."""
        is_whole = all(isinstance(label, int) and not isinstance(label, bool) for label in self.labels)
        if is_whole and max(map(abs, self.labels)) < 1 << 62:  # type: ignore[arg-type]
            return np.array([*self.labels, -1])[codes]
        named = np.empty(len(self.labels) + 1, dtype=object)
        named[:] = [*self.labels, -1]
        return OrderedLabels.of(named[codes], self.labels)


def _other_form(value: Any, type: Any) -> Hashable:
    """Return a value of a file as its label may be: a text as a number, and anything else as `write_value`."""
    return _number(value) if isinstance(value, str) else write_value(value, type)


def factorize(column: Any, *, of_file: bool) -> tuple[Indices, list[Any]]:
    """Return for each value of Arrow's array its place among the different values, -1 for none, and these values.

    IN: of_file, whether dates and times are texts, as they are in memory where a file is read.
    """
    import pyarrow.compute as pc

    encoded = _plain_labels(column, of_file).dictionary_encode()
    codes = np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), dtype=np.intp)
    return codes, encoded.dictionary.to_pylist()


class MissingLabels(NamedTuple):
    """How many of some rows have no label, the words of a file for that, such as NA, and labels that nobody knows.

    The latter stand with the number of their rows.
    """

    n_missing: int
    n_rows: int
    marks: tuple[str, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on these rows, and one on the words; none if there are none."""
        have = "has no label and is" if self.n_missing == 1 else "have no label and are"
        said = (f"{self.n_missing:,} of {self.n_rows:,} rows {have} left out",) if self.n_missing else ()
        return (*said, *self._notes_on_unknown, *([note_on_marks(self.marks)] if self.marks else ()))

    @property
    def _notes_on_unknown(self) -> tuple[str, ...]:
        if not self.unknown:
            return ()
        n = sum(count for _, count in self.unknown)
        have, are = ("has", "is") if n == 1 else ("have", "are")
        which = list_words([f"{in_line(label)} ({count:,})" for label, count in self.unknown])
        begin = f"{n:,} of {self.n_rows:,} rows {have} a label that the model has never seen"
        return (f"{begin}, and {are} left out: {which}",)


def note_on_marks(marks: Iterable[str]) -> str:
    """Return the note on words that count as missing labels: one of them may be a name."""
    words = list_words([repr(mark) for mark in sorted(marks)])
    return f"{MARKS_MISSING}{words}; give a cluster of such a name another one"


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
    if _WITH_E.fullmatch(text):
        return None
    if _WHOLE.fullmatch(text):
        return int(text)
    number = float(text) if _NUMBER.fullmatch(text) else None
    return number if number is not None and math.isfinite(number) else None


def write_value(value: Any, type: Any) -> Hashable:
    """Return a value of Arrow's type as a file in text holds it: true, and 0.1 as a float of 32 bits."""
    import pyarrow as pa

    if isinstance(value, bool):
        return name_as_text(value)
    if isinstance(value, float) and (pa.types.is_float32(type) or pa.types.is_float16(type)):
        return float(str(np.float32(value)))
    return value  # type: ignore[no-any-return]


def no_labels(table: str, column: str) -> DataError:
    """Return the error for a column of a type that holds no labels."""
    return DataError(f"column {column!r} of {table} holds no labels; expected numbers, text, booleans or dates")


def refuse_other_labels(table: str, column: str, n_labels: int, n_rows: int) -> None:
    """Raise a DataError if all labels of a file are -1 or missing, or they are too many to be clusters."""
    where = f"column {column!r} of {table}"
    if n_labels == 0:
        raise DataError(f"every row is left out: all labels in {where} are -1 or missing")
    if n_labels > 50 and 10 * n_labels > n_rows:
        raise DataError(f"{where} holds {n_labels:,} different values; is it the cluster column?")


def _plain_labels(column: Any, of_file: bool) -> Any:
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
    if of_file and types.is_temporal(column.type):
        return _texts_of_times(column)
    if types.is_timestamp(column.type):  # Python's dates and times have no nanoseconds
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    if types.is_time64(column.type):
        column = column.cast(pa.time64("us"), safe=False)
    return pc.add(column, pa.scalar(0.0, column.type)) if types.is_floating(column.type) else column


def _texts_of_times(column: Any) -> Any:
    """Return Arrow's array of dates, times or durations as `table.Source.label` has them, in UTC if they have a zone.

    Durations are whole numbers of their unit, as Parquet holds them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    has_zone = pa.types.is_timestamp(column.type) and column.type.tz is not None
    texts = (column.cast(pa.timestamp(column.type.unit)) if has_zone else column).cast(pa.string())
    texts = pc.replace_substring_regex(texts, r"(\.[0-9]*[1-9])0+$", r"\1")
    texts = pc.replace_substring_regex(texts, r"\.0+$", "")
    return pc.binary_join_element_wise(texts, "+00", "") if has_zone else texts


class RowStore:
    """Numbers of rows, so many of one kind for each row, one row after the other.

    Several threads may write and read at a time. The file is removed when the store is garbage, or when the process
    ends. A store that was pickled and loaded again uses the same file.

    Parameters
    ----------
    dtype : data type
        Kind of the numbers.
    width : int, default=1
        How many numbers a row has.
    """

    dtype: np.dtype[Any]
    is_usable: bool
    width: int

    def __init__(self, dtype: DTypeLike, width: int = 1) -> None:
        self.dtype, self.width = np.dtype(dtype), width
        self._remove: Callable[[], object]
        folder, self._remove = lasting_folder(self)
        self.path: str = os.path.join(folder, "rows")
        self.n_rows: int | None = None
        self.is_usable = True
        self._open()

    def __getstate__(self) -> dict[str, Any]:
        of_process = ("_file", "_lock", "_close", "_remove")
        return {name: value for name, value in vars(self).items() if name not in of_process}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._remove = lambda: None  # the file is the other store's
        self._open()

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        self._lock = threading.Lock()  # for systems whose files have one position for all threads
        self._close = weakref.finalize(self, os.close, self._file)

    def close(self) -> None:
        """Remove the file; the numbers are found anew from here on."""
        self.n_rows, self.is_usable = None, False
        self._close()
        self._remove()

    @property
    def is_complete(self) -> bool:
        """Whether the numbers of all rows are there."""
        return self.n_rows is not None

    def write(self, start: int | None, rows: Array) -> bool:
        """Keep the numbers of the rows from `start` on; return whether that was possible.

        It is not where rows have no numbers, and not on a full disk. Then the store is of no use from there on, and
        takes no room.
        """
        if self.is_usable and start is not None:
            try:
                self._write(np.asarray(rows, dtype=self.dtype).tobytes(), start * self.dtype.itemsize * self.width)
                return True
            except OSError:
                os.ftruncate(self._file, 0)
        self.is_usable = False
        return False

    def _write(self, data: bytes, at: int) -> None:
        while data:
            if hasattr(os, "pwrite"):
                written = os.pwrite(self._file, data, at)
            else:
                with self._lock:
                    os.lseek(self._file, at, os.SEEK_SET)
                    written = os.write(self._file, data)
            data, at = data[written:], at + written

    def finish(self, n_rows: int) -> None:
        """Say that the numbers of all rows have been written."""
        self.n_rows = n_rows

    def read(self, start: int, n_rows: int) -> Array:
        """Return the numbers of some rows, shape (n_rows,) or (n_rows, width)."""
        size = self.dtype.itemsize * self.width
        n_bytes, at = n_rows * size, start * size
        if hasattr(os, "pread"):
            data = os.pread(self._file, n_bytes, at)
        else:
            with self._lock:
                os.lseek(self._file, at, os.SEEK_SET)
                data = os.read(self._file, n_bytes)
        if len(data) != n_bytes:
            raise OSError(f"the temporary file {self.path} lost the numbers of rows; run again")
        numbers = np.frombuffer(data, self.dtype)
        return numbers if self.width == 1 else numbers.reshape(n_rows, self.width)


class LabelStore(RowStore):
    """Clusters of rows, from -1 on, in a file of one, two or four bytes for each row.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; None is any number.

    Examples
    --------
    >>> store = LabelStore(3)
    >>> store.write(2, [0, -1]), store.write(0, [2, 1])
    (True, True)
    >>> store.finish(4)
    >>> store.is_complete, store.read(1, 3)
    (True, array([ 1,  0, -1]))
    """

    def __init__(self, n_clusters: int | None = None) -> None:
        most = 1 << 31 if n_clusters is None else n_clusters + 1  # -1 is written as 0
        super().__init__(np.uint8 if most <= 1 << 8 else np.uint16 if most <= 1 << 16 else np.uint32)

    def write(self, start: int | None, rows: Indices) -> bool:
        """Keep the clusters of the rows from `start` on; return whether that was possible; see `RowStore.write`."""
        return super().write(start, np.asarray(rows) + 1)

    def read(self, start: int, n_rows: int) -> Indices:
        """Return the clusters of some rows."""
        return super().read(start, n_rows).astype(np.intp) - 1
