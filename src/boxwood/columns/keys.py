"""`Keys`: what says which row of one table belongs to which row of another; rows are never joined by their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from boxwood._frames import as_matrix, column_names, column_series, date_columns, only_columns, refuse_unknown_columns
from boxwood._types import Indices
from boxwood._validation import list_words, show_value
from boxwood.axes.categories import is_missing
from boxwood.errors import DataError

DATES, DATES_IN_ZONE, NUMBERS, TEXTS = "dates", "dates with a time zone", "numbers", "text"


class Keys(NamedTuple):
    """The key of each row of a table.

    Parameters
    ----------
    name : str
        What the key is called: a column, several, or the index.
    kinds : tuple of str
        What each part of it holds: values of two kinds are never the same key.
    values : sequence
        The key of each row, a tuple of several parts; None where one is missing.
    """

    name: str
    kinds: tuple[str, ...]
    values: Sequence[Hashable]

    @classmethod
    def of_columns(cls, parts: Sequence[tuple[str, str, Sequence[Hashable]]]) -> Keys:
        """Return the keys that columns make together; IN: parts: name, kind and values of each.

        Raises
        ------
        DataError
            If numbers among them are rounded.
        """
        names, kinds, columns = zip(*parts, strict=True)
        for name, values in zip(names, columns, strict=True):
            _refuse_rounded(name, values)
        whole = (
            columns[0] if len(columns) == 1 else [None if None in row else row for row in zip(*columns, strict=True)]
        )
        return cls(" and ".join(names), kinds, whole)


def keys_of_frame(frame: Any, names: Sequence[str], where: str) -> Keys:
    """Return the keys in some columns of a frame, or in parts of its index; IN: where: what the table is called.

    Raises
    ------
    DataError
        If the frame lacks a column.
    """
    of_index = [name for name in names if name in _index_names(frame) and name not in column_names(frame)]
    frame = frame.reset_index(of_index) if of_index else frame
    refuse_unknown_columns(names, column_names(frame), where=where)
    dates = date_columns(only_columns(frame, names))
    parts = []
    for name in names:
        is_date = name in dates
        values = as_matrix(frame, [name])[:, 0].tolist() if is_date else column_series(frame, name).to_list()
        known = [None if is_missing(value) else value for value in values]
        kind = (DATES_IN_ZONE if dates[name].zone else DATES) if is_date else say_kinds(known)
        parts.append((name, kind, known))
    return Keys.of_columns(parts)


def keys_of_index(frame: Any, where: str, order: Sequence[Hashable] = ()) -> Keys:
    """Return the keys in the index of a frame of pandas; IN: order: names of its parts in another order."""
    levels = (frame.index.reorder_levels(order) if order else frame.index).to_frame(index=False)
    levels.columns = [f"level {i}" for i in range(levels.shape[1])]
    return keys_of_frame(levels, list(levels.columns), where)._replace(name="the index")


def _index_names(frame: Any) -> Sequence[Hashable]:
    return getattr(getattr(frame, "index", None), "names", ()) if hasattr(frame, "reset_index") else ()


def _refuse_rounded(name: str, values: Sequence[Hashable]) -> None:
    rounded = [one for one in values if isinstance(one, float) and abs(one) >= 1 << 53]
    if rounded:
        raise DataError(
            f"{name} has whole numbers of 2**53 or more as floats, such as {rounded[0]:.0f}, which are not exact; "
            "read it as whole numbers, or as text"
        )


def say_kinds(values: Iterable[Hashable]) -> str:
    """Return what values of a key are in words, several kinds where they are mixed; empty where all are missing."""
    types = {type(one): one for one in values if one is not None}
    return list_words(sorted({_kind(one) for one in types.values()})) if types else ""


def _kind(value: Hashable) -> str:
    if isinstance(value, str):
        return TEXTS
    return NUMBERS if isinstance(value, (Number, np.generic)) else type(value).__name__


class Join(NamedTuple):
    """Rows of one table, and the row of another one that belongs to each; ascending in the first.

    Parameters
    ----------
    rows, partners : array of shape (m,)
        Places of rows in the first table, and of their partners in the second.
    notes : tuple of str
        How many rows of either table have no partner, if some have none.
    """

    rows: Indices
    partners: Indices
    notes: tuple[str, ...] = ()


def join_tables(own: Keys, others: Keys, names: tuple[str, str]) -> Join:
    """Return the rows of two tables that have the same key; IN: names: what the tables are called.

    Raises
    ------
    DataError
        If a key stands in several rows of a table, the keys are of different kinds, or no two rows have the same.
    """
    if any(mine != theirs for mine, theirs in zip(own.kinds, others.kinds, strict=True) if mine and theirs):
        kinds = [f"{' and '.join(keys.kinds)} in {name}" for keys, name in zip((own, others), names, strict=True)]
        raise DataError(f"{own.name} is {', but '.join(kinds)}; give both one type")
    for keys, name in zip((own, others), names, strict=True):
        _refuse_doubled(keys, name)
    place = {key: i for i, key in enumerate(others.values) if key is not None}
    found = [(i, place[key]) for i, key in enumerate(own.values) if key in place]
    if not found:
        said = " and ".join(f"{_examples(keys)} in {name}" for keys, name in zip((own, others), names, strict=True))
        raise DataError(f"no row of {names[0]} has the same {own.name} as a row of {names[1]}: {said}")
    rows, partners = np.array(found, dtype=np.intp).T
    alone = [len(keys.values) - len(rows) for keys in (own, others)]
    told = [
        f"{n:,} of {len(keys.values):,} rows of {name}"
        for n, keys, name in zip(alone, (own, others), names, strict=True)
        if n
    ]
    note = f"{' and '.join(told)} were left out: no row of the other table has their {own.name}"
    return Join(rows, partners, (note,) if told else ())


def _examples(keys: Keys) -> str:
    known = [key for key in keys.values if key is not None]
    return list_words([show_value(key) for key in known[:2]] + ["…"] * (len(known) > 2)) if known else "none"


def _refuse_doubled(keys: Keys, name: str) -> None:
    counts = Counter(key for key in keys.values if key is not None)
    doubled = [key for key, n in counts.items() if n > 1]
    if doubled:
        raise DataError(
            f"{keys.name} must tell the rows of {name} apart, but {len(doubled):,} of its values are in several rows, "
            f"such as {show_value(doubled[0])}; make one row of these, such as their means, or name a further "
            "column that "
            "tells them apart (key)"
        )
