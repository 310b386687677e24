"""The labels of a column of a table in batches, and what else the same pass tells of their clusters."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Indices
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.passes._batches import Batches, Block, Reader
from boxwood.passes._labelling import (
    LEFT_OUT,
    MOST_LABELS,
    codes_of,
    labels_in,
    no_labels,
    refuse_other_labels,
    written,
)
from boxwood.passes._overview import Overview
from boxwood.reference._labels import encode_labels

__all__ = ["MOST_LABELS", "FoundLabels", "find_labels"]


class FoundLabels(NamedTuple):
    """The labels of a column in ascending order, and the overview of the rows by these clusters."""

    labels: tuple[Hashable, ...]
    overview: Overview


def find_labels(batches: Batches, column: str, *, all_weighted: bool = True) -> FoundLabels:
    """Return the labels of a column but for -1 and "-1", from one pass.

    IN: all_weighted, whether each needs a row with weight, as clusters do that have no other centre than their mean.

    Raises
    ------
    DataError
        If labels are missing, there is none, there are more than 10 000, or one lacks the weight that it needs.
    """
    source = batches.source
    if source.kinds[source.names.index(column)] == "other":
        raise no_labels(source.name, column)
    names = [*batches.columns, *([] if batches.weight is None else [batches.weight]), source.label_name(column)]
    make = partial(_Labels, batches.n_columns, batches.weight is not None, source.missing_labels)
    found = batches.source.run(make, names, batches.n_jobs)
    _refuse_unusable(found, batches, column)
    given: list[Any] = list(found.places)
    if source.missing_labels and all(isinstance(label, str) for label in given):
        given = list(labels_in(given).values())
    codes, labels = encode_labels(_as_given(given))
    overview = found.overview.placed(codes.tolist(), len(labels))
    overview.refuse_unusable(batches.columns)
    empty = [str(label) for label, size in zip(labels, overview.sizes.tolist(), strict=True) if size == 0]
    if empty and all_weighted:
        raise DataError(
            f"clusters without weight: {listed(empty)}; leave their rows out (label -1), or weigh some of them"
        )
    return FoundLabels(labels, overview)


class _Labels:
    """A summary of record batches: the place of each label that was seen, and an overview by these places."""

    def __init__(self, n_columns: int, is_weighted: bool, marks: tuple[str, ...]) -> None:
        self.reader = Reader(
            n_values=n_columns, taken=list(range(n_columns)), weight_at=n_columns if is_weighted else -1
        )
        self.label_at = n_columns + is_weighted
        self.places: dict[Hashable, int] = {}
        self.overview = Overview(0, n_columns)
        self.marks, self.missing, self.too_many = marks, 0, False

    def update(self, batch: Any, start: int | None) -> None:
        """Add a record batch."""
        block = self.reader.block(batch)
        labels = self._codes(batch.column(self.label_at))
        self.overview.update(Block(block.values, labels, block.weights))

    def merge(self, other: _Labels) -> None:
        """Add what another summary has seen."""
        self.missing, self.too_many = self.missing + other.missing, self.too_many or other.too_many
        places = self._places(list(other.places))
        if self.too_many:
            return
        self.overview.merge(other.overview.placed(places, len(self.places)))

    def _codes(self, column: Any) -> Indices:
        """Return the place of each label of a batch, -1 for rows that are left out."""
        codes, distinct = codes_of(column)
        if self.marks:  # of a file
            distinct = [written(value, column.type) for value in distinct]
        absent = [value != value or value == "" or self._is_mark(value) for value in distinct]
        self.missing += int(np.array([*absent, True])[codes].sum())  # the last one stands for NULL
        left_out = [
            none or value == -1 or value in (LEFT_OUT if self.marks else LEFT_OUT[:1])
            for value, none in zip(distinct, absent, strict=True)
        ]
        places = iter(self._places([value for value, out in zip(distinct, left_out, strict=True) if not out]))
        by_code = np.array([-1 if out or self.too_many else next(places) for out in left_out] + [-1], dtype=np.intp)
        return by_code[codes]

    def _is_mark(self, value: Any) -> bool:
        return isinstance(value, str) and value.strip().lower() in self.marks

    def _places(self, labels: list[Hashable]) -> list[int]:
        """Return the place of each label, with new places for new ones; none if there are too many."""
        new = [label for label in labels if label not in self.places]
        self.too_many = self.too_many or len(self.places) + len(new) > MOST_LABELS
        if self.too_many:  # nothing but their number matters any more
            return []
        if new:
            old = list(self.places.values())
            self.places |= {label: len(old) + i for i, label in enumerate(new)}
            self.overview = self.overview.placed(old, len(self.places))
        return [self.places[label] for label in labels]


def _refuse_unusable(found: _Labels, batches: Batches, column: str) -> None:
    where = f"column {column!r} of {batches.source.name}"
    if found.missing:
        raise DataError(
            f"{found.missing} of {found.overview.n_rows} labels in {where} are missing; use -1 for rows to leave out"
        )
    if found.too_many:
        raise DataError(
            f"{where} has more than {MOST_LABELS} different values; expected labels of clusters, "
            "one for each row; name the column that holds them"
        )
    n_labels = len(found.places)
    if n_labels == 0 or batches.source.missing_labels:
        refuse_other_labels(batches.source.name, column, 0, n_labels, found.overview.n_rows)


def _as_given(labels: list[Any]) -> Any:
    """Return labels as `encode_labels` gets them from a table in memory: numbers and booleans as an array."""
    is_plain = all(isinstance(label, (bool, int, float)) for label in labels)
    is_huge = any(isinstance(label, int) and abs(label) >= 1 << 63 for label in labels)  # which numpy may round
    return np.array(labels) if is_plain and not is_huge else labels
