"""`Guard`: counts and shares of few rows are not told, nor others from which they would follow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Bools, Floats
from boxwood.render._figures import percent

__all__ = ["Guard"]

_EPSILON = 1e-9  # shares times sizes are whole numbers but for rounding


class Guard(NamedTuple):
    """Hides counts of 1 to `least` - 1 rows (or of such weights).

    Examples
    --------
    >>> guard = Guard(5)
    >>> guard.count(3), guard.rows(1200), guard.share(3, 200), guard.share(197, 200)
    ('<5', '1,200 rows', '<2.5%', '>97.5%')
    """

    least: int

    def hides(self, count: float) -> bool:
        """Return whether a count is of too few rows to be told. That there is no row may be told."""
        return _EPSILON < count < self.least - _EPSILON

    def told(self, counts: ArrayLike) -> list[str]:
        """Return the counts of a known total as texts, shape (m,).

        A single count of few rows would follow from the others, so the next larger one is told by a bound alone, which
        says no more than "few" does.

        Examples
        --------
        >>> Guard(5).told([120, 0, 3, 40]), Guard(5).told([120, 0, 3, 4])
        (['120', '0', '<5', '>38'], ['120', '0', '<5', '<5'])
        """
        parts = np.asarray(counts, dtype=np.float64)
        hidden = self.hidden(parts)
        few = sum(part for part in parts.tolist() if self.hides(part))
        return [self.count(part, few if is_hidden else None) for part, is_hidden in zip(parts, hidden, strict=True)]

    def hidden(self, counts: ArrayLike) -> Bools:
        """Return which counts of a known total are not told, shape (m,): those of few rows, and perhaps one more."""
        parts = np.asarray(counts, dtype=np.float64)
        return self._with_others(parts, np.zeros(len(parts), dtype=bool))

    def told_cells(self, table: Floats) -> list[list[str]]:
        """Return the cells of a table as texts, where the sums of its rows and columns are known; "·" stands for 0."""
        hidden = np.zeros(table.shape, dtype=bool)
        while True:
            before = hidden.copy()
            for cells, line in [*zip(hidden, table, strict=True), *zip(hidden.T, table.T, strict=True)]:
                cells |= self._with_others(line, cells)
            if (hidden == before).all():
                return [self._line(line.tolist(), cells.tolist()) for line, cells in zip(table, hidden, strict=True)]

    def count(self, count: float, few: float | None = None) -> str:
        """Return a count as text; `few`, the sum of the few rows that would follow from it, turns it into a bound."""
        if self.hides(count):
            return f"<{self.least}"
        return amount(count) if few is None else f">{amount(math.floor(count + few - self.least))}"

    def rows(self, count: float, few: float | None = None, weighted: bool = False) -> str:
        """Return a number of rows as text; see `count`."""
        text = self.count(count, few)
        if weighted:
            return f"weight {text}"
        words = text.replace("<", "fewer than ").replace(">", "over ")
        return f"{words} row{'' if words == '1' else 's'}"

    def share(self, part: float, whole: float) -> str:
        """Return a share as text: at most or at least as much as can be told."""
        if whole <= 0 or self.hides(whole) or (self.hides(part) and self.hides(whole - part)):
            return "–"
        if self.hides(part):
            return f"<{percent(min(self.least / whole, 1.0))}"
        if self.hides(whole - part):
            return f">{percent(max(1.0 - self.least / whole, 0.0))}"
        return percent(min(max(part / whole, 0.0), 1.0))

    def _with_others(self, line: Floats, cells: Bools) -> Bools:
        """Return which counts of a line are not told, given that some are hidden already.

        The hidden ones are together as many rows as may be told, if there are so many.
        """
        hidden = cells | np.array([self.hides(part) for part in line.tolist()], dtype=bool)
        others = [i for i in np.argsort(line, kind="stable").tolist() if line[i] > 0 and not hidden[i]]
        while hidden.any() and others and line[hidden].sum() < self.least - _EPSILON:
            hidden[others.pop(0)] = True
        return np.asarray(hidden)

    def _line(self, line: list[float], hidden: list[bool]) -> list[str]:
        """Return the cells of a line; the only hidden one that is not few has a bound, of several none has."""
        few = [x for x in line if self.hides(x)]
        bounded = sum(hidden) - len(few) == 1 and sum(few) < self.least
        return [
            "·" if x == 0 else self.count(x) if not is_hidden else self.count(x, sum(few)) if bounded else self._dash(x)
            for x, is_hidden in zip(line, hidden, strict=True)
        ]

    def _dash(self, count: float) -> str:
        return self.count(count) if self.hides(count) else "–"


def amount(rows: float) -> str:
    """Return a count as text, or a weight in four digits."""
    rows = round(rows, 9)
    return f"{rows:,.0f}" if rows == math.floor(rows) else f"{rows:,.4g}"
