"""`CompleteRows`: a table in batches without the rows that lack a value in some columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from boxwood.passes._batches import numbers
from boxwood.passes._source import Source, SourceOf

__all__ = ["CompleteRows"]


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

    def __init__(self, source: Source, columns: Sequence[str], n_jobs: int | None = -1) -> None:
        super().__init__(source)
        self.columns = tuple(columns)
        self.n_rows = self.run(_Count, self.columns[:1], n_jobs).n_rows

    def run(self, make: Callable[[], Any], columns: Sequence[str], n_jobs: int | None = -1) -> Any:
        """Return one summary of all batches, without the rows that lack a value."""
        names = [*columns, *(name for name in self.columns if name not in columns)]
        needed = [names.index(name) for name in self.columns]
        return self.source.run(partial(_Filtered, len(columns), needed, make), names, n_jobs).summary


class _Filtered:
    """A summary of record batches without the rows that lack a value in a column that is needed."""

    def __init__(self, n_columns: int, needed: list[int], make: Callable[[], Any]) -> None:
        self.n_columns, self.needed, self.summary = n_columns, needed, make()

    def update(self, batch: Any, start: int | None) -> None:
        import pyarrow as pa

        whole = np.logical_and.reduce([~np.isnan(numbers(batch.column(j))) for j in self.needed])
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
