"""Rules on ages, such as "within the last 137 days": from which day they are counted, and how they move to another."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from boxwood._dates import MICROSECONDS, NOW, TODAY, Dates, first_after, has_time, is_open_end, moment_in
from boxwood._validation import list_words, show_value
from boxwood.errors import DataError
from boxwood.explanation.measured_tree import HELD, MeasuredTree, with_rules
from boxwood.tree import ThresholdTree
from boxwood.words.values import column_name

if TYPE_CHECKING:
    from boxwood.explanation.living.shapes import Shape
    from boxwood.explanation.measure.lines import MeasuredRules

    Lines = TypeVar("Lines", bound=MeasuredRules)

LATEST = "latest"
"""What asks for the latest date of a table that is not in the future."""
Tree = TypeVar("Tree", bound=MeasuredTree)


def as_of_text(as_of: Any) -> str:
    """Return a day, a moment, or the name of a column as text; days and moments are those of ISO 8601.

    Raises
    ------
    TypeError
        If it is neither a text nor a date.
    """
    if isinstance(as_of, np.datetime64):
        as_of = as_of.astype("M8[us]").item()
    if isinstance(as_of, str):
        as_of = moment_in(as_of, "") or as_of.strip()
    if isinstance(as_of, datetime) and as_of == as_of:  # NaT is one, too
        is_day = as_of.time() == time() and as_of.tzinfo is None
        return as_of.date().isoformat() if is_day else as_of.isoformat(" ")
    if isinstance(as_of, date) and as_of == as_of:
        return as_of.isoformat()
    if not isinstance(as_of, str) or not as_of:
        raise TypeError(
            "as_of must be a day such as '2026-07-31', 'latest', or the name of the column that has the day of each "
            f"row; got {show_value(as_of)}"
        )
    return as_of


def names_column(as_of: Any) -> bool:
    """Return whether what is asked for is the name of a column."""
    text = as_of_text(as_of)
    return text not in (LATEST, TODAY, NOW) and moment_in(text, "") is None


def with_ages(dates: Mapping[str, Dates], as_of: str) -> dict[str, Dates]:
    """Return dates that are counted from a day, a moment, `TODAY`, `NOW`, or the day in a column.

    Raises
    ------
    DataError
        If the moment has a time zone where dates have none; or if it has none, and only some of the dates have.
    """
    moment = moment_in(as_of, "")
    if moment is not None and moment.tzinfo is not None:
        as_of = moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
        if local := [name for name, one in dates.items() if not one.zone]:
            raise DataError(
                f"as_of has a time zone, but the dates of {list_words(local)} have none; give the local time "
                "without one"
            )
    if (has_time(as_of) or as_of == NOW) and len({bool(one.zone) for one in dates.values()}) > 1:
        raise DataError("as_of has a time of day, but only some of the dates have a time zone; give the day alone")
    return {name: one._replace(as_of=as_of) for name, one in dates.items()}


def at(ex: Tree, as_of: Any = None) -> Tree:
    """Return the explanation whose ages are counted from another day; one without ages is returned as it is.

    IN: as_of: a day, a moment, `TODAY`, `NOW`, or a column. None is the day of the clock here, or the column that the
    ages of the explanation are counted from. It is without the rows that it was measured on, if that changes something.

    Raises
    ------
    DataError
        If the explanation has no ages, but `as_of` is given.
    """
    moved = _move_day(ex, as_of)
    if moved is ex:
        return ex
    return with_rules(moved, moved.tree, moved._coded_columns, moved._short)


def to_apply(ex: Tree, as_of: Any = None) -> Tree:
    """Return the same with rules in the words of before, which is enough to label rows."""
    return _move_day(ex, as_of)


def _move_day(ex: Tree, as_of: Any) -> Tree:
    known = {name: one for name, one in ex.details.dates if one.as_of}
    if not known:
        if as_of is not None:
            raise DataError("no rule says an age, so as_of has no meaning; explain the table with as_of to have ages")
        return ex
    text = _here(known) if as_of is None else as_of_text(as_of)
    if text == LATEST:
        raise DataError(f"as_of={LATEST!r} is for explain; give the day from which ages are counted here")
    if text.upper() in (TODAY, NOW):
        text = text.upper()
    if all(one.as_of == text for one in known.values()):
        return ex
    dates = with_ages(known, text)
    if dates == known:
        return ex
    shift = {ex.columns.index(name): dates[name].origin - one.origin for name, one in known.items()}
    tree = _shift_thresholds(ex.tree, shift)
    held = ex._kept.get(HELD) if ex._evidence is None else ex._evidence.held
    kept: dict[str, Any] = {"spreads": ex._spreads(), "shapes": _shifted_shapes(ex, tree, shift), HELD: held}
    return replace(
        ex,
        tree=tree,
        details=ex.details._replace(dates=tuple((name, dates.get(name, one)) for name, one in ex.details.dates)),
        _short=None if ex._short is None else _shift_thresholds(ex._short, shift),
        _evidence=None,
        _kept={name: found for name, found in kept.items() if found is not None},
    )


def _here(known: Mapping[str, Dates]) -> str:
    """Return what ages are counted from unless somebody says so: the column that has the day, the day here, or now."""
    first = next(iter(known.values()))
    if first.day_column:
        return first.day_column
    if not first.is_of_moment:
        return datetime.now().date().isoformat()
    now = datetime.now(UTC) if first.zone else datetime.now()
    return now.replace(tzinfo=None).isoformat(" ", timespec="microseconds")


def notes_on_days(explanation: MeasuredTree, dates: Mapping[str, Dates]) -> tuple[str, ...]:
    """Return a note on rules that cut dates at days, which say another thing when days have passed."""
    tree, columns = explanation.tree, explanation.columns
    ends = zip(tree.feature.tolist(), tree.lower.tolist(), tree.upper.tolist(), strict=True)
    cuts = ((columns[j], end) for j, *both in ends if j >= 0 and columns[j] in dates for end in both)
    aging = dict.fromkeys(
        name for name, end in cuts if math.isfinite(end) and not (dates[name].as_of or is_open_end(end))
    )
    if not aging:
        return ()
    at = f"rules that cut {list_words([column_name(name) for name in aging])} at a day go out of date as days pass"
    return (f'{at}; ages, such as "within the last 30 days", do not: as_of="latest", or the day (as_of)',)


def where_rules_run(ex: Tree, as_of: Any = None) -> Tree:
    """Return the explanation whose ages are counted from today, or now, wherever its rules run, or as is said."""
    return at(ex, _when_rules_run(ex, as_of))


def to_run(ex: Tree) -> Tree:
    """Return the same with rules in the words of before, which is enough to write code."""
    return to_apply(ex, _when_rules_run(ex, None))


def _when_rules_run(ex: MeasuredTree, as_of: Any) -> Any:
    first = next((one for _, one in ex.details.dates if one.as_of), None)
    if as_of is None and first is not None and not first.day_column:
        return NOW if first.is_of_moment else TODAY
    return as_of


def as_of_one_day(old: Any, new: Any, as_of: Any, *, on_rows: bool) -> tuple[Any, Any]:
    """Return two sides of a match whose ages are counted alike; others than explanations with ages stay as they are.

    On rows that both label they are counted from their day. Without rows, dates of both are days after their own day.
    """
    sides = [isinstance(one, MeasuredTree) and any(dates.as_of for _, dates in one.details.dates) for one in (old, new)]
    if on_rows:
        if as_of is not None and not any(sides):
            raise DataError("no rule says an age, so as_of has no meaning")
        found = [at(one, as_of) if has_ages else one for one, has_ages in zip((old, new), sides, strict=True)]
        return found[0], found[1]
    return (at(old, TODAY), at(new, TODAY)) if all(sides) else (old, new)


def counted_as(old: Tree, new: MeasuredTree) -> Tree:
    """Return an explanation whose ages are counted from the day of a later one, if both have ages."""
    day = next((one.as_of for _, one in new.details.dates if one.as_of), None)
    return old if day is None or not any(one.as_of for _, one in old.details.dates) else at(old, day)


def lines_where_rules_run(lines: Lines, as_of: Any = None) -> Lines:
    """Return one-line rules whose ages are counted from where they run, as `where_rules_run` does."""
    return _lines_of(lines, where_rules_run(lines.explanation, as_of))


def lines_to_apply(lines: Lines, as_of: Any = None) -> Lines:
    """Return one-line rules whose ages are counted from a day, as `to_apply` does."""
    return _lines_of(lines, to_apply(lines.explanation, as_of))


def _lines_of(lines: Lines, moved: MeasuredTree) -> Lines:
    if moved is lines.explanation:
        return lines
    before = dict(lines.explanation.details.dates)
    shift = {moved.columns.index(name): one.origin - before[name].origin for name, one in moved.details.dates}
    trees = tuple(tuple(_shift_thresholds(tree, shift) for tree in front) for front in lines.trees_of_fronts)
    return replace(lines, explanation=moved, trees_of_fronts=trees)


def _shift_thresholds(tree: ThresholdTree, shift: Mapping[int, int]) -> ThresholdTree:
    """Return a tree whose thresholds are later; IN: shift: by so many microseconds, for some columns."""
    lower, upper = tree.lower.copy(), tree.upper.copy()
    for node in np.flatnonzero(np.isin(tree.feature, [*shift])).tolist():
        by = shift[int(tree.feature[node])]
        upper[node] = _later(float(upper[node]), by)
        if math.isfinite(lower[node]):
            below = _later(math.nextafter(float(lower[node]), -math.inf), by)
            lower[node] = math.nextafter(below, math.inf)
    return tree.with_thresholds(lower, upper)


def _later(days: float, by: int) -> float:
    """Return a threshold so many microseconds later: it parts dates that are later by as much in the same way."""
    if not by or not math.isfinite(days) or abs(days) == sys.float_info.max:
        return days
    return math.nextafter((first_after(days) + by) / MICROSECONDS, -math.inf)


def _shifted_shapes(ex: MeasuredTree, tree: ThresholdTree, shift: Mapping[int, int]) -> dict[int, Shape] | None:
    """Return how columns lie within clusters, of dates that are later; ends of cuts stay ends of cuts."""
    from boxwood.explanation.living.shapes import shapes_of

    shapes = shapes_of(ex)
    if shapes is None:
        return None
    before, after = (np.concatenate([one.lower, one.upper]).tolist() for one in (ex.tree, tree))
    ends = dict(zip(zip(np.tile(tree.feature, 2).tolist(), before, strict=True), after, strict=True))
    return {
        j: shape._replace(edges=tuple(ends.get((j, x), _later(x, shift[j])) for x in shape.edges))
        if j in shift
        else shape
        for j, shape in shapes.items()
    }
