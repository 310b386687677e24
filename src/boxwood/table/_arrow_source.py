"""`ArrowSource`: an Arrow table in memory as a source of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from boxwood.passes._source import RecordSummary, Source, fold_batches

__all__ = ["ArrowSource", "kind_of"]

S = TypeVar("S", bound=RecordSummary)
BATCH_ROWS = 1 << 16


class ArrowSource(Source):
    """An Arrow table in memory.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    name : str
        Its name in messages.
    batch_rows : int
        Most rows of a batch.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(
        self, table: Any, *, name: str = "the table", batch_rows: int = BATCH_ROWS, n_jobs: int | None = -1
    ) -> None:
        self.table, self.name, self.batch_rows, self.n_jobs = table, name, batch_rows, n_jobs
        self.names = tuple(table.column_names)
        self.kinds = tuple(kind_of(field.type) for field in table.schema)

    def run(self, make: Callable[[], S], columns: Sequence[str]) -> S:
        """Return one summary of all batches."""
        return fold_batches(self._batches(columns), make, n_jobs=self.n_jobs)

    def _batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, int]]:
        start = 0
        for batch in self.table.select(list(columns)).to_batches(max_chunksize=self.batch_rows):
            yield batch, start
            start += batch.num_rows


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
    return "date" if types.is_temporal(type) else "other"
