"""`Source`: a table that is read in batches, `ArrowSource` one in memory; `Summary`: what a pass over it adds up.

A pass makes some empty summaries, gives every batch of rows to one of them, and merges them into one. Which summary
gets which batch depends on threads and machines, and so does the order of merging. So a summary that decides anything
holds whole numbers, least and greatest values, or sums that are exact in any order.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar
from weakref import WeakSet

from boxwood._dates import Dates
from boxwood._threads import n_threads
from boxwood._validation import list_words

if TYPE_CHECKING:
    from boxwood.batches.labelling import LabelStore

B = TypeVar("B", contravariant=True)


class Summary(Protocol[B]):
    """What a pass adds up. It can be pickled, so that it can travel between machines."""

    def update(self, batch: B, /) -> None:
        """Add a batch of rows."""

    def merge(self, other: Self, /) -> None:
        """Add what another summary of the same kind has added up."""


class RecordSummary(Protocol):
    """A summary of batches as a source yields them: Arrow's record batches.

    `start` is the number of the batch's first row in the table, or None where the source has no order of rows.
    """

    def update(self, batch: Any, start: int | None, /) -> None:
        """Add a record batch."""

    def merge(self, other: Self, /) -> None:
        """Add what another summary of the same kind has added up."""


S = TypeVar("S", bound=RecordSummary)
_ROWS, _COLUMNS = 1 << 16, 20  # most rows of a batch, and the columns up to which it has so many


class Spelling(NamedTuple):
    """How a column of text is read: "'0,2 %' is 0.2" of numbers, "ja is 1, nein is 0" of truths.

    Of numbers it quotes a cell; what is written of it has a number made up in its style.
    """

    said: str
    is_number: bool


AS_WORDS = Spelling("numbers and text, read as categories", is_number=False)
AS_NAMES = Spelling("names such as 1E5, read as categories, not as numbers", is_number=False)


class MarksMet(NamedTuple):
    """Marks of missing values among the words of a column: those read as missing and as words, with their rows."""

    missing: Mapping[str, int]
    words: Mapping[str, int]

    @classmethod
    def of(cls, counts: Mapping[str, int], words: Collection[Hashable]) -> MarksMet:
        """Return the marks that were met in so many rows; IN: words: those that are words."""
        parts = [
            {mark: n for mark, n in sorted(counts.items()) if (mark in words) is is_word} for is_word in (False, True)
        ]
        return cls(*parts)


class Marks(NamedTuple):
    """Texts that stand for a missing value in a column, in small letters, and those that are words there."""

    marks: Collection[str] = ()
    words: Collection[Hashable] = ()

    def has(self, value: Any) -> bool:
        """Return whether a value is a text that stands for a missing one."""
        return isinstance(value, str) and value.strip(" ").lower() in self.marks and value not in self.words


class TextAmong(NamedTuple):
    """The text among the numbers of a column that nobody asked for.

    Parameters
    ----------
    why : str
        Why the column is left out, with the rows that have text, and what to do.
    is_no_word : bool
        Whether the column is none of words, however few values it has: the other values are dates, or the first row
        alone has text, as a second line of names or one of units does.
    is_remark : bool, default=False
        Whether one row alone has text.
    """

    why: str
    is_no_word: bool
    is_remark: bool = False


class Reading(NamedTuple):
    """What one pass read of a table.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    n_rows : int
        Number of rows.
    n_bytes : int, or None
        Size of these columns where they are stored, such as compressed in a file; None if that is not known.
    """

    columns: tuple[str, ...]
    n_rows: int
    n_bytes: int | None


class Source(ABC):
    """A table that can be read in batches as often as wanted.

    Attributes
    ----------
    name : str
        Name of the table in messages.
    names : tuple of str
        Name of each column, all different, in the order of the table.
    kinds : tuple of str
        Kind of each column: "number", "boolean", "text", "date", "unclear" (texts that look like dates), "time" (of
        the day, or a duration), "empty" or "other".
    mixed : tuple of str
        Columns of text of which at least half of the values are numbers: neither text nor numbers for rules.
    types : mapping from str to str
        Type of each column, as SQL, Arrow or Spark call it, where the table has types; a file of text has none.
    dates : mapping from str to Dates
        How dates are said, for each column of them.
    padded : tuple of str
        Columns of numbers that a file has as digits with leading zeros, such as the postcode 01234.
    rounded : tuple of str
        Columns of numbers that a file has as digits of whole numbers so large that some are the same double.
    n_rows : int, or None
        Number of rows, if it is known before a pass.
    spellings : mapping from str to Spelling
        How columns of a file are read whose values are numbers or truths, but not plainly.
    notes : tuple of str
        Lines for the reader on how the table is read.
    tick : callable, or None
        Called about ten times a second during a pass, with the share of the rows that are read, from 0 to 1, and their
        number. The share is 0 where the number of rows is not known.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    n_rows: int | None = None
    notes: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    types: Mapping[str, str] = MappingProxyType({})
    dates: Mapping[str, Dates] = MappingProxyType({})
    padded: tuple[str, ...] = ()
    rounded: tuple[str, ...] = ()
    spellings: Mapping[str, Spelling] = MappingProxyType({})
    tick: Callable[[float, int], object] | None = None
    marks: tuple[str, ...] = ()
    """Texts that stand for a missing date or number in a file, of which dates are texts; none for other tables."""
    missing_words: tuple[str, ...] = ()
    """Those that stand for a missing word or label in a file of text; in other tables each text is one."""
    words: Mapping[str, Collection[str]] = MappingProxyType({})
    """Of columns of such a file: those that are words there."""
    orders: Mapping[str, Sequence[Hashable]] = MappingProxyType({})
    """Values of columns of a copied file whose type has an order; other tables have it in their batches."""
    typed_texts: Collection[str] = ()
    """Columns of numbers that are text by their type, so that their labels are texts."""
    as_held: Callable[[], Source] | None = None
    """Gives the file as one whose rows are read into memory, where it fits; None for other tables."""
    is_held: ClassVar[bool] = False
    """Whether its rows are read into memory, however many they are; see `table.memory.FileInMemory`."""
    is_local: ClassVar[bool] = True
    """Whether batches are read in this process, so that summaries may write to its files."""

    @abstractmethod
    def run(self, make: Callable[[], S], columns: Sequence[str], n_jobs: int | None = -1) -> S:
        """Return one summary of all batches, each with these columns in this order.

        `make` returns an empty summary; it can be pickled with cloudpickle. At least one summary is made. A source that
        is read in this process takes at most `n_jobs` threads; others have workers of their own.
        """

    def refuse_text(self, column: str) -> None:  # noqa: B027
        """Raise a DataError if a column of a file has text where numbers must be; it says in how many rows."""

    def text_among(self, column: str) -> TextAmong:
        """Return what is known of the text among the numbers of a column of `mixed`; only files tell more than this."""
        return TextAmong("numbers and text", is_no_word=False)

    def marks_in(self, column: str, known: Collection[Hashable] = ()) -> Marks:
        """Return what stands for a missing word or label in a column; IN: known: texts that are words in any case."""
        return Marks(self.missing_words, {*self.words.get(column, ()), *known})

    def hints_on(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return lines on columns of text of a file whose values are numbers to people, though there is doubt which."""
        return ()

    def label_name(self, column: str) -> str:
        """Return the name by which a pass reads the labels of a column."""
        return column

    @cached_property
    def readings(self) -> list[Reading]:
        """What each pass has read, the first pass first."""
        return []

    @property
    def n_passes(self) -> int:
        """Number of passes so far."""
        return len(self.readings)

    @cached_property
    def stores(self) -> WeakSet[LabelStore]:
        """Temporary files of the clusters of its rows, which are removed when the source is closed."""
        return WeakSet()

    def close(self) -> None:
        """Remove what is kept in temporary files of the source, if anything. It cannot be read any more."""
        for store in list(self.stores):
            store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        rows = "" if self.n_rows is None else f", {self.n_rows:,} rows"
        return f"{type(self).__name__}({self.name}: {list_words(self.names)}{rows})"

    def _fold(
        self,
        batches: Iterable[tuple[Any, int | None]],
        make: Callable[[], S],
        columns: Sequence[str],
        *,
        n_jobs: int | None,
        n_bytes: int | None = None,
    ) -> S:
        """Return one summary of all batches, added up by threads of this process; the pass is counted and told."""
        n_read = 0

        def counted() -> Iterator[tuple[Any, int | None]]:
            nonlocal n_read
            for batch, start in batches:
                n_read += batch.num_rows
                yield batch, start

        def tell() -> None:
            if self.tick is not None:
                self.tick(min(1.0, n_read / self.n_rows) if self.n_rows else 0.0, n_read)

        summary = fold_batches(counted(), make, n_jobs=n_jobs, watch=tell)
        tell()  # before the pass is among those that are over
        self.readings.append(Reading(tuple(columns), n_read, n_bytes))
        return summary


class SourceOf(Source):
    """A table seen in another way: what is told of its columns is that of the table itself.

    Parameters
    ----------
    source : Source
        The table.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    n_rows: int | None
    notes: tuple[str, ...]
    mixed: tuple[str, ...]
    padded: tuple[str, ...]
    rounded: tuple[str, ...]
    spellings: Mapping[str, Spelling]
    dates: Mapping[str, Dates]
    types: Mapping[str, str]
    marks: tuple[str, ...]
    missing_words: tuple[str, ...]
    words: Mapping[str, Collection[str]]
    typed_texts: Collection[str]
    orders: Mapping[str, Sequence[Hashable]]

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name, self.names, self.kinds, self.n_rows = source.name, source.names, source.kinds, source.n_rows
        self.notes, self.mixed, self.padded = source.notes, source.mixed, source.padded
        self.rounded = source.rounded
        self.spellings, self.dates, self.types = source.spellings, source.dates, source.types
        self.marks, self.missing_words = source.marks, source.missing_words
        self.words, self.typed_texts, self.orders = source.words, source.typed_texts, source.orders

    @property
    def stores(self) -> WeakSet[LabelStore]:  # type: ignore[override]
        """Those of the table, which is what is closed."""
        return self.source.stores

    def refuse_text(self, column: str) -> None:
        """Raise a DataError if a column of a file has text where numbers must be; it says in how many rows."""
        self.source.refuse_text(column)

    def text_among(self, column: str) -> TextAmong:
        """Return what is known of the text among the numbers of a column of `mixed`."""
        return self.source.text_among(column)

    def label_name(self, column: str) -> str:
        """Return the name by which a pass reads the labels of a column."""
        return self.source.label_name(column)


def fewer_threads(n_jobs: int | None, other: int | None) -> int:
    """Return the lower of two numbers of threads, which are given as for `n_threads`."""
    return min(n_threads(n_jobs), n_threads(other))


def fold_batches(
    batches: Iterable[tuple[Any, int | None]],
    make: Callable[[], S],
    *,
    n_jobs: int | None = -1,
    watch: Callable[[], object] | None = None,
) -> S:
    """Return one summary of all pairs of a batch and its start, added up by `n_jobs` threads.

    Batches are taken one at a time, so no more of them are in memory than there are threads. The calling thread waits,
    calls `watch` about ten times a second, and reacts to Ctrl-C: the threads stop at their next batch.
    """
    waiting, lock, stopped = iter(batches), threading.Lock(), threading.Event()

    def work() -> S:
        summary = make()
        try:
            while not stopped.is_set():
                with lock:
                    taken = next(waiting, None)
                if taken is None:
                    break
                summary.update(*taken)
        except BaseException:
            stopped.set()  # the other threads stop at their next batch
            raise
        return summary

    threads = n_threads(n_jobs)
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(work) for _ in range(threads)]
        while wait(futures, timeout=0.1).not_done:
            if watch is not None:
                watch()
        first, *others = [future.result() for future in futures]
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)
    for other in others:
        first.merge(other)
    return first


class ArrowSource(Source):
    """An Arrow table in memory.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    name : str
        Its name in messages.
    batch_rows : int, default=None
        Most rows of a batch; None chooses them by the number of columns.
    n_jobs : int or None
        Most threads of a pass.
    """

    def __init__(
        self, table: Any, *, name: str = "the table", batch_rows: int | None = None, n_jobs: int | None = -1
    ) -> None:
        self.table, self.name, self.batch_rows, self.n_jobs = table, name, batch_rows, n_jobs
        self.names = tuple(table.column_names)
        self.kinds = tuple(kind_of_type(field.type) for field in table.schema)
        self.types = dict(zip(self.names, map(str, table.schema.types), strict=True))
        self.dates = dates_of(self.names, table.schema.types)
        self.n_rows = table.num_rows

    def run(self, make: Callable[[], S], columns: Sequence[str], n_jobs: int | None = -1) -> S:
        """Return one summary of all batches."""
        n_bytes = sum(self.table.column(name).nbytes for name in columns)
        return self._fold(
            self.batches(columns), make, columns, n_jobs=fewer_threads(n_jobs, self.n_jobs), n_bytes=n_bytes
        )

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        """Yield batches of some columns in the order of the rows, each with the number of its first row."""
        start, most = 0, self.batch_rows or batch_rows(len(columns))
        for batch in self.table.select(list(columns)).to_batches(max_chunksize=most):
            yield batch, start
            start += batch.num_rows


def batch_rows(n_columns: int, most_bytes: int | None = None) -> int:
    """Return the most rows of a batch of `n_columns` columns, whose doubles take at most `most_bytes`.

    Examples
    --------
    >>> batch_rows(1), batch_rows(20), batch_rows(200), batch_rows(20, 1_000_000)
    (65536, 65536, 6553, 6250)
    """
    width = max(n_columns, 1)
    rows = min(_ROWS, _ROWS * _COLUMNS // width)
    return max(1, rows if most_bytes is None else min(rows, most_bytes // (8 * width)))


def kind_of_type(type: Any) -> str:
    """Return the kind of a column of an Arrow type; see `Source`."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(type):
        return kind_of_type(type.value_type)
    if types.is_boolean(type):
        return "boolean"
    if types.is_integer(type) or types.is_floating(type) or types.is_decimal(type):
        return "number"
    if types.is_string(type) or types.is_large_string(type) or types.is_string_view(type):
        return "text"
    if types.is_date(type) or types.is_timestamp(type):
        return "date"
    return "time" if types.is_temporal(type) else "other"


def dates_of(names: Sequence[str], types: Sequence[Any]) -> dict[str, Dates]:
    """Return the columns of dates among those of Arrow types, by their names."""
    columns = zip(names, types, strict=True)
    return {name: Dates(getattr(type, "tz", None) or "") for name, type in columns if kind_of_type(type) == "date"}
