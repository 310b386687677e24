"""`Guard`: counts and shares of few rows are not told, nor the one other count from which they would follow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Bools, Floats
from boxwood.render._figures import percent

__all__ = ["Guard", "Hidden"]

_EPSILON = 1e-9  # shares times sizes are whole numbers but for rounding


class Hidden(NamedTuple):
    """Which counts of a known total are not told, shape (m,).

    `few` are those of few rows, `cover` is one more, None for none, and `bound` what may be told of it: it is larger.
    If no count is large enough to cover the few, all are hidden without a bound.
    """

    counts: Bools
    few: Bools
    cover: int | None
    bound: float | None


class Guard(NamedTuple):
    """Hides counts of 1 to `least` - 1 rows (or of such weights).

    Examples
    --------
    >>> guard = Guard(5)
    >>> guard.number(3), guard.rows(1200), guard.share(3, 200), guard.share(197, 200)
    ('<5', '1,200 rows', '<2.5%', '>97.5%')
    """

    least: int

    def hides(self, count: float) -> bool:
        """Return whether a count is of too few rows to be told. That there is no row may be told."""
        return _EPSILON < count < self.least - _EPSILON

    def hidden(self, counts: ArrayLike) -> Hidden:
        """Return which counts of a known total are not told.

        A single count of few rows would follow from the others. So another one is told by a bound alone: the smallest
        from which the few may be any numbers below `least`. The bound says no more than that they are few.
        """
        parts = np.asarray(counts, dtype=np.float64)
        few = (parts > _EPSILON) & (parts < self.least - _EPSILON)
        n = int(few.sum())
        if n == 0:
            return Hidden(few, few, None, None)
        large = np.flatnonzero(~few & (parts >= (n + 1) * self.least))
        if len(large) == 0:
            return Hidden(parts > 0, few, None, None)
        cover = int(large[np.argmin(parts[large])])
        hidden = few.copy()
        hidden[cover] = True
        return Hidden(hidden, few, cover, math.floor(parts[hidden].sum() - n * self.least + _EPSILON))

    def told(self, counts: ArrayLike) -> list[str]:
        """Return the counts of a known total as texts, shape (m,).

        Examples
        --------
        >>> Guard(5).told([120, 0, 3, 40]), Guard(5).told([6, 0, 3])
        (['120', '0', '<5', '>38'], ['–', '0', '–'])
        """
        parts = np.asarray(counts, dtype=np.float64).tolist()
        hidden = self.hidden(parts)
        if hidden.cover is None and hidden.counts.sum() > 1:
            return ["–" if is_hidden else amount(part) for part, is_hidden in zip(parts, hidden.counts, strict=True)]
        return [self.number(part, hidden.bound if i == hidden.cover else None) for i, part in enumerate(parts)]

    def told_cells(self, table: Floats) -> list[list[str]]:
        """Return the cells of a table as texts, where the sums of its rows and columns are known; "·" stands for 0.

        In each row and column with a hidden cell, others are hidden that cover it.
        """
        hidden = np.zeros(table.shape, dtype=bool)
        while True:
            before = hidden.sum()
            for cells, line in [*zip(hidden, table, strict=True), *zip(hidden.T, table.T, strict=True)]:
                self._cover(line, cells)
            if hidden.sum() == before:
                return [self._line(line, cells) for line, cells in zip(table, hidden, strict=True)]

    def number(self, count: float, bound: float | None = None) -> str:
        """Return a count as text, or the bound of a hidden one."""
        if self.hides(count):
            return f"<{self.least}"
        return amount(count) if bound is None else f">{amount(bound)}"

    def rows(self, count: float, bound: float | None = None, weighted: bool = False) -> str:
        """Return a number of rows as text; see `number`."""
        text = self.number(count, bound)
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

    def _cover(self, line: Floats, cells: Bools) -> None:
        """Hide what must be hidden in a line of a table; OUT: cells, of which some are hidden for other lines."""
        found = self.hidden(line)
        others = cells & ~found.few
        n = int(found.few.sum())
        if others.any() and n and line[others].sum() >= (n + 1) * self.least:
            cells |= found.few
        elif n:
            cells |= found.counts
        elif others.sum() == 1:  # hidden for the sake of a column, it would follow from its row
            seen = np.flatnonzero(~cells & (line > 0))
            if len(seen):
                cells[seen[np.argmin(line[seen])]] = True

    def _line(self, line: Floats, cells: Bools) -> list[str]:
        """Return the cells of a line: a bound for the one that covers the few of its line, a dash for other hidden."""
        found = self.hidden(line)
        covers = found.cover if (cells == found.counts).all() else None
        return [
            self._cell(x, is_hidden, found.bound if i == covers else None)
            for i, (x, is_hidden) in enumerate(zip(line.tolist(), cells.tolist(), strict=True))
        ]

    def _cell(self, count: float, is_hidden: bool, bound: float | None) -> str:
        if is_hidden and bound is None and not self.hides(count):
            return "–"
        return "·" if count == 0 else self.number(count, bound)


def amount(rows: float) -> str:
    """Return a count as text, or a weight in four digits."""
    rows = round(rows, 9)
    return f"{rows:,.0f}" if rows == math.floor(rows) else f"{rows:,.4g}"
