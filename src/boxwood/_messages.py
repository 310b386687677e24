"""Values and lists of words as messages show them: short, and in one line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["cut_off", "listed", "rounded", "shown"]


def shown(value: object) -> str:
    """Return a value as messages show it: an array by its shape, a long text by its beginning."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    return cut_off(repr(value).replace("\n", ""))


def cut_off(text: str, length: int = 200) -> str:
    """Return a text of at most so many characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def listed(words: Sequence[str], limit: int = 10) -> str:
    """Return the words joined by commas: at most `limit` words, long ones cut off, then the number of the others."""
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(map(cut_off, words[:limit])) + more


def rounded(names: Sequence[str]) -> str:
    """Return the note on columns of whole numbers beyond 2**53, of which some are the same double."""
    return f"whole numbers too large to tell apart as doubles: {listed(names)}; rules read them rounded"
