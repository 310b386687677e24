"""Messages: values and lists of words, short and in one line; warnings that name the caller's line."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from numbers import Number
from typing import Self

import numpy as np

_INNER = ("boxwood", "sklearn", "contextlib")  # packages on the way from the caller to a warning


class Quoting(str):
    """A text that quotes values of the table, for the person who reads it now; `written` says the same without them.

    So a note may quote the cell that is no number, on the terminal and in `notes`, and no page, model file or form of
    the rules ever holds it.
    """

    written: str

    def __new__(cls, text: str, written: str | None = None) -> Self:
        """Return the text; without `written` it quotes nothing."""
        made = super().__new__(cls, text)
        made.written = text if written is None else written
        return made


def as_written(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts as what is written says them: without values of the table."""
    return tuple(getattr(text, "written", text) for text in texts)


def show_value(value: object) -> str:
    """Return a value as messages show it: an array by its shape, a long text by its beginning."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    return cut_off(repr(value).replace("\n", ""))


def kind_of_value(value: object) -> str:
    """Return what a value of the wrong kind is: a number, a text or None as it is, anything else by its type."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str):
        return f"the text {show_value(value)}"
    return show_value(value) if value is None or isinstance(value, Number) else f"a {type(value).__name__}"


def cut_off(text: str, length: int = 200) -> str:
    """Return a text of at most `length` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def list_words(words: Sequence[str], limit: int = 10) -> str:
    """Return the words joined by commas: at most `limit` words, long ones cut off, then the number of the others.

    They are on one line, and none is invisible; see `in_line`.
    """
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(in_line(cut_off(word)) for word in words[:limit]) + more


_MEANT = {
    "pg": "postgres",
    "pgsql": "postgres",
    "excel": "formula",
    "js": "javascript",
    "py": "python",
    "sqlite3": "sqlite",
    "accuracy": "agreement",
    "fidelity": "agreement",
    "price": "cost",
    "tree": "cart",
    "error": "refuse",
    "refuse": "error",
    "raise": "error",
    "ignore": "none",
}
"""What others call a value of a parameter."""


def did_you_mean(value: str, allowed: Collection[str]) -> str:
    """Return a question that asks for the allowed value that is meant, or an empty text.

    Examples
    --------
    >>> [did_you_mean(value, ["duckdb", "postgres"]) for value in ("pg", "duckdbb", "x")]
    ["; did you mean 'postgres'?", "; did you mean 'duckdb'?", '']
    """
    plain = value.lower()
    near = [_MEANT[plain]] if _MEANT.get(plain) in allowed else get_close_matches(plain, allowed, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def printable(text: str) -> str:
    """Return a text on one line, with escapes for characters that cannot be printed."""
    return text if text.isprintable() else repr(text)[1:-1]


def in_line(name: str) -> str:
    """Return a name as a sentence has it: on one line, and in quotes where it is empty or has blanks at its ends.

    Examples
    --------
    >>> print(in_line("net sales"), in_line("net\\nsales"), in_line(" "), in_line(""))
    net sales net\\nsales " " ""
    """
    text = printable(name)
    return text if text.strip() == text != "" else f'"{text}"'


_RUNS = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


def as_cell(text: str) -> str:
    """Return a text as a cell of CSV has it: an apostrophe stands before what a spreadsheet would run.

    So it is if it begins with one of `= + - @`, a tab or a line end, and is no number. Other cells stay as they are.
    """
    return f"'{text}" if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text


def shorten_message(message: str) -> str:
    """Return a message in which nothing that it quotes is longer than 200 characters, and no line than 2,000."""
    lines = (_QUOTED.sub(lambda found: cut_off(found[0]), line) for line in message.split("\n"))
    return "\n".join(cut_off(line, 2000) for line in lines)


_QUOTED = re.compile(r"(?<=')[^']{201,}(?=')|[^\s,;']{201,}")


class Lost(str):
    """A line for the reader on what was in a file and is in no row, which is said even to who asked for quiet."""


def note_on_rounded_columns(names: Sequence[str]) -> str:
    """Return the note on columns of whole numbers beyond 2**53, of which some are the same double."""
    return f"whole numbers too large to be exact as doubles: {list_words(names)}; rules read them rounded"


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line on the stack that belongs to neither boxwood nor scikit-learn's wrappers."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INNER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
