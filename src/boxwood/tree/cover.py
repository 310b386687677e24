"""A cover of the leaves of one cluster by few boxes with the same union, for shorter descriptions; sets of intervals.

Ends of the boxes part each column into pieces, and a box is a set of pieces of each column: one bit for each piece. A
box may grow as long as it meets no box of another cluster, so nothing has to be compared with the union itself.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from boxwood.tree.boxes import Box, Interval

MOST_CELLS = 4096  # a union with more cells in its grid is covered greedily
MOST_BOXES = 64  # so is a union with more maximal boxes
MOST_STEPS = 10_000  # of the search for the cheapest cover; after them the best so far is taken
MOST_LEAVES = 1000  # trees with more leaves are left as they are

_Masks: TypeAlias = tuple[int, ...]
"""A box: for each axis the set of its pieces, as bits."""


_Cut: TypeAlias = tuple[float, bool]
"""A position just below a value, or, with True, just above it."""


class _Axis(NamedTuple):
    """A column and its pieces: intervals, ascending; or the codes of categories, of which any set may be chosen.

    Piece i begins at `starts[i]` and stops at `stops[i]`.
    """

    feature: int
    starts: tuple[_Cut, ...]
    stops: tuple[_Cut, ...]
    is_coded: bool
    has_gaps: bool = False

    @property
    def full(self) -> int:
        return (1 << len(self.starts)) - 1

    def mask(self, box: Box) -> int:
        """Return the pieces that a box intersects."""
        allowed = box.get(self.feature)
        if allowed is None:
            return self.full
        mask = 0
        for interval in allowed:
            start, stop = _cuts(interval)
            first, end = bisect_right(self.stops, start), bisect_left(self.starts, stop)
            mask |= (1 << max(first, end)) - (1 << first)
        return mask

    def runs(self, mask: int) -> list[int]:
        """Return the subsets of a set that one condition can express: runs of neighbours, or any set of codes."""
        return [mask] * (mask > 0) if self.is_coded else _runs(mask)

    def price(self, mask: int) -> int:
        """Return the number of comparisons that test whether a value is in the set."""
        if mask == self.full:
            return 0
        if self.is_coded:
            return 1
        last = mask >> (len(self.starts) - 1)
        if self.has_gaps:
            return self._price_with_gaps(mask, last)
        ends = 2 * len(_runs(mask))
        return ends - (mask & 1) - last

    def _price_with_gaps(self, mask: int, last: int) -> int:
        """Return the price where the last value is a missing one: it costs one more than the numbers beside it."""
        if self.starts[-1][0] < sys.float_info.max:  # the last piece has numbers, too
            return 2 * len(_runs(mask)) - (mask & 1)
        n = len(self.starts) - 1
        numbers = mask & ((1 << n) - 1)
        if numbers == (1 << n) - 1:
            return 1
        ends = 2 * len(_runs(numbers))
        return ends - (numbers & 1) - (numbers >> (n - 1)) + last

    def intervals(self, mask: int) -> tuple[Interval, ...]:
        """Return the set as intervals."""
        runs = [1 << i for i in _bits(mask)] if self.is_coded else _runs(mask)
        return tuple(_interval(self.starts[_bits(run)[0]], self.stops[_bits(run)[-1]]) for run in runs)


class Covers:
    """Covers of the clusters of one tree, which share what is known of its leaves.

    Parameters
    ----------
    leaves : sequence of Box
        The leaves of the tree, which may overlap.
    domains : mapping from column to Intervals
        Codes of columns of categories.
    gaps : collection of int, default=()
        Columns of numbers in which +inf stands for a missing value, which is said besides.
    """

    def __init__(self, leaves: Sequence[Box], domains: Mapping[int, Intervals], gaps: Collection[int] = ()) -> None:
        self.leaves, self.gaps = leaves, gaps
        self.coded = {feature: _of_codes(feature, domain, feature in gaps) for feature, domain in domains.items()}
        self.codes = [{j: self.coded[j].mask(leaf) for j in leaf if j in self.coded} for leaf in leaves]

    def of(self, own: Sequence[int]) -> list[Box]:
        """Return few boxes with the union of some leaves, by their numbers; the cheapest first.

        A box costs one for each finite end of its intervals, and one for each restricted column of codes. The result is
        the cheapest cover by boxes of one interval in each column, and among those one of fewest boxes, if the ends of
        the leaves make at most 4096 cells, if the union has at most 64 maximal boxes, and if the search takes at most
        10 000 steps. Otherwise boxes are widened one by one, and those that others make superfluous are dropped. Boxes
        that differ in one of several columns then become one with several intervals. If this is not cheaper, the leaves
        stay as they are, and so they do in a tree of more than 1000 leaves.

        Returns
        -------
        list of Box
            Columns are in the order of the first of the leaves that a box meets. A box that holds nothing is left out;
            so the list is empty if there is nothing to cover.
        """
        boxes, is_own = [self.leaves[i] for i in own], set(own)
        axes = [
            self.coded[feature] if feature in self.coded else _of_ends(feature, boxes, feature in self.gaps)
            for feature in sorted({feature for box in boxes for feature in box})
        ]
        masks = {i: self._masks(axes, place) for i, place in enumerate(own)}
        wanted = {i: box for i, box in masks.items() if all(box)}
        if not wanted or len(self.leaves) > MOST_LEAVES:
            return [boxes[i] for i in wanted]
        inside = list(wanted.values())
        met = {self._masks(axes, place) for place in range(len(self.leaves)) if place not in is_own}
        outside = sorted(box for box in met if all(box))
        covers = [_cheapest(axes, inside, outside), _widen_boxes(axes, inside, outside), inside]
        merged = [
            _merge_boxes(axes, _narrow_boxes(axes, candidate, inside)) for candidate in covers if candidate is not None
        ]
        chosen = min(merged, key=lambda candidate: (sum(_price(axes, box) for box in candidate), len(candidate)))
        first = {box: next(i for i, other_box in wanted.items() if _meet(other_box, box)) for box in chosen}
        return [
            _as_box(axes, box, boxes[first[box]])
            for box in sorted(chosen, key=lambda box: (_price(axes, box), first[box], box))
        ]

    def _masks(self, axes: Sequence[_Axis], place: int) -> _Masks:
        leaf, codes = self.leaves[place], self.codes[place]
        return tuple(
            codes.get(axis.feature, axis.full) if axis.feature in self.coded else axis.mask(leaf) for axis in axes
        )


def _of_codes(feature: int, domain: Intervals, has_gaps: bool) -> _Axis:
    """Return a column of categories, with a piece for each code."""
    starts, stops = tuple((low, False) for low, _ in domain), tuple((high, True) for _, high in domain)
    return _Axis(feature, starts, stops, True, has_gaps)


def _of_ends(feature: int, boxes: Sequence[Box], has_gaps: bool) -> _Axis:
    """Return a column of numbers, with the pieces between the ends of some boxes."""
    ends = {cut for box in boxes for interval in box.get(feature, ()) for cut in _cuts(interval)}
    *starts, last = sorted(ends | {(-math.inf, False), (math.inf, True)})
    return _Axis(feature, tuple(starts), (*starts[1:], last), False, has_gaps)


def _cuts(interval: Interval) -> tuple[_Cut, _Cut]:
    return (interval.lower, not interval.lower_closed), (interval.upper, interval.upper_closed)


def _interval(start: _Cut, stop: _Cut) -> Interval:
    return Interval(start[0], stop[0], not start[1], stop[1])


def _as_box(axes: Sequence[_Axis], masks: _Masks, first: Box) -> Box:
    """Return a box with its columns in the order of another box, then ascending."""
    box = {axis.feature: axis.intervals(mask) for axis, mask in zip(axes, masks, strict=True) if mask != axis.full}
    return {feature: box[feature] for feature in [*first, *sorted(box.keys() - first.keys())] if feature in box}


def _price(axes: Sequence[_Axis], box: _Masks) -> int:
    return sum(axis.price(mask) for axis, mask in zip(axes, box, strict=True))


def _meet(box: _Masks, other: _Masks) -> bool:
    return all(a & b for a, b in zip(box, other, strict=True))


def _within(box: _Masks, other: _Masks) -> bool:
    return all(a & ~b == 0 for a, b in zip(box, other, strict=True))


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _runs(mask: int) -> list[int]:
    """Return the runs of neighbouring bits, ascending.

    Adding the lowest bit carries through the lowest run.
    """
    runs = []
    while mask:
        rest = mask & (mask + (mask & -mask))
        runs.append(mask ^ rest)
        mask = rest
    return runs


# ------------------------------------------------------------------------------------------- the cheapest cover
def _cheapest(axes: Sequence[_Axis], inside: Sequence[_Masks], outside: Sequence[_Masks]) -> list[_Masks] | None:
    """Return the cheapest boxes that cover the union; None if there are too many candidates.

    A larger box costs no more, so maximal boxes suffice.
    """
    if math.prod(len(axis.starts) for axis in axes) > MOST_CELLS:
        return None
    maximal = _maximal(axes, outside)
    if maximal is None:
        return None
    maximal.sort(key=lambda box: (_price(axes, box), box))
    cells = [_cells(axes, box) for box in maximal]
    union = 0
    for box in inside:
        union |= _cells(axes, box)
    return [maximal[i] for i in _search(cells, [_price(axes, box) for box in maximal], union)]


def _maximal(axes: Sequence[_Axis], outside: Sequence[_Masks]) -> list[_Masks] | None:
    """Return all maximal boxes that intersect no outside box; None if they are too many.

    The outside boxes are excluded one after another: boxes that intersect one are cut back on one side, in one column.
    """
    maximal = [tuple(axis.full for axis in axes)]
    for out in outside:
        apart = [box for box in maximal if not _meet(box, out)]
        rests = {rest for box in maximal if _meet(box, out) for rest in _giving_way(axes, box, out)}
        rivals = [*apart, *rests]
        maximal = apart + sorted(
            rest for rest in rests if not any(rest != rival and _within(rest, rival) for rival in rivals)
        )
        if len(maximal) > MOST_BOXES:
            return None
    return maximal


def _giving_way(axes: Sequence[_Axis], box: _Masks, out: _Masks) -> Iterator[_Masks]:
    for i, axis in enumerate(axes):
        for rest in axis.runs(box[i] & ~out[i]):
            yield (*box[:i], rest, *box[i + 1 :])


def _cells(axes: Sequence[_Axis], box: _Masks) -> int:
    """Return the cells of the grid of all pieces that are in a box, as bits."""
    cells, width = 1, 1
    for axis, mask in zip(axes, box, strict=True):
        cells = sum(cells << (width * i) for i in _bits(mask))
        width *= len(axis.starts)
    return cells


def _search(cells: Sequence[int], prices: Sequence[int], union: int) -> tuple[int, ...]:
    """Return the boxes of the cheapest cover of a union; of equal covers the one with fewest boxes, then the first.

    Branches on the boxes that cover the hardest cell: the one in the fewest boxes.
    """
    best: tuple[int, int, tuple[int, ...]] = (sum(prices) + 2, 0, ())
    stack: list[tuple[int, int, tuple[int, ...]]] = [(union, 0, ())]
    holders = {cell: [i for i, box in enumerate(cells) if box >> cell & 1] for cell in _bits(union)}
    hardest = sorted(holders, key=lambda cell: (len(holders[cell]), cell))
    steps = 0
    while stack and (steps < MOST_STEPS or not best[2]):
        left, price, chosen = stack.pop()
        steps += 1
        if not left:
            best = min(best, (price, len(chosen), chosen), key=lambda result: result[:2])
        elif (price + 1, len(chosen) + 1) < best[:2]:
            cell = next(cell for cell in hardest if left >> cell & 1)
            stack += [(left & ~cells[i], price + prices[i], (*chosen, i)) for i in reversed(holders[cell])]
    return best[2]


# ------------------------------------------------------------------------------------------------ greedy covers
def _widen_boxes(axes: Sequence[_Axis], inside: Sequence[_Masks], outside: Sequence[_Masks]) -> list[_Masks]:
    """Return the boxes widened until they would intersect an outside box, without superfluous ones."""
    wide = sorted({_widest(axes, box, outside) for box in inside}, key=lambda box: (_price(axes, box), box))
    covered = {box: {i for i, other in enumerate(inside) if _within(other, box)} for box in wide}
    chosen: list[_Masks] = []
    left = set(range(len(inside)))
    while left:
        chosen.append(max(wide, key=lambda box: len(covered[box] & left)))  # the cheapest of those that cover the most
        left -= covered[chosen[-1]]
    for box in reversed(chosen.copy()):
        rest = [other for other in chosen if other != box]
        if set().union(*(covered[other] for other in rest)) == set(range(len(inside))):
            chosen = rest
    return chosen


def _widest(axes: Sequence[_Axis], box: _Masks, outside: Sequence[_Masks]) -> _Masks:
    """Return a maximal box around a box; columns that exclude few outside boxes are widened first."""
    # for each outside box the columns that exclude it, as bits
    apart = [sum(1 << i for i, mask in enumerate(box) if not out[i] & mask) for out in outside]
    kept_out = [sum(columns >> i & 1 for columns in apart) for i in range(len(axes))]
    wide = list(box)
    for i in sorted(range(len(axes)), key=lambda i: (kept_out[i], i)):
        forbidden = 0
        for columns, out in zip(apart, outside, strict=True):
            if columns in (0, 1 << i):
                forbidden |= out[i]
        wide[i] = sum(run for run in axes[i].runs(axes[i].full & ~forbidden) if run & wide[i])
        apart = [c & ~(1 << i) if out[i] & wide[i] else c for c, out in zip(apart, outside, strict=True)]
    return tuple(wide)


def _narrow_boxes(axes: Sequence[_Axis], boxes: Sequence[_Masks], inside: Sequence[_Masks]) -> list[_Masks]:
    """Return the boxes with fewer codes where those of one inside box suffice, as rules in words list all codes."""
    narrowed = list(boxes)
    for k, box in enumerate(boxes):
        for i in (i for i, axis in enumerate(axes) if axis.is_coded and box[i] != axis.full):
            smaller = {other_box[i] for other_box in inside if other_box[i] & ~box[i] == 0} - {box[i]}
            for mask in sorted(smaller, key=lambda mask: (mask.bit_count(), mask)):
                tried = (*narrowed[k][:i], mask, *narrowed[k][i + 1 :])
                rest = [tried, *narrowed[:k], *narrowed[k + 1 :]]
                if all(any(_within(other_box, other) for other in rest) for other_box in inside):
                    narrowed[k] = tried
                    break
    for k in range(len(narrowed)):
        for i in (i for i, axis in enumerate(axes) if axis.has_gaps and narrowed[k][i] != axis.full):
            narrowed[k] = _without_needless(axes[i], i, narrowed[k], narrowed[:k] + narrowed[k + 1 :], inside)
    return narrowed


def _without_needless(axis: _Axis, i: int, box: _Masks, rest: Sequence[_Masks], inside: Sequence[_Masks]) -> _Masks:
    """Return a box with only those values of a column with gaps that no other box has, where that is cheaper."""
    needed = 0
    for other in inside:
        if _within(other, box) and not any(_within(other, each) for each in rest):
            needed |= other[i]
    return (*box[:i], needed, *box[i + 1 :]) if needed and axis.price(needed) < axis.price(box[i]) else box


def _merge_boxes(axes: Sequence[_Axis], boxes: Sequence[_Masks]) -> list[_Masks]:
    """Return the boxes, with boxes merged that share a condition and differ in one column only."""
    merged = list(boxes)
    for i in range(len(axes)):
        groups: dict[_Masks, _Masks] = {}
        for box in merged:
            same = (*box[:i], 0, *box[i + 1 :])
            shares = any(mask not in (0, axis.full) for axis, mask in zip(axes, same, strict=True))
            key = same if shares else box
            groups[key] = (*box[:i], groups.get(key, box)[i] | box[i], *box[i + 1 :])
        merged = list(groups.values())
    return merged


Intervals: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs (lower, upper) of closed intervals. An end may be infinite, and then the infinite value belongs to the set."""

EVERYTHING: Intervals = ((-math.inf, math.inf),)
MISSING = (math.inf, math.inf)
"""A missing number, as a value: tables are finite, so the point at infinity is free, and lies outside of `x <= b`."""


def join_intervals(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """Return the union of closed intervals, given in any order. Intervals that touch become one.

    Examples
    --------
    >>> join_intervals([(3.0, 4.0), (0.0, 1.0), (1.0, 2.0)])
    ((0.0, 2.0), (3.0, 4.0))
    """
    result: list[tuple[float, float]] = []
    for lower, upper in sorted(intervals):
        if result and lower <= math.nextafter(result[-1][1], math.inf):
            result[-1] = (result[-1][0], max(result[-1][1], upper))
        else:
            result.append((lower, upper))
    return tuple(result)


def intersection(first: Intervals, second: Intervals) -> Intervals:
    """Return the intersection of two sets of intervals, in time linear in their lengths."""
    result, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        lower, upper = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if lower <= upper:
            result.append((lower, upper))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(result)


def complement(intervals: Intervals) -> Intervals:
    """Return the complement of a set of intervals among the doubles.

    Examples
    --------
    >>> complement(((-math.inf, -5e-324), (5e-324, math.inf)))
    ((0.0, 0.0),)
    """
    result, start = [], -math.inf
    for lower, upper in intervals:
        if lower > start:
            result.append((start, math.nextafter(lower, -math.inf) + 0.0))
        if upper == math.inf:
            return tuple(result)
        start = math.nextafter(upper, math.inf) + 0.0
    return (*result, (start, math.inf))
