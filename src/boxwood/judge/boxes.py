"""Sets of rows as boxes of cells: whether some rows are in one and not in others, and where.

A column has finitely many cells, and all values in a cell fulfil the same tests. A set of cells of a column is a whole
number, whose bits are the cells. A box allows such a set in each of some columns, and any value in all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from boxwood.errors import DataError

CellBox: TypeAlias = dict[str, int]
"""For each restricted column the allowed cells."""

MOST_BOXES = 500
MOST_PAIRS = 10_000
MOST_STEPS = 50_000
_TOO_MANY = f"the conditions have more than {MOST_BOXES:,} alternatives; write fewer of them, or several rule sets"
_TOO_LONG = "the rules overlap in too many ways to be judged; write fewer branches, or several rule sets"


def meet(first: CellBox, second: CellBox) -> CellBox | None:
    """Return the rows that are in both boxes, None if no row is."""
    both = dict(first)
    for name, cells in second.items():
        both[name] = both.get(name, -1) & cells
        if not both[name]:
            return None
    return both


def all_of(sets: Iterable[Sequence[CellBox]]) -> list[CellBox]:
    """Return the boxes of the rows that are in all of some sets."""
    found: list[CellBox] = [{}]
    for boxes in sets:
        if len(found) * len(boxes) > MOST_PAIRS:
            raise DataError(_TOO_MANY)
        pairs = (meet(one, other) for one in found for other in boxes)
        found = union(box for box in pairs if box is not None)
    return found


def union(boxes: Iterable[CellBox]) -> list[CellBox]:
    """Return the boxes of all rows that are in some box, without those that lie in another.

    Boxes that differ in one column alone become one.
    """
    found: list[CellBox] = []
    for box in boxes:
        _add(found, box)
        if len(found) > MOST_BOXES:
            raise DataError(_TOO_MANY)
    return found


def _add(found: list[CellBox], box: CellBox) -> None:
    i = 0
    while i < len(found):
        if is_within(box, found[i]):
            return
        merged = _merge_boxes(box, found[i])
        if merged is None:
            i += 1
        else:
            del found[i]
            box, i = merged, 0
    found.append(box)


def _merge_boxes(first: CellBox, second: CellBox) -> CellBox | None:
    if is_within(second, first):
        return first
    if first.keys() != second.keys():
        return None
    differ = [name for name in first if first[name] != second[name]]
    return {**first, differ[0]: first[differ[0]] | second[differ[0]]} if len(differ) == 1 else None


def is_within(box: CellBox, other: CellBox) -> bool:
    """Return whether all rows of a box are in another."""
    return all(name in box and not box[name] & ~cells for name, cells in other.items())


class Search:
    """The search for rows; IN: full: all cells of each column."""

    def __init__(self, full: Mapping[str, int]):
        self.full = full
        self._steps = 0

    def outside(self, box: CellBox, others: Iterable[CellBox]) -> CellBox | None:
        """Return a box of rows that are in a box and in none of some others, None if there are no such rows.

        Raises
        ------
        DataError
            If it takes too long to find out.
        """
        self._steps = 0
        stack = [(box, list(others))]
        while stack:
            box, left = stack.pop()
            rest = self._cut(dict(box), left)
            if rest is None:
                continue
            box, left = rest
            if not left:
                return box
            stack += self._parts(box, left)
        return None

    def any_outside(self, boxes: Iterable[CellBox], others: Sequence[CellBox]) -> CellBox | None:
        """Return a box of rows that are in one of some boxes and in none of others, None if there are none."""
        return next((found for box in boxes if (found := self.outside(box, others)) is not None), None)

    def grow(self, box: CellBox, others: Sequence[CellBox], order: Sequence[str]) -> CellBox:
        """Return as large a box around a box as has no row of some others; IN: order: of columns, the freest first."""
        for name in order:
            if name not in box:
                continue
            wide = {key: cells for key, cells in box.items() if key != name}
            hit = 0
            for other in others:
                if meet(wide, {key: cells for key, cells in other.items() if key != name}) is not None:
                    hit |= other.get(name, self.full[name])
            box = wide if not hit else {**box, name: self.full[name] & ~hit}
        return box

    def _cut(self, box: CellBox, others: list[CellBox]) -> tuple[CellBox, list[CellBox]] | None:
        """Return a box without what others cover of it in one column, and the others that still meet it."""
        again = True
        while again:
            again, left = False, []
            for other in others:
                self._count()
                beyond = self._beyond(box, other)
                if beyond is None:
                    continue
                if not beyond:
                    return None
                if len(beyond) == 1:
                    box[beyond[0]] = box.get(beyond[0], self.full[beyond[0]]) & ~other[beyond[0]]
                    again = True
                else:
                    left.append(other)
            others = left
        return box, others

    def _beyond(self, box: CellBox, other: CellBox) -> list[str] | None:
        """Return the columns in which a box has cells that another lacks; None if no row is in both."""
        beyond = []
        for name, cells in other.items():
            own = box.get(name, self.full[name])
            if not own & cells:
                return None
            if own & ~cells:
                beyond.append(name)
        return beyond

    def _parts(self, box: CellBox, others: list[CellBox]) -> list[tuple[CellBox, list[CellBox]]]:
        """Return disjoint parts of a box that together lack one of some others."""
        beyond = {i: self._beyond(box, other) or [] for i, other in enumerate(others)}
        i = min(beyond, key=lambda i: len(beyond[i]))
        rest, parts = [*others[:i], *others[i + 1 :]], []
        inside = dict(box)
        for name in beyond[i]:
            own = box.get(name, self.full[name])
            parts.append(({**inside, name: own & ~others[i][name]}, rest))
            inside[name] = own & others[i][name]
        return parts[::-1]

    def _count(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise DataError(_TOO_LONG)
