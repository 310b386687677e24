"""Messages: values and lists of words, short and in one line; warnings that name the caller's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np

_INNER = ("boxwood", "sklearn", "contextlib")  # packages on the way from the caller to a warning


def shown(value: object) -> str:
    """Return a value as messages show it: an array by its shape, a long text by its beginning."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    return cut_off(repr(value).replace("\n", ""))


def cut_off(text: str, length: int = 200) -> str:
    """Return a text of at most `length` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def listed(words: Sequence[str], limit: int = 10) -> str:
    """Return the words joined by commas: at most `limit` words, long ones cut off, then the number of the others.

    They are on one line, and none is invisible; see `in_line`.
    """
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(in_line(cut_off(word)) for word in words[:limit]) + more


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


def rounded(names: Sequence[str]) -> str:
    """Return the note on columns of whole numbers beyond 2**53, of which some are the same double."""
    return f"whole numbers too large to tell apart as doubles: {listed(names)}; rules read them rounded"


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line on the stack that belongs to neither boxwood nor scikit-learn's wrappers."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INNER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
