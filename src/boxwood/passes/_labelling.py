"""Which cluster a row of a table in batches belongs to: that of its nearest centre, or that of a column of labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boxwood._types import Floats, Indices

__all__ = ["LabelColumn", "Labelling", "NearestCenters", "plain_labels"]


class Labelling(ABC):
    """A rule that gives each row its cluster, a whole number from 0 on, or -1 for a row that is left out."""

    @property
    def column_read(self) -> str | None:
        """The column that it reads; None if it reads the rows themselves."""
        return None

    @abstractmethod
    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the cluster of each row, from the rows, shape (n, d), or from Arrow's array of the column."""


@dataclass(frozen=True, eq=False)
class NearestCenters(Labelling):
    """Each row belongs to its nearest centre by the Euclidean distance, the first of equally near ones.

    Parameters
    ----------
    centers : array of shape (k, d)
        The centres.
    """

    centers: Floats

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the nearest centre of each row."""
        from boxwood.loops.nearest import nearest  # here, as most tables are read without it and the compiler

        assert rows is not None
        labels, costs = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        nearest(rows, np.ascontiguousarray(self.centers.T), True, labels, costs)
        return labels


@dataclass(frozen=True, eq=False)
class LabelColumn(Labelling):
    """A column of the table holds the label of each row.

    Parameters
    ----------
    column : str
        Name of the column.
    labels : tuple of hashables
        Label of each cluster. All other values are left out; that they are -1 was checked when the labels were found.
    """

    column: str
    labels: tuple[Hashable, ...]

    @property
    def column_read(self) -> str:
        """The column of labels."""
        return self.column

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the place of each value among the labels."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = plain_labels(column)
        found = pc.index_in(column, value_set=pa.array(self.labels, type=column.type))
        return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.intp)


def plain_labels(column: Any) -> Any:
    """Return Arrow's array of labels without a dictionary, and with one zero only."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_string_view(column.type) or types.is_large_string(column.type):
        column = column.cast(pa.string())
    if types.is_float16(column.type):
        column = column.cast(pa.float32())
    if types.is_timestamp(column.type):  # Python's dates and times have no nanoseconds
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    if types.is_time64(column.type):
        column = column.cast(pa.time64("us"), safe=False)
    return pc.add(column, pa.scalar(0.0, column.type)) if types.is_floating(column.type) else column
