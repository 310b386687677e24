"""Columns scaled to mean 0 and variance 1: a source as seen by who clusters and grows on such columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from boxwood._types import Floats, Indices
from boxwood.axes import Scaling
from boxwood.batches.batches import Batches, read_numbers
from boxwood.batches.labelling import Labelling, OneCluster
from boxwood.batches.overview import Overview
from boxwood.batches.source import Source, SourceOf
from boxwood.batches.sums import SquareSums, scaling_of
from boxwood.reference.reference import Reference
from boxwood.reference.reference_batches import means_in, ranges_of_batches


def unit_scaling(batches: Batches) -> Scaling:
    """Return the scaling of the columns to mean 0 and variance 1 over all rows with weight, from three passes.

    Constant columns are only shifted. The scaling is that of the same rows in memory, to the last bit.

    Raises
    ------
    DataError
        If values are missing or infinite.
    """
    whole = replace(batches, labelling=OneCluster(), store=None)
    overview = whole.fold(partial(Overview, 1, batches.n_columns))
    overview.refuse_unusable(batches.columns)
    means = means_in(whole, overview)
    ranges = ranges_of_batches(whole, overview)
    return Scaling(*scaling_of(ranges, means, whole.fold(partial(SquareSums, ranges, means))))


def scaled_batches(batches: Batches, scaling: Scaling) -> Batches:
    """Return the rows with scaled columns; a labelling that reads rows reads the scaled ones."""
    return replace(batches, source=ScaledSource(batches.source, batches.columns, scaling), store=None)


def unscaled_reference(reference: Reference, scaling: Scaling) -> Reference:
    """Return the same clustering of rows that are not scaled, with centres in the units of their columns."""
    labelling = reference.labelling
    if labelling.column_read is None:
        labelling = _OnScaled(labelling, scaling)
    return Reference(labelling, reference.centers * scaling.scale + scaling.shift, reference.names)


class ScaledSource(SourceOf):
    """A table some of whose columns are scaled while it is read.

    Parameters
    ----------
    source : Source
        The table.
    columns : sequence of str
        The columns that are scaled.
    scaling : Scaling
        Shift and scale of each of them.
    """

    columns: tuple[str, ...]
    scaling: Scaling

    def __init__(self, source: Source, columns: Sequence[str], scaling: Scaling) -> None:
        super().__init__(source)
        self.columns, self.scaling = tuple(columns), scaling
        self.kinds: tuple[str, ...] = tuple(
            "number" if name in columns else kind for name, kind in zip(source.names, source.kinds, strict=True)
        )
        self.is_local: bool = source.is_local  # type: ignore[misc]

    def run(self, make: Callable[[], Any], columns: Sequence[str], n_jobs: int | None = -1) -> Any:
        """Return one summary of all batches, with scaled columns."""
        at = {i: self.columns.index(name) for i, name in enumerate(columns) if name in self.columns}
        ends = {i: (float(self.scaling.shift[j]), float(self.scaling.scale[j])) for i, j in at.items()}
        return self.source.run(partial(_Scaled, ends, make), columns, n_jobs).summary


class _Scaled:
    """A summary of record batches some of whose columns are scaled."""

    def __init__(self, ends: dict[int, tuple[float, float]], make: Callable[[], Any]) -> None:
        self.ends, self.summary = ends, make()

    def update(self, batch: Any, start: int | None) -> None:
        import pyarrow as pa

        columns = list(batch.columns)
        for i, (shift, scale) in self.ends.items():
            columns[i] = pa.array((read_numbers(columns[i]) - shift) / scale)
        self.summary.update(pa.RecordBatch.from_arrays(columns, names=batch.schema.names), start)

    def merge(self, other: _Scaled) -> None:
        self.summary.merge(other.summary)


@dataclass(frozen=True, eq=False)
class _OnScaled(Labelling):
    """A labelling of rows by their scaled columns."""

    labelling: Labelling
    scaling: Scaling

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        return self.labelling.codes(None if rows is None else (rows - self.scaling.shift) / self.scaling.scale, column)
