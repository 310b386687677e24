"""How far the values of a column spread: the unit in which a margin or a change is small or large."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from boxwood._types import LATER, Array, Floats, Positive

if TYPE_CHECKING:
    from boxwood.reference import Task


class Spread(NamedTuple):
    """The spread of a column among the rows that are in a cluster.

    Parameters
    ----------
    deviation : float
        Standard deviation, weighted if rows are; 1 for a column of one value, so that it is always above 0.
    whole : bool
        Whether all values are whole numbers.
    signed : bool or None, default=None
        Whether some value is below 0; None where clusters of few rows may tell, so that rules name no value.
    """

    deviation: Positive
    whole: bool
    signed: Annotated[bool | None, LATER] = None


def spreads_of(task: Task, table: Array, columns: Iterable[int]) -> dict[int, Spread]:
    """Return the spread of some columns; IN: table (n, d), the rows of `task` in the table's columns.

    Missing values, which are infinite there, do not count.
    """
    rows = np.flatnonzero(task.kept)
    weights = None if task.rows.weights is None else task.rows.weights[rows]
    return {j: _spread(np.asarray(table[rows, j], dtype=np.float64), weights) for j in columns}


def _spread(values: Floats, weights: Floats | None) -> Spread:
    if (known := np.isfinite(values)).sum() < len(values):
        values, weights = values[known], None if weights is None else weights[known]
        if len(values) == 0:
            return Spread(1.0, False)
    whole, signed = bool((values == np.floor(values)).all()), bool((values < 0).any())
    if not len(values) or (values == values[0]).all():
        return Spread(1.0, whole, signed)
    exponent = int(np.frexp(np.abs(values).max())[1])
    x = np.ldexp(values, -exponent)  # at most 1, so that no square leaves the range
    deviation = np.sqrt(np.average(np.square(x - np.average(x, weights=weights)), weights=weights))
    return Spread(float(np.ldexp(deviation, exponent)) or 1.0, whole, signed)


def end_of_cut(values: Floats, lower: float, upper: float) -> tuple[Floats, Floats]:
    """Return the end of a cut that is nearest to each value, and how far it is: there the value changes sides.

    Of two ends at one distance it is the upper one.
    """
    with np.errstate(over="ignore"):  # a distance may be larger than the largest double
        to_lower, to_upper = np.abs(values - lower), np.abs(values - upper)
    return np.where(to_lower < to_upper, lower, upper), np.minimum(to_lower, to_upper)
