"""`sample_of`: some rows of a table in batches, which depend on the rows alone.

Each distinct row has a number, its hash, made of its values, its cluster and its weight. The sample is the distinct
rows with the least hashes, with how often each of them occurs. So neither batches nor machines nor the order of the
rows change it. Any two samples of that kind make the sample of both tables::

    hashes of one table     3 . 8 . . 14 .      the least four of both: 3, 5, 8, 9
    hashes of another       . 5 . . 9 . 20

Hashes are even, so the number of rows tells up to which hash about so many of them lie: `Draw`. A machine that sees a
part of a long table keeps and sends the few of its rows that stay. Hashes of heavy rows and of those of rare clusters
are divided by a whole number, so that more of them are below any number.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices, Weights
from boxwood.batches.batches import Batches, Block

ROUND, LAST, LAST_BUT_ONE = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0x94D049BB133111EB, 0xBF58476D1CE4E5B9))
_AT_ONCE = 1 << 12  # rows whose hashes are found at once: they stay in a near cache meanwhile
_LARGEST = (1 << 64) - 1  # hash
_FINE = 8  # Rows of less than an eighth of the mean weight are as likely to be drawn as each other,
_HEAVIEST = 1 << 20  # and so are those of so many eighths, as all of them are drawn.


class Draw(NamedTuple):
    """Which distinct rows of a table are drawn: those with the least hashes.

    Parameters
    ----------
    n_rows : int
        The most rows.
    limit : int
        The largest hash; the largest of all where the number of rows is not known, or as small.
    rates : array of shape (k,), or None
        By which the hashes of the rows of each cluster are divided: so many times as likely is a row to be drawn. None
        is 1.
    unit : float, or None
        Weight by which those of rows are divided, for the same; None where all rows count alike.
    """

    n_rows: int
    limit: int = _LARGEST
    rates: Array | None = None
    unit: float | None = None

    @classmethod
    def of(cls, n_rows: int, sizes: Indices | None, each: int = 0, mean_weight: float | None = None) -> Draw:
        """Return the draw of distinct rows of a table of clusters of such sizes, with their repetitions.

        IN: each: about how many rows of each cluster there are at least, if it has so many. Rows that are all different
        are hardly ever too few below the limit, which is six standard deviations of their number above it. mean_weight:
        of all rows, where heavy rows are to be drawn more often.
        """
        total = 0 if sizes is None else int(sizes.sum())
        if sizes is None or total <= n_rows:
            return cls(n_rows)
        share, rates = n_rows / total, np.ones(len(sizes), dtype=np.uint64)
        rare = (sizes > 0) & (sizes * share < each)
        rates[rare] = np.minimum(np.ceil(each / (sizes[rare] * share)), np.floor(1 / share)).astype(np.uint64)
        share *= n_rows / float((sizes * np.minimum(share * rates, 1.0)).sum())
        unit = None if mean_weight is None else mean_weight / _FINE
        if unit is not None:
            rates[rare] *= np.uint64(_FINE)  # those of all rows are about so large
        return cls(n_rows, cls._limit(share * _with_slack(n_rows) / n_rows), rates if rare.any() else None, unit)

    def rates_of(self, labels: Indices, weights: Floats) -> Array | None:
        """Return by what the hashes of rows are divided, shape (n,); None is 1."""
        rates = None if self.rates is None else self.rates[labels]
        if self.unit is None:
            return rates
        by_weight = np.clip(np.ceil(weights / self.unit), 1, _HEAVIEST).astype(np.uint64)
        return by_weight if rates is None else rates * by_weight

    def again(self, n_found: int) -> Draw | None:
        """Return the draw that finds about all rows that are wanted, where rows are so alike that far fewer were found.

        None if at least half of them were, or all that there are.
        """
        if self.limit == _LARGEST or 2 * n_found >= self.n_rows:
            return None
        surely = max(n_found - 4 * math.sqrt(n_found), 0.0)
        share = self.limit / _LARGEST * _with_slack(self.n_rows)
        return self._replace(limit=self._limit(share / surely if surely else 1.0))

    @staticmethod
    def _limit(share: float) -> int:
        return _LARGEST if share >= 1 else int(share * _LARGEST)


def _with_slack(n_rows: int) -> float:
    """Return six standard deviations more than a number of rows that are drawn by chance."""
    return n_rows + 6 * math.sqrt(n_rows) + 6


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
    chances : array of shape (m,)
        How many times as likely as others each row was drawn.
    """

    values: Floats
    labels: Indices
    own_weights: Floats
    times: Indices
    chances: Floats

    @classmethod
    def of(cls, found: RowSample) -> Sample:
        """Return the sample of rows that are kept with their cluster and weight as two more columns."""
        rows, times = found.least()
        labels, weights = rows[:, -2].astype(np.intp), rows[:, -1].copy()
        rates, chances = found.draw.rates_of(labels, weights), np.ones(len(rows))
        if rates is not None:
            chances = np.minimum(rates, 1 / max(found.share, 1 / _LARGEST))  # none is drawn more than surely
        return cls(rows[:, :-2].copy(), labels, weights, times, chances)

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
        return Sample(self.values[places], self.labels[places], self.own_weights[places], once, self.chances[places])


def sample_of(
    batches: Batches, draw: Draw, fold: Callable[[Callable[[], RowSample]], RowSample] | None = None
) -> Sample:
    """Return distinct rows, or all of them if there are fewer, from one pass.

    Rows of weight 0 are left out, and rows without a cluster where clusters are known. Rows that differ in cluster or
    weight are different rows. Each distinct row of a cluster is as likely to be in the sample as any other, over tables
    of random values; then its weight is how often it occurs. Memory grows with the rows drawn times the number of
    columns. Where rows are so alike that less than half of these are found, there is a second pass.

    IN: fold: makes the first pass, in place of `batches.fold`.
    """
    make = partial(RowSample, draw, batches.n_columns, batches.labelling is None)
    found: RowSample = batches.fold(make) if fold is None else fold(make)
    sample = Sample.of(found)
    further = draw.again(len(sample.times))
    return sample if further is None else sample_of(replace(batches, n_jobs=1), further)


def drawn_rows(batches: Batches, n_rows: int, sizes: Indices | None = None) -> Sample:
    """Return rows drawn at random, `n_rows` of them or all if there are fewer, from one pass; see `Sample.drawn`.

    One thread draws them where the sizes of clusters are not known, as each would hold so many.
    """
    draw = Draw.of(n_rows, sizes)
    return sample_of(batches if draw.limit < _LARGEST else replace(batches, n_jobs=1), draw).drawn(n_rows)


def some_rows(values: Array, most: int, weights: Weights = None) -> Indices:
    """Return the places of rows drawn at random, `most` or all, in a random order; heavy ones are more likely.

    Which rows these are, and their order, depends on what the rows hold alone, not on where they stand.
    """
    n_rows, order, generator = len(values), order_of_content(values, weights), np.random.RandomState(0)
    if weights is None:
        return order[generator.permutation(n_rows)[:most]]
    shares = weights[order] / weights.sum()
    n_there = min(int(np.count_nonzero(weights)), most)
    return order[generator.choice(n_rows, n_there, replace=False, p=shares)]


def order_of_content(values: Array, weights: Weights = None) -> Indices:
    """Return the places of rows in the order of their hashes: the order of rows with other contents is always the same.

    IN: weights (n,): rows that differ in weight are different rows.
    """
    keys, width = np.empty(len(values), dtype=np.uint64), values.shape[1] + (weights is not None)
    for start in range(0, len(values), _AT_ONCE):
        rows = np.empty((min(_AT_ONCE, len(values) - start), width), order="F")
        rows[:, : values.shape[1]] = values[start : start + len(rows)]
        if weights is not None:
            rows[:, -1] = weights[start : start + len(rows)]
        keys[start : start + len(rows)] = hashes(_same_bytes(rows))
    return np.asarray(np.argsort(keys, kind="stable"))


class RowSample:
    """The distinct rows with the least hashes, and a few more that wait to be sorted among them.

    Rows are kept with their cluster and weight as two more columns. `kept` is in ascending order of hashes.
    """

    kept: _Hashed
    draw: Draw
    keeps_all: bool
    n_waiting: int

    def __init__(self, draw: Draw, n_columns: int, keeps_all: bool = True) -> None:
        self.draw, self.keeps_all = draw, keeps_all
        counts = np.empty(0, dtype=np.int64)
        self.kept = _Hashed(np.empty(0, dtype=np.uint64), np.empty((0, n_columns + 2)), counts)
        self.waiting: list[_Hashed] = []
        self.n_waiting = 0

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        starts = range(0, max(len(block.labels), 1), _AT_ONCE)
        self._add(_distinct([self._near(block.part(at, at + _AT_ONCE)) for at in starts], self.draw.n_rows))

    def merge(self, other: RowSample) -> None:
        """Add another sample of the same draw."""
        for part in (other.kept, *other.waiting):
            self._add(part)

    def least(self) -> tuple[Floats, Indices]:
        """Return the rows with the least hashes, and how often each occurs."""
        if self.waiting:
            self.kept = _distinct([self.kept, _Hashed.joined(self.waiting)], self.draw.n_rows)
        self.waiting, self.n_waiting = [], 0
        return self.kept.rows, self.kept.counts

    @property
    def share(self) -> float:
        """Share of all hashes up to which all rows are kept."""
        is_full = len(self.kept.keys) == self.draw.n_rows
        return (int(self.kept.keys[-1]) if is_full else self.draw.limit) / _LARGEST

    def _near(self, block: Block) -> _Hashed:
        """Return the rows of a block that may be among those with the least hashes."""
        rows = _rows(block, self.keeps_all)
        keys, limit = hashes(rows), self.draw.limit
        if (rates := self.draw.rates_of(rows[:, -2].astype(np.intp), rows[:, -1])) is not None:
            keys //= rates
        if len(self.kept.keys) == self.draw.n_rows:
            limit = int(self.kept.keys[-1])
        near = keys <= np.uint64(limit)
        keys, rows = keys[near], np.ascontiguousarray(rows[near])
        return _Hashed(keys, rows, np.ones(len(keys), dtype=np.int64))

    def _add(self, part: _Hashed) -> None:
        if len(part.keys):
            self.waiting.append(part)
        self.n_waiting += len(part.keys)
        if 4 * self.n_waiting > self.draw.n_rows:  # not as many as are kept, so that a long table takes little memory
            self.least()


class _Hashed(NamedTuple):
    """Rows, their hashes, and how often each occurs."""

    keys: Array
    rows: Floats
    counts: Indices

    @classmethod
    def joined(cls, parts: Sequence[_Hashed]) -> _Hashed:
        return parts[0] if len(parts) == 1 else cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _rows(block: Block, keeps_all: bool) -> Floats:
    """Return the rows of a block that count, with cluster and weight, column by column; equal rows have equal bytes."""
    values, labels, weights = block
    ones = np.ones(len(labels))
    columns = [*values.T, labels, ones if weights is None else weights]
    rows = np.empty((len(labels), len(columns)), order="F")
    for j, column in enumerate(columns):
        rows[:, j] = column
    rows = _same_bytes(rows)
    counts = (rows[:, -1] != 0) & (keeps_all | (labels >= 0))
    return rows if counts.all() else rows[counts]


def _same_bytes(rows: Floats) -> Floats:
    """Return rows in which equal values have equal bytes; changes the rows."""
    rows += 0.0  # -0.0 becomes 0.0
    rows[np.isnan(rows)] = np.nan  # a missing value is one value, whatever its bytes
    return rows


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


def _distinct(parts: Sequence[_Hashed], most: int) -> _Hashed:
    """Return distinct rows once, `most` of them, in ascending order of hash and then of bytes, with sums of counts."""
    keys, counts = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
    order = np.argsort(keys, kind="stable")
    is_first, are_told = _is_first(keys, parts, order)
    if not are_told:
        order = np.lexsort((*_Hashed.joined(parts).rows.view(np.uint64).T[::-1], keys))
        is_first, _ = _is_first(keys, parts, order)
    first = np.flatnonzero(is_first)
    kept, sums = order[first[:most]], np.add.reduceat(counts[order], first) if len(first) else counts
    return _Hashed(keys[kept], _rows_at(parts, kept), sums[:most])


def _is_first(keys: Array, parts: Sequence[_Hashed], order: Indices) -> tuple[Array, bool]:
    """Return for each row, in some order, whether it differs from the one before it, and whether hashes tell all."""
    in_order = keys[order]
    alike = 1 + np.flatnonzero(in_order[1:] == in_order[:-1])
    here, before = (_rows_at(parts, order[places]).view(np.uint64) for places in (alike, alike - 1))
    differ = (here != before).any(axis=1)
    is_first = np.ones(len(keys), dtype=np.bool_)
    is_first[alike] = differ
    return is_first, not differ.any()


def _rows_at(parts: Sequence[_Hashed], places: Indices) -> Floats:
    """Return the rows at some places of the parts, which lie one behind the other, but are too large to be joined."""
    rows, start = np.empty((len(places), parts[0].rows.shape[1])), 0
    for part in parts:
        at = np.flatnonzero((start <= places) & (places < start + len(part.keys)))
        rows[at] = part.rows[places[at] - start]
        start += len(part.keys)
    return rows
