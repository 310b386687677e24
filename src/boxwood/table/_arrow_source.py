"""`ArrowSource`: an Arrow table in memory as a source of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from boxwood._dates import Dates
from boxwood.batches.source import RecordSummary, Source, fewer_threads

S = TypeVar("S", bound=RecordSummary)
_ROWS, _COLUMNS = 1 << 16, 20  # most rows of a batch, and the columns up to which it has so many


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
        self.kinds = tuple(kind_of(field.type) for field in table.schema)
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


def kind_of(type: Any) -> str:
    """Return the kind of a column of an Arrow type; see `Source`."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(type):
        return kind_of(type.value_type)
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
    return {name: Dates(getattr(type, "tz", None) or "") for name, type in columns if kind_of(type) == "date"}
