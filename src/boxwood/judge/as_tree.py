"""Rules as a tree of cuts on the columns of a table: the cut of a node is the first condition that decides there.

Each column of the table is a row of atoms: all values of an atom fulfil the same tests. Of numbers these are the limits
and what lies between them, in order, and at last a missing one; of categories they are their codes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from boxwood._frames import as_rows_here, column_names, is_frame
from boxwood.errors import DataError
from boxwood.explanation.apply.predict import clusters_of_rows
from boxwood.explanation.ask.options import Options
from boxwood.explanation.ask.provenance import provenance_of_call
from boxwood.explanation.ask.steps import explained_by_tree
from boxwood.judge.boxes import CellBox, Search, meet
from boxwood.judge.conditions import tests_in
from boxwood.judge.findings import NamedBranch
from boxwood.judge.rows import names_in, names_of_rows
from boxwood.judge.rules import RuleSet
from boxwood.judge.sentences import branch_name
from boxwood.judge.space import Column
from boxwood.judge.values import Moment, MovingMoment
from boxwood.tree import ThresholdTree, TreeBuilder
from boxwood.tree.merge import merge_leaves
from boxwood.words.values import cluster_name, column_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.reference.feature_space import FeatureSpace

MOST_LEAVES = 200
_LARGEST = 1.7976931348623157e308  # up to it a cut asks whether there is a number


@dataclass(frozen=True)
class _Atoms:
    """The atoms of a column of the table.

    IN: cells: the cell of each; ends: of numbers, the largest value of each; limits: numbers at which rules cut.
    """

    feature: int
    cells: tuple[int, ...]
    ends: tuple[float, ...] | None = None
    limits: frozenset[float] = frozenset()

    @property
    def full(self) -> int:
        return (1 << len(self.cells)) - 1

    def is_said_from_below(self, end: float) -> bool:
        """Return whether numbers up to an end are said as those below the next one."""
        return end not in self.limits and math.nextafter(end, math.inf) in self.limits

    def of_cells(self, cells: int) -> int:
        """Return the atoms whose values are in some cells."""
        return sum(1 << i for i, cell in enumerate(self.cells) if cells >> cell & 1)


def measured_rules(rules: RuleSet, table: Any, labels: Any) -> MeasuredTree:
    """Return rules as a tree that is measured on the rows of a table; see `Rules.explanation`."""
    rows = as_rows_here(table)
    own = names_in(rules.columns, column_names(rows)) if is_frame(rows) else {}
    given = names_of_rows(rules, rows)  # refuses a table without the columns
    asked = Options.of({**_AS_IT_IS, "columns": [*own.values()], "as_of": _day_of(rules)})
    make = partial(tree_of_rules, rules)
    found = explained_by_tree(rows, given if labels is None else labels, asked, make, "rules that were read")
    labelled = clusters_of_rows(found, rows, "none", asked.as_of)
    n_other = int(((labelled != given) & (labelled != None)).sum())  # noqa: E711, of rows without any value
    if n_other:  # such as words of which the table is read as numbers
        raise DataError(f"{n_other:,} rows would get another name by cuts on the columns as the table is read")
    return provenance_of_call(found, rows, labels, None, None)


_AS_IT_IS: dict[str, Any] = {"standardize": False, "missing": "learn", "n_jobs": -1, "categories": (), "numbers": ()}
_AS_IT_IS |= dict.fromkeys(("n_clusters", "random_state", "sample_weight"))


def _day_of(rules: RuleSet) -> str | None:
    """Return the day from which ages count, None if rules compare with days of the calendar.

    Raises
    ------
    DataError
        If they do both.
    """
    tests = [test for branch in rules.branches for test in tests_in(branch.condition)]
    moments = [value for test in tests for value in test.values if isinstance(value, Moment)]
    are_fixed = any(not isinstance(value, MovingMoment) for value in moments)
    if rules.is_aged and are_fixed:
        raise DataError("the rules compare dates with today and with fixed days; a tree says all dates in one way")
    return rules.today.isoformat() if rules.is_aged else None


def tree_of_rules(rules: RuleSet, here: FeatureSpace, names: Sequence[Hashable]) -> ThresholdTree:
    """Return the tree on the columns of a table that gives each row what rules give it; IN: names: of clusters.

    Raises
    ------
    DataError
        If the rules are no such tree; the message names the condition.
    """
    return _Writer(rules, here, names).tree()


class _Writer:
    def __init__(self, rules: RuleSet, here: FeatureSpace, names: Sequence[Hashable]):
        self.rules, self.places = rules, {name: i for i, name in enumerate(names)}
        own = names_in(rules.columns, here.columns)
        self.atoms = {name: _atoms_of(rules, column, here, own[name]) for name, column in rules._space.columns.items()}
        self.search = Search({name: atoms.full for name, atoms in self.atoms.items()})
        holds = [rules._space.boxes(branch.condition) for branch in rules.branches]
        self.holds = [[box for one in boxes if (box := self._on_table(one)) is not None] for boxes in holds]
        self.n_leaves = 0

    def tree(self) -> ThresholdTree:
        builder = TreeBuilder()
        stack: list[tuple[int, CellBox]] = [(0, {})]
        while stack:
            at, region = stack.pop()
            i, box = self._first(region)
            if box is None:
                self._label(builder, at, i, region)
                continue
            name = next(name for name in self.rules.columns if name in box)
            stack += self._cut(builder, at, region, name, box[name])
        return merge_leaves(builder.build())

    def _on_table(self, box: CellBox) -> CellBox | None:
        """Return a box of cells as one of atoms; None if no value of the table can be in it."""
        found = {name: self.atoms[name].of_cells(cells) for name, cells in box.items()}
        found = {name: atoms for name, atoms in found.items() if atoms != self.atoms[name].full}
        return found if all(found.values()) else None

    def _first(self, region: CellBox) -> tuple[int, CellBox | None]:
        """Return the branch that takes all of a region; or one that takes a part, with its bounds there.

        A region in which several branches give the same is taken by the first of them. -1 is ELSE.
        """
        took: list[tuple[int, list[CellBox]]] = []
        for i, boxes in enumerate(self.holds):
            before = [box for _, earlier in took for box in earlier]
            parts = [part for box in boxes if (part := meet(region, box)) is not None]
            if self.search.any_outside(parts, before) is None:
                continue
            took.append((i, boxes))
            if self.search.any_outside([region], [*before, *boxes]) is None:
                break
        else:
            took.append((-1, []))
        if len({self._key(i) for i, _ in took}) == 1:
            return took[0][0], None
        i, boxes = took[0]
        return i, next(bounds for box in boxes if (bounds := self._bounds(region, box)))

    def _key(self, branch: int) -> tuple[type, Any]:
        name = self.rules._name_of(branch)
        return type(name), name

    def _bounds(self, region: CellBox, box: CellBox) -> CellBox | None:
        """Return where a box bounds a region, None if no row is in both or the box holds the region."""
        if meet(region, box) is None:
            return None
        return {name: atoms for name, atoms in box.items() if self._in(region, name) & ~atoms} or None

    def _in(self, region: CellBox, name: str) -> int:
        return region.get(name, self.atoms[name].full)

    def _label(self, builder: TreeBuilder, at: int, branch: int, region: CellBox) -> None:
        name, named = self.rules._name_of(branch), self._name_branch(branch)
        if name is None:
            raise DataError(
                f"{named} gives some rows NULL, but a tree gives each row a cluster; write an ELSE, or a name"
                if branch >= 0
                else "rows that no branch takes get NULL, but a tree gives each row a cluster; write an ELSE"
            )
        if name not in self.places:
            raise DataError(
                f"no row of the table gets {cluster_name(name)} ({named}), so it is no cluster there; leave it out"
            )
        self.n_leaves += 1
        if self.n_leaves > MOST_LEAVES:
            raise DataError(f"the rules overlap in too many ways: as a tree they have more than {MOST_LEAVES} leaves")
        builder.label(at, self.places[name])

    def _name_branch(self, branch: int) -> str:
        if branch < 0:
            return branch_name(NamedBranch(0, self.rules.otherwise))
        one = self.rules.branches[branch]
        return branch_name(NamedBranch(branch + 1, one.name, one.place.line))

    def _cut(self, builder: TreeBuilder, at: int, region: CellBox, name: str, wanted: int) -> list[tuple[int, CellBox]]:
        """Cut a node so that it parts the atoms that are wanted from others; return both sides."""
        atoms, present = self.atoms[name], self._in(region, name)
        if atoms.ends is None:
            inside = present & wanted
            codes = [i for i in range(len(atoms.cells)) if inside >> i & 1]
            first, second = builder.split_set(at, atoms.feature, codes)
        else:
            inside, lower, upper = _interval(atoms.ends, present, wanted)
            if math.isinf(lower) and atoms.is_said_from_below(upper):
                second, first = builder.split(at, atoms.feature, math.inf, math.nextafter(upper, math.inf))
            else:
                first, second = builder.split(at, atoms.feature, upper, lower)
        return [(second, {**region, name: present & ~inside}), (first, {**region, name: inside})]


def _interval(ends: Sequence[float], present: int, wanted: int) -> tuple[int, float, float]:
    """Return the atoms on the first side of a cut of numbers, and its ends: up to where the first of them change side.

    Where numbers alone are between others below and a missing value, they are the first side.
    """
    places = [i for i in range(len(ends)) if present >> i & 1]
    runs = [[places[0]]]
    for before, now in pairwise(places):
        if (wanted >> before & 1) == (wanted >> now & 1):
            runs[-1].append(now)
        else:
            runs.append([now])
    is_gap_last = len(runs) == 3 and [ends[i] for i in runs[2]] == [math.inf] and ends[runs[1][-1]] == _LARGEST
    if is_gap_last:
        return _bits(runs[1]), math.nextafter(ends[runs[0][-1]], math.inf), _LARGEST
    is_gap_next = len(runs) == 2 and [ends[i] for i in runs[1]] == [math.inf] and _LARGEST in ends
    return _bits(runs[0]), -math.inf, _LARGEST if is_gap_next else ends[runs[0][-1]]


def _bits(places: Sequence[int]) -> int:
    return sum(1 << i for i in places)


def _atoms_of(rules: RuleSet, column: Column, here: FeatureSpace, own: str | None) -> _Atoms:
    """Return the atoms of a column of the table, each with the cell whose values fulfil the same tests."""
    if own is None:
        raise DataError(f"{column_name(column.name)} is none of the columns that rules of this table can use")
    j = here.columns.index(own)
    if j in here.categories:
        known = here.categories[j]
        values: list[Any] = [None if value is None else column.read(value) for value in known.values]
        cells = [_cell(rules, column, value) for value in values]
        return _Atoms(j, tuple(cells))
    if column.is_date != (j in here.dates) and any(test.values for test in column.tests):
        held, wanted = ("dates", "other values") if j in here.dates else ("no dates", "dates")
        raise DataError(f"{column_name(own)} holds {held}, and is compared with {wanted}; make a column of these")
    limits = sorted({*column.limits, *(float(each) for each in column.cells if isinstance(each, bool))})
    has_gaps = j in here.gaps
    ends, values = _ends(limits, is_date=column.is_date, has_gaps=has_gaps)
    plain = frozenset() if has_gaps or column.is_date else frozenset(limits)
    return _Atoms(j, tuple(_cell(rules, column, value) for value in values), tuple(ends), plain)


def _ends(limits: Sequence[float], *, is_date: bool, has_gaps: bool) -> tuple[list[float], list[Any]]:
    """Return the largest value of each atom of numbers, and a value in it."""
    last = _LARGEST if has_gaps else math.inf
    ends = [end for limit in limits for end in (math.nextafter(limit, -math.inf), limit)] + [last]
    values: list[Any] = [end for limit in limits for end in (math.nextafter(limit, -math.inf), limit)]
    values.append(math.nextafter(limits[-1], math.inf) if limits else 0.0)
    values = [Moment(value) if is_date else value for value in values]
    return ([*ends, math.inf], [*values, None]) if has_gaps else (ends, values)


def _cell(rules: RuleSet, column: Column, value: Any) -> int:
    """Return the cell of the values that fulfil the same tests as one of the table."""
    own = [test.holds(value) for test in column.tests]
    for i, cell in enumerate(column.cells):
        if [test.holds(cell) for test in column.tests] == own:
            return i
    branch = next(one for one in rules.branches if any(test.column == column.name for test in tests_in(one.condition)))
    raise DataError(
        f"line {branch.place.line}: the conditions on {column_name(column.name)} are no cuts of what the table holds"
    )
