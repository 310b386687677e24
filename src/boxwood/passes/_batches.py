"""`Batches`: the columns of a source that are the rows, with the cluster and the weight of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from boxwood._types import Floats, Indices, Weights
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.passes._labelling import Labelling
from boxwood.passes._source import Source, Summary

__all__ = ["Batches", "Block", "Reader", "numbers", "rows_of"]


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


S = TypeVar("S", bound=Summary[Block])


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
    """

    source: Source
    columns: tuple[str, ...]
    labelling: Labelling | None = None
    weight: str | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def fold(self, make: Callable[[], S], columns: Sequence[int] | None = None) -> S:
        """Return one summary of all rows, from one pass.

        Parameters
        ----------
        make : function
            Returns an empty summary; it can be pickled with cloudpickle, such as `functools.partial(Class, …)`.
        columns : sequence of int, default=None
            The columns that blocks hold, in this order; None is all columns. Fewer columns are read faster.
        """
        wanted = list(range(self.n_columns)) if columns is None else list(columns)
        label = None if self.labelling is None else self.labelling.column_read
        nearest = self.labelling is not None and label is None
        read = list(range(self.n_columns)) if nearest else wanted
        names = [self.columns[j] for j in read]
        extra = [name for name in (self.weight, label) if name is not None]
        reader = Reader(
            n_values=len(read),
            taken=[read.index(j) for j in wanted],
            labelling=self.labelling,
            label_at=-1 if label is None else len(names) + len(extra) - 1,
            weight_at=len(names) if self.weight is not None else -1,
        )
        return self.source.run(partial(_Decoded, reader, make), [*names, *extra]).summary  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Reader:
    """Makes a block of a record batch, which holds values, and perhaps weights and labels at some places."""

    n_values: int
    taken: list[int]
    labelling: Labelling | None = None
    label_at: int = -1
    weight_at: int = -1

    def block(self, batch: Any) -> Block:
        """Return the rows of a record batch."""
        values = np.empty((batch.num_rows, self.n_values))
        for j in range(self.n_values):
            values[:, j] = numbers(batch.column(j))
        labels = np.full(batch.num_rows, -1, dtype=np.intp)
        if self.labelling is not None:
            labels = self.labelling.codes(values, batch.column(self.label_at) if self.label_at >= 0 else None)
        weights = numbers(batch.column(self.weight_at)) if self.weight_at >= 0 else None
        is_whole = self.taken == list(range(self.n_values))
        return Block(values if is_whole else np.ascontiguousarray(values[:, self.taken]), labels, weights)


class _Decoded:
    """A summary of record batches, by a summary of blocks."""

    def __init__(self, reader: Reader, make: Callable[[], Any]) -> None:
        self.reader, self.summary = reader, make()

    def update(self, batch: Any, start: int | None) -> None:
        self.summary.update(self.reader.block(batch))

    def merge(self, other: _Decoded) -> None:
        self.summary.merge(other.summary)


def rows_of(source: Source, label: str | None = None, weight: str | None = None) -> Batches:
    """Return the columns of numbers and booleans of a source as rows, but for those of labels and weights.

    Raises
    ------
    DataError
        If there is no such column, or none remains.
    """
    for name in (label, weight):
        if name is not None and name not in source.names:
            raise DataError(f"{source.name} has no column {name!r}; its columns: {listed(source.names)}")
    kinds = zip(source.names, source.kinds, strict=True)
    columns = tuple(name for name, kind in kinds if kind in ("number", "boolean") and name not in (label, weight))
    if not columns:
        raise DataError(f"{source.name} has no columns of numbers; its columns: {listed(source.names)}")
    return Batches(source, columns, weight=weight)


def numbers(column: Any) -> Floats:
    """Return Arrow's array of numbers or booleans as doubles; NaN where a value is missing."""
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype == object:  # booleans with missing values, decimals
        values = np.array([np.nan if value is None else float(value) for value in values])
    return np.asarray(values, dtype=np.float64)
