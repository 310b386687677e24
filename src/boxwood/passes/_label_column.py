"""The clusters that a column of labels makes: one pass finds the labels, two more the means."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.passes._batches import Batches, Block
from boxwood.passes._group_sums import GroupSums, Scales
from boxwood.passes._labelling import LabelColumn
from boxwood.passes._overview import Overview
from boxwood.passes._table_reference import TableReference
from boxwood.reference._labels import encode_labels

__all__ = ["ClusterSums", "clusters_of_column"]

MOST_LABELS = 10_000


class _Labels:
    """The different labels of a column, with how many are missing."""

    def __init__(self) -> None:
        self.found: dict[Hashable, None] = {}
        self.missing = self.n_rows = 0

    def update(self, batch: Any, start: int | None) -> None:
        import pyarrow as pa

        column = batch.column(0)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        self.n_rows += len(column)
        found = dict.fromkeys(column.unique().to_pylist())
        self.missing += column.null_count + sum(value != value for value in column.to_pylist() if value != value)
        self.found |= {value: None for value in found if value is not None and value == value}
        self._refuse_too_many()

    def merge(self, other: _Labels) -> None:
        self.found |= other.found
        self.missing, self.n_rows = self.missing + other.missing, self.n_rows + other.n_rows
        self._refuse_too_many()

    def _refuse_too_many(self) -> None:
        if len(self.found) > MOST_LABELS:
            raise DataError(f"the column of labels has more than {MOST_LABELS:,} different labels")


class ClusterSums(GroupSums):
    """Sums over the rows of each cluster."""

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        values, labels, weights = block
        self.add(values, labels if weights is None else np.where(weights > 0, labels, -1), weights)


def clusters_of_column(batches: Batches, column: str) -> TableReference:
    """Return the clusters of a column of labels, numbered in ascending order, with their means; -1 leaves a row out.

    Raises
    ------
    DataError
        If labels are missing, all are -1, or a cluster has no weight.
    """
    labels = batches.source.run(_Labels, [column])
    if labels.missing:
        raise DataError(f"{labels.missing} of {labels.n_rows} labels are missing; use -1 for rows to leave out")
    values = [value for value in labels.found if value not in (-1, "-1")]
    if not values:
        raise DataError("every row is left out: all labels are -1")
    codes, names = encode_labels(values)
    labelling = LabelColumn(column, tuple(values[i] for i in np.argsort(codes)))
    batches = replace(batches, labelling=labelling)
    overview = batches.fold(partial(Overview, len(names), batches.n_columns))
    overview.refuse_unusable(batches.columns)
    if not overview.sizes.all():
        empty = listed([str(name) for name, size in zip(names, overview.sizes, strict=True) if size == 0])
        raise DataError(f"clusters without weight: {empty}; leave their rows out (label -1), or weigh some of them")
    scales = Scales.of(overview)
    mean, rest = batches.fold(partial(ClusterSums, scales.clusters, scales)).means
    return TableReference(labelling, mean + rest, names)
