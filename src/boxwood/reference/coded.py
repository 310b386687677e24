"""Columns of words of a table in batches: the values that they hold, and the table with codes in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Indices
from boxwood.axes.categories import MOST_VALUES, is_missing, places_in_order, plain_value
from boxwood.batches import Source
from boxwood.batches.batches import Parts
from boxwood.batches.labelling import factorize, labels_in
from boxwood.batches.source import Marks, MarksMet, SourceOf


class FoundWords(NamedTuple):
    """The different values of columns, ascending, None where there are too many.

    Beside them the number of rows, the columns that some of these lack, the marks of missing values that they have, and
    what there are too many of, where that is known.
    """

    values: dict[str, tuple[Hashable, ...] | None]
    n_rows: int
    lacking: frozenset[str]
    marks: dict[str, MarksMet]
    why: Mapping[str, str] = MappingProxyType({})


def find_words(
    source: Source, columns: Sequence[str], n_jobs: int | None = -1, *, whole: Collection[str] = ()
) -> FoundWords:
    """Return the values of some columns, but for missing ones, from one pass; up to `MOST_VALUES` of each.

    Texts of numbers are numbers, unless two of them are the same one, as 1.1 and 1.10, or one has leading zeros.

    IN: whole: the columns in which each text is a word.
    """
    kinds = dict(zip(source.names, source.kinds, strict=True))
    names = [source.label_name(name) if kinds[name] == "number" else name for name in columns]
    marks = [Marks() if name in whole else source.marks_in(name) for name in columns]
    found = source.run(partial(_WordsMet, bool(source.marks), marks), names, n_jobs)
    values: dict[str, tuple[Hashable, ...] | None] = dict.fromkeys(columns)
    for name, read, its in zip(columns, names, found.values, strict=True):
        if its is not None:
            words = [*its] if read == name else _as_numbers([*its])
            values[name] = tuple(words[i] for i in places_in_order(words))
    met = {name: MarksMet.of(its, one.words) for name, its, one in zip(columns, found.met, marks, strict=True) if its}
    return FoundWords(values, found.n_rows, frozenset(np.array(columns)[found.lacks].tolist()), met)


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
    marks : mapping from str to sequence of str, default={}
        Words of columns that stand for a missing one.
    """

    def __init__(
        self,
        source: Source,
        values: Mapping[str, Sequence[Hashable]],
        unseen: float = np.nan,
        marks: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        super().__init__(source)
        self.unseen = unseen
        self.values: dict[str, dict[Hashable, float]] = {
            name: {value: float(i) for i, value in enumerate(its)} for name, its in values.items()
        }
        for name, its in marks.items():
            self.values[name] |= dict.fromkeys(its, np.nan)
        kinds = zip(source.names, source.kinds, strict=True)
        self.kinds: tuple[str, ...] = tuple("number" if name in values else kind for name, kind in kinds)
        self.is_local: bool = source.is_local  # type: ignore[misc]

    def run(self, make: Callable[[], Any], columns: Sequence[str], n_jobs: int | None = -1) -> Any:
        """Return one summary of all batches, with codes in the place of words."""
        codes = {i: self.values[name] for i, name in enumerate(columns) if name in self.values}
        marks = {i: Marks(self.missing_words, known) for i, known in codes.items()}
        read = _as_words(self.source, columns, self.values)
        return self.source.run(
            partial(_CodedSummary, codes, self.unseen, bool(self.marks), marks, make), read, n_jobs
        ).summary


def _as_words(source: Source, columns: Sequence[str], words: Mapping[str, Iterable[Hashable]]) -> list[str]:
    """Return the names by which a pass reads columns, with numbers that are words as their texts: 01234, 1.10."""
    as_text = {name for name, values in words.items() if any(isinstance(value, str) for value in values)}
    return [source.label_name(name) if name in as_text else name for name in columns]


def _without_marks(column: Any, marks: Marks) -> Any:
    """Return texts of Arrow, in one piece or several, without those that stand for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain, text = pc.utf8_lower(pc.utf8_trim(column, " ")), pa.string()
    is_mark = pc.is_in(plain, pa.array(list(marks.marks), text))
    is_word = pc.is_in(column, pa.array([word for word in marks.words if isinstance(word, str)], text))
    return pc.if_else(pc.and_not(is_mark, is_word), pa.scalar(None, text), column)


def rows_in_order(source: Source, columns: Sequence[str], words: Mapping[str, Iterable[Hashable]]) -> Any:
    """Return some columns of a table as one of Arrow, in which words that stand for a missing value are missing.

    IN: words: the values of the columns that are read as words.
    """
    ready = WordsRead.of(source, columns, words)
    return ready.table([batch for batch, _ in source.run(Parts, ready.read).in_order()])


class WordsRead(NamedTuple):
    """How batches of a source become tables of Arrow, in which words that stand for a missing value are missing.

    Parameters
    ----------
    names : list of str
        Columns of the tables, all different.
    read : list of str
        The names by which a pass reads them.
    marks : list of Marks
        For each column what stands for a missing value.
    """

    names: list[str]
    read: list[str]
    marks: list[Marks]

    @classmethod
    def of(cls, source: Source, columns: Sequence[str], words: Mapping[str, Iterable[Hashable]]) -> WordsRead:
        """Return how columns are read; IN: words: the values of those that are read as words."""
        names = list(dict.fromkeys(columns))
        marks = [Marks(source.missing_words, [*words[one]]) if one in words else Marks(source.marks) for one in names]
        return cls(names, _as_words(source, names, words), marks)

    def table(self, batches: Sequence[Any]) -> Any:
        """Return batches of these columns as one table of Arrow."""
        import pyarrow as pa

        rows = pa.Table.from_batches(batches).rename_columns(self.names)
        for j, one in enumerate(rows.schema):
            if self.marks[j].marks and pa.types.is_string(one.type):
                rows = rows.set_column(j, one.name, _without_marks(rows.column(j), self.marks[j]))
        return rows


class _WordsMet:
    """The different values of each column, None once there are too many, whether rows lack one, and their number.

    Beside them how many rows have each mark of a missing value, be it a word or none.
    """

    def __init__(self, of_file: bool, marks: Sequence[Marks]) -> None:
        self.values: list[set[Hashable] | None] = [set() for _ in marks]
        self.lacks = np.zeros(len(marks), dtype=np.bool_)
        self.met: list[Counter[str]] = [Counter() for _ in marks]
        self.of_file, self.marks, self.n_rows = of_file, marks, 0

    def update(self, batch: Any, start: int | None) -> None:
        self.n_rows += batch.num_rows
        for j, its in enumerate(self.values):
            if its is not None:
                places, found = factorize(batch.column(j), of_file=self.of_file)
                values = _plain(found, self.marks[j])
                self.lacks[j] |= None in values or bool((places < 0).any())
                self._count(j, found, places)
                self._add(j, {value for value in values if value is not None})

    def merge(self, other: _WordsMet) -> None:
        self.n_rows += other.n_rows
        self.lacks |= other.lacks
        for j, its in enumerate(other.values):
            self._add(j, its)
            self.met[j] += other.met[j]

    def _count(self, j: int, values: Sequence[Any], places: Indices) -> None:
        any_mark = Marks(self.marks[j].marks)
        for place, value in enumerate(values):
            if any_mark.has(value) and value.strip(" "):
                self.met[j][value] += int((places == place).sum())

    def _add(self, j: int, more: set[Hashable] | None) -> None:
        its = self.values[j]
        both = None if its is None or more is None else its | more
        self.values[j] = None if both is None or len(both) > MOST_VALUES else both


class _CodedSummary:
    """A summary of record batches some of whose columns are read as codes."""

    def __init__(
        self,
        codes: Mapping[int, Mapping[Hashable, float]],
        unseen: float,
        of_file: bool,
        marks: Mapping[int, Marks],
        make: Callable[[], Any],
    ) -> None:
        self.codes, self.unseen, self.of_file, self.marks, self.summary = codes, unseen, of_file, marks, make()

    def update(self, batch: Any, start: int | None) -> None:
        import pyarrow as pa

        columns = list(batch.columns)
        for i, code_of in self.codes.items():
            places, values = factorize(columns[i], of_file=self.of_file)
            plain = _plain(values, self.marks[i])
            known = [np.nan if value is None else code_of.get(value, self.unseen) for value in plain]
            columns[i] = pa.array(np.array([*known, np.nan])[places])
        self.summary.update(pa.RecordBatch.from_arrays(columns, names=batch.schema.names), start)

    def merge(self, other: _CodedSummary) -> None:
        self.summary.merge(other.summary)


def _plain(values: Sequence[Any], marks: Marks) -> list[Hashable | None]:
    """Return values of Arrow as those of categories; None for one that is missing."""
    return [None if is_missing(value) or marks.has(value) else plain_value(value) for value in values]
