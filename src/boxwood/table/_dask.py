"""`DaskSource`: a data frame of Dask as a source; its workers add up what a pass asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar

from boxwood._frames import column_names
from boxwood._imports import require
from boxwood._validation import cut_off
from boxwood.batches.source import RecordSummary, Source, dates_of, kind_of_type
from boxwood.errors import DataError
from boxwood.table._partial import PartialSum, announce_pass

S = TypeVar("S", bound=RecordSummary)
BATCH_ROWS = 1 << 16
FAN_IN = 8  # summaries that one task merges


class DaskSource(Source):
    """A data frame of Dask.

    Every pass is one computation by Dask's own scheduler: that of the current `distributed.Client`, or threads if there
    is none. Each partition becomes Arrow batches and one summary; tasks merge eight of them at a time, in the order of
    partitions. If a worker dies, Dask runs its tasks again elsewhere, as `distributed.scheduler.allowed-failures` says.

    A cluster needs boxwood, pyarrow and cloudpickle of the same versions on all workers.

    The frame is computed anew by each pass; `frame.persist()` keeps it in the workers' memory.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The table.
    name : str
        Its name in messages.

    Raises
    ------
    DataError
        If two columns have the same name.
    """

    is_local: ClassVar[bool] = False

    def __init__(self, frame: Any, *, name: str = "the Dask table") -> None:
        from dask.dataframe.utils import meta_nonempty

        pa = require("pyarrow", "dask", "A table of Dask")
        self.frame, self.name = frame, name
        self.names = column_names(frame)
        example = meta_nonempty(frame._meta)
        self._types = [pa.array(example.iloc[:, j], from_pandas=True).type for j in range(len(self.names))]
        self.kinds, self.dates = tuple(map(kind_of_type, self._types)), dates_of(self.names, self._types)
        self.types = dict(zip(self.names, map(str, self._types), strict=True))

    def run(self, make: Callable[[], S], columns: Sequence[str], n_jobs: int | None = -1) -> S:
        """Return one summary of all batches; `n_jobs` is of no matter.

        Raises
        ------
        DataError, ValueError, TypeError
            What a summary raises on a worker is raised here.
        """
        import dask

        add = PartialSum(make, "dask")
        places = [self.names.index(name) for name in columns]
        read = [self.frame.columns[j] for j in places] or list(self.frame.columns[:1])
        of_partition = dask.delayed(_OfPartition(add, list(columns), [self._types[j] for j in places]))
        merge = dask.delayed(add.merged)
        level = [of_partition(part) for part in self.frame[read].to_delayed()]
        while len(level) > 1:
            level = [merge(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
        return announce_pass(self, columns, add.result(dask.compute(*level)))  # type: ignore[no-any-return]


class _OfPartition:
    """The function that Dask runs on each partition: rows become a pickled summary."""

    def __init__(self, add: PartialSum, columns: list[str], types: list[Any]) -> None:
        self.add, self.columns, self.types = add, columns, types

    def __call__(self, part: Any) -> bytes:
        return self.add.of_batches(self._batches(part))

    def _batches(self, part: Any) -> Iterator[Any]:
        import pyarrow as pa

        for start in range(0, len(part), BATCH_ROWS):
            rows = part.iloc[start : start + BATCH_ROWS]
            pairs = enumerate(zip(self.columns, self.types, strict=True))
            arrays = [_array(rows.iloc[:, j], name, type) for j, (name, type) in pairs]
            if arrays:
                yield pa.RecordBatch.from_arrays(arrays, names=self.columns)
            else:  # no columns, but as many rows
                yield pa.RecordBatch.from_arrays([pa.nulls(len(rows))], names=["none"]).select([])


def _array(values: Any, name: str, type: Any) -> Any:
    """Return a series of pandas as an array of Arrow; its type is that of the whole column, not that of the part."""
    import pyarrow as pa

    # each partition may have its own categories
    wanted = None if pa.types.is_dictionary(type) else type
    try:
        array = pa.array(values, type=wanted, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name!r} holds other values than its type {values.dtype} says: {cut_off(str(error))}; give the "
            "column one type by astype"
        ) from None
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
