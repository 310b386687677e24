"""Columns of words of a table in batches: the values that they hold, and the table with codes in their place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Indices
from boxwood.axes.categories import MOST_VALUES, is_missing
from boxwood.passes import Source
from boxwood.passes.batches import Parts
from boxwood.passes.labelling import codes_of, labels_in
from boxwood.passes.source import SourceOf
from boxwood.reference.mixed import ascending, plain_value


class FoundWords(NamedTuple):
    """The different values of columns, ascending, None where there are too many.

    Beside them the number of rows, and the columns that some of these lack.
    """

    values: dict[str, tuple[Hashable, ...] | None]
    n_rows: int
    lacking: frozenset[str]


def find_words(source: Source, columns: Sequence[str], n_jobs: int | None = -1) -> FoundWords:
    """Return the values of some columns, but for missing ones, from one pass; up to `MOST_VALUES` of each.

    Texts of numbers are numbers, unless two of them are the same one, as 1.1 and 1.10, or one has leading zeros.
    """
    kinds = dict(zip(source.names, source.kinds, strict=True))
    names = [source.label_name(name) if kinds[name] == "number" else name for name in columns]
    found = source.run(partial(_Words, len(columns), Reading.of(source)), names, n_jobs)
    values: dict[str, tuple[Hashable, ...] | None] = dict.fromkeys(columns)
    for name, read, its in zip(columns, names, found.values, strict=True):
        if its is not None:
            words = [*its] if read == name else _as_numbers([*its])
            values[name] = tuple(words[i] for i in ascending(words))
    return FoundWords(values, found.n_rows, frozenset(np.array(columns)[found.lacks].tolist()))


def _as_numbers(texts: list[Hashable]) -> list[Hashable]:
    """Return the numbers of texts, as labels are read, or the texts if they are not all numbers that differ."""
    numbers = [*map(plain_value, labels_in(map(str, texts)).values())]
    return texts if any(isinstance(number, str) for number in numbers) else numbers


class CodedSource(SourceOf):
    """A table that is read with the code of each word in its place: its place among the values of its column.

    A missing word is NaN.

    Parameters
    ----------
    source : Source
        The table.
    values : mapping from str to sequence
        The values of each column that is read as codes.
    unseen : float, default=NaN
        What stands for a word that is not among these.
    """

    def __init__(self, source: Source, values: Mapping[str, Sequence[Hashable]], unseen: float = np.nan) -> None:
        super().__init__(source)
        self.unseen = unseen
        self.values = {name: {value: float(i) for i, value in enumerate(its)} for name, its in values.items()}
        kinds = zip(source.names, source.kinds, strict=True)
        self.kinds = tuple("number" if name in values else kind for name, kind in kinds)
        self.is_local = source.is_local  # type: ignore[misc]

    def run(self, make: Callable[[], Any], columns: Sequence[str], n_jobs: int | None = -1) -> Any:
        """Return one summary of all batches, with codes in the place of words."""
        codes = {i: self.values[name] for i, name in enumerate(columns) if name in self.values}
        read = _as_words(self.source, columns, self.values)
        return self.source.run(partial(_Coded, codes, self.unseen, Reading.of(self), make), read, n_jobs).summary


def _as_words(source: Source, columns: Sequence[str], words: Mapping[str, Iterable[Hashable]]) -> list[str]:
    """Return the names by which a pass reads columns, with numbers that are words as their texts: 01234, 1.10."""
    as_text = {name for name, values in words.items() if any(isinstance(value, str) for value in values)}
    return [source.label_name(name) if name in as_text else name for name in columns]


def _without_marks(column: Any, marks: Collection[str]) -> Any:
    """Return texts of Arrow, in one piece or several, without those that stand for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    return pc.if_else(pc.is_in(plain, pa.array(list(marks), pa.string())), pa.scalar(None, pa.string()), column)


def rows_in_order(source: Source, columns: Sequence[str], words: Mapping[str, Iterable[Hashable]]) -> Any:
    """Return some columns of a table as one of Arrow, in which words that stand for a missing value are missing.

    IN: words: the values of the columns that are read as words.
    """
    import pyarrow as pa

    names = list(dict.fromkeys(columns))
    found = source.run(Parts, _as_words(source, names, words))
    rows = pa.Table.from_batches([batch for batch, _ in found.in_order()]).rename_columns(names)
    for j, one in enumerate(rows.schema):
        if source.missing_words and names[j] in words and pa.types.is_string(one.type):
            rows = rows.set_column(j, one.name, _without_marks(rows.column(j), source.missing_words))
        elif source.missing_labels and names[j] not in words and pa.types.is_string(one.type):
            rows = rows.set_column(j, one.name, _without_marks(rows.column(j), source.missing_labels))
    return rows


class _Words:
    """The different values of each column, None once there are too many, whether rows lack one, and their number."""

    def __init__(self, n_columns: int, reading: Reading) -> None:
        self.values: list[set[Hashable] | None] = [set() for _ in range(n_columns)]
        self.lacks = np.zeros(n_columns, dtype=np.bool_)
        self.reading, self.n_rows = reading, 0

    def update(self, batch: Any, start: int | None) -> None:
        self.n_rows += batch.num_rows
        for j, its in enumerate(self.values):
            if its is not None:
                places, values = self.reading.words(batch.column(j))
                self.lacks[j] |= None in values or bool((places < 0).any())
                self._add(j, {value for value in values if value is not None})

    def merge(self, other: _Words) -> None:
        self.n_rows += other.n_rows
        self.lacks |= other.lacks
        for j, its in enumerate(other.values):
            self._add(j, its)

    def _add(self, j: int, more: set[Hashable] | None) -> None:
        its = self.values[j]
        both = None if its is None or more is None else its | more
        self.values[j] = None if both is None or len(both) > MOST_VALUES else both


class _Coded:
    """A summary of record batches some of whose columns are read as codes."""

    def __init__(
        self,
        codes: Mapping[int, Mapping[Hashable, float]],
        unseen: float,
        reading: Reading,
        make: Callable[[], Any],
    ) -> None:
        self.codes, self.unseen, self.reading, self.summary = codes, unseen, reading, make()

    def update(self, batch: Any, start: int | None) -> None:
        import pyarrow as pa

        columns = list(batch.columns)
        for i, code_of in self.codes.items():
            places, values = self.reading.words(columns[i])
            known = [np.nan if value is None else code_of.get(value, self.unseen) for value in values]
            columns[i] = pa.array(np.array([*known, np.nan])[places])
        self.summary.update(pa.RecordBatch.from_arrays(columns, names=batch.schema.names), start)

    def merge(self, other: _Coded) -> None:
        self.summary.merge(other.summary)


class _Read(NamedTuple):
    """The place of each value among the different ones, -1 for none, and these; None for one that is missing."""

    places: Indices
    values: list[Hashable | None]


class Reading(NamedTuple):
    """How words are read: whether dates are texts, as they are where a file is read, and marks of missing words."""

    of_file: bool
    marks: Collection[str]

    @classmethod
    def of(cls, source: Source) -> Reading:
        """Return how the words of a table are read."""
        return cls(bool(source.missing_labels), source.missing_words)

    def words(self, column: Any) -> _Read:
        """Return the values of a column of Arrow."""
        places, found = codes_of(column, of_file=self.of_file)
        return _Read(places, [None if self._is_none(value) else plain_value(value) for value in found])

    def _is_none(self, value: Any) -> bool:
        return is_missing(value) or (isinstance(value, str) and value.strip().lower() in self.marks)
