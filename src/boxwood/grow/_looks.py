"""Where a pass looks: bins of the columns of several nodes, and what lies in them.

A pass over rows adds up what lies in each bin, or gathers the values of a few bins one by one. Either way the result is
the same kind of table: parts of a column, ascending, each with its rows' least and greatest value, their number and the
sums of their amounts. Which bins are looked at is a matter of speed alone; what is decided by them is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood.grow._levels import Paths

__all__ = ["BINS", "BYTES", "FEWEST", "Look", "Parts", "Sample", "Stretch", "inner_edges", "parts_of_values"]


BYTES = 1 << 25  # of the sums by bin of one thread
BINS = 512  # of a column at a node, at most
FEWEST = 16  # bins of a column at a node, for which others wait for the next pass
SAMPLED = 1 << 14  # rows of the sample, at most
SAMPLED_VALUES = 1 << 21


class Stretch(NamedTuple):
    """Values of a column at a node that are looked at: all of them, or those from `low` to `high`."""

    node: int
    column: int
    low: float
    high: float
    edges: Floats  # that part them: ascending, from `low` on and below `high`


class Parts(NamedTuple):
    """Parts of a stretch, ascending, none of them without rows. All arrays are of shape (m, ...)."""

    counts: Ints
    low: Floats
    high: Floats
    sums: Ints


class Look(NamedTuple):
    """The bins of some stretches, as `loops.in_bins` takes them, and the slots of each stretch."""

    columns: list[int]  # that are read
    starts: Ints
    edges: Floats
    slots: Ints
    ends: list[int]  # the slots of stretch i are those from `ends[i]` to `ends[i + 1] - 1`

    @classmethod
    def at(cls, stretches: Sequence[Stretch], columns: list[int], n_nodes: int) -> Look:
        """Return the bins of stretches, which come by node, by column, and ascending."""
        position = {column: i for i, column in enumerate(columns)}
        edges: list[Floats] = [np.empty(0)] * (n_nodes * len(columns))
        slots: list[Ints] = [np.full(1, -1)] * len(edges)
        ends = [0]
        for each in stretches:
            pair, first, n_bins = each.node * len(columns) + position[each.column], ends[-1], len(each.edges) + 1
            own = np.arange(first, first + n_bins)
            if each.low == -np.inf:
                edges[pair], slots[pair] = each.edges, own
            else:  # what lies below and above has no slot
                below = np.nextafter(each.low, -np.inf)
                edges[pair] = np.concatenate([edges[pair], [below], each.edges, [each.high]])
                slots[pair] = np.concatenate([slots[pair], own, [-1]])
            ends.append(first + n_bins)
        starts = np.cumsum([0, *(len(each) for each in edges)])
        return cls(columns, starts, np.concatenate(edges), np.concatenate(slots), ends)

    @property
    def n_slots(self) -> int:
        """Number of slots."""
        return self.ends[-1]

    def parts(self, counts: Ints, low: Floats, high: Floats, sums: Ints) -> list[Parts]:
        """Return what lies in each stretch, from sums by slot."""
        parts = []
        for i in range(len(self.ends) - 1):
            filled = self.ends[i] + np.flatnonzero(counts[self.ends[i] : self.ends[i + 1]])
            parts.append(Parts(counts[filled], low[filled], high[filled], sums[filled]))
        return parts


class Sample:
    """Some rows, which decide where a pass looks, but nothing that comes of it."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows

    @staticmethod
    def size(n_columns: int) -> int:
        """Return how many rows a sample has."""
        return max(min(SAMPLED, SAMPLED_VALUES // n_columns), 1)

    def at(self, paths: Paths) -> SampleAt:
        """Return the rows at some nodes."""
        return SampleAt(self.rows, paths.places(self.rows))


class SampleAt:
    """The rows of a sample at some nodes."""

    def __init__(self, rows: Floats, nodes: Ints) -> None:
        self.rows, self.nodes = rows, nodes
        self.ascending: dict[tuple[int, int], Floats] = {}  # of a node and a column

    def edges(self, node: int, column: int, low: float, high: float, n_bins: int) -> Floats:
        """Return edges of at most `n_bins` bins of the values at a node from `low` to `high`; see `inner_edges`."""
        if n_bins == 1:
            return np.empty(0)
        if (node, column) not in self.ascending:
            self.ascending[node, column] = np.sort(self.rows[self.nodes == node, column])
        return inner_edges(low, high, self.ascending[node, column], n_bins)


def parts_of_values(n_slots: int, values: Floats, slots: Indices, amounts: Ints) -> list[Parts]:
    """Return for each slot a part for each of its different values."""
    order = np.lexsort((values, slots))
    values, slots, amounts = values[order], slots[order], amounts[order]
    is_new = np.ones(len(values), dtype=np.bool_)
    is_new[1:] = (values[1:] != values[:-1]) | (slots[1:] != slots[:-1])
    first = np.flatnonzero(is_new)
    counts, different = np.diff(np.append(first, len(values))), values[first]
    sums = np.add.reduceat(amounts, first) if len(first) else amounts
    ends = np.searchsorted(slots[first], np.arange(n_slots + 1)).tolist()
    return [
        Parts(counts[start:stop], different[start:stop], different[start:stop], sums[start:stop])
        for start, stop in pairwise(ends)
    ]


def inner_edges(low: float, high: float, sample: Floats, n_bins: int) -> Floats:
    """Return at most `n_bins - 1` values from `low` on and below `high`, ascending; at least one.

    They are values of a sample, ascending, as many between any two. Where it has too few different ones, more come from
    all doubles, as many between any two; so that a few looks suffice however unevenly the rows are spread.
    """
    first, last = np.searchsorted(sample, [low, high])
    inside = sample[first:last]
    picked = inside[np.linspace(0, len(inside) - 1, min(len(inside), n_bins - 1)).astype(np.intp)]
    edges = np.unique(picked + 0.0)
    if 2 * len(edges) >= n_bins - 1:
        return edges
    start, stop = _key(low), _key(high)
    wanted = n_bins - 1 - len(edges)
    step = (stop - start) // (wanted + 1)  # of two numbers that may be 2**64 apart
    steps = np.arange(1, wanted + 1) if step else np.arange(stop - start)
    keys = np.uint64(start % (1 << 64)) + np.uint64(max(step, 1)) * steps.astype(
        np.uint64
    )  # wraps around, as it should
    return np.union1d(edges, _doubles(keys.view(np.int64)))


def _key(value: float) -> int:
    """Return the number of a double among all doubles, 0 for zero."""
    key = int(np.float64(abs(value)).view(np.int64))
    return key if value >= 0 else -key


def _doubles(keys: Ints) -> Floats:
    """Return the doubles with these numbers."""
    return np.copysign(np.abs(keys).view(np.float64), keys) + 0.0
