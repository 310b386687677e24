"""Columns of text of a table in batches that are dates or numbers: a pass finds out, and later ones read them so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from boxwood._dates import Dates
from boxwood._texts import TextForms, TextReading, dates_among
from boxwood.batches.source import Reading, Source, SourceOf, Spelling

S = TypeVar("S", bound=Source)


def read_texts_in_batches(source: S, look: Callable[[S, Sequence[str]], TextsMet]) -> Source:
    """Return a table whose texts that are dates or numbers are these; IN: look: looks at columns of text, if any."""
    texts = [name for name, kind in zip(source.names, source.kinds, strict=True) if kind == "text"]
    found = dict(zip(texts, look(source, texts).forms, strict=True)) if texts else {}
    readings = {name: reading for name, forms in found.items() if (reading := forms.reading) is not None}
    doubtful = [name for name, forms in found.items() if forms.are_doubtful]
    return TextsRead(source, readings, doubtful) if readings or doubtful else source


def as_rules_read(source: Source, known: Mapping[str, TextReading]) -> Source:
    """Return a table with dates and numbers where rules have them, though its texts alone do not say that they are.

    So a few rows are read in which day and month may be exchanged. Other texts of files are what their readers say.

    IN: known: how the columns of rules are read.
    """
    kinds = dict(zip(source.names, source.kinds, strict=True))
    refused = ("unclear",) if source.marks else ("unclear", "text")
    unread = {name: reading for name, reading in known.items() if kinds.get(name) in refused}
    return TextsRead(source, unread, ()) if unread else source


def spellings_of_texts(readings: Mapping[str, TextReading]) -> dict[str, Spelling]:
    """Return how the columns of numbers among columns of texts are read, as far as the texts say so."""
    numbers = {name: one for name, one in readings.items() if one.dates is None and one.example}
    return {name: Spelling(one.said, is_number=True) for name, one in numbers.items()}


class _InOrder(Protocol):
    """A table that yields its batches in the order of its rows."""

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, int]]: ...


def look_in_order(source: _InOrder, texts: Sequence[str]) -> TextsMet:
    """Return what the texts of columns may be, from as many batches of a table as it takes to know that."""
    met = TextsMet(len(texts))
    for batch, start in source.batches(texts):
        met.update(batch, start)
        if not met.is_open:
            break
    return met


def look_by_pass(source: Source, texts: Sequence[str]) -> TextsMet:
    """Return what the texts of columns may be, from a pass over all rows of a table."""
    return source.run(partial(TextsMet, len(texts)), texts)


class TextsMet:
    """What the texts of each column may be."""

    def __init__(self, n_columns: int) -> None:
        self.forms = [TextForms() for _ in range(n_columns)]

    @property
    def is_open(self) -> bool:
        """Whether further texts of some column may be dates or numbers, as those before are."""
        return any(forms.is_open for forms in self.forms)

    def update(self, batch: Any, start: int | None) -> None:
        """Add a record batch."""
        for j, forms in enumerate(self.forms):
            if forms.is_open:
                forms.update(_texts_of(batch.column(j)).unique().drop_null().to_pylist())

    def merge(self, other: TextsMet) -> None:
        """Add the texts of others."""
        for mine, its in zip(self.forms, other.forms, strict=True):
            mine.merge(its)


class TextsRead(SourceOf):
    """A table whose columns of text hold dates and numbers in the batches of each pass.

    Their texts, which labels need, have a name of their own; see `label_name`.

    Parameters
    ----------
    source : Source
        The table.
    readings : mapping from str to TextReading
        How columns of text are read.
    doubtful : collection of str
        Columns of texts that are dates, though in doubt which.
    """

    def __init__(self, source: Source, readings: Mapping[str, TextReading], doubtful: Collection[str]) -> None:
        super().__init__(source)
        self.texts = readings
        dates = dates_among(readings)
        kinds = {name: "date" if name in dates else "number" for name in readings} | dict.fromkeys(doubtful, "unclear")
        pairs = zip(source.names, source.kinds, strict=True)
        self.kinds: tuple[str, ...] = tuple(kinds.get(name, kind) for name, kind in pairs)
        self.dates: Mapping[str, Dates] = {**source.dates, **dates}
        self.spellings: Mapping[str, Spelling] = {**source.spellings, **spellings_of_texts(readings)}
        self.typed_texts = {*source.typed_texts, *readings}
        self.types: Mapping[str, str] = {**source.types, **dict.fromkeys(readings, "text")}
        self.is_local: bool = source.is_local  # type: ignore[misc]

    @property
    def tick(self) -> Callable[[float, int], object] | None:  # type: ignore[override]
        """That of the table, whose passes these are."""
        return self.source.tick

    @tick.setter
    def tick(self, told: Callable[[float, int], object] | None) -> None:
        self.source.tick = told

    @property
    def readings(self) -> list[Reading]:  # type: ignore[override]
        """What each pass has read of the table, the first pass first."""
        return self.source.readings

    def label_name(self, column: str) -> str:
        """Return the name by which a pass reads the labels of a column."""
        return f"{column}\0" if column in self.texts else self.source.label_name(column)

    def run(self, make: Callable[[], Any], columns: Sequence[str], n_jobs: int | None = -1) -> Any:
        """Return one summary of all batches, with dates and numbers in the place of texts."""
        read = {j: self.texts[name] for j, name in enumerate(columns) if name in self.texts}
        stored = [name[:-1] if name[:-1] in self.texts and name[-1:] == "\0" else name for name in columns]
        return self.source.run(partial(_Read, read, list(columns), make), stored, n_jobs).summary

    def close(self) -> None:
        """Close the table."""
        self.source.close()


class _Read:
    """A summary of record batches some of whose columns are read as dates or numbers."""

    def __init__(self, texts: Mapping[int, TextReading], names: list[str], make: Callable[[], Any]) -> None:
        self.texts, self.names, self.summary = texts, names, make()

    def update(self, batch: Any, start: int | None) -> None:
        import pyarrow as pa

        pairs = enumerate(batch.columns)
        columns = [_values(column, self.texts[j]) if j in self.texts else column for j, column in pairs]
        self.summary.update(pa.RecordBatch.from_arrays(columns, names=self.names) if columns else batch, start)

    def merge(self, other: _Read) -> None:
        self.summary.merge(other.summary)


def _texts_of(column: Any) -> Any:
    """Return a column of Arrow as one of texts; a dictionary may have some that no row has."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    return pa.array(column.to_pylist(), pa.large_string()) if pa.types.is_string_view(column.type) else column


def _values(column: Any, reading: TextReading) -> Any:
    """Return a column of texts as one of dates or numbers; each text is read once."""
    import pyarrow as pa

    coded = _texts_of(column).dictionary_encode()
    texts = coded.dictionary.to_pylist()
    dates = reading.dates
    kind = pa.float64() if dates is None else pa.timestamp("us", dates.zone or None)
    values = pa.array([None if text is None else reading.value(text) for text in texts], kind)
    return values.take(coded.indices)
