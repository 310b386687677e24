"""The rules as one formula of a spreadsheet."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from boxwood._dates import NOW, Dates
from boxwood._frames import refuse_unknown_columns
from boxwood._validation import refuse_unknown, show_value, whole_number
from boxwood.errors import DataError
from boxwood.explanation.ages import where_rules_run
from boxwood.explanation.measured_tree import explanation_of
from boxwood.reference.budget import as_names
from boxwood.render.forms.code import comparisons, date_tests, identifiers, in_spreadsheet, of_dates, plain_category
from boxwood.render.forms.walk import WalkStep, among, sides_with_gaps, walk
from boxwood.tree import Interval
from boxwood.tree.boxes import without_missing

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.render.forms.boxes import ClusterBoxes

LONGEST, DEEPEST = 8192, 64  # characters of a formula, and functions in functions, that Excel allows
_SOUGHT = 120  # characters of a header that are sought; MATCH takes 255 with all of them escaped
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")  # a header of which a spreadsheet makes a number


def formula(
    model: Any,
    *,
    row: int = 2,
    columns: Sequence[str] | None = None,
    let: bool = True,
    separator: Literal[",", ";"] = ",",
    as_of: Any = None,
) -> str:
    """Return a formula of nested IFs that gives the cluster of a row of a spreadsheet; see `Explanation.to_formula`.

    `model` may be a fitted estimator.
    """
    refuse_unknown("separator", separator, (",", ";"))
    ex, row = where_rules_run(explanation_of(model), as_of), whole_number("row", row, 2 if columns is None else 1)
    _refuse_days(ex)
    text = _on_cells(ex, ex.tree.features.tolist(), partial(_rules, ex), row, columns, let)
    return _in_a_cell(text, columns, separator)


def formula_of_boxes(boxes: ClusterBoxes, *, row: int = 2, columns: Sequence[str] | None = None) -> str:
    """Return a formula that gives the cluster of a row by the first box that holds it, or an empty text."""
    _refuse_days(boxes.explanation)
    write = partial(_first_box, boxes)
    return _in_a_cell(_on_cells(boxes.explanation, boxes.features, write, row, columns, let=True), columns, ",")


def _refuse_days(ex: MeasuredTree) -> None:
    if any(one.day_column for _, one in ex.details.dates):
        raise DataError("a formula counts ages from one day; give as_of, such as a day, or explain with as_of='latest'")


def _on_cells(
    ex: MeasuredTree,
    tested: Sequence[int],
    write: Callable[[Sequence[str]], str],
    row: int,
    columns: Sequence[str] | None,
    let: bool,
) -> str:
    """Return rules on the cells of a row; IN: write: returns them from where the value of each tested column is."""
    names = [ex.columns[j] for j in tested]
    if columns is not None:
        return write([f"{_letters(j)}{row}" for j in _positions(names, columns)])
    found = [f"INDEX({row}:{row},{_place(name)})" for name in names]
    named = _variables(ex.columns, tested) if let else found
    text = _check_headers(write(named), names, ex.columns)
    pairs = "".join(f"{variable},{cell}," for variable, cell in zip(named, found, strict=True))
    return f"LET({pairs}{text})" if let and found else text


def _in_a_cell(text: str, columns: Sequence[str] | None, separator: str) -> str:
    """Return rules as a formula that Excel takes.

    Raises
    ------
    DataError
        If it is too long, or its functions stand too deep in one another.
    """
    deepest = _depth(text)
    if len(text) >= LONGEST or deepest > DEEPEST:
        letters = " or give the columns of the sheet in their order, as letters are shorter," if columns is None else ""
        raise DataError(
            f"the formula would have {len(text) + 1:,} characters and {deepest} functions in each other, and Excel "
            f"allows {LONGEST:,} and {DEEPEST}\nexplain with fewer leaves,{letters} or label the table with boxwood "
            "predict"
        )
    return f"={text if separator == ',' else _with_semicolons(text)}"


def _with_semicolons(text: str) -> str:
    """Return a formula with semicolons between arguments, and commas in numbers; texts in quotes stay as they are."""
    return re.sub('"[^"]*"|[,.]', lambda found: {",": ";", ".": ","}.get(found[0], found[0]), text)


def _variables(columns: Sequence[str], tested: Sequence[int]) -> list[str]:
    """Return a name for the value of each column that the tree tests, which is no address of a cell."""
    names = identifiers(columns, tested, {"true", "false"})
    return [f"{name}_" if _ADDRESS.fullmatch(name) else name for name in (names[j] for j in tested)]


_ADDRESS = re.compile(r"[a-z]{1,3}[0-9]+|r[0-9]*(c[0-9]*)?|c[0-9]*|.*[.].*")


def _rules(ex: MeasuredTree, found: Sequence[str]) -> str:
    """Return the nested IFs. IN: found: where the value of each column is that the tree tests."""
    sheet = _Sheet(ex, dict(zip(ex.tree.features.tolist(), found, strict=True)))
    parts, waiting = list[str](), list[_Open]()  # what is written, and the cuts whose sides are not all written
    for step in walk(ex.tree, lighter_first=True):
        while waiting and waiting[-1].node != step.above:
            parts.append(waiting.pop().end)
        if waiting and parts[-1] == waiting[-1].start:
            parts.append(f"IF({sheet.test(step)},")
        elif waiting:
            parts.append(",")
        if ex.tree.feature[step.node] < 0:
            parts.append(in_spreadsheet(plain_category(ex.names[int(ex.tree.cluster[step.node])])))
        else:
            waiting.append(sheet.opened(step))
            parts.append(waiting[-1].start)
    return "".join([*parts, *(one.end for one in reversed(waiting))])


def _first_box(boxes: ClusterBoxes, found: Sequence[str]) -> str:
    """Return IFs, one in the other, each of which asks for all columns of a box; IN: found: where their values are."""
    ex = boxes.explanation
    sheet, text = _Sheet(ex, dict(zip(boxes.features, found, strict=True))), '""'
    for cluster, box in reversed(boxes.boxes):
        tests = "*".join(sheet.within(j, pieces) for j, pieces in box.items()) or "TRUE"
        text = f"IF({tests},{in_spreadsheet(plain_category(ex.names[cluster]))},{text})"
    return text


def _depth(text: str) -> int:
    """Return how deep brackets stand in each other, those in texts apart."""
    brackets = re.findall("[()]", re.sub('"[^"]*"', "", text))
    return max(accumulate((1 if one == "(" else -1 for one in brackets), initial=0))


def _place(name: str) -> str:
    """Return the number of the column under a header, for which `*`, `?` and `~` must be escaped."""
    start = re.sub(r"[~*?]", r"~\g<0>", name[:_SOUGHT])
    place = f"MATCH({in_spreadsheet(start if len(name) <= _SOUGHT else f'{start}*')},$1:$1,0)"
    return f"IFERROR({place},MATCH({name},$1:$1,0))" if _WHOLE.fullmatch(name) else place


def _check_headers(rules: str, tested: Sequence[str], columns: Sequence[str]) -> str:
    """Return the rules, with #N/A for all rows if a header is missing; without this, they would give an empty text.

    MATCH ignores case, and a long header is sought by its beginning, so what was found is compared in full.
    """
    for name in tested:
        alike = [other for other in columns if other.casefold() == name.casefold()]
        if len(alike) > 1 or not name:
            what = (
                f"columns {', '.join(map(show_value, alike))} differ in case only" if name else "a column has no name"
            )
            raise DataError(
                f"{what}, so a spreadsheet cannot find it by its header\ngive the columns of the sheet in their order"
            )
    headers = ",".join(f"EXACT(INDEX($1:$1,{_place(name)}),{in_spreadsheet(name)})" for name in tested)
    return f"IF(AND({headers}),{rules},NA())" if headers else rules


def _positions(tested: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return where the sheet has each column that the tree tests."""
    given = as_names("columns", columns)
    refuse_unknown_columns(tested, given)
    for name in tested:
        if given.count(name) > 1:
            raise DataError(f"the sheet has {given.count(name)} columns {show_value(name)}; rename all but one")
    return [*map(given.index, tested)]


class _Open(NamedTuple):
    """A cut that is being written: the text before its IF, and that after its sides."""

    node: int
    start: str
    end: str


class _Sheet(NamedTuple):
    """An explanation, and the cell of each column that its tree tests."""

    ex: MeasuredTree
    cells: dict[int, str]

    def opened(self, step: WalkStep) -> _Open:
        """Return the texts around a cut: those that refuse a value, where its column is asked for first."""
        feature = int(self.ex.tree.feature[step.node])
        guard = "" if feature in step.asked else self._refusal(feature)
        return _Open(step.node, f"IF({guard}," if guard else "", '),"")' if guard else ")")

    def _refusal(self, feature: int) -> str:
        """Return the test that a cell holds a value that the tree can use; an empty text if any value will do."""
        cell, known = self.cells[feature], self.ex._coded_columns.get(feature)
        if known is None:
            return f'ISNUMBER({cell})+({cell}="")' if feature in self.ex._gap_columns else f"ISNUMBER({cell})"
        if known.others:
            return "" if None in known.values else f'{cell}<>""'
        return _one_of(cell, known.as_written(known.values))

    def test(self, step: WalkStep) -> str:
        """Return the test of the cut above a step that leads to it."""
        feature, upper, lower, _ = test = self.ex.tree.test(step.above)
        cell, known = self.cells[feature], self.ex._coded_columns.get(feature)
        dates = self.ex._date_columns.get(feature)
        if feature in self.ex._gap_columns:
            return _with_gaps(cell, *sides_with_gaps(test)[0 if step.inside else 1], dates)
        if known is not None:
            values, included = among(known, test)
            listed = _one_of(cell, known.as_written(values))
            return listed if included == step.inside else f"NOT({listed})"
        plain_ends = comparisons(lower, upper, inside=step.inside)
        found = plain_ends if dates is None else of_dates(lower, upper, dates, inside=step.inside)
        ends = [f"{cell}{end[0]}{_end(end[1], dates)}" for end in found if end]
        return ends[0] if len(ends) == 1 else ("*" if step.inside else "+").join(f"({end})" for end in ends)

    def within(self, feature: int, pieces: Sequence[Interval]) -> str:
        """Return the test that there is a value in some intervals, or a category whose code is."""
        cell, known = self.cells[feature], self.ex._coded_columns.get(feature)
        if known is None:
            has_gaps = feature in self.ex._gap_columns
            numbers, or_missing = without_missing(pieces) if has_gaps else (pieces, False)
            return f"({_with_gaps(cell, numbers, or_missing, self.ex._date_columns.get(feature))})"
        values, included = known.chosen(known.codes_in(pieces))
        listed = _one_of(cell, known.as_written(values))
        if included:
            return f"({listed})"
        return f"NOT({listed})" if None in known.values else f'({cell}<>"")*NOT({listed})'


def _with_gaps(cell: str, pieces: Sequence[Interval], or_missing: bool, dates: Dates | None) -> str:
    """Return the test that a cell is empty, or has a number or a date in some intervals; elsewhere it counts as 0."""
    tests = [f'({cell}="")'] if or_missing else []
    for piece in pieces:
        lower, upper, lower_closed, upper_closed = piece
        ends = [f"ISNUMBER({cell})"]
        if dates is not None:
            ends += [f"({cell}{end[0]}{_end(end[1], dates)})" for end in date_tests(piece, dates) if end]
            tests.append("*".join(ends))
            continue
        ends += [f"({cell}{'>=' if lower_closed else '>'}{in_spreadsheet(lower)})"] if lower > -math.inf else []
        ends += [f"({cell}{'<=' if upper_closed else '<'}{in_spreadsheet(upper)})"] if upper < math.inf else []
        tests.append("*".join(ends))
    return "+".join(tests) or "FALSE"


def _end(value: float | datetime | timedelta, dates: Dates | None) -> str:
    if isinstance(value, timedelta):
        day = "NOW()" if dates is not None and dates.as_of == NOW else "TODAY()"
        n, rest = divmod(value, timedelta(days=1))
        return f"{day}{n:+d}" + (f"+{rest // timedelta(microseconds=1)}/86400000000" if rest else "")
    return _moment(value) if isinstance(value, datetime) else in_spreadsheet(value)


def _moment(date: datetime) -> str:
    """Return a date, which is a number of days in a spreadsheet, to the second below."""
    day = f"DATE({date.year},{date.month},{date.day})"
    if date.year < _FIRST_YEAR:
        day = str((date - _ZERO).days)
    time = f"+TIME({date.hour},{date.minute},{date.second})" if date.hour or date.minute or date.second else ""
    rest = f"+{date.microsecond}/86400000000" if date.microsecond else ""
    return day + time + rest


_FIRST_YEAR = 1900  # that DATE has; it adds this to earlier ones
_ZERO = datetime(1899, 12, 30)  # the day 0 of spreadsheets


def _one_of(cell: str, values: Sequence[Hashable]) -> str:
    """Return the test that a cell has one of these values: a sum, as OR takes a whole column for one value."""
    return "+".join(_equals(cell, None if value is None else plain_category(value)) for value in values) or "FALSE"


def _equals(cell: str, value: object) -> str:
    if value is None:
        return f'({cell}="")'
    if isinstance(value, str):
        return f"EXACT({cell},{in_spreadsheet(value)})"
    number = f"ISNUMBER({cell})*({cell}={in_spreadsheet(float(value))})"  # type: ignore[arg-type]
    return f"{number}+ISLOGICAL({cell})*({cell}={in_spreadsheet(bool(value))})" if value in (0, 1) else number


def _letters(j: int) -> str:
    """Return the letters of a column: A for 0, Z for 25, AA for 26."""
    letters = ""
    while j >= 0:
        letters = chr(ord("A") + j % 26) + letters
        j = j // 26 - 1
    return letters
