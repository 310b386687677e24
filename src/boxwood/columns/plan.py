"""Columns of a plan: of each of them every combination with another one comes equally often.

So are the conditions of an experiment, the places and times at which all is measured, and the lines and columns of a
table that was made long. By chance that hardly happens: of 1,856 tables of R's packages, 205 have such columns, and in
all of these that were read somebody planned them. So they say how a table was made, and not of which kind rows are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from boxwood._types import Indices
from boxwood.columns.seen import SeenValues

FEWEST_ROWS = 20
FEWEST_CELLS = 6  # combinations of two columns: two flags may come equally by chance, or as samples of equal size


def plan_among(columns: Sequence[SeenValues]) -> set[str]:
    """Return the names of the columns of which each combination with another one of them comes equally often.

    What says something of persons who were all seen on each of some days, such as their sex, is none: it goes with the
    person, and the day does not. Conditions that go with the cell of a field are some: those crossed with them do so.
    """
    equal = {one.name: codes for one in columns for codes in _equal_codes(one)}
    beside: dict[str, list[str]] = {}
    for a, b in combinations(equal, 2):
        if _are_combined(*equal[a], *equal[b]):
            beside.setdefault(a, []).append(b)
            beside.setdefault(b, []).append(a)

    def goes(name: str, unit: str) -> bool:
        return _goes_with(*equal[name], *equal[unit])

    return {
        name
        for name, others in beside.items()
        if not any(goes(name, unit) and not any(goes(one, unit) for one in others) for unit in beside)
    }


def _are_combined(first: Indices, n: int, second: Indices, m: int) -> bool:
    """Return whether all n m combinations of two codes come equally often."""
    if n * m < FEWEST_CELLS or len(first) % (n * m):
        return False
    return bool(np.ptp(np.bincount(first * m + second, minlength=n * m)) == 0)


def _goes_with(first: Indices, n: int, second: Indices, m: int) -> bool:
    """Return whether each of m codes goes with one of n, which are fewer."""
    return n < m and len(np.unique(first * m + second)) == m


def _equal_codes(one: SeenValues) -> Iterator[tuple[Indices, int]]:
    """Yield the code of each row and the number of codes, if all come equally often, and more than once."""
    x = one.values
    if len(x) < FEWEST_ROWS or one.lacks_some:
        return
    each = [int((x == value).sum()) for value in (x[0], x[-1], one.least)]  # of most columns these differ
    if each[0] < 2 or len({*each}) > 1 or each[0] == len(x):
        return
    values, codes, counts = np.unique(x, return_inverse=True, return_counts=True)
    if (counts == each[0]).all():
        yield codes, len(values)
