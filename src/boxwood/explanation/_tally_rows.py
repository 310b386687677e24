"""The rows of a tally, with the columns of an earlier one, so that both add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from boxwood._frames import as_matrix, column_names, is_frame
from boxwood._validation import Rows, listed
from boxwood.errors import DataError
from boxwood.passes import Batches, Source
from boxwood.passes._batches import rows_of
from boxwood.reference._coordinates import default_columns

__all__ = ["batches_in", "refuse_other_columns", "rows_in_memory"]


def rows_in_memory(X: Any, known: Sequence[str] | None) -> tuple[Rows, tuple[str, ...]]:
    """Return the rows of an array or a frame, and the names of their columns: those that are known, if any are.

    The columns of a frame are found by their names, in any order.
    """
    if is_frame(X):
        columns: Sequence[str] = column_names(X)
        if known is not None:
            refuse_other_columns(columns, known)
            columns = known
        return Rows.of(as_matrix(X, columns)), tuple(columns)
    rows = Rows.of(X)
    return rows, default_columns(rows.n_columns) if known is None or len(known) != rows.n_columns else tuple(known)


def batches_in(X: Source | Batches, known: Sequence[str]) -> Batches:
    """Return the rows of a table in batches, with the columns that are known."""
    batches = rows_of(X) if isinstance(X, Source) else X
    refuse_other_columns(batches.columns, known)
    return replace(batches, columns=tuple(known))


def refuse_other_columns(columns: Sequence[str], known: Sequence[str]) -> None:
    """Raise a DataError that names the columns that a tally does not have, and those that it has besides."""
    lacking = [name for name in known if name not in columns]
    others = [name for name in columns if name not in known]
    said = [f"without {listed(lacking)}"] * bool(lacking) + [f"with {listed(others)}"] * bool(others)
    if said:
        raise DataError(
            f"the columns are not those of the first tally ({listed(known)}): {', '.join(said)}; count the same columns"
        )
