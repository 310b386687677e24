"""`Batches`: the columns of a source that are the rows, with the cluster and the weight of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

import numpy as np

from boxwood._dates import DOUBTFUL, TIMES, days_of
from boxwood._threads import map_tasks
from boxwood._types import Bools, Floats, Indices, Weights
from boxwood._validation import list_words
from boxwood.batches.labelling import Labelling, LabelStore
from boxwood.batches.source import RecordSummary, Source, SourceOf, Summary
from boxwood.errors import DataError


class Block(NamedTuple):
    """Some rows of a table.

    Parameters
    ----------
    values : array of shape (n, m)
        The columns that were asked for, as doubles, row by row in memory.
    labels : array of shape (n,)
        Cluster of each row, -1 for a row that is left out; all -1 where no clusters are known.
    weights : array of shape (n,), or None
        Weight of each row; None weighs every row 1.
    """

    values: Floats
    labels: Indices
    weights: Weights

    @property
    def kept(self) -> Bools:
        """Whether each row has a cluster and a weight above 0."""
        has_cluster: Bools = self.labels >= 0
        return has_cluster if self.weights is None else has_cluster & (self.weights > 0)

    def part(self, start: int, stop: int) -> Block:
        """Return the rows from one place to another."""
        weights = None if self.weights is None else self.weights[start:stop]
        return Block(self.values[start:stop], self.labels[start:stop], weights)


S = TypeVar("S", bound=Summary[Block] | RecordSummary)
_AT_ONCE = 1 << 11  # rows that are filled at once, column by column: they stay in a near cache meanwhile


@dataclass(frozen=True, eq=False)
class Batches:
    """Rows of a source: they look like rows in memory to whoever asks for sums over them.

    Parameters
    ----------
    source : Source
        Where the rows are.
    columns : tuple of str
        The columns of the rows; all of them hold numbers.
    labelling : Labelling, default=None
        Gives each row its cluster.
    weight : str, default=None
        Column that holds the weight of each row; None weighs every row 1.
    store : LabelStore, default=None
        Keeps the clusters of the rows that the first pass finds; see `with_stored_labels`.
    n_jobs : int or None, default=-1
        Threads that add up batches of a source that is read in this process; -1 is one for each processor, None is 1.
    """

    source: Source
    columns: tuple[str, ...]
    labelling: Labelling | None = None
    weight: str | None = None
    store: LabelStore | None = None
    n_jobs: int | None = -1

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def in_memory(self) -> NoReturn:
        """A DataError: these rows are not."""
        raise DataError(
            f"this needs all rows in memory, but {self.source.name} is read in batches; "
            "read a sample of its rows into a frame"
        )

    def fold(self, make: Callable[[], S], columns: Sequence[int] | None = None, *, numbered: bool = False) -> S:
        """Return one summary of all rows, from one pass.

        Parameters
        ----------
        make : function
            Returns an empty summary; it can be pickled with cloudpickle, such as `functools.partial(Class, …)`.
        columns : sequence of int, default=None
            The columns that blocks hold, in this order; None is all columns. Fewer columns are read faster.
        numbered : bool, default=False
            Whether `update` gets the number of the block's first row as well; None where rows have no numbers.
        """
        reader, names = self._reader(columns)
        decoded = self.source.run(partial(_Decoded, reader, make, numbered), names, self.n_jobs)
        store = reader.write_to
        if store is not None and decoded.n_stored == decoded.n_rows:
            store.finish(decoded.n_rows)
        return decoded.summary  # type: ignore[no-any-return]

    def _reader(self, columns: Sequence[int] | None = None) -> tuple[Reader, list[str]]:
        """Return what makes blocks of some columns, None for all, and the columns that it reads."""
        wanted = list(range(self.n_columns)) if columns is None else list(columns)
        label = None if self.labelling is None else self.labelling.column_read
        label = None if label is None else self.source.label_name(label)
        is_stored = self.store is not None and self.store.is_complete
        nearest = self.labelling is not None and label is None and not is_stored
        extra = [name for name in (self.weight, label) if name is not None]
        # a batch of no columns would not tell how many rows it has
        read = list(range(self.n_columns)) if nearest else wanted or ([] if extra else [0])
        names = [self.columns[j] for j in read]
        reader = Reader(
            n_values=len(read),
            taken=[read.index(j) for j in wanted],
            labelling=self.labelling,
            label_at=-1 if label is None else len(names) + len(extra) - 1,
            weight_at=len(names) if self.weight is not None else -1,
            read_from=self.store if is_stored else None,
            write_to=self.store if nearest else None,
        )
        return reader, [*names, *extra]

    def gathered(self) -> Block:
        """Return all rows in memory, column by column, in the order of the table if rows have places in it."""
        reader, names = self._reader()
        parts = self.source.run(Parts, names, self.n_jobs).in_order()
        ends = list(accumulate((batch.num_rows for batch, _ in parts), initial=0))
        values = np.empty((ends[-1], self.n_columns), order="F")

        def read(i: int) -> Block:
            return reader.block(*parts[i], values[ends[i] : ends[i + 1]])

        blocks = map_tasks(read, range(len(parts)), n_jobs=self.n_jobs)
        labels = np.concatenate([np.empty(0, dtype=np.intp), *(block.labels for block in blocks)])
        weights = None if self.weight is None else np.concatenate([np.empty(0), *(block.weights for block in blocks)])
        return Block(values, labels, weights)

    def with_stored_labels(self, n_clusters: int | None = None) -> Batches:
        """Return the rows with a store of their clusters, where that saves reading; otherwise the rows as they are.

        It does if a cluster is found from all columns of a row, and batches are read in this process. The first pass
        then writes the clusters into a temporary file, of a byte for each row for up to 255 clusters, and later passes
        read only the columns that they ask for.
        """
        needed = self.labelling is not None and self.labelling.column_read is None and self.n_columns > 1
        if not needed or not self.source.is_local:
            return replace(self, store=None)
        store = LabelStore(n_clusters)
        self.source.stores.add(store)
        return replace(self, store=store)


@dataclass(frozen=True)
class Reader:
    """Makes a block of a record batch, which holds values, and perhaps weights and labels at some places."""

    n_values: int
    taken: list[int]
    labelling: Labelling | None = None
    label_at: int = -1
    weight_at: int = -1
    read_from: LabelStore | None = None
    write_to: LabelStore | None = None

    def block(self, batch: Any, start: int | None = None, values: Floats | None = None) -> Block:
        """Return the rows of a record batch; their values are written into an array of such a shape if one is given."""
        if values is None:
            values = np.empty((batch.num_rows, self.n_values))
        columns = [read_numbers(batch.column(j)) for j in range(self.n_values)]
        for first in range(0, batch.num_rows, _AT_ONCE):
            for j, column in enumerate(columns):
                values[first : first + _AT_ONCE, j] = column[first : first + _AT_ONCE]
        labels = self._labels(values, batch, start)
        weights = read_numbers(batch.column(self.weight_at)) if self.weight_at >= 0 else None
        is_whole = self.taken == list(range(self.n_values))
        return Block(values if is_whole else np.ascontiguousarray(values[:, self.taken]), labels, weights)

    def _labels(self, values: Floats, batch: Any, start: int | None) -> Indices:
        if self.read_from is not None:
            assert start is not None  # the clusters were written by it
            return self.read_from.read(start, batch.num_rows)
        if self.labelling is None:
            return np.full(batch.num_rows, -1, dtype=np.intp)
        column = batch.column(self.label_at) if self.label_at >= 0 else None
        return self.labelling.codes(np.ascontiguousarray(values), column)


class _Decoded:
    """A summary of record batches, by a summary of blocks. Counts the rows, and those whose clusters were stored."""

    def __init__(self, reader: Reader, make: Callable[[], Any], numbered: bool) -> None:
        self.reader, self.summary, self.numbered = reader, make(), numbered
        self.n_rows = self.n_stored = 0

    def update(self, batch: Any, start: int | None) -> None:
        block = self.reader.block(batch, start)
        store = self.reader.write_to
        if store is not None and store.write(start, block.labels):
            self.n_stored += len(block.labels)
        self.n_rows += len(block.labels)
        self.summary.update(*((block, start) if self.numbered else (block,)))

    def merge(self, other: _Decoded) -> None:
        self.n_rows, self.n_stored = self.n_rows + other.n_rows, self.n_stored + other.n_stored
        self.summary.merge(other.summary)


class Parts:
    """The batches of a table, each with the number of its first row; None where rows have none."""

    def __init__(self) -> None:
        self.parts: list[tuple[Any, int | None]] = []

    def update(self, batch: Any, start: int | None) -> None:
        """Add a batch."""
        self.parts.append((batch, start))

    def merge(self, other: Parts) -> None:
        """Add the batches of others."""
        self.parts += other.parts

    def in_order(self) -> list[tuple[Any, int | None]]:
        """Return batches and numbers by the place of their rows."""
        return sorted(self.parts, key=lambda part: -1 if part[1] is None else part[1])


USABLE = ("number", "boolean", "date")
"""Kinds of columns that are rows: booleans as 0 and 1, dates as days."""
OTHER_KINDS = {
    "text": "text",
    "unclear": DOUBTFUL,
    "time": TIMES,
    "empty": "no values",
    "other": "neither numbers, categories nor dates, such as lists",
}
"""What columns hold that are no rows, by their kind."""


def rows_of(source: Source, label: str | None = None, weight: str | None = None) -> Batches:
    """Return the columns of numbers, booleans and dates of a source as rows, but for those of labels and weights.

    Raises
    ------
    DataError
        If there is no such column, or none remains.
    """
    for name in (label, weight):
        if name is not None:
            _refuse_unknown(source, name)
    if weight is not None:
        refuse_no_numbers(source, weight, "weights")
    kinds = zip(source.names, source.kinds, strict=True)
    columns = tuple(name for name, kind in kinds if kind in USABLE and name not in (label, weight))
    if not columns:
        raise DataError(f"{source.name} has no columns of numbers; its columns: {list_words(source.names)}")
    return Batches(source, columns, weight=weight)


def refuse_no_numbers(source: Source, column: str, what: str) -> None:
    """Raise a DataError if a source has no such column, or not one of numbers or booleans; IN: what: it should hold."""
    _refuse_unknown(source, column)
    if (kind := source.kinds[source.names.index(column)]) not in ("number", "boolean"):
        source.refuse_text(column)
        held = OTHER_KINDS.get(kind, "dates")
        raise DataError(f"{what} must be numbers, but column {column!r} of {source.name} holds {held}")


def _refuse_unknown(source: Source, column: str) -> None:
    if column not in source.names:
        raise DataError(f"{source.name} has no column {column!r}; its columns: {list_words(source.names)}")


def read_numbers(column: Any) -> Floats:
    """Return numbers, booleans or dates of Arrow, in one piece or several, as doubles; NaN where one is missing."""
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "M":
        return days_of(values)
    if values.dtype == object:  # booleans with missing values, decimals
        values = np.array([np.nan if value is None else float(value) for value in values])
    return np.asarray(values, dtype=np.float64)


class CompleteRows(SourceOf):
    """The rows of a table that have a value in each of some columns; a pass reads these columns, too.

    Parameters
    ----------
    source : Source
        The table.
    columns : sequence of str
        The columns that must have values, which are numbers or booleans.
    n_jobs : int or None, default=-1
        Threads of the pass that counts these rows.
    """

    is_local: ClassVar[bool] = False  # rows have no known places any more, so nothing is stored by place
    are_complete: ClassVar[bool] = True

    def __init__(self, source: Source, columns: Sequence[str], n_jobs: int | None = -1) -> None:
        super().__init__(source)
        self.columns: tuple[str, ...] = tuple(columns)
        self.n_rows: int | None = self.run(_Count, self.columns[:1], n_jobs).n_rows

    @property
    def others(self) -> Source:
        """The other rows of the table, which lack a value."""
        return _IncompleteRows(self.source, self.columns)

    def run(self, make: Callable[[], Any], columns: Sequence[str], n_jobs: int | None = -1) -> Any:
        """Return one summary of all batches, without the rows that lack a value."""
        names = [*columns, *(name for name in self.columns if name not in columns)]
        needed = [names.index(name) for name in self.columns]
        how = partial(_Filtered, len(columns), needed, make, are_complete=self.are_complete)
        return self.source.run(how, names, n_jobs).summary


class _IncompleteRows(CompleteRows):
    """The rows of a table that lack a value in some of the columns."""

    are_complete: ClassVar[bool] = False


class _Filtered:
    """A summary of the record batches of rows that have a value in each column that is needed, or of all others."""

    def __init__(self, n_columns: int, needed: list[int], make: Callable[[], Any], *, are_complete: bool) -> None:
        self.n_columns, self.needed, self.summary, self.are_complete = n_columns, needed, make(), are_complete

    def update(self, batch: Any, start: int | None) -> None:
        import pyarrow as pa

        whole = (
            np.logical_and.reduce([~np.isnan(read_numbers(batch.column(j))) for j in self.needed]) == self.are_complete
        )
        wanted = batch.select(list(range(self.n_columns)))
        self.summary.update(wanted if whole.all() else wanted.filter(pa.array(whole)), None)

    def merge(self, other: _Filtered) -> None:
        self.summary.merge(other.summary)


class _Count:
    """The number of rows."""

    def __init__(self) -> None:
        self.n_rows = 0

    def update(self, batch: Any, start: int | None) -> None:
        self.n_rows += batch.num_rows

    def merge(self, other: _Count) -> None:
        self.n_rows += other.n_rows


class Together:
    """Several summaries of the same blocks.

    Parameters
    ----------
    makes : sequence of functions
        Each returns an empty summary.
    """

    def __init__(self, makes: Sequence[Callable[[], Any]]) -> None:
        self.parts: list[Any] = [make() for make in makes]

    def update(self, block: Block) -> None:
        """Add a block of rows to each summary."""
        for part in self.parts:
            part.update(block)

    def merge(self, other: Together) -> None:
        """Add the summaries of others."""
        for part, its in zip(self.parts, other.parts, strict=True):
            part.merge(its)
