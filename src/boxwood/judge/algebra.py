"""What is found in rules without a table: exact, as all values that tests tell apart are looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from boxwood._dates import Dates
from boxwood.judge.as_records import condition_of_cells, rule_of_box
from boxwood.judge.boxes import CellBox, meet
from boxwood.judge.conditions import All, Condition, Some, parts_of, tests_in, truth_of, with_tests
from boxwood.judge.findings import Finding, Level, NamedBranch
from boxwood.judge.rules import RuleSet
from boxwood.judge.space import Column
from boxwood.judge.values import OTHER_WORD, Moment, Test

MOST_REST = 8  # boxes of rows that no branch takes, which are told


class Judged:
    """Rules with the boxes in which each branch holds."""

    def __init__(self, rules: RuleSet):
        self.rules, self.space = rules, rules._space
        self.holds = [self.space.boxes(branch.condition) for branch in rules.branches]

    def before(self, i: int) -> list[CellBox]:
        """Return the boxes of all branches before one."""
        return [box for boxes in self.holds[:i] for box in boxes]

    @cached_property
    def all_boxes(self) -> list[CellBox]:
        """The boxes of all branches."""
        return self.before(len(self.holds))

    @cached_property
    def reachable(self) -> list[CellBox | None]:
        """For each branch a box of rows that it takes; None if there are none."""
        return [self.space.search.any_outside(boxes, self.before(i)) for i, boxes in enumerate(self.holds)]

    def named(self, i: int) -> NamedBranch:
        """Return a branch as findings name it; -1 is ELSE."""
        if i < 0:
            return NamedBranch(0, self.rules.otherwise)
        branch = self.rules.branches[i]
        return NamedBranch(i + 1, branch.name, branch.place.line)

    def witness(self, box: CellBox) -> dict[str, Any]:
        """Return a row of a box, with values as a table has them."""
        return {name: _as_in_table(value) for name, value in self.space.row(box).items()}

    @cached_property
    def rest(self) -> tuple[list[CellBox], bool]:
        """Boxes of the rows that no branch takes, as large as they can be, and whether these are all such rows."""
        found: list[CellBox] = []
        order = [*self.space.columns][::-1]
        while len(found) < MOST_REST:
            box = self.space.search.outside({}, [*self.all_boxes, *found])
            if box is None:
                return found, True
            found.append(self.space.search.grow(box, self.all_boxes, order))
        return found, False

    def taken_by(self, row: dict[str, Any]) -> int:
        """Return the branch that takes a row of cells."""
        return next((i for i, one in enumerate(self.rules.branches) if truth_of(one.condition, row)), -1)


def _as_in_table(value: Any) -> Any:
    if isinstance(value, Moment):
        return Dates().text(float(value))
    if value == OTHER_WORD:
        return "any other value"
    is_whole = isinstance(value, float) and value.is_integer()
    return None if value is None or value != value else int(value) if is_whole else value


def found_by_algebra(judged: Judged) -> Iterator[Finding]:
    """Yield what is found without a table, by kinds."""
    for find in (_types, _never, _find_shadowed, _holes, _missing_values, _overlaps, _rest, _not_needed):
        yield from find(judged)


def _types(judged: Judged) -> Iterator[Finding]:
    """Yield columns that are compared with numbers and with words, or dates and numbers."""
    for column in judged.space.columns.values():
        if any(step.name in ("number", "decimal", "text", "date") for test in column.tests for step in test.steps):
            continue
        kinds: dict[str, Any] = {}
        for test in column.tests:
            by_steps = any(step.name == "days since" for step in test.steps)
            for value in test.values:
                if value is not None and not by_steps:
                    kinds.setdefault(name_kind(value), value)
        if len(kinds) > 1:
            yield Finding("types", "error", column=column.name, values=tuple(kinds.values()), text=" and ".join(kinds))


def name_kind(value: Any) -> str:
    """Return what values such as one are called."""
    if isinstance(value, Moment):
        return "dates"
    return "booleans" if isinstance(value, bool) else "texts" if isinstance(value, str) else "numbers"


def _find_written_pitfalls(judged: Judged) -> Iterator[int]:
    return (i for i, branch in enumerate(judged.rules.branches) if not branch.is_implied)


def _never(judged: Judged) -> Iterator[Finding]:
    for i in _find_written_pitfalls(judged):
        if not judged.holds[i]:
            condition = judged.rules.branches[i].condition
            column = _contradiction(judged, condition)
            with_null = any(None in test.values for test in tests_in(condition))
            yield Finding("never", "error", judged.named(i), column=column, text="NULL" if with_null else "")


def _contradiction(judged: Judged, condition: Condition) -> str:
    """Return the column whose own conditions leave no value, if there is one."""
    cells: dict[str, int] = {}
    for part in parts_of(condition):
        columns = {test.column for test in tests_in(part)}
        if len(columns) == 1:
            [name] = columns
            own = 0
            for box in judged.space.boxes(part):
                own |= box.get(name, judged.space.columns[name].full)
            cells[name] = cells.get(name, -1) & own
    return next((name for name, own in cells.items() if not own), "")


def _find_shadowed(judged: Judged) -> Iterator[Finding]:
    for i in _find_written_pitfalls(judged):
        if not judged.holds[i] or judged.reachable[i] is not None:
            continue
        needed = list(range(i))
        for j in range(i - 1, -1, -1):
            fewer = [other for other in needed if other != j]
            boxes = [box for other in fewer for box in judged.holds[other]]
            if judged.space.search.any_outside(judged.holds[i], boxes) is None:
                needed = fewer
        yield Finding("shadowed", "error", judged.named(i), tuple(map(judged.named, needed)))


def _overlaps(judged: Judged) -> Iterator[Finding]:
    """Yield branches that share rows with later ones of other names, where neither takes all rows of the other.

    It is a warning for each pair that tests the same columns, and a note on all others that a branch overlaps.
    """
    alive = [i for i in _find_written_pitfalls(judged) if judged.reachable[i] is not None]
    for a, i in enumerate(alive):
        found = [(j, box) for j in alive[a + 1 :] if (box := _find_overlap(judged, i, j)) is not None]
        alike = [(j, box) for j, box in found if _tested_columns(judged, i) == _tested_columns(judged, j)]
        for j, box in alike:
            yield _overlap(judged, i, [j], box, "warning")
        others = [j for j, _ in found if j not in dict(alike)]
        if others:
            yield _overlap(judged, i, others, dict(found)[others[0]], "note")


def _overlap(judged: Judged, i: int, others: Sequence[int], box: CellBox, level: Level) -> Finding:
    rules, named = (rule_of_box(judged.space, box),), tuple(map(judged.named, others))
    return Finding("overlap", level, judged.named(i), named, rules=rules, witness=judged.witness(box))


def _tested_columns(judged: Judged, i: int) -> set[str]:
    return {test.column for test in tests_in(judged.rules.branches[i].condition)}


def _find_overlap(judged: Judged, i: int, j: int) -> CellBox | None:
    """Return rows that an earlier branch takes and a later one of another name would, None if order decides nothing."""
    search, branches = judged.space.search, judged.rules.branches
    if branches[i].name == branches[j].name:
        return None
    both = [box for one in judged.holds[i] for other in judged.holds[j] if (box := meet(one, other))]
    shared = search.any_outside(both, judged.before(i))
    if shared is None or search.any_outside(judged.holds[i], judged.holds[j]) is None:
        return None
    return shared


def _rest(judged: Judged) -> Iterator[Finding]:
    boxes, is_whole = judged.rest
    if not boxes:
        return
    usual = [box for box in boxes if not any(_is_unusual(judged.space.columns[name], box[name]) for name in box)]
    level: Level = "warning" if usual and not judged.rules.has_else else "note"
    rules = tuple(rule_of_box(judged.space, box) for box in boxes)
    witness = judged.witness((usual or boxes)[0])
    yield Finding(*("falls through", level, None, (judged.named(-1),)), rules=rules, witness=witness, is_whole=is_whole)


def _is_unusual(column: Column, cells: int) -> bool:
    """Return whether cells hold missing values and words that nobody names alone."""
    return all(value is None or value != value or value == OTHER_WORD for value in column.values(cells))


# ---------------------------------------------------------------------------------------------------- holes
def _holes(judged: Judged) -> Iterator[Finding]:
    for column in judged.space.columns.values():
        if column.has_order:
            found = dict(_gaps(judged, column))
            for (first, last), box in sorted(found.items()):
                yield _hole(judged, column, first, last, box)


def _hole(judged: Judged, column: Column, first: int, last: int, box: CellBox) -> Finding:
    cells = sum(1 << i for i in range(first, last + 1))
    condition = condition_of_cells(column, cells)
    assert condition is not None
    return Finding(
        *("hole", "warning", None, (judged.named(-1),), column.name, ((condition,),)),
        values=(column.cells[first - 1], column.cells[last + 1]),
        witness=judged.witness({**box, column.name: cells}),
    )


def _gaps(judged: Judged, column: Column) -> Iterator[tuple[tuple[int, int], CellBox]]:
    """Yield runs of cells that no branch takes, between a branch below and one above for the same other values."""
    boxes = [box for box in judged.all_boxes if column.name in box]
    starts = {i for box in boxes for i in _edges(column, box[column.name], 1)}
    ends = {i for box in boxes for i in _edges(column, box[column.name], -1)}
    for below in sorted(ends):
        above = next((i for i in sorted(starts) if i > below + 1), None)
        if above is None or not _is_a_hole(judged.rules, column, below + 1, above - 1):
            continue
        box = _in_gap(judged, column, below, above, boxes)
        if box is not None:
            yield (below + 1, above - 1), box


def _edges(column: Column, cells: int, way: int) -> Iterator[int]:
    """Yield the cells of numbers at which a run begins (1), or ends (-1)."""
    for i in range(column.n_numbers):
        beside = i - way
        is_open = 0 <= beside < column.n_numbers and not cells >> beside & 1
        if cells >> i & 1 and is_open:
            yield i


def _is_a_hole(rules: RuleSet, column: Column, first: int, last: int) -> bool:
    """Return whether a gap may be meant: any gap where there is no ELSE; with one, a single number but 0.

    What lies between neighbours of so many digits, as 17 and 18 or 9.99 and 10, is none.
    """
    low, high = column.cells[first - 1], column.cells[last + 1]
    is_point = first == last and column.cells[first] in column.limits
    if rules.has_else:
        return is_point and column.cells[first] != 0
    is_between = first == last and not is_point and {low, high} <= set(column.limits)
    return not (is_between and _are_neighbours(low, high))


def _are_neighbours(low: float, high: float) -> bool:
    digits = max(len(repr(float(end)).partition(".")[2].rstrip("0")) for end in (low, high))
    return math.isclose(high - low, 10.0**-digits, rel_tol=1e-6)


def _in_gap(judged: Judged, column: Column, below: int, above: int, boxes: Sequence[CellBox]) -> CellBox | None:
    """Return a box of rows in a gap that no branch takes, while some take the cells on both sides."""
    name, gap = column.name, sum(1 << i for i in range(below + 1, above))
    left = [box for box in boxes if box[name] >> below & 1]
    right = [box for box in boxes if box[name] >> above & 1]
    for one in left:
        for other in right:
            both = meet(
                {key: cells for key, cells in one.items() if key != name},
                {key: cells for key, cells in other.items() if key != name},
            )
            if both is None:
                continue
            found: CellBox | None = both
            for i in range(below + 1, above):  # all of the gap is open for the same other values
                cell = {**(found or {}), name: 1 << i}
                part = judged.space.search.outside(cell, judged.all_boxes)
                found = None if part is None else {key: cells for key, cells in part.items() if key != name}
                if found is None:
                    break
            if found is not None:
                return {**found, name: gap}
    return None


# ---------------------------------------------------------------------------------------------------- missing values
def _missing_values(judged: Judged) -> Iterator[Finding]:
    """Yield branches that a row without a value misses only because a negation of NULL is unknown."""
    careful = {test.column for branch in judged.rules.branches for test in _of_missing(branch.condition)}
    for i in _find_written_pitfalls(judged):
        branch = judged.rules.branches[i]
        if not judged.holds[i]:  # it can never fire, whatever is missing
            continue
        for name in dict.fromkeys(test.column for test in tests_in(branch.condition)):
            if name in careful:
                continue
            meant = with_tests(branch.condition, partial(_as_meant, column=name))
            column = judged.space.columns[name]
            gaps = [box for one in judged.space.boxes(meant) if (box := meet(one, {name: column.missing}))]
            box = judged.space.search.any_outside(gaps, [*judged.before(i), *judged.holds[i]])
            if box is None:
                continue
            to = judged.taken_by(judged.space.row(box))
            if judged.rules._name_of(to) != branch.name:
                yield Finding(
                    *("missing values", "warning", judged.named(i), (judged.named(to),), name),
                    witness=judged.witness(box),
                )


def _of_missing(condition: Condition) -> Iterator[Test]:
    """Yield the tests that say what becomes of missing values."""
    for test in tests_in(condition):
        if test.sign in ("null", "nan") or any(step.name == "or" for step in test.steps):
            yield test


def _as_meant(test: Test, negated: bool, column: str) -> Condition:
    return replace(test, is_known=True) if negated and test.column == column else test


# ---------------------------------------------------------------------------------------------------- what can go
def _not_needed(judged: Judged) -> Iterator[Finding]:
    """Yield parts of conditions without which every row gets what it gets."""
    for i in _find_written_pitfalls(judged):
        if judged.reachable[i] is None:
            continue
        gone: list[Test] = []
        for part, without in without_parts(judged.rules.branches[i].condition):
            tests = list(tests_in(part))
            if not any(test is other for test in tests for other in gone) and _is_same(judged, i, without):
                gone += tests
                yield Finding(
                    "not needed", "note", judged.named(i), rules=_say_condition(judged, part), text=_place_of(part)
                )


def without_parts(condition: Condition) -> Iterator[tuple[Condition, Condition]]:
    """Yield each part of a condition, and the condition without it."""
    if not isinstance(condition, (All, Some)):
        return
    parts = condition.parts
    for k, part in enumerate(parts):
        rest = (*parts[:k], *parts[k + 1 :])
        if rest:
            yield part, replace(condition, parts=rest)
        for inner, without in without_parts(part):
            yield inner, replace(condition, parts=(*parts[:k], without, *parts[k + 1 :]))


def _is_same(judged: Judged, i: int, without: Condition) -> bool:
    """Return whether no row changes its branch if one has another condition."""
    search, before = judged.space.search, judged.before(i)
    own, other = judged.holds[i], judged.space.boxes(without)
    return search.any_outside(other, [*before, *own]) is None and search.any_outside(own, [*before, *other]) is None


def _say_condition(judged: Judged, part: Condition) -> tuple[Any, ...]:
    return tuple(rule_of_box(judged.space, box) for box in judged.space.boxes(part)[:MOST_REST])


def _place_of(part: Condition) -> str:
    """Return where a part of a condition begins, in words; nothing if that is not known."""
    places = [(test.place.line, test.place.column) for test in tests_in(part) if test.place.line]
    return "line {}, column {}".format(*min(places)) if places else ""
