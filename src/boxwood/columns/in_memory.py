"""What rows in memory show of their columns: of numbers in a frame or a matrix, and of a `ColumnTable`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from boxwood._frames import as_matrix, date_columns, label_values
from boxwood._types import Floats
from boxwood.columns.column_table import ColumnTable
from boxwood.columns.of_frame import kinds_of
from boxwood.columns.seen import LabelsToSay, Seen, SeenInSome, SeenValues
from boxwood.reference.labels import encode_labels


def labels_to_compare(labels: Any, *, in_table: bool = True) -> LabelsToSay | None:
    """Return labels that columns may be copies of; None if there are none, or one, or each row has its own.

    IN: in_table: whether they come from a column of the table.
    """
    if labels is None:
        return None
    codes, names = encode_labels(label_values(labels))
    rows = np.flatnonzero(codes >= 0)
    found, first, own = np.unique(codes[rows], return_index=True, return_inverse=True)
    if not 1 < len(first) < len(rows):
        return None
    are_numbers = all(type(name) is int for name in names) and set(names) == {*range(len(names))}
    return LabelsToSay(len(codes), rows, first, own, tuple(found.tolist()) if are_numbers and not in_table else None)


def seen_numbers(names: Sequence[str], columns: Iterable[Floats], dates: Collection[str] = ()) -> list[SeenValues]:
    """Return what is known of columns of numbers."""
    pairs = zip(names, columns, strict=True)
    return [SeenValues(name, x, kind="date" if name in dates else "number") for name, x in pairs]


def seen_in_frame(X: Any, label: str | None, *, has_values: bool) -> list[Seen]:
    """Return what is known of the columns of a frame as a table of numbers, but for the labels: its numbers last.

    IN: has_values: whether rules may look at the numbers.
    """
    kinds, dates = {name: kind for name, kind in kinds_of(X).items() if name != label}, date_columns(X)
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    others = [Seen(name, kind) for name, kind in kinds.items() if kind != "number"]
    if has_values:
        return [*others, *seen_numbers(numbers, as_matrix(X, numbers).T, dates)]
    return [*others, *(Seen(name, "date" if name in dates else "number") for name in numbers)]


def seen_in(
    table: ColumnTable, padded: Collection[str] = (), in_all: Mapping[str, Seen] = MappingProxyType({})
) -> list[Seen]:
    """Return what is known of the columns of a table.

    IN: padded: numbers with leading zeros; in_all: what all rows tell of columns of numbers, if these were drawn.
    """
    columns = [
        SeenValues(
            name,
            table.values[:, j],
            table.categories.get(j),
            kind="date" if name in table.dates else "number",
            is_padded=name in padded,
        )
        for j, name in enumerate(table.columns)
    ]
    return [SeenInSome(seen, in_all[seen.name]) if seen.name in in_all else seen for seen in columns]
