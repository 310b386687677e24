"""The columns of a table as one-line rules see them: what a condition may ask for, and where each row stands."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.axes import Categories
from boxwood.tree import ThresholdTree, TreeBuilder
from boxwood.tree.shorten import between

LARGEST = sys.float_info.max


class LineColumn(NamedTuple):
    """What conditions on a column may ask for: an interval of numbers, a set of codes, or both.

    Parameters
    ----------
    feature : int
        Column of the table. A column of numbers, or of categories in an order, that lacks values stands twice: once
        with intervals, and once for the question whether there is a value.
    numbers : array of shape (n_numbers,)
        Different numbers, ascending, or codes of categories in their order. Both ends of an interval are among them.
    codes : array of shape (n_codes,)
        Codes that a set holds or not. Plus infinity is a missing number, minus infinity any value that is there.
    places : array of shape (n_rows,)
        Of each row: the place of its number, or behind all of these that of its code.
    n_known : int, default=None
        Number of categories, whose codes the table has in this column; None for numbers.
    """

    feature: int
    numbers: Floats
    codes: Floats
    places: Indices
    n_known: int | None = None

    def positions(self, is_end: Bools) -> tuple[Indices, int]:
        """Return the position of each row, as loops have it, and how many positions intervals have.

        IN: is_end (n_numbers,): the numbers at which intervals end; they have odd positions.
        """
        up_to = np.cumsum(is_end)
        n_positions = 2 * int(up_to[-1]) + 1 if len(up_to) else 0
        of_places = np.concatenate([2 * up_to - is_end, n_positions + np.arange(len(self.codes))])
        return of_places[self.places], n_positions


def line_columns(
    table: Floats, features: Collection[int], categories: Mapping[int, Categories], gaps: Collection[int]
) -> list[LineColumn]:
    """Return the columns of a table on which a condition parts rows, those of `features` in their order.

    Where there is none, it is one of a single value: the one rule on it is every row.
    """
    found = [one for j in features for one in _of_feature(j, table[:, j], categories.get(j), j in gaps)]
    return [one for one in found if len(one.numbers) + len(one.codes) > 1] or found[:1]


def _of_feature(j: int, x: Floats, known: Categories | None, has_gaps: bool) -> list[LineColumn]:
    if known is not None and not known.ordered:
        codes, places = np.unique(x, return_inverse=True)
        return [LineColumn(j, np.empty(0), codes, places.reshape(-1), known.known)]
    n_known = None if known is None else known.known
    beside = np.isposinf(x) & has_gaps if n_known is None else x >= n_known
    numbers, codes = np.unique(x[~beside]), np.unique(x[beside])
    of_codes = np.searchsorted(codes, x)
    if not len(codes):
        return [LineColumn(j, numbers, codes, np.searchsorted(numbers, x), n_known)]
    is_there = LineColumn(j, np.empty(0), np.append(-np.inf, codes), np.where(beside, 1 + of_codes, 0), n_known)
    places = np.where(beside, len(numbers) + of_codes, np.searchsorted(numbers, x))
    return [LineColumn(j, numbers, codes, places, n_known), is_there] if len(numbers) else []


class Asked(NamedTuple):
    """What a rule asks of a column: places of numbers from `first` to `last`, None for no end, and codes.

    Always holds: `codes` are places behind those of numbers. Without an interval `first` is behind `last`.
    """

    column: LineColumn
    first: int | None
    last: int | None
    codes: tuple[int, ...]

    def holds(self) -> Bools:
        """Return whether each row fulfils it."""
        places, n_numbers = self.column.places, len(self.column.numbers)
        first = 0 if self.first is None else self.first
        last = n_numbers - 1 if self.last is None else self.last
        return ((places >= first) & (places <= last) & (places < n_numbers)) | np.isin(places, self.codes)

    def without(self, codes: Collection[int]) -> Asked:
        """Return it without some codes."""
        return self._replace(codes=tuple(code for code in self.codes if code not in {*codes}))


def without_needless(asked: Sequence[Asked]) -> list[Asked]:
    """Return a rule without the conditions and the ends that part no row from those which fulfil all else that it asks.

    It holds the same rows.
    """
    kept = list(asked)
    for one in asked:
        i = next(i for i, other in enumerate(kept) if other is one)
        inside = np.logical_and.reduce(
            [other.holds() for other in kept if other is not one] or [one.column.places >= 0]
        )
        if one.holds()[inside].all():
            del kept[i]
        elif one.first is not None and one.last is not None and one.first <= one.last:
            places, n_numbers = one.column.places[inside], len(one.column.numbers)
            places = places[places < n_numbers]
            first = one.first if places.min(initial=n_numbers) < one.first else None
            kept[i] = one._replace(first=first, last=one.last if places.max(initial=-1) > one.last else None)
    return kept


def rare_categories(one: Asked, few: int) -> list[int]:
    """Return the codes of a condition that fewer than `few` rows have, where it is a set and has others, too."""
    column = one.column
    if column.n_known is None or len(column.numbers):
        return []
    rows = np.bincount(column.places, minlength=len(column.codes))
    rare = [code for code in one.codes if rows[code] < few]
    return rare if len(rare) < len(one.codes) else []


def as_tree(asked: Sequence[Asked]) -> ThresholdTree:
    """Return the rule as a chain of cuts, whose last leaf has cluster 1, and all others 0."""
    builder, node = TreeBuilder(), 0
    for one in asked:
        for cut in _cuts(one):
            if cut.codes:
                inside, outside = builder.split_set(node, one.column.feature, cut.codes)
            else:
                inside, outside = builder.split(node, one.column.feature, cut.upper, cut.lower)
            node, other = (inside, outside) if cut.is_inside else (outside, inside)
            builder.label(other, 0)
    builder.label(node, 1)
    return builder.build()


class _Cut(NamedTuple):
    """A cut that a rule passes, and whether its rows are inside."""

    is_inside: bool
    upper: float = LARGEST
    lower: float = -np.inf
    codes: Sequence[int] = ()


def _cuts(one: Asked) -> list[_Cut]:
    """Return the cuts of a condition. Without other bounds, a cut up to the largest number parts off missing ones."""
    numbers, codes = one.column.numbers, one.column.codes
    if one.column.n_known is not None:
        return [_Cut(True, codes=_codes(one))]
    takes_missing = len(numbers) + len(codes) - 1 in one.codes
    if not len(numbers):
        return [_Cut(not takes_missing)]
    low, high = (_threshold(numbers, end) for end in (one.first, None if one.last is None else one.last + 1))
    cuts = [] if low is None else [_Cut(False, low)]
    if takes_missing and high is not None:
        return [*cuts, _Cut(False, LARGEST, float(np.nextafter(high, np.inf)))]
    return (
        cuts
        if high is None and (takes_missing or not len(codes))
        else [*cuts, _Cut(True, LARGEST if high is None else high)]
    )


def _codes(one: Asked) -> list[int]:
    """Return the codes of categories that fulfil a condition: between two in an order also those without rows."""
    numbers, codes = one.column.numbers, [one.column.codes[place - len(one.column.numbers)] for place in one.codes]
    first = 0 if one.first is None else one.first
    last = len(numbers) - 1 if one.last is None else one.last
    run = range(int(numbers[first]), int(numbers[last]) + 1) if first <= last else ()
    known = range(one.column.n_known or 0) if -np.inf in codes else run
    return [*known, *(int(code) for code in codes if code > -np.inf)]


def _threshold(numbers: Floats, place: int | None) -> float | None:
    """Return a threshold before the number at a place; None where all numbers are on one side."""
    if place is None or not 0 < place < len(numbers):
        return None
    return float(between(numbers[place - 1], numbers[place]))
