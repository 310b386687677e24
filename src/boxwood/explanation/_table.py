"""The table as numbers: its rows, what its columns are called, and the columns on which it is clustered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood._frames import as_matrix, column_names, is_frame, refuse_unknown_columns
from boxwood._types import Array
from boxwood._validation import as_table, refuse_not_finite
from boxwood.axes import Categories, axis_map_of
from boxwood.errors import DataError
from boxwood.explanation._space import Space

__all__ = ["Table", "read"]


class Table(NamedTuple):
    """Rows of numbers, and how to read them.

    `categories` says of which columns the numbers are codes. `space` has the columns that a pipeline makes before it
    clusters.
    """

    columns: tuple[str, ...]
    rows: Array
    space: Space
    categories: Mapping[int, Categories]
    notes: tuple[str, ...]


def read(X: Any, columns: Sequence[str] | None, clustering: Any) -> Table:
    """Return a table, with the columns that rules may use, as a clustering of it sees it.

    A fitted pipeline sees the columns that its first steps make. Where these cannot be told apart by raw columns, the
    raw ones are taken, with a note.
    """
    if not hasattr(clustering, "steps") or len(clustering.steps) < 2:
        return _raw(X, columns, clustering)
    try:
        return _mapped(X, columns, clustering[:-1])
    except DataError as error:
        note = f"grown and measured on raw columns: {str(error).split(';')[0]}"
        try:
            return _raw(X, columns, clustering)._replace(notes=(note,))
        except DataError:
            raise error from None


def _mapped(X: Any, columns: Sequence[str] | None, steps: Any) -> Table:
    axis_map = axis_map_of(steps, X, columns if is_frame(X) else None)
    names = axis_map.columns or _columns_of_array(axis_map.n_features, columns)
    rows = axis_map.codes(X)
    space = Space(axis_map.transform(rows), axis_map)
    made = ", ".join(type(step).__name__ for _, step in steps.steps)
    note = f"grown and measured on the columns that the pipeline makes ({made}); rules are in the table's units"
    return Table(names, rows, space, axis_map.categories, (note,))


def _raw(X: Any, columns: Sequence[str] | None, clustering: Any) -> Table:
    names, rows = _table(X, columns, clustering)
    return Table(names, rows, Space(rows), {}, ())


def _table(X: Any, columns: Sequence[str] | None, clustering: Any) -> tuple[tuple[str, ...], Array]:
    """Return the names of the columns that rules may use, and the rows."""
    label_column = clustering if isinstance(clustering, str) else None
    if is_frame(X):
        names = _columns_of_frame(X, columns, label_column)
        rows = as_matrix(X, names)
    else:
        if label_column is not None:
            raise DataError(f"{label_column!r} names a column of labels, but X is no data frame with named columns")
        rows = np.asarray(X)
        if columns is None or rows.dtype.kind != "f" or rows.shape[1:] != (len(columns),):
            rows = as_table(rows)  # an error can name no column
        names = _columns_of_array(rows.shape[1], columns)
    refuse_not_finite(rows, names)
    return names, as_table(rows)


def _columns_of_frame(X: Any, columns: Sequence[str] | None, label_column: str | None) -> tuple[str, ...]:
    found = column_names(X)
    refuse_unknown_columns([label_column] if label_column is not None else [], found)
    wanted = found if columns is None else tuple(columns)
    return tuple(name for name in wanted if name != label_column)


def _columns_of_array(n_columns: int, columns: Sequence[str] | None) -> tuple[str, ...]:
    names = tuple(f"x{j}" for j in range(n_columns)) if columns is None else tuple(map(str, columns))
    if len(names) != n_columns:
        raise DataError(f"columns must have one name for each of {n_columns} columns, got {len(names)}")
    if len(set(names)) < len(names):
        raise DataError("columns must have different names")
    return names
