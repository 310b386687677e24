"""Columns of a table in batches that make no good clusters: of one value, or that look like identifiers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats
from boxwood.explanation._guards import FEW_ROWS, FILLED, says_identifier
from boxwood.passes import Batches, Block

__all__ = ["Suspects", "suspects_in"]

MOST_MARKS = 1 << 27  # values of a column that are marked one by one, to see whether they are unique


class Suspects(NamedTuple):
    """Names of columns: of a single value, and of those that look like identifiers."""

    constant: tuple[str, ...]
    identifiers: tuple[str, ...]


def suspects_in(batches: Batches) -> Suspects:
    """Return the columns of one value and those that look like identifiers, by the rules for rows in memory.

    Takes a pass, and another one over columns that are numbered almost without gaps. Columns of more than 134 million
    such numbers count as identifiers without it.
    """
    whole = replace(batches, labelling=None, store=None)
    look = whole.fold(partial(_Look, batches.n_columns))
    constant = look.least == look.most
    possible = look.is_whole & ~constant & np.isfinite(look.least) & np.isfinite(look.most)
    if look.n_rows < FEW_ROWS:
        possible[:] = False
    named = np.array([says_identifier(name) for name in batches.columns])
    with np.errstate(invalid="ignore"):
        n_values = look.most - look.least + 1
        dense = possible & ~named & (n_values * FILLED < look.n_rows) & (n_values >= look.n_rows)
    places = np.flatnonzero(dense & (n_values <= MOST_MARKS)).tolist()
    if places:
        marks = whole.fold(partial(_Marks, look.least[places], n_values[places].astype(int).tolist()), places)
        dense[places] = ~marks.twice

    def names(chosen: Bools) -> tuple[str, ...]:
        return tuple(batches.columns[j] for j in np.flatnonzero(chosen).tolist())

    return Suspects(names(constant), names(possible & (named | dense)))


class _Look:
    """Ranges of columns, and whether all values are whole numbers."""

    def __init__(self, n_columns: int) -> None:
        self.n_rows, self.is_whole = 0, np.ones(n_columns, dtype=np.bool_)
        self.least, self.most = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def update(self, block: Block) -> None:
        values = block.values
        self.n_rows += len(values)
        if not len(values):
            return
        self.is_whole &= (values == np.floor(values)).all(axis=0)
        self.least, self.most = np.minimum(self.least, values.min(axis=0)), np.maximum(self.most, values.max(axis=0))

    def merge(self, other: _Look) -> None:
        self.n_rows += other.n_rows
        self.is_whole &= other.is_whole
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)


class _Marks:
    """Which whole numbers occur in each column, and whether one of them occurs twice."""

    def __init__(self, least: Floats, sizes: list[int]) -> None:
        self.least, self.marks = least, [np.zeros(size, dtype=np.bool_) for size in sizes]
        self.twice = np.zeros(len(sizes), dtype=np.bool_)

    def update(self, block: Block) -> None:
        for j, marks in enumerate(self.marks):
            at = (block.values[:, j] - self.least[j]).astype(np.intp)
            self.twice[j] |= bool(marks[at].any()) or len(np.unique(at)) < len(at)
            marks[at] = True

    def merge(self, other: _Marks) -> None:
        for j, (mine, its) in enumerate(zip(self.marks, other.marks, strict=True)):
            self.twice[j] |= other.twice[j] or bool((mine & its).any())
            mine |= its
