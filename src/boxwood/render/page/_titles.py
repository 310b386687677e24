"""Titles of columns, by which a page or a picture calls them; code keeps their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boxwood._frames import refuse_unknown_columns
from boxwood._validation import show_value

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


def check_titles(titles: Any, ex: MeasuredTree) -> Mapping[str, str] | None:
    """Return titles of columns if they are such.

    Raises
    ------
    DataError
        If the table has no such column.
    TypeError
        If they are no mapping from names to texts.
    ValueError
        If two columns would be called alike.
    """
    if titles is None:
        return None
    if not (isinstance(titles, Mapping) and all(isinstance(one, str) for pair in titles.items() for one in pair)):
        raise TypeError(f"titles must be a mapping from names of columns to texts, got {show_value(titles)}")
    columns = _columns_of(ex)
    refuse_unknown_columns(titles, columns)
    called = Counter(titles.get(name, name) for name in columns)
    twice = next((title for title in titles.values() if called[title] > 1), None)
    if twice is not None:
        raise ValueError(f"titles must tell columns apart, but {called[twice]} would be called {show_value(twice)}")
    return titles


def _columns_of(ex: MeasuredTree) -> list[str]:
    """Return the columns that an explanation names: those looked at, those left out, and that of the labels."""
    known = ex.provenance
    others = [] if known is None else [name for one in known.left_out for name in one.columns]
    label = [known.label] if known is not None and known.label else []
    return list(dict.fromkeys([*ex.columns, *others, *label]))
