"""Names that were typed, and the names that were meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from boxwood.errors import DataError

__all__ = ["ColumnError", "find_columns", "meant", "nearest", "split_names"]

_SIMILARITY = 0.75  # below this a suggestion is more often wrong than right


class ColumnError(DataError):
    """A column was asked for that the table does not have."""


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that was probably meant, or None where none is near."""
    near = get_close_matches(name, known, n=1, cutoff=_SIMILARITY)
    return near[0] if near else None


def meant(name: str | None) -> str:
    """Return "; did you mean 'x'?", or nothing for None.

    Examples
    --------
    >>> meant(nearest("segmnt", ["x", "segment"])), meant(nearest("customers", ["cities"]))
    ("; did you mean 'segment'?", '')
    """
    return "" if name is None else f"; did you mean '{name}'?"


def split_names(given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return names given one by one or with commas between; a known name that holds a comma stays whole."""
    parts: list[str] = []
    for item in given:
        parts += [item] if item in known else [part.strip() for part in item.split(",") if part.strip()]
    return tuple(dict.fromkeys(parts))


def find_columns(given: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return the place of each given name among the known ones.

    Raises
    ------
    ColumnError
        For the first name that is not known, with the nearest one.
    """
    place = {name: i for i, name in enumerate(known)}
    for name in given:
        if name not in place:
            raise ColumnError(
                f"no column '{name}' in the table{meant(nearest(name, known))}\nColumns: {', '.join(known)}"
            )
    return [place[name] for name in given]
