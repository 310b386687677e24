"""Clusters with equal centres, which no cut separates: named, refused or merged."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from boxwood._messages import warn_caller
from boxwood._types import Floats, Indices
from boxwood._validation import listed, refuse_unknown
from boxwood.errors import DataError


def first_of_equal(centers: Floats) -> Indices:
    """Return for each cluster the first cluster that has the same centre, shape (k,)."""
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(center.tobytes(), c) for c, center in enumerate(centers + 0.0)], dtype=np.intp)


def distinct(names: Sequence[Hashable], centers: Floats, duplicates: str) -> Indices:
    """Return for each cluster the first one with the same centre, if all centres differ or may be merged.

    With `duplicates="merge"` clusters of equal centres count as the first of them, with a warning.

    Raises
    ------
    DataError
        If centres are equal and `duplicates` is "error".
    """
    refuse_unknown("duplicates", duplicates, ("error", "merge"))
    first = first_of_equal(centers)
    later = np.flatnonzero(first != np.arange(len(first)))
    if len(later) == 0:
        return first
    pairs = listed([f"{names[int(first[c])]} and {names[int(c)]}" for c in later])
    if duplicates == "error":
        raise DataError(
            f"clusters with equal centres, which no cut separates: {pairs}; give them one label, use CART "
            "(method 'auto' or 'cart' of explain), or merge them (duplicates='merge' of grow.imm and grow.greedy)"
        )
    warn_caller(f"clusters with equal centres are merged into the first of them: {pairs}")
    return first


def two_equal(names: Sequence[Hashable], centers: Floats) -> str:
    """Return the names of two clusters with equal centres, such as "a and b"; an empty text if there are none."""
    return _first_pair(names, np.arange(len(centers)), first_of_equal(centers))


def alike_without(names: Sequence[Hashable], centers: Floats, columns: Sequence[int]) -> str:
    """Return the names of two clusters whose centres differ only in some columns; an empty text if there are none."""
    hidden = centers.copy()
    hidden[:, list(columns)] = 0.0
    return _first_pair(names, first_of_equal(centers), first_of_equal(hidden))


def refuse_alike(pair: str, method: str) -> None:
    """Raise a DataError if columns that no cut may test are all that tells two centres apart; see `alike_without`."""
    if pair:
        raise DataError(
            f"clusters {pair} have equal centres in the columns that rules may test, so method {method!r} cannot "
            "separate them; allow a column in which they differ, or use 'auto' or 'cart'"
        )


def _first_pair(names: Sequence[Hashable], first: Indices, merged: Indices) -> str:
    later = np.flatnonzero(first != merged)
    if len(later) == 0:
        return ""
    return f"{names[int(merged[later[0]])]} and {names[int(later[0])]}"
