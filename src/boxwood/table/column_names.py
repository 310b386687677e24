"""Names of columns: suggestions for misspelt ones, lists with commas, names that are all different; a frame's index."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from boxwood._frames import nearest_name
from boxwood._validation import cut_off, listed, refuse_other_kind, shown
from boxwood.errors import DataError

_NUMBERED = re.compile(r"(.*)_\d+", re.DOTALL)


class ColumnError(DataError):
    """A column was asked for that the table does not have, or must not have."""


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return "; did you mean 'x'?" with the known name that is most similar, or nothing if none is similar.

    Examples
    --------
    >>> suggestion("segmnt", ["x", "segment"]), suggestion("customers", ["cities"])
    ("; did you mean 'segment'?", '')
    """
    nearest = nearest_name(name, known)
    return "" if nearest is None else f"; did you mean '{nearest}'?"


def split_names(items: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the names in items that each hold one name, or several with commas between them.

    An item that is itself a known name stays whole, even if it holds a comma. Repeated names are returned once.
    """
    if isinstance(items, str):
        raise TypeError(f"names of columns must be a list, got the text {shown(items)}; write [{shown(items)}]")
    names: list[str] = []
    for item in items:
        refuse_other_kind("the name of a column", item, str, "names are text")
        names += [item] if item in known else [part.strip() for part in item.split(",") if part.strip()]
    return tuple(dict.fromkeys(names))


def find_columns(wanted: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return the position of each wanted name among the known ones.

    Raises
    ------
    ColumnError
        For the first name that is not known, with the most similar known one.
    """
    position = {name: i for i, name in enumerate(known)}
    for name in wanted:
        if name not in position:
            similar = suggestion(name, known)
            raise ColumnError(f"no column '{cut_off(name)}' in the table{similar}\nColumns: {listed(known, 30)}")
    return [position[name] for name in wanted]


def distinct_names(names: Sequence[str | None]) -> tuple[str, ...]:
    """Return names that are all different: repeated ones get a number, missing ones are those of a file without header.

    Examples
    --------
    >>> distinct_names(["a", "a", None])
    ('a', 'a_1', 'column 3')
    """
    distinct: dict[str, None] = {}
    for i, name in enumerate(names):
        stem = name or f"column {i + 1}"
        number, choice = 0, stem
        while choice in distinct:
            number += 1
            choice = f"{stem}_{number}"
        distinct[choice] = None
    return tuple(distinct)


def may_be_renamed(names: Collection[str]) -> bool:
    """Return whether a name ends in a number, and is without it, but for case, another one of the names."""
    folded = {name.lower() for name in names}
    stems = (_NUMBERED.fullmatch(name) for name in names)
    return any(stem is not None and stem[1].lower() in folded for stem in stems)


def as_spelled(names: Sequence[str], spelled: Collection[str]) -> list[str]:
    """Return names as they were before DuckDB put numbers to those that differ from earlier ones in case only.

    IN: names: as DuckDB has them, in its order; spelled: all names as they were, in any order.

    Raises
    ------
    DataError
        If a name of the file may be such a number: of "a", "A" and "A_1", DuckDB's "A_1" may be each of the last two.

    Examples
    --------
    >>> as_spelled(["a", "A_1", "b"], {"a", "A", "b"})
    ['a', 'A', 'b']
    """
    by_case: dict[str, list[str]] = {}
    for name in sorted(spelled):
        by_case.setdefault(name.lower(), []).append(name)
    for folded, alike in by_case.items():
        numbered = [other for other in by_case if re.fullmatch(re.escape(folded) + r"(_\d+)+", other)]
        if len(alike) > 1 and numbered:
            others = listed([shown(name) for other in numbered for name in by_case[other]])
            twins = listed([shown(name) for name in alike])
            raise DataError(
                f"columns {twins} differ in case only and cannot be distinguished from {others}\nrename them"
            )
    return [_before(name, spelled) for name in names]


def _before(name: str, spelled: Collection[str]) -> str:
    """Return the name without numbers at its end, until it is one of the file's."""
    while name not in spelled and (stem := _NUMBERED.fullmatch(name)) is not None:
        name = stem[1]
    return name


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
