"""Refusing what is not understood: where it stands, what was expected and what came."""

from __future__ import annotations

from typing import NoReturn

from boxwood._messages import show_value
from boxwood.errors import DataError
from boxwood.judge.values import Place

LONGEST = 100_000  # letters of a text
DEEPEST = 70  # brackets and CASE within one another
MOST_TESTS = 5_000

CONDITION = "a comparison, IN, BETWEEN, IS NULL, or such conditions joined by AND, OR and NOT"
VALUE = "a number, a text in quotes, a boolean, a date, or NULL"
COLUMN = "a column, or a cast or COALESCE of one"


def refuse(place: Place, expected: str, came: str, instead: str = "") -> NoReturn:
    """Raise a DataError on a part of a text."""
    where = f"line {place.line}, column {place.column}: " if place.line else ""
    raise DataError(f"{where}expected {expected}; got {show_value(came)}{f'; {instead}' if instead else ''}")


def place_at(text: str, offset: int) -> Place:
    """Return the line and column of a letter of a text.

    Examples
    --------
    >>> place_at("CASE\\n  WHEN", 7)
    Place(line=2, column=3)
    """
    line = text.count("\n", 0, offset) + 1
    return Place(line, offset - (text.rfind("\n", 0, offset) + 1) + 1)


def refuse_long(text: str) -> None:
    """Raise a DataError if a text is too long to be rules."""
    if len(text) > LONGEST:
        raise DataError(
            f"the text has {len(text):,} letters, and rules at most {LONGEST:,}; give the part with the rules"
        )


def refuse_deep(text: str) -> None:
    """Raise a DataError if brackets are nested deeper than a person writes them; texts in quotes count, too."""
    depth = 0
    for offset, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth > DEEPEST:
            refuse(place_at(text, offset), f"at most {DEEPEST} brackets within one another", "more")
        depth = max(depth, 0)
