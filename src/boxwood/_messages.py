"""Messages: values and lists of words, short and in one line; warnings that name the caller's line."""

from __future__ import annotations

import re
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
    """Return the words joined by commas: at most `limit` words, long ones cut off, then the number of the others."""
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(map(cut_off, words[:limit])) + more


def brief(message: str) -> str:
    """Return a message in which nothing that it quotes is longer than 200 characters, and no line than 2,000."""
    lines = (_QUOTED.sub(lambda found: cut_off(found[0]), line) for line in message.split("\n"))
    return "\n".join(cut_off(line, 2000) for line in lines)


_QUOTED = re.compile(r"(?<=')[^']{201,}(?=')|[^\s,;']{201,}")


class Lost(str):
    """A line for the reader on what was in a file and is in no row, which is said even to who asked for quiet."""


def rounded(names: Sequence[str]) -> str:
    """Return the note on columns of whole numbers beyond 2**53, of which some are the same double."""
    return f"whole numbers too large to tell apart as doubles: {listed(names)}; rules read them rounded"


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line on the stack that belongs to neither boxwood nor scikit-learn's wrappers."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INNER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
