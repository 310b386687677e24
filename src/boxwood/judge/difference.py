"""Two sets of rules compared: which rows go from where to where, as boxes, and how many rows of a table do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from boxwood.explanation.records import Rule
from boxwood.judge.as_records import rule_of_box
from boxwood.judge.boxes import CellBox, meet
from boxwood.judge.rows import Table, names_of_rows
from boxwood.judge.rules import RuleSet
from boxwood.judge.shorten import regions
from boxwood.judge.space import Space

MOST_BOXES_TOLD = 8  # of the rows that go from one name to another


class Moves(NamedTuple):
    """Rows that get another name by other rules.

    Parameters
    ----------
    before, now : str, int, float, bool or None
        What they got, and what they get.
    rules : tuple of Rule
        Which rows; one of the rules holds for each.
    rows : int or None
        How many rows of the table; None without one.
    is_whole : bool
        Whether `rules` has all such rows.
    """

    before: Any
    now: Any
    rules: tuple[Rule, ...]
    rows: int | None
    is_whole: bool


@dataclass(frozen=True)
class Differences:
    """The fields of `Difference`, which says what they are."""

    moves: tuple[Moves, ...]
    n_rows: int | None = None


def differences(old: RuleSet, new: RuleSet, table: Table | None) -> Differences:
    """Return what becomes of rows where new rules replace old ones; rows that no table has, too."""
    space = Space([branch.condition for rules in (old, new) for branch in rules.branches])
    found: dict[tuple[Any, Any], list[tuple[CellBox, bool]]] = {}
    for pair, box, is_last in _boxes(space, old, new):
        found.setdefault(pair, []).append((box, is_last))
    counts = Counter[tuple[Any, Any]]()
    if table is not None:
        names = (names_of_rows(rules, table).tolist() for rules in (old, new))
        for before, now, n in zip(*names, table.counts.tolist(), strict=True):
            counts[_key(before), _key(now)] += n
    moves = [
        Moves(
            before[1],
            now[1],
            tuple(rule_of_box(space, box) for box, _ in boxes[:MOST_BOXES_TOLD]),
            None if table is None else counts[before, now],
            len(boxes) <= MOST_BOXES_TOLD and not any(is_last for _, is_last in boxes),
        )
        for (before, now), boxes in found.items()
    ]
    moves.sort(key=lambda one: -(one.rows or 0))
    return Differences(tuple(moves), None if table is None else table.n_rows)


def _key(name: Any) -> tuple[type, Any]:
    return type(name), name


def _boxes(space: Space, old: RuleSet, new: RuleSet) -> Iterator[tuple[tuple[Any, Any], CellBox, bool]]:
    """Yield boxes of rows that get another name, with both names, and whether there are more that are not told."""
    for before, boxes, earlier in regions(space, old):
        for now, others, earlier_too in regions(space, new):
            if _key(before) == _key(now):
                continue
            taken = [*earlier, *earlier_too]
            both = [box for one in boxes for other in others if (box := meet(one, other)) is not None]
            for box, is_last in _parts(space, both, taken):
                yield (_key(before), _key(now)), box, is_last


def _parts(space: Space, boxes: list[CellBox], taken: list[CellBox]) -> Iterator[tuple[CellBox, bool]]:
    """Yield large boxes of the rows that are in some boxes and not taken, and whether there are more than so many."""
    found: list[CellBox] = []
    order = [*space.columns][::-1]
    for one in boxes:
        while (box := space.search.outside(one, [*taken, *found])) is not None:
            large = meet(space.search.grow(box, taken, order), one)
            assert large is not None
            found.append(large)
            yield large, len(found) > MOST_BOXES_TOLD
            if len(found) > MOST_BOXES_TOLD:
                return
