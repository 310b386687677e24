"""Growth columns on which each set of a category's values is one cut, and missing numbers may be on either side.

So the search for the best of all trees with one-sided cuts, which knows nothing of sets and gaps, finds the best of all
trees of sets and gaps. A category of m values becomes 2**(m - 1) - 1 columns of 0 and 1, and a number with gaps two::

    value    {a}   {b}   {c}          number    missing above   missing below
    a          1     0     0          20                   20              20
    b          0     1     0          30                   30              30
    c          0     0     1          none                30+             20-
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.axes.categories import Categories
from boxwood.axes.maps import LARGEST, AxisMap
from boxwood.axes.mixed import NONE_ALIKE, MixedMap, _Codes, _Number, _OrderedPart, _Part
from boxwood.tree.cover import EVERYTHING, MISSING, Intervals, join_intervals

MOST_CODES = 8  # values of a category, which then has 127 columns


class EverySetMap(MixedMap):
    """A table of numbers, and of codes of categories, as columns that hold each set of values as a cut.

    Parameters
    ----------
    table : array of shape (n, d)
        Numbers, plus infinity where one is missing, and codes.
    categories : mapping from column to Categories
        The columns of codes. Each has at most `MOST_CODES` of them among the kept rows, unless it is ordered: its
        places in the order are like numbers.
    kept : array of bool of shape (n,)
        The rows that count. Each column of numbers has a number in one of them.
    read : collection of int, default=None
        The columns that cuts may test; None is all.
    alike : mapping from column to array of shape (m,), default={}
        See `MixedMap`. Codes that are alike count as one.

    Notes
    -----
    Of the columns of a category those of few values come first, so that of equal trees the first one asks for few. A
    code that no kept row has goes with those that are not in the set. Numbers beyond those of kept rows are taken for
    the nearest of these.
    """

    uncut: tuple[int, ...]
    n_features: int

    alike: Mapping[int, Indices]

    def __init__(
        self,
        table: Floats,
        categories: Mapping[int, Categories],
        kept: Bools,
        read: Collection[int] | None = None,
        alike: Mapping[int, Indices] = NONE_ALIKE,
    ) -> None:
        self.n_features, self.alike = table.shape[1], alike
        parts: list[_Part] = []
        for j in range(self.n_features):
            x, known = table[:, j], categories.get(j)
            if known is None:
                parts.append(_on_both_sides(x, kept))
            elif known.ordered:
                parts.append(
                    _OrderedPart(np.empty((len(known.domain), 0)), known, _on_both_sides(known.places(x), kept))
                )
            else:
                at = alike.get(j, np.arange(len(known.domain)))
                parts.append(_Codes(_sets(at[x[kept].astype(np.intp)], len(at))[at], known.domain))
        self._join(parts)
        if read is not None:
            self.uncut += tuple(np.flatnonzero(~np.isin(self.features, list(read))).tolist())


def has_every_cut(
    axis_map: AxisMap, table: Floats, mapped: Floats, codes: Collection[int], but: Collection[int]
) -> bool:
    """Return whether each cut of the rows of a table, as rules make it, is a cut of one of the columns of a map.

    Rules cut numbers at thresholds. They take any set of codes; and of numbers that a map puts in another order. A
    column that the map does not read is one that rules could cut, too.

    IN: table (n, d): rows without gaps; mapped (n, n_columns): their images; codes: columns of the table that hold
    codes; but: columns of the table that no rule may use.
    """
    may_cut = ~np.isin(np.arange(axis_map.n_columns), axis_map.uncut)
    for j in set(range(axis_map.n_features)) - set(but):
        columns, (_, first) = may_cut & (axis_map.features == j), np.unique(table[:, j], return_index=True)
        if not columns.any() or not _parts_all(mapped[first][:, columns], j in codes):
            return False
    return True


def _parts_all(images: Floats, are_codes: bool) -> bool:
    """Return whether values are parted in every way by some column; IN: images (n_values, n_columns), in order."""
    n, steps = len(images), np.diff(images, axis=0)
    if not are_codes and ((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)).all():
        return bool((steps != 0).any(axis=1).all())
    if 1 << (n - 1) > n * images.shape[1] + 1:  # a column parts values in fewer ways than there are values
        return False
    below = (column <= value for column in images.T for value in np.unique(column)[:-1])
    return len({tuple((each == each[0]).tolist()) for each in below}) == (1 << (n - 1)) - 1


def _on_both_sides(x: Floats, kept: Bools) -> _Part:
    return _NumberOnBothSides(x[kept]) if np.isposinf(x).any() else _Number(x, 1.0)


def _sets(codes: Indices, n_codes: int) -> Floats:
    """Return whether each code is in each set, shape (n_codes, n_sets); of a set and its complement only one is there.

    A set is one of at most half of the codes that occur. Where only one occurs, the one column holds zeros.
    """
    present = np.unique(codes).astype(np.intp).tolist()
    sets = [each for size in range(1, len(present) // 2 + 1) for each in combinations(present, size)]
    sets = [each for each in sets if 2 * len(each) < len(present) or each[0] == present[0]]
    images = np.zeros((n_codes, max(len(sets), 1)))
    for column, each in enumerate(sets):
        images[list(each), column] = 1.0
    return images


class _NumberOnBothSides:
    """A number with gaps, twice: with missing ones above all others, and with missing ones below."""

    n_columns, domain = 2, EVERYTHING

    def __init__(self, x: Floats) -> None:
        known = x[~np.isposinf(x)]
        self.least, self.most = float(known.min()), float(known.max())
        self.gap = (float(np.nextafter(self.most, np.inf)), float(np.nextafter(self.least, -np.inf)))

    def write(self, x: Floats, out: Floats) -> None:
        lacks, inside = np.isposinf(x), np.clip(x, self.least, self.most)
        for column, gap in enumerate(self.gap):
            out[:, column] = np.where(lacks, gap, inside)

    def pull_back(self, column: int, lower: float, upper: float) -> Intervals:
        found = [MISSING] if lower <= self.gap[column] <= upper else []
        low = -np.inf if lower <= self.least else lower
        high = LARGEST if upper >= self.most else upper
        if low <= high and lower <= self.most and upper >= self.least:
            found = [(low, high), *found]
        return join_intervals(found)
