"""What passes show of the columns of numbers of a table in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.batches import Batches, Block, Source
from boxwood.batches.batches import OTHER_KINDS
from boxwood.batches.overview import MANY_NUMBERS, FewNumbers
from boxwood.columns.rules import RULES, may_count_rows
from boxwood.columns.seen import Seen, Use

LOOKED_AT = 1 << 20  # different numbers of a column that are counted, of those in its range


@dataclass(frozen=True)
class NumbersInBatches:
    """What a pass tells of the columns of numbers; that the values of some are unique takes another one.

    Parameters
    ----------
    batches : Batches
        The rows.
    n_rows : int
        Their number.
    n_known : array of shape (d,)
        Number of rows with a value.
    is_whole : array of shape (d,)
        Whether all values are whole numbers.
    least, most : arrays of shape (d,)
        Ranges of the values.
    are_few : array of shape (d,)
        Whether the values of a column of whole numbers are few different ones.
    rises : array of shape (d,), default=None
        Whether each value is above that of the row before; None if the pass did not look.
    """

    batches: Batches
    n_rows: int
    n_known: Indices
    is_whole: Bools
    least: Floats
    most: Floats
    are_few: Bools
    rises: Bools | None = None

    @cached_property
    def gaps(self) -> dict[str, int]:
        """Number of missing values of the columns that have some."""
        lacking = zip(self.batches.columns, (self.n_rows - self.n_known).tolist(), strict=True)
        return {name: n for name, n in lacking if n}

    @property
    def columns(self) -> list[Seen]:
        """What is known of each column; not kept, as each knows the look."""
        return [SeenInBatches(self, j) for j in range(self.batches.n_columns)]

    @cached_property
    def unique(self) -> frozenset[str]:
        """The columns whose values are unique, of those that are numbered almost without gaps; takes a pass."""
        dense = [j for j, seen in enumerate(self.columns) if may_count_rows(seen)]
        plain = replace(self.batches, labelling=None, store=None)
        unique = plain.fold(partial(_Unique, self.least[dense], self.most[dense]), dense).unique
        return frozenset(self.columns[j].name for j in np.array(dense)[unique].tolist())


class SeenInBatches(Seen):
    """A column of numbers of a table in batches, as a pass has looked at it."""

    def __init__(self, look: NumbersInBatches, j: int) -> None:
        source, name = look.batches.source, look.batches.columns[j]
        super().__init__(name, "date" if name in source.dates else "number", is_padded=name in source.padded)
        self.look, self.is_whole, self.n_known = look, bool(look.is_whole[j]), int(look.n_known[j])
        self.least, self.most, self.lacks_some = float(look.least[j]), float(look.most[j]), name in look.gaps
        is_one = self.least == self.most and bool(np.isfinite(self.least))  # infinite values are refused elsewhere
        self.n_values = 0 if not self.n_known else 1 if is_one else 2
        self.are_few = bool(look.are_few[j])
        self.rises = look.rises is not None and bool(look.rises[j])

    @property
    def is_unique(self) -> bool:  # type: ignore[override]
        """Whether no value comes twice."""
        return self.name in self.look.unique


def seen_in_batches(batches: Batches, look: NumbersInBatches | None) -> list[Seen]:
    """Return what is known of the columns of numbers; without a look, what the table says of itself."""
    if look is not None:
        return look.columns
    source = batches.source
    kinds = {name: "date" if name in source.dates else "number" for name in batches.columns}
    return [Seen(name, kind, is_padded=name in source.padded) for name, kind in kinds.items()]


def seen_others(source: Source, names: Sequence[str]) -> list[Seen]:
    """Return what is known of those columns of a table that hold no numbers."""
    kinds = zip(source.names, source.kinds, strict=True)
    return [
        Seen(name, kind, among=source.text_among(name) if name in source.mixed else None)
        for name, kind in kinds
        if kind in OTHER_KINDS and name in names
    ]


def look_at(batches: Batches) -> NumbersInBatches:
    """Return what a pass tells of the columns."""
    return look_of(batches, replace(batches, labelling=None, store=None).fold(partial(NumberSums, batches.n_columns)))


def look_of(batches: Batches, found: NumberSums) -> NumbersInBatches:
    """Return what the sums of a pass tell of the columns."""
    known = found.n_rows - found.missing
    ends = found.least, found.most
    return NumbersInBatches(batches, found.n_rows, known, found.is_whole, *ends, found.numbers.are_few, found.rises)


class _AtWorst(Seen):
    """A column of numbers, beside labels, of which no more than the range is known.

    As far as that goes, its values are unique, and rise.
    """

    is_unique = rises = True

    def __init__(self, name: str, kind: str, least: float, most: float, n_rows: int) -> None:
        super().__init__(name, kind)
        self.least, self.most, self.n_known, self.n_values = least, most, n_rows, 1 if least == most else 2
        self.is_whole = least == np.floor(least) and most == np.floor(most)
        self.are_few = most - least < MANY_NUMBERS


def may_be_unusable(batches: Batches, ranges: tuple[Floats, Floats], n_rows: int, use: Use) -> bool:
    """Return whether the ranges of columns leave it open that a rule leaves one out beside labels."""
    ends = zip(seen_in_batches(batches, None), *(end.tolist() for end in ranges), strict=True)
    columns = [_AtWorst(seen.name, seen.kind, low, high, n_rows) for seen, low, high in ends]
    return any(rule(one, use) is not None for rule in RULES for one in columns)


_ENDS = ((np.fmin.reduce, np.inf), (np.fmax.reduce, -np.inf))


class NumberSums:
    """Ranges of columns, numbers of missing values, and whether all are whole, few, and rise.

    Threads take blocks in any order, so a column rises if it does in each block, and no two blocks share a stretch.
    """

    def __init__(self, n_columns: int) -> None:
        self.n_rows, self.is_whole = 0, np.ones(n_columns, dtype=np.bool_)
        self.missing = np.zeros(n_columns, dtype=np.intp)
        self.least, self.most = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        self.numbers = FewNumbers(n_columns)
        self.rise_within, self.ends = np.ones(n_columns, dtype=np.bool_), list[Floats]()

    @property
    def rises(self) -> Bools:
        """Whether each value of a column is above that of the row before."""
        if not self.ends:
            return self.rise_within
        ends = np.sort(np.stack(self.ends), axis=0)  # of the lower ends of blocks, and of the upper ones
        return self.rise_within & (ends[1:, 0] > ends[:-1, 1]).all(axis=0)

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        values = block.values
        self.n_rows += len(values)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(values.sum()):
                self.missing += np.isnan(values).sum(axis=0)
        for j in np.flatnonzero(self.is_whole).tolist():
            column = values[:, j]
            self.is_whole[j] = bool(((column == np.floor(column)) | np.isnan(column)).all())
            if self.is_whole[j]:
                self.numbers.update(j, column)
        for j in np.flatnonzero(self.rise_within & self.is_whole).tolist():
            known = values[~np.isnan(values[:, j]), j]
            self.rise_within[j] = bool((known[1:] > known[:-1]).all())
        self.ends.append(np.stack([find(values, axis=0, initial=x) for find, x in _ENDS]))
        self.least = np.fmin(self.least, np.fmin.reduce(values, axis=0, initial=np.inf))
        self.most = np.fmax(self.most, np.fmax.reduce(values, axis=0, initial=-np.inf))

    def merge(self, other: NumberSums) -> None:
        """Add the sums of other rows."""
        self.n_rows += other.n_rows
        self.missing += other.missing
        self.is_whole &= other.is_whole
        self.numbers.merge(other.numbers)
        self.rise_within &= other.rise_within
        self.ends += other.ends
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
