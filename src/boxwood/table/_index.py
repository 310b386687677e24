"""The index of a frame of pandas as columns, for tables that have none."""

from __future__ import annotations

from typing import Any

from boxwood.table._column_names import ColumnError

__all__ = ["with_index"]


def with_index(frame: Any) -> Any:
    """Return a frame of pandas with its index as its first columns; other tables are returned as they are.

    An index without a name that counts the rows from 0 is none. The frame's values are not copied.

    Raises
    ------
    ColumnError
        If the index has the name of a column.
    """
    from narwhals import dependencies

    if not dependencies.is_pandas_dataframe(frame) or _counts_rows(frame.index):
        return frame
    index, several = frame.index, frame.index.nlevels > 1
    unnamed = (f"level_{level}" if several else "index" for level in range(index.nlevels))
    names = [default if name is None else name for name, default in zip(index.names, unnamed, strict=True)]
    whole = frame.copy(deep=False)
    for level, name in enumerate(names):
        if str(name) in map(str, whole.columns):
            raise ColumnError(
                f"the index would be written as column {str(name)!r}, but there is one already; name the index "
                "otherwise (frame.rename_axis), or drop it: frame.reset_index(drop=True)"
            )
        whole.insert(level, name, index.get_level_values(level))
    return whole


def _counts_rows(index: Any) -> bool:
    """Return whether an index of pandas is the one that a frame has if none is given."""
    is_range = type(index).__name__ == "RangeIndex" and index.name is None
    return is_range and (index.start, index.step) == (0, 1)
