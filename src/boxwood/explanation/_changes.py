"""The smallest change of a row that reaches another cluster: exact, over the boxes of all leaves."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from boxwood.axes import Categories
from boxwood.explanation._one_row import OneRow
from boxwood.explanation._spreads import Spread
from boxwood.tree import Interval, ThresholdTree

__all__ = ["Change", "Move", "smallest_changes"]


class Move(NamedTuple):
    """The change of one column: its value before and after, and how far that is.

    `deviations` is the distance in standard deviations of the column; 1 for a column of categories, where `is_category`
    is true.
    """

    column: str
    before: Hashable
    after: Hashable
    deviations: float
    is_category: bool = False


class Change(NamedTuple):
    """The smallest change of a row that brings it to another cluster.

    Parameters
    ----------
    cluster : int
    name : str or number
        The other cluster, and its name.
    leaf : int
        Leaf that the changed row reaches.
    deviations : float
        Sum of the changes of all columns, in standard deviations; a change of category counts 1.
    moves : tuple of Move
        Columns to change, in the order of the table's columns. The others keep their values.
    """

    cluster: int
    name: Hashable
    leaf: int
    deviations: float
    moves: tuple[Move, ...]


class _Step(NamedTuple):
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
    best: dict[int, tuple[tuple[Fraction, int, int], dict[int, _Step]]] = {}
    for leaf, (box, other) in enumerate(zip(tree.boxes(), tree.leaf_clusters.tolist(), strict=True)):
        if other == cluster:
            continue
        steps: dict[int, _Step] = {}
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
        Change(i, names[i], price[2], _rounded(price[0]), _moves(row, steps, columns, categories))
        for i, (price, steps) in sorted(best.items())
    )


def _moves(
    row: OneRow, steps: Mapping[int, _Step], columns: Sequence[str], categories: Mapping[int, Categories]
) -> tuple[Move, ...]:
    return tuple(
        Move(
            columns[j],
            row.values[j],
            categories[j].value(step.number) if j in categories else step.number,
            _rounded(step.distance),
            j in categories,
        )
        for j, step in sorted(steps.items())
    )


def _nearest(
    x: float, pieces: Sequence[Interval], categories: Categories | None, spread: Spread | None
) -> _Step | None:
    """Return the nearest allowed value of a column, the smaller one of two; the first allowed category."""
    if categories is not None:
        codes = (code for code, _ in categories.domain if any(code in piece for piece in pieces))
        return next((_Step(code, Fraction(1)) for code in codes), None)
    assert spread is not None  # every tested column has one
    values = [value for piece in pieces if (value := _end(x, piece, whole=spread.whole)) is not None]
    if not values:
        return None
    near = min(values, key=lambda value: (abs(Fraction(value) - Fraction(x)), value))
    return _Step(near, abs(Fraction(near) - Fraction(x)) / Fraction(spread.deviation))


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


def _rounded(distance: Fraction) -> float:
    """Return the nearest double; infinity for what is larger than the largest."""
    try:
        return float(distance)
    except OverflowError:
        return math.inf
