"""`FewNumbers`: the different numbers of columns, as long as these are few."""

from __future__ import annotations

import numpy as np

from boxwood._types import Bools, Floats

MANY_NUMBERS = 20  # different whole numbers, at least, that may name things; no more of them are few
NO_NUMBERS = np.empty(0)
FIRST = 1000  # values that show of most columns that they hold more


def few_among(values: Floats, found: Floats = NO_NUMBERS) -> Floats | None:
    """Return the different numbers among values, and those `found` before; None if they are too many."""
    while len(values) and len(found) <= MANY_NUMBERS:
        found, rest = np.union1d(found, values[:FIRST]), values[FIRST:]
        values = rest[~np.isin(rest, found)] if len(found) <= MANY_NUMBERS else rest
    return found if len(found) <= MANY_NUMBERS else None


class FewNumbers:
    """The different numbers of each column of a table in blocks; None where they are too many."""

    def __init__(self, n_columns: int) -> None:
        self.found: list[Floats | None] = [NO_NUMBERS] * n_columns

    def update(self, j: int, values: Floats) -> None:
        """Add values of a column; NaN is none."""
        found = self.found[j]
        if found is not None:
            self.found[j] = few_among(values[~np.isnan(values)], found)

    def merge(self, other: FewNumbers) -> None:
        """Add the numbers of other rows."""
        for j, found in enumerate(other.found):
            if found is None:
                self.found[j] = None
            else:
                self.update(j, found)

    @property
    def are_few(self) -> Bools:
        """Whether the numbers of each column are few."""
        return np.array([found is not None for found in self.found], dtype=np.bool_)
