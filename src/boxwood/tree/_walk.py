"""Rows on their way down a tree: the leaf that each row reaches, and the rows that reach each node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Indices, Ints
from boxwood._validation import as_float_table
from boxwood.errors import DataError
from boxwood.tree._nodes import Nodes

__all__ = ["as_rows", "rows_at_nodes", "values_at_leaves"]


def values_at_leaves(
    tree: Nodes, X: ArrayLike, values: Ints, n_jobs: int | None, *, nan: Literal["error", "none"] = "error"
) -> Ints:
    """Return the value at the leaf of each row, shape (n,), from values of at least 0 by node, shape (n_nodes,).

    A row with NaN where it is tested is an error, or has the value -1 with `nan="none"`. See `ThresholdTree.apply` for
    rows and errors.
    """
    from boxwood.loops.walk import descend  # here, as SQL and model files need the tree without the compiler

    rows = as_rows(X, tree.n_features)
    reached = np.empty(len(rows), dtype=np.int64)
    values = values.view()
    values.flags.writeable = False  # as the tree's arrays are, so that the loop is compiled for one kind of array

    def work(start: int, stop: int) -> None:
        nodes = tree.feature, tree.lower, tree.upper, tree.second
        descend(rows[start:stop], *nodes, values, reached[start:stop])
        if nan == "error":
            _refuse_nan(reached[start:stop], start)

    map_blocks(work, len(rows), n_jobs=n_jobs)
    return reached


def rows_at_nodes(tree: Nodes, X: NDArray[np.floating]) -> Iterator[tuple[int, Indices, Bools | None]]:
    """Yield each node in pre-order, the numbers of the rows that reach it, and whether each is inside its cut.

    The last is None at a leaf. Numbers of rows are ascending. Takes time n times the depth, and memory for the rows of
    the nodes that wait for their turn.
    """
    stack = [(0, np.arange(len(X)))]
    while stack:
        node, rows = stack.pop()
        feature = tree.feature[node]
        if feature < 0:
            yield node, rows, None
            continue
        values = X[:, feature][rows].astype(np.float64, copy=False)
        inside = (tree.lower[node] <= values) & (values <= tree.upper[node])
        yield node, rows, inside
        stack += ((int(tree.second[node]), rows[~inside]), (node + 1, rows[inside]))


def as_rows(X: ArrayLike, n_features: int) -> Array:
    """Return `X` as a two-dimensional array of float32 or float64 that has all columns that a tree tests."""
    rows = as_float_table(X)
    if rows.shape[1] < n_features:
        raise DataError(f"the tree tests column {n_features - 1}, but X has {rows.shape[1]} columns")
    return rows


def _refuse_nan(reached: Ints, start: int) -> None:
    """Raise a DataError if a row of the block that begins at row `start` has met NaN."""
    bad = reached < 0
    if bad.any():
        row = start + int(np.argmax(bad))
        raise DataError(f"X has NaN in a tested column, first in row {row}; fill such values or leave those rows out")
