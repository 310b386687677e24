"""Why a row is in its cluster: its way down the tree, and the smallest change to each other cluster."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._dates import NO_DATES, Dates
from boxwood._frames import is_frame, refuse_unknown_columns, row_by_names
from boxwood._types import Array
from boxwood._validation import kind_of_value, position, show_value
from boxwood.axes import Categories
from boxwood.axes.categories import is_missing
from boxwood.axes.transformers import values_of
from boxwood.errors import DataError
from boxwood.explanation.ages import at
from boxwood.explanation.apply.results import Change, Move, Step, Why
from boxwood.explanation.apply.rows import LARGEST, count_row_from_day, never_seen, numbers_of
from boxwood.explanation.measure.spreads import Spread, end_of_cut
from boxwood.explanation.records import condition_of, value_of_two
from boxwood.tree import Interval, ThresholdTree
from boxwood.tree.boxes import ends_without_missing, reached_by_missing, without_missing
from boxwood.tree.nodes import Cut
from boxwood.tree.shorten import shortest_between

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


def why_of(ex: MeasuredTree, row: Any, immutable: Collection[str], as_of: Any = None) -> Why:
    """See `Explanation.why`."""
    if as_of is not None or not isinstance(row, Integral):  # a row that was measured is seen from the day of then
        ex = at(ex, as_of)
    if isinstance(immutable, str):
        raise TypeError(f"immutable must be a list of names, got the text {show_value(immutable)}")
    refuse_unknown_columns(immutable, ex.columns)
    tree, coded, spreads = ex.tree, ex._coded_columns, ex._spreads()
    if isinstance(row, (int, np.integer)) and not isinstance(row, bool) and ex._in_memory is not None:
        row = ex._in_memory.row_of(position("row", row, ex.n_rows))

    def measured() -> Array:
        return ex._rows("the position of a row").coordinates.table.values

    known = one_row(row, ex.columns, tree.features.tolist(), coded, measured, ex._gap_columns, ex._date_columns)
    cuts, leaf = _way(tree, known)
    by_missing = reached_by_missing(tree, ex._gap_columns)
    steps = tuple(_step(ex, cut, known, spreads or {}, by_missing) for cut in cuts)
    if leaf is None:
        return Why(None, None, None, None, None, _without(ex, known, cuts[-1].feature), steps[:-1], (), ())
    summary = ex.leaves[leaf]
    changes: tuple[Change, ...] = ()
    reason = "the model was saved without the spreads of its columns, so changes cannot be compared"
    if spreads is not None:
        fixed = [ex.columns.index(name) for name in immutable]
        kinds: dict[str, Any] = {"columns": ex.columns, "names": ex.names, "categories": coded, "spreads": spreads}
        found = smallest_changes(tree, known, summary.cluster, immutable=fixed, **kinds)
        changes, reason = tuple(_say_dates(change, dict(ex.details.dates)) for change in found), ""
    reached = {summary.cluster, *(change.cluster for change in changes)}
    far = tuple(one.name for one in ex.clusters if one.cluster not in reached) if spreads is not None else ()
    name = ex.names[summary.cluster]
    return Why(summary.cluster, leaf, name, summary.size, summary.own, reason, steps, changes, far)


def _say_dates(change: Change, dates: Mapping[str, Dates]) -> Change:
    """Return a change whose moves know how dates are said."""
    return change._replace(moves=tuple(move._replace(dates=dates.get(move.column)) for move in change.moves))


def _way(tree: ThresholdTree, row: OneRow) -> tuple[list[Cut], int | None]:
    """Return the cuts on the way of a row, and its leaf; no leaf if the last cut asks for a value that is not there."""
    cuts, node = [], 0
    while (j := int(tree.feature[node])) >= 0:
        (_, upper, lower, members), x = tree.test(node), row.numbers[j]
        inside = bool(tree.is_inside(node, np.array([x]))[0])
        cuts.append(Cut(node, j, lower, upper, inside, members))
        if math.isnan(x):
            return cuts, None
        node = node + 1 if cuts[-1].inside else int(tree.second[node])
    return cuts, int(np.searchsorted(tree.leaf_nodes, node))


def _step(ex: MeasuredTree, cut: Cut, row: OneRow, spreads: Mapping[int, Spread], reached: Collection[int]) -> Step:
    """Return a cut on the way of a row; IN: reached: cuts that missing values reach."""
    column, coded = ex.columns[cut.feature], ex._coded_columns
    side = condition_of(cut, ex.columns, coded, ex._gap_columns, ex._date_columns)
    if side.or_missing and cut.node not in reached:
        side = side._replace(or_missing=False)
    is_value = ex._says_values(cut.feature, cut.lower, cut.upper)
    said = column, row.values[cut.feature], side._replace(intervals=value_of_two(side)) if is_value else side
    if cut.feature in coded or is_value:
        return Step(*said)
    has_gaps = cut.feature in ex._gap_columns
    ends = ends_without_missing(cut.lower, cut.upper) if has_gaps else (cut.lower, cut.upper)
    if has_gaps and (row.values[cut.feature] is None or ends == (-math.inf, math.inf)):
        return Step(*said)
    thresholds, margins = end_of_cut(np.array([row.numbers[cut.feature]]), *ends)
    spread, margin = spreads.get(cut.feature), float(margins[0])
    return Step(*said, float(thresholds[0]), margin, None if spread is None else margin / spread.deviation)


def _without(ex: MeasuredTree, row: OneRow, j: int) -> str:
    """Return why a row has no cluster: a value is missing, or was never seen."""
    if row.values[j] is None:
        return f"{ex.columns[j]} is missing"
    return f"{ex.columns[j]} is {never_seen(row.values[j], ex._coded_columns[j])}"


class _NewNumber(NamedTuple):
    """A column's new number, and the exact distance to it in standard deviations."""

    number: float
    distance: Fraction


def smallest_changes(
    tree: ThresholdTree,
    row: OneRow,
    cluster: int,
    *,
    columns: Sequence[str],
    names: Sequence[Hashable],
    categories: Mapping[int, Categories],
    spreads: Mapping[int, Spread],
    immutable: Collection[int],
) -> tuple[Change, ...]:
    """Return the smallest change to each other cluster that can be reached, in the order of the clusters' numbers.

    A leaf's box is a product of one set of values for each column, so the nearest value of each column is chosen on its
    own. Sums of distances are compared as fractions, so a tie is a tie; then fewest columns and the first leaf decide.
    """
    best: dict[int, tuple[tuple[Fraction, int, int], dict[int, _NewNumber]]] = {}
    for leaf, (box, other) in enumerate(zip(tree.boxes(), tree.leaf_clusters.tolist(), strict=True)):
        if other == cluster:
            continue
        steps: dict[int, _NewNumber] = {}
        for j, pieces in box.items():
            x = row.numbers[j]
            if math.isnan(x):
                break  # the tree asks for a value that the row does not have
            if any(x in piece for piece in pieces):
                continue
            step = None if j in immutable else _nearest(x, pieces, categories.get(j), spreads.get(j))
            if step is None:
                break
            steps[j] = step
        else:
            price = sum((step.distance for step in steps.values()), Fraction(0)), len(steps), leaf
            if other not in best or price < best[other][0]:
                best[other] = price, steps
    return tuple(
        Change(i, names[i], price[2], _round_distance(price[0]), _moves(row, steps, columns, categories))
        for i, (price, steps) in sorted(best.items())
    )


def _moves(
    row: OneRow, steps: Mapping[int, _NewNumber], columns: Sequence[str], categories: Mapping[int, Categories]
) -> tuple[Move, ...]:
    return tuple(
        Move(
            columns[j],
            row.values[j],
            categories[j].value(step.number) if j in categories else step.number,
            _round_distance(step.distance),
            j in categories,
        )
        for j, step in sorted(steps.items())
    )


def _nearest(
    x: float, pieces: Sequence[Interval], categories: Categories | None, spread: Spread | None
) -> _NewNumber | None:
    """Return the nearest allowed value of a column, the smaller one of two; the first allowed category."""
    if categories is not None:
        codes = (code for code, _ in categories.domain if any(code in piece for piece in pieces))
        return next((_NewNumber(code, Fraction(1)) for code in codes), None)
    assert spread is not None  # every tested column has one
    if math.isinf(x):
        return _instead_of_missing(pieces, spread)
    values = [value for piece in pieces if (value := _end(x, piece, whole=spread.whole)) is not None]
    if not values:
        return None
    near = min(values, key=lambda value: (abs(Fraction(value) - Fraction(x)), value))
    return _NewNumber(near, abs(Fraction(near) - Fraction(x)) / Fraction(spread.deviation))


def _instead_of_missing(pieces: Sequence[Interval], spread: Spread) -> _NewNumber | None:
    """Return a number that will do where a value is missing, in the first interval that has one.

    It is 0, if all will do; the end of the interval in a column of whole numbers; otherwise one of few digits.
    """
    for piece in without_missing(pieces)[0]:
        if piece[:2] == (-math.inf, math.inf):
            return _NewNumber(0.0, Fraction(1))
        ends = [_end(x, piece, whole=spread.whole) for x in (math.inf, -math.inf)]
        known = [end for end in ends if end is not None]
        if known and spread.whole:
            return _NewNumber(known[0], Fraction(1))
        if known:
            high = known[0] if ends[0] is not None else known[0] + spread.deviation
            low = known[-1] if ends[1] is not None else known[-1] - spread.deviation
            return _NewNumber(shortest_between(low, high), Fraction(1))
    return None


def _end(x: float, piece: Interval, *, whole: bool) -> float | None:
    """Return the value of an interval that is nearest to a value outside it; None if it holds no such number."""
    above = x < piece.lower or (x == piece.lower and not piece.lower_closed)
    end, closed, towards = (
        (piece.lower, piece.lower_closed, math.inf) if above else (piece.upper, piece.upper_closed, -math.inf)
    )
    if math.isinf(end):
        return None
    value = end if closed else math.nextafter(end, towards)
    if whole and math.isfinite(value):
        value = float(math.ceil(value) if above else math.floor(value))
    return value + 0.0 if math.isfinite(value) and value in piece else None


def _round_distance(distance: Fraction) -> float:
    """Return the nearest double; infinity for what is larger than the largest."""
    try:
        return float(distance)
    except OverflowError:
        return math.inf


class OneRow(NamedTuple):
    """The columns of a row that a tree tests.

    `values` are as people have them: numbers, categories, or None for missing ones. `numbers` are what the tree tests:
    the same numbers, codes of categories, and NaN where a value is missing or was never seen; +inf where it is missing
    in a column with gaps.
    """

    values: dict[int, Hashable]
    numbers: dict[int, float]


def one_row(
    row: Any,
    columns: Sequence[str],
    features: Sequence[int],
    categories: Mapping[int, Categories],
    table: Any,
    gaps: Collection[int] = (),
    dates: Mapping[int, Dates] = NO_DATES,
) -> OneRow:
    """Return the tested columns of a row.

    IN: features: these columns; table: function that gives the measured rows; gaps: columns of numbers in which the
    tree takes a missing value as +inf; dates: columns of dates.

    `row` is a mapping from column to value, a data frame of one row, a series with the columns' names, values in the
    order of the columns, or the position of a measured row.
    """
    if isinstance(row, (int, np.integer)) and not isinstance(row, bool):
        rows = table()
        measured = rows[position("row", row, len(rows))]
        numbers = {j: float(measured[j]) for j in features}
        return OneRow(
            {j: categories[j].value(x) if j in categories else _show_number(x) for j, x in numbers.items()}, numbers
        )
    if isinstance(row, np.ndarray) and row.dtype.kind != "O":  # as arrays have dates: as days
        dates = NO_DATES
    of_dates = {columns[j]: dates[j] for j in features if j in dates}
    plain = {j: _plain(value) for j, value in _values(row, columns, features, of_dates)}
    numbers = {
        j: float(categories[j].codes([value])[0]) if j in categories else _number(value, columns[j], dates.get(j))
        for j, value in plain.items()
    }
    values = {
        j: _name_category(categories[j], x, plain[j]) if j in categories else _show_number(x)
        for j, x in numbers.items()
    }
    return OneRow(values, {j: math.inf if j in gaps and math.isnan(x) else x for j, x in numbers.items()})


def _values(
    row: Any, columns: Sequence[str], features: Sequence[int], dates: Mapping[str, Dates]
) -> list[tuple[int, Any]]:
    """Return the tested columns and their values, of any type."""
    wanted = [*(columns[j] for j in features), *(one.day_column for one in dates.values() if one.day_column)]
    if is_frame(row):
        row = {name: _only(values_of(row, name)) for name in wanted}
    elif hasattr(row, "to_dict"):  # a series of pandas
        row = row.to_dict()
    if isinstance(row, (list, tuple)) and len(row) == 1 and isinstance(row[0], Mapping):
        row = row[0]
    if isinstance(row, Mapping):
        values = count_row_from_day(row_by_names(row, wanted, "the row"), dates)
        return [(j, values[columns[j]]) for j in features]
    if isinstance(row, np.ndarray) and row.ndim == 2 and len(row) == 1:
        row = row[0]
    if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or np.ndim(row) > 1:
        raise TypeError(
            "row must be a mapping from column to value, a data frame of one row, a list of values, or the position of "
            f"a row; got {kind_of_value(row) if np.ndim(row) < 1 else f'rows of shape {np.shape(row)}'}"
        )
    if len(row) != len(columns):
        raise DataError(f"row has {len(row)} values, but there are {len(columns)} columns")
    return [(j, row[j]) for j in features]


def _only(values: list[Any]) -> Any:
    if len(values) != 1:
        raise DataError(f"row must be a data frame of one row, got {len(values)} rows")
    return values[0]


def _plain(value: Any) -> Any:
    """Return a value as Python has it, and None for a missing one."""
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _number(value: Any, name: str, dates: Dates | None) -> float:
    """Return a number; an infinite one is the largest double, which every cut puts on the same side."""
    return min(max(float(numbers_of([value], name, dates)[0]), -LARGEST), LARGEST)


def _name_category(categories: Categories, code: float, value: Hashable) -> Hashable:
    """Return a category as the column has it: 0 in a column of booleans is False. An unknown value stays as it is."""
    return categories.values[int(code)] if code < len(categories.values) else value


def _show_number(number: float) -> float | None:
    return number if math.isfinite(number) else None
