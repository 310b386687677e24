"""Which cut a person means, by its column and its value as rules say it, and what a new cut asks for."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._frames import refuse_unknown_columns
from boxwood._messages import list_words, show_value
from boxwood.axes.categories import is_missing
from boxwood.errors import DataError
from boxwood.explanation.measure.allowed import end_said, number_said
from boxwood.explanation.records import condition_of
from boxwood.tree.nodes import Cut, CutTest
from boxwood.words.rules import condition
from boxwood.words.values import column_name, group_digits, number, short_number

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import ThresholdTree

LARGEST = sys.float_info.max  # the upper end of a cut that asks whether there is a number


def moved_tests(ex: MeasuredTree, column: str, at: Any, to: Any) -> dict[int, CutTest]:
    """Return what the cuts of a column at a value ask for, once they are at another, by their nodes.

    Raises
    ------
    DataError
        If there is no such cut; the message names those that there are.
    """
    j = _column(ex, column)
    move = _moved_words if j in ex._coded_columns else _moved_ends
    tests = {node: test for node in find_nodes(ex.tree, j) if (test := move(ex, node, at, to)) is not None}
    if not tests:
        raise DataError(f"no cut of {column_name(column)} at {_say_value(at)}: {_cuts_there(ex, j)}")
    return tests


def new_test(ex: MeasuredTree, column: str, value: Any) -> CutTest:
    """Return a new cut: up to a number or before a date, one of some words; with None, whether there is a value.

    Raises
    ------
    DataError
        If there is no such column or word, the column is forbidden, or its values are not at hand.
    """
    j = _column(ex, column)
    evidence = ex._known()
    if ex.limits is not None and column in ex.limits.forbidden:
        raise DataError(f"no rule may test {column}, which is forbidden; explain the clusters without that limit")
    if not evidence.in_batches and j not in evidence.columns:
        raise DataError(f"the values of {column} are not at hand, as the pipeline does not read it")
    if j in ex._coded_columns or j in evidence.categories:
        return _of_codes(j, _codes(ex, j, value))
    if is_missing(value) and j in ex._gap_columns:
        return CutTest(j, LARGEST, -math.inf, ())
    return CutTest(j, _as_upper(ex, j, _number(ex, j, value)), -math.inf, ())


def node_of_cut(ex: MeasuredTree, node: Any) -> int:
    """Return the number of a node that is a cut; a ValueError lists those that are."""
    is_whole = isinstance(node, (int, np.integer)) and not isinstance(node, bool)
    if is_whole and 0 <= node < ex.tree.n_nodes and ex.tree.feature[node] >= 0:
        return int(node)
    cuts = [f"{each} ({_cut_in_words(ex, each)})" for each in np.flatnonzero(ex.tree.feature >= 0).tolist()]
    there = f"the cuts are {list_words(cuts, 12)}" if cuts else "the tree has no cut"
    raise ValueError(f"node must be the number of a cut, got {show_value(node)}; {there}")


def find_nodes(tree: ThresholdTree, j: int) -> list[int]:
    """Return the nodes that test a column."""
    return [int(node) for node in np.flatnonzero(tree.feature == j)]


def thresholds_of(ex: MeasuredTree, tree: ThresholdTree, j: int) -> Iterator[float | str]:
    """Yield the thresholds of the cuts of a column of numbers or dates: numbers, or dates and ages as text."""
    for node in find_nodes(tree, j):
        yield from (said for _, said in _ends_of_cut(ex, tree, node))


def value_in_python(ex: MeasuredTree, column: str, value: Any) -> Any:
    """Return a value of a cut as a line of Python has it: a plain number, the text of a date, words in a list."""
    j = _column(ex, column)
    if j in ex._coded_columns or j in ex._known().categories:
        return [_categories_at(ex, j).values[code] for code in _codes(ex, j, value)]
    if is_missing(value):
        return None
    x = _number(ex, j, value)
    if j in ex._date_columns:
        return ex._date_columns[j].text(x)
    return int(x) if x.is_integer() and abs(x) < 1e15 else x


def say_ends_of_cut(ex: MeasuredTree, node: int) -> Iterator[tuple[bool, str]]:
    """Yield the finite ends of a cut of numbers or dates: whether it is the upper one, and how rules say it."""
    for is_upper, said in _ends_of_cut(ex, ex._short or ex.tree, node):
        yield is_upper, said if isinstance(said, str) else number(said)


def _ends_of_cut(ex: MeasuredTree, tree: ThresholdTree, node: int) -> Iterator[tuple[bool, float | str]]:
    """Yield the finite ends of a cut of numbers or dates: whether it is the upper one, and the number, or the date."""
    j = int(tree.feature[node])
    dates = ex._date_columns.get(j)
    for is_upper, end in ((False, float(tree.lower[node])), (True, float(tree.upper[node]))):
        if math.isfinite(end) and end != LARGEST:
            yield is_upper, _said_end(ex, j, end, is_upper) if dates is None else dates.first(end, beyond=is_upper)


def ends_at(ex: MeasuredTree, j: int, at: Any) -> list[tuple[int, bool]]:
    """Return the cuts of a column of numbers or dates that have an end at a value, and whether it is the upper one."""
    return [(node, upper) for node in find_nodes(ex.tree, j) for upper in (False, True) if _is_at(ex, node, upper, at)]


def end_at(ex: MeasuredTree, j: int, value: Any, *, is_upper: bool = True, old: float | None = None) -> float:
    """Return the end of a cut at a value as rules say it; IN: old: the end that moves there, None for a new cut."""
    x = _number(ex, j, value)
    return _as_lower(ex, j, x, old) if not is_upper and old is not None else _as_upper(ex, j, x, old)


def categories_of_column(ex: MeasuredTree, j: int) -> Any:
    """Return the categories of a column of words, or of booleans; None for one of numbers or dates."""
    return _categories_at(ex, j) if j in ex._coded_columns or j in ex._known().categories else None


# ------------------------------------------------------------------------------------------------ numbers and dates


def _moved_ends(ex: MeasuredTree, node: int, at: Any, to: Any) -> CutTest | None:
    """Return a cut of numbers with the end that is at a value at another one; None if none is there."""
    test, found = ex.tree.test(node), False
    for is_upper in (True, False):
        if not _is_at(ex, node, is_upper, at):
            continue
        found = True
        x = _number(ex, test.feature, to)
        if is_upper:
            test = test._replace(upper=_as_upper(ex, test.feature, x, test.upper))
        else:
            test = test._replace(lower=_as_lower(ex, test.feature, x, test.lower))
    if test.lower > test.upper:
        raise DataError(f"the cut {_cut_in_words(ex, node)} would hold no value with an end at {_say_value(to)}")
    return test if found else None


def _is_at(ex: MeasuredTree, node: int, is_upper: bool, at: Any) -> bool:
    """Return whether an end of a cut is at a value, which may be said as rules say it."""
    for tree in (ex.tree, ex._short or ex.tree):
        end = float((tree.upper if is_upper else tree.lower)[node])
        if math.isinf(end) or end == LARGEST:
            continue
        j = int(tree.feature[node])
        if (dates := ex._date_columns.get(j)) is not None:
            if dates.first(end, beyond=is_upper) == dates.text(_number(ex, j, at)):
                return True
            continue
        said = _said_end(ex, j, end, is_upper)
        if str(at) in (group_digits(said), short_number(said)) or _number(ex, j, at) in (said, end):
            return True
    return False


def _said_end(ex: MeasuredTree, j: int, end: float, is_upper: bool) -> float:
    return end_said(end, is_upper, j in ex._gap_columns)


def _as_upper(ex: MeasuredTree, j: int, x: float, old: float | None = None) -> float:
    """Return the upper end of a cut at a number, which is inside unless that at the old end was not, or at a date."""
    is_beyond = j in ex._date_columns or (old is not None and _said_end(ex, j, old, True) > old)
    return math.nextafter(x, -math.inf) if is_beyond else x


def _as_lower(ex: MeasuredTree, j: int, x: float, old: float) -> float:
    """Return the lower end of a cut at a number, which is inside unless that at the old end was not, or at a date."""
    return math.nextafter(x, math.inf) if _said_end(ex, j, old, False) < old else x


def _number(ex: MeasuredTree, j: int, value: Any) -> float:
    """Return a value of a column of numbers or dates, which may be said as rules say it."""
    return number_said(ex.columns[j], ex._date_columns.get(j), value)


# -------------------------------------------------------------------------------------------------------------- words


def _moved_words(ex: MeasuredTree, node: int, at: Any, to: Any) -> CutTest | None:
    """Return a cut of words with other words on the side that has some; None if no side has just these."""
    j = int(ex.tree.feature[node])
    known, wanted = _categories_at(ex, j), set(_codes(ex, j, at))
    codes = np.arange(len(known.domain))
    inside = {int(code) for code in codes[ex.tree.is_inside(node, codes.astype(np.float64))]}
    named = set(range(len(known.values)))
    if wanted == inside & named:
        chosen = set(_codes(ex, j, to))
    elif wanted == named - inside:
        chosen = named - set(_codes(ex, j, to))
    else:
        return None
    return _of_codes(j, chosen | (inside - named))


def _of_codes(j: int, codes: Iterable[int]) -> CutTest:
    members = tuple(sorted(codes))
    if not members:
        raise DataError("a cut needs at least one category on each side")
    return CutTest(j, float(members[-1]), float(members[0]), members)


def _codes(ex: MeasuredTree, j: int, words: Any) -> list[int]:
    """Return the codes of a word, or of several; a DataError names those that the column has."""
    known, name = _categories_at(ex, j), ex.columns[j]
    given = [words] if words is None or isinstance(words, (str, bool, int, float, np.generic)) else list(words)
    values = [
        None if word == "missing" and None in known.values and word not in known.values else word for word in given
    ]
    codes = known.codes(values)
    unknown = [word for word, code in zip(given, codes.tolist(), strict=True) if not code < len(known.values)]
    if unknown:
        has = list_words([*map(_say_value, known.values)])
        raise DataError(f"{column_name(name)} has no value {list_words([*map(_say_value, unknown)])}; it has {has}")
    return sorted({int(code) for code in codes.tolist()})


def _categories_at(ex: MeasuredTree, j: int) -> Any:
    coded = ex._coded_columns
    return coded[j] if j in coded else ex._known().categories[j]


# ---------------------------------------------------------------------------------------------------------- in words


def _column(ex: MeasuredTree, column: Any) -> int:
    if not isinstance(column, str):
        raise TypeError(f"column must be the name of one, got {show_value(column)}")
    refuse_unknown_columns([column], ex.columns)
    return ex.columns.index(column)


def _cuts_there(ex: MeasuredTree, j: int) -> str:
    """Return which cuts of a column there are, or else which columns have some."""
    cuts = find_nodes(ex.tree, j)
    if not cuts:
        tested = list_words([column_name(ex.columns[each]) for each in ex.tree.features.tolist()])
        return f"the tree cuts {tested or 'no column'}"
    if j in ex._coded_columns:
        return f"the tree asks {list_words([_cut_in_words(ex, node) for node in cuts], 12)}"
    found = thresholds_of(ex, ex._short or ex.tree, j)
    ends = list(dict.fromkeys(end if isinstance(end, str) else number(end) for end in found))
    return f"there are {column_name(ex.columns[j])} at {list_words(ends, 12)}" if ends else _cut_in_words(ex, cuts[0])


def _cut_in_words(ex: MeasuredTree, node: int) -> str:
    tree = ex._short or ex.tree
    feature, upper, lower, members = tree.test(node)
    cut = Cut(node, feature, lower, upper, True, members)
    return condition(condition_of(cut, ex.columns, ex._coded_columns, ex._gap_columns, ex._date_columns))


def _say_value(value: Hashable) -> str:
    return str(value) if isinstance(value, (int, float)) or value is None else show_value(value)
