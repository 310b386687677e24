"""What one pass tells of the columns of a table in batches: gaps, one value only, and what looks like an identifier.

The rules are those of `looks_like_identifier` for rows in memory. That the values of a column are unique is seen by a
part of them, the same part on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.explanation._guards import counts_rows, has_name_of_identifier
from boxwood.passes import Batches, Block

__all__ = ["NO_LOOK", "Look", "identifiers_of", "look_at", "may_be_unusable"]

LOOKED_AT = 1 << 20  # different numbers of a column that are counted, of those in its range


class Look(NamedTuple):
    """What a pass tells of the columns.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    empty, constant, identifiers : tuple of str
        Columns without values, of a single value, and that look like identifiers.
    gaps : dict of str to int
        Number of missing values of the columns that have some.
    """

    n_rows: int
    empty: tuple[str, ...]
    constant: tuple[str, ...]
    identifiers: tuple[str, ...]
    gaps: dict[str, int]


NO_LOOK = Look(0, (), (), (), {})
"""Of a table that nobody looked at: nothing is known of its columns."""


def look_at(batches: Batches) -> Look:
    """Return what a pass tells of the columns; takes another one over columns that are numbered almost without gaps."""
    found = replace(batches, labelling=None, store=None).fold(partial(_Look, batches.n_columns))
    names, values = batches.columns, found.n_rows - found.missing
    constant = (found.least == found.most) & np.isfinite(found.least)  # infinite values are refused elsewhere
    return Look(
        found.n_rows,
        tuple(name for name, n in zip(names, values.tolist(), strict=True) if n == 0),
        tuple(names[j] for j in np.flatnonzero(constant).tolist()),
        identifiers_of(batches, values, found.is_whole, found.least, found.most),
        {name: n for name, n in zip(names, found.missing.tolist(), strict=True) if n},
    )


def may_be_unusable(names: Sequence[str], least: Floats, most: Floats, n_rows: int) -> bool:
    """Return whether ranges of columns leave it open that one has one value only, or looks like an identifier."""
    whole = (least == np.floor(least)) & (most == np.floor(most))
    ends = zip(names, least.tolist(), most.tolist(), strict=True)
    suspect = [has_name_of_identifier(name, n_rows) or counts_rows(low, high, n_rows) for name, low, high in ends]
    return bool((least == most).any() or (whole & suspect).any())


def identifiers_of(batches: Batches, n_values: Indices, whole: Bools, least: Floats, most: Floats) -> tuple[str, ...]:
    """Return the columns that look like identifiers; IN, for each: number of values, whether all are whole, range.

    Takes a pass over columns that are numbered almost without gaps, if there are any.
    """
    finite = np.isfinite(least) & np.isfinite(most)
    possible = np.flatnonzero(whole & finite & (least < most)).tolist()
    found = [j for j in possible if has_name_of_identifier(batches.columns[j], n_values[j])]
    dense = [
        j
        for j in possible
        if j not in found and most[j] - least[j] + 1 >= n_values[j] and counts_rows(least[j], most[j], n_values[j])
    ]
    if dense:
        plain = replace(batches, labelling=None, store=None)
        unique = plain.fold(partial(_Unique, least[dense], most[dense]), dense).unique
        found += np.array(dense)[unique].tolist()
    return tuple(batches.columns[j] for j in sorted(found))


class _Look:
    """Ranges of columns, numbers of missing values, and whether all values are whole numbers."""

    def __init__(self, n_columns: int) -> None:
        self.n_rows, self.is_whole = 0, np.ones(n_columns, dtype=np.bool_)
        self.missing = np.zeros(n_columns, dtype=np.intp)
        self.least, self.most = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def update(self, block: Block) -> None:
        values = block.values
        self.n_rows += len(values)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(values.sum()):
                self.missing += np.isnan(values).sum(axis=0)
        for j in np.flatnonzero(self.is_whole).tolist():
            column = values[:, j]
            self.is_whole[j] = bool(((column == np.floor(column)) | np.isnan(column)).all())
        self.least = np.fmin(self.least, np.fmin.reduce(values, axis=0, initial=np.inf))
        self.most = np.fmax(self.most, np.fmax.reduce(values, axis=0, initial=-np.inf))

    def merge(self, other: _Look) -> None:
        self.n_rows += other.n_rows
        self.missing += other.missing
        self.is_whole &= other.is_whole
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)


class _Unique:
    """Whether no number occurs twice, of those in a range whose distance to its beginning is divisible by some step."""

    def __init__(self, least: Floats, most: Floats) -> None:
        self.least, self.steps = least, np.ceil((most - least + 1) / LOOKED_AT)
        sizes = ((most - least) // self.steps).astype(np.intp) + 1
        self.counts: list[Indices] = [np.zeros(size, dtype=np.intp) for size in sizes.tolist()]

    def update(self, block: Block) -> None:
        for j, counts in enumerate(self.counts):
            place = block.values[:, j] - self.least[j]
            place = place[~np.isnan(place)]
            looked_at = place[place % self.steps[j] == 0] / self.steps[j]
            counts += np.bincount(looked_at.astype(np.intp), minlength=len(counts))

    def merge(self, other: _Unique) -> None:
        for mine, its in zip(self.counts, other.counts, strict=True):
            mine += its

    @property
    def unique(self) -> Bools:
        """Whether the numbers of each column are unique."""
        return np.array([counts.max(initial=0) <= 1 for counts in self.counts])
