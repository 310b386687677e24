"""The rules as one formula of a spreadsheet."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._validation import whole_number
from boxwood.errors import DataError
from boxwood.render._function import comparisons
from boxwood.render._literals import in_spreadsheet, plain
from boxwood.render._rules import explanation_of
from boxwood.render._walk import Step, among, walk

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["formula"]

LONGEST, DEEPEST = 8192, 64  # characters of a formula, and functions in functions, that Excel allows


def formula(model: Any, *, row: int = 2) -> str:
    """Return a formula of nested IFs that gives the cluster of a row of a spreadsheet; see `Explanation.to_formula`.

    `model` may be a fitted estimator.
    """
    ex, row = explanation_of(model), whole_number("row", row, 1)
    sheet = _Sheet(ex, {j: f"{_letters(j)}{row}" for j in map(int, ex.tree.features)})
    parts, waiting = ["="], list[_Open]()  # what is written, and the cuts whose sides are not all written
    deepest = 0
    for step in walk(ex.tree, lighter_first=True):
        while waiting and waiting[-1].node != step.above:
            parts.append(waiting.pop().end)
        if waiting and parts[-1] == waiting[-1].start:
            parts.append(f"IF({sheet.test(step)},")
        elif waiting:
            parts.append(",")
        if ex.tree.feature[step.node] < 0:
            parts.append(in_spreadsheet(plain(ex.names[int(ex.tree.cluster[step.node])])))
            deepest = max(deepest, sum(one.end.count(")") for one in waiting) + 2)  # 2 for functions in the test
        else:
            waiting.append(sheet.opened(step))
            parts.append(waiting[-1].start)
    text = "".join([*parts, *(one.end for one in reversed(waiting))])
    if len(text) > LONGEST or deepest > DEEPEST:
        raise DataError(
            f"the formula would have {len(text):,} characters and {deepest} functions in each other, and Excel allows "
            f"{LONGEST:,} and {DEEPEST}\nexplain with fewer leaves, or label the table with boxwood predict"
        )
    return text


class _Open(NamedTuple):
    """A cut that is being written: the text before its IF, and that after its sides."""

    node: int
    start: str
    end: str


class _Sheet(NamedTuple):
    """An explanation, and the cell of each column that its tree tests."""

    ex: Explanation
    cells: dict[int, str]

    def opened(self, step: Step) -> _Open:
        """Return the texts around a cut: those that refuse a value, where its column is asked for first."""
        feature = int(self.ex.tree.feature[step.node])
        guard = "" if feature in step.asked else self._refused(feature)
        return _Open(step.node, f"IF({guard}," if guard else "", '),"")' if guard else ")")

    def _refused(self, feature: int) -> str:
        """Return the test that a cell holds a value that the tree can use; an empty text if any value will do."""
        cell, known = self.cells[feature], self.ex.coded_columns.get(feature)
        if known is None:
            return f"ISNUMBER({cell})"
        if known.others:
            return "" if None in known.values else f'{cell}<>""'
        return _one_of(cell, known.values)

    def test(self, step: Step) -> str:
        """Return the test of the cut above a step that leads to it."""
        tree, cut = self.ex.tree, step.above
        feature, lower, upper = int(tree.feature[cut]), float(tree.lower[cut]), float(tree.upper[cut])
        cell, known = self.cells[feature], self.ex.coded_columns.get(feature)
        if known is not None:
            values, included = among(known, lower, upper)
            listed = _one_of(cell, values)
            return listed if included == step.inside else f"NOT({listed})"
        ends = [
            f"{cell}{end[0]}{in_spreadsheet(end[1])}" for end in comparisons(lower, upper, inside=step.inside) if end
        ]
        return ends[0] if len(ends) == 1 else ("*" if step.inside else "+").join(f"({end})" for end in ends)


def _one_of(cell: str, values: Sequence[Hashable]) -> str:
    """Return the test that a cell has one of these values: a sum, as OR takes a whole column for one value."""
    return "+".join(_equals(cell, None if value is None else plain(value)) for value in values) or "FALSE"


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
