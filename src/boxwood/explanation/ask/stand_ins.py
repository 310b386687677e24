"""`notes_on_stand_ins`: numbers that may stand for missing values, as 2 beside 0 and 1 in the same rows of columns."""

from __future__ import annotations

import numpy as np

from boxwood._types import Bools, Floats
from boxwood._validation import listed
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.words.values import column_name

VALUES = (3, 20)  # different ones of a column that may have such a number
COLUMNS, ROWS = 3, 20  # at least, that have it: two columns may ask nearly the same
LONGEST = 10_000  # such a number is short, as 99 and -1; zero is none, as it says that nothing is there


def notes_on_stand_ins(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on numbers of columns in the rules that others have in the same rows, but not in all as these do."""
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None:
        return ()
    found: dict[str, None] = {}
    others = [j for j in range(len(explanation.columns)) if j not in explanation._coded_columns]
    X = evidence.coordinates.table.values
    for j in (j for j in explanation.tree.features.tolist() if j in others):
        for number, rows in _suspects(X[:, j]):
            alike = [k for k in others if _has(X[:, k], number, rows) and (k == j or _differ(X[:, k], X[:, j]))]
            if len(alike) >= COLUMNS:
                names = listed([column_name(explanation.columns[k]) for k in alike])
                said = f"{number:g} is in the same {int(rows.sum()):,} rows of each of {names}"
                found[f"{said}: if it stands for a missing value, make it one, and rows are compared without it"] = None
    return tuple(found)


def _suspects(x: Floats) -> list[tuple[float, Bools]]:
    """Return the numbers that may stand for a missing value, and whether each row has it."""
    if len(np.unique(x[: 10 * VALUES[1]])) > VALUES[1]:  # most columns show soon that they have more values
        return []
    numbers, n_rows = np.unique(x[~np.isnan(x)], return_counts=True)
    if not VALUES[0] <= len(numbers) <= VALUES[1]:
        return []
    pairs = zip(numbers.tolist(), n_rows.tolist(), strict=True)
    return [(one, x == one) for one, n in pairs if n >= ROWS and one.is_integer() and 0 != abs(one) < LONGEST]


def _has(x: Floats, number: float, rows: Bools) -> bool:
    """Return whether a column has a number in these rows alone, and several others."""
    return np.array_equal(x == number, rows) and len(np.unique(x[~rows])) >= VALUES[0] - 1


def _differ(x: Floats, y: Floats) -> bool:
    """Return whether columns are no copies of each other."""
    return not np.array_equal(x, y, equal_nan=True)
