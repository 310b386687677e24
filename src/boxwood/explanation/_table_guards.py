"""Columns of a table in batches that make no good clusters: of one value, or that look like identifiers.

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
from boxwood.passes._batches import Reader

__all__ = ["Suspects", "constant_in", "identifiers_of", "suspects_in"]

LOOKED_AT = 1 << 20  # different numbers of a column that are counted, of those in its range


class Suspects(NamedTuple):
    """Names of columns: of a single value, and of those that look like identifiers."""

    constant: tuple[str, ...]
    identifiers: tuple[str, ...]


def suspects_in(batches: Batches) -> Suspects:
    """Return the columns of one value and those that look like identifiers.

    Takes a pass, and another one over columns that are numbered almost without gaps.
    """
    look = replace(batches, labelling=None, store=None).fold(partial(_Look, batches.n_columns))
    identifiers = identifiers_of(batches, look.n_rows, look.is_whole, look.least, look.most)
    return Suspects(look.constant(batches.columns), identifiers)


def constant_in(batches: Batches) -> tuple[str, ...]:
    """Return the columns of one value; reads the table only until all others have shown two, where it can."""
    source, width = batches.source, batches.n_columns
    if not hasattr(source, "batches"):
        return replace(batches, labelling=None, store=None).fold(partial(_Look, width)).constant(batches.columns)
    look, reader = _Look(width), Reader(width, list(range(width)))
    for batch, _ in source.batches(batches.columns):
        look.update(reader.block(batch))
        if (look.least < look.most).all():
            break
    return look.constant(batches.columns)


def identifiers_of(batches: Batches, n_rows: int, whole: Bools, least: Floats, most: Floats) -> tuple[str, ...]:
    """Return the columns that look like identifiers, where it is known which hold whole numbers, and their ranges.

    Takes a pass over columns that are numbered almost without gaps, if there are any.
    """
    finite = np.isfinite(least) & np.isfinite(most)
    possible = np.flatnonzero(whole & finite & (least < most)).tolist()
    found = [j for j in possible if has_name_of_identifier(batches.columns[j], n_rows)]
    dense = [
        j
        for j in possible
        if j not in found and most[j] - least[j] + 1 >= n_rows and counts_rows(least[j], most[j], n_rows)
    ]
    if dense:
        plain = replace(batches, labelling=None, store=None)
        unique = plain.fold(partial(_Unique, least[dense], most[dense]), dense).unique
        found += np.array(dense)[unique].tolist()
    return tuple(batches.columns[j] for j in sorted(found))


class _Look:
    """Ranges of columns, and whether all values are whole numbers."""

    def __init__(self, n_columns: int) -> None:
        self.n_rows, self.is_whole = 0, np.ones(n_columns, dtype=np.bool_)
        self.least, self.most = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def update(self, block: Block) -> None:
        values = block.values
        self.n_rows += len(values)
        for j in np.flatnonzero(self.is_whole).tolist():
            self.is_whole[j] = bool((values[:, j] == np.floor(values[:, j])).all())
        self.least = np.fmin(self.least, np.fmin.reduce(values, axis=0, initial=np.inf))
        self.most = np.fmax(self.most, np.fmax.reduce(values, axis=0, initial=-np.inf))

    def constant(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of one value; infinite values are refused elsewhere."""
        is_constant = (self.least == self.most) & np.isfinite(self.least)
        return tuple(columns[j] for j in np.flatnonzero(is_constant).tolist())

    def merge(self, other: _Look) -> None:
        self.n_rows += other.n_rows
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
            looked_at = place[place % self.steps[j] == 0] / self.steps[j]
            counts += np.bincount(looked_at.astype(np.intp), minlength=len(counts))

    def merge(self, other: _Unique) -> None:
        for mine, its in zip(self.counts, other.counts, strict=True):
            mine += its

    @property
    def unique(self) -> Bools:
        """Whether the numbers of each column are unique."""
        return np.array([counts.max(initial=0) <= 1 for counts in self.counts])
