"""`sample_of`: some rows of a table in batches, which depend on the rows alone.

Each distinct row has a number, its hash, made of its values, its cluster and its weight. The sample is the distinct
rows with the least hashes, with how often each of them occurs. So neither batches nor machines nor the order of the
rows change it. Any two samples of that kind make the sample of both tables::

    hashes of one table     3 . 8 . . 14 .      the least four of both: 3, 5, 8, 9
    hashes of another       . 5 . . 9 . 20
"""

from __future__ import annotations

import random
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices
from boxwood.passes.batches import Batches, Block

ROUND, LAST, LAST_BUT_ONE = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0x94D049BB133111EB, 0xBF58476D1CE4E5B9))


class Sample(NamedTuple):
    """Distinct rows of a table, in the order of their hashes.

    Parameters
    ----------
    values : array of shape (m, d)
        The rows; -0.0 is 0.0.
    labels : array of shape (m,)
        Cluster of each row, -1 where no clusters are known.
    own_weights : array of shape (m,)
        Weight of each row; 1 where rows are not weighted.
    times : array of shape (m,)
        How often each row occurs.
    """

    values: Floats
    labels: Indices
    own_weights: Floats
    times: Indices

    @classmethod
    def of(cls, rows: Floats, times: Indices) -> Sample:
        """Return the sample of rows that are kept with their cluster and weight as two more columns."""
        return cls(rows[:, :-2].copy(), rows[:, -2].astype(np.intp), rows[:, -1].copy(), times)

    @property
    def weights(self) -> Floats:
        """How often each row occurs, times its weight."""
        return self.own_weights * self.times

    def repeated(self) -> Sample:
        """Return the sample with each row as often as it occurs."""
        return self.at(np.repeat(np.arange(len(self.labels)), self.times))

    def drawn(self, most: int) -> Sample:
        """Return the sample with each row as often as it occurs, or if these are more, `most` of them drawn at random.

        The draw depends on the rows alone. Of a sample of `most` distinct rows of a table, any row of the table is as
        likely to be drawn as any other.
        """
        times = np.cumsum(self.times)
        total = int(times[-1])
        if total <= most:
            return self.repeated()
        drawn = np.sort(random.Random(0).sample(range(total), most))
        return self.at(np.searchsorted(times, drawn, side="right"))

    def at(self, places: Indices) -> Sample:
        """Return the rows at some places, any of them more than once, each of which occurs once then."""
        once = np.ones(len(places), dtype=np.intp)
        return Sample(self.values[places], self.labels[places], self.own_weights[places], once)


def sample_of(batches: Batches, n_rows: int) -> Sample:
    """Return `n_rows` distinct rows, or all of them if there are fewer, from one pass.

    Rows of weight 0 are left out, and rows without a cluster where clusters are known. Rows that differ in cluster or
    weight are different rows. Each distinct row is as likely to be in the sample as any other, over tables of random
    values; then its weight is how often it occurs. Memory grows with `n_rows` times the number of columns.
    """
    summary = batches.fold(partial(RowSample, n_rows, batches.n_columns, batches.labelling is None))
    return Sample.of(*summary.least())


class RowSample:
    """The distinct rows with the least hashes, and a few more that wait to be sorted among them.

    Rows are kept with their cluster and weight as two more columns. `rows` is in ascending order of `keys`, the hashes.
    """

    def __init__(self, n_rows: int, n_columns: int, keeps_all: bool = True) -> None:
        self.n_rows, self.keeps_all = n_rows, keeps_all
        self.keys: Array = np.empty(0, dtype=np.uint64)
        self.rows: Floats = np.empty((0, n_columns + 2))
        self.counts: Indices = np.empty(0, dtype=np.int64)
        self.waiting: list[tuple[Array, Floats, Indices]] = []
        self.n_waiting = 0

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        rows = _rows(block, self.keeps_all)
        keys = hashes(rows)
        if len(self.keys) == self.n_rows:
            near = keys <= self.keys[-1]
            keys, rows = keys[near], rows[near]
        self._add(*_distinct(keys, rows, np.ones(len(keys), dtype=np.int64)))

    def merge(self, other: RowSample) -> None:
        """Add another sample of as many rows."""
        for part in ((other.keys, other.rows, other.counts), *other.waiting):
            self._add(*part)

    def least(self) -> tuple[Floats, Indices]:
        """Return the rows with the least hashes, and how often each occurs."""
        parts = [part for part in ((self.keys, self.rows, self.counts), *self.waiting) if len(part[0])]
        self.waiting, self.n_waiting = [], 0
        if parts:
            keys, rows, counts = _distinct(*(np.concatenate(each) for each in zip(*parts, strict=True)))
            self.keys, self.rows, self.counts = keys[: self.n_rows], rows[: self.n_rows], counts[: self.n_rows]
        return self.rows, self.counts

    def _add(self, keys: Array, rows: Floats, counts: Indices) -> None:
        self.waiting.append((keys, rows, counts))
        self.n_waiting += len(keys)
        if self.n_waiting > self.n_rows:
            self.least()


def _rows(block: Block, keeps_all: bool) -> Floats:
    """Return the rows of a block that count, with cluster and weight; equal rows have equal bytes."""
    values, labels, weights = block
    rows = np.empty((len(labels), values.shape[1] + 2))
    rows[:, :-2] = values
    rows[:, -2] = labels
    rows[:, -1] = 1.0 if weights is None else weights
    rows += 0.0  # -0.0 becomes 0.0
    rows[np.isnan(rows)] = np.nan  # a missing value is one value, whatever its bytes
    if keeps_all and weights is None:
        return rows
    return np.asarray(rows[(rows[:, -1] != 0) & (keeps_all | (labels >= 0))])


def hashes(rows: Floats) -> Array:
    """Return a number of 64 bits for the bytes of each row, shape (n,); the end is that of SplitMix64 (Steele 2014)."""
    bits = rows.view(np.uint64)
    key = np.full(len(rows), ROUND)
    for j in range(bits.shape[1]):
        key ^= bits[:, j]
        key ^= key >> np.uint64(32)  # the low half of a double is often 0
        key *= ROUND
    key ^= key >> np.uint64(30)
    key *= LAST_BUT_ONE
    key ^= key >> np.uint64(27)
    key *= LAST
    key ^= key >> np.uint64(31)
    return key


def _distinct(keys: Array, rows: Floats, counts: Indices) -> tuple[Array, Floats, Indices]:
    """Return each distinct row once, in ascending order of hash and then of bytes, with the sum of its counts."""
    order = np.argsort(keys, kind="stable")
    is_first = _is_first(keys[order], rows[order])
    if (is_first[1:] & (keys[order][1:] == keys[order][:-1])).any():  # different rows with one hash
        order = np.lexsort((*rows.view(np.uint64).T[::-1], keys))
        is_first = _is_first(keys[order], rows[order])
    first = np.flatnonzero(is_first)
    return keys[order[first]], rows[order[first]], np.add.reduceat(counts[order], first) if len(first) else counts


def _is_first(keys: Array, rows: Floats) -> Array:
    """Return for each row whether it differs from the one before it."""
    bits = rows.view(np.uint64)
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = (keys[1:] != keys[:-1]) | (bits[1:] != bits[:-1]).any(axis=1)
    return is_first
