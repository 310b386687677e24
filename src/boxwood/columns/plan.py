"""Columns of a plan: of each of them every combination with another one comes equally often.

So are the conditions of an experiment, the places and times at which all is measured, and the lines and columns of a
table that was made long. By chance that hardly happens: of 1,856 tables of R's packages, 205 have such columns, and in
each of these somebody planned them. So they say how a table was made, and not of which kind its rows are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from boxwood._types import Indices
from boxwood.columns.seen import SeenValues

FEWEST_ROWS = 20
FEWEST_CELLS = 6  # combinations of two columns: two flags may come equally by chance, or as samples of equal size
MOST_VALUES = 50  # of a column


def crossed_among(columns: Sequence[SeenValues]) -> set[str]:
    """Return the names of the columns of which each combination with another one of them comes equally often."""
    equal = {one.name: codes for one in columns for codes in _equal_codes(one)}
    found = set[str]()
    for (a, first), (b, second) in combinations(equal.items(), 2):
        if _are_crossed(*first, *second):
            found |= {a, b}
    return found


def _are_crossed(first: Indices, n: int, second: Indices, m: int) -> bool:
    """Return whether all n m combinations of two codes come equally often."""
    if n * m < FEWEST_CELLS or len(first) % (n * m):
        return False
    return bool(np.ptp(np.bincount(first * m + second, minlength=n * m)) == 0)


def _equal_codes(one: SeenValues) -> Iterator[tuple[Indices, int]]:
    """Yield the code of each row and the number of codes, if all come equally often, and are not too many."""
    n_rows = len(one.values)
    if n_rows < FEWEST_ROWS or one.lacks_some or not (one.is_word or one.are_few):
        return
    values, codes, counts = np.unique(one.values, return_inverse=True, return_counts=True)
    if 2 <= len(values) <= MOST_VALUES and (counts == counts[0]).all():
        yield codes, len(values)
