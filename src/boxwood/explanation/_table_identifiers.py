"""Columns of a table in batches that make no good clusters; `looks_like_identifier` says the same of rows in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.explanation._guards import counts_rows, has_name_of_identifier
from boxwood.passes import Batches, Block

__all__ = ["Suspects", "identifiers_of", "suspects_in"]

LOOKED_AT = 1 << 20  # different numbers that are counted, if there are more in the range of a column


class Suspects(NamedTuple):
    """Names of columns: of a single value, and of those that look like identifiers."""

    constant: list[str]
    identifiers: list[str]


def suspects_in(batches: Batches) -> Suspects:
    """Return the columns that make no good clusters, from one pass, and one more if some may count the rows."""
    rows = replace(batches, labelling=None, store=None)
    found = rows.fold(partial(_Whole, rows.n_columns))
    constant = [rows.columns[j] for j in np.flatnonzero(found.least == found.most).tolist()]
    return Suspects(constant, identifiers_of(rows, found.n_rows, found.whole, found.least, found.most))


def identifiers_of(batches: Batches, n_rows: int, whole: Bools, least: Floats, most: Floats) -> list[str]:
    """Return the columns that look like identifiers, where it is known which hold whole numbers, and their ranges.

    That a column's values are unique is seen by a part of them, the same part on every machine.
    """
    named, counting = [], []
    for j, name in enumerate(batches.columns):
        if whole[j] and least[j] < most[j]:
            if has_name_of_identifier(name, n_rows):
                named.append(j)
            elif counts_rows(float(least[j]), float(most[j]), n_rows) and most[j] - least[j] + 1 >= n_rows:
                counting.append(j)
    if counting:
        unique = batches.fold(partial(_Unique, least[counting], most[counting]), counting).unique
        named += np.array(counting)[unique].tolist()
    return [batches.columns[j] for j in sorted(named)]


class _Whole:
    """Which columns hold whole numbers alone, their ranges, and the number of rows."""

    def __init__(self, n_columns: int) -> None:
        self.n_rows, self.whole = 0, np.ones(n_columns, dtype=np.bool_)
        self.least, self.most = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def update(self, block: Block) -> None:
        values = block.values
        self.n_rows += len(values)
        for j in np.flatnonzero(self.whole).tolist():
            self.whole[j] = bool((values[:, j] == np.floor(values[:, j])).all())
        self.least = np.minimum(self.least, values.min(axis=0, initial=np.inf))
        self.most = np.maximum(self.most, values.max(axis=0, initial=-np.inf))

    def merge(self, other: _Whole) -> None:
        self.n_rows += other.n_rows
        self.whole &= other.whole
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
        return np.array([counts.max(initial=0) <= 1 for counts in self.counts])
